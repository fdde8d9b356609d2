//! Libraries: code for every context, compiled at its first use in each.

use std::collections::HashMap;
use std::ffi::CString;
use std::sync::{Arc, Mutex, Weak};

use crate::backend::LoadOptions;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::handle::{Handle, Table, lock};
use crate::module::{self, Function, Module, Report};

static LIBRARIES: Table<Library> = Table::new(7);
static KERNELS: Table<Kernel> = Table::new(4);

/// A library.
pub struct Library {
    /// Its handle.
    pub handle: Handle,
    bytes: Vec<u8>,
    options: LoadOptions,
    modules: Mutex<HashMap<u64, Weak<Module>>>,
    kernels: Mutex<HashMap<String, Arc<Kernel>>>,
}

/// A kernel of a library, for every context.
pub struct Kernel {
    /// Its handle.
    pub handle: Handle,
    /// The handle of its library.
    pub library: Handle,
    /// Its name.
    pub name: CString,
}

/// Makes a library of a container; what is in it is looked at when it is first used.
pub fn load(bytes: Vec<u8>, options: LoadOptions) -> Result<Handle> {
    let made = LIBRARIES.insert_with(|handle| {
        Arc::new(Library { handle, bytes, options, modules: Mutex::default(), kernels: Mutex::default() })
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

/// Unloads a library everywhere.
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

impl Library {
    /// Its module in a context.
    pub fn module(&self, context: &Arc<Context>) -> Result<Arc<Module>> {
        let mut modules = lock(&self.modules);
        if let Some(module) = modules.get(&context.id()).and_then(Weak::upgrade) {
            return Ok(module);
        }
        let mut report = Report::default();
        let texts = module::texts(&context.device, &self.bytes, &mut report)?;
        let program = module::compile(&context.device, &texts, &self.options, false, &mut report)?;
        let module = module::place(context, program, true)?;
        modules.insert(context.id(), Arc::downgrade(&module));
        Ok(module)
    }

    /// A kernel by its name.
    pub fn kernel(&self, context: &Arc<Context>, name: &[u8]) -> Result<Arc<Kernel>> {
        let module = self.module(context)?;
        let info = module.kernels().iter().find(|k| k.name.as_bytes() == name).ok_or(Error::NotFound)?;
        let mut kernels = lock(&self.kernels);
        if let Some(kernel) = kernels.get(&info.name) {
            return Ok(Arc::clone(kernel));
        }
        let text = CString::new(info.name.as_str()).unwrap_or_default();
        let made =
            KERNELS.insert_with(|handle| Arc::new(Kernel { handle, library: self.handle, name: text }));
        let kernel = made.map(|k| k.1).ok_or(Error::OutOfMemory)?;
        kernels.insert(info.name.clone(), Arc::clone(&kernel));
        Ok(kernel)
    }

    /// The number of its kernels; 0 where it cannot be compiled.
    pub fn kernel_count(&self, context: &Arc<Context>) -> usize {
        self.module(context).map_or(0, |m| m.kernels().len())
    }
}

impl Kernel {
    /// Its function in a context.
    pub fn function(&self, context: &Arc<Context>) -> Result<Arc<Function>> {
        get(self.library)?.module(context)?.function(self.name.as_bytes())
    }
}

/// The function of a handle that is a function's or a kernel's; a kernel's in `context`.
pub fn function_or_kernel(handle: Handle, context: &Arc<Context>) -> Result<Arc<Function>> {
    match module::FUNCTIONS.get(handle) {
        Some(function) => Ok(function),
        None => kernel(handle)?.function(context),
    }
}
