//! No text makes the reader of wave IR panic or print what it cannot read, and no text that keeps the rules
//! makes a pass panic or break them.
//!
//! `fuzz/` has the same with coverage (CONTRIBUTING.md, "Fuzzing").

#[path = "support/held.rs"]
mod held;

use std::path::Path;

/// Changed versions of each file.
const CHANGES: u64 = 60;

/// Words with a meaning somewhere, for insertion.
const WORDS: [&str; 32] = [
    "v0",
    "v1",
    "v9",
    "v16777215",
    "v16777217",
    "block0",
    "block1",
    "block9",
    "(",
    ")",
    ": ",
    ", ",
    " = ",
    "+4",
    "-2147483648",
    "99999999999999999999",
    "0x",
    "i1",
    "i32",
    "i64",
    "i128",
    "x4",
    "@",
    "@k",
    " ;",
    "; line ",
    "exit",
    "trap",
    "const.i32 -1",
    "add.i32",
    "special.tid.x",
    "é",
];

/// Random numbers from a seed (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n.max(1) as u64) as usize
    }
}

/// A text with a few changes: words inserted or deleted, lines moved, duplicated or deleted, bytes replaced.
fn changed(text: &str, random: &mut Random) -> String {
    let mut lines: Vec<String> = text.lines().map(String::from).collect();
    for _ in 0..=random.below(3) {
        if lines.is_empty() {
            break;
        }
        let at = random.below(lines.len());
        match random.below(7) {
            0 => drop(lines.remove(at)),
            1 => lines.insert(at, lines[at].clone()),
            2 => {
                let other = random.below(lines.len());
                lines.swap(at, other);
            }
            3 => {
                // A word of another line in place of one.
                let other = lines[random.below(lines.len())].clone();
                let words: Vec<&str> = other.split_whitespace().collect();
                let own: Vec<String> = lines[at].split(' ').map(String::from).collect();
                let (to, from) = (random.below(own.len()), random.below(words.len()));
                let mut own = own;
                if let Some(word) = words.get(from) {
                    own[to] = (*word).to_owned();
                }
                lines[at] = own.join(" ");
            }
            4 => {
                let mut place = random.below(lines[at].len() + 1);
                while !lines[at].is_char_boundary(place) {
                    place -= 1;
                }
                lines[at].insert_str(place, WORDS[random.below(WORDS.len())]);
            }
            5 => {
                let mut bytes = std::mem::take(&mut lines[at]).into_bytes();
                if !bytes.is_empty() {
                    let place = random.below(bytes.len());
                    bytes[place] = random.below(256) as u8;
                }
                lines[at] = String::from_utf8_lossy(&bytes).into_owned();
            }
            _ => {
                let end = random.below(lines[at].len() + 1);
                lines[at] = lines[at].chars().take(end).collect();
            }
        }
    }
    lines.join("\n")
}

#[test]
fn changed_files_hold() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/wave");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("tests/wave can be read")
        .map(|e| e.expect("an entry").path())
        .filter(|p| p.extension().is_some_and(|e| e == "wave"))
        .collect();
    files.sort();
    assert!(!files.is_empty());
    for (n, path) in files.iter().enumerate() {
        let text = std::fs::read_to_string(path).expect("a text");
        held::hold(&text);
        // Directives are comments to the reader.
        let module: String = text
            .lines()
            .skip_while(|l| l.is_empty() || l.starts_with(';'))
            .map(|l| format!("{l}\n"))
            .collect();
        for seed in 0..CHANGES {
            held::hold(&changed(&module, &mut Random((n as u64) << 32 | seed)));
        }
    }
}

#[test]
fn odd_texts_hold() {
    for text in [
        "",
        "\u{0}",
        "kernel @",
        "kernel @ {\n}\n",
        "kernel @k {\n}\n",
        "kernel @k: {\nblock0:\n    exit\n}\n",
        "function @f() ->  {\nblock0:\n    return\n}\n",
        "function @f(i32) -> i32, i32 {\nblock0(v0: i32):\n    return v0, v0\n}\n",
        "function @f(i32) -> i32 external\n",
        "file \nfile a;b\nfile a;b\nkernel @k {\nblock0:\n    exit ; line 3, a;b:4\n}\n",
        "kernel @k {\n    slot0: size 8, align 8 ; \nblock0:\n    exit\n}\n",
        "kernel @k {\nblock0:\n    switch v0, []\n}\n",
        "global @g: offset 0, size 1, align 1\n    bytes é0\n",
        "kernel @k {\n    slot0: size 8, align 8 ; s\nblock0:\n    v0 = local_addr slot0, v0\n    v1 = local_addr slot0v0\n    exit\n}\n",
        "kernel @k {\n    slot0: size 8, align 8 ; s\nblock0:\n    v0 = local_addr slot0, v0\n    exit\n}\n",
        "image: size 18446744073709551615, align 0\n",
    ] {
        held::hold(text);
    }
}

/// Value numbers may be skipped, but a short text cannot allocate much memory in this way.
#[test]
fn short_texts_take_little_memory() {
    let function =
        |n: usize| format!("function @f{n}() {{\nblock0:\n    v9000000 = const.i8 0\n    return\n}}\n");
    assert!(wave::read::read(&function(0)).is_ok());
    let two = wave::read::read(&(function(0) + &function(1)));
    let error = two.map(|_| ()).map_err(|e| e.to_string());
    assert_eq!(error, Err("line 8: v9000000 is too large a number".to_owned()));
}
