//! Values in hand: scalars, patterns, vectors; and their slots.

use std::fmt::Write as _;

use wave::{LANES, Ty, Value};

use super::{Kernel, Result, constant_vector};
use crate::text::{Lanes, int, vector};

/// How a value is held.
#[derive(Clone, Debug, PartialEq)]
pub enum Rep {
    /// One scalar for all lanes.
    Uniform(String),
    /// The first lane's scalar; the shape has the offsets. Guarded: they hold where the condition does, and the vector always.
    Pattern {
        /// The first lane's value.
        base: String,
        /// Condition and vector.
        guarded: Option<(String, String)>,
    },
    /// A value a lane.
    Vector(String),
}

impl Kernel<'_> {
    /// A value as it is held; read from its slot where another block made it.
    pub fn rep(&mut self, v: Value) -> Rep {
        if let Some(r) = self.env.get(&v) {
            return r.clone();
        }
        let (ty, shape) = (self.func_ty(v), self.shapes.values[v.index()].clone());
        let n = v.0;
        let rep = if shape.is_uniform() {
            Rep::Uniform(self.text.def(format!("load {}, ptr %s{n}", int(ty, Lanes::One))))
        } else if shape.is_pattern() {
            let base = self.text.def(format!("load {}, ptr %s{n}", int(ty, Lanes::One)));
            let guarded = shape.guarded.then(|| {
                let g = self.text.def(format!("load i1, ptr %g{n}"));
                let w = self.text.def(format!("load {}, ptr %v{n}", vector(ty)));
                (g, w)
            });
            Rep::Pattern { base, guarded }
        } else {
            Rep::Vector(self.text.def(format!("load {}, ptr %s{n}", vector(ty))))
        };
        self.env.insert(v, rep.clone());
        rep
    }

    /// Declares a value's slots.
    pub fn declare_slot(&mut self, v: Value) {
        let (ty, shape) = (self.func_ty(v), self.shapes.values[v.index()].clone());
        let n = v.0;
        let scalar = shape.is_uniform() || shape.is_pattern();
        let lanes = if scalar { Lanes::One } else { Lanes::Warp };
        let _ = writeln!(self.slots, "  %s{n} = alloca {}, align 64", int(ty, lanes));
        if shape.is_pattern() && shape.guarded {
            let _ = writeln!(self.slots, "  %g{n} = alloca i1");
            let _ = writeln!(self.slots, "  %v{n} = alloca {}, align 64", vector(ty));
        }
    }

    /// The slots of a value as `(name, type)`.
    pub fn slot_parts(&self, v: Value) -> Vec<(String, String)> {
        let (ty, shape) = (self.func_ty(v), &self.shapes.values[v.index()]);
        let n = v.0;
        let scalar = shape.is_uniform() || shape.is_pattern();
        let mut parts = vec![(format!("%s{n}"), int(ty, if scalar { Lanes::One } else { Lanes::Warp }))];
        if shape.is_pattern() && shape.guarded {
            parts.push((format!("%g{n}"), "i1".into()));
            parts.push((format!("%v{n}"), vector(ty)));
        }
        parts
    }

    /// Gives a value its representation, and writes its slot. Where lanes leave a loop around the definition at different times, lanes
    /// that are not in hand keep what they had.
    pub fn define(&mut self, v: Value, rep: Rep) -> Result<()> {
        let rep = self.fit(v, rep);
        if self.slotted.contains(&v) {
            self.write_slot(v, &rep, None);
        }
        self.env.insert(v, rep);
        Ok(())
    }

    /// Converts to what the value's shape says, so that every reader finds the same form.
    pub fn fit(&mut self, v: Value, rep: Rep) -> Rep {
        let shape = self.shapes.values[v.index()].clone();
        let ty = self.func_ty(v);
        match rep {
            Rep::Uniform(s) if !shape.is_uniform() => {
                let w = self.text.splat(ty, &s);
                Rep::Vector(w)
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
                    let guarded = shape.guarded.then(|| ("true".to_string(), w));
                    Rep::Pattern { base, guarded }
                }
            }
            Rep::Pattern { base, guarded: None } if shape.guarded => {
                let w = self.spread(ty, &Rep::Pattern { base: base.clone(), guarded: None }, &shape.offsets);
                Rep::Pattern { base, guarded: Some(("true".into(), w)) }
            }
            other => other,
        }
    }

    /// Writes a value's slots; under a mask, lanes outside of it keep theirs (vectors only).
    pub fn write_slot(&mut self, v: Value, rep: &Rep, mask: Option<&str>) {
        let ty = self.func_ty(v);
        let n = v.0;
        match rep {
            Rep::Uniform(s) => self.text.line(format!("store {} {s}, ptr %s{n}", int(ty, Lanes::One))),
            Rep::Pattern { base, guarded } => {
                self.text.line(format!("store {} {base}, ptr %s{n}", int(ty, Lanes::One)));
                if let Some((g, w)) = guarded {
                    self.text.line(format!("store i1 {g}, ptr %g{n}"));
                    self.text.line(format!("store {} {w}, ptr %v{n}", vector(ty)));
                }
            }
            Rep::Vector(w) => {
                let t = vector(ty);
                let mut new = w.clone();
                let escaping = self.keeps_old_lanes(v);
                let own = self.mask.clone();
                if let Some(m) = mask.or(escaping.then_some(own.as_str())) {
                    let old = self.text.def(format!("load {t}, ptr %s{n}"));
                    new = self.text.def(format!("select <32 x i1> {m}, {t} {w}, {t} {old}"));
                }
                self.text.line(format!("store {t} {new}, ptr %s{n}"));
            }
        }
    }

    fn spread(&mut self, ty: Ty, rep: &Rep, offsets: &[i64; LANES]) -> String {
        match rep {
            Rep::Uniform(s) => self.text.splat(ty, s),
            Rep::Vector(w) | Rep::Pattern { guarded: Some((_, w)), .. } => w.clone(),
            Rep::Pattern { base, guarded: None } => {
                let w = self.text.splat(ty, base);
                let c = constant_vector(ty, offsets);
                self.text.def(format!("add {} {w}, {c}", vector(ty)))
            }
        }
    }

    /// A value as a vector.
    pub fn vector(&mut self, v: Value) -> String {
        let rep = self.rep(v);
        let shape = self.shapes.values[v.index()].clone();
        let ty = self.func_ty(v);
        self.spread(ty, &rep, &shape.offsets)
    }

    /// The first lane's value of a uniform value or a pattern; of a vector, its first element.
    pub fn first_lane(&mut self, v: Value) -> String {
        match self.rep(v) {
            Rep::Uniform(s) | Rep::Pattern { base: s, .. } => s,
            Rep::Vector(w) => {
                let t = vector(self.func_ty(v));
                self.text.def(format!("extractelement {t} {w}, i32 0"))
            }
        }
    }
}
