//! `anywarp compile`: a file's errors, its kernels' resources, and the output of each compiler stage. The
//! file is PTX or AMD code.

use std::collections::BTreeSet;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser};
use cpu::{Cpu, Effort, LoadError, Program, Rules, Settings, Specialisation, backend, info};
use driver::backend::{Backend, LoadOptions};
use host::options::Options;
use simd::View;
use wave::op::Op;
use wave::{FuncId, Module};

use crate::commands::extract;
use crate::parts::{self, Code, Part};
use crate::{amd, files, table};

/// Compile PTX or AMD code as loading it would, and show the result
///
/// Errors are printed with their lines. Otherwise a table shows, for each kernel, the resources that it needs
/// and how much of it was vectorised; or the output of one compiler stage is printed.
#[derive(clap::Args)]
#[command(
    after_help = "ANYWARP_COMPUTE_CAPABILITY and ANYWARP_CPU select the device and the processor to compile for.\n\
                        Example: anywarp compile kernel.ptx --kernel reduce --emit asm"
)]
pub struct Args {
    /// A PTX file or AMD code object, or a bundle, fatbin, program, library or archive with such code in it;
    /// `-` is standard input
    file: PathBuf,
    /// Of a file with several pieces of code, take only the one with this number
    #[arg(long, value_name = "N")]
    part: Option<usize>,
    /// Compile only this kernel
    #[arg(long)]
    kernel: Option<String>,
    /// Print the output of a stage instead of the table
    #[arg(long)]
    emit: Option<Stage>,
    /// Show the IR after this pass (with wave, uniformity or ranges). A kernel in per-lane mode goes from
    /// unreachable to copies, cycles (a large one), yields and meetings, others through all but cycles and
    /// meetings
    #[arg(long, value_name = "PASS", value_parser = pass_names())]
    after: Option<String>,
    /// Block size to compile for; by default the one that the kernel requires, or 256
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = block)]
    block: Option<[u32; 3]>,
}

/// Reads the size of a block.
fn block(text: &str) -> Result<[u32; 3], String> {
    let mut size = [1u32; 3];
    let numbers: Vec<&str> = text.split(',').collect();
    if numbers.len() > size.len() {
        return Err("a block has one to three numbers, such as 16,8".into());
    }
    for (extent, number) in size.iter_mut().zip(numbers) {
        *extent = number.trim().parse().map_err(|_| format!("'{number}' is not a number"))?;
    }
    match size.iter().try_fold(1u32, |all, &n| all.checked_mul(n)) {
        Some(1..=1024) => Ok(size),
        _ => Err("a block must have 1 to 1024 threads".into()),
    }
}

fn pass_names() -> PossibleValuesParser {
    simd::passes().into_iter().map(|(name, about)| PossibleValue::new(name).help(about)).into()
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Stage {
    /// The complete text as parsed
    Ast,
    /// Wave IR, from the view of one lane
    Wave,
    /// Wave IR with how each value varies over a warp's lanes, divergence, and what stops keep
    Uniformity,
    /// Wave IR with the range of each value
    Ranges,
    /// LLVM IR, with vectors of a warp's lanes
    Llvm,
    /// Assembly code for the processor
    Asm,
    /// The instructions of AMD code: FILE is a code object, a bundle, or a program that contains bundles
    AsmAmd,
}

/// Number of named barriers that a kernel and its callees use; all 16 if it is known only at run time.
fn barriers(module: &Module, kernel: FuncId) -> usize {
    let (mut open, mut seen, mut found) = (vec![kernel], BTreeSet::from([kernel]), BTreeSet::new());
    while let Some(function) = open.pop().and_then(|id| module.functions.get(id.index())) {
        let instructions = || function.blocks.iter().flat_map(|block| &block.insts);
        for inst in instructions() {
            match &inst.op {
                Op::Bar { .. } => {
                    let number = instructions().find_map(|i| match i.op {
                        Op::Const { bits, .. } if i.results.first() == inst.args.first() => Some(bits),
                        _ => None,
                    });
                    match number {
                        Some(bits) => drop(found.insert(bits)),
                        None => return 16,
                    }
                }
                Op::Call(callee) if seen.insert(*callee) => open.push(*callee),
                _ => {}
            }
        }
    }
    found.len()
}

/// The columns of the table.
const HEADINGS: [&str; 11] = [
    "kernel",
    "registers",
    "shared",
    "local",
    "barriers",
    "parameters",
    "once a warp",
    "vectors",
    "wide accesses",
    "lane by lane",
    "code",
];

/// A module, and what to compile in it.
struct Unit<'a> {
    program: &'a Program,
    /// The selected kernels.
    kernels: Vec<FuncId>,
    block: Option<[u32; 3]>,
}

impl Unit<'_> {
    fn specialisation(&self, kernel: FuncId) -> Specialisation {
        let required = || {
            let function = self.program.module().functions.get(kernel.index())?;
            function.kernel.as_ref().map(|k| k.required_block).filter(|b| b.iter().all(|&n| n != 0))
        };
        let block = self.block.or_else(required).unwrap_or([256, 1, 1]);
        let spec = Specialisation::of_launch([1, 1, 1], block);
        match self.program.module().functions.get(kernel.index()) {
            Some(function) => spec.of_warps(function.width),
            None => spec,
        }
    }

    fn table(&self) -> String {
        let options = LoadOptions::default();
        let row = |&id: &FuncId| {
            let module = self.program.module_of(id);
            let function = module.functions.get(id.index())?;
            let info = info::kernel(function, self.program.target(id), &options);
            let usage = info::usage(module, function, &options);
            if let Some(reason) = self.program.refused(id) {
                let mut row = vec![info.name];
                row.extend(std::iter::repeat_n("-".to_owned(), HEADINGS.len() - 2));
                row.push(format!("cannot run: {reason}"));
                return Some(row);
            }
            let made = self.program.kernel(id, [1, 1, 1], self.specialisation(id).block)?;
            let count = |n: Option<u32>| n.map_or("-".into(), |n| n.to_string());
            let mode = match made.report {
                Some(r) if r.per_lane => "compiled in per-lane mode",
                _ => "compiled",
            };
            let effort = made.report.map(|r| r.effort).filter(|e| *e != Effort::Full);
            let effort = effort.map_or(String::new(), |e| format!(", with {} effort", e.name()));
            let code = match (&made.report, &made.refused) {
                (Some(_), _) if made.cached => format!("{mode}{effort}, from the cache"),
                (Some(_), _) => format!("{mode} in {:.1} ms{effort}", made.time.as_secs_f64() * 1e3),
                (None, Some(reason)) => format!("interpreted: {reason}"),
                (None, None) => "interpreted".into(),
            };
            let r = made.report;
            Some(vec![
                info.name,
                usage.registers.to_string(),
                table::bytes(info.static_shared.into()),
                table::bytes(usage.local_bytes.into()),
                barriers(module, id).to_string(),
                table::bytes(info.param_size.into()),
                count(r.map(|r| r.uniform)),
                count(r.map(|r| r.vector)),
                count(r.map(|r| r.wide)),
                count(r.map(|r| r.scattered)),
                code,
            ])
        };
        let rows: Vec<Vec<String>> = self.kernels.iter().filter_map(row).collect();
        table::columns(&HEADINGS, &rows)
    }

    fn stage(&self, stage: Stage, after: Option<&str>, text: &str) -> Result<String> {
        let module = self.program.module();
        let each = |make: &dyn Fn(&simd::Request) -> Result<String, simd::Error>| {
            let one = |&id: &FuncId| {
                let name = module.functions.get(id.index()).map_or("", |f| f.name.as_str());
                let request = self.program.request(id, self.specialisation(id));
                make(&request).map_err(|error| anyhow::anyhow!("{name} cannot be compiled: {error}"))
            };
            self.kernels.iter().map(one).collect::<Result<String>>()
        };
        match stage {
            Stage::Ast => Ok(ptx::parse(text).map(|tree| tree.to_string()).unwrap_or_default()),
            Stage::Wave if after.is_some() => each(&|request| {
                let stages = simd::stages(request)?;
                let stage = stages.iter().find(|(name, _)| Some(*name) == after);
                let (_, func) = stage.ok_or_else(|| {
                    simd::Error::Unsupported("its code is made without that pass".to_owned())
                })?;
                Ok(request.module.shown(func).to_string())
            }),
            Stage::Wave if self.kernels.len() == module.kernels().count() => {
                Ok(self.program.whole().to_string())
            }
            Stage::Wave => {
                let shown = |id: &FuncId| {
                    let module = self.program.module_of(*id);
                    Some(module.shown(module.functions.get(id.index())?).to_string())
                };
                Ok(self.kernels.iter().filter_map(shown).collect())
            }
            Stage::Uniformity => each(&|request| simd::explained(request, View::Uniformity, after)),
            Stage::Ranges => each(&|request| simd::explained(request, View::Ranges, after)),
            Stage::Llvm => each(&simd::ir),
            Stage::Asm => each(&simd::assembly),
            Stage::AsmAmd => bail!("{}", amd::NOT_AMD),
        }
    }
}

/// Whether a file has the extension of a CUDA or HIP source.
fn is_source(file: &std::path::Path) -> bool {
    file.extension()
        .is_some_and(|e| ["cu", "cuh", "hip", "c", "cc", "cpp", "cxx"].iter().any(|known| e == *known))
}

/// Runs the subcommand. The exit status is 1 if the text has errors.
pub fn run(args: Args, options: &Options) -> Result<ExitCode> {
    if args.after.is_some() && !matches!(args.emit, Some(Stage::Wave | Stage::Uniformity | Stage::Ranges)) {
        bail!("--after goes with --emit wave, uniformity or ranges");
    }
    if args.emit == Some(Stage::AsmAmd) {
        let bytes = files::read_or_stdin(&args.file, files::MOST_LIBRARY)?;
        let listing = amd::listing(&bytes, args.kernel.as_deref());
        let listing = listing.with_context(|| args.file.display().to_string())?;
        std::io::stdout().write_all(listing.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let bytes = files::read_or_stdin(&args.file, files::MOST_LIBRARY)?;
    let name = args.file.display().to_string();
    let settings = Settings::of(options);
    let devices = Cpu::new(settings.clone()).devices();
    let device = devices.first().context("there is no device")?;
    let rules = backend::rules(device, &settings);
    let all = parts::of(&name, &bytes)?;
    if all.is_empty() {
        bail!("{name}: {}", extract::nothing(&bytes));
    }
    let count = all.len();
    let mut numbered: Vec<(usize, Part)> = (1..).zip(all).collect();
    if let Some(part) = args.part {
        numbered.retain(|(number, _)| *number == part);
        if numbered.is_empty() {
            bail!(
                "{name} has no part {part}; it has {}",
                if count == 1 { "1 piece of code".into() } else { format!("{count} pieces of code") }
            );
        }
    }
    each(&args, &name, &numbered, count, &rules)
}

/// Loads and shows each part. Each has a line with its number and target, if there are several.
fn each(args: &Args, name: &str, parts: &[(usize, Part)], count: usize, rules: &Rules) -> Result<ExitCode> {
    let mut code = ExitCode::SUCCESS;
    let mut out = std::io::stdout();
    let mut shown_any = false;
    for (number, part) in parts {
        if args.emit == Some(Stage::Ast) && matches!(part.code, Code::Amd(_)) {
            bail!("{name} is AMD code, which has no syntax tree; asm-amd prints its instructions");
        }
        let title = if count > 1 { format!("part {number}: {}", part.target) } else { String::new() };
        let module = if count > 1 { format!("{name}, {title}") } else { name.to_owned() };
        match part.load(&module, rules) {
            Ok(program) => {
                let Some(output) = shown(args, &module, &program, part.text(), count > 1)? else { continue };
                let separator = if shown_any && count > 1 { "\n" } else { "" };
                let title = if count > 1 { format!("; {title}\n") } else { title };
                write!(out, "{separator}{title}{output}")?;
                shown_any = true;
            }
            Err(error) => {
                code = failed(&module, &error);
                if is_source(&args.file) {
                    eprintln!(
                        "{name} is a source: `anywarp cc --ptx` compiles it to PTX, `anywarp cc` to a program"
                    );
                }
            }
        }
    }
    if let (Some(kernel), false, true) = (&args.kernel, shown_any, code == ExitCode::SUCCESS) {
        bail!("{name} has no kernel {kernel} in any of its parts");
    }
    Ok(code)
}

/// Prints why a module does not load.
fn failed(name: &str, error: &LoadError) -> ExitCode {
    let color = std::io::stderr().is_terminal();
    for finding in &error.findings {
        eprintln!("{}", if color { &finding.colored } else { &finding.rendered });
    }
    match error.findings.len() {
        0 => eprint!("{}", error.log),
        1 => eprintln!("{name} does not load: 1 error"),
        n => eprintln!("{name} does not load: {n} errors"),
    }
    ExitCode::FAILURE
}

/// The table or the output of a stage; `None` for a part of several without the kernel that is asked for.
fn shown(args: &Args, name: &str, program: &Program, text: &str, several: bool) -> Result<Option<String>> {
    let module = program.module();
    let all: Vec<(FuncId, &str)> = module.kernels().map(|(id, f)| (id, f.name.as_str())).collect();
    let wanted = |name: &str| args.kernel.as_deref().is_none_or(|kernel| kernel == name);
    let kernels: Vec<FuncId> = all.iter().filter(|(_, name)| wanted(name)).map(|(id, _)| *id).collect();
    if let (Some(kernel), true) = (&args.kernel, kernels.is_empty()) {
        if several {
            return Ok(None);
        }
        let names: Vec<&str> = all.iter().map(|(_, name)| *name).collect();
        bail!("{name} has no kernel {kernel}; its kernels are {}", names.join(", "));
    }
    let unit = Unit { program, kernels, block: args.block };
    match args.emit {
        Some(stage) => unit.stage(stage, args.after.as_deref(), text).map(Some),
        None => Ok(Some(unit.table())),
    }
}
