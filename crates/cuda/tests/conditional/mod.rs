//! Conditional nodes whose kernels call `cudaGraphSetConditional`.

use std::ptr::null;

use crate::call;
use crate::support::{Cuda, HEAD, P, everywhere};

/// `count` adds 1 to a word and lets a loop go on while the word is below a bound; `choose` sets the value
/// that it finds in memory; `add` adds a number to a word.
const KERNELS: &str = "
.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);
.visible .entry count(.param .u64 word, .param .u32 bound, .param .u64 handle) {
    .reg .pred %p; .reg .b32 %n, %m, %go; .reg .b64 %at, %h;
    ld.param.u64 %at, [word]; ld.param.u32 %m, [bound]; ld.param.u64 %h, [handle];
    ld.global.u32 %n, [%at]; add.u32 %n, %n, 1; st.global.u32 [%at], %n;
    setp.lt.u32 %p, %n, %m; selp.b32 %go, 1, 0, %p;
    { .param .b64 a; .param .b32 b; st.param.b64 [a], %h; st.param.b32 [b], %go;
      call.uni cudaGraphSetConditional, (a, b); }
    ret;
}
.visible .entry choose(.param .u64 word, .param .u64 handle) {
    .reg .b32 %n; .reg .b64 %at, %h;
    ld.param.u64 %at, [word]; ld.param.u64 %h, [handle]; ld.global.u32 %n, [%at];
    { .param .b64 a; .param .b32 b; st.param.b64 [a], %h; st.param.b32 [b], %n;
      call.uni cudaGraphSetConditional, (a, b); }
    ret;
}
.visible .entry add(.param .u64 word, .param .u32 by) {
    .reg .b32 %n, %m; .reg .b64 %at;
    ld.param.u64 %at, [word]; ld.param.u32 %m, [by];
    ld.global.u32 %n, [%at]; add.u32 %n, %n, %m; st.global.u32 [%at], %n; ret;
}
";

const IF: u64 = 0;
const WHILE: u64 = 1;
const SWITCH: u64 = 2;
/// `CU_GRAPH_COND_ASSIGN_DEFAULT`.
const ASSIGN_DEFAULT: u32 = 1;
/// `CU_GRAPH_NODE_TYPE_CONDITIONAL`.
const CONDITIONAL: u64 = 13;

/// Values, each with what one launch adds.
type Sums = &'static [(u32, u32)];

/// The current context.
fn context(cuda: &Cuda) -> P {
    let mut context = 0;
    call!(cuda.cuCtxGetCurrent(&mut context));
    context
}

fn handle(cuda: &Cuda, graph: P, default: u32) -> u64 {
    let mut handle = 0u64;
    call!(cuda.cuGraphConditionalHandleCreate(&mut handle, graph, context(cuda), default, ASSIGN_DEFAULT));
    handle
}

/// Adds a conditional node; returns it and its bodies.
fn conditional(cuda: &Cuda, graph: P, after: &[P], handle: u64, kind: u64, size: u64) -> (P, Vec<P>) {
    let mut params = [0u64; 32];
    params[..6].copy_from_slice(&[CONDITIONAL, 0, handle, kind | size << 32, 0, context(cuda) as u64]);
    let mut node = 0;
    call!(cuda.cuGraphAddNode_v2(&mut node, graph, after.as_ptr(), null(), after.len(), params.as_mut_ptr()));
    // SAFETY: the driver has written the address of that many handles.
    let bodies = unsafe { std::slice::from_raw_parts(params[4] as *const P, size as usize) };
    (node, bodies.to_vec())
}

/// Adds a kernel node of one thread.
fn kernel(cuda: &Cuda, graph: P, after: &[P], function: P, arguments: &[u64]) -> P {
    let pointers: Vec<*const u64> = arguments.iter().map(|value| value as *const u64).collect();
    // Function, grid and block of 1, shared memory, parameters, extra, kernel, context.
    let one = 1u64 | 1 << 32;
    let params = [function, one, one, one, 0, pointers.as_ptr() as u64, 0, 0, 0];
    let mut node = 0;
    call!(cuda.cuGraphAddKernelNode_v2(&mut node, graph, after.as_ptr(), after.len(), params.as_ptr()));
    node
}

fn launch(cuda: &Cuda, graph: P, times: usize) {
    let mut exec = 0;
    call!(cuda.cuGraphInstantiateWithFlags(&mut exec, graph, 0u64));
    for _ in 0..times {
        call!(cuda.cuGraphLaunch(exec, 0));
    }
    call!(cuda.cuCtxSynchronize());
    call!(cuda.cuGraphExecDestroy(exec));
}

fn a_loop_runs_until_its_kernel_says_so() {
    let cuda = Cuda::start();
    let module = cuda.module(&format!("{HEAD}{KERNELS}"));
    let count = cuda.function(module, "count");
    let words = cuda.upload(&[0u32; 4]);
    let mut graph = 0;
    call!(cuda.cuGraphCreate(&mut graph, 0));
    let outer = handle(&cuda, graph, 1);
    let (_, bodies) = conditional(&cuda, graph, &[], outer, WHILE, 1);
    // Inside: a loop of its own, which begins with its default value in each run of the body, then the count.
    let inner = handle(&cuda, bodies[0], 1);
    let (node, inside) = conditional(&cuda, bodies[0], &[], inner, WHILE, 1);
    // Once the inner count has reached its bound, each run of the body counts once more.
    kernel(&cuda, inside[0], &[], count, &[words + 4, 3, inner]);
    kernel(&cuda, bodies[0], &[node], count, &[words, 5, outer]);
    launch(&cuda, graph, 1);
    assert_eq!(cuda.download::<u32>(words, 2), [5, 7], "3 runs at first, then one in each of 4");
    call!(cuda.cuGraphDestroy(graph));
}

fn a_value_selects_a_body() {
    let cuda = Cuda::start();
    let module = cuda.module(&format!("{HEAD}{KERNELS}"));
    let (choose, add) = (cuda.function(module, "choose"), cuda.function(module, "add"));
    // Kind, number of bodies, and for each value the sum that one launch adds: body i adds 10^i.
    let rows: [(u64, u64, Sums); 3] = [
        (IF, 1, &[(0, 0), (1, 1), (7, 1)]),
        (IF, 2, &[(0, 10), (1, 1), (9, 1)]),
        (SWITCH, 3, &[(0, 1), (1, 10), (2, 100), (3, 0), (u32::MAX, 0)]),
    ];
    for (kind, size, values) in rows {
        let words = cuda.upload(&[0u32; 2]);
        let mut graph = 0;
        call!(cuda.cuGraphCreate(&mut graph, 0));
        let handle = handle(&cuda, graph, 0);
        let first = kernel(&cuda, graph, &[], choose, &[words, handle]);
        let (_, bodies) = conditional(&cuda, graph, &[first], handle, kind, size);
        for (number, body) in bodies.iter().enumerate() {
            kernel(&cuda, *body, &[], add, &[words + 4, 10u64.pow(number as u32)]);
        }
        for (value, sum) in values {
            let start = [*value, 0];
            call!(cuda.cuMemcpyHtoD_v2(words, start.as_ptr().cast(), size_of_val(&start)));
            launch(&cuda, graph, 2);
            assert_eq!(
                cuda.download::<u32>(words, 2),
                [*value, 2 * sum],
                "kind {kind}, {size} bodies, {value}"
            );
        }
        call!(cuda.cuGraphDestroy(graph));
    }
}

#[test]
fn loops() {
    everywhere("conditional::loops", &[], a_loop_runs_until_its_kernel_says_so);
}

#[test]
fn selections() {
    everywhere("conditional::selections", &[], a_value_selects_a_body);
}
