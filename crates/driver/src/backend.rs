//! The one door to compilation and execution.
//!
//! A [`Backend`] turns the PTX texts of a module into a [`Program`]; a program runs grids. Everything else (contexts, memory, order of work,
//! handles) is the driver's. Addresses are real addresses of the process.

use std::sync::Arc;

use crate::device::DeviceInfo;

/// Compiles modules and describes the devices it runs them on.
pub trait Backend: Send + Sync {
    /// The devices, in the order of their ordinals. Asked once, by `cuInit`; must be quick.
    fn devices(&self) -> Vec<DeviceInfo>;

    /// Parses, checks, links and lowers the texts of one module; every error in them is told here.
    fn load(&self, request: &LoadRequest<'_>) -> Result<Loaded, LoadError>;

    /// A context is gone: whatever was kept for its id (the heap of device `malloc`) can go.
    fn context_destroyed(&self, context: u64) {
        let _ = context;
    }
}

/// What is to be loaded.
#[derive(Clone, Debug)]
pub struct LoadRequest<'a> {
    /// The PTX texts to link together (one for a plain load).
    pub inputs: &'a [Input<'a>],
    /// The device the code is for.
    pub device: &'a DeviceInfo,
    /// How to compile.
    pub options: LoadOptions,
    /// For the linker: every symbol must be defined by one of the texts. A load alone takes undefined variables.
    pub complete: bool,
}

/// One PTX text.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// What to call it in messages.
    pub name: &'a str,
    /// The text, without a terminating NUL.
    pub text: &'a [u8],
}

/// The compiler options a caller can give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadOptions {
    /// 0 to 4; higher is more.
    pub optimization_level: u32,
    /// Registers a thread may use; 0: no limit.
    pub max_registers: u32,
    /// A bound for the block size; 0: the kernel's own.
    pub max_threads: u32,
    /// Debug information was asked for.
    pub debug: bool,
    /// Line information was asked for.
    pub line_info: bool,
    /// Whether the log is to be verbose.
    pub verbose: bool,
    /// The capability that code is linked for (90 for 9.0); `None`: the device's.
    pub target: Option<u32>,
    /// Addresses of variables that the code declares and does not define.
    pub symbols: Vec<(String, u64)>,
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
        }
    }
}

/// A module that loaded.
pub struct Loaded {
    /// Its code.
    pub program: Arc<dyn Program>,
    /// Informational messages, lines ended by newlines (may be empty).
    pub info: String,
}

/// Why a module does not load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError {
    /// The class, which decides the status.
    pub kind: LoadErrorKind,
    /// The messages, lines ended by newlines: file, line, what was wrong, what would be right.
    pub log: String,
    /// The same for a person at a terminal, with the lines of the text; may be empty.
    pub rendered: String,
}

/// Classes of load errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadErrorKind {
    /// The text is not right PTX (`CUDA_ERROR_INVALID_PTX`).
    InvalidPtx,
    /// `.version` is newer than what is known (`CUDA_ERROR_UNSUPPORTED_PTX_VERSION`).
    UnsupportedVersion,
    /// A symbol is used that no text defines (`CUDA_ERROR_INVALID_SOURCE` from the linker, `CUDA_ERROR_INVALID_PTX` from a load).
    Undefined,
    /// Two texts define one symbol (`CUDA_ERROR_INVALID_SOURCE`).
    Duplicate,
    /// The text is right but uses what this driver does not do yet; the log names it (`CUDA_ERROR_INVALID_PTX`).
    Unsupported,
    /// The bytes are no PTX text at all (`CUDA_ERROR_INVALID_IMAGE`).
    InvalidImage,
    /// No compiler is at hand (`CUDA_ERROR_JIT_COMPILER_NOT_FOUND`).
    NoCompiler,
    /// Not enough memory.
    OutOfMemory,
}

/// A module's code, before it is placed in a context.
pub trait Program: Send + Sync {
    /// The kernels, in the order of the text.
    fn kernels(&self) -> &[KernelInfo];

    /// What the code of a kernel takes, by its place among [`Program::kernels`].
    fn usage(&self, kernel: usize) -> Usage {
        let _ = kernel;
        Usage::default()
    }

    /// Bytes of local memory that a thread of a kernel needs, with those of the functions that it may call, recursion apart.
    fn local_bytes(&self, kernel: usize) -> u64 {
        let _ = kernel;
        0
    }

    /// The variables in global and constant memory that have a name for the host.
    fn globals(&self) -> &[GlobalInfo];

    /// The texture and surface references, each a variable of 8 bytes that holds the handle of what it is bound to.
    fn references(&self) -> &[ReferenceInfo] {
        &[]
    }

    /// The size and alignment of the memory that holds all variables; size 0: none.
    fn image(&self) -> ImageLayout;

    /// The first contents of that memory when it lies at `base`, as pieces and their offsets: initialisers, with the addresses of variables
    /// (and functions) relocated. Everything else begins as zero.
    fn initial_image(&self, base: u64) -> Vec<(u64, Vec<u8>)>;

    /// Runs a whole grid and returns when its last thread has ended. Called from the threads that execute streams, from several at once for
    /// several streams.
    fn launch(&self, launch: &Launch<'_>) -> Result<(), Fault>;

    /// How many blocks of `block_size` threads with `dynamic_shared` bytes one multiprocessor can hold at once as far as the backend limits
    /// it; the driver applies the device's limits of threads, blocks and shared memory itself.
    fn max_blocks_per_multiprocessor(&self, kernel: usize, block_size: u32, dynamic_shared: u64) -> u32 {
        let _ = (kernel, block_size, dynamic_shared);
        u32::MAX
    }

    /// Compiles a kernel now rather than at its first launch.
    fn prepare(&self, kernel: usize) {
        let _ = kernel;
    }

    /// Compiles a kernel for launches of this shape, so that the launch finds its code made. Called by a thread of its own while the launch
    /// waits behind others.
    fn prepare_launch(&self, kernel: usize, grid: [u32; 3], block: [u32; 3], clusters: bool) {
        let _ = (kernel, grid, block, clusters);
    }
}

/// What is known of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelInfo {
    /// Its name.
    pub name: String,
    /// Its parameters, in order.
    pub params: Vec<ParamInfo>,
    /// Bytes of the parameter buffer up to the end of the last parameter (no padding after it).
    pub param_size: u32,
    /// Bytes of statically sized shared memory of a block.
    pub static_shared: u32,
    /// The product of `.maxntid`; 0: not given.
    pub max_threads: u32,
    /// `.reqntid`: the one shape a block may have.
    pub required_block: Option<[u32; 3]>,
    /// `.reqnctapercluster`: the one shape a cluster may have.
    pub required_cluster: Option<[u32; 3]>,
    /// `.maxclusterrank`: the most blocks a cluster may have; 0: not given.
    pub max_cluster: u32,
    /// `.explicitcluster`: a launch must say what its clusters are.
    pub explicit_cluster: bool,
    /// `.blocksareclusters`: a launch counts clusters where others count blocks.
    pub blocks_are_clusters: bool,
    /// The `.target` of its text as a number: 52 for sm_52.
    pub target: u32,
}

/// What a kernel's code takes, which may not be known before somebody asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Bytes of local memory of a thread.
    pub local_bytes: u32,
    /// Bytes of constant memory the user declared that the kernel reads.
    pub const_bytes: u32,
    /// Registers of a thread, as an assembler would report them (an estimate).
    pub registers: u32,
}

/// A kernel parameter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ParamInfo {
    /// Where it lies in the parameter buffer.
    pub offset: u32,
    /// Bytes.
    pub size: u32,
}

/// A variable of a module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GlobalInfo {
    /// Its name.
    pub name: String,
    /// Where it lies in the module's image.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
    /// In constant memory.
    pub constant: bool,
    /// `.attribute(.managed)`.
    pub managed: bool,
}

/// A texture or surface reference of a module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReferenceInfo {
    /// Its name.
    pub name: String,
    /// Where its variable lies in the module's image.
    pub offset: u64,
    /// Of a surface rather than a texture.
    pub surface: bool,
}

/// The memory that holds a module's variables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImageLayout {
    /// Bytes.
    pub size: u64,
    /// A power of two.
    pub align: u64,
}

/// One launch.
#[derive(Clone, Debug)]
pub struct Launch<'a> {
    /// The kernel, as an index into [`Program::kernels`].
    pub kernel: usize,
    /// Blocks in x, y and z, none of them 0.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z, none of them 0.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory of a block.
    pub dynamic_shared: u32,
    /// The parameter buffer, of [`KernelInfo::param_size`] bytes.
    pub params: &'a [u8],
    /// Where the module's image lies.
    pub image_base: u64,
    /// The context's limits.
    pub limits: Limits,
    /// Blocks of a cluster in x, y and z, where there are clusters.
    pub cluster: Option<[u32; 3]>,
    /// All blocks must be resident at once.
    pub cooperative: bool,
    /// The context's id, unique in the process: whose heap `malloc` takes from.
    pub context: u64,
    /// The device's ordinal.
    pub device: u32,
}

/// Limits of a context, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Stack of a thread.
    pub stack: u64,
    /// Heap of device `malloc`.
    pub heap: u64,
    /// Buffer of device `printf`.
    pub printf: u64,
}

/// A kernel that went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What happened.
    pub kind: FaultKind,
    /// Kernel, place, thread, address: whatever is known.
    pub message: String,
}

/// What can happen to a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// A load or store outside every allocation (a stack that ran over, too: so the hardware tells it).
    IllegalAddress,
    /// An address that is not a multiple of the access's size.
    MisalignedAddress,
    /// An instruction that cannot be executed.
    IllegalInstruction,
    /// A failed device-side assertion.
    Assert,
    /// `trap`.
    Trap,
    /// The watchdog ended it.
    Timeout,
    /// A call stack that ran over, where the hardware tells it as such.
    StackOverflow,
    /// More threads, registers or memory than there are.
    OutOfResources,
}
