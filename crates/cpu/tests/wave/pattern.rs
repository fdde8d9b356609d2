//! Patterns for lines of text.
//!
//! A pattern lies somewhere in a line, on whole words. `[..]` stands for anything, `$name` for a word: the
//! same one wherever the name comes again in a section. White space is one space.

use std::collections::BTreeMap;

/// The words that names have matched.
pub type Captured = BTreeMap<String, String>;

#[derive(Debug, PartialEq)]
enum Piece {
    Text(String),
    Gap,
    Name(String),
}

/// A pattern for one line.
#[derive(Debug)]
pub struct Pattern(Vec<Piece>);

/// A character of a word: no pattern begins or ends inside a word.
fn in_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Pattern {
    /// Parses a pattern.
    pub fn new(text: &str) -> Pattern {
        let mut pieces = Vec::new();
        let text = spaced(text);
        for (i, part) in text.split("[..]").enumerate() {
            if i > 0 {
                pieces.push(Piece::Gap);
            }
            let mut parts = part.split('$');
            pieces.extend(parts.next().filter(|p| !p.is_empty()).map(|p| Piece::Text(p.to_owned())));
            for part in parts {
                let end = part.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(part.len());
                pieces.push(Piece::Name(part[..end].to_owned()));
                pieces.extend(
                    Some(&part[end..]).filter(|p| !p.is_empty()).map(|p| Piece::Text((*p).to_owned())),
                );
            }
        }
        Pattern(pieces)
    }

    /// Whether it matches a line; new names are bound to the words that they match.
    pub fn matches(&self, line: &str, names: &mut Captured) -> bool {
        let line = spaced(line);
        let begins = |at: usize| {
            let word = line[at..].starts_with(in_word) && !matches!(self.0.first(), Some(Piece::Gap));
            !word || !line[..at].ends_with(in_word)
        };
        for (at, _) in line.char_indices().filter(|(at, _)| begins(*at)) {
            if let Some(met) = self.from(&self.0, &line, at, names.clone()) {
                *names = met;
                return true;
            }
        }
        false
    }

    fn from(&self, pieces: &[Piece], line: &str, at: usize, mut names: Captured) -> Option<Captured> {
        let rest = &line[at..];
        let Some((piece, others)) = pieces.split_first() else {
            let cut = rest.starts_with(in_word) && line[..at].ends_with(in_word);
            // Nothing follows a gap, and a word's end what is no gap.
            return (!cut || matches!(self.0.last(), Some(Piece::Gap))).then_some(names);
        };
        match piece {
            Piece::Text(text) => {
                rest.starts_with(text.as_str()).then(|| self.from(others, line, at + text.len(), names))?
            }
            Piece::Gap => (at..=line.len())
                .filter(|&to| line.is_char_boundary(to))
                .find_map(|to| self.from(others, line, to, names.clone())),
            Piece::Name(name) => {
                // LLVM's names begin with a sigil, wave IR's do not.
                let sign = usize::from(rest.starts_with(['%', '@']));
                // Both may contain dots.
                let letter = |c: char| in_word(c) || c == '.';
                let end = rest[sign..].find(|c| !letter(c)).map_or(rest.len(), |end| sign + end);
                let word = &rest[..end];
                let word = word.trim_end_matches('.');
                if word.is_empty() || names.get(name).is_some_and(|known| known != word) {
                    return None;
                }
                names.insert(name.clone(), word.to_owned());
                self.from(others, line, at + word.len(), names)
            }
        }
    }
}

#[test]
fn patterns_lie_on_whole_words() {
    let met = |pattern: &str, line: &str| Pattern::new(pattern).matches(line, &mut Captured::new());
    assert!(met("v2 stride 1", "    v2 = special.tid.x     ; v2  stride 1, at most 63"));
    assert!(!met("v2 stride 1", "; v2 stride 16") && !met("v2", "v22") && !met("v2", "xv2"));
    assert!(met("load [..] align 4", "  %t1 = load <32 x i32>, ptr %p, align 4"));
    assert!(!met("load [..] align 4", "  %t1 = load <32 x i32>, ptr %p, align 64"));
    assert!(met("add.i32 $a, $a", "v3 = add.i32 v1, v1") && !met("add.i32 $a, $a", "v3 = add.i32 v1, v2"));
    assert!(met("$a = add $b, $b", "%t3 = add %t1, %t1") && !met("$a = add $b, $b", "%t3 = add %t1, %t2"));
    assert!(met("[..]32", "x1032") && met("x[..]", "x1032"));
}

#[test]
fn names_stand_for_the_same_word_everywhere() {
    let mut names = Captured::new();
    assert!(Pattern::new("$sum = add.i32 $a, $b").matches("v3 = add.i32 v1, v2", &mut names));
    assert!(!Pattern::new("store $a").matches("store v2", &mut names));
    assert!(Pattern::new("store $sum").matches("store v3", &mut names));
    assert_eq!(names.len(), 3);
}
