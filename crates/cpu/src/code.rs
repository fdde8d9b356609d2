//! A kernel's code: compiled at the first launch of a shape, and kept.

use std::collections::{HashMap, hash_map};
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Condvar, Mutex, Once, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use simd::llvm::LlvmError;
use simd::{CodeKey, Compiled, Error, Made, Report, Request, Rest, Specialisation};
use wave::abi::Code;
use wave::interp::Interpreter;
use wave::{FuncId, Module};

use crate::program::{Engine, Program};
use crate::settings::Making;

/// A kernel that is ready to run, and how it was made.
pub struct Kernel {
    /// The code.
    pub code: Box<dyn Code>,
    /// The compiler's report; `None` if the kernel is interpreted.
    pub report: Option<Report>,
    /// Why the kernel is interpreted although machine code was requested.
    pub refused: Option<String>,
    /// Whether it came from the cache.
    pub cached: bool,
    /// How long the compilation took.
    pub time: Duration,
    // The code's address range, registered while the code lives.
    _range: Option<grid::CodeRange>,
}

/// A specialisation and its code.
type Last = (Specialisation, Arc<Kernel>);

/// Code for a launch.
pub enum Ready<'a> {
    /// The code of the kernel's last launch, which is held without counting a reference.
    Last(&'a Arc<Kernel>),
    /// Any code.
    Other(Arc<Kernel>),
}

impl Ready<'_> {
    /// The kernel.
    pub fn kernel(&self) -> &Kernel {
        match self {
            Ready::Last(kernel) => kernel,
            Ready::Other(kernel) => kernel,
        }
    }

    /// The kernel, to be kept.
    pub fn kept(self) -> Arc<Kernel> {
        match self {
            Ready::Last(kernel) => Arc::clone(kernel),
            Ready::Other(kernel) => kernel,
        }
    }
}

/// Code of one kernel for one specialisation.
struct Entry {
    code: Arc<Kernel>,
    /// Baseline code; optimised code is being compiled.
    first: bool,
    /// The code with its specialisation, once it was requested and final. It is never replaced.
    last: Option<Arc<Last>>,
}

/// The code of one kernel, by specialisation.
#[derive(Default)]
pub(crate) struct Codes {
    /// Null, or the `last` of an entry in `all`: a launch finds its code with one load.
    last: AtomicPtr<Last>,
    /// Entries are never removed.
    all: Mutex<HashMap<Specialisation, Entry>>,
    better: Condvar,
}

impl Codes {
    /// Whether code for `spec` exists or is being compiled. Does not block, because it is called while other
    /// kernels are being compiled.
    pub fn has(&self, spec: Specialisation) -> bool {
        match self.all.try_lock() {
            Ok(all) => all.contains_key(&spec),
            Err(TryLockError::Poisoned(all)) => all.into_inner().contains_key(&spec),
            Err(TryLockError::WouldBlock) => true,
        }
    }

    /// The code that was requested last, if it is for `spec` and final.
    pub fn known(&self, spec: &Specialisation) -> Option<Ready<'_>> {
        // SAFETY: null, or what an entry holds, which is neither removed nor replaced while `self` lives.
        let last = unsafe { self.last.load(Ordering::Acquire).as_ref() }?;
        (last.0 == *spec).then_some(Ready::Last(&last.1))
    }

    /// The code for `spec`, compiled if missing, and the remaining work if it is baseline code. Callers that
    /// do not set `brief` wait for the optimised code.
    pub fn get(
        &self,
        spec: Specialisation,
        brief: bool,
        make: impl FnOnce() -> Option<(Kernel, Option<Rest>)>,
    ) -> Option<(Arc<Kernel>, Option<Rest>)> {
        if let Some(code) = self.known(&spec) {
            return Some((code.kept(), None));
        }
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        if let hash_map::Entry::Vacant(entry) = all.entry(spec) {
            let (code, rest) = make()?;
            let code = Arc::new(code);
            entry.insert(Entry { code: code.clone(), first: rest.is_some(), last: None });
            if rest.is_some() {
                return Some((code, rest));
            }
        }
        let worse = |all: &mut HashMap<_, Entry>| !brief && all.get(&spec).is_some_and(|entry| entry.first);
        let mut all = self.better.wait_while(all, worse).unwrap_or_else(PoisonError::into_inner);
        let Entry { code, first, last } = all.get_mut(&spec)?;
        if !*first {
            let last = last.get_or_insert_with(|| Arc::new((spec, code.clone())));
            self.last.store(Arc::as_ptr(last).cast_mut(), Ordering::Release);
        }
        Some((code.clone(), None))
    }

    /// Replaces the baseline code by optimised code; with `None`, the baseline code is final.
    fn replace(&self, spec: Specialisation, better: Option<Kernel>) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = all.get_mut(&spec) {
            if let Some(better) = better {
                entry.code = Arc::new(better);
            }
            entry.first = false;
        }
        self.better.notify_all();
    }
}

/// Ends the wait for optimised code on drop, also if compiling it has failed.
pub(crate) struct Done<'a> {
    pub codes: &'a Codes,
    pub spec: Specialisation,
    pub better: Option<Kernel>,
}

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.codes.replace(self.spec, self.better.take());
    }
}

/// Compiles the code of a module.
pub(crate) struct Maker {
    engine: Engine,
    making: Making,
    /// Digest of everything that the module was built from.
    unit: [u8; 32],
}

impl Maker {
    /// For a module with the digest `unit`.
    pub fn new(engine: Engine, making: Making, unit: [u8; 32]) -> Maker {
        Maker { engine, making, unit }
    }

    /// With changed settings.
    pub fn with(self, change: impl FnOnce(&mut Making)) -> Maker {
        let mut making = self.making;
        change(&mut making);
        Maker { making, ..self }
    }

    /// Whether launches will probably be compiled: the engine compiles, and the cache has not seen the texts.
    /// Call it once per load.
    pub fn expects_work(&self) -> bool {
        let Making { target, forced, cache, llvm: _ } = &self.making;
        let compiles = self.engine == Engine::Compiled && target.has_vectors();
        compiles && !cache.as_ref().is_some_and(|cache| cache.seen(&self.unit, target, forced))
    }

    /// How code is compiled.
    pub fn making(&self) -> &Making {
        &self.making
    }

    /// The request for the compiler.
    pub fn request<'a>(&'a self, module: &'a Module, kernel: FuncId, spec: Specialisation) -> Request<'a> {
        let Making { target, forced, llvm, cache: _ } = &self.making;
        Request { module, kernel, unit: self.unit, code: CodeKey { spec, target, forced }, llvm }
    }

    /// Makes a kernel's code: machine code if requested and possible, otherwise the interpreter's. Calls
    /// `missed` before compiling. If `brief`, the result may be baseline code, to be replaced by [`finish`].
    pub fn make(
        &self,
        program: &Program,
        kernel: FuncId,
        spec: Specialisation,
        brief: bool,
        missed: &(dyn Fn() + Sync),
    ) -> Option<(Kernel, Option<Rest>)> {
        let start = Instant::now();
        let name = program.module().functions.get(kernel.index())?.name.as_str();
        let mut refused = None;
        if self.engine == Engine::Compiled {
            let cache = self.making.cache.as_ref();
            // A kernel whose code is in the cache need not be lowered.
            if let (Some(cache), true) = (cache, program.is_deferred(kernel))
                && let Some(code) = Compiled::cached(&self.request(program.module(), kernel, spec), cache)
            {
                return Some((machine_code(name, code), None));
            }
            let request = self.request(program.module_of(kernel), kernel, spec);
            let made = match brief {
                true => Compiled::soon(&request, cache, missed),
                false => Compiled::whole(&request, cache, missed),
            };
            match made {
                Ok(Made::Whole(code)) => return Some((machine_code(name, code), None)),
                Ok(Made::First(code, rest)) => return Some((machine_code(name, code), Some(*rest))),
                Err(Error::Llvm(LlvmError::Ending)) => {
                    tracing::debug!(kernel = name, "interpreted: the process is ending")
                }
                Err(error) => {
                    match &error {
                        Error::Llvm(missing @ (LlvmError::NotFound(_) | LlvmError::NoRoom { .. })) => {
                            tell_missing(name, missing)
                        }
                        _ => tracing::warn!(kernel = name, %error, "a kernel is interpreted, which is slow"),
                    }
                    refused = Some(error.to_string());
                }
            }
        }
        match Interpreter::new(Arc::clone(program.module_of(kernel)), kernel) {
            Ok(code) => {
                let kernel = Kernel {
                    code: Box::new(code),
                    report: None,
                    refused,
                    cached: false,
                    time: start.elapsed(),
                    _range: None,
                };
                Some((kernel, None))
            }
            Err(error) => {
                tracing::error!(kernel = name, %error, "a kernel cannot be interpreted");
                None
            }
        }
    }
}

/// Reports that LLVM is missing, or that there is no memory for it: as an error once per process, since all
/// kernels are then slow.
fn tell_missing(kernel: &str, missing: &LlvmError) {
    static TOLD: Once = Once::new();
    TOLD.call_once(|| {
        tracing::error!("kernels run on the interpreter, which is slow: {missing}");
    });
    tracing::debug!(kernel, "a kernel is interpreted, which is slow: there is no LLVM");
}

/// The optimised code that replaces a kernel's baseline code; `None` if it cannot be compiled.
pub(crate) fn finish(name: &str, rest: Rest) -> Option<Kernel> {
    match rest.make() {
        Ok(code) => Some(machine_code(name, code)),
        Err(error) => {
            tracing::debug!(kernel = name, %error, "the baseline code stays");
            None
        }
    }
}

fn machine_code(name: &str, compiled: Compiled) -> Kernel {
    let (first, end) = compiled.range();
    let lines = compiled.lines();
    let place = move |at| Some(grid::Place { line: lines(at)?, detail: String::new() });
    tracing::info!(kernel = name, cached = compiled.cached, time = ?compiled.time, "compiled");
    Kernel {
        report: Some(compiled.report),
        refused: None,
        cached: compiled.cached,
        time: compiled.time,
        _range: grid::register_code_range(first, end, Some(Box::new(place))),
        code: Box::new(compiled),
    }
}
