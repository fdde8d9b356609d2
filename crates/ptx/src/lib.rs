//! PTX text: lexer, grammar, typed tree, printer, diagnostics with spans.
//!
//! [`parse`] reads a module, resolves every name and checks every instruction; the tree is in [`ast`]. A tree prints
//! (`Display`) as text that parses to the same tree. What is wrong is a list of [`Diagnostic`]s, each with its place:
//! [`Diagnostic::render`] shows one as rustc would, [`log`] writes them as the JIT's log does.
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
//! - `lexer` makes tokens as the parser asks for them; nothing is read twice.
//! - `parser` builds the tree in one pass. `scope` holds the names that are visible; `%r<1000>` becomes registers as
//!   they are named, so that a text cannot ask for more memory than it has bytes. Labels that are named before they
//!   stand are filled in at the function's end. An error costs its statement; the rest is read on.
//! - `grammar/` holds the instructions as data, in the notation of the PTX manual. The build script makes the enums
//!   [`Opcode`] and [`Modifier`] and a table of forms from it; `check` holds each instruction against the forms of
//!   its opcode: modifiers, operands, register types, PTX version and target. To add an instruction, add a line there.
//! - Time is linear in the text, recursion is bounded, and no input panics; `tests/robust.rs` and the fuzz target
//!   `ptx_parse` hold it to that. `tests/hardware.rs` holds what is legal against what the hardware took and refused.
//!
//! **Invariant**: this crate knows the text and its rules. It does not know what an instruction computes, nor any
//! other crate of the workspace.

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
