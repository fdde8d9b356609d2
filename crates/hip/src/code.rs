//! The image that a program passes: PTX, NVIDIA's fatbins, AMD's code objects, clang's bundles of all of
//! them. The driver chooses what suits a device ([`driver::code`]).

use image::{BUNDLE_MAGIC, COMPRESSED_MAGIC, CompressedSize};

use capi::container;
use driver::Error;
use driver::backend::LoadOptions;
use driver::code::{Refused, is_amd_object, unpacked};

use crate::abi::Text;

/// Bytes that may be loaded, or why not.
pub type Result<T> = std::result::Result<T, Refused>;

/// The magic of hip-clang's wrapper around a fat binary: "HIPF".
pub const WRAPPER_MAGIC: u32 = 0x4849_5046;

/// Bytes that tell an image's kind and, but for bundles, its size: those of an ELF header are the most.
const HEAD: usize = 64;

/// The bytes of the image at an address. Never reads beyond the size that its headers declare.
pub fn at<'a>(image: Text) -> Result<&'a [u8]> {
    let address = image.address();
    let head = head_at(address)?;
    if !head.starts_with(&WRAPPER_MAGIC.to_le_bytes()) {
        return plain_at(image, head);
    }
    let wrapped = head.get(8..16).and_then(|pointer| pointer.try_into().ok()).map(u64::from_le_bytes);
    let wrapped = wrapped.ok_or_else(|| Refused::new(Error::InvalidImage, "a wrapper is cut off"))?;
    let head = head_at(wrapped)?;
    if head.starts_with(&WRAPPER_MAGIC.to_le_bytes()) {
        return Err(Refused::new(Error::InvalidImage, "a wrapper points to a wrapper"));
    }
    plain_at(Text::at(wrapped), head)
}

/// The first bytes of an image, as many as can be read of those that tell its kind.
fn head_at<'a>(address: u64) -> Result<&'a [u8]> {
    if address == 0 {
        return Err(Error::InvalidValue.into());
    }
    container::readable(address, HEAD).ok_or_else(|| {
        Refused::new(Error::InvalidImage, format!("the process cannot read its address, {address:#x}"))
    })
}

/// The bytes of an image that is no wrapper.
fn plain_at<'a>(image: Text, head: &[u8]) -> Result<&'a [u8]> {
    let address = image.address();
    let read = |offset: usize, length: usize| {
        container::readable(address.wrapping_add(offset as u64), length).filter(|read| read.len() == length)
    };
    if head.starts_with(BUNDLE_MAGIC) {
        return Ok(container::declared(address, image::bundle_size(&read)?)?);
    }
    if head.starts_with(COMPRESSED_MAGIC) {
        return Ok(match image::compressed_size(head)? {
            CompressedSize::Exactly(size) => container::declared(address, size)?,
            CompressedSize::AtMost(size) => container::readable(address, size).unwrap_or_default(),
        });
    }
    if is_amd_object(head) {
        return Ok(container::declared(address, image::elf_size(&read)?)?);
    }
    if head.starts_with(b"\x7fELF") && head.len() < HEAD {
        return Err(Refused::new(Error::InvalidImage, "the ELF file ends within its header"));
    }
    if head.starts_with(b"\x7fELF") && !head.starts_with(b"\x7fELF\x02\x01\x01") {
        return Err(image::Error::Invalid.into());
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
