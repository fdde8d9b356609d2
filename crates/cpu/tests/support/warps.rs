//! Runs a kernel whose lanes read words from one buffer and write words to another.

use cpu::{Engine, Program, Source, Target};
use grid::Workers;
use hwtruth::sample::Turn;

use super::launch::{Shape, launch};
use super::memory::Aligned;

/// An engine: its name, the engine, and the processor.
pub type Way = (&'static str, Engine, Target);

/// The engines of this machine that run a case: the interpreter, and compiled code if the case belongs to its
/// part.
pub fn engines(case: &str) -> Vec<Way> {
    let compiled = [("AVX-512", "x86-64-v4"), ("AVX2", "x86-64-v3")];
    let mut all = vec![("interpreted", Engine::Interpreter, Target::native())];
    all.extend(
        compiled.iter().filter_map(|(name, p)| Some((*name, Engine::Compiled, Target::named(p).ok()?))),
    );
    let mine = |(number, way)| (number == 0 || Turn::part(number).takes(case)).then_some(way);
    all.into_iter().enumerate().filter_map(mine).collect()
}

/// The contents of `out`, `count` words, after the kernel `k(in, out)` has run with one block.
///
/// # Panics
/// If the text is invalid, the kernel faults, or it is not compiled although it must be.
pub fn words(
    text: &str,
    (name, engine, target): &Way,
    threads: usize,
    input: &[u32],
    count: usize,
) -> Vec<u32> {
    let program = Program::load(&[Source { name: "k", text }], *engine)
        .unwrap_or_else(|e| panic!("{}\n{text}", e.log))
        .for_target(target.clone());
    let bytes: Vec<u8> = input.iter().flat_map(|w| w.to_le_bytes()).collect();
    let (from, mut to) = (Aligned::new(&bytes), Aligned::zeroed(4 * count));
    let shape =
        Shape { kernel: "k", blocks: 1, threads: threads as u32, compiled: *engine == Engine::Compiled };
    launch(&program, &Workers::new(1), &shape, &[&from, &to], &[])
        .unwrap_or_else(|fault| panic!("{name}: {fault}\n{text}"));
    let words = to.bytes().as_chunks::<4>().0;
    words.iter().map(|w| u32::from_le_bytes(*w)).collect()
}
