//! Compares textures and surfaces with a real H200 (`tests/texture/README.md`): the recorder runs on our
//! library, on the interpreter and, for a part of the cases, on both kinds of processor; each of these must
//! be identical, or within the bound in [`BOUNDS`].

mod library;

use std::path::Path;

use hwtruth::sample::Turn;
use hwtruth::textures::{Outcome, Recorder, recorded};

/// The allowed difference of float results from the hardware's: prefix and suffix of the case's name, the
/// bound, and the reason.
const BOUNDS: &[(&str, &str, f32, &str)] = &[
    ("bc6n.mip", "", 1e-3, "one texel of 192 is rounded otherwise"),
    ("lod.grad.", "linear", 2.0 / 256.0, "how the hardware cuts the lengths of gradients is not known"),
    ("lod.grad.slant", "", 2.0 / 256.0, "the same"),
    ("lod.grad.pair", "", 2.0 / 256.0, "the same"),
    ("lod.grad.", "point", 1.0, "the same, and the nearest level is the next one"),
];

/// Cases that the hardware's driver refuses and our library answers, or refuses with another status.
const REFUSED: &[&str] = &["txq.2d.", "txq.reference.", "suq.2d.", "suq.reference.", "sampler"];

fn bound(name: &str) -> Option<f32> {
    let fits = |b: &&(&str, &str, f32, &str)| name.starts_with(b.0) && name.ends_with(b.1);
    BOUNDS.iter().find(fits).map(|b| b.2)
}

/// How two outcomes differ; `None` if they are equal or within the bound.
fn difference(name: &str, hardware: &Outcome, ours: &Outcome) -> Option<String> {
    let (a, b) = match (hardware, ours) {
        (Outcome::Results(a), Outcome::Results(b)) => (a, b),
        (Outcome::Status { .. }, Outcome::Status { .. }) if hardware == ours => return None,
        (Outcome::Status { .. }, _) if REFUSED.iter().any(|r| name.starts_with(r)) => return None,
        _ => return Some(format!("{name}: {hardware}, ours {ours}")),
    };
    if a == b {
        return None;
    }
    let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap_or_default());
    let different: Vec<(usize, u32, u32)> = a
        .chunks(4)
        .zip(b.chunks(4))
        .map(|(a, b)| (word(a), word(b)))
        .enumerate()
        .filter(|(_, (a, b))| a != b)
        .map(|(i, (a, b))| (i, a, b))
        .collect();
    let far = |(_, a, b): &&(usize, u32, u32)| {
        let distance = (f32::from_bits(*a) - f32::from_bits(*b)).abs();
        // A NaN exceeds every bound.
        !bound(name).is_some_and(|most| distance <= most)
    };
    let worst = different.iter().filter(far).count();
    if a.len() == b.len() && worst == 0 {
        return None;
    }
    let first = different.iter().find(far).copied().unwrap_or_default();
    Some(format!(
        "{name}: {worst} of {} words; the first is {}: {:#010x} ({}), ours {:#010x} ({})",
        a.len() / 4,
        first.0,
        first.1,
        f32::from_bits(first.1),
        first.2,
        f32::from_bits(first.2)
    ))
}

#[test]
fn every_texture_is_read_as_on_the_hardware() {
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include");
    let recorder = Recorder::build(&include).expect("the recorder");
    let hardware = recorded().expect("the recording");
    assert!(hardware.len() > 2200, "{} cases", hardware.len());
    let library = library::built();
    let mut wrong = Vec::new();
    let settings =
        [("ANYWARP_CPU", "native"), ("ANYWARP_CPU", "x86-64-v3"), ("ANYWARP_ENGINE", "interpreter")];
    for (number, setting) in settings.into_iter().enumerate() {
        // The interpreter runs a quarter of the cases in the sample.
        let turn = if setting.0 == "ANYWARP_ENGINE" { Turn::new(0, 4) } else { Turn::part(number) };
        let ours = recorder.record(&library, setting, turn).expect("a recording of ours");
        let cases = || hardware.iter().filter(|(name, _)| turn.takes(name));
        assert_eq!(ours.len(), cases().count(), "cases with {}={}", setting.0, setting.1);
        for (name, outcome) in cases() {
            let told = match ours.get(name) {
                Some(own) => difference(name, outcome, own),
                None => Some(format!("{name}: ours has no such case")),
            };
            wrong.extend(told.map(|t| format!("  {}: {t}\n", setting.1)));
        }
    }
    assert!(wrong.is_empty(), "{} cases differ from the hardware's:\n{}", wrong.len(), wrong.concat());
}
