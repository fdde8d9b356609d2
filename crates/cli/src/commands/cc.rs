//! `anywarp cc`: compiles CUDA and HIP C++ with the user's clang, our headers and no vendor's toolkit.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};
use host::options::Options;

use crate::install;
use crate::scratch::Scratch;
use arguments::{Input, Request, Stage};
use clang::{Arch, Clang, Language, Side, headers};

mod arguments;
pub(super) mod container;
mod includes;
mod messages;

/// Compile CUDA or HIP C++ (.cu, .hip) for `anywarp run`, with clang and without NVIDIA's or AMD's toolkit
///
/// Options that are not listed here are clang's: -o, -c, -O, -g, -I, -D, -std, -shared, -l and others. Other
/// sources, objects and libraries are compiled and linked along. --genco (or --cuda-device-only, -fatbin)
/// writes the device code of a source to a file, for hipModuleLoad or cuModuleLoad. The program links
/// libcudart.so.13 or libamdhip64.so.6.
#[derive(clap::Args)]
#[command(after_help = "Example: anywarp cc vecadd.cu -o vecadd && anywarp run -- ./vecadd")]
pub struct Args {
    /// Device code to make, as a list: compute_NN (PTX), and for HIP gfxNNN (AMD machine code, needs lld) as
    /// well; compute_80 by default
    #[arg(long, value_name = "ARCHES")]
    arch: Vec<String>,
    /// clang 16 or later; by default what ANYWARP_CLANG names, or the newest in PATH
    #[arg(long, value_name = "PROGRAM")]
    clang: Option<PathBuf>,
    /// Write the PTX of each CUDA or HIP source instead of compiling for the host
    #[arg(long)]
    ptx: bool,
    /// Print the commands that are run
    #[arg(long)]
    verbose: bool,
    /// Sources, objects, libraries, and options of clang
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "FILES|OPTIONS"
    )]
    rest: Vec<OsString>,
}

/// One run of the command.
struct Job {
    clang: Clang,
    request: Request,
    arches: Vec<Arch>,
    /// Holds our headers and what lies between the steps; removed at the end.
    scratch: Scratch,
}

/// Runs the subcommand; the exit status is clang's.
pub fn run(args: Args, options: &Options) -> Result<ExitCode> {
    let mut request = Request::read(args.rest)?;
    request.verbose |= args.verbose;
    request.ptx |= args.ptx;
    request.arch.splice(0..0, args.arch);
    let named = request.clang.as_deref().or(args.clang.as_deref()).or(options.clang.as_deref());
    let clang = Clang::find(named)?;
    if request.version {
        writeln!(io::stdout(), "anywarp cc {} with {}", env!("CARGO_PKG_VERSION"), clang.program.display())?;
        let status = Command::new(&clang.program).arg("--version").status();
        status.with_context(|| format!("cannot run {}", clang.program.display()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let arches = Arch::list(&request.arch)?;
    request.settle(&arches);
    request.check(&arches)?;
    for note in &request.notes {
        writeln!(io::stderr(), "anywarp cc: {note}")?;
    }
    let scratch = Scratch::new("anywarp-cc-").context("cannot create a folder for temporary files")?;
    headers::write(scratch.path())?;
    let job = Job { clang, request, arches, scratch };
    match job.run(options) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error) => match error.downcast_ref::<Failed>() {
            // clang has said why.
            Some(Failed(code)) => Ok(ExitCode::from(*code)),
            None => Err(error),
        },
    }
}

/// clang's failure, which it has reported itself.
#[derive(Debug)]
struct Failed(u8);

impl std::fmt::Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "clang failed with status {}", self.0)
    }
}

impl std::error::Error for Failed {}

impl Job {
    fn run(&self, options: &Options) -> Result<()> {
        if self.request.ptx {
            return self.write_ptx();
        }
        match self.request.stage {
            Stage::Link => self.link(options),
            Stage::Compile => self.objects(),
            Stage::Device => self.write_device_code(),
            Stage::Preprocess | Stage::Check => self.pass_through(),
        }
    }

    /// The folder of our headers.
    fn include(&self) -> PathBuf {
        self.scratch.path().join(headers::FOLDER)
    }

    /// clang with the options that every step has.
    fn clang(&self) -> Result<Command> {
        Ok(self.clang.command(&self.include())?)
    }

    /// clang for a pass over a source.
    fn pass(&self, language: Language, side: Side) -> Result<Command> {
        let optimisation = (!self.request.optimises).then_some("-O2");
        Ok(self.clang.pass(&self.include(), language, side, optimisation)?)
    }

    /// clang for a host-only source. A `.c` file is compiled as C, as nvcc does, without options for C++.
    fn other(&self, input: &Input) -> Result<Command> {
        let mut command = self.clang()?;
        if input.is_c() {
            let for_cxx = |option: &&OsString| {
                let option = option.to_string_lossy();
                option.starts_with("-std=c++") || option.starts_with("-std=gnu++")
            };
            command.args(self.request.for_host.iter().filter(|option| !for_cxx(option))).arg("-xc");
        } else {
            command.args(&self.request.for_host);
        }
        Ok(command)
    }

    fn execute(&self, mut command: Command) -> Result<()> {
        let mut words = command.get_args().skip_while(|word| *word != "-o");
        let output = words.nth(1).map(PathBuf::from);
        if self.request.verbose || self.request.dry {
            let words = std::iter::once(command.get_program()).chain(command.get_args());
            let line: Vec<String> = words.map(quoted).collect();
            writeln!(io::stderr(), "{}", line.join(" "))?;
        }
        if self.request.dry {
            return Ok(());
        }
        messages::listen(&mut command);
        let cannot = || format!("cannot run {}", self.clang.program.display());
        let mut child = command.spawn().with_context(cannot)?;
        if let Some(told) = child.stderr.take() {
            let full = messages::pass_on(told).context("cannot pass on clang's messages")?;
            if let Some(reason) = full {
                let status = child.wait().with_context(cannot)?;
                let output = output.map_or_else(|| "its output".into(), |path| path.display().to_string());
                if !status.success() {
                    bail!("cannot write {output}: {reason}");
                }
            }
        }
        let status = child.wait().with_context(cannot)?;
        if !status.success() {
            bail!(Failed(status.code().map_or(1, |code| code.clamp(1, 255) as u8)));
        }
        Ok(())
    }

    /// Compiles a source's device code for one architecture.
    fn device(&self, input: &Input, language: Language, arch: &Arch, output: &Path) -> Result<()> {
        let mut command = self.pass(language, Side::Device(arch))?;
        if matches!(arch, Arch::Ptx(_)) {
            command.arg("-S");
        }
        command.args(own_number(input, language));
        command.args(&self.request.for_device).arg("-o").arg(output).arg(&input.path);
        self.execute(command)
    }

    /// Compiles a source for all architectures, and packs the results as the runtime expects them.
    fn packed(&self, input: &Input, language: Language, index: usize) -> Result<PathBuf> {
        let mut parts = Vec::new();
        for (number, arch) in self.arches.iter().enumerate() {
            let output = self.scratch.path().join(format!("{index}-{number}"));
            self.device(input, language, arch, &output)?;
            if !self.request.dry {
                parts.push((arch, crate::files::read(&output, crate::files::MOST_LIBRARY)?));
            }
        }
        let bytes = match language {
            Language::Cuda => container::fat_binary(&parts),
            Language::Hip => container::bundle(&parts),
        };
        let path = self.scratch.path().join(format!("{index}.gpu"));
        fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path)
    }

    /// Compiles a source in a GPU language to an object that holds the device code.
    fn object(&self, input: &Input, language: Language, index: usize, output: &Path) -> Result<()> {
        let packed = self.packed(input, language, index)?;
        let mut command = self.pass(language, Side::Host)?;
        command.args(["-Xclang", "-fcuda-include-gpubinary", "-Xclang"]).arg(packed);
        command.args(own_number(input, language));
        command.args(self.request.dependencies(input)?);
        command.args(&self.request.for_host).arg("-c").arg("-o").arg(output).arg(&input.path);
        self.execute(command)
    }

    /// Compiles a source in any language to an object.
    fn compile(&self, input: &Input, index: usize, output: &Path) -> Result<()> {
        if let Some(language) = input.language {
            return self.object(input, language, index, output);
        }
        let mut command = self.other(input)?;
        command.arg("-c").arg("-o").arg(output).arg(&input.path);
        self.execute(command)
    }

    /// `-c`: an object for each source.
    fn objects(&self) -> Result<()> {
        for (index, input) in self.request.inputs().enumerate() {
            let output = self.request.output_of(input, "o")?;
            self.compile(input, index, &output)?;
        }
        Ok(())
    }

    /// `--genco`: the device code of each source for all architectures, as `hipModuleLoad` and `cuModuleLoad`
    /// take it.
    fn write_device_code(&self) -> Result<()> {
        for (index, input) in self.request.inputs().enumerate() {
            let (language, extension) = match input.language {
                Some(Language::Hip) => (Language::Hip, "hipfb"),
                Some(Language::Cuda) => (Language::Cuda, "fatbin"),
                None => bail!(
                    "{}: device code is made of CUDA and HIP sources alone; -x hip before it says that it is HIP",
                    input.path.display()
                ),
            };
            let packed = self.packed(input, language, index)?;
            let output = self.request.output_of(input, extension)?;
            if !self.request.dry {
                fs::copy(&packed, &output).with_context(|| format!("cannot write {}", output.display()))?;
            }
        }
        Ok(())
    }

    /// `--ptx`: the PTX of each source.
    fn write_ptx(&self) -> Result<()> {
        let Some(arch) = self.arches.iter().find(|arch| matches!(arch, Arch::Ptx(_))) else {
            bail!("--ptx writes PTX, but --arch names only AMD's devices; add compute_80 to it");
        };
        for input in self.request.inputs() {
            let Some(language) = input.language else {
                bail!("{}: --ptx takes CUDA and HIP sources alone", input.path.display());
            };
            self.device(input, language, arch, &self.request.output_of(input, "ptx")?)?;
        }
        Ok(())
    }

    /// `-E` and `-fsyntax-only`: clang's host pass of each source.
    fn pass_through(&self) -> Result<()> {
        for input in self.request.inputs() {
            let mut command = match input.language {
                Some(language) => {
                    let mut command = self.pass(language, Side::Host)?;
                    command.args(&self.request.for_host);
                    command
                }
                None => self.other(input)?,
            };
            command.arg(if self.request.stage == Stage::Preprocess { "-E" } else { "-fsyntax-only" });
            if let Some(output) = &self.request.output {
                command.arg("-o").arg(output);
            }
            command.arg(&input.path);
            self.execute(command)?;
        }
        Ok(())
    }

    /// Compiles all sources and links.
    fn link(&self, options: &Options) -> Result<()> {
        let libraries = install::library_folder(options)?;
        let mut command = self.clang()?;
        let mut index = 0;
        let mut languages = Vec::new();
        for word in &self.request.words {
            match word {
                arguments::Word::Option(option) => {
                    command.arg(option);
                }
                // What is left to the linking command is compiled as C++ there.
                arguments::Word::Input(input) if input.language.is_some() || input.is_c() => {
                    let object = self.scratch.path().join(format!("{index}.o"));
                    self.compile(input, index, &object)?;
                    // After `-x c++` the object would be read as a source.
                    command.arg("-xnone").arg(object);
                    index += 1;
                    languages.extend(input.language);
                }
                arguments::Word::Input(input) => {
                    command.arg(&input.path);
                }
            }
        }
        if let Some(output) = &self.request.output {
            command.arg("-o").arg(output);
        }
        // Objects alone do not tell their language: then both libraries are offered.
        for (language, library) in [(Language::Cuda, "cudart"), (Language::Hip, "amdhip64")] {
            if languages.is_empty() || languages.contains(&language) {
                command.args(["-Wl,--push-state,--as-needed", &format!("-l{library}"), "-Wl,--pop-state"]);
            }
        }
        command.arg("-L").arg(&libraries);
        // Our libraries need others of ours, which the program finds when it runs.
        command.arg("-Wl,--allow-shlib-undefined");
        self.execute(command)
    }
}

/// The option by which clang tells a source's symbols from another's.
fn own_number(input: &Input, language: Language) -> Vec<String> {
    let path = std::path::absolute(&input.path).unwrap_or_else(|_| input.path.clone());
    let mut hasher = DefaultHasher::new();
    path.hash(&mut hasher);
    clang::own_number(language, hasher.finish())
}

/// A word as a shell would take it.
fn quoted(word: &OsStr) -> String {
    let text = word.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=+./,:@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.into_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}
