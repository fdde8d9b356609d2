//! The operations and their exact meaning.
//!
//! Every enumeration that appears in the text form is declared through [`names::names!`], which gives each
//! member its one spelling; printer, parser and documentation read the same table.
//!
//! Operand and result types are fixed by [`Op::signature`]; the verifier, the text form and the
//! builder all ask it.

use crate::module::{FuncId, GlobalId, SharedId};
use crate::types::{Fmt, Ty};

pub use tensor::Matrix;

/// What a matrix instruction that moves a matrix says.
pub mod movement {
    pub use tensor::{Action, Movement, Rows, Source};
}
pub use texture::Access;

mod arith;
mod bulk;
mod memory;
mod special;
mod warp;

pub use arith::{
    ApproxOp, CountOp, FloatCmp, FloatMode, FloatOp, FloatUnOp, IntCmp, IntOp, IntUnOp, PrmtMode, Round,
    SfuOp, ShiftOp,
};
pub use bulk::{Bulk, Effect, Extent, Extra, Walk, Way};
pub use memory::{AtomOp, AtomTy, MemMode, Order, Scope, Space};
pub use special::{Builtin, MapField, SReg};
pub use warp::{BarMode, MatchMode, ReduxOp, ShflMode, VoteMode};

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
    /// `(a: i32) -> i32`.
    Sfu(SfuOp),
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
    /// `(address)`: a hint that the memory there will be read soon. It may be any address.
    Prefetch(Space),
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
    /// `(id: i32, threads: i32[, pred: i1]) -> ([i32 | i1])`: threads 0 means the whole block. `()` at a cluster's barrier.
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
    /// A matrix instruction of the whole warp: `(registers of the operands…, members: i32) -> (registers of the result…)`, as
    /// [`Matrix::operands`] and [`Matrix::results`] list them; addresses are offsets in shared memory. PTX wants all lanes here; what others give is what their registers hold.
    Matrix(Matrix),
    /// A bulk copy of each lane; [`Bulk`] lists its operands.
    Bulk(Bulk),
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
            Op::Prefetch(_) => (vec![I64], vec![]),
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

    /// Whether the operation does nothing but compute its results from its operands, lane by lane, so that it
    /// may be removed, repeated, or run for lanes that are not active.
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
                | Op::Prefetch(_)
                | Op::Yield
                | Op::Special(SReg::Clock | SReg::Clock64 | SReg::GlobalTimer64)
        );
        !acts && !self.is_convergent()
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
                | Op::Matrix(_)
                | Op::Bar { .. }
        )
    }

    /// Whether the warp may be suspended here and resumed later ([`crate::abi::Stop`]).
    pub fn suspends(&self) -> bool {
        matches!(self, Op::Bar { .. } | Op::Yield | Op::Builtin(Builtin::NanoSleep))
    }
}
