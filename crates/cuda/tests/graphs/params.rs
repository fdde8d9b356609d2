//! What the parameters of nodes may say: grids and extents of 0, bytes that a kind of node does not use, and
//! the handles of conditional nodes.

use super::kit::*;
use crate::by_name::at;
use crate::by_name::status::INVALID_VALUE;

/// Parameters of a kernel node that adds 1 to a word with this many blocks.
fn blocks<T>(kit: &Kit, word: u64, blocks: u32, use_it: impl FnOnce(&mut Params) -> T) -> T {
    kit.with_kernel("add", &[word, 1], |params| {
        params[3] = wide(blocks, 1);
        use_it(params)
    })
}

/// As recorded (`gkernel.add.grid0`, `gcopy.add.width0`, `gmemset.add.width0`, `gexecset.kernel.grid0`).
/// tinygrad adds nodes whose grids depend on a variable with the variable at 0, and is refused on the
/// hardware as here.
#[test]
fn grids_and_extents_of_0_are_refused_when_a_node_is_added_or_changed() {
    let name = "graphs::params::grids_and_extents_of_0_are_refused_when_a_node_is_added_or_changed";
    on_each_engine(name, |kit| {
        let (word, graph) = (kit.words(4), kit.graph());
        let kernel = blocks(kit, word, 3, |params| kit.add_to(graph, &[], params));
        let copies = kit.add(graph, &[kernel], copy(word + 8, word, 4));
        let fills = kit.add(graph, &[kernel], fill(word + 4, 7, 4, 1));
        let exec = kit.instantiate(graph);
        let refused = |node: u64, wrong: &mut Params| {
            let mut out = 0u64;
            let add = [at(&mut out), graph, 0, 0, 0, at(wrong)];
            kit.rows(&[
                ("cuGraphAddNode_v2", &add, INVALID_VALUE),
                ("cuGraphNodeSetParams", &[node, at(wrong)], INVALID_VALUE),
                ("cuGraphExecNodeSetParams", &[exec, node, at(wrong)], INVALID_VALUE),
            ]);
        };
        for (place, wrong) in [
            (3, wide(0, 1)),
            (3, wide(1, 0)),
            (3, wide(1, 65_536)),
            (4, wide(0, 1)),
            (4, wide(1, 0)),
            (5, wide(1, 0)),
            (5, wide(1025, 1)),
        ] {
            kit.with_kernel("add", &[word, 1], |params| {
                params[place] = wrong;
                refused(kernel, params);
            });
        }
        // Width, height and depth of a copy; width and height of a fill.
        for extent in 22..25 {
            let mut described = line(word + 8, word, 4);
            described[extent] = 0;
            refused(copies, &mut copy3(&described));
        }
        refused(fills, &mut params(MEMSET, &[word + 4, 0, wide(7, 4), 0, 1, 0]));
        refused(fills, &mut params(MEMSET, &[word + 4, 0, wide(7, 4), 1, 0, 0]));
        // The node and the executable graph are as they were.
        assert_eq!(kit.nodes(graph).len(), 3);
        let mut got = [0u64; 9];
        kit.ok("cuGraphKernelNodeGetParams_v2", &[kernel, at(&mut got)]);
        assert_eq!(got[1..4], [wide(3, 1), wide(1, 1), wide(1, 1)]);
        let set = "cuGraphExecNodeSetParams";
        for (count, expected) in [(3, 3), (2, 5)] {
            blocks(kit, word, count, |params| kit.ok(set, &[exec, kernel, at(params)]));
            kit.run(exec);
            assert_eq!(kit.read::<u32, 3>(word), [expected, 7, expected]);
        }
        // A launch into a capture is refused too, but empty copies and fills are no nodes.
        let function = kit.function("nothing");
        let captured = kit.captured(|| {
            let arguments = [function, 0, 1, 1, 1, 1, 1, 0, kit.stream, 0, 0];
            kit.rows(&[
                ("cuLaunchKernel", &arguments, INVALID_VALUE),
                ("cuMemcpyDtoDAsync_v2", &[word, word + 4, 0, kit.stream], 0),
                ("cuMemsetD8Async", &[word, 1, 0, kit.stream], 0),
            ]);
        });
        assert_eq!(kit.nodes(captured).len(), 0);
    });
}

extern "C" fn nothing(_: u64) {}

/// By the manual of `cuGraphAddNode`, all unused bytes must be 0: those before the union, behind the members
/// that a kind of node has, and behind the union.
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
            (4, kit.batch(&steps)),
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

/// By the manual of `cuGraphConditionalHandleCreate`, a handle belongs to a conditional node of its graph or
/// of one inside it.
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
