//! C programs, compiled and run: the examples, the demo, and a program that brings its own driver along.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{ANYWARP, Folder, root, succeed};

/// Runs the C compiler with our header on the source; `last` names the library.
fn cc(output: &Path, source: &Path, last: &[&str]) {
    succeed(
        Command::new("cc")
            .args(["-std=c11", "-D_GNU_SOURCE", "-I"])
            .arg(root().join("include"))
            .arg("-o")
            .arg(output)
            .arg(source)
            .args(last),
    );
}

/// The path of the driver library that `anywarp run` uses.
fn library() -> PathBuf {
    let json = succeed(Command::new(ANYWARP).args(["info", "--json"]));
    let info: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    info["driver"].as_str().expect("the driver is built").into()
}

fn example(name: &str, arguments: &[&str], last_line: &str) {
    let folder = Folder::new(name);
    let program = folder.0.join(name);
    let source = root().join("examples/c").join(format!("{name}.c"));
    cc(&program, &source, &[&library().to_string_lossy()]);
    for engine in ["compiled", "interpreter"] {
        let mut run = Command::new(ANYWARP);
        run.args(["run", "--"]).arg(&program).args(arguments).env("ANYWARP_ENGINE", engine);
        let printed = succeed(&mut run);
        assert_eq!(printed.lines().last(), Some(last_line), "{name}, {engine}");
    }
}

#[test]
fn parameters_in_an_aligned_buffer() {
    example("param_buffer", &[], "PASSED");
}

#[test]
fn options_and_logs_of_the_compiler() {
    example("jit_log", &[], "PASSED");
}

#[test]
fn two_texts_linked() {
    example("jit_link", &[], "PASSED");
}

#[test]
fn vector_addition() {
    let ptx = root().join("examples/c/vecadd.ptx");
    example("vecadd", &["10001", &ptx.to_string_lossy()], "check    all elements right");
}

#[test]
fn the_demo_tells_what_ran_where() {
    let printed = succeed(Command::new(ANYWARP).args(["demo", "--elements", "100000"]));
    let told: Vec<&str> = printed.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(
        told,
        ["program", "driver", "device", "kernel", "load", "compile", "run", "check"],
        "{printed}"
    );
    assert!(printed.contains("grid 391, block 256, 100000 elements"), "{printed}");
    assert!(printed.contains("all elements right"), "{printed}");
}

#[test]
fn a_demo_without_a_compiler_says_so() {
    let output =
        Command::new(ANYWARP).args(["demo", "--cc", "no-such-compiler"]).output().expect("it starts");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && told.contains("no-such-compiler") && told.contains("--cc"), "{told}");
}

/// The program's own rpath leads to a library of the same name without a device.
#[test]
fn our_driver_wins_over_a_programs_rpath() {
    let folder = Folder::new("rpath");
    let at = |name: &str| folder.0.join(name);
    fs::write(at("other.c"), "int cuInit(unsigned flags) { (void)flags; return 100; }\n").expect("written");
    fs::write(at("main.c"), "#include <cuda.h>\nint main(void) { return cuInit(0); }\n").expect("written");
    let other = at("libcuda.so.1");
    cc(&other, &at("other.c"), &["-shared", "-fPIC", "-Wl,-soname,libcuda.so.1"]);
    for tags in ["--enable-new-dtags", "--disable-new-dtags"] {
        let rpath = format!("-Wl,{tags},-rpath,{}", folder.0.display());
        cc(&at("main"), &at("main.c"), &[&other.to_string_lossy(), &rpath]);
        let alone = Command::new(at("main")).status().expect("it starts");
        assert_eq!(alone.code(), Some(100), "{tags}: by itself the program finds the other library");
        succeed(Command::new(ANYWARP).args(["run", "--"]).arg(at("main")));
    }
}
