//! Memory that graphs allocate and free, and user objects.

use std::sync::atomic::{AtomicU64, Ordering};

use super::kit::*;
use crate::by_name::at;
use crate::by_name::status::{INVALID_VALUE, NOT_SUPPORTED};

const INVALID_DEVICE: u32 = 101;

const SIZE: u64 = 4 << 20;
/// In use is what launches took, until it is trimmed; what has been freed counts, as NVIDIA's tests of its
/// Python bindings expect (`test_cuda_graphMem_attr`, `test_graph_mem_set_attributes`). What is allocated
/// shows in the device's free memory.
const USED: u64 = 0;
const USED_HIGH: u64 = 1;
const RESERVED: u64 = 2;
const RESERVED_HIGH: u64 = 3;

fn attribute(kit: &Kit, number: u64) -> u64 {
    let mut value = 99u64;
    kit.ok("cuDeviceGetGraphMemAttribute", &[0, number, at(&mut value)]);
    value
}

fn free_memory(kit: &Kit) -> u64 {
    let (mut free, mut total) = (0u64, 0u64);
    kit.ok("cuMemGetInfo_v2", &[at(&mut free), at(&mut total)]);
    free
}

/// Adds an allocation node; returns it and the address.
fn allocate(kit: &Kit, graph: u64, after: &[u64]) -> (u64, u64) {
    let mut asked = params(ALLOCATE, &[wide(1, 0), wide(1, 0), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, SIZE, 0]);
    let node = kit.add_to(graph, after, &mut asked);
    (node, asked[16])
}

#[test]
fn memory_is_allocated_and_freed_in_one_graph() {
    on_each_engine("graphs::memory::memory_is_allocated_and_freed_in_one_graph", |kit| {
        let (words, graph) = (kit.words(1), kit.graph());
        let before = free_memory(kit);
        let (node, address) = allocate(kit, graph, &[]);
        let fills = kit.add(graph, &[node], fill(address, 5, 4, SIZE / 4));
        let sums = kit.add_kernel(graph, &[fills], "mix", &[words, address + SIZE - 4, 0]);
        let release = kit.add(graph, &[sums], params(FREE, &[address]));
        let mut told = [0u64; 15];
        kit.ok("cuGraphMemAllocNodeGetParams", &[node, at(&mut told)]);
        assert_eq!((told[13], told[14]), (SIZE, address));
        let mut freed = 0u64;
        kit.ok("cuGraphMemFreeNodeGetParams", &[release, at(&mut freed)]);
        assert_eq!(freed, address);
        let exec = kit.instantiate(graph);
        let mut other = 0u64;
        let (from, to) = ([node], [fills]);
        kit.rows(&[
            ("cuGraphInstantiateWithFlags", &[at(&mut other), graph, 0], NOT_SUPPORTED),
            ("cuGraphClone", &[at(&mut other), graph], NOT_SUPPORTED),
            ("cuGraphAddChildGraphNode", &[at(&mut other), kit.graph(), 0, 0, graph], NOT_SUPPORTED),
            ("cuGraphDestroyNode", &[fills], NOT_SUPPORTED),
            ("cuGraphRemoveDependencies", &[graph, list(&from), list(&to), 1], NOT_SUPPORTED),
        ]);
        let mut expected = 0u32;
        for _ in 0..3 {
            kit.run(exec);
            expected = expected.wrapping_mul(31).wrapping_add(5);
            assert_eq!((kit.word(words), attribute(kit, USED)), (expected, SIZE));
            assert_eq!((attribute(kit, USED_HIGH), attribute(kit, RESERVED)), (SIZE, SIZE));
            assert_eq!(free_memory(kit), before);
        }
        kit.ok("cuDeviceGraphMemTrim", &[0]);
        assert_eq!((attribute(kit, RESERVED), attribute(kit, RESERVED_HIGH)), (0, SIZE));
        assert_eq!((attribute(kit, USED), attribute(kit, USED_HIGH)), (0, SIZE));
        let (mut zero, mut one) = (0u64, 1u64);
        let set = "cuDeviceSetGraphMemAttribute";
        kit.rows(&[
            (set, &[0, USED_HIGH, at(&mut one)], INVALID_VALUE),
            (set, &[0, USED, at(&mut zero)], INVALID_VALUE),
            (set, &[0, USED_HIGH, at(&mut zero)], 0),
            (set, &[0, RESERVED_HIGH, at(&mut zero)], 0),
            (set, &[0, 4, at(&mut zero)], INVALID_VALUE),
            (set, &[9, USED_HIGH, at(&mut zero)], INVALID_DEVICE),
            (set, &[0, USED_HIGH, 0], INVALID_VALUE),
            ("cuDeviceGetGraphMemAttribute", &[0, 4, at(&mut zero)], INVALID_VALUE),
            ("cuDeviceGetGraphMemAttribute", &[0, USED, 0], INVALID_VALUE),
            ("cuDeviceGraphMemTrim", &[9], INVALID_DEVICE),
        ]);
        assert_eq!((attribute(kit, USED_HIGH), attribute(kit, RESERVED_HIGH)), (0, 0));
        // After the executable graph has ended there can be another.
        kit.ok("cuGraphExecDestroy", &[exec]);
        let exec = kit.instantiate(graph);
        kit.run(exec);
        kit.rows(&[("cuGraphExecDestroy", &[exec], 0), ("cuGraphDestroy", &[graph], 0)]);
        kit.wait();
        // Memory of ended graphs stays reserved for later ones, which take it first, until it is trimmed.
        assert_eq!((attribute(kit, USED), attribute(kit, RESERVED), free_memory(kit)), (SIZE, SIZE, before));
        kit.ok("cuDeviceGraphMemTrim", &[0]);
        assert_eq!((attribute(kit, USED), attribute(kit, RESERVED)), (0, 0));
    });
}

#[test]
fn memory_that_outlives_the_launch() {
    on_each_engine("graphs::memory::memory_that_outlives_the_launch", |kit| {
        let before = free_memory(kit);
        let graph = kit.graph();
        let (node, address) = allocate(kit, graph, &[]);
        kit.add(graph, &[node], fill(address, 5, 4, 1));
        let exec = kit.instantiate(graph);
        let release = kit.graph();
        kit.add(release, &[], params(FREE, &[address]));
        let free = kit.instantiate(release);
        let second = kit.graph();
        kit.add(second, &[], params(FREE, &[address]));
        let mut out = 0u64;
        let name = "cuGraphAddMemFreeNode";
        kit.rows(&[
            // Twice in one graph; in the graph that allocates it as well as in another.
            (name, &[at(&mut out), release, 0, 0, address], INVALID_VALUE),
            (name, &[at(&mut out), graph, 0, 0, address], INVALID_VALUE),
            (name, &[at(&mut out), release, 0, 0, address + 4], INVALID_VALUE),
            (name, &[at(&mut out), release, 0, 0, 0], INVALID_VALUE),
            (name, &[at(&mut out), release, 0, 0, kit.words(4)], INVALID_VALUE),
        ]);
        let before = before.min(free_memory(kit));
        for way in 0..4 {
            kit.launch(exec);
            // It is allocated already.
            kit.rows(&[("cuGraphLaunch", &[exec, kit.stream], INVALID_VALUE)]);
            assert_eq!(attribute(kit, USED), SIZE);
            kit.ok("cuStreamSynchronize", &[kit.stream]);
            assert_eq!((kit.word(address), free_memory(kit)), (5, before - SIZE));
            match way {
                0 => kit.ok("cuMemFree_v2", &[address]),
                1 => kit.ok("cuMemFreeAsync", &[address, kit.stream]),
                2 => kit.launch(free),
                _ => kit.launch(kit.instantiate(second)),
            }
            kit.wait();
            assert_eq!((attribute(kit, USED), free_memory(kit)), (SIZE, before), "way {way}");
            // It is not allocated now.
            kit.rows(&[
                ("cuMemFree_v2", &[address], INVALID_VALUE),
                ("cuGraphLaunch", &[free, kit.stream], INVALID_VALUE),
            ]);
        }
        // Memory is freed by the next launch.
        kit.ok("cuGraphExecDestroy", &[exec]);
        const AUTO_FREE: u64 = 1;
        let exec = kit.made("cuGraphInstantiateWithFlags", &[graph, AUTO_FREE]);
        for _ in 0..3 {
            kit.run(exec);
            assert_eq!(attribute(kit, USED), SIZE);
        }
        // What is left stays after the graphs' end, until it is freed.
        kit.rows(&[("cuGraphExecDestroy", &[exec], 0), ("cuGraphDestroy", &[graph], 0)]);
        assert_eq!((kit.word(address), attribute(kit, USED)), (5, SIZE));
        kit.ok("cuMemFree_v2", &[address]);
        for graph in [release, second] {
            kit.ok("cuGraphDestroy", &[graph]);
        }
        assert_eq!(free_memory(kit), before);
    });
}

#[test]
fn a_call_that_fails_claims_no_memory() {
    isolated("graphs::memory::a_call_that_fails_claims_no_memory", |kit| {
        let (graph, event) = (kit.graph(), kit.made("cuEventCreate", &[2]));
        let (node, address) = allocate(kit, graph, &[]);
        let twice = [node, node];
        let mut out = 0u64;
        kit.rows(&[(
            "cuGraphAddMemFreeNode",
            &[at(&mut out), graph, list(&twice), 2, address],
            INVALID_VALUE,
        )]);
        // A node of a graph that has ended counts no more.
        let other = kit.graph();
        kit.add(other, &[], params(FREE, &[address]));
        kit.ok("cuGraphDestroy", &[other]);
        kit.add(graph, &[node], params(FREE, &[address]));
        let used = free_memory(kit);
        // A launch that cannot wait for its event allocates nothing.
        let (waits, captured) = (kit.graph(), kit.made("cuStreamCreate", &[1]));
        allocate(kit, waits, &[]);
        kit.add(waits, &[], params(WAIT_EVENT, &[event]));
        let exec = kit.instantiate(waits);
        kit.rows(&[
            ("cuStreamBeginCapture_v2", &[captured, 2], 0),
            ("cuEventRecord", &[event, captured], 0),
            ("cuGraphLaunch", &[exec, kit.stream], 907),
        ]);
        assert_eq!((attribute(kit, USED), free_memory(kit)), (0, used));
        // More memory than there is.
        let mut asked = params(ALLOCATE, &[wide(1, 0), wide(1, 0), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        for (location, size) in
            [(wide(1, 0), 0), (wide(1, 9), SIZE), (wide(0, 0), SIZE), (wide(1, 0), 1 << 62)]
        {
            (asked[3], asked[15]) = (location, size);
            let arguments = [at(&mut out), waits, 0, 0, 0, at(&mut asked)];
            assert_ne!(kit.call("cuGraphAddNode_v2", &arguments), 0);
        }
        assert_eq!(kit.nodes(waits).len(), 2);
    });
}

/// Parameters of an allocation node: its type (1 pinned, 2 managed), a location and bytes.
fn asked(kind: u32, location: (u32, u32), size: u64) -> Params {
    let mut asked = params(ALLOCATE, &[wide(kind, 0), wide(location.0, location.1)]);
    asked[15] = size;
    asked
}

/// "CUDA may reuse memory within a graph by assigning the same virtual address ranges to different
/// allocations whose lifetimes do not overlap" (programming guide, graph memory nodes).
#[test]
fn memory_is_used_again_behind_the_node_that_frees_it() {
    on_each_engine("graphs::memory::memory_is_used_again_behind_the_node_that_frees_it", |kit| {
        let (words, graph) = (kit.words(1), kit.graph());
        let add = |after: &[u64], size: u64| {
            let mut asked = asked(1, (1, 0), size);
            let node = kit.add_to(graph, after, &mut asked);
            (node, asked[16])
        };
        // A chain of allocations, each of which is filled, added to the word, and freed.
        let mut before: Vec<u64> = Vec::new();
        let mut addresses = Vec::new();
        let sizes = [SIZE, SIZE, SIZE / 2, SIZE / 4, SIZE];
        for (digit, size) in sizes.into_iter().enumerate() {
            let (node, address) = add(&before, size);
            let fills = kit.add(graph, &[node], fill(address, digit as u32 + 1, 4, size / 4));
            let sums = kit.add_kernel(graph, &[fills], "mix", &[words, address + size - 4, 0]);
            before = vec![kit.add(graph, &[sums], params(FREE, &[address]))];
            addresses.push(address);
        }
        assert!(addresses.iter().all(|address| *address == addresses[0]), "{addresses:x?}");
        // What is freed beside a node, or only by a later one, is not used again; nor is smaller memory.
        let (beside, at_root) = add(&[], SIZE);
        let (_, twice) = add(&before, SIZE);
        let (_, too_large) = add(&before, SIZE + 1);
        kit.add(graph, &[beside], params(FREE, &[at_root]));
        assert_ne!(at_root, addresses[0]);
        assert_eq!(twice, addresses[0], "what outlives the launch takes it too");
        let (_, second) = add(&before, SIZE);
        let others = [at_root, twice, too_large, second];
        for (i, one) in others.iter().enumerate() {
            assert!(others[..i].iter().all(|other| one != other), "{others:x?}");
        }
        let exec = kit.instantiate(graph);
        let expected = (1..=5).fold(0u32, |sum, digit| sum.wrapping_mul(31).wrapping_add(digit));
        kit.run(exec);
        assert_eq!(kit.word(words), expected);
        // The three that nothing frees, and what was freed beside the chain.
        let all = 4 * SIZE + 1;
        assert_eq!((attribute(kit, USED), attribute(kit, RESERVED)), (all, all));
        assert_eq!(attribute(kit, USED_HIGH), all);
        for address in [twice, too_large, second] {
            kit.ok("cuMemFree_v2", &[address]);
        }
        assert_eq!((attribute(kit, USED), attribute(kit, RESERVED)), (all, all));
        kit.ok("cuMemsetD32_v2", &[words, 0, 1]);
        kit.run(exec);
        assert_eq!(kit.word(words), expected);
        for address in [twice, too_large, second] {
            kit.ok("cuMemFreeAsync", &[address, kit.stream]);
        }
        kit.wait();
        kit.ok("cuDeviceGraphMemTrim", &[0]);
        assert_eq!((attribute(kit, USED), attribute(kit, RESERVED)), (0, 0));
        kit.rows(&[("cuGraphExecDestroy", &[exec], 0), ("cuGraphDestroy", &[graph], 0)]);
        // A captured stream orders what it frees before what it allocates next.
        let captured = kit.captured(|| {
            let mut all = [0u64; 3];
            for address in &mut all {
                kit.ok("cuMemAllocAsync", &[at(address), SIZE, kit.stream]);
                kit.ok("cuMemsetD8Async", &[*address, 1, SIZE, kit.stream]);
                kit.ok("cuMemFreeAsync", &[*address, kit.stream]);
            }
            assert_eq!([all[1], all[2]], [all[0]; 2]);
        });
        kit.run(kit.instantiate(captured));
        assert_eq!((attribute(kit, USED), attribute(kit, RESERVED)), (SIZE, SIZE));
    });
}

#[test]
fn managed_memory_and_the_hosts() {
    on_each_engine("graphs::memory::managed_memory_and_the_hosts", |kit| {
        const PINNED: u32 = 1;
        const MANAGED: u32 = 2;
        const NOWHERE: (u32, u32) = (0, 0);
        const DEVICE: (u32, u32) = (1, 0);
        const HOST: (u32, u32) = (2, 0);
        const NODE: (u32, u32) = (3, 0);
        // Pointer attributes: the memory's type (1 host, 2 device), and whether it is managed.
        let about = |address: u64| {
            let (mut kind, mut managed) = (0u32, 0u8);
            kit.ok("cuPointerGetAttribute", &[at(&mut kind), 2, address]);
            kit.ok("cuPointerGetAttribute", &[at(&mut managed), 8, address]);
            (kind, managed)
        };
        for (kind, location, told, counted) in [
            (PINNED, DEVICE, (2, 0), SIZE),
            (PINNED, NODE, (1, 0), 0),
            (MANAGED, DEVICE, (2, 1), SIZE),
            (MANAGED, HOST, (2, 1), SIZE),
            (MANAGED, NOWHERE, (2, 1), SIZE),
        ] {
            let graph = kit.graph();
            let mut asked = asked(kind, location, SIZE);
            let node = kit.add_to(graph, &[], &mut asked);
            let address = asked[16];
            kit.add(graph, &[node], fill(address, 7, 4, SIZE / 4));
            let mut got = [0u64; 15];
            kit.ok("cuGraphMemAllocNodeGetParams", &[node, at(&mut got)]);
            assert_eq!(got[..2], [wide(kind, 0), wide(location.0, location.1)]);
            kit.run(kit.instantiate(graph));
            assert_eq!(about(address), told, "{kind} at {location:?}");
            assert_eq!(attribute(kit, USED), counted, "{kind} at {location:?}");
            if told != (2, 0) {
                // SAFETY: the host may use this memory, and the launch that fills it has ended.
                assert_eq!(unsafe { *((address + SIZE - 4) as *const u32) }, 7);
            }
            kit.ok("cuMemFreeAsync", &[address, kit.stream]);
            kit.wait();
            assert_eq!(attribute(kit, USED), counted);
            kit.ok("cuDeviceGraphMemTrim", &[0]);
            assert_eq!(attribute(kit, USED), 0);
        }
        let (graph, mut out) = (kit.graph(), 0u64);
        for (kind, location) in
            [(PINNED, NOWHERE), (PINNED, (1, 9)), (MANAGED, (1, 9)), (3, DEVICE), (0, DEVICE)]
        {
            let mut asked = asked(kind, location, SIZE);
            let arguments = [at(&mut out), graph, 0, 0, 0, at(&mut asked)];
            assert_eq!(kit.call("cuGraphAddNode_v2", &arguments), INVALID_VALUE, "{kind} at {location:?}");
        }
        // As recorded (`gmemory.alloc`): pinned memory of the host, memory that other processes import, and
        // memory that a device can only read are not supported, and bytes that are reserved are 0.
        let right = asked(PINNED, DEVICE, SIZE);
        let mut access = [wide(1, 0), 3];
        for (word, value, flags, status) in [
            (3, wide(2, 0), 3, NOT_SUPPORTED),
            (2, wide(PINNED, 1), 3, NOT_SUPPORTED),
            (7, 1, 3, INVALID_VALUE),
            (14, 1, 3, 0),
            (14, 1, 1, NOT_SUPPORTED),
            (14, 1, 0, NOT_SUPPORTED),
        ] {
            access[1] = flags;
            let mut wrong = right;
            wrong[13] = at(&mut access);
            wrong[word] = value;
            let status_here = kit.call("cuGraphAddNode_v2", &[at(&mut out), graph, 0, 0, 0, at(&mut wrong)]);
            assert_eq!(status_here, status, "word {word}: {value}, access {flags}");
        }
        access = [wide(1, 9), 3];
        let mut wrong = right;
        (wrong[13], wrong[14]) = (at(&mut access), 1);
        let arguments = [at(&mut out), graph, 0, 0, 0, at(&mut wrong)];
        kit.rows(&[("cuGraphAddNode_v2", &arguments, INVALID_DEVICE)]);
    });
}

/// Memory that a captured stream takes from a pool of managed memory is managed.
#[test]
fn memory_of_a_captured_pool_is_the_pools() {
    isolated("graphs::memory::memory_of_a_captured_pool_is_the_pools", |kit| {
        // `CUmemPoolProps`: managed, located nowhere.
        let mut properties = [wide(2, 0), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let pool = kit.made("cuMemPoolCreate", &[at(&mut properties)]);
        let mut address = 0u64;
        let graph = kit.captured(|| {
            kit.ok("cuMemAllocFromPoolAsync", &[at(&mut address), SIZE, pool, kit.stream]);
            kit.ok("cuMemsetD8Async", &[address, 3, SIZE, kit.stream]);
        });
        let mut got = [0u64; 15];
        kit.ok("cuGraphMemAllocNodeGetParams", &[kit.nodes(graph)[0], at(&mut got)]);
        assert_eq!((got[0] as u32, got[14]), (2, address));
        kit.run(kit.instantiate(graph));
        // SAFETY: the host may use managed memory, and the launch that fills it has ended.
        assert_eq!(unsafe { *(address as *const u8) }, 3);
    });
}

static DESTROYED: AtomicU64 = AtomicU64::new(0);

extern "C" fn destroyed(data: u64) {
    DESTROYED.fetch_add(data, Ordering::SeqCst);
}

/// What destructors added since the last call.
fn take() -> u64 {
    DESTROYED.swap(0, Ordering::SeqCst)
}

extern "C" fn nap(milliseconds: u64) {
    std::thread::sleep(std::time::Duration::from_millis(milliseconds));
}

#[test]
fn user_objects_end_once_with_their_last_reference() {
    on_each_engine("graphs::memory::user_objects_end_once_with_their_last_reference", |kit| {
        const NO_SYNC: u64 = 1;
        const MOVE: u64 = 1;
        let function = destroyed as *const () as u64;
        let object = |count: u64| kit.made("cuUserObjectCreate", &[7, function, count, NO_SYNC]);
        let (keep, give) = ("cuUserObjectRetain", "cuUserObjectRelease");
        let (retain, release) = ("cuGraphRetainUserObject", "cuGraphReleaseUserObject");
        // The program's own references.
        let own = object(2);
        kit.rows(&[(keep, &[own, 3], 0), (give, &[own, 4], 0)]);
        assert_eq!(take(), 0);
        kit.ok(give, &[own, 1]);
        assert_eq!(take(), 7);
        kit.rows(&[(keep, &[own, 1], INVALID_VALUE), (give, &[own, 1], INVALID_VALUE)]);
        // References of a graph, its clone, a node of another graph, executable graphs and launches.
        let (graph, moved) = (kit.graph(), object(1));
        kit.ok(retain, &[graph, moved, 1, MOVE]);
        let clone = kit.made("cuGraphClone", &[graph]);
        let outer = kit.graph();
        let node = kit.add(outer, &[], params(GRAPH, &[graph, 0]));
        kit.add(outer, &[node], host(nap, 50));
        let exec = kit.instantiate(outer);
        kit.launch(exec);
        for (name, handle) in [
            ("cuGraphDestroy", graph),
            ("cuGraphDestroy", clone),
            ("cuGraphDestroy", outer),
            ("cuGraphExecDestroy", exec),
        ] {
            assert_eq!(take(), 0, "before {name}");
            kit.ok(name, &[handle]);
        }
        kit.wait();
        kit.ok("cuCtxSynchronize", &[]);
        assert_eq!(take(), 7, "the launch held the last one");
        // New references, released one by one or with the graph. More than it has are all (`gobject`).
        for all in [false, true] {
            let (graph, shared) = (kit.graph(), object(1));
            kit.rows(&[
                (retain, &[graph, shared, 3, 0], 0),
                (give, &[shared, 1], 0),
                (release, &[graph, shared, 2], 0),
                (release, &[kit.graph(), shared, 1], 0),
            ]);
            assert_eq!(take(), 0);
            if all {
                kit.ok(release, &[graph, shared, 2]);
                assert_eq!(take(), 7);
            }
            kit.ok("cuGraphDestroy", &[graph]);
            assert_eq!(take(), if all { 0 } else { 7 });
        }
        // What is wrong.
        let (mut out, graph, other) = (0u64, kit.graph(), object(1));
        let create = "cuUserObjectCreate";
        kit.rows(&[
            (create, &[at(&mut out), 7, function, 0, NO_SYNC], INVALID_VALUE),
            (create, &[at(&mut out), 7, function, 1 << 31, NO_SYNC], 0),
            (create, &[at(&mut out), 7, function, u64::from(u32::MAX), NO_SYNC], 0),
            (create, &[at(&mut out), 7, function, 1, 0], INVALID_VALUE),
            (create, &[at(&mut out), 7, 0, 1, NO_SYNC], INVALID_VALUE),
            (create, &[0, 7, function, 1, NO_SYNC], INVALID_VALUE),
            (keep, &[other, 0], INVALID_VALUE),
            (keep, &[other, 1 << 31], INVALID_VALUE),
            (give, &[other, 0], INVALID_VALUE),
            (retain, &[graph, other, 0, 0], INVALID_VALUE),
            (retain, &[graph, other, 1 << 31, 0], INVALID_VALUE),
            (retain, &[graph, other, 1, 2], INVALID_VALUE),
            (retain, &[graph, 0, 1, 0], INVALID_VALUE),
            (retain, &[0, other, 1, 0], INVALID_VALUE),
            (release, &[graph, other, 1], 0),
            (release, &[graph, other, 0], INVALID_VALUE),
            (release, &[graph, 0, 1], INVALID_VALUE),
            (keep, &[other, (1 << 31) - 1], 0),
            (give, &[other, 1 << 31], 0),
        ]);
        assert_eq!(take(), 7);
    });
}

/// Waits for the context in a destructor, and stores the status.
extern "C" fn wait_for_all(to: u64) {
    let status = crate::by_name::Library::open().call("cuCtxSynchronize", &[]);
    // SAFETY: the test's own word, which it reads when the stream has ended.
    unsafe { (to as *mut u32).write(status) };
}

#[test]
fn destructors_do_not_wait_for_the_stream_that_ends_the_object() {
    isolated("graphs::memory::destructors_do_not_wait_for_the_stream_that_ends_the_object", |kit| {
        const NOT_PERMITTED: u32 = 800;
        let mut status = 0u32;
        let object =
            kit.made("cuUserObjectCreate", &[at(&mut status), wait_for_all as *const () as u64, 1, 1]);
        let graph = kit.graph();
        kit.ok("cuGraphRetainUserObject", &[graph, object, 1, 1]);
        kit.add(graph, &[], host(nap, 50));
        let exec = kit.instantiate(graph);
        kit.launch(exec);
        kit.rows(&[("cuGraphDestroy", &[graph], 0), ("cuGraphExecDestroy", &[exec], 0)]);
        kit.wait();
        assert_eq!(status, NOT_PERMITTED);
    });
}
