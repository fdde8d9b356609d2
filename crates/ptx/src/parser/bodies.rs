//! Bodies of functions read apart from the module around them, several at a time.
//!
//! The module is read first, with bodies skipped to the brace that closes them; then the bodies, each with the names that were declared
//! before it. Whatever is not as it should be, in the module or in a body, makes [`parse_by`] read the text again in one pass: errors are
//! told by that pass alone.

use std::borrow::Cow;
use std::sync::{Mutex, OnceLock, PoisonError};

use super::{Current, Parser, parse};
use crate::ast::{Body, FuncId, Head, Module};
use crate::diagnostic::Diagnostic;

/// Calls a function for every number below the first argument, in any order, from whatever threads: how the caller shares out work, since
/// this crate knows no threads.
pub type Each<'a> = &'a dyn Fn(usize, &(dyn Fn(usize) + Sync));

/// Bytes of bodies that are read with one parser.
const CHUNK: u32 = 64 << 10;

/// Bytes of a usual statement.
const STATEMENT: u32 = 32;

/// A body that was skipped.
#[derive(Debug)]
pub(crate) struct Later<'s> {
    function: FuncId,
    /// What the function's head declares.
    current: Current<'s>,
    /// Offsets of the opening brace and after the closing one.
    open: u32,
    end: u32,
    visible: (u32, u32),
}

/// As [`parse`], with the bodies of functions shared out by `each`.
///
/// # Errors
/// As [`parse`].
pub fn parse_by(source: &str, each: Each) -> Result<Module, Vec<Diagnostic>> {
    if u32::try_from(source.len()).is_err() {
        return parse(source);
    }
    apart(source, each).map_or_else(|| parse(source), Ok)
}

/// The module; `None` where anything is wrong with the text or unusual.
fn apart(source: &str, each: Each) -> Option<Module> {
    let mut parser = Parser::new(source);
    parser.later = Some(Vec::new());
    parser.module();
    let Parser { later: Some(later), names, module, diagnostics, .. } = parser else { return None };
    let mut owners: Vec<FuncId> = later.iter().map(|l| l.function).collect();
    owners.sort_unstable();
    if !diagnostics.is_empty() || owners.windows(2).any(|w| w.first() == w.last()) {
        return None;
    }
    let mut chunks: Vec<(u32, Vec<Later>)> = Vec::new();
    for one in later {
        let size = one.end - one.open;
        match chunks.last_mut().filter(|c| c.0 < CHUNK) {
            Some((total, list)) => {
                *total += size;
                list.push(one);
            }
            None => chunks.push((size, vec![one])),
        }
    }
    let chunks: Vec<Mutex<Vec<Later>>> = chunks.into_iter().map(|c| Mutex::new(c.1)).collect();
    let done: Vec<OnceLock<Vec<(FuncId, Body)>>> = chunks.iter().map(|_| OnceLock::new()).collect();
    each(chunks.len(), &|n| {
        let (Some(chunk), Some(place)) = (chunks.get(n), done.get(n)) else { return };
        let chunk = std::mem::take(&mut *chunk.lock().unwrap_or_else(PoisonError::into_inner));
        let mut parser = Parser::within(source, Cow::Borrowed(&module), Cow::Borrowed(&names));
        if let Some(bodies) = chunk.into_iter().map(|one| parser.body_of(one)).collect() {
            // Each number comes once.
            let _ = place.set(bodies);
        }
    });
    let bodies: Vec<Vec<(FuncId, Body)>> =
        done.into_iter().map(OnceLock::into_inner).collect::<Option<_>>()?;
    let mut module = module.into_owned();
    for (function, body) in bodies.into_iter().flatten() {
        if let Some(function) = module.functions.get_mut(function.index()) {
            function.head = Head::default();
            function.body = Some(body);
        }
    }
    Some(module)
}

impl<'s> Parser<'s> {
    /// Skips the body that begins here, if bodies are to be read later.
    pub(super) fn put_off(&mut self, function: FuncId) -> bool {
        if self.later.is_none() {
            return false;
        }
        let open = self.token.span.start;
        // A body that cannot be skipped is read here, and no other is put off: so it is seen that something was unusual.
        let Some((mut later, end)) = self.later.take().zip(self.closing_brace(open)) else { return false };
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let visible = (count(self.module.globals.len()), count(self.module.functions.len()));
        let current = std::mem::take(&mut self.current);
        later.push(Later { function, current, open, end, visible });
        self.later = Some(later);
        self.seek(end);
        true
    }

    /// The offset after the brace that closes the one at `open`; `None` where that takes more than to know comments and strings.
    fn closing_brace(&self, open: u32) -> Option<u32> {
        let bytes = self.source.as_bytes();
        let (mut at, mut depth) = (open as usize, 0_usize);
        loop {
            let special = |b: &u8| matches!(b, b'{' | b'}' | b'/' | b'"' | b'#') || !b.is_ascii();
            at += bytes.get(at..)?.iter().position(special)?;
            match bytes.get(at)? {
                b'{' => depth += 1,
                b'}' if depth <= 1 => return u32::try_from(at + 1).ok(),
                b'}' => depth -= 1,
                b'/' if bytes.get(at + 1) == Some(&b'/') => {
                    at += bytes.get(at..)?.iter().position(|b| *b == b'\n' || !b.is_ascii())?;
                    if bytes.get(at) != Some(&b'\n') {
                        return None;
                    }
                }
                b'/' if bytes.get(at + 1) == Some(&b'*') => {
                    let comment = bytes.get(at + 2..)?;
                    let length = comment.windows(2).position(|w| w == b"*/")?;
                    if !comment.get(..length)?.is_ascii() {
                        return None;
                    }
                    at += length + 3;
                }
                b'/' => {}
                b'"' => {
                    let length =
                        bytes.get(at + 1..)?.iter().position(|b| matches!(b, b'"' | b'\\' | b'\n'))?;
                    if bytes.get(at + 1 + length) != Some(&b'"') {
                        return None;
                    }
                    at += length + 1;
                }
                _ => return None,
            }
            at += 1;
        }
    }

    /// The body of a function that was skipped; `None` if it is not as it should be.
    fn body_of(&mut self, later: Later<'s>) -> Option<(FuncId, Body)> {
        self.seek(later.open);
        self.visible = later.visible;
        self.current = later.current;
        self.current.body.statements.reserve(((later.end - later.open) / STATEMENT) as usize);
        let read = self.body();
        let body = std::mem::take(&mut self.current).body;
        let whole = read.is_ok() && self.diagnostics.is_empty() && self.last_end == later.end;
        whole.then_some((later.function, body))
    }
}
