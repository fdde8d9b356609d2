//! What the tests of graphs share: kernels, parameters of nodes, and short names for calls.

use crate::by_name::{self, Library, at};

/// Kernels with one thread, which change words.
const KERNELS: &str = "
.version 7.0
.target sm_52
.address_size 64
// *to = value
.visible .entry put(.param .u64 to, .param .u32 value) {
    .reg .b64 %t; .reg .b32 %v;
    ld.param.u64 %t, [to]; ld.param.u32 %v, [value]; st.global.u32 [%t], %v; ret;
}
// *to = *to * 31 + *from + value
.visible .entry mix(.param .u64 to, .param .u64 from, .param .u32 value) {
    .reg .b64 %t; .reg .b64 %f; .reg .b32 %v<4>;
    ld.param.u64 %t, [to]; ld.param.u64 %f, [from]; ld.param.u32 %v0, [value];
    ld.global.u32 %v1, [%t]; ld.global.u32 %v2, [%f]; add.u32 %v0, %v0, %v2;
    mad.lo.u32 %v3, %v1, 31, %v0; st.global.u32 [%t], %v3; ret;
}
// *to += value
.visible .entry add(.param .u64 to, .param .u32 value) {
    .reg .b64 %t; .reg .b32 %v;
    ld.param.u64 %t, [to]; ld.param.u32 %v, [value]; red.global.add.u32 [%t], %v; ret;
}
// *to = *from
.visible .entry move(.param .u64 to, .param .u64 from) {
    .reg .b64 %t; .reg .b64 %f; .reg .b32 %v;
    ld.param.u64 %t, [to]; ld.param.u64 %f, [from]; ld.global.u32 %v, [%f]; st.global.u32 [%t], %v; ret;
}
// *to = *to * 10 + value
.visible .entry ten(.param .u64 to, .param .u32 value) {
    .reg .b64 %t; .reg .b32 %v<3>;
    ld.param.u64 %t, [to]; ld.param.u32 %v0, [value]; ld.global.u32 %v1, [%t];
    mad.lo.u32 %v2, %v1, 10, %v0; st.global.u32 [%t], %v2; ret;
}
// *to = blocks * 1000 + threads of a block
.visible .entry shape(.param .u64 to) {
    .reg .b64 %t; .reg .b32 %v<3>;
    ld.param.u64 %t, [to]; mov.u32 %v0, %nctaid.x; mov.u32 %v1, %ntid.x;
    mad.lo.u32 %v2, %v0, 1000, %v1; st.global.u32 [%t], %v2; ret;
}
.visible .entry nothing() { ret; }
// Stores to an address that is no memory.
.visible .entry fault() {
    .reg .b64 %t; mov.u64 %t, 16; st.global.u64 [%t], %t; ret;
}
";

/// `CUgraphNodeParams`.
pub type Params = [u64; 32];
/// `CUDA_MEMCPY3D`.
pub type Copy3 = [u64; 25];

pub const KERNEL: u64 = 0;
pub const MEMCPY: u64 = 1;
pub const MEMSET: u64 = 2;
pub const HOST: u64 = 3;
pub const GRAPH: u64 = 4;
pub const EMPTY: u64 = 5;
pub const WAIT_EVENT: u64 = 6;
pub const RECORD_EVENT: u64 = 7;
pub const SIGNAL: u64 = 8;
pub const WAIT_SEMAPHORE: u64 = 9;
pub const ALLOCATE: u64 = 10;
pub const FREE: u64 = 11;
pub const BATCH: u64 = 12;
pub const CONDITIONAL: u64 = 13;

pub const IF: u64 = 0;
pub const WHILE: u64 = 1;
pub const SWITCH: u64 = 2;

/// A compiled engine with several workers, and the interpreter with one.
const ENGINES: [&[(&str, &str)]; 2] = [
    &[("ANYWARP_ENGINE", "interpreter"), ("ANYWARP_WORKERS", "1")],
    &[("ANYWARP_ENGINE", "compiled"), ("ANYWARP_WORKERS", "3")],
];

/// Runs a test in processes of its own, on each engine.
pub fn on_each_engine(test: &str, body: impl Fn(&Kit)) {
    for variables in ENGINES {
        by_name::isolated(test, variables, || body(&Kit::start()));
    }
}

/// Runs a test in a process of its own.
pub fn isolated(test: &str, body: impl FnOnce(&Kit)) {
    by_name::isolated(test, ENGINES[0], || body(&Kit::start()));
}

/// Parameters of a node.
pub fn params(kind: u64, words: &[u64]) -> Params {
    let mut params = [0; 32];
    params[0] = kind;
    params[2..2 + words.len()].copy_from_slice(words);
    params
}

pub fn wide(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

/// A line of bytes between device addresses.
pub fn line(to: u64, from: u64, bytes: u64) -> Copy3 {
    let mut copy = [0; 25];
    const DEVICE: u64 = 2;
    (copy[4], copy[6], copy[15], copy[17]) = (DEVICE, from, DEVICE, to);
    (copy[22], copy[23], copy[24]) = (bytes, 1, 1);
    copy
}

pub fn copy3(copy: &Copy3) -> Params {
    params(MEMCPY, &[&[0, 0], &copy[..]].concat())
}

pub fn copy(to: u64, from: u64, bytes: u64) -> Params {
    copy3(&line(to, from, bytes))
}

/// A fill with elements of `size` bytes.
pub fn fill(to: u64, value: u32, size: u32, width: u64) -> Params {
    params(MEMSET, &[to, 0, wide(value, size), width, 1, 0])
}

pub fn host(function: extern "C" fn(u64), data: u64) -> Params {
    params(HOST, &[function as *const () as u64, data])
}

/// Writes a word.
pub const WRITE_32: u64 = 2;
/// Waits until a word is at least a value.
pub const WAIT_32: u64 = 1;

/// The library with the kernels and a stream.
pub struct Kit {
    pub cuda: Library,
    pub context: u64,
    pub stream: u64,
    module: u64,
}

impl std::ops::Deref for Kit {
    type Target = Library;

    fn deref(&self) -> &Library {
        &self.cuda
    }
}

impl Kit {
    pub fn start() -> Kit {
        Library::start();
        Kit::start_here()
    }

    /// As [`Kit::start`], in the current context.
    pub fn start_here() -> Kit {
        let cuda = Library::open();
        let context = cuda.made("cuCtxGetCurrent", &[]);
        let text = format!("{KERNELS}\0");
        let module = cuda.made("cuModuleLoadData", &[text.as_ptr() as u64]);
        let stream = cuda.made("cuStreamCreate", &[1]);
        Kit { cuda, context, stream, module }
    }

    pub fn module(&self) -> u64 {
        self.module
    }

    pub fn function(&self, name: &str) -> u64 {
        let name = format!("{name}\0");
        self.made("cuModuleGetFunction", &[self.module, name.as_ptr() as u64])
    }

    /// Words of device memory, all 0.
    pub fn words(&self, count: u64) -> u64 {
        let address = self.made("cuMemAlloc_v2", &[4 * count]);
        self.ok("cuMemsetD32_v2", &[address, 0, count]);
        address
    }

    pub fn word(&self, address: u64) -> u32 {
        self.read::<u32, 1>(address)[0]
    }

    pub fn graph(&self) -> u64 {
        self.made("cuGraphCreate", &[0])
    }

    /// Adds a node.
    pub fn add(&self, graph: u64, after: &[u64], mut params: Params) -> u64 {
        self.add_to(graph, after, &mut params)
    }

    /// Adds a node; the call may write to the parameters.
    pub fn add_to(&self, graph: u64, after: &[u64], params: &mut Params) -> u64 {
        self.made("cuGraphAddNode_v2", &[graph, list(after), 0, after.len() as u64, at(params)])
    }

    /// Adds a node that runs a kernel with one thread. The arguments are copied by the call.
    pub fn add_kernel(&self, graph: u64, after: &[u64], name: &str, arguments: &[u64]) -> u64 {
        self.with_kernel(name, arguments, |params| self.add_to(graph, after, params))
    }

    /// Calls a function with the parameters of a kernel node, which point to the arguments.
    pub fn with_kernel<T>(&self, name: &str, arguments: &[u64], use_it: impl FnOnce(&mut Params) -> T) -> T {
        let pointers: Vec<u64> =
            arguments.iter().map(|argument| std::ptr::from_ref(argument) as u64).collect();
        let one = wide(1, 1);
        use_it(&mut params(KERNEL, &[self.function(name), one, one, one, 0, list(&pointers), 0, 0, 0]))
    }

    /// A batch of operations; the list must outlive the call.
    pub fn batch(&self, list: &[[u64; 6]]) -> Params {
        params(BATCH, &[self.context, list.len() as u64, list.as_ptr() as u64, 0])
    }

    pub fn instantiate(&self, graph: u64) -> u64 {
        self.made("cuGraphInstantiateWithFlags", &[graph, 0])
    }

    pub fn launch(&self, exec: u64) {
        self.ok("cuGraphLaunch", &[exec, self.stream]);
    }

    pub fn wait(&self) {
        self.ok("cuStreamSynchronize", &[self.stream]);
    }

    /// Launches and waits.
    pub fn run(&self, exec: u64) {
        self.launch(exec);
        self.wait();
    }

    pub fn kind(&self, node: u64) -> u64 {
        let mut kind = 99u32;
        self.ok("cuGraphNodeGetType", &[node, at(&mut kind)]);
        u64::from(kind)
    }

    /// A list that a function with an address and a count returns.
    pub fn list(&self, name: &str, of: u64) -> Vec<u64> {
        let mut count = 0usize;
        self.ok(name, &[of, 0, at(&mut count)]);
        let mut all = vec![0; count];
        if count > 0 {
            self.ok(name, &[of, all.as_mut_ptr() as u64, at(&mut count)]);
        }
        all
    }

    pub fn nodes(&self, graph: u64) -> Vec<u64> {
        self.list("cuGraphGetNodes", graph)
    }

    /// A conditional node's bodies. `handle` is that of its value.
    pub fn add_conditional(
        &self,
        graph: u64,
        after: &[u64],
        handle: u64,
        kind: u64,
        bodies: u32,
    ) -> Vec<u64> {
        let mut asked = params(CONDITIONAL, &[handle, wide(kind as u32, bodies), 0, self.context]);
        self.add_to(graph, after, &mut asked);
        // SAFETY: the call returned the address of a list of this length.
        unsafe { std::slice::from_raw_parts(asked[4] as *const u64, bodies as usize) }.to_vec()
    }

    /// The handle of a value for conditional nodes; with a default at each launch, or without.
    pub fn condition(&self, graph: u64, default: Option<u32>) -> u64 {
        let (value, flags) = (u64::from(default.unwrap_or(0)), u64::from(default.is_some()));
        self.made("cuGraphConditionalHandleCreate", &[graph, self.context, value, flags])
    }

    /// The description of a graph.
    pub fn dot(&self, graph: u64, flags: u64) -> String {
        let path = std::env::temp_dir().join(format!("anywarp-test-{}.dot", std::process::id()));
        let name = std::ffi::CString::new(path.to_str().expect("UTF-8")).expect("no NUL");
        self.ok("cuGraphDebugDotPrint", &[graph, name.as_ptr() as u64, flags]);
        let dot = std::fs::read_to_string(&path).expect("written");
        std::fs::remove_file(&path).expect("removed");
        dot
    }

    /// The graph that a stream captures while `work` runs.
    pub fn captured(&self, work: impl FnOnce()) -> u64 {
        const RELAXED: u64 = 2;
        self.ok("cuStreamBeginCapture_v2", &[self.stream, RELAXED]);
        work();
        let mut graph = 0u64;
        self.ok("cuStreamEndCapture", &[self.stream, at(&mut graph)]);
        graph
    }
}

/// A list's address, or null if it is empty.
pub fn list<T>(values: &[T]) -> u64 {
    if values.is_empty() { 0 } else { values.as_ptr() as u64 }
}
