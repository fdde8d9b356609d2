//! Structures that C programs pass, and where their fields lie.

/// A field: its name, its offset and its size in bytes.
pub type Field = (&'static str, usize, usize);

/// Defines structures laid out as C does, each with its C name after `=`, and `LAYOUTS`, which lists them with their [fields](Field).
#[macro_export]
macro_rules! structures {
    ($($(#[$meta:meta])* pub struct $name:ident = $c:literal { $(pub $field:ident: $type:ty,)* })*) => {
        $(
            $(#[$meta])*
            #[repr(C)]
            #[derive(Clone, Copy, Debug)]
            #[allow(missing_docs)]
            pub struct $name {
                $(pub $field: $type,)*
            }
        )*

        /// The structures of this module by their C names, with the places of their fields.
        pub const LAYOUTS: &[(&str, &[$crate::Field])] = &[
            $(($c, &[$((stringify!($field), std::mem::offset_of!($name, $field), size_of::<$type>()),)*]),)*
        ];
    };
}
