//! A module: functions, variables and their places.

use std::sync::Arc;

use crate::func::Function;
use crate::types::Ty;

macro_rules! id {
    ($(#[$m:meta])* $n:ident) => {
        $(#[$m])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $n(pub u32);
        impl $n {
            /// As an index.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id!(
    /// A function of the module.
    FuncId
);
id!(
    /// A global or constant variable of the module.
    GlobalId
);
id!(
    /// A shared variable of the module.
    SharedId
);

/// What a module's bytes become: everything that is needed to interpret or compile its kernels. Copies share their functions and variables.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// For messages.
    pub name: String,
    /// Functions, by [`FuncId`].
    pub functions: Vec<Arc<Function>>,
    /// Variables in the image, by [`GlobalId`].
    pub globals: Arc<Vec<Global>>,
    /// Shared variables, by [`SharedId`].
    pub shared: Arc<Vec<SharedVar>>,
    /// Source files named by the debug data, for [`crate::func::Loc::file`] (which counts from 1).
    pub files: Arc<Vec<String>>,
    /// Bytes of the image that holds all globals.
    pub image_size: u64,
    /// Alignment of the image.
    pub image_align: u64,
}

/// A variable in the module's image. All of a module's globals lie in one allocation at fixed offsets, so
/// that compiled code needs one base address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Global {
    /// Its name.
    pub name: String,
    /// Offset in the image, bytes.
    pub offset: u64,
    /// Size in bytes.
    pub size: u64,
    /// Alignment in bytes.
    pub align: u32,
    /// In constant memory.
    pub constant: bool,
    /// `.managed`.
    pub managed: bool,
    /// Visible to the driver's cuModuleGetGlobal.
    pub exported: bool,
    /// A texture or surface reference: the variable holds the handle of what it is bound to.
    pub reference: Option<Reference>,
    /// Initial bytes, zeros beyond; relocations lie over them.
    pub init: Vec<u8>,
    /// Addresses to be written into the initial bytes.
    pub relocs: Vec<Reloc>,
}

/// What a reference is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference {
    /// A texture.
    Texture,
    /// A surface.
    Surface,
}

/// An address inside a global's initial value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reloc {
    /// Byte offset in the variable.
    pub at: u64,
    /// Bytes written, least significant first (8, or fewer with `shift` for PTX `mask()` parts).
    pub size: u8,
    /// The address is shifted right by this many bits first.
    pub shift: u8,
    /// What is pointed to.
    pub target: RelocTarget,
    /// Added to the address.
    pub addend: i64,
}

/// What a relocation points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelocTarget {
    /// A variable's real address.
    Global(GlobalId),
    /// A function's handle, as [`crate::op::Op::FuncAddr`] gives it.
    Func(FuncId),
    /// A shared variable's offset in the shared window (of the kernel's layout; 0 where it differs).
    Shared(SharedId),
}

/// A shared variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedVar {
    /// Its name.
    pub name: String,
    /// Bytes; 0 for `extern` (dynamic) shared memory.
    pub size: u64,
    /// Alignment in bytes.
    pub align: u32,
}

/// What only kernels have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelInfo {
    /// Parameters in order.
    pub params: Vec<ParamInfo>,
    /// Bytes of the parameter buffer.
    pub param_size: u32,
    /// `.reqntid`, 0 where none.
    pub required_block: [u32; 3],
    /// `.maxntid` product, 0 where none.
    pub max_threads: u32,
    /// `.minnctapersm`, 0 where none.
    pub min_blocks: u32,
    /// `.reqnctapercluster`, 0 where none.
    pub required_cluster: [u32; 3],
    /// `.maxclusterrank`, 0 where none.
    pub max_cluster: u32,
    /// `.explicitcluster`: launches must say how many blocks a cluster has.
    pub explicit_cluster: bool,
    /// `.blocksareclusters`: launches count clusters where they say blocks.
    pub blocks_are_clusters: bool,
    /// `.maxnreg`, 0 where none.
    pub max_registers: u32,
    /// Static shared variables this kernel and what it may call use, with their offsets; dynamic ones last,
    /// at `shared_size` rounded up to their alignment.
    pub shared: Vec<(SharedId, u64)>,
    /// Bytes of static shared memory.
    pub shared_size: u64,
}

/// A kernel parameter's place in the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParamInfo {
    /// Offset, bytes.
    pub offset: u32,
    /// Size, bytes.
    pub size: u32,
    /// Alignment, bytes.
    pub align: u32,
}

impl Module {
    /// Function by name.
    pub fn function(&self, name: &str) -> Option<FuncId> {
        self.functions.iter().position(|f| f.name == name).map(|i| FuncId(i as u32))
    }

    /// The kernels.
    pub fn kernels(&self) -> impl Iterator<Item = (FuncId, &Function)> {
        self.functions
            .iter()
            .enumerate()
            .filter(|(_, f)| f.kernel.is_some())
            .map(|(i, f)| (FuncId(i as u32), &**f))
    }

    /// Handle of a function for indirect calls: not an address, so that a stray one is told from a real one.
    pub fn func_handle(f: FuncId) -> u64 {
        FUNC_HANDLE_BASE + u64::from(f.0) * 16
    }

    /// Whether a call through a handle with these types may reach `f`.
    pub fn accepts(&self, f: FuncId, params: &[Ty], results: &[Ty]) -> bool {
        let (p, r) = self.call_signature(f);
        p == params && r == results
    }

    /// The types of a call to `f`: arguments and results.
    pub fn call_signature(&self, f: FuncId) -> (Vec<Ty>, Vec<Ty>) {
        let f = &self.functions[f.index()];
        (f.params(), f.results.clone())
    }
}

/// Where function handles begin; no memory is ever mapped here.
pub const FUNC_HANDLE_BASE: u64 = 0x0007_f000_0000_0000;
