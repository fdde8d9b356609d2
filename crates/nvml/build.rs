//! Makes a C function for every row of `data/functions.tsv`, the table of the rows, and the names under which
//! the library is found.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Functions that are written by hand, because they return no code.
const BY_HAND: &[&str] = &["nvmlErrorString"];

fn main() {
    println!("cargo:rerun-if-changed=data/functions.tsv");
    println!("cargo:rerun-if-changed=data/nvidia-smi");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libnvidia-ml.so.1");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let text = fs::read_to_string("data/functions.tsv").unwrap_or_else(|e| panic!("data/functions.tsv: {e}"));
    let mut functions = String::new();
    let mut table = String::from("/// Every function, by name.\npub static ROWS: &[Row] = &[\n");
    let rows = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    for (index, line) in rows.enumerate() {
        let (name, arguments) = line.split_once('\t').unwrap_or((line, ""));
        let arguments: Vec<(&str, &str)> =
            arguments.split(", ").filter_map(|argument| argument.split_once(' ')).collect();
        let _ = write!(table, "    Row {{ name: \"{name}\", arguments: &[");
        let (mut parameters, mut values) = (String::new(), String::new());
        for (number, (kind, argument)) in arguments.iter().enumerate() {
            let (rust, ty) = kind_of(kind).unwrap_or_else(|| panic!("{name}: unknown kind `{kind}`"));
            let _ = write!(table, "Argument {{ name: \"{argument}\", kind: {rust} }}, ");
            let _ = write!(parameters, "a{number}: {ty}, ");
            // A negative number keeps its bits.
            let _ = write!(values, "a{number} as u64, ");
        }
        table.push_str("] },\n");
        if !BY_HAND.contains(&name) {
            let _ = writeln!(
                functions,
                "#[unsafe(no_mangle)] pub extern \"C\" fn {name}({parameters}) -> u32 {{ \
                 crate::engine::call({index}, &[{values}]) }}"
            );
        }
    }
    table.push_str("];\n");
    fs::write(out.join("functions.rs"), functions).unwrap_or_else(|e| panic!("functions.rs: {e}"));
    fs::write(out.join("table.rs"), table).unwrap_or_else(|e| panic!("table.rs: {e}"));
    folder(&out);
}

/// A kind as Rust writes it, and the C type of the argument.
fn kind_of(kind: &str) -> Option<(String, &'static str)> {
    let (word, value) = kind.split_once('=').unwrap_or((kind, ""));
    let handle = |name: &str| (format!("Kind::Handle(Handle::{name})"), "u64");
    Some(match word {
        "device" => handle("Device"),
        "unit" => handle("Unit"),
        "gpu-instance" => handle("GpuInstance"),
        "compute-instance" => handle("ComputeInstance"),
        "event-set" => handle("EventSet"),
        "sample" => handle("Sample"),
        "u32" => ("Kind::Number".into(), "u32"),
        "i32" => ("Kind::Number".into(), "i32"),
        "u64" => ("Kind::Number".into(), "u64"),
        "in" => (format!("Kind::In({value})"), "u64"),
        "out" => (format!("Kind::Out({value})"), "u64"),
        "list" => (format!("Kind::List({value})"), "u64"),
        "versioned" => (format!("Kind::Versioned(&[{}])", value.replace('|', ", ")), "u64"),
        _ => return None,
    })
}

/// Links to the library in `lib-anywarp/`, beside the driver's, and `nvidia-smi` in a folder that `anywarp
/// run` puts into `PATH`.
fn folder(out: &Path) {
    // OUT_DIR is target/PROFILE/build/nvml-HASH/out.
    let Some(profile) = out.ancestors().nth(3) else { return };
    let folder = profile.join("lib-anywarp");
    if fs::create_dir_all(&folder).is_err() {
        return;
    }
    let programs = folder.join("bin");
    // Another build may be running the script: the new one is written beside it and then renamed.
    let (made, script) =
        (programs.join(format!("nvidia-smi.{}", std::process::id())), programs.join("nvidia-smi"));
    let done = fs::create_dir_all(&programs)
        .and_then(|()| fs::copy("data/nvidia-smi", &made))
        .and_then(|_| fs::rename(&made, &script));
    if let Err(error) = done {
        println!("cargo:warning={}: {error}", script.display());
    }
    // Cargo copies the library up from `deps` only when this package is asked for by name; `deps` always has
    // it.
    let library = Path::new("../deps/libnvml.so");
    for name in ["libnvidia-ml.so.1", "libnvidia-ml.so"] {
        let link = folder.join(name);
        if fs::read_link(&link).is_ok_and(|at| at == library) {
            continue;
        }
        // An older link; where there is none this fails and the next line makes it.
        let _ = fs::remove_file(&link);
        if let Err(error) = std::os::unix::fs::symlink(library, &link) {
            println!("cargo:warning={}: {error}", link.display());
        }
    }
}
