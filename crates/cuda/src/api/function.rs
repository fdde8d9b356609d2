//! Functions and their attributes.

use std::sync::Arc;

use driver::device::bank_size;
use driver::module::{Function, function};
use driver::{Error, Result};

use crate::abi::{Need, Out, check};
use crate::api;
use crate::types::Handle;

/// The highest cache configuration.
pub(crate) const MAX_CACHE_CONFIG: u32 = 3;
/// `CU_FUNCTION_LOADING_STATE_LOADED`.
const LOADED: u32 = 1;

/// The function of a handle. Handles are checked before contexts.
fn of(handle: Handle) -> Result<Arc<Function>> {
    let function = function(handle)?;
    check(Need::Object)?;
    function.module.context.check()?;
    Ok(function)
}

/// The same, but null is an invalid value rather than an invalid handle.
fn named(handle: Handle) -> Result<Arc<Function>> {
    if handle == 0 { Err(Error::InvalidValue) } else { of(handle) }
}

/// Writes the offset and size of a parameter.
pub(crate) fn give_param(
    function: &Function,
    index: usize,
    offset: Out<usize>,
    size: Out<usize>,
) -> Result<()> {
    offset.required()?;
    let param = function.info().params.get(index).ok_or(Error::InvalidValue)?;
    offset.set(param.offset as usize);
    size.set(param.size as usize);
    Ok(())
}

api! {
    Init Legal fn cuFuncGetAttribute(value: Out<i32>, attribute: i32, handle: Handle) {
        let function = of(handle)?;
        value.required()?.set(function.attribute(attribute)?);
        Ok(())
    }

    Init Legal fn cuFuncSetAttribute(handle: Handle, attribute: i32, value: i32) {
        of(handle)?.set_attribute(attribute, value)
    }

    /// There is no cache to configure; only the arguments are checked.
    Init Legal fn cuFuncSetCacheConfig(handle: Handle, config: u32) {
        of(handle)?;
        if config > MAX_CACHE_CONFIG { Err(Error::InvalidValue) } else { Ok(()) }
    }

    /// Shared memory banks are always four bytes wide; only the arguments are checked.
    Init Legal fn cuFuncSetSharedMemConfig(handle: Handle, config: u32) {
        of(handle)?;
        if config > bank_size::EIGHT_BYTE { Err(Error::InvalidValue) } else { Ok(()) }
    }

    Init Legal fn cuFuncGetModule(module: Out<Handle>, handle: Handle) {
        let function = named(handle)?;
        module.required()?.set(function.module.handle);
        Ok(())
    }

    Init Legal fn cuFuncGetName(name: Out<u64>, handle: Handle) {
        let function = named(handle)?;
        name.required()?.set(function.name.as_ptr() as u64);
        Ok(())
    }

    Init Legal fn cuFuncIsLoaded(state: Out<u32>, handle: Handle) {
        named(handle)?;
        state.required()?.set(LOADED);
        Ok(())
    }

    Init Legal fn cuFuncLoad(handle: Handle) {
        of(handle)?.prepare();
        Ok(())
    }

    Init Legal fn cuFuncGetParamCount(handle: Handle, count: Out<usize>) {
        let function = named(handle)?;
        count.required()?.set(function.info().params.len());
        Ok(())
    }

    Init Legal fn cuFuncGetParamInfo(handle: Handle, index: usize, offset: Out<usize>, size: Out<usize>) {
        give_param(&*named(handle)?, index, offset, size)
    }
}
