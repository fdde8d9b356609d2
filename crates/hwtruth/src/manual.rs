//! The errors that the PTX manual allows for the approximate functions (PTX ISA 9.0, 9.7.3 and 9.7.4).

/// The unit of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// The difference from the exact value.
    Absolute,
    /// The difference divided by the exact value.
    Relative,
    /// In units in the last place of the exact value, in f32.
    Ulps,
}

/// A bound, and the range of operands for which it is stated.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    /// The smallest magnitude of an operand in the range.
    pub from: f64,
    /// The largest magnitude of an operand in the range.
    pub to: f64,
    /// The bound's unit.
    pub measure: Measure,
    /// The largest allowed error.
    pub most: f64,
}

const fn all(measure: Measure, most: f64) -> Bound {
    Bound { from: 0.0, to: f64::INFINITY, measure, most }
}

impl Bound {
    /// The error of `got` against `exact`, in the bound's unit. Infinities count as the number after the
    /// largest.
    pub fn error(&self, exact: f64, got: f64) -> f64 {
        let limit = 128f64.exp2();
        let (exact, got) = (exact.clamp(-limit, limit), got.clamp(-limit, limit));
        let error = (exact - got).abs();
        match self.measure {
            Measure::Absolute => error,
            Measure::Relative if error == 0.0 => 0.0,
            Measure::Relative => error / exact.abs(),
            Measure::Ulps => error / ulp(exact),
        }
    }

    /// The allowed difference from `exact`.
    pub fn allowed(&self, exact: f64) -> f64 {
        match self.measure {
            Measure::Absolute => self.most,
            Measure::Relative => self.most * exact.abs(),
            Measure::Ulps => self.most * ulp(exact),
        }
    }

    /// Whether the bound is stated for this operand.
    pub fn covers(&self, x: f64) -> bool {
        (self.from..=self.to).contains(&x.abs())
    }
}

/// The unit in the last place of `x` in f32.
pub fn ulp(x: f64) -> f64 {
    let exponent = ((x.to_bits() >> 52 & 0x7ff) as i32 - 1023).clamp(-126, 127);
    f64::from_bits(((exponent - 23 + 1023) as u64) << 52)
}

/// The bounds of an instruction, the narrowest range first; empty if the manual states none (sin and cos
/// beyond 100 pi).
pub fn bounds(instruction: &str) -> Vec<Bound> {
    use Measure::{Absolute, Relative, Ulps};
    let two = |power: f64| power.exp2();
    let pi = std::f64::consts::PI;
    let (half, bfloat) = (instruction.contains(".f16"), instruction.contains(".bf16"));
    match instruction.split('.').next().unwrap_or_default() {
        "sin" | "cos" => {
            let within = |turns: f64, most| Bound { from: 0.0, to: turns * pi, measure: Absolute, most };
            vec![within(2.0, two(-20.5)), within(100.0, two(-14.7))]
        }
        "lg2" => {
            vec![Bound { from: 0.5, to: 2.0, measure: Absolute, most: two(-22.0) }, all(Relative, two(-22.0))]
        }
        "tanh" if bfloat => vec![all(Absolute, two(-8.0))],
        "tanh" if half => vec![all(Absolute, two(-10.987))],
        "tanh" => vec![all(Relative, two(-11.0))],
        "ex2" if bfloat => vec![all(Relative, two(-7.0))],
        "ex2" if half => vec![all(Relative, two(-9.9))],
        "rcp" | "rsqrt" if instruction.ends_with("f64") => vec![all(Relative, two(-20.0))],
        "rsqrt" => vec![all(Relative, two(-22.9))],
        "sqrt" => vec![all(Relative, two(-23.0))],
        "rcp" => vec![all(Ulps, 1.0)],
        _ => vec![all(Ulps, 2.0)],
    }
}

/// The mathematical function, in f64, that an instruction with one f32 operand approximates. `None` for other
/// instructions.
pub fn function(instruction: &str) -> Option<fn(f64) -> f64> {
    if !instruction.ends_with(".f32") {
        return None;
    }
    Some(match instruction.split('.').next()? {
        "rcp" => |x| 1.0 / x,
        "sqrt" => f64::sqrt,
        "rsqrt" => |x| 1.0 / x.sqrt(),
        "sin" => f64::sin,
        "cos" => f64::cos,
        "lg2" => f64::log2,
        "ex2" => f64::exp2,
        "tanh" => f64::tanh,
        _ => return None,
    })
}
