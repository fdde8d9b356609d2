//! The sixteen barriers of a block, which count as PTX defines (ISA, "Parallel Synchronization and
//! Communication Instructions: barrier").
//!
//! - A barrier without a thread count opens when every live lane has arrived. It does not wait for lanes that
//!   have exited.
//! - A barrier with a count opens when that many threads have arrived, by `sync`, `red` or `arrive`. The
//!   count is a multiple of the warp size, so a warp whose live lanes have all arrived counts as a whole
//!   warp, even if some of its lanes do not exist (a block of 48 threads) or have exited.
//! - Lanes of one warp may wait at different barriers, or arrive at one from different instructions.
//!
//! [`Barriers`] records the lanes; whether a warp can run follows from its context alone: it is runnable
//! while `live & !waiting` is not 0.

use crate::abi::WarpCtx;
use crate::op::BarMode;
use crate::types::Width;

/// Number of barriers in a block.
pub const COUNT: usize = 16;

/// The barrier that a register selects: its lowest four bits, as on an H100 (16 and 0, 255 and 15 meet
/// there).
pub const fn number(register: u32) -> u32 {
    register % COUNT as u32
}

/// Warps in the largest block (1024 threads).
pub const MAX_WARPS: usize = 32;

/// The error for a [`WarpCtx`] that names a mode that does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// The barrier's number.
    pub id: u32,
    /// The mode's number.
    pub mode: u32,
}

/// The state of a barrier between two openings.
#[derive(Clone, Copy, Debug)]
struct Barrier {
    /// Number of threads to wait for; 0 for all live ones.
    expected: u32,
    /// Threads that arrived a second time before the barrier opened (through repeated `arrive`).
    again: u32,
    /// Threads that took part in a reduction.
    reduced: u32,
    /// Those of them whose predicate was true.
    trues: u32,
    /// Lanes that have arrived, by warp.
    arrived: [u64; MAX_WARPS],
    /// Lanes that wait, by warp.
    waiting: [u64; MAX_WARPS],
    /// The kind of each warp's result.
    mode: [u8; MAX_WARPS],
}

impl Barrier {
    const CLOSED: Barrier = Barrier {
        expected: 0,
        again: 0,
        reduced: 0,
        trues: 0,
        arrived: [0; MAX_WARPS],
        waiting: [0; MAX_WARPS],
        mode: [0; MAX_WARPS],
    };

    /// Number of threads that have arrived, in the unit of the barrier's count.
    fn count(&self, warps: &[WarpCtx], width: Width) -> u32 {
        let whole = |arrived: u64, live: u64| {
            if arrived != 0 && live & !arrived == 0 { width.lanes() as u32 } else { arrived.count_ones() }
        };
        self.arrived.iter().zip(warps).map(|(&a, w)| whole(a, w.live)).sum::<u32>().saturating_add(self.again)
    }

    fn complete(&self, warps: &[WarpCtx], width: Width) -> bool {
        match self.expected {
            0 => self.arrived.iter().zip(warps).all(|(&a, w)| w.live & !a == 0),
            n => self.count(warps, width) >= n,
        }
    }

    fn result(&self, mode: u8) -> Option<u32> {
        match BarMode::ALL.get(usize::from(mode))? {
            BarMode::RedPopc => Some(self.trues),
            BarMode::RedAnd => Some(u32::from(self.trues == self.reduced)),
            BarMode::RedOr => Some(u32::from(self.trues != 0)),
            BarMode::Sync | BarMode::Arrive | BarMode::ClusterArrive | BarMode::ClusterWait => None,
        }
    }
}

/// Why a barrier is closed, for messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    /// The barrier's number.
    pub id: u32,
    /// Number of threads that it waits for; 0 for all live ones.
    pub expected: u32,
    /// Number of threads that have arrived, counting the missing lanes of whole warps.
    pub arrived: u32,
    /// Warps with waiting lanes, and these lanes.
    pub waiting: Vec<(u32, u64)>,
}

/// The barriers of one block.
#[derive(Debug)]
pub struct Barriers {
    barriers: [Barrier; COUNT],
    /// Mask of the barriers with arrivals.
    pending: u32,
    width: Width,
}

impl Default for Barriers {
    fn default() -> Self {
        Barriers { barriers: [Barrier::CLOSED; COUNT], pending: 0, width: Width::W32 }
    }
}

impl Barriers {
    /// Sets the number of lanes in the warps that arrive.
    pub fn set_width(&mut self, width: Width) {
        self.width = width;
    }

    /// Clears all arrivals for a new block.
    pub fn reset(&mut self) {
        for (i, barrier) in self.barriers.iter_mut().enumerate() {
            if self.pending >> i & 1 != 0 {
                *barrier = Barrier::CLOSED;
            }
        }
        self.pending = 0;
    }

    /// Whether no barrier has arrivals.
    pub fn is_idle(&self) -> bool {
        self.pending == 0
    }

    /// Records the arrival described by the `bar_*` fields of warp `index` of `warps`: marks its lanes as
    /// waiting. If that completes the barrier, opens it: releases the waiting lanes of all warps and writes
    /// the results of reductions. Returns whether it opened.
    ///
    /// # Errors
    /// The context names no valid mode, or the warp does not exist.
    pub fn arrive(&mut self, warps: &mut [WarpCtx], index: usize) -> Result<bool, Invalid> {
        let Some(warp) = warps.get_mut(index) else { return Err(Invalid { id: u32::MAX, mode: u32::MAX }) };
        let invalid = Invalid { id: warp.bar_id, mode: warp.bar_mode };
        let mode = *BarMode::ALL.get(warp.bar_mode as usize).filter(|m| !m.is_cluster()).ok_or(invalid)?;
        let id = number(warp.bar_id) as usize;
        let barrier = self.barriers.get_mut(id).ok_or(invalid)?;
        let (Some(arrived), Some(waiting), Some(kept)) =
            (barrier.arrived.get_mut(index), barrier.waiting.get_mut(index), barrier.mode.get_mut(index))
        else {
            return Err(invalid);
        };
        let lanes = warp.bar_lanes & warp.live;
        let again = lanes & *arrived;
        if again != 0 {
            let threads =
                if warp.live & !again == 0 { self.width.lanes() as u32 } else { again.count_ones() };
            barrier.again = barrier.again.saturating_add(threads);
        }
        *arrived |= lanes;
        if mode != BarMode::Arrive {
            *waiting |= lanes;
            warp.waiting |= lanes;
        }
        if matches!(mode, BarMode::RedPopc | BarMode::RedAnd | BarMode::RedOr) {
            *kept = warp.bar_mode as u8;
            barrier.reduced = barrier.reduced.saturating_add(lanes.count_ones());
            barrier.trues = barrier.trues.saturating_add((warp.bar_preds & lanes).count_ones());
        }
        if warp.bar_threads != 0 {
            barrier.expected = warp.bar_threads;
        }
        self.pending |= 1 << id;
        Ok(self.open_if_complete(warps, id))
    }

    /// Opens barriers that waited only for lanes that have exited; to be called after `live` of some warp has
    /// shrunk. Returns whether one opened.
    pub fn exited(&mut self, warps: &mut [WarpCtx]) -> bool {
        let mut opened = false;
        let mut left = self.pending;
        while left != 0 {
            let id = left.trailing_zeros() as usize;
            left &= left - 1;
            opened |= self.open_if_complete(warps, id);
        }
        opened
    }

    fn open_if_complete(&mut self, warps: &mut [WarpCtx], id: usize) -> bool {
        let Some(barrier) = self.barriers.get_mut(id) else { return false };
        if !barrier.complete(warps, self.width) {
            return false;
        }
        for ((warp, &waiting), &mode) in warps.iter_mut().zip(&barrier.waiting).zip(&barrier.mode) {
            warp.waiting &= !waiting;
            if waiting != 0
                && let Some(value) = barrier.result(mode)
                && let Some(result) = warp.bar_result.get_mut(id)
            {
                *result = value;
            }
        }
        *barrier = Barrier::CLOSED;
        self.pending &= !(1 << id);
        true
    }

    /// The barriers with arrivals that are not complete.
    pub fn pending(&self, warps: &[WarpCtx]) -> Vec<Pending> {
        let with_arrivals = self.barriers.iter().enumerate().filter(|(id, _)| self.pending >> id & 1 != 0);
        with_arrivals
            .map(|(id, b)| Pending {
                id: id as u32,
                expected: b.expected,
                arrived: b.count(warps, self.width),
                waiting: (0u32..).zip(b.waiting).filter(|&(_, lanes)| lanes != 0).collect(),
            })
            .collect()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::abi::warp_lanes;

    pub(crate) fn warps(threads: u32) -> Vec<WarpCtx> {
        (0..threads.div_ceil(32))
            .map(|index| WarpCtx {
                block: std::ptr::null(),
                frame: std::ptr::null_mut(),
                index,
                lanes: warp_lanes(index, threads, Width::W32),
                live: warp_lanes(index, threads, Width::W32),
                waiting: 0,
                resume: 0,
                line: 0,
                bar_id: 0,
                bar_threads: 0,
                bar_mode: 0,
                bar_lanes: 0,
                bar_preds: 0,
                sleep: 0,
                bar_result: [99; COUNT],
            })
            .collect()
    }

    /// `At(warp, barrier, threads, mode, lanes, predicates)`, or exiting lanes of a warp.
    #[derive(Clone, Copy)]
    enum Event {
        At(usize, u32, u32, BarMode, u64, u64),
        Exit(usize, u64),
    }
    use BarMode::{RedAnd, RedOr, RedPopc, Sync};
    use Event::*;
    const ALL: u64 = u32::MAX as u64;

    /// Plays events. Returns, for each event, whether a barrier opened and which warps then cannot run.
    fn play(threads: u32, events: &[Event]) -> (Vec<(bool, Vec<u32>)>, Vec<WarpCtx>) {
        let mut warps = warps(threads);
        let mut barriers = Barriers::default();
        let mut seen = Vec::new();
        for &event in events {
            let opened = match event {
                At(w, id, count, mode, lanes, preds) => {
                    warps[w].bar_id = id;
                    warps[w].bar_threads = count;
                    warps[w].bar_mode = BarMode::ALL.iter().position(|&m| m == mode).unwrap() as u32;
                    warps[w].bar_lanes = lanes & warps[w].live;
                    warps[w].bar_preds = preds;
                    barriers.arrive(&mut warps, w).unwrap()
                }
                Exit(w, lanes) => {
                    warps[w].live &= !lanes;
                    barriers.exited(&mut warps)
                }
            };
            let blocked = warps.iter().filter(|w| w.live != 0 && w.live & !w.waiting == 0);
            seen.push((opened, blocked.map(|w| w.index).collect()));
        }
        (seen, warps)
    }

    fn check(threads: u32, events: &[Event], expect: &[(bool, &[u32])]) -> Vec<WarpCtx> {
        let (seen, warps) = play(threads, events);
        let seen: Vec<(bool, &[u32])> = seen.iter().map(|(o, b)| (*o, &b[..])).collect();
        assert_eq!(seen, expect);
        warps
    }

    #[test]
    fn all_living_threads() {
        let sync = |w| At(w, 0, 0, Sync, ALL, 0);
        check(
            96,
            &[sync(1), sync(0), sync(2), sync(2)],
            &[(false, &[1]), (false, &[0, 1]), (true, &[]), (false, &[2])],
        );
        // The last warp has 8 lanes.
        check(40, &[sync(1), sync(0)], &[(false, &[1]), (true, &[])]);
    }

    #[test]
    fn exits_open_what_waited_for_them() {
        let sync = |w| At(w, 0, 0, Sync, ALL, 0);
        check(64, &[sync(0), Exit(1, 0xffff), Exit(1, ALL)], &[(false, &[0]), (false, &[0]), (true, &[])]);
        // Half of a warp waits, the other half exits.
        check(32, &[At(0, 0, 0, Sync, 0xffff, 0), Exit(0, 0xffff_0000)], &[(false, &[]), (true, &[])]);
        // Lanes that exited before do not count.
        check(64, &[Exit(1, ALL), sync(0)], &[(false, &[]), (true, &[])]);
    }

    #[test]
    fn exits_do_not_fill_an_explicit_count() {
        check(96, &[At(0, 1, 64, Sync, ALL, 0), Exit(2, ALL)], &[(false, &[0]), (false, &[0])]);
    }

    #[test]
    fn producer_and_consumer() {
        let arrive = |w| At(w, 3, 96, BarMode::Arrive, ALL, 0);
        let sync = |w| At(w, 3, 96, Sync, ALL, 0);
        check(96, &[arrive(0), sync(1), arrive(2)], &[(false, &[]), (false, &[1]), (true, &[])]);
        // A warp may arrive twice.
        check(96, &[arrive(0), arrive(0), sync(1)], &[(false, &[]), (false, &[]), (true, &[])]);
        // A warp may exit after it has arrived.
        check(
            96,
            &[arrive(0), Exit(0, ALL), arrive(2), sync(1)],
            &[(false, &[]), (false, &[]), (false, &[]), (true, &[])],
        );
    }

    #[test]
    fn counts_are_in_whole_warps() {
        // 48 threads; the second warp has 16 lanes and counts as 32.
        let sync = |w, n| At(w, 1, n, Sync, ALL, 0);
        check(48, &[sync(0, 64), sync(1, 64)], &[(false, &[0]), (true, &[])]);
        // Single lanes count as single threads.
        let part = |w, lanes| At(w, 1, 64, Sync, lanes, 0);
        check(
            64,
            &[part(0, 1), part(1, ALL), part(0, 0xfffe), part(0, 0xffff_0000)],
            &[(false, &[]), (false, &[1]), (false, &[1]), (true, &[])],
        );
    }

    #[test]
    fn one_warp_at_two_barriers() {
        let at = |w, id, lanes| At(w, id, 0, Sync, lanes, 0);
        let warps = check(
            64,
            &[at(0, 1, 0xffff), At(0, 2, 48, Sync, 0xffff_0000, 0), At(1, 2, 48, Sync, ALL, 0)],
            &[(false, &[]), (false, &[0]), (true, &[])],
        );
        assert_eq!(warps[0].waiting, 0xffff);
    }

    #[test]
    fn reductions() {
        for (mode, preds, expect) in [
            (RedPopc, [0xf0, 0x7], 7),
            (RedPopc, [0, 0], 0),
            (RedAnd, [ALL, ALL], 1),
            (RedAnd, [ALL, ALL - 1], 0),
            (RedOr, [0, 0], 0),
            (RedOr, [0, 0x8000_0000], 1),
        ] {
            let red = |w: usize| At(w, 5, 0, mode, ALL, preds[w]);
            let warps = check(64, &[red(0), red(1)], &[(false, &[0]), (true, &[])]);
            for warp in &warps {
                assert_eq!(warp.bar_result[5], expect, "{mode:?} {preds:x?}");
                assert_eq!(warp.bar_result[4], 99);
            }
        }
        // Predicates of lanes that do not exist or have exited do not count.
        let red = |w: usize| At(w, 0, 0, RedPopc, ALL, ALL);
        let warps = check(40, &[Exit(0, 0xff), red(0), red(1)], &[(false, &[]), (false, &[0]), (true, &[])]);
        assert_eq!(warps[1].bar_result[0], 24 + 8);
        let and = |w: usize| At(w, 0, 0, RedAnd, ALL, ALL);
        let warps = check(40, &[and(0), and(1)], &[(false, &[0]), (true, &[])]);
        assert_eq!(warps[0].bar_result[0], 1);
    }

    #[test]
    fn barriers_close_again() {
        let red = |w, preds| At(w, 0, 0, RedPopc, ALL, preds);
        let (seen, warps) = play(64, &[red(0, 1), red(1, 1), red(1, 3), red(0, 3)]);
        assert_eq!(seen.iter().map(|s| s.0).collect::<Vec<_>>(), [false, true, false, true]);
        assert_eq!(warps[0].bar_result[0], 4);
    }

    #[test]
    fn the_lowest_four_bits_name_a_barrier() {
        let mut warps = warps(64);
        let mut barriers = Barriers::default();
        (warps[0].bar_id, warps[1].bar_id) = (255, 15);
        for warp in &mut warps {
            warp.bar_lanes = warp.live;
        }
        assert_eq!([0, 1].map(|w| barriers.arrive(&mut warps, w)), [Ok(false), Ok(true)]);
    }

    #[test]
    fn what_does_not_exist_is_refused() {
        let mut warps = warps(32);
        let mut barriers = Barriers::default();
        warps[0].bar_mode = 5;
        assert_eq!(barriers.arrive(&mut warps, 0), Err(Invalid { id: 0, mode: 5 }));
        assert!(barriers.arrive(&mut warps, 7).is_err());
    }

    #[test]
    fn pending_says_who_waits_for_what() {
        let mut warps = warps(96);
        let mut barriers = Barriers::default();
        assert!(barriers.is_idle());
        warps[1].bar_id = 2;
        warps[1].bar_threads = 64;
        warps[1].bar_lanes = ALL;
        assert_eq!(barriers.arrive(&mut warps, 1), Ok(false));
        assert!(!barriers.is_idle());
        let expect = Pending { id: 2, expected: 64, arrived: 32, waiting: vec![(1, ALL)] };
        assert_eq!(barriers.pending(&warps), [expect]);
        barriers.reset();
        assert!(barriers.is_idle());
        assert_eq!(barriers.pending(&warps), []);
    }
}
