//! The decoder and printer agree with LLVM's disassembler: on random instructions, and on code that clang
//! compiles. The tests need LLVM 19 (`apt-get install llvm-19 clang-19 lld-19`) and report when they cannot
//! run; with `ANYWARP_TEST_LONG` set they fail then. `examples/oracle.rs` compares more cases.

#[path = "../support/oracle.rs"]
mod llvm;

use std::path::Path;
use std::process::Command;

use gcn::isa::Decoder;
use gcn::{CodeObject, Target};
use hwtruth::sample::{long, of};

/// Whether LLVM is there.
fn ready() -> bool {
    let ready = llvm::available();
    assert!(ready || !long(), "{} is missing: apt-get install llvm-19 clang-19 lld-19", llvm::LLVM_MC);
    if !ready {
        eprintln!("not run: {} is missing: apt-get install llvm-19 clang-19 lld-19", llvm::LLVM_MC);
    }
    ready
}

/// The table that a target's rows are in, and the sizes of its waves.
const TARGETS: &[(&str, &str, &[u32])] = &[
    ("gfx900", include_str!("../../tables/gfx9.tsv"), &[64]),
    ("gfx904", include_str!("../../tables/gfx9.tsv"), &[64]),
    ("gfx906", include_str!("../../tables/gfx9.tsv"), &[64]),
    ("gfx908", include_str!("../../tables/gfx9.tsv"), &[64]),
    ("gfx90a", include_str!("../../tables/gfx9.tsv"), &[64]),
    ("gfx942", include_str!("../../tables/gfx9.tsv"), &[64]),
    ("gfx1010", include_str!("../../tables/gfx10.tsv"), &[32, 64]),
    ("gfx1011", include_str!("../../tables/gfx10.tsv"), &[32, 64]),
    ("gfx1030", include_str!("../../tables/gfx10.tsv"), &[32, 64]),
    ("gfx1100", include_str!("../../tables/gfx11.tsv"), &[32, 64]),
    ("gfx1150", include_str!("../../tables/gfx11.tsv"), &[32, 64]),
    ("gfx1201", include_str!("../../tables/gfx12.tsv"), &[32, 64]),
];

#[test]
fn random_instructions_are_decoded_or_refused_alike() {
    if !ready() {
        return;
    }
    let count = of(60_000, 4_000);
    for (target, table, waves) in TARGETS {
        for &wave in *waves {
            let differences = llvm::compare(table, target, wave, count, 2026);
            let shown: Vec<String> = differences.iter().take(10).map(|d| format!("{d:x?}")).collect();
            assert!(differences.is_empty(), "{target}: {} differ\n{}", differences.len(), shown.join("\n"));
        }
    }
}

/// The instructions of a file as llvm-objdump prints them: address and text.
fn objdump(file: &Path, wave: Option<u32>) -> Vec<(u64, String)> {
    let mut command = Command::new("llvm-objdump-19");
    command.arg("-d").args(wave.map(|lanes| format!("--mattr=+wavefrontsize{lanes}")));
    let output = command.arg(file).output().expect("llvm-objdump-19 runs");
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines()
        .filter_map(|line| {
            let (text, place) = line.strip_prefix('\t')?.split_once("//")?;
            let address = u64::from_str_radix(place.trim().split(':').next()?, 16).ok()?;
            Some((address, text.trim().replacen("  ", " ", 1)))
        })
        .collect()
}

/// Every instruction in `.text`, compared with llvm-objdump's. Returns their number.
fn compare_object(file: &Path, target: &str, wave: u32) -> usize {
    let bytes = std::fs::read(file).expect("an object");
    let object = CodeObject::read(&bytes).expect("a code object");
    let decoder = Decoder::new(Target::of_name(target).expect("a target"), wave).expect("a table");
    let both = Target::of_name(target).is_some_and(|t| t.generation.has_wave32());
    let theirs = objdump(file, both.then_some(wave));
    for (address, text) in &theirs {
        let bytes = object.bytes_at(*address).expect("code");
        let ours = decoder.decode(bytes, *address).map(|inst| inst.to_string());
        assert_eq!(ours.as_ref(), Ok(text), "{} at {address:#x}", file.display());
    }
    theirs.len()
}

#[test]
fn compiled_code_is_disassembled_alike() {
    if !ready() {
        return;
    }
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/many.cl");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let levels = ["-O0", "-O1", "-O2", "-O3"];
    for (number, (target, _, waves)) in TARGETS.iter().enumerate() {
        let mut count = 0;
        for level in levels.into_iter().skip(of(0, number % levels.len())).take(of(levels.len(), 1)) {
            for wave in *waves {
                let file = folder.join(format!("many.{target}.{wave}{level}.hsaco"));
                let mut clang = Command::new("clang-19");
                clang.args(["-x", "cl", "-cl-std=CL2.0", "-target", "amdgcn-amd-amdhsa", "-nogpulib", level]);
                clang.arg(format!("-mcpu={target}")).arg(source).arg("-o").arg(&file);
                if waves.len() > 1 {
                    clang.arg(if *wave == 64 { "-mwavefrontsize64" } else { "-mno-wavefrontsize64" });
                }
                assert!(clang.status().expect("clang-19 runs").success(), "{target} {level}");
                count += compare_object(&file, target, *wave);
            }
        }
        assert!(count > of(1000, 500), "{target}: only {count} instructions");
    }
}
