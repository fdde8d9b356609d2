//! Rewrites `kernel<<<grid, block, bytes, stream>>>(arguments)` to a call of `hipLaunchKernelGGL`.

use std::ops::Range;

use crate::edit::Edits;
use crate::source::Source;
use crate::survey::Survey;
use crate::token::TokenKind;

/// Maximum number of tokens in a callee: a `<` much earlier does not open its template arguments.
const LONGEST_CALLEE: usize = 512;

/// A launch, as token indices.
#[derive(Debug)]
pub struct Launch {
    /// The kernel, with qualifiers and template arguments.
    pub callee: Range<usize>,
    /// `<<<`.
    pub open: usize,
    /// The arguments between `<<<` and `>>>`, two to four.
    pub configuration: Vec<Range<usize>>,
    /// The first `>` of `>>>`.
    pub close: usize,
    /// The parentheses of the kernel's arguments.
    pub parentheses: (usize, usize),
    /// Whether the kernel must be wrapped in `HIP_KERNEL_NAME`, because a macro would split its template
    /// arguments at their commas.
    pub template: bool,
}

/// Parses the launch whose `<<<` is the token `open`. The error is the reason why it cannot be parsed.
pub fn read(source: &Source<'_>, survey: &Survey, open: usize) -> Result<Launch, &'static str> {
    let callee = callee(source, open).ok_or("the launched kernel cannot be determined")?;
    let close = closing(source, open).ok_or("its '>>>' with the kernel's arguments is missing")?;
    let first = close + 3;
    let last = source.partner(first).ok_or("the parentheses of its arguments do not match")?;
    if source.has_directive(&(open..last)) {
        return Err("its parameters or arguments contain directives");
    }
    let configuration = source.arguments(open + 1..close);
    if !(2..=4).contains(&configuration.len()) || configuration.iter().any(Range::is_empty) {
        return Err("it does not have two to four parameters");
    }
    let name = source.name(last_name(source, &callee)).unwrap_or_default();
    let template = source.is(callee.end - 1, b'>') || survey.kernels.get(&*name).copied().unwrap_or(false);
    Ok(Launch { callee, open, configuration, close, parentheses: (first, last), template })
}

/// The identifier that names the kernel: the callee's last one outside its template arguments.
fn last_name(source: &Source<'_>, callee: &Range<usize>) -> usize {
    let last = callee.end - 1;
    if source.is(last, b'>') {
        opening_angle(source, last, callee.start).map_or(last, |at| at.saturating_sub(1))
    } else {
        last
    }
}

/// The `<` that opens the template arguments closed by the `>` at `at`.
fn opening_angle(source: &Source<'_>, at: usize, lowest: usize) -> Option<usize> {
    let mut depth = 0usize;
    let mut place = at;
    loop {
        source.step();
        match source.token(place)?.kind {
            TokenKind::Punct(b'>') => depth += 1,
            TokenKind::Punct(b'<') => {
                depth -= 1;
                if depth == 0 {
                    return Some(place);
                }
            }
            TokenKind::Punct(b')' | b']' | b'}') => place = source.partner(place)?,
            TokenKind::Punct(b'(' | b'[' | b'{' | b';') => return None,
            _ => {}
        }
        if place <= lowest {
            return None;
        }
        place -= 1;
    }
}

/// The expression before `<<<`, parsed backwards: names with qualifiers, members and template arguments, or a
/// bracketed expression.
fn callee(source: &Source<'_>, open: usize) -> Option<Range<usize>> {
    match source.token(open.checked_sub(1)?)?.kind {
        TokenKind::Identifier | TokenKind::Punct(b'>' | b')' | b']') => {}
        _ => return None,
    }
    let lowest = {
        let from = open.saturating_sub(LONGEST_CALLEE);
        (from..open)
            .rev()
            .inspect(|_| source.step())
            .find(|at| source.is(*at, b';') || !source.together(*at, open))
            .map_or(from, |at| at + 1)
    };
    let mut start = open;
    loop {
        source.step();
        let last = start.checked_sub(1).filter(|at| *at >= lowest)?;
        start = match source.token(last)?.kind {
            TokenKind::Identifier => last,
            TokenKind::Punct(b'>') => {
                let name = opening_angle(source, last, lowest)?.checked_sub(1)?;
                source.kind_is(name, TokenKind::Identifier).then_some(name)?
            }
            TokenKind::Punct(b')' | b']') => {
                let first = source.partner(last)?;
                let before = first.checked_sub(1).filter(|at| *at >= lowest);
                match before {
                    // `table[i]`, `pick(i)`: the preceding name belongs to the callee, unless it is a
                    // keyword.
                    Some(name)
                        if source.kind_is(name, TokenKind::Identifier) && !is_keyword(source, name) =>
                    {
                        name
                    }
                    _ => first,
                }
            }
            _ => return None,
        };
        // Find what joins this to the preceding token.
        let Some(joint) = start.checked_sub(1).filter(|at| *at >= lowest) else { return Some(start..open) };
        let template = source.is_word(joint, "template");
        let joint = if template { joint.checked_sub(1).filter(|at| *at >= lowest)? } else { joint };
        match source.token(joint)?.kind {
            TokenKind::Scope => {
                start = joint;
                let qualified = joint.checked_sub(1).filter(|at| *at >= lowest).is_some_and(|before| {
                    source.is(before, b'>')
                        || source.kind_is(before, TokenKind::Identifier) && !is_keyword(source, before)
                });
                if !qualified {
                    return Some(start..open);
                }
            }
            TokenKind::Punct(b'.') | TokenKind::Arrow | TokenKind::Paste => start = joint,
            _ => return Some(start..open),
        }
    }
}

fn is_keyword(source: &Source<'_>, at: usize) -> bool {
    matches!(
        source.bytes(at),
        b"return" | b"else" | b"do" | b"case" | b"if" | b"while" | b"for" | b"co_return"
    )
}

/// The first `>` of the `>>>` that closes the configuration and is followed by a parenthesis.
fn closing(source: &Source<'_>, open: usize) -> Option<usize> {
    let mut at = open + 1;
    loop {
        source.step();
        let token = source.token(at)?;
        match token.kind {
            // The caller reports directives between the brackets.
            _ if token.directive != 0 && source.token(open)?.directive == 0 => {}
            _ if !source.together(at, open) => return None,
            TokenKind::Punct(b'(' | b'[' | b'{') => at = source.partner(at)?,
            TokenKind::Punct(b';' | b'}' | b')' | b']') | TokenKind::LaunchOpen => return None,
            TokenKind::Punct(b'>') => {
                let adjacent = |a: usize| match (source.token(a), source.token(a + 1)) {
                    (Some(a), Some(b)) => b.is(b'>') && a.end == b.start,
                    _ => false,
                };
                if adjacent(at) && adjacent(at + 1) && source.is(at + 3, b'(') {
                    return Some(at);
                }
            }
            _ => {}
        }
        at += 1;
    }
}

/// Rewrites a launch.
pub fn rewrite(source: &Source<'_>, launch: &Launch, edits: &mut Edits) {
    let callee = source.extent(&launch.callee);
    let (first, last) = launch.parentheses;
    let (Some(paren), Some(end)) = (source.token(first), source.token(last)) else { return };
    let (open, close) = if launch.template {
        ("hipLaunchKernelGGL(HIP_KERNEL_NAME(", ")")
    } else {
        ("hipLaunchKernelGGL(", "")
    };
    edits.open(callee.start, open);
    let mut previous = callee.end;
    let mut text = format!("{close}, ");
    // Joins the parts of the configuration as hipify-clang does, and keeps comments between them.
    for (number, argument) in launch.configuration.iter().enumerate() {
        let extent = source.extent(argument);
        let dimension = number < 2;
        let already = source.is_word(argument.start, "dim3") && source.is(argument.start + 1, b'(');
        let separator =
            if number == 0 { source.token(launch.open) } else { source.token(argument.start - 1) };
        let Some(separator) = separator else { return };
        between(source, previous..extent.start, separator.range(), text, edits);
        if dimension && !already {
            edits.open(extent.start, "dim3(");
            edits.close(extent.end, ")");
        }
        previous = extent.end;
        text = ", ".into();
    }
    let missing = ", 0".repeat(4 - launch.configuration.len());
    let some = first + 1 < last;
    let marks = source.token(launch.close).map_or(0, |token| token.start as usize)..paren.end as usize;
    let next = source.token(first + 1).map_or(end.start, |token| token.start) as usize;
    let tail = if some { format!("{missing}, ") } else { missing };
    between(source, previous..next, marks, tail, edits);
}

/// Replaces the text between two parts with `text`: all of it, or only the punctuation if it contains a
/// comment.
fn between(source: &Source<'_>, gap: Range<usize>, marks: Range<usize>, text: String, edits: &mut Edits) {
    let blank = |range: Range<usize>| {
        source
            .text
            .get(range)
            .is_some_and(|bytes| bytes.iter().all(|b| b.is_ascii_whitespace() || *b == b'\\'))
    };
    if blank(gap.start..marks.start) && blank(marks.end..gap.end) {
        edits.replace(gap, text);
    } else {
        edits.replace(marks, text);
    }
}
