//! Behaviour that depends on the environment, each case in a separate process.

use std::ptr::null_mut;

use crate::support::*;

const INVALID_VALUE: u32 = 1;
const INVALID_DEVICE: u32 = 101;
const INVALID_CONTEXT: u32 = 201;
const NO_DEVICE: u32 = 100;
const NOT_SUPPORTED: u32 = 801;

const PTX: &str = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { ret; }\n";

/// HIP as on NVIDIA devices, with two devices.
#[test]
fn an_empty_stack_stays_empty() {
    const NAME: &str = "rules::an_empty_stack_stays_empty";
    if !in_process(NAME, &[("ANYWARP_HIP_CONTEXT", "nvidia"), ("ANYWARP_DEVICES", "2")]) {
        return;
    }
    let (hip, cuda) = (hip(), cuda());
    let (mut p, mut device, text) = (9, 0, c(PTX));
    // Functions that mirror the CUDA driver need a context; those that mirror its runtime create one.
    assert_eq!((hip.hipCtxGetCurrent)(&mut p), 0);
    assert_eq!(p, 0);
    assert_eq!((hip.hipModuleLoadData)(&mut p, text.as_ptr().cast()), INVALID_CONTEXT);
    assert_eq!((hip.hipCtxGetDevice)(&mut device), INVALID_CONTEXT);
    assert_eq!((hip.hipCtxSynchronize)(), INVALID_CONTEXT);
    let mut streams = [0; 2];
    let mut functions = [0; 2];
    for (i, (stream, function_of)) in streams.iter_mut().zip(&mut functions).enumerate() {
        let mut context = 0;
        assert_eq!((hip.hipCtxCreate)(&mut context, 0, i as i32), 0);
        assert_eq!((hip.hipCtxGetCurrent)(&mut p), 0);
        assert_eq!(p, context);
        *function_of = function(&hip, module(&hip, PTX), "k");
        assert_eq!((cuda.cuStreamCreate)(stream, 0), 0);
    }
    let launch = |i: usize| FunctionLaunch {
        function: functions[i],
        grid: [2, 1, 1],
        block: [32, 1, 1],
        shared: 0,
        stream: streams[i],
        params: null_mut(),
    };
    let run =
        |list: &[FunctionLaunch; 2]| (hip.hipModuleLaunchCooperativeKernelMultiDevice)(list.as_ptr(), 2, 0);
    assert_eq!(run(&[launch(0), launch(1)]), 0);
    assert_eq!(run(&[launch(1), launch(1)]), INVALID_DEVICE, "one device twice");
    for _ in 0..2 {
        assert_eq!((hip.hipCtxPopCurrent)(&mut p), 0);
    }
    assert_eq!((hip.hipCtxPopCurrent)(&mut p), INVALID_CONTEXT);
    assert_eq!((hip.hipModuleLoadData)(&mut p, text.as_ptr().cast()), INVALID_CONTEXT);
    // Streams and functions know their device.
    let one = |stream| {
        (hip.hipModuleLaunchKernel)(functions[0], 1, 1, 1, 32, 1, 1, 0, stream, null_mut(), null_mut())
    };
    assert_eq!((one(streams[0]), one(0)), (0, INVALID_CONTEXT));
    assert_eq!(run(&[launch(0), launch(1)]), 0);
    assert_eq!((hip.hipCtxGetCurrent)(&mut p), 0);
    assert_eq!(p, 0);
    let mut runtimes = 0;
    assert_eq!((hip.hipLaunchByPtr)(0), 52, "no call was configured, but there is a context now");
    assert_eq!((hip.hipCtxGetCurrent)(&mut runtimes), 0);
    assert_ne!(runtimes, 0);
}

/// The functions that clr 6.3 does not implement, and related ones that it does.
#[test]
fn strict_is_as_strict_as_clr() {
    const NAME: &str = "rules::strict_is_as_strict_as_clr";
    if !in_process(NAME, &[("ANYWARP_HIP_STRICT", "1")]) {
        return;
    }
    let hip = hip();
    let (mut context, mut n) = (0, 0u32);
    assert_eq!((hip.hipCtxGetCurrent)(&mut context), 0);
    check(&[
        ("version", (hip.hipCtxGetApiVersion)(context, &mut n), NOT_SUPPORTED),
        ("version to null", (hip.hipCtxGetApiVersion)(context, null_mut()), NOT_SUPPORTED),
        ("cache", (hip.hipCtxGetCacheConfig)(&mut n), NOT_SUPPORTED),
        ("cache to null", (hip.hipCtxGetCacheConfig)(null_mut()), NOT_SUPPORTED),
        ("cache to set", (hip.hipCtxSetCacheConfig)(1), NOT_SUPPORTED),
        ("cache to set wrongly", (hip.hipCtxSetCacheConfig)(99), NOT_SUPPORTED),
        ("banks to set", (hip.hipCtxSetSharedMemConfig)(1), NOT_SUPPORTED),
        ("waiting", (hip.hipCtxSynchronize)(), NOT_SUPPORTED),
        ("flags", (hip.hipCtxGetFlags)(&mut n), NOT_SUPPORTED),
        ("that is the last error", (hip.hipGetLastError)(), NOT_SUPPORTED),
        ("banks", (hip.hipCtxGetSharedMemConfig)(&mut n), 0),
        ("waiting for the device", (hip.hipDeviceSynchronize)(), 0),
    ]);
    assert_eq!(n, 1);
}

/// The same calls without that mode.
#[test]
fn what_clr_leaves_unwritten_works() {
    let hip = hip();
    let (mut context, mut version, mut cache, mut flags) = (0, 0, 9, 9);
    assert_eq!((hip.hipCtxGetCurrent)(&mut context), 0);
    check(&[
        ("version", (hip.hipCtxGetApiVersion)(context, &mut version), 0),
        ("version to null", (hip.hipCtxGetApiVersion)(context, null_mut()), INVALID_VALUE),
        ("cache to set", (hip.hipCtxSetCacheConfig)(1), 0),
        ("cache", (hip.hipCtxGetCacheConfig)(&mut cache), 0),
        ("cache to set back", (hip.hipCtxSetCacheConfig)(0), 0),
        ("cache to set wrongly", (hip.hipCtxSetCacheConfig)(99), INVALID_VALUE),
        ("cache to null", (hip.hipCtxGetCacheConfig)(null_mut()), INVALID_VALUE),
        ("banks to set", (hip.hipCtxSetSharedMemConfig)(1), 0),
        ("banks to set wrongly", (hip.hipCtxSetSharedMemConfig)(3), INVALID_VALUE),
        ("waiting", (hip.hipCtxSynchronize)(), 0),
        ("flags", (hip.hipCtxGetFlags)(&mut flags), 0),
        ("flags to null", (hip.hipCtxGetFlags)(null_mut()), INVALID_VALUE),
    ]);
    assert_eq!((version, cache), (4, 1));
}

/// The devices that a process sees, by the last digits of their PCI addresses; the detailed rules are tested
/// in `driver::visible`.
#[test]
fn the_devices_seen_are_those_of_hips_variables() {
    const NAME: &str = "rules::the_devices_seen_are_those_of_hips_variables";
    const WANTED: &str = "DEVICES_WANTED";
    const HIP: &str = "HIP_VISIBLE_DEVICES";
    const ROCR: &str = "ROCR_VISIBLE_DEVICES";
    const CUDA: &str = "CUDA_VISIBLE_DEVICES";
    for (set, wanted) in [
        (vec![], "0 1 2 3"),
        (vec![(HIP, "2,0")], "2 0"),
        (vec![(HIP, ""), (CUDA, "1")], "1"),
        (vec![(HIP, "3"), (CUDA, "1")], "3"),
        (vec![(ROCR, "1,2,3"), (HIP, "0,2")], "1 3"),
        (vec![(HIP, "-1")], ""),
        (vec![(ROCR, "")], ""),
        (vec![(CUDA, "")], ""),
        (vec![(CUDA, "0,0")], "twice"),
    ] {
        let environment = [set, vec![("ANYWARP_DEVICES", "4"), (WANTED, wanted)]].concat();
        if !in_process(NAME, &environment) {
            continue;
        }
        let hip = hip();
        let wanted = std::env::var(WANTED).expect("what is wanted");
        let mut count = -1;
        let code = (hip.hipGetDeviceCount)(&mut count);
        match wanted.as_str() {
            "" => assert_eq!(code, NO_DEVICE),
            "twice" => assert_eq!(code, INVALID_DEVICE),
            _ => assert_eq!(code, 0),
        }
        if code != 0 {
            return;
        }
        let mut id = [0u8; 32];
        let numbers: Vec<u8> = (0..count)
            .map(|device| {
                assert_eq!((hip.hipDeviceGetPCIBusId)(id.as_mut_ptr(), 32, device), 0);
                // DDDD:BB:dd.f; the buses are numbered consecutively.
                id[6]
            })
            .collect();
        let first = wanted.split(' ').map(|n| n.as_bytes()[0]).zip(&numbers);
        let offsets: Vec<u8> = first.map(|(wanted, got)| got.wrapping_sub(wanted)).collect();
        assert_eq!(numbers.len(), wanted.split(' ').count());
        assert!(offsets.iter().all(|o| Some(o) == offsets.first()), "{wanted}: {numbers:?}");
        return;
    }
}
