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

/// An expression.
#[derive(Clone, Debug)]
pub enum Expr {
    /// A number.
    Number(Val),
    /// A name, with the index if it has one.
    Name(String, Option<Box<Expr>>),
    /// `-`, `~` or `!`.
    Unary(char, Box<Expr>),
    /// An operator between two operands.
    Binary(&'static str, Box<[Expr; 2]>),
    /// A condition, and the value for each answer.
    Ternary(Box<[Expr; 3]>),
    /// A function's name and its operands.
    Call(String, Vec<Expr>),
}

impl Expr {
    /// Reads an expression.
    pub fn parse(text: &str) -> Result<Expr, String> {
        let mut p = Parser { text, at: 0 };
        let expr = p.ternary()?;
        p.space();
        if p.at < text.len() {
            return Err(format!("`{}` is left over in `{text}`", p.rest()));
        }
        Ok(expr)
    }

    /// Its value.
    pub fn eval(&self, names: Names) -> Result<Val, String> {
        Ok(match self {
            Expr::Number(value) => *value,
            Expr::Name(name, index) => {
                let index = index.as_ref().map(|i| i.eval(names)).transpose()?.map(Val::int);
                names(name, index).ok_or_else(|| format!("no `{name}` (index {index:?})"))?
            }
            Expr::Unary(op, operand) => match (op, operand.eval(names)?) {
                ('-', Val::I(i)) => Val::I(i.wrapping_neg()),
                ('-', Val::F(f)) => Val::F(-f),
                ('~', value) => Val::I(!value.int()),
                (_, value) => Val::I(i128::from(!value.truth())),
            },
            Expr::Binary(op, operands) => {
                let [a, b] = &**operands;
                apply(op, a.eval(names)?, b.eval(names)?)?
            }
            Expr::Ternary(parts) => {
                let [cond, yes, no] = &**parts;
                if cond.eval(names)?.truth() { yes.eval(names)? } else { no.eval(names)? }
            }
            Expr::Call(name, operands) => {
                let values: Result<Vec<_>, _> = operands.iter().map(|o| o.eval(names)).collect();
                call(name, &values?)?
            }
        })
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
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

    fn ternary(&mut self) -> Result<Expr, String> {
        let cond = self.binary(0)?;
        if !self.take("?") {
            return Ok(cond);
        }
        let yes = self.ternary()?;
        self.expect(":")?;
        Ok(Expr::Ternary(Box::new([cond, yes, self.ternary()?])))
    }

    fn operator(&mut self, level: usize) -> Option<&'static str> {
        self.space();
        let op = LEVELS[level].iter().copied().find(|op| self.rest().starts_with(op))?;
        // A one-letter operator must not match the first half of a two-letter one.
        let longer = ["||", "&&", "<<", ">>", "<=", ">="];
        if op.len() == 1 && longer.iter().any(|two| self.rest().starts_with(two)) {
            return None;
        }
        self.at += op.len();
        Some(op)
    }

    fn binary(&mut self, level: usize) -> Result<Expr, String> {
        if level == LEVELS.len() {
            return self.unary();
        }
        let mut a = self.binary(level + 1)?;
        while let Some(op) = self.operator(level) {
            a = Expr::Binary(op, Box::new([a, self.binary(level + 1)?]));
        }
        Ok(a)
    }

    fn unary(&mut self) -> Result<Expr, String> {
        for op in ["-", "~", "!"] {
            if self.take(op) {
                return Ok(Expr::Unary(op.as_bytes()[0].into(), Box::new(self.unary()?)));
            }
        }
        self.atom()
    }

    fn atom(&mut self) -> Result<Expr, String> {
        if self.take("(") {
            let expr = self.ternary()?;
            self.expect(")")?;
            return Ok(expr);
        }
        self.space();
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_alphanumeric() && !"._".contains(c)).unwrap_or(rest.len());
        let word = &rest[..end];
        if word.is_empty() {
            return Err(format!("expected a value at `{rest}`"));
        }
        self.at += word.len();
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            return number(word).map(Expr::Number);
        }
        if self.take("(") {
            let mut operands = vec![self.ternary()?];
            while self.take(",") {
                operands.push(self.ternary()?);
            }
            self.expect(")")?;
            return Ok(Expr::Call(word.to_owned(), operands));
        }
        let index = if self.take("[") {
            let index = self.ternary()?;
            self.expect("]")?;
            Some(Box::new(index))
        } else {
            None
        };
        Ok(Expr::Name(word.to_owned(), index))
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
