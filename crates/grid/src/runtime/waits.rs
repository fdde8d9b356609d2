//! Warps that wait for a barrier in memory.
//!
//! Hardware wakes the warps that wait in `mbarrier.try_wait` when the phase ends, whatever happens to the
//! barrier afterwards: the first warp that goes on may initialise it again, or complete further phases. Here
//! such a warp reads the barrier's word again in its next turn, which may be too late. So its wait is noted
//! when it yields, the end of the phase wakes it, and its next reading of the barrier is told so.
//!
//! A note lasts until the end of the warp's next turn: a warp that does not read the barrier then no longer
//! waits for it.

/// What a lane waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wait {
    /// The barrier's address.
    pub place: usize,
    /// The parity of the phase that must end.
    pub parity: bool,
    /// The lane's block.
    pub block: [u32; 3],
    /// The address of its warp's context.
    pub warp: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The warp has found the phase unfinished in its current turn.
    Found,
    /// It has yielded after that.
    Waiting,
    /// The phase has ended meanwhile.
    Woken,
}

/// The waits of the blocks on a multiprocessor.
#[derive(Debug, Default)]
pub(crate) struct Waits(Vec<(Wait, u64, State)>);

impl Waits {
    /// Lanes have found a phase unfinished. Returns whether it had ended while one of them waited.
    pub(crate) fn found(&mut self, wait: Wait, lanes: u64) -> bool {
        let Some(at) = self.0.iter().position(|(of, ..)| *of == wait) else {
            self.0.push((wait, lanes, State::Found));
            return false;
        };
        let Some((_, noted, state)) = self.0.get_mut(at) else { return false };
        if *state == State::Woken && *noted & lanes != 0 {
            *noted &= !lanes;
            if *noted == 0 {
                self.0.swap_remove(at);
            }
            return true;
        }
        if *state != State::Woken {
            *noted |= lanes;
            *state = State::Found;
        }
        false
    }

    /// A phase of the barrier at `place` has ended, whose parity was `parity`.
    pub(crate) fn wake(&mut self, place: usize, parity: bool) {
        for (wait, _, state) in &mut self.0 {
            if *state == State::Waiting && wait.place == place && wait.parity == parity {
                *state = State::Woken;
            }
        }
    }

    /// A warp has yielded.
    pub(crate) fn yielded(&mut self, warp: usize) {
        self.0.retain_mut(|(wait, _, state)| {
            let current = wait.warp != warp || *state == State::Found;
            if wait.warp == warp {
                *state = State::Waiting;
            }
            current
        });
    }

    /// A launch begins.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAIT: Wait = Wait { place: 64, parity: false, block: [0; 3], warp: 8 };

    #[test]
    fn a_warp_that_yielded_learns_that_the_phase_ended() {
        let mut waits = Waits::default();
        assert!(!waits.found(WAIT, 3));
        waits.yielded(8);
        waits.wake(64, false);
        // Once for each lane.
        assert!(waits.found(WAIT, 1));
        assert!(!waits.found(WAIT, 1));
        assert!(waits.found(WAIT, 2));
        assert!(!waits.found(WAIT, 2));
    }

    #[test]
    fn only_the_phase_that_a_warp_waits_for_wakes_it() {
        let mut waits = Waits::default();
        waits.found(WAIT, 1);
        waits.wake(64, false);
        assert!(!waits.found(WAIT, 1), "it runs");
        waits.yielded(16);
        waits.wake(64, false);
        assert!(!waits.found(WAIT, 1), "another warp yielded");
        waits.yielded(8);
        waits.wake(72, false);
        waits.wake(64, true);
        assert!(!waits.found(WAIT, 1), "another barrier, another phase");
        waits.yielded(8);
        assert!(!waits.found(Wait { block: [1, 0, 0], ..WAIT }, 1), "another block");
    }

    #[test]
    fn a_warp_that_does_something_else_for_a_turn_waits_no_longer() {
        let mut waits = Waits::default();
        waits.found(WAIT, 1);
        waits.yielded(8);
        waits.wake(64, false);
        waits.yielded(8);
        assert!(!waits.found(WAIT, 1));
    }
}
