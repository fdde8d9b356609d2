//! The kernels of `tests/same`: one source for AMD's targets, for PTX and for the processor itself, whose
//! results all must be. clang compiles it for each; `host.h` there runs it on the processor, and a file's
//! comments say what is launched.
//!
//! Those of `tests/same/libraries` call AMD's device library, and run on AMD's targets alone. It is where
//! `rocm-device-libs` installs it, or where `ANYWARP_DEVICE_LIBS` says; without it they are not run.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cpu::{Engine, Program, Source, Target};
use grid::Workers;
use hwtruth::device_library::DeviceLibrary;
use hwtruth::sample::{self, every_way, long};

use super::support::case::{self, Run};
use super::support::execute::{By, execute};
use super::{LEVELS, TARGETS, engines, lowered, ready};

const CLANG: &str = "clang++-19";

/// Options for all: sums and products are rounded one by one.
const COMMON: [&str; 2] = ["-std=c++17", "-ffp-contract=off"];

fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(folder);
    let entries = std::fs::read_dir(folder).expect("the folder can be read");
    let all = entries.map(|e| e.expect("an entry").path());
    let mut list: Vec<PathBuf> = all.filter(|p| p.extension().is_some_and(|e| e == "cu")).collect();
    list.sort();
    list
}

fn compile(file: &Path, options: &[&str], into: &Path) -> Result<(), String> {
    let mut command = Command::new(CLANG);
    command.args(COMMON).args(options).arg(file).arg("-o").arg(into);
    let output = command.output().map_err(|e| e.to_string())?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// The buffers after each launch on the processor itself.
fn on_processor(file: &Path, runs: &[Run], folder: &Path) -> Result<Vec<Vec<Option<Vec<u8>>>>, String> {
    let (program, input) = (folder.join("program"), folder.join("input"));
    compile(file, &["-x", "c++", "-O2", "-mavx2", "-mfma", "-rdynamic"], &program)?;
    let mut bytes = Vec::new();
    for run in runs {
        let ([gx, gy, _], [bx, by, _]) = (run.grid, run.block);
        let head = format!("{} {gx} {gy} {bx} {by} {} {}\n", run.kernel, run.shared, run.args.len());
        bytes.extend(head.bytes());
        for arg in &run.args {
            let mut word = [0; 8];
            match arg.count {
                Some(_) => {
                    bytes.extend(format!("b {}\n", arg.bytes.len()).bytes());
                    bytes.extend(&arg.bytes);
                }
                None => {
                    word[..arg.bytes.len()].copy_from_slice(&arg.bytes);
                    bytes.extend(format!("s {}\n", u64::from_le_bytes(word)).bytes());
                }
            }
        }
    }
    let written =
        File::create(&input).and_then(|mut f| f.write_all(&bytes)).and_then(|()| File::open(&input));
    let input = written.map_err(|e| e.to_string())?;
    let output = Command::new(&program).stdin(Stdio::from(input)).output().map_err(|e| e.to_string())?;
    if !output.status.success() {
        return Err(format!("on the processor: {}", output.status));
    }
    let mut rest = &output.stdout[..];
    let mut take = |arg: &case::Argument| match arg.count {
        None => Ok(None),
        Some(_) => {
            let (own, more) =
                rest.split_at_checked(arg.bytes.len()).ok_or("the processor wrote too little")?;
            rest = more;
            Ok(Some(own.to_vec()))
        }
    };
    runs.iter().map(|run| run.args.iter().map(&mut take).collect()).collect()
}

/// What a source is compiled to.
#[derive(Clone, Copy)]
enum Form {
    Amd(&'static str, &'static [&'static str]),
    Ptx,
}

impl Form {
    /// A program for each engine.
    fn programs(
        self,
        file: &Path,
        level: &str,
        engines: &[Engine],
        libraries: Option<&DeviceLibrary>,
        into: &Path,
    ) -> Result<Vec<Program>, String> {
        match self {
            Form::Amd(target, width) => {
                let arch = format!("--offload-arch={target}");
                let path = libraries.map(|l| l.option(target));
                let linked = path.as_deref().unwrap_or("-nogpulib");
                let options = ["-x", "hip", "-nogpuinc", linked, "--offload-device-only", &arch, level];
                let options = [&options[..], &["--no-gpu-bundle-output"], width].concat();
                compile(file, &options, into)?;
                let module = lowered(&std::fs::read(into).map_err(|e| e.to_string())?)?;
                let load = |e: &Engine| Program::of_module(module.clone(), *e).map_err(|p| format!("{p:?}"));
                engines.iter().map(load).collect()
            }
            Form::Ptx => {
                let options = ["-x", "cuda", "-nocudainc", "-nocudalib", "--cuda-device-only", "-S", level];
                let feature = ["-Xclang", "-target-feature", "-Xclang", "+ptx70", "--cuda-gpu-arch=sm_70"];
                compile(file, &[&options[..], &feature].concat(), into)?;
                let text = std::fs::read_to_string(into).map_err(|e| e.to_string())?;
                let source = Source { name: "same.ptx", text: &text };
                engines.iter().map(|e| Program::load(&[source], *e).map_err(|e| e.rendered)).collect()
            }
        }
    }

    fn name(self, level: &str) -> String {
        match self {
            Form::Amd(target, options) => format!("{target} {} {level}", options.join(" ")),
            Form::Ptx => format!("PTX {level}"),
        }
    }
}

/// `ONLY=name` runs the files whose names contain it; `AT=gfx906` the targets.
#[test]
fn one_source_has_the_same_results_everywhere() {
    if !ready() {
        return;
    }
    let amd = TARGETS.iter().map(|(target, options)| Form::Amd(target, options));
    let forms: Vec<Form> = amd.chain([Form::Ptx]).collect();
    let kernels = compare(&files("same"), &forms, None);
    assert!(std::env::var_os("ONLY").is_some() || !long() || kernels >= 60, "{kernels} kernels");
}

/// Functions of the device library are as precise as they should be.
#[test]
fn device_libraries_compute_what_the_processor_does() {
    let Some(libraries) = ready().then(DeviceLibrary::find).flatten() else { return };
    // The functions are long and take minutes to compile: two of the targets, with warps of 64 and of 32.
    let each = if every_way() { 1 } else { TARGETS.len() / 2 };
    let some = TARGETS.iter().step_by(each);
    let forms: Vec<Form> = some.map(|(target, options)| Form::Amd(target, options)).collect();
    compare(&files("same/libraries"), &forms, Some(&libraries));
}

/// Runs the files in some of the forms, and compares the results with those of the processor itself; the
/// number of launches.
fn compare(files: &[PathBuf], forms: &[Form], libraries: Option<&DeviceLibrary>) -> usize {
    let folder = tempfile::tempdir().expect("a folder");
    let workers = Workers::new(2);
    let only = std::env::var("ONLY").unwrap_or_default();
    let at = std::env::var("AT").unwrap_or_default();
    let all: Vec<(Form, &str)> = forms.iter().flat_map(|f| LEVELS.map(|level| (*f, level))).collect();
    let mut failures = Vec::new();
    let mut kernels = 0;
    for (number, file) in files.iter().enumerate().step_by(sample::of(1, 3)) {
        let name = file.file_name().expect("a name").to_string_lossy().into_owned();
        if !name.contains(&only) {
            continue;
        }
        let text = std::fs::read_to_string(file).expect("a text");
        let mut runs = case::parse(&text).expect("launches");
        let results = on_processor(file, &runs, folder.path()).unwrap_or_else(|e| panic!("{name}: {e}"));
        runs.iter_mut().zip(results).for_each(|(run, result)| run.same = Some(result));
        kernels += runs.len();
        for (i, (form, level)) in all.iter().enumerate() {
            let shown = form.name(level);
            let engines = match engines(number, i, all.len()) {
                _ if !at.is_empty() => &[Engine::Interpreter, Engine::Compiled],
                some => some,
            };
            if engines.is_empty() || !shown.contains(&at) {
                continue;
            }
            let programs = form.programs(file, level, engines, libraries, &folder.path().join("object"));
            let outcome = programs.and_then(|programs| {
                let mut wrong = String::new();
                for (program, engine) in programs.into_iter().zip(engines) {
                    let program = match engine {
                        Engine::Compiled => program.for_target(Target::native()),
                        Engine::Interpreter => program,
                    };
                    for run in &runs {
                        if let Err(e) = execute(&program, &workers, run, By::Engine(*engine)) {
                            wrong += &format!("\n  line {}, {}, {engine:?}: {e}", run.line, run.kernel);
                        }
                    }
                }
                if wrong.is_empty() { Ok(()) } else { Err(wrong) }
            });
            failures.extend(outcome.err().map(|e| format!("{name} for {shown}: {e}")));
        }
    }
    assert!(failures.is_empty(), "{} do not hold:\n{}", failures.len(), failures.join("\n"));
    kernels
}
