//! Containers of device code.
//!
//! [`detect`] tells what a block of bytes is, [`texts`] gives the PTX in it: of a fatbin the one entry that suits the device, of a linked
//! image ([`linked`]) every text of the link. [`library`] finds the device code in archives of host objects, [`search_fatbins`] and
//! [`search_texts`] anywhere in a file.
//!
//! **Architecture invariant:** knows containers, not what the code in them means. No input makes it panic, and what it unpacks is bounded.

#![forbid(unsafe_code)]

mod bundle;
mod fatbin;
mod library;
mod search;
mod unpack;

pub use bundle::{
    BUNDLE_MAGIC, Bundled, COMPRESSED_HEADER, COMPRESSED_MAGIC, bundle_size, bundled, compressed_size,
    decompress,
};
pub use fatbin::{
    Entry, EntryKind, FATBIN_MAGIC, FATBIN_MAGIC_OLD, FATBIN_WRAPPER_MAGIC, HEADER_SIZE, entries, total_size,
};
pub use library::{Member, library};
pub use search::{Piece, search_fatbins, search_texts};
pub use unpack::Unpack;

/// The largest text that is unpacked.
pub const MAX_TEXT: usize = 512 << 20;
/// The largest file that is read: some archives of libraries have more than a GiB.
pub const MAX_FILE: u64 = 8 << 30;

/// What some bytes are.
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
    /// What this driver's linker made.
    Linked,
}

/// Why there is no text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The bytes are none of the known containers.
    Invalid,
    /// A container that is broken: where, and how.
    Broken(String),
    /// A container whose code is for other devices only.
    NoBinary(Contents),
}

/// What the code in a container is for, in order and each once: 90 for sm_90.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// The devices whose machine code is there.
    pub machine_code: Vec<u32>,
    /// The targets of the PTX.
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

/// A linked image begins with an ELF header (programs look for it) whose section table this name marks.
const LINKED_MAGIC: &[u8; 16] = b"\x7fELF\x02\x01\x01\x33\x07AWLINK1";
/// Where the texts of a linked image begin: after the ELF header.
const LINKED_HEADER: usize = 64;
/// Where the most registers of a thread stand: in the header's entry point, which such an image has none of.
const LINKED_REGISTERS: usize = 24;

/// Tells what bytes begin a container; `None`: nothing known.
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

/// Whether a text's first word, after space and comments, is `.version`.
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

/// A text up to its first NUL.
pub fn until_nul(text: &[u8]) -> &[u8] {
    let end = text.iter().position(|&b| b == 0).unwrap_or(text.len());
    text.get(..end).unwrap_or(text)
}

/// The PTX texts of a container with their names, for a device of `capability` (86 for 8.6).
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

/// Whether an ELF header is that of CUDA machine code (machine 190).
fn is_cubin(bytes: &[u8]) -> bool {
    bytes.len() >= 64 && bytes.get(18..20) == Some(&[190, 0])
}

/// The device that machine code is for, from its ELF header: the flags say it in their first byte, or in the second where the ABI's version
/// is 8 or later (LLVM's `ELF.h`: `EF_CUDA_SM_MASK`).
fn cubin_arch(bytes: &[u8]) -> u32 {
    let flags = read_u32(bytes, 48).unwrap_or(0);
    let shift = if bytes.get(8).is_some_and(|version| *version >= 8) { 8 } else { 0 };
    flags >> shift & 0xff
}

/// What the code in a container is for; nothing is unpacked. Empty for what is no container.
pub fn contents(bytes: &[u8]) -> Contents {
    match detect(bytes) {
        Some(Kind::Fatbin) => fatbin::contents(bytes),
        Some(Kind::Elf) if is_cubin(bytes) => Contents::new(vec![cubin_arch(bytes)], Vec::new()),
        _ => Contents::default(),
    }
}

/// What a linker gives for these texts (name, text), for threads of at most so many registers (0: any): bytes
/// that [`texts`] takes apart again.
pub fn linked(inputs: &[(String, Vec<u8>)], registers: u32) -> Vec<u8> {
    let mut out = LINKED_MAGIC.to_vec();
    // The rest of an ELF header: an executable for machine 190, version 1, no headers or sections.
    out.extend([2, 0, 190, 0, 1, 0, 0, 0]);
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

/// The bytes of a linked image from its first `LINKED_HEADER`; for a pointer without a size.
pub fn linked_size(header: &[u8]) -> Option<usize> {
    header
        .starts_with(LINKED_MAGIC)
        .then(|| read_u32(header, LINKED_HEADER - 8))
        .flatten()
        .map(|n| n as usize)
}

/// The registers that threads of a linked image may have; 0 where it does not say, or for other bytes.
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
