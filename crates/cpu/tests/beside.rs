//! Kernels of a module are compiled in the background after the first launch.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use cpu::{Engine, Program, Ready, Source, Specialisation, Target};
use wave::FuncId;

/// A kernel with this many additions.
fn kernel(name: &str, additions: usize, directive: &str) -> String {
    let adds = "add.u32 %r1, %r1, %r1;\n".repeat(additions);
    format!(
        ".visible .entry {name}(.param .u64 p) {directive} {{\n.reg .b32 %r<2>;\n.reg .b64 %rd<2>;\nld.param.u64 %rd1, [p];\n\
         mov.u32 %r1, %tid.x;\n{adds}st.global.u32 [%rd1], %r1;\nret;\n}}\n"
    )
}

/// The tests must not compile at the same time: they would take each other's processors.
static ALONE: Mutex<()> = Mutex::new(());

fn load(kernels: &[String]) -> (Arc<Program>, Vec<FuncId>) {
    let text = format!(".version 7.0\n.target sm_70\n.address_size 64\n{}", kernels.concat());
    let program = Program::load(&[Source { name: "test", text: &text }], Engine::Compiled);
    let program = Arc::new(program.expect("legal text").for_target(Target::native()));
    let ids = program.module().kernels().map(|k| k.0).collect();
    (program, ids)
}

#[test]
fn small_kernels_that_fit_the_launch_are_compiled() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (program, ids) = load(&[
        kernel("before", 2, ""),
        kernel("launched", 2, ""),
        kernel("after", 2, ""),
        kernel("other_shape", 2, ".reqntid 128, 1, 1"),
        kernel("large", 600, ""),
    ]);
    let (grid, block) = ([1; 3], [32, 1, 1]);
    let made = program.kernel_and_others(ids[1], Specialisation::of_launch(grid, block), 32);
    let made = made.map(Ready::kept).expect("a kernel");
    assert!(made.report.is_some(), "{:?}", made.refused);
    // One kernel for each remaining processor, in module order.
    let room = std::thread::available_parallelism().map_or(0, |n| n.get() - 1);
    let expected: Vec<FuncId> = [ids[2], ids[0]].into_iter().take(room).collect();
    let start = Instant::now();
    while !expected.iter().all(|id| program.has(*id, grid, block)) {
        assert!(start.elapsed() < Duration::from_secs(60), "the other kernels do not come");
        std::thread::sleep(Duration::from_millis(1));
    }
    for id in [ids[3], ids[4]] {
        assert!(!program.has(id, grid, block));
    }
}

#[test]
fn a_kernel_that_has_code_brings_no_others() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (program, ids) = load(&[kernel("one", 2, ""), kernel("two", 2, "")]);
    let (grid, block) = ([1; 3], [64, 1, 1]);
    program.kernel(ids[0], grid, block).expect("a kernel");
    program.kernel_and_others(ids[0], Specialisation::of_launch(grid, block), 32).expect("a kernel");
    assert!(!program.has(ids[1], grid, block));
}
