//! The containers that hold device code in an executable: NVIDIA's fat binary for CUDA, clang's bundle for
//! HIP.

use clang::Arch;

/// `fatBinaryHeader`: magic, version, size of this header.
const FAT_MAGIC: u32 = 0xba55_ed50;
const FAT_HEADER: usize = 16;
/// An entry's header with the fields that PTX has.
const ENTRY_HEADER: usize = 80;
const KIND_PTX: u16 = 1;
/// 64 bits, CUDA, Linux.
const ENTRY_FLAGS: u64 = 0x11;

const BUNDLE_MAGIC: &[u8] = b"__CLANG_OFFLOAD_BUNDLE__";
const BUNDLE_ALIGNMENT: usize = 4096;

/// A fat binary with the PTX among `parts`.
pub fn fat_binary(parts: &[(&Arch, Vec<u8>)]) -> Vec<u8> {
    let mut entries = Vec::new();
    for (arch, text) in parts {
        let Arch::Ptx(number) = arch else { continue };
        let mut payload = text.clone();
        // The text ends with a zero, and the next entry is aligned.
        payload.push(0);
        payload.resize(payload.len().next_multiple_of(8), 0);
        let mut header = [0; ENTRY_HEADER];
        let mut put = |at: usize, bytes: &[u8]| header[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, &KIND_PTX.to_le_bytes());
        put(2, &0x0101u16.to_le_bytes());
        put(4, &(ENTRY_HEADER as u32).to_le_bytes());
        put(8, &(payload.len() as u64).to_le_bytes());
        put(20, &64u32.to_le_bytes());
        let version = clang::ptx_version(*number);
        put(24, &((version % 10) | (version / 10) << 16).to_le_bytes());
        put(28, &number.to_le_bytes());
        put(40, &ENTRY_FLAGS.to_le_bytes());
        entries.extend_from_slice(&header);
        entries.extend_from_slice(&payload);
    }
    let mut all = Vec::with_capacity(FAT_HEADER + entries.len());
    all.extend(FAT_MAGIC.to_le_bytes());
    all.extend(1u16.to_le_bytes());
    all.extend((FAT_HEADER as u16).to_le_bytes());
    all.extend((entries.len() as u64).to_le_bytes());
    all.extend(entries);
    all
}

/// clang's bundle: an empty entry for the host, then one for each part.
pub fn bundle(parts: &[(&Arch, Vec<u8>)]) -> Vec<u8> {
    let mut entries = vec![("host-x86_64-unknown-linux-gnu".to_owned(), &[][..])];
    entries.extend(parts.iter().map(|(arch, bytes)| match arch {
        Arch::Ptx(number) => (format!("hipv4-nvptx64-nvidia-cuda--sm_{number}"), &bytes[..]),
        Arch::Amd(name) => (format!("hipv4-amdgcn-amd-amdhsa--{name}"), &bytes[..]),
    }));
    joined(&entries)
}

/// clang's bundle of targets' names and code.
pub fn joined(entries: &[(String, &[u8])]) -> Vec<u8> {
    let table: usize = entries.iter().map(|(name, _)| 24 + name.len()).sum();
    let mut header = BUNDLE_MAGIC.to_vec();
    header.extend((entries.len() as u64).to_le_bytes());
    let mut at = header.len() + table;
    let mut contents = Vec::new();
    for (name, bytes) in entries {
        let start = at.next_multiple_of(BUNDLE_ALIGNMENT);
        contents.resize(contents.len() + start - at, 0);
        contents.extend_from_slice(bytes);
        at = start + bytes.len();
        for number in [start, bytes.len(), name.len()] {
            header.extend((number as u64).to_le_bytes());
        }
        header.extend(name.as_bytes());
    }
    header.extend(contents);
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] = b".version 7.5\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n";

    #[test]
    fn the_readers_of_the_driver_find_what_was_written() {
        let parts = [(&Arch::Ptx(80), TEXT.to_vec()), (&Arch::Ptx(90), TEXT.repeat(2))];
        let fat = fat_binary(&parts);
        assert_eq!(image::total_size(&fat), Some(fat.len() as u64));
        let texts: Vec<_> = image::entries(&fat)
            .iter()
            .map(|entry| (entry.arch, image::until_nul(&entry.unpack().expect("a text")).to_vec()))
            .collect();
        assert_eq!(texts, [(80, TEXT.to_vec()), (90, TEXT.repeat(2))]);

        let parts = [(&Arch::Ptx(80), TEXT.to_vec()), (&Arch::Amd("gfx906".into()), vec![7; 5])];
        let bundle = bundle(&parts);
        let found = image::bundled(&bundle).expect("a bundle");
        let found: Vec<_> = found.iter().map(|part| (part.target, part.bytes)).collect();
        assert_eq!(
            found,
            [
                ("host-x86_64-unknown-linux-gnu", &[][..]),
                ("hipv4-nvptx64-nvidia-cuda--sm_80", TEXT),
                ("hipv4-amdgcn-amd-amdhsa--gfx906", &[7; 5]),
            ]
        );
    }
}
