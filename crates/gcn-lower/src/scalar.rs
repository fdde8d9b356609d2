//! Scalar instructions.

use gcn::isa::{Inst, Role};
use wave::op::{CountOp, IntCmp, IntOp, IntUnOp, Op, ShiftOp};
use wave::{Ty, Value};

use crate::error::Result;
use crate::operand::{immediate, operand};
use crate::registers::{Reg, Registers};

/// Instructions that only concern time, caches or the clock: memory here is coherent, and nothing is in flight.
const NOTHING: &[&str] = &[
    "s_nop",
    "s_waitcnt",
    "s_waitcnt_vscnt",
    "s_waitcnt_vmcnt",
    "s_waitcnt_lgkmcnt",
    "s_waitcnt_expcnt",
    "s_waitcnt_depctr",
    "s_inst_prefetch",
    "s_clause",
    "s_delay_alu",
    "s_setprio",
    "s_icache_inv",
    "s_dcache_inv",
    "s_dcache_wb",
    "s_gl1_inv",
    "s_round_mode",
    "s_code_end",
];

/// The message by which a wave that is about to end gives its VGPRs back (gfx11).
const DEALLOC_VGPRS: i64 = 3;

/// Bitwise operations by the middle of their names: the operation, whether the second source, or the result, is
/// complemented.
const BITWISE: &[(&str, IntOp, bool, bool)] = &[
    ("and", IntOp::And, false, false),
    ("or", IntOp::Or, false, false),
    ("xor", IntOp::Xor, false, false),
    ("andn2", IntOp::And, true, false),
    ("and_not1", IntOp::And, true, false),
    ("orn2", IntOp::Or, true, false),
    ("or_not1", IntOp::Or, true, false),
    ("nand", IntOp::And, false, true),
    ("nor", IntOp::Or, false, true),
    ("xnor", IntOp::Xor, false, true),
];

impl Registers {
    /// Lowers a scalar instruction.
    pub fn scalar(&mut self, inst: &Inst, name: &str) -> Result<()> {
        if name == "s_sendmsg" {
            return match immediate(inst, Role::Simm16)? & 0xff {
                DEALLOC_VGPRS => Ok(()),
                _ => Err("only the message that gives VGPRs back is supported".to_owned()),
            };
        }
        if NOTHING.contains(&name) || self.scalar_comparison(inst, name)? || self.scalar_bits(inst, name)? {
            return Ok(());
        }
        self.scalar_sum(inst, name)
    }

    /// Writes the result, and whether it is not zero to SCC.
    fn result_and_scc(&mut self, inst: &Inst, value: Value) -> Result<()> {
        let flag = self.is_not_zero(value);
        self.set(Reg::Scc, flag);
        self.write_scalar(operand(inst, Role::Sdst)?, value)
    }

    fn combined(&mut self, (op, not_second, not_result): (IntOp, bool, bool), a: Value, b: Value) -> Value {
        let b = if not_second { self.not(b) } else { b };
        let value = self.bitwise(op, a, b);
        if not_result { self.not(value) } else { value }
    }

    /// Bitwise operations, and those on EXEC; whether the name is one.
    fn scalar_bits(&mut self, inst: &Inst, name: &str) -> Result<bool> {
        let found = |middle: &str| {
            let row = BITWISE.iter().find(|row| row.0 == middle)?;
            Some((row.1, row.2, row.3))
        };
        let Some(rest) = name.strip_prefix("s_") else { return Ok(false) };
        let Some(rest) = rest.strip_suffix("_b32").or_else(|| rest.strip_suffix("_b64")) else {
            return Ok(false);
        };
        if let Some(op) = found(rest) {
            let (a, b) = (self.source(inst, Role::Src0)?, self.source(inst, Role::Src1)?);
            let value = self.combined(op, a, b);
            self.result_and_scc(inst, value)?;
            return Ok(true);
        }
        // The source is combined with EXEC, whose old value is kept. `andn1` complements EXEC.
        let (middle, first) = match rest.strip_suffix("_saveexec") {
            Some("andn1" | "and_not0") => ("andn2", true),
            Some("orn1" | "or_not0") => ("orn2", true),
            Some(middle) => (middle, false),
            None => return Ok(false),
        };
        let Some(op) = found(middle) else { return Ok(false) };
        let source = self.source(inst, Role::Src0)?;
        let exec = self.get(Reg::Exec);
        if self.func.ty(source) != self.mask() {
            return Err(format!("a wave of {} lanes has another size of EXEC", self.lanes));
        }
        // `andn2` complements EXEC and `andn1` the source: the pair is in the order (source, EXEC).
        let (a, b) = if first { (exec, source) } else { (source, exec) };
        let value = self.combined(op, a, b);
        self.write_scalar(operand(inst, Role::Sdst)?, exec)?;
        let flag = self.is_not_zero(value);
        self.set(Reg::Scc, flag);
        self.set(Reg::Exec, value);
        Ok(true)
    }

    /// Moves, arithmetic, shifts and fields.
    fn scalar_sum(&mut self, inst: &Inst, name: &str) -> Result<()> {
        let result = |s: &mut Self, value| s.write_scalar(operand(inst, Role::Sdst)?, value);
        let two = |s: &mut Self| Ok::<_, String>((s.source(inst, Role::Src0)?, s.source(inst, Role::Src1)?));
        let constant =
            |s: &mut Self| Ok::<_, String>(s.word(immediate(inst, Role::Simm16)? as i16 as i32 as u32));
        match name {
            "s_mov_b32" | "s_mov_b64" => {
                let value = self.source(inst, Role::Src0)?;
                result(self, value)
            }
            "s_movk_i32" => {
                let value = constant(self)?;
                result(self, value)
            }
            "s_cmov_b32" | "s_cmov_b64" => {
                let (scc, value) = (self.get(Reg::Scc), self.source(inst, Role::Src0)?);
                let old = self.source(inst, Role::Sdst)?;
                let value = self.select(scc, value, old);
                result(self, value)
            }
            "s_cselect_b32" | "s_cselect_b64" => {
                let scc = self.get(Reg::Scc);
                let (a, b) = two(self)?;
                let value = self.select(scc, a, b);
                result(self, value)
            }
            "s_not_b32" | "s_not_b64" => {
                let value = self.source(inst, Role::Src0)?;
                let value = self.not(value);
                self.result_and_scc(inst, value)
            }
            "s_brev_b32" | "s_brev_b64" => {
                let value = self.source(inst, Role::Src0)?;
                let ty = self.func.ty(value);
                let value = self.op1(Op::IntUn(IntUnOp::Brev, ty), &[value]);
                result(self, value)
            }
            "s_abs_i32" => {
                let value = self.source(inst, Role::Src0)?;
                let value = self.op1(Op::IntUn(IntUnOp::Abs, Ty::I32), &[value]);
                self.result_and_scc(inst, value)
            }
            "s_bcnt1_i32_b32" | "s_bcnt1_i32_b64" | "s_bcnt0_i32_b32" | "s_bcnt0_i32_b64" => {
                let mut value = self.source(inst, Role::Src0)?;
                if name.contains("bcnt0") {
                    value = self.not(value);
                }
                let ty = self.func.ty(value);
                let value = self.op1(Op::Count(CountOp::Popc, ty), &[value]);
                self.result_and_scc(inst, value)
            }
            // The lowest bit is the highest of the reversed word; without one the result is -1.
            "s_ff1_i32_b32" | "s_ff1_i32_b64" | "s_ctz_i32_b32" | "s_ctz_i32_b64" => {
                let value = self.source(inst, Role::Src0)?;
                let value = self.lowest_bit(value);
                result(self, value)
            }
            "s_flbit_i32_b32" | "s_flbit_i32_b64" | "s_clz_i32_u32" | "s_clz_i32_u64" => {
                let value = self.source(inst, Role::Src0)?;
                let ty = self.func.ty(value);
                let value = self.op1(Op::Count(CountOp::BfindShU, ty), &[value]);
                result(self, value)
            }
            "s_sext_i32_i8" | "s_sext_i32_i16" => {
                let value = self.source(inst, Role::Src0)?;
                let part = if name.ends_with("i8") { Ty::I8 } else { Ty::I16 };
                let value = self.resized(value, part);
                let value = self.op1(Op::Sext { from: part, to: Ty::I32 }, &[value]);
                result(self, value)
            }
            "s_add_u32" | "s_addc_u32" | "s_sub_u32" | "s_subb_u32" => {
                let (a, b) = two(self)?;
                let carry = match name {
                    "s_addc_u32" | "s_subb_u32" => self.get(Reg::Scc),
                    _ => self.constant(Ty::I1, 0),
                };
                let subtract = name.starts_with("s_sub");
                let op = if subtract { Op::SubBorrow(Ty::I32) } else { Op::AddCarry(Ty::I32) };
                let results = self.op(op, &[a, b, carry]);
                self.set(Reg::Scc, results[1]);
                result(self, results[0])
            }
            "s_add_i32" | "s_sub_i32" | "s_addk_i32" => {
                let (a, b) = if name == "s_addk_i32" {
                    (self.source(inst, Role::Sdst)?, constant(self)?)
                } else {
                    two(self)?
                };
                let subtract = name == "s_sub_i32";
                let value = self.int(if subtract { IntOp::Sub } else { IntOp::Add }, a, b);
                // Overflow: the result's sign is not that of the first operand, and neither is the one of the
                // second where it is subtracted.
                let x = self.int(IntOp::Xor, a, value);
                let y = if subtract { self.int(IntOp::Xor, a, b) } else { self.int(IntOp::Xor, b, value) };
                let both = self.int(IntOp::And, x, y);
                let zero = self.word(0);
                let scc = self.compare(IntCmp::LtS, both, zero);
                self.set(Reg::Scc, scc);
                result(self, value)
            }
            "s_mul_i32" | "s_mul_hi_u32" | "s_mul_hi_i32" => {
                let (a, b) = two(self)?;
                let op = match name {
                    "s_mul_i32" => IntOp::Mul,
                    "s_mul_hi_u32" => IntOp::MulHiU,
                    _ => IntOp::MulHiS,
                };
                let value = self.int(op, a, b);
                result(self, value)
            }
            "s_mulk_i32" => {
                let (a, b) = (self.source(inst, Role::Sdst)?, constant(self)?);
                let value = self.int(IntOp::Mul, a, b);
                result(self, value)
            }
            "s_min_i32" | "s_min_u32" | "s_max_i32" | "s_max_u32" => {
                let (a, b) = two(self)?;
                let (op, cmp) = match name {
                    "s_min_i32" => (IntOp::MinS, IntCmp::LtS),
                    "s_min_u32" => (IntOp::MinU, IntCmp::LtU),
                    "s_max_i32" => (IntOp::MaxS, IntCmp::GtS),
                    _ => (IntOp::MaxU, IntCmp::GtU),
                };
                let scc = self.compare(cmp, a, b);
                self.set(Reg::Scc, scc);
                let value = self.int(op, a, b);
                result(self, value)
            }
            "s_lshl_b32" | "s_lshl_b64" | "s_lshr_b32" | "s_lshr_b64" | "s_ashr_i32" | "s_ashr_i64" => {
                let (a, b) = two(self)?;
                let op = match &name[2..6] {
                    "lshl" => ShiftOp::Shl,
                    "lshr" => ShiftOp::ShrU,
                    _ => ShiftOp::ShrS,
                };
                let value = self.shifted(op, a, b);
                self.result_and_scc(inst, value)
            }
            "s_lshl1_add_u32" | "s_lshl2_add_u32" | "s_lshl3_add_u32" | "s_lshl4_add_u32" => {
                let (a, b) = two(self)?;
                // The carry is out of the sum of 36 bits.
                let (wide_a, wide_b) = (self.resized(a, Ty::I64), self.resized(b, Ty::I64));
                let by = self.word(u32::from(name.as_bytes()[6] - b'0'));
                let shifted = self.shift(ShiftOp::Shl, wide_a, by);
                let sum = self.int(IntOp::Add, shifted, wide_b);
                let (low, high) = self.halves(sum);
                let scc = self.is_not_zero(high);
                self.set(Reg::Scc, scc);
                result(self, low)
            }
            // The source's low bits are the position, bits 16 to 22 the length.
            "s_bfe_u32" | "s_bfe_i32" | "s_bfe_u64" | "s_bfe_i64" => {
                let (a, field) = two(self)?;
                let ty = self.func.ty(a);
                let position = self.amount(field, ty.bits());
                let sixteen = self.word(16);
                let length = self.shift(ShiftOp::ShrU, field, sixteen);
                let length = self.amount(length, 128);
                let signed = name.contains("_i");
                let value = self.op1(Op::Bfe { signed, ty }, &[a, position, length]);
                self.result_and_scc(inst, value)
            }
            "s_bfm_b32" => {
                let (length, position) = two(self)?;
                let one = self.word(1);
                let ones = self.shifted(ShiftOp::Shl, one, length);
                let ones = self.int(IntOp::Sub, ones, one);
                let value = self.shifted(ShiftOp::Shl, ones, position);
                result(self, value)
            }
            "s_bitcmp0_b32" | "s_bitcmp1_b32" => {
                let (a, b) = two(self)?;
                let bit = self.shifted(ShiftOp::ShrU, a, b);
                let mut flag = self.resized(bit, Ty::I1);
                if name == "s_bitcmp0_b32" {
                    flag = self.not(flag);
                }
                self.set(Reg::Scc, flag);
                Ok(())
            }
            "s_pack_ll_b32_b16" | "s_pack_lh_b32_b16" | "s_pack_hh_b32_b16" => {
                let (a, b) = two(self)?;
                let half = |s: &mut Self, value, high: bool| {
                    let by = s.word(if high { 16 } else { 0 });
                    let value = s.shift(ShiftOp::ShrU, value, by);
                    s.resized(value, Ty::I16)
                };
                let a = half(self, a, name == "s_pack_hh_b32_b16");
                let b = half(self, b, name != "s_pack_ll_b32_b16");
                let value = self.op1(Op::Pack { part: Ty::I16, whole: Ty::I32 }, &[a, b]);
                result(self, value)
            }
            _ => Err("this scalar instruction is not supported".to_owned()),
        }
    }

    /// The number of the lowest bit that is set, -1 without one.
    pub fn lowest_bit(&mut self, value: Value) -> Value {
        let ty = self.func.ty(value);
        let reversed = self.op1(Op::IntUn(IntUnOp::Brev, ty), &[value]);
        self.op1(Op::Count(CountOp::BfindShU, ty), &[reversed])
    }
}
