//! Memory that graphs allocate and free.
//!
//! An allocation node reserves addresses when it is added; they never change. A launch allocates memory there
//! and frees it, in the order of the nodes. What no node frees stays allocated after the launch, until the
//! program or another graph frees it. The pages stay with the device until [`trim`].
//!
//! A node that comes after the node which frees another one's memory gets that memory's addresses, if they
//! suffice: CUDA's programming guide calls it address reuse within a graph. Edges of graphs with such nodes
//! cannot be removed, so the order stays.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

use smallvec::SmallVec;

use crate::context::Context;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::handle::lock;
use crate::memory::managed::{DEVICE, HOST, HOST_NUMA, Location, NOWHERE};
use crate::memory::pool::is_node;
use crate::memory::{self, Allocation, GraphMemory};

use super::reuse::Order;
use super::work::Work;
use super::{Body, Graph, Position};

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

/// What the attributes of memory in use count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Used {
    /// CUDA: memory that launches took, until it is trimmed; freed memory counts. NVIDIA's tests of its
    /// Python bindings expect this (`test_cuda_graphMem_attr`, `test_graph_mem_set_attributes`).
    UntilTrimmed,
    /// HIP: memory that is allocated, as in AMD's pool of a device's graphs.
    Allocated,
}

/// The memory of an allocation node.
pub struct Reservation {
    /// What the program asked for.
    pub asked: Asked,
    block: Arc<Block>,
    /// A number unique in the process, larger than those of older ones.
    number: u64,
    state: Mutex<State>,
}

/// Addresses of allocation nodes whose memory is never allocated at the same time.
struct Block {
    /// The memory, in the table of addresses from the first node's addition on, so that other nodes can use
    /// it.
    allocation: Arc<Allocation>,
    /// The device whose memory it is; `None` for the host's.
    counted_by: Option<u32>,
    /// How many nodes have it allocated, after all work submitted so far, and whether pages may be in use.
    /// A launch that is refused can count two nodes until its changes are taken back.
    used: Mutex<(u32, bool)>,
}

/// The parameters of an allocation node.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Where the memory is located.
    pub location: Location,
    /// Whether it is managed memory, for which the location is the preferred one.
    pub managed: bool,
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

impl Access {
    fn check(&self) -> Result<()> {
        const READ_AND_WRITE: u32 = 3;
        match self.location.kind {
            DEVICE => crate::driver()?.device(self.location.id)?,
            _ => return Err(Error::InvalidValue),
        };
        if self.flags == READ_AND_WRITE { Ok(()) } else { Err(Error::NotSupported) }
    }

    /// What a program lists, up to the first that [`Reservation::new`] refuses: the rest is not read.
    ///
    /// # Errors
    /// The list cannot be read.
    pub fn listed(list: impl Iterator<Item = Result<Access>>) -> Result<Vec<Access>> {
        let mut all = Vec::new();
        for one in list {
            let one = one?;
            all.push(one);
            if one.check().is_err() {
                break;
            }
        }
        Ok(all)
    }
}

#[derive(Default)]
struct State {
    /// Whether the memory is allocated, after all work submitted so far.
    allocated: bool,
    /// The graph with the node that allocates it.
    owner: u64,
    /// The graphs with nodes that free it.
    freed_by: Vec<u64>,
}

/// The bytes of one device.
#[derive(Clone, Copy, Default)]
struct Bytes {
    /// Allocated: [`Used::Allocated`].
    used: u64,
    used_high: u64,
    /// The high-water mark of [`Used::UntilTrimmed`]. The bytes themselves are the reserved ones.
    kept_high: u64,
    reserved: u64,
    reserved_high: u64,
    /// The reserved bytes whose nodes have ended. As on the hardware, they stay reserved for later nodes
    /// until the memory is trimmed; the pages themselves are released when the nodes end.
    left: u64,
}

static BYTES: Mutex<[Bytes; 64]> =
    Mutex::new([Bytes { used: 0, used_high: 0, kept_high: 0, reserved: 0, reserved_high: 0, left: 0 }; 64]);
/// By address, and by number in the order of the nodes: all but the last one are freed by a node before the
/// next one.
static ALL: Mutex<BTreeMap<u64, BTreeMap<u64, Weak<Reservation>>>> = Mutex::new(BTreeMap::new());
static NEXT_NUMBER: AtomicU64 = AtomicU64::new(0);
/// What is allocated, by address and number: it stays so when its graph is destroyed.
static ALLOCATED: Mutex<BTreeMap<(u64, u64), Arc<Reservation>>> = Mutex::new(BTreeMap::new());

fn with_bytes<T>(device: u32, change: impl FnOnce(&mut Bytes) -> T) -> Option<T> {
    lock(&BYTES).get_mut(device as usize).map(change)
}

/// An attribute of a device's graph memory.
pub fn attribute(device: &Device, number: u32, what: Used) -> Result<u64> {
    let bytes = with_bytes(device.ordinal, |bytes| *bytes).unwrap_or_default();
    let (used, used_high) = match what {
        Used::UntilTrimmed => (bytes.reserved, bytes.kept_high),
        Used::Allocated => (bytes.used, bytes.used_high),
    };
    match number {
        attribute::USED => Ok(used),
        attribute::USED_HIGH => Ok(used_high),
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
        attribute::USED_HIGH => reset(|bytes| {
            bytes.used_high = bytes.used;
            bytes.kept_high = bytes.reserved;
        }),
        attribute::RESERVED_HIGH => reset(|bytes| bytes.reserved_high = bytes.reserved),
        _ => Err(Error::InvalidValue),
    }
}

/// Gives the pages of a device's graph memory that is not allocated back to the system.
pub fn trim(device: &Device) {
    let all: Vec<_> = lock(&ALL).values().filter_map(|users| users.last_key_value()?.1.upgrade()).collect();
    for block in all.iter().map(|one| &one.block).filter(|b| b.counted_by == Some(device.ordinal)) {
        let mut used = lock(&block.used);
        if *used == (0, true) {
            used.1 = false;
            memory::discard(&block.allocation);
            with_bytes(device.ordinal, |bytes| bytes.reserved -= block.allocation.size);
        }
    }
    with_bytes(device.ordinal, |bytes| {
        bytes.reserved -= bytes.left;
        bytes.left = 0;
    });
}

impl Block {
    fn new(context: &Context, device: &Device, asked: &Asked) -> Result<Arc<Block>> {
        let what = match asked.location.kind {
            _ if asked.managed => GraphMemory::Managed,
            DEVICE => GraphMemory::Device,
            _ => GraphMemory::Host,
        };
        let allocation = memory::for_graph(context, device, asked.size, what)?;
        allocation.set_present(false);
        let counted_by = (what != GraphMemory::Host).then_some(device.ordinal);
        Ok(Arc::new(Block { allocation, counted_by, used: Mutex::default() }))
    }

    /// Changes the bytes of its device, given its size.
    fn count(&self, change: impl FnOnce(&mut Bytes, u64)) {
        if let Some(device) = self.counted_by {
            with_bytes(device, |bytes| change(bytes, self.allocation.size));
        }
    }
}

impl Reservation {
    /// Reserves addresses for an allocation node that is added at a position of a graph.
    ///
    /// # Errors
    /// [`Error::InvalidValue`]: no bytes, or no such location. [`Error::InvalidDevice`]: no such device may
    /// have access. [`Error::NotSupported`]: pinned memory of the host, or access of another kind than
    /// reading and writing. [`Error::OutOfMemory`]: there are no addresses left.
    pub fn new(context: &Context, at: &Position<'_>, asked: Asked) -> Result<Arc<Reservation>> {
        let driver = crate::driver()?;
        let device = match asked.location {
            _ if asked.size == 0 => return Err(Error::InvalidValue),
            Location { kind: DEVICE, id } => driver.device(id).map_err(|_| Error::InvalidValue)?,
            Location { kind: NOWHERE, .. } if !asked.managed => return Err(Error::InvalidValue),
            Location { kind: HOST, .. } if !asked.managed => return Err(Error::NotSupported),
            Location { kind: HOST | NOWHERE, .. } => &context.device,
            Location { kind: HOST_NUMA, id } if is_node(id) => &context.device,
            _ => return Err(Error::InvalidValue),
        };
        asked.access.iter().try_for_each(Access::check)?;
        let freed = at.freed_before(&asked);
        let mut all = lock(&ALL);
        // Another thread may have taken the block meanwhile.
        let still = |freed: &&Arc<Reservation>| {
            let last = all.get(&freed.address()).and_then(|users| users.last_key_value());
            last.is_some_and(|(number, _)| *number == freed.number)
        };
        let block = match freed.as_ref().filter(still) {
            Some(freed) => Arc::clone(&freed.block),
            None => Block::new(context, device, &asked)?,
        };
        let number = NEXT_NUMBER.fetch_add(1, Ordering::Relaxed);
        let reservation = Arc::new(Reservation { asked, block, number, state: Mutex::default() });
        all.entry(reservation.address()).or_default().insert(number, Arc::downgrade(&reservation));
        drop(all);
        Ok(reservation)
    }

    /// The last reservation that starts at an address. Those before it are freed by their graph.
    pub fn at(address: u64) -> Option<Arc<Reservation>> {
        lock(&ALL).get(&address).and_then(|users| users.last_key_value()?.1.upgrade())
    }

    /// The address.
    pub fn address(&self) -> u64 {
        self.block.allocation.base
    }

    /// Whether memory for another node can be at these addresses while this one is not allocated.
    fn suits(&self, asked: &Asked) -> bool {
        let of = |asked: &Asked| (asked.managed, asked.location);
        of(&self.asked) == of(asked) && self.block.allocation.size >= asked.size
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
        let block = &self.block;
        if let Some(device) = block.counted_by {
            memory::count(device, block.allocation.size)?;
        }
        let mut used = lock(&block.used);
        block.count(|bytes, size| {
            bytes.used += size;
            bytes.used_high = bytes.used_high.max(bytes.used);
            if !used.1 {
                let again = bytes.left.min(size);
                bytes.left -= again;
                bytes.reserved += size - again;
                bytes.reserved_high = bytes.reserved_high.max(bytes.reserved);
                bytes.kept_high = bytes.kept_high.max(bytes.reserved);
            }
        });
        *used = (used.0 + 1, true);
        block.allocation.set_present(true);
        state.allocated = true;
        lock(&ALLOCATED).insert((self.address(), self.number), Arc::clone(self));
        Ok(())
    }

    /// Frees the memory, in the order of submission.
    ///
    /// # Errors
    /// [`Error::InvalidValue`]: it is not allocated.
    pub fn free(&self) -> Result<()> {
        let mut state = lock(&self.state);
        if !std::mem::replace(&mut state.allocated, false) {
            return Err(Error::InvalidValue);
        }
        let block = &self.block;
        if let Some(device) = block.counted_by {
            memory::uncount(device, block.allocation.size);
        }
        let mut used = lock(&block.used);
        used.0 -= 1;
        block.allocation.set_present(used.0 > 0);
        drop(used);
        block.count(|bytes, size| bytes.used -= size);
        drop(state);
        let kept = lock(&ALLOCATED).remove(&(self.address(), self.number));
        // The last reference may be this one; its own lock is free again.
        drop(kept);
        Ok(())
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut all = lock(&ALL);
        if let Some(users) = all.get_mut(&self.address()) {
            users.remove(&self.number);
            if users.is_empty() {
                all.remove(&self.address());
            }
        }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if lock(&self.used).1 {
            self.count(|bytes, size| bytes.left += size);
        }
        memory::unlist(&self.allocation);
    }
}

impl Position<'_> {
    /// The work of an allocation node.
    pub fn allocation(&self, context: &Context, asked: Asked) -> Result<Work> {
        Ok(Work::Allocate(Reservation::new(context, self, asked)?))
    }

    /// The smallest suitable memory of a node of this graph that a node before this position frees, and that
    /// no other node has taken over.
    fn freed_before(&self, asked: &Asked) -> Option<Arc<Reservation>> {
        let mut body = self.graph.lock();
        if !body.frees_memory {
            return None;
        }
        let mut search = std::mem::take(&mut body.search);
        let from = self.after.iter().filter_map(|(node, _)| self.graph.index_of(*node).ok());
        let freeing = Freeing { graph: self.graph, body: &body };
        let mut best: Option<Arc<Reservation>> = None;
        search.run(body.room(), from, &freeing, |node| {
            let size = |one: &Reservation| one.block.allocation.size;
            if let Some(freed) = freeing.freed(node)
                && freed.suits(asked)
                && best.as_ref().is_none_or(|best| size(freed) < size(best))
            {
                best = Some(Arc::clone(freed));
            }
            best.as_ref().is_some_and(|best| size(best) == asked.size)
        });
        body.search = search;
        best
    }
}

/// The nodes of a graph that free memory of its own nodes.
struct Freeing<'a> {
    graph: &'a Graph,
    body: &'a Body,
}

impl Freeing<'_> {
    /// The memory that a node frees.
    fn freed(&self, node: u32) -> Option<&Arc<Reservation>> {
        match &self.body.entry(node as usize).ok()?.work {
            Work::Free(freed) => Some(freed),
            _ => None,
        }
    }
}

impl Order for Freeing<'_> {
    fn before(&self, node: u32) -> SmallVec<[u32; 2]> {
        self.body.entry(node as usize).map_or_else(
            |_| SmallVec::new(),
            |entry| entry.incoming.iter().map(|(before, _)| *before).collect(),
        )
    }

    fn is_open(&self, node: u32) -> bool {
        self.freed(node).is_some_and(|freed| {
            lock(&freed.state).owner == self.graph.id
                && Reservation::at(freed.address()).is_some_and(|last| Arc::ptr_eq(&last, freed))
        })
    }
}

impl Graph {
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
