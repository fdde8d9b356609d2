//! `anywarp hipify`: translates CUDA sources to HIP, with the options of hipify-clang.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use hipify::build_files::{self, BuildFile, BuildTranslation};
use hipify::{Diagnostic, Format, Lines, Options, Reason, Rocm, Statistics, Target, Translation};
use serde::Serialize;

use crate::files;
use project::Project;

mod project;
mod tree;

/// Translate CUDA sources to HIP
///
/// By default, each FILE is translated to FILE.hip. No CUDA headers are needed. Comments and strings are left
/// unchanged, and names without a counterpart are reported with their position. Long options may be written
/// with a single dash, as scripts for hipify-clang do.
#[derive(clap::Args)]
#[command(after_help = "Example: anywarp hipify --inplace --print-stats src/*.cu")]
pub struct Args {
    /// Sources, or folders of a project; `-` is standard input, which is translated to standard output
    files: Vec<PathBuf>,
    /// Write the translation to this file; `-` is standard output
    #[arg(short, value_name = "FILE", conflicts_with_all = ["inplace", "no_output"])]
    output: Option<PathBuf>,
    /// Write translations to this folder
    #[arg(long = "o-dir", value_name = "DIR", conflicts_with = "inplace")]
    output_dir: Option<PathBuf>,
    /// Replace the sources by their translations; FILE.prehip keeps the original unless it already exists
    #[arg(long, conflicts_with = "no_output")]
    inplace: bool,
    /// Do not keep FILE.prehip
    #[arg(long)]
    no_backup: bool,
    /// Do not write translations
    #[arg(long, visible_alias = "dry-run")]
    no_output: bool,
    /// Same as `--no-output --print-stats`
    #[arg(long, conflicts_with_all = ["output", "inplace"])]
    examine: bool,
    /// Print statistics to standard error
    #[arg(long)]
    print_stats: bool,
    /// Write statistics to FILE.csv, or to sum_stat.csv for several files
    #[arg(long)]
    print_stats_csv: bool,
    /// Write statistics to this file as CSV
    #[arg(long = "o-stats", value_name = "FILE")]
    stats_file: Option<PathBuf>,
    /// Print all results for each file to standard output as JSON
    #[arg(long)]
    json: bool,
    /// Write the names of this release of ROCm; names of later ones stay and are reported
    #[arg(long, value_name = "RELEASE", default_value_t)]
    rocm: Rocm,
    /// Use the names of ROC libraries (rocBLAS, rocSPARSE, ...) if they exist
    #[arg(long)]
    roc: bool,
    /// Same as --roc, with MIOpen for cuDNN
    #[arg(long)]
    miopen: bool,
    /// Translate names whose counterpart is experimental
    #[arg(long)]
    experimental: bool,
    /// Translate as much as possible, including code that the preprocessor excludes
    #[arg(long)]
    amap: bool,
    /// Write launches as hipLaunchKernelGGL(...)
    #[arg(long)]
    hip_kernel_execution_syntax: bool,
    /// Leave launches as <<<...>>> (default; --hip-kernel-execution-syntax wins)
    #[arg(long)]
    cuda_kernel_execution_syntax: bool,
    /// Do not translate blocks that the preprocessor excludes, as far as the file and -D tell
    #[arg(long, visible_alias = "default-preprocessor")]
    skip_excluded_preprocessor_conditional_blocks: bool,
    /// Write hipDataType for cudaDataType in declarations, whatever the library
    #[arg(long)]
    use_hip_data_types: bool,
    /// Also translate words in strings, as hipify-clang does
    #[arg(long)]
    rewrite_strings: bool,
    /// Do not change accesses to the members of half2, which CUDA does not document
    #[arg(long)]
    no_undocumented_features: bool,
    /// Print the versions that the tables cover
    #[arg(long)]
    versions: bool,
    /// Define a macro for --skip-excluded-preprocessor-conditional-blocks
    #[arg(short = 'D', value_name = "MACRO[=VALUE]")]
    define: Vec<String>,
    /// Look here for headers of the project: what they declare is not taken for CUDA's
    #[arg(short = 'I', value_name = "DIR")]
    include: Vec<PathBuf>,
    /// Translate the files in DIR/compile_commands.json
    #[arg(short = 'p', value_name = "DIR")]
    database: Option<PathBuf>,
    /// Translate the sources that this file names, the headers that they reach and the build files
    #[arg(long, value_name = "FILE", conflicts_with_all = ["database", "files"])]
    compile_commands: Option<PathBuf>,
    #[command(flatten)]
    ignored: Ignored,
}

/// hipify-clang's options for its compiler, which is not needed here.
#[derive(clap::Args)]
#[command(next_help_heading = "Accepted but ignored (no compiler is run)")]
struct Ignored {
    #[arg(long, value_name = "DIR")]
    cuda_path: Option<PathBuf>,
    #[arg(long, value_name = "ARCH")]
    cuda_gpu_arch: Vec<String>,
    #[arg(long, value_name = "DIR")]
    clang_resource_directory: Option<PathBuf>,
    #[arg(long, value_name = "DIR")]
    temp_dir: Option<PathBuf>,
    #[arg(long)]
    save_temps: bool,
    #[arg(short = 'v')]
    verbose: bool,
    #[arg(long)]
    no_warnings_on_undocumented_features: bool,
    /// Options for the compiler
    #[arg(last = true)]
    compiler: Vec<String>,
}

/// `arguments` with a second dash before each long option of `anywarp hipify` that has only one, as LLVM's
/// tools accept it. Other words after a dash get one as well, so that a misspelt `-hip-...` is not `-h`,
/// unless they begin as a short option with its value does.
pub fn with_two_dashes(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    if arguments.get(1).is_none_or(|command| command != "hipify") {
        return arguments;
    }
    let known = <Args as clap::Args>::augment_args(clap::Command::new("hipify"));
    let is_long = |name: &str| {
        known.get_arguments().any(|argument| {
            argument.get_long() == Some(name)
                || argument.get_all_aliases().is_some_and(|all| all.contains(&name))
        })
    };
    let has_value = |letter: char| {
        known
            .get_arguments()
            .any(|argument| argument.get_short() == Some(letter) && argument.get_action().takes_values())
    };
    let is_word = |rest: &str| {
        let mut letters = rest.chars();
        let first = letters.next().filter(char::is_ascii_alphabetic);
        first.is_some_and(|letter| !has_value(letter)) && letters.next().is_some()
    };
    let mut done = false;
    let rewrite = |argument: OsString| {
        done |= argument == "--";
        match argument.to_str().and_then(|text| text.strip_prefix('-')) {
            Some(rest) if !done && (is_long(rest.split('=').next().unwrap_or(rest)) || is_word(rest)) => {
                format!("--{rest}").into()
            }
            _ => argument,
        }
    };
    arguments.into_iter().map(rewrite).collect()
}

/// The result for one file.
#[derive(Serialize)]
struct Report {
    #[serde(serialize_with = "as_text")]
    file: PathBuf,
    #[serde(serialize_with = "as_optional_text")]
    output: Option<PathBuf>,
    diagnostics: Vec<Diagnostic>,
    statistics: Statistics,
}

/// JSON has text only: bytes of a path that are not UTF-8 are replaced, as in messages.
fn as_text<S: serde::Serializer>(path: &Path, to: S) -> std::result::Result<S::Ok, S::Error> {
    to.serialize_str(&path.to_string_lossy())
}

fn as_optional_text<S: serde::Serializer>(
    path: &Option<PathBuf>,
    to: S,
) -> std::result::Result<S::Ok, S::Error> {
    path.as_deref().map(Path::to_string_lossy).serialize(to)
}

/// The output of `--json` for one file.
#[derive(Serialize)]
struct Told {
    files: Vec<Report>,
}

impl Args {
    fn options(&self, file: &Path, project: &Project) -> Options {
        let compiler =
            self.ignored.compiler.iter().filter_map(|option| option.strip_prefix("-D").map(String::from));
        let defines =
            self.define.iter().cloned().chain(compiler).map(|define| match define.split_once('=') {
                Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
                None => (define, None),
            });
        let extension = file.extension().and_then(|extension| extension.to_str());
        Options {
            target: match (self.miopen, self.roc) {
                (true, _) => Target::Miopen,
                (false, true) => Target::Roc,
                (false, false) => Target::Hip,
            },
            rocm: self.rocm,
            experimental: self.experimental,
            as_much_as_possible: self.amap,
            hip_launch_syntax: self.hip_kernel_execution_syntax,
            skip_excluded: self.skip_excluded_preprocessor_conditional_blocks,
            hip_data_types: self.use_hip_data_types,
            strings: self.rewrite_strings,
            defines: defines.collect(),
            always_include_runtime: matches!(extension, Some("cu" | "cuh")),
            no_undocumented: self.no_undocumented_features,
            project: project.names(),
        }
    }

    /// The path of a file's translation, if it is written.
    fn destination(&self, file: &Path, project: &Project) -> Option<PathBuf> {
        if self.no_output || self.examine {
            return None;
        }
        if self.inplace {
            return Some(file.to_owned());
        }
        if let (Some(place), Some(folder)) = (project.place(file), &self.output_dir) {
            return Some(folder.join(place));
        }
        let named = match &self.output {
            Some(output) if output.as_os_str() == "-" => return Some(output.clone()),
            Some(output) => output.clone(),
            None if file.as_os_str() == "-" => return Some(file.to_owned()),
            None => {
                let mut name = if self.output_dir.is_some() {
                    file.file_name().unwrap_or(file.as_os_str()).to_owned()
                } else {
                    file.as_os_str().to_owned()
                };
                name.push(".hip");
                name.into()
            }
        };
        Some(self.output_dir.as_ref().map_or(named.clone(), |folder| folder.join(named)))
    }

    /// The names of the given options that are ignored.
    fn without_effect(&self) -> Vec<&'static str> {
        let Ignored { cuda_path, cuda_gpu_arch, clang_resource_directory, temp_dir, save_temps, .. } =
            &self.ignored;
        [
            (cuda_path.is_some(), "--cuda-path"),
            (!cuda_gpu_arch.is_empty(), "--cuda-gpu-arch"),
            (clang_resource_directory.is_some(), "--clang-resource-directory"),
            (temp_dir.is_some(), "--temp-dir"),
            (*save_temps, "--save-temps"),
        ]
        .into_iter()
        .filter_map(|(given, name)| given.then_some(name))
        .collect()
    }
}

/// The files in a compilation database, without duplicates.
fn database(folder: &Path) -> Result<Vec<PathBuf>> {
    #[derive(serde::Deserialize)]
    struct Command {
        directory: PathBuf,
        file: PathBuf,
    }
    let path = folder.join("compile_commands.json");
    let commands: Vec<Command> = serde_json::from_slice(&files::read(&path, files::MOST_SOURCE)?)
        .with_context(|| format!("{} is not a compilation database", path.display()))?;
    let mut files: Vec<PathBuf> =
        commands.into_iter().map(|command| command.directory.join(command.file)).collect();
    files.sort();
    files.dedup();
    Ok(files)
}

/// Prints the diagnostics to standard error. Of those that require no action, each name is printed once,
/// with the lines of its other places.
fn report_findings(file: &Path, text: &[u8], diagnostics: &[Diagnostic]) {
    let lines = Lines::new(text);
    let color = std::io::stderr().is_terminal();
    let mut places: HashMap<(Reason, &str), Vec<usize>> = HashMap::new();
    for diagnostic in diagnostics.iter().filter(|diagnostic| !diagnostic.reason.is_warning()) {
        places.entry((diagnostic.reason, &diagnostic.name)).or_default().push(diagnostic.line);
    }
    for diagnostic in diagnostics {
        let mut shown = diagnostic.clone();
        if !diagnostic.reason.is_warning() {
            let Some(at) = places.remove(&(diagnostic.reason, &*diagnostic.name)) else { continue };
            shown.message += &others(at.get(1..).unwrap_or(&[]));
        }
        eprintln!("{}", shown.render(&file.to_string_lossy(), &lines, color));
    }
}

/// What a note says of the further places of its name: ` (and 2 more: lines 7, 9)`.
fn others(lines: &[usize]) -> String {
    /// The number of lines that are listed at most.
    const NAMED: usize = 5;
    let named: Vec<String> = lines.iter().take(NAMED).map(usize::to_string).collect();
    match lines.len() {
        0 => String::new(),
        1 => format!(" (and 1 more: line {})", named.join(", ")),
        more => {
            let rest = if more > NAMED { ", ..." } else { "" };
            format!(" (and {more} more: lines {}{rest})", named.join(", "))
        }
    }
}

/// Replaces a source by its translation. FILE.prehip keeps the source of the first run: as with hipify-perl,
/// it is the CUDA program.
fn replace(file: &Path, text: &[u8], translated: &[u8]) -> Result<()> {
    let mut copy = file.as_os_str().to_owned();
    copy.push(".prehip");
    let copy = Path::new(&copy);
    if files::replace_keeping(file, text, translated, copy)? == files::Kept::Older {
        let (copy, file) = (copy.display(), file.display());
        eprintln!(
            "anywarp: {copy} already exists and is left unchanged; the previous contents of {file} are not kept"
        );
    }
    Ok(())
}

fn translate(args: &Args, file: &Path, project: &Project) -> Result<(Report, Duration)> {
    // A project may contain anything: to read a pipe would wait for its other end.
    if args.inplace || project.place(file).is_some() {
        let known = fs::metadata(file).with_context(|| format!("cannot read {}", file.display()))?;
        if !known.is_file() {
            let how = if args.inplace { " in place" } else { "" };
            bail!("cannot translate {}{how}: it is not a regular file", file.display());
        }
    }
    let beside = args.output.is_none() && args.output_dir.is_none() && !args.no_output && !args.examine;
    if beside && file.as_os_str() != "-" && fs::metadata(file).is_ok_and(|known| !known.is_file()) {
        let file = file.display();
        bail!("cannot write a translation beside {file}: it is not a regular file; name the output with -o");
    }
    let text = files::read_or_stdin(file, files::MOST_SOURCE)?;
    let start = Instant::now();
    let kind =
        project.place(file).and(file.file_name()).and_then(|name| BuildFile::of(&name.to_string_lossy()));
    let (translated, diagnostics, statistics) = match kind {
        Some(kind) => {
            let BuildTranslation { text, diagnostics, .. } = build_files::translate(&text, kind);
            (text, diagnostics, Statistics::default())
        }
        None => {
            let Translation { text, diagnostics, statistics, .. } =
                hipify::translate(&text, &args.options(file, project))
                    .with_context(|| format!("cannot translate {}", file.display()))?;
            (text, diagnostics, statistics)
        }
    };
    let elapsed = start.elapsed();
    if !args.json {
        report_findings(file, &text, &diagnostics);
    }
    let output = args.destination(file, project);
    let unchanged = args.inplace && project.place(file).is_some() && translated == text;
    if let (Some(output), Some(_)) = (output.as_ref().filter(|_| !args.inplace), project.place(file)) {
        let folder = output.parent().unwrap_or(output);
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    }
    project.count(translated != text, &diagnostics);
    match &output {
        _ if unchanged => {}
        Some(_) if args.inplace && !args.no_backup => replace(file, &text, &translated)?,
        Some(output) if !args.inplace || translated != text => files::write(output, &translated)?,
        _ => {}
    }
    Ok((Report { file: file.to_owned(), output, diagnostics, statistics }, elapsed))
}

/// The statistics of all files in a format.
fn statistics(reports: &[(Report, Duration)], format: Format) -> String {
    let mut out = String::new();
    let (mut all, mut elapsed) = (Statistics::default(), Duration::ZERO);
    for (report, time) in reports {
        out += &report.statistics.print(&report.file.to_string_lossy(), *time, format);
        all.merge(&report.statistics);
        elapsed += *time;
    }
    if reports.len() > 1 {
        let converted = reports.iter().filter(|(report, _)| report.statistics.changed_lines > 0).count();
        out += &all.print("GLOBAL", elapsed, format);
        out += &hipify::print_totals(converted, reports.len(), format);
    }
    out
}

/// Runs the command.
pub fn run(args: &Args) -> Result<ExitCode> {
    if args.versions {
        for (what, from, to) in hipify::VERSIONS {
            writeln!(io::stdout(), "[HIPIFY] Supports {what} from {from} up to {to}")?;
        }
    }
    let mut files = args.files.clone();
    if let Some(folder) = args.database.as_ref().filter(|_| files.is_empty()) {
        files = database(folder)?;
    }
    let mut project = match &args.compile_commands {
        Some(file) => Project::of_commands(file)?,
        None => Project::of_folders(&mut files)?,
    };
    let compiler = args.ignored.compiler.iter().filter_map(|option| option.strip_prefix("-I"));
    let folders: Vec<PathBuf> = args.include.iter().cloned().chain(compiler.map(PathBuf::from)).collect();
    for (header, why) in project.outside() {
        eprintln!("anywarp: {} {why}", header.display());
    }
    project.reach(&files, &folders);
    project.read_names();
    files.extend(project.files());
    let quiet = args.no_output || args.examine;
    if !project.is_empty() && !args.inplace && args.output_dir.is_none() && !quiet {
        bail!(
            "a project is translated with --inplace, with --o-dir DIR, or with --dry-run to see what would change"
        );
    }
    if files.is_empty() {
        if args.versions {
            return Ok(ExitCode::SUCCESS);
        }
        if let Some(folder) = args.files.first() {
            let endings = project::SOURCES.map(|ending| format!(".{ending}")).join(", ");
            bail!("no sources in {}: their names end in {endings}", folder.display());
        }
        bail!("no source files given");
    }
    if args.output.is_some() && files.len() > 1 {
        bail!("-o names one file, but {} sources are given; use --o-dir", files.len());
    }
    let idle = args.without_effect();
    if !idle.is_empty() {
        eprintln!("anywarp: ignored, because no compiler is run: {}", idle.join(", "));
    }
    if let Some(folder) = &args.output_dir {
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    }
    let mut failed = false;
    let mut reports = Vec::new();
    for file in &files {
        match translate(args, file, &project) {
            Ok(report) => reports.push(report),
            Err(error) if files::is_closed_pipe(&error) => return Err(error),
            Err(error) => {
                eprintln!("anywarp: {error:#}");
                failed = true;
            }
        }
    }
    if !project.is_empty() {
        eprint!("{}", project.summary());
    }
    if args.print_stats || args.examine {
        eprint!("{}", statistics(&reports, Format::Text));
    }
    if args.print_stats_csv || args.stats_file.is_some() {
        let name = args.stats_file.clone().unwrap_or_else(|| match files.as_slice() {
            [file] => {
                format!("{}.csv", file.file_name().unwrap_or(file.as_os_str()).to_string_lossy()).into()
            }
            _ => "sum_stat.csv".into(),
        });
        let name = args.output_dir.as_ref().map_or(name.clone(), |folder| folder.join(&name));
        files::write(&name, statistics(&reports, Format::Csv).as_bytes())?;
    }
    if args.json {
        let files = reports.into_iter().map(|(report, _)| report).collect();
        writeln!(io::stdout(), "{}", serde_json::to_string_pretty(&Told { files })?)?;
    }
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
