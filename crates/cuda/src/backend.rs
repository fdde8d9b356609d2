//! The backend of the library. No other file names it.

use std::sync::Arc;

use driver::Options;
use driver::backend::Backend;

/// The backend of this process.
pub fn backend(options: &Options) -> Arc<dyn Backend> {
    cpu::tell_through_log();
    Arc::new(cpu::Cpu::new(cpu::Settings::of(options)))
}
