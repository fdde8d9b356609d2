//! Matrix instructions of a warp and of a warpgroup (PTX ISA 9.7.14 and 9.7.15), except `wmma`.

use ptx::ast::{Instruction, Operand, OperandKind};
use ptx::{Modifier as M, ScalarType};
use tensor::{Action, Bits, Format, Kind, Matrix, Mma, Movement, Round, Rows, Source, Wgmma, shape};
use wave::op::{IntOp, Op, SReg, ShiftOp, Space};
use wave::{Ty, Value};

use crate::error::ErrorClass;
use crate::function::{Lower, Result};

/// The registers of a fragment.
pub fn fragment(operand: &Operand) -> &[Operand] {
    match operand.kind {
        OperandKind::Vector(_) => operand.elements(),
        _ => std::slice::from_ref(operand),
    }
}

/// Reads `count` registers of `bits` bits.
pub fn read(l: &mut Lower, operand: &Operand, name: &str, count: usize, bits: u32) -> Result<Vec<Value>> {
    let registers = fragment(operand);
    if registers.len() != count {
        let given = registers.len();
        return l.fail(
            ErrorClass::Invalid,
            operand.span,
            format!("the fragment of {name} has {count} registers here, not {given}"),
        );
    }
    let t = if bits == 64 { ScalarType::B64 } else { ScalarType::B32 };
    registers.iter().map(|r| l.value(r, t)).collect()
}

/// Writes the registers of a result.
pub fn write(l: &mut Lower, operand: &Operand, values: &[Value]) -> Result<()> {
    let registers = fragment(operand);
    if registers.len() != values.len() {
        let (count, given) = (values.len(), registers.len());
        return l.fail(
            ErrorClass::Invalid,
            operand.span,
            format!("the fragment of d has {count} registers here, not {given}"),
        );
    }
    registers.iter().zip(values).try_for_each(|(r, &v)| l.write_dest(r, v, false))
}

/// The shape and the formats that an instruction names, the latter in the order d, a, b, c.
fn named(l: &mut Lower, i: &Instruction) -> Result<Mma> {
    let mut formats = i.modifiers.iter().filter_map(|m| Format::from_name(m.name()));
    let mut format = || formats.next();
    let found = i.modifiers.iter().find_map(|m| shape(m.name()));
    let (Some((m, n, k)), Some(d), Some(a), Some(b), Some(c)) =
        (found, format(), format(), format(), format())
    else {
        return l.unsupported(i, "a matrix instruction requires a shape and four types");
    };
    let mut layouts = i.modifiers.iter().filter(|m| matches!(m, M::Row | M::Col));
    Ok(Mma {
        m,
        n,
        k,
        a,
        b,
        c,
        d,
        a_by_column: layouts.next() == Some(&M::Col),
        b_by_row: layouts.next() == Some(&M::Row),
        saturate: i.has(M::Satfinite),
        round: i.modifiers.iter().find_map(|m| Round::from_name(m.name())).unwrap_or_default(),
        bits: if i.has(M::Xor) { Bits::Xor } else { Bits::And },
        ..Mma::default()
    })
}

/// Emits the operation on registers. Sums of floats are relaxed unless the hardware's bits are requested.
pub fn product(l: &mut Lower, mma: Mma, registers: Vec<Value>) -> Vec<Value> {
    let mma = if l.linked.exact { mma } else { mma.relaxed() };
    emit(l, Matrix::Mma(mma), registers)
}

fn emit(l: &mut Lower, matrix: Matrix, mut registers: Vec<Value>) -> Vec<Value> {
    let members = l.constant(Ty::I32, 0xffff_ffff);
    registers.push(members);
    l.op(Op::Matrix(matrix), &registers)
}

/// `mma.sync` and `mma.sp.sync`: d, a, b, c{, metadata, selector}.
pub fn mma(l: &mut Lower, i: &Instruction) -> Result<()> {
    let mut mma = named(l, i)?;
    mma.kind = kind(i);
    mma.sparse = i.modifiers.iter().any(|m| m.name().starts_with("sp"));
    let bytes = matches!(mma.a, Format::E4M3 | Format::E5M2);
    if (mma.kind, mma.sparse, mma.d, bytes) == (Kind::Plain, true, Format::F16, true) {
        // Only sm_120 has these products, with or without `.kind`.
        mma.kind = Kind::F8f6f4;
    }
    if mma.sparse {
        mma.selector = immediate(l, i.operands.get(5), mma.selectors().max(1))?;
    }
    if !mma.is_legal() {
        return l.fail(ErrorClass::Invalid, i.span, "these types are not legal with this shape");
    }
    let [a, b, c, _] = mma.counts();
    let mut registers = Vec::new();
    for (operand, name, count, format) in [(1, "a", a, mma.a), (2, "b", b, mma.b), (3, "c", c, mma.c)] {
        registers.extend(read(l, &i.operands[operand], name, count, format.bits())?);
    }
    let mut after = 4;
    if mma.sparse {
        registers.push(l.value(&i.operands[4], ScalarType::B32)?);
        after = 6;
    }
    if mma.kind.factors() > 0 {
        factors(l, i, mma, &i.operands[after..], &mut registers)?;
    }
    let d = product(l, mma, registers);
    write(l, &i.operands[0], &d)
}

/// The kind of a product of narrow floats.
fn kind(i: &Instruction) -> Kind {
    let has = |word: &str| i.modifiers.iter().any(|m| m.name() == word);
    match () {
        () if has("kind::f8f6f4") => Kind::F8f6f4,
        () if has("kind::mxf8f6f4") => Kind::Mxf8f6f4,
        () if has("kind::mxf4") => Kind::Mxf4,
        () if has("kind::mxf4nvf4") && has("ue4m3") => Kind::Nvf4,
        () if has("kind::mxf4nvf4") && has("scale_vec::4X") => Kind::Mxf4Fine,
        () if has("kind::mxf4nvf4") => Kind::Mxf4,
        () => Kind::Plain,
    }
}

/// `scale-a, {byte, lane}, scale-b, {byte, lane}`. Bytes and lanes are constants or 16-bit registers.
fn factors(
    l: &mut Lower,
    i: &Instruction,
    mma: Mma,
    operands: &[Operand],
    to: &mut Vec<Value>,
) -> Result<()> {
    let [a, a_at, b, b_at] = operands else {
        return l.fail(ErrorClass::Invalid, i.span, "the scale factors of a and b are missing");
    };
    let mut ids = l.constant(Ty::I32, 0);
    for (name, words, at, shift, lanes) in [("a", a, a_at, 0, 2), ("b", b, b_at, 8, 4)] {
        to.extend(read(l, words, &format!("{name}'s factors"), 1, 32)?);
        let [byte, lane] = fragment(at) else {
            return l.fail(ErrorClass::Invalid, at.span, "expected a byte and a lane, like {0, 0}");
        };
        let byte = selector(l, byte, 4, mma.kind.factors() as u8)?;
        let lane = selector(l, lane, lanes, 1)?;
        for (value, up) in [(byte, shift), (lane, shift + 2)] {
            let up = l.constant(Ty::I32, up);
            let value = l.op1(Op::Shift(ShiftOp::Shl, Ty::I32), &[value, up]);
            ids = l.op1(Op::Int(IntOp::Or, Ty::I32), &[ids, value]);
        }
    }
    to.push(ids);
    Ok(())
}

/// A multiple of `step` below `limit`: a constant, which is checked, or a register, which is masked to such
/// values.
fn selector(l: &mut Lower, operand: &Operand, limit: u8, step: u8) -> Result<Value> {
    if let OperandKind::Int(_) = operand.kind {
        let value = immediate(l, Some(operand), limit)?;
        if value % step != 0 {
            return l.fail(ErrorClass::Invalid, operand.span, format!("expected a multiple of {step}"));
        }
        return Ok(l.constant(Ty::I32, u128::from(value)));
    }
    let value = l.value(operand, ScalarType::U16)?;
    let value = l.resize(value, Ty::I32, false);
    let bits = l.constant(Ty::I32, u128::from(limit - step));
    Ok(l.op1(Op::Int(IntOp::And, Ty::I32), &[value, bits]))
}

/// An immediate below `limit`.
fn immediate(l: &mut Lower, operand: Option<&Operand>, limit: u8) -> Result<u8> {
    let Some(operand) = operand else { return Ok(0) };
    let value = match operand.kind {
        OperandKind::Int(v) => u8::try_from(v.bits).ok().filter(|&v| v < limit),
        _ => None,
    };
    match value {
        Some(v) => Ok(v),
        None => {
            let least = limit.saturating_sub(1);
            l.fail(ErrorClass::Invalid, operand.span, format!("expected a number from 0 to {least}"))
        }
    }
}

/// The address operand as an offset in shared memory.
fn row_address(l: &mut Lower, i: &Instruction, operand: &Operand) -> Result<Value> {
    let (base, offset, implied) = l.address(operand)?;
    let address = l.offset(base, offset);
    let shared = i.space().is_some() || implied == Some(Space::Shared);
    let address = if shared { address } else { l.op1(Op::FromGeneric(Space::Shared), &[address]) };
    Ok(l.resize(address, Ty::I32, false))
}

/// The movement that `ldmatrix` or `stmatrix` describes.
fn movement(l: &mut Lower, i: &Instruction, action: Action) -> Result<Movement> {
    let named = |words: &[&str]| i.modifiers.iter().find_map(|m| words.iter().position(|w| *w == m.name()));
    let rows = i.modifiers.iter().find_map(|m| Rows::from_name(m.name())).unwrap_or_default();
    let source = i.modifiers.iter().find_map(|m| Source::from_name(m.name())).unwrap_or_default();
    let count = named(&["x1", "x2", "x4"]).unwrap_or(0) as u8;
    // m8n8 moves 16-bit elements, the other shapes move bytes.
    let bytes = !i.modifiers.iter().any(|m| m.name() == "b16");
    let movement = Movement { action, rows, count, transposed: i.has(M::Trans), source };
    if !movement.is_legal() || bytes != (rows != Rows::M8n8) {
        return l.fail(
            ErrorClass::Invalid,
            i.span,
            "this shape and type do not go together: .m8n8 moves .b16, the other shapes move .b8",
        );
    }
    Ok(movement)
}

pub fn load(l: &mut Lower, i: &Instruction) -> Result<()> {
    let movement = movement(l, i, Action::Load)?;
    let address = row_address(l, i, &i.operands[1])?;
    let values = emit(l, Matrix::Move(movement), vec![address]);
    write(l, &i.operands[0], &values)
}

pub fn store(l: &mut Lower, i: &Instruction) -> Result<()> {
    let movement = movement(l, i, Action::Store)?;
    let mut operands = vec![row_address(l, i, &i.operands[0])?];
    operands.extend(read(l, &i.operands[1], "the matrices", movement.registers(), 32)?);
    emit(l, Matrix::Move(movement), operands);
    Ok(())
}

pub fn transpose(l: &mut Lower, i: &Instruction) -> Result<()> {
    let movement = Movement { action: Action::Transpose, transposed: true, ..Movement::default() };
    let v = l.value(&i.operands[1], ScalarType::B32)?;
    let values = emit(l, Matrix::Move(movement), vec![v]);
    write(l, &i.operands[0], &values)
}

/// `wgmma.mma_async`: d, a, b{, metadata, selector}, scale-d{, scale-a, scale-b{, trans-a}{, trans-b}}. The
/// product completes synchronously: whatever orders memory around it (`wgmma.fence`, barriers) has run
/// before, and waiting emits nothing.
pub fn warpgroup(l: &mut Lower, i: &Instruction) -> Result<()> {
    if !i.modifiers.iter().any(|m| m.name() == "mma_async") {
        return Ok(());
    }
    let mut formats = i.modifiers.iter().filter_map(|m| Format::from_name(m.name()));
    let found = i.modifiers.iter().find_map(|m| shape(m.name()));
    let (Some((_, n, k)), Some(d), Some(a), Some(b)) =
        (found, formats.next(), formats.next(), formats.next())
    else {
        return l.unsupported(i, "a product requires a shape and three types");
    };
    let sparse = i.modifiers.iter().any(|m| m.name().starts_with("sp"));
    let mut product =
        Mma { m: 16, n, k, a, b, c: d, d, sparse, saturate: i.has(M::Satfinite), ..Mma::default() };
    let a_in_shared = !matches!(i.operands[1].kind, OperandKind::Vector(_));
    let after = if sparse { 5 } else { 3 };
    if sparse {
        product.selector = immediate(l, i.operands.get(4), product.selectors())?;
    }
    let mut rest = i.operands.iter().skip(after + 1);
    let (mut negate_a, mut negate_b) = (false, false);
    if a.layout().is_some() {
        negate_a = is_minus(l, rest.next())?;
        negate_b = is_minus(l, rest.next())?;
    }
    if matches!(a, Format::F16 | Format::BF16) {
        if a_in_shared {
            product.a_by_column = immediate(l, rest.next(), 2)? == 1;
        }
        product.b_by_row = immediate(l, rest.next(), 2)? == 1;
    }
    let wgmma = Wgmma { product, a_in_shared, negate_a, negate_b };
    if let (false, _) | (_, Some(_)) = (wgmma.is_legal(), rest.next()) {
        return l.fail(ErrorClass::Invalid, i.span, "these types or operands are not legal with this shape");
    }
    let [ra, _, _, rd] = product.counts();
    let mut operands = vec![l.op1(Op::Special(SReg::WarpId), &[])];
    if a_in_shared {
        operands.push(l.value(&i.operands[1], ScalarType::B64)?);
    } else {
        operands.extend(read(l, &i.operands[1], "a", ra, 32)?);
    }
    operands.push(l.value(&i.operands[2], ScalarType::B64)?);
    if sparse {
        operands.push(l.value(&i.operands[3], ScalarType::B32)?);
    }
    let Some(scale) = i.operands.get(after) else { return l.unsupported(i, "") };
    let scale = l.value(scale, ScalarType::Pred)?;
    operands.push(l.resize(scale, Ty::I32, false));
    operands.extend(read(l, &i.operands[0], "d", rd, 32)?);
    let wgmma = if l.linked.exact { wgmma } else { Wgmma { product: product.relaxed(), ..wgmma } };
    let values = emit(l, Matrix::Wgmma(wgmma), operands);
    write(l, &i.operands[0], &values)
}

/// Whether the scale factor is −1 rather than 1.
fn is_minus(l: &mut Lower, operand: Option<&Operand>) -> Result<bool> {
    let Some(operand) = operand else { return Ok(false) };
    match operand.kind {
        OperandKind::Int(v) if v.value() == 1 => Ok(false),
        OperandKind::Int(v) if v.bits as i64 == -1 => Ok(true),
        _ => l.fail(ErrorClass::Invalid, operand.span, "1 or -1 is expected"),
    }
}
