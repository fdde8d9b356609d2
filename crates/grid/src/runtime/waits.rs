//! Lanes that wait for a barrier in memory.
//!
//! Hardware wakes the threads that wait in `mbarrier.try_wait` when the phase ends, whatever happens to the
//! barrier afterwards: the first thread to continue may reinitialise it, or complete further phases. Here a
//! lane reads the barrier's word again in its warp's next turn, which may be too late. So a lane that has
//! found a phase unfinished is noted, and marked as woken when the phase ends; its next `try_wait` succeeds.
//!
//! A lane waits for one phase at a time, and only as long as it does nothing else with barriers: a lane that
//! arrives at a barrier, changes its count of bytes or reads another phase is running, so its note is
//! dropped. Reads that find a phase over drop the note too; otherwise it would report a later phase of the
//! same parity as over.

use std::collections::HashMap;

/// A phase of a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Phase {
    /// The barrier's address.
    pub place: usize,
    pub parity: bool,
}

/// A warp among those that share memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Warp {
    /// The address of its context, which later blocks use again.
    pub context: usize,
    pub block: [u32; 3],
}

/// Lanes of a warp that have found the same phase unfinished.
#[derive(Debug)]
struct Note {
    warp: Warp,
    lanes: u64,
    phase: Phase,
    /// Whether the phase has ended since.
    woken: bool,
}

/// The waits of the blocks on a multiprocessor, by the shared memory of the block or cluster.
#[derive(Debug, Default)]
pub(crate) struct Waits(HashMap<usize, Vec<Note>>);

impl Waits {
    /// Lanes of a warp have read whether a phase is over. Returns whether it is, or has ended since they
    /// found it unfinished.
    pub(crate) fn read(&mut self, memory: usize, warp: Warp, lanes: u64, phase: Phase, over: bool) -> bool {
        let woken = |notes: &&mut Vec<Note>| {
            notes.iter().any(|n| n.warp == warp && n.phase == phase && n.woken && n.lanes & lanes != 0)
        };
        let over = over || self.0.get_mut(&memory).as_ref().is_some_and(woken);
        self.leave(memory, warp, lanes);
        if !over {
            self.0.entry(memory).or_default().push(Note { warp, lanes, phase, woken: false });
        }
        over
    }

    /// Lanes of a warp do something else: they no longer wait.
    pub(crate) fn leave(&mut self, memory: usize, warp: Warp, lanes: u64) {
        let Some(notes) = self.0.get_mut(&memory) else { return };
        notes.retain_mut(|note| {
            if note.warp == warp {
                note.lanes &= !lanes;
            }
            let has_ended = note.warp.context == warp.context && note.warp.block != warp.block;
            note.lanes != 0 && !has_ended
        });
    }

    /// A phase of the barrier at `place` has ended.
    pub(crate) fn wake(&mut self, memory: usize, place: usize, parity: bool) {
        let ended = Phase { place, parity };
        let notes = self.0.get_mut(&memory).into_iter().flatten();
        notes.filter(|note| note.phase == ended).for_each(|note| note.woken = true);
    }

    /// A launch begins.
    pub(crate) fn clear(&mut self) {
        // Clearing takes time even if the table is empty.
        if !self.0.is_empty() {
            self.0.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMORY: usize = 64;
    const WARP: Warp = Warp { context: 8, block: [0; 3] };
    const PHASE: Phase = Phase { place: 72, parity: false };

    fn read(waits: &mut Waits, lanes: u64, phase: Phase) -> bool {
        waits.read(MEMORY, WARP, lanes, phase, false)
    }

    #[test]
    fn a_waiting_lane_learns_once_that_the_phase_has_ended() {
        let mut waits = Waits::default();
        assert!(!read(&mut waits, 3, PHASE));
        assert!(!read(&mut waits, 3, PHASE));
        waits.wake(MEMORY, PHASE.place, PHASE.parity);
        assert!(read(&mut waits, 1, PHASE));
        assert!(!read(&mut waits, 1, PHASE));
        assert!(read(&mut waits, 2, PHASE));
        assert!(!read(&mut waits, 2, PHASE));
    }

    #[test]
    fn only_what_a_lane_waits_for_wakes_it() {
        let mut waits = Waits::default();
        let others = [
            (MEMORY, Phase { parity: true, ..PHASE }),
            (MEMORY, Phase { place: 80, ..PHASE }),
            (MEMORY + 4096, PHASE),
        ];
        assert!(!read(&mut waits, 1, PHASE));
        for (memory, phase) in others {
            waits.wake(memory, phase.place, phase.parity);
        }
        assert!(!read(&mut waits, 1, PHASE));
        waits.wake(MEMORY, PHASE.place, PHASE.parity);
        // Another warp, and then the same one in a later block.
        assert!(!waits.read(MEMORY, Warp { context: 16, ..WARP }, 1, PHASE, false));
        assert!(read(&mut waits, 1, PHASE));
        assert!(!read(&mut waits, 1, PHASE));
        waits.wake(MEMORY, PHASE.place, PHASE.parity);
        assert!(!waits.read(MEMORY, Warp { block: [1, 0, 0], ..WARP }, 1, PHASE, false));
    }

    /// A lane that did something else since it found the phase unfinished, or has seen it end, waits no
    /// longer: the next phase of this parity is another one.
    #[test]
    fn a_lane_that_goes_on_waits_no_longer() {
        type Step = fn(&mut Waits);
        let steps: [Step; 3] = [
            |waits| assert!(waits.read(MEMORY, WARP, 1, PHASE, true)),
            |waits| assert!(!read(waits, 1, Phase { parity: true, ..PHASE })),
            |waits| waits.leave(MEMORY, WARP, 1),
        ];
        for (n, step) in steps.iter().enumerate() {
            for woken_first in [false, true] {
                let mut waits = Waits::default();
                assert!(!read(&mut waits, 1, PHASE));
                let wake = |waits: &mut Waits| waits.wake(MEMORY, PHASE.place, PHASE.parity);
                if woken_first {
                    wake(&mut waits);
                }
                step(&mut waits);
                if !woken_first {
                    wake(&mut waits);
                }
                assert!(!read(&mut waits, 1, PHASE), "step {n}, woken first: {woken_first}");
            }
        }
    }

    #[test]
    fn nothing_stays_of_lanes_that_wait_no_longer() {
        let mut waits = Waits::default();
        for n in 0..100 {
            let phase = Phase { place: n * 8, ..PHASE };
            assert!(!read(&mut waits, 1 << (n % 32), phase));
        }
        assert!(waits.0[&MEMORY].len() <= 32);
        waits.leave(MEMORY, Warp { block: [1, 0, 0], ..WARP }, 1);
        assert!(waits.0[&MEMORY].is_empty());
    }
}
