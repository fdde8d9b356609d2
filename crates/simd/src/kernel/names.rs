//! Names in a kernel's LLVM IR: parameters of its functions, context fields loaded at entry, slots and
//! labels.

use crate::ir::{Name, Operand, Type, Width};

const fn pointer(word: &'static str) -> Operand {
    Operand::local(Type::PTR, Name::of(word))
}

const fn word(word: &'static str) -> Operand {
    Operand::local(Type::I32, Name::of(word))
}

const fn address(word: &'static str) -> Operand {
    Operand::local(Type::I64, Name::of(word))
}

/// The warp's context.
pub const WARP: Operand = pointer("warp");
/// The block's context.
pub const BLOCK: Operand = pointer("block");
/// The warp's frame.
pub const FRAME: Operand = pointer("frame");
/// The index in its block of the warp, or of the first of those that run together.
pub const INDEX: Operand = word("index");
/// The lanes that the warp has.
pub const fn lanes(width: Width) -> Operand {
    Operand::local(width.bits(), Name::of("lanes"))
}
/// The number of the resume point.
pub const AT: Operand = word("at");
/// The address of the parameters.
pub const PARAMS: Operand = address("params");
/// The address of the block's shared memory.
pub const SHARED: Operand = address("shared");
/// The address of the module's image.
pub const IMAGE: Operand = address("image");
/// The address of the first thread's local memory.
pub const LOCAL: Operand = address("local");

/// Bytes of local memory per thread, if the launch decides.
pub const LOCAL_SIZE: Operand = address("local.size");
/// Each lane's offset from the first lane's local memory, if the launch decides.
pub const fn local_steps(width: Width) -> Operand {
    Operand::local(width.addresses(), Name::of("local.steps"))
}

/// The slot of the lanes that have not ended.
pub const LIVE: Name = Name::of("live");
/// In the per-lane mode: the lanes that ran in this sweep.
pub const RAN: Name = Name::of("ran");
/// In the per-lane mode: the lanes that only went round loops that wait.
pub const SPUN: Name = Name::of("spun");
/// In the per-lane mode: whether operations no longer wait for missing members.
pub const FORCE: Name = Name::of("force");
/// With a dispatcher: the position in a sweep from which it looks for lanes.
pub const NEXT: Name = Name::of("next");
/// The label of the dispatcher.
pub const DISPATCH: Name = Name::of("dispatch");
/// With a dispatcher: the label where a warp starts.
pub const CLEAR: Name = Name::of("begin");
/// With a dispatcher: the label where another sweep starts.
pub const AGAIN: Name = Name::of("again");
/// In the per-lane mode: the lanes that may still meet at an operation.
pub const LEFT: Name = Name::of("left");

/// The slot of a value: its scalar or its vector.
pub const fn slot(value: u32) -> Name {
    Name::numbered("s", value as usize)
}

/// The slot of the scalar of a value's group, from the second one on.
pub const fn group(value: u32, group: usize) -> Name {
    Name::numbered("h", value as usize * super::groups::MOST + group)
}

/// The slot of a pattern's guard.
pub const fn guard(value: u32) -> Name {
    Name::numbered("g", value as usize)
}

/// The slot of a guarded pattern's vector.
pub const fn vector(value: u32) -> Name {
    Name::numbered("v", value as usize)
}

/// The slot of the lanes that are to run a block.
pub const fn coming(block: usize) -> Name {
    Name::numbered("m", block)
}

/// The slot of the lanes that run it.
pub const fn here(block: usize) -> Name {
    Name::numbered("c", block)
}

/// The slot of the lanes that wait at a stop.
pub const fn waiting(block: usize) -> Name {
    Name::numbered("w", block)
}

/// The label of a place in the order of blocks and latches.
pub const fn place(number: usize) -> Name {
    Name::numbered("p", number)
}

/// The label of a block's operations.
pub const fn body(block: usize) -> Name {
    Name::numbered("body", block)
}

/// The label of a block's copy for a full mask.
pub const fn full(block: usize) -> Name {
    Name::numbered("full", block)
}

/// The label of a resume point.
pub const fn resume(number: usize) -> Name {
    Name::numbered("resume", number)
}

/// The first label of a function.
pub const START: Name = Name::of("start");
/// The label where a warp has ended.
pub const DONE: Name = Name::of("done");
/// The label where a warp ends after a fault.
pub const FAULT: Name = Name::of("fault");

/// Bytes that are always readable.
pub const SAFE: Name = Name::of("safe");
/// The function that reports a misaligned address.
pub const MISALIGNED: Name = Name::of("misaligned");
/// The function of one warp of a kernel that never stops.
pub const ONE_WARP: Name = Name::of("one.warp");
