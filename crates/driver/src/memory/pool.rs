//! Memory pools: device memory allocated and freed in the order of a stream.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::context::Context;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::handle::{Handle, Table, lock};
use crate::stream::Stream;

use super::{Allocation, Kind, Owner};

static POOLS: Table<Pool> = Table::new(9);

/// A memory pool.
pub struct Pool {
    /// Its handle.
    pub handle: Handle,
    /// The ordinal of its device.
    pub device: u32,
    /// Whether it is the device's default pool, which cannot be destroyed.
    pub default: bool,
    attributes: Mutex<[u64; 9]>,
    used: AtomicU64,
    high: AtomicU64,
}

/// Attributes of a pool by their numbers.
pub mod attribute {
    /// Bytes kept when a stream is synchronised.
    pub const RELEASE_THRESHOLD: u32 = 4;
    /// Bytes reserved now, and at most.
    pub const RESERVED_CURRENT: u32 = 5;
    /// The most bytes reserved.
    pub const RESERVED_HIGH: u32 = 6;
    /// Bytes in use now.
    pub const USED_CURRENT: u32 = 7;
    /// The most bytes in use.
    pub const USED_HIGH: u32 = 8;
}

fn make(device: u32, default: bool) -> Result<Arc<Pool>> {
    POOLS
        .insert_with(|handle| {
            Arc::new(Pool {
                handle,
                device,
                default,
                attributes: Mutex::new([0, 1, 1, 1, 0, 0, 0, 0, 0]),
                used: AtomicU64::new(0),
                high: AtomicU64::new(0),
            })
        })
        .map(|p| p.1)
        .ok_or(Error::OutOfMemory)
}

/// A pool on a device.
pub fn create(device: &Device) -> Result<Handle> {
    Ok(make(device.ordinal, false)?.handle)
}

/// The pool of a handle.
pub fn get(handle: Handle) -> Result<Arc<Pool>> {
    POOLS.get(handle).ok_or(Error::InvalidValue)
}

static DEFAULTS: Mutex<Vec<Handle>> = Mutex::new(Vec::new());

/// The device's default pool.
pub fn default_pool(device: &Device) -> Result<Handle> {
    let mut defaults = lock(&DEFAULTS);
    for handle in defaults.iter() {
        if POOLS.get(*handle).is_some_and(|p| p.device == device.ordinal) {
            return Ok(*handle);
        }
    }
    let pool = make(device.ordinal, true)?;
    defaults.push(pool.handle);
    Ok(pool.handle)
}

/// The pool that the device allocates from.
pub fn current(device: &Device) -> Result<Handle> {
    let current = *lock(&device.pool);
    current.map_or_else(|| default_pool(device), Ok)
}

/// Sets it.
pub fn set_current(device: &Device, pool: Handle) -> Result<()> {
    get(pool)?;
    *lock(&device.pool) = Some(pool);
    Ok(())
}

/// Ends a pool.
pub fn destroy(handle: Handle, devices: &[Arc<Device>]) -> Result<()> {
    if get(handle)?.default {
        return Err(Error::InvalidValue);
    }
    POOLS.remove(handle);
    for device in devices {
        let mut current = lock(&device.pool);
        if *current == Some(handle) {
            *current = None;
        }
    }
    Ok(())
}

impl Pool {
    /// An attribute.
    pub fn attribute(&self, number: u32) -> Result<u64> {
        match number {
            0 => Err(Error::InvalidValue),
            attribute::RESERVED_CURRENT | attribute::USED_CURRENT => Ok(self.used.load(Ordering::Relaxed)),
            attribute::RESERVED_HIGH | attribute::USED_HIGH => Ok(self.high.load(Ordering::Relaxed)),
            _ => lock(&self.attributes).get(number as usize).copied().ok_or(Error::InvalidValue),
        }
    }

    /// Sets an attribute; the marks of the most bytes can only be set to 0.
    pub fn set_attribute(&self, number: u32, value: u64) -> Result<()> {
        match number {
            1..=4 => {
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

/// Memory from a pool. It is usable at once: the order of the stream only matters for its end. Of no bytes: null.
pub fn alloc(context: &Context, pool: Handle, size: u64) -> Result<u64> {
    let pool = get(pool)?;
    if size == 0 {
        return Ok(0);
    }
    let owner = Owner { device: pool.device, context: (0, context.id()), pool: pool.handle };
    let address = super::alloc_kind(&context.device, owner, Kind::Pool, size, 0)?;
    let used = pool.used.fetch_add(size, Ordering::Relaxed) + size;
    pool.high.fetch_max(used, Ordering::Relaxed);
    Ok(address)
}

/// Frees memory (a pool's or any device memory) when the stream comes to it. The address is unknown from now on.
pub fn free(address: u64, stream: &Arc<Stream>) -> Result<()> {
    if address == 0 {
        return Ok(());
    }
    let freeable = |k| matches!(k, Kind::Device | Kind::Pool | Kind::Managed);
    let allocation = super::remove(address, |a| freeable(a.kind)).ok_or(Error::InvalidValue)?;
    forget(&allocation);
    if !stream.idle() {
        stream.enqueue(
            true,
            Box::new(move || {
                drop(allocation);
                Ok(())
            }),
        );
    }
    Ok(())
}

/// Takes freed memory off its pool's account.
pub(super) fn forget(allocation: &Allocation) {
    if let Some(pool) = POOLS.get(allocation.pool) {
        pool.used.fetch_sub(allocation.size, Ordering::Relaxed);
    }
}
