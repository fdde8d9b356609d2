//! Headers: replaces each CUDA header with its counterpart once, and adds the runtime's header, which the
//! CUDA compiler includes implicitly.

use std::collections::HashSet;

use crate::directives::Directives;
use crate::edit::Edits;
use crate::options::{Rocm, Target};
use crate::source::Source;
use crate::table::{self, Api, Entry, Kind};
use crate::token::TokenKind;

/// The header that every HIP source needs.
pub const RUNTIME: &str = "hip/hip_runtime.h";

/// The outcome for an include.
pub enum Outcome {
    /// Rewritten or removed.
    Converted,
    /// Left unchanged: it has no counterpart.
    Unsupported,
}

/// The headers that the text includes so far.
#[derive(Default)]
pub struct Included {
    main: HashSet<Api>,
    main_v2: HashSet<Api>,
    /// Counterparts shared by several CUDA headers.
    shared: HashSet<&'static str>,
    /// Whether the runtime's header is included.
    pub runtime: bool,
}

impl Included {
    /// Whether the library's `_v2` header is included.
    pub fn has_v2(&self, api: Api) -> bool {
        self.main_v2.contains(&api)
    }

    /// Whether the header's counterpart is already included, or none needs to be written.
    fn superfluous(&mut self, entry: &Entry, name: &'static str, target: Target) -> bool {
        let roc = entry.to_roc(target);
        match (entry.kind, entry.api) {
            (Kind::IncludeCudaMainHeader, Api::Driver | Api::Runtime) => {
                std::mem::replace(&mut self.runtime, true)
            }
            // rocRAND has one header per generator.
            (Kind::IncludeCudaMainHeader, Api::Rand) => !roc && !self.shared.insert(name),
            (Kind::IncludeCudaMainHeader, Api::Caffe2 | Api::Cub | Api::Rtc) => false,
            (Kind::IncludeCudaMainHeader, api) => !self.main.insert(api),
            (Kind::IncludeCudaMainHeaderV2, api) => !self.main_v2.insert(api) || self.main.contains(&api),
            _ if entry.hip.is_empty() => true,
            (_, Api::Rand) => {
                let shared = matches!(
                    name,
                    "hiprand/hiprand_kernel.h"
                        | "rocrand/rocrand_discrete.h"
                        | "rocrand/rocrand_mtgp32.h"
                        | "rocrand/rocrand_normal.h"
                );
                shared && !self.shared.insert(name)
            }
            _ => false,
        }
    }
}

/// Rewrites the includes of a text; calls `report` with each CUDA header and its position.
pub fn rewrite(
    source: &Source<'_>,
    directives: &Directives,
    (target, rocm): (Target, Rocm),
    edits: &mut Edits,
    mut report: impl FnMut(&'static Entry, usize, Outcome),
) -> Included {
    let mut included = Included::default();
    let mut statements = Statements::new(source);
    for include in &directives.includes {
        if include.path == RUNTIME {
            included.runtime = true;
        }
        let Some(entry) = table::header(&include.path) else { continue };
        let name = entry.replacement(target, rocm);
        let superfluous = included.superfluous(entry, name, target);
        if entry.unsupported(target, rocm) {
            report(entry, include.name.start, Outcome::Unsupported);
            continue;
        }
        report(entry, include.name.start, Outcome::Converted);
        if superfluous {
            // An empty directive stays inside a statement: launches and calls that contain directives are
            // left unchanged, in a second run too.
            let left = if statements.between(include.hash) { "" } else { "#" };
            edits.replace(include.hash..include.name.end, left);
        } else if include.angled {
            edits.replace(include.name.clone(), format!("<{name}>"));
        } else {
            edits.replace(include.name.clone(), format!("\"{name}\""));
        }
    }
    included
}

/// Tells directives between statements from those inside one; asked in the text's order.
struct Statements<'s, 'a> {
    source: &'s Source<'a>,
    /// The next token to visit.
    next: usize,
    /// The last visited token outside directives.
    previous: Option<usize>,
    /// The furthest closing bracket of those that are open.
    closing: usize,
    /// The first token after the last directives that were looked past.
    after: usize,
}

impl<'s, 'a> Statements<'s, 'a> {
    fn new(source: &'s Source<'a>) -> Self {
        Statements { source, next: 0, previous: None, closing: 0, after: 0 }
    }

    /// Whether the directive at this offset stands between declarations, outside brackets other than those of
    /// `extern "C"` and namespaces.
    fn between(&mut self, hash: usize) -> bool {
        let source = self.source;
        while let Some(token) = source.token(self.next).filter(|token| (token.start as usize) < hash) {
            source.step();
            if token.directive == 0 {
                if !self.opens_scope(self.next) {
                    self.closing = self.closing.max(source.partner(self.next).unwrap_or(0));
                }
                self.previous = Some(self.next);
            }
            self.next += 1;
        }
        if self.closing > self.next {
            return false;
        }
        let Some(previous) = self.previous else { return true };
        if source.is(previous, b';') || self.opens_scope(previous) {
            return true;
        }
        self.after = self.after.max(self.next);
        while source.token(self.after).is_some_and(|token| token.directive != 0) {
            source.step();
            self.after += 1;
        }
        let declares = source.token(self.after).is_none_or(|token| token.kind == TokenKind::Identifier);
        source.is(previous, b'}') && declares
    }

    /// Whether the token is the brace of `extern "C" {` or of `namespace name {`.
    fn opens_scope(&self, at: usize) -> bool {
        let before = |back: usize, word: &str| at >= back && self.source.is_word(at - back, word);
        self.source.is(at, b'{') && (before(1, "namespace") || before(2, "namespace") || before(2, "extern"))
    }
}

/// Inserts the runtime's header after the guard or `#pragma once`, whichever comes first; without them,
/// before the first include; without includes, at the top.
pub fn insert_runtime(directives: &Directives, top: usize, edits: &mut Edits) {
    let first = || directives.includes.first().map_or(top, |include| include.hash);
    edits.open(self::top(directives).unwrap_or_else(first), format!("\n#include <{RUNTIME}>\n"));
}

/// The offset after the include guard's first line or `#pragma once`, whichever comes first.
pub fn top(directives: &Directives) -> Option<usize> {
    match (directives.guard, directives.pragma_once) {
        (Some(guard), Some(once)) => Some(guard.min(once)),
        (guard, once) => guard.or(once),
    }
}
