//! What the functions answer, by group. A function that is in none of the tables is not supported.

mod device;
mod event;
mod process;
mod system;
mod topology;

use crate::code::Result;
use crate::engine::Call;

/// The body of a function. Its arguments have been checked.
pub type Answer = fn(&Call<'_>) -> Result<()>;

/// The answers of a group, by function.
type Table = &'static [(&'static str, Answer)];

/// All functions that have an answer.
pub fn all() -> impl Iterator<Item = (&'static str, Answer)> {
    [system::TABLE, device::TABLE, topology::TABLE, process::TABLE, event::TABLE]
        .into_iter()
        .flatten()
        .copied()
}

/// A text with zeros after it.
fn filled<const SIZE: usize>(text: &str) -> [u8; SIZE] {
    let mut bytes = [0; SIZE];
    for (byte, character) in bytes.iter_mut().take(SIZE - 1).zip(text.bytes()) {
        *byte = character;
    }
    bytes
}
