//! The registry for hip-clang's start-up code: fat binaries, and the kernels and variables behind host
//! addresses.
//!
//! Registering only records. Code is loaded when a kernel or variable of it is first used, once per context.
//! Constructors of other libraries may register before initialisation and while other threads run.

use std::collections::{HashMap, HashSet};
use std::ffi::CStr;
use std::sync::{Arc, Mutex, OnceLock};

use driver::backend::LoadOptions;
use driver::context::Context;
use driver::handle::lock;
use driver::library::{self, Library};
use driver::log::{self, Level};
use driver::memory::rights::Rights;
use driver::memory::transfer::{Place, Transfer};
use driver::module::{Function, Module, Report};

use crate::abi::Text;
use crate::{Error, Result, code};

/// A registered fat binary.
struct Binary {
    /// The address of its bundle.
    address: u64,
    library: OnceLock<Result<Arc<Library>>>,
    managed: Mutex<Vec<Managed>>,
    /// Ids of contexts in which its managed variables have been set.
    told: Mutex<HashSet<u64>>,
    /// Kernels that are not in the code and have been reported.
    missing: Mutex<HashSet<String>>,
}

/// A managed variable: in device code, a pointer with its name.
struct Managed {
    name: String,
    memory: u64,
}

/// The kernel or variable behind a host address.
#[derive(Clone)]
struct Entry {
    name: String,
    binary: Arc<Binary>,
}

#[derive(Default)]
struct Registry {
    /// Fat binaries by registration handle.
    binaries: HashMap<u64, Arc<Binary>>,
    functions: HashMap<u64, Entry>,
    variables: HashMap<u64, Entry>,
}

fn registry() -> &'static Mutex<Registry> {
    static REGISTRY: OnceLock<Mutex<Registry>> = OnceLock::new();
    REGISTRY.get_or_init(Mutex::default)
}

/// An owned copy of a text.
fn owned(text: Text) -> Result<String> {
    Ok(String::from_utf8_lossy(text.bytes()?).into_owned())
}

/// Records the fat binary whose bundle lies at an address; returns its handle.
pub fn binary(address: u64) -> u64 {
    let binary = Arc::new(Binary {
        address,
        library: OnceLock::new(),
        managed: Mutex::default(),
        told: Mutex::default(),
        missing: Mutex::default(),
    });
    driver::set_registered(amd_objects);
    let handle = Arc::as_ptr(&binary) as u64;
    lock(registry()).binaries.insert(handle, binary);
    handle
}

/// The AMD code objects of the fat binaries, smallest addresses first; none if one of them has PTX.
fn amd_objects() -> Vec<Vec<u8>> {
    let mut addresses: Vec<u64> = lock(registry()).binaries.values().map(|b| b.address).collect();
    addresses.sort_unstable();
    let objects = |address: u64| match code::at(Text::at(address)) {
        Ok(bytes) => code::amd_objects(bytes),
        Err(_) => Some(Vec::new()),
    };
    let all: Option<Vec<Vec<Vec<u8>>>> = addresses.into_iter().map(objects).collect();
    all.unwrap_or_default().into_iter().flatten().collect()
}

fn of(handle: u64) -> Result<Arc<Binary>> {
    lock(registry()).binaries.get(&handle).cloned().ok_or(Error::InvalidHandle)
}

/// Removes a fat binary and everything registered with it.
pub fn remove(handle: u64) -> Result<()> {
    let gone = {
        let mut all = lock(registry());
        let gone = all.binaries.remove(&handle).ok_or(Error::InvalidHandle)?;
        all.functions.retain(|_, e| !Arc::ptr_eq(&e.binary, &gone));
        all.variables.retain(|_, e| !Arc::ptr_eq(&e.binary, &gone));
        gone
    };
    match gone.library.get() {
        Some(Ok(library)) => Ok(library::unload(library.handle)?),
        _ => Ok(()),
    }
}

/// Records a kernel's host stub.
pub fn function(handle: u64, host: u64, name: Text) -> Result<()> {
    let entry = Entry { name: owned(name)?, binary: of(handle)? };
    // The first registration counts: several objects may share an inline function's stub.
    lock(registry()).functions.entry(host).or_insert(entry);
    Ok(())
}

/// Records a variable's host shadow.
pub fn variable(handle: u64, host: u64, name: Text) -> Result<()> {
    let entry = Entry { name: owned(name)?, binary: of(handle)? };
    lock(registry()).variables.insert(host, entry);
    Ok(())
}

/// Records a managed variable whose memory has been allocated; `host` holds the pointer to it.
pub fn managed(handle: u64, host: u64, memory: u64, name: Text) -> Result<()> {
    let binary = of(handle)?;
    let name = owned(name)?;
    lock(&binary.managed).push(Managed { name: name.clone(), memory });
    lock(registry()).variables.insert(host, Entry { name, binary });
    Ok(())
}

impl Binary {
    fn library(&self) -> Result<Arc<Library>> {
        let made = self.library.get_or_init(|| {
            let code = code::at(Text::at(self.address)).and_then(code::container);
            let code = code.map_err(|refused| refused.tell(&mut Report::default()))?;
            Ok(library::get(library::load(code, code::options(&LoadOptions::default()))?)?)
        });
        made.clone()
    }

    /// The binary's module in a context, with its managed variables set to their memory.
    fn module(&self, context: &Arc<Context>) -> Result<Arc<Module>> {
        let module = self.library()?.module(context)?;
        if !lock(&self.told).insert(context.id()) {
            return Ok(module);
        }
        for one in lock(&self.managed).iter() {
            let Ok((variable, at)) = module.global(one.name.as_bytes()) else { continue };
            if variable.size != 8 {
                log::say(Level::Error, || {
                    format!("managed variable {} has {} bytes; expected a pointer", one.name, variable.size)
                });
                return Err(Error::InvalidSymbol);
            }
            let pointer = one.memory.to_ne_bytes();
            let transfer = Transfer::line(Place::Device(at), Place::Host(pointer.as_ptr() as u64), 8);
            // SAFETY: the pointer's bytes outlive the copy, which is synchronous.
            unsafe { transfer.run(|| Ok::<_, Error>(context.legacy()), true, Rights::Ignored) }?;
        }
        Ok(module)
    }
}

/// The kernel of a host stub in a context. hipErrorInvalidDeviceFunction if the stub is not registered or its
/// module does not load, unless the reason is that there is no code for this device.
pub fn function_of(host: u64, context: &Arc<Context>) -> Result<Arc<Function>> {
    let entry = lock(registry()).functions.get(&host).cloned().ok_or(Error::InvalidDeviceFunction)?;
    let module = entry.binary.module(context).map_err(|error| match error {
        Error::NoBinaryForGpu => error,
        _ => Error::InvalidDeviceFunction,
    })?;
    module.function(entry.name.as_bytes()).map_err(|error| {
        // The kernel is there and cannot run; the log says why.
        if error == driver::Error::NotSupported {
            return Error::NotSupported;
        }
        if lock(&entry.binary.missing).insert(entry.name.clone()) {
            log::say(Level::Error, || format!("kernel {} is not in the code registered for it", entry.name));
        }
        Error::InvalidDeviceFunction
    })
}

/// The host stub that a kernel was registered with, if it was.
pub fn stub_of(function: &Function) -> Option<u64> {
    let name = function.name.to_bytes();
    let all: Vec<(u64, Arc<Binary>)> = {
        let all = lock(registry());
        let named = all.functions.iter().filter(|(_, entry)| entry.name.as_bytes() == name);
        named.map(|(host, entry)| (*host, Arc::clone(&entry.binary))).collect()
    };
    let context = &function.module.context;
    let of = |binary: &Binary| {
        if !lock(&binary.told).contains(&context.id()) {
            return None;
        }
        let library = binary.library.get()?.as_ref().ok()?;
        library.module(context).ok()
    };
    let own = |binary: &Binary| of(binary).is_some_and(|module| Arc::ptr_eq(&module, &function.module));
    all.into_iter().find(|(_, binary)| own(binary)).map(|(host, _)| host)
}

/// The name that a host stub was registered under.
pub fn name_of(host: u64) -> Option<String> {
    lock(registry()).functions.get(&host).map(|e| e.name.clone())
}

/// The module, in a context, of the variable with a host shadow, and the variable's name in it.
pub fn place_of(host: u64, context: &Arc<Context>) -> Result<(Arc<Module>, String)> {
    let entry = lock(registry()).variables.get(&host).cloned().ok_or(Error::InvalidSymbol)?;
    Ok((entry.binary.module(context)?, entry.name))
}

/// Address and size of the variable with a host shadow, in a context.
pub fn variable_of(host: u64, context: &Arc<Context>) -> Result<(u64, u64)> {
    let entry = lock(registry()).variables.get(&host).cloned().ok_or(Error::InvalidSymbol)?;
    let module = entry.binary.module(context)?;
    let (variable, at) = module.global(entry.name.as_bytes()).map_err(|_| Error::InvalidSymbol)?;
    Ok((at, variable.size))
}

/// A registered name as a C string that lives forever.
pub fn text_of(host: u64) -> Option<&'static CStr> {
    static TEXTS: OnceLock<Mutex<HashMap<String, &'static CStr>>> = OnceLock::new();
    let name = name_of(host)?;
    let mut texts = lock(TEXTS.get_or_init(Mutex::default));
    if let Some(text) = texts.get(&name) {
        return Some(text);
    }
    let text: &'static CStr = Box::leak(std::ffi::CString::new(name.clone()).ok()?.into_boxed_c_str());
    texts.insert(name, text);
    Some(text)
}
