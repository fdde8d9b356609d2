//! What is launched, and what its blocks share.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use wave::abi::{Code, WarpCtx};

use crate::fault::{Fault, FaultKind};
use crate::heap::Heap;

/// What a launch asks of those who know the device's memory and streams.
pub trait Host: Send + Sync {
    /// Whether `size` bytes at `address` are memory of the device (or of the host, where the device may use it).
    fn accessible(&self, address: u64, size: u32, write: bool) -> bool;
    /// Text that a kernel printed; one call of `printf` at a time.
    fn print(&self, text: &str);
    /// The device's heap for `malloc` in kernels.
    fn heap(&self) -> &Heap;
}

/// A kernel with its grid and parameters.
pub struct Launch<'a> {
    /// The kernel's name, for messages.
    pub name: &'a str,
    /// Its code.
    pub code: &'a dyn Code,
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads a block; 1024 at most.
    pub block: [u32; 3],
    /// The parameter buffer.
    pub params: &'a [u8],
    /// Where the module's image lies.
    pub image: u64,
    /// Shared memory in bytes: the kernel's own, and the launch's.
    pub shared: [u32; 2],
    /// All blocks must be able to wait for one another.
    pub cooperative: bool,
    /// Number of the launch.
    pub id: u64,
    /// The device's memory and output.
    pub host: &'a dyn Host,
}

impl Launch<'_> {
    /// Threads a block.
    pub fn threads(&self) -> u32 {
        self.block.iter().fold(1, |n, d| n.saturating_mul(*d))
    }

    /// Blocks in the grid.
    pub fn blocks(&self) -> u64 {
        self.grid.iter().fold(1, |n, d| n.saturating_mul(u64::from(*d)))
    }

    /// The block with this number in launch order, x fastest.
    pub fn block_at(&self, number: u64) -> [u32; 3] {
        let [x, y, _] = self.grid.map(|d| u64::from(d.max(1)));
        [(number % x) as u32, (number / x % y) as u32, (number / x / y) as u32]
    }
}

/// What all blocks of a running launch share; [`wave::abi::BlockCtx::launch`] points to it.
pub struct Running<'a> {
    /// The launch.
    pub launch: &'a Launch<'a>,
    /// A fault has come: no more blocks.
    pub stopped: AtomicBool,
    fault: Mutex<Option<Fault>>,
}

impl<'a> Running<'a> {
    /// At the beginning.
    pub fn new(launch: &'a Launch<'a>) -> Self {
        Running { launch, stopped: AtomicBool::new(false), fault: Mutex::new(None) }
    }

    /// Notes a fault; the first one counts.
    pub fn fail(&self, fault: Fault) {
        let mut slot = self.fault.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        slot.get_or_insert(fault);
        self.stopped.store(true, Ordering::Release);
    }

    /// Notes a fault of a warp, with its place.
    pub fn fail_at(&self, warp: &WarpCtx, kind: FaultKind, what: &str) {
        // SAFETY: a warp's block outlives it (contract of the warp ABI).
        let block = unsafe { &*warp.block };
        let place = if warp.line > 0 { format!(", line {}", warp.line) } else { String::new() };
        self.fail(Fault {
            kind,
            message: format!(
                "kernel {}{place}, block ({}, {}, {}), warp {}: {what}",
                self.launch.name, block.ctaid[0], block.ctaid[1], block.ctaid[2], warp.index
            ),
        });
    }

    /// The answer of the launch.
    pub fn result(self) -> Result<(), Fault> {
        match self.fault.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
            Some(fault) => Err(fault),
            None => Ok(()),
        }
    }
}
