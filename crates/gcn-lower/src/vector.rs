//! Vector instructions.

use gcn::isa::{Inst, Mod, Role};
use wave::op::{FloatOp, IntCmp, IntOp, Op, PrmtMode, ShiftOp};
use wave::types::Fmt;
use wave::{Ty, Value};

use crate::error::Result;
use crate::evaluate::Scope;
use crate::lanes::vgpr;
use crate::operand::operand;
use crate::registers::{Reg, Registers};
use crate::table::{self, Form, Row};

/// The names of the sources.
const SOURCES: [&str; 3] = ["a", "b", "c"];

/// A sum or a difference with a carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Carry {
    Add,
    Sub,
    /// The first source is subtracted from the second.
    Subrev,
}

impl Registers {
    /// Lowers a vector instruction.
    pub fn vector(&mut self, inst: &Inst, name: &str) -> Result<()> {
        let outcome = self.vector_in_lanes(inst, name);
        self.narrowed = None;
        outcome
    }

    fn vector_in_lanes(&mut self, inst: &Inst, name: &str) -> Result<()> {
        if self.division_step(inst, name)? {
            return Ok(());
        }
        if let Some(row) = table::vector().rows.get(name) {
            return self.meant(inst, row);
        }
        if self.vector_comparison(inst)?
            || self.across_lanes(inst, name)?
            || self.matrix(inst, name)?
            || self.vector_index(inst, name)?
        {
            return Ok(());
        }
        self.other_vector(inst, name)
    }

    /// Steps of a division. Compilers divide by a sequence that begins with `v_div_scale` and ends with
    /// `v_div_fmas` and `v_div_fixup`, whose result is the quotient, rounded once.
    fn division_step(&mut self, inst: &Inst, name: &str) -> Result<bool> {
        let (fixes, fmt) = match name {
            "v_div_fmas_f32" => (false, Fmt::F32),
            "v_div_fmas_f64" => (false, Fmt::F64),
            "v_div_fixup_f32" => (true, Fmt::F32),
            "v_div_fixup_f64" => (true, Fmt::F64),
            _ => return Ok(false),
        };
        let form = Form::Float(fmt);
        match fixes {
            false => {
                let Some(row) = table::vector().rows.get(name) else { return Ok(false) };
                let vcc = self.get(Reg::Vcc);
                let flag = self.flag(vcc);
                self.meant(inst, row)?;
                if let Some(division) = self.divisions.get(&flag).copied() {
                    let quotient = self.get(Reg::Vector(vgpr(inst, Role::Vdst)?));
                    self.divisions.insert(quotient, division);
                }
                Ok(true)
            }
            true => {
                let mut of = |number| self.source_as(inst, number, form).map(|values| values[0]);
                let (quotient, denominator, numerator) = (of(0)?, of(1)?, of(2)?);
                // Of doubles, the lower word is the one that was noted.
                let (quotient, _) = match fmt {
                    Fmt::F64 => self.halves(quotient),
                    _ => (quotient, quotient),
                };
                if self.divisions.get(&quotient) != Some(&self.division(denominator, numerator)) {
                    return Ok(false);
                }
                let mode = self.float_mode(fmt);
                let value = self.op1(Op::Float(FloatOp::Div, mode), &[numerator, denominator]);
                let clamp = inst.modifier(Mod::Clamp) == 1;
                let value = self.modified(value, fmt, inst.modifier(Mod::Omod), clamp)?;
                self.write_as(inst, form, &[value])?;
                Ok(true)
            }
        }
    }

    /// An instruction that a row of the table describes.
    fn meant(&mut self, inst: &Inst, row: &Row) -> Result<()> {
        for fmt in row.sources.iter().chain([&row.result]).filter_map(|form| form.fmt()) {
            self.mode.check(fmt)?;
        }
        let clamp = inst.modifier(Mod::Clamp) == 1;
        let fmt = row.result.fmt();
        // Integers are clamped from a result that no bit is missing of.
        // Conversions from floats clamp anyway.
        let of_integers = fmt.is_none() && row.sources.iter().all(|form| form.fmt().is_none());
        let exact = (clamp && of_integers).then(|| row.result.is_signed());
        let elements = if row.result.is_pair() { 2 } else { 1 };
        let mut names: Vec<(&'static str, [Value; 2])> = Vec::new();
        for (number, (name, form)) in SOURCES.into_iter().zip(&row.sources).enumerate() {
            let mut values = self.source_as(inst, number, *form)?;
            if form.is_pair() && elements == 1 {
                let whole = Op::Pack { part: Ty::I16, whole: Ty::I32 };
                values = [self.op1(whole, &values); 2];
            }
            if exact.is_some() {
                values = values.map(|value| self.extended(value, Ty::I64, form.is_signed()));
            }
            names.push((name, values));
        }
        if row.value.names("d") {
            let mut values = self.old_as(inst, row.result)?;
            if let Some(signed) = exact {
                values = values.map(|value| self.extended(value, Ty::I64, signed));
            }
            names.push(("d", values));
        }
        if row.value.names("k") {
            let k = self.source(inst, Role::Imm)?;
            names.push(("k", [self.resized(k, row.result.ty()); 2]));
        }
        if row.value.names("mask") {
            names.push(("mask", [self.mask_source(inst)?; 2]));
        }
        if row.value.names("vcc") {
            let vcc = self.get(Reg::Vcc);
            names.push(("vcc", [self.flag(vcc); 2]));
        }
        let fmt_of_sources = row.sources.iter().find_map(|form| form.fmt());
        let scope_fmt = fmt.or(fmt_of_sources).unwrap_or(Fmt::F32);
        let ty = if exact.is_some() { Ty::I64 } else { row.result.ty() };
        let mut results = Vec::new();
        for element in 0..elements {
            let names = names.iter().map(|(name, values)| (*name, values[element])).collect();
            let scope = Scope { names, fmt: scope_fmt, exact, table: table::vector() };
            let value = self.evaluate(&scope, &row.value, ty)?;
            results.push(match fmt {
                Some(fmt) => self.modified(value, fmt, inst.modifier(Mod::Omod), clamp)?,
                None if exact.is_some() => {
                    let to_signed = row.result.is_signed();
                    let op = Op::IntSat { from: Ty::I64, from_signed: true, to: row.result.ty(), to_signed };
                    if row.result.ty() == Ty::I64 {
                        return Err("clamp of 64 bits is not supported".to_owned());
                    }
                    self.op1(op, &[value])
                }
                None => value,
            });
        }
        self.write_as(inst, row.result, &results)
    }

    /// Bytes of two words, by a byte of the selector for each: 0 to 3 are those of the low word, 4 to 7 those
    /// of the high one, 8 to 11 the signs of the four halves, 12 zeros, and all above ones.
    pub fn permuted_bytes(&mut self, high: Value, low: Value, selector: Value) -> Value {
        let mut nibbles = self.word(0);
        for byte in 0..4 {
            let (position, three, to, four) =
                (self.word(byte * 8), self.word(3), self.word(byte * 4), self.word(4));
            let part = self.op1(Op::Bfe { signed: false, ty: Ty::I32 }, &[selector, position, three]);
            nibbles = self.op1(Op::Bfi(Ty::I32), &[part, nibbles, to, four]);
        }
        let permute = Op::Prmt(PrmtMode::Default);
        let bytes = self.op1(permute.clone(), &[low, high, nibbles]);
        // The signs of bytes 1, 3, 5 and 7; then zeros and three times ones.
        let (signs, rest) = (self.word(0xfdb9), self.word(0xffff_ff00));
        let signs = self.op1(permute.clone(), &[low, high, signs]);
        let others = self.op1(permute, &[signs, rest, nibbles]);
        let (eight, above) = (self.bytes_with(selector, &[3]), self.bytes_with(selector, &[4, 5, 6, 7]));
        let kept = self.not(eight);
        let (bytes, others) = (self.int(IntOp::And, bytes, kept), self.int(IntOp::And, others, eight));
        let value = self.int(IntOp::Or, bytes, others);
        self.int(IntOp::Or, value, above)
    }

    /// Ones in the bytes of a word in which one of these bits is set.
    fn bytes_with(&mut self, word: Value, bits: &[u32]) -> Value {
        let mut any = self.word(0);
        for bit in bits {
            let by = self.word(*bit);
            let shifted = self.shift(ShiftOp::ShrU, word, by);
            any = self.int(IntOp::Or, any, shifted);
        }
        let (lowest, ones) = (self.word(0x0101_0101), self.word(0xff));
        let flags = self.int(IntOp::And, any, lowest);
        self.int(IntOp::Mul, flags, ones)
    }

    /// Instructions that no row of the table describes.
    fn other_vector(&mut self, inst: &Inst, name: &str) -> Result<()> {
        let two = |s: &mut Self| Ok::<_, String>((s.source(inst, Role::Src0)?, s.source(inst, Role::Src1)?));
        let value = match name {
            "v_nop" | "v_clrexcp" | "v_pipeflush" => return Ok(()),
            "v_mqsad_u32_u8" => return self.masked_differences(inst),
            "v_mad_u64_u32" | "v_mad_i64_i32" => {
                let (a, b) = two(self)?;
                let c = self.source(inst, Role::Src2)?;
                let signed = name == "v_mad_i64_i32";
                let extended = |s: &mut Self, v| {
                    let (from, to) = (Ty::I32, Ty::I64);
                    s.op1(if signed { Op::Sext { from, to } } else { Op::Zext { from, to } }, &[v])
                };
                let (a, b) = (extended(self, a), extended(self, b));
                let product = self.int(IntOp::Mul, a, b);
                let sum = self.int(IntOp::Add, product, c);
                // The mask is bit 64 of the sum: the carry, or the sign that no overflow changes.
                let flag = if signed {
                    let (x, y) = (self.int(IntOp::Xor, product, sum), self.int(IntOp::Xor, c, sum));
                    let both = self.int(IntOp::And, x, y);
                    let sign = self.int(IntOp::Xor, both, sum);
                    let zero = self.constant(Ty::I64, 0);
                    self.compare(IntCmp::LtS, sign, zero)
                } else {
                    self.compare(IntCmp::LtU, sum, product)
                };
                let mask = self.ballot(flag);
                self.write_scalar(operand(inst, Role::Sdst)?, mask)?;
                sum
            }
            "v_add_co_u32" => return self.vector_carry(inst, Carry::Add, false),
            "v_addc_co_u32" | "v_add_co_ci_u32" => return self.vector_carry(inst, Carry::Add, true),
            "v_sub_co_u32" => return self.vector_carry(inst, Carry::Sub, false),
            "v_subb_co_u32" | "v_sub_co_ci_u32" => return self.vector_carry(inst, Carry::Sub, true),
            "v_subrev_co_u32" => return self.vector_carry(inst, Carry::Subrev, false),
            "v_subbrev_co_u32" | "v_subrev_co_ci_u32" => {
                return self.vector_carry(inst, Carry::Subrev, true);
            }
            "v_div_scale_f32" | "v_div_scale_f64" => {
                let fmt = if name == "v_div_scale_f64" { Fmt::F64 } else { Fmt::F32 };
                let mut of = |number| self.source_as(inst, number, Form::Float(fmt)).map(|values| values[0]);
                let (a, denominator, numerator) = (of(0)?, of(1)?, of(2)?);
                let (value, flag) = self.divided_scale(fmt, a, denominator, numerator);
                let mask = self.ballot(flag);
                let flag = self.flag(mask);
                let division = self.division(denominator, numerator);
                self.divisions.insert(flag, division);
                self.write_scalar(operand(inst, Role::Sdst)?, mask)?;
                let (omod, clamp) = (inst.modifier(Mod::Omod), inst.modifier(Mod::Clamp) == 1);
                let value = self.modified(value, fmt, omod, clamp)?;
                return self.write_as(inst, Form::Float(fmt), &[value]);
            }
            // Each half of the result is a word of one source.
            "v_pk_mov_b32" => {
                let select = inst.modifier(Mod::OpSel);
                let mut words = Vec::new();
                for number in 0..2 {
                    let [low, high] = self.words_of(inst, number)?;
                    words.push(if select >> number & 1 == 1 { high } else { low });
                }
                return self.write_as(inst, Form::Floats(Fmt::F32), &words);
            }
            "v_dot4_i32_iu8" | "v_dot8_i32_iu4" => {
                let bits = if name == "v_dot4_i32_iu8" { 8 } else { 4 };
                return self.dot_of_parts(inst, bits);
            }
            _ => return Err("this vector instruction is not supported".to_owned()),
        };
        self.write_vector(inst, value, None)
    }

    /// A sum or a difference with a carry, which may take another one.
    fn vector_carry(&mut self, inst: &Inst, carry: Carry, continues: bool) -> Result<()> {
        let (mut a, mut b) = (self.source(inst, Role::Src0)?, self.source(inst, Role::Src1)?);
        if carry == Carry::Subrev {
            (a, b) = (b, a);
        }
        let before = if continues { Some(self.mask_source(inst)?) } else { None };
        let subtract = carry != Carry::Add;
        let (mut value, mask) = self.carried(subtract, a, b, before);
        if inst.modifier(Mod::Clamp) == 1 {
            let (flag, limit) = (self.flag(mask), self.word(if subtract { 0 } else { u32::MAX }));
            value = self.select(flag, limit, value);
        }
        self.write_scalar(self.mask_result(inst)?, mask)?;
        self.write_as(inst, Form::Int(Ty::I32, false), &[value])
    }

    /// `v_mqsad_u32_u8`: four sums of masked differences, at each byte of the first source.
    fn masked_differences(&mut self, inst: &Inst) -> Result<()> {
        let (a, b) = (self.source(inst, Role::Src0)?, self.source(inst, Role::Src1)?);
        let sums = self.words(operand(inst, Role::Src2)?.value, 4)?;
        let first = vgpr(inst, Role::Vdst)?;
        let mut results = Vec::new();
        for (number, c) in sums.into_iter().enumerate() {
            let by = self.word(number as u32 * 8);
            let part = self.shift(ShiftOp::ShrU, a, by);
            let (part, _) = self.halves(part);
            let names = vec![("a", part), ("b", b), ("c", c)];
            let scope = Scope { names, fmt: Fmt::F32, exact: None, table: table::vector() };
            let row = table::vector().rows.get("v_msad_u8").ok_or("a row of the table is missing")?;
            results.push(self.evaluate(&scope, &row.value, Ty::I32)?);
        }
        for (number, value) in results.into_iter().enumerate() {
            self.set_vector(first + number as u16, value);
        }
        Ok(())
    }

    /// Both words of a source of 64 bits.
    fn words_of(&mut self, inst: &Inst, number: usize) -> Result<[Value; 2]> {
        let role = [Role::Src0, Role::Src1][number];
        let value = self.source(inst, role)?;
        if self.func.ty(value) != Ty::I64 {
            return Ok([value; 2]);
        }
        let (low, high) = self.halves(value);
        Ok([low, high])
    }

    /// A sum of products of bytes or nibbles, of which a control says whether they are signed.
    fn dot_of_parts(&mut self, inst: &Inst, bits: u32) -> Result<()> {
        let (a, b) = (self.source(inst, Role::Src0)?, self.source(inst, Role::Src1)?);
        let c = self.source(inst, Role::Src2)?;
        let signs = inst.modifier(Mod::NegLo);
        let (from, to) = (Ty::I32, Ty::I64);
        let mut sum = self.op1(Op::Sext { from, to }, &[c]);
        for part in 0..32 / bits {
            let mut product = None;
            for (number, value) in [a, b].into_iter().enumerate() {
                let (position, length) = (self.word(part * bits), self.word(bits));
                let op = Op::Bfe { signed: signs >> number & 1 == 1, ty: Ty::I32 };
                let factor = self.op1(op, &[value, position, length]);
                product = Some(match product {
                    None => factor,
                    Some(other) => self.int(IntOp::Mul, other, factor),
                });
            }
            if let Some(product) = product {
                let product = self.op1(Op::Sext { from, to }, &[product]);
                sum = self.int(IntOp::Add, sum, product);
            }
        }
        let value = match inst.modifier(Mod::Clamp) {
            1 => self.op1(Op::IntSat { from: to, from_signed: true, to: from, to_signed: true }, &[sum]),
            _ => self.resized(sum, from),
        };
        self.write_as(inst, Form::Int(Ty::I32, true), &[value])
    }
}
