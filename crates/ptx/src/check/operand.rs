//! Checks operands against their form: PTX ISA 9.2 "Type Information for Instructions and Operands" and 9.2.1
//! "Operand Size Exceeding Instruction-Type Size", as the ptxas of CUDA 13 applies them.

use crate::ast::{
    AddressBase, Component, Instruction, Operand, OperandKind, SpecialReg, Symbol, VariableRef,
};
use crate::diagnostic::{Diagnostic, ErrorKind};
use crate::forms::{Class, Form, OperandForm, TypeRef};
use crate::parser::Parser;
use crate::span::Span;
use crate::types::{ScalarType, Space, TypeKind};
use crate::words::{Modifier, Opcode};

/// Why an operand does not fit: its position, the general message and the specific label.
pub(super) struct Mismatch {
    span: Span,
    message: Option<String>,
    label: String,
}

pub(super) type Fit = Result<(), Mismatch>;

pub(super) fn no(operand: &Operand, label: impl Into<String>) -> Fit {
    Err(Mismatch { span: operand.span, message: None, label: label.into() })
}

impl Parser<'_> {
    /// Checks the operands against the form. On failure: how many fit, and the problem with the first that
    /// does not.
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
        let hinted = instruction.has(Modifier::L2CacheHint);
        // The policy is the last operand; it never fills another optional operand.
        let kept = usize::from(hinted && forms.iter().any(|f| f.hint));
        let mut operands = instruction.operands.iter();
        for (rank, form_of) in forms.iter().enumerate() {
            if form_of.hint && (spare > 0) != hinted {
                let (message, label) = match hinted {
                    true => (message(), "`.L2::cache_hint` requires a cache policy as the last operand"),
                    false => {
                        let message = format!(
                            ".L2::cache_hint modifier required for instruction '{opcode}' with {given} arguments"
                        );
                        (message, "a cache policy requires `.L2::cache_hint`")
                    }
                };
                let note = format!("the form is `{}`", form.text);
                return Err((
                    rank,
                    Diagnostic::error(ErrorKind::Semantic, head, message).label(label).note(note),
                ));
            }
            if form_of.optional {
                if spare <= if form_of.hint { 0 } else { kept } {
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
            self.predicate(instruction.opcode, &pair.1)?;
            if matches!(pair.0.kind, OperandKind::Sink) && takes_first_sink(instruction.opcode) {
                return Ok(());
            }
            return self.fits(instruction, &pair.0, &OperandForm { paired: false, ..*form });
        }
        if form.paired {
            return no(operand, "a predicate has to follow, as in `d|p`");
        }
        let ty = match form.ty {
            TypeRef::None => None,
            TypeRef::Fixed(ty) => Some(ty),
            TypeRef::Written(n) => instruction.ty(n.into()),
            TypeRef::Wide(n) => instruction.ty(n.into()).map(wide),
        };
        if let OperandKind::Int(value) = operand.kind {
            among(operand, value.bits as i64, form.values)?;
        }
        match (form.class, ty) {
            (Class::Any, _) => Ok(()),
            (Class::Sink, _) => match operand.kind {
                OperandKind::Sink => Ok(()),
                _ => {
                    no(operand, "operations on another block's shared memory return no result: expected `_`")
                }
            },
            (Class::Immediate, _) => match operand.kind {
                OperandKind::Int(_) => Ok(()),
                _ => no(operand, "must be an integer constant"),
            },
            (Class::Label, _) => match operand.kind {
                OperandKind::Symbol(s) if matches!(s.symbol, Symbol::Label(_)) => Ok(()),
                _ => no(operand, "must be a label"),
            },
            (Class::Address, _) => self.address_fits(instruction, operand),
            (Class::Coordinates, _) => self.coordinates_fit(instruction, operand),
            (Class::Offsets, _) => self.offsets_fit(instruction, operand),
            (Class::Gradient, _) => self.gradient_fits(instruction, operand),
            (Class::Memory | Class::Memory256, Some(ty)) => self.memory_fits(instruction, operand, ty, form),
            (Class::Mov, Some(ty)) => self.mov_fits(instruction, operand, ty, form),
            (Class::Convert, Some(ty)) => match operand.kind {
                OperandKind::Special(special, _)
                    if !form.dest
                        && matches!(form.ty, TypeRef::Written(_))
                        && instruction.types().iter().all(|t| t.is_integer()) =>
                {
                    self.typed(operand, special.ty(), ty, true)
                }
                _ => self.value_fits(instruction, operand, ty, form, true),
            },
            (Class::Video, _) => self.video_fits(operand, form),
            (Class::Value, Some(ty)) => self.value_fits(instruction, operand, ty, form, false),
            (Class::Vector, Some(ty)) => {
                let count = if form.count > 0 { form.count } else { instruction.vec() };
                self.vector_fits(instruction, operand, ty, form, Some(count))
            }
            (Class::Fragment | Class::Each, Some(ty)) => self.fragment_fits(instruction, operand, ty, form),
            (_, None) => Ok(()),
        }
    }

    /// Registers in braces that each hold a value of the type; any number of them without `count`.
    pub(super) fn vector_fits(
        &self,
        instruction: &Instruction,
        operand: &Operand,
        ty: ScalarType,
        form: &OperandForm,
        count: Option<u8>,
    ) -> Fit {
        if count.is_some_and(|n| u32::from(n) * ty.bits() > 128) {
            return no(operand, "vectors have at most 128 bits here");
        }
        if count == Some(1) && !matches!(operand.kind, OperandKind::Vector(_)) {
            return self.value_fits(instruction, operand, ty, form, false);
        }
        self.vector_typed(operand)?;
        self.constants_fit(operand)?;
        let mixed = instruction.opcode == Opcode::Multimem && self.is_mixed(operand);
        match &operand.kind {
            OperandKind::Vector(items) if count.is_none_or(|n| items.len() == usize::from(n)) => {
                items.iter().enumerate().try_for_each(|(n, item)| match item.kind {
                    OperandKind::Sink if instruction.opcode == Opcode::Tex && ty == ScalarType::F16x2 => {
                        no(item, "both registers of a pair of halves are written: expected a register")
                    }
                    OperandKind::Sink if form.dest => Ok(()),
                    OperandKind::Int(_) if n == 0 && ty == ScalarType::F16x2 => {
                        no(item, "the first must be a register")
                    }
                    // Constants take the vector's type, which registers determine, or the type of `mov`.
                    OperandKind::Int(_)
                        if !form.dest
                            && !form.register
                            && (form.count > 0
                                || instruction.opcode == Opcode::Mov && !ty.is_float()
                                || items.iter().any(|i| i.reg().is_some())) =>
                    {
                        Ok(())
                    }
                    // Numbers keep their bits in integers, and lose the upper ones of `f64` there.
                    OperandKind::F32(_) | OperandKind::F64(_)
                        if instruction.opcode == Opcode::Mov
                            && !form.dest
                            && ty.bits() >= 32
                            && items.iter().any(|i| i.reg().is_some()) =>
                    {
                        Ok(())
                    }
                    OperandKind::F32(_)
                        if !form.dest
                            && ty.bits() == 32
                            && ty != ScalarType::F16x2
                            && items.iter().any(|i| i.reg().is_some()) =>
                    {
                        Ok(())
                    }
                    OperandKind::Int(_) => no(item, "expected at least one register"),
                    OperandKind::Reg(reg) if mixed && self.reg(reg).0.bits() == ty.bits() => Ok(()),
                    _ => self.element_fits(instruction, item, ty, form, false),
                })
            }
            OperandKind::Vector(items) => {
                no(operand, format!("{} elements, expected {}", items.len(), count.unwrap_or(0)))
            }
            OperandKind::Reg(reg) if self.reg(*reg).1 > 1 && count.is_some() => match self.reg(*reg) {
                (found, n) if count.is_none_or(|c| c == n) => self.typed(operand, found, ty, false),
                (_, n) => no(operand, format!("{n} elements, expected {}", count.unwrap_or(0))),
            },
            OperandKind::Sink if form.dest && takes_sink(instruction) => Ok(()),
            _ => no(operand, format!("expected registers in braces, each {}", expected(ty, false))),
        }
    }

    /// An element of a vector. Where floats are expected, integers of the same width are accepted and moved
    /// bit by bit.
    fn element_fits(
        &self,
        instruction: &Instruction,
        item: &Operand,
        ty: ScalarType,
        form: &OperandForm,
        wider: bool,
    ) -> Fit {
        match item.kind {
            OperandKind::Reg(reg)
                if instruction.opcode != Opcode::Wmma && form.class != Class::Fragment && form.count == 0 =>
            {
                let (found, n) = self.reg(reg);
                let plain = matches!(ty, ScalarType::F32 | ScalarType::F64);
                match n == 1 && plain && found.is_integer() && found.bits() == ty.bits() {
                    true => Ok(()),
                    false => self.value_fits(instruction, item, ty, form, wider),
                }
            }
            _ => self.value_fits(instruction, item, ty, form, wider),
        }
    }

    /// Whether registers in braces have several types: the ptxas of CUDA 13 then treats them as untyped.
    pub(super) fn is_mixed(&self, operand: &Operand) -> bool {
        let mut types = operand.elements().iter().map(|i| self.type_of(i));
        let first = types.next();
        types.any(|ty| Some(ty) != first)
    }

    /// Registers in braces must have one width, and at least one register must be there to determine it.
    pub(super) fn vector_typed(&self, operand: &Operand) -> Fit {
        let OperandKind::Vector(items) = &operand.kind else { return Ok(()) };
        let mut widths = items.iter().filter_map(|i| i.reg()).map(|r| self.reg(r).0.bits());
        let Some(first) = widths.next() else {
            return match items.iter().all(|i| matches!(i.kind, OperandKind::Sink)) {
                true => no(operand, "expected at least one register"),
                false => Ok(()),
            };
        };
        match widths.find(|w| *w != first) {
            Some(other) => no(operand, format!("registers of {first} and {other} bits, expected one width")),
            None => Ok(()),
        }
    }

    fn predicate(&self, opcode: Opcode, operand: &Operand) -> Fit {
        match operand.kind {
            OperandKind::Reg(reg) if self.reg(reg).0 == ScalarType::Pred => Ok(()),
            OperandKind::Sink
                if matches!(opcode, Opcode::Setp | Opcode::Shfl | Opcode::Match | Opcode::Mbarrier) =>
            {
                Ok(())
            }
            _ => no(operand, "must be a `.pred` register"),
        }
    }

    /// Checks a register's type against the type that it must hold.
    pub(super) fn typed(&self, operand: &Operand, reg: ScalarType, ty: ScalarType, wider: bool) -> Fit {
        if register_fits(reg, ty, wider) {
            return Ok(());
        }
        no(operand, format!("a `{reg}` register, expected {}", expected(ty, wider)))
    }

    /// A register, a constant or a negated predicate.
    pub(super) fn value_fits(
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
                (ScalarType::F16x2, 1)
                    if matches!(opcode, Opcode::Tex | Opcode::Tld4) && ty == ScalarType::B32 =>
                {
                    no(operand, format!("a `.f16x2` register, expected {}", expected(ty, wider)))
                }
                (ScalarType::F16x2, 1) if ty.is_integer() && is_plain(form) => {
                    no(operand, format!("a `.f16x2` register, expected {}", expected(ty, wider)))
                }
                // A type that no register can be declared with fits any register of its width.
                (found, 1) if untyped(instruction, ty) && found != ScalarType::Pred => {
                    match found.bits() == ty.bits().max(8) {
                        true => Ok(()),
                        false => {
                            no(operand, format!("a `{found}` register, expected one of {} bits", ty.bits()))
                        }
                    }
                }
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
            OperandKind::Int(_) if form.register || ty.lanes() > 1 && ty.is_integer() => {
                no(operand, format!("a constant, expected {}", expected(ty, false)))
            }
            OperandKind::Int(_) if untyped(instruction, ty) && ty.bits() == 32 => Ok(()),
            OperandKind::Int(_) if ty.is_float() => {
                no(operand, format!("an integer constant, expected a `{ty}` constant like 0f3F800000 or 1.0"))
            }
            OperandKind::Int(_) => Ok(()),
            OperandKind::F32(_) if takes_float(ty) || ty == ScalarType::B32 => Ok(()),
            OperandKind::F64(_) if takes_float(ty) || ty == ScalarType::B64 => Ok(()),
            // The comparison value of a texture is a number.
            OperandKind::F64(_) if matches!(opcode, Opcode::Tex | Opcode::Tld4) && ty == ScalarType::B32 => {
                Ok(())
            }
            OperandKind::F32(_) | OperandKind::F64(_) => {
                no(operand, format!("a floating-point constant, expected {}", expected(ty, wider)))
            }
            OperandKind::Sink if form.dest && takes_sink(instruction) => Ok(()),
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

    fn mov_fits(
        &self,
        instruction: &Instruction,
        operand: &Operand,
        ty: ScalarType,
        form: &OperandForm,
    ) -> Fit {
        match &operand.kind {
            OperandKind::Vector(items) => {
                self.vector_typed(operand)?;
                self.constants_fit(operand)?;
                let packed = |o: &Operand| match o.kind {
                    OperandKind::Vector(_) => true,
                    OperandKind::Reg(reg) => self.reg(reg).1 > 1,
                    _ => false,
                };
                if !form.dest && instruction.operands.first().is_some_and(packed) {
                    return no(operand, "expected one register: the destination is in braces");
                }
                if !ty.is_bits() {
                    return no(operand, format!("only `.b` types are packed and unpacked, not `{ty}`"));
                }
                let mut bits = 0;
                for item in items {
                    match item.kind {
                        OperandKind::Reg(reg) => bits += self.reg(reg).0.bits(),
                        OperandKind::Component(reg, _) => bits += self.reg(reg).0.bits(),
                        OperandKind::Sink if !form.dest => {
                            return no(item, "`_` can only discard a result");
                        }
                        OperandKind::Sink | OperandKind::Int(_) => {
                            bits += ty.bits() / items.len().max(1) as u32
                        }
                        OperandKind::F32(_) | OperandKind::F64(_)
                            if !form.dest
                                && items
                                    .iter()
                                    .any(|i| i.reg().is_some_and(|r| self.reg(r).0.bits() >= 32)) =>
                        {
                            bits += ty.bits() / items.len().max(1) as u32;
                        }
                        _ => return no(item, "must be a register"),
                    }
                }
                if bits == ty.bits() {
                    return Ok(());
                }
                no(operand, format!("{bits} bits, expected {}", ty.bits()))
            }
            OperandKind::Special(..) if instruction.opcode != Opcode::Mov => Err(Mismatch {
                span: operand.span,
                message: Some(format!(
                    "Special register argument not allowed for instruction '{}'",
                    instruction.opcode
                )),
                label: "move it to a register first".into(),
            }),
            OperandKind::Special(special, part) if !form.dest => {
                if special.is_vector() != part.is_some() {
                    return no(operand, "name an element of it, like %tid.x");
                }
                if special.ty() == ScalarType::Pred && ty == ScalarType::Pred {
                    return Ok(());
                }
                // Before PTX 2.0 these had 16 bits, so 16-bit reads remain legal.
                let short = matches!(
                    special,
                    SpecialReg::Tid | SpecialReg::Ntid | SpecialReg::Ctaid | SpecialReg::Nctaid
                );
                let found = if short && ty.bits() == 16 { ScalarType::U16 } else { special.ty() };
                self.typed(operand, found, ty, false)
            }
            OperandKind::Element(_) if !form.dest && !ty.is_float() && ty.bits() >= 32 => Ok(()),
            OperandKind::Symbol(s) if !form.dest => match s.symbol {
                Symbol::Label(_) => no(operand, "a label has no address"),
                _ if instruction.opcode == Opcode::Mov
                    && ty != ScalarType::U64
                    && self.is_opaque(s.symbol) =>
                {
                    no(operand, "the handle of a texture, sampler or surface is a `.u64`")
                }
                _ if ty.is_float() || ty.bits() < 32 => {
                    no(operand, format!("an address does not fit `{ty}`"))
                }
                _ => Ok(()),
            },
            OperandKind::Not(_) => no(operand, "must not be negated here"),
            OperandKind::Reg(reg) => {
                let (found, n) = self.reg(*reg);
                let second = instruction.operands.get(1).map(|o| &o.kind);
                match found {
                    _ if n > 1 && form.dest && matches!(second, Some(OperandKind::Vector(_))) => {
                        no(operand, "a vector cannot be packed from vectors: expected a scalar register")
                    }
                    _ if n > 1 && ty.is_bits() && found.bits() * u32::from(n) == ty.bits() => Ok(()),
                    _ if n > 1 => no(operand, format!("a `.v{n} {found}` register, expected one value")),
                    found => self.typed(operand, found, ty, false),
                }
            }
            OperandKind::Component(reg, part) => match (self.reg(*reg), part) {
                ((found, n), Component::Element(i)) if *i < n && n > 1 => {
                    self.typed(operand, found, ty, false)
                }
                _ => no(operand, "the register has no such element"),
            },
            OperandKind::Int(_) if !form.dest && !ty.is_float() => Ok(()),
            OperandKind::F32(_) if !form.dest && (ty.is_float() || ty == ScalarType::B32) => Ok(()),
            OperandKind::F64(_) if !form.dest && (ty.is_float() || ty == ScalarType::B64) => Ok(()),
            _ => no(operand, format!("expected {}", expected(ty, false))),
        }
    }

    /// Whether a symbol is a texture, sampler or surface.
    fn is_opaque(&self, symbol: Symbol) -> bool {
        let variable = match symbol {
            Symbol::Var(id) => self.variable(VariableRef::Var(id)),
            Symbol::Global(id) => self.variable(VariableRef::Global(id)),
            _ => None,
        };
        variable.is_some_and(|v| v.ty.is_opaque())
    }

    fn memory_fits(
        &self,
        instruction: &Instruction,
        operand: &Operand,
        ty: ScalarType,
        form: &OperandForm,
    ) -> Fit {
        let wanted = instruction.vec();
        if instruction.opcode == Opcode::Multimem && self.is_wider_float(operand, ty) {
            let label = format!("floating point is not narrowed here: expected {}", expected(ty, false));
            return no(operand, label);
        }
        if wanted == 1 {
            return self.value_fits(instruction, operand, ty, form, true);
        }
        let bits = ty.bits() * u32::from(wanted);
        let most = if form.class == Class::Memory256 { 256 } else { 128 };
        if bits > most {
            let most = "vectors have at most 128, or 256 in `.v8.b32` and `.v4.b64` of global memory";
            return no(operand, format!("`.v{wanted}` of `{ty}` is {bits} bits; {most}"));
        }
        self.vector_typed(operand)?;
        self.constants_fit(operand)?;
        match &operand.kind {
            OperandKind::Vector(items) if items.len() == usize::from(wanted) => {
                let registers = items.iter().any(|i| i.reg().is_some());
                items.iter().try_for_each(|item| match item.kind {
                    OperandKind::Sink if form.dest || form.class == Class::Memory256 => Ok(()),
                    // Without a register, constants must be of the type.
                    OperandKind::Int(_) if !form.dest && !registers && ty.is_float() => {
                        no(item, format!("an integer, expected {}", expected(ty, false)))
                    }
                    OperandKind::F32(_)
                        if !form.dest && !registers && !ty.is_float() && ty != ScalarType::B32 =>
                    {
                        no(item, format!("floating point, expected {}", expected(ty, false)))
                    }
                    OperandKind::F64(_)
                        if !form.dest && !registers && !ty.is_float() && ty != ScalarType::B64 =>
                    {
                        no(item, format!("floating point, expected {}", expected(ty, false)))
                    }
                    OperandKind::Int(_) | OperandKind::F32(_) | OperandKind::F64(_) if !form.dest => Ok(()),
                    _ => self.element_fits(instruction, item, ty, form, true),
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

    /// Whether an operand is wider than a type and either of them is floating-point.
    fn is_wider_float(&self, operand: &Operand, ty: ScalarType) -> bool {
        let found = self.type_of(operand);
        found.is_some_and(|f| f.bits() > ty.bits() && (f.is_float() || ty.is_float()))
    }

    fn video_fits(&self, operand: &Operand, form: &OperandForm) -> Fit {
        match operand.kind {
            OperandKind::Negated(..) if form.dest => {
                no(operand, "a result cannot be negated: expected a 32-bit register")
            }
            OperandKind::Reg(reg) | OperandKind::Component(reg, _) | OperandKind::Negated(reg, _) => {
                match self.reg(reg) {
                    (ScalarType::F16x2, 1) if form.register => no(
                        operand,
                        format!("a `.f16x2` register, expected {}", expected(ScalarType::U32, false)),
                    ),
                    (found, 1) => self.typed(operand, found, ScalarType::U32, false),
                    (found, _) => no(operand, format!("a `{found}` register, expected one 32-bit integer")),
                }
            }
            OperandKind::Int(_) if !form.dest => Ok(()),
            _ => no(operand, "expected a 32-bit register"),
        }
    }

    /// An address without coordinates.
    fn address_fits(&self, instruction: &Instruction, operand: &Operand) -> Fit {
        let OperandKind::Address(address) = &operand.kind else {
            return no(operand, "expected an address in brackets");
        };
        if matches!(instruction.opcode, Opcode::Txq | Opcode::Suq) {
            return self.handle_fits(instruction, operand, address);
        }
        if !address.parts.is_empty() {
            return no(
                operand,
                "expected one register or variable in the brackets: there are no coordinates",
            );
        }
        let reg = match address.base {
            AddressBase::Reg(reg) => match self.reg(reg) {
                (found, 1) => found,
                (found, n) => {
                    return no(operand, format!("a `.v{n} {found}` register, expected one value"));
                }
            },
            AddressBase::Component(..) => return no(operand, "part of a register is not an address"),
            AddressBase::Var(variable) => match self.variable(variable).map(|v| v.ty.kind()) {
                Some(TypeKind::Opaque) if is_memory(instruction) => {
                    return no(operand, "a texture, sampler or surface is not memory");
                }
                _ => return Ok(()),
            },
            AddressBase::Element(_) => return Ok(()),
            AddressBase::Func(_) => return no(operand, "a function is not memory"),
            AddressBase::Absolute if instruction.space() == Some(Space::Local) => return Ok(()),
            AddressBase::Absolute => {
                return Err(Mismatch {
                    span: operand.span,
                    message: Some("Immediate addresses allowed only for .local state space".to_owned()),
                    label: "expected a register or a variable".into(),
                });
            }
        };
        match reg.kind() {
            _ if reg.bits() < 32 && needs_whole_address(instruction, operand) => {
                no(operand, format!("a `{reg}` register is too narrow for an address"))
            }
            _ if reg.bits() < 64
                && instruction.opcode == Opcode::Multimem
                && instruction.has(Modifier::Red)
                && !instruction.has(Modifier::Async) =>
            {
                no(operand, format!("a `{reg}` register, expected an address of 64 bits"))
            }
            _ if reg.bits() > 64 => no(operand, format!("a `{reg}` register is too wide for an address")),
            TypeKind::Unsigned | TypeKind::Signed | TypeKind::Bits => Ok(()),
            _ => no(operand, format!("a `{reg}` register cannot hold an address")),
        }
    }
}

/// Whether the instruction's result may be discarded with `_`.
fn takes_sink(instruction: &Instruction) -> bool {
    use Opcode as O;
    match instruction.opcode {
        O::Atom | O::Setp | O::Elect | O::Lop3 => true,
        O::Mbarrier => {
            use Modifier as M;
            instruction.one_of(&[M::TestWait, M::TryWait, M::CheckLayout, M::PendingCount]).is_none()
        }
        _ => false,
    }
}

/// Whether the instruction checks that a symbol names memory rather than a texture.
fn is_memory(instruction: &Instruction) -> bool {
    use Opcode as O;
    match instruction.opcode {
        O::Ld | O::Ldu | O::St | O::Multimem | O::Mbarrier | O::Createpolicy => true,
        O::Wmma | O::Ldmatrix | O::Stmatrix => true,
        O::Red => instruction.has(Modifier::Async),
        O::Cp => instruction.has(Modifier::Mbarrier),
        O::Prefetch => instruction.has(Modifier::Tensormap),
        _ => false,
    }
}

/// Element types that no register can be declared with, for instructions where ptxas compares only widths.
fn untyped(instruction: &Instruction, ty: ScalarType) -> bool {
    use ScalarType as S;
    let declared = matches!(ty, S::F16 | S::F16x2 | S::F32 | S::F64);
    instruction.opcode == Opcode::Multimem && !instruction.has(Modifier::Red) && ty.is_float() && !declared
}

/// Whether the instruction requires a 64-bit address rather than extending a narrow one.
fn needs_whole_address(instruction: &Instruction, operand: &Operand) -> bool {
    use {Modifier as M, Opcode as O};
    let generic = instruction.space().is_none();
    match instruction.opcode {
        O::Createpolicy | O::Wmma | O::Tensormap => true,
        O::St | O::Red | O::Multimem => instruction.has(M::Async) && !instruction.has(M::Bulk),
        // An address with an explicit state space is not generic.
        O::Ldmatrix | O::Stmatrix => generic,
        O::Prefetch => generic && instruction.has(M::Tensormap),
        O::Cp if instruction.has(M::Mbarrier) => generic,
        // The barrier of a bulk copy to one block.
        O::Cp => {
            let others = [M::Tensor, M::Reduce, M::MulticastCluster, M::MulticastClusterAll, M::IgnoreOob];
            let copied = instruction.operands.iter().take(2).any(|o| std::ptr::eq(o, operand));
            instruction.has(M::MbarrierCompleteTxBytes) && instruction.one_of(&others).is_none() && !copied
        }
        _ => false,
    }
}

/// Whether the first of the instruction's two results may be discarded.
fn takes_first_sink(opcode: Opcode) -> bool {
    !matches!(opcode, Opcode::Shfl | Opcode::Mbarrier)
}

/// Whether registers of packed halves are rejected as integers: in operands without a written type.
fn is_plain(form: &OperandForm) -> bool {
    matches!(form.ty, TypeRef::Fixed(_)) && form.class != Class::Convert
}

/// Checks a constant against the legal values.
fn among(operand: &Operand, value: i64, legal: &[(i64, i64, i64)]) -> Fit {
    let fits = |(first, last, step): &(i64, i64, i64)| {
        let from = if *first == i64::MIN { 0 } else { *first };
        (*first..=*last).contains(&value) && (i128::from(value) - i128::from(from)) % i128::from(*step) == 0
    };
    if legal.is_empty() || legal.iter().any(fits) {
        return Ok(());
    }
    let names = legal.iter().map(|(first, last, step)| match (first == last, *last, *step) {
        (true, ..) => first.to_string(),
        (_, last, step) if *first == i64::MIN => match last {
            i64::MAX => format!("a multiple of {step}"),
            last => format!("a multiple of {step} up to {last}"),
        },
        (_, i64::MAX, 1) => format!("{first} or more"),
        (_, i64::MAX, step) => format!("a multiple of {step} from {first} on"),
        (_, last, 1) => format!("{first} to {last}"),
        (_, last, step) => format!("{first} to {last} in steps of {step}"),
    });
    no(operand, format!("{value}, expected {}", names.collect::<Vec<_>>().join(" or ")))
}

/// Whether floating-point constants are legal for this type.
fn takes_float(ty: ScalarType) -> bool {
    matches!(ty, ScalarType::F32 | ScalarType::F64)
}

/// The type of the product of two values of this type.
fn wide(ty: ScalarType) -> ScalarType {
    match ty {
        ScalarType::U16 => ScalarType::U32,
        ScalarType::S16 => ScalarType::S32,
        ScalarType::U32 => ScalarType::U64,
        ScalarType::S32 => ScalarType::S64,
        other => other,
    }
}

/// Whether a register of type `reg` can hold an operand of type `ty`. `wider`: the instruction converts, or
/// moves to or from memory, and so accepts wider registers.
pub(super) fn register_fits(reg: ScalarType, ty: ScalarType, wider: bool) -> bool {
    if reg == ScalarType::Pred || ty == ScalarType::Pred {
        return reg == ty;
    }
    let size = if wider { reg.bits() >= ty.bits() } else { reg.bits() == ty.bits() };
    match ty.kind() {
        TypeKind::Bits => size,
        // ptxas treats a register of packed halves as 32 untyped bits.
        TypeKind::Unsigned | TypeKind::Signed if ty.lanes() > 1 => {
            reg == ty || size && (reg.is_bits() || reg == ScalarType::F16x2)
        }
        TypeKind::Unsigned | TypeKind::Signed => {
            size && (reg.is_integer() || reg.is_bits() || reg == ScalarType::F16x2)
        }
        TypeKind::Float if wider && ty != ScalarType::Bf16 => reg == ty || (size && reg.is_bits()),
        // Formats that no register can be declared with are held in untyped registers.
        TypeKind::Float => reg == ty || (reg.is_bits() && reg.bits() == ty.bits().next_power_of_two().max(8)),
        TypeKind::Predicate | TypeKind::Opaque => reg == ty,
    }
}

/// The register types that [`register_fits`] accepts, for messages.
pub(super) fn expected(ty: ScalarType, wider: bool) -> String {
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
