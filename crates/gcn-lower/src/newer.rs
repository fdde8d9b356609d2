//! What the newer generations have: other names for operations that older ones have too, barriers in two
//! steps, and a few instructions of their own.

use gcn::isa::{Inst, Mod, Role, Value as Place};
use wave::op::{BarMode, FloatMode, FloatOp, FloatUnOp, IntOp, Op, Round, ShiftOp};
use wave::types::Fmt;
use wave::{Ty, Value};

use crate::error::Result;
use crate::operand::{immediate, operand};
use crate::registers::{Reg, Registers};

/// Names that gfx11 and gfx12 gave to operations, and the names that they are lowered by. The minima and
/// maxima named `num` are those of IEEE 754-2019 that prefer numbers, as the older ones do.
const ALIASES: &[(&str, &str)] = &[
    ("s_add_co_i32", "s_add_i32"),
    ("s_add_co_u32", "s_add_u32"),
    ("s_add_co_ci_u32", "s_addc_u32"),
    ("s_addk_co_i32", "s_addk_i32"),
    ("s_sub_co_i32", "s_sub_i32"),
    ("s_sub_co_u32", "s_sub_u32"),
    ("s_sub_co_ci_u32", "s_subb_u32"),
    ("v_mad_co_i64_i32", "v_mad_i64_i32"),
    ("v_mad_co_u64_u32", "v_mad_u64_u32"),
    ("v_max_num_f16", "v_max_f16"),
    ("v_max_num_f32", "v_max_f32"),
    ("v_max_num_f64", "v_max_f64"),
    ("v_min_num_f16", "v_min_f16"),
    ("v_min_num_f32", "v_min_f32"),
    ("v_min_num_f64", "v_min_f64"),
    ("v_max3_num_f16", "v_max3_f16"),
    ("v_max3_num_f32", "v_max3_f32"),
    ("v_min3_num_f16", "v_min3_f16"),
    ("v_min3_num_f32", "v_min3_f32"),
    ("v_med3_num_f16", "v_med3_f16"),
    ("v_med3_num_f32", "v_med3_f32"),
    ("v_maxmin_num_f16", "v_maxmin_f16"),
    ("v_maxmin_num_f32", "v_maxmin_f32"),
    ("v_minmax_num_f16", "v_minmax_f16"),
    ("v_minmax_num_f32", "v_minmax_f32"),
    ("v_pk_max_num_f16", "v_pk_max_f16"),
    ("v_pk_min_num_f16", "v_pk_min_f16"),
    ("v_cvt_pk_rtz_f16_f32", "v_cvt_pkrtz_f16_f32"),
];

/// How a scalar float instruction computes.
#[derive(Clone, Copy)]
enum Scalar {
    /// An operation of two sources.
    Two(FloatOp),
    /// A product and a sum, rounded once: with the result's old value, the third source or the second.
    Fma(Third),
    /// Rounded to an integral value.
    Rounded(Round),
    FromInt(bool),
    ToInt(bool),
    Convert(Fmt),
}

/// Where the third operand of a product and a sum is.
#[derive(Clone, Copy)]
enum Third {
    Result,
    Constant,
    SecondAndConstant,
}

/// Scalar float instructions (gfx12): the format that they compute in, and how.
const SCALAR: &[(&str, Fmt, Scalar)] = &[
    ("s_add_f32", Fmt::F32, Scalar::Two(FloatOp::Add)),
    ("s_add_f16", Fmt::F16, Scalar::Two(FloatOp::Add)),
    ("s_sub_f32", Fmt::F32, Scalar::Two(FloatOp::Sub)),
    ("s_sub_f16", Fmt::F16, Scalar::Two(FloatOp::Sub)),
    ("s_mul_f32", Fmt::F32, Scalar::Two(FloatOp::Mul)),
    ("s_mul_f16", Fmt::F16, Scalar::Two(FloatOp::Mul)),
    ("s_min_num_f32", Fmt::F32, Scalar::Two(FloatOp::Min)),
    ("s_min_num_f16", Fmt::F16, Scalar::Two(FloatOp::Min)),
    ("s_max_num_f32", Fmt::F32, Scalar::Two(FloatOp::Max)),
    ("s_max_num_f16", Fmt::F16, Scalar::Two(FloatOp::Max)),
    ("s_fmac_f32", Fmt::F32, Scalar::Fma(Third::Result)),
    ("s_fmac_f16", Fmt::F16, Scalar::Fma(Third::Result)),
    ("s_fmaak_f32", Fmt::F32, Scalar::Fma(Third::Constant)),
    ("s_fmamk_f32", Fmt::F32, Scalar::Fma(Third::SecondAndConstant)),
    ("s_ceil_f32", Fmt::F32, Scalar::Rounded(Round::Rp)),
    ("s_ceil_f16", Fmt::F16, Scalar::Rounded(Round::Rp)),
    ("s_floor_f32", Fmt::F32, Scalar::Rounded(Round::Rm)),
    ("s_floor_f16", Fmt::F16, Scalar::Rounded(Round::Rm)),
    ("s_trunc_f32", Fmt::F32, Scalar::Rounded(Round::Rz)),
    ("s_trunc_f16", Fmt::F16, Scalar::Rounded(Round::Rz)),
    ("s_rndne_f32", Fmt::F32, Scalar::Rounded(Round::Rn)),
    ("s_rndne_f16", Fmt::F16, Scalar::Rounded(Round::Rn)),
    ("s_cvt_f32_i32", Fmt::F32, Scalar::FromInt(true)),
    ("s_cvt_f32_u32", Fmt::F32, Scalar::FromInt(false)),
    ("s_cvt_i32_f32", Fmt::F32, Scalar::ToInt(true)),
    ("s_cvt_u32_f32", Fmt::F32, Scalar::ToInt(false)),
    ("s_cvt_f16_f32", Fmt::F32, Scalar::Convert(Fmt::F16)),
    ("s_cvt_f32_f16", Fmt::F16, Scalar::Convert(Fmt::F32)),
];

/// The number of the barrier of all waves of a workgroup.
const WORKGROUP: i64 = -1;

/// The name that an operation is lowered by.
pub(crate) fn alias(name: &'static str) -> &'static str {
    ALIASES.iter().find(|row| row.0 == name).map_or(name, |row| row.1)
}

impl Registers {
    /// Lowers an instruction of the newer generations; whether the name is one of those here.
    pub fn newer(&mut self, inst: &Inst, name: &str) -> Result<bool> {
        let outcome = self.newer_in_lanes(inst, name);
        self.narrowed = None;
        outcome
    }

    fn newer_in_lanes(&mut self, inst: &Inst, name: &str) -> Result<bool> {
        match name {
            "s_barrier_signal" | "s_barrier_wait" => {
                let role = if name == "s_barrier_wait" { Role::Simm16 } else { Role::Src0 };
                if immediate(inst, role)? as i16 != WORKGROUP as i16 {
                    return Err("only the barrier of the workgroup is supported".to_owned());
                }
                // What a wave does between its signal and its wait may come before the others' signals: one
                // barrier at the wait is enough.
                if name == "s_barrier_wait" {
                    let zero = self.word(0);
                    self.op(Op::Bar { mode: BarMode::Sync }, &[zero, zero]);
                }
            }
            // Half of a register into half of a register, whose other half stays.
            "v_mov_b16" => {
                let select = inst.modifier(Mod::OpSel);
                let mut value = self.source(inst, Role::Src0)?;
                let is_register = !matches!(
                    operand(inst, Role::Src0)?.value,
                    Place::Int(_) | Place::Float(_) | Place::Literal(_)
                );
                let sixteen = self.word(16);
                if select & 1 == 1 && is_register {
                    value = self.shift(ShiftOp::ShrU, value, sixteen);
                }
                let Place::Vgpr(number) = operand(inst, Role::Vdst)?.value else {
                    return Err("the result is no VGPR".to_owned());
                };
                let old = self.get(Reg::Vector(number));
                let at = self.word(if select >> 3 & 1 == 1 { 16 } else { 0 });
                let value = self.op1(Op::Bfi(Ty::I32), &[value, old, at, sixteen]);
                self.set_vector(number, value);
            }
            "v_s_rcp_f32" | "v_s_sqrt_f32" => {
                if inst.modifier(Mod::Omod) != 0 || inst.modifier(Mod::Clamp) != 0 {
                    return Err("output modifiers of scalar results are not supported".to_owned());
                }
                let op = if name == "v_s_rcp_f32" { FloatUnOp::Rcp } else { FloatUnOp::Sqrt };
                let a = self.source(inst, Role::Src0)?;
                let value = self.op1(Op::FloatUn(op, FloatMode::rn(Fmt::F32)), &[a]);
                self.write_scalar(operand(inst, Role::Vdst)?, value)?;
            }
            "s_add_nc_u64" | "s_sub_nc_u64" | "s_mul_u64" => {
                let op = match name {
                    "s_add_nc_u64" => IntOp::Add,
                    "s_sub_nc_u64" => IntOp::Sub,
                    _ => IntOp::Mul,
                };
                let (a, b) = (self.source(inst, Role::Src0)?, self.source(inst, Role::Src1)?);
                let value = self.int(op, a, b);
                self.write_scalar(operand(inst, Role::Sdst)?, value)?;
            }
            _ => {
                let Some((_, fmt, how)) = SCALAR.iter().find(|row| row.0 == name) else { return Ok(false) };
                let value = self.scalar_float(inst, *fmt, *how)?;
                let value = self.resized(value, Ty::I32);
                self.write_scalar(operand(inst, Role::Sdst)?, value)?;
            }
        }
        Ok(true)
    }

    fn scalar_float(&mut self, inst: &Inst, fmt: Fmt, how: Scalar) -> Result<Value> {
        let mode = FloatMode::rn(fmt);
        let source = |s: &mut Self, role| {
            let value = s.source(inst, role)?;
            Ok::<_, String>(s.resized(value, fmt.ty()))
        };
        let a = match how {
            Scalar::FromInt(_) => self.source(inst, Role::Src0)?,
            _ => source(self, Role::Src0)?,
        };
        Ok(match how {
            Scalar::Two(op) => {
                let b = source(self, Role::Src1)?;
                self.op1(Op::Float(op, mode), &[a, b])
            }
            Scalar::Fma(third) => {
                let (b, c) = match third {
                    Third::Result => (Role::Src1, Role::Sdst),
                    Third::Constant => (Role::Src1, Role::Imm),
                    Third::SecondAndConstant => (Role::Imm, Role::Src1),
                };
                let (b, c) = (source(self, b)?, source(self, c)?);
                self.op1(Op::Fma(mode), &[a, b, c])
            }
            Scalar::Rounded(round) => {
                self.op1(Op::FloatUn(FloatUnOp::RoundInt, FloatMode { round, ..mode }), &[a])
            }
            Scalar::FromInt(signed) => self.op1(Op::IntToFloat { from: Ty::I32, signed, mode }, &[a]),
            Scalar::ToInt(signed) => {
                let op = Op::FloatToInt { from: fmt, to: Ty::I32, signed, round: Round::Rz, ftz: false };
                self.op1(op, &[a])
            }
            Scalar::Convert(to) => {
                self.op1(Op::FloatToFloat { from: fmt, mode: FloatMode::rn(to), relu: false }, &[a])
            }
        })
    }
}
