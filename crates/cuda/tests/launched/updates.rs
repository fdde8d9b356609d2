//! Kernel nodes that kernels update.

use super::{instantiate, new_graph, node, node_params};
use crate::call;
use crate::support::{Cuda, LaunchAttribute, LaunchConfig, P, everywhere, isolated, status};

/// `CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE`.
const UPDATABLE: u32 = 13;
const GRAPH_EXEC_UPDATE_FAILURE: u32 = 910;

/// `apply` hands a list of updates over and stores the status; `grid`, `param` and `enable` make one. `count`
/// adds its number to a word in every block.
const KERNELS: &str = "
.version 8.0
.target sm_52
.address_size 64
.extern .func (.param .b32 r) cudaGraphKernelNodeSetParam(.param .b64 n, .param .b64 o, .param .b64 v, .param .b64 s);
.extern .func (.param .b32 r) cudaGraphKernelNodeSetEnabled(.param .b64 n, .param .b32 e);
.extern .func (.param .b32 r) cudaGraphKernelNodeSetGridDim(.param .b64 n, .param .align 4 .b8 g[12]);
.extern .func (.param .b32 r) cudaGraphKernelNodeUpdatesApply(.param .b64 u, .param .b64 c);
.visible .entry apply(.param .u64 list, .param .u64 size, .param .u64 status)
{
    .reg .b32 %v; .reg .b64 %w; .param .b64 a, b; .param .b32 r;
    ld.param.u64 %w, [list]; st.param.b64 [a], %w; ld.param.u64 %w, [size]; st.param.b64 [b], %w;
    call (r), cudaGraphKernelNodeUpdatesApply, (a, b);
    ld.param.b32 %v, [r]; ld.param.u64 %w, [status]; st.global.u32 [%w], %v; ret;
}
.visible .entry grid(.param .u64 node, .param .u32 x, .param .u64 status)
{
    .reg .b32 %v; .reg .b64 %w; .param .b64 a; .param .align 4 .b8 g[12]; .param .b32 r;
    ld.param.u64 %w, [node]; st.param.b64 [a], %w; ld.param.u32 %v, [x]; st.param.b32 [g], %v;
    st.param.b32 [g+4], 1; st.param.b32 [g+8], 2;
    call (r), cudaGraphKernelNodeSetGridDim, (a, g);
    ld.param.b32 %v, [r]; ld.param.u64 %w, [status]; st.global.u32 [%w], %v; ret;
}
.visible .entry enable(.param .u64 node, .param .u32 on, .param .u64 status)
{
    .reg .b32 %v; .reg .b64 %w; .param .b64 a; .param .b32 b, r;
    ld.param.u64 %w, [node]; st.param.b64 [a], %w; ld.param.u32 %v, [on]; st.param.b32 [b], %v;
    call (r), cudaGraphKernelNodeSetEnabled, (a, b);
    ld.param.b32 %v, [r]; ld.param.u64 %w, [status]; st.global.u32 [%w], %v; ret;
}
.visible .entry param(.param .u64 node, .param .u64 offset, .param .u64 from, .param .u64 size, .param .u64 status)
{
    .reg .b32 %v; .reg .b64 %w; .param .b64 a, b, c, d; .param .b32 r;
    ld.param.u64 %w, [node]; st.param.b64 [a], %w; ld.param.u64 %w, [offset]; st.param.b64 [b], %w;
    ld.param.u64 %w, [from]; st.param.b64 [c], %w; ld.param.u64 %w, [size]; st.param.b64 [d], %w;
    call (r), cudaGraphKernelNodeSetParam, (a, b, c, d);
    ld.param.b32 %v, [r]; ld.param.u64 %w, [status]; st.global.u32 [%w], %v; ret;
}
.visible .entry count(.param .u64 word, .param .u32 by)
{
    .reg .b32 %v; .reg .b64 %w;
    ld.param.u64 %w, [word]; ld.param.u32 %v, [by]; red.global.add.u32 [%w], %v; ret;
}
";

struct Kit {
    cuda: Cuda,
    module: P,
    /// Words: a sum, the status of the last update, a value.
    words: P,
}

impl Kit {
    fn new() -> Kit {
        let cuda = Cuda::start();
        let module = cuda.module(KERNELS);
        let words = cuda.upload(&[0u32, 0, 50, 0]);
        Kit { cuda, module, words }
    }

    fn function(&self, name: &str) -> P {
        self.cuda.function(self.module, name)
    }

    fn graph_of(&self, function: &str, arguments: &[u64]) -> (P, P) {
        let graph = new_graph(&self.cuda);
        let node = node(&self.cuda, graph, &[], self.function(function), arguments);
        (graph, node)
    }

    /// Lets kernels update a node; returns its handle.
    fn updatable(&self, node: P) -> P {
        let cuda = &self.cuda;
        let mut value = [1u64, 0, 0, 0, 0, 0, 0, 0];
        call!(cuda.cuGraphKernelNodeSetAttribute(node, UPDATABLE, value.as_mut_ptr()));
        assert_ne!(value[1], 0);
        let mut got = [0u64; 8];
        call!(cuda.cuGraphKernelNodeGetAttribute(node, UPDATABLE, got.as_mut_ptr()));
        assert_eq!(got, value);
        value[1]
    }

    /// Runs a kernel that makes an update; returns the status.
    fn update(&self, function: &str, arguments: &[u64]) -> u32 {
        let cuda = &self.cuda;
        let arguments = [arguments, &[self.words + 4]].concat();
        let (graph, _) = self.graph_of(function, &arguments);
        let exec = instantiate(&self.cuda, graph, 0);
        call!(cuda.cuGraphLaunch(exec, 0));
        self.cuda.download::<u32>(self.words, 2)[1]
    }

    /// Launches and returns what `count` has added.
    fn sum(&self, exec: P) -> u32 {
        let cuda = &self.cuda;
        call!(cuda.cuMemsetD32_v2(self.words, 0, 1));
        call!(cuda.cuGraphLaunch(exec, 0));
        self.cuda.download::<u32>(self.words, 1)[0]
    }
}

fn updates() {
    let kit = Kit::new();
    let (cuda, from) = (&kit.cuda, kit.words + 8);
    let (graph, count) = kit.graph_of("count", &[kit.words, 3]);
    let handle = kit.updatable(count);
    let exec = instantiate(cuda, graph, 0);
    assert_eq!(kit.sum(exec), 3);
    assert_eq!(kit.update("grid", &[handle, 5]), 0);
    assert_eq!(kit.sum(exec), 30);
    assert_eq!(kit.update("param", &[handle, 8, from, 4]), 0);
    assert_eq!([kit.sum(exec), kit.sum(exec)], [500, 500]);
    assert_eq!(kit.update("enable", &[handle, 0]), 0);
    assert_eq!(kit.sum(exec), 0);
    assert_eq!(kit.update("enable", &[handle, 1]), 0);
    assert_eq!(kit.sum(exec), 500);
    // Updates that cannot be leave the node as it is.
    for (function, arguments) in [
        ("grid", &[handle, 0][..]),
        ("grid", &[handle, 1 << 31]),
        ("grid", &[handle + 8, 1]),
        ("grid", &[0, 1]),
        ("enable", &[count, 0]),
        ("param", &[handle, 9, from, 4]),
        ("param", &[handle, u64::MAX, from, 4]),
        ("param", &[handle, 0, from, 13]),
    ] {
        assert_eq!(kit.update(function, arguments), 1, "{function} {arguments:x?}");
    }
    assert_eq!(kit.sum(exec), 500);
    // The host's changes replace the kernels'.
    let arguments = [kit.words, 4];
    let pointers = arguments.each_ref().map(std::ptr::from_ref);
    let params = node_params(kit.function("count"), &pointers);
    call!(cuda.cuGraphExecKernelNodeSetParams_v2(exec, count, params.as_ptr()));
    assert_eq!(kit.sum(exec), 4);
    assert_eq!(kit.update("enable", &[handle, 0]), 0);
    call!(cuda.cuGraphNodeSetEnabled(exec, count, 1));
    assert_eq!(kit.sum(exec), 4);
    // A list: grid, parameter, enabled. A field that is none ends it.
    let size_of_two = 2u64 | 1 << 32;
    let list = [
        [handle, 1, size_of_two, 1, 0],
        [handle, 2, from, 8, 4],
        [handle, 3, 0, 0, 0],
        [handle, 4, 0, 0, 0],
        [handle, 3, 1, 0, 0],
    ];
    let list = cuda.upload(list.as_flattened());
    assert_eq!(kit.update("apply", &[list, 3]), 0);
    assert_eq!(kit.sum(exec), 0);
    assert_eq!(kit.update("apply", &[list, 5]), 1);
    assert_eq!(kit.sum(exec), 0);
    assert_eq!(kit.update("enable", &[handle, 1]), 0);
    assert_eq!(kit.sum(exec), 100);
    // The node is gone with its graphs.
    call!(cuda.cuGraphExecDestroy(exec));
    call!(cuda.cuGraphDestroy(graph));
    assert_eq!(kit.update("grid", &[handle, 5]), 1);
}

/// An update in the same graph, of a node that was captured.
fn captured() {
    let kit = Kit::new();
    let cuda = &kit.cuda;
    let (mut stream, mut graph) = (0, 0);
    call!(cuda.cuStreamCreate(&mut stream, 1));
    let mut attribute = LaunchAttribute { id: UPDATABLE, pad: 0, value: [1, 0, 0, 0, 0, 0, 0, 0] };
    let arguments = [kit.words, 3];
    let mut pointers = arguments.each_ref().map(|value| std::ptr::from_ref(value).cast_mut().cast());
    let mut launch = |attribute: *const LaunchAttribute, expected: u32| {
        let config = LaunchConfig {
            grid: [1; 3],
            block: [1; 3],
            shared: 0,
            stream,
            attributes: attribute,
            attribute_count: 1,
        };
        let none = std::ptr::null_mut();
        call!(cuda.cuLaunchKernelEx(&config, kit.function("count"), pointers.as_mut_ptr(), none) => expected);
    };
    launch(&raw mut attribute, status::NOT_SUPPORTED);
    let config = cuda.upload(&[0u64; 5]);
    let updating = [config, 1, kit.words + 4];
    let mut update = updating.each_ref().map(|value| std::ptr::from_ref(value).cast_mut().cast());
    call!(cuda.cuStreamBeginCapture_v2(stream, 2));
    let (apply, none) = (kit.function("apply"), std::ptr::null_mut());
    call!(cuda.cuLaunchKernel(apply, 1, 1, 1, 1, 1, 1, 0, stream, update.as_mut_ptr(), none));
    launch(&raw mut attribute, 0);
    call!(cuda.cuStreamEndCapture(stream, &mut graph));
    let handle = attribute.value[1];
    assert_ne!(handle, 0);
    let list = [handle, 1, 7 | 1 << 32, 1, 0];
    call!(cuda.cuMemcpyHtoD_v2(config, list.as_ptr().cast(), size_of_val(&list)));
    assert_eq!(kit.sum(instantiate(cuda, graph, 0)), 21);
}

/// What the manual forbids for such nodes and their graphs.
fn limits() {
    let kit = Kit::new();
    let cuda = &kit.cuda;
    let (graph, count) = kit.graph_of("count", &[kit.words, 3]);
    let other = node(cuda, graph, &[], kit.function("count"), &[kit.words, 4]);
    let mut value = [0u64; 8];
    call!(cuda.cuGraphKernelNodeSetAttribute(count, UPDATABLE, value.as_mut_ptr()));
    let handle = kit.updatable(count);
    assert_eq!(kit.updatable(count), handle);
    for wrong in [0, 2] {
        value[0] = wrong;
        call!(cuda.cuGraphKernelNodeSetAttribute(count, UPDATABLE, value.as_mut_ptr()) => status::INVALID_VALUE);
    }
    call!(cuda.cuGraphKernelNodeSetAttribute(other, UPDATABLE, value.as_mut_ptr()) => status::INVALID_VALUE);
    call!(cuda.cuGraphKernelNodeCopyAttributes(other, count) => status::INVALID_VALUE);
    call!(cuda.cuGraphKernelNodeCopyAttributes(count, other) => status::INVALID_VALUE);
    call!(cuda.cuGraphDestroyNode(count) => status::NOT_SUPPORTED);
    let exec = instantiate(cuda, graph, 0);
    let mut again = 0;
    call!(cuda.cuGraphInstantiateWithFlags(&mut again, graph, 0) => status::NOT_SUPPORTED);
    let mut info = [0u64; 3];
    call!(cuda.cuGraphExecUpdate_v2(exec, graph, info.as_mut_ptr().cast()) => GRAPH_EXEC_UPDATE_FAILURE);
    assert_eq!(info[0] as u32, 6);
    // Another graph's copy has a handle of its own, and the other attributes still work.
    let mut clone = 0;
    call!(cuda.cuGraphClone(&mut clone, graph));
    assert_eq!(kit.update("grid", &[handle, 5]), 0);
    assert_eq!(kit.sum(exec), 34);
    assert_eq!(kit.sum(instantiate(cuda, clone, 0)), 7);
    assert_eq!(kit.update("enable", &[handle, 0]), 0);
    call!(cuda.cuGraphExecDestroy(exec));
    call!(cuda.cuGraphDestroyNode(other));
    // What kernels have changed ends with the executable graph.
    assert_eq!(kit.sum(instantiate(cuda, graph, 0)), 3);
}

#[test]
fn kernels_update_nodes() {
    everywhere("launched::updates::kernels_update_nodes", &[], updates);
}

#[test]
fn captured_nodes_are_updated() {
    everywhere("launched::updates::captured_nodes_are_updated", &[], captured);
}

#[test]
fn updatable_nodes_have_limits() {
    isolated("launched::updates::updatable_nodes_have_limits", &[], limits);
}
