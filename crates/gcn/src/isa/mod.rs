//! The instruction sets: tables, decoder and printer.
//!
//! `tables/*.tsv` describe each generation: the fields of each encoding, and a row for each opcode of an
//! encoding. [`Decoder::decode`] is one engine for all of them, [`Inst`] its result, which prints as LLVM's
//! assembler writes it.

mod decode;
mod image;
mod imm;
mod inst;
mod names;
mod operand;
mod print;
mod table;

pub use decode::{Decoder, Refusal};
pub use imm::inline_bits;
pub use inst::{Inst, Mod, Operand, Part, Role, Special, Type, Value};
pub use table::{Encoding, Op};
