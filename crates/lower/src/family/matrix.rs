//! Matrix instructions of a warp (PTX ISA 9.7.14).

use ptx::ast::{Instruction, Operand, OperandKind};
use ptx::{Modifier as M, ScalarType};
use tensor::{Bits, Format, Mma, shape};
use wave::op::Op;
use wave::{Ty, Value};

use crate::error::ErrorClass;
use crate::function::{Lower, Result};

/// The registers of a fragment.
fn fragment(operand: &Operand) -> &[Operand] {
    match operand.kind {
        OperandKind::Vector(_) => operand.elements(),
        _ => std::slice::from_ref(operand),
    }
}

/// Reads `count` registers of `bits` bits.
fn read(l: &mut Lower, operand: &Operand, name: &str, count: usize, bits: u32) -> Result<Vec<Value>> {
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
fn write(l: &mut Lower, operand: &Operand, values: &[Value]) -> Result<()> {
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

/// The shape and the formats that an instruction names; in the order of d, a, b, c.
fn named(l: &mut Lower, i: &Instruction) -> Result<Mma> {
    let mut formats = i.modifiers.iter().filter_map(|m| Format::of_name(m.name()));
    let mut format = || formats.next();
    let found = i.modifiers.iter().find_map(|m| shape(m.name()));
    let (Some((m, n, k)), Some(d), Some(a), Some(b), Some(c)) =
        (found, format(), format(), format(), format())
    else {
        return l.unsupported(i, "a matrix instruction has a shape and four types");
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
        bits: if i.has(M::Xor) { Bits::Xor } else { Bits::And },
        ..Mma::default()
    })
}

/// Emits the operation on registers.
fn product(l: &mut Lower, mma: Mma, mut registers: Vec<Value>) -> Vec<Value> {
    let members = l.constant(Ty::I32, 0xffff_ffff);
    registers.push(members);
    l.op(Op::Mma(mma), &registers)
}

/// `mma.sync` and `mma.sp.sync`: d, a, b, c{, metadata, selector}.
pub fn mma(l: &mut Lower, i: &Instruction) -> Result<()> {
    if i.modifiers.iter().any(|m| m.name().starts_with("kind::")) {
        return l.unsupported(i, "matrix instructions of sm_120 with a kind");
    }
    let mut mma = named(l, i)?;
    mma.sparse = i.modifiers.iter().any(|m| m.name().starts_with("sp"));
    if mma.sparse {
        mma.selector = immediate(l, i.operands.get(5), mma.selectors())?;
    }
    if !mma.is_legal() {
        return l.fail(ErrorClass::Invalid, i.span, "this shape does not have these types");
    }
    let [a, b, c, _] = mma.counts();
    let mut registers = Vec::new();
    for (operand, name, count, format) in [(1, "a", a, mma.a), (2, "b", b, mma.b), (3, "c", c, mma.c)] {
        registers.extend(read(l, &i.operands[operand], name, count, format.bits())?);
    }
    if mma.sparse {
        registers.push(l.value(&i.operands[4], ScalarType::B32)?);
    }
    let d = product(l, mma, registers);
    write(l, &i.operands[0], &d)
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
            l.fail(ErrorClass::Invalid, operand.span, format!("a number from 0 to {least} is expected"))
        }
    }
}
