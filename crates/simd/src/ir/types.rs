//! Types: scalars and vectors of them.

use std::fmt;

use wave::types::Fmt;
use wave::{LANES, Ty};

use super::Operand;

/// The number of lanes that code runs together, each with a bit in masks and an element in vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Width(u16);

impl Default for Width {
    fn default() -> Self {
        Width::WARP
    }
}

impl Width {
    /// A warp.
    pub const WARP: Width = Width::warps(1);
    /// Two warps.
    pub const PAIR: Width = Width::warps(2);

    /// This many warps.
    pub const fn warps(count: u16) -> Width {
        Width(count * LANES as u16)
    }

    /// The lanes of one warp.
    pub const fn of(warp: wave::Width) -> Width {
        Width(warp.lanes() as u16)
    }

    /// The number of lanes.
    pub const fn lanes(self) -> usize {
        self.0 as usize
    }

    /// A vector with an element per lane.
    pub const fn vector_of(self, elem: Elem) -> Type {
        Type::Vector(self.0, elem)
    }

    /// A vector with a value of wave IR per lane.
    pub fn vector(self, ty: Ty) -> Type {
        self.vector_of(Elem::of(ty))
    }

    /// The type of a mask: one bit per lane.
    pub const fn mask(self) -> Type {
        self.vector_of(Elem::Int(1))
    }

    /// The integer type of a mask that is held as a word.
    pub const fn bits(self) -> Type {
        Type::One(Elem::Int(self.0))
    }

    /// A 32-bit integer per lane.
    pub const fn words(self) -> Type {
        self.vector_of(Elem::Int(32))
    }

    /// An address per lane.
    pub const fn addresses(self) -> Type {
        self.vector_of(Elem::Int(64))
    }

    /// The integer type that holds a value of wave IR.
    pub fn int(self, ty: Ty, lanes: Lanes) -> Type {
        match lanes {
            Lanes::One => Type::One(Elem::of(ty)),
            Lanes::Warp => self.vector(ty),
        }
    }

    /// The mask of all lanes.
    pub fn all(self) -> Operand {
        Operand::int(self.mask(), 1)
    }

    /// The mask of no lane.
    pub fn none(self) -> Operand {
        Operand::zero(self.mask())
    }
}

/// Whether a value is for one lane or for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lanes {
    /// One value for the whole warp.
    One,
    /// One value a lane.
    Warp,
}

/// The type of a scalar or of a vector's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Elem {
    /// An integer of that many bits.
    Int(u16),
    /// A float.
    Float(Fmt),
    /// A pointer.
    Ptr,
}

/// A first-class type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// No value, as a return type.
    Void,
    /// A scalar.
    One(Elem),
    /// A vector of that many elements.
    Vector(u16, Elem),
}

impl Type {
    /// A boolean.
    pub const I1: Type = Type::One(Elem::Int(1));
    /// An 8-bit integer.
    pub const I8: Type = Type::One(Elem::Int(8));
    /// A 16-bit integer.
    pub const I16: Type = Type::One(Elem::Int(16));
    /// A 32-bit integer; also a mask held as a word.
    pub const I32: Type = Type::One(Elem::Int(32));
    /// A 64-bit integer; also an address.
    pub const I64: Type = Type::One(Elem::Int(64));
    /// A pointer.
    pub const PTR: Type = Type::One(Elem::Ptr);
    /// The type of a single value of wave IR.
    pub fn scalar(ty: Ty) -> Type {
        Type::One(Elem::of(ty))
    }

    /// Whether it is a mask: a vector of bits.
    pub fn is_mask(self) -> bool {
        matches!(self, Type::Vector(_, Elem::Int(1)))
    }

    /// An integer of any width.
    pub const fn bits_of(bits: usize) -> Type {
        Type::One(Elem::Int(bits as u16))
    }

    /// A vector of `count` values of wave IR.
    pub fn wide(count: usize, ty: Ty) -> Type {
        Type::Vector(count as u16, Elem::of(ty))
    }

    /// The element type, or the scalar's own.
    pub fn elem(self) -> Elem {
        match self {
            Type::One(e) | Type::Vector(_, e) => e,
            Type::Void => Elem::Int(0),
        }
    }

    /// The scalar type of the elements.
    pub fn one(self) -> Type {
        Type::One(self.elem())
    }

    /// The same shape with another element type.
    pub fn with(self, elem: Elem) -> Type {
        match self {
            Type::Vector(n, _) => Type::Vector(n, elem),
            _ => Type::One(elem),
        }
    }

    /// A vector of `count` elements; also for `count` 1.
    pub fn times(self, count: usize) -> Type {
        Type::Vector(count as u16, self.elem())
    }

    /// The number of elements, 1 for a scalar.
    pub fn count(self) -> usize {
        match self {
            Type::Vector(n, _) => usize::from(n),
            _ => 1,
        }
    }

    /// Whether it is a vector.
    pub fn is_vector(self) -> bool {
        matches!(self, Type::Vector(..))
    }

    /// Size of a value in memory, in bytes.
    pub fn bytes(self) -> usize {
        (self.elem().bits() * self.count()).div_ceil(8)
    }

    /// The suffix of overloaded intrinsics: `i32`, `v32f32`, `v32p0`.
    pub fn suffix(self) -> String {
        let elem = match self.elem() {
            Elem::Int(bits) => format!("i{bits}"),
            Elem::Float(fmt) => fmt.name().to_string(),
            Elem::Ptr => "p0".to_string(),
        };
        match self {
            Type::Vector(n, _) => format!("v{n}{elem}"),
            _ => elem,
        }
    }
}

impl Elem {
    /// The integer type that holds a value of wave IR.
    pub fn of(ty: Ty) -> Elem {
        Elem::Int(ty.bits() as u16)
    }

    /// Its width in bits.
    pub fn bits(self) -> usize {
        match self {
            Elem::Int(bits) => usize::from(bits),
            Elem::Float(fmt) => fmt.ty().bits() as usize,
            Elem::Ptr => 64,
        }
    }
}

impl fmt::Display for Elem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Elem::Int(bits) => write!(f, "i{bits}"),
            Elem::Float(Fmt::F16) => f.write_str("half"),
            Elem::Float(Fmt::BF16) => f.write_str("bfloat"),
            Elem::Float(Fmt::F32) => f.write_str("float"),
            Elem::Float(Fmt::F64) => f.write_str("double"),
            Elem::Ptr => f.write_str("ptr"),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Void => f.write_str("void"),
            Type::One(e) => e.fmt(f),
            Type::Vector(n, e) => write!(f, "<{n} x {e}>"),
        }
    }
}
