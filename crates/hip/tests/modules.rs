//! Modules, launches and registration, valid and invalid, through the front of HIP 6. The codes are those of
//! clr 6.3.

mod libraries;
mod library;
mod refused;
mod rules;
mod several;
#[allow(dead_code, reason = "each test that includes these files uses part of them")]
mod support;
mod textures;

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use support::*;

/// `fill` writes `a * 1000 + b` and its global thread number to `out`; `bounded` allows blocks of at most 64.
const PTX: &str = r#"
.version 7.0
.target sm_70
.address_size 64
.visible .global .align 4 .u32 out[1024];
.visible .global .align 4 .u32 word = 7;
.visible .entry fill(.param .u32 a, .param .u64 b)
{
    .reg .u32 %r<8>;
    .reg .u64 %d<4>;
    ld.param.u32 %r1, [a];
    ld.param.u64 %d1, [b];
    cvt.u32.u64 %r2, %d1;
    mad.lo.u32 %r3, %r1, 1000, %r2;
    mov.u32 %r4, %ctaid.x;
    mov.u32 %r5, %ntid.x;
    mov.u32 %r6, %tid.x;
    mad.lo.u32 %r4, %r4, %r5, %r6;
    add.u32 %r3, %r3, %r4;
    mul.wide.u32 %d2, %r4, 4;
    mov.u64 %d3, out;
    add.u64 %d3, %d3, %d2;
    st.global.u32 [%d3], %r3;
    ret;
}
.visible .entry bounded() .maxntid 64, 1, 1 { ret; }
.visible .entry nothing() { ret; }
.visible .entry read_word()
{
    .reg .u32 %r1;
    ld.global.u32 %r1, [word];
    st.global.u32 [out], %r1;
    ret;
}
"#;

const INVALID_VALUE: u32 = 1;
const INVALID_CONFIGURATION: u32 = 9;
const INVALID_SYMBOL: u32 = 13;
const INVALID_DIRECTION: u32 = 21;
const INVALID_DEVICE_FUNCTION: u32 = 98;
const INVALID_DEVICE: u32 = 101;
const INVALID_IMAGE: u32 = 200;
const INVALID_CONTEXT: u32 = 201;
const NO_BINARY: u32 = 209;
const IN_USE: u32 = 216;
const INVALID_KERNEL_FILE: u32 = 218;
const FILE_NOT_FOUND: u32 = 301;
const INVALID_HANDLE: u32 = 400;
const NOT_FOUND: u32 = 500;
const DESTROYED: u32 = 709;
const LAUNCH_FAILURE: u32 = 719;
const TOO_LARGE: u32 = 720;
const NOWHERE: P = 0x1234_5670;

/// For every way to load machine code, one line by default names its target.
#[test]
fn machine_code_is_told() {
    let Some(told) = told_by_process("machine_code_is_told", &[("ANYWARP_LOG", "error")]) else {
        let hip = hip();
        let mut module = 0;
        let mut amd = amd();
        // For gfx801, in version 4.
        (amd[7], amd[8], amd[48]) = (64, 2, 0x28);
        let of_amd = bundle(&[("hip-amdgcn-amd-amdhsa--gfx1030", &amd)]);
        for bytes in [fatbin(2, 61, b"code"), bundle(&[("nv", &fatbin(2, 62, b"code"))]), amd.clone(), of_amd]
        {
            assert_eq!((hip.hipModuleLoadData)(&mut module, bytes.as_ptr().cast()), NO_BINARY);
        }
        return;
    };
    let lines: Vec<&str> = told.lines().filter(|l| l.starts_with("anywarp:")).collect();
    assert_eq!(lines.len(), 4, "{told}");
    for (line, inside) in lines.iter().zip(["sm_61", "sm_62", "gfx801", "gfx1030"]) {
        assert!(line.contains(inside), "{line}");
    }
}

/// HIP's option numbers equal CUDA's only up to 24.
#[test]
fn options_of_the_jit_are_hips() {
    let hip = hip();
    let ptx = c(PTX);
    for (option, code) in [
        (7, 0),
        (16, 0),
        (24, 0),
        (25, 0),
        (26, 0),
        (27, 0),
        (28, 0),
        (10_000, 0),
        (10_001, 0),
        (99, INVALID_VALUE),
    ] {
        let (mut module, mut options, mut values) = (0, [option], [0]);
        let got = (hip.hipModuleLoadDataEx)(
            &mut module,
            ptx.as_ptr().cast(),
            1,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
        );
        assert_eq!(got, code, "{option}");
    }
}

#[test]
fn what_is_code_loads_and_what_is_not_is_told_apart() {
    let hip = hip();
    let mut module = 0;
    let amd = amd();
    let ptx = c(PTX).into_bytes_with_nul();
    let host: &[u8] = &[];
    let cases: &[(&str, Vec<u8>, u32)] = &[
        ("PTX", ptx.clone(), 0),
        ("a bundle", bundle(&[("host-x86_64-unknown-linux-gnu-", host), ("hip-ptx", &ptx)]), 0),
        (
            "a bundle in which PTX comes second",
            bundle(&[("hip-amdgcn-amd-amdhsa--gfx906", &amd), ("p", &ptx)]),
            0,
        ),
        ("a bundle for AMD only", bundle(&[("hip-amdgcn-amd-amdhsa--gfx906", &amd)]), NO_BINARY),
        ("an empty bundle", bundle(&[]), NO_BINARY),
        (
            "a bundle of too many",
            b"__CLANG_OFFLOAD_BUNDLE__\xff\xff\xff\xff\xff\xff\xff\xff".to_vec(),
            INVALID_IMAGE,
        ),
        ("an AMD code object", amd.clone(), NO_BINARY),
        ("a fat binary of NVIDIA's", fatbin(1, 52, &ptx), 0),
        ("one for a later architecture", fatbin(1, 999, &ptx), NO_BINARY),
        ("one of machine code only", fatbin(2, 52, b"\x7fELF, sm_52"), NO_BINARY),
        ("a bundle with one of NVIDIA's", bundle(&[("hip-nvptx64", &fatbin(1, 52, &ptx))]), 0),
        ("garbage", b"garbage, and no more\0".to_vec(), INVALID_IMAGE),
        (
            "wrong PTX",
            b".version 7.0\n.target sm_70\n.address_size 64\n.entry k() { bad; }\0".to_vec(),
            INVALID_KERNEL_FILE,
        ),
    ];
    for (what, bytes, code) in cases {
        assert_eq!((hip.hipModuleLoadData)(&mut module, bytes.as_ptr().cast()), *code, "{what}");
        assert_eq!(
            (hip.hipModuleLoadFatBinary)(&mut module, bytes.as_ptr().cast()),
            *code,
            "{what} as a fat binary"
        );
        let folder = std::env::temp_dir().join(format!("anywarp-hip-modules-{}", std::process::id()));
        std::fs::write(&folder, bytes).expect("a file");
        let name = c(folder.to_str().expect("text"));
        assert_eq!((hip.hipModuleLoad)(&mut module, name.as_ptr()), *code, "{what} in a file");
        std::fs::remove_file(folder).expect("the file");
    }
    let folder = std::env::temp_dir().join(format!("anywarp-hip-empty-{}", std::process::id()));
    std::fs::write(&folder, b"").expect("a file");
    assert_eq!((hip.hipModuleLoad)(&mut module, c(folder.to_str().expect("text")).as_ptr()), INVALID_VALUE);
    std::fs::remove_file(folder).expect("the file");
    assert_eq!((hip.hipModuleLoad)(&mut module, c("/nowhere/at.all").as_ptr()), FILE_NOT_FOUND);
    assert_eq!((hip.hipModuleLoad)(null_mut(), c("/nowhere/at.all").as_ptr()), INVALID_VALUE);
    assert_eq!((hip.hipModuleLoadData)(&mut module, null()), INVALID_VALUE);
    assert_eq!((hip.hipModuleLoadData)(null_mut(), ptx.as_ptr().cast()), INVALID_VALUE);
    assert_eq!((hip.hipModuleLoadDataEx)(&mut module, null(), 0, null_mut(), null_mut()), INVALID_VALUE);
    assert_eq!((hip.hipGetLastError)(), INVALID_VALUE);
    assert_eq!((hip.hipGetLastError)(), 0);
}

#[test]
fn the_jits_options_count_for_ptx() {
    let hip = hip();
    let (mut module, mut log) = (0, [0u8; 512]);
    // hipJitOptionErrorLogBuffer, …SizeBytes.
    let (mut options, mut values) = ([5, 6], [log.as_mut_ptr() as P, log.len() as P]);
    let text = c(".version 7.0\n.target sm_70\n.address_size 64\n.entry k()\n{ bad.u32 1; }\n");
    let code = (hip.hipModuleLoadDataEx)(
        &mut module,
        text.as_ptr().cast(),
        2,
        options.as_mut_ptr(),
        values.as_mut_ptr(),
    );
    assert_eq!(code, INVALID_KERNEL_FILE);
    let told = String::from_utf8_lossy(&log);
    assert!(told.contains("line 5") && told.contains("bad"), "{told}");
}

#[test]
fn modules_answer_as_hip_does() {
    let hip = hip();
    let module = module(&hip, PTX);
    let (mut p, mut n, mut v) = (0u64, 0usize, 0i32);
    let (fill, none, empty) = (c("fill"), c("none"), c(""));
    let dead = self::module(&hip, PTX);
    assert_eq!((hip.hipModuleUnload)(dead), 0);
    let f = function(&hip, module, "fill");
    let rows: &[(&str, u32, u32)] = &[
        ("unload null", (hip.hipModuleUnload)(0), INVALID_HANDLE),
        ("unload dead", (hip.hipModuleUnload)(dead), NOT_FOUND),
        ("unload foreign", (hip.hipModuleUnload)(NOWHERE), NOT_FOUND),
        ("function to null", (hip.hipModuleGetFunction)(null_mut(), module, fill.as_ptr()), INVALID_VALUE),
        ("function null name", (hip.hipModuleGetFunction)(&mut p, module, null()), INVALID_VALUE),
        ("function empty name", (hip.hipModuleGetFunction)(&mut p, module, empty.as_ptr()), INVALID_VALUE),
        ("function null module", (hip.hipModuleGetFunction)(&mut p, 0, fill.as_ptr()), INVALID_HANDLE),
        ("function name first", (hip.hipModuleGetFunction)(&mut p, 0, null()), INVALID_VALUE),
        ("function missing", (hip.hipModuleGetFunction)(&mut p, module, none.as_ptr()), NOT_FOUND),
        ("function dead module", (hip.hipModuleGetFunction)(&mut p, dead, fill.as_ptr()), NOT_FOUND),
        (
            "global both null",
            (hip.hipModuleGetGlobal)(null_mut(), null_mut(), module, fill.as_ptr()),
            INVALID_VALUE,
        ),
        ("global null name", (hip.hipModuleGetGlobal)(&mut p, &mut n, module, null()), INVALID_VALUE),
        (
            "global empty name",
            (hip.hipModuleGetGlobal)(&mut p, &mut n, module, empty.as_ptr()),
            INVALID_VALUE,
        ),
        ("global null module", (hip.hipModuleGetGlobal)(&mut p, &mut n, 0, fill.as_ptr()), INVALID_HANDLE),
        ("global missing", (hip.hipModuleGetGlobal)(&mut p, &mut n, module, none.as_ptr()), NOT_FOUND),
        ("global address alone", (hip.hipModuleGetGlobal)(&mut p, null_mut(), module, c("word").as_ptr()), 0),
        ("global size alone", (hip.hipModuleGetGlobal)(null_mut(), &mut n, module, c("word").as_ptr()), 0),
        ("attribute to null", (hip.hipFuncGetAttribute)(null_mut(), 0, f), INVALID_VALUE),
        ("attribute of null", (hip.hipFuncGetAttribute)(&mut v, 0, 0), INVALID_HANDLE),
        ("attribute unknown", (hip.hipFuncGetAttribute)(&mut v, 99, f), INVALID_VALUE),
        ("attribute", (hip.hipFuncGetAttribute)(&mut v, 0, f), 0),
        ("symbol unknown", (hip.hipGetFuncBySymbol)(&mut p, NOWHERE), INVALID_DEVICE_FUNCTION),
    ];
    check(rows);
    assert_eq!((n, v), (4, 1024));
    // Bytes of shared memory, of constants, of local memory; the device's version, twice; 99 KiB for blocks
    // that opt in.
    for (attribute, wanted) in [(1, 0), (2, 0), (3, 0), (5, 86), (6, 86), (8, 101_376)] {
        assert_eq!((hip.hipFuncGetAttribute)(&mut v, attribute, f), 0, "attribute {attribute}");
        assert_eq!(v, wanted, "attribute {attribute}");
    }
}

#[test]
fn launches_are_checked_in_hips_order() {
    let hip = hip();
    let module = module(&hip, PTX);
    let (fill, bounded, nothing) = (
        function(&hip, module, "fill"),
        function(&hip, module, "bounded"),
        function(&hip, module, "nothing"),
    );
    let (a, b) = (1u32, 2u64);
    let params = [&raw const a as P, &raw const b as P];
    let (ok, none) = (params.as_ptr(), NONE);
    let size = 16usize;
    let buffer = [0u8; 16];
    let whole = [1, buffer.as_ptr() as P, 2, &raw const size as P, 3];
    let swapped = [2, &raw const size as P, 1, buffer.as_ptr() as P, 3];
    let endless = [1, buffer.as_ptr() as P, 2, &raw const size as P, 0];
    let run = |f, g: [u32; 3], b: [u32; 3], shared, stream, p, e| {
        (hip.hipModuleLaunchKernel)(f, g[0], g[1], g[2], b[0], b[1], b[2], shared, stream, p, e)
    };
    let one = [1, 1, 1];
    let big = i32::MAX as u32;
    let rows: &[(&str, u32, u32)] = &[
        ("right", run(fill, one, [32, 1, 1], 0, 0, ok, none), 0),
        ("a buffer", run(fill, one, [32, 1, 1], 0, 0, none, whole.as_ptr()), 0),
        ("a wrong stream before all", run(0, [0, 0, 0], one, 0, NOWHERE, none, none), INVALID_VALUE),
        ("a grid too long in x", run(fill, [big + 1, 1, 1], one, 0, 0, ok, none), INVALID_VALUE),
        ("a grid too long in y", run(fill, [1, 65537, 1], one, 0, 0, ok, none), INVALID_VALUE),
        ("a grid too long in z", run(fill, [1, 1, 65537], one, 0, 0, ok, none), INVALID_VALUE),
        ("more than 2^32 items", run(fill, [big, 1, 1], [1024, 1, 1], 0, 0, ok, none), INVALID_CONFIGURATION),
        (
            "items before the function",
            run(0, [big, 1, 1], [1024, 1, 1], 0, 0, ok, none),
            INVALID_CONFIGURATION,
        ),
        ("no function", run(0, one, one, 0, 0, ok, none), INVALID_HANDLE),
        ("a dead function", run(NOWHERE, one, one, 0, 0, ok, none), INVALID_HANDLE),
        ("both kinds of arguments", run(fill, one, one, 0, 0, ok, whole.as_ptr()), INVALID_VALUE),
        ("no grid", run(fill, [0, 1, 1], one, 0, 0, ok, none), INVALID_VALUE),
        ("no block", run(fill, one, [0, 1, 1], 0, 0, ok, none), INVALID_CONFIGURATION),
        ("too much shared memory", run(fill, one, one, 1 << 20, 0, ok, none), INVALID_VALUE),
        ("a block too large", run(fill, one, [1025, 1, 1], 0, 0, ok, none), INVALID_VALUE),
        ("arguments left out", run(fill, one, one, 0, 0, none, none), INVALID_VALUE),
        ("no arguments needed", run(nothing, one, one, 0, 0, none, none), 0),
        ("more than its bounds", run(bounded, one, [65, 1, 1], 0, 0, none, none), LAUNCH_FAILURE),
        ("its bounds", run(bounded, one, [64, 1, 1], 0, 0, none, none), 0),
        ("keys in another order", run(fill, one, one, 0, 0, none, swapped.as_ptr()), INVALID_VALUE),
        ("another end", run(fill, one, one, 0, 0, none, endless.as_ptr()), INVALID_VALUE),
    ];
    check(rows);
    let ext_in_5 =
        hip._Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j;
    let hcc_in_5 =
        hip._Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_;
    let ext = |f, work: u32, block: u32, stream| {
        (hip.hipExtModuleLaunchKernel)(f, work, 1, 1, block, 1, 1, 0, stream, ok, none, 0, 0, 0)
    };
    let rows: &[(&str, u32, u32)] = &[
        ("items", ext(fill, 96, 32, 0), 0),
        ("fewer items than a block", ext(fill, 40, 64, 0), 0),
        ("a last block that is not whole", ext(fill, 100, 64, 0), INVALID_VALUE),
        ("no items", ext(fill, 0, 64, 0), INVALID_VALUE),
        ("no block", ext(fill, 64, 0, 0), INVALID_CONFIGURATION),
        ("no function", ext(0, 64, 64, 0), INVALID_HANDLE),
        ("a wrong stream", ext(0, 64, 64, NOWHERE), INVALID_VALUE),
        (
            "a wrong event",
            (hip.hipExtModuleLaunchKernel)(fill, 32, 1, 1, 32, 1, 1, 0, 0, ok, none, NOWHERE, 0, 0),
            INVALID_HANDLE,
        ),
        ("of old", (hip.hipHccModuleLaunchKernel)(fill, 64, 1, 1, 32, 1, 1, 0, 0, ok, none, 0, 0), 0),
        ("by HIP 5's name", ext_in_5(fill, 96, 1, 1, 32, 1, 1, 0, 0, ok, none, 0, 0, 0), 0),
        ("wrong by HIP 5's name", ext_in_5(0, 96, 1, 1, 32, 1, 1, 0, 0, ok, none, 0, 0, 0), INVALID_HANDLE),
        ("of old by HIP 5's name", hcc_in_5(fill, 64, 1, 1, 32, 1, 1, 0, 0, ok, none, 0, 0), 0),
    ];
    check(rows);
    let coop = |f, grid: u32, block: u32, stream| {
        (hip.hipModuleLaunchCooperativeKernel)(f, grid, 1, 1, block, 1, 1, 0, stream, ok)
    };
    let rows: &[(&str, u32, u32)] = &[
        ("cooperative", coop(fill, 1, 32, 0), 0),
        ("cooperative, a wrong stream", coop(fill, 1, 32, NOWHERE), INVALID_VALUE),
        ("cooperative, too many items", coop(fill, u32::MAX, 32, 0), INVALID_CONFIGURATION),
        ("cooperative, too many blocks", coop(fill, 1 << 20, 32, 0), TOO_LARGE),
    ];
    check(rows);
    let stub = |f, block: u32, shared, stream| {
        (hip.hipLaunchCooperativeKernel)(f, d(1), d(block), none, shared, stream)
    };
    assert_eq!(stub(0, 32, 0, NOWHERE), DESTROYED);
    assert_eq!(stub(0, 32, 0, 0), INVALID_DEVICE_FUNCTION);
    assert_eq!(stub(NOWHERE, 32, 0, 0), INVALID_DEVICE_FUNCTION);
    assert_eq!((hip.hipCtxSynchronize)(), 0);
}

#[test]
fn every_way_to_launch_computes_the_same() {
    let (hip, cuda) = (hip(), cuda());
    let module = module(&hip, PTX);
    // The handles are also CUDA's.
    let (fill, mut same, mut name) = (function(&hip, module, "fill"), 0, null());
    assert_eq!((cuda.cuModuleGetFunction)(&mut same, module, c("fill").as_ptr()), 0);
    assert_eq!(same, fill);
    assert_eq!((cuda.cuFuncGetName)(&mut name, fill), 0);
    assert!(!name.is_null());
    let (mut start, mut stop) = (0, 0);
    assert_eq!((cuda.cuEventCreate)(&mut start, 0), 0);
    assert_eq!((cuda.cuEventCreate)(&mut stop, 0), 0);
    let sums = |base: u32, what: &str| {
        assert_eq!((hip.hipCtxSynchronize)(), 0);
        let wanted: Vec<u32> = (0..96).map(|i| base + i).collect();
        assert_eq!(words(&hip, &cuda, module, "out", 96), wanted, "{what}");
    };
    for (n, b) in [(1u32, 100u64), (2, 200)] {
        let params = [&raw const n as P, &raw const b as P];
        let base = n * 1000 + b as u32;
        assert_eq!((hip.hipModuleLaunchKernel)(fill, 3, 1, 1, 32, 1, 1, 0, 0, params.as_ptr(), NONE), 0);
        sums(base, "hipModuleLaunchKernel");
        let (m, b) = (n + 10, b + 1);
        let mut buffer = [0u8; 16];
        buffer[..4].copy_from_slice(&m.to_ne_bytes());
        buffer[8..].copy_from_slice(&b.to_ne_bytes());
        // HIP ignores the size.
        let size = 0usize;
        let extra = [1, buffer.as_ptr() as P, 2, &raw const size as P, 3];
        assert_eq!((hip.hipModuleLaunchKernel)(fill, 3, 1, 1, 32, 1, 1, 0, 0, NONE, extra.as_ptr()), 0);
        sums(m * 1000 + b as u32, "extra");
        let code = (hip.hipExtModuleLaunchKernel)(
            fill,
            96,
            1,
            1,
            32,
            1,
            1,
            0,
            0,
            params.as_ptr(),
            NONE,
            start,
            stop,
            1,
        );
        assert_eq!(code, 0);
        sums(base, "hipExtModuleLaunchKernel");
        let mut time = -1.0;
        assert_eq!((cuda.cuEventElapsedTime)(&mut time, start, stop), 0);
        assert!(time >= 0.0, "{time}");
    }
}

#[test]
fn the_context_stack_is_hips() {
    let (hip, cuda) = (hip(), cuda());
    // A new thread, whose context stack is empty.
    std::thread::spawn(move || {
        let (mut context, mut same, mut other, mut device) = (0, 0, 0, -1);
        assert_eq!((hip.hipCtxPopCurrent)(&mut context), INVALID_CONTEXT);
        assert_eq!((hip.hipCtxPushCurrent)(0), INVALID_CONTEXT);
        assert_eq!((hip.hipCtxDestroy)(0), INVALID_VALUE);
        assert_eq!((hip.hipCtxCreate)(&mut context, 0, 99), INVALID_VALUE);
        assert_eq!((hip.hipCtxGetCurrent)(&mut context), 0);
        assert_ne!(context, 0, "the primary context was put on the empty stack");
        assert_eq!((cuda.cuCtxGetCurrent)(&mut same), 0);
        assert_eq!(same, context);
        assert_eq!((hip.hipCtxGetDevice)(&mut device), 0);
        assert_eq!(device, 0);
        assert_eq!((hip.hipCtxCreate)(&mut other, 0, 0), 0);
        assert_eq!(other, context, "one context a device");
        assert_eq!((hip.hipCtxPopCurrent)(&mut same), 0);
        assert_eq!((hip.hipCtxPushCurrent)(other), 0);
        assert_eq!((hip.hipCtxSetCurrent)(0), 0);
        assert_eq!((hip.hipDevicePrimaryCtxRetain)(&mut same, 99), INVALID_DEVICE);
        assert_eq!((hip.hipDevicePrimaryCtxRetain)(null_mut(), 0), INVALID_VALUE);
        assert_eq!((hip.hipDevicePrimaryCtxRetain)(&mut same, 0), 0);
        assert_eq!(same, context);
        let (mut flags, mut active) = (9, 0);
        assert_eq!((hip.hipDevicePrimaryCtxGetState)(0, &mut flags, &mut active), 0);
        assert_eq!(active, 1);
        assert_eq!((hip.hipDevicePrimaryCtxGetState)(-1, &mut flags, &mut active), INVALID_DEVICE);
        assert_eq!((hip.hipDevicePrimaryCtxRelease)(99), INVALID_DEVICE);
        assert_eq!((hip.hipDevicePrimaryCtxReset)(0), 0);
        assert_eq!((hip.hipDevicePrimaryCtxReset)(99), INVALID_DEVICE);
        assert_eq!((hip.hipDevicePrimaryCtxSetFlags)(0, 0), IN_USE);
        assert_eq!((hip.hipDevicePrimaryCtxSetFlags)(99, 0), INVALID_DEVICE);
    })
    .join()
    .expect("the thread");
}

/// What hip-clang's start-up code would register, and what its stubs would do.
#[test]
fn registered_kernels_and_variables_work() {
    let (hip, cuda) = (hip(), cuda());
    let text = PTX.replace(
        ".visible .entry bounded",
        r#".visible .global .align 8 .u64 managed;
.visible .entry count()
{
    .reg .u32 %r1;
    .reg .u64 %d1;
    ld.global.u64 %d1, [managed];
    ld.u32 %r1, [%d1];
    add.u32 %r1, %r1, 1;
    st.u32 [%d1], %r1;
    ret;
}
.visible .entry bounded"#,
    );
    let code = bundle(&[("host-x86_64-unknown-linux-gnu-", &[]), ("hip-ptx", c(&text).as_bytes_with_nul())]);
    let wrapper =
        Wrapper { magic: 0x4849_5046, version: 1, binary: code.as_ptr().cast::<c_void>(), unused: 0 };
    let wrong = Wrapper { magic: 1, ..Wrapper { binary: code.as_ptr().cast(), ..wrapper } };
    assert_eq!((hip.__hipRegisterFatBinary)(&wrong), 0);
    assert_eq!((hip.__hipRegisterFatBinary)(null()), 0);
    let handle = (hip.__hipRegisterFatBinary)(&wrapper);
    assert_ne!(handle, 0);
    // Addresses that identify the kernel, the variable, and something that was never registered.
    let (stub, count, shadow, stranger) = (0u8, 0u8, [0u32; 1024], 0u8);
    let (stub, count, stranger) = (&raw const stub as P, &raw const count as P, &raw const stranger as P);
    let shadow = shadow.as_ptr() as P;
    let register = |host, name: &str| {
        (hip.__hipRegisterFunction)(handle, host, c(name).as_ptr(), c(name).as_ptr(), u32::MAX, 0, 0, 0, 0, 0)
    };
    register(stub, "fill");
    register(count, "count");
    (hip.__hipRegisterVar)(handle, shadow, c("out").as_ptr(), c("out").as_ptr(), 0, 4096, 0, 0);
    let (mut managed, first) = (0 as P, 41u32);
    (hip.__hipRegisterManagedVar)(
        handle,
        &mut managed,
        (&raw const first).cast(),
        c("managed").as_ptr(),
        4,
        4,
    );
    assert_ne!(managed, 0);

    let mut out = [0u32; 96];
    let sums = |out: &mut [u32; 96], base: u32| {
        assert_eq!((hip.hipMemcpyFromSymbol)(out.as_mut_ptr().cast(), shadow, 384, 0, 2), 0);
        let wanted: Vec<u32> = (0..96).map(|i| base + i).collect();
        assert_eq!(out.as_slice(), wanted);
    };
    // The current interface: push, pop, launch with pointers.
    let (a, b) = (3u32, 5u64);
    let params = [&raw const a as P, &raw const b as P];
    assert_eq!((hip.__hipPushCallConfiguration)(d(3), d(32), 0, 0), 0);
    let (mut grid, mut block, mut shared, mut stream) = (d(0), d(0), 9, 9);
    assert_eq!((hip.__hipPopCallConfiguration)(&mut grid, &mut block, &mut shared, &mut stream), 0);
    assert_eq!((grid.0, block.0, shared, stream), (3, 32, 0, 0));
    assert_eq!((hip.hipLaunchKernel)(stub, grid, block, params.as_ptr(), shared, stream), 0);
    sums(&mut out, 3005);
    // HIP 5's internal interface.
    let (a, b) = (7u32, 8u64);
    let params = [&raw const a as P, &raw const b as P];
    let inner = hip._ZN8hip_impl22hipLaunchKernelGGLImplEmRK4dim3S2_jP12ihipStream_tPPv;
    inner(stub, &d(3), &d(32), 0, 0, params.as_ptr());
    assert_eq!((hip.hipGetLastError)(), 0);
    sums(&mut out, 7008);
    inner(stranger, &d(3), &d(32), 0, 0, params.as_ptr());
    assert_eq!((hip.hipGetLastError)(), INVALID_DEVICE_FUNCTION);
    // The old interface: arguments one by one.
    let (a, b) = (4u32, 6u64);
    assert_eq!((hip.hipConfigureCall)(d(3), d(32), 0, 0), 0);
    assert_eq!((hip.hipSetupArgument)((&raw const a).cast(), 4, 0), 0);
    assert_eq!((hip.hipSetupArgument)((&raw const b).cast(), 8, 8), 0);
    assert_eq!((hip.hipLaunchByPtr)(stub), 0);
    sums(&mut out, 4006);
    assert_eq!((hip.hipConfigureCall)(d(1), d(1), 0, 0), 0);
    assert_eq!((hip.hipLaunchByPtr)(stranger), INVALID_DEVICE_FUNCTION);
    assert_eq!((hip.hipLaunchKernel)(stranger, d(1), d(1), NONE, 0, 0), INVALID_DEVICE_FUNCTION);
    // A managed variable is the same memory for the host and for kernels.
    assert_eq!((hip.hipLaunchKernel)(count, d(1), d(1), NONE, 0, 0), 0);
    assert_eq!((hip.hipCtxSynchronize)(), 0);
    // SAFETY: managed memory of four bytes, while nothing runs.
    assert_eq!(unsafe { *(managed as *const u32) }, 42);

    let (mut address, mut size, mut blocks, mut function, mut name) = (0, 0, 0, 0, null());
    assert_eq!((hip.hipGetSymbolAddress)(&mut address, shadow), 0);
    assert_eq!((hip.hipGetSymbolSize)(&mut size, shadow), 0);
    assert_eq!(size, 4096);
    let word = 77u32;
    assert_eq!((hip.hipMemcpyToSymbol)(shadow, (&raw const word).cast(), 4, 8, 1), 0);
    assert_eq!((cuda.cuMemcpyDtoH_v2)(out.as_mut_ptr().cast(), address, 12), 0);
    assert_eq!(out[2], 77);
    let rows: &[(&str, u32, u32)] = &[
        (
            "beyond its end",
            (hip.hipMemcpyToSymbol)(shadow, (&raw const word).cast(), 4, 4093, 1),
            INVALID_VALUE,
        ),
        (
            "the wrong way",
            (hip.hipMemcpyToSymbol)(shadow, (&raw const word).cast(), 4, 0, 2),
            INVALID_DIRECTION,
        ),
        ("an unknown symbol", (hip.hipGetSymbolAddress)(&mut address, stranger), INVALID_SYMBOL),
        ("to null", (hip.hipGetSymbolAddress)(null_mut(), shadow), INVALID_VALUE),
        ("occupancy", (hip.hipOccupancyMaxActiveBlocksPerMultiprocessor)(&mut blocks, stub, 128, 0), 0),
        (
            "occupancy of none",
            (hip.hipOccupancyMaxActiveBlocksPerMultiprocessor)(&mut blocks, stranger, 128, 0),
            INVALID_DEVICE_FUNCTION,
        ),
        ("cooperative", (hip.hipLaunchCooperativeKernel)(stub, d(1), d(32), params.as_ptr(), 0, 0), 0),
        (
            "cooperative, too many items",
            (hip.hipLaunchCooperativeKernel)(stub, d(u32::MAX), d(32), params.as_ptr(), 0, 0),
            INVALID_CONFIGURATION,
        ),
        (
            "cooperative, a block too large",
            (hip.hipLaunchCooperativeKernel)(stub, d(1), d(1025), params.as_ptr(), 0, 0),
            INVALID_CONFIGURATION,
        ),
        (
            "cooperative, too much shared memory",
            (hip.hipLaunchCooperativeKernel)(stub, d(1), d(32), params.as_ptr(), 1 << 20, 0),
            TOO_LARGE,
        ),
        (
            "cooperative, too many blocks",
            (hip.hipLaunchCooperativeKernel)(stub, d(1 << 20), d(32), params.as_ptr(), 0, 0),
            TOO_LARGE,
        ),
        (
            "a grid too large",
            (hip.hipLaunchKernel)(stub, d(u32::MAX), d(1024), params.as_ptr(), 0, 0),
            INVALID_CONFIGURATION,
        ),
        ("a function by its symbol", (hip.hipGetFuncBySymbol)(&mut function, stub), 0),
        ("and its name", (cuda.cuFuncGetName)(&mut name, function), 0),
    ];
    check(rows);
    let (mut grid, mut block) = (0, 0);
    assert_eq!((hip.hipModuleOccupancyMaxPotentialBlockSize)(&mut grid, &mut block, function, 0, 0), 0);
    assert!(grid > 0 && (32..=1024).contains(&block), "{grid} blocks of {block}");
    (hip.__hipUnregisterFatBinary)(handle);
    assert_eq!((hip.hipLaunchKernel)(stub, d(1), d(1), params.as_ptr(), 0, 0), INVALID_DEVICE_FUNCTION);
}

#[test]
fn what_was_registered_without_code_for_this_device_says_so() {
    let hip = hip();
    let bytes = c("fill");
    for (code, wanted) in [
        (bundle(&[("hip-amdgcn-amd-amdhsa--gfx906", &amd())]), NO_BINARY),
        (amd(), NO_BINARY),
        (b"no code at all\0".to_vec(), INVALID_DEVICE_FUNCTION),
        (
            bundle(&[("hip-ptx", c(PTX.replace("fill", "other").as_str()).as_bytes_with_nul())]),
            INVALID_DEVICE_FUNCTION,
        ),
    ] {
        let wrapper = Wrapper { magic: 0x4849_5046, version: 1, binary: code.as_ptr().cast(), unused: 0 };
        let handle = (hip.__hipRegisterFatBinary)(&wrapper);
        assert_ne!(handle, 0, "code is looked at when it is used");
        let (stub, shadow, mut p) = (0u8, 0u32, 0);
        let (stub, shadow) = (&raw const stub as P, &raw const shadow as P);
        (hip.__hipRegisterFunction)(handle, stub, bytes.as_ptr(), bytes.as_ptr(), 0, 0, 0, 0, 0, 0);
        (hip.__hipRegisterVar)(handle, shadow, c("out").as_ptr(), c("out").as_ptr(), 0, 4, 0, 0);
        let one = StubLaunch { stub, grid: d(1), block: d(1), params: NONE, shared: 0, stream: 0 };
        check(&[
            ("launch", (hip.hipLaunchKernel)(stub, d(1), d(1), NONE, 0, 0), wanted),
            ("again", (hip.hipLaunchKernel)(stub, d(1), d(1), NONE, 0, 0), wanted),
            ("its code is the last error", (hip.hipGetLastError)(), wanted),
            ("configured", (hip.hipConfigureCall)(d(1), d(1), 0, 0), 0),
            ("launch of old", (hip.hipLaunchByPtr)(stub), INVALID_DEVICE_FUNCTION),
            ("cooperative", (hip.hipLaunchCooperativeKernel)(stub, d(1), d(1), NONE, 0, 0), wanted),
            ("several", (hip.hipExtLaunchMultiKernelMultiDevice)(&one, 1, 0), wanted),
            ("symbol", (hip.hipGetFuncBySymbol)(&mut p, stub), INVALID_DEVICE_FUNCTION),
        ]);
        (hip.__hipUnregisterFatBinary)(handle);
    }
}

/// The test before launches it many times.
#[test]
fn a_kernel_that_is_missing_in_its_code_is_reported_once() {
    let mut own = std::process::Command::new(std::env::current_exe().expect("the test's own path"));
    own.args(["--exact", "what_was_registered_without_code_for_this_device_says_so", "--nocapture"]);
    let done = own.output().expect("the test's own process");
    let told = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{told}");
    assert_eq!(told.matches("kernel fill is not in the code registered for it").count(), 1, "{told}");
}

#[test]
fn functions_are_found_by_name() {
    let hip = hip();
    let at = |name: &str, version, flags| {
        let (mut p, mut status) = (0, 9);
        let code = (hip.hipGetProcAddress)(c(name).as_ptr(), &mut p, version, flags, &mut status);
        (code, p, status)
    };
    let (code, plain, status) = at("hipLaunchKernel", 600, 0);
    assert!(code == 0 && plain != 0 && status == 0);
    let (code, own, _) = at("hipLaunchKernel", 600, 2);
    assert!(code == 0 && own != plain, "the per-thread twin");
    assert_eq!(at("hipNoSuchThing", 600, 0), (NOT_FOUND, 0, 1));
    assert_ne!(at("hipGetDeviceProperties", 502, 0).1, at("hipGetDeviceProperties", 600, 0).1);
}

#[test]
fn two_texts_link_to_a_module() {
    const PTX_INPUT: u32 = 1;
    const INVALID_INPUT: u32 = 3;
    const PROGRAM_CREATION_FAILURE: u32 = 2;
    const LINKING: u32 = 100;
    let (hip, cuda) = (hip(), cuda());
    let head = ".version 7.0\n.target sm_70\n.address_size 64\n";
    let uses = format!(
        "{head}.extern .func (.param .b32 r) give ();\n.visible .global .u32 out;\n.visible .entry k() {{ .reg .u32 %r<2>; \
         .param .b32 p; call (p), give, (); ld.param.b32 %r1, [p]; st.global.u32 [out], %r1; ret; }}"
    );
    let has = format!("{head}.visible .func (.param .b32 r) give () {{ st.param.b32 [r], 77; ret; }}");
    let (mut link, mut image, mut size) = (0, 0, 0);
    let add = |link, text: &str| {
        let text = c(text).into_bytes_with_nul();
        let kind = PTX_INPUT;
        (hip.hiprtcLinkAddData)(
            link,
            kind,
            text.as_ptr().cast(),
            text.len(),
            c("text").as_ptr(),
            0,
            null(),
            null_mut(),
        )
    };
    assert_eq!((hip.hiprtcLinkCreate)(0, null(), null_mut(), null_mut()), INVALID_INPUT);
    assert_eq!((hip.hiprtcLinkCreate)(0, null(), null_mut(), &mut link), 0);
    assert_eq!(add(NOWHERE, &has), INVALID_INPUT);
    assert_eq!(add(link, ".version 7.0\n.target sm_70\n.entry k() { bad; }"), PROGRAM_CREATION_FAILURE);
    assert_eq!(add(link, &uses), 0);
    assert_eq!((hip.hiprtcLinkComplete)(link, &mut image, null_mut()), INVALID_INPUT);
    assert_eq!((hip.hiprtcLinkComplete)(link, &mut image, &mut size), LINKING, "a symbol is missing");
    assert_eq!(add(link, &has), 0);
    assert_eq!((hip.hiprtcLinkComplete)(link, &mut image, &mut size), 0);
    let mut module = 0;
    assert_eq!((hip.hipModuleLoadData)(&mut module, image as *const c_void), 0);
    assert_eq!((hip.hiprtcLinkDestroy)(link), 0);
    assert_eq!((hip.hiprtcLinkDestroy)(link), INVALID_INPUT);
    let k = function(&hip, module, "k");
    assert_eq!((hip.hipModuleLaunchKernel)(k, 1, 1, 1, 1, 1, 1, 0, 0, NONE, NONE), 0);
    assert_eq!((hip.hipCtxSynchronize)(), 0);
    assert_eq!(words(&hip, &cuda, module, "out", 1), [77]);
}
