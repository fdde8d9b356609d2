//! Devices, their contexts, versions and errors.

use std::ffi::CStr;

use driver::context;

use crate::abi::{self, In, Out};
use crate::error::{self, checked};
use crate::{Error, Result, api, cu, current, forward};

/// The versions of the runtimes whose names `data/exports.tsv` lists.
mod version {
    pub const OF_11: i32 = 11080;
    pub const OF_12: i32 = 12090;
    pub const OF_13: i32 = 13000;
}

/// A row of `data/properties.tsv`.
struct Property {
    name: &'static str,
    /// The field's offset in the structures of 11, 12 and 13.
    at: [Option<usize>; 3],
    size: usize,
    attributes: &'static [u32],
}

const PROPERTIES: &[Property] = include!(concat!(env!("OUT_DIR"), "/properties.rs"));

/// The size of `cudaDeviceProp` in 11, 12 and 13.
const SIZES: [usize; 3] = [728, 1032, 1008];

fn attribute(number: u32, device: i32) -> Result<i32> {
    let mut value = 0;
    checked(cu::cuDeviceGetAttribute(&mut value, number, device))?;
    Ok(value)
}

/// The bytes of a field of `cudaDeviceProp`.
fn field(row: &Property, device: i32) -> Result<Vec<u8>> {
    let known = current::device_at(device)?;
    let bytes = match row.name {
        "name" => known.info.name.as_bytes().to_vec(),
        "uuid" => known.info.uuid.to_vec(),
        "totalGlobalMem" => {
            let mut size = 0;
            checked(cu::cuDeviceTotalMem_v2(&mut size, device))?;
            size.to_ne_bytes().to_vec()
        }
        _ if row.attributes.is_empty() => Vec::new(),
        _ => {
            let each = row.size / row.attributes.len();
            let mut bytes = Vec::new();
            for number in row.attributes {
                let value = i64::from(attribute(*number, device)?).to_ne_bytes();
                bytes.extend_from_slice(value.get(..each).unwrap_or_default());
            }
            bytes
        }
    };
    Ok(bytes)
}

/// Fills the structure of a version: 0 for 11, 1 for 12, 2 for 13.
fn properties(out: Out<u8>, device: i32, version: usize) -> Result<()> {
    out.required()?;
    current::device_at(device)?;
    let mut all = vec![0; SIZES.get(version).copied().unwrap_or(0)];
    for row in PROPERTIES {
        let Some(at) = row.at.get(version).copied().flatten() else { continue };
        let bytes = field(row, device)?;
        if let Some(to) = all.get_mut(at..).and_then(|rest| rest.get_mut(..bytes.len().min(row.size))) {
            to.copy_from_slice(bytes.get(..to.len()).unwrap_or_default());
        }
    }
    out.set_all(&all);
    Ok(())
}

/// `cudaDeviceMapHost`, which is always on.
const MAP_HOST: u32 = 8;

fn primary_handle(device: i32) -> Result<u64> {
    Ok(current::primary(current::device_at(device)?)?.handle)
}

/// `cudaGetDriverEntryPoint`: success with a status even where there is no such function.
fn entry_point(name: u64, out: Out<u64>, version: i32, flags: u64, status: Out<u32>) -> Result<()> {
    checked(cu::cuGetProcAddress_v2(name, out.address(), version, flags, status.address()))
}

forward! {
    Driver fn cudaDeviceGetAttribute(value: u64, number: u32, device: i32) = cuDeviceGetAttribute;
    Driver fn cudaDeviceGetPCIBusId(out: u64, size: i32, device: i32) = cuDeviceGetPCIBusId;
    Driver fn cudaDeviceGetByPCIBusId(device: u64, name: u64) = cuDeviceGetByPCIBusId;
    Driver fn cudaDeviceCanAccessPeer(can: u64, device: i32, peer: i32) = cuDeviceCanAccessPeer;
    Driver fn cudaDeviceGetP2PAttribute(value: u64, number: u32, from: i32, to: i32) = cuDeviceGetP2PAttribute;
    Driver fn cudaDeviceGetHostAtomicCapabilities(out: u64, operations: u64, count: u32, device: i32)
        = cuDeviceGetHostAtomicCapabilities;
    Driver fn cudaDeviceGetP2PAtomicCapabilities(out: u64, operations: u64, count: u32, from: i32, to: i32)
        = cuDeviceGetP2PAtomicCapabilities;
    Driver fn cudaDeviceGetNvSciSyncAttributes(list: u64, device: i32, flags: i32)
        = cuDeviceGetNvSciSyncAttributes;
    Driver fn cudaDeviceRegisterAsyncNotification(device: i32, function: u64, data: u64, out: u64)
        = cuDeviceRegisterAsyncNotification;
    Driver fn cudaDeviceUnregisterAsyncNotification(device: i32, handle: u64)
        = cuDeviceUnregisterAsyncNotification;
    Context fn cudaDeviceFlushGPUDirectRDMAWrites(target: u32, scope: u32) = cuFlushGPUDirectRDMAWrites;
    Context fn cudaDeviceSynchronize() = cuCtxSynchronize;
    Context fn cudaThreadSynchronize() = cuCtxSynchronize;
    Context fn cudaDeviceGetLimit(value: u64, number: u32) = cuCtxGetLimit;
    Context fn cudaThreadGetLimit(value: u64, number: u32) = cuCtxGetLimit;
    Context fn cudaDeviceSetLimit(number: u32, value: u64) = cuCtxSetLimit;
    Context fn cudaThreadSetLimit(number: u32, value: u64) = cuCtxSetLimit;
    Context fn cudaDeviceGetCacheConfig(config: u64) = cuCtxGetCacheConfig;
    Context fn cudaThreadGetCacheConfig(config: u64) = cuCtxGetCacheConfig;
    Context fn cudaDeviceSetCacheConfig(config: u32) = cuCtxSetCacheConfig;
    Context fn cudaThreadSetCacheConfig(config: u32) = cuCtxSetCacheConfig;
    Context fn cudaDeviceGetSharedMemConfig(config: u64) = cuCtxGetSharedMemConfig;
    Context fn cudaDeviceSetSharedMemConfig(config: u32) = cuCtxSetSharedMemConfig;
    Context fn cudaDeviceGetStreamPriorityRange(least: u64, greatest: u64) = cuCtxGetStreamPriorityRange;
    Nothing fn cudaLogsRegisterCallback(function: u64, data: u64, out: u64) = cuLogsRegisterCallback;
    Nothing fn cudaLogsUnregisterCallback(handle: u64) = cuLogsUnregisterCallback;
    Nothing fn cudaLogsCurrent(out: u64, flags: u32) = cuLogsCurrent;
    Nothing fn cudaLogsDumpToFile(from: u64, name: u64, flags: u32) = cuLogsDumpToFile;
    Nothing fn cudaLogsDumpToMemory(from: u64, buffer: u64, size: u64, flags: u32) = cuLogsDumpToMemory;
}

fn reset() -> Result<()> {
    let device = current::ordinal()?;
    current::keep_device(device);
    checked(cu::cuDevicePrimaryCtxReset_v2(device))
}

api! {
    Nothing Inherits fn cudaGetDeviceCount(count: Out<i32>) {
        count.required()?.set(0);
        count.set(current::driver()?.devices.len() as i32);
        Ok(())
    }

    Nothing Inherits fn cudaGetDevice(device: Out<i32>) {
        device.required()?.set(current::ordinal()?);
        Ok(())
    }

    Nothing Inherits fn cudaSetDevice(device: i32) {
        current::set_device(device)
    }

    Nothing Inherits fn cudaInitDevice(device: i32, device_flags: u32, flags: u32) {
        /// `cudaInitDeviceFlagsAreValid`.
        const HAS_FLAGS: u32 = 1;
        let known = current::device_at(device)?;
        if flags & HAS_FLAGS != 0 {
            checked(cu::cuDevicePrimaryCtxSetFlags_v2(device, device_flags))?;
        }
        current::primary(known).map(|_| ())
    }

    Driver Inherits fn cudaSetValidDevices(list: In<i32>, count: i32) {
        let count = usize::try_from(count).map_err(|_| Error::INVALID_VALUE)?;
        for device in list.each(count) {
            current::device_at(device?).map_err(|_| Error::INVALID_VALUE)?;
        }
        Ok(())
    }

    Driver Inherits fn cudaChooseDevice(device: Out<i32>, wanted: In<u8>) {
        wanted.get()?;
        device.required()?.set(0);
        Ok(())
    }

    Driver Inherits fn cudaSetDeviceFlags(flags: u32) {
        checked(cu::cuDevicePrimaryCtxSetFlags_v2(current::ordinal()?, flags))
    }

    Driver Inherits fn cudaSetDeviceFlags_in_11(flags: u32) {
        /// How a thread waits, mapped host memory and larger local memory; 12 added one more.
        const KNOWN: u32 = 0x1f;
        if flags & !KNOWN != 0 {
            return Err(Error::INVALID_VALUE);
        }
        checked(cu::cuDevicePrimaryCtxSetFlags_v2(current::ordinal()?, flags))
    }

    Driver Inherits fn cudaGetDeviceFlags(flags: Out<u32>) {
        flags.required()?;
        let (mut set, mut active) = (0, 0);
        match context::current() {
            Some(context) if context.alive() => checked(cu::cuCtxGetFlags(&mut set))?,
            _ => checked(cu::cuDevicePrimaryCtxGetState(current::ordinal()?, &mut set, &mut active))?,
        }
        flags.set(set | MAP_HOST);
        Ok(())
    }

    Nothing Inherits fn cudaDeviceReset() {
        reset()
    }

    Nothing Inherits fn cudaThreadExit() {
        reset()
    }

    Driver Inherits fn cudaGetDeviceProperties(out: Out<u8>, device: i32) {
        properties(out, device, 2)
    }

    /// The structure of 12 before `_v2` is that of 11.
    Driver Inherits fn cudaGetDeviceProperties_in_12(out: Out<u8>, device: i32) {
        properties(out, device, 0)
    }

    Driver Inherits fn cudaGetDeviceProperties_v2(out: Out<u8>, device: i32) {
        properties(out, device, 1)
    }

    Context Inherits fn cudaDeviceEnablePeerAccess(peer: i32, flags: u32) {
        checked(cu::cuCtxEnablePeerAccess(primary_handle(peer)?, flags))
    }

    Context Inherits fn cudaDeviceDisablePeerAccess(peer: i32) {
        checked(cu::cuCtxDisablePeerAccess(primary_handle(peer)?))
    }

    Nothing Inherits fn cudaDriverGetVersion(version: Out<i32>) {
        let mut found = 0;
        version.required()?;
        checked(cu::cuDriverGetVersion(&mut found))?;
        version.set(found);
        Ok(())
    }

    Nothing Inherits fn cudaRuntimeGetVersion(version: Out<i32>) {
        version.required()?.set(version::OF_13);
        Ok(())
    }

    Nothing Inherits fn cudaRuntimeGetVersion_in_12(version: Out<i32>) {
        version.required()?.set(version::OF_12);
        Ok(())
    }

    Nothing Inherits fn cudaRuntimeGetVersion_in_11(version: Out<i32>) {
        version.required()?.set(version::OF_11);
        Ok(())
    }

    Driver Inherits fn cudaGetDriverEntryPoint(name: u64, out: Out<u64>, flags: u64, status: Out<u32>) {
        entry_point(name, out, version::OF_13, flags, status)
    }

    Driver Inherits fn cudaGetDriverEntryPoint_in_12(name: u64, out: Out<u64>, flags: u64, status: Out<u32>) {
        entry_point(name, out, version::OF_12, flags, status)
    }

    Driver Inherits fn cudaGetDriverEntryPoint_in_11(name: u64, out: Out<u64>, flags: u64) {
        entry_point(name, out, version::OF_11, flags, Out::none())
    }

    /// Like the function without `_ptsz`, but finds the per-thread variants by default.
    Driver Inherits fn cudaGetDriverEntryPoint_ptsz(name: u64, out: Out<u64>, flags: u64, status: Out<u32>) {
        entry_point(name, out, version::OF_13, if flags == 0 { 2 } else { flags }, status)
    }

    Driver Inherits fn cudaGetDriverEntryPoint_ptsz_in_12(
        name: u64, out: Out<u64>, flags: u64, status: Out<u32>,
    ) {
        entry_point(name, out, version::OF_12, if flags == 0 { 2 } else { flags }, status)
    }

    Driver Inherits fn cudaGetDriverEntryPoint_ptsz_in_11(name: u64, out: Out<u64>, flags: u64) {
        entry_point(name, out, version::OF_11, if flags == 0 { 2 } else { flags }, Out::none())
    }

    Driver Inherits fn cudaGetDriverEntryPointByVersion / cudaGetDriverEntryPointByVersion_ptsz (
        name: u64, out: Out<u64>, version: u32, flags: u64, status: Out<u32>,
    ) |own| {
        let flags = if own && flags == 0 { 2 } else { flags };
        entry_point(name, out, i32::try_from(version).map_err(|_| Error::INVALID_VALUE)?, flags, status)
    }

    /// The private tables of NVIDIA's runtime are not imitated.
    Nothing Inherits fn cudaGetExportTable(table: Out<u64>, _id: In<[u8; 16]>) {
        table.set(0);
        Err(Error::INVALID_VALUE)
    }

    /// Refused since 12.0.
    Nothing Inherits fn cudaProfilerInitialize(_settings: u64, _output: u64, _mode: u32) {
        Err(Error::NOT_SUPPORTED)
    }

    /// Doubles are the same on both sides.
    Nothing Inherits fn cudaSetDoubleForDevice(_value: Out<f64>) {
        Ok(())
    }

    Nothing Inherits fn cudaSetDoubleForHost(_value: Out<f64>) {
        Ok(())
    }

    Context Inherits fn cudaMemcpyPeer(to: u64, to_device: i32, from: u64, from_device: i32, size: usize) {
        let (to_context, from_context) = (primary_handle(to_device)?, primary_handle(from_device)?);
        checked(cu::cuMemcpyPeer(to, to_context, from, from_context, size))
    }

    Context Inherits fn cudaMemcpyPeerAsync(
        to: u64, to_device: i32, from: u64, from_device: i32, size: usize, stream: u64,
    ) {
        let (to_context, from_context) = (primary_handle(to_device)?, primary_handle(from_device)?);
        checked(cu::cuMemcpyPeerAsync(to, to_context, from, from_context, size, stream))
    }

    /// The layout before `_v2`, which no program of 11.2 or later asks for.
    Context Inherits fn cudaSignalExternalSemaphoresAsync_in_12 / cudaSignalExternalSemaphoresAsync_ptsz_in_12 (
        _semaphores: u64, _params: u64, _count: u32, _stream: u64,
    ) {
        Err(Error::NOT_SUPPORTED)
    }

    Context Inherits fn cudaWaitExternalSemaphoresAsync_in_12 / cudaWaitExternalSemaphoresAsync_ptsz_in_12 (
        _semaphores: u64, _params: u64, _count: u32, _stream: u64,
    ) {
        Err(Error::NOT_SUPPORTED)
    }
}

/// The context of a device, for functions that name the device.
pub(super) fn context_of(device: i32) -> Result<u64> {
    primary_handle(device)
}

/// `cudaGetLastError`: resets the error. That of a fault comes back with the next call that uses the context.
pub extern "C" fn cudaGetLastError() -> u32 {
    abi::tell("cudaGetLastError", &[], || abi::replace_last_error(0))
}

/// `cudaPeekAtLastError`.
pub extern "C" fn cudaPeekAtLastError() -> u32 {
    abi::tell("cudaPeekAtLastError", &[], abi::last_error)
}

/// `cudaGetErrorName`.
pub extern "C" fn cudaGetErrorName(code: u32) -> *const std::ffi::c_char {
    CStr::as_ptr(error::name(code))
}

/// `cudaGetErrorName` of the runtime 11.
pub extern "C" fn cudaGetErrorName_in_11(code: u32) -> *const std::ffi::c_char {
    CStr::as_ptr(error::name_in_11(code))
}

/// `cudaGetErrorString` of the runtime 11.
pub extern "C" fn cudaGetErrorString_in_11(code: u32) -> *const std::ffi::c_char {
    CStr::as_ptr(error::text_in_11(code))
}

/// `cudaGetErrorString`.
pub extern "C" fn cudaGetErrorString(code: u32) -> *const std::ffi::c_char {
    CStr::as_ptr(error::text(code))
}
