//! How functions of a C interface are written down.

/// Defines functions: what each needs, its names, its arguments, its body. A second name after `/` is the twin whose null stream is the
/// thread's own; the body then tells them apart by the variable in bars.
///
/// The crate that uses it has `abi::Code`, `abi::Need` and `abi::enter`, which runs the checks and the body, and a macro `exported`, which
/// is given the name and the function.
#[macro_export]
macro_rules! api {
    ($($(#[$meta:meta])* $need:ident fn $($name:ident)/+ ($($arg:ident: $ty:ty),* $(,)?) $(|$own:ident|)? $body:block)*) => {
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
// The interface's own crate is meant: its codes, its checks.
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
