//! Clang's bundles, plain and compressed, intact and malformed.

use image::{Bundled, Error, bundle_size, bundled, compressed_size, decompress};

use crate::support::{ENTRIES, bundle, compressed};

#[test]
fn entries_are_found_with_their_targets() {
    let bytes = bundle();
    let wanted: Vec<Bundled<'_>> = ENTRIES.iter().map(|&(target, bytes)| Bundled { target, bytes }).collect();
    assert_eq!(bundled(&bytes), Some(wanted));
    let mut longer = bytes.clone();
    longer.extend([1; 100]);
    assert_eq!(bundle_size(&|offset, length| &longer[offset..offset + length]), Some(bytes.len()));
}

#[test]
fn compressed_bundles_unpack_to_the_same() {
    for version in [1, 2, 3] {
        for zstd in [false, true] {
            let packed = compressed(version, zstd);
            assert_eq!(decompress(&packed), Ok(bundle()), "version {version}, zstd {zstd}");
            let size = compressed_size(&packed);
            assert_eq!(size, (version > 1).then_some(packed.len()), "version {version}");
        }
    }
    assert_eq!(decompress(&compressed(4, true)), Err(Error::Invalid));
}

/// A bundle cannot be smaller than its own header.
#[test]
fn a_compressed_bundle_contains_its_header() {
    for (version, header) in [(2, 24), (3, 32)] {
        let mut packed = compressed(version, true);
        packed[8..12].copy_from_slice(&(header - 1u32).to_le_bytes());
        assert_eq!((compressed_size(&packed), decompress(&packed)), (None, Err(Error::Invalid)));
        assert!(image::search_bundles(&packed).is_empty(), "version {version}");
    }
}

/// Bundles are found between other bytes, in file order and without overlap.
#[test]
fn bundles_are_found_in_any_file() {
    let (plain, packed) = (bundle(), compressed(2, true));
    let mut file = vec![7; 10];
    file.extend(&plain);
    file.extend(b"__CLANG_OFFLOAD_BUNDLE__ as text, CCOB too");
    let second = file.len();
    file.extend(&packed);
    file.extend([0; 3]);
    let found: Vec<_> = image::search_bundles(&file).iter().map(|p| (p.offset, p.bytes.to_vec())).collect();
    assert_eq!(found, [(10, plain), (second, packed)]);
    // The first version does not state its size: it must be the whole file.
    let first = compressed(1, false);
    assert_eq!(image::search_bundles(&first).len(), 1);
    assert!(image::search_bundles(&[&[0][..], &first].concat()).is_empty());
}

#[test]
fn a_bundle_of_another_size_than_it_declares_is_refused() {
    let size = bundle().len() as u32;
    for zstd in [false, true] {
        for (declared, unpacks_to) in [(size + 1, size.to_string()), (size - 1, "more".into())] {
            let mut packed = compressed(2, zstd);
            packed[12..16].copy_from_slice(&declared.to_le_bytes());
            let told = format!(
                "the compressed bundle, at byte 0x18, declares {declared} bytes and unpacks to {unpacks_to}"
            );
            assert_eq!(decompress(&packed), Err(Error::Broken(told)), "zstd {zstd}");
        }
    }
}

proptest::proptest! {
    #[test]
    fn broken_bundles_are_told_and_nothing_panics(
        at in 0usize..200, value: u8, end in 0usize..200, version in 0u16..5, zstd: bool,
    ) {
        let mut plain = bundle();
        if let Some(byte) = plain.get_mut(at) {
            *byte = value;
        }
        plain.truncate(end.max(at + 1));
        let _ = bundled(&plain);
        let mut packed = compressed(version, zstd);
        if let Some(byte) = packed.get_mut(at) {
            *byte = value;
        }
        packed.truncate(end.max(8));
        let _ = (decompress(&packed), compressed_size(&packed));
    }
}
