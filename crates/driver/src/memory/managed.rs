//! Managed memory: what programs advise, and where they want it.
//!
//! All memory is the host's, so that nothing moves; the driver keeps what it was told and tells it back.

use crate::error::{Error, Result};
use crate::handle::lock;

use super::{Allocation, Kind};

/// Where memory lies or is to lie: a location's type and number as the interface has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location {
    /// [`NOWHERE`], [`DEVICE`] or one of the host's.
    pub kind: u32,
    /// The device's ordinal; -1 for the host, -2 for nowhere.
    pub id: i32,
}

/// No location.
pub const NOWHERE: u32 = 0;
/// A device.
pub const DEVICE: u32 = 1;
/// The host.
pub const HOST: u32 = 2;
/// A node of the host's memory, and the one of the calling thread.
pub const HOST_NUMA: u32 = 3;
/// The node of the calling thread.
pub const HOST_NUMA_CURRENT: u32 = 4;

impl Location {
    /// Nowhere.
    pub const NONE: Location = Location { kind: NOWHERE, id: -2 };

    /// The location with the number that is told back for it. [`Error::InvalidDevice`]: no such device; [`Error::InvalidValue`]: no such kind.
    pub fn checked(self, devices: usize) -> Result<Self> {
        match self.kind {
            DEVICE if usize::try_from(self.id).is_ok_and(|id| id < devices) => Ok(self),
            DEVICE => Err(Error::InvalidDevice),
            HOST => Ok(Location { kind: HOST, id: -1 }),
            HOST_NUMA | HOST_NUMA_CURRENT => Ok(Location { kind: HOST_NUMA, id: 0 }),
            _ => Err(Error::InvalidValue),
        }
    }
}

/// What was advised for an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Advice {
    /// It is mostly read.
    pub read_mostly: bool,
    /// Where it should lie.
    pub preferred: Location,
    /// Devices that access it: one bit each.
    pub accessed_by: u64,
    /// The host accesses it.
    pub accessed_by_host: bool,
    /// Where it was last sent.
    pub prefetched: Location,
    /// Devices need not see one another's writes while a kernel runs (HIP's coarse grain).
    pub coarse_grain: bool,
}

impl Default for Advice {
    fn default() -> Self {
        Advice {
            read_mostly: false,
            preferred: Location::NONE,
            accessed_by: 0,
            accessed_by_host: false,
            prefetched: Location::NONE,
            coarse_grain: false,
        }
    }
}

/// The managed allocation that holds `size` bytes at an address.
pub fn range(address: u64, size: u64) -> Result<std::sync::Arc<Allocation>> {
    if size == 0 {
        return Err(Error::InvalidValue);
    }
    let allocation = super::check_device(address, size)?;
    if allocation.kind == Kind::Managed || allocation.managed {
        Ok(allocation)
    } else {
        Err(Error::InvalidValue)
    }
}

/// Takes advice: 1 and 2 set and unset that it is mostly read, 3 and 4 where it should lie, 5 and 6 who accesses it.
pub fn advise(address: u64, size: u64, advice: u32, location: Location, devices: usize) -> Result<()> {
    if !matches!(advice, 1..=6) {
        return Err(Error::InvalidValue);
    }
    let allocation = range(address, size)?;
    // The location matters only for what is said of one.
    let place = location.checked(devices).map_err(|_| Error::InvalidValue);
    let mut kept = lock(&allocation.advice);
    match advice {
        1 | 2 => kept.read_mostly = advice == 1,
        3 => kept.preferred = place?,
        4 => kept.preferred = Location::NONE,
        _ => {
            let (place, set) = (place?, advice == 5);
            if place.kind == DEVICE {
                let bit = 1u64.checked_shl(place.id as u32).unwrap_or(0);
                kept.accessed_by = if set { kept.accessed_by | bit } else { kept.accessed_by & !bit };
            } else {
                kept.accessed_by_host = set;
            }
        }
    }
    Ok(())
}

/// Takes the advice of HIP alone: how soon devices see one another's writes. All memory is the host's, so they always do at once.
pub fn set_coarse_grain(address: u64, size: u64, on: bool) -> Result<()> {
    lock(&range(address, size)?.advice).coarse_grain = on;
    Ok(())
}

/// Sends memory to a place: nothing moves, the place is kept.
pub fn prefetch(address: u64, size: u64, to: Location, devices: usize) -> Result<()> {
    let allocation = range(address, size)?;
    let to = to.checked(devices)?;
    lock(&allocation.advice).prefetched = to;
    Ok(())
}

/// An attribute of a range, as the words that make it up; `words`: how many the caller has room for.
pub fn attribute(address: u64, size: u64, number: u32, words: usize) -> Result<Vec<i32>> {
    let advice = range(address, size)?.advice();
    let one = |value: i32| if words == 1 { Ok(vec![value]) } else { Err(Error::InvalidValue) };
    match number {
        1 => one(i32::from(advice.read_mostly)),
        2 => one(advice.preferred.id),
        3 if words > 0 => {
            let host = advice.accessed_by_host.then_some(-1);
            let devices = (0..64).filter(|d| advice.accessed_by >> d & 1 == 1);
            let mut list: Vec<i32> = devices.chain(host).take(words).collect();
            list.resize(words, Location::NONE.id);
            Ok(list)
        }
        4 => one(advice.prefetched.id),
        5 => one(advice.preferred.kind as i32),
        6 => one(advice.preferred.id),
        7 => one(advice.prefetched.kind as i32),
        8 => one(advice.prefetched.id),
        _ => Err(Error::InvalidValue),
    }
}
