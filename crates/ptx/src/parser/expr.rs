//! Constant expressions (PTX ISA 4.5.4 to 4.5.6): integers computed in 64 bits, floats in double precision.

use super::{MAX_DEPTH, Parsed, Parser};
use crate::ast::Integer;
use crate::diagnostic::ErrorKind;
use crate::lexer::{Kind, f32_bits, f64_bits, integer};

/// A constant's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Constant {
    Int(Integer),
    F32(u32),
    F64(u64),
}

impl Parser<'_> {
    /// Whether the next token can start a constant.
    pub fn at_constant(&self) -> bool {
        match self.token.kind {
            Kind::Int | Kind::Decimal | Kind::F32 | Kind::F64 => true,
            Kind::Punct(b) => matches!(b, b'-' | b'+' | b'~' | b'(' | b'!'),
            Kind::Ident => self.text(self.token.span) == "WARP_SZ",
            _ => false,
        }
    }

    /// A constant expression.
    pub fn constant(&mut self) -> Parsed<Constant> {
        self.ternary(0)
    }

    /// A constant expression that must be an integer.
    pub fn constant_int(&mut self) -> Parsed<Integer> {
        let start = self.token.span.start;
        match self.constant()? {
            Constant::Int(i) => Ok(i),
            _ => {
                let span = self.since(start);
                Err(self.error(ErrorKind::Semantic, span, "Integer constant expected", "this is a float"))
            }
        }
    }

    fn deeper(&mut self, depth: usize) -> Parsed<usize> {
        if depth < MAX_DEPTH {
            return Ok(depth + 1);
        }
        let span = self.token.span;
        Err(self.error(ErrorKind::Limit, span, "Constant expression nests too deeply", "gave up here"))
    }

    fn ternary(&mut self, depth: usize) -> Parsed<Constant> {
        let depth = self.deeper(depth)?;
        let condition = self.binary(0, depth)?;
        if !self.token.is(b'?') {
            return Ok(condition);
        }
        self.bump();
        let then = self.ternary(depth)?;
        self.expect(b':')?;
        let otherwise = self.ternary(depth)?;
        Ok(if truth(condition) { then } else { otherwise })
    }

    fn binary(&mut self, least: u8, depth: usize) -> Parsed<Constant> {
        let depth = self.deeper(depth)?;
        let mut left = self.unary(depth)?;
        while let Some((op, level)) = self.binary_op().filter(|(_, level)| *level >= least) {
            let span = self.bump().span;
            let right = self.binary(level + 1, depth)?;
            left = match apply(op, left, right) {
                Some(value) => value,
                None => {
                    let message = "Constant expression cannot be computed";
                    return Err(self.error(
                        ErrorKind::Semantic,
                        span,
                        message,
                        "division by zero, or float operand",
                    ));
                }
            };
        }
        Ok(left)
    }

    /// The next operator, as a byte, with its precedence. Two-byte operators use a letter (`l` for `<<`).
    fn binary_op(&self) -> Option<(u8, u8)> {
        Some(match self.token.kind {
            Kind::Punct2(b'|', _) => (b'o', 1),
            Kind::Punct2(b'&', _) => (b'a', 2),
            Kind::Punct(b'|') => (b'|', 3),
            Kind::Punct(b'^') => (b'^', 4),
            Kind::Punct(b'&') => (b'&', 5),
            Kind::Punct2(b'=', _) => (b'=', 6),
            Kind::Punct2(b'!', _) => (b'!', 6),
            Kind::Punct(b'<') => (b'<', 7),
            Kind::Punct(b'>') => (b'>', 7),
            Kind::Punct2(b'<', b'=') => (b'L', 7),
            Kind::Punct2(b'>', b'=') => (b'G', 7),
            Kind::Punct2(b'<', _) => (b'l', 8),
            Kind::Punct2(b'>', _) => (b'r', 8),
            Kind::Punct(b'+') => (b'+', 9),
            Kind::Punct(b'-') => (b'-', 9),
            Kind::Punct(b'*') => (b'*', 10),
            Kind::Punct(b'/') => (b'/', 10),
            Kind::Punct(b'%') => (b'%', 10),
            _ => return None,
        })
    }

    fn unary(&mut self, depth: usize) -> Parsed<Constant> {
        let depth = self.deeper(depth)?;
        let token = self.token;
        match token.kind {
            Kind::Punct(b'(') => {
                self.bump();
                if let cast @ ("s64" | "u64") = self.word() {
                    self.bump();
                    self.expect(b')')?;
                    let value = self.unary(depth)?;
                    return Ok(match value {
                        Constant::Int(i) => Constant::Int(Integer { bits: i.bits, unsigned: cast == "u64" }),
                        float => float,
                    });
                }
                let value = self.ternary(depth)?;
                self.expect(b')')?;
                Ok(value)
            }
            Kind::Punct(op @ (b'-' | b'+' | b'~' | b'!')) => {
                self.bump();
                let value = self.unary(depth)?;
                match (op, value) {
                    (b'+', v) => Ok(v),
                    (b'-', Constant::Int(i)) => Ok(Constant::Int(Integer {
                        bits: i.bits.wrapping_neg(),
                        unsigned: i.unsigned && i.bits > 1 << 63,
                    })),
                    (b'-', Constant::F32(b)) => Ok(Constant::F32(b ^ 1 << 31)),
                    (b'-', Constant::F64(b)) => Ok(Constant::F64(b ^ 1 << 63)),
                    (b'~', Constant::Int(i)) => Ok(Constant::Int(Integer { bits: !i.bits, ..i })),
                    (b'!', v) => Ok(flag(!truth(v))),
                    _ => Err(self.error(
                        ErrorKind::Semantic,
                        token.span,
                        "Integer constant expected",
                        "not for floats",
                    )),
                }
            }
            Kind::Ident if self.text(token.span) == "WARP_SZ" => {
                self.bump();
                Ok(Constant::Int(Integer { bits: 32, unsigned: false }))
            }
            _ => self.literal(),
        }
    }

    /// A constant without operators.
    pub fn literal(&mut self) -> Parsed<Constant> {
        let span = self.token.span;
        let text = self.text(span);
        let value = match self.token.kind {
            Kind::Int => integer(text).map(|(bits, unsigned)| Constant::Int(Integer { bits, unsigned })),
            Kind::Decimal => text.parse::<f64>().ok().map(|v| Constant::F64(v.to_bits())),
            Kind::F32 => f32_bits(text).map(Constant::F32),
            Kind::F64 => f64_bits(text).map(Constant::F64),
            _ => return Err(self.unexpected("a constant")),
        };
        let Some(value) = value else {
            return Err(self.bad_number(span));
        };
        self.bump();
        Ok(value)
    }
}

fn truth(value: Constant) -> bool {
    match value {
        Constant::Int(i) => i.bits != 0,
        Constant::F32(b) => f32::from_bits(b) != 0.0,
        Constant::F64(b) => f64::from_bits(b) != 0.0,
    }
}

fn flag(value: bool) -> Constant {
    Constant::Int(Integer { bits: u64::from(value), unsigned: false })
}

fn double(value: Constant) -> f64 {
    match value {
        Constant::Int(i) if i.unsigned => i.bits as f64,
        Constant::Int(i) => i.bits as i64 as f64,
        Constant::F32(b) => f64::from(f32::from_bits(b)),
        Constant::F64(b) => f64::from_bits(b),
    }
}

fn apply(op: u8, left: Constant, right: Constant) -> Option<Constant> {
    match (left, right) {
        (Constant::Int(a), Constant::Int(b)) => apply_int(op, a, b),
        _ => apply_float(op, double(left), double(right)),
    }
}

fn apply_float(op: u8, a: f64, b: f64) -> Option<Constant> {
    Some(match op {
        b'+' => Constant::F64((a + b).to_bits()),
        b'-' => Constant::F64((a - b).to_bits()),
        b'*' => Constant::F64((a * b).to_bits()),
        b'/' => Constant::F64((a / b).to_bits()),
        b'=' => flag(a == b),
        b'!' => flag(a != b),
        b'<' => flag(a < b),
        b'>' => flag(a > b),
        b'L' => flag(a <= b),
        b'G' => flag(a >= b),
        b'a' => flag(a != 0.0 && b != 0.0),
        b'o' => flag(a != 0.0 || b != 0.0),
        _ => return None,
    })
}

fn apply_int(op: u8, a: Integer, b: Integer) -> Option<Constant> {
    let unsigned = a.unsigned || b.unsigned;
    let (x, y) = (a.bits, b.bits);
    let (sx, sy) = (x as i64, y as i64);
    let less = if unsigned { x < y } else { sx < sy };
    let amount = u32::try_from(y).unwrap_or(u32::MAX);
    let bits = match op {
        b'+' => x.wrapping_add(y),
        b'-' => x.wrapping_sub(y),
        b'*' => x.wrapping_mul(y),
        b'/' if unsigned => x.checked_div(y)?,
        b'/' if y != 0 => sx.wrapping_div(sy) as u64,
        b'%' if unsigned => x.checked_rem(y)?,
        b'%' if y != 0 => sx.wrapping_rem(sy) as u64,
        b'&' => x & y,
        b'|' => x | y,
        b'^' => x ^ y,
        b'l' => return Some(Constant::Int(Integer { bits: x.checked_shl(amount).unwrap_or(0), ..a })),
        b'r' if a.unsigned => {
            return Some(Constant::Int(Integer { bits: x.checked_shr(amount).unwrap_or(0), ..a }));
        }
        b'r' => return Some(Constant::Int(Integer { bits: (sx >> amount.min(63)) as u64, ..a })),
        b'=' => return Some(flag(x == y)),
        b'!' => return Some(flag(x != y)),
        b'<' => return Some(flag(less)),
        b'>' => return Some(flag(!less && x != y)),
        b'L' => return Some(flag(less || x == y)),
        b'G' => return Some(flag(!less)),
        b'a' => return Some(flag(x != 0 && y != 0)),
        b'o' => return Some(flag(x != 0 || y != 0)),
        _ => return None,
    };
    Some(Constant::Int(Integer { bits, unsigned }))
}
