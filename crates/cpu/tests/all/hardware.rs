//! Runs every instruction form that was recorded on the hardware (`tests/hw`) on the same inputs.

use crate::run::run;
use cpu::{Engine, Forced, Program, Rules, Source, Target};
use grid::Workers;
use hwtruth::instructions::{BLOCK, Check, Form, INPUTS, Mismatch, Recording, forms, home, module};
use hwtruth::sample::{self, Turn};

/// How kernels are run: interpreted, or compiled for a processor.
#[derive(Clone)]
enum How {
    Interpreted,
    Compiled(Target, Forced),
    /// The approximate functions, bit-exact.
    Exact(Option<Target>),
}

fn check_form(how: &How, workers: &Workers, form: &Form, recording: &Recording) -> Result<(), String> {
    let (version, ptx_target) = home(&form.group);
    let text = module([form], version, ptx_target);
    let (engine, target, forced) = match how {
        How::Interpreted | How::Exact(None) => (Engine::Interpreter, Target::native(), Forced::default()),
        How::Compiled(target, forced) => (Engine::Compiled, target.clone(), forced.clone()),
        How::Exact(Some(target)) => (Engine::Compiled, target.clone(), Forced::default()),
    };
    let exact = matches!(how, How::Exact(_));
    let rules = Rules { engine, exact, ..Rules::default() };
    let program = Program::load_by(&[Source { name: &form.name, text: &text }], &rules)
        .map_err(|e| e.log)?
        .for_target(target)
        .forced(forced);
    // The interpreter is slow; the first inputs are all pairs of special values. One form reads the number
    // of blocks.
    let whole = engine == Engine::Compiled || form.body.contains("%nctaid");
    let threads = if whole { INPUTS } else { sample::of(INPUTS, 3 * BLOCK) };
    let out = run(&program, workers, form, engine == Engine::Compiled, threads)?;
    let to_the_bit = Form { check: Check::Exact, ..form.clone() };
    let form = if exact { &to_the_bit } else { form };
    let mut wrong = recording.compare(form, &out, threads).ok_or("not recorded")?;
    if engine == Engine::Compiled {
        wrong.retain(|m| !another_nan(form, m));
    }
    match wrong.first() {
        None => Ok(()),
        Some(first) => Err(format!("{} wrong; {first}", wrong.len())),
    }
}

/// Whether compiled f64 differences or multiply-adds return the NaN of a different operand than the hardware:
/// selecting it if several operands are NaN costs more than the operation (docs/performance.md). All other
/// forms return the hardware's.
fn another_nan(form: &Form, m: &Mismatch) -> bool {
    let quiet = |v: u64| f64::from_bits(v).is_nan().then_some(v | 1 << 51);
    let nans: Vec<u64> = m.inputs.iter().filter_map(|&v| quiet(v)).collect();
    let free = ["sub.", "fma.", "mad."].iter().any(|op| form.instruction().starts_with(op));
    free && form.name.ends_with(".f64")
        && nans.len() > 1
        && [m.got, m.expected].iter().all(|v| nans.contains(v))
}

/// Runs the forms of a group. `per_lane` forces per-lane mode.
fn check_in_mode(processor: Option<&str>, group: &str, per_lane: bool) {
    let how = match crate::groups::engine(processor) {
        None => return,
        Some((Engine::Interpreter, _)) => How::Interpreted,
        Some((Engine::Compiled, target)) => How::Compiled(target, Forced { per_lane, ..Forced::default() }),
    };
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
    check_in_mode(processor, group, false);
}

groups! {
    approx atom block calls compare control convert copies f32 f64 half hints integer logic masks memory packed ptx1 ptx6 stack video warp
    wide
}

/// The approximate functions with `exact` are identical to the hardware's.
#[test]
fn exact() {
    let forms = forms().expect("the table");
    let recording = Recording::of_group("approx").expect("the recording");
    let workers = Workers::new(2);
    let targets = ["x86-64-v4", "x86-64-v3"].into_iter().filter_map(|name| Target::named(name).ok());
    let mut failures = Vec::new();
    let ways: Vec<How> = targets.map(Some).chain([None]).map(How::Exact).collect();
    for (number, how) in ways.iter().enumerate() {
        let turn = Turn::new(number, ways.len());
        for form in forms.iter().filter(|f| f.group == "approx" && turn.takes(&f.name)) {
            failures.extend(
                check_form(how, &workers, form, &recording).err().map(|e| format!("{}: {e}", form.name)),
            );
        }
    }
    assert!(failures.is_empty(), "not as on the hardware:\n{}", failures.join("\n"));
}

/// Groups whose operations are emitted differently in per-lane mode.
#[test]
fn lane_by_lane() {
    for group in ["block", "calls", "control", "copies", "masks", "ptx6", "stack", "warp"] {
        check_in_mode(Some("native"), group, true);
    }
}
