//! Wave IR: one GPU kernel as SSA, executed by warps of 32 lanes.
//!
//! The IR is written from the point of view of one lane, as PTX is; what makes it a *wave* IR is what
//! its operations may say about the other lanes (shuffles, votes, barriers) and the analyses that
//! tell which values are the same in all of them. See [`func`] for the shape of a function, [`op`] for
//! the operations and their exact meaning, and [`abi`] for how running code, compiled or interpreted,
//! meets the scheduler.
//!
//! **Architecture invariant:** this crate knows neither PTX nor AMD code objects nor LLVM. Every
//! operation is total: there is no undefined behaviour in the IR save for memory that is not there.

pub mod abi;
pub mod barrier;
pub mod cluster;
mod dominance;
pub mod fold;
pub mod func;
pub mod inline;
pub mod interp;
pub mod layout;
pub mod mbarrier;
pub mod module;
pub mod op;
mod print;
pub mod range;
pub mod read;
pub mod recurse;
pub mod sfu;
pub mod simplify;
pub mod types;
pub mod verify;

pub use func::{Block, BlockCall, BlockData, Builder, Function, Inst, Loc, Slot, Terminator, Value};
pub use module::{FuncId, Global, GlobalId, KernelInfo, Module, ParamInfo, SharedId, SharedVar};
pub use op::Op;
pub use types::Ty;

/// Lanes in a warp. Fixed: shuffles, votes and warp-synchronous code then mean what CUDA says.
pub const LANES: usize = 32;
