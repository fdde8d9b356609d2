//! Memory accesses: state spaces, ordering, atomic operations.

use names::names;

use crate::types::Ty;

names! {
/// State spaces. Addresses in every space are i64.
pub enum Space {
    /// Host addresses that may lie anywhere: global, shared window, local window.
    Generic = "generic",
    /// Global memory; host addresses.
    Global = "global",
    /// Constant memory; host addresses (inside the module's image).
    Const = "const",
    /// Block-shared memory; offsets from the block's shared base.
    Shared = "shared",
    /// Per-lane memory; offsets from the lane's local base.
    Local = "local",
    /// Kernel parameters; offsets into the parameter buffer. Read only.
    Param = "param",
}}

names! {
/// How near to the processor a prefetch brings a line, in PTX's words.
pub enum CacheLevel {
    /// Into all levels.
    L1 = "l1",
    /// Not into the level nearest to the processor, which cannot hold or await many lines.
    L2 = "l2",
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
/// Which threads observe an ordered access.
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
/// Which lanes perform an access. A guard is an operand of type i1 after all others; a lane whose guard is
/// false does nothing, so its address may be anything.
pub enum Guard {
    /// All lanes.
    Always = "always",
    /// Those whose guard is true; the others get 0.
    If = "if",
    /// Those whose guard is true; the others get their operands after the guard, one for each result. Stores
    /// have no such form.
    Else = "else",
}}

impl Guard {
    /// The number of operands that it adds to an access with that many results.
    pub const fn operands(self, results: usize) -> usize {
        match self {
            Guard::Always => 0,
            Guard::If => 1,
            Guard::Else => 1 + results,
        }
    }

    /// The types of these operands.
    fn types(self, results: &[Ty]) -> impl Iterator<Item = Ty> {
        std::iter::once(Ty::I1).chain(results.iter().copied()).take(self.operands(results.len()))
    }

    /// Appends the types of its operands to those of an access.
    pub(super) fn after(self, mut args: Vec<Ty>, results: Vec<Ty>) -> (Vec<Ty>, Vec<Ty>) {
        args.extend(self.types(&results));
        (args, results)
    }
}

names! {
/// The operation of an atomic; [`AtomTy`] is its type.
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
/// The type of an atomic.
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
    /// Single precision, where sums in global memory keep subnormals too.
    F32Kept = "f32_kept",
    /// Double.
    F64 = "f64",
}}

impl AtomTy {
    /// The value type.
    pub const fn ty(self) -> Ty {
        match self {
            AtomTy::B16 | AtomTy::F16 | AtomTy::BF16 => Ty::I16,
            AtomTy::B32 | AtomTy::U32 | AtomTy::S32 => Ty::I32,
            AtomTy::F32 | AtomTy::F32Kept | AtomTy::F16x2 | AtomTy::BF16x2 => Ty::I32,
            AtomTy::B64 | AtomTy::U64 | AtomTy::S64 | AtomTy::F64 => Ty::I64,
            AtomTy::B128 => Ty::I128,
        }
    }
}

/// State space and memory order of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemMode {
    /// State space of the address.
    pub space: Space,
    /// Ordering.
    pub order: Order,
    /// Scope of the ordering; [`Scope::Sys`] if `order` is weak or volatile.
    pub scope: Scope,
}

impl MemMode {
    /// A plain access to `space`.
    pub const fn weak(space: Space) -> Self {
        MemMode { space, order: Order::Weak, scope: Scope::Sys }
    }
}
