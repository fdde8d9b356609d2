//! Detects lanes that wait for memory, so that others can run first.
//!
//! A lane is taken to wait when it reads the same value again, at the same instruction and address, by an
//! ordered load or by an atomic that changes nothing: a flag that is not yet set, a lock that is taken. If
//! the lane was not waiting after all, it only loses a turn.

use crate::func::Block;
use crate::module::FuncId;

/// Number of instructions that are remembered per lane: enough for a loop that waits for several things.
const PLACES: usize = 4;

type Site = (FuncId, Block, usize);

/// What a lane has read from memory that others write.
#[derive(Debug, Default)]
pub(super) struct Seen {
    values: [Option<(Site, u64, u128)>; PLACES],
    next: usize,
}

impl Seen {
    /// Records a value read by an instruction from an address. Returns whether it is the value that was read
    /// there before.
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
