//! CMake files and makefiles: what is certain is translated, the rest is reported. The names are those of
//! ROCm's manuals on CMake and of CMake's manual on the language HIP.

use hipify::build_files::{BuildFile, translate};

fn run(text: &str, kind: BuildFile) -> (String, Vec<(usize, String)>) {
    let result = translate(text.as_bytes(), kind);
    let findings = result.diagnostics.into_iter().map(|finding| (finding.line, finding.name)).collect();
    (String::from_utf8(result.text).expect("text"), findings)
}

/// Each line becomes the second text, with findings about these words.
const CMAKE: &[(&str, &str, &[&str])] = &[
    ("project(a LANGUAGES CXX CUDA)", "project(a LANGUAGES CXX HIP)", &["CUDA"]),
    ("project(CUDA-tools VERSION 1.0)", "project(CUDA-tools VERSION 1.0)", &[]),
    ("project(CUDA CXX)", "project(CUDA CXX)", &[]),
    ("enable_language(CUDA)", "enable_language(HIP)", &["CUDA"]),
    ("find_package(CUDAToolkit REQUIRED)", "find_package(hip REQUIRED)", &[]),
    ("find_package(CUDA 11 REQUIRED)", "find_package(CUDA 11 REQUIRED)", &["CUDA"]),
    ("set(CMAKE_CUDA_STANDARD 17)", "set(CMAKE_HIP_STANDARD 17)", &[]),
    ("set(CMAKE_CUDA_FLAGS -G)", "set(CMAKE_CUDA_FLAGS -G)", &["CMAKE_CUDA_FLAGS", "-G"]),
    ("include_directories(${CUDAToolkit_INCLUDE_DIRS})", "include_directories(${hip_INCLUDE_DIRS})", &[]),
    (
        "link_directories(${CUDAToolkit_LIBRARY_DIR})",
        "link_directories(${CUDAToolkit_LIBRARY_DIR})",
        &["CUDAToolkit_LIBRARY_DIR"],
    ),
    ("if(CUDAToolkit_FOUND)", "if(hip_FOUND)", &[]),
    ("if(CUDAToolkit_VERSION LESS 12)", "if(CUDAToolkit_VERSION LESS 12)", &["CUDAToolkit_VERSION"]),
    (
        "if(${CUDAToolkit_VERSION_MAJOR} LESS 12)",
        "if(${CUDAToolkit_VERSION_MAJOR} LESS 12)",
        &["CUDAToolkit_VERSION_MAJOR"],
    ),
    ("set(CMAKE_CUDA_COMPILER nvcc)", "set(CMAKE_HIP_COMPILER nvcc)", &["nvcc"]),
    ("set(CMAKE_CUDA_COMPILER ${DIR}/bin/nvcc)", "set(CMAKE_HIP_COMPILER ${DIR}/bin/nvcc)", &["/bin/nvcc"]),
    (
        "if(CMAKE_CUDA_COMPILER_ID STREQUAL \"NVIDIA\")",
        "if(CMAKE_HIP_COMPILER_ID STREQUAL \"NVIDIA\")",
        &["NVIDIA"],
    ),
    ("message(NVIDIA)", "message(NVIDIA)", &[]),
    ("list(APPEND O -DCMAKE_CUDA_STANDARD=17)", "list(APPEND O -DCMAKE_HIP_STANDARD=17)", &[]),
    (
        "list(APPEND O -DCMAKE_CUDA_COMPILER:PATH=nvcc)",
        "list(APPEND O -DCMAKE_HIP_COMPILER:PATH=nvcc)",
        &["nvcc"],
    ),
    (
        "target_compile_options(a PRIVATE -lineinfo -fmad=false)",
        "target_compile_options(a PRIVATE -lineinfo -ffp-contract=off)",
        &["-lineinfo"],
    ),
    ("find_program(P nsys)", "find_program(P nsys)", &["nsys"]),
    ("execute_process(COMMAND cmake -G Ninja)", "execute_process(COMMAND cmake -G Ninja)", &[]),
    ("target_link_libraries(a CUDA::cudart)", "target_link_libraries(a hip::host)", &[]),
    ("target_link_libraries(a CUDA::cufft)", "target_link_libraries(a hip::hipfft)", &["CUDA::cufft"]),
    ("target_link_libraries(a CUDA::nppc)", "target_link_libraries(a CUDA::nppc)", &["CUDA::nppc"]),
    ("cuda_add_executable(a b.cu)", "cuda_add_executable(a b.cu)", &["cuda_add_executable"]),
    ("add_library(a src/b.cu c.cpp)", "add_library(a src/b.cu c.cpp)", &["src/b.cu"]),
    ("message(STATUS ready) # CUDA::cudart", "message(STATUS ready) # CUDA::cudart", &[]),
];

const MAKE: &[(&str, &str, &[&str])] = &[
    ("CC = nvcc", "CC = hipcc", &[]),
    ("CC=nvcc", "CC=hipcc", &[]),
    ("NVCC ?= /usr/local/cuda/bin/nvcc", "NVCC ?= hipcc", &["/usr/local/cuda/bin/nvcc"]),
    ("LIBS = -lcudart -lcublas -lm", "LIBS = -lamdhip64 -lhipblas -lm", &[]),
    ("F = -gencode arch=compute_80,code=sm_80", "F = -gencode arch=compute_80,code=sm_80", &["-gencode"]),
    ("F = -arch=sm_80 -O3", "F = -arch=sm_80 -O3", &["-arch=sm_80"]),
    ("F = -rdc=true --use_fast_math", "F = -fgpu-rdc -ffast-math", &[]),
    ("F = -Xcompiler -Wall", "F = -Xcompiler -Wall", &["-Xcompiler"]),
    ("F = -dc", "F = -fgpu-rdc -c", &[]),
    ("F = -dlink -G", "F = -dlink -G", &["-dlink", "-G"]),
    ("F = -fmad=false -ftz=true", "F = -ffp-contract=off -fgpu-flush-denormals-to-zero", &[]),
    (
        "F = -prec-div=false -prec-sqrt=true",
        "F = -prec-div=false -prec-sqrt=true",
        &["-prec-div=false", "-prec-sqrt=true"],
    ),
    (
        "F = -cudart=static --cudart shared",
        "F = -cudart=static --cudart shared",
        &["-cudart=static", "--cudart"],
    ),
    ("F = -Wno-deprecated-gpu-targets", "F = -Wno-deprecated-gpu-targets", &["-Wno-deprecated-gpu-targets"]),
    ("L = -lnvidia-ml -lnvjpeg -lcurl", "L = -lnvidia-ml -lnvjpeg -lcurl", &["-lnvidia-ml", "-lnvjpeg"]),
    ("\t$(NVCC) -x cu a.c", "\t$(NVCC) -x hip a.c", &[]),
    ("\tcuda-memcheck ./a", "\tcuda-memcheck ./a", &["cuda-memcheck"]),
    ("\t$(CUDA)/bin/nvprof ./a", "\t$(CUDA)/bin/nvprof ./a", &["/bin/nvprof"]),
    ("\tnsys profile ./a", "\tnsys profile ./a", &["nsys"]),
    (
        "\tcuobjdump -sass a && compute-sanitizer ./a",
        "\tcuobjdump -sass a && compute-sanitizer ./a",
        &["cuobjdump", "compute-sanitizer"],
    ),
    ("\tcmake -G Ninja .", "\tcmake -G Ninja .", &[]),
    ("# nvcc", "# nvcc", &[]),
    ("run_nvcc: nvcc-wrapper", "run_nvcc: nvcc-wrapper", &[]),
];

#[test]
fn words_become_what_is_certain_and_others_are_reported() {
    for (kind, cases) in [(BuildFile::CMake, CMAKE), (BuildFile::Make, MAKE)] {
        for (text, expected, words) in cases {
            // Some words are CUDA's only in a file for CUDA.
            let (result, findings) = run(&format!("{text}\n# CUDA"), kind);
            assert_eq!(result, format!("{expected}\n# CUDA"));
            let found: Vec<&str> = findings.iter().map(|(_, name)| name.as_str()).collect();
            assert_eq!(found, *words, "{text}");
        }
    }
}

#[test]
fn findings_have_their_lines_and_a_second_run_changes_nothing() {
    for (kind, cases) in [(BuildFile::CMake, CMAKE), (BuildFile::Make, MAKE)] {
        let text: String = cases.iter().map(|(text, ..)| format!("{text}\n")).collect();
        let (once, findings) = run(&text, kind);
        let lines: Vec<usize> = findings.iter().map(|(line, _)| *line).collect();
        let expected = cases.iter().zip(1..).flat_map(|((.., words), line)| words.iter().map(move |_| line));
        assert_eq!(lines, expected.collect::<Vec<usize>>());
        assert_eq!(run(&once, kind).0, once);
    }
}

/// An option that other programs have counts in files for CUDA only.
#[test]
fn options_of_others_stay() {
    for kind in [BuildFile::CMake, BuildFile::Make] {
        assert_eq!(run("F = -G", kind), ("F = -G".into(), Vec::new()));
    }
}

#[test]
fn files_are_known_by_their_names() {
    for name in ["CMakeLists.txt", "cuda.cmake"] {
        assert_eq!(BuildFile::of(name), Some(BuildFile::CMake), "{name}");
    }
    for name in ["Makefile", "GNUmakefile", "makefile", "Makefile.cuda", "rules.mk"] {
        assert_eq!(BuildFile::of(name), Some(BuildFile::Make), "{name}");
    }
    for name in ["main.cu", "Makefile.prehip", "cmake.txt"] {
        assert_eq!(BuildFile::of(name), None, "{name}");
    }
}
