//! The size of ELF files that lie in memory.

use image::{Error, elf_size};

/// A file with one segment, one section of 16 bytes at 200, and one without bytes in the file.
fn file() -> Vec<u8> {
    let mut file = vec![0u8; 64 + 56];
    file[..6].copy_from_slice(b"\x7fELF\x02\x01");
    file[32] = 64;
    file[40..42].copy_from_slice(&300u16.to_le_bytes());
    for (at, value) in [(54, 56u16), (56, 1), (58, 64), (60, 2)] {
        file[at..at + 2].copy_from_slice(&value.to_le_bytes());
    }
    file[64 + 8] = 100;
    file[64 + 32] = 20;
    file.resize(300 + 128, 0);
    file[300 + 4] = 1;
    file[300 + 24] = 200;
    file[300 + 32] = 16;
    file[364 + 4] = 8;
    file[364 + 32..364 + 36].copy_from_slice(&0x7fff_ffffu32.to_le_bytes());
    file
}

#[test]
fn the_last_part_ends_the_file() {
    let mut file = file();
    let at = |file: &[u8]| {
        let file: &'static [u8] = Vec::leak(file.to_vec());
        elf_size(&move |offset: usize, length: usize| file.get(offset..offset.checked_add(length)?))
    };
    let broken = |reason: &str| Err(Error::Broken(format!("the ELF file is malformed: {reason}")));
    assert_eq!(at(&file), Ok(428));
    file[300 + 24..300 + 28].copy_from_slice(&5000u32.to_le_bytes());
    assert_eq!(at(&file), Ok(5016));
    file[300 + 24..300 + 32].copy_from_slice(&u64::MAX.to_le_bytes());
    let told = "section 0 has 16 bytes at 0xffffffffffffffff; the maximum size of a file is 536870912";
    assert_eq!(at(&file), broken(told));
    assert_eq!(at(&file[..320]), broken("it ends within its section table"));
    assert_eq!(at(&file[..100]), broken("it ends within its segment table"));
    file[54] = 55;
    assert_eq!(at(&file), broken("the entries of its segment table have 55 bytes instead of 56"));
    file[5] = 2;
    assert_eq!(at(&file), Err(Error::Invalid));
    assert_eq!(at(&file[..20]), broken("it ends within its header"));
}
