//! Kernel launches.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use smallvec::SmallVec;

use crate::backend::{LaunchRequest, Limits};
use crate::cluster;
use crate::device::attribute;
use crate::error::{Error, Result};
use crate::graph::device::Environment;
use crate::green::{self, Green};
use crate::log;
use crate::mangled::readable;
use crate::memory::address;
use crate::module::Function;
use crate::occupancy;
use crate::profile::{self, Measured};
use crate::refused;
use crate::several::Among;
use crate::stream::{Operation, Policy, Stream, Submitted};

/// What comes next in the `extra` list of a launch (`CU_LAUNCH_PARAM_…`).
pub mod extra_key {
    /// The end of the list.
    pub const END: u64 = 0;
    /// The address of the packed parameters.
    pub const BUFFER_POINTER: u64 = 1;
    /// The address of their size.
    pub const BUFFER_SIZE: u64 = 2;
}

/// The configuration of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads per block in x, y and z.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory per block.
    pub dynamic_shared: u32,
    /// Whether all blocks must be resident at once.
    pub cooperative: bool,
    /// Blocks per cluster in x, y and z, if the launch gives them; [`check`] adds the kernel's required size.
    pub cluster: Option<[u32; 3]>,
    /// The preferred cluster size.
    pub preferred_cluster: Option<[u32; 3]>,
}

/// Checks a launch against the device and the kernel, and adds the kernel's required cluster size. The log
/// names the cause of a refusal.
pub fn check(function: &Function, config: &mut Config) -> Result<()> {
    let device = function.device();
    let within = |sizes: [u32; 3], limits: [i32; 3]| {
        sizes.iter().zip(limits).all(|(&size, limit)| size != 0 && u64::from(size) <= device.known(limit))
    };
    let threads = config.block.iter().fold(1, |n: u64, &b| n.saturating_mul(u64::from(b)));
    let wrong = if !within(config.grid, attribute::MAX_GRID_DIM) {
        refused::grid(function, config.grid);
        true
    } else if !within(config.block, attribute::MAX_BLOCK_DIM)
        || threads > device.known(attribute::MAX_THREADS_PER_BLOCK)
    {
        refused::block(function, config.block);
        true
    } else if threads > u64::from(function.max_threads()) {
        refused::threads(function, threads);
        true
    } else if let Some(required) = function.info().required_block.filter(|block| *block != config.block) {
        refused::required_block(function, config.block, required);
        true
    } else if config.dynamic_shared > function.max_dynamic_shared() {
        refused::shared(function, config.dynamic_shared.into(), function.max_dynamic_shared().into());
        true
    } else {
        false
    };
    if wrong {
        return Err(Error::InvalidValue);
    }
    if !function.launched.load(Ordering::Relaxed) {
        check_local(function)?;
    }
    // Not by `inspect_err`, which moves the results.
    config.cluster = match cluster::of_launch(function, config) {
        Ok(cluster) => cluster,
        Err(error) => {
            refused::cluster(function, config, cluster::most(function));
            return Err(error);
        }
    };
    config.grid = match cluster::blocks_of_grid(function, config) {
        Ok(grid) => grid,
        Err(error) => {
            refused::grid(function, config.grid);
            return Err(error);
        }
    };
    if config.cooperative {
        check_resident(function, config, device.known(attribute::MULTIPROCESSOR_COUNT))?;
    }
    Ok(())
}

/// Fails unless this number of multiprocessors can hold all blocks of the launch at once.
fn check_resident(function: &Function, config: &Config, multiprocessors: u64) -> Result<()> {
    let threads = config.block.iter().product::<u32>();
    let per = occupancy::max_active_blocks(function, threads, u64::from(config.dynamic_shared));
    let room = u128::from(per) * u128::from(multiprocessors);
    let blocks = config.grid.iter().map(|&g| u128::from(g)).product::<u128>();
    if blocks > room {
        refused::cooperative(function, blocks, room);
        return Err(Error::CooperativeLaunchTooLarge);
    }
    Ok(())
}

/// The maximum local memory per thread: 512 KiB less what the hardware's driver reserves, as measured on an
/// H100 with driver 580.159.
const MOST_LOCAL: u64 = (512 << 10) - 576;

/// Refuses a kernel that needs too much local memory. Its module still loads.
fn check_local(function: &Function) -> Result<()> {
    let needed = function.module.program.local_bytes(function.index);
    if needed <= MOST_LOCAL {
        return Ok(());
    }
    refused::tell(function, refused::Cause::Local, || {
        // The size of a variable is counted up to 32 bits.
        let most = u64::from(u32::MAX);
        let least = if needed < most { "" } else { "at least " };
        let needed = needed.min(most);
        format!("it needs {least}{needed} bytes of local memory per thread; the maximum is {MOST_LOCAL}")
    });
    Err(Error::InvalidValue)
}

/// Submits a checked launch to a stream of the function's context. `params` is the parameter buffer, of
/// exactly the kernel's size.
pub fn enqueue(
    function: Arc<Function>,
    config: &Config,
    params: Params,
    stream: &Arc<Stream>,
) -> Result<Submitted> {
    check_share(&function, config, stream)?;
    submit(Prepared::new(function, config, params), stream)
}

/// Fails if a cooperative launch needs more multiprocessors than the stream's share.
pub(crate) fn check_share(function: &Function, config: &Config, stream: &Arc<Stream>) -> Result<()> {
    if !config.cooperative {
        return Ok(());
    }
    match green::share_of(stream) {
        Some(green) => check_resident(function, config, u64::from(green.resource.count)),
        None => Ok(()),
    }
}

/// Submits a launch. Inlined, so that it is constructed where it is queued from.
#[inline(always)]
pub(crate) fn submit(launch: Prepared, stream: &Arc<Stream>) -> Result<Submitted> {
    stream.submit_and_tell(Operation::Launch(launch), Policy::Later)
}

/// A checked launch, as a stream operation. It is moved into a queue and out of it, so its size matters.
#[derive(Clone)]
pub struct Prepared {
    function: Arc<Function>,
    grid: [u32; 3],
    block: [u32; 3],
    dynamic_shared: u32,
    cooperative: bool,
    /// Clusters that pass [`check`] have at most 16 blocks.
    cluster: Option<[u8; 3]>,
    params: Params,
    /// The context's limits at submission.
    limits: Limits,
    /// The green context of the stream, as found when it was submitted or captured.
    green: Option<Arc<Green>>,
    /// Its place among the grids of a cooperative launch on several devices.
    among: Option<Arc<Among>>,
}

impl Prepared {
    /// A launch that has passed [`check`]. `params` is the parameter buffer, of exactly the kernel's size.
    #[inline(always)]
    pub fn new(function: Arc<Function>, config: &Config, params: Params) -> Self {
        let &Config { grid, block, dynamic_shared, cooperative, cluster, preferred_cluster: _ } = config;
        let cluster = cluster.map(|size| size.map(|blocks| blocks as u8));
        let limits = Limits::default();
        let (green, among) = (None, None);
        Prepared { function, grid, block, dynamic_shared, cooperative, cluster, params, limits, green, among }
    }

    /// The same launch as one of several grids.
    pub(crate) fn among(self, among: Arc<Among>) -> Self {
        Prepared { among: Some(among), ..self }
    }

    /// The function.
    pub fn function(&self) -> &Arc<Function> {
        &self.function
    }

    /// The parameter buffer.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// The configuration, with the sizes that [`check`] completed.
    pub fn config(&self) -> Config {
        let &Prepared { grid, block, dynamic_shared, cooperative, cluster, .. } = self;
        let cluster = cluster.map(|size| size.map(u32::from));
        Config { grid, block, dynamic_shared, cooperative, cluster, preferred_cluster: None }
    }

    /// The launch attributes that the configuration amounts to, by their numbers in `CUlaunchAttributeID`.
    pub(crate) fn attributes(&self) -> BTreeMap<u32, [u64; 8]> {
        const COOPERATIVE: u32 = 2;
        const CLUSTER_DIMENSION: u32 = 4;
        let mut all = BTreeMap::new();
        if self.cooperative {
            all.insert(COOPERATIVE, [1, 0, 0, 0, 0, 0, 0, 0]);
        }
        if let Some([x, y, z]) = self.cluster {
            all.insert(
                CLUSTER_DIMENSION,
                [u64::from(x) | u64::from(y) << 32, u64::from(z), 0, 0, 0, 0, 0, 0],
            );
        }
        all
    }

    /// Whether its module has texture references.
    pub(crate) fn has_references(&self) -> bool {
        self.function.module.has_references()
    }

    /// Binds its texture references, for the launch of a graph that has it as a node.
    #[inline]
    pub(crate) fn bind_references(&self) -> Result<()> {
        self.function.module.bind_references()
    }

    /// Runs the launch as a part of a graph. The graph's launch has bound its references; the limits are the
    /// context's current ones.
    pub(crate) fn run_in_graph(&self, graph: &Arc<Environment>) -> Result<()> {
        let module = &self.function.module;
        if !module.context.alive() || module.context.id() != module.context_id {
            return Err(Error::ContextIsDestroyed);
        }
        let run =
            |measured: Measured<'_>| self.run_within(module.context.kernel_limits(), Some(graph), measured);
        match profile::recorder() {
            None => run(Measured::default()),
            Some(recorder) => recorder.launch(self, graph.stream(), run),
        }
    }

    /// Notes the state at submission: the bindings of texture references and the context's limits.
    pub(crate) fn settle(&mut self, stream: &Stream) -> Result<()> {
        let function = &self.function;
        let module = &function.module;
        if stream.context_id() != module.context_id {
            return Err(Error::InvalidHandle);
        }
        module.bind_references()?;
        if !function.launched.load(Ordering::Relaxed) {
            function.launched.store(true, Ordering::Relaxed);
            if !stream.idle() {
                self.compile_ahead();
            }
        }
        self.limits = module.context.kernel_limits();
        self.take_share(stream);
        Ok(())
    }

    /// Makes the launch a green context's.
    pub fn belongs_to(&mut self, green: Option<Arc<Green>>) {
        self.green = green;
    }

    /// Takes the share of a launch that it replaces, unless it has one.
    pub fn inherit(&mut self, old: &Prepared) {
        if self.green.is_none() {
            self.green.clone_from(&old.green);
        }
    }

    /// Notes what belongs to the stream alone: its share of the multiprocessors.
    pub(crate) fn take_share(&mut self, stream: &Stream) {
        self.green = green::share_of(stream);
    }

    /// Compiles a kernel on a separate thread if its first launch has to wait, so that kernels launched in a
    /// row compile in parallel. If no thread is available, only the overlap is lost.
    fn compile_ahead(&self) {
        static COMPILING: AtomicU64 = AtomicU64::new(0);
        /// Counts a thread until it ends, even by a panic.
        struct Counted;
        impl Drop for Counted {
            fn drop(&mut self) {
                COMPILING.fetch_sub(1, Ordering::Relaxed);
            }
        }
        let module = &self.function.module;
        // Leave one processor to the thread that runs the stream.
        let most = module.context.device.known(attribute::MULTIPROCESSOR_COUNT).saturating_sub(1);
        let counted = COMPILING.fetch_add(1, Ordering::Relaxed);
        let guard = Counted;
        if counted >= most {
            return;
        }
        let (program, kernel, grid, block) =
            (Arc::clone(&module.program), self.function.index, self.grid, self.block);
        let clusters = self.cluster.is_some();
        // Without a thread the launch itself compiles the kernel.
        let _ = host::threads::spawn(std::thread::Builder::new().name("anywarp-compile".into()), move || {
            let _guard = guard;
            program.prepare_launch(kernel, grid, block, clusters);
        });
    }

    /// Runs the launch. Logs faults.
    pub(crate) fn run(&self, measured: Measured<'_>) -> Result<()> {
        self.run_within(self.limits, None, measured)
    }

    /// Changes the grid, and the bytes of the parameters.
    pub(crate) fn change(&mut self, grid: Option<[u32; 3]>, params: impl FnOnce(&mut [u8])) {
        self.grid = grid.unwrap_or(self.grid);
        params(self.params.bytes_mut());
    }

    fn run_within(
        &self,
        limits: Limits,
        graph: Option<&Arc<Environment>>,
        measured: Measured<'_>,
    ) -> Result<()> {
        let function = &self.function;
        let module = &function.module;
        let launch = LaunchRequest {
            kernel: function.index,
            grid: self.grid,
            block: self.block,
            dynamic_shared: self.dynamic_shared,
            params: self.params.bytes(),
            image_base: module.image_base,
            limits,
            cluster: self.cluster.map(|size| size.map(u32::from)),
            cooperative: self.cooperative,
            among: self.among.as_deref(),
            most_workers: self.green.as_ref().map(|green| green.resource.count),
            busy: self.green.as_ref().map(|green| &green.busy),
            context: module.context_id,
            device: module.context.device.ordinal,
            graph,
            begun: measured.begun,
            counts: measured.counts,
        };
        let ended = module.program.launch(&launch);
        if let Some(among) = &self.among {
            among.end(&ended);
        }
        ended.map_err(|fault| {
            let error = Error::from(&fault);
            if error == Error::IllegalAddress {
                address::restore();
            }
            log::say(log::Level::Error, || {
                format!("kernel {}: {error}: {}", readable(&function.info().name), fault.message)
            });
            error
        })
    }
}

/// A parameter buffer, aligned to 16 bytes. Small ones need no heap allocation.
#[derive(Clone, Debug, Default)]
pub struct Params {
    words: SmallVec<[u128; 4]>,
    size: usize,
}

impl Params {
    /// A zeroed buffer of `size` bytes.
    pub fn zeroed(size: usize) -> Params {
        Params { words: SmallVec::from_elem(0, size.div_ceil(16)), size }
    }

    /// A copy of these bytes.
    pub fn of(bytes: &[u8]) -> Params {
        let mut params = Params::zeroed(bytes.len());
        params.bytes_mut().copy_from_slice(bytes);
        params
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the words hold at least `size` bytes, and any bytes are plain data.
        unsafe { std::slice::from_raw_parts(self.words.as_ptr().cast(), self.size) }
    }

    /// The bytes, for writing.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as for `bytes`; the borrow is unique.
        unsafe { std::slice::from_raw_parts_mut(self.words.as_mut_ptr().cast(), self.size) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_aligned_and_keep_their_bytes() {
        for size in 0..200usize {
            let bytes: Vec<u8> = (0..size).map(|i| i as u8).collect();
            let params = Params::of(&bytes);
            let moved = [params.clone(), Params::default(), params];
            for params in moved.iter().step_by(2) {
                assert_eq!(params.bytes(), bytes);
                assert!(params.bytes().as_ptr().addr().is_multiple_of(16));
            }
            assert_eq!(Params::zeroed(size).bytes(), vec![0; size]);
        }
    }
}
