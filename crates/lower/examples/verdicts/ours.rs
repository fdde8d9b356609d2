//! Our answer to loading a module with an instruction: parsing, checking and lowering.

use crate::case::{Case, module};

/// Our verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Accepted,
    /// Legal, but refused by name as unsupported.
    Unsupported(String),
    Refused {
        /// The first diagnostic.
        message: String,
        /// What the log lacks: the position, the instruction, or what would be legal.
        untold: Option<&'static str>,
    },
}

impl Verdict {
    pub fn word(&self) -> &'static str {
        match self {
            Verdict::Accepted => "accepted",
            Verdict::Unsupported(_) => "unsupported",
            Verdict::Refused { .. } => "refused",
        }
    }

    pub fn message(&self) -> &str {
        match self {
            Verdict::Accepted => "",
            Verdict::Unsupported(message) | Verdict::Refused { message, .. } => message,
        }
    }
}

/// Whether a diagnostic says what would be right, in its label, notes, help or message.
fn tells(d: &ptx::Diagnostic) -> bool {
    let words = ["expected", " not ", "only", "must", "has no"];
    !d.label.is_empty()
        || !d.notes.is_empty()
        || d.help.is_some()
        || words.iter().any(|w| d.message.contains(w))
}

/// Loads a module that contains only this case.
pub fn judge(case: &Case) -> Verdict {
    let (text, line) = module(&case.setting, [case.instruction.as_str()]);
    let diagnostics = match ptx::parse(&text) {
        Err(found) => found,
        Ok(tree) => match lower::lower(&[lower::Unit { name: "case", module: &tree, source: &text }]) {
            Ok(_) => return Verdict::Accepted,
            Err(errors) => {
                let unsupported = errors.iter().find(|e| e.class == lower::ErrorClass::Unsupported);
                if let Some(error) = unsupported {
                    return Verdict::Unsupported(error.message.clone());
                }
                errors.iter().map(lower::Error::diagnostic).collect()
            }
        },
    };
    let first = diagnostics.iter().find(|d| d.severity == ptx::Severity::Error);
    let Some(first) = first else {
        return Verdict::Refused { message: String::new(), untold: Some("anything") };
    };
    let log = ptx::log(&diagnostics, "case", &text);
    let opcode = case.instruction.split(['.', ' ', ';']).next().unwrap_or_default();
    let untold = match () {
        () if !log.contains(&format!("line {line}")) => Some("the line"),
        () if !log.contains(opcode) => Some("the instruction"),
        () if !tells(first) => Some("what would be legal"),
        () => None,
    };
    let more = [first.label.as_str()].into_iter().chain(first.notes.iter().map(String::as_str));
    let more: String =
        more.chain(first.help.as_deref()).filter(|t| !t.is_empty()).map(|t| format!("; {t}")).collect();
    Verdict::Refused { message: format!("{}{more}", first.message), untold }
}
