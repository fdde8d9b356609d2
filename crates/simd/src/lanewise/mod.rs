//! Lane-wise operations as LLVM IR, for one lane or thirty-two.
//!
//! The meaning is that of `wave::op`: every operation is total, floats are the hardware's. No fast-math flag is ever written.

mod approx;
mod bits;
mod convert;
mod float;
mod int;
mod round;
mod sfu;

pub use int::predicate;

use wave::op::Op;
use wave::{LANES, Ty};

pub use round::control_word;

use crate::text::{Lanes, Text, int as int_type, literal};

/// What an operation cannot be written for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported(pub String);

/// What emission answers.
pub type Result<T> = std::result::Result<T, Unsupported>;

/// The state of emitting one operation.
pub struct Emit<'a> {
    /// Where lines go.
    pub text: &'a mut Text,
    /// For how many lanes.
    pub lanes: Lanes,
    /// The processor has AVX-512.
    pub avx512: bool,
    /// An f32 result may be any NaN: its readers see none of its bits.
    pub any_nan: bool,
    /// The processor flushes subnormal operands and results of f32 arithmetic.
    pub flushes: bool,
}

/// An operand of 32 bits that is known: a literal, for one lane or all.
fn known(operand: &str) -> Option<u32> {
    let number = operand.strip_prefix("splat (i32 ").and_then(|s| s.strip_suffix(')')).unwrap_or(operand);
    number.parse::<u32>().ok().or_else(|| number.parse::<i32>().ok().map(|v| v as u32))
}

impl Emit<'_> {
    /// `op ty a, b`.
    pub fn bin(&mut self, op: &str, ty: Ty, a: &str, b: &str) -> String {
        let t = int_type(ty, self.lanes);
        self.text.def(format!("{op} {t} {a}, {b}"))
    }

    /// A literal.
    pub fn lit(&self, ty: Ty, v: u128) -> String {
        literal(ty, self.lanes, v)
    }

    /// `icmp`.
    pub fn icmp(&mut self, cmp: &str, ty: Ty, a: &str, b: &str) -> String {
        let t = int_type(ty, self.lanes);
        self.text.def(format!("icmp {cmp} {t} {a}, {b}"))
    }

    /// `select`.
    pub fn select(&mut self, ty: Ty, c: &str, a: &str, b: &str) -> String {
        let t = int_type(ty, self.lanes);
        let p = int_type(Ty::I1, self.lanes);
        self.text.def(format!("select {p} {c}, {t} {a}, {t} {b}"))
    }

    /// A conversion between integer widths; nothing where they are equal.
    pub fn cast(&mut self, how: &str, from: Ty, to: Ty, a: &str) -> String {
        if from == to {
            return a.to_string();
        }
        let (f, t) = (int_type(from, self.lanes), int_type(to, self.lanes));
        let how = if to < from { "trunc" } else { how };
        self.text.def(format!("{how} {f} {a} to {t}"))
    }

    /// The suffix of overloaded intrinsics: `i32` or `v32i32`.
    pub fn suffix(&self, ty: Ty) -> String {
        match self.lanes {
            Lanes::One => format!("i{}", ty.bits()),
            Lanes::Warp => format!("v{LANES}i{}", ty.bits()),
        }
    }

    /// An intrinsic whose operands and result have one integer type.
    pub fn int_intrinsic(&mut self, name: &str, ty: Ty, args: &[&str]) -> String {
        let t = int_type(ty, self.lanes);
        let full = format!("llvm.{name}.{}", self.suffix(ty));
        let args: Vec<(String, String)> = args.iter().map(|a| (t.clone(), a.to_string())).collect();
        self.text.intrinsic(&t, &full, &args)
    }
}

/// Writes a pure lane-wise operation; its results.
pub fn emit(e: &mut Emit, op: &Op, args: &[String]) -> Result<Vec<String>> {
    let a = |i: usize| args.get(i).map_or("", String::as_str);
    let one = match *op {
        Op::Const { ty, bits } => e.lit(ty, bits),
        Op::Int(o, ty) => int::binary(e, o, ty, a(0), a(1)),
        Op::Shift(o, ty) => int::shift(e, o, ty, a(0), a(1)),
        Op::IntUn(o, ty) => int::unary(e, o, ty, a(0)),
        Op::Count(o, ty) => int::count(e, o, ty, a(0)),
        Op::AddCarry(ty) => return Ok(int::add_carry(e, ty, a(0), a(1), a(2))),
        Op::SubBorrow(ty) => return Ok(int::sub_borrow(e, ty, a(0), a(1), a(2))),
        Op::IntCmp(cmp, ty) => int::compare(e, cmp, ty, a(0), a(1)),
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
        Op::Sext { from, to } => e.cast("sext", from, to, a(0)),
        Op::Zext { from, to } => e.cast("zext", from, to, a(0)),
        Op::IntSat { from, from_signed, to, to_signed } => {
            int::saturate(e, from, from_signed, to, to_signed, a(0))
        }
        Op::FloatToInt { from, to, signed, round, ftz } => {
            convert::to_int(e, from, to, signed, round, ftz, a(0))?
        }
        Op::IntToFloat { from, signed, mode } => convert::from_int(e, from, signed, mode, a(0))?,
        Op::FloatToFloat { from, mode, relu } => convert::convert(e, from, mode, relu, a(0))?,
        Op::Select(ty) => e.select(ty, a(0), a(1), a(2)),
        Op::Pack { part, whole } => int::pack(e, part, whole, args),
        Op::Unpack { part, whole } => return Ok(int::unpack(e, part, whole, a(0))),
        ref other => return Err(Unsupported(format!("{other:?}"))),
    };
    Ok(vec![one])
}
