//! Instructions and operands.

use super::{Names, Offset, Shown, separated};
use crate::ast::{
    Address, AddressBase, ElementRef, Instruction, Operand, OperandKind, RegId, Symbol, VariableRef,
};
use std::fmt::{self, Display, Formatter, Write as _};

impl<'a> Names<'a> {
    fn reg(self, id: RegId) -> &'a str {
        self.function.and_then(|f| f.regs().get(id.index())).map_or("_", |r| r.name.as_str())
    }
}

impl Display for Shown<'_, Instruction> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Shown(instruction, names) = self;
        if let Some(guard) = &instruction.guard {
            write!(f, "@{}{} ", if guard.negated { "!" } else { "" }, names.reg(guard.reg))?;
        }
        write!(f, "{}", instruction.opcode)?;
        instruction.modifiers.iter().try_for_each(|m| write!(f, "{m}"))?;
        if !instruction.operands.is_empty() {
            f.write_char(' ')?;
        }
        separated(f, ", ", instruction.operands.iter().map(|o| Shown(o, *names)))
    }
}

impl Display for Shown<'_, Operand> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Shown(operand, names) = self;
        let show = |o| Shown(o, *names);
        match &operand.kind {
            OperandKind::Reg(reg) => f.write_str(names.reg(*reg)),
            OperandKind::Component(reg, part) => write!(f, "{}{part}", names.reg(*reg)),
            OperandKind::Not(reg) => write!(f, "!{}", names.reg(*reg)),
            OperandKind::Negated(reg, part) => {
                write!(f, "-{}", names.reg(*reg))?;
                part.map_or(Ok(()), |p| write!(f, "{p}"))
            }
            OperandKind::Special(special, part) => {
                write!(f, "{special}")?;
                part.map_or(Ok(()), |p| write!(f, "{p}"))
            }
            OperandKind::Int(i) if i.unsigned => write!(f, "{}U", i.bits),
            OperandKind::Int(i) => write!(f, "{}", i.value()),
            OperandKind::F32(bits) => write!(f, "0f{bits:08X}"),
            OperandKind::F64(bits) => write!(f, "0d{bits:016X}"),
            OperandKind::Symbol(s) => write!(f, "{}{}", names.symbol(s.symbol), Offset(s.offset)),
            OperandKind::Element(element) => write!(f, "{}", Shown(element, *names)),
            OperandKind::Vector(items) => {
                f.write_char('{')?;
                separated(f, ", ", items.iter().map(show))?;
                f.write_char('}')
            }
            OperandKind::Pair(pair) => write!(f, "{}|{}", show(&pair.0), show(&pair.1)),
            OperandKind::Sink => f.write_char('_'),
            OperandKind::Address(address) => write!(f, "{}", Shown(&**address, *names)),
            OperandKind::List(items) => {
                f.write_char('(')?;
                separated(f, ", ", items.iter().map(show))?;
                f.write_char(')')
            }
        }
    }
}

impl Display for Shown<'_, ElementRef> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Shown(element, names) = self;
        let symbol = match element.array {
            VariableRef::Global(id) => Symbol::Global(id),
            VariableRef::Var(id) => Symbol::Var(id),
        };
        write!(f, "{}[{}{}]", names.symbol(symbol), names.reg(element.index), Offset(element.plus))
    }
}

impl Display for Shown<'_, Address> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Shown(address, names) = self;
        if let AddressBase::Element(element) = &address.base {
            return write!(f, "{}", Shown(element, *names));
        }
        f.write_char('[')?;
        match address.base {
            AddressBase::Reg(reg) => write!(f, "{}{}", names.reg(reg), Offset(address.offset))?,
            AddressBase::Component(reg, part) => {
                write!(f, "{}{part}{}", names.reg(reg), Offset(address.offset))?
            }
            AddressBase::Var(variable) => {
                let symbol = match variable {
                    VariableRef::Global(id) => Symbol::Global(id),
                    VariableRef::Var(id) => Symbol::Var(id),
                };
                write!(f, "{}{}", names.symbol(symbol), Offset(address.offset))?;
            }
            AddressBase::Func(id) => {
                write!(f, "{}{}", names.symbol(Symbol::Func(id)), Offset(address.offset))?;
            }
            AddressBase::Absolute => write!(f, "{}", address.offset)?,
            AddressBase::Element(_) => {}
        }
        address.parts.iter().try_for_each(|p| write!(f, ", {}", Shown(p, *names)))?;
        f.write_str(if address.unified { "].unified" } else { "]" })
    }
}
