//! What is known of scalar registers without running the code: addresses of code, constants, and the words of
//! the descriptor of scratch memory. Calls and accesses of scratch are found by it.

use std::collections::{BTreeMap, BTreeSet};

use gcn::isa::{Inst, Operand, Part, Role, Special, Value as Place};

use crate::group::{Group, Named};
use crate::smem::Kind;

/// A word that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// A constant.
    Constant(u32),
    /// The low half of this address in the object, up to what a sum of the halves carries.
    Low(u64),
    /// The high half of this address in the object.
    High(u64),
    /// The low half of an address that a call returns to.
    BackLow(u64),
    /// The high half of it. Nothing calls such an address.
    BackHigh(u64),
    /// A word of the descriptor of scratch memory.
    Scratch(u8),
}

/// The number by which VCC is known here; SGPRs have their own.
const VCC: u16 = 1000;

/// Most addresses that a register may hold before they count as used.
const MOST: usize = 16;

/// Addresses in the object whose high half a register may hold after paths have joined that wrote different
/// ones.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Perhaps {
    These(BTreeSet<u64>),
    /// Too many; they count as used already.
    Many,
}

/// What is known at a place in the code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Words {
    known: BTreeMap<u16, Word>,
    /// Of registers that are not known.
    perhaps: BTreeMap<u16, Perhaps>,
    /// What the sum that SCC holds the carry of was made from: an address, and what was added to its low
    /// half.
    carry: Option<(u64, u32)>,
}

/// Scalar operations that copy a word or an address. The upper half of an address is its own extension.
pub(crate) const COPIES: &[&str] = &["s_mov_b32", "s_mov_b64", "s_sext_i32_i8", "s_sext_i32_i16"];

/// Scalar operations that add to a word or an address.
pub(crate) const ADDS: &[&str] = &[
    "s_add_u32",
    "s_add_co_u32",
    "s_addc_u32",
    "s_add_co_ci_u32",
    "s_add_i32",
    "s_add_co_i32",
    "s_addk_i32",
    "s_addk_co_i32",
    "s_add_nc_u64",
    "s_add_f16",
    "s_add_f32",
];

/// Whether an instruction loads scalars from an address.
fn loads(inst: &Inst) -> bool {
    Named::of(inst.op).group == Group::ScalarMemory(Kind::Load)
}

/// The first register of an operand and their number, if they are ones that are followed.
fn registers(operand: &Operand) -> Option<(u16, u16)> {
    let count = operand.bits.div_ceil(32).max(1);
    match operand.value {
        Place::Sgpr(first) => Some((first, count)),
        Place::Special(Special::Vcc, Part::High) => Some((VCC + 1, 1)),
        Place::Special(Special::Vcc, Part::Low) => Some((VCC, 1)),
        Place::Special(Special::Vcc, Part::Whole) => Some((VCC, 2)),
        _ => None,
    }
}

impl Words {
    /// Notes the words of the scratch descriptor in four SGPRs that tell what it is.
    pub fn scratch(&mut self, first: u16) {
        for word in 2..4 {
            self.known.insert(first + u16::from(word), Word::Scratch(word));
        }
    }

    /// Whether four SGPRs hold the descriptor of scratch memory.
    pub fn is_scratch(&self, first: u16) -> bool {
        (2..4).all(|word| self.known.get(&(first + u16::from(word))) == Some(&Word::Scratch(word)))
    }

    /// Intersects two states where paths join; returns whether this one changed. The addresses that a
    /// register may hold are united; if they are too many to be tracked, they go to `used`.
    pub fn meet(&mut self, other: &Words, used: &mut BTreeSet<u64>) -> bool {
        let mut changed = self.carry.is_some() && self.carry != other.carry;
        if changed {
            self.carry = None;
        }
        let differs = |register: &u16| self.known.get(register) != other.known.get(register);
        let mut registers: BTreeSet<u16> =
            self.known.keys().chain(other.known.keys()).copied().filter(differs).collect();
        registers.extend(other.perhaps.keys());
        for register in registers {
            let there = other.held(register);
            let here = self.held(register);
            changed |= self.known.remove(&register).is_some();
            let all = match (here, there) {
                (Perhaps::These(here), Perhaps::These(there)) => {
                    let both: BTreeSet<u64> = here.union(&there).copied().collect();
                    if both.len() <= MOST {
                        Perhaps::These(both)
                    } else {
                        used.extend(both);
                        Perhaps::Many
                    }
                }
                (Perhaps::Many, Perhaps::These(rest)) | (Perhaps::These(rest), Perhaps::Many) => {
                    used.extend(rest);
                    Perhaps::Many
                }
                (Perhaps::Many, Perhaps::Many) => Perhaps::Many,
            };
            if all == Perhaps::These(BTreeSet::new()) {
                continue;
            }
            changed |= self.perhaps.get(&register) != Some(&all);
            self.perhaps.insert(register, all);
        }
        changed
    }

    /// The addresses whose high half a register may hold.
    fn held(&self, register: u16) -> Perhaps {
        match (self.known.get(&register), self.perhaps.get(&register)) {
            (Some(Word::High(address)), _) => Perhaps::These(BTreeSet::from([*address])),
            (None, Some(perhaps)) => perhaps.clone(),
            _ => Perhaps::These(BTreeSet::new()),
        }
    }

    fn word(&self, operand: &Operand) -> Option<Word> {
        match operand.value {
            Place::Int(value) => Some(Word::Constant(i32::from(value) as u32)),
            Place::Literal(word) => Some(Word::Constant(word)),
            _ => self.known.get(&registers(operand)?.0).copied(),
        }
    }

    fn pair(&self, first: u16) -> Option<u64> {
        match (self.known.get(&first)?, self.known.get(&(first + 1))?) {
            (Word::Low(low), Word::High(whole)) | (Word::BackLow(low), Word::BackHigh(whole))
                if *low as u32 == *whole as u32 =>
            {
                Some(*whole)
            }
            _ => None,
        }
    }

    /// The address in the object that an operand of 64 bits holds.
    pub fn address(&self, operand: &Operand) -> Option<u64> {
        self.pair(registers(operand)?.0)
    }

    fn set(&mut self, first: u16, words: &[Option<Word>]) {
        for (register, word) in (first..).zip(words) {
            self.perhaps.remove(&register);
            match word {
                Some(word) => self.known.insert(register, *word),
                None => self.known.remove(&register),
            };
        }
    }

    /// Addresses in the object that an instruction reads in another way than to call the one that is known,
    /// to add to it or to copy it.
    pub fn escaping(&self, inst: &Inst) -> BTreeSet<u64> {
        if self.known.is_empty() && self.perhaps.is_empty() {
            return BTreeSet::new();
        }
        let mut found = BTreeSet::new();
        for inst in std::iter::once(inst).chain(inst.second.as_deref()) {
            let name = inst.op.name();
            let followed = match name {
                "s_swappc_b64" | "s_setpc_b64" => {
                    inst.operand(Role::Src0).is_some_and(|o| self.address(o).is_some())
                }
                _ => COPIES.contains(&name) || ADDS.contains(&name) || loads(inst),
            };
            if followed {
                continue;
            }
            let sources = inst.operands.iter().filter(|o| !matches!(o.role, Role::Sdst | Role::Vdst));
            let read =
                sources.filter_map(registers).flat_map(|(first, count)| first..first.saturating_add(count));
            for register in read {
                if let Perhaps::These(addresses) = self.held(register) {
                    found.extend(addresses);
                }
            }
        }
        found
    }

    /// Goes on after an instruction. `stored` is the address in the object that a relocation writes to a
    /// place.
    pub fn step(&mut self, inst: &Inst, stored: impl Fn(u64) -> Option<u64>) {
        let name = inst.op.name();
        let after = inst.address.wrapping_add(u64::from(inst.size));
        let result = inst.operand(Role::Sdst).and_then(registers);
        let source = |role| inst.operand(role);
        let mut carry = if Named::of(inst.op).keeps_scc { self.carry } else { None };
        let copies = COPIES.contains(&name);
        let copied: Vec<Perhaps> = match source(Role::Src0).filter(|_| copies).and_then(registers) {
            Some((first, count)) => (first..first.saturating_add(count)).map(|r| self.held(r)).collect(),
            None => Vec::new(),
        };
        let known: Vec<Option<Word>> = match name {
            "s_getpc_b64" => vec![Some(Word::Low(after)), Some(Word::High(after))],
            "s_swappc_b64" | "s_call_b64" => vec![Some(Word::BackLow(after)), Some(Word::BackHigh(after))],
            "s_mov_b32" | "s_sext_i32_i16" => {
                // The upper half of an address is its own extension.
                let word = source(Role::Src0).and_then(|o| self.word(o));
                let kept = name == "s_mov_b32" || matches!(word, Some(Word::High(_)));
                vec![word.filter(|_| kept)]
            }
            "s_mov_b64" => match source(Role::Src0) {
                Some(Operand { value: Place::Int(value), .. }) => {
                    let wide = i64::from(*value) as u64;
                    vec![Some(Word::Constant(wide as u32)), Some(Word::Constant((wide >> 32) as u32))]
                }
                Some(o) => {
                    let first = registers(o).map(|(first, _)| first);
                    (0..2).map(|i| self.known.get(&(first? + i)).copied()).collect()
                }
                None => vec![None; 2],
            },
            "s_movk_i32" => match source(Role::Simm16).map(|o| o.value) {
                Some(Place::Imm(value)) => vec![Some(Word::Constant(value as i16 as i32 as u32))],
                _ => vec![None],
            },
            "s_add_u32" | "s_add_co_u32" | "s_addc_u32" | "s_add_co_ci_u32" => {
                let word = |role| source(role).and_then(|o| self.word(o));
                let (a, b) = (word(Role::Src0), word(Role::Src1));
                let upper = matches!(name, "s_addc_u32" | "s_add_co_ci_u32");
                let sum = match (a, b) {
                    (Some(Word::Low(at)), Some(Word::Constant(by)))
                    | (Some(Word::Constant(by)), Some(Word::Low(at)))
                        if !upper =>
                    {
                        carry = Some((at, by));
                        Some(Word::Low(at.wrapping_add(u64::from(by))))
                    }
                    (Some(Word::High(at)), Some(Word::Constant(by)))
                    | (Some(Word::Constant(by)), Some(Word::High(at)))
                        if upper =>
                    {
                        let added = self.carry.filter(|(from, _)| *from == at).map(|(_, added)| added);
                        let sum = |low| at.wrapping_add(u64::from(low)).wrapping_add(u64::from(by) << 32);
                        added.map(|low| Word::High(sum(low)))
                    }
                    _ => None,
                };
                vec![sum]
            }
            _ if loads(inst) => {
                let base = source(Role::Sbase).and_then(|o| self.address(o));
                let distance = match source(Role::Offset).or(source(Role::Soffset)).map(|o| o.value) {
                    Some(Place::Imm(value)) => Some(value as u64),
                    None | Some(Place::Off) => Some(0),
                    _ => None,
                };
                let from = base.zip(distance).map(|(base, distance)| base.wrapping_add(distance));
                let count = result.map_or(0, |(_, count)| u64::from(count));
                let word = |i: u64| {
                    let pair = from?.wrapping_add((i & !1) * 4);
                    let address = stored(pair)?;
                    Some(if i & 1 == 0 { Word::Low(address) } else { Word::High(address) })
                };
                (0..count).map(word).collect()
            }
            _ => Vec::new(),
        };
        self.carry = carry;
        let results = inst.operands.iter().filter(|o| {
            matches!(o.role, Role::Sdst | Role::Vdst) || matches!(o.value, Place::Special(Special::Vcc, _))
        });
        for (first, count) in results.filter_map(registers) {
            self.set(first, &vec![None; usize::from(count)]);
        }
        if let Some((first, _)) = result {
            self.set(first, &known);
            for (register, perhaps) in (first..).zip(copied) {
                if perhaps != Perhaps::These(BTreeSet::new()) && !self.known.contains_key(&register) {
                    self.perhaps.insert(register, perhaps);
                }
            }
        }
    }
}
