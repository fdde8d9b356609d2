//! Shapes of instructions: instructions with the same shape are either all lowered or all refused.
//!
//! A shape consists of everything that a refusal can depend on: opcode and modifiers, the kinds of the
//! operands, the types of their registers, the locations of their variables, and the constants that a family
//! inspects. Which register is used, which of a function's variables of the same kind, or which function with
//! the same parameters makes no difference. `tests/all/alike.rs` checks this over the grammar.

use std::collections::HashSet;
use std::hash::{Hash, Hasher};

use ptx::Opcode;
use ptx::ast::{
    Address, AddressBase, Component, Function, Instruction, LabelKind, Module, Operand, OperandKind,
    Parameter, RegId, Symbol, VarId, VariableRef,
};

use crate::function::parameter_ty;
use crate::link;

/// The shape of an instruction as a sequence of words.
pub type Shape = Box<[u32]>;

/// The text that a function is in.
#[derive(Clone, Copy, Debug)]
pub struct Home<'a> {
    /// Its number, which tells apart the variables of several texts.
    text: u32,
    /// The architecture that it is for.
    arch: u32,
    module: &'a Module,
}

impl<'a> Home<'a> {
    /// For the text of this number.
    pub fn of(text: usize, module: &'a Module) -> Home<'a> {
        Home { text: text as u32, arch: module.arch().map_or(0, u32::from), module }
    }
}

/// Computes the shapes of one function's instructions.
pub struct Shapes<'a> {
    home: Home<'a>,
    function: &'a Function,
    /// Variables whose address is taken.
    taken: &'a HashSet<VarId>,
    words: Vec<u32>,
}

/// Whether constants are plain values for this opcode, so that no refusal depends on them.
fn takes_any_constant(opcode: Opcode) -> bool {
    use Opcode as O;
    matches!(
        opcode,
        O::Abs
            | O::Add
            | O::Addc
            | O::And
            | O::Atom
            | O::Bar
            | O::Barrier
            | O::Bfe
            | O::Bfi
            | O::Bra
            | O::Call
            | O::Cvt
            | O::Cvta
            | O::Div
            | O::Fma
            | O::Ld
            | O::Lop3
            | O::Mad
            | O::Madc
            | O::Max
            | O::Min
            | O::Mov
            | O::Mul
            | O::Neg
            | O::Not
            | O::Or
            | O::Prmt
            | O::Red
            | O::Rem
            | O::Selp
            | O::Set
            | O::Setp
            | O::Shf
            | O::Shfl
            | O::Shl
            | O::Shr
            | O::Slct
            | O::St
            | O::Sub
            | O::Subc
            | O::Vote
            | O::Xor
    )
}

/// The instruction has a shape of its own.
struct Unlike;

impl<'a> Shapes<'a> {
    /// For a function with a body, and the variables whose address is taken in it.
    pub fn new(home: Home<'a>, function: &'a Function, taken: &'a HashSet<VarId>) -> Self {
        Shapes { home, function, taken, words: Vec::with_capacity(64) }
    }

    /// The shape of an instruction, valid until the next call; `None` if the instruction must be lowered by
    /// itself.
    pub fn of(&mut self, i: &Instruction) -> Option<&[u32]> {
        self.words.clear();
        let is_entry = u32::from(self.function.is_entry) << 16;
        let guard = u32::from(i.guard.is_some()) << 17;
        self.words.push(i.opcode as u32 | is_entry | guard);
        self.words.push(self.home.arch);
        self.words.push(i.modifiers.len() as u32 | (i.operands.len() as u32) << 8);
        self.words.extend(i.modifiers.iter().map(|m| *m as u32));
        let constants = !takes_any_constant(i.opcode);
        for operand in &i.operands {
            self.operand(i.opcode, operand, constants).ok()?;
        }
        Some(&self.words)
    }

    /// Appends a kind with a small detail.
    fn put(&mut self, kind: u32, detail: u32) {
        self.words.push(kind | detail << 8);
    }

    fn wide(&mut self, n: u64) {
        self.words.extend([n as u32, (n >> 32) as u32]);
    }

    fn hashed(&mut self, thing: &impl Hash) {
        thing.hash(&mut Words(&mut self.words));
    }

    fn register(&mut self, kind: u32, reg: RegId) {
        let found = self.function.regs().get(reg.index());
        self.put(kind, found.map_or(0, |r| r.ty as u32 | u32::from(r.vector) << 8));
    }

    fn operand(&mut self, opcode: Opcode, operand: &Operand, constants: bool) -> Result<(), Unlike> {
        use OperandKind as K;
        match &operand.kind {
            K::Reg(reg) => self.register(1, *reg),
            K::Component(reg, part) => self.component(2, *reg, Some(*part)),
            K::Not(reg) => self.register(3, *reg),
            K::Negated(reg, part) => self.component(4, *reg, *part),
            K::Special(special, part) => {
                self.put(5, 0);
                self.hashed(&(special, part));
            }
            K::Int(n) => {
                self.put(6, u32::from(n.unsigned && constants));
                if constants {
                    self.wide(n.bits);
                }
            }
            K::F32(bits) => {
                self.put(7, 0);
                if constants {
                    self.words.push(*bits);
                }
            }
            K::F64(bits) => {
                self.put(8, 0);
                if constants {
                    self.wide(*bits);
                }
            }
            K::Symbol(s) => {
                self.symbol(9, opcode, s.symbol)?;
                if constants {
                    self.wide(s.offset as u64);
                }
            }
            K::Element(e) => {
                self.variable(10, e.array);
                self.register(0, e.index);
                if constants {
                    self.wide(e.plus as u64);
                    self.words.push(e.size);
                }
            }
            K::Vector(list) => self.list(11, opcode, list, constants)?,
            K::List(list) => self.list(12, opcode, list, constants)?,
            K::Pair(pair) => {
                self.put(13, 0);
                self.operand(opcode, &pair.0, constants)?;
                self.operand(opcode, &pair.1, constants)?;
            }
            K::Sink => self.put(14, 0),
            K::Address(address) => self.address(opcode, address, constants)?,
        }
        Ok(())
    }

    fn list(&mut self, kind: u32, opcode: Opcode, list: &[Operand], constants: bool) -> Result<(), Unlike> {
        self.put(kind, list.len() as u32);
        list.iter().try_for_each(|o| self.operand(opcode, o, constants))
    }

    fn address(&mut self, opcode: Opcode, address: &Address, constants: bool) -> Result<(), Unlike> {
        self.put(15, u32::from(address.unified));
        match address.base {
            AddressBase::Reg(reg) => self.register(1, reg),
            AddressBase::Component(reg, part) => self.component(2, reg, Some(part)),
            AddressBase::Var(variable) => self.variable(9, variable),
            AddressBase::Element(e) => {
                self.variable(10, e.array);
                self.register(0, e.index);
                if constants {
                    self.wide(e.plus as u64);
                    self.words.push(e.size);
                }
            }
            AddressBase::Func(f) => self.symbol(9, opcode, Symbol::Func(f))?,
            AddressBase::Absolute => self.put(14, 0),
        }
        if constants {
            self.wide(address.offset as u64);
        }
        self.list(12, opcode, &address.parts, constants)
    }

    fn component(&mut self, kind: u32, reg: RegId, part: Option<Component>) {
        self.register(kind, reg);
        self.hashed(&part);
    }

    fn symbol(&mut self, kind: u32, opcode: Opcode, symbol: Symbol) -> Result<(), Unlike> {
        match symbol {
            Symbol::Global(g) => self.variable(kind, VariableRef::Global(g)),
            Symbol::Var(v) => self.variable(kind, VariableRef::Var(v)),
            Symbol::Func(f) => {
                let Some(function) = self.home.module.functions.get(f.index()) else { return Err(Unlike) };
                // The driver's functions have rules of their own.
                if link::is_provided(&function.name) {
                    return Err(Unlike);
                }
                self.put(kind, 2 | u32::from(function.is_entry) << 2);
                for list in [&function.params, &function.returns] {
                    self.words.push(list.len() as u32);
                    let types = list.iter().map(|p| parameter_ty(function, *p).map_or(0, |ty| 1 + ty as u32));
                    self.words.extend(types);
                }
            }
            Symbol::Label(l) => {
                let label = self.function.body.as_ref().and_then(|b| b.labels.get(l.index()));
                if opcode != Opcode::Bra || label.is_none_or(|l| !matches!(l.kind, LabelKind::Code)) {
                    return Err(Unlike);
                }
                self.put(kind, 3);
            }
        }
        Ok(())
    }

    fn variable(&mut self, kind: u32, variable: VariableRef) {
        match variable {
            VariableRef::Global(g) => {
                self.put(kind, 0);
                self.words.extend([self.home.text, g.0]);
            }
            VariableRef::Var(v) => {
                self.put(kind, 1);
                let Some(found) = self.function.vars().get(v.index()) else { return };
                let parameter = Parameter::Var(v);
                let formal =
                    self.function.params.contains(&parameter) || self.function.returns.contains(&parameter);
                let flags = u32::from(formal) | u32::from(self.taken.contains(&v)) << 1;
                self.words.push(found.space as u32 | (found.ty as u32) << 8 | u32::from(found.vector) << 16);
                self.put(flags, found.dims.len() as u32);
            }
        }
    }
}

/// A hasher that records what is hashed.
struct Words<'a>(&'a mut Vec<u32>);

impl Hasher for Words<'_> {
    fn finish(&self) -> u64 {
        0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0.extend(bytes.iter().map(|b| u32::from(*b)));
    }

    fn write_isize(&mut self, n: isize) {
        self.0.push(n as u32);
    }
}
