//! Faults: what can end a launch, and how kernel code is left when it touches memory that is not there.
//!
//! [`catch`] enters kernel code through a trampoline that saves the callee-saved registers. A SIGSEGV, SIGBUS, SIGFPE or SIGILL whose
//! instruction lies in a registered range of kernel code makes the handler return into the trampoline's other exit. Every other
//! signal goes to the handler that was there before.

mod ranges;
mod signal;

pub use ranges::{register_code, unregister_code};
pub use signal::catch;

/// What ended a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// Memory that is not there, or may not be written.
    IllegalAddress,
    /// An address that is not a multiple of the access's size.
    MisalignedAddress,
    /// An instruction that this processor does not have.
    IllegalInstruction,
    /// `assert` in a kernel.
    Assert,
    /// `trap`, or another reason that CUDA answers with "launch failure".
    Trap,
    /// A lane's stack is full.
    StackOverflow,
    /// The machine has no memory for the block.
    OutOfMemory,
    /// No warp can go on, or the watchdog's time is over.
    Timeout,
}

/// A failed launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Why.
    pub kind: FaultKind,
    /// Kernel, place, block, warp, and what happened, for people.
    pub message: String,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {}

/// A signal that kernel code raised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signal {
    /// Its number.
    pub number: i32,
    /// The address it names.
    pub address: u64,
}

impl Signal {
    /// What it means for the launch.
    pub fn kind(self) -> FaultKind {
        match self.number {
            libc::SIGILL => FaultKind::IllegalInstruction,
            libc::SIGFPE => FaultKind::Trap,
            _ => FaultKind::IllegalAddress,
        }
    }

    /// For people.
    pub fn describe(self) -> String {
        match self.number {
            libc::SIGILL => "illegal instruction".into(),
            libc::SIGFPE => "arithmetic fault".into(),
            _ => format!("access at {:#x}, where no memory is", self.address),
        }
    }
}
