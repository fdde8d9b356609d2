//! Which locations may access memory: mapped memory, and that of pools.
//!
//! All memory is the process's, so kernels reach it whatever the rights are. Copies between devices and fills
//! are refused as the hardware refuses them.

use crate::context;
use crate::stream::Stream;

use super::managed::{DEVICE, Location};
use super::{Allocation, Kind, address, pool};

/// Access rights.
pub mod access {
    /// No access.
    pub const NONE: u32 = 0;
    /// Read access.
    pub const READ: u32 = 1;
    /// Read and write access.
    pub const READ_WRITE: u32 = 3;
}

/// Whether copies between devices and fills obey the rights of the current context's device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rights {
    /// They do, as in CUDA.
    Checked,
    /// They reach all memory.
    Ignored,
}

/// The rights of locations to one mapping.
#[derive(Debug, Default)]
pub(super) struct Granted {
    /// The rights of devices, by ordinal.
    devices: Vec<(i32, u32)>,
    /// The rights of the host and its nodes.
    host: u32,
}

impl Granted {
    pub(super) fn set(&mut self, location: Location, access: u32) {
        if location.kind != DEVICE {
            self.host = access;
        } else if let Some(known) = self.devices.iter_mut().find(|known| known.0 == location.id) {
            known.1 = access;
        } else {
            self.devices.push((location.id, access));
        }
    }

    pub(super) fn of(&self, location: Location) -> u32 {
        if location.kind != DEVICE {
            return self.host;
        }
        self.devices.iter().find(|known| known.0 == location.id).map_or(access::NONE, |known| known.1)
    }

    /// The rights of the location that may do most.
    pub(super) fn most(&self) -> u32 {
        self.devices.iter().fold(self.host, |most, known| most.max(known.1))
    }
}

/// Whether the memory has rights at all.
pub(super) fn may_be_closed(allocation: &Allocation) -> bool {
    allocation.pool != 0 || allocation.kind == Kind::Mapped
}

/// Whether the current context's device, or without a context the stream's, may not access `size` bytes at an
/// address in an allocation. NVIDIA's tests tell that the stream's device does not count otherwise.
pub(super) fn is_closed(allocation: &Allocation, address: u64, size: u64, stream: &Stream) -> bool {
    if !may_be_closed(allocation) {
        return false;
    }
    let device = context::current().map_or(stream.ordinal(), |current| current.device.ordinal);
    let there = Location { kind: DEVICE, id: i32::try_from(device).unwrap_or(i32::MAX) };
    if allocation.kind == Kind::Mapped {
        return !address::is_open_to(address, size, there);
    }
    allocation.device != device
        && pool::get(allocation.pool).is_ok_and(|pool| pool.device().is_some() && !pool.is_open_to(there))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_location_has_its_own_rights() {
        let device = |id| Location { kind: DEVICE, id };
        let host = Location { kind: super::super::managed::HOST, id: -1 };
        let mut granted = Granted::default();
        assert_eq!((granted.of(device(0)), granted.of(host), granted.most()), (0, 0, 0));
        granted.set(device(1), access::READ);
        granted.set(device(0), access::READ_WRITE);
        assert_eq!((granted.of(device(0)), granted.of(device(1)), granted.of(host)), (3, 1, 0));
        granted.set(device(0), access::NONE);
        assert_eq!((granted.of(device(0)), granted.most()), (0, 1));
        granted.set(host, access::READ_WRITE);
        assert_eq!((granted.of(host), granted.most()), (3, 3));
    }
}
