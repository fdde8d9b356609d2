//! Memory and semaphores by file descriptor, in streams and in graphs; pools that processes share; the list
//! of valid devices.

mod library;

use std::os::fd::{AsRawFd, RawFd};
use std::sync::Once;

use libloading::Library;

/// Every argument is an integer or a pointer; a function ignores those that it does not have.
type Function = unsafe extern "C" fn(u64, u64, u64, u64, u64, u64, u64, u64) -> u32;

const OK: u32 = 0;
const INVALID_VALUE: u32 = 1;
const OUT_OF_MEMORY: u32 = 2;
const NOT_READY: u32 = 600;
/// `hipMemcpyHostToDevice`, `hipMemcpyDeviceToHost`.
const TO_DEVICE: u64 = 1;
const TO_HOST: u64 = 2;

/// A front, in a process with two devices.
struct Hip(Library);

impl Hip {
    fn open(number: u32) -> Hip {
        static DEVICES: Once = Once::new();
        // SAFETY: set before the library is loaded, which alone reads it; nothing else here accesses the
        // environment.
        DEVICES.call_once(|| unsafe { std::env::set_var("ANYWARP_DEVICES", "2") });
        // SAFETY: the front's initialiser opens the library beside it, whose initialisers do nothing.
        Hip(unsafe { Library::new(library::front(number)) }.expect("the front"))
    }

    fn call(&self, name: &str, arguments: &[u64]) -> u32 {
        let mut all = [0; 8];
        all[..arguments.len()].copy_from_slice(arguments);
        let [a, b, c, d, e, f, g, h] = all;
        // SAFETY: the arguments are those of HIP's header; pointers refer to live variables.
        unsafe { self.0.get::<Function>(name.as_bytes()).expect(name)(a, b, c, d, e, f, g, h) }
    }

    fn ok(&self, name: &str, arguments: &[u64]) {
        assert_eq!(self.call(name, arguments), OK, "{name}");
    }

    /// What a function writes to its first argument, which is added.
    fn made(&self, name: &str, arguments: &[u64]) -> u64 {
        let mut out = 0u64;
        self.ok(name, &[&[at(&mut out)], arguments].concat());
        out
    }

    fn rows(&self, rows: &[(&str, &[u64], u32)]) {
        for (name, arguments, code) in rows {
            assert_eq!(self.call(name, arguments), *code, "{name}{arguments:x?}");
        }
    }
}

fn at<T: ?Sized>(of: &mut T) -> u64 {
    std::ptr::from_mut(of).cast::<u8>() as u64
}

/// A memory file of this size.
fn file(size: i64) -> RawFd {
    // SAFETY: a NUL-terminated name; the descriptor is new.
    unsafe {
        let fd = libc::memfd_create(c"test".as_ptr(), 0);
        assert!(fd > 0 && libc::ftruncate(fd, size) == 0);
        fd
    }
}

fn again(fd: RawFd) -> RawFd {
    // SAFETY: an open descriptor.
    unsafe { libc::dup(fd) }
}

fn is_in_file(fd: RawFd, start: i64, wanted: &[u8]) {
    let mut seen = vec![0u8; wanted.len()];
    // SAFETY: a buffer of that many bytes.
    let read = unsafe { libc::pread(fd, seen.as_mut_ptr().cast(), seen.len(), start) };
    assert_eq!(read, wanted.len() as isize);
    assert!(seen == wanted);
}

/// `hipExternalMemoryHandleDesc` of HIP 5, which has no reserved fields.
fn memory_of(fd: RawFd, size: u64) -> [u64; 5] {
    [1, u64::from(fd as u32), 0, size, 0]
}

/// `hipExternalSemaphoreHandleDesc` of HIP 5.
fn semaphore_of(kind: u64, fd: RawFd) -> [u64; 4] {
    [kind, u64::from(fd as u32), 0, 0]
}

#[test]
fn memory_files_are_mapped() {
    for number in [5, 6, 7] {
        let hip = Hip::open(number);
        let fd = file(1 << 20);
        let kept = again(fd);
        let memory = hip.made("hipImportExternalMemory", &[at(&mut memory_of(fd, 1 << 20))]);
        // SAFETY: any number is allowed.
        assert!(unsafe { libc::fcntl(fd, libc::F_GETFD) } < 0, "the driver has taken the descriptor over");
        // `hipExternalMemoryBufferDesc`: offset, size, flags.
        let name = "hipExternalMemoryGetMappedBuffer";
        let buffer = hip.made(name, &[memory, at(&mut [100u64, 4096, 0])]);
        hip.ok("hipMemset", &[buffer, 7, 4096]);
        hip.ok("hipDeviceSynchronize", &[]);
        is_in_file(kept, 98, &[0, 0, 7, 7]);
        let mut out = 0u64;
        hip.rows(&[
            (name, &[at(&mut out), memory, at(&mut [(1u64 << 20) - 8, 16, 0])], INVALID_VALUE),
            (name, &[at(&mut out), memory, at(&mut [u64::MAX, 16, 0])], INVALID_VALUE),
            (name, &[at(&mut out), memory, at(&mut [0u64, 16, 1])], INVALID_VALUE),
            (name, &[at(&mut out), memory, 0], INVALID_VALUE),
            ("hipDestroyExternalMemory", &[memory], OK),
            ("hipDestroyExternalMemory", &[memory], INVALID_VALUE),
            (name, &[at(&mut out), memory, at(&mut [0u64, 16, 0])], INVALID_VALUE),
            // A buffer outlives the handle.
            ("hipMemset", &[buffer, 8, 16], OK),
            ("hipFree", &[buffer], OK),
            ("hipFree", &[buffer], INVALID_VALUE),
        ]);
        is_in_file(kept, 100, &[8; 16]);
    }
}

/// AMD's header declares the function, but its library for Linux does not export it.
#[test]
fn images_in_memory_files_are_mapped() {
    let hip = Hip::open(6);
    let fd = file(1 << 16);
    let kept = again(fd);
    let memory = hip.made("hipImportExternalMemory", &[at(&mut memory_of(fd, 1 << 16))]);
    // `hipExternalMemoryMipmappedArrayDesc`: offset, 32-bit unsigned integers, extent, flags and levels.
    let image = |offset: u64, [width, height]: [u64; 2], flags: u64, levels: u64| {
        [offset, 32, 0, 1, width, height, 0, flags | levels << 32]
    };
    let name = "hipExternalMemoryGetMappedMipmappedArray";
    let mipmap = hip.made(name, &[memory, at(&mut image(256, [16, 8], 0, 2))]);
    let mut out = 0u64;
    for mut wrong in [
        image(0, [16, 8], 0, 0),
        image(0, [16, 8], 0, 6),
        image(0, [0, 8], 0, 1),
        image(0, [128, 129], 0, 1),
        image((1 << 16) - 4, [16, 8], 0, 1),
        image(0, [16, 8], 0x40, 1),
    ] {
        assert_eq!(hip.call(name, &[at(&mut out), memory, at(&mut wrong)]), INVALID_VALUE, "{wrong:?}");
    }
    hip.ok("hipDestroyExternalMemory", &[memory]);
    // The levels follow one another in the file.
    let mut start = 256;
    for (level, [width, height]) in [[16u64, 8], [8, 4]].into_iter().enumerate() {
        let array = hip.made("hipGetMipmappedArrayLevel", &[mipmap, level as u64]);
        let mut values: Vec<u8> = (0..width * height * 4).map(|i| i as u8 ^ level as u8).collect();
        let row = width * 4;
        hip.ok("hipMemcpy2DToArray", &[array, 0, 0, at(&mut values[..]), row, row, height, TO_DEVICE]);
        is_in_file(kept, start, &values);
        start += values.len() as i64;
    }
    hip.ok("hipFreeMipmappedArray", &[mipmap]);
}

/// A binary and a timeline semaphore, and descriptors of what is behind them.
fn two_semaphores(hip: &Hip) -> ([u64; 2], RawFd, RawFd) {
    // SAFETY: the descriptor is new.
    let (event, timeline) = (unsafe { libc::eventfd(0, 0) }, file(4096));
    let made = |kind, fd| hip.made("hipImportExternalSemaphore", &[at(&mut semaphore_of(kind, fd))]);
    ([made(1, again(event)), made(9, again(timeline))], event, timeline)
}

/// The words of the parameters of one semaphore: HIP 6 has added a field.
fn words(front: u32) -> usize {
    if front == 5 { 17 } else { 18 }
}

#[test]
fn semaphores_order_streams() {
    for number in [5, 6, 7] {
        let hip = Hip::open(number);
        let (mut both, event, timeline) = two_semaphores(&hip);
        let stream = || hip.made("hipStreamCreateWithFlags", &[1]);
        let (waits, signals) = (stream(), stream());
        let step = words(number);
        let mut uses = vec![0u64; 2 * step];
        uses[step] = 5;
        let (list, asked) = (at(&mut both), at(&mut uses[..]));
        let second = asked + 8 * step as u64;
        let (wait, signal) = ("hipWaitExternalSemaphoresAsync", "hipSignalExternalSemaphoresAsync");
        hip.rows(&[
            (wait, &[list, asked, 2, waits], OK),
            (signal, &[list, asked, 1, signals], OK),
            ("hipStreamSynchronize", &[signals], OK),
            ("hipStreamQuery", &[waits], NOT_READY),
            (signal, &[list + 8, second, 1, signals], OK),
            ("hipStreamSynchronize", &[waits], OK),
        ]);
        is_in_file(timeline, 0, &5u64.to_ne_bytes());
        // The other side's signal.
        hip.ok(wait, &[list, asked, 1, waits]);
        // SAFETY: eight bytes.
        assert_eq!(unsafe { libc::write(event, (&raw const uses[step]).cast(), 8) }, 8);
        hip.ok("hipStreamSynchronize", &[waits]);
        let mut flagged = vec![0u64; step];
        flagged[step - 9] = 1;
        hip.rows(&[
            (signal, &[list, at(&mut flagged[..]), 1, signals], INVALID_VALUE),
            (wait, &[list, at(&mut flagged[..]), 1, waits], INVALID_VALUE),
            (wait, &[list, asked, 0, waits], OK),
            ("hipDestroyExternalSemaphore", &[both[1]], OK),
            ("hipDestroyExternalSemaphore", &[both[1]], INVALID_VALUE),
            (signal, &[list + 8, second, 1, signals], INVALID_VALUE),
            ("hipStreamDestroy", &[waits], OK),
            ("hipStreamDestroy", &[signals], OK),
        ]);
    }
}

#[test]
fn semaphores_are_nodes_of_graphs() {
    const SIGNAL: u32 = 8;
    const WAIT: u32 = 9;
    for number in [5, 6, 7] {
        let hip = Hip::open(number);
        let (mut both, _event, timeline) = two_semaphores(&hip);
        let step = words(number);
        let value_of = |value: u64| {
            let mut uses = vec![0u64; step];
            uses[0] = value;
            uses
        };
        let (mut five, mut six) = (value_of(5), value_of(6));
        let list = at(&mut both) + 8;
        // `hipExternalSemaphoreSignalNodeParams`: semaphores, parameters, number.
        let (mut to_five, mut to_six) = ([list, at(&mut five[..]), 1], [list, at(&mut six[..]), 1]);
        let graph = hip.made("hipGraphCreate", &[0]);
        let name = "hipGraphAddExternalSemaphoresSignalNode";
        let signal = hip.made(name, &[graph, 0, 0, at(&mut to_five)]);
        let mut after = signal;
        let name = "hipGraphAddExternalSemaphoresWaitNode";
        let wait = hip.made(name, &[graph, at(&mut after), 1, at(&mut to_five)]);
        for (node, kind) in [(signal, SIGNAL), (wait, WAIT)] {
            let mut seen = 0u32;
            hip.ok("hipGraphNodeGetType", &[node, at(&mut seen)]);
            assert_eq!(seen, kind);
        }
        let mut got = [0u64; 3];
        let (get_signal, get_wait) =
            ("hipGraphExternalSemaphoresSignalNodeGetParams", "hipGraphExternalSemaphoresWaitNodeGetParams");
        hip.rows(&[
            (get_signal, &[wait, at(&mut got)], INVALID_VALUE),
            (get_wait, &[signal, at(&mut got)], INVALID_VALUE),
            ("hipGraphExternalSemaphoresSignalNodeSetParams", &[wait, at(&mut to_six)], INVALID_VALUE),
            ("hipGraphExternalSemaphoresWaitNodeSetParams", &[wait, at(&mut to_six)], OK),
            (get_wait, &[wait, at(&mut got)], OK),
        ]);
        // SAFETY: valid until the node is changed: one semaphore, and the words of its parameters.
        let words = unsafe { std::slice::from_raw_parts(got[1] as *const u64, step) };
        // SAFETY: as above.
        assert_eq!((unsafe { *(got[0] as *const u64) }, words[0], got[2] as u32), (both[1], 6, 1));
        assert!(words[1..].iter().all(|word| *word == 0));
        // The wait is for 6, and so must the signal be.
        let exec = hip.made("hipGraphInstantiate", &[graph, 0, 0, 0]);
        let set = "hipGraphExecExternalSemaphoresSignalNodeSetParams";
        hip.rows(&[
            (set, &[exec, wait, at(&mut to_six)], INVALID_VALUE),
            (set, &[exec, signal, 0], INVALID_VALUE),
            (set, &[exec, signal, at(&mut to_six)], OK),
            (
                "hipGraphExecExternalSemaphoresWaitNodeSetParams",
                &[exec, signal, at(&mut to_six)],
                INVALID_VALUE,
            ),
            ("hipGraphExecExternalSemaphoresWaitNodeSetParams", &[exec, wait, at(&mut to_six)], OK),
            ("hipGraphLaunch", &[exec, 0], OK),
            ("hipStreamSynchronize", &[0], OK),
            ("hipGraphExecDestroy", &[exec], OK),
            ("hipGraphDestroy", &[graph], OK),
        ]);
        is_in_file(timeline, 0, &6u64.to_ne_bytes());
        // A capture makes the same nodes.
        let stream = hip.made("hipStreamCreateWithFlags", &[1]);
        let mut seven = value_of(7);
        hip.ok("hipStreamBeginCapture", &[stream, 0]);
        hip.ok("hipSignalExternalSemaphoresAsync", &[list, at(&mut seven[..]), 1, stream]);
        let (mut graph, mut node, mut count, mut kind) = (0u64, 0u64, 1u64, 0u32);
        hip.ok("hipStreamEndCapture", &[stream, at(&mut graph)]);
        hip.ok("hipGraphGetNodes", &[graph, at(&mut node), at(&mut count)]);
        hip.ok("hipGraphNodeGetType", &[node, at(&mut kind)]);
        assert_eq!((count, kind), (1, SIGNAL));
        hip.ok(get_signal, &[node, at(&mut got)]);
        // SAFETY: as above.
        assert_eq!(unsafe { *(got[1] as *const u64) }, 7);
        hip.rows(&[("hipGraphDestroy", &[graph], OK), ("hipStreamDestroy", &[stream], OK)]);
    }
}

/// The other process's use of a pool: it reads two words and writes them.
fn use_the_pool_of(parent: &str) {
    let hip = Hip::open(6);
    hip.ok("hipSetDevice", &[0]);
    let mut numbers: Vec<u64> = parent.split(' ').map(|number| number.parse().expect("a number")).collect();
    let path = format!("/proc/{}/fd/{}", numbers[0], numbers[1]);
    let file = std::fs::File::options().read(true).write(true).open(path).expect("the owner's descriptor");
    let none = std::fs::File::open("/dev/null").expect("a file");
    let mut out = 0u64;
    let import = "hipMemPoolImportFromShareableHandle";
    assert_eq!(hip.call(import, &[at(&mut out), none.as_raw_fd() as u64, 1, 0]), OUT_OF_MEMORY);
    let pool = hip.made(import, &[file.as_raw_fd() as u64, 1, 0]);
    let data = at(&mut numbers[2..]);
    let foreign = data + 64;
    assert_eq!(hip.call("hipMemPoolImportPointer", &[at(&mut out), pool, foreign]), OUT_OF_MEMORY);
    let address = hip.made("hipMemPoolImportPointer", &[pool, data]);
    let mut words = [0u32; 2];
    hip.ok("hipMemcpy", &[at(&mut words), address, 8, TO_HOST]);
    assert_eq!(words, [1, 2]);
    hip.ok("hipMemcpy", &[address, at(&mut [9u32]), 4, TO_DEVICE]);
    // An address inside the same allocation, which is freed by it, too.
    let inner = hip.made("hipMemPoolImportPointer", &[pool, foreign + 64]);
    assert_eq!(inner, address + 4);
    assert_eq!(hip.call("hipFreeAsync", &[address + 8, 0]), INVALID_VALUE);
    hip.rows(&[
        ("hipFreeAsync", &[inner, 0], OK),
        ("hipFreeAsync", &[address, 0], OK),
        ("hipStreamSynchronize", &[0], OK),
        ("hipMemPoolDestroy", &[pool], OK),
    ]);
}

#[test]
fn pools_are_shared_with_other_processes() {
    const PARENT: &str = "ANYWARP_TEST_PARENT";
    if let Ok(parent) = std::env::var(PARENT) {
        return use_the_pool_of(&parent);
    }
    let hip = Hip::open(6);
    hip.ok("hipSetDevice", &[0]);
    // `hipMemPoolProps`: type and handle types, location.
    let mut properties = [0u64; 11];
    properties[0] = 1 | 1 << 32;
    properties[1] = 1;
    let export = |pool: u64| {
        let address = hip.made("hipMallocFromPoolAsync", &[64, pool, 0]);
        let mut data = [0u64; 8];
        hip.ok("hipMemPoolExportPointer", &[at(&mut data), address]);
        (address, data)
    };
    let pool = hip.made("hipMemPoolCreate", &[at(&mut properties)]);
    let other = hip.made("hipMemPoolCreate", &[at(&mut properties)]);
    let mut descriptor = -1i32;
    hip.ok("hipMemPoolExportToShareableHandle", &[at(&mut descriptor), pool, 1, 0]);
    let (address, data) = export(pool);
    let (elsewhere, foreign) = export(other);
    hip.ok("hipMemcpy", &[address, at(&mut [1u32, 2]), 8, TO_DEVICE]);
    let mut inner = [0u64; 8];
    hip.ok("hipMemPoolExportPointer", &[at(&mut inner), address + 4]);
    let numbers = [u64::from(std::process::id()), descriptor as u64];
    let numbers = numbers.into_iter().chain(data).chain(foreign).chain(inner);
    let numbers: Vec<String> = numbers.map(|number| number.to_string()).collect();
    let child = std::process::Command::new(std::env::current_exe().expect("the test's own path"))
        .args(["pools_are_shared_with_other_processes", "--exact", "--nocapture"])
        .envs([(PARENT, numbers.join(" ")), ("ANYWARP_CACHE_DIR", "off".to_string())])
        .output()
        .expect("the other process");
    assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stderr));
    let mut words = [0u32; 2];
    hip.ok("hipMemcpy", &[at(&mut words), address, 8, TO_HOST]);
    assert_eq!(words, [9, 2]);
    hip.rows(&[
        ("hipFreeAsync", &[address, 0], OK),
        ("hipFreeAsync", &[elsewhere, 0], OK),
        ("hipMemPoolDestroy", &[pool], OK),
        ("hipMemPoolDestroy", &[other], OK),
    ]);
    // SAFETY: the descriptor is this test's.
    assert_eq!(unsafe { libc::close(descriptor) }, 0);
}

#[test]
fn the_first_valid_device_is_the_threads() {
    let hip = Hip::open(7);
    let device = || hip.made("hipGetDevice", &[]) as u32;
    let prefer = |device: i32| hip.ok("hipSetValidDevices", &[at(&mut [device]), 1]);
    std::thread::scope(|scope| {
        // Without a context.
        scope.spawn(|| {
            assert_eq!(device(), 0);
            prefer(1);
            assert_eq!(device(), 1);
            let memory = hip.made("hipMalloc", &[64]);
            let mut on = -1i32;
            // `HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL`
            hip.ok("hipPointerGetAttribute", &[at(&mut on), 9, memory]);
            assert_eq!(on, 1);
            hip.ok("hipFree", &[memory]);
            // With one.
            prefer(0);
            assert_eq!(device(), 0);
            // hipSetDevice has the last word, even if it fails.
            prefer(1);
            assert_eq!(hip.call("hipSetDevice", &[7]), 101);
            prefer(0);
            assert_eq!(device(), 1);
        });
        scope.spawn(|| {
            hip.ok("hipSetDevice", &[0]);
            prefer(1);
            assert_eq!(device(), 0);
        });
    });
}
