//! What the built library is called and exports.

mod library;

use std::collections::BTreeSet;

use object::read::elf::ElfFile64;
use object::{Object, ObjectSymbol};

#[test]
fn exports_the_hardwares_names_and_no_others() {
    let bytes = std::fs::read(library::built()).expect("the library");
    let file: ElfFile64 = ElfFile64::parse(&*bytes).expect("an ELF");
    let names =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/data/exports.txt")).expect("the list");
    let wanted: BTreeSet<&str> = names.lines().filter(|l| !l.is_empty()).collect();
    let exported: BTreeSet<&str> = file
        .dynamic_symbols()
        .filter(|s| s.is_definition() && s.is_global())
        .filter_map(|s| s.name().ok())
        .collect();
    let difference: Vec<&&str> = wanted.symmetric_difference(&exported).collect();
    assert!(wanted.len() > 700, "{} names", wanted.len());
    assert!(difference.is_empty(), "in one list only: {difference:?}");
}

#[test]
fn is_called_libcuda_so_1() {
    let bytes = std::fs::read(library::built()).expect("the library");
    let file: ElfFile64 = ElfFile64::parse(&*bytes).expect("an ELF");
    let endian = object::Endianness::Little;
    let sections = file.elf_section_table();
    let (entries, strings) = sections.dynamic(endian, &*bytes).expect("readable").expect("a dynamic section");
    let strings = sections.strings(endian, &*bytes, strings).expect("its strings");
    let soname = entries.iter().find(|e| e.d_tag.get(endian) == u64::from(object::elf::DT_SONAME));
    let soname = soname.expect("a name").d_val.get(endian) as u32;
    assert_eq!(strings.get(soname), Ok(&b"libcuda.so.1"[..]));
}
