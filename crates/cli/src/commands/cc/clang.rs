//! Finds the user's clang.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// The versions that are looked for, newest first.
const VERSIONS: std::ops::RangeInclusive<u32> = 16..=30;
const INSTALL: &str = "install one (`apt-get install clang-19`, or a package clang of version 16 or later), or name \
                       it with --clang or ANYWARP_CLANG";

/// A compiler that can be used.
pub struct Clang {
    /// Its C++ driver.
    pub program: PathBuf,
}

impl Clang {
    /// The compiler with this name, or the newest in `PATH`.
    pub fn find(named: Option<&Path>) -> Result<Clang> {
        if let Some(program) = named {
            let version = version_of(program)
                .with_context(|| format!("cannot use {} as clang; {INSTALL}", program.display()))?;
            if version < *VERSIONS.start() {
                bail!("{} is clang {version}, which is too old; {INSTALL}", program.display());
            }
            return Ok(Clang { program: program.to_owned() });
        }
        let names = std::iter::once("clang++".to_owned())
            .chain(VERSIONS.rev().map(|version| format!("clang++-{version}")));
        let mut old = None;
        for program in names.filter_map(|name| in_path(&name)) {
            match version_of(&program) {
                Ok(version) if VERSIONS.contains(&version) => return Ok(Clang { program }),
                Ok(version) => old = Some((program, version)),
                Err(_) => {}
            }
        }
        match old {
            Some((program, version)) => {
                bail!("{} is clang {version}, which is too old; {INSTALL}", program.display())
            }
            None => bail!("there is no clang; {INSTALL}"),
        }
    }
}

/// The path of a program.
fn in_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|program| program.is_file())
}

/// The version that a compiler says it has.
fn version_of(program: &Path) -> Result<u32> {
    let output = Command::new(program).arg("--version").output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let number = text.split_once("clang version ").and_then(|(_, rest)| rest.split('.').next()?.parse().ok());
    number
        .with_context(|| format!("it does not say that it is clang: {:?}", text.lines().next().unwrap_or("")))
}
