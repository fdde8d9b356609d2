//! What can be wrong with a module that parses.

use ptx::Span;

/// What a driver's answer depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorClass {
    /// An instruction or construct that is legal PTX and not supported yet.
    Unsupported,
    /// The text breaks a rule that only shows here.
    Invalid,
    /// A symbol that no text of the link defines.
    Unresolved,
    /// A symbol that two texts of the link define.
    Duplicate,
    /// Lowering made something that is not sound wave IR: a mistake of ours.
    Internal,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Index of the unit.
    pub unit: usize,
    /// Its kind.
    pub class: ErrorClass,
    /// The text it is about.
    pub span: Span,
    /// The finding in one line.
    pub message: String,
}

impl Error {
    /// What the verifier says about a lowered module.
    pub(crate) fn internal(problem: &wave::verify::Problem) -> Error {
        Error::mistake(problem.to_string())
    }

    /// What only a mistake of this crate can bring about.
    pub(crate) fn mistake(message: String) -> Error {
        let message = format!("internal error in lowering: {message}");
        Error { unit: 0, class: ErrorClass::Internal, span: Span::default(), message }
    }

    /// The finding as a diagnostic of the PTX crate, to be rendered with the unit's source.
    pub fn diagnostic(&self) -> ptx::Diagnostic {
        ptx::Diagnostic::error(ptx::ErrorKind::Semantic, self.span, self.message.clone())
    }
}
