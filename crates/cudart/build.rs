//! Writes the functions that are not written yet and the tables of all, and makes the fronts
//! (`libcudart.so.11.0`, `.so.12` and `.so.13`) and the library that `anywarp run` preloads for static
//! runtimes.
//!
//! `data/exports.tsv` lists every name with the versions that have it. What `src/api/*.rs` does not define
//! gets a function here that says so. Where a function has changed, `NAME_in_12` there is what the front of
//! version 12 and those before it have under `NAME`, unless there is a `NAME_in_11` for the oldest.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// The fronts: the number by which a front asks for its table, and its soname's end, which is also that of
/// the names' version.
const FRONTS: [(u32, &str); 3] = [(11, "11.0"), (12, "12"), (13, "13")];
/// The front that the name without a number links to.
const UNVERSIONED: &str = "libcudart.so.13";
/// What every function returns if there is no library behind the front: cudaErrorInsufficientDriver.
const FAILURE: u32 = 35;

/// The library that replaces static runtimes.
const STATIC: &str = "libanywarp-cudart.so";
/// The table that the libraries ask libcuda.so.1 for.
const TABLE: &str = "anywarp cudart ";

/// A name, and the versions that have it.
type Export = (String, Vec<u32>);

fn main() {
    for path in [
        "data/exports.tsv",
        "data/errors.tsv",
        "data/properties.tsv",
        "src/api",
        "../hip/front.c",
        "static.c",
    ] {
        println!("cargo:rerun-if-changed={path}");
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let exports: Vec<Export> = rows("data/exports.tsv")
        .into_iter()
        .map(|(name, versions)| (name, versions.split(' ').filter_map(|v| v.parse().ok()).collect()))
        .collect();
    let mut hasher = DefaultHasher::new();
    exports.hash(&mut hasher);
    let fingerprint = hasher.finish();
    functions(&out, &exports, fingerprint);
    errors(&out);
    properties(&out);
    fronts(&out, &exports, fingerprint);
}

/// The rows of a table with two columns.
fn rows(path: &str) -> Vec<(String, String)> {
    let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let lines = text.lines().filter(|l| !l.starts_with('#'));
    lines.filter_map(|l| l.split_once('\t')).map(|(a, b)| (a.to_string(), b.to_string())).collect()
}

/// The names of functions that the sources define.
fn written() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir("src/api").into_iter().flatten().flatten() {
        let text = fs::read_to_string(entry.path()).unwrap_or_default();
        for line in text.lines().filter(|l| !l.trim_start().starts_with("//")) {
            let Some((_, head)) = line.split_once(" fn ") else { continue };
            let head = head.split(['(', ';']).next().unwrap_or_default();
            names.extend(head.split(['/', ' ', ',']).filter(|w| !w.is_empty()).map(str::to_string));
        }
    }
    names
}

fn functions(out: &Path, exports: &[Export], fingerprint: u64) {
    let written = written();
    let mut stubs = String::new();
    let mut table = String::new();
    let count = exports.len();
    for (name, _) in exports.iter().filter(|e| !written.contains(&e.0)) {
        let _ =
            writeln!(stubs, "pub extern \"C\" fn {name}() -> u32 {{ crate::abi::unsupported(\"{name}\") }}");
    }
    for (number, _) in FRONTS {
        let _ = writeln!(table, "pub static FUNCTIONS_{number}: [super::Function; {count}] = [");
        for (name, _) in exports {
            let own = (number..13).map(|n| format!("{name}_in_{n}")).find(|n| written.contains(n));
            let _ =
                writeln!(table, "    super::Function({} as *const c_void),", own.as_ref().unwrap_or(name));
        }
        let _ = writeln!(
            table,
            "];\npub static OF_{number}: super::Table = super::Table {{ fingerprint: {fingerprint}, \
             count: {count}, functions: FUNCTIONS_{number}.as_ptr() }};"
        );
    }
    let _ = writeln!(table, "pub static NAMES: [&str; {count}] = [");
    for (name, _) in exports {
        let _ = writeln!(table, "    \"{name}\",");
    }
    table.push_str("];\n");
    write(&out.join("stubs.rs"), &stubs);
    write(&out.join("table.rs"), &table);
}

/// The table of status codes.
fn errors(out: &Path) {
    let mut text = String::from("&[\n");
    for (number, name) in rows("data/errors.tsv") {
        let _ = writeln!(text, "    ({number}, c\"{name}\"),");
    }
    text.push_str("]\n");
    write(&out.join("errors.rs"), &text);
}

/// The fields of `cudaDeviceProp`.
fn properties(out: &Path) {
    let file =
        fs::read_to_string("data/properties.tsv").unwrap_or_else(|e| panic!("data/properties.tsv: {e}"));
    let mut text = String::from("&[\n");
    for line in file.lines().filter(|l| !l.starts_with('#')) {
        let [name, at @ .., size, attributes] = &*line.split('\t').collect::<Vec<_>>() else { continue };
        let at: Vec<String> =
            at.iter().map(|at| if *at == "-" { "None".into() } else { format!("Some({at})") }).collect();
        let _ = writeln!(
            text,
            "    Property {{ name: \"{name}\", at: [{}], size: {size}, attributes: &[{}] }},",
            at.join(", "),
            attributes.trim_start_matches('-')
        );
    }
    text.push_str("]\n");
    write(&out.join("properties.rs"), &text);
}

fn write(path: &Path, text: &str) {
    fs::write(path, text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
}

/// Makes the fronts in `target/PROFILE/lib-anywarp/`, beside `libcuda.so.1`.
fn fronts(out: &Path, exports: &[Export], fingerprint: u64) {
    // OUT_DIR is target/PROFILE/build/cudart-HASH/out.
    let Some(profile) = out.ancestors().nth(3) else { return };
    let folder = profile.join("lib-anywarp");
    fs::create_dir_all(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    for (number, end) in FRONTS {
        let soname = format!("libcudart.so.{end}");
        let work = out.join(&soname);
        fs::create_dir_all(&work).unwrap_or_else(|e| panic!("{}: {e}", work.display()));
        let mut jumps = format!("#define COUNT {}\n#define FINGERPRINT {fingerprint}ull\n", exports.len());
        let mut script = format!("{soname} {{\nglobal:\n");
        for (i, (name, _)) in exports.iter().enumerate().filter(|(_, e)| e.1.contains(&number)) {
            let _ = writeln!(jumps, "JUMP({i}, {name})");
            let _ = writeln!(script, "{name};");
        }
        script.push_str("local: *;\n};\n");
        write(&work.join("jumps.h"), &jumps);
        write(&work.join("versions.map"), &script);
        let mut cc = compiler(&soname, &work);
        cc.arg(format!("-DSONAME={number}"))
            .arg(format!("-DNAME=\"{soname}\""))
            .arg(format!("-DFAILURE={FAILURE}"))
            .arg(format!("-Wl,--version-script={}", work.join("versions.map").display()))
            .args(["../hip/front.c", "-ldl"]);
        finish(cc, &soname, &work, &folder);
    }
    let mut names = format!("#define COUNT {}\n#define FINGERPRINT {fingerprint}ull\n", exports.len());
    names.push_str("static const char *const NAMES[COUNT] = {\n");
    for (name, _) in exports {
        let _ = writeln!(names, "    \"{name}\",");
    }
    names.push_str("};\n");
    let work = out.join(STATIC);
    fs::create_dir_all(&work).unwrap_or_else(|e| panic!("{}: {e}", work.display()));
    write(&work.join("names.h"), &names);
    let mut cc = compiler(STATIC, &work);
    cc.arg(format!("-DOWN=\"{STATIC}\"")).args(["static.c", "-ldl"]);
    finish(cc, STATIC, &work, &folder);
    let link = folder.join("libcudart.so");
    if !fs::read_link(&link).is_ok_and(|old| old == Path::new(UNVERSIONED)) {
        // Removes an older link. If there is none this fails, and the next line makes one.
        let _ = fs::remove_file(&link);
        std::os::unix::fs::symlink(UNVERSIONED, &link).unwrap_or_else(|e| panic!("{}: {e}", link.display()));
    }
}

/// The C compiler, about to make a library in a folder for work.
fn compiler(soname: &str, work: &Path) -> Command {
    let mut cc = Command::new(env::var("CC").unwrap_or_else(|_| "cc".into()));
    cc.args(["-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-fvisibility=hidden"])
        .arg(format!("-DTABLE=\"{TABLE}\""))
        .arg(format!("-Wl,-soname,{soname}"))
        .arg("-I")
        .arg(work)
        .arg("-o")
        .arg(work.join(soname));
    cc
}

/// Compiles a library and puts it into the folder of the driver's libraries.
fn finish(mut cc: Command, soname: &str, work: &Path, folder: &Path) {
    match cc.output() {
        Ok(done) if done.status.success() => {}
        Ok(done) => panic!("{soname}: {}", String::from_utf8_lossy(&done.stderr)),
        Err(error) => panic!("{soname}: a C compiler is needed (`cc`, or what CC names): {error}"),
    }
    // Moved into place whole: a program may have the old one open.
    let fresh = folder.join(format!(".{soname}.new"));
    let moved = fs::copy(work.join(soname), &fresh).and_then(|_| fs::rename(&fresh, folder.join(soname)));
    moved.unwrap_or_else(|e| panic!("{soname}: {e}"));
}
