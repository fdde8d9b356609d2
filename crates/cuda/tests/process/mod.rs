//! The driver's log, checkpoints, settings of core dumps, notifications, and interfaces to graphics.

use std::sync::Mutex;
use std::time::Duration;

use crate::by_name::status::{
    INVALID_CONTEXT, INVALID_DEVICE, INVALID_HANDLE, INVALID_VALUE, NOT_INITIALIZED, NOT_SUPPORTED, OK,
    OUT_OF_MEMORY,
};
use crate::by_name::{Library, at, isolated};

const OPERATING_SYSTEM: u32 = 304;
const ILLEGAL_STATE: u32 = 401;
const NOT_READY: u32 = 600;
const NOT_PERMITTED: u32 = 800;
const UNKNOWN: u32 = 999;

static RECEIVED: Mutex<Vec<(u32, String)>> = Mutex::new(Vec::new());

extern "C" fn receive(data: u64, level: u32, message: *const u8, length: usize) {
    // SAFETY: by the contract of the interface, the message has this length.
    let bytes = unsafe { std::slice::from_raw_parts(message, length) };
    assert_eq!(data, 4711);
    RECEIVED.lock().expect("no panic before").push((level, String::from_utf8_lossy(bytes).into_owned()));
}

#[test]
fn failed_calls_are_in_the_log() {
    isolated("process::failed_calls_are_in_the_log", &[("ANYWARP_LOG", "off")], || {
        let cuda = Library::start();
        let function = receive as extern "C" fn(u64, u32, *const u8, usize) as usize as u64;
        let mut handle = 0u64;
        let (mut from, mut later) = (0u32, 0u32);
        cuda.rows(&[
            ("cuLogsCurrent", &[at(&mut from), 0], OK),
            ("cuLogsRegisterCallback", &[function, 4711, at(&mut handle)], OK),
            ("cuMemAlloc_v2", &[0, 16], INVALID_VALUE),
            ("cuMemFree_v2", &[7], INVALID_VALUE),
        ]);
        cuda.rows(&[
            ("cuLogsUnregisterCallback", &[handle], OK),
            ("cuStreamQuery", &[0], OK),
            ("cuStreamSynchronize", &[7], INVALID_HANDLE),
            ("cuLogsCurrent", &[at(&mut later), 0], OK),
        ]);
        assert_eq!(later.wrapping_sub(from), 4);
        let received = std::mem::take(&mut *RECEIVED.lock().expect("no panic before"));
        let [(0, reason), (0, first), (0, second)] = received.as_slice() else { panic!("{received:?}") };
        assert!(reason.ends_with("the first argument is null"), "{reason}");
        // [time][thread][CUDA][E] and the message, as the programming guide shows it.
        assert!(first.starts_with('[') && first.contains("][CUDA][E] "), "{first}");
        assert!(first.ends_with("Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuMemAlloc_v2"), "{first}");
        assert!(second.ends_with("from cuMemFree_v2"), "{second}");
        let (mut buffer, mut size, mut next) = ([0u8; 4096], 4096u64, from);
        let dump = "cuLogsDumpToMemory";
        cuda.ok(dump, &[at(&mut next), at(&mut buffer), at(&mut size), 0]);
        let text = String::from_utf8_lossy(&buffer[..size as usize]).into_owned();
        assert_eq!((text.lines().count(), buffer[size as usize], next), (4, 0, later), "{text}");
        assert!(text.lines().last().is_some_and(|line| line.ends_with("from cuStreamSynchronize")), "{text}");
        size = 4096;
        cuda.ok(dump, &[at(&mut next), at(&mut buffer), at(&mut size), 0]);
        assert_eq!(size, 0, "nothing new");
        // Too little room for all: a notice, and the newest.
        size = 200;
        cuda.ok(dump, &[0, at(&mut buffer), at(&mut size), 0]);
        let text = String::from_utf8_lossy(&buffer[..size as usize]).into_owned();
        assert!(text.lines().next().is_some_and(|line| line.contains("missing")), "{text}");
        assert!(text.trim_end().ends_with("from cuStreamSynchronize"), "{text}");
        size = 20;
        cuda.rows(&[(dump, &[0, at(&mut buffer), at(&mut size), 0], INVALID_VALUE)]);
        assert_eq!(size, 0);
        let path = std::env::temp_dir().join(format!("anywarp-log-{}", std::process::id()));
        let name = std::ffi::CString::new(path.to_string_lossy().into_owned()).expect("a path");
        next = from;
        cuda.ok("cuLogsDumpToFile", &[at(&mut next), name.as_ptr() as u64, 0]);
        let text = std::fs::read_to_string(&path).expect("the file");
        std::fs::remove_file(&path).expect("the file");
        assert_eq!(text.lines().count(), 5, "{text}");
        cuda.rows(&[
            ("cuLogsRegisterCallback", &[0, 0, at(&mut handle)], INVALID_VALUE),
            ("cuLogsUnregisterCallback", &[handle], INVALID_VALUE),
            ("cuLogsUnregisterCallback", &[0], INVALID_VALUE),
            ("cuLogsCurrent", &[0, 0], INVALID_VALUE),
            ("cuLogsCurrent", &[at(&mut next), 1], OK),
            ("cuLogsDumpToFile", &[0, 0, 0], INVALID_VALUE),
            ("cuLogsDumpToFile", &[0, c"/no/such/folder/file".as_ptr() as u64, 0], INVALID_VALUE),
            (dump, &[0, 0, at(&mut size), 0], INVALID_VALUE),
            (dump, &[0, at(&mut buffer), 0, 0], INVALID_VALUE),
        ]);
        // The log is bounded, and old lines go first.
        for _ in 0..1000 {
            cuda.call("cuMemFree_v2", &[7]);
        }
        let (mut large, mut size) = (vec![0u8; 1 << 20], 1u64 << 20);
        cuda.ok(dump, &[at(&mut from), large.as_mut_ptr() as u64, at(&mut size), 0]);
        assert!((20_000..26_000).contains(&size), "{size}");
        assert!(String::from_utf8_lossy(&large[..200]).contains("missing"));
    });
}

/// Locks the process, and stores the status.
extern "C" fn lock_here(to: u64) {
    let own = u64::from(std::process::id());
    let status = Library::open().call("cuCheckpointProcessLock", &[own, 0]);
    // SAFETY: the test's own word, which it reads when the stream has ended.
    unsafe { (to as *mut u32).write(status) };
}

/// Makes a call until it is not allowed, because a lock waits for this function, and stores the status. The
/// process is not locked yet.
extern "C" fn call_when_locked(to: u64) {
    let (cuda, own) = (Library::open(), u64::from(std::process::id()));
    let (mut state, mut count, mut status) = (9u32, 0i32, OK);
    while status == OK {
        status = cuda.call("cuDeviceGetCount", &[at(&mut count)]);
    }
    cuda.ok("cuCheckpointProcessGetState", &[own, at(&mut state)]);
    assert_eq!(state, 0);
    // SAFETY: as above.
    unsafe { (to as *mut u32).write(status) };
}

#[test]
fn host_functions_and_locks_do_not_wait_for_each_other() {
    isolated("process::host_functions_and_locks_do_not_wait_for_each_other", &[], || {
        let (cuda, own) = (Library::start(), u64::from(std::process::id()));
        let stream = cuda.made("cuStreamCreate", &[1]);
        let mut status = 0u32;
        cuda.ok("cuLaunchHostFunc", &[stream, lock_here as *const () as u64, at(&mut status)]);
        cuda.ok("cuStreamSynchronize", &[stream]);
        assert_eq!(status, NOT_PERMITTED);
        cuda.ok("cuLaunchHostFunc", &[stream, call_when_locked as *const () as u64, at(&mut status)]);
        status = 0;
        cuda.ok("cuCheckpointProcessLock", &[own, 0]);
        cuda.ok("cuCheckpointProcessUnlock", &[own, 0]);
        cuda.ok("cuStreamSynchronize", &[stream]);
        assert_eq!(status, NOT_PERMITTED);
    });
}

static CALLS: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);

/// A receiver whose own call fails.
extern "C" fn fail(_: u64, _: u32, _: *const u8, _: usize) {
    CALLS.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(Library::open().call("cuMemFree_v2", &[7]), INVALID_VALUE);
}

#[test]
fn receivers_of_the_log_get_no_lines_of_their_own_calls() {
    isolated("process::receivers_of_the_log_get_no_lines_of_their_own_calls", &[], || {
        let cuda = Library::start();
        let function = fail as extern "C" fn(u64, u32, *const u8, usize) as usize as u64;
        let mut handles = [0u64; 3];
        for handle in &mut handles {
            cuda.ok("cuLogsRegisterCallback", &[function, 0, at(handle)]);
        }
        let (mut from, mut later) = (0u32, 0u32);
        cuda.ok("cuLogsCurrent", &[at(&mut from), 0]);
        for _ in 0..20 {
            assert_eq!(cuda.call("cuMemFree_v2", &[7]), INVALID_VALUE);
        }
        assert_eq!(CALLS.load(std::sync::atomic::Ordering::Relaxed), 60, "three receivers, twenty lines");
        cuda.ok("cuLogsCurrent", &[at(&mut later), 0]);
        assert_eq!(later.wrapping_sub(from), 80, "the receivers' own lines are kept");
    });
}

#[test]
fn the_process_is_locked_and_checkpointed() {
    isolated("process::the_process_is_locked_and_checkpointed", &[], || {
        let cuda = Library::open();
        let own = u64::from(std::process::id());
        let mut state = 9u32;
        cuda.rows(&[("cuCheckpointProcessGetState", &[own, at(&mut state)], NOT_INITIALIZED)]);
        let cuda = Library::start();
        let memory = cuda.made("cuMemAlloc_v2", &[64]);
        cuda.write(memory, &[3u32; 16]);
        let is = |expected: u32| {
            let mut state = 9u32;
            cuda.ok("cuCheckpointProcessGetState", &[own, at(&mut state)]);
            assert_eq!(state, expected);
        };
        is(0);
        let (mut reserved, mut limit, mut uuid) =
            ([0u64, 0, 0, 0, 0, 0, 0, 1], [5u64, 0, 0, 0, 0, 0, 0, 0], [0u8; 16]);
        cuda.ok("cuDeviceGetUuid_v2", &[at(&mut uuid), 0]);
        let (mut same, mut wrong) = ([uuid, uuid], [uuid, [1; 16]]);
        let mut restore = [at(&mut same), 1, 0, 0, 0, 0, 0, 0];
        let mut elsewhere = [at(&mut wrong), 1, 0, 0, 0, 0, 0, 0];
        let stream = cuda.made("cuStreamCreate", &[1]);
        cuda.rows(&[
            // Work that does not end in time: the process runs on.
            ("cuStreamWaitValue32_v2", &[stream, memory, 4, 1], OK),
            ("cuCheckpointProcessLock", &[own, at(&mut limit)], NOT_READY),
            ("cuMemsetD32Async", &[memory, 4, 1, cuda.made("cuStreamCreate", &[1])], OK),
            ("cuStreamSynchronize", &[stream], OK),
            ("cuCheckpointProcessCheckpoint", &[own, 0], ILLEGAL_STATE),
            ("cuCheckpointProcessRestore", &[own, 0], ILLEGAL_STATE),
            ("cuCheckpointProcessUnlock", &[own, 0], ILLEGAL_STATE),
            ("cuCheckpointProcessLock", &[own, at(&mut reserved)], INVALID_VALUE),
            ("cuCheckpointProcessLock", &[0, 0], OPERATING_SYSTEM),
            ("cuCheckpointProcessLock", &[u64::from(u32::MAX), 0], OPERATING_SYSTEM),
            ("cuCheckpointProcessGetState", &[own, 0], INVALID_VALUE),
            ("cuCheckpointProcessGetRestoreThreadId", &[own, 0], INVALID_VALUE),
            ("cuCheckpointProcessGetRestoreThreadId", &[own, at(&mut state)], OK),
            ("cuCheckpointProcessLock", &[own, 0], OK),
            ("cuCheckpointProcessLock", &[own, 0], ILLEGAL_STATE),
        ]);
        is(1);
        // Another thread's call waits until the process is unlocked.
        let (told, ended) = std::sync::mpsc::channel();
        let other = std::thread::spawn(move || {
            let mut count = 0i32;
            cuda.ok("cuDeviceGetCount", &[at(&mut count)]);
            told.send(count).expect("the test waits");
        });
        assert!(ended.recv_timeout(Duration::from_millis(50)).is_err(), "the call waits");
        cuda.rows(&[
            ("cuCheckpointProcessCheckpoint", &[own, at(&mut reserved)], INVALID_VALUE),
            ("cuCheckpointProcessCheckpoint", &[own, 0], OK),
            ("cuCheckpointProcessUnlock", &[own, 0], ILLEGAL_STATE),
        ]);
        is(2);
        cuda.rows(&[
            ("cuCheckpointProcessRestore", &[own, at(&mut elsewhere)], INVALID_VALUE),
            ("cuCheckpointProcessRestore", &[own, at(&mut restore)], OK),
        ]);
        is(1);
        cuda.ok("cuCheckpointProcessUnlock", &[own, 0]);
        is(0);
        assert_eq!(ended.recv(), Ok(1));
        other.join().expect("the thread");
        assert_eq!(cuda.read::<u32, 2>(memory), [4, 3]);
    });
}

#[test]
fn settings_of_core_dumps_are_kept() {
    isolated("process::settings_of_core_dumps_are_kept", &[], || {
        let cuda = Library::start();
        let (get, set) = ("cuCoredumpGetAttribute", "cuCoredumpSetAttribute");
        let (get_all, set_all) = ("cuCoredumpGetAttributeGlobal", "cuCoredumpSetAttributeGlobal");
        let (mut truth, mut one, mut four, mut long) = (7u8, 1u64, 4u64, 1024u64);
        let (mut flags, mut name, mut wanted) = (0u32, [0u8; 1024], 0u64);
        // The sizes, and the values before anything is set.
        for (number, size) in [(1u64, 1u64), (2, 1), (3, 1), (4, 1), (5, 1024), (6, 1024), (7, 4)] {
            for function in [get, set, get_all, set_all] {
                // The pipe and what writing to it does are the process's.
                if matches!(number, 4 | 6) && (function == get || function == set) {
                    cuda.rows(&[(function, &[number, 0, at(&mut wanted)], INVALID_VALUE)]);
                    continue;
                }
                cuda.ok(function, &[number, 0, at(&mut wanted)]);
                assert_eq!(wanted, size, "{function} {number}");
            }
        }
        for (number, value) in [(1u64, 0u8), (2, 1), (3, 0), (4, 0)] {
            cuda.ok(get_all, &[number, at(&mut truth), at(&mut one)]);
            assert_eq!(truth, value, "{number}");
        }
        cuda.ok(get, &[5, at(&mut name), at(&mut long)]);
        assert!(name.starts_with(b"core.cuda."));
        let (mut yes, mut light, mut unknown) = (1u8, 0x2fu32, 0x80u32);
        let (path, mut length, mut cut) = (c"dump", 5u64, *b"!!!!!");
        cuda.rows(&[
            // A context's own setting, then the process's, which the context does not see.
            (set, &[7, at(&mut light), at(&mut four)], OK),
            (get_all, &[7, at(&mut flags), at(&mut four)], OK),
            (set_all, &[5, path.as_ptr() as u64, at(&mut length)], OK),
            (get, &[5, at(&mut name), at(&mut long)], OK),
            (set, &[4, at(&mut yes), at(&mut one)], INVALID_VALUE),
            (set, &[6, path.as_ptr() as u64, at(&mut length)], INVALID_VALUE),
            (set_all, &[4, at(&mut yes), at(&mut one)], OK),
            (set_all, &[6, path.as_ptr() as u64, at(&mut length)], NOT_PERMITTED),
            (set, &[7, at(&mut unknown), at(&mut four)], INVALID_VALUE),
            (set, &[1, at(&mut yes), at(&mut four)], INVALID_VALUE),
            (get, &[1, at(&mut truth), at(&mut four)], INVALID_VALUE),
            (get, &[0, at(&mut truth), at(&mut one)], INVALID_VALUE),
            (get, &[8, at(&mut truth), at(&mut one)], INVALID_VALUE),
            (get, &[1, at(&mut truth), 0], INVALID_VALUE),
            // A name is cut off.
            (get, &[5, at(&mut cut), at(&mut four)], OK),
        ]);
        assert_eq!((flags, &name[..5], cut), (0, &b"dump\0"[..], *b"dump!"));
        cuda.ok(get, &[7, at(&mut flags), at(&mut four)]);
        assert_eq!(flags, 0x2f);
    });
}

/// A fault says that no dump is written, once and only if one was asked for.
#[test]
fn a_fault_says_that_no_core_dump_is_written() {
    const FAULT: &str = "
        .version 7.0
        .target sm_52
        .address_size 64
        .visible .entry fault() { .reg .b64 %t; mov.u64 %t, 16; st.global.u64 [%t], %t; ret; }\0";
    const ILLEGAL_ADDRESS: u32 = 700;
    let test = "process::a_fault_says_that_no_core_dump_is_written";
    for (asked, times) in [("0", 0), ("1", 1)] {
        let variables = [("ANYWARP_LOG", "warn"), ("ANYWARP_TEST_DUMP", asked)];
        let output = isolated(test, &variables, || {
            let cuda = Library::start();
            let (mut yes, mut one) = (std::env::var("ANYWARP_TEST_DUMP").as_deref() == Ok("1"), 1u64);
            cuda.ok("cuCoredumpSetAttributeGlobal", &[1, at(&mut yes), at(&mut one)]);
            let module = cuda.made("cuModuleLoadData", &[FAULT.as_ptr() as u64]);
            let function = cuda.made("cuModuleGetFunction", &[module, c"fault".as_ptr() as u64]);
            for _ in 0..2 {
                cuda.call("cuLaunchKernel", &[function, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0]);
                assert_eq!(cuda.call("cuCtxSynchronize", &[]), ILLEGAL_ADDRESS);
            }
        });
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(told.matches("core dump").count(), times, "{told}");
    }
}

#[test]
fn functions_are_registered_for_dumps_and_notifications() {
    isolated("process::functions_are_registered_for_dumps_and_notifications", &[], || {
        let cuda = Library::start();
        let (mut begins, mut ends, mut device) = (0u64, 0u64, 0u64);
        cuda.rows(&[
            ("cuCoredumpRegisterStartCallback", &[64, 0, at(&mut begins)], OK),
            ("cuCoredumpRegisterStartCallback", &[64, 0, 0], OK),
            ("cuCoredumpRegisterStartCallback", &[0, 0, at(&mut ends)], INVALID_VALUE),
            ("cuCoredumpRegisterCompleteCallback", &[64, 0, at(&mut ends)], OK),
            ("cuDeviceRegisterAsyncNotification", &[0, 64, 0, at(&mut device)], OK),
            ("cuDeviceRegisterAsyncNotification", &[0, 0, 0, at(&mut device)], INVALID_VALUE),
            ("cuDeviceRegisterAsyncNotification", &[0, 64, 0, 0], INVALID_VALUE),
            ("cuDeviceRegisterAsyncNotification", &[9, 64, 0, at(&mut device)], INVALID_DEVICE),
        ]);
        cuda.rows(&[
            ("cuCoredumpDeregisterStartCallback", &[ends], INVALID_VALUE),
            ("cuCoredumpDeregisterStartCallback", &[begins], OK),
            ("cuCoredumpDeregisterStartCallback", &[begins], INVALID_VALUE),
            ("cuCoredumpDeregisterCompleteCallback", &[ends], OK),
            ("cuCoredumpDeregisterCompleteCallback", &[0], INVALID_VALUE),
            ("cuDeviceUnregisterAsyncNotification", &[9, device], INVALID_DEVICE),
            ("cuDeviceUnregisterAsyncNotification", &[0, device], OK),
            ("cuDeviceUnregisterAsyncNotification", &[0, device], INVALID_VALUE),
        ]);
    });
}

#[test]
fn there_are_no_graphics() {
    isolated("process::there_are_no_graphics", &[], || {
        let cuda = Library::start();
        let mut out = [0u64; 8];
        let o = at(&mut out);
        // Right arguments, and the answer to them. Null is INVALID_VALUE where the last column says so.
        const TEXTURE: u64 = 0x0de1;
        let rows: &[(&str, [u64; 4], u32, bool)] = &[
            ("cuGLInit", [0; 4], OPERATING_SYSTEM, false),
            ("cuGLCtxCreate", [o, 0, 0, 0], OPERATING_SYSTEM, true),
            ("cuGLCtxCreate_v2", [o, 0, 0, 0], OPERATING_SYSTEM, true),
            ("cuGLGetDevices", [o, o, 1, 1], OPERATING_SYSTEM, false),
            ("cuGLGetDevices_v2", [o, o, 1, 1], OPERATING_SYSTEM, false),
            ("cuGLRegisterBufferObject", [1, 0, 0, 0], OPERATING_SYSTEM, false),
            ("cuGraphicsGLRegisterBuffer", [o, 1, 0, 0], OPERATING_SYSTEM, true),
            ("cuGraphicsGLRegisterImage", [o, 1, TEXTURE, 0], OPERATING_SYSTEM, true),
            ("cuGLMapBufferObject_v2", [o, o, 1, 0], INVALID_VALUE, true),
            ("cuGLMapBufferObjectAsync", [o, o, 1, 0], INVALID_CONTEXT, false),
            ("cuGLMapBufferObjectAsync_v2", [o, o, 1, 0], INVALID_VALUE, true),
            ("cuGLUnmapBufferObject", [1, 0, 0, 0], INVALID_VALUE, true),
            ("cuGLUnmapBufferObjectAsync", [1, 0, 0, 0], INVALID_VALUE, true),
            ("cuGLUnregisterBufferObject", [1, 0, 0, 0], INVALID_VALUE, true),
            ("cuGLSetBufferObjectMapFlags", [1, 0, 0, 0], INVALID_VALUE, true),
            ("cuVDPAUGetDevice", [o, 1, 0, 0], INVALID_VALUE, true),
            ("cuVDPAUCtxCreate", [o, 0, 0, 1], OUT_OF_MEMORY, true),
            ("cuVDPAUCtxCreate_v2", [o, 0, 0, 1], NOT_SUPPORTED, true),
            ("cuGraphicsVDPAURegisterOutputSurface", [o, 1, 0, 0], INVALID_CONTEXT, false),
            ("cuGraphicsVDPAURegisterVideoSurface", [o, 1, 0, 0], INVALID_CONTEXT, false),
            ("cuEGLStreamConsumerConnect", [o, o, 0, 0], INVALID_HANDLE, false),
            ("cuEGLStreamConsumerConnectWithFlags", [o, o, 0, 0], INVALID_HANDLE, false),
            ("cuEGLStreamProducerConnect", [o, o, 64, 64], INVALID_HANDLE, false),
            ("cuGraphicsEGLRegisterImage", [o, o, 0, 0], UNKNOWN, true),
            ("cuEGLApiInit", [0; 4], NOT_SUPPORTED, false),
        ];
        for (name, arguments, answer, null_is_wrong) in rows {
            let null = if *null_is_wrong { INVALID_VALUE } else { *answer };
            cuda.rows(&[(name, arguments, *answer), (name, &[0; 4], null)]);
        }
        let register = "cuGraphicsGLRegisterImage";
        cuda.rows(&[
            (register, &[o, 1, 0, 0], INVALID_VALUE),
            (register, &[o, 1, TEXTURE, 99], INVALID_VALUE),
            ("cuGraphicsGLRegisterBuffer", &[o, 0, 0, 0], INVALID_VALUE),
            ("cuGLCtxCreate_v2", &[o, 0, 99], INVALID_DEVICE),
        ]);
        for name in [
            "cuEGLStreamConsumerDisconnect",
            "cuEGLStreamConsumerAcquireFrame",
            "cuEGLStreamConsumerReleaseFrame",
            "cuEGLStreamProducerDisconnect",
            "cuEGLStreamProducerPresentFrame",
            "cuEGLStreamProducerReturnFrame",
            "cuGraphicsResourceGetMappedEglFrame",
            "cuGraphicsResourceGetMappedMipmappedArray",
            "cuGraphicsResourceGetMappedPointer",
            "cuGraphicsResourceGetMappedPointer_v2",
            "cuGraphicsResourceSetMapFlags",
            "cuGraphicsResourceSetMapFlags_v2",
            "cuGraphicsSubResourceGetMappedArray",
        ] {
            cuda.rows(&[(name, &[o, o, o, 0], INVALID_HANDLE), (name, &[0, 0, 0, 0], INVALID_HANDLE)]);
        }
        for arguments in [[o, 0, 0], [0, 0, 0], [o, 9, 0]] {
            cuda.rows(&[("cuDeviceGetNvSciSyncAttributes", &arguments, INVALID_HANDLE)]);
        }
    });
}
