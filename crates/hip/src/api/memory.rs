//! Device memory and page-locked host memory.
//!
//! Both of HIP's free functions free memory of any kind. Queries report HIP's own flags.

use driver::memory::{self, Kind, host_flag};

use crate::abi::Out;
use crate::types::{Extent, PitchedPointer};
use crate::{Error, Result, api, current};

/// `hipMallocSignalMemory`: eight bytes that streams can wait for.
const SIGNAL: u32 = 2;
/// `hipDeviceMallocContiguous`, the highest flag of device memory.
const LAST_DEVICE_FLAG: u32 = 4;
/// `hipHostMallocCoherent` and `hipHostMallocNonCoherent`, which exclude each other.
const COHERENCE: u32 = 0xc000_0000;
/// The valid flags of `hipHostAlloc`: portable, mapped, write-combined.
const ALLOC_FLAGS: u32 = 7;
/// The highest value of the flags of registered memory.
const REGISTER_FLAGS: u32 = 15;

fn alloc(out: Out<u64>, size: usize, flags: u32) -> Result<()> {
    out.required()?;
    out.set(if size == 0 { 0 } else { memory::alloc_flagged(&*current::context()?, size as u64, flags)? });
    Ok(())
}

fn alloc_host(out: Out<u64>, size: usize, flags: u32) -> Result<()> {
    out.required()?;
    if flags & COHERENCE == COHERENCE {
        return Err(Error::InvalidValue);
    }
    out.set(memory::alloc_host_flagged(&*current::context()?, size as u64, flags)?);
    Ok(())
}

/// Frees an allocation of any kind.
fn free(address: u64) -> Result<()> {
    match memory::find(address).map(|a| a.kind) {
        Some(Kind::Host) => Ok(memory::free_host(address)?),
        _ => Ok(memory::free(address)?),
    }
}

/// Allocates pitched memory; returns its address and pitch. Without rows: null, and no pitch.
fn alloc_rows(width: usize, height: usize, depth: usize) -> Result<(u64, Option<u64>)> {
    if width == 0 || height == 0 || depth == 0 {
        return Ok((0, None));
    }
    let rows = (height as u64).checked_mul(depth as u64).ok_or(Error::OutOfMemory)?;
    // The pitch for elements of 4 bytes also aligns larger ones.
    let (address, pitch) = memory::alloc_pitch(&*current::context()?, width as u64, rows, 4)?;
    Ok((address, Some(pitch)))
}

fn alloc_pitch(out: Out<u64>, pitch: Out<usize>, width: usize, height: usize) -> Result<()> {
    if out.is_null() || pitch.is_null() {
        return Err(Error::InvalidValue);
    }
    let (address, bytes) = alloc_rows(width, height, 1)?;
    out.set(address);
    if let Some(bytes) = bytes {
        pitch.set(bytes as usize);
    }
    Ok(())
}

api! {
    Context Unsafe fn hipMalloc(out: Out<u64>, size: usize) {
        alloc(out, size, 0)
    }

    Context Unsafe fn hipExtMallocWithFlags(out: Out<u64>, size: usize, flags: u32) {
        if flags > LAST_DEVICE_FLAG || (flags == SIGNAL && size != 8) {
            return Err(Error::InvalidValue);
        }
        alloc(out, size, flags)
    }

    Context Unsafe fn hipMallocHost(out: Out<u64>, size: usize) {
        alloc_host(out, size, 0)
    }

    Context Unsafe fn hipMemAllocHost(out: Out<u64>, size: usize) {
        alloc_host(out, size, 0)
    }

    Context Unsafe fn hipHostMalloc(out: Out<u64>, size: usize, flags: u32) {
        alloc_host(out, size, flags)
    }

    Context Unsafe fn hipExtHostAlloc(out: Out<u64>, size: usize, flags: u32) {
        alloc_host(out, size, flags)
    }

    Context Unsafe fn hipHostAlloc(out: Out<u64>, size: usize, flags: u32) {
        out.required()?;
        if flags > ALLOC_FLAGS {
            return Err(Error::InvalidValue);
        }
        alloc_host(out, size, flags)
    }

    Context Unsafe fn hipFree(address: u64) {
        free(address)
    }

    Context Unsafe fn hipHostFree(address: u64) {
        free(address)
    }

    Context Unsafe fn hipFreeHost(address: u64) {
        free(address)
    }

    Context Unsafe fn hipMallocPitch(out: Out<u64>, pitch: Out<usize>, width: usize, height: usize) {
        alloc_pitch(out, pitch, width, height)
    }

    Context Unsafe fn hipMemAllocPitch(
        out: Out<u64>, pitch: Out<usize>, width: usize, height: usize, element: u32,
    ) {
        if width == 0 || height == 0 || !memory::PITCHED_ELEMENTS.contains(&element) {
            return Err(Error::InvalidValue);
        }
        alloc_pitch(out, pitch, width, height)
    }

    Context Unsafe fn hipMalloc3D(out: Out<PitchedPointer>, extent: Extent) {
        out.required()?;
        let Extent { width, height, depth } = extent;
        let (pointer, pitch) = alloc_rows(width, height, depth)?;
        out.set(PitchedPointer { pointer, pitch: pitch.unwrap_or(0) as usize, width, height });
        Ok(())
    }

    Context Legal fn hipMemGetInfo(free: Out<usize>, total: Out<usize>) {
        let (f, t) = memory::info(&current::context()?.device);
        free.set(f as usize);
        total.set(t as usize);
        Ok(())
    }

    Context Legal fn hipMemPtrGetInfo(address: u64, size: Out<usize>) {
        let allocation = memory::find(address).ok_or(Error::InvalidValue)?;
        size.required()?.set(allocation.size as usize);
        Ok(())
    }

    Context Legal fn hipMemGetAddressRange(base: Out<u64>, size: Out<usize>, address: u64) {
        let allocation = memory::find(address).ok_or(Error::NotFound)?;
        base.set(allocation.base);
        size.set(allocation.size as usize);
        Ok(())
    }

    /// The flags for I/O memory and coarse grain have no effect.
    Context Unsafe fn hipHostRegister(address: u64, size: usize, flags: u32) {
        if flags > REGISTER_FLAGS {
            return Err(Error::InvalidValue);
        }
        Ok(memory::register_host(&*current::context()?, address, size as u64, flags & !host_flag::IO_MEMORY)?)
    }

    Context Unsafe fn hipHostUnregister(address: u64) {
        Ok(memory::unregister_host(address)?)
    }

    Context Legal fn hipHostGetDevicePointer(out: Out<u64>, address: u64, flags: u32) {
        if out.is_null() || flags != 0 {
            return Err(Error::InvalidValue);
        }
        memory::find(address).ok_or(Error::InvalidValue)?;
        out.set(address);
        Ok(())
    }

    Context Legal fn hipHostGetFlags(out: Out<u32>, address: u64) {
        out.required()?;
        out.set(memory::find(address).filter(|a| a.on_host()).ok_or(Error::InvalidValue)?.flags);
        Ok(())
    }
}
