//! Libraries and their kernels, which are independent of devices.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use capi::jit::{Jit, check_library_options};
use driver::handle::lock;
use driver::library::{self, Kernel, Library};
// `hipFunction_attribute` has the same numbers up to 9.
use driver::module::{Function, Report, attribute as number};

use crate::abi::{In, Out, Text};
use crate::current::{self, Handle};
use crate::{Error, Result, api, code};

use super::function::attribute_of;

/// Why the code of a library cannot run here. As in HIP, it is reported on first use.
static UNUSABLE: Mutex<BTreeMap<Handle, Error>> = Mutex::new(BTreeMap::new());

/// Makes a library of code, or of the reason why there is none.
fn load(out: Out<Handle>, bytes: code::Result<Vec<u8>>, jit: &Jit) -> Result<()> {
    let mut report = Report::default();
    let (bytes, reason) = match bytes {
        Ok(bytes) => (bytes, None),
        Err(refused) => (Vec::new(), Some(refused.tell(&mut report).into())),
    };
    let handle = library::load(bytes, code::options(&jit.options))?;
    if let Some(error) = reason {
        lock(&UNUSABLE).insert(handle, error);
    }
    jit.finish(&report);
    out.set(handle);
    Ok(())
}

/// The library of a handle, with code for the thread's device.
fn usable(handle: Handle) -> Result<Arc<Library>> {
    let library = library::get(handle)?;
    if let Some(error) = lock(&UNUSABLE).get(&handle) {
        return Err(*error);
    }
    library.check()?;
    Ok(library)
}

/// The kernel of a handle; an unknown one is an invalid handle.
fn of(handle: Handle) -> Result<Arc<Kernel>> {
    library::kernel(handle).map_err(|_| Error::InvalidHandle)
}

/// A kernel's function in the thread's context.
fn here(kernel: &Kernel) -> Result<Arc<Function>> {
    Ok(kernel.function(&current::driver_context()?)?)
}

/// A kernel's function on a device: in the thread's context if that is the device's, else in its primary one.
fn on(kernel: &Kernel, ordinal: i32) -> Result<Arc<Function>> {
    let device = current::device_at(ordinal)?;
    let context = current::context()?;
    let context = if context.device.ordinal == device.ordinal { context } else { current::primary(&device)? };
    Ok(kernel.function(&context)?)
}

/// Writes the address and size of a library's variable, which has to be managed if `managed` says so.
fn variable(address: Out<u64>, size: Out<usize>, handle: Handle, name: Text, managed: bool) -> Result<()> {
    let name = name.name()?;
    if address.is_null() && size.is_null() {
        return Err(Error::InvalidValue);
    }
    let module = usable(handle)?.module(&current::driver_context()?)?;
    let (global, at) = module.global(name).map_err(|_| Error::NotFound)?;
    if managed && !global.managed {
        return Err(Error::NotFound);
    }
    address.set(at);
    size.set(global.size as usize);
    Ok(())
}

api! {
    /// The options apply to PTX, as on NVIDIA.
    Device Unsafe fn hipLibraryLoadData(
        out: Out<Handle>, image: Text, options: In<u32>, values: Out<u64>, count: u32,
        library_options: In<u32>, library_values: Out<u64>, library_count: u32,
    ) {
        out.required()?;
        if image.address() == 0 {
            return Err(Error::InvalidValue);
        }
        let jit = Jit::read_hip(count, options, values)?;
        check_library_options(library_count, library_options, library_values)?;
        load(out, code::at(image).and_then(code::container), &jit)
    }

    /// A file that cannot be read is an invalid value.
    Device Unsafe fn hipLibraryLoadFromFile(
        out: Out<Handle>, file: Text, options: In<u32>, values: Out<u64>, count: u32,
        library_options: In<u32>, library_values: Out<u64>, library_count: u32,
    ) {
        out.required()?;
        let jit = Jit::read_hip(count, options, values)?;
        check_library_options(library_count, library_options, library_values)?;
        let bytes = capi::container::file(file).map_err(|_| Error::InvalidValue)?;
        load(out, code::container(&bytes), &jit)
    }

    Device Unsafe fn hipLibraryUnload(handle: Handle) {
        library::unload(handle)?;
        lock(&UNUSABLE).remove(&handle);
        Ok(())
    }

    Device Legal fn hipLibraryGetKernel(out: Out<Handle>, handle: Handle, name: Text) {
        out.required()?;
        let name = name.bytes()?;
        if handle == 0 {
            return Err(Error::InvalidValue);
        }
        out.set(usable(handle)?.kernel(name)?.handle);
        Ok(())
    }

    Device Legal fn hipLibraryGetKernelCount(count: Out<u32>, handle: Handle) {
        count.required()?;
        if handle == 0 {
            return Err(Error::InvalidValue);
        }
        count.set(usable(handle)?.kernels()?.len() as u32);
        Ok(())
    }

    Device Legal fn hipLibraryEnumerateKernels(kernels: Out<Handle>, room: u32, handle: Handle) {
        kernels.required()?;
        if handle == 0 {
            return Err(Error::InvalidValue);
        }
        for (i, kernel) in usable(handle)?.kernels()?.iter().take(room as usize).enumerate() {
            kernels.after(i).set(kernel.handle);
        }
        Ok(())
    }

    Driver Legal fn hipLibraryGetGlobal(address: Out<u64>, size: Out<usize>, handle: Handle, name: Text) {
        variable(address, size, handle, name, false)
    }

    Driver Legal fn hipLibraryGetManaged(address: Out<u64>, size: Out<usize>, handle: Handle, name: Text) {
        variable(address, size, handle, name, true)
    }

    Device Legal fn hipKernelGetLibrary(out: Out<Handle>, handle: Handle) {
        out.required()?;
        if handle == 0 {
            return Err(Error::InvalidValue);
        }
        out.set(of(handle)?.library);
        Ok(())
    }

    Device Legal fn hipKernelGetName(name: Out<u64>, handle: Handle) {
        name.required()?;
        if handle == 0 {
            return Err(Error::InvalidValue);
        }
        name.set(of(handle)?.name.as_ptr() as u64);
        Ok(())
    }

    Driver Legal fn hipKernelGetFunction(function: Out<Handle>, handle: Handle) {
        function.required()?;
        if handle == 0 {
            return Err(Error::InvalidValue);
        }
        function.set(here(&*of(handle)?)?.handle);
        Ok(())
    }

    Driver Legal fn hipKernelGetParamInfo(
        handle: Handle, index: usize, offset: Out<usize>, size: Out<usize>,
    ) {
        offset.required()?;
        if handle == 0 {
            return Err(Error::InvalidValue);
        }
        let kernel = of(handle).map_err(|_| Error::InvalidDeviceFunction)?;
        let function = here(&kernel)?;
        let param = function.info().params.get(index).ok_or(Error::InvalidValue)?;
        offset.set(param.offset as usize);
        size.set(param.size as usize);
        Ok(())
    }

    Context Legal fn hipKernelGetAttribute(value: Out<i32>, attribute: i32, handle: Handle, ordinal: i32) {
        value.required()?;
        let kernel = of(handle)?;
        value.set(attribute_of(&*on(&kernel, ordinal)?, attribute)?);
        Ok(())
    }

    /// Only the dynamic shared memory and the preferred carveout can be set.
    Context Legal fn hipKernelSetAttribute(attribute: i32, value: i32, handle: Handle, ordinal: i32) {
        if handle == 0 {
            return Err(Error::InvalidValue);
        }
        let kernel = of(handle).map_err(|_| Error::InvalidDeviceFunction)?;
        let function = on(&kernel, ordinal)?;
        match attribute {
            number::MAX_DYNAMIC_SHARED_SIZE | number::PREFERRED_CARVEOUT => {
                Ok(function.set_attribute(attribute, value)?)
            }
            _ => Err(Error::InvalidValue),
        }
    }
}
