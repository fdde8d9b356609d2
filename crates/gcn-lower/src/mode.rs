//! The register MODE: how floats are rounded, and which subnormal numbers are flushed.
//!
//! Its value is known at every place: it begins as the kernel's descriptor says, and instructions set
//! constants. Code that sets it to a value that is not known, or that reaches a place in different modes, is
//! refused.

use gcn::Generation;
use gcn::isa::{Inst, Role};
use gcn::object::{Field, KernelDescriptor};
use wave::op::{FloatMode, IntOp, Op, Round, SReg, ShiftOp};
use wave::types::Fmt;
use wave::{Ty, Value};

use crate::error::Result;
use crate::operand::{immediate, operand};
use crate::registers::{Known, Registers};

/// The number of MODE among the hardware registers.
const MODE: u32 = 1;
/// The place of the wave on the device, before RDNA and since.
const HW_ID: u32 = 4;
const HW_ID1: u32 = 23;
/// The number of the accelerator die.
const XCC_ID: u32 = 20;
/// A counter of cycles.
const SHADER_CYCLES: u32 = 29;
/// Bits of MODE that concern values: rounding and subnormals.
const FLOATS: u32 = 0xff;
/// Both subnormal operands and results are kept.
const KEPT: u32 = 3;

/// The register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Mode {
    bits: u32,
    /// IEEE mode, which excludes output modifiers.
    pub ieee: bool,
}

impl Default for Mode {
    /// To nearest even, subnormals kept.
    fn default() -> Mode {
        Mode { bits: 0xf0, ieee: true }
    }
}

/// A part of a hardware register: its number, the part's position and its length.
fn part(inst: &Inst) -> Result<(u32, u32, u32)> {
    let bits = immediate(inst, Role::Simm16)? as u32;
    Ok((bits & 0x3f, bits >> 6 & 0x1f, (bits >> 11 & 0x1f) + 1))
}

fn mask(position: u32, length: u32) -> u32 {
    (u32::MAX >> (32 - length)) << position
}

impl Mode {
    /// The mode in which a kernel begins.
    pub fn of_kernel(descriptor: &KernelDescriptor) -> Mode {
        let fields = [
            (Field::RoundMode32, 0),
            (Field::RoundMode1664, 2),
            (Field::DenormMode32, 4),
            (Field::DenormMode1664, 6),
        ];
        let bits = fields.iter().fold(0, |all, (field, at)| all | descriptor.get(*field) << at);
        Mode { bits, ieee: descriptor.get(Field::IeeeMode) == 1 }
    }

    fn wide(fmt: Fmt) -> bool {
        matches!(fmt, Fmt::F16 | Fmt::F64)
    }

    fn round(self, fmt: Fmt) -> Round {
        let bits = self.bits >> if Mode::wide(fmt) { 2 } else { 0 };
        match bits & 3 {
            0 => Round::Rn,
            1 => Round::Rp,
            2 => Round::Rm,
            _ => Round::Rz,
        }
    }

    fn subnormals(self, fmt: Fmt) -> u32 {
        self.bits >> if Mode::wide(fmt) { 6 } else { 4 } & KEPT
    }

    /// Whether results of a format may be multiplied by output modifiers.
    pub fn has_output_modifiers(self, fmt: Fmt) -> bool {
        !self.ieee && self.subnormals(fmt) & 2 == 0
    }

    /// Why instructions on floats cannot be lowered in this mode.
    pub fn check(self, fmt: Fmt) -> Result<()> {
        match (self.subnormals(fmt), fmt) {
            (KEPT, _) | (0, Fmt::F32 | Fmt::F16) => Ok(()),
            (kept, _) => Err(format!("subnormals of {} in mode {kept} are not supported", fmt.name())),
        }
    }
}

impl Registers {
    /// The modifiers of an operation in the present mode.
    pub fn float_mode(&self, fmt: Fmt) -> FloatMode {
        let ftz = self.mode.subnormals(fmt) == 0;
        FloatMode { round: self.mode.round(fmt), ftz, ..FloatMode::rn(fmt) }
    }

    /// The value of a register that says where on the device a wave runs, or counts cycles. The number of the
    /// multiprocessor is divided as AMD's devices number their compute units.
    fn position_or_time(&mut self, register: u32) -> Option<Value> {
        let rdna = self.generation >= Generation::Gfx10;
        let fields: &[(u32, u32, u32)] = match register {
            HW_ID if !rdna => &[(0, 4, 8), (4, 3, 13)],
            HW_ID1 if rdna => &[(0, 4, 10), (4, 1, 16), (5, 3, 18)],
            XCC_ID if self.generation == Generation::Gfx940 => &[],
            SHADER_CYCLES if rdna => {
                let cycles = self.op1(Op::Special(SReg::Clock64), &[]);
                let (low, _) = self.halves(cycles);
                return Some(low);
            }
            _ => return None,
        };
        let number = self.op1(Op::Special(SReg::SmId), &[]);
        let mut all = self.word(0);
        for &(from, length, to) in fields {
            let [from, bits, to] = [from, mask(0, length), to].map(|bits| self.word(bits));
            let field = self.shift(ShiftOp::ShrU, number, from);
            let field = self.int(IntOp::And, field, bits);
            let field = self.shift(ShiftOp::Shl, field, to);
            all = self.int(IntOp::Or, all, field);
        }
        Some(all)
    }

    /// Instructions that read and write hardware registers; whether the name is one.
    pub fn hardware_register(&mut self, inst: &Inst, name: &str) -> Result<bool> {
        let constant = match name {
            "s_setreg_imm32_b32" => Some(immediate(inst, Role::Imm)? as u32),
            "s_round_mode" | "s_denorm_mode" => {
                let (position, value) =
                    (if name == "s_round_mode" { 0 } else { 4 }, immediate(inst, Role::Simm16)?);
                self.mode.bits = self.mode.bits & !mask(position, 4) | (value as u32 & 0xf) << position;
                return Ok(true);
            }
            "s_setreg_b32" => {
                let value = self.source(inst, Role::Sdst)?;
                match self.known(value) {
                    Some(Known::Constant(bits)) => Some(bits as u32),
                    _ => None,
                }
            }
            "s_getreg_b32" => {
                let (register, position, length) = part(inst)?;
                let bits = mask(position, length);
                if let Some(whole) = self.position_or_time(register) {
                    let (position, length) = (self.word(position), self.word(mask(0, length)));
                    let value = self.shift(ShiftOp::ShrU, whole, position);
                    let value = self.int(IntOp::And, value, length);
                    let value = self.op(Op::Agree(Ty::I32), &[value])[0];
                    self.write_scalar(operand(inst, Role::Sdst)?, value)?;
                    return Ok(true);
                }
                if register != MODE || bits & !FLOATS != 0 {
                    return Err(format!("hardware register {register} cannot be read"));
                }
                let value = self.word((self.mode.bits & bits) >> position);
                self.write_scalar(operand(inst, Role::Sdst)?, value)?;
                return Ok(true);
            }
            _ => return Ok(false),
        };
        let (register, position, length) = part(inst)?;
        if register != MODE {
            return Err(format!("hardware register {register} cannot be set"));
        }
        let bits = mask(position, length);
        // The rest of the register concerns exceptions and debuggers.
        if bits & FLOATS != 0 {
            let value = constant.ok_or("the float mode is set to a value that is not a constant")?;
            self.mode.bits = self.mode.bits & !bits | value << position & bits;
        }
        Ok(true)
    }
}
