//! Large graphs, deep ones, and many of them.

use hwtruth::sample;

use super::kit::*;
use crate::by_name::at;
use crate::by_name::status::NOT_SUPPORTED;

extern "C" fn nothing(_: u64) {}

#[test]
fn a_chain_of_a_million_nodes() {
    isolated("graphs::load::a_chain_of_a_million_nodes", |kit| {
        let count = sample::of(1_000_000, 100_000);
        let (graph, words) = (kit.graph(), kit.words(1));
        let mut last = kit.add_kernel(graph, &[], "ten", &[words, 1]);
        for _ in 0..count {
            let after = [last];
            last = kit.made("cuGraphAddEmptyNode", &[graph, list(&after), 1]);
        }
        let end = kit.add_kernel(graph, &[last], "ten", &[words, 2]);
        let exec = kit.instantiate(graph);
        kit.run(exec);
        assert_eq!(kit.word(words), 12);
        let nodes = kit.nodes(graph);
        assert_eq!((nodes.len(), nodes[count + 1]), (count + 2, end));
        let clone = kit.made("cuGraphClone", &[graph]);
        let mut info = [0u64; 3];
        kit.ok("cuGraphExecUpdate_v2", &[exec, clone, at(&mut info)]);
        // Nodes in the middle go one by one.
        for node in &nodes[1..20_001] {
            kit.ok("cuGraphDestroyNode", &[*node]);
        }
        kit.rows(&[("cuGraphDestroy", &[graph], 0), ("cuGraphDestroy", &[clone], 0)]);
        kit.run(exec);
        assert_eq!(kit.word(words), 1212);
        kit.ok("cuGraphExecDestroy", &[exec]);
    });
}

#[test]
fn a_mesh_of_many_nodes() {
    isolated("graphs::load::a_mesh_of_many_nodes", |kit| {
        const WIDTH: usize = 50;
        let nodes_in_all = sample::of(200_000, 40_000);
        let (graph, words) = (kit.graph(), kit.words(1));
        let mut nodes: Vec<u64> = Vec::with_capacity(nodes_in_all);
        for index in 0..nodes_in_all {
            let row = index / WIDTH * WIDTH;
            let after: Vec<u64> = match row {
                0 => Vec::new(),
                _ => (0..3).map(|step| nodes[row - WIDTH + (index + step * 7) % WIDTH]).collect(),
            };
            nodes.push(kit.made("cuGraphAddEmptyNode", &[graph, list(&after), after.len() as u64]));
        }
        kit.add_kernel(graph, &nodes[nodes_in_all - WIDTH..], "ten", &[words, 1]);
        let exec = kit.instantiate(graph);
        for _ in 0..2 {
            kit.run(exec);
        }
        assert_eq!(kit.word(words), 11);
        // All edges at once.
        let mut count = 0usize;
        kit.ok("cuGraphGetEdges", &[graph, 0, 0, at(&mut count)]);
        assert_eq!(count, 3 * (nodes_in_all - WIDTH) + WIDTH);
        let (mut from, mut to) = (vec![0u64; count], vec![0u64; count]);
        let arguments = [graph, from.as_mut_ptr() as u64, to.as_mut_ptr() as u64];
        kit.ok("cuGraphGetEdges", &[&arguments[..], &[at(&mut count)]].concat());
        let arguments = [graph, list(&from), list(&to), count as u64];
        kit.ok("cuGraphRemoveDependencies", &arguments);
        kit.ok("cuGraphAddDependencies", &arguments);
        let again = kit.instantiate(graph);
        kit.run(again);
        assert_eq!(kit.word(words), 111);
        for exec in [exec, again] {
            kit.ok("cuGraphExecDestroy", &[exec]);
        }
        kit.ok("cuGraphDestroy", &[graph]);
    });
}

#[test]
fn a_star_loses_its_nodes_one_by_one() {
    isolated("graphs::load::a_star_loses_its_nodes_one_by_one", |kit| {
        const COUNT: usize = 100_000;
        let graph = kit.graph();
        let center = [kit.add(graph, &[], params(EMPTY, &[]))];
        let add = "cuGraphAddEmptyNode";
        let leaves: Vec<u64> = (0..COUNT).map(|_| kit.made(add, &[graph, list(&center), 1])).collect();
        let all = kit.add(graph, &leaves, params(EMPTY, &[]));
        for leaf in leaves.iter().rev().take(COUNT / 2) {
            kit.ok("cuGraphDestroyNode", &[*leaf]);
        }
        for leaf in leaves.iter().take(COUNT / 2) {
            kit.ok("cuGraphDestroyNode", &[*leaf]);
        }
        assert_eq!(kit.nodes(graph), [center[0], all]);
    });
}

#[test]
fn graphs_in_graphs_are_as_deep_as_they_may_be() {
    on_each_engine("graphs::load::graphs_in_graphs_are_as_deep_as_they_may_be", |kit| {
        const MOVED: u64 = 1;
        let words = kit.words(1);
        // By copies.
        let mut graph = kit.graph();
        kit.add_kernel(graph, &[], "add", &[words, 1]);
        for _ in 0..200 {
            let outer = kit.graph();
            kit.add(outer, &[], params(GRAPH, &[graph, 0]));
            kit.ok("cuGraphDestroy", &[graph]);
            graph = outer;
        }
        let exec = kit.instantiate(graph);
        kit.ok("cuGraphDestroy", &[graph]);
        kit.run(exec);
        assert_eq!(kit.word(words), 1);
        // Handed over, until it is refused; from the outside in, too.
        for inwards in [false, true] {
            let mut graph = kit.graph();
            let (outermost, mut depth) = (graph, 0);
            loop {
                let other = kit.graph();
                let (parent, child) = if inwards { (graph, other) } else { (other, graph) };
                let (mut node, mut moved) = (0u64, params(GRAPH, &[child, MOVED]));
                let arguments = [at(&mut node), parent, 0, 0, 0, at(&mut moved)];
                match kit.call("cuGraphAddNode_v2", &arguments) {
                    0 => depth += 1,
                    status => {
                        assert_eq!((status, (200..1000).contains(&depth)), (NOT_SUPPORTED, true), "{depth}");
                        kit.ok("cuGraphDestroy", &[other]);
                        break;
                    }
                }
                graph = other;
            }
            let top = if inwards { outermost } else { graph };
            if inwards {
                kit.add_kernel(graph, &[], "add", &[words, 1]);
            }
            let clone = kit.made("cuGraphClone", &[top]);
            for one in [top, clone] {
                let exec = kit.instantiate(one);
                kit.run(exec);
                kit.rows(&[("cuGraphExecDestroy", &[exec], 0), ("cuGraphDestroy", &[one], 0)]);
            }
        }
        assert_eq!(kit.word(words), 3);
    });
}

#[test]
fn conditional_nodes_are_as_deep_as_they_may_be() {
    on_each_engine("graphs::load::conditional_nodes_are_as_deep_as_they_may_be", |kit| {
        let words = kit.words(1);
        for depth in [50, 128] {
            let graph = kit.graph();
            let mut body = graph;
            for _ in 0..depth {
                let value = kit.condition(graph, Some(1));
                body = kit.add_conditional(body, &[], value, IF, 1)[0];
            }
            if depth == 128 {
                let (mut node, value) = (0u64, kit.condition(body, Some(1)));
                let mut asked = params(CONDITIONAL, &[value, wide(IF as u32, 1), 0, kit.context]);
                let arguments = [at(&mut node), body, 0, 0, 0, at(&mut asked)];
                assert_eq!(kit.call("cuGraphAddNode_v2", &arguments), NOT_SUPPORTED);
            }
            // Two in no order, which other threads may help to run.
            kit.add_kernel(body, &[], "add", &[words, 1]);
            kit.add_kernel(body, &[], "add", &[words, 1]);
            let exec = kit.instantiate(graph);
            for _ in 0..2 {
                kit.run(exec);
            }
            kit.rows(&[("cuGraphExecDestroy", &[exec], 0), ("cuGraphDestroy", &[graph], 0)]);
        }
        assert_eq!(kit.word(words), 8);
    });
}

/// The depth counts the graphs that are there, not those that have been.
#[test]
fn a_graph_is_less_deep_again_without_its_deepest_node() {
    isolated("graphs::load::a_graph_is_less_deep_again_without_its_deepest_node", |kit| {
        let nested = |depth: u32| {
            let (graph, mut body) = (kit.graph(), 0);
            for level in 0..depth {
                let from = if level == 0 { graph } else { body };
                let value = kit.condition(graph, Some(1));
                body = kit.add_conditional(from, &[], value, IF, 1)[0];
            }
            graph
        };
        // A conditional node counts as four levels, of 512.
        let deep = nested(127);
        let mut out = 0u64;
        let mut hand_over = |inner: u64, status: u32| {
            let body = kit.graph();
            let mut asked = params(GRAPH, &[inner, 1]);
            let arguments = [at(&mut out), body, 0, 0, 0, at(&mut asked)];
            assert_eq!(kit.call("cuGraphAddNode_v2", &arguments), status);
            body
        };
        // 508 and four more of child nodes, but not five.
        let mut all = deep;
        for _ in 0..4 {
            all = hand_over(all, 0);
        }
        hand_over(all, NOT_SUPPORTED);
        // Without what is deep in it, the whole may be inside others again.
        kit.ok("cuGraphDestroyNode", &[kit.nodes(deep)[0]]);
        for _ in 0..100 {
            all = hand_over(all, 0);
        }
        kit.ok("cuGraphDestroy", &[all]);
    });
}

/// Pages of the process in memory.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").expect("Linux");
    text.split(' ').nth(1).and_then(|number| number.parse().ok()).expect("a number")
}

#[test]
fn graphs_leave_nothing_behind() {
    isolated("graphs::load::graphs_leave_nothing_behind", |kit| {
        let (words, event) = (kit.words(8), kit.made("cuEventCreate", &[2]));
        let steps = [[WRITE_32, words + 4, 1, 0, 0, 0]];
        let once = || {
            let (graph, child) = (kit.graph(), kit.graph());
            let inner = kit.add_kernel(child, &[], "add", &[words, 1]);
            kit.add(child, &[inner], fill(words + 8, 1, 4, 1));
            let mut last = kit.add(graph, &[], params(GRAPH, &[child, 0]));
            for next in [
                copy(words + 12, words + 8, 4),
                host(nothing, 0),
                kit.batch(&steps),
                params(RECORD_EVENT, &[event]),
                params(WAIT_EVENT, &[event]),
                params(GRAPH, &[child, 1]),
            ] {
                last = kit.add(graph, &[last], next);
            }
            let clone = kit.made("cuGraphClone", &[graph]);
            let value = kit.condition(graph, Some(1));
            kit.add_conditional(graph, &[last], value, IF, 2);
            let (exec, other) = (kit.instantiate(graph), kit.instantiate(clone));
            kit.launch(exec);
            kit.launch(other);
            let captured = kit.captured(|| kit.ok("cuMemsetD32Async", &[words, 0, 1, kit.stream]));
            // Calls that fail.
            let (mut node, twice) = (0u64, [last, last]);
            let mut asked = params(GRAPH, &[clone, 0]);
            assert_ne!(
                kit.call("cuGraphAddNode_v2", &[at(&mut node), graph, list(&twice), 0, 2, at(&mut asked)]),
                0
            );
            let mut asked = params(CONDITIONAL, &[value, wide(SWITCH as u32, 4), 0, kit.context]);
            assert_ne!(
                kit.call("cuGraphAddNode_v2", &[at(&mut node), graph, list(&twice), 0, 2, at(&mut asked)]),
                0
            );
            // A graph with memory.
            let memory = kit.graph();
            let mut pool =
                params(ALLOCATE, &[wide(1, 0), wide(1, 0), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 << 16, 0]);
            let node = kit.add_to(memory, &[], &mut pool);
            kit.add(memory, &[node], params(FREE, &[pool[16]]));
            let with_memory = kit.instantiate(memory);
            kit.launch(with_memory);
            kit.wait();
            for one in [graph, clone, captured, memory] {
                kit.ok("cuGraphDestroy", &[one]);
            }
            for one in [exec, other, with_memory] {
                kit.ok("cuGraphExecDestroy", &[one]);
            }
        };
        let free = || {
            let (mut free, mut total) = (0u64, 0u64);
            kit.ok("cuMemGetInfo_v2", &[at(&mut free), at(&mut total)]);
            free
        };
        (0..300).for_each(|_| once());
        let (before, pages) = (free(), resident());
        (0..2000).for_each(|_| once());
        assert_eq!(free(), before);
        // About 30 objects a round: a leak of one of them shows, the slots of the handles do not.
        let grown = resident().saturating_sub(pages) * 4096;
        assert!(grown < 2000 * 128, "{grown} bytes");
        // Memory stays reserved for later graphs, and counts as used by them, until it is trimmed (as an H200
        // answered).
        let bytes = |number: u64| {
            let mut value = 9u64;
            kit.ok("cuDeviceGetGraphMemAttribute", &[0, number, at(&mut value)]);
            value
        };
        assert!(bytes(2) > 0, "reserved");
        assert_eq!(bytes(0), bytes(2), "in use");
        kit.ok("cuDeviceGraphMemTrim", &[0]);
        assert_eq!([bytes(0), bytes(2)], [0, 0], "in use and reserved after the trim");
    });
}
