//! A kernel's code: made at the first launch of a shape, and kept.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock, TryLockError};
use std::time::{Duration, Instant};

use simd::cache::Cache;
use simd::llvm::LlvmError;
use simd::{Compiled, Error, Report, Request, Specialisation, Target};
use wave::abi::Code;
use wave::interp::Interpreter;
use wave::{FuncId, Module};

use crate::program::Engine;

/// A kernel ready to run, and how it came about.
pub struct Kernel {
    /// The code.
    pub code: Box<dyn Code>,
    /// What the compiler made of it; `None` where it is interpreted.
    pub report: Option<Report>,
    /// Why it is interpreted although machine code was asked for.
    pub refused: Option<String>,
    /// Whether it came from the cache.
    pub cached: bool,
    /// How long it took to make.
    pub time: Duration,
    // Registered while the code lives.
    _range: Option<grid::CodeRange>,
}

/// Code for one specialisation.
type Made = (Specialisation, Arc<Kernel>);

/// Code of one kernel, by what it is specialised on.
#[derive(Default)]
pub(crate) struct Codes {
    last: RwLock<Option<Made>>,
    all: Mutex<HashMap<Specialisation, Arc<Kernel>>>,
}

impl Codes {
    /// Whether there is code for `spec`, or some is being made. Does not wait: it is asked while other kernels are being made.
    pub fn has(&self, spec: Specialisation) -> bool {
        match self.all.try_lock() {
            Ok(all) => all.contains_key(&spec),
            Err(TryLockError::Poisoned(all)) => all.into_inner().contains_key(&spec),
            Err(TryLockError::WouldBlock) => true,
        }
    }

    /// The code for `spec`, made if it is not there.
    pub fn get(&self, spec: Specialisation, make: impl FnOnce() -> Option<Kernel>) -> Option<Arc<Kernel>> {
        if let Some((last, code)) = &*self.last.read().unwrap_or_else(PoisonError::into_inner)
            && *last == spec
        {
            return Some(code.clone());
        }
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let code = match all.get(&spec) {
            Some(code) => code.clone(),
            None => {
                let code = Arc::new(make()?);
                all.insert(spec, code.clone());
                code
            }
        };
        *self.last.write().unwrap_or_else(PoisonError::into_inner) = Some((spec, code.clone()));
        Some(code)
    }
}

/// How the code of a module is made.
pub(crate) struct Maker {
    engine: Engine,
    target: Target,
    cache: Option<Cache>,
    /// Digest of everything that the module was made of.
    unit: [u8; 32],
}

impl Maker {
    /// For the processor and with the cache that the environment names.
    pub fn from_environment(engine: Engine, unit: [u8; 32]) -> Maker {
        let target = Target::from_environment().unwrap_or_else(|error| {
            tracing::warn!(%error, "code is made for this machine instead");
            Target::native()
        });
        Maker { engine, target, cache: Cache::from_environment(), unit }
    }

    /// For this processor, without a cache.
    pub fn for_target(self, target: Target) -> Maker {
        Maker { target, cache: None, ..self }
    }

    /// Whether launches are likely to be compiled: a compiler is asked for, and the cache has not seen the texts. To be asked once a load.
    pub fn expects_work(&self) -> bool {
        let compiles = self.engine == Engine::Compiled && self.target.has_vectors();
        compiles && !self.cache.as_ref().is_some_and(|cache| cache.seen(&self.unit, &self.target))
    }

    /// The processor that code is made for.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// What the compiler is asked for.
    pub fn request<'a>(&'a self, module: &'a Module, kernel: FuncId, spec: Specialisation) -> Request<'a> {
        Request { module, kernel, spec, target: &self.target, unit: self.unit }
    }

    /// Makes code: machine code if that is asked for and can be, else the interpreter's. `missed` is called where there is something to compile.
    pub fn make(
        &self,
        module: &Arc<Module>,
        kernel: FuncId,
        spec: Specialisation,
        missed: &dyn Fn(),
    ) -> Option<Kernel> {
        let start = Instant::now();
        let name = module.functions.get(kernel.index())?.name.as_str();
        let mut refused = None;
        if self.engine == Engine::Compiled {
            match Compiled::new(&self.request(module, kernel, spec), self.cache.as_ref(), missed) {
                Ok(compiled) => {
                    let (first, end) = compiled.range();
                    let lines = compiled.lines();
                    let place = move |at| Some(grid::Place { line: lines(at)?, detail: String::new() });
                    tracing::info!(kernel = name, cached = compiled.cached, time = ?compiled.time, "compiled");
                    return Some(Kernel {
                        report: Some(compiled.report),
                        refused: None,
                        cached: compiled.cached,
                        time: compiled.time,
                        _range: grid::register_code_range(first, end, Some(Box::new(place))),
                        code: Box::new(compiled),
                    });
                }
                Err(Error::Llvm(LlvmError::Ending)) => {
                    tracing::debug!(kernel = name, "interpreted: the process is ending")
                }
                Err(error) => {
                    tracing::warn!(kernel = name, %error, "a kernel is interpreted, which is slow");
                    refused = Some(error.to_string());
                }
            }
        }
        match Interpreter::new(module.clone(), kernel) {
            Ok(code) => Some(Kernel {
                code: Box::new(code),
                report: None,
                refused,
                cached: false,
                time: start.elapsed(),
                _range: None,
            }),
            Err(error) => {
                tracing::error!(kernel = name, %error, "a kernel cannot be interpreted");
                None
            }
        }
    }
}
