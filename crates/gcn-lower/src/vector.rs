//! Vector instructions.

use gcn::isa::{Inst, Mod, Role, Value as Place};
use wave::op::{
    CountOp, FloatMode, FloatOp, FloatUnOp, IntCmp, IntOp, IntUnOp, Op, PrmtMode, Round, SReg, ShiftOp,
};
use wave::types::Fmt;
use wave::{Ty, Value};

use crate::error::Result;
use crate::operand::operand;
use crate::registers::{Reg, Registers};

/// How a result comes from the sources, in their order.
#[derive(Clone, Copy)]
enum Meaning {
    /// The source itself.
    Move,
    /// An integer operation of the first two sources.
    Int(IntOp),
    /// The same with the sources exchanged.
    IntRev(IntOp),
    /// The second source shifted by the first.
    ShiftRev(ShiftOp),
    /// Two integer operations: the first of sources 0 and 1, the second of that and source 2.
    Chain(IntOp, IntOp),
    /// A shift of source 0 by source 1, then an operation with source 2.
    ShiftThen(ShiftOp, IntOp),
    /// An operation of sources 0 and 1, then a shift by source 2.
    ThenShift(IntOp, ShiftOp),
    /// An operation of the low 24 bits of the sources, signed or not, and whether source 2 is added.
    Int24 { signed: bool, high: bool, add: bool },
    /// A float operation.
    Float(FloatOp, Fmt),
    /// The same with the sources exchanged.
    FloatRev(FloatOp, Fmt),
    /// A product plus the third source, rounded once.
    Fma(Fmt),
    /// A product plus the old result, rounded once.
    Fmac(Fmt),
    /// A product, rounded, plus the third source.
    Mad(Fmt),
    /// A product, rounded, plus the old result.
    Mac(Fmt),
    /// A float operation of one source.
    FloatUn(FloatUnOp, Fmt),
    /// Rounded to an integral value.
    Rounded(Round, Fmt),
    /// From an integer of 32 bits.
    FromInt { signed: bool, to: Fmt },
    /// To an integer of 32 bits: towards zero, clamped, 0 for a NaN.
    ToInt { signed: bool, from: Fmt },
    /// Between floats.
    Convert(Fmt, Fmt),
    /// Two integer operations that make the middle of three sources: minimum and maximum.
    Middle(IntOp, IntOp),
    /// Two float operations of three sources, the first of sources 0 and 1.
    Float3(FloatOp, Fmt),
    /// A byte of the source, as a float.
    FromByte(u32),
}

use Meaning::*;

/// Instructions whose result is a function of their sources.
const MEANINGS: &[(&str, Meaning)] = &[
    ("v_mov_b32", Move),
    ("v_add_u32", Int(IntOp::Add)),
    ("v_add_nc_u32", Int(IntOp::Add)),
    ("v_add_nc_i32", Int(IntOp::Add)),
    ("v_sub_u32", Int(IntOp::Sub)),
    ("v_sub_nc_u32", Int(IntOp::Sub)),
    ("v_sub_nc_i32", Int(IntOp::Sub)),
    ("v_subrev_u32", IntRev(IntOp::Sub)),
    ("v_subrev_nc_u32", IntRev(IntOp::Sub)),
    ("v_mul_lo_u32", Int(IntOp::Mul)),
    ("v_mul_hi_u32", Int(IntOp::MulHiU)),
    ("v_mul_hi_i32", Int(IntOp::MulHiS)),
    ("v_mul_i32_i24", Int24 { signed: true, high: false, add: false }),
    ("v_mul_u32_u24", Int24 { signed: false, high: false, add: false }),
    ("v_mul_hi_i32_i24", Int24 { signed: true, high: true, add: false }),
    ("v_mul_hi_u32_u24", Int24 { signed: false, high: true, add: false }),
    ("v_mad_i32_i24", Int24 { signed: true, high: false, add: true }),
    ("v_mad_u32_u24", Int24 { signed: false, high: false, add: true }),
    ("v_min_i32", Int(IntOp::MinS)),
    ("v_max_i32", Int(IntOp::MaxS)),
    ("v_min_u32", Int(IntOp::MinU)),
    ("v_max_u32", Int(IntOp::MaxU)),
    ("v_and_b32", Int(IntOp::And)),
    ("v_or_b32", Int(IntOp::Or)),
    ("v_xor_b32", Int(IntOp::Xor)),
    ("v_lshlrev_b32", ShiftRev(ShiftOp::Shl)),
    ("v_lshrrev_b32", ShiftRev(ShiftOp::ShrU)),
    ("v_ashrrev_i32", ShiftRev(ShiftOp::ShrS)),
    ("v_lshlrev_b64", ShiftRev(ShiftOp::Shl)),
    ("v_lshrrev_b64", ShiftRev(ShiftOp::ShrU)),
    ("v_ashrrev_i64", ShiftRev(ShiftOp::ShrS)),
    ("v_add3_u32", Chain(IntOp::Add, IntOp::Add)),
    ("v_or3_b32", Chain(IntOp::Or, IntOp::Or)),
    ("v_xor3_b32", Chain(IntOp::Xor, IntOp::Xor)),
    ("v_and_or_b32", Chain(IntOp::And, IntOp::Or)),
    ("v_xad_u32", Chain(IntOp::Xor, IntOp::Add)),
    ("v_min3_i32", Chain(IntOp::MinS, IntOp::MinS)),
    ("v_min3_u32", Chain(IntOp::MinU, IntOp::MinU)),
    ("v_max3_i32", Chain(IntOp::MaxS, IntOp::MaxS)),
    ("v_max3_u32", Chain(IntOp::MaxU, IntOp::MaxU)),
    ("v_lshl_add_u32", ShiftThen(ShiftOp::Shl, IntOp::Add)),
    ("v_lshl_or_b32", ShiftThen(ShiftOp::Shl, IntOp::Or)),
    ("v_add_lshl_u32", ThenShift(IntOp::Add, ShiftOp::Shl)),
    ("v_add_f32", Float(FloatOp::Add, Fmt::F32)),
    ("v_sub_f32", Float(FloatOp::Sub, Fmt::F32)),
    ("v_subrev_f32", FloatRev(FloatOp::Sub, Fmt::F32)),
    ("v_mul_f32", Float(FloatOp::Mul, Fmt::F32)),
    ("v_min_f32", Float(FloatOp::Min, Fmt::F32)),
    ("v_max_f32", Float(FloatOp::Max, Fmt::F32)),
    ("v_fma_f32", Fma(Fmt::F32)),
    ("v_fmac_f32", Fmac(Fmt::F32)),
    ("v_mad_f32", Mad(Fmt::F32)),
    ("v_mac_f32", Mac(Fmt::F32)),
    ("v_add_f64", Float(FloatOp::Add, Fmt::F64)),
    ("v_mul_f64", Float(FloatOp::Mul, Fmt::F64)),
    ("v_min_f64", Float(FloatOp::Min, Fmt::F64)),
    ("v_max_f64", Float(FloatOp::Max, Fmt::F64)),
    ("v_fma_f64", Fma(Fmt::F64)),
    ("v_fmac_f64", Fmac(Fmt::F64)),
    ("v_rcp_f32", FloatUn(FloatUnOp::Rcp, Fmt::F32)),
    ("v_rcp_iflag_f32", FloatUn(FloatUnOp::Rcp, Fmt::F32)),
    ("v_sqrt_f32", FloatUn(FloatUnOp::Sqrt, Fmt::F32)),
    ("v_trunc_f32", Rounded(Round::Rz, Fmt::F32)),
    ("v_floor_f32", Rounded(Round::Rm, Fmt::F32)),
    ("v_ceil_f32", Rounded(Round::Rp, Fmt::F32)),
    ("v_rndne_f32", Rounded(Round::Rn, Fmt::F32)),
    ("v_trunc_f64", Rounded(Round::Rz, Fmt::F64)),
    ("v_floor_f64", Rounded(Round::Rm, Fmt::F64)),
    ("v_ceil_f64", Rounded(Round::Rp, Fmt::F64)),
    ("v_rndne_f64", Rounded(Round::Rn, Fmt::F64)),
    ("v_med3_i32", Middle(IntOp::MinS, IntOp::MaxS)),
    ("v_med3_u32", Middle(IntOp::MinU, IntOp::MaxU)),
    ("v_min3_f32", Float3(FloatOp::Min, Fmt::F32)),
    ("v_max3_f32", Float3(FloatOp::Max, Fmt::F32)),
    ("v_cvt_f32_ubyte0", FromByte(0)),
    ("v_cvt_f32_ubyte1", FromByte(1)),
    ("v_cvt_f32_ubyte2", FromByte(2)),
    ("v_cvt_f32_ubyte3", FromByte(3)),
    ("v_cvt_f32_i32", FromInt { signed: true, to: Fmt::F32 }),
    ("v_cvt_f32_u32", FromInt { signed: false, to: Fmt::F32 }),
    ("v_cvt_f64_i32", FromInt { signed: true, to: Fmt::F64 }),
    ("v_cvt_f64_u32", FromInt { signed: false, to: Fmt::F64 }),
    ("v_cvt_i32_f32", ToInt { signed: true, from: Fmt::F32 }),
    ("v_cvt_u32_f32", ToInt { signed: false, from: Fmt::F32 }),
    ("v_cvt_i32_f64", ToInt { signed: true, from: Fmt::F64 }),
    ("v_cvt_u32_f64", ToInt { signed: false, from: Fmt::F64 }),
    ("v_cvt_f64_f32", Convert(Fmt::F32, Fmt::F64)),
    ("v_cvt_f32_f64", Convert(Fmt::F64, Fmt::F32)),
    ("v_cvt_f32_f16", Convert(Fmt::F16, Fmt::F32)),
    ("v_cvt_f16_f32", Convert(Fmt::F32, Fmt::F16)),
];

impl Registers {
    /// Lowers a vector instruction.
    pub fn vector(&mut self, inst: &Inst, name: &str) -> Result<()> {
        let outcome = self.vector_in_lanes(inst, name);
        self.narrowed = None;
        outcome
    }

    fn vector_in_lanes(&mut self, inst: &Inst, name: &str) -> Result<()> {
        if inst.modifier(Mod::OpSel) != 0 {
            return Err("op_sel is not supported yet".to_owned());
        }
        if self.vector_comparison(inst, name)? {
            return Ok(());
        }
        if let Some((_, meaning)) = MEANINGS.iter().find(|row| row.0 == name) {
            return self.meant(inst, *meaning);
        }
        self.other_vector(inst, name)
    }

    /// A source of the type of a float format.
    fn float_source(&mut self, inst: &Inst, role: Role, fmt: Fmt) -> Result<Value> {
        let value = self.source(inst, role)?;
        Ok(self.resized(value, fmt.ty()))
    }

    /// The old value of the result.
    fn old_result(&mut self, inst: &Inst, fmt: Fmt) -> Result<Value> {
        let words = self.words(operand(inst, Role::Vdst)?.value, fmt.ty().bits() as u16 / 32)?;
        Ok(match words[..] {
            [low, high] => self.whole(low, high),
            _ => words[0],
        })
    }

    fn meant(&mut self, inst: &Inst, meaning: Meaning) -> Result<()> {
        let two = |s: &mut Self| Ok::<_, String>((s.source(inst, Role::Src0)?, s.source(inst, Role::Src1)?));
        let (value, fmt) = match meaning {
            Move => (self.source(inst, Role::Src0)?, None),
            Int(op) => {
                let (a, b) = two(self)?;
                (self.int(op, a, b), None)
            }
            IntRev(op) => {
                let (a, b) = two(self)?;
                (self.int(op, b, a), None)
            }
            ShiftRev(op) => {
                let (amount, value) = two(self)?;
                (self.shifted(op, value, amount), None)
            }
            Chain(first, second) => {
                let (a, b) = two(self)?;
                let c = self.source(inst, Role::Src2)?;
                let value = self.int(first, a, b);
                (self.int(second, value, c), None)
            }
            ShiftThen(shift, op) => {
                let (a, b) = two(self)?;
                let c = self.source(inst, Role::Src2)?;
                let value = self.shifted(shift, a, b);
                (self.int(op, value, c), None)
            }
            ThenShift(op, shift) => {
                let (a, b) = two(self)?;
                let c = self.source(inst, Role::Src2)?;
                let value = self.int(op, a, b);
                (self.shifted(shift, value, c), None)
            }
            Int24 { signed, high, add } => {
                let (a, b) = two(self)?;
                let (a, b) = (self.low_24(a, signed), self.low_24(b, signed));
                let op = match (high, signed) {
                    (false, _) => IntOp::Mul,
                    (true, true) => IntOp::MulHiS,
                    (true, false) => IntOp::MulHiU,
                };
                let mut value = self.int(op, a, b);
                if add {
                    let c = self.source(inst, Role::Src2)?;
                    value = self.int(IntOp::Add, value, c);
                }
                (value, None)
            }
            Float(op, fmt) | FloatRev(op, fmt) => {
                let a = self.float_source(inst, Role::Src0, fmt)?;
                let b = self.float_source(inst, Role::Src1, fmt)?;
                let args = if matches!(meaning, FloatRev(..)) { [b, a] } else { [a, b] };
                (self.op1(Op::Float(op, FloatMode::rn(fmt)), &args), Some(fmt))
            }
            Fma(fmt) | Fmac(fmt) | Mad(fmt) | Mac(fmt) => {
                let a = self.float_source(inst, Role::Src0, fmt)?;
                let b = self.float_source(inst, Role::Src1, fmt)?;
                let c = match meaning {
                    Fma(_) | Mad(_) => self.float_source(inst, Role::Src2, fmt)?,
                    _ => self.old_result(inst, fmt)?,
                };
                let mode = FloatMode::rn(fmt);
                let value = if matches!(meaning, Fma(_) | Fmac(_)) {
                    self.op1(Op::Fma(mode), &[a, b, c])
                } else {
                    let product = self.op1(Op::Float(FloatOp::Mul, mode), &[a, b]);
                    self.op1(Op::Float(FloatOp::Add, mode), &[product, c])
                };
                (value, Some(fmt))
            }
            FloatUn(op, fmt) => {
                let a = self.float_source(inst, Role::Src0, fmt)?;
                (self.op1(Op::FloatUn(op, FloatMode::rn(fmt)), &[a]), Some(fmt))
            }
            Rounded(round, fmt) => {
                let a = self.float_source(inst, Role::Src0, fmt)?;
                let mode = FloatMode { round, ..FloatMode::rn(fmt) };
                (self.op1(Op::FloatUn(FloatUnOp::RoundInt, mode), &[a]), Some(fmt))
            }
            FromInt { signed, to } => {
                let a = self.source(inst, Role::Src0)?;
                let op = Op::IntToFloat { from: Ty::I32, signed, mode: FloatMode::rn(to) };
                (self.op1(op, &[a]), Some(to))
            }
            ToInt { signed, from } => {
                let a = self.float_source(inst, Role::Src0, from)?;
                let op = Op::FloatToInt { from, to: Ty::I32, signed, round: Round::Rz, ftz: false };
                let value = self.op1(op, &[a]);
                // The wave operation gives another result for a NaN of 64 bits.
                let number =
                    self.op1(Op::FloatCmp { cmp: wave::op::FloatCmp::Num, fmt: from, ftz: false }, &[a, a]);
                let zero = self.word(0);
                (self.select(number, value, zero), None)
            }
            Convert(from, to) => {
                let a = self.float_source(inst, Role::Src0, from)?;
                let op = Op::FloatToFloat { from, mode: FloatMode::rn(to), relu: false };
                (self.op1(op, &[a]), Some(to))
            }
            Middle(min, max) => {
                let (a, b) = two(self)?;
                let c = self.source(inst, Role::Src2)?;
                // The greater of the lesser two, and of the lesser of the greater and the third.
                let (low, high) = (self.int(min, a, b), self.int(max, a, b));
                let high = self.int(min, high, c);
                (self.int(max, low, high), None)
            }
            Float3(op, fmt) => {
                let mut value = self.float_source(inst, Role::Src0, fmt)?;
                for role in [Role::Src1, Role::Src2] {
                    let other = self.float_source(inst, role, fmt)?;
                    value = self.op1(Op::Float(op, FloatMode::rn(fmt)), &[value, other]);
                }
                (value, Some(fmt))
            }
            FromByte(byte) => {
                let a = self.source(inst, Role::Src0)?;
                let (position, length) = (self.word(byte * 8), self.word(8));
                let byte = self.op1(Op::Bfe { signed: false, ty: Ty::I32 }, &[a, position, length]);
                let op = Op::IntToFloat { from: Ty::I32, signed: false, mode: FloatMode::rn(Fmt::F32) };
                (self.op1(op, &[byte]), Some(Fmt::F32))
            }
        };
        self.write_vector(inst, value, fmt)
    }

    /// Bytes of two words, by a byte of the selector for each: 0 to 3 are those of the low word, 4 to 7 those of
    /// the high one, 8 to 11 the signs of the four halves, 12 zeros, and all above ones.
    fn permuted_bytes(&mut self, high: Value, low: Value, selector: Value) -> Value {
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

    /// The low 24 bits, extended.
    fn low_24(&mut self, value: Value, signed: bool) -> Value {
        let (zero, length) = (self.word(0), self.word(24));
        self.op1(Op::Bfe { signed, ty: Ty::I32 }, &[value, zero, length])
    }

    /// Instructions that no row of the table describes.
    fn other_vector(&mut self, inst: &Inst, name: &str) -> Result<()> {
        let two = |s: &mut Self| Ok::<_, String>((s.source(inst, Role::Src0)?, s.source(inst, Role::Src1)?));
        let value = match name {
            "v_nop" => return Ok(()),
            "v_not_b32" => {
                let a = self.source(inst, Role::Src0)?;
                self.not(a)
            }
            "v_bfrev_b32" => {
                let a = self.source(inst, Role::Src0)?;
                self.op1(Op::IntUn(IntUnOp::Brev, Ty::I32), &[a])
            }
            "v_xnor_b32" => {
                let (a, b) = two(self)?;
                let value = self.int(IntOp::Xor, a, b);
                self.not(value)
            }
            "v_ffbh_u32" | "v_clz_i32_u32" => {
                let a = self.source(inst, Role::Src0)?;
                self.op1(Op::Count(CountOp::BfindShU, Ty::I32), &[a])
            }
            "v_ffbl_b32" | "v_ctz_i32_b32" => {
                let a = self.source(inst, Role::Src0)?;
                self.lowest_bit(a)
            }
            "v_bcnt_u32_b32" => {
                let (a, b) = two(self)?;
                let count = self.op1(Op::Count(CountOp::Popc, Ty::I32), &[a]);
                self.int(IntOp::Add, count, b)
            }
            "v_bfe_u32" | "v_bfe_i32" => {
                let (a, position) = two(self)?;
                let length = self.source(inst, Role::Src2)?;
                let (position, length) = (self.amount(position, 32), self.amount(length, 32));
                self.op1(Op::Bfe { signed: name == "v_bfe_i32", ty: Ty::I32 }, &[a, position, length])
            }
            "v_bfi_b32" => {
                let (mask, a) = two(self)?;
                let b = self.source(inst, Role::Src2)?;
                let inverse = self.not(mask);
                let (a, b) = (self.int(IntOp::And, mask, a), self.int(IntOp::And, inverse, b));
                self.int(IntOp::Or, a, b)
            }
            "v_alignbit_b32" => {
                let (high, low) = two(self)?;
                let amount = self.source(inst, Role::Src2)?;
                let amount = self.amount(amount, 32);
                self.op1(Op::Funnel { left: false, clamp: false }, &[low, high, amount])
            }
            // Sources are in the order of the text: the constant is the second or the third.
            "v_fmamk_f32" | "v_fmaak_f32" | "v_madmk_f32" | "v_madak_f32" => {
                let (a, b) = two(self)?;
                let k = self.source(inst, Role::Imm)?;
                let args = if name.ends_with("mk_f32") { [a, k, b] } else { [a, b, k] };
                let mode = FloatMode::rn(Fmt::F32);
                if name.starts_with("v_fma") {
                    self.op1(Op::Fma(mode), &args)
                } else {
                    let product = self.op1(Op::Float(FloatOp::Mul, mode), &args[..2]);
                    self.op1(Op::Float(FloatOp::Add, mode), &[product, args[2]])
                }
            }
            "v_alignbyte_b32" => {
                let (high, low) = two(self)?;
                let amount = self.source(inst, Role::Src2)?;
                let (bytes, three) = (self.amount(amount, 4), self.word(3));
                let amount = self.shift(ShiftOp::Shl, bytes, three);
                self.op1(Op::Funnel { left: false, clamp: false }, &[low, high, amount])
            }
            "v_perm_b32" => {
                let (high, low) = two(self)?;
                let selector = self.source(inst, Role::Src2)?;
                self.permuted_bytes(high, low, selector)
            }
            "v_bfm_b32" => {
                let (length, position) = two(self)?;
                let one = self.word(1);
                let ones = self.shifted(ShiftOp::Shl, one, length);
                let ones = self.int(IntOp::Sub, ones, one);
                self.shifted(ShiftOp::Shl, ones, position)
            }
            "v_cndmask_b32" => {
                let (a, b) = two(self)?;
                let flag = self.mask_source(inst)?;
                self.select(flag, b, a)
            }
            "v_mbcnt_lo_u32_b32" | "v_mbcnt_hi_u32_b32" => {
                let (mask, sum) = two(self)?;
                let below = self.lanes_below(name == "v_mbcnt_hi_u32_b32");
                let counted = self.int(IntOp::And, mask, below);
                let count = self.op1(Op::Count(CountOp::Popc, Ty::I32), &[counted]);
                self.int(IntOp::Add, count, sum)
            }
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
                // The mask is the carry of an unsigned sum, and the overflow of a signed one.
                let flag = if signed {
                    let (x, y) = (self.int(IntOp::Xor, product, sum), self.int(IntOp::Xor, c, sum));
                    let both = self.int(IntOp::And, x, y);
                    let zero = self.constant(Ty::I64, 0);
                    self.compare(IntCmp::LtS, both, zero)
                } else {
                    self.compare(IntCmp::LtU, sum, product)
                };
                let mask = self.ballot(flag);
                self.write_scalar(operand(inst, Role::Sdst)?, mask)?;
                sum
            }
            "v_add_co_u32" | "v_add_co_ci_u32" | "v_addc_co_u32" | "v_sub_co_u32" | "v_sub_co_ci_u32"
            | "v_subb_co_u32" | "v_subrev_co_u32" | "v_subrev_co_ci_u32" | "v_subbrev_co_u32" => {
                let (mut a, mut b) = two(self)?;
                if name.contains("rev") {
                    (a, b) = (b, a);
                }
                let carries =
                    name.contains("_ci_") || name.starts_with("v_addc") || name.starts_with("v_subb");
                let carry = if carries { Some(self.mask_source(inst)?) } else { None };
                let (value, mask) = self.carried(name.starts_with("v_sub"), a, b, carry);
                self.write_scalar(self.mask_result(inst)?, mask)?;
                value
            }
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
                return self.write_scalar(self.scalar_result(inst)?, value);
            }
            "v_readlane_b32" => {
                let (value, lane) = two(self)?;
                let lane = self.amount(lane, self.lanes);
                let value = self.of_lane(value, lane);
                // All lanes hold the same now, which branches rely on.
                let value = self.op(Op::Agree(Ty::I32), &[value])[0];
                return self.write_scalar(self.scalar_result(inst)?, value);
            }
            "v_writelane_b32" => {
                let (value, lane) = two(self)?;
                let lane = self.amount(lane, self.lanes);
                let own = self.op1(Op::Special(SReg::LaneId), &[]);
                let flag = self.compare(IntCmp::Eq, own, lane);
                let Place::Vgpr(number) = operand(inst, Role::Vdst)?.value else {
                    return Err("the result is no VGPR".to_owned());
                };
                let old = self.get(Reg::Vector(number));
                let value = self.select(flag, value, old);
                self.set(Reg::Vector(number), value);
                return Ok(());
            }
            _ => return Err("this vector instruction is not supported".to_owned()),
        };
        self.write_vector(inst, value, None)
    }

    /// The result of an instruction that reads a lane.
    fn scalar_result<'a>(&self, inst: &'a Inst) -> Result<&'a gcn::isa::Operand> {
        operand(inst, Role::Sdst).or_else(|_| operand(inst, Role::Vdst))
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
