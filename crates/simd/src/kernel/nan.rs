//! Finds the f32 values that may temporarily hold any NaN.
//!
//! NVIDIA's f32 arithmetic produces a single NaN, x86's many. Canonicalising after every operation would
//! triple the cost of an addition, and most values only feed other f32 operations, to which all NaNs are
//! equal. So such results, and the values that only merge them, stay as the processor produces them (*raw*).
//! They are canonicalised where another operation reads their bits.

use std::collections::BTreeSet;

use wave::op::Op;
use wave::types::Fmt;
use wave::{Function, Inst, Ty, Value};

use super::cfg::Cfg;

/// Whether the operation's result is an f32 whose NaN is always the canonical one.
pub fn makes(op: &Op) -> bool {
    match op {
        Op::Float(_, mode) | Op::Fma(mode) | Op::FloatUn(_, mode) => mode.fmt == Fmt::F32,
        Op::Approx { fmt, .. } => *fmt == Fmt::F32,
        Op::FloatToFloat { from, mode, .. } => mode.fmt == Fmt::F32 && matches!(from, Fmt::F16 | Fmt::F32),
        _ => false,
    }
}

/// Whether the operation treats all NaNs alike.
pub fn tolerates(op: &Op) -> bool {
    match op {
        Op::FloatCmp { fmt, .. } => *fmt == Fmt::F32,
        Op::FloatToInt { from, .. } => *from == Fmt::F32,
        Op::FloatToFloat { from, mode, .. } => *from == Fmt::F32 && mode.fmt != Fmt::F64,
        op => makes(op),
    }
}

/// The operands that an i32 select chooses from; `None` for other instructions.
fn choices(inst: &Inst) -> Option<&[Value]> {
    matches!(inst.op, Op::Select(Ty::I32)).then(|| inst.args.get(1..)).flatten()
}

/// The values that may be raw.
pub fn raw(func: &Function, cfg: &Cfg) -> BTreeSet<Value> {
    let insts = || cfg.order.iter().flat_map(|&b| &func.blocks[b].insts);
    let mut raw = BTreeSet::new();
    // Constants that are not NaN; they are the same raw or exact.
    let mut plain = BTreeSet::new();
    // Block parameters and selects, with their possible values.
    let mut merges: Vec<(Value, Vec<Value>)> = Vec::new();
    for inst in insts() {
        let Some(&r) = inst.results.first() else { continue };
        match inst.op {
            Op::Const { ty: Ty::I32, bits } if !f32::from_bits(bits as u32).is_nan() => {
                plain.insert(r);
            }
            _ if makes(&inst.op) => {
                raw.insert(r);
            }
            _ => {
                merges.extend(choices(inst).map(|c| (r, c.to_vec())));
            }
        }
    }
    let edges = cfg.edges(func);
    for &b in cfg.order.iter().skip(1) {
        for (i, &p) in func.blocks[b].params.iter().enumerate().filter(|(_, p)| func.ty(**p) == Ty::I32) {
            let from = edges[b].iter().filter_map(|(_, t)| t.args.get(i).copied());
            merges.push((p, from.collect()));
        }
    }
    // By value: the merges that it is an operand of.
    let mut users: Vec<Vec<Value>> = vec![Vec::new(); func.values.len()];
    for (v, from) in &merges {
        from.iter().for_each(|f| users[f.index()].push(*v));
    }
    // Start by assuming that all merges are raw, and remove those with an operand that is not.
    raw.extend(merges.iter().map(|m| m.0));
    let bad = merges.iter().filter(|(_, from)| !from.iter().all(|f| raw.contains(f) || plain.contains(f)));
    let mut bad: Vec<Value> = bad.map(|m| m.0).collect();
    while let Some(v) = bad.pop() {
        if raw.remove(&v) {
            bad.extend(&users[v.index()]);
        }
    }
    // Merges of constants alone need no canonicalisation: keep those that a raw result reaches.
    let mut fed: BTreeSet<Value> =
        insts().filter(|i| makes(&i.op)).flat_map(|i| i.results.iter().copied()).collect();
    let mut more: Vec<Value> = fed.iter().copied().collect();
    while let Some(v) = more.pop() {
        more.extend(users[v.index()].iter().filter(|user| raw.contains(user) && fed.insert(**user)));
    }
    fed
}

/// Removes from `raw` the arguments of parameters that are not raw: where both share a slot, a result that is
/// exact at once saves the copy.
pub fn without_copies(func: &Function, cfg: &Cfg, raw: &mut BTreeSet<Value>) {
    let mut pairs: Vec<(Value, Value)> = Vec::new();
    for target in cfg.order.iter().flat_map(|&b| func.blocks[b].term.targets()) {
        let params = func.block(target.block).params.iter().copied();
        pairs.extend(params.zip(target.args.iter().copied()).filter(|(_, a)| raw.contains(a)));
    }
    pairs.sort_unstable();
    let exact = pairs.iter().filter(|(p, _)| !raw.contains(p));
    let mut todo: Vec<Value> = exact.map(|(_, a)| *a).collect();
    while let Some(v) = todo.pop() {
        if raw.remove(&v) {
            let first = pairs.partition_point(|(p, _)| *p < v);
            todo.extend(pairs[first..].iter().take_while(|(p, _)| *p == v).map(|(_, a)| *a));
        }
    }
}
