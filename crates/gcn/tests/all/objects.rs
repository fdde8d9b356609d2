//! Code objects that clang 19 compiled (`tests/data/make.sh`), compared with what llvm-readelf-19 says about
//! them, and objects that are refused.

use gcn::object::{Field, SymbolKind};
use gcn::{CodeObject, Error, Generation, Setting};

const GFX906: &[u8] = include_bytes!("../data/saxpy.gfx906.hsaco");
const VERSION_2: &[u8] = include_bytes!("../data/saxpy.v2.gfx906.hsaco");
const GFX90A: &[u8] = include_bytes!("../data/saxpy.gfx90a.hsaco");
const GFX1100: &[u8] = include_bytes!("../data/saxpy.gfx1100.hsaco");

fn read(bytes: &[u8]) -> CodeObject<'_> {
    CodeObject::read(bytes).expect("a code object")
}

#[test]
fn the_header_gives_version_and_target() {
    for (bytes, target, generation) in [
        (GFX906, "gfx906", Generation::Gfx9),
        (GFX90A, "gfx90a:xnack-", Generation::Gfx90a),
        (GFX1100, "gfx1100", Generation::Gfx11),
    ] {
        let object = read(bytes);
        assert_eq!((object.version, object.target.to_string().as_str()), (5, target));
        assert_eq!(object.target.target.generation, generation);
        assert_eq!(CodeObject::target_of(bytes), Ok(object.target));
    }
    assert_eq!(read(GFX906).target.sramecc, Setting::Any);
    assert_eq!(read(GFX1100).target.xnack, Setting::Unsupported);
}

#[test]
fn kernels_have_code_metadata_and_descriptors() {
    let object = read(GFX906);
    let names: Vec<_> = object.kernels.iter().map(|k| (k.name.as_str(), k.entry, k.size)).collect();
    assert_eq!(names, [("saxpy", 0x1900, 116), ("reverse", 0x1a00, 76)]);
    for kernel in &object.kernels {
        assert_eq!(object.code(kernel).map(<[u8]>::len), Some(kernel.size as usize));
        assert_eq!(kernel.descriptor.reserved(), []);
        let metadata = &object.metadata.kernels[kernel.metadata.expect("metadata")];
        assert_eq!((metadata.name.as_str(), metadata.wave_size), (kernel.name.as_str(), 64));
        assert_eq!(metadata.kernarg_size, kernel.descriptor.get(Field::KernargSize));
        assert_eq!(metadata.group_size, kernel.descriptor.get(Field::GroupSegment));
        assert!(metadata.vgprs <= kernel.descriptor.vgprs() && metadata.sgprs <= kernel.descriptor.sgprs());
    }
    let [saxpy, reverse] = object.metadata.kernels.as_slice() else { panic!("two kernels") };
    assert_eq!(saxpy.required_workgroup, Some([64, 1, 1]));
    assert_eq!((reverse.required_workgroup, reverse.group_size), (None, 1024));
    let offsets: Vec<_> = saxpy.arguments.iter().map(|a| (a.offset, a.size, a.kind.as_str())).collect();
    assert_eq!(
        offsets,
        [(0, 8, "global_buffer"), (8, 8, "global_buffer"), (16, 4, "by_value"), (20, 4, "by_value")]
    );
    let d = &object.kernels[0].descriptor;
    assert_eq!((d.get(Field::KernargPtr), d.get(Field::WorkgroupIdX), d.get(Field::WorkgroupIdY)), (1, 1, 0));
    assert_eq!((d.get(Field::DenormMode32), d.get(Field::IeeeMode), d.wave_size()), (3, 1, 64));
    assert_eq!(read(GFX1100).kernels[0].descriptor.wave_size(), 32);
}

/// A stripped file has only dynamic symbols.
#[test]
fn symbols_come_from_either_table() {
    let object = read(GFX906);
    assert!(object.symbols.iter().any(|s| s.name == "reverse" && s.kind == SymbolKind::Function));
    let mut stripped = GFX906.to_vec();
    // Turns `.symtab` (section 11) into a section of an unknown type.
    let at = 3168 + 11 * 64 + 4;
    stripped[at..at + 4].copy_from_slice(&0x6000_0000u32.to_le_bytes());
    assert_eq!(read(&stripped).kernels, object.kernels);
}

/// Each error says what is wrong and where.
#[test]
fn other_files_are_refused_by_name() {
    let changed = |at: usize, bytes: &[u8]| {
        let mut copy = GFX906.to_vec();
        copy[at..at + bytes.len()].copy_from_slice(bytes);
        CodeObject::read(&copy).expect_err("refused").to_string()
    };
    assert_eq!(changed(18, &[62]), "this is no AMD code object: its machine is 62 instead of 224");
    assert_eq!(changed(7, &[65]), "the ELF header names operating system 65; only 64 (HSA) is read");
    assert!(changed(8, &[9]).contains("ABI version 9"));
    assert!(changed(48, &[0xfe]).contains("flags 0x5fe name an unknown instruction set"));
    assert!(matches!(CodeObject::read(b".version 8.0"), Err(Error::Foreign(_))));
    // The first kernel's entry.
    assert_eq!(
        changed(0x780 + 16, &[0, 0, 0, 0x10]),
        "the kernel descriptor saxpy.kd: its entry 0x10000780 is outside of all code"
    );
    // The metadata begins with a map.
    assert_eq!(changed(0x214, &[0x90]), "the metadata, its top level: it is an array instead of a map");
    // Section headers beyond the end.
    assert!(changed(40, &[0xff, 0xff]).starts_with("the section table: "));
}

/// Values as llvm-readobj-15 and llvm-objdump-15 show them.
#[test]
fn version_2_has_its_kernels_and_metadata() {
    let object = read(VERSION_2);
    assert_eq!((object.version, object.target.to_string().as_str()), (2, "gfx906:sramecc+:xnack-"));
    let names: Vec<_> = object.kernels.iter().map(|k| (k.name.as_str(), k.entry, k.size)).collect();
    assert_eq!(names, [("saxpy", 0x1b00, 116), ("reverse", 0x1d00, 76)]);
    let newer = read(GFX906);
    for (kernel, same) in object.kernels.iter().zip(&newer.kernels) {
        // clang 19 begins with the same instruction.
        assert_eq!(object.code(kernel).map(|c| &c[..4]), newer.code(same).map(|c| &c[..4]));
        let metadata = &object.metadata.kernels[kernel.metadata.expect("metadata")];
        assert_eq!((metadata.name.as_str(), metadata.wave_size), (kernel.name.as_str(), 64));
        for field in [Field::KernargSize, Field::GroupSegment, Field::KernargPtr, Field::WorkgroupIdX] {
            assert_eq!(kernel.descriptor.get(field), same.descriptor.get(field), "{field:?}");
        }
    }
    let [saxpy, reverse] = object.metadata.kernels.as_slice() else { panic!("two kernels") };
    assert_eq!((saxpy.required_workgroup, saxpy.max_workgroup), (Some([64, 1, 1]), 64));
    assert_eq!((saxpy.symbol.as_str(), saxpy.language.as_str()), ("saxpy", "OpenCL C"));
    assert_eq!((reverse.required_workgroup, reverse.group_size), (None, 1024));
    let arguments: Vec<_> =
        saxpy.arguments.iter().map(|a| (a.offset, a.size, a.kind.as_str(), a.type_name.as_str())).collect();
    assert_eq!(
        arguments,
        [
            (0, 8, "global_buffer", "float*"),
            (8, 8, "global_buffer", "float*"),
            (16, 4, "by_value", "float"),
            (20, 4, "by_value", "uint")
        ]
    );
}

/// A code object of version 2 with nothing but notes: the target's as the first compilers wrote it, and YAML.
fn notes_of_version_2(stepping: u8, yaml: &str) -> Vec<u8> {
    let mut bytes = vec![0; 64 + 56];
    bytes[..16].copy_from_slice(b"\x7fELF\x02\x01\x01\x40\0\0\0\0\0\0\0\0");
    let mut set = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
    set(16, &[3, 0, 224, 0, 1]);
    set(32, &[64]);
    set(52, &[64, 0, 56, 0, 1, 0, 64]);
    // One segment with notes.
    set(64, &[4]);
    let isa: Vec<u8> = [[4u8, 0, 7, 0], [9, 0, 0, 0], [0, 0, 0, 0], [stepping, 0, 0, 0]].concat();
    let mut notes = Vec::new();
    for (kind, desc) in [(3u32, isa.as_slice()), (10, yaml.as_bytes())] {
        notes.extend([4u32, desc.len() as u32, kind].iter().flat_map(|w| w.to_le_bytes()));
        notes.extend(b"AMD\0");
        notes.extend(desc);
        notes.resize(notes.len().next_multiple_of(4), 0);
    }
    let size = (notes.len() as u32).to_le_bytes();
    set(64 + 8, &[120]);
    set(64 + 32, &size);
    set(64 + 40, &size);
    set(64 + 48, &[4]);
    bytes.extend(notes);
    bytes
}

/// The manual's table of steppings; flags say nothing here.
#[test]
fn version_2_names_its_target_in_a_note() {
    let rows = [(0, "gfx900:sramecc-:xnack-"), (1, "gfx900:sramecc-:xnack+"), (6, "gfx906:sramecc-:xnack-")];
    for (stepping, target) in rows.into_iter().chain([(13, "gfx90c:sramecc-:xnack+")]) {
        let bytes = notes_of_version_2(stepping, "---\nVersion: [ 1, 0 ]\n...\n");
        assert_eq!(read(&bytes).target.to_string(), target);
    }
    let error = CodeObject::read(&notes_of_version_2(0xee, "")).expect_err("refused").to_string();
    assert!(error.contains("unknown instruction set"), "{error}");
}

/// What LLVM's writer of YAML makes of other metadata, and what is no metadata.
#[test]
fn version_2_has_yaml() {
    let read_text = |text: &str| {
        CodeObject::read(&notes_of_version_2(6, text))
            .map(|o| (*o.metadata).clone())
            .map_err(|e| e.to_string())
    };
    let text = "---\nVersion: [ 1, 0 ]\nPrintf:\n  - '1:1:4:it''s %d\\n'\n  - \"2:0:a\\tb\"\n";
    let printf = read_text(text).expect("metadata").printf;
    assert_eq!(printf, [&b"1:1:4:it's %d\\n"[..], b"2:0:a\tb"]);
    let long = format!("---\nPrintf: [ '{}',\n    'x, y' ]\n...\n", "a".repeat(80));
    assert_eq!(read_text(&long).expect("metadata").printf, [&[b'a'; 80][..], b"x, y"]);
    for (text, reason) in [
        ("Kernels:\n  - Name: k\n", "there is no symbol k"),
        ("Kernels:\n  - Args:\n", "it has no Name"),
        ("Kernels: 7\n", "an integer out of range instead of an array"),
        ("Printf: [ a,\n", "the list has no end"),
        ("Printf:\n    - a\n  - b\n", "it is indented less"),
        ("just text\n", "instead of a map"),
        (&"- ".repeat(100), "nested too deeply"),
    ] {
        let error = read_text(text).expect_err(text);
        assert!(error.contains(reason), "{text}: {error}");
    }
}

/// Relocations that link to a section of code instead of symbols.
#[test]
fn relocations_link_to_symbols() {
    const COMMENT: usize = 10;
    const TEXT: u32 = 7;
    let mut bytes = GFX906.to_vec();
    let headers = u64::from_le_bytes(bytes[40..48].try_into().expect("eight bytes")) as usize;
    let mut set = |field: usize, value: &[u8]| {
        let at = headers + 64 * COMMENT + field;
        bytes[at..at + value.len()].copy_from_slice(value);
    };
    // The type RELA, the size of two entries, the link, and the size of an entry.
    set(4, &4u32.to_le_bytes());
    set(32, &48u64.to_le_bytes());
    set(40, &TEXT.to_le_bytes());
    set(56, &24u64.to_le_bytes());
    let error = CodeObject::read(&bytes).expect_err("no symbols");
    assert_eq!(
        error.to_string(),
        "the relocations of section 10: section 7, which they link to, is no table of symbols (type 1)"
    );
}
