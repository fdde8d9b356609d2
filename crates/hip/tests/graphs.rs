//! Graphs with kernels, through the fronts: made of nodes, captured with a fork and a join, changed,
//! cloned and
//! launched. Memory is compared with what a model of the kernel says.

mod library;

use std::ffi::{CString, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use capi::In;
use capi::types::{MemLocation, PoolProps};
use hip::types::{AllocNodeParams, FillNodeParams, HostNodeParams, KernelNodeParams, NodeParams};
use libloading::Library;

type P = u64;

/// `out[i] = 2 * in[i] + other[i] + add` for 32 threads; `numbers` is a variable.
const PTX: &str = "\
.version 7.0
.target sm_52
.address_size 64
.visible .global .align 4 .b8 numbers[128];
.visible .entry step(.param .u64 out, .param .u64 in, .param .u64 other, .param .u32 add)
{
    .reg .b32 %r<8>;
    .reg .b64 %d<8>;
    ld.param.u64 %d1, [out];
    ld.param.u64 %d2, [in];
    ld.param.u64 %d3, [other];
    ld.param.u32 %r1, [add];
    mov.u32 %r2, %tid.x;
    mul.wide.u32 %d4, %r2, 4;
    add.s64 %d2, %d2, %d4;
    add.s64 %d3, %d3, %d4;
    add.s64 %d1, %d1, %d4;
    ld.global.u32 %r3, [%d2];
    ld.global.u32 %r4, [%d3];
    shl.b32 %r3, %r3, 1;
    add.s32 %r3, %r3, %r4;
    add.s32 %r3, %r3, %r1;
    st.global.u32 [%d1], %r3;
    ret;
}
";

const THREADS: usize = 32;
type Numbers = [u32; THREADS];
const BYTES: usize = size_of::<Numbers>();

const INVALID_VALUE: u32 = 1;
const INVALID_CONFIGURATION: u32 = 9;
const INVALID_DIRECTION: u32 = 21;
const INVALID_DEVICE_FUNCTION: u32 = 98;
const INVALID_CONTEXT: u32 = 201;
const CAPTURE_UNSUPPORTED: u32 = 900;
const CAPTURE_INVALIDATED: u32 = 901;
const CAPTURE_WRONG_THREAD: u32 = 908;

/// A front with the kernel and the variable registered; only one test runs at a time, so that the captures of
/// others forbid nothing.
struct Hip {
    front: Library,
    code: P,
    stub: P,
    shadow: P,
    _turn: MutexGuard<'static, ()>,
}

#[repr(C)]
struct Wrapper {
    magic: u32,
    version: u32,
    binary: *const c_void,
    unused: P,
}

macro_rules! code {
    ($hip:ident, $name:ident($($arg:expr => $type:ty),* $(,)?)) => {{
        // SAFETY: the types are those of the interface, and pointers refer to live variables.
        unsafe {
            let name = concat!(stringify!($name), "\0").as_bytes();
            let function = $hip.front.get::<unsafe extern "C" fn($($type),*) -> u32>(name);
            function.expect(stringify!($name))($($arg),*)
        }
    }};
}

macro_rules! ok {
    ($hip:ident, $name:ident($($args:tt)*)) => {
        assert_eq!(code!($hip, $name($($args)*)), 0, stringify!($name))
    };
}

mod graph_copies;

fn open(number: u32) -> Hip {
    static TURN: Mutex<()> = Mutex::new(());
    static PLACES: [u32; 2] = [0; 2];
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: the front's initialiser opens the library beside it, whose initialisers do nothing.
    let front = unsafe { Library::new(library::front(number)) }.expect("the front");
    let [stub, shadow] = [0, 1].map(|i| &raw const PLACES[i] as P);
    let text = CString::new(PTX).expect("no NUL");
    let wrapper = Wrapper { magic: 0x4849_5046, version: 1, binary: text.as_ptr().cast(), unused: 0 };
    // Code is loaded at first use.
    std::mem::forget(text);
    // SAFETY: the function has this signature, and the wrapper is one.
    let code = unsafe {
        let register = front.get::<unsafe extern "C" fn(*const Wrapper) -> P>(b"__hipRegisterFatBinary\0");
        register.expect("the function")(&wrapper)
    };
    let (step, numbers) = (c"step".as_ptr(), c"numbers".as_ptr());
    // SAFETY: the functions have these signatures.
    unsafe {
        type Name = *const std::ffi::c_char;
        let function = front
            .get::<unsafe extern "C" fn(P, P, Name, Name, u32, P, P, P, P, P)>(b"__hipRegisterFunction\0");
        function.expect("the function")(code, stub, step, step, u32::MAX, 0, 0, 0, 0, 0);
        let variable =
            front.get::<unsafe extern "C" fn(P, P, Name, Name, i32, usize, i32, i32)>(b"__hipRegisterVar\0");
        variable.expect("the function")(code, shadow, numbers, numbers, 0, BYTES, 0, 0);
    }
    Hip { front, code, stub, shadow, _turn: turn }
}

impl Drop for Hip {
    fn drop(&mut self) {
        // SAFETY: the function has this signature, and this is its handle.
        unsafe {
            let unregister = self.front.get::<unsafe extern "C" fn(P)>(b"__hipUnregisterFatBinary\0");
            unregister.expect("the function")(self.code);
        }
    }
}

/// What the kernel computes.
fn step(input: &Numbers, other: &Numbers, add: u32) -> Numbers {
    std::array::from_fn(|i| input[i].wrapping_mul(2).wrapping_add(other[i]).wrapping_add(add))
}

fn from(first: u32) -> Numbers {
    std::array::from_fn(|i| first + 3 * i as u32)
}

/// Host memory that the library reads and writes at any time.
struct Shared(Vec<AtomicU32>);

impl Shared {
    fn of(numbers: Numbers) -> Self {
        Shared(numbers.into_iter().map(AtomicU32::new).collect())
    }

    fn at(&self) -> P {
        self.0.as_ptr() as P
    }

    fn set(&self, numbers: Numbers) {
        self.0.iter().zip(numbers).for_each(|(place, number)| place.store(number, Ordering::SeqCst));
    }

    fn get(&self) -> Numbers {
        std::array::from_fn(|i| self.0[i].load(Ordering::SeqCst))
    }
}

/// The arguments of a launch.
struct Arguments {
    values: [P; 3],
    add: u32,
}

impl Arguments {
    fn list(&self) -> [P; 4] {
        let [out, input, other] = [0, 1, 2].map(|i| &raw const self.values[i] as P);
        [out, input, other, &raw const self.add as P]
    }
}

impl Hip {
    fn alloc(&self) -> P {
        let hip = self;
        let mut address = 0;
        ok!(hip, hipMalloc(&raw mut address => *mut P, BYTES => usize));
        ok!(hip, hipMemset(address => P, 0 => i32, BYTES => usize));
        address
    }

    fn read(&self, address: P) -> Numbers {
        let hip = self;
        let mut out = [0; THREADS];
        ok!(hip, hipMemcpy(out.as_mut_ptr() => *mut u32, address => P, BYTES => usize, 2 => u32));
        out
    }

    fn graph(&self) -> P {
        let hip = self;
        let mut graph = 0;
        ok!(hip, hipGraphCreate(&raw mut graph => *mut P, 0 => u32));
        graph
    }

    fn params(&self, list: &[P; 4]) -> KernelNodeParams {
        KernelNodeParams {
            block: [THREADS as u32, 1, 1],
            extra: In::at_address(0),
            function: self.stub,
            grid: [1; 3],
            params: In::at_address(list.as_ptr() as P),
            shared: 0,
        }
    }

    fn kernel(&self, graph: P, after: &[P], params: &KernelNodeParams) -> (P, u32) {
        let (hip, mut node) = (self, 0);
        let code = code!(hip, hipGraphAddKernelNode(&raw mut node => *mut P, graph => P,
            after.as_ptr() => *const P,
            after.len() => usize, params => *const KernelNodeParams));
        (node, code)
    }

    fn copy(&self, graph: P, after: &[P], to: P, from: P, kind: u32) -> P {
        let (hip, mut node) = (self, 0);
        ok!(hip, hipGraphAddMemcpyNode1D(&raw mut node => *mut P, graph => P, after.as_ptr() => *const P,
            after.len() => usize, to => P, from => P, BYTES => usize, kind => u32));
        node
    }

    fn instantiate(&self, graph: P) -> P {
        let (hip, mut exec) = (self, 0);
        ok!(hip, hipGraphInstantiate(&raw mut exec => *mut P, graph => P, null_mut() => *mut P,
            null_mut() => *mut u8, 0 => usize));
        exec
    }

    fn launch(&self, exec: P) {
        let hip = self;
        ok!(hip, hipGraphLaunch(exec => P, 0 => P));
        ok!(hip, hipDeviceSynchronize());
    }

    fn kernel_params(&self, node: P) -> KernelNodeParams {
        let (hip, mut got) = (self, self.params(&[0; 4]));
        ok!(hip, hipGraphKernelNodeGetParams(node => P, &raw mut got => *mut KernelNodeParams));
        got
    }

    fn stream(&self) -> P {
        let (hip, mut stream) = (self, 0);
        ok!(hip, hipStreamCreateWithFlags(&raw mut stream => *mut P, 1 => u32));
        stream
    }

    fn event(&self) -> P {
        let (hip, mut event) = (self, 0);
        ok!(hip, hipEventCreate(&raw mut event => *mut P));
        event
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Dim3(u32, u32, u32);

fn launch_stub(hip: &Hip, list: &[P; 4], stream: P) -> u32 {
    code!(hip, hipLaunchKernel(hip.stub => P, Dim3(1, 1, 1) => Dim3, Dim3(THREADS as u32, 1, 1) => Dim3,
        list.as_ptr() => *const P, 0 => usize, stream => P))
}

extern "C" fn count(counter: P) {
    // SAFETY: the tests pass the address of a counter that lives forever.
    unsafe { AtomicU32::from_ptr(counter as *mut u32) }.fetch_add(1, Ordering::SeqCst);
}

#[test]
fn a_graph_of_nodes_is_launched_changed_and_cloned() {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    for number in [5, 6, 7] {
        let hip = open(number);
        let (a, b, c, zero) = (hip.alloc(), hip.alloc(), hip.alloc(), hip.alloc());
        let (input, output) = (Shared::of(from(1)), Shared::of([0; THREADS]));
        let graph = hip.graph();
        let up = hip.copy(graph, &[], a, input.at(), 1);
        let first = Arguments { values: [b, a, zero], add: 1 };
        let (list, second) = (first.list(), Arguments { values: [c, b, a], add: 5 });
        let (one, code) = hip.kernel(graph, &[up], &hip.params(&list));
        assert_eq!(code, 0);
        let second_list = second.list();
        // The second kernel's parameters are one buffer.
        let buffer = [c, b, a, 5];
        let size = 28usize;
        let extra = [1, buffer.as_ptr() as P, 2, &raw const size as P, 3];
        let packed = KernelNodeParams {
            params: In::at_address(0),
            extra: In::at_address(extra.as_ptr() as P),
            ..hip.params(&second_list)
        };
        let (two, code) = hip.kernel(graph, &[one], &packed);
        assert_eq!(code, 0);
        let call = HostNodeParams { function: Some(count), data: CALLS.as_ptr() as P };
        let mut host = 0;
        ok!(hip, hipGraphAddHostNode(&raw mut host => *mut P, graph => P, &two => *const P, 1 => usize,
            &call => *const HostNodeParams));
        let down = hip.copy(graph, &[host], output.at(), c, 2);
        let model = |first: u32, add: u32| step(&step(&from(first), &[0; THREADS], add), &from(first), 5);

        let exec = hip.instantiate(graph);
        CALLS.store(0, Ordering::SeqCst);
        hip.launch(exec);
        assert_eq!(output.get(), model(1, 1));
        assert_eq!(CALLS.load(Ordering::SeqCst), 1);
        // Every launch reads the host's memory again.
        input.set(from(1000));
        hip.launch(exec);
        assert_eq!(output.get(), model(1000, 1));

        // The kernel is named by its stub, and its arguments can be read.
        let got = hip.kernel_params(one);
        assert_eq!((got.function, got.block, got.grid, got.shared), (hip.stub, [32, 1, 1], [1; 3], 0));
        let pointers = got.params.list(4).expect("four arguments");
        assert_eq!(In::<P>::at_address(pointers[0]).get().expect("an argument"), b);
        assert_eq!(In::<u32>::at_address(pointers[3]).get().expect("an argument"), 1);
        let mut got = HostNodeParams { function: None, data: 0 };
        ok!(hip, hipGraphHostNodeGetParams(host => P, &raw mut got => *mut HostNodeParams));
        assert_eq!(got.data, CALLS.as_ptr() as P);

        // Another argument, in the executable graph only.
        let changed = Arguments { add: 100, ..first };
        let list = changed.list();
        ok!(hip, hipGraphExecKernelNodeSetParams(exec => P, one => P,
            &hip.params(&list) => *const KernelNodeParams));
        hip.launch(exec);
        assert_eq!(output.get(), model(1000, 100));
        let again = hip.instantiate(graph);
        hip.launch(again);
        assert_eq!(output.get(), model(1000, 1));

        // A clone, changed; then the executable graph is updated from it.
        let (mut clone, mut copied) = (0, 0);
        ok!(hip, hipGraphClone(&raw mut clone => *mut P, graph => P));
        ok!(hip, hipGraphNodeFindInClone(&raw mut copied => *mut P, one => P, clone => P));
        let changed = Arguments { add: 7, ..changed };
        let list = changed.list();
        ok!(hip, hipGraphKernelNodeSetParams(copied => P, &hip.params(&list) => *const KernelNodeParams));
        let of_clone = hip.instantiate(clone);
        hip.launch(of_clone);
        assert_eq!(output.get(), model(1000, 7));
        hip.launch(again);
        assert_eq!(output.get(), model(1000, 1));
        let (mut failed, mut result) = (0, 9);
        ok!(hip, hipGraphExecUpdate(again => P, clone => P, &raw mut failed => *mut P,
            &raw mut result => *mut u32));
        assert_eq!(result, 0);
        hip.launch(again);
        assert_eq!(output.get(), model(1000, 7));

        // A kernel that is switched off leaves its result as it is.
        ok!(hip, hipGraphNodeSetEnabled(again => P, two => P, 0 => u32));
        input.set(from(5));
        hip.launch(again);
        assert_eq!(output.get(), model(1000, 7));
        assert_eq!(CALLS.load(Ordering::SeqCst), 8);

        for exec in [exec, again, of_clone] {
            ok!(hip, hipGraphExecDestroy(exec => P));
        }
        let mut kind = 9;
        ok!(hip, hipGraphNodeGetType(down => P, &raw mut kind => *mut u32));
        assert_eq!(kind, 1);
        ok!(hip, hipGraphDestroy(clone => P));
        ok!(hip, hipGraphDestroy(graph => P));
        for address in [a, b, c, zero] {
            ok!(hip, hipFree(address => P));
        }
    }
}

#[test]
fn wrong_kernels_are_refused() {
    let hip = open(6);
    let (a, graph) = (hip.alloc(), hip.graph());
    let arguments = Arguments { values: [a; 3], add: 0 };
    let list = arguments.list();
    let right = hip.params(&list);
    let stranger = 0u32;
    let extra = [1, list.as_ptr() as P, 2, 0, 4];
    let rows = [
        ("no function", KernelNodeParams { function: 0, ..right }, INVALID_VALUE),
        (
            "a stranger",
            KernelNodeParams { function: &raw const stranger as P, ..right },
            INVALID_DEVICE_FUNCTION,
        ),
        ("no block", KernelNodeParams { block: [0, 1, 1], ..right }, INVALID_CONFIGURATION),
        ("no grid", KernelNodeParams { grid: [1, 0, 1], ..right }, INVALID_VALUE),
        ("a large block", KernelNodeParams { block: [1025, 1, 1], ..right }, INVALID_VALUE),
        ("a large grid", KernelNodeParams { grid: [u32::MAX, 1, 1], ..right }, INVALID_CONFIGURATION),
        ("much shared memory", KernelNodeParams { shared: u32::MAX, ..right }, INVALID_VALUE),
        ("no arguments", KernelNodeParams { params: In::at_address(0), ..right }, INVALID_VALUE),
        (
            "arguments twice",
            KernelNodeParams { extra: In::at_address(extra.as_ptr() as P), ..right },
            INVALID_VALUE,
        ),
        (
            "a wrong buffer",
            KernelNodeParams {
                extra: In::at_address(extra.as_ptr() as P),
                params: In::at_address(0),
                ..right
            },
            INVALID_VALUE,
        ),
    ];
    let (node, code) = hip.kernel(graph, &[], &right);
    assert_eq!(code, 0);
    let exec = hip.instantiate(graph);
    for (what, params, wanted) in rows {
        assert_eq!(hip.kernel(graph, &[], &params).1, wanted, "{what}");
        let params = &raw const params;
        let code = code!(hip, hipGraphKernelNodeSetParams(node => P, params => *const KernelNodeParams));
        assert_eq!(code, wanted, "{what}, set");
        let code = code!(hip, hipGraphExecKernelNodeSetParams(exec => P, node => P,
            params => *const KernelNodeParams));
        assert_eq!(code, wanted, "{what}, set in the executable graph");
    }
    let mut nodes = 0usize;
    ok!(hip, hipGraphGetNodes(graph => P, null_mut() => *mut P, &raw mut nodes => *mut usize));
    assert_eq!(nodes, 1, "no wrong kernel became a node");
    ok!(hip, hipGraphExecDestroy(exec => P));
    ok!(hip, hipGraphDestroy(graph => P));
    ok!(hip, hipFree(a => P));
}

#[test]
fn attributes_are_kept_and_copied() {
    const COOPERATIVE: u32 = 2;
    const PRIORITY: u32 = 8;
    const WINDOW: u32 = 1;
    let hip = open(6);
    let (a, graph) = (hip.alloc(), hip.graph());
    let arguments = Arguments { values: [a; 3], add: 3 };
    let list = arguments.list();
    let [one, two, three] = [(); 3].map(|()| hip.kernel(graph, &[], &hip.params(&list)).0);
    let set = |node: P, number: u32, words: &[u32; 8]| {
        code!(hip, hipGraphKernelNodeSetAttribute(node => P,
        number => u32, words.as_ptr() => *const u32))
    };
    let get = |node: P, number: u32| {
        let mut words = [9u32; 8];
        let code = code!(hip, hipGraphKernelNodeGetAttribute(node => P, number => u32,
            words.as_mut_ptr() => *mut u32));
        (code, words)
    };
    let first = |value: u32| [value, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(get(one, COOPERATIVE).1[..2], [0, 9], "only the value is written");
    assert_eq!(get(one, 4).0, INVALID_VALUE);
    assert_eq!(set(one, 4, &first(1)), INVALID_VALUE);
    assert_eq!(set(one, PRIORITY, &first(2)), INVALID_VALUE);
    assert_eq!(set(one, PRIORITY, &first(-2i32 as u32)), INVALID_VALUE);
    // An access policy window {address, hit property, hit ratio, miss property, bytes}: the device has none.
    assert_eq!(set(one, WINDOW, &[0, 0, 1, 0x3f00_0000, 1, 0, 64, 0]), INVALID_VALUE);
    assert_eq!(set(one, WINDOW, &[0, 0, 1, 0x4000_0000, 1, 0, 0, 0]), INVALID_VALUE);
    assert_eq!(set(one, WINDOW, &[0, 0, 1, 0x3f00_0000, 2, 0, 0, 0]), INVALID_VALUE);
    assert_eq!(set(one, COOPERATIVE, &first(1)), 0);
    assert_eq!(get(one, COOPERATIVE).1[0], 1);
    let copy = |from: P, to: P| code!(hip, hipGraphKernelNodeCopyAttributes(from => P, to => P));
    assert_eq!(copy(one, two), 0);
    assert_eq!(get(two, COOPERATIVE).1[0], 1);
    assert_eq!(set(three, PRIORITY, &first(-1i32 as u32)), 0);
    assert_eq!(get(three, PRIORITY).1[0], u32::MAX);
    assert_eq!(copy(one, three), INVALID_CONTEXT);
    // New parameters keep them.
    ok!(hip, hipGraphKernelNodeSetParams(two => P, &hip.params(&list) => *const KernelNodeParams));
    assert_eq!(get(two, COOPERATIVE).1[0], 1);
    let exec = hip.instantiate(graph);
    hip.launch(exec);
    assert_eq!(hip.read(a).iter().min(), hip.read(a).iter().max());
    ok!(hip, hipGraphExecDestroy(exec => P));
    ok!(hip, hipGraphDestroy(graph => P));
    ok!(hip, hipFree(a => P));
}

#[test]
fn a_capture_forks_and_joins() {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let hip = open(6);
    let (a, b, c, d, zero) = (hip.alloc(), hip.alloc(), hip.alloc(), hip.alloc(), hip.alloc());
    let (s, t, fork, join) = (hip.stream(), hip.stream(), hip.event(), hip.event());
    let (input, output) = (Shared::of(from(4)), Shared::of([7; THREADS]));
    ok!(hip, hipStreamBeginCapture(s => P, 0 => u32));
    ok!(hip, hipMemcpyAsync(a => P, input.at() => P, BYTES => usize, 1 => u32, s => P));
    ok!(hip, hipEventRecord(fork => P, s => P));
    ok!(hip, hipStreamWaitEvent(t => P, fork => P, 0 => u32));
    let left = Arguments { values: [b, a, zero], add: 1 };
    let right = Arguments { values: [c, a, zero], add: 3 };
    let last = Arguments { values: [d, b, c], add: 9 };
    assert_eq!(launch_stub(&hip, &left.list(), t), 0);
    assert_eq!(launch_stub(&hip, &right.list(), s), 0);
    ok!(hip, hipEventRecord(join => P, t => P));
    ok!(hip, hipStreamWaitEvent(s => P, join => P, 0 => u32));
    assert_eq!(launch_stub(&hip, &last.list(), s), 0);
    ok!(hip, hipLaunchHostFunc(s => P, count => extern "C" fn(P), CALLS.as_ptr() as P => P));
    ok!(hip, hipMemcpyAsync(output.at() => P, d => P, BYTES => usize, 2 => u32, s => P));
    let mut graph = 0;
    ok!(hip, hipStreamEndCapture(s => P, &raw mut graph => *mut P));
    ok!(hip, hipDeviceSynchronize());
    assert_eq!((output.get(), CALLS.load(Ordering::SeqCst)), ([7; THREADS], 0), "nothing has run");

    let (mut nodes, mut room, mut kinds) = ([0; 8], 8usize, Vec::new());
    ok!(hip, hipGraphGetNodes(graph => P, nodes.as_mut_ptr() => *mut P, &raw mut room => *mut usize));
    for node in &nodes[..room] {
        let mut kind = 99;
        ok!(hip, hipGraphNodeGetType(*node => P, &raw mut kind => *mut u32));
        kinds.push(kind);
        if kind == 0 {
            assert_eq!(hip.kernel_params(*node).function, hip.stub, "a captured kernel has its stub's name");
        }
    }
    assert_eq!(kinds, [1, 0, 0, 0, 3, 1]);
    let mut edges = 0usize;
    ok!(hip, hipGraphGetEdges(graph => P, null_mut() => *mut P, null_mut() => *mut P,
        &raw mut edges => *mut usize));
    assert_eq!(edges, 6);

    let exec = hip.instantiate(graph);
    let none = [0; THREADS];
    let model = |first, add| step(&step(&from(first), &none, add), &step(&from(first), &none, 3), 9);
    for first in [4, 900] {
        input.set(from(first));
        ok!(hip, hipGraphLaunch(exec => P, t => P));
        ok!(hip, hipStreamSynchronize(t => P));
        assert_eq!(output.get(), model(first, 1));
    }
    assert_eq!(CALLS.load(Ordering::SeqCst), 2);

    // The same capture with another argument updates the executable graph.
    ok!(hip, hipStreamBeginCapture(s => P, 2 => u32));
    ok!(hip, hipMemcpyAsync(a => P, input.at() => P, BYTES => usize, 1 => u32, s => P));
    ok!(hip, hipEventRecord(fork => P, s => P));
    ok!(hip, hipStreamWaitEvent(t => P, fork => P, 0 => u32));
    let left = Arguments { add: 50, ..left };
    assert_eq!(launch_stub(&hip, &left.list(), t), 0);
    assert_eq!(launch_stub(&hip, &right.list(), s), 0);
    ok!(hip, hipEventRecord(join => P, t => P));
    ok!(hip, hipStreamWaitEvent(s => P, join => P, 0 => u32));
    assert_eq!(launch_stub(&hip, &last.list(), s), 0);
    ok!(hip, hipLaunchHostFunc(s => P, count => extern "C" fn(P), CALLS.as_ptr() as P => P));
    ok!(hip, hipMemcpyAsync(output.at() => P, d => P, BYTES => usize, 2 => u32, s => P));
    let (mut other, mut failed, mut result) = (0, 0, 9);
    ok!(hip, hipStreamEndCapture(s => P, &raw mut other => *mut P));
    ok!(hip, hipGraphExecUpdate(exec => P, other => P, &raw mut failed => *mut P,
        &raw mut result => *mut u32));
    hip.launch(exec);
    assert_eq!(output.get(), model(900, 50));

    // What has no node ends a capture.
    extern "C" fn callback(_: P, _: u32, _: P) {}
    ok!(hip, hipStreamBeginCapture(s => P, 0 => u32));
    let code =
        code!(hip, hipStreamAddCallback(s => P, callback => extern "C" fn(P, u32, P), 0 => P, 0 => u32));
    assert_eq!(code, CAPTURE_UNSUPPORTED);
    assert_eq!(launch_stub(&hip, &last.list(), s), CAPTURE_INVALIDATED);
    assert_eq!(code!(hip, hipStreamEndCapture(s => P, &raw mut graph => *mut P)), CAPTURE_INVALIDATED);
    // Another thread cannot end a capture that is not relaxed. As with AMD, it goes on.
    ok!(hip, hipStreamBeginCapture(s => P, 0 => u32));
    assert_eq!(launch_stub(&hip, &last.list(), s), 0);
    let elsewhere = std::thread::scope(|scope| {
        let end = || code!(hip, hipStreamEndCapture(s => P, &mut 0 => *mut P));
        scope.spawn(end).join().expect("no panic")
    });
    assert_eq!(elsewhere, CAPTURE_WRONG_THREAD);
    let (mut ended, mut nodes) = (0, 0usize);
    ok!(hip, hipStreamEndCapture(s => P, &raw mut ended => *mut P));
    ok!(hip, hipGraphGetNodes(ended => P, null_mut() => *mut P, &raw mut nodes => *mut usize));
    assert_eq!(nodes, 1);
    ok!(hip, hipGraphDestroy(ended => P));
    ok!(hip, hipGraphExecDestroy(exec => P));
    ok!(hip, hipGraphDestroy(other => P));
    for stream in [s, t] {
        ok!(hip, hipStreamDestroy(stream => P));
    }
    for address in [a, b, c, d, zero] {
        ok!(hip, hipFree(address => P));
    }
}

#[test]
fn memory_of_graphs_comes_and_goes() {
    let hip = open(6);
    let (to, s) = (hip.alloc(), hip.stream());
    // By nodes that hipGraphAddNode makes.
    let location = MemLocation { kind: 1, id: 0 };
    let pool = PoolProps {
        alloc_type: 1,
        handle_types: 0,
        location,
        security: 0,
        max_size: 0,
        usage: 0,
        reserved: [0; 54],
    };
    let asked = AllocNodeParams { pool, access: 0, access_count: 0, size: 4096, address: 9 };
    let mut params = NodeParams { kind: 10, reserved: [0; 3], words: [0; 29], rest: 0 };
    let write = |params: &mut NodeParams, from: *const u8, size: usize| {
        // SAFETY: the parameters of a type are no longer than the words.
        unsafe { std::ptr::copy_nonoverlapping(from, params.words.as_mut_ptr().cast(), size) };
    };
    write(&mut params, (&raw const asked).cast(), size_of::<AllocNodeParams>());
    let graph = hip.graph();
    let add = |params: &mut NodeParams, after: &[P]| {
        let mut node = 0;
        ok!(hip, hipGraphAddNode(&raw mut node => *mut P, graph => P, after.as_ptr() => *const P,
            after.len() => usize, params => *mut NodeParams));
        node
    };
    let made = add(&mut params, &[]);
    let address = params.words[14];
    assert!(address != 0 && address != 9);
    let fill = FillNodeParams { to: address, element: 4, height: 1, pitch: 0, value: 0x55aa, width: 32 };
    params = NodeParams { kind: 2, words: [0; 29], ..params };
    write(&mut params, (&raw const fill).cast(), size_of::<FillNodeParams>());
    let filled = add(&mut params, &[made]);
    let copied = hip.copy(graph, &[filled], to, address, 3);
    params = NodeParams { kind: 11, words: [0; 29], ..params };
    params.words[0] = address;
    add(&mut params, &[copied]);
    let exec = hip.instantiate(graph);
    for _ in 0..2 {
        ok!(hip, hipMemset(to => P, 0 => i32, BYTES => usize));
        hip.launch(exec);
        assert_eq!(hip.read(to), [0x55aa; THREADS]);
    }
    ok!(hip, hipGraphExecDestroy(exec => P));
    ok!(hip, hipGraphDestroy(graph => P));

    // By capturing hipMallocAsync and hipFreeAsync.
    let (mut memory, mut graph) = (0, 0);
    ok!(hip, hipStreamBeginCapture(s => P, 0 => u32));
    ok!(hip, hipMallocAsync(&raw mut memory => *mut P, BYTES => usize, s => P));
    ok!(hip, hipMemsetAsync(memory => P, 0x21 => i32, BYTES => usize, s => P));
    ok!(hip, hipMemcpyAsync(to => P, memory => P, BYTES => usize, 3 => u32, s => P));
    ok!(hip, hipFreeAsync(memory => P, s => P));
    ok!(hip, hipStreamEndCapture(s => P, &raw mut graph => *mut P));
    let exec = hip.instantiate(graph);
    hip.launch(exec);
    assert_eq!(hip.read(to), [0x2121_2121; THREADS]);
    ok!(hip, hipGraphExecDestroy(exec => P));
    ok!(hip, hipGraphDestroy(graph => P));
    ok!(hip, hipStreamDestroy(s => P));
    ok!(hip, hipFree(to => P));
}

static ENDED: AtomicU64 = AtomicU64::new(0);

extern "C" fn ended(data: P) {
    ENDED.fetch_add(data, Ordering::SeqCst);
}

#[test]
fn user_objects_end_with_their_last_reference() {
    let hip = open(6);
    let (graph, mut object) = (hip.graph(), 0);
    ok!(hip, hipUserObjectCreate(&raw mut object => *mut P, 5 => P, ended => extern "C" fn(P), 1 => u32,
        1 => u32));
    ok!(hip, hipUserObjectRetain(object => P, 2 => u32));
    ok!(hip, hipUserObjectRelease(object => P, 1 => u32));
    ok!(hip, hipUserObjectRelease(object => P, 9 => u32));
    assert_eq!(ENDED.load(Ordering::SeqCst), 0, "more references than there are: nothing happens");
    ok!(hip, hipGraphRetainUserObject(graph => P, object => P, 1 => u32, 1 => u32));
    ok!(hip, hipUserObjectRelease(object => P, 1 => u32));
    assert_eq!(ENDED.load(Ordering::SeqCst), 0, "the graph has one");
    let exec = hip.instantiate(graph);
    ok!(hip, hipGraphReleaseUserObject(graph => P, object => P, 9 => u32));
    ok!(hip, hipGraphRetainUserObject(graph => P, object => P, 1 => u32, 0 => u32));
    ok!(hip, hipGraphReleaseUserObject(graph => P, object => P, 2 => u32));
    assert_eq!(ENDED.load(Ordering::SeqCst), 0, "the executable graph has one");
    ok!(hip, hipGraphDestroy(graph => P));
    ok!(hip, hipGraphExecDestroy(exec => P));
    assert_eq!(ENDED.load(Ordering::SeqCst), 5);
}

#[test]
fn a_description_names_kernels_and_edges() {
    let hip = open(6);
    let (a, graph) = (hip.alloc(), hip.graph());
    let arguments = Arguments { values: [a; 3], add: 3 };
    let list = arguments.list();
    let (one, _) = hip.kernel(graph, &[], &hip.params(&list));
    hip.kernel(graph, &[one], &hip.params(&list));
    let path = std::env::temp_dir().join(format!("hip-graphs-{}.dot", std::process::id()));
    let text = CString::new(path.to_str().expect("a text")).expect("no NUL");
    ok!(hip, hipGraphDebugDotPrint(graph => P, text.as_ptr() => *const std::ffi::c_char, 1 => u32));
    let written = std::fs::read_to_string(&path).expect("the description");
    std::fs::remove_file(&path).expect("the file");
    assert!(written.starts_with("digraph"), "{written}");
    assert_eq!((written.matches("step").count(), written.matches("->").count()), (2, 1), "{written}");
    ok!(hip, hipGraphDestroy(graph => P));
    ok!(hip, hipFree(a => P));
}
