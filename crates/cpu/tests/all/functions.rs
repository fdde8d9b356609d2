//! The approximate functions: within the manual's bounds and, with `exact`, identical to the hardware. These
//! tests use a sample of the operands; `tests/hw/functions.sh check` and the example `accuracy` use all.

use crate::function::{How, Runner, Survey};
use cpu::{Engine, Target};
use hwtruth::functions::{Function, SUM, TILE, functions, recorded};
use hwtruth::sample;

/// Every way to run kernels on this machine.
fn ways(exact: bool) -> Vec<How> {
    let compiled = ["x86-64-v4", "x86-64-v3"].into_iter().filter_map(|name| Target::named(name).ok());
    let mut ways: Vec<How> = compiled.map(|target| How { engine: Engine::Compiled, target, exact }).collect();
    ways.push(How { engine: Engine::Interpreter, target: Target::native(), exact });
    ways
}

/// The sampled sums: around zero, one and infinity, and some between.
fn sampled(sums: usize, engine: Engine) -> Vec<usize> {
    let edges =
        [0, 7, 8, 0x3ef, 0x3f7, 0x3f8, 0x42e, 0x7e8, 0x7ef, 0x7f7, 0x7f8, 0x808, 0xbf7, 0xbf8, 0xc2f, 0xfff];
    match engine {
        // A sum of 2^20 results takes long; `hardware.rs` covers 2,048 operands of each form.
        Engine::Interpreter => (0..sums).take(usize::from(sums == 1)).collect(),
        Engine::Compiled => {
            let mut list: Vec<usize> =
                edges.into_iter().chain((0..sums).step_by(sample::of(61, 4093))).collect();
            list.retain(|&n| n < sums);
            list
        }
    }
}

/// The sum of the results with this index, as it is recorded.
fn sum(runner: &Runner, function: &Function, index: usize) -> u64 {
    let mut out = vec![0u64; function.sums()];
    let tiles = SUM.min(1 << function.bits) / TILE;
    runner.run("sums", &mut out, tiles as u32, [(index as u64 * (SUM / TILE)) as u32, 0]);
    out[index]
}

#[test]
fn exact_ones_are_the_hardwares() {
    let functions = functions().expect("the table");
    let recorded = recorded(&functions).expect("the recording");
    let mut failures = Vec::new();
    for how in ways(true) {
        for (f, sums) in functions.iter().zip(&recorded) {
            let runner = Runner::new(f, &how, 2);
            let wrong = sampled(sums.len(), how.engine).into_iter().find(|&n| sum(&runner, f, n) != sums[n]);
            failures.extend(wrong.map(|n| format!("{how:?}: {} from operand {:#x} on", f.name, n << 20)));
        }
    }
    assert!(failures.is_empty(), "not the hardware's bits:\n{}", failures.join("\n"));
}

#[test]
fn errors_are_inside_the_manuals_bounds() {
    let mut complaints = Vec::new();
    // The hardware's own cos is not within the bounds: it is off by 2^-20.4 at 4.8257.
    for how in ways(false) {
        for f in functions().expect("the table") {
            let Some(mut survey) = Survey::new(&f.name) else { continue };
            let runner = Runner::new(&f, &how, 2);
            let interpreted = how.engine == Engine::Interpreter;
            let spread = match interpreted {
                true => (0, 1_048_583, 4096),
                false => (0, sample::of(4093, 32_771), sample::of(1 << 20, 1 << 17)),
            };
            // Every exponent with the smallest and the largest fractions.
            let ends = (0..4).flat_map(|n| [n, 0x7f_ffff - n]).map(|first| (first, 1 << 23, 512));
            for (first, step, count) in ends.chain([spread]) {
                for (n, got) in runner.values(first, step, count).into_iter().enumerate() {
                    survey.add(first.wrapping_add(step.wrapping_mul(n as u32)), got);
                }
            }
            complaints.extend(survey.complaints().into_iter().map(|c| format!("{how:?}: {c}")));
        }
    }
    assert!(complaints.is_empty(), "outside the manual's bounds:\n{}", complaints.join("\n"));
}
