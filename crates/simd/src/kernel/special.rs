//! Special registers: where a thread stands in its block, its grid and its cluster.

use wave::op::SReg;
use wave::{Inst, LANES, Ty};

use super::value::Rep;
use super::{Kernel, Result};
use crate::text::{Lanes, constant_vector, lane_numbers, vector};

impl Kernel<'_> {
    /// Reads a special register.
    pub fn special(&mut self, inst: &Inst, reg: SReg) -> Result<()> {
        use super::offset as o;
        let r = inst.results[0];
        let shape = self.shapes.values[r.index()].clone();
        let [nx, ny, nz] = self.spec.block;
        let uniform = |k: &mut Self, at: usize, ty: &str| {
            let v = k.field("%block", at, ty);
            Rep::Uniform(v)
        };
        let rep = match reg {
            SReg::TidX | SReg::TidY | SReg::TidZ => {
                let split = |k: &mut Self, lanes: Lanes, thread: &str| -> Result<String> {
                    let ty = if lanes == Lanes::One { "i32".to_string() } else { vector(Ty::I32) };
                    let c = |v: u32| crate::text::literal(Ty::I32, lanes, u128::from(v.max(1)));
                    Ok(match reg {
                        SReg::TidX if ny * nz == 1 => thread.to_string(),
                        SReg::TidX => k.text.def(format!("urem {ty} {thread}, {}", c(nx))),
                        SReg::TidY => {
                            let row = k.text.def(format!("udiv {ty} {thread}, {}", c(nx)));
                            if nz == 1 { row } else { k.text.def(format!("urem {ty} {row}, {}", c(ny))) }
                        }
                        _ => k.text.def(format!("udiv {ty} {thread}, {}", c(nx.saturating_mul(ny)))),
                    })
                };
                let thread = self.text.def("shl i32 %index, 5");
                if shape.is_uniform() || shape.is_pattern() {
                    let v = split(self, Lanes::One, &thread)?;
                    if shape.is_uniform() { Rep::Uniform(v) } else { Rep::Pattern { base: v, guarded: None } }
                } else {
                    let lanes = lane_numbers();
                    let t = self.text.splat(Ty::I32, &thread);
                    let t = self.text.def(format!("add <32 x i32> {t}, {lanes}"));
                    Rep::Vector(split(self, Lanes::Warp, &t)?)
                }
            }
            SReg::LaneId if shape.is_pattern() => Rep::Pattern { base: "0".into(), guarded: None },
            // Read in a loop that lanes leave at different times, and used behind it.
            SReg::LaneId => Rep::Vector(lane_numbers()),
            SReg::NtidX => Rep::Uniform(nx.to_string()),
            SReg::NtidY => Rep::Uniform(ny.to_string()),
            SReg::NtidZ => Rep::Uniform(nz.to_string()),
            SReg::CtaidX => uniform(self, o::CTAID, "i32"),
            SReg::CtaidY => uniform(self, o::axis(o::CTAID, 1), "i32"),
            SReg::CtaidZ => uniform(self, o::axis(o::CTAID, 2), "i32"),
            SReg::NctaidX => uniform(self, o::NCTAID, "i32"),
            SReg::NctaidY => uniform(self, o::axis(o::NCTAID, 1), "i32"),
            SReg::NctaidZ => uniform(self, o::axis(o::NCTAID, 2), "i32"),
            SReg::ClusterIdX | SReg::ClusterIdY | SReg::ClusterIdZ => {
                let axis = reg as usize - SReg::ClusterIdX as usize;
                let field = if self.spec.clusters { o::CLUSTER_ID } else { o::CTAID };
                uniform(self, o::axis(field, axis), "i32")
            }
            SReg::NClusterIdX | SReg::NClusterIdY | SReg::NClusterIdZ => {
                let axis = reg as usize - SReg::NClusterIdX as usize;
                let field = if self.spec.clusters { o::CLUSTER_COUNT } else { o::NCTAID };
                uniform(self, o::axis(field, axis), "i32")
            }
            SReg::ClusterCtaidX => uniform(self, o::CLUSTER_CTAID, "i32"),
            SReg::ClusterCtaidY => uniform(self, o::axis(o::CLUSTER_CTAID, 1), "i32"),
            SReg::ClusterCtaidZ => uniform(self, o::axis(o::CLUSTER_CTAID, 2), "i32"),
            SReg::ClusterNctaidX => uniform(self, o::CLUSTER_SIZE, "i32"),
            SReg::ClusterNctaidY => uniform(self, o::axis(o::CLUSTER_SIZE, 1), "i32"),
            SReg::ClusterNctaidZ => uniform(self, o::axis(o::CLUSTER_SIZE, 2), "i32"),
            SReg::ClusterRank => uniform(self, o::CLUSTER_RANK, "i32"),
            SReg::ClusterBlocks => uniform(self, o::CLUSTER_BLOCKS, "i32"),
            SReg::ExplicitCluster => uniform(self, o::CLUSTER_EXPLICIT, "i32"),
            SReg::WarpId => Rep::Uniform("%index".into()),
            SReg::NWarpId => Rep::Uniform(self.spec.threads().div_ceil(LANES as u32).to_string()),
            SReg::SmId => uniform(self, o::SMID, "i32"),
            SReg::NSmId => uniform(self, o::NSMID, "i32"),
            SReg::GridId64 => uniform(self, o::GRID_ID, "i64"),
            SReg::Workspace64 => uniform(self, o::WORKSPACE, "i64"),
            SReg::DynSharedSize => uniform(self, o::SHARED_DYNAMIC, "i32"),
            SReg::TotalSharedSize => uniform(self, o::SHARED_TOTAL, "i32"),
            SReg::LocalSize64 => Rep::Uniform(self.local_size()),
            SReg::LaneMaskEq | SReg::LaneMaskLe | SReg::LaneMaskLt | SReg::LaneMaskGe | SReg::LaneMaskGt => {
                let of = |l: u32| {
                    let bit = 1u32 << l;
                    match reg {
                        SReg::LaneMaskEq => bit,
                        SReg::LaneMaskLe => bit | (bit - 1),
                        SReg::LaneMaskLt => bit - 1,
                        SReg::LaneMaskGe => !(bit - 1),
                        _ => !(bit | (bit - 1)),
                    }
                };
                Rep::Vector(constant_vector(Ty::I32, &std::array::from_fn(|l| i64::from(of(l as u32)))))
            }
            SReg::Clock | SReg::Clock64 | SReg::GlobalTimer64 => {
                let t = self.text.intrinsic("i64", "llvm.readcyclecounter", &[]);
                Rep::Uniform(if reg == SReg::Clock {
                    self.text.def(format!("trunc i64 {t} to i32"))
                } else {
                    t
                })
            }
        };
        self.define(r, rep)
    }
}
