//! Operands of instructions.

use super::{FuncId, GlobalId, LabelId, RegId, SpecialReg, VarId};
use crate::span::Span;

/// An operand with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Operand {
    /// What it is.
    pub kind: OperandKind,
    /// Where it stands.
    pub span: Span,
}

/// What an operand is.
#[derive(Clone, Debug, PartialEq)]
pub enum OperandKind {
    /// `%r1`
    Reg(RegId),
    /// `%v.x`, `%r.b0`: an element of a vector register, or a part of a register in video instructions.
    Component(RegId, Component),
    /// `!%p1`
    Not(RegId),
    /// `-%r1`, in video instructions, also of a part (`-%r1.h0`).
    Negated(RegId, Option<Component>),
    /// `%tid.x`, `%laneid`
    Special(SpecialReg, Option<Component>),
    /// An integer constant.
    Int(Integer),
    /// `0f3F800000`: a single-precision value's bits.
    F32(u32),
    /// `0d3FF0000000000000` or `1.0`: a double-precision value's bits.
    F64(u64),
    /// The address of a variable or a function, or a label, with a constant added.
    Symbol(SymbolRef),
    /// `x[%r1]`: the address of an element that a register chooses.
    Element(ElementRef),
    /// `{a, b, _}`
    Vector(Vec<Operand>),
    /// `p|q`
    Pair(Box<(Operand, Operand)>),
    /// `_`
    Sink,
    /// `[base + offset, …]`
    Address(Box<Address>),
    /// `(a, b)`: arguments or results of a call.
    List(Vec<Operand>),
}

/// An integer constant as written: PTX computes constants in 64 bits (PTX ISA 4.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Integer {
    /// The bits, two's complement.
    pub bits: u64,
    /// Of type `.u64` (suffix `U`, or too large for `.s64`) rather than `.s64`.
    pub unsigned: bool,
}

impl Integer {
    /// The value as the mathematician's integer.
    pub fn value(self) -> i128 {
        if self.unsigned { i128::from(self.bits) } else { i128::from(self.bits as i64) }
    }
}

/// Something that has a name and an address or a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Symbol {
    /// A variable of module scope.
    Global(GlobalId),
    /// A parameter or a variable of this function.
    Var(VarId),
    /// A function.
    Func(FuncId),
    /// A label of this function.
    Label(LabelId),
}

/// A symbol with a constant added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SymbolRef {
    /// What is named.
    pub symbol: Symbol,
    /// Bytes added to its address.
    pub offset: i64,
}

/// An element of an array that a register chooses (PTX ISA 6.4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ElementRef {
    /// The array.
    pub array: VariableRef,
    /// The element's number.
    pub index: RegId,
    /// Added to the number.
    pub plus: i64,
    /// Bytes of an element: of the scalar type that the array was declared with, also where its elements are vectors.
    pub size: u32,
}

/// A variable of either scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VariableRef {
    /// Of module scope.
    Global(GlobalId),
    /// Of this function.
    Var(VarId),
}

/// An element of a vector, or a part of a 32-bit register in video instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Component {
    /// `.x` or `.r`: 0; `.y` or `.g`: 1; `.z` or `.b`: 2; `.w` or `.a`: 3.
    Element(u8),
    /// `.b0` to `.b3`
    Byte(u8),
    /// `.h0`, `.h1`
    Half(u8),
    /// `.b32`, `.h10`, `.b3210`…: the lane selector of a SIMD video operand, its digits as written.
    Lanes {
        /// Selects halves (`.h10`) rather than bytes (`.b3210`).
        halves: bool,
        /// The digits, first written first; unused ones are 0.
        digits: [u8; 4],
        /// How many digits.
        count: u8,
    },
}

/// What a memory, texture or asynchronous operand addresses.
#[derive(Clone, Debug, PartialEq)]
pub struct Address {
    /// The first part, before any `+`.
    pub base: AddressBase,
    /// Bytes added.
    pub offset: i64,
    /// What follows the first comma: coordinates, a sampler.
    pub parts: Vec<Operand>,
    /// `[a].unified`
    pub unified: bool,
}

/// The first part of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressBase {
    /// `[%rd1]`
    Reg(RegId),
    /// `[%v.x]`
    Component(RegId, Component),
    /// `[x]`
    Var(VariableRef),
    /// `x[%r1]` in the place of an address in brackets.
    Element(ElementRef),
    /// `[f]`: a function's address.
    Func(FuncId),
    /// `[16]`: the constant is [`Address::offset`].
    Absolute,
}

impl Operand {
    /// The register, if the operand is just one.
    pub fn reg(&self) -> Option<RegId> {
        match self.kind {
            OperandKind::Reg(r) => Some(r),
            _ => None,
        }
    }

    /// The integer constant, if it is one.
    pub fn int(&self) -> Option<Integer> {
        match self.kind {
            OperandKind::Int(i) => Some(i),
            _ => None,
        }
    }

    /// The address, if it is one.
    pub fn address(&self) -> Option<&Address> {
        match &self.kind {
            OperandKind::Address(a) => Some(a),
            _ => None,
        }
    }

    /// The elements of `{…}`, or the operand itself as the only one.
    pub fn elements(&self) -> &[Operand] {
        match &self.kind {
            OperandKind::Vector(v) => v,
            _ => std::slice::from_ref(self),
        }
    }
}

impl std::fmt::Display for Component {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Component::Element(i) => {
                write!(f, ".{}", ["x", "y", "z", "w"].get(usize::from(*i)).unwrap_or(&"x"))
            }
            Component::Byte(i) => write!(f, ".b{i}"),
            Component::Half(i) => write!(f, ".h{i}"),
            Component::Lanes { halves, digits, count } => {
                write!(f, ".{}", if *halves { 'h' } else { 'b' })?;
                digits.iter().take(usize::from(*count)).try_for_each(|d| write!(f, "{d}"))
            }
        }
    }
}
