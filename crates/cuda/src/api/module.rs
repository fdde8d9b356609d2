//! Modules.

use std::sync::Arc;

use driver::history::explain;
use driver::module::{self, Module, NO_IMAGE, Report};
use driver::{Error, ModuleLoading, Result};

use crate::abi::{In, Need, Out, Text, check};
use crate::api;
use crate::api::current;
use crate::types::{CUdeviceptr, Handle};
use capi::container;
use capi::jit::Jit;

/// `CUmoduleLoadingMode`.
const EAGER_LOADING: u32 = 1;
const LAZY_LOADING: u32 = 2;

fn load(out: Out<Handle>, bytes: Result<&[u8]>, jit: &Jit) -> Result<()> {
    let context = current()?;
    let mut report = Report::default();
    let bytes = bytes.inspect_err(|_| report.errors = NO_IMAGE.into());
    let loaded = bytes.and_then(|bytes| {
        jit.check_target(&context.device)?;
        module::load(&context, bytes, &jit.options, &mut report)
    });
    jit.finish(&report);
    if loaded.is_err() {
        let (major, minor) = context.device.info.compute_capability;
        explain(&format!("no code was loaded for capability {major}.{minor}; the JIT's error log says more"));
    }
    out.set(loaded?.handle);
    Ok(())
}

/// The module of a handle. Handles are checked before contexts.
fn of(handle: Handle) -> Result<Arc<Module>> {
    let module = module::get(handle).inspect_err(|_| explain("the module's handle is none"))?;
    check(Need::Object)?;
    module.context.check()?;
    Ok(module)
}

/// Writes a variable's address and size.
pub(crate) fn give_global(
    module: &Module,
    name: Text,
    address: Out<CUdeviceptr>,
    size: Out<usize>,
) -> Result<()> {
    let name = name.name()?;
    if address.is_null() && size.is_null() {
        return Err(Error::InvalidValue);
    }
    let (global, at) = module.global(name)?;
    address.set(at);
    size.set(global.size as usize);
    Ok(())
}

fn reference(out: Out<Handle>, handle: Handle, name: Text, surface: bool) -> Result<()> {
    let module = of(handle)?;
    let name = name.name()?;
    out.required()?.set(module.reference(name, surface)?);
    Ok(())
}

api! {
    Context Legal fn cuModuleLoad(out: Out<Handle>, file: Text) {
        out.required()?;
        let bytes = container::file(file)?;
        load(out, Ok(&bytes), &Jit::default())
    }

    Context Legal fn cuModuleLoadData(out: Out<Handle>, image: Text) {
        out.required()?;
        if image.address() == 0 {
            return Err(Error::InvalidValue);
        }
        load(out, container::at(image), &Jit::default())
    }

    Context Legal fn cuModuleLoadDataEx(
        out: Out<Handle>, image: Text, count: u32, options: In<u32>, values: Out<u64>,
    ) {
        out.required()?;
        if image.address() == 0 {
            return Err(Error::InvalidValue);
        }
        let jit = Jit::read(count, options, values)?;
        load(out, container::at(image), &jit)
    }

    Context Legal fn cuModuleLoadFatBinary(out: Out<Handle>, image: Text) {
        out.required()?;
        if image.address() == 0 {
            return Err(Error::InvalidValue);
        }
        load(out, container::at(image), &Jit::default())
    }

    Init Unsafe fn cuModuleUnload(handle: Handle) {
        of(handle)?;
        module::unload(handle)
    }

    Init Legal fn cuModuleGetLoadingMode(mode: Out<u32>) {
        let eager = driver::driver()?.options.module_loading == ModuleLoading::Eager;
        mode.required()?.set(if eager { EAGER_LOADING } else { LAZY_LOADING });
        Ok(())
    }

    Init Legal fn cuModuleGetFunction(out: Out<Handle>, handle: Handle, name: Text) {
        let module = of(handle)?;
        let name = name.name()?;
        out.required()?;
        out.set(module.function(name)?.handle);
        Ok(())
    }

    Init Legal fn cuModuleGetFunctionCount(count: Out<u32>, handle: Handle) {
        let module = of(handle)?;
        count.required()?.set(module.kernels().len() as u32);
        Ok(())
    }

    Init Legal fn cuModuleEnumerateFunctions(functions: Out<Handle>, room: u32, handle: Handle) {
        let module = of(handle)?;
        functions.required()?;
        for i in 0..module.kernels().len().min(room as usize) {
            functions.after(i).set(module.function_at(i)?.handle);
        }
        Ok(())
    }

    Init Legal fn cuModuleGetGlobal / cuModuleGetGlobal_v2 (
        address: Out<CUdeviceptr>, size: Out<usize>, handle: Handle, name: Text,
    ) {
        give_global(&*of(handle)?, name, address, size)
    }

    Init Legal fn cuModuleGetTexRef(out: Out<Handle>, handle: Handle, name: Text) {
        reference(out, handle, name, false)
    }

    Init Legal fn cuModuleGetSurfRef(out: Out<Handle>, handle: Handle, name: Text) {
        reference(out, handle, name, true)
    }
}
