//! `anywarp cc`: the programs of `tests/cc/`, compiled and run: as CUDA, and after `anywarp hipify` as HIP
//! with PTX and with AMD's code. Needs clang 16 or later and lld (`apt-get install clang-19 lld-19`).
//!
//! A program checks its results itself and prints `ok`. Lines at its beginning say more:
//!
//! ```text
//! // prints: LINE             a line of standard output
//! // prints to stderr: TEXT   a part of standard error
//! // argument: FILE           an argument of the program, a file of the same folder
//! // without AMD: REASON      it is not compiled to AMD's code
//! // without HIP: REASON      it is compiled as CUDA alone
//! ```

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::{ANYWARP, Folder, root, succeed};
use hwtruth::sample::{self, Turn};

fn compile(arguments: &[&str], folder: &Path) -> Output {
    Command::new(ANYWARP).arg("cc").args(arguments).current_dir(folder).output().expect("the command starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Compiles without a warning.
fn compiled(arguments: &[&str], folder: &Path) {
    let output = compile(arguments, folder);
    let told = text(&output.stdout) + &text(&output.stderr);
    assert!(output.status.success() && told.is_empty(), "anywarp cc {arguments:?}:\n{told}");
}

/// The values of a directive in a source.
fn directives<'a>(source: &'a str, name: &str) -> Vec<&'a str> {
    let start = format!("// {name}: ");
    source.lines().filter_map(|line| line.strip_prefix(&start)).collect()
}

/// Runs a program, which must print `ok` at last, and what its source says.
fn run(program: &Path, source: &str, variable: (&str, &str)) {
    let mut command = Command::new(ANYWARP);
    command.args(["run", "--"]).arg(program).env(variable.0, variable.1);
    command.args(directives(source, "argument").iter().map(|file| root().join("tests/cc").join(file)));
    let output = command.output().expect("the command starts");
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    let shown = format!("{}, {variable:?}: {}\n{out}\n{err}", program.display(), output.status);
    assert!(output.status.success() && out.lines().last() == Some("ok"), "{shown}");
    for line in directives(source, "prints") {
        assert!(out.lines().any(|printed| printed == line), "`{line}` is missing: {shown}");
    }
    for part in directives(source, "prints to stderr") {
        assert!(err.contains(part), "`{part}` is missing: {shown}");
    }
}

/// Compiles and runs a program as CUDA, as HIP with PTX, and as HIP with AMD's code; in the sample, a sixth
/// of the programs in one of these ways.
fn program(name: &str) {
    let [cuda, ptx, amd] = [0, 1, 2].map(|way| Turn::new(way, 18).takes(name));
    if !(cuda || ptx || amd) {
        return;
    }
    let folder = Folder::new(&format!("cc-{name}"));
    let file = root().join("tests/cc").join(format!("{name}.cu"));
    let source = fs::read_to_string(&file).expect("a source");
    let (hip, for_amd) =
        (directives(&source, "without HIP").is_empty(), directives(&source, "without AMD").is_empty());
    let (ptx, amd) = (ptx && hip, amd && hip && for_amd);
    if cuda || !(ptx || amd) {
        compiled(&["-Wall", &file.to_string_lossy(), "-o", name], &folder.0);
        for engine in ["compiled", "interpreter"] {
            run(&folder.0.join(name), &source, ("ANYWARP_ENGINE", engine));
        }
    }
    let arches = match (ptx, amd) {
        (true, true) => "compute_80,gfx906",
        (true, false) => "compute_80",
        (false, true) => "gfx906",
        (false, false) => return,
    };
    for (from, to) in [(file, "program.hip"), (root().join("tests/cc/check.h"), "check.h")] {
        succeed(Command::new(ANYWARP).arg("hipify").arg(from).arg("-o").arg(folder.0.join(to)));
    }
    compiled(&["--arch", arches, "program.hip", "-o", "hip"], &folder.0);
    if ptx {
        run(&folder.0.join("hip"), &source, ("ANYWARP_ENGINE", "compiled"));
    }
    if amd {
        run(&folder.0.join("hip"), &source, ("ANYWARP_HIP_ARCH", "gfx906"));
    }
}

/// A test for each program.
macro_rules! programs {
    ($($name:ident)*) => {
        $(#[test] fn $name() { program(stringify!($name)); })*
        const PROGRAMS: &[&str] = &[$(stringify!($name)),*];
    };
}

programs! {
    assertion atomics cooperative eight half heap integers language library math narrow printing remainders rounding
    shared streams symbols textures vectors warp
}

#[test]
fn every_program_has_a_test() {
    let entries = fs::read_dir(root().join("tests/cc")).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let sources = paths.filter(|path| path.extension().is_some_and(|extension| extension == "cu"));
    let names: BTreeSet<String> =
        sources.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect();
    assert_eq!(names, PROGRAMS.iter().map(|name| (*name).to_owned()).collect());
}

/// The README's two commands.
#[test]
fn the_first_program() {
    let folder = Folder::new("cc-first");
    fs::copy(root().join("examples/cuda/vecadd.cu"), folder.0.join("vecadd.cu")).expect("copied");
    compiled(&["vecadd.cu", "-o", "vecadd"], &folder.0);
    let printed = succeed(Command::new(ANYWARP).args(["run", "--"]).arg(folder.0.join("vecadd")));
    assert_eq!(printed, "0 of 100000 sums are wrong, sum[777] = 1165.5\n");
}

/// A `.c` file is compiled as C, as nvcc does, even if the options select a C++ standard.
#[test]
fn sources_in_c() {
    let folder = Folder::new("cc-c");
    write(
        &folder,
        "main.c",
        "int called(void);\nint main(void) { int *new = 0; return called() + !!new; }\n",
    );
    write(
        &folder,
        "lib.cu",
        "__global__ void k() {}\nextern \"C\" int called() { k<<<1, 1>>>(); return 0; }\n",
    );
    compiled(&["-std=c++17", "main.c", "lib.cu", "-o", "linked"], &folder.0);
    compiled(&["-std=c++17", "-c", "main.c", "lib.cu"], &folder.0);
    compiled(&["main.o", "lib.o", "-o", "apart"], &folder.0);
    for program in ["linked", "apart"] {
        assert_eq!(succeed(Command::new(ANYWARP).args(["run", "--"]).arg(folder.0.join(program))), "");
    }
}

/// With `-lineinfo` a fault names the source's line, and the thread without it as well.
#[test]
fn faults_name_their_lines() {
    let folder = Folder::new("cc-lines");
    let source = "__global__ void far(int *p) {\n    if (threadIdx.x >= 40)\n        p[threadIdx.x] = 1;\n}\n\
                  int main() {\n    far<<<2, 64>>>((int *)(1ll << 46));\n    return cudaDeviceSynchronize() != 700;\n}\n";
    write(&folder, "far.cu", source);
    for (options, place) in [(&["-lineinfo"][..], "far.cu:3 (PTX line "), (&[], ", at PTX line ")] {
        compiled(&[options, &["far.cu", "-o", "far"]].concat(), &folder.0);
        let output = Command::new(ANYWARP).args(["run", "--"]).arg(folder.0.join("far")).output();
        let output = output.expect("the command starts");
        let told = text(&output.stderr);
        assert!(output.status.success() && told.contains(place), "{told}");
        assert!(
            told.contains("illegal address 0x4000000000a0") && told.contains(", thread (40, 0, 0)"),
            "{told}"
        );
    }
}

/// A block that is larger than a kernel was compiled for is refused, in AMD's code as in PTX.
#[test]
fn bounds_of_launches() {
    let folder = Folder::new("cc-bounds");
    let source = "#include <hip/hip_runtime.h>\n#include <cstdio>\n\
                  template <int N> __global__ __launch_bounds__(N, 2) void small(int *p) { *p = N; }\n\
                  int main() { int *p, one = 0; hipMalloc(&p, 4); small<64><<<1, 64>>>(p);\n\
                  int right = hipDeviceSynchronize(); hipMemcpy(&one, p, 4, hipMemcpyDeviceToHost);\n\
                  small<64><<<1, 65>>>(p); int wrong = hipGetLastError(); if (!wrong) wrong = hipDeviceSynchronize();\n\
                  printf(\"%d %d %d\\n\", right, one, wrong != 0); }\n";
    write(&folder, "bounds.hip", source);
    for arch in ["gfx906", "compute_80"] {
        compiled(&["--arch", arch, "-Wno-unused-value", "bounds.hip", "-o", "bounds"], &folder.0);
        let mut run = Command::new(ANYWARP);
        let output = run.args(["run", "--"]).arg(folder.0.join("bounds")).output().expect("it starts");
        assert_eq!(text(&output.stdout), "0 64 1\n", "{arch}: {}", text(&output.stderr));
    }
}

/// Managed variables, which clang has in HIP's code for AMD's processors.
#[test]
fn managed_variables_for_amd() {
    let folder = Folder::new("cc-managed");
    let source = "#include <hip/hip_runtime.h>\n#include <cstdio>\n__managed__ int x = 5;\n\
                  __global__ void more() { x += 1; }\n\
                  int main() { x *= 2; more<<<1, 1>>>(); hipDeviceSynchronize(); printf(\"%d\\n\", x); }\n";
    write(&folder, "managed.hip", source);
    compiled(&["--arch", "gfx906", "-Wno-unused-value", "managed.hip", "-o", "managed"], &folder.0);
    assert_eq!(succeed(Command::new(ANYWARP).args(["run", "--"]).arg(folder.0.join("managed"))), "11\n");
}

/// The other examples, with the last line that they print.
#[test]
fn the_examples() {
    let folder = Folder::new("cc-examples");
    for (file, last) in [
        ("cuda/matmul.cu", "0 of 36864 elements are wrong"),
        ("hip/reduce.hip", "sum 500000500000, as it should be"),
        ("hip/file_texture.hip", "0 of 32 texels are wrong"),
    ]
    .into_iter()
    .skip(sample::of(0, 2))
    {
        let source = root().join("examples").join(file);
        compiled(&[&source.to_string_lossy(), "-o", "program"], &folder.0);
        let printed = succeed(Command::new(ANYWARP).args(["run", "--"]).arg(folder.0.join("program")));
        assert_eq!(printed.lines().last(), Some(last), "{file}");
    }
}

const KERNEL: &str = "__global__ void set(int *at, int v) { *at = v; }
int launch(int v) {
    int *at, got;
    cudaMalloc(&at, sizeof(int));
    set<<<1, 1>>>(at, v + OFFSET);
    cudaMemcpy(&got, at, sizeof(int), cudaMemcpyDeviceToHost);
    return got;
}
";
const MAIN: &str = "int launch(int); int main() { return launch(7) == 10 ? 0 : 1; }\n";

fn write(folder: &Folder, name: &str, text: &str) -> PathBuf {
    let path = folder.0.join(name);
    fs::write(&path, text).expect("written");
    path
}

#[test]
fn several_files_objects_and_libraries() {
    let folder = Folder::new("cc-files");
    write(&folder, "kernel.cu", KERNEL);
    write(&folder, "main.cpp", MAIN);
    let check = |program: &str| {
        let mut run = Command::new(ANYWARP);
        run.args(["run", "--"]).arg(folder.0.join(program)).env("LD_LIBRARY_PATH", &folder.0);
        succeed(&mut run);
    };
    compiled(&["-DOFFSET=3", "kernel.cu", "main.cpp", "-o", "together"], &folder.0);
    check("together");
    compiled(&["-c", "-O1", "-D", "OFFSET=3", "kernel.cu", "main.cpp"], &folder.0);
    compiled(&["main.o", "kernel.o", "-o", "objects"], &folder.0);
    check("objects");
    compiled(&["-shared", "-fPIC", "-g", "-DOFFSET=3", "kernel.cu", "-o", "libkernel.so"], &folder.0);
    compiled(&["main.cpp", "-L.", "-lkernel", "-o", "library"], &folder.0);
    check("library");
    compiled(
        &["-x", "cuda", "-DOFFSET=3", "-O0", "main.cpp", "kernel.cu", "-std=c++17", "-o", "other"],
        &folder.0,
    );
    check("other");
}

/// Also if one of them is called as before hipify.
#[test]
fn two_hip_sources() {
    let folder = Folder::new("cc-two-hip");
    write(
        &folder,
        "kernel.cu",
        "#include <hip/hip_runtime.h>\n\
         __global__ void three(int *out) { *out = 3; }\n\
         void launch(int *out) { three<<<1, 1>>>(out); }\n",
    );
    write(
        &folder,
        "main.hip",
        "#include <hip/hip_runtime.h>\n\
         void launch(int *out);\n\
         __global__ void four(int *out) { *out += 4; }\n\
         int main() {\n\
             int *out, got = 0;\n\
             if (hipMalloc(&out, 4)) return 1;\n\
             launch(out);\n\
             four<<<1, 1>>>(out);\n\
             return hipMemcpy(&got, out, 4, hipMemcpyDeviceToHost) || got != 7;\n\
         }\n",
    );
    compiled(&["kernel.cu", "main.hip", "-o", "two"], &folder.0);
    succeed(Command::new(ANYWARP).args(["run", "--"]).arg(folder.0.join("two")));
}

/// HIP's older forms: launches by a macro that deduce a template's arguments, and names of indices and of
/// dynamic shared memory.
#[test]
fn hips_older_names() {
    let folder = Folder::new("cc-older-hip");
    write(
        &folder,
        "older.hip",
        "#include <hip/hip_runtime.h>\n\
         template <class T> __global__ void turn(T *out, T last) {\n\
             HIP_DYNAMIC_SHARED(T, own);\n\
             own[hipThreadIdx_x] = hipBlockIdx_x * hipBlockDim_x + hipThreadIdx_x;\n\
             __syncthreads();\n\
             out[hipBlockIdx_x * hipBlockDim_x + hipThreadIdx_x] = last - own[hipBlockDim_x - 1 - hipThreadIdx_x];\n\
         }\n\
         int main() {\n\
             int *out, got[64];\n\
             if (hipMalloc(&out, sizeof got) != HIP_SUCCESS) return 1;\n\
             hipLaunchKernelGGL(turn, 2, dim3(32), 32 * sizeof(int), 0, out, 100);\n\
             if (hipMemcpy(got, out, sizeof got, hipMemcpyDeviceToHost)) return 2;\n\
             for (int i = 0; i < 64; i++)\n\
                 if (got[i] != 100 - (i / 32 * 32 + 31 - i % 32)) return 3;\n\
             return 0;\n\
         }\n",
    );
    compiled(&["older.hip", "-o", "older"], &folder.0);
    succeed(Command::new(ANYWARP).args(["run", "--"]).arg(folder.0.join("older")));
}

#[test]
fn device_code_alone() {
    let folder = Folder::new("cc-ptx");
    write(&folder, "kernel.cu", KERNEL);
    compiled(&["--ptx", "--arch", "compute_90", "-DOFFSET=3", "kernel.cu"], &folder.0);
    let ptx = fs::read_to_string(folder.0.join("kernel.ptx")).expect("PTX");
    assert!(ptx.contains(".target sm_90") && ptx.contains(".entry _Z3setPii"), "{ptx}");
    // What is made twice is the same, although our headers lie elsewhere each time.
    write(&folder, "lines.cu", "__global__ void first(int *at) { at[threadIdx.x] = 1; }\n");
    let twice = ["one.ptx", "two.ptx"].map(|name| {
        compiled(&["--ptx", "-lineinfo", "lines.cu", "-o", name], &folder.0);
        fs::read_to_string(folder.0.join(name)).expect("PTX")
    });
    assert!(
        twice[0] == twice[1] && twice[0].contains(".loc") && twice[0].contains("\"anywarp-include/anywarp/"),
        "{}",
        twice[0]
    );
    // A file of device code for all architectures, whatever else is asked for.
    compiled(&["-fatbin", "--arch=compute_75,sm_90", "-DOFFSET=3", "kernel.cu"], &folder.0);
    let listed = succeed(Command::new(ANYWARP).arg("extract").arg(folder.0.join("kernel.fatbin")));
    assert!(listed.contains("sm_75") && listed.contains("sm_90"), "{listed}");
    for asks in ["--genco", "--cuda-device-only"] {
        let options = ["-x", "hip", "--arch", "gfx1030,gfx90a,compute_80", asks, "-c", "lines.cu"];
        compiled(&[&options[..], &["-o", "code.co"]].concat(), &folder.0);
        let listed = succeed(Command::new(ANYWARP).arg("extract").arg(folder.0.join("code.co")));
        assert!(["gfx1030", "gfx90a", "sm_80"].iter().all(|name| listed.contains(name)), "{listed}");
    }
    compiled(&["-c", "--arch=compute_75,sm_90", "-DOFFSET=3", "kernel.cu"], &folder.0);
    let listed = succeed(Command::new(ANYWARP).arg("extract").arg(folder.0.join("kernel.o")));
    assert!(listed.contains("sm_75") && listed.contains("sm_90"), "{listed}");
}

#[test]
fn commands_dependencies_and_the_version() {
    let folder = Folder::new("cc-lists");
    write(&folder, "kernel.cu", &format!("#include \"offset.h\"\n{KERNEL}"));
    write(&folder, "offset.h", "#define OFFSET 3\n");
    compiled(&["-c", "-MD", "kernel.cu"], &folder.0);
    let list = fs::read_to_string(folder.0.join("kernel.d")).expect("a list");
    assert_eq!(
        list.split_whitespace().filter(|word| *word != "\\").collect::<Vec<_>>(),
        ["kernel.o:", "kernel.cu", "offset.h"]
    );
    let shown = text(&compile(&["-M", "kernel.cu"], &folder.0).stdout);
    assert!(shown.contains("offset.h") && !shown.contains("cuda_runtime.h"), "{shown}");
    let dry = compile(&["-dryrun", "kernel.cu", "-o", "never"], &folder.0);
    let commands = text(&dry.stderr);
    assert!(commands.lines().count() == 3 && commands.contains("--cuda-device-only"), "{commands}");
    assert!(dry.status.success() && !folder.0.join("never").exists());
    let version = text(&compile(&["--version"], &folder.0).stdout);
    assert!(version.starts_with("anywarp cc ") && version.contains("clang version "), "{version}");
}

#[test]
fn failures_say_what_to_do() {
    let folder = Folder::new("cc-failures");
    write(&folder, "wrong.cu", "int main() { return missing; }\n");
    let told = |arguments: &[&str], status: i32| {
        let output = compile(arguments, &folder.0);
        assert_eq!(output.status.code(), Some(status), "{arguments:?}");
        text(&output.stderr)
    };
    assert!(told(&["wrong.cu"], 1).contains("wrong.cu:1:21: error: use of undeclared identifier 'missing'"));
    let missing = told(&["--clang", "no-such-clang", "wrong.cu"], 1);
    assert!(missing.contains("no-such-clang") && missing.contains("apt-get install clang-19"), "{missing}");
    let other = told(&["--clang", "true", "wrong.cu"], 1);
    assert!(other.contains("does not say that it is clang"), "{other}");
    assert!(told(&["-rdc=true", "wrong.cu"], 1).contains("relocatable device code is not supported"));
    write(&folder, "library.cu", "#include <cublas_v2.h>\n");
    let library = told(&["-c", "library.cu"], 1);
    assert!(library.contains("anywarp cc: cublas_v2.h: cuBLAS is a closed library of NVIDIA's"), "{library}");
    write(&folder, "kernel.cu", KERNEL);
    let full = told(&["--ptx", "-DOFFSET=3", "kernel.cu", "-o", "/dev/full"], 1);
    assert_eq!(full, "anywarp: cannot write /dev/full: No space left on device\n");
    write(&folder, "managed.cu", "__device__ __managed__ int x;\nint main() {}\n");
    let managed = told(&["managed.cu"], 1);
    assert!(
        managed.contains("managed.cu:1:12: error: ") && managed.contains("cudaMallocManaged"),
        "{managed}"
    );
    let managed = told(&["-x", "hip", "managed.cu"], 1);
    assert!(
        managed.contains("managed.cu:1:12: error: ") && managed.contains("hipMallocManaged"),
        "{managed}"
    );
    let mut bare = Command::new(ANYWARP);
    bare.args(["cc", "wrong.cu"])
        .current_dir(&folder.0)
        .env("PATH", "/nonexistent")
        .env_remove("ANYWARP_CLANG");
    let output = bare.output().expect("the command starts");
    assert!(text(&output.stderr).contains("there is no clang; install one (`apt-get install clang-19`"));
}
