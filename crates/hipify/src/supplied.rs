//! Functions of CUDA's that HIP lacks and the translation defines: where the definitions go, and their text.

use crate::directives::Directives;
use crate::source::Source;
use crate::token::TokenKind;
use crate::{includes, packed};

/// Marks what the translation inserted.
const COMMENT: &str = "// Functions of CUDA's that HIP lacks, inserted by anywarp hipify";

/// The definitions of some functions. HIP on NVIDIA has these functions, and so have Anywarp's headers.
/// Another file of the same program may define them, too: each is marked by a macro of its name.
pub fn text<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let mut out =
        format!("\n{COMMENT}\n#if defined(__HIP_PLATFORM_AMD__) && !defined(ANYWARP_GPU_LANGUAGE)\n");
    for name in names {
        if let Some(definition) = packed::definition(name).or_else(|| access(name)) {
            out += &format!("#ifndef {name}\n#define {name} {name}\n{definition}#endif\n");
        } else if let Some((parameter, value)) = expansion(name) {
            out += &format!("#ifndef {name}\n#define {name}({parameter}) {value}\n#endif\n");
        }
    }
    out + "#endif\n"
}

/// Whether a translation defines this function.
pub fn has(name: &str) -> bool {
    packed::is_defined(name) || access(name).is_some() || expansion(name).is_some()
}

/// The definition of a load or store with a hint for caches, without the hint: HIP's compiler has one for
/// numbers, but not for vectors such as `float4`.
fn access(name: &str) -> Option<String> {
    let template = |kinds: &str| format!("template <{kinds}> static inline __device__");
    match name {
        "__stcg" | "__stcs" | "__stwb" | "__stwt" => {
            Some(format!("{} void {name}(T *p, V v) {{ *p = v; }}\n", template("class T, class V")))
        }
        "__ldlu" => Some(format!("{} T {name}(const T *p) {{ return *p; }}\n", template("class T"))),
        _ => None,
    }
}

/// The parameter of a macro for the host, and what it becomes.
fn expansion(name: &str) -> Option<(&'static str, &'static str)> {
    match name {
        // hipCUB has CubDebug only.
        "CubDebugExit" => Some(("e", "if (HipcubDebug((e))) { exit(1); }")),
        _ => None,
    }
}

/// A conditional block that is open.
struct Block {
    /// The directive that began this branch.
    branch: usize,
    /// The number of open braces before the block.
    braces: usize,
}

/// Follows the conditional blocks of a text and its braces.
#[derive(Default)]
struct Walk {
    blocks: Vec<Block>,
    braces: usize,
}

impl Walk {
    fn token(&mut self, source: &Source<'_>, at: usize) {
        source.step();
        match source.token(at).map(|token| (token.kind, token.directive)) {
            Some((TokenKind::Punct(b'{'), 0)) => self.braces += 1,
            Some((TokenKind::Punct(b'}'), 0)) => self.braces = self.braces.saturating_sub(1),
            Some((TokenKind::Hash, _)) if source.together(at, at + 1) => match source.bytes(at + 1) {
                b"if" | b"ifdef" | b"ifndef" => self.blocks.push(Block { branch: at, braces: self.braces }),
                b"else" | b"elif" | b"elifdef" | b"elifndef" => {
                    if let Some(block) = self.blocks.last_mut() {
                        block.branch = at;
                        self.braces = block.braces;
                    }
                }
                b"endif" => drop(self.blocks.pop()),
                _ => {}
            },
            _ => {}
        }
    }

    /// How many of the outermost open branches are among `branches`.
    fn common(&self, branches: &[usize]) -> usize {
        self.blocks.iter().zip(branches).take_while(|(block, branch)| block.branch == **branch).count()
    }
}

/// The offset where functions with these uses are defined: after the last include above them that the
/// preprocessor reaches whenever it reaches a use. `limit` is the first token that needs the definitions.
/// `None` if there is no such include.
fn after_includes(source: &Source<'_>, uses: &[usize], limit: usize) -> Option<usize> {
    let mut walk = Walk::default();
    let mut branches: Option<Vec<usize>> = None;
    let mut at = 0;
    for place in uses {
        while at < *place {
            walk.token(source, at);
            at += 1;
        }
        match &mut branches {
            None => branches = Some(walk.blocks.iter().map(|block| block.branch).collect()),
            Some(branches) => branches.truncate(walk.common(branches)),
        }
    }
    let branches = branches.unwrap_or_default();
    let mut walk = Walk::default();
    let (mut included, mut found) = (false, None);
    for at in 0..limit {
        walk.token(source, at);
        let Some(token) = source.token(at) else { break };
        if token.kind == TokenKind::Hash && walk.braces == 0 {
            included |= source.together(at, at + 1)
                && (source.is_word(at + 1, "include") || source.is_word(at + 1, "include_next"));
        }
        // Not after a line that a raw string continues.
        included &= token.directive == 0 || token.kind != TokenKind::Text;
        let ends = token.directive != 0 && !source.together(at, at + 1);
        if ends && included && walk.braces == 0 && walk.common(&branches) == walk.blocks.len() {
            (found, included) = (Some(token.end as usize), false);
        }
    }
    found.and_then(|end| line_end(source.text, end))
}

/// The offset after the line end that ends the directive whose last token ends at `at`. `None` in a comment
/// that does not end.
fn line_end(text: &[u8], mut at: usize) -> Option<usize> {
    let starts = |at: usize, what: &[u8]| text.get(at..).is_some_and(|rest| rest.starts_with(what));
    let find = |from: usize, what: &[u8]| {
        let place = text.get(from..).unwrap_or(&[]).windows(what.len()).position(|bytes| bytes == what);
        place.map(|place| from + place)
    };
    while at < text.len() {
        at = match text.get(at) {
            Some(b'\n') => return Some(at + 1),
            Some(b'\\') if starts(at, b"\\\n") => at + 2,
            Some(b'\\') if starts(at, b"\\\r\n") => at + 3,
            // A comment of several lines does not end the directive.
            Some(b'/') if starts(at, b"/*") => find(at + 2, b"*/")? + 2,
            Some(b'/') if starts(at, b"//") => {
                // A splice continues the comment.
                let newline = |from: usize| find(from, b"\n").unwrap_or(text.len());
                let mut end = newline(at);
                while end > 0 && (text.get(end - 1) == Some(&b'\\') || end > 1 && starts(end - 2, b"\\\r\n"))
                {
                    end = if end < text.len() { newline(end + 1) } else { break };
                }
                end
            }
            _ => at + 1,
        };
    }
    Some(text.len())
}

/// The offset for the definitions of functions that are used at `uses`, in order, and whether they need the
/// runtime's header before them there.
pub fn place(
    source: &Source<'_>,
    directives: &Directives,
    uses: &[usize],
    bodies: &[std::ops::Range<usize>],
    top: usize,
) -> (usize, bool) {
    // A macro needs the functions where it is used, which is in a body after it.
    let in_macro = |at: usize| source.token(at).is_some_and(|token| token.directive != 0);
    let body_after = |at: usize| bodies.get(bodies.partition_point(|body| body.start < at));
    let needs = |at: &usize| match in_macro(*at) {
        true => body_after(*at).map_or(source.tokens.len(), |body| body.start),
        false => *at,
    };
    let limit = uses.iter().map(needs).min().unwrap_or(0);
    match after_includes(source, uses, limit) {
        Some(place) => (place, false),
        None => (includes::top(directives).unwrap_or(top), true),
    }
}
