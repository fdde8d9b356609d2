//! State spaces of addressed variables against the instruction's.

use crate::ast::{AddressBase, Instruction, Operand, OperandKind, VariableRef};
use crate::diagnostic::ErrorKind;
use crate::parser::Parser;
use crate::types::Space;
use crate::words::Opcode;

impl Parser<'_> {
    /// Reports a variable that is addressed in another space than its own.
    pub(super) fn check_space(&mut self, instruction: &Instruction) {
        let opcode = instruction.opcode;
        if !matches!(opcode, Opcode::Ld | Opcode::Ldu | Opcode::St | Opcode::Atom | Opcode::Red) {
            return;
        }
        let Some((operand, variable)) = instruction.operands.iter().find_map(|o| Some((o, addressed(o)?)))
        else {
            return;
        };
        let Some(found) = self.variable(variable).map(|v| v.space) else { return };
        let legal = match instruction.space() {
            None => found != Space::Param,
            Some(Space::SharedCta | Space::SharedCluster) => found == Space::Shared,
            Some(Space::ParamEntry | Space::ParamFunc) => found == Space::Param,
            Some(space) => found == space,
        };
        if !legal {
            let message =
                format!("State space mismatch between instruction and address in instruction '{opcode}'");
            let label = format!("this variable is in `{found}`");
            self.error(ErrorKind::Semantic, operand.span, message, &label);
        } else if let (Opcode::St, VariableRef::Var(id)) = (opcode, variable)
            && self.current.inputs.contains(&id.0)
        {
            let message =
                format!("Illegal to write to function input parameter '{}'", self.text(operand.span));
            self.error(ErrorKind::Semantic, operand.span, message, "an input");
        }
    }
}

fn addressed(operand: &Operand) -> Option<VariableRef> {
    match &operand.kind {
        OperandKind::Address(address) => match address.base {
            AddressBase::Var(variable) => Some(variable),
            _ => None,
        },
        _ => None,
    }
}
