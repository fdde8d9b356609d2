//! Registers whose numbers are known only when the code runs: a base and an offset in M0.
//!
//! SSA values have no addresses, so an access becomes a choice among the registers from the base on. The
//! offset is the same for all lanes.

use gcn::isa::{Inst, Operand, Role, Value as Place};
use wave::op::{IntCmp, ShiftOp};
use wave::{Ty, Value};

use crate::error::Result;
use crate::lanes::vgpr;
use crate::operand::{immediate, operand};
use crate::registers::{Reg, Registers};

/// The bit of a result in the mode of indexing; those of the sources are below.
pub(crate) const RESULT_INDEXED: u32 = 8;
/// Where M0 has the mode.
const MODE_SHIFT: u32 = 12;
/// The SGPRs that code can use.
const SGPRS: u16 = 102;

impl Registers {
    /// The low byte of M0.
    pub fn index(&mut self) -> Value {
        let m0 = self.get(Reg::M0);
        self.amount(m0, 256)
    }

    /// Whether a source is indexed (gfx9).
    pub fn is_indexed(&self, o: &Operand) -> bool {
        let bit = match o.role {
            Role::Src0 => 1,
            Role::Src1 => 2,
            Role::Src2 => 4,
            _ => 0,
        };
        self.indexed & bit != 0
    }

    /// The value of the register at an offset from another.
    fn chosen(&mut self, registers: &[Reg], offset: Value) -> Value {
        let mut value = match registers.first() {
            Some(first) => self.get(*first),
            None => self.word(0),
        };
        for (number, register) in registers.iter().enumerate().skip(1) {
            let number = self.word(number as u32);
            let is = self.compare(IntCmp::Eq, offset, number);
            let other = self.get(*register);
            value = self.select(is, other, value);
        }
        value
    }

    /// The VGPR at an offset from another. Beyond the last, it is the first.
    pub fn vector_at(&mut self, first: u16, offset: Value) -> Value {
        let registers: Vec<Reg> = (first..self.vgprs.max(first + 1)).map(Reg::Vector).collect();
        self.chosen(&registers, offset)
    }

    /// Writes the VGPR at an offset from another.
    pub fn set_vector_at(&mut self, first: u16, offset: Value, value: Value) {
        for number in first..self.vgprs.max(first + 1) {
            let distance = self.word(u32::from(number - first));
            let is = self.compare(IntCmp::Eq, offset, distance);
            let old = self.get(Reg::Vector(number));
            let chosen = self.select(is, value, old);
            self.set_masked(Reg::Vector(number), chosen);
        }
    }

    /// Scalar instructions of this file; whether the name is one.
    pub fn scalar_index(&mut self, inst: &Inst, name: &str) -> Result<bool> {
        match name {
            "s_set_gpr_idx_on" | "s_set_gpr_idx_idx" => {
                let m0 = self.get(Reg::M0);
                let low = self.source(inst, Role::Src0)?;
                let low = self.amount(low, 256);
                let mut m0 = self.with_low(m0, low, 256);
                if name == "s_set_gpr_idx_on" {
                    self.indexed = immediate(inst, Role::Src1)? as u32 & 15;
                    m0 = self.with_mode(m0);
                }
                self.set(Reg::M0, m0);
            }
            "s_set_gpr_idx_mode" => {
                self.indexed = immediate(inst, Role::Simm16)? as u32 & 15;
                let m0 = self.get(Reg::M0);
                let m0 = self.with_mode(m0);
                self.set(Reg::M0, m0);
            }
            "s_set_gpr_idx_off" => self.indexed = 0,
            "s_movrels_b32" | "s_movrels_b64" => {
                let Place::Sgpr(first) = operand(inst, Role::Src0)?.value else {
                    return Err("the source is no SGPR".to_owned());
                };
                let offset = self.get(Reg::M0);
                let low = self.scalar_at(first, offset);
                let value = if name == "s_movrels_b64" {
                    let high = self.scalar_at(first + 1, offset);
                    self.whole(low, high)
                } else {
                    low
                };
                self.write_scalar(operand(inst, Role::Sdst)?, value)?;
            }
            "s_movreld_b32" | "s_movreld_b64" => {
                let value = self.source(inst, Role::Src0)?;
                let Place::Sgpr(first) = operand(inst, Role::Sdst)?.value else {
                    return Err("the result is no SGPR".to_owned());
                };
                let offset = self.get(Reg::M0);
                if self.func.ty(value) == Ty::I64 {
                    let (low, high) = self.halves(value);
                    self.set_scalar_at(first, offset, low);
                    self.set_scalar_at(first + 1, offset, high);
                } else {
                    self.set_scalar_at(first, offset, value);
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// M0 with the present mode of indexing.
    fn with_mode(&mut self, m0: Value) -> Value {
        let rest = self.word(!(15 << MODE_SHIFT));
        let mode = self.word(self.indexed << MODE_SHIFT);
        let rest = self.int(wave::op::IntOp::And, m0, rest);
        self.int(wave::op::IntOp::Or, rest, mode)
    }

    fn scalar_at(&mut self, first: u16, offset: Value) -> Value {
        let registers: Vec<Reg> = (first..SGPRS.max(first + 1)).map(Reg::Scalar).collect();
        self.chosen(&registers, offset)
    }

    fn set_scalar_at(&mut self, first: u16, offset: Value, value: Value) {
        for number in first..SGPRS.max(first + 1) {
            let distance = self.word(u32::from(number - first));
            let is = self.compare(IntCmp::Eq, offset, distance);
            let old = self.get(Reg::Scalar(number));
            let chosen = self.select(is, value, old);
            self.set(Reg::Scalar(number), chosen);
        }
    }

    /// Vector instructions of this file (from gfx10 on); whether the name is one.
    pub fn vector_index(&mut self, inst: &Inst, name: &str) -> Result<bool> {
        let (from, to) = match name {
            "v_movrels_b32" => (true, false),
            "v_movreld_b32" => (false, true),
            "v_movrelsd_b32" | "v_movrelsd_2_b32" | "v_swaprel_b32" => (true, true),
            _ => return Ok(false),
        };
        let m0 = self.get(Reg::M0);
        // Two of the instructions have an offset for each register.
        let apart = matches!(name, "v_movrelsd_2_b32" | "v_swaprel_b32");
        let (source, result) = if apart {
            let by = self.word(16);
            let high = self.shift(ShiftOp::ShrU, m0, by);
            (self.amount(m0, 256), self.amount(high, 1024))
        } else {
            (m0, m0)
        };
        let target = vgpr(inst, Role::Vdst)?;
        let is_plain =
            inst.modifier(gcn::isa::Mod::DstSel) == 0 && inst.control(gcn::isa::Mod::Src0Sel).is_none();
        if !is_plain
            || inst.control(gcn::isa::Mod::DppCtrl).is_some()
            || inst.control(gcn::isa::Mod::Dpp8).is_some()
        {
            return Err("an indexed register with DPP or SDWA is not supported".to_owned());
        }
        let value = if from {
            self.vector_at(vgpr(inst, Role::Src0)?, source)
        } else {
            self.source(inst, Role::Src0)?
        };
        if name == "v_swaprel_b32" {
            let other = self.vector_at(target, result);
            self.set_vector_at(vgpr(inst, Role::Src0)?, source, other);
        }
        if to {
            self.set_vector_at(target, result, value);
        } else {
            self.set_vector(target, value);
        }
        Ok(true)
    }
}
