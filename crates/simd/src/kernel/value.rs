//! Representations of values: scalars, patterns and vectors; and their slots.

use wave::types::Fmt;
use wave::{Ty, Value};

use wave::op::Op;

use super::groups::{MOST, ROOM};
use super::names::{self, FRAME, LIVE};
use super::stop::ROW;
use super::variation::Variation;
use super::{Kernel, Result};
use crate::ir::{Access, Bin, Builder, Cast, Lanes, Name, Operand, Type};
use crate::lanewise;

/// How a value is represented.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rep {
    /// One scalar for all lanes.
    Uniform(Operand),
    /// The first lane's scalar; the variation holds the offsets. With a guard, the offsets hold only where
    /// the condition does, while the vector always holds. If the vector is missing, it is computed on demand,
    /// which is rare.
    Pattern {
        /// The first lane's value.
        base: Operand,
        /// The condition and the vector.
        guarded: Option<(Operand, Option<Operand>)>,
    },
    /// The scalars of a few groups' first lanes, with a guard as for a pattern, see [`super::groups`].
    Groups {
        /// The first lanes' values; those beyond the number of groups mean nothing.
        bases: [Operand; MOST],
        /// The condition and the vector.
        guarded: Option<(Operand, Option<Operand>)>,
    },
    /// A value per lane.
    Vector(Operand),
}

/// Alignment of stack slots in bytes, enough for any vector. Frames are aligned so as well.
pub const SLOT_ALIGNMENT: u32 = 64;

/// An access of a vector in a stack slot.
pub const IN_SLOT: Access = Access::aligned(SLOT_ALIGNMENT);

/// Alignment of a frame slot in bytes.
fn alignment(ty: Type) -> u32 {
    ty.bytes().clamp(1, SLOT_ALIGNMENT as usize) as u32
}

impl Kernel<'_> {
    /// A value's representation, loaded from its slot if another block defines it.
    pub fn rep(&mut self, v: Value) -> Rep {
        if let Some(r) = self.cursor.env.get(&v) {
            return *r;
        }
        let (ty, variation) = (self.func_ty(v), &self.facts.uniformity.values[v.index()]);
        let (uniform, pattern, guarded) =
            (variation.is_uniform(), variation.is_pattern(), variation.needs_guard());
        let flat = variation.is_pattern_or_flat();
        if (self.per_lane() || self.facts.in_frame)
            && let Some(&bits) = self.facts.constants.get(&v)
        {
            return Rep::Uniform(self.out.ir.literal(ty, Lanes::One, bits));
        }
        let (one, all) = (Type::scalar(ty), self.width().vector(ty));
        let rep = if uniform {
            Rep::Uniform(self.load_slot(self.value_slot(v), one))
        } else if pattern {
            let base = self.load_slot(self.value_slot(v), one);
            let guarded = guarded.then(|| {
                let g = self.load_slot(names::guard(v.0), Type::I1);
                let w = (!flat).then(|| self.load_slot(names::vector(v.0), all));
                (g, w)
            });
            Rep::Pattern { base, guarded }
        } else if self.is_grouped(v) {
            let count = variation.few_groups().count();
            let mut bases = ROOM;
            for (i, base) in bases.iter_mut().enumerate().take(count) {
                *base = self.load_slot(self.group_slot(v, i), one);
            }
            let guarded = guarded.then(|| {
                let g = self.load_slot(names::guard(v.0), Type::I1);
                (g, Some(self.load_slot(names::vector(v.0), all)))
            });
            Rep::Groups { bases, guarded }
        } else {
            Rep::Vector(self.load_slot(self.value_slot(v), all))
        };
        self.cursor.env.insert(v, rep);
        rep
    }

    /// Allocates a value's slots.
    pub fn declare_slot(&mut self, v: Value) {
        for (name, ty) in self.slot_parts(v) {
            if !self.out.frame_offsets.contains_key(&name) {
                self.place_slot(name, ty);
            }
        }
    }

    /// The name of a value's slot, which other values may share.
    pub fn value_slot(&self, v: Value) -> Name {
        names::slot(self.facts.sharing.slot(v).0)
    }

    /// The name of the slot of a group's scalar.
    fn group_slot(&self, v: Value, group: usize) -> Name {
        if group == 0 { self.value_slot(v) } else { names::group(v.0, group) }
    }

    /// The slots of a value and their types.
    pub fn slot_parts(&self, v: Value) -> Vec<(Name, Type)> {
        let (ty, variation) = (self.func_ty(v), &self.facts.uniformity.values[v.index()]);
        let grouped = self.is_grouped(v);
        let scalar = variation.is_uniform() || variation.is_pattern() || grouped;
        let lanes = if scalar { Lanes::One } else { Lanes::Warp };
        let count = if grouped { variation.few_groups().count() } else { 1 };
        let part = |i| (self.group_slot(v, i), self.width().int(ty, lanes));
        let mut parts: Vec<(Name, Type)> = (0..count).map(part).collect();
        if variation.needs_guard() {
            parts.push((names::guard(v.0), Type::I1));
        }
        if variation.needs_guard() && scalar && !variation.is_pattern_or_flat() {
            parts.push((names::vector(v.0), self.width().vector(ty)));
        }
        parts
    }

    /// The condition under which a value's offsets hold; `None` if they always hold.
    pub fn guard(&mut self, v: Value) -> Option<Operand> {
        if !self.facts.uniformity.values[v.index()].needs_guard() {
            return None;
        }
        if let Rep::Pattern { guarded: Some((g, _)), .. } | Rep::Groups { guarded: Some((g, _)), .. } =
            self.rep(v)
        {
            return Some(g);
        }
        if let Some(g) = self.cursor.guards.get(&v) {
            return Some(*g);
        }
        let g = self.load_slot(names::guard(v.0), Type::I1);
        self.cursor.guards.insert(v, g);
        Some(g)
    }

    /// Defines a value and writes its slot. If lanes exit a surrounding loop in different rounds, inactive
    /// lanes keep their previous values.
    pub fn define(&mut self, v: Value, rep: Rep) -> Result<()> {
        let rep = self.fit(v, rep);
        if self.facts.uniformity.values[v.index()].needs_guard() {
            self.cursor.guards.entry(v).or_insert(Operand::TRUE);
        }
        self.cursor.env.insert(v, rep);
        if self.facts.slotted.contains(&v) {
            let rep = self.complete_for(v, v, rep);
            self.cursor.env.insert(v, rep);
            let guard = self.guard(v);
            self.write_slot(v, &rep, guard, None);
        }
        Ok(())
    }

    /// Writes to the warp's frame. Masks are stored as words, because vectors of bits would be stored bit by
    /// bit.
    pub fn store_home(&mut self, value: Operand, at: usize) {
        let p = self.out.ir.offset(FRAME, at);
        let value = if value.ty().is_mask() { self.bits_of(value) } else { value };
        self.out.ir.store(value, p);
    }

    /// Loads a value from the warp's frame.
    pub fn load_home(&mut self, ty: Type, at: usize) -> Operand {
        let p = self.out.ir.offset(FRAME, at);
        if ty.is_mask() {
            let bits = self.out.ir.load(self.width().bits(), p);
            self.mask_from(bits)
        } else {
            self.out.ir.load(ty, p)
        }
    }

    /// Allocates a slot in the warp's frame or on the stack.
    pub fn place_slot(&mut self, name: Name, ty: Type) {
        if !self.facts.in_frame {
            self.declare(name, self.slot_type(ty), 1);
            return;
        }
        let size = ty.bytes();
        self.out.frame = self.out.frame.next_multiple_of(size.clamp(4, SLOT_ALIGNMENT as usize));
        self.out.frame_offsets.insert(name, self.out.frame);
        self.out.frame += size;
    }

    /// Declares a stack slot and returns its address.
    pub fn declare(&mut self, name: Name, ty: Type, count: usize) -> Operand {
        let (inst, at) = Builder::alloca(name, ty, count, SLOT_ALIGNMENT);
        self.out.slots.push(inst);
        at
    }

    /// A slot's address. The address of a frame slot is computed in each block that uses it, where it folds
    /// into the access. Computed at the function's start, all of them would be live everywhere.
    pub fn slot(&mut self, name: Name) -> Operand {
        match self.out.frame_offsets.get(&name) {
            Some(&at) => self.out.ir.offset(FRAME, at),
            None => Operand::local(Type::PTR, name),
        }
    }

    /// Stores a value to a slot in the slot's own type.
    pub fn set_slot(&mut self, name: Name, value: Operand) {
        let slot = self.slot(name);
        self.out.ir.store(value, slot);
    }

    /// Loads a slot. Frame slots are aligned only as far as the frame is, and masks are stored as words.
    pub fn load_slot(&mut self, name: Name, ty: Type) -> Operand {
        if let Some(row) = self.cursor.row.filter(|_| ty.is_vector() && !ty.is_mask()) {
            if row == ROW {
                self.another_state();
            }
            self.cursor.row = Some(row % ROW + 1);
        }
        let slot = self.slot(name);
        if ty.is_mask() && self.keeps_words() {
            let bits = self.out.ir.load(self.width().bits(), slot);
            return self.mask_from(bits);
        }
        self.out.ir.load_as(ty, slot, self.slot_access(ty))
    }

    /// Stores a value to a slot, masks as words if needed.
    pub fn store_slot(&mut self, name: Name, value: Operand) {
        let slot = self.slot(name);
        if value.ty().is_mask() && self.keeps_words() {
            let bits = self.bits_of(value);
            return self.out.ir.store(bits, slot);
        }
        self.out.ir.store_as(value, slot, self.slot_access(value.ty()));
    }

    fn slot_access(&self, ty: Type) -> Access {
        if self.facts.in_frame { Access::aligned(alignment(ty)) } else { Access::NATURAL }
    }

    /// Whether slots hold masks as words: in the warp's frame, where vectors of bits would be stored bit by
    /// bit, and with AVX2, where a mask is a whole vector.
    pub fn keeps_words(&self) -> bool {
        self.facts.in_frame || !self.facts.avx512
    }

    /// The type of a slot for values of type `ty`.
    pub fn slot_type(&self, ty: Type) -> Type {
        if ty.is_mask() && self.keeps_words() { self.width().bits() } else { ty }
    }

    /// The lanes that have not ended.
    pub fn live(&mut self) -> Operand {
        self.load_slot(LIVE, self.width().mask())
    }

    /// A word of bits as a mask. AVX2 has no mask registers, so there it stays a word until a vector is
    /// needed.
    pub fn mask_from(&mut self, bits: Operand) -> Operand {
        if self.facts.avx512 {
            return self.out.ir.bitcast(bits, self.width().mask());
        }
        self.out.ir.mask(bits)
    }

    /// Adds the vector to the representation of `v` if the slots of `to` hold one.
    pub fn complete_for(&mut self, v: Value, to: Value, rep: Rep) -> Rep {
        match self.facts.uniformity.values[to.index()].is_pattern_or_flat() {
            true => rep,
            false => self.complete(v, rep),
        }
    }

    /// Adds the vector to a guarded pattern, for readers in other blocks.
    pub fn complete(&mut self, v: Value, rep: Rep) -> Rep {
        match rep {
            Rep::Pattern { base, guarded: Some((g, None)) } => {
                let w = self.vector(v);
                Rep::Pattern { base, guarded: Some((g, Some(w))) }
            }
            Rep::Groups { bases, guarded: Some((g, None)) } => {
                let w = self.vector(v);
                Rep::Groups { bases, guarded: Some((g, Some(w))) }
            }
            other => other,
        }
    }

    /// The vector of a guarded pattern that has none: follows from the guard, or repeats the operation on
    /// vectors.
    fn recomputed(&mut self, v: Value) -> Operand {
        let variation = self.facts.uniformity.values[v.index()].clone();
        if let Rep::Pattern { base, guarded: Some((guard, _)) } = self.rep(v)
            && variation.is_pattern_or_flat()
        {
            let ty = self.func_ty(v);
            // LLVM turns a choice between vectors that it splits into a branch for each part.
            let all = self.out.ir.cast(Cast::SExt, guard, Type::scalar(ty));
            let all = self.out.ir.splat(all);
            let offsets = self.out.ir.lanes(ty, |l| variation.offsets[l]);
            let offsets = self.out.ir.bin(Bin::And, all, offsets);
            let base = self.out.ir.splat(base);
            return self.out.ir.bin(Bin::Add, base, offsets);
        }
        let again = self.facts.defs.get(&v).cloned().and_then(|(_, inst)| {
            let args: Vec<Operand> = inst.args.iter().map(|&a| self.vector(a)).collect();
            let (op, space) = match inst.op {
                Op::ToGeneric(space) => (Bin::Add, space),
                Op::FromGeneric(space) => (Bin::Sub, space),
                _ => {
                    let at = inst.results.iter().position(|r| *r == v)?;
                    let list = lanewise::emit(&mut self.emitter(Lanes::Warp), &inst.op, &args).ok()?;
                    return list.into_iter().nth(at);
                }
            };
            let address = args.into_iter().next()?;
            let Some(base) = Self::space_base(space) else { return Some(address) };
            let base = self.out.ir.splat(base);
            Some(self.out.ir.bin(op, address, base))
        });
        again.unwrap_or_else(|| {
            // The operation was emitted on scalars, so this should not fail. If it does, the kernel is
            // interpreted.
            self.out.refused.get_or_insert_with(|| format!("v{} cannot be recomputed on vectors", v.0));
            Operand::poison(self.width().vector(self.func_ty(v)))
        })
    }

    /// Converts a representation to the one that the value's variation prescribes, so that all readers find
    /// the same form.
    pub fn fit(&mut self, v: Value, rep: Rep) -> Rep {
        let variation = self.facts.uniformity.values[v.index()].clone();
        let ty = self.func_ty(v);
        if self.is_grouped(v) {
            return self.fit_groups(ty, &variation, rep);
        }
        match rep {
            Rep::Groups { .. } => {
                let w = self.spread(ty, &rep, &variation);
                Rep::Vector(w)
            }
            Rep::Uniform(s) if !variation.is_uniform() => {
                let w = self.out.ir.splat(s);
                match variation.is_pattern() && variation.is_flat() {
                    true => Rep::Pattern { base: s, guarded: Some((Operand::TRUE, Some(w))) },
                    false => Rep::Vector(w),
                }
            }
            Rep::Pattern { .. } if !variation.is_pattern() => {
                let w = self.spread(ty, &rep, &variation);
                Rep::Vector(w)
            }
            Rep::Vector(w) if variation.is_uniform() || variation.is_pattern() => {
                let base = self.out.ir.extract_lane(w, 0);
                if variation.is_uniform() {
                    Rep::Uniform(base)
                } else {
                    let guarded = variation.needs_guard().then_some((Operand::TRUE, Some(w)));
                    Rep::Pattern { base, guarded }
                }
            }
            Rep::Pattern { base, guarded: None } if variation.is_pattern_or_flat() => {
                Rep::Pattern { base, guarded: Some((Operand::TRUE, None)) }
            }
            Rep::Pattern { base, guarded: None } if variation.needs_guard() => {
                let w = self.spread(ty, &Rep::Pattern { base, guarded: None }, &variation);
                Rep::Pattern { base, guarded: Some((Operand::TRUE, Some(w))) }
            }
            other => other,
        }
    }

    /// The same for a grouped value.
    fn fit_groups(&mut self, ty: Ty, variation: &Variation, rep: Rep) -> Rep {
        if matches!(rep, Rep::Groups { .. }) {
            return rep;
        }
        let w = self.spread(ty, &rep, variation);
        let mut bases = ROOM;
        for (base, lane) in bases.iter_mut().zip(variation.few_groups()) {
            *base = self.out.ir.extract_lane(w, lane);
        }
        Rep::Groups { bases, guarded: variation.needs_guard().then_some((Operand::TRUE, Some(w))) }
    }

    /// Writes a value's slots, and its frame slot if it has one. Under a mask, inactive lanes keep their
    /// values (vectors only).
    pub fn write_slot(&mut self, v: Value, rep: &Rep, guard: Option<Operand>, mask: Option<Operand>) {
        let mut parts = Vec::new();
        match *rep {
            Rep::Uniform(s) => parts.push(s),
            Rep::Pattern { base, guarded } => {
                parts.push(base);
                if let Some((g, w)) = guarded {
                    parts.push(g);
                    parts.extend(w);
                }
            }
            Rep::Groups { bases, guarded } => {
                let count = self.facts.uniformity.values[v.index()].few_groups().count();
                parts.extend(bases.into_iter().take(count));
                if let Some((g, w)) = guarded {
                    parts.push(g);
                    parts.extend(w);
                }
            }
            Rep::Vector(w) => {
                let mut new = w;
                let escaping = self.facts.uniformity.escaping[v.index()];
                let mask = mask.or(escaping.then_some(self.cursor.mask));
                if mask.is_some_and(|m| !self.out.frame_slots.contains_key(&v) && self.kept_by_call(v, w, m))
                {
                    if let (Some(g), Some((slot, _))) = (guard, self.slot_parts(v).into_iter().nth(1)) {
                        self.store_slot(slot, g);
                    }
                    return;
                }
                if let Some(m) = mask {
                    let old = self.load_slot(self.value_slot(v), w.ty());
                    new = self.out.ir.select(m, w, old);
                }
                parts.push(new);
                parts.extend(guard);
            }
        }
        let frame_slots = self.out.frame_slots.get(&v).filter(|h| h.eager).map(|h| h.at.clone());
        for (i, ((slot, _), value)) in self.slot_parts(v).into_iter().zip(parts).enumerate() {
            self.store_slot(slot, value);
            if let Some(at) = frame_slots.as_ref().and_then(|h| h.get(i)) {
                self.store_home(value, *at);
            }
        }
    }

    /// A representation as a vector.
    pub fn spread(&mut self, ty: Ty, rep: &Rep, variation: &Variation) -> Operand {
        match *rep {
            Rep::Uniform(s) => self.out.ir.splat(s),
            Rep::Vector(w)
            | Rep::Pattern { guarded: Some((_, Some(w))), .. }
            | Rep::Groups { guarded: Some((_, Some(w))), .. } => w,
            Rep::Pattern { base, .. } => {
                let w = self.out.ir.splat(base);
                let c = self.out.ir.lanes(ty, |l| variation.offsets[l]);
                self.out.ir.bin(Bin::Add, w, c)
            }
            Rep::Groups { bases, .. } => self.spread_groups(ty, bases, variation),
        }
    }

    /// A value as a vector.
    pub fn vector(&mut self, v: Value) -> Operand {
        let w = self.raw_vector(v);
        self.exact(v, Lanes::Warp, w)
    }

    /// The first lane's value: the scalar of a uniform value or a pattern, or a vector's first element.
    pub fn first_lane(&mut self, v: Value) -> Operand {
        let s = self.raw_first_lane(v);
        self.exact(v, Lanes::One, s)
    }

    /// Like `vector`, for readers to which all NaNs are equal (see [`super::nan`]).
    pub fn raw_vector(&mut self, v: Value) -> Operand {
        let rep = self.rep(v);
        if matches!(
            rep,
            Rep::Pattern { guarded: Some((_, None)), .. } | Rep::Groups { guarded: Some((_, None)), .. }
        ) {
            return self.recomputed(v);
        }
        let variation = self.facts.uniformity.values[v.index()].clone();
        let ty = self.func_ty(v);
        self.spread(ty, &rep, &variation)
    }

    /// Like `first_lane`, for readers to which all NaNs are equal.
    pub fn raw_first_lane(&mut self, v: Value) -> Operand {
        match self.rep(v) {
            Rep::Uniform(s) | Rep::Pattern { base: s, .. } | Rep::Groups { bases: [s, ..], .. } => s,
            Rep::Vector(w) => self.out.ir.extract_lane(w, 0),
        }
    }

    /// The exact bits of a raw value.
    fn exact(&mut self, v: Value, lanes: Lanes, s: Operand) -> Operand {
        if !self.facts.raw.contains(&v) {
            return s;
        }
        self.emitter(lanes).canonical(Fmt::F32, s)
    }

    /// A representation with the value's exact bits.
    pub fn exact_rep(&mut self, v: Value) -> Rep {
        match self.rep(v) {
            Rep::Uniform(s) => Rep::Uniform(self.exact(v, Lanes::One, s)),
            Rep::Vector(w) => Rep::Vector(self.exact(v, Lanes::Warp, w)),
            // Only constants are float patterns, and groups are integers.
            other => other,
        }
    }
}
