//! Kernel launches: of functions and of host stubs, with sizes in blocks or in work items, cooperative, on
//! several devices.
//!
//! Checks are in HIP's order (clr 6.3, hip_module.cpp).

use std::sync::Arc;

use capi::container;
use capi::types::FunctionLaunchParams;
use driver::context::Context;
use driver::device::attribute;
use driver::event::{self, Event};
use driver::launch::{self, Config, Params};
use driver::library::function_or_kernel;
use driver::module::{Function, attribute as number};
use driver::occupancy;
use driver::refused::{self, Cause};
use driver::several;
use driver::stream::{STREAMS, Stream};

use crate::abi::{In, Need, bytes_at, check};
use crate::current::{self, Handle};
use crate::{Error, Result, api, registered};

use super::function::{most_dynamic_shared, of};

/// `dim3`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Dim3 {
    pub x: u32,
    pub y: u32,
    pub z: u32,
}

impl Dim3 {
    fn list(self) -> [u32; 3] {
        [self.x, self.y, self.z]
    }
}

/// `hipLaunchParams`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct LaunchParams {
    pub host: u64,
    pub grid: Dim3,
    pub block: Dim3,
    pub params: In<u64>,
    pub shared: usize,
    pub stream: Handle,
}

/// The keys of `extra`.
mod extra_key {
    pub const BUFFER_POINTER: u64 = 1;
    pub const BUFFER_SIZE: u64 = 2;
    pub const END: u64 = 3;
}

/// Maximum blocks in x.
const MAX_GRID_X: u32 = i32::MAX as u32;
/// Maximum blocks in y and z.
const MAX_GRID_YZ: u32 = 65536;
/// `hipCooperativeLaunchMultiDeviceNoPreSync` and `…NoPostSync`.
const NO_PRE_SYNC: u32 = 1;
const NO_POST_SYNC: u32 = 2;

/// A launch, with sizes in work items.
pub(super) struct Launch {
    work: [u64; 3],
    block: [u32; 3],
    shared: u64,
    params: In<u64>,
    extra: In<u64>,
    start: Handle,
    stop: Handle,
    cooperative: bool,
    cluster: Option<[u32; 3]>,
}

impl Launch {
    /// A launch with its grid size in blocks.
    pub(super) fn of_grid(grid: [u32; 3], block: [u32; 3], shared: u64, params: In<u64>) -> Self {
        let work = std::array::from_fn(|i| u64::from(grid[i]) * u64::from(block[i]));
        Launch {
            work,
            block,
            shared,
            params,
            extra: In::at_address(0),
            start: 0,
            stop: 0,
            cooperative: false,
            cluster: None,
        }
    }

    /// The same launch with a whole parameter buffer, if `extra` has one.
    pub(super) fn with_buffer(self, extra: In<u64>) -> Self {
        Launch { extra, ..self }
    }

    /// The same launch with what a configuration's attributes ask for.
    pub(super) fn with(self, cooperative: bool, cluster: Option<[u32; 3]>) -> Self {
        Launch { cooperative, cluster, ..self }
    }

    /// Whether a dimension has more work items than HIP can count.
    pub(super) fn too_large(&self) -> bool {
        self.work.iter().any(|&n| n > u64::from(u32::MAX))
    }

    /// Checks the launch and submits it to a stream.
    pub(super) fn go(&self, function: &Arc<Function>, stream: &Arc<Stream>) -> Result<()> {
        let (mut config, params) = self.prepare(function)?;
        let (start, stop) = (event_of(self.start)?, event_of(self.stop)?);
        complete(function, &mut config)?;
        if let Some(event) = start {
            event.record(stream)?;
        }
        launch::enqueue(Arc::clone(function), &config, params, stream)?;
        if let Some(event) = stop {
            event.record(stream)?;
        }
        Ok(())
    }

    /// Checks the launch as HIP does; its configuration, for [`complete`], and its parameters.
    pub(super) fn prepare(&self, function: &Arc<Function>) -> Result<(Config, Params)> {
        let device = function.device();
        let info = function.info();
        if !self.params.is_null() && !self.extra.is_null() {
            refused::tell(function, Cause::Parameters, || "it has both kernel parameters and `extra`".into());
            return Err(Error::InvalidValue);
        }
        // An empty block also means no work, but has its own error.
        if self.block.contains(&0) {
            refused::block(function, self.block);
            return Err(Error::InvalidConfiguration);
        }
        if self.work.contains(&0) {
            let blocks = |axis: usize| self.work[axis].div_ceil(u64::from(self.block[axis])) as u32;
            refused::grid(function, std::array::from_fn(blocks));
            return Err(Error::InvalidValue);
        }
        let most_shared = u64::try_from(most_dynamic_shared(function)).unwrap_or(0);
        let threads = self.block.iter().fold(1u64, |n, &b| n.saturating_mul(u64::from(b)));
        let most_threads = device.attribute(attribute::MAX_THREADS_PER_BLOCK)?;
        if self.shared > most_shared {
            refused::shared(function, self.shared, most_shared);
            return Err(Error::InvalidValue);
        }
        if threads > u64::from(most_threads.unsigned_abs()) {
            refused::block(function, self.block);
            return Err(Error::InvalidValue);
        }
        if !info.params.is_empty() && self.params.is_null() && self.extra.is_null() {
            refused::tell(function, Cause::Parameters, || {
                format!("the kernel has {} parameters, and none are given", info.params.len())
            });
            return Err(Error::InvalidValue);
        }
        if threads > u64::from(function.max_threads()) {
            refused::threads(function, threads);
            return Err(Error::LaunchFailure);
        }
        // A block is never larger than the grid.
        let block: [u32; 3] = std::array::from_fn(|i| u64::from(self.block[i]).min(self.work[i]) as u32);
        // PTX kernels rely on equal block sizes.
        if (0..3).any(|i| !self.work[i].is_multiple_of(u64::from(block[i]))) {
            refused::tell(function, Cause::Grid, || {
                format!("{:?} work items are not a multiple of the block, {block:?}", self.work)
            });
            return Err(Error::InvalidValue);
        }
        let grid: [u32; 3] = std::array::from_fn(|i| (self.work[i] / u64::from(block[i])) as u32);
        let config = Config {
            grid,
            block,
            dynamic_shared: self.shared as u32,
            cooperative: self.cooperative,
            cluster: self.cluster,
            preferred_cluster: None,
        };
        if self.cooperative {
            let per = occupancy::max_active_blocks(function, threads as u32, self.shared);
            let room =
                u64::from(per) * u64::from(device.attribute(attribute::MULTIPROCESSOR_COUNT)?.unsigned_abs());
            let blocks = grid.iter().map(|&g| u128::from(g)).product::<u128>();
            if blocks > u128::from(room) {
                refused::cooperative(function, blocks, room.into());
                return Err(Error::CooperativeLaunchTooLarge);
            }
        }
        Ok((config, Params::of(&self.parameters(function)?)))
    }

    /// The parameter buffer. From a whole buffer, each parameter is read at its offset; HIP ignores the
    /// size that the program gives, so a larger buffer is read if the process can read it.
    fn parameters(&self, function: &Function) -> Result<Vec<u8>> {
        let info = function.info();
        let mut buffer = vec![0; info.param_size as usize];
        let mut put = |offset: u32, size: u32, from: &[u8]| {
            let (offset, size) = (offset as usize, size as usize);
            if let Some(to) = buffer.get_mut(offset..offset.saturating_add(size)) {
                to.copy_from_slice(from);
            }
        };
        let refused = |why: &dyn Fn() -> String| {
            refused::tell(function, Cause::Parameters, why);
            Error::InvalidValue
        };
        if !self.extra.is_null() {
            let key = |i| self.extra.at(i);
            let wanted = [(0, extra_key::BUFFER_POINTER), (2, extra_key::BUFFER_SIZE), (4, extra_key::END)];
            // Nothing is read behind a wrong key: it may end the list.
            for (place, wanted) in wanted {
                let found = key(place)?;
                if found != wanted {
                    return Err(refused(&|| {
                        format!(
                            "`extra` must be {{1, the buffer, 2, the address of its size, 3}}, but element {place} \
                             is {found}"
                        )
                    }));
                }
            }
            let from = key(1)?;
            if from == 0 && !info.params.is_empty() {
                return Err(refused(&|| "the buffer in `extra` is null".into()));
            }
            let needed = info.params.iter().map(|p| u64::from(p.offset) + u64::from(p.size)).max();
            let stated = match key(3)? {
                0 => None,
                size => In::<u64>::at_address(size).get().ok(),
            };
            let short = stated.zip(needed).filter(|(stated, needed)| stated < needed);
            if let Some((stated, needed)) = short {
                let readable =
                    container::readable(from, needed as usize).map_or(0, |bytes| bytes.len() as u64);
                if readable < needed {
                    return Err(refused(&|| {
                        format!(
                            "the buffer in `extra` has {stated} bytes, the parameters need {needed}, and only \
                             {readable} can be read"
                        )
                    }));
                }
                refused::warn(function, Cause::Parameters, || {
                    format!(
                        "the buffer in `extra` is said to have {stated} bytes; {needed} are read, as on AMD's \
                         hardware"
                    )
                });
            }
            for param in &info.params {
                let at = from.wrapping_add(u64::from(param.offset));
                put(param.offset, param.size, bytes_at(at, param.size as usize));
            }
        } else if !self.params.is_null() {
            for (i, param) in info.params.iter().enumerate() {
                let from = self.params.at(i)?;
                if from == 0 {
                    return Err(refused(&|| format!("the address of parameter {i} is null")));
                }
                put(param.offset, param.size, bytes_at(from, param.size as usize));
            }
        }
        Ok(buffer)
    }
}

/// Checks a configuration as the driver does, and adds what the kernel requires.
pub(super) fn complete(function: &Function, config: &mut Config) -> Result<()> {
    if config.dynamic_shared > function.max_dynamic_shared() {
        // CUDA requires opt-in for more than 48 KiB; HIP does not.
        function.set_attribute(number::MAX_DYNAMIC_SHARED_SIZE, config.dynamic_shared as i32)?;
    }
    Ok(launch::check(function, config)?)
}

/// An optional event.
fn event_of(handle: Handle) -> Result<Option<Arc<Event>>> {
    if handle == 0 { Ok(None) } else { Ok(Some(event::get(handle).map_err(|_| Error::InvalidHandle)?)) }
}

/// The stream of a launch; an unknown handle is an invalid value.
pub(super) fn stream_of(handle: Handle, own: bool) -> Result<Arc<Stream>> {
    current::stream(handle, own).map_err(|_| Error::InvalidValue)
}

/// The same for functions that mirror the CUDA driver's: default streams belong to the thread's context.
pub(super) fn driver_stream(handle: Handle) -> Result<Arc<Stream>> {
    if is_default(handle) {
        check(Need::Driver)?;
    }
    let stream = stream_of(handle, false)?;
    stream.check()?;
    Ok(stream)
}

/// The function of a launch; null is an invalid handle.
pub(super) fn launched(handle: Handle) -> Result<Arc<Function>> {
    if handle == 0 { Err(Error::InvalidHandle) } else { of(handle) }
}

/// The kernel of a host stub in a stream's context. As in HIP 7, a function or a library's kernel serves,
/// too.
pub(super) fn stub(host: u64, stream: &Stream) -> Result<Arc<Function>> {
    stub_in(host, stream.context()?)
}

/// The same in a context.
pub(super) fn stub_in(host: u64, context: Arc<Context>) -> Result<Arc<Function>> {
    registered::function_of(host, &context).or_else(|error| match error {
        Error::InvalidDeviceFunction => function_or_kernel(host, || Ok(context)).map_err(|_| error),
        _ => Err(error),
    })
}

fn module_launch(
    handle: Handle,
    grid: [u32; 3],
    in_stream: Handle,
    extra: In<u64>,
    launch: Launch,
) -> Result<()> {
    let stream = driver_stream(in_stream)?;
    let [x, y, z] = grid;
    if x > MAX_GRID_X || y > MAX_GRID_YZ || z > MAX_GRID_YZ {
        if let Ok(function) = launched(handle) {
            refused::grid(&function, grid);
        }
        return Err(Error::InvalidValue);
    }
    if launch.work[0] > u64::from(u32::MAX) {
        if let Ok(function) = launched(handle) {
            refused::tell(&function, Cause::Grid, || {
                format!("{} threads in x; HIP counts up to {}", launch.work[0], u32::MAX)
            });
        }
        return Err(Error::InvalidConfiguration);
    }
    let function = launched(handle)?;
    if grid.contains(&0) && !launch.block.contains(&0) {
        refused::grid(&function, grid);
        return Err(Error::InvalidValue);
    }
    launch.with_buffer(extra).go(&function, &stream)
}

/// The arguments of the two launches with sizes in work items.
struct Items {
    handle: Handle,
    work: [u32; 3],
    block: [u32; 3],
    shared: usize,
    stream: Handle,
    params: In<u64>,
    extra: In<u64>,
    start: Handle,
    stop: Handle,
}

impl Items {
    fn go(self) -> Result<()> {
        let stream = driver_stream(self.stream)?;
        let function = launched(self.handle)?;
        let launch = Launch {
            work: self.work.map(u64::from),
            block: self.block,
            shared: self.shared as u64,
            params: self.params,
            extra: self.extra,
            start: self.start,
            stop: self.stop,
            cooperative: false,
            cluster: None,
        };
        launch.go(&function, &stream)
    }
}

/// Launches a host stub.
#[allow(clippy::too_many_arguments)]
fn stub_launch(
    host: u64,
    grid: Dim3,
    block: Dim3,
    params: In<u64>,
    shared: usize,
    in_stream: Handle,
    own: bool,
    events: (Handle, Handle),
) -> Result<()> {
    let stream = stream_of(in_stream, own)?;
    let function = stub(host, &stream)?;
    let launch = Launch::of_grid(grid.list(), block.list(), shared as u64, params);
    if launch.too_large() {
        refused::grid(&function, grid.list());
        return Err(Error::InvalidConfiguration);
    }
    Launch { start: events.0, stop: events.1, ..launch }.go(&function, &stream)
}

fn cooperative_stub(
    host: u64,
    grid: Dim3,
    block: Dim3,
    params: In<u64>,
    shared: u32,
    in_stream: Handle,
    own: bool,
) -> Result<()> {
    let stream = current::stream(in_stream, own).map_err(|_| Error::ContextIsDestroyed)?;
    if host == 0 {
        return Err(Error::InvalidDeviceFunction);
    }
    let function = stub(host, &stream)?;
    let launch = Launch::of_grid(grid.list(), block.list(), u64::from(shared), params);
    let threads = block.list().iter().fold(1u64, |n, &b| n.saturating_mul(u64::from(b)));
    let most = function.device().attribute(attribute::MAX_THREADS_PER_BLOCK)?.unsigned_abs();
    if launch.too_large() {
        refused::grid(&function, grid.list());
        return Err(Error::InvalidConfiguration);
    }
    if threads > u64::from(most) {
        refused::block(&function, block.list());
        return Err(Error::InvalidConfiguration);
    }
    let most_shared = u64::try_from(most_dynamic_shared(&function)).unwrap_or(0);
    if u64::from(shared) > most_shared {
        refused::shared(&function, shared.into(), most_shared);
        return Err(Error::CooperativeLaunchTooLarge);
    }
    Launch { cooperative: true, ..launch }.go(&function, &stream)
}

/// Launches one kernel on each of several devices. Checks all launches before the first starts.
fn on_several(list: &[FunctionLaunchParams], flags: u32, cooperative: bool) -> Result<()> {
    if list.is_empty() || list.len() > current::driver()?.devices.len() {
        return Err(Error::InvalidValue);
    }
    if flags > NO_PRE_SYNC + NO_POST_SYNC {
        return Err(Error::InvalidValue);
    }
    let mut streams: Vec<Arc<Stream>> = Vec::new();
    let mut devices = Vec::new();
    for one in list {
        if one.block.contains(&0) {
            return Err(Error::InvalidConfiguration);
        }
        if one.stream == 0 {
            return Err(Error::InvalidHandle);
        }
        let stream = stream_of(one.stream, false)?;
        let device = stream.context()?.device.ordinal;
        if devices.contains(&device) {
            return Err(Error::InvalidDevice);
        }
        devices.push(device);
        streams.push(stream);
    }
    if flags & NO_PRE_SYNC == 0 {
        streams.iter().for_each(Stream::synchronize);
    }
    let mut all = Vec::new();
    for (one, stream) in list.iter().zip(&streams) {
        let launch = Launch::of_grid(one.grid, one.block, u64::from(one.shared), one.params);
        if launch.too_large() {
            return Err(Error::InvalidConfiguration);
        }
        let function = launched(one.function)?;
        let (mut config, params) = Launch { cooperative, ..launch }.prepare(&function)?;
        complete(&function, &mut config)?;
        all.push((function, config, params, Arc::clone(stream)));
    }
    several::enqueue(all)?;
    if flags & NO_POST_SYNC == 0 {
        streams.iter().for_each(Stream::synchronize);
    }
    Ok(())
}

/// Whether a value can be a stream handle.
fn valid(stream: Handle) -> bool {
    is_default(stream) || STREAMS.get(stream).is_some()
}

fn is_default(stream: Handle) -> bool {
    matches!(stream, 0 | current::special::LEGACY | current::special::PER_THREAD)
}

fn stubs_on_several(list: In<LaunchParams>, count: i32, flags: u32, cooperative: bool) -> Result<()> {
    if list.is_null() {
        return Err(Error::InvalidValue);
    }
    let count = usize::try_from(count).ok().filter(|n| *n <= MAX_LIST).ok_or(Error::InvalidValue)?;
    let mut all = Vec::new();
    for one in list.each(count) {
        let one = one?;
        let stream = stream_of(one.stream, false)?;
        all.push(FunctionLaunchParams {
            function: stub(one.host, &stream)?.handle,
            grid: one.grid.list(),
            block: one.block.list(),
            shared: u32::try_from(one.shared).map_err(|_| Error::InvalidValue)?,
            stream: one.stream,
            params: one.params,
        });
    }
    on_several(&all, flags, cooperative)
}

/// An upper bound of a list's length, more than there can be devices.
const MAX_LIST: usize = 4096;

pub use self::hipExtModuleLaunchKernel as _Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j;
pub use self::hipHccModuleLaunchKernel as _Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_;

/// `hip_impl::hipLaunchKernelGGLImpl`, which HIP 5 exports by its C++ name: [`hipLaunchKernel`] with a stub's
/// address, sizes by reference, and the error left to hipGetLastError.
pub extern "C" fn _ZN8hip_impl22hipLaunchKernelGGLImplEmRK4dim3S2_jP12ihipStream_tPPv(
    host: u64,
    grid: In<Dim3>,
    block: In<Dim3>,
    shared: u32,
    stream: Handle,
    params: In<u64>,
) {
    let size = |size: In<Dim3>| size.get().unwrap_or_default();
    hipLaunchKernel(host, size(grid), size(block), params, shared as usize, stream);
}

api! {
    Object Appends fn hipModuleLaunchKernel(
        handle: Handle, grid_x: u32, grid_y: u32, grid_z: u32, block_x: u32, block_y: u32, block_z: u32,
        shared: u32, stream: Handle, params: In<u64>, extra: In<u64>,
    ) {
        let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
        let launch = Launch::of_grid(grid, block, u64::from(shared), params);
        module_launch(handle, grid, stream, extra, launch)
    }

    Object Appends fn hipModuleLaunchCooperativeKernel(
        handle: Handle, grid_x: u32, grid_y: u32, grid_z: u32, block_x: u32, block_y: u32, block_z: u32,
        shared: u32, stream: Handle, params: In<u64>,
    ) {
        let stream = driver_stream(stream)?;
        let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
        let launch = Launch::of_grid(grid, block, u64::from(shared), params);
        if launch.too_large() {
            return Err(Error::InvalidConfiguration);
        }
        let function = launched(handle)?;
        Launch { cooperative: true, ..launch }.go(&function, &stream)
    }

    /// Sizes are in work items. `flags` has no effect: kernels always run in order.
    Object Appends fn hipExtModuleLaunchKernel(
        handle: Handle, work_x: u32, work_y: u32, work_z: u32, block_x: u32, block_y: u32, block_z: u32,
        shared: usize, stream: Handle, params: In<u64>, extra: In<u64>, start: Handle, stop: Handle,
        flags: u32,
    ) {
        let _ = flags;
        let (work, block) = ([work_x, work_y, work_z], [block_x, block_y, block_z]);
        Items { handle, work, block, shared, stream, params, extra, start, stop }.go()
    }

    /// Deprecated: `hipExtModuleLaunchKernel` without flags.
    Object Appends fn hipHccModuleLaunchKernel(
        handle: Handle, work_x: u32, work_y: u32, work_z: u32, block_x: u32, block_y: u32, block_z: u32,
        shared: usize, stream: Handle, params: In<u64>, extra: In<u64>, start: Handle, stop: Handle,
    ) {
        let (work, block) = ([work_x, work_y, work_z], [block_x, block_y, block_z]);
        Items { handle, work, block, shared, stream, params, extra, start, stop }.go()
    }

    Object Invalidates fn hipModuleLaunchCooperativeKernelMultiDevice(
        list: In<FunctionLaunchParams>, count: u32, flags: u32,
    ) {
        if list.is_null() || count as usize > MAX_LIST {
            return Err(Error::InvalidValue);
        }
        let checked = |one: driver::Result<FunctionLaunchParams>| {
            one.ok().filter(|one| valid(one.stream)).ok_or(Error::InvalidValue)
        };
        let list = list.each(count as usize).map(checked).collect::<Result<Vec<_>>>()?;
        if list.iter().any(|one| is_default(one.stream)) {
            check(Need::Driver)?;
        }
        on_several(&list, flags, true)
    }

    Context Appends fn hipLaunchKernel / hipLaunchKernel_spt (
        host: u64, grid: Dim3, block: Dim3, params: In<u64>, shared: usize, stream: Handle,
    ) |own| {
        stub_launch(host, grid, block, params, shared, stream, own, (0, 0))
    }

    Context Appends fn hipExtLaunchKernel(
        host: u64, grid: Dim3, block: Dim3, params: In<u64>, shared: usize, stream: Handle, start: Handle,
        stop: Handle, flags: i32,
    ) {
        let _ = flags;
        for event in [start, stop] {
            event_of(event).map_err(|_| Error::InvalidValue)?;
        }
        stub_launch(host, grid, block, params, shared, stream, false, (start, stop))
    }

    Context Appends fn hipLaunchCooperativeKernel / hipLaunchCooperativeKernel_spt (
        host: u64, grid: Dim3, block: Dim3, params: In<u64>, shared: u32, stream: Handle,
    ) |own| {
        cooperative_stub(host, grid, block, params, shared, stream, own)
    }

    Context Invalidates fn hipLaunchCooperativeKernelMultiDevice(
        list: In<LaunchParams>, count: i32, flags: u32,
    ) {
        stubs_on_several(list, count, flags, true)
    }

    Context Invalidates fn hipExtLaunchMultiKernelMultiDevice(
        list: In<LaunchParams>, count: i32, flags: u32,
    ) {
        stubs_on_several(list, count, flags, false)
    }
}
