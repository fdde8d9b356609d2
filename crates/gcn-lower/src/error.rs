//! Why a kernel cannot be lowered.

/// What is wrong at a place of a kernel.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{address:#x}: {message}")]
pub struct Error {
    /// The address in the code object.
    pub address: u64,
    /// What is wrong, with the instruction's text.
    pub message: String,
}

/// Why an instruction cannot be lowered; its place is added where it is known.
pub(crate) type Result<T> = std::result::Result<T, String>;
