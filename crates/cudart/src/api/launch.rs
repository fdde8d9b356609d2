//! Launches, and what kernels need and can do.

use crate::abi::{In, Out, Text};
use crate::error::checked;
use crate::types::{Dim3, DriverLaunchConfig, LaunchConfig};
use crate::{Error, Result, api, cu, current, forward, registered};

use super::stream::stream_of;

/// Calls a launching function with the function behind `named`; looks for the function again if its handle is
/// dead.
fn with_function(named: u64, call: impl Fn(u64) -> u32) -> Result<()> {
    let code = call(registered::function_of(named, false)?);
    if code == Error::INVALID_HANDLE.0 {
        return checked(call(registered::function_of(named, true)?));
    }
    checked(code)
}

/// The device attributes that limit a launch: sizes of a block, sizes of a grid, threads per block.
const BLOCK: [u32; 3] = [2, 3, 4];
const GRID: [u32; 3] = [5, 6, 7];
const THREADS: u32 = 1;

/// The error of a launch that the driver calls invalid: that of its configuration, if the device could not
/// run a grid or a block like that. From version 13 on, launches no longer distinguish this (recorded on an
/// H200).
#[cold]
fn refused(error: Error, grid: Dim3, block: Dim3) -> Error {
    let limit = |number| {
        let mut value = 0;
        let device = current::ordinal().unwrap_or(0);
        if cu::cuDeviceGetAttribute(&mut value, number, device) == 0 { value as u32 } else { u32::MAX }
    };
    let beyond = |sizes: Dim3, limits: [u32; 3]| {
        sizes.list().into_iter().zip(limits).any(|(size, number)| size == 0 || size > limit(number))
    };
    let threads = block.list().into_iter().fold(1u32, u32::saturating_mul);
    let wrong = beyond(grid, GRID) || beyond(block, BLOCK) || threads > limit(THREADS);
    if error == Error::INVALID_VALUE && wrong { Error::INVALID_CONFIGURATION } else { error }
}

/// The runtime 11 takes what is not registered for an unknown function, the later ones for a handle.
fn no_handle(error: Error, named: u64) -> Error {
    let unknown = error == Error::INVALID_HANDLE && !registered::is_function(named);
    if unknown { Error::INVALID_DEVICE_FUNCTION } else { error }
}

fn shared_size(shared: usize) -> Result<u32> {
    u32::try_from(shared).map_err(|_| Error::INVALID_VALUE)
}

/// A launch by `<<<>>>`.
pub(super) fn launch(
    named: u64,
    grid: Dim3,
    block: Dim3,
    params: u64,
    shared: usize,
    stream: u64,
) -> Result<()> {
    let bytes = shared_size(shared)?;
    let (g, b) = (grid, block);
    with_function(named, |function| {
        cu::cuLaunchKernel(function, g.x, g.y, g.z, b.x, b.y, b.z, bytes, stream, params, 0)
    })
}

/// A launch whose blocks can all wait for each other.
fn cooperative(named: u64, g: Dim3, b: Dim3, params: u64, shared: usize, stream: u64) -> Result<()> {
    let bytes = shared_size(shared)?;
    with_function(named, |function| {
        cu::cuLaunchCooperativeKernel(function, g.x, g.y, g.z, b.x, b.y, b.z, bytes, stream, params)
    })
}

/// A launch with a configuration in memory.
fn configured(config: In<LaunchConfig>, named: u64, params: u64, own: bool) -> Result<()> {
    let made = config_of(config, own)?;
    with_function(named, |function| cu::cuLaunchKernelEx(&made, function, params, 0))
}

/// The driver's form of a launch's configuration.
fn config_of(config: In<LaunchConfig>, own: bool) -> Result<DriverLaunchConfig> {
    let LaunchConfig { grid, block, shared, stream, attributes, attribute_count } = config.get()?;
    Ok(DriverLaunchConfig {
        grid: grid.list(),
        block: block.list(),
        shared: shared_size(shared)?,
        stream: stream_of(stream, own),
        attributes,
        attribute_count,
    })
}

/// `cudaFuncAttributes`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Attributes {
    pub shared: usize,
    pub constant: usize,
    pub local: usize,
    pub max_threads: i32,
    pub registers: i32,
    pub ptx_version: i32,
    pub binary_version: i32,
    pub cache_mode: i32,
    pub max_dynamic_shared: i32,
    pub carveout: i32,
}

/// The fields that 12 added after those, by the numbers of the driver's attributes.
const LATER: [u32; 6] = [10, 11, 12, 13, 15, 14];

fn attributes(named: u64, out: Out<Attributes>, later: bool) -> Result<()> {
    out.required()?;
    let function = registered::function_of(named, false)?;
    let get = |number| {
        let mut value = 0;
        checked(cu::cuFuncGetAttribute(&mut value, number, function)).map(|()| value)
    };
    out.set(Attributes {
        max_threads: get(0)?,
        shared: get(1)? as usize,
        constant: get(2)? as usize,
        local: get(3)? as usize,
        registers: get(4)?,
        ptx_version: get(5)?,
        binary_version: get(6)?,
        cache_mode: get(7)?,
        max_dynamic_shared: get(8)?,
        carveout: get(9)?,
    });
    if later {
        let more =
            Out::<i32>::at(out.address().wrapping_add(std::mem::offset_of!(Attributes, carveout) as u64 + 4));
        for (i, number) in LATER.into_iter().enumerate() {
            more.after(i).set(get(number)?);
        }
    }
    Ok(())
}

forward! {
    Driver fn cudaLibraryLoadData(
        out: u64, code: u64, options: u64, values: u64, count: u32, library_options: u64, library_values: u64,
        library_count: u32
    ) = cuLibraryLoadData;
    Driver fn cudaLibraryLoadFromFile(
        out: u64, name: u64, options: u64, values: u64, count: u32, library_options: u64, library_values: u64,
        library_count: u32
    ) = cuLibraryLoadFromFile;
    Driver fn cudaLibraryUnload(library: u64) = cuLibraryUnload;
    Context fn cudaLibraryGetGlobal(address: u64, size: u64, library: u64, name: u64) = cuLibraryGetGlobal;
    Context fn cudaLibraryGetManaged(address: u64, size: u64, library: u64, name: u64) = cuLibraryGetManaged;
    Context fn cudaLibraryGetUnifiedFunction(out: u64, library: u64, name: u64) = cuLibraryGetUnifiedFunction;
    Driver fn cudaLibraryGetKernelCount(count: u64, library: u64) = cuLibraryGetKernelCount;
    Driver fn cudaLibraryEnumerateKernels(kernels: u64, room: u32, library: u64) = cuLibraryEnumerateKernels;
    Context fn cudaProfilerStart() = cuProfilerStart;
    Context fn cudaProfilerStop() = cuProfilerStop;
}

api! {
    Context Inherits fn cudaLaunchKernel / cudaLaunchKernel_ptsz (
        named: u64, grid: Dim3, block: Dim3, params: u64, shared: usize, stream: u64,
    ) |own| {
        launch(named, grid, block, params, shared, stream_of(stream, own))
    }

    Context Inherits fn cudaLaunchKernel_in_12 / cudaLaunchKernel_ptsz_in_12 (
        named: u64, grid: Dim3, block: Dim3, params: u64, shared: usize, stream: u64,
    ) |own| {
        launch(named, grid, block, params, shared, stream_of(stream, own))
            .map_err(|error| refused(error, grid, block))
    }

    Context Inherits fn cudaLaunchKernel_in_11 / cudaLaunchKernel_ptsz_in_11 (
        named: u64, grid: Dim3, block: Dim3, params: u64, shared: usize, stream: u64,
    ) |own| {
        launch(named, grid, block, params, shared, stream_of(stream, own))
            .map_err(|error| no_handle(refused(error, grid, block), named))
    }

    Context Inherits fn cudaLaunchCooperativeKernel / cudaLaunchCooperativeKernel_ptsz (
        named: u64, grid: Dim3, block: Dim3, params: u64, shared: usize, stream: u64,
    ) |own| {
        cooperative(named, grid, block, params, shared, stream_of(stream, own))
    }

    Context Inherits fn cudaLaunchCooperativeKernel_in_12 / cudaLaunchCooperativeKernel_ptsz_in_12 (
        named: u64, grid: Dim3, block: Dim3, params: u64, shared: usize, stream: u64,
    ) |own| {
        cooperative(named, grid, block, params, shared, stream_of(stream, own))
            .map_err(|error| refused(error, grid, block))
    }

    Context Inherits fn cudaLaunchKernelExC / cudaLaunchKernelExC_ptsz (
        config: In<LaunchConfig>, named: u64, params: u64,
    ) |own| {
        configured(config, named, params, own)
    }

    Context Inherits fn cudaLaunchKernelExC_in_12 / cudaLaunchKernelExC_ptsz_in_12 (
        config: In<LaunchConfig>, named: u64, params: u64,
    ) |own| {
        let LaunchConfig { grid, block, .. } = config.get()?;
        configured(config, named, params, own).map_err(|error| refused(error, grid, block))
    }

    Context Inherits fn cudaFuncGetAttributes(out: Out<Attributes>, named: u64) {
        attributes(named, out, true)
    }

    Context Inherits fn cudaFuncGetAttributes_in_11(out: Out<Attributes>, named: u64) {
        attributes(named, out, false).map_err(|error| no_handle(error, named))
    }

    Context Inherits fn cudaFuncSetAttribute(named: u64, number: u32, value: i32) {
        checked(cu::cuFuncSetAttribute(registered::function_of(named, false)?, number, value))
    }

    Context Inherits fn cudaFuncSetCacheConfig(named: u64, config: u32) {
        checked(cu::cuFuncSetCacheConfig(registered::function_of(named, false)?, config))
    }

    Context Inherits fn cudaFuncSetSharedMemConfig(named: u64, config: u32) {
        checked(cu::cuFuncSetSharedMemConfig(registered::function_of(named, false)?, config))
    }

    Context Inherits fn cudaFuncGetName(name: Out<u64>, named: u64) {
        checked(cu::cuFuncGetName(name.address(), registered::function_of(named, false)?))
    }

    Context Inherits fn cudaFuncGetParamCount(named: u64, count: Out<usize>) {
        let function = registered::function_of(named, false)?;
        checked(cu::cuFuncGetParamCount(function, count.address()))
    }

    Context Inherits fn cudaFuncGetParamInfo(named: u64, index: usize, offset: Out<usize>, size: Out<usize>) {
        let function = registered::function_of(named, false)?;
        checked(cu::cuFuncGetParamInfo(function, index, offset.address(), size.address()))
    }

    Context Inherits fn cudaKernelSetAttributeForDevice(kernel: u64, number: u32, value: i32, device: i32) {
        unsafe extern "C" {
            // SAFETY: as in `cu`.
            safe fn cuKernelSetAttribute(number: u32, value: i32, kernel: u64, device: i32) -> u32;
        }
        checked(cuKernelSetAttribute(number, value, kernel, device))
    }

    Context Inherits fn cudaGetFuncBySymbol(function: Out<u64>, named: u64) {
        function.required()?.set(registered::function_of(named, false)?);
        Ok(())
    }

    Context Inherits fn cudaGetKernel(kernel: Out<u64>, named: u64) {
        kernel.required()?.set(registered::kernel_of(named)?);
        Ok(())
    }

    Driver Inherits fn cudaLibraryGetKernel(kernel: Out<u64>, library: u64, name: Text) {
        checked(cu::cuLibraryGetKernel(kernel.address(), library, name.address()))
    }

    Context Inherits fn cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks: Out<i32>, named: u64, block: i32, shared: usize,
    ) {
        let function = registered::function_of(named, false)?;
        let out = blocks.address();
        checked(cu::cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(out, function, block, shared, 0))
    }

    Context Inherits fn cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks: Out<i32>, named: u64, block: i32, shared: usize, flags: u32,
    ) {
        let function = registered::function_of(named, false)?;
        let out = blocks.address();
        checked(cu::cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(out, function, block, shared, flags))
    }

    Context Inherits fn cudaOccupancyAvailableDynamicSMemPerBlock(
        size: Out<usize>, named: u64, blocks: i32, block: i32,
    ) {
        let function = registered::function_of(named, false)?;
        checked(cu::cuOccupancyAvailableDynamicSMemPerBlock(size.address(), function, blocks, block))
    }

    Context Inherits fn cudaOccupancyMaxActiveClusters(count: Out<i32>, named: u64, config: In<LaunchConfig>) {
        let function = registered::function_of(named, false)?;
        checked(cu::cuOccupancyMaxActiveClusters(count.address(), function, &config_of(config, false)?))
    }

    Context Inherits fn cudaOccupancyMaxPotentialClusterSize(
        size: Out<i32>, named: u64, config: In<LaunchConfig>,
    ) {
        let function = registered::function_of(named, false)?;
        checked(cu::cuOccupancyMaxPotentialClusterSize(size.address(), function, &config_of(config, false)?))
    }

    Context Inherits fn cudaGetSymbolAddress(address: Out<u64>, symbol: u64) {
        address.required()?.set(registered::variable_of(symbol)?.0);
        Ok(())
    }

    Context Inherits fn cudaGetSymbolSize(size: Out<u64>, symbol: u64) {
        size.required()?.set(registered::variable_of(symbol)?.1);
        Ok(())
    }
}
