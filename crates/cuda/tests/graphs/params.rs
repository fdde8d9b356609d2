//! What the parameters of nodes may say: grids without blocks, bytes that a kind of node does not use, and the
//! handles of conditional nodes.

use super::kit::*;
use crate::by_name::at;
use crate::by_name::status::INVALID_VALUE;

/// Parameters of a kernel node that adds 1 to a word with so many blocks.
fn blocks<T>(kit: &Kit, word: u64, blocks: u32, use_it: impl FnOnce(&mut Params) -> T) -> T {
    kit.with_kernel("add", &[word, 1], |params| {
        params[3] = wide(blocks, 1);
        use_it(params)
    })
}

/// tinygrad adds and instantiates nodes whose grids depend on a variable with the variable at 0, and sets the
/// grid before it launches.
#[test]
fn a_grid_without_blocks_is_refused_at_the_launch() {
    on_each_engine("graphs::params::a_grid_without_blocks_is_refused_at_the_launch", |kit| {
        let (word, graph) = (kit.words(1), kit.graph());
        let node = blocks(kit, word, 0, |params| kit.add_to(graph, &[], params));
        let last = kit.add_kernel(graph, &[node], "add", &[word, 100]);
        let exec = kit.instantiate(graph);
        let launch = |exec: u64| kit.call("cuGraphLaunch", &[exec, kit.stream]);
        assert_eq!(launch(exec), INVALID_VALUE);
        // What is asked for is what was given.
        let mut got = [0u64; 9];
        kit.ok("cuGraphKernelNodeGetParams_v2", &[node, at(&mut got)]);
        assert_eq!(got[1..4], [wide(0, 1), wide(1, 1), wide(1, 1)]);
        let (set, set_here) = ("cuGraphExecNodeSetParams", "cuGraphNodeSetParams");
        let mut expected = 0;
        for count in [3, 0, 2] {
            blocks(kit, word, count, |params| kit.ok(set, &[exec, node, at(params)]));
            if count == 0 {
                assert_eq!(launch(exec), INVALID_VALUE);
            } else {
                kit.run(exec);
                expected += count + 100;
            }
            assert_eq!(kit.word(word), expected, "{count} blocks");
        }
        // A node that is disabled does nothing.
        blocks(kit, word, 0, |params| kit.ok(set, &[exec, node, at(params)]));
        kit.ok("cuGraphNodeSetEnabled", &[exec, node, 0]);
        kit.run(exec);
        kit.ok("cuGraphNodeSetEnabled", &[exec, node, 1]);
        assert_eq!(launch(exec), INVALID_VALUE);
        expected += 100;
        // By the node, and by an update of the whole graph.
        blocks(kit, word, 5, |params| kit.ok(set_here, &[node, at(params)]));
        let mut info = [0u64; 3];
        kit.ok("cuGraphExecUpdate_v2", &[exec, graph, at(&mut info)]);
        kit.run(exec);
        expected += 105;
        assert_eq!(kit.word(word), expected);
        blocks(kit, word, 0, |params| kit.ok(set_here, &[last, at(params)]));
        kit.ok("cuGraphExecUpdate_v2", &[exec, graph, at(&mut info)]);
        assert_eq!(launch(exec), INVALID_VALUE);
        // In the body of a conditional node.
        let outer = kit.graph();
        let value = kit.condition(outer, Some(0));
        let body = kit.add_conditional(outer, &[], value, IF, 1)[0];
        let inner = blocks(kit, word, 0, |params| kit.add_to(body, &[], params));
        let exec = kit.instantiate(outer);
        assert_eq!(launch(exec), INVALID_VALUE);
        blocks(kit, word, 1, |params| kit.ok(set, &[exec, inner, at(params)]));
        kit.run(exec);
        blocks(kit, word, 0, |params| kit.ok(set, &[exec, inner, at(params)]));
        assert_eq!(launch(exec), INVALID_VALUE);
        assert_eq!(kit.word(word), expected);
        // Everything else is checked when the node is added, and a launch into a capture as any launch.
        let mut out = 0u64;
        for (place, wrong) in [(3, wide(1, 65_536)), (4, wide(1, 0)), (5, wide(1, 0)), (5, wide(1025, 1))] {
            kit.with_kernel("add", &[word, 1], |params| {
                params[place] = wrong;
                let arguments = [at(&mut out), graph, 0, 0, 0, at(params)];
                assert_eq!(kit.call("cuGraphAddNode_v2", &arguments), INVALID_VALUE, "{place}: {wrong:#x}");
            });
        }
        let function = kit.function("nothing");
        let captured = kit.captured(|| {
            let arguments = [function, 0, 1, 1, 1, 1, 1, 0, kit.stream, 0, 0];
            assert_eq!(kit.call("cuLaunchKernel", &arguments), INVALID_VALUE);
        });
        assert_eq!(kit.nodes(captured).len(), 0);
    });
}

extern "C" fn nothing(_: u64) {}

/// By the manual of `cuGraphAddNode`, all unused bytes must be 0: those before the union, behind the members that
/// a kind of node has, and behind the union.
#[test]
fn unused_bytes_are_zero() {
    isolated("graphs::params::unused_bytes_are_zero", |kit| {
        let (words, event) = (kit.words(4), kit.made("cuEventCreate", &[2]));
        let (graph, memory) = (kit.graph(), kit.graph());
        let child = kit.graph();
        let steps = [[WRITE_32, words, 1, 0, 0, 0]];
        let one = wide(1, 1);
        let pool = [wide(1, 0), wide(1, 0), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 512, 0];
        let value = kit.condition(graph, Some(0));
        let conditional = [value, wide(IF as u32, 1), 0, kit.context];
        // The size of each member of the union in CUDA 13.0's header, in words.
        let all = [
            (9, params(KERNEL, &[kit.function("nothing"), one, one, one, 0, 0, 0, 0, 0])),
            (27, copy(words, words + 4, 4)),
            (6, fill(words, 1, 4, 1)),
            (2, host(nothing, 0)),
            (2, params(GRAPH, &[child, 0])),
            (1, params(WAIT_EVENT, &[event])),
            (1, params(RECORD_EVENT, &[event])),
            (4, batch(&steps)),
            (15, params(ALLOCATE, &pool)),
            (4, params(CONDITIONAL, &conditional)),
            (0, params(EMPTY, &[])),
        ];
        for (size, right) in all {
            let graph = if right[0] == ALLOCATE { memory } else { graph };
            let mut out = 0u64;
            // The upper half of the first word and the second one are reserved.
            let unused = [(0, 1 << 32), (1, 1), (1, 1 << 63), (2 + size, 1), (30, 1 << 56), (31, 1)];
            for (place, value) in unused {
                let mut wrong = right;
                wrong[place] |= value;
                let arguments = [at(&mut out), graph, 0, 0, 0, at(&mut wrong)];
                let kind = right[0];
                assert_eq!(kit.call("cuGraphAddNode_v2", &arguments), INVALID_VALUE, "{kind}: word {place}");
            }
            let node = kit.add(graph, &[], right);
            if [ALLOCATE, CONDITIONAL, EMPTY].contains(&right[0]) {
                continue;
            }
            let mut wrong = right;
            wrong[30] = 1;
            kit.rows(&[("cuGraphNodeSetParams", &[node, at(&mut wrong)], INVALID_VALUE)]);
        }
        assert_eq!((kit.nodes(graph).len(), kit.nodes(memory).len()), (10, 1));
    });
}

/// By the manual of `cuGraphConditionalHandleCreate`, a handle belongs to a conditional node of its graph or of
/// one inside it.
#[test]
fn a_handle_belongs_to_one_node_of_its_graph() {
    on_each_engine("graphs::params::a_handle_belongs_to_one_node_of_its_graph", |kit| {
        let (word, graph, other) = (kit.words(1), kit.graph(), kit.graph());
        let value = kit.condition(graph, Some(1));
        let refused = |graph: u64, handle: u64| {
            let mut asked = params(CONDITIONAL, &[handle, wide(IF as u32, 1), 0, kit.context]);
            let mut out = 0u64;
            let arguments = [at(&mut out), graph, 0, 0, 0, at(&mut asked)];
            assert_eq!(kit.call("cuGraphAddNode_v2", &arguments), INVALID_VALUE);
            assert_eq!(kit.nodes(graph).len(), usize::from(graph != other));
        };
        refused(other, value);
        let body = kit.add_conditional(graph, &[], value, IF, 1)[0];
        // Another node has it; a node inside the graph may have another handle of the graph.
        refused(graph, value);
        let (inner, own) = (kit.condition(graph, Some(1)), kit.condition(body, Some(1)));
        let deepest = kit.add_conditional(body, &[], inner, IF, 1)[0];
        kit.add_kernel(deepest, &[], "add", &[word, 1]);
        refused(graph, inner);
        // The handle of a graph inside does not serve the one around it.
        refused(graph, own);
        let further = kit.add_conditional(deepest, &[], own, IF, 1)[0];
        kit.add_kernel(further, &[], "add", &[word, 10]);
        kit.run(kit.instantiate(graph));
        assert_eq!(kit.word(word), 11);
        // Once its node is gone, it is free for another one.
        let node = kit.nodes(graph)[0];
        kit.ok("cuGraphDestroyNode", &[node]);
        let body = kit.add_conditional(graph, &[], value, IF, 1)[0];
        kit.add_kernel(body, &[], "add", &[word, 100]);
        let mut unused = 0u64;
        // No node has the handle of the node that was inside.
        assert_eq!(kit.call("cuGraphInstantiateWithFlags", &[at(&mut unused), graph, 0]), INVALID_VALUE);
        kit.add_conditional(body, &[], inner, IF, 1);
        kit.run(kit.instantiate(graph));
        assert_eq!(kit.word(word), 111);
    });
}
