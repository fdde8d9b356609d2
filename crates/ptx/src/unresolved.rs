//! Symbols that a module leaves undefined.

use crate::ast::{FuncId, Function, InitValue, Module, OperandKind, StatementKind, Symbol};

impl Module {
    /// The functions that the module calls or takes the address of but does not define, neither by a body nor
    /// by an alias. Whoever loads the module must provide them (`vprintf`, `malloc`) or refuse it. Functions
    /// that are declared but unused do not count.
    pub fn unresolved(&self) -> impl Iterator<Item = (FuncId, &Function)> {
        let mut used = vec![false; self.functions.len()];
        let mut mark = |symbol: Symbol| {
            if let Symbol::Func(id) = symbol
                && let Some(slot) = used.get_mut(id.index())
            {
                *slot = true;
            }
        };
        let bodies = self.functions.iter().filter_map(|f| f.body.as_ref());
        for statement in bodies.flat_map(|b| &b.statements) {
            let StatementKind::Instruction(instruction) = &statement.kind else { continue };
            for operand in &instruction.operands {
                if let OperandKind::Symbol(s) = &operand.kind {
                    mark(s.symbol);
                }
            }
        }
        self.globals.iter().filter_map(|v| v.init.as_ref()).for_each(|init| named(init, &mut mark));
        let aliased = |id: FuncId| {
            let is_alias = |d: &crate::ast::Directive| matches!(d, crate::ast::Directive::Alias { alias, .. } if *alias == id);
            self.directives.iter().any(is_alias)
        };
        let all = self.functions.iter().enumerate().map(|(i, f)| (FuncId(i as u32), f));
        let missing = all.filter(move |(id, f)| f.body.is_none() && used.get(id.index()) == Some(&true));
        missing.filter(move |(id, _)| !aliased(*id))
    }
}

/// Calls `mark` with every symbol of an initial value.
fn named(value: &InitValue, mark: &mut impl FnMut(Symbol)) {
    match value {
        InitValue::Address { target, .. } => mark(target.symbol),
        InitValue::List(values) => values.iter().for_each(|v| named(v, mark)),
        _ => {}
    }
}
