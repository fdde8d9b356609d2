//! Very many objects: at the same time, in sequence, without a current context, and in a small address space.

use std::ffi::c_void;
use std::ptr::null_mut;

use hwtruth::sample;

use crate::call;
use crate::support::Argument::U64;
use crate::support::{Cuda, HEAD, P, everywhere, isolated, status};

/// Kills the process if the following code takes quadratic time.
fn within_seconds(seconds: u32) {
    // SAFETY: no handler is installed, so the signal kills the process.
    unsafe { libc::alarm(seconds) };
}

#[test]
fn contexts_come_and_go_without_end() {
    isolated("objects::contexts_come_and_go_without_end", &[], || {
        let cuda = Cuda::open();
        call!(cuda.cuInit(0));
        let mut first = 0;
        for round in 0..sample::of((1 << 20) + 10, 1 << 17) {
            let mut context = 0;
            call!(cuda.cuCtxCreate_v2(&mut context, 0, 0));
            call!(cuda.cuCtxDestroy_v2(context));
            if round == 0 {
                first = context;
            }
            assert!(round == 0 || context != first);
        }
        // A dead handle belongs to a destroyed context; it is not unknown.
        call!(cuda.cuCtxDestroy_v2(first) => 201);
    });
}

#[test]
fn many_streams_are_made_and_destroyed() {
    isolated("objects::many_streams_are_made_and_destroyed", &[], || {
        within_seconds(60);
        let cuda = Cuda::start();
        let mut streams = vec![0; 100_000];
        for round in 0..2 {
            for stream in &mut streams {
                call!(cuda.cuStreamCreate(stream, round));
            }
            // Work that is still queued in a stream when it is destroyed is completed.
            let place = cuda.upload(&[0u32]);
            call!(cuda.cuMemsetD8Async(place, 7, 4, streams[5]));
            // What concerns all streams does not take longer with more of them.
            let mut memory = 0;
            for _ in 0..5_000 {
                call!(cuda.cuMemAlloc_v2(&mut memory, 4));
                call!(cuda.cuMemsetD32_v2(memory, 1, 1));
                call!(cuda.cuMemFree_v2(memory));
            }
            for stream in &streams {
                call!(cuda.cuStreamDestroy_v2(*stream));
            }
            call!(cuda.cuCtxSynchronize());
            assert_eq!(cuda.download::<u32>(place, 1), [0x0707_0707]);
            call!(cuda.cuStreamSynchronize(streams[5]) => 400);
        }
    });
}

/// An H100 (580.159) can hold three million at a time; memory is the limit there too.
#[test]
fn more_than_a_million_events_live_at_once() {
    isolated("objects::more_than_a_million_events_live_at_once", &[], || {
        let cuda = Cuda::start();
        let mut events = vec![0; (1 << 20) + 10];
        for event in &mut events {
            call!(cuda.cuEventCreate(event, 2));
        }
        let last = events[1 << 20];
        call!(cuda.cuEventRecord(last, 0));
        call!(cuda.cuEventSynchronize(last));
        for event in &events {
            call!(cuda.cuEventDestroy_v2(*event));
        }
        call!(cuda.cuEventQuery(last) => 400);
    });
}

/// The answers of an H100 (580.159) for events whose context is destroyed, recorded before or not: the same
/// for each function, including `cuEventDestroy`.
#[test]
fn events_end_with_their_context() {
    isolated("objects::events_end_with_their_context", &[], || {
        let cuda = Cuda::start();
        let (mut stream, mut other, mut context, mut own) = (0, 0, 0, 0);
        call!(cuda.cuStreamCreate(&mut stream, 0));
        call!(cuda.cuEventCreate(&mut other, 0));
        call!(cuda.cuEventRecord(other, stream));
        call!(cuda.cuCtxCreate_v2(&mut context, 0, 0));
        call!(cuda.cuStreamCreate(&mut own, 0));
        let mut events = [0; 3];
        for event in &mut events {
            call!(cuda.cuEventCreate(event, 0));
        }
        call!(cuda.cuEventRecord(events[0], own));
        call!(cuda.cuEventDestroy_v2(events[2]));
        call!(cuda.cuCtxDestroy_v2(context));
        let mut time = 0.0;
        for event in [events[0], events[1]] {
            call!(cuda.cuEventQuery(event) => 709);
            call!(cuda.cuEventSynchronize(event) => 709);
            call!(cuda.cuEventRecord(event, stream) => 709);
            call!(cuda.cuStreamWaitEvent(stream, event, 0) => 709);
            call!(cuda.cuEventElapsedTime(&mut time, event, other) => 709);
            call!(cuda.cuEventDestroy_v2(event) => 709);
            call!(cuda.cuEventDestroy_v2(event) => 709);
        }
        call!(cuda.cuEventQuery(events[2]) => 400);
        call!(cuda.cuEventQuery(other));
        // None of them is mistaken for an event that is created later.
        for _ in 0..8 {
            let mut new = 0;
            call!(cuda.cuEventCreate(&mut new, 0));
            assert!(!events.contains(&new));
        }
        call!(cuda.cuEventQuery(events[0]) => 709);
        // Resetting a primary context ends it.
        call!(cuda.cuDevicePrimaryCtxReset_v2(0));
        call!(cuda.cuEventQuery(other) => 709);
    });
}

/// Resident memory of this process in KiB.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux tells");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a line");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

#[test]
fn events_of_destroyed_contexts_take_no_memory() {
    isolated("objects::events_of_destroyed_contexts_take_no_memory", &[], || {
        let cuda = Cuda::start();
        let mut first = 0;
        for round in 0..12 {
            let mut context = 0;
            call!(cuda.cuCtxCreate_v2(&mut context, 0, 0));
            for _ in 0..100_000 {
                let mut event = 0;
                call!(cuda.cuEventCreate(&mut event, 2));
            }
            call!(cuda.cuCtxDestroy_v2(context));
            if round == 1 {
                first = resident();
            }
        }
        // The events of ten rounds would take more than 100 MiB.
        assert!(resident() < first + (32 << 10), "{first} KiB, then {} KiB", resident());
    });
}

const STORE: &str = "
.visible .entry store(.param .u64 p) { .reg .b64 %d; ld.param.u64 %d, [p]; st.global.u32 [%d], 7; ret; }
";

extern "C" fn nothing(_: *mut std::ffi::c_void) {}

/// The rows recorded on an H100 with driver 580 (CUDA 13.0).
#[test]
fn a_handle_knows_its_context() {
    everywhere("objects::a_handle_knows_its_context", &[], || {
        let cuda = Cuda::start();
        let module = cuda.module(&format!("{HEAD}{STORE}"));
        let place = cuda.upload(&[0u32; 4]);
        let (mut stream, mut other, mut start, mut end) = (0, 0, 0, 0);
        call!(cuda.cuStreamCreate(&mut stream, 1));
        call!(cuda.cuStreamCreate(&mut other, 0));
        call!(cuda.cuEventCreate(&mut start, 0));
        call!(cuda.cuEventCreate(&mut end, 0));
        call!(cuda.cuCtxSetCurrent(0));

        call!(cuda.cuEventRecord(start, stream));
        let store = cuda.function(module, "store");
        let mut value = 0;
        call!(cuda.cuFuncGetAttribute(&mut value, 0, store));
        assert_eq!(cuda.launch(store, 1, 1, stream, &[U64(place)]), 0);
        call!(cuda.cuLaunchHostFunc(stream, Some(nothing), null_mut()));
        let words = [1u32, 2];
        call!(cuda.cuMemcpyHtoDAsync_v2(place + 4, words.as_ptr().cast(), 8, stream));
        call!(cuda.cuMemcpyAsync(place + 12, place, 4, stream));
        call!(cuda.cuMemsetD8Async(place, 9, 1, stream));
        let mut more: P = 0;
        call!(cuda.cuMemAllocAsync(&mut more, 64, stream));
        call!(cuda.cuMemFreeAsync(more, stream));
        call!(cuda.cuEventRecord(end, stream));
        call!(cuda.cuStreamWaitEvent(other, end, 0));
        call!(cuda.cuStreamSynchronize(stream));
        call!(cuda.cuStreamSynchronize(other));
        call!(cuda.cuStreamQuery(stream));
        call!(cuda.cuEventSynchronize(end));
        call!(cuda.cuEventQuery(end));
        let mut time = -1f32;
        call!(cuda.cuEventElapsedTime(&mut time, start, end));
        assert!(time >= 0.0);
        let (mut flags, mut context) = (0, 0);
        call!(cuda.cuStreamGetFlags(stream, &mut flags));
        call!(cuda.cuStreamGetCtx(stream, &mut context));
        assert_eq!(flags, 1);

        // Calls that name a default stream, or nothing, need a current context.
        call!(cuda.cuEventRecord(end, 0) => 201);
        call!(cuda.cuStreamSynchronize(0) => 201);
        call!(cuda.cuStreamQuery(0) => 201);
        call!(cuda.cuMemcpyHtoD_v2(place, words.as_ptr().cast(), 4) => 201);
        assert_eq!(cuda.launch(store, 1, 1, 0, &[U64(place)]), 201);

        call!(cuda.cuEventDestroy_v2(start));
        call!(cuda.cuStreamDestroy_v2(stream));
        call!(cuda.cuCtxSetCurrent(context));
        assert_eq!(cuda.download::<u32>(place, 4), [9, 1, 2, 7]);
    });
}

#[test]
fn faults_are_told_without_a_context_too() {
    everywhere("objects::faults_are_told_without_a_context_too", &[], || {
        let cuda = Cuda::start();
        let store = cuda.function(cuda.module(&format!("{HEAD}{STORE}")), "store");
        let (mut stream, mut event) = (0, 0);
        call!(cuda.cuStreamCreate(&mut stream, 1));
        call!(cuda.cuEventCreate(&mut event, 0));
        call!(cuda.cuCtxSetCurrent(0));
        assert_eq!(cuda.launch(store, 1, 1, stream, &[U64(1 << 46)]), 0);
        call!(cuda.cuStreamSynchronize(stream) => 700);
        call!(cuda.cuStreamQuery(stream) => 700);
        call!(cuda.cuEventRecord(event, stream) => 700);
    });
}

/// The manual of `cuCtxDestroy`: the context is popped as if by `cuCtxPopCurrent`, so once. Where it is
/// current otherwise, it stays current, and calls are refused; an H200 answers so for an entry below the top.
#[test]
fn a_destroyed_context_is_popped_once() {
    isolated("objects::a_destroyed_context_is_popped_once", &[], || {
        let cuda = Cuda::start();
        let (mut below, mut context, mut current, mut memory) = (0, 0, 0, 0);
        call!(cuda.cuCtxGetCurrent(&mut below));
        call!(cuda.cuCtxCreate_v2(&mut context, 0, 0));
        call!(cuda.cuCtxPushCurrent_v2(context));
        call!(cuda.cuCtxDestroy_v2(context));
        call!(cuda.cuCtxGetCurrent(&mut current));
        assert_eq!(current, context);
        call!(cuda.cuMemAlloc_v2(&mut memory, 16) => status::CONTEXT_IS_DESTROYED);
        call!(cuda.cuCtxPopCurrent_v2(&mut current));
        assert_eq!(current, context);
        call!(cuda.cuCtxGetCurrent(&mut current));
        assert_eq!(current, below);
        call!(cuda.cuMemAlloc_v2(&mut memory, 16));
    });
}

/// A program that allocates and frees in a stream may submit far ahead of it. What the stream is going to
/// free is available to what follows in the stream.
#[test]
fn memory_that_a_stream_will_free_can_be_allocated_in_it() {
    extern "C" fn late(_: *mut c_void) {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    isolated(
        "objects::memory_that_a_stream_will_free_can_be_allocated_in_it",
        &[("ANYWARP_MEMORY", "64M")],
        || {
            let cuda = Cuda::start();
            let mut created = 0;
            call!(cuda.cuStreamCreate(&mut created, 1));
            for stream in [0, created] {
                call!(cuda.cuLaunchHostFunc(stream, Some(late), null_mut()));
                let mut place: P = 0;
                for _ in 0..8 {
                    call!(cuda.cuMemAllocAsync(&mut place, 40 << 20, stream));
                    call!(cuda.cuMemsetD8Async(place, 5, 40 << 20, stream));
                    call!(cuda.cuMemFreeAsync(place, stream));
                }
                // Memory that is not freed is not to be had.
                call!(cuda.cuMemAllocAsync(&mut place, 40 << 20, stream));
                let mut second: P = 0;
                call!(cuda.cuMemAllocAsync(&mut second, 40 << 20, stream) => 2);
                call!(cuda.cuMemFreeAsync(place, stream));
                call!(cuda.cuStreamSynchronize(stream));
            }
        },
    );
}

/// The same for a stream that waits for what the program does next: the allocation does not wait for the
/// stream.
#[test]
fn an_allocation_does_not_wait_for_a_stream_that_waits_for_the_caller() {
    isolated(
        "objects::an_allocation_does_not_wait_for_a_stream_that_waits_for_the_caller",
        &[("ANYWARP_MEMORY", "64M")],
        || {
            const SIZE: usize = 40 << 20;
            let cuda = Cuda::start();
            let (mut stream, mut first, mut second, mut third): (P, P, P, P) = (0, 0, 0, 0);
            call!(cuda.cuStreamCreate(&mut stream, 1));
            let word = cuda.upload(&[0u32]);
            call!(cuda.cuMemAllocAsync(&mut first, SIZE, stream));
            call!(cuda.cuStreamWaitValue32_v2(stream, word, 1, 1));
            call!(cuda.cuMemsetD8Async(first, 1, SIZE, stream));
            call!(cuda.cuMemFreeAsync(first, stream));
            call!(cuda.cuMemAllocAsync(&mut second, SIZE, stream));
            call!(cuda.cuMemsetD8Async(second, 2, SIZE, stream));
            // The bytes that the stream will free are taken, for this stream and for others.
            call!(cuda.cuMemAllocAsync(&mut third, SIZE, stream) => 2);
            call!(cuda.cuMemAlloc_v2(&mut third, SIZE) => 2);
            call!(cuda.cuMemFreeAsync(second, stream));
            call!(cuda.cuMemAllocAsync(&mut third, SIZE, stream));
            call!(cuda.cuMemsetD8Async(third, 3, SIZE, stream));
            let told = cuda.upload(&[1u32]);
            call!(cuda.cuMemcpyAsync(word, told, 4, 0));
            call!(cuda.cuStreamSynchronize(stream));
            assert!(cuda.download::<u8>(third, SIZE).iter().all(|byte| *byte == 3));
            call!(cuda.cuMemFreeAsync(third, stream));
            call!(cuda.cuStreamSynchronize(stream));
            call!(cuda.cuMemAlloc_v2(&mut third, SIZE));
            call!(cuda.cuMemAlloc_v2(&mut first, SIZE) => 2);
        },
    );
}

#[test]
fn a_limit_on_memory_makes_a_small_device() {
    let told = |resource: &str| match resource {
        "data" => "private memory is limited (ulimit -d)",
        _ => "the address space is limited (ulimit -v)",
    };
    // With the smallest ones there is too little memory for LLVM, which would end the process.
    for (resource, kilobytes, compiles) in [
        ("space", "700000", false),
        ("space", "2000000", true),
        ("space", "4000000", true),
        ("data", "300000", false),
        ("data", "3000000", true),
    ] {
        let variables = [("RESOURCE", resource), ("KILOBYTES", kilobytes), ("ANYWARP_MEMORY", "16G")];
        let outputs = everywhere("objects::a_limit_on_memory_makes_a_small_device", &variables, || {
            let resource = match std::env::var("RESOURCE").as_deref() {
                Ok("data") => libc::RLIMIT_DATA,
                _ => libc::RLIMIT_AS,
            };
            let limit = std::env::var("KILOBYTES").expect("set").parse::<u64>().expect("a number") << 10;
            let limits = libc::rlimit { rlim_cur: limit, rlim_max: limit };
            // SAFETY: the process belongs to the test.
            assert_eq!(unsafe { libc::setrlimit(resource, &limits) }, 0);
            let cuda = Cuda::start();
            let (mut total, mut free) = (0, 0);
            call!(cuda.cuDeviceTotalMem_v2(&mut total, 0));
            assert!(total < limit as usize && total > limit as usize / 4, "{total} of {limit}");
            call!(cuda.cuMemGetInfo_v2(&mut free, &mut total));
            // All memory that is reported as free can be allocated and used by a kernel.
            let mut all = 0;
            call!(cuda.cuMemAlloc_v2(&mut all, free - (4 << 20)));
            let place = cuda.upload(&[0u32]);
            let store = cuda.function(cuda.module(&format!("{HEAD}{STORE}")), "store");
            for at in [place, all, all + free as u64 - (5 << 20)] {
                assert_eq!(cuda.launch(store, 4, 64, 0, &[U64(at)]), 0);
                call!(cuda.cuCtxSynchronize());
                assert_eq!(cuda.download::<u32>(at, 1), [7]);
            }
            call!(cuda.cuMemAlloc_v2(&mut all, total) => 2);
        });
        let logs: Vec<String> =
            outputs.iter().map(|output| String::from_utf8_lossy(&output.stderr).into_owned()).collect();
        for log in &logs {
            let what = told(resource);
            assert_eq!(log.matches(&format!("anywarp: {what}: devices have ")).count(), 1, "{log}");
            let interprets = format!("kernels run on the interpreter, which is slow: {what}: LLVM needs ");
            assert!(log.matches(&interprets).count() <= usize::from(!compiles), "{log}");
        }
        assert!(compiles || logs.iter().any(|log| log.contains("LLVM needs ")), "{logs:?}");
    }
}
