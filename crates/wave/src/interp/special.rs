//! What lanes read in special registers.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::op::SReg;

use super::machine::Machine;

impl Machine<'_> {
    /// The value of a special register for a lane.
    pub(super) fn special(&self, lane: usize, reg: SReg) -> u128 {
        let b = self.block_ctx();
        let (ctaid, nctaid) = self.code.probe.as_ref().map_or((b.ctaid, b.nctaid), |p| (p.ctaid, p.nctaid));
        let (id, count) = match self.code.probe {
            Some(_) => (ctaid, nctaid),
            None => (b.cluster.id, b.cluster.count),
        };
        let thread = self.thread(lane) as u32;
        let [nx, ny, _] = b.ntid.map(|n| n.max(1));
        let bit = 1u64 << lane;
        let below = bit - 1;
        let now = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as u64);
        u128::from(match reg {
            SReg::TidX => thread % nx,
            SReg::TidY => thread / nx % ny,
            SReg::TidZ => thread / nx / ny,
            SReg::NtidX => b.ntid[0],
            SReg::NtidY => b.ntid[1],
            SReg::NtidZ => b.ntid[2],
            SReg::CtaidX => ctaid[0],
            SReg::CtaidY => ctaid[1],
            SReg::CtaidZ => ctaid[2],
            SReg::NctaidX => nctaid[0],
            SReg::NctaidY => nctaid[1],
            SReg::NctaidZ => nctaid[2],
            SReg::ClusterIdX => id[0],
            SReg::ClusterIdY => id[1],
            SReg::ClusterIdZ => id[2],
            SReg::NClusterIdX => count[0],
            SReg::NClusterIdY => count[1],
            SReg::NClusterIdZ => count[2],
            SReg::ClusterCtaidX => b.cluster.ctaid[0],
            SReg::ClusterCtaidY => b.cluster.ctaid[1],
            SReg::ClusterCtaidZ => b.cluster.ctaid[2],
            SReg::ClusterNctaidX => b.cluster.size[0],
            SReg::ClusterNctaidY => b.cluster.size[1],
            SReg::ClusterNctaidZ => b.cluster.size[2],
            SReg::ClusterRank => b.cluster.rank,
            SReg::ClusterBlocks => b.cluster.blocks,
            SReg::ExplicitCluster => b.cluster.explicit,
            SReg::LaneId => lane as u32,
            SReg::WarpId => self.warp.index,
            SReg::NWarpId => b.threads().div_ceil(self.lanes() as u32),
            SReg::SmId => b.smid,
            SReg::NSmId => b.nsmid,
            SReg::GridId64 => return u128::from(b.grid_id),
            SReg::Workspace64 => return b.workspace as u128,
            SReg::LaneMaskEq => return u128::from(bit),
            SReg::LaneMaskLe => return u128::from(below | bit),
            SReg::LaneMaskLt => return u128::from(below),
            SReg::LaneMaskGe => return u128::from(!below),
            SReg::LaneMaskGt => return u128::from(!(below | bit)),
            SReg::Clock => now() as u32,
            SReg::Clock64 | SReg::GlobalTimer64 => return u128::from(now()),
            SReg::DynSharedSize => b.shared_dynamic,
            SReg::TotalSharedSize => b.shared_total,
            SReg::LocalSize64 => return u128::from(b.local_stride),
        })
    }
}
