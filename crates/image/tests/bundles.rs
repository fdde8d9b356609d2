//! Clang's bundles, plain and compressed, whole and broken.

use image::{Bundled, Error, bundle_size, bundled, compressed_size, decompress};

const ENTRIES: [(&str, &[u8]); 3] = [
    ("host-x86_64-unknown-linux-gnu-", b""),
    ("hip-amdgcn-amd-amdhsa--gfx906", b"\x7fELF"),
    ("p", b".version"),
];

/// The layout of clang's documentation.
fn bundle() -> Vec<u8> {
    let header: usize = 32 + ENTRIES.iter().map(|(t, _)| 24 + t.len()).sum::<usize>();
    let mut out = b"__CLANG_OFFLOAD_BUNDLE__\x03\0\0\0\0\0\0\0".to_vec();
    let mut at = header as u64;
    for (target, code) in ENTRIES {
        for n in [at, code.len() as u64, target.len() as u64] {
            out.extend(n.to_le_bytes());
        }
        out.extend(target.as_bytes());
        at += code.len() as u64;
    }
    ENTRIES.iter().for_each(|(_, code)| out.extend(*code));
    out
}

fn compressed(version: u16, zstd: bool) -> Vec<u8> {
    let plain = bundle();
    let packed = match zstd {
        true => ruzstd::encoding::compress_to_vec(&plain[..], ruzstd::encoding::CompressionLevel::Fastest),
        false => miniz_oxide::deflate::compress_to_vec_zlib(&plain, 6),
    };
    let mut out = b"CCOB".to_vec();
    out.extend(version.to_le_bytes());
    out.extend(u16::from(zstd).to_le_bytes());
    match version {
        1 => out.extend((plain.len() as u32).to_le_bytes()),
        2 => {
            out.extend((24 + packed.len() as u32).to_le_bytes());
            out.extend((plain.len() as u32).to_le_bytes());
        }
        _ => {
            out.extend((32 + packed.len() as u64).to_le_bytes());
            out.extend((plain.len() as u64).to_le_bytes());
        }
    }
    out.extend([0; 8]);
    out.extend(packed);
    out
}

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
