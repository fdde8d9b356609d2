//! The backend's settings, derived from the user's options.

use std::path::PathBuf;

use host::options::Options;
use simd::cache::Cache;
use simd::llvm::Search;
use simd::{Forced, Target};

use crate::program::Engine;

/// How kernels are compiled.
#[derive(Clone, Debug)]
pub struct Making {
    /// The processor that code is compiled for.
    pub target: Target,
    /// The modes that a test forces.
    pub forced: Forced,
    /// The cache of compiled code.
    pub cache: Option<Cache>,
    /// Where LLVM is searched.
    pub llvm: Search,
}

impl Default for Making {
    /// For this machine, without a cache.
    fn default() -> Self {
        Making { target: Target::native(), forced: Forced::default(), cache: None, llvm: Search::default() }
    }
}

impl Making {
    /// The settings for the user's options.
    pub fn of(options: &Options) -> Making {
        Making {
            target: Target::of(options.cpu),
            forced: Forced::default(),
            cache: options.cache_folder().map(|folder| Cache::at(&folder)),
            llvm: Search { named: options.llvm.clone(), rustup: options.rustup_folder() },
        }
    }
}

/// The devices, how kernels are compiled, and the engine that runs them.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The number of devices.
    pub devices: u32,
    /// Their compute capability.
    pub compute_capability: (u32, u32),
    /// Bytes of memory per device; the machine's memory if not set.
    pub memory: Option<u64>,
    /// The engine that runs kernels.
    pub engine: Engine,
    /// The approximate functions and products of matrices return the hardware's bits.
    pub exact: bool,
    /// Launches may ask for counts of what they do, for a profile.
    pub counting: bool,
    /// How kernels are compiled.
    pub making: Making,
    /// The configuration of the workers.
    pub workers: grid::Config,
    /// The folder to which the PTX of modules is written.
    pub keep_ptx: Option<PathBuf>,
}

impl Settings {
    /// The settings for the user's options.
    pub fn of(options: &Options) -> Settings {
        let &Options { engine, exact, workers, deterministic, watchdog, .. } = options;
        Settings {
            devices: options.devices,
            compute_capability: options.compute_capability,
            memory: options.memory,
            engine,
            exact,
            counting: options.profile.is_some() && options.profile_counters,
            making: Making::of(options),
            workers: grid::Config { workers, deterministic, watchdog, ..grid::Config::new() },
            keep_ptx: options.keep_ptx.clone(),
        }
    }
}
