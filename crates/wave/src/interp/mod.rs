//! The interpreter: the reference for compiled code. Slow, plain, and never wrong.
//!
//! Every lane has its own call stack. A step picks the runnable lanes at the first position (deepest call,
//! then block order, then instruction) and runs that one instruction for all of them together, so that
//! diverged lanes reconverge where paths join, as on hardware. After a while another group gets a turn, so
//! that lanes may wait for one another. `.sync` operations park a lane until all live members of its mask are
//! parked at such an operation too, at whatever instruction.

mod access;
pub mod approx;
pub mod eval;
pub mod float;
pub mod int;
mod machine;
pub mod memory;
mod probe;
mod special;
mod spin;
mod warp;

use std::sync::Arc;

use crate::abi::{BlockCtx, Code, FRAME_ALIGN, LOCAL_ALIGN, Needs, Stop, WarpCtx};
use crate::func::Block;
use crate::layout;
use crate::module::{FuncId, Module};

pub use machine::WarpState;
pub use probe::Probe;

/// Why a kernel cannot be interpreted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The function is not a kernel.
    NotAKernel(String),
    /// A function is declared and called but has no body.
    NoBody(String),
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Error::NotAKernel(name) => write!(f, "function `{name}` is not a kernel"),
            Error::NoBody(name) => {
                write!(f, "function `{name}` has no body; link the module that defines it")
            }
        }
    }
}

impl std::error::Error for Error {}

/// Per-function data that is computed once.
#[derive(Debug)]
struct Plan {
    /// Position of each block in reverse post-order: lower runs first.
    rank: Vec<u32>,
    /// Bytes of an activation's slots, and the offset of each slot.
    frame: u64,
    slots: Vec<u64>,
}

/// A kernel of a module, prepared for interpretation.
#[derive(Debug)]
pub struct Interpreter {
    module: Arc<Module>,
    kernel: FuncId,
    plans: Vec<Plan>,
    needs: Needs,
    limits: memory::Limits,
    /// Offsets of shared variables in this kernel.
    shared: Vec<Option<u64>>,
    /// The block that runs without effects.
    probe: Option<Probe>,
}

impl Interpreter {
    /// Prepares `kernel`.
    pub fn new(module: Arc<Module>, kernel: FuncId) -> Result<Self, Error> {
        let func = &module.functions[kernel.index()];
        let Some(info) = &func.kernel else { return Err(Error::NotAKernel(func.name.clone())) };
        for f in layout::reachable(&module, kernel) {
            let f = &module.functions[f.index()];
            if f.external || f.blocks.is_empty() {
                return Err(Error::NoBody(f.name.clone()));
            }
        }
        let limits = memory::Limits { params: u64::from(info.param_size), loose_words: info.loose_words };
        let mut shared = vec![None; module.shared.len()];
        for &(id, offset) in &info.shared {
            shared[id.index()] = Some(offset);
        }
        let plans = module
            .functions
            .iter()
            .map(|f| {
                let (frame, slots) = layout::frame(f);
                Plan { rank: ranks(f), frame, slots }
            })
            .collect();
        let needs = Needs {
            frame: FRAME_ALIGN,
            local: (layout::local_size(&module, kernel) as usize).next_multiple_of(LOCAL_ALIGN),
            width: func.width,
            whole_warps: info.whole_warps,
            recursive: layout::is_recursive(&module, kernel),
            suspends: true,
            waits: true,
            together: 1,
        };
        Ok(Interpreter { module, kernel, plans, needs, limits, shared, probe: None })
    }

    /// The same for one block, which is run without effects on memory.
    pub fn probing(self, probe: Probe) -> Interpreter {
        Interpreter { probe: Some(probe), ..self }
    }
}

/// Positions in reverse postorder; unreachable blocks come last.
fn ranks(func: &crate::func::Function) -> Vec<u32> {
    let n = func.blocks.len();
    let mut rank = vec![u32::MAX; n];
    let mut seen = vec![false; n];
    let mut order = Vec::with_capacity(n);
    let mut stack: Vec<(Block, usize)> = Vec::new();
    if n > 0 {
        seen[0] = true;
        stack.push((Block(0), 0));
    }
    while let Some((block, next)) = stack.pop() {
        let successors = func.successors(block);
        // The last successor is visited first, so that the first successor directly follows its block in the
        // final order.
        match successors.iter().rev().nth(next) {
            Some(&s) => {
                stack.push((block, next + 1));
                if !std::mem::replace(&mut seen[s.index()], true) {
                    stack.push((s, 0));
                }
            }
            None => order.push(block),
        }
    }
    for (i, b) in order.iter().rev().enumerate() {
        rank[b.index()] = i as u32;
    }
    rank
}

impl Code for Interpreter {
    fn needs(&self) -> &Needs {
        &self.needs
    }

    unsafe fn begin_warp(&self, warp: &mut WarpCtx) {
        let state = Box::new(WarpState::new(self, warp.lanes));
        // SAFETY: the frame has 64 aligned bytes for a pointer.
        unsafe { warp.frame.cast::<*mut WarpState>().write(Box::into_raw(state)) };
    }

    unsafe fn end_warp(&self, warp: &mut WarpCtx) {
        // SAFETY: `begin_warp` stored the pointer; this is called once.
        drop(unsafe { Box::from_raw(warp.frame.cast::<*mut WarpState>().read()) });
    }

    unsafe fn resume(&self, warp: &mut WarpCtx) -> Stop {
        // SAFETY: `begin_warp` stored the pointer, and nothing else uses this warp's frame.
        let state = unsafe { &mut **warp.frame.cast::<*mut WarpState>() };
        machine::Machine { code: self, warp, state }.run()
    }

    unsafe fn run_blocks(&self, block: &mut BlockCtx, _count: u64) -> Stop {
        // `suspends` is true, so the scheduler uses `resume`. If it calls this anyway, report it and run
        // nothing.
        tracing::error!(kernel = %self.module.functions[self.kernel.index()].name, "the interpreter has no run_blocks");
        let _ = block;
        Stop::Fault
    }
}
