//! The thread's device and context.
//!
//! The runtime works with devices. A call on a thread without a context makes the primary context of the
//! thread's device current; a context that the program has made current with the driver's functions is used
//! as it is ("Interoperability between Runtime and Driver APIs" in the programming guide).

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use driver::ModuleLoading;
use driver::context::{self, Context};
use driver::device::Device;

use crate::error::checked;
use crate::{Result, cu, registered};

/// Special stream values.
pub mod special {
    /// `cudaStreamPerThread`.
    pub const PER_THREAD: u64 = 2;
}

thread_local! {
    static DEVICE: Cell<i32> = const { Cell::new(0) };
}

/// The driver; the first call initialises it.
pub fn driver() -> Result<&'static driver::Driver> {
    if let Ok(driver) = driver::driver() {
        return Ok(driver);
    }
    checked(cu::cuInit(0))?;
    Ok(driver::driver()?)
}

/// The device with an ordinal.
pub fn device_at(ordinal: i32) -> Result<&'static Arc<Device>> {
    Ok(driver()?.device(ordinal)?)
}

/// The ordinal of the thread's device: that of its context, or the one that it has set, or the first.
pub fn ordinal() -> Result<i32> {
    driver()?;
    Ok(context::current().map_or(DEVICE.get(), |context| context.device.ordinal as i32))
}

/// The primary context of a device, which the runtime keeps from first use on.
pub fn primary(device: &Arc<Device>) -> Result<Arc<Context>> {
    match context::primary(device) {
        Some(primary) if primary.alive() => Ok(primary),
        _ => Ok(context::get(context::retain_primary(device)?)?),
    }
}

/// Makes a device the thread's, and its primary context current.
pub fn set_device(ordinal: i32) -> Result<()> {
    let primary = primary(device_at(ordinal)?)?;
    DEVICE.set(ordinal);
    context::set_current(Some(Arc::clone(&primary)))?;
    load_code(&primary);
    Ok(())
}

/// Remembers the thread's device when its context goes.
pub fn keep_device(ordinal: i32) {
    DEVICE.set(ordinal);
}

/// The id of the thread's context.
pub fn context_id() -> Result<u64> {
    if let Ok(id) = context::with_usable(|context| context.id()) {
        return Ok(id);
    }
    Ok(context()?.id())
}

/// The thread's context. If there is none, or it has been destroyed, the primary one of its device becomes
/// current.
#[cold]
pub fn context() -> Result<Arc<Context>> {
    driver()?;
    let current = context::current();
    if let Some(context) = current.filter(|c| c.alive()) {
        context.check()?;
        return Ok(context);
    }
    let primary = primary(device_at(ordinal()?)?)?;
    context::set_current(Some(Arc::clone(&primary)))?;
    primary.check()?;
    load_code(&primary);
    Ok(primary)
}

/// With `CUDA_MODULE_LOADING=EAGER`, loads what is registered, once per context. What cannot be loaded is an
/// error of the calls that use it.
fn load_code(context: &Arc<Context>) {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let eager = driver().is_ok_and(|driver| driver.options.module_loading == ModuleLoading::Eager);
    if eager && LAST.swap(context.id(), Ordering::AcqRel) != context.id() {
        registered::load_all(context);
    }
}
