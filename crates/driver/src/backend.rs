//! The interface to compilation and execution.
//!
//! A [`Backend`] turns the code of a module into a [`Program`]; a program runs grids. The driver does
//! everything else (contexts, memory, stream order, handles). Addresses are real addresses of the process.

use std::sync::atomic::{AtomicU32, AtomicU64};
use std::sync::{Arc, Mutex};

use crate::device::DeviceInfo;
use crate::graph::device::Environment;
use crate::profile::Counts;
use crate::several::Among;

/// Compiles modules and describes the devices that run them.
pub trait Backend: Send + Sync {
    /// The devices in ordinal order. Called once, by `cuInit`; it must be fast.
    fn devices(&self) -> Vec<DeviceInfo>;

    /// Devices that run AMD code of these instruction sets (`gfx90a:xnack+`). Called once, as above.
    fn amd_devices(&self, targets: &[String]) -> Vec<DeviceInfo> {
        let _ = targets;
        Vec::new()
    }

    /// The instruction set that an AMD code object was compiled for, by its header.
    ///
    /// # Errors
    /// Why no device can run it.
    fn amd_target(&self, object: &[u8]) -> Result<String, String> {
        let _ = object;
        Err("code that this backend does not know".to_owned())
    }

    /// Whether an AMD device runs a code object; of several, the one with the highest number suits best.
    fn suits(&self, target: &str, object: &[u8]) -> Option<u32> {
        let _ = (target, object);
        None
    }

    /// Parses, checks, links and lowers the code of one module. Reports every error in them.
    fn load(&self, request: &LoadRequest<'_>) -> Result<Loaded, LoadError>;

    /// The handlers of SIGBUS and SIGSEGV are needed from now on: a file that others can truncate is mapped
    /// ([`host::mapped`]), or pages are about to be replaced ([`host::moving`]).
    fn catch_faults(&self) {}

    /// Prepares the calling thread for accesses that may fault ([`host::mapped::during`]). The result is kept
    /// until they are done.
    fn ready(&self) -> Option<host::threads::Turn> {
        None
    }

    /// A context was destroyed: drops what was kept for its id, such as the heap of device `malloc`.
    fn context_destroyed(&self, context: u64) {
        let _ = context;
    }
}

/// A request to load a module.
#[derive(Clone, Debug)]
pub struct LoadRequest<'a> {
    /// The code to link together; one input for a plain load.
    pub inputs: &'a [Input<'a>],
    /// The target device.
    pub device: &'a DeviceInfo,
    /// The compiler options.
    pub options: LoadOptions,
    /// For the linker: some input must define every symbol. A plain load allows undefined variables.
    pub complete: bool,
}

/// A part of a module.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// Its name in messages.
    pub name: &'a str,
    /// The code.
    pub code: Code<'a>,
}

/// Code of a kind that a backend may take.
#[derive(Clone, Copy, Debug)]
pub enum Code<'a> {
    /// A PTX text, without a terminating NUL.
    Ptx(&'a [u8]),
    /// An AMD code object: a bare ELF file.
    AmdObject(&'a [u8]),
}

/// The compiler options that a caller can set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadOptions {
    /// 0 to 4; higher means more optimisation.
    pub optimization_level: u32,
    /// Maximum registers per thread; 0: no limit.
    pub max_registers: u32,
    /// Maximum threads per block; 0: the kernel's own bound.
    pub max_threads: u32,
    /// Whether to generate debug information.
    pub debug: bool,
    /// Whether to generate line information.
    pub line_info: bool,
    /// Whether the log is verbose.
    pub verbose: bool,
    /// The compute capability that the linker targets (90 for 9.0); `None`: the device's.
    pub target: Option<u32>,
    /// Addresses of variables that the code declares but does not define.
    pub symbols: Vec<(String, u64)>,
    /// Whether clang's bundles and AMD's code objects are taken, as by HIP.
    pub bundles: bool,
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self {
            optimization_level: 4,
            max_registers: 0,
            max_threads: 0,
            debug: false,
            line_info: false,
            verbose: false,
            target: None,
            symbols: Vec::new(),
            bundles: false,
        }
    }
}

/// A loaded module.
pub struct Loaded {
    /// The code.
    pub program: Arc<dyn Program>,
    /// The info log: lines that end in newlines; may be empty.
    pub info: String,
}

/// Why a module failed to load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError {
    /// The class, which determines the status.
    pub kind: LoadErrorKind,
    /// The error log, lines that end in newlines: file, line, what is wrong, what would be right.
    pub log: String,
    /// The same messages for a terminal, with source lines; may be empty.
    pub rendered: String,
}

/// Classes of load errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadErrorKind {
    /// Invalid PTX (`CUDA_ERROR_INVALID_PTX`).
    InvalidPtx,
    /// `.version` is newer than the supported versions (`CUDA_ERROR_UNSUPPORTED_PTX_VERSION`).
    UnsupportedVersion,
    /// A symbol is used but not defined (`CUDA_ERROR_INVALID_SOURCE` from the linker,
    /// `CUDA_ERROR_INVALID_PTX` from a load).
    Undefined,
    /// Two texts define the same symbol (`CUDA_ERROR_INVALID_SOURCE`).
    Duplicate,
    /// Valid code that this driver does not support; the log names it (`CUDA_ERROR_INVALID_PTX`).
    Unsupported,
    /// Valid code that is not for this device (`CUDA_ERROR_INVALID_PTX`).
    BeyondDevice,
    /// The bytes are not PTX text (`CUDA_ERROR_INVALID_IMAGE`).
    InvalidImage,
    /// There is no compiler (`CUDA_ERROR_JIT_COMPILER_NOT_FOUND`).
    NoCompiler,
    /// Out of memory.
    OutOfMemory,
}

/// A module's code, before it is loaded into a context.
pub trait Program: Send + Sync {
    /// The kernels, in the order of the text.
    fn kernels(&self) -> &[KernelInfo];

    /// The resources that a kernel uses, by its index in [`Program::kernels`].
    fn usage(&self, kernel: usize) -> Usage {
        let _ = kernel;
        Usage::default()
    }

    /// Why a kernel cannot run, if its module has loaded without it. Called once, before the kernel is used.
    fn refused(&self, kernel: usize) -> Option<String> {
        let _ = kernel;
        None
    }

    /// Bytes of local memory per thread for a kernel and the functions it may call, not counting recursion.
    fn local_bytes(&self, kernel: usize) -> u64 {
        let _ = kernel;
        0
    }

    /// The variables in global and constant memory that the host can look up by name.
    fn globals(&self) -> &[GlobalInfo];

    /// The texture and surface references. Each is a variable of 8 bytes that holds the handle of its
    /// binding.
    fn references(&self) -> &[ReferenceInfo] {
        &[]
    }

    /// Size and alignment of the image: the memory that holds all variables. Size 0: there are none.
    fn image(&self) -> ImageLayout;

    /// The initial contents of the image at address `base`: offsets and initialisers, in which addresses of
    /// variables and functions are relocated. All other bytes are zero.
    fn initial_image(&self, base: u64) -> Vec<(u64, Vec<u8>)>;

    /// Runs a whole grid and returns after its last thread. Threads that run streams call this, concurrently
    /// for different streams.
    fn launch(&self, launch: &LaunchRequest<'_>) -> Result<(), Fault>;

    /// The number of blocks of `block_size` threads with `dynamic_shared` bytes that one multiprocessor can
    /// hold at once, as far as the backend limits it. The driver applies the device's limits of threads,
    /// blocks and shared memory.
    fn max_blocks_per_multiprocessor(&self, kernel: usize, block_size: u32, dynamic_shared: u64) -> u32 {
        let _ = (kernel, block_size, dynamic_shared);
        u32::MAX
    }

    /// Compiles a kernel now instead of at its first launch.
    fn prepare(&self, kernel: usize) {
        let _ = kernel;
    }

    /// Compiles a kernel for launches of this shape, so that the launch finds its code ready. Called on a
    /// separate thread while the launch waits in its stream.
    fn prepare_launch(&self, kernel: usize, grid: [u32; 3], block: [u32; 3], clusters: bool) {
        let _ = (kernel, grid, block, clusters);
    }
}

/// The description of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelInfo {
    /// The name.
    pub name: String,
    /// The parameters, in order.
    pub params: Vec<ParamInfo>,
    /// Size of the parameter buffer up to the end of the last parameter, without padding after it.
    pub param_size: u32,
    /// Bytes of static shared memory per block.
    pub static_shared: u32,
    /// The product of `.maxntid`; 0 if absent.
    pub max_threads: u32,
    /// `.reqntid`: the required block shape.
    pub required_block: Option<[u32; 3]>,
    /// `.reqnctapercluster`: the required cluster shape.
    pub required_cluster: Option<[u32; 3]>,
    /// `.maxclusterrank`: maximum blocks per cluster; 0 if absent.
    pub max_cluster: u32,
    /// `.explicitcluster`: a launch must give a cluster size.
    pub explicit_cluster: bool,
    /// `.blocksareclusters`: the grid size of a launch counts clusters instead of blocks.
    pub blocks_are_clusters: bool,
    /// The `.target` of its text as a number, such as 52 for sm_52.
    pub target: u32,
}

/// The resources that a kernel uses. Some are only computed when asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Bytes of local memory per thread.
    pub local_bytes: u32,
    /// Bytes of user-declared constant memory that the kernel reads.
    pub const_bytes: u32,
    /// Registers per thread as an assembler would report them; an estimate.
    pub registers: u32,
}

/// A kernel parameter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ParamInfo {
    /// Offset in the parameter buffer.
    pub offset: u32,
    /// Size in bytes.
    pub size: u32,
}

/// A variable of a module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GlobalInfo {
    /// The name.
    pub name: String,
    /// Offset in the module's image.
    pub offset: u64,
    /// Size in bytes.
    pub size: u64,
    /// Whether it is in constant memory.
    pub constant: bool,
    /// `.attribute(.managed)`.
    pub managed: bool,
}

/// A texture or surface reference of a module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReferenceInfo {
    /// The name.
    pub name: String,
    /// Offset of its variable in the module's image.
    pub offset: u64,
    /// Whether it is a surface reference rather than a texture reference.
    pub surface: bool,
}

/// Layout of the memory that holds a module's variables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImageLayout {
    /// Size in bytes.
    pub size: u64,
    /// Alignment, a power of two.
    pub align: u64,
}

/// A kernel launch.
#[derive(Clone, Debug)]
pub struct LaunchRequest<'a> {
    /// The kernel, as an index into [`Program::kernels`].
    pub kernel: usize,
    /// Blocks in x, y and z, none of them 0.
    pub grid: [u32; 3],
    /// Threads per block in x, y and z, none of them 0.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory per block.
    pub dynamic_shared: u32,
    /// The parameter buffer, of [`KernelInfo::param_size`] bytes.
    pub params: &'a [u8],
    /// The address of the module's image.
    pub image_base: u64,
    /// The context's limits.
    pub limits: Limits,
    /// Blocks per cluster in x, y and z, if the launch has clusters.
    pub cluster: Option<[u32; 3]>,
    /// Whether all blocks must be resident at once.
    pub cooperative: bool,
    /// The place of a cooperative grid among those on other devices.
    pub among: Option<&'a Among>,
    /// The most multiprocessors that may run blocks; `None` for all of the device's.
    pub most_workers: Option<u32>,
    /// How many multiprocessors run blocks of launches that share those of [`LaunchRequest::most_workers`].
    pub busy: Option<&'a AtomicU32>,
    /// The context's id, unique in the process; device `malloc` allocates from this context's heap.
    pub context: u64,
    /// The device's ordinal.
    pub device: u32,
    /// The running graph whose node this is.
    pub graph: Option<&'a Arc<Environment>>,
    /// Takes the time ([`crate::profile::now`]) at which the kernel's code was there and its grid began.
    pub begun: Option<&'a AtomicU64>,
    /// Takes what the launch does, with the grids that its kernel launches, if it is to be counted.
    pub counts: Option<&'a Mutex<Counts>>,
}

/// Context limits, in bytes unless they say otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Stack size per thread.
    pub stack: u64,
    /// Heap size of device `malloc`.
    pub heap: u64,
    /// Buffer size of device `printf`.
    pub printf: u64,
    /// Launches by kernels that may be pending; a count.
    pub pending: u64,
}

/// A kernel fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The kind of fault.
    pub kind: FaultKind,
    /// Kernel, source location, thread, address, as far as they are known.
    pub message: String,
}

/// Kinds of kernel faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// An access outside every allocation, or a stack overflow that the hardware reports in this way.
    IllegalAddress,
    /// An address that is not aligned to the access size.
    MisalignedAddress,
    /// An instruction that cannot be executed.
    IllegalInstruction,
    /// A failed device-side assertion.
    Assert,
    /// `trap`.
    Trap,
    /// The watchdog stopped the kernel.
    Timeout,
    /// A stack overflow that the hardware reports as such.
    StackOverflow,
    /// More threads, registers or memory than available.
    OutOfResources,
}
