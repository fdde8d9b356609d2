//! Floating-point formats as lists of their numbers: the simplest model of conversions. Doubles represent
//! exactly every number here and every rounding boundary.

#![allow(dead_code, reason = "each test that includes this file uses part of it")]

/// A format: a sign, then exponent and fraction.
#[derive(Clone, Copy)]
pub struct Format {
    exponent: u32,
    fraction: u32,
    bias: i32,
    /// The largest finite code.
    largest: u64,
    /// The code of NaN; without one, the largest code is returned instead.
    nan: Option<u64>,
}

pub const F16: Format = Format { exponent: 5, fraction: 10, bias: 15, largest: 0x7bff, nan: Some(0x7fff) };
pub const BF16: Format = Format { exponent: 8, fraction: 7, bias: 127, largest: 0x7f7f, nan: Some(0x7fff) };
pub const E4M3: Format = Format { exponent: 4, fraction: 3, bias: 7, largest: 0x7e, nan: Some(0x7f) };
pub const E5M2: Format = Format { exponent: 5, fraction: 2, bias: 15, largest: 0x7b, nan: Some(0x7f) };
pub const E3M2: Format = Format { exponent: 3, fraction: 2, bias: 3, largest: 0x1f, nan: None };
pub const E2M3: Format = Format { exponent: 2, fraction: 3, bias: 1, largest: 0x1f, nan: None };
pub const E2M1: Format = Format { exponent: 2, fraction: 1, bias: 1, largest: 0x7, nan: None };

/// How a value between two codes is rounded.
#[derive(Clone, Copy)]
pub enum Rounding {
    /// To the nearer one; ties to the even one.
    Nearest,
    /// Away from zero if these bits carry when added to the distance from the lower neighbour, in units of
    /// the last place.
    Random { value: u64, bits: i32 },
}

impl Format {
    /// The mask of a code's bits.
    pub fn mask(self) -> u64 {
        (1 << (self.exponent + self.fraction + 1)) - 1
    }

    /// The value of a code without its sign, if it were a finite number.
    fn number(self, code: u64) -> f64 {
        let fraction = (code & ((1 << self.fraction) - 1)) as f64;
        let exponent = (code >> self.fraction) as i32;
        let lead = if exponent == 0 { 0.0 } else { (1u64 << self.fraction) as f64 };
        (lead + fraction) * 2f64.powi(exponent.max(1) - self.bias - self.fraction as i32)
    }

    /// The value of a code.
    pub fn decode(self, code: u64) -> f64 {
        let magnitude = code & (self.mask() >> 1);
        let sign = if magnitude == code { 1.0 } else { -1.0 };
        // 16-bit formats and e5m2 have an infinity after their largest number; larger codes are NaN.
        let infinite = self.nan.is_some_and(|nan| nan > self.largest + 1);
        match magnitude {
            m if m <= self.largest => sign * self.number(m),
            m if m == self.largest + 1 && infinite => sign * f64::INFINITY,
            _ => f64::NAN,
        }
    }

    /// The code of a number.
    pub fn encode(self, x: f64, rounding: Rounding, relu: bool, satfinite: bool) -> u64 {
        if x.is_nan() {
            return self.nan.unwrap_or(self.largest);
        }
        let size = x.abs();
        let limit = if satfinite { self.largest } else { self.largest + 1 };
        // The last code whose number does not exceed the value.
        let (mut lower, mut beyond) = (0, self.largest + 1);
        while beyond - lower > 1 {
            let middle = (lower + beyond) / 2;
            let part = if self.number(middle) <= size { &mut lower } else { &mut beyond };
            *part = middle;
        }
        let (below, above) = (self.number(lower), self.number(lower + 1));
        let up = match rounding {
            Rounding::Nearest => {
                let middle = (below + above) / 2.0;
                size > middle || size == middle && lower % 2 == 1
            }
            Rounding::Random { value, bits } => {
                size >= above - (above - below) * value as f64 * 2f64.powi(-bits)
            }
        };
        let code = (lower + u64::from(up)).min(limit);
        match (x.is_sign_negative(), relu) {
            (true, true) => 0,
            (true, false) => code | (self.mask() + 1) >> 1,
            (false, _) => code,
        }
    }
}
