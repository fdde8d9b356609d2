//! The tensor core: `d = a × b + c` on small matrices whose elements lie spread over the registers of a warp.
//!
//! [`Matrix`] says what is asked; [`Matrix::run`] computes it for a whole warp. Layouts of fragments are the PTX manual's (9.7.14.5), sums are those
//! of an H200 to the bit, as recorded in `tests/hw/matrix`.

/// Declares an enumeration whose members have a spelling and a number.
macro_rules! names {
    ($(#[$m:meta])* $v:vis enum $n:ident { $($(#[$vm:meta])* $k:ident = $s:literal,)* }) => {
        $(#[$m])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        $v enum $n { $($(#[$vm])* $k,)* }
        impl $n {
            /// Every member, in order of its number.
            pub const ALL: &'static [$n] = &[$($n::$k,)*];
            /// The spelling.
            pub const fn name(self) -> &'static str {
                match self { $($n::$k => $s,)* }
            }
            /// The member of a spelling.
            pub fn of_name(name: &str) -> Option<$n> {
                $n::ALL.iter().copied().find(|x| x.name() == name)
            }
        }
    };
}

mod fast;
pub mod format;
mod fragment;
mod matrix;
mod mma;
mod movement;
mod scale;
mod sparse;
mod sum;
mod warp;
mod wgmma;

pub use format::Format;
pub use matrix::{Fault, Matrix, Shared};
pub use mma::{Bits, Kind, Mma, Round, shape};
pub use movement::{Action, Movement, Rows, Source};
pub use wgmma::Wgmma;

/// Lanes of a warp.
pub const LANES: usize = 32;
