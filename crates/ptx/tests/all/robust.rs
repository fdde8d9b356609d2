//! No text makes the parser panic, run without end, or print text that it cannot parse.

use proptest::prelude::*;

const SEEDS: [&str; 3] = [
    include_str!("../data/good/basics.ptx"),
    include_str!("../data/bad/operands.ptx"),
    include_str!("../data/bad/syntax.ptx"),
];

/// Words, punctuation and numbers that mutations insert.
const WORDS: [&str; 40] = [
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    ";",
    ",",
    ":",
    "|",
    "!",
    "-",
    "+",
    "@",
    "=",
    "_",
    "%r1",
    "%p1",
    ".reg",
    ".b32",
    ".param",
    ".entry",
    ".func",
    ".v4",
    ".align",
    ".branchtargets",
    ".callprototype",
    "call",
    "bra",
    "ld",
    "0x",
    "0f3F800000",
    "4294967295",
    "18446744073709551615",
    "1.5e999",
    "/*",
    "\"",
    "generic(",
];

fn holds(source: &str) {
    let read = ptx::parse(source);
    let backwards = |count: usize, work: &(dyn Fn(usize) + Sync)| (0..count).rev().for_each(work);
    assert!(ptx::parse_by(source, &backwards) == read, "bodies parsed separately differ");
    match read {
        Ok(module) => {
            let printed = module.to_string();
            if let Err(errors) = ptx::parse(&printed) {
                panic!("printed text is illegal\n{}\n{printed}", ptx::log(&errors, "printed", &printed));
            }
        }
        Err(errors) => {
            assert!(!errors.is_empty() && errors.len() <= ptx::MAX_ERRORS);
            for error in &errors {
                error.render("text", source, true);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        holds(&ptx::text_of(&bytes));
    }

    #[test]
    fn random_words(words in prop::collection::vec(prop::sample::select(&WORDS[..]), 0..80)) {
        holds(&format!(".version 8.0\n.target sm_80\n{}", words.join(" ")));
        holds(&format!(".version 8.0\n.target sm_80\n.entry k() {{ .reg .b32 %r<4>; {} }}", words.join(" ")));
    }

    #[test]
    fn mutated_texts(
        seed in 0..SEEDS.len(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0..12_usize, prop::sample::select(&WORDS[..])), 1..6),
    ) {
        let mut text = SEEDS[seed].as_bytes().to_vec();
        for (at, cut, word) in changes {
            let at = at.index(text.len());
            let end = (at + cut).min(text.len());
            text.splice(at..end, word.bytes());
        }
        holds(&ptx::text_of(&text));
    }
}

/// Texts that are large in one dimension: a parser that is quadratic or recurses without bound fails on them.
#[test]
fn adversarial_texts_end() {
    let kernel = |body: String| format!(".version 8.0\n.target sm_80\n.visible .entry k() {{\n{body}\n}}");
    let module = |body: String| format!(".version 8.0\n.target sm_80\n{body}");
    let n = 100_000;
    let texts = [
        kernel(".reg .b32 %r<4000000000>; mov.u32 %r3999999999, 1;".into()),
        kernel("{".repeat(n)),
        kernel("{}".repeat(n)),
        kernel(format!(".reg .b32 %r; mov.b32 %r, {};", "(".repeat(n))),
        kernel(format!(".reg .b32 %r; mov.b32 %r, {}1;", "-".repeat(n))),
        kernel(format!(".reg .b32 %r; mov.b32 %r, 1{};", "+1".repeat(n))),
        kernel(format!(".reg .b32 %r; mov.b32 %r, 1{};", "?1:1".repeat(n))),
        kernel(format!(".reg .b32 %r; mov.b32 {}", "{".repeat(n))),
        kernel(format!(".reg .b32 %r; ld.u32 %r, {}", "[".repeat(n))),
        kernel(format!("add{} ", ".u32".repeat(n))),
        kernel("bra L;".repeat(n)),
        kernel((0..n).map(|i| format!("L{i}: bra L{};", (i * 7) % n)).collect()),
        kernel((0..20_000).map(|i| format!(".reg .b32 r{i}<5>; {{ .reg .b32 r{i}<5>; }}")).collect()),
        kernel(format!(".reg .b32 %r<9>; mov.b32 %r1, r{};", "1".repeat(n))),
        module(format!(".global .u32 x = {}", "{".repeat(n))),
        module(format!(".global .u32 x[] = {{{}}};", "1,".repeat(n))),
        module(format!(".global .u32 x{};", "[4000000000]".repeat(9))),
        module(format!(".global .u32 x{} = {{1}};", "[1]".repeat(n))),
        module("/*".into()),
        module("\"".into()),
        module("#\n".repeat(n)),
        module(".func f();".repeat(n)),
        module(format!(".section .x {}", "{".repeat(n))),
    ];
    for text in texts {
        holds(&text);
    }
}
