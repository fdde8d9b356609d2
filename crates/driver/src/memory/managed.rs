//! Managed memory: advice and prefetches.
//!
//! All memory is host memory, so nothing moves. The driver only records advice and locations, for queries.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::handle::lock;

use super::{Allocation, Kind, pool};

/// A memory location: type and number as in the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Location {
    /// [`NOWHERE`], [`DEVICE`] or one of the host types.
    pub kind: u32,
    /// The device's ordinal, the NUMA node, -1 for the host, -2 for nowhere.
    pub id: i32,
}

/// No location.
pub const NOWHERE: u32 = 0;
/// A device.
pub const DEVICE: u32 = 1;
/// The host.
pub const HOST: u32 = 2;
/// A NUMA node of the host.
pub const HOST_NUMA: u32 = 3;
/// The NUMA node of the calling thread.
pub const HOST_NUMA_CURRENT: u32 = 4;

impl Location {
    /// No location.
    pub const NONE: Location = Location { kind: NOWHERE, id: -2 };

    /// The location with the number that queries report for it. [`Error::InvalidDevice`]: no such device;
    /// [`Error::InvalidValue`]: no such type.
    pub fn checked(self, devices: usize) -> Result<Self> {
        match self.kind {
            DEVICE if usize::try_from(self.id).is_ok_and(|id| id < devices) => Ok(self),
            DEVICE => Err(Error::InvalidDevice),
            HOST => Ok(Location { kind: HOST, id: -1 }),
            HOST_NUMA if !pool::is_node(self.id) => Err(Error::InvalidValue),
            HOST_NUMA | HOST_NUMA_CURRENT => Ok(Location { kind: HOST_NUMA, id: 0 }),
            _ => Err(Error::InvalidValue),
        }
    }
}

/// The advice given for an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Advice {
    /// Mostly read.
    pub read_mostly: bool,
    /// The preferred location.
    pub preferred: Location,
    /// Devices that access it, one bit each.
    pub accessed_by: u64,
    /// Whether the host accesses it.
    pub accessed_by_host: bool,
    /// The last prefetch location.
    pub prefetched: Location,
    /// Devices need not see each other's writes while a kernel runs (HIP's coarse-grained memory).
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

impl Advice {
    /// What both parts of a range have in common.
    fn common(self, other: Advice) -> Advice {
        let same = |a: Location, b: Location| if a == b { a } else { Location::NONE };
        Advice {
            read_mostly: self.read_mostly && other.read_mostly,
            preferred: same(self.preferred, other.preferred),
            accessed_by: self.accessed_by & other.accessed_by,
            accessed_by_host: self.accessed_by_host && other.accessed_by_host,
            prefetched: same(self.prefetched, other.prefetched),
            coarse_grain: self.coarse_grain && other.coarse_grain,
        }
    }
}

/// Advice is given for whole pages.
const PAGE: u64 = 4096;

/// The advice given for the parts of an allocation: each part begins at the offset and ends at the next one.
/// What lies before the first has no advice.
#[derive(Clone, Debug, Default)]
pub struct Parts(BTreeMap<u64, Advice>);

impl Parts {
    /// The advice at an offset.
    fn at(&self, offset: u64) -> Advice {
        self.0.range(..=offset).next_back().map(|part| *part.1).unwrap_or_default()
    }

    /// Changes the advice for the pages from one offset to another.
    fn change(&mut self, from: u64, to: u64, change: impl Fn(&mut Advice)) {
        let (from, to) = (from / PAGE * PAGE, to.div_ceil(PAGE).saturating_mul(PAGE));
        for edge in [from, to] {
            self.0.insert(edge, self.at(edge));
        }
        self.0.range_mut(from..to).for_each(|part| change(part.1));
        // Parts that are alike become one.
        let mut before = Advice::default();
        self.0.retain(|_, advice| std::mem::replace(&mut before, *advice) != *advice);
    }

    /// What the bytes from one offset to another have in common.
    fn between(&self, from: u64, to: u64) -> Advice {
        let later = self.0.range(from..to.max(from)).map(|part| *part.1);
        later.fold(self.at(from), Advice::common)
    }
}

/// Changes the advice for a range.
fn change(address: u64, size: u64, how: impl Fn(&mut Advice)) -> Result<()> {
    let allocation = range(address, size)?;
    let from = address.saturating_sub(allocation.base);
    lock(&allocation.advice).change(from, from.saturating_add(size), how);
    Ok(())
}

/// The advice that all bytes of a range have in common.
pub fn advice_of(address: u64, size: u64) -> Result<Advice> {
    let allocation = range(address, size)?;
    let from = address.saturating_sub(allocation.base);
    Ok(lock(&allocation.advice).between(from, from.saturating_add(size)))
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

/// Flags for the streams that may use managed memory: of the allocation, and of an attachment to a stream.
pub mod attach {
    /// Any stream on any device.
    pub const GLOBAL: u32 = 1;
    /// Only the host, until it is attached to a stream.
    pub const HOST: u32 = 2;
    /// One stream.
    pub const SINGLE: u32 = 4;
}

/// Advice numbers.
pub mod advice {
    /// The memory is mostly read.
    pub const SET_READ_MOSTLY: u32 = 1;
    /// The memory is not mostly read.
    pub const UNSET_READ_MOSTLY: u32 = 2;
    /// The memory has a preferred location.
    pub const SET_PREFERRED_LOCATION: u32 = 3;
    /// The memory has no preferred location.
    pub const UNSET_PREFERRED_LOCATION: u32 = 4;
    /// A location accesses the memory.
    pub const SET_ACCESSED_BY: u32 = 5;
    /// A location does not access the memory.
    pub const UNSET_ACCESSED_BY: u32 = 6;
}

/// Range attribute numbers.
pub mod attribute {
    /// Whether the range is mostly read.
    pub const READ_MOSTLY: u32 = 1;
    /// The preferred device.
    pub const PREFERRED_LOCATION: u32 = 2;
    /// The devices that access the range.
    pub const ACCESSED_BY: u32 = 3;
    /// The device of the last prefetch.
    pub const LAST_PREFETCH_LOCATION: u32 = 4;
    /// The type of the preferred location.
    pub const PREFERRED_LOCATION_TYPE: u32 = 5;
    /// The number of the preferred location.
    pub const PREFERRED_LOCATION_ID: u32 = 6;
    /// The type of the last prefetch location.
    pub const LAST_PREFETCH_LOCATION_TYPE: u32 = 7;
    /// The number of the last prefetch location.
    pub const LAST_PREFETCH_LOCATION_ID: u32 = 8;
}

/// Records advice for a range.
pub fn advise(address: u64, size: u64, advice: u32, location: Location, devices: usize) -> Result<()> {
    if !(advice::SET_READ_MOSTLY..=advice::UNSET_ACCESSED_BY).contains(&advice) {
        return Err(Error::InvalidValue);
    }
    range(address, size)?;
    // Advice that takes no location ignores the argument.
    let place = match advice {
        advice::SET_PREFERRED_LOCATION | advice::SET_ACCESSED_BY | advice::UNSET_ACCESSED_BY => {
            location.checked(devices).map_err(|_| Error::InvalidValue)?
        }
        _ => Location::NONE,
    };
    // As on the hardware, a node of the host that is preferred is reported as the host.
    let preferred = if place.kind == HOST_NUMA { Location { kind: HOST, id: -1 } } else { place };
    let set = advice == advice::SET_ACCESSED_BY;
    change(address, size, |kept| match advice {
        advice::SET_READ_MOSTLY => kept.read_mostly = true,
        advice::UNSET_READ_MOSTLY => kept.read_mostly = false,
        advice::SET_PREFERRED_LOCATION | advice::UNSET_PREFERRED_LOCATION => kept.preferred = preferred,
        _ if place.kind == DEVICE => {
            let bit = 1u64.checked_shl(place.id as u32).unwrap_or(0);
            kept.accessed_by = if set { kept.accessed_by | bit } else { kept.accessed_by & !bit };
        }
        _ => kept.accessed_by_host = set,
    })
}

/// Records HIP's advice on coherence between devices. All memory is host memory, so devices see each other's
/// writes at once either way.
pub fn set_coarse_grain(address: u64, size: u64, on: bool) -> Result<()> {
    change(address, size, |kept| kept.coarse_grain = on)
}

/// Records a prefetch. Nothing moves. As on the hardware, a range that wraps is empty.
pub fn prefetch(address: u64, size: u64, to: Location, devices: usize) -> Result<()> {
    let wraps = address.checked_add(size).is_none();
    range(address, if wraps { 1 } else { size })?;
    let to = to.checked(devices)?;
    if wraps { Ok(()) } else { change(address, size, |kept| kept.prefetched = to) }
}

/// A range attribute as words; `words` is the number that the caller has space for.
pub fn attribute(address: u64, size: u64, number: u32, words: usize) -> Result<Vec<i32>> {
    let advice = advice_of(address, size)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_an_allocation() {
        let mut parts = Parts::default();
        parts.change(5000, 5001, |advice| advice.read_mostly = true);
        let read_mostly = |parts: &Parts, from, to| parts.between(from, to).read_mostly;
        assert!(read_mostly(&parts, 4096, 8192) && read_mostly(&parts, 8191, 8192));
        assert!(!read_mostly(&parts, 4095, 8192) && !read_mostly(&parts, 4096, 8193));
        assert_eq!(parts.0.len(), 2);
        parts.change(0, 1 << 20, |advice| advice.accessed_by = 3);
        parts.change(0, 4096, |advice| advice.accessed_by = 2);
        assert_eq!((parts.between(0, 1 << 20).accessed_by, parts.between(4096, 9000).accessed_by), (2, 3));
        parts.change(0, 1 << 20, |advice| *advice = Advice::default());
        assert_eq!(parts.0.len(), 0, "parts without advice are not kept");
    }
}
