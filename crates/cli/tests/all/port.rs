//! Porting: CUDA samples are translated by `anywarp hipify`, and both versions compiled and run; HIP programs
//! are written as in AMD's guides.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{ANYWARP, Folder, root, succeed};

/// The folder in which `anywarp run` finds the libraries.
fn libraries() -> PathBuf {
    Path::new(ANYWARP).with_file_name("lib-anywarp")
}

/// Compiles a C file with any extension against our headers, with warnings as errors.
fn compile(source: &Path, program: &Path, library: &str) {
    let mut cc = Command::new("cc");
    cc.args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-I"]).arg(root().join("include"));
    cc.args(["-x", "c"]).arg(source).args(["-x", "none", "-o"]).arg(program);
    succeed(cc.arg("-L").arg(libraries()).arg(library));
}

/// A CUDA sample and its translation print the same.
fn ported(name: &str, arguments: &[&str], wanted: &str) {
    let folder = Folder::new(name);
    let samples = root().join("examples/port");
    let (cuda, hip) = (folder.0.join("cuda"), folder.0.join("hip"));
    compile(&samples.join(format!("{name}.cu")), &cuda, "-lcuda");
    for file in ["check.h".to_string(), format!("{name}.cu")] {
        let to = folder.0.join(&file);
        succeed(Command::new(ANYWARP).arg("hipify").arg(samples.join(&file)).arg("-o").arg(&to));
        let text = fs::read_to_string(&to).expect("what hipify wrote");
        assert!(!text.contains("cuda.h") && text.contains("hip"), "{file}:\n{text}");
    }
    compile(&folder.0.join(format!("{name}.cu")), &hip, "-lamdhip64");
    for program in [cuda, hip] {
        let printed = succeed(Command::new(ANYWARP).args(["run", "--"]).arg(&program).args(arguments));
        assert_eq!(printed, wanted, "{}", program.display());
    }
}

#[test]
fn the_vector_addition_is_ported() {
    let ptx = root().join("examples/c/vecadd.ptx");
    ported("vecadd", &[&ptx.to_string_lossy()], "0 of 100000 sums are wrong, c[777] = 777, timed\n");
}

#[test]
fn the_jit_linkers_sample_is_ported() {
    ported("jit_link", &[], "linked: there is an image\n0 of 64 are wrong, data[9] = 1243\n");
}

#[test]
fn the_parameter_buffers_sample_is_ported() {
    ported("param_buffer", &[], "56 bytes of parameters: i = 42, v = 1.5 … 4.5, c = -7, d = 0.125\n");
}

#[test]
fn the_texture_sample_is_ported() {
    let wanted = "10 10.25 11 11.75 12.5 13.25 14 14.75 15.5 16.25 17 17 17 17 17 17\n0 of 16 are wrong\n";
    ported("texture", &[], wanted);
}

#[test]
fn the_graph_sample_is_ported() {
    ported("graph", &[], "7 0 1 2 3 7 7 7\n");
}

/// A program of `examples/hip/` compiles against our headers and prints `wanted`.
fn hip_program(name: &str, arguments: &[&str], wanted: &str) {
    let folder = Folder::new(&format!("hip-{name}"));
    let program = folder.0.join(name);
    let mut cc = Command::new("c++");
    cc.args(["-std=c++17", "-Wall", "-Wextra", "-Werror", "-I"]).arg(root().join("include"));
    cc.arg(root().join("examples/hip").join(format!("{name}.cpp"))).arg("-o").arg(&program);
    succeed(cc.arg("-L").arg(libraries()).args(["-lamdhip64", "-lcuda"]));
    let printed = succeed(Command::new(ANYWARP).args(["run", "--"]).arg(&program).args(arguments));
    assert_eq!(printed, wanted);
}

#[test]
fn a_module_with_its_arguments_in_a_buffer() {
    let ptx = root().join("examples/hip/copy.ptx");
    hip_program("module", &[&ptx.to_string_lossy()], "0 of 64 are wrong\n");
}

#[test]
fn options_of_the_jit() {
    hip_program("jit_options", &[], "hipErrorInvalidKernelFile, the log names line 5\n");
}

#[test]
fn a_texture_reference_of_a_module() {
    hip_program("texture", &[], "wrapped: 3 0 1 2 3 0\n");
}

#[test]
fn cuda_and_hip_in_one_program() {
    hip_program("interop", &[], "one context, one function, 0 of 32 are wrong\n");
}

#[test]
fn a_texture_at_file_scope_and_a_kernel_by_its_stub() {
    let wanted = "launched: 10 20 30 40 40 40\ncooperative: 100 200 300 400 400 400\n";
    hip_program("registered", &[], wanted);
}
