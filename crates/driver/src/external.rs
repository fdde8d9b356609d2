//! Imported memory and semaphores, by file descriptor.
//!
//! External memory is a file that can be mapped: a memory file, or what `cuMemExportToShareableHandle`
//! returned. A binary semaphore is an eventfd: a signal adds 1, a wait takes it. A timeline semaphore is a
//! memory file whose first eight bytes are the value.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use host::mapped::Watched;

use crate::context::Context;
use crate::error::{Error, Result};
use crate::handle::{Handle, Pointers};
use crate::memory;
use crate::memory::array::{self, Descriptor};
use crate::shared;

static MEMORY: Pointers<Memory> = Pointers::new();
static SEMAPHORES: Pointers<Semaphore> = Pointers::new();

/// Imported memory.
pub struct Memory {
    file: File,
    size: u64,
}

/// A part of imported memory that an image lies in.
pub(crate) struct Mapping {
    start: u64,
    size: u64,
    /// Dropped before the memory is unmapped.
    watched: Option<Watched>,
}

impl Mapping {
    /// The address of the file's first byte.
    pub(crate) fn start(&self) -> u64 {
        self.start
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        self.watched = None;
        // SAFETY: the range was mapped for this, and the arrays in it hold this.
        unsafe { shared::unmap(self.start, self.size) };
    }
}

/// The bytes of a timeline semaphore's file that are mapped.
const PAGE: u64 = 4096;
/// The pause between two looks at a semaphore.
const NAP: Duration = Duration::from_micros(50);

/// An imported semaphore.
#[derive(Debug)]
pub struct Semaphore {
    /// The handle; set when the semaphore has been inserted.
    handle: AtomicU64,
    shared: Shared,
}

/// What is shared with others.
#[derive(Debug)]
enum Shared {
    /// An eventfd.
    Binary(File),
    /// The address of a mapped value, and what notices that its file is truncated.
    Timeline(u64, Watched),
}

impl Drop for Semaphore {
    fn drop(&mut self) {
        if let Shared::Timeline(at, _) = &self.shared {
            // SAFETY: the page was mapped for this semaphore alone, and nothing refers to it any more.
            unsafe { shared::unmap(*at, PAGE) };
        }
    }
}

/// Takes over a descriptor, which from now on belongs to the driver.
fn adopt(descriptor: RawFd) {
    // SAFETY: by the contract of an import, the program gives the descriptor away.
    drop(unsafe { OwnedFd::from_raw_fd(descriptor) });
}

/// Imports memory of `size` bytes. On success the descriptor is the driver's, which closes it.
///
/// # Errors
/// [`Error::InvalidValue`]: no size. [`Error::Unknown`]: no such descriptor, or not one of memory.
pub fn import_memory(descriptor: RawFd, size: u64) -> Result<Handle> {
    if size == 0 {
        return Err(Error::InvalidValue);
    }
    let file = shared::duplicate(descriptor).map_err(|_| Error::Unknown)?;
    if !file.metadata().is_ok_and(|data| data.is_file()) {
        return Err(Error::Unknown);
    }
    let handle = MEMORY.insert(Arc::new(Memory { file, size })).ok_or(Error::OutOfMemory)?;
    adopt(descriptor);
    Ok(handle)
}

/// Ends the handle of imported memory. Buffers mapped from it stay.
pub fn destroy_memory(handle: Handle) -> Result<()> {
    MEMORY.remove(handle).map(drop).ok_or(Error::InvalidHandle)
}

/// Maps a part of imported memory as device memory, which is freed like any other.
///
/// # Errors
/// [`Error::InvalidValue`]: the part exceeds what was imported, or the file.
pub fn map_buffer(context: &Context, handle: Handle, offset: u64, size: u64) -> Result<u64> {
    let (start, _) = map_part(handle, offset, size)?;
    Ok(memory::insert_external(context, start, offset, size))
}

/// Maps the file of imported memory up to the end of a part; returns the address and the size.
fn map_part(handle: Handle, offset: u64, size: u64) -> Result<(u64, u64)> {
    let external = MEMORY.get(handle).ok_or(Error::InvalidHandle)?;
    let end = offset.checked_add(size).filter(|end| size > 0 && *end <= external.size);
    let end = end.ok_or(Error::InvalidValue)?;
    if !external.file.metadata().is_ok_and(|data| data.len() >= end) {
        return Err(Error::InvalidValue);
    }
    // SAFETY: the address is chosen by the kernel, so no existing mapping changes.
    Ok((unsafe { shared::map(&external.file, 0, end, None)? }, end))
}

/// Maps a part of imported memory as a mipmap: the levels one after another, rows without gaps.
///
/// # Errors
/// [`Error::InvalidValue`]: no mipmap of this shape, or it exceeds what was imported, or the file.
pub fn map_mipmap(
    context: &Context,
    handle: Handle,
    offset: u64,
    descriptor: Descriptor,
    levels: u32,
) -> Result<Handle> {
    let (start, size) = map_part(handle, offset, array::external_size(descriptor, levels)?)?;
    let mapping = Mapping { start, size, watched: Some(shared::watch(start, size)) };
    array::create_external(context, descriptor, levels, (mapping, offset))
}

/// Imports a semaphore, with a value that grows if it is a `timeline`. On success the descriptor is the
/// driver's.
///
/// # Errors
/// [`Error::Unknown`]: no such descriptor, or one of another kind.
pub fn import_semaphore(descriptor: RawFd, timeline: bool) -> Result<Handle> {
    let file = shared::duplicate(descriptor).map_err(|_| Error::Unknown)?;
    let regular = file.metadata().is_ok_and(|data| data.is_file());
    let shared = if timeline {
        if !regular || file.metadata().is_ok_and(|data| data.len() < 8) {
            return Err(Error::Unknown);
        }
        // SAFETY: the address is chosen by the kernel, so no existing mapping changes.
        let at = unsafe { shared::map(&file, 0, PAGE, None)? };
        Shared::Timeline(at, shared::watch(at, PAGE))
    } else {
        let target = std::fs::read_link(format!("/proc/self/fd/{descriptor}")).unwrap_or_default();
        if target.to_string_lossy() != "anon_inode:[eventfd]" {
            return Err(Error::Unknown);
        }
        Shared::Binary(file)
    };
    let semaphore = Arc::new(Semaphore { handle: AtomicU64::new(0), shared });
    let handle = SEMAPHORES.insert(Arc::clone(&semaphore)).ok_or(Error::OutOfMemory)?;
    semaphore.handle.store(handle, Ordering::Release);
    adopt(descriptor);
    Ok(handle)
}

/// Ends the handle of a semaphore. Operations that were submitted keep it.
pub fn destroy_semaphore(handle: Handle) -> Result<()> {
    SEMAPHORES.remove(handle).map(drop).ok_or(Error::InvalidHandle)
}

/// The semaphore of a handle.
pub fn semaphore(handle: Handle) -> Result<Arc<Semaphore>> {
    SEMAPHORES.get(handle).ok_or(Error::InvalidHandle)
}

impl Semaphore {
    /// The handle.
    pub fn handle(&self) -> Handle {
        self.handle.load(Ordering::Acquire)
    }

    fn value(at: u64) -> &'static AtomicU64 {
        // SAFETY: the page is aligned and stays mapped while the semaphore lives, which its caller holds.
        unsafe { &*(at as *const AtomicU64) }
    }

    /// Signals it; a timeline gets this value.
    ///
    /// # Errors
    /// [`Error::IllegalAddress`]: the timeline's file was truncated.
    pub(crate) fn signal(&self, value: u64) -> Result<()> {
        match &self.shared {
            Shared::Binary(file) => {
                (&*file).write_all(&1u64.to_ne_bytes()).map_err(|_| Error::OperatingSystem)
            }
            Shared::Timeline(at, watched) => {
                Self::value(*at).fetch_max(value, Ordering::SeqCst);
                if watched.is_lost() { Err(Error::IllegalAddress) } else { Ok(()) }
            }
        }
    }

    /// Whether a wait for this value would end, perhaps with an error.
    pub(crate) fn is_reached(&self, value: u64) -> bool {
        match &self.shared {
            Shared::Binary(file) => {
                use std::os::fd::AsRawFd;
                let mut poll = libc::pollfd { fd: file.as_raw_fd(), events: libc::POLLIN, revents: 0 };
                // SAFETY: one descriptor, which the semaphore keeps open.
                unsafe { libc::poll(&raw mut poll, 1, 0) > 0 }
            }
            Shared::Timeline(at, watched) => {
                Self::value(*at).load(Ordering::SeqCst) >= value || watched.is_lost()
            }
        }
    }

    /// Waits for a signal; a timeline for this value. Process exit also ends the wait, and so does `go_on`
    /// when it fails.
    pub(crate) fn wait(&self, value: u64, go_on: impl Fn() -> Result<()>) -> Result<()> {
        loop {
            let reached = match &self.shared {
                Shared::Binary(file) => {
                    use std::os::fd::AsRawFd;
                    let mut poll = libc::pollfd { fd: file.as_raw_fd(), events: libc::POLLIN, revents: 0 };
                    // SAFETY: one descriptor, which the semaphore keeps open.
                    let ready = unsafe { libc::poll(&raw mut poll, 1, 1) } > 0;
                    ready && (&*file).read_exact(&mut [0; 8]).is_ok()
                }
                Shared::Timeline(at, watched) => {
                    let reached = Self::value(*at).load(Ordering::SeqCst) >= value;
                    if watched.is_lost() {
                        return Err(Error::IllegalAddress);
                    }
                    reached
                }
            };
            if reached {
                return Ok(());
            }
            crate::driver()?;
            go_on()?;
            std::thread::sleep(NAP);
        }
    }
}
