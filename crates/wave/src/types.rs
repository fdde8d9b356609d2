//! Value types. A type is only a width; operations define how they interpret the bits.

use std::fmt;

/// The type of an SSA value: a number of bits per lane. Whether the bits are an integer, a float or a pointer
/// depends on the operation, so that moves and loads need no casts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ty {
    /// A predicate.
    I1,
    /// 8 bits.
    I8,
    /// 16 bits; also f16 and bf16.
    I16,
    /// 32 bits; also f32 and packed pairs of halves.
    I32,
    /// 64 bits; also f64 and addresses.
    I64,
    /// 128 bits.
    I128,
}

/// The number of lanes in a warp, a property of a kernel and of all functions that it calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Width {
    /// 32 lanes, as in CUDA and in AMD's wave32.
    #[default]
    W32,
    /// 64 lanes, as in AMD's wave64.
    W64,
}

impl Width {
    /// The lanes of the widest warp.
    pub const MOST: usize = 64;

    /// The number of lanes.
    pub const fn lanes(self) -> usize {
        match self {
            Width::W32 => 32,
            Width::W64 => 64,
        }
    }

    /// The width of warps with that many lanes.
    pub const fn of_lanes(lanes: u32) -> Option<Width> {
        match lanes {
            32 => Some(Width::W32),
            64 => Some(Width::W64),
            _ => None,
        }
    }

    /// The type of a mask of lanes.
    pub const fn mask(self) -> Ty {
        match self {
            Width::W32 => Ty::I32,
            Width::W64 => Ty::I64,
        }
    }

    /// The mask of all lanes.
    pub const fn all(self) -> u64 {
        match self {
            Width::W32 => u32::MAX as u64,
            Width::W64 => u64::MAX,
        }
    }
}

impl Ty {
    /// All types, narrowest first.
    pub const ALL: [Ty; 6] = [Ty::I1, Ty::I8, Ty::I16, Ty::I32, Ty::I64, Ty::I128];

    /// Width in bits.
    pub const fn bits(self) -> u32 {
        match self {
            Ty::I1 => 1,
            Ty::I8 => 8,
            Ty::I16 => 16,
            Ty::I32 => 32,
            Ty::I64 => 64,
            Ty::I128 => 128,
        }
    }

    /// Width in bytes in memory; a predicate takes one byte.
    pub const fn bytes(self) -> u32 {
        if let Ty::I1 = self { 1 } else { self.bits() / 8 }
    }

    /// The type with this number of bits, if there is one.
    pub const fn of_bits(bits: u32) -> Option<Ty> {
        Some(match bits {
            1 => Ty::I1,
            8 => Ty::I8,
            16 => Ty::I16,
            32 => Ty::I32,
            64 => Ty::I64,
            128 => Ty::I128,
            _ => return None,
        })
    }

    /// All ones in this width.
    pub const fn mask(self) -> u128 {
        if self.bits() == 128 { u128::MAX } else { (1 << self.bits()) - 1 }
    }
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "i{}", self.bits())
    }
}

/// A floating-point format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fmt {
    /// IEEE binary16.
    F16,
    /// bfloat16.
    BF16,
    /// IEEE binary32.
    F32,
    /// IEEE binary64.
    F64,
}

impl Fmt {
    /// All formats.
    pub const ALL: [Fmt; 4] = [Fmt::F16, Fmt::BF16, Fmt::F32, Fmt::F64];

    /// The value type that holds this format.
    pub const fn ty(self) -> Ty {
        match self {
            Fmt::F16 | Fmt::BF16 => Ty::I16,
            Fmt::F32 => Ty::I32,
            Fmt::F64 => Ty::I64,
        }
    }

    /// The name in the text form.
    pub const fn name(self) -> &'static str {
        match self {
            Fmt::F16 => "f16",
            Fmt::BF16 => "bf16",
            Fmt::F32 => "f32",
            Fmt::F64 => "f64",
        }
    }
}
