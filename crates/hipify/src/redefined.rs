//! Functions that a text defines and HIP's headers define as well, where CUDA's do not: operators on vector
//! types, and atomic operations on floating point. clang finds them ambiguous or refuses the second one.

use std::ops::Range;

use crate::source::Source;
use crate::token::TokenKind;

/// A definition that HIP's headers have, too.
pub struct Redefined {
    /// The token of its name: `operator` or the function's.
    pub at: usize,
    /// The name: `operator*`, `atomicMax`.
    pub name: String,
    /// The type of its parameters.
    pub of: String,
}

/// Atomic operations that HIP has for these pointers.
const ATOMICS: &[(&str, &[&str])] =
    &[("atomicAdd", &["double"]), ("atomicMax", &["float", "double"]), ("atomicMin", &["float", "double"])];

/// The definitions in a text.
pub fn find(source: &Source<'_>) -> Vec<Redefined> {
    let mut found = Vec::new();
    for at in 0..source.tokens.len() {
        if source.is_word(at, "operator") {
            let symbol = |place: &usize| matches!(source.token(*place).map(|token| token.kind), Some(TokenKind::Punct(b)) if b != b'(');
            let symbols = (at + 1..at + 4).take_while(symbol).count();
            let open = at + 1 + symbols;
            let Some(parameters) = parameters(source, open).filter(|all| symbols > 0 && all.len() == 2)
            else {
                continue;
            };
            let types: Vec<String> = parameters.iter().filter_map(|one| kind(source, one)).collect();
            if let [first, second] = &types[..]
                && first == second
                && is_vector(first)
            {
                let symbol: String =
                    (at + 1..open).map(|place| String::from_utf8_lossy(source.bytes(place))).collect();
                found.push(Redefined { at, name: format!("operator{symbol}"), of: first.clone() });
            }
        } else if let Some((name, types)) = ATOMICS.iter().find(|(name, _)| source.is_word(at, name)) {
            let declares = at > 0
                && source.kind_is(at - 1, TokenKind::Identifier)
                && !crate::rules::is_statement(source, at - 1);
            let first = parameters(source, at + 1).filter(|all| declares && all.len() == 2);
            let Some(of) = first.and_then(|all| all.first().and_then(|one| kind(source, one))) else {
                continue;
            };
            if types.contains(&of.as_str()) {
                found.push(Redefined { at, name: (*name).into(), of });
            }
        }
    }
    found
}

/// The parameters of a definition whose list opens at `open`.
fn parameters(source: &Source<'_>, open: usize) -> Option<Vec<Range<usize>>> {
    let close = source.partner(open).filter(|_| source.is(open, b'('))?;
    source.is(close + 1, b'{').then(|| source.arguments(open + 1..close))
}

/// The first word of a parameter that is no qualifier: its type.
fn kind(source: &Source<'_>, parameter: &Range<usize>) -> Option<String> {
    let words = parameter.clone().filter_map(|at| source.name(at));
    let mut types = words.filter(|word| !matches!(&**word, "const" | "volatile" | "struct"));
    types.next().map(std::borrow::Cow::into_owned)
}

/// Whether a word is a vector type such as `float4` or `uchar2`.
fn is_vector(word: &str) -> bool {
    let Some(of) = word.strip_suffix(['1', '2', '3', '4']) else { return false };
    let of = of.strip_prefix('u').unwrap_or(of);
    matches!(of, "char" | "short" | "int" | "long" | "longlong" | "float" | "double")
}
