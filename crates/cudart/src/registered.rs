//! The registry for the start-up code that nvcc generates: fat binaries, and the kernels and variables behind
//! host addresses.
//!
//! Registering only records. Code is loaded when a kernel or variable of it is first used, once per context.
//! Constructors of other libraries may register before initialisation and while other threads run.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use capi::{Out, Text};
use driver::ModuleLoading;
use driver::backend::LoadOptions;
use driver::context::{self, Context};
use driver::handle::lock;
use driver::library::{self, Library};
use driver::log::{self, Level};
use driver::module::{self, Module};

use crate::{Error, Result, code, current};

/// A registered fat binary.
struct Binary {
    /// The address of its wrapper.
    wrapper: u64,
    library: OnceLock<Result<Arc<Library>>>,
    /// Its managed variables: where the host's pointer to each lies, and the name.
    managed: Mutex<Vec<(u64, String)>>,
    /// Kernels that are not in the code and have been reported.
    missing: Mutex<HashSet<String>>,
}

/// The kernel or variable behind a host address.
#[derive(Clone)]
struct Entry {
    name: Arc<str>,
    binary: Arc<Binary>,
}

#[derive(Default)]
struct Registry {
    /// Fat binaries by registration handle.
    binaries: HashMap<u64, Arc<Binary>>,
    functions: HashMap<u64, Entry>,
    variables: HashMap<u64, Entry>,
}

fn registry() -> &'static RwLock<Registry> {
    static REGISTRY: OnceLock<RwLock<Registry>> = OnceLock::new();
    REGISTRY.get_or_init(RwLock::default)
}

fn read<T>(look: impl FnOnce(&Registry) -> T) -> T {
    look(&registry().read().unwrap_or_else(PoisonError::into_inner))
}

fn write<T>(change: impl FnOnce(&mut Registry) -> T) -> T {
    change(&mut registry().write().unwrap_or_else(PoisonError::into_inner))
}

/// An owned copy of a text.
fn owned(text: Text) -> Result<String> {
    Ok(String::from_utf8_lossy(text.bytes()?).into_owned())
}

/// Records the fat binary with a wrapper; returns its handle.
pub fn binary(wrapper: u64) -> u64 {
    let binary = Arc::new(Binary {
        wrapper,
        library: OnceLock::new(),
        managed: Mutex::default(),
        missing: Mutex::default(),
    });
    let handle = Arc::as_ptr(&binary) as u64;
    write(|all| all.binaries.insert(handle, binary));
    handle
}

fn of(handle: u64) -> Result<Arc<Binary>> {
    read(|all| all.binaries.get(&handle).cloned()).ok_or(Error::INVALID_HANDLE)
}

/// The program or library that a fat binary lies in, for messages.
pub fn file(handle: u64) -> String {
    let file = of(handle).ok().and_then(|binary| host::trust::file_at(binary.wrapper as usize));
    file.map_or_else(|| "the program".into(), |file| file.display().to_string())
}

/// Removes a fat binary and everything registered with it.
pub fn remove(handle: u64) -> Result<()> {
    let gone = write(|all| {
        let gone = all.binaries.remove(&handle).ok_or(Error::INVALID_HANDLE)?;
        all.functions.retain(|_, e| !Arc::ptr_eq(&e.binary, &gone));
        all.variables.retain(|_, e| !Arc::ptr_eq(&e.binary, &gone));
        Ok::<_, Error>(gone)
    })?;
    match gone.library.get() {
        Some(Ok(library)) => Ok(library::unload(library.handle)?),
        _ => Ok(()),
    }
}

/// Records a kernel's host stub.
pub fn function(handle: u64, host: u64, name: Text) -> Result<()> {
    let entry = Entry { name: owned(name)?.into(), binary: of(handle)? };
    // The first registration counts: several objects may share an inline function's stub.
    write(|all| {
        all.functions.entry(host).or_insert(entry);
    });
    Ok(())
}

/// Records a variable's host shadow.
pub fn variable(handle: u64, host: u64, name: Text) -> Result<()> {
    let entry = Entry { name: owned(name)?.into(), binary: of(handle)? };
    write(|all| all.variables.insert(host, entry));
    Ok(())
}

/// Records a managed variable; `host` is the address of the host's pointer to it.
pub fn managed(handle: u64, host: u64, name: Text) -> Result<()> {
    let binary = of(handle)?;
    lock(&binary.managed).push((host, owned(name)?));
    variable(handle, host, name)
}

/// Loads a fat binary's code for the calling thread's context, so that its managed variables can be used.
pub fn load(handle: u64) -> Result<()> {
    of(handle)?.module(&current::context()?).map(|_| ())
}

/// Loads every fat binary for a context.
pub fn load_all(context: &Arc<Context>) {
    let binaries: Vec<Arc<Binary>> = read(|all| all.binaries.values().cloned().collect());
    for binary in binaries {
        // Reported by the calls that use it.
        let _ = binary.module(context);
    }
}

/// The registration of a fat binary is complete: with `CUDA_MODULE_LOADING=EAGER` its code is loaded if the
/// thread has a context.
pub fn complete(handle: u64) {
    let eager = driver::driver().is_ok_and(|d| d.options.module_loading == ModuleLoading::Eager);
    if eager && let (Some(context), Ok(binary)) = (context::current(), of(handle)) {
        let _ = binary.module(&context);
    }
}

impl Binary {
    fn library(&self) -> Result<Arc<Library>> {
        let made = self.library.get_or_init(|| {
            Ok(library::get(library::load(code::of(self.wrapper)?, LoadOptions::default())?)?)
        });
        made.clone()
    }

    /// The binary's module in a context, with the host's pointers to its managed variables set.
    fn module(&self, context: &Arc<Context>) -> Result<Arc<Module>> {
        let module = self.library()?.module(context)?;
        for (host, name) in lock(&self.managed).iter() {
            if let Ok((_, at)) = module.global(name.as_bytes()) {
                Out::<u64>::at(*host).set(at);
            }
        }
        Ok(module)
    }
}

/// The kernel with a host stub, as a handle that no context owns.
pub fn kernel_of(host: u64) -> Result<u64> {
    let entry = read(|all| all.functions.get(&host).cloned()).ok_or(Error::INVALID_DEVICE_FUNCTION)?;
    // The context decides for which device code is looked for.
    entry.binary.module(&current::context()?)?;
    let kernel = entry.binary.library()?.kernel(entry.name.as_bytes());
    Ok(kernel.map_err(|_| entry.missing())?.handle)
}

impl Entry {
    /// The error for a kernel that is not in the code; names it once.
    fn missing(&self) -> Error {
        if lock(&self.binary.missing).insert(self.name.to_string()) {
            log::say(Level::Error, || format!("kernel {} is not in the code registered for it", self.name));
        }
        Error::SYMBOL_NOT_FOUND
    }
}

/// A function found earlier: what the program named, in which context, and the function.
type Found = (u64, u64, u64);

/// The number of functions that a thread remembers.
const REMEMBERED: usize = 64;

thread_local! {
    static FOUND: [Cell<Found>; REMEMBERED] = const { [const { Cell::new((0, 0, 0)) }; REMEMBERED] };
}

/// The function of what a program passes for a kernel (its host stub, or the handle of a kernel or function),
/// in the calling thread's context. A thread remembers what it has found; with `again` it looks again,
/// because a library may have been closed and another may have the same addresses.
pub fn function_of(named: u64, again: bool) -> Result<u64> {
    let context = current::context_id()?;
    // Stubs are 16 bytes apart, and handles count up.
    let slot = (named ^ (named >> 4)) as usize % REMEMBERED;
    let known = FOUND.with(|all| all.get(slot).map(Cell::get)).filter(|_| !again);
    if let Some((_, _, function)) = known.filter(|k| k.0 == named && k.1 == context) {
        return Ok(function);
    }
    let function = find(named)?;
    FOUND.with(|all| all.get(slot).map(|cell| cell.set((named, context, function))));
    Ok(function)
}

/// Whether a function is registered under this address.
pub fn is_function(named: u64) -> bool {
    read(|all| all.functions.contains_key(&named))
}

#[cold]
fn find(named: u64) -> Result<u64> {
    let context = current::context()?;
    let Some(entry) = read(|all| all.functions.get(&named).cloned()) else {
        // What is no stub is taken for a handle (recorded on an H200).
        let unknown = if named == 0 { Error::INVALID_DEVICE_FUNCTION } else { Error::INVALID_HANDLE };
        let function = library::function_or_kernel(named, || Ok(context));
        return Ok(function.map_err(|_| unknown)?.handle);
    };
    let module = entry.binary.module(&context)?;
    Ok(module.function(entry.name.as_bytes()).map_err(|_| entry.missing())?.handle)
}

/// What the program would name a function: the host stub that it was registered with, or else its handle.
pub fn name_of(function: u64) -> u64 {
    let Ok(found) = module::function(function) else { return function };
    let name = found.name.to_bytes();
    let named: Vec<(u64, Entry)> = read(|all| {
        let named = all.functions.iter().filter(|(_, entry)| entry.name.as_bytes() == name);
        named.map(|(host, entry)| (*host, entry.clone())).collect()
    });
    let context = &found.module.context;
    let own = |entry: &Entry| {
        let library = entry.binary.library.get().and_then(|made| made.as_ref().ok());
        library.and_then(|l| l.module(context).ok()).is_some_and(|m| Arc::ptr_eq(&m, &found.module))
    };
    named.into_iter().find(|(_, entry)| own(entry)).map_or(function, |(host, _)| host)
}

/// Address and size of the variable with a host shadow, in the calling thread's context.
pub fn variable_of(host: u64) -> Result<(u64, u64)> {
    let entry = read(|all| all.variables.get(&host).cloned()).ok_or(Error::INVALID_SYMBOL)?;
    let module = entry.binary.module(&current::context()?)?;
    let (variable, at) = module.global(entry.name.as_bytes()).map_err(|_| Error::INVALID_SYMBOL)?;
    Ok((at, variable.size))
}

/// Waits for the work of the calling thread's context, if it has one.
pub fn settle() {
    if driver::driver().is_ok()
        && let Some(context) = context::current()
    {
        // An error of the work stays with its context.
        let _ = context.synchronize();
    }
}
