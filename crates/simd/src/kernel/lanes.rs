//! Accesses that the processor does one lane at a time: a loop over the active lanes, lowest first.
//!
//! Without an instruction for them, LLVM would emit a branch for each of the 32 lanes, and its time grows
//! with the square of a kernel's blocks.

use wave::Ty;

use super::Kernel;
use super::memory::Access;
use super::value::IN_SLOT;
use crate::ir::{Access as How, Bin, Cast, Cmp, Name, Operand, Type};

/// Number of lane-by-lane accesses in a kernel from which each becomes a loop.
const LOOPS_FROM: usize = 32;

/// A stack slot shared by several points of the code: its purpose, its number among those, the element type,
/// and the number of elements.
pub type SharedSlot = (&'static str, usize, Type, usize);

/// The lane of the current iteration.
pub struct Lane(Operand);

impl Kernel<'_> {
    /// A stack slot that is written and read at one point of the code, so that all points can share it.
    pub fn shared_slot(&mut self, purpose: &'static str, which: usize, ty: Type, count: usize) -> Operand {
        let slot = (purpose, which, ty, count);
        let known = self.out.shared_slots.iter().position(|r| *r == slot);
        let name = Name::numbered(purpose, known.unwrap_or(self.out.shared_slots.len()));
        if known.is_some() {
            return Operand::local(Type::PTR, name);
        }
        self.out.shared_slots.push(slot);
        self.declare(name, ty, count)
    }

    /// Stores a vector, one element per lane, in such a slot.
    pub fn put(&mut self, purpose: &'static str, which: usize, value: Operand) -> Operand {
        let slot = self.shared_slot(purpose, which, value.ty(), 1);
        self.out.ir.store_as(value, slot, IN_SLOT);
        slot
    }

    /// The address of a lane's element in such a slot.
    pub fn element(&mut self, slot: Operand, ty: Ty, lane: &Lane) -> Operand {
        self.out.ir.element(Type::bits_of(ty.bytes() as usize * 8), slot, lane.0)
    }

    /// Loads a lane's element from such a slot.
    pub fn get(&mut self, slot: Operand, ty: Ty, lane: &Lane) -> Operand {
        let p = self.element(slot, ty, lane);
        self.out.ir.load(Type::bits_of(ty.bits() as usize), p)
    }

    /// Loads the element of a lane whose number is a constant. A plain load would become an extraction from
    /// the vector, which takes more instructions.
    pub fn get_from_memory(&mut self, slot: Operand, ty: Ty, lane: &Lane) -> Operand {
        let p = self.element(slot, ty, lane);
        self.out.ir.load_as(Type::bits_of(ty.bits() as usize), p, How { volatile: true, ..How::NATURAL })
    }

    /// Runs `body` for all lanes one after the other, without a loop. All must be active.
    pub fn lane_after_lane(
        &mut self,
        mut body: impl FnMut(&mut Self, &Lane) -> super::Result<()>,
    ) -> super::Result<()> {
        (0..self.width().lanes()).try_for_each(|l| body(self, &Lane(Operand::i64(l as i64))))
    }

    /// Runs `body` for each active lane. At least one lane must be active.
    pub fn each_lane<R>(&mut self, body: impl FnOnce(&mut Self, &Lane) -> R) -> R {
        let word = self.width().bits();
        let left = self.scratch(word);
        let bits = self.mask_bits();
        self.out.ir.store(bits, left);
        let (one, end) = (self.out.ir.fresh("lane"), self.out.ir.fresh("lanes.end"));
        self.out.ir.br(one);
        self.out.ir.label(one);
        let m = self.out.ir.load(word, left);
        let lane = self.first_set(m);
        let lane = Lane(self.out.ir.cast(Cast::ZExt, lane, Type::I64));
        let done = body(self, &lane);
        let minus = self.out.ir.bin_int(Bin::Sub, m, 1);
        let next = self.out.ir.bin(Bin::And, m, minus);
        self.out.ir.store(next, left);
        let more = self.out.ir.icmp_int(Cmp::Ne, next, 0);
        self.out.ir.br_if(more, one, end);
        self.out.ir.label(end);
        done
    }

    /// Runs `body` for every lane, active or not.
    pub fn every_lane(
        &mut self,
        body: impl FnOnce(&mut Self, &Lane) -> super::Result<()>,
    ) -> super::Result<()> {
        let next = self.scratch(Type::I64);
        self.out.ir.store(Operand::i64(0), next);
        let (one, end) = (self.out.ir.fresh("lane"), self.out.ir.fresh("lanes.end"));
        self.out.ir.br(one);
        self.out.ir.label(one);
        let lane = Lane(self.out.ir.load(Type::I64, next));
        body(self, &lane)?;
        let following = self.out.ir.bin_int(Bin::Add, lane.0, 1);
        self.out.ir.store(following, next);
        let more = self.out.ir.icmp_int(Cmp::Ult, following, self.width().lanes() as i64);
        self.out.ir.br_if(more, one, end);
        self.out.ir.label(end);
        Ok(())
    }

    /// Whether such accesses become loops: the processor has no instruction for them, and the kernel has
    /// many. A few are unrolled, so that the values of consecutive accesses stay in registers.
    pub fn in_loops(&self, ty: Ty, stores: bool) -> bool {
        !self.has_instruction(ty, stores) && self.facts.by_lanes > LOOPS_FROM
    }

    /// Loads each lane's elements from its own address.
    pub fn load_each(&mut self, a: Access, addresses: Operand) -> Vec<Operand> {
        let t = self.width().vector(a.ty);
        let at = self.put("addresses", 0, addresses);
        let slots: Vec<Operand> = (0..a.count).map(|i| self.put("values", i, Operand::zero(t))).collect();
        self.each_lane(|k, lane| {
            let from = k.get(at, Ty::I64, lane);
            for (i, &slot) in slots.iter().enumerate() {
                let v = k.load_plain(a, from, i);
                let to = k.element(slot, a.ty, lane);
                k.out.ir.store(v, to);
            }
        });
        slots.iter().map(|r| self.out.ir.load_as(t, *r, IN_SLOT)).collect()
    }

    /// Stores each lane's elements to its own address.
    pub fn store_each(&mut self, a: Access, addresses: Operand, values: &[Operand]) {
        let at = self.put("addresses", 0, addresses);
        let slots: Vec<Operand> = values.iter().enumerate().map(|(i, v)| self.put("values", i, *v)).collect();
        self.each_lane(|k, lane| {
            let to = k.get(at, Ty::I64, lane);
            for (i, &slot) in slots.iter().enumerate() {
                let v = k.get(slot, a.ty, lane);
                k.store_plain(a, to, i, v);
            }
        });
    }
}
