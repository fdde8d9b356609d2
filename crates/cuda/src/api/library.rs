//! Libraries and their kernels, which are independent of contexts.

use std::sync::Arc;

use driver::library::{self, Kernel, Library};
use driver::module::Function;
use driver::{Error, Result, context, driver};

use crate::abi::{In, Out, Text};
use crate::api;
use crate::api::current;
use crate::api::function::{MAX_CACHE_CONFIG, give_param};
use crate::api::module::give_global;
use crate::types::{CUdevice, CUdeviceptr, Handle};
use capi::container;
use capi::jit::{Jit, check_library_options};

/// Reads a library's options. The library is compiled later, on first use.
fn read(
    count: u32,
    options: In<u32>,
    values: Out<u64>,
    library_options: In<u32>,
    library_values: Out<u64>,
    library_count: u32,
) -> Result<Jit> {
    let jit = Jit::read(count, options, values)?;
    check_library_options(library_count, library_options, library_values)?;
    Ok(jit)
}

fn make(out: Out<Handle>, bytes: Vec<u8>, jit: &Jit) -> Result<()> {
    out.set(library::load(bytes, jit.options.clone())?);
    jit.finish(&driver::module::Report::default());
    Ok(())
}

fn of(handle: Handle) -> Result<Arc<Library>> {
    library::get(handle)
}

/// A kernel's function on a device: in the calling thread's current context, or else in the primary context.
fn on(kernel: &Kernel, device: CUdevice) -> Result<Arc<Function>> {
    let device = driver()?.device(device)?;
    match context::current() {
        Some(context) if context.device.ordinal == device.ordinal => kernel.function(&context),
        _ => kernel.function(&context::primary(device).ok_or(Error::InvalidContext)?),
    }
}

api! {
    Init Legal fn cuLibraryLoadData(
        out: Out<Handle>, image: Text, options: In<u32>, values: Out<u64>, count: u32,
        library_options: In<u32>, library_values: Out<u64>, library_count: u32,
    ) {
        out.required()?;
        if image.address() == 0 {
            return Err(Error::InvalidValue);
        }
        let jit = read(count, options, values, library_options, library_values, library_count)?;
        // An invalid image is reported on first use.
        make(out, container::at(image).map(<[u8]>::to_vec).unwrap_or_default(), &jit)
    }

    Init Legal fn cuLibraryLoadFromFile(
        out: Out<Handle>, file: Text, options: In<u32>, values: Out<u64>, count: u32,
        library_options: In<u32>, library_values: Out<u64>, library_count: u32,
    ) {
        out.required()?;
        let jit = read(count, options, values, library_options, library_values, library_count)?;
        make(out, container::file(file)?, &jit)
    }

    Init Unsafe fn cuLibraryUnload(handle: Handle) {
        library::unload(handle)
    }

    /// An unloaded library reports a missing kernel rather than an invalid handle, as on the hardware.
    Init Legal fn cuLibraryGetKernel(out: Out<Handle>, handle: Handle, name: Text) {
        let library = of(handle).map_err(|error| if handle == 0 { error } else { Error::NotFound })?;
        let name = name.name()?;
        out.required()?;
        out.set(library.kernel(name)?.handle);
        Ok(())
    }

    Init Legal fn cuLibraryGetKernelCount(count: Out<u32>, handle: Handle) {
        let library = of(handle)?;
        count.required()?.set(library.kernels()?.len() as u32);
        Ok(())
    }

    Init Legal fn cuLibraryEnumerateKernels(kernels: Out<Handle>, room: u32, handle: Handle) {
        let library = of(handle)?;
        kernels.required()?;
        for (i, kernel) in library.kernels()?.iter().take(room as usize).enumerate() {
            kernels.after(i).set(kernel.handle);
        }
        Ok(())
    }

    Init Legal fn cuLibraryGetModule(module: Out<Handle>, handle: Handle) {
        let library = of(handle)?;
        module.required()?;
        module.set(library.module(&current()?)?.handle);
        Ok(())
    }

    Init Legal fn cuLibraryGetGlobal(
        address: Out<CUdeviceptr>, size: Out<usize>, handle: Handle, name: Text,
    ) {
        let library = of(handle)?;
        give_global(&*library.module(&current()?)?, name, address, size)
    }

    Init Legal fn cuLibraryGetManaged(
        address: Out<CUdeviceptr>, size: Out<usize>, handle: Handle, name: Text,
    ) {
        let library = of(handle)?;
        let module = library.module(&current()?)?;
        if !module.global(name.name()?).is_ok_and(|(global, _)| global.managed) {
            return Err(Error::NotFound);
        }
        give_global(&module, name, address, size)
    }

    /// No function has a host address.
    Init Legal fn cuLibraryGetUnifiedFunction(_out: Out<u64>, handle: Handle, name: Text) {
        of(handle)?;
        name.name()?;
        Err(Error::InvalidValue)
    }

    Context Legal fn cuKernelGetFunction(function: Out<Handle>, handle: Handle) {
        let kernel = library::kernel(handle)?;
        function.required()?;
        function.set(kernel.function(&current()?)?.handle);
        Ok(())
    }

    Init Legal fn cuKernelGetLibrary(out: Out<Handle>, handle: Handle) {
        let kernel = library::kernel(handle)?;
        out.required()?.set(kernel.library);
        Ok(())
    }

    Init Legal fn cuKernelGetName(name: Out<u64>, handle: Handle) {
        if handle == 0 {
            return Err(Error::InvalidValue);
        }
        let kernel = library::kernel(handle)?;
        name.required()?.set(kernel.name.as_ptr() as u64);
        Ok(())
    }

    Init Legal fn cuKernelGetParamCount(handle: Handle, count: Out<usize>) {
        if handle == 0 {
            return Err(Error::InvalidValue);
        }
        let kernel = library::kernel(handle)?;
        count.required()?;
        count.set(kernel.function(&current()?)?.info().params.len());
        Ok(())
    }

    Init Legal fn cuKernelGetParamInfo(handle: Handle, index: usize, offset: Out<usize>, size: Out<usize>) {
        if handle == 0 {
            return Err(Error::InvalidValue);
        }
        let kernel = library::kernel(handle)?;
        give_param(&*kernel.function(&current()?)?, index, offset, size)
    }

    Init Legal fn cuKernelGetAttribute(value: Out<i32>, attribute: i32, handle: Handle, device: CUdevice) {
        let kernel = library::kernel(handle)?;
        value.required()?;
        let own = match (on(&kernel, device), context::current()) {
            // The device has no context. All devices are alike, so the kernel is the current one's, with what
            // was not set there. NVIDIA's tests of cuda-core expect an answer.
            (Err(Error::InvalidContext), Some(current)) => {
                kernel.function(&current)?.initial_attribute(attribute)?
            }
            (function, _) => function?.attribute(attribute)?,
        };
        value.set(own);
        Ok(())
    }

    Init Legal fn cuKernelSetAttribute(attribute: i32, value: i32, handle: Handle, device: CUdevice) {
        let kernel = library::kernel(handle)?;
        on(&kernel, device)?.set_attribute(attribute, value)
    }

    /// There is no cache to configure; only the arguments are checked.
    Init Legal fn cuKernelSetCacheConfig(handle: Handle, config: u32, device: CUdevice) {
        library::kernel(handle)?;
        driver()?.device(device)?;
        if config > MAX_CACHE_CONFIG { Err(Error::InvalidValue) } else { Ok(()) }
    }
}
