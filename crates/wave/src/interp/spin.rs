//! Lanes that wait for memory: they let others go first.
//!
//! A lane waits when it reads the same again, at the same place in the code and in memory, by an ordered load or by an atomic that changes
//! nothing: a flag that is not yet set, a lock that is taken. That may happen to a lane that does not wait, too; it then only gives up a turn.

use crate::func::Block;
use crate::module::FuncId;

/// Places in the code that a lane remembers: as many as a loop that waits for several things reads.
const PLACES: usize = 4;

type Site = (FuncId, Block, usize);

/// What a lane has seen of memory that others write.
#[derive(Debug, Default)]
pub(super) struct Seen {
    values: [Option<(Site, u64, u128)>; PLACES],
    next: usize,
}

impl Seen {
    /// Takes note of a value read at a place in the code from an address; whether it is what was read there before.
    pub(super) fn is_again(&mut self, site: Site, address: u64, value: u128) -> bool {
        let now = Some((site, address, value));
        let known = self.values.iter_mut().find(|s| s.is_some_and(|(place, ..)| place == site));
        if let Some(seen) = known {
            return std::mem::replace(seen, now) == now;
        }
        self.values[self.next % PLACES] = now;
        self.next += 1;
        false
    }
}
