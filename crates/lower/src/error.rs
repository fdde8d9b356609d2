//! Errors in a module that parses.

use ptx::Span;

/// The class of an error, on which the driver's error code depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorClass {
    /// An instruction or construct that is legal PTX but not supported yet.
    Unsupported,
    /// The text breaks a rule that only lowering checks.
    Invalid,
    /// A symbol that no text of the link defines.
    Unresolved,
    /// A symbol that more than one text of the link defines.
    Duplicate,
    /// Lowering produced invalid wave IR: a bug in this crate.
    Internal,
}

/// An error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Index of the unit.
    pub unit: usize,
    /// Its class.
    pub class: ErrorClass,
    /// The text that it refers to.
    pub span: Span,
    /// The error in one line.
    pub message: String,
}

impl Error {
    /// Reports what the verifier found in a lowered module.
    pub(crate) fn internal(problem: &wave::verify::Problem) -> Error {
        Error::mistake(problem.to_string())
    }

    /// An error that only a bug in this crate can cause.
    pub(crate) fn mistake(message: String) -> Error {
        let message = format!("internal error in lowering: {message}");
        Error { unit: 0, class: ErrorClass::Internal, span: Span::default(), message }
    }

    /// The error as a diagnostic of the PTX crate, to be rendered with the unit's source.
    pub fn diagnostic(&self) -> ptx::Diagnostic {
        ptx::Diagnostic::error(ptx::ErrorKind::Semantic, self.span, self.message.clone())
    }
}
