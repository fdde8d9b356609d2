//! Nodes of every kind: added, asked for, changed and run.

use std::sync::atomic::{AtomicU64, Ordering};

use super::kit::*;
use crate::by_name::at;
use crate::by_name::status::{INVALID_VALUE, NOT_SUPPORTED};

const INVALID_CONTEXT: u32 = 201;
const EXEC_UPDATE_FAILURE: u32 = 910;

static SUM: AtomicU64 = AtomicU64::new(0);

extern "C" fn sum(by: u64) {
    SUM.fetch_add(by, Ordering::Relaxed);
}

#[test]
fn kernels_with_every_way_to_give_parameters() {
    on_each_engine("graphs::nodes::kernels_with_every_way_to_give_parameters", |kit| {
        let (graph, word) = (kit.graph(), kit.words(4));
        let put = kit.function("put");
        let kernel_of = |function: u64, arguments: u64, extra: u64| -> [u64; 9] {
            [function, wide(1, 1), wide(1, 1), wide(1, 1), 0, arguments, extra, 0, kit.context]
        };
        // By pointers, in a buffer, by the function before CUDA 12 and the one after it.
        let (first, second, value, other) = (word, word + 4, 7u32, 8u32);
        let pointers = [std::ptr::from_ref(&first) as u64, std::ptr::from_ref(&value) as u64];
        let mut old = kernel_of(put, list(&pointers), 0);
        let node = kit.made("cuGraphAddKernelNode", &[graph, 0, 0, at(&mut old)]);
        let mut buffer = [0u8; 12];
        buffer[..8].copy_from_slice(&second.to_ne_bytes());
        buffer[8..].copy_from_slice(&other.to_ne_bytes());
        let mut size = buffer.len();
        let extra = [1, at(&mut buffer), 2, at(&mut size), 0];
        let mut new = kernel_of(put, 0, list(&extra));
        let packed = kit.made("cuGraphAddKernelNode_v2", &[graph, 0, 0, at(&mut new)]);
        let exec = kit.instantiate(graph);
        // The parameters were copied.
        buffer.fill(0);
        for _ in 0..3 {
            kit.ok("cuMemsetD32_v2", &[word, 0, 4]);
            kit.run(exec);
            assert_eq!(kit.read::<u32, 4>(word), [7, 8, 0, 0]);
        }
        // Parameters that were read can be set again.
        let mut got = [0u64; 9];
        kit.ok("cuGraphKernelNodeGetParams_v2", &[node, at(&mut got)]);
        assert_eq!((got[0], got[1..4].to_vec(), got[6]), (put, vec![wide(1, 1); 3], 0));
        // SAFETY: the addresses that the call returned, valid until the node changes.
        let told = unsafe { *(*(got[5] as *const [*const u32; 2]))[1] };
        assert_eq!(told, 7);
        assert_eq!(got[8], kit.context);
        kit.ok("cuGraphKernelNodeSetParams_v2", &[node, at(&mut got)]);
        kit.ok("cuGraphKernelNodeGetParams_v2", &[node, at(&mut got)]);
        // Parameters in a buffer are reported as such, and those of a clone are its own.
        let clone = kit.made("cuGraphClone", &[graph]);
        let (mut buffered, mut cloned) = ([0u64; 9], [0u64; 9]);
        kit.ok("cuGraphKernelNodeGetParams_v2", &[packed, at(&mut buffered)]);
        let [_, pointer, _, size, end] = {
            // SAFETY: as above.
            unsafe { *(buffered[6] as *const [u64; 5]) }
        };
        // SAFETY: as above.
        assert_eq!((buffered[5], unsafe { *(size as *const usize) }, end), (0, 12, 0));
        assert_ne!(pointer, at(&mut buffer));
        kit.ok("cuGraphKernelNodeSetParams_v2", &[packed, at(&mut buffered)]);
        kit.ok("cuGraphKernelNodeGetParams_v2", &[kit.nodes(clone)[0], at(&mut cloned)]);
        assert!(cloned[5] != 0 && cloned[5] != got[5]);
        kit.ok("cuGraphDestroy", &[clone]);
        let third = word + 8;
        let shape = kit.function("shape");
        let to = [std::ptr::from_ref(&third) as u64];
        let mut other_kernel = [shape, wide(3, 1), wide(1, 17), wide(1, 1), 0, list(&to), 0, 0, 0];
        kit.ok("cuGraphExecKernelNodeSetParams_v2", &[exec, node, at(&mut other_kernel)]);
        kit.ok("cuMemsetD32_v2", &[word, 0, 4]);
        kit.run(exec);
        assert_eq!(kit.read::<u32, 4>(word), [0, 8, 3017, 0]);
        // The node itself is as before.
        kit.run(kit.instantiate(graph));
        assert_eq!(kit.read::<u32, 4>(word), [7, 8, 3017, 0]);
    });
}

#[test]
fn kernels_have_attributes() {
    on_each_engine("graphs::nodes::kernels_have_attributes", |kit| {
        const COOPERATIVE: u64 = 2;
        const PRIORITY: u64 = 8;
        let (graph, word) = (kit.graph(), kit.words(1));
        let node = kit.add_kernel(graph, &[], "put", &[word, 5]);
        let other = kit.add_kernel(graph, &[node], "add", &[word, 1]);
        let (get, set) = ("cuGraphKernelNodeGetAttribute", "cuGraphKernelNodeSetAttribute");
        let (mut value, mut got) = ([0u64; 8], [9u64; 8]);
        value[0] = 1;
        kit.ok(get, &[node, COOPERATIVE, at(&mut got)]);
        assert_eq!(got[0] as u32, 0);
        kit.ok(set, &[node, COOPERATIVE, at(&mut value)]);
        kit.ok(get, &[node, COOPERATIVE, at(&mut got)]);
        assert_eq!(got[0] as u32, 1);
        value[0] = u64::from(-3i32 as u32);
        kit.ok(set, &[node, PRIORITY, at(&mut value)]);
        kit.ok("cuGraphKernelNodeCopyAttributes", &[other, node]);
        kit.ok(get, &[other, PRIORITY, at(&mut got)]);
        assert_eq!(got[0] as u32 as i32, -3);
        kit.rows(&[
            (get, &[node, 77, at(&mut got)], INVALID_VALUE),
            (set, &[node, 77, at(&mut got)], INVALID_VALUE),
            (get, &[node, COOPERATIVE, 0], INVALID_VALUE),
            (set, &[node, COOPERATIVE, 0], INVALID_VALUE),
            (get, &[0, COOPERATIVE, at(&mut got)], INVALID_VALUE),
        ]);
        let exec = kit.instantiate(graph);
        // Attributes survive new parameters, in the node and in the executable graph.
        kit.with_kernel("put", &[word, 6], |params| {
            kit.ok("cuGraphNodeSetParams", &[node, at(params)]);
            kit.ok("cuGraphExecNodeSetParams", &[exec, node, at(params)]);
        });
        kit.ok(get, &[node, COOPERATIVE, at(&mut got)]);
        assert_eq!(got[0] as u32, 1);
        kit.run(exec);
        assert_eq!(kit.word(word), 7);
    });
}

#[test]
fn copies_of_lines_rows_boxes_arrays_and_host_memory() {
    on_each_engine("graphs::nodes::copies_of_lines_rows_boxes_arrays_and_host_memory", |kit| {
        const HOST_MEMORY: u64 = 1;
        const ARRAY: u64 = 3;
        let (a, b) = (kit.words(64), kit.words(64));
        let numbers: [u32; 64] = std::array::from_fn(|i| i as u32 + 1);
        kit.write(a, &numbers);
        // Two rows of 4 words, from a pitch of 8 words to one of 16.
        let mut rows = line(b, a, 16);
        (rows[9], rows[20], rows[23]) = (32, 64, 2);
        // A box: 2 words wide, 2 rows, 2 slices; a slice of the source has 4 rows.
        let mut boxes = line(b + 128, a, 8);
        (boxes[9], boxes[10], boxes[20], boxes[21], boxes[23], boxes[24]) = (16, 4, 8, 2, 2, 2);
        // Host memory, to an array of 4 texels and back.
        let mut from_host = [100u32, 101, 102, 103];
        let mut to_host = [0u32; 4];
        const U32: u32 = 3;
        let mut descriptor = [4, 0, wide(U32, 1)];
        let array = kit.made("cuArrayCreate_v2", &[at(&mut descriptor)]);
        let mut into = line(0, 0, 16);
        (into[4], into[5], into[15], into[18]) = (HOST_MEMORY, at(&mut from_host), ARRAY, array);
        let mut out = line(0, 0, 16);
        (out[4], out[7], out[15], out[16]) = (ARRAY, array, HOST_MEMORY, at(&mut to_host));
        let graph = kit.graph();
        let first = kit.add(graph, &[], copy(b + 192, a + 4, 12));
        kit.add(graph, &[], copy3(&rows));
        kit.add(graph, &[], copy3(&boxes));
        let second = kit.made("cuGraphAddMemcpyNode", &[graph, 0, 0, at(&mut into), kit.context]);
        kit.add(graph, &[second], copy3(&out));
        let exec = kit.instantiate(graph);
        for round in 0..2 {
            kit.ok("cuMemsetD32_v2", &[b, 0, 64]);
            from_host[0] += round;
            kit.run(exec);
            let got = kit.read::<u32, 64>(b);
            assert_eq!((&got[..4], &got[16..20]), (&[1, 2, 3, 4][..], &[9, 10, 11, 12][..]));
            assert_eq!(got[32..40], [1, 2, 5, 6, 17, 18, 21, 22]);
            assert_eq!(got[48..52], [2, 3, 4, 0]);
            assert_eq!(to_host, [100 + round, 101, 102, 103]);
        }
        let mut got = [0u64; 25];
        kit.ok("cuGraphMemcpyNodeGetParams", &[first, at(&mut got)]);
        // Beside a memory type there are unused bytes.
        got[15] &= u64::from(u32::MAX);
        assert_eq!(got, line(b + 192, a + 4, 12));
        let mut changed = line(b + 192, a + 20, 12);
        kit.ok("cuGraphExecMemcpyNodeSetParams", &[exec, first, at(&mut changed), kit.context]);
        // Not another kind of memory.
        let mut kind = changed;
        (kind[4], kind[5], kind[6]) = (HOST_MEMORY, at(&mut from_host), 0);
        kit.rows(&[
            ("cuGraphExecMemcpyNodeSetParams", &[exec, first, at(&mut kind), kit.context], INVALID_VALUE),
            ("cuGraphMemcpyNodeSetParams", &[first, at(&mut kind)], 0),
            ("cuGraphMemcpyNodeSetParams", &[first, 0], INVALID_VALUE),
        ]);
        kit.run(exec);
        assert_eq!(kit.read::<u32, 3>(b + 192), [6, 7, 8]);
    });
}

#[test]
fn fills_of_1_2_4_bytes_and_rows() {
    on_each_engine("graphs::nodes::fills_of_1_2_4_bytes_and_rows", |kit| {
        let (graph, words) = (kit.graph(), kit.words(32));
        kit.add(graph, &[], fill(words, 0x1234_56ab, 1, 4));
        kit.add(graph, &[], fill(words + 4, 0x1234_56ab, 2, 2));
        let node = kit.add(graph, &[], fill(words + 8, 0x1234_56ab, 4, 2));
        // Two rows of one word, 16 bytes apart.
        let rows = params(MEMSET, &[words + 64, 16, wide(9, 4), 1, 2, 0]);
        let rows_node = kit.add(graph, &[], rows);
        let exec = kit.instantiate(graph);
        for _ in 0..2 {
            kit.ok("cuMemsetD32_v2", &[words, 0, 32]);
            kit.run(exec);
            let got = kit.read::<u32, 32>(words);
            assert_eq!(got[..5], [0xabab_abab, 0x56ab_56ab, 0x1234_56ab, 0x1234_56ab, 0]);
            assert_eq!(got[16..24], [9, 0, 0, 0, 9, 0, 0, 0]);
        }
        let mut got = [0u64; 5];
        kit.ok("cuGraphMemsetNodeGetParams", &[node, at(&mut got)]);
        assert_eq!((got[0], got[2], got[3], got[4]), (words + 8, wide(0x1234_56ab, 4), 2, 1));
        got[2] = wide(3, 4);
        kit.ok("cuGraphExecMemsetNodeSetParams", &[exec, node, at(&mut got), kit.context]);
        let mut more = [words + 64, 16, wide(8, 4), 1, 2];
        kit.ok("cuGraphExecMemsetNodeSetParams", &[exec, rows_node, at(&mut more), kit.context]);
        kit.run(exec);
        assert_eq!((kit.word(words + 8), kit.word(words + 80)), (3, 8));
        let mut wrong = [words, 0, wide(0, 3), 1, 1];
        let mut taller = [words + 64, 16, wide(8, 4), 1, 3];
        kit.rows(&[
            ("cuGraphMemsetNodeSetParams", &[node, at(&mut wrong)], INVALID_VALUE),
            ("cuGraphExecMemsetNodeSetParams", &[exec, node, at(&mut wrong), kit.context], INVALID_VALUE),
            // Of rows, only the address and the value can change.
            (
                "cuGraphExecMemsetNodeSetParams",
                &[exec, rows_node, at(&mut taller), kit.context],
                INVALID_VALUE,
            ),
        ]);
    });
}

#[test]
fn host_functions_empty_nodes_children_events_and_batches() {
    on_each_engine("graphs::nodes::host_functions_empty_nodes_children_events_and_batches", |kit| {
        let (graph, child, words) = (kit.graph(), kit.graph(), kit.words(8));
        kit.add_kernel(child, &[], "add", &[words, 10]);
        let (event, other) = (kit.made("cuEventCreate", &[2]), kit.made("cuEventCreate", &[2]));
        let first = kit.add(graph, &[], host(sum, 3));
        let empty = kit.add(graph, &[first], params(EMPTY, &[]));
        let inside = kit.add(graph, &[empty], params(GRAPH, &[child, 0]));
        let record = kit.add(graph, &[inside], params(RECORD_EVENT, &[event]));
        let wait = kit.add(graph, &[record], params(WAIT_EVENT, &[event]));
        let mut steps = [[WRITE_32, words + 4, 5, 0, 0, 0], [WAIT_32, words + 4, 5, 0, 0, 0]];
        let memory = kit.add(graph, &[wait], kit.batch(&steps));
        let last = kit.add_kernel(graph, &[memory], "mix", &[words, words + 4, 0]);
        // The child of the graph is a copy.
        kit.add_kernel(child, &[], "add", &[words, 1000]);
        let kinds: Vec<u64> = kit.nodes(graph).iter().map(|node| kit.kind(*node)).collect();
        assert_eq!(kinds, [HOST, EMPTY, GRAPH, RECORD_EVENT, WAIT_EVENT, BATCH, KERNEL]);
        let exec = kit.instantiate(graph);
        let mut expected = 0u32;
        for round in 1..=3u64 {
            kit.launch(exec);
            kit.ok("cuEventSynchronize", &[event]);
            expected = (expected + 10).wrapping_mul(31).wrapping_add(5);
            kit.wait();
            assert_eq!(kit.word(words), expected);
            assert_eq!(SUM.load(Ordering::Relaxed), 3 * round);
        }
        // What was given comes back.
        let (mut got, mut told, mut described) = (0u64, [0u64; 2], [0u64; 4]);
        kit.ok("cuGraphHostNodeGetParams", &[first, at(&mut told)]);
        assert_eq!(told, [sum as *const () as u64, 3]);
        kit.ok("cuGraphEventRecordNodeGetEvent", &[record, at(&mut got)]);
        assert_eq!(got, event);
        kit.ok("cuGraphEventWaitNodeGetEvent", &[wait, at(&mut got)]);
        assert_eq!(got, event);
        kit.ok("cuGraphBatchMemOpNodeGetParams", &[memory, at(&mut described)]);
        // SAFETY: the call returned the address of the node's two operations.
        assert_eq!((described[1] as u32, unsafe { *(described[2] as *const [[u64; 6]; 2]) }), (2, steps));
        kit.ok("cuGraphChildGraphNodeGetGraph", &[inside, at(&mut got)]);
        assert!(got != child && kit.nodes(got).len() == 1);
        // Changes of the executable graph.
        told[1] = 100;
        steps[0][2] = 6;
        let mut fewer = [kit.context, 1, at(&mut steps), 0];
        let mut many = [kit.context, 2, at(&mut steps), 0];
        let changed_child = kit.graph();
        kit.add_kernel(changed_child, &[], "add", &[words, 20]);
        kit.rows(&[
            ("cuGraphExecHostNodeSetParams", &[exec, first, at(&mut told)], 0),
            ("cuGraphExecEventRecordNodeSetEvent", &[exec, record, other], 0),
            ("cuGraphExecEventWaitNodeSetEvent", &[exec, wait, other], 0),
            ("cuGraphExecBatchMemOpNodeSetParams", &[exec, memory, at(&mut many)], 0),
            ("cuGraphExecBatchMemOpNodeSetParams", &[exec, memory, at(&mut fewer)], INVALID_VALUE),
            ("cuGraphExecChildGraphNodeSetParams", &[exec, inside, changed_child], 0),
            ("cuGraphExecChildGraphNodeSetParams", &[exec, inside, child], EXEC_UPDATE_FAILURE),
            ("cuGraphExecHostNodeSetParams", &[exec, last, at(&mut told)], INVALID_VALUE),
            ("cuGraphHostNodeSetParams", &[last, at(&mut told)], INVALID_VALUE),
        ]);
        let before = SUM.load(Ordering::Relaxed);
        kit.run(exec);
        expected = (expected + 20).wrapping_mul(31).wrapping_add(6);
        assert_eq!((kit.word(words), SUM.load(Ordering::Relaxed) - before), (expected, 100));
        kit.ok("cuEventQuery", &[other]);
    });
}

#[test]
fn external_semaphores_are_signalled_and_waited_for() {
    on_each_engine("graphs::nodes::external_semaphores_are_signalled_and_waited_for", |kit| {
        // SAFETY: a new descriptor.
        let fd = unsafe { libc::memfd_create(c"semaphore".as_ptr(), 0) };
        // SAFETY: as above.
        assert!(fd >= 0 && unsafe { libc::ftruncate(fd, 4096) } == 0);
        const TIMELINE: u64 = 9;
        let mut described = [0u64; 12];
        (described[0], described[1]) = (TIMELINE, u64::from(fd as u32));
        let semaphore = kit.made("cuImportExternalSemaphore", &[at(&mut described)]);
        let (graph, word) = (kit.graph(), kit.words(1));
        let mut list = [semaphore];
        let mut value = [0u64; 18];
        value[0] = 1;
        let what = [at(&mut list), at(&mut value), 1];
        let signal = kit.add(graph, &[], params(SIGNAL, &what));
        let wait = kit.add(graph, &[signal], params(WAIT_SEMAPHORE, &what));
        kit.add_kernel(graph, &[wait], "put", &[word, 5]);
        assert_eq!((kit.kind(signal), kit.kind(wait)), (SIGNAL, WAIT_SEMAPHORE));
        let exec = kit.instantiate(graph);
        kit.run(exec);
        assert_eq!(kit.word(word), 5);
        // The flags for the parameters of each kind, and the one for everything.
        for (flags, times) in [(0, 0), (1 << 7, 1), (1 << 8, 1), (1, 2)] {
            let dot = kit.dot(graph, flags);
            let line = format!("semaphore {semaphore:#x}: 0x1");
            assert_eq!(dot.matches(&line).count(), times, "{flags:#x}: {dot}");
        }
        let mut got = [0u64; 3];
        kit.ok("cuGraphExternalSemaphoresSignalNodeGetParams", &[signal, at(&mut got)]);
        // SAFETY: the call returned the address of one handle.
        assert_eq!((got[2] as u32, unsafe { *(got[0] as *const u64) }), (1, semaphore));
        let mut none = [at(&mut list), at(&mut value), 0];
        kit.rows(&[
            ("cuGraphExternalSemaphoresWaitNodeGetParams", &[signal, at(&mut got)], INVALID_VALUE),
            ("cuGraphExternalSemaphoresSignalNodeSetParams", &[wait, at(&mut got)], INVALID_VALUE),
            (
                "cuGraphExecExternalSemaphoresSignalNodeSetParams",
                &[exec, signal, at(&mut none)],
                INVALID_VALUE,
            ),
        ]);
    });
}

/// The bodies of IF, IF with ELSE, WHILE and SWITCH run for each value, set by a kernel that reads it from
/// memory, by one that has it as a parameter, and by default.
#[test]
fn conditional_nodes_follow_their_value() {
    on_each_engine("graphs::nodes::conditional_nodes_follow_their_value", |kit| {
        let words = kit.words(8);
        /// The kind, the number of bodies, and for values 0 to 3 the bodies that run, as decimal digits.
        const CASES: &[(u64, u32, [u32; 4])] = &[
            (IF, 1, [0, 1, 1, 1]),
            (IF, 2, [2, 1, 1, 1]),
            (WHILE, 1, [0, 1, 11, 111]),
            (SWITCH, 1, [1, 0, 0, 0]),
            (SWITCH, 3, [1, 2, 3, 0]),
        ];
        for &(kind, count, expected) in CASES {
            for way in 0..3 {
                let graph = kit.graph();
                let value = kit.condition(graph, (way == 2).then_some(2));
                let (source, trace) = (words + 4, words);
                let set = match way {
                    0 => kit.add_kernel(graph, &[], "move", &[value, source]),
                    1 => kit.add_kernel(graph, &[], "put", &[value, 3]),
                    _ => kit.add(graph, &[], params(EMPTY, &[])),
                };
                let bodies = kit.add_conditional(graph, &[set], value, kind, count);
                for (number, body) in bodies.iter().enumerate() {
                    let first = kit.add(*body, &[], copy(words + 16, trace, 4));
                    let second = kit.add_kernel(*body, &[first], "ten", &[trace, number as u64 + 1]);
                    if kind == WHILE {
                        kit.add_kernel(*body, &[second], "add", &[value, u64::from(u32::MAX)]);
                    }
                }
                let exec = kit.instantiate(graph);
                let values: &[u32] = [&[0, 1, 2, 3, 9][..], &[3], &[2]][way];
                for &value in values {
                    kit.write(words, &[0u32, value]);
                    for _ in 0..2 {
                        kit.write(words, &[0u32]);
                        kit.run(exec);
                        if let (WHILE, 9) = (kind, value) {
                            assert_eq!(kit.word(trace), 111_111_111);
                        } else {
                            let beyond = if kind == IF { expected[1] } else { 0 };
                            let wanted = expected.get(value as usize).copied().unwrap_or(beyond);
                            assert_eq!(
                                kit.word(trace),
                                wanted,
                                "kind {kind} of {count}, way {way}, value {value}"
                            );
                        }
                    }
                }
                kit.ok("cuGraphExecDestroy", &[exec]);
                kit.ok("cuGraphDestroy", &[graph]);
            }
        }
    });
}

#[test]
fn conditional_nodes_are_nested() {
    on_each_engine("graphs::nodes::conditional_nodes_are_nested", |kit| {
        // Two loops in each other: the inner one counts down from 3 in each of 4 rounds.
        let (graph, words) = (kit.graph(), kit.words(2));
        let (outer, inner) = (kit.condition(graph, Some(4)), kit.condition(graph, None));
        let bodies = kit.add_conditional(graph, &[], outer, WHILE, 1);
        let set = kit.add_kernel(bodies[0], &[], "put", &[inner, 3]);
        let mut asked = params(CONDITIONAL, &[inner, wide(WHILE as u32, 1), 0, kit.context]);
        let node = kit.add_to(bodies[0], &[set], &mut asked);
        // SAFETY: the call returned the address of one graph.
        let deepest = unsafe { *(asked[4] as *const u64) };
        kit.add_kernel(bodies[0], &[node], "add", &[outer, u64::from(u32::MAX)]);
        let step = kit.add_kernel(deepest, &[], "add", &[words, 1]);
        kit.add_kernel(deepest, &[step], "add", &[inner, u64::from(u32::MAX)]);
        let exec = kit.instantiate(graph);
        for round in 1..=2 {
            kit.run(exec);
            assert_eq!(kit.word(words), 12 * round);
        }
        // A node inside is changed.
        kit.with_kernel("add", &[words, 100], |params| {
            kit.ok("cuGraphExecNodeSetParams", &[exec, step, at(params)]);
        });
        kit.run(exec);
        assert_eq!(kit.word(words), 24 + 1200);
    });
}

#[test]
fn what_conditional_nodes_refuse() {
    isolated("graphs::nodes::what_conditional_nodes_refuse", |kit| {
        let (graph, words) = (kit.graph(), kit.words(2));
        let value = kit.condition(graph, Some(1));
        let mut exec = 0u64;
        // A value without a node.
        let mut told = [0u64; 4];
        kit.rows(&[("cuGraphInstantiateWithParams", &[at(&mut exec), graph, at(&mut told)], INVALID_VALUE)]);
        assert_eq!(told[3] as u32, 5, "CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED");
        let second = kit.made("cuCtxCreate_v4", &[0, 0, 0]);
        kit.primary();
        for (kind, size, context, handle) in [
            (IF, 0, kit.context, value),
            (IF, 3, kit.context, value),
            (WHILE, 2, kit.context, value),
            (SWITCH, 0, kit.context, value),
            (3, 1, kit.context, value),
            (IF, 1, second, value),
            (IF, 1, kit.context, value + 4),
            (IF, 1, kit.context, 0),
        ] {
            let mut asked = params(CONDITIONAL, &[handle, wide(kind as u32, size), 0, context]);
            let mut node = 0u64;
            let arguments = [at(&mut node), graph, 0, 0, 0, at(&mut asked)];
            assert_eq!(kit.call("cuGraphAddNode_v2", &arguments), INVALID_VALUE, "kind {kind}, size {size}");
        }
        // The context is not the current one by default, unlike that of other nodes.
        let (mut node, steps) = (0u64, [[WRITE_32, words, 1, 0, 0, 0]]);
        let mut asked = params(CONDITIONAL, &[value, wide(IF as u32, 1), 0, 0]);
        let mut batched = kit.batch(&steps);
        batched[2] = 0;
        kit.rows(&[
            ("cuGraphConditionalHandleCreate", &[at(&mut node), graph, 0, 1, 1], INVALID_CONTEXT),
            ("cuGraphAddNode_v2", &[at(&mut node), graph, 0, 0, 0, at(&mut asked)], INVALID_CONTEXT),
            ("cuGraphAddNode_v2", &[at(&mut node), graph, 0, 0, 0, at(&mut batched)], INVALID_VALUE),
        ]);
        let body = kit.add_conditional(graph, &[], value, IF, 1)[0];
        kit.rows(&[
            ("cuGraphDestroy", &[body], INVALID_VALUE),
            ("cuGraphInstantiateWithFlags", &[at(&mut exec), body, 0], NOT_SUPPORTED),
            ("cuGraphClone", &[at(&mut exec), graph], NOT_SUPPORTED),
        ]);
        // Bodies have kernels, copies, fills, empty nodes, children and conditional nodes, and no others.
        let event = kit.made("cuEventCreate", &[2]);
        let pool = [wide(1, 0), wide(1, 0), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 64, 0];
        for refused in
            [host(sum, 1), params(RECORD_EVENT, &[event]), params(WAIT_EVENT, &[event]), kit.batch(&steps)]
        {
            let node = kit.add(body, &[], refused);
            kit.rows(&[(
                "cuGraphInstantiateWithParams",
                &[at(&mut exec), graph, at(&mut told)],
                INVALID_VALUE,
            )]);
            assert_eq!((told[2], told[3] as u32), (node, 3));
            kit.ok("cuGraphDestroyNode", &[node]);
        }
        kit.ok("cuGraphExecDestroy", &[kit.instantiate(graph)]);
        let node = kit.add(body, &[], params(ALLOCATE, &pool));
        kit.rows(&[("cuGraphInstantiateWithParams", &[at(&mut exec), graph, at(&mut told)], INVALID_VALUE)]);
        assert_eq!((told[2], told[3] as u32), (node, 3));
    });
}

#[test]
fn parameters_of_another_kind_change_nothing() {
    isolated("graphs::nodes::parameters_of_another_kind_change_nothing", |kit| {
        let (graph, words) = (kit.graph(), kit.words(4));
        let fills = kit.add(graph, &[], fill(words, 1, 4, 1));
        let kernel = kit.add_kernel(graph, &[fills], "add", &[words, 1]);
        let exec = kit.instantiate(graph);
        let mut pool = params(ALLOCATE, &[wide(1, 0), wide(1, 0), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 64, 0]);
        let memory = kit.graph();
        let node = kit.add_to(memory, &[], &mut pool);
        let (mut copied, mut reserved) = (copy(words, words + 8, 4), fill(words, 2, 4, 1));
        reserved[1] = 1;
        let mut last = fill(words, 2, 4, 1);
        last[31] = 1;
        for wrong in [&mut copied, &mut reserved, &mut last] {
            kit.rows(&[
                ("cuGraphNodeSetParams", &[fills, at(wrong)], INVALID_VALUE),
                ("cuGraphExecNodeSetParams", &[exec, fills, at(wrong)], INVALID_VALUE),
                ("cuGraphNodeSetParams", &[kernel, at(wrong)], INVALID_VALUE),
            ]);
        }
        kit.rows(&[
            ("cuGraphNodeSetParams", &[node, at(&mut pool)], NOT_SUPPORTED),
            ("cuGraphNodeSetParams", &[fills, 0], INVALID_VALUE),
            ("cuGraphExecNodeSetParams", &[exec, fills, 0], INVALID_VALUE),
        ]);
        kit.run(exec);
        assert_eq!(kit.word(words), 2);
    });
}
