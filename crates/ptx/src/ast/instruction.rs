//! Instructions, and the questions that lowering asks about them.

use super::{LabelId, Operand, OperandKind, RegId, Symbol, SymbolRef};
use crate::span::Span;
use crate::types::{ScalarType, Space};
use crate::words::{Modifier, ModifierKind, Opcode};
use smallvec::SmallVec;

/// `@%p` or `@!%p` in front of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    /// The predicate register.
    pub reg: RegId,
    /// Whether it is written with `!`.
    pub negated: bool,
}

/// An instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    /// The condition under which a thread executes it.
    pub guard: Option<Guard>,
    /// The first word.
    pub opcode: Opcode,
    /// The words after dots, in written order.
    pub modifiers: SmallVec<[Modifier; 8]>,
    /// The operands in written order. For a call, see [`Instruction::call`].
    pub operands: Vec<Operand>,
    /// From the guard or opcode up to the semicolon, without it.
    pub span: Span,
}

/// The parts of a `call`.
#[derive(Clone, Copy, Debug)]
pub struct CallParts<'a> {
    /// Where results go: registers or `.param` variables.
    pub returns: &'a [Operand],
    /// A function's symbol, or a register that holds a function's address.
    pub target: &'a Operand,
    /// The arguments.
    pub params: &'a [Operand],
    /// The label of `.callprototype` or `.calltargets` of an indirect call.
    pub prototype: Option<LabelId>,
}

impl Instruction {
    /// Whether this modifier is written.
    pub fn has(&self, modifier: Modifier) -> bool {
        self.modifiers.contains(&modifier)
    }

    /// The first written modifier of this kind.
    pub fn first(&self, kind: ModifierKind) -> Option<Modifier> {
        self.modifiers.iter().copied().find(|m| m.kind() == kind)
    }

    /// The first written modifier out of `choices`.
    pub fn one_of(&self, choices: &[Modifier]) -> Option<Modifier> {
        self.modifiers.iter().copied().find(|m| choices.contains(m))
    }

    /// The types in written order; for `cvt` and `set`, the destination's comes first.
    pub fn types(&self) -> SmallVec<[ScalarType; 4]> {
        self.modifiers.iter().filter_map(|m| m.scalar_type()).collect()
    }

    /// The `n`th type written, from 0.
    pub fn ty(&self, n: usize) -> Option<ScalarType> {
        self.modifiers.iter().filter_map(|m| m.scalar_type()).nth(n)
    }

    /// The rounding written: `.rn`, `.rz`, `.rni`…
    pub fn rounding(&self) -> Option<Modifier> {
        self.first(ModifierKind::Rounding)
    }

    /// The comparison written: `.eq`, `.ltu`, `.lo`, `.hi`…
    pub fn compare(&self) -> Option<Modifier> {
        let is_compare = |m: &Modifier| {
            m.kind() == ModifierKind::Compare || matches!(m, Modifier::Lo | Modifier::Hi | Modifier::Nan)
        };
        self.modifiers.iter().copied().find(is_compare)
    }

    /// The first state space written; none means generic addressing.
    pub fn space(&self) -> Option<Space> {
        self.modifiers.iter().find_map(|m| m.space())
    }

    /// Elements of `.v2`, `.v4`, `.v8`; 1 if none is written.
    pub fn vec(&self) -> u8 {
        match self.first(ModifierKind::Vector) {
            Some(Modifier::V2) => 2,
            Some(Modifier::V4) => 4,
            Some(Modifier::V8) => 8,
            _ => 1,
        }
    }

    /// The scope of a memory operation: `.cta`, `.cluster`, `.gpu`, `.sys` (and `.gl` of `membar`).
    pub fn scope(&self) -> Option<Modifier> {
        self.first(ModifierKind::Scope)
    }

    /// The memory ordering: `.weak`, `.relaxed`, `.acquire`, `.release`, `.acq_rel`, `.sc`, `.volatile`,
    /// `.mmio`.
    pub fn sem(&self) -> Option<Modifier> {
        use Modifier as M;
        self.one_of(&[M::Weak, M::Volatile, M::Relaxed, M::Acquire, M::Release, M::AcqRel, M::Sc])
            .or_else(|| self.one_of(&[M::Mmio]))
    }

    /// The parts of a `call`; none for other instructions.
    pub fn call(&self) -> Option<CallParts<'_>> {
        if self.opcode != Opcode::Call {
            return None;
        }
        parts(&self.operands)
    }

    /// The target of a direct branch.
    pub fn label(&self) -> Option<LabelId> {
        self.operands.iter().find_map(label_of)
    }
}

fn parts(operands: &[Operand]) -> Option<CallParts<'_>> {
    let (returns, rest) = match operands {
        [Operand { kind: OperandKind::List(returns), .. }, rest @ ..] => (returns.as_slice(), rest),
        rest => (&[][..], rest),
    };
    let (target, rest) = rest.split_first()?;
    let (params, rest) = match rest {
        [Operand { kind: OperandKind::List(params), .. }, rest @ ..] => (params.as_slice(), rest),
        rest => (&[][..], rest),
    };
    Some(CallParts { returns, target, params, prototype: rest.first().and_then(label_of) })
}

fn label_of(operand: &Operand) -> Option<LabelId> {
    match operand.kind {
        OperandKind::Symbol(SymbolRef { symbol: Symbol::Label(label), .. }) => Some(label),
        _ => None,
    }
}
