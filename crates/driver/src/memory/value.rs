//! Memory words that a stream waits for or writes.

use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::external::Semaphore;

use super::Allocation;
use super::rights::{self, Use, User, access};

/// A word in device memory, 32 or 64 bits wide. It keeps its allocation alive: memory that a stream polls
/// stays mapped even if the program frees it.
#[derive(Clone, Debug)]
pub struct Word {
    address: u64,
    wide: bool,
    /// Whether its stream may write it.
    writable: bool,
    within: Arc<Allocation>,
}

/// How a word is compared with the value that a stream waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// Greater than or equal to the value, unsigned.
    AtLeast,
    /// Greater than or equal to the value in cyclic order: the signed difference is not negative.
    AtLeastCyclic,
    /// Equal to the value.
    Equal,
    /// Word AND value is not zero.
    AnySet,
    /// NOT (word OR value) is not zero.
    AnyClear,
}

/// A condition that a stream waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Condition {
    /// How the word is compared with the value.
    pub comparison: Comparison,
    /// The value to compare with.
    pub value: u64,
    /// The bits of the word that are compared.
    pub mask: u64,
}

impl Condition {
    /// Whether the condition holds for a word of 32 bits, or 64 if `wide`.
    fn holds(&self, word: u64, wide: bool) -> bool {
        let Condition { comparison, value, mask } = *self;
        let mask = if wide { mask } else { mask & u64::from(u32::MAX) };
        let word = word & mask;
        match comparison {
            Comparison::AtLeast => word >= value,
            Comparison::AtLeastCyclic if wide => word.wrapping_sub(value) as i64 >= 0,
            Comparison::AtLeastCyclic => (word as u32).wrapping_sub(value as u32) as i32 >= 0,
            Comparison::Equal => word == value,
            Comparison::AnySet => word & value != 0,
            Comparison::AnyClear => !(word | value) & mask != 0,
        }
    }
}

/// A stream operation on a word.
#[derive(Clone, Debug)]
pub enum WordOperation {
    /// Waits until a condition holds. Process exit and a fault of the context also end the wait.
    Wait(Word, Condition),
    /// Writes a value.
    Write(Word, u64),
    /// Signals an external semaphore with a value.
    Signal(Arc<Semaphore>, u64),
    /// Waits for an external semaphore to have a value.
    Await(Arc<Semaphore>, u64),
    /// A memory barrier. Operations of a stream run in order anyway.
    Barrier,
}

impl WordOperation {
    /// The same operation of a context.
    ///
    /// # Errors
    /// [`Error::InvalidValue`]: the word's memory is closed to it, or of a kind without such operations.
    pub fn used_by(mut self, user: User) -> Result<Self> {
        if let WordOperation::Wait(word, _) | WordOperation::Write(word, _) = &mut self {
            let range = (word.address, if word.wide { 8 } else { 4 });
            let rights = rights::check(Use::Word, &word.within, || Ok(user), || Ok(range))?;
            word.writable = rights == access::READ_WRITE;
        }
        Ok(self)
    }

    /// Whether it would wait now.
    pub(crate) fn is_blocked(&self) -> bool {
        match self {
            WordOperation::Wait(word, condition) => !condition.holds(word.read(), word.wide),
            WordOperation::Await(semaphore, value) => !semaphore.is_reached(*value),
            WordOperation::Write(..) | WordOperation::Signal(..) | WordOperation::Barrier => false,
        }
    }

    /// Whether it waits for something.
    pub(crate) fn waits(&self) -> bool {
        matches!(self, WordOperation::Wait(..) | WordOperation::Await(..))
    }
}

/// How long a waiting thread spins before it naps between polls.
const SPIN: Duration = Duration::from_micros(50);
const NAP: Duration = Duration::from_micros(20);

impl Word {
    /// The word at an address, which must be aligned to the word's size and lie in an allocation.
    pub fn at(address: u64, wide: bool) -> Result<Self> {
        let size = if wide { 8 } else { 4 };
        if !address.is_multiple_of(size) {
            return Err(Error::InvalidValue);
        }
        Ok(Word { address, wide, writable: true, within: super::check_device(address, size)? })
    }

    /// The address.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Whether it has 64 bits.
    pub fn is_wide(&self) -> bool {
        self.wide
    }

    fn read(&self) -> u64 {
        // SAFETY: `at` checked that the word is aligned and lies in the allocation, which `within` keeps
        // alive.
        unsafe {
            if self.wide {
                (self.address as *const u64).read_volatile()
            } else {
                u64::from((self.address as *const u32).read_volatile())
            }
        }
    }

    fn write(&self, value: u64) {
        // Earlier work of the stream must be visible to a reader of the word.
        fence(Ordering::SeqCst);
        // SAFETY: as for `read`.
        unsafe {
            if self.wide {
                (self.address as *mut u64).write_volatile(value);
            } else {
                (self.address as *mut u32).write_volatile(value as u32);
            }
        }
    }
}

impl WordOperation {
    /// Runs it. `go_on`: fails when a wait is to end, because the work of its context has failed.
    pub(crate) fn run(&self, go_on: impl Fn() -> Result<()>) -> Result<()> {
        match self {
            WordOperation::Wait(word, condition) => {
                let (start, lost) = (Instant::now(), host::mapped::lost());
                while !condition.holds(word.read(), word.wide) {
                    crate::driver()?;
                    go_on()?;
                    if host::mapped::lost() != lost {
                        return Err(Error::IllegalAddress);
                    }
                    if start.elapsed() > SPIN { std::thread::sleep(NAP) } else { std::hint::spin_loop() }
                }
            }
            WordOperation::Write(word, _) if !word.writable => return Err(Error::LaunchFailed),
            WordOperation::Write(word, value) => word.write(*value),
            WordOperation::Signal(semaphore, value) => {
                fence(Ordering::SeqCst);
                semaphore.signal(*value)?;
            }
            WordOperation::Await(semaphore, value) => semaphore.wait(*value, go_on)?,
            WordOperation::Barrier => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_hold_as_the_manuals_say() {
        use Comparison::{AnyClear, AnySet, AtLeast, AtLeastCyclic, Equal};
        let narrow = u64::from(u32::MAX);
        // Comparison, value, mask, whether 64 bits wide, a word that satisfies it and one that does not.
        let rows = [
            (AtLeast, 5, u64::MAX, true, 5, 4),
            (AtLeast, 5, 0xff, true, 0x105, 0x104),
            (AtLeast, 1 << 31, u64::MAX, false, narrow, 0),
            (AtLeastCyclic, 5, u64::MAX, true, 5, 4),
            // The comparison is cyclic: the value may wrap around.
            (AtLeastCyclic, narrow, u64::MAX, false, 3, narrow - 1),
            (AtLeastCyclic, u64::MAX, u64::MAX, true, 3, u64::MAX - 1),
            (AtLeastCyclic, narrow, u64::MAX, true, narrow, 3),
            (Equal, 7, u64::MAX, true, 7, 8),
            (Equal, 7, 0xf, true, 0x17, 0x18),
            (AnySet, 6, u64::MAX, true, 2, 9),
            (AnySet, 6, 4, true, 4, 2),
            (AnyClear, narrow - 1, u64::MAX, false, 0, 1),
            (AnyClear, u64::MAX - 1, u64::MAX, true, 0, 1),
            (AnyClear, 0, 1, true, 2, 1),
        ];
        for (comparison, value, mask, wide, yes, no) in rows {
            let condition = Condition { comparison, value, mask };
            assert!(condition.holds(yes, wide), "{condition:?} {yes:#x}");
            assert!(!condition.holds(no, wide), "{condition:?} {no:#x}");
        }
    }
}
