//! The disk cache of objects, so that a program's second run compiles nothing.
//!
//! Each object is one file, named by the digest of everything that determines it (`key.rs`): the texts, the
//! kernel, the specialisation, the processor and the compiler's own sources. A file is written under a
//! temporary name and renamed, so readers only see complete files. It contains a digest of its contents and
//! name. If the folder exceeds its bound, the least recently used files are removed.
//!
//! An object is code that will run with the user's rights. The folder must belong to the user and be closed
//! to everybody else, and an object must be the user's own file; otherwise the cache is not used
//! ([`host::folder`]).

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::{Duration, SystemTime};

use host::folder::{Folder, is_temporary};
use host::trust::Distrust;

use wave::Width;
use wave::abi::Needs;

use crate::compile::{Facts, Request};
use crate::effort::Effort;
use crate::kernel::Report;

/// Maximum size of the folder in bytes.
pub const BOUND: u64 = 512 << 20;

/// Maximum size of an object's file. A larger file is not read: whatever wrote it, it must not fill the
/// memory.
const LARGEST: u64 = BOUND / 8;

/// Age at which a temporary file counts as abandoned by a process that died.
const LEFT: Duration = Duration::from_secs(3600);

const MAGIC: &[u8; 8] = b"ANYWARP5";
/// Magic, digest, frame, local memory, flags, four counts.
const HEADER: usize = 8 + 32 + 8 + 8 + 8 + 16;

/// The name of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    pub(crate) fn new(request: &Request, kernel: &str) -> Key {
        Key(request.object(kernel).to_hex().to_string())
    }

    /// The name of the object's file.
    fn file(&self) -> String {
        format!("{}.o", self.0)
    }
}

/// A cached object as listed from the folder.
#[derive(Clone, Debug)]
pub struct Item {
    /// The file's name.
    pub name: String,
    /// The digest that names the object.
    pub key: String,
    /// Size in bytes.
    pub size: u64,
    /// Time of its last use.
    pub used: SystemTime,
    /// A temporary file: a process is writing it, or died while writing.
    pub unfinished: bool,
}

impl Item {
    /// Whether the file is abandoned: no process can still be writing it.
    fn is_left(&self) -> bool {
        self.unfinished && self.used.elapsed().is_ok_and(|age| age > LEFT)
    }
}

/// The result of removing objects.
#[derive(Debug, Default)]
pub struct Removal {
    /// The removed objects.
    pub removed: Vec<Item>,
    /// The files that could not be removed, and why.
    pub left: Vec<(PathBuf, io::Error)>,
}

/// The key in a file's name, and whether the file is a temporary; `None` if the name is not the cache's.
fn object_of(name: &std::ffi::OsStr) -> Option<(String, bool)> {
    let temporary = is_temporary(name);
    let object = temporary.or_else(|| name.to_str())?;
    // Earlier versions omitted the extension of temporary files.
    let key = object.strip_suffix(".o").or(temporary)?;
    let ours = key.len() == 2 * blake3::OUT_LEN && key.bytes().all(|b| b.is_ascii_hexdigit());
    ours.then(|| (key.to_string(), temporary.is_some()))
}

/// A folder of objects.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
}

impl Cache {
    /// A cache in this folder.
    pub fn at(folder: &Path) -> Cache {
        Cache { folder: folder.into() }
    }

    /// The cache's folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Reports, once per process, that others could have written to the cache. An error of the system is only
    /// logged at level debug: if it matters, [`Cache::put`] fails too.
    pub(crate) fn tell_unread(&self, error: &Distrust) {
        match error {
            Distrust::System(error) => {
                tracing::debug!(folder = %self.folder.display(), %error, "the cache cannot be read");
            }
            reason => self.tell_distrust(reason),
        }
    }

    /// Reports, once per process, that objects cannot be stored and the next process compiles them again.
    fn tell_unwritten(&self, error: &Distrust) {
        static TOLD: Once = Once::new();
        match error {
            Distrust::System(error) => TOLD.call_once(|| {
                tracing::warn!(
                    "compiled kernels cannot be kept in {}, so that every process compiles them: {error}. \
                     ANYWARP_CACHE_DIR names another folder",
                    self.folder.display()
                );
            }),
            reason => self.tell_distrust(reason),
        }
    }

    fn tell_distrust(&self, reason: &Distrust) {
        static TOLD: Once = Once::new();
        TOLD.call_once(|| {
            tracing::error!(
                "the cache of compiled kernels is not used: {reason}. Its folder must be yours, with mode 700; \
                 ANYWARP_CACHE_DIR names another (now {})",
                self.folder.display()
            );
        });
    }

    /// Loads an object, if it exists and is intact.
    pub(crate) fn get(&self, key: &Key) -> Option<(Facts, Vec<u8>)> {
        let folder = match Folder::open_private(&self.folder) {
            Ok(folder) => folder,
            Err(error) => {
                self.tell_unread(&error);
                return None;
            }
        };
        let read = || -> Result<(fs::File, Vec<u8>), Distrust> {
            let file = folder.read(&key.file())?;
            let mut bytes = Vec::new();
            // One byte more than it may have: then it is refused as damaged.
            if file.metadata()?.len() <= LARGEST {
                (&file).take(LARGEST + 1).read_to_end(&mut bytes)?;
            }
            Ok((file, bytes))
        };
        let (file, bytes) = match read() {
            Ok(both) => both,
            Err(Distrust::System(_)) => return None,
            Err(reason) => {
                let folder = self.folder.display();
                tracing::warn!(%folder, %reason, "a cached object is not used; the kernel is compiled again");
                return None;
            }
        };
        let Some(found) = decode(key, &bytes) else {
            let (folder, key) = (self.folder.display(), &key.0);
            tracing::warn!(%folder, key, "a cached object is damaged; the kernel is compiled again");
            return None;
        };
        // Records the time of last use; if that fails, the file is only removed earlier.
        let _ = file.set_modified(SystemTime::now());
        Some(found)
    }

    /// Stores an object. A full disk, a read-only folder or a file size limit only disables the cache, and is
    /// reported once per process.
    pub(crate) fn put(&self, key: &Key, facts: &Facts, object: &[u8]) {
        if let Err(error) = self.write(key, facts, object) {
            self.tell_unwritten(&error);
        }
    }

    fn write(&self, key: &Key, facts: &Facts, object: &[u8]) -> Result<(), Distrust> {
        let folder = Folder::make_private(&self.folder)?;
        let bytes = encode(key, facts, object);
        if bytes.len() as u64 > LARGEST {
            return Err(io::Error::from(io::ErrorKind::FileTooLarge).into());
        }
        folder.write(&key.file(), &bytes, 0o600)?;
        // Listing a folder of thousands of files costs more than compiling a kernel, so only one in 64 new
        // objects prunes the cache.
        if key.0.starts_with(['0', '1', '2', '3']) && key.0.ends_with('0') {
            self.prune(BOUND)?;
        }
        Ok(())
    }

    /// The folder, for maintenance; `None` if it does not exist.
    fn opened(&self) -> Result<Option<Folder>, Distrust> {
        match Folder::open_private(&self.folder) {
            Err(Distrust::System(error)) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            other => other.map(Some),
        }
    }

    /// Every entry whose name is an object's or a temporary's, and whether it is a file. Other names do not
    /// belong to the cache.
    fn named(&self) -> Result<Vec<(Item, bool)>, Distrust> {
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let name = entry.file_name();
            let Some((key, unfinished)) = object_of(&name) else { continue };
            // Another process may have removed it meanwhile.
            let Ok(meta) = entry.metadata() else { continue };
            let item = Item {
                name: name.to_string_lossy().into_owned(),
                key,
                size: meta.len(),
                used: meta.modified().unwrap_or(SystemTime::UNIX_EPOCH),
                unfinished,
            };
            found.push((item, meta.is_file()));
        }
        Ok(found)
    }

    /// Lists every object and every temporary file.
    ///
    /// # Errors
    /// The folder cannot be read or is accessible to others. A folder that does not exist is empty.
    pub fn items(&self) -> Result<Vec<Item>, Distrust> {
        if self.opened()?.is_none() {
            return Ok(Vec::new());
        }
        Ok(self.named()?.into_iter().filter_map(|(item, is_file)| is_file.then_some(item)).collect())
    }

    /// Removes a file if it exists.
    fn remove(&self, folder: &Folder, name: &str, removal: &mut Removal) -> bool {
        match folder.remove(name) {
            Ok(()) => true,
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => {
                removal.left.push((self.folder.join(name), error));
                false
            }
        }
    }

    /// Removes every object, every temporary file, and the record of loaded texts. An entry that cannot be
    /// removed, such as a folder with an object's name, does not stop the removal of the rest.
    ///
    /// # Errors
    /// The folder cannot be read or is accessible to others.
    pub fn clear(&self) -> Result<Removal, Distrust> {
        let mut removal = Removal::default();
        let Some(folder) = self.opened()? else { return Ok(removal) };
        for (item, _) in self.named()? {
            if self.remove(&folder, &item.name, &mut removal) {
                removal.removed.push(item);
            }
        }
        self.remove(&folder, crate::seen::FILE, &mut removal);
        Ok(removal)
    }

    /// Removes abandoned temporary files and, if the folder holds more than `bound` bytes, the least recently
    /// used objects.
    ///
    /// # Errors
    /// The folder cannot be read or is accessible to others.
    pub fn prune(&self, bound: u64) -> Result<Removal, Distrust> {
        let Some(folder) = self.opened()? else { return Ok(Removal::default()) };
        let (old, mut items): (Vec<Item>, Vec<Item>) = self.items()?.into_iter().partition(Item::is_left);
        let mut removal = Removal::default();
        for item in old {
            if self.remove(&folder, &item.name, &mut removal) {
                removal.removed.push(item);
            }
        }
        let mut total: u64 = items.iter().map(|i| i.size).sum();
        if total <= bound {
            return Ok(removal);
        }
        items.sort_by_key(|i| i.used);
        // Removes a quarter at a time, so that a full cache is not pruned at every launch.
        for item in items.into_iter().filter(|item| !item.unfinished) {
            if total <= bound / 4 * 3 {
                break;
            }
            if self.remove(&folder, &item.name, &mut removal) {
                total -= item.size;
                removal.removed.push(item);
            }
        }
        Ok(removal)
    }
}

/// A digest of an object's contents and name, so that a file renamed to another object's name is rejected.
fn digest(key: &Key, body: &[u8]) -> blake3::Hash {
    let mut h = blake3::Hasher::new();
    h.update(key.0.as_bytes());
    h.update(&[0]);
    h.update(body);
    h.finalize()
}

fn encode(key: &Key, facts: &Facts, object: &[u8]) -> Vec<u8> {
    let (needs, r) = (&facts.needs, facts.report);
    let mut body = Vec::with_capacity(HEADER + object.len());
    body.extend((needs.frame as u64).to_le_bytes());
    body.extend((needs.local as u64).to_le_bytes());
    let wide = needs.width == Width::W64;
    let flags = [needs.suspends, needs.recursive, r.per_lane, wide, needs.whole_warps, needs.waits];
    let upper = (r.effort as u64) << 8 | u64::from(needs.together);
    let flags = flags.iter().rev().fold(upper, |all, &f| all << 1 | u64::from(f));
    body.extend(flags.to_le_bytes());
    [r.uniform, r.vector, r.wide, r.scattered].iter().for_each(|n| body.extend(n.to_le_bytes()));
    body.extend(object);
    let mut bytes = MAGIC.to_vec();
    bytes.extend(digest(key, &body).as_bytes());
    bytes.extend(body);
    bytes
}

fn decode(key: &Key, bytes: &[u8]) -> Option<(Facts, Vec<u8>)> {
    let (head, body) = bytes.split_at_checked(40)?;
    if head.get(..8)? != MAGIC || head.get(8..)? != digest(key, body).as_bytes() {
        return None;
    }
    let u64_at = |at: usize| Some(u64::from_le_bytes(body.get(at..at + 8)?.try_into().ok()?));
    let u32_at = |at: usize| Some(u32::from_le_bytes(body.get(at..at + 4)?.try_into().ok()?));
    let (frame, local, flags) = (u64_at(0)?, u64_at(8)?, u64_at(16)?);
    let report = Report {
        uniform: u32_at(24)?,
        vector: u32_at(28)?,
        wide: u32_at(32)?,
        scattered: u32_at(36)?,
        per_lane: flags & 4 != 0,
        effort: *Effort::ALL.get(usize::try_from(flags >> 14).ok()?)?,
    };
    let needs = Needs {
        frame: usize::try_from(frame).ok()?,
        local: usize::try_from(local).ok()?,
        width: if flags & 8 == 0 { Width::W32 } else { Width::W64 },
        whole_warps: flags & 16 != 0,
        recursive: flags & 2 != 0,
        suspends: flags & 1 != 0,
        waits: flags & 32 != 0,
        together: (flags >> 6) as u8,
    };
    Some((Facts { needs, report }, body.get(40..)?.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    /// A cache in a temporary folder.
    struct Scratch(tempfile::TempDir, Cache);

    impl Scratch {
        fn new() -> Scratch {
            let folder = tempfile::tempdir().expect("a folder");
            let cache = Cache { folder: folder.path().join("cache") };
            Scratch(folder, cache)
        }

        fn file(&self, key: &Key) -> PathBuf {
            self.1.folder.join(key.file())
        }
    }

    fn key(name: &str) -> Key {
        Key(blake3::hash(name.as_bytes()).to_hex().to_string())
    }

    fn age(path: &Path, seconds: u64) {
        let time = SystemTime::now() - Duration::from_secs(seconds);
        fs::File::open(path).and_then(|f| f.set_modified(time)).expect("set time");
    }

    #[test]
    fn objects_come_back_and_damage_is_seen() {
        let scratch = Scratch::new();
        let cache = &scratch.1;
        let key = key("0123");
        let facts = Facts {
            needs: Needs {
                width: Width::W64,
                whole_warps: true,
                together: 8,
                frame: 192,
                local: 48,
                recursive: true,
                suspends: true,
                waits: false,
            },
            report: Report {
                uniform: 1,
                vector: 2,
                wide: 3,
                scattered: 4,
                per_lane: true,
                effort: Effort::Least,
            },
        };
        assert!(cache.get(&key).is_none());
        cache.put(&key, &facts, b"object");
        assert_eq!(cache.get(&key), Some((facts, b"object".to_vec())));
        let mut bytes = fs::read(scratch.file(&key)).expect("it was written");
        for cut in [0, 7, 39, bytes.len() - 1] {
            fs::write(scratch.file(&key), &bytes[..cut]).expect("writable");
            assert!(cache.get(&key).is_none(), "{cut} bytes");
        }
        *bytes.last_mut().expect("bytes") ^= 1;
        fs::write(scratch.file(&key), &bytes).expect("writable");
        assert!(cache.get(&key).is_none());
        assert_eq!(cache.clear().expect("clear").removed.len(), 1);
    }

    #[test]
    fn an_object_has_a_maximum_size() {
        let scratch = Scratch::new();
        let (cache, key, facts) = (&scratch.1, key("large"), Facts::default());
        let mut object = vec![0u8; usize::try_from(LARGEST).expect("64 bits") - HEADER];
        cache.put(&key, &facts, &object);
        assert_eq!(cache.get(&key), Some((facts, object.clone())));
        object.push(0);
        // Too large to be stored, and not read where it was stored all the same.
        cache.clear().expect("clear");
        cache.put(&key, &facts, &object);
        assert!(!scratch.file(&key).exists());
        fs::write(scratch.file(&key), encode(&key, &facts, &object)).expect("writable");
        fs::set_permissions(scratch.file(&key), fs::Permissions::from_mode(0o600)).expect("ours");
        assert!(cache.get(&key).is_none());
    }

    #[test]
    fn an_object_under_another_ones_name_is_not_taken() {
        let scratch = Scratch::new();
        let (one, other) = (key("one"), key("other"));
        scratch.1.put(&one, &Facts::default(), b"object");
        fs::hard_link(scratch.file(&one), scratch.file(&other)).expect("a link");
        assert!(scratch.1.get(&one).is_some());
        assert!(scratch.1.get(&other).is_none());
    }

    #[test]
    fn what_others_can_write_is_not_used() {
        let scratch = Scratch::new();
        let (cache, key) = (&scratch.1, key("planted"));
        let mode = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("ours");
        };
        cache.put(&key, &Facts::default(), b"object");
        let made = fs::metadata(cache.folder()).expect("there").permissions().mode();
        assert_eq!(made & 0o777, 0o700);
        // A file that others can write, and a link.
        mode(&scratch.file(&key), 0o666);
        assert!(cache.get(&key).is_none());
        let elsewhere = scratch.0.path().join("elsewhere");
        fs::rename(scratch.file(&key), &elsewhere).expect("moved");
        mode(&elsewhere, 0o600);
        symlink(&elsewhere, scratch.file(&key)).expect("a link");
        assert!(cache.get(&key).is_none());
        // In a folder where others can create files, nothing is read or written.
        fs::remove_file(scratch.file(&key)).expect("removed");
        fs::rename(&elsewhere, scratch.file(&key)).expect("moved back");
        assert!(cache.get(&key).is_some());
        mode(cache.folder(), 0o777);
        assert!(cache.get(&key).is_none());
        cache.put(&self::key("other"), &Facts::default(), b"object");
        assert!(!cache.seen(&[7; 32], &crate::Target::native(), &crate::Forced::default()));
        assert!(!cache.seen(&[7; 32], &crate::Target::native(), &crate::Forced::default()));
        assert!(cache.items().is_err() && cache.clear().is_err() && cache.prune(0).is_err());
        assert_eq!(fs::read_dir(cache.folder()).expect("there").count(), 1);
    }

    #[test]
    fn the_longest_unused_go_first() {
        let scratch = Scratch::new();
        let cache = &scratch.1;
        for (i, name) in ["a", "b", "c", "d"].iter().enumerate() {
            cache.put(&key(name), &Facts::default(), &[0; 1000]);
            age(&scratch.file(&key(name)), 1000 - i as u64);
        }
        cache.get(&key("a")).expect("there");
        assert_eq!(cache.prune(4000).expect("prune").removed.len(), 2);
        let mut left: Vec<String> = cache.items().expect("items").into_iter().map(|i| i.key).collect();
        left.sort();
        let mut wanted = [key("a").0, key("d").0];
        wanted.sort();
        assert_eq!(left, wanted);
    }

    #[test]
    fn temporaries_are_counted_pruned_when_old_and_cleared() {
        let scratch = Scratch::new();
        let cache = &scratch.1;
        cache.put(&key("a"), &Facts::default(), b"object");
        // Names as this version and earlier ones write them.
        let (new, old) = (format!(".1-2-{}", key("b").file()), format!(".3-4-{}", key("c").0));
        let at = |name: &str| cache.folder().join(name);
        for name in [&new, &old, "notes.o"] {
            fs::write(at(name), [0; 10]).expect("written");
        }
        let count = |of: &[Item]| (of.len(), of.iter().filter(|item| item.unfinished).count());
        assert_eq!(count(&cache.items().expect("items")), (3, 2));
        assert!(cache.prune(BOUND).expect("prune").removed.is_empty());
        age(&at(&old), 2 * LEFT.as_secs());
        assert_eq!(count(&cache.prune(BOUND).expect("prune").removed), (1, 1));
        assert!(at(&new).exists() && !at(&old).exists());
        assert_eq!(count(&cache.clear().expect("clear").removed), (2, 1));
        assert!(cache.items().expect("items").is_empty());
        assert!(at("notes.o").exists(), "what is not the cache's stays");
    }
}
