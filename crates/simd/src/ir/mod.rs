//! LLVM IR as values: types, operands, instructions and functions, and one printer.
//!
//! LLVM receives the text that [`print`] writes. All code before that works on types and operands, never on
//! text. The module covers the part of LLVM's language that kernels need, in LLVM's terms
//! (<https://llvm.org/docs/LangRef.html>). Instructions know their effects on memory, and operands their
//! types.
//!
//! - [`Type`] and [`Operand`] are small and `Copy`. Constants longer than a word are stored in [`Constants`].
//! - [`Builder`] appends instructions to the current function and numbers their results. It keeps masks as
//!   words until an instruction needs the vector.
//! - [`Place`] and [`Scope`] say where an instruction stands in the source.
//! - [`Function`] and [`LlvmModule`] hold the result; [`LlvmModule::print`] writes it.

mod builder;
mod constants;
mod function;
mod inst;
mod intrinsic;
mod metadata;
mod operand;
mod print;
mod types;

#[cfg(test)]
mod tests;

pub use builder::Builder;
pub use constants::Constants;
pub use function::{Attributes, Block, Function, Global, Initialiser, LlvmModule, Parameter};
pub use inst::{
    Access, Argument, Bin, Callee, Cast, Cmp, Effect, Fcmp, Inst, Likely, Note, Op, Order, Rmw, Signature,
    Target,
};
pub use intrinsic::Reduction;
pub use metadata::{Place, Processor, Scope};
pub use operand::{Name, Operand};
pub use types::{Elem, Lanes, Type, Width};
