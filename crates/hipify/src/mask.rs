//! Masks of lanes. CUDA's have 32 bits. HIP's have 64, since warps of some AMD devices have 64 lanes, and its
//! headers refuse narrower types: widening one is nearly always an error, they say. So a mask of all lanes
//! becomes one of all 64, and any other one is cast.

use std::collections::HashMap;
use std::ops::Range;

use crate::edit::Edits;
use crate::source::Source;
use crate::token::TokenKind;

/// A mask of all lanes; devices with 32 lanes ignore the upper half.
const ALL: &str = "0xffffffffffffffffull";
/// The cast of a mask.
const WIDE: &str = "static_cast<unsigned long long>";

/// What a text tells about a mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lanes {
    /// All lanes, in 32 bits.
    All,
    /// Some lanes by number, in 32 bits.
    Some,
    /// It has 64 bits already.
    Wide,
    /// Unknown.
    Unknown,
}

/// The names of a text whose values are masks.
#[derive(Default)]
pub(crate) struct Masks {
    names: HashMap<String, Lanes>,
}

/// Collects the macros, constants and variables that are masks.
pub(crate) fn survey(source: &Source<'_>) -> Masks {
    let mut masks = Masks::default();
    for at in 0..source.tokens.len() {
        if source.kind_is(at, TokenKind::Hash) && source.is_word(at + 1, "define") {
            let Some(name) = source.name(at + 2) else { continue };
            let glued = source.is(at + 3, b'(')
                && source.token(at + 2).map(|token| token.end)
                    == source.token(at + 3).map(|token| token.start);
            let end = (at + 3..source.tokens.len().min(at + 12))
                .find(|place| !source.together(at, *place))
                .unwrap_or(at + 12);
            let lanes = if glued { Lanes::Unknown } else { masks.read(source, &(at + 3..end)) };
            masks.add(&name, lanes);
        } else if source.is(at, b'=') && at > 1 && !source.is(at + 1, b'=') {
            // `const unsigned name = value;`
            let Some(name) = source.name(at - 1) else { continue };
            let Some(end) = (at + 1..at + 9).find(|place| source.is(*place, b';') || source.is(*place, b','))
            else {
                continue;
            };
            let declared: Vec<&[u8]> =
                (at.saturating_sub(7)..at - 1).rev().map_while(|place| word(source, place)).collect();
            let constant = declared.iter().any(|word| matches!(*word, b"const" | b"constexpr"));
            match masks.read(source, &(at + 1..end)) {
                Lanes::All if constant && !is_wide(&declared) => masks.add(&name, Lanes::All),
                Lanes::Wide if declared.contains(&b"auto".as_slice()) => masks.add(&name, Lanes::Wide),
                _ if !declared.is_empty() => masks.add(&name, width(&declared)),
                _ => {}
            }
        } else if let (Some(name), true) =
            (source.name(at), source.is(at + 1, b';') || source.is(at + 1, b',') || source.is(at + 1, b')'))
        {
            // `uint64_t name;` and parameters
            let declared: Vec<&[u8]> =
                (at.saturating_sub(4)..at).rev().map_while(|place| word(source, place)).collect();
            if is_wide(&declared) {
                masks.add(&name, Lanes::Wide);
            }
        }
    }
    masks
}

/// The identifier at a place, as bytes.
fn word<'a>(source: &Source<'a>, at: usize) -> Option<&'a [u8]> {
    source.kind_is(at, TokenKind::Identifier).then(|| source.bytes(at))
}

fn is_wide(words: &[&[u8]]) -> bool {
    words.iter().any(|word| matches!(*word, b"uint64_t" | b"int64_t" | b"size_t" | b"lane_mask"))
        || words.iter().filter(|word| **word == b"long").count() > 1
}

fn width(words: &[&[u8]]) -> Lanes {
    if is_wide(words) { Lanes::Wide } else { Lanes::Unknown }
}

impl Masks {
    /// Records what a name is; two meanings make it unknown.
    fn add(&mut self, name: &str, lanes: Lanes) {
        self.names
            .entry(name.to_owned())
            .and_modify(|known| {
                if *known != lanes {
                    *known = Lanes::Unknown;
                }
            })
            .or_insert(lanes);
    }

    /// What an expression is.
    fn read(&self, source: &Source<'_>, tokens: &Range<usize>) -> Lanes {
        self.read_nested(source, tokens, 8)
    }

    /// As above, to this depth of brackets.
    fn read_nested(&self, source: &Source<'_>, tokens: &Range<usize>, depth: usize) -> Lanes {
        let Some(depth) = depth.checked_sub(1) else { return Lanes::Unknown };
        let (first, length) = (tokens.start, tokens.len());
        let last = tokens.end.saturating_sub(1);
        if length == 0 {
            return Lanes::Unknown;
        }
        // `(mask)`
        if source.is(first, b'(') && source.partner(first) == Some(last) {
            return self.read_nested(source, &(first + 1..last), depth);
        }
        if length == 1 {
            return match source.name(first) {
                Some(name) if name == "UINT_MAX" || name == "UINT32_MAX" => Lanes::All,
                Some(name) => self.names.get(&*name).copied().unwrap_or(Lanes::Unknown),
                None => {
                    number(source.bytes(first)).map_or(Lanes::Unknown, |(value, wide)| match (value, wide) {
                        (_, true) => Lanes::Wide,
                        (0xffff_ffff, _) => Lanes::All,
                        (value, _) if value > 0xffff_ffff => Lanes::Wide,
                        _ => Lanes::Some,
                    })
                }
            };
        }
        // `~0` and `-1`
        if let Some((value, wide)) = number(source.bytes(last)).filter(|_| length == 2) {
            let all = source.is(first, b'~') && value == 0 || source.is(first, b'-') && value == 1;
            return match (all, wide) {
                (_, true) => Lanes::Wide,
                (true, false) => Lanes::All,
                _ => Lanes::Unknown,
            };
        }
        // `(unsigned)-1` and `(unsigned long long)x`
        if let Some(close) = source.partner(first).filter(|_| source.is(first, b'(')) {
            let words: Option<Vec<&[u8]>> = (first + 1..close).map(|at| word(source, at)).collect();
            if let Some(words) = words.filter(|words| !words.is_empty()) {
                if is_wide(&words) {
                    return Lanes::Wide;
                }
                if words.iter().all(|word| is_narrow(word)) {
                    return self.read_nested(source, &(close + 1..tokens.end), depth);
                }
            }
        }
        let Some(name) = source.name(first) else { return Lanes::Unknown };
        // `static_cast<unsigned long long>(x)`
        if matches!(&*name, "static_cast" | "reinterpret_cast") && source.is(first + 1, b'<') {
            let words: Vec<&[u8]> = (first + 2..tokens.end).map_while(|at| word(source, at)).collect();
            let open = first + 2 + words.len() + 1;
            if source.partner(open) == Some(last) {
                if is_wide(&words) {
                    return Lanes::Wide;
                }
                if words.iter().all(|word| is_narrow(word)) {
                    return self.read_nested(source, &(open + 1..last), depth);
                }
            }
            return Lanes::Unknown;
        }
        // A call, or a type's.
        if source.is(first + 1, b'(') && source.partner(first + 1) == Some(last) {
            return match &*name {
                "__activemask" | "__ballot" | "__ballot_sync" | "__match_any_sync" | "__match_all_sync"
                | "uint64_t" => Lanes::Wide,
                _ if is_narrow(name.as_bytes()) => self.read_nested(source, &(first + 2..last), depth),
                _ => Lanes::Unknown,
            };
        }
        Lanes::Unknown
    }
}

/// Whether the words before a variable declare it with 32 bits.
pub(crate) fn is_narrow_type(source: &Source<'_>, words: impl Iterator<Item = usize>) -> bool {
    let words: Vec<&[u8]> = words.map(|at| source.bytes(at)).collect();
    words.iter().any(|word| is_narrow(word)) && !words.contains(&b"long".as_slice()) && !is_wide(&words)
}

fn is_narrow(word: &[u8]) -> bool {
    matches!(word, b"unsigned" | b"int" | b"uint" | b"uint32_t" | b"int32_t")
}

/// The value of an integer literal, and whether its suffix makes it 64 bits wide.
fn number(text: &[u8]) -> Option<(u64, bool)> {
    let text = std::str::from_utf8(text).ok()?.replace('\'', "").to_ascii_lowercase();
    let digits = text.trim_end_matches(['u', 'l']);
    let wide = text[digits.len()..].contains('l');
    let value = match (digits.strip_prefix("0x"), digits.strip_prefix("0b")) {
        (Some(hex), _) => u64::from_str_radix(hex, 16),
        (_, Some(binary)) => u64::from_str_radix(binary, 2),
        _ => digits.parse(),
    };
    Some((value.ok()?, wide))
}

/// Widens a mask. Returns whether it may lack the upper lanes.
pub(crate) fn widen(source: &Source<'_>, tokens: &Range<usize>, masks: &Masks, edits: &mut Edits) -> bool {
    let extent = source.extent(tokens);
    let lanes = masks.read(source, tokens);
    match lanes {
        Lanes::Wide => return false,
        Lanes::All => edits.replace(extent, ALL),
        Lanes::Some | Lanes::Unknown => {
            edits.open(extent.start, format!("{WIDE}("));
            edits.close(extent.end, ")");
        }
    }
    lanes == Lanes::Unknown
}
