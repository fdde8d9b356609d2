//! Programs that exit while kernels are being compiled.

use std::ffi::c_void;

use hwtruth::sample;

use crate::call;
use crate::support::Argument::U64;
use crate::support::{Cuda, HEAD, isolated};

/// Kernels that each take some time to compile and differ from all others.
fn kernels(count: u32) -> String {
    let kernel = |number: u32| {
        let step =
            |i: u32| format!("mad.lo.u32 %r1, %r1, {}, %r2; xor.b32 %r2, %r2, %r1;\n", 3 + i + 1000 * number);
        let work: String = (0..40).map(step).collect();
        format!(
            ".visible .entry work{number}(.param .u64 out) {{\n.reg .b32 %r<3>; .reg .b64 %d<2>;\nld.param.u64 %d1, [out]; \
             mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;\n{work}st.global.u32 [%d1], %r1; ret;\n}}\n"
        )
    };
    (0..count).map(kernel).collect()
}

/// Microseconds between a launch and the program's exit: before LLVM is opened, while it is, and while it
/// compiles.
const AFTER: [u64; 10] = [0, 200, 700, 1500, 3000, 5000, 8000, 12_000, 18_000, 25_000];

fn launch_all(cuda: &Cuda) {
    let module = cuda.module(&format!("{HEAD}{}", kernels(4)));
    let out = cuda.upload(&[0u32; 32]);
    let mut stream = 0;
    call!(cuda.cuStreamCreate(&mut stream, 1));
    for number in 0..4 {
        let function = cuda.function(module, &format!("work{number}"));
        for stream in [stream, 0] {
            assert_eq!(cuda.launch(function, 1, 32, stream, &[U64(out)]), 0);
        }
    }
}

fn wait(after: u64) {
    std::thread::sleep(std::time::Duration::from_micros(after));
}

fn after() -> u64 {
    let set = std::env::var("AFTER").expect("it is set for the child");
    set.parse().expect("a number")
}

extern "C" fn pause(_: *mut c_void) {
    wait(500);
}

/// Exits in every state of the compiler, twice each, or five times in a long run.
fn always_ends(test: &str, body: impl Fn(u64)) {
    for (round, time) in (0..sample::of(5, 2)).flat_map(|round| AFTER.map(|t| (round, t))) {
        // Each round ends at a different moment.
        let time = (time + 37 * round).to_string();
        isolated(test, &[("AFTER", &time), ("ANYWARP_WORKERS", "3")], || body(after()));
    }
}

#[test]
fn a_program_that_exits_while_its_kernels_are_compiled_ends_well() {
    always_ends("exit::a_program_that_exits_while_its_kernels_are_compiled_ends_well", |time| {
        let cuda = Cuda::start();
        launch_all(&cuda);
        wait(time);
    });
}

#[test]
fn a_program_whose_other_thread_launches_ends_well() {
    always_ends("exit::a_program_whose_other_thread_launches_ends_well", |time| {
        let cuda: &'static Cuda = Box::leak(Box::new(Cuda::start()));
        // This thread uses the driver too.
        cuda.module(HEAD);
        // It may fail because the driver has shut down, which does not matter.
        std::thread::spawn(|| {
            cuda.primary();
            call!(cuda.cuLaunchHostFunc(0, Some(pause), std::ptr::null_mut()));
            launch_all(cuda);
            call!(cuda.cuCtxSynchronize());
        });
        wait(time);
    });
}
