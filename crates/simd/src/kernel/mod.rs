//! One kernel as LLVM IR, all lanes of a warp at a time.
//!
//! Values that one block makes and another uses live in *slots* (stack variables of vector type); so do the masks of blocks that not all
//! lanes reach. LLVM's first pass turns slots into SSA values, which keeps emission simple where control flow is not. Values with a
//! uniform variation are scalars, known patterns a scalar and constant offsets, the rest vectors.

mod ahead;
mod aligned;
mod atomic;
mod begin;
pub mod cfg;
mod compare;
mod control;
mod emit;
pub mod explain;
mod flush;
mod groups;
mod instruction;
mod lanes;
mod matrix;
mod members;
mod memory;
mod module;
mod names;
mod nan;
mod offset;
mod outline;
mod passes;
mod per_lane;
mod rendezvous;
mod rounds;
mod runs;
mod runtime;
mod special;
mod spin;
mod stop;
mod sweep;
mod threads;
mod tidy;
pub mod uniformity;
mod value;
mod warp;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use wave::abi::WINDOW_BITS;
use wave::range::Ranges;
use wave::{Block, Function, Inst, Module, Ty, Value};

use crate::effort::Effort;
use crate::ir::{self, Bin, Builder, Lanes, Name, Operand, Type};
use crate::lanewise;
use cfg::Cfg;
pub use emit::emit;
use names::{BLOCK, WARP};
use outline::Outlined;
use rendezvous::Waits;
use uniformity::{Specialisation, Uniformity};
use value::Rep;

/// Why a kernel is not compiled; it is interpreted then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported(pub String);

impl From<lanewise::Unsupported> for Unsupported {
    fn from(u: lanewise::Unsupported) -> Self {
        Unsupported(u.0)
    }
}

/// What emission answers.
pub type Result<T> = std::result::Result<T, Unsupported>;

/// How much of a kernel became vectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Operations on scalars for the whole warp.
    pub uniform: u32,
    /// Operations on vectors.
    pub vector: u32,
    /// Memory accesses of whole vectors or scalars.
    pub wide: u32,
    /// Memory accesses lane by lane.
    pub scattered: u32,
    /// Each lane goes on for itself: control flow that is not linearised, or lanes that wait for one another.
    pub per_lane: bool,
    /// How hard LLVM tries.
    pub effort: Effort,
}

/// A kernel's IR.
#[derive(Clone, Debug)]
pub struct Emitted {
    /// The module's text.
    pub ir: String,
    /// A function more for the module: all warps of a block from barrier to barrier. Empty where it has none.
    pub sweep: String,
    /// Bytes of a warp's frame.
    pub frame: usize,
    /// Bytes of local memory a thread, at least.
    pub local: u64,
    /// Whether the launch may give more local memory, for recursion.
    pub keeps_stack: bool,
    /// Whether it is a coroutine.
    pub suspends: bool,
    /// What became vectors, and how hard LLVM is to try.
    pub report: Report,
}

/// Names of the entry points.
pub const RESUME: &str = "anywarp_resume";
/// The entry for all warps of a block, from barrier to barrier.
pub const SWEEP: &str = "anywarp_sweep";
/// The entry for kernels that never stop.
pub const RUN_BLOCKS: &str = "anywarp_run_blocks";

/// One kernel while its code is written.
pub struct Kernel<'a> {
    /// What is known of it. Nothing changes this.
    facts: Facts<'a>,
    /// How lanes that part go on.
    strategy: Strategy,
    /// What holds at the place that is being written.
    cursor: Cursor,
    /// What was written.
    out: Output,
    /// What is known about each thread, once something asked; more with each question.
    threads: Option<threads::Threads>,
}

/// How lanes that part go on.
enum Strategy {
    /// Divergent control flow is linearised: lanes that meet again wait for one another, see [`control`].
    Linear,
    /// Each lane goes on for itself, see [`per_lane`]; where lanes wait for others.
    PerLane(Waits),
}

/// What is known of a kernel before its code is written.
pub struct Facts<'a> {
    module: &'a Module,
    spec: Specialisation,
    avx512: bool,
    func: Function,
    cfg: Cfg,
    uniformity: Uniformity,
    ranges: Ranges,
    /// The block where each value is made, and the operation that makes it.
    defs: BTreeMap<Value, (usize, Inst)>,
    constants: BTreeMap<Value, u128>,
    /// Values that anything uses.
    used: BTreeSet<Value>,
    /// Values that live in slots, since another block than their own reads them.
    slotted: BTreeSet<Value>,
    /// Slots lie in the warp's frame, not on the stack.
    in_frame: bool,
    /// The kernel returns to the scheduler before its end, so that what it keeps lies in the warp's frame.
    suspends: bool,
    /// No lane ever leaves early, and no warp is partial.
    always_full: bool,
    /// Whether a stop may come after each block.
    before_stop: Vec<bool>,
    /// Loads and stores that the processor does lane by lane where their addresses are not known, at most.
    by_lanes: usize,
    /// Accesses that need no check of their alignment.
    aligned: BTreeSet<aligned::Place>,
    /// The processor flushes subnormals, see [`flush`].
    flushes: bool,
    /// Values that may hold any NaN, see [`nan`].
    raw: BTreeSet<Value>,
    /// Bytes of local memory that a thread's variables take.
    local_frame: u64,
    /// Bytes of local memory a thread, if they are known when compiling; otherwise the launch decides them.
    local_size: Option<u64>,
    /// Offsets of the local variables.
    slot_offsets: Vec<u64>,
    /// Bytes of the parameters.
    param_size: u32,
    /// Offsets of the shared variables.
    shared: BTreeMap<u32, u64>,
}

/// What holds at the place that is being written.
#[derive(Default)]
struct Cursor {
    /// The instruction: its block and its number there.
    at: aligned::Place,
    /// Values that the current block has read or made.
    env: BTreeMap<Value, Rep>,
    /// Guards of the current block's values that are held as vectors.
    guards: BTreeMap<Value, Operand>,
    /// Single lanes' values in the current block, see [`groups`].
    lanes: BTreeMap<(Value, usize), Operand>,
    /// The lanes that run the current block.
    mask: Operand,
    /// All 32 lanes run the current block, known when compiling.
    full: bool,
    /// What must still run after each place in the order, see [`control`].
    pending: BTreeMap<usize, BTreeSet<usize>>,
}

/// What was written.
#[derive(Default)]
struct Output {
    ir: Builder,
    /// Slots on the stack, for the entry block.
    slots: Vec<ir::Inst>,
    /// Offsets in the warp's frame of the slots that lie there.
    places: HashMap<Name, usize>,
    /// Slots on the stack that several places of the code share, see [`lanes`].
    rooms: Vec<lanes::Room>,
    /// Bytes of the operands and of the results of matrix instructions, at most.
    matrices: Option<[usize; 2]>,
    /// What is done before the first block, in the per-lane mode.
    start: Vec<ir::Inst>,
    /// What clears masks and slots, by the block that does it, see [`begin`].
    begin: BTreeMap<Option<usize>, Vec<ir::Inst>>,
    /// Places in the warp's frame of values that live across a stop.
    homes: BTreeMap<Value, stop::Home>,
    /// Bytes of the warp's frame.
    frame: usize,
    /// Places to resume at.
    resumes: usize,
    /// Outlined operations.
    outlined: Outlined,
    /// Vectors read from the frame since another state of memory began, where a kernel is so large that it matters.
    row: Option<usize>,
    report: Report,
    /// Why the kernel cannot be emitted after all, where the one who found it could not say so at once.
    refused: Option<String>,
}

impl Kernel<'_> {
    /// Whether each lane goes on for itself.
    fn per_lane(&self) -> bool {
        matches!(self.strategy, Strategy::PerLane(_))
    }

    /// Where lanes wait for others.
    fn waits(&self) -> &Waits {
        match &self.strategy {
            Strategy::PerLane(waits) => waits,
            Strategy::Linear => const { &Waits::NONE },
        }
    }

    fn emitter(&mut self, lanes: Lanes) -> lanewise::Emit<'_> {
        lanewise::Emit {
            ir: &mut self.out.ir,
            lanes,
            avx512: self.facts.avx512,
            any_nan: false,
            flushes: self.facts.flushes,
        }
    }

    /// Loads a field of a context.
    fn field(&mut self, base: Operand, at: usize, ty: Type) -> Operand {
        let p = self.out.ir.offset(base, at);
        self.out.ir.load(ty, p)
    }

    /// Where the block's shared memory begins among its cluster's, an `i32`; none where launches have no clusters.
    fn window(&mut self) -> Option<Operand> {
        let rank = self.facts.spec.clusters.then(|| self.field(BLOCK, offset::CLUSTER_RANK, Type::I32))?;
        Some(self.out.ir.bin_int(Bin::Shl, rank, i64::from(WINDOW_BITS)))
    }

    /// Stores a field of the warp's context.
    fn set_field(&mut self, at: usize, v: Operand) {
        let p = self.out.ir.offset(WARP, at);
        self.out.ir.store(v, p);
    }

    /// The mask in hand as an i32.
    fn mask_bits(&mut self) -> Operand {
        self.bits_of(self.cursor.mask)
    }

    /// The word that a mask is; for AVX2 also that of a constant one.
    fn mask_word(&self, mask: Operand) -> Option<Operand> {
        let constant = mask.as_int().filter(|_| !self.facts.avx512).map(|set| Operand::i32(-set));
        self.out.ir.word_of(mask).or(constant)
    }

    /// A mask as an i32.
    fn bits_of(&mut self, mask: Operand) -> Operand {
        match self.mask_word(mask) {
            Some(bits) => bits,
            None => self.out.ir.bitcast(mask, Type::I32),
        }
    }

    /// The lanes of a mask for which a condition holds. Where lanes are not there the condition may be anything, even poison.
    fn those(&mut self, mask: Operand, condition: Operand) -> Operand {
        let Some(bits) = self.mask_word(mask) else {
            return self.out.ir.select(mask, condition, Operand::NONE);
        };
        let sure = match self.mask_word(condition) {
            Some(_) => condition,
            None => self.out.ir.freeze(condition),
        };
        let sure = self.bits_of(sure);
        let those = self.out.ir.bin(Bin::And, bits, sure);
        self.out.ir.mask(those)
    }

    /// The lanes of a mask without some of them.
    fn others(&mut self, mask: Operand, those: Operand) -> Operand {
        let words = self.mask_word(mask).zip(self.mask_word(those));
        let Some((all, some)) = words else {
            return self.out.ir.bin(Bin::Xor, mask, those);
        };
        let others = self.out.ir.bin(Bin::Xor, all, some);
        self.out.ir.mask(others)
    }

    /// The lanes of either mask.
    fn either_mask(&mut self, a: Operand, b: Operand) -> Operand {
        if self.facts.avx512 {
            return self.out.ir.bin(Bin::Or, a, b);
        }
        let (a, b) = (self.bits_of(a), self.bits_of(b));
        let both = self.out.ir.bin(Bin::Or, a, b);
        self.out.ir.mask(both)
    }

    /// The lanes of a mask but those of another, which need not be among them.
    fn without_lanes(&mut self, mask: Operand, those: Operand) -> Operand {
        if self.facts.avx512 {
            let not = self.out.ir.bin(Bin::Xor, those, Operand::ALL);
            return self.out.ir.bin(Bin::And, mask, not);
        }
        let (mask, those) = (self.bits_of(mask), self.bits_of(those));
        let not = self.out.ir.bin_int(Bin::Xor, those, -1);
        let left = self.out.ir.bin(Bin::And, mask, not);
        self.out.ir.mask(left)
    }

    fn func_ty(&self, v: Value) -> Ty {
        self.facts.func.ty(v)
    }

    fn block_data(&self, b: usize) -> &wave::BlockData {
        self.facts.func.block(Block(b as u32))
    }
}
