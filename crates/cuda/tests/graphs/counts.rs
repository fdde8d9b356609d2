//! Numbers of elements that exceed the program's list: refused before the end of the list's memory is read.

use crate::by_name::at;

use super::kit::*;

const INVALID_VALUE: u32 = 1;
const PAGE: usize = 4096;

/// A list whose memory ends behind it.
fn at_the_end_of_memory(values: &[u64]) -> u64 {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: new pages.
    let pages = unsafe { libc::mmap(std::ptr::null_mut(), 2 * PAGE, libc::PROT_NONE, flags, -1, 0) };
    assert_ne!(pages, libc::MAP_FAILED);
    // SAFETY: the first of them.
    assert_eq!(unsafe { libc::mprotect(pages, PAGE, libc::PROT_READ | libc::PROT_WRITE) }, 0);
    let list = (pages as usize + PAGE - size_of_val(values)) as *mut u64;
    // SAFETY: in that page, which nothing else uses.
    unsafe { list.copy_from_nonoverlapping(values.as_ptr(), values.len()) };
    list as u64
}

#[test]
fn counts_beyond_the_graph_are_refused_unread() {
    isolated("graphs::counts::counts_beyond_the_graph_are_refused_unread", |kit| {
        let (graph, other) = (kit.graph(), kit.graph());
        let nodes = [0; 2].map(|_| kit.add(graph, &[], params(EMPTY, &[])));
        let list = at_the_end_of_memory(&nodes);
        let from = at_the_end_of_memory(&[nodes[0], nodes[1]]);
        let to = at_the_end_of_memory(&[nodes[1], nodes[0]]);
        let event = kit.made("cuEventCreate", &[2]);
        let mut out = 0u64;
        let mut asked = params(EMPTY, &[]);
        let out = at(&mut out);
        for count in [3, 5, 1 << 30, 1 << 40, 1 << 62, u64::MAX] {
            kit.rows(&[
                ("cuGraphAddEmptyNode", &[out, graph, list, count], INVALID_VALUE),
                ("cuGraphAddEventRecordNode", &[out, graph, list, count, event], INVALID_VALUE),
                ("cuGraphAddChildGraphNode", &[out, graph, list, count, other], INVALID_VALUE),
                ("cuGraphAddNode", &[out, graph, list, count, at(&mut asked)], INVALID_VALUE),
                ("cuGraphAddNode_v2", &[out, graph, list, 0, count, at(&mut asked)], INVALID_VALUE),
                ("cuGraphAddDependencies", &[graph, from, to, count.max(5)], INVALID_VALUE),
                ("cuGraphRemoveDependencies", &[graph, from, to, count.max(5)], INVALID_VALUE),
                ("cuGraphAddDependencies_v2", &[graph, from, to, 0, count.max(5)], INVALID_VALUE),
            ]);
        }
        assert_eq!(kit.nodes(graph).len(), 2);
    });
}

/// Lists that may have a node several times end where a value is no node.
#[test]
fn lists_end_at_the_first_wrong_value() {
    isolated("graphs::counts::lists_end_at_the_first_wrong_value", |kit| {
        let graph = kit.graph();
        let node = kit.add(graph, &[], params(EMPTY, &[]));
        let wrong = at_the_end_of_memory(&[node, node, 0]);
        let (mode, set) = (2, 1);
        let all = [3, 1 << 30, 1 << 62];
        for count in all {
            let begin = [kit.stream, graph, wrong, 0, count, mode];
            assert_eq!(kit.call("cuStreamBeginCaptureToGraph", &begin), INVALID_VALUE);
        }
        kit.ok("cuStreamBeginCaptureToGraph", &[kit.stream, graph, wrong, 0, 2, mode]);
        for count in all {
            let update = [kit.stream, wrong, count, set];
            assert_eq!(kit.call("cuStreamUpdateCaptureDependencies", &update), INVALID_VALUE);
        }
        kit.ok("cuStreamUpdateCaptureDependencies", &[kit.stream, wrong, 2, set]);
        let mut captured = 0u64;
        kit.ok("cuStreamEndCapture", &[kit.stream, at(&mut captured)]);
        assert_eq!(captured, graph);
        // An address and a size each, of nothing.
        let none = at_the_end_of_memory(&[1]);
        let count = (1 << 24) - 1;
        kit.rows(&[
            ("cuMemPrefetchBatchAsync", &[none, none, count, none, none, 1, 0, kit.stream], INVALID_VALUE),
            ("cuMemDiscardBatchAsync", &[none, none, count, 0, kit.stream], INVALID_VALUE),
            ("cuPointerGetAttributes", &[1 << 30, wrong + 16, wrong, kit.words(1)], INVALID_VALUE),
        ]);
    });
}
