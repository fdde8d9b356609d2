//! Signal handlers: faults in kernels, and the interrupt that stops an endless kernel.
//!
//! The handlers are installed when the first launch runs. A fault is ours if the thread is on a kernel's
//! stack (identified by its stack pointer, so that threads of the program are never affected) and either the
//! kernel's code was running, or the address is in the stack's guard, or the guarded copy was running. The
//! crate `host` recovers from accesses to truncated files and to pages that are being replaced. Every other
//! fault goes to the handler that the program installed, before ours or after it ([`crate::handlers`]).

use std::cell::Cell;
use std::ffi::c_void;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, PoisonError};

use host::threads::{FAULTS, Look, Turn};

use crate::code;
use crate::enter::{self, Crash, Gate};
use crate::guard;
use crate::handlers::{self, current, install_one};
use crate::memory::{self, GuardedPages};

/// The signal of [`interrupt`]; 0 if none is installed.
static INTERRUPT: AtomicI32 = AtomicI32::new(0);

/// The interrupt of a program that has taken all real-time signals: one of the faults, whose handler is ours
/// anyway. It is the one that programs handle least.
const LAST_RESORT: i32 = libc::SIGILL;

/// The value that is sent with [`LAST_RESORT`], by which the handler tells the interrupt from a fault and
/// from what the program sends.
fn mark() -> usize {
    &raw const INTERRUPT as usize
}

/// Registers of the interrupted thread, in a handler.
///
/// # Safety
/// `context` is the pointer that the kernel passed to the handler.
unsafe fn registers<'a>(context: *mut c_void) -> Option<&'a mut [libc::greg_t; 23]> {
    // SAFETY: the caller guarantees that this is a `ucontext_t`.
    unsafe { context.cast::<libc::ucontext_t>().as_mut() }.map(|c| &mut c.uc_mcontext.gregs)
}

const RIP: usize = libc::REG_RIP as usize;
const RSP: usize = libc::REG_RSP as usize;

fn leave(gate: &Gate, registers: &mut [libc::greg_t; 23], crash: Crash) {
    registers[RSP] = gate.crashed(crash) as libc::greg_t;
    registers[RIP] = enter::leave_address() as libc::greg_t;
}

/// Leaves the kernel if the signal is a fault in one. Returns whether it is.
///
/// # Safety
/// The pointers are those that the kernel passed to a handler.
pub(crate) unsafe fn take(signal: i32, info: *mut libc::siginfo_t, context: *mut c_void) -> bool {
    // SAFETY: guaranteed by the caller.
    let (registers, code, address) =
        unsafe { (registers(context), (*info).si_code, (*info).si_addr() as usize) };
    // SAFETY: a signal with this code has a value.
    let value = || unsafe { (*info).si_value() }.sival_ptr as usize;
    if signal == LAST_RESORT && code == libc::SI_QUEUE && value() == mark() {
        on_interrupt(signal, info, context);
        return true;
    }
    if let Some(registers) = registers
        && code > 0
    {
        let ip = registers[RIP] as usize;
        if signal == libc::SIGSEGV && host::moving::recover(code, address, ip) {
            return true;
        }
        if let Some(failed) = memory::recovery(ip) {
            registers[RIP] = failed as libc::greg_t;
            return true;
        }
        if let Some(gate) = enter::find(registers[RSP] as usize) {
            let overflow = signal == libc::SIGSEGV && gate.is_guard(address);
            if overflow || gate.in_code.load(Ordering::Relaxed) {
                leave(gate, registers, Crash { signal, code, address, ip, overflow });
                return true;
            }
            // The runtime accesses memory for the kernel, such as a texture's. It may own something, so it
            // goes on, and the launch fails.
            if is_access(signal) && host::mapped::recover(signal, address, true) {
                gate.lost(Crash { signal, code, address, ip, overflow });
                return true;
            }
            return false;
        }
        return is_access(signal) && host::mapped::recover(signal, address, false);
    }
    false
}

/// Whether a signal says that memory could not be accessed.
fn is_access(signal: i32) -> bool {
    matches!(signal, libc::SIGSEGV | libc::SIGBUS)
}

/// Makes sure that the process survives what [`host::mapped`] and [`host::moving`] recover from.
pub fn catch_faults() {
    handlers::come_first(&[libc::SIGBUS, libc::SIGSEGV]);
}

extern "C" fn on_interrupt(signal: i32, _info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes a valid context.
    let Some(registers) = (unsafe { registers(context) }) else { return };
    let ip = registers[RIP] as usize;
    // Only machine code can be left anywhere: the interpreter may hold the allocator's lock.
    if let Some(gate) = enter::find(registers[RSP] as usize)
        && gate.interrupt.load(Ordering::Relaxed)
        && gate.in_code.load(Ordering::Relaxed)
        && code::is_code(ip)
    {
        leave(gate, registers, Crash { signal, code: 0, address: 0, ip, overflow: false });
    }
}

/// Ensures that there is an interrupt signal: takes an unused real-time signal, or another one if the program
/// has since taken it.
fn install_interrupt() {
    static CHOICE: Mutex<()> = Mutex::new(());
    let ours = |s: i32| current(s).is_some_and(|a| a.sa_sigaction == on_interrupt as *const () as usize);
    let _choice = CHOICE.lock().unwrap_or_else(PoisonError::into_inner);
    let known = INTERRUPT.load(Ordering::Acquire);
    if known != 0 && ours(known) {
        return;
    }
    // A program that receives a signal by `sigwait` has no handler for it, but blocks it.
    let blocked = host::threads::blocked();
    let unused = |s: &i32| current(*s).is_some_and(|a| a.sa_sigaction == libc::SIG_DFL);
    let all = || (libc::SIGRTMIN() + 1..libc::SIGRTMAX()).rev().filter(unused);
    let signal = all().find(|s| !blocked(*s)).or_else(|| all().next());
    match signal {
        Some(signal) => {
            install_one(signal, on_interrupt);
            INTERRUPT.store(signal, Ordering::Release);
        }
        None => {
            handlers::come_first(&[LAST_RESORT]);
            INTERRUPT.store(LAST_RESORT, Ordering::Release);
        }
    }
}

/// Makes the thread on the gate's stack leave its kernel if it is in machine code; otherwise nothing happens,
/// and the caller tries again later.
pub(crate) fn interrupt(gate: &Gate) {
    install_interrupt();
    let (signal, thread) = (INTERRUPT.load(Ordering::Acquire), gate.thread());
    if signal != 0 && thread != 0 {
        gate.interrupt.store(true, Ordering::Relaxed);
        // SAFETY: the signal has our handler. For a thread that has ended this is an error; a thread that is
        // elsewhere ignores it.
        unsafe {
            if signal == LAST_RESORT {
                let sent = Sent { signal, code: libc::SI_QUEUE, value: mark(), ..Sent::default() };
                libc::syscall(libc::SYS_rt_tgsigqueueinfo, libc::getpid(), thread, signal, &raw const sent);
            } else {
                libc::syscall(libc::SYS_tgkill, libc::getpid(), thread, signal);
            }
        }
    }
}

/// The kernel's `siginfo_t` of a signal that is sent with a value.
#[repr(C)]
#[derive(Default)]
struct Sent {
    signal: i32,
    error: i32,
    code: i32,
    gap: i32,
    sender: u64,
    value: usize,
    rest: [usize; 12],
}

const _: () = assert!(size_of::<Sent>() == size_of::<libc::siginfo_t>());

/// The alternate signal stack that we gave a thread.
struct AltStack {
    pages: Cell<Option<GuardedPages>>,
}

impl Drop for AltStack {
    fn drop(&mut self) {
        let Some(pages) = self.pages.take() else { return };
        let now = alt_stack();
        if now.ss_sp.cast() == pages.start() {
            let off = libc::stack_t { ss_sp: std::ptr::null_mut(), ss_flags: libc::SS_DISABLE, ss_size: 0 };
            // SAFETY: disables the stack; the thread is ending and not on it.
            unsafe { libc::sigaltstack(&off, std::ptr::null_mut()) };
        }
    }
}

thread_local! {
    static ALT_STACK: AltStack = const { AltStack { pages: Cell::new(None) } };
}

fn alt_stack() -> libc::stack_t {
    let mut now = libc::stack_t { ss_sp: std::ptr::null_mut(), ss_flags: libc::SS_DISABLE, ss_size: 0 };
    // SAFETY: only a query.
    unsafe { libc::sigaltstack(std::ptr::null(), &mut now) };
    now
}

/// Prepares the calling thread for kernels: our handlers come first, the thread does not block their signals,
/// and they run on an alternate stack, since a kernel may have used up its own. A thread that already has
/// such a stack keeps it.
#[inline]
pub(crate) fn prepare_thread() {
    let look = host::threads::look();
    if look != Look::Nothing {
        prepare(look);
    }
}

/// Prepares the calling thread for accesses that may fault outside a kernel, as [`copy_guarded`] makes them,
/// or [`host::mapped::during`]. The result must be kept until they are done.
///
/// [`copy_guarded`]: crate::copy_guarded
pub fn ready() -> Option<Turn> {
    let turn = Turn::unless_begun();
    prepare_thread();
    turn
}

#[cold]
#[inline(never)]
fn prepare(look: Look) {
    if look != Look::All {
        host::threads::timed(|| handlers::come_first(&[libc::SIGSEGV]));
        if look == Look::Handler {
            return;
        }
    } else {
        handlers::come_first(&FAULTS);
        if INTERRUPT.load(Ordering::Relaxed) == 0 {
            install_interrupt();
        }
        give_alt_stack();
        guard::wake();
    }
    let [a, b, c, d] = FAULTS;
    match INTERRUPT.load(Ordering::Relaxed) {
        0 => host::threads::open(&FAULTS),
        interrupt => host::threads::open(&[a, b, c, d, interrupt]),
    }
}

/// Bytes beyond the signal frame that a handler needs: at least, and what a new stack gets.
const LEAST_ALT_STACK: usize = 4096;
const ALT_STACK_SIZE: usize = 64 << 10;

fn give_alt_stack() {
    let now = alt_stack();
    // SAFETY: getauxval has no preconditions.
    let frame = unsafe { libc::getauxval(libc::AT_MINSIGSTKSZ) } as usize;
    let enough = now.ss_flags & libc::SS_DISABLE == 0 && now.ss_size >= frame + LEAST_ALT_STACK;
    if !enough && let Some(pages) = GuardedPages::new(frame + ALT_STACK_SIZE) {
        let stack = libc::stack_t { ss_sp: pages.start().cast(), ss_flags: 0, ss_size: pages.size() };
        // At a thread's end, thread-local storage is gone: the thread then keeps its stack.
        let _ = ALT_STACK.try_with(|owner| {
            // SAFETY: the pages outlive their use: their owner disables them before it drops them.
            if unsafe { libc::sigaltstack(&stack, std::ptr::null_mut()) } == 0 {
                owner.pages.set(Some(pages));
            }
        });
    }
}
