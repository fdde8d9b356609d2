//! Memory that graphs allocate and free.
//!
//! An allocation node reserves addresses when it is added; they never change. A launch allocates memory there
//! and frees it, in the order of the nodes. What no node frees stays allocated after the launch, until the
//! program or another graph frees it. The pages stay with the device until [`trim`].

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, Weak};

use crate::context::Context;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::handle::lock;
use crate::memory::managed::{DEVICE, Location};
use crate::memory::{self, Allocation};

use super::Graph;
use super::work::Work;

/// Attribute numbers of a device's graph memory, in bytes.
pub mod attribute {
    /// In use now.
    pub const USED: u32 = 0;
    /// The high-water mark of memory in use.
    pub const USED_HIGH: u32 = 1;
    /// Held for graphs now.
    pub const RESERVED: u32 = 2;
    /// The high-water mark of memory held.
    pub const RESERVED_HIGH: u32 = 3;
}

/// The memory of an allocation node.
pub struct Reservation {
    /// What the program asked for.
    pub asked: Asked,
    /// The memory, in the table of addresses from the node's addition on, so that other nodes can use it.
    allocation: Arc<Allocation>,
    state: Mutex<State>,
}

/// The parameters of an allocation node.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Where the memory is located.
    pub location: Location,
    /// Which locations may access it. Programs are given the list's address.
    pub access: Vec<Access>,
    /// Bytes.
    pub size: u64,
}

/// A location's access, laid out as in `CUmemAccessDesc`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Access {
    /// The location.
    pub location: Location,
    /// Readable and writable (3).
    pub flags: u32,
}

#[derive(Default)]
struct State {
    /// Whether the memory is allocated, after all work submitted so far.
    allocated: bool,
    /// Whether pages may be in use.
    held: bool,
    /// The graph with the node that allocates it.
    owner: u64,
    /// The graphs with nodes that free it.
    freed_by: Vec<u64>,
}

/// The bytes of one device.
#[derive(Clone, Copy, Default)]
struct Bytes {
    used: u64,
    used_high: u64,
    reserved: u64,
    reserved_high: u64,
    /// Of the reserved bytes, those whose nodes have ended. As on the hardware they stay reserved for later
    /// nodes until the memory is trimmed; the pages themselves are given back when the nodes end.
    left: u64,
}

static BYTES: Mutex<[Bytes; 64]> =
    Mutex::new([Bytes { used: 0, used_high: 0, reserved: 0, reserved_high: 0, left: 0 }; 64]);
/// By address.
static ALL: Mutex<BTreeMap<u64, Weak<Reservation>>> = Mutex::new(BTreeMap::new());
/// What is allocated, by address: it stays so when its graph is destroyed.
static ALLOCATED: Mutex<BTreeMap<u64, Arc<Reservation>>> = Mutex::new(BTreeMap::new());

fn with_bytes<T>(device: u32, change: impl FnOnce(&mut Bytes) -> T) -> Option<T> {
    lock(&BYTES).get_mut(device as usize).map(change)
}

/// An attribute of a device's graph memory.
pub fn attribute(device: &Device, number: u32) -> Result<u64> {
    let bytes = with_bytes(device.ordinal, |bytes| *bytes).unwrap_or_default();
    match number {
        attribute::USED => Ok(bytes.used),
        attribute::USED_HIGH => Ok(bytes.used_high),
        attribute::RESERVED => Ok(bytes.reserved),
        attribute::RESERVED_HIGH => Ok(bytes.reserved_high),
        _ => Err(Error::InvalidValue),
    }
}

/// Resets a high-water mark; the value must be 0.
pub fn reset_attribute(device: &Device, number: u32, value: u64) -> Result<()> {
    if value != 0 {
        return Err(Error::InvalidValue);
    }
    let reset = |change: fn(&mut Bytes)| {
        with_bytes(device.ordinal, change);
        Ok(())
    };
    match number {
        attribute::USED_HIGH => reset(|bytes| bytes.used_high = bytes.used),
        attribute::RESERVED_HIGH => reset(|bytes| bytes.reserved_high = bytes.reserved),
        _ => Err(Error::InvalidValue),
    }
}

/// Gives the pages of a device's graph memory that is not allocated back to the system.
pub fn trim(device: &Device) {
    let all: Vec<_> = lock(&ALL).values().filter_map(Weak::upgrade).collect();
    for reservation in all.iter().filter(|r| r.allocation.device == device.ordinal) {
        let mut state = lock(&reservation.state);
        if !state.allocated && state.held {
            state.held = false;
            memory::discard(&reservation.allocation);
            with_bytes(device.ordinal, |bytes| bytes.reserved -= reservation.allocation.size);
        }
    }
    with_bytes(device.ordinal, |bytes| {
        bytes.reserved -= bytes.left;
        bytes.left = 0;
    });
}

impl Reservation {
    /// Reserves addresses for an allocation node.
    ///
    /// # Errors
    /// [`Error::InvalidValue`]: no bytes, or not in the memory of a device. [`Error::OutOfMemory`]: there are
    /// no addresses left.
    pub fn new(context: &Context, asked: Asked) -> Result<Arc<Reservation>> {
        let driver = crate::driver()?;
        if asked.size == 0 || asked.location.kind != DEVICE {
            return Err(Error::InvalidValue);
        }
        let device = driver.device(asked.location.id).map_err(|_| Error::InvalidValue)?;
        let known = |Access { location, flags }: &Access| {
            const READ_AND_WRITE: u32 = 3;
            location.kind == DEVICE && driver.device(location.id).is_ok() && *flags == READ_AND_WRITE
        };
        if !asked.access.iter().all(known) {
            return Err(Error::InvalidValue);
        }
        let allocation = memory::for_graph(context, device, asked.size)?;
        let reservation = Arc::new(Reservation { asked, allocation, state: Mutex::default() });
        lock(&ALL).insert(reservation.address(), Arc::downgrade(&reservation));
        Ok(reservation)
    }

    /// The reservation that starts at an address.
    pub fn at(address: u64) -> Option<Arc<Reservation>> {
        lock(&ALL).get(&address).and_then(Weak::upgrade)
    }

    /// The address.
    pub fn address(&self) -> u64 {
        self.allocation.base
    }

    /// Notes the graph whose node allocates the memory.
    pub(super) fn belongs_to(&self, graph: &Graph) {
        lock(&self.state).owner = graph.id;
    }

    /// Notes that a graph gets a node that frees the memory.
    ///
    /// # Errors
    /// [`Error::InvalidValue`]: it has one already, or the memory is freed in the graph that allocates it as
    /// well as in another one.
    pub fn add_free(&self, graph: &Graph) -> Result<()> {
        let mut state = lock(&self.state);
        let own = |id: u64| id == state.owner;
        if state.freed_by.iter().any(|&id| id == graph.id || own(id) || own(graph.id)) {
            return Err(Error::InvalidValue);
        }
        state.freed_by.push(graph.id);
        Ok(())
    }

    /// Notes that a node that freed the memory is gone.
    pub(super) fn remove_free(&self, graph: &Graph) {
        lock(&self.state).freed_by.retain(|&id| id != graph.id);
    }

    /// Whether the memory is allocated, after all work submitted so far.
    pub fn is_allocated(&self) -> bool {
        lock(&self.state).allocated
    }

    /// Allocates the memory, in the order of submission.
    ///
    /// # Errors
    /// [`Error::InvalidValue`]: it is allocated. [`Error::OutOfMemory`]: the device has too little memory.
    pub(super) fn allocate(self: &Arc<Self>) -> Result<()> {
        let mut state = lock(&self.state);
        if state.allocated {
            return Err(Error::InvalidValue);
        }
        let size = self.allocation.size;
        memory::count(self.allocation.device, size)?;
        with_bytes(self.allocation.device, |bytes| {
            bytes.used += size;
            bytes.used_high = bytes.used_high.max(bytes.used);
            if !state.held {
                let again = bytes.left.min(size);
                bytes.left -= again;
                bytes.reserved += size - again;
                bytes.reserved_high = bytes.reserved_high.max(bytes.reserved);
            }
        });
        state.allocated = true;
        state.held = true;
        lock(&ALLOCATED).insert(self.address(), Arc::clone(self));
        Ok(())
    }

    /// Frees the memory, in the order of submission.
    ///
    /// # Errors
    /// [`Error::InvalidValue`]: it is not allocated.
    pub fn free(&self) -> Result<()> {
        let mut state = lock(&self.state);
        if !state.allocated {
            return Err(Error::InvalidValue);
        }
        state.allocated = false;
        memory::uncount(self.allocation.device, self.allocation.size);
        with_bytes(self.allocation.device, |bytes| bytes.used -= self.allocation.size);
        drop(state);
        // The last reference may be this one; its own lock is free again.
        let kept = lock(&ALLOCATED).remove(&self.address());
        drop(kept);
        Ok(())
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        lock(&ALL).remove(&self.address());
        if lock(&self.state).held {
            with_bytes(self.allocation.device, |bytes| bytes.left += self.allocation.size);
        }
        memory::unlist(&self.allocation);
    }
}

impl Graph {
    /// The work of an allocation node.
    pub fn allocation(context: &Context, asked: Asked) -> Result<Work> {
        Ok(Work::Allocate(Reservation::new(context, asked)?))
    }

    /// The work of a node of this graph that frees memory.
    ///
    /// # Errors
    /// [`Error::InvalidValue`]: no node allocates the address, or a node frees it already.
    pub fn release(&self, address: u64) -> Result<Work> {
        let reservation = Reservation::at(address).ok_or(Error::InvalidValue)?;
        reservation.add_free(self)?;
        Ok(Work::Free(reservation))
    }
}
