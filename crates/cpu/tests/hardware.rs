//! Every instruction form that ran on the hardware (`tests/hw`), run by us on the same inputs.

use std::collections::BTreeSet;

use cpu::{Engine, Program, Source, Target};
use grid::{Heap, Host, Launch, Workers};
use hwtruth::instructions::{BLOCK, Form, INPUTS, Mismatch, Recording, SLOT, forms, module};

/// The target that the forms are compiled for: the recording device's.
const CAPABILITY: u32 = 90;

struct Memory {
    ranges: [(u64, u64); 3],
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

/// Zeroed memory of `bytes`, aligned to 16.
fn buffer(bytes: usize) -> Vec<u128> {
    vec![0; bytes.div_ceil(16) + 1]
}

fn bytes(words: &[u128]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

/// What the form's kernel leaves in `out`.
fn run(program: &Program, workers: &Workers, form: &Form, compiled: bool) -> Result<Vec<u8>, String> {
    let name = form.kernel_name();
    let kernel = program.module().function(&name).ok_or("no kernel")?;
    let info = program.module().functions[kernel.index()].kernel.as_ref().ok_or("no kernel")?;
    let mut input = form.input_bytes();
    input.resize(input.len().next_multiple_of(16), 0);
    let input: Vec<u128> =
        input.chunks_exact(16).map(|c| u128::from_le_bytes(c.try_into().expect("16 bytes"))).collect();
    let (out, mem) = (buffer(form.output_size()), buffer(INPUTS * SLOT));
    let ranges = [&input, &out, &mem].map(|b| (b.as_ptr() as u64, b.len() as u64 * 16));
    let params: Vec<u8> = ranges.iter().flat_map(|(address, _)| address.to_le_bytes()).collect();
    let memory = Memory { ranges, heap: Heap::new(1 << 16) };
    let (grid, block) = ([(INPUTS / BLOCK) as u32, 1, 1], [BLOCK as u32, 1, 1]);
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
            cluster: None,
            cooperative: false,
            id: 1,
            host: &memory,
        })
        .map_err(|fault| format!("fault: {fault}"))?;
    let mut out = bytes(&out);
    out.truncate(form.output_size());
    Ok(out)
}

/// How kernels are run: interpreted, or compiled for a processor.
#[derive(Clone)]
enum How {
    Interpreted,
    Compiled(Target),
}

fn check_form(how: &How, workers: &Workers, form: &Form, recording: &Recording) -> Result<(), String> {
    let text = module([form], CAPABILITY);
    let (engine, target) = match how {
        How::Interpreted => (Engine::Interpreter, Target::native()),
        How::Compiled(target) => (Engine::Compiled, target.clone()),
    };
    let program = Program::load(&[Source { name: &form.name, text: &text }], engine)
        .map_err(|e| e.log)?
        .for_target(target);
    let out = run(&program, workers, form, engine == Engine::Compiled)?;
    let mut wrong = recording.compare(form, &out).ok_or("not recorded")?;
    if engine == Engine::Compiled {
        wrong.retain(|m| !another_nan(form, m));
    }
    match wrong.first() {
        None => Ok(()),
        Some(first) => Err(format!("{} wrong; {first}", wrong.len())),
    }
}

/// Whether a compiled f64 difference or multiply-add is the NaN of another operand than the hardware's: to choose where several are NaN costs
/// more than the operation (docs/performance.md). All other forms keep the hardware's.
fn another_nan(form: &Form, m: &Mismatch) -> bool {
    let quiet = |v: u64| f64::from_bits(v).is_nan().then_some(v | 1 << 51);
    let nans: Vec<u64> = m.inputs.iter().filter_map(|&v| quiet(v)).collect();
    let free = ["sub.", "fma.", "mad."].iter().any(|op| form.name.starts_with(op));
    free && form.name.ends_with(".f64")
        && nans.len() > 1
        && [m.got, m.expected].iter().all(|v| nans.contains(v))
}

/// Runs the forms of a group.
fn check_group(processor: Option<&str>, name: &str) {
    check_in_mode(processor, name, false);
}

fn check_in_mode(processor: Option<&str>, name: &str, per_lane: bool) {
    let how = match processor.map(Target::named) {
        None => How::Interpreted,
        Some(Ok(target)) => How::Compiled(Target { per_lane, ..target }),
        Some(Err(error)) => {
            eprintln!("not run: {error}");
            return;
        }
    };
    let workers = Workers::new(2);
    let forms = forms().expect("the table");
    let recording = Recording::of_group(name).expect("the recording");
    let of_group: Vec<&Form> = forms.iter().filter(|f| f.group == name).collect();
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
        engine! { interpreter None; $($group)* }
        engine! { avx512 Some("x86-64-v4"); $($group)* }
        engine! { avx2 Some("x86-64-v3"); $($group)* }

        #[test]
        fn no_group_is_left_out() {
            let tested = BTreeSet::from([$(stringify!($group).to_owned()),*]);
            let recorded: BTreeSet<String> = forms().expect("the table").into_iter().map(|f| f.group).collect();
            assert_eq!(tested, recorded);
        }
    };
}

macro_rules! engine {
    ($name:ident $engine:expr; $($group:ident)*) => {
        mod $name {
            use super::*;

            $(#[test]
            fn $group() {
                check_group($engine, stringify!($group));
            })*
        }
    };
}

groups! { approx atom block compare control convert f32 f64 half integer logic memory warp }

/// Groups whose operations are emitted otherwise where each lane goes on for itself.
#[test]
fn lane_by_lane() {
    for group in ["block", "control", "warp"] {
        check_in_mode(Some("native"), group, true);
    }
}
