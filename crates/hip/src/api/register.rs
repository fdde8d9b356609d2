//! Functions that hip-clang's generated code calls: registration at start-up, and both ways to launch.

use std::cell::RefCell;
use std::mem::ManuallyDrop;

use driver::context::Context;
use driver::log::{self, Level};
use driver::memory;
use driver::memory::rights::Rights;
use driver::memory::transfer::{Place, Transfer};

use crate::abi::{In, Out, Text, bytes_at};
use crate::code::WRAPPER_MAGIC;
use crate::current::{self, Handle};
use crate::{Error, Result, api, registered};

use super::launch::{Dim3, hipModuleLaunchKernel};

/// The wrapper around a fat binary (`.hipFatBinSegment`).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Wrapper {
    pub magic: u32,
    pub version: u32,
    pub binary: u64,
    pub unused: u64,
}

/// Logs an error that the interface cannot return.
fn said(what: &str, name: Text, result: Result<()>) {
    if let Err(error) = result {
        let text = crate::error::text(error.code()).trim_end_matches('\0');
        log::say(Level::Error, || format!("{what} {name:?}: {text}"));
    }
}

/// Runs a body and stops its panic at the C boundary.
fn guarded<T>(otherwise: T, body: impl FnOnce() -> T + std::panic::UnwindSafe) -> T {
    std::panic::catch_unwind(body).unwrap_or(otherwise)
}

/// `__hipRegisterFatBinary`: null if the argument is not a wrapper.
pub extern "C" fn __hipRegisterFatBinary(wrapper: In<Wrapper>) -> u64 {
    guarded(0, || match wrapper.get() {
        Ok(Wrapper { magic: WRAPPER_MAGIC, version: 1, binary, .. }) if binary != 0 => {
            registered::binary(binary)
        }
        _ => {
            log::say(Level::Error, || format!("__hipRegisterFatBinary: no fat binary at {wrapper:?}"));
            0
        }
    })
}

/// `__hipRegisterFunction`. The pointers after the thread limit are unused.
#[allow(clippy::too_many_arguments)]
pub extern "C" fn __hipRegisterFunction(
    handle: u64,
    host: u64,
    _device_function: u64,
    name: Text,
    _limit: u32,
    _thread: u64,
    _block: u64,
    _block_size: u64,
    _grid_size: u64,
    _warp_size: u64,
) {
    guarded((), || said("kernel", name, registered::function(handle, host, name)));
}

/// `__hipRegisterVar`.
#[allow(clippy::too_many_arguments)]
pub extern "C" fn __hipRegisterVar(
    handle: u64,
    host: u64,
    _host_name: u64,
    name: Text,
    _external: i32,
    _size: usize,
    _constant: i32,
    _global: i32,
) {
    guarded((), || said("variable", name, registered::variable(handle, host, name)));
}

/// `__hipRegisterTexture`.
pub extern "C" fn __hipRegisterTexture(
    handle: u64,
    host: u64,
    _host_name: u64,
    name: Text,
    _kind: i32,
    _normalised: i32,
    _external: i32,
) {
    guarded((), || said("texture", name, registered::variable(handle, host, name)));
}

/// `__hipRegisterSurface`.
pub extern "C" fn __hipRegisterSurface(
    handle: u64,
    host: u64,
    _host_name: u64,
    name: Text,
    _kind: i32,
    _external: i32,
) {
    guarded((), || said("surface", name, registered::variable(handle, host, name)));
}

/// Allocates managed memory and copies an initial value to it.
fn managed_memory(context: &std::sync::Arc<Context>, size: usize, first: u64) -> Result<u64> {
    let address = memory::alloc_managed(context, size as u64, memory::managed::attach::GLOBAL)?;
    if first != 0 {
        let transfer = Transfer::line(Place::Device(address), Place::Host(first), size as u64);
        // SAFETY: the initial value lies in the program's data, and the copy is synchronous.
        unsafe { transfer.run(|| Ok::<_, Error>(context.legacy()), true, Rights::Ignored) }?;
    }
    Ok(address)
}

/// `__hipRegisterManagedVar`: allocates the variable's memory at once, since host code uses it like any
/// other.
pub extern "C" fn __hipRegisterManagedVar(
    handle: u64,
    pointer: Out<u64>,
    first: u64,
    name: Text,
    size: usize,
    _align: u32,
) {
    let register = || -> Result<()> {
        let device = current::device()?;
        let memory = managed_memory(&current::primary(&device)?, size, first)?;
        pointer.required()?.set(memory);
        registered::managed(handle, pointer.address(), memory, name)
    };
    guarded((), || said("managed variable", name, register()));
}

/// `__hipUnregisterFatBinary`.
pub extern "C" fn __hipUnregisterFatBinary(handle: u64) {
    guarded((), || {
        // At process exit no work is left to wait for.
        if let Ok(context) = current::driver().and_then(|_| current::context()) {
            let _ = context.synchronize();
        }
        if registered::remove(handle).is_err() {
            log::say(Level::Warn, || format!("__hipUnregisterFatBinary: {handle:#x} is not registered"));
        }
    });
}

/// A launch that is being set up.
#[derive(Clone, Debug, Default)]
struct Call {
    grid: Dim3,
    block: Dim3,
    shared: usize,
    stream: Handle,
    arguments: Vec<u8>,
}

/// An upper bound of a kernel's arguments in bytes.
const MAX_ARGUMENTS: usize = 1 << 20;

thread_local! {
    // Without a destructor: handlers of `atexit` launch kernels after the first thread's have run.
    static CALLS: RefCell<ManuallyDrop<Vec<Call>>> = const { RefCell::new(ManuallyDrop::new(Vec::new())) };
}

fn push(grid: Dim3, block: Dim3, shared: usize, stream: Handle) {
    if CALLS.with_borrow(|calls| calls.capacity() == 0) {
        host::threads::at_end(|| drop(CALLS.with_borrow_mut(|calls| std::mem::take(&mut **calls))));
    }
    CALLS.with_borrow_mut(|calls| calls.push(Call { grid, block, shared, stream, arguments: Vec::new() }));
}

fn pop() -> Result<Call> {
    CALLS.with_borrow_mut(|calls| calls.pop()).ok_or(Error::MissingConfiguration)
}

api! {
    Device Legal fn hipConfigureCall(grid: Dim3, block: Dim3, shared: usize, stream: Handle) {
        push(grid, block, shared, stream);
        Ok(())
    }

    Device Legal fn __hipPushCallConfiguration(grid: Dim3, block: Dim3, shared: usize, stream: Handle) {
        push(grid, block, shared, stream);
        Ok(())
    }

    Device Legal fn __hipPopCallConfiguration(
        grid: Out<Dim3>, block: Out<Dim3>, shared: Out<usize>, stream: Out<Handle>,
    ) {
        let call = pop()?;
        grid.set(call.grid);
        block.set(call.block);
        shared.set(call.shared);
        stream.set(call.stream);
        Ok(())
    }

    Device Legal fn hipSetupArgument(from: u64, size: usize, offset: usize) {
        let end = offset.checked_add(size).filter(|n| *n <= MAX_ARGUMENTS).ok_or(Error::InvalidValue)?;
        if from == 0 {
            return Err(Error::InvalidValue);
        }
        CALLS.with_borrow_mut(|calls| {
            let call = calls.last_mut().ok_or(Error::MissingConfiguration)?;
            if call.arguments.len() < end {
                call.arguments.resize(end, 0);
            }
            if let Some(to) = call.arguments.get_mut(offset..end) {
                to.copy_from_slice(bytes_at(from, size));
            }
            Ok(())
        })
    }

    Context Appends fn hipLaunchByPtr(host: u64) {
        let mut call = pop()?;
        let context = current::stream(call.stream, false).map_err(|_| Error::InvalidValue)?.context()?;
        let function = registered::function_of(host, &context).map_err(|_| Error::InvalidDeviceFunction)?;
        // Missing arguments are zero, so that nothing beyond the buffer is read.
        call.arguments.resize(call.arguments.len().max(function.info().param_size as usize), 0);
        let size = call.arguments.len();
        let extra = [1, call.arguments.as_ptr() as u64, 2, &raw const size as u64, 3];
        let (g, b) = (call.grid, call.block);
        let shared = u32::try_from(call.shared).map_err(|_| Error::InvalidValue)?;
        let code = hipModuleLaunchKernel(
            function.handle, g.x, g.y, g.z, b.x, b.y, b.z, shared, call.stream, In::at_address(0),
            In::at_address(extra.as_ptr() as u64),
        );
        Error::from_code(code).map_or(Ok(()), Err)
    }
}
