//! More streams that wait than there are threads for streams.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use crate::call;
use crate::support::{Cuda, P, isolated};

const NON_BLOCKING: u32 = 1;
const NOT_READY: u32 = 600;
/// `CU_STREAM_MEM_OP_WAIT_VALUE_32` and `CU_STREAM_MEM_OP_WRITE_VALUE_32`.
const WAIT: u64 = 1;
const WRITE: u64 = 2;
/// More than the driver has threads for.
const MANY: usize = 800;
/// Each stream used to hold a thread. The driver has up to 256 for streams, and some more.
const MOST_THREADS: usize = 400;

fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count)
}

/// The largest number of threads while `work` runs.
fn most_threads(work: impl FnOnce()) -> usize {
    static ENDED: AtomicBool = AtomicBool::new(false);
    static MOST: AtomicUsize = AtomicUsize::new(0);
    let watcher = std::thread::spawn(|| {
        while !ENDED.load(Ordering::SeqCst) {
            MOST.fetch_max(threads(), Ordering::SeqCst);
            std::thread::sleep(Duration::from_micros(500));
        }
    });
    work();
    ENDED.store(true, Ordering::SeqCst);
    watcher.join().expect("the watcher");
    MOST.load(Ordering::SeqCst)
}

fn streams(cuda: &Cuda, count: usize) -> Vec<P> {
    let one = |_| {
        let mut stream = 0;
        call!(cuda.cuStreamCreate(&mut stream, NON_BLOCKING));
        stream
    };
    (0..count).map(one).collect()
}

fn on_words(cuda: &Cuda, stream: P, steps: &[(u64, P, u64)]) {
    let mut steps: Vec<[u64; 6]> =
        steps.iter().map(|&(operation, word, value)| [operation, word, value, 0, 0, 0]).collect();
    call!(cuda.cuStreamBatchMemOp_v2(stream, steps.len() as u32, steps.as_mut_ptr(), 0));
}

#[test]
fn any_number_of_streams_waits_for_one_that_comes_last() {
    isolated("crowds::any_number_of_streams_waits_for_one_that_comes_last", &[], || {
        let cuda = Cuda::start();
        let words = cuda.upload(&[0u32; MANY + 1]);
        let (word, own) = (words, |n: usize| words + 4 * (n as u64 + 1));
        let (waiting, last) = (streams(&cuda, MANY), streams(&cuda, 1)[0]);
        let most = most_threads(|| {
            for (n, stream) in waiting.iter().enumerate() {
                if n % 2 == 0 {
                    // What comes before a wait runs once.
                    on_words(&cuda, *stream, &[(WRITE, own(n), 1), (WAIT, word, 1), (WRITE, own(n), 2)]);
                } else {
                    call!(cuda.cuStreamWaitValue32_v2(*stream, word, 1, 0));
                    on_words(&cuda, *stream, &[(WRITE, own(n), 2)]);
                }
            }
            std::thread::sleep(Duration::from_millis(100));
            call!(cuda.cuStreamQuery(waiting[MANY - 1]) => NOT_READY);
            on_words(&cuda, last, &[(WRITE, word, 1)]);
            call!(cuda.cuCtxSynchronize());
        });
        let expected: Vec<u32> = std::iter::once(1).chain([2; MANY]).collect();
        assert_eq!(cuda.download::<u32>(words, MANY + 1), expected);
        assert!(most < MOST_THREADS, "{most} threads");
    });
}

#[test]
fn any_number_of_streams_waits_for_one_that_waits() {
    isolated("crowds::any_number_of_streams_waits_for_one_that_waits", &[], || {
        let cuda = Cuda::start();
        let words = cuda.upload(&[0u32; MANY + 1]);
        let (word, own) = (words, |n: usize| words + 4 * (n as u64 + 1));
        let (waiting, last) = (streams(&cuda, MANY), streams(&cuda, 1)[0]);
        let most = most_threads(|| {
            let mut event = 0;
            call!(cuda.cuEventCreate(&mut event, 0));
            for (n, stream) in waiting.iter().enumerate() {
                // Sixty streams wait for the word, and the others for one of them.
                if n < 60 {
                    call!(cuda.cuStreamWaitValue32_v2(*stream, word, 1, 0));
                    call!(cuda.cuEventRecord(event, *stream));
                } else {
                    call!(cuda.cuStreamWaitEvent(*stream, event, 0));
                }
                on_words(&cuda, *stream, &[(WRITE, own(n), 2)]);
            }
            std::thread::sleep(Duration::from_millis(100));
            on_words(&cuda, last, &[(WRITE, word, 1)]);
            for stream in waiting.iter().rev() {
                call!(cuda.cuStreamSynchronize(*stream));
            }
        });
        let expected: Vec<u32> = std::iter::once(1).chain([2; MANY]).collect();
        assert_eq!(cuda.download::<u32>(words, MANY + 1), expected);
        assert!(most < MOST_THREADS, "{most} threads");
    });
}
