//! The linker. It checks each PTX text when it is added, together with those that it has symbols in common
//! with, and all of them at the end. From host objects and libraries it takes PTX only.

mod symbols;

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use crate::backend::{LoadErrorKind, LoadOptions};
use crate::device::Device;
use crate::device_runtime;
use crate::error::{Error, Result};
use crate::handle::{self, Handle, Table, lock};
use crate::log;
use crate::module::{self, Report};

use symbols::{Index, Strength, symbols};

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
    /// Their symbols.
    symbols: Index,
    /// Library members, linked only if something refers to them or they have kernels, and the machine code of
    /// host objects.
    members: Vec<Candidate>,
    /// What libraries have as machine code only.
    machine_code: Vec<image::Contents>,
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
    /// Whether kernels are among them.
    has_kernels: bool,
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
                let (texts, missing) = state.keep(name, members, kind == InputType::Object);
                match kind {
                    // What is in an object is linked, as if it were registered.
                    InputType::Object => missing.iter().for_each(|what| module::tell(&self.device, what)),
                    _ => state.machine_code.extend(missing),
                }
                if texts.is_empty() {
                    return Ok(());
                }
                texts
            }
            InputType::Bitcode => return Err(Error::InvalidImage),
        };
        if !name.is_empty() {
            for text in &mut texts {
                text.0 = name.to_string();
            }
        }
        let found: Vec<_> = texts.iter().map(|(_, text)| symbols(text)).collect();
        // Whatever is wrong with other inputs alone was reported when they were added.
        let related = state.symbols.related(&found.concat());
        let mut checked: Vec<_> = related.iter().filter_map(|&n| state.inputs.get(n).cloned()).collect();
        checked.extend(texts.iter().cloned());
        let outcome = match module::compile(&self.device, &checked, &self.options, true, report) {
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
            Err(kind) => return Err(kind.into()),
        };
        for (text, symbols) in texts.into_iter().zip(found) {
            let number = state.inputs.len();
            state.symbols.add(number, symbols);
            state.inputs.push(text);
        }
        outcome
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
        match self.resolve(&mut state, report) {
            Ok(()) => {}
            Err(LoadErrorKind::Undefined) => {
                state.tell_machine_code(report);
                return Err(Error::InvalidSource);
            }
            Err(LoadErrorKind::Duplicate) => return Err(Error::InvalidSource),
            Err(kind) => return Err(kind.into()),
        }
        // No device code refers to a kernel, but the program may.
        let before = state.inputs.len();
        if state.bring_in(|member| member.has_kernels) {
            let mut report = Report::default();
            if self.resolve(&mut state, &mut report).is_err() {
                let told = report.errors.trim_end();
                log::say(log::Level::Warn, || {
                    format!("kernels of libraries that the link does not need are left out:\n{told}")
                });
                state.inputs.truncate(before);
            }
        }
        state.machine_code.iter().for_each(|contents| module::tell(&self.device, contents));
        let linked = image::linked(&state.inputs, self.options.max_registers).into_boxed_slice();
        let image = state.image.insert(linked);
        Ok((image.as_ptr() as u64, image.len()))
    }

    /// Checks all inputs together, and brings in what they refer to.
    fn resolve(&self, state: &mut State, report: &mut Report) -> std::result::Result<(), LoadErrorKind> {
        while !state.inputs.is_empty() {
            match module::compile(&self.device, &state.inputs, &self.options, true, report) {
                Ok(_) => break,
                Err(LoadErrorKind::Undefined) if state.bring_in_mentioned(&report.errors) => {
                    report.errors.clear();
                }
                Err(kind) => return Err(kind),
            }
        }
        Ok(())
    }

    fn capability(&self) -> u32 {
        let (major, minor) = self.device.info.compute_capability;
        major * 10 + minor
    }
}

impl State {
    /// Keeps the members of a library, or of a host object's machine code, until something refers to their
    /// symbols. This driver's device runtime replaces NVIDIA's. Returns the texts of an object, and what of
    /// them all is machine code only.
    fn keep(
        &mut self,
        library: &str,
        members: Vec<image::Member>,
        is_object: bool,
    ) -> (Vec<(String, Vec<u8>)>, Vec<image::Contents>) {
        let ours = |name: &String| device_runtime::FUNCTIONS.contains(&name.as_str());
        let is_replaced = members.iter().any(|m| m.machine_code.iter().any(ours));
        let (mut linked, mut missing): (Vec<(String, Vec<u8>)>, Vec<_>) = Default::default();
        for m in members {
            let place =
                if m.name.is_empty() { library.to_string() } else { format!("{library}({})", m.name) };
            if m.devices != image::Contents::default() && !is_replaced {
                missing.push(m.devices.clone());
            }
            let texts = m.texts.into_iter().map(|text| (exported(&text), Ok(text)));
            for ((mut names, has_kernels), code) in texts.chain([((m.machine_code, false), Err(m.devices))]) {
                let all = names.len();
                names.retain(|name| !ours(name));
                if names.len() < all {
                    self.members.push(Candidate {
                        place: device_runtime::NAME.into(),
                        names: device_runtime::FUNCTIONS.map(String::from).to_vec(),
                        has_kernels: false,
                        code: Ok(device_runtime::TEXT.into()),
                    });
                }
                match code {
                    Ok(text) if is_object => {
                        // An object may have the same text in two sections.
                        if linked.iter().all(|(_, other)| *other != text) {
                            linked.push((String::new(), text));
                        }
                    }
                    code => self.members.push(Candidate { place: place.clone(), names, has_kernels, code }),
                }
            }
        }
        (linked, missing)
    }

    /// Adds the members that define symbols which an error log calls undefined. Returns whether any was new.
    fn bring_in_mentioned(&mut self, errors: &str) -> bool {
        self.bring_in(|member| member.names.iter().any(|name| mentions(errors, name)))
    }

    /// Adds the members with PTX for which `wanted` holds. Returns whether any was new.
    fn bring_in(&mut self, wanted: impl Fn(&Candidate) -> bool) -> bool {
        let before = self.inputs.len();
        for member in &self.members {
            let Ok(text) = &member.code else { continue };
            let input = (member.place.clone(), text.clone());
            if wanted(member) && !self.inputs.contains(&input) {
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

/// The symbols that a text exports, and whether kernels are among them.
fn exported(text: &[u8]) -> (Vec<String>, bool) {
    let symbols = symbols(text);
    let has_kernels = symbols.iter().any(|symbol| symbol.is_kernel);
    let defined = symbols.into_iter().filter(|symbol| symbol.strength != Strength::Declared);
    (defined.map(|symbol| symbol.name).collect(), has_kernels)
}
