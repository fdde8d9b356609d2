//! `include/cuda.h`: every version of C accepts it, the examples and the recorders compile with it, and
//! everything that it declares is exported.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs the C compiler on `source` with our header before all others, and discards the object.
fn compile(flags: &[&str], source: &Path) -> Output {
    Command::new("cc")
        .args(["-Wall", "-Wextra", "-Werror", "-c", "-o", "/dev/null", "-I"])
        .arg(root().join("include"))
        .args(flags)
        .arg(source)
        .output()
        .expect("cc starts")
}

fn assert_compiles(flags: &[&str], source: &Path) {
    let output = compile(flags, source);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{flags:?} {}:\n{told}", source.display());
}

fn c_files(folder: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(root().join(folder))
        .unwrap_or_else(|error| panic!("{folder}: {error}"))
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "c"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no C files in {folder}");
    files
}

#[test]
fn every_c_takes_it() {
    let header = root().join("include/cuda.h");
    for define in [&[][..], &["-DCUDA_API_PER_THREAD_DEFAULT_STREAM"]] {
        for standard in ["-std=c99", "-std=c11", "-std=gnu17"] {
            assert_compiles(&[&[standard, "-xc"], define].concat(), &header);
        }
    }
}

#[test]
fn the_examples_compile() {
    for file in c_files("examples/c") {
        assert_compiles(&["-std=c11", "-D_GNU_SOURCE"], &file);
    }
}

/// Folders of programs that call a driver library.
const RECORDERS: [&str; 8] = [
    "tests/async",
    "tests/cluster",
    "tests/hw",
    "tests/hw/matrix",
    "tests/probe",
    "tests/probe/procaddr",
    "tests/record",
    "tests/texture",
];

#[test]
fn the_recorders_compile() {
    let shared = format!("-I{}", root().join("tests/record").display());
    for folder in RECORDERS {
        let texts = format!("-Wa,-I,{}", root().join(folder).display());
        for file in c_files(folder) {
            // The probe calls every function through one type, including deprecated ones.
            let flags =
                ["-std=gnu11", "-Wno-cast-function-type", "-Wno-deprecated-declarations", &texts, &shared];
            assert_compiles(&flags, &file);
        }
    }
}

/// The symbols that a program using every declared function would link to.
fn linked_names(flags: &[&str]) -> BTreeSet<String> {
    let output = Command::new("cc")
        .args(["-E", "-P"])
        .args(flags)
        .arg(root().join("include/cuda.h"))
        .output()
        .expect("cc preprocesses");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    // Functions with a body are compiled into the program.
    text.replace("static inline CUresult ", "")
        .split("CUresult ")
        .filter_map(|after| after.trim_start().split_once('('))
        .map(|(name, _)| name.to_string())
        .filter(|name| name.starts_with("cu") && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))
        .collect()
}

#[test]
fn what_it_declares_is_exported() {
    let exports = fs::read_to_string(root().join("tests/probe/exports.txt")).expect("the recorded exports");
    let exports: BTreeSet<&str> = exports.lines().collect();
    for flags in [&[][..], &["-DCUDA_API_PER_THREAD_DEFAULT_STREAM"]] {
        let names = linked_names(flags);
        assert!(names.len() > 300, "{}", names.len());
        let missing: Vec<&String> = names.iter().filter(|name| !exports.contains(name.as_str())).collect();
        assert!(missing.is_empty(), "{flags:?}: {missing:?}");
    }
    assert!(linked_names(&[]).contains("cuMemAlloc_v2"));
    assert!(linked_names(&["-DCUDA_API_PER_THREAD_DEFAULT_STREAM"]).contains("cuMemcpyHtoD_v2_ptds"));
}
