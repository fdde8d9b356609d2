//! The memory files behind device memory that other processes can open.
//!
//! Blocks of small allocations lie in one file from the start, so that nothing moves when one of them is
//! shared. Pages of their own (large allocations) become part of a file when they are shared: private pages
//! may be huge ones, and the first access to a page of a file takes about twice as long.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use crate::error::{Error, Result};
use crate::shared;

use super::space::PAGE;

/// Bytes that are moved to a file at once. Threads that write to them wait meanwhile.
const PART: u64 = 32 << 20;

/// Pages that are, or are about to be, those of a file with the same size.
struct Own {
    file: File,
    /// The bytes from the start that are the file's.
    moved: u64,
}

/// The files of this process.
#[derive(Default)]
pub(super) struct Files {
    /// The file of blocks of small allocations, and its size.
    blocks: Option<(File, u64)>,
    /// Offsets of blocks in it, by start address.
    offsets: BTreeMap<u64, u64>,
    /// Other pages, by start address.
    own: BTreeMap<u64, Own>,
}

impl Files {
    /// Maps a new block of the common file at `start`.
    ///
    /// # Errors
    /// The system refuses memory files, or one of this size: a limit on file sizes applies to them.
    pub(super) fn add_block(&mut self, start: u64, size: u64) -> Result<()> {
        if self.blocks.is_none() {
            self.blocks = Some((shared::growing_file()?, 0));
        }
        let (file, end) = self.blocks.as_mut().ok_or(Error::OutOfMemory)?;
        shared::resize(file, *end + size)?;
        // SAFETY: the caller has just taken the range from the reservation.
        unsafe { shared::map(file, *end, size, Some(start))? };
        self.offsets.insert(start, *end);
        *end += size;
        Ok(())
    }

    /// The file with the block or the pages at `start`, and their offset in it.
    pub(super) fn find(&self, start: u64, size: u64) -> Option<(&File, u64)> {
        if let Some(offset) = self.offsets.get(&start) {
            return self.blocks.as_ref().map(|(file, _)| (file, *offset));
        }
        self.own.get(&start).filter(|own| own.moved == size).map(|own| (&own.file, 0))
    }

    /// Moves pages to a file of their own. Addresses and contents do not change. Threads may write to the
    /// pages meanwhile if all of them can wait ([`host::moving::all_can_wait`]). After a failure, another
    /// call goes on where this one stopped.
    ///
    /// # Errors
    /// The file is refused, or its memory.
    pub(super) fn take_over(&mut self, start: u64, size: u64, all_can_wait: bool) -> Result<()> {
        let own = match self.own.entry(start) {
            std::collections::btree_map::Entry::Occupied(own) => own.into_mut(),
            std::collections::btree_map::Entry::Vacant(place) => {
                place.insert(Own { file: shared::memory_file(size)?, moved: 0 })
            }
        };
        while own.moved < size {
            let (offset, bytes) = (own.moved, PART.min(size - own.moved));
            let replace = || {
                let at = start + offset;
                // SAFETY: the pages are committed, and nothing writes them while they are replaced.
                let contents = unsafe { std::slice::from_raw_parts(at as *const u8, bytes as usize) };
                host::write::limited(|| copy_used(contents, &own.file, offset))?;
                // SAFETY: the driver owns the pages, and this part of the file has the same contents.
                unsafe { shared::map(&own.file, offset, bytes, Some(at)) }
                    .map_err(|_| io::Error::last_os_error())?;
                Ok(())
            };
            let replaced = if all_can_wait {
                // SAFETY: the driver owns the pages, and the caller has installed the handlers.
                unsafe { host::moving::replace(start + offset, bytes, replace) }
            } else {
                replace()
            };
            replaced.map_err(|_| Error::OutOfMemory)?;
            own.moved += bytes;
        }
        Ok(())
    }

    /// Forgets pages that are freed.
    pub(super) fn forget(&mut self, start: u64) {
        self.own.remove(&start);
    }
}

/// Copies whole pages to an empty part of a file. Pages that were never written, or are all zero, take no
/// memory there.
fn copy_used(contents: &[u8], file: &File, offset: u64) -> io::Result<()> {
    /// Pages that are looked up at once.
    const MANY: usize = 4096;
    /// Bits of an entry of the page map: the page is in memory, or swapped out.
    const USED: u64 = 3 << 62;
    let map = File::open("/proc/self/pagemap").ok();
    let mut entries = [0u8; MANY * 8];
    for (index, part) in contents.chunks(MANY * PAGE as usize).enumerate() {
        let at = part.as_ptr() as u64 / PAGE * 8;
        let known = entries.get_mut(..part.len() / PAGE as usize * 8);
        let is_known = map.as_ref().zip(known).is_some_and(|(map, into)| map.read_exact_at(into, at).is_ok());
        let (entries, _) = entries.as_chunks::<8>();
        for (number, page) in part.chunks(PAGE as usize).enumerate() {
            let entry = entries.get(number).map_or(USED, |entry| u64::from_ne_bytes(*entry));
            if (!is_known || entry & USED != 0) && page.iter().any(|byte| *byte != 0) {
                file.write_all_at(page, offset + ((index * MANY + number) as u64) * PAGE)?;
            }
        }
    }
    Ok(())
}
