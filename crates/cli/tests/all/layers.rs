//! Checks the layers of ARCHITECTURE.md against the manifests: a crate may use only those of our crates that
//! are listed for it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Each crate, with those of our crates that it may depend on.
const ALLOWED: &[(&str, &[&str])] = &[
    ("ptx", &[]),
    ("image", &[]),
    ("gcn", &[]),
    ("host", &[]),
    ("hwtruth", &[]),
    ("hipify", &[]),
    ("clang", &["host"]),
    ("tensormap", &[]),
    ("names", &[]),
    ("texture", &["names"]),
    ("tensor", &["names"]),
    ("wave", &["names", "tensor", "texture"]),
    ("lower", &["ptx", "tensor", "texture", "wave"]),
    ("gcn-lower", &["gcn", "texture", "wave"]),
    ("simd", &["host", "names", "wave"]),
    ("grid", &["host", "tensor", "tensormap", "texture", "wave"]),
    ("driver", &["host", "image", "texture"]),
    ("cpu", &["host", "driver", "image", "gcn", "gcn-lower", "ptx", "lower", "wave", "simd", "grid"]),
    ("capi", &["driver", "image"]),
    ("hip", &["capi", "clang", "driver", "host", "image"]),
    ("cudart", &["capi", "driver", "host", "image"]),
    ("cuda", &["capi", "cudart", "hip", "driver", "image", "cpu", "tensormap"]),
    ("nvml", &["capi", "cpu", "driver", "host"]),
    ("nvrtc", &[]),
    ("nvtx", &["driver", "host"]),
    (
        "cli",
        &[
            "host", "clang", "cuda", "nvml", "nvrtc", "nvtx", "cpu", "driver", "image", "gcn", "ptx",
            "lower", "wave", "simd", "hipify",
        ],
    ),
];

/// The names in the tables `[dependencies]` and `[build-dependencies]` of a manifest. Dependencies of tests
/// are unrestricted.
fn dependencies(manifest: &str) -> Vec<String> {
    let mut inside = false;
    let mut names = Vec::new();
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            inside = line == "[dependencies]" || line == "[build-dependencies]";
        } else if inside && !line.is_empty() && !line.starts_with('#') {
            names.extend(line.split(['.', '=', ' ']).next().map(String::from));
        }
    }
    names
}

#[test]
fn arrows_point_down() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("crates/");
    let allowed: BTreeMap<&str, &[&str]> = ALLOWED.iter().copied().collect();
    let mut seen = 0;
    for entry in fs::read_dir(crates).expect("crates/ can be read") {
        let folder = entry.expect("an entry").path();
        let Ok(manifest) = fs::read_to_string(folder.join("Cargo.toml")) else { continue };
        let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
        let may = allowed
            .get(name.as_str())
            .unwrap_or_else(|| panic!("crate {name} is not in the table of arrows"));
        for dependency in dependencies(&manifest) {
            let ours = allowed.contains_key(dependency.as_str());
            assert!(!ours || may.contains(&dependency.as_str()), "{name} must not know {dependency}");
        }
        seen += 1;
    }
    assert_eq!(seen, ALLOWED.len(), "a crate of the table is missing");
}

/// The Rust files in a folder and below it: each file's path and text.
fn sources(folder: &Path, list: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, list);
        } else if path.extension().is_some_and(|e| e == "rs") {
            list.push((path.display().to_string(), fs::read_to_string(&path).expect("a source")));
        }
    }
}

/// The CPU backend knows kinds of code through one trait: only the files of a front end name its crates.
#[test]
fn front_ends_are_files() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cpu/src");
    let mut files = Vec::new();
    sources(&source, &mut files);
    for (file, crates) in
        [("front/ptx", ["ptx::", "lower::"].as_slice()), ("front/amd", &["gcn::", "gcn_lower::"])]
    {
        for name in crates {
            let names = |text: &str| {
                let is_word =
                    |at: usize| !text[..at].ends_with(|c: char| c.is_alphanumeric() || "_:".contains(c));
                let paths = text.match_indices(name).filter(|(at, _)| is_word(*at));
                paths.filter(|(at, _)| !text[..*at].ends_with("self::")).count() > 0
            };
            let users: Vec<&str> =
                files.iter().filter(|(_, text)| names(text)).map(|(path, _)| &**path).collect();
            assert!(
                !users.is_empty() && users.iter().all(|u| u.contains(file)),
                "{name} is used by {users:?}"
            );
        }
    }
}

/// Whether a text's documentation has an example that rustdoc would run.
fn has_an_example(text: &str) -> bool {
    let mut open = false;
    text.lines().any(|line| {
        let line = line.trim_start();
        let doc = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
        let Some(kind) = doc.and_then(|d| d.trim_start().strip_prefix("```")) else { return false };
        open = !open;
        open && matches!(kind.trim(), "" | "rust" | "should_panic" | "no_run" | "compile_fail")
    })
}

/// A crate whose manifest says `test = false` or `doctest = false`, which saves building it again, has no
/// such tests.
#[test]
fn no_test_is_switched_off() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("crates/");
    let mut switched = 0;
    for folder in ALLOWED.iter().map(|(name, _)| crates.join(name)).chain([crates.join("../bench")]) {
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
        let off = |word: &str| manifest.lines().any(|line| line == format!("{word} = false"));
        let mut files = Vec::new();
        sources(&folder.join("src"), &mut files);
        for (path, text) in files {
            let tests = text.lines().any(|line| line.trim() == "#[test]");
            assert!(!(off("test") && tests), "{path} has tests that cargo does not run");
            assert!(!(off("doctest") && has_an_example(&text)), "{path}: the example does not run");
        }
        switched += usize::from(off("test"));
    }
    assert!(switched > 0, "the reader of manifests finds nothing");
}

#[test]
fn examples_are_told_from_other_texts() {
    assert!(has_an_example("/// ```\n/// f();\n/// ```"));
    assert!(has_an_example("//! ```rust\n//! ```"));
    assert!(!has_an_example("/// ```text\n/// a b\n/// ```"));
}

#[test]
fn the_reader_of_manifests_sees_both_spellings() {
    let text = "[package]\nname = \"x\"\n[dependencies]\nwave.workspace = true\nptx = { path = \"..\" }\n[dev-dependencies]\ngrid = \"1\"";
    assert_eq!(dependencies(text), ["wave", "ptx"]);
}

/// A library must not obey the environment of a user with fewer rights, run programs found through `PATH`, or
/// write files that somebody may have planted. The crate `host` does these things safely; all others must use
/// it.
#[test]
fn only_host_touches_the_environment_and_the_disk() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("crates/");
    for (name, _) in ALLOWED.iter().filter(|(name, _)| !["host", "hwtruth", "cli", "hipify"].contains(name)) {
        let mut list = Vec::new();
        sources(&crates.join(name).join("src"), &mut list);
        assert!(!list.is_empty(), "{name}");
        for (path, text) in list {
            let text = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
            for call in [
                "env::var",
                "getenv",
                "Command::new",
                "temp_dir()",
                "fs::write(",
                "File::create(",
                "eprintln!",
            ] {
                assert!(!text.contains(call), "{path}: `{call}`: the crate `host` does it safely");
            }
        }
    }
}

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The options are read where the driver is created, where NVTX opens its library and where the command
/// starts, and passed down from there.
#[test]
fn options_are_read_in_one_place() {
    let readers = [
        "driver/src/lib.rs",
        "driver/src/inventory.rs",
        "driver/src/log.rs",
        "nvtx/src/lib.rs",
        "cli/src/main.rs",
    ];
    for (name, _) in ALLOWED.iter().filter(|(name, _)| !["host", "hwtruth"].contains(name)) {
        let mut list = Vec::new();
        sources(&root().join("crates").join(name).join("src"), &mut list);
        for (path, text) in list {
            for call in ["var(\"ANYWARP_", "var_os(\"ANYWARP_"] {
                assert!(!text.contains(call), "{path}: `{call}`: use host::options");
            }
            let reads = ["Reading::of_process", "level_of_process"].iter().any(|call| text.contains(call));
            assert_eq!(
                reads,
                readers.iter().any(|reader| path.ends_with(reader)),
                "{path} reads the options"
            );
        }
    }
}

/// The table of variables in docs/commands.md matches the rows; `UPDATE_EXPECT=1` writes it.
#[test]
fn the_document_has_every_option() {
    let path = root().join("docs/commands.md");
    let document = fs::read_to_string(&path).expect("docs/commands.md");
    let row =
        |line: &str| host::options::ROWS.iter().any(|row| line.starts_with(&format!("| `{}`", row.name)));
    let lines: Vec<&str> = document.lines().collect();
    let first = lines.iter().position(|line| row(line)).expect("docs/commands.md has a table of variables");
    let count = lines.iter().skip(first).take_while(|line| line.starts_with("| `")).count();
    let wanted: Vec<String> =
        host::options::ROWS.iter().map(|row| format!("| `{}` | {} |", row.name, row.meaning())).collect();
    let (before, rest) = lines.split_at(first);
    let (table, after) = rest.split_at(count);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let lines: Vec<&str> = before
            .iter()
            .copied()
            .chain(wanted.iter().map(String::as_str))
            .chain(after.iter().copied())
            .collect();
        fs::write(&path, lines.join("\n") + "\n").expect("docs/commands.md is written");
        return;
    }
    assert_eq!(table, wanted, "UPDATE_EXPECT=1 cargo test -p cli --test all layers:: writes the table");
}

/// Code is cached under a digest of the sources of every crate that affects it.
#[test]
fn the_caches_keys_have_the_whole_compiler() {
    let build = fs::read_to_string(root().join("crates/simd/build.rs")).expect("build.rs");
    let list =
        build.split_once("const COMPILER").and_then(|(_, rest)| rest.split_once("];")).expect("the list").0;
    let listed: BTreeSet<&str> = list.split('"').skip(1).step_by(2).collect();
    let allowed: BTreeMap<&str, &[&str]> = ALLOWED.iter().copied().collect();
    // Properties of the process are not part of it.
    let (mut needed, mut open) = (BTreeSet::new(), vec!["gcn-lower", "lower", "simd"]);
    while let Some(name) = open.pop() {
        if name != "host" && needed.insert(name) {
            open.extend(allowed[name]);
        }
    }
    assert_eq!(listed, needed);
}
