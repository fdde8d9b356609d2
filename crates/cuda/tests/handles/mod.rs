//! Handles of device memory for other processes, taken while the memory and its neighbours are in use.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use hwtruth::sample;

use crate::call;
use crate::support::{Argument, Cuda, HEAD, P, everywhere, isolated};

fn alloc(cuda: &Cuda, size: usize) -> P {
    let mut address = 0;
    call!(cuda.cuMemAlloc_v2(&mut address, size));
    address
}

fn take_handle(cuda: &Cuda, address: P) -> u32 {
    let mut handle = [0u64; 8];
    // SAFETY: the handle has 64 bytes.
    unsafe { (cuda.cuIpcGetMemHandle)(&mut handle, address) }
}

/// Small allocations share pages. A write to one must not be lost when another gets a handle.
#[test]
fn neighbours_keep_what_is_written_to_them() {
    const BLOCKS: usize = 400;
    isolated("handles::neighbours_keep_what_is_written_to_them", &[], || {
        let cuda = Cuda::start();
        // Three of the first size fill most of a block, so that each pair begins another.
        let pairs: Vec<(P, P)> = (0..BLOCKS)
            .map(|_| {
                let pair = (alloc(&cuda, 4096), alloc(&cuda, 4096));
                (0..3).for_each(|_| assert_ne!(alloc(&cuda, 690 << 10), 0));
                pair
            })
            .collect();
        let (current, done) = (AtomicU64::new(pairs[0].1), AtomicBool::new(false));
        let writes = AtomicU64::new(0);
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                cuda.primary();
                let (mut number, mut seen) = (0u32, [0u32; 1024]);
                while !done.load(Ordering::Relaxed) {
                    let at = current.load(Ordering::Relaxed);
                    number += 1;
                    call!(cuda.cuMemsetD32_v2(at, number, 1024));
                    call!(cuda.cuMemcpyDtoH_v2(seen.as_mut_ptr().cast(), at, 4096));
                    assert!(seen == [number; 1024], "{number} was written, {} read", seen[0]);
                    writes.fetch_add(1, Ordering::Relaxed);
                }
            });
            for (shared, written) in &pairs {
                current.store(*written, Ordering::Relaxed);
                let before = writes.load(Ordering::Relaxed);
                while writes.load(Ordering::Relaxed) < before + 2 && !writer.is_finished() {
                    std::hint::spin_loop();
                }
                assert_eq!(take_handle(&cuda, *shared), 0);
            }
            done.store(true, Ordering::Relaxed);
            writer.join().expect("no write is lost");
        });
    });
}

/// Adds 1 to `count` words from every thread's own on, one after the other.
const ADD: &str = "
.visible .entry add(.param .u64 to, .param .u32 count) {
    .reg .pred %p; .reg .b32 %r<8>; .reg .b64 %d<4>;
    ld.param.u64 %d1, [to]; ld.param.u32 %r1, [count];
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.u32 %r2, %r2, %r3, %r4;
    mul.lo.u32 %r2, %r2, %r1; mul.wide.u32 %d2, %r2, 4; add.u64 %d1, %d1, %d2;
NEXT:
    ld.global.u32 %r5, [%d1]; add.u32 %r5, %r5, 1; st.global.u32 [%d1], %r5;
    add.u64 %d1, %d1, 4; sub.u32 %r1, %r1, 1; setp.ne.u32 %p, %r1, 0; @%p bra NEXT;
    ret;
}
";

/// A handle may be taken at any time, also while kernels and copies write the same memory.
#[test]
fn large_memory_keeps_what_is_written_meanwhile() {
    const WORDS: usize = 1 << 18;
    const FILLED: usize = 1 << 24;
    const GRIDS: u32 = 8;
    let body = || {
        let cuda = Cuda::start();
        let add = cuda.function(cuda.module(&format!("{HEAD}{ADD}")), "add");
        let mut lost = Vec::new();
        for _ in 0..sample::of(2, 1) {
            let (memory, filled) = (cuda.upload(&vec![0u32; WORDS]), cuda.upload(&vec![1u32; FILLED]));
            let mut stream = 0;
            call!(cuda.cuStreamCreate(&mut stream, 1));
            for _ in 0..GRIDS {
                let arguments = [Argument::U64(memory), Argument::U32(WORDS as u32 / 1024)];
                assert_eq!(cuda.launch(add, 8, 128, stream, &arguments), 0);
            }
            let began = AtomicBool::new(false);
            std::thread::scope(|scope| {
                let filler = scope.spawn(|| {
                    cuda.primary();
                    began.store(true, Ordering::Relaxed);
                    // Downwards, since the driver copies upwards: some pages are written after they are
                    // copied.
                    for page in (0..FILLED as u64 / 1024).rev() {
                        call!(cuda.cuMemsetD32_v2(filled + page * 4096, 7, 1024));
                    }
                });
                while !began.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
                assert_eq!((take_handle(&cuda, filled), take_handle(&cuda, memory)), (0, 0));
                filler.join().expect("no fill fails");
            });
            call!(cuda.cuStreamSynchronize(stream));
            let wrong = |at: P, words: usize, right: u32| {
                cuda.download::<u32>(at, words).into_iter().filter(|word| *word != right).count()
            };
            lost.push((wrong(memory, WORDS, GRIDS), wrong(filled, FILLED, 7)));
            call!(cuda.cuMemFree_v2(memory));
            call!(cuda.cuMemFree_v2(filled));
        }
        assert!(lost.iter().all(|words| *words == (0, 0)), "{lost:?}");
    };
    everywhere("handles::large_memory_keeps_what_is_written_meanwhile", &[], body);
}

/// A kernel that waits for the host does not keep the host from taking a handle.
#[test]
fn a_handle_is_taken_while_a_kernel_waits_for_the_host() {
    const WAIT: &str = "
.visible .entry wait(.param .u64 word, .param .u64 to) {
    .reg .pred %p; .reg .b32 %r<4>; .reg .b64 %d<4>;
    ld.param.u64 %d1, [word]; ld.param.u64 %d2, [to];
NEXT:
    ld.relaxed.sys.global.u32 %r1, [%d1]; setp.eq.u32 %p, %r1, 0; @%p bra NEXT;
    st.global.u32 [%d2], %r1;
    ret;
}
";
    let body = || {
        let cuda = Cuda::start();
        let wait = cuda
            .function(cuda.module(&format!(".version 7.0\n.target sm_70\n.address_size 64\n{WAIT}")), "wait");
        let (small, large) = (cuda.upload(&[0u32]), cuda.upload(&vec![0u32; 1 << 19]));
        let (mut word, mut stream) = (null_mut(), 0);
        call!(cuda.cuMemHostAlloc(&mut word, 4, 0));
        // SAFETY: page-locked memory of one word.
        let word = unsafe { &*word.cast::<std::sync::atomic::AtomicU32>() };
        call!(cuda.cuStreamCreate(&mut stream, 1));
        for to in [small, large] {
            word.store(0, Ordering::Relaxed);
            let arguments = [Argument::U64(std::ptr::from_ref(word) as u64), Argument::U64(to)];
            assert_eq!(cuda.launch(wait, 1, 1, stream, &arguments), 0);
            assert_eq!(take_handle(&cuda, to), 0);
            word.store(5, Ordering::Relaxed);
            call!(cuda.cuStreamSynchronize(stream));
            assert_eq!(cuda.download::<u32>(to, 1), [5]);
        }
    };
    everywhere("handles::a_handle_is_taken_while_a_kernel_waits_for_the_host", &[], body);
}

/// The host's memory and managed memory belong to one process, whatever device memory has a handle.
#[test]
fn a_child_has_its_own_copy_of_the_hosts_memory() {
    isolated("handles::a_child_has_its_own_copy_of_the_hosts_memory", &[], || {
        let cuda = Cuda::start();
        for size in [4096, 2 << 20] {
            let device = alloc(&cuda, size);
            let (mut host, mut managed): (*mut c_void, P) = (null_mut(), 0);
            call!(cuda.cuMemHostAlloc(&mut host, size, 0));
            call!(cuda.cuMemAllocManaged(&mut managed, size, 1));
            let words = [host.cast::<u32>(), managed as *mut u32];
            // SAFETY: memory that the host can use.
            words.iter().for_each(|word| unsafe { word.write_volatile(1) });
            assert_eq!(take_handle(&cuda, device), 0);
            // SAFETY: the child only writes these words and ends.
            unsafe {
                let child = libc::fork();
                if child == 0 {
                    let own = words.iter().all(|word| word.read_volatile() == 1);
                    words.iter().for_each(|word| word.write_volatile(2));
                    libc::_exit(i32::from(!own));
                }
                let mut status = -1;
                assert_eq!(libc::waitpid(child, &mut status, 0), child);
                assert_eq!(status, 0, "the child sees what was written before");
            }
            // SAFETY: as above.
            assert_eq!(words.map(|word| unsafe { word.read_volatile() }), [1; 2], "of {size} bytes");
        }
    });
}

/// Where files are limited, memory can be used all the same, and what fits a file can be shared.
#[test]
fn memory_without_files_is_memory() {
    isolated("handles::memory_without_files_is_memory", &[], || {
        let cuda = Cuda::start();
        let limit = |bytes: u64| {
            let limit = libc::rlimit { rlim_cur: bytes, rlim_max: libc::RLIM_INFINITY };
            // SAFETY: sets a limit of this process.
            assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &limit) }, 0);
        };
        // The limit, and what a handle of memory that is allocated under it then gives: a block of 2 MiB is
        // the first of the common file, or has a file of its own.
        let limits = [(1 << 20, 2), (5 << 20, 0), (5 << 20, 0), (5 << 20, 0), (1 << 20, 2)];
        for (step, (bytes, status)) in limits.into_iter().enumerate() {
            limit(bytes);
            let all: Vec<P> = (0..3).map(|number| cuda.upload(&[number; 170_000])).collect();
            for (number, address) in all.iter().enumerate() {
                assert_eq!(take_handle(&cuda, *address), status, "{number} of step {step}");
                assert!(cuda.download::<i32>(*address, 170_000).iter().all(|word| *word == number as i32));
            }
        }
        limit(libc::RLIM_INFINITY);
        let large = cuda.upload(&vec![3u8; 48 << 20]);
        // A move that fails may be tried again.
        limit(40 << 20);
        assert_eq!(take_handle(&cuda, large), 2);
        limit(libc::RLIM_INFINITY);
        assert_eq!(take_handle(&cuda, large), 0);
        assert!(cuda.download::<u8>(large, 48 << 20).iter().all(|byte| *byte == 3));
    });
}

/// A thread that blocks SIGSEGV could not wait for pages that are moved: the driver then waits for the work
/// that it knows.
#[test]
fn a_thread_that_blocks_all_signals_survives() {
    isolated("handles::a_thread_that_blocks_all_signals_survives", &[], || {
        let cuda = Cuda::start();
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let (told, blocked) = std::sync::mpsc::channel();
            let done = &done;
            scope.spawn(move || {
                // SAFETY: changes the mask of this thread.
                unsafe {
                    let mut all = std::mem::zeroed();
                    libc::sigfillset(&mut all);
                    libc::pthread_sigmask(libc::SIG_SETMASK, &all, null_mut());
                }
                told.send(()).expect("the test waits");
                while !done.load(Ordering::Relaxed) {
                    std::thread::yield_now();
                }
            });
            blocked.recv().expect("the thread begins");
            let large = cuda.upload(&vec![9u8; 8 << 20]);
            let taken = take_handle(&cuda, large);
            done.store(true, Ordering::Relaxed);
            assert_eq!(taken, 0);
            assert!(cuda.download::<u8>(large, 8 << 20).iter().all(|byte| *byte == 9));
        });
    });
}
