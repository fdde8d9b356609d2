//! Float operations of AMD's instruction sets that wave IR does not have.
//!
//! `v_rcp`, `v_rsq`, `v_sqrt`, `v_exp`, `v_log`, `v_sin` and `v_cos` have an error of 1 ULP on the hardware
//! (for f64, AMD states 2^29 ULP) and differ between generations. Here those of f32 and f16 are computed in
//! f64 and rounded once, except for reciprocals and roots of f32, which are correctly rounded; those of f64
//! are correctly rounded too, and `v_rsq_f64` is two such operations. Angles are reduced exactly, however
//! large. As AMD's documents say, functions of f32 flush subnormal operands and results. A NaN that an
//! operation gives is wave IR's canonical NaN, and signalling NaNs count as quiet ones.

use wave::op::{ApproxOp, FloatCmp, FloatMode, FloatOp, FloatUnOp, IntCmp, IntOp, Op, Round, ShiftOp};
use wave::types::Fmt;
use wave::{Ty, Value};

use crate::error::Result;
use crate::registers::Registers;

/// Bits of the fraction, and the bias of the exponent.
pub(crate) fn shape(fmt: Fmt) -> (u32, i32) {
    match fmt {
        Fmt::F16 => (10, 15),
        Fmt::BF16 => (7, 127),
        Fmt::F32 => (23, 127),
        Fmt::F64 => (52, 1023),
    }
}

/// The bits of an infinity.
fn infinity(fmt: Fmt) -> u64 {
    let (fraction, bias) = shape(fmt);
    (2 * bias as u64 + 1) << fraction
}

/// 1201 bits of 2/π, from the first after the point on.
const TWO_OVER_PI: [u32; 40] = [
    0xa2f9_836e,
    0x4e44_1529,
    0xfc27_57d1,
    0xf534_ddc0,
    0xdb62_9599,
    0x3c43_9041,
    0xfe51_63ab,
    0xdebb_c561,
    0xb724_6e3a,
    0x424d_d2e0,
    0x0649_2eea,
    0x09d1_921c,
    0xfe1d_eb1c,
    0xb129_a73e,
    0xe882_35f5,
    0x2ebb_4484,
    0xe99c_7026,
    0xb45f_7e41,
    0x3991_d639,
    0x8353_39f4,
    0x9c84_5f8b,
    0xbdf9_283b,
    0x1ff8_97ff,
    0xde05_980f,
    0xef2f_118b,
    0x5a0a_6d1f,
    0x6d36_7ecf,
    0x27cb_09b7,
    0x4f46_3f66,
    0x9e5f_ea2d,
    0x7527_bac7,
    0xebe5_f17b,
    0x3d07_39f7,
    0x8a52_92ea,
    0x6bfb_5fb1,
    0x1f8d_5d08,
    0x5603_3046,
    0xfc7b_0000,
    0x0000_0000,
    0x0000_0000,
];

impl Registers {
    fn double(&mut self, value: f64) -> Value {
        self.constant(Ty::I64, value.to_bits())
    }

    fn float(&mut self, op: FloatOp, fmt: Fmt, a: Value, b: Value) -> Value {
        self.op1(Op::Float(op, FloatMode::rn(fmt)), &[a, b])
    }

    fn ordered(&mut self, cmp: FloatCmp, fmt: Fmt, a: Value, b: Value) -> Value {
        self.op1(Op::FloatCmp { cmp, fmt, ftz: false }, &[a, b])
    }

    /// Whether a value is a NaN.
    fn is_nan(&mut self, fmt: Fmt, a: Value) -> Value {
        self.ordered(FloatCmp::Nan, fmt, a, a)
    }

    fn either(&mut self, a: Value, b: Value) -> Value {
        self.int(IntOp::Or, a, b)
    }

    /// A value without its sign, or with the other one.
    pub fn signed(&mut self, fmt: Fmt, mut value: Value, abs: bool, neg: bool) -> Value {
        let sign = 1u64 << (fmt.ty().bits() - 1);
        if abs {
            let rest = self.constant(fmt.ty(), !sign);
            value = self.int(IntOp::And, value, rest);
        }
        if neg {
            let sign = self.constant(fmt.ty(), sign);
            value = self.int(IntOp::Xor, value, sign);
        }
        value
    }

    /// Between formats.
    pub fn converted(&mut self, from: Fmt, to: Fmt, round: Option<Round>, a: Value) -> Value {
        let mode = self.float_mode(to);
        let ftz = self.float_mode(Fmt::F32).ftz;
        let mode = FloatMode { round: round.unwrap_or(mode.round), ftz, ..mode };
        self.exact_or_rounded(from, mode, a)
    }

    fn exact_or_rounded(&mut self, from: Fmt, mode: FloatMode, a: Value) -> Value {
        match mode.fmt == from {
            true => a,
            false => self.op1(Op::FloatToFloat { from, mode, relu: false }, &[a]),
        }
    }

    fn widened(&mut self, from: Fmt, a: Value) -> Value {
        self.exact_or_rounded(from, FloatMode::rn(Fmt::F64), a)
    }

    /// To an integer, clamped; 0 for a NaN.
    pub fn integer_of(&mut self, from: Fmt, to: Ty, signed: bool, round: Round, a: Value) -> Value {
        let value = self.op1(Op::FloatToInt { from, to, signed, round, ftz: false }, &[a]);
        if from != Fmt::F64 {
            return value;
        }
        // The wave operation gives another result for a NaN of 64 bits.
        let number = self.ordered(FloatCmp::Num, from, a, a);
        let zero = self.constant(to, 0);
        self.select(number, value, zero)
    }

    /// The middle of three values; the least if one is a NaN.
    pub fn middle(&mut self, fmt: Fmt, [a, b, c]: [Value; 3]) -> Value {
        let mode = self.float_mode(fmt);
        let extreme = |s: &mut Self, op, x, y| s.op1(Op::Float(op, mode), &[x, y]);
        // The greatest, and the greater of the other two.
        let high = extreme(self, FloatOp::Max, a, b);
        let high = extreme(self, FloatOp::Max, high, c);
        let without = [(b, c), (a, c), (a, b)].map(|(x, y)| extreme(self, FloatOp::Max, x, y));
        let equals = Op::FloatCmp { cmp: FloatCmp::Eq, fmt, ftz: mode.ftz };
        let (is_a, is_b) = (self.op1(equals.clone(), &[high, a]), self.op1(equals, &[high, b]));
        let middle = self.select(is_b, without[1], without[2]);
        let middle = self.select(is_a, without[0], middle);
        let least = extreme(self, FloatOp::Min, a, b);
        let least = extreme(self, FloatOp::Min, least, c);
        let (x, y) = (self.ordered(FloatCmp::Nan, fmt, a, b), self.is_nan(fmt, c));
        let any = self.either(x, y);
        self.select(any, least, middle)
    }

    /// A value for the axis with the greatest coordinate: z before y before x.
    pub fn by_axis(&mut self, [x, y, z]: [Value; 3], [for_x, for_y, for_z]: [Value; 3]) -> Value {
        let [x, y, z] = [x, y, z].map(|v| self.signed(Fmt::F32, v, true, false));
        let least = |s: &mut Self, a, b| s.ordered(FloatCmp::Ge, Fmt::F32, a, b);
        let (over_x, over_y) = (least(self, z, x), least(self, z, y));
        let y_over_x = least(self, y, x);
        let is_z = self.int(IntOp::And, over_x, over_y);
        let rest = self.select(y_over_x, for_y, for_x);
        self.select(is_z, for_z, rest)
    }

    /// `x - floor(x)`, less than 1.
    pub fn fraction(&mut self, fmt: Fmt, a: Value) -> Value {
        let mode = self.float_mode(fmt);
        let floor = FloatMode { round: Round::Rm, ..mode };
        let floor = self.op1(Op::FloatUn(FloatUnOp::RoundInt, floor), &[a]);
        let rest = self.op1(Op::Float(FloatOp::Sub, mode), &[a, floor]);
        let (bits, bias) = shape(fmt);
        let below_one = self.constant(fmt.ty(), ((bias as u64) << bits) - 1);
        self.float(FloatOp::MinNan, fmt, rest, below_one)
    }

    /// The exponent of a normal f64 without its bias, as an i32.
    fn double_exponent(&mut self, a: Value) -> Value {
        let (position, length) = (self.word(52), self.word(11));
        let biased = self.op1(Op::Bfe { signed: false, ty: Ty::I64 }, &[a, position, length]);
        let (biased, bias) = (self.resized(biased, Ty::I32), self.word(1023));
        self.int(IntOp::Sub, biased, bias)
    }

    /// 2 to a power between -1022 and 1023.
    fn power(&mut self, exponent: Value) -> Value {
        let bias = self.word(1023);
        let biased = self.int(IntOp::Add, exponent, bias);
        let biased = self.resized(biased, Ty::I64);
        let by = self.word(52);
        self.shift(ShiftOp::Shl, biased, by)
    }

    /// An f64 as a normal number and the power of 2 that it must be multiplied with.
    fn normal(&mut self, a: Value) -> (Value, Value) {
        let size = self.signed(Fmt::F64, a, true, false);
        let (least, scale) = (self.double(f64::MIN_POSITIVE), self.double(54f64.exp2()));
        let small = self.compare(IntCmp::LtU, size, least);
        let larger = self.float(FloatOp::Mul, Fmt::F64, a, scale);
        let value = self.select(small, larger, a);
        let (by, none) = (self.word(-54i32 as u32), self.word(0));
        (value, self.select(small, by, none))
    }

    /// A number as `mantissa * 2^exponent` with a mantissa of at least a half; 0 for numbers that have none.
    pub fn mantissa_and_exponent(&mut self, fmt: Fmt, a: Value) -> (Value, Value) {
        let wide = self.widened(fmt, a);
        let (value, more) = self.normal(wide);
        let (fraction, half) = (self.constant(Ty::I64, 0x800f_ffff_ffff_ffff), self.double(0.5));
        let mantissa = self.int(IntOp::And, value, fraction);
        let mantissa = self.int(IntOp::Or, mantissa, half);
        let one = self.word(1);
        let exponent = self.double_exponent(value);
        let exponent = self.int(IntOp::Add, exponent, one);
        let exponent = self.int(IntOp::Add, exponent, more);
        // Zeros, infinities and NaNs are their own mantissas.
        let size = self.signed(fmt, a, true, false);
        let (zero, last) = (self.constant(fmt.ty(), 0), self.constant(fmt.ty(), infinity(fmt)));
        let (is_zero, is_special) =
            (self.compare(IntCmp::Eq, size, zero), self.compare(IntCmp::GeU, size, last));
        let own = self.either(is_zero, is_special);
        let mantissa = self.exact_or_rounded(Fmt::F64, FloatMode::rn(fmt), mantissa);
        let none = self.word(0);
        (self.select(own, a, mantissa), self.select(own, none, exponent))
    }

    /// Whether floats of 8 bits are those of the Open Compute Project, rather than gfx942's.
    pub fn has_ocp_floats(&self) -> bool {
        self.ocp_floats
    }

    /// An f32 as a float of 8 bits, rounded to nearest even: with four bits of exponent, or with five. What
    /// is too large becomes the NaN, as does an infinity, or the infinity of the format that has one.
    pub fn narrowed_float(&mut self, a: Value, five: bool) -> Value {
        // Bits of the fraction, the exponent of the least normal number, the greatest number, and the f32
        // that brings the exponent to its bias.
        let ocp = self.has_ocp_floats();
        let (bits, least, most, bias) = match (five, ocp) {
            (true, false) => (2, -15, 57344.0, 0x0800_0000),
            (false, false) => (3, -7, 240.0, 0x0400_0000),
            (true, true) => (2, -14, 57344.0, 0x0780_0000),
            (false, true) => (3, -6, 448.0, 0x0380_0000),
        };
        let wide = self.widened(Fmt::F32, a);
        let exponent = self.double_exponent(wide);
        let (least, most) = (self.word(least as u32), self.double(most));
        let exponent = self.int(IntOp::MaxS, exponent, least);
        let unit = self.word(bits);
        let unit = self.int(IntOp::Sub, exponent, unit);
        let none = self.word(0);
        let inverse = self.int(IntOp::Sub, none, unit);
        let (unit, inverse) = (self.power(unit), self.power(inverse));
        let count = self.float(FloatOp::Mul, Fmt::F64, wide, inverse);
        let count = self.nearest(count);
        let value = self.float(FloatOp::Mul, Fmt::F64, count, unit);
        let size = self.signed(Fmt::F64, value, true, false);
        let fits = self.ordered(FloatCmp::Le, Fmt::F64, size, most);
        let value = self.exact_or_rounded(Fmt::F64, FloatMode::rn(Fmt::F32), value);
        let bias = self.word(bias);
        let value = self.float(FloatOp::Mul, Fmt::F32, value, bias);
        let size = self.signed(Fmt::F32, value, true, false);
        let by = self.word(23 - bits);
        let size = self.shift(ShiftOp::ShrU, size, by);
        // There is no negative zero.
        let (by, sign) = (self.word(24), self.word(0x80));
        let high = self.shift(ShiftOp::ShrU, value, by);
        let negative = self.int(IntOp::And, high, sign);
        let result = self.int(IntOp::Or, size, negative);
        if ocp {
            let mut large = self.word(0x7f);
            if five {
                let number = self.ordered(FloatCmp::Eq, Fmt::F64, wide, wide);
                let infinity = self.word(0x7c);
                large = self.select(number, infinity, large);
            }
            let large = self.int(IntOp::Or, large, negative);
            return self.select(fits, result, large);
        }
        let some = self.is_not_zero(size);
        let result = self.select(some, result, none);
        self.select(fits, result, sign)
    }

    fn clamped(&mut self, value: Value, least: i32, most: i32) -> Value {
        let (least, most) = (self.word(least as u32), self.word(most as u32));
        let value = self.int(IntOp::MaxS, value, least);
        self.int(IntOp::MinS, value, most)
    }

    /// A number times a power of 2, rounded once.
    pub fn scaled(&mut self, fmt: Fmt, a: Value, exponent: Value) -> Value {
        let mode = self.float_mode(fmt);
        let wide = self.widened(fmt, a);
        if fmt != Fmt::F64 {
            // No power loses bits in f64.
            let exponent = self.clamped(exponent, -400, 400);
            let power = self.power(exponent);
            let product = self.float(FloatOp::Mul, Fmt::F64, wide, power);
            return self.exact_or_rounded(Fmt::F64, mode, product);
        }
        // A number between 1 and 2 is exact after the first product, and the second one rounds.
        let exponent = self.clamped(exponent, -2200, 2200);
        let (value, more) = self.normal(wide);
        let own = self.double_exponent(value);
        let (fraction, one) = (self.constant(Ty::I64, 0x800f_ffff_ffff_ffff), self.double(1.0));
        let mantissa = self.int(IntOp::And, value, fraction);
        let mantissa = self.int(IntOp::Or, mantissa, one);
        let total = self.int(IntOp::Add, exponent, more);
        let total = self.int(IntOp::Add, total, own);
        let first = self.clamped(total, -1022, 1023);
        let second = self.int(IntOp::Sub, total, first);
        let second = self.clamped(second, -100, 100);
        let (first, second) = (self.power(first), self.power(second));
        let product = self.float(FloatOp::Mul, Fmt::F64, mantissa, first);
        let product = self.op1(Op::Float(FloatOp::Mul, mode), &[product, second]);
        // Zeros, infinities and NaNs.
        let size = self.signed(fmt, a, true, false);
        let (zero, last) = (self.constant(Ty::I64, 0), self.constant(Ty::I64, infinity(fmt)));
        let (is_zero, is_special) =
            (self.compare(IntCmp::Eq, size, zero), self.compare(IntCmp::GeU, size, last));
        let own = self.either(is_zero, is_special);
        self.select(own, a, product)
    }

    /// A number times a constant power of 2.
    fn times_power(&mut self, fmt: Fmt, a: Value, exponent: i32) -> Value {
        let (bits, bias) = shape(fmt);
        let power = self.constant(fmt.ty(), ((bias + exponent) as u64) << bits);
        self.float(FloatOp::Mul, fmt, a, power)
    }

    /// The exponent of a float with its bias, as an i32.
    fn biased_exponent(&mut self, fmt: Fmt, a: Value) -> Value {
        let (bits, bias) = shape(fmt);
        let by = self.word(bits);
        let high = self.shift(ShiftOp::ShrU, a, by);
        let mask = self.constant(fmt.ty(), 2 * bias as u64 + 1);
        let exponent = self.int(IntOp::And, high, mask);
        self.resized(exponent, Ty::I32)
    }

    /// Whether a float is subnormal, without its sign.
    fn is_subnormal(&mut self, fmt: Fmt, a: Value) -> Value {
        let size = self.signed(fmt, a, true, false);
        let one = self.constant(fmt.ty(), 1);
        let rest = self.int(IntOp::Sub, size, one);
        let least = self.constant(fmt.ty(), (1u64 << shape(fmt).0) - 1);
        self.compare(IntCmp::LtU, rest, least)
    }

    /// `v_div_scale`: a numerator or a denominator, scaled so that no step of the division has subnormal
    /// operands, and whether the quotient must be scaled in turn.
    pub fn divided_scale(
        &mut self,
        fmt: Fmt,
        a: Value,
        denominator: Value,
        numerator: Value,
    ) -> (Value, Value) {
        // Exponents from which quotients overflow, of the scale, and of small numerators.
        let (far, scale, small) = if fmt == Fmt::F64 { (768, 128, 53) } else { (96, 64, 23) };
        let (up, down) = (self.times_power(fmt, a, scale), self.times_power(fmt, a, -scale));
        let zero = self.constant(fmt.ty(), 0);
        let one = self.constant(fmt.ty(), (shape(fmt).1 as u64) << shape(fmt).0);
        let inverse = self.float(FloatOp::Div, fmt, one, denominator);
        let quotient = self.float(FloatOp::Div, fmt, numerator, denominator);
        let inverse = self.is_subnormal(fmt, inverse);
        let quotient = self.is_subnormal(fmt, quotient);
        let is_denominator = self.ordered(FloatCmp::Eq, fmt, a, denominator);
        let is_numerator = self.ordered(FloatCmp::Eq, fmt, a, numerator);
        let (n, d) = (self.biased_exponent(fmt, numerator), self.biased_exponent(fmt, denominator));
        let difference = self.int(IntOp::Sub, n, d);
        let (far, small) = (self.word(far), self.word(small));
        let near_overflow = self.compare(IntCmp::GeS, difference, far);
        let tiny_numerator = self.compare(IntCmp::LeS, n, small);
        let tiny_denominator = self.is_subnormal(fmt, denominator);
        let (x, y) = (
            self.ordered(FloatCmp::Eq, fmt, numerator, zero),
            self.ordered(FloatCmp::Eq, fmt, denominator, zero),
        );
        let none = self.either(x, y);
        let nan = self.constant(fmt.ty(), infinity(fmt) | 1 << (shape(fmt).0 - 1));
        let (yes, no) = (self.constant(Ty::I1, 1), self.constant(Ty::I1, 0));
        let denominator_up = self.select(is_denominator, up, a);
        let numerator_up = self.select(is_numerator, up, a);
        let both = self.int(IntOp::And, inverse, quotient);
        // From the last rule to the first.
        let rules = [
            (tiny_numerator, up, no),
            (quotient, numerator_up, yes),
            (inverse, down, no),
            (both, denominator_up, yes),
            (tiny_denominator, up, no),
            (near_overflow, denominator_up, yes),
            (none, nan, no),
        ];
        let (mut value, mut flag) = (a, no);
        for (condition, then, mask) in rules {
            value = self.select(condition, then, value);
            flag = self.select(condition, mask, flag);
        }
        (value, flag)
    }

    /// `v_div_fmas`: a fused product and sum that undoes the scaling. The documents of gfx11 and later give
    /// the direction by the quotient's exponent; those before state 2^32 and 2^64, which would be no
    /// quotient.
    pub fn divided_fma(&mut self, fmt: Fmt, a: Value, b: Value, c: Value, flag: Value) -> Value {
        let mode = self.float_mode(fmt);
        let value = self.op1(Op::Fma(FloatMode { ftz: false, ..mode }), &[a, b, c]);
        let scale = if fmt == Fmt::F64 { 128 } else { 64 };
        let exponent = self.biased_exponent(fmt, c);
        let bias = self.word(shape(fmt).1 as u32);
        let large = self.compare(IntCmp::GtS, exponent, bias);
        let (up, down) = (self.times_power(fmt, value, scale), self.times_power(fmt, value, -scale));
        let scaled = self.select(large, up, down);
        self.select(flag, scaled, value)
    }

    /// `v_div_fixup`: the quotient, or what it is for operands that are special.
    pub fn divided_fixup(
        &mut self,
        fmt: Fmt,
        quotient: Value,
        denominator: Value,
        numerator: Value,
    ) -> Value {
        let sign = self.constant(fmt.ty(), 1u64 << (fmt.ty().bits() - 1));
        let signs = self.int(IntOp::Xor, denominator, numerator);
        let sign = self.int(IntOp::And, signs, sign);
        let size = self.signed(fmt, quotient, true, false);
        let (n, d) = (self.signed(fmt, numerator, true, false), self.signed(fmt, denominator, true, false));
        let (zero, last) = (self.constant(fmt.ty(), 0), self.constant(fmt.ty(), infinity(fmt)));
        let quiet = self.constant(fmt.ty(), 1u64 << (shape(fmt).0 - 1));
        let invalid = self.constant(fmt.ty(), infinity(fmt) | 3u64 << (shape(fmt).0 - 1));
        let is = |s: &mut Self, a, b| s.compare(IntCmp::Eq, a, b);
        let (n_zero, d_zero) = (is(self, n, zero), is(self, d, zero));
        let (n_last, d_last) = (is(self, n, last), is(self, d, last));
        let both_zero = self.int(IntOp::And, n_zero, d_zero);
        let both_last = self.int(IntOp::And, n_last, d_last);
        let to_last = self.either(d_zero, n_last);
        let to_zero = self.either(d_last, n_zero);
        let no_number = self.either(both_zero, both_last);
        // A quotient that is below the least number is zero, rounded to nearest.
        let (below, far) = match fmt {
            Fmt::F64 => (1075, true),
            _ => (150, fmt == Fmt::F32),
        };
        let mut value = size;
        if far {
            let (x, y) = (self.biased_exponent(fmt, numerator), self.biased_exponent(fmt, denominator));
            let difference = self.int(IntOp::Sub, x, y);
            let below = self.word(-below as u32);
            let lost = self.compare(IntCmp::LtS, difference, below);
            value = self.select(lost, zero, value);
        }
        value = self.select(to_zero, zero, value);
        value = self.select(to_last, last, value);
        value = self.int(IntOp::Or, value, sign);
        // The sign of an invalid quotient is set whatever the operands.
        let negative = self.int(IntOp::Or, invalid, zero);
        value = self.select(no_number, negative, value);
        for operand in [denominator, numerator] {
            let nan = self.is_nan(fmt, operand);
            let quiet = self.int(IntOp::Or, operand, quiet);
            value = self.select(nan, quiet, value);
        }
        value
    }

    /// Whether a float is of one of the classes of a mask: from bit 0 on a signalling NaN, a quiet NaN, -∞, a
    /// negative normal or subnormal number, -0, 0, a positive subnormal or normal number, ∞. Only the answer
    /// for active lanes counts.
    pub fn class(&mut self, fmt: Fmt, a: Value, mask: Value) -> Value {
        if let Some(mask) = self.active_constant(mask) {
            return self.one_of_classes(fmt, a, mask);
        }
        let size = self.signed(fmt, a, true, false);
        let ty = fmt.ty();
        let (zero, last) = (self.constant(ty, 0), self.constant(ty, infinity(fmt)));
        let least = self.constant(ty, 1u64 << shape(fmt).0);
        let quiet = self.constant(ty, infinity(fmt) | 1u64 << (shape(fmt).0 - 1));
        let negative = self.compare(IntCmp::LtS, a, zero);
        let mut class = self.word(8);
        let steps = [(IntCmp::LtU, least, 7), (IntCmp::Eq, zero, 6), (IntCmp::Eq, last, 9)];
        for (cmp, limit, number) in steps {
            let (is, number) = (self.compare(cmp, size, limit), self.word(number));
            class = self.select(is, number, class);
        }
        let eleven = self.word(11);
        let mirrored = self.int(IntOp::Sub, eleven, class);
        class = self.select(negative, mirrored, class);
        let (nan, is_quiet) = (self.compare(IntCmp::GtU, size, last), self.compare(IntCmp::GeU, size, quiet));
        let is_quiet = self.resized(is_quiet, Ty::I32);
        class = self.select(nan, is_quiet, class);
        let mask = self.resized(mask, Ty::I32);
        let bit = self.shift(ShiftOp::ShrU, mask, class);
        self.resized(bit, Ty::I1)
    }

    /// The same for a mask that is known: a test for each class, of both signs at once if the mask has both.
    fn one_of_classes(&mut self, fmt: Fmt, a: Value, mask: u64) -> Value {
        let ty = fmt.ty();
        let size = self.signed(fmt, a, true, false);
        let zero = self.constant(ty, 0);
        let negative = self.compare(IntCmp::LtS, a, zero);
        let positive = self.not(negative);
        let (one, last) = (1u64 << shape(fmt).0, infinity(fmt));
        let quiet = last | one >> 1;
        let most = ty.mask() as u64 >> 1;
        // The bits of the negative and the positive class, and the least and the greatest size.
        let classes = [
            (0, 0, last + 1, quiet - 1),
            (1, 1, quiet, most),
            (2, 9, last, last),
            (3, 8, one, last - 1),
            (4, 7, 1, one - 1),
            (5, 6, 0, 0),
        ];
        let mut any = self.constant(Ty::I1, 0);
        for (below, above, least, greatest) in classes {
            let of_sign = match (mask >> below & 1 == 1, mask >> above & 1 == 1) {
                (false, false) => continue,
                (true, true) => None,
                (true, false) => Some(negative),
                (false, true) => Some(positive),
            };
            let (least, length) = (self.constant(ty, least), self.constant(ty, greatest - least));
            let distance = self.int(IntOp::Sub, size, least);
            let mut is = self.compare(IntCmp::LeU, distance, length);
            if let Some(sign) = of_sign {
                is = self.int(IntOp::And, is, sign);
            }
            any = self.either(any, is);
        }
        any
    }

    /// A function of the transcendental unit.
    pub fn transcendental(&mut self, name: &str, fmt: Fmt, a: Value) -> Result<Value> {
        // Reciprocals and roots that need no more than one operation.
        let single = match name {
            "rcp" => Some(FloatUnOp::Rcp),
            "sqrt" => Some(FloatUnOp::Sqrt),
            _ => None,
        };
        if let Some(op) = single.filter(|_| fmt != Fmt::F16) {
            let mode = FloatMode { ftz: fmt == Fmt::F32, ..FloatMode::rn(fmt) };
            return Ok(self.op1(Op::FloatUn(op, mode), &[a]));
        }
        // As precise as the hardware's, and fast.
        let near = match name {
            "rsq" => Some(ApproxOp::Rsqrt),
            "exp" => Some(ApproxOp::Ex2),
            "log" => Some(ApproxOp::Lg2),
            _ => None,
        };
        if let Some(op) = near.filter(|_| fmt == Fmt::F32) {
            return Ok(self.op1(Op::Approx { op, fmt, ftz: true }, &[a]));
        }
        let mut a = a;
        if fmt == Fmt::F32 {
            // A product with 1 flushes.
            let one = self.constant(Ty::I32, 0x3f80_0000);
            let mode = FloatMode { ftz: true, ..FloatMode::rn(fmt) };
            a = self.op1(Op::Float(FloatOp::Mul, mode), &[a, one]);
        }
        let wide = self.widened(fmt, a);
        let result = match name {
            "rcp" | "sqrt" => {
                let op = single.unwrap_or(FloatUnOp::Rcp);
                self.op1(Op::FloatUn(op, FloatMode::rn(Fmt::F64)), &[wide])
            }
            "rsq" => {
                let root = self.op1(Op::FloatUn(FloatUnOp::Sqrt, FloatMode::rn(Fmt::F64)), &[wide]);
                self.op1(Op::FloatUn(FloatUnOp::Rcp, FloatMode::rn(Fmt::F64)), &[root])
            }
            "exp" => self.power_of_two(wide),
            "log" => self.logarithm(wide),
            "sin" | "cos" => self.sine(wide, name == "cos"),
            _ => return Err(format!("the function {name} is not supported")),
        };
        let mode = FloatMode { ftz: fmt == Fmt::F32, ..FloatMode::rn(fmt) };
        Ok(self.exact_or_rounded(Fmt::F64, mode, result))
    }

    /// A polynomial, its highest coefficient first.
    fn polynomial(&mut self, x: Value, coefficients: impl Iterator<Item = f64>) -> Value {
        let mut sum = None;
        for coefficient in coefficients {
            let term = self.double(coefficient);
            sum = Some(match sum {
                None => term,
                Some(sum) => self.op1(Op::Fma(FloatMode::rn(Fmt::F64)), &[sum, x, term]),
            });
        }
        sum.unwrap_or(x)
    }

    fn nearest(&mut self, a: Value) -> Value {
        self.op1(Op::FloatUn(FloatUnOp::RoundInt, FloatMode::rn(Fmt::F64)), &[a])
    }

    /// 2^x: a Taylor series around the nearest integer.
    fn power_of_two(&mut self, x: Value) -> Value {
        // Beyond, results of f32 and f16 are infinities and zeros.
        let (least, most) = (self.double(-1000.0), self.double(1000.0));
        let inside = self.float(FloatOp::Max, Fmt::F64, x, least);
        let inside = self.float(FloatOp::Min, Fmt::F64, inside, most);
        let whole = self.nearest(inside);
        let rest = self.float(FloatOp::Sub, Fmt::F64, inside, whole);
        let mut coefficients = vec![1.0];
        for n in 1..12 {
            let last = coefficients.last().copied().unwrap_or(1.0);
            coefficients.push(last * std::f64::consts::LN_2 / f64::from(n));
        }
        let value = self.polynomial(rest, coefficients.into_iter().rev());
        let exponent = self.integer_of(Fmt::F64, Ty::I32, true, Round::Rn, whole);
        let power = self.power(exponent);
        let value = self.float(FloatOp::Mul, Fmt::F64, value, power);
        let nan = self.is_nan(Fmt::F64, x);
        self.select(nan, x, value)
    }

    /// The logarithm to base 2: the exponent, and a series of `(m - 1) / (m + 1)` for the rest.
    fn logarithm(&mut self, x: Value) -> Value {
        let root = self.double(std::f64::consts::FRAC_1_SQRT_2);
        let (one, by) = (self.double(1.0), self.word(52));
        let above = self.int(IntOp::Sub, x, root);
        let exponent = self.shift(ShiftOp::ShrS, above, by);
        let moved = self.shift(ShiftOp::Shl, exponent, by);
        let m = self.int(IntOp::Sub, x, moved);
        let (less, more) =
            (self.float(FloatOp::Sub, Fmt::F64, m, one), self.float(FloatOp::Add, Fmt::F64, m, one));
        let s = self.float(FloatOp::Div, Fmt::F64, less, more);
        let square = self.float(FloatOp::Mul, Fmt::F64, s, s);
        let terms = (0..10).rev().map(|n| 2.0 / std::f64::consts::LN_2 / f64::from(2 * n + 1));
        let series = self.polynomial(square, terms);
        let op = Op::IntToFloat { from: Ty::I64, signed: true, mode: FloatMode::rn(Fmt::F64) };
        let exponent = self.op1(op, &[exponent]);
        let value = self.op1(Op::Fma(FloatMode::rn(Fmt::F64)), &[s, series, exponent]);
        // Zeros, negative numbers, infinities and NaNs.
        let zero = self.double(0.0);
        let (last, least) = (self.double(f64::INFINITY), self.double(f64::NEG_INFINITY));
        let nan = self.double(f64::NAN);
        let is_last = self.ordered(FloatCmp::Eq, Fmt::F64, x, last);
        let value = self.select(is_last, last, value);
        let number = self.ordered(FloatCmp::Ge, Fmt::F64, x, zero);
        let value = self.select(number, value, nan);
        let is_zero = self.ordered(FloatCmp::Eq, Fmt::F64, x, zero);
        self.select(is_zero, least, value)
    }

    /// The sine or cosine of an angle in turns.
    fn sine(&mut self, x: Value, cosine: bool) -> Value {
        let whole = self.nearest(x);
        let rest = self.float(FloatOp::Sub, Fmt::F64, x, whole);
        let (quarter, half) = (self.double(0.25), self.double(0.5));
        let size = self.signed(Fmt::F64, rest, true, false);
        // An angle of at most a quarter of a turn with the same sine.
        let angle = if cosine {
            self.float(FloatOp::Sub, Fmt::F64, quarter, size)
        } else {
            let mirrored = self.float(FloatOp::Sub, Fmt::F64, half, size);
            let mirrored = self.op1(Op::CopySign(Fmt::F64), &[mirrored, rest]);
            let large = self.ordered(FloatCmp::Gt, Fmt::F64, size, quarter);
            self.select(large, mirrored, rest)
        };
        let square = self.float(FloatOp::Mul, Fmt::F64, angle, angle);
        let turn = std::f64::consts::TAU;
        let mut terms = vec![turn];
        for n in 1..10 {
            let last = terms.last().copied().unwrap_or(turn);
            terms.push(-last * turn * turn / f64::from(2 * n * (2 * n + 1)));
        }
        let series = self.polynomial(square, terms.into_iter().rev());
        let value = self.float(FloatOp::Mul, Fmt::F64, angle, series);
        if cosine {
            return value;
        }
        // The sine of -0 is -0, that of other integers 0.
        let zero = self.double(0.0);
        let is_zero = self.ordered(FloatCmp::Eq, Fmt::F64, x, zero);
        self.select(is_zero, x, value)
    }

    /// `v_trig_preop_f64`: 53 bits of 2/π for the reduction of an angle, from a position that the angle's
    /// exponent and the segment say.
    pub fn two_over_pi(&mut self, a: Value, segment: Value) -> Value {
        let exponent = self.biased_exponent(Fmt::F64, a);
        let (five, bits) = (self.word(31), self.word(53));
        let segment = self.int(IntOp::And, segment, five);
        let segment = self.int(IntOp::Mul, segment, bits);
        let limit = self.word(1077);
        let beyond = self.int(IntOp::Sub, exponent, limit);
        let none = self.word(0);
        let beyond = self.int(IntOp::MaxS, beyond, none);
        let position = self.int(IntOp::Add, segment, beyond);
        let by = self.word(5);
        let first = self.shift(ShiftOp::ShrU, position, by);
        let within = self.int(IntOp::And, position, five);
        let mut words = [none; 3];
        for (index, word) in TWO_OVER_PI.iter().enumerate() {
            for (distance, chosen) in words.iter_mut().enumerate() {
                let Some(at) = index.checked_sub(distance) else { continue };
                let (at, word) = (self.word(at as u32), self.word(*word));
                let here = self.compare(IntCmp::Eq, first, at);
                *chosen = self.select(here, word, *chosen);
            }
        }
        let funnel = Op::Funnel { left: true, clamp: false };
        let high = self.op1(funnel.clone(), &[words[1], words[0], within]);
        let low = self.op1(funnel, &[words[2], words[1], within]);
        let all = self.whole(low, high);
        let eleven = self.word(11);
        let all = self.shift(ShiftOp::ShrU, all, eleven);
        let op = Op::IntToFloat { from: Ty::I64, signed: false, mode: FloatMode::rn(Fmt::F64) };
        let value = self.op1(op, &[all]);
        let down = self.word(-53i32 as u32);
        let scale = self.int(IntOp::Sub, down, position);
        let (large, more) = (self.word(1968), self.word(128));
        let large = self.compare(IntCmp::GeS, exponent, large);
        let raised = self.int(IntOp::Add, scale, more);
        let scale = self.select(large, raised, scale);
        self.scaled(Fmt::F64, value, scale)
    }
}
