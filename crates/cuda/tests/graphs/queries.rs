//! What nodes and graphs say of themselves: their numbers and parameters of any kind. And that calls with
//! another kind's parameters do not read them.

use super::kit::*;
use crate::by_name::at;
use crate::by_name::status::{INVALID_VALUE, OK};

#[test]
fn nodes_have_numbers_and_parameters() {
    on_each_engine("graphs::queries::nodes_have_numbers_and_parameters", |kit| {
        let (word, graph, child) = (kit.words(4), kit.graph(), kit.graph());
        let event = kit.made("cuEventCreate", &[2]);
        let inner = kit.add(child, &[], params(EMPTY, &[]));
        let number = |name: &str, handle: u64| {
            let mut number = 0u32;
            kit.ok(name, &[handle, at(&mut number)]);
            number
        };
        let (mut copied, mut filled) = (copy(word + 8, word, 4), fill(word + 4, 7, 4, 1));
        // What names no context gets the current one.
        (copied[3], filled[7]) = (kit.context, kit.context);
        let nodes = [
            (kit.add(graph, &[], copied), &copied[..]),
            (kit.add(graph, &[], filled), &filled),
            (
                kit.add(graph, &[], params(HOST, &[nothing as *const () as u64, 5])),
                &params(HOST, &[nothing as *const () as u64, 5]),
            ),
            (kit.add(graph, &[], params(EMPTY, &[])), &params(EMPTY, &[])),
            (kit.add(graph, &[], params(WAIT_EVENT, &[event])), &params(WAIT_EVENT, &[event])),
            (kit.add(graph, &[], params(RECORD_EVENT, &[event])), &params(RECORD_EVENT, &[event])),
        ];
        let id = number("cuGraphGetId", graph);
        assert_ne!(id, number("cuGraphGetId", child));
        let dot = kit.dot(graph, 0);
        for (place, (node, given)) in nodes.into_iter().enumerate() {
            let (mut words, mut tools, mut holder) = ([u64::MAX; 32], 0u64, 0u64);
            kit.ok("cuGraphNodeGetParams", &[node, at(&mut words)]);
            if words[0] == MEMCPY {
                // Padding behind the kinds of memory.
                [8, 19].iter().for_each(|at| words[*at] &= u64::from(u32::MAX));
            }
            assert_eq!(words, given, "{place}");
            let local = number("cuGraphNodeGetLocalId", node);
            assert_eq!(local, place as u32);
            assert!(dot.contains(&format!("graph_{id}_node_{local}\"")), "{dot}");
            kit.ok("cuGraphNodeGetToolsId", &[node, at(&mut tools)]);
            assert_eq!(tools, u64::from(id) << 32 | u64::from(local));
            kit.ok("cuGraphNodeGetContainingGraph", &[node, at(&mut holder)]);
            assert_eq!(holder, graph);
        }
        // A kernel's arguments are the node's own.
        let kernel = kit.add_kernel(graph, &[], "put", &[word, 9]);
        let mut words = [0u64; 32];
        kit.ok("cuGraphNodeGetParams", &[kernel, at(&mut words)]);
        assert_eq!(
            (words[0], words[2], words[3], words[4]),
            (KERNEL, kit.function("put"), wide(1, 1), wide(1, 1))
        );
        let mut again = 0u64;
        kit.ok("cuGraphAddNode_v2", &[at(&mut again), graph, 0, 0, 0, at(&mut words)]);
        // What a child node tells is its own copy.
        let holds = kit.add(graph, &[], params(GRAPH, &[child]));
        kit.ok("cuGraphNodeGetParams", &[holds, at(&mut words)]);
        let (mut copy, mut holder) = (0u64, 0u64);
        kit.ok("cuGraphChildGraphNodeGetGraph", &[holds, at(&mut copy)]);
        assert_eq!((words[0], words[2]), (GRAPH, copy));
        assert_ne!(copy, child);
        kit.ok("cuGraphNodeGetContainingGraph", &[inner, at(&mut holder)]);
        assert_eq!(holder, child);
        let exec = kit.instantiate(graph);
        let executable = number("cuGraphExecGetId", exec);
        assert!(executable != id && executable != 0);
        let out = at(&mut words);
        for name in ["GetContainingGraph", "GetLocalId", "GetToolsId", "GetParams"] {
            let name = format!("cuGraphNode{name}");
            let rows = [[0, out], [graph, out], [kernel, 0], [0x1234_5678, out]];
            rows.iter().for_each(|row| kit.rows(&[(&name, row, INVALID_VALUE)]));
        }
        for (name, handle) in [("cuGraphGetId", graph), ("cuGraphExecGetId", exec)] {
            let rows = [[0, out], [kernel, out], [handle, 0], [0x1234_5678, out]];
            rows.iter().for_each(|row| kit.rows(&[(name, row, INVALID_VALUE)]));
        }
    });
}

extern "C" fn nothing(_data: u64) {}

/// A node of another kind is refused before what is given for it is read: here it points nowhere.
#[test]
fn parameters_for_another_kind_are_not_read() {
    on_each_engine("graphs::queries::parameters_for_another_kind_are_not_read", |kit| {
        let graph = kit.graph();
        let node = kit.add(graph, &[], params(EMPTY, &[]));
        let exec = kit.instantiate(graph);
        const NOWHERE: u64 = 16;
        let mut semaphores = [NOWHERE, NOWHERE, 3];
        let mut batch = [kit.context, 3, NOWHERE, 0];
        for (name, given) in [
            ("ExternalSemaphoresSignalNodeSetParams", at(&mut semaphores)),
            ("ExternalSemaphoresWaitNodeSetParams", at(&mut semaphores)),
            ("BatchMemOpNodeSetParams", at(&mut batch)),
            ("KernelNodeSetParams_v2", NOWHERE),
            ("HostNodeSetParams", NOWHERE),
        ] {
            kit.rows(&[
                (&format!("cuGraph{name}"), &[node, given], INVALID_VALUE),
                (&format!("cuGraphExec{name}"), &[exec, node, given], INVALID_VALUE),
            ]);
        }
        kit.rows(&[
            ("cuGraphMemcpyNodeSetParams", &[node, NOWHERE], INVALID_VALUE),
            ("cuGraphExecMemcpyNodeSetParams", &[exec, node, NOWHERE, kit.context], INVALID_VALUE),
            ("cuGraphMemsetNodeSetParams", &[node, NOWHERE], INVALID_VALUE),
            ("cuGraphExecMemsetNodeSetParams", &[exec, node, NOWHERE, kit.context], INVALID_VALUE),
            ("cuGraphKernelNodeSetAttribute", &[node, 2, NOWHERE], INVALID_VALUE),
            ("cuGraphNodeGetType", &[node, at(&mut semaphores)], OK),
        ]);
    });
}

/// There are no graphics clients to capture for.
#[test]
fn captures_for_graphics_are_refused() {
    on_each_engine("graphs::queries::captures_for_graphics_are_refused", |kit| {
        let stream = kit.made("cuStreamCreate", &[1]);
        let mut client = [1u64, 0x1000];
        let (mut some, mut none) = (at(&mut client), 0u64);
        kit.rows(&[
            ("cuStreamBeginCaptureToCig", &[stream, at(&mut some)], 801),
            ("cuStreamBeginCaptureToCig", &[stream, at(&mut none)], INVALID_VALUE),
            ("cuStreamBeginCaptureToCig_ptsz", &[stream, 0], INVALID_VALUE),
            ("cuStreamBeginCaptureToCig", &[0x1234, at(&mut some)], 400),
            ("cuStreamEndCaptureToCig", &[stream], INVALID_VALUE),
            ("cuStreamEndCaptureToCig_ptsz", &[stream], INVALID_VALUE),
            ("cuStreamQuery", &[stream], OK),
        ]);
    });
}
