//! What the backend takes from the user's options.

use std::path::PathBuf;

use host::options::Options;
use simd::cache::Cache;
use simd::llvm::Search;
use simd::{Forced, Target};

use crate::program::Engine;

/// How kernels become code.
#[derive(Clone, Debug)]
pub struct Making {
    /// The processor that code is made for.
    pub target: Target,
    /// What a test insists on.
    pub forced: Forced,
    /// Where code is kept.
    pub cache: Option<Cache>,
    /// Where LLVM is looked for.
    pub llvm: Search,
}

impl Default for Making {
    /// For this machine, kept nowhere.
    fn default() -> Self {
        Making { target: Target::native(), forced: Forced::default(), cache: None, llvm: Search::default() }
    }
}

impl Making {
    /// As the user chose.
    pub fn of(options: &Options) -> Making {
        Making {
            target: Target::of(options.cpu),
            forced: Forced::default(),
            cache: options.cache_folder().map(|folder| Cache::at(&folder)),
            llvm: Search { named: options.llvm.clone(), rustup: options.rustup_folder() },
        }
    }
}

/// What the devices are, how kernels become code, and what runs them.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How many devices there are.
    pub devices: u32,
    /// Their compute capability.
    pub compute_capability: (u32, u32),
    /// Bytes of memory of each; the machine's where nothing is said.
    pub memory: Option<u64>,
    /// What runs kernels.
    pub engine: Engine,
    /// The approximate functions give the hardware's bits.
    pub exact: bool,
    /// How kernels become code.
    pub making: Making,
    /// The workers.
    pub workers: grid::Config,
    /// Where the PTX of modules is kept.
    pub keep_ptx: Option<PathBuf>,
}

impl Settings {
    /// As the user chose.
    pub fn of(options: &Options) -> Settings {
        let &Options { engine, exact, workers, deterministic, watchdog, .. } = options;
        Settings {
            devices: options.devices,
            compute_capability: options.compute_capability,
            memory: options.memory,
            engine,
            exact,
            making: Making::of(options),
            workers: grid::Config { workers, deterministic, watchdog, ..grid::Config::new() },
            keep_ptx: options.keep_ptx.clone(),
        }
    }
}
