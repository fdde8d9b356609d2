//! The linker. It checks each PTX text when it is added, and all of them together at the end. From libraries
//! it takes PTX only.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use crate::backend::{LoadErrorKind, LoadOptions};
use crate::device::Device;
use crate::device_runtime;
use crate::error::{Error, Result};
use crate::handle::{self, Handle, Table, lock};
use crate::log;
use crate::module::{self, Report};

static LINKS: Table<Link> = Table::new(handle::Kind::Link);

/// The inputs so far.
pub struct Link {
    /// The handle.
    pub handle: Handle,
    device: Arc<Device>,
    options: LoadOptions,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    inputs: Vec<(String, Vec<u8>)>,
    /// Library members, linked only if something refers to them.
    members: Vec<Candidate>,
    /// Whether an input defines a symbol again, which was reported when it was added.
    defined_twice: bool,
    /// The result, which lives until [`destroy`].
    image: Option<Box<[u8]>>,
}

/// A member of a library.
struct Candidate {
    /// Library and member, for messages.
    place: String,
    /// The symbols that it defines.
    names: Vec<String>,
    /// Its PTX, or a description of the machine code it has instead.
    code: Result<Vec<u8>, image::Contents>,
}

/// The type of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputType {
    /// Machine code, or the output of this linker.
    Cubin,
    /// PTX text.
    Ptx,
    /// A fatbin.
    Fatbin,
    /// A host object with device code.
    Object,
    /// An archive of such objects.
    Library,
    /// LLVM bitcode.
    Bitcode,
}

/// Creates a link.
pub fn create(device: &Arc<Device>, options: LoadOptions) -> Result<Handle> {
    let device = Arc::clone(device);
    LINKS
        .insert_with(|handle| Arc::new(Link { handle, device, options, state: Mutex::default() }))
        .map(|l| l.0)
        .ok_or(Error::OutOfMemory)
}

/// The link of a handle.
pub fn get(handle: Handle) -> Result<Arc<Link>> {
    LINKS.get(handle).ok_or(Error::InvalidHandle)
}

/// Destroys a link and its result.
pub fn destroy(handle: Handle) -> Result<()> {
    LINKS.remove(handle).map(|_| ()).ok_or(Error::InvalidHandle)
}

impl Link {
    /// Adds an input.
    pub fn add(&self, kind: InputType, name: &str, bytes: &[u8], report: &mut Report) -> Result<()> {
        let mut state = lock(&self.state);
        if state.image.is_some() {
            return Err(Error::InvalidValue);
        }
        let mut texts = match kind {
            InputType::Ptx => vec![(String::new(), image::until_nul(bytes).to_vec())],
            InputType::Cubin | InputType::Fatbin if image::detect(bytes) == Some(image::Kind::Ptx) => {
                return Err(Error::InvalidImage);
            }
            InputType::Cubin | InputType::Fatbin => module::texts(&self.device, bytes, report)?,
            InputType::Object | InputType::Library => {
                let members = match image::library(bytes, self.capability()) {
                    Ok(members) => members,
                    Err(error @ image::Error::Broken(_)) => {
                        return Err(module::refused(&self.device, error, report));
                    }
                    // A host object without device code adds nothing.
                    Err(_) if kind == InputType::Object => return Ok(()),
                    Err(_) => return Err(Error::Unknown),
                };
                state.keep(name, members);
                return Ok(());
            }
            InputType::Bitcode => return Err(Error::InvalidImage),
        };
        if !name.is_empty() {
            for text in &mut texts {
                text.0 = name.to_string();
            }
        }
        let before = state.inputs.len();
        state.inputs.append(&mut texts);
        match module::compile(&self.device, &state.inputs, &self.options, true, report) {
            Ok(_) => Ok(()),
            Err(LoadErrorKind::Undefined) => {
                // A later input may define the missing symbols.
                report.errors.clear();
                Ok(())
            }
            Err(LoadErrorKind::Duplicate) => {
                state.defined_twice = true;
                Err(Error::InvalidSource)
            }
            Err(kind) => {
                state.inputs.truncate(before);
                Err(kind.into())
            }
        }
    }

    /// Links the inputs. Returns the address and size of the result, which lives until [`destroy`].
    pub fn complete(&self, report: &mut Report) -> Result<(u64, usize)> {
        let mut state = lock(&self.state);
        if state.image.is_some() {
            return Err(Error::InvalidHandle);
        }
        if state.defined_twice {
            return Err(Error::InvalidSource);
        }
        while !state.inputs.is_empty() {
            match module::compile(&self.device, &state.inputs, &self.options, true, report) {
                Ok(_) => break,
                Err(LoadErrorKind::Undefined) if state.bring_in(&report.errors) => report.errors.clear(),
                Err(LoadErrorKind::Undefined) => {
                    state.tell_machine_code(report);
                    return Err(Error::InvalidSource);
                }
                Err(LoadErrorKind::Duplicate) => return Err(Error::InvalidSource),
                Err(kind) => return Err(kind.into()),
            }
        }
        let linked = image::linked(&state.inputs, self.options.max_registers).into_boxed_slice();
        let image = state.image.insert(linked);
        Ok((image.as_ptr() as u64, image.len()))
    }

    fn capability(&self) -> u32 {
        let (major, minor) = self.device.info.compute_capability;
        major * 10 + minor
    }
}

impl State {
    /// Keeps a library's members until something refers to their symbols. This driver's device runtime
    /// replaces NVIDIA's.
    fn keep(&mut self, library: &str, members: Vec<image::Member>) {
        let ours = |name: &String| device_runtime::FUNCTIONS.contains(&name.as_str());
        for m in members {
            let place =
                if m.name.is_empty() { library.to_string() } else { format!("{library}({})", m.name) };
            let texts = m.texts.into_iter().map(|text| (defined(&text), Ok(text)));
            for (mut names, code) in texts.chain([(m.machine_code, Err(m.devices))]) {
                let all = names.len();
                names.retain(|name| !ours(name));
                if names.len() < all {
                    self.members.push(Candidate {
                        place: device_runtime::NAME.into(),
                        names: device_runtime::FUNCTIONS.map(String::from).to_vec(),
                        code: Ok(device_runtime::TEXT.into()),
                    });
                }
                self.members.push(Candidate { place: place.clone(), names, code });
            }
        }
    }

    /// Adds the members that define symbols which an error log calls undefined. Returns whether any was new.
    fn bring_in(&mut self, errors: &str) -> bool {
        let before = self.inputs.len();
        for member in &self.members {
            let Ok(text) = &member.code else { continue };
            let input = (member.place.clone(), text.clone());
            if member.names.iter().any(|name| mentions(errors, name)) && !self.inputs.contains(&input) {
                self.inputs.push(input);
            }
        }
        self.inputs.len() > before
    }

    /// Adds to the log of a failed link which undefined symbols a library defines in machine code. By default
    /// this is also logged.
    fn tell_machine_code(&self, report: &mut Report) {
        let undefined = report.errors.clone();
        for member in &self.members {
            let Err(contents) = &member.code else { continue };
            for name in member.names.iter().filter(|name| mentions(&undefined, name)) {
                let place = &member.place;
                let told =
                    format!("{place} has '{name}' only as {contents}, which cannot run here; link it as PTX");
                let _ = writeln!(report.errors, "error   : {told}");
                log::say(log::Level::Error, || told);
            }
        }
    }
}

/// Whether an error log mentions a symbol.
fn mentions(errors: &str, name: &str) -> bool {
    errors.contains(&format!("'{name}'"))
}

/// The symbols that a text exports: the first word of each header that begins with `.visible` or `.weak`,
/// apart from directives and text in parentheses.
fn defined(text: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(text);
    let mut names = Vec::new();
    for header in text.split([';', '{', '}']) {
        let Some(at) = header.find(".visible").or_else(|| header.find(".weak")) else { continue };
        let mut depth = 0u32;
        let mut flat = String::new();
        for c in header.get(at..).unwrap_or_default().chars() {
            match c {
                '(' => depth = depth.saturating_add(1),
                ')' => depth = depth.saturating_sub(1),
                '=' | '[' => break,
                _ if depth == 0 => flat.push(c),
                _ => {}
            }
        }
        let name = |w: &&str| w.starts_with(|c: char| c.is_ascii_alphabetic() || "_$%".contains(c));
        names.extend(flat.split_whitespace().find(name).map(String::from));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::defined;

    #[test]
    fn names_that_a_text_defines() {
        let text = b".version 7.0\n.target sm_70\n.address_size 64\n.extern .func out(.param .b32 a);\n\
            .visible .func (.param .b64 r) f(.param .b32 a)\n{ .reg .b32 %r; ret; }\n.weak .func\n g\n(\n.param .b32 a\n) .noreturn\n{ }\n\
            .func hidden() { ret; }\n.visible .global .align 4 .b8 table[4] = {1, 2, 3, 4};\n.visible .entry k(.param .u64 p) { ret; }";
        assert_eq!(defined(text), ["f", "g", "table", "k"]);
    }
}
