//! Operands against their form: PTX ISA 9.2 "Type Information for Instructions and Operands", 9.2.1 "Operand Size
//! Exceeding Instruction-Type Size", as the assembler of CUDA 13 applies them.

use crate::ast::{AddressBase, Component, Instruction, Operand, OperandKind, SpecialReg, Symbol};
use crate::diagnostic::{Diagnostic, ErrorKind};
use crate::forms::{Class, Form, OperandForm, TypeRef};
use crate::parser::Parser;
use crate::span::Span;
use crate::types::{ScalarType, TypeKind};
use crate::words::Opcode;

/// Why an operand does not fit: where, the general finding, and the particular one.
struct Mismatch {
    span: Span,
    message: Option<String>,
    label: String,
}

type Fit = Result<(), Mismatch>;

fn no(operand: &Operand, label: impl Into<String>) -> Fit {
    Err(Mismatch { span: operand.span, message: None, label: label.into() })
}

impl Parser<'_> {
    /// Whether the operands fit the form; otherwise how many did, and what is wrong with the first that does not.
    pub(super) fn check_operands(
        &self,
        instruction: &Instruction,
        form: &Form,
        head: Span,
    ) -> Result<(), (usize, Diagnostic)> {
        let opcode = instruction.opcode;
        let message = || format!("Arguments mismatch for instruction '{opcode}'");
        let (given, forms) = (instruction.operands.len(), form.operands());
        let required = forms.iter().filter(|f| !f.optional).count();
        if given < required || given > forms.len() {
            let wanted = if required == forms.len() {
                required.to_string()
            } else {
                format!("{required} to {}", forms.len())
            };
            let label = format!("{given} operands, expected {wanted}");
            let note = format!("the form is `{}`", form.text);
            return Err((0, Diagnostic::error(ErrorKind::Semantic, head, message()).label(label).note(note)));
        }
        let mut spare = given - required;
        let mut operands = instruction.operands.iter();
        for (rank, form_of) in forms.iter().enumerate() {
            if form_of.optional {
                if spare == 0 {
                    continue;
                }
                spare -= 1;
            }
            let Some(operand) = operands.next() else { break };
            if let Err(mismatch) = self.fits(instruction, operand, form_of) {
                let Mismatch { span, message: special, label } = mismatch;
                let diagnostic =
                    Diagnostic::error(ErrorKind::Semantic, span, special.unwrap_or_else(message))
                        .label(label);
                return Err((rank + 1, diagnostic.note(format!("the form is `{}`", form.text))));
            }
        }
        Ok(())
    }

    fn fits(&self, instruction: &Instruction, operand: &Operand, form: &OperandForm) -> Fit {
        if let OperandKind::Pair(pair) = &operand.kind {
            if !form.pair {
                return no(operand, "only one destination is legal here");
            }
            self.predicate(&pair.1)?;
            if matches!(pair.0.kind, OperandKind::Sink) {
                return Ok(());
            }
            return self.fits(instruction, &pair.0, form);
        }
        let ty = match form.ty {
            TypeRef::None => None,
            TypeRef::Fixed(ty) => Some(ty),
            TypeRef::Written(n) => instruction.ty(n.into()),
            TypeRef::Wide(n) => instruction.ty(n.into()).map(wide),
        };
        match (form.class, ty) {
            (Class::Any, _) => Ok(()),
            (Class::Immediate, _) => match operand.kind {
                OperandKind::Int(_) => Ok(()),
                _ => no(operand, "must be an integer constant"),
            },
            (Class::Label, _) => match operand.kind {
                OperandKind::Symbol(s) if matches!(s.symbol, Symbol::Label(_)) => Ok(()),
                _ => no(operand, "must be a label"),
            },
            (Class::Address, _) => self.address_fits(operand),
            (Class::Memory, Some(ty)) => self.memory_fits(instruction, operand, ty, form),
            (Class::Mov, Some(ty)) => self.mov_fits(operand, ty, form),
            (Class::Convert, Some(ty)) => match operand.kind {
                OperandKind::Special(special, _) if !form.dest => self.typed(operand, special.ty(), ty, true),
                _ => self.value_fits(instruction, operand, ty, form, true),
            },
            (Class::Video, _) => self.video_fits(operand),
            (Class::Value, Some(ty)) => self.value_fits(instruction, operand, ty, form, false),
            (_, None) => Ok(()),
        }
    }

    fn predicate(&self, operand: &Operand) -> Fit {
        match operand.kind {
            OperandKind::Reg(reg) if self.reg(reg).0 == ScalarType::Pred => Ok(()),
            OperandKind::Sink => Ok(()),
            _ => no(operand, "must be a `.pred` register"),
        }
    }

    /// A register's type against what it has to hold.
    fn typed(&self, operand: &Operand, reg: ScalarType, ty: ScalarType, wider: bool) -> Fit {
        if register_fits(reg, ty, wider) {
            return Ok(());
        }
        no(operand, format!("a `{reg}` register, expected {}", expected(ty, wider)))
    }

    /// A register, a constant or a negated predicate.
    fn value_fits(
        &self,
        instruction: &Instruction,
        operand: &Operand,
        ty: ScalarType,
        form: &OperandForm,
        wider: bool,
    ) -> Fit {
        let opcode = instruction.opcode;
        match &operand.kind {
            OperandKind::Reg(reg) => match self.reg(*reg) {
                (found, 1) => self.typed(operand, found, ty, wider),
                (found, n) => no(operand, format!("a `.v{n} {found}` register, expected one value")),
            },
            OperandKind::Component(reg, Component::Element(i)) => match self.reg(*reg) {
                (found, n) if *i < n => self.typed(operand, found, ty, wider),
                (_, n) => no(operand, format!("the register has {n} elements")),
            },
            OperandKind::Not(reg) if form.negate => match self.reg(*reg) {
                (ScalarType::Pred, _) if ty == ScalarType::Pred => Ok(()),
                _ => no(operand, "only predicates are negated with `!`"),
            },
            OperandKind::Not(_) => no(operand, "must not be negated here"),
            OperandKind::Int(_) | OperandKind::F32(_) | OperandKind::F64(_) if form.dest => {
                no(operand, "a constant cannot be a destination")
            }
            OperandKind::Int(_) if ty.is_float() => {
                no(operand, format!("an integer constant, expected a `{ty}` constant like 0f3F800000 or 1.0"))
            }
            OperandKind::Int(_) => Ok(()),
            OperandKind::F32(_) if takes_float(ty) || ty == ScalarType::B32 => Ok(()),
            OperandKind::F64(_) if takes_float(ty) || ty == ScalarType::B64 => Ok(()),
            OperandKind::F32(_) | OperandKind::F64(_) => {
                no(operand, format!("a floating-point constant, expected {}", expected(ty, wider)))
            }
            OperandKind::Sink if form.dest && takes_sink(opcode) => Ok(()),
            OperandKind::Sink => Err(Mismatch {
                span: operand.span,
                message: Some(format!("Result discard mode is not allowed for instruction '{opcode}'")),
                label: "must be a register".into(),
            }),
            OperandKind::Special(..) => Err(Mismatch {
                span: operand.span,
                message: Some(format!("Special register argument not allowed for instruction '{opcode}'")),
                label: "move it to a register first".into(),
            }),
            _ => no(operand, format!("expected {}", expected(ty, wider))),
        }
    }

    fn mov_fits(&self, operand: &Operand, ty: ScalarType, form: &OperandForm) -> Fit {
        match &operand.kind {
            OperandKind::Vector(items) => {
                if !ty.is_bits() {
                    return no(operand, format!("only `.b` types are packed and unpacked, not `{ty}`"));
                }
                let mut bits = 0;
                for item in items {
                    match item.kind {
                        OperandKind::Reg(reg) => bits += self.reg(reg).0.bits(),
                        OperandKind::Component(reg, _) => bits += self.reg(reg).0.bits(),
                        OperandKind::Sink | OperandKind::Int(_) => {
                            bits += ty.bits() / items.len().max(1) as u32
                        }
                        _ => return no(item, "must be a register"),
                    }
                }
                if bits == ty.bits() {
                    return Ok(());
                }
                no(operand, format!("{bits} bits, expected {}", ty.bits()))
            }
            OperandKind::Special(special, part) if !form.dest => {
                if special.is_vector() != part.is_some() {
                    return no(operand, "name an element of it, like %tid.x");
                }
                if special.ty() == ScalarType::Pred && ty == ScalarType::Pred {
                    return Ok(());
                }
                // Before PTX 2.0 these had 16 bits, and may still be read so.
                let short = matches!(
                    special,
                    SpecialReg::Tid | SpecialReg::Ntid | SpecialReg::Ctaid | SpecialReg::Nctaid
                );
                let found = if short && ty.bits() == 16 { ScalarType::U16 } else { special.ty() };
                self.typed(operand, found, ty, false)
            }
            OperandKind::Symbol(s) if !form.dest => match s.symbol {
                Symbol::Label(_) => no(operand, "a label has no address"),
                _ if ty.is_float() || ty.bits() < 32 => {
                    no(operand, format!("an address does not fit `{ty}`"))
                }
                _ => Ok(()),
            },
            OperandKind::Not(_) => no(operand, "must not be negated here"),
            OperandKind::Reg(reg) => {
                let (found, n) = self.reg(*reg);
                match found {
                    _ if n > 1 && found.bits() * u32::from(n) == ty.bits() => Ok(()),
                    _ if n > 1 => no(operand, format!("a `.v{n} {found}` register, expected one value")),
                    found => self.typed(operand, found, ty, false),
                }
            }
            OperandKind::Component(reg, _) => self.typed(operand, self.reg(*reg).0, ty, false),
            OperandKind::Int(_) if !form.dest && !ty.is_float() => Ok(()),
            OperandKind::F32(_) if !form.dest && (ty.is_float() || ty == ScalarType::B32) => Ok(()),
            OperandKind::F64(_) if !form.dest && (ty.is_float() || ty == ScalarType::B64) => Ok(()),
            _ => no(operand, format!("expected {}", expected(ty, false))),
        }
    }

    fn memory_fits(
        &self,
        instruction: &Instruction,
        operand: &Operand,
        ty: ScalarType,
        form: &OperandForm,
    ) -> Fit {
        let wanted = instruction.vec();
        if wanted == 1 {
            return self.value_fits(instruction, operand, ty, form, true);
        }
        let bits = ty.bits() * u32::from(wanted);
        let whole = wanted == 8 && ty.bits() == 32 || wanted == 4 && ty.bits() == 64;
        if bits > 256 || (wanted == 8 || bits > 128) && !whole {
            return no(
                operand,
                format!(
                    "`.v{wanted}` of `{ty}` is {bits} bits; vectors have at most 128, or 256 in `.v8.b32` and `.v4.b64`"
                ),
            );
        }
        match &operand.kind {
            OperandKind::Vector(items) if items.len() == usize::from(wanted) => {
                items.iter().try_for_each(|item| match item.kind {
                    OperandKind::Sink if form.dest => Ok(()),
                    _ => self.value_fits(instruction, item, ty, form, true),
                })
            }
            OperandKind::Vector(items) => {
                no(operand, format!("{} elements, expected {wanted} for `.v{wanted}`", items.len()))
            }
            OperandKind::Reg(reg) => match self.reg(*reg) {
                (found, n) if n == wanted => self.typed(operand, found, ty, true),
                _ => {
                    no(operand, format!("expected {wanted} registers in braces, or a `.v{wanted}` register"))
                }
            },
            _ => no(operand, format!("expected {wanted} registers in braces")),
        }
    }

    fn video_fits(&self, operand: &Operand) -> Fit {
        match operand.kind {
            OperandKind::Reg(reg) | OperandKind::Component(reg, _) | OperandKind::Negated(reg, _) => {
                self.typed(operand, self.reg(reg).0, ScalarType::U32, false)
            }
            OperandKind::Int(_) => Ok(()),
            _ => no(operand, "expected a 32-bit register"),
        }
    }

    fn address_fits(&self, operand: &Operand) -> Fit {
        let reg = match &operand.kind {
            OperandKind::Address(address) => match address.base {
                AddressBase::Reg(reg) | AddressBase::Component(reg, _) => self.reg(reg).0,
                _ => return Ok(()),
            },
            _ => return no(operand, "expected an address in brackets"),
        };
        match reg.kind() {
            TypeKind::Unsigned | TypeKind::Signed | TypeKind::Bits => Ok(()),
            _ => no(operand, format!("a `{reg}` register cannot hold an address")),
        }
    }
}

/// Instructions whose result may be thrown away with `_`.
fn takes_sink(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::Atom | Opcode::Setp | Opcode::Mbarrier | Opcode::Elect)
}

/// Types that floating-point constants have.
fn takes_float(ty: ScalarType) -> bool {
    matches!(ty, ScalarType::F32 | ScalarType::F64)
}

/// The type of the product of two values of a type.
fn wide(ty: ScalarType) -> ScalarType {
    match ty {
        ScalarType::U16 => ScalarType::U32,
        ScalarType::S16 => ScalarType::S32,
        ScalarType::U32 => ScalarType::U64,
        ScalarType::S32 => ScalarType::S64,
        other => other,
    }
}

/// Whether a register of type `reg` can hold an operand of type `ty`; `wider` registers only where the instruction
/// converts or moves to or from memory.
pub(super) fn register_fits(reg: ScalarType, ty: ScalarType, wider: bool) -> bool {
    if reg == ScalarType::Pred || ty == ScalarType::Pred {
        return reg == ty;
    }
    let size = if wider { reg.bits() >= ty.bits() } else { reg.bits() == ty.bits() };
    match ty.kind() {
        TypeKind::Bits => size,
        // The assembler takes a register of packed halves as 32 untyped bits.
        TypeKind::Unsigned | TypeKind::Signed => {
            size && (reg.is_integer() || reg.is_bits() || reg == ScalarType::F16x2)
        }
        TypeKind::Float if wider && ty != ScalarType::Bf16 => reg == ty || (size && reg.is_bits()),
        // Formats that are no types of registers go in untyped ones.
        TypeKind::Float => {
            reg == ty || (reg.is_bits() && reg.bits() == ty.bits().next_power_of_two().max(16))
        }
        TypeKind::Predicate | TypeKind::Opaque => reg == ty,
    }
}

/// The register types that [`register_fits`] takes, for messages.
fn expected(ty: ScalarType, wider: bool) -> String {
    const REGISTERS: [ScalarType; 15] = [
        ScalarType::Pred,
        ScalarType::B8,
        ScalarType::B16,
        ScalarType::B32,
        ScalarType::B64,
        ScalarType::B128,
        ScalarType::U16,
        ScalarType::U32,
        ScalarType::U64,
        ScalarType::S16,
        ScalarType::S32,
        ScalarType::S64,
        ScalarType::F16,
        ScalarType::F32,
        ScalarType::F64,
    ];
    let fit = REGISTERS.iter().filter(|r| register_fits(**r, ty, wider)).map(|r| format!("`{r}`"));
    format!("a register of type {}", fit.collect::<Vec<_>>().join(", "))
}
