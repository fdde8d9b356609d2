//! Graphs nested as deeply as they may be, used by a thread with a small stack.

use crate::by_name::{Library, at};

use super::kit::*;

/// Smaller than programs give their threads.
const STACK: usize = 64 << 10;
const GRAPHS: usize = 512;
const CONDITIONALS: usize = 128;
const NOT_SUPPORTED: u32 = 801;

/// Uses a graph in all ways that descend into the graphs inside, in a thread with a small stack; returns the
/// status of a clone.
fn use_all(kit: &Kit, make: impl FnOnce(&Kit) -> u64 + Send) -> u32 {
    let context = kit.context;
    let used = move || {
        let cuda = Library::open();
        cuda.ok("cuCtxSetCurrent", &[context]);
        let kit = Kit::start_here();
        let graph = make(&kit);
        let (mut clone, mut info) = (0u64, [0u64; 3]);
        let status = kit.call("cuGraphClone", &[at(&mut clone), graph]);
        kit.ok("cuGraphDebugDotPrint", &[graph, c"/dev/null".as_ptr() as u64, 1]);
        let exec = kit.instantiate(graph);
        kit.run(exec);
        kit.ok("cuGraphExecUpdate_v2", &[exec, graph, at(&mut info)]);
        kit.ok("cuGraphUpload", &[exec, kit.stream]);
        kit.run(exec);
        kit.ok("cuGraphDestroy", &[graph]);
        kit.ok("cuGraphExecDestroy", &[exec]);
        if status == 0 {
            kit.ok("cuGraphDestroy", &[clone]);
        }
        status
    };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, used);
        thread.expect("a thread").join().expect("no panic")
    })
}

#[test]
fn child_graphs_may_be_deeper_than_the_stack() {
    isolated("graphs::deep::child_graphs_may_be_deeper_than_the_stack", |kit| {
        let word = kit.words(1);
        let status = use_all(kit, |kit| {
            let mut graph = kit.graph();
            kit.add(graph, &[], fill(word, 7, 4, 1));
            for _ in 0..GRAPHS {
                let around = kit.graph();
                // The child is moved, not copied.
                let mut asked = params(GRAPH, &[graph, 1]);
                kit.add_to(around, &[], &mut asked);
                graph = around;
            }
            let (around, mut node) = (kit.graph(), 0u64);
            let mut asked = params(GRAPH, &[graph, 1]);
            let add = [at(&mut node), around, 0, 0, 0, at(&mut asked)];
            assert_eq!(kit.call("cuGraphAddNode_v2", &add), NOT_SUPPORTED);
            graph
        });
        assert_eq!((status, kit.word(word)), (0, 7));
    });
}

/// With bodies that are chains of steps, and with others, which threads may share.
#[test]
fn conditional_nodes_may_be_deeper_than_the_stack() {
    isolated("graphs::deep::conditional_nodes_may_be_deeper_than_the_stack", |kit| {
        for forked in [false, true] {
            let word = kit.words(1);
            let status = use_all(kit, |kit| {
                let graph = kit.graph();
                let mut body = graph;
                for _ in 0..CONDITIONALS {
                    if forked {
                        kit.add(body, &[], params(EMPTY, &[]));
                    }
                    let value = kit.condition(body, Some(1));
                    body = kit.add_conditional(body, &[], value, IF, 1)[0];
                }
                let (value, mut node) = (kit.condition(body, Some(1)), 0u64);
                let mut asked = params(CONDITIONAL, &[value, wide(IF as u32, 1), 0, kit.context]);
                let add = [at(&mut node), body, 0, 0, 0, at(&mut asked)];
                assert_eq!(kit.call("cuGraphAddNode_v2", &add), NOT_SUPPORTED);
                kit.add(body, &[], fill(word, 7, 4, 1));
                graph
            });
            assert_eq!((status, kit.word(word)), (NOT_SUPPORTED, 7), "{forked}");
        }
    });
}
