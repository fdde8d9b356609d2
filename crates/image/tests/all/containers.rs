//! Containers built by hand from the description of their layout, and random bytes.

use image::{
    Contents, Error, Kind, contents, detect, entries, linked, linked_size, search_fatbins, search_texts,
    texts,
};
use proptest::prelude::*;

use crate::support::{PTX, entry, fatbin, lz4, lz4_bomb, zstd, zstd_bomb};

#[test]
fn kinds() {
    let cases: &[(&[u8], Option<Kind>)] = &[
        (PTX, Some(Kind::Ptx)),
        (b"// c\n/* x */ .version 1.0", Some(Kind::Ptx)),
        (b"", None),
        (b" ", None),
        (b"// only a comment", None),
        (b"/* open", None),
        (b"garbage", None),
        (b"\x7fELF\x02\x01\x01", Some(Kind::Elf)),
        (b"\x50\xed\x55\xba", Some(Kind::Fatbin)),
        (b"\xb1\x43\x62\x46", Some(Kind::FatbinWrapper)),
    ];
    for (bytes, kind) in cases {
        assert_eq!(detect(bytes), *kind, "{:?}", String::from_utf8_lossy(bytes));
    }
}

#[test]
fn the_newest_text_that_suits() {
    let file = fatbin(&[
        entry(2, 80, 0x11, b"machine code", 0, 64),
        entry(1, 52, 0x11, b".version 5.0 old", 0, 80),
        entry(1, 75, 0x11, b"\n.version 7.5 right\0\0", 0, 112),
        entry(1, 90, 0x11, b".version 8.0 new", 0, 80),
    ]);
    assert_eq!(entries(&file).len(), 4);
    assert_eq!(texts(&file, 86).unwrap()[0].1, b".version 7.5 right");
    assert_eq!(texts(&file, 90).unwrap()[0].1, b".version 8.0 new");
    let held = Contents { machine_code: vec![80], ptx: vec![52, 75, 90] };
    assert_eq!(texts(&file, 50), Err(Error::NoBinary(held.clone())));
    assert_eq!(held.to_string(), "machine code for sm_80 and PTX for sm_52, sm_75, sm_90");
    assert_eq!(texts(&fatbin(&[]), 86), Err(Error::Invalid));
}

#[test]
fn packed_texts() {
    let text = b".version 7.0 a packed text";
    for (flags, packed) in [(0x2011, lz4(text)), (0x8011, zstd(text))] {
        let file = fatbin(&[entry(1, 50, flags, &packed, text.len() as u64, 80)]);
        assert_eq!(texts(&file, 86).unwrap()[0].1, text);
    }
}

/// The flags of ELF headers as ptxas writes them: in the first byte up to CUDA 12, in the second from CUDA 13
/// on.
#[test]
fn machine_code_says_what_it_is_for() {
    for (abi, flags, arch) in [(7u8, 0x0056_0556u32, 86), (8, 0x0600_5a04, 90), (8, 0x0600_6402, 100)] {
        let mut elf = b"\x7fELF\x02\x01\x01\x41".to_vec();
        elf.push(abi);
        elf.resize(64, 0);
        elf[18] = 190;
        elf[48..52].copy_from_slice(&flags.to_le_bytes());
        let held = Contents { machine_code: vec![arch], ptx: vec![] };
        assert_eq!(texts(&elf, 86), Err(Error::NoBinary(held)), "{flags:#x}");
    }
    let code = |arch| entry(2, arch, 0x11, b"machine code", 0, 64);
    assert_eq!(contents(&fatbin(&[code(90), code(80), code(90)])).machine_code, [80, 90]);
}

/// An entry decompresses to exactly the declared size, and never to more.
#[test]
fn an_entry_of_another_size_than_it_declares_is_refused() {
    let lz4 = lz4(b".version 7.0 a packed text");
    let cases: [(u64, &[u8], u64, &str); 8] = [
        (0x2011, &lz4, 25, "declares 25 bytes and unpacks to more"),
        (0x2011, &lz4, 27, "declares 27 bytes and unpacks to 26"),
        (0x2011, &lz4_bomb(1 << 20), 1000, "declares 1000 bytes and unpacks to more"),
        (0x2011, b"\xff", 1000, "is not valid LZ4"),
        (0x8011, &zstd_bomb(100_000), 1000, "declares 1000 bytes and unpacks to more"),
        (0x8011, &zstd_bomb(100_000), 100_001, "declares 100001 bytes and unpacks to 100000"),
        (0x8011, b"no frame", 1000, "is not valid zstd"),
        (0x8011, &lz4, 1 << 40, "declares 1099511627776 bytes; the maximum is 536870912"),
    ];
    for (flags, packed, declared, why) in cases {
        let other = entry(2, 80, 0x11, b"machine code", 0, 64);
        let file = fatbin(&[other, entry(1, 50, flags, packed, declared, 80)]);
        let told = format!("entry 2 of the fatbin, at byte 0x60 (PTX for sm_50), {why}");
        assert_eq!(texts(&file, 86), Err(Error::Broken(told)));
    }
    let file = fatbin(&[entry(1, 50, 0x8011, &zstd_bomb(100_000), 100_000, 80)]);
    assert_eq!(texts(&file, 86).unwrap()[0].1, vec![b'.'; 100_000]);
}

#[test]
fn linked_images_come_apart() {
    let inputs = vec![("a.ptx".to_string(), PTX.to_vec()), (String::new(), b".version".to_vec())];
    let image = linked(&inputs, 0);
    assert!(image.starts_with(b"\x7fELF"));
    assert_eq!(linked_size(&image), Some(image.len()));
    assert_eq!(texts(&image, 86), Ok(inputs));
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400), kind in 0..5usize, cut in 0..200usize) {
        let mut all = match kind {
            0 => 0xba55_ed50u32.to_le_bytes().to_vec(),
            1 => linked(&[("x".into(), PTX.to_vec())], 0),
            2 => fatbin(&[entry(1, 50, 0x2011, &bytes, 1 << 40, 80), entry(1, 60, 0x8011, &bytes, 100, 80)]),
            3 => b"\x7fELF".to_vec(),
            _ => Vec::new(),
        };
        all.truncate(all.len().saturating_sub(cut));
        all.extend(&bytes);
        let _ = texts(&all, 86);
        let _ = image::total_size(&all);
    }
}

/// Some bytes of a program followed by `pieces` at an odd offset.
fn inside_program(pieces: &[&[u8]]) -> Vec<u8> {
    let mut file = b"\x7fELF some code".to_vec();
    for piece in pieces {
        file.extend([0, 1, 2]);
        file.extend(*piece);
    }
    file
}

#[test]
fn fatbins_are_found_anywhere() {
    let one = fatbin(&[entry(1, 75, 0x11, PTX, 0, 80), entry(2, 80, 0x11, b"machine code", 0, 64)]);
    let other = fatbin(&[entry(1, 90, 0x11, PTX, 0, 80)]);
    let broken = &one[..40];
    let file = inside_program(&[&one, &other, broken]);
    let found = search_fatbins(&file);
    assert_eq!(found.iter().map(|p| p.bytes).collect::<Vec<_>>(), [&one[..], &other[..]]);
    assert_eq!(found[0].offset, file.windows(4).position(|w| w == &one[..4]).unwrap());
}

#[test]
fn texts_are_found_as_they_are() {
    let text = b".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k() { ret; }\n";
    // The format strings from which a compiler prints such lines are not texts.
    let file = inside_program(&[b".version ", text, b"\0", b".version %d.%d\n.target ", text, b"\x01"]);
    let found: Vec<&[u8]> = search_texts(&file).iter().map(|p| p.bytes).collect();
    assert_eq!(found, [&text[..], &text[..]]);
}
