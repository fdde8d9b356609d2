//! Copies through tensor maps (PTX ISA 9.7.9.27), and the fields of tensor maps (9.7.9.28).

use ptx::ast::{Instruction, Operand};
use ptx::{Modifier as M, ScalarType};
use wave::op::{AtomOp, Builtin, Bulk, Effect, Extent, Extra, MapField, Op, Space, Walk, Way};
use wave::{Ty, Value};

use super::bulk::{mask, operand};
use super::mbarrier::shared_address;
use crate::error::ErrorClass;
use crate::function::{Lower, Result};

const B32: ScalarType = ScalarType::B32;

/// How the instruction traverses the tensor.
fn walk(i: &Instruction) -> Walk {
    let walks = [
        (M::TileGather4, Walk::Gather4),
        (M::TileScatter4, Walk::Scatter4),
        (M::Im2col, Walk::Im2col),
        (M::Im2colNoOffs, Walk::Im2colNoOffs),
        (M::Im2colW, Walk::Im2colW),
        (M::Im2colW128, Walk::Im2colW128),
    ];
    walks.iter().find(|(m, _)| i.has(*m)).map_or(Walk::Tile, |(_, walk)| *walk)
}

/// A generic address from a variable or a register.
fn generic_address(l: &mut Lower, o: &Operand) -> Result<(Value, Vec<Operand>)> {
    let Some(a) = o.address() else {
        return l.fail(ErrorClass::Invalid, o.span, "expected an address");
    };
    let (base, offset, implied) = l.first_part(a, o)?;
    let v = l.offset(base, offset);
    let v = match implied {
        Some(space @ (Space::Shared | Space::Param | Space::Local)) => l.op1(Op::ToGeneric(space), &[v]),
        _ => v,
    };
    Ok((v, a.parts.clone()))
}

/// Exactly `count` 32-bit values, from vectors or single operands.
fn values(
    l: &mut Lower,
    i: &Instruction,
    from: &[Operand],
    t: ScalarType,
    count: usize,
) -> Result<Vec<Value>> {
    let parts: Vec<&Operand> = from.iter().flat_map(Operand::elements).collect();
    if parts.len() != count {
        let wanted = format!("expected {count} values, found {}", parts.len());
        return l.fail(ErrorClass::Invalid, i.span, wanted);
    }
    parts
        .into_iter()
        .map(|p| {
            let v = l.value(p, t)?;
            Ok(l.resize(v, Ty::I32, false))
        })
        .collect()
}

fn reduction(i: &Instruction) -> Option<AtomOp> {
    Some(match i.one_of(&[M::Add, M::Min, M::Max, M::Inc, M::Dec, M::And, M::Or, M::Xor])? {
        M::Add => AtomOp::Add,
        M::Min => AtomOp::Min,
        M::Max => AtomOp::Max,
        M::Inc => AtomOp::Inc,
        M::Dec => AtomOp::Dec,
        M::And => AtomOp::And,
        M::Or => AtomOp::Or,
        _ => AtomOp::Xor,
    })
}

/// `cp.async.bulk.tensor`, its prefetch and its reductions.
pub fn cp(l: &mut Lower, i: &Instruction) -> Result<()> {
    let walk = walk(i);
    let dims = [M::X1d, M::X2d, M::X3d, M::X4d, M::X5d];
    let rank = dims.iter().position(|&d| i.has(d)).map_or(1, |d| d as u8 + 1);
    let load = i.has(M::MbarrierCompleteTxBytes);
    let prefetch = i.has(M::Prefetch);
    let at = usize::from(load);
    let map = operand(l, i, at)?;
    let (map, place) = generic_address(l, map)?;
    let place = values(l, i, &place, B32, walk.coordinates(rank))?;
    // The operands after the barrier, or after a prefetch's map: offsets, then the mask.
    let mut next = if load { 3 } else { 1 };
    let offsets = match walk.offsets(rank) {
        0 => vec![],
        n => {
            let o = operand(l, i, next)?;
            next += 1;
            values(l, i, std::slice::from_ref(o), ScalarType::U16, n)?
        }
    };
    if prefetch {
        return Ok(());
    }
    let (way, effect) = match (load, i.has(M::Reduce)) {
        (true, _) => (Way::Load, Effect::Copy),
        (false, false) => (Way::Store, Effect::Copy),
        (false, true) => match reduction(i) {
            Some(op) => (Way::Store, Effect::ReduceElements(op)),
            None => return l.unsupported(i, ""),
        },
    };
    let shared = operand(l, i, usize::from(!load))?;
    let shared = shared_address(l, i, shared)?;
    let mut args = if load { vec![shared, map] } else { vec![map, shared] };
    if load {
        let barrier = operand(l, i, 2)?;
        args.push(shared_address(l, i, barrier)?);
    }
    args.extend(place);
    args.extend(offsets);
    let extra = if i.has(M::MulticastCluster) { Extra::Multicast } else { Extra::Nothing };
    if extra == Extra::Multicast {
        args.push(mask(l, i, next)?);
    }
    let bulk = Bulk { way, extent: Extent::Tensor(rank, walk), effect, extra };
    if bulk.number().is_none() {
        return l.fail(
            ErrorClass::Invalid,
            i.span,
            format!("this copy is not legal for a tensor of {rank} dimensions"),
        );
    }
    l.op(Op::Bulk(bulk), &args);
    Ok(())
}

/// `tensormap.replace`, `tensormap.cp_fenceproxy`.
pub fn tensormap(l: &mut Lower, i: &Instruction) -> Result<()> {
    if i.has(M::CpFenceproxy) {
        let (to, _) = generic_address(l, &i.operands[0])?;
        let (from, offset, _) = l.address(&i.operands[1])?;
        let from = l.offset(from, offset);
        let size = l.constant(Ty::I64, 128);
        l.op(Op::Bulk(Bulk::bytes(Way::Store)), &[to, from, size]);
        return Ok(());
    }
    let fields = [
        (M::GlobalAddress, MapField::GlobalAddress),
        (M::Rank, MapField::Rank),
        (M::BoxDim, MapField::BoxDim),
        (M::GlobalDim, MapField::GlobalDim),
        (M::GlobalStride, MapField::GlobalStride),
        (M::ElementStride, MapField::ElementStride),
        (M::Elemtype, MapField::ElemType),
        (M::InterleaveLayout, MapField::InterleaveLayout),
        (M::SwizzleMode, MapField::SwizzleMode),
        (M::SwizzleAtomicity, MapField::SwizzleAtomicity),
        (M::FillMode, MapField::FillMode),
    ];
    let Some(&(_, field)) = fields.iter().find(|(m, _)| i.has(*m)) else { return l.unsupported(i, "") };
    let (base, offset, implied) = l.address(&i.operands[0])?;
    let mut address = l.offset(base, offset);
    if i.has(M::SharedCta) || implied == Some(Space::Shared) {
        address = l.op1(Op::ToGeneric(Space::Shared), &[address]);
    }
    let dimension = match (&i.operands[1..], i.operands[1].int()) {
        ([_, _], Some(n)) if (0..5).contains(&n.value()) => n.value() as u128,
        ([_, _], _) => return l.fail(ErrorClass::Invalid, i.operands[1].span, "a dimension must be 0 to 4"),
        _ => 0,
    };
    let Some(last) = i.operands.last() else { return l.unsupported(i, "") };
    let t = i.ty(1).unwrap_or(B32);
    let value = l.value(last, if t.bits() == 64 { ScalarType::B64 } else { B32 })?;
    let value = l.resize(value, Ty::I64, false);
    let field = l.constant(Ty::I32, field as u128 | dimension << 8);
    l.op(Op::Builtin(Builtin::TensormapReplace), &[address, field, value]);
    Ok(())
}
