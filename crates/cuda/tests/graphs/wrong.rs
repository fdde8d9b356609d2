//! Every function of graphs and captures with one argument wrong at a time: null, no handle, the handle of
//! something that has ended, the handle of something else. Each call fails, and none ends the process.

use super::kit::*;
use crate::by_name::at;

/// An argument of a right call.
#[derive(Clone, Copy, Debug)]
enum Arg {
    Graph,
    /// The node of this kind in the graph.
    Node(u64),
    Exec,
    Context,
    Stream,
    Event,
    Object,
    /// Space for what the call writes; or null, with `Maybe`.
    Out,
    MaybeOut,
    /// The number of elements that a list has space for.
    Room,
    /// Parameters of a node of this kind: those in the union, or all.
    Words(u64),
    All(u64),
    /// A list of two nodes, without an edge between them.
    Nodes,
    /// The address of memory that a node of no graph frees.
    Address,
    Number(u64),
    /// A number for which there are wrong ones.
    Known(u64, u64),
}

use Arg::*;

const NO_NODES: [Arg; 2] = [Number(0), Number(0)];

/// Functions, and arguments with which they succeed.
fn calls() -> Vec<(&'static str, Vec<Arg>)> {
    let mut all = vec![
        ("cuGraphCreate", vec![Out, Known(0, 1)]),
        ("cuGraphDestroy", vec![Graph]),
        ("cuGraphClone", vec![Out, Graph]),
        ("cuGraphAddEmptyNode", vec![Out, Graph, Nodes, Known(1, 2)]),
        ("cuGraphAddMemFreeNode", [&[Out, Graph], &NO_NODES[..], &[Address]].concat()),
        ("cuGraphAddEventRecordNode", [&[Out, Graph], &NO_NODES[..], &[Event]].concat()),
        ("cuGraphAddEventWaitNode", [&[Out, Graph], &NO_NODES[..], &[Event]].concat()),
        ("cuGraphAddChildGraphNode", [&[Out, Graph], &NO_NODES[..], &[Graph]].concat()),
        ("cuGraphAddMemcpyNode", [&[Out, Graph], &NO_NODES[..], &[Words(MEMCPY), Number(0)]].concat()),
        ("cuGraphAddMemsetNode", [&[Out, Graph], &NO_NODES[..], &[Words(MEMSET), Number(0)]].concat()),
        ("cuGraphKernelNodeGetParams_v2", vec![Node(KERNEL), Out]),
        ("cuGraphKernelNodeGetParams", vec![Node(KERNEL), Out]),
        ("cuGraphMemcpyNodeGetParams", vec![Node(MEMCPY), Out]),
        ("cuGraphMemsetNodeGetParams", vec![Node(MEMSET), Out]),
        ("cuGraphHostNodeGetParams", vec![Node(HOST), Out]),
        ("cuGraphChildGraphNodeGetGraph", vec![Node(GRAPH), Out]),
        ("cuGraphEventRecordNodeGetEvent", vec![Node(RECORD_EVENT), Out]),
        ("cuGraphEventWaitNodeGetEvent", vec![Node(WAIT_EVENT), Out]),
        ("cuGraphBatchMemOpNodeGetParams", vec![Node(BATCH), Out]),
        ("cuGraphKernelNodeSetParams_v2", vec![Node(KERNEL), Words(KERNEL)]),
        ("cuGraphKernelNodeSetParams", vec![Node(KERNEL), Words(KERNEL)]),
        ("cuGraphMemcpyNodeSetParams", vec![Node(MEMCPY), Words(MEMCPY)]),
        ("cuGraphMemsetNodeSetParams", vec![Node(MEMSET), Words(MEMSET)]),
        ("cuGraphHostNodeSetParams", vec![Node(HOST), Words(HOST)]),
        ("cuGraphBatchMemOpNodeSetParams", vec![Node(BATCH), Words(BATCH)]),
        ("cuGraphEventRecordNodeSetEvent", vec![Node(RECORD_EVENT), Event]),
        ("cuGraphEventWaitNodeSetEvent", vec![Node(WAIT_EVENT), Event]),
        ("cuGraphKernelNodeGetAttribute", vec![Node(KERNEL), Known(2, 99), Out]),
        ("cuGraphKernelNodeCopyAttributes", vec![Node(KERNEL), Node(KERNEL)]),
        ("cuGraphNodeGetType", vec![Node(KERNEL), Out]),
        ("cuGraphGetNodes", vec![Graph, MaybeOut, Room]),
        ("cuGraphGetRootNodes", vec![Graph, MaybeOut, Room]),
        ("cuGraphGetEdges", vec![Graph, Number(0), Number(0), Room]),
        ("cuGraphGetEdges_v2", vec![Graph, Number(0), Number(0), Number(0), Room]),
        ("cuGraphNodeGetDependencies", vec![Node(KERNEL), MaybeOut, Room]),
        ("cuGraphNodeGetDependencies_v2", vec![Node(KERNEL), MaybeOut, MaybeOut, Room]),
        ("cuGraphNodeGetDependentNodes", vec![Node(KERNEL), MaybeOut, Room]),
        ("cuGraphNodeGetDependentNodes_v2", vec![Node(KERNEL), MaybeOut, MaybeOut, Room]),
        ("cuGraphAddDependencies", vec![Graph, Number(0), Number(0), Number(0)]),
        ("cuGraphDestroyNode", vec![Node(HOST)]),
        ("cuGraphConditionalHandleCreate", vec![Out, Graph, Context, Number(1), Known(1, 2)]),
        ("cuGraphRetainUserObject", vec![Graph, Object, Known(1, 0), Known(0, 2)]),
        ("cuUserObjectRetain", vec![Object, Known(1, 0)]),
        ("cuUserObjectRelease", vec![Object, Known(1, 2)]),
        ("cuGraphInstantiateWithFlags", vec![Out, Graph, Known(0, 64)]),
        ("cuGraphInstantiate_v2", vec![Out, Graph, MaybeOut, MaybeOut, Number(0)]),
        ("cuGraphInstantiateWithParams", vec![Out, Graph, Out]),
        ("cuGraphExecDestroy", vec![Exec]),
        ("cuGraphExecGetFlags", vec![Exec, Out]),
        ("cuGraphUpload", vec![Exec, Stream]),
        ("cuGraphLaunch", vec![Exec, Stream]),
        ("cuGraphExecUpdate_v2", vec![Exec, Graph, MaybeOut]),
        ("cuGraphExecKernelNodeSetParams_v2", vec![Exec, Node(KERNEL), Words(KERNEL)]),
        ("cuGraphExecKernelNodeSetParams", vec![Exec, Node(KERNEL), Words(KERNEL)]),
        ("cuGraphExecMemcpyNodeSetParams", vec![Exec, Node(MEMCPY), Words(MEMCPY), Number(0)]),
        ("cuGraphExecMemsetNodeSetParams", vec![Exec, Node(MEMSET), Words(MEMSET), Number(0)]),
        ("cuGraphExecHostNodeSetParams", vec![Exec, Node(HOST), Words(HOST)]),
        ("cuGraphExecBatchMemOpNodeSetParams", vec![Exec, Node(BATCH), Words(BATCH)]),
        ("cuGraphExecEventRecordNodeSetEvent", vec![Exec, Node(RECORD_EVENT), Event]),
        ("cuGraphExecEventWaitNodeSetEvent", vec![Exec, Node(WAIT_EVENT), Event]),
        ("cuGraphNodeSetEnabled", vec![Exec, Node(KERNEL), Number(1)]),
        ("cuGraphNodeGetEnabled", vec![Exec, Node(KERNEL), Out]),
        ("cuStreamIsCapturing", vec![Stream, Out]),
        ("cuStreamGetCaptureInfo_v2", vec![Stream, Out, MaybeOut, MaybeOut, MaybeOut, MaybeOut]),
        ("cuStreamGetCaptureInfo_v3", vec![Stream, Out, MaybeOut, MaybeOut, MaybeOut, MaybeOut, MaybeOut]),
        ("cuStreamBeginCapture_v2", vec![Stream, Known(2, 3)]),
        ("cuStreamBeginCaptureToGraph", vec![Stream, Graph, Nodes, Number(0), Known(1, 2), Known(2, 3)]),
    ];
    for kind in [KERNEL, MEMCPY, MEMSET, HOST, GRAPH, EMPTY, WAIT_EVENT, RECORD_EVENT, BATCH] {
        all.push(("cuGraphAddNode", [&[Out, Graph], &NO_NODES[..], &[All(kind)]].concat()));
        all.push((
            "cuGraphAddNode_v2",
            [&[Out, Graph, Nodes, Number(0), Known(1, 2)], &[All(kind)][..]].concat(),
        ));
        if kind != EMPTY && kind != GRAPH {
            all.push(("cuGraphNodeSetParams", vec![Node(kind), All(kind)]));
            all.push(("cuGraphExecNodeSetParams", vec![Exec, Node(kind), All(kind)]));
        }
    }
    all
}

extern "C" fn nothing(_: u64) {}

/// What the arguments stand for, made anew for each call.
struct Things<'a> {
    kit: &'a Kit,
    graph: u64,
    nodes: Vec<(u64, u64)>,
    pair: [u64; 2],
    exec: u64,
    stream: u64,
    event: u64,
    object: u64,
    address: u64,
    memory: u64,
    words: u64,
    child: u64,
    steps: Box<[[u64; 6]; 1]>,
    space: Box<[u64; 64]>,
    room: Box<u64>,
    /// The arguments of a kernel, and their addresses.
    arguments: Box<[u64; 2]>,
    pointers: Box<[u64; 2]>,
    lists: Vec<Box<[u64]>>,
}

impl<'a> Things<'a> {
    fn new(kit: &'a Kit, words: u64) -> Self {
        let memory = kit.graph();
        let mut pool = params(ALLOCATE, &[wide(1, 0), wide(1, 0), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 64, 0]);
        kit.add_to(memory, &[], &mut pool);
        let child = kit.graph();
        let arguments = Box::new([words, 1]);
        let pointers = Box::new(arguments.each_ref().map(|one| std::ptr::from_ref(one) as u64));
        let mut things = Things {
            kit,
            graph: kit.graph(),
            nodes: Vec::new(),
            pair: [0; 2],
            exec: 0,
            stream: kit.made("cuStreamCreate", &[1]),
            event: kit.made("cuEventCreate", &[2]),
            object: kit.made("cuUserObjectCreate", &[0, nothing as *const () as u64, 1, 1]),
            address: pool[16],
            memory,
            words,
            child,
            steps: Box::new([[WRITE_32, words, 1, 0, 0, 0]]),
            space: Box::new([0; 64]),
            room: Box::default(),
            arguments,
            pointers,
            lists: Vec::new(),
        };
        for kind in [KERNEL, MEMCPY, MEMSET, HOST, GRAPH, EMPTY, WAIT_EVENT, RECORD_EVENT, BATCH] {
            let node = kit.add(things.graph, &[], things.params(kind));
            things.nodes.push((kind, node));
        }
        // The second node of the list belongs to another graph.
        things.pair = [things.nodes[5].1, kit.add(child, &[], params(EMPTY, &[]))];
        things.exec = kit.instantiate(things.graph);
        things
    }

    fn params(&self, kind: u64) -> Params {
        let w = self.words;
        match kind {
            KERNEL => {
                let (one, function) = (wide(1, 1), self.kit.function("add"));
                params(KERNEL, &[function, one, one, one, 0, list(&*self.pointers), 0, 0, 0])
            }
            MEMCPY => copy(w, w + 4, 4),
            MEMSET => fill(w, 1, 4, 1),
            HOST => host(nothing, 0),
            GRAPH => params(GRAPH, &[self.child, 0]),
            WAIT_EVENT | RECORD_EVENT => params(kind, &[self.event]),
            BATCH => self.kit.batch(&*self.steps),
            _ => params(kind, &[]),
        }
    }

    fn right(&mut self, arg: Arg) -> u64 {
        match arg {
            Graph => self.graph,
            Node(kind) => self.nodes.iter().find(|one| one.0 == kind).map_or(0, |one| one.1),
            Exec => self.exec,
            Context => self.kit.context,
            Stream => self.stream,
            Event => self.event,
            Object => self.object,
            Out | MaybeOut => at(&mut *self.space),
            Room => {
                *self.room = 9;
                at(&mut *self.room)
            }
            Nodes => at(&mut self.pair),
            Address => self.address,
            Number(number) | Known(number, _) => number,
            Words(kind) | All(kind) => {
                self.lists.push(self.params(kind).into());
                let last = self.lists.last_mut().map_or(0, |list| list.as_mut_ptr() as u64);
                // The first version of copies begins behind two more words of the union.
                let skipped = if kind == MEMCPY { 4 } else { 2 };
                if matches!(arg, All(_)) { last } else { last + 8 * skipped }
            }
        }
    }

    /// What is wrong in the place of an argument.
    fn wrong(&self, arg: Arg, dead: &Dead) -> Vec<u64> {
        let others = |own: u64| -> Vec<u64> {
            [self.graph, self.pair[0], self.exec, self.stream, self.event, self.object, self.words]
                .into_iter()
                .filter(|other| *other != own)
                .collect()
        };
        let no_handles = [7u64, 0xdead_beef_0000, u64::MAX, 1 << 63];
        let handle = |own: u64, dead: u64| {
            [&others(own)[..], &no_handles, &[0, dead, own + 1, own + 16_000_000]].concat()
        };
        match arg {
            Graph => handle(self.graph, dead.graph),
            Exec => handle(self.exec, dead.exec),
            Event => handle(self.event, dead.event),
            Object => handle(self.object, dead.object),
            Node(_) => {
                let mut all = handle(self.pair[0], dead.node);
                all.retain(|one| *one != self.pair[0]);
                all
            }
            // Small numbers are the default streams.
            Stream => handle(self.stream, dead.stream).into_iter().filter(|one| *one > 2).collect(),
            Address => vec![0, 7, self.address + 1, self.words],
            Context => [&others(self.kit.context)[..], &no_handles, &[0]].concat(),
            Out | Room | Words(_) | All(_) | Nodes => vec![0],
            Known(_, wrong) => vec![wrong],
            Number(_) | MaybeOut => Vec::new(),
        }
    }

    fn end(self) {
        let kit = self.kit;
        let mut graph = 0u64;
        // Some calls end or begin something.
        kit.call("cuStreamEndCapture", &[self.stream, at(&mut graph)]);
        for graph in [graph, self.graph, self.child, self.memory] {
            kit.call("cuGraphDestroy", &[graph]);
        }
        kit.call("cuGraphExecDestroy", &[self.exec]);
        kit.call("cuStreamDestroy_v2", &[self.stream]);
        kit.call("cuEventDestroy_v2", &[self.event]);
        kit.call("cuUserObjectRelease", &[self.object, 1]);
        let _ = &self.arguments;
    }
}

/// Handles of what has ended.
struct Dead {
    graph: u64,
    node: u64,
    exec: u64,
    stream: u64,
    event: u64,
    object: u64,
}

#[test]
fn one_wrong_argument_is_refused() {
    isolated("graphs::wrong::one_wrong_argument_is_refused", |kit| {
        let words = kit.words(16);
        let ended = Things::new(kit, words);
        let dead = Dead {
            graph: ended.graph,
            node: ended.pair[0],
            exec: ended.exec,
            stream: ended.stream,
            event: ended.event,
            object: ended.object,
        };
        ended.end();
        let mut made = 0;
        for (name, arguments) in calls() {
            let mut things = Things::new(kit, words);
            let right: Vec<u64> = arguments.iter().map(|arg| things.right(*arg)).collect();
            kit.ok(name, &right);
            things.end();
            for (place, arg) in arguments.iter().enumerate() {
                let mut things = Things::new(kit, words);
                // Calls that fail change nothing, so the same things serve for all of them.
                for wrong in things.wrong(*arg, &dead) {
                    let mut call: Vec<u64> = arguments.iter().map(|arg| things.right(*arg)).collect();
                    call[place] = wrong;
                    let status = kit.call(name, &call);
                    assert_ne!(status, 0, "{name}, argument {place}: {wrong:#x} in the place of {arg:?}");
                    made += 1;
                }
                let right: Vec<u64> = arguments.iter().map(|arg| things.right(*arg)).collect();
                assert_eq!(kit.call(name, &right), 0, "{name} after the wrong calls");
                things.end();
            }
        }
        assert!(made > 1500, "{made} calls");
        kit.ok("cuCtxSynchronize", &[]);
    });
}
