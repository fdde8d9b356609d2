//! The approximate functions as ptxas expands them for `sm_90`: operations of the special function unit,
//! which flushes subnormals, with scaling around them if the instruction preserves subnormals.

use wave::op::{ApproxOp, FloatCmp, FloatMode, FloatOp, FloatUnOp, IntCmp, IntOp, Op, Round, SfuOp, ShiftOp};
use wave::types::Fmt;
use wave::{Ty, Value};

use crate::function::Lower;

const I: Ty = Ty::I32;
/// The smallest normal number.
const LEAST: u32 = 0x0080_0000;
const NAN: u32 = 0x7fff_ffff;
const TWO_24: f32 = 16_777_216.0;
/// The square root of [`TWO_24`].
const TWO_12: f32 = 4096.0;
/// 2^126: the reciprocals of larger numbers are subnormal.
const LARGE: u32 = 0x7e80_0000;

/// Fraction bits in the upper word of an f64.
const F64_FRACTION: u32 = 20;
/// The upper words of an infinite f64 and of the negative subnormal with all fraction bits set.
const F64_INFINITY: u32 = 0x7ff0_0000;
const F64_NEGATIVE_SUBNORMAL: u32 = 0x800f_ffff;
/// Exponent biases.
const F32_BIAS: u32 = 127;
const F64_BIAS: u32 = 1023;
/// Fraction bits that an f32 has beyond these.
const EXTRA_FRACTION: u32 = 3;

/// Emits f32 operations.
struct Emit<'a, 'b> {
    l: &'a mut Lower<'b>,
    /// Whether subnormals are flushed.
    ftz: bool,
}

impl Emit<'_, '_> {
    fn bits(&mut self, bits: u32) -> Value {
        self.l.constant(I, bits.into())
    }

    fn number(&mut self, v: f32) -> Value {
        self.bits(v.to_bits())
    }

    fn mode(&self, round: Round) -> FloatMode {
        FloatMode { fmt: Fmt::F32, round, ftz: self.ftz, sat: false }
    }

    fn int(&mut self, op: IntOp, a: Value, b: u32) -> Value {
        let b = self.bits(b);
        self.l.op1(Op::Int(op, I), &[a, b])
    }

    fn shift(&mut self, op: ShiftOp, a: Value, by: u32) -> Value {
        let by = self.bits(by);
        self.l.op1(Op::Shift(op, I), &[a, by])
    }

    /// `special` if the comparison holds, otherwise `other`.
    fn unless(&mut self, cmp: IntCmp, a: Value, b: u32, special: u32, other: Value) -> Value {
        let (b, special) = (self.bits(b), self.bits(special));
        let c = self.l.op1(Op::IntCmp(cmp, I), &[a, b]);
        self.select(c, special, other)
    }

    fn op(&mut self, op: FloatOp, a: Value, b: Value) -> Value {
        let mode = self.mode(Round::Rn);
        self.l.op1(Op::Float(op, mode), &[a, b])
    }

    fn times(&mut self, a: Value, b: f32) -> Value {
        let b = self.number(b);
        self.op(FloatOp::Mul, a, b)
    }

    fn unit(&mut self, op: SfuOp, a: Value) -> Value {
        self.l.op1(Op::Sfu(op), &[a])
    }

    fn compare(&mut self, cmp: FloatCmp, a: Value, b: u32) -> Value {
        let b = self.bits(b);
        self.l.op1(Op::FloatCmp { cmp, fmt: Fmt::F32, ftz: self.ftz }, &[a, b])
    }

    fn select(&mut self, c: Value, a: Value, b: Value) -> Value {
        self.l.op1(Op::Select(I), &[c, a, b])
    }

    /// Whether a number is subnormal or zero.
    fn small(&mut self, a: Value) -> Value {
        let size = self.size(a);
        self.compare(FloatCmp::Lt, size, LEAST)
    }

    fn size(&mut self, a: Value) -> Value {
        let mode = self.mode(Round::Rn);
        self.l.op1(Op::FloatUn(FloatUnOp::Abs, mode), &[a])
    }

    /// Applies the unit to `a`, or, if `a` is small, to 2^24 · `a`, and then corrects the result with `back`.
    fn rescued(&mut self, op: SfuOp, a: Value, back: impl FnOnce(&mut Self, Value) -> Value) -> Value {
        if self.ftz {
            return self.unit(op, a);
        }
        let small = self.small(a);
        let scaled = self.times(a, TWO_24);
        let a = self.select(small, scaled, a);
        let r = self.unit(op, a);
        let changed = back(self, r);
        self.select(small, changed, r)
    }

    fn reciprocal(&mut self, a: Value) -> Value {
        if self.ftz {
            return self.unit(SfuOp::Rcp, a);
        }
        let factor = self.factor(a);
        let a = self.op(FloatOp::Mul, a, factor);
        let r = self.unit(SfuOp::Rcp, a);
        self.op(FloatOp::Mul, r, factor)
    }

    /// A factor that keeps an operand and its reciprocal normal.
    fn factor(&mut self, a: Value) -> Value {
        let (small, size) = (self.small(a), self.size(a));
        let large = self.compare(FloatCmp::Gt, size, LARGE);
        let (one, up, down) = (self.number(1.0), self.number(TWO_24), self.number(0.25));
        let factor = self.select(small, up, one);
        self.select(large, down, factor)
    }

    fn quotient(&mut self, full: bool, a: Value, b: Value) -> Value {
        let (mut a, mut b) = (a, b);
        if full && self.ftz {
            let size = self.size(b);
            let large = self.compare(FloatCmp::Gt, size, LARGE);
            let (one, down) = (self.number(1.0), self.number(0.25));
            let factor = self.select(large, down, one);
            (a, b) = (self.op(FloatOp::Mul, a, factor), self.op(FloatOp::Mul, b, factor));
        } else if full {
            let factor = self.factor(b);
            (a, b) = (self.op(FloatOp::Mul, a, factor), self.op(FloatOp::Mul, b, factor));
        } else if !self.ftz {
            let small = self.small(b);
            let (one, up) = (self.number(1.0), self.number(TWO_24));
            let factor = self.select(small, up, one);
            (a, b) = (self.op(FloatOp::Mul, a, factor), self.op(FloatOp::Mul, b, factor));
        }
        let r = self.unit(SfuOp::Rcp, b);
        self.op(FloatOp::Mul, a, r)
    }

    fn exponential(&mut self, a: Value) -> Value {
        if self.ftz {
            return self.unit(SfuOp::Ex2, a);
        }
        let small = self.compare(FloatCmp::Lt, a, (-126f32).to_bits());
        let half = self.times(a, 0.5);
        let a = self.select(small, half, a);
        let r = self.unit(SfuOp::Ex2, a);
        let whole = self.op(FloatOp::Mul, r, r);
        self.select(small, whole, r)
    }

    fn turns(&mut self, op: SfuOp, a: Value) -> Value {
        let inverse = self.number(wave::sfu::TURNS);
        let mode = FloatMode { ftz: false, ..self.mode(Round::Rz) };
        let turns = self.l.op1(Op::Float(FloatOp::Mul, mode), &[a, inverse]);
        self.unit(op, turns)
    }
}

/// A function of f32 operands.
fn single(l: &mut Lower, op: ApproxOp, ftz: bool, args: &[Value]) -> Value {
    let mut e = Emit { l, ftz };
    let a = args[0];
    match op {
        ApproxOp::Rcp => e.reciprocal(a),
        ApproxOp::Sqrt => e.rescued(SfuOp::Sqrt, a, |e, r| e.times(r, 1.0 / TWO_12)),
        ApproxOp::Rsqrt => e.rescued(SfuOp::Rsqrt, a, |e, r| e.times(r, TWO_12)),
        ApproxOp::Lg2 => e.rescued(SfuOp::Lg2, a, |e, r| {
            let down = e.number(-24.0);
            e.op(FloatOp::Add, r, down)
        }),
        ApproxOp::Ex2 => e.exponential(a),
        ApproxOp::Sin => e.turns(SfuOp::Sin, a),
        ApproxOp::Cos => e.turns(SfuOp::Cos, a),
        ApproxOp::Tanh => e.unit(SfuOp::Tanh, a),
        ApproxOp::Div => e.quotient(false, a, args[1]),
        ApproxOp::DivFull => e.quotient(true, a, args[1]),
    }
}

/// ex2 and tanh of an f16 or bf16: the unit's result for the same number, truncated.
fn half(l: &mut Lower, op: ApproxOp, fmt: Fmt, a: Value) -> Value {
    let wide = l.op1(Op::FloatToFloat { from: fmt, mode: FloatMode::rn(Fmt::F32), relu: false }, &[a]);
    let unit = if op == ApproxOp::Ex2 { SfuOp::Ex2 } else { SfuOp::Tanh };
    let r = l.op1(Op::Sfu(unit), &[wide]);
    let cut = FloatMode { round: Round::Rz, ..FloatMode::rn(fmt) };
    let h = l.op1(Op::FloatToFloat { from: Fmt::F32, mode: cut, relu: false }, &[r]);
    if fmt != Fmt::F16 || op != ApproxOp::Ex2 {
        return h;
    }
    let (limit, infinity) = (l.constant(I, 65_536f32.to_bits().into()), l.constant(Ty::I16, 0x7c00));
    let over = l.op1(Op::FloatCmp { cmp: FloatCmp::Ge, fmt: Fmt::F32, ftz: false }, &[r, limit]);
    l.op1(Op::Select(Ty::I16), &[over, infinity, h])
}

/// 1/x and 1/sqrt(x) of f64, both flushing: the unit works on the upper word only and returns 20 fraction
/// bits; the lower word is 0.
fn double(l: &mut Lower, op: SfuOp, a: Value) -> Value {
    let root = op == SfuOp::Rsqrt;
    let upper = l.op(Op::Unpack { part: I, whole: Ty::I64 }, &[a])[1];
    let mut e = Emit { l, ftz: true };
    let (sign, size) = (e.int(IntOp::And, upper, 1 << 31), e.int(IntOp::And, upper, i32::MAX as u32));
    let exponent = e.shift(ShiftOp::ShrU, size, F64_FRACTION);
    let fraction = e.int(IntOp::And, size, (1 << F64_FRACTION) - 1);
    // An f32 with the same significand: in [1, 2), or for an odd exponent of a root in [2, 4).
    let wide = e.shift(ShiftOp::Shl, fraction, EXTRA_FRACTION);
    let mut single = e.int(IntOp::Or, wide, 1f32.to_bits());
    let mut scale = exponent;
    if root {
        let next = e.int(IntOp::Add, exponent, 1);
        let odd = e.int(IntOp::And, next, 1);
        let doubled = e.shift(ShiftOp::Shl, odd, F64_FRACTION + EXTRA_FRACTION);
        single = e.l.op1(Op::Int(IntOp::Add, I), &[single, doubled]);
        scale = e.shift(ShiftOp::ShrU, next, 1);
    }
    let r = e.unit(op, single);
    // Adds the exponents of the f32 result and of the scale.
    let r = e.shift(ShiftOp::ShrU, r, EXTRA_FRACTION);
    let bias = if root { F64_BIAS + F64_BIAS.div_ceil(2) - F32_BIAS } else { 2 * F64_BIAS - F32_BIAS };
    let r = e.int(IntOp::Add, r, bias << F64_FRACTION);
    let scale = e.shift(ShiftOp::Shl, scale, F64_FRACTION);
    let mut r = e.l.op1(Op::Int(IntOp::Sub, I), &[r, scale]);
    if !root {
        r = e.unless(IntCmp::LtS, r, 1 << F64_FRACTION, 0, r);
    }
    r = e.unless(IntCmp::Eq, size, F64_INFINITY, 0, r);
    r = e.unless(IntCmp::LtU, size, 1 << F64_FRACTION, F64_INFINITY, r);
    r = e.l.op1(Op::Int(IntOp::Or, I), &[r, sign]);
    if root {
        // Negative and not zero.
        r = e.unless(IntCmp::GtU, upper, F64_NEGATIVE_SUBNORMAL, NAN, r);
    }
    r = e.unless(IntCmp::GtU, size, F64_INFINITY, NAN, r);
    let zero = e.bits(0);
    l.op1(Op::Pack { part: I, whole: Ty::I64 }, &[zero, r])
}

/// `rsqrt.approx.f64`, which the hardware rounds correctly: the reciprocal of the rounded root, and one step
/// with the exact errors of both. 0, infinity and NaN have no such step, because its term is a NaN.
pub fn reciprocal_root(l: &mut Lower, x: Value) -> Value {
    let mode = FloatMode::rn(Fmt::F64);
    let number = |l: &mut Lower, v: f64| l.constant(Ty::I64, v.to_bits().into());
    let times = |l: &mut Lower, a, b| l.op1(Op::Float(FloatOp::Mul, mode), &[a, b]);
    let fma = |l: &mut Lower, a, b, c| l.op1(Op::Fma(mode), &[a, b, c]);
    // The error of a small operand's root would be subnormal.
    let small = number(l, f64::from_bits(0x07b0_0000_0000_0000));
    let small = l.op1(Op::FloatCmp { cmp: FloatCmp::Lt, fmt: Fmt::F64, ftz: false }, &[x, small]);
    let scale = |l: &mut Lower, exponent: i32, v| {
        let (scale, one) = (number(l, 2f64.powi(exponent)), number(l, 1.0));
        let by = l.op1(Op::Select(Ty::I64), &[small, scale, one]);
        times(l, v, by)
    };
    let x = scale(l, 200, x);
    let root = l.op1(Op::FloatUn(FloatUnOp::Sqrt, mode), &[x]);
    let first = l.op1(Op::FloatUn(FloatUnOp::Rcp, mode), &[root]);
    let minus = l.op1(Op::FloatUn(FloatUnOp::Neg, mode), &[root]);
    let one = number(l, 1.0);
    let (of_root, of_reciprocal) = (fma(l, minus, root, x), fma(l, minus, first, one));
    // 1 / sqrt(root² + e) = (1 - e / (2 root²)) / root
    let half = number(l, -0.5);
    let square = times(l, first, first);
    let square = times(l, square, half);
    let term = fma(l, of_root, square, of_reciprocal);
    let better = fma(l, first, term, first);
    let none = l.op1(Op::FloatCmp { cmp: FloatCmp::Nan, fmt: Fmt::F64, ftz: false }, &[term, term]);
    let result = l.op1(Op::Select(Ty::I64), &[none, first, better]);
    scale(l, 100, result)
}

/// The hardware's bits for an approximate function; `None` if it is not a single operation of the unit.
pub fn exact(l: &mut Lower, op: ApproxOp, fmt: Fmt, ftz: bool, args: &[Value]) -> Option<Value> {
    match (fmt, op) {
        (Fmt::F32, _) => Some(single(l, op, ftz, args)),
        (Fmt::F16 | Fmt::BF16, ApproxOp::Ex2 | ApproxOp::Tanh) => Some(half(l, op, fmt, args[0])),
        (Fmt::F64, ApproxOp::Rcp) => Some(double(l, SfuOp::Rcp, args[0])),
        (Fmt::F64, ApproxOp::Rsqrt) => Some(double(l, SfuOp::Rsqrt, args[0])),
        _ => None,
    }
}
