//! `anywarp hipify --compile-commands`: which files are the project's.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder for one test, with files of these contents.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let folder = std::env::temp_dir().join(format!("anywarp-projects-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        let folder = Folder(folder);
        for (path, text) in files {
            let path = folder.0.join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        folder
    }

    /// Writes a database for some sources into a folder.
    fn database(&self, build: &str, options: &str, sources: &[&str]) -> PathBuf {
        let build = self.0.join(build);
        fs::create_dir_all(&build).expect("a folder");
        let commands: Vec<_> = sources
            .iter()
            .map(|source| {
                let file = self.0.join(source);
                let command = format!("nvcc {options} -c {}", file.display());
                serde_json::json!({ "directory": build, "file": file, "command": command })
            })
            .collect();
        let database = build.join("compile_commands.json");
        fs::write(&database, serde_json::to_string(&commands).expect("JSON")).expect("a file");
        database
    }

    /// Translates into the folder `hip`: the files that are there then, and what is told.
    fn translate(&self, database: &Path) -> (Vec<String>, String) {
        let out = self.0.join("hip");
        let output = Command::new(env!("CARGO_BIN_EXE_anywarp"))
            .arg("hipify")
            .arg("--o-dir")
            .arg(&out)
            .arg("--compile-commands")
            .arg(database)
            .output()
            .expect("the command starts");
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{told}");
        let mut files = Vec::new();
        list(&out, &out, &mut files);
        files.sort();
        (files, told)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn list(folder: &Path, root: &Path, files: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => list(&path, root, files),
            false => files.push(path.strip_prefix(root).expect("inside").to_string_lossy().into_owned()),
        }
    }
}

const SOURCE: &str = "#include \"../../inc/h.cuh\"\nint main() { return own(); }\n";
const HEADER: &str = "#pragma once\ninline int own() { return cudaDeviceSynchronize(); }\n";
const CMAKE: &str = "find_package(CUDAToolkit REQUIRED)\n";

/// Sources in one folder, headers beside it, a build folder, and the topmost build file above them.
#[test]
fn the_project_has_the_headers_and_the_topmost_build_file() {
    let files = [
        ("p/CMakeLists.txt", CMAKE),
        ("p/src/CMakeLists.txt", CMAKE),
        ("p/src/app/main.cu", SOURCE),
        ("p/inc/h.cuh", HEADER),
        ("p/build/Makefile", "NVCC = nvcc\n"),
        ("p/old/CMakeCache.txt", ""),
        ("p/old/CMakeFiles/rules.make", ""),
        ("p/old/rules.cmake", CMAKE),
    ];
    let folder = Folder::new("usual", &files);
    let database = folder.database("p/build", "", &["p/src/app/main.cu"]);
    let (files, told) = folder.translate(&database);
    assert_eq!(files, ["CMakeLists.txt", "inc/h.cuh", "src/CMakeLists.txt", "src/app/main.cu"], "{told}");
    let read = |name: &str| fs::read_to_string(folder.0.join("hip").join(name)).expect("a file");
    // The include leads to the header in the translation, too.
    assert!(folder.0.join("hip/src/app/../../inc/h.cuh").is_file());
    assert!(read("src/app/main.cu").contains("#include \"../../inc/h.cuh\""));
    assert!(read("inc/h.cuh").contains("hipDeviceSynchronize()") && read("CMakeLists.txt").contains("(hip "));
}

/// Without a build file above the sources, the headers that they include make the project's folder larger.
#[test]
fn headers_beside_the_sources_are_the_projects() {
    let files = [("p/src/app/main.cu", SOURCE), ("p/inc/h.cuh", HEADER), ("p/lib/l.h", HEADER)];
    let folder = Folder::new("bare", &files);
    let source = "#include \"../../inc/h.cuh\"\n#include <l.h>\n";
    fs::write(folder.0.join("p/src/app/main.cu"), source).expect("a file");
    let database = folder.database("p/out/debug", "-I../../lib", &["p/src/app/main.cu"]);
    assert_eq!(folder.translate(&database).0, ["inc/h.cuh", "lib/l.h", "src/app/main.cu"]);
}

/// A build elsewhere names its project in CMake's cache, or the repository bounds it.
#[test]
fn builds_elsewhere_have_their_project() {
    let files = [
        ("Makefile", "NVCC = nvcc\n"),
        ("p/CMakeLists.txt", CMAKE),
        ("p/src/app/main.cu", SOURCE),
        ("p/inc/h.cuh", HEADER),
    ];
    let expected = ["CMakeLists.txt", "inc/h.cuh", "src/app/main.cu"];
    let folder = Folder::new("cached", &files);
    let home = format!("CMAKE_HOME_DIRECTORY:INTERNAL={}\n", folder.0.join("p").display());
    fs::create_dir_all(folder.0.join("b")).expect("a folder");
    fs::write(folder.0.join("b/CMakeCache.txt"), home).expect("a file");
    let database = folder.database("b", "", &["p/src/app/main.cu"]);
    assert_eq!(folder.translate(&database).0, expected);
    let folder = Folder::new("repository", &files);
    fs::create_dir_all(folder.0.join("p/.git")).expect("a folder");
    let database = folder.database("b", "", &["p/src/app/main.cu"]);
    assert_eq!(folder.translate(&database).0, expected);
}

/// Headers of other projects and of the build stay, which is told.
#[test]
fn headers_of_others_are_told() {
    let source = "#include \"other.h\"\n#include \"made.h\"\n#include <system.h>\nint a = cudaFree(0);\n";
    let files = [
        ("p/CMakeLists.txt", CMAKE),
        ("p/src/main.cu", source),
        ("p/build/gen/made.h", HEADER),
        ("q/other.h", HEADER),
        ("q/system.h", HEADER),
    ];
    let folder = Folder::new("others", &files);
    let database = folder.database("p/build", "-Igen -I ../../q", &["p/src/main.cu"]);
    let (files, told) = folder.translate(&database);
    assert_eq!(files, ["CMakeLists.txt", "src/main.cu"]);
    let lines: Vec<&str> = told.lines().filter(|line| line.starts_with("anywarp: ")).collect();
    let other = folder.0.join("q/other.h");
    let made = folder.0.join("p/build/gen/made.h");
    assert_eq!(
        lines,
        [
            format!("anywarp: {} is outside the project's folder and not translated", other.display()),
            format!("anywarp: {} is a file of the build: what generates it must write HIP", made.display()),
        ]
    );
}

/// A database at the top of the project, given from there.
#[test]
fn a_database_at_the_top_works_from_there() {
    let folder = Folder::new("top", &[("p/src/app/main.cu", SOURCE), ("p/inc/h.cuh", HEADER)]);
    folder.database("p", "", &["p/src/app/main.cu"]);
    let output = Command::new(env!("CARGO_BIN_EXE_anywarp"))
        .args(["hipify", "--o-dir", "../hip", "--compile-commands", "compile_commands.json"])
        .current_dir(folder.0.join("p"))
        .output()
        .expect("the command starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut files = Vec::new();
    list(&folder.0.join("hip"), &folder.0.join("hip"), &mut files);
    files.sort();
    assert_eq!(files, ["inc/h.cuh", "src/app/main.cu"]);
}
