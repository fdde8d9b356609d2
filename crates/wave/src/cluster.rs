//! A block's part of its cluster's barrier (PTX ISA, "Parallel Synchronization and Communication
//! Instructions: barrier.cluster").
//!
//! The barrier completes when every live thread of the cluster has arrived; it does not wait for threads that
//! have exited. A thread that arrives continues, and waits later, or not at all if the others have arrived by
//! then. The scheduler asks each block whether it is complete, and opens the barrier in all of them at once.

use crate::abi::WarpCtx;
use crate::barrier::MAX_WARPS;

/// The lanes of a block at the cluster's barrier, by warp.
#[derive(Debug, Default)]
pub struct ClusterLanes {
    /// Lanes that have arrived since the barrier last opened.
    arrived: [u64; MAX_WARPS],
    /// Lanes that had arrived when it opened, and have not waited since.
    passed: [u64; MAX_WARPS],
    /// Lanes that wait for it to open.
    waiting: [u64; MAX_WARPS],
    /// Whether any of these masks is not 0.
    used: bool,
}

impl ClusterLanes {
    /// Clears all arrivals for a new block.
    pub fn reset(&mut self) {
        if self.used {
            *self = ClusterLanes::default();
        }
    }

    /// Whether the barrier has been used since the block began.
    pub fn is_used(&self) -> bool {
        self.used
    }

    /// Records the arrival of the lanes in `warp.bar_lanes` of warp `index`.
    pub fn arrive(&mut self, warp: &WarpCtx, index: usize) {
        if let Some(arrived) = self.arrived.get_mut(index) {
            *arrived |= warp.bar_lanes & warp.live;
            self.used = true;
        }
    }

    /// Makes the lanes in `warp.bar_lanes` wait, except those for which the barrier has opened since they
    /// arrived.
    pub fn wait(&mut self, warp: &mut WarpCtx, index: usize) {
        if let (Some(passed), Some(waiting)) = (self.passed.get_mut(index), self.waiting.get_mut(index)) {
            let lanes = warp.bar_lanes & warp.live;
            let rest = lanes & !*passed;
            *passed &= !lanes;
            *waiting |= rest;
            warp.waiting |= rest;
            self.used = true;
        }
    }

    /// Whether any lanes wait.
    pub fn is_waiting(&self) -> bool {
        self.used && self.waiting.iter().any(|&lanes| lanes != 0)
    }

    /// Whether any lanes have arrived since the barrier opened.
    pub fn has_arrivals(&self) -> bool {
        self.used && self.arrived.iter().any(|&lanes| lanes != 0)
    }

    /// Whether all live lanes have arrived.
    pub fn is_complete(&self, warps: &[WarpCtx]) -> bool {
        self.arrived.iter().zip(warps).all(|(&arrived, warp)| warp.live & !arrived == 0)
    }

    /// Opens the barrier after the whole cluster has arrived: waiting lanes continue.
    pub fn open(&mut self, warps: &mut [WarpCtx]) {
        let lanes = self.arrived.iter_mut().zip(&mut self.passed).zip(&mut self.waiting);
        for (((arrived, passed), waiting), warp) in lanes.zip(warps) {
            *passed |= *arrived & !*waiting;
            *arrived = 0;
            warp.waiting &= !*waiting;
            *waiting = 0;
        }
    }

    /// Numbers of arrived and of waiting lanes, for messages.
    pub fn counts(&self) -> (u32, u32) {
        let count = |list: &[u64]| list.iter().map(|lanes| lanes.count_ones()).sum();
        (count(&self.arrived), count(&self.waiting))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::barrier::tests::warps;

    fn at(lanes: &mut ClusterLanes, warps: &mut [WarpCtx], index: usize, mask: u64, wait: bool) {
        warps[index].bar_lanes = mask;
        if wait { lanes.wait(&mut warps[index], index) } else { lanes.arrive(&warps[index], index) }
    }

    #[test]
    fn a_thread_that_has_arrived_waits_for_all_that_live() {
        let mut warps = warps(48);
        let mut lanes = ClusterLanes::default();
        at(&mut lanes, &mut warps, 0, 0xffff, false);
        at(&mut lanes, &mut warps, 0, 0x00ff, true);
        assert!(!lanes.is_complete(&warps) && lanes.has_arrivals() && lanes.is_waiting());
        assert_eq!(warps[0].waiting, 0x00ff);
        at(&mut lanes, &mut warps, 1, 0xffff, false);
        // The other lanes of the first warp exit.
        warps[0].live = 0xffff;
        assert!(lanes.is_complete(&warps));
        lanes.open(&mut warps);
        assert_eq!(warps[0].waiting, 0);
        // Lanes that wait later continue at once, but only once.
        at(&mut lanes, &mut warps, 0, 0xff00, true);
        at(&mut lanes, &mut warps, 1, 0xffff, true);
        assert_eq!((warps[0].waiting, warps[1].waiting), (0, 0));
        assert!(!lanes.has_arrivals() && !lanes.is_waiting());
        at(&mut lanes, &mut warps, 1, 0xffff, false);
        at(&mut lanes, &mut warps, 1, 0xffff, true);
        assert_eq!(warps[1].waiting, 0xffff);
        assert_eq!(lanes.counts(), (16, 16));
    }
}
