//! The functions of packed integers that translations define are compiled with a C++ compiler and return what
//! CUDA's return: `packed.tsv` holds the digests that `packed.cu` prints if NVIDIA's compiler compiled it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use hipify::table::all;
use hipify::{Options, Reason, translate};

/// What HIP's header defines for compilers that know no devices.
const RUNTIME: &str = "#pragma once\n#define __device__\n#define __global__\n";

fn recorded(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(file);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn translated(source: &str) -> String {
    let result = translate(source.as_bytes(), &Options::default()).expect("short enough");
    let reasons: Vec<Reason> = result.diagnostics.iter().map(|finding| finding.reason).collect();
    assert_eq!(reasons, [Reason::Supplied]);
    String::from_utf8(result.text).expect("text")
}

/// The calls of the program: number, and name of the function.
fn calls(source: &str) -> Vec<(&str, &str)> {
    source
        .lines()
        .filter_map(|line| line.trim().strip_prefix("case ")?.split_once(": r = "))
        .filter_map(|(number, call)| Some((number, call.split_once('(')?.0)))
        .collect()
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && told.is_empty(), "{command:?}: {told}");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn definitions_return_what_cuda_returns() {
    let source = recorded("packed.cu");
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("packed");
    fs::create_dir_all(folder.join("hip")).expect("a folder");
    fs::write(folder.join("hip/hip_runtime.h"), RUNTIME).expect("a header");
    let (file, program) = (folder.join("packed.cpp"), folder.join("packed"));
    fs::write(&file, translated(&source)).expect("a source");
    let mut compiler = Command::new("c++");
    compiler.args(["-std=c++11", "-O1", "-Wall", "-Wextra", "-Werror", "-fsanitize=undefined"]);
    compiler.args(["-fno-sanitize-recover", "-D__HIP_PLATFORM_AMD__", "-o"]);
    run(compiler.arg(&program).arg("-I").arg(&folder).arg(&file));
    let (digests, expected) = (run(&mut Command::new(&program)), recorded("packed.tsv"));
    let calls = calls(&source);
    let wrong: Vec<&str> = calls
        .iter()
        .zip(digests.lines().zip(expected.lines()))
        .filter(|((number, _), (is, should))| is != should || is.split('\t').next() != Some(number))
        .map(|((_, name), _)| *name)
        .collect();
    assert_eq!(wrong, [""; 0]);
    assert_eq!((digests.lines().count(), expected.lines().count()), (calls.len(), calls.len()));
}

#[test]
fn two_files_of_a_program_may_define_the_same_function() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("packed_twice");
    fs::create_dir_all(folder.join("hip")).expect("a folder");
    fs::write(folder.join("hip/hip_runtime.h"), RUNTIME).expect("a header");
    let header = "#pragma once\n__device__ inline unsigned a(unsigned x) { return __vadd4(x, x); }\n";
    fs::write(folder.join("a.h"), translated(header)).expect("a header");
    let source =
        "#include \"a.h\"\n__device__ unsigned b(unsigned x) { return a(__vadd4(__vneg2(x), x)); }\n";
    fs::write(folder.join("b.cpp"), translated(source)).expect("a source");
    let mut compiler = Command::new("c++");
    compiler.args(["-std=c++11", "-fsyntax-only", "-Wall", "-D__HIP_PLATFORM_AMD__", "-I"]);
    run(compiler.arg(&folder).arg(folder.join("b.cpp")));
}

#[test]
fn every_function_of_packed_integers_is_defined_and_recorded() {
    let packed = |name: &str| {
        let end = name.trim_end_matches("_relu");
        name.starts_with("__v") && end.ends_with(['2', '4'])
    };
    let known: Vec<&str> = all().map(|entry| entry.cuda).filter(|name| packed(name)).collect();
    let source = recorded("packed.cu");
    let recorded: Vec<&str> = calls(&source).into_iter().map(|(_, name)| name).collect();
    assert_eq!(recorded, known);
    let text = translated(&source);
    for name in known {
        assert_eq!(
            text.matches(&format!("#define {name} {name}\nstatic inline __device__ ")).count(),
            1,
            "{name}"
        );
    }
}
