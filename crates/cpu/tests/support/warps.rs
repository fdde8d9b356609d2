//! Runs a kernel whose lanes read words from one buffer and write words to another.

use cpu::{Engine, Program, Source, Target};
use grid::{Heap, Host, Launch, Workers};

struct Memory {
    ranges: [(u64, u64); 2],
    heap: Heap,
}

impl Host for Memory {
    fn accessible(&self, address: u64, size: u32, _write: bool) -> bool {
        let end = address.saturating_add(u64::from(size));
        self.ranges.iter().any(|&(start, len)| address >= start && end <= start + len)
    }

    fn print(&self, text: &[u8]) {
        panic!("nothing is to be printed, but {:?} was", String::from_utf8_lossy(text));
    }

    fn heap(&self) -> &Heap {
        &self.heap
    }
}

/// Words as kernels like them: aligned to 256 bytes.
#[derive(Clone)]
#[repr(C, align(256))]
struct Line([u32; 64]);

fn lines(words: &[u32], count: usize) -> Vec<Line> {
    let mut all = vec![Line([0; 64]); count.div_ceil(64) + 1];
    for (to, &from) in all.iter_mut().flat_map(|l| &mut l.0).zip(words) {
        *to = from;
    }
    all
}

/// The engines that are held against each other: a name, the engine, the processor.
pub const ENGINES: [(&str, Engine, &str); 3] = [
    ("interpreted", Engine::Interpreter, "native"),
    ("AVX-512", Engine::Compiled, "x86-64-v4"),
    ("AVX2", Engine::Compiled, "x86-64-v3"),
];

/// What the kernel `k(in, out)` leaves in `out`, `count` words, run by blocks of `block` threads; none where this processor cannot run it.
///
/// # Panics
/// The text is wrong, the kernel is not compiled though it has to be, or faults.
pub fn words(
    text: &str,
    (name, engine, processor): (&str, Engine, &str),
    [blocks, block]: [u32; 2],
    input: &[u32],
    count: usize,
) -> Option<Vec<u32>> {
    let target = Target::named(processor).ok()?;
    let program = Program::load(&[Source { name: "k", text }], engine)
        .unwrap_or_else(|e| panic!("{}\n{text}", e.log))
        .for_target(target);
    let kernel = program.module().function("k").expect("a kernel");
    let info = program.module().functions[kernel.index()].kernel.as_ref().expect("a kernel");
    let (from, mut to) = (lines(input, input.len()), lines(&[], count));
    let range = |at: *const Line, lines: usize| (at as u64, lines as u64 * 256);
    let ranges = [range(from.as_ptr(), from.len()), range(to.as_mut_ptr(), to.len())];
    let params: Vec<u8> = ranges.iter().flat_map(|(address, _)| address.to_le_bytes()).collect();
    let memory = Memory { ranges, heap: Heap::new(1 << 16) };
    let (grid, block) = ([blocks, 1, 1], [block, 1, 1]);
    let kernel = program.kernel(kernel, grid, block).expect("code");
    let refused = kernel.refused.as_deref().unwrap_or("no reason");
    assert!(engine != Engine::Compiled || kernel.report.is_some(), "{name}: not compiled: {refused}\n{text}");
    Workers::new(1)
        .run(&Launch {
            name: "k",
            code: &*kernel.code,
            grid,
            block,
            params: &params,
            image: 0,
            shared: [info.shared_size as u32, 0],
            stack: 0,
            cluster: None,
            cooperative: false,
            id: 1,
            host: &memory,
        })
        .unwrap_or_else(|fault| panic!("{name}: {fault}\n{text}"));
    Some(to.iter().flat_map(|l| l.0).take(count).collect())
}
