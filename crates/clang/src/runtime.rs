//! Compiles a source that a program holds in memory to device code, as hiprtc does.

use std::ffi::OsString;
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};

use crate::{Arch, Clang, Error, Language, Result, Side, headers, note};

/// What the log calls the lines that are added for name expressions.
const EXPRESSIONS: &str = "name expression";
/// Prefix of the names that are added to the source.
const PREFIX: &str = "__anywarp_name_";

/// A source with what belongs to it.
#[derive(Clone, Default, Debug)]
pub struct Source {
    /// What messages call it.
    pub name: Vec<u8>,
    /// The text.
    pub text: Vec<u8>,
    /// Headers by the name with which the source includes them.
    pub headers: Vec<(Vec<u8>, Vec<u8>)>,
    /// Expressions that name kernels and variables (`add<int>`, `&counter`), whose symbols are wanted.
    pub names: Vec<Vec<u8>>,
}

/// What to make.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Output {
    /// PTX with a final zero, or AMD's code object.
    Code,
    /// LLVM's bitcode, for a later link.
    Bitcode,
}

/// The result of a compilation that succeeded.
#[derive(Clone, Default, Debug)]
pub struct Compiled {
    /// The code.
    pub code: Vec<u8>,
    /// The symbol of each name expression, in order.
    pub symbols: Vec<Vec<u8>>,
}

/// Whether a header's name leads to a place below a folder.
pub fn is_inside(name: &[u8]) -> bool {
    use std::os::unix::ffi::OsStrExt as _;
    let mut parts = Path::new(std::ffi::OsStr::from_bytes(name)).components().peekable();
    parts.peek().is_some()
        && !name.contains(&0)
        && parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

/// Compiles a source in HIP C++ for an architecture. clang's messages are added to `log`, in which files have
/// the program's names.
///
/// # Errors
/// Why the source was not compiled; an empty text if clang has said it.
pub fn compile(
    clang: &Clang,
    source: &Source,
    arch: &Arch,
    output: Output,
    options: &[OsString],
    log: &mut String,
) -> Result<Compiled> {
    let job = Job::new(clang, source, arch, options)?;
    let made = job.code(output, log).and_then(|code| {
        let symbols = if source.names.is_empty() { Vec::new() } else { job.symbols(log)? };
        Ok(Compiled { code, symbols })
    });
    job.with_names_of_the_program(log);
    made
}

/// One compilation.
struct Job<'a> {
    clang: &'a Clang,
    source: &'a Source,
    arch: &'a Arch,
    options: &'a [OsString],
    /// Holds the source and all headers; removed at the end.
    folder: tempfile::TempDir,
}

impl<'a> Job<'a> {
    fn new(clang: &'a Clang, source: &'a Source, arch: &'a Arch, options: &'a [OsString]) -> Result<Job<'a>> {
        use std::os::unix::ffi::OsStrExt as _;
        let folder = tempfile::Builder::new().prefix("anywarp-rtc-").tempdir();
        let folder =
            folder.map_err(|error| Error(format!("cannot create a folder for temporary files: {error}")))?;
        headers::write(folder.path())?;
        let job = Job { clang, source, arch, options, folder };
        for (name, text) in &source.headers {
            crate::write(&job.given().join(std::ffi::OsStr::from_bytes(name)), text)?;
        }
        Ok(job)
    }

    /// The folder of the program's headers.
    fn given(&self) -> PathBuf {
        self.folder.path().join("given")
    }

    fn include(&self) -> PathBuf {
        self.folder.path().join(headers::FOLDER)
    }

    /// Writes the source, followed by a line for each name expression, which `line` makes of its number and
    /// the address that it means.
    fn write_source(&self, file: &str, line: impl Fn(usize, &str) -> String) -> Result<PathBuf> {
        let mut text = b"#line 1 \"".to_vec();
        for byte in &self.source.name {
            if matches!(byte, b'"' | b'\\') {
                text.push(b'\\');
            }
            text.push(if byte.is_ascii_control() { b' ' } else { *byte });
        }
        text.extend(b"\"\n");
        text.extend(&self.source.text);
        for (number, name) in self.source.names.iter().enumerate() {
            let address = address_of(&String::from_utf8_lossy(name));
            text.extend(format!("\n#line 1 \"{EXPRESSIONS}\"\n{}\n", line(number, &address)).as_bytes());
        }
        let path = self.folder.path().join(file);
        crate::write(&path, &text)?;
        Ok(path)
    }

    /// A pass over the source.
    fn pass(&self, optimisation: Option<&str>) -> Result<Command> {
        let mut command =
            self.clang.pass(&self.include(), Language::Hip, Side::Device(self.arch), optimisation)?;
        command.arg("-D__HIPCC_RTC__=1").arg("-I").arg(self.given());
        command.args(self.options);
        Ok(command)
    }

    /// The code. The lines for the name expressions have it contain the instances of templates that they
    /// name.
    fn code(&self, output: Output, log: &mut String) -> Result<Vec<u8>> {
        let path = self.write_source("source.hip", |number, address| {
            format!("[[maybe_unused]] static constexpr auto {PREFIX}{number} = {address};")
        })?;
        let result = self.folder.path().join("code");
        let default = (!self.options.iter().any(|option| crate::optimises(option))).then_some("-O3");
        let mut command = self.pass(default)?;
        match (output, self.arch) {
            (Output::Bitcode, _) => {
                command.args(["-emit-llvm", "-c"]);
            }
            (Output::Code, Arch::Ptx(_)) => {
                command.arg("-S");
            }
            (Output::Code, Arch::Amd(_)) => {}
        }
        command.arg("-o").arg(&result).arg(path);
        run(command, &result, log)?;
        let mut code = read(&result)?;
        if output == Output::Code && matches!(self.arch, Arch::Ptx(_)) {
            code.push(0);
        }
        Ok(code)
    }

    /// The symbols of the name expressions: a second pass initialises a variable with the address of each,
    /// and its IR names the symbol.
    fn symbols(&self, log: &mut String) -> Result<Vec<Vec<u8>>> {
        let path = self.write_source("names.hip", |number, address| {
            format!("extern \"C\" __device__ __attribute__((used)) const auto {PREFIX}{number} = {address};")
        })?;
        let result = self.folder.path().join("names.ll");
        let mut command = self.pass(None)?;
        command.args(["-S", "-emit-llvm", "-w", "-Xclang", "-disable-llvm-passes"]);
        command.arg("-o").arg(&result).arg(path);
        run(command, &result, log)?;
        let text = read(&result)?;
        let named = |(number, name): (usize, &Vec<u8>)| {
            let name = String::from_utf8_lossy(name);
            symbol(&text, number).ok_or_else(|| Error(format!("{name}: it names no kernel or variable")))
        };
        self.source.names.iter().enumerate().map(named).collect()
    }

    /// Takes the folder out of messages.
    fn with_names_of_the_program(&self, log: &mut String) {
        for folder in [self.given(), self.include(), self.folder.path().to_owned()] {
            *log = log.replace(&format!("{}/", folder.display()), "");
        }
    }
}

/// The expression for the address that a name expression means.
fn address_of(name: &str) -> String {
    let name = name.trim();
    if name.starts_with(['&', '(']) { name.to_owned() } else { format!("&{name}") }
}

/// The symbol whose address initialises a variable of ours, in the text of LLVM's IR.
fn symbol(ir: &[u8], number: usize) -> Option<Vec<u8>> {
    let start = format!("@{PREFIX}{number} = ");
    let line = ir.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(start.as_bytes()))?;
    let at = line.iter().position(|byte| *byte == b'@')? + 1;
    let rest = line.get(at..)?;
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.$-".contains(byte);
    match rest.strip_prefix(b"\"") {
        Some(quoted) => quoted.split(|byte| *byte == b'"').next().map(<[u8]>::to_vec),
        None => rest.split(|byte| !is_part(byte)).next().map(<[u8]>::to_vec),
    }
    .filter(|name| !name.is_empty())
}

/// Runs clang and adds its messages to the log.
fn run(mut command: Command, result: &Path, log: &mut String) -> Result<()> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let program = command.get_program().to_string_lossy().into_owned();
    let cannot = |error: io::Error| Error(format!("cannot run {program}: {error}"));
    let mut child = command.spawn().map_err(cannot)?;
    let mut messages = Vec::new();
    if let Some(pipe) = &mut child.stderr {
        pipe.read_to_end(&mut messages).map_err(cannot)?;
    }
    let messages = String::from_utf8_lossy(&messages);
    log.push_str(&messages);
    let mut notes: Vec<String> = messages.lines().filter_map(note).collect();
    notes.dedup();
    for note in notes {
        log.push_str(&format!("note: {note}\n"));
    }
    match host::programs::wait(&mut child).map_err(cannot)? {
        Some(status) if status.success() => Ok(()),
        // clang removes what it could not finish.
        None if result.exists() => Ok(()),
        Some(status) if status.code().is_none() => Err(Error(format!("{program} ended by {status}"))),
        // It has said why.
        _ if !messages.is_empty() => Err(Error(String::new())),
        _ => Err(Error(format!("{program} failed without a message"))),
    }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|error| Error(format!("cannot read {}: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_are_read_from_ir() {
        let ir = b"@__anywarp_name_0 = addrspace(1) constant ptr @_Z3addIiEvPT_, align 8\n\
            @__anywarp_name_1 = addrspace(1) constant ptr addrspacecast (ptr addrspace(1) @count to ptr)\n\
            @__anywarp_name_10 = addrspace(1) constant ptr @\"odd name\", align 8\n\
            @__anywarp_name_2 = addrspace(1) constant i32 7\n";
        let of = |number| symbol(ir, number).map(|name| String::from_utf8_lossy(&name).into_owned());
        assert_eq!(of(0).as_deref(), Some("_Z3addIiEvPT_"));
        assert_eq!(of(1).as_deref(), Some("count"));
        assert_eq!(of(10).as_deref(), Some("odd name"));
        assert_eq!((of(2), of(3)), (None, None));
    }

    #[test]
    fn headers_stay_in_their_folder() {
        for name in ["a.h", "a/b.h", "./a.h"] {
            assert!(is_inside(name.as_bytes()), "{name}");
        }
        for name in ["", "/a.h", "../a.h", "a/../../b.h", "a\0.h"] {
            assert!(!is_inside(name.as_bytes()), "{name}");
        }
    }
}
