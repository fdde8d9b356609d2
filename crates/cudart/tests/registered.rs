//! Fat binaries as `__cudaRegisterFatBinary` may be given them: broken in many ways, and loaded eagerly.

mod library;

use std::ffi::c_void;
use std::process::Command;
use std::ptr::{from_ref, null, null_mut};
use std::sync::atomic::{AtomicU64, Ordering};

use libloading::Library;

type Register = unsafe extern "C" fn(*const c_void) -> *mut c_void;
type End = unsafe extern "C" fn(*mut c_void);
type Init = unsafe extern "C" fn(*mut c_void) -> u8;
type Function =
    unsafe extern "C" fn(*mut c_void, *const c_void, *const c_void, *const u8, i32, u64, u64, u64, u64, u64);
type Variable =
    unsafe extern "C" fn(*mut c_void, *const c_void, *const c_void, *const u8, i32, usize, i32, i32);
type Launch = unsafe extern "C" fn(*const c_void, Dim, Dim, *const c_void, usize, u64) -> u32;

/// `dim3`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Dim(u32, u32, u32);

const ONE: Dim = Dim(1, 1, 1);
type Malloc = unsafe extern "C" fn(*mut *mut c_void, usize) -> u32;

const WRAPPER: u64 = 0x4662_43b1;
const FATBIN: u32 = 0xba55_ed50;
const PTX: &str = ".version 7.0\n.target sm_70\n.address_size 64\n\
    .visible .global .attribute(.managed) .align 4 .u32 shared = 7;\n.visible .entry kernel() { ret; }\n\0";

/// Runs a test in a process of its own with this variable.
fn alone(name: &str, variable: (&str, &str), test: impl FnOnce(&Library)) -> String {
    const CHILD: &str = "ANYWARP_TEST_CHILD";
    if std::env::var(CHILD).as_deref() == Ok(name) {
        // SAFETY: the front's initialiser opens the library beside it, whose initialisers do nothing.
        test(&unsafe { Library::new(library::front(13)) }.expect("the front"));
        std::process::exit(0);
    }
    let mut command = Command::new(std::env::current_exe().expect("the test's own path"));
    command.args([name, "--exact", "--nocapture", "--test-threads=1"]).env(CHILD, name);
    let output = command
        .env("ANYWARP_CACHE_DIR", "off")
        .env(variable.0, variable.1)
        .output()
        .expect("the test's own process");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{}\n{errors}", output.status);
    errors
}

/// A fat binary with one entry. The fields of its headers by which a loader finds its way are given.
fn fatbin(
    size: u64,
    kind: u16,
    header: u32,
    payload: u32,
    packed: u32,
    flags: u64,
    unpacked: u64,
) -> Vec<u8> {
    let mut bytes = FATBIN.to_le_bytes().to_vec();
    bytes.extend([1, 0, 16, 0]);
    bytes.extend(size.to_le_bytes());
    bytes.extend(kind.to_le_bytes());
    bytes.extend(0x101u16.to_le_bytes());
    bytes.extend(header.to_le_bytes());
    bytes.extend(payload.to_le_bytes());
    bytes.extend([0; 4]);
    bytes.extend(packed.to_le_bytes());
    bytes.extend([0; 4]);
    bytes.extend(0x0007_0000u32.to_le_bytes());
    bytes.extend(70u32.to_le_bytes());
    bytes.extend([0; 8]);
    bytes.extend(flags.to_le_bytes());
    bytes.extend([0; 8]);
    bytes.extend(unpacked.to_le_bytes());
    bytes.resize(16 + 64, 0);
    bytes.extend(PTX.bytes());
    bytes.resize(16 + 64 + PTX.len().next_multiple_of(8), 0);
    bytes
}

/// The fields of a valid one.
fn valid() -> (u64, u32) {
    let padded = PTX.len().next_multiple_of(8);
    (64 + padded as u64, padded as u32)
}

/// Leaks a wrapper, since registered code must live as long as the process.
fn wrapper(version: u64, data: u64, list: u64) -> *const c_void {
    Box::leak(Box::new([WRAPPER | version << 32, data, list])).as_ptr().cast()
}

fn leaked(bytes: Vec<u8>) -> u64 {
    bytes.leak().as_ptr() as u64
}

/// Registers a wrapper with a kernel; returns the handle and what a launch, and one after the code is gone,
/// give.
fn tried(runtime: &Library, wrapper: *const c_void) -> (u32, u32) {
    let stub: *const c_void = from_ref(Box::leak(Box::new([0u8; 16]))).cast();
    // SAFETY: the functions have these signatures; what they are given stays.
    unsafe {
        let handle = runtime.get::<Register>(b"__cudaRegisterFatBinary\0").expect("a name")(wrapper);
        let function = runtime.get::<Function>(b"__cudaRegisterFunction\0").expect("a name");
        function(handle, stub, stub, c"kernel".as_ptr().cast(), -1, 0, 0, 0, 0, 0);
        runtime.get::<End>(b"__cudaRegisterFatBinaryEnd\0").expect("a name")(handle);
        let launch = runtime.get::<Launch>(b"cudaLaunchKernel\0").expect("a name");
        let first = launch(stub, ONE, ONE, null(), 0, 0);
        runtime.get::<Init>(b"__cudaInitModule\0").expect("a name")(handle);
        let unregister = runtime.get::<End>(b"__cudaUnregisterFatBinary\0").expect("a name");
        unregister(handle);
        unregister(handle);
        (first, launch(stub, ONE, ONE, null(), 0, 0))
    }
}

/// Code that a program's managed variables need and that cannot be loaded is named by its file.
#[test]
fn code_that_cannot_be_loaded_is_named_by_its_file() {
    // A wrapper in this program's data.
    static PLACE: [AtomicU64; 3] = [AtomicU64::new(WRAPPER | 1 << 32), AtomicU64::new(0), AtomicU64::new(0)];
    let told =
        alone("code_that_cannot_be_loaded_is_named_by_its_file", ("ANYWARP_LOG", "error"), |runtime| {
            let (size, payload) = valid();
            let machine_code = fatbin(size, 2, 64, payload, 0, 0x11, 0);
            PLACE[1].store(leaked(machine_code), Ordering::Relaxed);
            // SAFETY: the functions have these signatures; what they are given stays.
            unsafe {
                let register = runtime.get::<Register>(b"__cudaRegisterFatBinary\0").expect("a name");
                let handle = register(from_ref(&PLACE).cast());
                assert_eq!(runtime.get::<Init>(b"__cudaInitModule\0").expect("a name")(handle), 0);
            }
        });
    let own = std::env::current_exe().expect("the test's own path");
    let line = format!("the device code in {} cannot be loaded: no kernel image", own.display());
    assert!(told.contains(&line) && told.contains("machine code for sm_70"), "{told}");
}

/// Launches of broken code fail, a handle that is gone is none, and the next program's code works.
#[test]
fn broken_code_is_refused() {
    let _ = alone("broken_code_is_refused", ("ANYWARP_LOG", "off"), |runtime| {
        let (size, payload) = valid();
        const RAW: u64 = 0x11;
        let good = || fatbin(size, 1, 64, payload, 0, RAW, 0);
        assert_eq!(tried(runtime, wrapper(1, leaked(good()), 0)), (0, 400));
        for (what, bytes) in [
            ("a size of 0", fatbin(0, 1, 64, payload, 0, RAW, 0)),
            ("a size beyond the address space", fatbin(u64::MAX, 1, 64, payload, 0, RAW, 0)),
            ("a size beyond any text", fatbin(1 << 40, 1, 64, payload, 0, RAW, 0)),
            ("another kind", fatbin(size, 7, 64, payload, 0, RAW, 0)),
            ("machine code", fatbin(size, 2, 64, payload, 0, RAW, 0)),
            ("a header beyond the end", fatbin(size, 1, u32::MAX, payload, 0, RAW, 0)),
            ("a payload beyond the end", fatbin(size, 1, 64, u32::MAX - 7, 0, RAW, 0)),
            ("an entry without payload", fatbin(size, 1, 64, 0, 0, RAW, 0)),
            ("LZ4 of a petabyte", fatbin(size, 1, 64, payload, 64, RAW | 0x2000, 1 << 50)),
            ("zstd that is none", fatbin(size, 1, 64, payload, 64, RAW | 0x8000, 1 << 20)),
        ] {
            let (first, gone) = tried(runtime, wrapper(1, leaked(bytes), 0));
            assert!(matches!(first, 200 | 209 | 218 | 500), "{what}: {first}");
            assert_eq!(gone, 400, "{what}");
        }
        // A list of parts: none, and one that is broken beside one that is not.
        let empty = leaked(fatbin(0, 1, 64, 0, 0, RAW, 0));
        let broken = leaked(fatbin(size, 1, 64, u32::MAX - 7, 0, RAW, 0));
        let parts: &'static [u64; 3] = Box::leak(Box::new([broken, leaked(good()), 0]));
        assert_ne!(tried(runtime, wrapper(2, empty, 0)).0, 0);
        assert_eq!(tried(runtime, wrapper(2, empty, parts.as_ptr() as u64)), (0, 400));
        assert_eq!(tried(runtime, wrapper(1, leaked(good()), 0)), (0, 400));
    });
}

/// A kernel whose code is for other devices alone: what an H200 answers with runtime 13.0. The launch that
/// nvcc 13 generates asks for the kernel once and launches what it got each time.
#[test]
fn code_for_other_devices_is_no_image() {
    alone("code_for_other_devices_is_no_image", ("ANYWARP_LOG", "off"), |runtime| {
        let (size, payload) = valid();
        let mut bytes = fatbin(size, 1, 64, payload, 0, 0x11, 0);
        bytes[16 + 28] = 90;
        let target = bytes.windows(5).position(|w| w == b"sm_70").expect("a target");
        bytes[target + 3] = b'9';
        let stub: *const c_void = from_ref(Box::leak(Box::new([0u8; 16]))).cast();
        let wrapper = wrapper(1, leaked(bytes), 0);
        type Get = unsafe extern "C" fn(*mut *const c_void, *const c_void) -> u32;
        type Peek = unsafe extern "C" fn() -> u32;
        type Attributes = unsafe extern "C" fn(*mut [u64; 64], *const c_void) -> u32;
        type AddNode = unsafe extern "C" fn(*mut u64, u64, *const u64, usize, *const [u64; 8]) -> u32;
        // SAFETY: the functions have these signatures; what they are given stays.
        unsafe {
            let handle = runtime.get::<Register>(b"__cudaRegisterFatBinary\0").expect("a name")(wrapper);
            let function = runtime.get::<Function>(b"__cudaRegisterFunction\0").expect("a name");
            function(handle, stub, stub, c"kernel".as_ptr().cast(), -1, 0, 0, 0, 0, 0);
            runtime.get::<End>(b"__cudaRegisterFatBinaryEnd\0").expect("a name")(handle);
            let last = runtime.get::<Peek>(b"cudaGetLastError\0").expect("a name");
            let launch = runtime.get::<Launch>(b"__cudaLaunchKernel\0").expect("a name");
            let mut kernel = null();
            runtime.get::<Get>(b"__cudaGetKernel\0").expect("a name")(&mut kernel, stub);
            for grid in [ONE, ONE, Dim(0, 1, 1)] {
                assert_eq!((launch(kernel, grid, ONE, null(), 0, 0), last()), (209, 209));
            }
            let launch = runtime.get::<Launch>(b"cudaLaunchKernel\0").expect("a name");
            assert_eq!(launch(stub, ONE, ONE, null(), 0, 0), 209);
            assert_eq!(launch(null(), ONE, ONE, null(), 0, 0), 98);
            let attributes = runtime.get::<Attributes>(b"cudaFuncGetAttributes\0").expect("a name");
            assert_eq!(attributes(&mut [0; 64], stub), 209);
            let get = runtime.get::<Get>(b"cudaGetKernel\0").expect("a name");
            let mut kept: *const c_void = stub.wrapping_byte_add(1);
            assert_eq!((get(&mut kept, stub), kept), (209, stub.wrapping_byte_add(1)));
            let mut graph = 0;
            let create = runtime.get::<unsafe extern "C" fn(*mut u64, u32) -> u32>(b"cudaGraphCreate\0");
            assert_eq!(create.expect("a name")(&mut graph, 0), 0);
            let one = u64::from(1u32) << 32 | 1;
            let params = [stub as u64, one, one, one, 0, 0, 0, 0];
            let add = runtime.get::<AddNode>(b"cudaGraphAddKernelNode\0").expect("a name");
            assert_eq!(add(&mut 0, graph, null(), 0, &params), 400);
        }
    });
}

/// What stands for the host's pointer to a managed variable.
static mut SHARED: *mut u32 = null_mut();

fn managed_after_the_first_call(runtime: &Library) -> bool {
    let (size, payload) = valid();
    let wrapper = wrapper(1, leaked(fatbin(size, 1, 64, payload, 0, 0x11, 0)), 0);
    // SAFETY: as above; nothing else uses the pointer.
    unsafe {
        let handle = runtime.get::<Register>(b"__cudaRegisterFatBinary\0").expect("a name")(wrapper);
        let managed = runtime.get::<Variable>(b"__cudaRegisterManagedVar\0").expect("a name");
        let pointer = (&raw const SHARED).cast();
        managed(handle, pointer, pointer, c"shared".as_ptr().cast(), 0, 4, 0, 0);
        runtime.get::<End>(b"__cudaRegisterFatBinaryEnd\0").expect("a name")(handle);
        assert!(SHARED.is_null(), "there is no context yet");
        let mut memory = null_mut();
        assert_eq!(runtime.get::<Malloc>(b"cudaMalloc\0").expect("a name")(&mut memory, 4), 0);
        !SHARED.is_null() && *SHARED == 7
    }
}

/// `CUDA_MODULE_LOADING=EAGER` loads registered code with the context; otherwise its first use does.
#[test]
fn code_is_loaded_eagerly_if_asked_for() {
    alone("code_is_loaded_eagerly_if_asked_for", ("CUDA_MODULE_LOADING", "EAGER"), |runtime| {
        assert!(managed_after_the_first_call(runtime));
    });
}

#[test]
fn code_is_loaded_lazily_by_default() {
    alone("code_is_loaded_lazily_by_default", ("CUDA_MODULE_LOADING", "DEFAULT"), |runtime| {
        assert!(!managed_after_the_first_call(runtime));
    });
}
