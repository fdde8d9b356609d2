//! What the newer generations have: other names for operations that older ones have too, waits by counter,
//! barriers in two steps, and a few instructions of their own.

use gcn::isa::{Inst, Role};
use wave::op::{BarMode, FloatMode, FloatOp, IntOp, Op, ShiftOp};
use wave::types::Fmt;

use crate::error::Result;
use crate::operand::immediate;
use crate::registers::Registers;

/// Names that gfx11 and gfx12 gave to operations, and the names that they are lowered by. The minima and maxima
/// named `num` are those of IEEE 754-2019 that prefer numbers, as the older ones do.
const ALIASES: &[(&str, &str)] = &[
    ("s_add_co_i32", "s_add_i32"),
    ("s_add_co_u32", "s_add_u32"),
    ("s_add_co_ci_u32", "s_addc_u32"),
    ("s_addk_co_i32", "s_addk_i32"),
    ("s_sub_co_i32", "s_sub_i32"),
    ("s_sub_co_u32", "s_sub_u32"),
    ("s_sub_co_ci_u32", "s_subb_u32"),
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

/// Instructions that concern time and caches alone.
const NOTHING: &[&str] = &[
    "s_set_inst_prefetch_distance",
    "s_singleuse_vdst",
    "s_wait_alu",
    "s_wait_event",
    "s_wait_idle",
    "s_wait_loadcnt",
    "s_wait_storecnt",
    "s_wait_samplecnt",
    "s_wait_bvhcnt",
    "s_wait_expcnt",
    "s_wait_dscnt",
    "s_wait_kmcnt",
    "s_wait_loadcnt_dscnt",
    "s_wait_storecnt_dscnt",
    "s_prefetch_inst",
    "s_prefetch_inst_pc_rel",
    "s_prefetch_data",
    "s_prefetch_data_pc_rel",
    "s_buffer_prefetch_data",
    "global_inv",
    "global_wb",
    "global_wbinv",
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
        match name {
            _ if NOTHING.contains(&name) => {}
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
            "v_lshl_add_u64" => {
                let value = self.source(inst, Role::Src0)?;
                let amount = self.source(inst, Role::Src1)?;
                let shifted = self.shifted(ShiftOp::Shl, value, amount);
                let third = self.source(inst, Role::Src2)?;
                let sum = self.int(IntOp::Add, shifted, third);
                self.write_vector(inst, sum, None)?;
            }
            "v_maxmin_f32" | "v_minmax_f32" => {
                let (first, second) = match name {
                    "v_maxmin_f32" => (FloatOp::Max, FloatOp::Min),
                    _ => (FloatOp::Min, FloatOp::Max),
                };
                let mut value = self.source(inst, Role::Src0)?;
                for (op, role) in [(first, Role::Src1), (second, Role::Src2)] {
                    let other = self.source(inst, role)?;
                    value = self.op1(Op::Float(op, FloatMode::rn(Fmt::F32)), &[value, other]);
                }
                self.write_vector(inst, value, Some(Fmt::F32))?;
            }
            "v_maxmin_i32" | "v_minmax_i32" | "v_maxmin_u32" | "v_minmax_u32" => {
                let (max, min) = match name.ends_with("i32") {
                    true => (IntOp::MaxS, IntOp::MinS),
                    false => (IntOp::MaxU, IntOp::MinU),
                };
                let (first, second) = if name.starts_with("v_max") { (max, min) } else { (min, max) };
                let mut value = self.source(inst, Role::Src0)?;
                for (op, role) in [(first, Role::Src1), (second, Role::Src2)] {
                    let other = self.source(inst, role)?;
                    value = self.int(op, value, other);
                }
                self.write_vector(inst, value, None)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}
