//! Device memory and page-locked host memory.

use driver::history::explain;
use driver::memory;
use driver::{Error, Result};

use crate::abi::Out;
use crate::api;
use crate::api::current;
use crate::types::CUdeviceptr;

fn alloc_host(out: Out<u64>, size: u64, flags: u32) -> Result<()> {
    out.required()?;
    out.set(memory::alloc_host(&*current()?, size, flags)?);
    Ok(())
}

fn register(address: u64, size: usize, flags: u32) -> Result<()> {
    memory::register_host(&*current()?, address, size as u64, flags)
}

api! {
    Context Legal fn cuMemGetInfo_v2(free: Out<usize>, total: Out<usize>) {
        let (f, t) = memory::info(&current()?.device);
        free.set(f as usize);
        total.set(t as usize);
        Ok(())
    }

    Context Unsafe fn cuMemAlloc_v2(out: Out<CUdeviceptr>, size: usize) {
        out.required().inspect_err(|_| explain("no place for the address: the first argument is null"))?;
        if size == 0 {
            explain("an allocation has at least 1 byte, not 0");
        }
        out.set(memory::alloc(&*current()?, size as u64)?);
        Ok(())
    }

    Context Unsafe fn cuMemAllocPitch_v2(
        out: Out<CUdeviceptr>, pitch: Out<usize>, width: usize, height: usize, element: u32,
    ) {
        if out.is_null() || pitch.is_null() {
            return Err(Error::InvalidValue);
        }
        let (address, bytes) = memory::alloc_pitch(&*current()?, width as u64, height as u64, element)?;
        out.set(address);
        pitch.set(bytes as usize);
        Ok(())
    }

    /// A current context is not required.
    Live Unsafe fn cuMemFree_v2(address: CUdeviceptr) {
        memory::free(address)
    }

    Live Legal fn cuMemGetAddressRange_v2(base: Out<CUdeviceptr>, size: Out<usize>, address: CUdeviceptr) {
        let allocation = memory::find(address).ok_or(Error::NotFound)?;
        base.set(allocation.base);
        size.set(allocation.size as usize);
        Ok(())
    }

    Context Unsafe fn cuMemAllocHost(out: Out<u64>, size: u32) {
        alloc_host(out, u64::from(size), 0)
    }

    Context Unsafe fn cuMemAllocHost_v2(out: Out<u64>, size: usize) {
        alloc_host(out, size as u64, 0)
    }

    Context Unsafe fn cuMemHostAlloc(out: Out<u64>, size: usize, flags: u32) {
        alloc_host(out, size as u64, flags)
    }

    Live Unsafe fn cuMemFreeHost(address: u64) {
        memory::free_host(address)
    }

    Context Unsafe fn cuMemHostRegister / cuMemHostRegister_v2 (address: u64, size: usize, flags: u32) {
        register(address, size, flags)
    }

    Context Unsafe fn cuMemHostUnregister(address: u64) {
        memory::unregister_host(address)
    }

    Context Legal fn cuMemHostGetDevicePointer_v2(out: Out<CUdeviceptr>, address: u64, flags: u32) {
        out.required()?;
        memory::find(address).filter(|a| a.on_host() && flags == 0).ok_or(Error::InvalidValue)?;
        out.set(address);
        Ok(())
    }

    Context Legal fn cuMemHostGetFlags(flags: Out<u32>, address: u64) {
        flags.required()?;
        flags.set(memory::find(address).filter(|a| a.on_host()).ok_or(Error::InvalidValue)?.flags);
        Ok(())
    }
}
