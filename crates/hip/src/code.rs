//! The code in an image that a program passes: PTX, NVIDIA's fatbins, clang's bundles of either.

use image::{BUNDLE_MAGIC, COMPRESSED_HEADER, COMPRESSED_MAGIC};

use capi::container;
use driver::log::{self, Level};

use crate::abi::{Text, bytes_at};
use crate::{Error, Result};

/// The magic of hip-clang's wrapper around a fat binary: "HIPF".
pub const WRAPPER_MAGIC: u32 = 0x4849_5046;

/// The machine number of AMD GPUs in an ELF header.
const AMD_MACHINE: [u8; 2] = [224, 0];

/// AMD GPUs by the low byte of an ELF header's flags (`EF_AMDGPU_MACH` in LLVM's "User Guide for AMDGPU
/// Backend").
const AMD_TARGETS: [(u8, &str); 14] = [
    (0x2c, "gfx900"),
    (0x2f, "gfx906"),
    (0x30, "gfx908"),
    (0x33, "gfx1010"),
    (0x36, "gfx1030"),
    (0x3f, "gfx90a"),
    (0x41, "gfx1100"),
    (0x46, "gfx1101"),
    (0x47, "gfx1102"),
    (0x48, "gfx1200"),
    (0x4a, "gfx1151"),
    (0x4c, "gfx942"),
    (0x4e, "gfx1201"),
    (0x4f, "gfx950"),
];

/// The target of an AMD code object.
fn target(bytes: &[u8]) -> &'static str {
    let machine = bytes.get(48).copied().unwrap_or(0);
    AMD_TARGETS.iter().find(|t| t.0 == machine).map_or("an unknown target", |t| t.1)
}

/// The bytes of the image at an address. Never reads beyond the size that its headers declare.
pub fn at<'a>(image: Text) -> Result<&'a [u8]> {
    let address = image.address();
    if address == 0 {
        return Err(Error::InvalidValue);
    }
    let begins = |magic: &[u8]| {
        magic.iter().zip(0..).all(|(b, i)| bytes_at(address.wrapping_add(i), 1).first() == Some(b))
    };
    if begins(BUNDLE_MAGIC) {
        let read = |offset: usize, length: usize| bytes_at(address.wrapping_add(offset as u64), length);
        let size = image::bundle_size(&read).ok_or(Error::InvalidImage)?;
        return Ok(bytes_at(address, size));
    }
    if begins(COMPRESSED_MAGIC) {
        let size = image::compressed_size(bytes_at(address, COMPRESSED_HEADER)).ok_or(Error::InvalidImage)?;
        return Ok(bytes_at(address, size));
    }
    if begins(&WRAPPER_MAGIC.to_le_bytes()) {
        let wrapped = bytes_at(address.wrapping_add(8), 8).try_into().map_err(|_| Error::InvalidImage)?;
        return at(Text::at(u64::from_le_bytes(wrapped)));
    }
    Ok(container::at(image)?)
}

/// The part of an image that can run here: PTX or a fatbin, on its own or as an entry of a bundle.
pub fn runnable(bytes: &[u8]) -> Result<Vec<u8>> {
    if bytes.is_empty() {
        return Err(Error::InvalidValue);
    }
    if bytes.starts_with(COMPRESSED_MAGIC) {
        let bundle = image::decompress(bytes).map_err(|error| {
            if let image::Error::Broken(reason) = error {
                log::say(Level::Warn, || format!("an image failed to load: {reason}"));
            }
            Error::InvalidImage
        })?;
        return runnable(&bundle);
    }
    if bytes.starts_with(BUNDLE_MAGIC) {
        let entries = image::bundled(bytes).ok_or(Error::InvalidImage)?;
        let ours = |code: &[u8]| matches!(image::detect(code), Some(k) if k != image::Kind::Elf);
        if let Some(entry) = entries.iter().find(|e| ours(e.bytes)) {
            return Ok(entry.bytes.to_vec());
        }
        log::say(Level::Error, || {
            let targets: Vec<&str> = entries.iter().map(|e| e.target).collect();
            let targets = if targets.is_empty() { "nothing".into() } else { targets.join(", ") };
            format!(
                "a bundle contains code for {targets}, none of which can run here; add PTX to it (under any target name \
                 that clang-offload-bundler accepts)"
            )
        });
        return Err(Error::NoBinaryForGpu);
    }
    if bytes.starts_with(b"\x7fELF") && bytes.get(18..20) == Some(&AMD_MACHINE) {
        log::say(Level::Error, || {
            format!(
                "an AMD code object for {} cannot run here; provide PTX, or a bundle that contains PTX",
                target(bytes)
            )
        });
        return Err(Error::NoBinaryForGpu);
    }
    Ok(bytes.to_vec())
}
