//! Stream capture.

use std::sync::atomic::{AtomicU64, Ordering};

use super::kit::*;
use crate::by_name::at;
use crate::by_name::status::INVALID_VALUE;

const ILLEGAL_STATE: u32 = 401;
const LOSSY_QUERY: u32 = 402;
const UNSUPPORTED: u32 = 900;
const INVALIDATED: u32 = 901;
const MERGE: u32 = 902;
const UNMATCHED: u32 = 903;
const UNJOINED: u32 = 904;
const ISOLATION: u32 = 905;
const IMPLICIT: u32 = 906;
const CAPTURED_EVENT: u32 = 907;
const WRONG_THREAD: u32 = 908;

const GLOBAL: u64 = 0;
const THREAD_LOCAL: u64 = 1;
const RELAXED: u64 = 2;

const BEGIN: &str = "cuStreamBeginCapture_v2";

fn end(kit: &Kit, stream: u64) -> (u32, u64) {
    let mut graph = 99u64;
    (kit.call("cuStreamEndCapture", &[stream, at(&mut graph)]), graph)
}

/// 0: none, 1: active, 2: invalidated.
fn capturing(kit: &Kit, stream: u64) -> u32 {
    let mut status = 99u32;
    kit.ok("cuStreamIsCapturing", &[stream, at(&mut status)]);
    status
}

fn stream(kit: &Kit) -> u64 {
    kit.made("cuStreamCreate", &[1])
}

fn event(kit: &Kit) -> u64 {
    kit.made("cuEventCreate", &[2])
}

fn launch(kit: &Kit, name: &str, arguments: &[u64], stream: u64) -> u32 {
    let pointers: Vec<u64> = arguments.iter().map(|argument| std::ptr::from_ref(argument) as u64).collect();
    kit.call("cuLaunchKernel", &[kit.function(name), 1, 1, 1, 1, 1, 1, 0, stream, list(&pointers), 0])
}

static SUM: AtomicU64 = AtomicU64::new(0);

extern "C" fn sum(by: u64) {
    SUM.fetch_add(by, Ordering::Relaxed);
}

#[test]
fn streams_fork_and_join_by_events() {
    on_each_engine("graphs::capture::streams_fork_and_join_by_events", |kit| {
        let (words, other, third) = (kit.words(4), stream(kit), stream(kit));
        let (forked, joined, again) = (event(kit), event(kit), event(kit));
        let graph = kit.captured(|| {
            assert_eq!(launch(kit, "ten", &[words, 1], kit.stream), 0);
            kit.ok("cuEventRecord", &[forked, kit.stream]);
            kit.ok("cuStreamWaitEvent", &[other, forked, 0]);
            kit.ok("cuStreamWaitEvent", &[third, forked, 0]);
            assert_eq!((capturing(kit, kit.stream), capturing(kit, other), capturing(kit, third)), (1, 1, 1));
            assert_eq!(launch(kit, "put", &[words + 4, 2], other), 0);
            kit.ok("cuMemcpyAsync", &[words + 8, words, 4, third]);
            assert_eq!(launch(kit, "ten", &[words, 2], kit.stream), 0);
            // One stream joins the other, which joins the origin.
            kit.ok("cuEventRecord", &[again, third]);
            kit.ok("cuStreamWaitEvent", &[other, again, 0]);
            kit.ok("cuEventRecord", &[joined, other]);
            kit.ok("cuStreamWaitEvent", &[kit.stream, joined, 0]);
            assert_eq!(launch(kit, "mix", &[words, words + 4, 0], kit.stream), 0);
        });
        assert_eq!((capturing(kit, kit.stream), capturing(kit, other)), (0, 0));
        assert_eq!(kit.word(words), 0, "nothing has run");
        let nodes = kit.nodes(graph);
        assert_eq!((nodes.len(), kit.list("cuGraphGetRootNodes", graph)), (5, vec![nodes[0]]));
        assert_eq!(kit.list("cuGraphNodeGetDependencies", nodes[4]).len(), 3);
        let exec = kit.instantiate(graph);
        for _ in 0..3 {
            kit.write(words, &[0u32; 4]);
            kit.run(exec);
            let [mixed, put, copied, rest] = kit.read(words);
            assert_eq!([mixed, put, rest], [12 * 31 + 2, 2, 0]);
            // The copy and the second kernel have no order.
            assert!([1, 12].contains(&copied), "{copied}");
        }
    });
}

#[test]
fn what_breaks_the_rules_has_its_own_error() {
    isolated("graphs::capture::what_breaks_the_rules_has_its_own_error", |kit| {
        let (a, b, words) = (kit.stream, stream(kit), kit.words(4));
        let (e, f) = (event(kit), event(kit));
        let blocking = kit.made("cuStreamCreate", &[0]);
        let begin = |stream: u64| kit.ok(BEGIN, &[stream, THREAD_LOCAL]);
        // Not joined.
        begin(a);
        kit.rows(&[("cuEventRecord", &[e, a], 0), ("cuStreamWaitEvent", &[b, e, 0], 0)]);
        assert_eq!(launch(kit, "nothing", &[], b), 0);
        assert_eq!(end(kit, a), (UNJOINED, 0));
        assert_eq!((capturing(kit, a), capturing(kit, b)), (0, 0));
        // A stream that only waited has nothing to join.
        begin(a);
        kit.rows(&[("cuEventRecord", &[e, a], 0), ("cuStreamWaitEvent", &[b, e, 0], 0)]);
        assert_eq!(end(kit, a).0, 0);
        // Two captures.
        begin(a);
        begin(b);
        kit.rows(&[("cuEventRecord", &[e, a], 0), ("cuStreamWaitEvent", &[b, e, 0], MERGE)]);
        assert_eq!((end(kit, a), end(kit, b)), ((INVALIDATED, 0), (INVALIDATED, 0)));
        // Work outside the capture.
        kit.ok("cuEventRecord", &[f, b]);
        begin(a);
        kit.rows(&[("cuStreamWaitEvent", &[a, f, 0], ISOLATION)]);
        assert_eq!(capturing(kit, a), 2);
        assert_eq!(launch(kit, "nothing", &[], a), INVALIDATED);
        assert_eq!(end(kit, a), (INVALIDATED, 0));
        // An event that was never recorded is nothing to wait for.
        begin(a);
        kit.ok("cuStreamWaitEvent", &[a, event(kit), 0]);
        assert_eq!(end(kit, a).0, 0);
        // The legacy stream waits for blocking streams.
        begin(blocking);
        assert_eq!(launch(kit, "nothing", &[], 0), IMPLICIT);
        let mut status = 9u32;
        kit.rows(&[("cuStreamIsCapturing", &[0, at(&mut status)], IMPLICIT)]);
        assert_eq!(end(kit, blocking), (INVALIDATED, 0));
        begin(a);
        assert_eq!(launch(kit, "nothing", &[], 0), 0, "not for the others");
        assert_eq!(end(kit, a).0, 0);
        // Events that were captured.
        for name in ["cuEventQuery", "cuEventSynchronize"] {
            begin(a);
            kit.rows(&[("cuEventRecord", &[e, a], 0), (name, &[e], CAPTURED_EVENT)]);
            assert_eq!(end(kit, a), (INVALIDATED, 0));
        }
        begin(a);
        kit.ok("cuEventRecord", &[e, a]);
        assert_eq!(end(kit, a).0, 0);
        // After a capture has ended, its events are invalid until they are recorded again
        // (`capevents.stale`).
        kit.rows(&[
            ("cuStreamWaitEvent", &[b, e, 0], INVALID_VALUE),
            ("cuStreamWaitEvent", &[0, e, 0], INVALID_VALUE),
            ("cuEventQuery", &[e], INVALID_VALUE),
            ("cuEventSynchronize", &[e], INVALID_VALUE),
            (BEGIN, &[a, THREAD_LOCAL], 0),
            ("cuStreamWaitEvent", &[a, e, 0], INVALID_VALUE),
        ]);
        assert_eq!(end(kit, a), (INVALIDATED, 0));
        kit.rows(&[
            ("cuEventRecord", &[e, b], 0),
            ("cuStreamSynchronize", &[b], 0),
            ("cuEventQuery", &[e], 0),
        ]);
        // Ended where it did not begin.
        begin(a);
        kit.rows(&[("cuEventRecord", &[e, a], 0), ("cuStreamWaitEvent", &[b, e, 0], 0)]);
        assert_eq!(end(kit, b), (UNMATCHED, 0));
        assert_eq!(end(kit, a), (INVALIDATED, 0));
        // Begun twice, ended twice, in the legacy stream, in no mode.
        begin(a);
        kit.rows(&[(BEGIN, &[a, GLOBAL], ILLEGAL_STATE)]);
        assert_eq!((end(kit, a).0, end(kit, a)), (0, (ILLEGAL_STATE, 0)));
        kit.rows(&[
            (BEGIN, &[0, GLOBAL], UNSUPPORTED),
            (BEGIN, &[1, GLOBAL], UNSUPPORTED),
            (BEGIN, &[a, 3], INVALID_VALUE),
        ]);
        // What waits cannot be captured, nor graph launches, copies between contexts and some questions.
        let graph = kit.graph();
        kit.add(graph, &[], params(EMPTY, &[]));
        let (exec, own) = (kit.instantiate(graph), kit.context);
        let mut space = [0u64; 2];
        let out = at(&mut space);
        for (name, arguments) in [
            ("cuStreamSynchronize", &[a][..]),
            ("cuStreamQuery", &[a]),
            ("cuCtxSynchronize", &[]),
            ("cuCtxRecordEvent", &[own, f]),
            ("cuCtxWaitEvent", &[own, f]),
            ("cuStreamAddCallback", &[a, sum as *const () as u64, 0, 0]),
            ("cuGraphLaunch", &[exec, a]),
            ("cuGraphUpload", &[exec, a]),
            ("cuMemcpyPeerAsync", &[words, own, words + 4, own, 4, a]),
            ("cuStreamGetFlags", &[a, out]),
            ("cuStreamGetId", &[a, out]),
            ("cuStreamGetDevice", &[a, out]),
        ] {
            begin(a);
            assert_eq!(kit.call(name, arguments), UNSUPPORTED, "{name}");
            assert_eq!(end(kit, a), (INVALIDATED, 0), "{name}");
        }
        // Wrong arguments leave a capture as it is.
        let timed = kit.made("cuEventCreate", &[0]);
        begin(a);
        kit.rows(&[
            ("cuMemsetD8Async", &[8, 1, 4, a], INVALID_VALUE),
            ("cuMemcpyAsync", &[words, words + 4, 4, a], 0),
            ("cuEventRecord", &[e + 16_000, a], 400),
            // Questions that a capture answers, and one that is refused without harm (`capevents.elapsed`).
            ("cuStreamGetPriority", &[a, out], 0),
            ("cuStreamGetCtx", &[a, out], 0),
            ("cuEventRecord", &[timed, a], 0),
            ("cuEventElapsedTime_v2", &[out, timed, timed], CAPTURED_EVENT),
        ]);
        let (status, graph) = end(kit, a);
        assert_eq!((status, kit.nodes(graph).len()), (0, 1));
        kit.rows(&[("cuEventElapsedTime_v2", &[out, timed, timed], INVALID_VALUE)]);
    });
}

#[test]
fn modes_forbid_unsafe_calls() {
    isolated("graphs::capture::modes_forbid_unsafe_calls", |kit| {
        let a = kit.stream;
        let allocate = || {
            let mut address = 0u64;
            kit.call("cuMemAlloc_v2", &[at(&mut address), 16])
        };
        let elsewhere = |own: Option<u32>| {
            std::thread::scope(|scope| {
                let other = scope.spawn(|| {
                    kit.ok("cuCtxSetCurrent", &[kit.context]);
                    if let Some(mut mode) = own {
                        kit.ok("cuThreadExchangeStreamCaptureMode", &[at(&mut mode)]);
                        assert_eq!(mode, 0);
                    }
                    allocate()
                });
                other.join().expect("no panic")
            })
        };
        // The capture's mode; the calling thread's mode; whether the capturing and another thread may call.
        for (mode, own, here, there) in [
            (GLOBAL, None, UNSUPPORTED, UNSUPPORTED),
            (GLOBAL, Some(THREAD_LOCAL), UNSUPPORTED, 0),
            (GLOBAL, Some(RELAXED), 0, 0),
            (THREAD_LOCAL, None, UNSUPPORTED, 0),
            (THREAD_LOCAL, Some(RELAXED), 0, 0),
            (RELAXED, None, 0, 0),
            (RELAXED, Some(THREAD_LOCAL), 0, 0),
        ] {
            for in_other_thread in [false, true] {
                kit.ok(BEGIN, &[a, mode]);
                let own = own.map(|mode| mode as u32);
                let (status, expected) = if in_other_thread {
                    (elsewhere(own), there)
                } else {
                    let mut exchanged = own.unwrap_or(0);
                    kit.ok("cuThreadExchangeStreamCaptureMode", &[at(&mut exchanged)]);
                    let status = allocate();
                    kit.ok("cuThreadExchangeStreamCaptureMode", &[at(&mut exchanged)]);
                    assert_eq!(exchanged, own.unwrap_or(0));
                    (status, here)
                };
                let case = format!("capture {mode}, thread {own:?}, other {in_other_thread}");
                assert_eq!(status, expected, "{case}");
                assert_eq!(end(kit, a).0, if expected == 0 { 0 } else { INVALIDATED }, "{case}");
            }
        }
        // Only a relaxed capture has a result in another thread, whatever that thread's own mode. The others
        // end there without one (`capends`), as an H200 with driver 580 does.
        for (mode, expected) in [(GLOBAL, WRONG_THREAD), (THREAD_LOCAL, WRONG_THREAD), (RELAXED, 0)] {
            kit.ok(BEGIN, &[a, mode]);
            let status = std::thread::scope(|scope| {
                let other = scope.spawn(|| {
                    kit.ok("cuCtxSetCurrent", &[kit.context]);
                    end(kit, a).0
                });
                other.join().expect("no panic")
            });
            assert_eq!(status, expected, "{mode}");
            assert_eq!((capturing(kit, a), end(kit, a)), (0, (ILLEGAL_STATE, 0)), "{mode}");
        }
        kit.rows(&[("cuThreadExchangeStreamCaptureMode", &[0], INVALID_VALUE)]);
    });
}

/// Calls that are not made during a global capture: those that may wait for other work (`capglobal`, and of
/// the same kinds where a function was not recorded).
const UNSAFE: &[&str] = &[
    "cuArray3DCreate_v2",
    "cuArrayCreate_v2",
    "cuArrayDestroy",
    "cuCtxDestroy_v2",
    "cuCtxDetach",
    "cuCtxDisablePeerAccess",
    "cuCtxEnablePeerAccess",
    "cuCtxSetLimit",
    "cuDestroyExternalMemory",
    "cuDestroyExternalSemaphore",
    "cuDevicePrimaryCtxRelease_v2",
    "cuDevicePrimaryCtxReset_v2",
    "cuDeviceSetMemPool",
    "cuExternalMemoryGetMappedBuffer",
    "cuGraphExecDestroy",
    "cuGraphInstantiateWithFlags",
    "cuGraphInstantiateWithParams",
    "cuGraphInstantiate_v2",
    "cuGreenCtxCreate",
    "cuGreenCtxDestroy",
    "cuIpcCloseMemHandle",
    "cuIpcOpenMemHandle_v2",
    "cuLibraryUnload",
    "cuMemAdvise",
    "cuMemAdvise_v2",
    "cuMemAllocHost_v2",
    "cuMemAllocManaged",
    "cuMemAllocPitch_v2",
    "cuMemAlloc_v2",
    "cuMemFreeHost",
    "cuMemFree_v2",
    "cuMemHostAlloc",
    "cuMemHostRegister_v2",
    "cuMemHostUnregister",
    "cuMemMap",
    "cuMemPoolCreate",
    "cuMemPoolDestroy",
    "cuMemPoolGetAttribute",
    "cuMemPoolSetAttribute",
    "cuMemPoolTrimTo",
    "cuMemSetAccess",
    "cuMemUnmap",
    "cuMipmappedArrayCreate",
    "cuMipmappedArrayDestroy",
    "cuModuleUnload",
    "cuMulticastBindAddr",
    "cuMulticastBindMem",
    "cuMulticastUnbind",
];

/// Calls that are made during any capture, and leave it as it is (`capglobal`).
const SAFE: &[&str] = &[
    "cuCtxCreate_v2",
    "cuCtxCreate_v3",
    "cuCtxCreate_v4",
    "cuCtxResetPersistingL2Cache",
    "cuDeviceGetGraphMemAttribute",
    "cuDeviceGraphMemTrim",
    "cuDevicePrimaryCtxRetain",
    "cuEventCreate",
    "cuEventDestroy_v2",
    "cuFuncSetAttribute",
    "cuGraphClone",
    "cuGraphCreate",
    "cuGraphDestroy",
    "cuGraphExecGetFlags",
    "cuGraphExecUpdate_v2",
    "cuLibraryLoadData",
    "cuLinkCreate_v2",
    "cuMemAddressReserve",
    "cuMemCreate",
    "cuMemGetInfo_v2",
    "cuModuleGetFunction",
    "cuModuleLoad",
    "cuModuleLoadData",
    "cuModuleLoadDataEx",
    "cuModuleLoadFatBinary",
    "cuPointerGetAttribute",
    "cuStreamCreate",
    "cuStreamDestroy_v2",
];

#[test]
fn unsafe_calls_are_refused_by_every_global_capture() {
    isolated("graphs::capture::unsafe_calls_are_refused_by_every_global_capture", |kit| {
        for name in UNSAFE {
            kit.ok(BEGIN, &[kit.stream, GLOBAL]);
            assert_eq!(kit.call(name, &[]), UNSUPPORTED, "{name}");
            assert_eq!(end(kit, kit.stream), (INVALIDATED, 0), "{name}");
        }
        for name in SAFE {
            kit.ok(BEGIN, &[kit.stream, GLOBAL]);
            assert_ne!(kit.call(name, &[]), UNSUPPORTED, "{name}");
            assert_eq!(end(kit, kit.stream).0, 0, "{name}");
        }
        // So are questions about streams and events that do not take part, and allocations there.
        let (other, ended) = (stream(kit), event(kit));
        kit.rows(&[("cuEventRecord", &[ended, other], 0), ("cuStreamSynchronize", &[other], 0)]);
        let mut address = 0u64;
        let elsewhere: [(&str, &[u64]); 5] = [
            ("cuStreamQuery", &[other]),
            ("cuStreamSynchronize", &[other]),
            ("cuEventQuery", &[ended]),
            ("cuEventSynchronize", &[ended]),
            ("cuMemAllocAsync", &[at(&mut address), 16, other]),
        ];
        for (mode, status, ends) in
            [(GLOBAL, UNSUPPORTED, INVALIDATED), (THREAD_LOCAL, UNSUPPORTED, INVALIDATED), (RELAXED, 0, 0)]
        {
            for (name, arguments) in elsewhere {
                kit.ok(BEGIN, &[kit.stream, mode]);
                assert_eq!(kit.call(name, arguments), status, "{name}, mode {mode}");
                assert_eq!(end(kit, kit.stream).0, ends, "{name}, mode {mode}");
            }
        }
        // A relaxed capture continues.
        kit.ok(BEGIN, &[kit.stream, RELAXED]);
        let address = kit.made("cuMemAlloc_v2", &[16]);
        kit.ok("cuMemFree_v2", &[address]);
        Kit::start_here();
        assert_eq!(end(kit, kit.stream).0, 0);
    });
}

#[test]
fn stream_calls_become_nodes() {
    on_each_engine("graphs::capture::stream_calls_become_nodes", |kit| {
        const EXTERNAL: u64 = 1;
        let (s, w) = (kit.stream, kit.words(64));
        let mut host_memory = [5u32; 16];
        let h = at(&mut host_memory);
        let e = event(kit);
        kit.ok("cuEventRecord", &[e, s]);
        kit.ok("cuStreamSynchronize", &[s]);
        let value = 7u32;
        let pointers = [std::ptr::from_ref(&w) as u64, std::ptr::from_ref(&value) as u64];
        let put = kit.function("put");
        let mut config = [wide(1, 1), wide(1, 1), wide(1, 1), 0, s, 0, 0];
        let mut rows = [0u64; 16];
        // `CUDA_MEMCPY2D`: x, y, type, host, device, array, pitch, of both sides; width, height.
        (rows[2], rows[4], rows[6]) = (2, w, 32);
        (rows[9], rows[11], rows[13], rows[14], rows[15]) = (2, w + 192, 16, 4, 2);
        let mut boxes = line(w + 220, w, 4);
        let mut steps = [[WRITE_32, w + 60, 9, 0, 0, 0]];
        let mut allocated = 0u64;
        let calls: &[(&str, &[u64], u64)] = &[
            ("cuLaunchKernel", &[put, 1, 1, 1, 1, 1, 1, 0, s, list(&pointers), 0], KERNEL),
            ("cuLaunchKernelEx", &[at(&mut config), put, list(&pointers), 0], KERNEL),
            ("cuLaunchCooperativeKernel", &[put, 1, 1, 1, 1, 1, 1, 0, s, list(&pointers)], KERNEL),
            ("cuMemcpyAsync", &[w + 4, w, 4, s], MEMCPY),
            ("cuMemcpyDtoDAsync_v2", &[w + 8, w, 4, s], MEMCPY),
            ("cuMemcpyHtoDAsync_v2", &[w + 12, h, 4, s], MEMCPY),
            ("cuMemcpyDtoHAsync_v2", &[h + 4, w, 4, s], MEMCPY),
            ("cuMemcpy2DAsync_v2", &[at(&mut rows), s], MEMCPY),
            ("cuMemcpy3DAsync_v2", &[at(&mut boxes), s], MEMCPY),
            ("cuMemsetD8Async", &[w + 20, 1, 4, s], MEMSET),
            ("cuMemsetD16Async", &[w + 24, 1, 2, s], MEMSET),
            ("cuMemsetD32Async", &[w + 28, 1, 1, s], MEMSET),
            ("cuMemsetD2D8Async", &[w + 64, 8, 2, 4, 2, s], MEMSET),
            ("cuMemsetD2D16Async", &[w + 80, 8, 2, 2, 2, s], MEMSET),
            ("cuMemsetD2D32Async", &[w + 96, 8, 2, 1, 2, s], MEMSET),
            ("cuLaunchHostFunc", &[s, sum as *const () as u64, 5], HOST),
            ("cuStreamWriteValue32_v2", &[s, w + 32, 3, 0], BATCH),
            ("cuStreamWriteValue64_v2", &[s, w + 40, 3, 0], BATCH),
            ("cuStreamWaitValue32_v2", &[s, w + 32, 3, 0], BATCH),
            ("cuStreamWaitValue64_v2", &[s, w + 40, 3, 0], BATCH),
            ("cuStreamBatchMemOp_v2", &[s, 1, at(&mut steps), 0], BATCH),
            ("cuEventRecordWithFlags", &[e, s, EXTERNAL], RECORD_EVENT),
            ("cuStreamWaitEvent", &[s, e, EXTERNAL], WAIT_EVENT),
            ("cuMemAllocAsync", &[at(&mut allocated), 256, s], ALLOCATE),
        ];
        kit.ok(BEGIN, &[s, GLOBAL]);
        for (name, arguments, _) in calls {
            kit.ok(name, arguments);
        }
        kit.ok("cuMemsetD32Async", &[allocated, 77, 64, s]);
        kit.ok("cuMemcpyAsync", &[w + 36, allocated, 4, s]);
        kit.ok("cuMemFreeAsync", &[allocated, s]);
        let (status, graph) = end(kit, s);
        assert_eq!(status, 0);
        let nodes = kit.nodes(graph);
        let kinds: Vec<u64> = nodes.iter().map(|node| kit.kind(*node)).collect();
        let wanted = calls.iter().map(|call| call.2).chain([MEMSET, MEMCPY, FREE]);
        assert_eq!(kinds, wanted.collect::<Vec<_>>());
        for pair in nodes.windows(2) {
            assert_eq!(kit.list("cuGraphNodeGetDependencies", pair[1]), [pair[0]]);
        }
        let exec = kit.instantiate(graph);
        for round in 1..=3u64 {
            kit.ok("cuMemsetD32_v2", &[w, 0, 32]);
            host_memory[1] = 0;
            kit.run(exec);
            let got = kit.read::<u32, 64>(w);
            assert_eq!(got[..5], [7, 7, 7, 5, 0]);
            assert_eq!(got[5..12], [0x0101_0101, 0x0001_0001, 1, 3, 77, 3, 0]);
            assert_eq!(
                (got[15], got[16], got[18], got[20], got[22]),
                (9, 0x0202_0202, 0x0202_0202, 0x0002_0002, 0x0002_0002)
            );
            assert_eq!((got[24], got[26]), (2, 2));
            assert_eq!((got[48], got[52], got[55]), (7, 0, 7));
            // SAFETY: the graph's copy has ended.
            assert_eq!(unsafe { ((h + 4) as *const u32).read_volatile() }, 7);
            assert_eq!(SUM.load(Ordering::Relaxed), 5 * round);
            kit.ok("cuEventQuery", &[e]);
        }
    });
}

#[test]
fn arrays_batches_pools_and_semaphores_become_nodes() {
    on_each_engine("graphs::capture::arrays_batches_pools_and_semaphores_become_nodes", |kit| {
        let (s, w) = (kit.stream, kit.words(16));
        kit.write(w, &[1u32, 2, 3, 4]);
        const U32: u32 = 3;
        let mut descriptor = [4, 0, wide(U32, 1)];
        let array = kit.made("cuArrayCreate_v2", &[at(&mut descriptor)]);
        let (mut from_host, mut to_host) = ([5u32, 6, 7, 8], [0u32; 4]);
        let (f, t) = (at(&mut from_host), at(&mut to_host));
        // Two copies with one attribute: reads in stream order.
        let (mut to, mut from, mut sizes) = ([w + 16, w + 20], [w + 4, w], [4u64, 4]);
        let (mut attributes, mut first) = ([1u32, 0, 0, 0, 0, 0], [0u64]);
        let many = [at(&mut to), at(&mut from), at(&mut sizes), 2, at(&mut attributes), at(&mut first), 1, s];
        let pool = kit.made("cuDeviceGetMemPool", &[0]);
        // SAFETY: a new descriptor.
        let fd = unsafe { libc::memfd_create(c"semaphore".as_ptr(), 0) };
        // SAFETY: as above.
        assert!(fd >= 0 && unsafe { libc::ftruncate(fd, 4096) } == 0);
        const TIMELINE: u64 = 9;
        let mut described = [0u64; 12];
        (described[0], described[1]) = (TIMELINE, u64::from(fd as u32));
        let mut semaphores = [kit.made("cuImportExternalSemaphore", &[at(&mut described)])];
        let mut value = [0u64; 18];
        value[0] = 1;
        let (list, values, mut pooled) = (at(&mut semaphores), at(&mut value), 0u64);
        let calls: &[(&str, &[u64], &[u64])] = &[
            ("cuMemcpyHtoAAsync_v2", &[array, 0, f, 16, s], &[MEMCPY]),
            ("cuMemcpyAtoHAsync_v2", &[t, array, 0, 16, s], &[MEMCPY]),
            ("cuMemAllocFromPoolAsync", &[at(&mut pooled), 64, pool, s], &[ALLOCATE]),
            ("cuSignalExternalSemaphoresAsync", &[list, values, 1, s], &[SIGNAL]),
            ("cuWaitExternalSemaphoresAsync", &[list, values, 1, s], &[WAIT_SEMAPHORE]),
        ];
        kit.ok(BEGIN, &[s, RELAXED]);
        for (name, arguments, _) in calls {
            kit.ok(name, arguments);
        }
        // A batch of copies is refused, and the capture stays valid.
        kit.rows(&[("cuMemcpyBatchAsync_v2", &many, UNSUPPORTED)]);
        kit.ok("cuMemsetD32Async", &[pooled, 9, 16, s]);
        kit.ok("cuMemcpyAsync", &[w + 32, pooled, 4, s]);
        kit.ok("cuMemFreeAsync", &[pooled, s]);
        let (status, graph) = end(kit, s);
        assert_eq!(status, 0);
        let kinds: Vec<u64> = kit.nodes(graph).iter().map(|node| kit.kind(*node)).collect();
        let wanted: Vec<u64> = calls.iter().flat_map(|call| call.2).copied().collect();
        assert_eq!(kinds, [&wanted[..], &[MEMSET, MEMCPY, FREE]].concat());
        let exec = kit.instantiate(graph);
        for round in 0..2 {
            from_host[0] = round;
            kit.run(exec);
            assert_eq!(kit.read::<u32, 9>(w), [1, 2, 3, 4, 0, 0, 0, 0, 9]);
            // SAFETY: the graph's copy has ended.
            assert_eq!(unsafe { (t as *const [u32; 4]).read_volatile() }, [round, 6, 7, 8]);
        }
    });
}

#[test]
fn captures_go_to_a_graph_of_the_program() {
    on_each_engine("graphs::capture::captures_go_to_a_graph_of_the_program", |kit| {
        let (graph, words, s) = (kit.graph(), kit.words(2), kit.stream);
        let first = kit.add_kernel(graph, &[], "ten", &[words, 1]);
        let begin = "cuStreamBeginCaptureToGraph";
        let after = [first];
        let foreign = [kit.add(kit.graph(), &[], params(EMPTY, &[]))];
        kit.rows(&[
            (begin, &[s, 0, 0, 0, 0, RELAXED], INVALID_VALUE),
            (begin, &[s, graph, list(&foreign), 0, 1, RELAXED], INVALID_VALUE),
            (begin, &[s, graph, 0, 0, 1, RELAXED], INVALID_VALUE),
            (begin, &[s, graph, list(&after), 0, 1, 9], INVALID_VALUE),
            (begin, &[s, graph, list(&after), 0, 1, RELAXED], 0),
        ]);
        assert_eq!(launch(kit, "ten", &[words, 2], s), 0);
        // It is instantiated as it is. Nothing else captures into it, and it cannot be destroyed meanwhile.
        let other = stream(kit);
        kit.ok("cuGraphLaunch", &[kit.instantiate(graph), other]);
        kit.ok("cuStreamSynchronize", &[other]);
        assert_eq!(kit.word(words), 12);
        kit.rows(&[
            (begin, &[other, graph, 0, 0, 0, RELAXED], ILLEGAL_STATE),
            ("cuGraphDestroy", &[graph], ILLEGAL_STATE),
            ("cuGraphDestroyNode", &[first], ILLEGAL_STATE),
        ]);
        assert_eq!((capturing(kit, s), capturing(kit, other)), (1, 0));
        assert_eq!((end(kit, s), kit.nodes(graph).len()), ((0, graph), 2));
        kit.write(words, &[0u32]);
        kit.run(kit.instantiate(graph));
        assert_eq!(kit.word(words), 12);
        // A capture that fails ends it (`captograph.invalid`).
        let failed = kit.graph();
        let before = [kit.add(failed, &[], params(EMPTY, &[]))];
        kit.ok(begin, &[s, failed, list(&before), 0, 1, THREAD_LOCAL]);
        assert_eq!(launch(kit, "nothing", &[], s), 0);
        assert_eq!(kit.call("cuStreamQuery", &[s]), UNSUPPORTED);
        assert_eq!(end(kit, s), (INVALIDATED, 0));
        let mut count = 77usize;
        kit.rows(&[
            ("cuGraphGetNodes", &[failed, 0, at(&mut count)], INVALID_VALUE),
            ("cuGraphDestroy", &[failed], INVALID_VALUE),
        ]);
        assert_eq!(count, 77);
        // One that adds nothing.
        kit.ok(begin, &[s, graph, 0, 0, 0, RELAXED]);
        assert_eq!((end(kit, s), kit.nodes(graph).len()), ((0, graph), 2));
        // The stream is destroyed.
        kit.ok(begin, &[other, kit.graph(), 0, 0, 0, THREAD_LOCAL]);
        kit.ok("cuStreamDestroy_v2", &[other]);
        kit.ok("cuStreamSynchronize", &[s]);
        // The body of a conditional node.
        let value = kit.condition(graph, Some(3));
        let body = kit.add_conditional(graph, &[], value, WHILE, 1)[0];
        kit.ok(begin, &[s, body, 0, 0, 0, RELAXED]);
        assert_eq!(launch(kit, "add", &[words + 4, 1], s), 0);
        assert_eq!(launch(kit, "add", &[value, u64::from(u32::MAX)], s), 0);
        assert_eq!(end(kit, s), (0, body));
        kit.run(kit.instantiate(graph));
        assert_eq!(kit.word(words + 4), 3);
    });
}

#[test]
fn captures_are_asked_about_and_changed() {
    isolated("graphs::capture::captures_are_asked_about_and_changed", |kit| {
        let (s, words) = (kit.stream, kit.words(1));
        let (mut status, mut id, mut graph, mut nodes, mut edges, mut count) =
            (9u32, 9u64, 9u64, 9u64, 9u64, 9usize);
        let v2 = "cuStreamGetCaptureInfo_v2";
        let v3 = "cuStreamGetCaptureInfo_v3";
        kit.ok(v2, &[s, at(&mut status), at(&mut id), at(&mut graph), at(&mut nodes), at(&mut count)]);
        assert_eq!((status, id, graph), (0, 9, 9), "only the status is written");
        kit.ok(BEGIN, &[s, RELAXED]);
        assert_eq!(launch(kit, "ten", &[words, 1], s), 0);
        kit.ok(v2, &[s, at(&mut status), at(&mut id), at(&mut graph), at(&mut nodes), at(&mut count)]);
        // SAFETY: the call returned the address of a list, valid until the next call for the stream.
        let first = unsafe { *(nodes as *const u64) };
        assert_eq!((status, count, kit.nodes(graph)), (1, 1, vec![first]));
        kit.ok("cuStreamGetCaptureInfo_v2", &[s, at(&mut status), 0, 0, 0, 0]);
        kit.rows(&[(v2, &[s, 0, 0, 0, 0, 0], INVALID_VALUE), (v3, &[s, 0, 0, 0, 0, 0, 0], INVALID_VALUE)]);
        // A node of the program, and one that the next does not depend on.
        let own = kit.add_kernel(graph, &[], "nothing", &[]);
        let update = "cuStreamUpdateCaptureDependencies_v2";
        let (added, mut data) = ([own], [[1u8, 0, 1, 0, 0, 0, 0, 0]]);
        const ADD: u64 = 0;
        const SET: u64 = 1;
        kit.ok("cuStreamUpdateCaptureDependencies", &[s, list(&added), 1, ADD]);
        kit.ok(v3, &[s, at(&mut status), 0, 0, at(&mut nodes), at(&mut edges), at(&mut count)]);
        assert_eq!(count, 2);
        kit.ok(update, &[s, list(&added), at(&mut data), 1, SET]);
        kit.rows(&[(v2, &[s, at(&mut status), 0, 0, at(&mut nodes), at(&mut count)], LOSSY_QUERY)]);
        kit.ok(v3, &[s, at(&mut status), 0, 0, at(&mut nodes), at(&mut edges), at(&mut count)]);
        // SAFETY: as above.
        assert_eq!((count, unsafe { *(edges as *const [u8; 8]) }), (1, data[0]));
        assert_eq!(launch(kit, "ten", &[words, 2], s), 0);
        let last = kit.nodes(graph)[2];
        let (mut from, mut kind) = (0u64, [0u8; 8]);
        kit.ok("cuGraphNodeGetDependencies_v2", &[last, at(&mut from), at(&mut kind), at(&mut count)]);
        assert_eq!((from, kind), (own, data[0]));
        kit.ok("cuStreamUpdateCaptureDependencies", &[s, 0, 0, SET]);
        assert_eq!(launch(kit, "nothing", &[], s), 0);
        assert_eq!(kit.list("cuGraphNodeGetDependencies", kit.nodes(graph)[3]).len(), 0);
        let foreign = [kit.add(kit.graph(), &[], params(EMPTY, &[]))];
        kit.rows(&[
            (update, &[s, list(&foreign), 0, 1, ADD], INVALID_VALUE),
            (update, &[s, list(&added), 0, 1, 2], INVALID_VALUE),
            (update, &[s, 0, 0, 1, ADD], INVALID_VALUE),
        ]);
        assert_eq!(end(kit, s), (0, graph));
        kit.rows(&[(update, &[s, 0, 0, 0, ADD], ILLEGAL_STATE)]);
        // Every capture has its own number.
        let before = id;
        kit.ok(BEGIN, &[s, GLOBAL]);
        kit.ok("cuStreamGetCaptureInfo_v2", &[s, at(&mut status), at(&mut id), 0, 0, 0]);
        assert_ne!(id, before);
        let mut address = 0u64;
        assert_eq!(kit.call("cuMemAlloc_v2", &[at(&mut address), 4]), UNSUPPORTED);
        kit.ok(v2, &[s, at(&mut status), at(&mut id), 0, 0, 0]);
        assert_eq!(status, 2);
        assert_eq!(kit.call(update, &[s, 0, 0, 0, ADD]), INVALIDATED);
        assert_eq!(end(kit, s), (INVALIDATED, 0));
    });
}

#[test]
fn streams_contexts_and_threads_end_during_captures() {
    isolated("graphs::capture::streams_contexts_and_threads_end_during_captures", |kit| {
        let (s, words, e) = (kit.stream, kit.words(1), event(kit));
        // The origin.
        let origin = stream(kit);
        kit.ok(BEGIN, &[origin, GLOBAL]);
        assert_eq!(launch(kit, "nothing", &[], origin), 0);
        kit.ok("cuStreamDestroy_v2", &[origin]);
        kit.ok("cuMemAlloc_v2", &[at(&mut 0u64), 16]);
        // A stream that had joined: its work must be joined still.
        for joined in [false, true] {
            let other = stream(kit);
            kit.ok(BEGIN, &[s, RELAXED]);
            kit.rows(&[("cuEventRecord", &[e, s], 0), ("cuStreamWaitEvent", &[other, e, 0], 0)]);
            assert_eq!(launch(kit, "add", &[words, 1], other), 0);
            kit.ok("cuEventRecord", &[e, other]);
            kit.ok("cuStreamDestroy_v2", &[other]);
            if joined {
                kit.ok("cuStreamWaitEvent", &[s, e, 0]);
            }
            let (status, graph) = end(kit, s);
            assert_eq!(status, if joined { 0 } else { UNJOINED });
            if joined {
                kit.run(kit.instantiate(graph));
                assert_eq!(kit.word(words), 1);
            }
        }
        // An event that is destroyed after its record.
        let (other, short) = (stream(kit), event(kit));
        kit.ok(BEGIN, &[s, RELAXED]);
        kit.rows(&[("cuEventRecord", &[short, s], 0), ("cuStreamWaitEvent", &[other, short, 0], 0)]);
        kit.ok("cuEventDestroy_v2", &[short]);
        kit.rows(&[("cuEventRecord", &[e, other], 0), ("cuStreamWaitEvent", &[s, e, 0], 0)]);
        assert_eq!(end(kit, s).0, 0);
        // A thread with its default stream.
        std::thread::scope(|scope| {
            let short = scope.spawn(|| {
                kit.ok("cuCtxSetCurrent", &[kit.context]);
                kit.ok("cuStreamBeginCapture_v2_ptsz", &[2, GLOBAL]);
                assert_eq!(capturing(kit, 2), 1);
            });
            // The end of the scope alone does not wait for the thread's own data to end.
            short.join().expect("no panic");
        });
        kit.ok("cuMemAlloc_v2", &[at(&mut 0u64), 16]);
        // A context.
        let second = kit.made("cuCtxCreate_v4", &[0, 0, 0]);
        let inside = stream(kit);
        kit.ok(BEGIN, &[inside, RELAXED]);
        kit.ok("cuCtxDestroy_v2", &[second]);
        kit.primary();
        let mut status = 9u32;
        assert_ne!(kit.call("cuStreamIsCapturing", &[inside, at(&mut status)]), 0);
        kit.ok("cuMemAlloc_v2", &[at(&mut 0u64), 16]);
        kit.ok("cuCtxSynchronize", &[]);
        // The process ends with captures that have not.
        let other = stream(kit);
        kit.ok(BEGIN, &[s, GLOBAL]);
        kit.rows(&[("cuEventRecord", &[e, s], 0), ("cuStreamWaitEvent", &[other, e, 0], 0)]);
        assert_eq!(launch(kit, "nothing", &[], other), 0);
    });
}
