//! Branches, threads and ends at the same time.

use std::sync::{Condvar, Mutex};

use super::kit::*;
use crate::by_name::{self, at};

extern "C" fn nap(milliseconds: u64) {
    std::thread::sleep(std::time::Duration::from_millis(milliseconds));
}

#[test]
fn branches_wait_for_each_other() {
    on_each_engine("graphs::together::branches_wait_for_each_other", |kit| {
        const BRANCHES: u64 = 24;
        let words = kit.words(BRANCHES + 1);
        let word = |index: u64| words + 4 * index;
        // Branch i waits for word i + 1 and writes word i; the last added one needs no other.
        for inside in [false, true] {
            let graph = kit.graph();
            for index in 0..=BRANCHES {
                let steps = [[WAIT_32, word(index + 1), 1, 0, 0, 0], [WRITE_32, word(index), 1, 0, 0, 0]];
                let from = usize::from(index == BRANCHES);
                kit.add(graph, &[], kit.batch(&steps[from..]));
            }
            let exec = if inside {
                let outer = kit.graph();
                kit.add(outer, &[], params(GRAPH, &[graph, 0]));
                kit.instantiate(outer)
            } else {
                kit.instantiate(graph)
            };
            for _ in 0..5 {
                kit.ok("cuMemsetD32_v2", &[words, 0, BRANCHES + 1]);
                kit.run(exec);
                assert!(kit.read::<u32, 25>(words).iter().all(|one| *one == 1));
            }
        }
        // A graph in one stream waits for one in another.
        kit.ok("cuMemsetD32_v2", &[words, 0, BRANCHES + 1]);
        let (waits, writes) = (kit.graph(), kit.graph());
        kit.add(waits, &[], kit.batch(&[[WAIT_32, word(0), 1, 0, 0, 0], [WRITE_32, word(1), 2, 0, 0, 0]]));
        kit.add(writes, &[], kit.batch(&[[WRITE_32, word(0), 1, 0, 0, 0]]));
        kit.launch(kit.instantiate(waits));
        let other = kit.made("cuStreamCreate", &[1]);
        kit.ok("cuGraphLaunch", &[kit.instantiate(writes), other]);
        kit.wait();
        assert_eq!(kit.word(word(1)), 2);
    });
}

/// How many have come, and how many are awaited.
static MEETING: (Mutex<u64>, Condvar) = (Mutex::new(0), Condvar::new());

/// Comes to a meeting and waits for the others.
extern "C" fn meet(awaited: u64) {
    let mut come = MEETING.0.lock().unwrap();
    *come += 1;
    MEETING.1.notify_all();
    drop(MEETING.1.wait_while(come, |come| *come < awaited).unwrap());
}

/// Threads of the driver run branches of graphs, and streams; there are 64 and 256 of them as long as work
/// ends.
#[test]
fn more_work_waits_for_each_other_than_the_driver_has_threads() {
    isolated("graphs::together::more_work_waits_for_each_other_than_the_driver_has_threads", |kit| {
        const BRANCHES: u64 = 90;
        let graph = kit.graph();
        for _ in 0..BRANCHES {
            kit.add(graph, &[], host(meet, BRANCHES));
        }
        let exec = kit.instantiate(graph);
        for _ in 0..2 {
            *MEETING.0.lock().unwrap() = 0;
            kit.run(exec);
            assert_eq!(*MEETING.0.lock().unwrap(), BRANCHES);
        }
        const STREAMS: u64 = 290;
        let words = kit.words(STREAMS + 1);
        let word = |index: u64| words + 4 * index;
        let streams: Vec<u64> = (0..STREAMS).map(|_| kit.made("cuStreamCreate", &[1])).collect();
        for (index, stream) in (0u64..).zip(&streams) {
            kit.ok("cuStreamWaitValue32_v2", &[*stream, word(index + 1), 1, 0]);
            kit.ok("cuStreamWriteValue32_v2", &[*stream, word(index), 1, 0]);
        }
        let last = kit.made("cuStreamCreate", &[1]);
        kit.ok("cuStreamWriteValue32_v2", &[last, word(STREAMS), 1, 0]);
        kit.ok("cuCtxSynchronize", &[]);
        assert!(kit.read::<u32, 291>(words).iter().all(|one| *one == 1));
    });
}

#[test]
fn threads_have_graphs_and_captures_of_their_own() {
    on_each_engine("graphs::together::threads_have_graphs_and_captures_of_their_own", |kit| {
        const THREAD_LOCAL: u64 = 1;
        std::thread::scope(|scope| {
            for thread in 0..6u64 {
                scope.spawn(move || {
                    kit.ok("cuCtxSetCurrent", &[kit.context]);
                    // What other threads capture must not forbid this thread's calls.
                    let mut mode = THREAD_LOCAL as u32;
                    kit.ok("cuThreadExchangeStreamCaptureMode", &[at(&mut mode)]);
                    let (s, words) = (kit.made("cuStreamCreate", &[1]), kit.words(2));
                    // The stream does not wait for the fill that has cleared the words.
                    kit.ok("cuStreamSynchronize", &[0]);
                    for round in 0..40u64 {
                        let by = thread * 100 + round;
                        kit.ok("cuStreamBeginCapture_v2", &[s, THREAD_LOCAL]);
                        kit.ok("cuMemsetD32Async", &[words, by, 1, s]);
                        kit.ok("cuMemcpyAsync", &[words + 4, words, 4, s]);
                        let mut captured = 0u64;
                        kit.ok("cuStreamEndCapture", &[s, at(&mut captured)]);
                        let graph = kit.graph();
                        let node = kit.add(graph, &[], params(GRAPH, &[captured, 0]));
                        kit.add_kernel(graph, &[node], "add", &[words + 4, 1]);
                        let exec = kit.instantiate(graph);
                        kit.rows(&[
                            ("cuGraphDestroy", &[captured], 0),
                            ("cuGraphLaunch", &[exec, s], 0),
                            ("cuGraphDestroy", &[graph], 0),
                            ("cuGraphLaunch", &[exec, s], 0),
                            ("cuGraphExecDestroy", &[exec], 0),
                            ("cuStreamSynchronize", &[s], 0),
                        ]);
                        assert_eq!(kit.word(words + 4), by as u32 + 1);
                    }
                });
            }
        });
    });
}

/// The order of five things by a number below 120.
fn permutation(mut number: usize) -> Vec<usize> {
    let mut left: Vec<usize> = (0..5).collect();
    (1..=5)
        .rev()
        .map(|count| {
            let at = number % count;
            number /= count;
            left.remove(at)
        })
        .collect()
}

#[test]
fn everything_ends_in_every_order_while_a_launch_runs() {
    isolated("graphs::together::everything_ends_in_every_order_while_a_launch_runs", |kit| {
        let words = kit.words(1);
        for number in 0..120 {
            let own = Kit::start_here();
            let event = kit.made("cuEventCreate", &[2]);
            let graph = kit.graph();
            let first = kit.add(graph, &[], host(nap, 1));
            let record = kit.add(graph, &[first], params(RECORD_EVENT, &[event]));
            let wait = kit.add(graph, &[record], params(WAIT_EVENT, &[event]));
            own.add_kernel(graph, &[wait], "add", &[words, 1]);
            let exec = kit.instantiate(graph);
            own.launch(exec);
            own.launch(exec);
            let ends = [
                ("cuGraphDestroy", graph),
                ("cuGraphExecDestroy", exec),
                ("cuStreamDestroy_v2", own.stream),
                ("cuEventDestroy_v2", event),
                ("cuModuleUnload", own.module()),
            ];
            for index in permutation(number) {
                let (name, handle) = ends[index];
                kit.ok(name, &[handle]);
            }
        }
        kit.ok("cuCtxSynchronize", &[]);
        assert_eq!(kit.word(words), 240);
    });
}

#[test]
fn a_fault_stops_the_graph() {
    for engine in ["interpreter", "compiled"] {
        let test = "graphs::together::a_fault_stops_the_graph";
        by_name::isolated(test, &[("ANYWARP_ENGINE", engine), ("ANYWARP_LOG", "off")], || {
            const ILLEGAL_ADDRESS: u32 = 700;
            let kit = Kit::start();
            let mut memory = 0u64;
            kit.ok("cuMemHostAlloc", &[at(&mut memory), 8, 0]);
            // SAFETY: memory of the process, just allocated.
            unsafe { (memory as *mut [u32; 2]).write_volatile([0; 2]) };
            let graph = kit.graph();
            let first = kit.add(graph, &[], fill(memory, 5, 4, 1));
            let fault = kit.add_kernel(graph, &[first], "fault", &[]);
            let aside = kit.add(graph, &[first], params(EMPTY, &[]));
            kit.add(graph, &[fault, aside], fill(memory + 4, 6, 4, 1));
            let exec = kit.instantiate(graph);
            kit.launch(exec);
            assert_eq!(kit.call("cuStreamSynchronize", &[kit.stream]), ILLEGAL_ADDRESS);
            // SAFETY: as above; nothing runs.
            assert_eq!(unsafe { (memory as *const [u32; 2]).read_volatile() }, [5, 0]);
            assert_eq!(kit.call("cuGraphLaunch", &[exec, kit.stream]), ILLEGAL_ADDRESS);
            kit.rows(&[("cuGraphExecDestroy", &[exec], 0), ("cuGraphDestroy", &[graph], 0)]);
        });
    }
}
