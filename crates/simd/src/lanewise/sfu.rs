//! The special function unit, bit for bit (`wave::sfu`): table entries are gathered, and sums are exact in
//! f64.

use wave::op::SfuOp;
use wave::types::Fmt;
use wave::{Ty, sfu};

use super::Emit;
use crate::ir::{Bin, Cast, Cmp, Elem, Fcmp, Global, Initialiser, Lanes, Name, Operand, Type};

const I: Ty = Ty::I32;
const SIGN: u128 = 1 << 31;
const INFINITY: u128 = 0x7f80_0000;
const ONE: u128 = 0x3f80_0000;
const NAN: u128 = 0x7fff_ffff;
const LEADING: u128 = 1 << 23;
const FRACTION: u128 = LEADING - 1;

/// The parts of the operand.
struct Parts {
    bits: Operand,
    sign: Operand,
    /// The bits without the sign.
    size: Operand,
    exponent: Operand,
    fraction: Operand,
}

/// Operations on i32 with constants.
impl Emit<'_> {
    fn with(&mut self, op: Bin, a: Operand, literal: u128) -> Operand {
        let l = self.lit(I, literal);
        self.bin(op, a, l)
    }

    fn from(&mut self, literal: u128, a: Operand) -> Operand {
        let l = self.lit(I, literal);
        self.bin(Bin::Sub, l, a)
    }

    fn is(&mut self, cmp: Cmp, a: Operand, literal: u128) -> Operand {
        let l = self.lit(I, literal);
        self.icmp(cmp, a, l)
    }

    /// `literal` if `c` holds, otherwise `other`.
    fn unless(&mut self, c: Operand, literal: u128, other: Operand) -> Operand {
        let l = self.lit(I, literal);
        self.select(c, l, other)
    }

    /// Converts to another element type.
    fn convert(&mut self, how: Cast, a: Operand, to: Elem) -> Operand {
        self.ir.cast(how, a, a.ty().with(to))
    }
}

const DOUBLE: Elem = Elem::Float(Fmt::F64);

/// A coefficient of a piece, as f64.
fn coefficient(e: &mut Emit, op: SfuOp, which: usize, piece: Operand) -> Operand {
    let pieces = sfu::pieces(op);
    // c1 and c2 fit into an f32.
    let ty = Type::One(Elem::Float(if which == 0 { Fmt::F64 } else { Fmt::F32 }));
    let values =
        pieces.iter().map(|&(c0, c1, c2)| [c0 as f64, f64::from(c1), f64::from(c2)][which]).map(f64::to_bits);
    let table = if op == SfuOp::Cos { SfuOp::Sin } else { op };
    let name = Name::numbered(table.name(), which);
    let table = e.ir.global(Global { name, value: Initialiser::Floats(ty, values.collect()), align: 64 });
    let at = e.ir.element(ty, table, piece);
    let value = if e.lanes == Lanes::One {
        e.ir.load(ty, at)
    } else {
        let width = e.ir.width;
        e.ir.gather(width.vector_of(ty.elem()), at, width.all(), ty.bytes())
    };
    e.convert(Cast::FpExt, value, DOUBLE)
}

/// [`sfu::square`].
fn square(e: &mut Emit, y: Operand) -> Operand {
    let mut sum: Option<Operand> = None;
    for j in 9..16u32 {
        let low = e.with(Bin::And, y, (1 << j) - 1);
        let low = e.with(Bin::LShr, low, u128::from(16 - j));
        let term = e.with(Bin::Add, low, 1 << (2 * j - 17));
        let bit = e.with(Bin::Shl, y, u128::from(31 - j));
        let all = e.with(Bin::AShr, bit, 31);
        let term = e.bin(Bin::And, term, all);
        sum = Some(match sum {
            None => term,
            Some(sum) => e.bin(Bin::Add, sum, term),
        });
    }
    sum.unwrap_or(Operand::zero(y.ty()))
}

/// `c0 + c1 x + c2 s(x)` as f64; `x` has `bits` bits. All products and sums are exact.
fn interpolate(e: &mut Emit, op: SfuOp, piece: Operand, x: Operand, bits: u32) -> Operand {
    // In inactive lanes, and for operands handled separately, the piece may be out of range.
    let last = e.with(Bin::And, piece, (sfu::pieces(op).len().next_power_of_two() - 1) as u128);
    let piece = e.lit(I, sfu::pieces(op).len() as u128 - 1);
    let piece = e.math("llvm.umin", &[last, piece]);
    let y = e.with(Bin::LShr, x, u128::from(bits - 16));
    let s = square(e, y);
    let (x, s) = (e.convert(Cast::SiToFp, x, DOUBLE), e.convert(Cast::SiToFp, s, DOUBLE));
    let [c0, c1, c2] = [0, 1, 2].map(|n| coefficient(e, op, n, piece));
    let sum = e.math("llvm.fma", &[c2, s, c0]);
    e.math("llvm.fma", &[c1, x, sum])
}

/// Interpolates with the piece that the upper bits of a 23-bit fraction select.
fn by_fraction(e: &mut Emit, op: SfuOp, first: Option<Operand>, fraction: Operand) -> Operand {
    let mut piece = e.with(Bin::LShr, fraction, 17);
    if let Some(first) = first {
        piece = e.bin(Bin::Add, piece, first);
    }
    let x = e.with(Bin::And, fraction, 0x1_ffff);
    interpolate(e, op, piece, x, 17)
}

fn scaled(e: &mut Emit, v: Operand, power: i32) -> Operand {
    let factor = e.flit(Fmt::F64, u128::from(f64::from(power).exp2().to_bits()));
    e.bin(Bin::FMul, v, factor)
}

/// A normal number from its exponent and a sum that is its significand.
fn with_exponent(e: &mut Emit, exponent: Operand, sum: Operand) -> Operand {
    let v = scaled(e, sum, -(sfu::GUARD as i32));
    let significand = e.convert(Cast::FpToSi, v, Elem::of(I));
    let below = e.with(Bin::Sub, significand, LEADING);
    let exponent = e.with(Bin::Shl, exponent, 23);
    e.bin(Bin::Add, exponent, below)
}

/// `sum * 2^unit`, truncated to 24 bits; `sum` must not be negative.
fn cut(e: &mut Emit, sum: Operand, unit: i32) -> Operand {
    let v = scaled(e, sum, unit);
    let bits = e.as_bits(Fmt::F64, v);
    let mask = e.lit(Ty::I64, !((1 << 29) - 1));
    let bits = e.bin(Bin::And, bits, mask);
    let v = e.as_float(Fmt::F64, bits);
    let r = e.convert(Cast::FpTrunc, v, Elem::Float(Fmt::F32));
    e.as_bits(Fmt::F32, r)
}

/// Emits one operation, from bits to bits.
pub fn emit(e: &mut Emit, op: SfuOp, bits: Operand) -> Operand {
    let bits = e.ir.freeze(bits);
    let size = e.with(Bin::And, bits, SIGN - 1);
    let sign = e.with(Bin::And, bits, SIGN);
    let exponent = e.with(Bin::LShr, size, 23);
    let fraction = e.with(Bin::And, bits, FRACTION);
    let p = Parts { bits, sign, size, exponent, fraction };
    let r = match op {
        SfuOp::Rcp => reciprocal(e, &p),
        SfuOp::Rsqrt | SfuOp::Sqrt => root(e, op, &p),
        SfuOp::Lg2 => logarithm(e, &p),
        SfuOp::Ex2 => exponential(e, &p),
        SfuOp::Sin | SfuOp::Cos => circular(e, op == SfuOp::Cos, &p),
        SfuOp::Tanh => tanh(e, &p),
    };
    let nan = e.is(Cmp::Ugt, p.size, INFINITY);
    e.unless(nan, NAN, r)
}

fn reciprocal(e: &mut Emit, p: &Parts) -> Operand {
    let piece = e.with(Bin::LShr, p.fraction, 16);
    let x = e.with(Bin::And, p.fraction, 0xffff);
    let sum = interpolate(e, SfuOp::Rcp, piece, x, 16);
    let exponent = e.from(253, p.exponent);
    let r = with_exponent(e, exponent, sum);
    // Powers of 2 are exact. Results below 2^-126 are zero.
    let exact = e.from(254 << 23, p.size);
    let power = e.is(Cmp::Eq, p.fraction, 0);
    let r = e.select(power, exact, r);
    let tiny = e.is(Cmp::Ugt, p.size, 253 << 23);
    let r = e.unless(tiny, 0, r);
    let zero = e.is(Cmp::Ult, p.size, LEADING);
    let r = e.unless(zero, INFINITY, r);
    e.bin(Bin::Or, r, p.sign)
}

fn root(e: &mut Emit, op: SfuOp, p: &Parts) -> Operand {
    let rsqrt = op == SfuOp::Rsqrt;
    // The operand is in [1, 2) or [2, 4) times 4^half.
    let next = e.with(Bin::Add, p.exponent, 1);
    let half = e.with(Bin::LShr, next, 1);
    let odd = e.with(Bin::And, next, 1);
    let first = e.with(Bin::Shl, odd, 6);
    let sum = by_fraction(e, op, Some(first), p.fraction);
    let exponent = if rsqrt { e.from(190, half) } else { e.with(Bin::Add, half, 63) };
    let mut r = with_exponent(e, exponent, sum);
    if rsqrt {
        let exponent = e.from(191, half);
        let exact = e.with(Bin::Shl, exponent, 23);
        let rest = e.with(Bin::And, p.size, (1 << 24) - 1);
        let power = e.is(Cmp::Eq, rest, LEADING);
        r = e.select(power, exact, r);
    }
    let infinite = e.is(Cmp::Eq, p.bits, INFINITY);
    r = e.unless(infinite, if rsqrt { 0 } else { INFINITY }, r);
    let negative = e.is(Cmp::Ne, p.sign, 0);
    r = e.unless(negative, NAN, r);
    let zero = e.is(Cmp::Ult, p.size, LEADING);
    let of_zero = e.with(Bin::Or, p.sign, if rsqrt { INFINITY } else { 0 });
    e.select(zero, of_zero, r)
}

fn logarithm(e: &mut Emit, p: &Parts) -> Operand {
    let sum = by_fraction(e, SfuOp::Lg2, None, p.fraction);
    let power = e.with(Bin::Sub, p.exponent, 127);
    let whole = e.convert(Cast::SiToFp, power, DOUBLE);
    let whole = scaled(e, whole, 23 + sfu::GUARD as i32);
    let sum = e.bin(Bin::FAdd, whole, sum);
    let dropped = sfu::LG2_DROPPED as i32;
    let sum = scaled(e, sum, -dropped);
    let sum = e.math("llvm.floor", &[sum]);
    // Like the hardware, complement a negative sum instead of negating it.
    let minus_one = e.flit(Fmt::F64, u128::from((-1f64).to_bits()));
    let complement = e.bin(Bin::FSub, minus_one, sum);
    let zero = e.flit(Fmt::F64, 0);
    let below = e.fcmp(Fcmp::Olt, sum, zero);
    let size = e.select(below, complement, sum);
    let r = cut(e, size, dropped - 23 - sfu::GUARD as i32);
    let negated = e.with(Bin::Or, r, SIGN);
    let r = e.select(below, negated, r);
    let one = e.is(Cmp::Eq, p.bits, ONE);
    let r = e.unless(one, 0, r);
    let infinite = e.is(Cmp::Eq, p.bits, INFINITY);
    let r = e.unless(infinite, INFINITY, r);
    let negative = e.is(Cmp::Ne, p.sign, 0);
    let r = e.unless(negative, NAN, r);
    let zero = e.is(Cmp::Ult, p.size, LEADING);
    e.unless(zero, SIGN | INFINITY, r)
}

fn exponential(e: &mut Emit, p: &Parts) -> Operand {
    // The operand in units of 2^-23. Operands from 2^8 on are handled separately.
    let significand = e.with(Bin::Or, p.fraction, LEADING);
    let up = e.with(Bin::Sub, p.exponent, 127);
    let seven = e.lit(I, 7);
    let up = e.math("llvm.umin", &[up, seven]);
    let down = e.from(127, p.exponent);
    let all = e.lit(I, 31);
    let down = e.math("llvm.umin", &[down, all]);
    let larger = e.bin(Bin::Shl, significand, up);
    let smaller = e.bin(Bin::LShr, significand, down);
    let above = e.is(Cmp::Uge, p.exponent, 127);
    let size = e.select(above, larger, smaller);
    // Like the hardware, complement a negative operand that is not an integer instead of negating it.
    let rest = e.with(Bin::And, size, FRACTION);
    let whole = e.is(Cmp::Eq, rest, 0);
    let complement = e.with(Bin::Xor, size, I.mask());
    let negated = e.from(0, size);
    let below = e.select(whole, negated, complement);
    let negative = e.is(Cmp::Ne, p.sign, 0);
    let x = e.select(negative, below, size);
    let power = e.with(Bin::AShr, x, 23);
    let exponent = e.with(Bin::Add, power, 127);
    let fraction = e.with(Bin::And, x, FRACTION);
    let sum = by_fraction(e, SfuOp::Ex2, None, fraction);
    let r = with_exponent(e, exponent, sum);
    let under = e.is(Cmp::Slt, exponent, 1);
    let r = e.unless(under, 0, r);
    let over = e.is(Cmp::Sgt, exponent, 254);
    let r = e.unless(over, INFINITY, r);
    let huge = e.is(Cmp::Uge, p.exponent, 135);
    let infinite = e.lit(I, INFINITY);
    let of_huge = e.unless(negative, 0, infinite);
    e.select(huge, of_huge, r)
}

/// Sine or cosine of an operand in turns.
fn circular(e: &mut Emit, cosine: bool, p: &Parts) -> Operand {
    // In units of 2^-25; whole turns drop out.
    let significand = e.with(Bin::Or, p.fraction, LEADING);
    let up = e.with(Bin::Sub, p.exponent, 125);
    let down = e.from(125, p.exponent);
    let all = e.lit(I, 31);
    let up = e.math("llvm.umin", &[up, all]);
    let down = e.math("llvm.umin", &[down, all]);
    let larger = e.bin(Bin::Shl, significand, up);
    let smaller = e.bin(Bin::LShr, significand, down);
    let above = e.is(Cmp::Uge, p.exponent, 125);
    let turn = e.select(above, larger, smaller);
    let quarter = e.with(Bin::LShr, turn, 23);
    let quarter = if cosine { e.with(Bin::Add, quarter, 1) } else { quarter };
    let way = e.with(Bin::And, turn, FRACTION);
    let odd = e.with(Bin::Shl, quarter, 31);
    let odd = e.is(Cmp::Ne, odd, 0);
    let back = e.with(Bin::Xor, way, FRACTION);
    let near = e.select(odd, back, way);
    let sum = by_fraction(e, SfuOp::Sin, None, near);
    let r = cut(e, sum, -24 - sfu::GUARD as i32);
    let start = e.is(Cmp::Eq, way, 0);
    let top = e.bin(Bin::And, odd, start);
    let r = e.unless(top, ONE, r);
    let half = e.with(Bin::LShr, quarter, 1);
    let flip = e.with(Bin::Shl, half, 31);
    let r = e.bin(Bin::Or, r, flip);
    let r = if cosine { r } else { e.bin(Bin::Xor, r, p.sign) };
    let infinite = e.is(Cmp::Eq, p.size, INFINITY);
    e.unless(infinite, NAN, r)
}

fn tanh(e: &mut Emit, p: &Parts) -> Operand {
    let binade = e.with(Bin::Sub, p.exponent, u128::from(sfu::TANH_FIRST));
    // The number of pieces (as a logarithm) and the first one, by binade.
    let (mut log, mut first) = (e.lit(I, 0), e.lit(I, 0));
    for (n, (l, f)) in sfu::TANH_BINADES.into_iter().enumerate().skip(1) {
        let from = e.is(Cmp::Sge, binade, n as u128);
        log = e.unless(from, l.into(), log);
        first = e.unless(from, f.into(), first);
    }
    let drop = e.from(6, log);
    let upper = e.bin(Bin::LShr, p.fraction, drop);
    let sum = by_fraction(e, SfuOp::Tanh, Some(first), upper);
    let r = cut(e, sum, -24 - sfu::GUARD as i32);
    let r = e.bin(Bin::Or, r, p.sign);
    let small = e.is(Cmp::Slt, binade, 0);
    let r = e.select(small, p.bits, r);
    let large = e.is(Cmp::Uge, p.exponent, 130);
    let one = e.with(Bin::Or, p.sign, ONE);
    e.select(large, one, r)
}
