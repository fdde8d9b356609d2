//! Runs every kernel of `tests/ptx` on each engine, with one worker and several, and compares its buffers
//! with the expectations in the file.

mod support;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cpu::{Effort, Engine, Forced, Program, Rules, Source, Target};
use grid::Workers;
use hwtruth::sample::Turn;
use support::case::{self, Run};
use support::execute::{By, execute, execute_and_count};
use wave::count::{Counter, Counting};
use wave::interp::Interpreter;
use wave::op::{Builtin, Order, SReg};
use wave::{FuncId, Module, Op, Value};

fn launch(program: &Program, workers: &Workers, run: &Run, how: How) -> Result<(), String> {
    let id = program.module().function(&run.kernel).ok_or_else(|| format!("no kernel `{}`", run.kernel))?;
    let alone =
        if matches!(how, How::WithoutCalls) { Some(without_calls(program.module(), id)?) } else { None };
    let code = match &alone {
        Some(code) => By::This(code),
        None => By::Engine(how.engine()),
    };
    if matches!(how, How::Counting(_)) {
        return count(program, workers, run, id);
    }
    execute(program, workers, run, code)
}

/// Whether what lanes do may depend on when others run: they look at memory that others write meanwhile, take
/// numbers from one another, or read a clock.
fn depends_on_others(module: &Module, id: FuncId) -> bool {
    let func = wave::recurse::without_calls(module, id);
    let insts = || func.blocks.iter().flat_map(|block| &block.insts);
    let terms = func.blocks.iter().flat_map(|block| block.term.uses());
    let used: HashSet<Value> = insts().flat_map(|inst| inst.args.iter().copied()).chain(terms).collect();
    insts().any(|inst| match &inst.op {
        Op::Load { mem, .. } => mem.order != Order::Weak,
        Op::Atom { .. } => inst.results.iter().any(|result| used.contains(result)),
        Op::Builtin(Builtin::Mbarrier | Builtin::ClusterCancel) => true,
        Op::Special(SReg::Clock | SReg::Clock64 | SReg::GlobalTimer64) => true,
        _ => false,
    })
}

/// Runs a kernel that counts compiled and on the interpreter, which must count the same unless a fault ends
/// it. How lanes that have parted meet again is left to the engine, so slots are compared with operations
/// alone.
fn count(program: &Program, workers: &Workers, run: &Run, id: FuncId) -> Result<(), String> {
    let module = Arc::clone(program.module_of(id));
    let width = module.functions.get(id.index()).map_or(32, |function| function.width.lanes() as u64);
    let same = run.fault.is_none() && !depends_on_others(&module, id);
    let oracle = Interpreter::new(module, id).map_err(|e| e.to_string())?;
    let wanted = execute_and_count(program, workers, run, By::This(&oracle))?;
    let found = execute_and_count(program, workers, run, By::Engine(Engine::Compiled))?;
    for (counter, (wanted, found)) in Counter::ALL.iter().zip(wanted.iter().zip(&found)) {
        let by_lane = !matches!(counter, Counter::Slots | Counter::Barriers);
        if same && by_lane && wanted != found {
            return Err(format!("{found} {} instead of {wanted}", counter.name()));
        }
    }
    for counts in [wanted, found] {
        let (operations, slots) = (counts[Counter::Operations as usize], counts[Counter::Slots as usize]);
        if operations > slots || slots > operations * width {
            return Err(format!("{operations} operations in {slots} slots"));
        }
    }
    Ok(())
}

/// A kernel with all calls inlined or turned into jumps, for the interpreter.
fn without_calls(module: &Module, id: FuncId) -> Result<Interpreter, String> {
    let mut module = module.clone();
    let func = wave::recurse::without_calls(&module, id);
    let call = func.blocks.iter().flat_map(|b| &b.insts).find(|i| matches!(i.op, Op::Call(_)));
    if let Some(call) = call {
        return Err(format!("the call at line {} stays", call.loc.line));
    }
    module.functions[id.index()] = Arc::new(func);
    wave::verify::verify(&module).map_err(|p| p.iter().map(|p| format!("{p}\n")).collect::<String>())?;
    Interpreter::new(Arc::new(module), id).map_err(|e| e.to_string())
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/ptx");
    let mut list: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("tests/ptx can be read")
        .map(|e| e.expect("an entry").path())
        .filter(|p| p.extension().is_some_and(|e| e == "ptx"))
        .collect();
    list.sort();
    assert!(!list.is_empty(), "tests/ptx has no files");
    list
}

/// How kernels are run.
#[derive(Clone, Copy)]
enum How {
    Interpreted,
    WithoutCalls,
    Compiled(&'static str),
    /// In per-lane mode, whether needed or not.
    PerLane(&'static str),
    /// With baseline code.
    InAHurry(&'static str),
    /// With up to this many warps at a time.
    Together(&'static str, u16),
    /// As a large kernel.
    Large(&'static str, Effort),
    /// As a large kernel in per-lane mode.
    Dispatched(&'static str, Effort),
    /// With counters.
    Counting(&'static str),
}

impl How {
    fn engine(self) -> Engine {
        match self {
            How::Interpreted | How::WithoutCalls => Engine::Interpreter,
            How::Compiled(_)
            | How::PerLane(_)
            | How::InAHurry(_)
            | How::Together(..)
            | How::Large(..)
            | How::Dispatched(..)
            | How::Counting(_) => Engine::Compiled,
        }
    }
}

/// Runs the cases of a turn with each number of workers.
fn run_all(how: How, workers: &[u32], turn: Turn) {
    let workers: Vec<Workers> = workers.iter().map(|count| Workers::new(*count)).collect();
    let engine = how.engine();
    let target = match how {
        How::Compiled(name)
        | How::PerLane(name)
        | How::InAHurry(name)
        | How::Together(name, _)
        | How::Large(name, _)
        | How::Dispatched(name, _)
        | How::Counting(name) => match Target::named(name) {
            Ok(target) => target,
            Err(error) => {
                eprintln!("not run: {error}");
                return;
            }
        },
        How::Interpreted | How::WithoutCalls => Target::native(),
    };
    // The pass is the same for both processors.
    let counted = match how {
        How::Counting(name) => Turn::way(usize::from(name != "native"), 2),
        _ => Turn::ALL,
    };
    let forced = Forced {
        per_lane: matches!(how, How::PerLane(_) | How::Dispatched(..)),
        effort: if let How::Large(_, effort) | How::Dispatched(_, effort) = how {
            Some(effort)
        } else {
            None
        },
        first: matches!(how, How::InAHurry(_)),
        warps: if let How::Together(_, warps) = how { Some(warps) } else { None },
        most: None,
    };
    let mut failures = Vec::new();
    let mut count = 0;
    let only = std::env::var("ONLY").unwrap_or_default();
    for file in files() {
        let name = file.file_name().expect("a name").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&file).expect("a text");
        let runs = case::parse(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
        let counting = matches!(how, How::Counting(_)).then_some(Counting);
        let rules = Rules { engine, counting, ..Rules::default() };
        let program = match Program::load_by(&[Source { name: &name, text: &text }], &rules) {
            Ok(p) => p.for_target(target.clone()).forced(forced.clone()),
            Err(e) => {
                failures.push(format!("{name}: {}", e.rendered));
                continue;
            }
        };
        let case = |run: &Run| format!("{name}:{}", run.kernel);
        for run in
            runs.iter().filter(|r| turn.takes(&case(r)) && counted.takes(&case(r)) && case(r).contains(&only))
        {
            for workers in &workers {
                count += 1;
                if let Err(e) = launch(&program, workers, run, how) {
                    failures.push(format!("{name}:{}: {}: {e}", run.line, run.kernel));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{} of {count} launches failed:\n{}", failures.len(), failures.join("\n"));
}

/// The tests of the ways to run a kernel, which share the cases: number and count of each turn.
macro_rules! turns {
    (of $of:literal: $($number:literal $name:ident $how:expr, $workers:expr;)*) => {
        $(#[test]
        fn $name() {
            run_all($how, &$workers, Turn::new($number, $of));
        })*
    };
}

#[test]
fn interpreted() {
    run_all(How::Interpreted, &[1, 3], Turn::ALL);
}

turns! { of 6:
    0 compiled_for_this_machine How::Compiled("native"), [1, 3];
    1 compiled_for_avx2 How::Compiled("x86-64-v3"), [1, 3];
}

turns! { of 18:
    4 counting_for_this_machine How::Counting("native"), [3];
    13 counting_for_avx2 How::Counting("x86-64-v3"), [1];
}

turns! { of 12:
    3 two_warps_together_for_this_machine How::Together("native", 2), [3];
    9 two_warps_together_for_avx2 How::Together("x86-64-v3", 2), [1];
    5 eight_warps_together_for_this_machine How::Together("native", 8), [1];
    7 four_warps_together_for_avx2 How::Together("x86-64-v3", 4), [3];
}

turns! { of 36:
    0 interpreted_without_calls How::WithoutCalls, [1];
    1 compiled_for_avx512 How::Compiled("x86-64-v4"), [1];
    2 in_a_hurry_for_this_machine How::InAHurry("native"), [2];
    3 in_a_hurry_for_avx2 How::InAHurry("x86-64-v3"), [1];
    4 lane_by_lane_for_this_machine How::PerLane("native"), [3];
    5 lane_by_lane_for_avx2 How::PerLane("x86-64-v3"), [1];
    6 with_operations_as_calls_for_this_machine How::Large("native", Effort::Full), [3];
    7 with_operations_as_calls_for_avx2 How::Large("x86-64-v3", Effort::Full), [1];
    8 as_large_kernels_for_this_machine How::Large("native", Effort::Light), [2];
    9 as_large_kernels_for_avx2 How::Large("x86-64-v3", Effort::Light), [1];
    10 as_the_largest_kernels_for_this_machine How::Large("native", Effort::Least), [1];
    11 as_the_largest_kernels_for_avx2 How::Large("x86-64-v3", Effort::Least), [3];
    12 with_a_dispatcher_for_this_machine How::Dispatched("native", Effort::Light), [2];
    13 with_a_dispatcher_for_avx2 How::Dispatched("x86-64-v3", Effort::Light), [1];
}
