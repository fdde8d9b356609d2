//! Edges, lists, clones, and the lives of graphs and executable graphs.

use std::collections::BTreeSet;

use super::kit::*;
use crate::by_name::at;
use crate::by_name::status::{INVALID_VALUE, NOT_SUPPORTED};

const LOSSY_QUERY: u32 = 402;
/// The data of an edge from a kernel whose blocks signal, to a kernel that was written for it.
const PROGRAMMATIC: [u8; 8] = [1, 0, 1, 0, 0, 0, 0, 0];

/// All edges of a graph.
fn edges(kit: &Kit, graph: u64) -> BTreeSet<(u64, u64)> {
    let mut count = 0usize;
    kit.ok("cuGraphGetEdges", &[graph, 0, 0, at(&mut count)]);
    let (mut from, mut to) = (vec![0u64; count], vec![0u64; count]);
    if count > 0 {
        kit.ok("cuGraphGetEdges", &[graph, from.as_mut_ptr() as u64, to.as_mut_ptr() as u64, at(&mut count)]);
    }
    from.into_iter().zip(to).collect()
}

#[test]
fn edges_are_added_removed_and_listed() {
    isolated("graphs::edges::edges_are_added_removed_and_listed", |kit| {
        let graph = kit.graph();
        let nodes: Vec<u64> = (0..5).map(|_| kit.add(graph, &[], params(EMPTY, &[]))).collect();
        let [a, b, c, d, e] = nodes[..] else { return };
        let (add, remove) = ("cuGraphAddDependencies", "cuGraphRemoveDependencies");
        let (from, to) = ([a, a, b, c], [b, c, d, d]);
        kit.ok(add, &[graph, list(&from), list(&to), 4]);
        assert_eq!(edges(kit, graph), from.into_iter().zip(to).collect());
        let foreign = kit.add(kit.graph(), &[], params(EMPTY, &[]));
        // Nothing is added or removed if one of them is wrong.
        let lists = |from: &[u64], to: &[u64]| (from.to_vec(), to.to_vec());
        for (from, to) in [
            lists(&[d, a], &[e, b]),
            lists(&[d, d], &[e, d]),
            lists(&[d, d], &[e, e]),
            lists(&[d, foreign], &[e, e]),
            lists(&[d, d], &[e, foreign]),
            lists(&[d, 0], &[e, e]),
        ] {
            assert_eq!(kit.call(add, &[graph, list(&from), list(&to), 2]), INVALID_VALUE);
        }
        for (from, to) in [
            lists(&[a, a], &[b, b]),
            lists(&[a, b], &[b, a]),
            lists(&[a, d], &[b, e]),
            lists(&[a, foreign], &[b, b]),
        ] {
            assert_eq!(kit.call(remove, &[graph, list(&from), list(&to), 2]), INVALID_VALUE);
        }
        assert_eq!(edges(kit, graph).len(), 4);
        kit.ok(add, &[graph, 0, 0, 0]);
        kit.ok(remove, &[graph, 0, 0, 0]);
        kit.rows(&[
            (add, &[graph, 0, list(&to), 1], INVALID_VALUE),
            (add, &[graph, list(&from), 0, 1], INVALID_VALUE),
            (remove, &[graph, 0, list(&to), 1], INVALID_VALUE),
            (remove, &[graph, list(&from), 0, 1], INVALID_VALUE),
        ]);
        // Lists: the number without a list; as many as there is space for; zeros beyond the last.
        for (name, of, all) in [
            ("cuGraphGetNodes", graph, nodes.clone()),
            ("cuGraphGetRootNodes", graph, vec![a, e]),
            ("cuGraphNodeGetDependencies", d, vec![b, c]),
            ("cuGraphNodeGetDependentNodes", a, vec![b, c]),
            ("cuGraphNodeGetDependentNodes", e, vec![]),
        ] {
            assert_eq!(kit.list(name, of), all, "{name}");
            for room in [0, 1, all.len(), all.len() + 2] {
                let (mut got, mut count) = ([7u64; 9], room);
                let status = kit.call(name, &[of, at(&mut got), at(&mut count)]);
                // A list without space for anything is refused (`glist`).
                assert_eq!(status, if room == 0 { INVALID_VALUE } else { 0 }, "{name}, space for {room}");
                let written = room.min(all.len());
                assert_eq!((count, &got[..written]), (written, &all[..written]), "{name}, space for {room}");
                assert!(
                    got[written..room].iter().all(|one| *one == 0) && got[room..].iter().all(|one| *one == 7)
                );
            }
            assert_eq!(kit.call(name, &[of, 0, 0]), INVALID_VALUE, "{name}");
        }
        let (mut one, mut count) = ([0u64; 4], 4usize);
        kit.rows(&[
            ("cuGraphGetEdges", &[graph, at(&mut one), 0, at(&mut count)], INVALID_VALUE),
            ("cuGraphGetEdges", &[graph, 0, at(&mut one), at(&mut count)], INVALID_VALUE),
            ("cuGraphGetEdges_v2", &[graph, 0, 0, at(&mut one), at(&mut count)], INVALID_VALUE),
            ("cuGraphNodeGetDependencies_v2", &[d, 0, at(&mut one), at(&mut count)], INVALID_VALUE),
        ]);
        kit.ok(remove, &[graph, list(&from), list(&to), 3]);
        assert_eq!(edges(kit, graph), BTreeSet::from([(c, d)]));
        kit.ok("cuGraphDestroyNode", &[d]);
        assert_eq!((edges(kit, graph).len(), kit.nodes(graph)), (0, vec![a, b, c, e]));
        // Dependencies at the addition: not twice, not of another graph.
        for after in [&[a, a][..], &[foreign], &[d], &[0]] {
            let mut node = 0u64;
            let arguments = [at(&mut node), graph, list(after), after.len() as u64];
            assert_eq!(kit.call("cuGraphAddEmptyNode", &arguments), INVALID_VALUE);
        }
        assert_eq!(kit.nodes(graph).len(), 4);
    });
}

#[test]
fn edges_have_data() {
    on_each_engine("graphs::edges::edges_have_data", |kit| {
        let (graph, word) = (kit.graph(), kit.words(1));
        let first = kit.add_kernel(graph, &[], "ten", &[word, 1]);
        let second = kit.add_kernel(graph, &[], "ten", &[word, 2]);
        let empty = kit.add(graph, &[], params(EMPTY, &[]));
        let mut data = PROGRAMMATIC;
        let (from, to, nowhere) = ([first], [second], [empty]);
        let add = "cuGraphAddDependencies_v2";
        let mut wrong = |bytes: [u8; 8], to: &[u64; 1]| {
            data = bytes;
            kit.call(add, &[graph, list(&from), list(to), at(&mut data), 1])
        };
        assert_eq!(wrong([0, 0, 0, 0, 0, 0, 0, 1], &to), INVALID_VALUE);
        assert_eq!(wrong([9, 0, 0, 0, 0, 0, 0, 0], &to), INVALID_VALUE);
        assert_eq!(wrong([0, 1, 0, 0, 0, 0, 0, 0], &to), INVALID_VALUE);
        assert_eq!(wrong([0, 0, 1, 0, 0, 0, 0, 0], &to), INVALID_VALUE);
        assert_eq!(wrong(PROGRAMMATIC, &nowhere), INVALID_VALUE);
        assert_eq!(wrong(PROGRAMMATIC, &to), 0);
        // Two nodes have one edge at most, whatever its data.
        for another in [PROGRAMMATIC, [0; 8], [2, 0, 1, 0, 0, 0, 0, 0]] {
            assert_eq!(wrong(another, &to), INVALID_VALUE);
        }
        let (mut got, mut other, mut bytes, mut count) = (0u64, 0u64, [9u8; 8], 1usize);
        kit.rows(&[
            ("cuGraphGetEdges", &[graph, at(&mut got), at(&mut other), at(&mut count)], LOSSY_QUERY),
            ("cuGraphNodeGetDependencies", &[second, at(&mut got), at(&mut count)], LOSSY_QUERY),
            ("cuGraphNodeGetDependentNodes", &[first, at(&mut got), at(&mut count)], LOSSY_QUERY),
            ("cuGraphGetEdges_v2", &[graph, at(&mut got), at(&mut other), 0, at(&mut count)], LOSSY_QUERY),
            ("cuGraphGetEdges_v2", &[graph, at(&mut got), at(&mut other), at(&mut bytes), at(&mut count)], 0),
        ]);
        assert_eq!((got, other, bytes, count), (first, second, PROGRAMMATIC, 1));
        bytes = [9; 8];
        kit.ok("cuGraphNodeGetDependencies_v2", &[second, at(&mut got), at(&mut bytes), at(&mut count)]);
        assert_eq!((got, bytes), (first, PROGRAMMATIC));
        kit.ok("cuGraphNodeGetDependentNodes_v2", &[first, at(&mut got), at(&mut bytes), at(&mut count)]);
        assert_eq!((got, bytes), (second, PROGRAMMATIC));
        // The numbers alone lose nothing.
        kit.ok("cuGraphGetEdges", &[graph, 0, 0, at(&mut count)]);
        kit.run(kit.instantiate(graph));
        assert_eq!(kit.word(word), 12);
        // An edge is removed whatever data is given (`gedge.lossy.remove`).
        let (remove, mut unlike) = ("cuGraphRemoveDependencies_v2", [2u8, 0, 1, 0, 0, 0, 0, 0]);
        data = PROGRAMMATIC;
        kit.rows(&[
            ("cuGraphRemoveDependencies", &[graph, list(&from), list(&to), 1], 0),
            (remove, &[graph, list(&from), list(&to), at(&mut data), 1], INVALID_VALUE),
            (add, &[graph, list(&from), list(&to), at(&mut data), 1], 0),
            (remove, &[graph, list(&from), list(&to), at(&mut unlike), 1], 0),
            (remove, &[graph, list(&from), list(&to), at(&mut data), 1], INVALID_VALUE),
        ]);
    });
}

#[test]
fn clones_are_graphs_of_their_own() {
    on_each_engine("graphs::edges::clones_are_graphs_of_their_own", |kit| {
        let (graph, child, words) = (kit.graph(), kit.graph(), kit.words(2));
        let inside = kit.add_kernel(child, &[], "ten", &[words, 2]);
        let first = kit.add_kernel(graph, &[], "ten", &[words, 1]);
        let node = kit.add(graph, &[first], params(GRAPH, &[child, 0]));
        let clone = kit.made("cuGraphClone", &[graph]);
        let copied = kit.made("cuGraphNodeFindInClone", &[first, clone]);
        let copied_child = kit.made("cuGraphNodeFindInClone", &[node, clone]);
        assert!(copied != first && kit.nodes(clone) == [copied, copied_child]);
        assert_eq!(edges(kit, clone), BTreeSet::from([(copied, copied_child)]));
        let mut found = 0u64;
        kit.rows(&[
            ("cuGraphNodeFindInClone", &[at(&mut found), inside, clone], INVALID_VALUE),
            ("cuGraphNodeFindInClone", &[at(&mut found), first, child], INVALID_VALUE),
            ("cuGraphNodeFindInClone", &[at(&mut found), copied, graph], INVALID_VALUE),
        ]);
        kit.with_kernel("ten", &[words, 7], |params| kit.ok("cuGraphNodeSetParams", &[first, at(params)]));
        kit.ok("cuGraphDestroyNode", &[node]);
        kit.ok("cuGraphDestroy", &[child]);
        kit.run(kit.instantiate(clone));
        assert_eq!(kit.word(words), 12);
        kit.ok("cuGraphDestroy", &[graph]);
        kit.run(kit.instantiate(clone));
        assert_eq!(kit.word(words), 1212);
        kit.ok("cuGraphDestroyNode", &[copied]);
        assert_eq!(kit.call("cuGraphDestroyNode", &[copied]), INVALID_VALUE);
        kit.run(kit.instantiate(clone));
        assert_eq!(kit.word(words), 12122);
    });
}

#[test]
fn executable_graphs_are_independent_of_their_source() {
    on_each_engine("graphs::edges::executable_graphs_are_independent_of_their_source", |kit| {
        let words = kit.words(1);
        for destroyed_first in [false, true] {
            kit.ok("cuMemsetD32_v2", &[words, 0, 1]);
            let graph = kit.graph();
            let first = kit.add_kernel(graph, &[], "ten", &[words, 1]);
            let second = kit.add_kernel(graph, &[first], "ten", &[words, 2]);
            let exec = kit.instantiate(graph);
            kit.add_kernel(graph, &[second], "ten", &[words, 3]);
            kit.with_kernel("ten", &[words, 9], |params| {
                kit.ok("cuGraphNodeSetParams", &[first, at(params)])
            });
            kit.launch(exec);
            if destroyed_first {
                kit.ok("cuGraphDestroy", &[graph]);
                kit.launch(exec);
                kit.ok("cuGraphExecDestroy", &[exec]);
            } else {
                kit.launch(exec);
                kit.ok("cuGraphExecDestroy", &[exec]);
                kit.ok("cuGraphDestroy", &[graph]);
            }
            kit.rows(&[
                ("cuGraphLaunch", &[exec, kit.stream], INVALID_VALUE),
                ("cuGraphExecDestroy", &[exec], INVALID_VALUE),
                ("cuGraphDestroy", &[graph], INVALID_VALUE),
                ("cuGraphDestroyNode", &[first], INVALID_VALUE),
            ]);
            kit.wait();
            assert_eq!(kit.word(words), 1212);
        }
    });
}

extern "C" fn nap(milliseconds: u64) {
    std::thread::sleep(std::time::Duration::from_millis(milliseconds));
}

#[test]
fn launches_of_one_executable_graph_run_in_order_in_all_streams() {
    on_each_engine("graphs::edges::launches_of_one_executable_graph_run_in_order_in_all_streams", |kit| {
        let (graph, words) = (kit.graph(), kit.words(2));
        // Reads, sleeps, writes: launches that overlap lose additions.
        let read = kit.add(graph, &[], copy(words + 4, words, 4));
        let pause = kit.add(graph, &[read], host(nap, 1));
        let change = kit.add_kernel(graph, &[pause], "add", &[words + 4, 1]);
        kit.add(graph, &[change], copy(words, words + 4, 4));
        let exec = kit.instantiate(graph);
        let streams: Vec<u64> = (0..4).map(|_| kit.made("cuStreamCreate", &[1])).collect();
        for round in 0..40 {
            kit.ok("cuGraphLaunch", &[exec, streams[round % 4]]);
            // An update holds for later launches alone.
            let by = 2 + round as u64 % 2;
            kit.with_kernel("add", &[words + 4, by], |params| {
                kit.ok("cuGraphExecNodeSetParams", &[exec, change, at(params)]);
            });
        }
        kit.ok("cuGraphExecDestroy", &[exec]);
        for stream in streams {
            kit.ok("cuStreamDestroy_v2", &[stream]);
        }
        kit.ok("cuCtxSynchronize", &[]);
        // 1, then 2 and 3 in turn.
        assert_eq!(kit.word(words), 1 + 2 * 20 + 3 * 19);
    });
}

#[test]
fn nodes_are_disabled_and_enabled() {
    on_each_engine("graphs::edges::nodes_are_disabled_and_enabled", |kit| {
        let (graph, child, words) = (kit.graph(), kit.graph(), kit.words(4));
        let kernel = kit.add_kernel(graph, &[], "ten", &[words, 1]);
        let fills = kit.add(graph, &[kernel], fill(words + 4, 5, 4, 1));
        let copies = kit.add(graph, &[fills], copy(words + 8, words + 4, 4));
        kit.add_kernel(child, &[], "ten", &[words, 2]);
        let node = kit.add(graph, &[copies], params(GRAPH, &[child, 0]));
        let mut embedded = 0u64;
        kit.ok("cuGraphChildGraphNodeGetGraph", &[node, at(&mut embedded)]);
        let inside = kit.nodes(embedded)[0];
        let exec = kit.instantiate(graph);
        let mut enabled = 9u32;
        let (get, set) = ("cuGraphNodeGetEnabled", "cuGraphNodeSetEnabled");
        for off in 0..16u32 {
            kit.write(words, &[0u32; 4]);
            for (bit, one) in [kernel, fills, copies, inside].into_iter().enumerate() {
                let on = off >> bit & 1 ^ 1;
                kit.ok(set, &[exec, one, u64::from(on)]);
                kit.ok(get, &[exec, one, at(&mut enabled)]);
                assert_eq!(enabled, on);
            }
            kit.run(exec);
            let is_on = |bit: u32| off >> bit & 1 == 0;
            let mut wanted = [0u32; 3];
            if is_on(0) {
                wanted[0] = 1;
            }
            if is_on(1) {
                wanted[1] = 5;
            }
            if is_on(2) {
                wanted[2] = wanted[1];
            }
            if is_on(3) {
                wanted[0] = wanted[0] * 10 + 2;
            }
            assert_eq!(kit.read::<u32, 3>(words), wanted, "off: {off:b}");
        }
        // New parameters leave a node disabled.
        kit.write(words, &[0u32; 4]);
        kit.with_kernel("ten", &[words, 7], |params| {
            kit.ok("cuGraphExecNodeSetParams", &[exec, kernel, at(params)]);
        });
        kit.run(exec);
        assert_eq!(kit.word(words), 0);
        kit.rows(&[
            (set, &[exec, node, 0], INVALID_VALUE),
            (get, &[exec, node, at(&mut enabled)], INVALID_VALUE),
            (get, &[exec, kernel, 0], INVALID_VALUE),
            (set, &[0, kernel, 0], INVALID_VALUE),
            (set, &[exec, 0, 0], INVALID_VALUE),
        ]);
    });
}

#[test]
fn instantiation_has_flags_and_says_what_is_wrong() {
    isolated("graphs::edges::instantiation_has_flags_and_says_what_is_wrong", |kit| {
        let (graph, words) = (kit.graph(), kit.words(2));
        let before = kit.add_kernel(graph, &[], "ten", &[words, 1]);
        let first = kit.add_kernel(graph, &[before], "ten", &[words, 1]);
        let second = kit.add_kernel(graph, &[first], "ten", &[words, 1]);
        let behind = kit.add_kernel(graph, &[second], "ten", &[words, 1]);
        let (mut exec, mut flags) = (0u64, 99u64);
        let name = "cuGraphInstantiateWithFlags";
        let mut told = [0u64; 4];
        // As recorded: uploads need parameters, automatic frees and launches from devices exclude each other,
        // and neither uploads nor priorities are reported.
        for asked in 0..=32u64 {
            let known = asked < 16 && asked & 5 != 5;
            let status = if known && asked & 2 == 0 { 0 } else { INVALID_VALUE };
            assert_eq!(kit.call(name, &[at(&mut exec), graph, asked]), status, "{asked}");
            if status == 0 {
                kit.ok("cuGraphExecGetFlags", &[exec, at(&mut flags)]);
                assert_eq!(flags, asked & 5);
                kit.run(exec);
            }
            told = [asked, kit.stream, 8, 77];
            let status = kit.call("cuGraphInstantiateWithParams", &[at(&mut exec), graph, at(&mut told)]);
            assert_eq!(status, if known { 0 } else { INVALID_VALUE }, "{asked}");
            assert_eq!((told[2], told[3] as u32), (0, u32::from(!known)), "{asked}");
        }
        // What a device launches has kernels, copies, fills and children of one context.
        let device = kit.graph();
        let mut for_devices = || {
            told = [4, 0, 8, 77];
            let status = kit.call("cuGraphInstantiateWithParams", &[at(&mut exec), device, at(&mut told)]);
            (status, told[2], told[3] as u32)
        };
        assert_eq!(for_devices(), (INVALID_VALUE, 0, 1));
        kit.add(device, &[], copy(words, words + 4, 4));
        assert_eq!(for_devices(), (0, 0, 0));
        let wrong = kit.add(device, &[], host(nap, 1));
        assert_eq!(for_devices(), (INVALID_VALUE, wrong, 3));
        kit.ok("cuGraphDestroyNode", &[wrong]);
        let context = kit.made("cuCtxCreate_v4", &[0, 0, 0]);
        let mut far = fill(kit.words(1), 1, 4, 1);
        far[7] = context;
        kit.primary();
        let wrong = kit.add(device, &[], far);
        assert_eq!(for_devices(), (INVALID_VALUE, wrong, 4));
        // A cycle, with a node before it and one behind it: the node that is named lies on it.
        let (from, to) = ([second], [first]);
        kit.ok("cuGraphAddDependencies", &[graph, list(&from), list(&to), 1]);
        told = [0u64; 4];
        kit.rows(&[("cuGraphInstantiateWithParams", &[at(&mut exec), graph, at(&mut told)], INVALID_VALUE)]);
        assert!(
            told[2] == first || told[2] == second,
            "{told:x?}: {before:x} {first:x} {second:x} {behind:x}"
        );
        assert_eq!(told[3] as u32, 2, "CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE");
        let mut text = [1u8; 64];
        let mut node = 0u64;
        kit.rows(&[
            (
                "cuGraphInstantiate_v2",
                &[at(&mut exec), graph, at(&mut node), at(&mut text), 8],
                INVALID_VALUE,
            ),
            ("cuGraphInstantiate_v2", &[at(&mut exec), graph, 0, 0, 0], INVALID_VALUE),
        ]);
        assert!(node == first || node == second);
        assert_eq!((text[7], text[8]), (0, 1), "the text has space for 7 bytes and a zero");
        kit.ok("cuGraphRemoveDependencies", &[graph, list(&from), list(&to), 1]);
        told = [2, kit.stream, 9, 9];
        kit.ok("cuGraphInstantiateWithParams", &[at(&mut exec), graph, at(&mut told)]);
        assert_eq!((told[2], told[3] as u32), (0, 0));
        told[1] = 0x1234;
        assert_ne!(kit.call("cuGraphInstantiateWithParams", &[at(&mut exec), graph, at(&mut told)]), 0);
        assert_eq!((told[2], told[3] as u32), (0, 1));
    });
}

#[test]
fn a_graph_that_is_handed_over_belongs_to_its_node() {
    on_each_engine("graphs::edges::a_graph_that_is_handed_over_belongs_to_its_node", |kit| {
        const MOVED: u64 = 1;
        let (graph, child, words) = (kit.graph(), kit.graph(), kit.words(1));
        let ten = kit.add_kernel(child, &[], "ten", &[words, 1]);
        let empty = kit.add(graph, &[], params(EMPTY, &[]));
        let (mut node, mut moved) = (0u64, params(GRAPH, &[child, MOVED]));
        let add = "cuGraphAddNode_v2";
        // A call that fails leaves it with the program.
        let twice = [empty, empty];
        kit.rows(&[
            (add, &[at(&mut node), graph, list(&twice), 0, 2, at(&mut moved)], INVALID_VALUE),
            (add, &[at(&mut node), child, 0, 0, 0, at(&mut moved)], INVALID_VALUE),
        ]);
        kit.add_kernel(child, &[], "nothing", &[]);
        let node = kit.add_to(graph, &[empty], &mut moved);
        let mut got = 0u64;
        kit.ok("cuGraphChildGraphNodeGetGraph", &[node, at(&mut got)]);
        assert_eq!(got, child);
        // It stays editable, but does not contain what contains it, and there is no other use of it
        // (`gchild`).
        kit.add_kernel(child, &[], "nothing", &[]);
        let exec = kit.instantiate(graph);
        let mut outer = params(GRAPH, &[graph, MOVED]);
        let mut pool = params(ALLOCATE, &[wide(1, 0), wide(1, 0)]);
        pool[15] = 64;
        let (other, mut info) = (kit.graph(), [0u64; 3]);
        kit.rows(&[
            ("cuGraphDestroy", &[child], INVALID_VALUE),
            (add, &[at(&mut got), other, 0, 0, 0, at(&mut moved)], NOT_SUPPORTED),
            ("cuGraphAddChildGraphNode", &[at(&mut got), other, 0, 0, child], NOT_SUPPORTED),
            ("cuGraphInstantiateWithFlags", &[at(&mut got), child, 0], NOT_SUPPORTED),
            ("cuGraphExecUpdate_v2", &[exec, child, at(&mut info)], INVALID_VALUE),
            (add, &[at(&mut got), child, 0, 0, 0, at(&mut pool)], NOT_SUPPORTED),
            (add, &[at(&mut got), child, 0, 0, 0, at(&mut outer)], INVALID_VALUE),
        ]);
        kit.run(exec);
        assert_eq!(kit.word(words), 1);
        // A clone of it can be instantiated.
        let clone = kit.made("cuGraphClone", &[child]);
        kit.run(kit.instantiate(clone));
        assert_eq!(kit.word(words), 11);
        kit.write(words, &[1u32]);
        // A copy of the graph in a graph inside it is no cycle.
        let copy = kit.add(child, &[ten], params(GRAPH, &[graph, 0]));
        kit.run(kit.instantiate(graph));
        assert_eq!(kit.word(words), 111);
        kit.ok("cuGraphDestroyNode", &[copy]);
        kit.ok("cuGraphDestroyNode", &[node]);
        assert_eq!(kit.call("cuGraphDestroy", &[child]), INVALID_VALUE);
    });
}
