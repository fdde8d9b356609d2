//! `#if`: evaluates a condition as far as the text and the command line determine it. Anything that depends
//! on headers is unknown.

use std::collections::HashMap;
use std::rc::Rc;

use crate::table;
use crate::token::{Token, TokenKind};

/// The known state of a macro.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Macro {
    /// It is not defined.
    Undefined,
    /// Defined with this text.
    Defined(Rc<str>),
    /// Possibly defined, or defined with an unknown value.
    Unknown,
}

/// The macros at a position of the text.
pub struct Macros {
    known: HashMap<String, Macro>,
    /// Whether a header of the project was included, which may define anything.
    pub foreign: bool,
}

/// Maximum nesting depth of expressions and macros; anything deeper is unknown.
const DEPTH: u32 = 32;

impl Macros {
    /// The macros of the command line.
    pub fn new(defines: &[(String, Option<String>)]) -> Self {
        let known = defines
            .iter()
            .map(|(name, value)| (name.clone(), Macro::Defined(value.as_deref().unwrap_or("1").into())));
        Macros { known: known.collect(), foreign: false }
    }

    /// Records a `#define` or `#undef`.
    pub fn set(&mut self, name: &str, value: Macro) {
        self.known.insert(name.into(), value);
    }

    /// The state of a macro.
    pub fn get(&self, name: &str) -> Macro {
        if let Some(known) = self.known.get(name) {
            return known.clone();
        }
        match table::predefined(name) {
            Some("") => Macro::Undefined,
            Some("?") => Macro::Unknown,
            Some(value) => Macro::Defined(value.into()),
            // Reserved names and version macros come from headers that are not read.
            None if self.foreign || name.starts_with('_') || name.ends_with("_VERSION") => Macro::Unknown,
            None => Macro::Undefined,
        }
    }

    /// Whether a macro is defined, if that is known.
    pub fn defined(&self, name: &str) -> Option<bool> {
        match self.get(name) {
            Macro::Undefined => Some(false),
            Macro::Defined(_) => Some(true),
            Macro::Unknown => None,
        }
    }

    /// The value of a condition, if it is known.
    pub fn evaluate(&self, text: &[u8], tokens: &[Token]) -> Option<bool> {
        let words: Vec<&str> = tokens.iter().map(|t| word(text, t)).collect::<Option<_>>()?;
        let mut parser = Parser { macros: self, words: &words, at: 0, depth: 0 };
        let value = parser.ternary()?;
        (parser.at == words.len()).then_some(value != Value::Known(0)).filter(|_| value != Value::Unknown)
    }
}

fn word<'a>(text: &'a [u8], token: &Token) -> Option<&'a str> {
    match token.kind {
        TokenKind::Text | TokenKind::HeaderName => None,
        _ => std::str::from_utf8(text.get(token.range())?).ok(),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Value {
    Known(i64),
    Unknown,
}

struct Parser<'a> {
    macros: &'a Macros,
    words: &'a [&'a str],
    at: usize,
    depth: u32,
}

/// Binary operators by precedence, lowest first. Operators of two characters are two words, because they are
/// two tokens.
const LEVELS: &[&[&str]] = &[
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

impl<'a> Parser<'a> {
    fn peek(&self) -> &'a str {
        self.words.get(self.at).copied().unwrap_or("")
    }

    fn take(&mut self, what: &str) -> bool {
        let found = self.peek() == what;
        self.at += usize::from(found);
        found
    }

    /// The next operator, if it is of this level, and its number of words.
    fn operator(&self, level: &[&'static str]) -> Option<(&'static str, usize)> {
        let next = self.words.get(self.at + 1).copied().unwrap_or("");
        level.iter().find_map(|operator| match *operator {
            single if single.len() == 1 => {
                let doubled = next == single && matches!(single, "|" | "&" | "<" | ">");
                let assigned = next == "=" && matches!(single, "<" | ">");
                (self.peek() == single && !doubled && !assigned).then_some((single, 1))
            }
            pair => {
                let (first, second) = pair.split_at(1);
                (self.peek() == first && next == second).then_some((pair, 2))
            }
        })
    }

    fn ternary(&mut self) -> Option<Value> {
        self.depth += 1;
        if self.depth > DEPTH {
            return None;
        }
        let condition = self.binary(0)?;
        let value = if self.take("?") {
            let yes = self.ternary()?;
            if !self.take(":") {
                return None;
            }
            let no = self.ternary()?;
            match condition {
                Value::Known(0) => no,
                Value::Known(_) => yes,
                Value::Unknown => Value::Unknown,
            }
        } else {
            condition
        };
        self.depth -= 1;
        Some(value)
    }

    fn binary(&mut self, level: usize) -> Option<Value> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        while let Some((operator, words)) = self.operator(operators) {
            self.at += words;
            let right = self.binary(level + 1)?;
            left = combine(operator, left, right)?;
        }
        Some(left)
    }

    fn unary(&mut self) -> Option<Value> {
        self.depth += 1;
        if self.depth > DEPTH {
            return None;
        }
        let map = |value, f: fn(i64) -> i64| match value {
            Value::Known(n) => Value::Known(f(n)),
            Value::Unknown => Value::Unknown,
        };
        let value = if self.take("!") {
            map(self.unary()?, |n| i64::from(n == 0))
        } else if self.take("-") {
            map(self.unary()?, i64::wrapping_neg)
        } else if self.take("~") {
            map(self.unary()?, |n| !n)
        } else if self.take("+") {
            self.unary()?
        } else if self.take("(") {
            let value = self.ternary()?;
            if !self.take(")") {
                return None;
            }
            value
        } else {
            self.primary()?
        };
        self.depth -= 1;
        Some(value)
    }

    fn primary(&mut self) -> Option<Value> {
        let word = self.peek();
        self.at += 1;
        let first = word.bytes().next()?;
        if first.is_ascii_digit() {
            return Some(number(word).map_or(Value::Unknown, Value::Known));
        }
        if word == "defined" {
            let parenthesis = self.take("(");
            let name = self.peek();
            self.at += 1;
            if parenthesis && !self.take(")") {
                return None;
            }
            return Some(self.macros.defined(name).map_or(Value::Unknown, |d| Value::Known(i64::from(d))));
        }
        if !(first.is_ascii_alphabetic() || first == b'_') {
            return None;
        }
        if self.peek() == "(" {
            // A macro with arguments; `__has_include` looks like one.
            let mut open = 0;
            loop {
                match self.peek() {
                    "" => return None,
                    "(" => open += 1,
                    ")" => open -= 1,
                    _ => {}
                }
                self.at += 1;
                if open == 0 {
                    return Some(Value::Unknown);
                }
            }
        }
        Some(match word {
            "true" => Value::Known(1),
            "false" => Value::Known(0),
            _ => self.expand(word),
        })
    }

    /// The value of an object-like macro that expands to a number, possibly through other macros.
    fn expand(&self, name: &str) -> Value {
        let mut name = name.to_owned();
        for _ in 0..DEPTH {
            match self.macros.get(&name) {
                Macro::Undefined => return Value::Known(0),
                Macro::Unknown => return Value::Unknown,
                Macro::Defined(text) => {
                    let text = text.trim();
                    let text =
                        text.strip_prefix('(').and_then(|t| t.strip_suffix(')')).unwrap_or(text).trim();
                    if let Some(value) = number(text) {
                        return Value::Known(value);
                    }
                    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
                        return Value::Unknown;
                    }
                    name = text.to_owned();
                }
            }
        }
        Value::Unknown
    }
}

fn combine(operator: &str, left: Value, right: Value) -> Option<Value> {
    // One operand may decide the result by itself.
    match (operator, left, right) {
        ("&&", Value::Known(0), _) | ("&&", _, Value::Known(0)) => return Some(Value::Known(0)),
        ("||", Value::Known(n), _) | ("||", _, Value::Known(n)) if n != 0 => return Some(Value::Known(1)),
        _ => {}
    }
    let (Value::Known(a), Value::Known(b)) = (left, right) else { return Some(Value::Unknown) };
    Some(Value::Known(match operator {
        "||" => i64::from(a != 0 || b != 0),
        "&&" => i64::from(a != 0 && b != 0),
        "|" => a | b,
        "^" => a ^ b,
        "&" => a & b,
        "==" => i64::from(a == b),
        "!=" => i64::from(a != b),
        "<=" => i64::from(a <= b),
        ">=" => i64::from(a >= b),
        "<" => i64::from(a < b),
        ">" => i64::from(a > b),
        "<<" => a.wrapping_shl(b as u32),
        ">>" => a.wrapping_shr(b as u32),
        "+" => a.wrapping_add(b),
        "-" => a.wrapping_sub(b),
        "*" => a.wrapping_mul(b),
        "/" if b != 0 => a.wrapping_div(b),
        "%" if b != 0 => a.wrapping_rem(b),
        _ => return None,
    }))
}

fn number(text: &str) -> Option<i64> {
    let text = text.replace('\'', "").to_ascii_lowercase();
    let text = text.trim_end_matches(['u', 'l']);
    if let Some(digits) = text.strip_prefix("0x") {
        i64::from_str_radix(digits, 16).ok()
    } else if let Some(digits) = text.strip_prefix("0b") {
        i64::from_str_radix(digits, 2).ok()
    } else if text.len() > 1 && text.starts_with('0') {
        i64::from_str_radix(text.get(1..)?, 8).ok()
    } else {
        text.parse().ok()
    }
}
