//! The table of instruction forms, which the build script generates from `grammar/forms/`.

use crate::types::{ArchSuffix, ScalarType, Version};
use crate::words::{Modifier, ModifierKind, Opcode};

/// One way to write an instruction.
#[derive(Debug)]
pub(crate) struct Form {
    slots: (u32, u32),
    /// Number of slots that belong to the instruction's name; they come first and in order.
    name: u32,
    operands: (u32, u32),
    /// PTX version from which it is legal.
    pub since: (u8, u8),
    /// Architectures that have it; one of them must [include](crate::types::has_arch) the module's.
    pub arches: &'static [(u16, ArchSuffix)],
    /// Words that this form accepts only from a certain version and architecture on.
    pub words: &'static [(Modifier, (u8, u8, u16))],
    /// PTX version and architecture from which, both together, it is illegal.
    pub gone: (u8, u8, u16),
    /// Its text in `grammar/`.
    pub text: &'static str,
}

/// A place for a modifier.
#[derive(Debug)]
pub(crate) struct Slot {
    set: u16,
    pub optional: bool,
    /// Index of the word's kind among those whose order matters; [`ORDERED`] for all others.
    order: u8,
}

/// Number of kinds of words whose order matters: types, state spaces, layouts.
const ORDERED: u8 = 3;

/// Index of the modifier's kind among those whose order matters.
fn order(modifier: Modifier) -> u8 {
    match modifier.kind() {
        ModifierKind::Type => 0,
        ModifierKind::Space => 1,
        ModifierKind::Layout => 2,
        _ => ORDERED,
    }
}

/// What an operand must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// A register or, for a source, a constant.
    Value,
    /// The operands of `mov`: also symbols, special registers, and vectors that pack or unpack.
    Mov,
    /// The operands of `ld` and `st`: registers may be wider than the type; vectors are legal.
    Memory,
    /// The same for 256-bit accesses.
    Memory256,
    /// The operands of `cvt`: registers may be wider than the type; special registers are legal.
    Convert,
    /// A register with a selector, in video instructions.
    Video,
    /// Registers in braces: [`OperandForm::count`] of them, or as many as `.v2`, `.v4` and `.v8` say.
    Vector,
    /// Registers in braces that hold part of a matrix with elements of this type; lowering checks their
    /// number.
    Fragment,
    /// The same, with each register checked by itself.
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
    /// The `n`th written type, from 0.
    Written(u8),
    /// Twice as wide as that type.
    Wide(u8),
}

/// An operand of a form.
#[derive(Debug)]
pub(crate) struct OperandForm {
    pub class: Class,
    pub ty: TypeRef,
    /// Number of registers in a vector if the form fixes it, otherwise 0.
    pub count: u8,
    /// The legal constants, as first, last and step; empty if all are legal.
    pub values: &'static [(i64, i64, i64)],
    pub optional: bool,
    /// `d|p` is legal.
    pub pair: bool,
    /// `d|p` is required.
    pub paired: bool,
    /// `!a`
    pub negate: bool,
    /// Neither an integer constant nor `_` is legal.
    pub register: bool,
    pub dest: bool,
    /// Present exactly if `.L2::cache_hint` is.
    pub hint: bool,
    /// Version and architecture from which it is legal, for an optional operand or the predicate of a pair.
    pub since: (u8, u8, u16),
}

include!(concat!(env!("OUT_DIR"), "/forms.rs"));

impl Form {
    /// The forms of an opcode, with the number of the first one.
    pub fn of(opcode: Opcode) -> (u16, &'static [Form]) {
        let (first, last) = FORMS_OF[opcode as usize];
        (first, FORMS.get(usize::from(first)..usize::from(last)).unwrap_or(&[]))
    }

    /// The form of this number.
    pub fn get(number: u16) -> Option<&'static Form> {
        FORMS.get(usize::from(number))
    }

    /// Whether this form has been removed for modules of this version and architecture.
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

    /// Assigns each modifier to a slot: the slots of the instruction's name first, then words whose order
    /// matters in the order of the form, and all others in any order.
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
                // A repeated modifier finds its slot filled.
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

/// The result of matching an instruction's modifiers against a form.
pub(crate) struct Assignment {
    /// Modifiers that found no slot.
    pub left: Vec<Modifier>,
    /// Required slots that no modifier filled.
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

    /// The modifiers that fit this slot.
    pub fn choices(&self) -> impl Iterator<Item = Modifier> {
        Modifier::all().iter().copied().filter(|m| self.takes(*m))
    }
}
