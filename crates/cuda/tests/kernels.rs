//! Programs that run kernels through C calls.

mod ahead;
mod conditional;
mod crowds;
mod exit;
mod handles;
mod launched;
mod libraries;
mod library;
mod multicast;
mod nested;
mod objects;
mod operations;
mod options;
mod promised;
mod refused;
mod rows;
mod shared;
mod signals;
mod support;
mod trust;
mod turns;
mod updated;

use std::ffi::{CString, c_void};
use std::ptr::{null, null_mut};

use support::Argument::{F32, U32, U64};
use support::{Cuda, HEAD, LaunchAttribute, LaunchConfig, LaunchParams, everywhere, isolated, status};

const ADD: &str = "
.visible .entry add(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n) {
    .reg .pred %p; .reg .b32 %r<6>; .reg .f32 %f<4>; .reg .b64 %d<8>;
    ld.param.u64 %d1, [a]; ld.param.u64 %d2, [b]; ld.param.u64 %d3, [c]; ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.u32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p, %r5, %r1; @%p bra END;
    mul.wide.u32 %d4, %r5, 4; add.u64 %d5, %d1, %d4; add.u64 %d6, %d2, %d4; add.u64 %d7, %d3, %d4;
    ld.global.f32 %f1, [%d5]; ld.global.f32 %f2, [%d6]; add.f32 %f3, %f1, %f2; st.global.f32 [%d7], %f3;
END: ret;
}
.visible .entry axpy(.param .u64 x, .param .f32 a) {
    .reg .b32 %r; .reg .f32 %f<3>; .reg .b64 %d<3>;
    ld.param.u64 %d1, [x]; ld.param.f32 %f1, [a]; mov.u32 %r, %tid.x; mul.wide.u32 %d2, %r, 4; add.u64 %d1, %d1, %d2;
    ld.global.f32 %f2, [%d1]; fma.rn.f32 %f2, %f2, %f1, %f2; st.global.f32 [%d1], %f2; ret;
}
";

fn vector_add() {
    let cuda = Cuda::start();
    let function = cuda.function(cuda.module(&format!("{HEAD}{ADD}")), "add");
    for n in [1u32, 32, 1000, 100_000] {
        let a: Vec<f32> = (0..n).map(|i| i as f32).collect();
        let b: Vec<f32> = (0..n).map(|i| 2.0 * i as f32 + 1.0).collect();
        let expected: Vec<f32> = (0..n).map(|i| 3.0 * i as f32 + 1.0).collect();
        let (da, db) = (cuda.upload(&a), cuda.upload(&b));
        let clear = || cuda.upload(&vec![-1f32; n as usize]);
        let blocks = n.div_ceil(128);

        let dc = clear();
        assert_eq!(cuda.launch(function, blocks, 128, 0, &[U64(da), U64(db), U64(dc), U32(n)]), 0);
        assert_eq!(cuda.download::<f32>(dc, n as usize), expected, "kernelParams");

        let dc = clear();
        let mut buffer = [0u8; 32];
        for (at, value) in [da, db, dc].iter().enumerate() {
            buffer[8 * at..8 * at + 8].copy_from_slice(&value.to_le_bytes());
        }
        buffer[24..28].copy_from_slice(&n.to_le_bytes());
        let mut size = 28usize;
        let mut extra: [*mut c_void; 5] = [
            std::ptr::without_provenance_mut(1),
            buffer.as_mut_ptr().cast(),
            std::ptr::without_provenance_mut(2),
            std::ptr::from_mut(&mut size).cast(),
            null_mut(),
        ];
        call!(cuda.cuLaunchKernel(function, blocks, 1, 1, 128, 1, 1, 0, 0, null_mut(), extra.as_mut_ptr()));
        assert_eq!(cuda.download::<f32>(dc, n as usize), expected, "extra");
        // A longer buffer is refused (recorded on an H200). In a shorter one the rest is zero, here the
        // count.
        let dc = clear();
        buffer[16..24].copy_from_slice(&dc.to_le_bytes());
        for (bytes, status) in [(32usize, 701), (24, 0)] {
            extra[1] = buffer.as_mut_ptr().cast();
            extra[3] = (&raw const bytes).cast_mut().cast();
            let extra = extra.as_mut_ptr();
            call!(cuda.cuLaunchKernel(function, blocks, 1, 1, 128, 1, 1, 0, 0, null_mut(), extra) => status);
        }
        assert_eq!(cuda.download::<f32>(dc, n as usize), vec![-1.0; n as usize], "a short extra");

        let dc = clear();
        let arguments = [U64(da), U64(db), U64(dc), U32(n)];
        let mut pointers = arguments.each_ref().map(|a| a.pointer());
        let config = LaunchConfig {
            grid: [blocks, 1, 1],
            block: [128, 1, 1],
            shared: 0,
            stream: 0,
            attributes: null(),
            attribute_count: 0,
        };
        call!(cuda.cuLaunchKernelEx(&config, function, pointers.as_mut_ptr(), null_mut()));
        assert_eq!(cuda.download::<f32>(dc, n as usize), expected, "cuLaunchKernelEx");
    }
}

#[test]
fn vectors_are_added() {
    everywhere("vectors_are_added", &[], vector_add);
}

#[test]
fn shapes_that_cannot_be_are_refused() {
    isolated("shapes_that_cannot_be_are_refused", &[], || {
        let cuda = Cuda::start();
        let text =
            format!("{HEAD}.visible .entry wide() .maxntid 4294967295, 4294967295, 4294967295 {{ ret; }}\n");
        let wide = cuda.function(cuda.module(&text), "wide");
        const MOST: u32 = u32::MAX;
        for shape in [
            [MOST, MOST, MOST, 1, 1, 1],
            [1, 1, 1, MOST, MOST, MOST],
            [1, 1, 1, 1 << 16, 1 << 16, 1],
            [0, 1, 1, 1, 1, 1],
            [1, 1, 1, 1, 0, 1],
            [1, 1, 1, 32, 33, 1],
        ] {
            let [x, y, z, a, b, c] = shape;
            call!(cuda.cuLaunchKernel(wide, x, y, z, a, b, c, 0, 0, null_mut(), null_mut()) => status::INVALID_VALUE);
        }
        call!(cuda.cuLaunchKernel(wide, 1, 1, 1, 1, 1, 1, MOST, 0, null_mut(), null_mut()) => status::INVALID_VALUE);
        call!(cuda.cuLaunchKernel(wide, 1, 1, 1, 1024, 1, 1, 0, 0, null_mut(), null_mut()));
        call!(cuda.cuCtxSynchronize());
    });
}

#[test]
fn work_in_a_stream_is_in_order_and_events_order_streams() {
    everywhere("work_in_a_stream_is_in_order_and_events_order_streams", &[], || {
        let cuda = Cuda::start();
        let axpy = cuda.function(cuda.module(&format!("{HEAD}{ADD}")), "axpy");
        let (mut first, mut second, mut event) = (0, 0, 0);
        call!(cuda.cuStreamCreate(&mut first, 1));
        call!(cuda.cuStreamCreate(&mut second, 1));
        call!(cuda.cuEventCreate(&mut event, 0));
        let x = cuda.upload(&[1f32; 32]);
        // x = x * a + x doubles x with a = 1, twenty times in one stream; with a = 2 it triples x, twice in
        // another stream, which waits.
        for _ in 0..20 {
            assert_eq!(cuda.launch(axpy, 1, 32, first, &[U64(x), F32(1.0)]), 0);
        }
        call!(cuda.cuEventRecord(event, first));
        call!(cuda.cuStreamWaitEvent(second, event, 0));
        for _ in 0..2 {
            assert_eq!(cuda.launch(axpy, 1, 32, second, &[U64(x), F32(2.0)]), 0);
        }
        extern "C" fn note(data: *mut c_void) {
            // SAFETY: the data is the test's vector, which nothing else uses until the stream has been
            // synchronised.
            unsafe { (*data.cast::<Vec<u32>>()).push(1) };
        }
        let mut notes: Box<Vec<u32>> = Box::default();
        call!(cuda.cuLaunchHostFunc(second, Some(note), std::ptr::from_mut(&mut *notes).cast()));
        call!(cuda.cuStreamSynchronize(second));
        assert_eq!(*notes, [1]);
        // 2^20 * 9, exact in f32.
        assert_eq!(cuda.download::<f32>(x, 32), vec![(1 << 20) as f32 * 9.0; 32]);
    });
}

const FAULTS: &str = "
.extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 s);
.global .align 1 .b8 what[6] = {120, 32, 62, 32, 48, 0};
.global .align 1 .b8 file[5] = {97, 46, 99, 117, 0};
.global .align 1 .b8 where[7] = {114, 101, 102, 117, 115, 101, 0};
.visible .entry trap_it() { trap; ret; }
.visible .entry store(.param .u64 p) { .reg .b64 %d; ld.param.u64 %d, [p]; st.global.u32 [%d], 7; ret; }
.visible .entry refuse() {
    .reg .b64 %d<4>; .param .b64 m; .param .b64 f; .param .b32 l; .param .b64 n; .param .b64 s;
    mov.u64 %d1, what; cvta.global.u64 %d1, %d1; mov.u64 %d2, file; cvta.global.u64 %d2, %d2;
    mov.u64 %d3, where; cvta.global.u64 %d3, %d3;
    st.param.b64 [m], %d1; st.param.b64 [f], %d2; st.param.b32 [l], 42; st.param.b64 [n], %d3; st.param.b64 [s], 1;
    call __assertfail, (m, f, l, n, s);
    ret;
}
.visible .entry endless(.param .u64 p) {
    .reg .pred %q; .reg .b32 %r; .reg .b64 %d; ld.param.u64 %d, [p];
L:  ld.volatile.global.u32 %r, [%d]; setp.ne.u32 %q, %r, 99; @%q bra L;
    ret;
}
";

/// Launches a kernel that fails, and checks that its context stays failed and that a reset recovers it.
fn fail(kernel: &str, argument: impl FnOnce(&Cuda) -> Option<u64>, error: u32) {
    let cuda = Cuda::start();
    let module = cuda.module(&format!("{HEAD}{FAULTS}"));
    let arguments: Vec<_> = argument(&cuda).into_iter().map(U64).collect();
    let mut other = 0;
    assert_eq!(cuda.launch(cuda.function(module, kernel), 1, 1, 0, &arguments), 0, "{kernel}");
    call!(cuda.cuCtxSynchronize() => error);
    call!(cuda.cuCtxSynchronize() => error);
    call!(cuda.cuMemAlloc_v2(&mut other, 16) => error);
    call!(cuda.cuModuleUnload(module) => error);
    call!(cuda.cuDevicePrimaryCtxReset_v2(0));
    call!(cuda.cuCtxSynchronize() => status::CONTEXT_IS_DESTROYED);
    cuda.primary();
    let module = cuda.module(&format!("{HEAD}{FAULTS}"));
    let place = cuda.upload(&[0u32]);
    assert_eq!(cuda.launch(cuda.function(module, "store"), 1, 1, 0, &[U64(place)]), 0);
    assert_eq!(cuda.download::<u32>(place, 1), [7], "the device works again");
}

#[test]
fn faults_are_sticky_until_a_reset() {
    const NAME: &str = "faults_are_sticky_until_a_reset";
    let odd = |cuda: &Cuda| Some(cuda.upload(&[0u32; 4]) + 1);
    for case in ["trap", "far", "null", "odd", "assert"] {
        let variables = [("ANYWARP_TEST_CASE", case)];
        for output in everywhere(NAME, &variables, || match std::env::var("ANYWARP_TEST_CASE").as_deref() {
            Ok("trap") => fail("trap_it", |_| None, status::LAUNCH_FAILED),
            Ok("far") => fail("store", |_| Some(1 << 46), status::ILLEGAL_ADDRESS),
            Ok("null") => fail("store", |_| Some(0), status::ILLEGAL_ADDRESS),
            Ok("odd") => fail("store", odd, status::MISALIGNED_ADDRESS),
            _ => fail("refuse", |_| None, status::ASSERT),
        }) {
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            match case {
                "assert" => {
                    let line = "a.cu:42: refuse: block: [0,0,0], thread: [0,0,0] Assertion `x > 0` failed.\n";
                    assert!(told.contains(line), "{told}");
                }
                // The reason is reported with the kernel's name, once, and with what would tell more.
                _ => {
                    let (kernel, reason) = match case {
                        "trap" => ("trap_it", "trap, at PTX line "),
                        "far" => ("store", "illegal address 0x400000000000, at PTX line "),
                        "null" => ("store", "illegal address 0x0, at PTX line "),
                        _ => ("store", "misaligned address "),
                    };
                    let line = told.lines().find(|line| line.contains(reason)).expect(&told);
                    assert_eq!(line.matches(kernel).count(), 1, "{told}");
                    assert!(line.contains(", block (0, 0, 0), thread (0, 0, 0), "), "{told}");
                    assert_eq!(told.matches("ANYWARP_KEEP_PTX").count(), 1, "{told}");
                }
            }
        }
    }
}

/// The kernel of the test below: threads from number 37 of each block on store far away, after a barrier and
/// with an effect on memory before it; the last argument says what follows from the addition.
const FAR: &str = "
.visible .entry far(.param .u64 p, .param .u64 q) {
    .reg .pred %p; .reg .b32 %r<4>; .reg .b64 %d<4>; .shared .b32 s[64];
    ld.param.u64 %d1, [p]; ld.param.u64 %d2, [q];
    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;
    red.global.add.u32 [%d1], 1;
    mov.u64 %d3, s; mad.wide.u32 %d3, %r1, 4, %d3; st.shared.u32 [%d3], %r1; bar.sync 0;
    setp.ne.u32 %p, %r2, 5; @%p ret;
    setp.lt.u32 %p, %r1, 37; @%p ret;
    mad.wide.u32 %d2, %r1, 4, %d2;
    .loc 1 23 0
    st.global.u32 [%d2], %r1; ret;
}
.file 1 \"far.cu\"
";

#[test]
fn a_fault_names_the_first_thread() {
    for output in everywhere("a_fault_names_the_first_thread", &[], || {
        let cuda = Cuda::start();
        let far = cuda.function(cuda.module(&format!("{HEAD}{FAR}")), "far");
        let host = Box::leak(Box::new(0u32));
        let arguments = [U64(&raw mut *host as u64), U64(1 << 46)];
        assert_eq!(cuda.launch(far, 6, 64, 0, &arguments), 0);
        call!(cuda.cuCtxSynchronize() => status::ILLEGAL_ADDRESS);
        // Nothing has run twice.
        assert!(*host <= 6 * 64, "{host}");
    }) {
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        let place = "at far.cu:23 (PTX line 15), block (5, 0, 0), thread (37, 0, 0), warp 1, lanes 0x00000020: write of 4";
        let address = format!("illegal address {:#x}, ", (1u64 << 46) + 37 * 4);
        assert!(told.contains(place) && told.contains(&address), "{told}");
        // The source's line is there, so nothing is to be done for it.
        assert!(!told.contains("ANYWARP_KEEP_PTX"), "{told}");
    }
}

/// Calls itself without end.
const RECURSES: &str = "
.func (.reg .b32 %o) f(.reg .b32 %i);
.func (.reg .b32 %o) f(.reg .b32 %i) {
    .reg .b32 %r; add.u32 %r, %i, 1; call (%o), f, (%r); add.u32 %o, %o, %r; ret;
}
.visible .entry k(.param .u64 p) {
    .reg .b32 %r; .reg .b64 %d; ld.param.u64 %d, [p]; mov.u32 %r, 1; call (%r), f, (%r); st.global.u32 [%d], %r; ret;
}
";

#[test]
fn an_endless_recursion_names_its_limit_and_its_place() {
    for output in everywhere("an_endless_recursion_names_its_limit_and_its_place", &[], || {
        let cuda = Cuda::start();
        let recurses = cuda.function(cuda.module(&format!("{HEAD}{RECURSES}")), "k");
        let place = cuda.upload(&[0u32]);
        assert_eq!(cuda.launch(recurses, 1, 1, 0, &[U64(place)]), 0);
        call!(cuda.cuCtxSynchronize() => status::ILLEGAL_ADDRESS);
    }) {
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(told.contains("stack overflow, at PTX line 7, block (0, 0, 0), thread (0, 0, 0)"), "{told}");
        assert!(told.contains(" bytes of a thread's stack; CU_LIMIT_STACK_SIZE"), "{told}");
    }
}

#[test]
fn a_fault_ends_with_its_context() {
    everywhere("a_fault_ends_with_its_context", &[], || {
        let cuda = Cuda::open();
        call!(cuda.cuInit(0));
        for _ in 0..3 {
            let mut context = 0;
            call!(cuda.cuCtxCreate_v2(&mut context, 0, 0));
            let module = cuda.module(&format!("{HEAD}{FAULTS}"));
            assert_eq!(cuda.launch(cuda.function(module, "trap_it"), 4, 64, 0, &[]), 0);
            call!(cuda.cuCtxSynchronize() => status::LAUNCH_FAILED);
            call!(cuda.cuCtxDestroy_v2(context));
        }
    });
}

#[test]
fn the_watchdog_ends_an_endless_kernel() {
    everywhere("the_watchdog_ends_an_endless_kernel", &[("ANYWARP_WATCHDOG", "0.2")], || {
        fail("endless", |cuda| Some(cuda.upload(&[0u32])), status::LAUNCH_TIMEOUT);
    });
}

const PRINT: &str = r#"
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.global .align 1 .b8 format[17] = {98, 108, 111, 99, 107, 32, 37, 100, 32, 108, 97, 110, 101, 32, 37, 100, 0};
.global .align 1 .b8 newline[2] = {10, 0};
.visible .entry hello() {
    .local .align 8 .b8 args[8]; .reg .b32 %r<3>; .reg .b64 %d<5>;
    .param .b64 f; .param .b64 a; .param .b32 r;
    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x;
    mov.u64 %d1, args; cvta.local.u64 %d2, %d1; st.local.u32 [%d1], %r1; st.local.u32 [%d1+4], %r2;
    mov.u64 %d3, format; cvta.global.u64 %d3, %d3;
    st.param.b64 [f], %d3; st.param.b64 [a], %d2; call (r), vprintf, (f, a);
    mov.u64 %d4, newline; cvta.global.u64 %d4, %d4;
    st.param.b64 [f], %d4; st.param.b64 [a], %d2; call (r), vprintf, (f, a);
    ret;
}
"#;

#[test]
fn kernels_print() {
    let outputs = everywhere("kernels_print", &[], || {
        let cuda = Cuda::start();
        let hello = cuda.function(cuda.module(&format!("{HEAD}{PRINT}")), "hello");
        for _ in 0..2 {
            assert_eq!(cuda.launch(hello, 1, 3, 0, &[]), 0);
            call!(cuda.cuCtxSynchronize());
        }
    });
    for output in outputs {
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        // Output is ordered by call in each warp, and by lane in each call.
        let once = "block 0 lane 0block 0 lane 1block 0 lane 2\n\n\n";
        assert!(text.contains(&once.repeat(2)), "{text}");
    }
}

/// More blocks than workers.
const BLOCKS: u32 = 5;

/// Every block waits until all have arrived, so all must be resident at the same time.
const MEET: &str = "
.visible .entry meet(.param .u64 counter, .param .u32 blocks) {
    .reg .pred %p; .reg .b32 %r<5>; .reg .b64 %d;
    ld.param.u64 %d, [counter]; ld.param.u32 %r1, [blocks];
    mov.u32 %r2, %tid.x; setp.ne.u32 %p, %r2, 0; @%p bra JOIN;
    atom.global.add.u32 %r3, [%d], 1;
SPIN: ld.volatile.global.u32 %r4, [%d]; setp.lt.u32 %p, %r4, %r1; @%p bra SPIN;
JOIN: bar.sync 0;
    atom.global.add.u32 %r3, [%d+4], 1;
    ret;
}
";

#[test]
fn cooperative_blocks_meet() {
    everywhere("cooperative_blocks_meet", &[], || {
        let cuda = Cuda::start();
        let meet = cuda.function(cuda.module(&format!("{HEAD}{MEET}")), "meet");
        let counters = cuda.upload(&[0u32; 2]);
        let arguments = [U64(counters), U32(BLOCKS)];
        let mut pointers = arguments.each_ref().map(|a| a.pointer());
        call!(cuda.cuLaunchCooperativeKernel(meet, BLOCKS, 1, 1, 64, 1, 1, 0, 0, pointers.as_mut_ptr()));
        assert_eq!(cuda.download::<u32>(counters, 2), [BLOCKS, BLOCKS * 64]);
        let too_many = status::COOPERATIVE_LAUNCH_TOO_LARGE;
        call!(cuda.cuLaunchCooperativeKernel(meet, 1 << 20, 1, 1, 1024, 1, 1, 0, 0, pointers.as_mut_ptr()) => too_many);

        // The same through an attribute.
        call!(cuda.cuMemsetD32_v2(counters, 0, 2));
        let attribute = LaunchAttribute { id: 2, pad: 0, value: [1, 0, 0, 0, 0, 0, 0, 0] };
        let config = LaunchConfig {
            grid: [BLOCKS, 1, 1],
            block: [64, 1, 1],
            shared: 0,
            stream: 0,
            attributes: &attribute,
            attribute_count: 1,
        };
        call!(cuda.cuLaunchKernelEx(&config, meet, pointers.as_mut_ptr(), null_mut()));
        assert_eq!(cuda.download::<u32>(counters, 2), [BLOCKS, BLOCKS * 64]);
    });
}

#[test]
fn threads_launch_at_the_same_time() {
    everywhere("threads_launch_at_the_same_time", &[], || {
        let cuda = Cuda::start();
        let axpy = cuda.function(cuda.module(&format!("{HEAD}{ADD}")), "axpy");
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    cuda.primary();
                    let mut stream = 0;
                    call!(cuda.cuStreamCreate(&mut stream, 1));
                    let x = cuda.upload(&[1f32; 32]);
                    for _ in 0..50 {
                        assert_eq!(cuda.launch(axpy, 1, 32, stream, &[U64(x), F32(0.0)]), 0);
                    }
                    for _ in 0..10 {
                        assert_eq!(cuda.launch(axpy, 1, 32, stream, &[U64(x), F32(1.0)]), 0);
                    }
                    call!(cuda.cuStreamSynchronize(stream));
                    assert_eq!(cuda.download::<f32>(x, 32), [1024f32; 32]);
                    call!(cuda.cuStreamDestroy_v2(stream));
                });
            }
        });
    });
}

#[test]
fn the_host_gives_symbols_their_addresses() {
    everywhere("the_host_gives_symbols_their_addresses", &[], || {
        let cuda = Cuda::start();
        let text = format!(
            "{HEAD}.extern .global .u32 theirs;\n.visible .entry read(.param .u64 out) {{ .reg .b32 %r; .reg .b64 %d; \
             ld.param.u64 %d, [out]; ld.global.u32 %r, [theirs]; st.global.u32 [%d], %r; ret; }}\n"
        );
        let text = CString::new(text).unwrap();
        let (value, out) = (cuda.upload(&[4711u32]), cuda.upload(&[0u32]));
        let (name, mut module) = (c"theirs", 0);
        let (mut names, mut addresses) = ([name.as_ptr()], [value]);
        let mut options = [17, 18, 19];
        let mut values: [*mut c_void; 3] =
            [names.as_mut_ptr().cast(), addresses.as_mut_ptr().cast(), std::ptr::without_provenance_mut(1)];
        let image = text.as_ptr().cast();
        call!(cuda.cuModuleLoadDataEx(&mut module, image, 3, options.as_mut_ptr(), values.as_mut_ptr()));
        assert_eq!(cuda.launch(cuda.function(module, "read"), 1, 1, 0, &[U64(out)]), 0);
        assert_eq!(cuda.download::<u32>(out, 1), [4711]);
        // Loading a single text accepts undefined symbols; a kernel that reads one faults.
        call!(cuda.cuModuleLoadData(&mut module, image));
        assert_eq!(cuda.launch(cuda.function(module, "read"), 1, 1, 0, &[U64(out)]), 0);
        call!(cuda.cuCtxSynchronize() => status::ILLEGAL_ADDRESS);
    });
}

#[test]
fn a_librarys_kernels_need_no_context_until_they_run() {
    everywhere("a_librarys_kernels_need_no_context_until_they_run", &[], || {
        let cuda = Cuda::open();
        call!(cuda.cuInit(0));
        let text = CString::new(format!("{HEAD}{ADD}")).unwrap();
        let (mut library, mut kernel) = (0, 0);
        let (none, nothing) = (null_mut(), null_mut());
        call!(cuda.cuLibraryLoadData(&mut library, text.as_ptr().cast(), none, nothing, 0, none, nothing, 0));
        call!(cuda.cuLibraryGetKernel(&mut kernel, library, c"axpy".as_ptr()));
        for context_number in 0..2 {
            let mut context = 0;
            call!(cuda.cuCtxCreate_v2(&mut context, 0, 0));
            let x = cuda.upload(&[1f32; 32]);
            assert_eq!(cuda.launch(kernel, 1, 32, 0, &[U64(x), F32(2.0)]), 0, "context {context_number}");
            assert_eq!(cuda.download::<f32>(x, 32), [3f32; 32]);
            call!(cuda.cuCtxDestroy_v2(context));
        }
        call!(cuda.cuLibraryUnload(library));
    });
}

#[test]
fn host_memory_is_the_devices_memory() {
    everywhere("host_memory_is_the_devices_memory", &[], || {
        let cuda = Cuda::start();
        let axpy = cuda.function(cuda.module(&format!("{HEAD}{ADD}")), "axpy");
        let mut pinned = null_mut();
        call!(cuda.cuMemHostAlloc(&mut pinned, 128, 0));
        let mut managed = 0;
        call!(cuda.cuMemAllocManaged(&mut managed, 128, 1));
        let mut own = vec![0f32; 32];
        for address in [pinned as u64, managed, own.as_mut_ptr() as u64] {
            // SAFETY: 32 values of memory that the host may access, while no kernel runs.
            let values = unsafe { std::slice::from_raw_parts_mut(address as *mut f32, 32) };
            values.fill(2.0);
            assert_eq!(cuda.launch(axpy, 1, 32, 0, &[U64(address), F32(1.0)]), 0);
            call!(cuda.cuCtxSynchronize());
            assert_eq!(values, [4f32; 32]);
        }
    });
}

/// A fatbin with one uncompressed entry: PTX (1) or machine code (2) for an architecture.
fn fatbin(kind: u16, arch: u32, payload: &[u8]) -> Vec<u8> {
    let mut entry = Vec::new();
    entry.extend(kind.to_le_bytes());
    entry.extend(0x101u16.to_le_bytes());
    entry.extend(64u32.to_le_bytes());
    entry.extend((payload.len() as u64).to_le_bytes());
    entry.resize(28, 0);
    entry.extend(arch.to_le_bytes());
    entry.resize(64, 0);
    entry.extend(payload);
    let mut out = 0xba55_ed50u32.to_le_bytes().to_vec();
    out.extend(1u16.to_le_bytes());
    out.extend(16u16.to_le_bytes());
    out.extend((entry.len() as u64).to_le_bytes());
    out.extend(entry);
    out
}

#[test]
fn fatbins_are_loaded() {
    isolated("fatbins_are_loaded", &[], || {
        let cuda = Cuda::start();
        let text = format!("{HEAD}{ADD}");
        let good = fatbin(1, 52, text.as_bytes());
        // The form that nvcc embeds: a wrapper with a pointer.
        let wrapper: [u64; 3] = [0x0000_0001_4662_43b1, good.as_ptr() as u64, 0];
        let x = cuda.upload(&[1f32; 32]);
        for image in [good.as_ptr().cast::<c_void>(), wrapper.as_ptr().cast()] {
            let mut modules = [0; 2];
            call!(cuda.cuModuleLoadData(&mut modules[0], image));
            call!(cuda.cuModuleLoadFatBinary(&mut modules[1], image));
            for module in modules {
                assert_eq!(cuda.launch(cuda.function(module, "axpy"), 1, 32, 0, &[U64(x), F32(1.0)]), 0);
                call!(cuda.cuModuleUnload(module));
            }
        }
        assert_eq!(cuda.download::<f32>(x, 32), [16f32; 32]);
        let (mut module, too_new) = (0, fatbin(1, 999, text.as_bytes()));
        call!(cuda.cuModuleLoadData(&mut module, too_new.as_ptr().cast()) => status::NO_BINARY_FOR_GPU);
        let machine_code = fatbin(2, 86, b"\x7fELF and so on");
        call!(cuda.cuModuleLoadData(&mut module, machine_code.as_ptr().cast()) => status::NO_BINARY_FOR_GPU);
        let mut empty = fatbin(1, 52, text.as_bytes());
        empty[8..16].fill(0);
        call!(cuda.cuModuleLoadData(&mut module, empty.as_ptr().cast()) => status::INVALID_IMAGE);
    });
}

#[test]
fn kernels_run_on_several_devices() {
    everywhere("kernels_run_on_several_devices", &[("ANYWARP_DEVICES", "2")], || {
        let cuda = Cuda::open();
        call!(cuda.cuInit(0));
        let mut all = Vec::new();
        for device in 0..2 {
            let (mut context, mut stream) = (0, 0);
            call!(cuda.cuDevicePrimaryCtxRetain(&mut context, device));
            call!(cuda.cuCtxSetCurrent(context));
            call!(cuda.cuStreamCreate(&mut stream, 1));
            let axpy = cuda.function(cuda.module(&format!("{HEAD}{ADD}")), "axpy");
            let x = cuda.upload(&[1f32 + device as f32; 32]);
            all.push((context, stream, axpy, [U64(x), F32(2.0)], x));
        }
        let mut pointers: Vec<Vec<*mut c_void>> =
            all.iter().map(|(.., arguments, _)| arguments.iter().map(|a| a.pointer()).collect()).collect();
        let launches: Vec<LaunchParams> = all
            .iter()
            .zip(&mut pointers)
            .map(|((_, stream, function, ..), pointers)| LaunchParams {
                function: *function,
                grid: [1; 3],
                block: [32, 1, 1],
                shared: 0,
                stream: *stream,
                params: pointers.as_mut_ptr(),
            })
            .collect();
        call!(cuda.cuLaunchCooperativeKernelMultiDevice(launches.as_ptr(), 2, 0));
        for (device, (context, stream, .., x)) in all.iter().enumerate() {
            call!(cuda.cuCtxSetCurrent(*context));
            call!(cuda.cuStreamSynchronize(*stream));
            assert_eq!(cuda.download::<f32>(*x, 32), [3.0 * (1.0 + device as f32); 32]);
        }
    });
}

#[test]
fn functions_that_are_not_written_name_themselves_once() {
    let name = "functions_that_are_not_written_name_themselves_once";
    let output = isolated(name, &[("ANYWARP_LOG", "warn")], || {
        let cuda = Cuda::start();
        for _ in 0..3 {
            call!(cuda.cuGLMapBufferObject(null_mut(), null_mut(), 0) => 201);
        }
    });
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(told.matches("cuGLMapBufferObject is not supported").count(), 1, "{told}");
}

/// Callers whose declarations of `f` differ from `OTHER`: the hardware's linker refuses each when it sees the
/// definition.
const BELIEFS: [(&str, &str); 4] = [
    ("(.param .b32 r) f(.param .b32 a)", "(r), f, (a)"),
    ("f(.param .b64 w)", "f, (w)"),
    ("f()", "f"),
    ("f(.param .b32 a, .param .b32 b)", "f, (a, a)"),
];

const OTHER: &str = ".visible .func f(.param .b32 a) { ret; }";

#[test]
fn texts_that_disagree_on_a_function_are_not_linked() {
    isolated("texts_that_disagree_on_a_function_are_not_linked", &[], || {
        let cuda = Cuda::start();
        let cases = BELIEFS.map(|(declared, call)| (declared, call, status::INVALID_SOURCE));
        let right = ("f(.param .b32 a)", "f, (a)", 0);
        for (declared, call, expected) in cases.into_iter().chain([right]) {
            let caller = format!(
                "{HEAD}.extern .func {declared};\n.visible .entry ask() {{ .param .b32 a; .param .b64 w; .param .b32 r; \
                 call {call}; ret; }}\n"
            );
            let mut link = 0;
            call!(cuda.cuLinkCreate_v2(0, null_mut(), null_mut(), &mut link));
            for (text, expected) in [(caller, 0), (format!("{HEAD}{OTHER}"), expected)] {
                let text = CString::new(text).expect("no NUL");
                let (bytes, size) = (text.as_ptr().cast(), text.as_bytes_with_nul().len());
                let name = c"text".as_ptr();
                call!(cuda.cuLinkAddData_v2(link, 1, bytes, size, name, 0, null_mut(), null_mut()) => expected);
            }
            let (mut image, mut size) = (null_mut(), 0);
            call!(cuda.cuLinkComplete(link, &mut image, &mut size) => expected);
            call!(cuda.cuLinkDestroy(link));
        }
    });
}

/// Kernels that multiply by 1, 2, 3... and add one, so that the order of their launches shows in the result.
fn steps(count: u32) -> String {
    let step = |k: u32| {
        format!(
            ".visible .entry step{k}(.param .u64 x) {{ .reg .b32 %r<3>; .reg .b64 %d<3>;\n\
             ld.param.u64 %d1, [x]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2;\n\
             ld.global.u32 %r2, [%d1]; mad.lo.u32 %r2, %r2, {}, 1; st.global.u32 [%d1], %r2; ret; }}\n",
            k + 1
        )
    };
    HEAD.to_owned() + &(0..count).map(step).collect::<String>()
}

#[test]
fn kernels_launched_before_their_code_is_made_run_in_order() {
    everywhere("kernels_launched_before_their_code_is_made_run_in_order", &[], || {
        let cuda = Cuda::start();
        let module = cuda.module(&steps(8));
        let first: Vec<u32> = (0..64).collect();
        let x = cuda.upload(&first);
        for k in 0..8 {
            let function = cuda.function(module, &format!("step{k}"));
            assert_eq!(cuda.launch(function, 1, 64, 0, &[U64(x)]), 0);
        }
        let expected: Vec<u32> =
            first.iter().map(|&v| (1..=8u32).fold(v, |v, k| v.wrapping_mul(k).wrapping_add(1))).collect();
        assert_eq!(cuda.download::<u32>(x, 64), expected);
        // A module whose kernels are still queued is also unloaded in order.
        let module = cuda.module(&steps(3));
        for k in 0..3 {
            let function = cuda.function(module, &format!("step{k}"));
            assert_eq!(cuda.launch(function, 1, 64, 0, &[U64(x)]), 0);
        }
        call!(cuda.cuModuleUnload(module));
        let expected: Vec<u32> =
            expected.iter().map(|&v| (1..=3u32).fold(v, |v, k| v.wrapping_mul(k).wrapping_add(1))).collect();
        assert_eq!(cuda.download::<u32>(x, 64), expected);
    });
}
