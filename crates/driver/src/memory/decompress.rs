//! Decompression of device memory in streams.

use std::sync::Arc;

use super::{Allocation, find_range};
use crate::device::{Device, attribute};
use crate::error::{Error, Result};

/// A format of compressed data; the value is its bit in the device's mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// A raw deflate stream, without the header of zlib or gzip.
    Deflate = 1,
    /// Snappy's block format.
    Snappy = 2,
    /// LZ4's block format.
    Lz4 = 4,
}

/// All algorithms, as a device reports them.
pub(crate) const ALL: i32 = Algorithm::Deflate as i32 | Algorithm::Snappy as i32 | Algorithm::Lz4 as i32;

impl Algorithm {
    /// The algorithm with a number.
    ///
    /// # Errors
    /// [`Error::InvalidValue`]: none, or several.
    pub fn of(number: u32) -> Result<Self> {
        let all = [Algorithm::Deflate, Algorithm::Snappy, Algorithm::Lz4];
        all.into_iter().find(|a| *a as u32 == number).ok_or(Error::InvalidValue)
    }

    /// Decompresses to a buffer; the number of bytes written, or `None` if the data is not of this format or
    /// does not fit.
    fn run(self, from: &[u8], to: &mut [u8]) -> Option<usize> {
        match self {
            Algorithm::Deflate => deflate(from, to),
            Algorithm::Snappy => {
                let size = snap::raw::decompress_len(from).ok().filter(|size| *size <= to.len())?;
                snap::raw::Decoder::new().decompress(from, to.get_mut(..size)?).ok()
            }
            Algorithm::Lz4 => lz4_flex::block::decompress_into(from, to).ok(),
        }
    }
}

fn deflate(from: &[u8], to: &mut [u8]) -> Option<usize> {
    use miniz_oxide::inflate::TINFLStatus;
    use miniz_oxide::inflate::core::{DecompressorOxide, decompress, inflate_flags};
    let mut state = DecompressorOxide::new();
    let flags = inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
    let (status, _, written) = decompress(&mut state, from, to, 0, flags);
    (status == TINFLStatus::Done).then_some(written)
}

/// What to decompress, and where to.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// The format.
    pub algorithm: Algorithm,
    /// Address and size of the compressed data.
    pub from: (u64, u64),
    /// Address and size of the destination; a size of 0 stands for the rest of its allocation.
    pub to: (u64, u64),
    /// The address of a 32-bit word for the number of bytes written.
    pub count: u64,
}

/// A checked [`Request`], as a part of a stream operation.
#[derive(Clone)]
pub struct Unpack {
    request: Request,
    keep: [Arc<Allocation>; 3],
}

/// Whether a device decompresses.
///
/// # Errors
/// [`Error::NotSupported`]: it does not.
pub fn check_device(device: &Device) -> Result<()> {
    match device.attribute(attribute::DECOMPRESS_ALGORITHMS) {
        Ok(mask) if mask != 0 => Ok(()),
        _ => Err(Error::NotSupported),
    }
}

impl Unpack {
    /// Checks a request for a device.
    ///
    /// # Errors
    /// [`Error::InvalidValue`]: no data, or more than the device takes at once; an address of no device
    /// memory, or a range that exceeds its allocation.
    pub fn new(device: &Device, mut request: Request) -> Result<Self> {
        let most = device.attribute(attribute::DECOMPRESS_LENGTH)? as u64;
        let (from, size) = request.from;
        let (to, room) = request.to;
        if size == 0 || size > most || room > most || !request.count.is_multiple_of(4) {
            return Err(Error::InvalidValue);
        }
        let memory = |address: u64, size: u64| {
            let found = find_range(address, 0, size)?.ok_or(Error::InvalidValue)?;
            let capable = found.device == device.ordinal && found.can_be_decompressed();
            if capable { Ok(found) } else { Err(Error::InvalidValue) }
        };
        let keep = [memory(from, size)?, memory(to, room.max(1))?, memory(request.count, 4)?];
        if room == 0 {
            request.to.1 = (keep[1].base + keep[1].size - to).min(most);
        }
        Ok(Unpack { request, keep })
    }

    /// Fails if memory of a graph is not allocated.
    pub(crate) fn check_present(&self) -> Result<()> {
        self.keep.iter().try_for_each(|memory| memory.check_present())
    }

    /// Does it. Data that is not of the format, or does not fit, counts as no bytes written.
    pub(crate) fn run(&self) {
        let Request { algorithm, from, to, count } = self.request;
        // Another stream may change the memory meanwhile: it is copied, so that the data stays as it is.
        // SAFETY: the ranges were checked, and `keep` keeps the memory.
        let from = unsafe { bytes(from) };
        let mut out = vec![0; to.1 as usize];
        let written = algorithm.run(&from, &mut out).unwrap_or(0);
        // SAFETY: as above; `written` bytes are within the range.
        unsafe {
            (to.0 as *mut u8).copy_from(out.as_ptr(), written.min(out.len()));
            (count as *mut u32).write_volatile(written as u32);
        }
    }
}

/// A copy of memory.
///
/// # Safety
/// The range must be readable.
unsafe fn bytes((start, size): (u64, u64)) -> Vec<u8> {
    let mut copy = vec![0; size as usize];
    // SAFETY: guaranteed by the caller; the vector has as many bytes.
    unsafe { copy.as_mut_ptr().copy_from(start as *const u8, copy.len()) };
    copy
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "abcabcabcabcabc!" by each algorithm, written by hand from the formats' descriptions.
    const TEXT: &[u8] = b"abcabcabcabcabc!";

    #[test]
    fn each_format_is_read() {
        // A stored block: final, length 16, its complement.
        let deflate = [&[1u8, 16, 0, !16, !0][..], TEXT].concat();
        // Length 16; a literal of 3 bytes; a copy of 12 bytes from 3 before, with a 2-byte offset; a literal.
        let snappy = [16u8, (3 - 1) << 2, b'a', b'b', b'c', (12 - 1) << 2 | 2, 3, 0, 0, b'!'];
        // Three literals and a match of 4 + 4 bytes from 3 before; the last five bytes are literals.
        let lz4 = [0x34u8, b'a', b'b', b'c', 3, 0, 0x50, b'c', b'a', b'b', b'c', b'!'];
        let mut out = [0; 32];
        for (algorithm, data, length) in [
            (Algorithm::Deflate, &deflate[..], 16),
            (Algorithm::Snappy, &snappy[..], 16),
            (Algorithm::Lz4, &lz4[..], 16),
        ] {
            out.fill(0);
            assert_eq!(algorithm.run(data, &mut out), Some(length), "{algorithm:?}");
            assert_eq!(&out[..length], TEXT, "{algorithm:?}");
            assert!(out[length..].iter().all(|b| *b == 0), "{algorithm:?}");
            assert_eq!(algorithm.run(data, &mut out[..length - 1]), None, "{algorithm:?}: no room");
            for cut in 0..data.len() {
                let some = algorithm.run(&data[..cut], &mut out).is_some_and(|n| n >= length);
                assert!(!some, "{algorithm:?}: {cut} bytes of {}", data.len());
            }
        }
        assert_eq!(Algorithm::of(2), Ok(Algorithm::Snappy));
        for wrong in [0, 3, 5, 7, 8, u32::MAX] {
            assert_eq!(Algorithm::of(wrong), Err(Error::InvalidValue));
        }
    }
}
