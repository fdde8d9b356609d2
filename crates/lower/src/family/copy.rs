//! Asynchronous copies of up to 16 bytes (PTX ISA 9.7.9.25.3), and cache policies.
//!
//! Copies complete synchronously, so waiting for copy groups emits nothing.

use ptx::ast::Instruction;
use ptx::{Modifier as M, ScalarType};
use wave::op::{Guard, IntCmp, IntOp, MemMode, Op, Space};
use wave::{Ty, Value};

use super::{bulk, mbarrier};
use crate::error::ErrorClass;
use crate::function::{Lower, Result};

/// The source or destination of a copy.
#[derive(Clone, Copy)]
struct Place {
    base: Value,
    space: Space,
}

/// `cp.async.ca.shared.global [d], [s], size{, source size | ignore}{, policy}` and the waits.
pub fn cp(l: &mut Lower, i: &Instruction) -> Result<()> {
    if i.has(M::Mbarrier) {
        return mbarrier::copies_done(l, i);
    }
    if i.has(M::Bulk) {
        return bulk::cp(l, i);
    }
    if i.has(M::CommitGroup) || i.has(M::WaitGroup) || i.has(M::WaitAll) {
        return Ok(());
    }
    let place = |l: &mut Lower, n: usize, space| {
        let (base, offset, _) = l.address(&i.operands[n])?;
        let base = if space == Space::Shared { l.wrapping_base(&i.operands[n], base) } else { base };
        Ok(Place { base: l.offset(base, offset), space })
    };
    let to = place(l, 0, Space::Shared)?;
    let from = place(l, 1, Space::Global)?;
    let size = i.operands[2].int().map_or(0, |v| v.value());
    let legal: &[i128] = if i.has(M::Cg) { &[16] } else { &[4, 8, 16] };
    if !legal.contains(&size) {
        return l.fail(ErrorClass::Invalid, i.operands[2].span, format!("the size must be one of {legal:?}"));
    }
    let size = size as u8;
    let hint = usize::from(i.has(M::L2CacheHint));
    let Some(last) = i.operands.get(3).filter(|_| i.operands.len() > 3 + hint) else {
        whole(l, to, from, size);
        return Ok(());
    };
    let limit = l.constant(Ty::I32, u128::from(size));
    let is_predicate = matches!(&last.kind, ptx::ast::OperandKind::Reg(r) if l.is_predicate(*r))
        || matches!(last.kind, ptx::ast::OperandKind::Not(_));
    if is_predicate {
        let ignore = l.value(last, ScalarType::Pred)?;
        return l.either(
            ignore,
            |l| {
                zeros(l, to, size);
                Ok(())
            },
            |l| {
                whole(l, to, from, size);
                Ok(())
            },
        );
    }
    // Bytes beyond the source's size are written as zero and not read.
    let given = l.value(last, ScalarType::U32)?;
    let all = l.op1(Op::IntCmp(IntCmp::GeU, Ty::I32), &[given, limit]);
    l.either(
        all,
        |l| {
            whole(l, to, from, size);
            Ok(())
        },
        |l| {
            zeros(l, to, size);
            l.count_to(given, |l, n| {
                let n = l.resize(n, Ty::I64, false);
                let at = |l: &mut Lower, p: Place| l.op1(Op::Int(IntOp::Add, Ty::I64), &[p.base, n]);
                let (s, d) = (at(l, from), at(l, to));
                let byte = load(l, Place { base: s, ..from }, Ty::I8, 1);
                store(l, Place { base: d, ..to }, Ty::I8, &byte);
                Ok(())
            })
        },
    )
}

fn load(l: &mut Lower, from: Place, ty: Ty, count: u8) -> Vec<Value> {
    l.op(
        Op::Load { mem: MemMode::weak(from.space), ty, count, offset: 0, guard: Guard::Always },
        &[from.base],
    )
}

fn store(l: &mut Lower, to: Place, ty: Ty, values: &[Value]) {
    let args: Vec<Value> = std::iter::once(to.base).chain(values.iter().copied()).collect();
    l.op(
        Op::Store {
            mem: MemMode::weak(to.space),
            ty,
            count: values.len() as u8,
            offset: 0,
            guard: Guard::Always,
        },
        &args,
    );
}

fn whole(l: &mut Lower, to: Place, from: Place, size: u8) {
    let values = load(l, from, Ty::I32, size / 4);
    store(l, to, Ty::I32, &values);
}

fn zeros(l: &mut Lower, to: Place, size: u8) {
    let zero = l.constant(Ty::I32, 0);
    store(l, to, Ty::I32, &vec![zero; usize::from(size / 4)]);
}

/// `createpolicy`: a cache policy is only a hint; all of ours are 0.
pub fn policy(l: &mut Lower, i: &Instruction) -> Result<()> {
    let v = l.constant(Ty::I64, 0);
    l.write_dest(&i.operands[0], v, false)
}
