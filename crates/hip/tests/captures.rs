//! What functions mean to a stream capture: the second column of the tables, as HIP's reference has it.

use std::collections::BTreeMap;

use hip::api::{capture_behaviour, captures};

use capi::CaptureBehaviour::{self, Appends, Invalidates, Legal, Unsafe};

/// Functions that are written and are in no table: they have no status, or ask nothing of the driver.
const ELSEWHERE: &[&str] = &["hipGetStreamDeviceId", "hipKernelNameRefByPtr"];

/// The answers of functions that take a stream, have a second form for a thread's own, or name what streams
/// do.
const STREAM_FUNCTIONS: &[(CaptureBehaviour, &[&str])] = &[
    (
        Legal,
        &[
            "hipStreamCreate",
            "hipStreamDestroy",
            "hipStreamGetFlags",
            "hipStreamGetPriority",
            "hipStreamGetDevice",
            "hipStreamIsCapturing",
            "hipStreamGetCaptureInfo",
            "hipStreamGetCaptureInfo_v2",
            "hipStreamBeginCapture",
            "hipStreamBeginCaptureToGraph",
            "hipStreamEndCapture",
            "hipStreamUpdateCaptureDependencies",
            "hipGraphAddKernelNode",
            "hipGraphInstantiate",
            "hipGraphExecUpdate",
            "hipGraphUpload",
            "hipUserObjectRelease",
            "hipThreadExchangeStreamCaptureMode",
            "hipEventCreate",
            "hipEventDestroy",
            "hipStreamGetId",
            "hipStreamGetAttribute",
            "hipStreamCopyAttributes",
            "hipLibraryGetKernel",
            "hipKernelGetFunction",
            "hipLinkComplete",
        ],
    ),
    (
        Appends,
        &[
            "hipMemcpyAsync",
            "hipMemcpy2DToArrayAsync",
            "hipMemsetAsync",
            "hipMemset3DAsync",
            "hipMemcpyToSymbolAsync",
            "hipModuleLaunchKernel",
            "hipLaunchKernel",
            "hipLaunchByPtr",
            "hipEventRecord",
            "hipStreamWaitEvent",
            "hipLaunchHostFunc",
            "hipGraphLaunch",
            "hipStreamAddCallback",
            "hipMallocAsync",
            "hipFreeAsync",
            "hipStreamWaitValue32",
            "hipStreamWriteValue64",
            "hipStreamBatchMemOp",
            "hipEventRecordWithFlags",
            "hipLaunchKernelExC",
            "hipDrvLaunchKernelEx",
            "hipMemcpyBatchAsync",
            "hipMemcpy3DBatchAsync",
            "hipMemcpy3DPeerAsync",
            "hipMemsetD2D16Async",
        ],
    ),
    (
        Invalidates,
        &[
            "hipStreamSynchronize",
            "hipStreamQuery",
            "hipDeviceSynchronize",
            "hipEventQuery",
            "hipEventSynchronize",
            "hipMemcpy",
            "hipMemcpy3D",
            "hipMemset",
            "hipMemcpyToSymbol",
            "hipMemcpyWithStream",
            "hipMemcpy3DPeer",
            "hipMemsetD2D32",
            "hipMemPrefetchAsync_v2",
            "hipMemPrefetchBatchAsync",
            "hipStreamSetAttribute",
        ],
    ),
    (
        Unsafe,
        &[
            "hipMalloc",
            "hipFree",
            "hipHostMalloc",
            "hipMallocArray",
            "hipModuleLoad",
            "hipHostRegister",
            "hipLibraryLoadData",
            "hipLibraryUnload",
            "hipMemSetMemPool",
            "hipDeviceGraphMemTrim",
        ],
    ),
];

fn rows() -> BTreeMap<&'static str, CaptureBehaviour> {
    let rows: BTreeMap<_, _> = captures().collect();
    assert_eq!(rows.len(), captures().count(), "no function has two rows");
    rows
}

#[test]
fn functions_answer_a_capture_as_the_reference_says() {
    for (capture, names) in STREAM_FUNCTIONS {
        for name in *names {
            assert_eq!(capture_behaviour(name), Some(*capture), "{name}");
        }
    }
    assert_eq!(capture_behaviour("hipNothing"), None);
}

#[test]
fn second_forms_answer_as_the_first() {
    let rows = rows();
    for (name, capture) in &rows {
        for end in ["_spt", "_in_5", "_in_7"] {
            if let Some(first) = name.strip_suffix(end) {
                assert_eq!(rows.get(first), Some(capture), "{name}");
            }
        }
    }
}

#[test]
fn every_exported_function_of_a_stream_is_in_the_table_or_not_written() {
    let rows = rows();
    let unwritten = include_str!(concat!(env!("OUT_DIR"), "/stubs.rs"));
    let exports = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/data/exports.tsv"));
    let mut seen = 0;
    for name in exports.lines().filter_map(|line| line.split('\t').next()) {
        let of_a_stream = ["Stream", "Async", "_spt", "Event", "Memcpy", "Memset", "Launch"];
        if !name.starts_with("hip") || !of_a_stream.iter().any(|word| name.contains(word)) {
            continue;
        }
        let stub = unwritten.contains(&format!("fn {name}("));
        if !ELSEWHERE.contains(&name) {
            assert!(rows.contains_key(name) != stub, "{name}");
            seen += 1;
        }
    }
    assert!(seen > 100, "{seen}");
}

#[test]
fn the_document_lists_what_is_not_written() {
    let stubs = include_str!(concat!(env!("OUT_DIR"), "/stubs.rs"));
    let unwritten: Vec<&str> =
        stubs.split(" fn ").skip(1).filter_map(|rest| rest.split('(').next()).collect();
    assert!(!unwritten.is_empty());
    let document = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/hip.md"));
    let (_, section) = document.split_once("## Not written").expect("the section");
    let listed: Vec<&str> = section
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|t| t.trim_start_matches('_').starts_with("hip"))
        .collect();
    let listed: Vec<&str> = listed.into_iter().filter(|t| !t.starts_with("hip_")).collect();
    let covers = |entry: &str, name: &str| match entry.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == entry,
    };
    for name in &unwritten {
        assert!(listed.iter().any(|entry| covers(entry, name)), "{name} is not listed");
    }
    for entry in &listed {
        assert!(unwritten.iter().any(|name| covers(entry, name)), "{entry} is listed, but written");
    }
}
