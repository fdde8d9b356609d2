//! Detects lanes that wait for memory, so that others can run first.
//!
//! A lane is taken to wait when it reads the same value again, at the same instruction and address, by an
//! ordered load, by a plain load with a fence between the two, or by an atomic that changes nothing: a flag
//! that is not yet set, a lock that is taken. If the lane was not waiting after all, it only loses a turn.

use crate::func::Block;
use crate::module::FuncId;

/// Number of instructions that are remembered per lane: enough for a loop that waits for several things.
const PLACES: usize = 4;

type Site = (FuncId, Block, usize);

/// A value and the address that it was read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Read {
    site: Site,
    address: u64,
    value: u128,
}

/// What a lane has read from memory that others write.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// What was read, and the number of fences before.
    values: [Option<(Read, u32)>; PLACES],
    next: usize,
    fences: u32,
}

impl Seen {
    /// Records that the lane has executed a fence.
    pub(super) fn fence(&mut self) {
        self.fences = self.fences.wrapping_add(1);
    }

    /// Whether plain loads matter.
    pub(super) fn has_fences(&self) -> bool {
        self.fences != 0
    }

    /// Records a value read by an instruction from an address. Returns whether it is the value that was read
    /// there before; for plain loads also whether there was a fence between the two.
    pub(super) fn is_again(&mut self, site: Site, address: u64, value: u128, plain: bool) -> bool {
        let (now, fences) = (Read { site, address, value }, self.fences);
        let known = self.values.iter_mut().flatten().find(|(read, _)| read.site == site);
        if let Some(seen) = known {
            let (before, at) = std::mem::replace(seen, (now, fences));
            return before == now && !(plain && at == fences);
        }
        self.values[self.next % PLACES] = Some((now, fences));
        self.next += 1;
        false
    }
}
