//! Tests of recorded groups: one test per group and engine, so that they run in parallel.

use std::collections::BTreeSet;

use cpu::{Engine, Target};
use hwtruth::sample::Turn;

/// The engine of a test, and the processor that it compiles for. Without a name, it is the interpreter.
/// `None` if this machine cannot run code for the processor.
pub fn engine(processor: Option<&str>) -> Option<(Engine, Target)> {
    match processor.map(Target::named) {
        None => Some((Engine::Interpreter, Target::native())),
        Some(Ok(target)) => Some((Engine::Compiled, target)),
        Some(Err(error)) => {
            eprintln!("not run: {error}");
            None
        }
    }
}

/// The forms that an engine (named as in [`engine`]) runs: all for the interpreter, a part for compiled code,
/// and another part in per-lane mode.
pub fn turn(processor: Option<&str>, per_lane: bool) -> Turn {
    match processor {
        None => Turn::ALL,
        _ if per_lane => Turn::part(2),
        Some(name) => Turn::part(usize::from(name == "x86-64-v3")),
    }
}

/// Runs `check` on the first form and on those of this turn, and fails with all errors.
pub fn hold<'a, F: 'a>(
    forms: impl Iterator<Item = &'a F>,
    turn: Turn,
    name: impl Fn(&F) -> &str,
    check: impl Fn(&F) -> Result<(), String>,
) {
    let mut failures = Vec::new();
    let mut count = 0;
    for form in forms {
        count += 1;
        if count > 1 && !turn.takes(name(form)) {
            continue;
        }
        failures.extend(check(form).err().map(|e| format!("{}: {e}", name(form))));
    }
    assert!(count > 0, "this group has no forms");
    assert!(
        failures.is_empty(),
        "{} of {count} forms differ from the hardware:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

/// Checks that the tested groups are exactly those of the table.
pub fn none_left_out(tested: &[&str], of_forms: impl Iterator<Item = String>) {
    let tested: BTreeSet<String> = tested.iter().map(ToString::to_string).collect();
    assert_eq!(tested, of_forms.collect());
}

/// One module per engine with one test per group, which calls the file's `check_group` with the processor and
/// the group's name.
macro_rules! groups {
    ($($group:ident)*) => {
        groups! { in interpreter None; $($group)* }
        groups! { in avx512 Some("x86-64-v4"); $($group)* }
        groups! { in avx2 Some("x86-64-v3"); $($group)* }

        #[test]
        fn no_group_is_left_out() {
            let forms = forms().expect("the table").into_iter();
            $crate::groups::none_left_out(&[$(stringify!($group)),*], forms.map(|f| f.group));
        }
    };
    (in $engine:ident $processor:expr; $($group:ident)*) => {
        mod $engine {
            $(#[test]
            fn $group() {
                super::check_group($processor, stringify!($group));
            })*
        }
    };
}
