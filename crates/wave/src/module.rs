//! A module: functions, variables and their layout.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::func::Function;
use crate::launch::Fill;
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

/// The result of lowering a module: everything that is needed to interpret or compile its kernels. Clones
/// share the functions and variables.
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
    /// Functions whose handle is taken, also by functions whose code this module lacks: with those that its
    /// own code and initial values name, they are what an indirect call may reach.
    pub taken: Arc<BTreeSet<FuncId>>,
    /// Source files named by the debug data, for [`crate::func::Loc::file`] (which counts from 1).
    pub files: Arc<Vec<String>>,
    /// Size of the image with all globals, in bytes.
    pub image_size: u64,
    /// Alignment of the image, in bytes.
    pub image_align: u64,
}

/// A variable in the module's image. All globals of a module are in one allocation at fixed offsets, so that
/// compiled code needs only one base address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Global {
    /// The variable's name.
    pub name: String,
    /// Offset in the image, in bytes.
    pub offset: u64,
    /// Size in bytes.
    pub size: u64,
    /// Alignment in bytes.
    pub align: u32,
    /// Whether it is in constant memory.
    pub constant: bool,
    /// Whether it is `.managed`.
    pub managed: bool,
    /// Whether cuModuleGetGlobal can find it.
    pub exported: bool,
    /// The kind of reference, if it is a texture or surface reference; the variable then holds the handle
    /// that it is bound to.
    pub reference: Option<Reference>,
    /// Initial bytes, followed by zeros; relocations overwrite them.
    pub init: Vec<u8>,
    /// Addresses to write into the initial bytes.
    pub relocs: Vec<Reloc>,
}

/// The kind of a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference {
    /// A texture.
    Texture,
    /// A surface.
    Surface,
}

/// An address in a global's initial value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reloc {
    /// Byte offset in the variable.
    pub at: u64,
    /// Number of bytes written, least significant first (8, or fewer with `shift` for PTX's `mask()`).
    pub size: u8,
    /// Number of bits that the address is shifted right by first.
    pub shift: u8,
    /// The entity whose address is written.
    pub target: RelocTarget,
    /// Bytes added to the address.
    pub addend: i64,
}

/// The target of a relocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelocTarget {
    /// A variable's host address.
    Global(GlobalId),
    /// A function's handle, as returned by [`crate::op::Op::FuncAddr`].
    Func(FuncId),
    /// A shared variable's offset in the shared window (in the kernel's layout; 0 if layouts differ).
    Shared(SharedId),
}

/// A shared variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedVar {
    /// The variable's name.
    pub name: String,
    /// Size in bytes; 0 for `extern` (dynamic) shared memory.
    pub size: u64,
    /// Alignment in bytes.
    pub align: u32,
}

/// Attributes that only kernels have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelInfo {
    /// Parameters in order.
    pub params: Vec<ParamInfo>,
    /// Size of the parameter buffer in bytes.
    pub param_size: u32,
    /// Words of the buffer that the launch writes.
    pub fills: Vec<Fill>,
    /// `.reqntid`, or 0.
    pub required_block: [u32; 3],
    /// Product of `.maxntid`, or 0.
    pub max_threads: u32,
    /// `.minnctapersm`, or 0.
    pub min_blocks: u32,
    /// `.reqnctapercluster`, or 0.
    pub required_cluster: [u32; 3],
    /// `.maxclusterrank`, or 0.
    pub max_cluster: u32,
    /// `.explicitcluster`: launches must state the cluster's size.
    pub explicit_cluster: bool,
    /// `.blocksareclusters`: the grid size of launches counts clusters instead of blocks.
    pub blocks_are_clusters: bool,
    /// Weak accesses of words (32 bits and more) need not be aligned.
    pub loose_words: bool,
    /// All lanes of a block's last warp execute, also those without a thread: code keeps data in their
    /// registers.
    pub whole_warps: bool,
    /// `.maxnreg`, or 0.
    pub max_registers: u32,
    /// The static shared variables that this kernel and its callees use, with their offsets; then the dynamic
    /// ones, at `shared_size`.
    pub shared: Vec<(SharedId, u64)>,
    /// Bytes of static shared memory, with the padding in front of the dynamic ones.
    pub shared_size: u64,
}

/// The position of a kernel parameter in the buffer.
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
    /// The function with this name.
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

    /// Handle of a function for indirect calls. It is not an address, so that a wild call can be recognised.
    pub fn func_handle(f: FuncId) -> u64 {
        FUNC_HANDLE_BASE + u64::from(f.0) * FUNC_HANDLE_STEP
    }

    /// The function number that a handle stands for, whether or not the module has such a function.
    pub fn func_of_handle(handle: u64) -> Option<FuncId> {
        let distance = handle.checked_sub(FUNC_HANDLE_BASE)?;
        let number = u32::try_from(distance / FUNC_HANDLE_STEP).ok()?;
        distance.is_multiple_of(FUNC_HANDLE_STEP).then_some(FuncId(number))
    }

    /// Whether an indirect call with these types may reach `f`.
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

/// Base of function handles; no memory is ever mapped here.
pub const FUNC_HANDLE_BASE: u64 = 0x0007_f000_0000_0000;

/// The distance between handles.
const FUNC_HANDLE_STEP: u64 = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_name_functions() {
        for f in [FuncId(0), FuncId(1), FuncId(u32::MAX)] {
            let handle = Module::func_handle(f);
            assert_eq!(Module::func_of_handle(handle), Some(f));
            assert_eq!(Module::func_of_handle(handle + 1), None);
        }
        assert_eq!(Module::func_of_handle(FUNC_HANDLE_BASE - FUNC_HANDLE_STEP), None);
        assert_eq!(Module::func_of_handle(u64::MAX - u64::MAX % FUNC_HANDLE_STEP), None);
    }
}
