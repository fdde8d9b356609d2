//! AMD's code objects in files: where they are, and listings of them.

use std::borrow::Cow;
use std::fmt::Write;

use anyhow::{Result, bail};
use gcn::isa::Decoder;
use gcn::object::Kernel;
use gcn::{CodeObject, Error};

/// The error for files without AMD code.
pub const NOT_AMD: &str = "there is no AMD code object in this file";

/// A code object in a file.
pub struct Entry<'a> {
    /// Offset of the object or of the bundle that holds it.
    pub offset: usize,
    /// The target as the bundle names it; empty outside of bundles.
    pub name: String,
    /// Its bytes, decompressed.
    pub bytes: Cow<'a, [u8]>,
}

impl Entry<'_> {
    /// Reads the object.
    pub fn read(&self) -> Result<CodeObject<'_>, Error> {
        CodeObject::read(&self.bytes)
    }

    /// The target that the ELF header states, or else the bundle's name for it.
    pub fn target(&self) -> String {
        CodeObject::target_of(&self.bytes).map_or_else(|_| self.name.clone(), |t| t.to_string())
    }
}

/// Whether the bytes are an ELF file for AMD's GPUs.
fn is_object(bytes: &[u8]) -> bool {
    !matches!(CodeObject::target_of(bytes), Err(Error::Foreign(_)))
}

/// Whether a file begins as an AMD code object or as a bundle.
pub fn is_amd(bytes: &[u8]) -> bool {
    is_object(bytes) || bytes.starts_with(image::BUNDLE_MAGIC) || bytes.starts_with(image::COMPRESSED_MAGIC)
}

/// All code objects of a file: the file itself, or those of the bundles anywhere in it.
pub fn entries(bytes: &[u8]) -> Vec<Entry<'_>> {
    if is_object(bytes) {
        return vec![Entry { offset: 0, name: String::new(), bytes: bytes.into() }];
    }
    let mut all = Vec::new();
    for piece in image::search_bundles(bytes) {
        let mut add = |target: &str, bytes: Cow<'_, [u8]>| {
            if is_object(&bytes) {
                all.push((piece.offset, target.to_owned(), bytes.into_owned()));
            }
        };
        if let Ok(plain) = image::decompress(piece.bytes) {
            for one in image::bundled(&plain).unwrap_or_default() {
                add(one.target, one.bytes.into());
            }
        } else {
            for one in image::bundled(piece.bytes).unwrap_or_default() {
                add(one.target, one.bytes.into());
            }
        }
    }
    all.into_iter().map(|(offset, name, bytes)| Entry { offset, name, bytes: bytes.into() }).collect()
}

/// A kernel's descriptor as comments: its fields that are not zero.
fn descriptor(kernel: &Kernel, out: &mut String) -> std::fmt::Result {
    writeln!(out, "; descriptor at {:#x}, {} VGPRs", kernel.descriptor_address, kernel.descriptor.vgprs())?;
    for (_, name, value) in kernel.descriptor.fields().filter(|(_, _, value)| *value != 0) {
        writeln!(out, ";   {name} {value}")?;
    }
    for (at, bits) in kernel.descriptor.reserved() {
        writeln!(out, ";   reserved bits {bits:#x} at offset {at}")?;
    }
    Ok(())
}

fn kernel(object: &CodeObject, kernel: &Kernel, out: &mut String) -> std::fmt::Result {
    writeln!(out, "\n{}:", kernel.name)?;
    descriptor(kernel, out)?;
    let code = object.code(kernel).unwrap_or_default();
    writeln!(out, "; code at {:#x}, {} bytes", kernel.entry, code.len())?;
    match Decoder::new(object.target.target, kernel.descriptor.wave_size()) {
        Some(decoder) => instructions(&decoder, code, kernel.entry, out),
        None => writeln!(out, "; the instructions of {} are not known", object.target.target.name),
    }
}

/// The instructions with their addresses and words. Words that are no instruction are printed as data, with
/// the reason.
fn instructions(decoder: &Decoder, code: &[u8], address: u64, out: &mut String) -> std::fmt::Result {
    let mut at = 0;
    while let Some(rest) = code.get(at..).filter(|rest| rest.len() >= 4) {
        let address = address.wrapping_add(at as u64);
        let word = |bytes: &[u8]| bytes.try_into().map_or(0, u32::from_le_bytes);
        let (text, size) = match decoder.decode(rest, address) {
            Ok(inst) => (inst.to_string(), usize::from(inst.size)),
            Err(refusal) => (format!(".long {:#x} ; {refusal}", word(&rest[..4])), 4),
        };
        let words: Vec<String> = rest[..size].chunks_exact(4).map(|b| format!("{:08X}", word(b))).collect();
        writeln!(out, "    {text:<60}// {address:012X}: {}", words.join(" "))?;
        at += size.max(4);
    }
    Ok(())
}

/// The listing of all code objects of a file, or of one kernel of them.
///
/// # Errors
/// If there is no code object, one cannot be read, or no kernel has that name.
pub fn listing(bytes: &[u8], only: Option<&str>) -> Result<String> {
    let all = entries(bytes);
    if all.is_empty() {
        bail!(NOT_AMD);
    }
    let (mut out, mut names) = (String::new(), Vec::new());
    let mut found = false;
    for entry in &all {
        let object = entry.read()?;
        let kernels: Vec<&Kernel> =
            object.kernels.iter().filter(|k| only.is_none_or(|name| name == k.name)).collect();
        names.extend(object.kernels.iter().map(|k| k.name.clone()));
        if kernels.is_empty() && only.is_some() {
            continue;
        }
        found = true;
        let separator = if out.is_empty() { "" } else { "\n" };
        writeln!(out, "{separator}; {}, code object version {}", object.target, object.version)?;
        for one in kernels {
            kernel(&object, one, &mut out)?;
        }
    }
    match only {
        Some(name) if !found => {
            names.sort();
            names.dedup();
            bail!("there is no kernel {name}; the kernels are {}", names.join(", "))
        }
        _ => Ok(out),
    }
}
