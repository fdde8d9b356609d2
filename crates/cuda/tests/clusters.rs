//! Compares clusters of blocks with a real H200 (`tests/cluster/README.md`): the recorder runs on our
//! library, on both kinds of processor and on the interpreter, and every case must be equal.

mod library;

use std::collections::BTreeSet;
use std::path::Path;

use hwtruth::clusters::{Recorder, recorded, words};

/// Cases that differ, with reasons.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("sizes.", "the hardware's system takes a part of shared memory, and the text's sizes are rounded"),
    ("bare.4", "another block's memory through `.shared::cta`, which is undefined: the hardware faults"),
    ("beyond.rank", "a block that there is not: the hardware tells a launch failure, we an illegal address"),
    (
        "floats.none",
        "which of two NaNs a sum of f64 in shared memory keeps depends on the hardware's compiler",
    ),
    (
        "floats.2",
        "in another block's memory the hardware adds pairs of halves as one integer; the manual knows nothing of it",
    ),
];

/// The first word in which two results differ.
fn difference(hardware: &str, ours: &str) -> Option<String> {
    if hardware == ours {
        return None;
    }
    let list =
        |text| words(text).map(|all| all.into_iter().flat_map(|(w, n)| std::iter::repeat_n(w, n)).collect());
    let (Some(a), Some(b)): (Option<Vec<u32>>, Option<Vec<u32>>) = (list(hardware), list(ours)) else {
        let short = |text: &str| text.chars().take(40).collect::<String>();
        return Some(format!("{}, ours {}", short(hardware), short(ours)));
    };
    let at = a.iter().zip(&b).position(|(x, y)| x != y);
    Some(match at {
        Some(at) => format!("word {at} of {} is {:#x}, ours {:#x}", a.len(), a[at], b[at]),
        None => format!("{} words, ours {}", a.len(), b.len()),
    })
}

#[test]
fn clusters_do_what_they_did_on_the_hardware() {
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include");
    let recorder = Recorder::build(&include).expect("the recorder");
    let hardware = recorded().expect("the recording");
    assert!(hardware.len() > 50, "{} cases", hardware.len());
    let library = library::built();
    let (mut wrong, mut needed) = (Vec::new(), BTreeSet::new());
    for setting in
        [("ANYWARP_CPU", "native"), ("ANYWARP_CPU", "x86-64-v3"), ("ANYWARP_ENGINE", "interpreter")]
    {
        let ours = recorder.record(&library, setting).expect("a recording of ours");
        assert_eq!(ours.len(), hardware.len(), "cases with {}={}", setting.0, setting.1);
        for (name, result) in &hardware {
            let excepted = EXCEPTIONS.iter().position(|(prefix, _)| name.starts_with(prefix));
            let told = match ours.get(name) {
                Some(own) => difference(result, own),
                None => Some("ours has no such case".into()),
            };
            match (told, excepted) {
                (Some(_), Some(exception)) => drop(needed.insert(exception)),
                (Some(told), None) => wrong.push(format!("  {}: {name}: {told}\n", setting.1)),
                (None, _) => {}
            }
        }
    }
    assert_eq!(needed.len(), EXCEPTIONS.len(), "of the exceptions only {needed:?} differ");
    assert!(wrong.is_empty(), "{} cases differ from the hardware's:\n{}", wrong.len(), wrong.concat());
}
