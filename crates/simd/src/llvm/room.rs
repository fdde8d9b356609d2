//! Whether the process's limits leave LLVM enough memory: it ends the process where an allocation fails.

use std::path::Path;

use host::limits::{ADDRESS_SPACE, DATA, Limit};

use super::LlvmError;

/// What opening LLVM and compiling a kernel take, besides the mapped library.
const TO_OPEN: u64 = 192 << 20;
/// What compiling a kernel takes once LLVM is open.
const TO_COMPILE: u64 = 96 << 20;

/// Checks the limits before the library is opened.
pub(super) fn to_open(library: &Path) -> Result<(), LlvmError> {
    let size = std::fs::metadata(library).map_or(0, |file| file.len());
    enough(&ADDRESS_SPACE, TO_OPEN.saturating_add(size))?;
    enough(&DATA, TO_OPEN)
}

/// Checks the limits before a kernel is compiled.
pub(super) fn to_compile() -> Result<(), LlvmError> {
    enough(&ADDRESS_SPACE, TO_COMPILE)?;
    enough(&DATA, TO_COMPILE)
}

fn enough(limit: &Limit, needed: u64) -> Result<(), LlvmError> {
    match limit.left() {
        Some(left) if left < needed => Err(LlvmError::NoRoom { what: limit.what, left, needed }),
        _ => Ok(()),
    }
}
