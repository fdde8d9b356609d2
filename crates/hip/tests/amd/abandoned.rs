//! Cooperative launches on several devices of which one grid fails: the others, which wait for it, end with
//! its error. The kernels are `abandoned.hip`.

use std::ptr::null;
use std::sync::atomic::{AtomicI32, Ordering};

use crate::support::*;
use crate::{ILLEGAL_ADDRESS, LAUNCH_FAILURE, Object, at, ready};

const DEVICES: usize = 3;
const TIMEOUT: u32 = 702;
/// Neither before nor after the launch do the streams wait for each other.
const NO_SYNC: u32 = 3;

/// A module, a stream and the kernel `meet` on each device.
fn on_each_device(hip: &Hip, cuda: &Cuda) -> Vec<(P, P, P)> {
    let options = ["--no-gpu-bundle-output", "-mcode-object-version=5"];
    let bytes = Object::of("abandoned.hip", "gfx906", &options).bytes();
    let on = |device: usize| {
        let (mut module, mut stream) = (0, 0);
        assert_eq!((hip.hipSetDevice)(device as i32), 0);
        assert_eq!((cuda.cuStreamCreate)(&mut stream, 0), 0);
        assert_eq!((hip.hipModuleLoadData)(&mut module, bytes.as_ptr().cast()), 0);
        (module, stream, function(hip, module, "meet"))
    };
    (0..DEVICES).map(on).collect()
}

/// The errors of all devices once they are idle.
fn errors(hip: &Hip) -> Vec<u32> {
    let of = |device: usize| {
        assert_eq!((hip.hipSetDevice)(device as i32), 0);
        (hip.hipDeviceSynchronize)()
    };
    (0..DEVICES).map(of).collect()
}

/// Runs `meet` on each device, the last of which does what `last` says, after `between` has been called.
fn meet(hip: &Hip, all: &[(P, P, P)], last: i32, flags: u32, between: impl FnOnce()) -> Vec<u32> {
    let outs: [AtomicI32; DEVICES] = Default::default();
    let pointers = outs.each_ref().map(at);
    let params: Vec<[P; 2]> = pointers.iter().map(|out| [at(&last), at(out)]).collect();
    let of = |(&(_, stream, function), params): (&(P, P, P), &[P; 2])| FunctionLaunch {
        function,
        grid: [1; 3],
        block: [1; 3],
        shared: 0,
        stream,
        params: params.as_ptr(),
    };
    let launches: Vec<FunctionLaunch> = all.iter().zip(&params).map(of).collect();
    let several = hip.hipModuleLaunchCooperativeKernelMultiDevice;
    assert_eq!(several(launches.as_ptr(), DEVICES as u32, flags), 0);
    between();
    let errors = errors(hip);
    let wanted = if errors == [0; DEVICES] { [1, 2, 3] } else { [0; DEVICES] };
    assert_eq!(outs.map(|out| out.into_inner()), wanted);
    errors
}

/// A case in processes of its own, one for each engine. Without an end by the other grid's fault, the
/// watchdog ends them, with another error.
fn case(name: &str, seconds: &str, run: impl Fn(&Hip, &[(P, P, P)])) {
    if !ready() {
        return;
    }
    for engine in ["compiled", "interpreter"] {
        let settings = [
            ("ANYWARP_HIP_ARCH", "gfx906,gfx906,gfx906"),
            ("ANYWARP_ENGINE", engine),
            ("ANYWARP_CACHE_DIR", ""),
            ("ANYWARP_WATCHDOG", seconds),
        ];
        if !in_process(name, &settings) {
            continue;
        }
        let (hip, cuda) = (hip(), cuda());
        run(&hip, &on_each_device(&hip, &cuda));
        return;
    }
}

#[test]
fn a_trap_ends_all_grids() {
    case("abandoned::a_trap_ends_all_grids", "100", |hip, all| {
        assert_eq!(meet(hip, all, 0, 0, || ()), [0; DEVICES]);
        assert_eq!(meet(hip, all, 1, 0, || ()), [LAUNCH_FAILURE; DEVICES]);
    });
}

#[test]
fn a_fault_ends_all_grids() {
    case("abandoned::a_fault_ends_all_grids", "100", |hip, all| {
        assert_eq!(meet(hip, all, 2, NO_SYNC, || ()), [ILLEGAL_ADDRESS; DEVICES]);
    });
}

#[test]
fn the_watchdog_ends_all_grids() {
    case("abandoned::the_watchdog_ends_all_grids", "1", |hip, all| {
        assert_eq!(meet(hip, all, 3, NO_SYNC, || ()), [TIMEOUT; DEVICES]);
    });
}

/// The grid of the last device is queued behind a kernel that fails, and never begins.
#[test]
fn a_grid_that_never_begins_ends_the_others() {
    case("abandoned::a_grid_that_never_begins_ends_the_others", "100", |hip, all| {
        let allowed = AtomicI32::new(0);
        let pointer = allowed.as_ptr() as P;
        let (module, stream, _) = all[DEVICES - 1];
        let (fail, params) = (function(hip, module, "fail"), [at(&pointer)]);
        let code = (hip.hipModuleLaunchKernel)(fail, 1, 1, 1, 1, 1, 1, 0, stream, params.as_ptr(), null());
        assert_eq!(code, 0);
        let errors = meet(hip, all, 0, NO_SYNC, || allowed.store(1, Ordering::Relaxed));
        assert_eq!(errors, [LAUNCH_FAILURE; DEVICES]);
    });
}
