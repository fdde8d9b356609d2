//! Layout of the structures that C programs pass.

/// A field: name, offset and size in bytes.
pub type Field = (&'static str, usize, usize);

/// Defines C-layout structures, each with its C name after `=`, and `LAYOUTS`, which lists them with their
/// [fields](Field).
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

        /// The structures of this module by C name, with their fields.
        pub const LAYOUTS: &[(&str, &[$crate::Field])] = &[
            $(($c, &[$((stringify!($field), std::mem::offset_of!($name, $field), size_of::<$type>()),)*]),)*
        ];
    };
}
