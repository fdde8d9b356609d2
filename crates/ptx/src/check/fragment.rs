//! Matrix fragments: registers in braces that hold part of a matrix (PTX ISA 9.7.14, 9.7.15), checked as the
//! ptxas of CUDA 13 checks them.

use super::operand::{Fit, expected, no};
use crate::ast::{Component, Instruction, Operand, OperandKind};
use crate::diagnostic::{Diagnostic, ErrorKind};
use crate::forms::{Class, OperandForm};
use crate::parser::Parser;
use crate::span::Span;
use crate::types::ScalarType;
use crate::words::{Modifier, Opcode};

impl Parser<'_> {
    /// The registers of a fragment with elements of type `ty`. Their number is checked by lowering. If all
    /// registers have the same type, it must be the fragment's; registers of several types, and registers
    /// mixed with constants, count as untyped.
    pub(super) fn fragment_fits(
        &self,
        instruction: &Instruction,
        operand: &Operand,
        element: ScalarType,
        form: &OperandForm,
    ) -> Fit {
        let ty = packed(instruction, element);
        let OperandKind::Vector(items) = &operand.kind else {
            return no(operand, format!("expected registers in braces, each {}", expected(ty, false)));
        };
        self.vector_typed(operand)?;
        // ptxas expands some products into scalar instructions, and then checks each register.
        let each = form.class == Class::Each || ty == ScalarType::F64;
        if !each && self.is_mixed(operand) {
            return items.iter().try_for_each(|i| self.untyped_fits(instruction, i, ty, form));
        }
        items.iter().try_for_each(|item| match item.kind {
            OperandKind::Int(_) if !matches!(ty, ScalarType::S32 | ScalarType::B64) => {
                no(item, "expected at least one register")
            }
            OperandKind::F32(_) if ty == ScalarType::B64 && !form.dest => Ok(()),
            OperandKind::Sink if form.dest && !form.register && form.class == Class::Fragment => Ok(()),
            _ => match self.type_of(item) {
                Some(ScalarType::F16x2) if ty.is_integer() => {
                    no(item, format!("a `.f16x2` register, expected {}", expected(ty, false)))
                }
                _ => self.value_fits(instruction, item, ty, form, false),
            },
        })
    }

    /// The type of a register or of a constant.
    pub(super) fn type_of(&self, item: &Operand) -> Option<ScalarType> {
        match item.kind {
            OperandKind::Reg(reg) | OperandKind::Component(reg, Component::Element(_)) => {
                Some(self.reg(reg).0)
            }
            OperandKind::Int(_) => Some(ScalarType::S32),
            OperandKind::F32(_) => Some(ScalarType::F32),
            OperandKind::F64(_) => Some(ScalarType::F64),
            _ => None,
        }
    }

    /// A register or constant in a list of mixed types.
    fn untyped_fits(
        &self,
        instruction: &Instruction,
        item: &Operand,
        ty: ScalarType,
        form: &OperandForm,
    ) -> Fit {
        let untyped = if ty.bits() == 64 { ScalarType::B64 } else { ScalarType::B32 };
        match item.kind {
            OperandKind::Sink if form.dest && !form.register => Ok(()),
            OperandKind::F32(_) if untyped == ScalarType::B64 && !form.dest => Ok(()),
            _ => self.value_fits(instruction, item, untyped, form, false),
        }
    }

    /// Single-bit products name the bit operation before the count (`.and.popc`).
    pub(super) fn check_bits(&mut self, instruction: &Instruction, head: Span) {
        if !matches!(instruction.opcode, Opcode::Mma | Opcode::Wmma | Opcode::Wgmma) {
            return;
        }
        let at = |words: &[Modifier]| instruction.modifiers.iter().position(|m| words.contains(m));
        let (Some(combined), Some(counted)) = (at(&[Modifier::And, Modifier::Xor]), at(&[Modifier::Popc]))
        else {
            return;
        };
        if counted < combined {
            let opcode = instruction.opcode;
            let message = format!("Illegal reduction operation for instruction '{opcode}'");
            let diagnostic = Diagnostic::error(ErrorKind::Semantic, head, message)
                .label("`.popc` must follow the operation")
                .help("write `.and.popc` or `.xor.popc`");
            self.report(diagnostic);
        }
    }
}

/// The type of the registers that hold packed elements of type `ty`.
fn packed(instruction: &Instruction, ty: ScalarType) -> ScalarType {
    match ty {
        // ptxas implements products of 4-bit integers as a function whose parameters have this type.
        ty if instruction.opcode == Opcode::Wmma && ty.bits() < 32 && !ty.is_float() => {
            match (ty.bits() < 8, instruction.has(Modifier::Load)) {
                (true, true) => ScalarType::B32,
                (true, false) if ty.bits() == 4 => ScalarType::S32,
                _ => ScalarType::U32,
            }
        }
        ScalarType::F16 => ScalarType::F16x2,
        ScalarType::Bf16 => ScalarType::Bf16x2,
        ty if ty.bits() < 32 => ScalarType::B32,
        ty => ty,
    }
}
