//! Data of other lanes in vector instructions (DPP).

use gcn::isa::{Inst, Mod};
use wave::op::{IntCmp, IntOp, Op, SReg, ShflMode, ShiftOp};
use wave::{Ty, Value};

use crate::error::Result;
use crate::registers::{Reg, Registers};

/// Lanes of a row.
const ROW: u32 = 16;
/// Lanes of a bank.
const BANK: u32 = 4;
/// Rows that a row mask tells apart, and banks that a bank mask does.
const GROUPS: u32 = 4;

/// Inactive lanes are read too: the values of the control, which the encodings of eight lanes have in the
/// place of a source.
const FETCH: u32 = 1;
const FETCH_EIGHT: u32 = 234;

impl Registers {
    /// The first source of an instruction: of another lane, if its controls say so. Notes the lanes that the
    /// instruction writes.
    pub fn of_other_lane(&mut self, inst: &Inst, value: Value) -> Result<Value> {
        if let Some(lanes) = inst.control(Mod::Dpp8) {
            return Ok(self.of_eight(inst, lanes, value));
        }
        let Some(control) = inst.control(Mod::DppCtrl) else { return Ok(value) };
        let lane = self.op1(Op::Special(SReg::LaneId), &[]);
        let (from, mut valid) = self.source_lane(control, lane)?;
        let moved = self.of_lane(value, from);
        // A lane that is not active has no data, unless the instruction fetches that too.
        if inst.modifier(Mod::Fi) == 0 {
            let active = self.is_lane_active(from);
            valid = self.both(valid, Some(active));
        }
        let rows = self.masked(inst.modifier(Mod::RowMask), lane, ROW);
        let banks = self.masked(inst.modifier(Mod::BankMask), lane, BANK);
        let written = self.both(rows, banks);
        match valid {
            // Lanes without data read 0, or are not written.
            Some(valid) if inst.modifier(Mod::BoundCtrl) == 1 => {
                self.narrowed = written;
                let zero = self.constant(self.func.ty(moved), 0);
                Ok(self.select(valid, moved, zero))
            }
            valid => {
                self.narrowed = self.both(written, valid);
                Ok(moved)
            }
        }
    }

    /// A permutation of each eight lanes. Lanes that are not active give 0, unless their data are fetched
    /// too.
    fn of_eight(&mut self, inst: &Inst, lanes: u32, value: Value) -> Value {
        let lane = self.op1(Op::Special(SReg::LaneId), &[]);
        let within = self.amount(lane, 8);
        let three = self.word(3);
        let by = self.int(IntOp::Mul, within, three);
        let all = self.word(lanes);
        let chosen = self.shift(ShiftOp::ShrU, all, by);
        let chosen = self.amount(chosen, 8);
        let from = self.with_low(lane, chosen, 8);
        let moved = self.of_lane(value, from);
        if matches!(inst.modifier(Mod::Fi), FETCH | FETCH_EIGHT) {
            return moved;
        }
        let active = self.is_lane_active(from);
        let zero = self.constant(self.func.ty(moved), 0);
        self.select(active, moved, zero)
    }

    /// Whether a lane is active.
    pub fn is_lane_active(&mut self, lane: Value) -> Value {
        let exec = self.get(Reg::Exec);
        let bit = self.shift(ShiftOp::ShrU, exec, lane);
        self.resized(bit, Ty::I1)
    }

    /// A lane's number with other low bits.
    pub fn with_low(&mut self, lane: Value, low: Value, group: u32) -> Value {
        let rest = self.word(!(group - 1));
        let rest = self.int(IntOp::And, lane, rest);
        self.int(IntOp::Or, rest, low)
    }

    /// The lane that a control names, and whether it exists; `None` if it always does.
    fn source_lane(&mut self, control: u32, lane: Value) -> Result<(Value, Option<Value>)> {
        let within = self.amount(lane, ROW);
        let count = self.word(control & (ROW - 1));
        Ok(match control {
            // Two bits for each lane of four.
            0..=0xff => {
                let own = self.amount(lane, 4);
                let one = self.word(1);
                let by = self.shift(ShiftOp::Shl, own, one);
                let all = self.word(control);
                let chosen = self.shift(ShiftOp::ShrU, all, by);
                let chosen = self.amount(chosen, 4);
                (self.with_low(lane, chosen, 4), None)
            }
            // Shifts in a row: to the left, the data come from above.
            0x101..=0x10f => {
                let from = self.int(IntOp::Add, within, count);
                let row = self.word(ROW);
                let exists = self.compare(IntCmp::LtU, from, row);
                (self.int(IntOp::Add, lane, count), Some(exists))
            }
            0x111..=0x11f => {
                let exists = self.compare(IntCmp::GeU, within, count);
                (self.int(IntOp::Sub, lane, count), Some(exists))
            }
            0x121..=0x12f => {
                let from = self.int(IntOp::Sub, within, count);
                let from = self.amount(from, ROW);
                (self.with_low(lane, from, ROW), None)
            }
            // Shifts and rotations of the wave by one lane.
            0x130 | 0x134 | 0x138 | 0x13c => {
                let (one, last) = (self.word(1), self.word(self.lanes - 1));
                let left = control < 0x138;
                let from = self.int(if left { IntOp::Add } else { IntOp::Sub }, lane, one);
                let from = self.int(IntOp::And, from, last);
                let edge = if left { last } else { self.word(0) };
                let exists = self.compare(IntCmp::Ne, lane, edge);
                let rotates = matches!(control, 0x134 | 0x13c);
                (from, if rotates { None } else { Some(exists) })
            }
            0x140 | 0x141 => {
                let ones = self.word(if control == 0x140 { ROW } else { ROW / 2 } - 1);
                (self.int(IntOp::Xor, lane, ones), None)
            }
            // The last lane of the row before, from the second row on; lane 31 in the upper half.
            0x142 | 0x143 => {
                let group = if control == 0x142 { ROW } else { 32 };
                let (first, one) = (self.word(group), self.word(1));
                let exists = self.compare(IntCmp::GeU, lane, first);
                let rest = self.word(!(group - 1));
                let start = self.int(IntOp::And, lane, rest);
                (self.int(IntOp::Sub, start, one), Some(exists))
            }
            0x150..=0x15f => (self.with_low(lane, count, ROW), None),
            0x160..=0x16f => (self.int(IntOp::Xor, lane, count), None),
            other => return Err(format!("dpp_ctrl:{other:#x} has no meaning")),
        })
    }

    /// Whether a lane's group is in a mask; `None` if all are.
    fn masked(&mut self, mask: u32, lane: Value, group: u32) -> Option<Value> {
        if mask == (1 << GROUPS) - 1 {
            return None;
        }
        let by = self.word(group.trailing_zeros());
        let number = self.shift(ShiftOp::ShrU, lane, by);
        let number = self.amount(number, GROUPS);
        let mask = self.word(mask);
        let bit = self.shift(ShiftOp::ShrU, mask, number);
        Some(self.resized(bit, Ty::I1))
    }

    fn both(&mut self, a: Option<Value>, b: Option<Value>) -> Option<Value> {
        match (a, b) {
            (Some(a), Some(b)) => Some(self.int(IntOp::And, a, b)),
            (a, b) => a.or(b),
        }
    }

    /// A lane's value, whether or not it is active.
    pub fn of_lane(&mut self, value: Value, lane: Value) -> Value {
        if self.func.ty(value) == Ty::I64 {
            let (low, high) = self.halves(value);
            let (low, high) = (self.of_lane(low, lane), self.of_lane(high, lane));
            return self.whole(low, high);
        }
        let (last, none) = (self.word(self.lanes - 1), self.constant(self.mask(), 0));
        self.op(Op::Shfl { mode: ShflMode::Idx, sync: false }, &[value, lane, last, none])[0]
    }
}
