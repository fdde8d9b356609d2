//! Parses operations: the inverse of [`crate::print::spell`].

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::op::*;
use crate::print::spell;
use crate::types::{Fmt, Ty};

/// The operations with a fixed spelling, except memory accesses, constants and those that name a symbol.
pub(crate) fn every() -> Vec<Op> {
    let mut ops = vec![Op::Fns, Op::Elect, Op::ActiveMask, Op::WarpSync, Op::Yield, Op::Nop];
    let flags = [false, true];
    for &ty in &Ty::ALL {
        ops.extend(IntOp::ALL.iter().map(|&o| Op::Int(o, ty)));
        ops.extend(ShiftOp::ALL.iter().map(|&o| Op::Shift(o, ty)));
        ops.extend(IntUnOp::ALL.iter().map(|&o| Op::IntUn(o, ty)));
        ops.extend(CountOp::ALL.iter().map(|&o| Op::Count(o, ty)));
        ops.extend(IntCmp::ALL.iter().map(|&o| Op::IntCmp(o, ty)));
        ops.extend(MatchMode::ALL.iter().map(|&o| Op::Match(o, ty)));
        ops.extend([Op::AddCarry(ty), Op::SubBorrow(ty), Op::Bfi(ty), Op::Select(ty), Op::Agree(ty)]);
        ops.extend(flags.map(|signed| Op::Bfe { signed, ty }));
        for &to in &Ty::ALL {
            ops.extend([Op::Sext { from: ty, to }, Op::Zext { from: ty, to }]);
            if ty.bits() < to.bits() {
                ops.extend([Op::Pack { part: ty, whole: to }, Op::Unpack { part: ty, whole: to }]);
            }
            for from_signed in flags {
                ops.extend(flags.map(|to_signed| Op::IntSat { from: ty, from_signed, to, to_signed }));
            }
        }
    }
    for &fmt in &Fmt::ALL {
        for &round in Round::ALL {
            for bits in 0..4 {
                let (ftz, sat) = (bits & 1 != 0, bits & 2 != 0);
                let mode = FloatMode { fmt, round, ftz, sat };
                ops.extend(FloatOp::ALL.iter().map(|&o| Op::Float(o, mode)));
                ops.extend(FloatUnOp::ALL.iter().map(|&o| Op::FloatUn(o, mode)));
                ops.push(Op::Fma(mode));
                for on in flags {
                    ops.extend(Ty::ALL.map(|from| Op::IntToFloat { from, signed: on, mode }));
                    ops.extend(Fmt::ALL.map(|from| Op::FloatToFloat { from, mode, relu: on }));
                }
            }
            for ftz in flags {
                for signed in flags {
                    ops.extend(Ty::ALL.map(|to| Op::FloatToInt { from: fmt, to, signed, round, ftz }));
                }
            }
        }
        for ftz in flags {
            ops.extend(ApproxOp::ALL.iter().map(|&op| Op::Approx { op, fmt, ftz }));
            ops.extend(FloatCmp::ALL.iter().map(|&cmp| Op::FloatCmp { cmp, fmt, ftz }));
        }
        ops.push(Op::CopySign(fmt));
    }
    for &space in Space::ALL {
        ops.extend([Op::ToGeneric(space), Op::FromGeneric(space), Op::IsSpace(space)]);
        ops.extend(CacheLevel::ALL.iter().map(|&level| Op::Prefetch(space, level)));
    }
    for a in flags {
        ops.extend(flags.map(|b| Op::Dp4a { a_signed: a, b_signed: b }));
        ops.extend(flags.map(|b| Op::Funnel { left: a, clamp: b }));
        for b in flags {
            ops.extend(flags.map(|hi| Op::Dp2a { a_signed: a, b_signed: b, hi }));
        }
        ops.extend(ShflMode::ALL.iter().map(|&mode| Op::Shfl { mode, sync: a }));
        ops.extend(VoteMode::ALL.iter().map(|&mode| Op::Vote { mode, sync: a }));
    }
    ops.extend(SfuOp::ALL.iter().map(|&o| Op::Sfu(o)));
    ops.extend(ReduxOp::ALL.iter().map(|&o| Op::Redux(o)));
    ops.extend(BarMode::ALL.iter().map(|&mode| Op::Bar { mode }));
    ops.extend(PrmtMode::ALL.iter().map(|&m| Op::Prmt(m)));
    ops.extend(SReg::ALL.iter().map(|&r| Op::Special(r)));
    ops.extend(Builtin::ALL.iter().map(|&b| Op::Builtin(b)));
    ops.extend(Bulk::every().iter().map(|&b| Op::Bulk(b)));
    ops.extend((0..=255).map(Op::Lop3));
    ops
}

/// The operation with this spelling, if it names no symbol, constant or signature; offsets are 0.
pub(super) fn of_name(name: &str) -> Option<Op> {
    static TABLE: OnceLock<HashMap<String, Op>> = OnceLock::new();
    let table = TABLE.get_or_init(|| every().into_iter().map(|op| (spell(&op).name, op)).collect());
    table.get(name).cloned().or_else(|| access(name))
}

/// `i32`, `i64`…
pub(super) fn ty(name: &str) -> Option<Ty> {
    Ty::ALL.into_iter().find(|t| t.to_string() == name)
}

/// Memory accesses and fences.
fn access(name: &str) -> Option<Op> {
    let mut words = name.split('.');
    let ordering = |words: &mut std::str::Split<char>| {
        let order = Order::from_name(words.next()?)?;
        let scope = match order {
            Order::Weak | Order::Volatile => Scope::Sys,
            _ => Scope::from_name(words.next()?)?,
        };
        Some((order, scope))
    };
    let mode = |words: &mut std::str::Split<char>| {
        let space = Space::from_name(words.next()?)?;
        let (order, scope) = ordering(words)?;
        Some(MemMode { space, order, scope })
    };
    // The last word, if there is one.
    let guard = |words: &mut std::str::Split<char>| match words.next() {
        None => Some(Guard::Always),
        Some(word) => Guard::from_name(word).filter(|guard| *guard != Guard::Always),
    };
    let op = match words.next()? {
        "matrix" => return Matrix::of_name(name.split_once('.')?.1).map(Op::Matrix),
        "texture" => return Access::of_name(name.split_once('.')?.1).map(Op::Texture),
        "fence" => {
            let (order, scope) = ordering(&mut words)?;
            Op::Fence { order, scope }
        }
        kind @ ("load" | "store") => {
            let mem = mode(&mut words)?;
            let elements = words.next()?;
            let (name, count) = elements.split_once('x').unwrap_or((elements, "1"));
            let (ty, count, guard) = (ty(name)?, count.parse().ok()?, guard(&mut words)?);
            if kind == "load" {
                Op::Load { mem, ty, count, offset: 0, guard }
            } else {
                Op::Store { mem, ty, count, offset: 0, guard }
            }
        }
        "atom" => {
            let op = AtomOp::from_name(words.next()?)?;
            let mem = mode(&mut words)?;
            let ty = AtomTy::from_name(words.next()?)?;
            Op::Atom { op, ty, mem, offset: 0, guard: guard(&mut words)? }
        }
        _ => return None,
    };
    words.next().is_none().then_some(op)
}
