//! Memory: who owns which addresses.
//!
//! Device memory is host memory in one reserved range (`space`). Every allocation, of whatever kind, is in
//! one table by address, so that a pointer anywhere inside it can be found and checked. [`copy`] moves and
//! fills bytes.

pub mod address;
pub mod array;
pub mod copy;
pub mod format;
pub mod managed;
pub mod multicast;
mod planar;
pub mod pool;
pub mod pool_share;
pub mod share;
mod space;
pub mod transfer;
pub mod value;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use crate::context::{self, Context};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::handle::{Handle, lock};
pub(crate) use space::bound;

/// Where an allocation comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Device memory.
    Device,
    /// Page-locked host memory of the driver's.
    Host,
    /// Host memory of the program's, registered.
    Registered,
    /// Managed memory.
    Managed,
    /// A variable of a module.
    Variable,
    /// Device memory from a pool.
    Pool,
    /// Memory mapped at reserved addresses.
    Mapped,
    /// Memory of another process.
    Imported,
}

/// An allocation. Its memory is given back when its last user is gone: operations keep what they touch.
#[derive(Debug)]
pub struct Allocation {
    /// Its first address.
    pub base: u64,
    /// Its bytes, as asked for.
    pub size: u64,
    /// Where it comes from.
    pub kind: Kind,
    /// The ordinal of its device.
    pub device: u32,
    /// The handle and the id of its context; 0 for a pool's.
    pub context: (Handle, u64),
    /// The flags it was made with.
    pub flags: u32,
    /// Its number, unique in the process.
    pub id: u64,
    /// Its pool, for [`Kind::Pool`], and for [`Kind::Host`] and [`Kind::Imported`] of a pool; 0: none.
    pub pool: Handle,
    /// A managed variable of a module ([`Kind::Variable`]).
    pub managed: bool,
    /// What `cuPointerSetAttribute` set: synchronous memory operations.
    pub sync_memops: AtomicU32,
    /// What the program advised for managed memory.
    pub advice: Mutex<managed::Advice>,
    /// The first address and the bytes of what is mapped for [`Kind::Imported`].
    mapped: (u64, u64),
}

static TABLE: RwLock<BTreeMap<u64, Arc<Allocation>>> = RwLock::new(BTreeMap::new());
static NEXT_ID: AtomicU64 = AtomicU64::new(1);
/// Bytes in use by the ordinal of the device.
static USED: [AtomicU64; 64] = [const { AtomicU64::new(0) }; 64];

/// The part of a device's memory that is not for programs.
fn reserved(device: &Device) -> u64 {
    (device.info.total_memory / 64).min(256 << 20)
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
        .map(|_| ())
        .map_err(|_| Error::OutOfMemory)
}

fn give_back(device: u32, size: u64) {
    if let Some(counter) = used(device) {
        counter.fetch_sub(size, Ordering::AcqRel);
    }
}

/// An allocation that is not in the table yet.
fn allocation(kind: Kind, base: u64, size: u64, owner: &Owner, flags: u32) -> Allocation {
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
        mapped: (0, 0),
    }
}

/// Makes an allocation known at its addresses.
fn insert(allocation: Arc<Allocation>) {
    TABLE.write().unwrap_or_else(PoisonError::into_inner).insert(allocation.base, allocation);
}

/// The same, unless its address is known already: then `false`.
fn insert_new(allocation: &Arc<Allocation>) -> bool {
    let mut table = TABLE.write().unwrap_or_else(PoisonError::into_inner);
    match table.entry(allocation.base) {
        Entry::Vacant(place) => {
            place.insert(Arc::clone(allocation));
            true
        }
        Entry::Occupied(_) => false,
    }
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

/// The allocation that an address lies in.
pub fn find(address: u64) -> Option<Arc<Allocation>> {
    let table = TABLE.read().unwrap_or_else(PoisonError::into_inner);
    let (_, allocation) = table.range(..=address).next_back()?;
    (address - allocation.base < allocation.size).then(|| Arc::clone(allocation))
}

fn remove(base: u64, of: impl FnOnce(&Allocation) -> bool) -> Option<Arc<Allocation>> {
    let mut table = TABLE.write().unwrap_or_else(PoisonError::into_inner);
    of(table.get(&base)?).then(|| table.remove(&base)).flatten()
}

/// Whether a kernel may use `size` bytes at an address of the driver's own range: whether all of them lie in
/// allocations. `None`: the address is not in that range, and the host's page tables decide.
pub fn device_access(address: u64, size: u64) -> Option<bool> {
    space::contains(address).then(|| check_device(address, size).is_ok())
}

/// Bytes from an address inside an allocation to its end. Mapped memory goes on in neighbours that are
/// mapped.
fn rest(table: &BTreeMap<u64, Arc<Allocation>>, allocation: &Allocation, address: u64, enough: u64) -> u64 {
    let mut end = allocation.base + allocation.size;
    if allocation.kind == Kind::Mapped {
        while end - address < enough
            && let Some(next) = table.get(&end).filter(|a| a.kind == Kind::Mapped)
        {
            end += next.size;
        }
    }
    end - address
}

/// The allocation that an address lies in, with the `size` bytes that begin `offset` bytes after it. `None`:
/// the driver does not know the address; [`Error::InvalidValue`]: the bytes leave the allocation.
pub fn find_range(address: u64, offset: u64, size: u64) -> Result<Option<Arc<Allocation>>> {
    let table = TABLE.read().unwrap_or_else(PoisonError::into_inner);
    let Some((_, allocation)) = table.range(..=address).next_back() else { return Ok(None) };
    if address - allocation.base >= allocation.size {
        return Ok(None);
    }
    let needed = offset.checked_add(size).ok_or(Error::InvalidValue)?;
    if needed > rest(&table, allocation, address, needed) {
        return Err(Error::InvalidValue);
    }
    Ok(Some(Arc::clone(allocation)))
}

/// Checks that `size` bytes at a device address lie in one allocation (of any kind) that the driver knows.
pub fn check_device(address: u64, size: u64) -> Result<Arc<Allocation>> {
    find_range(address, 0, size)?.ok_or(Error::InvalidValue)
}

/// Device memory.
pub fn alloc(context: &Context, size: u64) -> Result<u64> {
    alloc_flagged(context, size, 0)
}

/// Device memory that reports the flags it was made with.
pub fn alloc_flagged(context: &Context, size: u64, flags: u32) -> Result<u64> {
    alloc_kind(&context.device, Owner::of(context), Kind::Device, size, flags)
}

/// Managed memory; `flags`: [`managed::attach::GLOBAL`] or [`managed::attach::HOST`].
pub fn alloc_managed(context: &Context, size: u64, flags: u32) -> Result<u64> {
    if !matches!(flags, managed::attach::GLOBAL | managed::attach::HOST) {
        return Err(Error::InvalidValue);
    }
    alloc_kind(&context.device, Owner::of(context), Kind::Managed, size, flags)
}

fn alloc_kind(device: &Device, owner: Owner, kind: Kind, size: u64, flags: u32) -> Result<u64> {
    let allocation = Arc::new(take_kind(device, owner, kind, size, flags)?);
    let base = allocation.base;
    insert(allocation);
    Ok(base)
}

/// Memory of a device that is not in the table yet.
fn take_kind(device: &Device, owner: Owner, kind: Kind, size: u64, flags: u32) -> Result<Allocation> {
    if size == 0 {
        return Err(Error::InvalidValue);
    }
    take(device, size)?;
    match space::alloc(size) {
        Some(base) => Ok(allocation(kind, base, size, &owner, flags)),
        None => {
            give_back(device.ordinal, size);
            Err(Error::OutOfMemory)
        }
    }
}

/// The sizes of elements that a pitched block is made for, and what its pitch is a multiple of.
pub const PITCHED_ELEMENTS: [u32; 3] = [4, 8, 16];
const PITCH_ALIGNMENT: u64 = 512;

/// A pitched block: its address and pitch.
pub fn alloc_pitch(context: &Context, width: u64, height: u64, element: u32) -> Result<(u64, u64)> {
    if width == 0 || height == 0 || !PITCHED_ELEMENTS.contains(&element) {
        return Err(Error::InvalidValue);
    }
    let pitch = width.checked_next_multiple_of(PITCH_ALIGNMENT).ok_or(Error::OutOfMemory)?;
    let size = pitch.checked_mul(height).ok_or(Error::OutOfMemory)?;
    Ok((alloc(context, size)?, pitch))
}

/// Frees device or managed memory; the address must be an allocation's first. 0 is fine.
pub fn free(address: u64) -> Result<()> {
    if address == 0 {
        return Ok(());
    }
    let allocation = find(address).filter(|a| a.base == address).ok_or(Error::InvalidValue)?;
    if let Ok(context) = context::get(allocation.context.0) {
        context.settle();
    }
    pool::withdraw(&allocation)
}

/// Flags of page-locked memory.
pub mod host_flag {
    /// For every context.
    pub const PORTABLE: u32 = 1;
    /// The device can reach it.
    pub const DEVICE_MAP: u32 = 2;
    /// Write-combined.
    pub const WRITE_COMBINED: u32 = 4;
    /// Registered: memory of a device.
    pub const IO_MEMORY: u32 = 4;
    /// Registered: for reading only.
    pub const READ_ONLY: u32 = 8;
}

/// Page-locked host memory; of size 0: null.
pub fn alloc_host(context: &Context, size: u64, flags: u32) -> Result<u64> {
    use host_flag::{DEVICE_MAP, PORTABLE, WRITE_COMBINED};
    if flags & !(PORTABLE | DEVICE_MAP | WRITE_COMBINED) != 0 {
        return Err(Error::InvalidValue);
    }
    // The hardware's driver reports PORTABLE only together with WRITE_COMBINED.
    let kept = if flags & WRITE_COMBINED == 0 { flags & !PORTABLE } else { flags };
    alloc_host_flagged(context, size, kept | DEVICE_MAP)
}

/// Page-locked host memory that reports these flags; of size 0: null.
pub fn alloc_host_flagged(context: &Context, size: u64, flags: u32) -> Result<u64> {
    if size == 0 {
        return Ok(0);
    }
    let allocation = Arc::new(take_host(&Owner::of(context), size, flags)?);
    let base = allocation.base;
    insert(allocation);
    Ok(base)
}

/// Page-locked host memory that is not in the table yet.
fn take_host(owner: &Owner, size: u64, flags: u32) -> Result<Allocation> {
    let base = space::alloc(size).ok_or(Error::OutOfMemory)?;
    Ok(allocation(Kind::Host, base, size, owner, flags))
}

/// Frees page-locked memory. Null is fine.
pub fn free_host(address: u64) -> Result<()> {
    if address == 0 {
        return Ok(());
    }
    let allocation =
        find(address).filter(|a| a.base == address && a.is_page_locked()).ok_or(Error::InvalidValue)?;
    if let Ok(context) = context::get(allocation.context.0) {
        context.settle();
    }
    remove(address, Allocation::is_page_locked).map(|_| ()).ok_or(Error::InvalidValue)
}

/// Registers host memory of the program's.
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

/// Ends a registration. Waits for the work of every context that may use the memory: nothing can keep it, and the
/// program may unmap it next.
pub fn unregister_host(address: u64) -> Result<()> {
    if address == 0 {
        return Err(Error::InvalidValue);
    }
    match find(address) {
        Some(a) if a.kind == Kind::Registered && a.base == address => {}
        Some(_) => return Err(Error::InvalidValue),
        None => return Err(Error::HostMemoryNotRegistered),
    }
    context::settle_all();
    remove(address, |a| a.kind == Kind::Registered).map(|_| ()).ok_or(Error::HostMemoryNotRegistered)
}

/// Memory for the variables of a module, all zero.
pub(crate) fn alloc_image(context: &Context, size: u64) -> Result<u64> {
    take(&context.device, size)?;
    let base = space::alloc(size).ok_or_else(|| {
        give_back(context.device.ordinal, size);
        Error::OutOfMemory
    })?;
    // Large blocks are fresh pages, which stay untouched until somebody writes to them.
    if size < space::LARGE {
        // SAFETY: the block was just allocated and nobody else knows it.
        unsafe { std::ptr::write_bytes(base as *mut u8, 0, size as usize) };
    }
    Ok(base)
}

pub(crate) fn free_image(device: u32, base: u64, size: u64) {
    space::free(base);
    give_back(device, size);
}

/// Makes a variable known.
pub(crate) fn insert_variable(context: &Context, base: u64, size: u64, managed: bool) {
    let mut variable = allocation(Kind::Variable, base, size, &Owner::of(context), 0);
    variable.managed = managed;
    insert(Arc::new(variable));
}

/// Forgets a variable.
pub(crate) fn remove_variable(base: u64) {
    remove(base, |a| a.kind == Kind::Variable);
}

/// Frees what belongs to a context that has ended.
pub(crate) fn context_ended(id: u64) {
    crate::texture::context_ended(id);
    array::context_ended(id);
    share::context_ended(id);
    let mut table = TABLE.write().unwrap_or_else(PoisonError::into_inner);
    let ended: Vec<u64> =
        table.values().filter(|a| a.context.1 == id && a.pool == 0).map(|a| a.base).collect();
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
            Kind::Host => space::free(self.base),
            Kind::Imported => {
                let (start, bytes) = self.mapped;
                // SAFETY: `share` mapped it for this allocation alone, and everything that used it held the
                // allocation.
                unsafe { crate::shared::unmap(start, bytes) };
            }
            Kind::Registered | Kind::Variable | Kind::Mapped => {}
        }
    }
}

impl Allocation {
    /// Host code may use the addresses as they are.
    pub fn host_accessible(&self) -> bool {
        self.on_host() || self.kind == Kind::Managed || self.managed
    }

    /// It is freed as device memory is: the device's, or any pool's.
    fn is_freed_as_device(&self) -> bool {
        matches!(self.kind, Kind::Device | Kind::Managed | Kind::Pool)
            || self.kind == Kind::Host && self.pool != 0
    }

    /// It is another process's, of a pool that is imported.
    fn is_of_imported_pool(&self) -> bool {
        self.kind == Kind::Imported && self.pool != 0
    }

    /// It is page-locked host memory that is freed as such.
    fn is_page_locked(&self) -> bool {
        self.kind == Kind::Host && self.pool == 0
    }

    /// It lies on the host.
    pub fn on_host(&self) -> bool {
        matches!(self.kind, Kind::Host | Kind::Registered)
    }

    /// What was advised.
    pub fn advice(&self) -> managed::Advice {
        *lock(&self.advice)
    }
}
