//! `cargo bench -p bench --bench latency`: the time that a program waits beyond the work of its kernels.
//!
//! Prints a Markdown table of medians. Work that a process does once (starting the driver, opening LLVM,
//! reading the cache) is measured in separate processes: this program runs itself with `--child`. With
//! `--beside LIBRARY`, it compares with another build of the driver, in alternating processes.

use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use clap::{Parser, ValueEnum};
use libloading::Library;

#[derive(Parser)]
struct Args {
    /// Number of processes of each kind
    #[arg(long, default_value_t = 11)]
    processes: usize,
    /// Path of the driver library
    #[arg(long)]
    library: Option<PathBuf>,
    /// Compare calls, launches and graphs with those of this library, such as an older build's
    #[arg(long)]
    beside: Option<PathBuf>,
    /// What this process measures and prints instead of the table
    #[arg(long, hide = true)]
    child: Option<Child>,
    /// Passed by cargo
    #[arg(long, hide = true)]
    bench: bool,
}

/// What a separate process measures.
#[derive(Clone, Copy, ValueEnum)]
enum Child {
    /// cuInit: milliseconds, resident MB afterwards, and MB that the call added.
    Init,
    /// Loading a module, and the first launch of each of its kernels, in milliseconds; then the same for
    /// another text.
    Module,
    /// The same, with ten milliseconds of other work after each load, which are not counted.
    Busy,
    /// The same with one wait after both launches: milliseconds of the load, the launches, and the wait.
    Queued,
    /// Calls in a running process.
    Calls,
    /// A launch of a graph and its wait: a chain of 100 empty kernels, and per node of a mesh of 1,000.
    Graphs,
    /// A thousand launches in sequence, 200 times: microseconds per launch until the last call returns, and
    /// until the last kernel has run; for both, the median and the 90th percentile.
    Launches,
}

/// Two small kernels. `NUMBER` makes each text unique.
const MODULE: &str = "
.version 7.0
.target sm_70
.address_size 64
.visible .entry saxpy(.param .u64 out, .param .u64 x, .param .u32 n) {
    .reg .pred %p<2>;
    .reg .b32 %r<6>;
    .reg .f32 %f<4>;
    .reg .b64 %rd<7>;
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [x];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p1, %r5, %r1;
    @%p1 bra DONE;
    mul.wide.u32 %rd3, %r5, 4;
    add.s64 %rd4, %rd2, %rd3;
    add.s64 %rd5, %rd1, %rd3;
    ld.global.f32 %f1, [%rd4];
    ld.global.f32 %f2, [%rd5];
    fma.rn.f32 %f3, %f1, 0f3F80NUMBER, %f2;
    st.global.f32 [%rd5], %f3;
DONE:
    ret;
}
.visible .entry sums(.param .u64 out, .param .u64 x, .param .u32 n) {
    .reg .pred %p<3>;
    .reg .b32 %r<8>;
    .reg .f32 %f<4>;
    .reg .b64 %rd<7>;
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [x];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p1, %r5, %r1;
    @%p1 bra DONE;
    mov.u32 %r6, 0;
    mov.f32 %f1, 0f00000000;
LOOP:
    mul.wide.u32 %rd3, %r6, 4;
    add.s64 %rd4, %rd2, %rd3;
    ld.global.f32 %f2, [%rd4];
    fma.rn.f32 %f1, %f2, 0f3F80NUMBER, %f1;
    add.u32 %r6, %r6, 1;
    setp.le.u32 %p2, %r6, %r5;
    @%p2 bra LOOP;
    mul.wide.u32 %rd5, %r5, 4;
    add.s64 %rd6, %rd1, %rd5;
    st.global.f32 [%rd6], %f1;
DONE:
    ret;
}
.visible .entry empty() { ret; }
";

fn module_text(number: u16) -> String {
    MODULE.replace("NUMBER", &format!("{number:04X}"))
}

type Handle = *mut c_void;

macro_rules! driver {
    ($($name:ident = $symbol:literal($($arg:ident: $ty:ty),*);)*) => {
        /// The measured driver functions, looked up once, as in a linked program.
        struct Driver {
            $($name: unsafe extern "C" fn($($ty),*) -> c_int,)*
            _library: Library,
        }

        impl Driver {
            fn open(path: &Path) -> Result<Self> {
                // SAFETY: loading a driver library runs its initialisers, as in any client.
                let library = unsafe { Library::new(path) };
                let library = library.with_context(|| format!("cannot load {}", path.display()))?;
                Ok(Driver {
                    // SAFETY: the signatures are those of cuda.h.
                    $($name: *unsafe { library.get($symbol.as_bytes()) }?,)*
                    _library: library,
                })
            }

            $(#[allow(clippy::too_many_arguments)] // cuLaunchKernel has this many
            fn $name(&self, $($arg: $ty),*) -> Result<()> {
                // SAFETY: callers in this file pass pointers that are valid for the call, as cuda.h requires.
                let code = unsafe { (self.$name)($($arg),*) };
                ensure!(code == 0, "{} returned {code}", $symbol);
                Ok(())
            })*
        }
    };
}

driver! {
    init = "cuInit"(flags: c_uint);
    retain = "cuDevicePrimaryCtxRetain"(context: *mut Handle, device: c_int);
    set_current = "cuCtxSetCurrent"(context: Handle);
    load = "cuModuleLoadData"(module: *mut Handle, image: *const c_void);
    unload = "cuModuleUnload"(module: Handle);
    function = "cuModuleGetFunction"(function: *mut Handle, module: Handle, name: *const c_char);
    launch = "cuLaunchKernel"(function: Handle, gx: c_uint, gy: c_uint, gz: c_uint, bx: c_uint, by: c_uint,
        bz: c_uint, shared: c_uint, stream: Handle, params: *mut *mut c_void, extra: *mut *mut c_void);
    synchronise = "cuCtxSynchronize"();
    alloc = "cuMemAlloc_v2"(address: *mut u64, size: usize);
    free = "cuMemFree_v2"(address: u64);
    alloc_async = "cuMemAllocAsync"(address: *mut u64, size: usize, stream: Handle);
    free_async = "cuMemFreeAsync"(address: u64, stream: Handle);
    to_device = "cuMemcpyHtoD_v2"(to: u64, from: *const c_void, size: usize);
    to_host = "cuMemcpyDtoH_v2"(to: *mut c_void, from: u64, size: usize);
    within = "cuMemcpyDtoDAsync_v2"(to: u64, from: u64, size: usize, stream: Handle);
    fill = "cuMemsetD8Async"(to: u64, value: u8, size: usize, stream: Handle);
    event_create = "cuEventCreate"(event: *mut Handle, flags: c_uint);
    event_record = "cuEventRecord"(event: Handle, stream: Handle);
    event_synchronise = "cuEventSynchronize"(event: Handle);
    graph_create = "cuGraphCreate"(graph: *mut Handle, flags: c_uint);
    graph_kernel = "cuGraphAddKernelNode_v2"(node: *mut Handle, graph: Handle, after: *const Handle, count: usize,
        params: *const KernelNode);
    graph_instantiate = "cuGraphInstantiateWithFlags"(exec: *mut Handle, graph: Handle, flags: u64);
    graph_launch = "cuGraphLaunch"(exec: Handle, stream: Handle);
}

/// `CUDA_KERNEL_NODE_PARAMS`.
#[repr(C)]
struct KernelNode {
    function: Handle,
    grid: [c_uint; 3],
    block: [c_uint; 3],
    shared: c_uint,
    rest: [u64; 4],
}

impl Driver {
    /// Adds a kernel of one block of 32 threads to a graph.
    fn add(&self, graph: Handle, function: Handle, after: &[Handle]) -> Result<Handle> {
        let params = KernelNode { function, grid: [1; 3], block: [32, 1, 1], shared: 0, rest: [0; 4] };
        let mut node = ptr::null_mut();
        self.graph_kernel(&mut node, graph, after.as_ptr(), after.len(), &params)?;
        Ok(node)
    }

    /// Microseconds of a launch and its wait.
    fn graph_time(&self, graph: Handle) -> Result<f64> {
        let mut exec = ptr::null_mut();
        self.graph_instantiate(&mut exec, graph, 0)?;
        per_part(2_000, 1, || {
            self.graph_launch(exec, ptr::null_mut())?;
            self.synchronise()
        })
    }

    fn start(path: &Path) -> Result<Self> {
        let driver = Driver::open(path)?;
        driver.init(0)?;
        let mut context = ptr::null_mut();
        driver.retain(&mut context, 0)?;
        driver.set_current(context)?;
        Ok(driver)
    }

    fn module(&self, text: &str) -> Result<Handle> {
        let text = CString::new(text)?;
        let mut module = ptr::null_mut();
        self.load(&mut module, text.as_ptr().cast())?;
        Ok(module)
    }

    fn find(&self, module: Handle, name: &str) -> Result<Handle> {
        let name = CString::new(name)?;
        let mut function = ptr::null_mut();
        self.function(&mut function, module, name.as_ptr())?;
        Ok(function)
    }

    /// Launches one block of 32 threads.
    fn go(&self, function: Handle, params: &mut [*mut c_void]) -> Result<()> {
        let none = ptr::null_mut();
        let params = if params.is_empty() { ptr::null_mut() } else { params.as_mut_ptr() };
        self.launch(function, 1, 1, 1, 32, 1, 1, 0, none, params, ptr::null_mut())
    }

    /// Loads the module and runs both kernels once, with a wait after each. Returns the milliseconds of the
    /// load, the first launch and the second. If `queued`, it waits once after both, and returns the
    /// milliseconds of the load, the launches and the wait. After the load, the program counts for a time of
    /// `busy`.
    fn first_results(&self, text: &str, queued: bool, busy: Duration) -> Result<[f64; 3]> {
        let (mut out, mut x, mut n) = (0u64, 0u64, 32u32);
        self.alloc(&mut out, 128)?;
        self.alloc(&mut x, 128)?;
        let start = Instant::now();
        let module = self.module(text)?;
        let mut marks = [ms(start), 0.0, 0.0];
        let idle = Instant::now();
        while idle.elapsed() < busy {
            std::hint::spin_loop();
        }
        let mut params = [(&raw mut out).cast(), (&raw mut x).cast(), (&raw mut n).cast()];
        let mut start = Instant::now();
        for (i, name) in ["saxpy", "sums"].into_iter().enumerate() {
            self.go(self.find(module, name)?, &mut params)?;
            if !queued {
                self.synchronise()?;
                marks[1 + i] = ms(std::mem::replace(&mut start, Instant::now()));
            }
        }
        if queued {
            marks[1] = ms(start);
            self.synchronise()?;
            marks[2] = ms(start) - marks[1];
        }
        self.unload(module)?;
        self.free(out)?;
        self.free(x)?;
        Ok(marks)
    }
}

fn ms(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

fn median(mut values: Vec<f64>) -> f64 {
    part(&mut values, 0.5)
}

/// The value below which this part of the values lies.
fn part(values: &mut [f64], part: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get((values.len() as f64 * part) as usize).copied().unwrap_or(f64::NAN)
}

/// Resident memory of this process in MB.
fn resident() -> Result<f64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:")).context("no VmRSS")?;
    let kilobytes: f64 = line.trim().trim_end_matches("kB").trim().parse()?;
    Ok(kilobytes / 1024.0)
}

/// Microseconds per part for `work`, which consists of `each` equal parts: the median of `rounds`, after a
/// tenth as many warm-up rounds.
fn per_part(rounds: usize, each: usize, mut work: impl FnMut() -> Result<()>) -> Result<f64> {
    for _ in 0..rounds / 10 {
        work()?;
    }
    let mut times = Vec::with_capacity(rounds);
    for _ in 0..rounds {
        let start = Instant::now();
        work()?;
        times.push(ms(start) * 1e3 / each as f64);
    }
    Ok(median(times))
}

/// Microseconds of a call, or of a few that belong together: the median of 2,000 rounds of ten, since reading
/// the clock takes as long as a short call.
fn calls(mut call: impl FnMut() -> Result<()>) -> Result<f64> {
    per_part(2_000, 10, || (0..10).try_for_each(|_| call()))
}

/// The measurements of a separate process.
fn measure(child: Child, library: &Path) -> Result<Vec<f64>> {
    match child {
        Child::Init => {
            let before = resident()?;
            let start = Instant::now();
            let driver = Driver::open(library)?;
            driver.init(0)?;
            let time = ms(start);
            let after = resident()?;
            Ok(vec![time, after, after - before])
        }
        Child::Module | Child::Busy | Child::Queued => {
            let driver = Driver::start(library)?;
            let queued = matches!(child, Child::Queued);
            let busy = Duration::from_millis(if matches!(child, Child::Busy) { 10 } else { 0 });
            let mut numbers = driver.first_results(&module_text(0), queued, busy)?.to_vec();
            let mut warm = vec![vec![]; 3];
            for number in 1..=9 {
                let marks = driver.first_results(&module_text(number), queued, busy)?;
                warm.iter_mut().zip(marks).for_each(|(all, mark)| all.push(mark));
            }
            numbers.extend(warm.into_iter().map(median));
            Ok(numbers)
        }
        Child::Calls => {
            let driver = Driver::start(library)?;
            let module = driver.module(&module_text(0))?;
            let empty = driver.find(module, "empty")?;
            let mut event = ptr::null_mut();
            driver.event_create(&mut event, 0)?;
            let (stream, mut memory, mut bytes) = (ptr::null_mut(), 0, [0u8; 64]);
            driver.alloc(&mut memory, 128)?;
            Ok(vec![
                calls(|| {
                    driver.go(empty, &mut [])?;
                    driver.synchronise()
                })?,
                calls(|| driver.event_record(event, ptr::null_mut()))?,
                calls(|| {
                    driver.event_record(event, ptr::null_mut())?;
                    driver.event_synchronise(event)
                })?,
                calls(|| driver.to_device(memory, (&raw const bytes).cast(), bytes.len()))?,
                calls(|| driver.to_host((&raw mut bytes).cast(), memory, bytes.len()))?,
                calls(|| driver.within(memory + 64, memory, 64, stream))?,
                calls(|| driver.fill(memory, 1, 64, stream))?,
                calls(|| {
                    let mut address = 0;
                    driver.alloc_async(&mut address, 1 << 10, stream)?;
                    driver.free_async(address, stream)
                })?,
                calls(|| {
                    let mut address = 0;
                    driver.alloc(&mut address, 1 << 20)?;
                    driver.free(address)
                })?,
            ])
        }
        Child::Graphs => {
            let driver = Driver::start(library)?;
            let module = driver.module(&module_text(0))?;
            let empty = driver.find(module, "empty")?;
            let (mut chain, mut mesh) = (ptr::null_mut(), ptr::null_mut());
            driver.graph_create(&mut chain, 0)?;
            let mut last = Vec::new();
            for _ in 0..100 {
                last = vec![driver.add(chain, empty, &last)?];
            }
            // Ten rows of a hundred; each node follows two neighbours of the row before.
            driver.graph_create(&mut mesh, 0)?;
            let mut row: Vec<Handle> = Vec::new();
            for _ in 0..10 {
                let after = |at: usize| {
                    if row.is_empty() { Vec::new() } else { vec![row[at], row[(at + 1) % 100]] }
                };
                row = (0..100).map(|at| driver.add(mesh, empty, &after(at))).collect::<Result<_>>()?;
            }
            Ok(vec![driver.graph_time(chain)?, driver.graph_time(mesh)? / 1000.0])
        }
        Child::Launches => {
            let driver = Driver::start(library)?;
            let module = driver.module(&module_text(0))?;
            let empty = driver.find(module, "empty")?;
            let (mut called, mut ran) = (vec![], vec![]);
            for round in 0..220 {
                let start = Instant::now();
                for _ in 0..1000 {
                    driver.go(empty, &mut [])?;
                }
                let calls = ms(start);
                driver.synchronise()?;
                if round >= 20 {
                    called.push(calls);
                    ran.push(ms(start));
                }
            }
            Ok(vec![part(&mut called, 0.5), part(&mut called, 0.9), part(&mut ran, 0.5), part(&mut ran, 0.9)])
        }
    }
}

/// Runs this program as `child` `count` times. Returns the median of each measurement.
fn processes(child: Child, args: &Args, cache: Option<&Path>, count: usize) -> Result<Vec<f64>> {
    processes_with(child, args, cache, count, None)
}

/// The same with a given number of workers.
fn processes_with(
    child: Child,
    args: &Args,
    cache: Option<&Path>,
    count: usize,
    workers: Option<usize>,
) -> Result<Vec<f64>> {
    let mut columns = Columns::default();
    for _ in 0..count {
        columns.add(process(child, args.library.as_deref(), cache, workers)?);
    }
    Ok(columns.medians())
}

/// The measurements of several processes.
#[derive(Default)]
struct Columns(Vec<Vec<f64>>);

impl Columns {
    fn add(&mut self, numbers: Vec<f64>) {
        self.0.resize(numbers.len(), vec![]);
        self.0.iter_mut().zip(numbers).for_each(|(column, number)| column.push(number));
    }

    fn medians(self) -> Vec<f64> {
        self.0.into_iter().map(median).collect()
    }
}

/// Runs this program as `child`, with a library and a number of workers if they are given.
fn process(
    child: Child,
    library: Option<&Path>,
    cache: Option<&Path>,
    workers: Option<usize>,
) -> Result<Vec<f64>> {
    let name = child.to_possible_value().context("a child has a name")?;
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["--child", name.get_name()]);
    command.env("ANYWARP_CACHE_DIR", cache.map_or("off".as_ref(), Path::as_os_str));
    if let Some(workers) = workers {
        command.env("ANYWARP_WORKERS", workers.to_string());
    }
    if let Some(library) = library {
        command.arg("--library").arg(library);
    }
    let output = command.output()?;
    if !output.status.success() {
        bail!("{}: {}", name.get_name(), String::from_utf8_lossy(&output.stderr));
    }
    let text = String::from_utf8(output.stdout)?;
    Ok(text.split_whitespace().map(str::parse).collect::<Result<_, _>>()?)
}

/// What [`Child::Calls`], [`Child::Graphs`] and [`Child::Launches`] measure, in microseconds.
const CALLS: &[&str] = &[
    "an empty launch and `cuCtxSynchronize`",
    "`cuEventRecord`",
    "`cuEventRecord` and `cuEventSynchronize`",
    "`cuMemcpyHtoD` of 64 bytes",
    "`cuMemcpyDtoH` of 64 bytes",
    "`cuMemcpyDtoDAsync` of 64 bytes",
    "`cuMemsetD8Async` of 64 bytes",
    "`cuMemAllocAsync` and `cuMemFreeAsync` of 1 KiB",
    "`cuMemAlloc` and `cuMemFree` of 1 MiB",
];
const GRAPHS: &[&str] = &[
    "`cuGraphLaunch` of 100 empty kernels in a chain, and `cuCtxSynchronize`",
    "the same for 1000 empty kernels in a mesh with two edges to each, per kernel",
];
const LAUNCHES: &[&str] = &[
    "each of 1000 launches back to back, until the last call returns",
    "the same, 90th percentile",
    "each of 1000 launches back to back, until the last has run",
    "the same, 90th percentile",
];

/// Compares two builds of the driver, in alternating processes.
fn compare(args: &Args, other: &Path) -> Result<()> {
    println!(
        "| microseconds | this build | {} | its time ÷ this build's |\n|---|---|---|---|",
        other.display()
    );
    for (child, names) in [(Child::Calls, CALLS), (Child::Graphs, GRAPHS), (Child::Launches, LAUNCHES)] {
        let [mut ours, mut theirs] = [Columns::default(), Columns::default()];
        for _ in 0..args.processes {
            ours.add(process(child, args.library.as_deref(), None, None)?);
            match process(child, Some(other), None, None) {
                Ok(times) => theirs.add(times),
                Err(error) => {
                    // An older build may lack functions.
                    eprintln!(
                        "{}: {}",
                        other.display(),
                        error.to_string().lines().next().unwrap_or_default()
                    );
                    break;
                }
            }
        }
        for ((name, ours), theirs) in names.iter().zip(ours.medians()).zip(theirs.medians()) {
            println!("| {name} | {ours:.3} | {theirs:.3} | {:.2} |", theirs / ours);
        }
    }
    Ok(())
}

/// Runs `work` while one thread of this process per processor does nothing but count.
fn while_busy<T>(work: impl FnOnce() -> T) -> T {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, |n| n.get()) {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let result = work();
        done.store(true, Ordering::Relaxed);
        result
    })
}

/// The driver library of the release build.
fn built_library() -> PathBuf {
    let exe = std::env::current_exe().unwrap_or_default();
    exe.ancestors().nth(2).map(|p| p.join("lib-anywarp/libcuda.so.1")).unwrap_or_default()
}

fn main() -> Result<()> {
    let args = Args::parse();
    if let Some(child) = args.child {
        let numbers = measure(child, &args.library.clone().unwrap_or_else(built_library))?;
        println!("{}", numbers.iter().map(f64::to_string).collect::<Vec<_>>().join(" "));
        return Ok(());
    }
    if let Some(other) = &args.beside {
        return compare(&args, other);
    }
    let cache = std::env::temp_dir().join(format!("anywarp-latency-{}", std::process::id()));
    let init = processes(Child::Init, &args, None, args.processes)?;
    let made = processes(Child::Module, &args, None, args.processes)?;
    let busy = processes(Child::Busy, &args, None, args.processes)?;
    let queued = processes(Child::Queued, &args, None, args.processes)?;
    // The first process fills the cache.
    processes(Child::Module, &args, Some(&cache), 1)?;
    let cached = processes(Child::Module, &args, Some(&cache), args.processes)?;
    std::fs::remove_dir_all(&cache)?;
    let calls = processes(Child::Calls, &args, None, 3)?;
    let graphs = processes(Child::Graphs, &args, None, args.processes)?;
    let launches = |workers| processes_with(Child::Launches, &args, None, args.processes, workers);
    let rates = [
        ("", launches(None)?),
        (", one worker", launches(Some(1))?),
        (", every processor busy with something else", while_busy(|| launches(None))?),
    ];

    println!("| what | median |");
    println!("|---|---|");
    let [init_ms, init_rss, init_added] = init[..] else { bail!("three numbers of init") };
    println!("| opening the library and `cuInit`, fresh process | {init_ms:.2} ms |");
    println!("| resident memory after it | {init_rss:.1} MB, of which it added {init_added:.1} MB |");
    let module = |title: &str, marks: &[f64]| {
        let parts: Vec<String> = marks.iter().map(|m| format!("{m:.2}")).collect();
        println!("| {title} | {:.2} ms ({}) |", marks.iter().sum::<f64>(), parts.join(" + "));
    };
    let what = "a module of two small kernels: load + first launch and wait for each";
    let both = "the same kernels: load + both first launches + one wait";
    module(&format!("{what}, LLVM opened for it"), &made[..3]);
    module(&format!("{what}, LLVM already open"), &made[3..]);
    module(
        &format!("{what}, with 10 ms of other work between load and launch, not counted, LLVM opened for it"),
        &busy[..3],
    );
    module(&format!("{both}, LLVM opened for it"), &queued[..3]);
    module(&format!("{both}, LLVM already open"), &queued[3..]);
    module(&format!("{what}, from the cache, fresh process"), &cached[..3]);
    module(&format!("{what}, from the cache, warm process"), &cached[3..]);
    for (name, time) in CALLS.iter().zip(calls).chain(GRAPHS.iter().zip(graphs)) {
        println!("| {name} | {time:.3} µs |");
    }
    for (how, rate) in rates {
        let [called, called_90, ran, ran_90] = rate[..] else { bail!("four numbers of launches") };
        println!(
            "| each of 1000 launches back to back{how}: until the last call returns, until the last has run; 90th percentiles \
             | {called:.2} µs, {ran:.2} µs; {called_90:.2} µs, {ran_90:.2} µs |"
        );
    }
    Ok(())
}
