//! Scalar instructions.

use gcn::isa::{Inst, Role};
use wave::op::{CountOp, IntOp, IntUnOp, Op, ShiftOp};
use wave::types::Fmt;
use wave::{Ty, Value};

use crate::error::Result;
use crate::evaluate::Scope;
use crate::operand::{immediate, operand};
use crate::registers::{Reg, Registers};
use crate::table::{self, Expr, Form, Row};

/// Instructions that only concern time, caches or the clock: memory here is coherent, and nothing is in
/// flight.
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
    "s_code_end",
    "s_dcache_inv_vol",
    "s_dcache_wb_vol",
    "s_dcache_discard",
    "s_dcache_discard_x2",
    "s_incperflevel",
    "s_decperflevel",
    "s_ttracedata",
    "s_ttracedata_imm",
    "s_wakeup",
    "s_wait_idle",
    "s_wait_event",
    "s_set_inst_prefetch_distance",
    "s_version",
];

/// The message that interrupts the host, after a call to it.
const INTERRUPT: i64 = 1;

/// The message by which a wave that is about to end gives its VGPRs back (gfx11).
const DEALLOC_VGPRS: i64 = 3;

/// Bitwise operations by the middle of their names: the operation, whether the second source, or the result,
/// is complemented.
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
                // The host looks at what the wave has written anyway.
                INTERRUPT => {
                    self.op(Op::Yield, &[]);
                    Ok(())
                }
                _ => Err("only interrupts and the message that gives VGPRs back are supported".to_owned()),
            };
        }
        if NOTHING.contains(&name) || self.scalar_comparison(inst, name)? || self.scalar_bits(inst, name)? {
            return Ok(());
        }
        if self.hardware_register(inst, name)? || self.scalar_index(inst, name)? {
            return Ok(());
        }
        if matches!(name, "s_add_u32" | "s_addc_u32" | "s_sub_u32" | "s_subb_u32") {
            return self.scalar_carry(inst, name);
        }
        match table::scalar().rows.get(name) {
            Some(row) => self.scalar_row(inst, row),
            None => Err("this scalar instruction is not supported".to_owned()),
        }
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
        // The source is combined with EXEC, whose old or new value is kept. `andn1` complements the source.
        let kept_old = rest.ends_with("_saveexec");
        let (middle, first) = match rest.strip_suffix("_saveexec").or_else(|| rest.strip_suffix("_wrexec")) {
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
        self.write_scalar(operand(inst, Role::Sdst)?, if kept_old { exec } else { value })?;
        let flag = self.is_not_zero(value);
        self.set(Reg::Scc, flag);
        self.set(Reg::Exec, value);
        Ok(true)
    }

    /// Sums and differences with carries. Sums may be halves of addresses.
    fn scalar_carry(&mut self, inst: &Inst, name: &str) -> Result<()> {
        let (a, b) = (self.source(inst, Role::Src0)?, self.source(inst, Role::Src1)?);
        let carry = match name {
            "s_addc_u32" | "s_subb_u32" => self.get(Reg::Scc),
            _ => self.constant(Ty::I1, 0),
        };
        let long = if name == "s_addc_u32" { self.long_sum(a, b, carry) } else { None };
        let (sum, carry) = match long {
            Some(sum) => sum,
            None => {
                let subtract = name.starts_with("s_sub");
                let op = if subtract { Op::SubBorrow(Ty::I32) } else { Op::AddCarry(Ty::I32) };
                let results = self.op(op, &[a, b, carry]);
                (results[0], results[1])
            }
        };
        if name == "s_add_u32" {
            self.note_sum(a, b, sum, carry);
        }
        self.set(Reg::Scc, carry);
        self.write_scalar(operand(inst, Role::Sdst)?, sum)
    }

    /// Instructions that a row of the table describes.
    fn scalar_row(&mut self, inst: &Inst, row: &Row) -> Result<()> {
        let mut names: Vec<(&'static str, Value)> = Vec::new();
        let roles = [("a", Role::Src0), ("b", Role::Src1)];
        for ((name, role), form) in roles.into_iter().zip(&row.sources) {
            let value = self.source(inst, role)?;
            names.push((name, self.resized(value, form.ty())));
        }
        let occurs = |name| row.value.names(name) || row.code.as_ref().is_some_and(|code| code.names(name));
        if occurs("d") {
            names.push(("d", self.source(inst, Role::Sdst)?));
        }
        if occurs("k") {
            let k = immediate(inst, Role::Simm16)? as i16 as i32 as u32;
            names.push(("k", self.word(k)));
        }
        if occurs("scc") {
            names.push(("scc", self.get(Reg::Scc)));
        }
        let ty = row.result.ty();
        let mut scope = Scope { names, fmt: Fmt::F32, exact: None, table: table::scalar() };
        let value = self.evaluate(&scope, &row.value, ty)?;
        if row.result == Form::Code {
            self.set(Reg::Scc, value);
            return Ok(());
        }
        match &row.code {
            None => {}
            Some(Expr::Name("nz")) => return self.result_and_scc(inst, value),
            Some(code) => {
                scope.names.push(("r", value));
                let flag = self.evaluate(&scope, code, ty)?;
                self.set(Reg::Scc, flag);
            }
        }
        self.write_scalar(operand(inst, Role::Sdst)?, value)
    }

    /// Each bit of a word twice.
    pub fn replicated(&mut self, value: Value) -> Value {
        let mut value = self.resized(value, Ty::I64);
        let steps = [
            (16, 0x0000_ffff_0000_ffff_u64),
            (8, 0x00ff_00ff_00ff_00ff),
            (4, 0x0f0f_0f0f_0f0f_0f0f),
            (2, 0x3333_3333_3333_3333),
            (1, 0x5555_5555_5555_5555),
        ];
        for (by, kept) in steps {
            let (by, kept) = (self.word(by), self.constant(Ty::I64, kept));
            let moved = self.shift(ShiftOp::Shl, value, by);
            let both = self.int(IntOp::Or, value, moved);
            value = self.int(IntOp::And, both, kept);
        }
        let one = self.word(1);
        let moved = self.shift(ShiftOp::Shl, value, one);
        self.int(IntOp::Or, value, moved)
    }

    /// The lowest bit of each four: whether one of the four is set.
    fn any_of_four(&mut self, value: Value) -> Value {
        let ty = self.func.ty(value);
        let mut any = value;
        for by in [1, 2] {
            let by = self.word(by);
            let moved = self.shift(ShiftOp::ShrU, any, by);
            any = self.int(IntOp::Or, any, moved);
        }
        let lowest = self.constant(ty, 0x1111_1111_1111_1111);
        self.int(IntOp::And, any, lowest)
    }

    /// A bit for each four bits of which one is set, together at the bottom.
    pub fn quads(&mut self, value: Value) -> Value {
        let ty = self.func.ty(value);
        let mut bits = self.any_of_four(value);
        let steps = [
            (3, 0x0303_0303_0303_0303_u64),
            (6, 0x000f_000f_000f_000f),
            (12, 0x0000_00ff_0000_00ff),
            (24, 0xffff),
        ];
        for (by, kept) in steps {
            if ty == Ty::I32 && by == 24 {
                break;
            }
            let (by, kept) = (self.word(by), self.constant(ty, kept));
            let moved = self.shift(ShiftOp::ShrU, bits, by);
            let both = self.int(IntOp::Or, bits, moved);
            bits = self.int(IntOp::And, both, kept);
        }
        bits
    }

    /// All of each four bits of which one is set.
    pub fn whole_quads(&mut self, value: Value) -> Value {
        let bits = self.any_of_four(value);
        let all = self.constant(self.func.ty(value), 15);
        self.int(IntOp::Mul, bits, all)
    }

    /// The number of the lowest bit that is set, -1 without one.
    pub fn lowest_bit(&mut self, value: Value) -> Value {
        let ty = self.func.ty(value);
        let reversed = self.op1(Op::IntUn(IntUnOp::Brev, ty), &[value]);
        self.op1(Op::Count(CountOp::BfindShU, ty), &[reversed])
    }
}
