//! The code in a file that commands can compile: the PTX or code object that the file is, or what containers,
//! programs, libraries and archives hold of both.

use std::borrow::Cow;
use std::collections::BTreeSet;

use anyhow::Result;
use cpu::front::AmdObject;
use cpu::{LoadError, Program, Rules, Source};

use crate::commands::extract;
use crate::{amd, files};

/// PTX or AMD code.
pub enum Code<'a> {
    /// A PTX text.
    Ptx(Cow<'a, str>),
    /// An AMD code object.
    Amd(Cow<'a, [u8]>),
}

/// A piece of code.
pub struct Part<'a> {
    /// What it was made for, such as `sm_80` or `gfx906`; empty if the file is the code.
    pub target: String,
    /// The code.
    pub code: Code<'a>,
}

impl Part<'_> {
    /// Loads it.
    pub fn load(&self, name: &str, rules: &Rules) -> std::result::Result<Program, LoadError> {
        match &self.code {
            Code::Ptx(text) => Program::load_by(&[Source { name, text }], rules),
            Code::Amd(bytes) => Program::of_code(&AmdObject { name, bytes }, rules),
        }
    }

    /// The PTX; empty for AMD code.
    pub fn text(&self) -> &str {
        match &self.code {
            Code::Ptx(text) => text,
            Code::Amd(_) => "",
        }
    }
}

/// Whether the bytes are a program, library, archive or container: there is a NUL before their end.
fn is_binary(bytes: &[u8]) -> bool {
    image::until_nul(bytes).len() < bytes.iter().rposition(|&b| b != 0).map_or(0, |last| last + 1)
}

/// All distinct code in a file. A file without a NUL is taken for PTX, whose errors its loading names.
///
/// # Errors
/// It is a longer text than the driver takes.
pub fn of<'a>(name: &str, bytes: &'a [u8]) -> Result<Vec<Part<'a>>> {
    let container = amd::is_amd(bytes) || is_binary(bytes) && image::detect(bytes) != Some(image::Kind::Ptx);
    if !container {
        files::check_size(&name, bytes.len() as u64, files::MOST_PTX)?;
        return Ok(vec![Part { target: String::new(), code: Code::Ptx(ptx::text_of(bytes)) }]);
    }
    let mut parts = Vec::new();
    let mut seen = BTreeSet::new();
    for (arch, text) in extract::texts(bytes) {
        if seen.insert(text.clone()) {
            let target = arch.map_or_else(|| "PTX".into(), |arch| format!("sm_{arch}"));
            parts.push(Part { target, code: Code::Ptx(ptx::text_of(&text).into_owned().into()) });
        }
    }
    for entry in amd::entries(bytes) {
        if seen.insert(entry.bytes.to_vec()) {
            parts.push(Part { target: entry.target(), code: Code::Amd(entry.bytes) });
        }
    }
    if let [Part { target, code: Code::Amd(object) }] = parts.as_mut_slice()
        && object.len() == bytes.len()
    {
        target.clear();
    }
    Ok(parts)
}
