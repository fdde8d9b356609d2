//! Containers of device code.
//!
//! [`detect`] identifies a container, and [`texts`] gives the PTX in it: for a fatbin, the one entry that
//! suits the device; for a linked image ([`linked`]), every text of the link. [`library`] finds the device
//! code in archives of host objects, [`search_fatbins`], [`search_bundles`] and [`search_texts`] find it
//! anywhere in a file.
//!
//! **Architecture invariant:** this crate knows containers, not the meaning of the code in them. No input
//! makes it panic, and the size of what it decompresses is bounded.

#![forbid(unsafe_code)]

mod bundle;
mod elf;
mod fatbin;
mod library;
mod search;
mod unpack;

pub use bundle::{
    BUNDLE_MAGIC, Bundled, COMPRESSED_HEADER, COMPRESSED_MAGIC, CompressedSize, bundle_size, bundled,
    compressed_size, decompress,
};
pub use elf::elf_size;
pub use fatbin::{
    Entry, EntryKind, FATBIN_MAGIC, FATBIN_MAGIC_OLD, FATBIN_WRAPPER_MAGIC, HEADER_SIZE, entries, total_size,
};
pub use library::{Member, library};
pub use search::{Piece, search_bundles, search_fatbins, search_texts};
pub use unpack::Unpack;

/// Maximum size of a decompressed text.
pub const MAX_TEXT: usize = 512 << 20;
/// Maximum size of a file: some library archives exceed 1 GiB.
pub const MAX_FILE: u64 = 8 << 30;

/// Kinds of containers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// PTX text.
    Ptx,
    /// A fatbin container.
    Fatbin,
    /// A wrapper (24 bytes) that points to a fatbin.
    FatbinWrapper,
    /// An ELF file: machine code of a real device.
    Elf,
    /// An image made by this driver's linker.
    Linked,
}

/// Why no text was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The bytes are none of the known containers.
    Invalid,
    /// A malformed container: where, and what is wrong.
    Broken(String),
    /// A container with code only for other devices.
    NoBinary(Contents),
}

/// The targets of the code in a container, sorted and without duplicates: 90 for sm_90.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// Devices that it has machine code for.
    pub machine_code: Vec<u32>,
    /// Targets of the PTX.
    pub ptx: Vec<u32>,
}

impl Contents {
    fn new(mut machine_code: Vec<u32>, mut ptx: Vec<u32>) -> Contents {
        for list in [&mut machine_code, &mut ptx] {
            list.sort_unstable();
            list.dedup();
        }
        Contents { machine_code, ptx }
    }
}

impl std::fmt::Display for Contents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let list = |numbers: &[u32]| match numbers {
            [] | [0] => "an unknown device".into(),
            all => all.iter().map(|n| format!("sm_{n}")).collect::<Vec<_>>().join(", "),
        };
        match (self.machine_code.as_slice(), self.ptx.as_slice()) {
            ([], []) => f.write_str("no code"),
            (machine, []) => write!(f, "machine code for {}", list(machine)),
            ([], ptx) => write!(f, "PTX for {}", list(ptx)),
            (machine, ptx) => write!(f, "machine code for {} and PTX for {}", list(machine), list(ptx)),
        }
    }
}

/// A linked image begins with an ELF header, since programs look for one; this name in its section table
/// marks it.
const LINKED_MAGIC: &[u8; 16] = b"\x7fELF\x02\x01\x01\x33\x07AWLINK1";
/// Offset of the texts in a linked image, after the ELF header.
const LINKED_HEADER: usize = 64;
/// Offset of the maximum register count: the header's entry point, which such an image does not need.
const LINKED_REGISTERS: usize = 24;

/// Identifies a container by its first bytes; `None` if they are unknown.
pub fn detect(bytes: &[u8]) -> Option<Kind> {
    if bytes.starts_with(LINKED_MAGIC) {
        return Some(Kind::Linked);
    }
    if bytes.starts_with(b"\x7fELF") {
        return Some(Kind::Elf);
    }
    match read_u32(bytes, 0) {
        Some(FATBIN_MAGIC | FATBIN_MAGIC_OLD) => return Some(Kind::Fatbin),
        Some(FATBIN_WRAPPER_MAGIC) => return Some(Kind::FatbinWrapper),
        _ => {}
    }
    is_ptx(bytes).then_some(Kind::Ptx)
}

/// Whether a text's first word, after white space and comments, is `.version`.
fn is_ptx(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    loop {
        rest = rest.trim_ascii_start();
        if let Some(line) = rest.strip_prefix(b"//") {
            let Some(end) = line.iter().position(|&b| b == b'\n') else { return false };
            rest = line.get(end..).unwrap_or(&[]);
        } else if let Some(block) = rest.strip_prefix(b"/*") {
            let Some(end) = block.windows(2).position(|w| w == b"*/") else { return false };
            rest = block.get(end + 2..).unwrap_or(&[]);
        } else {
            return rest.starts_with(b".version");
        }
    }
}

/// A text up to its first NUL byte.
pub fn until_nul(text: &[u8]) -> &[u8] {
    let end = text.iter().position(|&b| b == 0).unwrap_or(text.len());
    text.get(..end).unwrap_or(text)
}

/// The PTX texts of a container, with their names, for a device of `capability` (86 for 8.6).
pub fn texts(bytes: &[u8], capability: u32) -> Result<Vec<(String, Vec<u8>)>, Error> {
    match detect(bytes).ok_or(Error::Invalid)? {
        Kind::Ptx => Ok(vec![(String::new(), until_nul(bytes).to_vec())]),
        Kind::Fatbin => Ok(vec![(String::new(), fatbin::best_text(bytes, capability)?)]),
        Kind::Linked => unlink(bytes).ok_or(Error::Invalid),
        Kind::Elf if is_cubin(bytes) => Err(Error::NoBinary(contents(bytes))),
        Kind::Elf => Err(Error::Invalid),
        Kind::FatbinWrapper => Err(Error::Invalid),
    }
}

/// The machine in the ELF header of CUDA machine code, little-endian.
const EM_CUDA: [u8; 2] = [190, 0];

/// Whether an ELF header is that of CUDA machine code.
fn is_cubin(bytes: &[u8]) -> bool {
    bytes.len() >= 64 && bytes.get(18..20) == Some(&EM_CUDA)
}

/// The device that machine code is for. The flags in its ELF header hold it in their first byte, or in the
/// second if the ABI version is 8 or later (LLVM's `ELF.h`: `EF_CUDA_SM_MASK`).
fn cubin_arch(bytes: &[u8]) -> u32 {
    let flags = read_u32(bytes, 48).unwrap_or(0);
    let shift = if bytes.get(8).is_some_and(|version| *version >= 8) { 8 } else { 0 };
    flags >> shift & 0xff
}

/// The targets of the code in a container, without decompressing anything. Empty if it is not a container.
pub fn contents(bytes: &[u8]) -> Contents {
    match detect(bytes) {
        Some(Kind::Fatbin) => fatbin::contents(bytes),
        Some(Kind::Elf) if is_cubin(bytes) => Contents::new(vec![cubin_arch(bytes)], Vec::new()),
        _ => Contents::default(),
    }
}

/// The linked image of these texts (name, text), with a maximum number of registers per thread (0:
/// unlimited). [`texts`] gives the texts back.
pub fn linked(inputs: &[(String, Vec<u8>)], registers: u32) -> Vec<u8> {
    let mut out = LINKED_MAGIC.to_vec();
    // The rest of an ELF header: an executable (type 2), version 1, without headers or sections.
    out.extend([2, 0, EM_CUDA[0], EM_CUDA[1], 1, 0, 0, 0]);
    out.extend(registers.to_le_bytes());
    out.resize(LINKED_HEADER - 8, 0);
    out.extend(0u32.to_le_bytes());
    out.extend((inputs.len() as u32).to_le_bytes());
    let total_at = LINKED_HEADER - 8;
    for (name, text) in inputs {
        out.extend((name.len() as u32).to_le_bytes());
        out.extend((text.len() as u32).to_le_bytes());
        out.extend(name.as_bytes());
        out.extend(text);
    }
    let total = out.len() as u32;
    if let Some(place) = out.get_mut(total_at..total_at + 4) {
        place.copy_from_slice(&total.to_le_bytes());
    }
    out
}

/// The size in bytes of a linked image, from its first `LINKED_HEADER` bytes: for a pointer without a size.
pub fn linked_size(header: &[u8]) -> Option<usize> {
    header
        .starts_with(LINKED_MAGIC)
        .then(|| read_u32(header, LINKED_HEADER - 8))
        .flatten()
        .map(|n| n as usize)
}

/// The maximum number of registers per thread of a linked image; 0 if it states none or for other containers.
pub fn linked_registers(image: &[u8]) -> u32 {
    let linked = image.starts_with(LINKED_MAGIC);
    linked.then(|| read_u32(image, LINKED_REGISTERS)).flatten().unwrap_or(0)
}

fn unlink(bytes: &[u8]) -> Option<Vec<(String, Vec<u8>)>> {
    let count = read_u32(bytes, LINKED_HEADER - 4)?;
    let mut at = LINKED_HEADER;
    let mut out = Vec::new();
    for _ in 0..count {
        let name_length = read_u32(bytes, at)? as usize;
        let text_length = read_u32(bytes, at.checked_add(4)?)? as usize;
        at = at.checked_add(8)?;
        let name = bytes.get(at..at.checked_add(name_length)?)?;
        at = at.checked_add(name_length)?;
        let text = bytes.get(at..at.checked_add(text_length)?)?;
        at = at.checked_add(text_length)?;
        out.push((String::from_utf8_lossy(name).into_owned(), text.to_vec()));
    }
    Some(out)
}

pub(crate) fn read_u16(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?))
}

pub(crate) fn read_u32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

pub(crate) fn read_u64(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at.checked_add(8)?)?.try_into().ok()?))
}
