//! Checks the recordings against independent models: plain Rust arithmetic and the manual's examples.

use hwtruth::answers::{self, Answer};
use hwtruth::instructions::{Check, Form, INPUTS, Recording, forms};
use std::collections::BTreeSet;

fn form(name: &str) -> Form {
    forms()
        .expect("the table")
        .into_iter()
        .find(|f| f.name == name)
        .unwrap_or_else(|| panic!("no form {name}"))
}

/// Checks a form's first output against a model, for every input.
fn holds(name: &str, model: impl Fn(&[u64]) -> u64) {
    let form = form(name);
    let recording = Recording::of_group(&form.group).expect("the recording");
    let results = recording.results(name).expect("recorded");
    for (index, &result) in results[0].iter().enumerate() {
        let inputs: Vec<u64> = (0..form.inputs.len()).map(|k| form.input(k, index)).collect();
        assert_eq!(result, model(&inputs), "{name} of {inputs:x?} at {index}");
    }
}

#[test]
fn every_form_is_recorded_with_its_sizes() {
    let forms = forms().expect("the table");
    assert!(forms.len() >= 2000, "{} forms", forms.len());
    let groups: BTreeSet<String> = forms.iter().map(|f| f.group.clone()).collect();
    for group in groups {
        let recording = Recording::of_group(&group).expect("the recording");
        assert_eq!(recording.device, "NVIDIA H200, 580.159.04");
        for form in forms.iter().filter(|f| f.group == group) {
            let results =
                recording.results(&form.name).unwrap_or_else(|| panic!("{} not recorded", form.name));
            assert_eq!(results.len(), form.outputs.len(), "{}", form.name);
            assert!(results.iter().all(|r| r.len() == INPUTS), "{}", form.name);
        }
    }
}

#[test]
fn integers_are_as_rust_has_them() {
    let s = |x: u64| x as u32 as i32;
    holds("add.u32", |i| u64::from((i[0] as u32).wrapping_add(i[1] as u32)));
    holds("mul.hi.s32", |i| ((i64::from(s(i[0])) * i64::from(s(i[1]))) >> 32) as u32 as u64);
    holds("mad.lo.u64", |i| i[0].wrapping_mul(i[1]).wrapping_add(i[2]));
    holds("popc.b64", |i| u64::from(i[0].count_ones()));
    holds("lop3.b32.96", |i| (i[0] ^ i[1] ^ i[2]) & 0xffff_ffff);
    holds("shl.b32", |i| u64::from((i[0] as u32).checked_shl(i[1] as u32).unwrap_or(0)));
    holds("min.s32", |i| s(i[0]).min(s(i[1])) as u32 as u64);
    holds("div.u32", |i| u64::from((i[0] as u32).checked_div(i[1] as u32).unwrap_or(u32::MAX)));
}

#[test]
fn floats_are_ieee() {
    let f = |x: u64| f32::from_bits(x as u32);
    let bits = |x: f32| if x.is_nan() { 0x7fff_ffff } else { u64::from(x.to_bits()) };
    holds("add.rn.f32", |i| bits(f(i[0]) + f(i[1])));
    holds("mul.rn.f32", |i| bits(f(i[0]) * f(i[1])));
    holds("fma.rn.f32", |i| bits(f(i[0]).mul_add(f(i[1]), f(i[2]))));
    holds("div.rn.f32", |i| bits(f(i[0]) / f(i[1])));
    holds("sqrt.rn.f32", |i| bits(f(i[0]).sqrt()));
}

#[test]
fn approximate_results_are_compared_within_their_bound() {
    let form = form("sin.approx.f32");
    assert_eq!(form.check, Check::Approx);
    let recording = Recording::of_group(&form.group).expect("the recording");
    let with = |sine: &dyn Fn(f32) -> f32| {
        let mut out = Vec::new();
        for index in 0..INPUTS {
            out.extend_from_slice(&sine(f32::from_bits(form.input(0, index) as u32)).to_le_bytes());
        }
        recording.compare(&form, &out, INPUTS).expect("recorded")
    };
    let exact = with(&f32::sin);
    assert!(exact.is_empty(), "{} of the library's sines, first: {}", exact.len(), exact[0]);
    assert!(!with(&|x| x.sin() + 1e-5).is_empty());
}

#[test]
fn a_wrong_bit_is_a_mismatch() {
    let form = form("add.u32");
    let recording = Recording::of_group(&form.group).expect("the recording");
    let mut out: Vec<u8> = recording.results("add.u32").expect("recorded")[0]
        .iter()
        .flat_map(|&v| (v as u32).to_le_bytes())
        .collect();
    assert_eq!(recording.compare(&form, &out, INPUTS), Some(vec![]));
    out[4 * 77] ^= 1;
    let mismatches = recording.compare(&form, &out, INPUTS).expect("recorded");
    assert_eq!((mismatches.len(), mismatches[0].index), (1, 77));
}

#[test]
fn the_answers_cover_the_driver() {
    let lines = answers::recorded().expect("the recording");
    let asked = lines.iter().filter(|l| matches!(l.answer, Answer::Status(_) | Answer::Signal(_))).count();
    assert!(asked >= 2500, "{asked} calls");
    let of = |name: &str| lines.iter().find(|l| l.name == name).map(|l| l.answer.clone());
    assert_eq!(of("cold.DeviceGetCount"), Some(Answer::Status("CUDA_ERROR_NOT_INITIALIZED".to_owned())));
    assert_eq!(of("ctx.destroy.garbage"), Some(Answer::Signal(11)));
    assert_eq!(of("errors.1"), Some(Answer::Value("CUDA_ERROR_INVALID_VALUE | invalid argument".to_owned())));
}

#[test]
fn differences_are_found_and_exceptions_are_not() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/probe/h200-580.txt");
    let recorded = std::fs::read_to_string(path).expect("the recording");
    // The probes on which the hardware's driver died are exactly those that this text fails.
    let died = answers::differences(&recorded).expect("the recordings");
    assert!(!died.is_empty() && died.iter().all(|d| matches!(d.expected, Answer::Signal(_))));
    let changed = "ctx.pop.empty: CUDA_SUCCESS\nctxdead.destroy.again: CUDA_SUCCESS\n";
    let found = answers::differences(changed).expect("the recordings");
    let pop = found.iter().find(|d| d.name == "ctx.pop.empty").expect("a difference");
    assert_eq!(pop.got, Some(Answer::Status("CUDA_SUCCESS".to_owned())));
    assert!(found.iter().all(|d| d.name != "ctxdead.destroy.again"));
}

#[test]
fn names_lead_to_their_symbols() {
    let rows = answers::proc_addresses().expect("the recording");
    let at = |name: &str, version: u32, flags: u64| {
        rows.iter()
            .filter(|r| r.name == name && r.flags == flags && r.version <= version)
            .max_by_key(|r| r.version)
            .map(|r| r.symbols.join(","))
    };
    assert_eq!(at("cuMemcpyHtoD", 12000, 2).as_deref(), Some("cuMemcpyHtoD_v2_ptds"));
    assert_eq!(at("cuMemcpyHtoD", 3010, 0).as_deref(), Some("cuMemcpyHtoD"));
    assert_eq!(at("cuGetProcAddress", 11030, 0).as_deref(), Some("cuGetProcAddress"));
}

#[test]
fn what_is_no_recording_is_said_to_be_none() {
    use hwtruth::matrix::Recording;
    let good = "anywarp-hw matrix 1\ndevice\nday\nwarps 1024 whole 0\nx b32*1\nend\n";
    for (text, reason) in [
        ("", "the header has no line `end`"),
        ("anywarp-hw 1\ndevice\nday\nend\n", "the first line is not `anywarp-hw matrix 1`"),
        ("anywarp-hw matrix 1\ndevice\nend\n", "the header ends before the date"),
        ("anywarp-hw matrix 1\ndevice\nday\nwarps 3 whole 0\nend\n", "not a recording of 1024 warps"),
        (good, "it ends within x"),
    ] {
        assert_eq!(Recording::read(text.as_bytes()).expect_err(text), reason);
    }
    let read = Recording::read(&[good.as_bytes(), &[0; 4096]].concat()).expect("a recording");
    assert_eq!((read.device.as_str(), read.date.as_str()), ("device", "day"));
    assert_eq!(read.results("x").map(|r| r.hashes.len()), Some(1024));
}

#[test]
fn a_recorder_that_cannot_begin_says_why() {
    use hwtruth::clusters::Recorder;
    let include = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include");
    let recorder = Recorder::build(&include).expect("the recorder");
    let error =
        recorder.record(std::path::Path::new("/no/such/library.so"), ("X", "1")).expect_err("no library");
    let text = error.to_string();
    assert!(text.contains("tests/cluster") && text.contains("/no/such/library.so"), "{text}");
}
