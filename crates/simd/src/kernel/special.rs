//! Special registers: the position of a thread in its block, grid and cluster.

use wave::op::SReg;
use wave::{Inst, Ty};

use super::names::{BLOCK, INDEX};
use super::value::Rep;
use super::{Kernel, Result};
use crate::ir::{Bin, Cast, Operand, Type};

impl Kernel<'_> {
    /// Reads a special register.
    pub fn special(&mut self, inst: &Inst, reg: SReg) -> Result<()> {
        use super::offset as o;
        let r = inst.results[0];
        let variation = self.facts.uniformity.values[r.index()].clone();
        let [nx, ny, nz] = self.facts.spec.block;
        let uniform = |k: &mut Self, at: usize, ty: Type| {
            let v = k.field(BLOCK, at, ty);
            Rep::Uniform(v)
        };
        let rep = match reg {
            SReg::TidX | SReg::TidY | SReg::TidZ => {
                let split = |k: &mut Self, thread: Operand| {
                    let by = |n: u32| Operand::int(thread.ty(), i64::from(n.max(1)));
                    match reg {
                        SReg::TidX if ny * nz == 1 => thread,
                        SReg::TidX => k.out.ir.bin(Bin::URem, thread, by(nx)),
                        SReg::TidY => {
                            let row = k.out.ir.bin(Bin::UDiv, thread, by(nx));
                            if nz == 1 { row } else { k.out.ir.bin(Bin::URem, row, by(ny)) }
                        }
                        _ => k.out.ir.bin(Bin::UDiv, thread, by(nx.saturating_mul(ny))),
                    }
                };
                let thread = self.out.ir.bin_int(Bin::Shl, INDEX, i64::from(self.warp().trailing_zeros()));
                if variation.is_uniform() || variation.is_pattern() {
                    let v = split(self, thread);
                    if variation.is_uniform() {
                        Rep::Uniform(v)
                    } else {
                        Rep::Pattern { base: v, guarded: None }
                    }
                } else {
                    let each = self.facts.spec.lanes_of_block();
                    let lanes = self.out.ir.lanes(Ty::I32, |l| (l % each) as i64);
                    let t = self.out.ir.splat(thread);
                    let t = self.out.ir.bin(Bin::Add, t, lanes);
                    Rep::Vector(split(self, t))
                }
            }
            SReg::LaneId if variation.is_pattern() => Rep::Pattern { base: Operand::i32(0), guarded: None },
            // Needed if it is read in a loop with divergent exits and used after it.
            SReg::LaneId => Rep::Vector(self.out.ir.lane_numbers()),
            SReg::NtidX => Rep::Uniform(Operand::i32(i64::from(nx))),
            SReg::NtidY => Rep::Uniform(Operand::i32(i64::from(ny))),
            SReg::NtidZ => Rep::Uniform(Operand::i32(i64::from(nz))),
            SReg::CtaidX if variation.is_pattern() => {
                Rep::Pattern { base: self.field(BLOCK, o::CTAID, Type::I32), guarded: None }
            }
            SReg::CtaidX if !variation.is_uniform() => {
                let each = self.facts.spec.lanes_of_block();
                let first = self.field(BLOCK, o::CTAID, Type::I32);
                let first = self.out.ir.splat(first);
                let steps = self.out.ir.lanes(Ty::I32, |l| (l / each) as i64);
                Rep::Vector(self.out.ir.bin(Bin::Add, first, steps))
            }
            SReg::CtaidX => uniform(self, o::CTAID, Type::I32),
            SReg::CtaidY => uniform(self, o::axis(o::CTAID, 1), Type::I32),
            SReg::CtaidZ => uniform(self, o::axis(o::CTAID, 2), Type::I32),
            SReg::NctaidX => uniform(self, o::NCTAID, Type::I32),
            SReg::NctaidY => uniform(self, o::axis(o::NCTAID, 1), Type::I32),
            SReg::NctaidZ => uniform(self, o::axis(o::NCTAID, 2), Type::I32),
            SReg::ClusterIdX | SReg::ClusterIdY | SReg::ClusterIdZ => {
                let axis = reg as usize - SReg::ClusterIdX as usize;
                let field = if self.facts.spec.clusters { o::CLUSTER_ID } else { o::CTAID };
                uniform(self, o::axis(field, axis), Type::I32)
            }
            SReg::NClusterIdX | SReg::NClusterIdY | SReg::NClusterIdZ => {
                let axis = reg as usize - SReg::NClusterIdX as usize;
                let field = if self.facts.spec.clusters { o::CLUSTER_COUNT } else { o::NCTAID };
                uniform(self, o::axis(field, axis), Type::I32)
            }
            SReg::ClusterCtaidX => uniform(self, o::CLUSTER_CTAID, Type::I32),
            SReg::ClusterCtaidY => uniform(self, o::axis(o::CLUSTER_CTAID, 1), Type::I32),
            SReg::ClusterCtaidZ => uniform(self, o::axis(o::CLUSTER_CTAID, 2), Type::I32),
            SReg::ClusterNctaidX => uniform(self, o::CLUSTER_SIZE, Type::I32),
            SReg::ClusterNctaidY => uniform(self, o::axis(o::CLUSTER_SIZE, 1), Type::I32),
            SReg::ClusterNctaidZ => uniform(self, o::axis(o::CLUSTER_SIZE, 2), Type::I32),
            SReg::ClusterRank => uniform(self, o::CLUSTER_RANK, Type::I32),
            SReg::ClusterBlocks => uniform(self, o::CLUSTER_BLOCKS, Type::I32),
            SReg::ExplicitCluster => uniform(self, o::CLUSTER_EXPLICIT, Type::I32),
            SReg::WarpId => Rep::Uniform(INDEX),
            SReg::NWarpId => {
                Rep::Uniform(Operand::i32(i64::from(self.facts.spec.threads().div_ceil(self.warp() as u32))))
            }
            SReg::SmId => uniform(self, o::SMID, Type::I32),
            SReg::NSmId => uniform(self, o::NSMID, Type::I32),
            SReg::GridId64 => uniform(self, o::GRID_ID, Type::I64),
            SReg::Workspace64 => uniform(self, o::WORKSPACE, Type::I64),
            SReg::DynSharedSize => uniform(self, o::SHARED_DYNAMIC, Type::I32),
            SReg::TotalSharedSize => uniform(self, o::SHARED_TOTAL, Type::I32),
            SReg::LocalSize64 => Rep::Uniform(self.local_size()),
            SReg::LaneMaskEq | SReg::LaneMaskLe | SReg::LaneMaskLt | SReg::LaneMaskGe | SReg::LaneMaskGt => {
                let of = |l: usize| {
                    let bit = 1u64 << l;
                    match reg {
                        SReg::LaneMaskEq => bit,
                        SReg::LaneMaskLe => bit | (bit - 1),
                        SReg::LaneMaskLt => bit - 1,
                        SReg::LaneMaskGe => !(bit - 1),
                        _ => !(bit | (bit - 1)),
                    }
                };
                Rep::Vector(self.out.ir.lanes(self.facts.spec.warp.mask(), |l| of(l) as i64))
            }
            SReg::Clock | SReg::Clock64 | SReg::GlobalTimer64 => {
                let t = self.out.ir.act("llvm.readcyclecounter", [None; 2], Type::I64, &[]);
                Rep::Uniform(if reg == SReg::Clock { self.out.ir.cast(Cast::Trunc, t, Type::I32) } else { t })
            }
        };
        self.define(r, rep)
    }
}
