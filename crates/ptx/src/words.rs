//! The words of instructions, opcodes and modifiers, generated from the tables under `grammar/`.

use crate::types::{ScalarType, Space};
use std::fmt;

include!(concat!(env!("OUT_DIR"), "/words.rs"));
include!("word_hash.rs");

fn look_up(word: &str, table: &[u16], names: &[&str]) -> Option<usize> {
    let mask = table.len().wrapping_sub(1);
    let mut at = word_hash(word.as_bytes()) as usize & mask;
    loop {
        let entry = usize::from(*table.get(at)?);
        if *names.get(entry)? == word {
            return Some(entry);
        }
        at = (at + 1) & mask;
    }
}

impl Opcode {
    /// The opcode spelled `word`.
    pub fn from_name(word: &str) -> Option<Self> {
        OPCODE_ALL.get(look_up(word, &OPCODE_TABLE, &OPCODE_NAMES)?).copied()
    }

    /// The spelling in PTX.
    pub fn name(self) -> &'static str {
        OPCODE_NAMES[self as usize]
    }

    /// Every opcode.
    pub fn all() -> &'static [Self] {
        &OPCODE_ALL
    }
}

impl Modifier {
    /// The modifier spelled `word`, without its dot.
    pub fn from_name(word: &str) -> Option<Self> {
        MODIFIER_ALL.get(look_up(word, &MODIFIER_TABLE, &MODIFIER_NAMES)?).copied()
    }

    /// The spelling in PTX, without the dot.
    pub fn name(self) -> &'static str {
        MODIFIER_NAMES[self as usize]
    }

    /// Every modifier.
    pub fn all() -> &'static [Self] {
        &MODIFIER_ALL
    }

    /// What this modifier chooses.
    pub fn kind(self) -> ModifierKind {
        MODIFIER_KINDS[self as usize]
    }

    /// Whether repeating it is legal and has no effect.
    pub(crate) fn may_repeat(self) -> bool {
        MODIFIER_AGAIN[self as usize]
    }

    /// PTX version (major, minor) and architecture from which it is legal.
    pub(crate) fn since(self) -> (u8, u8, u16) {
        MODIFIER_SINCE[self as usize]
    }

    /// The type that this modifier names.
    pub fn scalar_type(self) -> Option<ScalarType> {
        MODIFIER_TYPES[self as usize]
    }

    /// The state space that this modifier names.
    pub fn space(self) -> Option<Space> {
        MODIFIER_SPACES[self as usize]
    }
}

impl fmt::Display for Opcode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Modifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, ".{}", self.name())
    }
}
