//! The thread's device and context.
//!
//! HIP is about devices; its contexts are their primary ones. The context stack is the driver's, the one that
//! CUDA calls of the same thread see: a HIP call that finds it empty puts the primary context of the thread's
//! device on it (HIP's porting guide, "Additional Information"), as the CUDA runtime does.

use std::cell::Cell;
use std::sync::{Arc, OnceLock};

use driver::Options;
use driver::backend::Backend;
use driver::context::{self, Context};
use driver::device::Device;
use driver::stream::{self, STREAMS, Stream};
pub use host::options::HipContext as Rule;

use crate::{Error, Result};

/// A handle of any kind: a pointer to C.
pub type Handle = u64;

/// Stream values that are no handles.
pub mod special {
    /// `hipStreamLegacy`; 0 is it, too.
    pub const LEGACY: u64 = 1;
    /// `hipStreamPerThread`.
    pub const PER_THREAD: u64 = 2;
}

static BACKEND: OnceLock<MakeBackend> = OnceLock::new();

/// Makes what the driver runs on, by the options.
pub type MakeBackend = fn(&Options) -> Arc<dyn Backend>;

/// Says what the driver runs on, should a HIP call be its first.
pub fn set_backend(backend: MakeBackend) {
    // The first wins: all come from the one library.
    let _ = BACKEND.set(backend);
}

thread_local! {
    static DEVICE: Cell<i32> = const { Cell::new(0) };
}

/// The driver; the first call makes it.
pub fn driver() -> Result<&'static driver::Driver> {
    if let Ok(driver) = driver::driver() {
        return Ok(driver);
    }
    let backend = BACKEND.get().ok_or(Error::NotInitialized)?;
    driver::initialize(backend)?;
    Ok(driver::driver()?)
}

/// The device of an ordinal.
pub fn device_at(ordinal: i32) -> Result<Arc<Device>> {
    Ok(Arc::clone(driver()?.device(ordinal)?))
}

/// The thread's device: that of its context, else the one it chose, else the first.
pub fn device() -> Result<Arc<Device>> {
    let driver = driver()?;
    match context::current() {
        Some(context) => Ok(Arc::clone(&context.device)),
        None => Ok(Arc::clone(driver.device(DEVICE.get())?)),
    }
}

/// Makes a device the thread's: its primary context replaces the top of the stack.
pub fn set_device(ordinal: i32) -> Result<()> {
    let device = device_at(ordinal)?;
    DEVICE.set(ordinal);
    Ok(context::set_current(Some(primary(&device)?))?)
}

/// The primary context of a device; HIP keeps it from its first use on.
pub fn primary(device: &Arc<Device>) -> Result<Arc<Context>> {
    match context::primary(device) {
        Some(primary) if primary.alive() => Ok(primary),
        _ => Ok(context::get(context::retain_primary(device)?)?),
    }
}

/// The thread's context; where there is none, the primary one of its device becomes current.
pub fn context() -> Result<Arc<Context>> {
    driver()?;
    if let Some(context) = context::current()
        && context.alive()
    {
        return Ok(context);
    }
    let primary = primary(&device()?)?;
    context::set_current(Some(Arc::clone(&primary)))?;
    Ok(primary)
}

/// The thread's context for functions that mirror the CUDA driver's.
pub fn driver_context() -> Result<Arc<Context>> {
    if driver()?.options.hip_context == Rule::Nvidia {
        return Ok(context::usable()?);
    }
    context()
}

/// The stream of a handle; null is the thread's own for the per-thread twins (`own`).
pub fn stream(handle: Handle, own: bool) -> Result<Arc<Stream>> {
    match handle {
        0 if own => Ok(stream::per_thread(&context()?)?),
        0 | special::LEGACY => Ok(context()?.legacy()),
        special::PER_THREAD => Ok(stream::per_thread(&context()?)?),
        _ => STREAMS.get(handle).ok_or(Error::ContextIsDestroyed),
    }
}
