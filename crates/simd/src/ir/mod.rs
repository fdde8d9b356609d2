//! LLVM IR as values: types, operands, instructions and functions, and one printer.
//!
//! LLVM takes the text that [`print`] makes. Everything before that decides by types and operands, never by
//! what a text looks like. This is the part of LLVM's language that kernels need, in LLVM's terms
//! (<https://llvm.org/docs/LangRef.html>); instructions know their effects on memory, and operands their types.
//!
//! - [`Type`] and [`Operand`] are small and `Copy`. Constants longer than a word lie in [`Constants`].
//! - [`Builder`] appends instructions to the function in hand and numbers their results. It also keeps masks
//!   as words until an instruction needs the vector.
//! - [`Function`] and [`Module`] hold what was built; [`Module::print`] writes it.

mod builder;
mod constants;
mod function;
mod inst;
mod intrinsic;
mod operand;
mod print;
mod types;

#[cfg(test)]
mod tests;

pub use builder::Builder;
pub use constants::Constants;
pub use function::{Attributes, Block, Function, Global, Initialiser, Module, Parameter};
pub use inst::{
    Access, Argument, Bin, Callee, Cast, Cmp, Effect, Fcmp, Inst, Likely, Note, Op, Order, Rmw, Signature,
    Target,
};
pub use operand::{Name, Operand};
pub use types::{Elem, Lanes, Type};
