//! A process in which an empty context stack stays empty, with two devices: HIP as it is on NVIDIA.

use std::process::Command;
use std::ptr::null_mut;

use crate::support::*;

const INVALID_DEVICE: u32 = 101;
const INVALID_CONTEXT: u32 = 201;

const PTX: &str = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { ret; }\n";

#[test]
fn an_empty_stack_stays_empty() {
    const NAME: &str = "rules::an_empty_stack_stays_empty";
    if std::env::var_os("ANYWARP_HIP_CONTEXT").is_none() {
        // The rule is a process's.
        let mut child = Command::new(std::env::current_exe().expect("the test's own path"));
        child.args([NAME, "--exact"]).env("ANYWARP_HIP_CONTEXT", "nvidia").env("ANYWARP_DEVICES", "2");
        let output = child.output().expect("it starts");
        let told = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success() && told.contains("1 passed"),
            "{told}{}",
            String::from_utf8_lossy(&output.stderr)
        );
        return;
    }
    let (hip, cuda) = (hip(), cuda());
    let (mut p, mut device, text) = (9, 0, c(PTX));
    // What mirrors the CUDA driver wants a context; what mirrors its runtime makes one.
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
    let mut runtimes = 0;
    assert_eq!((hip.hipLaunchByPtr)(0), 52, "no call was configured, but there is a context now");
    assert_eq!((hip.hipCtxGetCurrent)(&mut runtimes), 0);
    assert_ne!(runtimes, 0);
}
