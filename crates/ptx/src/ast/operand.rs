//! Operands of instructions.

use super::{FuncId, GlobalId, LabelId, RegId, SpecialReg, VarId};
use crate::span::Span;

/// An operand with its position.
#[derive(Clone, Debug, PartialEq)]
pub struct Operand {
    /// What it is.
    pub kind: OperandKind,
    /// Its position in the text.
    pub span: Span,
}

/// What an operand is.
#[derive(Clone, Debug, PartialEq)]
pub enum OperandKind {
    /// `%r1`
    Reg(RegId),
    /// `%v.x`, `%r.b0`: an element of a vector register, or part of a register in video instructions.
    Component(RegId, Component),
    /// `!%p1`
    Not(RegId),
    /// `-%r1` in video instructions; also for part of a register (`-%r1.h0`).
    Negated(RegId, Option<Component>),
    /// `%tid.x`, `%laneid`
    Special(SpecialReg, Option<Component>),
    /// An integer constant.
    Int(Integer),
    /// `0f3F800000`: the bits of a single-precision value.
    F32(u32),
    /// `0d3FF0000000000000` or `1.0`: the bits of a double-precision value.
    F64(u64),
    /// The address of a variable or function, or a label, plus a constant.
    Symbol(SymbolRef),
    /// `x[%r1]`: the address of an element selected by a register.
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

/// An integer constant as written. PTX computes constants in 64 bits (PTX ISA 4.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Integer {
    /// The bits, two's complement.
    pub bits: u64,
    /// Whether its type is `.u64` (suffix `U`, or too large for `.s64`) rather than `.s64`.
    pub unsigned: bool,
}

impl Integer {
    /// The mathematical value.
    pub fn value(self) -> i128 {
        if self.unsigned { i128::from(self.bits) } else { i128::from(self.bits as i64) }
    }
}

/// A named entity that has an address or a position.
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

/// A symbol plus a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SymbolRef {
    /// The symbol.
    pub symbol: Symbol,
    /// Bytes added to its address.
    pub offset: i64,
}

/// An array element selected by a register (PTX ISA 6.4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ElementRef {
    /// The array.
    pub array: VariableRef,
    /// The element's index.
    pub index: RegId,
    /// Constant added to the index.
    pub plus: i64,
    /// Bytes of an element: the size of the array's declared scalar type, even if its elements are vectors.
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

/// An element of a vector, or part of a 32-bit register in video instructions.
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
        /// Whether it selects halves (`.h10`) rather than bytes (`.b3210`).
        halves: bool,
        /// The digits in written order; unused ones are 0.
        digits: [u8; 4],
        /// The number of digits.
        count: u8,
    },
}

/// The address in a memory, texture or asynchronous operand.
#[derive(Clone, Debug, PartialEq)]
pub struct Address {
    /// The first part, before any `+`.
    pub base: AddressBase,
    /// Bytes added to the base.
    pub offset: i64,
    /// The operands after the first comma: coordinates, a sampler.
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
    /// `x[%r1]` where an address in brackets is expected.
    Element(ElementRef),
    /// `[f]`: a function's address.
    Func(FuncId),
    /// `[16]`: the constant is [`Address::offset`].
    Absolute,
}

impl Operand {
    /// The register, if the operand is a plain register.
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

    /// The elements of `{…}`; for any other operand, just the operand.
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
