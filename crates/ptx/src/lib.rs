//! PTX text: lexer, grammar, typed tree, printer, diagnostics with spans.
//!
//! [`parse`] reads a module, resolves every name and checks every instruction; the tree is in [`ast`].
//! Printing a tree (`Display`) gives text that parses to the same tree. Errors are a list of [`Diagnostic`]s,
//! each with its position: [`Diagnostic::render`] shows one in the style of rustc, [`log`] writes them as the
//! JIT's log does.
//!
//! ```
//! let source = ".version 8.0\n.target sm_86\n.address_size 64\n\
//!               .visible .entry k(.param .u64 out, .param .u32 n) { ret; }";
//! let module = ptx::parse(source).map_err(|errors| ptx::log(&errors, "k.ptx", source)).unwrap();
//! let (_, kernel) = module.function("k").unwrap();
//! assert_eq!(kernel.param_layout().size, 12);
//!
//! let wrong = source.replace("ret;", "add.f32 %f1, %f2;");
//! let errors = ptx::parse(&wrong).unwrap_err();
//! assert_eq!(errors[0].message, "Unknown symbol '%f1'");
//! ```
//!
//! # How it works
//!
//! - `lexer` produces tokens on demand; nothing is read twice.
//! - `parser` builds the tree in one pass. `scope` holds the visible names; the registers of `%r<1000>` are
//!   created when they are named, so that a text cannot request more memory than its own size. Labels that
//!   are used before their definition are filled in at the end of the function. After an error, the parser
//!   skips the statement and goes on.
//! - `grammar/` holds the instructions as data, in the notation of the PTX manual. From it, the build script
//!   generates the enums [`Opcode`] and [`Modifier`] and a table of forms. `check` compares each instruction
//!   with the forms of its opcode: modifiers, operands, register types, PTX version and target. To add an
//!   instruction, add a line there.
//! - Time is linear in the text, recursion is bounded, and no input panics; `tests/all/robust.rs` and the
//!   fuzz target `ptx_parse` check this. `tests/all/hardware.rs` compares with the texts that the hardware's
//!   driver accepted and refused.
//!
//! **Invariant**: this crate knows the text and its rules. It knows neither what an instruction computes nor
//! any other crate of the workspace.

#![forbid(unsafe_code)]

pub mod ast;
mod check;
mod diagnostic;
mod forms;
mod layout;
mod lexer;
mod parser;
mod print;
mod scope;
mod span;
mod types;
mod unresolved;
mod words;

pub use diagnostic::{Diagnostic, ErrorKind, Severity, log};
pub use layout::{ParamLayout, ParamSlot};
pub use parser::{Each, MAX_ERRORS, Outline, parse, parse_by, parse_bytes, text_of};
pub use span::{LineIndex, Span};
pub use types::{ArchSuffix, ScalarType, Space, Target, TypeKind, Version};
pub use words::{Modifier, ModifierKind, Opcode};
