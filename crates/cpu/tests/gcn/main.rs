//! Runs the kernels of `tests/gcn`: OpenCL C, compiled by clang to AMD code objects, lowered, and run on the
//! interpreter and compiled. The comments of a file say what must come of each launch.
//!
//! The tests need LLVM 19 (`apt-get install clang-19 lld-19`) and report when they cannot run; with
//! `ANYWARP_TEST_LONG` set they fail then.

#[allow(dead_code, reason = "each test that includes these files uses part of them")]
#[path = "../support/mod.rs"]
mod support;

mod forms;
mod images;
mod matrices;
mod model;
mod roots;
mod same;
mod values;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use cpu::printed::Formats;
use cpu::{Engine, Forced, Program, Target};
use grid::Workers;
use hwtruth::sample::{self, every_way, long};
use support::case::{self, Run};
use support::execute::{By, execute};
use wave::Module;
use wave::verify::verify;

const CLANG: &str = "clang-19";

/// Targets, with the options that choose the size of waves.
const TARGETS: &[(&str, &[&str])] = &[
    ("gfx906", &[]),
    ("gfx90a", &[]),
    ("gfx942", &[]),
    ("gfx1030", &[]),
    ("gfx1030", &["-mwavefrontsize64"]),
    ("gfx1100", &[]),
    ("gfx1100", &["-mwavefrontsize64"]),
    ("gfx1201", &[]),
    ("gfx1201", &["-mwavefrontsize64"]),
];

/// All engines, the interpreter first.
const ENGINES: &[Engine] = &[Engine::Interpreter, Engine::Compiled];

const LEVELS: [&str; 3] = ["-O1", "-O2", "-O3"];

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/gcn");
    let entries = std::fs::read_dir(folder).expect("tests/gcn can be read");
    let mut list: Vec<PathBuf> = entries.map(|e| e.expect("an entry").path()).collect();
    list.sort();
    list
}

/// A code object of a file.
fn compiled(
    file: &Path,
    target: &str,
    options: &[&str],
    level: &str,
    into: &Path,
) -> Result<Vec<u8>, String> {
    let output = Command::new(CLANG)
        .args([
            "-x",
            "cl",
            "-cl-std=CL2.0",
            "-cl-fp32-correctly-rounded-divide-sqrt",
            "-target",
            "amdgcn-amd-amdhsa",
            "-nogpulib",
        ])
        .args(["-Xclang", "-finclude-default-header", &format!("-mcpu={target}"), level])
        .args(options)
        .arg(file)
        .arg("-o")
        .arg(into)
        .output()
        .map_err(|e| e.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    std::fs::read(into).map_err(|e| e.to_string())
}

/// A code object of assembly.
fn assembled(file: &Path, target: &str, options: &[&str], into: &Path) -> Result<Vec<u8>, String> {
    let output = Command::new(CLANG)
        .args(["-target", "amdgcn-amd-amdhsa", "-nogpulib", &format!("-mcpu={target}")])
        .args(options)
        .arg(file)
        .arg("-o")
        .arg(into)
        .output()
        .map_err(|e| e.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    std::fs::read(into).map_err(|e| e.to_string())
}

/// The calls of `printf` in a code object.
fn formats(bytes: &[u8]) -> Result<Formats, String> {
    let object = gcn::CodeObject::read(bytes).map_err(|e| e.to_string())?;
    Ok(Formats::read(&object.metadata.printf))
}

/// The kernels of a code object as a module.
fn lowered(bytes: &[u8]) -> Result<Module, String> {
    let object = gcn::CodeObject::read(bytes).map_err(|e| e.to_string())?;
    let image = gcn_lower::image(&object)?.global;
    let mut module = Module {
        name: "gcn".into(),
        image_size: image.size,
        image_align: u64::from(image.align),
        globals: Arc::new(vec![image]),
        ..Module::default()
    };
    for kernel in &object.kernels {
        let told =
            |errors: Vec<gcn_lower::Error>| errors.iter().map(|e| format!("{e}\n")).collect::<String>();
        let function = gcn_lower::lower(&object, kernel).map_err(told)?;
        module.functions.push(Arc::new(function));
    }
    verify(&module).map_err(|p| p.iter().map(|p| format!("{p}\n")).collect::<String>())?;
    Ok(module)
}

/// Runs `cases` of a code object with `engines`; each engine loads the module once.
fn run(object: &[u8], cases: &[Run], engines: &[Engine], workers: &[Workers]) -> Result<(), String> {
    let (module, formats) = (lowered(object)?, formats(object)?);
    for &engine in engines {
        let program = Program::of_module(module.clone(), engine).map_err(|p| format!("{p:?}"))?;
        let program = program.printing(formats.clone());
        let program = match engine {
            Engine::Compiled => program.for_target(Target::native()).forced(Forced::default()),
            Engine::Interpreter => program,
        };
        for case in cases {
            for workers in workers {
                execute(&program, workers, case, By::Engine(engine))
                    .map_err(|e| format!("line {}: {engine:?}: {e}", case.line))?;
            }
        }
    }
    Ok(())
}

/// Whether clang is there.
fn ready() -> bool {
    let ready = Command::new(CLANG).arg("--version").output().is_ok();
    let missing = format!("{CLANG} is missing: apt-get install clang-19 lld-19");
    assert!(ready || !long(), "{missing}");
    if !ready {
        eprintln!("not run: {missing}");
    }
    ready
}

/// The engines that run file number `file` in way number `way` of `ways`, which are targets, each with all
/// [`LEVELS`]. In the sample every third file is compiled for two ways, one of which the interpreter runs;
/// the next of these files has others. In a long run a file is compiled for every second target at one level;
/// the interpreter runs a third of these.
fn engines(file: usize, way: usize, ways: usize) -> &'static [Engine] {
    let (target, level) = (way / LEVELS.len(), way % LEVELS.len());
    if every_way() {
        return ENGINES;
    }
    if long() {
        let turn = target + file;
        return match turn / 2 % LEVELS.len() {
            at if !turn.is_multiple_of(2) || at != level => &[],
            0 => ENGINES,
            _ => &[Engine::Compiled],
        };
    }
    match (way + ways - file * 7 % ways) % ways {
        0 => &[Engine::Compiled],
        13 => &[Engine::Interpreter],
        _ => &[],
    }
}

/// `ONLY=name` runs the files whose names contain it.
#[test]
fn kernels_compute_what_their_files_say() {
    if !ready() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let workers = [1, 3].map(Workers::new);
    let only = std::env::var("ONLY").unwrap_or_default();
    let mut failures = Vec::new();
    for (number, file) in files().iter().enumerate().step_by(sample::of(1, 3)) {
        let name = file.file_name().expect("a name").to_string_lossy().into_owned();
        if !name.contains(&only) {
            continue;
        }
        let text = std::fs::read_to_string(file).expect("a text");
        let cases = case::parse(&text).expect("launches");
        assert!(!cases.is_empty(), "{name} runs nothing");
        let ways: Vec<_> = TARGETS
            .iter()
            .flat_map(|(target, options)| LEVELS.map(|level| (target, *options, level)))
            .collect();
        for (way, (target, options, level)) in ways.iter().enumerate() {
            let engines = engines(number, way, ways.len());
            if engines.is_empty() {
                continue;
            }
            let made = compiled(file, target, options, level, &folder.path().join("object"));
            let outcome = made.and_then(|object| run(&object, &cases, engines, &workers));
            failures.extend(outcome.err().map(|e| format!("{name} for {target} {level}: {e}")));
        }
    }
    assert!(failures.is_empty(), "{} do not hold:\n{}", failures.len(), failures.join("\n"));
}

/// Random numbers that are the same in every run (xorshift).
fn random(mut state: u64) -> impl FnMut() -> u64 {
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    }
}

/// Code with changed words is refused, or becomes a module that keeps the rules of wave IR.
#[test]
fn changed_code_is_refused_or_keeps_the_rules() {
    if !ready() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let rounds = sample::of(400, 60);
    let (mut kept, mut refused) = (0, 0);
    let mut random = random(2026);
    for (file, (target, options)) in files().iter().zip(TARGETS.iter().cycle()).step_by(sample::of(1, 3)) {
        let into = folder.path().join("object");
        let original = compiled(file, target, options, "-O2", &into).expect("a code object");
        let object = gcn::CodeObject::read(&original).expect("a code object");
        let code = object.code(&object.kernels[0]).expect("code");
        let start = code.as_ptr() as usize - original.as_ptr() as usize;
        for _ in 0..rounds {
            let mut bytes = original.clone();
            for _ in 0..random() % 4 + 1 {
                let at = start + random() as usize % (code.len() / 4) * 4;
                let word = &mut bytes[at..at + 4];
                match random() % 3 {
                    0 => word[random() as usize % 4] ^= 1 << (random() % 8),
                    1 => word[..2].copy_from_slice(&(random() as u16).to_le_bytes()),
                    _ => word.copy_from_slice(&(random() as u32).to_le_bytes()),
                }
            }
            match lowered(&bytes) {
                Ok(_) => kept += 1,
                Err(why) => {
                    let told = why.lines().all(|line| line.starts_with("0x"));
                    assert!(told, "{}: {why}", file.display());
                    refused += 1;
                }
            }
        }
    }
    assert!(kept > 0 && refused > 0, "{kept} kept, {refused} refused");
}
