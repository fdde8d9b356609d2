//! Operands: constants, results of instructions, parameters, and masks held as words.

use super::constants::Lasting;
use super::{Elem, Type};

/// A name chosen by the emitter, for a parameter, a slot, a label, a function or a global.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name {
    /// The word that describes it.
    pub word: &'static str,
    /// Its number among names with the same word.
    pub number: Option<u32>,
}

impl Name {
    /// A name without a number.
    pub const fn of(word: &'static str) -> Name {
        Name { word, number: None }
    }

    /// A name with a number.
    pub const fn numbered(word: &'static str, number: usize) -> Name {
        Name { word, number: Some(number as u32) }
    }
}

/// The kind of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Is {
    /// An integer, in all elements of a vector: sign-extended, except that an `i1` is 0 or 1.
    Int(i64),
    /// A long constant.
    Long(Lasting),
    /// Poison: undefined behaviour if anything depends on it.
    Poison,
    /// `undef`: any value.
    Undef,
    /// An instruction's result.
    Register(u32),
    /// A parameter of the function or a slot of its entry block.
    Local(Name),
    /// A function's or a global's address.
    Global(Name),
    /// A mask held as a word until an instruction needs the vector; its number in the builder.
    Mask(u32),
}

/// An operand of an instruction, with its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Operand {
    pub(super) ty: Type,
    pub(super) is: Is,
}

impl Operand {
    /// True.
    pub const TRUE: Operand = Operand { ty: Type::I1, is: Is::Int(1) };

    /// An integer constant, truncated to the type's width; in all elements of a vector.
    pub fn int(ty: Type, value: i64) -> Operand {
        let value = match ty.elem() {
            Elem::Int(1) => value & 1,
            Elem::Int(bits) if bits < 64 => value << (64 - bits) >> (64 - bits),
            _ => value,
        };
        Operand { ty, is: Is::Int(value) }
    }

    /// Zero of any type.
    pub fn zero(ty: Type) -> Operand {
        Operand { ty, is: Is::Int(0) }
    }

    /// A constant of 32 bits.
    pub fn i32(value: i64) -> Operand {
        Operand::int(Type::I32, value)
    }

    /// A constant of 64 bits.
    pub fn i64(value: i64) -> Operand {
        Operand::int(Type::I64, value)
    }

    /// Poison of a type.
    pub const fn poison(ty: Type) -> Operand {
        Operand { ty, is: Is::Poison }
    }

    /// `undef` of a type.
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

    /// Whether it is a constant.
    pub fn is_constant(self) -> bool {
        !matches!(self.is, Is::Register(_) | Is::Local(_) | Is::Mask(_))
    }

    /// The value of an integer constant; for a vector, of all its elements.
    pub fn as_int(self) -> Option<i64> {
        match self.is {
            Is::Int(value) => Some(value),
            _ => None,
        }
    }

    /// The constant in all elements of a vector.
    pub(super) fn spread(self, ty: Type) -> Operand {
        Operand { ty, is: self.is }
    }
}
