//! Every matrix instruction that ran on the hardware (`tests/hw/matrix`), run by us on the same fragments.

use std::collections::BTreeSet;

use cpu::{Engine, Program, Source, Target};
use grid::{Heap, Host, Launch, Workers};
use hwtruth::matrix::{BLOCK, Form, Recording, THREADS, WARPS, forms, module};

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
        panic!("no form prints, but got {:?}", String::from_utf8_lossy(text));
    }

    fn heap(&self) -> &Heap {
        &self.heap
    }
}

/// Memory of `bytes`, aligned to 16.
fn buffer(bytes: &[u8]) -> Vec<u128> {
    let word = |c: &[u8]| c.iter().rev().fold(0, |v, &b| v << 8 | u128::from(b));
    bytes.chunks(16).map(word).chain([0]).collect()
}

/// What the form's kernel leaves in `out`, run by the first `blocks` blocks.
fn run(
    program: &Program,
    workers: &Workers,
    form: &Form,
    compiled: bool,
    blocks: u32,
) -> Result<Vec<u8>, String> {
    let name = form.kernel_name();
    let kernel = program.module().function(&name).ok_or("no kernel")?;
    let info = program.module().functions[kernel.index()].kernel.as_ref().ok_or("no kernel")?;
    let input = buffer(&form.input_bytes());
    let out = buffer(&vec![0; form.output_size()]);
    let ranges = [&input, &out].map(|b| (b.as_ptr() as u64, b.len() as u64 * 16));
    let params: Vec<u8> = ranges.iter().flat_map(|(address, _)| address.to_le_bytes()).collect();
    let memory = Memory { ranges, heap: Heap::new(1 << 16) };
    let (grid, block) = ([blocks, 1, 1], [BLOCK as u32, 1, 1]);
    let kernel = program.kernel(kernel, grid, block).ok_or("no code")?;
    if compiled && kernel.report.is_none() {
        return Err(format!("not compiled: {}", kernel.refused.as_deref().unwrap_or("no reason")));
    }
    workers
        .run(&Launch {
            name: &name,
            code: &*kernel.code,
            grid,
            block,
            params: &params,
            image: 0,
            shared: [info.shared_size as u32, 0],
            stack: 0,
            cooperative: false,
            cluster: None,
            id: 1,
            host: &memory,
        })
        .map_err(|fault| format!("fault: {fault}"))?;
    let mut bytes: Vec<u8> = out.iter().flat_map(|w| w.to_le_bytes()).collect();
    bytes.truncate(form.output_size());
    Ok(bytes)
}

/// How kernels are run.
struct How {
    engine: Engine,
    target: Target,
    /// Blocks of each form.
    blocks: u32,
}

/// All blocks that were recorded, and some of them where that would tell nothing new or is slow.
const ALL: u32 = (THREADS / BLOCK) as u32;
const SOME: u32 = 8;

fn check_form(how: &How, workers: &Workers, form: &Form, recording: &Recording) -> Result<(), String> {
    let text = module([form]);
    let (engine, target, blocks) = (how.engine, how.target.clone(), how.blocks);
    let program = Program::load(&[Source { name: &form.name, text: &text }], engine)
        .map_err(|e| e.log)?
        .for_target(target);
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

fn check_group(processor: Option<&str>, name: &str, per_lane: bool, blocks: u32) {
    let how = match processor.map(Target::named) {
        None => How { engine: Engine::Interpreter, target: Target::native(), blocks },
        Some(Ok(target)) => How { engine: Engine::Compiled, target: Target { per_lane, ..target }, blocks },
        Some(Err(error)) => {
            eprintln!("not run: {error}");
            return;
        }
    };
    let workers = Workers::new(2);
    let recording = Recording::of_group(name).expect("the recording");
    let of_group: Vec<Form> = forms().expect("the table").into_iter().filter(|f| f.group == name).collect();
    assert!(!of_group.is_empty(), "no forms in {name}");
    let failures: Vec<String> = of_group
        .iter()
        .filter_map(|f| check_form(&how, &workers, f, &recording).err().map(|e| format!("{}: {e}", f.name)))
        .collect();
    assert!(
        failures.is_empty(),
        "{} of {} forms are not as on the hardware:\n{}",
        failures.len(),
        of_group.len(),
        failures.join("\n")
    );
}

/// One test a group and engine, so that they run side by side.
macro_rules! groups {
    ($($group:ident)*) => {
        engine! { interpreter None, SOME; $($group)* }
        engine! { avx512 Some("x86-64-v4"), ALL; $($group)* }
        engine! { avx2 Some("x86-64-v3"), SOME; $($group)* }

        #[test]
        fn no_group_is_left_out() {
            let tested = BTreeSet::from([$(stringify!($group).to_owned()),*]);
            let recorded: BTreeSet<String> = forms().expect("the table").into_iter().map(|f| f.group).collect();
            assert_eq!(tested, recorded);
        }
    };
}

macro_rules! engine {
    ($name:ident $engine:expr, $blocks:expr; $($group:ident)*) => {
        mod $name {
            use super::*;

            $(#[test]
            fn $group() {
                check_group($engine, stringify!($group), false, $blocks);
            })*
        }
    };
}

groups! { matrix mma mma_sparse wgmma wmma }

/// Where each lane goes on for itself, matrix instructions wait for all lanes.
#[test]
fn lane_by_lane() {
    check_group(Some("native"), "mma", true, SOME);
}
