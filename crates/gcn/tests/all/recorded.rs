//! Instructions of gfx950, which LLVM 19 does not know: texts that LLVM 22's disassembler gave, and words
//! that it refused (`tests/data/gfx950.txt`: bytes, and the text or a stroke).

use gcn::Target;
use gcn::isa::Decoder;

#[test]
fn instructions_of_gfx950_are_decoded_as_recorded() {
    let decoder = Decoder::new(Target::of_name("gfx950").expect("a target"), 64).expect("a table");
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in include_str!("../data/gfx950.txt").lines() {
        let (bytes, text) = line.split_once(' ').expect("bytes and a text");
        let pairs = bytes.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).expect("digits"));
        let bytes: Vec<u8> = pairs.map(|pair| u8::from_str_radix(pair, 16).expect("a byte")).collect();
        let ours = decoder.decode(&bytes, 0).map(|inst| inst.to_string());
        if ours.as_deref().ok() != (text != "-").then_some(text) {
            wrong.push(format!("{line}\n  ours: {ours:?}"));
        }
        count += 1;
    }
    assert!(wrong.is_empty(), "{} of {count} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 500, "only {count} cases");
}
