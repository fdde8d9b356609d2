//! Clang's bundles, plain and compressed, intact and malformed.

use image::{Bundled, CompressedSize, Error, bundle_size, bundled, compressed_size, decompress};

use crate::support::{ENTRIES, bundle, compressed, compressed_bytes};

#[test]
fn entries_are_found_with_their_targets() {
    let bytes = bundle();
    let wanted: Vec<Bundled<'_>> = ENTRIES.iter().map(|&(target, bytes)| Bundled { target, bytes }).collect();
    assert_eq!(bundled(&bytes), Ok(wanted));
    let mut longer = bytes.clone();
    longer.extend([1; 100]);
    assert_eq!(bundle_size(&|offset, length| longer.get(offset..offset + length)), Ok(bytes.len()));
}

#[test]
fn compressed_bundles_unpack_to_the_same() {
    for version in [1, 2, 3] {
        for zstd in [false, true] {
            let packed = compressed(version, zstd);
            assert_eq!(decompress(&packed), Ok(bundle()), "version {version}, zstd {zstd}");
            match compressed_size(&packed) {
                Ok(CompressedSize::Exactly(size)) => assert_eq!((size, version > 1), (packed.len(), true)),
                Ok(CompressedSize::AtMost(most)) => assert!(version == 1 && most >= packed.len()),
                Err(error) => panic!("version {version}: {error:?}"),
            }
            // Where the size is not stated, other bytes follow in memory.
            let longer = [&packed[..], &[0x78; 200]].concat();
            assert_eq!(decompress(&longer), Ok(bundle()), "version {version}, zstd {zstd}");
        }
    }
}

/// The size that the first version cannot have exceeded is enough for bytes that do not compress.
#[test]
fn a_bundle_that_does_not_compress_is_not_cut_off() {
    let mut noise = 1u64;
    let bytes: Vec<u8> = std::iter::repeat_with(|| {
        noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (noise >> 56) as u8
    })
    .take(300_000)
    .collect();
    for zstd in [false, true] {
        let packed = compressed_bytes(1, zstd, &bytes);
        let Ok(CompressedSize::AtMost(most)) = compressed_size(&packed) else { panic!("a size is stated") };
        assert!(most >= packed.len() && packed.len() > bytes.len(), "{most} {}", packed.len());
        assert_eq!(decompress(&packed).as_deref(), Ok(&bytes[..]));
    }
}

/// What is wrong with a malformed bundle is told, with its place.
#[test]
fn malformed_bundles_say_what_is_wrong() {
    let plain = bundle();
    let name = ENTRIES[0].0;
    let length = plain.len();
    let long = |at: usize, value: u64| {
        let mut bytes = plain.clone();
        bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        bytes
    };
    let size = u64::from_le_bytes(plain[40..48].try_into().unwrap());
    let at = u64::from_le_bytes(plain[32..40].try_into().unwrap());
    let cases = [
        (plain[..20].to_vec(), "it ends within its header".to_owned()),
        (plain[..40].to_vec(), format!("it ends within its table, at entry 0 of {}", ENTRIES.len())),
        (long(24, 1 << 40), format!("it declares {} entries; the maximum is 4096", 1u64 << 40)),
        (
            long(32, length as u64 + 1),
            format!(
                "entry 0 ({name}) has {size} bytes at {:#x}, but the bundle has {length} bytes",
                length + 1
            ),
        ),
        (
            long(40, u64::MAX),
            format!("entry 0 ({name}) has {} bytes at {at:#x}, but the bundle has {length} bytes", u64::MAX),
        ),
        (long(48, 1 << 50), format!("the name of entry 0 has {} bytes; the maximum is 4096", 1u64 << 50)),
    ];
    for (bytes, told) in cases {
        let told = Error::Broken(format!("the bundle is malformed: {told}"));
        assert_eq!(bundled(&bytes), Err(told));
    }
    let most = image::MAX_TEXT;
    let huge = long(40, most as u64);
    let told = format!(
        "the bundle is malformed: entry 0 ({name}) has {most} bytes at {at:#x}; the maximum size of a bundle is \
         {most}"
    );
    let found = bundle_size(&|offset, length| huge.get(offset..offset.checked_add(length)?));
    assert_eq!(found, Err(Error::Broken(told)));
}

#[test]
fn malformed_compressed_bundles_say_what_is_wrong() {
    let packed = compressed(2, true);
    let short = |at: usize, value: u16| {
        let mut bytes = packed.clone();
        bytes[at..at + 2].copy_from_slice(&value.to_le_bytes());
        bytes
    };
    let mut large = compressed(3, true);
    large[8..16].copy_from_slice(&u64::MAX.to_le_bytes());
    let cases = [
        (short(4, 0), "version 0 of its header is unknown; 1, 2 and 3 are known".to_owned()),
        (short(4, 9), "version 9 of its header is unknown; 1, 2 and 3 are known".to_owned()),
        (short(6, 7), "compression method 7 is unknown; 0 is zlib, 1 is zstd".to_owned()),
        (packed[..12].to_vec(), "it ends within its header".to_owned()),
        (large, format!("it declares {} bytes in all; the maximum is {}", u64::MAX, image::MAX_TEXT)),
    ];
    for (bytes, told) in cases {
        let told = Error::Broken(format!("the compressed bundle is malformed: {told}"));
        assert_eq!((compressed_size(&bytes), decompress(&bytes)), (Err(told.clone()), Err(told)));
    }
    let cut = &packed[..packed.len() - 1];
    let told = format!("the compressed bundle declares {} bytes and has {}", packed.len(), cut.len());
    assert_eq!(decompress(cut), Err(Error::Broken(told)));
}

/// A bundle cannot be smaller than its own header.
#[test]
fn a_compressed_bundle_contains_its_header() {
    for (version, header) in [(2, 24), (3, 32)] {
        let mut packed = compressed(version, true);
        packed[8..12].copy_from_slice(&(header - 1u32).to_le_bytes());
        let told = Error::Broken(format!(
            "the compressed bundle is malformed: it declares {} bytes in all, fewer than its header's {header}",
            header - 1
        ));
        assert_eq!((compressed_size(&packed), decompress(&packed)), (Err(told.clone()), Err(told)));
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
