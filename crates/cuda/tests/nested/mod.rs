//! Kernels that launch kernels: order, visibility, errors and limits, as CUDA's programming guide describes
//! dynamic parallelism.

use std::ffi::{CString, c_void};

use crate::call;
use crate::support::Argument::{U32, U64};
use crate::support::{Cuda, HEAD, everywhere, isolated, status};

/// `cudaLimitDevRuntimePendingLaunchCount`.
const PENDING: u32 = 4;
const NAMED: u64 = 0;
const TAIL: u64 = 3;
const FORGET: u64 = 4;

/// `start` launches a kernel with two parameters and returns the status. `note` appends a number to a log,
/// whose first word counts.
const CALLS: &str = "
.extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2(.param .b64 k, .param .align 4 .b8 g[12],
    .param .align 4 .b8 b[12], .param .b32 s);
.extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2(.param .b64 p, .param .b64 s);
.extern .func (.param .b32 r) __cudaCDP2GetLastError();
.extern .func (.param .b32 r) __cudaCDP2PeekAtLastError();
.func (.param .b32 status) start(.param .b64 kernel, .param .b32 blocks, .param .b32 threads, .param .b64 stream,
    .param .b64 x, .param .b32 y)
{
    .reg .pred %p; .reg .b32 %v; .reg .b64 %w, %buffer;
    .param .b64 k, r, at; .param .align 4 .b8 g[12]; .param .align 4 .b8 b[12]; .param .b32 s, e;
    ld.param.b64 %w, [kernel]; st.param.b64 [k], %w;
    ld.param.b32 %v, [blocks]; st.param.b32 [g], %v; st.param.b32 [g+4], 1; st.param.b32 [g+8], 1;
    ld.param.b32 %v, [threads]; st.param.b32 [b], %v; st.param.b32 [b+4], 1; st.param.b32 [b+8], 1;
    st.param.b32 [s], 0;
    call (r), __cudaCDP2GetParameterBufferV2, (k, g, b, s);
    ld.param.b64 %buffer, [r];
    setp.eq.u64 %p, %buffer, 0; @%p bra FAILED;
    ld.param.b64 %w, [x]; st.u64 [%buffer], %w; ld.param.b32 %v, [y]; st.u32 [%buffer+8], %v;
    st.param.b64 [at], %buffer; ld.param.b64 %w, [stream]; st.param.b64 [k], %w;
    call (e), __cudaCDP2LaunchDeviceV2, (at, k);
    ld.param.b32 %v, [e]; st.param.b32 [status], %v; ret;
FAILED:
    call (e), __cudaCDP2GetLastError, ();
    ld.param.b32 %v, [e]; st.param.b32 [status], %v; ret;
}
.func record(.param .b64 log, .param .b32 number)
{
    .reg .b32 %v, %n; .reg .b64 %log, %at;
    ld.param.b64 %log, [log]; ld.param.b32 %n, [number];
    atom.add.u32 %v, [%log], 1;
    mul.wide.u32 %at, %v, 4; add.u64 %at, %at, %log; st.u32 [%at+4], %n; ret;
}
.visible .entry note(.param .u64 log, .param .u32 number)
{
    .reg .b32 %n; .reg .b64 %log; .param .b64 a; .param .b32 b;
    ld.param.u64 %log, [log]; ld.param.u32 %n, [number];
    st.param.b64 [a], %log; st.param.b32 [b], %n; call record, (a, b); ret;
}
";

/// A call of `start` with these operands, which leaves the status in `%s`.
fn start(kernel: &str, blocks: &str, threads: &str, stream: u64, x: &str, y: &str) -> String {
    format!(
        "{{ .reg .b64 %k; .param .b64 a, d, e; .param .b32 b, c, f, r; mov.u64 %k, {kernel};
        st.param.b64 [a], %k; st.param.b32 [b], {blocks}; st.param.b32 [c], {threads}; st.param.b64 [d], {stream};
        st.param.b64 [e], {x}; st.param.b32 [f], {y}; call (r), start, (a, b, c, d, e, f); ld.param.b32 %s, [r]; }}\n"
    )
}

/// A kernel with the parameters `log` and `number`, in `%log` and `%n`.
fn kernel(name: &str, body: &str) -> String {
    format!(
        ".visible .entry {name}(.param .u64 log, .param .u32 number) {{ .reg .pred %p; .reg .b32 %s, %n, %t, %v;
        .reg .b64 %log, %at; ld.param.u64 %log, [log]; ld.param.u32 %n, [number]; {body} ret; }}\n"
    )
}

/// The statement that records a number.
fn record(number: &str) -> String {
    format!(
        "{{ .param .b64 a; .param .b32 b; st.param.b64 [a], %log; st.param.b32 [b], {number}; call record, (a, b); }}\n"
    )
}

fn module(cuda: &Cuda, kernels: &[String]) -> u64 {
    cuda.module(&format!("{HEAD}{CALLS}{}", kernels.concat()))
}

/// A grid is not complete before all that it launches, and tail launches begin after that.
#[test]
fn launches_run_in_order() {
    everywhere("nested::launches_run_in_order", &[], || {
        let cuda = Cuda::start();
        let note = |stream, number: &str| start("note", "1", "1", stream, "%log", number);
        let middle = kernel("middle", &(record("1") + &note(TAIL, "3") + &note(FORGET, "2")));
        let inside = start("middle", "1", "1", NAMED, "%log", "0");
        let last = kernel("last", &(record("5") + &note(TAIL, "7") + &note(NAMED, "6")));
        let at_end = start("last", "1", "1", TAIL, "%log", "0");
        let body = record("0") + &at_end + &note(TAIL, "8") + &inside + &note(NAMED, "4");
        let module = module(&cuda, &[middle, last, kernel("outer", &body)]);
        let log = cuda.upload(&[0u32; 32]);
        assert_eq!(cuda.launch(cuda.function(module, "outer"), 1, 1, 0, &[U64(log), U32(0)]), 0);
        // A launch of the host after it begins when all of that is done.
        assert_eq!(cuda.launch(cuda.function(module, "note"), 1, 1, 0, &[U64(log), U32(9)]), 0);
        assert_eq!(cuda.download::<u32>(log, 11), [10, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    });
}

/// Every thread of several blocks launches a grid with values of its own, and sees no error.
#[test]
fn every_thread_launches() {
    everywhere("nested::every_thread_launches", &[], || {
        let cuda = Cuda::start();
        let child = kernel(
            "child",
            "mov.u32 %t, %ctaid.x; add.u32 %t, %t, 1; mul.lo.u32 %n, %n, %t; red.global.add.u32 [%log], %n;",
        );
        let body = "mov.u32 %t, %ctaid.x; mad.lo.u32 %t, %t, 48, %n; mov.u32 %v, %tid.x; add.u32 %t, %t, %v;"
            .to_string()
            + &start("child", "2", "3", NAMED, "%log", "%t")
            + "red.global.add.u32 [%log+4], %s;";
        let module = module(&cuda, &[child, kernel("outer", &body)]);
        let sums = cuda.upload(&[0u32; 2]);
        assert_eq!(cuda.launch(cuda.function(module, "outer"), 5, 48, 0, &[U64(sums), U32(7)]), 0);
        // Three threads each of blocks that multiply by 1 and 2.
        let expected = (0..5 * 48).map(|i| (i + 7) * 9).sum::<u32>();
        assert_eq!(cuda.download::<u32>(sums, 2), [expected, 0]);
    });
}

/// Launches that the device cannot run are refused with a status, and the next one is not affected.
#[test]
fn wrong_launches_have_a_status() {
    everywhere("nested::wrong_launches_have_a_status", &[], || {
        let cuda = Cuda::start();
        const CASES: [(&str, &str, &str, u64, u32); 7] = [
            ("note", "1", "0", NAMED, 9),
            ("note", "0", "1", NAMED, 9),
            ("note", "1", "1025", NAMED, 9),
            ("narrow", "1", "64", NAMED, 9),
            ("record", "1", "1", NAMED, 98),
            ("note", "1", "1", 77, 400),
            ("note", "1", "1", NAMED, 0),
        ];
        let mut body = String::new();
        for (n, (name, blocks, threads, stream, _)) in CASES.iter().enumerate() {
            body += &start(name, blocks, threads, *stream, "%at", "5");
            body += &format!("st.global.u32 [%log+{}], %s;\n", 4 * n);
        }
        // `start` has taken the errors of buffers; that of the wrong stream is left.
        body += "{ .param .b32 r; call (r), __cudaCDP2PeekAtLastError, (); ld.param.b32 %s, [r]; }
            st.global.u32 [%log+28], %s;
            { .param .b32 r; call (r), __cudaCDP2GetLastError, (); ld.param.b32 %s, [r]; }
            st.global.u32 [%log+32], %s;
            { .param .b32 r; call (r), __cudaCDP2GetLastError, (); ld.param.b32 %s, [r]; }
            st.global.u32 [%log+36], %s;";
        let narrow = kernel("narrow", "").replace(") {", ") .maxntid 32 {");
        let outer = kernel("outer", &format!("add.u64 %at, %log, 128; {body}"));
        let module = module(&cuda, &[narrow, outer]);
        let out = cuda.upload(&[99u32; 32].map(|n| n).into_iter().chain([0; 8]).collect::<Vec<_>>());
        assert_eq!(cuda.launch(cuda.function(module, "outer"), 1, 1, 0, &[U64(out), U32(0)]), 0);
        let expected: Vec<u32> = CASES.iter().map(|case| case.4).chain([400, 400, 0]).collect();
        assert_eq!(cuda.download::<u32>(out, 10), expected);
        // One note was written.
        assert_eq!(cuda.download::<u32>(out + 128, 2), [1, 5]);
    });
}

/// `cudaLimitDevRuntimePendingLaunchCount` bounds what is asked for and has not begun.
#[test]
fn pending_launches_are_bounded() {
    everywhere("nested::pending_launches_are_bounded", &[], || {
        let cuda = Cuda::start();
        call!(cuda.cuCtxSetLimit(PENDING, 40));
        let body = "mov.u32 %v, 0;\nAGAIN:\n".to_string()
            + &start("note", "1", "1", NAMED, "%log", "%v")
            + "add.u32 %v, %v, 1; setp.eq.u32 %p, %s, 0; @%p bra AGAIN; st.global.u32 [%log+1024], %s;";
        let module = module(&cuda, &[kernel("outer", &body)]);
        let log = cuda.upload(&[0u32; 257]);
        for round in 1..3 {
            assert_eq!(cuda.launch(cuda.function(module, "outer"), 1, 1, 0, &[U64(log), U32(0)]), 0);
            assert_eq!(cuda.download::<u32>(log, 1), [40 * round]);
            assert_eq!(cuda.download::<u32>(log + 1024, 1), [69]);
        }
    });
}

/// Grids nest 24 levels deep. A kernel may launch itself at its tail as often as it likes.
#[test]
fn launches_nest_and_repeat() {
    everywhere("nested::launches_nest_and_repeat", &[], || {
        let cuda = Cuda::start();
        let down = "add.u32 %n, %n, 1;".to_string()
            + &start("down", "1", "1", NAMED, "%log", "%n")
            + "setp.ne.u32 %p, %s, 0; @%p st.global.u32 [%log], %s; @%p st.global.u32 [%log+4], %n;";
        let again = "red.global.add.u32 [%log+8], 1; setp.eq.u32 %p, %n, 0; @%p ret; sub.u32 %n, %n, 1;"
            .to_string()
            + &start("again", "1", "1", TAIL, "%log", "%n");
        let module = module(&cuda, &[kernel("down", &down), kernel("again", &again)]);
        let out = cuda.upload(&[0u32; 3]);
        assert_eq!(cuda.launch(cuda.function(module, "down"), 1, 1, 0, &[U64(out), U32(0)]), 0);
        assert_eq!(cuda.launch(cuda.function(module, "again"), 1, 1, 0, &[U64(out), U32(1000)]), 0);
        assert_eq!(cuda.download::<u32>(out, 3), [65, 25, 1001]);
    });
}

/// What a thread writes before it launches, the grid sees; copies and fills are ordered with launches.
#[test]
fn copies_and_fills_are_in_order() {
    everywhere("nested::copies_and_fills_are_in_order", &[], || {
        let cuda = Cuda::start();
        let calls = "
.extern .func (.param .b32 r) __cudaCDP2MemcpyAsync(.param .b64 t, .param .b64 f, .param .b64 s, .param .b32 k, .param .b64 q);
.extern .func (.param .b32 r) __cudaCDP2MemsetAsync(.param .b64 t, .param .b32 v, .param .b64 s, .param .b64 q);
.extern .func (.param .b32 r) __cudaCDP2Malloc(.param .b64 at, .param .b64 s);
.extern .func (.param .b32 r) __cudaCDP2Free(.param .b64 at);
";
        let double =
            kernel("double", "ld.global.u32 %v, [%log]; add.u32 %v, %v, %v; st.global.u32 [%log], %v;");
        let body = "st.global.u32 [%log], 21;".to_string()
            + &start("double", "1", "1", NAMED, "%log", "0")
            + "{ .param .b64 t, f, s, q; .param .b32 k, r; add.u64 %at, %log, 4; st.param.b64 [t], %at; st.param.b64 [f], %log;
            st.param.b64 [s], 4; st.param.b32 [k], 3; st.param.b64 [q], 0; call (r), __cudaCDP2MemcpyAsync, (t, f, s, k, q); }"
            + &start("double", "1", "1", NAMED, "%log", "0")
            + "{ .param .b64 t, s, q; .param .b32 v, r; add.u64 %at, %log, 8; st.param.b64 [t], %at; st.param.b32 [v], 3;
            st.param.b64 [s], 2; st.param.b64 [q], 0; call (r), __cudaCDP2MemsetAsync, (t, v, s, q); }
            { .param .b64 a, s; .param .b32 r; add.u64 %at, %log, 16; st.param.b64 [a], %at; st.param.b64 [s], 64;
            call (r), __cudaCDP2Malloc, (a, s); ld.param.b32 %v, [r]; st.global.u32 [%log+12], %v;
            ld.global.u64 %at, [%log+16]; st.u32 [%at+60], 1; st.param.b64 [a], %at;
            call (r), __cudaCDP2Free, (a); ld.param.b32 %v, [r]; st.global.u32 [%log+16], %v;
            call (r), __cudaCDP2Free, (a); ld.param.b32 %v, [r]; st.global.u32 [%log+20], %v; }";
        let text = format!("{HEAD}{calls}{CALLS}{double}{}", kernel("outer", &body));
        let module = cuda.module(&text);
        let out = cuda.upload(&[9u32; 6]);
        assert_eq!(cuda.launch(cuda.function(module, "outer"), 1, 1, 0, &[U64(out), U32(0)]), 0);
        // Freed twice: cudaErrorInvalidDevicePointer.
        assert_eq!(cuda.download::<u32>(out, 6), [84, 42, 0x0303, 0, 0, 17]);
    });
}

/// A fault of a nested grid is the launch's, and names the nested kernel.
#[test]
fn a_fault_of_a_nested_grid_is_the_launchs() {
    let outputs =
        everywhere("nested::a_fault_of_a_nested_grid_is_the_launchs", &[("ANYWARP_LOG", "error")], || {
            let cuda = Cuda::start();
            let wild = kernel("wild", "mov.u64 %at, 64; st.global.u32 [%at], 1;");
            let body =
                start("wild", "1", "1", NAMED, "%log", "0") + &start("note", "1", "1", TAIL, "%log", "0");
            let module = module(&cuda, &[wild, kernel("outer", &body)]);
            let out = cuda.upload(&[0u32; 4]);
            assert_eq!(cuda.launch(cuda.function(module, "outer"), 1, 1, 0, &[U64(out), U32(0)]), 0);
            call!(cuda.cuCtxSynchronize() => status::ILLEGAL_ADDRESS);
        });
    for output in outputs {
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(told.contains("outer") && told.contains("wild"), "{told}");
    }
}

/// Code for the first generation of dynamic parallelism is refused by name.
#[test]
fn the_first_generation_is_refused() {
    isolated("nested::the_first_generation_is_refused", &[], || {
        let cuda = Cuda::start();
        let text = CALLS.replace("__cudaCDP2", "cuda");
        let text = CString::new(format!(
            "{HEAD}{text}{}",
            kernel("outer", &start("note", "1", "1", 0, "%log", "0"))
        ));
        let text = text.expect("no NUL");
        let mut log = vec![0u8; 4096];
        let mut options = [5, 6];
        let mut values: [*mut c_void; 2] =
            [log.as_mut_ptr().cast(), std::ptr::without_provenance_mut(log.len())];
        let mut module = 0;
        call!(cuda.cuModuleLoadDataEx(
            &mut module, text.as_ptr().cast(), 2, options.as_mut_ptr(), values.as_mut_ptr(),
        ) => 218);
        let told = String::from_utf8_lossy(&log);
        assert!(told.contains("'cudaLaunchDeviceV2'") && told.contains("first generation"), "{told}");
    });
}

/// A chain of tail launches, and a tree of launches, take their time together from the launch of the host.
#[test]
fn the_watchdog_counts_what_kernels_launch() {
    let limit = [("ANYWARP_WATCHDOG", "0.3")];
    everywhere("nested::the_watchdog_counts_what_kernels_launch", &limit, || {
        let cuda = Cuda::start();
        let own = |stream| start("again", "1", "1", stream, "%log", "%n");
        for body in [own(TAIL), own(NAMED).repeat(2)] {
            let declared = ".visible .entry again(.param .u64 log, .param .u32 number);\n".to_owned();
            let module = module(&cuda, &[declared, kernel("again", &body)]);
            let log = cuda.upload(&[0u32]);
            assert_eq!(cuda.launch(cuda.function(module, "again"), 1, 1, 0, &[U64(log), U32(0)]), 0);
            call!(cuda.cuCtxSynchronize() => status::LAUNCH_TIMEOUT);
            call!(cuda.cuDevicePrimaryCtxReset_v2(0));
            cuda.primary();
        }
    });
}
