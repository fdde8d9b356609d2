//! Functions, globals, and the module around them.

use super::{Constants, Inst, Name, Scope, Signature, Type};

/// A basic block. Its last instruction is the terminator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its label.
    pub label: Name,
    /// Its instructions.
    pub insts: Vec<Inst>,
}

/// Function attributes for LLVM.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    /// Only this module calls it (`internal`).
    pub internal: bool,
    /// Every call is inlined (`alwaysinline`).
    pub always_inline: bool,
    /// No call is inlined (`noinline`).
    pub no_inline: bool,
    /// It is rarely called (`cold`).
    pub cold: bool,
    /// It always returns (`willreturn`).
    pub will_return: bool,
    /// It neither reads nor writes memory (`memory(none)`).
    pub no_memory: bool,
}

/// A parameter of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its type.
    pub ty: Type,
    /// Its name.
    pub name: Name,
    /// Nothing else points to its memory (`noalias`).
    pub no_alias: bool,
}

impl Parameter {
    /// A parameter without attributes.
    pub const fn new(ty: Type, name: Name) -> Parameter {
        Parameter { ty, name, no_alias: false }
    }

    /// A pointer that nothing else aliases.
    pub const fn alone(name: Name) -> Parameter {
        Parameter { ty: Type::PTR, name, no_alias: true }
    }
}

/// A function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: Name,
    /// Its return types.
    pub returns: Signature,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// Its attributes.
    pub attributes: Attributes,
    /// Its own debug information, if it has any.
    pub scope: Option<Scope>,
    /// Its code; the first block is the entry.
    pub blocks: Vec<Block>,
}

/// The initial value of a global.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Initialiser {
    /// That many zeros of a type.
    Zeros(Type, usize),
    /// One integer.
    Int(Type, i64),
    /// Integers.
    Ints(Type, Vec<i64>),
    /// Floats, each given by its bits as f64.
    Floats(Type, Vec<u64>),
}

/// A constant in memory, private to the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Global {
    /// Its name.
    pub name: Name,
    /// Its value.
    pub value: Initialiser,
    /// Its alignment in bytes; 0 for the type's natural alignment.
    pub align: u32,
}

/// The module that is passed to LLVM.
#[derive(Debug, Default)]
pub struct LlvmModule {
    /// Constants in memory, with unique names.
    pub globals: Vec<Global>,
    /// The functions with code.
    pub functions: Vec<Function>,
    /// The long constants that operands refer to.
    pub constants: Constants,
}

impl LlvmModule {
    /// Adds a global unless one with its name exists.
    pub fn global(&mut self, global: Global) {
        if !self.globals.iter().any(|g| g.name == global.name) {
            self.globals.push(global);
        }
    }
}
