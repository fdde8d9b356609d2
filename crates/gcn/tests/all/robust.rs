//! No bytes make the crate panic or run without end. The fuzzer tests the same for longer (`fuzz/`).

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::support::apart::take_apart;
use crate::support::seeds;

/// A change of some bytes.
#[derive(Clone, Debug)]
enum Change {
    Set(usize, u8),
    /// Header, section table or program headers: where most of the structure is.
    Head(usize, u8),
    Word(usize, u32),
    Cut(usize),
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let words = prop_oneof![Just(0), Just(1), Just(u32::MAX), Just(1 << 31), 0u32..8000, any::<u32>()];
    let change = prop_oneof![
        (any::<usize>(), any::<u8>()).prop_map(|(at, byte)| Change::Set(at, byte)),
        (any::<usize>(), any::<u8>()).prop_map(|(at, byte)| Change::Head(at, byte)),
        (any::<usize>(), words).prop_map(|(at, word)| Change::Word(at, word)),
        any::<usize>().prop_map(Change::Cut),
    ];
    prop::collection::vec(change, 0..6)
}

fn changed(mut bytes: Vec<u8>, changes: &[Change]) -> Vec<u8> {
    for change in changes {
        let length = bytes.len();
        match *change {
            Change::Set(at, byte) => {
                if let Some(place) = bytes.get_mut(at % (length + 1)) {
                    *place = byte;
                }
            }
            Change::Head(at, byte) => {
                if let Some(place) = bytes.get_mut(at % 512) {
                    *place = byte;
                }
            }
            Change::Word(at, word) => {
                let at = (at % (length + 1)) & !3;
                if let Some(place) = bytes.get_mut(at..at + 4) {
                    place.copy_from_slice(&word.to_le_bytes());
                }
            }
            Change::Cut(at) => bytes.truncate(length - at % (length / 4 + 1)),
        }
    }
    bytes
}

/// The first inputs are valid, so that changes get past the first checks.
#[test]
fn the_fuzzers_first_inputs_are_code_objects() {
    for (name, bytes) in seeds() {
        take_apart(bytes);
        assert!(gcn::CodeObject::read(bytes).is_ok_and(|o| o.kernels.len() == 2), "{name}");
    }
}

/// Every length, so that every part is cut off once.
#[test]
fn cut_objects_are_refused_or_read() {
    let (_, bytes) = seeds()[0];
    for length in 0..bytes.len() {
        take_apart(&bytes[..length]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]
    #[test]
    fn changed_objects_are_taken_apart(which in any::<usize>(), changes in changes()) {
        let seeds = seeds();
        let (_, bytes) = seeds[which % seeds.len()];
        take_apart(&changed(bytes.to_vec(), &changes));
    }
}
