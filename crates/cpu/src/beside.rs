//! What a program is likely to wait for next, done on other threads: LLVM is opened when a module is loaded,
//! and the other kernels of a module are compiled beside the first.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::Builder;

use driver::handle::lock;
use simd::llvm::Ahead;
use simd::{Rest, Specialisation};
use wave::{FuncId, Function, Op};

use crate::program::Program;
use crate::settings::Making;

/// Kernels that are compiled beside one that is asked for, at most.
const MOST: usize = 4;

/// Blocks and values of a kernel that is compiled though nobody has asked for it: at most some ten
/// milliseconds.
const SMALL: usize = 500;

/// Bytes of text that such a kernel has at most.
const SMALL_TEXT: usize = 64 * SMALL;

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

/// Threads of a launch that is brief, at most: of a kernel that runs straight to its end, and of one that may
/// stay in a loop. Code that was made in a hurry takes some six times as long in a loop.
const FEW: u64 = 1 << 16;
const FEW_IN_LOOPS: u64 = 1024;

/// Whether a launch of a kernel by so many threads is brief, and its code soon made.
pub(crate) fn brief(program: &Program, kernel: FuncId, threads: u64) -> bool {
    if !maybe_small(program, kernel) {
        return false;
    }
    let Some(function) = program.module_of(kernel).functions.get(kernel.index()) else { return false };
    let few = if runs_straight(function) { FEW } else { FEW_IN_LOOPS };
    threads <= few && size(function) <= SMALL
}

/// Whether a kernel may be small, which is known where its code has been read.
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

/// Whether no block is run twice, and nothing is called.
fn runs_straight(function: &Function) -> bool {
    let calls = |op: &Op| matches!(op, Op::Call(_) | Op::CallIndirect { .. });
    if function.blocks.iter().flat_map(|block| &block.insts).any(|inst| calls(&inst.op)) {
        return false;
    }
    // Blocks whose predecessors have all been taken away can be taken away; those of a loop stay.
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

/// The small kernels that follow `kernel` in the module, round its end, and have no code for `spec`.
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

/// Compiles them, each on a thread of its own, as many as processors are left for it, so that they are ready
/// when the launched kernel is. Whatever keeps it from happening costs only the overlap.
pub(crate) fn compile(program: &Arc<Program>, kernel: FuncId, spec: Specialisation, brief: bool) {
    let processors = std::thread::available_parallelism().map_or(1, |n| n.get());
    for other in others(program, kernel, spec) {
        let (counted, before) = Counted::with_others();
        if before >= processors {
            return;
        }
        let program = Arc::clone(program);
        // Where no thread can be had, each kernel is compiled by its own launch.
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

/// Makes the code that takes the place of a kernel's first, on another thread where one can be had.
pub(crate) fn finish(program: &Arc<Program>, kernel: FuncId, spec: Specialisation, rest: Rest) {
    let counted = Counted::new();
    // A closure that no thread takes is lost with what it holds: the rest waits where this thread can get at
    // it again.
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

/// Opens LLVM on a thread of its own, if nobody has begun to.
pub(crate) fn open_llvm(making: &Making) {
    if std::thread::available_parallelism().map_or(1, |n| n.get()) < 2 {
        return;
    }
    let Some(ahead) = Ahead::new() else { return };
    let (target, search) = (making.target.clone(), making.llvm.clone());
    // Where no thread can be had, the first compilation opens it.
    let _ = host::threads::spawn(Builder::new().name("anywarp-open".into()), move || {
        ahead.open(&target, &search);
    });
}
