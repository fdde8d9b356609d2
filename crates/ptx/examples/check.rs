//! Parses PTX files, prints their diagnostics, and reports the parser's speed.
//!
//! `cargo run --release -p ptx --example check -- FILE.ptx…`

use std::time::Instant;

fn main() -> std::io::Result<()> {
    let (mut bytes, mut seconds, mut bad) = (0_usize, 0.0, 0);
    for path in std::env::args().skip(1) {
        let mut raw = std::fs::read(&path)?;
        while raw.last() == Some(&0) {
            raw.pop();
        }
        let source = ptx::text_of(&raw);
        let start = Instant::now();
        let result = ptx::parse(&source);
        seconds += start.elapsed().as_secs_f64();
        bytes += source.len();
        if let Err(diagnostics) = result {
            bad += 1;
            for diagnostic in diagnostics {
                eprint!("{}", diagnostic.render(&path, &source, false));
            }
        }
    }
    println!(
        "{bytes} bytes in {:.3} ms, {:.1} MB/s; {bad} files with errors",
        seconds * 1e3,
        bytes as f64 / seconds / 1e6
    );
    Ok(())
}
