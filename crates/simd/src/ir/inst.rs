//! Instructions and their effects on memory.

use std::borrow::Cow;
use std::rc::Rc;

use super::{Name, Operand, Place, Type};

/// Binary operations on operands of one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bin {
    Add,
    Sub,
    /// A subtraction without signed overflow.
    SubNsw,
    Mul,
    UDiv,
    SDiv,
    URem,
    SRem,
    And,
    Or,
    Xor,
    Shl,
    LShr,
    AShr,
    FAdd,
    FSub,
    FMul,
    FDiv,
}

/// Comparisons of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cmp {
    Eq,
    Ne,
    Slt,
    Sle,
    Sgt,
    Sge,
    Ult,
    Ule,
    Ugt,
    Uge,
}

/// Comparisons of floats: the `O` ones are false for NaN, the `U` ones true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fcmp {
    Oeq,
    One,
    Olt,
    Ole,
    Ogt,
    Oge,
    Ueq,
    Une,
    Ult,
    Ule,
    Ugt,
    Uge,
    Ord,
    Uno,
}

/// Conversions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cast {
    Trunc,
    ZExt,
    SExt,
    FpTrunc,
    FpExt,
    SiToFp,
    UiToFp,
    FpToSi,
    FpToUi,
    Bitcast,
    IntToPtr,
    PtrToInt,
}

/// The atomic ordering of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// Not atomic.
    Plain,
    Monotonic,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

/// How a load or store accesses memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// Alignment in bytes; 0 for the type's natural alignment.
    pub align: u32,
    /// Its ordering.
    pub order: Order,
    /// It must be executed exactly as written (`volatile`).
    pub volatile: bool,
    /// The memory holds the same value whenever it is readable (`invariant.load`).
    pub invariant: bool,
}

impl Access {
    /// Naturally aligned.
    pub const NATURAL: Access = Access::aligned(0);

    /// Aligned to that many bytes.
    pub const fn aligned(align: u32) -> Access {
        Access { align, order: Order::Plain, volatile: false, invariant: false }
    }
}

/// The operations of LLVM's `atomicrmw`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rmw {
    Xchg,
    Add,
    And,
    Or,
    Xor,
    Max,
    Min,
    UMax,
    UMin,
    UIncWrap,
    UDecWrap,
}

/// The probability of a branch's first target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Likely {
    /// Unknown.
    Unknown,
    /// The first target is almost always taken.
    First,
    /// The second target is almost always taken.
    Second,
    /// Unknown; the branch closes a loop that LLVM is to unroll.
    Unrolled,
}

/// What is called.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Callee {
    /// A function of the module.
    Function(Name),
    /// A function pointer.
    Pointer(Operand),
    /// An intrinsic: its name without overloaded types, those types, and its effect on memory.
    Intrinsic(Cow<'static, str>, [Option<Type>; 2], Effect),
    /// Inline assembly: the text, the constraints, and whether it has side effects.
    Assembly { text: Cow<'static, str>, constraints: Cow<'static, str>, side_effect: bool },
}

/// An attribute of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Note {
    /// Nothing.
    None,
    /// The alignment of a pointer in bytes.
    Align(u32),
    /// A narrow integer is passed zero-extended (`zeroext`).
    ZeroExt,
    /// The element type of a pointer's memory operand (`elementtype`).
    Element(Type),
}

/// An argument of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Argument {
    /// The value.
    pub value: Operand,
    /// Its attribute.
    pub note: Note,
}

impl From<Operand> for Argument {
    fn from(value: Operand) -> Self {
        Argument { value, note: Note::None }
    }
}

/// The return type of a call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Signature {
    /// One value, or none.
    One(Type),
    /// Several.
    Several(Rc<[Type]>),
}

/// The effect of an instruction on memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Nothing.
    None,
    /// Reads it.
    Reads,
    /// Writes memory, orders accesses, or has unknown effects.
    Any,
}

/// The name of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Its number in the function.
    Register(u32),
    /// A name chosen in advance.
    Name(Name),
}

/// An instruction with its result and its place in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inst {
    /// The result's name, if there is a result.
    pub result: Option<Target>,
    /// The operation.
    pub op: Op,
    /// Where it stands in the source.
    pub place: Place,
}

/// An operation and its operands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    Bin(Bin, Operand, Operand),
    Icmp(Cmp, Operand, Operand),
    Fcmp(Fcmp, Operand, Operand),
    FNeg(Operand),
    Select(Operand, Operand, Operand),
    Cast(Cast, Operand, Type),
    Freeze(Operand),
    ExtractElement(Operand, Operand),
    InsertElement(Operand, Operand, Operand),
    ShuffleVector(Operand, Operand, Rc<[u16]>),
    /// Extracts one of several values: their register, their types, the index.
    ExtractValue(u32, Rc<[Type]>, usize),
    /// Inserts one of several values: the aggregate so far, the types, the value, the index.
    InsertValue(Option<u32>, Rc<[Type]>, Operand, usize),
    Load(Type, Operand, Access),
    Store(Operand, Operand, Access),
    /// The index counts elements of the type.
    GetElementPtr(Type, Operand, Operand),
    CmpXchg {
        at: Operand,
        old: Operand,
        new: Operand,
        align: u32,
    },
    AtomicRmw {
        op: Rmw,
        at: Operand,
        value: Operand,
        align: u32,
    },
    Fence {
        order: Order,
        one_thread: bool,
    },
    Call {
        callee: Callee,
        returns: Signature,
        arguments: Vec<Argument>,
        no_inline: bool,
    },
    Phi(Type, Vec<(Operand, Name)>),
    /// A stack slot with a name, a number of elements and an alignment.
    Alloca {
        name: Name,
        ty: Type,
        count: usize,
        align: u32,
    },
    Br(Name),
    CondBr(Operand, Name, Name, Likely),
    Switch(Operand, Name, Vec<(i64, Name)>),
    Ret(Option<Operand>),
    /// Returns several values.
    RetSeveral(u32, Rc<[Type]>),
    Unreachable,
}

impl Op {
    /// Its effect on memory.
    pub fn effect(&self) -> Effect {
        match self {
            Op::Load(_, _, access) if access.order == Order::Plain && !access.volatile => Effect::Reads,
            Op::Load(..) | Op::Store(..) | Op::CmpXchg { .. } | Op::AtomicRmw { .. } | Op::Fence { .. } => {
                Effect::Any
            }
            Op::Call { callee: Callee::Intrinsic(.., effect), .. } => *effect,
            Op::Call { .. } => Effect::Any,
            _ => Effect::None,
        }
    }

    /// All operands that it reads.
    pub(super) fn operands_mut(&mut self) -> Vec<&mut Operand> {
        match self {
            Op::Bin(_, a, b) | Op::Icmp(_, a, b) | Op::Fcmp(_, a, b) => vec![a, b],
            Op::FNeg(a) | Op::Cast(_, a, _) | Op::Freeze(a) => vec![a],
            Op::Select(a, b, c) | Op::InsertElement(a, b, c) => vec![a, b, c],
            Op::ExtractElement(a, b) | Op::ShuffleVector(a, b, _) => vec![a, b],
            Op::InsertValue(_, _, a, _) | Op::Load(_, a, _) => vec![a],
            Op::Store(a, b, _) | Op::GetElementPtr(_, a, b) => vec![a, b],
            Op::CmpXchg { at, old, new, .. } => vec![at, old, new],
            Op::AtomicRmw { at, value, .. } => vec![at, value],
            Op::Call { callee, arguments, .. } => {
                let mut all: Vec<&mut Operand> = Vec::new();
                if let Callee::Pointer(p) = callee {
                    all.push(p);
                }
                all.extend(arguments.iter_mut().map(|a| &mut a.value));
                all
            }
            Op::Phi(_, values) => values.iter_mut().map(|(v, _)| v).collect(),
            Op::CondBr(a, ..) | Op::Switch(a, ..) | Op::Ret(Some(a)) => vec![a],
            Op::ExtractValue(..)
            | Op::Fence { .. }
            | Op::Alloca { .. }
            | Op::Br(_)
            | Op::Ret(None)
            | Op::RetSeveral(..)
            | Op::Unreachable => vec![],
        }
    }
}
