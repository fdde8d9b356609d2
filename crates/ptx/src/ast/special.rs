//! Special registers (PTX ISA 10).
//!
//! Versions and architectures are stated only where `ptxas` enforces them; the older registers are always
//! legal.

use crate::types::ScalarType;

macro_rules! special {
    ($($variant:ident $name:literal $ty:ident $vector:literal $(since $since:tt)?;)*) => {
        /// A special register.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum SpecialReg {
            $(#[doc = concat!("`", $name, "`")] $variant,)*
            /// `%envreg0` to `%envreg31`
            Envreg(u8),
            /// `%pm0` to `%pm7`
            Pm(u8),
            /// `%pm0_64` to `%pm7_64`
            Pm64(u8),
        }

        impl SpecialReg {
            /// Every special register without a number in its name.
            pub const PLAIN: &'static [SpecialReg] = &[$(SpecialReg::$variant,)*];

            fn plain(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(SpecialReg::$variant),)*
                    _ => None,
                }
            }

            /// The type of the register, or of one element of it.
            pub fn ty(self) -> ScalarType {
                match self {
                    $(SpecialReg::$variant => ScalarType::$ty,)*
                    SpecialReg::Envreg(_) => ScalarType::B32,
                    SpecialReg::Pm(_) => ScalarType::U32,
                    SpecialReg::Pm64(_) => ScalarType::U64,
                }
            }

            /// The PTX version and the architecture from which it is legal.
            pub fn since(self) -> (u8, u8, u16) {
                match self {
                    $($(SpecialReg::$variant => $since,)?)*
                    _ => (1, 0, 10),
                }
            }

            /// Whether it is a vector, so that instructions name an element of it (`%tid.x`).
            pub fn is_vector(self) -> bool {
                match self {
                    $(SpecialReg::$variant => $vector,)*
                    _ => false,
                }
            }
        }

        impl std::fmt::Display for SpecialReg {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self {
                    $(SpecialReg::$variant => f.write_str($name),)*
                    SpecialReg::Envreg(n) => write!(f, "%envreg{n}"),
                    SpecialReg::Pm(n) => write!(f, "%pm{n}"),
                    SpecialReg::Pm64(n) => write!(f, "%pm{n}_64"),
                }
            }
        }
    };
}

special! {
    Tid "%tid" U32 true;
    Ntid "%ntid" U32 true;
    Laneid "%laneid" U32 false;
    Warpid "%warpid" U32 false;
    Nwarpid "%nwarpid" U32 false;
    Ctaid "%ctaid" U32 true;
    Nctaid "%nctaid" U32 true;
    Smid "%smid" U32 false;
    Nsmid "%nsmid" U32 false;
    Gridid "%gridid" U64 false;
    IsExplicitCluster "%is_explicit_cluster" Pred false since (7, 8, 90);
    Clusterid "%clusterid" U32 true since (7, 8, 90);
    Nclusterid "%nclusterid" U32 true since (7, 8, 90);
    ClusterCtaid "%cluster_ctaid" U32 true since (7, 8, 90);
    ClusterNctaid "%cluster_nctaid" U32 true since (7, 8, 90);
    ClusterCtarank "%cluster_ctarank" U32 false since (7, 8, 90);
    ClusterNctarank "%cluster_nctarank" U32 false since (7, 8, 90);
    LanemaskEq "%lanemask_eq" U32 false;
    LanemaskLe "%lanemask_le" U32 false;
    LanemaskLt "%lanemask_lt" U32 false;
    LanemaskGe "%lanemask_ge" U32 false;
    LanemaskGt "%lanemask_gt" U32 false;
    Clock "%clock" U32 false;
    ClockHi "%clock_hi" U32 false;
    Clock64 "%clock64" U64 false;
    Globaltimer "%globaltimer" U64 false;
    GlobaltimerLo "%globaltimer_lo" U32 false;
    GlobaltimerHi "%globaltimer_hi" U32 false;
    ReservedSmemOffsetBegin "%reserved_smem_offset_begin" B32 false since (7, 6, 80);
    ReservedSmemOffsetEnd "%reserved_smem_offset_end" B32 false since (7, 6, 80);
    ReservedSmemOffsetCap "%reserved_smem_offset_cap" B32 false since (7, 6, 80);
    ReservedSmemOffset0 "%reserved_smem_offset_0" B32 false since (7, 6, 80);
    ReservedSmemOffset1 "%reserved_smem_offset_1" B32 false since (7, 6, 80);
    TotalSmemSize "%total_smem_size" U32 false;
    AggrSmemSize "%aggr_smem_size" U32 false since (8, 1, 90);
    DynamicSmemSize "%dynamic_smem_size" U32 false;
    CurrentGraphExec "%current_graph_exec" U64 false since (8, 0, 50);
    PerCtaMemoryOffset "%perctamemoryoffset" U64 false since (9, 4, 80);
    PerCtaMemorySize "%perctamemorysize" U32 false since (9, 4, 80);
    LocalityDomainId "%locality_domain_id" U32 false since (9, 5, 100);
    LocalityDomainSupplementalSm "%locality_domain_supplemental_sm" U32 false since (9, 5, 100);
}

impl SpecialReg {
    /// Whether a kernel that reads it must declare its blocks' private global memory with `.minperctamemory`.
    pub fn needs_block_memory(self) -> bool {
        matches!(self, SpecialReg::PerCtaMemoryOffset | SpecialReg::PerCtaMemorySize)
    }

    /// The special register spelled `name`, with its percent sign.
    pub fn from_name(name: &str) -> Option<Self> {
        if let Some(found) = Self::plain(name) {
            return Some(found);
        }
        let number = |digits: &str, limit: u8| {
            let plain = digits.len() == 1 || !digits.starts_with(['0', '+']);
            digits.parse::<u8>().ok().filter(|n| plain && *n < limit)
        };
        if let Some(digits) = name.strip_prefix("%envreg") {
            return number(digits, 32).map(SpecialReg::Envreg);
        }
        let digits = name.strip_prefix("%pm")?;
        match digits.strip_suffix("_64") {
            Some(digits) => number(digits, 8).map(SpecialReg::Pm64),
            None => number(digits, 8).map(SpecialReg::Pm),
        }
    }
}
