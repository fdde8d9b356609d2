//! Launches of a kernel on several devices: of functions, of stubs, cooperative or not.

use std::ptr::null;

use crate::support::*;
use crate::{
    INVALID_CONFIGURATION, INVALID_DEVICE, INVALID_DEVICE_FUNCTION, INVALID_HANDLE, INVALID_VALUE, NOWHERE,
    PTX,
};

#[test]
fn launches_on_several_devices_are_checked() {
    let (hip, cuda) = (hip(), cuda());
    let module = module(&hip, PTX);
    let nothing = function(&hip, module, "nothing");
    let mut stream = 0;
    assert_eq!((cuda.cuStreamCreate)(&mut stream, 0), 0);
    let right =
        FunctionLaunch { function: nothing, grid: [1; 3], block: [1; 3], shared: 0, stream, params: null() };
    let run = |list: &[FunctionLaunch], count: u32, flags| {
        (hip.hipModuleLaunchCooperativeKernelMultiDevice)(list.as_ptr(), count, flags)
    };
    assert_eq!(run(&[right], 1, 0), 0);
    assert_eq!(run(&[right], 1, 3), 0);
    assert_eq!((hip.hipModuleLaunchCooperativeKernelMultiDevice)(null(), 1, 0), INVALID_VALUE);
    assert_eq!(run(&[FunctionLaunch { stream: NOWHERE, ..right }], 1, 0), INVALID_VALUE);
    assert_eq!(run(&[right], 0, 0), INVALID_VALUE);
    assert_eq!(run(&[right, right], 2, 0), INVALID_VALUE);
    assert_eq!(run(&[right], 1, 4), INVALID_VALUE);
    assert_eq!(run(&[FunctionLaunch { block: [0, 1, 1], ..right }], 1, 0), INVALID_CONFIGURATION);
    assert_eq!(run(&[FunctionLaunch { stream: 0, ..right }], 1, 0), INVALID_HANDLE);
}

/// The device's ordinal is the kernel's argument `a`, which each device's own copy of `out` begins with.
#[test]
fn stubs_run_on_several_devices_and_are_checked() {
    const NAME: &str = "several::stubs_run_on_several_devices_and_are_checked";
    if !in_process(NAME, &[("ANYWARP_DEVICES", "2")]) {
        return;
    }
    let (hip, cuda) = (hip(), cuda());
    let code = bundle(&[("hip-ptx", c(PTX).as_bytes_with_nul())]);
    let wrapper = Wrapper { magic: 0x4849_5046, version: 1, binary: code.as_ptr().cast(), unused: 0 };
    let handle = (hip.__hipRegisterFatBinary)(&wrapper);
    let (stub, stranger, shadow) = (0u8, 0u8, [0u32; 1024]);
    let (stub, stranger, shadow) = (&raw const stub as P, &raw const stranger as P, shadow.as_ptr() as P);
    (hip.__hipRegisterFunction)(handle, stub, c("fill").as_ptr(), c("fill").as_ptr(), 0, 0, 0, 0, 0, 0);
    (hip.__hipRegisterVar)(handle, shadow, c("out").as_ptr(), c("out").as_ptr(), 0, 4096, 0, 0);
    let numbers = [1u32, 2];
    let b = 5u64;
    let params: Vec<[P; 2]> =
        numbers.iter().map(|a| [std::ptr::from_ref(a) as P, &raw const b as P]).collect();
    let mut streams = [0; 2];
    for (device, stream) in streams.iter_mut().enumerate() {
        assert_eq!((hip.hipSetDevice)(device as i32), 0);
        assert_eq!((cuda.cuStreamCreate)(stream, 0), 0);
    }
    let on = |device: usize| StubLaunch {
        stub,
        grid: d(2),
        block: d(32),
        params: params[device].as_ptr(),
        shared: 0,
        stream: streams[device],
    };
    let sums = |what: &str| {
        for (device, number) in numbers.iter().enumerate() {
            let (mut out, zero) = ([0u32; 64], [0u32; 64]);
            assert_eq!((hip.hipSetDevice)(device as i32), 0);
            assert_eq!((hip.hipDeviceSynchronize)(), 0);
            assert_eq!((hip.hipMemcpyFromSymbol)(out.as_mut_ptr().cast(), shadow, 256, 0, 2), 0);
            let wanted: Vec<u32> = (0..64).map(|i| number * 1000 + 5 + i).collect();
            assert_eq!(out.as_slice(), wanted, "{what} on device {device}");
            assert_eq!((hip.hipMemcpyToSymbol)(shadow, zero.as_ptr().cast(), 256, 0, 1), 0);
        }
    };
    for (what, launch) in [
        ("hipExtLaunchMultiKernelMultiDevice", hip.hipExtLaunchMultiKernelMultiDevice),
        ("hipLaunchCooperativeKernelMultiDevice", hip.hipLaunchCooperativeKernelMultiDevice),
    ] {
        let run = |list: &[StubLaunch], count: i32, flags: u32| launch(list.as_ptr(), count, flags);
        let one = on(0);
        let rows = [
            ("nothing", launch(null(), 1, 0), INVALID_VALUE),
            ("none", run(&[one], 0, 0), INVALID_VALUE),
            ("fewer than none", run(&[one], -1, 0), INVALID_VALUE),
            ("more than devices", run(&[on(0), on(1), on(0)], 3, 0), INVALID_VALUE),
            ("a wrong stream", run(&[StubLaunch { stream: NOWHERE, ..one }], 1, 0), INVALID_VALUE),
            ("no stub", run(&[StubLaunch { stub: 0, ..one }], 1, 0), INVALID_DEVICE_FUNCTION),
            ("a stranger", run(&[StubLaunch { stub: stranger, ..one }], 1, 0), INVALID_DEVICE_FUNCTION),
            ("unknown flags", run(&[one], 1, 4), INVALID_VALUE),
            ("no block", run(&[StubLaunch { block: d(0), ..one }], 1, 0), INVALID_CONFIGURATION),
            ("the null stream", run(&[StubLaunch { stream: 0, ..one }], 1, 0), INVALID_HANDLE),
            ("one device twice", run(&[on(1), on(1)], 2, 0), INVALID_DEVICE),
            ("too many items", run(&[StubLaunch { grid: d(u32::MAX), ..one }], 1, 0), INVALID_CONFIGURATION),
            ("no grid", run(&[StubLaunch { grid: d(0), ..one }], 1, 0), INVALID_VALUE),
            ("arguments left out", run(&[StubLaunch { params: NONE, ..one }], 1, 0), INVALID_VALUE),
        ];
        for (row, code, wanted) in rows {
            assert_eq!(code, wanted, "{what}: {row}");
        }
        for flags in 0..4 {
            assert_eq!(run(&[on(0), on(1)], 2, flags), 0, "{what}, flags {flags}");
            sums(what);
        }
        assert_eq!(run(&[on(1), on(0)], 2, 0), 0, "{what}, the other way round");
        sums(what);
    }
    (hip.__hipUnregisterFatBinary)(handle);
}
