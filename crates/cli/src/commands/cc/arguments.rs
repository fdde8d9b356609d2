//! The command line of `anywarp cc`: our options, clang's, and files.
//!
//! clang's options are not checked here. They are only told apart from files, and sorted by the passes that
//! may see them.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::includes;
use clang::{Arch, Language};

/// clang's options whose value is the next argument.
const WITH_VALUE: &[&str] = &[
    "-A",
    "-B",
    "-D",
    "-F",
    "-I",
    "-L",
    "-MF",
    "-MJ",
    "-MQ",
    "-MT",
    "-T",
    "-U",
    "-Xarch_device",
    "-Xarch_host",
    "-Xassembler",
    "-Xclang",
    "-Xlinker",
    "-Xpreprocessor",
    "-e",
    "-idirafter",
    "-imacros",
    "-include",
    "-iprefix",
    "-iquote",
    "-isysroot",
    "-isystem",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-l",
    "-mllvm",
    "-target",
    "-u",
    "-z",
    "--param",
    "--sysroot",
];

/// The beginnings of options that a device pass must not see: they concern the host's processor, the
/// link, or files that the host's pass writes.
const HOST_ONLY: &[&str] = &[
    "-B",
    "-L",
    "-M",
    "-Wa,",
    "-Wl,",
    "-Wp,",
    "-Xassembler",
    "-Xlinker",
    "-coverage",
    "-fPIC",
    "-fPIE",
    "-flto",
    "-fno-pic",
    "-fno-pie",
    "-fopenmp",
    "-fpic",
    "-fpie",
    "-fprofile",
    "-fsanitize",
    "-fstack",
    "-g",
    "-l",
    "-m",
    "-no-pie",
    "-nostartfiles",
    "-pie",
    "-pthread",
    "-rdynamic",
    "-s",
    "-save-temps",
    "-shared",
    "-stat",
    "-static",
    "-target",
    "-u",
    "-z",
    "--coverage",
];
/// Exceptions from that list.
const DEVICE_TOO: &[&str] = &["-mllvm", "-std", "-gline-tables-only"];

/// Options of other compilers that cannot be obeyed, with what to do.
const REFUSED: &[(&str, &str)] = &[
    ("-rdc", "relocatable device code is not supported; put device functions that files share into a header"),
    (
        "--relocatable-device-code",
        "relocatable device code is not supported; put device functions into a header",
    ),
    ("-dc", "relocatable device code is not supported; put device functions that files share into a header"),
    (
        "-fgpu-rdc",
        "relocatable device code is not supported; put device functions that files share into a header",
    ),
    ("-cubin", "machine code of NVIDIA's devices cannot be made; --ptx writes PTX"),
    ("--cuda-host-only", "programs without their device code cannot run; leave it out"),
    ("--offload-host-only", "programs without their device code cannot run; leave it out"),
    ("-S", "it is ambiguous for two targets; --ptx writes the device's code"),
    ("-emit-llvm", "it is ambiguous for two targets"),
];

/// nvcc's options without a counterpart that change no result, with whether the next argument is their value.
const WITHOUT_EFFECT: &[(&str, bool)] = &[
    ("-use_fast_math", false),
    ("--use_fast_math", false),
    ("--expt-relaxed-constexpr", false),
    ("-expt-relaxed-constexpr", false),
    ("--extended-lambda", false),
    ("-extended-lambda", false),
    ("--expt-extended-lambda", false),
    ("-lcudadevrt", false),
    ("-lcudart", false),
    ("-lcudart_static", false),
    ("-Xptxas", true),
    ("--ptxas-options", true),
    ("-maxrregcount", true),
    ("--maxrregcount", true),
    ("-ccbin", true),
    ("--compiler-bindir", true),
    ("-cudart", true),
    ("--cudart", true),
];

/// The last stage that the command asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    Preprocess,
    Check,
    Compile,
    /// The device code of each source, in a file that programs load.
    Device,
    Link,
}

/// A file to compile or to link.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Input {
    pub path: PathBuf,
    /// `None` for what clang handles alone: other sources, objects, libraries.
    pub language: Option<Language>,
    /// Whether `-x` named the language.
    pub named: bool,
}

impl Input {
    /// A source in C.
    pub fn is_c(&self) -> bool {
        self.language.is_none() && self.path.extension().is_some_and(|end| end == "c")
    }
}

/// A part of the link's command line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Word {
    Option(OsString),
    Input(Input),
}

/// A command line that was read.
#[derive(Debug)]
pub struct Request {
    pub arch: Vec<String>,
    pub clang: Option<PathBuf>,
    pub verbose: bool,
    pub ptx: bool,
    /// Print commands instead of running them.
    pub dry: bool,
    /// Only say which compiler this is.
    pub version: bool,
    /// Whether the host's pass writes what a source depends on beside its output (`-MMD`).
    pub lists_dependencies: bool,
    pub stage: Stage,
    pub output: Option<PathBuf>,
    /// Whether there is an option `-O`.
    pub optimises: bool,
    /// All options of clang and files, in order.
    pub words: Vec<Word>,
    /// Options for device passes.
    pub for_device: Vec<OsString>,
    /// Options for the host's passes.
    pub for_host: Vec<OsString>,
    /// What was left out, for the user.
    pub notes: Vec<String>,
}

impl Request {
    /// Reads the arguments after those that clap has taken.
    pub fn read(arguments: Vec<OsString>) -> Result<Request> {
        let mut request = Request {
            arch: Vec::new(),
            clang: None,
            verbose: false,
            ptx: false,
            dry: false,
            version: false,
            lists_dependencies: false,
            stage: Stage::Link,
            output: None,
            optimises: false,
            words: Vec::new(),
            for_device: Vec::new(),
            for_host: Vec::new(),
            notes: Vec::new(),
        };
        let mut language = None;
        let mut device_alone = false;
        let mut files_only = false;
        let mut rest = arguments.into_iter();
        while let Some(argument) = rest.next() {
            let text = argument.to_string_lossy().into_owned();
            if files_only || !text.starts_with('-') || text == "-" {
                request.input(PathBuf::from(argument), language)?;
                continue;
            }
            let mut value = |name: &str| rest.next().with_context(|| format!("{name}: its value is missing"));
            let (name, own) = match text.split_once('=') {
                Some((name, own)) => (name, Some(own.to_owned())),
                None => (&*text, None),
            };
            let idle = WITHOUT_EFFECT.iter().find(|(known, _)| *known == name);
            match name {
                "--" => files_only = true,
                "--verbose" => request.verbose = true,
                "--ptx" | "-ptx" => request.ptx = true,
                // hipcc's, clang's and nvcc's names; a `-c` beside them changes nothing.
                "--genco" | "--cuda-device-only" | "--offload-device-only" | "--fatbin" | "-fatbin" => {
                    device_alone = true;
                }
                "-dryrun" | "--dryrun" => request.dry = true,
                "--version" | "-V" => request.version = true,
                // Our headers are gone when the command has ended, so system headers are not listed.
                "-M" | "-MM" => {
                    request.stage = Stage::Preprocess;
                    request.for_host.push("-MM".into());
                }
                "-MD" | "-MMD" => {
                    request.lists_dependencies = true;
                    request.for_host.push("-MMD".into());
                }
                // The others are nvcc's and clang's names.
                "--arch" | "-arch" | "--gpu-architecture" | "--offload-arch" | "--cuda-gpu-arch" => {
                    request.arch.push(match own {
                        Some(own) => own,
                        None => value(name)?.to_string_lossy().into_owned(),
                    });
                }
                "--clang" => {
                    request.clang = Some(match own {
                        Some(own) => own.into(),
                        None => value(name)?.into(),
                    });
                }
                "-o" => request.output = Some(value("-o")?.into()),
                _ if text.starts_with("-o") && !text.starts_with("-ob") => {
                    request.output = Some(text[2..].into());
                }
                "-c" => request.stage = Stage::Compile,
                "-E" => request.stage = Stage::Preprocess,
                "-fsyntax-only" => request.stage = Stage::Check,
                "-x" => {
                    let given = value("-x")?;
                    language = match &*given.to_string_lossy() {
                        "cuda" | "cu" => Some(Language::Cuda),
                        "hip" => Some(Language::Hip),
                        "none" => None,
                        other => bail!("-x {other}: this command takes `cuda`, `hip` and `none`"),
                    };
                }
                // nvcc's: options for the host's compiler, separated by commas.
                "-Xcompiler" | "--compiler-options" => {
                    let list = match own {
                        Some(_) => text[name.len() + 1..].to_owned(),
                        None => value(name)?.to_string_lossy().into_owned(),
                    };
                    request.for_host_alone(list.split(',').filter(|word| !word.is_empty()));
                }
                "-lineinfo" | "--generate-line-info" | "-G" | "--device-debug" => {
                    request.for_device.push("-gline-directives-only".into());
                }
                "-gencode" | "--generate-code" => {
                    let code = match own {
                        Some(_) => text[name.len() + 1..].to_owned(),
                        None => value(name)?.to_string_lossy().into_owned(),
                    };
                    let parts = code.split(',').find_map(|part| part.strip_prefix("arch="));
                    let arch = parts.with_context(|| format!("{name} {code}: write arch=compute_80"))?;
                    request.arch.push(arch.to_owned());
                }
                _ if idle.is_some() => {
                    let own = match own {
                        None if idle.is_some_and(|(_, valued)| *valued) => {
                            Some(value(name)?.to_string_lossy().into_owned())
                        }
                        own => own,
                    };
                    let own = own.map(|own| format!(" {own}")).unwrap_or_default();
                    request.notes.push(format!("{name}{own} has no effect here"));
                }
                _ => {
                    if let Some((_, why)) = REFUSED.iter().find(|(refused, _)| *refused == name) {
                        bail!("{text}: {why}");
                    }
                    let second = if WITH_VALUE.contains(&&*text) { Some(value(&text)?) } else { None };
                    request.option(argument, second);
                }
            }
        }
        if device_alone && matches!(request.stage, Stage::Compile | Stage::Link) {
            request.stage = Stage::Device;
        }
        if request.inputs().next().is_none() && !request.version {
            bail!("no files to compile or link");
        }
        Ok(request)
    }

    fn input(&mut self, path: PathBuf, language: Option<Language>) -> Result<()> {
        let by_name = match path.extension().and_then(OsStr::to_str) {
            Some("cu") => Some(Language::Cuda),
            Some("hip") => Some(Language::Hip),
            _ => None,
        };
        if path.as_os_str() == "-" {
            bail!("standard input cannot be compiled, because each pass reads the source; name a file");
        }
        let named = language.is_some();
        let language = language.or(by_name);
        if language.is_some() && path.metadata().is_ok_and(|file| !file.is_file()) {
            let path = path.display();
            bail!("{path} is no regular file, and each pass reads the source; copy it into one");
        }
        self.words.push(Word::Input(Input { path, language, named }));
        Ok(())
    }

    /// Options that only the host's passes and the link see.
    fn for_host_alone<'a>(&mut self, options: impl Iterator<Item = &'a str>) {
        for option in options.map(OsString::from) {
            self.for_host.push(option.clone());
            self.words.push(Word::Option(option));
        }
    }

    fn option(&mut self, option: OsString, value: Option<OsString>) {
        let text = option.to_string_lossy();
        let begins = |list: &[&str]| list.iter().any(|start| text.starts_with(start));
        self.optimises |= text.starts_with("-O");
        let device = !begins(HOST_ONLY) || begins(DEVICE_TOO);
        let both: Vec<OsString> = std::iter::once(option).chain(value).collect();
        if device {
            self.for_device.extend(both.iter().cloned());
        }
        self.for_host.extend(both.iter().cloned());
        self.words.extend(both.into_iter().map(Word::Option));
    }

    /// The files, in order.
    pub fn inputs(&self) -> impl Iterator<Item = &Input> {
        self.words.iter().filter_map(|word| match word {
            Word::Input(input) => Some(input),
            Word::Option(_) => None,
        })
    }

    /// Makes those `.cu` sources HIP that include HIP's headers, as hipify leaves them. Headers of portable
    /// programs include CUDA's, too: the targets decide about these.
    pub fn settle(&mut self, arches: &[Arch]) {
        let folders = includes::folders(&self.for_host);
        let amd = arches.iter().any(|arch| matches!(arch, Arch::Amd(_)));
        for word in &mut self.words {
            if let Word::Input(input) = word
                && !input.named
                && input.language == Some(Language::Cuda)
            {
                let found = includes::of(&input.path, &folders);
                if found.hip_itself || (found.hip && (amd || !found.cuda)) {
                    input.language = Some(Language::Hip);
                }
            }
        }
    }

    /// Refuses what cannot be done.
    pub fn check(&self, arches: &[Arch]) -> Result<()> {
        let amd = arches.iter().find_map(|arch| match arch {
            Arch::Amd(name) => Some(name),
            Arch::Ptx(_) => None,
        });
        if let Some(name) = amd
            && let Some(input) = self.inputs().find(|input| input.language == Some(Language::Cuda))
        {
            let file = input.path.display();
            bail!(
                "--arch {name}: {file} includes no header of HIP's, so it is CUDA, which becomes PTX alone; \
                 `anywarp hipify {file}` translates it, and -x hip before it says that it is HIP"
            );
        }
        if let Some(output) = &self.output
            && self.inputs().any(|input| input.path == *output)
        {
            bail!("-o {}: this is a source; name another file", output.display());
        }
        let several = self.inputs().count() > 1;
        if self.output.is_some() && several && (self.ptx || self.stage != Stage::Link) {
            bail!("-o names one file, but several are written; leave it out");
        }
        Ok(())
    }

    /// Options that name the list of dependencies, if the command line does not: clang would put it beside a
    /// file that is removed.
    pub fn dependencies(&self, input: &Input) -> Result<Vec<OsString>> {
        let named = self.for_host.iter().any(|option| option == "-MF");
        if !self.lists_dependencies || (named && self.stage == Stage::Compile) {
            return Ok(Vec::new());
        }
        let object = match self.stage {
            Stage::Compile => self.output_of(input, "o")?,
            _ => self.output.clone().unwrap_or_else(|| "a.out".into()),
        };
        let mut options = vec!["-MT".into(), object.clone().into_os_string()];
        if !named {
            options.extend(["-MF".into(), object.with_extension("d").into_os_string()]);
        }
        Ok(options)
    }

    /// The file that a source becomes, with this extension.
    pub fn output_of(&self, input: &Input, extension: &str) -> Result<PathBuf> {
        if let Some(output) = &self.output {
            return Ok(output.clone());
        }
        let name = input.path.file_name().with_context(|| format!("{} is no file", input.path.display()))?;
        Ok(Path::new(name).with_extension(extension))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Request> {
        Request::read(line.split_whitespace().map(OsString::from).collect())
    }

    #[test]
    fn options_reach_the_passes_that_may_see_them() {
        let line = "-O3 a.cu -I inc -DN=3 -march=native -MF a.d -MD -std=c++17 -Xclang -v b.o -lm -o prog";
        let request = read(line).expect("a command line");
        assert_eq!(request.for_device, ["-O3", "-I", "inc", "-DN=3", "-std=c++17", "-Xclang", "-v"]);
        let host = "-O3 -I inc -DN=3 -march=native -MF a.d -MMD -std=c++17 -Xclang -v -lm";
        assert_eq!(request.for_host, host.split(' ').collect::<Vec<_>>());
        let files: Vec<_> = request.inputs().map(|input| (input.path.to_str(), input.language)).collect();
        assert_eq!(files, [(Some("a.cu"), Some(Language::Cuda)), (Some("b.o"), None)]);
        assert_eq!((request.output, request.optimises), (Some("prog".into()), true));
    }

    #[test]
    fn own_options_stand_anywhere() {
        let request = read("a.hip --arch compute_80,gfx906 -arch=sm_90 --verbose -c --clang clang++-17");
        let request = request.expect("a command line");
        assert_eq!(request.arch, ["compute_80,gfx906", "sm_90"]);
        assert_eq!(request.clang, Some("clang++-17".into()));
        assert_eq!((request.verbose, request.stage), (true, Stage::Compile));
    }

    #[test]
    fn options_of_nvcc_are_obeyed_or_named() {
        let line = "a.cu -Xcompiler -Wall,-O3 -Xcompiler=-fopenmp -gencode arch=compute_80,code=sm_80 -lineinfo \
                    -Xptxas -v --ptxas-options=-O3 -use_fast_math -std=c++17";
        let request = read(line).expect("a command line");
        assert_eq!(request.arch, ["compute_80"]);
        assert_eq!(request.for_device, ["-gline-directives-only", "-std=c++17"]);
        assert_eq!(request.for_host, ["-Wall", "-O3", "-fopenmp", "-std=c++17"]);
        let named = ["-Xptxas -v", "--ptxas-options -O3", "-use_fast_math"];
        assert_eq!(request.notes, named.map(|option| format!("{option} has no effect here")));
    }

    #[test]
    fn dependencies_are_listed_beside_the_output() {
        let of = |line: &str| {
            let request = read(line).expect("a command line");
            let input = request.inputs().next().expect("a source").clone();
            request.dependencies(&input).expect("options")
        };
        assert_eq!(of("-MD -c a.cu"), ["-MT", "a.o", "-MF", "a.d"]);
        assert_eq!(of("-MMD a.cu -o out/prog"), ["-MT", "out/prog", "-MF", "out/prog.d"]);
        assert_eq!(of("-MD -MF x.d -c a.cu -o b.o"), <[&str; 0]>::default());
        assert_eq!(of("-c a.cu"), <[&str; 0]>::default());
        assert_eq!(read("-M a.cu").map(|request| request.stage).ok(), Some(Stage::Preprocess));
    }

    #[test]
    fn what_cannot_be_done_is_named() {
        for (line, named) in [
            ("-rdc=true a.cu", "-rdc=true: relocatable"),
            ("a.cu -S", "--ptx"),
            ("-x c a.c", "-x c:"),
            ("-lm", "no files"),
            ("a.cu -o", "-o: its value"),
            ("-", "standard input"),
            ("-x cuda /dev/null", "no regular file"),
        ] {
            let error = read(line).expect_err(line).to_string();
            assert!(error.contains(named), "{line}: {error}");
        }
        let arches = [Arch::Amd("gfx906".into())];
        let error = read("a.cu").and_then(|request| request.check(&arches)).expect_err("AMD's code");
        assert!(error.to_string().contains("hipify"), "{error}");
        assert!(read("a.cu --ptx -o a.cu").and_then(|request| request.check(&[])).is_err());
        assert!(read("a.cu b.cu -c -o x.o").and_then(|request| request.check(&[])).is_err());
    }
}
