//! Generates stubs for the functions that are not written yet and the table of all functions, and makes the
//! fronts: `libamdhip64.so.5`, `.so.6` and `.so.7`, and `libhiprtc.so.6` and `.so.7`.
//!
//! `data/exports.tsv` lists every name with its version node. A name that `src/api/*.rs` does not define gets
//! a function here that says so. A function `NAME_in_5` there is exported as `NAME` by the front of HIP 5,
//! where HIP 6 changed a layout or numbers, and `NAME_in_7` by that of HIP 7.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// The version that names without a number link to, such as `libamdhip64.so`.
const UNVERSIONED: u32 = 6;
/// Version nodes without names of ours, which programs for later versions of HIP require.
const LATER_NODES: [&str; 1] = ["hip_7.0"];

fn main() {
    println!("cargo:rerun-if-changed=data/exports.tsv");
    println!("cargo:rerun-if-changed=src/api");
    println!("cargo:rerun-if-changed=front.c");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let text = fs::read_to_string("data/exports.tsv").unwrap_or_else(|e| panic!("data/exports.tsv: {e}"));
    let exports: Vec<(&str, &str)> =
        text.lines().filter(|l| !l.starts_with('#')).filter_map(|l| l.split_once('\t')).collect();
    let mut hasher = DefaultHasher::new();
    exports.hash(&mut hasher);
    let fingerprint = hasher.finish();
    functions(&out, &exports, fingerprint);
    fronts(&out, &exports, fingerprint);
}

/// The names of functions that the sources define.
fn written() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir("src/api").into_iter().flatten().flatten() {
        let text = fs::read_to_string(entry.path()).unwrap_or_default();
        for line in text.lines().filter(|l| !l.trim_start().starts_with("//")) {
            // A second name of a function: `pub use self::NAME as OTHER;`.
            if let Some((_, other)) = line.split_once(" as _").filter(|_| line.starts_with("pub use self::"))
            {
                names.insert(format!("_{}", other.trim_end_matches(';')));
            }
            let Some((_, head)) = line.split_once(" fn ") else { continue };
            let head = head.split(['(', ';']).next().unwrap_or_default();
            names.extend(head.split(['/', ' ', ',']).filter(|w| !w.is_empty()).map(str::to_string));
        }
    }
    names
}

fn functions(out: &Path, exports: &[(&str, &str)], fingerprint: u64) {
    let written = written();
    let mut stubs = String::new();
    let mut names = String::new();
    let mut of_releases = [5, 6, 7].map(|release| (release, String::new()));
    for (name, _) in exports {
        if !written.contains(*name) {
            let _ = writeln!(
                stubs,
                "pub extern \"C\" fn {name}() -> u32 {{ crate::abi::unsupported(\"{name}\") }}"
            );
        }
        let _ = writeln!(names, "    \"{name}\",");
        for (release, functions) in &mut of_releases {
            let own = format!("{name}_in_{release}");
            let own = if written.contains(&own) { &own } else { *name };
            let _ = writeln!(functions, "    super::Function({own} as *const c_void),");
        }
    }
    let count = exports.len();
    let mut table = format!("pub static NAMES: [&str; {count}] = [\n{names}];\n");
    for (release, functions) in of_releases {
        let _ = writeln!(
            table,
            "pub static FUNCTIONS_OF_{release}: [super::Function; {count}] = [\n{functions}];\n\
             pub static OF_{release}: super::Table = super::Table {{ fingerprint: {fingerprint}, \
             count: {count}, functions: FUNCTIONS_OF_{release}.as_ptr() }};"
        );
    }
    write(&out.join("stubs.rs"), &stubs);
    write(&out.join("table.rs"), &table);
}

fn write(path: &Path, text: &str) {
    fs::write(path, text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
}

/// A node's place among versions.
fn version(node: &str) -> Vec<u32> {
    node.trim_start_matches("hip_").split('.').filter_map(|n| n.parse().ok()).collect()
}

/// A library that reaches the functions through their table.
struct Front {
    /// Its name without `.so`.
    name: &'static str,
    /// The numbers in its sonames.
    sonames: &'static [u32],
    /// The prefix of the names that it exports.
    prefix: &'static str,
    /// Whether the names have versions. AMD's libhiprtc has none.
    versioned: bool,
    /// What every function returns if there is no library behind the front: hipErrorNoDevice,
    /// HIPRTC_ERROR_INTERNAL_ERROR.
    failure: u32,
}

const FRONTS: [Front; 2] = [
    Front { name: "libamdhip64", sonames: &[5, 6, 7], prefix: "", versioned: true, failure: 100 },
    Front { name: "libhiprtc", sonames: &[6, 7], prefix: "hiprtc", versioned: false, failure: 11 },
];

/// The linker's script: the exported names, under their versions if they have some.
fn script(front: &Front, exports: &[(&str, &str)]) -> String {
    let names = |of: &dyn Fn(&str) -> bool| {
        let names: Vec<&str> = exports.iter().filter(|e| of(e.1)).map(|e| e.0).collect();
        if names.is_empty() { String::new() } else { format!("global: {};\n", names.join("; ")) }
    };
    if !front.versioned {
        return format!("{{\n{}local: *;\n}};\n", names(&|_| true));
    }
    let mut nodes: Vec<&str> = exports.iter().map(|e| e.1).chain(LATER_NODES).collect();
    nodes.sort_by_key(|n| version(n));
    nodes.dedup();
    let mut script = String::new();
    let mut before = "";
    for node in nodes {
        let local = if before.is_empty() { "local: *; " } else { "" };
        let _ = writeln!(script, "{node} {{\n{}{local}}} {before};", names(&|n| n == node));
        before = node;
    }
    script
}

/// Makes the fronts in `target/PROFILE/lib-anywarp/`, beside `libcuda.so.1`.
fn fronts(out: &Path, exports: &[(&str, &str)], fingerprint: u64) {
    // OUT_DIR is target/PROFILE/build/hip-HASH/out.
    let Some(profile) = out.ancestors().nth(3) else { return };
    let folder = profile.join("lib-anywarp");
    fs::create_dir_all(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    for front in FRONTS {
        let work = out.join(front.name);
        fs::create_dir_all(&work).unwrap_or_else(|e| panic!("{}: {e}", work.display()));
        let mut jumps = format!("#define COUNT {}\n#define FINGERPRINT {fingerprint}ull\n", exports.len());
        let mut own = Vec::new();
        for (i, export) in exports.iter().enumerate().filter(|(_, e)| e.0.starts_with(front.prefix)) {
            let _ = writeln!(jumps, "JUMP({i}, {})", export.0);
            own.push(*export);
        }
        write(&work.join("jumps.h"), &jumps);
        write(&work.join("versions.map"), &script(&front, &own));
        for number in front.sonames {
            compile(&front, *number, &work, &folder);
        }
        let link = folder.join(format!("{}.so", front.name));
        let at = PathBuf::from(format!("{}.so.{UNVERSIONED}", front.name));
        if !fs::read_link(&link).is_ok_and(|old| old == at) {
            // An older link; where there is none this fails and the next line makes it.
            let _ = fs::remove_file(&link);
            std::os::unix::fs::symlink(&at, &link).unwrap_or_else(|e| panic!("{}: {e}", link.display()));
        }
    }
}

/// Makes the front with a number in its soname.
fn compile(front: &Front, number: u32, work: &Path, folder: &Path) {
    let soname = format!("{}.so.{number}", front.name);
    let made = work.join(&soname);
    let mut cc = Command::new(env::var("CC").unwrap_or_else(|_| "cc".into()));
    cc.args(["-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-fvisibility=hidden"])
        .arg(format!("-DSONAME={number}"))
        .arg("-DTABLE=\"anywarp hip tab\"")
        .arg(format!("-DNAME=\"{soname}\""))
        .arg(format!("-DFAILURE={}", front.failure))
        .arg(format!("-Wl,-soname,{soname}"))
        .arg(format!("-Wl,--version-script={}", work.join("versions.map").display()))
        .arg("-I")
        .arg(work)
        .arg("-o")
        .arg(&made)
        .args(["front.c", "-ldl"]);
    match cc.output() {
        Ok(done) if done.status.success() => {}
        Ok(done) => panic!("{soname}: {}", String::from_utf8_lossy(&done.stderr)),
        Err(error) => panic!("{soname}: a C compiler is needed (`cc`, or what CC names): {error}"),
    }
    // Moved into place whole: a program may have the old one open.
    let fresh = folder.join(format!(".{soname}.new"));
    let moved = fs::copy(&made, &fresh).and_then(|_| fs::rename(&fresh, folder.join(&soname)));
    moved.unwrap_or_else(|e| panic!("{soname}: {e}"));
}
