//! The symbols that a function body names, for linking and for the layout of shared memory.

use ptx::Space;
use ptx::ast::{
    AddressBase, Body, FuncId, Instruction, Module, Operand, OperandKind, StatementKind, Symbol, VariableRef,
};

/// The symbols that a body names. Each list is sorted and without duplicates.
#[derive(Clone, Debug, Default)]
pub struct Uses {
    /// Functions that operands name; these must be defined.
    pub functions: Vec<FuncId>,
    /// Functions that are called by name.
    pub calls: Vec<FuncId>,
    /// Functions whose address is taken.
    pub taken: Vec<FuncId>,
    /// Whether functions are called through their address.
    pub indirect: bool,
    /// Shared variables of the module or of the function itself.
    pub shared: Vec<Symbol>,
}

impl Uses {
    /// Collects the symbols of a body in `module`.
    pub fn of(module: &Module, body: &Body) -> Uses {
        let mut uses = Uses::default();
        let is_shared = |symbol: Symbol| {
            let variable = match symbol {
                Symbol::Global(g) => module.globals.get(g.index()),
                Symbol::Var(v) => body.vars.get(v.index()),
                _ => None,
            };
            variable.is_some_and(|v| matches!(v.space, Space::Shared | Space::SharedCta))
        };
        for statement in &body.statements {
            let StatementKind::Instruction(instruction) = &statement.kind else { continue };
            let (target, others) = callee(instruction);
            match target.map(|t| &t.kind) {
                Some(OperandKind::Symbol(s)) => match s.symbol {
                    Symbol::Func(f) => uses.calls.push(f),
                    _ => uses.indirect = true,
                },
                Some(_) => uses.indirect = true,
                None => {}
            }
            for operand in others.into_iter().flatten() {
                symbols(operand, &mut |symbol| match symbol {
                    Symbol::Func(f) => uses.taken.push(f),
                    // Consecutive accesses are often to the same variable.
                    Symbol::Global(_) | Symbol::Var(_)
                        if is_shared(symbol) && uses.shared.last() != Some(&symbol) =>
                    {
                        uses.shared.push(symbol);
                    }
                    _ => {}
                });
            }
            functions(instruction, &mut |f| uses.functions.push(f));
        }
        for list in [&mut uses.functions, &mut uses.calls, &mut uses.taken] {
            list.sort_unstable();
            list.dedup();
        }
        uses.shared.sort_unstable_by_key(|s| match s {
            Symbol::Global(g) => (0, g.0),
            Symbol::Var(v) => (1, v.0),
            Symbol::Func(_) | Symbol::Label(_) => (2, 0),
        });
        uses.shared.dedup();
        uses
    }
}

/// The target of a call, and the other operands.
fn callee(instruction: &Instruction) -> (Option<&Operand>, [&[Operand]; 2]) {
    match instruction.call() {
        Some(parts) => (Some(parts.target), [parts.returns, parts.params]),
        None => (None, [&instruction.operands, &[]]),
    }
}

/// Every symbol of an operand.
fn symbols(operand: &Operand, take: &mut impl FnMut(Symbol)) {
    let of = |variable: VariableRef| match variable {
        VariableRef::Global(g) => Symbol::Global(g),
        VariableRef::Var(v) => Symbol::Var(v),
    };
    match &operand.kind {
        OperandKind::Symbol(s) => take(s.symbol),
        OperandKind::Element(e) => take(of(e.array)),
        OperandKind::Address(address) => {
            match address.base {
                AddressBase::Var(variable) => take(of(variable)),
                AddressBase::Element(e) => take(of(e.array)),
                AddressBase::Func(f) => take(Symbol::Func(f)),
                AddressBase::Reg(_) | AddressBase::Component(..) | AddressBase::Absolute => {}
            }
            address.parts.iter().for_each(|o| symbols(o, take));
        }
        OperandKind::Vector(list) | OperandKind::List(list) => list.iter().for_each(|o| symbols(o, take)),
        OperandKind::Pair(pair) => {
            symbols(&pair.0, take);
            symbols(&pair.1, take);
        }
        _ => {}
    }
}

/// The functions that an instruction names, which must be defined. A declaration alone is not a use.
pub fn functions(instruction: &Instruction, take: &mut impl FnMut(FuncId)) {
    fn of(operand: &Operand, take: &mut impl FnMut(FuncId)) {
        match &operand.kind {
            OperandKind::Symbol(s) => {
                if let Symbol::Func(f) = s.symbol {
                    take(f);
                }
            }
            OperandKind::Vector(list) | OperandKind::List(list) => list.iter().for_each(|o| of(o, take)),
            _ => {}
        }
    }
    instruction.operands.iter().for_each(|o| of(o, take));
}
