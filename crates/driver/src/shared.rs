//! What processes share: files in memory, and names by which another process opens them.
//!
//! A name is 64 bytes that the program carries to the other process by itself. It says which descriptor of which process the file is; the other
//! process opens it through `/proc` and sees by the file's number that it is the one meant.

use std::fs::{File, OpenOptions};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::error::{Error, Result};

/// A name for another process.
pub type Name = [u8; 64];

/// What a name is of: the first word of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub(crate) enum Of {
    /// Memory.
    Memory = 0x6d65_6d2d_7772_7061,
    /// An event.
    Event = 0x6576_742d_7772_7061,
    /// A memory pool.
    Pool = 0x706f_6f6c_7772_7061,
}

/// What a name says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) process: u32,
    pub(crate) descriptor: u32,
    pub(crate) inode: u64,
    /// What else there is to say: for memory the offset in the file, the bytes, and the bytes of the file.
    pub(crate) more: [u64; 3],
}

/// A file in memory of that size.
pub(crate) fn memory_file(size: u64) -> Result<File> {
    // SAFETY: a NUL-ended name and a flag; the descriptor is nobody else's.
    let file = unsafe {
        let fd = libc::memfd_create(c"anywarp".as_ptr(), libc::MFD_CLOEXEC);
        if fd < 0 {
            return Err(Error::OutOfMemory);
        }
        File::from(OwnedFd::from_raw_fd(fd))
    };
    host::write::limited(|| file.set_len(size)).map_err(|_| Error::OutOfMemory)?;
    Ok(file)
}

/// Another descriptor of the same file.
pub(crate) fn duplicate(descriptor: RawFd) -> Result<File> {
    // SAFETY: duplicating fails for what is no descriptor; the duplicate is ours alone.
    unsafe {
        let own = libc::fcntl(descriptor, libc::F_DUPFD_CLOEXEC, 0);
        if own < 0 { Err(Error::OperatingSystem) } else { Ok(File::from(OwnedFd::from_raw_fd(own))) }
    }
}

/// The name of a file of this process.
pub(crate) fn name(of: Of, file: &File, more: [u64; 3]) -> Result<Name> {
    let inode = file.metadata().map_err(|_| Error::OperatingSystem)?.ino();
    let place = u64::from(std::process::id()) << 32 | file.as_raw_fd() as u64;
    let words = [of as u64, place, inode, more[0], more[1], more[2], 0, 0];
    let mut name = [0; 64];
    for (bytes, word) in name.chunks_exact_mut(8).zip(words) {
        bytes.copy_from_slice(&word.to_ne_bytes());
    }
    Ok(name)
}

/// Reads a name. `None`: it is none.
pub(crate) fn read(of: Of, name: &Name) -> Option<Named> {
    let mut words = [0; 8];
    for (word, bytes) in words.iter_mut().zip(name.chunks_exact(8)) {
        *word = u64::from_ne_bytes(bytes.try_into().ok()?);
    }
    let [kind, place, inode, a, b, c, ..] = words;
    let named = Named { process: (place >> 32) as u32, descriptor: place as u32, inode, more: [a, b, c] };
    (kind == of as u64).then_some(named)
}

/// Opens a file of another process.
pub(crate) fn open(named: &Named) -> Result<File> {
    let path = format!("/proc/{}/fd/{}", named.process, named.descriptor);
    let file = OpenOptions::new().read(true).write(true).open(path).map_err(|_| Error::MapFailed)?;
    let inode = file.metadata().map_err(|_| Error::MapFailed)?.ino();
    if inode == named.inode { Ok(file) } else { Err(Error::MapFailed) }
}

/// Maps a whole file for reading and writing, at `at` (over what is there) or, for `None`, anywhere.
///
/// # Safety
/// What lies at `at` must be the caller's to replace.
pub(crate) unsafe fn map(file: &File, size: u64, at: Option<u64>) -> Result<u64> {
    let flags = if at.is_some() { libc::MAP_SHARED | libc::MAP_FIXED } else { libc::MAP_SHARED };
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let to = at.unwrap_or(0) as *mut libc::c_void;
    // SAFETY: by the caller's promise.
    let got = unsafe { libc::mmap(to, size as usize, protection, flags, file.as_raw_fd(), 0) };
    if got == libc::MAP_FAILED { Err(Error::MapFailed) } else { Ok(got as u64) }
}

/// Takes away what [`map`] mapped.
///
/// # Safety
/// Nothing may use it any more.
pub(crate) unsafe fn unmap(at: u64, size: u64) {
    // SAFETY: by the caller's promise.
    unsafe { libc::munmap(at as *mut libc::c_void, size as usize) };
}

/// Bytes of a file that holds marks.
const PAGE: u64 = 4096;

/// How far several processes have come: records asked for, records reached, and the process that asked last.
pub(crate) struct Marks {
    file: File,
    at: u64,
}

impl Marks {
    /// New ones.
    pub(crate) fn make() -> Result<Self> {
        Self::of(memory_file(PAGE)?)
    }

    /// Those that another process named.
    pub(crate) fn open(name: &Name) -> Result<Self> {
        let named = read(Of::Event, name).ok_or(Error::MapFailed)?;
        let file = open(&named)?;
        if file.metadata().is_ok_and(|m| m.len() == PAGE) { Self::of(file) } else { Err(Error::MapFailed) }
    }

    fn of(file: File) -> Result<Self> {
        // SAFETY: mapped where nothing is.
        let at = unsafe { map(&file, PAGE, None)? };
        Ok(Marks { file, at })
    }

    /// The name for another process.
    pub(crate) fn name(&self) -> Result<Name> {
        name(Of::Event, &self.file, [0; 3])
    }

    fn words(&self) -> &[AtomicU64; 3] {
        // SAFETY: the page is mapped as long as self lives, is aligned, and is only used through atomics, by every process.
        unsafe { &*(self.at as *const [AtomicU64; 3]) }
    }

    /// Asks for one record more; gives its number.
    pub(crate) fn ask(&self) -> u64 {
        let [asked, _, process] = self.words();
        process.store(u64::from(std::process::id()), Ordering::Release);
        asked.fetch_add(1, Ordering::AcqRel) + 1
    }

    /// A record was reached.
    pub(crate) fn reach(&self, number: u64) {
        self.words()[1].fetch_max(number, Ordering::AcqRel);
    }

    /// The number of the last record asked for.
    pub(crate) fn asked(&self) -> u64 {
        self.words()[0].load(Ordering::Acquire)
    }

    /// Whether a record was reached, or will never be because the process that asked for it is gone.
    pub(crate) fn reached(&self, number: u64) -> bool {
        let [_, reached, process] = self.words();
        if reached.load(Ordering::Acquire) >= number {
            return true;
        }
        let process = process.load(Ordering::Acquire) as libc::pid_t;
        // SAFETY: signal 0 only asks whether the process exists.
        let answer = unsafe { libc::kill(process, 0) };
        answer != 0 && std::io::Error::last_os_error().raw_os_error() == Some(libc::ESRCH)
    }

    /// Waits for a record.
    pub(crate) fn wait(&self, number: u64) {
        let mut nap = Duration::from_micros(5);
        while !self.reached(number) && crate::driver().is_ok() {
            std::thread::sleep(nap);
            nap = (nap * 2).min(Duration::from_millis(1));
        }
    }
}

impl Drop for Marks {
    fn drop(&mut self) {
        // SAFETY: mapped by `of`; references to it do not outlive self.
        unsafe { unmap(self.at, PAGE) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back_and_garbage_is_none() {
        let marks = Marks::make().unwrap();
        let name = marks.name().unwrap();
        let named = read(Of::Event, &name).unwrap();
        assert_eq!(named.process, std::process::id());
        assert_eq!(read(Of::Memory, &name), None);
        assert_eq!(read(Of::Event, &[0; 64]), None);
        let mut wrong = name;
        wrong[16] ^= 1;
        assert_eq!(Marks::open(&wrong).err(), Some(Error::MapFailed));
    }

    #[test]
    fn marks_are_the_same_through_their_name() {
        let marks = Marks::make().unwrap();
        let other = Marks::open(&marks.name().unwrap()).unwrap();
        assert!(other.reached(0));
        let number = marks.ask();
        assert_eq!(other.asked(), number);
        assert!(!other.reached(number));
        other.reach(number);
        assert!(marks.reached(number));
    }

    #[test]
    fn a_record_of_a_process_that_is_gone_is_not_waited_for() {
        let marks = Marks::make().unwrap();
        let number = marks.ask();
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let gone = child.id();
        child.wait().unwrap();
        marks.words()[2].store(u64::from(gone), Ordering::Release);
        assert!(marks.reached(number));
    }
}
