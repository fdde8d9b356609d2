//! Our fault handlers, and their order relative to the program's.
//!
//! A program may install its own handler after ours, and keeps ours as the previous one: to restore it, or to
//! call it for faults that it does not handle. Ours must then come first again. It is installed under another
//! address, one *level* higher, with the program's handler as the previous one; the level below keeps what
//! was there earlier. Whether the program restores the handler that it has kept, calls it, or sends the
//! signal again, the chain continues downwards and never in a circle. There are [`LEVELS`] of them: if the
//! program installs more handlers on top of each other, those come before ours, and ours is called if they
//! pass on what they do not handle.

use std::arch::global_asm;
use std::ffi::c_void;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use host::threads::FAULTS;

use crate::signals;

type Handler = extern "C" fn(i32, *mut libc::siginfo_t, *mut c_void);

/// Maximum number of our handlers of one signal. Each calls the one below it through a handler of the
/// program, so more would need a larger alternate stack.
const LEVELS: usize = 128;

/// Bytes of a handler's code.
const EACH: usize = 16;

// The handlers differ in their addresses, by which the kernel's table tells the levels apart.
global_asm!(
    ".pushsection .text.anywarp_fault_handlers,\"ax\",@progbits",
    ".hidden anywarp_fault_handlers",
    ".globl anywarp_fault_handlers",
    ".p2align 4",
    "anywarp_fault_handlers:",
    ".set anywarp_level, 0",
    ".rept {levels}",
    ".p2align 4",
    "mov ecx, offset anywarp_level",
    "jmp {on_fault}",
    ".set anywarp_level, anywarp_level + 1",
    ".endr",
    ".p2align 4",
    ".popsection",
    levels = const LEVELS,
    on_fault = sym on_fault,
);

unsafe extern "C" {
    /// The handler of level 0; the others follow, [`EACH`] bytes apart.
    fn anywarp_fault_handlers(signal: i32, info: *mut libc::siginfo_t, context: *mut c_void);
}

/// The handlers of one signal.
struct Chain {
    /// The action before each of our levels; null for the default action. Never freed, since a handler may be
    /// reading it.
    before: [AtomicPtr<libc::sigaction>; LEVELS],
    /// The level that was last seen installed.
    top: AtomicUsize,
}

static CHAINS: [Chain; FAULTS.len()] = [const {
    Chain {
        before: [const { AtomicPtr::new(std::ptr::null_mut()) }; LEVELS],
        top: AtomicUsize::new(usize::MAX),
    }
}; FAULTS.len()];

fn action(handler: usize) -> libc::sigaction {
    // SAFETY: all zeros is a valid `sigaction`.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handler;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
    action
}

/// Installs `handler` and returns the previous action.
pub(crate) fn install_one(signal: i32, handler: Handler) -> Option<libc::sigaction> {
    install(signal, handler as *const () as usize)
}

/// The same for the address of a [`Handler`].
fn install(signal: i32, handler: usize) -> Option<libc::sigaction> {
    let new = action(handler);
    // SAFETY: all zeros is a valid `sigaction`, which the call fills in; the handler has the signature that
    // SA_SIGINFO requires.
    unsafe {
        let mut old: libc::sigaction = std::mem::zeroed();
        (libc::sigaction(signal, &new, &mut old) == 0).then_some(old)
    }
}

/// The action installed for `signal`.
pub(crate) fn current(signal: i32) -> Option<libc::sigaction> {
    // SAFETY: all zeros is a valid `sigaction`, which the call fills in.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        (libc::sigaction(signal, std::ptr::null(), &mut action) == 0).then_some(action)
    }
}

/// The address of the handler of a level.
fn handler(level: usize) -> usize {
    anywarp_fault_handlers as *const () as usize + level * EACH
}

/// The level of an action, if it is ours.
fn level_of(action: &libc::sigaction) -> Option<usize> {
    let from_first = action.sa_sigaction.wrapping_sub(handler(0));
    (from_first < LEVELS * EACH).then_some(from_first / EACH)
}

/// Makes our handlers the first ones for these signals out of the [`FAULTS`].
pub(crate) fn come_first(signals: &[i32]) {
    for (&signal, chain) in FAULTS.iter().zip(&CHAINS).filter(|(s, _)| signals.contains(s)) {
        let Some(action) = current(signal) else { continue };
        match level_of(&action) {
            Some(level) if level == chain.top.load(Ordering::Relaxed) => {}
            // The program has removed a handler of its own.
            Some(level) => chain.top.store(level, Ordering::Relaxed),
            None => chain.cover(signal),
        }
    }
}

impl Chain {
    /// Installs a level above the program's handler.
    fn cover(&self, signal: i32) {
        static CHANGE: Mutex<()> = Mutex::new(());
        let _change = CHANGE.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(theirs) = current(signal).filter(|a| level_of(a).is_none()) else { return };
        // A handler that was covered before has kept the level below it.
        let same = self.before.iter().position(|b| {
            // SAFETY: null, or an action that is never freed.
            unsafe { b.load(Ordering::Acquire).as_ref() }
                .is_some_and(|b| b.sa_sigaction == theirs.sa_sigaction)
        });
        let level = same.unwrap_or(self.top.load(Ordering::Relaxed).wrapping_add(1));
        if level >= LEVELS {
            return;
        }
        self.keep(level, &theirs);
        // Another handler may have been installed in between.
        if let Some(old) = install(signal, handler(level)).filter(|old| level_of(old).is_none()) {
            self.keep(level, &old);
        }
        self.top.store(level, Ordering::Relaxed);
    }

    /// Records the action before a level.
    fn keep(&self, level: usize, theirs: &libc::sigaction) {
        let Some(place) = self.before.get(level) else { return };
        // SAFETY: null, or an action that is never freed.
        let known = unsafe { place.load(Ordering::Acquire).as_ref() };
        let same =
            |k: &libc::sigaction| k.sa_sigaction == theirs.sa_sigaction && k.sa_flags == theirs.sa_flags;
        if !known.is_some_and(same) {
            // Programs install few handlers, so what is leaked is small.
            place.store(Box::leak(Box::new(*theirs)), Ordering::Release);
        }
    }
}

/// What the handler of a level does.
extern "C" fn on_fault(signal: i32, info: *mut libc::siginfo_t, context: *mut c_void, level: u32) {
    // SAFETY: the kernel passes valid pointers.
    if unsafe { signals::take(signal, info, context) } {
        return;
    }
    let chain = FAULTS.iter().zip(&CHAINS).find(|(s, _)| **s == signal).map(|(_, chain)| chain);
    let before = chain.and_then(|c| c.before.get(level as usize)).map(|b| b.load(Ordering::Acquire));
    // SAFETY: null, or an action that is never freed.
    let before = before.and_then(|b| unsafe { b.as_ref() });
    pass(signal, info, context, before);
}

/// Does what would have happened without us.
fn pass(signal: i32, info: *mut libc::siginfo_t, context: *mut c_void, action: Option<&libc::sigaction>) {
    let handler = action.map_or(libc::SIG_DFL, |a| a.sa_sigaction);
    // SAFETY: the kernel passes valid pointers.
    let sent = unsafe { (*info).si_code } <= 0;
    if handler == libc::SIG_IGN && sent {
        return;
    }
    if handler == libc::SIG_DFL || handler == libc::SIG_IGN {
        // SAFETY: sets the default action: on return, the instruction faults again or the signal is sent
        // again.
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
            let call: Handler = std::mem::transmute(handler);
            call(signal, info, context);
        } else {
            let call: extern "C" fn(i32) = std::mem::transmute(handler);
            call(signal);
        }
    }
}
