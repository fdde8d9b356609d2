//! The image that a program passes: PTX, NVIDIA's fatbins, AMD's code objects, clang's bundles of all of
//! them. The driver chooses what suits a device ([`driver::code`]).

use image::{BUNDLE_MAGIC, COMPRESSED_HEADER, COMPRESSED_MAGIC, CompressedSize};

use capi::container;
use driver::Error;
use driver::backend::LoadOptions;
use driver::code::{Refused, is_amd_object, unpacked};

use crate::abi::{Text, bytes_at};

/// Bytes that may be loaded, or why not.
pub type Result<T> = std::result::Result<T, Refused>;

/// The magic of hip-clang's wrapper around a fat binary: "HIPF".
pub const WRAPPER_MAGIC: u32 = 0x4849_5046;

/// Bytes of an ELF header.
const ELF_HEADER: usize = 64;

/// The bytes of the image at an address. Never reads beyond the size that its headers declare.
pub fn at<'a>(image: Text) -> Result<&'a [u8]> {
    let address = image.address();
    if address == 0 {
        return Err(Error::InvalidValue.into());
    }
    let begins = |magic: &[u8]| {
        magic.iter().zip(0..).all(|(b, i)| bytes_at(address.wrapping_add(i), 1).first() == Some(b))
    };
    let read = |offset: usize, length: usize| {
        container::readable(address.wrapping_add(offset as u64), length).filter(|read| read.len() == length)
    };
    if begins(BUNDLE_MAGIC) {
        return Ok(container::declared(address, image::bundle_size(&read)?)?);
    }
    if begins(COMPRESSED_MAGIC) {
        let header = container::readable(address, COMPRESSED_HEADER).unwrap_or_default();
        return Ok(match image::compressed_size(header)? {
            CompressedSize::Exactly(size) => container::declared(address, size)?,
            CompressedSize::AtMost(size) => container::readable(address, size).unwrap_or_default(),
        });
    }
    if begins(&WRAPPER_MAGIC.to_le_bytes()) {
        let wrapped = bytes_at(address.wrapping_add(8), 8).try_into().map_err(|_| Error::InvalidImage)?;
        return at(Text::at(u64::from_le_bytes(wrapped)));
    }
    if begins(b"\x7fELF\x02\x01\x01") && is_amd_object(bytes_at(address, ELF_HEADER)) {
        return Ok(container::declared(address, image::elf_size(&read)?)?);
    }
    Ok(container::at(image)?)
}

/// A copy of an image that may hold code: bundles are unpacked.
pub fn container(bytes: &[u8]) -> Result<Vec<u8>> {
    if bytes.is_empty() {
        return Err(Refused::new(Error::InvalidValue, "it is empty"));
    }
    let bytes = unpacked(bytes)?;
    if bytes.starts_with(BUNDLE_MAGIC) {
        image::bundled(&bytes)?;
    }
    Ok(bytes.into_owned())
}

/// Options for what HIP loads: AMD's code and bundles are taken.
pub fn options(options: &LoadOptions) -> LoadOptions {
    LoadOptions { bundles: true, ..options.clone() }
}

/// The AMD code objects in an image that has no PTX or fatbin; `None` if it has one.
pub fn amd_objects(bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
    if is_amd_object(bytes) {
        return Some(vec![bytes.to_vec()]);
    }
    let Ok(bytes) = unpacked(bytes) else { return Some(Vec::new()) };
    let entries = image::bundled(&bytes).ok()?;
    let text = |code: &[u8]| matches!(image::detect(code), Some(k) if k != image::Kind::Elf);
    if entries.iter().any(|e| text(e.bytes)) {
        return None;
    }
    Some(entries.iter().filter(|e| is_amd_object(e.bytes)).map(|e| e.bytes.to_vec()).collect())
}
