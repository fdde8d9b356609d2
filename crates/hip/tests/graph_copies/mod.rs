//! Copies of graphs: from and to variables, of the driver's kind, and of arrays.

use std::ffi::c_void;
use std::ptr::null;

use hip::types::{ChannelFormat, Extent, Memcpy3D, Memcpy3DIn5, Memcpy3DParameters, PitchedPointer};

use crate::{BYTES, INVALID_DIRECTION, INVALID_VALUE, Numbers, P, Shared, THREADS, from, open};

#[test]
fn variables_are_copied_by_nodes() {
    let hip = open(6);
    let (source, out) = (from(20), Shared::of([0; THREADS]));
    let (from_host, out_at) = (Shared::of(source), out.at());
    let source_at = from_host.at();
    let graph = hip.graph();
    let add_to = |size: usize, offset: usize, kind: u32| {
        let mut node = 0;
        let code = code!(hip, hipGraphAddMemcpyNodeToSymbol(&raw mut node => *mut P, graph => P,
            null() => *const P, 0 => usize,
            hip.shadow => P, source_at => P, size => usize, offset => usize, kind => u32));
        (code, node)
    };
    assert_eq!(add_to(BYTES, 4, 1).0, INVALID_VALUE, "beyond the variable");
    assert_eq!(add_to(BYTES, 0, 2).0, INVALID_DIRECTION);
    let (code, to) = add_to(BYTES - 4, 4, 1);
    assert_eq!(code, 0);
    let add_from = |size: usize, offset: usize, kind: u32| {
        let mut node = 0;
        let code = code!(hip, hipGraphAddMemcpyNodeFromSymbol(&raw mut node => *mut P, graph => P,
            &to => *const P, 1 => usize,
            out_at => P, hip.shadow => P, size => usize, offset => usize, kind => u32));
        (code, node)
    };
    assert_eq!(add_from(BYTES, 1, 2).0, INVALID_VALUE);
    assert_eq!(add_from(BYTES, 0, 1).0, INVALID_DIRECTION);
    let (code, back) = add_from(BYTES, 0, 2);
    assert_eq!(code, 0);
    let mut kind = 99;
    ok!(hip, hipGraphNodeGetType(back => P, &raw mut kind => *mut u32));
    assert_eq!(kind, 1, "as for AMD, it is a copy");
    let exec = hip.instantiate(graph);
    hip.launch(exec);
    assert_eq!(out.get()[0], 0);
    assert_eq!(out.get()[1..], source[..THREADS - 1]);

    // The executable graph's copy, and the graph's.
    ok!(hip, hipGraphExecMemcpyNodeSetParamsToSymbol(exec => P, to => P, hip.shadow => P, source_at => P,
        4 => usize, 0 => usize, 1 => u32));
    let code = code!(hip, hipGraphExecMemcpyNodeSetParamsToSymbol(exec => P, to => P, hip.shadow => P,
        source_at => P, 4 => usize, 0 => usize, 4 => u32));
    assert_eq!(code, INVALID_VALUE, "another direction");
    ok!(hip, hipGraphExecMemcpyNodeSetParamsFromSymbol(exec => P, back => P, out_at + 4 => P,
        hip.shadow => P, 4 => usize, 0 => usize, 2 => u32));
    hip.launch(exec);
    assert_eq!(out.get()[1], source[0]);
    ok!(hip, hipGraphMemcpyNodeSetParamsToSymbol(to => P, hip.shadow => P, source_at + 8 => P, 4 => usize,
        0 => usize, 1 => u32));
    ok!(hip, hipGraphMemcpyNodeSetParamsFromSymbol(back => P, out_at => P, hip.shadow => P, 4 => usize,
        0 => usize, 2 => u32));
    let again = hip.instantiate(graph);
    hip.launch(again);
    assert_eq!(out.get()[0], source[2]);
    for exec in [exec, again] {
        ok!(hip, hipGraphExecDestroy(exec => P));
    }
    ok!(hip, hipGraphDestroy(graph => P));
}

/// `HIP_MEMCPY3D` from host memory to device memory, with the types of one release of HIP and its numbers of
/// these kinds of memory.
macro_rules! rows_up {
    ($type:ident, $kinds:expr, $from:expr, $to:expr) => {
        $type {
            src_x: 4,
            src_y: 0,
            src_z: 0,
            src_lod: 0,
            src_type: $kinds[0],
            src_host: $from,
            src_device: 0,
            src_array: 0,
            src_pitch: 16,
            src_height: 0,
            dst_x: 0,
            dst_y: 0,
            dst_z: 0,
            dst_lod: 0,
            dst_type: $kinds[1],
            dst_host: 0,
            dst_device: $to,
            dst_array: 0,
            dst_pitch: 12,
            dst_height: 0,
            width: 12,
            height: 8,
            depth: 1,
        }
    };
}

/// Words 1 to 3 of every four of 32, close together.
fn packed(source: &Numbers) -> Vec<u32> {
    source.chunks(4).flat_map(|row| row[1..].to_vec()).collect()
}

#[test]
fn the_drivers_copies_have_the_fronts_layouts() {
    let source = from(60);
    let at = source.as_ptr() as P;
    for number in [5, 6, 7] {
        let hip = open(number);
        let (to, graph, mut context, mut node) = (hip.alloc(), hip.graph(), 0, 0);
        ok!(hip, hipCtxGetCurrent(&raw mut context => *mut P));
        let d = rows_up!(Memcpy3D, [1, 2], at, to);
        let five = rows_up!(Memcpy3DIn5, [0, 1], at, to);
        let params = if number == 5 { (&raw const five).cast() } else { (&raw const d).cast() };
        ok!(hip, hipDrvGraphAddMemcpyNode(&raw mut node => *mut P, graph => P, null() => *const P, 0 => usize,
            params => *const c_void, context => P));
        let exec = hip.instantiate(graph);
        hip.launch(exec);
        assert_eq!(hip.read(to)[..24], packed(&source), "front {number}");
        if number > 5 {
            let mut got = Memcpy3D { src_x: 99, ..d };
            ok!(hip, hipDrvGraphMemcpyNodeGetParams(node => P, &raw mut got => *mut Memcpy3D));
            assert_eq!((got.src_x, got.src_type, got.src_host, got.src_pitch), (4, 1, at, 16));
            assert_eq!((got.dst_type, got.dst_device, got.width, got.height, got.depth), (2, to, 12, 8, 1));
            let wrong = Memcpy3D { dst_type: 9, ..d };
            let set = code!(hip, hipDrvGraphMemcpyNodeSetParams(node => P, &wrong => *const Memcpy3D));
            assert_eq!(set, INVALID_VALUE);
            let code = code!(hip, hipDrvGraphExecMemcpyNodeSetParams(exec => P, node => P,
                &wrong => *const Memcpy3D, context => P));
            assert_eq!(code, INVALID_VALUE);
            let less = Memcpy3D { height: 1, dst_x: 4, dst_pitch: 16, ..d };
            ok!(hip, hipDrvGraphMemcpyNodeSetParams(node => P, &less => *const Memcpy3D));
            ok!(hip, hipDrvGraphExecMemcpyNodeSetParams(exec => P, node => P, &less => *const Memcpy3D,
                context => P));
            ok!(hip, hipMemset(to => P, 0 => i32, BYTES => usize));
            hip.launch(exec);
            assert_eq!(hip.read(to)[..5], [0, source[1], source[2], source[3], 0]);
        }
        ok!(hip, hipGraphExecDestroy(exec => P));
        ok!(hip, hipGraphDestroy(graph => P));
        ok!(hip, hipFree(to => P));
    }
}

#[test]
fn arrays_are_copied_by_nodes_in_elements() {
    let hip = open(6);
    let (source, out, mut array) = (from(7), Shared::of([0; THREADS]), 0);
    let format = ChannelFormat { x: 32, y: 0, z: 0, w: 0, kind: 1 };
    ok!(hip, hipMallocArray(&raw mut array => *mut P, &format => *const ChannelFormat, 4 => usize,
        8 => usize, 0 => u32));
    let nowhere = Extent { width: 0, height: 0, depth: 0 };
    let none = PitchedPointer { pointer: 0, pitch: 0, width: 0, height: 0 };
    let rows = |pointer: P, pitch: usize| PitchedPointer { pointer, pitch, width: pitch, height: 8 };
    let up = Memcpy3DParameters {
        src_array: 0,
        src_position: nowhere,
        src_pointer: rows(source.as_ptr() as P, 16),
        dst_array: array,
        dst_position: nowhere,
        dst_pointer: none,
        extent: Extent { width: 4, height: 8, depth: 1 },
        kind: 1,
    };
    let down = Memcpy3DParameters {
        src_array: array,
        src_position: Extent { width: 1, height: 2, depth: 0 },
        src_pointer: none,
        dst_array: 0,
        dst_position: nowhere,
        dst_pointer: rows(out.at(), 8),
        extent: Extent { width: 2, height: 4, depth: 1 },
        kind: 2,
    };
    let (graph, mut one, mut two) = (hip.graph(), 0, 0);
    ok!(hip, hipGraphAddMemcpyNode(&raw mut one => *mut P, graph => P, null() => *const P, 0 => usize,
        &up => *const Memcpy3DParameters));
    ok!(hip, hipGraphAddMemcpyNode(&raw mut two => *mut P, graph => P, &one => *const P, 1 => usize,
        &down => *const Memcpy3DParameters));
    let mut got = up;
    ok!(hip, hipGraphMemcpyNodeGetParams(two => P, &raw mut got => *mut Memcpy3DParameters));
    assert_eq!(format!("{got:?}"), format!("{down:?}"));
    let exec = hip.instantiate(graph);
    hip.launch(exec);
    let wanted: Vec<u32> = source.chunks(4).skip(2).take(4).flat_map(|row| row[1..3].to_vec()).collect();
    assert_eq!(out.get()[..8], wanted);
    ok!(hip, hipGraphExecDestroy(exec => P));
    ok!(hip, hipGraphDestroy(graph => P));
    ok!(hip, hipFreeArray(array => P));
}
