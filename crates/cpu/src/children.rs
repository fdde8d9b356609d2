//! CUDA's device runtime: what running kernels ask for, above all launches of kernels (dynamic parallelism)
//! and of graphs.
//!
//! What a grid asks for runs when the grid has ended, in the order in which it was asked for, each item with
//! all that it asks for in turn; then the grid's tail launches run in the same way. CUDA promises no more: a
//! kernel cannot wait for a grid that it launches, and sees none of its results.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::CStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use driver::backend::{Fault, FaultKind, KernelInfo, LaunchRequest, Program};
use driver::context::limit;
use driver::device::{Device, attribute};
use driver::graph::device::{Mode, Refused};
use driver::graph::updatable::{self, Updatable};
use grid::{DeviceCall, Heap, copy_guarded};
use wave::Module;
use wave::op::DeviceFn;

use crate::backend::ModuleCode;
use crate::parameters::{LINE, Line};

/// How deep grids may launch grids.
const MOST_DEPTH: u32 = 24;

/// Status codes of the runtime.
mod status {
    pub const INVALID_VALUE: u64 = 1;
    pub const MEMORY_ALLOCATION: u64 = 2;
    pub const INVALID_CONFIGURATION: u64 = 9;
    pub const INVALID_DEVICE_POINTER: u64 = 17;
    pub const INVALID_MEMCPY_DIRECTION: u64 = 21;
    pub const LAUNCH_MAX_DEPTH_EXCEEDED: u64 = 65;
    pub const LAUNCH_PENDING_COUNT_EXCEEDED: u64 = 69;
    pub const INVALID_DEVICE_FUNCTION: u64 = 98;
    pub const INVALID_DEVICE: u64 = 101;
    pub const UNSUPPORTED_LIMIT: u64 = 215;
    pub const INVALID_RESOURCE_HANDLE: u64 = 400;
    pub const NOT_SUPPORTED: u64 = 801;
}

/// The status codes that this file gives: number, name, text.
const TEXTS: &[(u64, &CStr, &CStr)] = &[
    (0, c"cudaSuccess", c"no error"),
    (status::INVALID_VALUE, c"cudaErrorInvalidValue", c"invalid argument"),
    (status::MEMORY_ALLOCATION, c"cudaErrorMemoryAllocation", c"out of memory"),
    (status::INVALID_CONFIGURATION, c"cudaErrorInvalidConfiguration", c"invalid configuration argument"),
    (status::INVALID_DEVICE_POINTER, c"cudaErrorInvalidDevicePointer", c"invalid device pointer"),
    (
        status::INVALID_MEMCPY_DIRECTION,
        c"cudaErrorInvalidMemcpyDirection",
        c"invalid copy direction for memcpy",
    ),
    (
        status::LAUNCH_MAX_DEPTH_EXCEEDED,
        c"cudaErrorLaunchMaxDepthExceeded",
        c"launch would exceed maximum depth of nested launches",
    ),
    (
        status::LAUNCH_PENDING_COUNT_EXCEEDED,
        c"cudaErrorLaunchPendingCountExceeded",
        c"launch failed because launch would exceed cudaLimitDevRuntimePendingLaunchCount",
    ),
    (status::INVALID_DEVICE_FUNCTION, c"cudaErrorInvalidDeviceFunction", c"invalid device function"),
    (status::INVALID_DEVICE, c"cudaErrorInvalidDevice", c"invalid device ordinal"),
    (status::UNSUPPORTED_LIMIT, c"cudaErrorUnsupportedLimit", c"limit is not supported on this architecture"),
    (status::INVALID_RESOURCE_HANDLE, c"cudaErrorInvalidResourceHandle", c"invalid resource handle"),
    (status::NOT_SUPPORTED, c"cudaErrorNotSupported", c"operation not supported"),
];

/// Streams with fixed numbers.
mod stream {
    /// The last of the default streams.
    pub const PER_THREAD: u64 = 2;
    pub const TAIL: u64 = 3;
    pub const FIRE_AND_FORGET: u64 = 4;
    /// The handles of streams and events that kernels create begin here.
    pub const FIRST: u64 = 0x1000;
}

/// `cudaStreamNonBlocking`, which streams of kernels must have.
const NON_BLOCKING: u64 = 1;
/// `cudaEventDisableTiming`, which events of kernels must have.
const DISABLE_TIMING: u64 = 2;
/// The last `cudaMemcpyKind`.
const LAST_KIND: u64 = 4;

/// `cudaGraphKernelNodeField`.
mod field {
    pub const GRID: u32 = 1;
    pub const PARAM: u32 = 2;
    pub const ENABLED: u32 = 3;
}

/// The size of a `cudaGraphKernelNodeUpdate`.
const UPDATE_SIZE: u64 = 40;

/// Why a call fails.
enum Wrong {
    /// With a status.
    Status(u64),
    /// With a fault: an address that cannot be accessed.
    Address(u64),
}

impl From<Refused> for Wrong {
    fn from(refused: Refused) -> Wrong {
        Wrong::Status(match refused {
            Refused::Value => status::INVALID_VALUE,
            Refused::Depth => status::LAUNCH_MAX_DEPTH_EXCEEDED,
        })
    }
}

type Result<T, E = Wrong> = std::result::Result<T, E>;

fn unless(wrong: bool, status: u64) -> Result<()> {
    if wrong { Err(Wrong::Status(status)) } else { Ok(()) }
}

/// All grids behind one launch of the host.
pub(crate) struct Family {
    /// How much was asked for and has not begun.
    pending: AtomicU64,
    most: u64,
    /// How long all of them may run together.
    watchdog: Option<Duration>,
    /// How long they have run, in nanoseconds. The time to compile them does not count.
    spent: AtomicU64,
}

impl Family {
    pub fn new(most: u64, watchdog: Option<Duration>) -> Family {
        Family { pending: AtomicU64::new(0), most, watchdog, spent: AtomicU64::new(0) }
    }

    pub fn spent(&self) -> Duration {
        Duration::from_nanos(self.spent.load(Ordering::Relaxed))
    }

    /// Runs a grid, or a part of what a grid has asked for, and counts its time if there is a limit.
    pub fn timed<T>(&self, run: impl FnOnce() -> T) -> T {
        let start = self.watchdog.is_some().then(Instant::now);
        let result = run();
        if let Some(start) = start {
            self.spent.fetch_add(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
        }
        result
    }

    /// Fails when the time is over.
    fn check_time(&self) -> Result<(), Fault> {
        match self.watchdog.filter(|limit| self.spent() >= *limit) {
            Some(limit) => Err(Fault {
                kind: FaultKind::Timeout,
                message: format!("what kernels launch, copy and fill has not ended after {limit:?}"),
            }),
            None => Ok(()),
        }
    }

    fn add(&self) -> Result<()> {
        let one_more = |now: u64| (now < self.most).then_some(now + 1);
        let added = self.pending.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more);
        unless(added.is_err(), status::LAUNCH_PENDING_COUNT_EXCEEDED)
    }
}

/// The shape of a launch by a kernel.
#[derive(Clone, Copy)]
struct Shape {
    kernel: usize,
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    cluster: Option<[u32; 3]>,
}

/// A buffer for the parameters of a launch, and the launch if it is known already.
struct Buffer {
    shape: Option<Shape>,
    lines: Box<[Line]>,
}

/// What a kernel has asked for.
enum Item {
    Launch(Shape, Box<[Line]>),
    Copy { to: u64, to_pitch: u64, from: u64, from_pitch: u64, width: u64, height: u64 },
    Fill { to: u64, pitch: u64, value: u8, width: u64, height: u64 },
}

/// What a grid has asked for.
#[derive(Default)]
pub(crate) struct Asked {
    items: VecDeque<Item>,
    tail: VecDeque<Item>,
}

impl Asked {
    fn is_empty(&self) -> bool {
        self.items.is_empty() && self.tail.is_empty()
    }
}

#[derive(Default)]
struct State {
    asked: Asked,
    buffers: BTreeMap<u64, Buffer>,
    /// Streams and events that the grid has created.
    handles: BTreeSet<u64>,
    created: u64,
    /// The last errors of threads, by block and thread.
    errors: BTreeMap<([u32; 3], [u32; 3]), u64>,
}

/// The device runtime of a running grid.
pub(crate) struct Children<'a> {
    module: &'a ModuleCode,
    launch: &'a LaunchRequest<'a>,
    family: &'a Family,
    /// How many launches by kernels lead to this grid.
    depth: u32,
    /// Made at the first call: most grids make none.
    state: OnceLock<Box<Mutex<State>>>,
}

/// Reads words of a thread's memory.
fn read<const N: usize>(address: u64) -> Result<[u32; N]> {
    let mut words = [0; N];
    // SAFETY: writes to the array; the guarded copy may read from any address.
    let done = unsafe { copy_guarded(words.as_mut_ptr().cast(), address as *const u8, 4 * N) };
    done.map(|()| words).map_err(|_| Wrong::Address(address))
}

/// Writes to a thread's memory.
fn write(address: u64, bytes: &[u8]) -> Result<()> {
    // SAFETY: the kernel gave the address for the result, as it might have written there itself.
    let done = unsafe { copy_guarded(address as *mut u8, bytes.as_ptr(), bytes.len()) };
    done.map_err(|_| Wrong::Address(address))
}

/// Sets parameters of a node to bytes of a thread's memory.
fn set_params(node: &Updatable, offset: u64, from: u64, size: u64) -> Result<()> {
    let wrong = |_| Wrong::Status(status::INVALID_VALUE);
    node.check_range(offset, size).map_err(wrong)?;
    let mut bytes = vec![0; size as usize];
    // SAFETY: writes to the vector; the guarded copy may read from any address.
    let done = unsafe { copy_guarded(bytes.as_mut_ptr(), from as *const u8, bytes.len()) };
    done.map_err(|_| Wrong::Address(from))?;
    node.set_params(offset, &bytes).map_err(wrong)
}

fn set_grid(node: &Updatable, grid: [u32; 3]) -> Result<()> {
    node.set_grid(grid).map_err(|_| Wrong::Status(status::INVALID_VALUE))
}

impl<'a> Children<'a> {
    pub fn new(
        module: &'a ModuleCode,
        launch: &'a LaunchRequest<'a>,
        family: &'a Family,
        depth: u32,
    ) -> Children<'a> {
        Children { module, launch, family, depth, state: OnceLock::new() }
    }

    /// What the grid has asked for, if anything.
    #[inline]
    pub fn asked(self) -> Option<Box<Asked>> {
        self.state.get()?;
        let state = self.state.into_inner()?.into_inner().unwrap_or_else(PoisonError::into_inner);
        (!state.asked.is_empty()).then(|| Box::new(state.asked))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.get_or_init(Box::default).lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn device(&self, ordinal: u64) -> Option<&'static Arc<Device>> {
        driver::driver().ok()?.device(i32::try_from(ordinal).ok()?).ok()
    }

    /// Answers a call.
    ///
    /// # Errors
    /// An address that cannot be accessed, and why it was.
    pub fn call(&self, call: &DeviceCall, heap: &Heap) -> Result<u64, (u64, String)> {
        let thread = (call.block, call.thread);
        let texts = |number: u64| TEXTS.iter().find(|row| row.0 == number);
        let [first, ..] = call.arguments;
        let done = match call.function {
            DeviceFn::GetLastError => return Ok(self.state().errors.remove(&thread).unwrap_or(0)),
            DeviceFn::PeekAtLastError => {
                return Ok(self.state().errors.get(&thread).copied().unwrap_or(0));
            }
            DeviceFn::CurrentGraphExec => return Ok(self.launch.graph.map_or(0, |graph| graph.current())),
            DeviceFn::GetErrorString => {
                let text = texts(first).map_or(c"unrecognized error code", |row| row.2);
                return Ok(text.as_ptr() as u64);
            }
            DeviceFn::GetErrorName => {
                let name = texts(first).map_or(c"unrecognized error code", |row| row.1);
                return Ok(name.as_ptr() as u64);
            }
            DeviceFn::GetParameterBuffer | DeviceFn::GetParameterBufferV2 => self.buffer(call),
            _ => self.act(call, heap).map(|()| 0),
        };
        match done {
            Ok(answer) => Ok(answer),
            Err(Wrong::Address(address)) => Err((address, format!("accessed by {}", call.function.name()))),
            Err(Wrong::Status(status)) => {
                self.state().errors.insert(thread, status);
                let gives_address =
                    matches!(call.function, DeviceFn::GetParameterBuffer | DeviceFn::GetParameterBufferV2);
                Ok(if gives_address { 0 } else { status })
            }
        }
    }

    /// Functions that return a status.
    fn act(&self, call: &DeviceCall, heap: &Heap) -> Result<()> {
        let [a, b, c, d, e, f, g, h] = call.arguments;
        match call.function {
            DeviceFn::LaunchDeviceV2 => self.launch(a, b, |buffer| buffer.shape),
            DeviceFn::LaunchDevice => {
                let shape = self.shape(a, read(c)?, read(d)?, e as u32)?;
                self.launch(b, f, |buffer| {
                    let needed = self.module.kernels().get(shape.kernel)?.param_size as usize;
                    (needed <= buffer.lines.len() * LINE).then_some(shape)
                })
            }
            DeviceFn::GraphLaunch => {
                // Kernels outside graphs cannot.
                let graph = self.launch.graph.ok_or(Wrong::Status(status::NOT_SUPPORTED))?;
                let mode = Mode::of_stream(b).ok_or(Wrong::Status(status::INVALID_VALUE))?;
                Ok(graph.launch(a, mode)?)
            }
            DeviceFn::GraphKernelNodeSetParam => set_params(&*self.node(a)?, b, c, d),
            DeviceFn::GraphKernelNodeSetEnabled => {
                self.node(a)?.enable(b as u8 != 0);
                Ok(())
            }
            DeviceFn::GraphKernelNodeSetGridDim => set_grid(&*self.node(a)?, read(b)?),
            DeviceFn::GraphKernelNodeUpdatesApply => {
                for at in 0..b {
                    self.update(a.wrapping_add(at.wrapping_mul(UPDATE_SIZE)))?;
                }
                Ok(())
            }
            DeviceFn::MemcpyAsync => {
                unless(d > LAST_KIND, status::INVALID_MEMCPY_DIRECTION)?;
                let (to, from, width) = (a, b, c);
                self.ask(e, Item::Copy { to, to_pitch: 0, from, from_pitch: 0, width, height: 1 })
            }
            DeviceFn::Memcpy2DAsync => {
                unless(g > LAST_KIND, status::INVALID_MEMCPY_DIRECTION)?;
                let (to, to_pitch, from, from_pitch, width, height) = (a, b, c, d, e, f);
                unless(width > to_pitch.min(from_pitch), status::INVALID_VALUE)?;
                self.ask(h, Item::Copy { to, to_pitch, from, from_pitch, width, height })
            }
            DeviceFn::MemsetAsync => {
                self.ask(d, Item::Fill { to: a, pitch: 0, value: b as u8, width: c, height: 1 })
            }
            DeviceFn::Memset2DAsync => {
                unless(d > b, status::INVALID_VALUE)?;
                self.ask(f, Item::Fill { to: a, pitch: b, value: c as u8, width: d, height: e })
            }
            DeviceFn::Malloc => {
                let address = heap.allocate(b);
                unless(address == 0 && b != 0, status::MEMORY_ALLOCATION)?;
                write(a, &address.to_le_bytes())
            }
            DeviceFn::Free => unless(a != 0 && !heap.free(a), status::INVALID_DEVICE_POINTER),
            DeviceFn::StreamCreateWithFlags => self.create(a, b == NON_BLOCKING),
            DeviceFn::EventCreateWithFlags => self.create(a, b == DISABLE_TIMING),
            DeviceFn::StreamDestroy | DeviceFn::EventDestroy => {
                unless(!self.state().handles.remove(&a), status::INVALID_RESOURCE_HANDLE)
            }
            // What is asked for runs in order, whatever the streams: nothing is left to wait for.
            DeviceFn::StreamWaitEvent | DeviceFn::EventRecord | DeviceFn::EventRecordWithFlags => {
                let (stream, event) =
                    if call.function == DeviceFn::StreamWaitEvent { (a, b) } else { (b, a) };
                self.is_tail(stream)?;
                unless(!self.state().handles.contains(&event), status::INVALID_RESOURCE_HANDLE)
            }
            DeviceFn::DeviceGetAttribute => {
                let device = self.device(c).ok_or(Wrong::Status(status::INVALID_DEVICE))?;
                let value = i32::try_from(b).ok().and_then(|number| device.attribute(number).ok());
                write(a, &value.ok_or(Wrong::Status(status::INVALID_VALUE))?.to_le_bytes())
            }
            DeviceFn::DeviceGetLimit => {
                let limits = &self.launch.limits;
                let value = match u32::try_from(b) {
                    Ok(limit::STACK_SIZE) => limits.stack,
                    Ok(limit::PRINTF_FIFO_SIZE) => limits.printf,
                    Ok(limit::MALLOC_HEAP_SIZE) => limits.heap,
                    Ok(limit::DEV_RUNTIME_PENDING_LAUNCH_COUNT) => limits.pending,
                    _ => return Err(Wrong::Status(status::UNSUPPORTED_LIMIT)),
                };
                write(a, &value.to_le_bytes())
            }
            DeviceFn::GetDevice => write(a, &self.launch.device.to_le_bytes()),
            DeviceFn::GetDeviceCount => {
                let count = driver::driver().map_or(0, |driver| driver.devices.len() as u32);
                write(a, &count.to_le_bytes())
            }
            DeviceFn::RuntimeGetVersion => write(a, &driver::VERSION.to_le_bytes()),
            // `call` answers these.
            DeviceFn::GetLastError
            | DeviceFn::PeekAtLastError
            | DeviceFn::GetErrorString
            | DeviceFn::GetErrorName
            | DeviceFn::CurrentGraphExec
            | DeviceFn::GetParameterBuffer
            | DeviceFn::GetParameterBufferV2 => Ok(()),
        }
    }

    /// A node that this kernel may update.
    fn node(&self, handle: u64) -> Result<Arc<Updatable>> {
        updatable::get(handle, self.launch.device).map_err(|_| Wrong::Status(status::INVALID_VALUE))
    }

    /// Makes one update of a list: a `cudaGraphKernelNodeUpdate`.
    fn update(&self, address: u64) -> Result<()> {
        let [node_low, node_high, field, _, w0, w1, w2, w3, w4, w5] = read(address)?;
        let long = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let node = self.node(long(node_low, node_high))?;
        match field {
            field::GRID => set_grid(&node, [w0, w1, w2]),
            field::PARAM => set_params(&node, long(w2, w3), long(w0, w1), long(w4, w5)),
            field::ENABLED => {
                node.enable(w0 != 0);
                Ok(())
            }
            _ => Err(Wrong::Status(status::INVALID_VALUE)),
        }
    }

    fn create(&self, address: u64, legal: bool) -> Result<()> {
        unless(!legal, status::INVALID_VALUE)?;
        let handle = {
            let mut state = self.state();
            let handle = stream::FIRST + state.created;
            state.created += 1;
            state.handles.insert(handle);
            handle
        };
        write(address, &handle.to_le_bytes())
    }

    /// Whether a stream is that of tail launches.
    fn is_tail(&self, stream: u64) -> Result<bool> {
        match stream {
            stream::TAIL => Ok(true),
            0..=stream::PER_THREAD | stream::FIRE_AND_FORGET => Ok(false),
            _ if self.state().handles.contains(&stream) => Ok(false),
            _ => Err(Wrong::Status(status::INVALID_RESOURCE_HANDLE)),
        }
    }

    fn ask(&self, stream: u64, item: Item) -> Result<()> {
        let is_tail = self.is_tail(stream)?;
        self.family.add()?;
        let asked = &mut self.state().asked;
        if is_tail {
            asked.tail.push_back(item)
        } else {
            asked.items.push_back(item)
        }
        Ok(())
    }

    /// Launches with the parameters in a buffer, which is used up unless the stream is wrong.
    fn launch(&self, buffer: u64, stream: u64, shape: impl Fn(&Buffer) -> Option<Shape>) -> Result<()> {
        unless(self.depth >= MOST_DEPTH, status::LAUNCH_MAX_DEPTH_EXCEEDED)?;
        self.is_tail(stream)?;
        let found = self.state().buffers.remove(&buffer);
        let found = found.and_then(|buffer| Some((shape(&buffer)?, buffer.lines)));
        let (shape, lines) = found.ok_or(Wrong::Status(status::INVALID_VALUE))?;
        self.ask(stream, Item::Launch(shape, lines))
    }

    /// The address of a new buffer for parameters.
    fn buffer(&self, call: &DeviceCall) -> Result<u64> {
        let [a, b, c, d, ..] = call.arguments;
        unless(self.depth >= MOST_DEPTH, status::LAUNCH_MAX_DEPTH_EXCEEDED)?;
        let (shape, size) = if call.function == DeviceFn::GetParameterBufferV2 {
            let shape = self.shape(a, read(b)?, read(c)?, d as u32)?;
            let kernel = self.module.kernels().get(shape.kernel);
            (Some(shape), kernel.map_or(0, |kernel| u64::from(kernel.param_size)))
        } else {
            (None, b)
        };
        // PTX's limit on parameters.
        unless(size > 32 << 10, status::INVALID_VALUE)?;
        let lines = vec![Line([0; LINE]); (size as usize).div_ceil(LINE).max(1)].into_boxed_slice();
        let mut state = self.state();
        unless(state.buffers.len() as u64 >= self.family.most, status::LAUNCH_PENDING_COUNT_EXCEEDED)?;
        let address = lines.as_ptr() as u64;
        state.buffers.insert(address, Buffer { shape, lines });
        Ok(address)
    }

    /// Checks a launch.
    fn shape(&self, kernel: u64, mut grid: [u32; 3], block: [u32; 3], shared: u32) -> Result<Shape> {
        let number = Module::func_of_handle(kernel).and_then(|id| self.module.kernel_of(id));
        let info = number.and_then(|number| Some((number, self.module.kernels().get(number)?)));
        let (kernel, info) = info.ok_or(Wrong::Status(status::INVALID_DEVICE_FUNCTION))?;
        if let Some(reason) = self.module.refused(kernel) {
            driver::log::say(driver::log::Level::Error, || format!("kernel {}: {reason}", info.name));
            return Err(Wrong::Status(status::INVALID_DEVICE_FUNCTION));
        }
        let cluster = info.required_cluster.filter(|size| !size.contains(&0));
        if info.blocks_are_clusters
            && let Some(size) = cluster
        {
            grid = std::array::from_fn(|axis| grid[axis].saturating_mul(size[axis]));
        }
        let legal = self.fits(info, grid, block, shared)
            && cluster
                .is_none_or(|size| grid.iter().zip(size).all(|(blocks, side)| blocks.is_multiple_of(side)));
        unless(!legal, status::INVALID_CONFIGURATION)?;
        Ok(Shape { kernel, grid, block, shared, cluster })
    }

    fn fits(&self, info: &KernelInfo, grid: [u32; 3], block: [u32; 3], shared: u32) -> bool {
        let Some(device) = self.device(self.launch.device.into()) else { return false };
        let within = |sizes: [u32; 3], numbers: [i32; 3]| {
            sizes.into_iter().zip(numbers).all(|(n, number)| n != 0 && u64::from(n) <= device.known(number))
        };
        let threads = block.iter().fold(1, |n: u64, &side| n.saturating_mul(side.into()));
        let bytes = u64::from(info.static_shared) + u64::from(shared);
        within(grid, attribute::MAX_GRID_DIM)
            && within(block, attribute::MAX_BLOCK_DIM)
            && threads <= device.known(attribute::MAX_THREADS_PER_BLOCK)
            && (info.max_threads == 0 || threads <= info.max_threads.into())
            && info.required_block.is_none_or(|required| required == block)
            && bytes <= device.known(attribute::MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)
    }
}

/// Runs what a grid has asked for, and what that asks for.
pub(crate) fn run(
    module: &ModuleCode,
    launch: &LaunchRequest,
    family: &Family,
    asked: Box<Asked>,
) -> Result<(), Fault> {
    // With each list, the depth of the grid whose it is.
    let mut lists = vec![(asked, 0)];
    while let Some((list, depth)) = lists.last_mut() {
        let (item, depth) = match list.items.pop_front() {
            Some(item) => (Some(item), *depth + 1),
            None => (list.tail.pop_front(), *depth),
        };
        // An empty list is not kept: a kernel may launch itself at its tail without end.
        if list.is_empty() {
            lists.pop();
        }
        let Some(item) = item else { continue };
        family.pending.fetch_sub(1, Ordering::Relaxed);
        family.check_time()?;
        let more = item.run(module, launch, family, depth)?;
        lists.extend(more.map(|more| (more, depth)));
    }
    Ok(())
}

impl Item {
    fn run(
        self,
        module: &ModuleCode,
        launch: &LaunchRequest,
        family: &Family,
        depth: u32,
    ) -> Result<Option<Box<Asked>>, Fault> {
        match self {
            Item::Launch(shape, lines) => {
                let size = module.kernels().get(shape.kernel).map_or(0, |kernel| kernel.param_size as usize);
                // SAFETY: the lines hold at least `size` bytes; any bytes are plain data.
                let params = unsafe { std::slice::from_raw_parts(lines.as_ptr().cast(), size) };
                let launch = LaunchRequest {
                    kernel: shape.kernel,
                    grid: shape.grid,
                    block: shape.block,
                    dynamic_shared: shape.shared,
                    params,
                    cluster: shape.cluster,
                    cooperative: false,
                    among: None,
                    // No node of the graph.
                    graph: None,
                    // A part of the launch that the program made.
                    begun: None,
                    ..launch.clone()
                };
                module.run_grid(&launch, family, depth)
            }
            // Rows without bytes, however many there are.
            Item::Copy { width: 0, .. } | Item::Fill { width: 0, .. } => Ok(None),
            Item::Copy { to, to_pitch, from, from_pitch, width, height } => {
                by_rows(family, width, height, |row| {
                    let to = to.wrapping_add(row.wrapping_mul(to_pitch));
                    let from = from.wrapping_add(row.wrapping_mul(from_pitch));
                    // SAFETY: a kernel may write wherever it likes; the copy survives wrong addresses.
                    let done = unsafe { copy_guarded(to as *mut u8, from as *const u8, width as usize) };
                    done.map_err(|_| outside("copy", to))
                })
            }
            Item::Fill { to, pitch, value, width, height } => {
                const PART: u64 = 4096;
                let bytes = [value; PART as usize];
                by_rows(family, width, height, |row| {
                    let row = to.wrapping_add(row.wrapping_mul(pitch));
                    for at in (0..width).step_by(PART as usize) {
                        let size = PART.min(width - at) as usize;
                        let to = row.wrapping_add(at);
                        // SAFETY: as above.
                        let done = unsafe { copy_guarded(to as *mut u8, bytes.as_ptr(), size) };
                        done.map_err(|_| outside("fill", to))?;
                    }
                    Ok(())
                })
            }
        }
    }
}

/// Does something to each row of `width` bytes, within the time that is left.
fn by_rows(
    family: &Family,
    width: u64,
    height: u64,
    act: impl Fn(u64) -> Result<(), Fault>,
) -> Result<Option<Box<Asked>>, Fault> {
    /// Bytes between two looks at the clock.
    const PART: u64 = 1 << 20;
    let rows = (PART / width).max(1);
    let mut first = 0;
    while first < height {
        let end = height.min(first.saturating_add(rows));
        family.timed(|| (first..end).try_for_each(&act))?;
        family.check_time()?;
        first = end;
    }
    Ok(None)
}

fn outside(what: &str, address: u64) -> Fault {
    Fault {
        kind: FaultKind::IllegalAddress,
        message: format!("illegal address {address:#x} in a {what} that a kernel asked for"),
    }
}

#[cfg(test)]
mod tests {
    use driver::error::ERRORS;

    use super::*;

    /// The texts are those of the driver where it has the status too.
    #[test]
    fn texts_are_the_drivers() {
        for (number, _, text) in TEXTS {
            if let Some(row) = ERRORS.iter().find(|row| u64::from(row.0.code()) == *number) {
                assert_eq!(text.to_str(), Ok(row.2));
            }
        }
    }
}
