//! Background work for what a program will probably need next: opens LLVM when a module is loaded, and
//! compiles a module's other kernels beside the first.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::Builder;

use driver::handle::lock;
use simd::llvm::Ahead;
use simd::{Rest, Specialisation};
use wave::{FuncId, Function, Op};

use crate::program::Program;
use crate::settings::Making;

/// Maximum number of kernels compiled beside a requested one.
const MOST: usize = 4;

/// Maximum number of blocks and values of a kernel that is compiled without a request. Compiling one takes
/// about ten milliseconds at most.
const SMALL: usize = 500;

/// Maximum bytes of text of such a kernel.
const SMALL_TEXT: usize = 64 * SMALL;

/// Number of compilations under way, including background ones that are about to begin.
static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);

/// Counts one compilation as under way until it is dropped.
pub(crate) struct Counted(());

impl Counted {
    /// Counts another compilation, and returns how many were under way before.
    fn with_others() -> (Counted, usize) {
        let before = UNDER_WAY.fetch_add(1, Ordering::Relaxed);
        (Counted(()), before)
    }

    /// Counts another compilation.
    pub fn new() -> Counted {
        Counted::with_others().0
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        UNDER_WAY.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Maximum number of threads of a brief launch: for a kernel without loops, and for one that may loop.
/// Baseline code takes about six times as long in a loop.
const FEW: u64 = 1 << 16;
const FEW_IN_LOOPS: u64 = 1024;

/// Whether a launch with that many threads is brief and its kernel quick to compile.
pub(crate) fn brief(program: &Program, kernel: FuncId, threads: u64) -> bool {
    if !maybe_small(program, kernel) {
        return false;
    }
    let Some(function) = program.module_of(kernel).functions.get(kernel.index()) else { return false };
    let few = if runs_straight(function) { FEW } else { FEW_IN_LOOPS };
    threads <= few && size(function) <= SMALL
}

/// Whether a kernel may be small. This is certain once its code has been lowered.
fn maybe_small(program: &Program, kernel: FuncId) -> bool {
    match program.text_size(kernel) {
        Some(bytes) => bytes <= SMALL_TEXT,
        None => is_small(program, kernel),
    }
}

/// Whether a kernel is small.
fn is_small(program: &Program, kernel: FuncId) -> bool {
    program.module_of(kernel).functions.get(kernel.index()).is_some_and(|f| size(f) <= SMALL)
}

fn size(function: &Function) -> usize {
    function.blocks.len() + function.values.len()
}

/// Whether no block runs twice and nothing is called.
fn runs_straight(function: &Function) -> bool {
    let calls = |op: &Op| matches!(op, Op::Call(_) | Op::CallIndirect { .. });
    if function.blocks.iter().flat_map(|block| &block.insts).any(|inst| calls(&inst.op)) {
        return false;
    }
    // Repeatedly removes blocks whose predecessors are all removed; those of a loop remain.
    let mut entries = vec![0usize; function.blocks.len()];
    for block in function.block_ids() {
        for to in function.successors(block) {
            entries[to.index()] += 1;
        }
    }
    let mut free: Vec<_> = function.block_ids().filter(|block| entries[block.index()] == 0).collect();
    let mut taken = 0;
    while let Some(block) = free.pop() {
        taken += 1;
        for to in function.successors(block) {
            entries[to.index()] -= 1;
            if entries[to.index()] == 0 {
                free.push(to);
            }
        }
    }
    taken == function.blocks.len()
}

/// The small kernels that follow `kernel` in the module, wrapping around at its end, and have no code for
/// `spec`.
fn others(program: &Program, kernel: FuncId, spec: Specialisation) -> Vec<FuncId> {
    let module = program.module();
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for (id, function) in module.kernels().filter(|(id, _)| *id != kernel) {
        let fixed = function.kernel.as_ref().map_or([0; 3], |k| k.required_block);
        if maybe_small(program, id) && (fixed == [0; 3] || fixed == spec.block) {
            if id.index() < kernel.index() { before.push(id) } else { after.push(id) }
        }
    }
    after.into_iter().chain(before).filter(|id| !program.has_code(*id, spec)).take(MOST).collect()
}

/// Compiles those kernels on threads of their own, as far as processors are free, so that they are ready when
/// the launched kernel is. Any failure only loses the overlap.
pub(crate) fn compile(program: &Arc<Program>, kernel: FuncId, spec: Specialisation, brief: bool) {
    let processors = std::thread::available_parallelism().map_or(1, |n| n.get());
    for other in others(program, kernel, spec) {
        let (counted, before) = Counted::with_others();
        if before >= processors {
            return;
        }
        let program = Arc::clone(program);
        // If a thread cannot be started, each kernel is compiled at its own launch.
        let _ = host::threads::spawn(Builder::new().name("anywarp-compile".into()), move || {
            if !is_small(&program, other) {
                return;
            }
            if let Some((_, Some(rest))) = program.make(other, spec, brief, Some(counted), &|| ()) {
                program.finish(other, spec, rest);
            }
        });
    }
}

/// Compiles the optimised code that replaces a kernel's baseline code, on another thread if possible.
pub(crate) fn finish(program: &Arc<Program>, kernel: FuncId, spec: Specialisation, rest: Rest) {
    let counted = Counted::new();
    // If the thread cannot be started, its closure is dropped with all it owns. The rest is shared, so that
    // this thread can still use it.
    let rest = Arc::new(Mutex::new(Some(rest)));
    let (theirs, shared) = (Arc::clone(&rest), Arc::clone(program));
    let started = host::threads::spawn(Builder::new().name("anywarp-compile".into()), move || {
        let _counted = counted;
        if let Some(rest) = lock(&theirs).take() {
            shared.finish(kernel, spec, rest);
        }
    });
    if started.is_err()
        && let Some(rest) = lock(&rest).take()
    {
        program.finish(kernel, spec, rest);
    }
}

/// Opens LLVM on a thread of its own, unless that has already begun.
pub(crate) fn open_llvm(making: &Making) {
    if std::thread::available_parallelism().map_or(1, |n| n.get()) < 2 {
        return;
    }
    let Some(ahead) = Ahead::new() else { return };
    let (target, search) = (making.target.clone(), making.llvm.clone());
    // If the thread cannot be started, the first compilation opens LLVM.
    let _ = host::threads::spawn(Builder::new().name("anywarp-open".into()), move || {
        ahead.open(&target, &search);
    });
}
