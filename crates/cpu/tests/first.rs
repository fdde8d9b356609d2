//! In a new process, brief launches run baseline code until optimised code replaces it. This test needs a
//! process of its own, since later compilations wait for optimised code.

use std::sync::Arc;
use std::time::{Duration, Instant};

use cpu::{Engine, Program, Source, Specialisation, Target};

const TEXT: &str = ".version 7.0
.target sm_70
.address_size 64
.visible .entry straight(.param .u64 p) {
    .reg .b32 %r<2>;
    .reg .b64 %d<2>;
    ld.param.u64 %d1, [p];
    mov.u32 %r1, %tid.x;
    st.global.u32 [%d1], %r1;
    ret;
}
.visible .entry round(.param .u32 n) {
    .reg .pred %p;
    .reg .b32 %r<2>;
    ld.param.u32 %r1, [n];
AGAIN:
    sub.u32 %r1, %r1, 1;
    setp.ne.u32 %p, %r1, 0;
    @%p bra AGAIN;
    ret;
}
.visible .entry later() { ret; }
";

fn soon(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn better_code_takes_the_place_of_the_first() {
    let program = Program::load(&[Source { name: "test", text: TEXT }], Engine::Compiled);
    let program = Arc::new(program.expect("legal text").for_target(Target::native()));
    let [straight, round, later] =
        ["straight", "round", "later"].map(|n| program.module().function(n).expect("a kernel"));
    let spec = Specialisation::of_launch([1; 3], [32, 1, 1]);
    let code = |kernel, threads| program.kernel_soon(kernel, spec, threads).expect("code");

    let first = code(straight, 32);
    // A launch that is not brief waits for the optimised code.
    let best = code(straight, 1 << 20);
    assert!(!Arc::ptr_eq(&first, &best));
    assert!(Arc::ptr_eq(&best, &code(straight, 32)) && Arc::ptr_eq(&best, &code(straight, 1 << 20)));
    assert_eq!(first.code.needs().suspends, best.code.needs().suspends);
    assert_eq!(first.report, best.report);

    // LLVM is warm now: everything is compiled at once.
    let whole = code(later, 1);
    assert!(Arc::ptr_eq(&whole, &code(later, 1 << 20)));
    let whole = code(round, 1);
    assert!(Arc::ptr_eq(&whole, &code(round, 1 << 20)));
    soon("a thread still holds the program", || Arc::strong_count(&program) == 1);
}
