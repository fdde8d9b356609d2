//! Vector instructions that read other lanes by number, and exchanges of registers.

use gcn::isa::{Inst, Mod, Operand, Role, Value as Place};
use wave::op::{CountOp, IntCmp, IntOp, Op, SReg, ShiftOp};
use wave::{Ty, Value};

use crate::error::Result;
use crate::operand::operand;
use crate::registers::{ACCUMULATORS, Known, Reg, Registers};

/// Controls of lane permutations, as bits of `op_sel`.
const FETCH_INACTIVE: u32 = 1;
const ZERO_WITHOUT_SOURCE: u32 = 2;

impl Registers {
    /// Lowers an instruction of this file; whether the name is one.
    pub fn across_lanes(&mut self, inst: &Inst, name: &str) -> Result<bool> {
        let two = |s: &mut Self| Ok::<_, String>((s.source(inst, Role::Src0)?, s.source(inst, Role::Src1)?));
        match name {
            "v_readfirstlane_b32" => {
                let value = self.source(inst, Role::Src0)?;
                let exec = self.get(Reg::Exec);
                // Without an active lane it is lane 0 that is read.
                let lane = self.lowest_bit(exec);
                let zero = self.word(0);
                let lane = self.op1(Op::Int(IntOp::MaxS, Ty::I32), &[lane, zero]);
                let value = self.of_lane(value, lane);
                // All lanes hold the same now, which branches rely on.
                let value = self.op(Op::Agree(Ty::I32), &[value])[0];
                self.write_scalar(scalar_result(inst)?, value)?;
            }
            "v_readlane_b32" => {
                let (value, lane) = two(self)?;
                let lane = self.amount(lane, self.lanes);
                let value = self.of_lane(value, lane);
                // All lanes hold the same now, which branches rely on.
                let value = self.op(Op::Agree(Ty::I32), &[value])[0];
                self.write_scalar(scalar_result(inst)?, value)?;
            }
            "v_writelane_b32" => {
                let (value, lane) = two(self)?;
                let lane = self.amount(lane, self.lanes);
                let own = self.op1(Op::Special(SReg::LaneId), &[]);
                let flag = self.compare(IntCmp::Eq, own, lane);
                let number = vgpr(inst, Role::Vdst)?;
                let old = self.get(Reg::Vector(number));
                let value = self.select(flag, value, old);
                self.set(Reg::Vector(number), value);
            }
            "v_mbcnt_lo_u32_b32" | "v_mbcnt_hi_u32_b32" => {
                let (mask, sum) = two(self)?;
                let below = self.lanes_below(name == "v_mbcnt_hi_u32_b32");
                // Without the masks and sums that change nothing, the lane's number is recognised.
                let is = |k: &Self, v, bits| k.known(v) == Some(Known::Constant(bits));
                let all = is(self, mask, 0xffff_ffff);
                let counted = if all { below } else { self.int(IntOp::And, mask, below) };
                let count = self.op1(Op::Count(CountOp::Popc, Ty::I32), &[counted]);
                let value = if is(self, sum, 0) { count } else { self.int(IntOp::Add, count, sum) };
                self.write_vector(inst, value, None)?;
            }
            "v_swap_b32" => {
                let (x, y) = (vgpr(inst, Role::Vdst)?, vgpr(inst, Role::Src0)?);
                let (a, b) = (self.get(Reg::Vector(x)), self.get(Reg::Vector(y)));
                self.set_vector(x, b);
                self.set_vector(y, a);
            }
            "v_permlane16_b32" | "v_permlanex16_b32" => {
                self.permuted_row(inst, name == "v_permlanex16_b32")?
            }
            "v_permlane64_b32" => {
                let mut value = self.source(inst, Role::Src0)?;
                // Waves of 32 lanes have no other half.
                if self.lanes == 64 {
                    let lane = self.op1(Op::Special(SReg::LaneId), &[]);
                    let half = self.word(32);
                    let other = self.int(IntOp::Xor, lane, half);
                    value = self.of_lane(value, other);
                }
                self.write_vector(inst, value, None)?;
            }
            "v_accvgpr_read_b32" => {
                let value = self.source(inst, Role::Src0)?;
                self.write_vector(inst, value, None)?;
            }
            "v_accvgpr_write_b32" | "v_accvgpr_mov_b32" => {
                let value = self.source(inst, Role::Src0)?;
                let Place::Agpr(number) = operand(inst, Role::Vdst)?.value else {
                    return Err("the result is no AGPR".to_owned());
                };
                self.set_masked(Reg::Vector(ACCUMULATORS + number), value);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// A permutation of each 16 lanes, of the own row or the one beside it.
    fn permuted_row(&mut self, inst: &Inst, other_row: bool) -> Result<()> {
        let value = self.source(inst, Role::Src0)?;
        let (low, high) = (self.source(inst, Role::Src1)?, self.source(inst, Role::Src2)?);
        let lane = self.op1(Op::Special(SReg::LaneId), &[]);
        let all = self.whole(low, high);
        let within = self.amount(lane, 16);
        let two = self.word(2);
        let by = self.shift(ShiftOp::Shl, within, two);
        let chosen = self.shift(ShiftOp::ShrU, all, by);
        let chosen = self.amount(chosen, 16);
        let mut from = self.with_low(lane, chosen, 16);
        if other_row {
            let row = self.word(16);
            from = self.int(IntOp::Xor, from, row);
        }
        let mut value = self.of_lane(value, from);
        let controls = inst.modifier(Mod::OpSel);
        if controls & FETCH_INACTIVE == 0 {
            let active = self.is_lane_active(from);
            let without = if controls & ZERO_WITHOUT_SOURCE == 0 {
                let number = vgpr(inst, Role::Vdst)?;
                self.get(Reg::Vector(number))
            } else {
                self.word(0)
            };
            value = self.select(active, value, without);
        }
        self.set_vector(vgpr(inst, Role::Vdst)?, value);
        Ok(())
    }

    /// The lanes below this one, of the low or the high 32.
    fn lanes_below(&mut self, high: bool) -> Value {
        let below = self.op1(Op::Special(SReg::LaneMaskLt), &[]);
        match (self.lanes, high) {
            (32, false) => below,
            (32, true) => self.word(0),
            (_, false) => self.halves(below).0,
            (_, true) => self.halves(below).1,
        }
    }
}

/// The number of an operand that is a VGPR.
pub(crate) fn vgpr(inst: &Inst, role: Role) -> Result<u16> {
    match operand(inst, role)?.value {
        Place::Vgpr(number) => Ok(number),
        _ => Err(format!("{} is no VGPR", role.name())),
    }
}

/// The result of an instruction that reads a lane.
fn scalar_result(inst: &Inst) -> Result<&Operand> {
    operand(inst, Role::Sdst).or_else(|_| operand(inst, Role::Vdst))
}
