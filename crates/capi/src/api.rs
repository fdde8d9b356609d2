//! Macros that define the functions of a C interface.

/// How a function behaves during stream capture, when work submitted to the stream becomes a graph node
/// instead of running. The second column of [`api!`](crate::api!).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaptureBehaviour {
    /// It is not captured and does not affect a capture.
    Legal,
    /// It submits work to a stream. If that stream is capturing, the work becomes a node.
    Appends,
    /// It queries or waits for work that a capture may hold, synchronises with the legacy stream, or submits
    /// work that has no graph node. If it concerns a capture, it fails and invalidates the capture.
    Invalidates,
    /// A "potentially unsafe" call: its effect would not be repeated when a graph is replayed, or it may wait
    /// for the device. During a capture it fails and invalidates the capture, unless the capture mode is
    /// relaxed.
    Unsafe,
    /// A batch: it fails in a stream that is capturing, and the capture stays valid.
    Refuses,
    /// As the driver's function that it calls, whose row holds the behaviour.
    Inherits,
}

/// Functions by name, with their behaviour during stream capture.
pub type Captures = &'static [(&'static str, CaptureBehaviour)];

/// Defines functions. A row holds a precondition, the behaviour during capture ([`CaptureBehaviour`]), names,
/// arguments and a body. A second name after `/` is the variant for which a null stream is the per-thread
/// stream; the variable between the bars tells the body which of the two was called.
///
/// The crate that uses it must have `abi::Code`, `abi::Need` and `abi::enter`, which runs the checks and the
/// body, and a macro `exported`, which receives the name and the function. Use it once per module: the second
/// column becomes the module's constant `CAPTURES`.
#[macro_export]
macro_rules! api {
    ($($(#[$meta:meta])* $need:ident $capture:ident fn $($name:ident)/+ ($($arg:ident: $ty:ty),* $(,)?) $(|$own:ident|)? $body:block)*) => {
        /// The behaviour of this module's functions during stream capture.
        pub(crate) const CAPTURES: $crate::Captures =
            &[$($((stringify!($name), $crate::CaptureBehaviour::$capture)),+),*];
        $($crate::api_one!([$(#[$meta])*] $need $capture [$($name)+] ($($arg: $ty),*) [$($own)?] $body);)*
    };
}

/// One row of [`api!`].
#[doc(hidden)]
#[macro_export]
macro_rules! api_one {
    ([$($meta:tt)*] $need:ident $capture:ident [$name:ident] $args:tt [] $body:block) => {
        $crate::api_fn!([$($meta)*] $need $capture $name $args {} $body);
    };
    ([$($meta:tt)*] $need:ident $capture:ident [$name:ident $twin:ident] $args:tt [$own:ident] $body:block) => {
        $crate::api_fn!([$($meta)*] $need $capture $name $args { let $own = false; } $body);
        $crate::api_fn!([$($meta)*] $need $capture $twin $args { let $own = true; } $body);
    };
    ([$($meta:tt)*] $need:ident $capture:ident [$name:ident $twin:ident] $args:tt [] $body:block) => {
        $crate::api_fn!([$($meta)*] $need $capture $name $args {} $body);
        $crate::api_fn!([$($meta)*] $need $capture $twin $args {} $body);
    };
}

/// One function of [`api!`].
#[doc(hidden)]
#[macro_export]
// `abi` is deliberately that of the calling crate.
#[allow(clippy::crate_in_macro_def)]
macro_rules! api_fn {
    (
        [$($meta:tt)*] $need:ident $capture:ident $name:ident ($($arg:ident: $ty:ty),*) { $($before:tt)* }
        $body:block
    ) => {
        crate::exported! {
            $name
            $($meta)*
            #[allow(clippy::too_many_arguments)]
            pub extern "C" fn $name($($arg: $ty),*) -> crate::abi::Code {
                crate::abi::enter(
                    stringify!($name),
                    crate::abi::Need::$need,
                    $crate::CaptureBehaviour::$capture,
                    &[$((stringify!($arg), &$arg as &dyn std::fmt::Debug)),*],
                    || { $($before)* $body },
                )
            }
        }
    };
}

/// Joins the `CAPTURES` of modules that use [`api!`] into one table. If a module is left out, the compiler
/// reports its constant as unused.
#[macro_export]
macro_rules! captures {
    ($($module:ident)*) => {
        /// All implemented functions, with their behaviour during stream capture.
        pub fn captures() -> impl Iterator<Item = (&'static str, $crate::CaptureBehaviour)> {
            [$($module::CAPTURES),*].into_iter().flatten().copied()
        }

        /// The behaviour of a function during stream capture; `None` if it does not exist or is not
        /// implemented.
        pub fn capture_behaviour(name: &str) -> Option<$crate::CaptureBehaviour> {
            captures().find(|row| row.0 == name).map(|row| row.1)
        }
    };
}
