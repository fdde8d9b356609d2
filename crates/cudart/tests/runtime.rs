//! The runtime's functions through `libcudart.so.13`, called as nvcc's code calls them: code is registered as
//! a fat binary with PTX, kernels and variables by the addresses of things on the host.

mod library;

use std::ffi::c_void;
use std::ptr::{from_mut, from_ref, null, null_mut};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use libloading::Library;

const PTX: &str = "\
.version 7.0
.target sm_70
.address_size 64
.visible .const .align 4 .u32 factor = 3;
.visible .global .align 4 .u32 launches;
.visible .global .attribute(.managed) .align 4 .u32 shared = 7;
.visible .entry times(.param .u64 p, .param .u32 n) {
  .reg .pred %p; .reg .b32 %r<6>; .reg .b64 %d<4>;
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r1, %r1, %r2, %r3;
  ld.param.u32 %r2, [n]; setp.ge.u32 %p, %r1, %r2; @%p bra end;
  ld.param.u64 %d1, [p]; mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2;
  ld.const.u32 %r3, [factor]; ld.global.u32 %r4, [%d1]; mul.lo.u32 %r4, %r4, %r3; st.global.u32 [%d1], %r4;
  atom.global.add.u32 %r5, [launches], 1;
  ld.global.u32 %r5, [shared]; add.u32 %r5, %r5, 1; st.global.u32 [shared], %r5;
end: ret; }
.visible .entry faults() { .reg .b64 %d; mov.u64 %d, 8; st.global.u32 [%d], 0; ret; }
";

/// `dim3`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Dim(u32, u32, u32);

const ONE: Dim = Dim(1, 1, 1);

fn runtime() -> &'static Library {
    static RUNTIME: OnceLock<Library> = OnceLock::new();
    // SAFETY: the front's initialiser opens the library beside it, whose initialisers do nothing.
    RUNTIME.get_or_init(|| unsafe { Library::new(library::front(13)) }.expect("the front"))
}

/// Calls a function of the runtime, or of another library.
macro_rules! call {
    ($name:ident($($arg:expr => $type:ty),* $(,)?)) => { call!(runtime(), $name($($arg => $type),*)) };
    ($library:expr, $name:ident($($arg:expr => $type:ty),* $(,)?)) => {{
        type Function = unsafe extern "C" fn($($type),*) -> u32;
        let name = concat!(stringify!($name), "\0");
        // SAFETY: the function has this signature in the header; its pointers are valid during the call.
        unsafe { $library.get::<Function>(name.as_bytes()).expect("a name")($($arg),*) }
    }};
}

/// What stands for the host's side of the kernels and variables.
static TIMES: u8 = 0;
static FAULTS: u8 = 1;
static MISSING: u8 = 2;
static UNKNOWN: u8 = 3;
static mut FACTOR: u32 = 0;
static mut LAUNCHES: u32 = 0;
static mut SHARED: *mut u32 = null_mut();

fn stub(of: &'static u8) -> *const c_void {
    from_ref(of).cast()
}

fn factor() -> *const c_void {
    (&raw const FACTOR).cast()
}

fn launches() -> *const c_void {
    (&raw const LAUNCHES).cast()
}

/// `__fatBinC_Wrapper_t` and the fat binary behind it, which live as long as the process.
fn wrapper() -> *const c_void {
    let text = format!("{PTX}\0");
    let mut entry = Vec::new();
    entry.extend(1u16.to_le_bytes());
    entry.extend(0x101u16.to_le_bytes());
    entry.extend(64u32.to_le_bytes());
    let padded = text.len().next_multiple_of(8);
    entry.extend((padded as u64).to_le_bytes());
    entry.extend([0; 8]);
    entry.extend(0x0007_0000u32.to_le_bytes());
    entry.extend(70u32.to_le_bytes());
    entry.extend([0; 8]);
    entry.extend(0x11u64.to_le_bytes());
    entry.resize(64, 0);
    entry.extend(text.bytes());
    entry.resize(64 + padded, 0);
    let mut binary = 0xba55_ed50u32.to_le_bytes().to_vec();
    binary.extend([1, 0, 16, 0]);
    binary.extend((entry.len() as u64).to_le_bytes());
    binary.extend(entry);
    let binary = binary.leak().as_ptr() as u64;
    let wrapper = [0x4662_43b1 | 1 << 32, binary, 0];
    Box::leak(Box::new(wrapper)).as_ptr().cast()
}

/// Registers the code as a program's constructors do.
fn register() {
    type Register = unsafe extern "C" fn(*const c_void) -> *mut c_void;
    type Function = unsafe extern "C" fn(
        *mut c_void,
        *const c_void,
        *const c_void,
        *const u8,
        i32,
        u64,
        u64,
        u64,
        u64,
        u64,
    );
    type Variable =
        unsafe extern "C" fn(*mut c_void, *const c_void, *const c_void, *const u8, i32, usize, i32, i32);
    type End = unsafe extern "C" fn(*mut c_void);
    type Init = unsafe extern "C" fn(*mut c_void) -> u8;
    static DONE: OnceLock<()> = OnceLock::new();
    DONE.get_or_init(|| {
        let runtime = runtime();
        // SAFETY: the functions have these signatures, and what they are given lives as long as the process.
        unsafe {
            let handle = runtime.get::<Register>(b"__cudaRegisterFatBinary\0").expect("a name")(wrapper());
            assert!(!handle.is_null());
            let function = runtime.get::<Function>(b"__cudaRegisterFunction\0").expect("a name");
            for (of, name) in [(&TIMES, "times\0"), (&FAULTS, "faults\0"), (&MISSING, "missing\0")] {
                function(handle, stub(of), stub(of), name.as_ptr(), -1, 0, 0, 0, 0, 0);
            }
            let variable = runtime.get::<Variable>(b"__cudaRegisterVar\0").expect("a name");
            variable(handle, factor(), factor(), c"factor".as_ptr().cast(), 0, 4, 1, 0);
            variable(handle, launches(), launches(), c"launches".as_ptr().cast(), 0, 4, 0, 0);
            let managed = runtime.get::<Variable>(b"__cudaRegisterManagedVar\0").expect("a name");
            let pointer = (&raw const SHARED).cast();
            managed(handle, pointer, pointer, c"shared".as_ptr().cast(), 0, 4, 0, 0);
            runtime.get::<End>(b"__cudaRegisterFatBinaryEnd\0").expect("a name")(handle);
            assert_eq!(runtime.get::<Init>(b"__cudaInitModule\0").expect("a name")(handle), 1);
        }
    });
}

/// Runs a test in a process of its own: they share devices, contexts and registered code.
fn alone(name: &str, test: impl FnOnce()) {
    if std::env::var("CUDART_TEST").is_ok_and(|v| v == name) {
        register();
        return test();
    }
    let own = std::env::current_exe().expect("the test's path");
    let mut run = std::process::Command::new(own);
    run.args([name, "--exact", "--nocapture"]).env("CUDART_TEST", name).env("ANYWARP_CACHE_DIR", "");
    let output = run.output().expect("the test starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"), "{output:?}");
}

fn device_memory(values: &[u32]) -> *mut c_void {
    let mut memory: *mut c_void = null_mut();
    assert_eq!(call!(cudaMalloc(from_mut(&mut memory) => *mut *mut c_void, 4 * values.len() => usize)), 0);
    assert_eq!(copy(memory, values.as_ptr().cast(), 4 * values.len(), 1), 0);
    memory
}

fn copy(to: *mut c_void, from: *const c_void, size: usize, kind: u32) -> u32 {
    call!(cudaMemcpy(to => *mut c_void, from => *const c_void, size => usize, kind => u32))
}

fn contents(memory: *const c_void, count: usize) -> Vec<u32> {
    let mut values = vec![0u32; count];
    assert_eq!(copy(values.as_mut_ptr().cast(), memory, 4 * count, 2), 0);
    values
}

fn launch(of: &'static u8, grid: Dim, block: Dim, memory: *mut c_void, count: u32) -> u32 {
    let mut args = [from_ref(&memory).cast::<c_void>(), from_ref(&count).cast()];
    call!(cudaLaunchKernel(
        stub(of) => *const c_void, grid => Dim, block => Dim, args.as_mut_ptr() => *mut *const c_void,
        0 => usize, null_mut() => *mut c_void,
    ))
}

fn last_error() -> u32 {
    call!(cudaGetLastError())
}

fn symbol(to: &mut u32, of: *const c_void) -> u32 {
    call!(cudaMemcpyFromSymbol(
        from_mut(to) => *mut u32, of => *const c_void, 4 => usize, 0 => usize, 2 => u32,
    ))
}

const INVALID_VALUE: u32 = 1;
const SYMBOL_NOT_FOUND: u32 = 500;
const INVALID_SYMBOL: u32 = 13;
const INVALID_DIRECTION: u32 = 21;
const MISSING_CONFIGURATION: u32 = 52;
const INVALID_DEVICE: u32 = 101;
const INVALID_HANDLE: u32 = 400;
const NOT_READY: u32 = 600;
const ILLEGAL_ADDRESS: u32 = 700;
const NOT_SUPPORTED: u32 = 801;

#[test]
fn both_protocols_launch_and_variables_are_shared() {
    alone("both_protocols_launch_and_variables_are_shared", || {
        let memory = device_memory(&[1, 2, 3, 4]);
        assert_eq!(launch(&TIMES, ONE, Dim(4, 1, 1), memory, 4), 0);
        assert_eq!(contents(memory, 4), [3, 6, 9, 12]);
        let five = 5u32;
        let set = call!(cudaMemcpyToSymbol(
            factor() => *const c_void, from_ref(&five) => *const u32, 4 => usize, 0 => usize, 1 => u32,
        ));
        assert_eq!(set, 0);
        // As the code of nvcc 13.0 does it.
        let push = call!(__cudaPushCallConfiguration(
            Dim(2, 1, 1) => Dim, Dim(2, 1, 1) => Dim, 0 => usize, null_mut() => *mut c_void,
        ));
        assert_eq!(push, 0);
        let mut kernel: *mut c_void = null_mut();
        let found =
            call!(__cudaGetKernel(from_mut(&mut kernel) => *mut *mut c_void, stub(&TIMES) => *const c_void));
        assert_eq!(found, 0);
        let (mut grid, mut block, mut shared, mut stream) = (ONE, ONE, 1usize, 1u64);
        let pop = || {
            call!(__cudaPopCallConfiguration(
                &raw mut grid => *mut Dim, &raw mut block => *mut Dim, &raw mut shared => *mut usize,
                &raw mut stream => *mut u64,
            ))
        };
        let mut pop = pop;
        assert_eq!([pop(), pop()], [0, MISSING_CONFIGURATION]);
        assert_eq!((grid.0, block.0, shared, stream), (2, 2, 0, 0));
        let count = 3u32;
        let mut args = [from_ref(&memory).cast::<c_void>(), from_ref(&count).cast()];
        let done = call!(__cudaLaunchKernel(
            kernel => *mut c_void, grid => Dim, block => Dim, args.as_mut_ptr() => *mut *const c_void,
            shared => usize, stream => u64,
        ));
        assert_eq!(done, 0);
        assert_eq!(contents(memory, 4), [15, 30, 45, 12]);
        let mut value = 0;
        assert_eq!(symbol(&mut value, launches()), 0);
        assert_eq!(value, 7);
        // SAFETY: registration has set the pointer to managed memory, and no kernel runs.
        let managed = unsafe { *SHARED };
        assert!(
            (9..=14).contains(&managed),
            "7 and one for each warp, or one for each lane that won: {managed}"
        );
        let mut size = 0usize;
        let asked = call!(cudaGetSymbolSize(from_mut(&mut size) => *mut usize, factor() => *const c_void));
        assert_eq!((asked, size), (0, 4));
    });
}

#[test]
fn errors_are_the_runtimes() {
    alone("errors_are_the_runtimes", || {
        let memory = device_memory(&[1]);
        assert_eq!(launch(&TIMES, ONE, Dim(2048, 1, 1), memory, 1), INVALID_VALUE);
        assert_eq!(call!(cudaPeekAtLastError()), INVALID_VALUE);
        assert_eq!(
            call!(cudaDeviceSynchronize()),
            0,
            "not sticky, and success does not reset the last error"
        );
        assert_eq!([last_error(), last_error()], [INVALID_VALUE, 0]);
        assert_eq!(launch(&TIMES, Dim(0, 1, 1), ONE, memory, 1), INVALID_VALUE);
        assert_eq!(launch(&UNKNOWN, ONE, ONE, memory, 1), INVALID_HANDLE);
        assert_eq!(launch(&MISSING, ONE, ONE, memory, 1), SYMBOL_NOT_FOUND);
        let mut value = 0;
        assert_eq!(symbol(&mut value, stub(&UNKNOWN)), INVALID_SYMBOL);
        assert_eq!(copy(memory, from_ref(&value).cast(), 4, 5), INVALID_DIRECTION);
        assert_eq!(copy(memory, null(), 4, 1), INVALID_VALUE);
        assert_eq!(copy(null_mut(), null(), 0, 1), 0, "nothing to copy");
        assert_eq!(call!(cudaSetDevice(99 => i32)), INVALID_DEVICE);
        assert_eq!(call!(cudaStreamSynchronize(0x1234_5670 => u64)), INVALID_HANDLE);
        assert_eq!(call!(cudaMalloc(null_mut() => *mut u64, 4 => usize)), INVALID_VALUE);
        assert_eq!(call!(cudaGLSetGLDevice(0 => i32)), NOT_SUPPORTED);
        assert_eq!(last_error(), NOT_SUPPORTED);
        // The error belongs to the thread.
        assert_eq!(call!(cudaSetDevice(99 => i32)), INVALID_DEVICE);
        assert_eq!(std::thread::spawn(last_error).join().expect("the thread"), 0);
        assert_eq!(last_error(), INVALID_DEVICE);
    });
}

#[test]
fn a_fault_stays_until_the_device_is_reset() {
    alone("a_fault_stays_until_the_device_is_reset", || {
        let memory = device_memory(&[1]);
        assert_eq!(launch(&FAULTS, ONE, ONE, memory, 1), 0);
        assert_eq!(call!(cudaDeviceSynchronize()), ILLEGAL_ADDRESS);
        assert_eq!(last_error(), ILLEGAL_ADDRESS);
        assert_eq!(launch(&TIMES, ONE, ONE, memory, 1), ILLEGAL_ADDRESS);
        assert_eq!(call!(cudaDeviceReset()), 0);
        last_error();
        let memory = device_memory(&[14]);
        assert_eq!(launch(&TIMES, ONE, ONE, memory, 1), 0);
        assert_eq!(contents(memory, 1), [42]);
        assert_eq!(last_error(), 0);
    });
}

#[test]
fn streams_events_and_graphs_are_the_drivers() {
    alone("streams_events_and_graphs_are_the_drivers", || {
        // SAFETY: as in `runtime`.
        let driver = unsafe { Library::new(library::folder().join("libcuda.so.1")) }.expect("the driver");
        let (mut stream, mut event, mut graph, mut exec) = (0u64, 0u64, 0u64, 0u64);
        assert_eq!(call!(cudaStreamCreateWithFlags(from_mut(&mut stream) => *mut u64, 1 => u32)), 0);
        assert_eq!(call!(cudaEventCreate(from_mut(&mut event) => *mut u64)), 0);
        let memory = device_memory(&[1, 1]);
        assert_eq!(call!(cudaStreamBeginCapture(stream => u64, 0 => u32)), 0);
        let (count, mut kernel) = (2u32, 0u64);
        let mut args = [from_ref(&memory).cast::<c_void>(), from_ref(&count).cast()];
        for _ in 0..2 {
            let launched = call!(cudaLaunchKernel(
                stub(&TIMES) => *const c_void, ONE => Dim, Dim(2, 1, 1) => Dim,
                args.as_mut_ptr() => *mut *const c_void, 0 => usize, stream => u64,
            ));
            assert_eq!(launched, 0);
        }
        assert_eq!(call!(cudaStreamEndCapture(stream => u64, from_mut(&mut graph) => *mut u64)), 0);
        let mut nodes = 0usize;
        let counted = call!(driver, cuGraphGetNodes(graph => u64, null_mut() => *mut u64, &raw mut nodes => *mut usize));
        assert_eq!((counted, nodes), (0, 2), "the driver knows the graph");
        let mut node = [0u64; 2];
        call!(cudaGraphGetNodes(graph => u64, node.as_mut_ptr() => *mut u64, &raw mut nodes => *mut usize));
        // cudaKernelNodeParams: the first word is what the program named.
        let mut params = [0u64; 7];
        assert_eq!(call!(cudaGraphKernelNodeGetParams(node[0] => u64, params.as_mut_ptr() => *mut u64)), 0);
        assert_eq!(params[0], stub(&TIMES) as u64);
        assert_eq!(call!(cudaGraphInstantiate(from_mut(&mut exec) => *mut u64, graph => u64, 0 => u64)), 0);
        assert_eq!(call!(cudaGraphLaunch(exec => u64, stream => u64)), 0);
        assert_eq!(call!(cudaEventRecord(event => u64, stream => u64)), 0);
        assert_eq!(call!(driver, cuEventSynchronize(event => u64)), 0);
        assert!(matches!(call!(driver, cuStreamQuery(stream => u64)), 0 | NOT_READY));
        assert_eq!(call!(cudaStreamSynchronize(stream => u64)), 0);
        assert_eq!(contents(memory, 2), [9, 9]);
        // A program that captures into its own graph needs no pointer to it.
        let (mut own, none) = (0u64, null_mut::<u64>());
        assert_eq!(call!(cudaGraphCreate(from_mut(&mut own) => *mut u64, 0 => u32)), 0);
        let begun = call!(cudaStreamBeginCaptureToGraph(
            stream => u64, own => u64, none => *mut u64, none => *mut u64, 0 => usize, 0 => u32,
        ));
        assert_eq!(begun, 0);
        assert_eq!(call!(cudaMemsetAsync(memory => *mut c_void, 0 => i32, 8 => usize, stream => u64)), 0);
        assert_eq!(call!(cudaStreamEndCapture(stream => u64, none => *mut u64)), 0);
        call!(cudaGraphGetNodes(own => u64, none => *mut u64, &raw mut nodes => *mut usize));
        assert_eq!(nodes, 1);
        // A kernel's handle is one of the driver's.
        let named = call!(cudaGetKernel(from_mut(&mut kernel) => *mut u64, stub(&TIMES) => *const c_void));
        let mut name: *const u8 = null();
        assert_eq!(named, 0);
        assert_eq!(call!(driver, cuKernelGetName(from_mut(&mut name) => *mut *const u8, kernel => u64)), 0);
        // SAFETY: the driver has returned a text.
        assert_eq!(unsafe { std::ffi::CStr::from_ptr(name.cast()) }, c"times");
    });
}

/// Names that came with 13.1 and 13.2, called as their header declares them.
#[test]
fn later_functions_work() {
    alone("later_functions_work", || {
        let (mut own, mut green, mut stream, mut description) = (0u64, 0u64, 0u64, 0u64);
        let (mut whole, mut part) = ([0u32; 36], [0u32; 36]);
        let (mut count, mut device, mut id, mut own_id) = (1u32, 9, 0u64, 0u64);
        assert_eq!(call!(cudaDeviceGetExecutionCtx(&raw mut own => *mut u64, 0 => i32)), 0);
        assert_eq!(call!(cudaDeviceGetExecutionCtx(&raw mut own => *mut u64, 9 => i32)), INVALID_DEVICE);
        assert_eq!(call!(cudaDeviceGetDevResource(0 => i32, whole.as_mut_ptr() => *mut u32, 1 => u32)), 0);
        let split = call!(cudaDevSmResourceSplitByCount(
            part.as_mut_ptr() => *mut u32, &raw mut count => *mut u32, whole.as_ptr() => *const u32,
            null_mut() => *mut u32, 0 => u32, 1 => u32,
        ));
        assert_eq!((split, count), (0, 1));
        let described = call!(cudaDevResourceGenerateDesc(
            &raw mut description => *mut u64, part.as_ptr() => *const u32, 1 => u32,
        ));
        assert_eq!(described, 0);
        let create = |flags: u32, description: u64, out: *mut u64| call!(cudaGreenCtxCreate(out => *mut u64, description => u64, 0 => i32, flags => u32));
        assert_eq!(create(1, description, &raw mut green), INVALID_VALUE);
        assert_eq!(create(0, description, &raw mut green), 0);
        // The part's number of multiprocessors is the context's, and that of its streams.
        for context in [green, own] {
            let mut resource = [0u32; 36];
            let make = |flags: u32, out: *mut u64| call!(cudaExecutionCtxStreamCreate(out => *mut u64, context => u64, flags => u32, 0 => i32));
            assert_eq!(make(7, &raw mut stream), INVALID_VALUE);
            assert_eq!(make(0, &raw mut stream), 0);
            let expected = if context == green { part[24] } else { whole[24] };
            let asked = call!(cudaExecutionCtxGetDevResource(
                context => u64, resource.as_mut_ptr() => *mut u32, 1 => u32,
            ));
            assert_eq!((asked, resource[24]), (0, expected));
            let asked = call!(cudaStreamGetDevResource(
                stream => u64, resource.as_mut_ptr() => *mut u32, 1 => u32,
            ));
            assert_eq!((asked, resource[24]), (0, expected));
            assert_eq!(call!(cudaExecutionCtxGetDevice(&raw mut device => *mut i32, context => u64)), 0);
            assert_eq!(device, 0);
            // An event of the context waits for its streams, also for those that wait for no other one.
            let (mut event, mut waits, memory) = (0u64, 0u64, device_memory(&[1, 2]));
            assert_eq!(call!(cudaEventCreate(&raw mut event => *mut u64)), 0);
            assert_eq!(call!(cudaStreamCreateWithFlags(&raw mut waits => *mut u64, 1 => u32)), 0);
            static BUSY: AtomicBool = AtomicBool::new(false);
            BUSY.store(true, Ordering::Release);
            extern "C" fn busy(_data: u64) {
                while BUSY.load(Ordering::Acquire) {
                    std::thread::yield_now();
                }
            }
            let slow = call!(cudaLaunchHostFunc_v2(
                stream => u64, busy as *const () => *const (), 0 => u64, 0 => u32,
            ));
            assert_eq!(slow, 0);
            let fill = call!(cudaMemsetAsync(memory => *mut c_void, 0 => i32, 4 => usize, stream => u64));
            assert_eq!(fill, 0);
            assert_eq!(call!(cudaExecutionCtxRecordEvent(context => u64, event => u64)), 0);
            // cudaErrorNotReady does not become the last error (recorded on an H200 with CUDA 13.0).
            last_error();
            let mut time = 0f32;
            let queries = [
                call!(cudaStreamQuery(stream => u64)),
                call!(cudaEventQuery(event => u64)),
                call!(cudaEventElapsedTime(&raw mut time => *mut f32, event => u64, event => u64)),
            ];
            assert_eq!(queries, [NOT_READY; 3]);
            assert_eq!([call!(cudaPeekAtLastError()), last_error()], [0, 0]);
            assert_eq!(call!(cudaExecutionCtxWaitEvent(own => u64, event => u64)), 0);
            BUSY.store(false, Ordering::Release);
            assert_eq!(call!(cudaStreamSynchronize(waits => u64)), 0);
            assert_eq!(call!(cudaEventQuery(event => u64)), 0, "the other stream has waited");
            assert_eq!(call!(cudaExecutionCtxSynchronize(context => u64)), 0);
            assert_eq!(contents(memory, 2), [0, 2]);
        }
        assert_eq!(call!(cudaExecutionCtxGetId(green => u64, &raw mut id => *mut u64)), 0);
        assert_eq!(call!(cudaExecutionCtxGetId(own => u64, &raw mut own_id => *mut u64)), 0);
        assert!(id != own_id && id != 0 && own_id != 0);
        assert_eq!(call!(cudaExecutionCtxGetId(0 => u64, &raw mut id => *mut u64)), INVALID_VALUE);
        assert_eq!(call!(cudaExecutionCtxSynchronize(0 => u64)), INVALID_VALUE);
        assert_eq!(call!(cudaExecutionCtxDestroy(green => u64)), 0);
        assert_ne!(call!(cudaExecutionCtxDestroy(green => u64)), 0);
        // Parameters of a kernel, copies with attributes.
        let mut parameters = 0usize;
        let counted =
            call!(cudaFuncGetParamCount(stub(&TIMES) => *const c_void, &raw mut parameters => *mut usize));
        assert_eq!((counted, parameters), (0, 2));
        let (from, to) = (device_memory(&[5, 6]), device_memory(&[0, 0]));
        // cudaMemcpyAttributes: sources are read in stream order.
        let attributes = [1u32, 0, 0, 0, 0, 0];
        let copied = call!(cudaMemcpyWithAttributesAsync(
            to => *mut c_void, from => *mut c_void, 8 => usize, attributes.as_ptr() => *const u32, 0 => u64,
        ));
        assert_eq!((copied, contents(to, 2)), (0, vec![5, 6]));
        let copied = call!(cudaMemcpy3DWithAttributesAsync(null_mut() => *mut u64, 0 => u64, 0 => u64));
        assert_eq!(copied, INVALID_VALUE);
        // Nodes tell their numbers, and parameters with what the program named.
        let (mut graph, mut exec, mut node, mut holder, mut tools) = (0u64, 0u64, 0u64, 0u64, 0u64);
        let (mut numbers, mut handle) = ([0u32; 3], 0u64);
        assert_eq!(call!(cudaGraphCreate(&raw mut graph => *mut u64, 0 => u32)), 0);
        let two = 2u32;
        let arguments = [from_ref(&to).cast::<c_void>(), from_ref(&two).cast()];
        let given =
            [stub(&TIMES) as u64, 1 | 1 << 32, 1 | 2 << 32, 1 | 1 << 32, arguments.as_ptr() as u64, 0, 0];
        let mut kernel = [0u64; 7];
        // cudaKernelNodeParams: function, grid, block, shared bytes, arguments.
        kernel[..2].copy_from_slice(&[given[0], given[1]]);
        (kernel[2], kernel[3], kernel[4], kernel[5]) = (given[2], given[3], 0, given[4]);
        let added = call!(cudaGraphAddKernelNode(
            &raw mut node => *mut u64, graph => u64, null() => *const u64, 0 => usize, kernel.as_ptr() => *const u64,
        ));
        assert_eq!(added, 0);
        let mut params = [u64::MAX; 32];
        assert_eq!(call!(cudaGraphNodeGetParams(node => u64, params.as_mut_ptr() => *mut u64)), 0);
        assert_eq!((params[0], params[2], params[3], params[9]), (0, stub(&TIMES) as u64, 1 | 1 << 32, 0));
        let again = call!(cudaGraphNodeSetParams(node => u64, params.as_mut_ptr() => *mut u64));
        assert_eq!(again, 0, "what a node tells can be given back");
        assert_eq!(call!(cudaGraphInstantiate(&raw mut exec => *mut u64, graph => u64, 0 => u64)), 0);
        assert_eq!(call!(cudaGraphGetId(graph => u64, &raw mut numbers[0] => *mut u32)), 0);
        assert_eq!(call!(cudaGraphExecGetId(exec => u64, &raw mut numbers[1] => *mut u32)), 0);
        assert_eq!(call!(cudaGraphNodeGetLocalId(node => u64, &raw mut numbers[2] => *mut u32)), 0);
        assert_eq!(call!(cudaGraphNodeGetContainingGraph(node => u64, &raw mut holder => *mut u64)), 0);
        assert_eq!(call!(cudaGraphNodeGetToolsId(node => u64, &raw mut tools => *mut u64)), 0);
        assert!(
            numbers[0] != numbers[1]
                && numbers[2] == 0
                && holder == graph
                && tools >> 32 == numbers[0].into()
        );
        for context in [0, own] {
            let made = call!(cudaGraphConditionalHandleCreate_v2(
                &raw mut handle => *mut u64, graph => u64, context => u64, 0 => u32, 0 => u32,
            ));
            assert!(made == 0 && handle != 0);
        }
    });
}

#[test]
fn the_threads_context_is_the_programs_or_the_primary_one() {
    alone("the_threads_context_is_the_programs_or_the_primary_one", || {
        // SAFETY: as in `runtime`.
        let driver = unsafe { Library::new(library::folder().join("libcuda.so.1")) }.expect("the driver");
        let current = || {
            let mut context = 0u64;
            assert_eq!(call!(driver, cuCtxGetCurrent(from_mut(&mut context) => *mut u64)), 0);
            context
        };
        let mut primary = 0u64;
        assert_eq!(call!(driver, cuDevicePrimaryCtxRetain(from_mut(&mut primary) => *mut u64, 0 => i32)), 0);
        let own = std::thread::scope(|threads| {
            let made = threads.spawn(|| {
                let before = current();
                assert_eq!(call!(cudaFree(0 => u64)), 0);
                (before, current())
            });
            made.join().expect("the thread")
        });
        assert_eq!(own, (0, primary), "a call of the runtime makes the primary context current");
        let mut made = 0u64;
        assert_eq!(call!(driver, cuCtxCreate_v2(from_mut(&mut made) => *mut u64, 0 => u32, 0 => i32)), 0);
        device_memory(&[1]);
        assert_eq!(current(), made, "a context that the program has made stays");
        assert_eq!(call!(cudaSetDevice(0 => i32)), 0);
        assert_eq!(current(), primary, "cudaSetDevice makes the primary one current");
    });
}

#[test]
fn properties_are_the_devices_attributes_in_each_layout() {
    alone("properties_are_the_devices_attributes_in_each_layout", || {
        let functions = [
            (11, "cudaGetDeviceProperties\0", 728),
            (12, "cudaGetDeviceProperties\0", 728),
            (12, "cudaGetDeviceProperties_v2\0", 1032),
            (13, "cudaGetDeviceProperties\0", 1008),
        ];
        let attribute = |number: u32| {
            let mut value = 0i32;
            let asked =
                call!(cudaDeviceGetAttribute(from_mut(&mut value) => *mut i32, number => u32, 0 => i32));
            assert_eq!(asked, 0, "attribute {number}");
            value
        };
        for (version, function, size) in functions {
            // SAFETY: as in `runtime`.
            let front = unsafe { Library::new(library::front(version)) }.expect("the front");
            let mut bytes = vec![0xa5u8; size + 64];
            type Get = unsafe extern "C" fn(*mut u8, i32) -> u32;
            // SAFETY: the function has this signature; there is room for the structure.
            let asked =
                unsafe { front.get::<Get>(function.as_bytes()).expect("a name")(bytes.as_mut_ptr(), 0) };
            assert_eq!(asked, 0);
            assert!(
                bytes[size..].iter().all(|b| *b == 0xa5),
                "{function} of {version} wrote more than {size}"
            );
            assert!(bytes.starts_with(b"Anywarp"));
            let column = if size == 728 { 0 } else { version as usize - 11 };
            let word = |at: usize| i32::from_ne_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
            let mut compared = 0;
            for row in include_str!("../data/properties.tsv").lines().filter(|l| !l.starts_with('#')) {
                let cells: Vec<&str> = row.split('\t').collect();
                let (Ok(at), Ok(width)) = (cells[1 + column].parse::<usize>(), cells[4].parse::<usize>())
                else {
                    continue;
                };
                if let Ok(number) = cells[5].parse() {
                    assert!(width == 4 || width == 8, "{row}");
                    assert_eq!(word(at), attribute(number), "{row}");
                    compared += 1;
                }
            }
            assert!(compared > 50, "{compared} fields");
        }
    });
}

#[test]
fn memory_of_two_and_three_dimensions_and_arrays() {
    alone("memory_of_two_and_three_dimensions_and_arrays", || {
        let (mut at, mut pitch, mut array) = (0u64, 0usize, 0u64);
        let made = call!(cudaMallocPitch(&raw mut at => *mut u64, &raw mut pitch => *mut usize, 12 => usize, 3 => usize));
        assert_eq!(made, 0);
        assert!(pitch >= 12);
        let rows: [[u32; 3]; 3] = [[1, 2, 3], [4, 5, 6], [7, 8, 9]];
        let there = call!(cudaMemcpy2D(
            at => u64, pitch => usize, rows.as_ptr() => *const [u32; 3], 12 => usize, 12 => usize, 3 => usize, 1 => u32,
        ));
        assert_eq!(there, 0);
        let narrow = call!(cudaMemcpy2D(
            at => u64, 4 => usize, rows.as_ptr() => *const [u32; 3], 12 => usize, 12 => usize, 3 => usize, 1 => u32,
        ));
        assert_eq!(narrow, 12, "the pitch is less than the width");
        assert_eq!(call!(cudaMemset2D(at + 4 => u64, pitch => usize, 0 => i32, 4 => usize, 2 => usize)), 0);
        let channels = [32i32, 0, 0, 0, 1];
        let made = call!(cudaMallocArray(
            &raw mut array => *mut u64, channels.as_ptr() => *const i32, 3 => usize, 3 => usize, 0 => u32,
        ));
        assert_eq!(made, 0);
        let into = call!(cudaMemcpy2DToArray(
            array => u64, 0 => usize, 0 => usize, at => u64, pitch => usize, 12 => usize, 3 => usize, 3 => u32,
        ));
        assert_eq!(into, 0);
        // A line of five elements from the second of the first row on.
        let mut line = [0u32; 5];
        let out = call!(cudaMemcpyFromArray(
            line.as_mut_ptr() => *mut u32, array => u64, 4 => usize, 0 => usize, 20 => usize, 2 => u32,
        ));
        assert_eq!((out, line), (0, [0, 3, 4, 0, 6]));
        let mut found = [0i32; 5];
        let (mut extent, mut flags) = ([9usize; 3], 9u32);
        let told = call!(cudaArrayGetInfo(
            found.as_mut_ptr() => *mut i32, extent.as_mut_ptr() => *mut usize, &raw mut flags => *mut u32, array => u64,
        ));
        assert_eq!((told, found, extent, flags), (0, channels, [3, 3, 0], 0));
        // cudaMemcpy3DParms: from the array's element (1, 1) a piece of 2 by 2 to the host.
        let mut piece = [0u32; 4];
        let params: [u64; 20] =
            [array, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, piece.as_mut_ptr() as u64, 8, 8, 2, 2, 2, 1, 2];
        assert_eq!(call!(cudaMemcpy3D(params.as_ptr() => *const u64)), 0);
        assert_eq!(piece, [0, 6, 8, 9]);
        let mut attributes = [0u64; 11];
        let asked = call!(cudaPointerGetAttributes(attributes.as_mut_ptr() => *mut u64, at => u64));
        assert_eq!((asked, attributes[0] as u32, attributes[1]), (0, 2, at), "device memory");
        let asked = call!(cudaPointerGetAttributes(
            attributes.as_mut_ptr() => *mut u64, piece.as_ptr() => *const u32,
        ));
        assert_eq!((asked, attributes[0] as u32), (0, 0), "memory that the driver does not know");
    });
}

/// Products of sizes that exceed a word are refused, and never taken modulo 2^64.
#[test]
fn sizes_beyond_the_address_space_are_refused() {
    alone("sizes_beyond_the_address_space_are_refused", || {
        #[repr(C)]
        #[derive(Clone, Copy)]
        struct Three(usize, usize, usize);
        #[repr(C)]
        #[derive(Clone, Copy)]
        struct Pitched(u64, usize, usize, usize);
        const HALF: usize = 1 << 32;
        let mut made = Pitched(0, 0, 0, 0);
        let large = Three(64, HALF, HALF);
        assert_eq!(call!(cudaMalloc3D(&raw mut made => *mut Pitched, large => Three)), 2);
        assert_eq!(made.0, 0);
        assert_eq!(call!(cudaMalloc3D(&raw mut made => *mut Pitched, Three(64, 4, 4) => Three)), 0);
        let set = |at: Pitched, extent: Three| call!(cudaMemset3D(at => Pitched, 0 => i32, extent => Three));
        assert_eq!(set(made, Three(64, 4, 4)), 0);
        assert_eq!(set(Pitched(made.0, made.1, 64, HALF), large), 1);
        // Slices that all lie at one place would never end.
        assert_eq!(set(Pitched(made.0, made.1, 64, 0), Three(64, 4, 1 << 60)), 1);
        assert_eq!(set(Pitched(made.0, 1 << 60, 64, 16), Three(64, 4, 4)), 1);
        let mut array = 0u64;
        let channels = [32i32, 0, 0, 0, 1];
        let new = call!(cudaMallocArray(
            &raw mut array => *mut u64, channels.as_ptr() => *const i32, 4 => usize, 4 => usize, 0 => u32,
        ));
        assert_eq!(new, 0);
        let line = [0u32; 8];
        for y in [usize::MAX, usize::MAX - 16] {
            let into = call!(cudaMemcpyToArray(
                array => u64, 4 => usize, y => usize, line.as_ptr() => *const u32, 32 => usize, 1 => u32,
            ));
            assert_eq!(into, 1, "{y}");
        }
        let params: [u64; 20] =
            [0, 0, 0, 0, line.as_ptr() as u64, 16, 16, 1, array, 1 << 62, 0, 0, 0, 0, 0, 0, 1 << 62, 1, 1, 1];
        assert_eq!(call!(cudaMemcpy3D(params.as_ptr() => *const u64)), 1);
    });
}
