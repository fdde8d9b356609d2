//! The inliner. It leaves only calls that recurse, which [`crate::recurse`] turns into jumps.
//!
//! A call through a handle becomes a comparison with each function whose handle is taken and whose signature
//! matches, followed by a direct call. If no handle matches, the code reads memory at the handle, which
//! faults like a wild call, and then traps.

use std::collections::{BTreeMap, BTreeSet};

use crate::func::{Block, BlockCall, BlockData, Function, Inst, Terminator, Value};
use crate::layout;
use crate::module::{FuncId, Module};
use crate::op::{Guard, IntCmp, MemMode, Op, Space};
use crate::types::Ty;

/// Maximum number of instructions in a function after inlining; larger kernels would take too long to
/// compile.
const LIMIT: usize = 500_000;

/// `kernel` with all calls inlined except recursive ones, which inlining would never end, and calls to
/// functions without a body.
pub fn inlined(module: &Module, kernel: FuncId) -> Function {
    inlined_but(module, kernel, &BTreeSet::new())
}

/// The same as a pass: `func` is `kernel` after any other passes.
pub fn inline(module: &Module, kernel: FuncId, func: &mut Function) {
    inline_but(module, kernel, &BTreeSet::new(), func);
}

/// Like [`inlined`], but also keeps calls to the functions in `keep`.
pub(crate) fn inlined_but(module: &Module, kernel: FuncId, keep: &BTreeSet<FuncId>) -> Function {
    let mut func = Function::clone(&module.functions[kernel.index()]);
    inline_but(module, kernel, keep, &mut func);
    func
}

fn inline_but(module: &Module, kernel: FuncId, keep: &BTreeSet<FuncId>, func: &mut Function) {
    let taken: Vec<FuncId> = layout::address_taken(module).iter().copied().collect();
    // The functions that a block's code was inlined from.
    let mut origin: BTreeMap<usize, Vec<FuncId>> = BTreeMap::new();
    let mut size: usize = func.blocks.iter().map(|b| b.insts.len()).sum();
    let mut b = 0;
    while b < func.blocks.len() {
        let path = origin.get(&b).cloned().unwrap_or_default();
        let found = func.blocks[b].insts.iter().position(|i| match &i.op {
            Op::Call(f) => {
                let ends = *f != kernel && !path.contains(f) && !keep.contains(f);
                ends && !module.functions[f.index()].external && size < LIMIT
            }
            Op::CallIndirect { .. } => size < LIMIT,
            _ => false,
        });
        let Some(at) = found else {
            b += 1;
            continue;
        };
        let rest = split(func, b, at);
        origin.insert(rest.index(), path.clone());
        let call = func.blocks[b].insts.pop();
        let Some(call) = call else { continue };
        let first = func.blocks.len();
        match &call.op {
            Op::Call(f) => {
                let callee = &module.functions[f.index()];
                size += callee.blocks.iter().map(|b| b.insts.len()).sum::<usize>();
                splice(func, b, callee, call.args.to_vec(), rest);
                let mut deeper = path;
                deeper.push(*f);
                (first..func.blocks.len()).for_each(|n| {
                    origin.insert(n, deeper.clone());
                });
            }
            Op::CallIndirect { params, results } => {
                let fits = |f: &&FuncId| module.accepts(**f, params, results);
                let list: Vec<FuncId> = taken.iter().filter(fits).copied().collect();
                choose(func, b, &list, &call, rest);
                (first..func.blocks.len()).for_each(|n| {
                    origin.insert(n, path.clone());
                });
            }
            _ => {}
        }
    }
}

/// Moves the instructions after `at` of block `b` to a new block, whose parameters are the call's results.
pub(crate) fn split(func: &mut Function, b: usize, at: usize) -> Block {
    let insts = func.blocks[b].insts.split_off(at + 1);
    func.blocks[b].insts.shrink_to_fit();
    let params = func.blocks[b].insts[at].results.to_vec();
    let term_loc = func.blocks[b].term_loc;
    let term = std::mem::replace(&mut func.blocks[b].term, Terminator::Trap);
    func.blocks.push(BlockData { params, insts, term, term_loc });
    Block(func.blocks.len() as u32 - 1)
}

/// Appends a copy of a function's blocks to `func`, makes `b` jump to it with `args`, and its returns jump to
/// `rest`.
pub(crate) fn splice(func: &mut Function, b: usize, callee: &Function, args: Vec<Value>, rest: Block) {
    let first = append(func, callee);
    for data in &mut func.blocks[first.index()..] {
        if let Terminator::Return(list) = &mut data.term {
            data.term = Terminator::Jump(BlockCall { block: rest, args: std::mem::take(list) });
        }
    }
    func.blocks[b].term = Terminator::Jump(BlockCall { block: first, args });
}

/// Appends copies of a function's values, slots and blocks to `func`. Returns the copy of its entry.
pub(crate) fn append(func: &mut Function, callee: &Function) -> Block {
    let (values, blocks, slots) =
        (func.values.len() as u32, func.blocks.len() as u32, func.slots.len() as u32);
    // Each copy of a function has registers of its own.
    for (at, &number) in callee.registers.iter().enumerate().filter(|(_, number)| **number != 0) {
        func.set_register(Value(values + at as u32), number.wrapping_add(2 * values) | 1);
    }
    func.values.extend(&callee.values);
    func.slots.extend(callee.slots.iter().cloned());
    let value = |v: Value| Value(v.0 + values);
    let target = |t: &BlockCall| BlockCall {
        block: Block(t.block.0 + blocks),
        args: t.args.iter().map(|&v| value(v)).collect(),
    };
    for data in &callee.blocks {
        let insts = data.insts.iter().map(|i| Inst {
            op: match i.op {
                Op::LocalAddr(slot) => Op::LocalAddr(slot.saturating_add(slots)),
                ref other => other.clone(),
            },
            args: i.args.iter().map(|&v| value(v)).collect(),
            results: i.results.iter().map(|&v| value(v)).collect(),
            loc: i.loc,
        });
        let term = match &data.term {
            Terminator::Jump(t) => Terminator::Jump(target(t)),
            Terminator::Branch { cond, then, els } => {
                Terminator::Branch { cond: value(*cond), then: target(then), els: target(els) }
            }
            Terminator::Switch { index, targets } => {
                Terminator::Switch { index: value(*index), targets: targets.iter().map(target).collect() }
            }
            Terminator::Return(list) => Terminator::Return(list.iter().map(|&v| value(v)).collect()),
            Terminator::Exit => Terminator::Exit,
            Terminator::Trap => Terminator::Trap,
        };
        func.blocks.push(BlockData {
            params: data.params.iter().map(|&v| value(v)).collect(),
            insts: insts.collect(),
            term,
            term_loc: data.term_loc,
        });
    }
    Block(blocks)
}

/// Emits a chain of comparisons with the handles in `list`, each leading to a direct call.
fn choose(func: &mut Function, b: usize, list: &[FuncId], call: &Inst, rest: Block) {
    let handle = call.args[0];
    let mut at = b;
    for &f in list {
        let (bits, same) = (func.new_value(Ty::I64), func.new_value(Ty::I1));
        let inst = |op, args: &[Value], results: &[Value]| Inst {
            op,
            args: args.into(),
            results: results.into(),
            loc: call.loc,
        };
        let constant = Op::Const { ty: Ty::I64, bits: u128::from(Module::func_handle(f)) };
        func.blocks[at].insts.push(inst(constant, &[], &[bits]));
        func.blocks[at].insts.push(inst(Op::IntCmp(IntCmp::Eq, Ty::I64), &[handle, bits], &[same]));
        let results: Vec<Value> = call
            .results
            .iter()
            .map(|r| func.values[r.index()])
            .collect::<Vec<_>>()
            .into_iter()
            .map(|t| func.new_value(t))
            .collect();
        let here = func.new_block();
        let next = func.new_block();
        func.blocks[here.index()].insts.push(inst(Op::Call(f), &call.args[1..], &results));
        func.blocks[here.index()].term = Terminator::Jump(BlockCall { block: rest, args: results });
        func.blocks[at].term =
            Terminator::Branch { cond: same, then: BlockCall::to(here), els: BlockCall::to(next) };
        func.blocks[at].term_loc = call.loc;
        at = next.index();
    }
    let byte = func.new_value(Ty::I8);
    let load = Op::Load {
        mem: MemMode::weak(Space::Generic),
        ty: Ty::I8,
        count: 1,
        offset: 0,
        guard: Guard::Always,
    };
    func.blocks[at].insts.push(Inst {
        op: load,
        args: [handle][..].into(),
        results: [byte][..].into(),
        loc: call.loc,
    });
    func.blocks[at].term = Terminator::Trap;
    func.blocks[at].term_loc = call.loc;
}
