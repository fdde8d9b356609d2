//! What a process uses of its devices, published for monitors: the memory and the contexts of each device.
//!
//! The driver keeps the figures in one page of a memory file named `anywarp-usage`. Monitors find the file
//! among the open files of processes in `/proc` and read it. Nothing is left behind when a process ends, and
//! the kernel decides who may look: the user who runs the process, and root. The page is a copy of the
//! driver's own counters, which a writer of the page cannot change. Its last words are for requests of
//! checkpoints.

use std::ffi::CStr;
use std::fs::{self, File, OpenOptions};
use std::io::ErrorKind;
use std::os::fd::{AsRawFd, IntoRawFd};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use crate::checkpoint::other as checkpoint;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::shared;

/// The name of the memory file.
const NAME: &CStr = c"anywarp-usage";
/// How the kernel shows an open file of this name.
const LINK: &str = "/memfd:anywarp-usage";

/// The size of the file.
const SIZE: usize = 4096;
const WORDS: usize = SIZE / 8;
/// The first word; the last byte is the version of the layout.
const MAGIC: u64 = 0x616e_7977_6172_7001;
/// Words before the first device: the magic, the process, the number of devices.
const HEADER: usize = 3;
/// Words of a device: its UUID in two, total and used bytes, contexts.
const ROW: usize = 5;
/// The most devices that the page holds.
const MOST: usize = 64;

/// The first word of those by which other processes ask for checkpoints ([`crate::checkpoint::other`]).
const CONTROL: usize = WORDS - checkpoint::WORDS;

const _: () = assert!(HEADER + ROW * MOST <= CONTROL);

/// Index of a device's word.
#[derive(Clone, Copy)]
enum Word {
    Total = 2,
    Used = 3,
    Contexts = 4,
}

type Page = [AtomicU64; WORDS];

static PAGE: OnceLock<Option<&'static Page>> = OnceLock::new();

/// Publishes the devices of this process. If the system refuses the file, nothing is published.
pub(crate) fn start(devices: &[Arc<Device>]) {
    let Some(page) = PAGE.get_or_init(|| new_page().ok()) else { return };
    let set = |index: usize, value: u64| {
        if let Some(word) = page.get(index) {
            word.store(value, Ordering::Relaxed);
        }
    };
    for (row, device) in devices.iter().take(MOST).enumerate() {
        let start = HEADER + ROW * row;
        let [a, b] = words_of(device.info.uuid);
        set(start, a);
        set(start + 1, b);
        set(start + Word::Total as usize, device.info.total_memory);
    }
    set(1, u64::from(std::process::id()));
    set(2, devices.len().min(MOST) as u64);
    // Readers take a page without the magic for none.
    if let Some(word) = page.first() {
        word.store(MAGIC, Ordering::Release);
    }
}

/// The words of this process by which others ask for checkpoints. A child of a fork shares them with its
/// parent and has none.
pub(crate) fn control() -> Option<&'static checkpoint::Words> {
    let page = PAGE.get().copied().flatten()?;
    if crate::is_forked() { None } else { page.last_chunk() }
}

/// The page of another process.
pub(crate) struct Mapped(u64);

impl Mapped {
    /// The words by which it is asked for checkpoints.
    pub(crate) fn control(&self) -> &checkpoint::Words {
        // SAFETY: the page is aligned and mapped while self lives, and its file cannot be truncated; the
        // words lie in it, and every process uses them only through atomics.
        unsafe { &*(self.0 as *const AtomicU64).add(CONTROL).cast() }
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: `map_of` mapped the page, and no reference to it outlives self.
        unsafe { shared::unmap(self.0, SIZE as u64) };
    }
}

/// Maps the page of another process.
///
/// # Errors
/// [`Error::NotInitialized`]: it publishes none. [`Error::NotPermitted`]: it belongs to another user.
/// [`Error::NotSupported`]: the file could be truncated.
pub(crate) fn map_of(id: u32) -> Result<Mapped> {
    let refused = |error: std::io::Error| match error.kind() {
        ErrorKind::PermissionDenied => Error::NotPermitted,
        _ => Error::OperatingSystem,
    };
    let files = fs::read_dir(format!("/proc/{id}/fd")).map_err(refused)?;
    for entry in files.flatten() {
        let published = fs::read_link(entry.path())
            .is_ok_and(|link| link.to_str().is_some_and(|link| link.starts_with(LINK)))
            && read(&entry.path(), id).is_some();
        if !published {
            continue;
        }
        let file = OpenOptions::new().read(true).write(true).open(entry.path()).map_err(refused)?;
        // SAFETY: an open descriptor.
        let seals = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GET_SEALS) };
        if seals < 0 || seals & libc::F_SEAL_SHRINK == 0 {
            return Err(Error::NotSupported);
        }
        // SAFETY: the address is chosen by the kernel, so no existing mapping changes.
        return Ok(Mapped(unsafe { shared::map(&file, 0, SIZE as u64, None)? }));
    }
    Err(Error::NotInitialized)
}

fn new_page() -> Result<&'static Page> {
    let file = shared::named_memory_file(NAME, SIZE as u64)?;
    // SAFETY: the address is chosen by the kernel, so no existing mapping changes.
    let at = unsafe { shared::map(&file, 0, SIZE as u64, None)? };
    // The descriptor stays open for monitors as long as the process lives.
    let _ = file.into_raw_fd();
    // SAFETY: the page is aligned, is never unmapped, and is used only through atomics.
    Ok(unsafe { &*(at as *const Page) })
}

/// Adds to a device's word. A child of a fork shares the page with its parent and must leave it alone.
fn add(device: u32, word: Word, change: i64) {
    let Some(Some(page)) = PAGE.get() else { return };
    if crate::is_forked() || device as usize >= MOST {
        return;
    }
    if let Some(word) = page.get(HEADER + ROW * device as usize + word as usize) {
        word.fetch_add(change as u64, Ordering::Relaxed);
    }
}

/// Memory of a device was taken (positive) or given back.
pub(crate) fn memory(device: u32, change: i64) {
    add(device, Word::Used, change);
}

/// A context of a device was made (1) or ended (-1).
pub(crate) fn contexts(device: u32, change: i64) {
    add(device, Word::Contexts, change);
}

fn words_of(uuid: [u8; 16]) -> [u64; 2] {
    let number = u128::from_ne_bytes(uuid);
    [number as u64, (number >> 64) as u64]
}

/// What a process uses of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The device.
    pub uuid: [u8; 16],
    /// The memory that the process may use, which a limit on its address space can reduce.
    pub total: u64,
    /// Bytes allocated.
    pub used: u64,
    /// Contexts that exist.
    pub contexts: u64,
}

/// A process that uses the driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its number.
    pub id: u32,
    /// Its devices.
    pub shares: Vec<Share>,
}

impl Process {
    /// What it uses of the device with this UUID.
    pub fn share(&self, uuid: &[u8; 16]) -> Option<&Share> {
        self.shares.iter().find(|share| share.uuid == *uuid)
    }
}

/// The processes that use the driver, by number, as far as this process may look at them.
pub fn processes() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let ids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let mut list: Vec<Process> = ids.filter_map(of_process).collect();
    list.sort_by_key(|process| process.id);
    list
}

/// What this process uses; `None` before the driver is initialised.
pub fn own() -> Option<Process> {
    of_process(std::process::id())
}

/// What one process uses; `None` if it does not use the driver or may not be looked at.
pub fn of_process(id: u32) -> Option<Process> {
    let folder = format!("/proc/{id}");
    let files = fs::read_dir(format!("{folder}/fd")).ok()?;
    files.flatten().find_map(|entry| {
        let link = fs::read_link(entry.path()).ok()?;
        link.to_str()?.starts_with(LINK).then(|| read(&entry.path(), id)).flatten()
    })
}

fn read(path: &Path, id: u32) -> Option<Process> {
    // A file of another name can imitate the link: opening it must not wait, as on a pipe.
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path).ok()?;
    let mut bytes = [0; SIZE];
    // Read, not mapped: the owner may cut the file off at any time.
    file.metadata().ok()?.is_file().then_some(())?;
    read_whole(&file, &mut bytes)?;
    let (publisher, shares) = parse(&bytes)?;
    // A child of a fork has its parent's file open.
    (publisher == id || own_number(id) == Some(publisher)).then_some(Process { id, shares })
}

fn read_whole(file: &File, bytes: &mut [u8]) -> Option<()> {
    file.read_exact_at(bytes, 0).ok()
}

/// The number that a process has in its own namespace, as in a container.
fn own_number(id: u32) -> Option<u32> {
    let text = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    line.split_whitespace().next_back()?.parse().ok()
}

/// The process that published a page, and its devices.
fn parse(bytes: &[u8; SIZE]) -> Option<(u32, Vec<Share>)> {
    let (words, _) = bytes.as_chunks::<8>();
    let word = |index: usize| words.get(index).map(|bytes| u64::from_ne_bytes(*bytes)).unwrap_or(0);
    if word(0) != MAGIC {
        return None;
    }
    let count = usize::try_from(word(2)).ok().filter(|count| *count <= MOST)?;
    let share = |row: usize| {
        let start = HEADER + ROW * row;
        let uuid = u128::from(word(start)) | u128::from(word(start + 1)) << 64;
        Share {
            uuid: uuid.to_ne_bytes(),
            total: word(start + Word::Total as usize),
            used: word(start + Word::Used as usize),
            contexts: word(start + Word::Contexts as usize),
        }
    };
    Some((u32::try_from(word(1)).ok()?, (0..count).map(share).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(words: &[u64]) -> [u8; SIZE] {
        let mut bytes = [0; SIZE];
        for (bytes, word) in bytes.chunks_exact_mut(8).zip(words) {
            bytes.copy_from_slice(&word.to_ne_bytes());
        }
        bytes
    }

    #[test]
    fn pages_are_read_and_others_refused() {
        let uuid = *b"anywarp-cpu-0001";
        let [a, b] = words_of(uuid);
        let share = Share { uuid, total: 100, used: 7, contexts: 2 };
        assert_eq!(parse(&page(&[MAGIC, 42, 1, a, b, 100, 7, 2])), Some((42, vec![share])));
        assert_eq!(parse(&page(&[MAGIC, 42, 0])), Some((42, vec![])));
        assert_eq!(parse(&page(&[MAGIC + 1, 42, 1, a, b, 100, 7, 2])), None);
        assert_eq!(parse(&page(&[MAGIC, 42, MOST as u64 + 1])), None);
        assert_eq!(parse(&page(&[MAGIC, 1 << 32, 0])), None);
        assert_eq!(parse(&page(&[])), None);
    }

    #[test]
    fn a_process_without_the_driver_is_not_listed() {
        // This test's process does not initialise the driver.
        assert_eq!(own(), None);
        assert!(processes().iter().all(|process| process.id != std::process::id()));
    }

    #[test]
    fn a_number_is_that_of_the_process() {
        assert_eq!(own_number(std::process::id()), Some(std::process::id()));
    }
}
