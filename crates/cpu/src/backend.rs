//! [`Cpu`], the implementation of [`driver::backend::Backend`].
//!
//! One pool of workers serves the process. The first launch creates it, and the first launch worth sharing
//! starts its threads. Each context has its own heap for device `malloc`.

use std::cell::Cell;
use std::fs;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use driver::backend::{
    Backend, Fault, FaultKind, GlobalInfo, ImageLayout, KernelInfo, LaunchRequest, LoadError, LoadErrorKind,
    LoadOptions, LoadRequest, Loaded, Program, ReferenceInfo, Usage,
};
use driver::device::{DeviceInfo, attribute, virtual_devices};
use driver::several::Among;
use grid::{Config, DeviceCall, Heap, Host, Workers};
use host::options::Options;
use simd::Specialisation;
use wave::FuncId;
use wave::count::Counting;
use wave::interp::{Interpreter, Probe};
use wave::launch::{Filled, Shape};

use crate::children::{self, Asked, Children, Family};
use crate::code::Ready;
use crate::counting::Counters;
use crate::front::{self, AmdDevice, ErrorKind};
use crate::grid_sync::GridSync;
use crate::hostcall::{self, Hostcalls};
use crate::info;
use crate::loaded::{self, Programs};
use crate::output::{print, print_to};
use crate::parameters::{Aligned, ParameterPages};
use crate::printed;
use crate::program;
use crate::rules::Rules;
use crate::settings::Settings;

/// The CPU as a device.
pub struct Cpu {
    settings: Settings,
    executor: Arc<Executor>,
    programs: Programs,
}

impl Cpu {
    /// The backend with these settings.
    pub fn new(settings: Settings) -> Cpu {
        let executor =
            Executor { config: settings.workers.clone(), workers: OnceLock::new(), heaps: Mutex::default() };
        Cpu { settings, executor: Arc::new(executor), programs: Programs::default() }
    }
}

/// The shared state of launches: workers and heaps.
struct Executor {
    config: Config,
    workers: OnceLock<Workers>,
    /// By context number. There are few contexts, so a list is faster than a map.
    heaps: Mutex<Vec<(u64, Arc<Heap>)>>,
}

impl Executor {
    fn workers(&self) -> &Workers {
        self.workers.get_or_init(|| Workers::with(self.config.clone()))
    }

    /// A context's heap, with the size of its current limit.
    fn heap(&self, context: u64, limit: u64) -> Arc<Heap> {
        let mut heaps = self.heaps.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, heap)) = heaps.iter().find(|h| h.0 == context) {
            if heap.limit() != limit {
                heap.set_limit(limit);
            }
            return Arc::clone(heap);
        }
        let heap = Arc::new(Heap::new(limit));
        heaps.push((context, Arc::clone(&heap)));
        heap
    }
}

/// Page size in bytes for access checks.
const PAGE: u64 = 4096;

/// Memory size in bytes if the machine does not report it.
const UNKNOWN_MEMORY: u64 = 8 << 30;

/// Clock rate in kHz if the machine does not report it.
const UNKNOWN_CLOCK: u32 = 1_500_000;

/// The machine's memory in bytes, or the container's limit.
fn memory() -> u64 {
    let number = |text: &str| text.trim().parse::<u64>().ok();
    // SAFETY: only queries two numbers.
    let (pages, size) = unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
    let machine = u64::try_from(pages).unwrap_or(0).saturating_mul(u64::try_from(size).unwrap_or(0));
    let bounds = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
    let bound = bounds.iter().find_map(|path| number(&fs::read_to_string(path).ok()?));
    let all = bound.map_or(machine, |b| b.min(machine));
    if all == 0 { UNKNOWN_MEMORY } else { all }
}

/// The clock rate in kHz.
fn clock() -> u32 {
    let text = fs::read_to_string("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq");
    text.ok().and_then(|t| t.trim().parse().ok()).unwrap_or(UNKNOWN_CLOCK)
}

/// The devices that the user's options describe.
pub fn devices(options: &Options) -> Vec<DeviceInfo> {
    described(options.devices, options.compute_capability, options.memory, options.workers)
}

fn described(
    count: u32,
    compute_capability: (u32, u32),
    bytes: Option<u64>,
    workers: u32,
) -> Vec<DeviceInfo> {
    let base = DeviceInfo {
        name: "Anywarp CPU".into(),
        total_memory: bytes.unwrap_or_else(memory),
        multiprocessors: workers,
        compute_capability,
        uuid: *b"anywarp-cpu-0000",
        pci: (0, 1, 0),
        clock_khz: clock(),
        amd_target: None,
        attributes: Vec::new(),
    };
    virtual_devices(&base, count)
}

impl Backend for Cpu {
    fn devices(&self) -> Vec<DeviceInfo> {
        let Settings { devices, compute_capability, memory, .. } = self.settings;
        described(devices, compute_capability, memory, self.executor.config.workers)
    }

    fn amd_devices(&self, targets: &[String]) -> Vec<DeviceInfo> {
        let Settings { compute_capability, memory, .. } = self.settings;
        let base = described(1, compute_capability, memory, self.executor.config.workers);
        let Some(base) = base.first() else { return Vec::new() };
        let known = targets.iter().filter_map(|text| match AmdDevice::of(text) {
            Ok(device) => Some(device),
            Err(wanted) => {
                driver::log::say(driver::log::Level::Error, || {
                    format!("there is no device {text} (ANYWARP_HIP_ARCH): expected {wanted}")
                });
                None
            }
        });
        known.enumerate().map(|(n, device)| device.info(base, n)).collect()
    }

    fn amd_target(&self, object: &[u8]) -> Result<String, String> {
        front::amd_target(object)
    }

    fn suits(&self, target: &str, object: &[u8]) -> Option<u32> {
        AmdDevice::of(target).ok()?.suits(object)
    }

    fn catch_faults(&self) {
        grid::catch_faults();
    }

    fn ready(&self) -> Option<host::threads::Turn> {
        grid::ready()
    }

    fn load(&self, request: &LoadRequest<'_>) -> Result<Loaded, LoadError> {
        // Threads that load modules may call `exit` while these are compiled.
        simd::llvm::watch_thread();
        let code = front::of(request.inputs).map_err(load_error)?;
        let (major, minor) = request.device.compute_capability;
        let own = rules(request.device, &self.settings);
        let rules = Rules {
            complete: request.complete,
            symbols: request.options.symbols.clone(),
            launches: true,
            capability: request.options.target.or(own.capability),
            ..own
        };
        if let Some(folder) = &self.settings.keep_ptx {
            code.keep(folder);
        }
        let load = |rules: &Rules| {
            let key = loaded::key(request.inputs, &*code, rules);
            let load = |_| self.programs.get(key, || program::Program::of_code(&*code, rules));
            let loaded = host::stack::with(program::STACK, "anywarp-load", load);
            let no_thread = |error| LoadError {
                kind: LoadErrorKind::Unsupported,
                log: format!("no thread with enough stack to load a module: {error}\n"),
                rendered: String::new(),
            };
            loaded.map_err(no_thread)?.map_err(load_error)
        };
        let program = load(&rules)?;
        let refused = refused(&program);
        let counting = Rules { counting: Some(Counting), launches: false, ..rules.clone() };
        let counting = self.settings.counting.then(|| load(&counting)).transpose()?;
        let executor = Arc::clone(&self.executor);
        let loaded = ModuleCode { counting, ..ModuleCode::new(program, executor, &request.options) };
        if !refused.is_empty() {
            driver::log::say(driver::log::Level::Error, || refused.trim_end().to_owned());
        }
        let mut info = if request.options.verbose {
            info::log(loaded.kernels(), |kernel| loaded.usage(kernel), loaded.globals(), major * 10 + minor)
        } else {
            String::new()
        };
        info.push_str(&refused);
        Ok(Loaded { program: Arc::new(loaded), info })
    }

    fn context_destroyed(&self, context: u64) {
        self.executor.heaps.lock().unwrap_or_else(PoisonError::into_inner).retain(|h| h.0 != context);
    }
}

/// A line for each kernel that cannot run although its module loads.
fn refused(program: &program::Program) -> String {
    let module = program.module();
    let line = |(id, function): (FuncId, &wave::Function)| {
        let reason = program.refused(id)?;
        Some(format!("kernel `{}` of {} cannot run: {reason}\n", function.name, module.name))
    };
    module.kernels().filter_map(line).collect()
}

/// The rules for loading a module alone on `device`.
pub fn rules(device: &DeviceInfo, settings: &Settings) -> Rules {
    let (major, minor) = device.compute_capability;
    // Before 9.0 more than the default needs dynamic shared memory. Code for the very architecture
    // (`sm_90a`), as the driver makes it, may declare as much as a launch may ask for.
    let limit = match (&device.amd_target, major) {
        (None, ..9) => attribute::MAX_SHARED_MEMORY_PER_BLOCK,
        _ => attribute::MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
    };
    let shared = device.attribute(limit);
    Rules {
        engine: settings.engine,
        making: settings.making.clone(),
        complete: false,
        capability: Some(major * 10 + minor),
        max_shared: shared.map_or(u64::MAX, |s| s.max(0) as u64),
        symbols: Vec::new(),
        exact: settings.exact,
        counting: None,
        launches: false,
    }
}

fn load_error(error: front::LoadError) -> LoadError {
    let kind = match error.kind {
        ErrorKind::Unresolved => LoadErrorKind::Undefined,
        ErrorKind::Duplicate => LoadErrorKind::Duplicate,
        ErrorKind::Unsupported => LoadErrorKind::Unsupported,
        ErrorKind::BeyondDevice => LoadErrorKind::BeyondDevice,
        ErrorKind::UnsupportedVersion => LoadErrorKind::UnsupportedVersion,
        ErrorKind::Syntax | ErrorKind::Semantic => LoadErrorKind::InvalidPtx,
    };
    LoadError { kind, log: error.log, rendered: error.rendered }
}

/// A loaded module as the driver sees it.
pub(crate) struct ModuleCode {
    program: Arc<program::Program>,
    /// The same whose kernels count what they do.
    counting: Option<Arc<program::Program>>,
    executor: Arc<Executor>,
    ids: Vec<FuncId>,
    kernels: Vec<KernelInfo>,
    /// Resource usage by kernel, computed on demand.
    usage: Vec<OnceLock<Usage>>,
    options: LoadOptions,
    globals: Vec<GlobalInfo>,
    references: Vec<ReferenceInfo>,
}

/// The size of HIP's `textureReference`, which compilers make a variable of, and where the texture object is
/// in it.
const TEXTURE_REFERENCE: (u64, u64) = (88, 72);

impl ModuleCode {
    fn new(program: Arc<program::Program>, executor: Arc<Executor>, options: &LoadOptions) -> ModuleCode {
        let module = Arc::clone(program.module());
        let (ids, kernels): (Vec<_>, Vec<_>) = module
            .kernels()
            .map(|(id, function)| (id, info::kernel(function, program.target(id), options)))
            .unzip();
        let usage = ids.iter().map(|_| OnceLock::new()).collect();
        let references = module.globals.iter().filter_map(|g| {
            let surface = g.reference? == wave::module::Reference::Surface;
            g.exported.then(|| ReferenceInfo { name: g.name.clone(), offset: g.offset, surface })
        });
        // In AMD code a reference is a structure like any other.
        let structures = program.variables().iter().filter(|v| v.size == TEXTURE_REFERENCE.0);
        let structures = structures.map(|v| ReferenceInfo {
            name: v.name.clone(),
            offset: v.offset.saturating_add(TEXTURE_REFERENCE.1),
            surface: false,
        });
        let references = references.chain(structures).collect();
        let exported = module.globals.iter().filter(|g| g.exported && g.reference.is_none());
        let globals = exported.map(|g| GlobalInfo {
            name: g.name.clone(),
            offset: g.offset,
            size: g.size,
            constant: g.constant,
            managed: g.managed,
        });
        let named = program.variables().iter().map(|v| GlobalInfo {
            name: v.name.clone(),
            offset: v.offset,
            size: v.size,
            constant: v.constant,
            managed: false,
        });
        let globals = globals.chain(named).collect();
        let options = options.clone();
        ModuleCode { program, counting: None, executor, ids, kernels, usage, options, globals, references }
    }
}

impl ModuleCode {
    /// About how many waves of a launch run at once.
    fn waves(&self, launch: &LaunchRequest<'_>) -> usize {
        const LANES: u64 = 32;
        let of_block = launch.block.iter().map(|&n| u64::from(n)).product::<u64>().div_ceil(LANES);
        let blocks = launch.grid.iter().fold(1u64, |n, &count| n.saturating_mul(u64::from(count)));
        let workers = u64::from(self.executor.config.workers);
        let resident = if launch.cooperative { blocks } else { blocks.min(workers) };
        usize::try_from(resident.saturating_mul(of_block)).unwrap_or(usize::MAX)
    }
}

/// Runs a launch while a thread answers its calls of the host; `None` if there is no thread.
fn answered<T>(calls: &Hostcalls, run: impl FnOnce() -> T) -> Option<T> {
    /// Ends the thread, also after a panic.
    struct End<'a>(&'a Hostcalls);
    impl Drop for End<'_> {
        fn drop(&mut self) {
            self.0.end();
        }
    }
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().name("anywarp-hostcall".into());
        let serve = || calls.serve(&print_to);
        host::threads::spawn_scoped(builder, scope, serve).ok()?;
        let _end = End(calls);
        Some(run())
    })
}

/// What a launch needs besides the kernel.
struct Around<'a> {
    executor: &'a Executor,
    program: &'a program::Program,
    context: u64,
    limit: u64,
    /// Looked up when a kernel uses it, which is rare.
    heap: OnceLock<Arc<Heap>>,
    image: std::ops::Range<u64>,
    children: Children<'a>,
    among: Option<&'a Among>,
}

impl Host for Around<'_> {
    /// What the driver allocated, and every page of the program: kernels may use pageable memory, as the
    /// device's attributes say.
    fn accessible(&self, address: u64, size: u32, write: bool) -> bool {
        let Some(end) = address.checked_add(u64::from(size)) else { return false };
        if self.image.start <= address && end <= self.image.end {
            return true;
        }
        match driver::memory::device_access(address, u64::from(size)) {
            Some(allowed) => allowed,
            None => {
                let last = end.saturating_sub(1).max(address);
                grid::is_accessible(address, write)
                    && (last / PAGE == address / PAGE || grid::is_accessible(last, write))
            }
        }
    }

    fn place(&self, line: u32) -> String {
        self.program.place(line)
    }

    fn multicast_count(&self, address: u64, size: u32) -> Option<u32> {
        driver::memory::multicast::count(address, u64::from(size))
    }

    fn multicast_place(&self, address: u64, size: u32, index: u32) -> Option<u64> {
        driver::memory::multicast::place(address, u64::from(size), index)
    }

    fn set_conditional(&self, handle: u64, value: u32) -> bool {
        driver::graph::conditional::set(handle, value)
    }

    fn device_call(&self, call: &DeviceCall) -> Result<u64, (u64, String)> {
        self.children.call(call, self.heap())
    }

    fn print(&self, text: &[u8]) {
        print(text);
    }

    fn others_failed(&self) -> Option<&AtomicBool> {
        self.among.map(Among::broken)
    }

    fn heap(&self) -> &Heap {
        self.heap.get_or_init(|| self.executor.heap(self.context, self.limit))
    }
}

impl Program for ModuleCode {
    fn kernels(&self) -> &[KernelInfo] {
        &self.kernels
    }

    fn usage(&self, kernel: usize) -> Usage {
        let (Some(&id), Some(known)) = (self.ids.get(kernel), self.usage.get(kernel)) else {
            return Usage::default();
        };
        *known.get_or_init(|| {
            let module = self.program.module_of(id);
            let function = module.functions.get(id.index());
            function.map_or(Usage::default(), |f| info::usage(module, f, &self.options))
        })
    }

    fn refused(&self, kernel: usize) -> Option<String> {
        let id = *self.ids.get(kernel)?;
        if let Some(reason) = self.program.refused(id) {
            return Some(reason.to_owned());
        }
        self.program.refused_on_demand(id).then(|| "its code cannot be lowered".to_owned())
    }

    fn local_bytes(&self, kernel: usize) -> u64 {
        self.ids.get(kernel).map_or(0, |&id| wave::layout::depth(self.program.module_of(id), id).0)
    }

    fn globals(&self) -> &[GlobalInfo] {
        &self.globals
    }

    fn references(&self) -> &[ReferenceInfo] {
        &self.references
    }

    fn image(&self) -> ImageLayout {
        let module = self.program.module();
        ImageLayout { size: module.image_size, align: module.image_align }
    }

    fn initial_image(&self, base: u64) -> Vec<(u64, Vec<u8>)> {
        self.program.image_pieces(base)
    }

    fn launch(&self, launch: &LaunchRequest<'_>) -> Result<(), Fault> {
        let watchdog = self.executor.workers().config().watchdog;
        let family = Family::new(launch.limits.pending, watchdog);
        match self.run_grid(launch, &family, 0)? {
            Some(asked) => children::run(self, launch, &family, asked),
            None => Ok(()),
        }
    }

    fn prepare(&self, kernel: usize) {
        if let (Some(&id), Some(info)) = (self.ids.get(kernel), self.kernels.get(kernel))
            && let Some(block) = info.required_block
        {
            let clusters = info.required_cluster.is_some();
            self.program.kernel_for(id, Specialisation::of_launch([1; 3], block).in_clusters(clusters));
        }
    }

    fn prepare_launch(&self, kernel: usize, grid: [u32; 3], block: [u32; 3], clusters: bool) {
        if let Some(&id) = self.ids.get(kernel) {
            let spec = Specialisation::of_launch(grid, block).in_clusters(clusters);
            self.program.kernel_soon(id, spec, threads(grid, block));
        }
    }
}

impl ModuleCode {
    /// The kernel that is this function.
    pub(crate) fn kernel_of(&self, id: FuncId) -> Option<usize> {
        self.ids.iter().position(|&known| known == id)
    }

    /// Runs one grid; returns what its kernel has asked for. `depth`: how many launches by kernels lead to
    /// it.
    pub(crate) fn run_grid(
        &self,
        launch: &LaunchRequest<'_>,
        family: &Family,
        depth: u32,
    ) -> Result<Option<Box<Asked>>, Fault> {
        let internal = |message: String| Fault { kind: FaultKind::IllegalInstruction, message };
        let (Some(&id), Some(kernel)) = (self.ids.get(launch.kernel), self.kernels.get(launch.kernel)) else {
            return Err(internal(format!("there is no kernel {}", launch.kernel)));
        };
        let spec = Specialisation::of_launch(launch.grid, launch.block).in_clusters(launch.cluster.is_some());
        let counts = launch.counts.zip(self.counting.as_ref());
        let program = counts.map_or(&self.program, |(_, counting)| counting);
        let all = || program.kernel_and_others(id, spec, threads(launch.grid, launch.block));
        let made = program.known(id, &spec).or_else(all);
        let made = made.as_ref().map(Ready::kernel);
        let made = made.ok_or_else(|| internal(format!("no code for kernel `{}`", kernel.name)))?;
        let around = Around {
            executor: &self.executor,
            program,
            context: launch.context,
            limit: launch.limits.heap,
            heap: OnceLock::new(),
            image: launch.image_base..launch.image_base.saturating_add(self.program.module().image_size),
            children: Children::new(self, launch, family, depth),
            among: launch.among,
        };
        let described = program.module().functions.get(id.index()).and_then(|f| f.kernel.as_ref());
        let filling = described
            .filter(|info| !info.fills.is_empty() || info.param_size as usize > launch.params.len())
            .map(|info| self.fill(launch, info, kernel.static_shared).map(Box::new))
            .transpose()?;
        let own;
        let params = match &filling {
            Some(filling) => filling.params.bytes(),
            None => {
                own = Aligned::of(launch.params);
                own.bytes(launch.params)
            }
        };
        let grid = grid::Launch {
            name: &kernel.name,
            code: &*made.code,
            grid: launch.grid,
            block: launch.block,
            params,
            image: launch.image_base,
            shared: [kernel.static_shared, launch.dynamic_shared],
            stack: launch.limits.stack,
            cluster: launch.cluster,
            cooperative: launch.cooperative,
            most_workers: launch.most_workers,
            busy: launch.busy,
            spent: family.spent(),
            id: number(),
            host: &around,
        };
        if let Some(begun) = launch.begun {
            begun.store(driver::profile::now(), Ordering::Relaxed);
        }
        let run = || family.timed(|| self.executor.workers().run(&grid));
        let ended = match filling.as_ref().and_then(|filling| filling.calls.as_ref()) {
            Some(calls) => answered(calls, run).ok_or_else(|| Fault {
                kind: FaultKind::OutOfResources,
                message: "no thread can be started that answers the kernel's calls of the host".into(),
            })?,
            None => run(),
        };
        if let Some(buffer) = filling.as_ref().and_then(|filling| filling.printed.as_ref()) {
            buffer.print(self.program.formats(), &print_to);
        }
        let counters = filling.as_ref().and_then(|filling| filling.counters.as_ref());
        if let (Some((counts, _)), Some(counters)) = (counts, counters) {
            counts.lock().unwrap_or_else(PoisonError::into_inner).join(&counters.counts());
        }
        ended.map_err(|mut fault| {
            self.find_lane(id, &grid, &mut fault);
            let told = self.told(&fault, depth);
            // A grid that waited for a failed one reports that one's fault.
            match launch.among.and_then(Among::why).filter(|_| fault.kind == grid::FaultKind::Abandoned) {
                Some(kind) => Fault { kind, ..told },
                None => told,
            }
        })?;
        Ok(around.children.asked())
    }
}

/// What a launch writes after its parameters, and what that refers to.
struct Filling {
    params: ParameterPages,
    /// Where the kernel leaves output.
    printed: Option<printed::Buffer>,
    /// The host answers calls only while a kernel runs that can make some.
    calls: Option<Hostcalls>,
    counters: Option<Counters>,
    /// Kept for the kernel, which has its address.
    _sync: Option<GridSync>,
}

impl ModuleCode {
    /// The parameter buffer of a kernel for which the launch writes words after its parameters.
    #[cold]
    fn fill(
        &self,
        launch: &LaunchRequest<'_>,
        info: &wave::KernelInfo,
        static_shared: u32,
    ) -> Result<Filling, Fault> {
        let asks = |what: Filled| info.fills.iter().any(|fill| fill.what == what);
        let printed = asks(Filled::Printf).then(printed::Buffer::default);
        let calls = asks(Filled::Hostcalls).then(|| Hostcalls::new(self.waves(launch)));
        let counters = asks(Filled::Counters).then(Counters::new);
        let sync = (launch.cooperative && asks(Filled::GridSync)).then(|| GridSync::of(launch));
        let shape = Shape {
            grid: launch.grid,
            block: launch.block,
            shared: [static_shared, launch.dynamic_shared],
            image: launch.image_base,
            printf: printed.as_ref().map_or(0, printed::Buffer::address),
            hostcalls: calls.as_ref().map_or(0, Hostcalls::address),
            heap: if asks(Filled::Heap) { hostcall::heap() } else { 0 },
            grid_sync: sync.as_ref().map_or(0, GridSync::address),
            counters: counters.as_ref().map_or(0, Counters::address),
        };
        let params = ParameterPages::filled(launch.params, info, &shape).ok_or_else(|| Fault {
            kind: FaultKind::OutOfResources,
            message: "no memory for the kernel's arguments".into(),
        })?;
        Ok(Filling { params, printed, calls, counters, _sync: sync })
    }
}

/// A number for a grid, unique in the process. A thread takes many at once: a counter that all write costs a
/// twentieth of an empty launch.
fn number() -> u64 {
    const MANY: u64 = 1024;
    static NEXT: AtomicU64 = AtomicU64::new(1);
    thread_local! {
        static OWN: Cell<Range<u64>> = const { Cell::new(0..0) };
    }
    let own = OWN.try_with(Cell::take).unwrap_or_default();
    let Range { start, end } = match own.is_empty() {
        true => {
            let start = NEXT.fetch_add(MANY, Ordering::Relaxed);
            start..start + MANY
        }
        false => own,
    };
    let _ = OWN.try_with(|own| own.set(start + 1..end));
    start
}

impl ModuleCode {
    /// Finds the lane of a fault in compiled code, which makes one access for all lanes of a warp: the block
    /// is run again by the interpreter, without effects. Compiled code may run several blocks of a row as
    /// one; it then names the first.
    fn find_lane(&self, kernel: FuncId, launch: &grid::Launch, fault: &mut grid::Fault) {
        use grid::FaultKind::{IllegalAddress, MisalignedAddress};
        let is_access = matches!(fault.kind, IllegalAddress | MisalignedAddress) && fault.thread.is_none();
        let (Some(block), true) = (fault.block, is_access && launch.cluster.is_none()) else { return };
        let [x, y, z] = block;
        let together = u32::from(launch.code.needs().together);
        let end = launch.grid[0].min(x.saturating_add(together));
        for block in (x..end).map(|x| [x, y, z]) {
            let code = Interpreter::new(Arc::clone(self.program.module_of(kernel)), kernel);
            let Ok(code) = code.map(|code| code.probing(Probe::new(block, launch.grid))) else { return };
            let one = grid::Launch {
                code: &code,
                grid: [1; 3],
                cooperative: false,
                most_workers: None,
                busy: None,
                ..*launch
            };
            if let Err(found) = self.executor.workers().run(&one)
                && found.kind == fault.kind
            {
                // Compiled code may make a later access first, so the line may be another one.
                *fault = grid::Fault { block: Some(block), ..*found };
                return;
            }
        }
    }

    /// A fault for the driver, which names the kernel that the host has launched.
    fn told(&self, fault: &grid::Fault, depth: u32) -> Fault {
        static HINTED: AtomicBool = AtomicBool::new(false);
        let mut message = if depth == 0 { fault.told() } else { fault.to_string() };
        if fault.line.is_some_and(|line| self.program.lacks_source(line))
            && !HINTED.swap(true, Ordering::Relaxed)
        {
            message += ". Compile with -lineinfo (numba: lineinfo=True) for the source's line, or set \
                        ANYWARP_KEEP_PTX to a folder for the PTX";
        }
        Fault { kind: kind_of(fault.kind), message }
    }
}

/// Number of threads of a launch.
fn threads(grid: [u32; 3], block: [u32; 3]) -> u64 {
    grid.iter().chain(&block).fold(1, |n, &count| n.saturating_mul(u64::from(count)))
}

fn kind_of(kind: grid::FaultKind) -> FaultKind {
    use grid::FaultKind as G;
    match kind {
        // The hardware reports a stack overflow as an illegal access.
        G::IllegalAddress | G::StackOverflow => FaultKind::IllegalAddress,
        G::MisalignedAddress => FaultKind::MisalignedAddress,
        G::IllegalInstruction | G::Arithmetic | G::InvalidBarrier => FaultKind::IllegalInstruction,
        G::Assert => FaultKind::Assert,
        G::Trap | G::InvalidFree | G::Internal | G::Abandoned => FaultKind::Trap,
        G::OutOfMemory | G::InvalidLaunch => FaultKind::OutOfResources,
        G::Deadlock | G::Timeout => FaultKind::Timeout,
    }
}
