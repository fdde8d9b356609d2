//! Recordings as files: a format, a device and a date, text lines up to `end`, then bytes; usually compressed
//! with zstd.

use std::io::Read as _;
use std::path::Path;
use std::str::Lines;

use crate::{Error, tests_folder};

/// A parsed recording.
pub(crate) struct Header<'a> {
    /// The device's name and its driver's version.
    pub device: &'a str,
    /// The date, as YYYY-MM-DD.
    pub date: &'a str,
    /// The remaining lines of the header.
    pub lines: Lines<'a>,
    /// The bytes after the header.
    pub rest: &'a [u8],
}

impl<'a> Header<'a> {
    /// Parses a recording in a given format.
    ///
    /// # Errors
    /// The reason why it is malformed.
    pub fn read(format: &str, bytes: &'a [u8]) -> Result<Header<'a>, String> {
        const END: &[u8] = b"\nend\n";
        let end = bytes.windows(END.len()).position(|w| w == END).ok_or("the header has no line `end`")?;
        let (header, rest) = bytes.split_at(end);
        let header = std::str::from_utf8(header).map_err(|e| format!("the header is not text: {e}"))?;
        let mut lines = header.lines();
        if lines.next() != Some(format) {
            return Err(format!("the first line is not `{format}`"));
        }
        let device = lines.next().ok_or("the header ends before the device")?;
        let date = lines.next().ok_or("the header ends before the date")?;
        Ok(Header { device, date, lines, rest: rest.get(END.len()..).unwrap_or_default() })
    }

    /// Takes the next `size` bytes, which belong to `name`.
    ///
    /// # Errors
    /// Fewer bytes are left.
    pub fn take(&mut self, name: &str, size: usize) -> Result<&'a [u8], String> {
        let (taken, rest) =
            self.rest.split_at_checked(size).ok_or_else(|| format!("it ends within {name}"))?;
        self.rest = rest;
        Ok(taken)
    }
}

/// The contents of a file in `tests`, parsed by `read`; decompressed first if its name ends with `.zst`.
///
/// # Errors
/// The file is missing, or `read` rejects it.
pub(crate) fn load<T>(name: &str, read: impl FnOnce(&[u8]) -> Result<T, String>) -> Result<T, Error> {
    let path = tests_folder(name);
    let damaged = |reason: String| Error::Damaged { path: path.clone(), reason };
    let bytes = std::fs::read(&path).map_err(|source| Error::Read { path: path.clone(), source })?;
    let bytes = if Path::new(name).extension().is_some_and(|e| e == "zst") {
        decompressed(&bytes).map_err(damaged)?
    } else {
        bytes
    };
    read(&bytes).map_err(damaged)
}

fn decompressed(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut plain = Vec::new();
    ruzstd::decoding::StreamingDecoder::new(bytes)
        .map_err(|e| e.to_string())?
        .read_to_end(&mut plain)
        .map_err(|e| e.to_string())?;
    Ok(plain)
}
