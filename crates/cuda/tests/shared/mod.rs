//! Shared memory by device capability: attributes, limits of functions, launches and modules.

use std::ptr::null_mut;

use crate::call;
use crate::support::{Cuda, HEAD, everywhere, isolated, status};

/// The threads write the words of the block's shared memory, and read them from the other end.
const TURN: &str = "
.extern .shared .align 16 .b8 all[];
.visible .entry turn(.param .u64 to, .param .u32 words) {
    .reg .pred %p; .reg .b32 %r<10>; .reg .b64 %d<4>;
    ld.param.u64 %d1, [to]; ld.param.u32 %r1, [words];
    mov.u32 %r2, %tid.x; mov.u32 %r3, all; mov.u32 %r8, %ntid.x;
WRITE:
    setp.ge.u32 %p, %r2, %r1; @%p bra WRITTEN;
    shl.b32 %r4, %r2, 2; add.u32 %r4, %r4, %r3; mul.lo.u32 %r5, %r2, 2654435761; st.shared.u32 [%r4], %r5;
    add.u32 %r2, %r2, %r8; bra WRITE;
WRITTEN:
    bar.sync 0;
    mov.u32 %r2, %tid.x;
READ:
    setp.ge.u32 %p, %r2, %r1; @%p bra DONE;
    sub.u32 %r6, %r1, %r2; sub.u32 %r6, %r6, 1; shl.b32 %r6, %r6, 2; add.u32 %r6, %r6, %r3; ld.shared.u32 %r7, [%r6];
    mul.wide.u32 %d2, %r2, 4; add.u64 %d2, %d1, %d2; st.global.u32 [%d2], %r7;
    add.u32 %r2, %r2, %r8; bra READ;
DONE: ret;
}
";

const PER_MULTIPROCESSOR: i32 = 81;
const PER_BLOCK: i32 = 97;
const RESERVED: i32 = 111;
/// The function attribute with the maximum dynamic shared memory of its blocks.
const DYNAMIC: i32 = 8;

/// Capability; bytes of shared memory of a block that opts in, of a multiprocessor, and reserved by the
/// system per block, from the programming guide's table. `crates/cuda/tests/answers.rs` compares the row of
/// 9.0 with a device.
const LIMITS: &[(&str, i32, i32, i32)] = &[
    ("6.1", 49_152, 98_304, 0),
    ("7.0", 98_304, 98_304, 0),
    ("7.5", 65_536, 65_536, 0),
    ("8.0", 166_912, 167_936, 1024),
    ("8.6", 101_376, 102_400, 1024),
    ("8.9", 101_376, 102_400, 1024),
    ("9.0", 232_448, 233_472, 1024),
    ("10.0", 232_448, 233_472, 1024),
    ("12.0", 101_376, 102_400, 1024),
];

#[test]
fn limits_follow_the_capability() {
    for (capability, ..) in LIMITS {
        let variables = [("ANYWARP_COMPUTE_CAPABILITY", *capability)];
        isolated("shared::limits_follow_the_capability", &variables, || {
            // Every child begins with the first row and selects its own.
            let own = std::env::var("ANYWARP_COMPUTE_CAPABILITY").unwrap_or_default();
            let &(_, block, multiprocessor, reserved) =
                LIMITS.iter().find(|row| row.0 == own).expect("a row");
            check(block, multiprocessor, reserved);
        });
    }
}

/// The manual of `cuCtxSetLimit`: the depth is 2 at first and at most 24, and only devices before 9.0 have
/// it.
#[test]
fn the_depth_of_synchronisation_is_a_limit_before_9_0() {
    const SYNC_DEPTH: u32 = 3;
    for (capability, has_it) in [("8.6", true), ("9.0", false)] {
        let variables =
            [("ANYWARP_COMPUTE_CAPABILITY", capability), ("HAS_IT", if has_it { "1" } else { "0" })];
        isolated("shared::the_depth_of_synchronisation_is_a_limit_before_9_0", &variables, || {
            let cuda = Cuda::start();
            let mut depth = 0;
            if std::env::var("HAS_IT").as_deref() == Ok("0") {
                call!(cuda.cuCtxGetLimit(&mut depth, SYNC_DEPTH) => 215);
                call!(cuda.cuCtxSetLimit(SYNC_DEPTH, 1) => 215);
                return;
            }
            call!(cuda.cuCtxGetLimit(&mut depth, SYNC_DEPTH));
            assert_eq!(depth, 2);
            for (asked, set) in [(0, 0), (7, 7), (24, 24), (25, 24)] {
                call!(cuda.cuCtxSetLimit(SYNC_DEPTH, asked));
                call!(cuda.cuCtxGetLimit(&mut depth, SYNC_DEPTH));
                assert_eq!(depth, set);
            }
        });
    }
}

fn check(block: i32, multiprocessor: i32, reserved: i32) {
    let cuda = Cuda::start();
    let mut value = 0;
    for (attribute, wanted) in
        [(PER_BLOCK, block), (PER_MULTIPROCESSOR, multiprocessor), (RESERVED, reserved)]
    {
        call!(cuda.cuDeviceGetAttribute(&mut value, attribute, 0));
        assert_eq!(value, wanted, "attribute {attribute}");
    }
    let turn = cuda.function(cuda.module(&format!("{HEAD}{TURN}")), "turn");
    call!(cuda.cuFuncGetAttribute(&mut value, DYNAMIC, turn));
    assert_eq!(value, 48 << 10);
    call!(cuda.cuFuncSetAttribute(turn, DYNAMIC, block + 1) => status::INVALID_VALUE);
    call!(cuda.cuFuncSetAttribute(turn, DYNAMIC, block));
    call!(cuda.cuFuncGetAttribute(&mut value, DYNAMIC, turn));
    assert_eq!(value, block);
    let mut blocks = 99;
    call!(cuda.cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, turn, 128, block as usize));
    assert_eq!(blocks, multiprocessor / (block + reserved));
    call!(cuda.cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, turn, 128, block as usize + 1));
    assert_eq!(blocks, 0);
    // Variables have the same limit from 9.0 on (an H200 says so), and before that 48 KiB (ptxas says so). A
    // module with a larger one is refused.
    let mut major = 0;
    call!(cuda.cuDeviceGetAttribute(&mut major, 75, 0));
    let block = if major < 9 { 48 << 10 } else { block };
    let module = |bytes: i32| {
        let body = "{ .reg .b32 %r; ld.shared.u32 %r, [v]; st.shared.u32 [v+4], %r; ret; }";
        let text = format!("{HEAD}.visible .entry k() {body}\0");
        let text = text.replace(".visible", &format!(".shared .align 4 .b8 v[{bytes}];\n.visible"));
        let mut module = 0;
        // SAFETY: the text ends with NUL and outlives the call.
        unsafe { (cuda.cuModuleLoadData)(&mut module, text.as_ptr().cast()) }
    };
    assert_eq!(module(block), 0);
    assert_eq!(module(block + 1), 218);
}

#[test]
fn the_largest_block_uses_all_of_it() {
    let newest = [("ANYWARP_COMPUTE_CAPABILITY", "9.0")];
    everywhere("shared::the_largest_block_uses_all_of_it", &newest, || {
        let cuda = Cuda::start();
        let turn = cuda.function(cuda.module(&format!("{HEAD}{TURN}")), "turn");
        let bytes = 232_448u32;
        let words = bytes / 4;
        let to = cuda.upload(&vec![0u32; words as usize]);
        let launch = || {
            let (mut to, mut words) = (to, words);
            let mut arguments = [(&raw mut to).cast(), (&raw mut words).cast()];
            let arguments = arguments.as_mut_ptr();
            // SAFETY: the arguments are the kernel's, and outlive the call.
            unsafe { (cuda.cuLaunchKernel)(turn, 3, 1, 1, 128, 1, 1, bytes, 0, arguments, null_mut()) }
        };
        assert_eq!(launch(), status::INVALID_VALUE, "before the function asks for it");
        call!(cuda.cuFuncSetAttribute(turn, DYNAMIC, bytes as i32));
        assert_eq!(launch(), 0);
        let expected: Vec<u32> = (0..words).rev().map(|i| i.wrapping_mul(2_654_435_761)).collect();
        assert!(cuda.download::<u32>(to, words as usize) == expected);
    });
}
