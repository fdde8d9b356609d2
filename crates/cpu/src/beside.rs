//! What a program is likely to wait for next, done on other threads: LLVM is opened when a module is loaded, and the other kernels of a module
//! are compiled beside the first.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use simd::llvm::Ahead;
use simd::{Specialisation, Target};
use wave::FuncId;

use crate::program::Program;

/// Kernels that are compiled beside one that is asked for, at most.
const MOST: usize = 4;

/// Blocks and values of a kernel that is compiled though nobody has asked for it: at most some ten milliseconds.
const SMALL: usize = 500;

/// Compilations under way and those about to begin beside them.
static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);

/// One of the compilations under way.
pub(crate) struct Counted(());

impl Counted {
    /// One more, and how many there were.
    fn with_others() -> (Counted, usize) {
        let before = UNDER_WAY.fetch_add(1, Ordering::Relaxed);
        (Counted(()), before)
    }

    /// One more.
    pub fn new() -> Counted {
        Counted::with_others().0
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        UNDER_WAY.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The small kernels that follow `kernel` in the module, round its end, and have no code for `spec`.
fn others(program: &Program, kernel: FuncId, spec: Specialisation) -> Vec<FuncId> {
    let module = program.module();
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for (id, function) in module.kernels().filter(|(id, _)| *id != kernel) {
        let fixed = function.kernel.as_ref().map_or([0; 3], |k| k.required_block);
        let size = function.blocks.len() + function.values.len();
        if size <= SMALL && (fixed == [0; 3] || fixed == spec.block) {
            if id.index() < kernel.index() { before.push(id) } else { after.push(id) }
        }
    }
    after.into_iter().chain(before).filter(|id| !program.has_code(*id, spec)).take(MOST).collect()
}

/// Compiles them, each on a thread of its own, as many as processors are left for it, so that they are ready when the
/// launched kernel is. Whatever
/// keeps it from happening costs only the overlap.
pub(crate) fn compile(program: &Arc<Program>, kernel: FuncId, spec: Specialisation) {
    let processors = std::thread::available_parallelism().map_or(1, |n| n.get());
    for other in others(program, kernel, spec) {
        let (counted, before) = Counted::with_others();
        if before >= processors {
            return;
        }
        let program = Arc::clone(program);
        // Where no thread can be had, each kernel is compiled by its own launch.
        let _ = std::thread::Builder::new().name("anywarp-compile".into()).spawn(move || {
            driver::stream::block_signals();
            drop(counted);
            program.make(other, spec, &|| ());
        });
    }
}

/// Opens LLVM on a thread of its own, if nobody has begun to.
pub(crate) fn open_llvm(target: &Target) {
    if std::thread::available_parallelism().map_or(1, |n| n.get()) < 2 {
        return;
    }
    let Some(ahead) = Ahead::new() else { return };
    let target = target.clone();
    // Where no thread can be had, the first compilation opens it.
    let _ = std::thread::Builder::new().name("anywarp-open".into()).spawn(move || {
        driver::stream::block_signals();
        ahead.open(&target);
    });
}
