//! Compares the library's answers with those of a real H200 (`tests/probe/README.md`).

mod library;

use std::ffi::{CString, c_char, c_void};
use std::path::{Path, PathBuf};

use hwtruth::answers::{Answer, Difference, Probe, differences, lines, proc_addresses};
use hwtruth::sample::Turn;

fn include() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include")
}

fn text(answer: Option<&Answer>) -> String {
    match answer {
        None => "no line: the group ended before it".into(),
        Some(Answer::Status(status)) => status.clone(),
        Some(Answer::Signal(number)) => format!("signal {number}"),
        Some(Answer::Value(value) | Answer::Machine(value)) => value.clone(),
    }
}

#[test]
fn every_answer_is_the_hardwares() {
    let probe = Probe::build(&include()).expect("the probe");
    let library = library::built();
    let groups = probe.groups().expect("the groups");
    assert!(groups.len() > 60, "{} groups", groups.len());
    let mut different = Vec::new();
    // In the sample a third of the groups.
    let turn = Turn::new(0, 3);
    for group in groups.into_iter().filter(|group| turn.takes(group)) {
        let ours = probe.ask(&library, Some(&group)).expect("answers");
        // A group without any line must not pass.
        assert!(!ours.trim().is_empty(), "{group}: no answers");
        // Holds for groups without a recording too.
        let died: Vec<String> = lines(&ours)
            .into_iter()
            .filter(|line| matches!(line.answer, Answer::Signal(_)))
            .map(|line| line.name)
            .collect();
        assert!(died.is_empty(), "our library died in {died:?}");
        different.extend(differences(&ours).expect("the recordings"));
    }
    let line =
        |d: &Difference| format!("  {}: {}, not {}\n", d.name, text(Some(&d.expected)), text(d.got.as_ref()));
    let list: String = different.iter().map(line).collect();
    let count = different.len();
    assert!(different.is_empty(), "{count} answers are not the hardware's (its answer, not ours):\n{list}");
}

/// A symbol's address; null if the library lacks it.
fn symbol(library: &libloading::Library, name: &str) -> *mut c_void {
    // SAFETY: the address is only compared.
    unsafe {
        library
            .get::<*mut c_void>(name.as_bytes())
            .map_or(std::ptr::null_mut(), |s| s.into_raw().as_raw_ptr())
    }
}

#[test]
fn every_name_is_found_at_every_version_as_on_the_hardware() {
    // SAFETY: the library's initialisers do nothing.
    let library = unsafe { libloading::Library::new(library::built()) }.expect("the library");
    type Get = unsafe extern "C" fn(*const c_char, *mut *mut c_void, i32, u64, *mut u32) -> u32;
    // SAFETY: the function has this signature in the interface's header.
    let get: libloading::Symbol<'_, Get> =
        unsafe { library.get(b"cuGetProcAddress_v2") }.expect("the function");
    let rows = proc_addresses().expect("the recording");
    assert!(rows.len() > 2000, "{} rows", rows.len());
    let mut wrong = Vec::new();
    for (i, row) in rows.iter().enumerate() {
        let next = rows.get(i + 1).filter(|n| n.name == row.name && n.flags == row.flags);
        let last = next.map_or(13_000, |n| n.version - 10);
        for version in [row.version, last] {
            let name = CString::new(row.name.as_str()).expect("a name without NUL");
            let (mut address, mut result) = (std::ptr::null_mut(), 99);
            // SAFETY: every pointer refers to a variable of the right type.
            let status =
                unsafe { get(name.as_ptr(), &raw mut address, version as i32, row.flags, &raw mut result) };
            let right = match row.symbols.as_slice() {
                [] => address.is_null(),
                symbols => symbols.iter().any(|s| symbol(&library, s) == address) && !address.is_null(),
            };
            if status != 0 || result != row.query || !right {
                wrong.push(format!(
                    "{} at {version}, flags {}: status {status}, result {result}",
                    row.name, row.flags
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}

#[test]
fn every_name_of_the_hardwares_library_is_exported() {
    // SAFETY: see above.
    let library = unsafe { libloading::Library::new(library::built()) }.expect("the library");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/probe/exports.txt");
    let names = std::fs::read_to_string(path).expect("the list");
    let names: Vec<&str> = names.lines().filter(|l| !l.is_empty()).collect();
    assert!(names.len() > 700, "{} names", names.len());
    let missing: Vec<&&str> = names.iter().filter(|n| symbol(&library, n).is_null()).collect();
    assert!(missing.is_empty(), "not exported: {missing:?}");
}
