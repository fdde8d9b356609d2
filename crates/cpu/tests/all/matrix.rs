//! Runs every matrix instruction that was recorded on the hardware (`tests/hw/matrix`) on the same fragments.

use crate::launch::{Shape, launch};
use crate::memory::Aligned;
use cpu::{Engine, Forced, Program, Rules, Source, Target};
use grid::Workers;
use hwtruth::matrix::{BLOCK, Form, Recording, THREADS, WARPS, forms, module};
use hwtruth::sample::long;

/// The contents of `out` after the first `blocks` blocks of the form's kernel.
fn run(
    program: &Program,
    workers: &Workers,
    form: &Form,
    compiled: bool,
    blocks: u32,
) -> Result<Vec<u8>, String> {
    let (input, mut out) =
        (Aligned::new(&form.input_bytes(blocks as usize * BLOCK)), Aligned::zeroed(form.output_size()));
    let kernel = form.kernel_name();
    let shape = Shape { kernel: &kernel, blocks, threads: BLOCK as u32, compiled };
    launch(program, workers, &shape, &[&input, &out], &[])?;
    Ok(out.bytes().to_vec())
}

/// How kernels are run.
struct How {
    engine: Engine,
    target: Target,
    forced: Forced,
    /// Blocks per form.
    blocks: u32,
}

/// All recorded blocks, and a part of them where more would be redundant or slow.
const ALL: u32 = (THREADS / BLOCK) as u32;
const SOME: u32 = 8;

fn check_form(how: &How, workers: &Workers, form: &Form, recording: &Recording) -> Result<(), String> {
    let text = module([form]);
    let (engine, blocks) = (how.engine, how.blocks);
    let rules = Rules { engine, exact: true, ..Rules::default() };
    let program = Program::load_by(&[Source { name: &form.name, text: &text }], &rules)
        .map_err(|e| e.log)?
        .for_target(how.target.clone())
        .forced(how.forced.clone());
    let out = run(&program, workers, form, engine == Engine::Compiled, blocks)?;
    let results = recording.results(&form.name).ok_or("not recorded")?;
    let warps = (blocks as usize * BLOCK / 32).min(WARPS);
    let wrong: Vec<(usize, Option<usize>)> =
        (0..warps).filter_map(|w| results.check(w, &form.result(&out, w)).err().map(|at| (w, at))).collect();
    match wrong.first() {
        None => Ok(()),
        Some(&(w, at)) => {
            let place = at.map_or("its hash differs".to_owned(), |at| {
                let (got, wanted) = (form.result(&out, w)[at], results.whole[w][at]);
                format!("word {at} is {got:#010x}, on the hardware {wanted:#010x}")
            });
            Err(format!("{} of {warps} warps wrong; warp {w}: {place}", wrong.len()))
        }
    }
}

/// Runs the forms of a group. `per_lane` forces per-lane mode.
fn check_in_mode(processor: Option<&str>, group: &str, per_lane: bool, blocks: u32) {
    let Some((engine, target)) = crate::groups::engine(processor) else { return };
    let how = How { engine, target, forced: Forced { per_lane, ..Forced::default() }, blocks };
    let workers = Workers::new(2);
    let recording = Recording::of_group(group).expect("the recording");
    let forms = forms().expect("the table");
    crate::groups::hold(
        forms.iter().filter(|f| f.group == group),
        crate::groups::turn(processor, per_lane),
        |f| &f.name,
        |f| check_form(&how, &workers, f, &recording),
    );
}

fn check_group(processor: Option<&str>, group: &str) {
    let all = long() && processor == Some("x86-64-v4");
    check_in_mode(processor, group, false, if all { ALL } else { SOME });
}

groups! { matrix mma mma_sparse wgmma wmma wmma6 }

/// This machine's dot products of bytes.
#[test]
fn native() {
    check_in_mode(Some("native"), "mma", false, SOME);
}

/// In per-lane mode, matrix instructions wait for all lanes.
#[test]
fn lane_by_lane() {
    check_in_mode(Some("native"), "mma", true, SOME);
}
