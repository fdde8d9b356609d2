//! Modules.

use std::sync::Arc;

use capi::jit::Jit;
use driver::log::{self, Level};
use driver::module::{self, Module, Report};

use crate::abi::{In, Out, Text};
use crate::current::{self, Handle};
use crate::{Error, Result, api, code};

fn load(out: Out<Handle>, bytes: code::Result<Vec<u8>>, jit: &Jit) -> Result<()> {
    let context = current::driver_context()?;
    let mut report = Report::default();
    let loaded = bytes.map_err(|refused| Error::from(refused.tell(&mut report))).and_then(|bytes| {
        jit.check_target(&context.device)?;
        Ok(module::load(&context, &bytes, &code::options(&jit.options), &mut report)?)
    });
    jit.finish(&report);
    out.set(loaded?.handle);
    Ok(())
}

/// The module of a handle. Null is an invalid handle; an unloaded module is not found.
fn of(handle: Handle) -> Result<Arc<Module>> {
    if handle == 0 {
        return Err(Error::InvalidHandle);
    }
    module::get(handle).map_err(|_| Error::NotFound)
}

fn bytes_of(image: Text) -> code::Result<Vec<u8>> {
    code::container(code::at(image)?)
}

api! {
    Driver Unsafe fn hipModuleLoad(out: Out<Handle>, file: Text) {
        out.required()?;
        let bytes = capi::container::file(file).map_err(|_| Error::FileNotFound)?;
        load(out, code::container(&bytes), &Jit::default())
    }

    Driver Unsafe fn hipModuleLoadData(out: Out<Handle>, image: Text) {
        out.required()?;
        if image.address() == 0 {
            return Err(Error::InvalidValue);
        }
        load(out, bytes_of(image), &Jit::default())
    }

    /// The options apply to PTX, as on NVIDIA.
    Driver Unsafe fn hipModuleLoadDataEx(
        out: Out<Handle>, image: Text, count: u32, options: In<u32>, values: Out<u64>,
    ) {
        out.required()?;
        if image.address() == 0 {
            return Err(Error::InvalidValue);
        }
        let jit = Jit::read_hip(count, options, values)?;
        load(out, bytes_of(image), &jit)
    }

    /// Called `hipModuleLoadFatBin` in the guide.
    Driver Unsafe fn hipModuleLoadFatBinary(out: Out<Handle>, image: Text) {
        out.required()?;
        if image.address() == 0 {
            return Err(Error::InvalidValue);
        }
        load(out, bytes_of(image), &Jit::default())
    }

    Device Unsafe fn hipModuleUnload(handle: Handle) {
        of(handle)?;
        Ok(module::unload(handle)?)
    }

    Device Legal fn hipModuleGetFunction(out: Out<Handle>, handle: Handle, name: Text) {
        out.required()?;
        let name = name.name()?;
        let function = of(handle)?.function(name).inspect_err(|_| {
            log::say(Level::Warn, || format!("no kernel {} in the module", String::from_utf8_lossy(name)));
        })?;
        out.set(function.handle);
        Ok(())
    }

    Device Legal fn hipModuleGetFunctionCount(count: Out<u32>, handle: Handle) {
        let module = of(handle)?;
        count.required()?.set(module.kernels().len() as u32);
        Ok(())
    }

    Device Legal fn hipModuleGetGlobal(address: Out<u64>, size: Out<usize>, handle: Handle, name: Text) {
        let name = name.name()?;
        if address.is_null() && size.is_null() {
            return Err(Error::InvalidValue);
        }
        let module = of(handle)?;
        let (global, at) = module.global(name).map_err(|_| Error::NotFound)?;
        address.set(at);
        size.set(global.size as usize);
        Ok(())
    }
}
