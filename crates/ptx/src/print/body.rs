//! Bodies of functions.

use super::{Names, Pragma, Shown, register, separated, vector};
use crate::ast::{Body, LabelKind, Loc, Prototype, PrototypeParameter, StatementKind, Symbol};
use std::fmt::{self, Display, Formatter, Write as _};

/// Writes the statements of a body, one a line.
pub(super) fn print(f: &mut Formatter<'_>, body: &Body, names: Names<'_>) -> fmt::Result {
    for statement in &body.statements {
        match &statement.kind {
            StatementKind::Instruction(instruction) => writeln!(f, "\t{};", Shown(instruction, names))?,
            StatementKind::Label(id) => {
                let Some(label) = body.labels.get(id.index()) else { continue };
                write!(f, "{}:", label.name)?;
                match &label.kind {
                    LabelKind::Code => writeln!(f)?,
                    LabelKind::BranchTargets(labels) => {
                        f.write_str(" .branchtargets ")?;
                        separated(f, ", ", labels.iter().map(|l| names.symbol(Symbol::Label(*l))))?;
                        writeln!(f, ";")?;
                    }
                    LabelKind::CallTargets(functions) => {
                        f.write_str(" .calltargets ")?;
                        separated(f, ", ", functions.iter().map(|l| names.symbol(Symbol::Func(*l))))?;
                        writeln!(f, ";")?;
                    }
                    LabelKind::CallPrototype(p) => writeln!(f, " .callprototype {};", Shown(&**p, names))?,
                }
            }
            StatementKind::ScopeOpen => writeln!(f, "\t{{")?,
            StatementKind::ScopeClose => writeln!(f, "\t}}")?,
            StatementKind::Registers(declaration) => {
                write!(f, "\t.reg {}{} ", vector(declaration.vector), declaration.ty)?;
                let name = |(name, count): &(String, Option<u32>)| match count {
                    Some(n) => format!("{name}<{n}>"),
                    None => name.clone(),
                };
                separated(f, ", ", declaration.names.iter().map(name))?;
                writeln!(f, ";")?;
            }
            StatementKind::Variable(id) => {
                if let Some(variable) = body.vars.get(id.index()) {
                    writeln!(f, "\t{};", Shown(variable, names))?;
                }
            }
            StatementKind::Loc(loc) => writeln!(f, "\t{loc}")?,
            StatementKind::IntermediateLoc(Loc { file, line, column, .. }) => {
                writeln!(f, "\t.loc_intermediate {file} {line} {column}")?;
            }
            StatementKind::Pragma(texts) => writeln!(f, "\t{}", Pragma(texts))?,
        }
    }
    Ok(())
}

impl Display for Loc {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, ".loc {} {} {}", self.file, self.line, self.column)?;
        let Some(at) = &self.inlined else { return Ok(()) };
        write!(f, ", function_name {}", at.function)?;
        if at.offset != 0 {
            write!(f, "+{}", at.offset)?;
        }
        write!(f, ", inlined_at {} {} {}", at.file, at.line, at.column)
    }
}

impl Display for Shown<'_, Prototype> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Shown(prototype, names) = self;
        let show = |p: &PrototypeParameter| match p {
            PrototypeParameter::Var(v) => Shown(v, *names).to_string(),
            PrototypeParameter::Reg(r) => register(r),
        };
        f.write_char('(')?;
        separated(f, ", ", prototype.returns.iter().map(show))?;
        f.write_str(") _ (")?;
        separated(f, ", ", prototype.params.iter().map(show))?;
        f.write_char(')')?;
        prototype.directives.iter().try_for_each(|d| write!(f, " {d}"))
    }
}
