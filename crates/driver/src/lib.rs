//! The driver: the objects and rules that CUDA and HIP share.
//!
//! Devices, contexts, memory, streams, events, modules and launches, behind handles that can be validated.
//! Compilation and execution go through one trait, [`backend::Backend`].
//!
//! **Architecture invariant:** this crate uses no C types and no API names, and reaches code only through
//! [`backend::Backend`]. Its only global state is the object tables and the one driver that [`initialize`]
//! creates.

pub mod backend;
pub mod callback;
mod capability;
pub mod checkpoint;
pub mod cluster;
pub mod code;
pub mod context;
pub mod coredump;
mod crew;
pub mod device;
mod device_runtime;
pub mod error;
pub mod event;
pub mod external;
pub mod graph;
pub mod green;
pub mod handle;
pub mod history;
pub mod inventory;
pub mod launch;
pub mod library;
pub mod link;
pub mod log;
pub mod mangled;
pub mod memory;
pub mod module;
pub mod occupancy;
pub mod peer;
pub mod profile;
pub mod refused;
pub mod several;
pub mod shared;
pub mod stream;
pub mod texture;
pub mod usage;
pub mod visible;

use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use backend::Backend;
use device::Device;
pub use error::{Error, Result};
use host::options::Reading;
pub use host::options::{ModuleLoading, Options};

/// The version of CUDA whose interfaces and rules the driver follows: 13.0.
pub const VERSION: i32 = 13000;

/// The driver of this process.
pub struct Driver {
    /// The compiler and executor.
    pub backend: Arc<dyn Backend>,
    /// The devices by ordinal.
    pub devices: Vec<Arc<Device>>,
    /// The user's options at initialisation.
    pub options: Options,
    /// Why there are no devices.
    refused: Option<Error>,
}

static DRIVER: OnceLock<Driver> = OnceLock::new();
static STATE: AtomicU8 = AtomicU8::new(NEW);
static PROCESS: AtomicU32 = AtomicU32::new(0);

const NEW: u8 = 0;
const READY: u8 = 1;
const FORKED: u8 = 2;
const ENDED: u8 = 3;

extern "C" fn forked() {
    STATE.store(FORKED, Ordering::SeqCst);
    profile::stop();
}

extern "C" fn exiting() {
    // A child of a fork must not end its parent's driver; the state is already FORKED there.
    let _ = STATE.compare_exchange(READY, ENDED, Ordering::SeqCst, Ordering::SeqCst);
}

/// Creates the driver once, with the options in the environment at that time. Later calls only return whether
/// it still works.
pub fn initialize(backend: impl FnOnce(&Options) -> Arc<dyn Backend>) -> Result<()> {
    match STATE.load(Ordering::SeqCst) {
        FORKED => return Err(Error::NotInitialized),
        ENDED => return Err(Error::Deinitialized),
        _ => {}
    }
    let driver = DRIVER.get_or_init(|| {
        let reading = Reading::of_process();
        log::set_level(reading.options.log);
        reading.complaints().for_each(|complaint| log::say(log::Level::Error, || complaint));
        let options = reading.options;
        let backend = backend(&options);
        let mut all = amd_devices(&*backend, &options);
        all.extend(backend.devices());
        let (infos, refused) = match visible::visible(all, |info| info.uuid, &options) {
            Ok(infos) => (infos, None),
            Err(error) => (Vec::new(), Some(error)),
        };
        let infos = within_limits(infos);
        let device = |(i, info)| Device::new(i as u32, info);
        let devices: Vec<_> = infos.into_iter().enumerate().map(device).collect();
        usage::start(&devices);
        profile::start(&options);
        PROCESS.store(std::process::id(), Ordering::SeqCst);
        // SAFETY: both take functions that live as long as the library, which stays loaded after
        // initialisation.
        unsafe {
            libc::pthread_atfork(None, None, Some(forked));
            libc::atexit(exiting);
        }
        Driver { backend, devices, options, refused }
    });
    if driver.devices.is_empty() {
        return Err(driver.refused.unwrap_or(Error::NoDevice));
    }
    let _ = STATE.compare_exchange(NEW, READY, Ordering::SeqCst, Ordering::SeqCst);
    Ok(())
}

/// Returns the AMD code objects that the program has registered before initialisation; none if it has
/// registered PTX.
pub type Registered = fn() -> Vec<Vec<u8>>;

static REGISTERED: OnceLock<Registered> = OnceLock::new();

/// Sets by what a program's registered code is found, on which the devices of a HIP process depend.
pub fn set_registered(registered: Registered) {
    // Every registration sets the same.
    let _ = REGISTERED.set(registered);
}

/// The AMD devices, which a HIP process lists first: those that `ANYWARP_HIP_ARCH` names, or else one that
/// runs the code that the program has registered.
fn amd_devices(backend: &dyn Backend, options: &Options) -> Vec<device::DeviceInfo> {
    if visible::interface() != visible::Interface::Hip {
        return Vec::new();
    }
    let targets: Vec<String> = match &options.hip_arch {
        Some(list) => list.split(',').map(|one| one.trim().to_owned()).filter(|t| !t.is_empty()).collect(),
        None => {
            let objects = REGISTERED.get().map_or_else(Vec::new, |registered| registered());
            objects.iter().find_map(|object| backend.amd_target(object).ok()).into_iter().collect()
        }
    };
    backend.amd_devices(&targets)
}

/// Whether this process is a child of a fork of one that had initialised the driver.
pub(crate) fn is_forked() -> bool {
    STATE.load(Ordering::Relaxed) == FORKED
}

/// The devices, with no more memory than the process's limits allow.
fn within_limits(mut infos: Vec<device::DeviceInfo>) -> Vec<device::DeviceInfo> {
    let Some(memory::Bound { bytes, what }) = memory::bound() else { return infos };
    let most = infos.iter().map(|info| info.total_memory).max().unwrap_or(0);
    if most > bytes {
        log::say(log::Level::Error, || {
            format!("{what}: devices have {} MiB instead of {}", bytes >> 20, most >> 20)
        });
    }
    for info in infos.iter_mut() {
        info.total_memory = info.total_memory.min(bytes);
    }
    infos
}

/// The driver, if it was initialised in this process and the process is not exiting.
pub fn driver() -> Result<&'static Driver> {
    match STATE.load(Ordering::Acquire) {
        READY => DRIVER.get().ok_or(Error::NotInitialized),
        ENDED => Err(Error::Deinitialized),
        _ => Err(Error::NotInitialized),
    }
}

impl Driver {
    /// The device with an ordinal.
    pub fn device(&self, ordinal: i32) -> Result<&Arc<Device>> {
        usize::try_from(ordinal).ok().and_then(|i| self.devices.get(i)).ok_or(Error::InvalidDevice)
    }
}
