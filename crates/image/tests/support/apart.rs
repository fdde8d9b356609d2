//! Every operation of the crate, with the properties that its results must have for any bytes.

use image::{
    Entry, Kind, Piece, bundle_size, bundled, compressed_size, contents, decompress, detect, entries,
    library, linked, linked_size, search_bundles, search_fatbins, search_texts, texts, total_size,
};

/// Limit on what is decompressed and linked again, beyond what a device would use, to bound the test's time.
const MUCH: u64 = 16 << 20;

/// Offset of a piece in the bytes that it is a part of.
fn place(piece: &[u8], of: &[u8]) -> usize {
    let offset = (piece.as_ptr() as usize).wrapping_sub(of.as_ptr() as usize);
    assert!(offset <= of.len() && piece.len() <= of.len() - offset, "a piece of other bytes");
    offset
}

fn fatbin(bytes: &[u8]) -> Vec<Entry<'_>> {
    let all = entries(bytes);
    let mut before = 0;
    for entry in &all {
        let offset = place(entry.payload, bytes);
        assert!(before <= entry.offset && entry.offset < offset, "entries overlap");
        before = offset + entry.payload.len();
        if entry.unpacked <= MUCH {
            let unpacked = entry.unpack();
            assert!(!unpacked.is_ok_and(|u| u.len() as u64 > MUCH.max(entry.payload.len() as u64)));
        }
    }
    all
}

/// Pieces do not overlap and are in file order.
fn in_order(file: &[u8], pieces: &[Piece]) {
    let mut end = 0;
    for piece in pieces {
        assert!(end <= piece.offset && place(piece.bytes, file) == piece.offset, "pieces overlap");
        end = piece.offset + piece.bytes.len();
    }
}

fn bundles(bytes: &[u8]) {
    let at = |offset: usize, length: usize| bytes.get(offset..offset.checked_add(length)?);
    let size = bundle_size(&at).ok();
    if let Ok(all) = bundled(bytes) {
        let end = all.iter().map(|one| place(one.bytes, bytes) + one.bytes.len()).max();
        assert!(size >= end, "a bundle ends with its last entry or its table");
    }
}

/// Takes the bytes apart in every possible way.
pub fn take_apart(bytes: &[u8]) {
    let kind = detect(bytes);
    let held = contents(bytes);
    let _ = (held.to_string(), total_size(bytes), linked_size(bytes), compressed_size(bytes));
    fatbin(bytes);
    for capability in [50, 86, u32::MAX] {
        if let Ok(all) = texts(bytes, capability) {
            assert!(matches!(kind, Some(Kind::Ptx | Kind::Fatbin | Kind::Linked)), "{kind:?} has texts");
            if all.iter().map(|(_, text)| text.len() as u64).sum::<u64>() <= MUCH {
                let again = linked(&all, 0);
                assert_eq!(linked_size(&again), Some(again.len()));
                assert_eq!(texts(&again, capability), Ok(all), "linking is reversible");
            }
        }
    }
    for member in library(bytes, 86).into_iter().flatten() {
        let has_more = member.devices != image::Contents::default();
        assert!(!member.texts.is_empty() || has_more, "a member without code");
    }
    let found = search_fatbins(bytes);
    in_order(bytes, &found);
    assert!(found.iter().all(|piece| !fatbin(piece.bytes).is_empty()), "a fatbin without entries");
    let found = search_bundles(bytes);
    in_order(bytes, &found);
    let known = |piece: &Piece| bundled(piece.bytes).is_ok() || piece.bytes.starts_with(b"CCOB");
    assert!(found.iter().all(known), "not a bundle");
    let found = search_texts(bytes);
    in_order(bytes, &found);
    assert!(found.iter().all(|piece| detect(piece.bytes) == Some(Kind::Ptx)), "not a text");
    bundles(bytes);
    if let Ok(plain) = decompress(bytes) {
        bundles(&plain);
    }
}
