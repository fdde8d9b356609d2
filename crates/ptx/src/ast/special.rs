//! Special registers (PTX ISA 10).

use crate::types::ScalarType;

macro_rules! special {
    ($($variant:ident $name:literal $ty:ident $vector:literal;)*) => {
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

            /// Whether it is a vector, of which an instruction names an element (`%tid.x`).
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
    IsExplicitCluster "%is_explicit_cluster" Pred false;
    Clusterid "%clusterid" U32 true;
    Nclusterid "%nclusterid" U32 true;
    ClusterCtaid "%cluster_ctaid" U32 true;
    ClusterNctaid "%cluster_nctaid" U32 true;
    ClusterCtarank "%cluster_ctarank" U32 false;
    ClusterNctarank "%cluster_nctarank" U32 false;
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
    ReservedSmemOffsetBegin "%reserved_smem_offset_begin" B32 false;
    ReservedSmemOffsetEnd "%reserved_smem_offset_end" B32 false;
    ReservedSmemOffsetCap "%reserved_smem_offset_cap" B32 false;
    ReservedSmemOffset0 "%reserved_smem_offset_0" B32 false;
    ReservedSmemOffset1 "%reserved_smem_offset_1" B32 false;
    TotalSmemSize "%total_smem_size" U32 false;
    AggrSmemSize "%aggr_smem_size" U32 false;
    DynamicSmemSize "%dynamic_smem_size" U32 false;
    CurrentGraphExec "%current_graph_exec" U64 false;
}

impl SpecialReg {
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
