//! Compares the decoder and printer with LLVM's disassembler on random instructions:
//! `cargo run -p gcn --example oracle -- gfx906 1000000 [SEED] [WAVE]`. Needs llvm-mc-19 (`apt-get install
//! llvm-19`).

#[path = "../tests/support/oracle.rs"]
mod oracle;

use std::collections::BTreeMap;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [target, count, rest @ ..] = arguments.as_slice() else {
        eprintln!("usage: oracle TARGET COUNT [SEED] [WAVE]");
        return ExitCode::FAILURE;
    };
    if !oracle::available() {
        eprintln!("{} is missing: apt-get install llvm-19", oracle::LLVM_MC);
        return ExitCode::FAILURE;
    }
    let number = |text: &String| text.parse::<u64>().expect("a number");
    let (seed, wave) = (rest.first().map_or(1, number), rest.get(1).map_or(64, number) as u32);
    let known = gcn::Target::of_name(target).expect("a target");
    let family = match known.generation {
        gcn::Generation::Gfx10 => "gfx10",
        gcn::Generation::Gfx11 => "gfx11",
        gcn::Generation::Gfx12 => "gfx12",
        _ => "gfx9",
    };
    let path = format!("{}/tables/{family}.tsv", env!("CARGO_MANIFEST_DIR"));
    let table = std::fs::read_to_string(&path).expect("a table");
    let differences = oracle::compare(&table, target, wave, number(count) as usize, seed);
    // Grouped by the names, so that one cause is seen once.
    let mut groups: BTreeMap<String, (usize, String)> = BTreeMap::new();
    for (bytes, ours, theirs) in &differences {
        let name =
            |a: &oracle::Answer| a.as_deref().map_or("-", |t| t.split(' ').next().unwrap_or("")).to_owned();
        let words: Vec<String> = bytes
            .chunks(4)
            .map(|w| format!("{:08x}", u32::from_le_bytes(w.try_into().expect("a word"))))
            .collect();
        let shown = |a: &oracle::Answer| a.clone().unwrap_or_else(|| "refused".into());
        let line = format!("{}\n  ours {}\n  LLVM {}", words.join(" "), shown(ours), shown(theirs));
        let group = groups.entry(format!("{} {}", name(ours), name(theirs))).or_insert((0, line));
        group.0 += 1;
    }
    for (count, example) in groups.values() {
        println!("{count} times: {example}");
    }
    println!("{target}: {count} cases, {} differences", differences.len());
    if differences.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
