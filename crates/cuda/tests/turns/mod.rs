//! Lanes, warps and blocks that wait for each other get their turns.

use crate::call;
use crate::support::Argument::{U32, U64};
use crate::support::{Cuda, HEAD, everywhere};

const KERNELS: &str = "
// Block n waits until n + 1 later blocks are done; the last one starts the chain.
.visible .entry backwards(.param .u64 p) {
    .reg .pred %q; .reg .b32 %r<5>; .reg .b64 %d;
    ld.param.u64 %d, [p]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %nctaid.x; sub.u32 %r2, %r2, %r1; sub.u32 %r2, %r2, 1;
L:  ld.volatile.global.u32 %r3, [%d]; setp.lt.u32 %q, %r3, %r2; @%q bra L;
    mov.u32 %r4, %tid.x; setp.ne.u32 %q, %r4, 0; @%q bra E; atom.global.add.u32 %r3, [%d], 1; E: ret;
}
// The same with plain loads, which a fence makes read again, and with loads that fetch again.
.visible .entry fenced(.param .u64 p) {
    .reg .pred %q; .reg .b32 %r<5>; .reg .b64 %d;
    ld.param.u64 %d, [p]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %nctaid.x; sub.u32 %r2, %r2, %r1; sub.u32 %r2, %r2, 1;
L:  membar.gl; ld.global.cg.u32 %r3, [%d]; setp.lt.u32 %q, %r3, %r2; @%q bra L;
    mov.u32 %r4, %tid.x; setp.ne.u32 %q, %r4, 0; @%q bra E; atom.global.add.u32 %r3, [%d], 1; E: ret;
}
.visible .entry fetching(.param .u64 p) {
    .reg .pred %q; .reg .b32 %r<5>; .reg .b64 %d;
    ld.param.u64 %d, [p]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %nctaid.x; sub.u32 %r2, %r2, %r1; sub.u32 %r2, %r2, 1;
L:  ld.global.cv.u32 %r3, [%d]; setp.lt.u32 %q, %r3, %r2; @%q bra L;
    mov.u32 %r4, %tid.x; setp.ne.u32 %q, %r4, 0; @%q bra E; atom.global.add.u32 %r3, [%d], 1; E: ret;
}
// The same for the lanes of warps.
.visible .entry lanes(.param .u64 p, .param .u32 n) {
    .reg .pred %q; .reg .b32 %r<5>; .reg .b64 %d;
    ld.param.u64 %d, [p]; mov.u32 %r1, %tid.x; ld.param.u32 %r2, [n]; sub.u32 %r2, %r2, %r1; sub.u32 %r2, %r2, 1;
L:  ld.acquire.gpu.global.u32 %r3, [%d]; setp.lt.u32 %q, %r3, %r2; @%q bra L;
    atom.global.add.u32 %r3, [%d], 1; ret;
}
// All lanes take the same lock in turn.
.visible .entry lock(.param .u64 p) {
    .reg .pred %q; .reg .b32 %r<3>; .reg .b64 %d;
    ld.param.u64 %d, [p];
L:  atom.global.cas.b32 %r1, [%d], 0, 1; setp.ne.u32 %q, %r1, 0; @%q bra L;
    ld.volatile.global.u32 %r2, [%d+4]; add.u32 %r2, %r2, 1; st.volatile.global.u32 [%d+4], %r2;
    membar.gl; atom.global.exch.b32 %r1, [%d], 0; ret;
}
";

#[test]
fn those_that_wait_let_others_run() {
    // Without fair turns, the watchdog fails this: turns by number of instructions would take minutes.
    everywhere("turns::those_that_wait_let_others_run", &[("ANYWARP_WATCHDOG", "20")], || {
        let cuda = Cuda::start();
        let head = HEAD.replace("sm_52", "sm_70");
        let module = cuda.module(&format!("{head}{KERNELS}"));
        // With turns that grow faster than the number of blocks, 128 blocks would take minutes.
        for (kernel, blocks) in [("backwards", 8), ("fenced", 8), ("fetching", 8), ("backwards", 128)] {
            let counter = cuda.upload(&[0u32; 2]);
            assert_eq!(cuda.launch(cuda.function(module, kernel), blocks, 64, 0, &[U64(counter)]), 0);
            call!(cuda.cuCtxSynchronize());
            assert_eq!(cuda.download::<u32>(counter, 1), [blocks], "{kernel} {blocks}");
        }
        let counter = cuda.upload(&[0u32; 2]);
        assert_eq!(cuda.launch(cuda.function(module, "lanes"), 1, 64, 0, &[U64(counter), U32(64)]), 0);
        call!(cuda.cuCtxSynchronize());
        assert_eq!(cuda.download::<u32>(counter, 1), [64]);
        let words = cuda.upload(&[0u32; 2]);
        assert_eq!(cuda.launch(cuda.function(module, "lock"), 4, 64, 0, &[U64(words)]), 0);
        call!(cuda.cuCtxSynchronize());
        assert_eq!(cuda.download::<u32>(words, 2), [0, 256]);
    });
}

/// Compiling takes more stack than a thread of the program may have.
#[test]
fn threads_with_little_stack_launch() {
    everywhere("turns::threads_with_little_stack_launch", &[("ANYWARP_CACHE_DIR", "")], || {
        let cuda = Cuda::start();
        let head = HEAD.replace("sm_52", "sm_70");
        let mut context = 0;
        call!(cuda.cuCtxGetCurrent(&mut context));
        let kernel = cuda.function(cuda.module(&format!("{head}{KERNELS}")), "lanes");
        let counter = cuda.upload(&[0u32]);
        let launch = || {
            call!(cuda.cuCtxSetCurrent(context));
            assert_eq!(cuda.launch(kernel, 1, 64, 0, &[U64(counter), U32(64)]), 0);
            call!(cuda.cuCtxSynchronize());
        };
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().stack_size(64 << 10).spawn_scoped(scope, launch);
            thread.expect("a thread").join().expect("no panic");
        });
        assert_eq!(cuda.download::<u32>(counter, 1), [64]);
    });
}
