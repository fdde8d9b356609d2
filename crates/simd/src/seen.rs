//! Remembers in the cache's folder which texts have been loaded before.
//!
//! The specialisation of a launch is not known until it arrives. When a text is loaded, this tells whether
//! launches are likely to be served from the cache. The file `seen` has a fixed number of slots. Each text
//! maps to one, and the slot holds the mark of the text loaded last. Readers and writers take no lock: a
//! reader that sees half of a mark treats the text as new and opens LLVM for nothing.

use std::io;
use std::os::unix::fs::FileExt;

use host::folder::Folder;
use host::trust::Distrust;
use host::write::limited;

use crate::cache::Cache;
use crate::key::{self, Forced};
use crate::target::Target;

/// Number of slots.
const PLACES: u64 = 4096;

/// A text's mark.
type Mark = [u8; 16];

/// The file's name.
pub(crate) const FILE: &str = "seen";

impl Cache {
    /// Whether the text with this digest has been loaded with this cache for this processor. Marks it as
    /// loaded.
    pub fn seen(&self, unit: &[u8; 32], target: &Target, forced: &Forced) -> bool {
        let [mark, place] = *key::text(unit, target, forced).as_chunks::<16>().0 else { return false };
        let place = u64::from_le_bytes(*place.first_chunk().unwrap_or(&[0; 8])) % PLACES;
        self.exchange(place * size_of::<Mark>() as u64, &mark).unwrap_or_else(|error| {
            self.tell_unread(&error);
            false
        })
    }

    /// Whether this mark is stored at an offset. Stores it there.
    fn exchange(&self, offset: u64, mark: &Mark) -> Result<bool, Distrust> {
        let folder = Folder::make_private(self.folder())?;
        let closed = |error: &io::Error| {
            matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
        };
        let (file, writable) = match folder.read_and_write(FILE, true) {
            // The folder was filled and then made read-only.
            Err(Distrust::System(error)) if closed(&error) => (folder.read(FILE)?, false),
            other => (other?, true),
        };
        let mut found = Mark::default();
        // A file that ends earlier has no mark there.
        if file.read_exact_at(&mut found, offset).is_ok() && found == *mark {
            return Ok(true);
        }
        if writable {
            limited(|| file.write_all_at(mark, offset))?;
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_seen_the_second_time_until_the_cache_is_cleared() {
        let scratch = tempfile::tempdir().expect("a folder");
        let cache = Cache::at(&scratch.path().join("cache"));
        let native = Target::native();
        let seen = |text: u8, forced: &Forced| cache.seen(&[text; 32], &native, forced);
        let plain = Forced::default();
        for text in [1, 2] {
            assert!(!seen(text, &plain));
            assert!(seen(text, &plain));
        }
        assert!(!seen(1, &Forced { per_lane: true, ..plain.clone() }));
        assert!(seen(1, &plain));
        assert!(cache.items().expect("readable").is_empty());
        cache.clear().expect("clear");
        assert!(!seen(1, &plain));
    }
}
