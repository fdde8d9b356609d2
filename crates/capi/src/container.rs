//! The size of an image behind a pointer: containers declare it, PTX text ends with a NUL.

use driver::{Error, Result};
use image::{FATBIN_WRAPPER_MAGIC, HEADER_SIZE, linked_size, total_size};

use crate::{Text, bytes_at};

const ELF_HEADER: usize = 64;
const PAGE: u64 = 4096;
/// Offset of a wrapper's pointer to its fatbin.
const WRAPPER_POINTER: u64 = 8;

/// The bytes of the image at an address. Never reads beyond the size that its headers declare.
pub fn at<'a>(image: Text) -> Result<&'a [u8]> {
    let address = image.address();
    let byte = |i: u64| bytes_at(address.wrapping_add(i), 1).first().copied().unwrap_or(0);
    let begins = |magic: &[u8]| magic.iter().zip(0..).all(|(b, i)| byte(i) == *b);
    if address == 0 {
        return Err(Error::InvalidValue);
    }
    if begins(b"\x7fELF") {
        return if begins(b"\x7fELF\x02\x01\x01") { elf(address) } else { Err(Error::InvalidImage) };
    }
    if begins(&FATBIN_WRAPPER_MAGIC.to_le_bytes()) {
        let fatbin = pointer_at(address.wrapping_add(WRAPPER_POINTER))?;
        return if fatbin == 0 { Err(Error::InvalidImage) } else { fatbin_at(fatbin) };
    }
    if [image::FATBIN_MAGIC, image::FATBIN_MAGIC_OLD].iter().any(|m| begins(&m.to_le_bytes())) {
        return fatbin_at(address);
    }
    image.bytes()
}

fn pointer_at(address: u64) -> Result<u64> {
    let bytes = bytes_at(address, 8).try_into().map_err(|_| Error::InvalidImage)?;
    Ok(u64::from_le_bytes(bytes))
}

fn fatbin_at<'a>(address: u64) -> Result<&'a [u8]> {
    let size = total_size(bytes_at(address, HEADER_SIZE)).and_then(|n| usize::try_from(n).ok());
    let size = size.filter(|n| *n <= image::MAX_TEXT).ok_or(Error::InvalidImage)?;
    declared(address, size)
}

/// The bytes at an address, of which only an image's own headers say how many there are.
///
/// # Errors
/// [`Error::InvalidImage`] if the program has no memory for all of them: the image is cut off or corrupt. The
/// log says so.
pub fn declared<'a>(address: u64, size: usize) -> Result<&'a [u8]> {
    let first = address / PAGE * PAGE;
    // SAFETY: with MS_ASYNC the call changes nothing; it fails if a page is not mapped.
    let is_mapped = |length| unsafe { libc::msync(first as *mut libc::c_void, length, libc::MS_ASYNC) == 0 };
    let length = address.checked_add(size as u64).and_then(|end| usize::try_from(end - first).ok());
    if length.is_some_and(is_mapped) {
        return Ok(bytes_at(address, size));
    }
    driver::log::say(driver::log::Level::Warn, || {
        format!(
            "an image at {address:#x} declares {size} bytes, but not all of them are memory of the process"
        )
    });
    Err(Error::InvalidImage)
}

/// An ELF image. The output of this driver's linker is returned whole; of machine code only the header is.
fn elf<'a>(address: u64) -> Result<&'a [u8]> {
    let header = bytes_at(address, ELF_HEADER);
    if let Some(size) = linked_size(header) {
        return declared(address, size);
    }
    let none = |range: std::ops::Range<usize>| header.get(range).is_some_and(|b| b.iter().all(|b| *b == 0));
    let machine_code = header.get(18..20) == Some(&[190, 0]);
    // The hardware's driver returns this error for machine code with neither program headers nor sections.
    if machine_code && none(32..48) { Err(Error::Unknown) } else { Ok(header) }
}

/// The contents of a file: at most [`image::MAX_FILE`] bytes, or [`image::MAX_TEXT`] if the file has no size,
/// as with devices.
pub fn file(name: Text) -> Result<Vec<u8>> {
    use std::io::Read;
    use std::os::unix::ffi::OsStrExt;
    let path = std::path::Path::new(std::ffi::OsStr::from_bytes(name.name()?));
    let read = || {
        let file = std::fs::File::open(path)?;
        let known = file.metadata()?;
        let (size, most) =
            if known.is_file() { (known.len(), image::MAX_FILE) } else { (0, image::MAX_TEXT as u64) };
        let mut bytes = Vec::new();
        if size <= most {
            bytes.try_reserve_exact(size as usize)?;
            file.take(most + 1).read_to_end(&mut bytes)?;
        }
        if size.max(bytes.len() as u64) > most {
            driver::log::say(driver::log::Level::Warn, || {
                format!("{} exceeds the maximum size of {most} bytes", path.display())
            });
            return Err(std::io::ErrorKind::OutOfMemory.into());
        }
        Ok(bytes)
    };
    read().map_err(|error: std::io::Error| match error.kind() {
        std::io::ErrorKind::IsADirectory | std::io::ErrorKind::OutOfMemory => Error::OutOfMemory,
        _ => Error::FileNotFound,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_that_declare_more_than_the_memory_are_invalid() {
        let size = 2 * PAGE as usize;
        // SAFETY: a new mapping, whose second page is closed again at once.
        let start = unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let start =
                libc::mmap(std::ptr::null_mut(), size, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
            assert_ne!(start, libc::MAP_FAILED);
            libc::munmap(start.byte_add(PAGE as usize), PAGE as usize);
            start as u64
        };
        for (bytes, fits) in [(240u64, true), (241, false), (1 << 24, false), (u64::MAX - 16, false)] {
            let at = start + PAGE - 256;
            let mut header = [0; 16];
            header[..4].copy_from_slice(&image::FATBIN_MAGIC.to_le_bytes());
            header[4..8].copy_from_slice(&[1, 0, 16, 0]);
            header[8..].copy_from_slice(&bytes.to_le_bytes());
            // SAFETY: the last 256 bytes of the page that is left.
            unsafe { std::ptr::copy_nonoverlapping(header.as_ptr(), at as *mut u8, header.len()) };
            let found = super::at(Text::at(at));
            assert_eq!(found.map(<[u8]>::len).ok(), fits.then_some(256), "{bytes}");
        }
        assert_eq!(declared(u64::MAX - 3, 16), Err(Error::InvalidImage));
    }
}
