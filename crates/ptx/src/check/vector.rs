//! Constants in vectors.

use crate::ast::{Operand, OperandKind};
use crate::parser::Parser;

use super::operand::{Fit, no};

impl Parser<'_> {
    /// A constant in a vector must be of the kind of its neighbours, as ptxas compares them: an integer is
    /// not next to a floating-point number or register. Registers of bits are of either kind.
    pub(super) fn constants_fit(&self, operand: &Operand) -> Fit {
        let number = |item: &Operand| {
            matches!(item.kind, OperandKind::Int(_) | OperandKind::F32(_) | OperandKind::F64(_))
        };
        let is_float = |item: &Operand| match item.kind {
            OperandKind::Int(_) => Some(false),
            OperandKind::F32(_) | OperandKind::F64(_) => Some(true),
            _ => self
                .type_of(item)
                .filter(|ty| ty.is_float() || ty.is_integer() && !ty.is_bits())
                .map(|ty| ty.is_float()),
        };
        for pair in operand.elements().windows(2) {
            let [before, item] = pair else { continue };
            if !number(before) && !number(item) {
                continue;
            }
            match (is_float(before), is_float(item)) {
                (Some(true), Some(false)) => {
                    return no(item, "an integer next to floating point: expected one kind in a vector");
                }
                (Some(false), Some(true)) => {
                    return no(item, "floating point next to an integer: expected one kind in a vector");
                }
                _ => {}
            }
        }
        Ok(())
    }
}
