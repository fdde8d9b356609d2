//! hiprtc compiles programs with the user's clang (`apt-get install clang-19 lld-19`). Tests that need it
//! report when they cannot run; with `ANYWARP_TEST_LONG` set they fail then.

#[allow(dead_code, reason = "each test that includes these files uses part of them")]
mod library;
#[allow(dead_code, reason = "each test that includes these files uses part of them")]
mod support;

use std::ffi::{CStr, CString};
use std::ptr::{null, null_mut};

use hwtruth::sample;
use support::*;

const CLANG: &str = "clang++-19";
const INVALID_INPUT: u32 = 3;
const INVALID_PROGRAM: u32 = 4;
const COMPILATION: u32 = 6;
const NAME_NOT_VALID: u32 = 10;

fn ready() -> bool {
    is_there(CLANG)
}

/// A program that is destroyed at the end.
struct Program<'a> {
    hip: &'a Hip,
    handle: P,
}

fn pointers(texts: &[CString]) -> Vec<*const i8> {
    texts.iter().map(|text| text.as_ptr()).collect()
}

fn texts(list: &[&str]) -> Vec<CString> {
    list.iter().map(|text| c(text)).collect()
}

impl<'a> Program<'a> {
    fn new(hip: &'a Hip, source: &str, headers: &[(&str, &str)]) -> Program<'a> {
        let names = texts(&headers.iter().map(|header| header.0).collect::<Vec<_>>());
        let bodies = texts(&headers.iter().map(|header| header.1).collect::<Vec<_>>());
        let (names, bodies) = (pointers(&names), pointers(&bodies));
        let (source, name, mut handle) = (c(source), c("my \"own\" program.cpp"), 0);
        let count = headers.len() as i32;
        let code = (hip.hiprtcCreateProgram)(
            &mut handle,
            source.as_ptr(),
            name.as_ptr(),
            count,
            bodies.as_ptr(),
            names.as_ptr(),
        );
        assert_eq!(code, 0);
        Program { hip, handle }
    }

    fn compile(&self, options: &[&str]) -> u32 {
        let options = texts(options);
        (self.hip.hiprtcCompileProgram)(self.handle, options.len() as i32, pointers(&options).as_ptr())
    }

    fn add(&self, name: &str) {
        assert_eq!((self.hip.hiprtcAddNameExpression)(self.handle, c(name).as_ptr()), 0);
    }

    fn lowered(&self, name: &str) -> Result<String, u32> {
        let mut text = null();
        match (self.hip.hiprtcGetLoweredName)(self.handle, c(name).as_ptr(), &mut text) {
            // SAFETY: a text that lives as long as the program.
            0 => Ok(unsafe { CStr::from_ptr(text) }.to_str().expect("a name").to_owned()),
            code => Err(code),
        }
    }

    fn bytes(
        &self,
        size: extern "C" fn(P, *mut usize) -> u32,
        get: extern "C" fn(P, *mut u8) -> u32,
    ) -> Result<Vec<u8>, u32> {
        let mut length = 0;
        let code = size(self.handle, &mut length);
        let mut bytes = vec![0xAA; length + 1];
        assert_eq!(get(self.handle, bytes.as_mut_ptr()), code);
        assert_eq!(bytes.pop(), Some(0xAA), "no more than the size is written");
        if code == 0 { Ok(bytes) } else { Err(code) }
    }

    fn log(&self) -> String {
        let log = self.bytes(self.hip.hiprtcGetProgramLogSize, self.hip.hiprtcGetProgramLog);
        String::from_utf8(log.expect("a log")).expect("a text")
    }

    fn code(&self) -> Vec<u8> {
        self.bytes(self.hip.hiprtcGetCodeSize, self.hip.hiprtcGetCode).expect("code")
    }

    fn bitcode(&self) -> Result<Vec<u8>, u32> {
        self.bytes(self.hip.hiprtcGetBitcodeSize, self.hip.hiprtcGetBitcode)
    }
}

impl Drop for Program<'_> {
    fn drop(&mut self) {
        assert_eq!((self.hip.hiprtcDestroyProgram)(&mut self.handle), 0);
    }
}

const SOURCE: &str = r#"
#include "mine.h"
#include "inner/two.h"
template <class T> __global__ void scale(T *out, T factor) { out[threadIdx.x] = factor * threadIdx.x + EXTRA; }
__device__ int counter = 40;
__constant__ float table[4];
static __device__ int hidden_counter;
namespace n { template <int N, class T> __global__ void add(T *out) { out[threadIdx.x] += N + MINE + TWO; } }
static __global__ void hidden(int *p) { *p = hidden_counter + __HIPCC_RTC__ + warpSize; }
extern "C" __global__ void plain(int *p) { *p = counter + HIP_VERSION / 10000000; }
"#;
const HEADERS: &[(&str, &str)] = &[("mine.h", "#define MINE 5\n"), ("inner/two.h", "#define TWO 100\n")];

/// What the kernels of `SOURCE` give.
fn run(hip: &Hip, program: &Program, width: i32) {
    let code = program.code();
    let mut module = 0;
    assert_eq!((hip.hipModuleLoadData)(&mut module, code.as_ptr().cast()), 0);
    let out = vec![0f32; 64];
    let one = Box::new(0i32);
    let launch = |name: &str, threads: u32, params: &[P]| {
        let lowered = program.lowered(name).expect("its name is lowered");
        let k = function(hip, module, &lowered);
        let code = (hip.hipModuleLaunchKernel)(k, 1, 1, 1, threads, 1, 1, 0, 0, params.as_ptr(), null());
        assert_eq!((code, (hip.hipDeviceSynchronize)()), (0, 0), "{name}");
    };
    let at = |address: *const u64| address as P;
    let (floats, number, factor) = (out.as_ptr() as u64, &raw const *one as u64, 2f32.to_bits() as u64);
    launch("scale<float>", 64, &[at(&floats), at(&factor)]);
    launch("n::add<3, float>", 64, &[at(&floats)]);
    // SAFETY: the kernels have ended.
    let read = |i: usize| unsafe { out.as_ptr().add(i).read_volatile() };
    assert_eq!((read(0), read(63)), (7.0 + 108.0, 126.0 + 7.0 + 108.0));
    let value = || {
        // SAFETY: as above.
        unsafe { (&raw const *one).read_volatile() }
    };
    launch("plain", 1, &[at(&number)]);
    assert_eq!(value(), 40 + 6);
    launch("&hidden", 1, &[at(&number)]);
    assert_eq!(value(), 1 + width);
    let (mut address, mut size) = (0, 0);
    let table = c(&program.lowered("table").expect("its name is lowered"));
    assert_eq!((hip.hipModuleGetGlobal)(&mut address, &mut size, module, table.as_ptr()), 0);
    assert_eq!(size, 16);
    assert_eq!((hip.hipModuleUnload)(module), 0);
}

#[test]
fn programs_are_compiled_for_each_kind_of_code() {
    if !ready() {
        return;
    }
    let hip = hip();
    // The options, how the code begins, and the width of a warp.
    let rows: &[(&[&str], &[u8], i32)] = &[
        (&["-DEXTRA=7"], b"//", 32),
        (&["-D", "EXTRA=7", "--offload-arch=gfx906", "-std=c++20"], b"\x7fELF", 64),
        (&["-DEXTRA=7", "--gpu-architecture=gfx1100", "-O2", "-ffast-math", "-hip-pch"], b"\x7fELF", 32),
    ];
    for (options, start, width) in rows.iter().take(sample::of(3, 2)) {
        let program = Program::new(&hip, SOURCE, HEADERS);
        for name in ["scale<float>", "n::add<3, float>", "plain", "&hidden", "table", "&counter"] {
            program.add(name);
        }
        assert_eq!(program.lowered("plain"), Err(NAME_NOT_VALID), "before it is compiled");
        let code = program.compile(options);
        assert_eq!((code, program.log()), (0, String::new()), "{options:?}");
        assert!(program.code().starts_with(start), "{options:?}");
        assert_eq!(program.bitcode(), Err(INVALID_PROGRAM));
        assert_eq!(program.lowered("scale<double>"), Err(NAME_NOT_VALID));
        assert_eq!(program.lowered("&counter").as_deref(), Ok("counter"));
        run(&hip, &program, *width);
    }
}

#[test]
fn the_current_device_says_what_is_compiled() {
    let name = "the_current_device_says_what_is_compiled";
    if !ready() || !in_process(name, &[("ANYWARP_HIP_ARCH", "gfx90a,gfx1030")]) {
        return;
    }
    let hip = hip();
    // The architecture's number in the flags of an ELF file.
    for (device, mach) in [(0, 0x3f), (1, 0x36)] {
        assert_eq!((hip.hipSetDevice)(device), 0);
        let program = Program::new(&hip, "extern \"C\" __global__ void k() {}", &[]);
        assert_eq!((program.compile(&[]), program.log()), (0, String::new()));
        assert_eq!(program.code()[48], mach);
    }
    assert_eq!((hip.hipSetDevice)(2), 0);
    let program = Program::new(&hip, "extern \"C\" __global__ void k() {}", &[]);
    assert_eq!(program.compile(&[]), 0);
    let code = program.code();
    assert!(String::from_utf8_lossy(&code).contains(".entry k"));
    assert_eq!(code.last(), Some(&0), "the text can be loaded as it is");
}

#[test]
fn messages_have_the_names_of_the_program() {
    if !ready() {
        return;
    }
    let hip = hip();
    // The source, options, and what the log has.
    let rows: &[(&str, &[&str], u32, &str)] = &[
        ("\nint x = missing;", &[], COMPILATION, "my \"own\" program.cpp:2:9: error: use of undeclared"),
        ("#include \"mine.h\"\nint x = MINE;\n#warning told", &[], 0, "program.cpp:3:2: warning: told"),
        ("#include \"other.h\"", &[], COMPILATION, "'other.h' file not found"),
        ("#include <rocblas/rocblas.h>", &[], COMPILATION, "rocBLAS is a library of ROCm's"),
        ("int x;", &["--offload-arch=avx2"], COMPILATION, "write compute_80"),
        ("int x;", &["--offload-arch"], COMPILATION, "its value is missing"),
        ("int x;", &["--no-such-option"], COMPILATION, "--no-such-option"),
    ];
    for (source, options, code, told) in rows.iter().step_by(sample::of(1, 3)) {
        let program = Program::new(&hip, source, HEADERS);
        let answer = (program.compile(options), program.log());
        assert!(answer.0 == *code && answer.1.contains(told), "{source}: {answer:?}");
        assert!(!answer.1.contains("/anywarp-rtc"), "{}", answer.1);
        assert_eq!(program.code().is_empty(), *code != 0);
    }
    let program = Program::new(&hip, SOURCE, HEADERS);
    program.add("scale<no_such_type>");
    assert_eq!(program.compile(&["-DEXTRA=1"]), COMPILATION);
    assert!(program.log().contains("name expression:1:"), "{}", program.log());
    // The same program again, without that mistake.
    let program = Program::new(&hip, SOURCE, HEADERS);
    assert_eq!(program.compile(&[]), COMPILATION);
    assert_eq!((program.compile(&["-DEXTRA=1"]), program.log()), (0, String::new()));
}

#[test]
fn bitcode_is_for_the_linker() {
    if !ready() {
        return;
    }
    let hip = hip();
    for arch in ["gfx906", "compute_80"] {
        let program = Program::new(&hip, "extern \"C\" __global__ void k() {}", &[]);
        let code = program.compile(&["-fgpu-rdc", &format!("--offload-arch={arch}")]);
        assert_eq!((code, program.log()), (0, String::new()));
        assert!(program.bitcode().expect("bitcode").starts_with(b"BC\xC0\xDE"), "{arch}");
        assert_eq!(program.code(), []);
    }
}

#[test]
fn wrong_calls_are_refused() {
    let hip = hip();
    let (text, mut handle, mut size) = (c("int x;"), 0, 0);
    let none = null::<i8>();
    let create = |out: *mut P, source: *const i8, count: i32, headers: &[*const i8], names: &[*const i8]| {
        let list = |list: &[*const i8]| if list.is_empty() { null() } else { list.as_ptr() };
        (hip.hiprtcCreateProgram)(out, source, none, count, list(headers), list(names))
    };
    let (source, name, empty) = (text.as_ptr(), c("../a.h"), c(""));
    assert_eq!(create(null_mut(), source, 0, &[], &[]), INVALID_PROGRAM);
    assert_eq!(create(&mut handle, none, 0, &[], &[]), INVALID_INPUT);
    assert_eq!(create(&mut handle, empty.as_ptr(), 0, &[], &[]), INVALID_INPUT);
    assert_eq!(create(&mut handle, source, -1, &[], &[]), INVALID_INPUT);
    assert_eq!(create(&mut handle, source, 1, &[], &[source]), INVALID_INPUT);
    assert_eq!(create(&mut handle, source, 1, &[source], &[none]), INVALID_INPUT);
    assert_eq!(create(&mut handle, source, 1, &[source], &[name.as_ptr()]), INVALID_INPUT);
    assert_eq!(create(&mut handle, source, 0, &[], &[]), 0);
    assert_eq!((hip.hiprtcAddNameExpression)(handle, none), INVALID_INPUT);
    assert_eq!((hip.hiprtcGetLoweredName)(handle, source, null_mut()), INVALID_INPUT);
    assert_eq!((hip.hiprtcGetCodeSize)(handle, null_mut()), INVALID_INPUT);
    assert_eq!((hip.hiprtcGetCode)(handle, null_mut()), INVALID_INPUT);
    assert_eq!((hip.hiprtcGetProgramLogSize)(handle, &mut size), 0);
    assert_eq!(size, 0);
    assert_eq!((hip.hiprtcCompileProgram)(handle, 1, null()), INVALID_INPUT);
    assert_eq!((hip.hiprtcCompileProgram)(handle, 1, [none].as_ptr()), INVALID_INPUT);
    assert_eq!((hip.hiprtcDestroyProgram)(null_mut()), INVALID_INPUT);
    assert_eq!((hip.hiprtcDestroyProgram)(&mut handle), 0);
    assert_eq!((hip.hiprtcDestroyProgram)(&mut handle), INVALID_PROGRAM);
    assert_eq!((hip.hiprtcCompileProgram)(handle, 0, null()), INVALID_PROGRAM);
    assert_eq!((hip.hiprtcAddNameExpression)(handle, source), INVALID_PROGRAM);
    assert_eq!((hip.hiprtcGetCodeSize)(handle, &mut size), INVALID_PROGRAM);
}

#[test]
fn without_a_compiler_the_log_says_so() {
    for (variable, value, told) in
        [("PATH", "/nonexistent", "there is no clang; install"), ("ANYWARP_CLANG", "/bin/true", "/bin/true")]
    {
        let name = "without_a_compiler_the_log_says_so";
        let child = told_by_process(name, &[(variable, value), ("ANYWARP_TEST_TOLD", told)]);
        if let Some(errors) = child {
            assert!(errors.contains("hiprtcCompileProgram needs a compiler") && errors.contains(told));
            continue;
        }
        let hip = hip();
        let program = Program::new(&hip, "int x;", &[]);
        assert_eq!(program.compile(&[]), COMPILATION);
        let told = std::env::var("ANYWARP_TEST_TOLD").expect("what is to be told");
        assert!(program.log().contains(&told), "{}", program.log());
        return;
    }
}

#[test]
fn compilations_need_no_signal_of_their_end() {
    let name = "compilations_need_no_signal_of_their_end";
    if !ready() || !in_process(name, &[]) {
        return;
    }
    let hip = hip();
    // SAFETY: the action is one of the constants, and this process has no other use of the signal.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
    let program = Program::new(&hip, "extern \"C\" __global__ void k() {}", &[]);
    let compiled = (program.compile(&[]), program.log());
    let wrong = Program::new(&hip, "int x = missing;", &[]);
    let refused = wrong.compile(&[]);
    // SAFETY: as above.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
    assert_eq!((compiled, refused), ((0, String::new()), COMPILATION));
}
