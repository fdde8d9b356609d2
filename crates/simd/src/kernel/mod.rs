//! Emits one kernel as LLVM IR, all lanes of a warp at a time.
//!
//! Values that cross blocks live in *slots*: stack variables of vector type. So do the masks of blocks that
//! only some lanes reach. LLVM's first pass promotes slots to SSA values, so emission needs no phis even
//! where control flow is irregular. Uniform values are scalars, known patterns are a scalar plus constant
//! offsets, and all other values are vectors.

mod ahead;
mod aligned;
mod atomic;
mod begin;
mod by_lane;
pub mod cfg;
mod clamped;
mod compare;
mod control;
mod dispatch;
mod either;
mod emit;
mod exchange;
pub mod explain;
mod few;
mod flush;
mod groups;
mod guarded;
mod hoist;
mod instruction;
mod lanes;
mod matrix;
mod members;
mod memory;
mod module;
mod names;
mod nan;
mod offset;
mod order;
mod outline;
mod parting;
mod passes;
mod pending;
mod per_lane;
mod product;
#[cfg(test)]
mod random;
mod recompute;
mod rendezvous;
mod rounds;
mod runs;
mod runtime;
mod sharing;
mod skip;
mod space;
mod special;
pub mod specialisation;
mod spin;
mod stop;
mod sweep;
mod threads;
mod tidy;
mod uniformity;
mod value;
mod variation;
mod warp;
mod whole;
mod wide;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use wave::abi::WINDOW_BITS;
use wave::range::Ranges;
use wave::{Block, Function, Inst, Module, Ty, Value};

use crate::effort::Effort;
use crate::ir::{self, Bin, Builder, Cast, Lanes, Name, Operand, Type, Width};
use crate::lanewise;
use crate::target::Maker;
use cfg::Cfg;
pub use emit::emit;
use names::{BLOCK, WARP};
use outline::Outlined;
use rendezvous::Waits;
use specialisation::Specialisation;
pub use sweep::NOT_RUN;
use uniformity::Uniformity;
use value::Rep;

/// Why a kernel is not compiled. Such a kernel is interpreted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported(pub String);

impl From<lanewise::Unsupported> for Unsupported {
    fn from(u: lanewise::Unsupported) -> Self {
        Unsupported(u.0)
    }
}

/// The result of emission.
pub type Result<T> = std::result::Result<T, Unsupported>;

/// How much of a kernel was vectorised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Operations on scalars for the whole warp.
    pub uniform: u32,
    /// Operations on vectors.
    pub vector: u32,
    /// Memory accesses of whole vectors or of scalars.
    pub wide: u32,
    /// Memory accesses lane by lane.
    pub scattered: u32,
    /// The kernel runs in the per-lane mode: its control flow is not linearised, or its lanes wait for one
    /// another.
    pub per_lane: bool,
    /// LLVM's optimisation effort.
    pub effort: Effort,
}

impl Emitted {
    /// The module's text with all functions.
    pub fn whole(self) -> String {
        self.ir + self.sweep.as_deref().unwrap_or_default()
    }
}

/// A kernel's IR.
#[derive(Clone, Debug)]
pub struct Emitted {
    /// The module's text.
    pub ir: String,
    /// The text of a second function for the module, which runs all warps of a block from barrier to barrier.
    pub sweep: Option<String>,
    /// Lanes in a warp.
    pub width: wave::Width,
    /// Whether all lanes of a warp execute, also those without a thread.
    pub whole_warps: bool,
    /// Blocks side by side that run as one.
    pub together: u8,
    /// Size of a warp's frame in bytes.
    pub frame: usize,
    /// Minimum local memory per thread in bytes.
    pub local: u64,
    /// Whether the launch may provide more local memory, for recursion.
    pub keeps_stack: bool,
    /// Whether the kernel is a coroutine.
    pub suspends: bool,
    /// Number of places where it stops.
    pub stops: usize,
    /// Whether it may stop elsewhere than at barriers: its blocks may wait for each other.
    pub waits: bool,
    /// What was vectorised, and LLVM's effort.
    pub report: Report,
}

/// The entry point that resumes one warp of a kernel with stops.
pub const RESUME: &str = "anywarp_resume";
/// The entry point that runs all warps of a block from barrier to barrier.
pub const SWEEP: &str = "anywarp_sweep";
/// In the upper half of a sweep's result: the warps before the one that it names have ended.
pub const ENDED: i64 = 1 << 40;
/// The entry point of kernels without stops.
pub const RUN_BLOCKS: &str = "anywarp_run_blocks";

/// A kernel during emission.
pub struct Kernel<'a> {
    /// The analyses. They do not change during emission.
    facts: Facts<'a>,
    /// How divergent lanes are executed.
    strategy: Strategy,
    /// The state at the current point of emission.
    cursor: Cursor,
    /// What has been emitted.
    out: Output,
}

/// How divergent lanes are executed.
enum Strategy {
    /// Divergent control flow is linearised; lanes wait for one another where they reconverge, see
    /// [`control`].
    Linear,
    /// Each lane advances independently, see [`per_lane`]. Holds the points where lanes wait for others.
    PerLane(Waits, per_lane::Visit),
}

/// What is known of a kernel before emission.
pub struct Facts<'a> {
    module: &'a Module,
    spec: Specialisation,
    avx512: bool,
    /// Whose processor the code is for.
    maker: Maker,
    /// Whether the processor has dot products of bf16, and of bytes.
    dots: product::Dots,
    func: Function,
    cfg: Cfg,
    uniformity: Uniformity,
    ranges: Ranges,
    /// The block that defines each value, and the instruction.
    defs: BTreeMap<Value, (usize, Inst)>,
    constants: BTreeMap<Value, u128>,
    /// Values with at least one use.
    used: BTreeSet<Value>,
    /// Values that live in slots because another block reads them.
    slotted: BTreeSet<Value>,
    /// Values that share a slot.
    sharing: sharing::Sharing,
    /// Values that are represented by their groups' scalars.
    grouped: BTreeSet<Value>,
    /// Slots lie in the warp's frame, not on the stack.
    in_frame: bool,
    /// The kernel returns to the scheduler before its end, so the values it keeps live in the warp's frame.
    suspends: bool,
    /// No lane ever exits early, and no warp is partial.
    always_full: bool,
    /// Whether weak accesses of words need no alignment.
    loose_words: bool,
    /// By block: whether a stop may follow it.
    before_stop: Vec<bool>,
    /// Upper bound on loads and stores that the processor executes lane by lane if their addresses are
    /// unknown.
    by_lanes: usize,
    /// Accesses that need no alignment check.
    aligned: BTreeSet<aligned::Place>,
    /// The processor flushes subnormals, see [`flush`].
    flushes: bool,
    /// Values that may hold any NaN, see [`nan`].
    raw: BTreeSet<Value>,
    /// Bytes of local memory taken by one thread's variables.
    local_frame: u64,
    /// Bytes of local memory per thread if known at compile time; otherwise the launch decides.
    local_size: Option<u64>,
    /// Offsets of the local variables.
    slot_offsets: Vec<u64>,
    /// Size of the parameters in bytes.
    param_size: u32,
    /// Offsets of the shared variables.
    shared: BTreeMap<u32, u64>,
    /// Minimum number of instructions of an outlined operation; `None` outlines nothing.
    outlined_from: Option<usize>,
    /// What is known by lane: computed when it is asked for.
    by_lane: RefCell<by_lane::ByLane>,
    /// What is known about each thread: computed when it is first asked for, since most kernels do without.
    threads: RefCell<Option<threads::Threads>>,
}

/// The state at the current point of emission.
struct Cursor {
    /// The current instruction: its block and its index there.
    at: aligned::Place,
    /// Values that the current block has read or defined.
    env: BTreeMap<Value, Rep>,
    /// Guards of the current block's values that are held as vectors.
    guards: BTreeMap<Value, Operand>,
    /// Values of single lanes in the current block, see [`groups`].
    lanes: BTreeMap<(Value, usize), Operand>,
    /// Conditions of the current block that one scalar can tell to be the same for all lanes, see
    /// [`compare`].
    sure: BTreeMap<Value, compare::Sure>,
    /// The current mask: the lanes that run the current block.
    mask: Operand,
    /// Whether all lanes are known at compile time to run the current block.
    full: bool,
    /// If only the first lanes can run it, their number.
    few: Option<usize>,
    /// Vectors read from the frame since the last memory fence. Counted only in kernels large enough for it
    /// to matter.
    row: Option<usize>,
    /// What must still run after each place in the order, see [`control`].
    pending: pending::Pending,
}

impl Cursor {
    /// Forgets what is known of the current block's values.
    fn forget(&mut self) {
        self.env.clear();
        self.guards.clear();
        self.lanes.clear();
        self.sure.clear();
    }

    /// Before the first block.
    fn new(width: Width, row: Option<usize>) -> Cursor {
        Cursor {
            row,
            at: aligned::Place::default(),
            env: BTreeMap::new(),
            guards: BTreeMap::new(),
            lanes: BTreeMap::new(),
            sure: BTreeMap::new(),
            mask: width.none(),
            full: false,
            few: None,
            pending: pending::Pending::default(),
        }
    }
}

/// What has been emitted.
#[derive(Default)]
struct Output {
    ir: Builder,
    /// Stack slots, for the entry block.
    slots: Vec<ir::Inst>,
    /// Offsets in the warp's frame of the slots that lie there.
    frame_offsets: HashMap<Name, usize>,
    /// Stack slots shared by several points of the code, see [`lanes`].
    shared_slots: Vec<lanes::SharedSlot>,
    /// Largest size in bytes of the operands and of the results of matrix instructions.
    matrices: Option<[usize; 2]>,
    /// With a dispatcher, what it needs in the frame.
    awake: dispatch::Awake,
    /// In the per-lane mode, what runs before the first block.
    start: Vec<ir::Inst>,
    /// Instructions that clear masks and slots, by the block that runs them, see [`begin`].
    begin: BTreeMap<Option<usize>, Vec<ir::Inst>>,
    /// Frame slots of values that live across a stop.
    frame_slots: BTreeMap<Value, stop::FrameSlots>,
    /// Size of the warp's frame in bytes.
    frame: usize,
    /// Number of resume points.
    resumes: usize,
    /// The resume point of each block that ends in a stop.
    numbers: BTreeMap<usize, usize>,
    /// The barriers that wait for the whole block, by the number of their resume point.
    arrivals: BTreeMap<usize, stop::Arrival>,
    /// Outlined operations.
    outlined: Outlined,
    /// Products of matrices that have a function.
    products: Vec<u64>,
    report: Report,
    /// An error found where it could not be returned; the kernel is then not emitted.
    refused: Option<String>,
}

/// Lanes whose bits AVX2 gathers by one instruction.
const HALF: usize = 32;

impl Kernel<'_> {
    /// Whether the kernel is emitted in the per-lane mode.
    fn per_lane(&self) -> bool {
        matches!(self.strategy, Strategy::PerLane(..))
    }

    /// The points where lanes wait for others.
    fn waits(&self) -> &Waits {
        match &self.strategy {
            Strategy::PerLane(waits, _) => waits,
            Strategy::Linear => const { &Waits::NONE },
        }
    }

    /// The lanes that run together.
    fn width(&self) -> Width {
        self.facts.spec.width
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

    /// The offset of the block's shared memory within its cluster's, as an `i32`; `None` if launches have no
    /// clusters.
    fn window(&mut self) -> Option<Operand> {
        let rank = self.facts.spec.clusters.then(|| self.field(BLOCK, offset::CLUSTER_RANK, Type::I32))?;
        Some(self.out.ir.bin_int(Bin::Shl, rank, i64::from(WINDOW_BITS)))
    }

    /// Stores a field of the warp's context.
    fn set_field(&mut self, at: usize, v: Operand) {
        let p = self.out.ir.offset(WARP, at);
        self.out.ir.store(v, p);
    }

    /// The current mask as a word.
    fn mask_bits(&mut self) -> Operand {
        self.bits_of(self.cursor.mask)
    }

    /// The word that represents a mask, if there is one. With AVX2, constant masks have one too.
    fn mask_word(&self, mask: Operand) -> Option<Operand> {
        let constant =
            mask.as_int().filter(|_| !self.facts.avx512).map(|set| Operand::int(self.width().bits(), -set));
        self.out.ir.word_of(mask).or(constant)
    }

    /// The number of lanes in a warp; more lanes may run together.
    fn warp(&self) -> usize {
        self.facts.spec.warp.lanes()
    }

    /// The word of no lane.
    fn no_bits(&self) -> Operand {
        Operand::int(self.width().bits(), 0)
    }

    /// The current mask as an argument of the runtime's functions.
    fn mask_argument(&mut self) -> Operand {
        let bits = self.mask_bits();
        if bits.ty() == Type::I64 { bits } else { self.out.ir.cast(Cast::ZExt, bits, Type::I64) }
    }

    /// A mask as a word.
    fn bits_of(&mut self, mask: Operand) -> Operand {
        match self.mask_word(mask) {
            Some(bits) => bits,
            None if self.facts.avx512 || self.width().lanes() != 2 * HALF => {
                self.out.ir.bitcast(mask, self.width().bits())
            }
            None => {
                // By the processor's instruction, for half of the lanes at once: LLVM would take 64 lanes one
                // by one, and also 32 where it moves the conversion to another block.
                let bytes = self.out.ir.cast(Cast::SExt, mask, Type::I8.times(2 * HALF));
                let [low, high] = [0, HALF].map(|first| {
                    let part = self.out.ir.shuffle(bytes, None, first..first + HALF);
                    let bits = self.out.ir.intrinsic("llvm.x86.avx2.pmovmskb", [None; 2], Type::I32, &[part]);
                    self.out.ir.cast(Cast::ZExt, bits, Type::I64)
                });
                let high = self.out.ir.bin_int(Bin::Shl, high, HALF as i64);
                self.out.ir.bin(Bin::Or, low, high)
            }
        }
    }

    /// A condition as a word, with some value for lanes in which it is poison.
    fn sure_bits(&mut self, condition: Operand) -> Operand {
        // A word is frozen already.
        self.mask_word(condition).unwrap_or_else(|| {
            let sure = self.out.ir.freeze(condition);
            self.bits_of(sure)
        })
    }

    /// The lanes of a mask for which a condition holds. In inactive lanes the condition may be anything, even
    /// poison.
    fn those(&mut self, mask: Operand, condition: Operand) -> Operand {
        let Some(bits) = self.mask_word(mask) else {
            let none = self.width().none();
            return self.out.ir.select(mask, condition, none);
        };
        let sure = self.sure_bits(condition);
        let those = match bits.as_int() {
            Some(-1) => sure,
            _ => self.out.ir.bin(Bin::And, bits, sure),
        };
        self.out.ir.mask(those)
    }

    /// The lanes of a mask except `those`, which is a subset of it.
    fn others(&mut self, mask: Operand, those: Operand) -> Operand {
        let words = self.mask_word(mask).zip(self.mask_word(those));
        let Some((all, some)) = words else {
            return self.out.ir.bin(Bin::Xor, mask, those);
        };
        let others = self.out.ir.bin(Bin::Xor, all, some);
        self.out.ir.mask(others)
    }

    /// The union of two masks.
    fn either_mask(&mut self, a: Operand, b: Operand) -> Operand {
        if self.facts.avx512 {
            return self.out.ir.bin(Bin::Or, a, b);
        }
        let (a, b) = (self.bits_of(a), self.bits_of(b));
        let both = self.out.ir.bin(Bin::Or, a, b);
        self.out.ir.mask(both)
    }

    /// The lanes of a mask except `those`, which need not be a subset of it.
    fn without_lanes(&mut self, mask: Operand, those: Operand) -> Operand {
        if self.facts.avx512 {
            let all = self.width().all();
            let not = self.out.ir.bin(Bin::Xor, those, all);
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
