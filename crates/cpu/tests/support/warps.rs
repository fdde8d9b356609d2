//! Runs a kernel whose lanes read words from one buffer and write words to another.

use cpu::{Engine, Program, Source, Target};
use grid::Workers;

use super::launch::{Shape, launch};
use super::memory::Aligned;

/// The engines that are held against each other: a name, the engine, the processor.
pub const ENGINES: [(&str, Engine, &str); 3] = [
    ("interpreted", Engine::Interpreter, "native"),
    ("AVX-512", Engine::Compiled, "x86-64-v4"),
    ("AVX2", Engine::Compiled, "x86-64-v3"),
];

/// What the kernel `k(in, out)` leaves in `out`, `count` words, run by one block; none where this processor cannot run it.
///
/// # Panics
/// The text is wrong, the kernel is not compiled though it has to be, or faults.
pub fn words(
    text: &str,
    (name, engine, processor): (&str, Engine, &str),
    threads: usize,
    input: &[u32],
    count: usize,
) -> Option<Vec<u32>> {
    let target = Target::named(processor).ok()?;
    let program = Program::load(&[Source { name: "k", text }], engine)
        .unwrap_or_else(|e| panic!("{}\n{text}", e.log))
        .for_target(target);
    let bytes: Vec<u8> = input.iter().flat_map(|w| w.to_le_bytes()).collect();
    let (from, mut to) = (Aligned::new(&bytes), Aligned::zeroed(4 * count));
    let shape =
        Shape { kernel: "k", blocks: 1, threads: threads as u32, compiled: engine == Engine::Compiled };
    launch(&program, &Workers::new(1), &shape, &[&from, &to], &[])
        .unwrap_or_else(|fault| panic!("{name}: {fault}\n{text}"));
    let words = to.bytes().as_chunks::<4>().0;
    Some(words.iter().map(|w| u32::from_le_bytes(*w)).collect())
}
