//! Operands: constants, results of instructions, parameters, and masks that are words.

use super::constants::Lasting;
use super::{Elem, Type};

/// A name that the emitter chooses: of a parameter, a slot, a label, a function or a global.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name {
    /// What it stands for.
    pub word: &'static str,
    /// Which one of these, where there are several.
    pub number: Option<u32>,
}

impl Name {
    /// The only one of its kind.
    pub const fn of(word: &'static str) -> Name {
        Name { word, number: None }
    }

    /// One of several.
    pub const fn numbered(word: &'static str, number: usize) -> Name {
        Name { word, number: Some(number as u32) }
    }
}

/// What an operand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Is {
    /// An integer, in all elements of a vector; sign-extended, but a truth value is 0 or 1.
    Int(i64),
    /// A longer constant.
    Long(Lasting),
    /// Any value; where it decides anything, the behaviour is undefined.
    Poison,
    /// Any value.
    Undef,
    /// An instruction's result.
    Register(u32),
    /// A parameter of the function or a slot of its entry block.
    Local(Name),
    /// A function's or a global's address.
    Global(Name),
    /// A mask that is a word until an instruction needs the vector; its number in the builder.
    Mask(u32),
}

/// A value as an instruction uses it, with its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Operand {
    pub(super) ty: Type,
    pub(super) is: Is,
}

impl Default for Operand {
    /// No lane.
    fn default() -> Self {
        Operand::NONE
    }
}

impl Operand {
    /// True.
    pub const TRUE: Operand = Operand { ty: Type::I1, is: Is::Int(1) };
    /// The mask of all lanes.
    pub const ALL: Operand = Operand { ty: Type::MASK, is: Is::Int(1) };
    /// The mask of no lane.
    pub const NONE: Operand = Operand { ty: Type::MASK, is: Is::Int(0) };

    /// An integer constant, cut to the type's width; of a vector in all elements.
    pub fn int(ty: Type, value: i64) -> Operand {
        let value = match ty.elem() {
            Elem::Int(1) => value & 1,
            Elem::Int(bits) if bits < 64 => value << (64 - bits) >> (64 - bits),
            _ => value,
        };
        Operand { ty, is: Is::Int(value) }
    }

    /// Zero, of whatever type.
    pub fn zero(ty: Type) -> Operand {
        Operand { ty, is: Is::Int(0) }
    }

    /// A word.
    pub fn i32(value: i64) -> Operand {
        Operand::int(Type::I32, value)
    }

    /// 64 bits.
    pub fn i64(value: i64) -> Operand {
        Operand::int(Type::I64, value)
    }

    /// No value in particular.
    pub const fn poison(ty: Type) -> Operand {
        Operand { ty, is: Is::Poison }
    }

    /// Any value.
    pub const fn undef(ty: Type) -> Operand {
        Operand { ty, is: Is::Undef }
    }

    /// A parameter of the function, or a slot of its entry block.
    pub const fn local(ty: Type, name: Name) -> Operand {
        Operand { ty, is: Is::Local(name) }
    }

    /// The address of a global.
    pub const fn global(name: Name) -> Operand {
        Operand { ty: Type::PTR, is: Is::Global(name) }
    }

    pub(super) fn register(ty: Type, number: u32) -> Operand {
        Operand { ty, is: Is::Register(number) }
    }

    /// Its type.
    pub fn ty(self) -> Type {
        self.ty
    }

    /// Whether it is known when compiling.
    pub fn is_constant(self) -> bool {
        !matches!(self.is, Is::Register(_) | Is::Local(_) | Is::Mask(_))
    }

    /// The integer that it is, in all elements of a vector.
    pub fn as_int(self) -> Option<i64> {
        match self.is {
            Is::Int(value) => Some(value),
            _ => None,
        }
    }

    /// The same constant, in all elements of a vector.
    pub(super) fn spread(self, ty: Type) -> Operand {
        Operand { ty, is: self.is }
    }
}
