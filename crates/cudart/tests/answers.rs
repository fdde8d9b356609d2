//! Our runtime answers as NVIDIA's did on an H200: `tests/probe/cudart.c` asks both, and
//! `data/h200-580-cudart-13.0.txt`, `-12.9.txt` and `-11.8.txt` hold what the hardware's said.

mod library;

use std::path::Path;
use std::process::Command;

/// The fronts, by their major version, and the recordings.
const RECORDED: [(u32, &str); 3] = [
    (13, include_str!("data/h200-580-cudart-13.0.txt")),
    (12, include_str!("data/h200-580-cudart-12.9.txt")),
    (11, include_str!("data/h200-580-cudart-11.8.txt")),
];

/// Answers that differ, by their beginnings, and why.
const EXCEPTIONS: &[(&str, &str)] = &[
    (
        "illegal.malloc after the reset:",
        "a reset repairs the device here; on the H200 only a new process did",
    ),
    (
        "trapped.malloc after the reset:",
        "a reset repairs the device here; on the H200 only a new process did",
    ),
];

/// Answers of one version that are not compared, by their beginnings, and why.
const BY_CHANCE: &[(u32, &str, &str)] = &[
    (11, "functions.cluster fields", "11 has no such fields: the probe prints what lies in its memory"),
    (
        11,
        "flags.instantiate 0:",
        "11 has other parameters: what the probe passes as addresses may be readable",
    ),
];

#[test]
fn answers_are_the_hardwares() {
    let probe = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/probe/cudart.c");
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("cudart");
    let built = Command::new("cc")
        .args(["-O1", "-DALONE", "-o"])
        .arg(&program)
        .arg(&probe)
        .args(["-ldl", "-lpthread"])
        .status()
        .expect("a C compiler (apt install gcc)");
    assert!(built.success());
    for (version, recorded) in RECORDED {
        let output = Command::new(&program)
            .arg(library::front(version))
            .env("ANYWARP_COMPUTE_CAPABILITY", "9.0")
            .env("ANYWARP_LOG", "off")
            .output()
            .expect("the probe runs");
        let said = String::from_utf8_lossy(&output.stdout);
        let compared = |line: &&str| {
            let by_chance = |row: &(u32, &str, &str)| row.0 == version && line.starts_with(row.1);
            !line.starts_with('#') && !BY_CHANCE.iter().any(by_chance)
        };
        let recorded: Vec<&str> = recorded.lines().filter(compared).collect();
        let said: Vec<&str> = said.lines().filter(compared).collect();
        assert_eq!(
            said.len(),
            recorded.len(),
            "as many answers of {version}; {}",
            String::from_utf8_lossy(&output.stderr)
        );
        let mut wrong = Vec::new();
        for (ours, theirs) in said.iter().zip(&recorded) {
            let excepted = EXCEPTIONS.iter().any(|(start, _)| theirs.starts_with(start));
            if excepted == (ours == theirs) {
                wrong.push(format!("here {ours}, recorded {theirs}"));
            }
        }
        assert!(
            wrong.is_empty(),
            "{} answers of {version} differ, or need no exception:\n{}",
            wrong.len(),
            wrong.join("\n")
        );
    }
}
