//! Whether a result of an approximate function is near enough to the hardware's.
//!
//! Ours and the hardware's may each be off by the bound that the PTX manual states, so twice the bound is allowed.

use super::{Form, InputType};

/// The bounds of one function: an error within either is allowed.
struct Bound {
    relative: f64,
    absolute: f64,
}

/// The bound that the manual states (PTX ISA 9.0, 9.7.3 and 9.7.4), for arguments `x`.
fn bound(form: &Form, x: f64) -> Bound {
    let name = form.name.as_str();
    let (mut relative, mut absolute) = (0.0, 0.0);
    let two = |power: f64| power.exp2();
    match name.split('.').next().unwrap_or_default() {
        "sin" | "cos" => {
            absolute = match x.abs() {
                x if x <= 2.0 * std::f64::consts::PI => two(-20.5),
                x if x <= 100.0 * std::f64::consts::PI => two(-14.7),
                // No bound is stated: the range of the function.
                _ => 2.0,
            }
        }
        "lg2" if (0.5..=2.0).contains(&x) => absolute = two(-22.0),
        "tanh" if name.ends_with(".f32") => relative = two(-11.0),
        "tanh" => absolute = if name.contains("bf16") { two(-8.0) } else { two(-10.987) },
        "ex2" if name.contains("bf16") => relative = two(-7.0),
        "ex2" if name.contains("f16") => relative = two(-9.9),
        "rcp" | "rsqrt" if name.ends_with("f64") => relative = two(-20.0),
        "rsqrt" => relative = two(-22.9),
        "rcp" | "sqrt" => relative = two(-23.0),
        // Division and ex2 within two units in the last place, lg2 elsewhere within 2^-22.
        _ => relative = two(-22.0),
    }
    Bound { relative: 2.0 * relative, absolute: 2.0 * absolute }
}

/// Whether `got` may stand for the hardware's `expected`.
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
        // At the edge of the range one may overflow and the other not.
        let finite = if e.is_infinite() { g } else { e };
        return e.signum() == g.signum() && finite.abs() >= 0.999 * format.largest();
    }
    let bound = bound(form, x);
    let error = (e - g).abs();
    // Two steps of the smallest format there is; and results below the normal range may be flushed to zero.
    error <= bound.absolute
        || error <= bound.relative * e.abs()
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

    /// The distance between neighbours below the normal range, and half such a step of formats whose bound is given
    /// in units of f32 (the halves) at `x`.
    fn step(&self, x: f64) -> f64 {
        let subnormal = f64::from(1 - self.bias() - self.mantissa).exp2();
        if self.mantissa <= 10 {
            let exponent = x.abs().log2().floor().max(f64::from(1 - self.bias()));
            return (exponent - f64::from(self.mantissa) - 1.0).exp2().max(subnormal / 2.0);
        }
        subnormal
    }
}
