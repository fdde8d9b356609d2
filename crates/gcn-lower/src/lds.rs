//! LDS: memory of the block by offsets of 32 bits, and the exchange of data between lanes.

use gcn::isa::{Inst, Mod, Role};
use wave::op::{AtomTy, IntOp, Op, SReg, ShiftOp, Space, VoteMode};
use wave::{Ty, Value};

use crate::access::{self, At, Update, first_vgpr};
use crate::error::Result;
use crate::operand::{immediate, operand};
use crate::registers::{Reg, Registers};

/// What an access of two addresses does at each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pair {
    Load,
    Store,
    Exchange,
}

/// Accesses of two addresses by the ends of their names, before gfx11 and from it on, with the words of each
/// access and the bytes that an offset counts.
pub(crate) const PAIRS: &[([&str; 2], Pair, u8, u32)] = &[
    (["read2_b32", "load_2addr_b32"], Pair::Load, 1, 4),
    (["read2_b64", "load_2addr_b64"], Pair::Load, 2, 8),
    (["read2st64_b32", "load_2addr_stride64_b32"], Pair::Load, 1, 256),
    (["read2st64_b64", "load_2addr_stride64_b64"], Pair::Load, 2, 512),
    (["write2_b32", "store_2addr_b32"], Pair::Store, 1, 4),
    (["write2_b64", "store_2addr_b64"], Pair::Store, 2, 8),
    (["write2st64_b32", "store_2addr_stride64_b32"], Pair::Store, 1, 256),
    (["write2st64_b64", "store_2addr_stride64_b64"], Pair::Store, 2, 512),
    (["wrxchg2_rtn_b32", "storexchg_2addr_rtn_b32"], Pair::Exchange, 1, 4),
    (["wrxchg2_rtn_b64", "storexchg_2addr_rtn_b64"], Pair::Exchange, 2, 8),
    (["wrxchg2st64_rtn_b32", "storexchg_2addr_stride64_rtn_b32"], Pair::Exchange, 1, 256),
    (["wrxchg2st64_rtn_b64", "storexchg_2addr_stride64_rtn_b64"], Pair::Exchange, 2, 512),
];

/// The access of two addresses that the end of a name means.
fn pair_of(rest: &str) -> Option<(Pair, u8, u32)> {
    PAIRS.iter().find(|row| row.0.contains(&rest)).map(|row| (row.1, row.2, row.3))
}

/// Comparing updates whose new value comes before what is compared: those from gfx11 on.
pub(crate) const NEW_FIRST: [&str; 4] = ["cmpstore_b32", "cmpstore_b64", "cmpstore_f32", "cmpstore_f64"];

impl Registers {
    /// An access of LDS.
    pub fn lds(&mut self, inst: &Inst, rest: &str) -> Result<()> {
        if rest == "nop" {
            return Ok(());
        }
        if inst.modifier(Mod::Gds) == 1 {
            return Err("the global data share is not supported".to_owned());
        }
        if self.exchange(inst, rest)? || self.counted(inst, rest)? {
            return Ok(());
        }
        if let Some(access) = access::by_lane(rest) {
            let base = self.get(Reg::M0);
            let mask = self.word(0xffff);
            let base = self.int(IntOp::And, base, mask);
            let (lane, two) = (self.op1(Op::Special(SReg::LaneId), &[]), self.word(2));
            let lane = self.shift(ShiftOp::Shl, lane, two);
            let sum = self.int(IntOp::Add, base, lane);
            let at = self.in_lds(sum, inst.modifier(Mod::Offset));
            return self.access(inst, access, at, Role::Data0, Role::Vdst);
        }
        let address = self.words(operand(inst, Role::Addr)?.value, 1)?[0];
        if let Some((pair, words, unit)) = pair_of(rest) {
            return self.pair(inst, pair, words, unit, address);
        }
        let at = self.in_lds(address, inst.modifier(Mod::Offset));
        if let Some(access) = access::access(rest) {
            return self.access(inst, access, at, Role::Data0, Role::Vdst);
        }
        // Whether it returns the old value is in the operands as well.
        let plain = rest.replace("_rtn", "");
        if let Some((update, ty)) = access::update(&plain) {
            return self.lds_atomic(inst, update, ty, at, NEW_FIRST.contains(&&*plain));
        }
        Err("this LDS instruction is not supported".to_owned())
    }

    /// An address of LDS: the sum has 32 bits, so that a negative address with an offset is one.
    fn in_lds(&mut self, address: Value, offset: u32) -> At {
        let address = self.sum_of_words(address, offset);
        At { space: Space::Shared, address, offset: 0, inside: None }
    }

    /// `new_first`: the new value comes before what is compared.
    fn lds_atomic(&mut self, inst: &Inst, update: Update, ty: AtomTy, at: At, new_first: bool) -> Result<()> {
        let mut data = self.atomic_data(inst, Role::Data0, ty, 1)?;
        if update.operands() == 2 {
            data.extend(self.atomic_data(inst, Role::Data1, ty, 1)?);
        }
        if new_first {
            data.reverse();
        }
        let old = self.atomic(update, ty, at, &data);
        if inst.operand(Role::Vdst).is_some() {
            self.set_old(old, first_vgpr(inst, Role::Vdst)?);
        }
        Ok(())
    }

    /// An access of two addresses, whose offsets count units of so many bytes.
    fn pair(&mut self, inst: &Inst, pair: Pair, words: u8, unit: u32, address: Value) -> Result<()> {
        let offsets = [Mod::Offset0, Mod::Offset1].map(|which| inst.modifier(which) * unit);
        let ty = if words == 2 { AtomTy::B64 } else { AtomTy::B32 };
        let mut data = Vec::new();
        if pair != Pair::Load {
            for role in [Role::Data0, Role::Data1] {
                data.push((
                    self.words(operand(inst, role)?.value, u16::from(words))?,
                    self.atomic_data(inst, role, ty, 1)?,
                ));
            }
        }
        let mut loaded = Vec::new();
        for (i, offset) in offsets.into_iter().enumerate() {
            let at = self.in_lds(address, offset);
            match pair {
                Pair::Load => {
                    loaded.extend((0..i32::from(words)).map(|w| self.load_one(at.plus(w * 4), Ty::I32)))
                }
                Pair::Store => self.store(at, &data[i].0),
                Pair::Exchange => {
                    let old = self.atomic(Update::Atom(wave::op::AtomOp::Exch), ty, at, &data[i].1);
                    if words == 2 {
                        let (low, high) = self.halves(old);
                        loaded.extend([low, high]);
                    } else {
                        loaded.push(old);
                    }
                }
            }
        }
        if pair != Pair::Store {
            let first = first_vgpr(inst, Role::Vdst)?;
            for (number, value) in (first..).zip(loaded) {
                self.set_vector(number, value);
            }
        }
        Ok(())
    }

    /// Counters of a wave: the number of active lanes is added or taken away at the address in M0. Whether
    /// the name is one.
    fn counted(&mut self, inst: &Inst, rest: &str) -> Result<bool> {
        let update = match rest {
            "append" => Update::Atom(wave::op::AtomOp::Add),
            "consume" => Update::Sub,
            _ => return Ok(false),
        };
        let base = self.get(Reg::M0);
        let mask = self.word(0xffff);
        let base = self.int(IntOp::And, base, mask);
        let mut at = self.in_lds(base, inst.modifier(Mod::Offset));
        let exec = self.get(Reg::Exec);
        let ty = self.func.ty(exec);
        let count = self.op1(Op::Count(wave::op::CountOp::Popc, ty), &[exec]);
        // One lane counts for all of them, and all get what it saw.
        let lowest = self.lowest_bit(exec);
        let lane = self.op1(Op::Special(SReg::LaneId), &[]);
        at.inside = Some(self.compare(wave::op::IntCmp::Eq, lane, lowest));
        let old = self.atomic(update, AtomTy::U32, at, &[count]);
        let zero = self.word(0);
        let from = self.int(IntOp::MaxS, lowest, zero);
        let old = self.of_lane(old, from);
        self.set_vector(first_vgpr(inst, Role::Vdst)?, old);
        Ok(true)
    }

    /// The exchange of data between lanes, for which no memory is needed; whether the name is one.
    fn exchange(&mut self, inst: &Inst, rest: &str) -> Result<bool> {
        let shuffles = ["bpermute_b32", "bpermute_fi_b32", "swizzle_b32", "permute_b32"];
        if !shuffles.contains(&rest) {
            return Ok(false);
        }
        let address = self.words(operand(inst, Role::Addr)?.value, 1)?[0];
        if rest == "swizzle_b32" {
            let lane = self.swizzled(immediate(inst, Role::Offset)? as u32)?;
            self.exchanged(inst, address, lane)?;
            return Ok(true);
        }
        let (offset, two) = (self.word(inst.modifier(Mod::Offset)), self.word(2));
        let address = self.int(IntOp::Add, address, offset);
        let lane = self.shift(ShiftOp::ShrU, address, two);
        let data = self.words(operand(inst, Role::Data0)?.value, 1)?[0];
        if rest == "permute_b32" {
            self.pushed(inst, data, lane)?;
        } else {
            self.exchanged(inst, data, lane)?;
        }
        Ok(true)
    }

    /// Data that each active lane sends to another: of several, the highest one's counts; 0 where none sends.
    fn pushed(&mut self, inst: &Inst, data: Value, lane: Value) -> Result<()> {
        let into = first_vgpr(inst, Role::Vdst)?;
        let lane = self.amount(lane, self.lanes);
        // For each lane, the mask of those that send to it.
        let own = self.op1(Op::Special(SReg::LaneId), &[]);
        let mut senders = self.constant(self.mask(), 0);
        for receiver in 0..self.lanes {
            let number = self.word(receiver);
            let sends = self.compare(wave::op::IntCmp::Eq, lane, number);
            let sends = match self.active() {
                Some(active) => self.int(IntOp::And, sends, active),
                None => sends,
            };
            let none = self.constant(self.mask(), 0);
            let mask = self.op1(Op::Vote { mode: VoteMode::Ballot, sync: false }, &[sends, none]);
            let is_own = self.compare(wave::op::IntCmp::Eq, own, number);
            senders = self.select(is_own, mask, senders);
        }
        let ty = self.mask();
        let highest = self.op1(Op::Count(wave::op::CountOp::BfindU, ty), &[senders]);
        let (zero, ones) = (self.word(0), self.word(u32::MAX));
        let none = self.compare(wave::op::IntCmp::Eq, highest, ones);
        let from = self.select(none, zero, highest);
        let value = self.of_lane(data, from);
        let value = self.select(none, zero, value);
        self.set_vector(into, value);
        Ok(())
    }

    /// The lane that a swizzle's offset names: two bits for each lane of four, or masks for and, or and
    /// exclusive or of the lane's number among 32.
    fn swizzled(&mut self, offset: u32) -> Result<Value> {
        let lane = self.op1(Op::Special(SReg::LaneId), &[]);
        let part = |low: u32| offset >> low & 31;
        if offset >> 13 == 7 {
            return Err("swizzles for Fourier transforms are not supported".to_owned());
        }
        let (low, group) = match offset >> 14 {
            2 => {
                let (own, one) = (self.amount(lane, 4), self.word(1));
                let by = self.shift(ShiftOp::Shl, own, one);
                let all = self.word(offset & 0xff);
                let chosen = self.shift(ShiftOp::ShrU, all, by);
                (self.amount(chosen, 4), 4)
            }
            0 | 1 => {
                let (and, or, xor) = (self.word(part(0)), self.word(part(5)), self.word(part(10)));
                let low = self.int(IntOp::And, lane, and);
                let low = self.int(IntOp::Or, low, or);
                (self.int(IntOp::Xor, low, xor), 32)
            }
            // A rotation among 32 lanes; the bits of the lane's number that the mask holds stay.
            _ => {
                let (by, kept) = (part(5), part(0));
                let by = if offset >> 10 & 1 == 0 { by } else { 32 - by };
                let (by, kept_mask, rest) = (self.word(by), self.word(kept), self.word(!kept & 31));
                let moved = self.int(IntOp::Add, lane, by);
                let moved = self.int(IntOp::And, moved, rest);
                let own = self.int(IntOp::And, lane, kept_mask);
                (self.int(IntOp::Or, moved, own), 32)
            }
        };
        Ok(self.with_low(lane, low, group))
    }

    /// The data of another lane; 0 if that is not active. No memory is involved.
    fn exchanged(&mut self, inst: &Inst, data: Value, lane: Value) -> Result<()> {
        let into = first_vgpr(inst, Role::Vdst)?;
        let lane = self.amount(lane, self.lanes);
        let mut value = self.of_lane(data, lane);
        if self.active().is_some() {
            let exec = self.get(Reg::Exec);
            let bit = self.shift(ShiftOp::ShrU, exec, lane);
            let ty = self.func.ty(exec);
            let active = self.op1(Op::Zext { from: ty, to: Ty::I1 }, &[bit]);
            let zero = self.word(0);
            value = self.select(active, value, zero);
        }
        self.set_vector(into, value);
        Ok(())
    }
}
