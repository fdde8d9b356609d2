//! Thousands of streams that wait for one another.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::by_name::Library;

use super::kit::{EMPTY, Kit, RECORD_EVENT, WAIT_EVENT, isolated, list, params};

const STREAMS: usize = 2000;
/// Too small for a thread that runs each stream below the one that waits for it.
const STACK: usize = 256 << 10;

/// Submits to each stream a wait for the stream before it, by `wait`, a kernel and a record. The first stream
/// waits for a word. Then lets a thread with a small stack wait for the last stream.
fn run(kit: &Kit, wait: impl Fn(&Kit, u64, u64)) {
    let gate = kit.words(2);
    let (counter, one) = (gate + 4, 1u32);
    let arguments = [std::ptr::from_ref(&counter) as u64, std::ptr::from_ref(&one) as u64];
    let add = kit.function("add");
    let streams: Vec<u64> = (0..STREAMS).map(|_| kit.made("cuStreamCreate", &[1])).collect();
    kit.ok("cuStreamWaitValue32_v2", &[streams[0], gate, 1, 0]);
    let mut before = 0;
    for stream in &streams {
        if before != 0 {
            wait(kit, *stream, before);
        }
        kit.ok("cuLaunchKernel", &[add, 1, 1, 1, 1, 1, 1, 0, *stream, list(&arguments), 0]);
        before = kit.made("cuEventCreate", &[2]);
        kit.ok("cuEventRecord", &[before, *stream]);
    }
    // SAFETY: an aligned word of memory that was just allocated.
    unsafe { AtomicU32::from_ptr(gate as *mut u32) }.store(1, Ordering::SeqCst);
    let (context, last) = (kit.context, streams[STREAMS - 1]);
    let waiting = std::thread::Builder::new().stack_size(STACK).spawn(move || {
        let cuda = Library::open();
        cuda.ok("cuCtxSetCurrent", &[context]);
        cuda.ok("cuStreamSynchronize", &[last]);
    });
    waiting.expect("a thread").join().expect("the last stream ends");
    assert_eq!(kit.word(counter), STREAMS as u32);
}

#[test]
fn streams_wait_for_thousands_of_others() {
    isolated("graphs::chains::streams_wait_for_thousands_of_others", |kit| {
        run(kit, |kit, stream, event| kit.ok("cuStreamWaitEvent", &[stream, event, 0]));
    });
}

#[test]
fn graphs_wait_for_thousands_of_streams() {
    isolated("graphs::chains::graphs_wait_for_thousands_of_streams", |kit| {
        run(kit, |kit, stream, event| {
            let graph = kit.graph();
            let first = kit.add(graph, &[], params(EMPTY, &[]));
            kit.add(graph, &[first], params(WAIT_EVENT, &[event]));
            let exec = kit.instantiate(graph);
            kit.ok("cuGraphDestroy", &[graph]);
            kit.ok("cuGraphLaunch", &[exec, stream]);
            kit.ok("cuGraphExecDestroy", &[exec]);
        });
    });
}

/// Each of the driver's threads could take addresses of its own for small objects.
#[test]
fn many_streams_run_in_few_addresses() {
    crate::by_name::isolated("graphs::chains::many_streams_run_in_few_addresses", &[], || {
        let limit = libc::rlimit { rlim_cur: 2500 << 20, rlim_max: 2500 << 20 };
        // SAFETY: the call reads a structure on this stack.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) }, 0);
        let kit = Kit::start();
        let (counter, one) = (kit.words(1), 1u32);
        let graph = kit.graph();
        for _ in 0..50 {
            kit.add_kernel(graph, &[], "add", &[counter, u64::from(one)]);
        }
        let exec = kit.instantiate(graph);
        let streams: Vec<u64> = (0..64).map(|_| kit.made("cuStreamCreate", &[1])).collect();
        let arguments = [std::ptr::from_ref(&counter) as u64, std::ptr::from_ref(&one) as u64];
        for stream in &streams {
            kit.ok("cuGraphLaunch", &[exec, *stream]);
            let launch = [kit.function("add"), 1, 1, 1, 1, 1, 1, 0, *stream, list(&arguments), 0];
            kit.ok("cuLaunchKernel", &launch);
        }
        kit.ok("cuCtxSynchronize", &[]);
        assert_eq!(kit.word(counter), 64 * 51);
    });
}

/// If the system refuses threads, a program that asks whether work has ended runs it.
#[test]
fn work_ends_without_threads() {
    isolated("graphs::chains::work_ends_without_threads", |kit| {
        let counter = kit.words(1);
        let (add, one) = (kit.function("add"), 1u32);
        let arguments = [std::ptr::from_ref(&counter) as u64, std::ptr::from_ref(&one) as u64];
        let limit = libc::rlimit { rlim_cur: 1, rlim_max: 1 };
        // SAFETY: the calls read numbers and a structure on this stack. The limit does not bind root.
        unsafe {
            assert_eq!(libc::setrlimit(libc::RLIMIT_NPROC, &raw const limit), 0);
            assert!(libc::geteuid() != 0 || libc::setresuid(65534, 65534, 65534) == 0);
        }
        let event = kit.made("cuEventCreate", &[0]);
        kit.ok("cuLaunchKernel", &[add, 1, 1, 1, 1, 1, 1, 0, kit.stream, list(&arguments), 0]);
        kit.ok("cuEventRecord", &[event, kit.stream]);
        while kit.call("cuEventQuery", &[event]) != 0 {}
        kit.ok("cuLaunchKernel", &[add, 1, 1, 1, 1, 1, 1, 0, kit.stream, list(&arguments), 0]);
        while kit.call("cuStreamQuery", &[kit.stream]) != 0 {}
        // A graph in one stream waits for a record inside a graph in another.
        let (first, second) = (kit.graph(), kit.graph());
        kit.add_kernel(first, &[], "add", &[counter, 1]);
        kit.add(first, &[], params(RECORD_EVENT, &[event]));
        kit.add(second, &[], params(WAIT_EVENT, &[event]));
        let other = kit.made("cuStreamCreate", &[1]);
        kit.ok("cuGraphLaunch", &[kit.instantiate(first), other]);
        kit.run(kit.instantiate(second));
        kit.ok("cuStreamSynchronize", &[other]);
        assert_eq!(kit.word(counter), 3);
    });
}
