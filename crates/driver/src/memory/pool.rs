//! Memory pools: device or host memory, allocated and freed in stream order.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::device::Device;
use crate::driver;
use crate::error::{Error, Result};
use crate::graph::memory::{Asked, Reservation};
use crate::handle::{Handle, Table, lock};
use crate::stream::{Operation, Policy, Stream};

use super::managed::{self, DEVICE, HOST, HOST_NUMA, HOST_NUMA_CURRENT, Location, NOWHERE};
use super::pool_share::Shared;
use super::space::{self, For};
use super::{Allocation, Kind, Owner, host_flag};

static POOLS: Table<Pool> = Table::new(crate::handle::Kind::Pool);

/// A memory pool.
#[derive(Debug)]
pub struct Pool {
    /// The handle.
    pub handle: Handle,
    /// Where its memory is located.
    pub location: Location,
    /// Whether its memory is managed.
    pub managed: bool,
    /// Whether it is a default pool, which cannot be destroyed.
    pub default: bool,
    /// The devices that were given access, other than the pool's own. CUDA's copies depend on it; kernels
    /// reach all memory of the process.
    opened: Mutex<BTreeSet<u32>>,
    /// What this process shares of the pool with others, or what it knows of another process's pool.
    pub(super) shared: Option<Shared>,
    attributes: Mutex<[u64; 9]>,
    used: AtomicU64,
    high: AtomicU64,
    /// The most bytes that may be allocated at once.
    most: u64,
    /// Bytes that are allocated or will be when the stream gets there; counted only against a limit.
    promised: AtomicU64,
}

/// The limit of a pool without one.
const UNLIMITED: u64 = u64::MAX;

/// The bytes by which pools grow, and of which limits are multiples.
const STEP: u64 = 32 << 20;

/// What a program asks of a new pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Properties {
    /// Where its memory is located.
    pub location: Location,
    /// Whether its memory is managed.
    pub managed: bool,
    /// Whether other processes may import it.
    pub for_others: bool,
    /// The most bytes of memory; 0 for no limit.
    pub most: u64,
}

/// Pool attribute numbers.
pub mod attribute {
    /// Whether memory freed in one stream may be reused in another: after an event, opportunistically, and
    /// with added dependencies. Three truth values, numbered from this one.
    pub const REUSE_FOLLOW_EVENT_DEPENDENCIES: u32 = 1;
    /// Bytes kept when a stream is synchronised.
    pub const RELEASE_THRESHOLD: u32 = 4;
    /// Bytes currently reserved.
    pub const RESERVED_CURRENT: u32 = 5;
    /// The high-water mark of reserved bytes.
    pub const RESERVED_HIGH: u32 = 6;
    /// Bytes currently in use.
    pub const USED_CURRENT: u32 = 7;
    /// The high-water mark of used bytes.
    pub const USED_HIGH: u32 = 8;
}

fn make(
    (location, managed): (Location, bool),
    default: bool,
    shared: Option<Shared>,
    most: u64,
) -> Result<Arc<Pool>> {
    POOLS
        .insert_with(|handle| {
            Arc::new(Pool {
                handle,
                location,
                managed,
                default,
                opened: Mutex::default(),
                shared,
                attributes: Mutex::new([0, 1, 1, 1, 0, 0, 0, 0, 0]),
                used: AtomicU64::new(0),
                high: AtomicU64::new(0),
                most,
                promised: AtomicU64::new(0),
            })
        })
        .map(|p| p.1)
        .ok_or(Error::OutOfMemory)
}

/// Creates a pool of pinned or managed memory at a location, for this process alone or for others too.
///
/// # Errors
/// [`Error::InvalidValue`]: there is no such location, or a pool of the host's memory, which cannot be
/// shared, is for others. A pool of a NUMA node can be shared. [`Error::NotSupported`]: managed memory is to
/// be at a location of an unknown type. [`Error::OutOfMemory`]: the limit is beyond all memory.
pub fn create(asked: Properties) -> Result<Handle> {
    let Properties { location, managed, for_others, most } = asked;
    let there = match location.kind {
        DEVICE => driver()?.device(location.id).is_ok(),
        HOST => true,
        NOWHERE => managed,
        HOST_NUMA => is_node(location.id),
        HOST_NUMA_CURRENT => managed,
        _ if managed => return Err(Error::NotSupported),
        _ => false,
    };
    let most = match most {
        0 => UNLIMITED,
        most => most.checked_next_multiple_of(STEP).ok_or(Error::OutOfMemory)?,
    };
    let shared = match (there, for_others, location.kind) {
        (false, ..) | (true, true, HOST) => return Err(Error::InvalidValue),
        (true, true, _) => Some(Shared::new(location)?),
        (true, false, _) => None,
    };
    Ok(make((location, managed), false, shared, most)?.handle)
}

/// A pool imported from another process.
pub(super) fn imported(location: Location, shared: Shared) -> Result<Handle> {
    Ok(make((location, false), false, Some(shared), UNLIMITED)?.handle)
}

/// Whether the host has a NUMA node with this number.
pub fn is_node(number: i32) -> bool {
    number == 0
        || number > 0 && std::path::Path::new(&format!("/sys/devices/system/node/node{number}")).exists()
}

/// The pool of a handle.
pub fn get(handle: Handle) -> Result<Arc<Pool>> {
    POOLS.get(handle).ok_or(Error::InvalidValue)
}

static DEFAULTS: Mutex<Vec<Handle>> = Mutex::new(Vec::new());

/// The device's default pool.
pub fn default_pool(device: &Device) -> Result<Handle> {
    if let Some(handle) = device.default_pool.get() {
        return Ok(*handle);
    }
    let handle = default_of(Location { kind: DEVICE, id: device.ordinal as i32 }, false)?;
    Ok(*device.default_pool.get_or_init(|| handle))
}

/// The default pool of pinned or managed memory at a location.
pub fn default_of(location: Location, managed: bool) -> Result<Handle> {
    let mut defaults = lock(&DEFAULTS);
    for handle in defaults.iter() {
        if POOLS.get(*handle).is_some_and(|p| (p.location, p.managed) == (location, managed)) {
            return Ok(*handle);
        }
    }
    let pool = make((location, managed), true, None, UNLIMITED)?;
    defaults.push(pool.handle);
    Ok(pool.handle)
}

/// The device's current pool.
pub fn current(device: &Device) -> Result<Handle> {
    let current = *lock(&device.pool);
    current.map_or_else(|| default_pool(device), Ok)
}

/// The current pools of managed memory and of the host's by location, where they are not the default ones.
static CURRENT: Mutex<Vec<((Location, bool), Handle)>> = Mutex::new(Vec::new());

/// The current pool of managed memory, or of the host's memory, at a location.
pub fn current_of(location: Location, managed: bool) -> Result<Handle> {
    let current = lock(&CURRENT).iter().find(|set| set.0 == (location, managed)).map(|set| set.1);
    current.map_or_else(|| default_of(location, managed), Ok)
}

/// Sets the current pool of managed memory, or of the host's memory, at a location. The pool must be one of
/// such memory.
pub fn set_current_of(location: Location, managed: bool, pool: Handle) -> Result<()> {
    let pool_of = get(pool)?;
    if pool_of.managed != managed || (!managed && pool_of.location.kind != location.kind) {
        return Err(Error::InvalidValue);
    }
    let mut set = lock(&CURRENT);
    set.retain(|set| set.0 != (location, managed));
    set.push(((location, managed), pool));
    Ok(())
}

/// Sets the device's current pool, which cannot be a host pool, one of managed memory or of another process.
pub fn set_current(device: &Device, pool: Handle) -> Result<()> {
    let pool_of = get(pool)?;
    if pool_of.device().is_none() || pool_of.managed || pool_of.is_imported() {
        return Err(Error::InvalidValue);
    }
    *lock(&device.pool) = Some(pool);
    Ok(())
}

/// Destroys a pool.
pub fn destroy(handle: Handle, devices: &[Arc<Device>]) -> Result<()> {
    if get(handle)?.default {
        return Err(Error::InvalidValue);
    }
    POOLS.remove(handle);
    lock(&CURRENT).retain(|set| set.1 != handle);
    for device in devices {
        let mut current = lock(&device.pool);
        if *current == Some(handle) {
            *current = None;
        }
    }
    Ok(())
}

impl Pool {
    /// The ordinal of its device; `None` for a host pool.
    pub fn device(&self) -> Option<u32> {
        if self.location.kind == DEVICE { u32::try_from(self.location.id).ok() } else { None }
    }

    /// Whether it belongs to another process, or stands for one of this process that was imported.
    pub fn is_imported(&self) -> bool {
        matches!(self.shared, Some(Shared::Of(..)))
    }

    /// Whether a location may access the pool's memory.
    pub fn is_open_to(&self, location: Location) -> bool {
        if self.managed {
            return true;
        }
        match (self.device(), location.kind) {
            (Some(own), DEVICE) => u32::try_from(location.id)
                .is_ok_and(|device| device == own || lock(&self.opened).contains(&device)),
            (Some(_), _) => false,
            (None, DEVICE) => {
                u32::try_from(location.id).is_ok_and(|device| lock(&self.opened).contains(&device))
            }
            (None, _) => true,
        }
    }

    /// Grants a location access to the pool's memory, or revokes it.
    ///
    /// # Errors
    /// [`Error::InvalidDevice`]: the pool's own device always has access. [`Error::NotSupported`]: the host's
    /// access cannot be changed.
    pub fn open_to(&self, location: Location, open: bool) -> Result<()> {
        match (self.device(), u32::try_from(location.id)) {
            (Some(own), Ok(device)) if location.kind == DEVICE => {
                match (own == device, open) {
                    (true, false) => return Err(Error::InvalidDevice),
                    (true, true) => {}
                    (false, true) => drop(lock(&self.opened).insert(device)),
                    (false, false) => drop(lock(&self.opened).remove(&device)),
                }
                Ok(())
            }
            (None, Ok(device)) if location.kind == DEVICE => {
                let mut opened = lock(&self.opened);
                if open {
                    opened.insert(device)
                } else {
                    opened.remove(&device)
                };
                Ok(())
            }
            (None, _) if open && location.kind == self.location.kind => Ok(()),
            _ => Err(Error::NotSupported),
        }
    }

    /// Counts memory that is about to be allocated.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]: it exceeds the pool's limit.
    fn promise(&self, size: u64) -> Result<()> {
        if self.most == UNLIMITED {
            return Ok(());
        }
        let grown = |promised: u64| promised.checked_add(size).filter(|sum| *sum <= self.most);
        let counted = self.promised.fetch_update(Ordering::Relaxed, Ordering::Relaxed, grown);
        counted.map(|_| ()).map_err(|_| Error::OutOfMemory)
    }

    /// Subtracts memory that was freed or could not be allocated.
    fn forget(&self, size: u64) {
        if self.most == UNLIMITED {
            return;
        }
        let less = |promised: u64| Some(promised.saturating_sub(size));
        let _ = self.promised.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
    }

    /// The value of an attribute.
    pub fn attribute(&self, number: u32) -> Result<u64> {
        match number {
            0 => Err(Error::InvalidValue),
            attribute::RESERVED_CURRENT | attribute::USED_CURRENT => Ok(self.used.load(Ordering::Relaxed)),
            attribute::RESERVED_HIGH | attribute::USED_HIGH => Ok(self.high.load(Ordering::Relaxed)),
            _ => lock(&self.attributes).get(number as usize).copied().ok_or(Error::InvalidValue),
        }
    }

    /// Sets an attribute; high-water marks can only be reset to 0.
    pub fn set_attribute(&self, number: u32, value: u64) -> Result<()> {
        match number {
            attribute::REUSE_FOLLOW_EVENT_DEPENDENCIES..=attribute::RELEASE_THRESHOLD => {
                if let Some(a) = lock(&self.attributes).get_mut(number as usize) {
                    *a = value;
                }
                Ok(())
            }
            attribute::RESERVED_HIGH | attribute::USED_HIGH if value == 0 => {
                self.high.store(self.used.load(Ordering::Relaxed), Ordering::Relaxed);
                Ok(())
            }
            _ => Err(Error::InvalidValue),
        }
    }
}

/// Allocates memory from a pool (by default the current pool of the stream's device) in stream order. The
/// memory is usable at once; stream order matters only when it is freed. What the stream will free is
/// available at once. Size 0 gives null.
pub fn alloc(stream: &Arc<Stream>, pool: Option<Handle>, size: u64) -> Result<u64> {
    let context = stream.context()?;
    let pool = pool.map_or_else(|| current(&context.device), Ok)?;
    let pool = get(pool)?;
    if pool.is_imported() {
        return Err(Error::InvalidValue);
    }
    if size == 0 {
        return Ok(0);
    }
    let request = Operation::Allocate(Request { pool, size });
    Ok(stream.submit_and_tell(request, Policy::Later)?.address)
}

/// An allocation in stream order, as a stream operation.
#[derive(Clone)]
pub struct Request {
    pool: Arc<Pool>,
    /// Bytes; not 0.
    size: u64,
}

impl Request {
    /// Allocates the memory and adds it to the table; returns its address.
    pub(crate) fn allocate(&self, stream: &Arc<Stream>) -> Result<u64> {
        let Request { pool, size } = self;
        let (size, context) = (*size, stream.context()?);
        let device = pool.device();
        // Bytes are counted for the device whose memory it is.
        let of: &Device = match device {
            Some(other) if other != context.device.ordinal => driver()?.device(pool.location.id)?,
            _ => &context.device,
        };
        let owner = Owner { device: of.ordinal, context: (0, context.id()), pool: pool.handle };
        // Memory of pools that were created for other processes may be shared.
        let whose = if pool.shared.is_some() { For::Others } else { For::Process };
        let on_device = pool.managed || device.is_some();
        let take = |from: Option<&Stream>| {
            if on_device {
                super::take_addresses(of, size, whose, from)
            } else {
                space::alloc(size, whose).ok_or(Error::OutOfMemory)
            }
        };
        pool.promise(size)?;
        let taken = match take(None) {
            // Memory whose release is pending in the stream is free for what comes after it: new pages take
            // no memory until they are used. There may be no addresses for them, and graphs free memory as
            // well; then the call waits, but not for a stream that may wait for the caller.
            Err(Error::OutOfMemory) if !stream.idle() => {
                take(Some(stream)).or_else(|error| stream.wait_for(|| take(Some(stream)).ok()).ok_or(error))
            }
            taken => taken,
        };
        let base = taken.inspect_err(|_| pool.forget(size))?;
        let (kind, flags) = match device {
            _ if pool.managed => (Kind::Managed, managed::attach::GLOBAL),
            Some(_) => (Kind::Pool, 0),
            None => (Kind::Host, host_flag::DEVICE_MAP),
        };
        let counted_by = Some(Arc::clone(pool));
        super::insert(Arc::new(super::counted(kind, base, size, &owner, flags, counted_by)));
        let used = pool.used.fetch_add(size, Ordering::Relaxed) + size;
        if used > pool.high.load(Ordering::Relaxed) {
            pool.high.fetch_max(used, Ordering::Relaxed);
        }
        Ok(base)
    }

    /// What an allocation node asks for in its place.
    pub(crate) fn in_graph(&self) -> Asked {
        let Pool { location, managed, .. } = *self.pool;
        Asked { location, managed, access: Vec::new(), size: self.size }
    }
}

/// Frees pool memory or other device memory in stream order. The address is unknown from now on.
pub fn free(address: u64, stream: &Arc<Stream>) -> Result<()> {
    if address == 0 {
        return Ok(());
    }
    let is_freed = |a: &Arc<super::Allocation>| address == a.base || super::share::is_freed_by(address);
    let allocation = super::find(address).filter(is_freed).ok_or(Error::InvalidValue)?;
    stream.submit(Operation::Free(allocation), Policy::Later)
}

/// Removes memory that is freed as device memory from the table. The memory itself is released with the last
/// reference.
///
/// # Errors
/// [`Error::InvalidValue`]: memory of another kind, or already freed.
pub(crate) fn withdraw(allocation: &Arc<Allocation>) -> Result<()> {
    if allocation.is_of_imported_pool() {
        return super::share::close_of_pool(allocation.base);
    }
    if allocation.kind == Kind::Graph {
        return Reservation::at(allocation.base).ok_or(Error::InvalidValue)?.free();
    }
    let same = |a: &Allocation| std::ptr::eq(a, &**allocation) && a.is_freed_as_device();
    super::remove(allocation.base, same).ok_or(Error::InvalidValue)?;
    forget(allocation);
    Ok(())
}

/// Subtracts freed memory from its pool's bytes in use.
fn forget(allocation: &Allocation) {
    if let Some(pool) = &allocation.counted_by {
        pool.used.fetch_sub(allocation.size, Ordering::Relaxed);
        pool.forget(allocation.size);
    }
}
