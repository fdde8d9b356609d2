//! The fronts: their names, versions, and that all reach one library.

mod library;

use std::collections::BTreeMap;
use std::ffi::{CStr, c_char};

use object::Endianness;
use object::elf::DT_SONAME;
use object::read::elf::{ElfFile64, FileHeader, Sym};

const LITTLE: Endianness = Endianness::Little;

/// The names that a version has, as recorded from NVIDIA's libraries.
fn names(version: u32) -> Vec<String> {
    let text = include_str!("../data/exports.tsv");
    let rows = text.lines().filter(|l| !l.starts_with('#')).filter_map(|l| l.split_once('\t'));
    let of = |versions: &str| versions.split(' ').any(|v| v == version.to_string());
    rows.filter(|row| of(row.1)).map(|row| row.0.to_string()).collect()
}

#[test]
fn every_name_is_exported_under_its_version() {
    for ((version, end), count) in library::FRONTS.into_iter().zip([395, 435, 452]) {
        let bytes = std::fs::read(library::front(version)).expect("the front");
        let file: ElfFile64 = ElfFile64::parse(&*bytes).expect("an ELF");
        let sections = file.elf_section_table();
        let table = sections.versions(LITTLE, &*bytes).expect("versions").expect("some");
        let symbols = file.elf_dynamic_symbol_table();
        let node = format!("libcudart.so.{end}");
        let mut found = BTreeMap::new();
        for (index, symbol) in symbols.enumerate() {
            let name = symbols.symbol_name(LITTLE, symbol).expect("a name");
            let version = table.version(table.version_index(LITTLE, index)).expect("a version");
            let defined = !symbol.is_undefined(LITTLE) && symbol.st_value(LITTLE) != 0;
            if let (true, Some(version)) = (defined, version) {
                found.insert(String::from_utf8_lossy(name).into_owned(), version.name().to_vec());
            }
        }
        let wanted: BTreeMap<String, Vec<u8>> =
            names(version).into_iter().map(|name| (name, node.clone().into_bytes())).collect();
        assert_eq!(wanted.len(), count);
        assert_eq!(found, wanted, "{node}");
        let (dynamic, strings) = file
            .elf_header()
            .sections(LITTLE, &*bytes)
            .and_then(|s| s.dynamic(LITTLE, &*bytes))
            .expect("a table")
            .map(|(d, s)| (d, sections.strings(LITTLE, &*bytes, s).expect("strings")))
            .expect("one");
        let soname = dynamic.iter().find(|d| d.d_tag.get(LITTLE) == u64::from(DT_SONAME)).expect("a soname");
        assert_eq!(strings.get(soname.d_val.get(LITTLE) as u32).expect("text"), node.as_bytes());
    }
}

type GetName = unsafe extern "C" fn(u32) -> *const c_char;
type GetVersion = unsafe extern "C" fn(*mut i32) -> u32;

#[test]
fn each_tells_its_version_and_all_reach_one_library() {
    let mut texts = Vec::new();
    for (version, release) in [(11, 11080), (12, 12090), (13, 13000)] {
        // SAFETY: the front's initialiser opens the library beside it, whose initialisers do nothing.
        let front = unsafe { libloading::Library::new(library::front(version)) }.expect("the front");
        let mut found = 0;
        // SAFETY: the functions have these signatures in the header; texts live as long as the library.
        unsafe {
            assert_eq!(front.get::<GetVersion>(b"cudaRuntimeGetVersion\0").expect("a name")(&mut found), 0);
            texts.push(front.get::<GetName>(b"cudaGetErrorName\0").expect("a name")(1));
        }
        assert_eq!(found, release);
    }
    // SAFETY: the function returned a text.
    assert_eq!(unsafe { CStr::from_ptr(texts[0]) }, c"cudaErrorInvalidValue");
    assert!(texts.iter().all(|text| *text == texts[0]), "one library, so one text");
}

/// Every status of the header has its name, and a text; other numbers have neither.
#[test]
fn every_status_has_a_name_and_a_text() {
    // SAFETY: as above.
    let front = unsafe { libloading::Library::new(library::front(13)) }.expect("the front");
    // SAFETY: as above.
    let [name, text] = [b"cudaGetErrorName\0".as_slice(), b"cudaGetErrorString\0"]
        .map(|function| unsafe { *front.get::<GetName>(function).expect("a name") });
    // SAFETY: both return texts.
    let read = |of: GetName, code| unsafe { CStr::from_ptr(of(code)) }.to_str().expect("ASCII").to_string();
    let mut count = 0;
    for (code, wanted) in include_str!("../data/errors.tsv").lines().filter_map(|l| l.split_once('\t')) {
        let code = code.parse().expect("a number");
        assert_eq!(read(name, code), wanted);
        let text = read(text, code);
        assert!(!text.is_empty() && text != "unrecognized error code", "{wanted}");
        count += 1;
    }
    assert!(count > 130, "{count} statuses");
    assert_eq!(read(name, 1234), "unrecognized error code");
    assert_eq!(read(text, 1234), "unrecognized error code");
    assert_eq!(read(text, 0), "no error");
    assert_eq!(read(text, 2), "out of memory");
}
