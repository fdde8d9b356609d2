//! The operations and their exact semantics.
//!
//! Every enumeration in the text form is declared with [`names::names!`], which gives each member a single
//! spelling; printer, parser and documentation use the same table.
//!
//! Operand and result types are defined by [`Op::signature`], which the verifier, the text form and the
//! builder use.

use crate::module::{FuncId, GlobalId, SharedId};
use crate::types::{Fmt, Ty, Width};

pub use tensor::Matrix;

/// Descriptions of matrix movements.
pub mod movement {
    pub use tensor::{Action, Movement, Rows, Source};
}
/// Descriptions of matrix products.
pub mod product {
    pub use tensor::{Format, Kind, Mma};
}
pub use texture::Access;

mod arith;
mod bulk;
mod device;
mod memory;
mod special;
mod warp;

pub use arith::{
    ApproxOp, CountOp, FloatCmp, FloatMode, FloatOp, FloatUnOp, IntCmp, IntOp, IntUnOp, PrmtMode, Round,
    SfuOp, ShiftOp,
};
pub use bulk::{Bulk, Effect, Extent, Extra, Walk, Way};
pub use device::DeviceFn;
pub use memory::{AtomOp, AtomTy, CacheLevel, Guard, MemMode, Order, Scope, Space};
pub use special::{Builtin, MapField, SReg};
pub use warp::{BarMode, MatchMode, ReduxOp, ShflMode, VoteMode};

/// An operation. `ty` fields give the operand width if it is not implied.
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
    /// `(a, position: i32, length: i32) -> r`: bit-field extract (`bfe`). 32-bit fields use only the low 8
    /// bits of position and length; 64-bit fields use all bits, and positions beyond the top do not exist.
    Bfe {
        /// Sign-extends.
        signed: bool,
        /// Operand type.
        ty: Ty,
    },
    /// `(field, base, position: i32, length: i32) -> r`: bit-field insert (`bfi`); position and length as in
    /// [`Op::Bfe`].
    Bfi(Ty),
    /// `(lo: i32, hi: i32, amount: i32) -> i32`: `shf`.
    Funnel {
        /// Left (returns the high word) or right (returns the low word).
        left: bool,
        /// Whether amounts above 32 count as 32; otherwise they are taken modulo 32.
        clamp: bool,
    },
    /// `(a, b, c) -> r`, i32: any bitwise function of three operands, given by its table (`lop3`).
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
        /// Whether it uses the upper two bytes of `b`.
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
        /// Whether subnormals are flushed.
        ftz: bool,
    },
    /// `(a: i32) -> i32`.
    Sfu(SfuOp),
    /// `(a, b) -> i1`.
    FloatCmp {
        /// The relation.
        cmp: FloatCmp,
        /// The format.
        fmt: Fmt,
        /// Whether subnormal operands count as zero.
        ftz: bool,
    },
    /// `(magnitude, sign) -> r`.
    CopySign(Fmt),
    /// `(a) -> r`: sign extension, or truncation when `to` is narrower.
    Sext {
        /// Source type.
        from: Ty,
        /// Target type.
        to: Ty,
    },
    /// `(a) -> r`: zero extension, or truncation when `to` is narrower.
    Zext {
        /// Source type.
        from: Ty,
        /// Target type.
        to: Ty,
    },
    /// `(a) -> r`: integer to integer, clamped to the target's range.
    IntSat {
        /// Source type.
        from: Ty,
        /// Source is signed.
        from_signed: bool,
        /// Target type.
        to: Ty,
        /// Target is signed.
        to_signed: bool,
    },
    /// `(a) -> r`: float to integer, clamped to the range. As on the hardware, NaN gives 0, or only the top
    /// bit set (even for an unsigned target) if source or target has 64 bits.
    FloatToInt {
        /// Source format.
        from: Fmt,
        /// Target type.
        to: Ty,
        /// Target is signed.
        signed: bool,
        /// Rounding (rn, rz, rm, rp).
        round: Round,
        /// Whether subnormal sources count as zero.
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
    /// `(a) -> r`: between float formats. Conversions from or to f64 keep a NaN's sign and the upper bits of
    /// its payload, made quiet (a flushing conversion from f32 makes it canonical first); bf16 to f32 moves
    /// the bits; all others return the canonical NaN.
    FloatToFloat {
        /// Source format.
        from: Fmt,
        /// Target format, rounding, flushing, saturation.
        mode: FloatMode,
        /// Whether negative results become +0 (`.relu`); NaN becomes the canonical NaN.
        relu: bool,
    },
    /// `(cond: i1, a, b) -> r`: a if cond, otherwise b.
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
    /// `(address[, guard…]) -> (values…)`: `count` consecutive values, aligned to their total size.
    Load {
        /// State space and memory order.
        mem: MemMode,
        /// Element type (i1 is not allowed).
        ty: Ty,
        /// 1, 2, 4 or 8.
        count: u8,
        /// Constant added to the address.
        offset: i32,
        /// Which lanes perform it.
        guard: Guard,
    },
    /// `(address, values…[, guard])`.
    Store {
        /// State space and memory order.
        mem: MemMode,
        /// Element type.
        ty: Ty,
        /// 1, 2, 4 or 8.
        count: u8,
        /// Constant added to the address.
        offset: i32,
        /// Which lanes perform it.
        guard: Guard,
    },
    /// `(address, b[, c][, guard…]) -> old`. Colliding lanes of a warp take effect one after another in any
    /// order. As on the hardware, f32 sums in global memory (not in shared memory) flush subnormal operands
    /// and results.
    Atom {
        /// The update.
        op: AtomOp,
        /// The operand.
        ty: AtomTy,
        /// State space and memory order.
        mem: MemMode,
        /// Constant added to the address.
        offset: i32,
        /// Which lanes perform it.
        guard: Guard,
    },
    /// Memory fence.
    Fence {
        /// Ordering.
        order: Order,
        /// Scope.
        scope: Scope,
    },
    /// `() -> i64`: host address of a global or constant variable plus an offset.
    GlobalAddr(GlobalId, i64),
    /// `() -> i64`: offset of a shared variable from the block's shared base, plus an offset.
    SharedAddr(SharedId, i64),
    /// `() -> i64`: offset of a stack slot, given by its number in the function, from the lane's local base.
    LocalAddr(u32),
    /// `() -> i64`: a function's handle for indirect calls.
    FuncAddr(FuncId),
    /// `(address) -> i64`: from `space` to generic.
    ToGeneric(Space),
    /// `(address) -> i64`: from generic to `space`.
    FromGeneric(Space),
    /// `(generic address) -> i1`: whether it lies in `space`'s window.
    IsSpace(Space),
    /// `(address)`: a hint that this memory will be read soon. The address may be invalid.
    Prefetch(Space, CacheLevel),
    /// `() -> r`.
    Special(SReg),
    /// `(value: i32, b: i32, c: i32, members: mask) -> (value: i32, in range: i1)`. Masks of lanes are i32 in
    /// functions of 32 lanes, i64 in those of 64. There `b`, and both fields of `c`, have six bits. Lanes
    /// that are not members get their own value. If `sync` is false, the members operand is ignored and all
    /// active lanes take part.
    Shfl {
        /// Which lane.
        mode: ShflMode,
        /// `.sync`.
        sync: bool,
    },
    /// `(pred: i1, members: mask) -> i1` (`mask` for ballot).
    Vote {
        /// Which.
        mode: VoteMode,
        /// `.sync`; otherwise all active lanes take part.
        sync: bool,
    },
    /// `(value, members: mask) -> (mask, all: i1)`.
    Match(MatchMode, Ty),
    /// `(value: i32, members: mask) -> i32`.
    Redux(ReduxOp),
    /// `(members: mask) -> (leader: i32, is leader: i1)`: the lowest member (`elect.sync`).
    Elect,
    /// `(value) -> (first, all: i1)`: the value of the first of the lanes that execute this together, and
    /// whether all of them hold it.
    Agree(Ty),
    /// `() -> mask`: the lanes that execute this together.
    ActiveMask,
    /// `(members: mask)`: waits for the members (`bar.warp.sync`).
    WarpSync,
    /// `(id: i32, threads: i32[, pred: i1]) -> ([i32 | i1])`: threads 0 means the whole block. `()` for a
    /// cluster's barrier.
    Bar {
        /// The mode.
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
    /// A runtime call.
    Builtin(Builtin),
    /// A texture or surface access: `(handle: i64, coordinates and further operands: i32…) -> (values…)`, as
    /// listed by [`Access::operands`] and [`Access::results`].
    Texture(Access),
    /// A matrix instruction of the whole warp: `(registers of the operands…, members: i32) -> (registers of
    /// the result…)`, as listed by [`Matrix::operands`] and [`Matrix::results`]; addresses are offsets in
    /// shared memory. PTX requires all lanes; missing lanes contribute the contents of their registers. Only
    /// in functions of 32 lanes.
    Matrix(Matrix),
    /// A bulk copy by each lane; [`Bulk`] lists its operands.
    Bulk(Bulk),
    /// A point where the warp lets other warps run; inserted at the back edges of loops that wait for memory.
    Yield,
    /// Does nothing. `(cond: i1)`: a hint that the condition holds. Without an operand: `brkpt` and profiling
    /// marks.
    Nop,
}

/// Operand and result types of an operation. For calls, the module defines them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// Operands.
    pub args: Vec<Ty>,
    /// Results.
    pub results: Vec<Ty>,
}

impl Op {
    /// Which lanes perform a memory access; [`Guard::Always`] for other operations.
    pub fn guard(&self) -> Guard {
        match self {
            Op::Load { guard, .. } | Op::Store { guard, .. } | Op::Atom { guard, .. } => *guard,
            _ => Guard::Always,
        }
    }

    /// The same access by all lanes. Other operations stay as they are.
    #[must_use]
    pub fn unguarded(mut self) -> Op {
        if let Op::Load { guard, .. } | Op::Store { guard, .. } | Op::Atom { guard, .. } = &mut self {
            *guard = Guard::Always;
        }
        self
    }

    /// The types of an operation in a function of this width; `None` for [`Op::Call`], whose callee defines
    /// them.
    pub fn signature(&self, width: Width) -> Option<Signature> {
        use Ty::*;
        let mask = width.mask();
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
            Op::Sfu(_) => (vec![I32], vec![I32]),
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
            Op::Load { ty, count, guard, .. } => guard.after(vec![I64], vec![ty; count as usize]),
            Op::Store { ty, count, guard, .. } => {
                let mut a = vec![I64];
                a.extend(std::iter::repeat_n(ty, count as usize));
                guard.after(a, vec![])
            }
            Op::Atom { op, ty, guard, .. } => {
                let t = ty.ty();
                guard.after(if op == AtomOp::Cas { vec![I64, t, t] } else { vec![I64, t] }, vec![t])
            }
            Op::Fence { .. } | Op::Yield | Op::Nop => (vec![], vec![]),
            Op::GlobalAddr(..) | Op::SharedAddr(..) | Op::LocalAddr(_) | Op::FuncAddr(_) => {
                (vec![], vec![I64])
            }
            Op::ToGeneric(_) | Op::FromGeneric(_) => (vec![I64], vec![I64]),
            Op::IsSpace(_) => (vec![I64], vec![I1]),
            Op::Prefetch(..) => (vec![I64], vec![]),
            Op::Special(r) => (vec![], vec![r.ty(width)]),
            Op::Shfl { .. } => (vec![I32, I32, I32, mask], vec![I32, I1]),
            Op::Vote { mode, .. } => (vec![I1, mask], vec![if mode == VoteMode::Ballot { mask } else { I1 }]),
            Op::Match(_, t) => (vec![t, mask], vec![mask, I1]),
            Op::Redux(_) => (vec![I32, mask], vec![I32]),
            Op::Elect => (vec![mask], vec![I32, I1]),
            Op::Agree(t) => (vec![t], vec![t, I1]),
            Op::ActiveMask => (vec![], vec![mask]),
            Op::WarpSync => (vec![mask], vec![]),
            Op::Bar { mode } => match mode {
                BarMode::Sync | BarMode::Arrive => (vec![I32, I32], vec![]),
                BarMode::RedPopc => (vec![I32, I32, I1], vec![I32]),
                BarMode::RedAnd | BarMode::RedOr => (vec![I32, I32, I1], vec![I1]),
                BarMode::ClusterArrive | BarMode::ClusterWait => (vec![], vec![]),
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
            Op::Bulk(bulk) => (bulk.operands(), vec![]),
            Op::Texture(access) => {
                let types = |bits: Vec<u32>| bits.into_iter().filter_map(Ty::of_bits).collect();
                (types(access.operands()), types(access.results()))
            }
            Op::Matrix(matrix) => {
                let types = |bits: Vec<u32>| bits.into_iter().filter_map(Ty::of_bits);
                (types(matrix.operands()).chain([I32]).collect(), types(matrix.results()).collect())
            }
        };
        Some(Signature { args, results })
    }

    /// Whether the operation only computes its results from its operands, lane by lane, so that it may be
    /// removed, repeated, or run for inactive lanes.
    pub fn is_pure(&self) -> bool {
        let acts = matches!(
            self,
            Op::Load { .. }
                | Op::Store { .. }
                | Op::Atom { .. }
                | Op::Fence { .. }
                | Op::Call(_)
                | Op::CallIndirect { .. }
                | Op::Builtin(_)
                | Op::Texture(_)
                | Op::Bulk(_)
                | Op::Prefetch(..)
                | Op::Yield
                | Op::Special(SReg::Clock | SReg::Clock64 | SReg::GlobalTimer64)
        );
        !acts && !self.is_convergent()
    }

    /// Whether lanes exchange data, so that the set of lanes that execute it together matters.
    pub fn is_convergent(&self) -> bool {
        matches!(
            self,
            Op::Shfl { .. }
                | Op::Vote { .. }
                | Op::Match(..)
                | Op::Redux(_)
                | Op::Elect
                | Op::Agree(_)
                | Op::ActiveMask
                | Op::WarpSync
                | Op::Matrix(_)
                | Op::Bar { .. }
        )
    }

    /// Whether the warp may be suspended here and resumed later ([`crate::abi::Stop`]).
    pub fn suspends(&self) -> bool {
        matches!(self, Op::Bar { .. } | Op::Yield | Op::Builtin(Builtin::NanoSleep))
    }
}
