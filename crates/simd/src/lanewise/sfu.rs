//! The special function unit to the bit (`wave::sfu`): pieces are gathered, sums are exact in f64.

use wave::op::SfuOp;
use wave::types::Fmt;
use wave::{Ty, sfu};

use super::Emit;
use crate::text::{Lanes, float as float_type, int as int_type};

const I: Ty = Ty::I32;
const SIGN: u128 = 1 << 31;
const INFINITY: u128 = 0x7f80_0000;
const ONE: u128 = 0x3f80_0000;
const NAN: u128 = 0x7fff_ffff;
const LEADING: u128 = 1 << 23;
const FRACTION: u128 = LEADING - 1;

/// The operand's parts.
struct Parts {
    bits: String,
    sign: String,
    /// The bits without the sign.
    size: String,
    exponent: String,
    fraction: String,
}

/// Emission over i32 with literals.
impl Emit<'_> {
    fn with(&mut self, op: &str, a: &str, literal: u128) -> String {
        let l = self.lit(I, literal);
        self.bin(op, I, a, &l)
    }

    fn from(&mut self, literal: u128, a: &str) -> String {
        let l = self.lit(I, literal);
        self.bin("sub", I, &l, a)
    }

    fn is(&mut self, cmp: &str, a: &str, literal: u128) -> String {
        let l = self.lit(I, literal);
        self.icmp(cmp, I, a, &l)
    }

    /// `literal` where `c` holds, else `other`.
    fn unless(&mut self, c: &str, literal: u128, other: &str) -> String {
        let l = self.lit(I, literal);
        self.select(I, c, &l, other)
    }

    fn convert(&mut self, how: &str, from: &str, a: &str, to: &str) -> String {
        self.text.def(format!("{how} {from} {a} to {to}"))
    }
}

fn double(e: &Emit) -> String {
    float_type(Fmt::F64, e.lanes)
}

/// One of the coefficients, by piece, as f64.
fn coefficient(e: &mut Emit, op: SfuOp, which: usize, piece: &str) -> String {
    let pieces = sfu::pieces(op);
    // c1 and c2 fit into an f32.
    let (ty, name) = if which == 0 { ("double", "c0") } else { ("float", ["", "c1", "c2"][which]) };
    let values: Vec<String> = pieces
        .iter()
        .map(|&(c0, c1, c2)| [c0 as f64, f64::from(c1), f64::from(c2)][which])
        .map(|v| format!("{ty} {:#018x}", v.to_bits()))
        .collect();
    let table = if op == SfuOp::Cos { SfuOp::Sin } else { op };
    let global = format!("@{}.{name}", table.name());
    e.text.declarations.insert(format!(
        "{global} = internal constant [{} x {ty}] [{}], align 64",
        pieces.len(),
        values.join(", ")
    ));
    let value = if e.lanes == Lanes::One {
        let at = e.text.def(format!("getelementptr {ty}, ptr {global}, i32 {piece}"));
        e.text.def(format!("load {ty}, ptr {at}"))
    } else {
        let at = e.text.def(format!("getelementptr {ty}, ptr {global}, <32 x i32> {piece}"));
        let (suffix, align) = if which == 0 { ("f64", 8) } else { ("f32", 4) };
        let v = format!("<32 x {ty}>");
        let function = format!("llvm.masked.gather.v32{suffix}.v32p0");
        e.text.declarations.insert(format!("declare {v} @{function}(<32 x ptr>, <32 x i1>, {v})"));
        e.text.def(format!(
            "call {v} @{function}(<32 x ptr> align {align} {at}, <32 x i1> splat (i1 true), {v} zeroinitializer)"
        ))
    };
    if which == 0 {
        return value;
    }
    let (from, to) = (float_type(Fmt::F32, e.lanes), double(e));
    e.convert("fpext", &from, &value, &to)
}

/// [`sfu::square`].
fn square(e: &mut Emit, y: &str) -> String {
    let mut sum = String::new();
    for j in 9..16u32 {
        let low = e.with("and", y, (1 << j) - 1);
        let low = e.with("lshr", &low, u128::from(16 - j));
        let term = e.with("add", &low, 1 << (2 * j - 17));
        let bit = e.with("shl", y, u128::from(31 - j));
        let all = e.with("ashr", &bit, 31);
        let term = e.bin("and", I, &term, &all);
        sum = if sum.is_empty() { term } else { e.bin("add", I, &sum, &term) };
    }
    sum
}

/// `c0 + c1 x + c2 s(x)` as f64; `x` has `bits` bits. All products and sums are exact.
fn interpolate(e: &mut Emit, op: SfuOp, piece: &str, x: &str, bits: u32) -> String {
    // Of lanes that are off, and of operands with an answer of their own, the piece may be anything.
    let last = e.with("and", piece, (sfu::pieces(op).len().next_power_of_two() - 1) as u128);
    let piece = e.lit(I, sfu::pieces(op).len() as u128 - 1);
    let piece = e.int_intrinsic("umin", I, &[&last, &piece]);
    let y = e.with("lshr", x, u128::from(bits - 16));
    let s = square(e, &y);
    let (i, d) = (int_type(I, e.lanes), double(e));
    let (x, s) = (e.convert("sitofp", &i, x, &d), e.convert("sitofp", &i, &s, &d));
    let [c0, c1, c2] = [0, 1, 2].map(|n| coefficient(e, op, n, &piece));
    let sum = e.float_intrinsic("fma", Fmt::F64, &[&c2, &s, &c0]);
    e.float_intrinsic("fma", Fmt::F64, &[&c1, &x, &sum])
}

/// By the upper bits of a fraction of 23 bits.
fn by_fraction(e: &mut Emit, op: SfuOp, first: Option<&str>, fraction: &str) -> String {
    let mut piece = e.with("lshr", fraction, 17);
    if let Some(first) = first {
        piece = e.bin("add", I, &piece, first);
    }
    let x = e.with("and", fraction, 0x1_ffff);
    interpolate(e, op, &piece, &x, 17)
}

fn scaled(e: &mut Emit, v: &str, power: i32) -> String {
    let factor = e.flit(Fmt::F64, u128::from(f64::from(power).exp2().to_bits()));
    e.fbin("fmul", Fmt::F64, v, &factor)
}

/// A normal number from a sum that is its significand.
fn with_exponent(e: &mut Emit, exponent: &str, sum: &str) -> String {
    let v = scaled(e, sum, -(sfu::GUARD as i32));
    let (i, d) = (int_type(I, e.lanes), double(e));
    let significand = e.convert("fptosi", &d, &v, &i);
    let below = e.with("sub", &significand, LEADING);
    let exponent = e.with("shl", exponent, 23);
    e.bin("add", I, &exponent, &below)
}

/// `sum * 2^unit`, cut to 24 bits; not for negative sums.
fn cut(e: &mut Emit, sum: &str, unit: i32) -> String {
    let v = scaled(e, sum, unit);
    let bits = e.as_bits(Fmt::F64, &v);
    let mask = e.lit(Ty::I64, !((1 << 29) - 1));
    let bits = e.bin("and", Ty::I64, &bits, &mask);
    let v = e.as_float(Fmt::F64, &bits);
    let (d, f) = (double(e), float_type(Fmt::F32, e.lanes));
    let r = e.convert("fptrunc", &d, &v, &f);
    e.as_bits(Fmt::F32, &r)
}

/// One operation, from bits to bits.
pub fn emit(e: &mut Emit, op: SfuOp, bits: &str) -> String {
    let t = int_type(I, e.lanes);
    let bits = &e.text.def(format!("freeze {t} {bits}"));
    let size = e.with("and", bits, SIGN - 1);
    let sign = e.with("and", bits, SIGN);
    let exponent = e.with("lshr", &size, 23);
    let fraction = e.with("and", bits, FRACTION);
    let p = Parts { bits: bits.into(), sign, size, exponent, fraction };
    let r = match op {
        SfuOp::Rcp => reciprocal(e, &p),
        SfuOp::Rsqrt | SfuOp::Sqrt => root(e, op, &p),
        SfuOp::Lg2 => logarithm(e, &p),
        SfuOp::Ex2 => exponential(e, &p),
        SfuOp::Sin | SfuOp::Cos => circular(e, op == SfuOp::Cos, &p),
        SfuOp::Tanh => tanh(e, &p),
    };
    let nan = e.is("ugt", &p.size, INFINITY);
    e.unless(&nan, NAN, &r)
}

fn reciprocal(e: &mut Emit, p: &Parts) -> String {
    let piece = e.with("lshr", &p.fraction, 16);
    let x = e.with("and", &p.fraction, 0xffff);
    let sum = interpolate(e, SfuOp::Rcp, &piece, &x, 16);
    let exponent = e.from(253, &p.exponent);
    let r = with_exponent(e, &exponent, &sum);
    // Powers of 2 have exact ones. What is below 2^-126 is zero.
    let exact = e.from(254 << 23, &p.size);
    let power = e.is("eq", &p.fraction, 0);
    let r = e.select(I, &power, &exact, &r);
    let tiny = e.is("ugt", &p.size, 253 << 23);
    let r = e.unless(&tiny, 0, &r);
    let zero = e.is("ult", &p.size, LEADING);
    let r = e.unless(&zero, INFINITY, &r);
    e.bin("or", I, &r, &p.sign)
}

fn root(e: &mut Emit, op: SfuOp, p: &Parts) -> String {
    let rsqrt = op == SfuOp::Rsqrt;
    // The operand is in [1, 2) or [2, 4) times 4^half.
    let next = e.with("add", &p.exponent, 1);
    let half = e.with("lshr", &next, 1);
    let odd = e.with("and", &next, 1);
    let first = e.with("shl", &odd, 6);
    let sum = by_fraction(e, op, Some(&first), &p.fraction);
    let exponent = if rsqrt { e.from(190, &half) } else { e.with("add", &half, 63) };
    let mut r = with_exponent(e, &exponent, &sum);
    if rsqrt {
        let exponent = e.from(191, &half);
        let exact = e.with("shl", &exponent, 23);
        let rest = e.with("and", &p.size, (1 << 24) - 1);
        let power = e.is("eq", &rest, LEADING);
        r = e.select(I, &power, &exact, &r);
    }
    let infinite = e.is("eq", &p.bits, INFINITY);
    r = e.unless(&infinite, if rsqrt { 0 } else { INFINITY }, &r);
    let negative = e.is("ne", &p.sign, 0);
    r = e.unless(&negative, NAN, &r);
    let zero = e.is("ult", &p.size, LEADING);
    let of_zero = e.with("or", &p.sign, if rsqrt { INFINITY } else { 0 });
    e.select(I, &zero, &of_zero, &r)
}

fn logarithm(e: &mut Emit, p: &Parts) -> String {
    let sum = by_fraction(e, SfuOp::Lg2, None, &p.fraction);
    let (i, d) = (int_type(I, e.lanes), double(e));
    let power = e.with("sub", &p.exponent, 127);
    let whole = e.convert("sitofp", &i, &power, &d);
    let whole = scaled(e, &whole, 23 + sfu::GUARD as i32);
    let sum = e.fbin("fadd", Fmt::F64, &whole, &sum);
    let dropped = sfu::LG2_DROPPED as i32;
    let sum = scaled(e, &sum, -dropped);
    let sum = e.float_intrinsic("floor", Fmt::F64, &[&sum]);
    // A negative sum is complemented, not negated.
    let minus_one = e.flit(Fmt::F64, u128::from((-1f64).to_bits()));
    let complement = e.fbin("fsub", Fmt::F64, &minus_one, &sum);
    let zero = e.flit(Fmt::F64, 0);
    let below = e.fcmp("olt", Fmt::F64, &sum, &zero);
    let size = e.fselect(Fmt::F64, &below, &complement, &sum);
    let r = cut(e, &size, dropped - 23 - sfu::GUARD as i32);
    let negated = e.with("or", &r, SIGN);
    let r = e.select(I, &below, &negated, &r);
    let one = e.is("eq", &p.bits, ONE);
    let r = e.unless(&one, 0, &r);
    let infinite = e.is("eq", &p.bits, INFINITY);
    let r = e.unless(&infinite, INFINITY, &r);
    let negative = e.is("ne", &p.sign, 0);
    let r = e.unless(&negative, NAN, &r);
    let zero = e.is("ult", &p.size, LEADING);
    e.unless(&zero, SIGN | INFINITY, &r)
}

fn exponential(e: &mut Emit, p: &Parts) -> String {
    // The operand in units of 2^-23; those of 2^8 and more have answers of their own.
    let significand = e.with("or", &p.fraction, LEADING);
    let up = e.with("sub", &p.exponent, 127);
    let seven = e.lit(I, 7);
    let up = e.int_intrinsic("umin", I, &[&up, &seven]);
    let down = e.from(127, &p.exponent);
    let all = e.lit(I, 31);
    let down = e.int_intrinsic("umin", I, &[&down, &all]);
    let larger = e.bin("shl", I, &significand, &up);
    let smaller = e.bin("lshr", I, &significand, &down);
    let above = e.is("uge", &p.exponent, 127);
    let size = e.select(I, &above, &larger, &smaller);
    // A negative one that is not whole is complemented, not negated.
    let rest = e.with("and", &size, FRACTION);
    let whole = e.is("eq", &rest, 0);
    let complement = e.with("xor", &size, I.mask());
    let negated = e.from(0, &size);
    let below = e.select(I, &whole, &negated, &complement);
    let negative = e.is("ne", &p.sign, 0);
    let x = e.select(I, &negative, &below, &size);
    let power = e.with("ashr", &x, 23);
    let exponent = e.with("add", &power, 127);
    let fraction = e.with("and", &x, FRACTION);
    let sum = by_fraction(e, SfuOp::Ex2, None, &fraction);
    let r = with_exponent(e, &exponent, &sum);
    let under = e.is("slt", &exponent, 1);
    let r = e.unless(&under, 0, &r);
    let over = e.is("sgt", &exponent, 254);
    let r = e.unless(&over, INFINITY, &r);
    let huge = e.is("uge", &p.exponent, 135);
    let infinite = e.lit(I, INFINITY);
    let of_huge = e.unless(&negative, 0, &infinite);
    e.select(I, &huge, &of_huge, &r)
}

/// Of turns.
fn circular(e: &mut Emit, cosine: bool, p: &Parts) -> String {
    // In units of 2^-25, of which whole turns fall away.
    let significand = e.with("or", &p.fraction, LEADING);
    let up = e.with("sub", &p.exponent, 125);
    let down = e.from(125, &p.exponent);
    let all = e.lit(I, 31);
    let up = e.int_intrinsic("umin", I, &[&up, &all]);
    let down = e.int_intrinsic("umin", I, &[&down, &all]);
    let larger = e.bin("shl", I, &significand, &up);
    let smaller = e.bin("lshr", I, &significand, &down);
    let above = e.is("uge", &p.exponent, 125);
    let turn = e.select(I, &above, &larger, &smaller);
    let quarter = e.with("lshr", &turn, 23);
    let quarter = if cosine { e.with("add", &quarter, 1) } else { quarter };
    let way = e.with("and", &turn, FRACTION);
    let odd = e.with("shl", &quarter, 31);
    let odd = e.is("ne", &odd, 0);
    let back = e.with("xor", &way, FRACTION);
    let near = e.select(I, &odd, &back, &way);
    let sum = by_fraction(e, SfuOp::Sin, None, &near);
    let r = cut(e, &sum, -24 - sfu::GUARD as i32);
    let start = e.is("eq", &way, 0);
    let top = e.bin("and", Ty::I1, &odd, &start);
    let r = e.unless(&top, ONE, &r);
    let half = e.with("lshr", &quarter, 1);
    let flip = e.with("shl", &half, 31);
    let r = e.bin("or", I, &r, &flip);
    let r = if cosine { r } else { e.bin("xor", I, &r, &p.sign) };
    let infinite = e.is("eq", &p.size, INFINITY);
    e.unless(&infinite, NAN, &r)
}

fn tanh(e: &mut Emit, p: &Parts) -> String {
    let binade = e.with("sub", &p.exponent, u128::from(sfu::TANH_FIRST));
    // The number of pieces and the first one, by binade.
    let (mut log, mut first) = (e.lit(I, 0), e.lit(I, 0));
    for (n, (l, f)) in sfu::TANH_BINADES.into_iter().enumerate().skip(1) {
        let from = e.is("sge", &binade, n as u128);
        log = e.unless(&from, l.into(), &log);
        first = e.unless(&from, f.into(), &first);
    }
    let drop = e.from(6, &log);
    let upper = e.bin("lshr", I, &p.fraction, &drop);
    let sum = by_fraction(e, SfuOp::Tanh, Some(&first), &upper);
    let r = cut(e, &sum, -24 - sfu::GUARD as i32);
    let r = e.bin("or", I, &r, &p.sign);
    let small = e.is("slt", &binade, 0);
    let r = e.select(I, &small, &p.bits, &r);
    let large = e.is("uge", &p.exponent, 130);
    let one = e.with("or", &p.sign, ONE);
    e.select(I, &large, &one, &r)
}
