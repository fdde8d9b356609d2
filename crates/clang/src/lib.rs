//! Device code from CUDA and HIP C++: the user's clang ([`Clang`]), the headers of this project
//! ([`headers`]), and the command that compiles a source for one side and one architecture. `anywarp cc` uses
//! them for whole programs, hiprtc for sources that a program holds ([`runtime`]).
//!
//! **Architecture invariant:** this crate knows neither the driver nor the interfaces, and runs programs by
//! `host` alone.

mod arch;
mod find;
pub mod headers;
mod missing;
pub mod runtime;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::Path;
use std::process::Command;

pub use arch::{Arch, ptx_version};
pub use find::Clang;
pub use missing::note;

/// What cannot be done, for the user.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error(pub String);

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

/// The result of what can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// A language with device code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// `.cu`
    Cuda,
    /// `.hip`
    Hip,
}

impl Language {
    /// Its name in clang's option `-x`.
    pub fn of_clang(self) -> &'static str {
        match self {
            Language::Cuda => "cuda",
            Language::Hip => "hip",
        }
    }

    /// The header that its sources get without including it, as with nvcc and hipcc.
    pub fn header(self) -> &'static str {
        match self {
            Language::Cuda => "cuda_runtime.h",
            Language::Hip => "hip/hip_runtime.h",
        }
    }
}

/// The side that a pass compiles.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side<'a> {
    /// The host's code.
    Host,
    /// Device code for an architecture.
    Device(&'a Arch),
}

impl Clang {
    /// clang with the options that every step has; `include` is the folder of our headers.
    ///
    /// # Errors
    /// The process may not run programs.
    pub fn command(&self, include: &Path) -> Result<Command> {
        let mut command = host::programs::command(&self.program).map_err(|error| Error(error.to_string()))?;
        command.arg("-Wno-unused-command-line-argument").arg("-isystem").arg(include);
        // The folder has another name each time, which must not stand in what is made.
        let mut named = OsString::from("-ffile-prefix-map=");
        named.push(include);
        named.push("=anywarp-include");
        command.arg(named);
        Ok(command)
    }

    /// clang for a pass over a source. `optimisation` is the option that says how much to optimise. With
    /// `-S`, the pass for an architecture of PTX writes that.
    ///
    /// # Errors
    /// The process may not run programs.
    pub fn pass(
        &self,
        include: &Path,
        language: Language,
        side: Side,
        optimisation: Option<&str>,
    ) -> Result<Command> {
        let mut command = self.command(include)?;
        // clang makes no PTX of HIP, whose device code means the same as CUDA's.
        let read_as = if let Side::Device(Arch::Ptx(_)) = side { Language::Cuda } else { language };
        let option = if side == Side::Host { "--cuda-host-only" } else { "--cuda-device-only" };
        command.args(["-x", read_as.of_clang(), option, "-nogpulib", "-nogpuinc"]);
        if language == Language::Hip {
            command.arg("-D__HIP_PLATFORM_AMD__=1");
            // clang would take its own headers for the ROCm that it finds on this machine.
            let mut no_rocm = OsString::from("--rocm-path=");
            no_rocm.push(include);
            command.arg(no_rocm);
        }
        if read_as == Language::Cuda {
            // Without a toolkit, clang would assume the launches of CUDA 7.
            command.args(["-Xclang", "-target-sdk-version=11.5"]);
            if language == Language::Hip {
                command.args([
                    "-D__HIP__=1",
                    "-D__HIPCC__=1",
                    "-D__HIP_DEVICE_COMPILE__=1",
                    "-U__CUDA_ARCH__",
                ]);
            }
        }
        command.args(optimisation);
        command.args(["-include", language.header()]);
        match side {
            Side::Host => {}
            Side::Device(Arch::Ptx(number)) => {
                command.arg(format!("--cuda-gpu-arch=sm_{number}"));
                command.arg(format!("--cuda-feature=+ptx{}", ptx_version(*number)));
            }
            Side::Device(Arch::Amd(name)) => {
                command.arg(format!("--offload-arch={name}")).arg("--no-gpu-bundle-output");
            }
        }
        Ok(command)
    }
}

/// The option by which clang tells a HIP source's symbols from another's; without one, two sources cannot be
/// linked.
pub fn own_number(language: Language, number: u64) -> Vec<String> {
    match language {
        Language::Cuda => Vec::new(),
        Language::Hip => vec!["-Xclang".to_owned(), format!("-cuid={number:016x}")],
    }
}

/// Writes a file and the folders above it.
fn write(path: &Path, contents: &[u8]) -> Result<()> {
    let made =
        path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| host::write::named(path, contents));
    made.map_err(|error| Error(format!("cannot write {}: {error}", path.display())))
}

/// Whether an option says how much to optimise.
pub fn optimises(option: &OsStr) -> bool {
    option.as_encoded_bytes().starts_with(b"-O")
}
