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

    /// The location with the number that is told back for it. [`Error::InvalidDevice`]: no such device;
    /// [`Error::InvalidValue`]: no such kind.
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

/// Which streams may use managed memory: flags of its allocation, and of its attachment to a stream.
pub mod attach {
    /// Any stream of any device.
    pub const GLOBAL: u32 = 1;
    /// The host, until it is attached otherwise.
    pub const HOST: u32 = 2;
    /// One stream.
    pub const SINGLE: u32 = 4;
}

/// What a program can advise, by number.
pub mod advice {
    /// The memory is mostly read.
    pub const SET_READ_MOSTLY: u32 = 1;
    /// It is not.
    pub const UNSET_READ_MOSTLY: u32 = 2;
    /// It should lie at a location.
    pub const SET_PREFERRED_LOCATION: u32 = 3;
    /// It may lie anywhere.
    pub const UNSET_PREFERRED_LOCATION: u32 = 4;
    /// A location accesses it.
    pub const SET_ACCESSED_BY: u32 = 5;
    /// A location does not.
    pub const UNSET_ACCESSED_BY: u32 = 6;
}

/// Attributes of a range by number: what was advised, and where the memory was prefetched to.
pub mod attribute {
    /// Whether it is mostly read.
    pub const READ_MOSTLY: u32 = 1;
    /// The device at which it should lie.
    pub const PREFERRED_LOCATION: u32 = 2;
    /// The devices that access it.
    pub const ACCESSED_BY: u32 = 3;
    /// The device to which it was prefetched last.
    pub const LAST_PREFETCH_LOCATION: u32 = 4;
    /// The kind of the location at which it should lie.
    pub const PREFERRED_LOCATION_TYPE: u32 = 5;
    /// The number of that location among its kind.
    pub const PREFERRED_LOCATION_ID: u32 = 6;
    /// The kind of the location to which it was prefetched last.
    pub const LAST_PREFETCH_LOCATION_TYPE: u32 = 7;
    /// The number of that location among its kind.
    pub const LAST_PREFETCH_LOCATION_ID: u32 = 8;
}

/// Takes advice.
pub fn advise(address: u64, size: u64, advice: u32, location: Location, devices: usize) -> Result<()> {
    if !(advice::SET_READ_MOSTLY..=advice::UNSET_ACCESSED_BY).contains(&advice) {
        return Err(Error::InvalidValue);
    }
    let allocation = range(address, size)?;
    // The location is looked at only for advice that has one.
    let place = location.checked(devices).map_err(|_| Error::InvalidValue);
    let mut kept = lock(&allocation.advice);
    match advice {
        advice::SET_READ_MOSTLY => kept.read_mostly = true,
        advice::UNSET_READ_MOSTLY => kept.read_mostly = false,
        advice::SET_PREFERRED_LOCATION => kept.preferred = place?,
        advice::UNSET_PREFERRED_LOCATION => kept.preferred = Location::NONE,
        _ => {
            let (place, set) = (place?, advice == advice::SET_ACCESSED_BY);
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

/// Takes advice that HIP alone has: how soon devices see one another's writes. All memory is the host's, so
/// they always see them at once.
pub fn set_coarse_grain(address: u64, size: u64, on: bool) -> Result<()> {
    lock(&range(address, size)?.advice).coarse_grain = on;
    Ok(())
}

/// Notes that memory is to be at a location. Nothing moves.
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
        attribute::READ_MOSTLY => one(i32::from(advice.read_mostly)),
        attribute::PREFERRED_LOCATION | attribute::PREFERRED_LOCATION_ID => one(advice.preferred.id),
        attribute::ACCESSED_BY if words > 0 => {
            let host = advice.accessed_by_host.then_some(-1);
            let devices = (0..64).filter(|d| advice.accessed_by >> d & 1 == 1);
            let mut list: Vec<i32> = devices.chain(host).take(words).collect();
            list.resize(words, Location::NONE.id);
            Ok(list)
        }
        attribute::PREFERRED_LOCATION_TYPE => one(advice.preferred.kind as i32),
        attribute::LAST_PREFETCH_LOCATION | attribute::LAST_PREFETCH_LOCATION_ID => one(advice.prefetched.id),
        attribute::LAST_PREFETCH_LOCATION_TYPE => one(advice.prefetched.kind as i32),
        _ => Err(Error::InvalidValue),
    }
}
