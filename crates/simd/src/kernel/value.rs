//! Values in hand: scalars, patterns, vectors; and their slots.

use std::fmt::Write as _;

use wave::types::Fmt;
use wave::{LANES, Ty, Value};

use wave::op::Op;

use super::stop::ROW;
use super::{Kernel, Result};
use crate::lanewise;
use crate::text::{Lanes, constant_vector, int, vector};

/// How a value is held.
#[derive(Clone, Debug, PartialEq)]
pub enum Rep {
    /// One scalar for all lanes.
    Uniform(String),
    /// The first lane's scalar; the shape has the offsets. Guarded: they hold where the condition does, and the vector always; without one it
    /// is computed where it is needed, which is seldom.
    Pattern {
        /// The first lane's value.
        base: String,
        /// Condition and vector.
        guarded: Option<(String, Option<String>)>,
    },
    /// A value a lane.
    Vector(String),
}

/// The type of masks.
pub const MASK: &str = "<32 x i1>";

/// Bytes that a slot in the frame is aligned to.
fn alignment(ty: &str) -> usize {
    super::stop::type_size(ty).clamp(1, 64)
}

impl Kernel<'_> {
    /// A value as it is held; read from its slot where another block made it.
    pub fn rep(&mut self, v: Value) -> Rep {
        if let Some(r) = self.env.get(&v) {
            return r.clone();
        }
        let (ty, shape) = (self.func_ty(v), self.shapes.values[v.index()].clone());
        let n = v.0;
        if (self.per_lane || self.in_frame)
            && let Some(&bits) = self.constants.get(&v)
        {
            return Rep::Uniform(crate::text::literal(ty, Lanes::One, bits));
        }
        let rep = if shape.is_uniform() {
            Rep::Uniform(self.load_slot(&format!("%s{n}"), &int(ty, Lanes::One)))
        } else if shape.is_pattern() {
            let base = self.load_slot(&format!("%s{n}"), &int(ty, Lanes::One));
            let guarded = shape.needs_guard().then(|| {
                let g = self.load_slot(&format!("%g{n}"), "i1");
                let w = self.load_slot(&format!("%v{n}"), &vector(ty));
                (g, Some(w))
            });
            Rep::Pattern { base, guarded }
        } else {
            Rep::Vector(self.load_slot(&format!("%s{n}"), &vector(ty)))
        };
        self.env.insert(v, rep.clone());
        rep
    }

    /// Declares a value's slots.
    pub fn declare_slot(&mut self, v: Value) {
        self.slot_parts(v).iter().for_each(|(name, ty)| self.place_slot(name, ty));
    }

    /// The slots of a value as `(name, type)`.
    pub fn slot_parts(&self, v: Value) -> Vec<(String, String)> {
        let (ty, shape) = (self.func_ty(v), &self.shapes.values[v.index()]);
        let n = v.0;
        let scalar = shape.is_uniform() || shape.is_pattern();
        let mut parts = vec![(format!("%s{n}"), int(ty, if scalar { Lanes::One } else { Lanes::Warp }))];
        if shape.needs_guard() {
            parts.push((format!("%g{n}"), "i1".into()));
        }
        if shape.needs_guard() && scalar {
            parts.push((format!("%v{n}"), vector(ty)));
        }
        parts
    }

    /// The condition under which a value's offsets hold; `None` where they do anyway.
    pub fn guard(&mut self, v: Value) -> Option<String> {
        if !self.shapes.values[v.index()].needs_guard() {
            return None;
        }
        if let Rep::Pattern { guarded: Some((g, _)), .. } = self.rep(v) {
            return Some(g);
        }
        if let Some(g) = self.guards.get(&v) {
            return Some(g.clone());
        }
        let g = self.load_slot(&format!("%g{}", v.0), "i1");
        self.guards.insert(v, g.clone());
        Some(g)
    }

    /// Gives a value its representation, and writes its slot. Where lanes leave a loop around the definition at different times, lanes
    /// that are not in hand keep what they had.
    pub fn define(&mut self, v: Value, rep: Rep) -> Result<()> {
        let rep = self.fit(v, rep);
        if self.shapes.values[v.index()].needs_guard() {
            self.guards.entry(v).or_insert_with(|| "true".into());
        }
        self.env.insert(v, rep.clone());
        if self.slotted.contains(&v) {
            let rep = self.complete(v, rep);
            self.env.insert(v, rep.clone());
            let guard = self.guard(v);
            self.write_slot(v, &rep, guard, None);
        }
        Ok(())
    }

    /// Writes to the warp's frame; masks as words of bits, since vectors of bits go to memory one by one.
    pub fn store_home(&mut self, ty: &str, value: &str, at: usize) {
        let p = self.text.def(format!("getelementptr i8, ptr %frame, i64 {at}"));
        if ty == MASK {
            let bits = self.bits_of(value);
            self.text.line(format!("store i32 {bits}, ptr {p}"));
        } else {
            self.text.line(format!("store {ty} {value}, ptr {p}"));
        }
    }

    /// Reads it again.
    pub fn load_home(&mut self, ty: &str, at: usize) -> String {
        let p = self.text.def(format!("getelementptr i8, ptr %frame, i64 {at}"));
        if ty == MASK {
            let bits = self.text.def(format!("load i32, ptr {p}"));
            self.mask_from(&bits)
        } else {
            self.text.def(format!("load {ty}, ptr {p}"))
        }
    }

    /// Gives a slot a place in the warp's frame, or on the stack.
    pub fn place_slot(&mut self, name: &str, ty: &str) {
        if !self.in_frame {
            let ty = self.slot_type(ty);
            let _ = writeln!(self.slots, "  {name} = alloca {ty}, align 64");
            return;
        }
        let size = super::stop::type_size(ty);
        self.frame = self.frame.next_multiple_of(size.clamp(4, 64));
        self.places.insert(name.into(), self.frame);
        self.frame += size;
    }

    /// A slot's address. One in the frame is computed in each block that asks, where it becomes a part of the access: from the function's
    /// start, all of them would be alive everywhere.
    pub fn slot(&mut self, name: &str) -> String {
        match self.places.get(name) {
            Some(at) => self.text.def(format!("getelementptr i8, ptr %frame, i64 {at}")),
            None => name.into(),
        }
    }

    /// Text that writes a value to a slot, for one place of the function.
    pub fn set_at_start(&self, name: &str, ty: &str, value: &str) -> String {
        match self.places.get(name) {
            Some(at) => {
                let p = format!("{name}.{}", value.trim_start_matches('%'));
                format!("  {p} = getelementptr i8, ptr %frame, i64 {at}\n  store {ty} {value}, ptr {p}\n")
            }
            None => format!("  store {ty} {value}, ptr {name}\n"),
        }
    }

    /// Reads a slot; one in the warp's frame is no more aligned than the frame, and masks lie there as words.
    pub fn load_slot(&mut self, name: &str, ty: &str) -> String {
        if let Some(row) = self.row.filter(|_| ty.starts_with('<') && ty != MASK) {
            if row == ROW {
                self.another_state();
            }
            self.row = Some(row % ROW + 1);
        }
        let slot = self.slot(name);
        match (self.in_frame, ty) {
            (_, MASK) if self.keeps_words() => {
                let bits = self.text.def(format!("load i32, ptr {slot}"));
                self.mask_from(&bits)
            }
            (true, _) => self.text.def(format!("load {ty}, ptr {slot}, align {}", alignment(ty))),
            (false, _) => self.text.def(format!("load {ty}, ptr {slot}")),
        }
    }

    /// Writes it.
    pub fn store_slot(&mut self, name: &str, ty: &str, value: &str) {
        let slot = self.slot(name);
        match (self.in_frame, ty) {
            (_, MASK) if self.keeps_words() => {
                let bits = self.bits_of(value);
                self.text.line(format!("store i32 {bits}, ptr {slot}"));
            }
            (true, _) => self.text.line(format!("store {ty} {value}, ptr {slot}, align {}", alignment(ty))),
            (false, _) => self.text.line(format!("store {ty} {value}, ptr {slot}")),
        }
    }

    /// Whether slots hold masks as words: in the warp's frame, where vectors of bits would go to memory one by one, and for AVX2, whose masks are
    /// whole vectors.
    pub fn keeps_words(&self) -> bool {
        self.in_frame || !self.avx512
    }

    /// What a slot for a value of an LLVM type holds.
    pub fn slot_type<'t>(&self, ty: &'t str) -> &'t str {
        if ty == MASK && self.keeps_words() { "i32" } else { ty }
    }

    /// The lanes that have not ended.
    pub fn live(&mut self) -> String {
        self.load_slot("%live", MASK)
    }

    /// A word of bits as a mask; for AVX2, which has no masks, one that stays a word where a vector is not asked for.
    pub fn mask_from(&mut self, bits: &str) -> String {
        if self.avx512 {
            return self.text.def(format!("bitcast i32 {bits} to {MASK}"));
        }
        self.text.mask(bits)
    }

    /// With its vector, for whoever reads it in another block.
    pub fn complete(&mut self, v: Value, rep: Rep) -> Rep {
        match rep {
            Rep::Pattern { base, guarded: Some((g, None)) } => {
                let w = self.vector(v);
                Rep::Pattern { base, guarded: Some((g, Some(w))) }
            }
            other => other,
        }
    }

    /// The vector of a guarded pattern that has none in hand: its operation again, on vectors.
    fn recomputed(&mut self, v: Value) -> String {
        let again = self.defs.get(&v).cloned().and_then(|(_, inst)| {
            let args: Vec<String> = inst.args.iter().map(|&a| self.vector(a)).collect();
            let (op, space) = match inst.op {
                Op::ToGeneric(space) => ("add", space),
                Op::FromGeneric(space) => ("sub", space),
                _ => {
                    let at = inst.results.iter().position(|r| *r == v)?;
                    let list = lanewise::emit(&mut self.emitter(Lanes::Warp), &inst.op, &args).ok()?;
                    return list.into_iter().nth(at);
                }
            };
            let address = args.into_iter().next()?;
            let Some(base) = Self::space_base(space) else { return Some(address) };
            let base = self.text.splat(Ty::I64, base);
            Some(self.text.def(format!("{op} <32 x i64> {address}, {base}")))
        });
        again.unwrap_or_else(|| {
            // It was emitted once on scalars, so it can be; should that not hold, the kernel is interpreted.
            self.refused.get_or_insert_with(|| format!("v{} cannot be computed again", v.0));
            "poison".into()
        })
    }

    /// Converts to what the value's shape says, so that every reader finds the same form.
    pub fn fit(&mut self, v: Value, rep: Rep) -> Rep {
        let shape = self.shapes.values[v.index()].clone();
        let ty = self.func_ty(v);
        match rep {
            Rep::Uniform(s) if !shape.is_uniform() => {
                let w = self.text.splat(ty, &s);
                match shape.is_pattern() && shape.is_flat() {
                    true => Rep::Pattern { base: s, guarded: Some(("true".into(), Some(w))) },
                    false => Rep::Vector(w),
                }
            }
            Rep::Pattern { .. } if !shape.is_pattern() => {
                let w = self.spread(ty, &rep, &shape.offsets);
                Rep::Vector(w)
            }
            Rep::Vector(w) if shape.is_uniform() || shape.is_pattern() => {
                let base = self.text.def(format!("extractelement {} {w}, i32 0", vector(ty)));
                if shape.is_uniform() {
                    Rep::Uniform(base)
                } else {
                    let guarded = shape.needs_guard().then(|| ("true".to_string(), Some(w)));
                    Rep::Pattern { base, guarded }
                }
            }
            Rep::Pattern { base, guarded: None } if shape.needs_guard() => {
                let w = self.spread(ty, &Rep::Pattern { base: base.clone(), guarded: None }, &shape.offsets);
                Rep::Pattern { base, guarded: Some(("true".into(), Some(w))) }
            }
            other => other,
        }
    }

    /// Writes a value's slots, and its home in the warp's frame if it has one; under a mask, lanes outside of it keep theirs (vectors only).
    pub fn write_slot(&mut self, v: Value, rep: &Rep, guard: Option<String>, mask: Option<&str>) {
        let ty = self.func_ty(v);
        let mut parts = Vec::new();
        match rep {
            Rep::Uniform(s) => parts.push(s.clone()),
            Rep::Pattern { base, guarded } => {
                parts.push(base.clone());
                if let Some((g, w)) = guarded {
                    parts.push(g.clone());
                    parts.extend(w.clone());
                }
            }
            Rep::Vector(w) => {
                let t = vector(ty);
                let mut new = w.clone();
                let escaping = self.shapes.escaping[v.index()];
                let own = self.mask.clone();
                let mask = mask.or(escaping.then_some(own.as_str()));
                if mask.is_some_and(|m| !self.homes.contains_key(&v) && self.kept_by_call(v, w, m)) {
                    if let (Some(g), Some((slot, t))) = (guard, self.slot_parts(v).into_iter().nth(1)) {
                        self.store_slot(&slot, &t, &g);
                    }
                    return;
                }
                if let Some(m) = mask {
                    let old = self.load_slot(&format!("%s{}", v.0), &t);
                    new = self.text.def(format!("select <32 x i1> {m}, {t} {w}, {t} {old}"));
                }
                parts.push(new);
                parts.extend(guard);
            }
        }
        let homes = self.homes.get(&v).filter(|h| h.eager).map(|h| h.at.clone());
        for (i, ((slot, t), value)) in self.slot_parts(v).into_iter().zip(parts).enumerate() {
            self.store_slot(&slot, &t, &value);
            if let Some(at) = homes.as_ref().and_then(|h| h.get(i)) {
                self.store_home(&t, &value, *at);
            }
        }
    }

    /// A representation as a vector.
    pub fn spread(&mut self, ty: Ty, rep: &Rep, offsets: &[i64; LANES]) -> String {
        match rep {
            Rep::Uniform(s) => self.text.splat(ty, s),
            Rep::Vector(w) | Rep::Pattern { guarded: Some((_, Some(w))), .. } => w.clone(),
            Rep::Pattern { base, .. } => {
                let w = self.text.splat(ty, base);
                let c = constant_vector(ty, offsets);
                self.text.def(format!("add {} {w}, {c}", vector(ty)))
            }
        }
    }

    /// A value as a vector.
    pub fn vector(&mut self, v: Value) -> String {
        let w = self.raw_vector(v);
        self.exact(v, Lanes::Warp, w)
    }

    /// The first lane's value of a uniform value or a pattern; of a vector, its first element.
    pub fn first_lane(&mut self, v: Value) -> String {
        let s = self.raw_first_lane(v);
        self.exact(v, Lanes::One, s)
    }

    /// As `vector`, for readers to whom all NaNs are the same (see [`super::nan`]).
    pub fn raw_vector(&mut self, v: Value) -> String {
        let rep = self.rep(v);
        if matches!(rep, Rep::Pattern { guarded: Some((_, None)), .. }) {
            return self.recomputed(v);
        }
        let shape = self.shapes.values[v.index()].clone();
        let ty = self.func_ty(v);
        self.spread(ty, &rep, &shape.offsets)
    }

    /// As `first_lane`, for readers to whom all NaNs are the same.
    pub fn raw_first_lane(&mut self, v: Value) -> String {
        match self.rep(v) {
            Rep::Uniform(s) | Rep::Pattern { base: s, .. } => s,
            Rep::Vector(w) => {
                let t = vector(self.func_ty(v));
                self.text.def(format!("extractelement {t} {w}, i32 0"))
            }
        }
    }

    /// The bits that a raw value stands for.
    fn exact(&mut self, v: Value, lanes: Lanes, s: String) -> String {
        if !self.raw.contains(&v) {
            return s;
        }
        self.emitter(lanes).canonical(Fmt::F32, &s)
    }

    /// A representation that shows the value's exact bits.
    pub fn exact_rep(&mut self, v: Value) -> Rep {
        match self.rep(v) {
            Rep::Uniform(s) => Rep::Uniform(self.exact(v, Lanes::One, s)),
            Rep::Vector(w) => Rep::Vector(self.exact(v, Lanes::Warp, w)),
            // No float has a pattern other than a constant's.
            pattern => pattern,
        }
    }
}
