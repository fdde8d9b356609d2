//! Green contexts: the parts of a device, contexts that own them, and what runs in these.

use crate::by_name::status::{INVALID_CONTEXT, INVALID_DEVICE, INVALID_HANDLE, INVALID_VALUE, OK};
use crate::by_name::{Library, at, isolated};

const CONTEXT_IS_DESTROYED: u32 = 709;
const TOO_LARGE: u32 = 720;
const INVALID_TYPE: u32 = 914;
const INVALID_CONFIGURATION: u32 = 915;

/// `CUdevResource`: the type, bytes of the driver's own, and for multiprocessors: how many, the fewest of a
/// part, the alignment of a part, flags.
type Resource = [u32; 36];
const COUNT: usize = 24;
const SMALLEST: usize = 25;
const TOGETHER: usize = 26;

const MULTIPROCESSORS: u64 = 1;
const EACH: u64 = 1;

fn whole(cuda: Library) -> Resource {
    let mut resource = [0; 36];
    cuda.ok("cuDeviceGetDevResource", &[0, at(&mut resource), MULTIPROCESSORS]);
    resource
}

/// A green context with `count` multiprocessors; its handle and its context's.
fn green(cuda: Library, count: u64) -> (u64, u64) {
    let (mut all, mut part, mut groups) = (whole(cuda), [0u32; 36], 1u32);
    cuda.ok("cuDevSmResourceSplitByCount", &[at(&mut part), at(&mut groups), at(&mut all), 0, EACH, count]);
    assert_eq!(u64::from(part[COUNT]), count);
    let description = cuda.made("cuDevResourceGenerateDesc", &[at(&mut part), 1]);
    let green = cuda.made("cuGreenCtxCreate", &[description, 0, 1]);
    (green, cuda.made("cuCtxFromGreenCtx", &[green]))
}

#[test]
fn multiprocessors_are_split() {
    let variables =
        [("ANYWARP_WORKERS", "20"), ("ANYWARP_COMPUTE_CAPABILITY", "9.0"), ("ANYWARP_DEVICES", "2")];
    isolated("green::multiprocessors_are_split", &variables, || {
        let cuda = Library::start();
        let mut all = whole(cuda);
        assert_eq!((all[0], all[COUNT], all[SMALLEST], all[TOGETHER]), (1, 20, 8, 8));
        let (mut parts, mut rest, mut count) = ([[7u32; 36]; 4], [7u32; 36], 0u32);
        let (p, r, n, a) = (at(&mut parts), at(&mut rest), at(&mut count), at(&mut all));
        let split = "cuDevSmResourceSplitByCount";
        // How many there would be.
        cuda.ok(split, &[0, n, a, 0, 0, 1]);
        assert_eq!((count, rest[0]), (2, 7));
        count = 4;
        cuda.ok(split, &[p, at(&mut count), a, r, 0, 3]);
        assert_eq!((count, parts[0][COUNT], parts[1][COUNT], parts[2], rest[COUNT]), (2, 8, 8, [7; 36], 4));
        let (mut first, mut left) = (parts[0], rest);
        // Nothing is left.
        let mut two = 4u32;
        cuda.ok(split, &[p, at(&mut two), a, r, EACH, 10]);
        assert_eq!((two, parts[0][COUNT], parts[1][COUNT], rest[0]), (2, 10, 10, 0));
        let (mut none, mut one, mut forged, mut other) = (0u32, 1u32, [0u32; 36], all);
        forged[0] = 1;
        other[0] = 1000;
        cuda.rows(&[
            (split, &[p, 0, a, r, 0, 1], INVALID_VALUE),
            (split, &[p, at(&mut none), a, r, 0, 1], INVALID_VALUE),
            (split, &[p, at(&mut one), 0, r, 0, 1], INVALID_VALUE),
            (split, &[p, at(&mut one), a, r, 3, 1], INVALID_VALUE),
            (split, &[p, at(&mut one), a, r, 0, 21], INVALID_CONFIGURATION),
            (split, &[p, at(&mut one), at(&mut forged), r, 0, 1], INVALID_CONFIGURATION),
            (split, &[p, at(&mut one), at(&mut other), r, 0, 1], INVALID_TYPE),
            (split, &[p, at(&mut one), at(&mut first), r, 0, 1], INVALID_CONFIGURATION),
            ("cuDeviceGetDevResource", &[0, 0, 1], INVALID_VALUE),
            ("cuDeviceGetDevResource", &[9, a, 1], INVALID_DEVICE),
            ("cuDeviceGetDevResource", &[0, a, 1000], INVALID_TYPE),
        ]);
        // Groups of their own sizes: 8 that are scheduled by 4, and all others.
        let mut groups = [[0u32; 16]; 2];
        (groups[0][0], groups[0][1], groups[1][1], groups[1][3]) = (8, 4, 2, 1);
        let by_group = "cuDevSmResourceSplit";
        cuda.ok(by_group, &[p, 2, a, r, 0, at(&mut groups)]);
        assert_eq!((parts[0][COUNT], parts[1][COUNT], rest[0]), (8, 12, 0));
        assert_eq!((groups[0][..4].to_vec(), groups[1][..4].to_vec()), (vec![8, 4, 4, 0], vec![12, 2, 2, 1]));
        let mut reserved = [0u32; 16];
        reserved[15] = 1;
        cuda.rows(&[
            (by_group, &[p, 0, a, r, 0, at(&mut groups)], INVALID_VALUE),
            (by_group, &[p, 1, a, r, 1, at(&mut groups)], INVALID_VALUE),
            (by_group, &[p, 1, a, r, 0, 0], INVALID_VALUE),
            (by_group, &[p, 1, a, r, 0, at(&mut reserved)], INVALID_VALUE),
            (by_group, &[p, 1, 0, r, 0, at(&mut groups)], INVALID_VALUE),
        ]);
        // A description of parts of one split.
        let mut out = 0u64;
        let mut own = [first, left];
        let mut foreign = [first, parts[0]];
        let describe = "cuDevResourceGenerateDesc";
        cuda.rows(&[
            (describe, &[at(&mut out), at(&mut first), 1], OK),
            (describe, &[at(&mut out), at(&mut left), 1], OK),
            (describe, &[at(&mut out), at(&mut own), 2], OK),
            (describe, &[at(&mut out), at(&mut foreign), 2], INVALID_CONFIGURATION),
            (describe, &[0, at(&mut first), 1], INVALID_VALUE),
            (describe, &[at(&mut out), 0, 1], INVALID_VALUE),
            (describe, &[at(&mut out), at(&mut first), 0], INVALID_VALUE),
            (describe, &[at(&mut out), at(&mut other), 1], INVALID_TYPE),
        ]);
        let description = cuda.made(describe, &[at(&mut first), 1]);
        assert_eq!(
            cuda.made(describe, &[at(&mut first), 1]),
            description,
            "the same set, the same description"
        );
        let create = "cuGreenCtxCreate";
        cuda.rows(&[
            (create, &[0, description, 0, 1], INVALID_VALUE),
            (create, &[at(&mut out), description, 0, 0], INVALID_VALUE),
            (create, &[at(&mut out), description, 9, 1], INVALID_DEVICE),
            (create, &[at(&mut out), description, 1, 1], INVALID_DEVICE),
            (create, &[at(&mut out), 0x1234_5678, 0, 1], INVALID_VALUE),
        ]);
    });
}

#[test]
fn green_contexts_have_views_and_streams() {
    isolated("green::green_contexts_have_views_and_streams", &[("ANYWARP_WORKERS", "4")], || {
        let cuda = Library::start();
        let mut primary = cuda.primary();
        let (green_context, view) = green(cuda, 2);
        let (other, _) = green(cuda, 1);
        assert!(view != primary && view == green_context);
        let (mut got, mut share, mut id, mut resource) = (0u64, 0u64, [0u64; 3], [0u32; 36]);
        let stream = cuda.made("cuGreenCtxStreamCreate", &[green_context, 1, 0]);
        cuda.ok("cuStreamGetGreenCtx", &[stream, at(&mut got)]);
        assert_eq!(got, green_context);
        cuda.ok("cuStreamGetCtx", &[stream, at(&mut got)]);
        assert_eq!(got, view);
        cuda.ok("cuStreamGetCtx_v2", &[stream, at(&mut got), at(&mut share)]);
        assert_eq!((got, share), (primary, green_context));
        for (name, handle) in [
            ("cuGreenCtxGetDevResource", green_context),
            ("cuCtxGetDevResource", view),
            ("cuStreamGetDevResource", stream),
        ] {
            cuda.ok(name, &[handle, at(&mut resource), MULTIPROCESSORS]);
            assert_eq!(resource[COUNT], 2, "{name}");
            cuda.rows(&[
                (name, &[handle, 0, MULTIPROCESSORS], INVALID_VALUE),
                (name, &[handle, at(&mut resource), 7], INVALID_TYPE),
            ]);
        }
        cuda.ok("cuCtxGetDevResource", &[primary, at(&mut resource), MULTIPROCESSORS]);
        assert_eq!(resource[COUNT], 4);
        cuda.ok("cuStreamGetGreenCtx", &[0, at(&mut got)]);
        assert_eq!(got, 0, "no green context is current");
        cuda.rows(&[
            ("cuGreenCtxGetId", &[green_context, at(&mut id)], OK),
            ("cuGreenCtxGetId", &[other, at(&mut id[1])], OK),
            ("cuGreenCtxGetId", &[0, at(&mut id[2])], INVALID_CONTEXT),
            ("cuGreenCtxGetId", &[green_context, 0], INVALID_VALUE),
            ("cuCtxPushCurrent_v2", &[view], OK),
            ("cuCtxGetCurrent", &[at(&mut got)], OK),
            ("cuGreenCtxGetId", &[0, at(&mut id[2])], OK),
            ("cuStreamGetGreenCtx", &[0, at(&mut share)], OK),
        ]);
        assert_eq!((got, share, id[2]), (view, green_context, id[0]));
        assert!(id[0] != id[1]);
        let ordinary = cuda.made("cuStreamCreate", &[0]);
        cuda.ok("cuStreamGetGreenCtx", &[ordinary, at(&mut share)]);
        cuda.ok("cuCtxPopCurrent_v2", &[at(&mut got)]);
        assert_eq!((share, got), (green_context, view));
        cuda.ok("cuCtxGetCurrent", &[at(&mut got)]);
        assert_eq!(got, primary);
        let make = "cuGreenCtxStreamCreate";
        cuda.rows(&[
            (make, &[0, green_context, 1, 0], INVALID_VALUE),
            (make, &[at(&mut got), green_context, 0, 0], INVALID_VALUE),
            (make, &[at(&mut got), primary, 1, 0], INVALID_CONTEXT),
            ("cuCtxFromGreenCtx", &[0, green_context], INVALID_VALUE),
            ("cuCtxFromGreenCtx", &[at(&mut got), primary], INVALID_CONTEXT),
            ("cuCtxFromGreenCtx", &[at(&mut got), 0], INVALID_CONTEXT),
            ("cuGreenCtxGetDevResource", &[0, at(&mut resource), 1], INVALID_CONTEXT),
            ("cuStreamGetGreenCtx", &[stream, 0], INVALID_VALUE),
            ("cuStreamGetGreenCtx", &[0x1234_5678, at(&mut got)], INVALID_HANDLE),
            // A dead one: nothing can be done in its streams, and its view is no context.
            ("cuCtxSetCurrent", &[view], OK),
            ("cuGreenCtxDestroy", &[green_context], OK),
            ("cuGreenCtxDestroy", &[green_context], INVALID_CONTEXT),
            ("cuCtxSynchronize", &[], CONTEXT_IS_DESTROYED),
            ("cuCtxSetCurrent", &[primary], OK),
            ("cuCtxSetCurrent", &[view], INVALID_CONTEXT),
            ("cuStreamSynchronize", &[stream], CONTEXT_IS_DESTROYED),
            ("cuStreamDestroy_v2", &[stream], CONTEXT_IS_DESTROYED),
            ("cuStreamDestroy_v2", &[stream], INVALID_HANDLE),
            ("cuGreenCtxGetId", &[green_context, at(&mut got)], INVALID_CONTEXT),
            ("cuGreenCtxDestroy", &[0], INVALID_CONTEXT),
            ("cuGreenCtxDestroy", &[primary], INVALID_CONTEXT),
            ("cuCtxSynchronize", &[], OK),
            ("cuGreenCtxDestroy", &[other], OK),
        ]);
        // The green contexts held the primary context as its other users do: the third release is one too
        // many.
        for status in [OK, OK, INVALID_CONTEXT] {
            assert_eq!(cuda.call("cuDevicePrimaryCtxRelease_v2", &[0]), status);
        }
        // A green context alone keeps the primary context alive, and a reset ends it.
        let (alone, _) = green(cuda, 1);
        cuda.rows(&[
            ("cuDevicePrimaryCtxReset_v2", &[0], OK),
            ("cuGreenCtxStreamCreate", &[at(&mut primary), alone, 1, 0], CONTEXT_IS_DESTROYED),
            ("cuGreenCtxDestroy", &[alone], OK),
        ]);
    });
}

/// A kernel whose blocks note on which multiprocessor they run, and take a while.
const TEXT: &str = ".version 7.0\n.target sm_52\n.address_size 64\n
.visible .entry where(.param .u64 p) {
    .reg .pred %q; .reg .b32 %r<6>; .reg .b64 %d<4>;
    ld.param.u64 %d1, [p];
    mov.u32 %r1, %smid; and.b32 %r1, %r1, 31; mov.u32 %r2, 1; shl.b32 %r2, %r2, %r1;
    atom.global.or.b32 %r3, [%d1], %r2;
    mov.u32 %r5, 0;
L:  add.u32 %r5, %r5, 1; ld.volatile.global.u32 %r4, [%d1]; setp.lt.u32 %q, %r5, 20000; @%q bra L;
    ret;
}\n\0";

fn launch(cuda: Library, kernel: u64, blocks: u64, stream: u64, mut argument: u64, cooperative: bool) -> u32 {
    let mut arguments = [at(&mut argument)];
    let name = if cooperative { "cuLaunchCooperativeKernel" } else { "cuLaunchKernel" };
    cuda.call(name, &[kernel, blocks, 1, 1, 1, 1, 1, 0, stream, at(&mut arguments), 0])
}

#[test]
fn kernels_run_on_their_share() {
    isolated("green::kernels_run_on_their_share", &[("ANYWARP_WORKERS", "6")], || {
        let cuda = Library::start();
        let module = cuda.made("cuModuleLoadData", &[TEXT.as_ptr() as u64]);
        let kernel = cuda.made("cuModuleGetFunction", &[module, c"where".as_ptr() as u64]);
        let notes = cuda.made("cuMemAlloc_v2", &[64]);
        let mut most = 0i32;
        cuda.ok("cuOccupancyMaxActiveBlocksPerMultiprocessor", &[at(&mut most), kernel, 1, 0]);
        for share in [1u64, 2] {
            let (green_context, view) = green(cuda, share);
            let own = cuda.made("cuGreenCtxStreamCreate", &[green_context, 1, 0]);
            cuda.ok("cuCtxPushCurrent_v2", &[view]);
            let created = cuda.made("cuStreamCreate", &[1]);
            // Its streams, and the default streams while it is current.
            for stream in [own, created, 0, 2] {
                cuda.ok("cuMemsetD8_v2", &[notes, 0, 64]);
                // The fill is in the default stream, which the others do not wait for.
                cuda.ok("cuCtxSynchronize", &[]);
                assert_eq!(launch(cuda, kernel, 48, stream, notes, false), OK);
                cuda.ok("cuCtxSynchronize", &[]);
                let [seen] = cuda.read::<u32, 1>(notes);
                assert!((1..=share as u32).contains(&seen.count_ones()), "{seen:#b} in {stream:#x}");
            }
            // A captured launch keeps the share, wherever the graph is launched, and with new parameters.
            let mut graph = 0u64;
            cuda.ok("cuStreamBeginCapture_v2", &[own, 2]);
            assert_eq!(launch(cuda, kernel, 48, own, notes, false), OK);
            cuda.ok("cuStreamEndCapture", &[own, at(&mut graph)]);
            let (mut node, mut count, mut params) = (0u64, 1usize, [0u64; 9]);
            cuda.ok("cuGraphGetNodes", &[graph, at(&mut node), at(&mut count)]);
            let exec = cuda.made("cuGraphInstantiateWithFlags", &[graph, 0]);
            cuda.ok("cuCtxPopCurrent_v2", &[0]);
            for _ in 0..2 {
                cuda.ok("cuMemsetD8_v2", &[notes, 0, 64]);
                cuda.rows(&[("cuGraphLaunch", &[exec, 0], OK), ("cuCtxSynchronize", &[], OK)]);
                let [seen] = cuda.read::<u32, 1>(notes);
                assert!((1..=share as u32).contains(&seen.count_ones()), "{seen:#b} of a graph");
                cuda.ok("cuGraphKernelNodeGetParams_v2", &[node, at(&mut params)]);
                cuda.ok("cuGraphExecKernelNodeSetParams_v2", &[exec, node, at(&mut params)]);
            }
            // With another priority, too.
            let mut priority = [0u64; 8];
            cuda.ok("cuGraphKernelNodeSetAttribute", &[node, 8, at(&mut priority)]);
            let exec = cuda.made("cuGraphInstantiateWithFlags", &[graph, 0]);
            cuda.ok("cuMemsetD8_v2", &[notes, 0, 64]);
            cuda.rows(&[("cuGraphLaunch", &[exec, 0], OK), ("cuCtxSynchronize", &[], OK)]);
            let [seen] = cuda.read::<u32, 1>(notes);
            assert!((1..=share as u32).contains(&seen.count_ones()), "{seen:#b} with an attribute");
            // A node of a library's kernel runs in the context that it names.
            let library = cuda.made("cuLibraryLoadData", &[TEXT.as_ptr() as u64, 0, 0, 0, 0, 0, 0]);
            let of_library = cuda.made("cuLibraryGetKernel", &[library, c"where".as_ptr() as u64]);
            let (mut to, graph) = (notes, cuda.made("cuGraphCreate", &[0]));
            let mut arguments = [at(&mut to)];
            let one = 1 | 1 << 32;
            let mut params = [0, 48 | 1 << 32, one, one, 0, at(&mut arguments), 0, of_library, view];
            cuda.made("cuGraphAddKernelNode_v2", &[graph, 0, 0, at(&mut params)]);
            let exec = cuda.made("cuGraphInstantiateWithFlags", &[graph, 0]);
            cuda.ok("cuMemsetD8_v2", &[notes, 0, 64]);
            cuda.rows(&[("cuGraphLaunch", &[exec, 0], OK), ("cuCtxSynchronize", &[], OK)]);
            let [seen] = cuda.read::<u32, 1>(notes);
            assert!((1..=share as u32).contains(&seen.count_ones()), "{seen:#b} by a node");
            cuda.ok("cuCtxPushCurrent_v2", &[view]);
            // A cooperative launch needs all its blocks at once on the share.
            let room = u64::from(most as u32) * share;
            assert_eq!(launch(cuda, kernel, room + 1, own, notes, true), TOO_LARGE);
            assert_eq!(launch(cuda, kernel, room.min(8), own, notes, true), OK);
            cuda.ok("cuCtxPopCurrent_v2", &[0]);
            assert_eq!(launch(cuda, kernel, (room + 1).min(24), 0, notes, true), OK);
            cuda.rows(&[
                ("cuCtxSynchronize", &[], OK),
                ("cuStreamDestroy_v2", &[created], OK),
                ("cuStreamDestroy_v2", &[own], OK),
                ("cuGreenCtxDestroy", &[green_context], OK),
            ]);
        }
    });
}

#[test]
fn events_gather_and_hold_a_whole_green_context() {
    isolated("green::events_gather_and_hold_a_whole_green_context", &[("ANYWARP_WORKERS", "4")], || {
        let cuda = Library::start();
        let word = cuda.made("cuMemAlloc_v2", &[64]);
        cuda.ok("cuMemsetD8_v2", &[word, 0, 64]);
        let (green_context, _) = green(cuda, 2);
        let streams = [(); 2].map(|()| cuda.made("cuGreenCtxStreamCreate", &[green_context, 1, 0]));
        let free = cuda.made("cuStreamCreate", &[1]);
        let events = [(); 2].map(|()| cuda.made("cuEventCreate", &[2]));
        // The event waits for both streams.
        for (i, stream) in (0u64..).zip(streams) {
            cuda.ok("cuStreamWaitValue32_v2", &[stream, word + 4 * i, 1, 1]);
        }
        cuda.rows(&[
            ("cuGreenCtxRecordEvent", &[green_context, events[0]], OK),
            ("cuEventQuery", &[events[0]], 600),
            ("cuStreamWriteValue32_v2", &[free, word, 1, 0], OK),
            ("cuStreamSynchronize", &[streams[0]], OK),
            ("cuEventQuery", &[events[0]], 600),
            ("cuStreamWriteValue32_v2", &[free, word + 4, 1, 0], OK),
            ("cuEventSynchronize", &[events[0]], OK),
            // All streams wait for the event, and those made later too.
            ("cuStreamWaitValue32_v2", &[free, word + 8, 1, 1], OK),
            ("cuEventRecord", &[events[1], free], OK),
            ("cuGreenCtxWaitEvent", &[green_context, events[1]], OK),
        ]);
        let late = cuda.made("cuGreenCtxStreamCreate", &[green_context, 1, 0]);
        for (i, stream) in (0u64..).zip([streams[0], streams[1], late]) {
            cuda.ok("cuStreamWriteValue32_v2", &[stream, word + 16 + 4 * i, 1, 0]);
            assert_eq!(cuda.call("cuStreamQuery", &[stream]), 600);
        }
        cuda.ok("cuMemsetD32Async", &[word + 8, 1, 1, cuda.made("cuStreamCreate", &[1])]);
        cuda.ok("cuCtxSynchronize", &[]);
        assert_eq!(cuda.read::<u32, 3>(word + 16), [1; 3]);
        let other = cuda.made("cuCtxCreate_v2", &[0, 0]);
        let foreign = cuda.made("cuEventCreate", &[2]);
        cuda.rows(&[
            ("cuGreenCtxRecordEvent", &[green_context, foreign], INVALID_HANDLE),
            ("cuGreenCtxRecordEvent", &[0, foreign], INVALID_CONTEXT),
            ("cuGreenCtxRecordEvent", &[green_context, 0], INVALID_HANDLE),
            ("cuGreenCtxWaitEvent", &[green_context, 0], INVALID_HANDLE),
            ("cuGreenCtxWaitEvent", &[other, foreign], INVALID_CONTEXT),
            ("cuGreenCtxDestroy", &[green_context], OK),
        ]);
    });
}
