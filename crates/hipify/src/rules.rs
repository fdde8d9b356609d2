//! Edits of call arguments, from `data/rules.tsv`.

use std::ops::Range;

use crate::edit::Edits;
use crate::mask;
use crate::options::{Rocm, Target};
use crate::signature::When;
use crate::source::Source;
use crate::token::TokenKind;

/// An edit of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Put it in parentheses after this text.
    Wrap(&'static str),
    /// Replace it with this text.
    Replace(&'static str),
    /// Insert this text before it, or append it if there is no such argument.
    Add(&'static str),
    /// Append this text, which is CUDA's default, if the call has as many arguments as the rule's number
    /// says.
    Default(&'static str),
    /// Remove it.
    Remove,
    /// Copy it before another argument.
    Copy { to: u8 },
    /// Move it and those after it, `count` in all, before another argument.
    Move { to: u8, count: u8 },
    /// Rename the function if the call has as many arguments as the rule's number says.
    Rename(&'static str),
    /// Put all arguments, from this one on, into a call of this function.
    Call(&'static str),
    /// It is a mask of lanes, which has 64 bits in HIP.
    Mask,
    /// The call is one of this function of CUDA.
    As(&'static str),
    /// HIP has no counterpart for such a call; the text says what to do.
    Refuse(&'static str),
    /// The text does not tell which of two functions is called: it is taken for the one in the table; the
    /// text says what the other would be.
    Doubt(&'static str),
}

/// One edit of the calls of one function.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    /// The family of libraries that it applies to.
    pub target: Target,
    /// The argument's index, from 0.
    pub argument: u8,
    /// The edit.
    pub action: Action,
    /// Whether an effect of the argument is lost.
    pub data_loss: bool,
    /// The first release of ROCm that does not need it.
    pub until: Option<Rocm>,
    /// The first release of ROCm that needs it.
    pub from: Option<Rocm>,
    /// The calls that it is for.
    pub when: When,
}

impl Rule {
    /// Whether it is for a release.
    pub fn is_for(&self, rocm: Rocm) -> bool {
        self.until.is_none_or(|until| rocm < until) && self.from.is_none_or(|from| rocm >= from)
    }
}

/// A call, as token indices.
pub(crate) struct Call {
    /// The function's name.
    pub name: usize,
    /// Its arguments.
    pub arguments: Vec<Range<usize>>,
    /// The closing parenthesis.
    pub close: usize,
}

/// The call of the function named at `name`; `None` if it is a declaration or something else.
pub(crate) fn call(source: &Source<'_>, name: usize) -> Option<Call> {
    if !source.is(name + 1, b'(') || !source.together(name, name + 1) {
        return None;
    }
    if let Some(before) = name.checked_sub(1).filter(|before| source.together(*before, name)) {
        let keyword =
            matches!(source.bytes(before), b"return" | b"else" | b"do" | b"throw" | b"co_return" | b"case");
        let named =
            source.kind_is(before, TokenKind::Identifier) && !keyword && !source.is_macro_name(before);
        if named || source.is(before, b'.') || source.kind_is(before, TokenKind::Arrow) {
            return None;
        }
    }
    let close = source.partner(name + 1)?;
    Some(Call { name, arguments: source.arguments(name + 2..close), close })
}

/// Whether the word at `at` may precede an expression: any other word before a name makes it a declaration.
pub(crate) fn is_statement(source: &Source<'_>, at: usize) -> bool {
    matches!(
        source.bytes(at),
        b"return" | b"else" | b"do" | b"throw" | b"co_return" | b"co_await" | b"co_yield" | b"case"
    )
}

/// Applies one rule to a call. Returns whether it changed anything; for a mask, whether the reader should
/// look at it.
pub(crate) fn apply(
    source: &Source<'_>,
    call: &Call,
    rule: &Rule,
    masks: &mask::Masks,
    edits: &mut Edits,
) -> bool {
    let extent = |argument: usize| {
        call.arguments.get(argument).filter(|tokens| !tokens.is_empty()).map(|tokens| source.extent(tokens))
    };
    let start = |argument: usize| extent(argument).map(|extent| extent.start);
    let Some(end) = source.token(call.close).map(|token| token.start as usize) else { return false };
    let count = call.arguments.len();
    let at = usize::from(rule.argument);
    match rule.action {
        Action::Wrap(text) => {
            let Some(extent) = extent(at) else { return false };
            edits.open(extent.start, format!("{text}("));
            edits.close(extent.end, ")");
        }
        Action::Replace(text) => {
            let Some(extent) = extent(at) else { return false };
            edits.replace(extent, text);
        }
        Action::Add(text) => match start(at) {
            Some(start) => edits.open(start, format!("{text}, ")),
            None => edits.open(end, format!(", {text}")),
        },
        Action::Default(text) => {
            if count != at {
                return false;
            }
            edits.open(end, format!(", {text}"));
        }
        Action::Remove => {
            let Some(extent) = extent(at) else { return false };
            match start(at + 1) {
                Some(next) => edits.replace(extent.start..next, ""),
                None => edits.replace(comma_before(source, call, at).unwrap_or(extent.start)..end, ""),
            }
        }
        Action::Copy { to } => {
            let Some(extent) = extent(at) else { return false };
            insert(edits, extent, start(usize::from(to)), end);
        }
        Action::Move { to, count: moved } => {
            let last = at + usize::from(moved);
            let (Some(first), true) = (extent(at), last <= count) else { return false };
            let Some(stop) = extent(last - 1).map(|extent| extent.end) else { return false };
            insert(edits, first.start..stop, start(usize::from(to)), end);
            match start(last) {
                Some(next) => edits.replace(first.start..next, ""),
                None => edits.replace(comma_before(source, call, at).unwrap_or(first.start)..end, ""),
            }
        }
        Action::Call(text) => {
            let Some(extent) = extent(at) else { return false };
            edits.open(extent.start, format!("{text}("));
            edits.close(end, ")");
        }
        Action::Mask => {
            let Some(tokens) = call.arguments.get(at).filter(|tokens| !tokens.is_empty()) else {
                return false;
            };
            return mask::widen(source, tokens, masks, edits);
        }
        Action::Rename(text) => {
            let Some(name) = source.token(call.name).filter(|_| count == at) else { return false };
            edits.replace(name.range(), text);
        }
        Action::As(_) | Action::Refuse(_) | Action::Doubt(_) => return false,
    }
    true
}

fn insert(edits: &mut Edits, of: Range<usize>, before: Option<usize>, end: usize) {
    match before {
        Some(place) => edits.copy(place, of, "", ", "),
        None => edits.copy(end, of, ", ", ""),
    }
}

fn comma_before(source: &Source<'_>, call: &Call, argument: usize) -> Option<usize> {
    let tokens = call.arguments.get(argument)?;
    let comma = tokens.start.checked_sub(1)?;
    source.token(comma).filter(|token| token.is(b',')).map(|token| token.start as usize)
}
