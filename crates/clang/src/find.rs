//! Finds the user's clang.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use host::programs;

use crate::{Error, Result};

/// The versions that are looked for, newest first.
const VERSIONS: std::ops::RangeInclusive<u32> = 16..=30;
const INSTALL: &str = "install one (`apt-get install clang-19`, or a package clang of version 16 or later), or name \
                       it with ANYWARP_CLANG, or for `anywarp cc` with --clang";

/// A compiler that can be used.
#[derive(Clone, Debug)]
pub struct Clang {
    /// Its C++ driver.
    pub program: PathBuf,
    /// Its version, without what follows the first point.
    pub version: u32,
}

impl Clang {
    /// The compiler with this name, or the newest in `PATH`.
    ///
    /// # Errors
    /// There is none that can be used, and what to install.
    pub fn find(named: Option<&Path>) -> Result<Clang> {
        if let Some(program) = named {
            let version = version_of(program).map_err(|error| {
                Error(format!("cannot use {} as clang: {error}; {INSTALL}", program.display()))
            })?;
            if version < *VERSIONS.start() {
                return Err(too_old(program, version));
            }
            return Ok(Clang { program: program.to_owned(), version });
        }
        let names = std::iter::once("clang++".to_owned())
            .chain(VERSIONS.rev().map(|version| format!("clang++-{version}")));
        let mut old = None;
        for program in names.filter_map(|name| programs::in_path(&name)) {
            match version_of(&program) {
                Ok(version) if VERSIONS.contains(&version) => return Ok(Clang { program, version }),
                Ok(version) => old = Some((program, version)),
                Err(_) => {}
            }
        }
        Err(match old {
            Some((program, version)) => too_old(&program, version),
            None => Error(format!("there is no clang; {INSTALL}")),
        })
    }
}

fn too_old(program: &Path, version: u32) -> Error {
    Error(format!("{} is clang {version}, which is too old; {INSTALL}", program.display()))
}

/// The version that a compiler says it has.
fn version_of(program: &Path) -> Result<u32> {
    let run = || {
        let mut command = programs::command(program)?;
        command.arg("--version").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        let mut text = Vec::new();
        if let Some(pipe) = &mut child.stdout {
            pipe.read_to_end(&mut text)?;
        }
        programs::wait(&mut child)?;
        Ok(text)
    };
    let text = run().map_err(|error: io::Error| Error(error.to_string()))?;
    let text = String::from_utf8_lossy(&text);
    let number = text.split_once("clang version ").and_then(|(_, rest)| rest.split('.').next()?.parse().ok());
    let first = text.lines().next().unwrap_or("");
    number.ok_or_else(|| Error(format!("it does not say that it is clang: {first:?}")))
}
