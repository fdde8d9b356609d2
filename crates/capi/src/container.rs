//! The size of an image behind a pointer: containers declare it, PTX text ends with a NUL.

use driver::{Error, Result};
use image::{FATBIN_WRAPPER_MAGIC, HEADER_SIZE, linked_size, total_size};

use crate::{Text, bytes_at};

const ELF_HEADER: usize = 64;
const PAGE: u64 = 4096;
/// A wrapper's pointer to its fatbin.
const WRAPPER_POINTER: std::ops::Range<usize> = 8..16;

/// The bytes of the image at an address. Never reads beyond the size that its headers declare.
pub fn at<'a>(image: Text) -> Result<&'a [u8]> {
    let address = image.address();
    if address == 0 {
        return Err(Error::InvalidValue);
    }
    // An image may be cut off before the end of the header that it begins.
    let head = readable(address, ELF_HEADER).ok_or(Error::InvalidImage)?;
    if head.starts_with(b"\x7fELF") {
        let whole = head.starts_with(b"\x7fELF\x02\x01\x01") && head.len() == ELF_HEADER;
        return if whole { elf(address) } else { Err(Error::InvalidImage) };
    }
    if head.starts_with(&FATBIN_WRAPPER_MAGIC.to_le_bytes()) {
        let pointer = head.get(WRAPPER_POINTER).and_then(|bytes| bytes.try_into().ok());
        let fatbin = pointer.map(u64::from_le_bytes).filter(|fatbin| *fatbin != 0);
        return fatbin_at(fatbin.ok_or(Error::InvalidImage)?);
    }
    if [image::FATBIN_MAGIC, image::FATBIN_MAGIC_OLD].iter().any(|m| head.starts_with(&m.to_le_bytes())) {
        return fatbin_at(address);
    }
    image.bytes()
}

fn fatbin_at<'a>(address: u64) -> Result<&'a [u8]> {
    let header = readable(address, HEADER_SIZE).ok_or(Error::InvalidImage)?;
    let size = total_size(header).and_then(|n| usize::try_from(n).ok());
    let size = size.filter(|n| *n <= image::MAX_TEXT).ok_or(Error::InvalidImage)?;
    declared(address, size)
}

/// The bytes at an address, of which only an image's own headers say how many there are.
///
/// # Errors
/// [`Error::InvalidImage`] if the process cannot read all of them: the image is cut off or corrupt. The log
/// says so.
pub fn declared<'a>(address: u64, size: usize) -> Result<&'a [u8]> {
    if is_readable(address, size) {
        return Ok(bytes_at(address, size));
    }
    driver::log::say(driver::log::Level::Warn, || {
        format!("an image at {address:#x} declares {size} bytes, but the process cannot read them all")
    });
    Err(Error::InvalidImage)
}

/// The bytes at an address, up to `most` and to the end of the last page that the process can read; `None` if
/// it can read none.
pub fn readable<'a>(address: u64, most: usize) -> Option<&'a [u8]> {
    match readable_bytes(address, most) {
        0 if most > 0 => None,
        size => Some(bytes_at(address, size)),
    }
}

/// Whether the process can read all of these bytes.
fn is_readable(address: u64, size: usize) -> bool {
    readable_bytes(address, size) == size
}

/// How many of these bytes the process can read from the first on. The system tries one byte of each page;
/// where it may not (some sandboxes refuse the call), it is asked whether the pages are mapped at all.
fn readable_bytes(address: u64, size: usize) -> usize {
    /// Pages that are tried by one call; the system takes at most 1024.
    const MANY: usize = 512;
    let end = address.saturating_add(size as u64);
    let pages = (address / PAGE + 1..=(end / PAGE)).map(|page| page * PAGE).take_while(|at| *at < end);
    let mut places = std::iter::once(address).chain(pages).take(if size == 0 { 0 } else { usize::MAX });
    loop {
        let tried: Vec<u64> = places.by_ref().take(MANY).collect();
        if tried.is_empty() {
            // All of them, unless they go beyond the last address.
            return (end - address) as usize;
        }
        let from: Vec<libc::iovec> =
            tried.iter().map(|at| libc::iovec { iov_base: *at as *mut libc::c_void, iov_len: 1 }).collect();
        let mut bytes = [0u8; MANY];
        let into = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: from.len() };
        // SAFETY: writes at most one byte for each place, into `bytes`; places that cannot be read end the
        // copy.
        let read = unsafe {
            let many = from.len() as libc::c_ulong;
            libc::process_vm_readv(libc::getpid(), &raw const into, 1, from.as_ptr(), many, 0)
        };
        if read == from.len() as isize {
            continue;
        }
        let refused = std::io::Error::last_os_error().raw_os_error();
        let first = if read >= 0 {
            tried.get(read as usize)
        } else if matches!(refused, Some(libc::EPERM | libc::ENOSYS)) {
            match tried.iter().find(|at| !is_mapped(**at)) {
                Some(first) => Some(first),
                None => continue,
            }
        } else {
            tried.first()
        };
        return first.map_or(0, |first| (first - address) as usize);
    }
}

/// Whether the page of an address is mapped.
fn is_mapped(address: u64) -> bool {
    let page = address / PAGE * PAGE;
    // SAFETY: with MS_ASYNC the call changes nothing; it fails if the page is not mapped.
    unsafe { libc::msync(page as *mut libc::c_void, PAGE as usize, libc::MS_ASYNC) == 0 }
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

    /// A page whose next one is closed: unmapped, or mapped without rights.
    fn page_before(unmapped: bool) -> u64 {
        let size = 2 * PAGE as usize;
        // SAFETY: a new mapping, whose second page is closed again at once.
        unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let start =
                libc::mmap(std::ptr::null_mut(), size, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
            assert_ne!(start, libc::MAP_FAILED);
            let next = start.byte_add(PAGE as usize);
            let closed = match unmapped {
                true => libc::munmap(next, PAGE as usize),
                false => libc::mprotect(next, PAGE as usize, libc::PROT_NONE),
            };
            assert_eq!(closed, 0);
            start as u64
        }
    }

    #[test]
    fn images_that_declare_more_than_can_be_read_are_invalid() {
        let cases = [(240u64, true), (241, false), (1 << 24, false), (u64::MAX - 16, false)];
        for (unmapped, (bytes, fits)) in [true, false].into_iter().flat_map(|u| cases.map(|case| (u, case))) {
            let at = page_before(unmapped) + PAGE - 256;
            let mut header = [0; 16];
            header[..4].copy_from_slice(&image::FATBIN_MAGIC.to_le_bytes());
            header[4..8].copy_from_slice(&[1, 0, 16, 0]);
            header[8..].copy_from_slice(&bytes.to_le_bytes());
            // SAFETY: the last 256 bytes of the page that can be written.
            unsafe { std::ptr::copy_nonoverlapping(header.as_ptr(), at as *mut u8, header.len()) };
            let found = super::at(Text::at(at));
            assert_eq!(found.map(<[u8]>::len).ok(), fits.then_some(256), "{bytes}, unmapped: {unmapped}");
        }
        assert_eq!(declared(u64::MAX - 3, 16), Err(Error::InvalidImage));
        let at = page_before(true);
        for (offset, most, wanted) in [(0, 5000, 4096), (4000, 10, 10), (4000, 1 << 40, 96), (4096, 1, 0)] {
            assert_eq!(readable(at + offset, most).map_or(0, <[u8]>::len), wanted, "{offset} {most}");
        }
        assert_eq!(declared(page_before(true), 0), Ok(&[][..]));
    }

    #[test]
    fn images_of_many_pages_are_read_to_their_end() {
        let bytes = vec![1u8; 3 << 20];
        assert_eq!(declared(bytes.as_ptr() as u64, bytes.len()), Ok(&bytes[..]));
    }
}
