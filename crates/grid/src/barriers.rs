//! The sixteen barriers of a block (PTX ISA 9.7.13.1, `bar` and `barrier`).
//!
//! A barrier opens when as many threads have arrived as it waits for. Zero means all threads that have not exited. An explicit count
//! is in threads of whole warps: a warp whose live lanes have all arrived counts 32, as on hardware.

use wave::LANES;
use wave::abi::WarpCtx;
use wave::op::BarMode;

/// Barriers of a block.
pub const BARRIERS: usize = 16;

#[derive(Clone, Debug, Default)]
struct Barrier {
    /// What the threads that wait asked for.
    threads: u32,
    /// Arrived threads.
    arrived: u32,
    /// Those whose predicate was true.
    preds: u32,
    /// The reduction asked for.
    mode: Option<BarMode>,
    /// Lanes that arrived, by warp.
    lanes: Vec<u32>,
    /// Lanes that wait, by warp.
    waiting: Vec<u32>,
}

/// All barriers of a running block.
#[derive(Clone, Debug, Default)]
pub struct Barriers {
    all: Vec<Barrier>,
    /// Barriers with arrivals, as a mask.
    busy: u32,
    /// Threads that have not exited.
    live: u32,
    warps: usize,
}

impl Barriers {
    /// Prepares for a block of `warps` warps and `threads` threads. Allocates only when a block is larger than any before.
    pub fn begin(&mut self, warps: usize, threads: u32) {
        self.all.resize_with(BARRIERS, Barrier::default);
        while self.busy != 0 {
            let id = self.busy.trailing_zeros() as usize;
            self.busy &= self.busy - 1;
            let b = &mut self.all[id];
            b.arrived = 0;
            b.preds = 0;
            b.mode = None;
            b.lanes.fill(0);
            b.waiting.fill(0);
        }
        self.warps = warps;
        self.live = threads;
    }

    /// Lanes of a warp that have exited since it was last seen: `before` and `after` are its live masks.
    pub fn exited(&mut self, warps: &mut [WarpCtx], before: u32, after: u32) -> bool {
        let gone = (before & !after).count_ones();
        if gone == 0 {
            return false;
        }
        self.live -= gone.min(self.live);
        let mut opened = false;
        let mut busy = self.busy;
        while busy != 0 {
            let id = busy.trailing_zeros() as usize;
            busy &= busy - 1;
            opened |= self.try_open(warps, id);
        }
        opened
    }

    /// The arrival that warp `index` reports; whether the barrier opened, so that waiting lanes may go on.
    pub fn arrive(&mut self, warps: &mut [WarpCtx], index: usize) -> bool {
        let warp = &mut warps[index];
        let id = (warp.bar_id as usize) & (BARRIERS - 1);
        let mode = BarMode::ALL.get(warp.bar_mode as usize).copied().unwrap_or(BarMode::Sync);
        let b = &mut self.all[id];
        if b.lanes.len() < self.warps {
            b.lanes.resize(self.warps, 0);
            b.waiting.resize(self.warps, 0);
        }
        self.busy |= 1 << id;
        b.arrived += warp.bar_lanes.count_ones();
        b.lanes[index] |= warp.bar_lanes;
        if mode != BarMode::Arrive {
            warp.waiting |= warp.bar_lanes;
            b.waiting[index] |= warp.bar_lanes;
            b.preds += warp.bar_preds.count_ones();
            b.mode = Some(mode);
        }
        if warp.bar_threads != 0 || mode != BarMode::Arrive {
            b.threads = warp.bar_threads;
        }
        self.try_open(warps, id)
    }

    fn try_open(&mut self, warps: &mut [WarpCtx], id: usize) -> bool {
        let b = &mut self.all[id];
        let complete = if b.threads == 0 {
            b.arrived >= self.live
        } else {
            b.arrived >= b.threads || {
                let whole: u32 = b
                    .lanes
                    .iter()
                    .zip(warps.iter())
                    .map(|(&lanes, w)| match lanes {
                        0 => 0,
                        l if w.live & !l == 0 => LANES as u32,
                        l => l.count_ones(),
                    })
                    .sum();
                whole >= b.threads
            }
        };
        if !complete {
            return false;
        }
        let result = match b.mode {
            Some(BarMode::RedPopc) => b.preds,
            Some(BarMode::RedAnd) => {
                let waiting: u32 = b.waiting.iter().map(|w| w.count_ones()).sum();
                u32::from(b.preds == waiting)
            }
            _ => u32::from(b.preds > 0),
        };
        for (warp, waiting) in warps.iter_mut().zip(&mut b.waiting) {
            warp.waiting &= !*waiting;
            if b.mode.is_some_and(|m| m != BarMode::Sync) && *waiting != 0 {
                warp.bar_result[id] = result;
            }
            *waiting = 0;
        }
        b.lanes.fill(0);
        b.arrived = 0;
        b.preds = 0;
        b.mode = None;
        b.threads = 0;
        self.busy &= !(1 << id);
        true
    }

    /// For messages: each barrier that somebody waits at, with the warps that do.
    pub fn waiting(&self) -> Vec<(usize, Vec<usize>)> {
        let busy = (0..BARRIERS).filter(|id| self.busy >> id & 1 == 1);
        busy.map(|id| {
            let warps =
                self.all[id].waiting.iter().enumerate().filter(|(_, w)| **w != 0).map(|(i, _)| i).collect();
            (id, warps)
        })
        .collect()
    }
}
