//! Calls through the front of HIP 6: the order of streams, three-dimensional copies compared with an
//! independent model, memory that host and device use, and a process that uses both HIP and the CUDA driver.

mod library;

use std::ptr::null_mut;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, Once};

use capi::types::IpcHandle;
use hip::types::{ChannelFormat, Extent, Memcpy3DParameters, PitchedPointer};
use libloading::Library;

/// A front and the CUDA library beside it, in a process with two devices.
struct Both {
    hip: Library,
    cuda: Library,
}

fn open() -> Both {
    open_front(6)
}

fn open_front(number: u32) -> Both {
    static DEVICES: Once = Once::new();
    // SAFETY: set before the library is loaded, which alone reads it; nothing else here accesses the
    // environment.
    DEVICES.call_once(|| unsafe { std::env::set_var("ANYWARP_DEVICES", "2") });
    let front = library::front(number);
    let cuda = front.with_file_name("libcuda.so.1");
    // SAFETY: the initialisers of both only find each other.
    unsafe {
        Both { hip: Library::new(front).expect("the front"), cuda: Library::new(cuda).expect("the library") }
    }
}

/// Calls a function of `hip` or `cu` and returns its code.
macro_rules! code {
    ($both:ident, $name:ident($($arg:expr => $type:ty),* $(,)?)) => {{
        let library = if stringify!($name).starts_with("hip") { &$both.hip } else { &$both.cuda };
        // SAFETY: the types are those of the interface, and pointers refer to live variables.
        unsafe {
            let function = library.get::<unsafe extern "C" fn($($type),*) -> u32>(concat!(stringify!($name), "\0").as_bytes());
            function.expect(stringify!($name))($($arg),*)
        }
    }};
}

/// Calls a function, which must succeed.
macro_rules! ok {
    ($both:ident, $name:ident($($args:tt)*)) => { assert_eq!(code!($both, $name($($args)*)), 0, stringify!($name)) };
}

fn alloc(both: &Both, size: usize) -> u64 {
    let mut address = 0u64;
    ok!(both, hipMalloc(&raw mut address => *mut u64, size => usize));
    address
}

fn stream(both: &Both) -> u64 {
    let mut stream = 0u64;
    ok!(both, hipStreamCreateWithFlags(&raw mut stream => *mut u64, 1 => u32));
    stream
}

fn select(both: &Both, device: i32) {
    ok!(both, hipSetDevice(device => i32));
}

static TOLD: Mutex<Vec<(u64, u64, u32)>> = Mutex::new(Vec::new());

extern "C" fn told(stream: u64, status: u32, data: u64) {
    TOLD.lock().expect("the list").push((stream, data, status));
}

extern "C" fn told_plainly(data: u64) {
    TOLD.lock().expect("the list").push((0, data, 0));
}

#[test]
fn functions_in_a_stream_are_called_in_its_order() {
    let both = open();
    select(&both, 0);
    let s = stream(&both);
    for data in 0..8u64 {
        if data % 2 == 0 {
            ok!(both, hipStreamAddCallback(s => u64, told => extern "C" fn(u64, u32, u64), data => u64, 0 => u32));
        } else {
            ok!(both, hipLaunchHostFunc(s => u64, told_plainly => extern "C" fn(u64), data => u64));
        }
    }
    ok!(both, hipStreamSynchronize(s => u64));
    let want: Vec<_> = (0..8u64).map(|data| (if data % 2 == 0 { s } else { 0 }, data, 0)).collect();
    assert_eq!(*TOLD.lock().expect("the list"), want);
    ok!(both, hipStreamDestroy(s => u64));
}

static GATE: AtomicU32 = AtomicU32::new(0);

extern "C" fn wait_for_the_gate(_: u64) {
    while GATE.load(Ordering::Acquire) == 0 {
        std::thread::yield_now();
    }
}

/// What a host function calls, and the code that it gets.
static CALLED: Mutex<Vec<(&str, u32)>> = Mutex::new(Vec::new());
/// Stream, another stream, event, memory.
static USED: [AtomicU64; 5] = [const { AtomicU64::new(0) }; 5];

extern "C" fn waits(_: u64) {
    let both = open();
    let [s, other, event, memory, unused] = USED.each_ref().map(|word| word.load(Ordering::Acquire));
    let mut word = 0u32;
    let to = &raw mut word;
    let mut codes = vec![
        ("hipStreamSynchronize", code!(both, hipStreamSynchronize(s => u64))),
        ("hipStreamSynchronize of another", code!(both, hipStreamSynchronize(other => u64))),
        ("hipDeviceSynchronize", code!(both, hipDeviceSynchronize())),
        ("hipEventSynchronize", code!(both, hipEventSynchronize(event => u64))),
        ("hipMemcpy", code!(both, hipMemcpy(to => *mut u32, memory => u64, 4 => usize, 2 => u32))),
        ("hipFree", code!(both, hipFree(unused => u64))),
        ("hipStreamQuery", code!(both, hipStreamQuery(s => u64))),
    ];
    // These do not wait.
    ok!(both, hipMemsetAsync(memory => u64, 5 => i32, 4 => usize, other => u64));
    ok!(both, hipMemcpyAsync(to => *mut u32, memory => u64, 4 => usize, 2 => u32, other => u64));
    codes.push(("hipStreamSynchronize of the other", code!(both, hipStreamSynchronize(other => u64))));
    assert_eq!(word, 0x0505_0505);
    *CALLED.lock().expect("the list") = codes;
}

/// Alone in its process: every other stream of the device would be waited for, too.
#[test]
fn a_host_function_that_waits_for_its_own_stream_gets_an_error() {
    const ALONE: &str = "ANYWARP_TEST_ALONE";
    const NOT_SUPPORTED: u32 = 801;
    const NOT_READY: u32 = 600;
    if std::env::var_os(ALONE).is_none() {
        let mut own = std::process::Command::new(std::env::current_exe().expect("the test's own path"));
        own.args(["--exact", "a_host_function_that_waits_for_its_own_stream_gets_an_error"]).env(ALONE, "1");
        let done = own.output().expect("the test's own process");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
        let told = String::from_utf8_lossy(&done.stderr);
        for name in
            ["hipStreamSynchronize", "hipDeviceSynchronize", "hipEventSynchronize", "hipMemcpy", "hipFree"]
        {
            assert!(told.contains(&format!("{name} in a host function")), "{name}: {told}");
        }
        return;
    }
    let both = open();
    select(&both, 0);
    let (mut blocking, other, mut event) = (0u64, stream(&both), 0u64);
    ok!(both, hipStreamCreate(&raw mut blocking => *mut u64));
    ok!(both, hipEventCreate(&raw mut event => *mut u64));
    for s in [blocking, stream(&both), 0] {
        let memory = [alloc(&both, 4), alloc(&both, 4)];
        ok!(both, hipMemset(memory[1] => u64, 7 => i32, 4 => usize));
        for (word, value) in USED.iter().zip([s, other, event, memory[0], memory[1]]) {
            word.store(value, Ordering::Release);
        }
        // The event is recorded behind the function before that begins.
        static BEGINS: AtomicU32 = AtomicU32::new(0);
        extern "C" fn wait_to_begin(_: u64) {
            while BEGINS.swap(0, Ordering::AcqRel) == 0 {
                std::thread::yield_now();
            }
        }
        ok!(both, hipLaunchHostFunc(s => u64, wait_to_begin => extern "C" fn(u64), 0 => u64));
        ok!(both, hipLaunchHostFunc(s => u64, waits => extern "C" fn(u64), 0 => u64));
        ok!(both, hipEventRecord(event => u64, s => u64));
        BEGINS.store(1, Ordering::Release);
        ok!(both, hipStreamSynchronize(s => u64));
        ok!(both, hipDeviceSynchronize());
        let codes = std::mem::take(&mut *CALLED.lock().expect("the list"));
        let [refused, done] = [NOT_SUPPORTED, 0];
        // A copy in the null stream does not wait for a stream that was created without that.
        let copied = if s == blocking || s == 0 { refused } else { done };
        let wanted = [refused, done, refused, refused, copied, refused, NOT_READY, done];
        assert_eq!(codes.iter().map(|c| c.1).collect::<Vec<_>>(), wanted, "{codes:?}");
        // What the function could not free is still there.
        let mut byte = 0u8;
        ok!(both, hipMemcpy(&raw mut byte => *mut u8, memory[1] => u64, 1 => usize, 2 => u32));
        assert_eq!(byte, 7);
        for address in memory {
            ok!(both, hipFree(address => u64));
        }
    }
}

#[test]
fn events_order_streams_and_tell_when() {
    const NOT_READY: u32 = 600;
    let both = open();
    select(&both, 0);
    let (first, second) = (stream(&both), stream(&both));
    let mut events = [0u64; 3];
    for event in &mut events {
        ok!(both, hipEventCreate(event => *mut u64));
    }
    let [before, after, end] = events;
    let memory = alloc(&both, 1 << 20);
    ok!(both, hipEventRecord(before => u64, first => u64));
    ok!(both, hipLaunchHostFunc(first => u64, wait_for_the_gate => extern "C" fn(u64), 0 => u64));
    ok!(both, hipMemsetAsync(memory => u64, 7 => i32, 1 << 20 => usize, first => u64));
    ok!(both, hipEventRecord(after => u64, first => u64));
    ok!(both, hipStreamWaitEvent(second => u64, after => u64, 0 => u32));
    ok!(both, hipMemsetAsync(memory => u64, 9 => i32, 1 => usize, second => u64));
    ok!(both, hipEventRecord(end => u64, second => u64));
    assert_eq!(code!(both, hipEventQuery(end => u64)), NOT_READY);
    assert_eq!(code!(both, hipStreamQuery(second => u64)), NOT_READY);
    let mut time = -1f32;
    assert_eq!(
        code!(both, hipEventElapsedTime(&raw mut time => *mut f32, before => u64, end => u64)),
        NOT_READY
    );
    GATE.store(1, Ordering::Release);
    ok!(both, hipEventSynchronize(end => u64));
    let mut bytes = [0u8; 2];
    ok!(both, hipMemcpy(bytes.as_mut_ptr() => *mut u8, memory => u64, 2 => usize, 2 => u32));
    assert_eq!(bytes, [9, 7], "the second stream's byte came last");
    let mut times = [-1f32; 3];
    for (time, [a, b]) in times.iter_mut().zip([[before, after], [after, end], [before, end]]) {
        ok!(both, hipEventElapsedTime(time => *mut f32, a => u64, b => u64));
        assert!(*time >= 0.0, "{time}");
    }
    let [one, two, sum] = times;
    assert!(sum >= one && sum >= two, "{times:?}");
    ok!(both, hipFree(memory => u64));
}

#[test]
fn managed_memory_is_the_hosts_and_the_devices() {
    let both = open();
    select(&both, 1);
    let mut memory: *mut u32 = null_mut();
    ok!(both, hipMallocManaged(&raw mut memory => *mut *mut u32, 64 => usize, 1 => u32));
    ok!(both, hipMemsetD32(memory => *mut u32, 0x0102_0304 => i32, 16 => usize));
    ok!(both, hipDeviceSynchronize());
    // SAFETY: 64 bytes, filled and idle.
    let words = unsafe { std::slice::from_raw_parts_mut(memory, 16) };
    assert_eq!(words, [0x0102_0304; 16]);
    words[3] = 5;
    let device = alloc(&both, 64);
    ok!(both, hipMemcpy(device => u64, memory => *mut u32, 64 => usize, 3 => u32));
    let mut back = [0u32; 16];
    ok!(both, hipMemcpy(back.as_mut_ptr() => *mut u32, device => u64, 64 => usize, 4 => u32));
    assert_eq!(back[..5], [0x0102_0304, 0x0102_0304, 0x0102_0304, 5, 0x0102_0304]);
    ok!(both, hipFree(memory => *mut u32));
    ok!(both, hipFree(device => u64));
    select(&both, 0);
}

/// A volume of bytes in memory or in an array.
struct Volume {
    /// Bytes per row including padding, rows per slice, and slices.
    shape: [usize; 3],
    bytes: Vec<u8>,
}

impl Volume {
    fn numbered(shape: [usize; 3], first: usize) -> Self {
        let size: usize = shape.iter().product();
        Volume { shape, bytes: (first..first + size).map(|n| (n * 7 % 251) as u8).collect() }
    }

    fn at(&mut self, [x, y, z]: [usize; 3]) -> &mut u8 {
        let [width, height, _] = self.shape;
        &mut self.bytes[(z * height + y) * width + x]
    }

    /// The model: copies byte by byte.
    fn copy(&mut self, to: [usize; 3], from: &mut Volume, at: [usize; 3], extent: [usize; 3]) {
        for z in 0..extent[2] {
            for y in 0..extent[1] {
                for x in 0..extent[0] {
                    *self.at([to[0] + x, to[1] + y, to[2] + z]) = *from.at([at[0] + x, at[1] + y, at[2] + z]);
                }
            }
        }
    }

    fn pitched(&self, pointer: u64) -> PitchedPointer {
        PitchedPointer { pointer, pitch: self.shape[0], width: self.shape[0], height: self.shape[1] }
    }
}

fn extent([width, height, depth]: [usize; 3]) -> Extent {
    Extent { width, height, depth }
}

#[test]
fn volumes_are_copied_as_the_model_copies_them() {
    const SHAPE: [usize; 3] = [12, 5, 4];
    const NOWHERE: PitchedPointer = PitchedPointer { pointer: 0, pitch: 0, width: 0, height: 0 };
    let both = open();
    select(&both, 0);
    let mut source = Volume::numbered(SHAPE, 1);
    let mut target = Volume::numbered(SHAPE, 77);
    let (from, to) = (alloc(&both, source.bytes.len()), alloc(&both, target.bytes.len()));
    let format = ChannelFormat { x: 8, y: 8, z: 0, w: 0, kind: 1 };
    let mut array = 0u64;
    // Elements of two bytes: six of them make a row.
    ok!(both, hipMalloc3DArray(&raw mut array => *mut u64, &format => &ChannelFormat, extent([6, 5, 4]) => Extent, 0 => u32));
    let parameters = |p: Memcpy3DParameters| ok!(both, hipMemcpy3D(&p => &Memcpy3DParameters));
    let none = Memcpy3DParameters {
        src_array: 0,
        src_position: extent([0; 3]),
        src_pointer: NOWHERE,
        dst_array: 0,
        dst_position: extent([0; 3]),
        dst_pointer: NOWHERE,
        extent: extent([0; 3]),
        kind: 4,
    };
    for (place, memory) in [(from, &source), (to, &target)] {
        let size = memory.bytes.len();
        ok!(both, hipMemcpy(place => u64, memory.bytes.as_ptr() => *const u8, size => usize, 1 => u32));
    }
    // From memory to memory; positions and widths are in bytes.
    for (to_at, from_at, size) in [
        ([0, 0, 0], [0, 0, 0], [12, 5, 4]),
        ([3, 1, 2], [5, 2, 1], [7, 3, 2]),
        ([11, 4, 3], [0, 0, 0], [1, 1, 1]),
    ] {
        target.copy(to_at, &mut source, from_at, size);
        parameters(Memcpy3DParameters {
            src_position: extent(from_at),
            src_pointer: source.pitched(from),
            dst_position: extent(to_at),
            dst_pointer: target.pitched(to),
            extent: extent(size),
            ..none
        });
        let mut got = vec![0u8; target.bytes.len()];
        ok!(both, hipMemcpy(got.as_mut_ptr() => *mut u8, to => u64, got.len() => usize, 2 => u32));
        assert_eq!(got, target.bytes, "{to_at:?} {from_at:?} {size:?}");
    }
    // Into the array from the program's memory and back; positions in arrays and widths are in elements.
    let mut inside = Volume::numbered(SHAPE, 0);
    parameters(Memcpy3DParameters {
        src_pointer: inside.pitched(inside.bytes.as_ptr() as u64),
        dst_array: array,
        extent: extent([6, 5, 4]),
        ..none
    });
    inside.copy([4, 1, 1], &mut source, [0, 2, 0], [6, 2, 3]);
    parameters(Memcpy3DParameters {
        src_position: extent([0, 2, 0]),
        src_pointer: source.pitched(from),
        dst_array: array,
        dst_position: extent([2, 1, 1]),
        extent: extent([3, 2, 3]),
        ..none
    });
    let mut got = Volume::numbered(SHAPE, 3);
    let place = got.bytes.as_mut_ptr() as u64;
    parameters(Memcpy3DParameters {
        src_array: array,
        dst_pointer: got.pitched(place),
        extent: extent([6, 5, 4]),
        ..none
    });
    assert_eq!(got.bytes, inside.bytes);
    ok!(both, hipFreeArray(array => u64));

    // A fill that leaves the ends of rows and of slices unchanged.
    for z in 0..3 {
        for y in 0..2 {
            for x in 0..5 {
                *target.at([x, y, z]) = 0xee;
            }
        }
    }
    ok!(both, hipMemset3D(target.pitched(to) => PitchedPointer, 0x1ee => i32, extent([5, 2, 3]) => Extent));
    let mut got = vec![0u8; target.bytes.len()];
    ok!(both, hipMemcpy(got.as_mut_ptr() => *mut u8, to => u64, got.len() => usize, 2 => u32));
    assert_eq!(got, target.bytes);
    ok!(both, hipFree(from => u64));
    ok!(both, hipFree(to => u64));
}

#[test]
fn memory_for_volumes_has_a_pitch() {
    const INVALID_VALUE: u32 = 1;
    let both = open();
    select(&both, 0);
    let mut memory = PitchedPointer { pointer: 1, pitch: 0, width: 0, height: 0 };
    let place = &raw mut memory;
    assert_eq!(
        code!(both, hipMalloc3D(null_mut() => *mut PitchedPointer, extent([1; 3]) => Extent)),
        INVALID_VALUE
    );
    ok!(both, hipMalloc3D(place => *mut PitchedPointer, extent([1, 0, 1]) => Extent));
    assert_eq!(memory.pointer, 0);
    ok!(both, hipMalloc3D(place => *mut PitchedPointer, extent([100, 3, 4]) => Extent));
    assert_eq!((memory.width, memory.height), (100, 3));
    let mut size = 0usize;
    ok!(both, hipMemPtrGetInfo(memory.pointer => u64, &raw mut size => *mut usize));
    assert_eq!(size, memory.pitch * 3 * 4);
    assert!(memory.pitch >= 100);
    ok!(both, hipFree(memory.pointer => u64));
}

#[test]
fn a_handle_of_this_process_is_not_opened_here() {
    const INVALID_VALUE: u32 = 1;
    const INVALID_CONTEXT: u32 = 201;
    // Up to HIP 5, the flag has another number.
    for (number, wrong, right) in [(5, 1, 0), (6, 0, 1)] {
        let both = open_front(number);
        select(&both, 0);
        let memory = alloc(&both, 4096);
        let mut handle = IpcHandle { name: [0; 64] };
        ok!(both, hipIpcGetMemHandle(&raw mut handle => *mut IpcHandle, memory => u64));
        let mut address = 0u64;
        let out = &raw mut address;
        let open =
            |flags| code!(both, hipIpcOpenMemHandle(out => *mut u64, handle => IpcHandle, flags => u32));
        assert_eq!(open(wrong), INVALID_VALUE);
        assert_eq!(open(right), INVALID_CONTEXT);
        ok!(both, hipFree(memory => u64));
    }
}

#[test]
fn a_stream_keeps_its_device_and_works_on_the_others_memory() {
    let both = open();
    select(&both, 1);
    let (s, there) = (stream(&both), alloc(&both, 64));
    select(&both, 0);
    let here = alloc(&both, 64);
    let mut device = -1i32;
    ok!(both, hipStreamGetDevice(s => u64, &raw mut device => *mut i32));
    assert_eq!(device, 1);
    // SAFETY: the function has this signature in HIP's sources.
    let device_of =
        unsafe { both.hip.get::<extern "C" fn(u64) -> i32>(b"hipGetStreamDeviceId\0") }.expect("a function");
    assert_eq!((device_of(s), device_of(0), device_of(0x1234)), (1, 0, -1));
    ok!(both, hipMemsetAsync(here => u64, 6 => i32, 64 => usize, s => u64));
    ok!(both, hipMemcpyPeerAsync(there => u64, 1 => i32, here => u64, 0 => i32, 64 => usize, s => u64));
    let mut bytes = [0u8; 64];
    ok!(both, hipMemcpyAsync(bytes.as_mut_ptr() => *mut u8, there => u64, 64 => usize, 2 => u32, s => u64));
    ok!(both, hipStreamSynchronize(s => u64));
    assert_eq!(bytes, [6; 64]);
    ok!(both, hipStreamDestroy(s => u64));
    ok!(both, hipFree(there => u64));
    ok!(both, hipFree(here => u64));
}

#[test]
fn channel_descriptions_are_put_together() {
    let both = open();
    type Make = extern "C" fn(i32, i32, i32, i32, u32) -> ChannelFormat;
    // SAFETY: the function has this signature in HIP's header.
    let make = unsafe { both.hip.get::<Make>(b"hipCreateChannelDesc\0") }.expect("a function");
    assert_eq!(make(8, 16, 24, 32, 2), ChannelFormat { x: 8, y: 16, z: 24, w: 32, kind: 2 });
}

#[test]
fn tools_are_told_what_there_is() {
    let both = open();
    type Text = extern "C" fn(u32) -> *const std::ffi::c_char;
    for (name, start) in [
        ("hipApiName", "unknown"),
        ("amd_dbgapi_get_build_name", "anywarp "),
        ("amd_dbgapi_get_git_hash", ""),
    ] {
        // SAFETY: the functions return static texts, and ignore missing arguments.
        let text = unsafe {
            std::ffi::CStr::from_ptr(both.hip.get::<Text>(name.as_bytes()).expect("a function")(7))
        };
        assert!(text.to_string_lossy().starts_with(start), "{name}: {text:?}");
    }
}

/// Converts two handles to text for another process, and back.
fn written(handles: &[IpcHandle; 2]) -> String {
    handles.iter().flat_map(|h| h.name).map(|b| format!("{b:02x}")).collect()
}

fn read(text: &str) -> [IpcHandle; 2] {
    let byte = |i: usize| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).expect("a byte");
    [0, 64].map(|first| IpcHandle { name: std::array::from_fn(|i| byte(first + i)) })
}

/// The other process's work on memory of ones, and on an event that it has not recorded.
fn another_process(handles: &str) {
    let both = open();
    select(&both, 0);
    let [memory, event] = read(handles);
    let (mut address, mut opened) = (0u64, 0u64);
    ok!(both, hipIpcOpenMemHandle(&raw mut address => *mut u64, memory => IpcHandle, 1 => u32));
    ok!(both, hipIpcOpenEventHandle(&raw mut opened => *mut u64, event => IpcHandle));
    ok!(both, hipEventSynchronize(opened => u64));
    let mut bytes = [0u8; 4096];
    ok!(both, hipMemcpy(bytes.as_mut_ptr() => *mut u8, address => u64, 4096 => usize, 2 => u32));
    assert_eq!(bytes, [1; 4096]);
    let s = stream(&both);
    ok!(both, hipMemsetAsync(address => u64, 2 => i32, 4096 => usize, s => u64));
    ok!(both, hipEventRecord(opened => u64, s => u64));
    ok!(both, hipStreamSynchronize(s => u64));
    ok!(both, hipIpcCloseMemHandle(address => u64));
    ok!(both, hipEventDestroy(opened => u64));
}

#[test]
fn another_process_uses_memory_and_events() {
    const HANDLES: &str = "ANYWARP_TEST_HANDLES";
    if let Ok(handles) = std::env::var(HANDLES) {
        return another_process(&handles);
    }
    let both = open();
    select(&both, 0);
    // Memory that begins neither at the start of the file in which it lies nor at a page.
    let before = [(); 5].map(|()| alloc(&both, 690_500));
    let memory = alloc(&both, 690_500);
    let mut event = 0u64;
    ok!(both, hipEventCreateWithFlags(&raw mut event => *mut u64, 6 => u32));
    ok!(both, hipMemset(memory => u64, 1 => i32, 4096 => usize));
    ok!(both, hipEventRecord(event => u64, 0 => u64));
    let mut handles = [IpcHandle { name: [0; 64] }; 2];
    let [first, second] = &mut handles;
    ok!(both, hipIpcGetMemHandle(first => &mut IpcHandle, memory => u64));
    ok!(both, hipIpcGetEventHandle(second => &mut IpcHandle, event => u64));
    let test = std::env::current_exe().expect("the test's own path");
    let mut other = std::process::Command::new(test);
    other.args(["--exact", "another_process_uses_memory_and_events"]).env(HANDLES, written(&handles));
    let done = other.output().expect("the other process");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
    ok!(both, hipEventSynchronize(event => u64));
    let mut bytes = [0u8; 4096];
    ok!(both, hipMemcpy(bytes.as_mut_ptr() => *mut u8, memory => u64, 4096 => usize, 2 => u32));
    assert_eq!(bytes, [2; 4096]);
    ok!(both, hipEventDestroy(event => u64));
    for address in before.into_iter().chain([memory]) {
        ok!(both, hipFree(address => u64));
    }
}

/// Waiting in one thread's own stream does not block another thread's.
#[test]
fn every_thread_has_a_stream_of_its_own() {
    static OPEN: AtomicU32 = AtomicU32::new(0);
    extern "C" fn wait(_: u64) {
        while OPEN.load(Ordering::Acquire) == 0 {
            std::thread::yield_now();
        }
    }
    const NOT_READY: u32 = 600;
    let both = open();
    select(&both, 1);
    let memory = alloc(&both, 8);
    ok!(both, hipLaunchHostFunc_spt(0 => u64, wait => extern "C" fn(u64), 0 => u64));
    assert_eq!(code!(both, hipStreamQuery_spt(0 => u64)), NOT_READY);
    // hipStreamPerThread is the same stream.
    assert_eq!(code!(both, hipStreamQuery(2 => u64)), NOT_READY);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            select(&both, 1);
            ok!(both, hipMemsetAsync_spt(memory => u64, 3 => i32, 8 => usize, 0 => u64));
            ok!(both, hipStreamSynchronize_spt(0 => u64));
            let mut bytes = [0u8; 8];
            ok!(both, hipMemcpy_spt(bytes.as_mut_ptr() => *mut u8, memory => u64, 8 => usize, 2 => u32));
            assert_eq!(bytes, [3; 8]);
        });
    });
    OPEN.store(1, Ordering::Release);
    ok!(both, hipStreamSynchronize_spt(0 => u64));
    ok!(both, hipFree(memory => u64));
    select(&both, 0);
}

#[test]
fn halves_become_singles_and_back() {
    let both = open();
    // SAFETY: the functions have these signatures in the compiler's runtime.
    let (widen, narrow) = unsafe {
        (
            both.hip.get::<extern "C" fn(u16) -> f32>(b"__gnu_h2f_ieee\0").expect("a function"),
            both.hip.get::<extern "C" fn(f32) -> u16>(b"__gnu_f2h_ieee\0").expect("a function"),
        )
    };
    // A half is (-1)^s * 2^(e - 15) * (1 + f / 1024), or 2^-14 * f / 1024 for the smallest exponent.
    let value = |half: u16| {
        let (exponent, fraction) = (i32::from(half >> 10 & 31), f64::from(half & 1023) / 1024.0);
        let magnitude = match exponent {
            0 => fraction * 2f64.powi(-14),
            31 if fraction == 0.0 => f64::INFINITY,
            31 => f64::NAN,
            _ => (1.0 + fraction) * 2f64.powi(exponent - 15),
        };
        if half >> 15 == 1 { -magnitude } else { magnitude }
    };
    for half in 0..=u16::MAX {
        let single = widen(half);
        let want = value(half);
        assert!(f64::from(single) == want || (single.is_nan() && want.is_nan()), "{half:#x}");
        let back = narrow(single);
        assert!(
            back == half || (want.is_nan() && back & 0x7c00 == 0x7c00 && back & 0x3ff != 0),
            "{half:#x} {back:#x}"
        );
    }
    // Ties go to even, slightly more goes up; too large becomes infinite.
    for (single, half) in [
        (1.0 + 2f32.powi(-11), 0x3c00),
        (1.0 + 3.0 * 2f32.powi(-11), 0x3c02),
        (1.0 + 2f32.powi(-11) + 2f32.powi(-20), 0x3c01),
        (65519.0, 0x7bff),
        (65520.0, 0x7c00),
        (2f32.powi(-25), 0),
        (3.0 * 2f32.powi(-26), 1),
        (-2f32.powi(-24), 0x8001),
    ] {
        assert_eq!(narrow(single), half, "{single:e}");
    }
}

#[test]
fn hip_and_the_cuda_driver_are_one() {
    let both = open();
    ok!(both, cuInit(0 => u32));
    select(&both, 1);
    let (mut context, mut primary, mut device) = (0u64, 0u64, -1i32);
    ok!(both, cuCtxGetCurrent(&raw mut context => *mut u64));
    ok!(both, cuDevicePrimaryCtxRetain(&raw mut primary => *mut u64, 1 => i32));
    assert_eq!(context, primary);
    ok!(both, cuCtxGetDevice(&raw mut device => *mut i32));
    assert_eq!(device, 1);
    // The reverse: the context that the CUDA driver makes current determines HIP's device.
    ok!(both, cuDevicePrimaryCtxRetain(&raw mut primary => *mut u64, 0 => i32));
    ok!(both, cuCtxSetCurrent(primary => u64));
    ok!(both, hipGetDevice(&raw mut device => *mut i32));
    assert_eq!(device, 0);

    // A HIP stream, memory of the CUDA driver, and a HIP event.
    let s = stream(&both);
    let (mut memory, mut event) = (0u64, 0u64);
    ok!(both, cuMemAlloc_v2(&raw mut memory => *mut u64, 64 => usize));
    ok!(both, hipEventCreate(&raw mut event => *mut u64));
    ok!(both, cuMemsetD8Async(memory => u64, 0x42 => u8, 64 => usize, s => u64));
    ok!(both, cuEventRecord(event => u64, s => u64));
    ok!(both, hipEventSynchronize(event => u64));
    let mut bytes = [0u8; 64];
    ok!(both, hipMemcpy(bytes.as_mut_ptr() => *mut u8, memory => u64, 64 => usize, 4 => u32));
    assert_eq!(bytes, [0x42; 64]);
    ok!(both, cuStreamSynchronize(s => u64));
    ok!(both, hipFree(memory => u64));
    ok!(both, cuEventDestroy_v2(event => u64));
    ok!(both, cuStreamDestroy_v2(s => u64));

    // The same for arrays and pools.
    let format = ChannelFormat { x: 32, y: 0, z: 0, w: 0, kind: 2 };
    let (mut array, mut pool, mut other) = (0u64, 0u64, 0u64);
    let place = &raw mut array;
    ok!(both, hipMallocArray(place => *mut u64, &format => &ChannelFormat, 8 => usize, 4 => usize, 0 => u32));
    let mut description = capi::types::ArrayDescriptor { width: 0, height: 0, format: 0, channels: 0 };
    ok!(both, cuArrayGetDescriptor_v2(&raw mut description => *mut capi::types::ArrayDescriptor, array => u64));
    let capi::types::ArrayDescriptor { width, height, format, channels } = description;
    assert_eq!((width, height, format, channels), (8, 4, 0x20, 1));
    ok!(both, cuArrayDestroy(array => u64));
    ok!(both, hipDeviceGetMemPool(&raw mut pool => *mut u64, 0 => i32));
    ok!(both, cuDeviceGetMemPool(&raw mut other => *mut u64, 0 => i32));
    assert_eq!(pool, other);
}
