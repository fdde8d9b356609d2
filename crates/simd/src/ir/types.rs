//! Types: scalars, and vectors of them.

use std::fmt;

use wave::types::Fmt;
use wave::{LANES, Ty};

/// How many lanes a value is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lanes {
    /// One value for the whole warp.
    One,
    /// One value a lane.
    Warp,
}

/// What a scalar is, or an element of a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Elem {
    /// An integer of so many bits.
    Int(u16),
    /// A float.
    Float(Fmt),
    /// A pointer.
    Ptr,
}

/// A type of the first class that fits registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// No value: what a call may return.
    Void,
    /// A scalar.
    One(Elem),
    /// A vector of so many elements.
    Vector(u16, Elem),
}

impl Type {
    /// A truth value.
    pub const I1: Type = Type::One(Elem::Int(1));
    /// A byte.
    pub const I8: Type = Type::One(Elem::Int(8));
    /// 16 bits.
    pub const I16: Type = Type::One(Elem::Int(16));
    /// 32 bits; also a mask as a word.
    pub const I32: Type = Type::One(Elem::Int(32));
    /// 64 bits; also an address.
    pub const I64: Type = Type::One(Elem::Int(64));
    /// A pointer.
    pub const PTR: Type = Type::One(Elem::Ptr);
    /// A mask: one bit a lane.
    pub const MASK: Type = Type::Vector(LANES as u16, Elem::Int(1));
    /// A word a lane.
    pub const WORDS: Type = Type::Vector(LANES as u16, Elem::Int(32));
    /// An address a lane.
    pub const ADDRESSES: Type = Type::Vector(LANES as u16, Elem::Int(64));

    /// The integer that a value of wave IR is held as.
    pub fn int(ty: Ty, lanes: Lanes) -> Type {
        match lanes {
            Lanes::One => Type::One(Elem::of(ty)),
            Lanes::Warp => Type::vector(ty),
        }
    }

    /// A value of wave IR in each lane.
    pub fn vector(ty: Ty) -> Type {
        Type::Vector(LANES as u16, Elem::of(ty))
    }

    /// An integer of any width.
    pub const fn bits_of(bits: usize) -> Type {
        Type::One(Elem::Int(bits as u16))
    }

    /// A vector of `count` values of wave IR.
    pub fn wide(count: usize, ty: Ty) -> Type {
        Type::Vector(count as u16, Elem::of(ty))
    }

    /// The element, or the scalar itself.
    pub fn elem(self) -> Elem {
        match self {
            Type::One(e) | Type::Vector(_, e) => e,
            Type::Void => Elem::Int(0),
        }
    }

    /// The scalar that elements are.
    pub fn one(self) -> Type {
        Type::One(self.elem())
    }

    /// A type with as many elements of another kind.
    pub fn with(self, elem: Elem) -> Type {
        match self {
            Type::Vector(n, _) => Type::Vector(n, elem),
            _ => Type::One(elem),
        }
    }

    /// A vector of as many elements of this kind; of one, for `count` 1, still a vector.
    pub fn times(self, count: usize) -> Type {
        Type::Vector(count as u16, self.elem())
    }

    /// The elements of a vector, 1 for a scalar.
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

    /// Bytes that a value takes in memory.
    pub fn bytes(self) -> usize {
        (self.elem().bits() * self.count()).div_ceil(8)
    }

    /// How overloaded intrinsics name it: `i32`, `v32f32`, `v32p0`.
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
    /// The integer that a value of wave IR is held as.
    pub fn of(ty: Ty) -> Elem {
        Elem::Int(ty.bits() as u16)
    }

    /// Its width.
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
