//! The fronts: their names, exports, and symbol versions.

mod library;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CStr, c_char, c_void};
use std::path::PathBuf;

use object::Endianness;
use object::elf::{DT_SONAME, SHT_GNU_VERDEF, SHT_GNU_VERSYM};
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

/// `libhiprtc` with a number in its soname.
fn hiprtc(number: u32) -> PathBuf {
    library::front(6).with_file_name(format!("libhiprtc.so.{number}"))
}

/// The soname of a library.
fn soname(bytes: &[u8]) -> String {
    let file: ElfFile64 = ElfFile64::parse(bytes).expect("an ELF");
    let sections = file.elf_header().sections(LITTLE, bytes).expect("sections");
    let (dynamic, strings) = sections.dynamic(LITTLE, bytes).expect("a table").expect("one");
    let strings = sections.strings(LITTLE, bytes, strings).expect("strings");
    let soname = dynamic.iter().find(|d| d.d_tag.get(LITTLE) == u64::from(DT_SONAME)).expect("a soname");
    let soname = strings.get(soname.d_val.get(LITTLE) as u32).expect("text");
    String::from_utf8_lossy(soname).into_owned()
}

/// AMD's library exports its names without versions.
#[test]
fn the_compilers_library_exports_its_names_without_versions() {
    let wanted: BTreeSet<String> = names().into_keys().filter(|n| n.starts_with("hiprtc")).collect();
    assert!(wanted.len() >= 18, "{wanted:?}");
    for number in [6, 7] {
        let bytes = std::fs::read(hiprtc(number)).expect("the front");
        assert_eq!(soname(&bytes), format!("libhiprtc.so.{number}"));
        let file: ElfFile64 = ElfFile64::parse(&*bytes).expect("an ELF");
        assert!(file.elf_section_table().iter().all(|s| s.sh_type(LITTLE) != SHT_GNU_VERDEF));
        let symbols = file.elf_dynamic_symbol_table();
        let defined = symbols.iter().filter(|s| !s.is_undefined(LITTLE) && s.st_value(LITTLE) != 0);
        let found: BTreeSet<String> = defined
            .map(|s| String::from_utf8_lossy(symbols.symbol_name(LITTLE, s).expect("a name")).into_owned())
            .collect();
        assert_eq!(found, wanted, "libhiprtc.so.{number}");
    }
}

/// The linker works through either library on the same links; compiling says that it cannot.
#[test]
fn the_compilers_library_is_the_same_behind() {
    type Create = unsafe extern "C" fn(u32, *const u32, *mut u64, *mut u64) -> u32;
    type Destroy = unsafe extern "C" fn(u64) -> u32;
    type Name = unsafe extern "C" fn(u32) -> *const c_char;
    type Version = unsafe extern "C" fn(*mut i32, *mut i32) -> u32;
    type Program =
        unsafe extern "C" fn(*mut u64, *const c_char, *const c_char, i32, *const u64, *const u64) -> u32;
    const INVALID_INPUT: u32 = 3;
    for number in [6, 7] {
        // SAFETY: the fronts' initialisers open the library beside them, whose initialisers do nothing.
        let open = |path| unsafe { libloading::Library::new(path) }.expect("the front");
        let (own, hip) = (open(hiprtc(number)), open(library::front(number)));
        let (mut link, mut major, mut minor, mut program) = (0, 0, 0, 0);
        // SAFETY: the functions have these signatures in HIP's header, and get pointers to variables.
        unsafe {
            assert_eq!(own.get::<Version>(b"hiprtcVersion\0").expect("a name")(&mut major, &mut minor), 0);
            let create = own.get::<Create>(b"hiprtcLinkCreate\0").expect("a name");
            assert_eq!(create(0, std::ptr::null(), std::ptr::null_mut(), &mut link), 0);
            let destroy = hip.get::<Destroy>(b"hiprtcLinkDestroy\0").expect("a name");
            assert_eq!(destroy(link), 0);
            let destroy = own.get::<Destroy>(b"hiprtcLinkDestroy\0").expect("a name");
            assert_eq!(destroy(link), INVALID_INPUT);
            let program_of = own.get::<Program>(b"hiprtcCreateProgram\0").expect("a name");
            let (source, none) = (c"__global__ void k() {}", std::ptr::null());
            let made = program_of(&mut program, source.as_ptr(), c"k.hip".as_ptr(), -1, none, none);
            assert_eq!(made, INVALID_INPUT);
            let name = own.get::<Name>(b"hiprtcGetErrorString\0").expect("a name")(made);
            assert_eq!(CStr::from_ptr(name), c"HIPRTC_ERROR_INVALID_INPUT");
        }
        assert!(major > 0);
    }
}

/// `hipDrvGraphAddMemsetNode` takes HIP 6's structure in `.so.6`, and HIP 7's in `.so.7`.
#[test]
fn fills_of_the_drivers_graphs_are_described_as_in_their_release() {
    // `HIP_MEMSET_NODE_PARAMS` and `hipMemsetParams`, by words.
    type Describe = fn(u64, u64, u64) -> Vec<u64>;
    let six: Describe = |to, value, width| vec![to, 0, value | 4 << 32, width, 1];
    let seven: Describe = |to, value, width| vec![to, 4, 1, 0, value, width];
    for (number, params) in [(6, six), (7, seven)] {
        // SAFETY: the front's initialiser opens the library beside it, whose initialisers do nothing. The
        // functions take as many words, and what their pointers point to is as large as they expect.
        unsafe {
            let hip = libloading::Library::new(library::front(number)).expect("the front");
            type Words = unsafe extern "C" fn(u64, u64, u64, u64, u64, u64) -> u32;
            let call = |name: &str, args: [u64; 6]| {
                let function = hip.get::<Words>(name.as_bytes()).expect("a name");
                let [a, b, c, d, e, f] = args;
                assert_eq!(function(a, b, c, d, e, f), 0, "{name} of {number}");
            };
            let at = |v: &mut u64| std::ptr::from_mut(v) as u64;
            let (mut memory, mut graph, mut node, mut exec) = (0u64, 0u64, 0u64, 0u64);
            call("hipMalloc", [at(&mut memory), 64, 0, 0, 0, 0]);
            call("hipGraphCreate", [at(&mut graph), 0, 0, 0, 0, 0]);
            let mut first = params(memory, 7, 16);
            call("hipDrvGraphAddMemsetNode", [at(&mut node), graph, 0, 0, first.as_mut_ptr() as u64, 0]);
            call("hipGraphInstantiate", [at(&mut exec), graph, 0, 0, 0, 0]);
            let mut words = [0u32; 16];
            for (value, count) in [(7u64, 16), (9, 8)] {
                if value == 9 {
                    let mut next = params(memory, 9, 8);
                    let to = next.as_mut_ptr() as u64;
                    call("hipDrvGraphExecMemsetNodeSetParams", [exec, node, to, 0, 0, 0]);
                }
                call("hipGraphLaunch", [exec, 0, 0, 0, 0, 0]);
                call("hipDeviceSynchronize", [0; 6]);
                call("hipMemcpyDtoH", [words.as_mut_ptr() as u64, memory, 64, 0, 0, 0]);
                let right = (0..16).all(|i| u64::from(words[i]) == if i < count { value } else { 7 });
                assert!(right, "{number}: {words:?}");
            }
        }
    }
}

#[test]
fn each_has_its_soname_and_every_node_up_to_its_time() {
    for number in [5, 6, 7] {
        let bytes = std::fs::read(library::front(number)).expect("the front");
        assert_eq!(soname(&bytes), format!("libamdhip64.so.{number}"));
        let file: ElfFile64 = ElfFile64::parse(&*bytes).expect("an ELF");
        let header = file.elf_header();
        let sections = header.sections(LITTLE, &*bytes).expect("sections");
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
