//! Faults, traps and the watchdog work whatever the program does with signals, and the program's own handlers
//! keep working.

use std::ffi::c_void;
use std::mem::zeroed;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::call;
use crate::support::Argument::U64;
use crate::support::{Cuda, HEAD, P, everywhere, status};

const KERNELS: &str = "
.visible .entry store(.param .u64 p) { .reg .b64 %d; ld.param.u64 %d, [p]; st.global.u32 [%d], 7; ret; }
.visible .entry endless() { L: bra L; }
// Waits until a word is not 0, then stores to an address.
.visible .entry store_later(.param .u64 word, .param .u64 to) {
    .reg .pred %q; .reg .b32 %r; .reg .b64 %d<2>; ld.param.u64 %d0, [word]; ld.param.u64 %d1, [to];
    L: ld.volatile.global.u32 %r, [%d0]; setp.eq.u32 %q, %r, 0; @%q bra L; st.global.u32 [%d1], 7; ret;
}
.visible .entry trap_beside() {
    .reg .pred %q; .reg .b32 %r; mov.u32 %r, %ctaid.x; setp.ne.u32 %q, %r, 1; @%q bra L; trap; L: bra L;
}
";
/// An address outside all allocations.
const FAR: u64 = 1 << 46;
const WATCHED: &[(&str, &str)] = &[("ANYWARP_WATCHDOG", "0.2")];

struct Program {
    cuda: Cuda,
    module: P,
}

impl Program {
    fn start() -> Program {
        let cuda = Cuda::start();
        let module = cuda.module(&format!("{HEAD}{KERNELS}"));
        Program { cuda, module }
    }

    fn launch(&self, name: &str, grid: u32, stream: P, argument: Option<u64>) {
        let arguments: Vec<_> = argument.into_iter().map(U64).collect();
        let function = self.cuda.function(self.module, name);
        assert_eq!(self.cuda.launch(function, grid, 32, stream, &arguments), 0, "{name}");
    }

    /// Checks that a correct kernel has run.
    fn well(&self) {
        let place = self.cuda.upload(&[0u32]);
        self.launch("store", 1, 0, Some(place));
        let cuda = &self.cuda;
        call!(cuda.cuCtxSynchronize());
        assert_eq!(cuda.download::<u32>(place, 1), [7]);
    }

    fn faults(&self) {
        self.launch("store", 1, 0, Some(FAR));
        let cuda = &self.cuda;
        call!(cuda.cuCtxSynchronize() => status::ILLEGAL_ADDRESS);
    }

    fn stream(&self) -> P {
        let (mut stream, cuda) = (0, &self.cuda);
        call!(cuda.cuStreamCreate(&mut stream, 1));
        stream
    }
}

/// Waits long enough for the stream's thread to start.
fn pause() {
    std::thread::sleep(Duration::from_millis(300));
}

fn block_all() {
    // SAFETY: signal sets are plain data; only this thread's mask changes.
    unsafe {
        let mut all: libc::sigset_t = zeroed();
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, std::ptr::null_mut());
    }
}

fn blocks(signal: i32) -> bool {
    // SAFETY: only reads the mask.
    unsafe {
        let mut mask: libc::sigset_t = zeroed();
        libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), &mut mask);
        libc::sigismember(&mask, signal) == 1
    }
}

#[test]
fn the_watchdog_reaches_a_streams_thread() {
    everywhere("signals::the_watchdog_reaches_a_streams_thread", WATCHED, || {
        let program = Program::start();
        let (stream, cuda) = (program.stream(), &program.cuda);
        program.launch("endless", 1, stream, None);
        pause();
        call!(cuda.cuStreamSynchronize(stream) => status::LAUNCH_TIMEOUT);
    });
}

#[test]
fn a_trap_ends_the_other_blocks_of_a_streams_thread() {
    everywhere("signals::a_trap_ends_the_other_blocks_of_a_streams_thread", &[], || {
        if std::env::var("ANYWARP_WORKERS").as_deref() == Ok("1") {
            // The only worker never gets past block 0, which never ends.
            return;
        }
        let program = Program::start();
        let (stream, cuda) = (program.stream(), &program.cuda);
        program.launch("trap_beside", 2, stream, None);
        pause();
        call!(cuda.cuStreamSynchronize(stream) => status::LAUNCH_FAILED);
    });
}

#[test]
fn a_thread_that_blocks_all_signals_is_told_of_faults() {
    everywhere("signals::a_thread_that_blocks_all_signals_is_told_of_faults", &[], || {
        block_all();
        let program = Program::start();
        program.well();
        let cuda = &program.cuda;
        let (place, store) = (cuda.upload(&[0u32]), cuda.function(program.module, "store"));
        // Launches directly after each other: each opens the thread's mask.
        for address in std::iter::repeat_n(place, 1000).chain([FAR]) {
            assert_eq!(cuda.launch(store, 1, 32, 0, &[U64(address)]), 0);
            let ends = if address == FAR { status::ILLEGAL_ADDRESS } else { 0 };
            call!(cuda.cuCtxSynchronize() => ends);
        }
        assert!(blocks(libc::SIGSEGV) && blocks(libc::SIGTERM) && blocks(libc::SIGRTMAX() - 1));
    });
}

#[test]
fn a_streams_thread_is_told_of_faults_where_all_signals_are_blocked() {
    everywhere("signals::a_streams_thread_is_told_of_faults_where_all_signals_are_blocked", &[], || {
        block_all();
        let program = Program::start();
        let (stream, cuda) = (program.stream(), &program.cuda);
        program.launch("store", 1, stream, Some(FAR));
        pause();
        call!(cuda.cuStreamSynchronize(stream) => status::ILLEGAL_ADDRESS);
    });
}

#[test]
fn the_watchdog_reaches_a_thread_that_blocks_all_signals() {
    everywhere("signals::the_watchdog_reaches_a_thread_that_blocks_all_signals", WATCHED, || {
        let program = Program::start();
        program.well();
        block_all();
        program.launch("endless", 1, 0, None);
        let cuda = &program.cuda;
        call!(cuda.cuCtxSynchronize() => status::LAUNCH_TIMEOUT);
        assert!(blocks(libc::SIGSEGV) && blocks(libc::SIGTERM));
    });
}

extern "C" fn block_in_a_host_function(_: *mut c_void) {
    block_all();
}

#[test]
fn a_host_function_that_blocks_signals_keeps_no_fault_away() {
    everywhere("signals::a_host_function_that_blocks_signals_keeps_no_fault_away", &[], || {
        for asleep in [false, true] {
            let program = Program::start();
            let (stream, cuda) = (program.stream(), &program.cuda);
            call!(cuda.cuLaunchHostFunc(stream, Some(block_in_a_host_function), std::ptr::null_mut()));
            program.launch("store", 1, stream, Some(FAR));
            if asleep {
                pause();
            }
            call!(cuda.cuStreamSynchronize(stream) => status::ILLEGAL_ADDRESS);
            call!(cuda.cuDevicePrimaryCtxReset_v2(0));
        }
    });
}

static SEEN: AtomicU32 = AtomicU32::new(0);

/// The program's handler: makes the touched page accessible and continues.
extern "C" fn mend(_: i32, info: *mut libc::siginfo_t, _: *mut c_void) {
    SEEN.fetch_add(1, Ordering::SeqCst);
    // SAFETY: the page belongs to the program; the system reports the address of the fault.
    unsafe {
        let page = (*info).si_addr() as usize & !4095;
        if libc::mprotect(page as *mut c_void, 4096, libc::PROT_READ | libc::PROT_WRITE) != 0 {
            // The fault is not the program's; it would come again without end.
            libc::_exit(9);
        }
    }
}

fn install(signal: i32) {
    // SAFETY: the handler has the signature that SA_SIGINFO asks for.
    unsafe {
        let mut action: libc::sigaction = zeroed();
        action.sa_sigaction = mend as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO;
        assert_eq!(libc::sigaction(signal, &action, std::ptr::null_mut()), 0);
    }
}

/// A fault in the program itself.
fn own_fault() {
    // SAFETY: a private page, which the handler makes accessible.
    unsafe {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let page = libc::mmap(std::ptr::null_mut(), 4096, libc::PROT_NONE, flags, -1, 0);
        assert_ne!(page, libc::MAP_FAILED);
        page.cast::<u8>().write_volatile(1);
    }
}

#[test]
fn a_handler_installed_after_a_launch_gets_what_is_the_programs() {
    everywhere("signals::a_handler_installed_after_a_launch_gets_what_is_the_programs", &[], || {
        for asleep in [false, true] {
            let program = Program::start();
            for _ in 0..100 {
                program.well();
            }
            let seen = SEEN.load(Ordering::SeqCst);
            install(libc::SIGSEGV);
            own_fault();
            assert_eq!(SEEN.load(Ordering::SeqCst), seen + 1);
            // The launch checks which handler comes first; the program's is not called for kernels.
            if asleep {
                let (stream, cuda) = (program.stream(), &program.cuda);
                program.launch("store", 1, stream, Some(FAR));
                pause();
                call!(cuda.cuStreamSynchronize(stream) => status::ILLEGAL_ADDRESS);
            } else {
                program.faults();
            }
            assert_eq!(SEEN.load(Ordering::SeqCst), seen + 1);
            own_fault();
            assert_eq!(SEEN.load(Ordering::SeqCst), seen + 2);
            let cuda = &program.cuda;
            call!(cuda.cuDevicePrimaryCtxReset_v2(0));
        }
    });
}

#[test]
fn a_handler_installed_between_two_launches_is_seen_at_once() {
    everywhere("signals::a_handler_installed_between_two_launches_is_seen_at_once", &[], || {
        let program = Program::start();
        let cuda = &program.cuda;
        let (place, store) = (cuda.upload(&[0u32]), cuda.function(program.module, "store"));
        for _ in 0..1000 {
            assert_eq!(cuda.launch(store, 1, 32, 0, &[U64(place)]), 0);
            call!(cuda.cuCtxSynchronize());
        }
        install(libc::SIGSEGV);
        assert_eq!(cuda.launch(store, 1, 32, 0, &[U64(FAR)]), 0);
        call!(cuda.cuCtxSynchronize() => status::ILLEGAL_ADDRESS);
        assert_eq!(SEEN.load(Ordering::SeqCst), 0);
    });
}

#[test]
fn a_handler_installed_while_a_kernel_runs_gets_no_fault_of_it() {
    everywhere("signals::a_handler_installed_while_a_kernel_runs_gets_no_fault_of_it", &[], || {
        for round in 0..2 {
            let program = Program::start();
            let (stream, cuda) = (program.stream(), &program.cuda);
            let (word, store) = (cuda.upload(&[0u32]), cuda.function(program.module, "store_later"));
            assert_eq!(cuda.launch(store, 1, 1, stream, &[U64(word), U64(FAR)]), 0);
            pause();
            install(libc::SIGSEGV);
            own_fault();
            assert_eq!(SEEN.load(Ordering::SeqCst), round + 1);
            pause();
            // SAFETY: device memory is memory of this process.
            unsafe { (word as *mut u32).write_volatile(1) };
            call!(cuda.cuStreamSynchronize(stream) => status::ILLEGAL_ADDRESS);
            assert_eq!(SEEN.load(Ordering::SeqCst), round + 1);
            call!(cuda.cuDevicePrimaryCtxReset_v2(0));
            // What looks while kernels run stops looking before the second round.
            std::thread::sleep(Duration::from_millis(1500));
        }
    });
}
