//! Forms that are recorded in groups: a test a group and engine, so that they run side by side.

use std::collections::BTreeSet;

use cpu::{Engine, Target};
use hwtruth::sample::Turn;

/// The engine of a test and the processor that it compiles for: no name is the interpreter's. `None` where this processor does not run code for
/// the other.
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

/// The forms that an engine, named as in [`engine`], runs: the interpreter all, compiled code a part, and
/// another one in the mode in which each lane goes on for itself.
pub fn turn(processor: Option<&str>, per_lane: bool) -> Turn {
    match processor {
        None => Turn::ALL,
        _ if per_lane => Turn::part(2),
        Some(name) => Turn::part(usize::from(name == "x86-64-v3")),
    }
}

/// Fails with all forms whose `check` does, of the first one and those of this turn.
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
    assert!(count > 0, "no forms of this group");
    assert!(
        failures.is_empty(),
        "{} of {count} forms are not as on the hardware:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

/// Fails unless the groups tested are those of the table.
pub fn none_left_out(tested: &[&str], of_forms: impl Iterator<Item = String>) {
    let tested: BTreeSet<String> = tested.iter().map(ToString::to_string).collect();
    assert_eq!(tested, of_forms.collect());
}

/// A module an engine with a test a group, each of which calls `check_group` of the file with the processor and the group's name.
macro_rules! groups {
    ($($group:ident)*) => {
        groups! { in interpreter None; $($group)* }
        groups! { in avx512 Some("x86-64-v4"); $($group)* }
        groups! { in avx2 Some("x86-64-v3"); $($group)* }

        #[test]
        fn no_group_is_left_out() {
            groups::none_left_out(&[$(stringify!($group)),*], forms().expect("the table").into_iter().map(|f| f.group));
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
