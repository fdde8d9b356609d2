//! Wave IR: a GPU kernel in SSA form, executed by warps of 32 lanes.
//!
//! The IR is written from the point of view of one lane, as PTX is. It is a *wave* IR because its operations
//! may refer to the other lanes (shuffles, votes, barriers), and its analyses tell which values are uniform.
//! See [`func`] for the structure of a function, [`op`] for the operations and their exact semantics, and
//! [`abi`] for the interface between running code, compiled or interpreted, and the scheduler.
//!
//! **Architecture invariant:** this crate knows neither PTX nor AMD code objects nor LLVM. Every operation is
//! total: nothing in the IR is undefined except access to memory that does not exist.

pub mod abi;
pub mod barrier;
pub mod cluster;
pub mod count;
pub mod dominance;
pub mod fold;
pub mod func;
pub mod inline;
pub mod interp;
pub mod lanes;
pub mod launch;
pub mod layout;
pub mod mbarrier;
pub mod module;
pub mod op;
pub mod pass;
mod print;
pub mod range;
pub mod read;
pub mod recurse;
pub mod sfu;
pub mod simplify;
pub mod ssa;
pub mod types;
pub mod unreachable;
pub mod verify;

pub use func::{Block, BlockCall, BlockData, Builder, Function, Inst, Loc, Slot, Terminator, Value};
pub use module::{FuncId, Global, GlobalId, KernelInfo, Module, ParamInfo, SharedId, SharedVar};
pub use op::Op;
pub use print::{Line, Notes};
pub use types::{Ty, Width};

/// Number of lanes in a warp of CUDA, [`Width::W32`]. Shuffles, votes and warp-synchronous code then mean
/// what CUDA defines.
pub const LANES: usize = 32;
