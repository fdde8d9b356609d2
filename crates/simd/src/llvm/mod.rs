//! LLVM, opened at the first compilation or ahead of it.
//!
//! The library is the one in rustup's toolchain (LLVM 22), or the one that `ANYWARP_LLVM` names (`find.rs`).
//! It is called through its C interface, which takes IR as text and returns an ELF object or assembly.

mod ahead;
mod destructors;
mod ending;
mod find;
mod room;
mod sys;

use std::ffi::{CStr, CString, c_char, c_void};
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::effort::Effort;
use crate::kernel::Emitted;
use crate::target::Target;
pub use ahead::Ahead;
pub use ending::{Ticket, watch_thread};
pub use find::Search;
use sys::Functions;

static LLVM: OnceLock<Result<Llvm, LlvmError>> = OnceLock::new();
/// Whether any thread has asked for a compilation.
static ASKED: AtomicBool = AtomicBool::new(false);

/// Why LLVM produced no code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LlvmError {
    /// No library was found; lists each place that was tried with the reason.
    NotFound(Vec<String>),
    /// LLVM rejected the module, which is a bug of ours.
    Refused(String),
    /// A limit leaves too little memory for LLVM, which would end the process.
    NoRoom {
        /// The limit, as the beginning of a message.
        what: &'static str,
        /// Bytes that it leaves.
        left: u64,
        /// Bytes that are needed.
        needed: u64,
    },
    /// The process is exiting.
    Ending,
}

impl std::fmt::Display for LlvmError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LlvmError::NotFound(tried) => {
                write!(
                    f,
                    "no LLVM 22 was found; `rustup toolchain install {}` brings one, or set ANYWARP_LLVM to its library or folder. Tried:",
                    env!("CARGO_PKG_RUST_VERSION")
                )?;
                tried.iter().try_for_each(|t| write!(f, "\n  {t}"))
            }
            LlvmError::Refused(message) => write!(f, "LLVM: {message}"),
            LlvmError::NoRoom { what, left, needed } => {
                write!(f, "{what}: LLVM needs {} MiB and {} are left", needed >> 20, left >> 20)
            }
            LlvmError::Ending => f.write_str("the process is ending"),
        }
    }
}

impl std::error::Error for LlvmError {}

/// How a module is compiled.
#[derive(Clone, Copy, Debug)]
pub struct How {
    /// How much time LLVM spends.
    pub effort: Effort,
    /// Whether loops are unrolled where that is worthwhile.
    pub unrolls: bool,
    /// Whether the warp's code returns at many places.
    pub many_returns: bool,
}

impl How {
    /// How a whole kernel is compiled.
    pub fn of(emitted: &Emitted) -> How {
        let Emitted { report, sweep, stops, .. } = emitted;
        How { effort: report.effort, unrolls: sweep.is_some(), many_returns: *stops > MANY_STOPS }
    }
}

impl From<Effort> for How {
    fn from(effort: Effort) -> How {
        How { effort, unrolls: false, many_returns: false }
    }
}

/// The opened library.
pub struct Llvm {
    functions: Functions,
    path: PathBuf,
}

/// Passes for warp-wide code: promotion of slots, then the usual clean-up. There is no vectoriser, since the
/// code is already vectors. The many blocks of a linearised kernel are merged first, because instcombine's
/// time grows with the square of their number.
const PASSES: &str = "function(sroa,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,simplifycfg,loop-mssa(licm),gvn,instcombine<no-verify-fixpoint>,simplifycfg,adce)";

/// For loops over a block's warps, after [`PASSES`]: with a constant number of a warp it is known which
/// guards leave the warp idle and which lanes a mask has. instcombine must not see constant masks, see
/// `lanes_given` in `crates/cpu/tests/all/assembly.rs`.
const UNROLL: &str =
    ",function(loop(loop-unroll-full),sroa,early-cse<memssa>,simplifycfg,early-cse<memssa>,simplifycfg,adce)";

/// For code whose values live in memory between blocks. Promoting them would only increase register pressure.
const LIGHT_PASSES: &str =
    "function(sroa,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,simplifycfg,adce)";

/// For code at -O0. instcombine would make it longer: it moves bitcasts of vectors to where each costs
/// instructions.
const LEAST_PASSES: &str = "function(early-cse,simplifycfg)";

/// For the baseline tier, which is needed at once and runs little: only what the emitter leaves to every
/// pass.
const FIRST_PASSES: &str = "function(sroa,early-cse,simplifycfg)";

/// LLVM's own options, after a program name.
///
/// - Sinking is off: it moves chains of vector operations behind branches that are never taken, where they
///   cause spills. The emitter already places code where it belongs.
/// - The machine combiner is off: it shortens integer chains, from which vectors gain nothing. It follows the
///   depth of each instruction through the whole trace, which takes half of the compile time if a block has
///   tens of thousands of instructions.
/// - The scheduler compares each memory access of a block with every other one, and scattered registers take
///   a thousand accesses. It gives up the exact order in parts of 150 from 300 accesses on, instead of 500
///   from 1,000 on.
/// - If a live range is split, the search for the blocks that keep it in a register ends after 1,000 edges
///   instead of 10,000. Beyond that it finds next to nothing and takes half of the compile time of kernels
///   with thousands of blocks.
/// - Loops are unrolled only where the emitter asks for it (0 would refuse that too).
const OPTIONS: [&CStr; 8] = [
    c"anywarp",
    c"-instcombine-code-sinking=0",
    c"-disable-machine-sink",
    c"-x86-machine-combiner=0",
    c"-dag-maps-huge-region=300",
    c"-dag-maps-reduction-size=150",
    c"-grow-region-complexity-budget=1000",
    c"-unroll-threshold=1",
];

/// Passes that first inline the warp's code into the loop over warps.
const INLINE: &str = "always-inline,";

/// Before [`INLINE`] in code with many stops: inlining marks the end of each stack slot's life at each
/// return, so slots that can be registers become registers first.
const PROMOTE: &str = "function(sroa),";

/// With at most this many stops, the markers cost less than the pass.
const MANY_STOPS: usize = 200;

/// LLVM's codes for the output format.
const ASSEMBLY: i32 = 0;
const OBJECT: i32 = 1;

impl Llvm {
    /// The library. The first call opens it, and its search applies to the whole process: there is only one
    /// LLVM.
    ///
    /// # Errors
    /// No library was found, or the process is exiting.
    pub fn get(search: &Search) -> Result<&'static Llvm, LlvmError> {
        ASKED.store(true, Ordering::Relaxed);
        Llvm::opened(search)
    }

    fn opened(search: &Search) -> Result<&'static Llvm, LlvmError> {
        LLVM.get_or_init(|| Llvm::open(search)).as_ref().map_err(Clone::clone)
    }

    fn open(search: &Search) -> Result<Llvm, LlvmError> {
        let _opening = ending::opening();
        if !ending::may_open() {
            return Err(LlvmError::Ending);
        }
        ending::watch();
        let _stay = ending::enter().ok_or(LlvmError::Ending)?;
        let find::Candidates { files, refused: mut tried } = find::Candidates::find(search);
        for path in files {
            room::to_open(&path)?;
            match Functions::open(&path) {
                Ok(functions) => {
                    if !destructors::suppress(functions.LLVMContextCreate as *const c_void) {
                        tracing::debug!(path = %path.display(), "LLVM registers destructors: the library's layout is unknown");
                    }
                    ending::watch();
                    if !ending::may_open() {
                        return Err(LlvmError::Ending);
                    }
                    // SAFETY: these may be called once, before anything else; the options outlive the call.
                    unsafe {
                        (functions.LLVMInitializeX86TargetInfo)();
                        (functions.LLVMInitializeX86Target)();
                        (functions.LLVMInitializeX86TargetMC)();
                        (functions.LLVMInitializeX86AsmPrinter)();
                        (functions.LLVMInitializeX86AsmParser)();
                        let options: Vec<*const c_char> = OPTIONS.iter().map(|o| o.as_ptr()).collect();
                        (functions.LLVMParseCommandLineOptions)(
                            OPTIONS.len() as i32,
                            options.as_ptr(),
                            c"".as_ptr(),
                        );
                    }
                    tracing::debug!(path = %path.display(), "opened LLVM");
                    return Ok(Llvm { functions, path });
                }
                Err(error) => tried.push(format!("{}: {error}", path.display())),
            }
        }
        Err(LlvmError::NotFound(tried))
    }

    /// The first library that may be opened, without opening it.
    ///
    /// # Errors
    /// No library was found; the error lists the places that were tried.
    pub fn locate(search: &Search) -> Result<PathBuf, LlvmError> {
        let find::Candidates { files, refused } = find::Candidates::find(search);
        files.into_iter().next().ok_or(LlvmError::NotFound(refused))
    }

    /// The path of the library.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Compiles IR text to an ELF object.
    pub fn object(&self, ir: &str, target: &Target, how: How) -> Result<Vec<u8>, LlvmError> {
        let _stay = ending::enter().ok_or(LlvmError::Ending)?;
        self.compile(ir, target, how, OBJECT)
    }

    /// Compiles IR text to an ELF object even during process exit, which waits for the ticket.
    pub fn object_by(&self, _: &Ticket, ir: &str, target: &Target, how: How) -> Result<Vec<u8>, LlvmError> {
        let _inside = ending::inside_by_ticket();
        self.compile(ir, target, how, OBJECT)
    }

    /// Compiles IR text to assembly.
    pub fn assembly(&self, ir: &str, target: &Target, how: How) -> Result<String, LlvmError> {
        let _stay = ending::enter().ok_or(LlvmError::Ending)?;
        Ok(String::from_utf8_lossy(&self.compile(ir, target, how, ASSEMBLY)?).into_owned())
    }

    /// Copies and releases a message from LLVM.
    ///
    /// # Safety
    /// `message` is null or a string that LLVM allocated.
    unsafe fn message(&self, message: *mut c_char) -> String {
        if message.is_null() {
            return "no reason given".into();
        }
        // SAFETY: the caller vouches for the string.
        let text = unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned();
        // SAFETY: as above; it is not used again.
        unsafe { (self.functions.LLVMDisposeMessage)(message) };
        text
    }

    fn compile(&self, ir: &str, target: &Target, how: How, kind: i32) -> Result<Vec<u8>, LlvmError> {
        room::to_compile()?;
        let f = &self.functions;
        let refused = |text: String| LlvmError::Refused(text);
        let triple = c"x86_64-unknown-linux-gnu";
        let (cpu, features) = (CString::new(target.cpu), CString::new(target.features.as_str()));
        let (Ok(cpu), Ok(features)) = (cpu, features) else {
            return Err(refused("a name with a zero byte".into()));
        };
        let How { effort, unrolls, many_returns } = how;
        let promote = if many_returns { PROMOTE } else { "" };
        let passes = match effort {
            Effort::Full if unrolls => format!("{promote}{INLINE}{PASSES}{UNROLL}"),
            Effort::Full => format!("{promote}{INLINE}{PASSES}"),
            Effort::Light => LIGHT_PASSES.into(),
            Effort::Least => LEAST_PASSES.into(),
            Effort::First => FIRST_PASSES.into(),
        };
        let passes = CString::new(passes).unwrap_or_default();
        // SAFETY: LLVM's C interface is used as its headers require: every handle came from LLVM, strings
        // outlive the calls, the module belongs to this context, and everything is disposed of once, in
        // order, on every path.
        unsafe {
            let context = (f.LLVMContextCreate)();
            let buffer = (f.LLVMCreateMemoryBufferWithMemoryRangeCopy)(
                ir.as_ptr().cast(),
                ir.len(),
                c"kernel".as_ptr(),
            );
            let (mut module, mut message) = (ptr::null_mut(), ptr::null_mut());
            // The parser takes ownership of the buffer.
            if (f.LLVMParseIRInContext)(context, buffer, &mut module, &mut message) != 0 {
                let text = self.message(message);
                (f.LLVMContextDispose)(context);
                return Err(refused(text));
            }
            let done = self.emit(module, triple, &cpu, &features, (&passes, effort), kind);
            (f.LLVMDisposeModule)(module);
            (f.LLVMContextDispose)(context);
            done
        }
    }

    /// # Safety
    /// `module` is a live LLVM module.
    unsafe fn emit(
        &self,
        module: *mut c_void,
        triple: &CStr,
        cpu: &CStr,
        features: &CStr,
        (passes, effort): (&CStr, Effort),
        kind: i32,
    ) -> Result<Vec<u8>, LlvmError> {
        let f = &self.functions;
        // SAFETY: as in `compile`.
        unsafe {
            let (mut target, mut message) = (ptr::null_mut(), ptr::null_mut());
            if (f.LLVMGetTargetFromTriple)(triple.as_ptr(), &mut target, &mut message) != 0 {
                return Err(LlvmError::Refused(self.message(message)));
            }
            // Position-independent code, default code model.
            let level = if matches!(effort, Effort::Least | Effort::First) { 0 } else { 2 };
            let machine = (f.LLVMCreateTargetMachine)(
                target,
                triple.as_ptr(),
                cpu.as_ptr(),
                features.as_ptr(),
                level,
                2,
                0,
            );
            let options = (f.LLVMCreatePassBuilderOptions)();
            let error = (f.LLVMRunPasses)(module, passes.as_ptr(), machine, options);
            (f.LLVMDisposePassBuilderOptions)(options);
            let mut buffer = ptr::null_mut();
            let out = if !error.is_null() {
                let text = (f.LLVMGetErrorMessage)(error);
                let refused = LlvmError::Refused(CStr::from_ptr(text).to_string_lossy().into_owned());
                (f.LLVMDisposeErrorMessage)(text);
                Err(refused)
            } else if (f.LLVMTargetMachineEmitToMemoryBuffer)(
                machine,
                module,
                kind,
                &mut message,
                &mut buffer,
            ) != 0
            {
                Err(LlvmError::Refused(self.message(message)))
            } else {
                let (start, size) = ((f.LLVMGetBufferStart)(buffer), (f.LLVMGetBufferSize)(buffer));
                let bytes = std::slice::from_raw_parts(start.cast::<u8>(), size).to_vec();
                (f.LLVMDisposeMemoryBuffer)(buffer);
                Ok(bytes)
            };
            (f.LLVMDisposeTargetMachine)(machine);
            out
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn llvm_registers_no_destructors() {
        let llvm = Llvm::get(&Search::default()).expect("LLVM is there");
        let inside = llvm.functions.LLVMContextCreate as *const c_void;
        assert_eq!(destructors::registering(inside), Some(false));
        // Calls from our own library must not be affected.
        let ours = llvm_registers_no_destructors as *const c_void;
        assert_eq!(destructors::registering(ours), Some(true));
    }
}
