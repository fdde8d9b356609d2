//! Names visible in a function: registers, register families and variables, in nested scopes.

use crate::ast::{RegId, VarId};
use crate::types::ScalarType;
use hashbrown::HashMap;

/// What a name in a function refers to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Name {
    Reg(RegId),
    Var(VarId),
}

/// `%r<count>`: registers that are created when they are named.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Family {
    pub count: u32,
    pub ty: ScalarType,
    pub vector: u8,
    depth: u32,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    name: Name,
    depth: u32,
}

/// An open nested scope.
#[derive(Debug, Default)]
struct Nested<'s> {
    /// Its names, with the entries that they hid.
    names: Vec<(&'s str, Option<Entry>)>,
    /// The families declared in it.
    families: Vec<&'s str>,
}

/// The names visible at one position in a function.
#[derive(Debug, Default)]
pub(crate) struct Scopes<'s> {
    names: HashMap<&'s str, Entry>,
    families: HashMap<&'s str, Vec<Family>>,
    open: Vec<Nested<'s>>,
    /// Number of families declared in open nested scopes.
    nested_families: usize,
}

/// The result of a lookup.
pub(crate) enum Found {
    Name(Name),
    /// A member of a family that has not been named before: [`Scopes::expand`] records it.
    Member(Family),
}

impl<'s> Scopes<'s> {
    /// Removes all names but keeps the memory.
    pub fn clear(&mut self) {
        self.names.clear();
        self.families.clear();
        self.open.clear();
        self.nested_families = 0;
    }

    pub fn depth(&self) -> usize {
        self.open.len()
    }

    pub fn open(&mut self) {
        self.open.push(Nested::default());
    }

    pub fn close(&mut self) {
        let Some(Nested { names, families }) = self.open.pop() else { return };
        for (name, before) in names.into_iter().rev() {
            match before {
                Some(entry) => self.names.insert(name, entry),
                None => self.names.remove(name),
            };
        }
        self.nested_families -= families.len();
        for name in families {
            if let Some(stack) = self.families.get_mut(name) {
                stack.pop();
            }
        }
    }

    /// Declares a name in the innermost scope; false if that scope has it already.
    pub fn declare(&mut self, text: &'s str, name: Name) -> bool {
        let depth = self.open.len() as u32;
        if self.names.get(text).is_some_and(|e| e.depth == depth) {
            return false;
        }
        if self.member(text, depth).is_some_and(|f| f.depth == depth) {
            return false;
        }
        self.insert(text, Entry { name, depth });
        true
    }

    fn insert(&mut self, text: &'s str, entry: Entry) {
        let before = self.names.insert(text, entry);
        if let Some(scope) = (entry.depth as usize).checked_sub(1).and_then(|d| self.open.get_mut(d)) {
            scope.names.push((text, before));
        }
    }

    /// Declares `prefix<count>` in the innermost scope; false if that scope has the prefix already.
    pub fn declare_family(&mut self, prefix: &'s str, count: u32, ty: ScalarType, vector: u8) -> bool {
        let depth = self.open.len() as u32;
        let stack = self.families.entry(prefix).or_default();
        if stack.last().is_some_and(|f| f.depth == depth) {
            return false;
        }
        stack.push(Family { count, ty, vector, depth });
        if let Some(scope) = self.open.last_mut() {
            scope.families.push(prefix);
            self.nested_families += 1;
        }
        true
    }

    /// What `text` refers to here.
    pub fn find(&self, text: &str) -> Option<Found> {
        match self.names.get(text) {
            Some(entry) if self.nested_families == 0 || entry.depth as usize == self.open.len() => {
                Some(Found::Name(entry.name))
            }
            // A family in an inner scope hides a register of the same name in an outer one.
            Some(entry) => match self.member(text, entry.depth + 1) {
                Some(family) => Some(Found::Member(family)),
                None => Some(Found::Name(entry.name)),
            },
            None => self.member(text, 0).map(Found::Member),
        }
    }

    /// Records the register for a member of a family, in the family's scope.
    pub fn expand(&mut self, text: &'s str, family: Family, reg: RegId) {
        self.insert(text, Entry { name: Name::Reg(reg), depth: family.depth });
    }

    /// The innermost family, at this depth or deeper, that has a member `text`.
    fn member(&self, text: &str, depth: u32) -> Option<Family> {
        let digits = text.bytes().rev().take(10).take_while(u8::is_ascii_digit).count();
        let split = |n: usize| text.split_at_checked(text.len() - n);
        let families = (1..=digits).rev().filter_map(split).filter_map(|(prefix, digits)| {
            if digits.len() > 1 && digits.starts_with('0') {
                return None;
            }
            let index: u32 = digits.parse().ok()?;
            let stack = self.families.get(prefix)?;
            stack.iter().rev().copied().find(|f| f.depth >= depth && index < f.count)
        });
        families.max_by_key(|f| f.depth)
    }
}
