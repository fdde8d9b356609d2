//! Words in memory that a stream waits for or writes.

use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::stream::Stream;

/// A word in device memory: 32 or 64 bits wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    address: u64,
    wide: bool,
}

/// Waits of a thread that spins; then it naps.
const SPIN: Duration = Duration::from_micros(50);
const NAP: Duration = Duration::from_micros(20);

impl Word {
    /// The word at an address, which must be a multiple of its size and in an allocation.
    pub fn at(address: u64, wide: bool) -> Result<Self> {
        let size = if wide { 8 } else { 4 };
        if !address.is_multiple_of(size) {
            return Err(Error::InvalidValue);
        }
        super::check_device(address, size)?;
        Ok(Word { address, wide })
    }

    fn read(self) -> u64 {
        // SAFETY: the address was checked to lie in an allocation, aligned, when the wait was enqueued.
        unsafe {
            if self.wide {
                (self.address as *const u64).read_volatile()
            } else {
                u64::from((self.address as *const u32).read_volatile())
            }
        }
    }

    /// Makes what follows in a stream wait until `reached` holds for the word. The end of the process ends the wait.
    pub fn wait(self, stream: &Arc<Stream>, reached: impl Fn(u64) -> bool + Send + 'static) {
        let wait = move || {
            let start = Instant::now();
            while !reached(self.read()) {
                crate::driver()?;
                if start.elapsed() > SPIN { std::thread::sleep(NAP) } else { std::hint::spin_loop() }
            }
            Ok(())
        };
        stream.enqueue(false, Box::new(wait));
    }

    /// Writes the word after what is in a stream.
    pub fn write(self, stream: &Arc<Stream>, value: u64) {
        let write = move || {
            fence(Ordering::SeqCst);
            // SAFETY: as for `read`.
            unsafe {
                if self.wide {
                    (self.address as *mut u64).write_volatile(value);
                } else {
                    (self.address as *mut u32).write_volatile(value as u32);
                }
            }
            Ok(())
        };
        stream.enqueue(false, Box::new(write));
    }
}
