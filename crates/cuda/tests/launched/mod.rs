//! Graphs that kernels launch, and kernel nodes that kernels update, as CUDA's programming guide describes
//! them ("Device Graph Launch") and the manual of the launch attribute.

mod updates;

use std::ptr::null_mut;

use crate::call;
use crate::support::Argument::{U32, U64};
use crate::support::{Cuda, P, everywhere, isolated, status};

const TAIL: u64 = 0x0100_0000_0000_0000;
const FORGET: u64 = 0x0200_0000_0000_0000;
const SIBLING: u64 = 0x0300_0000_0000_0000;
/// In a list of launches: the graph that runs.
const CURRENT: u64 = 1;
/// `CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH`.
const DEVICE_LAUNCH: u64 = 4;
/// What `step` adds to a status that it records.
const STATUS: u32 = 1000;

/// `step` appends its number to a log, whose first word counts. Then it launches what a list names, unless
/// the first number of the list, which it lowers, is 0; the second one is the number of launches, each a
/// graph and a stream. It records statuses other than 0. `wait` launches a graph into a stream and spins
/// until a word is set, by `set`.
const KERNELS: &str = "
.version 8.0
.target sm_52
.address_size 64
.extern .func (.param .b32 r) cudaGraphLaunch(.param .b64 graph, .param .b64 stream);
.func record(.param .b64 log, .param .b32 number)
{
    .reg .b32 %v, %n; .reg .b64 %log, %at;
    ld.param.b64 %log, [log]; ld.param.b32 %n, [number];
    atom.add.u32 %v, [%log], 1;
    mul.wide.u32 %at, %v, 4; add.u64 %at, %at, %log; st.u32 [%at+4], %n; ret;
}
.func (.param .b32 status) start(.param .b64 graph, .param .b64 stream)
{
    .reg .b32 %v; .reg .b64 %w; .param .b64 g, s; .param .b32 r;
    ld.param.b64 %w, [graph]; st.param.b64 [g], %w; ld.param.b64 %w, [stream]; st.param.b64 [s], %w;
    call (r), cudaGraphLaunch, (g, s);
    ld.param.b32 %v, [r]; st.param.b32 [status], %v; ret;
}
.visible .entry step(.param .u64 log, .param .u32 number, .param .u64 list)
{
    .reg .pred %p; .reg .b32 %n; .reg .b64 %log, %at, %left, %count, %g, %s;
    .param .b64 a, b; .param .b32 c;
    ld.param.u64 %log, [log]; ld.param.u32 %n, [number]; ld.param.u64 %at, [list];
    st.param.b64 [a], %log; st.param.b32 [c], %n; call record, (a, c);
    ld.u64 %left, [%at]; setp.eq.u64 %p, %left, 0; @%p bra END;
    sub.u64 %left, %left, 1; st.u64 [%at], %left; ld.u64 %count, [%at+8];
LOOP:
    setp.eq.u64 %p, %count, 0; @%p bra END;
    sub.u64 %count, %count, 1; add.u64 %at, %at, 16; ld.u64 %g, [%at]; ld.u64 %s, [%at+8];
    setp.eq.u64 %p, %g, 1; @%p mov.u64 %g, %current_graph_exec;
    st.param.b64 [a], %g; st.param.b64 [b], %s; call (c), start, (a, b); ld.param.b32 %n, [c];
    setp.eq.u32 %p, %n, 0; @%p bra LOOP;
    add.u32 %n, %n, 1000;
    st.param.b64 [a], %log; st.param.b32 [c], %n; call record, (a, c);
    bra LOOP;
END:
    ret;
}
.visible .entry wait(.param .u64 graph, .param .u64 stream, .param .u64 word)
{
    .reg .pred %p; .reg .b32 %v; .reg .b64 %g, %s, %at; .param .b64 a, b; .param .b32 c;
    ld.param.u64 %g, [graph]; ld.param.u64 %s, [stream]; ld.param.u64 %at, [word];
    st.param.b64 [a], %g; st.param.b64 [b], %s; call (c), start, (a, b);
AGAIN:
    ld.volatile.u32 %v, [%at]; setp.eq.u32 %p, %v, 0; @%p bra AGAIN;
    st.u32 [%at+4], 2; ret;
}
.visible .entry set(.param .u64 word)
{
    .reg .b64 %at; ld.param.u64 %at, [word]; st.volatile.u32 [%at], 1; ret;
}
";

/// Adds a kernel node of one thread.
fn node(cuda: &Cuda, graph: P, after: &[P], function: P, arguments: &[u64]) -> P {
    let pointers: Vec<*const u64> = arguments.iter().map(|value| value as *const u64).collect();
    let params = node_params(function, &pointers);
    let mut node = 0;
    call!(cuda.cuGraphAddKernelNode_v2(&mut node, graph, after.as_ptr(), after.len(), params.as_ptr()));
    node
}

/// Function, grid and block of 1, shared memory, parameters, extra, kernel, context.
fn node_params(function: P, pointers: &[*const u64]) -> [u64; 9] {
    let one = 1u64 | 1 << 32;
    [function, one, one, one, 0, pointers.as_ptr() as u64, 0, 0, 0]
}

fn new_graph(cuda: &Cuda) -> P {
    let mut graph = 0;
    call!(cuda.cuGraphCreate(&mut graph, 0));
    graph
}

fn instantiate(cuda: &Cuda, graph: P, flags: u64) -> P {
    let mut exec = 0;
    call!(cuda.cuGraphInstantiateWithFlags(&mut exec, graph, flags));
    exec
}

/// The module with a log.
struct Kit {
    cuda: Cuda,
    step: P,
    set: P,
    wait: P,
    log: P,
}

/// A graph of one step, and its list.
#[derive(Clone, Copy)]
struct Step {
    exec: P,
    list: P,
}

/// Room in lists and in the log.
const ROOM: usize = 1024;

impl Kit {
    fn new() -> Kit {
        let cuda = Cuda::start();
        let module = cuda.module(KERNELS);
        let [step, set, wait] = ["step", "set", "wait"].map(|name| cuda.function(module, name));
        let log = cuda.upload(&[0u32; ROOM]);
        Kit { cuda, step, set, wait, log }
    }

    fn list(&self) -> P {
        self.cuda.upload(&[0u64; ROOM])
    }

    /// A graph of one step with this number.
    fn graph(&self, number: u64, flags: u64) -> Step {
        let (graph, list) = (new_graph(&self.cuda), self.list());
        node(&self.cuda, graph, &[], self.step, &[self.log, number, list]);
        Step { exec: instantiate(&self.cuda, graph, flags), list }
    }

    /// A graph that kernels may launch now.
    fn device_graph(&self, number: u64) -> Step {
        let cuda = &self.cuda;
        let step = self.graph(number, DEVICE_LAUNCH);
        call!(cuda.cuGraphUpload(step.exec, 0));
        step
    }

    /// Fills a list: each of the next `runs` runs of the step launches all of these.
    fn fill(&self, list: P, runs: u64, launches: &[(u64, u64)]) {
        let cuda = &self.cuda;
        let mut words = vec![runs, launches.len() as u64];
        words.extend(launches.iter().flat_map(|(graph, stream)| [*graph, *stream]));
        call!(cuda.cuMemcpyHtoD_v2(list, words.as_ptr().cast(), size_of_val(&words[..])));
    }

    /// Launches and returns what was recorded.
    fn run(&self, exec: P) -> Vec<u32> {
        let cuda = &self.cuda;
        call!(cuda.cuMemsetD32_v2(self.log, 0, 1));
        call!(cuda.cuGraphLaunch(exec, 0));
        self.recorded()
    }

    fn recorded(&self) -> Vec<u32> {
        let cuda = &self.cuda;
        call!(cuda.cuCtxSynchronize());
        let log = self.cuda.download::<u32>(self.log, ROOM);
        log[1..=log[0] as usize].to_vec()
    }
}

/// A graph is complete when its fire-and-forget launches are complete. Then its tail launches run in order,
/// each with its own tail launches before the next.
fn order() {
    let kit = Kit::new();
    let cuda = &kit.cuda;
    let [inner, innermost, after_inner] = [10, 11, 12].map(|n| kit.device_graph(n));
    let [first, second, after_first, sibling] = [20, 22, 21, 30].map(|n| kit.device_graph(n));
    kit.fill(inner.list, 1, &[(after_inner.exec, TAIL), (innermost.exec, FORGET)]);
    kit.fill(first.list, 1, &[(after_first.exec, TAIL)]);
    let (graph, list, none) = (new_graph(&kit.cuda), kit.list(), kit.list());
    let one = node(&kit.cuda, graph, &[], kit.step, &[kit.log, 1, list]);
    node(&kit.cuda, graph, &[one], kit.step, &[kit.log, 2, none]);
    let launches = [(first.exec, TAIL), (second.exec, TAIL), (inner.exec, FORGET), (sibling.exec, SIBLING)];
    kit.fill(list, 1, &launches);
    let mut ran = kit.run(instantiate(&kit.cuda, graph, 0));
    // When the sibling runs is not promised.
    let place = ran.iter().position(|number| *number == 30).expect("the sibling");
    assert!(place > 0, "{ran:?}");
    ran.remove(place);
    assert_eq!(ran[ran.len() - 3..], [20, 21, 22], "{ran:?}");
    // The second step runs beside what the first has launched.
    let place = ran.iter().position(|number| *number == 2).expect("the second step");
    ran.remove(place);
    assert_eq!(ran[..4], [1, 10, 11, 12], "{ran:?}");
    // What comes after it in the stream comes after all of it.
    kit.fill(list, 1, &launches);
    kit.fill(inner.list, 1, &[(after_inner.exec, TAIL), (innermost.exec, FORGET)]);
    kit.fill(first.list, 1, &[(after_first.exec, TAIL)]);
    call!(cuda.cuMemsetD32_v2(kit.log, 0, 1));
    call!(cuda.cuGraphLaunch(instantiate(&kit.cuda, graph, 0), 0));
    assert_eq!(kit.cuda.launch(kit.step, 1, 1, 0, &[U64(kit.log), U32(99), U64(none)]), 0);
    assert_eq!(kit.recorded().last(), Some(&99));
}

/// A graph launches itself again and again, once each time.
fn relaunch() {
    let kit = Kit::new();
    let graph = kit.graph(7, DEVICE_LAUNCH);
    kit.fill(graph.list, 5, &[(CURRENT, TAIL)]);
    // The launch by the host uploads it.
    assert_eq!(kit.run(graph.exec), [7; 6]);
    kit.fill(graph.list, 1, &[(CURRENT, TAIL), (CURRENT, TAIL), (CURRENT, FORGET), (graph.exec, SIBLING)]);
    assert_eq!(kit.run(graph.exec), [7, STATUS + 1, STATUS + 1, STATUS + 1, 7]);
    // Two graphs take turns: each is over when the other runs.
    let other = kit.device_graph(8);
    kit.fill(graph.list, 3, &[(other.exec, TAIL)]);
    kit.fill(other.list, 3, &[(graph.exec, TAIL)]);
    assert_eq!(kit.run(graph.exec), [7, 8, 7, 8, 7, 8, 7]);
    kit.fill(graph.list, 1, &[(other.exec, SIBLING)]);
    assert_eq!(kit.run(graph.exec), [7, 8]);
}

/// Launches that are not allowed have a status, and the others run.
fn refusals() {
    let kit = Kit::new();
    let cuda = &kit.cuda;
    let (host, raw) = (kit.graph(1, 0), kit.graph(2, DEVICE_LAUNCH));
    let (good, dead) = (kit.device_graph(3), kit.device_graph(4));
    call!(cuda.cuGraphExecDestroy(dead.exec));
    let outer = kit.graph(5, 0);
    let refused = STATUS + 1;
    let cases = [
        // A graph for the host alone, one that is not uploaded, none, and none that runs on the device.
        (host.exec, FORGET),
        (raw.exec, TAIL),
        (dead.exec, FORGET),
        (0, SIBLING),
        (CURRENT, TAIL),
        // Streams of other kinds.
        (good.exec, 0),
        (good.exec, 4),
        (good.exec, TAIL),
        // It is launched already.
        (good.exec, TAIL),
        (good.exec, FORGET),
    ];
    kit.fill(outer.list, 1, &cases);
    assert_eq!(kit.run(outer.exec), [5].into_iter().chain([refused; 9]).chain([3]).collect::<Vec<_>>());
    // A kernel that is no node of a graph.
    let list = kit.list();
    kit.fill(list, 1, &[(good.exec, FORGET)]);
    call!(cuda.cuMemsetD32_v2(kit.log, 0, 1));
    assert_eq!(kit.cuda.launch(kit.step, 1, 1, 0, &[U64(kit.log), U32(6), U64(list)]), 0);
    assert_eq!(kit.recorded(), [6, STATUS + 801]);
    // At most 120 in one environment.
    let graphs: Vec<_> = (0..121).map(|n| kit.device_graph(100 + n)).collect();
    let all = |graphs: &[Step], stream| graphs.iter().map(|graph| (graph.exec, stream)).collect::<Vec<_>>();
    for stream in [FORGET, SIBLING, FORGET] {
        kit.fill(outer.list, 1, &all(&graphs, stream));
        let mut ran = kit.run(outer.exec);
        ran.sort_unstable();
        assert_eq!(ran, [5].into_iter().chain(100..220).chain([refused]).collect::<Vec<_>>());
    }
    // A fire-and-forget graph counts among its siblings, not among its own launches.
    let (middle, inside) = (kit.device_graph(6), kit.device_graph(7));
    kit.fill(outer.list, 1, &[(middle.exec, FORGET)]);
    let mut launches = all(&graphs[..120], SIBLING);
    launches.push((inside.exec, FORGET));
    kit.fill(middle.list, 1, &launches);
    let mut ran = kit.run(outer.exec);
    ran.sort_unstable();
    assert_eq!(ran, [5, 6, 7].into_iter().chain(100..219).chain([refused]).collect::<Vec<_>>());
    // Each sibling launches the next one: all run in the environment of the host's launch.
    for (at, graph) in graphs.iter().enumerate() {
        kit.fill(graph.list, 1, &all(&graphs[at + 1..(at + 2).min(121)], SIBLING));
    }
    kit.fill(outer.list, 1, &all(&graphs[..1], SIBLING));
    assert_eq!(kit.run(outer.exec), [5].into_iter().chain(100..220).chain([refused]).collect::<Vec<_>>());
    // At most 255 at the tail.
    let graphs: Vec<_> = (0..256).map(|n| kit.device_graph(100 + n)).collect();
    kit.fill(outer.list, 1, &all(&graphs, TAIL));
    assert_eq!(kit.run(outer.exec), [5, refused].into_iter().chain(100..355).collect::<Vec<_>>());
}

/// Fire-and-forget graphs nest more deeply than one thread's stack allows.
fn depth() {
    let kit = Kit::new();
    let graphs: Vec<_> = (0..500).map(|n| kit.device_graph(n)).collect();
    for pair in graphs.windows(2) {
        kit.fill(pair[0].list, 1, &[(pair[1].exec, FORGET)]);
    }
    assert_eq!(kit.run(graphs[0].exec), (0..500).collect::<Vec<_>>());
}

/// Kernels launch a graph as it was last uploaded.
fn uploads() {
    let kit = Kit::new();
    let cuda = &kit.cuda;
    let (graph, none) = (new_graph(&kit.cuda), kit.list());
    let inside = node(&kit.cuda, graph, &[], kit.step, &[kit.log, 1, none]);
    let exec = instantiate(&kit.cuda, graph, DEVICE_LAUNCH);
    call!(cuda.cuGraphUpload(exec, 0));
    let outer = kit.graph(5, 0);
    let run = || {
        kit.fill(outer.list, 1, &[(exec, FORGET)]);
        kit.run(outer.exec)
    };
    assert_eq!(run(), [5, 1]);
    let arguments = [kit.log, 2, none];
    let pointers = arguments.each_ref().map(std::ptr::from_ref);
    call!(cuda.cuGraphExecKernelNodeSetParams_v2(exec, inside, node_params(kit.step, &pointers).as_ptr()));
    assert_eq!(run(), [5, 1]);
    call!(cuda.cuGraphUpload(exec, 0));
    assert_eq!(run(), [5, 2]);
    // An instantiation that uploads.
    let mut params = [DEVICE_LAUNCH | 2, 0, 0, 0];
    let mut other = 0;
    call!(cuda.cuGraphInstantiateWithParams(&mut other, graph, params.as_mut_ptr()));
    kit.fill(outer.list, 1, &[(other, FORGET)]);
    assert_eq!(kit.run(outer.exec), [5, 1]);
}

/// A kernel may wait for a graph that it has launched as fire-and-forget or as a sibling.
fn waits() {
    let kit = Kit::new();
    let cuda = &kit.cuda;
    for stream in [FORGET, SIBLING] {
        let words = kit.cuda.upload(&[0u32; 2]);
        let graph = new_graph(&kit.cuda);
        node(&kit.cuda, graph, &[], kit.set, &[words]);
        let inner = instantiate(&kit.cuda, graph, DEVICE_LAUNCH);
        call!(cuda.cuGraphUpload(inner, 0));
        let graph = new_graph(&kit.cuda);
        node(&kit.cuda, graph, &[], kit.wait, &[inner, stream, words]);
        call!(cuda.cuGraphLaunch(instantiate(&kit.cuda, graph, 0), 0));
        call!(cuda.cuCtxSynchronize());
        assert_eq!(kit.cuda.download::<u32>(words, 2), [1, 2]);
    }
}

/// A fault in a graph that a kernel has launched is an error of the context, and nothing after it runs.
fn faults() {
    let kit = Kit::new();
    let cuda = &kit.cuda;
    let graph = new_graph(&kit.cuda);
    node(&kit.cuda, graph, &[], kit.set, &[8]);
    let wrong = instantiate(&kit.cuda, graph, DEVICE_LAUNCH);
    call!(cuda.cuGraphUpload(wrong, 0));
    let (outer, last) = (kit.graph(5, 0), kit.device_graph(6));
    kit.fill(outer.list, 1, &[(last.exec, TAIL), (wrong, FORGET)]);
    call!(cuda.cuGraphLaunch(outer.exec, null_mut::<u8>() as P));
    call!(cuda.cuCtxSynchronize() => status::ILLEGAL_ADDRESS);
}

#[test]
fn graphs_run_in_order() {
    everywhere("launched::graphs_run_in_order", &[], order);
}

#[test]
fn a_graph_launches_itself() {
    everywhere("launched::a_graph_launches_itself", &[], relaunch);
}

#[test]
fn wrong_launches_have_a_status() {
    everywhere("launched::wrong_launches_have_a_status", &[], refusals);
}

#[test]
fn graphs_nest() {
    isolated("launched::graphs_nest", &[], depth);
}

#[test]
fn changes_take_effect_when_uploaded() {
    isolated("launched::changes_take_effect_when_uploaded", &[], uploads);
}

#[test]
fn a_kernel_waits_for_a_graph() {
    everywhere("launched::a_kernel_waits_for_a_graph", &[], waits);
}

#[test]
fn a_fault_ends_the_launch() {
    isolated("launched::a_fault_ends_the_launch", &[], faults);
}
