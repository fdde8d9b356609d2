//! The operations and their exact meaning.
//!
//! Every enumeration that appears in the text form is declared through `names!`, which gives each
//! member its one spelling; printer, parser and documentation read the same table.
//!
//! Operand and result types are fixed by [`Op::signature`]; the verifier, the text form and the
//! builder all ask it.

use crate::module::{FuncId, GlobalId, SharedId};
use crate::types::{Fmt, Ty};

pub use texture::Access;

/// Declares an enumeration whose members have one spelling each in the text form.
macro_rules! names {
    ($(#[$m:meta])* $v:vis enum $n:ident { $($(#[$vm:meta])* $k:ident = $s:literal,)* }) => {
        $(#[$m])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $v enum $n { $($(#[$vm])* $k,)* }
        impl $n {
            /// Every member, in order of declaration.
            pub const ALL: &'static [$n] = &[$($n::$k,)*];
            /// The spelling in the text form.
            pub const fn name(self) -> &'static str {
                match self { $($n::$k => $s,)* }
            }
            /// The member spelled `s`.
            pub fn from_name(s: &str) -> Option<$n> {
                match s { $($s => Some($n::$k),)* _ => None }
            }
        }
    };
}

names! {
/// Integer operations of two operands of one type. Arithmetic wraps.
pub enum IntOp {
    /// Sum.
    Add = "add",
    /// Difference.
    Sub = "sub",
    /// Low half of the product.
    Mul = "mul",
    /// High half of the signed product.
    MulHiS = "mulhi_s",
    /// High half of the unsigned product.
    MulHiU = "mulhi_u",
    /// Signed quotient, toward zero. Divisor 0: all ones; MIN / -1: MIN (as the hardware answers).
    DivS = "div_s",
    /// Unsigned quotient. Divisor 0: all ones.
    DivU = "div_u",
    /// Signed remainder, sign of the dividend. Divisor 0: all ones; MIN % -1: 0 (as the hardware answers).
    RemS = "rem_s",
    /// Unsigned remainder. Divisor 0: all ones.
    RemU = "rem_u",
    /// Signed minimum.
    MinS = "min_s",
    /// Signed maximum.
    MaxS = "max_s",
    /// Unsigned minimum.
    MinU = "min_u",
    /// Unsigned maximum.
    MaxU = "max_u",
    /// Bitwise and.
    And = "and",
    /// Bitwise or.
    Or = "or",
    /// Bitwise exclusive or.
    Xor = "xor",
    /// Signed sum, saturated.
    AddSatS = "add_sat_s",
    /// Signed difference, saturated.
    SubSatS = "sub_sat_s",
}}

names! {
/// Shifts. The amount is an unsigned i32; an amount of the width or more shifts everything out.
pub enum ShiftOp {
    /// Left.
    Shl = "shl",
    /// Right, zeros enter.
    ShrU = "shr_u",
    /// Right, the sign enters.
    ShrS = "shr_s",
}}

names! {
/// Integer operations of one operand.
pub enum IntUnOp {
    /// Bitwise complement.
    Not = "not",
    /// Two's complement negation.
    Neg = "neg",
    /// Absolute value; MIN stays MIN.
    Abs = "abs",
    /// Bit reversal.
    Brev = "brev",
}}

names! {
/// Counts over the bits of one operand; the result is an i32 whatever the operand's width.
pub enum CountOp {
    /// Number of ones.
    Popc = "popc",
    /// Leading zeros; the width for 0.
    Clz = "clz",
    /// Position of the most significant one, 0xffffffff for 0.
    BfindU = "bfind_u",
    /// Position of the most significant bit that differs from the sign, 0xffffffff if none does.
    BfindS = "bfind_s",
    /// As `bfind_u`, but the left shift that would bring the bit to the top.
    BfindShU = "bfind_sh_u",
    /// As `bfind_s`, but the left shift that would bring the bit below the sign.
    BfindShS = "bfind_sh_s",
}}

names! {
/// Integer comparisons.
pub enum IntCmp {
    /// Equal.
    Eq = "eq",
    /// Not equal.
    Ne = "ne",
    /// Signed less.
    LtS = "lt_s",
    /// Signed less or equal.
    LeS = "le_s",
    /// Signed greater.
    GtS = "gt_s",
    /// Signed greater or equal.
    GeS = "ge_s",
    /// Unsigned less.
    LtU = "lt_u",
    /// Unsigned less or equal.
    LeU = "le_u",
    /// Unsigned greater.
    GtU = "gt_u",
    /// Unsigned greater or equal.
    GeU = "ge_u",
}}

names! {
/// Float comparisons; the plain ones are false when an operand is NaN, the `u` ones true.
pub enum FloatCmp {
    /// Ordered equal.
    Eq = "eq",
    /// Ordered not equal.
    Ne = "ne",
    /// Ordered less.
    Lt = "lt",
    /// Ordered less or equal.
    Le = "le",
    /// Ordered greater.
    Gt = "gt",
    /// Ordered greater or equal.
    Ge = "ge",
    /// Unordered or equal.
    Equ = "equ",
    /// Unordered or not equal.
    Neu = "neu",
    /// Unordered or less.
    Ltu = "ltu",
    /// Unordered or less or equal.
    Leu = "leu",
    /// Unordered or greater.
    Gtu = "gtu",
    /// Unordered or greater or equal.
    Geu = "geu",
    /// Neither is NaN.
    Num = "num",
    /// One is NaN.
    Nan = "nan",
}}

names! {
/// Rounding of a float result.
pub enum Round {
    /// To nearest, ties to even.
    Rn = "rn",
    /// Toward zero.
    Rz = "rz",
    /// Toward minus infinity.
    Rm = "rm",
    /// Toward plus infinity.
    Rp = "rp",
    /// To nearest, ties away from zero (conversions only).
    Rna = "rna",
}}

names! {
/// Correctly rounded float operations of two operands.
///
/// NaN, here and in all float operations, is as the hardware gives it: f16, bf16 and f32 arithmetic answers any NaN operand with the
/// canonical NaN (0x7fff, 0x7fffffff). f64 arithmetic keeps an operand's NaN, made quiet: `b`'s before `a`'s (for `fdiv` `a`'s
/// before `b`'s, for `fma` `b`, `c`, `a`); without a NaN operand it is 0xfff8000000000000. Of several f64 NaN operands of a difference
/// or an `fma` compiled code may keep another one than this order says.
pub enum FloatOp {
    /// Sum.
    Add = "fadd",
    /// Difference.
    Sub = "fsub",
    /// Product.
    Mul = "fmul",
    /// Quotient.
    Div = "fdiv",
    /// Minimum; a NaN operand is ignored; -0 < +0.
    Min = "fmin",
    /// Maximum; a NaN operand is ignored; -0 < +0.
    Max = "fmax",
    /// Minimum; a NaN operand gives the canonical NaN.
    MinNan = "fmin_nan",
    /// Maximum; a NaN operand gives the canonical NaN.
    MaxNan = "fmax_nan",
}}

names! {
/// Float operations of one operand.
pub enum FloatUnOp {
    /// Sign flipped; NaN as in arithmetic.
    Neg = "fneg",
    /// Sign cleared; NaN as in arithmetic.
    Abs = "fabs",
    /// Square root, correctly rounded.
    Sqrt = "fsqrt",
    /// Reciprocal, correctly rounded.
    Rcp = "frcp",
    /// Rounded to an integral value by `round`; the format stays.
    RoundInt = "fround",
}}

names! {
/// Approximate functions; results lie within the error bounds that the PTX manual states for the
/// instruction of the same name.
pub enum ApproxOp {
    /// `rcp.approx`.
    Rcp = "rcp_approx",
    /// `sqrt.approx`.
    Sqrt = "sqrt_approx",
    /// `rsqrt.approx`.
    Rsqrt = "rsqrt_approx",
    /// `sin.approx`.
    Sin = "sin_approx",
    /// `cos.approx`.
    Cos = "cos_approx",
    /// `lg2.approx`.
    Lg2 = "lg2_approx",
    /// `ex2.approx`.
    Ex2 = "ex2_approx",
    /// `tanh.approx`.
    Tanh = "tanh_approx",
    /// `div.approx` (two operands).
    Div = "div_approx",
    /// `div.full` (two operands).
    DivFull = "div_full",
}}

names! {
/// State spaces. Addresses in every space are i64.
pub enum Space {
    /// Real host addresses that may lie anywhere: global, shared window, local window.
    Generic = "generic",
    /// Global memory; real addresses.
    Global = "global",
    /// Constant memory; real addresses (inside the module's image).
    Const = "const",
    /// Block-shared memory; offsets from the block's shared base.
    Shared = "shared",
    /// Per-lane memory; offsets from the lane's local base.
    Local = "local",
    /// Kernel parameters; offsets into the parameter buffer. Read only.
    Param = "param",
}}

names! {
/// Memory ordering.
pub enum Order {
    /// No ordering, and no other lane may race.
    Weak = "weak",
    /// Never cached, merged or split.
    Volatile = "volatile",
    /// Relaxed.
    Relaxed = "relaxed",
    /// Acquire.
    Acquire = "acquire",
    /// Release.
    Release = "release",
    /// Acquire and release.
    AcqRel = "acq_rel",
    /// Sequentially consistent.
    Sc = "sc",
}}

names! {
/// Who observes an ordered access.
pub enum Scope {
    /// The block.
    Cta = "cta",
    /// The cluster.
    Cluster = "cluster",
    /// The device.
    Gpu = "gpu",
    /// Everything, the host included.
    Sys = "sys",
}}

names! {
/// What an atomic does; [`AtomTy`] says to what.
pub enum AtomOp {
    /// Sum (integer or float).
    Add = "add",
    /// Minimum.
    Min = "min",
    /// Maximum.
    Max = "max",
    /// `old >= b ? 0 : old + 1`.
    Inc = "inc",
    /// `old == 0 || old > b ? b : old - 1`.
    Dec = "dec",
    /// And.
    And = "and",
    /// Or.
    Or = "or",
    /// Exclusive or.
    Xor = "xor",
    /// Exchange.
    Exch = "exch",
    /// Compare and swap: operands (address, compare, new).
    Cas = "cas",
}}

names! {
/// What an atomic works on.
pub enum AtomTy {
    /// Bits, 16.
    B16 = "b16",
    /// Bits, 32.
    B32 = "b32",
    /// Bits, 64.
    B64 = "b64",
    /// Bits, 128.
    B128 = "b128",
    /// Unsigned, 32.
    U32 = "u32",
    /// Unsigned, 64.
    U64 = "u64",
    /// Signed, 32.
    S32 = "s32",
    /// Signed, 64.
    S64 = "s64",
    /// Half.
    F16 = "f16",
    /// Two halves, each atomic by itself.
    F16x2 = "f16x2",
    /// bfloat16.
    BF16 = "bf16",
    /// Two bfloat16.
    BF16x2 = "bf16x2",
    /// Single.
    F32 = "f32",
    /// Double.
    F64 = "f64",
}}

impl AtomTy {
    /// The value type.
    pub const fn ty(self) -> Ty {
        match self {
            AtomTy::B16 | AtomTy::F16 | AtomTy::BF16 => Ty::I16,
            AtomTy::B32 | AtomTy::U32 | AtomTy::S32 | AtomTy::F32 | AtomTy::F16x2 | AtomTy::BF16x2 => Ty::I32,
            AtomTy::B64 | AtomTy::U64 | AtomTy::S64 | AtomTy::F64 => Ty::I64,
            AtomTy::B128 => Ty::I128,
        }
    }
}

names! {
/// Shuffle modes (`shfl`, PTX manual).
pub enum ShflMode {
    /// From lane - b.
    Up = "up",
    /// From lane + b.
    Down = "down",
    /// From lane ^ b.
    Bfly = "bfly",
    /// From lane b.
    Idx = "idx",
}}

names! {
/// Votes.
pub enum VoteMode {
    /// True where all members are true.
    All = "all",
    /// True where a member is true.
    Any = "any",
    /// True where all members agree.
    Uni = "uni",
    /// A mask of the members that are true.
    Ballot = "ballot",
}}

names! {
/// `match.sync`.
pub enum MatchMode {
    /// The mask of the members with this lane's value.
    Any = "any",
    /// All members if they all have the same value, else 0; and a predicate that says which.
    All = "all",
}}

names! {
/// `redux.sync`, over i32.
pub enum ReduxOp {
    /// Sum.
    Add = "add",
    /// Unsigned minimum.
    MinU = "min_u",
    /// Unsigned maximum.
    MaxU = "max_u",
    /// Signed minimum.
    MinS = "min_s",
    /// Signed maximum.
    MaxS = "max_s",
    /// And.
    And = "and",
    /// Or.
    Or = "or",
    /// Exclusive or.
    Xor = "xor",
}}

names! {
/// Block barriers.
pub enum BarMode {
    /// Arrive and wait.
    Sync = "sync",
    /// Arrive only.
    Arrive = "arrive",
    /// Arrive, wait, count the true predicates (i32 result).
    RedPopc = "red_popc",
    /// Arrive, wait, and (i1 result).
    RedAnd = "red_and",
    /// Arrive, wait, or (i1 result).
    RedOr = "red_or",
}}

names! {
/// `prmt` modes.
pub enum PrmtMode {
    /// Selector nibbles choose bytes; the nibble's top bit replicates the sign.
    Default = "default",
    /// Forward 4 extract.
    F4e = "f4e",
    /// Backward 4 extract.
    B4e = "b4e",
    /// Replicate 8.
    Rc8 = "rc8",
    /// Edge clamp left.
    Ecl = "ecl",
    /// Edge clamp right.
    Ecr = "ecr",
    /// Replicate 16.
    Rc16 = "rc16",
}}

names! {
/// Special registers. i32 unless the name ends in 64.
pub enum SReg {
    /// Thread in block.
    TidX = "tid.x",
    /// Thread in block.
    TidY = "tid.y",
    /// Thread in block.
    TidZ = "tid.z",
    /// Block size.
    NtidX = "ntid.x",
    /// Block size.
    NtidY = "ntid.y",
    /// Block size.
    NtidZ = "ntid.z",
    /// Block in grid.
    CtaidX = "ctaid.x",
    /// Block in grid.
    CtaidY = "ctaid.y",
    /// Block in grid.
    CtaidZ = "ctaid.z",
    /// Grid size in blocks.
    NctaidX = "nctaid.x",
    /// Grid size in blocks.
    NctaidY = "nctaid.y",
    /// Grid size in blocks.
    NctaidZ = "nctaid.z",
    /// Lane in warp.
    LaneId = "laneid",
    /// Warp in block.
    WarpId = "warpid",
    /// Warps in block.
    NWarpId = "nwarpid",
    /// Worker that runs the block.
    SmId = "smid",
    /// Workers.
    NSmId = "nsmid",
    /// Launch number, 64 bits.
    GridId64 = "gridid64",
    /// Address of the launch's workspace, 64 bits: 0 where the launch is not cooperative.
    Workspace64 = "workspace64",
    /// Mask of this lane.
    LaneMaskEq = "lanemask_eq",
    /// Mask of the lanes up to and with this one.
    LaneMaskLe = "lanemask_le",
    /// Mask of the lanes below.
    LaneMaskLt = "lanemask_lt",
    /// Mask of this lane and those above.
    LaneMaskGe = "lanemask_ge",
    /// Mask of the lanes above.
    LaneMaskGt = "lanemask_gt",
    /// Cycle counter, low half.
    Clock = "clock",
    /// Cycle counter.
    Clock64 = "clock64",
    /// Nanoseconds.
    GlobalTimer64 = "globaltimer64",
    /// Dynamic shared memory, bytes.
    DynSharedSize = "dynamic_smem_size",
    /// All shared memory of the block, bytes.
    TotalSharedSize = "total_smem_size",
    /// Local memory of a thread, bytes, 64 bits: the launch decides it where this is asked for.
    LocalSize64 = "local_size64",
}}

names! {
/// Calls into the runtime. Operands and results are listed in [`Builtin::signature`].
pub enum Builtin {
    /// `vprintf(format, arguments) -> count`: generic addresses.
    Vprintf = "vprintf",
    /// `__assertfail(message, file, line, function, char size)`; does not return.
    AssertFail = "assertfail",
    /// `malloc(size) -> address`, 0 when the heap is full.
    Malloc = "malloc",
    /// `free(address)`.
    Free = "free",
    /// Lets others run for about this many nanoseconds.
    NanoSleep = "nanosleep",
    /// The lanes' stacks are full; does not return.
    StackOverflow = "stack_overflow",
}}

impl Builtin {
    /// Operand types and result types.
    pub const fn signature(self) -> (&'static [Ty], &'static [Ty]) {
        use Ty::*;
        match self {
            Builtin::Vprintf => (&[I64, I64], &[I32]),
            Builtin::AssertFail => (&[I64, I64, I32, I64, I64], &[]),
            Builtin::Malloc => (&[I64], &[I64]),
            Builtin::Free => (&[I64], &[]),
            Builtin::NanoSleep => (&[I32], &[]),
            Builtin::StackOverflow => (&[], &[]),
        }
    }
}

/// Modifiers of a float operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FloatMode {
    /// The format of operands and result.
    pub fmt: Fmt,
    /// Rounding of the result.
    pub round: Round,
    /// Subnormal operands and results become zeros of the same sign. A result counts as subnormal if it is one when rounded as
    /// though the exponent had no bound (what x86 calls tiny after rounding). In conversions only f32 is flushed.
    pub ftz: bool,
    /// The result is clamped to [0, 1]; NaN becomes +0.
    pub sat: bool,
}

impl FloatMode {
    /// Round to nearest even, nothing else.
    pub const fn rn(fmt: Fmt) -> Self {
        FloatMode { fmt, round: Round::Rn, ftz: false, sat: false }
    }
}

/// Where and how a memory operation works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemMode {
    /// Space of the address.
    pub space: Space,
    /// Ordering.
    pub order: Order,
    /// Scope of the ordering; [`Scope::Sys`] where `order` is weak or volatile.
    pub scope: Scope,
}

impl MemMode {
    /// A plain access to `space`.
    pub const fn weak(space: Space) -> Self {
        MemMode { space, order: Order::Weak, scope: Scope::Sys }
    }
}

/// One operation. `ty` fields are the operand width where it is not implied.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// A constant of type `ty`; bits beyond the width are zero.
    Const {
        /// Result type.
        ty: Ty,
        /// The bits.
        bits: u128,
    },
    /// `(a, b) -> r`.
    Int(IntOp, Ty),
    /// `(a, amount: i32) -> r`.
    Shift(ShiftOp, Ty),
    /// `(a) -> r`.
    IntUn(IntUnOp, Ty),
    /// `(a) -> i32`.
    Count(CountOp, Ty),
    /// `(a, b, carry: i1) -> (sum, carry: i1)`.
    AddCarry(Ty),
    /// `(a, b, borrow: i1) -> (a - b - borrow, borrow: i1)`.
    SubBorrow(Ty),
    /// `(a, b) -> i1`.
    IntCmp(IntCmp, Ty),
    /// `(a, position: i32, length: i32) -> r`: bit-field extract (`bfe`). Of position and length, 32-bit fields use the low
    /// 8 bits; 64-bit fields use them whole, and what lies beyond the top is not there.
    Bfe {
        /// Sign-extends.
        signed: bool,
        /// Operand type.
        ty: Ty,
    },
    /// `(field, base, position: i32, length: i32) -> r`: bit-field insert (`bfi`); position and length as for [`Op::Bfe`].
    Bfi(Ty),
    /// `(lo: i32, hi: i32, amount: i32) -> i32`: `shf`.
    Funnel {
        /// Left (the high word comes out) or right (the low word).
        left: bool,
        /// Amounts above 32 count as 32, else modulo 32.
        clamp: bool,
    },
    /// `(a, b, c) -> r`, i32: any function of three bits by its table (`lop3`).
    Lop3(u8),
    /// `(a: i32, b: i32, selector: i32) -> i32`.
    Prmt(PrmtMode),
    /// `(a: i32, b: i32, c: i32) -> i32`: `dp4a`.
    Dp4a {
        /// `a` is signed.
        a_signed: bool,
        /// `b` is signed.
        b_signed: bool,
    },
    /// `(a: i32, b: i32, c: i32) -> i32`: `dp2a`.
    Dp2a {
        /// `a` is signed.
        a_signed: bool,
        /// `b` is signed.
        b_signed: bool,
        /// Uses the upper two bytes of `b`.
        hi: bool,
    },
    /// `(mask: i32, base: i32, offset: i32) -> i32`: find the n-th set bit (`fns`).
    Fns,
    /// `(a, b) -> r`.
    Float(FloatOp, FloatMode),
    /// `(a, b, c) -> a * b + c`, rounded once.
    Fma(FloatMode),
    /// `(a) -> r`.
    FloatUn(FloatUnOp, FloatMode),
    /// `(a[, b]) -> r`.
    Approx {
        /// The function.
        op: ApproxOp,
        /// The format.
        fmt: Fmt,
        /// Subnormals flushed.
        ftz: bool,
    },
    /// `(a, b) -> i1`.
    FloatCmp {
        /// The relation.
        cmp: FloatCmp,
        /// The format.
        fmt: Fmt,
        /// Subnormal operands count as zero.
        ftz: bool,
    },
    /// `(magnitude, sign) -> r`.
    CopySign(Fmt),
    /// `(a) -> r`: sign extension, or truncation when `to` is narrower.
    Sext {
        /// From.
        from: Ty,
        /// To.
        to: Ty,
    },
    /// `(a) -> r`: zero extension, or truncation when `to` is narrower.
    Zext {
        /// From.
        from: Ty,
        /// To.
        to: Ty,
    },
    /// `(a) -> r`: integer to integer, clamped to the target's range.
    IntSat {
        /// From.
        from: Ty,
        /// Source is signed.
        from_signed: bool,
        /// To.
        to: Ty,
        /// Target is signed.
        to_signed: bool,
    },
    /// `(a) -> r`: float to integer, clamped to the range. NaN gives 0, or only the top bit set (also of an unsigned target)
    /// where source or target has 64 bits, as the hardware answers.
    FloatToInt {
        /// Source format.
        from: Fmt,
        /// Target type.
        to: Ty,
        /// Target is signed.
        signed: bool,
        /// Rounding (rn, rz, rm, rp).
        round: Round,
        /// Subnormal sources count as zero.
        ftz: bool,
    },
    /// `(a) -> r`: integer to float.
    IntToFloat {
        /// Source type.
        from: Ty,
        /// Source is signed.
        signed: bool,
        /// Target format, rounding, saturation.
        mode: FloatMode,
    },
    /// `(a) -> r`: between formats. NaN: from or to f64 it keeps sign and the payload's upper bits, made quiet (a flushing
    /// conversion from f32 makes it canonical first); bf16 to f32 moves the bits; all others give the canonical NaN.
    FloatToFloat {
        /// Source format.
        from: Fmt,
        /// Target format, rounding, flushing, saturation.
        mode: FloatMode,
        /// Negative results become +0 (`.relu`); NaN becomes the canonical NaN.
        relu: bool,
    },
    /// `(cond: i1, a, b) -> r`: a where cond.
    Select(Ty),
    /// `(parts…) -> r`: parts of type `part`, the first lowest.
    Pack {
        /// Part type.
        part: Ty,
        /// Result type.
        whole: Ty,
    },
    /// `(a) -> (parts…)`.
    Unpack {
        /// Part type.
        part: Ty,
        /// Operand type.
        whole: Ty,
    },
    /// `(address) -> (values…)`: `count` consecutive values, aligned to their total size.
    Load {
        /// Where.
        mem: MemMode,
        /// Element type (i1 is not allowed).
        ty: Ty,
        /// 1, 2, 4 or 8.
        count: u8,
        /// Added to the address.
        offset: i32,
    },
    /// `(address, values…)`.
    Store {
        /// Where.
        mem: MemMode,
        /// Element type.
        ty: Ty,
        /// 1, 2, 4 or 8.
        count: u8,
        /// Added to the address.
        offset: i32,
    },
    /// `(address, b[, c]) -> old`; the colliding lanes of a warp take effect in some order, one by one. Sums of f32 in global
    /// memory (not in shared memory) flush subnormal operands and results, as on the hardware.
    Atom {
        /// The update.
        op: AtomOp,
        /// The operand.
        ty: AtomTy,
        /// Where.
        mem: MemMode,
        /// Added to the address.
        offset: i32,
    },
    /// Memory fence.
    Fence {
        /// Ordering.
        order: Order,
        /// Scope.
        scope: Scope,
    },
    /// `() -> i64`: real address of a global or constant variable plus an offset.
    GlobalAddr(GlobalId, i64),
    /// `() -> i64`: offset of a shared variable from the block's shared base, plus an offset.
    SharedAddr(SharedId, i64),
    /// `() -> i64`: offset of a stack slot from the lane's local base. The slot's number in the function.
    LocalAddr(u32),
    /// `() -> i64`: a function's handle for indirect calls.
    FuncAddr(FuncId),
    /// `(address) -> i64`: from `space` to generic.
    ToGeneric(Space),
    /// `(address) -> i64`: from generic to `space`.
    FromGeneric(Space),
    /// `(generic address) -> i1`: whether it lies in `space`'s window.
    IsSpace(Space),
    /// `() -> r`.
    Special(SReg),
    /// `(value: i32, b: i32, c: i32, members: i32) -> (value: i32, in range: i1)`. Lanes that are not members get
    /// their own value. Where `sync` is false the members operand is ignored and the active lanes are meant.
    Shfl {
        /// Which lane.
        mode: ShflMode,
        /// `.sync`.
        sync: bool,
    },
    /// `(pred: i1, members: i32) -> i1` (`i32` for ballot).
    Vote {
        /// Which.
        mode: VoteMode,
        /// `.sync`; else the active lanes are meant.
        sync: bool,
    },
    /// `(value, members: i32) -> (mask: i32, all: i1)`.
    Match(MatchMode, Ty),
    /// `(value: i32, members: i32) -> i32`.
    Redux(ReduxOp),
    /// `(members: i32) -> (leader: i32, is leader: i1)`: the lowest member (`elect.sync`).
    Elect,
    /// `() -> i32`: lanes that execute this together.
    ActiveMask,
    /// `(members: i32)`: waits for the members (`bar.warp.sync`).
    WarpSync,
    /// `(id: i32, threads: i32[, pred: i1]) -> ([i32 | i1])`: threads 0 means the whole block.
    Bar {
        /// What.
        mode: BarMode,
    },
    /// `(arguments…) -> (results…)`.
    Call(FuncId),
    /// `(handle: i64, arguments…) -> (results…)`.
    CallIndirect {
        /// Argument types.
        params: Box<[Ty]>,
        /// Result types.
        results: Box<[Ty]>,
    },
    /// Runtime call.
    Builtin(Builtin),
    /// A texture or surface access: `(handle: i64, coordinates and what follows: i32…) -> (values…)`, as
    /// [`Access::operands`] and [`Access::results`] list them.
    Texture(Access),
    /// Nothing but a place where the warp lets other warps run; inserted at the back edges of loops that wait
    /// for memory.
    Yield,
    /// A lane-wise hint from the analyses or the source that `(cond: i1)` holds is not needed for
    /// correctness; `brkpt` and profiling marks become this with no operand.
    Nop,
}

/// Operand and result types of an operation; calls ask the module instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// Operands.
    pub args: Vec<Ty>,
    /// Results.
    pub results: Vec<Ty>,
}

impl Op {
    /// The types of a non-call operation; `None` for [`Op::Call`], whose callee says.
    pub fn signature(&self) -> Option<Signature> {
        use Ty::*;
        let (args, results): (Vec<Ty>, Vec<Ty>) = match *self {
            Op::Const { ty, .. } => (vec![], vec![ty]),
            Op::Int(_, t) => (vec![t, t], vec![t]),
            Op::Shift(_, t) => (vec![t, I32], vec![t]),
            Op::IntUn(_, t) => (vec![t], vec![t]),
            Op::Count(_, t) => (vec![t], vec![I32]),
            Op::AddCarry(t) | Op::SubBorrow(t) => (vec![t, t, I1], vec![t, I1]),
            Op::IntCmp(_, t) => (vec![t, t], vec![I1]),
            Op::Bfe { ty, .. } => (vec![ty, I32, I32], vec![ty]),
            Op::Bfi(t) => (vec![t, t, I32, I32], vec![t]),
            Op::Funnel { .. } | Op::Lop3(_) | Op::Prmt(_) | Op::Dp4a { .. } | Op::Dp2a { .. } | Op::Fns => {
                (vec![I32; 3], vec![I32])
            }
            Op::Float(_, m) => (vec![m.fmt.ty(); 2], vec![m.fmt.ty()]),
            Op::Fma(m) => (vec![m.fmt.ty(); 3], vec![m.fmt.ty()]),
            Op::FloatUn(_, m) => (vec![m.fmt.ty()], vec![m.fmt.ty()]),
            Op::Approx { op, fmt, .. } => {
                let n = if matches!(op, ApproxOp::Div | ApproxOp::DivFull) { 2 } else { 1 };
                (vec![fmt.ty(); n], vec![fmt.ty()])
            }
            Op::FloatCmp { fmt, .. } => (vec![fmt.ty(); 2], vec![I1]),
            Op::CopySign(f) => (vec![f.ty(); 2], vec![f.ty()]),
            Op::Sext { from, to } | Op::Zext { from, to } | Op::IntSat { from, to, .. } => {
                (vec![from], vec![to])
            }
            Op::FloatToInt { from, to, .. } => (vec![from.ty()], vec![to]),
            Op::IntToFloat { from, mode, .. } => (vec![from], vec![mode.fmt.ty()]),
            Op::FloatToFloat { from, mode, .. } => (vec![from.ty()], vec![mode.fmt.ty()]),
            Op::Select(t) => (vec![I1, t, t], vec![t]),
            Op::Pack { part, whole } => (vec![part; (whole.bits() / part.bits()) as usize], vec![whole]),
            Op::Unpack { part, whole } => (vec![whole], vec![part; (whole.bits() / part.bits()) as usize]),
            Op::Load { ty, count, .. } => (vec![I64], vec![ty; count as usize]),
            Op::Store { ty, count, .. } => {
                let mut a = vec![I64];
                a.extend(std::iter::repeat_n(ty, count as usize));
                (a, vec![])
            }
            Op::Atom { op, ty, .. } => {
                let t = ty.ty();
                (if op == AtomOp::Cas { vec![I64, t, t] } else { vec![I64, t] }, vec![t])
            }
            Op::Fence { .. } | Op::Yield | Op::Nop => (vec![], vec![]),
            Op::GlobalAddr(..) | Op::SharedAddr(..) | Op::LocalAddr(_) | Op::FuncAddr(_) => {
                (vec![], vec![I64])
            }
            Op::ToGeneric(_) | Op::FromGeneric(_) => (vec![I64], vec![I64]),
            Op::IsSpace(_) => (vec![I64], vec![I1]),
            Op::Special(r) => (vec![], vec![if r.name().ends_with("64") { I64 } else { I32 }]),
            Op::Shfl { .. } => (vec![I32; 4], vec![I32, I1]),
            Op::Vote { mode, .. } => (vec![I1, I32], vec![if mode == VoteMode::Ballot { I32 } else { I1 }]),
            Op::Match(_, t) => (vec![t, I32], vec![I32, I1]),
            Op::Redux(_) => (vec![I32, I32], vec![I32]),
            Op::Elect => (vec![I32], vec![I32, I1]),
            Op::ActiveMask => (vec![], vec![I32]),
            Op::WarpSync => (vec![I32], vec![]),
            Op::Bar { mode } => match mode {
                BarMode::Sync | BarMode::Arrive => (vec![I32, I32], vec![]),
                BarMode::RedPopc => (vec![I32, I32, I1], vec![I32]),
                BarMode::RedAnd | BarMode::RedOr => (vec![I32, I32, I1], vec![I1]),
            },
            Op::Call(_) => return None,
            Op::CallIndirect { ref params, ref results } => {
                let mut a = vec![I64];
                a.extend(params.iter().copied());
                (a, results.to_vec())
            }
            Op::Builtin(b) => {
                let (a, r) = b.signature();
                (a.to_vec(), r.to_vec())
            }
            Op::Texture(access) => {
                let types = |bits: Vec<u32>| bits.into_iter().filter_map(Ty::of_bits).collect();
                (types(access.operands()), types(access.results()))
            }
        };
        Some(Signature { args, results })
    }

    /// Whether the operation does nothing but compute its results from its operands, lane by lane, so that it
    /// may be removed, repeated, or run for lanes that are not active.
    pub fn is_pure(&self) -> bool {
        !matches!(
            self,
            Op::Load { .. }
                | Op::Store { .. }
                | Op::Atom { .. }
                | Op::Fence { .. }
                | Op::Shfl { .. }
                | Op::Vote { .. }
                | Op::Match(..)
                | Op::Redux(_)
                | Op::Elect
                | Op::ActiveMask
                | Op::WarpSync
                | Op::Bar { .. }
                | Op::Call(_)
                | Op::CallIndirect { .. }
                | Op::Builtin(_)
                | Op::Texture(_)
                | Op::Yield
                | Op::Special(SReg::Clock | SReg::Clock64 | SReg::GlobalTimer64)
        )
    }

    /// Whether lanes exchange something here, so that the set of lanes that run it together matters.
    pub fn is_convergent(&self) -> bool {
        matches!(
            self,
            Op::Shfl { .. }
                | Op::Vote { .. }
                | Op::Match(..)
                | Op::Redux(_)
                | Op::Elect
                | Op::ActiveMask
                | Op::WarpSync
                | Op::Bar { .. }
        )
    }

    /// Whether the warp may be suspended here and resumed later ([`crate::abi::Stop`]).
    pub fn suspends(&self) -> bool {
        matches!(self, Op::Bar { .. } | Op::Yield | Op::Builtin(Builtin::NanoSleep))
    }
}
