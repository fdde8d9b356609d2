//! Compares barriers in memory, bulk copies and tensor maps with a real H200 (`tests/async/README.md`): the
//! recorder runs on our library, on the interpreter and on both kinds of processor, and every case must be
//! equal.

mod library;

use std::collections::BTreeMap;
use std::path::Path;

use hwtruth::copies::{Outcome, Recorder, recorded};
use hwtruth::sample::{self, Turn};

/// Cases that the hardware refuses and our library answers: prefixes of their names, with reasons.
const ANSWERED: &[(&str, &str)] = &[
    (
        "copy.bulk.shared.",
        "the hardware reaches a block's own memory as the cluster's only in launches of clusters",
    ),
    ("copy.bulk.across", "the same"),
    ("copy.st", "the same"),
];

/// Cases whose barrier expects fewer bytes than arrive: whether it is seen open or complete depends on
/// timing.
const RACES: &[&str] = &["copy.load.step", "copy.load.interleave"];

/// A case's name without the part that depends on timing.
fn settled(name: &str) -> &str {
    let open = RACES.iter().any(|r| name.starts_with(r)).then(|| name.strip_suffix(".open"));
    open.flatten().unwrap_or(name)
}

/// The case that a line belongs to.
fn case(line: &str) -> &str {
    let name = line.strip_suffix(".second").unwrap_or(line);
    name.strip_suffix(".open").unwrap_or(name)
}

/// How two outcomes differ; `None` if they are equal, or if the hardware refuses what our library answers.
fn difference(name: &str, hardware: &Outcome, ours: &Outcome) -> Option<String> {
    if hardware == ours {
        return None;
    }
    if hardware.status != ours.status {
        let answered = ours.status == 0 && ANSWERED.iter().any(|(start, _)| name.starts_with(start));
        return (!answered).then(|| format!("{name}: status {}, ours {}", hardware.status, ours.status));
    }
    let pairs = || hardware.bytes.as_bytes().chunks(2).zip(ours.bytes.as_bytes().chunks(2));
    let first = pairs().position(|(a, b)| a != b).unwrap_or(hardware.bytes.len() / 2);
    let count = pairs().filter(|(a, b)| a != b).count();
    Some(format!("{name}: {count} bytes differ, the first is {first}"))
}

#[test]
fn every_copy_is_as_on_the_hardware() {
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include");
    let recorder = Recorder::build(&include).expect("the recorder");
    let hardware = recorded().expect("the recording");
    assert!(hardware.len() > 8_500, "{} cases", hardware.len());
    let library = library::built();
    let mut wrong = Vec::new();
    // The interpreter runs all cases, in the sample a quarter; compiled code, which calls the same runtime,
    // runs one of each instruction, or a part of these.
    let settings = [
        (("ANYWARP_ENGINE", "interpreter"), None),
        (("ANYWARP_CPU", "native"), Some("barrier,plain,spelling")),
        (("ANYWARP_CPU", "x86-64-v3"), Some("barrier,plain,spelling")),
    ];
    let turn = |number: usize, groups: Option<&str>| match groups {
        None => Turn::new(0, 4),
        Some(_) if sample::long() => Turn::way(number, 2),
        Some(_) => Turn::part(number),
    };
    // Each is a process of one thread.
    let recordings = std::thread::scope(|scope| {
        let (recorder, library) = (&recorder, &library);
        let started = [0, 1, 2].map(|number| {
            let (setting, groups) = settings[number];
            scope.spawn(move || recorder.record(library, setting, groups, turn(number, groups)))
        });
        started.map(|one| one.join().expect("no panic").expect("a recording of ours"))
    });
    for (number, (ours, (setting, groups))) in recordings.into_iter().zip(settings).enumerate() {
        let turn = turn(number, groups);
        let least = match groups {
            None => hardware.len() / sample::of(1, 5),
            Some(_) => 620,
        };
        assert!(ours.len() >= least, "{} cases with {}={}", ours.len(), setting.0, setting.1);
        let ours: BTreeMap<&str, &Outcome> = ours.iter().map(|(name, o)| (settled(name), o)).collect();
        for (name, outcome) in &hardware {
            let told = match ours.get(settled(name)) {
                Some(own) => difference(name, outcome, own),
                None if groups.is_some() || !turn.takes(case(name)) => None,
                None => Some(format!("{name}: ours has no such case")),
            };
            wrong.extend(told.map(|t| format!("  {}: {t}\n", setting.1)));
        }
    }
    assert!(wrong.is_empty(), "{} cases differ from the hardware's:\n{}", wrong.len(), wrong.concat());
}
