//! The text form of every kernel of `tests/ptx` and `bench/kernels` is read back unchanged, and passes the
//! verifier.

use std::path::{Path, PathBuf};

fn kernels() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folders = ["tests/ptx", "bench/kernels"].map(|f| root.join(f));
    let entries = folders.iter().flat_map(|f| std::fs::read_dir(f).expect("the folder can be read"));
    entries
        .map(|e| e.expect("an entry").path())
        .filter(|p| p.extension().is_some_and(|e| e == "ptx"))
        .collect()
}

#[test]
fn kernels_are_read_back_as_written() {
    let files = kernels();
    assert!(files.len() > 10);
    for file in files {
        let name = file.display();
        let source = std::fs::read_to_string(&file).expect("a text");
        let tree = ptx::parse(&source).unwrap_or_else(|e| panic!("{name}: {}", ptx::log(&e, "", &source)));
        let units = [lower::Unit { name: "kernels", module: &tree, source: &source }];
        let module = lower::lower(&units).unwrap_or_else(|e| panic!("{name}: {e:?}"));
        let text = module.to_string();
        let again = wave::read::read(&text).unwrap_or_else(|e| panic!("{name}: {e}\n{text}"));
        assert_eq!(again.to_string(), text, "{name}");
        assert_eq!(wave::verify::verify(&again), Ok(()), "{name}");
    }
}
