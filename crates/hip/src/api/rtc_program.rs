//! Programs of hiprtc: HIP C++ that the user's clang compiles for the current device.

use std::collections::{BTreeMap, HashMap};
use std::ffi::{CString, OsString, c_char};
use std::os::unix::ffi::OsStringExt as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex};

use clang::runtime::{self, Output, Source};
use clang::{Arch, Clang};
use driver::device::Device;
use driver::handle::lock;
use driver::log;

use super::rtc::{Answer, enter, input, result};
use crate::abi::{In, Out, Text};
use crate::current::{self, Handle};

/// The newest capability that every clang that we take has PTX for; later devices run it.
const NEWEST_PTX: u32 = 90;

/// A program: its source and what the last compilation gave.
#[derive(Default)]
struct Program {
    source: Source,
    log: CString,
    code: Vec<u8>,
    bitcode: Vec<u8>,
    /// The symbols of the name expressions, which the program may read as long as it exists.
    symbols: BTreeMap<Vec<u8>, CString>,
}

static PROGRAMS: LazyLock<Mutex<HashMap<Handle, Arc<Mutex<Program>>>>> = LazyLock::new(Mutex::default);
/// Handles are not used again.
static NEXT: AtomicU64 = AtomicU64::new(0x10);

fn get(program: Handle) -> Result<Arc<Mutex<Program>>, u32> {
    lock(&PROGRAMS).get(&program).cloned().ok_or(result::ERROR_INVALID_PROGRAM)
}

/// A text that must not be empty.
fn text(text: Text) -> Result<Vec<u8>, u32> {
    let bytes = text.bytes().map_err(input)?;
    if bytes.is_empty() { Err(result::ERROR_INVALID_INPUT) } else { Ok(bytes.to_vec()) }
}

/// `hiprtcCreateProgram`.
pub extern "C" fn hiprtcCreateProgram(
    out: Out<Handle>,
    source: Text,
    name: Text,
    count: i32,
    headers: In<u64>,
    names: In<u64>,
) -> u32 {
    enter("hiprtcCreateProgram", &[("prog", &out), ("name", &name), ("numHeaders", &count)], || {
        out.required().map_err(|_| result::ERROR_INVALID_PROGRAM)?;
        let count = usize::try_from(count).map_err(input)?;
        let mut new = Source {
            text: text(source)?,
            name: text(name).unwrap_or_else(|_| b"CompileSource".to_vec()),
            ..Source::default()
        };
        if count != 0 {
            for (header, name) in headers.each(count).zip(names.each(count)) {
                let (header, name) = (header.map_err(input)?, name.map_err(input)?);
                let (header, name) = (text(Text::at(header))?, text(Text::at(name))?);
                if !runtime::is_inside(&name) {
                    return Err(result::ERROR_INVALID_INPUT);
                }
                new.headers.push((name, header));
            }
        }
        let handle = NEXT.fetch_add(0x10, Ordering::Relaxed);
        let program = Program { source: new, ..Program::default() };
        lock(&PROGRAMS).insert(handle, Arc::new(Mutex::new(program)));
        out.set(handle);
        Ok(())
    })
}

/// `hiprtcDestroyProgram`.
pub extern "C" fn hiprtcDestroyProgram(program: Out<Handle>) -> u32 {
    enter("hiprtcDestroyProgram", &[("prog", &program)], || {
        let handle = program.read().map_err(input)?;
        lock(&PROGRAMS).remove(&handle).map(|_| ()).ok_or(result::ERROR_INVALID_PROGRAM)
    })
}

/// `hiprtcAddNameExpression`. As in AMD's library, one that is added after a compilation counts for the next.
pub extern "C" fn hiprtcAddNameExpression(program: Handle, name: Text) -> u32 {
    enter("hiprtcAddNameExpression", &[("prog", &program), ("name_expression", &name)], || {
        let name = text(name)?;
        let program = get(program)?;
        let mut program = lock(&program);
        if !program.source.names.contains(&name) {
            program.source.names.push(name);
        }
        Ok(())
    })
}

/// `hiprtcGetLoweredName`: valid until the program is destroyed or compiled again.
pub extern "C" fn hiprtcGetLoweredName(program: Handle, name: Text, out: Out<*const c_char>) -> u32 {
    enter("hiprtcGetLoweredName", &[("prog", &program), ("name_expression", &name)], || {
        let name = text(name)?;
        out.required().map_err(input)?;
        let program = get(program)?;
        let program = lock(&program);
        let symbol = program.symbols.get(&name).ok_or(result::ERROR_NAME_EXPRESSION_NOT_VALID)?;
        out.set(symbol.as_ptr());
        Ok(())
    })
}

/// What the options of a program ask for.
#[derive(PartialEq, Eq, Debug)]
struct Options {
    /// The architecture that they name.
    arch: Option<Arch>,
    /// `-fgpu-rdc`: bitcode, for the linker.
    output: Output,
    /// Those of clang.
    rest: Vec<OsString>,
}

impl Options {
    /// Takes out what is not clang's. The error is for the log.
    fn read(options: Vec<Vec<u8>>) -> Result<Options, clang::Error> {
        let mut read = Options { arch: None, output: Output::Code, rest: Vec::new() };
        let mut options = options.into_iter();
        while let Some(option) = options.next() {
            let shown = String::from_utf8_lossy(&option).into_owned();
            let (name, own) = match shown.split_once('=') {
                Some((name, own)) => (name, Some(own.to_owned())),
                None => (&*shown, None),
            };
            match name {
                "--offload-arch" | "--gpu-architecture" | "-arch" | "--cuda-gpu-arch" => {
                    let next = || options.next().map(|arch| String::from_utf8_lossy(&arch).into_owned());
                    let arch = own.or_else(next);
                    let arch = arch.ok_or_else(|| clang::Error(format!("{name}: its value is missing")))?;
                    read.arch = Some(Arch::read(&arch)?);
                }
                "-fgpu-rdc" => {
                    read.output = Output::Bitcode;
                    read.rest.push(OsString::from_vec(option));
                }
                // They have no effect in AMD's library, or write files of its own.
                "-hip-pch" | "--save-temps" | "" => {}
                _ => read.rest.push(OsString::from_vec(option)),
            }
        }
        Ok(read)
    }
}

/// The architecture of a device.
fn arch_of(device: &Device) -> Arch {
    match &device.info.amd_target {
        Some(target) => Arch::Amd(target.clone()),
        None => {
            let (major, minor) = device.info.compute_capability;
            Arch::Ptx((major * 10 + minor).min(NEWEST_PTX))
        }
    }
}

impl Program {
    fn compile(&mut self, options: Vec<Vec<u8>>) -> Answer {
        (self.code, self.bitcode, self.symbols) = Default::default();
        let mut log = String::new();
        let made = Options::read(options).and_then(|options| {
            let device = current::device().map_err(|_| clang::Error("there is no device".into()))?;
            let arch = options.arch.unwrap_or_else(|| arch_of(&device));
            let named = driver::driver().ok().and_then(|driver| driver.options.clang.clone());
            let clang = Clang::find(named.as_deref()).inspect_err(|error| {
                log::say(log::Level::Error, || format!("hiprtcCompileProgram needs a compiler: {error}"));
            })?;
            let output = options.output;
            let made = runtime::compile(&clang, &self.source, &arch, output, &options.rest, &mut log)?;
            Ok((made, output))
        });
        let answer = match made {
            Ok((compiled, output)) => {
                match output {
                    Output::Code => self.code = compiled.code,
                    Output::Bitcode => self.bitcode = compiled.code,
                }
                let symbols = compiled.symbols.into_iter().filter_map(|name| CString::new(name).ok());
                self.symbols = self.source.names.iter().cloned().zip(symbols).collect();
                Ok(())
            }
            Err(clang::Error(text)) => {
                if !text.is_empty() {
                    log.push_str(&format!("{text}\n"));
                }
                Err(result::ERROR_COMPILATION)
            }
        };
        if !log.is_empty() {
            log::say(log::Level::Info, || format!("hiprtcCompileProgram: {}", log.trim_end()));
        }
        log.retain(|c| c != '\0');
        self.log = CString::new(log).unwrap_or_default();
        answer
    }

    /// The log with its final zero; nothing if there are no messages.
    fn log(&self) -> &[u8] {
        if self.log.is_empty() { &[] } else { self.log.as_bytes_with_nul() }
    }
}

/// `hiprtcCompileProgram`.
pub extern "C" fn hiprtcCompileProgram(program: Handle, count: i32, options: In<u64>) -> u32 {
    enter("hiprtcCompileProgram", &[("prog", &program), ("numOptions", &count)], || {
        let count = usize::try_from(count).map_err(input)?;
        let text = |at: driver::Result<u64>| at.and_then(|at| Text::at(at).bytes().map(<[u8]>::to_vec));
        let options = options.each(count).map(text).collect::<driver::Result<Vec<_>>>().map_err(input)?;
        let program = get(program)?;
        lock(&program).compile(options)
    })
}

/// Functions for the size of a program's bytes and for the bytes.
macro_rules! bytes {
    ($(fn $size:ident/$get:ident($which:expr);)*) => {
        $(
            #[doc = concat!("`", stringify!($size), "`.")]
            pub extern "C" fn $size(program: Handle, out: Out<usize>) -> u32 {
                enter(stringify!($size), &[("prog", &program), ("size", &out)], || {
                    out.required().map_err(input)?;
                    let program = get(program)?;
                    let which: fn(&Program) -> Result<&[u8], u32> = $which;
                    out.set(which(&lock(&program))?.len());
                    Ok(())
                })
            }

            #[doc = concat!("`", stringify!($get), "`.")]
            pub extern "C" fn $get(program: Handle, out: Out<u8>) -> u32 {
                enter(stringify!($get), &[("prog", &program), ("to", &out)], || {
                    out.required().map_err(input)?;
                    let program = get(program)?;
                    let which: fn(&Program) -> Result<&[u8], u32> = $which;
                    out.set_all(which(&lock(&program))?);
                    Ok(())
                })
            }
        )*
    };
}

bytes! {
    fn hiprtcGetProgramLogSize/hiprtcGetProgramLog(|program| Ok(program.log()));
    fn hiprtcGetCodeSize/hiprtcGetCode(|program| Ok(&program.code));
    fn hiprtcGetBitcodeSize/hiprtcGetBitcode(|program| match &*program.bitcode {
        [] => Err(result::ERROR_INVALID_PROGRAM),
        bitcode => Ok(bitcode),
    });
}
