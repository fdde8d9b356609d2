//! Decompression: the result must have exactly the size that the container states, and at most [`MAX_TEXT`]
//! bytes.

use std::fmt;
use std::io::Read;

use crate::MAX_TEXT;

/// Why compressed bytes do not match their container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unpack {
    /// The declared size exceeds the maximum.
    TooLarge(u64),
    /// The bytes are not valid in the declared format.
    Corrupt(&'static str),
    /// The declared size, and the actual size, which is smaller.
    Short(u64, u64),
    /// The declared size, which the actual size exceeds.
    Long(u64),
}

impl fmt::Display for Unpack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unpack::TooLarge(declared) => {
                write!(f, "declares {declared} bytes; the maximum is {MAX_TEXT}")
            }
            Unpack::Corrupt(format) => write!(f, "is not valid {format}"),
            Unpack::Short(declared, real) => write!(f, "declares {declared} bytes and unpacks to {real}"),
            Unpack::Long(declared) => write!(f, "declares {declared} bytes and unpacks to more"),
        }
    }
}

/// Compression formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    /// An LZ4 block.
    Lz4,
    /// A zstd frame.
    Zstd,
    /// A zlib stream.
    Zlib,
}

/// Decompresses bytes with a declared size of `declared`. Never produces more than that.
pub(crate) fn unpack(packing: Packing, packed: &[u8], declared: u64) -> Result<Vec<u8>, Unpack> {
    let size = usize::try_from(declared).ok().filter(|n| *n <= MAX_TEXT).ok_or(Unpack::TooLarge(declared))?;
    let out = match packing {
        Packing::Lz4 => lz4_flex::block::decompress(packed, size).map_err(|error| match error {
            lz4_flex::block::DecompressError::OutputTooSmall { .. } => Unpack::Long(declared),
            _ => Unpack::Corrupt("LZ4"),
        })?,
        Packing::Zstd => {
            let corrupt = Unpack::Corrupt("zstd");
            let decoder = ruzstd::decoding::StreamingDecoder::new(packed).map_err(|_| corrupt)?;
            let mut out = Vec::new();
            decoder.take(declared.saturating_add(1)).read_to_end(&mut out).map_err(|_| corrupt)?;
            out
        }
        Packing::Zlib => {
            use miniz_oxide::inflate::{TINFLStatus, decompress_to_vec_zlib_with_limit};
            decompress_to_vec_zlib_with_limit(packed, size).map_err(|error| match error.status {
                TINFLStatus::HasMoreOutput => Unpack::Long(declared),
                _ => Unpack::Corrupt("zlib"),
            })?
        }
    };
    match out.len() {
        n if n == size => Ok(out),
        n if n > size => Err(Unpack::Long(declared)),
        n => Err(Unpack::Short(declared, n as u64)),
    }
}
