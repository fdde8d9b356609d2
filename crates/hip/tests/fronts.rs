//! The fronts: their names, exports, and symbol versions.

mod library;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_void;

use object::Endianness;
use object::elf::{DT_SONAME, SHT_GNU_VERSYM};
use object::read::elf::{ElfFile64, FileHeader, SectionHeader, Sym};

const LITTLE: Endianness = Endianness::Little;

fn names() -> BTreeMap<String, String> {
    let text = include_str!("../data/exports.tsv");
    let rows = text.lines().filter(|l| !l.starts_with('#'));
    rows.filter_map(|l| l.split_once('\t')).map(|(n, v)| (n.to_string(), v.to_string())).collect()
}

#[test]
fn every_name_is_exported_under_its_version() {
    let wanted = names();
    assert!(wanted.len() > 490, "{} names", wanted.len());
    for number in [5, 6, 7] {
        let bytes = std::fs::read(library::front(number)).expect("the front");
        let file: ElfFile64 = ElfFile64::parse(&*bytes).expect("an ELF");
        let sections = file.elf_section_table();
        let table = sections.versions(LITTLE, &*bytes).expect("versions").expect("some");
        let symbols = file.elf_dynamic_symbol_table();
        let mut found = BTreeMap::new();
        for (index, symbol) in symbols.enumerate() {
            let name = symbols.symbol_name(LITTLE, symbol).expect("a name");
            let version = table.version(table.version_index(LITTLE, index)).expect("a version");
            let defined = !symbol.is_undefined(LITTLE) && symbol.st_value(LITTLE) != 0;
            if let (true, Some(version)) = (defined, version) {
                found.insert(
                    String::from_utf8_lossy(name).into_owned(),
                    String::from_utf8_lossy(version.name()).into_owned(),
                );
            }
        }
        assert_eq!(found, wanted, "libamdhip64.so.{number}");
        assert!(sections.iter().any(|s| s.sh_type(LITTLE) == SHT_GNU_VERSYM));
    }
}

#[test]
fn each_has_its_soname_and_every_node_up_to_its_time() {
    for number in [5, 6, 7] {
        let bytes = std::fs::read(library::front(number)).expect("the front");
        let file: ElfFile64 = ElfFile64::parse(&*bytes).expect("an ELF");
        let header = file.elf_header();
        let sections = header.sections(LITTLE, &*bytes).expect("sections");
        let (dynamic, strings) = sections.dynamic(LITTLE, &*bytes).expect("a table").expect("one");
        let strings = sections.strings(LITTLE, &*bytes, strings).expect("strings");
        let soname = dynamic.iter().find(|d| d.d_tag.get(LITTLE) == u64::from(DT_SONAME)).expect("a soname");
        let soname = strings.get(soname.d_val.get(LITTLE) as u32).expect("text");
        assert_eq!(soname, format!("libamdhip64.so.{number}").as_bytes());
        let mut nodes = BTreeSet::new();
        let (mut definitions, link) = sections.gnu_verdef(LITTLE, &*bytes).expect("a table").expect("nodes");
        let strings = sections.strings(LITTLE, &*bytes, link).expect("strings");
        while let Some((_, mut names)) = definitions.next().expect("a node") {
            if let Some(first) = names.next().expect("a name") {
                nodes
                    .insert(String::from_utf8_lossy(first.name(LITTLE, strings).expect("text")).into_owned());
            }
        }
        let wanted: BTreeSet<String> = names().into_values().collect();
        assert!(nodes.is_superset(&wanted), "{nodes:?}");
    }
}

#[test]
fn all_fronts_reach_one_library() {
    type GetName = unsafe extern "C" fn(u32) -> *const c_void;
    let mut addresses = BTreeSet::new();
    for number in [5, 6, 7] {
        // SAFETY: the front's initialiser opens the library beside it, whose initialisers do nothing.
        let front = unsafe { libloading::Library::new(library::front(number)) }.expect("the front");
        // SAFETY: the function has this signature in HIP's header; the text lives as long as the library.
        let address = unsafe { front.get::<GetName>(b"hipGetErrorName\0").expect("a name")(1) };
        assert!(!address.is_null());
        addresses.insert(address as u64);
    }
    assert_eq!(addresses.len(), 1, "one library, so one text");
}
