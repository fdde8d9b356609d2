//! Makes `Op`, `Encoding` from the names in `tables/`: one operation for all forms and generations of a name.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

/// Endings of names that tell the encoding of an operation.
const FORMS: [&str; 6] = ["_e64_dpp", "_e32", "_e64", "_sdwa", "_dpp", "_dpp8"];

/// `v_add_f32` becomes `VAddF32`.
fn camel(name: &str) -> String {
    name.split('_')
        .map(|word| {
            let mut letters = word.chars();
            letters
                .next()
                .map_or(String::new(), |first| first.to_ascii_uppercase().to_string() + letters.as_str())
        })
        .collect()
}

/// An enumeration of names, sorted, with a table of them.
fn enumeration(out: &mut String, name: &str, about: &str, names: &BTreeSet<String>) {
    let documented = |n: &String| format!("    /// `{n}`\n    {},\n", camel(n));
    let variants: String = names.iter().map(documented).collect();
    let table: String = names.iter().map(|n| format!("    ({n:?}, {name}::{}),\n", camel(n))).collect();
    write!(
        out,
        "/// {about}\n#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]\n\
         #[repr(u16)]\npub enum {name} {{\n{variants}}}\n\n\
         /// The names, sorted.\nconst {}_NAMES: &[(&str, {name})] = &[\n{table}];\n\n",
        name.to_ascii_uppercase()
    )
    .expect("a string grows");
}

fn main() {
    println!("cargo:rerun-if-changed=tables");
    println!("cargo:rerun-if-changed=build.rs");
    let (mut ops, mut encodings) = (BTreeSet::new(), BTreeSet::new());
    let mut files: Vec<_> =
        fs::read_dir("tables").expect("tables/").map(|e| e.expect("an entry").path()).collect();
    files.sort();
    for file in files.iter().filter(|f| f.extension().is_some_and(|e| e == "tsv")) {
        for line in fs::read_to_string(file).expect("a table").lines() {
            let columns: Vec<&str> = line.split('\t').collect();
            match columns.as_slice() {
                ["encoding", name, ..] => drop(encodings.insert((*name).to_owned())),
                [_, _, name, ..] => {
                    let form = FORMS.iter().find_map(|form| name.strip_suffix(form));
                    let name = form.unwrap_or(name);
                    // A half of a dual instruction is the operation that stands alone elsewhere.
                    ops.insert(name.replace("v_dual_", "v_"));
                }
                _ => assert!(line.is_empty() || line.starts_with('#'), "{}: {line}", file.display()),
            }
        }
    }
    let mut out = String::new();
    enumeration(&mut out, "Op", "Operations, for all generations and encodings.", &ops);
    enumeration(&mut out, "Encoding", "Encodings, named as AMD's manuals do.", &encodings);
    let folder = env::var("OUT_DIR").expect("cargo sets it");
    fs::write(Path::new(&folder).join("names.rs"), out).expect("written");
}
