//! Synchronisation and communication between lanes (PTX ISA 9.7.9.6, 9.7.13).

use ptx::ast::{Instruction, OperandKind};
use ptx::{Modifier as M, ScalarType};
use wave::op::{
    BarMode, Builtin, FloatCmp, IntOp, MatchMode, Op, Order, ReduxOp, ShflMode, ShiftOp, VoteMode,
};
use wave::types::Fmt;
use wave::{Ty, Value};

use super::memory::{order, scope};
use crate::function::{Lower, Result};
use crate::link::ty_of;

const B32: ScalarType = ScalarType::B32;

pub fn nothing(_: &mut Lower, _: &Instruction) -> Result<()> {
    Ok(())
}

pub fn fence(l: &mut Lower, i: &Instruction) -> Result<()> {
    let default = if i.opcode == ptx::Opcode::Membar { Order::Sc } else { Order::AcqRel };
    l.op(Op::Fence { order: order(i, default), scope: scope(i) }, &[]);
    Ok(())
}

fn all_lanes(l: &mut Lower) -> Value {
    l.constant(Ty::I32, 0xffff_ffff)
}

/// `bar`, `barrier`, `bar.warp.sync`.
pub fn barrier(l: &mut Lower, i: &Instruction) -> Result<()> {
    if i.has(M::Cluster) {
        return super::cluster::barrier(l, i);
    }
    if i.has(M::Warp) {
        let members = l.value(&i.operands[0], B32)?;
        l.op(Op::WarpSync, &[members]);
        return Ok(());
    }
    if !i.has(M::Red) {
        let mode = if i.has(M::Arrive) { BarMode::Arrive } else { BarMode::Sync };
        let id = l.value(&i.operands[0], B32)?;
        let threads = match i.operands.get(1) {
            Some(o) => l.value(o, B32)?,
            None => l.constant(Ty::I32, 0),
        };
        l.op(Op::Bar { mode }, &[id, threads]);
        return Ok(());
    }
    // bar.red.popc.u32 d, a{, b}, {!}p  and  bar.red.op.pred p, a{, b}, {!}c
    let mode = match () {
        () if i.has(M::Popc) => BarMode::RedPopc,
        () if i.has(M::And) => BarMode::RedAnd,
        () => BarMode::RedOr,
    };
    let id = l.value(&i.operands[1], B32)?;
    let threads = if i.operands.len() > 3 { l.value(&i.operands[2], B32)? } else { l.constant(Ty::I32, 0) };
    let Some(last) = i.operands.last() else { return l.unsupported(i, "") };
    let p = l.value(last, ScalarType::Pred)?;
    let v = l.op1(Op::Bar { mode }, &[id, threads, p]);
    l.write_dest(&i.operands[0], v, false)
}

/// `shfl{.sync}.mode.b32 d|p, a, b, c{, members}`.
pub fn shuffle(l: &mut Lower, i: &Instruction) -> Result<()> {
    let mode = match i.one_of(&[M::Up, M::Down, M::Bfly, M::Idx]) {
        Some(M::Up) => ShflMode::Up,
        Some(M::Down) => ShflMode::Down,
        Some(M::Bfly) => ShflMode::Bfly,
        _ => ShflMode::Idx,
    };
    let sync = i.has(M::Sync);
    let mut args = Vec::new();
    for n in 1..4 {
        args.push(l.value(&i.operands[n], B32)?);
    }
    args.push(match i.operands.get(4) {
        Some(o) => l.value(o, B32)?,
        None => all_lanes(l),
    });
    let r = l.op(Op::Shfl { mode, sync }, &args);
    match &i.operands[0].kind {
        OperandKind::Pair(pair) => {
            l.write_dest(&pair.0, r[0], false)?;
            l.write_dest(&pair.1, r[1], false)
        }
        _ => l.write_dest(&i.operands[0], r[0], false),
    }
}

pub fn vote(l: &mut Lower, i: &Instruction) -> Result<()> {
    let mode = match i.one_of(&[M::All, M::Any, M::Uni, M::Ballot]) {
        Some(M::All) => VoteMode::All,
        Some(M::Any) => VoteMode::Any,
        Some(M::Uni) => VoteMode::Uni,
        _ => VoteMode::Ballot,
    };
    let p = l.value(&i.operands[1], ScalarType::Pred)?;
    let members = match i.operands.get(2) {
        Some(o) => l.value(o, B32)?,
        None => all_lanes(l),
    };
    let v = l.op1(Op::Vote { mode, sync: i.has(M::Sync) }, &[p, members]);
    l.write_dest(&i.operands[0], v, false)
}

pub fn match_lanes(l: &mut Lower, i: &Instruction) -> Result<()> {
    let t = i.ty(0).unwrap_or(B32);
    let mode = if i.has(M::All) { MatchMode::All } else { MatchMode::Any };
    let a = l.value(&i.operands[1], t)?;
    let members = l.value(&i.operands[2], B32)?;
    let r = l.op(Op::Match(mode, ty_of(t)), &[a, members]);
    match &i.operands[0].kind {
        OperandKind::Pair(pair) => {
            l.write_dest(&pair.0, r[0], false)?;
            l.write_dest(&pair.1, r[1], false)
        }
        _ => l.write_dest(&i.operands[0], r[0], false),
    }
}

pub fn redux(l: &mut Lower, i: &Instruction) -> Result<()> {
    let t = i.ty(0).unwrap_or(B32);
    if t.is_float() {
        return redux_float(l, i);
    }
    let op = match (i.one_of(&[M::Add, M::Min, M::Max, M::And, M::Or, M::Xor]), t.is_signed()) {
        (Some(M::Min), true) => ReduxOp::MinS,
        (Some(M::Min), false) => ReduxOp::MinU,
        (Some(M::Max), true) => ReduxOp::MaxS,
        (Some(M::Max), false) => ReduxOp::MaxU,
        (Some(M::And), _) => ReduxOp::And,
        (Some(M::Or), _) => ReduxOp::Or,
        (Some(M::Xor), _) => ReduxOp::Xor,
        _ => ReduxOp::Add,
    };
    let a = l.value(&i.operands[1], B32)?;
    let members = l.value(&i.operands[2], B32)?;
    let v = l.op1(Op::Redux(op), &[a, members]);
    l.write_dest(&i.operands[0], v, false)
}

/// `redux.sync.min{.abs}{.NaN}.f32`: maps floats to integers of the same order, with NaN above or below all.
fn redux_float(l: &mut Lower, i: &Instruction) -> Result<()> {
    let c = |l: &mut Lower, v: u32| l.constant(Ty::I32, u128::from(v));
    let int = |o| Op::Int(o, Ty::I32);
    // Negative numbers have the reverse order. Applying this twice restores the float.
    let flip = |l: &mut Lower, v: Value| {
        let (top, rest) = (c(l, 31), c(l, 0x7fff_ffff));
        let sign = l.op1(Op::Shift(ShiftOp::ShrS, Ty::I32), &[v, top]);
        let bits = l.op1(int(IntOp::And), &[sign, rest]);
        l.op1(int(IntOp::Xor), &[v, bits])
    };
    let nan = |l: &mut Lower, v: Value| {
        l.op1(Op::FloatCmp { cmp: FloatCmp::Nan, fmt: Fmt::F32, ftz: false }, &[v, v])
    };
    let mut a = l.value(&i.operands[1], B32)?;
    let members = l.value(&i.operands[2], B32)?;
    if i.has(M::Abs) {
        let rest = c(l, 0x7fff_ffff);
        a = l.op1(int(IntOp::And), &[a, rest]);
    }
    let min = i.has(M::Min);
    // If NaN wins, map it to the end that is searched for, otherwise to the opposite end.
    let end = c(l, if min == i.has(M::NaN) { 0x8000_0000 } else { 0x7fff_ffff });
    let (is_nan, ordered) = (nan(l, a), flip(l, a));
    let key = l.op1(Op::Select(Ty::I32), &[is_nan, end, ordered]);
    let found = l.op1(Op::Redux(if min { ReduxOp::MinS } else { ReduxOp::MaxS }), &[key, members]);
    let v = flip(l, found);
    let (is_nan, canonical) = (nan(l, v), c(l, 0x7fff_ffff));
    let v = l.op1(Op::Select(Ty::I32), &[is_nan, canonical, v]);
    l.write_dest(&i.operands[0], v, false)
}

pub fn active_mask(l: &mut Lower, i: &Instruction) -> Result<()> {
    let v = l.op1(Op::ActiveMask, &[]);
    l.write_dest(&i.operands[0], v, false)
}

/// `elect.sync d|p, members`.
pub fn elect(l: &mut Lower, i: &Instruction) -> Result<()> {
    let members = l.value(&i.operands[1], B32)?;
    let r = l.op(Op::Elect, &[members]);
    match &i.operands[0].kind {
        OperandKind::Pair(pair) => {
            l.write_dest(&pair.0, r[0], false)?;
            l.write_dest(&pair.1, r[1], false)
        }
        _ => l.write_dest(&i.operands[0], r[0], false),
    }
}

pub fn nanosleep(l: &mut Lower, i: &Instruction) -> Result<()> {
    let t = l.value(&i.operands[0], B32)?;
    l.op(Op::Builtin(Builtin::NanoSleep), &[t]);
    Ok(())
}
