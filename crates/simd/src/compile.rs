//! Compiles a kernel to code that can run.

use std::mem::transmute;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use wave::abi::{BlockCtx, Code, Needs, Stop, Swept, WarpCtx};
use wave::{FuncId, Function, Module};

use crate::cache::{Cache, Key};
use crate::effort::Effort;
use crate::kernel::explain::{self, View};
use crate::kernel::{self, RESUME, RUN_BLOCKS, Report, SWEEP};
use crate::key::CodeKey;
use crate::llvm::{How, Llvm, LlvmError, Search, Ticket};
use crate::object::{LoadError, Loaded};
use crate::target::Target;

/// A request to compile a kernel.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The kernel's module.
    pub module: &'a Module,
    /// The kernel.
    pub kernel: FuncId,
    /// A digest of everything that the module was built from.
    pub unit: [u8; 32],
    /// Everything else that determines the code.
    pub code: CodeKey<'a>,
    /// Where LLVM is searched if it has not been opened yet.
    pub llvm: &'a Search,
}

/// Why there is no code.
#[derive(Debug)]
pub enum Error {
    /// The compiler does not support the kernel; it can be interpreted.
    Unsupported(String),
    /// LLVM is missing or rejects the module.
    Llvm(LlvmError),
    /// The object cannot be loaded.
    Load(LoadError),
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Error::Unsupported(what) => f.write_str(what),
            Error::Llvm(e) => e.fmt(f),
            Error::Load(e) => e.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl From<kernel::Unsupported> for Error {
    fn from(u: kernel::Unsupported) -> Self {
        Error::Unsupported(u.0)
    }
}

impl From<LlvmError> for Error {
    fn from(e: LlvmError) -> Self {
        Error::Llvm(e)
    }
}

type ResumeFn = unsafe extern "C" fn(*mut WarpCtx, *mut u8) -> u32;
type SweepFn =
    unsafe extern "C" fn(*mut WarpCtx, *mut u8, *const AtomicU32, *const AtomicBool, *mut u64) -> u64;
type RunBlocksFn = unsafe extern "C" fn(*mut BlockCtx, u64) -> u32;

#[derive(Clone, Copy, Debug)]
enum Entry {
    /// The entry point for one warp, and the one for all warps if there is one.
    Resume(ResumeFn, Option<SweepFn>),
    RunBlocks(RunBlocksFn),
}

/// A kernel's machine code.
#[derive(Debug)]
pub struct Compiled {
    entry: Entry,
    needs: Needs,
    /// What was vectorised.
    pub report: Report,
    /// Whether it came from the cache.
    pub cached: bool,
    /// How long the compilation took.
    pub time: Duration,
    // Owns the code that `entry` points to.
    loaded: Loaded,
}

/// The data stored in a cache entry beside the object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    pub needs: Needs,
    pub report: Report,
}

/// Whether LLVM has already compiled a kernel in this process with full effort, so that its own code and
/// tables are in memory.
static WARM: AtomicBool = AtomicBool::new(false);

/// The result of [`Compiled::soon`].
#[derive(Debug)]
pub enum Made {
    /// The optimised code.
    Whole(Compiled),
    /// Code of the baseline tier, and the remaining work for the optimised code.
    First(Compiled, Box<Rest>),
}

/// Optimised code that is still to be compiled.
#[derive(Debug)]
pub struct Rest {
    ir: String,
    how: How,
    facts: Facts,
    target: Target,
    llvm: Search,
    keep: Option<(Cache, Key, Ticket)>,
}

impl Rest {
    /// Compiles the optimised code and stores it in the cache. If there is a cache, process exit waits for
    /// it.
    ///
    /// # Errors
    /// LLVM rejects the module, or the process is exiting.
    pub fn make(self) -> Result<Compiled, Error> {
        let start = Instant::now();
        let Rest { ir, how, facts, target, llvm, keep } = self;
        let object = match &keep {
            Some((.., ticket)) => Llvm::get(&llvm)?.object_by(ticket, &ir, &target, how)?,
            None => Llvm::get(&llvm)?.object(&ir, &target, how)?,
        };
        WARM.store(true, Ordering::Relaxed);
        if let Some((cache, key, _)) = &keep {
            cache.put(key, &facts, &object);
        }
        Compiled::load(&object, facts, false, start)
    }
}

impl Compiled {
    /// Compiles a kernel or loads it from the cache. Calls `missed` before compiling, if the cache does not
    /// have it.
    ///
    /// # Errors
    /// The kernel is not supported (interpret it), or there is no LLVM.
    pub fn new(request: &Request, cache: Option<&Cache>, missed: &dyn Fn()) -> Result<Compiled, Error> {
        match Compiled::whole(request, cache, missed)? {
            Made::Whole(whole) | Made::First(whole, _) => Ok(whole),
        }
    }

    /// Loads a kernel's code from the cache. The module need not contain the kernel's IR.
    pub fn cached(request: &Request, cache: &Cache) -> Option<Compiled> {
        let start = Instant::now();
        let name = &request.module.functions.get(request.kernel.index())?.name;
        let (facts, object) = cache.get(&Key::new(request, name))?;
        Compiled::load(&object, facts, true, start).ok()
    }

    /// [`Compiled::new`], with the result type of [`Compiled::soon`].
    ///
    /// # Errors
    /// As for [`Compiled::new`].
    pub fn whole(request: &Request, cache: Option<&Cache>, missed: &dyn Fn()) -> Result<Made, Error> {
        Compiled::made(request, cache, missed, false)
    }

    /// Compiles a kernel that is needed soon and runs little. While LLVM is still cold in this process, the
    /// result is baseline code, which is ready before the optimised code would be.
    ///
    /// # Errors
    /// As for [`Compiled::new`].
    pub fn soon(request: &Request, cache: Option<&Cache>, missed: &dyn Fn()) -> Result<Made, Error> {
        Compiled::made(request, cache, missed, !WARM.load(Ordering::Relaxed))
    }

    fn made(request: &Request, cache: Option<&Cache>, missed: &dyn Fn(), first: bool) -> Result<Made, Error> {
        let start = Instant::now();
        let name = &request.module.functions[request.kernel.index()].name;
        let key = Key::new(request, name);
        if let Some((facts, object)) = cache.and_then(|c| c.get(&key))
            && let Ok(compiled) = Compiled::load(&object, facts, true, start)
        {
            return Ok(Made::Whole(compiled));
        }
        let CodeKey { target, forced, .. } = request.code;
        if !target.has_vectors() {
            return Err(Error::Unsupported("a processor without AVX2".into()));
        }
        missed();
        let emitted = kernel::emit(request.module, request.kernel, request.code, &|_| ())?;
        let needs = Needs {
            frame: emitted.frame,
            local: emitted.local as usize,
            width: emitted.width,
            whole_warps: emitted.whole_warps,
            recursive: emitted.keeps_stack,
            suspends: emitted.suspends,
            waits: emitted.waits,
            together: emitted.together,
        };
        let facts = Facts { needs, report: emitted.report };
        let keep = match cache {
            Some(cache) => Some((cache.clone(), key, Ticket::new().ok_or(LlvmError::Ending)?)),
            None => None,
        };
        let how = How::of(&emitted);
        let rest =
            |ir: String| Rest { ir, how, facts, target: target.clone(), llvm: request.llvm.clone(), keep };
        if (first || forced.first) && facts.report.effort == Effort::Full {
            let object = Llvm::get(request.llvm)?.object(&emitted.ir, target, Effort::First.into())?;
            let code = Compiled::load(&object, facts, false, start)?;
            return Ok(if forced.first {
                Made::Whole(code)
            } else {
                Made::First(code, Box::new(rest(emitted.whole())))
            });
        }
        let rest = rest(emitted.whole());
        let whole = rest.make()?;
        Ok(Made::Whole(Compiled { time: start.elapsed(), ..whole }))
    }

    fn load(object: &[u8], facts: Facts, cached: bool, start: Instant) -> Result<Compiled, Error> {
        let Facts { needs, report } = facts;
        let loaded = Loaded::load(object).map_err(Error::Load)?;
        let name = if needs.suspends { RESUME } else { RUN_BLOCKS };
        let address = loaded.symbol(name).ok_or_else(|| Error::Load(LoadError::Unresolved(name.into())))?;
        let entry = if needs.suspends {
            // SAFETY: the emitter gives this symbol this signature.
            let resume = unsafe { transmute::<*const u8, ResumeFn>(address) };
            // SAFETY: the emitter gives this symbol this signature.
            let sweep = loaded.symbol(SWEEP).map(|at| unsafe { transmute::<*const u8, SweepFn>(at) });
            Entry::Resume(resume, sweep)
        } else {
            // SAFETY: as above.
            Entry::RunBlocks(unsafe { transmute::<*const u8, RunBlocksFn>(address) })
        };
        Ok(Compiled { entry, needs, report, cached, time: start.elapsed(), loaded })
    }

    /// A function from an instruction's address to its source line.
    pub fn lines(&self) -> impl Fn(usize) -> Option<u32> + Send + Sync + use<> {
        self.loaded.lines()
    }

    /// The address range of the code.
    pub fn range(&self) -> (usize, usize) {
        self.loaded.range()
    }
}

impl Code for Compiled {
    fn needs(&self) -> &Needs {
        &self.needs
    }

    unsafe fn resume(&self, warp: &mut WarpCtx) -> Stop {
        match self.entry {
            // SAFETY: the caller vouches for the context.
            Entry::Resume(f, _) => Stop::from_code(unsafe { f(warp, warp.frame) }),
            Entry::RunBlocks(_) => Stop::Fault,
        }
    }

    unsafe fn sweep(
        &self,
        warps: &mut [WarpCtx],
        left: &mut u64,
        current: &AtomicU32,
        failed: &AtomicBool,
    ) -> Option<Swept> {
        let Entry::Resume(_, Some(f)) = self.entry else { return None };
        let frames = warps.first()?.frame;
        // SAFETY: the caller vouches for the contexts.
        let answer = unsafe { f(warps.as_mut_ptr(), frames, current, failed, left) };
        (answer != kernel::NOT_RUN as u64).then_some(Swept {
            warp: (answer & u64::from(u32::MAX)) as usize,
            ended: answer & kernel::ENDED as u64 != 0,
            stop: Stop::from_code((answer >> 32) as u8 as u32),
        })
    }

    unsafe fn run_blocks(&self, block: &mut BlockCtx, count: u64) -> Stop {
        match self.entry {
            // SAFETY: as above.
            Entry::RunBlocks(f) => Stop::from_code(unsafe { f(block, count) }),
            Entry::Resume(..) => Stop::Fault,
        }
    }
}

/// A kernel's LLVM IR before optimisation.
///
/// # Errors
/// The kernel is not supported.
pub fn ir(request: &Request) -> Result<String, Error> {
    let emitted = kernel::emit(request.module, request.kernel, request.code, &|_| ())?;
    Ok(emitted.whole())
}

/// A kernel's assembly.
///
/// # Errors
/// The kernel is not supported, or there is no LLVM.
pub fn assembly(request: &Request) -> Result<String, Error> {
    let emitted = kernel::emit(request.module, request.kernel, request.code, &|_| ())?;
    let how = How::of(&emitted);
    Ok(Llvm::get(request.llvm)?.assembly(&emitted.whole(), request.code.target, how)?)
}

/// A kernel's wave IR after each pass of its compilation, with the passes' names.
///
/// # Errors
/// The kernel is not supported.
pub fn stages(request: &Request) -> Result<Vec<(&'static str, Function)>, Error> {
    Ok(explain::stages(request.module, request.kernel, request.code)?)
}

/// A kernel's wave IR with notes on what is known of it: in its final form, or `after` the named pass.
///
/// # Errors
/// The kernel is not supported, or its compilation has no such pass.
pub fn explained(request: &Request, view: View, after: Option<&str>) -> Result<String, Error> {
    Ok(explain::explain(request.module, request.kernel, request.code, view, after)?)
}
