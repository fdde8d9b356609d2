//! The table of instruction forms, made from `grammar/forms/` by the build script.

use crate::types::{ArchSuffix, ScalarType, Version};
use crate::words::{Modifier, ModifierKind, Opcode};

/// A way to write an instruction.
#[derive(Debug)]
pub(crate) struct Form {
    slots: (u32, u32),
    /// How many of the slots are parts of the instruction's name, which stand first and in order.
    name: u32,
    operands: (u32, u32),
    /// PTX version from which it is legal.
    pub since: (u8, u8),
    /// Architectures that have it: one of them has to [include](crate::types::has_arch) the module's.
    pub arches: &'static [(u16, ArchSuffix)],
    /// Words that are legal in this form only from a version and an architecture on.
    pub words: &'static [(Modifier, (u8, u8, u16))],
    /// PTX version and architecture from which, both together, it is illegal.
    pub gone: (u8, u8, u16),
    /// As `grammar/` writes it.
    pub text: &'static str,
}

/// A place for a modifier.
#[derive(Debug)]
pub(crate) struct Slot {
    set: u16,
    pub optional: bool,
    /// Of the kinds of words whose order counts, which it is; [`ORDERED`] if none.
    order: u8,
}

/// Kinds of words whose order counts: types, state spaces, layouts.
const ORDERED: u8 = 3;

/// Of the kinds of words whose order counts, which this is.
fn order(modifier: Modifier) -> u8 {
    match modifier.kind() {
        ModifierKind::Type => 0,
        ModifierKind::Space => 1,
        ModifierKind::Layout => 2,
        _ => ORDERED,
    }
}

/// What an operand has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// A register or, if read, a constant.
    Value,
    /// What `mov` takes: also symbols, special registers, and vectors that pack or unpack.
    Mov,
    /// What `ld` and `st` take: registers may be wider than the type; vectors.
    Memory,
    /// The same of 256 bits.
    Memory256,
    /// What `cvt` takes: registers may be wider than the type; special registers.
    Convert,
    /// A register with a selector, in video instructions.
    Video,
    /// Registers in braces: [`OperandForm::count`] of them, or as many as `.v2`, `.v4` and `.v8` say.
    Vector,
    /// Registers in braces that hold a part of a matrix of elements of the type; lowering knows how many.
    Fragment,
    /// The same, each of the type for itself.
    Each,
    /// `_`
    Sink,
    /// An integer constant.
    Immediate,
    /// `[…]` without coordinates.
    Address,
    /// `[…]` with the coordinates that geometry or dimensions ask for.
    Coordinates,
    /// Offsets of coordinates.
    Offsets,
    /// Gradients of coordinates.
    Gradient,
    /// A label.
    Label,
    /// Not checked by the table.
    Any,
}

/// The type of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TypeRef {
    None,
    Fixed(ScalarType),
    /// The type written at this place among the types, from 0.
    Written(u8),
    /// Twice as wide as that.
    Wide(u8),
}

/// An operand of a form.
#[derive(Debug)]
pub(crate) struct OperandForm {
    pub class: Class,
    pub ty: TypeRef,
    /// Registers of a vector, if the form fixes them; else 0.
    pub count: u8,
    /// The constants that are legal, as first, last and step; all if there are none.
    pub values: &'static [(i64, i64, i64)],
    pub optional: bool,
    /// `d|p` is legal.
    pub pair: bool,
    /// `d|p` is needed.
    pub paired: bool,
    /// `!a`
    pub negate: bool,
    /// No integer constant, and no `_`.
    pub register: bool,
    pub dest: bool,
    /// Stands exactly where `.L2::cache_hint` does.
    pub hint: bool,
    /// Version and architecture from which it is legal if it may be left out, or the predicate of a pair.
    pub since: (u8, u8, u16),
}

include!(concat!(env!("OUT_DIR"), "/forms.rs"));

impl Form {
    /// The forms of an opcode, with the number of the first.
    pub fn of(opcode: Opcode) -> (u16, &'static [Form]) {
        let (first, last) = FORMS_OF[opcode as usize];
        (first, FORMS.get(usize::from(first)..usize::from(last)).unwrap_or(&[]))
    }

    /// The form of this number.
    pub fn get(number: u16) -> Option<&'static Form> {
        FORMS.get(usize::from(number))
    }

    /// Whether a module of this version and architecture can no longer use it.
    pub fn is_gone(&self, version: Version, arch: u16) -> bool {
        let (major, minor, sm) = self.gone;
        version >= Version::new(major.into(), minor.into()) && arch >= sm
    }

    pub fn slots(&self) -> &'static [Slot] {
        SLOTS.get(self.slots.0 as usize..self.slots.1 as usize).unwrap_or(&[])
    }

    pub fn operands(&self) -> &'static [OperandForm] {
        OPERANDS.get(self.operands.0 as usize..self.operands.1 as usize).unwrap_or(&[])
    }

    /// Gives each modifier a slot: first those of the instruction's name, then words of a kind whose order counts in the order of the form,
    /// others in any order.
    pub fn assign(&self, modifiers: &[Modifier]) -> Assignment {
        let slots = self.slots();
        let named = self.name as usize;
        let mut filled = 0_u64;
        let mut next = [0; ORDERED as usize + 1];
        let mut left = Vec::new();
        let mut rest = modifiers;
        for (i, slot) in slots.iter().enumerate().take(named) {
            match rest.split_first() {
                Some((first, tail)) if slot.takes(*first) => {
                    filled |= 1 << i;
                    rest = tail;
                }
                _ if slot.optional => {}
                _ => break,
            }
        }
        for modifier in rest {
            let order = order(*modifier);
            let from = if order < ORDERED { next[usize::from(order)] } else { 0 }.max(named);
            let mut open = slots.iter().enumerate().skip(from).filter(|(i, _)| filled & (1 << i) == 0);
            match open.find(|(_, s)| s.takes(*modifier)) {
                Some((i, slot)) => {
                    filled |= 1 << i;
                    next[usize::from(slot.order)] = i + 1;
                }
                // Written again, it finds its slot filled.
                None if modifier.may_repeat()
                    && modifiers.iter().filter(|m| *m == modifier).count() > 1
                    && slots.iter().any(|s| s.takes(*modifier)) => {}
                None => left.push(*modifier),
            }
        }
        let open = slots.iter().enumerate().filter(|(i, s)| !s.optional && filled & (1 << i) == 0);
        let missing = open.map(|(_, s)| s).collect();
        Assignment { left, missing }
    }
}

/// How a form takes the modifiers of an instruction.
pub(crate) struct Assignment {
    /// The modifiers that found no slot.
    pub left: Vec<Modifier>,
    /// The slots that must be filled and are not.
    pub missing: Vec<&'static Slot>,
}

impl Assignment {
    pub fn fits(&self) -> bool {
        self.left.is_empty() && self.missing.is_empty()
    }
}

impl Slot {
    pub fn takes(&self, modifier: Modifier) -> bool {
        let (word, bit) = (modifier as usize / 64, modifier as usize % 64);
        SETS.get(usize::from(self.set)).and_then(|s| s.get(word)).is_some_and(|w| w & (1 << bit) != 0)
    }

    /// The modifiers that may stand here.
    pub fn choices(&self) -> impl Iterator<Item = Modifier> {
        Modifier::all().iter().copied().filter(|m| self.takes(*m))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_have_at_most_64_slots() {
        assert!(FORMS.iter().all(|f| f.slots().len() <= 64));
    }

    #[test]
    fn types_keep_their_order_and_other_modifiers_do_not() {
        let fits = |opcode, words: &[&str]| {
            let modifiers: Vec<_> = words.iter().map(|w| Modifier::from_name(w).unwrap()).collect();
            Form::of(opcode).1.iter().any(|f| f.assign(&modifiers).fits())
        };
        assert!(fits(Opcode::Add, &["f32", "ftz", "rn"]));
        assert!(fits(Opcode::Cvt, &["u32", "rzi", "f32"]));
        assert!(!fits(Opcode::Cvt, &["rzi", "f32", "u32"]), "float from integer rounds with .rn");
        assert!(!fits(Opcode::Add, &["rn", "rn", "f32"]));
        assert!(!fits(Opcode::Ld, &["relaxed", "global", "u32"]), ".relaxed needs a scope");
    }
}
