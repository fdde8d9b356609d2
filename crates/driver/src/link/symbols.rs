//! The symbols of a PTX text, found without parsing it, by which the linker knows what texts have to do with
//! each other.

use std::collections::HashMap;

/// How a text has a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strength {
    /// It uses the symbol of another text.
    Declared,
    /// It defines the symbol unless another text does.
    Weak,
    /// It defines the symbol.
    Defined,
}

/// A symbol of a text that other texts may refer to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Symbol {
    pub name: String,
    pub strength: Strength,
    pub is_kernel: bool,
}

/// The symbols of a text. Each is the first word of a header with a linkage, apart from directives and text
/// in parentheses.
pub(super) fn symbols(text: &[u8]) -> Vec<Symbol> {
    let text = String::from_utf8_lossy(text);
    // A declaration that an alias defines.
    let has_aliases = text.contains(".alias");
    let mut symbols = Vec::new();
    for header in text.split_inclusive([';', '{', '}']) {
        let starts = [".visible", ".weak", ".extern", ".common", ".entry"];
        let Some(at) = starts.iter().filter_map(|start| header.find(start)).min() else { continue };
        let mut depth = 0u32;
        let mut flat = String::new();
        for c in header.get(at..).unwrap_or_default().chars() {
            match c {
                '(' => depth = depth.saturating_add(1),
                ')' => depth = depth.saturating_sub(1),
                '=' | '[' | ';' | '{' | '}' => break,
                _ if depth == 0 => flat.push(c),
                _ => {}
            }
        }
        let has = |word: &str| flat.split_whitespace().any(|one| one == word);
        let is_body = header.ends_with('{');
        let strength = match () {
            () if has(".extern") => Strength::Declared,
            () if has(".func") && !is_body && !has_aliases => Strength::Declared,
            () if has(".weak") || has(".common") => Strength::Weak,
            () => Strength::Defined,
        };
        let is_name = |w: &&str| w.starts_with(|c: char| c.is_ascii_alphabetic() || "_$%".contains(c));
        if let Some(name) = flat.split_whitespace().find(is_name) {
            symbols.push(Symbol { name: name.into(), strength, is_kernel: has(".entry") });
        }
    }
    symbols
}

/// The symbols of a link's inputs.
#[derive(Default)]
pub(super) struct Index(HashMap<String, Uses>);

/// The inputs that have a symbol, by number.
#[derive(Default)]
struct Uses {
    /// The definition that counts: the first of the strongest.
    definition: Option<(Strength, usize)>,
    declared: Vec<usize>,
}

impl Index {
    /// The earlier inputs with which one that has these symbols must be checked: those that define what it
    /// declares, declare what it defines, or define the same.
    pub fn related(&self, symbols: &[Symbol]) -> Vec<usize> {
        let mut related = Vec::new();
        for symbol in symbols {
            let Some(uses) = self.0.get(&symbol.name) else { continue };
            match (symbol.strength, uses.definition) {
                (Strength::Declared, definition) => related.extend(definition.map(|(_, input)| input)),
                (Strength::Defined, Some((Strength::Defined, input))) => related.push(input),
                (own, definition) if definition.is_none_or(|(strength, _)| own > strength) => {
                    related.extend(&uses.declared);
                }
                // The other definition counts.
                _ => {}
            }
        }
        related.sort_unstable();
        related.dedup();
        related
    }

    /// Adds an input's symbols.
    pub fn add(&mut self, input: usize, symbols: Vec<Symbol>) {
        for Symbol { name, strength, .. } in symbols {
            let uses = self.0.entry(name).or_default();
            match (strength, uses.definition) {
                (Strength::Declared, _) => uses.declared.push(input),
                (own, Some((other, _))) if own <= other => {}
                (own, _) => uses.definition = Some((own, input)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_of_a_text() {
        let text = b".version 7.0\n.target sm_70\n.address_size 64\n.extern .func out(.param .b32 a);\n\
            .visible .func (.param .b64 r) f(.param .b32 a)\n{ .reg .b32 %r; ret; }\n.weak .func\n g\n(\n.param .b32 a\n) .noreturn\n{ }\n\
            .func hidden() { ret; }\n.visible .global .align 4 .b8 table[4] = {1, 2, 3, 4};\n.visible .func later(.param .b32 a);\n\
            .extern .global .u32 there;\n.common .global .u32 shared;\n.entry k(.param .u64 p) { ret; }";
        use Strength::{Declared, Defined, Weak};
        let found: Vec<_> = symbols(text).into_iter().map(|s| (s.name, s.strength, s.is_kernel)).collect();
        let rows = [
            ("out", Declared, false),
            ("f", Defined, false),
            ("g", Weak, false),
            ("table", Defined, false),
            ("later", Declared, false),
            ("there", Declared, false),
            ("shared", Weak, false),
            ("k", Defined, true),
        ];
        assert_eq!(found, rows.map(|(name, strength, kernel)| (name.to_owned(), strength, kernel)));
    }

    #[test]
    fn an_input_is_checked_with_those_that_it_has_to_do_with() {
        use Strength::{Declared, Defined, Weak};
        let list = |all: &[(&str, Strength)]| -> Vec<Symbol> {
            let symbol = |&(name, strength): &(&str, Strength)| Symbol {
                name: name.into(),
                strength,
                is_kernel: false,
            };
            all.iter().map(symbol).collect()
        };
        let mut index = Index::default();
        index.add(0, list(&[("a", Defined), ("shared", Weak)]));
        index.add(1, list(&[("b", Defined), ("a", Declared), ("later", Declared)]));
        index.add(2, list(&[("c", Defined), ("a", Declared), ("shared", Weak)]));
        assert_eq!(index.related(&list(&[("d", Defined), ("shared", Weak)])), []);
        assert_eq!(index.related(&list(&[("a", Declared), ("shared", Declared)])), [0]);
        assert_eq!(index.related(&list(&[("c", Defined), ("later", Defined)])), [1, 2]);
        assert_eq!(index.related(&list(&[("later", Weak)])), [1]);
        assert_eq!(index.related(&list(&[("a", Weak)])), [], "the definition stays");
    }
}
