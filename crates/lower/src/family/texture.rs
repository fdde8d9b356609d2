//! Textures and surfaces (PTX ISA 9.7.10 and 9.7.11).

use ptx::ast::{AddressBase, Instruction, Operand, OperandKind, VariableRef};
use ptx::{Modifier as M, ScalarType};
use texture::access::{Access, Clamp, Geometry, Level, Operation, Query, Reduction};
use wave::module::Reference;
use wave::op::{FloatMode, Guard, MemMode, Op, Space};
use wave::types::Fmt;
use wave::{Ty, Value};

use crate::error::ErrorClass;
use crate::function::{Lower, Result, VarPlace};
use crate::link::Place;
use crate::operand::bits_type;

/// The member of an enumeration that an instruction's modifiers name.
fn named<T: Copy>(i: &Instruction, all: &[T], name: impl Fn(T) -> &'static str) -> Option<T> {
    i.modifiers.iter().find_map(|m| all.iter().copied().find(|&t| name(t) == m.name()))
}

fn geometry(l: &mut Lower, i: &Instruction) -> Result<Geometry> {
    match named(i, Geometry::ALL, Geometry::name) {
        Some(geometry) => Ok(geometry),
        None => l.unsupported(i, "no API function creates multisampled arrays"),
    }
}

/// The handle that an address names, and the remaining parts in the brackets.
fn object<'a>(l: &mut Lower, i: &Instruction, operand: &'a Operand) -> Result<(Value, &'a [Operand])> {
    let Some(address) = operand.address() else {
        let v = l.value(operand, ScalarType::B64)?;
        return Ok((v, &[]));
    };
    let v = match address.base {
        // A kernel parameter: the handle that the launch passed.
        AddressBase::Var(VariableRef::Var(var)) if matches!(l.var_place(var), VarPlace::KernelParam(_)) => {
            let VarPlace::KernelParam(at) = l.var_place(var) else { return l.unsupported(i, "") };
            let base = l.constant(Ty::I64, u128::from(at));
            let mem = MemMode::weak(Space::Param);
            l.op1(Op::Load { mem, ty: Ty::I64, count: 1, offset: 0, guard: Guard::Always }, &[base])
        }
        AddressBase::Var(VariableRef::Var(var)) => match l.var_place(var) {
            VarPlace::Scalar(ty) | VarPlace::Kept(_, ty) => l.scalar(var, ty),
            _ => return l.unsupported(i, "this variable is not a texture or surface"),
        },
        AddressBase::Var(VariableRef::Global(g)) => {
            l.symbol_address(ptx::ast::Symbol::Global(g), 0, operand)?.0
        }
        AddressBase::Reg(r) => l.read_reg(r, 0),
        _ => return l.unsupported(i, "this is not a texture or surface"),
    };
    Ok((l.resize(v, Ty::I64, false), &address.parts))
}

/// The first `count` elements of an operand.
fn words(
    l: &mut Lower,
    i: &Instruction,
    operand: &Operand,
    count: usize,
    t: ScalarType,
) -> Result<Vec<Value>> {
    let elements = operand.elements();
    if let (OperandKind::Reg(r), true) = (&operand.kind, count > 1) {
        // A vector register.
        let n = l.register_elements(*r);
        if usize::from(n) >= count {
            let values = (0..count as u8).map(|e| l.read_reg(*r, e)).collect::<Vec<_>>();
            return Ok(values.into_iter().map(|v| l.resize(v, Ty::I32, false)).collect());
        }
    }
    if elements.len() < count {
        return l.fail(ErrorClass::Invalid, i.span, format!("expected {count} coordinates"));
    }
    elements.iter().take(count).map(|e| l.value(e, t)).collect()
}

/// The coordinates in the brackets, including the layer.
fn coordinates(
    l: &mut Lower,
    i: &Instruction,
    parts: &[Operand],
    geometry: Geometry,
    t: ScalarType,
) -> Result<Vec<Value>> {
    let [place] = parts else {
        let independent = parts.len() == 2;
        let why = "separate samplers (texmode_independent): such modules do not load on the hardware either";
        return match independent {
            true => l.unsupported(i, why),
            false => l.fail(ErrorClass::Invalid, i.span, "expected coordinates in the brackets"),
        };
    };
    let count = geometry.coordinates() + usize::from(geometry.layered());
    match (geometry.layered(), &place.kind) {
        // The layer is an integer whatever the type of the coordinates.
        (true, OperandKind::Vector(elements)) if elements.len() >= count => {
            let mut values = vec![l.value(&elements[0], ScalarType::B32)?];
            for e in &elements[1..count] {
                values.push(l.value(e, t)?);
            }
            Ok(values)
        }
        _ => words(l, i, place, count, t),
    }
}

/// Writes the four channels, and the predicate that tells whether all texels are resident.
fn write_texel(l: &mut Lower, i: &Instruction, values: Vec<Value>, halves: bool) -> Result<()> {
    let mut to = &i.operands[0];
    if let OperandKind::Pair(pair) = &to.kind {
        let resident = l.constant(Ty::I1, 1);
        l.write_dest(&pair.1, resident, false)?;
        to = &pair.0;
    }
    let mut values = values;
    if halves {
        let mode = FloatMode::rn(Fmt::F16);
        for v in &mut values {
            *v = l.op1(Op::FloatToFloat { from: Fmt::F32, mode, relu: false }, &[*v]);
        }
    }
    match &to.kind {
        OperandKind::Reg(r) if usize::from(l.register_elements(*r)) == values.len() => {
            for (e, v) in values.into_iter().enumerate() {
                let (var, own) = l.reg_var(*r, e as u8);
                let v = l.resize(v, own, false);
                l.write(var, v);
            }
            Ok(())
        }
        OperandKind::Vector(parts) if parts.len() == values.len() => {
            parts.iter().zip(values).try_for_each(|(part, v)| l.write_dest(part, v, false))
        }
        _ => l.fail(ErrorClass::Invalid, to.span, "expected a vector with one element per result"),
    }
}

/// Parses offsets, if given, and whether there is a depth to compare with. The depth has no effect, as on the
/// hardware: no API function creates depth textures.
fn rest(
    l: &mut Lower,
    i: &Instruction,
    operands: &[Operand],
    access: &mut Access,
    args: &mut Vec<Value>,
) -> Result<bool> {
    let mut compared = false;
    for operand in operands {
        match &operand.kind {
            OperandKind::Vector(_) => {
                access.offsets = true;
                args.extend(words(l, i, operand, access.geometry.coordinates(), ScalarType::B32)?);
            }
            _ => {
                l.value(operand, ScalarType::F32)?;
                compared = true;
            }
        }
    }
    Ok(compared)
}

pub fn fetch(l: &mut Lower, i: &Instruction) -> Result<()> {
    let (Some(to), Some(from)) = (i.ty(0), i.ty(1)) else { return l.unsupported(i, "") };
    let mut access = Access {
        geometry: geometry(l, i)?,
        integers: from == ScalarType::S32,
        halves: to == ScalarType::F16x2,
        level: if i.has(M::Level) {
            Level::Level
        } else if i.has(M::Grad) {
            Level::Gradient
        } else {
            Level::Base
        },
        ..Access::default()
    };
    let (handle, parts) = object(l, i, &i.operands[1])?;
    let mut args = vec![handle];
    args.extend(coordinates(l, i, parts, access.geometry, from)?);
    let count = access.geometry.coordinates();
    let given = match access.level {
        Level::Base => 0,
        Level::Level => 1,
        Level::Gradient | Level::Quad => 2,
    };
    let Some((details, others)) = i.operands[2..].split_at_checked(given) else {
        return l.fail(ErrorClass::Invalid, i.span, "the level or the gradients are missing");
    };
    for detail in details {
        let (n, t) = if access.level == Level::Level { (1, from) } else { (count, ScalarType::F32) };
        args.extend(words(l, i, detail, n, t)?);
    }
    let compared = rest(l, i, others, &mut access, &mut args)?;
    let mut values = l.op(Op::Texture(access), &args);
    // With gradients in one dimension, the hardware ignores the comparison too.
    if compared && access.level == Level::Gradient && access.geometry == Geometry::D1 {
        let zero = l.constant(Ty::I32, 0);
        values.fill(zero);
    }
    write_texel(l, i, values, to == ScalarType::F16)
}

pub fn gather(l: &mut Lower, i: &Instruction) -> Result<()> {
    let channel = [M::R, M::G, M::B, M::A].iter().position(|&m| i.has(m)).unwrap_or(0);
    let mut access = Access {
        operation: Operation::Gather,
        geometry: geometry(l, i)?,
        channel: channel as u8,
        ..Access::default()
    };
    let (handle, parts) = object(l, i, &i.operands[1])?;
    let mut args = vec![handle];
    args.extend(coordinates(l, i, parts, access.geometry, ScalarType::F32)?);
    rest(l, i, &i.operands[2..], &mut access, &mut args)?;
    let values = l.op(Op::Texture(access), &args);
    write_texel(l, i, values, false)
}

pub fn query(l: &mut Lower, i: &Instruction) -> Result<()> {
    let Some(query) = named(i, Query::ALL, Query::name) else {
        return l.unsupported(
            i,
            "only separate samplers (texmode_independent) have it, and the hardware does not load these either",
        );
    };
    let surface = i.opcode == ptx::Opcode::Suq;
    let mut access = Access {
        operation: if surface { Operation::QuerySurface } else { Operation::QueryTexture },
        query,
        ..Access::default()
    };
    let (handle, _) = object(l, i, &i.operands[1])?;
    let mut args = vec![handle];
    if let (true, Some(level)) = (i.has(M::Level), i.operands.get(2)) {
        access.level = Level::Level;
        args.push(l.value(level, ScalarType::B32)?);
    }
    let v = l.op1(Op::Texture(access), &args);
    l.write_dest(&i.operands[0], v, false)
}

/// A name has its declared type; a handle in a register has none, as on the hardware.
pub fn is_type(l: &mut Lower, i: &Instruction) -> Result<()> {
    let symbol = match &i.operands[1].kind {
        OperandKind::Symbol(s) => Some(s.symbol),
        OperandKind::Address(a) => match a.base {
            AddressBase::Var(VariableRef::Global(g)) => Some(ptx::ast::Symbol::Global(g)),
            _ => None,
        },
        _ => None,
    };
    let declared = match symbol {
        Some(ptx::ast::Symbol::Global(g)) => match l.linked.place(l.unit, g) {
            Place::Global(id) => l.linked.module().globals[id.index()].reference,
            _ => None,
        },
        _ => None,
    };
    let queried = match i.ty(0) {
        Some(ScalarType::Texref) => Some(Reference::Texture),
        Some(ScalarType::Surfref) => Some(Reference::Surface),
        _ => None,
    };
    let v = l.constant(Ty::I1, u128::from(queried.is_some() && queried == declared));
    l.write_dest(&i.operands[0], v, false)
}

/// The part common to all surface accesses.
fn surface(l: &mut Lower, i: &Instruction, operation: Operation) -> Result<(Access, ScalarType)> {
    let t = i.ty(0).unwrap_or(ScalarType::B32);
    let access = Access {
        operation,
        geometry: geometry(l, i)?,
        clamp: named(i, Clamp::ALL, Clamp::name).unwrap_or_default(),
        width: t.bits().trailing_zeros() as u8,
        count: i.vec().trailing_zeros() as u8,
        signed: operation == Operation::Reduce && t.is_signed(),
        elements: i.has(M::P),
        ..Access::default()
    };
    Ok((access, bits_type(crate::link::ty_of(t))))
}

pub fn load(l: &mut Lower, i: &Instruction) -> Result<()> {
    let (access, _) = surface(l, i, Operation::Load)?;
    let (handle, parts) = object(l, i, &i.operands[1])?;
    let mut args = vec![handle];
    args.extend(coordinates(l, i, parts, access.geometry, ScalarType::B32)?);
    let values = l.op(Op::Texture(access), &args);
    match (&i.operands[0].kind, values.as_slice()) {
        (OperandKind::Vector(parts), [one]) if parts.len() == 1 => l.write_dest(&parts[0], *one, false),
        (_, [one]) => l.write_dest(&i.operands[0], *one, false),
        _ => write_texel(l, i, values, false),
    }
}

pub fn store(l: &mut Lower, i: &Instruction) -> Result<()> {
    let operation = if i.has(M::P) { Operation::StoreFormatted } else { Operation::Store };
    let (access, t) = surface(l, i, operation)?;
    let (handle, parts) = object(l, i, &i.operands[0])?;
    let mut args = vec![handle];
    args.extend(coordinates(l, i, parts, access.geometry, ScalarType::B32)?);
    let elements = i.operands[1].elements();
    if elements.len() == usize::from(i.vec()) {
        for e in elements {
            args.push(l.value(e, t)?);
        }
    } else if let OperandKind::Reg(r) = i.operands[1].kind {
        for e in 0..i.vec().min(l.register_elements(r)) {
            let v = l.read_reg(r, e);
            args.push(l.resize(v, crate::link::ty_of(t), false));
        }
    }
    if args.len() != access.operands().len() {
        return l.fail(ErrorClass::Invalid, i.span, "the operand must have as many elements as the access");
    }
    l.op(Op::Texture(access), &args);
    Ok(())
}

pub fn reduce(l: &mut Lower, i: &Instruction) -> Result<()> {
    let (mut access, t) = surface(l, i, Operation::Reduce)?;
    access.reduction = named(i, Reduction::ALL, Reduction::name).unwrap_or_default();
    let (handle, parts) = object(l, i, &i.operands[0])?;
    let mut args = vec![handle];
    args.extend(coordinates(l, i, parts, access.geometry, ScalarType::B32)?);
    let value = i.operands[1].elements().first().unwrap_or(&i.operands[1]);
    args.push(l.value(value, t)?);
    l.op(Op::Texture(access), &args);
    Ok(())
}
