//! Whether a result of an approximate function is close enough to the hardware's.
//!
//! Both our result and the hardware's may be off by the bound that the PTX manual states, so twice the bound
//! is allowed.

use super::{Form, InputType};
use crate::manual;

/// Whether `got` is acceptable where the hardware gave `expected`.
pub(super) fn close(form: &Form, inputs: &[u64], expected: u64, got: u64) -> bool {
    let Some(&own) = form.inputs.first() else { return false };
    let input = inputs.first().copied().unwrap_or_default();
    match own {
        InputType::F16x2 | InputType::BF16x2 => {
            let element = if own == InputType::F16x2 { InputType::F16 } else { InputType::BF16 };
            (0..2).all(|part| {
                let half = |value: u64| value >> (16 * part) & 0xffff;
                element_close(form, element, half(input), half(expected), half(got))
            })
        }
        _ => element_close(form, own, input, expected, got),
    }
}

fn element_close(form: &Form, t: InputType, input: u64, expected: u64, got: u64) -> bool {
    let format = Format::of(t);
    let (x, e, g) = (format.value(input), format.value(expected), format.value(got));
    if e.is_nan() || g.is_nan() {
        return e.is_nan() && g.is_nan();
    }
    if e == 0.0 && g == 0.0 {
        return e.is_sign_negative() == g.is_sign_negative();
    }
    if e.is_infinite() || g.is_infinite() {
        // At the edge of the range, one result may overflow and the other not.
        let finite = if e.is_infinite() { g } else { e };
        return e.signum() == g.signum() && finite.abs() >= 0.999 * format.largest();
    }
    let bounds = manual::bounds(form.instruction());
    // If the manual states no bound (sin and cos), allow the range of the function.
    let allowed = bounds.iter().find(|b| b.covers(x)).map_or(2.0, |b| 2.0 * b.allowed(e));
    let error = (e - g).abs();
    // Allow two steps of the smallest representable number; results below the normal range may also be
    // flushed to zero.
    error <= allowed
        || error <= 2.0 * format.step(e)
        || e.abs().max(g.abs()) <= format.smallest_normal() && form.name.contains(".ftz")
}

/// An IEEE format of at most 64 bits.
struct Format {
    exponent: i32,
    mantissa: i32,
}

impl Format {
    fn of(t: InputType) -> Format {
        match t {
            InputType::F16 | InputType::F16x2 => Format { exponent: 5, mantissa: 10 },
            InputType::BF16 | InputType::BF16x2 => Format { exponent: 8, mantissa: 7 },
            InputType::F64 => Format { exponent: 11, mantissa: 52 },
            _ => Format { exponent: 8, mantissa: 23 },
        }
    }

    fn bias(&self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    fn value(&self, bits: u64) -> f64 {
        let mantissa = bits & ((1 << self.mantissa) - 1);
        let exponent = (bits >> self.mantissa & ((1 << self.exponent) - 1)) as i32;
        let sign = if bits >> (self.mantissa + self.exponent) & 1 == 1 { -1.0 } else { 1.0 };
        if self.mantissa == 52 {
            return f64::from_bits(bits);
        }
        let fraction = mantissa as f64 / f64::from(self.mantissa).exp2();
        sign * match exponent {
            0 => fraction * f64::from(1 - self.bias()).exp2(),
            e if e == (1 << self.exponent) - 1 => {
                if mantissa == 0 {
                    f64::INFINITY
                } else {
                    f64::NAN
                }
            }
            e => (1.0 + fraction) * f64::from(e - self.bias()).exp2(),
        }
    }

    fn largest(&self) -> f64 {
        (2.0 - f64::from(-self.mantissa).exp2()) * f64::from(self.bias()).exp2()
    }

    fn smallest_normal(&self) -> f64 {
        f64::from(1 - self.bias()).exp2()
    }

    /// The distance between neighbours below the normal range. For formats whose bound is given in units of
    /// f32 (f16 and bf16), half of such a step at `x`.
    fn step(&self, x: f64) -> f64 {
        let subnormal = f64::from(1 - self.bias() - self.mantissa).exp2();
        if self.mantissa <= 10 {
            let exponent = x.abs().log2().floor().max(f64::from(1 - self.bias()));
            return (exponent - f64::from(self.mantissa) - 1.0).exp2().max(subnormal / 2.0);
        }
        subnormal
    }
}
