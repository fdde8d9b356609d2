//! `include/cuda.h`: every version of C accepts it, the examples and the recorders compile with it, and
//! everything that it declares is exported. `include/hip/`: C and C++ accept every file, and what they
//! declare is exported.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use hwtruth::sample;

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

/// NVIDIA's `driver_types.h` defines `CUuuid` too; both orders of the headers must compile, in C and in C++.
/// Samples of the driver API include it, for `float4` and its like, through `builtin_types.h`.
#[test]
fn it_shares_the_uuid_with_the_runtimes_types() {
    const TYPES: &str = "#ifndef CU_UUID_HAS_BEEN_DEFINED\n#define CU_UUID_HAS_BEEN_DEFINED\n\
        struct CUuuid_st { char bytes[16]; };\ntypedef struct CUuuid_st CUuuid;\n#endif\n";
    const OURS: &str = "#include <cuda.h>\n";
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in [("before.c", [TYPES, OURS]), ("after.c", [OURS, TYPES])] {
        let source = folder.path().join(name);
        fs::write(&source, text.concat() + "int size[sizeof(CUuuid) == 16 ? 1 : -1];\n")
            .expect("writes the source");
        assert_compiles(&["-xc"], &source);
        assert_compiles(&["-xc++"], &source);
    }
}

/// The types that NVIDIA's `cudaTypedefs.h` takes from `cuda.h` for functions of older versions, with the
/// sizes that they have there (CUDA 13.0).
#[test]
fn it_has_the_types_of_older_functions() {
    const SIZES: [(&str, usize); 5] = [
        ("CUDA_KERNEL_NODE_PARAMS_v1", 56),
        ("CUDA_EXTERNAL_MEMORY_HANDLE_DESC_v1", 104),
        ("CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC_v1", 120),
        ("CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC_v1", 96),
        ("CUarrayMapInfo_v1", 96),
    ];
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("types.c");
    let text: String = SIZES
        .iter()
        .map(|(name, size)| {
            let function = format!("typedef CUresult (CUDAAPI *of_{name})(const {name} *);\n");
            function + &format!("int {name}_size[sizeof({name}) == {size} ? 1 : -1];\n")
        })
        .collect();
    fs::write(&source, format!("#include <cuda.h>\n{text}")).expect("writes the source");
    for language in ["-xc", "-xc++"] {
        assert_compiles(&[language], &source);
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
        for file in c_files(folder).into_iter().step_by(sample::of(1, 8)) {
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

/// The names that the library exports.
fn exports() -> BTreeSet<String> {
    let exports = fs::read_to_string(root().join("crates/cuda/data/exports.txt")).expect("the exports");
    exports.lines().map(str::to_owned).collect()
}

#[test]
fn what_it_declares_is_exported() {
    let exports = exports();
    for flags in [&[][..], &["-DCUDA_API_PER_THREAD_DEFAULT_STREAM"]] {
        let names = linked_names(flags);
        assert!(names.len() > 300, "{}", names.len());
        let missing: Vec<&String> = names.iter().filter(|name| !exports.contains(*name)).collect();
        assert!(missing.is_empty(), "{flags:?}: {missing:?}");
    }
    assert!(linked_names(&[]).contains("cuMemAlloc_v2"));
    assert!(linked_names(&["-DCUDA_API_PER_THREAD_DEFAULT_STREAM"]).contains("cuMemcpyHtoD_v2_ptds"));
}

/// Exported functions that NVIDIA's `cuda.h` does not declare either, but the headers of OpenGL, EGL, VDPAU
/// and debuggers, or none, by the start of their names.
const IN_OTHER_HEADERS: [&str; 9] = [
    "cuEGL",
    "cuGL",
    "cuGraphicsEGL",
    "cuGraphicsGL",
    "cuGraphicsResourceGetMappedEglFrame",
    "cuGraphicsVDPAU",
    "cuProfilerInitialize",
    "cuVDPAU",
    "cudbg",
];

/// A function is declared if the header has its name, or that of another version of it: programs write names
/// without versions.
#[test]
fn it_declares_what_is_exported() {
    fn without_version(name: &str) -> &str {
        let name = name.strip_suffix("_ptds").or_else(|| name.strip_suffix("_ptsz")).unwrap_or(name);
        let version = name.rsplit_once("_v").filter(|(_, number)| number.parse::<u32>().is_ok());
        version.map_or(name, |(name, _)| name)
    }
    let linked = linked_names(&[]);
    let header = fs::read_to_string(root().join("include/cuda.h")).expect("the header");
    // `cuGraphInstantiate` is another function's name in programs.
    let mapped = header.lines().filter_map(|l| l.strip_prefix("#define ")?.split(' ').next());
    let declared: BTreeSet<&str> = linked.iter().map(|name| without_version(name)).chain(mapped).collect();
    let (exports, mut undeclared) = (exports(), BTreeSet::new());
    for name in &exports {
        let elsewhere = IN_OTHER_HEADERS.iter().any(|start| name.starts_with(start));
        // `cuMemGetAttribute` is in no header of NVIDIA's.
        if !elsewhere && !name.starts_with("cuMemGetAttribute") && !declared.contains(without_version(name)) {
            undeclared.insert(name);
        }
    }
    assert!(undeclared.is_empty(), "{undeclared:?}");
    let unused: Vec<_> = IN_OTHER_HEADERS
        .iter()
        .filter(|start| !exports.iter().any(|name| name.starts_with(**start)))
        .collect();
    assert!(unused.is_empty(), "{unused:?}");
}

#[test]
fn c_and_cpp_take_hips_headers() {
    let folder = root().join("include/hip");
    let mut seen = 0;
    for entry in fs::read_dir(&folder).expect("the folder") {
        let header = entry.expect("an entry").path();
        let languages =
            [["-std=c11", "-xc"], ["-std=gnu17", "-xc"], ["-std=c++11", "-xc++"], ["-std=c++20", "-xc++"]];
        // In the sample each header in one language.
        let some = languages.iter().skip(sample::of(0, seen % 4)).take(sample::of(4, 1));
        for flags in some {
            assert_compiles(&[&flags[..], &["-include", "hip/hip_runtime.h"]].concat(), &header);
        }
        seen += 1;
    }
    assert!(seen >= 6, "{seen}");
}

#[test]
fn fills_take_the_parameters_of_hip_6_and_7() {
    let source = root().join("tests/header/memset_params.c");
    for flags in [["-std=c11", "-xc"], ["-std=c++11", "-xc++"], ["-std=c++20", "-xc++"]] {
        assert_compiles(&flags, &source);
    }
}

/// The beginnings of names that the library exports and no public header of HIP 6.3 or later declares, with
/// the reason. HIP 5.2's declares four functions of the tracer.
const IN_NO_HEADER_OF_AMD: &[(&str, &str)] = &[
    ("_Z", "C++ names of functions that are declared as C functions"),
    ("__gnu_", "conversions that compilers call"),
    ("__hipRegister", "clang's code for the host calls them"),
    ("__hipUnregister", "clang's code for the host calls it"),
    ("amd_dbgapi_", "for AMD's debugger"),
    ("hipChooseDevice", "the layout of HIP 5; in programs the name stands for hipChooseDeviceR0600"),
    ("hipGetDeviceProperties", "the layout of HIP 5; in programs the name stands for ...R0600"),
    ("hipEnableActivityCallback", "AMD's tracer"),
    ("hipGetCmdName", "AMD's tracer"),
    ("hipInitActivityCallback", "AMD's tracer"),
    ("hipRegisterActivityCallback", "AMD's tracer"),
    ("hipRegisterApiCallback", "AMD's tracer"),
    ("hipRegisterTracerCallback", "AMD's tracer"),
    ("hipRemoveActivityCallback", "AMD's tracer"),
    ("hipRemoveApiCallback", "AMD's tracer"),
];

#[test]
fn hips_headers_declare_what_is_exported() {
    let mut program = Command::new("cc");
    program.args(["-E", "-P", "-xc", "-I"]).arg(root().join("include"));
    for header in ["hip/hip_ext.h", "hip/hip_gl_interop.h"] {
        program.args(["-include", header]);
    }
    let output = program.arg(root().join("include/hip/hip_deprecated.h")).output().expect("cc preprocesses");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let declared: BTreeSet<&str> = text
        .split(';')
        .filter_map(|declaration| declaration.trim().split_once('('))
        .filter_map(|(head, _)| head.rsplit([' ', '*']).next())
        .filter(|name| name.starts_with("hip") || name.starts_with("__hip"))
        .collect();
    let exports = fs::read_to_string(root().join("crates/hip/data/exports.tsv")).expect("the exports");
    let rows = exports.lines().filter(|line| !line.starts_with('#'));
    let exported: BTreeSet<&str> = rows.filter_map(|l| l.split('\t').next()).collect();
    let unknown: Vec<&&str> = declared.iter().filter(|name| !exported.contains(*name)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    let missing: BTreeSet<&str> = exported.difference(&declared).copied().collect();
    let reasons: Vec<&str> = IN_NO_HEADER_OF_AMD.iter().map(|row| row.0).collect();
    let unreasoned: Vec<_> =
        missing.iter().filter(|name| !reasons.iter().any(|start| name.starts_with(start))).collect();
    assert!(unreasoned.is_empty(), "{unreasoned:?}");
    let unused: Vec<_> =
        reasons.iter().filter(|start| !missing.iter().any(|name| name.starts_with(**start))).collect();
    assert!(unused.is_empty(), "{unused:?}");
}
