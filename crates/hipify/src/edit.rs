//! Edits of a text, collected in any order and applied at once.

use std::ops::Range;

/// The replacement for some bytes.
#[derive(Clone, Debug)]
enum What {
    Text(String),
    /// These bytes of the text, with the edits inside them applied.
    Copy {
        of: Range<usize>,
        before: &'static str,
        after: &'static str,
    },
}

#[derive(Clone, Debug)]
struct Edit {
    start: usize,
    end: usize,
    /// The order of edits at the same offset: closing text first, innermost first; then opening text,
    /// outermost first; then replacements.
    order: (u8, i64),
    what: What,
}

/// The edits of one text.
#[derive(Default)]
pub struct Edits {
    edits: Vec<Edit>,
}

impl Edits {
    fn push(&mut self, start: usize, end: usize, class: u8, what: What) {
        let number = self.edits.len() as i64;
        let order = if class == 0 { (0, -number) } else { (class, number) };
        self.edits.push(Edit { start, end, order, what });
    }

    /// Inserts `text` at the start of a construct.
    pub fn open(&mut self, at: usize, text: impl Into<String>) {
        self.push(at, at, 1, What::Text(text.into()));
    }

    /// Inserts `text` at the end of a construct.
    pub fn close(&mut self, at: usize, text: impl Into<String>) {
        self.push(at, at, 0, What::Text(text.into()));
    }

    /// Replaces bytes. If replacements overlap, the one that starts first wins; of two with the same start,
    /// the longer one.
    pub fn replace(&mut self, range: Range<usize>, text: impl Into<String>) {
        self.push(range.start, range.end.max(range.start), 2, What::Text(text.into()));
    }

    /// Inserts a copy of `of`, with the edits inside `of` applied, at `at`.
    pub fn copy(&mut self, at: usize, of: Range<usize>, before: &'static str, after: &'static str) {
        self.push(at, at, 1, What::Copy { of, before, after });
    }

    /// The ranges of the replaced bytes and the offsets of the insertions.
    pub fn extents(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.edits.iter().map(|edit| edit.start..edit.end)
    }

    /// The edited text, and the number of edits that were visited.
    pub fn apply(mut self, text: &[u8]) -> (Vec<u8>, u64) {
        self.edits.sort_by(|a, b| {
            (a.start, a.order.0)
                .cmp(&(b.start, b.order.0))
                .then_with(|| if a.order.0 == 2 { b.end.cmp(&a.end) } else { a.order.1.cmp(&b.order.1) })
        });
        let mut out = Vec::with_capacity(text.len() + text.len() / 8);
        let mut steps = 0;
        self.render(text, 0..text.len(), true, &mut out, &mut steps);
        (out, steps)
    }

    fn render(&self, text: &[u8], range: Range<usize>, outer: bool, out: &mut Vec<u8>, steps: &mut u64) {
        let first = self.edits.partition_point(|edit| edit.start < range.start);
        let mut cursor = range.start;
        for edit in self.edits.get(first..).unwrap_or(&[]) {
            *steps += 1;
            let beyond = if outer { edit.start > range.end } else { edit.start >= range.end };
            if beyond {
                break;
            }
            // Inside a copy, only replacements apply: the other edits belong to the construct that it is
            // copied from.
            if edit.start < cursor
                || edit.end > range.end
                || !outer && (edit.order.0 != 2 || edit.end == edit.start)
            {
                continue;
            }
            out.extend_from_slice(text.get(cursor..edit.start).unwrap_or(&[]));
            match &edit.what {
                What::Text(new) => out.extend_from_slice(new.as_bytes()),
                What::Copy { of, before, after } => {
                    out.extend_from_slice(before.as_bytes());
                    // A moved argument's deletion starts at the argument but extends beyond it, so it does
                    // not apply inside the copy.
                    self.render(text, of.clone(), false, out, steps);
                    out.extend_from_slice(after.as_bytes());
                }
            }
            cursor = edit.end;
        }
        out.extend_from_slice(text.get(cursor..range.end).unwrap_or(&[]));
    }
}
