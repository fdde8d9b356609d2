//! Memory and events shared between processes.

use capi::types::IpcHandle;
use driver::event;
use driver::memory::share;

use crate::abi::Out;
use crate::current::{self, Handle};
use crate::{Error, Result, api};

/// `hipIpcMemLazyEnablePeerAccess`, a required flag; up to HIP 5 its value is 0.
const PEER_ACCESS: u32 = 1;
const PEER_ACCESS_IN_5: u32 = 0;

fn open(out: Out<u64>, handle: &IpcHandle) -> Result<()> {
    out.set(share::open(&*current::context()?, &handle.name)?);
    Ok(())
}

api! {
    Context Legal fn hipIpcGetMemHandle(out: Out<IpcHandle>, address: u64) {
        out.required()?;
        out.set(IpcHandle { name: share::name(address)? });
        Ok(())
    }

    Context Unsafe fn hipIpcOpenMemHandle(out: Out<u64>, handle: IpcHandle, flags: u32) {
        if out.is_null() || flags != PEER_ACCESS {
            return Err(Error::InvalidValue);
        }
        open(out, &handle)
    }

    Context Unsafe fn hipIpcOpenMemHandle_in_5(out: Out<u64>, handle: IpcHandle, flags: u32) {
        if out.is_null() || flags != PEER_ACCESS_IN_5 {
            return Err(Error::InvalidValue);
        }
        open(out, &handle)
    }

    Context Unsafe fn hipIpcCloseMemHandle(address: u64) {
        Ok(share::close(address)?)
    }

    Context Legal fn hipIpcGetEventHandle(out: Out<IpcHandle>, handle: Handle) {
        if out.is_null() || handle == 0 {
            return Err(Error::InvalidValue);
        }
        out.set(IpcHandle { name: event::get(handle)?.name()? });
        Ok(())
    }

    Context Legal fn hipIpcOpenEventHandle(out: Out<Handle>, handle: IpcHandle) {
        out.required()?;
        out.set(event::open(&*current::context()?, &handle.name)?);
        Ok(())
    }
}
