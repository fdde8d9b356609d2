//! Measures the errors of the approximate functions of one f32 over all 2^32 operands, against f64 functions
//! and the bounds of the PTX manual.
//!
//! `cargo run --release -p cpu --example accuracy [-- [--exact] [FUNCTION...]]` prints a line per function
//! and range, as in `docs/accuracy.md`. `--exact` measures `ANYWARP_EXACT=1`; `ANYWARP_CPU` selects another
//! processor, `ANYWARP_ENGINE` the interpreter.

#[path = "../tests/support/function.rs"]
mod function;
#[path = "../tests/support/launch.rs"]
mod launch;
#[path = "../tests/support/memory.rs"]
mod memory;

use std::process::ExitCode;

use cpu::Target;
use function::{How, Runner, Survey, Worst};
use host::options::{Options, Reading};
use hwtruth::functions::functions;
use hwtruth::manual::Measure;

/// Operands of a launch.
const PART: usize = 1 << 24;

/// Adds what a part of the operands showed.
fn join(all: &mut Survey, part: &Survey) {
    for (own, theirs) in all.worst.iter_mut().zip(&part.worst) {
        if theirs.error > own.error {
            (own.error, own.operand) = (theirs.error, theirs.operand);
        }
    }
    all.wrong += part.wrong;
    all.first_wrong = all.first_wrong.or(part.first_wrong);
}

fn survey(runner: &Runner, name: &str, threads: usize) -> Option<Survey> {
    let mut all = Survey::new(name)?;
    for part in 0..1usize << 32 >> 24 {
        let first = part * PART;
        let values = runner.values(first as u32, 1, PART);
        let share = PART.div_ceil(threads);
        let seen: Vec<Survey> = std::thread::scope(|scope| {
            let parts = values.chunks(share).enumerate().map(|(n, chunk)| {
                let mut own = Survey::new(name).expect("as above");
                scope.spawn(move || {
                    let start = (first + n * share) as u32;
                    chunk.iter().zip(start..=u32::MAX).for_each(|(&got, bits)| own.add(bits, got));
                    own
                })
            });
            let running: Vec<_> = parts.collect();
            running.into_iter().map(|t| t.join().expect("no panic")).collect()
        });
        seen.iter().for_each(|s| join(&mut all, s));
    }
    Some(all)
}

/// An error or a bound as the manual writes them.
fn written(measure: Measure, error: f64) -> String {
    match measure {
        Measure::Ulps => format!("{error:.3} ulp"),
        Measure::Absolute => format!("2^{:.2}", error.log2()),
        Measure::Relative => format!("2^{:.2} relative", error.log2()),
    }
}

fn row(name: &str, w: &Worst) -> String {
    let range = match (w.bound.from, w.bound.to) {
        (0.0, f64::INFINITY) => "all".to_string(),
        (from, to) => format!("{from:.4} to {to:.4}"),
    };
    let (error, bound) = (written(w.bound.measure, w.error), written(w.bound.measure, w.bound.most));
    format!("| `{name}` | {range} | {bound} | {error} | {:e} |", w.operand)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let exact = arguments.iter().any(|a| a == "--exact");
    let names: Vec<&String> = arguments.iter().filter(|a| !a.starts_with("--")).collect();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let functions = match functions() {
        Ok(functions) => functions,
        Err(error) => {
            eprintln!("{error:?}");
            return ExitCode::FAILURE;
        }
    };
    let reading = Reading::of_process();
    reading.complaints().for_each(|complaint| eprintln!("{complaint}"));
    let Options { engine, cpu, .. } = reading.options;
    let how = How { engine, target: Target::of(cpu), exact };
    println!("| function | operands | bound | largest error | at |\n|---|---|---|---|---|");
    let mut bad = false;
    for f in functions {
        let wanted = names.is_empty() || names.iter().any(|n| **n == f.name);
        if !wanted || Survey::new(&f.name).is_none() {
            continue;
        }
        let Some(survey) = survey(&Runner::new(&f, &how, threads as u32), &f.name, threads) else { continue };
        survey.worst.iter().for_each(|w| println!("{}", row(&f.name, w)));
        for complaint in survey.complaints() {
            bad = true;
            println!("{complaint}");
        }
    }
    if bad { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
