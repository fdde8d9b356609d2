//! No bytes make the crate panic or run without end, and everything that it finds is inside the input. The
//! fuzzer tests the same for longer (`fuzz/`).

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::support::apart::take_apart;
use crate::support::{archive, entry, fatbin, host_object, machine_code, seeds};

/// The first inputs are valid containers, so that the fuzzer gets past the first checks.
#[test]
fn the_fuzzers_first_inputs_are_containers() {
    for (name, bytes) in seeds() {
        take_apart(&bytes);
        let known = image::texts(&bytes, 86).is_ok()
            || image::library(&bytes, 86).is_ok_and(|members| !members.is_empty())
            || image::contents(&bytes).machine_code == [80]
            || image::bundled(&bytes).is_ok()
            || image::decompress(&bytes).is_ok();
        assert!(known, "{name}");
    }
}

#[test]
fn an_archives_machine_code_is_named() {
    let code = fatbin(&[entry(2, 80, 0x11, &machine_code("f"), 0, 64)]);
    let library = archive(&[("a.o", &host_object("__nv_relfatbin", &code))]);
    let members = image::library(&library, 86).expect("an archive");
    assert_eq!((members.len(), members[0].machine_code.as_slice()), (1, &["f".to_string()][..]));
    assert_eq!(members[0].devices.machine_code, [80]);
}

/// Regression test: a fatbin of size zero was found at the same offset for ever.
#[test]
fn a_fatbin_smaller_than_its_header_ends_the_section() {
    let mut none = 0xba55_ed50u32.to_le_bytes().to_vec();
    none.extend([1, 0, 0, 0]);
    none.extend([0; 8]);
    assert_eq!(image::total_size(&none), None);
    let object = host_object(".nv_fatbin", &none);
    assert_eq!(image::library(&object, 86), Ok(Vec::new()));
}

/// A change of some bytes.
#[derive(Clone, Debug)]
enum Change {
    Set(usize, u8),
    Word(usize, u32),
    Cut(usize),
    Insert(usize, Vec<u8>),
    Append(usize),
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let words = prop_oneof![Just(0), Just(1), Just(u32::MAX), Just(1 << 31), 0u32..300, any::<u32>()];
    let change = prop_oneof![
        (any::<usize>(), any::<u8>()).prop_map(|(at, byte)| Change::Set(at, byte)),
        (any::<usize>(), words).prop_map(|(at, word)| Change::Word(at, word)),
        any::<usize>().prop_map(Change::Cut),
        (any::<usize>(), prop::collection::vec(any::<u8>(), 1..40))
            .prop_map(|(at, all)| Change::Insert(at, all)),
        any::<usize>().prop_map(Change::Append),
    ];
    prop::collection::vec(change, 0..6)
}

fn changed(mut bytes: Vec<u8>, changes: &[Change], seeds: &[(String, Vec<u8>)]) -> Vec<u8> {
    for change in changes {
        let length = bytes.len();
        match change {
            Change::Set(at, byte) => {
                if let Some(place) = bytes.get_mut(at % (length + 1)) {
                    *place = *byte;
                }
            }
            Change::Word(at, word) => {
                let at = (at % (length + 1)) & !3;
                if let Some(place) = bytes.get_mut(at..at + 4) {
                    place.copy_from_slice(&word.to_le_bytes());
                }
            }
            Change::Cut(at) => bytes.truncate(length - at % (length / 4 + 1)),
            Change::Insert(at, more) => {
                let at = at % (length + 1);
                bytes.splice(at..at, more.iter().copied());
            }
            Change::Append(which) => bytes.extend(&seeds[which % seeds.len()].1),
        }
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]
    #[test]
    fn changed_containers_are_taken_apart(which in any::<usize>(), changes in changes()) {
        let seeds = seeds();
        let (_, bytes) = &seeds[which % seeds.len()];
        take_apart(&changed(bytes.clone(), &changes, &seeds));
    }
}
