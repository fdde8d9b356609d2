//! PTX text: lexer, grammar, typed tree, printer, diagnostics with spans.
//!
//! [`parse`] reads a module and resolves every name; the tree is in [`ast`].

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
pub use parser::{MAX_ERRORS, parse, parse_bytes, text_of};
pub use span::{LineIndex, Span};
pub use types::{ArchSuffix, ScalarType, Space, Target, TypeKind, Version};
pub use words::{Modifier, ModifierKind, Opcode};
