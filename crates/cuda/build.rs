//! Generates stubs for the functions that are not written yet, the table of all exports, and the names under
//! which the library is found.
//!
//! `data/exports.txt` lists every name that libcuda.so.1 exports. A name that `src/api/*.rs` does not define
//! gets a function here, or a variable if it is one of a debugger's variables.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The debugger's names that are functions; the others are variables that a debugger reads and writes.
const DEBUGGER_FUNCTIONS: &[&str] = &[
    "cudbgApiAttach",
    "cudbgApiDetach",
    "cudbgApiInit",
    "cudbgGetAPI",
    "cudbgGetAPIVersion",
    "cudbgMain",
    "cudbgReportDriverApiError",
    "cudbgReportDriverInternalError",
];

fn main() {
    println!("cargo:rerun-if-changed=data/exports.txt");
    println!("cargo:rerun-if-changed=src/api");
    println!("cargo:rerun-if-changed=data/ptxas");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libcuda.so.1");
    // The runtime's functions call the driver's. A program may have variables with their names.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-Bsymbolic");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let exports = fs::read_to_string("data/exports.txt").unwrap_or_default();
    let exports: Vec<&str> = exports.lines().filter(|l| !l.is_empty()).collect();
    let written = written();
    let mut stubs = String::new();
    let mut table = String::from("unsafe extern \"C\" {\n");
    for name in &exports {
        let variable = name.starts_with("cudbg") && !DEBUGGER_FUNCTIONS.contains(name);
        if !written.contains(*name) {
            if variable {
                let _ = writeln!(
                    stubs,
                    "#[unsafe(no_mangle)] pub static {name}: crate::abi::Variable = crate::abi::Variable::new();"
                );
            } else {
                let _ = writeln!(
                    stubs,
                    "#[unsafe(no_mangle)] pub extern \"C\" fn {name}() -> u32 {{ crate::abi::unsupported(\"{name}\") }}"
                );
            }
        }
        if !name.starts_with("cudbg") {
            let _ = writeln!(table, "    fn {name}();");
        }
    }
    table.push_str("}\n/// Every exported function, by name.\npub static EXPORTS: &[(&str, unsafe extern \"C\" fn())] = &[\n");
    let mut sorted: Vec<&str> = exports.iter().copied().filter(|n| !n.starts_with("cudbg")).collect();
    sorted.sort_unstable();
    for name in &sorted {
        let _ = writeln!(table, "    (\"{name}\", {name}),");
    }
    table.push_str("];\n");
    fs::write(out.join("stubs.rs"), stubs).unwrap_or_else(|e| panic!("stubs.rs: {e}"));
    fs::write(out.join("exports.rs"), table).unwrap_or_else(|e| panic!("exports.rs: {e}"));
    folder(&out);
}

/// The names that the sources define: `NEED fn cuName / cuTwin (` in the `api!` tables.
fn written() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir("src/api").into_iter().flatten().flatten() {
        let text = fs::read_to_string(entry.path()).unwrap_or_default();
        for line in text.lines() {
            let Some((_, head)) = line.split_once(" fn ").filter(|h| h.1.starts_with("cu")) else { continue };
            let head = head.split('(').next().unwrap_or_default();
            names.extend(head.split(['/', ' ', ',']).filter(|w| w.starts_with("cu")).map(str::to_string));
        }
    }
    names
}

/// Makes `lib-anywarp/` beside the library. It holds links to the library under the two names that programs
/// open, and our replacement for NVIDIA's assembler.
fn folder(out: &Path) {
    // OUT_DIR is target/PROFILE/build/cuda-HASH/out.
    let Some(profile) = out.ancestors().nth(3) else { return };
    let folder = profile.join("lib-anywarp");
    if fs::create_dir_all(&folder).is_err() {
        return;
    }
    // Another build may be running the script: the new one is written beside it and then renamed.
    let (made, script) = (folder.join(format!("ptxas.{}", std::process::id())), folder.join("ptxas"));
    if let Err(error) = fs::copy("data/ptxas", &made).and_then(|_| fs::rename(&made, &script)) {
        println!("cargo:warning={}: {error}", script.display());
    }
    // Cargo copies the library up from `deps` only when this package is asked for by name; `deps` always has
    // it.
    let library = Path::new("../deps/libcuda.so");
    for name in ["libcuda.so.1", "libcuda.so"] {
        let link = folder.join(name);
        if fs::read_link(&link).is_ok_and(|at| at == library) {
            continue;
        }
        // Removes an older link. If there is none this fails, and the next line makes one.
        let _ = fs::remove_file(&link);
        if let Err(error) = std::os::unix::fs::symlink(library, &link) {
            println!("cargo:warning={}: {error}", link.display());
        }
    }
}
