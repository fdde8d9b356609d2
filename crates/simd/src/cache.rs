//! Objects on disk, so that a program's second run compiles nothing.
//!
//! One file an object, named by the digest of everything that went into it: the texts, the kernel, the specialisation, the processor, and
//! the compiler's own sources. A file is written beside its place and renamed, so that readers see whole files only; its contents carry
//! their own digest. When the folder grows over its bound, the files used longest ago go.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::SystemTime;

use crate::compile::{Facts, Request};
use crate::effort::Effort;
use crate::kernel::Report;

/// Bytes that the folder may hold.
pub const BOUND: u64 = 512 << 20;

const MAGIC: &[u8; 8] = b"ANYWARP3";
/// Magic, digest, frame, local memory, flags, four counts.
const HEADER: usize = 8 + 32 + 8 + 8 + 8 + 16;

/// Names an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    pub(crate) fn new(request: &Request, kernel: &str) -> Key {
        let mut h = blake3::Hasher::new();
        h.update(env!("ANYWARP_COMPILER").as_bytes());
        h.update(&request.unit);
        h.update(kernel.as_bytes());
        h.update(&[0]);
        request.spec.block.iter().for_each(|d| {
            h.update(&d.to_le_bytes());
        });
        h.update(&[
            u8::from(request.spec.small),
            u8::from(request.spec.clusters),
            u8::from(request.target.avx512),
            u8::from(request.target.per_lane),
            request.target.effort.map_or(u8::MAX, |e| e as u8),
        ]);
        h.update(request.target.cpu.as_bytes());
        h.update(request.target.features.as_bytes());
        Key(h.finalize().to_hex().to_string())
    }
}

/// One cached object, as the folder tells.
#[derive(Clone, Debug)]
pub struct Item {
    /// Its file.
    pub path: PathBuf,
    /// Bytes.
    pub size: u64,
    /// When it was last used.
    pub used: SystemTime,
}

/// A folder of objects.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
}

impl Cache {
    /// By `ANYWARP_CACHE_DIR` (empty or `off`: no cache), else `anywarp` under `XDG_CACHE_HOME` or `~/.cache`.
    pub fn from_environment() -> Option<Cache> {
        let var = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        if let Some(set) = std::env::var_os("ANYWARP_CACHE_DIR") {
            return (!set.is_empty() && set != "off").then(|| Cache { folder: set.into() });
        }
        let folder = var("XDG_CACHE_HOME").or_else(|| var("HOME").map(|h| h.join(".cache")))?.join("anywarp");
        Some(Cache { folder })
    }

    /// A cache in this folder.
    pub fn at(folder: &Path) -> Cache {
        Cache { folder: folder.into() }
    }

    /// Where it lies.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn file(&self, key: &Key) -> PathBuf {
        self.folder.join(format!("{}.o", key.0))
    }

    /// An object, if it is there and whole.
    pub(crate) fn get(&self, key: &Key) -> Option<(Facts, Vec<u8>)> {
        let path = self.file(key);
        let bytes = fs::read(&path).ok()?;
        let Some(found) = decode(&bytes) else {
            tracing::warn!(path = %path.display(), "a cached object is damaged; it is made anew");
            return None;
        };
        // The time of the last use; without it the file only goes earlier.
        let _ = fs::File::open(&path).and_then(|f| f.set_modified(SystemTime::now()));
        Some(found)
    }

    /// Keeps an object. A full disk or a read-only folder costs the cache, not the launch.
    pub(crate) fn put(&self, key: &Key, facts: &Facts, object: &[u8]) {
        if let Err(error) = self.write(key, facts, object) {
            tracing::debug!(folder = %self.folder.display(), %error, "cannot write to the cache");
        }
    }

    fn write(&self, key: &Key, facts: &Facts, object: &[u8]) -> std::io::Result<()> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        fs::create_dir_all(&self.folder)?;
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let beside = self.folder.join(format!(".{}-{number}-{}", std::process::id(), key.0));
        let done = fs::File::create(&beside)
            .and_then(|mut f| f.write_all(&encode(facts, object)))
            .and_then(|()| fs::rename(&beside, self.file(key)));
        if done.is_err() {
            // What is half written must not stay; if it cannot go either, there is nothing more to do.
            let _ = fs::remove_file(&beside);
        }
        done?;
        // Reading a folder of thousands of files costs more than making a kernel: one of 64 new objects looks after it.
        if key.0.starts_with(['0', '1', '2', '3']) && key.0.ends_with('0') {
            self.prune(BOUND)
        } else {
            Ok(())
        }
    }

    /// Every object.
    ///
    /// # Errors
    /// The folder cannot be read; one that is not there is empty.
    pub fn items(&self) -> std::io::Result<Vec<Item>> {
        let entries = match fs::read_dir(&self.folder) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other?,
        };
        let mut items = Vec::new();
        for entry in entries {
            let entry = entry?;
            let path = entry.path();
            if path.extension().is_none_or(|e| e != "o") {
                continue;
            }
            // Another process may have removed it meanwhile.
            if let Ok(meta) = entry.metadata() {
                items.push(Item {
                    path,
                    size: meta.len(),
                    used: meta.modified().unwrap_or(SystemTime::UNIX_EPOCH),
                });
            }
        }
        Ok(items)
    }

    /// Removes every object, and what is known of texts; how many objects, and their bytes.
    ///
    /// # Errors
    /// The folder cannot be read or a file cannot be removed.
    pub fn clear(&self) -> std::io::Result<(usize, u64)> {
        let items = self.items()?;
        for item in &items {
            fs::remove_file(&item.path)?;
        }
        match fs::remove_file(self.folder.join(crate::seen::FILE)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        Ok((items.len(), items.iter().map(|i| i.size).sum()))
    }

    fn prune(&self, bound: u64) -> std::io::Result<()> {
        let mut items = self.items()?;
        let mut total: u64 = items.iter().map(|i| i.size).sum();
        if total <= bound {
            return Ok(());
        }
        items.sort_by_key(|i| i.used);
        // A quarter at a time, so that a full cache is not pruned at every launch.
        for item in items {
            if total <= bound / 4 * 3 {
                break;
            }
            if fs::remove_file(&item.path).is_ok() {
                total -= item.size;
            }
        }
        Ok(())
    }
}

fn encode(facts: &Facts, object: &[u8]) -> Vec<u8> {
    let r = facts.report;
    let mut body = Vec::with_capacity(HEADER + object.len());
    body.extend(facts.frame.to_le_bytes());
    body.extend(facts.local.to_le_bytes());
    let flags = [facts.suspends, facts.keeps_stack, r.per_lane];
    let flags = flags.iter().rev().fold(r.effort as u64, |all, &f| all << 1 | u64::from(f));
    body.extend(flags.to_le_bytes());
    [r.uniform, r.vector, r.wide, r.scattered].iter().for_each(|n| body.extend(n.to_le_bytes()));
    body.extend(object);
    let mut bytes = MAGIC.to_vec();
    bytes.extend(blake3::hash(&body).as_bytes());
    bytes.extend(body);
    bytes
}

fn decode(bytes: &[u8]) -> Option<(Facts, Vec<u8>)> {
    let (head, body) = bytes.split_at_checked(40)?;
    if head.get(..8)? != MAGIC || head.get(8..)? != blake3::hash(body).as_bytes() {
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
        effort: *Effort::ALL.get(usize::try_from(flags >> 3).ok()?)?,
    };
    let facts = Facts { frame, local, keeps_stack: flags & 2 != 0, suspends: flags & 1 != 0, report };
    Some((facts, body.get(40..)?.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch(name: &str) -> Cache {
        let folder = std::env::temp_dir().join(format!("anywarp-cache-{name}-{}", std::process::id()));
        Cache { folder }
    }

    #[test]
    fn objects_come_back_and_damage_is_seen() {
        let cache = scratch("damage");
        let key = Key("0123".into());
        let facts = Facts {
            frame: 192,
            local: 48,
            keeps_stack: true,
            suspends: true,
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
        let mut bytes = fs::read(cache.file(&key)).expect("it was written");
        for cut in [0, 7, 39, bytes.len() - 1] {
            fs::write(cache.file(&key), &bytes[..cut]).expect("writable");
            assert!(cache.get(&key).is_none(), "{cut} bytes");
        }
        *bytes.last_mut().expect("bytes") ^= 1;
        fs::write(cache.file(&key), &bytes).expect("writable");
        assert!(cache.get(&key).is_none());
        assert_eq!(cache.clear().expect("clear").0, 1);
        fs::remove_dir_all(&cache.folder).expect("remove");
    }

    #[test]
    fn the_longest_unused_go_first() {
        let cache = scratch("prune");
        for (i, name) in ["a", "b", "c", "d"].iter().enumerate() {
            let key = Key((*name).into());
            cache.put(&key, &Facts::default(), &[0; 1000]);
            let time = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1000 + i as u64);
            fs::File::open(cache.file(&key)).and_then(|f| f.set_modified(time)).expect("set time");
        }
        cache.get(&Key("a".into())).expect("there");
        cache.prune(4000).expect("prune");
        let mut left: Vec<String> = cache
            .items()
            .expect("items")
            .iter()
            .map(|i| i.path.file_stem().expect("a name").to_string_lossy().into_owned())
            .collect();
        left.sort();
        assert_eq!(left, ["a", "d"]);
        fs::remove_dir_all(&cache.folder).expect("remove");
    }
}
