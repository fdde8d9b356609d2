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
    ("set(CMAKE_CUDA_FLAGS -G)", "set(CMAKE_CUDA_FLAGS -G)", &["CMAKE_CUDA_FLAGS"]),
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
    ("# nvcc", "# nvcc", &[]),
    ("run_nvcc: nvcc-wrapper", "run_nvcc: nvcc-wrapper", &[]),
];

#[test]
fn words_become_what_is_certain_and_others_are_reported() {
    for (kind, cases) in [(BuildFile::CMake, CMAKE), (BuildFile::Make, MAKE)] {
        for (text, expected, words) in cases {
            let (result, findings) = run(text, kind);
            assert_eq!(result, *expected);
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
