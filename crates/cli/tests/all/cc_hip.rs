//! `anywarp cc` with HIP: the programs of `tests/cc/hip/`, which use what HIP has and CUDA does not, as PTX
//! and as code for AMD's targets whose warps have 64 and 32 lanes; and which sources are HIP. Needs clang 16
//! or later and lld (`apt-get install clang-19 lld-19`).
//!
//! A program checks its results itself and prints `ok`.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use crate::support::{ANYWARP, Folder, root, succeed};
use hwtruth::sample::Turn;

const ARCHES: [&str; 3] = ["compute_80", "gfx906", "gfx1100"];

/// Compiles; what is told, and whether it succeeded.
fn compile(arguments: &[&str], folder: &Folder) -> (bool, String) {
    let output = Command::new(ANYWARP).arg("cc").args(arguments).current_dir(&folder.0).output();
    let output = output.expect("the command starts");
    let told = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&told).into_owned())
}

/// Compiles without a warning.
fn compiled(arguments: &[&str], folder: &Folder) {
    assert_eq!(compile(arguments, folder), (true, String::new()), "anywarp cc {arguments:?}");
}

/// Compiles a program and runs it on both engines; in the sample, half of the programs for one target.
fn program(name: &str) {
    let arches: Vec<&str> =
        (0..).zip(ARCHES).filter(|(way, _)| Turn::new(*way, 6).takes(name)).map(|(_, arch)| arch).collect();
    if arches.is_empty() {
        return;
    }
    let folder = Folder::new(&format!("cc-hip-{name}"));
    let file = root().join("tests/cc/hip").join(format!("{name}.hip"));
    let check = root().join("tests/cc/check.h");
    succeed(Command::new(ANYWARP).arg("hipify").arg(check).arg("-o").arg(folder.0.join("check.h")));
    compiled(&["--arch", &arches.join(","), "-Wall", "-I.", &file.to_string_lossy(), "-o", name], &folder);
    for arch in arches {
        for engine in ["compiled", "interpreter"] {
            let mut run = Command::new(ANYWARP);
            run.args(["run", "--"]).arg(folder.0.join(name)).env("ANYWARP_ENGINE", engine);
            // PTX is what runs unless a device is named.
            if arch.starts_with("gfx") {
                run.env("ANYWARP_HIP_ARCH", arch);
            }
            assert_eq!(succeed(&mut run), "ok\n", "{arch}, {engine}");
        }
    }
}

/// A test for each program.
macro_rules! programs {
    ($($name:ident)*) => {
        $(#[test] fn $name() { program(stringify!($name)); })*
        const PROGRAMS: &[&str] = &[$(stringify!($name)),*];
    };
}

programs! { bits device lanes small_floats tiles }

#[test]
fn every_program_has_a_test() {
    let entries = fs::read_dir(root().join("tests/cc/hip")).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let sources = paths.filter(|path| path.extension().is_some_and(|extension| extension == "hip"));
    let names: BTreeSet<String> =
        sources.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect();
    assert_eq!(names, PROGRAMS.iter().map(|name| (*name).to_owned()).collect());
}

/// What a target lacks is named.
#[test]
fn what_a_target_lacks() {
    let folder = Folder::new("cc-hip-lacks");
    let kernel = |body: &str| {
        let source = format!(
            "#include <hip/hip_cooperative_groups.h>\n\
             __global__ void k(int *p) {{ {body} }}\n\
             int main() {{}}\n"
        );
        fs::write(folder.0.join("k.hip"), source).expect("written");
    };
    kernel("p[0] = __hip_move_dpp(p[1], 0x111, 0xf, 0xf, true);");
    compiled(&["--arch", "gfx906", "-c", "k.hip"], &folder);
    let (_, told) = compile(&["--arch", "compute_80", "-c", "k.hip"], &folder);
    assert!(told.contains("__hip_move_dpp: PTX has no such instruction"), "{told}");
    kernel("p[0] = __hip_ds_swizzle(p[1], 0xc020);");
    let (_, told) = compile(&["--arch", "compute_80", "-c", "k.hip"], &folder);
    assert!(told.contains("__hip_ds_swizzle: PTX has patterns with masks"), "{told}");
    kernel("p[0] = cooperative_groups::tiled_partition<64>(cooperative_groups::this_thread_block()).size();");
    compiled(&["--arch", "gfx906", "-c", "k.hip"], &folder);
    let (_, told) = compile(&["--arch", "gfx1100", "-c", "k.hip"], &folder);
    assert!(told.contains("64 on AMD's targets whose warps have 64 lanes"), "{told}");
}

/// A `.cu` source is HIP if it includes HIP, itself or in its own headers. If these include CUDA as well, the
/// targets decide.
#[test]
fn sources_that_are_hip() {
    let folder = Folder::new("cc-hip-sources");
    let write = |name: &str, text: &str| fs::write(folder.0.join(name), text).expect("written");
    fs::create_dir(folder.0.join("own")).expect("a folder");
    write("own/inner.h", "#pragma once\n#include \"../outer.h\"\n  # include <hip/hip_runtime_api.h>\n");
    write("outer.h", "#pragma once\n#include <inner.h>\n");
    let nested = "#include \"outer.h\"\n__global__ void k(hipStream_t *p) { *p = 0; }\nint main() {}\n";
    write("nested.cu", nested);
    compiled(&["--arch", "gfx906", "-Iown", "-c", "nested.cu"], &folder);
    compiled(&["--arch", "compute_80", "-c", "-I", "own", "nested.cu"], &folder);
    write(
        "both.h",
        "#ifdef __HIP__\n#include <hip/hip_runtime.h>\ntypedef hipStream_t stream;\n#else\n\
         #include <cuda_runtime.h>\ntypedef cudaStream_t stream;\n#endif\n",
    );
    write("portable.cu", "#include \"both.h\"\n__global__ void k(stream *p) { *p = 0; }\nint main() {}\n");
    for (arch, library) in [("compute_80", "libcudart.so.13"), ("compute_80,gfx906", "libamdhip64.so.6")] {
        compiled(&["--arch", arch, "portable.cu", "-o", "portable"], &folder);
        let program = fs::read(folder.0.join("portable")).expect("a program");
        let has = |name: &str| program.windows(name.len()).any(|part| part == name.as_bytes());
        assert!(has(library), "{arch}: {library}");
    }
    // A toolkit's headers say nothing about the program.
    write(
        "half.cu",
        "#include <cuda_fp16.h>\n__global__ void k(cudaStream_t *p) { *p = 0; }\nint main() {}\n",
    );
    compiled(&["-I", &root().join("include").to_string_lossy(), "-c", "half.cu"], &folder);
    write("plain.cu", "__global__ void k() {}\nint main() {}\n");
    let (succeeded, told) = compile(&["--arch", "gfx906", "-c", "plain.cu"], &folder);
    assert!(!succeeded && told.contains("plain.cu includes no header of HIP's, so it is CUDA"), "{told}");
    compiled(&["--arch", "gfx906", "-c", "-x", "hip", "plain.cu"], &folder);
}
