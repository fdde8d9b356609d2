//! Kernel launches: plain, with attributes, cooperative, and by the deprecated functions.

use std::mem::offset_of;
use std::sync::Arc;

use capi::types::FunctionLaunchParams;
use driver::device::attribute;
use driver::event::{self, Event};
use driver::handle::lock;
use driver::launch::{self, Config, Params, extra_key};
use driver::library::function_or_kernel;
use driver::module::{Function, LEGACY_PARAMS, function};
use driver::several;
use driver::stream::{Stream, Submitted};
use driver::{Error, Result, context};

use crate::abi::{In, Out, bytes_at};
use crate::api;
use crate::api::{check_default, graph_node as node, stream};
use crate::types::{Handle, LaunchAttribute, LaunchConfig};

/// The parameter buffer of a launch, from pointers to the parameters or from a packed buffer.
pub(super) fn params(function: &Function, pointers: In<u64>, extra: In<u64>) -> Result<Params> {
    match packed(pointers, extra)? {
        Some([]) => whole(function, &[]),
        Some(bytes) => filled(function, bytes).ok_or(Error::LaunchOutOfResources),
        None => each(function, pointers),
    }
}

/// A packed buffer may be smaller than the kernel's parameters; the rest is zero (recorded on an H200
/// for launches and for nodes of graphs; NCCL launches its kernels so).
fn filled(function: &Function, bytes: &[u8]) -> Option<Params> {
    let mut params = Params::zeroed(function.info().param_size as usize);
    params.bytes_mut().get_mut(..bytes.len())?.copy_from_slice(bytes);
    Some(params)
}

/// As [`params`], for a graph's node; also the size of a packed buffer.
pub(super) fn node_params(
    function: &Function,
    pointers: In<u64>,
    extra: In<u64>,
) -> Result<(Params, Option<usize>)> {
    let Some(bytes) = packed(pointers, extra)? else { return Ok((each(function, pointers)?, None)) };
    let params = filled(function, bytes).ok_or(Error::InvalidValue)?;
    Ok((params, Some(bytes.len())))
}

/// The packed buffer of a launch's parameters, if it has one.
fn packed<'a>(pointers: In<u64>, extra: In<u64>) -> Result<Option<&'a [u8]>> {
    if extra.is_null() {
        return Ok(None);
    }
    if !pointers.is_null() {
        return Err(Error::InvalidValue);
    }
    let (mut buffer, mut size) = (None, None);
    for i in (0..).step_by(2) {
        match extra.at(i)? {
            extra_key::END => break,
            extra_key::BUFFER_POINTER => buffer = Some(extra.at(i + 1)?),
            extra_key::BUFFER_SIZE => size = Some(In::<usize>::at_address(extra.at(i + 1)?).get()?),
            _ => return Err(Error::InvalidValue),
        }
    }
    let size = match (buffer, size) {
        (None, None) => 0,
        (Some(_), Some(size)) => size,
        _ => return Err(Error::InvalidValue),
    };
    Ok(Some(bytes_at(buffer.unwrap_or(0), size)))
}

/// The parameters whose addresses are in a list.
fn each(function: &Function, pointers: In<u64>) -> Result<Params> {
    let info = function.info();
    if pointers.is_null() {
        return whole(function, &[]);
    }
    let mut params = Params::zeroed(info.param_size as usize);
    let buffer = params.bytes_mut();
    for (i, param) in info.params.iter().enumerate() {
        let value = pointers.at(i)?;
        if value == 0 {
            return Err(Error::InvalidValue);
        }
        let (offset, size) = (param.offset as usize, param.size as usize);
        if let Some(to) = buffer.get_mut(offset..offset.saturating_add(size)) {
            to.copy_from_slice(bytes_at(value, size));
        }
    }
    Ok(params)
}

/// All parameters at once: they must have the kernel's size, and none count as absent.
fn whole(function: &Function, bytes: &[u8]) -> Result<Params> {
    match (bytes.len(), function.info().param_size as usize) {
        (have, want) if have == want => Ok(Params::of(bytes)),
        (0, _) => Err(Error::InvalidValue),
        _ => Err(Error::LaunchOutOfResources),
    }
}

fn go(
    function: Arc<Function>,
    mut config: Config,
    pointers: In<u64>,
    extra: In<u64>,
    stream: &Arc<Stream>,
) -> Result<Submitted> {
    launch::check(&function, &mut config)?;
    let params = params(&function, pointers, extra)?;
    launch::enqueue(function, &config, params, stream)
}

/// The effect of a launch's attributes.
#[derive(Default)]
struct Asked {
    cooperative: bool,
    cluster: Option<[u32; 3]>,
    preferred_cluster: Option<[u32; 3]>,
    events: Vec<Arc<Event>>,
    /// The addresses to which handles of the node go: kernels will update it.
    handles: Vec<u64>,
}

/// The event in an attribute's value, with its flags after it.
fn event_of(value: &[u64; 8]) -> Result<Arc<Event>> {
    /// `CU_EVENT_RECORD_EXTERNAL`: for stream capture only.
    const EXTERNAL: u32 = 1;
    let [handle, flags, ..] = *value;
    let event = event::get(handle)?;
    match flags as u32 {
        0 if event.is_timed() => Err(Error::NotSupported),
        0 => Ok(event),
        EXTERNAL => Err(Error::IllegalState),
        _ => Err(Error::InvalidValue),
    }
}

/// `CUlaunchAttributeID`.
pub(super) mod attribute_id {
    pub const IGNORE: u32 = 0;
    pub const ACCESS_POLICY_WINDOW: u32 = 1;
    pub const COOPERATIVE: u32 = 2;
    pub const CLUSTER_DIMENSION: u32 = 4;
    pub const CLUSTER_SCHEDULING_POLICY: u32 = 5;
    pub const PROGRAMMATIC_STREAM_SERIALIZATION: u32 = 6;
    pub const PROGRAMMATIC_EVENT: u32 = 7;
    pub const PRIORITY: u32 = 8;
    pub const MEM_SYNC_DOMAIN_MAP: u32 = 9;
    pub const MEM_SYNC_DOMAIN: u32 = 10;
    pub const PREFERRED_CLUSTER_DIMENSION: u32 = 11;
    pub const LAUNCH_COMPLETION_EVENT: u32 = 12;
    pub const DEVICE_UPDATABLE_KERNEL_NODE: u32 = 13;
    pub const PREFERRED_SHARED_MEMORY_CARVEOUT: u32 = 14;
    pub const NVLINK_UTIL_CENTRIC_SCHEDULING: u32 = 16;
}

/// The highest cluster scheduling policy, the highest launch domain, and the whole cache in percent.
const LAST_CLUSTER_POLICY: u32 = 2;
const LAST_DOMAIN: u32 = 1;
const WHOLE_CACHE: u32 = 100;

/// Reads the attributes. Those that only tune hardware are checked and have no effect.
fn attributes(list: In<LaunchAttribute>, count: u32, domains: u64, capturing: bool) -> Result<Asked> {
    let mut asked = Asked::default();
    for (at, attribute) in list.each(count as usize).enumerate() {
        let attribute = attribute?;
        let [first, second, ..] = attribute.value;
        let word = first as u32;
        let size = || Some([word, (first >> 32) as u32, second as u32]);
        let at_most = |most: u32| if word <= most { Ok(()) } else { Err(Error::InvalidValue) };
        match attribute.id {
            // Launches in a stream run in order, whatever the attribute asks for.
            attribute_id::IGNORE
            | attribute_id::ACCESS_POLICY_WINDOW
            | attribute_id::PROGRAMMATIC_STREAM_SERIALIZATION
            | attribute_id::PRIORITY => {}
            attribute_id::COOPERATIVE => asked.cooperative = word != 0,
            attribute_id::CLUSTER_DIMENSION => asked.cluster = size(),
            attribute_id::CLUSTER_SCHEDULING_POLICY => at_most(LAST_CLUSTER_POLICY)?,
            // One byte for the default domain and one for the remote domain.
            attribute_id::MEM_SYNC_DOMAIN_MAP
                if [word & 0xff, word >> 8 & 0xff].iter().all(|&d| u64::from(d) < domains) => {}
            attribute_id::MEM_SYNC_DOMAIN => at_most(LAST_DOMAIN)?,
            // Only checked: clusters of the regular size are always valid.
            attribute_id::PREFERRED_CLUSTER_DIMENSION => asked.preferred_cluster = size(),
            attribute_id::PREFERRED_SHARED_MEMORY_CARVEOUT => at_most(WHOLE_CACHE)?,
            attribute_id::NVLINK_UTIL_CENTRIC_SCHEDULING => at_most(u32::from(true))?,
            // Events for the start of a kernel are recorded at its end, so never too early.
            attribute_id::PROGRAMMATIC_EVENT | attribute_id::LAUNCH_COMPLETION_EVENT => {
                asked.events.push(event_of(&attribute.value)?);
            }
            attribute_id::DEVICE_UPDATABLE_KERNEL_NODE if !capturing => return Err(Error::NotSupported),
            attribute_id::DEVICE_UPDATABLE_KERNEL_NODE => {
                at_most(u32::from(true))?;
                if word != 0 {
                    let offset = at * size_of::<LaunchAttribute>() + offset_of!(LaunchAttribute, value);
                    asked.handles.push(list.address() + offset as u64);
                }
            }
            _ => return Err(Error::InvalidValue),
        }
    }
    Ok(asked)
}

/// The configuration of a launch.
pub(super) fn shape(function: &Function, config: &LaunchConfig) -> Result<Config> {
    asked(function, config, false).map(|asked| asked.0)
}

/// The configuration of a launch, and the rest of what its attributes ask for.
fn asked(function: &Function, config: &LaunchConfig, capturing: bool) -> Result<(Config, Asked)> {
    let domains = function.device().attribute(attribute::MEM_SYNC_DOMAIN_COUNT)?;
    let asked = attributes(config.attributes, config.attribute_count, domains.max(0) as u64, capturing)?;
    let shape = Config {
        grid: config.grid,
        block: config.block,
        dynamic_shared: config.shared,
        cooperative: asked.cooperative,
        cluster: asked.cluster,
        preferred_cluster: asked.preferred_cluster,
    };
    Ok((shape, asked))
}

/// The function to launch in a stream. A library's kernel is loaded into the thread's context, or into the
/// stream's if the thread has none.
fn launched(handle: Handle, in_stream: Handle) -> Result<Arc<Function>> {
    check_default(in_stream)?;
    function_or_kernel(handle, || match context::current() {
        Some(context) => Ok(context),
        None => stream(in_stream, false)?.context(),
    })
}

fn launch_with(
    config: In<LaunchConfig>,
    handle: Handle,
    pointers: In<u64>,
    extra: In<u64>,
    own: bool,
) -> Result<()> {
    let config = config.get()?;
    let function = launched(handle, config.stream)?;
    let found = stream(config.stream, own);
    let capturing = found.as_ref().is_ok_and(|stream| stream.is_capturing());
    let (shape, asked) = asked(&function, &config, capturing)?;
    let stream = found?;
    let submitted = go(function, shape, pointers, extra, &stream)?;
    if !asked.handles.is_empty() {
        let value = node::make_updatable(submitted.node.ok_or(Error::IllegalState)?)?;
        asked.handles.iter().for_each(|address| Out::at(*address).set(value));
    }
    asked.events.iter().try_for_each(|event| event.record(&stream))
}

/// Launches one kernel on each of several devices.
fn launch_on_all(list: In<FunctionLaunchParams>, count: u32, flags: u32) -> Result<()> {
    const KNOWN_FLAGS: u32 = 3;
    if count == 0 || list.is_null() || flags & !KNOWN_FLAGS != 0 {
        return Err(Error::InvalidValue);
    }
    let mut all = Vec::new();
    for one in list.each(count as usize) {
        let one = one?;
        let stream = stream(one.stream, false)?;
        let function = function_or_kernel(one.function, || stream.context())?;
        let device = function.device().ordinal;
        if all.iter().any(|(f, ..): &(Arc<Function>, _, _, _)| f.device().ordinal == device) {
            return Err(Error::InvalidDevice);
        }
        let mut config = Config {
            grid: one.grid,
            block: one.block,
            dynamic_shared: one.shared,
            cooperative: true,
            cluster: None,
            preferred_cluster: None,
        };
        launch::check(&function, &mut config)?;
        let params = params(&function, one.params, In::at_address(0))?;
        all.push((function, config, params, stream));
    }
    several::enqueue(all)
}

/// Checks the upper bound of a value for the deprecated functions.
fn at_most(value: u32, most: u64) -> Result<u32> {
    if u64::from(value) > most { Err(Error::InvalidValue) } else { Ok(value) }
}

/// Writes into the deprecated functions' parameter buffer.
fn set_params(handle: Handle, offset: i32, bytes: &[u8]) -> Result<()> {
    let function = function(handle)?;
    let start = usize::try_from(offset).map_err(|_| Error::InvalidValue)?;
    let end =
        start.checked_add(bytes.len()).filter(|end| *end <= LEGACY_PARAMS).ok_or(Error::InvalidValue)?;
    let mut legacy = lock(&function.legacy);
    if legacy.params.len() < end {
        legacy.params.resize(end, 0);
    }
    if let Some(to) = legacy.params.get_mut(start..end) {
        to.copy_from_slice(bytes);
    }
    Ok(())
}

/// Launches with the state that the deprecated functions have set.
fn launch_old(handle: Handle, width: i32, height: i32, stream_handle: Handle) -> Result<()> {
    check_default(stream_handle)?;
    let function = function(handle)?;
    let side = |n: i32| u32::try_from(n).map_err(|_| Error::InvalidValue);
    let legacy = lock(&function.legacy).clone();
    let mut config = Config {
        grid: [side(width)?, side(height)?, 1],
        block: legacy.block,
        dynamic_shared: legacy.shared,
        cooperative: false,
        cluster: None,
        preferred_cluster: None,
    };
    launch::check(&function, &mut config)?;
    let mut params = legacy.params;
    params.resize(legacy.size, 0);
    let params = whole(&function, &params)?;
    launch::enqueue(function, &config, params, &stream(stream_handle, false)?).map(|_| ())
}

api! {
    Object Appends fn cuLaunchKernel / cuLaunchKernel_ptsz (
        handle: Handle, grid_x: u32, grid_y: u32, grid_z: u32, block_x: u32, block_y: u32, block_z: u32,
        shared: u32, in_stream: Handle, pointers: In<u64>, extra: In<u64>,
    ) |own| {
        let function = launched(handle, in_stream)?;
        let config = Config {
            grid: [grid_x, grid_y, grid_z],
            block: [block_x, block_y, block_z],
            dynamic_shared: shared,
            cooperative: false,
            cluster: None,
            preferred_cluster: None,
        };
        go(function, config, pointers, extra, &stream(in_stream, own)?).map(|_| ())
    }

    Object Appends fn cuLaunchKernelEx / cuLaunchKernelEx_ptsz (
        config: In<LaunchConfig>, handle: Handle, pointers: In<u64>, extra: In<u64>,
    ) |own| {
        launch_with(config, handle, pointers, extra, own)
    }

    Object Appends fn cuLaunchCooperativeKernel / cuLaunchCooperativeKernel_ptsz (
        handle: Handle, grid_x: u32, grid_y: u32, grid_z: u32, block_x: u32, block_y: u32, block_z: u32,
        shared: u32, in_stream: Handle, pointers: In<u64>,
    ) |own| {
        let function = launched(handle, in_stream)?;
        let config = Config {
            grid: [grid_x, grid_y, grid_z],
            block: [block_x, block_y, block_z],
            dynamic_shared: shared,
            cooperative: true,
            cluster: None,
            preferred_cluster: None,
        };
        go(function, config, pointers, In::at_address(0), &stream(in_stream, own)?).map(|_| ())
    }

    Object Invalidates fn cuLaunchCooperativeKernelMultiDevice(
        list: In<FunctionLaunchParams>, count: u32, flags: u32,
    ) {
        launch_on_all(list, count, flags)
    }

    Object Legal fn cuFuncSetBlockShape(handle: Handle, x: i32, y: i32, z: i32) {
        let function = function(handle)?;
        let device = function.device();
        let mut block = [0u32; 3];
        let bounds = attribute::MAX_BLOCK_DIM.into_iter().zip([x, y, z]);
        for (to, (number, from)) in block.iter_mut().zip(bounds) {
            let most = device.attribute(number)?.unsigned_abs();
            *to = u32::try_from(from).ok().filter(|n| (1..=most).contains(n)).ok_or(Error::InvalidValue)?;
        }
        let threads = block.iter().map(|&n| u64::from(n)).product::<u64>();
        if threads > u64::from(device.attribute(attribute::MAX_THREADS_PER_BLOCK)?.unsigned_abs()) {
            return Err(Error::InvalidValue);
        }
        lock(&function.legacy).block = block;
        Ok(())
    }

    Object Legal fn cuFuncSetSharedSize(handle: Handle, bytes: u32) {
        let function = function(handle)?;
        let most = function.device().attribute(attribute::MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?;
        lock(&function.legacy).shared = at_most(bytes, most.max(0) as u64)?;
        Ok(())
    }

    Object Legal fn cuParamSetSize(handle: Handle, bytes: u32) {
        let function = function(handle)?;
        lock(&function.legacy).size = at_most(bytes, LEGACY_PARAMS as u64)? as usize;
        Ok(())
    }

    Object Legal fn cuParamSeti(handle: Handle, offset: i32, value: u32) {
        set_params(handle, offset, &value.to_le_bytes())
    }

    Object Legal fn cuParamSetf(handle: Handle, offset: i32, value: f32) {
        set_params(handle, offset, &value.to_le_bytes())
    }

    Object Legal fn cuParamSetv(handle: Handle, offset: i32, from: u64, bytes: u32) {
        if from == 0 || bytes as usize > LEGACY_PARAMS {
            return Err(Error::InvalidValue);
        }
        set_params(handle, offset, bytes_at(from, bytes as usize))
    }

    Object Appends fn cuLaunch(handle: Handle) {
        launch_old(handle, 1, 1, 0)
    }

    Object Appends fn cuLaunchGrid(handle: Handle, width: i32, height: i32) {
        launch_old(handle, width, height, 0)
    }

    Object Appends fn cuLaunchGridAsync(handle: Handle, width: i32, height: i32, in_stream: Handle) {
        launch_old(handle, width, height, in_stream)
    }
}
