//! State spaces: the real addresses of their addresses, and casts and tests of generic ones.

use wave::op::Space;
use wave::{Inst, Ty, Value};

use super::names::{self, BLOCK, IMAGE, INDEX, LOCAL, PARAMS, SHARED};
use super::value::Rep;
use super::{Kernel, Result};
use crate::ir::{Bin, Cast, Cmp, Operand, Type};

impl Kernel<'_> {
    /// The scalar that is added to an address in `space` to get the real address.
    pub fn space_base(space: Space) -> Option<Operand> {
        match space {
            Space::Shared => Some(SHARED),
            Space::Param => Some(PARAMS),
            Space::Generic | Space::Global | Space::Const | Space::Local => None,
        }
    }

    /// The real address of lane 0's local memory. Lanes are [`Self::local_size`] bytes apart.
    pub fn local_base(&mut self) -> Operand {
        let shift = i64::from(self.warp().trailing_zeros());
        let thread = self.out.ir.bin_int(Bin::Shl, INDEX, shift);
        let thread = self.out.ir.cast(Cast::ZExt, thread, Type::I64);
        let size = self.local_size();
        let at = self.out.ir.bin(Bin::Mul, thread, size);
        self.out.ir.bin(Bin::Add, LOCAL, at)
    }

    /// Bytes of local memory per thread.
    pub fn local_size(&self) -> Operand {
        self.facts.local_size.map_or(names::LOCAL_SIZE, |size| Operand::i64(size as i64))
    }

    /// Each lane's offset from lane 0's local memory.
    pub fn local_steps(&mut self) -> Operand {
        match self.facts.local_size {
            Some(size) => self.out.ir.lanes(Ty::I64, |l| l as i64 * size as i64),
            None => names::local_steps(self.width()),
        }
    }

    /// The real address of a lane's address, without the part that differs per lane.
    pub fn real(&mut self, address: Operand, space: Space, offset: i64) -> Operand {
        let mut a = address;
        if let Some(base) = Self::space_base(space) {
            a = self.out.ir.bin(Bin::Add, base, a);
        }
        if offset != 0 {
            a = self.out.ir.bin_int(Bin::Add, a, offset);
        }
        a
    }

    /// Every lane's real address.
    pub fn real_vector(&mut self, address: Value, space: Space, offset: i64) -> Operand {
        let mut v = self.vector(address);
        if Self::space_base(space).is_some() {
            let b = self.real(Operand::i64(0), space, offset);
            let b = self.out.ir.splat(b);
            return self.out.ir.bin(Bin::Add, b, v);
        }
        if space == Space::Local {
            let b = self.local_base();
            let b = self.out.ir.splat(b);
            let steps = self.local_steps();
            let b = self.out.ir.bin(Bin::Add, b, steps);
            v = self.out.ir.bin(Bin::Add, b, v);
        }
        if offset != 0 {
            v = self.out.ir.bin_int(Bin::Add, v, offset);
        }
        v
    }

    /// `cvta` in both directions.
    pub fn cast_space(&mut self, inst: &Inst, space: Space, to_generic: bool) -> Result<()> {
        let v = inst.args[0];
        let r = inst.results[0];
        let op = if to_generic { Bin::Add } else { Bin::Sub };
        if let Some(g) = self.guard(v).filter(|_| space != Space::Local) {
            self.cursor.guards.insert(r, g);
        }
        if space == Space::Local {
            let base = self.local_base();
            let base = self.out.ir.splat(base);
            let steps = self.local_steps();
            let base = self.out.ir.bin(Bin::Add, base, steps);
            let a = self.vector(v);
            let w = self.out.ir.bin(op, a, base);
            return self.define(r, Rep::Vector(w));
        }
        let mut rep = self.rep(v);
        let is_pattern = self.facts.uniformity.values[r.index()].is_pattern();
        if matches!(rep, Rep::Pattern { .. }) && !is_pattern || matches!(rep, Rep::Groups { .. }) {
            // The result of a pattern varies because lanes exit the surrounding loop in different rounds; the
            // offsets are those of the operand.
            rep = Rep::Vector(self.vector(v));
        }
        let Some(base) = Self::space_base(space) else {
            return self.define(r, rep);
        };
        let rep = match rep {
            Rep::Uniform(s) => Rep::Uniform(self.out.ir.bin(op, s, base)),
            Rep::Pattern { base: s, guarded } => {
                let s = self.out.ir.bin(op, s, base);
                let guarded = guarded.map(|(g, w)| {
                    let w = w.map(|w| {
                        let b = self.out.ir.splat(base);
                        self.out.ir.bin(op, w, b)
                    });
                    (g, w)
                });
                Rep::Pattern { base: s, guarded }
            }
            Rep::Vector(w) => {
                let b = self.out.ir.splat(base);
                Rep::Vector(self.out.ir.bin(op, w, b))
            }
            groups @ Rep::Groups { .. } => groups,
        };
        self.define(r, rep)
    }

    /// `isspacep`.
    pub fn is_space(&mut self, inst: &Inst, space: Space) -> Result<()> {
        let v = inst.args[0];
        let a = self.vector(v);
        let within = |k: &mut Self, base: Operand, size: Operand| {
            let d = k.out.ir.bin(Bin::Sub, a, base);
            k.out.ir.icmp(Cmp::Ult, d, size)
        };
        let shared = |k: &mut Self| {
            let b = k.out.ir.splat(SHARED);
            let size = k.field(BLOCK, super::offset::SHARED_REACH, Type::I64);
            let size = k.out.ir.splat(size);
            within(k, b, size)
        };
        let local = |k: &mut Self| {
            let base = k.local_base();
            let base = k.out.ir.splat(base);
            let steps = k.local_steps();
            let base = k.out.ir.bin(Bin::Add, base, steps);
            let size = k.local_size();
            let size = k.out.ir.splat(size);
            within(k, base, size)
        };
        let param = |k: &mut Self| {
            let b = k.out.ir.splat(PARAMS);
            let size = Operand::int(k.width().addresses(), i64::from(k.facts.param_size));
            within(k, b, size)
        };
        let w = match space {
            Space::Shared => shared(self),
            Space::Local => local(self),
            Space::Param => param(self),
            Space::Generic => self.width().all(),
            Space::Global => {
                let mut any = shared(self);
                for other in [local(self), param(self)] {
                    any = self.out.ir.bin(Bin::Or, any, other);
                }
                self.out.ir.bin_int(Bin::Xor, any, 1)
            }
            Space::Const => {
                let mut any = self.width().none();
                let constants: Vec<(u64, u64)> = self
                    .facts
                    .module
                    .globals
                    .iter()
                    .filter(|g| g.constant)
                    .map(|g| (g.offset, g.size))
                    .collect();
                for (offset, size) in constants {
                    let b = self.out.ir.bin_int(Bin::Add, IMAGE, offset as i64);
                    let b = self.out.ir.splat(b);
                    let inside = within(self, b, Operand::int(self.width().addresses(), size as i64));
                    any = self.out.ir.bin(Bin::Or, any, inside);
                }
                any
            }
        };
        self.define(inst.results[0], Rep::Vector(w))
    }
}
