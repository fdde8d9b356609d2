//! The linker: texts are kept, checked one by one as they come and together at the end.

use std::sync::{Arc, Mutex};

use crate::backend::{LoadErrorKind, LoadOptions};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::handle::{Handle, Table, lock};
use crate::module::{self, Report};

static LINKS: Table<Link> = Table::new(8);

/// What is linked so far.
pub struct Link {
    /// Its handle.
    pub handle: Handle,
    device: Arc<Device>,
    options: LoadOptions,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    inputs: Vec<(String, Vec<u8>)>,
    /// The result, which lives until the end.
    image: Option<Box<[u8]>>,
}

/// What an input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputType {
    /// Machine code, or what this linker made.
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

/// A new link.
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

/// Ends a link and its result.
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
            // An object without device code adds nothing.
            InputType::Object => return Ok(()),
            InputType::Library => return Err(Error::Unknown),
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
                // What is missing may come yet.
                report.errors.clear();
                Ok(())
            }
            Err(LoadErrorKind::Duplicate) => Err(Error::InvalidSource),
            Err(kind) => {
                state.inputs.truncate(before);
                Err(kind.into())
            }
        }
    }

    /// Links: the address and size of the result, which lives until [`destroy`].
    pub fn complete(&self, report: &mut Report) -> Result<(u64, usize)> {
        let mut state = lock(&self.state);
        if state.image.is_some() {
            return Err(Error::InvalidHandle);
        }
        if !state.inputs.is_empty() {
            module::compile(&self.device, &state.inputs, &self.options, true, report).map_err(|kind| {
                match kind {
                    LoadErrorKind::Undefined | LoadErrorKind::Duplicate => Error::InvalidSource,
                    kind => kind.into(),
                }
            })?;
        }
        let linked = image::linked(&state.inputs).into_boxed_slice();
        let image = state.image.insert(linked);
        Ok((image.as_ptr() as u64, image.len()))
    }
}
