//! Signal handlers: faults in kernels, and the interrupt that stops a kernel that does not end.
//!
//! The handlers are installed when the first launch runs. A fault is ours if the thread is on a kernel's stack
//! (found by its stack pointer, so that threads of the program are never touched) and the kernel's code was running, or the
//! stack's guard was hit, or the guarded copy was at work. Every other fault goes to the handler that was there before.

use std::cell::{Cell, UnsafeCell};
use std::ffi::c_void;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use crate::code;
use crate::enter::{self, Crash, Gate};
use crate::memory::{self, Region};

const FAULTS: [i32; 4] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL];

/// The handlers before ours, in the order of [`FAULTS`]; written once, before ours are installed.
struct Previous(UnsafeCell<[Option<libc::sigaction>; FAULTS.len()]>);

// SAFETY: written under `Once` before a handler can read it.
unsafe impl Sync for Previous {}

static PREVIOUS: Previous = Previous(UnsafeCell::new([None; FAULTS.len()]));

/// The real-time signal of [`interrupt`]; 0 while none is installed.
static INTERRUPT: AtomicI32 = AtomicI32::new(0);

fn install_one(signal: i32, handler: extern "C" fn(i32, *mut libc::siginfo_t, *mut c_void)) {
    // SAFETY: all zeros is a valid `sigaction`; the handler has the signature that SA_SIGINFO asks for.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
        libc::sigemptyset(&mut action.sa_mask);
        libc::sigaction(signal, &action, std::ptr::null_mut());
    }
}

/// What is installed for `signal`.
fn current(signal: i32) -> Option<libc::sigaction> {
    // SAFETY: all zeros is a valid `sigaction`, which the call fills.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        (libc::sigaction(signal, std::ptr::null(), &mut action) == 0).then_some(action)
    }
}

/// Installs the fault handlers, once.
pub(crate) fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // The old ones are stored first: a fault may come between.
        let previous = FAULTS.map(current);
        // SAFETY: nobody reads before a handler is installed, and `Once` lets one thread write.
        unsafe { *PREVIOUS.0.get() = previous };
        for signal in FAULTS {
            install_one(signal, on_fault);
        }
    });
}

/// Registers of the interrupted thread, in a handler.
///
/// # Safety
/// `context` is what the kernel gave the handler.
unsafe fn registers<'a>(context: *mut c_void) -> Option<&'a mut [libc::greg_t; 23]> {
    // SAFETY: by the caller's promise this is a `ucontext_t`.
    unsafe { context.cast::<libc::ucontext_t>().as_mut() }.map(|c| &mut c.uc_mcontext.gregs)
}

const RIP: usize = libc::REG_RIP as usize;
const RSP: usize = libc::REG_RSP as usize;

fn leave(gate: &Gate, registers: &mut [libc::greg_t; 23], crash: Crash) {
    registers[RSP] = gate.crashed(crash) as libc::greg_t;
    registers[RIP] = enter::leave_address() as libc::greg_t;
}

extern "C" fn on_fault(signal: i32, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes valid pointers.
    let (registers, code, address) =
        unsafe { (registers(context), (*info).si_code, (*info).si_addr() as usize) };
    if let Some(registers) = registers
        && code > 0
    {
        let ip = registers[RIP] as usize;
        if let Some(failed) = memory::recovery(ip) {
            registers[RIP] = failed as libc::greg_t;
            return;
        }
        if let Some(gate) = enter::find(registers[RSP] as usize) {
            let overflow = signal == libc::SIGSEGV && gate.is_guard(address);
            if overflow || gate.in_code.load(Ordering::Relaxed) {
                leave(gate, registers, Crash { signal, code, address, ip, overflow });
                return;
            }
        }
    }
    chain(signal, info, context);
}

/// Does what would have been done without us.
fn chain(signal: i32, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: written before this handler was installed, and never again.
    let previous = unsafe { &*PREVIOUS.0.get() };
    let action = FAULTS.iter().zip(previous).find(|(s, _)| **s == signal).and_then(|(_, action)| *action);
    let handler = action.map_or(libc::SIG_DFL, |a| a.sa_sigaction);
    // SAFETY: the kernel passes valid pointers.
    let sent = unsafe { (*info).si_code } <= 0;
    if handler == libc::SIG_IGN && sent {
        return;
    }
    if handler == libc::SIG_DFL || handler == libc::SIG_IGN {
        // SAFETY: the default action takes over: on return the instruction faults again, or the signal is sent again.
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
            if sent {
                libc::raise(signal);
            }
        }
        return;
    }
    let takes_info = action.is_some_and(|a| a.sa_flags & libc::SA_SIGINFO != 0);
    // SAFETY: the program installed this function as a handler of this kind.
    unsafe {
        if takes_info {
            let call: extern "C" fn(i32, *mut libc::siginfo_t, *mut c_void) = std::mem::transmute(handler);
            call(signal, info, context);
        } else {
            let call: extern "C" fn(i32) = std::mem::transmute(handler);
            call(signal);
        }
    }
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

/// Makes the thread that runs on the gate's stack leave its kernel, if it is in machine code; otherwise nothing happens, and the
/// caller asks again later.
pub(crate) fn interrupt(gate: &Gate) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let unused = |s: &i32| current(*s).is_some_and(|a| a.sa_sigaction == libc::SIG_DFL);
        if let Some(signal) = (libc::SIGRTMIN() + 1..libc::SIGRTMAX()).rev().find(unused) {
            install_one(signal, on_interrupt);
            INTERRUPT.store(signal, Ordering::Release);
        } else {
            tracing::warn!("all real-time signals are taken: a kernel that never ends cannot be stopped");
        }
    });
    let (signal, thread) = (INTERRUPT.load(Ordering::Acquire), gate.thread.load(Ordering::Relaxed));
    if signal != 0 && thread != 0 {
        gate.interrupt.store(true, Ordering::Relaxed);
        // SAFETY: a signal with a handler of ours; a thread that has gone gives an error, a thread that is elsewhere
        // does nothing.
        unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), thread, signal) };
    }
}

/// Whether a crash is an [`interrupt`].
pub(crate) fn is_interrupt(signal: i32) -> bool {
    signal != 0 && signal == INTERRUPT.load(Ordering::Relaxed)
}

/// The alternate signal stack that we gave a thread.
struct AltStack {
    region: Cell<Option<Region>>,
}

impl Drop for AltStack {
    fn drop(&mut self) {
        let Some(region) = self.region.take() else { return };
        let now = alt_stack();
        if now.ss_sp.cast() == region.start() {
            let off = libc::stack_t { ss_sp: std::ptr::null_mut(), ss_flags: libc::SS_DISABLE, ss_size: 0 };
            // SAFETY: turns the stack off; the thread is ending and not on it.
            unsafe { libc::sigaltstack(&off, std::ptr::null_mut()) };
        }
    }
}

thread_local! {
    static PREPARED: AtomicBool = const { AtomicBool::new(false) };
    static ALT_STACK: AltStack = const { AltStack { region: Cell::new(None) } };
}

fn alt_stack() -> libc::stack_t {
    let mut now = libc::stack_t { ss_sp: std::ptr::null_mut(), ss_flags: libc::SS_DISABLE, ss_size: 0 };
    // SAFETY: only asks.
    unsafe { libc::sigaltstack(std::ptr::null(), &mut now) };
    now
}

/// Gives the calling thread what the handlers need: they must be installed, and run on an alternate stack, for a kernel
/// may have used up its own. A thread that has one keeps it.
pub(crate) fn prepare_thread() {
    if PREPARED.with(|p| p.load(Ordering::Relaxed)) {
        return;
    }
    install();
    let now = alt_stack();
    // SAFETY: getauxval has no preconditions.
    let frame = unsafe { libc::getauxval(libc::AT_MINSIGSTKSZ) } as usize;
    let enough = now.ss_flags & libc::SS_DISABLE == 0 && now.ss_size >= frame + 4096;
    if !enough && let Some(region) = Region::new(frame + (64 << 10)) {
        let stack = libc::stack_t { ss_sp: region.start().cast(), ss_flags: 0, ss_size: region.size() };
        // At a thread's end there is no owner to give it to: the thread then keeps what it had.
        let _ = ALT_STACK.try_with(|owner| {
            // SAFETY: the region outlives its use: its owner turns it off before it goes.
            if unsafe { libc::sigaltstack(&stack, std::ptr::null_mut()) } == 0 {
                owner.region.set(Some(region));
            }
        });
    }
    PREPARED.with(|p| p.store(true, Ordering::Relaxed));
}
