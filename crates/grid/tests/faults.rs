//! Faults: memory, instructions, stacks, traps, endless kernels.
#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use grid::{CodeRange, Config, FaultKind, Place, Workers, register_code_range};
use support::{Blocks, TestHost, Warps, block, launch, pools, run, sync};
use wave::abi::{BlockCtx, Stop, WarpCtx};

/// Machine code in its own mapping, registered as a kernel's code.
struct Machine {
    start: usize,
    _range: CodeRange,
}

impl Machine {
    fn new(bytes: &[u8]) -> Machine {
        // SAFETY: a new mapping, filled before it becomes executable, and never unmapped.
        let start = unsafe {
            let page = libc::mmap(
                std::ptr::null_mut(),
                4096,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            );
            assert_ne!(page, libc::MAP_FAILED);
            page.cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            assert_eq!(libc::mprotect(page, 4096, libc::PROT_READ | libc::PROT_EXEC), 0);
            page as usize
        };
        let resolve = move |ip: usize| Some(Place { line: 100 + (ip - start) as u32, detail: "in f".into() });
        let range = register_code_range(start, start + bytes.len(), Some(Box::new(resolve))).unwrap();
        Machine { start, _range: range }
    }

    /// Calls the code with an argument in `rdi`.
    fn call(&self, argument: usize) {
        // SAFETY: the tests write functions with this signature.
        let f: extern "C" fn(usize) = unsafe { std::mem::transmute(self.start) };
        f(argument);
    }
}

/// `mov byte ptr [rdi], 1; ret`
const STORE: &[u8] = &[0xc6, 0x07, 0x01, 0xc3];
/// `nop; mov eax, [rdi]; ret`
const LOAD: &[u8] = &[0x90, 0x8b, 0x07, 0xc3];
/// `ud2`
const ILLEGAL: &[u8] = &[0x0f, 0x0b];
/// `xor ecx, ecx; mov eax, 1; cdq; div ecx`
const DIVIDE: &[u8] = &[0x31, 0xc9, 0xb8, 1, 0, 0, 0, 0x99, 0xf7, 0xf1];
/// `f: call f`
const RECURSE: &[u8] = &[0xe8, 0xfb, 0xff, 0xff, 0xff];
/// `f: jmp f`
const FOREVER: &[u8] = &[0xeb, 0xfe];

#[test]
fn signals_in_kernels_become_faults() {
    use FaultKind::*;
    let bad = 0x10usize;
    let odd = 0xdead_0000_0000_0000usize;
    // Code and argument; expected kind, address and line.
    type Case = (&'static [u8], usize, FaultKind, Option<u64>, u32);
    let cases: [Case; 6] = [
        (STORE, bad, IllegalAddress, Some(0x10), 100),
        (LOAD, 0, IllegalAddress, Some(0), 101),
        (LOAD, odd, IllegalAddress, None, 101),
        (ILLEGAL, 0, IllegalInstruction, None, 100),
        (DIVIDE, 0, Arithmetic, None, 108),
        (RECURSE, 0, StackOverflow, None, 100),
    ];
    for workers in pools() {
        for (bytes, argument, kind, address, line) in cases {
            let machine = Machine::new(bytes);
            let warps = Warps(|w: &mut WarpCtx| {
                if block(w).ctaid[0] == 5 && w.index == 1 && w.resume == 1 {
                    machine.call(argument);
                }
                w.resume += 1;
                if w.resume == 3 { Stop::Done } else { sync(w) }
            });
            let fault = run(&workers, &warps, 20, 96).unwrap_err();
            assert_eq!((fault.kind, fault.address, fault.line), (kind, address, Some(line)), "{fault}");
            assert_eq!((fault.block, fault.warp), (Some([5, 0, 0]), Some(1)));
            let whole = Blocks(|b: &BlockCtx| {
                if b.ctaid[0] == 700 {
                    machine.call(argument);
                }
                Stop::Done
            });
            let fault = run(&workers, &whole, 1000, 96).unwrap_err();
            assert_eq!((fault.kind, fault.address, fault.line), (kind, address, Some(line)), "{fault}");
            assert_eq!((fault.block, fault.warp), (Some([700, 0, 0]), None));
        }
        // Everything still works.
        run(&workers, &Blocks(|_: &BlockCtx| Stop::Done), 100, 32).unwrap();
    }
}

#[test]
fn memory_beside_shared_and_local_is_guarded() {
    let store = Machine::new(STORE);
    for beyond in [8192usize, 40 << 10] {
        let code = Warps(|w: &mut WarpCtx| {
            store.call(block(w).shared as usize + beyond);
            Stop::Done
        });
        assert_eq!(run(&Workers::new(1), &code, 1, 32).unwrap_err().kind, FaultKind::IllegalAddress);
        let code = Warps(|w: &mut WarpCtx| {
            store.call(block(w).local as usize + beyond);
            Stop::Done
        });
        assert_eq!(run(&Workers::new(1), &code, 1, 32).unwrap_err().kind, FaultKind::IllegalAddress);
    }
}

#[test]
fn recursion_in_rust_overflows_the_stack_too() {
    #[inline(never)]
    fn deep(n: u64) -> u64 {
        let room = std::hint::black_box([n; 64]);
        if n == u64::MAX { 0 } else { deep(n + 1) + room[7] }
    }
    for workers in pools() {
        let code = Warps(|w: &mut WarpCtx| {
            w.line = deep(0) as u32;
            Stop::Done
        });
        let fault = run(&workers, &code, 4, 32).unwrap_err();
        assert_eq!(fault.kind, FaultKind::StackOverflow);
    }
}

#[test]
fn a_panic_is_an_internal_error() {
    let code = Warps(|w: &mut WarpCtx| if w.index == 1 { panic!("oh {}", 7) } else { Stop::Done });
    let fault = run(&Workers::new(2), &code, 3, 64).unwrap_err();
    assert_eq!((fault.kind, fault.warp), (FaultKind::Internal, Some(1)));
    assert_eq!(fault.detail, "oh 7");
}

#[test]
fn a_fault_stops_the_other_blocks() {
    for workers in pools() {
        let ran = AtomicU32::new(0);
        let whole = Blocks(|b: &BlockCtx| {
            ran.fetch_add(1, SeqCst);
            if b.ctaid[0] == 0 { Stop::Fault } else { Stop::Done }
        });
        assert_eq!(run(&workers, &whole, 1 << 20, 32).unwrap_err().kind, FaultKind::Trap);
        assert!(ran.load(SeqCst) < 1 << 20);
        // A block waits for one that failed.
        let ready = AtomicBool::new(false);
        let waits = Warps(|w: &mut WarpCtx| match block(w).ctaid[0] {
            1 => Stop::Fault,
            _ if ready.load(SeqCst) => Stop::Done,
            _ => Stop::Yield,
        });
        assert_eq!(run(&workers, &waits, 2, 32).unwrap_err().block, Some([1, 0, 0]));
        // An endless block beside one that failed: machine code is interrupted.
        let forever = Machine::new(FOREVER);
        let (looping, code_range) = (AtomicBool::new(false), &forever);
        let beside = Blocks(|b: &BlockCtx| {
            if b.ctaid[0] == 0 {
                while workers.count() > 1 && !looping.load(SeqCst) {
                    std::thread::yield_now();
                }
                return Stop::Fault;
            }
            looping.store(true, SeqCst);
            code_range.call(0);
            Stop::Done
        });
        assert_eq!(run(&workers, &beside, 2, 32).unwrap_err().block, Some([0, 0, 0]));
    }
}

#[test]
fn the_watchdog_stops_what_does_not_end() {
    for count in [1, 3] {
        let watchdog = Some(Duration::from_millis(50));
        let workers = Workers::with(Config { workers: count, watchdog, ..Config::new() });
        let forever = Machine::new(FOREVER);
        let whole = Blocks(|b: &BlockCtx| {
            if b.ctaid[0] == 3 {
                forever.call(0);
            }
            Stop::Done
        });
        let fault = run(&workers, &whole, 9, 32).unwrap_err();
        assert_eq!((fault.kind, fault.block, fault.line), (FaultKind::Timeout, Some([3, 0, 0]), Some(100)));
        assert!(fault.detail.contains("block [3, 0, 0] runs at line 100"), "{fault}");
        let spins = Warps(|w: &mut WarpCtx| {
            w.line = 12;
            if block(w).ctaid[0] == 1 && w.index == 1 { Stop::Yield } else { Stop::Done }
        });
        let fault = run(&workers, &spins, 3, 64).unwrap_err();
        assert_eq!((fault.kind, fault.block, fault.line), (FaultKind::Timeout, Some([1, 0, 0]), Some(12)));
        assert!(fault.detail.contains("block [1, 0, 0]: warp 1 lanes 0xffffffff run at line 12"), "{fault}");
        run(&workers, &Blocks(|_: &BlockCtx| Stop::Done), 100, 32).unwrap();
    }
}

extern "C" fn taken(_: i32) {}

#[test]
fn the_watchdog_needs_no_real_time_signal() {
    let status = in_child(|| {
        for signal in libc::SIGRTMIN()..=libc::SIGRTMAX() {
            // SAFETY: installs a handler that does nothing.
            unsafe { libc::signal(signal, taken as *const () as usize) };
        }
        let watchdog = Some(Duration::from_millis(50));
        for count in [1, 2] {
            let workers = Workers::with(Config { workers: count, watchdog, ..Config::new() });
            let (forever, illegal) = (Machine::new(FOREVER), Machine::new(ILLEGAL));
            let calls = |machine: &Machine| {
                let whole = Blocks(|_: &BlockCtx| {
                    machine.call(0);
                    Stop::Done
                });
                run(&workers, &whole, 3, 32).unwrap_err().kind
            };
            assert_eq!(calls(&forever), FaultKind::Timeout);
            // The signal still means what it says if it is a fault.
            assert_eq!(calls(&illegal), FaultKind::IllegalInstruction);
            assert_eq!(calls(&forever), FaultKind::Timeout);
        }
        // What the program sends itself is the program's.
        // SAFETY: the default action ends the process.
        unsafe { libc::raise(libc::SIGILL) };
    });
    assert!(libc::WIFSIGNALED(status), "status {status:#x}");
    assert_eq!(libc::WTERMSIG(status), libc::SIGILL);
}

#[test]
fn callers_keep_their_floating_point_state() {
    let mut csr = 0u32;
    // SAFETY: reads the control register.
    unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &mut csr) };
    let odd = csr | 0x6000;
    let store = Machine::new(STORE);
    // SAFETY: sets another rounding mode for this thread, which is restored below.
    unsafe { std::arch::asm!("ldmxcsr [{}]", in(reg) &odd) };
    let code = Blocks(|_: &BlockCtx| {
        store.call(0);
        Stop::Done
    });
    let fault = run(&Workers::new(1), &code, 1, 32).unwrap_err();
    let mut after = 0u32;
    // SAFETY: reads the register, then restores it.
    unsafe {
        std::arch::asm!("stmxcsr [{}]", in(reg) &mut after);
        std::arch::asm!("ldmxcsr [{}]", in(reg) &csr);
    }
    assert_eq!(fault.kind, FaultKind::IllegalAddress);
    assert_eq!(after & 0x6000, 0x6000);
}

/// Runs `child` in a forked process and returns its wait status.
fn in_child(child: impl FnOnce()) -> i32 {
    // SAFETY: the child uses only its own copies and exits without running destructors.
    unsafe {
        match libc::fork() {
            0 => {
                child();
                libc::_exit(0);
            }
            pid => {
                let mut status = 0;
                assert_eq!(libc::waitpid(pid, &mut status, 0), pid);
                status
            }
        }
    }
}

#[test]
fn faults_of_the_program_are_its_own() {
    // A launch installs the handlers.
    run(&Workers::new(1), &Blocks(|_: &BlockCtx| Stop::Done), 1, 32).unwrap();
    let status = in_child(|| Machine::new(STORE).call(8));
    assert!(libc::WIFSIGNALED(status));
    assert_eq!(libc::WTERMSIG(status), libc::SIGSEGV);
    // A signal sent by another process is not a fault either.
    let status = in_child(|| {
        // SAFETY: this kills the process.
        unsafe { libc::raise(libc::SIGILL) };
    });
    assert_eq!((libc::WIFSIGNALED(status), libc::WTERMSIG(status)), (true, libc::SIGILL));
}

#[test]
fn a_child_runs_alone_and_leaves_the_threads_be() {
    let workers = Workers::new(3);
    let code = Blocks(|_: &BlockCtx| Stop::Done);
    run(&workers, &code, 1000, 32).unwrap();
    let mut slot = Some(workers);
    let status = in_child(|| {
        let workers = slot.take().unwrap();
        let host = TestHost::default();
        let ran = workers.run_counted(&launch(&code, &host, 1000, 32)).unwrap();
        assert_eq!((ran.blocks, ran.workers), (1000, 1));
        drop(workers);
    });
    assert_eq!(status, 0);
    run(&slot.unwrap(), &code, 1000, 32).unwrap();
}

/// The previous action when the program installed its handler.
static BEFORE: AtomicUsize = AtomicUsize::new(0);
static CALLS: AtomicU32 = AtomicU32::new(0);

type Handler = extern "C" fn(i32, *mut libc::siginfo_t, *mut c_void);

fn install(handler: Handler) {
    // SAFETY: the handler has the signature that SA_SIGINFO asks for.
    unsafe {
        let (mut new, mut old): (libc::sigaction, libc::sigaction) = (std::mem::zeroed(), std::mem::zeroed());
        new.sa_sigaction = handler as *const () as usize;
        new.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
        assert_eq!(libc::sigaction(libc::SIGSEGV, &new, &mut old), 0);
        BEFORE.store(Box::into_raw(Box::new(old)) as usize, SeqCst);
    }
}

fn before() -> &'static libc::sigaction {
    // SAFETY: `install` has stored it, and it is never freed.
    unsafe { &*(BEFORE.load(SeqCst) as *const libc::sigaction) }
}

fn count() {
    if CALLS.fetch_add(1, SeqCst) > 0 {
        // SAFETY: exits the child, since the handlers call each other in a loop.
        unsafe { libc::_exit(99) };
    }
}

/// Like Python's faulthandler: restores the previous action and sends the signal again.
extern "C" fn restores(signal: i32, _: *mut libc::siginfo_t, _: *mut c_void) {
    count();
    // SAFETY: it is the previous action.
    unsafe {
        libc::sigaction(signal, before(), std::ptr::null_mut());
        libc::raise(signal);
    }
}

/// Calls the previous handler.
extern "C" fn passes_on(signal: i32, info: *mut libc::siginfo_t, context: *mut c_void) {
    count();
    let next = before().sa_sigaction;
    if next == libc::SIG_DFL || before().sa_flags & libc::SA_SIGINFO == 0 {
        // SAFETY: exits the child.
        unsafe { libc::_exit(98) };
    }
    // SAFETY: the previous action is a handler of this kind.
    let next: Handler = unsafe { std::mem::transmute(next) };
    next(signal, info, context);
}

#[test]
fn a_handler_installed_later_gets_only_what_is_the_programs() {
    let workers = Workers::new(1);
    let well = Blocks(|_: &BlockCtx| Stop::Done);
    for handler in [restores as Handler, passes_on] {
        let status = in_child(|| {
            let store = Machine::new(STORE);
            let bad = Blocks(|_: &BlockCtx| {
                store.call(16);
                Stop::Done
            });
            run(&workers, &well, 1, 32).unwrap();
            install(handler);
            for _ in 0..3 {
                assert_eq!(run(&workers, &bad, 1, 32).unwrap_err().kind, FaultKind::IllegalAddress);
            }
            assert_eq!(CALLS.load(SeqCst), 0);
            // The program may also set the default action; kernels still get their faults. SAFETY: sets the
            // default action, and then restores the handler.
            unsafe { libc::signal(libc::SIGSEGV, libc::SIG_DFL) };
            assert_eq!(run(&workers, &bad, 1, 32).unwrap_err().kind, FaultKind::IllegalAddress);
            install(handler);
            assert_eq!(run(&workers, &bad, 1, 32).unwrap_err().kind, FaultKind::IllegalAddress);
            store.call(16);
        });
        assert!(libc::WIFSIGNALED(status), "status {status:#x}");
        assert_eq!(libc::WTERMSIG(status), libc::SIGSEGV);
    }
}

const MOST_STACKED: usize = 200;
/// What the handlers of [`stacked`] have kept, and how often each was called.
static KEPT: [AtomicUsize; MOST_STACKED] = [const { AtomicUsize::new(0) }; MOST_STACKED];
static SEEN: [AtomicU32; MOST_STACKED] = [const { AtomicU32::new(0) }; MOST_STACKED];

/// The handler of one of many levels: the lowest mends the page, the others pass on.
extern "C" fn stacked(signal: i32, info: *mut libc::siginfo_t, context: *mut c_void, level: usize) {
    if SEEN[level].fetch_add(1, SeqCst) > 0 {
        // SAFETY: exits the child, since the handlers call each other in a loop.
        unsafe { libc::_exit(99) };
    }
    let next = KEPT[level].load(SeqCst);
    if level == 0 {
        // SAFETY: the test touches a page of its own; the system reports the address.
        unsafe {
            let page = (*info).si_addr() as usize & !4095;
            if libc::mprotect(page as *mut c_void, 4096, libc::PROT_READ | libc::PROT_WRITE) != 0 {
                libc::_exit(98);
            }
        }
    } else {
        // SAFETY: the action that was installed before is a handler of this kind.
        unsafe { std::mem::transmute::<usize, Handler>(next)(signal, info, context) };
    }
}

#[test]
fn any_number_of_handlers_may_be_installed_later() {
    let workers = Workers::new(1);
    let well = Blocks(|_: &BlockCtx| Stop::Done);
    for number in [5, 8, 12, 100, MOST_STACKED] {
        let status = in_child(|| {
            // Without the test runner's stack for signals, which is small.
            let off = libc::stack_t { ss_sp: std::ptr::null_mut(), ss_flags: libc::SS_DISABLE, ss_size: 0 };
            // SAFETY: disables a stack that is not in use.
            unsafe { libc::sigaltstack(&off, std::ptr::null_mut()) };
            let store = Machine::new(STORE);
            let bad = Blocks(|_: &BlockCtx| {
                store.call(16);
                Stop::Done
            });
            run(&workers, &well, 1, 32).unwrap();
            for (level, kept) in KEPT.iter().enumerate().take(number) {
                // mov ecx, level; mov rax, stacked; jmp rax
                let mut code = vec![0xb9];
                code.extend((level as u32).to_le_bytes());
                code.extend([0x48, 0xb8]);
                code.extend((stacked as *const () as usize).to_le_bytes());
                code.extend([0xff, 0xe0]);
                // SAFETY: the code is a handler of this kind.
                install(unsafe { std::mem::transmute::<usize, Handler>(Machine::new(&code).start) });
                kept.store(before().sa_sigaction, SeqCst);
                // Shares the processor until the next launch looks at the handlers again.
                std::thread::sleep(Duration::from_millis(2));
                run(&workers, &well, 1, 32).unwrap();
            }
            // SAFETY: a new page, which is then written.
            let page = unsafe {
                let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
                libc::mmap(std::ptr::null_mut(), 4096, libc::PROT_NONE, flags, -1, 0)
            };
            store.call(page as usize);
            assert!(SEEN.iter().take(number).all(|seen| seen.load(SeqCst) == 1));
            // Beyond the levels, the program's handlers come first, and pass on to ours.
            SEEN.iter().for_each(|seen| seen.store(0, SeqCst));
            assert_eq!(run(&workers, &bad, 1, 32).unwrap_err().kind, FaultKind::IllegalAddress);
            assert_eq!(SEEN[0].load(SeqCst), 0);
        });
        assert_eq!(status, 0, "{number} handlers: status {status:#x}");
    }
}

#[test]
fn a_thread_that_blocks_all_signals_runs_kernels() {
    let status = in_child(|| {
        // SAFETY: signal sets are plain data; this is the child's only thread.
        let blocked = || unsafe {
            let mut mask: libc::sigset_t = std::mem::zeroed();
            libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), &mut mask);
            [libc::SIGSEGV, libc::SIGFPE, libc::SIGRTMAX() - 1].map(|s| libc::sigismember(&mask, s))
        };
        // SAFETY: see above.
        unsafe {
            let mut all: libc::sigset_t = std::mem::zeroed();
            libc::sigfillset(&mut all);
            libc::pthread_sigmask(libc::SIG_SETMASK, &all, std::ptr::null_mut());
        }
        let (well, workers) = (Blocks(|_: &BlockCtx| Stop::Done), Workers::new(1));
        for (code, kind) in [(STORE, FaultKind::IllegalAddress), (DIVIDE, FaultKind::Arithmetic)] {
            let machine = Machine::new(code);
            // One launch directly after the other.
            let mut byte = 0u8;
            for argument in [16, &raw mut byte as usize, 16] {
                let ends = Blocks(|_: &BlockCtx| {
                    if code == STORE {
                        machine.call(argument);
                    }
                    Stop::Done
                });
                for _ in 0..100 {
                    run(&workers, &well, 1, 32).unwrap();
                }
                assert_eq!(run(&workers, &ends, 1, 32).is_err(), code == STORE && argument == 16);
            }
            let bad = Blocks(|_: &BlockCtx| {
                machine.call(16);
                Stop::Done
            });
            assert_eq!(run(&workers, &bad, 1, 32).unwrap_err().kind, kind);
            assert_eq!(blocked(), [1; 3]);
        }
    });
    assert_eq!(status, 0);
}
