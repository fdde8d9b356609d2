//! Pure operations as LLVM IR, for one lane or all of them.
//!
//! The semantics are those of `wave::op`: every operation is total, and floats behave as on the hardware. No
//! fast-math flag is ever emitted.

mod approx;
mod bits;
mod convert;
mod float;
mod int;
mod round;
mod sfu;

pub use int::predicate;

use wave::Ty;
use wave::op::Op;

pub use round::control_word;

use crate::ir::{Bin, Builder, Cast, Cmp, Fcmp, Lanes, Operand, Type};

/// An operation for which there is no code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported(pub String);

/// The result of emission.
pub type Result<T> = std::result::Result<T, Unsupported>;

/// The state of emitting one operation.
pub struct Emit<'a> {
    /// The builder that instructions are appended to.
    pub ir: &'a mut Builder,
    /// One lane or all lanes.
    pub lanes: Lanes,
    /// Whether the processor has AVX-512.
    pub avx512: bool,
    /// An f32 result may be any NaN, because its readers do not depend on its bits.
    pub any_nan: bool,
    /// The processor flushes subnormal operands and results of f32 arithmetic.
    pub flushes: bool,
}

/// The value of a 32-bit operand that is constant, for one lane or all.
fn known(operand: Operand) -> Option<u32> {
    operand.as_int().map(|v| v as u32)
}

impl Emit<'_> {
    /// An operation on two operands of one type.
    pub fn bin(&mut self, op: Bin, a: Operand, b: Operand) -> Operand {
        self.ir.bin(op, a, b)
    }

    /// A constant.
    pub fn lit(&mut self, ty: Ty, v: u128) -> Operand {
        self.ir.literal(ty, self.lanes, v)
    }

    /// A comparison of integers.
    pub fn icmp(&mut self, cmp: Cmp, a: Operand, b: Operand) -> Operand {
        self.ir.icmp(cmp, a, b)
    }

    /// A comparison of floats.
    pub fn fcmp(&mut self, cmp: Fcmp, a: Operand, b: Operand) -> Operand {
        self.ir.fcmp(cmp, a, b)
    }

    /// `a` where the condition holds, else `b`.
    pub fn select(&mut self, c: Operand, a: Operand, b: Operand) -> Operand {
        self.ir.select(c, a, b)
    }

    /// Converts between integer widths: `how` widens; a narrower type truncates.
    pub fn cast(&mut self, how: Cast, to: Ty, a: Operand) -> Operand {
        let to = self.ir.width.int(to, self.lanes);
        let how = if to.elem().bits() < a.ty().elem().bits() { Cast::Trunc } else { how };
        self.ir.cast(how, a, to)
    }

    /// Calls an intrinsic whose operands and result have one type.
    pub fn math(&mut self, name: &'static str, args: &[Operand]) -> Operand {
        self.ir.intrinsic_of(name, args)
    }
}

/// Emits a pure operation and returns its results.
pub fn emit(e: &mut Emit, op: &Op, args: &[Operand]) -> Result<Vec<Operand>> {
    let a = |i: usize| args.get(i).copied().unwrap_or(Operand::poison(Type::Void));
    let one = match *op {
        Op::Const { ty, bits } => e.lit(ty, bits),
        Op::Int(o, ty) => int::binary(e, o, ty, a(0), a(1)),
        Op::Shift(o, ty) => int::shift(e, o, ty, a(0), a(1)),
        Op::IntUn(o, ty) => int::unary(e, o, ty, a(0)),
        Op::Count(o, ty) => int::count(e, o, ty, a(0)),
        Op::AddCarry(ty) => return Ok(int::add_carry(e, ty, a(0), a(1), a(2))),
        Op::SubBorrow(ty) => return Ok(int::sub_borrow(e, ty, a(0), a(1), a(2))),
        Op::IntCmp(cmp, _) => int::compare(e, cmp, a(0), a(1)),
        Op::Bfe { signed, ty } => bits::bfe(e, signed, ty, a(0), a(1), a(2)),
        Op::Bfi(ty) => bits::bfi(e, ty, a(0), a(1), a(2), a(3)),
        Op::Funnel { left, clamp } => bits::funnel(e, left, clamp, a(0), a(1), a(2)),
        Op::Lop3(table) => bits::lop3(e, table, a(0), a(1), a(2)),
        Op::Prmt(mode) => bits::prmt(e, mode, a(0), a(1), a(2)),
        Op::Fns => bits::fns(e, a(0), a(1), a(2)),
        Op::Dp4a { a_signed, b_signed } => int::dot(e, a(0), a(1), a(2), [a_signed, b_signed], 8, 0),
        Op::Dp2a { a_signed, b_signed, hi } => {
            int::dot(e, a(0), a(1), a(2), [a_signed, b_signed], 16, if hi { 2 } else { 0 })
        }
        Op::Float(o, mode) => float::binary(e, o, mode, a(0), a(1))?,
        Op::Fma(mode) => float::fma(e, mode, a(0), a(1), a(2))?,
        Op::FloatUn(o, mode) => float::unary(e, o, mode, a(0))?,
        Op::Approx { op, fmt, ftz } => approx::emit(e, op, fmt, ftz, a(0), a(1))?,
        Op::Sfu(op) => sfu::emit(e, op, a(0)),
        Op::FloatCmp { cmp, fmt, ftz } => float::compare(e, cmp, fmt, ftz, a(0), a(1)),
        Op::CopySign(fmt) => float::copysign(e, fmt, a(0), a(1)),
        Op::Sext { to, .. } => e.cast(Cast::SExt, to, a(0)),
        Op::Zext { to, .. } => e.cast(Cast::ZExt, to, a(0)),
        Op::IntSat { from, from_signed, to, to_signed } => {
            int::saturate(e, from, from_signed, to, to_signed, a(0))
        }
        Op::FloatToInt { from, to, signed, round, ftz } => {
            convert::to_int(e, from, to, signed, round, ftz, a(0))?
        }
        Op::IntToFloat { from, signed, mode } => convert::from_int(e, from, signed, mode, a(0))?,
        Op::FloatToFloat { from, mode, relu } => convert::convert(e, from, mode, relu, a(0))?,
        Op::Select(_) => e.select(a(0), a(1), a(2)),
        Op::Pack { part, whole } => int::pack(e, part, whole, args),
        Op::Unpack { part, whole } => return Ok(int::unpack(e, part, whole, a(0))),
        ref other => return Err(Unsupported(format!("{other:?}"))),
    };
    Ok(vec![one])
}
