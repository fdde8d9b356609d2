//! Functions that nvcc's generated code calls: registration at start-up, and both ways to launch.

use std::cell::RefCell;
use std::mem::ManuallyDrop;

use driver::log::{self, Level};

use super::launch::launch;
use super::stream::stream_of;
use crate::abi::{In, Out, Text};
use crate::types::Dim3;
use crate::{Error, Result, abi, api, error, registered};

/// The magic of the wrapper around a fat binary (`.nvFatBinSegment`).
const WRAPPER_MAGIC: u32 = 0x4662_43b1;

/// Logs an error that the interface cannot return.
fn said(what: &str, name: Text, result: Result<()>) {
    if let Err(error) = result {
        let text = error::text(error.0).to_string_lossy();
        log::say(Level::Error, || format!("{what} {name:?} cannot be registered: {text}"));
    }
}

/// Runs a body and stops its panic at the C boundary.
fn guarded<T>(otherwise: T, body: impl FnOnce() -> T + std::panic::UnwindSafe) -> T {
    std::panic::catch_unwind(body).unwrap_or(otherwise)
}

/// `__cudaRegisterFatBinary`: null if the argument is not a wrapper.
pub extern "C" fn __cudaRegisterFatBinary(wrapper: In<u32>) -> u64 {
    guarded(0, || {
        if wrapper.get() == Ok(WRAPPER_MAGIC) {
            return registered::binary(wrapper.address());
        }
        log::say(Level::Error, || format!("__cudaRegisterFatBinary: no fat binary at {wrapper:?}"));
        0
    })
}

/// `__cudaRegisterFatBinaryEnd`.
pub extern "C" fn __cudaRegisterFatBinaryEnd(handle: u64) {
    guarded((), || registered::complete(handle));
}

/// `__cudaUnregisterFatBinary`.
pub extern "C" fn __cudaUnregisterFatBinary(handle: u64) {
    guarded((), || {
        registered::settle();
        if registered::remove(handle).is_err() {
            log::say(Level::Warn, || format!("__cudaUnregisterFatBinary: {handle:#x} is not registered"));
        }
    });
}

/// `__cudaInitModule`: sets the host's pointers to managed variables.
pub extern "C" fn __cudaInitModule(handle: u64) -> u8 {
    guarded(0, || match registered::load(handle) {
        Ok(()) => 1,
        Err(error) => {
            let text = error::text(error.0).to_string_lossy();
            let file = registered::file(handle);
            log::say(Level::Error, || format!("the device code in {file} cannot be loaded: {text}"));
            0
        }
    })
}

/// `__cudaRegisterFunction`. The pointers after the thread limit are unused.
#[allow(clippy::too_many_arguments)]
pub extern "C" fn __cudaRegisterFunction(
    handle: u64,
    host: u64,
    _device_function: u64,
    name: Text,
    _limit: i32,
    _thread: u64,
    _block: u64,
    _block_size: u64,
    _grid_size: u64,
    _warp_size: u64,
) {
    guarded((), || said("kernel", name, registered::function(handle, host, name)));
}

/// `__cudaRegisterVar`.
#[allow(clippy::too_many_arguments)]
pub extern "C" fn __cudaRegisterVar(
    handle: u64,
    host: u64,
    _device_address: u64,
    name: Text,
    _external: i32,
    _size: usize,
    _constant: i32,
    _global: i32,
) {
    guarded((), || said("variable", name, registered::variable(handle, host, name)));
}

/// `__cudaRegisterManagedVar`.
#[allow(clippy::too_many_arguments)]
pub extern "C" fn __cudaRegisterManagedVar(
    handle: u64,
    pointer: u64,
    _device_address: u64,
    name: Text,
    _external: i32,
    _size: usize,
    _constant: i32,
    _global: i32,
) {
    guarded((), || said("managed variable", name, registered::managed(handle, pointer, name)));
}

/// `__cudaRegisterHostVar`.
pub extern "C" fn __cudaRegisterHostVar(handle: u64, name: Text, host: u64, _size: usize) {
    guarded((), || said("variable", name, registered::variable(handle, host, name)));
}

/// `__cudaRegisterUnifiedTable`: device code calls no host functions.
pub extern "C" fn __cudaRegisterUnifiedTable(_handle: u64, _table: u64) {}

/// `__cudaRegisterTexture`.
pub extern "C" fn __cudaRegisterTexture(
    handle: u64,
    host: u64,
    _device_address: u64,
    name: Text,
    _dimensions: i32,
    _normalised: i32,
    _external: i32,
) {
    guarded((), || said("texture", name, registered::variable(handle, host, name)));
}

/// `__cudaRegisterSurface`.
pub extern "C" fn __cudaRegisterSurface(
    handle: u64,
    host: u64,
    _device_address: u64,
    name: Text,
    _dimensions: i32,
    _external: i32,
) {
    guarded((), || said("surface", name, registered::variable(handle, host, name)));
}

/// A launch between its `<<<>>>` and the call of its stub.
type Call = (Dim3, Dim3, usize, u64);

thread_local! {
    // Without a destructor: handlers of `atexit` launch kernels after the first thread's have run.
    static CALLS: RefCell<ManuallyDrop<Vec<Call>>> = const { RefCell::new(ManuallyDrop::new(Vec::new())) };
}

fn with_calls<T>(f: impl FnOnce(&mut Vec<Call>) -> T) -> Result<T, Error> {
    CALLS.try_with(|calls| f(&mut calls.borrow_mut())).map_err(|_| Error::CUDART_UNLOADING)
}

/// `__cudaPushCallConfiguration`: 0, so that the stub is called.
pub extern "C" fn __cudaPushCallConfiguration(grid: Dim3, block: Dim3, shared: usize, stream: u64) -> u32 {
    guarded(error::Error::UNKNOWN.0, || {
        if with_calls(|calls| calls.capacity() == 0) == Ok(true) {
            host::threads::at_end(|| drop(with_calls(std::mem::take)));
        }
        let Err(error) = with_calls(|calls| calls.push((grid, block, shared, stream))) else { return 0 };
        abi::replace_last_error(error.0);
        error.0
    })
}

api! {
    Nothing Inherits fn __cudaPopCallConfiguration(
        grid: Out<Dim3>, block: Out<Dim3>, shared: Out<usize>, stream: Out<u64>,
    ) {
        let call = with_calls(Vec::pop)?;
        let call = call.ok_or(Error::MISSING_CONFIGURATION)?;
        grid.set(call.0);
        block.set(call.1);
        shared.set(call.2);
        stream.set(call.3);
        Ok(())
    }

    Context Inherits fn __cudaGetKernel(kernel: Out<u64>, host: u64) {
        // nvcc's launch code asks once and keeps what it gets, so a kernel that cannot be had now is named by
        // its stub: each launch looks for it again and gives the reason (recorded on an H200).
        let kernel = kernel.required()?;
        let found = registered::kernel_of(host);
        match found {
            Ok(handle) => kernel.set(handle),
            Err(_) if registered::is_function(host) => kernel.set(host),
            Err(_) => {}
        }
        found.map(|_| ())
    }

    Context Inherits fn __cudaLaunchKernel / __cudaLaunchKernel_ptsz (
        kernel: u64, grid: Dim3, block: Dim3, params: u64, shared: usize, stream: u64,
    ) |own| {
        launch(kernel, grid, block, params, shared, stream_of(stream, own))
    }
}
