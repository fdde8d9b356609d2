//! Memory: allocations and the addresses they own.
//!
//! Device memory is host memory in one reserved address range (`space`). One table by address holds
//! allocations of every kind, so that a pointer anywhere inside one can be resolved and checked. [`copy`]
//! copies and fills.

pub mod address;
pub mod array;
pub mod copy;
pub mod decompress;
mod files;
pub mod format;
pub mod limit;
pub mod managed;
pub mod multicast;
mod planar;
pub mod pool;
pub mod pool_share;
pub mod rights;
pub mod share;
mod space;
pub mod sparse;
pub mod transfer;
pub mod value;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use host::mapped::Watched;

use crate::context::{self, Context};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::handle::Handle;
use crate::stream::Stream;
use crate::{shared, usage};
pub(crate) use limit::{Bound, bound, bound_now};
use space::For;

/// The kind of an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Device memory.
    Device,
    /// Page-locked host memory that the driver allocated.
    Host,
    /// Host memory of the program, registered.
    Registered,
    /// Managed memory.
    Managed,
    /// A variable of a module.
    Variable,
    /// Device memory from a pool.
    Pool,
    /// Memory mapped at reserved addresses.
    Mapped,
    /// Memory imported from another process.
    Imported,
    /// Memory of a graph's allocation node: of a device, managed, or with a flag the host's.
    Graph,
}

/// An allocation. Operations keep the allocations they use; the memory is freed with the last reference.
#[derive(Debug)]
pub struct Allocation {
    /// The start address.
    pub base: u64,
    /// The requested size in bytes.
    pub size: u64,
    /// The kind.
    pub kind: Kind,
    /// The device's ordinal.
    pub device: u32,
    /// The handle and the id of its context; 0 for pool memory.
    pub context: (Handle, u64),
    /// The flags it was allocated with.
    pub flags: u32,
    /// A number unique in the process.
    pub id: u64,
    /// The pool of [`Kind::Pool`], and of [`Kind::Host`] and [`Kind::Imported`] if they come from one; else
    /// 0.
    pub pool: Handle,
    /// Whether it is a managed variable of a module ([`Kind::Variable`]) or managed memory of a graph
    /// ([`Kind::Graph`]).
    pub managed: bool,
    /// Synchronous memory operations, as `cuPointerSetAttribute` set them.
    pub sync_memops: AtomicU32,
    /// The advice given for managed memory.
    pub advice: Mutex<managed::Parts>,
    /// Whether it is memory of a graph ([`Kind::Graph`]) that is not allocated: nodes may name it, but the
    /// program cannot use it.
    absent: AtomicBool,
    /// Whether it is mapped memory ([`Kind::Mapped`]) that nothing may access.
    closed: AtomicBool,
    /// The pool that counts it as in use.
    counted_by: Option<Arc<pool::Pool>>,
    /// Start and size of the mapping of [`Kind::Imported`], and what notices that its file is truncated.
    mapped: (u64, u64),
    watched: Option<Watched>,
}

static TABLE: RwLock<BTreeMap<u64, Arc<Allocation>>> = RwLock::new(BTreeMap::new());
static NEXT_ID: AtomicU64 = AtomicU64::new(1);
/// Bytes in use, by device ordinal.
static USED: [AtomicU64; 64] = [const { AtomicU64::new(0) }; 64];

/// The part of a device's memory that programs cannot allocate.
fn reserved(device: &Device) -> u64 {
    reserved_of(device.info.total_memory)
}

/// The same for a device with `total` bytes.
pub(crate) fn reserved_of(total: u64) -> u64 {
    (total / 64).min(256 << 20)
}

fn used(device: u32) -> Option<&'static AtomicU64> {
    USED.get(device as usize)
}

/// Free and total bytes of a device.
pub fn info(device: &Device) -> (u64, u64) {
    let total = device.info.total_memory;
    let used = used(device.ordinal).map_or(0, |u| u.load(Ordering::Relaxed));
    (total.saturating_sub(reserved(device)).saturating_sub(used), total)
}

fn take(device: &Device, size: u64) -> Result<()> {
    let limit = device.info.total_memory.saturating_sub(reserved(device));
    let counter = used(device.ordinal).ok_or(Error::InvalidDevice)?;
    counter
        .fetch_update(Ordering::AcqRel, Ordering::Relaxed, |u| {
            u.checked_add(size).filter(|sum| *sum <= limit)
        })
        .map(|_| usage::memory(device.ordinal, size as i64))
        .map_err(|_| Error::OutOfMemory)
}

/// The same for memory that is used in a stream only: it is taken from what the stream will free before, as
/// far as that suffices.
fn take_in(device: &Device, size: u64, stream: Option<&Stream>) -> Result<()> {
    let Some(stream) = stream.filter(|stream| stream.is_of(device)) else { return take(device, size) };
    let promised = stream.promise(size);
    take(device, size - promised).inspect_err(|_| stream.keep_promise(device.ordinal, 0, promised))
}

/// Counts bytes that were taken from what a stream would free, which it now does.
pub(crate) fn kept(device: u32, size: u64) {
    if let Some(counter) = used(device) {
        counter.fetch_add(size, Ordering::AcqRel);
        usage::memory(device, size as i64);
    }
}

fn give_back(device: u32, size: u64) {
    if let Some(counter) = used(device) {
        counter.fetch_sub(size, Ordering::AcqRel);
        usage::memory(device, (size as i64).wrapping_neg());
    }
}

/// A new allocation, not yet in the table.
fn allocation(kind: Kind, base: u64, size: u64, owner: &Owner, flags: u32) -> Allocation {
    counted(kind, base, size, owner, flags, None)
}

/// The same, counted by a pool.
#[inline]
fn counted(
    kind: Kind,
    base: u64,
    size: u64,
    owner: &Owner,
    flags: u32,
    counted_by: Option<Arc<pool::Pool>>,
) -> Allocation {
    Allocation {
        base,
        size,
        kind,
        device: owner.device,
        context: owner.context,
        flags,
        id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
        pool: owner.pool,
        managed: false,
        sync_memops: AtomicU32::new(u32::from(!matches!(kind, Kind::Host | Kind::Registered))),
        advice: Mutex::default(),
        absent: AtomicBool::new(false),
        closed: AtomicBool::new(false),
        counted_by,
        mapped: (0, 0),
        watched: None,
    }
}

/// Adds an allocation to the table.
fn insert(allocation: Arc<Allocation>) {
    TABLE.write().unwrap_or_else(PoisonError::into_inner).insert(allocation.base, allocation);
}

/// The owner of an allocation.
#[derive(Clone, Copy)]
struct Owner {
    device: u32,
    context: (Handle, u64),
    pool: Handle,
}

impl Owner {
    fn of(context: &Context) -> Self {
        Owner { device: context.device.ordinal, context: (context.handle, context.id()), pool: 0 }
    }
}

/// The allocation that contains an address.
pub fn find(address: u64) -> Option<Arc<Allocation>> {
    let table = TABLE.read().unwrap_or_else(PoisonError::into_inner);
    let (_, allocation) = table.range(..=address).next_back()?;
    (address - allocation.base < allocation.size).then(|| Arc::clone(allocation))
}

fn remove(base: u64, of: impl FnOnce(&Allocation) -> bool) -> Option<Arc<Allocation>> {
    let mut table = TABLE.write().unwrap_or_else(PoisonError::into_inner);
    of(table.get(&base)?).then(|| table.remove(&base)).flatten()
}

/// Whether allocations cover `size` bytes at an address of the driver's own range, so that a kernel may use
/// them. `None`: the address is outside the range, and the host's page tables decide.
pub fn device_access(address: u64, size: u64) -> Option<bool> {
    space::contains(address).then(|| check_device(address, size).is_ok())
}

/// Bytes from an address in an allocation to its end. Mapped memory continues into adjacent mappings.
fn rest(table: &BTreeMap<u64, Arc<Allocation>>, allocation: &Allocation, address: u64, enough: u64) -> u64 {
    let mut end = allocation.base + allocation.size;
    if allocation.kind == Kind::Mapped {
        while end - address < enough
            && let Some(next) = table.get(&end).filter(|a| a.kind == Kind::Mapped && !a.is_closed())
        {
            end += next.size;
        }
    }
    end - address
}

/// The allocation that contains an address and the `size` bytes that start `offset` bytes after it. `None`:
/// the driver does not know the address. [`Error::InvalidValue`]: the bytes exceed the allocation, or nothing
/// may access it.
pub fn find_range(address: u64, offset: u64, size: u64) -> Result<Option<Arc<Allocation>>> {
    let table = TABLE.read().unwrap_or_else(PoisonError::into_inner);
    let Some((_, allocation)) = table.range(..=address).next_back() else { return Ok(None) };
    if address - allocation.base >= allocation.size {
        return Ok(None);
    }
    let needed = offset.checked_add(size).ok_or(Error::InvalidValue)?;
    if allocation.is_closed() || needed > rest(&table, allocation, address, needed) {
        return Err(Error::InvalidValue);
    }
    Ok(Some(Arc::clone(allocation)))
}

/// Checks that a known allocation of any kind contains `size` bytes at a device address.
pub fn check_device(address: u64, size: u64) -> Result<Arc<Allocation>> {
    find_range(address, 0, size)?.ok_or(Error::InvalidValue)
}

/// Allocates device memory.
pub fn alloc(context: &Context, size: u64) -> Result<u64> {
    alloc_flagged(context, size, 0)
}

/// Allocates device memory that reports these flags.
pub fn alloc_flagged(context: &Context, size: u64, flags: u32) -> Result<u64> {
    alloc_kind(&context.device, Owner::of(context), Kind::Device, size, flags)
}

/// Allocates device memory whose addresses have 32 bits.
pub fn alloc_narrow(context: &Context, size: u64) -> Result<u64> {
    if size == 0 {
        return Err(Error::InvalidValue);
    }
    take(&context.device, size)?;
    let Some(base) = space::alloc_narrow(size) else {
        give_back(context.device.ordinal, size);
        return Err(Error::OutOfMemory);
    };
    insert(Arc::new(allocation(Kind::Device, base, size, &Owner::of(context), 0)));
    Ok(base)
}

/// Allocates managed memory; `flags` is [`managed::attach::GLOBAL`] or [`managed::attach::HOST`].
pub fn alloc_managed(context: &Context, size: u64, flags: u32) -> Result<u64> {
    if !matches!(flags, managed::attach::GLOBAL | managed::attach::HOST) {
        return Err(Error::InvalidValue);
    }
    alloc_kind(&context.device, Owner::of(context), Kind::Managed, size, flags)
}

fn alloc_kind(device: &Device, owner: Owner, kind: Kind, size: u64, flags: u32) -> Result<u64> {
    let whose = if kind == Kind::Device { For::Others } else { For::Process };
    let base = take_addresses(device, size, whose, None)?;
    insert(Arc::new(allocation(kind, base, size, &owner, flags)));
    Ok(base)
}

/// Takes bytes of a device and addresses for them; `stream` is [`take_in`]'s.
fn take_addresses(device: &Device, size: u64, whose: For, stream: Option<&Stream>) -> Result<u64> {
    if size == 0 {
        return Err(Error::InvalidValue);
    }
    take_in(device, size, stream)?;
    space::alloc(size, whose).ok_or_else(|| {
        give_back(device.ordinal, size);
        Error::OutOfMemory
    })
}

/// What memory of a graph is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GraphMemory {
    /// Device memory.
    Device,
    /// Managed memory.
    Managed,
    /// The host's memory.
    Host,
}

/// Reserves memory for a graph's allocation node or conditional variable and adds it to the table. The bytes
/// of a node are counted as used when a launch allocates them ([`count`]).
pub(crate) fn for_graph(
    context: &Context,
    device: &Device,
    size: u64,
    what: GraphMemory,
) -> Result<Arc<Allocation>> {
    let owner = Owner { device: device.ordinal, context: (0, context.id()), pool: 0 };
    let base = space::alloc(size, For::Process).ok_or(Error::OutOfMemory)?;
    let flags = if what == GraphMemory::Host { host_flag::DEVICE_MAP } else { 0 };
    let mut allocation = allocation(Kind::Graph, base, size, &owner, flags);
    allocation.managed = what == GraphMemory::Managed;
    let allocation = Arc::new(allocation);
    insert(Arc::clone(&allocation));
    Ok(allocation)
}

impl Allocation {
    /// Whether the program can use it, after all work submitted so far.
    pub fn is_present(&self) -> bool {
        !self.absent.load(Ordering::Relaxed)
    }

    /// For work that is submitted.
    ///
    /// # Errors
    /// [`Error::InvalidValue`]: memory of a graph that is not allocated.
    pub(crate) fn check_present(&self) -> Result<()> {
        if self.is_present() { Ok(()) } else { Err(Error::InvalidValue) }
    }

    /// Whether it is mapped memory that nothing may access.
    fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    fn set_closed(&self, closed: bool) {
        self.closed.store(closed, Ordering::Relaxed);
    }

    /// Notes whether memory of a graph is allocated.
    pub(crate) fn set_present(&self, present: bool) {
        self.absent.store(!present, Ordering::Relaxed);
    }
}

/// Counts bytes of graph memory as used.
pub(crate) fn count(device: u32, size: u64) -> Result<()> {
    take(crate::driver()?.device(device as i32)?, size)
}

/// Counts bytes of graph memory as no longer used.
pub(crate) fn uncount(device: u32, size: u64) {
    give_back(device, size);
}

/// Removes graph memory from the table.
pub(crate) fn unlist(allocation: &Arc<Allocation>) {
    remove(allocation.base, |a| std::ptr::eq(a, &**allocation));
}

/// Gives the pages of graph memory back to the system; their contents are lost.
pub(crate) fn discard(allocation: &Allocation) {
    space::discard(allocation.base, allocation.size);
}

/// The element sizes that pitched memory can be allocated for, and the alignment of its pitch.
pub const PITCHED_ELEMENTS: [u32; 3] = [4, 8, 16];
const PITCH_ALIGNMENT: u64 = 512;

/// The pitch and the size of pitched memory.
pub fn pitched(width: u64, height: u64, element: u32) -> Result<(u64, u64)> {
    if width == 0 || height == 0 || !PITCHED_ELEMENTS.contains(&element) {
        return Err(Error::InvalidValue);
    }
    let pitch = width.checked_next_multiple_of(PITCH_ALIGNMENT).ok_or(Error::OutOfMemory)?;
    Ok((pitch, pitch.checked_mul(height).ok_or(Error::OutOfMemory)?))
}

/// Allocates pitched memory; returns its address and pitch.
pub fn alloc_pitch(context: &Context, width: u64, height: u64, element: u32) -> Result<(u64, u64)> {
    let (pitch, size) = pitched(width, height, element)?;
    Ok((alloc(context, size)?, pitch))
}

/// Frees device or managed memory by the allocation's start address; 0 does nothing.
pub fn free(address: u64) -> Result<()> {
    if address == 0 {
        return Ok(());
    }
    let allocation = find(address).filter(|a| a.base == address).ok_or(Error::InvalidValue)?;
    if let Ok(context) = context::get(allocation.context.0) {
        context.settled()?;
    } else if allocation.kind == Kind::Graph {
        context::settled_all()?;
    }
    pool::withdraw(&allocation)
}

/// Flags of page-locked memory.
pub mod host_flag {
    /// Page-locked for every context.
    pub const PORTABLE: u32 = 1;
    /// Mapped for the device.
    pub const DEVICE_MAP: u32 = 2;
    /// Write-combined.
    pub const WRITE_COMBINED: u32 = 4;
    /// For registering: I/O memory of a device.
    pub const IO_MEMORY: u32 = 4;
    /// For registering: the device only reads it.
    pub const READ_ONLY: u32 = 8;
}

/// Allocates page-locked host memory; null for size 0.
pub fn alloc_host(context: &Context, size: u64, flags: u32) -> Result<u64> {
    use host_flag::{DEVICE_MAP, PORTABLE, WRITE_COMBINED};
    if flags & !(PORTABLE | DEVICE_MAP | WRITE_COMBINED) != 0 {
        return Err(Error::InvalidValue);
    }
    // The hardware's driver reports PORTABLE only together with WRITE_COMBINED.
    let kept = if flags & WRITE_COMBINED == 0 { flags & !PORTABLE } else { flags };
    alloc_host_flagged(context, size, kept | DEVICE_MAP)
}

/// Allocates page-locked host memory that reports these flags; null for size 0.
pub fn alloc_host_flagged(context: &Context, size: u64, flags: u32) -> Result<u64> {
    if size == 0 {
        return Ok(0);
    }
    let base = space::alloc(size, For::Process).ok_or(Error::OutOfMemory)?;
    let allocation = Arc::new(allocation(Kind::Host, base, size, &Owner::of(context), flags));
    let base = allocation.base;
    insert(allocation);
    Ok(base)
}

/// Frees page-locked memory; null does nothing.
pub fn free_host(address: u64) -> Result<()> {
    if address == 0 {
        return Ok(());
    }
    let allocation =
        find(address).filter(|a| a.base == address && a.is_page_locked()).ok_or(Error::InvalidValue)?;
    if let Ok(context) = context::get(allocation.context.0) {
        context.settled()?;
    }
    remove(address, Allocation::is_page_locked).map(|_| ()).ok_or(Error::InvalidValue)
}

/// Registers host memory of the program.
pub fn register_host(context: &Context, address: u64, size: u64, flags: u32) -> Result<()> {
    use host_flag::{DEVICE_MAP, PORTABLE, READ_ONLY};
    if address == 0 || size == 0 || flags & !(PORTABLE | DEVICE_MAP | READ_ONLY) != 0 {
        return Err(Error::InvalidValue);
    }
    let end = address.checked_add(size).ok_or(Error::InvalidValue)?;
    {
        let table = TABLE.read().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, a)) = table.range(..end).next_back()
            && a.base.saturating_add(a.size) > address
        {
            let error = if a.kind == Kind::Registered {
                Error::HostMemoryAlreadyRegistered
            } else {
                Error::InvalidValue
            };
            return Err(error);
        }
    }
    if !space::mapped(address, size) {
        return Err(Error::InvalidValue);
    }
    let flags = (flags & PORTABLE) | DEVICE_MAP;
    insert(Arc::new(allocation(Kind::Registered, address, size, &Owner::of(context), flags)));
    Ok(())
}

/// Ends a registration. It first waits for the work of every context that may use the memory: operations
/// cannot keep it alive, and the program may unmap it next.
pub fn unregister_host(address: u64) -> Result<()> {
    if address == 0 {
        return Err(Error::InvalidValue);
    }
    match find(address) {
        Some(a) if a.kind == Kind::Registered && a.base == address => {}
        Some(_) => return Err(Error::InvalidValue),
        None => return Err(Error::HostMemoryNotRegistered),
    }
    context::settled_all()?;
    remove(address, |a| a.kind == Kind::Registered).map(|_| ()).ok_or(Error::HostMemoryNotRegistered)
}

/// Allocates zeroed memory for a module's variables.
pub(crate) fn alloc_image(context: &Context, size: u64) -> Result<u64> {
    take(&context.device, size)?;
    let base = space::alloc(size, For::Process).ok_or_else(|| {
        give_back(context.device.ordinal, size);
        Error::OutOfMemory
    })?;
    // Large blocks are fresh, zeroed pages; writing to them here would commit them.
    if size < space::LARGE {
        // SAFETY: the block was just allocated and nothing else refers to it.
        unsafe { std::ptr::write_bytes(base as *mut u8, 0, size as usize) };
    }
    Ok(base)
}

pub(crate) fn free_image(device: u32, base: u64, size: u64) {
    space::free(base);
    give_back(device, size);
}

/// The flags of an imported allocation that is freed as device memory.
const EXTERNAL: u32 = 1 << 31;

/// Adds `size` bytes of memory mapped at `start`, from an offset on, which the allocation unmaps at its end.
pub(crate) fn insert_external(context: &Context, start: u64, offset: u64, size: u64) -> u64 {
    let base = start + offset;
    let mut external = allocation(Kind::Imported, base, size, &Owner::of(context), EXTERNAL);
    external.mapped = (start, offset + size);
    external.watched = Some(shared::watch(start, offset + size));
    insert(Arc::new(external));
    base
}

/// Adds a variable to the table.
pub(crate) fn insert_variable(context: &Context, base: u64, size: u64, managed: bool) {
    let mut variable = allocation(Kind::Variable, base, size, &Owner::of(context), 0);
    variable.managed = managed;
    insert(Arc::new(variable));
}

/// Removes a variable from the table.
pub(crate) fn remove_variable(base: u64) {
    remove(base, |a| a.kind == Kind::Variable);
}

/// Frees the allocations of a destroyed context.
pub(crate) fn context_ended(id: u64) {
    crate::texture::context_ended(id);
    array::context_ended(id);
    share::context_ended(id);
    let mut table = TABLE.write().unwrap_or_else(PoisonError::into_inner);
    let ended: Vec<u64> = table
        .values()
        .filter(|a| a.context.1 == id && a.pool == 0 && a.kind != Kind::Graph)
        .map(|a| a.base)
        .collect();
    let gone: Vec<_> = ended.iter().filter_map(|k| table.remove(k)).collect();
    drop(table);
    drop(gone);
}

impl Drop for Allocation {
    fn drop(&mut self) {
        match self.kind {
            Kind::Device | Kind::Managed | Kind::Pool => {
                space::free(self.base);
                give_back(self.device, self.size);
            }
            Kind::Host | Kind::Graph => space::free(self.base),
            Kind::Imported => {
                let (start, bytes) = self.mapped;
                drop(self.watched.take());
                // SAFETY: `share` mapped it for this allocation alone, and everything that used it held the
                // allocation.
                unsafe { shared::unmap(start, bytes) };
            }
            Kind::Registered | Kind::Variable | Kind::Mapped => {}
        }
    }
}

impl Allocation {
    /// Whether host code can use its addresses directly.
    pub fn host_accessible(&self) -> bool {
        self.on_host() || self.is_managed()
    }

    fn is_managed(&self) -> bool {
        self.kind == Kind::Managed || self.managed
    }

    /// Whether it is freed as device memory: device memory itself, or memory of any pool.
    fn is_freed_as_device(&self) -> bool {
        matches!(self.kind, Kind::Device | Kind::Managed | Kind::Pool)
            || self.kind == Kind::Host && self.pool != 0
            || self.kind == Kind::Imported && self.flags == EXTERNAL
    }

    /// Whether it is another process's memory from an imported pool.
    fn is_of_imported_pool(&self) -> bool {
        self.kind == Kind::Imported && self.pool != 0
    }

    /// Whether it is page-locked host memory that is freed as such.
    fn is_page_locked(&self) -> bool {
        self.kind == Kind::Host && self.pool == 0
    }

    /// Whether it is located on the host.
    pub fn on_host(&self) -> bool {
        matches!(self.kind, Kind::Host | Kind::Registered)
            || matches!(self.kind, Kind::Graph | Kind::Imported) && self.flags == host_flag::DEVICE_MAP
    }

    /// Whether its device decompresses from and to it.
    pub fn can_be_decompressed(&self) -> bool {
        let device = || crate::driver().and_then(|driver| driver.device(self.device as i32));
        matches!(self.kind, Kind::Device | Kind::Pool | Kind::Mapped)
            && !self.on_host()
            && device().is_ok_and(|device| decompress::check_device(device).is_ok())
    }

    /// The bytes of a device's memory that it takes.
    pub(crate) fn counted_bytes(&self, device: u32) -> u64 {
        let counts = matches!(self.kind, Kind::Device | Kind::Managed | Kind::Pool);
        if counts && self.device == device { self.size } else { 0 }
    }
}
