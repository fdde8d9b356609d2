//! The expressions in test files: integers and floats, C's operators, `i` for the index, arrays by name.
//!
//! An independent model, which uses none of the code under test: values are 128-bit integers or doubles.
//! Storing a value in an element wraps integers and rounds floats once, so that a single f32 operation in an
//! expression is correctly rounded.

/// A value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Val {
    /// An integer.
    I(i128),
    /// A float.
    F(f64),
}

impl Val {
    /// Converts to a float.
    pub fn float(self) -> f64 {
        match self {
            Val::I(i) => i as f64,
            Val::F(f) => f,
        }
    }

    /// Converts to an integer, truncating floats.
    pub fn int(self) -> i128 {
        match self {
            Val::I(i) => i,
            Val::F(f) => f as i128,
        }
    }

    fn truth(self) -> bool {
        match self {
            Val::I(i) => i != 0,
            Val::F(f) => f != 0.0,
        }
    }
}

/// Resolves the names in an expression: `lookup("i", None)` or `lookup("a", Some(3))`.
pub type Names<'a> = &'a dyn Fn(&str, Option<i128>) -> Option<Val>;

/// Binary operators by precedence, lowest first.
const LEVELS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<=", ">=", "<", ">"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

/// Parser and evaluator in one, since test files are small.
struct Parser<'a> {
    text: &'a str,
    at: usize,
    names: Names<'a>,
}

/// The value of `text`.
pub fn eval(text: &str, names: Names) -> Result<Val, String> {
    let mut p = Parser { text, at: 0, names };
    let v = p.ternary()?;
    p.space();
    if p.at < text.len() {
        return Err(format!("`{}` is left over in `{text}`", &text[p.at..]));
    }
    Ok(v)
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn space(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn take(&mut self, token: &str) -> bool {
        self.space();
        let hit = self.rest().starts_with(token);
        if hit {
            self.at += token.len();
        }
        hit
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.take(token) { Ok(()) } else { Err(format!("`{token}` expected at `{}`", self.rest())) }
    }

    fn ternary(&mut self) -> Result<Val, String> {
        let cond = self.binary(0)?;
        if !self.take("?") {
            return Ok(cond);
        }
        let a = self.ternary()?;
        self.expect(":")?;
        let b = self.ternary()?;
        Ok(if cond.truth() { a } else { b })
    }

    fn operator(&mut self, level: usize) -> Option<&'static str> {
        self.space();
        let op = LEVELS[level].iter().copied().find(|op| self.rest().starts_with(op))?;
        // A one-letter operator must not match the first half of a two-letter one.
        let two: String = self.rest().chars().take(2).collect();
        if op.len() == 1 && ["||", "&&", "<<", ">>", "<=", ">="].contains(&two.as_str()) {
            return None;
        }
        self.at += op.len();
        Some(op)
    }

    fn binary(&mut self, level: usize) -> Result<Val, String> {
        if level == LEVELS.len() {
            return self.unary();
        }
        let mut a = self.binary(level + 1)?;
        while let Some(op) = self.operator(level) {
            let b = self.binary(level + 1)?;
            a = apply(op, a, b)?;
        }
        Ok(a)
    }

    fn unary(&mut self) -> Result<Val, String> {
        if self.take("-") {
            return Ok(match self.unary()? {
                Val::I(i) => Val::I(i.wrapping_neg()),
                Val::F(f) => Val::F(-f),
            });
        }
        if self.take("~") {
            return Ok(Val::I(!self.unary()?.int()));
        }
        if self.take("!") {
            return Ok(Val::I(i128::from(!self.unary()?.truth())));
        }
        self.atom()
    }

    fn atom(&mut self) -> Result<Val, String> {
        if self.take("(") {
            let v = self.ternary()?;
            self.expect(")")?;
            return Ok(v);
        }
        self.space();
        let word: String =
            self.rest().chars().take_while(|c| c.is_alphanumeric() || "._".contains(*c)).collect();
        if word.is_empty() {
            return Err(format!("expected a value at `{}`", self.rest()));
        }
        self.at += word.len();
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            return number(&word);
        }
        if self.take("(") {
            let mut args = vec![self.ternary()?];
            while self.take(",") {
                args.push(self.ternary()?);
            }
            self.expect(")")?;
            return call(&word, &args);
        }
        let index = if self.take("[") {
            let v = self.ternary()?.int();
            self.expect("]")?;
            Some(v)
        } else {
            None
        };
        (self.names)(&word, index).ok_or_else(|| format!("no `{word}` (index {index:?})"))
    }
}

fn number(word: &str) -> Result<Val, String> {
    let bad = |e: &dyn std::fmt::Display| format!("`{word}`: {e}");
    if let Some(hex) = word.strip_prefix("0x") {
        return i128::from_str_radix(hex, 16).map(Val::I).map_err(|e| bad(&e));
    }
    if word.contains('.') {
        return word.parse().map(Val::F).map_err(|e| bad(&e));
    }
    word.parse().map(Val::I).map_err(|e| bad(&e))
}

fn call(name: &str, args: &[Val]) -> Result<Val, String> {
    Ok(match (name, args) {
        ("sqrt", [a]) => Val::F(a.float().sqrt()),
        ("popc", [a]) => Val::I((a.int() as u32).count_ones().into()),
        ("min", [a, b]) => Val::I(a.int().min(b.int())),
        ("max", [a, b]) => Val::I(a.int().max(b.int())),
        ("u32", [a]) => Val::I(i128::from(a.int() as u32)),
        ("s32", [a]) => Val::I(i128::from(a.int() as i32)),
        ("float", [a]) => Val::F(a.float()),
        ("f32", [a]) => Val::F(f64::from(a.float() as f32)),
        // The sum of the integers from a to b, both included, to check reductions.
        ("range_sum", [a, b]) => Val::I((a.int()..=b.int()).sum()),
        _ => return Err(format!("unknown function `{name}` with {} operands", args.len())),
    })
}

fn apply(op: &str, a: Val, b: Val) -> Result<Val, String> {
    let truth = |t: bool| Val::I(i128::from(t));
    if matches!((a, b), (Val::F(_), _) | (_, Val::F(_))) {
        let (x, y) = (a.float(), b.float());
        return Ok(match op {
            "+" => Val::F(x + y),
            "-" => Val::F(x - y),
            "*" => Val::F(x * y),
            "/" => Val::F(x / y),
            "<" => truth(x < y),
            ">" => truth(x > y),
            "<=" => truth(x <= y),
            ">=" => truth(x >= y),
            "==" => truth(x == y),
            "!=" => truth(x != y),
            _ => return Err(format!("`{op}` does not apply to floats")),
        });
    }
    let (x, y) = (a.int(), b.int());
    Ok(match op {
        "+" => Val::I(x.wrapping_add(y)),
        "-" => Val::I(x.wrapping_sub(y)),
        "*" => Val::I(x.wrapping_mul(y)),
        "/" => Val::I(x.checked_div(y).ok_or("division by zero")?),
        "%" => Val::I(x.checked_rem(y).ok_or("division by zero")?),
        "<<" => Val::I(x.wrapping_shl(y as u32)),
        ">>" => Val::I(x.wrapping_shr(y as u32)),
        "&" => Val::I(x & y),
        "|" => Val::I(x | y),
        "^" => Val::I(x ^ y),
        "&&" => truth(x != 0 && y != 0),
        "||" => truth(x != 0 || y != 0),
        "<" => truth(x < y),
        ">" => truth(x > y),
        "<=" => truth(x <= y),
        ">=" => truth(x >= y),
        "==" => truth(x == y),
        "!=" => truth(x != y),
        _ => return Err(format!("unknown operator `{op}`")),
    })
}
