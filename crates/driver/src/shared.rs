//! Sharing between processes: memory files, and names by which another process opens them.
//!
//! A name is 64 bytes that the program passes to the other process. It holds a process id and a file
//! descriptor number. The other process opens the file through `/proc` and checks the inode number.

use std::ffi::{CStr, CString};
use std::fs::{File, OpenOptions};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use host::descriptor;
use host::mapped::Watched;

use crate::device::Device;
use crate::error::{Error, Result};

/// A name for another process.
pub type Name = [u8; 64];

/// The type of a shared object: the first word of its name.
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

/// The contents of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) process: u32,
    pub(crate) descriptor: u32,
    pub(crate) inode: u64,
    /// Further values; for memory: offset in the file, size, and the device's mark.
    pub(crate) more: [u64; 3],
}

/// A memory file of `size` bytes.
pub(crate) fn memory_file(size: u64) -> Result<File> {
    named_memory_file(c"anywarp", size)
}

/// A memory file of `size` bytes that `/proc` shows under a name.
pub(crate) fn named_memory_file(name: &CStr, size: u64) -> Result<File> {
    let file = new_file(name)?;
    resize(&file, size)?;
    seal(&file, libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL);
    Ok(file)
}

/// A number by which processes know a device, however they number their devices: the end of its UUID.
pub(crate) fn mark(device: &Device) -> u64 {
    (u128::from_be_bytes(device.info.uuid) & u128::from(u64::MAX)) as u64
}

/// The device with a mark, if this process sees it.
pub(crate) fn marked(wanted: u64) -> Option<&'static Arc<Device>> {
    crate::driver().ok()?.devices.iter().find(|device| mark(device) == wanted)
}

/// How the system shows the name of a file of [`memory_file_of`], before the device's mark.
const OF_DEVICE: &str = "/memfd:anywarp-of-";

/// A memory file of `size` bytes whose name tells the device that it is for.
pub(crate) fn memory_file_of(device: &Device, size: u64) -> Result<File> {
    let name = format!("anywarp-of-{:016x}", mark(device));
    named_memory_file(&CString::new(name).unwrap_or_default(), size)
}

/// The device that a file of [`memory_file_of`] is for.
pub(crate) fn device_of(file: &File) -> Option<&'static Arc<Device>> {
    let link = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).ok()?;
    let mark = link.to_str()?.strip_prefix(OF_DEVICE)?.get(..16)?;
    marked(u64::from_str_radix(mark, 16).ok()?)
}

/// An empty memory file that can only grow ([`resize`]).
pub(crate) fn growing_file() -> Result<File> {
    let file = new_file(c"anywarp")?;
    seal(&file, libc::F_SEAL_SHRINK | libc::F_SEAL_SEAL);
    Ok(file)
}

fn new_file(name: &CStr) -> Result<File> {
    // SAFETY: a NUL-terminated name and a flag; the new descriptor has no other owner.
    let new = unsafe {
        let fd = libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING);
        if fd < 0 {
            return Err(Error::OutOfMemory);
        }
        OwnedFd::from_raw_fd(fd)
    };
    descriptor::beyond_standard(new).map(File::from).map_err(|_| Error::OutOfMemory)
}

/// Sets the size of a memory file.
pub(crate) fn resize(file: &File, size: u64) -> Result<()> {
    host::write::limited(|| file.set_len(size)).map_err(|_| Error::OutOfMemory)
}

/// Seals a file, so that whoever gets it cannot truncate it under those that have mapped it. Without seals,
/// it works as well.
fn seal(file: &File, seals: i32) {
    // SAFETY: only changes the seals of the new file.
    unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals) };
}

/// Another descriptor of the same file.
pub(crate) fn duplicate(descriptor: RawFd) -> Result<File> {
    descriptor::duplicate(descriptor).map(File::from).map_err(|_| Error::OperatingSystem)
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

/// Parses a name; `None` if it is not one of this type.
pub(crate) fn read(of: Of, name: &Name) -> Option<Named> {
    let mut words = [0; 8];
    for (word, bytes) in words.iter_mut().zip(name.chunks_exact(8)) {
        *word = u64::from_ne_bytes(bytes.try_into().ok()?);
    }
    let [kind, place, inode, a, b, c, ..] = words;
    let named = Named { process: (place >> 32) as u32, descriptor: place as u32, inode, more: [a, b, c] };
    (kind == of as u64).then_some(named)
}

/// Opens another process's file.
pub(crate) fn open(named: &Named) -> Result<File> {
    let path = format!("/proc/{}/fd/{}", named.process, named.descriptor);
    let file = OpenOptions::new().read(true).write(true).open(path);
    let file =
        file.and_then(|file| descriptor::beyond_standard(file.into())).map_err(|_| Error::MapFailed)?;
    let file = File::from(file);
    let inode = file.metadata().map_err(|_| Error::MapFailed)?.ino();
    if inode == named.inode { Ok(file) } else { Err(Error::MapFailed) }
}

/// Maps `size` bytes of a file, from the page at `offset` on, for reading and writing: at `at`, replacing
/// what is mapped there, or anywhere for `None`.
///
/// # Safety
/// The caller must own the range at `at`.
pub(crate) unsafe fn map(file: &File, offset: u64, size: u64, at: Option<u64>) -> Result<u64> {
    let flags = if at.is_some() { libc::MAP_SHARED | libc::MAP_FIXED } else { libc::MAP_SHARED };
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let to = at.unwrap_or(0) as *mut libc::c_void;
    // SAFETY: guaranteed by the caller.
    let got =
        unsafe { libc::mmap(to, size as usize, protection, flags, file.as_raw_fd(), offset as libc::off_t) };
    if got == libc::MAP_FAILED { Err(Error::MapFailed) } else { Ok(got as u64) }
}

/// Watches a mapping of a file that others may truncate.
pub(crate) fn watch(at: u64, size: u64) -> Watched {
    if let Ok(driver) = crate::driver() {
        driver.backend.catch_faults();
    }
    host::mapped::watch(at, size.next_multiple_of(PAGE))
}

/// Unmaps what [`map`] mapped.
///
/// # Safety
/// The memory must no longer be in use.
pub(crate) unsafe fn unmap(at: u64, size: u64) {
    // SAFETY: guaranteed by the caller.
    unsafe { libc::munmap(at as *mut libc::c_void, size as usize) };
}

/// Size of the file that holds marks.
const PAGE: u64 = 4096;

/// Progress shared between processes: records requested, records reached, and the process that requested
/// last.
pub(crate) struct Marks {
    file: File,
    at: u64,
}

impl Marks {
    /// Creates new marks.
    pub(crate) fn make() -> Result<Self> {
        Self::of(memory_file(PAGE)?)
    }

    /// Opens another process's marks by name.
    pub(crate) fn open(name: &Name) -> Result<Self> {
        let named = read(Of::Event, name).ok_or(Error::MapFailed)?;
        let file = open(&named)?;
        if file.metadata().is_ok_and(|m| m.len() == PAGE) { Self::of(file) } else { Err(Error::MapFailed) }
    }

    fn of(file: File) -> Result<Self> {
        // SAFETY: the address is chosen by the kernel, so no existing mapping changes.
        let at = unsafe { map(&file, 0, PAGE, None)? };
        Ok(Marks { file, at })
    }

    /// The name by which another process opens the marks.
    pub(crate) fn name(&self) -> Result<Name> {
        name(Of::Event, &self.file, [0; 3])
    }

    fn words(&self) -> &[AtomicU64; 3] {
        // SAFETY: the page is aligned and stays mapped while self lives; every process uses it only through
        // atomics.
        unsafe { &*(self.at as *const [AtomicU64; 3]) }
    }

    /// Requests one more record and returns its number.
    pub(crate) fn ask(&self) -> u64 {
        let [asked, _, process] = self.words();
        process.store(u64::from(std::process::id()), Ordering::Release);
        asked.fetch_add(1, Ordering::AcqRel) + 1
    }

    /// Marks a record as reached.
    pub(crate) fn reach(&self, number: u64) {
        self.words()[1].fetch_max(number, Ordering::AcqRel);
    }

    /// The number of the last requested record.
    pub(crate) fn asked(&self) -> u64 {
        self.words()[0].load(Ordering::Acquire)
    }

    /// Whether a record was reached, or never will be because the process that requested it has exited.
    pub(crate) fn reached(&self, number: u64) -> bool {
        let [_, reached, process] = self.words();
        if reached.load(Ordering::Acquire) >= number {
            return true;
        }
        has_ended(process.load(Ordering::Acquire) as libc::pid_t)
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

/// Whether a process has ended, also if its parent has not waited for it yet.
pub(crate) fn has_ended(process: libc::pid_t) -> bool {
    // SAFETY: the call has no memory arguments; the descriptor that it returns has no other owner.
    let file = unsafe { libc::syscall(libc::SYS_pidfd_open, process, 0) };
    if file < 0 {
        // SAFETY: signal 0 only checks whether the process exists.
        let answer = unsafe { libc::kill(process, 0) };
        return answer != 0 && std::io::Error::last_os_error().raw_os_error() == Some(libc::ESRCH);
    }
    // SAFETY: as above.
    let file = unsafe { OwnedFd::from_raw_fd(file as RawFd) };
    let mut poll = libc::pollfd { fd: file.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one descriptor, which stays open during the call, which does not wait.
    unsafe { libc::poll(&raw mut poll, 1, 0) > 0 }
}

impl Drop for Marks {
    fn drop(&mut self) {
        // SAFETY: `of` mapped the page, and no reference to it outlives self.
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

    #[test]
    fn a_process_that_its_parent_has_not_waited_for_has_ended() {
        let marks = Marks::make().unwrap();
        let number = marks.ask();
        let mut child =
            std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
        marks.words()[2].store(u64::from(child.id()), Ordering::Release);
        assert!(!marks.reached(number), "it waits for input");
        drop(child.stdin.take());
        while !marks.reached(number) {
            std::thread::yield_now();
        }
        child.wait().unwrap();
    }

    #[test]
    fn shared_files_keep_their_size() {
        let file = memory_file(8192).unwrap();
        assert!(file.set_len(4096).is_err() && file.set_len(1 << 20).is_err());
        assert_eq!(file.metadata().unwrap().len(), 8192);
    }
}
