//! Members of `half2`: CUDA's are halves, HIP's hold their bits, so an access needs a cast.

use std::collections::HashSet;

use crate::source::Source;
use crate::token::TokenKind;

/// The tokens of `v` in the accesses `v.x` and `v.y` to variables declared as `half2`.
pub fn accesses(source: &Source<'_>) -> Vec<usize> {
    let mut found = Vec::new();
    // Variables of the enclosing blocks, one set per block.
    let mut scopes: Vec<HashSet<String>> = vec![HashSet::new()];
    let mut pending: Vec<String> = Vec::new();
    for at in 0..source.tokens.len() {
        if source.is(at, b'{') {
            scopes.push(pending.drain(..).collect());
        } else if source.is(at, b'}') && scopes.len() > 1 {
            scopes.pop();
        } else if source.is(at, b';') {
            pending.clear();
        } else if source.is_word(at, "half2") {
            declared(source, at, &mut pending, &mut scopes);
        } else if source.is(at, b'.') && (source.is_word(at + 1, "x") || source.is_word(at + 1, "y")) {
            let Some(variable) = at.checked_sub(1) else { continue };
            let member = variable
                .checked_sub(1)
                .is_some_and(|before| source.is(before, b'.') || source.kind_is(before, TokenKind::Arrow));
            let qualifier = source.kind_is(at + 2, TokenKind::Scope);
            let Some(name) = source.name(variable).filter(|_| !member && !qualifier) else { continue };
            if scopes.iter().any(|scope| scope.contains(&*name)) && !cast(source, variable) {
                found.push(variable);
            }
        }
    }
    found
}

/// Records the variables that `half2` at `at` declares: parameters for the next block, others for the current
/// one.
fn declared(source: &Source<'_>, at: usize, pending: &mut Vec<String>, scopes: &mut [HashSet<String>]) {
    let before = at.checked_sub(1);
    let parameter = before.is_some_and(|b| source.is(b, b'(') || source.is(b, b','))
        || before.is_some_and(|b| source.is_word(b, "const"))
            && before.is_some_and(|b| b > 0 && (source.is(b - 1, b'(') || source.is(b - 1, b',')));
    let mut name = at + 1;
    if source.is(name, b'&') {
        name += 1;
    }
    while let Some(variable) = source.name(name).filter(|variable| variable != "half2") {
        source.step();
        if source.is(name + 1, b'(') {
            return;
        }
        if parameter {
            pending.push(variable.into_owned());
            return;
        }
        if let Some(scope) = scopes.last_mut() {
            scope.insert(variable.into_owned());
        }
        // `half2 a, b;`
        if !source.is(name + 1, b',') {
            return;
        }
        name += 2;
    }
}

/// Whether the access already is the operand of a cast: `reinterpret_cast<half&>(v.x)`.
fn cast(source: &Source<'_>, variable: usize) -> bool {
    variable >= 6
        && source.is(variable - 1, b'(')
        && source.is(variable - 2, b'>')
        && source.is(variable - 3, b'&')
        && source.is_word(variable - 6, "reinterpret_cast")
}
