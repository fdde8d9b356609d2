//! The tables of `tables/`: what the result of an instruction is, as an expression of its sources. The
//! notation is explained in the files.

use std::sync::OnceLock;

use hashbrown::HashMap;
use wave::Ty;
use wave::types::Fmt;

/// The type of a source or a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// An integer with its bits, signed or not.
    Int(Ty, bool),
    /// A float.
    Float(Fmt),
    /// Two integers of 16 bits.
    Ints(bool),
    /// Two floats.
    Floats(Fmt),
    /// A float of 32 bits, or a half of 16 bits, as a control says.
    Mixed,
    /// A half of 16 bits in the upper part of the result.
    Upper,
    /// The scalar condition code.
    Code,
}

impl Form {
    /// The type with this name.
    pub fn read(word: &str) -> Option<Form> {
        Some(match word {
            "u16" => Form::Int(Ty::I16, false),
            "i16" => Form::Int(Ty::I16, true),
            "u32" => Form::Int(Ty::I32, false),
            "i32" => Form::Int(Ty::I32, true),
            "u64" => Form::Int(Ty::I64, false),
            "i64" => Form::Int(Ty::I64, true),
            "f16" => Form::Float(Fmt::F16),
            "f32" => Form::Float(Fmt::F32),
            "f64" => Form::Float(Fmt::F64),
            "bf16" => Form::Float(Fmt::BF16),
            "2u16" => Form::Ints(false),
            "2i16" => Form::Ints(true),
            "2f16" => Form::Floats(Fmt::F16),
            "2bf16" => Form::Floats(Fmt::BF16),
            "2f32" => Form::Floats(Fmt::F32),
            "mix" => Form::Mixed,
            "h16" => Form::Upper,
            "scc" => Form::Code,
            _ => return None,
        })
    }

    /// The type of a value, of an element if there are two.
    pub fn ty(self) -> Ty {
        match self {
            Form::Int(ty, _) => ty,
            Form::Float(fmt) | Form::Floats(fmt) => fmt.ty(),
            Form::Ints(_) | Form::Upper => Ty::I16,
            Form::Mixed => Ty::I32,
            Form::Code => Ty::I1,
        }
    }

    /// The format, if it is a float.
    pub fn fmt(self) -> Option<Fmt> {
        match self {
            Form::Float(fmt) | Form::Floats(fmt) => Some(fmt),
            Form::Upper => Some(Fmt::F16),
            Form::Mixed => Some(Fmt::F32),
            Form::Int(..) | Form::Ints(_) | Form::Code => None,
        }
    }

    /// Whether there are two elements.
    pub fn is_pair(self) -> bool {
        matches!(self, Form::Ints(_) | Form::Floats(_))
    }

    /// Whether it is a signed integer.
    pub fn is_signed(self) -> bool {
        matches!(self, Form::Int(_, true) | Form::Ints(true))
    }
}

/// An expression.
#[derive(Clone, Debug)]
pub(crate) enum Expr {
    Number(i64),
    Name(&'static str),
    /// An operation with its parameters, which follow its name after dots.
    Apply(&'static str, Vec<&'static str>, Vec<Expr>),
}

impl Expr {
    /// Whether a name occurs in it.
    pub fn names(&self, name: &str) -> bool {
        match self {
            Expr::Number(_) => false,
            Expr::Name(own) => *own == name,
            Expr::Apply(_, _, arguments) => arguments.iter().any(|argument| argument.names(name)),
        }
    }
}

/// What an instruction computes.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub result: Form,
    pub sources: Vec<Form>,
    pub value: Expr,
    /// What the scalar condition code becomes.
    pub code: Option<Expr>,
}

/// A definition: its parameters and what it means.
type Definition = (Vec<&'static str>, Expr);

/// A table.
#[derive(Debug, Default)]
pub(crate) struct Table {
    pub rows: HashMap<&'static str, Row>,
    pub definitions: HashMap<&'static str, Definition>,
}

/// Reads an expression from the front of a text; returns the rest.
fn expression(text: &'static str) -> Option<(Expr, &'static str)> {
    let text = text.trim_start();
    let Some(mut rest) = text.strip_prefix('(') else {
        let end = text.find([' ', ')']).unwrap_or(text.len());
        let (word, rest) = text.split_at(end);
        let number = match word.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok().map(|n| n as i64),
            None => word.parse().ok(),
        };
        return Some((number.map_or(Expr::Name(word), Expr::Number), rest)).filter(|_| !word.is_empty());
    };
    let end = rest.find([' ', ')'])?;
    let (head, mut after) = rest.split_at(end);
    let mut words = head.split('.');
    let (name, parameters) = (words.next()?, words.collect());
    let mut arguments = Vec::new();
    loop {
        after = after.trim_start();
        if let Some(end) = after.strip_prefix(')') {
            rest = end;
            break;
        }
        let (argument, next) = expression(after)?;
        arguments.push(argument);
        after = next;
    }
    Some((Expr::Apply(name, parameters, arguments), rest))
}

fn whole(text: &'static str) -> Option<Expr> {
    expression(text).filter(|(_, rest)| rest.trim().is_empty()).map(|(expr, _)| expr)
}

impl Table {
    /// Reads a line; `None` if it breaks the rules, which a test excludes.
    fn line(&mut self, line: &'static str) -> Option<()> {
        let (head, meaning) = line.split_once(" =")?;
        let mut words = head.split_whitespace();
        let names = words.next()?;
        if names == "def" {
            let name = words.next()?;
            self.definitions.insert(name, (words.collect(), whole(meaning)?));
            return Some(());
        }
        let (value, code) = match meaning.split_once('|') {
            Some((value, code)) => (value, Some(whole(code)?)),
            None => (meaning, None),
        };
        let result = Form::read(words.next()?)?;
        let sources = words.map(Form::read).collect::<Option<_>>()?;
        let row = Row { result, sources, value: whole(value)?, code };
        for name in names.split('/') {
            self.rows.insert(name, row.clone());
        }
        Some(())
    }

    fn read(text: &'static str) -> Table {
        let mut table = Table::default();
        for line in text.lines().filter(|l| !l.is_empty() && !l.starts_with('#')) {
            let read = table.line(line);
            debug_assert!(read.is_some(), "a line of a table: {line}");
        }
        table
    }
}

/// The vector instructions.
pub(crate) fn vector() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| Table::read(include_str!("../tables/vector.txt")))
}

/// The scalar instructions.
pub(crate) fn scalar() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| Table::read(include_str!("../tables/scalar.txt")))
}
