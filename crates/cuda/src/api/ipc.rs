//! Memory and events shared between processes.

use driver::memory::share;
use driver::{Error, Result, event};

use crate::abi::Out;
use crate::api;
use crate::api::current;
use crate::types::{CUdeviceptr, Handle, IpcHandle};

/// `CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS`, a required flag.
const PEER_ACCESS: u32 = 1;

fn open_memory(out: Out<CUdeviceptr>, handle: &IpcHandle, flags: u32) -> Result<()> {
    out.required()?;
    if flags != PEER_ACCESS {
        return Err(Error::InvalidValue);
    }
    out.set(share::open(&*current()?, &handle.name)?);
    Ok(())
}

api! {
    Context Legal fn cuIpcGetMemHandle(out: Out<IpcHandle>, address: CUdeviceptr) {
        out.required()?;
        out.set(IpcHandle { name: share::name(address)? });
        Ok(())
    }

    Context Unsafe fn cuIpcOpenMemHandle / cuIpcOpenMemHandle_v2 (
        out: Out<CUdeviceptr>, handle: IpcHandle, flags: u32,
    ) {
        open_memory(out, &handle, flags)
    }

    Context Unsafe fn cuIpcCloseMemHandle(address: CUdeviceptr) {
        share::close(address)
    }

    Object Legal fn cuIpcGetEventHandle(out: Out<IpcHandle>, handle: Handle) {
        out.required()?;
        if handle == 0 {
            return Err(Error::InvalidValue);
        }
        out.set(IpcHandle { name: event::get(handle)?.name()? });
        Ok(())
    }

    Context Legal fn cuIpcOpenEventHandle(out: Out<Handle>, handle: IpcHandle) {
        out.required()?;
        out.set(event::open(&*current()?, &handle.name)?);
        Ok(())
    }
}
