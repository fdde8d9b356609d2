//! Enumerations whose members have one spelling each, so that printers, parsers and documents use the same
//! table.

/// Declares an enumeration and the spelling of each member.
///
/// ```
/// names::names! {
/// /// What is done.
/// #[derive(Default)]
/// pub enum Operation {
///     /// Reads.
///     #[default]
///     Load = "ld",
///     /// Writes.
///     Store = "st",
/// }}
///
/// assert_eq!(Operation::Store.name(), "st");
/// assert_eq!(Operation::from_name("ld"), Some(Operation::Load));
/// assert_eq!(Operation::from_name("atom"), None);
/// assert_eq!(Operation::ALL.len(), 2);
/// ```
#[macro_export]
macro_rules! names {
    ($(#[$m:meta])* $v:vis enum $n:ident { $($(#[$vm:meta])* $k:ident = $s:literal,)* }) => {
        $(#[$m])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $v enum $n { $($(#[$vm])* $k,)* }
        impl $n {
            /// Every member, in order of declaration.
            pub const ALL: &'static [$n] = &[$($n::$k,)*];
            /// The spelling.
            pub const fn name(self) -> &'static str {
                match self { $($n::$k => $s,)* }
            }
            /// The member spelled `s`.
            pub fn from_name(s: &str) -> Option<$n> {
                match s { $($s => Some($n::$k),)* _ => None }
            }
        }
    };
}
