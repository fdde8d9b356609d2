//! Compares the library's structures with HIP's headers: 5.2 as built by Debian, 6.3, and what 7.2 adds
//! (`data/layouts.tsv`).

use std::collections::BTreeMap;

use capi::Field;

/// A field in the table: its name, offset and size.
type Row = (String, usize, usize);

fn table(header: &str) -> BTreeMap<String, Vec<Row>> {
    let mut structures: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    for line in include_str!("../data/layouts.tsv").lines().filter(|l| !l.starts_with('#')) {
        let columns: Vec<&str> = line.split('\t').collect();
        let [version, structure, field, offset, size] = columns[..] else { panic!("{line}") };
        if version == header {
            let number = |text: &str| text.parse().expect("a number");
            let row = (field.to_string(), number(offset), number(size));
            structures.entry(structure.to_string()).or_default().push(row);
        }
    }
    structures
}

/// The bytes that fields cover. Some of our structures have one field where the header has several, or the
/// reverse.
fn places(fields: impl Iterator<Item = (usize, usize)>) -> Vec<usize> {
    fields.flat_map(|(offset, size)| offset..offset + size).collect()
}

fn ours() -> BTreeMap<&'static str, &'static [Field]> {
    hip::types::LAYOUTS.iter().chain(capi::types::LAYOUTS).copied().collect()
}

/// Whether our field has the header's name, apart from the naming style.
fn same_name(ours: &str, header: &str) -> bool {
    ours.replace('_', "") == header.to_lowercase()
}

/// The name of our structure, which stands for two that are alike: both handles are 64 bytes, and signals and
/// waits begin with a value.
fn twin(name: &str) -> &str {
    match name {
        "hipIpcEventHandle_t" => "hipIpcMemHandle_t",
        "hipExternalSemaphoreWaitParams" => "hipExternalSemaphoreSignalParams",
        "hipExternalSemaphoreWaitNodeParams" => "hipExternalSemaphoreSignalNodeParams",
        other => other,
    }
}

/// Compares one of our structures with the header's.
fn compare(name: &str, ours: &[Field], header: &[Row]) {
    let covered = places(ours.iter().map(|f| (f.1, f.2)));
    let wanted = places(header.iter().map(|f| (f.1, f.2)));
    // Our last field may extend into the header's padding.
    let aligned = wanted.last().map_or(0, |last| (last + 1).next_multiple_of(8));
    assert!(
        covered.starts_with(&wanted) && covered.last() < Some(&aligned),
        "{name}: {covered:?}, not {wanted:?}"
    );
    if ours.len() == header.len() && covered == wanted {
        for (a, b) in ours.iter().zip(header) {
            assert_eq!((a.1, a.2), (b.1, b.2), "{name}: {} and {}", a.0, b.0);
        }
    }
    if name.starts_with("hipDeviceProp") {
        for (a, b) in ours.iter().zip(header) {
            assert!(same_name(a.0, &b.0), "{name}: {} stands where the header has {}", a.0, b.0);
        }
    }
}

#[test]
fn structures_are_those_of_hip_6() {
    let (ours, table) = (ours(), table("6.3"));
    for (name, header) in &table {
        let known = twin(name);
        compare(name, ours.get(known).unwrap_or_else(|| panic!("no {name} of ours")), header);
    }
    assert!(table.len() > 15);
}

#[test]
fn structures_are_those_that_hip_7_adds() {
    let (ours, table) = (ours(), table("7.2"));
    for (name, header) in &table {
        compare(name, ours.get(name.as_str()).unwrap_or_else(|| panic!("no {name} of ours")), header);
    }
    assert!(table.len() > 8, "{}", table.len());
}

#[test]
fn structures_are_those_of_hip_5() {
    let (ours, table) = (ours(), table("5.2"));
    for (name, header) in &table {
        let own = format!("{} of 5.2", twin(name));
        let known = match twin(name) {
            "hipDeviceProp_t" => "hipDeviceProp_tR0000",
            _ if ours.contains_key(own.as_str()) => &own,
            other => other,
        };
        compare(name, ours.get(known).unwrap_or_else(|| panic!("no {name} of ours")), header);
    }
    assert!(table.len() > 14);
}
