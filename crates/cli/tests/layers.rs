//! The arrows of ARCHITECTURE.md, checked against the manifests: a crate may use the crates listed for it and no others of ours.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Each crate with the crates of ours that it may depend on.
const ALLOWED: &[(&str, &[&str])] = &[
    ("ptx", &[]),
    ("image", &[]),
    ("hwtruth", &[]),
    ("hipify", &[]),
    ("tensormap", &[]),
    ("names", &[]),
    ("texture", &["names"]),
    ("tensor", &["names"]),
    ("wave", &["names", "tensor", "texture"]),
    ("lower", &["ptx", "tensor", "texture", "wave"]),
    ("simd", &["wave"]),
    ("grid", &["tensor", "tensormap", "texture", "wave"]),
    ("driver", &["image", "texture"]),
    ("cpu", &["driver", "image", "ptx", "lower", "wave", "simd", "grid"]),
    ("capi", &["driver", "image"]),
    ("hip", &["capi", "driver", "image"]),
    ("cuda", &["capi", "hip", "driver", "image", "cpu", "tensormap"]),
    ("cli", &["cuda", "cpu", "driver", "image", "ptx", "lower", "wave", "simd", "hipify"]),
];

/// Names in the tables `[dependencies]` and `[build-dependencies]` of a manifest; tests may look wherever they like.
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

#[test]
fn the_reader_of_manifests_sees_both_spellings() {
    let text = "[package]\nname = \"x\"\n[dependencies]\nwave.workspace = true\nptx = { path = \"..\" }\n[dev-dependencies]\ngrid = \"1\"";
    assert_eq!(dependencies(text), ["wave", "ptx"]);
}
