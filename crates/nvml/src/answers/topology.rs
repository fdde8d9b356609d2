//! The topology of devices and processors. All devices are the same processors and the same memory.

use driver::device::{peer, peer_attribute};
use host::load;

use super::Table;
use crate::code::{Failure, Result};
use crate::engine::Call;
use crate::handle;

/// `NVML_TOPOLOGY_NODE`: on the same memory node; `NVML_TOPOLOGY_SYSTEM`: on several.
const NODE: u32 = 40;
const SYSTEM: u32 = 50;
/// The levels that there are.
const LEVELS: [u32; 6] = [0, 10, 20, 30, NODE, SYSTEM];

/// `NVML_P2P_STATUS_OK` and `NVML_P2P_STATUS_NOT_SUPPORTED`.
const P2P: [u32; 2] = [0, 5];

/// `nvmlGpuP2PCapsIndex_t`.
mod index {
    pub const READ: u32 = 0;
    pub const WRITE: u32 = 1;
    pub const NVLINK: u32 = 2;
    pub const ATOMICS: u32 = 3;
    pub const PCI: u32 = 4;
}

pub(super) const TABLE: Table = &[
    ("nvmlDeviceGetTopologyCommonAncestor", |call| {
        if call.index_of_device(0)? == call.index_of_device(1)? {
            return Err(Failure::InvalidArgument);
        }
        call.set(2, distance())
    }),
    ("nvmlDeviceGetTopologyNearestGpus", |call| {
        let (own, level) = (call.index_of_device(0)?, call.number(1));
        if !LEVELS.contains(&level) {
            return Err(Failure::InvalidArgument);
        }
        list(call, 3, |other| other != own && level == distance())
    }),
    ("nvmlSystemGetTopologyGpuSet", |call| {
        if !load::processors().contains(&call.number(0)) {
            return Err(Failure::InvalidArgument);
        }
        list(call, 2, |_| true)
    }),
    ("nvmlDeviceOnSameBoard", |call| {
        call.set(2, i32::from(call.index_of_device(0)? == call.index_of_device(1)?))
    }),
    // Also of a device with itself: NCCL asks for all pairs and gives up on an error.
    ("nvmlDeviceGetP2PStatus", |call| {
        call.index_of_device(0)?;
        call.index_of_device(1)?;
        let supported = match call.number(2) {
            index::READ | index::WRITE => peer_attribute(peer::ACCESS_SUPPORTED),
            index::ATOMICS => peer_attribute(peer::NATIVE_ATOMIC_SUPPORTED),
            index::NVLINK | index::PCI => Ok(0),
            _ => return Err(Failure::InvalidArgument),
        };
        let [yes, no] = P2P;
        call.set(3, if supported == Ok(1) { yes } else { no })
    }),
    ("nvmlDeviceGetCpuAffinity", |call| mask(call, 1, &load::processors())),
    ("nvmlDeviceGetCpuAffinityWithinScope", |call| {
        known_scope(call.number(3))?;
        mask(call, 1, &load::processors())
    }),
    ("nvmlDeviceGetMemoryAffinity", |call| {
        known_scope(call.number(3))?;
        mask(call, 1, &load::nodes())
    }),
];

fn distance() -> u32 {
    if load::nodes().len() > 1 { SYSTEM } else { NODE }
}

/// A scope is a memory node (0) or a socket (1).
fn known_scope(scope: u32) -> Result<()> {
    if scope > 1 { Err(Failure::InvalidArgument) } else { Ok(()) }
}

/// Sets a list to the handles of the devices whose index is wanted. As the manual says, a length of 0 asks
/// for the length.
fn list(call: &Call<'_>, argument: usize, wanted: impl Fn(usize) -> bool) -> Result<()> {
    let indices = (0..call.inventory()?.devices.len()).filter(|index| wanted(*index));
    let handles: Vec<u64> = indices.map(handle::of_device).collect();
    let room: u32 = call.read(argument - 1)?;
    if room == 0 {
        return call.set(argument - 1, handles.len() as u32);
    }
    call.set_list(argument, &handles)
}

/// Writes a set of numbers as bits into as many words as the argument says; the words are in the next one.
fn mask(call: &Call<'_>, argument: usize, numbers: &[u32]) -> Result<()> {
    let words = call.number(argument) as usize;
    if words == 0 {
        return Err(Failure::InvalidArgument);
    }
    for word in 0..words {
        let within = numbers.iter().filter(|number| **number as usize / 64 == word);
        let bits = within.fold(0u64, |bits, number| bits | 1 << (number % 64));
        call.set_at(argument + 1, word, bits)?;
    }
    Ok(())
}
