//! Instructions, and what they do to memory.

use std::borrow::Cow;
use std::rc::Rc;

use super::{Name, Operand, Type};

/// Operations on two operands of one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bin {
    Add,
    Sub,
    /// A difference that does not overflow as a signed one.
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

/// Relations of integers.
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

/// Relations of floats: `O` ones are false for NaN, `U` ones true.
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

/// How an access is ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// No atomic access.
    Plain,
    Monotonic,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

/// How a load or a store accesses memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// Bytes that the address is a multiple of; 0 for what the type has by itself.
    pub align: u32,
    /// Its order.
    pub order: Order,
    /// It is done exactly as written.
    pub volatile: bool,
    /// The memory holds the same value whenever it can be read.
    pub invariant: bool,
}

impl Access {
    /// Aligned as the type is.
    pub const NATURAL: Access = Access::aligned(0);

    /// Aligned to so many bytes.
    pub const fn aligned(align: u32) -> Access {
        Access { align, order: Order::Plain, volatile: false, invariant: false }
    }
}

/// Updates of memory that LLVM has a word for.
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

/// How often a branch goes its first way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Likely {
    /// Nothing is known.
    Unknown,
    /// Nearly always.
    First,
    /// Nearly never.
    Second,
}

/// What is called.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Callee {
    /// A function of the module.
    Function(Name),
    /// A function whose address is known at run time.
    Pointer(Operand),
    /// An intrinsic function: its name without overloaded types, those, and what it does to memory.
    Intrinsic(Cow<'static, str>, [Option<Type>; 2], Effect),
    /// Assembly: the text, the constraints, and whether it has effects beyond its result.
    Assembly { text: Cow<'static, str>, constraints: Cow<'static, str>, side_effect: bool },
}

/// What the code generator is told of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Note {
    /// Nothing.
    None,
    /// Bytes that a pointer's address is a multiple of.
    Align(u32),
    /// A narrow integer is passed zero-extended.
    ZeroExt,
    /// What a pointer's memory operand holds.
    Element(Type),
}

/// An argument of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Argument {
    /// The value.
    pub value: Operand,
    /// What is said of it.
    pub note: Note,
}

impl From<Operand> for Argument {
    fn from(value: Operand) -> Self {
        Argument { value, note: Note::None }
    }
}

/// What a call returns.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Signature {
    /// One value, or none.
    One(Type),
    /// Several.
    Several(Rc<[Type]>),
}

/// What an instruction does to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Nothing.
    None,
    /// Reads it.
    Reads,
    /// Writes it, orders accesses, or may do anything.
    Any,
}

/// How a result is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// By its number in the function.
    Register(u32),
    /// By a name that is known before it is written.
    Name(Name),
}

/// An instruction: its result's register, what it does, and the metadata of its source line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inst {
    /// The result's name, if there is a result.
    pub result: Option<Target>,
    /// What it does.
    pub op: Op,
    /// The number of the line's metadata; 0 for none.
    pub debug: u64,
}

/// What an instruction does.
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
    /// Of a result of several values: its register, their types, which.
    ExtractValue(u32, Rc<[Type]>, usize),
    /// Into a group of values: the group so far, their types, the value, which.
    InsertValue(Option<u32>, Rc<[Type]>, Operand, usize),
    Load(Type, Operand, Access),
    Store(Operand, Operand, Access),
    /// Steps of the element's size.
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
    /// A slot with a name: so many elements, aligned.
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
    /// Returns a group of values.
    RetSeveral(u32, Rc<[Type]>),
    Unreachable,
}

impl Op {
    /// What it does to memory.
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

    /// Every operand that it reads.
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
