//! Why a launch failed.

use std::fmt;

/// The kind of fault. The API decides which error code it becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// An address that is not mapped, or not for this kind of access.
    IllegalAddress,
    /// An address that is not a multiple of the access's size.
    MisalignedAddress,
    /// The processor refused an instruction.
    IllegalInstruction,
    /// The processor refused an operation (usually an integer division).
    Arithmetic,
    /// A device-side assertion failed; its message has been written.
    Assert,
    /// The kernel executed `trap`.
    Trap,
    /// The kernel's stack overflowed: recursion was endless or too deep.
    StackOverflow,
    /// The host had no memory for shared memory, local memory or stacks.
    OutOfMemory,
    /// All warps of a block wait at barriers that can never open. Hardware hangs here.
    Deadlock,
    /// The watchdog's time has expired.
    Timeout,
    /// Another grid, for which this one may wait, has failed.
    Abandoned,
    /// A barrier number or mode that does not exist.
    InvalidBarrier,
    /// `free` of an address that `malloc` did not return, or that was already freed.
    InvalidFree,
    /// The launch's dimensions are illegal (no threads, or more than 1024 in a block).
    InvalidLaunch,
    /// A bug of ours: code panicked, or stopped without reporting a reason.
    Internal,
}

impl FaultKind {
    /// A description of the fault.
    pub const fn text(self) -> &'static str {
        match self {
            FaultKind::IllegalAddress => "illegal address",
            FaultKind::MisalignedAddress => "misaligned address",
            FaultKind::IllegalInstruction => "illegal instruction",
            FaultKind::Arithmetic => "arithmetic exception",
            FaultKind::Assert => "assertion failed",
            FaultKind::Trap => "trap",
            FaultKind::StackOverflow => "stack overflow",
            FaultKind::OutOfMemory => "out of memory",
            FaultKind::Deadlock => "deadlock at a barrier",
            FaultKind::Timeout => "timeout",
            FaultKind::Abandoned => "another grid of the launch has failed",
            FaultKind::InvalidBarrier => "invalid barrier",
            FaultKind::InvalidFree => "invalid free",
            FaultKind::InvalidLaunch => "invalid launch",
            FaultKind::Internal => "internal error",
        }
    }
}

/// Why and where a launch failed. Unknown fields are `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The kind of fault.
    pub kind: FaultKind,
    /// The kernel's name.
    pub kernel: String,
    /// The block.
    pub block: Option<[u32; 3]>,
    /// The warp in the block.
    pub warp: Option<u32>,
    /// The lanes of the warp that caused it.
    pub lanes: Option<u64>,
    /// The first of these lanes' threads.
    pub thread: Option<[u32; 3]>,
    /// Line in the module's text ([`wave::Loc::line`]).
    pub line: Option<u32>,
    /// The line in words: source file and line if the module has debug data, and what the module's text or
    /// code is ([`Host::place`]).
    ///
    /// [`Host::place`]: crate::Host::place
    pub place: Option<String>,
    /// The address of a memory fault.
    pub address: Option<u64>,
    /// Further details.
    pub detail: String,
}

impl Fault {
    /// A fault with only a kind and an explanation.
    pub fn new(kind: FaultKind, kernel: &str, detail: impl Into<String>) -> Fault {
        Fault {
            kind,
            kernel: kernel.to_owned(),
            block: None,
            warp: None,
            lanes: None,
            thread: None,
            line: None,
            place: None,
            address: None,
            detail: detail.into(),
        }
    }
}

/// `threadIdx` of thread number `linear`.
pub(crate) fn thread_index(linear: u32, ntid: [u32; 3]) -> [u32; 3] {
    let (x, y) = (ntid[0].max(1), ntid[1].max(1));
    [linear % x, linear / x % y, linear / x / y]
}

impl Fault {
    /// The message without the kernel's name, for those who have named it.
    pub fn told(&self) -> String {
        Told(self, false).to_string()
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Told(self, true).fmt(f)
    }
}

/// A fault's message, and whether the kernel is named in it.
struct Told<'a>(&'a Fault, bool);

impl std::ops::Deref for Told<'_> {
    type Target = Fault;

    fn deref(&self) -> &Fault {
        self.0
    }
}

impl fmt::Display for Told<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind.text())?;
        if let Some(address) = self.address {
            write!(f, " {address:#x}")?;
        }
        if self.1 {
            write!(f, " in kernel `{}`", self.kernel)?;
        }
        match (&self.place, self.line) {
            (Some(place), _) => write!(f, ", at {place}")?,
            (None, Some(line)) => write!(f, ", line {line}")?,
            (None, None) => {}
        }
        if let Some([x, y, z]) = self.block {
            write!(f, ", block ({x}, {y}, {z})")?;
        }
        if let Some([x, y, z]) = self.thread {
            write!(f, ", thread ({x}, {y}, {z})")?;
        }
        if let Some(warp) = self.warp {
            write!(f, ", warp {warp}")?;
        }
        if let Some(lanes) = self.lanes {
            write!(f, ", lanes {lanes:#010x}")?;
        }
        if !self.detail.is_empty() {
            write!(f, ": {}", self.detail)?;
        }
        Ok(())
    }
}

impl std::error::Error for Fault {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_has_what_is_known() {
        let mut fault = Fault::new(FaultKind::Trap, "k", "");
        assert_eq!(fault.to_string(), "trap in kernel `k`");
        fault = Fault::new(FaultKind::IllegalAddress, "k", "write of 4 bytes");
        fault.address = Some(0x10);
        fault.line = Some(7);
        assert!(fault.to_string().contains("`k`, line 7: write"), "{fault}");
        fault.place = Some("scale.cu:3 (PTX line 7)".into());
        fault.block = Some([1, 2, 3]);
        fault.thread = Some([4, 0, 0]);
        fault.warp = Some(0);
        fault.lanes = Some(0x10);
        assert_eq!(
            fault.to_string(),
            "illegal address 0x10 in kernel `k`, at scale.cu:3 (PTX line 7), block (1, 2, 3), thread (4, 0, 0), warp 0, lanes 0x00000010: write of 4 bytes"
        );
    }

    #[test]
    fn threads_count_x_first() {
        assert_eq!(thread_index(0, [4, 3, 2]), [0, 0, 0]);
        assert_eq!(thread_index(5, [4, 3, 2]), [1, 1, 0]);
        assert_eq!(thread_index(23, [4, 3, 2]), [3, 2, 1]);
    }
}
