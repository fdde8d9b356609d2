//! Scalar types, state spaces, versions and targets.

use std::fmt;

/// The kind of value that a type holds (PTX ISA 5.2, "Types").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TypeKind {
    /// `.u8` to `.u64`, and packed or narrow unsigned integers.
    Unsigned,
    /// `.s8` to `.s64`, and packed or narrow signed integers.
    Signed,
    /// Floating point of any format.
    Float,
    /// Untyped bits.
    Bits,
    /// `.pred`
    Predicate,
    /// `.texref`, `.samplerref`, `.surfref`
    Opaque,
}

macro_rules! scalar_types {
    ($($variant:ident $name:literal $bits:literal $lanes:literal $kind:ident;)*) => {
        /// A fundamental, packed or opaque type, as an instruction or a declaration names it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum ScalarType {
            $(#[doc = concat!("`.", $name, "`")] $variant,)*
        }

        impl ScalarType {
            /// Every type.
            pub const ALL: &'static [ScalarType] = &[$(ScalarType::$variant),*];

            /// The type spelled `name`, without the dot.
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(ScalarType::$variant),)*
                    _ => None,
                }
            }

            /// The spelling, without the dot.
            pub const fn name(self) -> &'static str {
                match self { $(ScalarType::$variant => $name,)* }
            }

            /// Width of the whole value in bits; 1 for `.pred`.
            pub const fn bits(self) -> u32 {
                match self { $(ScalarType::$variant => $bits,)* }
            }

            /// Number of packed elements: 2 for `.f16x2`, 1 for most types.
            pub const fn lanes(self) -> u32 {
                match self { $(ScalarType::$variant => $lanes,)* }
            }

            /// The kind of value that it holds.
            pub const fn kind(self) -> TypeKind {
                match self { $(ScalarType::$variant => TypeKind::$kind,)* }
            }
        }
    };
}

scalar_types! {
    U8 "u8" 8 1 Unsigned;
    U16 "u16" 16 1 Unsigned;
    U32 "u32" 32 1 Unsigned;
    U64 "u64" 64 1 Unsigned;
    S8 "s8" 8 1 Signed;
    S16 "s16" 16 1 Signed;
    S32 "s32" 32 1 Signed;
    S64 "s64" 64 1 Signed;
    B8 "b8" 8 1 Bits;
    B16 "b16" 16 1 Bits;
    B32 "b32" 32 1 Bits;
    B64 "b64" 64 1 Bits;
    B128 "b128" 128 1 Bits;
    F16 "f16" 16 1 Float;
    F16x2 "f16x2" 32 2 Float;
    Bf16 "bf16" 16 1 Float;
    Bf16x2 "bf16x2" 32 2 Float;
    Tf32 "tf32" 32 1 Float;
    F32 "f32" 32 1 Float;
    F32x2 "f32x2" 64 2 Float;
    F64 "f64" 64 1 Float;
    Pred "pred" 1 1 Predicate;
    U16x2 "u16x2" 32 2 Unsigned;
    S16x2 "s16x2" 32 2 Signed;
    U8x4 "u8x4" 32 4 Unsigned;
    S8x4 "s8x4" 32 4 Signed;
    B1 "b1" 1 1 Bits;
    B2 "b2" 2 1 Bits;
    B4 "b4" 4 1 Bits;
    U2 "u2" 2 1 Unsigned;
    S2 "s2" 2 1 Signed;
    U4 "u4" 4 1 Unsigned;
    S4 "s4" 4 1 Signed;
    B1024 "b1024" 1024 1 Bits;
    E4m3 "e4m3" 8 1 Float;
    E5m2 "e5m2" 8 1 Float;
    E3m2 "e3m2" 6 1 Float;
    E2m3 "e2m3" 6 1 Float;
    E2m1 "e2m1" 4 1 Float;
    Ue8m0 "ue8m0" 8 1 Float;
    Ue4m3 "ue4m3" 8 1 Float;
    S2f6 "s2f6" 8 1 Float;
    E4m3x2 "e4m3x2" 16 2 Float;
    E5m2x2 "e5m2x2" 16 2 Float;
    E3m2x2 "e3m2x2" 16 2 Float;
    E2m3x2 "e2m3x2" 16 2 Float;
    E2m1x2 "e2m1x2" 8 2 Float;
    Ue8m0x2 "ue8m0x2" 16 2 Float;
    S2f6x2 "s2f6x2" 16 2 Float;
    E4m3x4 "e4m3x4" 32 4 Float;
    E5m2x4 "e5m2x4" 32 4 Float;
    E3m2x4 "e3m2x4" 32 4 Float;
    E2m3x4 "e2m3x4" 32 4 Float;
    E2m1x4 "e2m1x4" 16 4 Float;
    B16x2 "b16x2" 32 2 Bits;
    B8x16 "b8x16" 128 16 Bits;
    B4x16 "b4x16" 64 16 Bits;
    B6x16P32 "b6x16_p32" 128 16 Bits;
    B4x16P64 "b4x16_p64" 128 16 Bits;
    B6p2x16 "b6p2x16" 128 16 Bits;
    Texref "texref" 64 1 Opaque;
    Samplerref "samplerref" 64 1 Opaque;
    Surfref "surfref" 64 1 Opaque;
}

impl ScalarType {
    /// Size in memory in whole bytes; 1 for types narrower than a byte.
    pub const fn size_bytes(self) -> u32 {
        self.bits().div_ceil(8)
    }

    /// `.u*`, `.s*`
    pub const fn is_integer(self) -> bool {
        matches!(self.kind(), TypeKind::Unsigned | TypeKind::Signed)
    }

    /// `.s*`
    pub const fn is_signed(self) -> bool {
        matches!(self.kind(), TypeKind::Signed)
    }

    /// Floating point of any format.
    pub const fn is_float(self) -> bool {
        matches!(self.kind(), TypeKind::Float)
    }

    /// `.texref`, `.samplerref`, `.surfref`
    pub const fn is_opaque(self) -> bool {
        matches!(self.kind(), TypeKind::Opaque)
    }

    /// `.b*`
    pub const fn is_bits(self) -> bool {
        matches!(self.kind(), TypeKind::Bits)
    }
}

impl fmt::Display for ScalarType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, ".{}", self.name())
    }
}

macro_rules! spaces {
    ($($variant:ident $name:literal;)*) => {
        /// A state space (PTX ISA 5.1).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Space {
            $(#[doc = concat!("`.", $name, "`")] $variant,)*
        }

        impl Space {
            /// The space spelled `name`, without the dot.
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Space::$variant),)*
                    _ => None,
                }
            }

            /// The spelling, without the dot.
            pub const fn name(self) -> &'static str {
                match self { $(Space::$variant => $name,)* }
            }
        }
    };
}

spaces! {
    Reg "reg";
    Sreg "sreg";
    Const "const";
    Global "global";
    Local "local";
    Param "param";
    ParamEntry "param::entry";
    ParamFunc "param::func";
    Shared "shared";
    SharedCta "shared::cta";
    SharedCluster "shared::cluster";
    Tex "tex";
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, ".{}", self.name())
    }
}

/// A PTX ISA version, as in `.version`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Version {
    /// The number before the dot.
    pub major: u16,
    /// The number after the dot.
    pub minor: u16,
}

impl Version {
    /// The newest version that this parser accepts.
    pub const NEWEST: Version = Version { major: 9, minor: 5 };
    /// The oldest version that this parser accepts.
    pub const OLDEST: Version = Version { major: 1, minor: 0 };

    /// The version `major.minor`.
    pub const fn new(major: u16, minor: u16) -> Self {
        Version { major, minor }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// The suffix of an architecture's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArchSuffix {
    /// `sm_90`
    None,
    /// `sm_90a`: features of exactly this architecture.
    Specific,
    /// `sm_100f`: features of this family of architectures.
    Family,
}

/// Whether a module for architecture `module` may use a feature of architecture `needed`. With suffix `a`,
/// only that architecture may; with `f`, newer ones of its family that have a suffix; without a suffix, all
/// newer ones (PTX ISA 11.1.2).
pub(crate) fn has_arch(needed: (u16, ArchSuffix), module: (u16, ArchSuffix)) -> bool {
    // PTX 9.0 renamed this architecture.
    let renamed = |number| if number == 101 { 110 } else { number };
    let (from, number) = (renamed(needed.0), renamed(module.0));
    match needed.1 {
        ArchSuffix::None => number >= from,
        ArchSuffix::Specific => module.1 == ArchSuffix::Specific && number == from,
        ArchSuffix::Family => module.1 != ArchSuffix::None && number / 10 == from / 10 && number >= from,
    }
}

/// One word of the `.target` directive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// `sm_NN`, `compute_NN`: the architecture's number (90 for `sm_90`) and suffix.
    Arch {
        /// 10 × major + minor.
        number: u16,
        /// `a`, `f` or nothing.
        suffix: ArchSuffix,
    },
    /// `texmode_unified`
    TexmodeUnified,
    /// `texmode_independent`
    TexmodeIndependent,
    /// `debug`
    Debug,
    /// `map_f64_to_f32`
    MapF64ToF32,
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let suffix = match self {
            Target::Arch { suffix: ArchSuffix::Specific, .. } => "a",
            Target::Arch { suffix: ArchSuffix::Family, .. } => "f",
            _ => "",
        };
        match self {
            Target::Arch { number, .. } => write!(f, "sm_{number}{suffix}"),
            Target::TexmodeUnified => f.write_str("texmode_unified"),
            Target::TexmodeIndependent => f.write_str("texmode_independent"),
            Target::Debug => f.write_str("debug"),
            Target::MapF64ToF32 => f.write_str("map_f64_to_f32"),
        }
    }
}
