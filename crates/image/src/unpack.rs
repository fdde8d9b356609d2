//! Packed code: what comes out must be exactly as long as the container says, and no longer than [`MAX_TEXT`].

use std::fmt;
use std::io::Read;

use crate::MAX_TEXT;

/// Why packed bytes do not give what their container says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unpack {
    /// More bytes are declared than are ever unpacked.
    TooLarge(u64),
    /// What is packed is not in the format that is declared.
    Corrupt(&'static str),
    /// So many bytes are declared, and there are fewer.
    Short(u64, u64),
    /// So many bytes are declared, and there are more.
    Long(u64),
}

impl fmt::Display for Unpack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unpack::TooLarge(declared) => {
                write!(f, "declares {declared} bytes; at most {MAX_TEXT} are unpacked")
            }
            Unpack::Corrupt(format) => write!(f, "is not valid {format}"),
            Unpack::Short(declared, real) => write!(f, "declares {declared} bytes and unpacks to {real}"),
            Unpack::Long(declared) => write!(f, "declares {declared} bytes and unpacks to more"),
        }
    }
}

/// How bytes are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    /// One block of LZ4.
    Lz4,
    /// A frame of zstd.
    Zstd,
    /// A stream of zlib.
    Zlib,
}

/// Unpacks what declares to be `declared` bytes. No more are made than that.
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
