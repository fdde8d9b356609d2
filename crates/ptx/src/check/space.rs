//! Checks the state spaces of addressed variables against the instruction's.

use crate::ast::{AddressBase, Instruction, Operand, OperandKind, Symbol, VariableRef};
use crate::diagnostic::ErrorKind;
use crate::parser::Parser;
use crate::types::Space;
use crate::words::{Modifier, Opcode};

impl Parser<'_> {
    /// Reports symbols from other state spaces that are used without brackets, and cache policies on shared
    /// memory.
    fn check_named(&mut self, instruction: &Instruction, named: &[Space]) {
        use Opcode as O;
        let opcode = instruction.opcode;
        let shared = |s: &Space| matches!(s, Space::Shared | Space::SharedCta | Space::SharedCluster);
        if matches!(opcode, O::Atom | O::Red)
            && instruction.has(Modifier::L2CacheHint)
            && let Some(space) = named.iter().find(|s| shared(s))
            && let Some(first) = instruction.operands.first()
        {
            let message = format!(
                "Modifier '.L2::cache_hint' cannot be applied to '{space}' space for instruction '{opcode}'"
            );
            self.error(
                ErrorKind::Semantic,
                first.span,
                message,
                "cache policies apply to global memory only",
            );
            return;
        }
        let wanted = match (opcode, named.first()) {
            (O::Mapa | O::Getctarank, _) => Space::Shared,
            (O::Cvta, Some(space)) if shared(space) => Space::Shared,
            (O::Cvta, Some(Space::ParamEntry | Space::ParamFunc)) => Space::Param,
            (O::Cvta, Some(space)) => *space,
            _ => return,
        };
        for operand in &instruction.operands {
            let OperandKind::Symbol(s) = &operand.kind else { continue };
            if let (O::Cvta, Symbol::Func(_)) = (opcode, s.symbol) {
                let message =
                    format!("State space mismatch between instruction and address in instruction '{opcode}'");
                self.error(ErrorKind::Semantic, operand.span, message, "a function has no state space");
                return;
            }
            let variable = match s.symbol {
                Symbol::Var(id) => self.variable(VariableRef::Var(id)),
                Symbol::Global(id) => self.variable(VariableRef::Global(id)),
                _ => None,
            };
            let Some(found) = variable.map(|v| v.space).filter(|found| *found != wanted) else { continue };
            let message =
                format!("State space mismatch between instruction and address in instruction '{opcode}'");
            self.error(ErrorKind::Semantic, operand.span, message, &format!("this variable is in `{found}`"));
            return;
        }
    }

    /// Reports a variable that is addressed in a state space other than its own.
    pub(super) fn check_space(&mut self, instruction: &Instruction) {
        let opcode = instruction.opcode;
        let named: Vec<Space> = instruction.modifiers.iter().filter_map(|m| m.space()).collect();
        self.check_named(instruction, &named);
        let addresses = instruction.operands.iter().filter(|o| o.address().is_some()).enumerate();
        for (n, operand) in addresses {
            let Some(variable) = addressed(operand) else { continue };
            let Some((found, opaque)) = self.variable(variable).map(|v| (v.space, v.ty.is_opaque())) else {
                continue;
            };
            let legal = match expected(instruction, &named, n) {
                // Texture instructions check the kind of the variable themselves.
                _ if opaque => true,
                Place::Any => true,
                Place::Map => matches!(found, Space::Global | Space::Const | Space::Param),
                Place::Generic => !matches!(found, Space::Param | Space::Const),
                Place::Common => found == Space::Global,
                Place::In(Space::SharedCta | Space::SharedCluster) => found == Space::Shared,
                Place::In(Space::ParamEntry | Space::ParamFunc) => found == Space::Param,
                Place::In(space) => found == space,
            };
            if !legal {
                let message =
                    format!("State space mismatch between instruction and address in instruction '{opcode}'");
                let label = format!("this variable is in `{found}`");
                self.error(ErrorKind::Semantic, operand.span, message, &label);
                return;
            }
            if let (Opcode::Prefetch, Space::Param, VariableRef::Var(id)) = (opcode, found, variable)
                && !self.current.inputs.contains(&id.0)
            {
                let message = format!("Illegal to take address of parameter '{}'", self.text(operand.span));
                self.error(ErrorKind::Semantic, operand.span, message, "expected a parameter of the kernel");
                return;
            }
            let private = matches!(found, Space::Local | Space::Const);
            if matches!(opcode, Opcode::Atom | Opcode::Red) && private && n == 0 {
                let message =
                    format!("Illegal address for instruction '{opcode}': this memory has no atomics");
                let label = "expected global or shared memory";
                self.error(ErrorKind::Semantic, operand.span, message, label);
                return;
            }
            if let (Opcode::St, VariableRef::Var(id)) = (opcode, variable)
                && self.current.inputs.contains(&id.0)
            {
                let message =
                    format!("Illegal to write to function input parameter '{}'", self.text(operand.span));
                self.error(ErrorKind::Semantic, operand.span, message, "an input");
                return;
            }
        }
    }
}

/// Where an address may point.
enum Place {
    Any,
    /// Where a tensor map may be.
    Map,
    /// Anywhere but to parameters and constants.
    Generic,
    /// Global memory only, through a generic address.
    Common,
    In(Space),
}

/// Where address `n` of an instruction that names these state spaces may point.
fn expected(instruction: &Instruction, named: &[Space], n: usize) -> Place {
    use Opcode as O;
    match (instruction.opcode, named.get(n)) {
        // The written space is not that of the operands, or it is that of the tensor map.
        (
            O::Call
            | O::Cvta
            | O::Isspacep
            | O::Txq
            | O::Suq
            | O::Tex
            | O::Tld4
            | O::Suld
            | O::Sust
            | O::Sured,
            _,
        ) => Place::Any,
        (O::Prefetchu, _) => Place::Common,
        // The barrier of a store to cluster shared memory.
        (O::St | O::Red, None) if n > 0 && !named.is_empty() => Place::In(Space::Shared),
        (O::Cp, _) if is_map(instruction, n) => Place::Map,
        // The copy's barrier.
        (O::Cp, None) if n > 0 => Place::In(Space::Shared),
        (O::Cp, Some(space)) => Place::In(*space),
        (O::Multimem, Some(space)) => Place::In(*space),
        (_, Some(space)) if n == 0 => Place::In(*space),
        (O::Mbarrier, None) => Place::In(Space::Shared),
        (O::Tensormap, Some(space)) => Place::In(*space),
        _ => Place::Generic,
    }
}

/// Whether address `n` of `cp` has coordinates.
fn is_map(instruction: &Instruction, n: usize) -> bool {
    let mut addresses = instruction.operands.iter().filter_map(|o| o.address());
    addresses.nth(n).is_some_and(|a| !a.parts.is_empty())
}

fn addressed(operand: &Operand) -> Option<VariableRef> {
    match &operand.kind {
        OperandKind::Address(address) => match address.base {
            AddressBase::Var(variable) => Some(variable),
            AddressBase::Element(element) => Some(element.array),
            _ => None,
        },
        _ => None,
    }
}
