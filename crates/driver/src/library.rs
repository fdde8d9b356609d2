//! Libraries: code for every context, compiled on first use on each device.

use std::collections::HashMap;
use std::ffi::CString;
use std::sync::{Arc, Mutex, Weak};

use crate::backend::{LoadOptions, Program};
use crate::code;
use crate::context::{self, Context};
use crate::device::Device;
use crate::driver;
use crate::error::{Error, Result};
use crate::handle::{self, Handle, Table, lock};
use crate::module::{self, Function, Module, Report};

static LIBRARIES: Table<Library> = Table::new(handle::Kind::Library);
static KERNELS: Table<Kernel> = Table::new(handle::Kind::Kernel);

/// A library.
pub struct Library {
    /// The handle.
    pub handle: Handle,
    bytes: Vec<u8>,
    options: LoadOptions,
    /// Programs by device ordinal; an error if there is no code for the device.
    programs: Mutex<HashMap<u32, Result<Arc<dyn Program>>>>,
    /// Modules by context id.
    modules: Mutex<HashMap<u64, Weak<Module>>>,
    kernels: Mutex<HashMap<String, Arc<Kernel>>>,
}

/// A kernel of a library, for every context.
pub struct Kernel {
    /// The handle.
    pub handle: Handle,
    /// The handle of its library.
    pub library: Handle,
    /// The name.
    pub name: CString,
}

/// Creates a library from a container. Its contents are parsed on first use. A container without any PTX is
/// reported at once, since some programs never use such a library further.
pub fn load(bytes: Vec<u8>, options: LoadOptions) -> Result<Handle> {
    let mut programs = HashMap::new();
    let contents = image::contents(&bytes);
    if contents.ptx.is_empty()
        && !contents.machine_code.is_empty()
        && let Ok(device) = some_device()
        && let Err(error) = module::texts(&device, &bytes, &mut Report::default())
    {
        programs.insert(device.ordinal, Err(error));
    }
    let made = LIBRARIES.insert_with(|handle| {
        Arc::new(Library {
            handle,
            bytes,
            options,
            programs: Mutex::new(programs),
            modules: Mutex::default(),
            kernels: Mutex::default(),
        })
    });
    made.map(|l| l.0).ok_or(Error::OutOfMemory)
}

/// The library of a handle.
pub fn get(handle: Handle) -> Result<Arc<Library>> {
    LIBRARIES.get(handle).ok_or(Error::InvalidHandle)
}

/// The kernel of a handle.
pub fn kernel(handle: Handle) -> Result<Arc<Kernel>> {
    KERNELS.get(handle).ok_or(Error::InvalidHandle)
}

/// Unloads a library from all contexts.
pub fn unload(handle: Handle) -> Result<()> {
    let library = LIBRARIES.remove(handle).ok_or(Error::InvalidHandle)?;
    for (_, kernel) in lock(&library.kernels).drain() {
        KERNELS.remove(kernel.handle);
    }
    for (_, module) in lock(&library.modules).drain() {
        if let Some(module) = module.upgrade() {
            module::unload_any(&module);
        }
    }
    Ok(())
}

/// The device to compile for if none is given: the calling thread's, or the first.
fn some_device() -> Result<Arc<Device>> {
    match context::current() {
        Some(context) => Ok(Arc::clone(&context.device)),
        None => driver()?.device(0).cloned(),
    }
}

impl Library {
    /// The library's code for a device.
    fn program(&self, device: &Arc<Device>) -> Result<Arc<dyn Program>> {
        let mut programs = lock(&self.programs);
        if let Some(program) = programs.get(&device.ordinal) {
            return program.clone();
        }
        let mut report = Report::default();
        let texts = code::parts(device, &self.bytes, &self.options, &mut report);
        let texts = texts.inspect_err(|error| drop(programs.insert(device.ordinal, Err(*error))))?;
        let options = module::options_for(&self.bytes, &self.options);
        let program = module::compile(device, &texts, &options, false, &mut report)?;
        programs.insert(device.ordinal, Ok(Arc::clone(&program)));
        Ok(program)
    }

    /// The library's module in a context.
    pub fn module(&self, context: &Arc<Context>) -> Result<Arc<Module>> {
        let mut modules = lock(&self.modules);
        if let Some(module) = modules.get(&context.id()).and_then(Weak::upgrade) {
            return Ok(module);
        }
        let module = module::place(context, self.program(&context.device)?, true, &mut Report::default())?;
        modules.insert(context.id(), Arc::downgrade(&module));
        Ok(module)
    }

    /// Checks that the library has code for the thread's device, which is compiled if it was not before.
    pub fn check(&self) -> Result<()> {
        self.program(&some_device()?).map(|_| ())
    }

    /// A kernel by name.
    pub fn kernel(&self, name: &[u8]) -> Result<Arc<Kernel>> {
        let program = self.program(&some_device()?)?;
        let info = program.kernels().iter().find(|k| k.name.as_bytes() == name).ok_or(Error::NotFound)?;
        self.kernel_named(&info.name)
    }

    fn kernel_named(&self, name: &str) -> Result<Arc<Kernel>> {
        let mut kernels = lock(&self.kernels);
        if let Some(kernel) = kernels.get(name) {
            return Ok(Arc::clone(kernel));
        }
        let text = CString::new(name).unwrap_or_default();
        let made =
            KERNELS.insert_with(|handle| Arc::new(Kernel { handle, library: self.handle, name: text }));
        let kernel = made.map(|k| k.1).ok_or(Error::OutOfMemory)?;
        kernels.insert(name.to_string(), Arc::clone(&kernel));
        Ok(kernel)
    }

    /// The kernels, in the order of the text; none if the library cannot be compiled.
    pub fn kernels(&self) -> Result<Vec<Arc<Kernel>>> {
        let Ok(program) = self.program(&some_device()?) else { return Ok(Vec::new()) };
        program.kernels().iter().map(|k| self.kernel_named(&k.name)).collect()
    }
}

impl Kernel {
    /// The kernel's function in a context.
    pub fn function(&self, context: &Arc<Context>) -> Result<Arc<Function>> {
        get(self.library)?.module(context)?.function(self.name.as_bytes())
    }
}

/// The function of a function's or a kernel's handle; a kernel's function is the one in `context`.
pub fn function_or_kernel(
    handle: Handle,
    context: impl FnOnce() -> Result<Arc<Context>>,
) -> Result<Arc<Function>> {
    match module::FUNCTIONS.get(handle) {
        Some(function) => Ok(function),
        None => kernel(handle)?.function(&context()?),
    }
}
