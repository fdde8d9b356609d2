//! How functions of a C interface are written down.

/// What a function means to a stream capture: work submitted to a stream that captures becomes a node of a
/// graph instead of running. The second column of [`api!`](crate::api!).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capture {
    /// It neither takes part in a capture nor disturbs one.
    Legal,
    /// It puts work into a stream. If that stream captures, the work becomes a node.
    Appends,
    /// It asks about work or waits for work that a capture may hold, uses the legacy stream and waits for it,
    /// or puts something into a stream that graphs have no node for. Where a capture is concerned it fails,
    /// and the capture is invalid.
    Invalidates,
    /// A "potentially unsafe" call: it does something that replaying a graph would not repeat, or may wait
    /// for the device. While a capture is under way it fails and makes the capture invalid, unless the mode
    /// is relaxed.
    Unsafe,
}

/// How the functions of an interface behave towards a capture, by their names.
pub type Captures = &'static [(&'static str, Capture)];

/// Defines functions: what each needs, what it means to a capture ([`Capture`]), its names, its arguments,
/// its body. A second name after `/` is the twin whose null stream is the thread's own; the body then tells
/// the two apart by the variable in bars.
///
/// The crate that uses it has `abi::Code`, `abi::Need` and `abi::enter`, which runs the checks and the body,
/// and a macro `exported`, which is given the name and the function. A module uses it once: the second column
/// becomes its constant `CAPTURES`.
#[macro_export]
macro_rules! api {
    ($($(#[$meta:meta])* $need:ident $capture:ident fn $($name:ident)/+ ($($arg:ident: $ty:ty),* $(,)?) $(|$own:ident|)? $body:block)*) => {
        /// How the functions of this module behave towards a capture.
        pub(crate) const CAPTURES: $crate::Captures =
            &[$($((stringify!($name), $crate::Capture::$capture)),+),*];
        $($crate::api_one!([$(#[$meta])*] $need [$($name)+] ($($arg: $ty),*) [$($own)?] $body);)*
    };
}

/// One row of [`api!`].
#[doc(hidden)]
#[macro_export]
macro_rules! api_one {
    ([$($meta:tt)*] $need:ident [$name:ident] $args:tt [] $body:block) => {
        $crate::api_fn!([$($meta)*] $need $name $args {} $body);
    };
    ([$($meta:tt)*] $need:ident [$name:ident $twin:ident] $args:tt [$own:ident] $body:block) => {
        $crate::api_fn!([$($meta)*] $need $name $args { let $own = false; } $body);
        $crate::api_fn!([$($meta)*] $need $twin $args { let $own = true; } $body);
    };
    ([$($meta:tt)*] $need:ident [$name:ident $twin:ident] $args:tt [] $body:block) => {
        $crate::api_fn!([$($meta)*] $need $name $args {} $body);
        $crate::api_fn!([$($meta)*] $need $twin $args {} $body);
    };
}

/// One function of [`api!`].
#[doc(hidden)]
#[macro_export]
// Deliberately the codes and checks of the interface's own crate.
#[allow(clippy::crate_in_macro_def)]
macro_rules! api_fn {
    ([$($meta:tt)*] $need:ident $name:ident ($($arg:ident: $ty:ty),*) { $($before:tt)* } $body:block) => {
        crate::exported! {
            $name
            $($meta)*
            #[allow(clippy::too_many_arguments)]
            pub extern "C" fn $name($($arg: $ty),*) -> crate::abi::Code {
                crate::abi::enter(
                    stringify!($name),
                    crate::abi::Need::$need,
                    &[$((stringify!($arg), &$arg as &dyn std::fmt::Debug)),*],
                    || { $($before)* $body },
                )
            }
        }
    };
}

/// Joins the `CAPTURES` of modules that use [`api!`] to one table. A module that is left out has an unused
/// constant, which the compiler reports.
#[macro_export]
macro_rules! captures {
    ($($module:ident)*) => {
        /// All functions that are written, with what they mean to a stream capture.
        pub fn captures() -> impl Iterator<Item = (&'static str, $crate::Capture)> {
            [$($module::CAPTURES),*].into_iter().flatten().copied()
        }

        /// What a function means to a stream capture. `None`: there is no such function, or it is not
        /// written.
        pub fn capture_behaviour(name: &str) -> Option<$crate::Capture> {
            captures().find(|row| row.0 == name).map(|row| row.1)
        }
    };
}
