//! Instrumentation: a kernel counts what it does, for a profile.
//!
//! A module is changed once, when it is loaded for counting; this is none of the passes of a compilation.
//!
//! At the end of each block of a function it adds, with one atomic for each counter that the block changes,
//! what the lanes that execute the block together have done in it. The counters lie in rows of
//! [`Counter::ALL`] words of 64 bits, one row for each of the first [`ROWS`] workers, so that workers seldom
//! write the same cache line. The launch hands over their address behind the kernel's parameters
//! ([`Filled::Counters`]), at an offset that is the same for all kernels of a module: the functions that they
//! call look there as well.

use std::sync::Arc;

use names::names;

use crate::func::{Builder, Function, Inst, Terminator, Value};
use crate::launch::{Fill, Filled};
use crate::module::Module;
use crate::op::{
    AtomOp, AtomTy, FloatOp, FloatUnOp, Guard, IntCmp, IntOp, Matrix, MemMode, Op, Order, SReg, Scope,
    ShiftOp, Space,
};
use crate::types::Ty;

names! {
/// What is counted.
pub enum Counter {
    /// Operations, each as often as lanes executed it. Constants and addresses of variables do not count.
    Operations = "operations",
    /// Operations, each as often as warps executed it, times the lanes of a warp: what the first counter
    /// would be if all lanes had been active.
    Slots = "slots",
    /// Operations on floats: sums, products, quotients, roots, approximate functions; 2 for a fused product
    /// and sum.
    Flops = "flops",
    /// Bytes read from global and constant memory, and by generic addresses.
    Loaded = "loaded",
    /// Bytes written to global memory, and by generic addresses.
    Stored = "stored",
    /// Bytes read from and written to shared memory.
    Shared = "shared",
    /// Waits at barriers, of warps or of those of their lanes that arrive together.
    Barriers = "barriers",
}}

/// A mark in the names of cached code that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Counting;

/// Rows of counters. A worker with a higher number uses the row of its number modulo this.
pub const ROWS: usize = 64;
/// Words of a row: a cache line.
pub const ROW: usize = 8;

const _: () = assert!(Counter::ALL.len() <= ROW && ROWS.is_power_of_two());

/// Where in the parameter buffer the counters' address lies: behind the parameters of all kernels.
pub fn place(module: &Module) -> u32 {
    let sizes = module.kernels().filter_map(|(_, function)| Some(function.kernel.as_ref()?.param_size));
    sizes.max().unwrap_or(0).next_multiple_of(8)
}

/// Makes all functions of a module count. `place` is that of the module with all its kernels.
pub fn module(module: &mut Module, place: u32) {
    for function in &mut module.functions {
        let function = Arc::make_mut(function);
        if let Some(info) = &mut function.kernel {
            info.fills.push(Fill { offset: place, size: 8, what: Filled::Counters });
            info.param_size = place.saturating_add(8);
        }
        self::function(function, place);
    }
}

/// Makes a function count.
pub fn function(function: &mut Function, place: u32) {
    for block in function.block_ids().collect::<Vec<_>>() {
        let data = function.block(block);
        let work = Work::of(&data.insts, &data.term);
        if matches!(data.term, Terminator::Trap) || work.is_nothing() {
            continue;
        }
        let loc = data.term_loc;
        let mut builder = Builder::new(function, block);
        builder.loc = loc;
        work.count(&mut builder, place);
    }
}

/// What each lane does in a block.
#[derive(Default)]
struct Work {
    /// By lane.
    operations: u64,
    flops: u64,
    loaded: Bytes,
    stored: Bytes,
    shared: Bytes,
    /// By warp.
    barriers: u64,
}

/// Bytes that each lane accesses.
#[derive(Default)]
struct Bytes {
    always: u64,
    /// Those of lanes for which a value is true.
    guarded: Vec<(Value, u64)>,
}

impl Bytes {
    fn add(&mut self, inst: &Inst, bytes: u64) {
        match inst.guard() {
            Some((guard, _)) => self.guarded.push((guard, bytes)),
            None => self.always += bytes,
        }
    }

    fn is_nothing(&self) -> bool {
        self.always == 0 && self.guarded.is_empty()
    }
}

fn flops(op: &Op) -> u64 {
    match op {
        Op::Float(FloatOp::Add | FloatOp::Sub | FloatOp::Mul | FloatOp::Div, _) => 1,
        Op::Fma(_) => 2,
        Op::FloatUn(FloatUnOp::Sqrt | FloatUnOp::Rcp, _) | Op::Approx { .. } | Op::Sfu(_) => 1,
        Op::Atom { op: AtomOp::Add, ty, .. } => match ty {
            AtomTy::F16 | AtomTy::BF16 | AtomTy::F32 | AtomTy::F32Kept | AtomTy::F64 => 1,
            AtomTy::F16x2 | AtomTy::BF16x2 => 2,
            _ => 0,
        },
        Op::Matrix(matrix) => {
            let product = match matrix {
                Matrix::Mma(product) => product,
                Matrix::Wgmma(part) => &part.product,
                Matrix::Move(_) => return 0,
            };
            // The instruction is the whole warp's; each lane counts its share.
            let [m, n, k] = [product.m, product.n, product.k].map(u64::from);
            2 * m * n * k / crate::LANES as u64
        }
        _ => 0,
    }
}

impl Work {
    fn of(insts: &[Inst], term: &Terminator) -> Work {
        let mut work = Work::default();
        for inst in insts {
            let op = &inst.op;
            if matches!(
                op,
                Op::Const { .. }
                    | Op::Special(_)
                    | Op::GlobalAddr(..)
                    | Op::SharedAddr(..)
                    | Op::LocalAddr(_)
                    | Op::FuncAddr(_)
                    | Op::Yield
                    | Op::Nop
            ) {
                continue;
            }
            work.operations += 1;
            work.flops += flops(op);
            let (mem, bytes, reads, writes) = match op {
                Op::Load { mem, ty, count, .. } => (mem, ty.bits() / 8 * u32::from(*count), true, false),
                Op::Store { mem, ty, count, .. } => (mem, ty.bits() / 8 * u32::from(*count), false, true),
                Op::Atom { mem, ty, .. } => (mem, ty.ty().bits() / 8, true, true),
                Op::Bar { mode } => {
                    work.barriers += u64::from(mode.waits());
                    continue;
                }
                _ => continue,
            };
            let bytes = u64::from(bytes);
            let places = match mem.space {
                Space::Shared => [reads.then_some(&mut work.shared), None],
                Space::Generic | Space::Global | Space::Const => {
                    [reads.then_some(&mut work.loaded), writes.then_some(&mut work.stored)]
                }
                Space::Local | Space::Param => [None, None],
            };
            places.into_iter().flatten().for_each(|place| place.add(inst, bytes));
            if mem.space == Space::Shared && writes {
                work.shared.add(inst, bytes);
            }
        }
        work.operations += u64::from(term.condition().is_some());
        work
    }

    fn is_nothing(&self) -> bool {
        self.operations == 0
    }

    /// Adds it to the counters.
    fn count(self, to: &mut Builder<'_>, place: u32) {
        let width = to.func.width;
        let start = to.iconst(Ty::I64, 0);
        let load = Op::Load {
            mem: MemMode::weak(Space::Param),
            ty: Ty::I64,
            count: 1,
            offset: place as i32,
            guard: Guard::Always,
        };
        let counters = to.emit1(load, &[start]);
        let worker = to.emit1(Op::Special(SReg::SmId), &[]);
        let most = to.iconst(Ty::I32, ROWS as u128 - 1);
        let row = to.int(IntOp::And, worker, most);
        let row = to.emit1(Op::Zext { from: Ty::I32, to: Ty::I64 }, &[row]);
        let bits = to.iconst(Ty::I32, u128::from((ROW as u32 * 8).trailing_zeros()));
        let row = to.emit1(Op::Shift(ShiftOp::Shl, Ty::I64), &[row, bits]);
        let row = to.int(IntOp::Add, counters, row);
        // One lane of those that execute this together stands for the warp.
        let active = to.emit1(Op::ActiveMask, &[]);
        let below = to.emit1(Op::Special(SReg::LaneMaskLt), &[]);
        let before = to.int(IntOp::And, active, below);
        let none = to.iconst(width.mask(), 0);
        let first = to.emit1(Op::IntCmp(IntCmp::Eq, width.mask()), &[before, none]);
        let of_lanes = [(Counter::Operations, self.operations), (Counter::Flops, self.flops)];
        for (counter, number) in of_lanes.into_iter().filter(|(_, number)| *number != 0) {
            let number = to.iconst(Ty::I64, number.into());
            add(to, row, counter, number);
        }
        let slots = self.operations * width.lanes() as u64;
        let of_warps = [(Counter::Slots, slots), (Counter::Barriers, self.barriers)];
        for (counter, number) in of_warps.into_iter().filter(|(_, number)| *number != 0) {
            let number = if_true(to, first, number);
            add(to, row, counter, number);
        }
        let bytes =
            [(Counter::Loaded, self.loaded), (Counter::Stored, self.stored), (Counter::Shared, self.shared)];
        for (counter, bytes) in bytes.into_iter().filter(|(_, bytes)| !bytes.is_nothing()) {
            let mut sum = to.iconst(Ty::I64, bytes.always.into());
            for (guard, bytes) in bytes.guarded {
                let bytes = if_true(to, guard, bytes);
                sum = to.int(IntOp::Add, sum, bytes);
            }
            add(to, row, counter, sum);
        }
    }
}

/// A number if a condition holds, otherwise 0.
fn if_true(to: &mut Builder<'_>, condition: Value, number: u64) -> Value {
    let number = to.iconst(Ty::I64, number.into());
    let nothing = to.iconst(Ty::I64, 0);
    to.emit1(Op::Select(Ty::I64), &[condition, number, nothing])
}

fn add(to: &mut Builder<'_>, row: Value, counter: Counter, number: Value) {
    let op = Op::Atom {
        op: AtomOp::Add,
        ty: AtomTy::U64,
        mem: MemMode { space: Space::Global, order: Order::Relaxed, scope: Scope::Gpu },
        offset: counter as i32 * 8,
        guard: Guard::Always,
    };
    to.emit(op, &[row, number]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{read, verify};

    /// Two kernels with parameters of different sizes, and a function that both may call.
    const TEXT: &str = "\
kernel @small {
    param_size 4
    param 0: offset 0, size 4, align 4
block0:
    exit
}

kernel @large {
    param_size 12
    param 0: offset 0, size 12, align 4
block0:
    v0 = const.i64 0
    v1 = load.param.weak.i32 v0
    v2 = const.i64 4096
    v3 = fadd.rn.f32 v1, v1
    store.global.weak.i32 v2, v3
    exit
}
";

    #[test]
    fn work_is_told_by_operation() {
        let mut module = read::read(TEXT).unwrap_or_else(|error| panic!("{error:?}"));
        let place = place(&module);
        assert_eq!(place, 16);
        let before: Vec<usize> = module.functions.iter().map(|f| f.blocks[0].insts.len()).collect();
        super::module(&mut module, place);
        verify::verify(&module).unwrap_or_else(|problems| panic!("{problems:?}"));
        for (function, before) in module.functions.iter().zip(before) {
            let info = function.kernel.as_ref().expect("a kernel");
            assert_eq!((info.param_size, info.fills.len()), (24, 1), "{}", function.name);
            let insts = &function.blocks[0].insts[before..];
            let counted = insts.iter().filter_map(|inst| match inst.op {
                Op::Atom { offset, .. } => Counter::ALL.get(offset as usize / 8).map(|c| c.name()),
                _ => None,
            });
            let counted: Vec<&str> = counted.collect();
            match &*function.name {
                // Nothing to count costs nothing.
                "small" => assert!(insts.is_empty()),
                _ => assert_eq!(counted, ["operations", "flops", "slots", "stored"]),
            }
        }
    }
}
