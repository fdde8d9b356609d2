//! Containers built by hand from the descriptions of their layouts, for tests and as the fuzzer's first
//! inputs.

// Each test and the example use only part of it.
#![allow(dead_code, reason = "not every test that includes this file uses all of it")]

pub mod apart;

/// The head of a text.
pub const PTX: &[u8] = b"\n.version 7.0\n.target sm_50\n.address_size 64\n";

/// One entry: kind, architecture, flags, payload, unpacked size, header size.
pub fn entry(kind: u16, arch: u32, flags: u64, payload: &[u8], unpacked: u64, header: usize) -> Vec<u8> {
    let mut e = vec![0; header];
    let padded = payload.len().next_multiple_of(8);
    e[0..2].copy_from_slice(&kind.to_le_bytes());
    e[2..4].copy_from_slice(&0x0101u16.to_le_bytes());
    e[4..8].copy_from_slice(&(header as u32).to_le_bytes());
    e[8..12].copy_from_slice(&(padded as u32).to_le_bytes());
    let packed = if unpacked == 0 { 0 } else { payload.len() as u32 };
    e[16..20].copy_from_slice(&packed.to_le_bytes());
    e[28..32].copy_from_slice(&arch.to_le_bytes());
    e[40..48].copy_from_slice(&flags.to_le_bytes());
    e[56..64].copy_from_slice(&unpacked.to_le_bytes());
    e.extend(payload);
    e.resize(header + padded, 0);
    e
}

/// A fatbin of these entries.
pub fn fatbin(parts: &[Vec<u8>]) -> Vec<u8> {
    let body: Vec<u8> = parts.concat();
    let mut f = 0xba55_ed50u32.to_le_bytes().to_vec();
    f.extend(1u16.to_le_bytes());
    f.extend(16u16.to_le_bytes());
    f.extend((body.len() as u64).to_le_bytes());
    f.extend(body);
    f
}

/// A text as one LZ4 block: a token for 16 or more literals (15, then the rest), no match.
pub fn lz4(text: &[u8]) -> Vec<u8> {
    let mut block = vec![0xf0, (text.len() - 15) as u8];
    block.extend(text);
    block
}

/// A text as a zstd frame: single segment, one byte of content size, one raw last block.
pub fn zstd(text: &[u8]) -> Vec<u8> {
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x20, text.len() as u8];
    frame.extend(&(((text.len() as u32) << 3) | 1).to_le_bytes()[..3]);
    frame.extend(text);
    frame
}

/// An LZ4 block that repeats its first byte `count` times.
pub fn lz4_bomb(count: usize) -> Vec<u8> {
    let mut block = vec![0x1f, b'.', 1, 0];
    block.extend(std::iter::repeat_n(255, (count - 20) / 255));
    block.push(((count - 20) % 255) as u8);
    block
}

/// A zstd frame without a declared size whose last block repeats one byte `count` times.
pub fn zstd_bomb(count: u32) -> Vec<u8> {
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58];
    frame.extend(&((count << 3) | 3).to_le_bytes()[..3]);
    frame.push(b'.');
    frame
}

/// Targets and their code.
pub const ENTRIES: [(&str, &[u8]); 3] = [
    ("host-x86_64-unknown-linux-gnu-", b""),
    ("hip-amdgcn-amd-amdhsa--gfx906", b"\x7fELF"),
    ("p", b".version"),
];

/// A bundle of [`ENTRIES`], in the layout of clang's documentation.
pub fn bundle() -> Vec<u8> {
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

/// The same bundle, compressed, with a header of this version.
pub fn compressed(version: u16, zstd: bool) -> Vec<u8> {
    compressed_bytes(version, zstd, &bundle())
}

/// Any bytes in a compressed bundle.
pub fn compressed_bytes(version: u16, zstd: bool, plain: &[u8]) -> Vec<u8> {
    let packed = match zstd {
        true => ruzstd::encoding::compress_to_vec(plain, ruzstd::encoding::CompressionLevel::Fastest),
        false => miniz_oxide::deflate::compress_to_vec_zlib(plain, 6),
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

/// A section of an ELF file: name, type, size of its elements, bytes.
pub type Section<'a> = (&'a str, u32, u64, &'a [u8]);

/// A 64-bit ELF file for a machine. Every section links to the last of `sections`, which holds the names of
/// symbols if there are any.
pub fn elf(machine: u16, flags: u32, sections: &[Section]) -> Vec<u8> {
    let mut names = vec![0];
    let mut table = vec![0; 64];
    let mut body: Vec<u8> = Vec::new();
    let count = sections.len() as u32 + 2;
    let name_table: [Section; 1] = [(".shstrtab", 3, 0, &[])];
    for (name, kind, element, bytes) in sections.iter().chain(&name_table) {
        let (name_at, at) = (names.len() as u32, 64 + body.len() as u64);
        names.extend(name.as_bytes());
        names.push(0);
        let bytes = if *name == ".shstrtab" { names.as_slice() } else { bytes };
        for word in [name_at, *kind] {
            table.extend(word.to_le_bytes());
        }
        for word in [0, 0, at, bytes.len() as u64] {
            table.extend(word.to_le_bytes());
        }
        for word in [count - 2, 1] {
            table.extend(word.to_le_bytes());
        }
        for word in [1, *element] {
            table.extend(word.to_le_bytes());
        }
        body.extend(bytes);
    }
    let mut file = b"\x7fELF\x02\x01\x01".to_vec();
    file.resize(16, 0);
    for half in [1, machine] {
        file.extend(half.to_le_bytes());
    }
    file.extend(1u32.to_le_bytes());
    for word in [0, 0, 64 + body.len() as u64] {
        file.extend(word.to_le_bytes());
    }
    file.extend(flags.to_le_bytes());
    for half in [64, 0, 0, 64, count as u16, count as u16 - 1] {
        file.extend(half.to_le_bytes());
    }
    file.extend(body);
    file.extend(table);
    file
}

/// Machine code for sm_80 that defines one global function of this name, 4 bytes long.
pub fn machine_code(name: &str) -> Vec<u8> {
    let names = [b"\0", name.as_bytes(), b"\0"].concat();
    let mut symbols = vec![0; 24];
    symbols.extend([1, 0, 0, 0, 0x12, 0, 1, 0]);
    symbols.extend([0u64, 4].map(u64::to_le_bytes).concat());
    let sections: [Section; 3] =
        [(".text", 1, 0, &[0; 4]), (".symtab", 2, 24, &symbols), (".strtab", 3, 0, &names)];
    elf(190, 0x0050_0550, &sections)
}

/// A host compiler's object with fatbins in a section.
pub fn host_object(section: &str, fatbins: &[u8]) -> Vec<u8> {
    elf(62, 0, &[(section, 1, 0, fatbins)])
}

/// An archive of members with names of up to 15 bytes.
pub fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut file = b"!<arch>\n".to_vec();
    for (name, bytes) in members {
        let name = format!("{name}/");
        file.extend(format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", 0, 0, 0, 644, bytes.len()).bytes());
        file.extend(*bytes);
        file.resize(file.len().next_multiple_of(2), b'\n');
    }
    file
}

/// One container of each kind, with a file name.
pub fn seeds() -> Vec<(String, Vec<u8>)> {
    let text = b".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k() { ret; }\n";
    let (code, length) = (machine_code("k"), text.len() as u64);
    let plain = fatbin(&[entry(2, 80, 0x11, &code, 0, 64), entry(1, 52, 0x11, text, 0, 80)]);
    let packed = fatbin(&[
        entry(1, 50, 0x2011, &lz4(text), length, 80),
        entry(1, 75, 0x8011, &zstd(text), length, 112),
        entry(2, 90, 0x11, &code, 0, 64),
    ]);
    let only_code = fatbin(&[entry(2, 80, 0x11, &code, 0, 64)]);
    let object = host_object("__nv_relfatbin", &[plain.as_slice(), &[0; 8], &only_code].concat());
    let program = host_object(".nv_fatbin", &packed);
    let library = archive(&[("a.o", &object), ("notes.txt", b"none"), ("b.o", &program)]);
    let links = [("a.ptx".to_string(), text.to_vec()), (String::new(), PTX.to_vec())];
    let mut all = vec![
        ("text", text.to_vec()),
        ("fatbin", plain),
        ("packed", packed),
        ("bomb", fatbin(&[entry(1, 50, 0x8011, &zstd_bomb(100_000), 100_000, 80)])),
        ("code", code),
        ("linked", image::linked(&links, 0)),
        ("object", object),
        ("program", program),
        ("library", library),
        ("bundle", bundle()),
    ];
    all.extend([
        ("zlib", compressed(1, false)),
        ("zstd", compressed(2, true)),
        ("wide", compressed(3, true)),
    ]);
    all.into_iter().map(|(name, bytes)| (name.to_string(), bytes)).collect()
}
