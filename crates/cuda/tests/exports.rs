//! What the built library is called and exports, and what each function means to a stream capture.

mod library;

use std::collections::{BTreeMap, BTreeSet};

use capi::CaptureBehaviour::{self, Appends, Invalidates, Legal, Refuses, Unsafe};
use cuda::api::{capture_behaviour, captures};
use object::read::elf::ElfFile64;
use object::{Object, ObjectSymbol};

#[test]
fn exports_the_hardwares_names_and_no_others() {
    let bytes = std::fs::read(library::built()).expect("the library");
    let file: ElfFile64 = ElfFile64::parse(&*bytes).expect("an ELF");
    let names =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/data/exports.txt")).expect("the list");
    let wanted: BTreeSet<&str> = names.lines().filter(|l| !l.is_empty()).collect();
    let exported: BTreeSet<&str> = file
        .dynamic_symbols()
        .filter(|s| s.is_definition() && s.is_global())
        .filter_map(|s| s.name().ok())
        .collect();
    let difference: Vec<&&str> = wanted.symmetric_difference(&exported).collect();
    assert!(wanted.len() > 700, "{} names", wanted.len());
    assert!(difference.is_empty(), "in one list only: {difference:?}");
}

#[test]
fn is_called_libcuda_so_1() {
    let bytes = std::fs::read(library::built()).expect("the library");
    let file: ElfFile64 = ElfFile64::parse(&*bytes).expect("an ELF");
    let endian = object::Endianness::Little;
    let sections = file.elf_section_table();
    let (entries, strings) = sections.dynamic(endian, &*bytes).expect("readable").expect("a dynamic section");
    let strings = sections.strings(endian, &*bytes, strings).expect("its strings");
    let soname = entries.iter().find(|e| e.d_tag.get(endian) == u64::from(object::elf::DT_SONAME));
    let soname = soname.expect("a name").d_val.get(endian) as u32;
    assert_eq!(strings.get(soname), Ok(&b"libcuda.so.1"[..]));
}

fn rows() -> BTreeMap<&'static str, CaptureBehaviour> {
    let rows: BTreeMap<_, _> = captures().collect();
    assert_eq!(rows.len(), captures().count(), "no function has two rows");
    rows
}

/// Names without a function of ours, apart from the entries for debuggers (`docs/driver.md`).
const NOT_WRITTEN: &[&str] = &["cuMemGetAttribute", "cuMemGetAttribute_v2"];

#[test]
fn functions_that_are_not_written_have_a_reason() {
    let names =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/data/exports.txt")).expect("the list");
    let rows = rows();
    let others: Vec<&str> =
        names.lines().filter(|name| name.starts_with("cu") && !name.starts_with("cudbg")).collect();
    let missing: Vec<&str> = others.iter().copied().filter(|name| !rows.contains_key(name)).collect();
    assert_eq!(missing, NOT_WRITTEN);
}

/// Functions of a stream that do not put work into it as a node: they ask about it or change how it behaves.
const NO_WORK: &[&str] = &[
    "cuStreamBeginCapture",
    "cuStreamBeginCaptureToCig",
    "cuStreamBeginCaptureToGraph",
    "cuStreamBeginCapture_v2",
    "cuStreamCopyAttributes",
    "cuStreamEndCapture",
    "cuStreamEndCaptureToCig",
    "cuStreamGetAttribute",
    "cuStreamGetCaptureInfo",
    "cuStreamGetCaptureInfo_v2",
    "cuStreamGetCaptureInfo_v3",
    "cuStreamGetCtx",
    "cuStreamGetCtx_v2",
    "cuStreamGetDevResource",
    "cuStreamGetPriority",
    "cuStreamIsCapturing",
    "cuStreamSetAttribute",
    "cuStreamUpdateCaptureDependencies",
    "cuStreamUpdateCaptureDependencies_v2",
];

/// Those that a capturing stream refuses: as recorded (`tests/probe/h200-580-graph.txt`), by the programming
/// guide's "Prohibited and Unhandled Operations", or because no graph node does what they do.
const REFUSED: &[&str] = &[
    "cuGLMapBufferObjectAsync_v2",
    "cuGraphLaunch",
    "cuGraphUpload",
    "cuGraphicsMapResources",
    "cuGraphicsUnmapResources",
    "cuMemBatchDecompressAsync",
    "cuMemMapArrayAsync",
    "cuMemPrefetchAsync",
    "cuMemPrefetchAsync_v2",
    "cuMemcpy3DPeerAsync",
    "cuMemcpyPeerAsync",
    "cuStreamAddCallback",
    "cuStreamAttachMemAsync",
    "cuStreamGetDevice",
    "cuStreamGetFlags",
    "cuStreamGetId",
    "cuStreamQuery",
    "cuStreamSynchronize",
];

/// Those that a capturing stream refuses, and whose capture stays valid (`tests/probe/h200-580-rest.txt`).
const BATCHES: &[&str] = &[
    "cuMemDiscardAndPrefetchBatchAsync",
    "cuMemDiscardBatchAsync",
    "cuMemPrefetchBatchAsync",
    "cuMemcpy3DBatchAsync",
    "cuMemcpy3DBatchAsync_v2",
    "cuMemcpyBatchAsync",
    "cuMemcpyBatchAsync_v2",
];

#[test]
fn functions_answer_a_capture_as_recorded() {
    let rows = rows();
    for (name, capture) in &rows {
        // A twin for the per-thread stream: `_ptsz` of a function that names a stream, `_ptds` of one that
        // waits for the default stream.
        if let Some(first) = name.strip_suffix("_ptsz") {
            let expected = match first {
                _ if NO_WORK.contains(&first) => Legal,
                _ if REFUSED.contains(&first) => Invalidates,
                _ if BATCHES.contains(&first) => Refuses,
                "cuGraphInstantiateWithParams" => Unsafe,
                _ => Appends,
            };
            assert_eq!((*capture, rows.get(first)), (expected, Some(&expected)), "{name}");
        }
        if let Some(first) = name.strip_suffix("_ptds") {
            assert_eq!((*capture, rows.get(first)), (Invalidates, Some(&Invalidates)), "{name}");
        }
    }
    for (expected, names) in [
        // They use the legacy stream or ask about work without naming a stream.
        (
            Invalidates,
            &["cuCtxSynchronize", "cuEventQuery", "cuEventSynchronize", "cuCtxRecordEvent", "cuCtxWaitEvent"]
                [..],
        ),
        // "In the case of cudaMalloc, the operation is not enqueued asynchronously to a stream."
        (
            Unsafe,
            &[
                "cuMemAlloc_v2",
                "cuMemFree_v2",
                "cuMemHostAlloc",
                "cuMemFreeHost",
                "cuArrayCreate_v2",
                "cuGraphInstantiateWithFlags",
                "cuMemPoolTrimTo",
            ],
        ),
        (
            Legal,
            &[
                "cuInit",
                "cuThreadExchangeStreamCaptureMode",
                "cuStreamCreate",
                "cuEventCreate",
                "cuModuleLoadData",
                "cuStreamDestroy_v2",
            ],
        ),
        (Appends, &["cuLaunch", "cuLaunchGridAsync"]),
    ] {
        for name in names {
            assert_eq!(capture_behaviour(name), Some(expected), "{name}");
        }
    }
    assert_eq!(capture_behaviour("cuNothing"), None);
}

#[test]
fn every_exported_function_is_in_the_table_or_not_written() {
    let rows = rows();
    let unwritten = include_str!(concat!(env!("OUT_DIR"), "/stubs.rs"));
    let exports = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/data/exports.txt"));
    for name in exports.lines().filter(|name| name.starts_with("cu") && !name.starts_with("cudbg")) {
        let stub = unwritten.contains(&format!("fn {name}("));
        assert!(rows.contains_key(name) != stub, "{name}");
    }
    assert!(rows.keys().all(|name| exports.lines().any(|exported| exported == *name)));
}
