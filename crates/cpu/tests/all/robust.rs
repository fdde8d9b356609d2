//! No text makes loading panic: valid texts with some words changed are loaded, or refused with a message.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use cpu::{Engine, Program, Rules, Source, Target};
use hwtruth::sample;

/// Number of changed texts per seed, in a long run and otherwise.
const ROUNDS: [usize; 2] = [400, 20];
/// One in this many is also compiled, which takes longer.
const COMPILED: usize = 20;

/// Pseudo-random numbers, the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n.max(1) as u64) as usize
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '%' | '$')
}

/// Splits a text into words, and the bytes between them.
fn words(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end =
            if is_word(first) { rest.find(|c| !is_word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        let (word, after) = rest.split_at(end);
        out.push(word);
        rest = after;
    }
    out
}

/// The kind of a word: it can be replaced by words of the same kind.
fn kind(word: &str) -> u8 {
    match word.bytes().next() {
        Some(b'%') => 0,
        Some(b'0'..=b'9') => 1,
        Some(b'a'..=b'z') if word.len() < 4 => 2,
        Some(b'a'..=b'z') => 3,
        Some(b'A'..=b'Z' | b'_' | b'$') => 4,
        Some(b' ' | b'\n' | b'\t') => 5,
        _ => 6,
    }
}

const NUMBERS: [&str; 8] =
    ["0", "1", "7", "64", "4294967295", "0x7fffffffffffffff", "18446744073709551615", "0f7f800000"];

fn changed(seed: &[&str], pool: &[&str], random: &mut Random) -> String {
    let mut words: Vec<&str> = seed.to_vec();
    for _ in 0..1 + random.below(3) {
        let at = random.below(words.len());
        let Some(&old) = words.get(at) else { continue };
        match random.below(8) {
            0 => drop(words.remove(at)),
            1 => words.insert(at, old),
            2 if kind(old) == 1 => words[at] = NUMBERS[random.below(NUMBERS.len())],
            _ => {
                let alike = |w: &&&str| kind(w) == kind(old) && **w != old;
                let start = random.below(pool.len());
                if let Some(new) = pool[start..].iter().chain(pool).find(alike) {
                    words[at] = new;
                }
            }
        }
    }
    words.concat()
}

/// Loads a text and, on success, creates everything that a launch needs. The error is a panic's message with
/// its text.
fn holds(text: &str, engine: Engine) -> Result<bool, String> {
    let load = || {
        let source = [Source { name: "changed.ptx", text }];
        let rules =
            Rules { engine, complete: false, capability: Some(86), max_shared: 101_376, ..Rules::default() };
        match Program::load_by(&source, &rules) {
            Ok(program) => {
                let program = program.for_target(Target::native());
                let image = program.image(0x10_0000);
                assert_eq!(image.len() as u64, program.module().image_size);
                let kernels: Vec<_> = program.module().kernels().map(|k| k.0).collect();
                for kernel in kernels {
                    program.kernel(kernel, [1, 1, 1], [32, 1, 1]);
                }
                true
            }
            Err(error) => {
                assert!(error.log.ends_with('\n'), "no message: {error:?}");
                false
            }
        }
    };
    catch_unwind(AssertUnwindSafe(load)).map_err(|panic| {
        let why =
            panic.downcast_ref::<String>().cloned().or(panic.downcast_ref::<&str>().map(|s| s.to_string()));
        why.unwrap_or_default()
    })
}

#[test]
fn changed_texts_do_not_panic() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut seeds = Vec::new();
    for folder in ["tests/ptx", "tests/probe/ptx", "crates/ptx/tests/data/good"] {
        for entry in std::fs::read_dir(root.join(folder)).expect(folder) {
            let path = entry.expect("an entry").path();
            if path.extension().is_some_and(|e| e == "ptx") {
                seeds.push((path.display().to_string(), std::fs::read_to_string(&path).expect("a text")));
            }
        }
    }
    assert!(seeds.len() > 10, "{} seeds", seeds.len());
    seeds.sort();
    let pool: Vec<&str> = seeds.iter().flat_map(|s| words(&s.1)).collect();
    let rounds = sample::of(ROUNDS[0], ROUNDS[1]);
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut loaded, mut refused) = (0, 0);
    for (name, seed) in &seeds {
        let seed = words(seed);
        for round in 0..rounds {
            let text = changed(&seed, &pool, &mut random);
            let engine = if round % COMPILED == 0 { Engine::Compiled } else { Engine::Interpreter };
            match holds(&text, engine) {
                Ok(true) => loaded += 1,
                Ok(false) => refused += 1,
                Err(why) => panic!("{name}: {why}\n{text}"),
            }
        }
    }
    // Both outcomes must be frequent, otherwise the test shows nothing.
    assert!(loaded > 200 && refused > 200, "{loaded} loaded, {refused} refused");
}
