//! Runs a random kernel on every engine and compares the results.

use cpu::{Effort, Engine, Forced, Program, Source, Target};
use grid::Workers;

use super::generator::{Case, INPUTS, OUTPUTS, SHARED};
use super::launch::{Shape, launch};
use super::memory::Aligned;

/// How a kernel is compiled, and how many workers run it: all cases in the first two ways, and a share of
/// them in each of the others.
const WAYS: [Way; 17] = [
    Way { turn: (1, 0), processor: "native", mode: Mode::Usual, workers: &[1, 3] },
    Way { turn: (1, 0), processor: "x86-64-v3", mode: Mode::Usual, workers: &[1, 3] },
    Way { turn: (4, 1), processor: "native", mode: Mode::Together(2), workers: &[1] },
    Way { turn: (4, 3), processor: "native", mode: Mode::Together(8), workers: &[1] },
    Way { turn: (4, 0), processor: "x86-64-v3", mode: Mode::Together(2), workers: &[3] },
    Way { turn: (4, 2), processor: "x86-64-v3", mode: Mode::Together(4), workers: &[3] },
    Way { turn: (2, 0), processor: "native", mode: Mode::PerLane, workers: &[3] },
    Way { turn: (2, 1), processor: "x86-64-v3", mode: Mode::PerLane, workers: &[1] },
    Way { turn: (2, 1), processor: "native", mode: Mode::Dispatched(Effort::Least), workers: &[3] },
    Way { turn: (4, 0), processor: "x86-64-v3", mode: Mode::Dispatched(Effort::Light), workers: &[1] },
    Way { turn: (4, 2), processor: "x86-64-v3", mode: Mode::Dispatched(Effort::Least), workers: &[1] },
    Way { turn: (4, 0), processor: "x86-64-v3", mode: Mode::With(Effort::Light), workers: &[1] },
    Way { turn: (4, 1), processor: "native", mode: Mode::With(Effort::Light), workers: &[3] },
    Way { turn: (4, 2), processor: "x86-64-v3", mode: Mode::With(Effort::Least), workers: &[3] },
    Way { turn: (4, 3), processor: "native", mode: Mode::With(Effort::Least), workers: &[1] },
    Way { turn: (4, 1), processor: "x86-64-v3", mode: Mode::With(Effort::Full), workers: &[3] },
    Way { turn: (4, 3), processor: "native", mode: Mode::With(Effort::Full), workers: &[1] },
];

struct Way {
    /// Divisor and remainder of the case numbers that run in this way.
    turn: (u32, u32),
    processor: &'static str,
    mode: Mode,
    workers: &'static [u32],
}

#[derive(Clone, Copy)]
enum Mode {
    /// As programs get it.
    Usual,
    /// Up to this many warps at a time.
    Together(u16),
    /// Lane by lane.
    PerLane,
    /// As a large kernel.
    With(Effort),
    /// As a large kernel, lane by lane.
    Dispatched(Effort),
}

impl Mode {
    fn forced(self) -> Forced {
        let plain = Forced::default();
        match self {
            Mode::Usual => plain,
            Mode::Together(warps) => Forced { warps: Some(warps), ..plain },
            Mode::PerLane => Forced { per_lane: true, ..plain },
            Mode::With(effort) => Forced { effort: Some(effort), ..plain },
            Mode::Dispatched(effort) => Forced { per_lane: true, effort: Some(effort), ..plain },
        }
    }

    fn told(self) -> String {
        match self {
            Mode::Usual => String::new(),
            Mode::Together(warps) => format!(" with {warps} warps together"),
            Mode::PerLane => " lane by lane".into(),
            Mode::With(effort) => format!(" with {} effort", effort.name()),
            Mode::Dispatched(effort) => format!(" lane by lane with {} effort", effort.name()),
        }
    }
}

/// Maximum number of reduction attempts for a failing kernel.
const TRIES: usize = 150;

/// A kernel's results: a word per thread and output, and the words that all threads update.
fn run(program: &Program, workers: &Workers, case: &Case, compiled: bool) -> Result<Vec<u32>, String> {
    let words = |list: &[u32]| -> Vec<u8> { list.iter().flat_map(|w| w.to_le_bytes()).collect() };
    let input = Aligned::new(&words(&case.inputs()));
    let threads = (case.grid * case.block) as usize;
    let mut out = Aligned::zeroed(threads * OUTPUTS * 4);
    let mut all = Aligned::new(&words(&[0, u32::MAX, 0, 0, 0, u32::MAX].repeat(SHARED)[..SHARED]));
    assert_eq!(input.range().1 as usize, INPUTS * 4);
    let shape = Shape { kernel: "k", blocks: case.grid, threads: case.block, compiled };
    launch(program, workers, &shape, &[&input, &out, &all], &3u32.to_le_bytes())?;
    let bytes = [out.bytes(), all.bytes()].concat();
    Ok(bytes.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect())
}

/// Checks that all engines give the same results.
///
/// # Errors
/// The first difference, or why an engine does not run the kernel.
pub fn check(case: &Case) -> Result<(), String> {
    let text = case.text();
    let load = |engine| {
        Program::load(&[Source { name: "random", text: &text }], engine)
            .map_err(|e| format!("{}\n{text}", e.rendered))
    };
    let expected = run(&load(Engine::Interpreter)?, &Workers::new(1), case, false)
        .map_err(|e| format!("interpreted: {e}"))?;
    for way in WAYS.iter().filter(|way| case.seed % way.turn.0 == way.turn.1) {
        let Ok(target) = Target::named(way.processor) else { continue };
        let program = load(Engine::Compiled)?.for_target(target).forced(way.mode.forced());
        for &workers in way.workers {
            let way = format!("{}{}, {workers} workers", way.processor, way.mode.told());
            let got = run(&program, &Workers::new(workers), case, true).map_err(|e| format!("{way}: {e}"))?;
            let wrong: Vec<usize> = (0..got.len()).filter(|&i| got[i] != expected[i]).collect();
            if let Some(&at) = wrong.first() {
                return Err(format!(
                    "{way}: {} words differ; thread {} of blocks of {} left {:#x} instead of {:#x} as output {}",
                    wrong.len(),
                    at / OUTPUTS,
                    case.block,
                    got[at],
                    expected[at],
                    at % OUTPUTS,
                ));
            }
        }
    }
    Ok(())
}

/// Removes statements as long as the case fails in the same way. Returns the smallest case and its error.
pub fn reduced(case: &Case) -> (Case, String) {
    let mut case = case.clone();
    let mut error = check(&case).err().unwrap_or_default();
    let kind = |e: &str| {
        e.split([':', ';'])
            .nth(1)
            .map(|s| s.chars().filter(|c| c.is_alphabetic()).take(12).collect::<String>())
    };
    let mut again = true;
    let mut tries = 0;
    while again && tries < TRIES {
        again = false;
        let mut at = 0;
        while at < case.statements() && tries < TRIES {
            tries += 1;
            let smaller = [false, true].iter().map(|&keep| case.without(at, keep)).find_map(|c| {
                let e = check(&c).err()?;
                (kind(&e) == kind(&error) && c.text().len() < case.text().len()).then_some((c, e))
            });
            match smaller {
                Some((c, e)) => {
                    (case, error) = (c, e);
                    again = true;
                }
                None => at += 1,
            }
        }
    }
    (case, error)
}
