//! The word of a barrier in memory (PTX ISA 9.7.13.15). Its upper half, the part of a state that programs
//! see, is the hardware's.
//!
//! | bits | content |
//! |---|---|
//! | 0 | the layout: 1 after `mbarrier.init.layout::v1` |
//! | 1 to 20 | minus the arrivals that a phase expects |
//! | 21 to 41 | minus the bytes of asynchronous copies that the phase still waits for, signed |
//! | 42 | always 0 |
//! | 43 to 62 | minus the pending arrivals |
//! | 63 | the phase's parity |
//!
//! An arrival returns a state: the previous word with the lower half 0, or 1 after `.noComplete`. The upper
//! half is known from the recorded states of an H200 (`tests/async`); `ptxas` emits visible code for
//! `mbarrier.init` and `mbarrier.pending_count`. The value that a plain load reads from a barrier is
//! undefined.

/// Position of the layout bit. Reports of copies depend on it; nothing is reported here, so it has no other
/// effect.
pub const LAYOUT: u32 = 0;
/// Lowest bit of the expected arrivals.
pub const EXPECTED: u32 = 1;
/// Lowest bit of the byte count.
pub const BYTES: u32 = 21;
/// Lowest bit of the pending arrivals.
pub const PENDING: u32 = 43;
/// Position of the parity bit.
pub const PHASE: u32 = 63;
/// Number of bits in a count of arrivals.
pub const COUNT_BITS: u32 = 20;
/// Number of bits in the byte count.
const BYTES_BITS: u32 = 21;

const fn mask(bits: u32) -> u64 {
    (1 << bits) - 1
}

/// A barrier's word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word(pub u64);

/// The effect of one operation on a barrier, in this order: bytes, then arrivals, then completion of the
/// phase if nothing is pending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Update {
    /// Bytes to wait for; negative for bytes that have arrived.
    pub bytes: i32,
    /// Number of arrivals.
    pub arrivals: u32,
    /// Number of arrivals that later phases no longer expect.
    pub dropped: u32,
}

impl Word {
    /// Its size in shared memory in bytes, and its alignment.
    pub const SIZE: u64 = size_of::<Word>() as u64;

    /// The word that `mbarrier.init` writes.
    pub const fn new(count: u32) -> Word {
        let negated = (count as u64).wrapping_neg() & mask(COUNT_BITS);
        Word(negated << PENDING | negated << EXPECTED)
    }

    const fn field(self, at: u32, bits: u32) -> u64 {
        self.0 >> at & mask(bits)
    }

    const fn with(self, at: u32, bits: u32, value: u64) -> Word {
        Word(self.0 & !(mask(bits) << at) | (value & mask(bits)) << at)
    }

    /// Number of pending arrivals.
    pub const fn pending(self) -> u32 {
        (self.field(PENDING, COUNT_BITS).wrapping_neg() & mask(COUNT_BITS)) as u32
    }

    /// Number of arrivals that a phase expects.
    pub const fn expected(self) -> u32 {
        (self.field(EXPECTED, COUNT_BITS).wrapping_neg() & mask(COUNT_BITS)) as u32
    }

    /// Number of bytes that the phase waits for.
    pub const fn bytes(self) -> i32 {
        let unused = 32 - BYTES_BITS;
        ((self.field(BYTES, BYTES_BITS) as i32) << unused >> unused).wrapping_neg()
    }

    /// The state that an arrival returns, from the word before it.
    pub const fn state(self) -> u64 {
        self.0 >> 32 << 32
    }

    /// Parity of the current phase.
    pub const fn phase(self) -> bool {
        self.0 >> PHASE != 0
    }

    /// The word after an operation. Too many arrivals, which are undefined in PTX, wrap around.
    pub const fn after(self, update: Update) -> Word {
        let bytes = self.field(BYTES, BYTES_BITS).wrapping_sub(update.bytes as i64 as u64);
        let pending = self.field(PENDING, COUNT_BITS).wrapping_add(update.arrivals as u64);
        let expected = self.field(EXPECTED, COUNT_BITS).wrapping_add(update.dropped as u64);
        let mut word = self
            .with(BYTES, BYTES_BITS, bytes)
            .with(PENDING, COUNT_BITS, pending)
            .with(EXPECTED, COUNT_BITS, expected);
        if word.pending() == 0 && word.bytes() == 0 {
            word = word.with(PENDING, COUNT_BITS, expected);
            word.0 ^= 1 << PHASE;
        }
        word
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ARRIVE: Update = Update { bytes: 0, arrivals: 1, dropped: 0 };

    #[test]
    fn a_phase_ends_with_its_last_arrival() {
        let mut word = Word::new(2);
        assert_eq!((word.pending(), word.expected(), word.bytes(), word.phase()), (2, 2, 0, false));
        word = word.after(ARRIVE);
        assert_eq!((word.pending(), word.phase()), (1, false));
        word = word.after(ARRIVE);
        assert_eq!(word, Word(Word::new(2).0 | 1 << PHASE));
        assert_eq!(word.after(ARRIVE).after(ARRIVE), Word::new(2));
    }

    #[test]
    fn a_phase_waits_for_its_bytes() {
        let all = Word::new(1).after(Update { bytes: 0xfffff, arrivals: 1, dropped: 0 });
        assert_eq!((all.pending(), all.bytes(), all.phase()), (0, 0xfffff, false));
        let some = all.after(Update { bytes: -0xffffe, ..Update::default() });
        assert_eq!((some.bytes(), some.phase()), (1, false));
        let none = some.after(Update { bytes: -1, ..Update::default() });
        assert_eq!((none.pending(), none.bytes(), none.phase()), (1, 0, true));
    }

    #[test]
    fn bytes_may_come_before_they_are_expected() {
        let early = Word::new(1).after(Update { bytes: -16, ..Update::default() });
        assert_eq!((early.bytes(), early.phase()), (-16, false));
        assert!(early.after(Update { bytes: 16, arrivals: 1, dropped: 0 }).phase());
    }

    #[test]
    fn who_drops_out_is_not_waited_for_again() {
        let word = Word::new(3).after(Update { arrivals: 2, dropped: 2, bytes: 0 });
        assert_eq!((word.pending(), word.expected(), word.phase()), (1, 1, false));
        let word = word.after(ARRIVE);
        assert_eq!((word.pending(), word.expected(), word.phase()), (1, 1, true));
    }
}
