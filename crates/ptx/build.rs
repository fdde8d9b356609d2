//! Turns the tables under `grammar/` into Rust: the enums `Opcode` and `Modifier`, and the table of forms.

#[path = "build/forms.rs"]
mod forms;
#[path = "build/words.rs"]
mod words;

use std::path::Path;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=grammar");
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed=build.rs");
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    let opcodes = words::opcodes(&read("grammar/opcodes.txt"));
    let modifiers = words::modifiers(&read("grammar/modifiers.txt"));
    write(&out, "words.rs", &words::generate(&opcodes, &modifiers));
    let mut paths: Vec<_> = fs::read_dir("grammar/forms")
        .expect("grammar/forms can be read")
        .map(|entry| entry.expect("grammar/forms can be read").path())
        .collect();
    paths.sort();
    let files = paths.iter().map(|p| (p.display().to_string(), read(p)));
    write(&out, "forms.rs", &forms::generate(files, &opcodes, &modifiers));
}

fn read(path: impl AsRef<Path>) -> String {
    let path = path.as_ref();
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn write(out: &str, name: &str, text: &str) {
    fs::write(Path::new(out).join(name), text).expect("OUT_DIR can be written");
}
