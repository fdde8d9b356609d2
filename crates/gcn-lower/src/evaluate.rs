//! Evaluates the expressions of the tables: one operation of wave IR, or a few, for each word.

use wave::op::{
    CountOp, FloatCmp, FloatMode, FloatOp, FloatUnOp, IntCmp, IntOp, IntUnOp, Op, Round, ShiftOp,
};
use wave::types::Fmt;
use wave::{Ty, Value};

use crate::error::Result;
use crate::registers::Registers;
use crate::table::{Expr, Table};

/// What the names of an expression stand for.
pub(crate) struct Scope {
    /// Names and their values.
    pub names: Vec<(&'static str, Value)>,
    /// The format of float operations that do not name one.
    pub fmt: Fmt,
    /// Integers are computed with 64 bits, extended so, because the result will be clamped.
    pub exact: Option<bool>,
    pub table: &'static Table,
}

/// Operations of two integers.
const INT: &[(&str, IntOp)] = &[
    ("add", IntOp::Add),
    ("sub", IntOp::Sub),
    ("mul", IntOp::Mul),
    ("mulhu", IntOp::MulHiU),
    ("mulhs", IntOp::MulHiS),
    ("and", IntOp::And),
    ("or", IntOp::Or),
    ("xor", IntOp::Xor),
    ("minu", IntOp::MinU),
    ("maxu", IntOp::MaxU),
    ("mins", IntOp::MinS),
    ("maxs", IntOp::MaxS),
];

const SHIFTS: &[(&str, ShiftOp)] = &[("shl", ShiftOp::Shl), ("shr", ShiftOp::ShrU), ("sar", ShiftOp::ShrS)];

const COMPARISONS: &[(&str, IntCmp)] = &[
    ("eq", IntCmp::Eq),
    ("ne", IntCmp::Ne),
    ("lts", IntCmp::LtS),
    ("ltu", IntCmp::LtU),
    ("gts", IntCmp::GtS),
    ("gtu", IntCmp::GtU),
];

const UNARY: &[(&str, IntUnOp)] =
    &[("not", IntUnOp::Not), ("neg", IntUnOp::Neg), ("abs", IntUnOp::Abs), ("brev", IntUnOp::Brev)];

/// Counts. The leading zeros, and the leading bits that equal the sign, are -1 if there is no other bit.
const COUNTS: &[(&str, CountOp)] =
    &[("popc", CountOp::Popc), ("clz", CountOp::BfindShU), ("cls", CountOp::BfindShS)];

const FLOAT: &[(&str, FloatOp)] = &[
    ("fadd", FloatOp::Add),
    ("fsub", FloatOp::Sub),
    ("fmul", FloatOp::Mul),
    ("fmin", FloatOp::Min),
    ("fmax", FloatOp::Max),
];

fn find<T: Copy>(table: &[(&str, T)], name: &str) -> Option<T> {
    table.iter().find(|row| row.0 == name).map(|row| row.1)
}

fn format(word: &str) -> Option<Fmt> {
    Fmt::ALL.into_iter().find(|f| f.name() == word)
}

fn rounding(words: &[&str]) -> Option<Round> {
    let known = [("rn", Round::Rn), ("rz", Round::Rz), ("rm", Round::Rm), ("rp", Round::Rp)];
    words.iter().find_map(|word| find(&known, word))
}

impl Registers {
    /// The value of an expression; a number has the type `hint`.
    pub fn evaluate(&mut self, scope: &Scope, expr: &Expr, hint: Ty) -> Result<Value> {
        match expr {
            Expr::Number(number) => Ok(self.constant(hint, *number as u64)),
            Expr::Name(name) => scope
                .names
                .iter()
                .rev()
                .find(|row| row.0 == *name)
                .map(|row| row.1)
                .ok_or_else(|| format!("it has no {name}")),
            Expr::Apply(name, words, arguments) => {
                // Numbers have the type of what they are combined with.
                let mut values: Vec<Option<Value>> = vec![None; arguments.len()];
                for (value, argument) in values.iter_mut().zip(arguments) {
                    if !matches!(argument, Expr::Number(_)) {
                        *value = Some(self.evaluate(scope, argument, hint)?);
                    }
                }
                let ty = values
                    .iter()
                    .flatten()
                    .map(|v| self.func.ty(*v))
                    .find(|ty| *ty != Ty::I1)
                    .unwrap_or(hint);
                let mut args = Vec::with_capacity(values.len());
                for (value, argument) in values.iter().zip(arguments) {
                    args.push(match (value, argument) {
                        (Some(value), _) => *value,
                        (None, number) => self.evaluate(scope, number, ty)?,
                    });
                }
                let name = match *name {
                    "fp8" if self.has_ocp_floats() => "fp8_ocp",
                    "bf8" if self.has_ocp_floats() => "bf8_ocp",
                    name => name,
                };
                if let Some((parameters, meaning)) = scope.table.definitions.get(name) {
                    let names = parameters.iter().copied().zip(args).collect();
                    let inner = Scope { names, fmt: scope.fmt, exact: scope.exact, table: scope.table };
                    return self.evaluate(&inner, meaning, hint);
                }
                self.apply(scope, name, words, &args)
            }
        }
    }

    /// Two integers with the wider type.
    fn aligned(&mut self, scope: &Scope, a: Value, b: Value) -> (Value, Value) {
        let (x, y) = (self.func.ty(a), self.func.ty(b));
        let to = x.max(y);
        let signed = scope.exact.unwrap_or(false);
        (self.extended(a, to, signed), self.extended(b, to, signed))
    }

    /// An integer with more bits.
    pub fn extended(&mut self, a: Value, to: Ty, signed: bool) -> Value {
        let from = self.func.ty(a);
        match signed {
            _ if from == to => a,
            true => self.op1(Op::Sext { from, to }, &[a]),
            false => self.op1(Op::Zext { from, to }, &[a]),
        }
    }

    /// Bits of a value from a position on.
    fn field(&mut self, signed: bool, a: Value, position: u32, length: u32) -> Value {
        let (ty, position, length) = (self.func.ty(a), self.word(position), self.word(length));
        self.op1(Op::Bfe { signed, ty }, &[a, position, length])
    }

    /// The lower or the upper half of a value.
    fn part(&mut self, a: Value, high: bool) -> Value {
        let ty = self.func.ty(a);
        if ty == Ty::I64 {
            let (low, upper) = self.halves(a);
            return if high { upper } else { low };
        }
        let mut value = a;
        if high {
            let by = self.word(16);
            value = self.shift(ShiftOp::ShrU, a, by);
        }
        self.resized(value, Ty::I16)
    }

    fn number(&self, value: Value) -> Option<u32> {
        let insts = &self.func.block(self.block).insts;
        let inst = insts.iter().rev().find(|i| i.results.contains(&value))?;
        match inst.op {
            Op::Const { bits, .. } => Some(bits as u32),
            _ => None,
        }
    }

    fn apply(&mut self, scope: &Scope, name: &str, words: &[&str], args: &[Value]) -> Result<Value> {
        let fmt = words.first().and_then(|w| format(w)).unwrap_or(scope.fmt);
        let mode = self.float_mode(fmt);
        Ok(match (name, args) {
            (_, &[a, b]) if find(INT, name).is_some() => {
                let op = find(INT, name).unwrap_or(IntOp::Add);
                let (a, b) = self.aligned(scope, a, b);
                self.int(op, a, b)
            }
            (_, &[a, by]) if find(SHIFTS, name).is_some() => {
                self.shifted(find(SHIFTS, name).unwrap_or(ShiftOp::Shl), a, by)
            }
            (_, &[a, b]) if find(COMPARISONS, name).is_some() => {
                let (a, b) = self.aligned(scope, a, b);
                self.compare(find(COMPARISONS, name).unwrap_or(IntCmp::Eq), a, b)
            }
            (_, &[a]) if find(UNARY, name).is_some() => {
                let ty = self.func.ty(a);
                self.op1(Op::IntUn(find(UNARY, name).unwrap_or(IntUnOp::Not), ty), &[a])
            }
            (_, &[a]) if find(COUNTS, name).is_some() => {
                let ty = self.func.ty(a);
                self.op1(Op::Count(find(COUNTS, name).unwrap_or(CountOp::Popc), ty), &[a])
            }
            ("nz", &[a]) => self.is_not_zero(a),
            ("sel", &[flag, a, b]) => {
                let (a, b) = self.aligned(scope, a, b);
                self.select(flag, a, b)
            }
            ("bit", &[a, position]) => {
                let shifted = self.shifted(ShiftOp::ShrU, a, position);
                self.resized(shifted, Ty::I1)
            }
            ("bfeu" | "bfes", &[a, position, length]) => {
                let (position, length) = (self.resized(position, Ty::I32), self.resized(length, Ty::I32));
                let ty = self.func.ty(a);
                self.op1(Op::Bfe { signed: name == "bfes", ty }, &[a, position, length])
            }
            ("u24", &[a]) => self.field(false, a, 0, 24),
            ("s24", &[a]) => self.field(true, a, 0, 24),
            ("byte" | "sbyte", &[a, n]) => {
                let n = self.number(n).ok_or("a part without a number")?;
                self.field(name == "sbyte", a, n * 8, 8)
            }
            ("half", &[a, n]) => {
                let n = self.number(n).ok_or("a part without a number")?;
                self.field(true, a, n * 16, 16)
            }
            ("lo", &[a]) => self.part(a, false),
            ("hi", &[a]) => self.part(a, true),
            ("pair", &[low, high]) => self.whole(low, high),
            ("join", &[low, high]) => self.op1(Op::Pack { part: Ty::I16, whole: Ty::I32 }, &[low, high]),
            ("cut", &[a]) => self.resized(a, Ty::I16),
            ("zx" | "sx", &[a]) => {
                let to = match self.func.ty(a) {
                    Ty::I32 | Ty::I64 => Ty::I64,
                    _ => Ty::I32,
                };
                self.extended(a, to, name == "sx")
            }
            ("sat", &[a]) => {
                let signed = words == ["s", "s"];
                let op = Op::IntSat { from: Ty::I32, from_signed: signed, to: Ty::I16, to_signed: signed };
                self.op1(op, &[a])
            }
            ("perm", &[a, b, c]) => self.permuted_bytes(a, b, c),
            ("replicate", &[a]) => self.replicated(a),
            ("quads", &[a]) => self.quads(a),
            ("wqm", &[a]) => self.whole_quads(a),
            (_, &[a, b]) if find(FLOAT, name).is_some() => {
                self.op1(Op::Float(find(FLOAT, name).unwrap_or(FloatOp::Add), mode), &[a, b])
            }
            ("fma", &[a, b, c]) => self.op1(Op::Fma(mode), &[a, b, c]),
            // Without rounding in between it would be `fma`. AMD's documents say that it flushes subnormals.
            ("mad", &[a, b, c]) => {
                let mode = FloatMode { ftz: true, ..mode };
                let product = self.op1(Op::Float(FloatOp::Mul, mode), &[a, b]);
                self.op1(Op::Float(FloatOp::Add, mode), &[product, c])
            }
            ("fneg", &[a]) => self.signed(fmt, a, false, true),
            ("flt", &[a, b]) => self.op1(Op::FloatCmp { cmp: FloatCmp::Lt, fmt, ftz: mode.ftz }, &[a, b]),
            // Zero if a factor is, whatever the other.
            ("legacy", &[a, b, value]) => {
                let zero = self.constant(fmt.ty(), 0);
                let ftz = mode.ftz || words == ["ftz"];
                let equal = Op::FloatCmp { cmp: FloatCmp::Eq, fmt, ftz };
                let (x, y) = (self.op1(equal.clone(), &[a, zero]), self.op1(equal, &[b, zero]));
                let either = self.int(IntOp::Or, x, y);
                self.select(either, zero, value)
            }
            ("cube", &[x, y, z, for_z, for_y, for_x]) => self.by_axis([x, y, z], [for_x, for_y, for_z]),
            ("fmed", &[a, b, c]) => self.middle(fmt, [a, b, c]),
            ("round", &[a]) => {
                let mode = FloatMode { round: rounding(words).unwrap_or(Round::Rn), ..mode };
                self.op1(Op::FloatUn(FloatUnOp::RoundInt, mode), &[a])
            }
            ("f", &[a]) => {
                let (from, to) =
                    (words.first().and_then(|w| format(w)), words.get(1).and_then(|w| format(w)));
                let (from, to) = from.zip(to).ok_or("a conversion without formats")?;
                self.converted(from, to, rounding(words), a)
            }
            ("i2f", &[a]) => {
                let from = self.func.ty(a);
                self.op1(Op::IntToFloat { from, signed: words == ["s"], mode }, &[a])
            }
            ("f2i", &[a]) => {
                let to = if words.contains(&"i16") { Ty::I16 } else { Ty::I32 };
                let from = words.iter().find_map(|w| format(w)).unwrap_or(scope.fmt);
                let signed = words.contains(&"s");
                self.integer_of(from, to, signed, rounding(words).unwrap_or(Round::Rz), a)
            }
            ("rcp" | "rsq" | "sqrt" | "exp" | "log" | "sin" | "cos", &[a]) => {
                self.transcendental(name, fmt, a)?
            }
            ("narrow", &[a]) => self.narrowed_float(a, words.contains(&"bf8")),
            ("fract", &[a]) => self.fraction(fmt, a),
            ("mantissa", &[a]) => self.mantissa_and_exponent(fmt, a).0,
            ("exponent", &[a]) => self.mantissa_and_exponent(fmt, a).1,
            ("ldexp", &[a, b]) => self.scaled(fmt, a, b),
            ("preop", &[a, b]) => self.two_over_pi(a, b),
            ("fixup", &[a, b, c]) => self.divided_fixup(fmt, a, b, c),
            ("fmas", &[a, b, c, flag]) => self.divided_fma(fmt, a, b, c, flag),
            _ => return Err(format!("the operation {name} is not supported")),
        })
    }
}
