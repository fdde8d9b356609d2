//! Updates of executable graphs from other graphs.

use super::kit::*;
use crate::by_name::at;
use crate::by_name::status::INVALID_VALUE;

const FAILED: u32 = 910;
const ERROR: u32 = 1;
const TOPOLOGY: u32 = 2;
const KIND: u32 = 3;
const PARAMETERS: u32 = 5;
const FUNCTION: u32 = 7;
const ATTRIBUTES: u32 = 8;

/// Updates; returns the status, the result, and the nodes that are named.
fn update(kit: &Kit, exec: u64, graph: u64) -> (u32, u32, u64, u64) {
    let mut info = [99u64; 3];
    let status = kit.call("cuGraphExecUpdate_v2", &[exec, graph, at(&mut info)]);
    (status, info[0] as u32, info[1], info[2])
}

/// A graph of two kernels and a fill.
fn small(kit: &Kit, words: u64, digit: u64) -> (u64, [u64; 3]) {
    let graph = kit.graph();
    let first = kit.add_kernel(graph, &[], "ten", &[words, digit]);
    let second = kit.add(graph, &[first], fill(words + 4, digit as u32, 4, 1));
    let third = kit.add_kernel(graph, &[second], "ten", &[words, digit + 1]);
    (graph, [first, second, third])
}

#[test]
fn graphs_of_the_same_structure_update() {
    on_each_engine("graphs::updates::graphs_of_the_same_structure_update", |kit| {
        let words = kit.words(2);
        let (graph, _) = small(kit, words, 1);
        let exec = kit.instantiate(graph);
        let (other, _) = small(kit, words, 4);
        // The graph that was instantiated may be gone.
        for destroyed in [false, true] {
            if destroyed {
                kit.ok("cuGraphDestroy", &[graph]);
            }
            for (digit, expected) in [(4, 45), (6, 67)] {
                let (from, _) = small(kit, words, digit);
                // A launch that was submitted keeps what it had.
                kit.write(words, &[0u32; 2]);
                assert_eq!(update(kit, exec, other), (0, 0, 0, 0));
                kit.launch(exec);
                assert_eq!(update(kit, exec, from), (0, 0, 0, 0), "destroyed: {destroyed}");
                kit.ok("cuGraphDestroy", &[from]);
                kit.wait();
                assert_eq!(kit.read::<u32, 2>(words), [45, 4]);
                kit.write(words, &[0u32; 2]);
                kit.run(exec);
                assert_eq!(kit.read::<u32, 2>(words), [expected, digit as u32]);
            }
        }
        let (mut node, mut result) = (9u64, 9u32);
        kit.ok("cuGraphExecUpdate", &[exec, other, at(&mut node), at(&mut result)]);
        assert_eq!((node, result), (0, 0));
    });
}

#[test]
fn other_graphs_do_not_update() {
    isolated("graphs::updates::other_graphs_do_not_update", |kit| {
        let words = kit.words(4);
        let (graph, _) = small(kit, words, 1);
        let exec = kit.instantiate(graph);
        // A node more.
        let (more, _) = small(kit, words, 5);
        kit.add(more, &[], params(EMPTY, &[]));
        assert_eq!(update(kit, exec, more), (FAILED, TOPOLOGY, 0, 0));
        // Another number of nodes at the end.
        let ends = kit.graph();
        let first = kit.add_kernel(ends, &[], "ten", &[words, 5]);
        let fills = kit.add(ends, &[first], fill(words + 4, 5, 4, 1));
        let last = kit.add_kernel(ends, &[first], "ten", &[words, 5]);
        let (status, result, node, from) = update(kit, exec, ends);
        assert!((status, result, from) == (FAILED, TOPOLOGY, 0) && (node == fills || node == last));
        // Another number of dependencies.
        let (wide, [first, _, last]) = small(kit, words, 5);
        let (from, to) = ([first], [last]);
        kit.ok("cuGraphAddDependencies", &[wide, list(&from), list(&to), 1]);
        assert_eq!(update(kit, exec, wide), (FAILED, TOPOLOGY, last, 0));
        // Another kind of node.
        let kinds = kit.graph();
        let first = kit.add_kernel(kinds, &[], "ten", &[words, 5]);
        let second = kit.add(kinds, &[first], copy(words + 4, words, 4));
        kit.add_kernel(kinds, &[second], "ten", &[words, 5]);
        assert_eq!(update(kit, exec, kinds), (FAILED, KIND, second, 0));
        // A dependency that is paired with another node already: a diamond, and one whose halves share.
        let diamond = |shared: bool| {
            let graph = kit.graph();
            let nodes: Vec<u64> = (0..2).map(|_| kit.add(graph, &[], params(EMPTY, &[]))).collect();
            let left = kit.add(graph, &[nodes[0]], params(EMPTY, &[]));
            let right = kit.add(graph, &[nodes[usize::from(!shared)]], params(EMPTY, &[]));
            let more = if shared { [left, nodes[1]] } else { [left, nodes[0]] };
            kit.add(graph, &[left, right], params(EMPTY, &[]));
            kit.add(graph, &more, params(EMPTY, &[]));
            graph
        };
        let pair = kit.instantiate(diamond(false));
        assert_eq!(update(kit, pair, diamond(false)), (0, 0, 0, 0));
        let (status, result, node, from) = update(kit, pair, diamond(true));
        assert_eq!((status, result), (FAILED, TOPOLOGY));
        assert!(node != 0 && from != 0);
        // Parameters.
        let from_host = {
            let graph = kit.graph();
            let mut value = [0u32; 4];
            let mut described = line(words, 0, 4);
            (described[4], described[5], described[6]) = (1, at(&mut value), 0);
            (kit.add(graph, &[], copy3(&described)), graph)
        };
        let copies = kit.graph();
        kit.add(copies, &[], copy(words, words + 4, 4));
        let copies = kit.instantiate(copies);
        assert_eq!(update(kit, copies, from_host.1), (FAILED, PARAMETERS, from_host.0, 0));
        let steps = [[WRITE_32, words, 1, 0, 0, 0], [WRITE_32, words, 2, 0, 0, 0]];
        let batches = |count: usize| {
            let graph = kit.graph();
            (kit.add(graph, &[], kit.batch(&steps[..count])), graph)
        };
        let (one, two) = (batches(1), batches(2));
        assert_eq!(update(kit, kit.instantiate(one.1), two.1), (FAILED, PARAMETERS, two.0, 0));
        // Attributes.
        let attributed = |number: u64, value: u64| {
            let (graph, [first, ..]) = small(kit, words, 5);
            let mut attribute = [value, 0, 0, 0, 0, 0, 0, 0];
            kit.ok("cuGraphKernelNodeSetAttribute", &[first, number, at(&mut attribute)]);
            (first, graph)
        };
        let cooperative = attributed(2, 1);
        assert_eq!(update(kit, exec, cooperative.1), (FAILED, ATTRIBUTES, cooperative.0, 0));
        let urgent = attributed(8, u64::from(-2i32 as u32));
        assert_eq!(update(kit, exec, urgent.1), (0, 0, 0, 0));
        const USE_NODE_PRIORITY: u64 = 8;
        let with_priorities = kit.made("cuGraphInstantiateWithFlags", &[graph, USE_NODE_PRIORITY]);
        assert_eq!(update(kit, with_priorities, urgent.1), (FAILED, ATTRIBUTES, urgent.0, 0));
        // A function of another context.
        kit.made("cuCtxCreate_v4", &[0, 0, 0]);
        let second = Kit::start_here();
        let (foreign, [first, ..]) = small(&second, words, 5);
        kit.primary();
        assert_eq!(update(kit, exec, foreign), (FAILED, FUNCTION, first, 0));
        // Nothing at all.
        assert_eq!(update(kit, exec, 0), (INVALID_VALUE, ERROR, 0, 0));
        assert_eq!(update(kit, 0, graph), (INVALID_VALUE, ERROR, 0, 0));
        // A graph with a cycle has no counterpart.
        let (cycle, [first, second, _]) = small(kit, words, 5);
        let (from, to) = ([second], [first]);
        kit.ok("cuGraphAddDependencies", &[cycle, list(&from), list(&to), 1]);
        assert_eq!(update(kit, exec, cycle).1, TOPOLOGY);
        // All that changed nothing.
        kit.write(words, &[0u32; 2]);
        kit.run(exec);
        assert_eq!(kit.read::<u32, 2>(words), [56, 5], "as `urgent` made it");
    });
}

#[test]
fn graphs_in_nodes_are_updated_too() {
    on_each_engine("graphs::updates::graphs_in_nodes_are_updated_too", |kit| {
        let words = kit.words(2);
        // A loop that runs `rounds` times by default, with a child graph in it.
        let looping = |rounds: u32, digit: u64| {
            let (graph, child) = (kit.graph(), kit.graph());
            let value = kit.condition(graph, Some(rounds));
            kit.add_kernel(child, &[], "ten", &[words, digit]);
            let body = kit.add_conditional(graph, &[], value, WHILE, 1)[0];
            let node = kit.add(body, &[], params(GRAPH, &[child, 0]));
            kit.add_kernel(body, &[node], "add", &[value, u64::from(u32::MAX)]);
            kit.ok("cuGraphDestroy", &[child]);
            graph
        };
        let graph = looping(2, 1);
        let exec = kit.instantiate(graph);
        kit.run(exec);
        assert_eq!(kit.word(words), 11);
        kit.ok("cuGraphDestroy", &[graph]);
        // The default value comes with the update, and kernels set the other graph's value.
        for (rounds, digit, expected) in [(3, 7, 777), (1, 2, 2), (4, 5, 5555)] {
            let other = looping(rounds, digit);
            assert_eq!(update(kit, exec, other), (0, 0, 0, 0));
            kit.ok("cuGraphDestroy", &[other]);
            for _ in 0..2 {
                kit.write(words, &[0u32; 2]);
                kit.run(exec);
                assert_eq!(kit.word(words), expected);
            }
        }
        let kind = kit.graph();
        let value = kit.condition(kind, Some(1));
        kit.add_conditional(kind, &[], value, IF, 1);
        assert_eq!(update(kit, exec, kind).1, PARAMETERS);
    });
}
