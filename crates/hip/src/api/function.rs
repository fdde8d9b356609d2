//! Functions and their attributes.

use std::sync::Arc;

use driver::device::{attribute, bank_size};
// `hipFunction_attribute` has the same numbers up to 9.
use driver::library::function_or_kernel;
use driver::module::{Function, attribute as number};

use crate::abi::{Out, Text};
use crate::current::{self, Handle};
use crate::{Error, Result, api, registered};

/// `hipFuncAttributeMax`: one more than the highest settable attribute.
const ATTRIBUTE_MAX: i32 = 10;
/// `hipFuncCachePreferEqual`, the last cache configuration.
const MAX_CACHE_CONFIG: u32 = 3;

/// `hipFuncAttributes`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct Attributes {
    pub binary_version: i32,
    pub cache_mode: i32,
    pub const_size: usize,
    pub local_size: usize,
    pub max_dynamic_shared: i32,
    pub max_threads: i32,
    pub registers: i32,
    pub carveout: i32,
    pub ptx_version: i32,
    pub shared_size: usize,
}

/// The function of a handle; that of a library's kernel is loaded into the current context.
pub(super) fn of(handle: Handle) -> Result<Arc<Function>> {
    function_or_kernel(handle, || current::driver_context().map_err(|_| driver::Error::InvalidContext))
        .map_err(|_| Error::InvalidHandle)
}

/// The maximum dynamic shared memory per block; HIP has no opt-in.
pub(super) fn most_dynamic_shared(function: &Function) -> i32 {
    let most = function.device().attribute(attribute::MAX_SHARED_MEMORY_PER_BLOCK_OPTIN).unwrap_or(0);
    most.saturating_sub_unsigned(function.info().static_shared)
}

pub(super) fn attribute_of(function: &Function, which: i32) -> Result<i32> {
    match which {
        // On AMD both are the device's architecture.
        number::PTX_VERSION | number::BINARY_VERSION => Ok(function.attribute(number::BINARY_VERSION)?),
        number::MAX_DYNAMIC_SHARED_SIZE => Ok(most_dynamic_shared(function)),
        number::CACHE_MODE_CA | number::PREFERRED_CARVEOUT => Ok(0),
        number::MAX_THREADS_PER_BLOCK
        | number::SHARED_SIZE
        | number::CONST_SIZE
        | number::LOCAL_SIZE
        | number::REGISTERS => Ok(function.attribute(which)?),
        _ => Err(Error::InvalidValue),
    }
}

/// The kernel of a host stub, in the thread's current context.
pub(super) fn of_host(host: u64) -> Result<Arc<Function>> {
    if host == 0 {
        return Err(Error::InvalidDeviceFunction);
    }
    registered::function_of(host, &current::context()?)
}

/// `hipDriverProcAddressQueryResult`, `hipDriverEntryPointQueryResult`: found, not found.
const FOUND: u32 = 0;
const NOT_FOUND: u32 = 1;
/// `HIP_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM`, `hipEnablePerThreadDefaultStream`: the highest flag.
const PER_THREAD: u64 = 2;

/// A function by name: the variant for the per-thread default stream if there is one and `own` asks for it,
/// else with the layouts and numbers of a version. HIP 6.0 renamed functions whose layouts changed.
fn entry(name: &[u8], own: bool, version: i32) -> Option<u64> {
    let name = std::str::from_utf8(name).ok()?;
    let renamed = match name {
        "hipGetDeviceProperties" | "hipChooseDevice" if version >= 600 => Some(format!("{name}R0600")),
        _ => None,
    };
    let own = own.then(|| format!("{name}_spt"));
    let names = own.into_iter().chain(renamed).chain([name.to_string()]);
    names.into_iter().find_map(|n| crate::table::function(&n)).map(|f| f as u64)
}

/// The flags of a search; those of its variant for the per-thread default stream are never the default.
fn flags_of(flags: u64, own: bool) -> u64 {
    if own && flags == 0 { PER_THREAD } else { flags }
}

api! {
    Device Legal fn hipFuncGetAttribute(value: Out<i32>, attribute: i32, handle: Handle) {
        value.required()?;
        let function = of(handle)?;
        value.set(attribute_of(&function, attribute)?);
        Ok(())
    }

    Context Legal fn hipFuncGetAttributes(out: Out<Attributes>, host: u64) {
        out.required()?;
        if host == 0 {
            return Err(Error::InvalidDeviceFunction);
        }
        let function = registered::function_of(host, &current::context()?).map_err(|error| match error {
            Error::InvalidDeviceFunction => Error::InvalidSymbol,
            other => other,
        })?;
        let get = |which| attribute_of(&function, which);
        let size = |which| get(which).map(|n| usize::try_from(n).unwrap_or(0));
        out.set(Attributes {
            binary_version: get(number::BINARY_VERSION)?,
            cache_mode: 0,
            const_size: size(number::CONST_SIZE)?,
            local_size: size(number::LOCAL_SIZE)?,
            max_dynamic_shared: get(number::MAX_DYNAMIC_SHARED_SIZE)?,
            max_threads: get(number::MAX_THREADS_PER_BLOCK)?,
            registers: get(number::REGISTERS)?,
            carveout: 0,
            ptx_version: get(number::PTX_VERSION)?,
            shared_size: size(number::SHARED_SIZE)?,
        });
        Ok(())
    }

    Context Legal fn hipFuncSetAttribute(host: u64, attribute: i32, value: i32) {
        if host == 0 {
            return Err(Error::InvalidDeviceFunction);
        }
        if !(0..=ATTRIBUTE_MAX).contains(&attribute) {
            return Err(Error::InvalidValue);
        }
        let function = of_host(host)?;
        match attribute {
            number::MAX_DYNAMIC_SHARED_SIZE | number::PREFERRED_CARVEOUT => {
                Ok(function.set_attribute(attribute, value)?)
            }
            _ => Ok(()),
        }
    }

    /// There is no cache to configure; only the arguments are checked.
    Device Legal fn hipFuncSetCacheConfig(host: u64, config: u32) {
        match host {
            0 => Err(Error::InvalidDeviceFunction),
            _ if config > MAX_CACHE_CONFIG => Err(Error::InvalidValue),
            _ => Ok(()),
        }
    }

    /// Shared memory banks are always four bytes wide; only the arguments are checked.
    Device Legal fn hipFuncSetSharedMemConfig(host: u64, config: u32) {
        match host {
            0 => Err(Error::InvalidDeviceFunction),
            _ if config > bank_size::EIGHT_BYTE => Err(Error::InvalidValue),
            _ => Ok(()),
        }
    }

    Context Legal fn hipGetFuncBySymbol(out: Out<Handle>, host: u64) {
        let function = registered::function_of(host, &current::context()?);
        let function = function.map_err(|_| Error::InvalidDeviceFunction)?;
        out.required().map_err(|_| Error::InvalidDeviceFunction)?.set(function.handle);
        Ok(())
    }

    /// Functions by name, as `dlsym` returns them.
    Nothing Legal fn hipGetProcAddress / hipGetProcAddress_spt (
        name: Text, out: Out<u64>, version: i32, flags: u64, status: Out<u32>,
    ) |own| {
        let name = name.bytes()?;
        out.required()?;
        if version < 0 || flags > PER_THREAD {
            return Err(Error::InvalidValue);
        }
        let found = entry(name, flags_of(flags, own) == PER_THREAD, version);
        out.set(found.unwrap_or(0));
        status.set(if found.is_some() { FOUND } else { NOT_FOUND });
        found.map(|_| ()).ok_or(Error::NotFound)
    }

    Nothing Legal fn hipGetDriverEntryPoint / hipGetDriverEntryPoint_spt (
        name: Text, out: Out<u64>, flags: u64, status: Out<u32>,
    ) |own| {
        let name = name.name()?;
        out.required()?;
        if flags > PER_THREAD {
            return Err(Error::InvalidValue);
        }
        let found = entry(name, flags_of(flags, own) == PER_THREAD, 0);
        out.set(found.unwrap_or(0));
        status.set(if found.is_some() { FOUND } else { NOT_FOUND });
        found.map(|_| ()).ok_or(Error::InvalidValue)
    }
}

/// `hipKernelNameRef`: a function's name; null for an invalid handle.
pub extern "C" fn hipKernelNameRef(handle: Handle) -> u64 {
    of(handle).map_or(0, |f| f.name.as_ptr() as u64)
}

/// `hipKernelNameRefByPtr`: the name that a host stub was registered under; null if it was not.
pub extern "C" fn hipKernelNameRefByPtr(host: u64, _stream: Handle) -> u64 {
    registered::text_of(host).map_or(0, |t| t.as_ptr() as u64)
}
