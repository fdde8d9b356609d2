//! Functions for hardware that a virtual device does not have. They check their arguments, then refuse valid
//! calls and log the function's name.

use driver::{Error, Result};

use crate::abi::{Out, unsupported};
use crate::api;
use crate::types::Handle;

/// Refuses a valid call; logs the function's name.
fn refuse(name: &'static str) -> Result<()> {
    unsupported(name);
    Err(Error::NotSupported)
}

/// [`Error::InvalidValue`] for null, else refuses the call.
fn refuse_all_but_null(name: &'static str, argument: u64) -> Result<()> {
    if argument == 0 { Err(Error::InvalidValue) } else { refuse(name) }
}

/// There are no graphics resources, so every handle in a list of some is invalid.
fn no_resources(count: u32, list: u64) -> Result<()> {
    Err(if count == 0 || list == 0 { Error::InvalidValue } else { Error::InvalidHandle })
}

/// `CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD`.
const DMA_BUF: u32 = 1;
/// `CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX`, and the two scopes of a flush.
const CURRENT_CONTEXT: u32 = 0;
const TO_OWNER: u32 = 100;
const TO_ALL_DEVICES: u32 = 200;

api! {
    Context Invalidates fn cuGraphicsMapResources / cuGraphicsMapResources_ptsz (
        count: u32, resources: u64, _stream: Handle,
    ) {
        no_resources(count, resources)
    }

    Context Invalidates fn cuGraphicsUnmapResources / cuGraphicsUnmapResources_ptsz (
        count: u32, resources: u64, _stream: Handle,
    ) {
        no_resources(count, resources)
    }

    /// There are no graphics resources, so every handle is invalid.
    Context Legal fn cuGraphicsUnregisterResource(_resource: Handle) {
        Err(Error::InvalidHandle)
    }

    Context Legal fn cuMemGetHandleForAddressRange(
        out: Out<u64>, _address: u64, size: usize, kind: u32, _flags: u64,
    ) {
        out.required()?;
        if kind != DMA_BUF {
            return Err(Error::InvalidValue);
        }
        refuse_all_but_null("cuMemGetHandleForAddressRange", size as u64)
    }

    /// There are no remote writes to flush.
    Context Legal fn cuFlushGPUDirectRDMAWrites(target: u32, scope: u32) {
        let known = target == CURRENT_CONTEXT && matches!(scope, TO_OWNER | TO_ALL_DEVICES);
        if known { Ok(()) } else { Err(Error::InvalidValue) }
    }
}
