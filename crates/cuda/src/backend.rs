//! Which backend the library runs on: the one place that names it.

use std::sync::Arc;

use driver::backend::{Backend, LoadError, LoadErrorKind, LoadRequest, Loaded};
use driver::device::{DeviceInfo, virtual_devices};

/// The backend of this process.
pub fn backend() -> Arc<dyn Backend> {
    Arc::new(NoCompiler)
}

/// Devices without a compiler: everything but loading code works.
struct NoCompiler;

impl Backend for NoCompiler {
    fn devices(&self) -> Vec<DeviceInfo> {
        let workers = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        virtual_devices(&DeviceInfo {
            name: "Anywarp CPU".into(),
            total_memory: 8 << 30,
            multiprocessors: workers as u32,
            compute_capability: (8, 6),
            uuid: *b"anywarp-cpu-0000",
            pci: (0, 1, 0),
            clock_khz: 1_500_000,
            attributes: Vec::new(),
        })
    }

    fn load(&self, _: &LoadRequest<'_>) -> Result<Loaded, LoadError> {
        Err(LoadError { kind: LoadErrorKind::NoCompiler, log: "this build has no compiler\n".into() })
    }
}
