//! The thread's device and context.
//!
//! HIP works with devices; its contexts are the primary ones. It shares the thread's context stack with CUDA:
//! a HIP call that finds the stack empty pushes the primary context of the thread's device, as the CUDA
//! runtime does (HIP's porting guide, "Additional Information").

use std::cell::Cell;
use std::sync::{Arc, OnceLock};

use driver::Options;
use driver::backend::Backend;
use driver::context::{self, Context};
use driver::device::Device;
use driver::stream::{self, STREAMS, Stream};
pub use host::options::HipContext as Rule;

use crate::{Error, Result};

/// A handle of any kind; a pointer in C.
pub type Handle = u64;

/// Special stream values.
pub mod special {
    /// `hipStreamLegacy`; 0 has the same meaning.
    pub const LEGACY: u64 = 1;
    /// `hipStreamPerThread`.
    pub const PER_THREAD: u64 = 2;
}

static BACKEND: OnceLock<MakeBackend> = OnceLock::new();

/// Creates the driver's backend from the options.
pub type MakeBackend = fn(&Options) -> Arc<dyn Backend>;

/// Sets the backend that is used if a HIP call initialises the driver.
pub fn set_backend(backend: MakeBackend) {
    // Only the first call counts; all of them come from the same library.
    let _ = BACKEND.set(backend);
}

thread_local! {
    static DEVICE: Cell<i32> = const { Cell::new(0) };
    /// Whether the thread has set its device itself.
    static CHOSEN: Cell<bool> = const { Cell::new(false) };
}

/// The driver; the first call creates it.
pub fn driver() -> Result<&'static driver::Driver> {
    if let Ok(driver) = driver::driver() {
        return Ok(driver);
    }
    let backend = BACKEND.get().ok_or(Error::NotInitialized)?;
    driver::initialize(backend)?;
    Ok(driver::driver()?)
}

/// The device with an ordinal.
pub fn device_at(ordinal: i32) -> Result<Arc<Device>> {
    Ok(Arc::clone(driver()?.device(ordinal)?))
}

/// The thread's device: that of its context, or the one it has set, or the first.
pub fn device() -> Result<Arc<Device>> {
    let driver = driver()?;
    match context::current() {
        Some(context) => Ok(Arc::clone(&context.device)),
        None => Ok(Arc::clone(driver.device(DEVICE.get())?)),
    }
}

/// Sets the thread's device: its primary context replaces the top of the stack.
pub fn set_device(ordinal: i32) -> Result<()> {
    // As in clr, a call that fails counts too.
    CHOSEN.set(true);
    let device = device_at(ordinal)?;
    DEVICE.set(ordinal);
    Ok(context::set_current(Some(primary(&device)?))?)
}

/// The thread's device, unless the thread has set one: it replaces the current context, or is the one that
/// the next call uses.
pub fn prefer_device(ordinal: i32) -> Result<()> {
    if CHOSEN.get() {
        return Ok(());
    }
    let device = device_at(ordinal)?;
    DEVICE.set(ordinal);
    match context::current() {
        Some(current) if current.device.ordinal != device.ordinal => {
            Ok(context::set_current(Some(primary(&device)?))?)
        }
        _ => Ok(()),
    }
}

/// The primary context of a device; HIP keeps it from first use on.
pub fn primary(device: &Arc<Device>) -> Result<Arc<Context>> {
    match context::primary(device) {
        Some(primary) if primary.alive() => Ok(primary),
        _ => Ok(context::get(context::retain_primary(device)?)?),
    }
}

/// The thread's current context. If there is none, its device's primary context becomes current.
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

/// The thread's current context, for functions that mirror the CUDA driver's.
pub fn driver_context() -> Result<Arc<Context>> {
    if driver()?.options.hip_context == Rule::Nvidia {
        return Ok(context::usable()?);
    }
    context()
}

/// The stream of a handle. For the per-thread variants (`own`), null is the per-thread stream.
pub fn stream(handle: Handle, own: bool) -> Result<Arc<Stream>> {
    match handle {
        0 if own => Ok(stream::per_thread(&context()?)?),
        0 | special::LEGACY => Ok(context()?.legacy()),
        special::PER_THREAD => Ok(stream::per_thread(&context()?)?),
        _ => STREAMS.get(handle).ok_or(Error::ContextIsDestroyed),
    }
}
