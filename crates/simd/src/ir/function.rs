//! Functions, globals, and the module around them.

use std::collections::BTreeSet;

use super::{Constants, Inst, Name, Signature, Type};

/// Instructions that run one after the other. Its last one leaves it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its name.
    pub label: Name,
    /// What it does.
    pub insts: Vec<Inst>,
}

/// What LLVM is told of a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    /// Only this module calls it.
    pub internal: bool,
    /// Every call becomes a copy of it.
    pub always_inline: bool,
    /// No call does.
    pub no_inline: bool,
    /// It is seldom called.
    pub cold: bool,
    /// It returns.
    pub will_return: bool,
    /// It neither reads nor writes memory.
    pub no_memory: bool,
}

/// A parameter of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its type.
    pub ty: Type,
    /// Its name.
    pub name: Name,
    /// Nothing else points to its memory.
    pub no_alias: bool,
}

impl Parameter {
    /// One of which nothing is said.
    pub const fn new(ty: Type, name: Name) -> Parameter {
        Parameter { ty, name, no_alias: false }
    }

    /// A pointer to memory of its own.
    pub const fn alone(name: Name) -> Parameter {
        Parameter { ty: Type::PTR, name, no_alias: true }
    }
}

/// A function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: Name,
    /// What it returns.
    pub returns: Signature,
    /// What it takes.
    pub parameters: Vec<Parameter>,
    /// What LLVM is told of it.
    pub attributes: Attributes,
    /// The number of its scope in the debug information; 0 for none.
    pub scope: u64,
    /// Its code; the first block is entered first.
    pub blocks: Vec<Block>,
}

/// What a global holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Initialiser {
    /// Zeros, so many elements.
    Zeros(Type, usize),
    /// One integer.
    Int(Type, i64),
    /// Floats by the bits of an f64 each.
    Floats(Type, Vec<u64>),
}

/// A constant in memory, of this module alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Global {
    /// Its name.
    pub name: Name,
    /// What it holds.
    pub value: Initialiser,
    /// Bytes that its address is a multiple of; 0 for what the type has by itself.
    pub align: u32,
}

/// What is handed to LLVM.
#[derive(Debug, Default)]
pub struct Module {
    /// Constants in memory, each name once.
    pub globals: Vec<Global>,
    /// Functions with code.
    pub functions: Vec<Function>,
    /// Constants that operands name.
    pub constants: Constants,
}

impl Module {
    /// The numbers of all metadata of instructions.
    pub fn debug(&self) -> BTreeSet<u64> {
        let blocks = self.functions.iter().flat_map(|f| &f.blocks);
        blocks.flat_map(|b| &b.insts).map(|i| i.debug).collect()
    }

    /// Adds a global unless there is one of its name.
    pub fn global(&mut self, global: Global) {
        if !self.globals.iter().any(|g| g.name == global.name) {
            self.globals.push(global);
        }
    }
}
