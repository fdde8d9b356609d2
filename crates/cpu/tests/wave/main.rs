//! Runs the files of `tests/wave`: modules of wave IR with what each stage must make of them, where they are
//! wrong, and what their kernels must compute, interpreted after every pass and compiled.

mod file;
mod pattern;
#[path = "../support/mod.rs"]
mod support;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cpu::{Effort, Engine, Forced, Maker, Program, Specialisation, Target};
use file::{Expected, Section};
use grid::Workers;
use hwtruth::sample::Turn;
use simd::llvm::Search;
use simd::{CodeKey, Request, View};
use support::case::{self, Run};
use support::execute::{By, execute};
use wave::interp::Interpreter;
use wave::read::{read, read_numbered};
use wave::verify::{Problem, verify};
use wave::{FuncId, Function, Module};

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/wave");
    let mut list: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("tests/wave can be read")
        .map(|e| e.expect("an entry").path())
        .filter(|p| p.extension().is_some_and(|e| e == "wave"))
        .collect();
    list.sort();
    assert!(list.len() >= 60, "tests/wave has {} files", list.len());
    list
}

/// The line in which a rule of the IR is broken.
fn line_of(text: &str, problem: &Problem) -> usize {
    if problem.loc.line != 0 {
        return problem.loc.line as usize;
    }
    let head = |name: &str| {
        let heads = ["kernel", "function"].map(|kind| format!("{kind} @{name}"));
        let is = |line: &str| {
            heads.iter().any(|h| line.strip_prefix(h).is_some_and(|rest| rest.starts_with([' ', '('])))
        };
        text.lines().position(is).unwrap_or(0)
    };
    match (&problem.function, problem.block) {
        (Some(name), Some(block)) => {
            let first = head(name);
            let block = format!("block{}", block.0);
            let is = |line: &str| line.strip_prefix(&block).is_some_and(|rest| rest.starts_with([':', '(']));
            first + text.lines().skip(first).position(is).unwrap_or(0) + 1
        }
        (Some(name), None) => head(name) + 1,
        (None, _) => {
            let name = problem.message.split('`').nth(1).unwrap_or_default();
            let variable = format!(" @{name}:");
            text.lines().position(|l| l.contains(&variable)).map_or(0, |n| n + 1)
        }
    }
}

/// The errors of a module, by line.
fn errors(text: &str) -> Vec<(usize, String)> {
    match read_numbered(text) {
        Err(error) => vec![(error.line, error.message)],
        Ok(module) => {
            let problems = verify(&module).err().unwrap_or_default();
            problems.into_iter().map(|p| (line_of(text, &p), p.message)).collect()
        }
    }
}

fn target(section: &Section) -> Target {
    let avx512 = section.avx512;
    let maker = if section.amd { Maker::Amd } else { Maker::Any };
    // Texts are generated for any processor.
    let cpu = if avx512 { "x86-64-v4" } else { "x86-64-v3" };
    Target { cpu, avx512, features: String::new(), maker }
}

/// The module with counters of what its kernels do.
fn counting(module: &Module) -> Module {
    let mut module = module.clone();
    let place = wave::count::place(&module);
    wave::count::module(&mut module, place);
    module
}

/// The text of a section's stage, or the reason that there is none.
fn stage(module: &Module, section: &Section) -> Result<String, String> {
    let counted;
    let module = match section.counting {
        true => {
            counted = counting(module);
            &counted
        }
        false => module,
    };
    let mut kernels = module.kernels().filter(|(_, f)| section.kernel.as_ref().is_none_or(|k| *k == f.name));
    let (kernel, _) = kernels.next().ok_or("no such kernel")?;
    let target = target(section);
    let forced = Forced { per_lane: section.per_lane, effort: section.effort, ..Forced::default() };
    let spec = Specialisation::of_launch([1, 1, 1], section.block);
    let code = CodeKey { spec, target: &target, forced: &forced };
    let request = Request { module, kernel, unit: [0; 32], code, llvm: &Search::default() };
    let after = section.after.as_deref();
    match section.stage.as_str() {
        "uniformity" => simd::explained(&request, View::Uniformity, after).map_err(|e| e.to_string()),
        "ranges" => simd::explained(&request, View::Ranges, after).map_err(|e| e.to_string()),
        "llvm" => simd::ir(&request).map_err(|e| e.to_string()),
        _ => {
            let mut stages = simd::stages(&request).map_err(|e| e.to_string())?;
            let at = match after {
                Some(pass) => stages.iter().position(|(name, _)| *name == pass).ok_or("no such pass")?,
                None => stages.len() - 1,
            };
            Ok(module.shown(&stages.swap_remove(at).1).to_string())
        }
    }
}

/// The module with another function as its kernel, on the interpreter.
fn interpreter(module: &Module, kernel: FuncId, func: Function) -> Result<Interpreter, String> {
    let mut module = module.clone();
    module.functions[kernel.index()] = Arc::new(func);
    verify(&module).map_err(|p| p.iter().map(|p| format!("{p}\n")).collect::<String>())?;
    Interpreter::new(Arc::new(module), kernel).map_err(|e| e.to_string())
}

/// Runs a launch on the interpreter, before and after each pass, and on compiled code.
fn run(name: &str, module: &Module, run: &Run, workers: &[Workers]) -> Result<(), String> {
    let load = |engine| Program::of_module(module.clone(), engine).map_err(|p| format!("{p:?}"));
    let program = load(Engine::Interpreter)?;
    for workers in workers {
        execute(&program, workers, run, By::Engine(Engine::Interpreter))
            .map_err(|e| format!("interpreted: {e}"))?;
    }
    let kernel = module.function(&run.kernel).ok_or("no such kernel")?;
    let spec = Specialisation::of_launch(run.grid, run.block).in_clusters(run.cluster.is_some());
    for per_lane in [false, true] {
        let (target, forced) = (Target::native(), Forced { per_lane, ..Forced::default() });
        let code = CodeKey { spec, target: &target, forced: &forced };
        let request = Request { module, kernel, unit: [0; 32], code, llvm: &Search::default() };
        // After `meetings` the IR is no longer SSA.
        let stages = simd::stages(&request).map_err(|e| e.to_string())?;
        for (name, func) in stages.into_iter().filter(|(name, _)| *name != "meetings") {
            let code = interpreter(module, kernel, func).map_err(|e| format!("after {name}: {e}"))?;
            execute(&program, &workers[0], run, By::This(&code))
                .map_err(|e| format!("interpreted after {name}: {e}"))?;
        }
    }
    // The default code, and one of the other modes.
    let case = format!("{name}:{}", run.line);
    let ways = [
        ("native", false, None, Turn::ALL),
        ("x86-64-v3", false, None, Turn::new(0, 2)),
        ("native", true, None, Turn::new(1, 2)),
        ("native", true, Some(Effort::Light), Turn::new(0, 2)),
    ];
    for (name, per_lane, effort, _) in ways.into_iter().filter(|way| way.3.takes(&case)) {
        let Ok(target) = Target::named(name) else { continue };
        let program = load(Engine::Compiled)?.for_target(target);
        let program = program.forced(Forced { per_lane, effort, ..Forced::default() });
        let how = match (per_lane, effort) {
            (false, _) => "",
            (true, None) => ", lane by lane",
            (true, Some(_)) => ", lane by lane as a large kernel",
        };
        for workers in workers {
            execute(&program, workers, run, By::Engine(Engine::Compiled))
                .map_err(|e| format!("compiled for {name}{how}: {e}"))?;
        }
    }
    Ok(())
}

/// What does not hold of a file, each with its line; and its text as it should be, where whole texts are
/// accepted.
fn check(name: &str, text: &str, workers: &[Workers], accept: bool) -> Result<Option<String>, Vec<String>> {
    let one = |e: String| vec![e];
    let Expected { sections, errors: expected, runs } = file::parse(text).map_err(one)?;
    let (mut expected, mut found) = (expected, errors(text));
    expected.sort();
    found.sort();
    if expected != found {
        let told =
            |list: &[(usize, String)]| list.iter().map(|(n, m)| format!("\n  {n}: {m}")).collect::<String>();
        return Err(vec![format!("errors{}\ninstead of{}", told(&found), told(&expected))]);
    }
    if !found.is_empty() {
        return Ok(None);
    }
    let module = read(text).map_err(|e| one(e.to_string()))?;
    let printed = module.to_string();
    if read(&printed).map(|again| again.to_string()) != Ok(printed) {
        return Err(vec!["does not print as it is read".into()]);
    }
    let made: Vec<Result<String, String>> = sections.iter().map(|section| stage(&module, section)).collect();
    if accept {
        let new = file::updated(text, &sections, &made);
        if new != text {
            return Ok(Some(new));
        }
    }
    let mut failures: Vec<String> =
        sections.iter().zip(&made).filter_map(|(section, made)| section.hold(made).err()).collect();
    if runs {
        // Lines of faults refer to the file.
        let module = read_numbered(text).map_err(|e| one(e.to_string()))?;
        for case in case::parse(text).map_err(one)? {
            let counts = !case.counts.is_empty();
            if case.expect.is_empty() && case.fault.is_none() && case.prints.is_empty() && !counts {
                failures.push(format!("{}: the run expects nothing", case.line));
            }
            failures.extend(run(name, &module, &case, workers).err().map(|e| format!("{}: {e}", case.line)));
            if counts {
                let outcome = run(name, &counting(&module), &case, workers);
                failures.extend(outcome.err().map(|e| format!("{}: counting: {e}", case.line)));
            }
        }
    }
    if failures.is_empty() { Ok(None) } else { Err(failures) }
}

/// `ONLY=name` runs the files whose names contain it.
#[test]
fn files_hold() {
    let workers = [1, 3].map(Workers::new);
    let accept = std::env::var_os("UPDATE_EXPECT").is_some();
    let only = std::env::var("ONLY").unwrap_or_default();
    let mut failures = Vec::new();
    for path in files() {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if !name.contains(&only) {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a text");
        match check(&name, &text, &workers, accept) {
            Ok(None) => {}
            Ok(Some(new)) => std::fs::write(&path, new).expect("the file can be written"),
            Err(list) => failures.extend(list.into_iter().map(|e| format!("{name}:{e}"))),
        }
    }
    assert!(failures.is_empty(), "{} expectations do not hold:\n{}", failures.len(), failures.join("\n"));
}

/// What the compiler finds out about a kernel or makes of it beside its passes: how the names of its files
/// begin, and its source.
const ANALYSES: &[(&str, &str)] = &[
    ("aligned", "simd/src/kernel/aligned.rs"),
    ("atomic", "simd/src/kernel/atomic.rs"),
    ("begin", "simd/src/kernel/begin.rs"),
    ("by-lane", "simd/src/kernel/by_lane.rs"),
    ("compare", "simd/src/kernel/compare.rs"),
    ("control", "simd/src/kernel/control.rs"),
    ("count", "wave/src/count.rs"),
    ("dispatch", "simd/src/kernel/dispatch.rs"),
    ("exchange", "simd/src/kernel/exchange.rs"),
    ("few", "simd/src/kernel/few.rs"),
    ("flush", "simd/src/kernel/flush.rs"),
    ("groups", "simd/src/kernel/groups.rs"),
    ("guard", "simd/src/kernel/guarded.rs"),
    ("lanewise", "simd/src/lanewise/mod.rs"),
    ("members", "simd/src/kernel/members.rs"),
    ("nan", "simd/src/kernel/nan.rs"),
    ("outline", "simd/src/kernel/outline.rs"),
    ("per-lane", "simd/src/kernel/per_lane.rs"),
    ("product", "simd/src/kernel/product.rs"),
    ("range", "wave/src/range/mod.rs"),
    ("row", "simd/src/kernel/runs.rs"),
    ("sharing", "simd/src/kernel/sharing.rs"),
    ("spin", "simd/src/kernel/spin.rs"),
    ("stop", "simd/src/kernel/stop.rs"),
    ("sweep", "simd/src/kernel/sweep.rs"),
    ("threads", "simd/src/kernel/threads.rs"),
    ("variation", "simd/src/kernel/variation.rs"),
    ("whole", "simd/src/kernel/whole.rs"),
];

/// A file is named after the pass or the analysis that it is about: at least one file where it applies, and
/// one where it does not.
#[test]
fn every_pass_and_analysis_has_two_files() {
    let names: Vec<String> =
        files().iter().map(|f| f.file_name().expect("a name").to_string_lossy().into_owned()).collect();
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("crates/");
    for (analysis, source) in ANALYSES {
        assert!(crates.join(source).exists(), "{analysis}: there is no {source}");
    }
    let passes = simd::passes().into_iter().map(|(pass, _)| pass);
    for name in passes.chain(ANALYSES.iter().map(|(analysis, _)| *analysis)) {
        let count = names.iter().filter(|file| file.starts_with(&format!("{name}-"))).count();
        assert!(count >= 2, "{count} files of tests/wave are called {name}-...");
    }
}

/// The runner detects errors: a file with each kind of false expectation fails.
#[test]
fn false_expectations_fail() {
    let workers = [Workers::new(1)];
    let body = "kernel @k {\n    param_size 8\n    param 0: offset 0, size 8, align 8\nblock0:\n    v0 = const.i64 0\n    \
                v1 = load.param.weak.i64 v0\n    v2 = const.i32 7\n    store.global.weak.i32 v1, v2\n    exit\n}\n";
    let held = |head: &str| check("", &format!("{head}\n{body}"), &workers, false).is_ok();
    assert!(held("; test uniformity\n; see v1 uniform") && !held("; test uniformity\n; see v1 varying"));
    assert!(held("; test ranges\n; see v2 7") && !held("; test ranges\n; see v2 8"));
    assert!(!held("; test wave\n;| nothing") && !held("; test llvm\n; refused nothing"));
    assert!(
        held("; run k\n; a: u32[1]\n; expect a[i] = 7") && !held("; run k\n; a: u32[1]\n; expect a[i] = 8")
    );
    assert!(!held("; run k\n; a: u32[1]\n; fault IllegalAddress") && !held("; run k\n; a: u32[1]"));
    assert!(
        held("; run k\n; a: u32[1]\n; counts stored 128") && !held("; run k\n; a: u32[1]\n; counts stored 4")
    );
    assert!(held("; test wave counting\n; see atom.add") && !held("; test wave\n; see atom.add"));
    let wrong = body.replace("    exit", "    exit now ; error: nothing expected at `now`");
    assert!(check("", &wrong, &workers, false).is_ok());
    assert!(check("", &wrong.replace("at `now`", ""), &workers, false).is_err());
}
