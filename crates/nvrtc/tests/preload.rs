//! The library is preloaded into C programs that use an NVRTC in miniature.
#![cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]

use std::path::{Path, PathBuf};
use std::process::Command;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// Compiles a file of the tests' data.
fn cc(source: &str, flags: &[&str], to: &Path) {
    let output = Command::new("cc")
        .args(["-Wall", "-Wextra", "-Werror", "-o"])
        .arg(to)
        .arg(data(source))
        .args(flags)
        .output()
        .expect("cc starts");
    assert!(output.status.success(), "{source}: {}", String::from_utf8_lossy(&output.stderr));
}

/// An NVRTC whose PTX is `name`.
fn nvrtc(name: &str, to: &Path) {
    let soname = format!("-Wl,-soname,{}", to.file_name().expect("a name").to_string_lossy());
    cc("nvrtc.c", &["-shared", "-fPIC", &format!("-DNAME=\"{name}\""), &soname], to);
}

/// What a program prints with our library preloaded, or without.
fn output(preload: bool, program: &Path, arguments: &[&Path]) -> String {
    let mut command = Command::new(program);
    if preload {
        // Tests lie in target/PROFILE/deps, as libraries do.
        let test = std::env::current_exe().expect("the test's path");
        let library = test.with_file_name("libanywarp_nvrtc.so");
        assert!(library.is_file(), "{}", library.display());
        command.env("LD_PRELOAD", library);
    } else {
        command.env_remove("LD_PRELOAD");
    }
    let output = command.args(arguments).output().expect("the program starts");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn programs_that_open_nvrtc_get_the_ptx_of_that_nvrtc() {
    let folder = tempfile::tempdir().expect("a folder");
    let [first, second] = ["libnvrtc.so.12", "libnvrtc.so.13"].map(|name| folder.path().join(name));
    nvrtc("ptx of 12", &first);
    nvrtc("ptx of thirteen", &second);
    let program = folder.path().join("opens");
    cc("opens.c", &["-ldl"], &program);

    let told = |ptx: &str, size: usize| {
        format!(
            "sm_86 0 {size} 0 {ptx}\ncompute_86 0 0 0 untouched\nlto 0 8 0 machine\nnone 3 99 4 untouched\n\
             no size 3, others 1\n"
        )
    };
    let without = output(false, &program, &[&first, &second]);
    assert_eq!(without, told("machine", 8).repeat(2) + "next 1\n");
    let with = output(true, &program, &[&first, &second]);
    assert_eq!(with, told("ptx of 12", 10) + &told("ptx of thirteen", 16) + "next 1\n");
}

#[test]
fn programs_that_open_more_than_are_remembered_still_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let all: Vec<PathBuf> = (0..6).map(|n| folder.path().join(format!("libnvrtc.so.{n}"))).collect();
    for (number, path) in all.iter().enumerate() {
        nvrtc(&format!("ptx {number}"), path);
    }
    let program = folder.path().join("opens");
    cc("opens.c", &["-ldl"], &program);
    let text = output(true, &program, &all.iter().map(PathBuf::as_path).collect::<Vec<_>>());
    let codes: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("sm_86 0 ")).collect();
    assert_eq!(codes, ["6 0 ptx 0", "6 0 ptx 1", "6 0 ptx 2", "6 0 ptx 3", "8 0 machine", "8 0 machine"]);
}

#[test]
fn programs_that_are_linked_with_nvrtc_get_its_ptx() {
    let folder = tempfile::tempdir().expect("a folder");
    let library = folder.path().join("libnvrtc.so.13");
    nvrtc("the ptx", &library);
    let program = folder.path().join("linked");
    let rpath = format!("-Wl,-rpath,{}", folder.path().display());
    cc("linked.c", &[library.to_str().expect("a path"), &rpath], &program);
    assert_eq!(output(false, &program, &[]), "0 8 0 machine\n");
    assert_eq!(output(true, &program, &[]), "0 8 0 the ptx\n");
}

/// What the program of `python.c` prints for a version of cuda-bindings, a path of the module and the name of
/// the inner module. Our library lies beside the runtimes of 12 and 13.
fn python(version: &str, outer: &str, inner: &str, variables: &[(&str, &str)]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let library = std::env::current_exe().expect("the test's path").with_file_name("libanywarp_nvrtc.so");
    std::fs::copy(&library, path("libanywarp-nvrtc.so")).expect("our library");
    for (name, first) in [("libcudart.so.12", 1200), ("libcudart.so.13", 1300)] {
        cc("cudart.c", &["-shared", "-fPIC", &format!("-DFIRST={first}")], &path(name));
    }
    let module = path(outer);
    std::fs::create_dir_all(module.parent().expect("a folder")).expect("the module's folder");
    cc("cyruntime.c", &["-shared", "-fPIC"], &module);
    cc("python.c", &["-rdynamic", "-ldl"], &path("python"));
    let mut command = Command::new(path("python"));
    command.arg(version).arg(module).arg(inner).env("LD_PRELOAD", path("libanywarp-nvrtc.so"));
    let output = command.envs(variables.iter().copied()).output().expect("the program starts");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("text")
}

/// Where releases of cuda-bindings have the module, and the names of the inner one.
const MODULE: &str = "cuda/bindings/cyruntime.cpython-311-x86_64-linux-gnu.so";
const INNER: [&str; 2] = ["cuda.bindings._internal.runtime", "cuda.bindings._bindings.cyruntime"];
const PER_THREAD: &str = "CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM";

#[test]
fn pythons_module_of_the_runtime_gets_ours() {
    let thirteen = "module 1300 1301 1303 1305 36 theirs 1 held 0 pending 0\n";
    for inner in INNER {
        assert_eq!(python("13.3.1", MODULE, inner, &[]), thirteen, "{inner}");
    }
    assert_eq!(python("13.3.1", MODULE, INNER[0], &[(PER_THREAD, "0")]), thirteen);
    assert_eq!(python("13.3.1", MODULE, INNER[0], &[(PER_THREAD, "no number")]), thirteen);
    let own_streams = python("13.3.1", MODULE, INNER[0], &[(PER_THREAD, "1")]);
    assert_eq!(own_streams, "module 1300 1301 1304 1306 36 theirs 1 held 0 pending 0\n");
    // The header of 12 gives the second form the name of the first.
    let twelve = python("12.9.4", MODULE, INNER[1], &[]);
    assert_eq!(twelve, "module 1200 1202 1203 1205 36 theirs 1 held 0 pending 0\n");
}

#[test]
fn other_modules_of_python_stay_as_they_are() {
    let theirs = "module 1 1 1 1 1 theirs 1 held 0 pending 0\n";
    let inner_module = "cuda/bindings/_bindings/cyruntime.cpython-311-x86_64-linux-gnu.so";
    assert_eq!(python("13.3.1", inner_module, INNER[0], &[]), theirs);
    for unknown in ["11.8.7", "14.0.0", ""] {
        assert_eq!(python(unknown, MODULE, INNER[0], &[]), theirs, "{unknown}");
    }
    assert_eq!(python("13.3.1", MODULE, "another.module", &[]), theirs);
}
