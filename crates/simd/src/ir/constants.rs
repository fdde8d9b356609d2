//! Constants longer than a word.

use std::collections::HashMap;
use std::rc::Rc;

/// The number of a constant in a [`Constants`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lasting(u32);

/// The value of a long constant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Long {
    /// An integer of more than 64 bits.
    Int(i128),
    /// A vector whose elements differ.
    Elements(Rc<[i64]>),
}

/// The long constants of a module, each stored once, which keeps operands small.
#[derive(Debug, Default)]
pub struct Constants {
    all: Vec<Long>,
    known: HashMap<Long, Lasting>,
}

impl Constants {
    pub(super) fn keep(&mut self, value: Long) -> Lasting {
        if let Some(&known) = self.known.get(&value) {
            return known;
        }
        let kept = Lasting(self.all.len() as u32);
        self.all.push(value.clone());
        self.known.insert(value, kept);
        kept
    }

    pub(super) fn get(&self, kept: Lasting) -> &Long {
        &self.all[kept.0 as usize]
    }
}
