//! Stacks for kernels, and how they are entered and left.
//!
//! [`Gate::run`] calls a function on a separate stack with the floating-point state that kernels expect. The
//! function ends by returning or by a fault: the signal handler then makes the thread continue at the gate's
//! exit, with the registers that were saved on entry. Functions in between are abandoned, so none of them may
//! own anything.

use std::arch::global_asm;
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicUsize, Ordering};

use crate::fork;
use crate::memory::GuardedPages;

/// Inaccessible bytes below the stack: more than any function's frame.
const STACK_GUARD: usize = 1 << 20;

/// Number of entries for stacks that are made at once.
const STACKS: usize = 1024;

global_asm!(
    ".pushsection .text.anywarp_enter,\"ax\",@progbits",
    ".hidden anywarp_enter",
    ".hidden anywarp_leave",
    ".globl anywarp_enter",
    ".globl anywarp_leave",
    ".p2align 4",
    // (saved: *mut usize, stack: *mut u8, function, argument) -> whether a fault ended it
    "anywarp_enter:",
    "push rbp",
    "push rbx",
    "push r12",
    "push r13",
    "push r14",
    "push r15",
    "sub rsp, 8",
    "stmxcsr dword ptr [rsp]",
    "fnstcw word ptr [rsp + 4]",
    "mov qword ptr [rdi], rsp",
    "mov rbx, rsp",
    "mov rsp, rsi",
    "sub rsp, 16",
    "mov dword ptr [rsp], 0x1f80",
    "ldmxcsr dword ptr [rsp]",
    "xor ebp, ebp",
    "mov rdi, rcx",
    "call rdx",
    "mov rsp, rbx",
    "xor eax, eax",
    "jmp 2f",
    // The handler has put the saved stack pointer in rsp.
    "anywarp_leave:",
    "mov eax, 1",
    "2:",
    "cld",
    "ldmxcsr dword ptr [rsp]",
    "fldcw word ptr [rsp + 4]",
    "add rsp, 8",
    "pop r15",
    "pop r14",
    "pop r13",
    "pop r12",
    "pop rbx",
    "pop rbp",
    "ret",
    ".popsection",
);

unsafe extern "C" {
    fn anywarp_enter(
        saved: *mut usize,
        stack: *mut u8,
        function: unsafe extern "C" fn(*mut c_void),
        argument: *mut c_void,
    ) -> u32;
    fn anywarp_leave();
}

/// The address where a thread continues after a fault.
pub(crate) fn leave_address() -> usize {
    anywarp_leave as *const () as usize
}

/// The data that the signal handler recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Crash {
    /// Signal number.
    pub signal: i32,
    /// `si_code`.
    pub code: i32,
    /// `si_addr`.
    pub address: usize,
    /// Address of the instruction.
    pub ip: usize,
    /// Whether the address is in the stack's guard.
    pub overflow: bool,
}

impl Crash {
    /// Whether the thread was interrupted, rather than the kernel at fault: faults have codes above 0.
    pub(crate) fn interrupt(&self) -> bool {
        self.code == 0
    }
}

/// The kernel's id of the calling thread, cached because the system call would be a good part of a small
/// launch. After a fork, the child looks it up again.
fn thread_number() -> i32 {
    thread_local! {
        static NUMBER: Cell<(u32, i32)> = const { Cell::new((0, 0)) };
    }
    let generation = fork::generation();
    // SAFETY: gettid has no preconditions.
    let ask = || unsafe { libc::gettid() };
    let known = NUMBER.try_with(|known| {
        if known.get().1 == 0 || known.get().0 != generation {
            known.set((generation, ask()));
        }
        known.get().1
    });
    known.unwrap_or_else(|_| ask())
}

/// A stack, and the data that the signal handler needs to leave it.
#[derive(Debug)]
pub(crate) struct Gate {
    stack: GuardedPages,
    slot: &'static Slot,
    saved: AtomicUsize,
    /// Whether the kernel's own code is running (not the scheduler, not a runtime call).
    pub in_code: AtomicBool,
    /// Whether the kernel should be left at the next opportunity.
    pub interrupt: AtomicBool,
    crash: [AtomicUsize; 5],
    /// Whether the runtime met memory that was gone; `crash` then says where.
    has_lost: AtomicBool,
}

/// A stack's entry. Aligned, because a worker writes to its own at each launch.
#[derive(Debug)]
#[repr(align(64))]
struct Slot {
    low: AtomicUsize,
    /// 0 for an unused entry.
    high: AtomicUsize,
    gate: AtomicUsize,
    /// The thread that runs on the stack; 0 for none.
    thread: AtomicI32,
}

/// Entries, which are never freed: a signal handler may be reading them.
struct Slots {
    all: [Slot; STACKS],
    next: AtomicPtr<Slots>,
}

impl Slots {
    const fn new() -> Slots {
        let all = [const {
            Slot {
                low: AtomicUsize::new(0),
                high: AtomicUsize::new(0),
                gate: AtomicUsize::new(0),
                thread: AtomicI32::new(0),
            }
        }; STACKS];
        Slots { all, next: AtomicPtr::new(ptr::null_mut()) }
    }
}

static FIRST: Slots = Slots::new();

fn slots() -> impl Iterator<Item = &'static Slot> {
    let next = |slots: &&'static Slots| {
        // SAFETY: null, or entries that are never freed.
        unsafe { slots.next.load(Ordering::Acquire).as_ref() }
    };
    std::iter::successors(Some(&FIRST), next).flat_map(|slots| &slots.all)
}

/// An entry for a stack that ends at `high`. Takes no lock, which a child of a fork could find taken.
fn take_slot(high: usize) -> &'static Slot {
    let take = |slot: &&'static Slot| {
        slot.high.load(Ordering::Relaxed) == 0
            && slot.high.compare_exchange(0, high, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    };
    slots().find(take).unwrap_or_else(|| {
        let more = Box::leak(Box::new(Slots::new()));
        more.all[0].high = AtomicUsize::new(high);
        let mut next = FIRST.next.load(Ordering::Acquire);
        loop {
            *more.next.get_mut() = next;
            match FIRST.next.compare_exchange(next, more, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return &more.all[0],
                Err(other) => next = other,
            }
        }
    })
}

/// Whether any thread runs a kernel.
pub(crate) fn is_any_running() -> bool {
    slots().any(|slot| slot.thread.load(Ordering::Relaxed) != 0)
}

/// The gate whose stack (or stack guard) contains `sp`. For the signal handler.
pub(crate) fn find(sp: usize) -> Option<&'static Gate> {
    let slot = slots().find(|s| {
        let low = s.low.load(Ordering::Acquire);
        low != 0 && low <= sp && sp <= s.high.load(Ordering::Acquire)
    })?;
    let gate = slot.gate.load(Ordering::Acquire) as *const Gate;
    // SAFETY: a thread whose stack pointer is on the stack keeps the gate alive, and the entry is removed
    // before the gate is dropped.
    unsafe { gate.as_ref() }
}

impl Gate {
    /// Creates a stack of `size` bytes. `None` if the host has no memory for it.
    pub(crate) fn new(size: usize) -> Option<Box<Gate>> {
        let stack = GuardedPages::new(size.max(64 << 10).checked_add(STACK_GUARD)?)?;
        // SAFETY: the pages are the first of the region.
        if unsafe { libc::mprotect(stack.start().cast(), STACK_GUARD, libc::PROT_NONE) } != 0 {
            return None;
        }
        let slot = take_slot(stack.end() as usize);
        let gate = Box::new(Gate {
            stack,
            slot,
            saved: AtomicUsize::new(0),
            in_code: AtomicBool::new(false),
            interrupt: AtomicBool::new(false),
            crash: [const { AtomicUsize::new(0) }; 5],
            has_lost: AtomicBool::new(false),
        });
        slot.gate.store(&raw const *gate as usize, Ordering::Release);
        slot.low.store(gate.stack.start() as usize, Ordering::Release);
        Some(gate)
    }

    /// The thread that runs on the stack; 0 for none.
    pub(crate) fn thread(&self) -> i32 {
        self.slot.thread.load(Ordering::Relaxed)
    }

    fn set_thread(&self, thread: i32) {
        self.slot.thread.store(thread, Ordering::Relaxed);
    }

    /// Bytes of stack left below `place`, a variable of the caller.
    pub(crate) fn room_below(&self, place: *const u8) -> usize {
        (place as usize).saturating_sub(self.stack.start() as usize + STACK_GUARD)
    }

    /// Whether `address` is in the stack's guard.
    pub(crate) fn is_guard(&self, address: usize) -> bool {
        let start = self.stack.start() as usize;
        (start..start + STACK_GUARD).contains(&address)
    }

    /// Records that the kernel used memory that was gone. For the signal handler.
    pub(crate) fn lost(&self, crash: Crash) {
        if !self.has_lost.load(Ordering::Relaxed) {
            self.record(crash);
            self.has_lost.store(true, Ordering::Relaxed);
        }
    }

    /// The access to memory that was gone, if there was one since the last call.
    pub(crate) fn take_lost(&self) -> Option<Crash> {
        let lost = self.has_lost.load(Ordering::Relaxed);
        lost.then(|| {
            self.has_lost.store(false, Ordering::Relaxed);
            self.recorded()
        })
    }

    fn record(&self, crash: Crash) {
        let words = [
            crash.signal as usize,
            crash.code as usize,
            crash.address,
            crash.ip,
            usize::from(crash.overflow),
        ];
        for (place, word) in self.crash.iter().zip(words) {
            place.store(word, Ordering::Relaxed);
        }
    }

    fn recorded(&self) -> Crash {
        let [signal, code, address, ip, overflow] = &self.crash;
        let word = |w: &AtomicUsize| w.load(Ordering::Relaxed);
        Crash {
            signal: word(signal) as i32,
            code: word(code) as i32,
            address: word(address),
            ip: word(ip),
            overflow: word(overflow) != 0,
        }
    }

    /// Records why the kernel is left. Returns the stack pointer to leave with. For the signal handler.
    pub(crate) fn crashed(&self, crash: Crash) -> usize {
        self.record(crash);
        self.in_code.store(false, Ordering::Relaxed);
        self.saved.load(Ordering::Relaxed)
    }

    /// Calls `function(argument)` on the stack. Returns the crash that ended it, if any.
    ///
    /// # Safety
    /// `function` may be called with `argument` and does not unwind. Where it can crash, none of the active
    /// functions owns anything. Nothing else runs on this stack.
    pub(crate) unsafe fn run(
        &self,
        function: unsafe extern "C" fn(*mut c_void),
        argument: *mut c_void,
    ) -> Option<Crash> {
        crate::signals::prepare_thread();
        self.set_thread(thread_number());
        // SAFETY: the stack is ours and large enough for a function's first frames; the caller guarantees the
        // rest.
        let left = unsafe { anywarp_enter(self.saved.as_ptr(), self.stack.end(), function, argument) };
        self.set_thread(0);
        if left == 0 {
            return None;
        }
        clean_vectors();
        Some(self.recorded())
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.slot.low.store(0, Ordering::Release);
        self.slot.gate.store(0, Ordering::Release);
        self.slot.high.store(0, Ordering::Release);
    }
}

/// Kernels that are left midway leave the upper halves of vector registers in use, which slows the host's SSE
/// code down.
fn clean_vectors() {
    #[target_feature(enable = "avx")]
    fn zero_upper() {
        std::arch::x86_64::_mm256_zeroupper();
    }
    if std::arch::is_x86_feature_detected!("avx") {
        // SAFETY: the processor has AVX.
        unsafe { zero_upper() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_on_its_own_stack_with_default_rounding() {
        unsafe extern "C" fn f(seen: *mut c_void) {
            let here = 0u8;
            let mut mxcsr = 0u32;
            // SAFETY: stores the register to a variable.
            unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &mut mxcsr) };
            // SAFETY: the test passes this.
            unsafe { *seen.cast::<(usize, u32)>() = (&raw const here as usize, mxcsr) };
        }
        let mut csr = 0u32;
        // SAFETY: reads the register.
        unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &mut csr) };
        let odd = csr | 0x6000 | 0x8040;
        // SAFETY: sets rounding towards zero and flushing for this thread, which is restored below.
        unsafe { std::arch::asm!("ldmxcsr [{}]", in(reg) &odd) };
        let gate = Gate::new(1 << 20).unwrap();
        let mut seen = (0usize, 0u32);
        // SAFETY: `f` takes such an argument and owns nothing.
        let crash = unsafe { gate.run(f, (&raw mut seen).cast()) };
        let mut after = 0u32;
        // SAFETY: reads the register, then restores it.
        unsafe {
            std::arch::asm!("stmxcsr [{}]", in(reg) &mut after);
            std::arch::asm!("ldmxcsr [{}]", in(reg) &csr);
        }
        assert_eq!(crash, None);
        assert!(find(seen.0).is_some_and(|g| std::ptr::eq(g, &*gate)));
        assert_eq!(seen.1 & 0xffc0, 0x1f80);
        assert_eq!(after & 0xffc0, odd & 0xffc0);
        let place = seen.0;
        drop(gate);
        assert!(find(place).is_none());
    }

    #[test]
    fn there_are_entries_for_any_number_of_stacks() {
        let gates: Vec<Box<Gate>> = (0..2 * STACKS + 2).map(|_| Gate::new(1).unwrap()).collect();
        for gate in &gates {
            let inside = gate.stack.end() as usize - 8;
            assert!(find(inside).is_some_and(|found| ptr::eq(found, &**gate)));
        }
        let (last, size) = (gates.last().unwrap().slot, slots().count());
        let place = last.low.load(Ordering::Relaxed);
        drop(gates);
        assert!(find(place).is_none());
        let again: Vec<Box<Gate>> = (0..2 * STACKS).map(|_| Gate::new(1).unwrap()).collect();
        assert_eq!(slots().count(), size, "entries are used again");
        drop(again);
    }
}
