//! Virtual memory management: reserved addresses, physical memory, and mappings of one at the other.
//!
//! Physical memory is a memory file, so that it can be mapped at several addresses and exported to other
//! processes.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::{AsRawFd, IntoRawFd, RawFd};
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

use host::mapped::Watched;

use crate::context;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::handle::{self, Handle, Table, lock};
use crate::shared;

use super::managed::Location;
use super::multicast::{self, Object};
use super::rights::{Granted, access};
use super::{Kind, Owner, allocation, find, give_back, insert, remove, take};

/// Sizes and addresses are multiples of this.
pub const GRANULARITY: u64 = 2 << 20;
static MEMORY: Table<Memory> = Table::new(handle::Kind::Memory);

/// Physical memory, which has no address until it is mapped.
pub struct Memory {
    /// The handle.
    pub handle: Handle,
    /// The size in bytes.
    pub size: u64,
    /// Where it is located.
    pub location: Location,
    /// Whether it can be exported to other processes.
    pub shareable: bool,
    /// Whether it is for the tiles of arrays.
    pub for_tiles: bool,
    file: File,
    /// The reference count of the handle.
    holders: AtomicU64,
    /// The device whose memory it uses.
    device: u32,
    /// Counts it as used. `None`: another process's memory, which that process counts.
    _counted: Option<Arc<Counted>>,
}

/// Bytes of a device that count as used. All handles of the same memory share it.
struct Counted {
    device: u32,
    size: u64,
}

impl Drop for Counted {
    fn drop(&mut self) {
        give_back(self.device, self.size);
    }
}

/// What counts this process's memory, by the device and the inode of its file.
static COUNTED: Mutex<BTreeMap<(u64, u64), Weak<Counted>>> = Mutex::new(BTreeMap::new());

/// Counts new memory in a file.
fn count(device: &Device, file: &File, size: u64) -> Result<Arc<Counted>> {
    let about = file.metadata().map_err(|_| Error::OutOfMemory)?;
    take(device, size)?;
    let counted = Arc::new(Counted { device: device.ordinal, size });
    let mut all = lock(&COUNTED);
    all.retain(|_, counted| counted.strong_count() > 0);
    all.insert((about.dev(), about.ino()), Arc::downgrade(&counted));
    Ok(counted)
}

impl Memory {
    /// The device whose memory it uses.
    pub fn device(&self) -> u32 {
        self.device
    }

    /// Maps a part of it for the tiles of an array.
    ///
    /// # Safety
    /// The caller must own the range at `at`.
    pub(super) unsafe fn map_at(&self, offset: u64, size: u64, at: u64) -> Result<()> {
        // SAFETY: guaranteed by the caller.
        unsafe { shared::map(&self.file, offset, size, Some(at)) }.map_err(|_| Error::OutOfMemory)?;
        Ok(())
    }

    /// Maps its first bytes at reserved addresses, in the place of what is there.
    fn place(&self, start: u64, size: u64, protection: i32) -> Result<()> {
        // SAFETY: this module reserved the addresses, and what is there is to be replaced.
        let at = unsafe {
            let flags = libc::MAP_SHARED | libc::MAP_FIXED;
            let at = start as *mut libc::c_void;
            libc::mmap(at, size as usize, protection, flags, self.file.as_raw_fd(), 0)
        };
        if at == libc::MAP_FAILED { Err(Error::OutOfMemory) } else { Ok(()) }
    }

    /// Maps a part of it at another address; [`unmap`] undoes it.
    pub(super) fn map_again(&self, offset: u64, size: u64) -> Result<u64> {
        let at = map_nothing(0, size, false).ok_or(Error::OutOfMemory)?;
        let offset = libc::off_t::try_from(offset).map_err(|_| Error::InvalidValue)?;
        // SAFETY: the addresses were just reserved, and nothing is mapped there.
        let done = unsafe {
            let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_FIXED);
            libc::mmap(at as *mut libc::c_void, size as usize, access, flags, self.file.as_raw_fd(), offset)
        };
        if done == libc::MAP_FAILED {
            unmap(at, size);
            return Err(Error::OutOfMemory);
        }
        Ok(at)
    }
}

/// What a mapping maps.
enum Backing {
    Memory(Arc<Memory>),
    /// A multicast object from an offset on. Plain accesses do not reach it.
    Multicast(Arc<Object>, u64),
}

struct Mapping {
    size: u64,
    backing: Backing,
    granted: Granted,
}

/// A reserved range. Work in streams may find its memory closed or unmapped.
struct Reserved {
    size: u64,
    watched: Watched,
}

#[derive(Default)]
struct Space {
    /// Reserved ranges by start address.
    reserved: BTreeMap<u64, Reserved>,
    mapped: BTreeMap<u64, Mapping>,
}

static SPACE: Mutex<Space> = Mutex::new(Space { reserved: BTreeMap::new(), mapped: BTreeMap::new() });

fn check_size(size: u64) -> Result<()> {
    if size == 0 || !size.is_multiple_of(GRANULARITY) { Err(Error::InvalidValue) } else { Ok(()) }
}

fn map_nothing(hint: u64, size: u64, fixed: bool) -> Option<u64> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    let flags = if fixed { flags | libc::MAP_FIXED } else { flags };
    // SAFETY: without MAP_FIXED no existing mapping changes; with it the caller owns the range.
    let at = unsafe { libc::mmap(hint as *mut libc::c_void, size as usize, libc::PROT_NONE, flags, -1, 0) };
    (at != libc::MAP_FAILED).then_some(at as u64)
}

pub(super) fn unmap(start: u64, size: u64) {
    if size > 0 {
        // SAFETY: the range was mapped by `map_nothing` and is no longer used.
        unsafe { libc::munmap(start as *mut libc::c_void, size as usize) };
    }
}

/// Reserves addresses. `alignment` is 0 or a power of two; `hint` is the preferred address, or 0.
pub fn reserve(size: u64, alignment: u64, hint: u64) -> Result<u64> {
    check_size(size)?;
    if alignment != 0 && !alignment.is_power_of_two() {
        return Err(Error::InvalidValue);
    }
    let alignment = alignment.max(GRANULARITY);
    let whole = size.checked_add(alignment).filter(|s| *s < 1 << 46).ok_or(Error::OutOfMemory)?;
    let got = map_nothing(hint, whole, false).ok_or(Error::OutOfMemory)?;
    let start = got.next_multiple_of(alignment);
    unmap(got, start - got);
    unmap(start + size, got + whole - start - size);
    let watched = shared::watch(start, size);
    lock(&SPACE).reserved.insert(start, Reserved { size, watched });
    Ok(start)
}

/// Frees reserved addresses: the range must be a whole reservation with nothing mapped in it.
pub fn free(start: u64, size: u64) -> Result<()> {
    let mut space = lock(&SPACE);
    if space.reserved.get(&start).is_none_or(|r| r.size != size)
        || space.mapped.range(start..start + size).next().is_some()
    {
        return Err(Error::InvalidValue);
    }
    // No page is mapped there any more.
    drop(space.reserved.remove(&start));
    unmap(start, size);
    Ok(())
}

/// What memory is for, beside its own process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Purpose {
    /// It can be exported to other processes.
    pub shareable: bool,
    /// It is for the tiles of arrays.
    pub for_tiles: bool,
}

fn make(
    (file, size): (File, u64),
    device: &Device,
    location: Location,
    purpose: Purpose,
    counted: Option<Arc<Counted>>,
) -> Result<Handle> {
    let device = device.ordinal;
    let Purpose { shareable, for_tiles } = purpose;
    let made = MEMORY.insert_with(|handle| {
        let holders = AtomicU64::new(1);
        let _counted = counted;
        Arc::new(Memory { handle, size, location, shareable, for_tiles, file, holders, device, _counted })
    });
    made.map(|m| m.0).ok_or(Error::OutOfMemory)
}

/// Allocates memory at a location, the device's or the host's. It counts as the device's memory in either
/// case.
pub fn create(device: &Device, location: Location, size: u64, purpose: Purpose) -> Result<Handle> {
    check_size(size)?;
    let file = match location.kind {
        super::managed::DEVICE => shared::memory_file_of(device, size)?,
        _ => shared::memory_file(size)?,
    };
    let counted = count(device, &file, size)?;
    make((file, size), device, location, purpose, Some(counted))
}

/// Exports the memory as a file descriptor, which the caller closes.
pub fn export(handle: Handle) -> Result<RawFd> {
    let memory = get(handle)?;
    if !memory.shareable {
        return Err(Error::InvalidValue);
    }
    shared::duplicate(memory.file.as_raw_fd()).map(IntoRawFd::into_raw_fd)
}

/// Imports the memory behind a descriptor made by [`export`]. It cannot be exported again. If its device is
/// not known, it is taken for `device`'s. It does not count as used again.
///
/// # Errors
/// [`Error::Unknown`]: no such descriptor, or one of something else.
pub fn import(device: &Device, fd: RawFd) -> Result<Handle> {
    let file = shared::duplicate(fd).map_err(|_| Error::Unknown)?;
    let about = file.metadata().map_err(|_| Error::Unknown)?;
    let size = about.len();
    check_size(size).map_err(|_| Error::Unknown)?;
    let counted = lock(&COUNTED).get(&(about.dev(), about.ino())).and_then(Weak::upgrade);
    let device = shared::device_of(&file).map_or(device, |own| &**own);
    let location = Location { kind: super::managed::DEVICE, id: device.ordinal as i32 };
    make((file, size), device, location, Purpose::default(), counted)
}

/// The memory of a handle.
pub fn get(handle: Handle) -> Result<Arc<Memory>> {
    MEMORY.get(handle).ok_or(Error::InvalidValue)
}

/// Drops a reference to the handle; the last one ends it. The memory stays while it is mapped.
pub fn release(handle: Handle) -> Result<()> {
    if let Ok(object) = multicast::get(handle) {
        multicast::release(&object);
        return Ok(());
    }
    if get(handle)?.holders.fetch_sub(1, Ordering::AcqRel) <= 1 {
        MEMORY.remove(handle);
    }
    Ok(())
}

/// The handle of the memory mapped at an address, with one more reference.
pub fn retain(address: u64) -> Result<Handle> {
    let space = lock(&SPACE);
    let (start, mapping) = space.mapped.range(..=address).next_back().ok_or(Error::InvalidValue)?;
    let Backing::Memory(memory) = &mapping.backing else { return Err(Error::InvalidValue) };
    if address - start >= mapping.size || MEMORY.get(memory.handle).is_none() {
        return Err(Error::InvalidValue);
    }
    memory.holders.fetch_add(1, Ordering::AcqRel);
    Ok(memory.handle)
}

/// The memory behind `size` bytes from an address on, and their offset in it.
pub fn behind(address: u64, size: u64) -> Result<(Arc<Memory>, u64)> {
    let space = lock(&SPACE);
    let (start, mapping) = space.mapped.range(..=address).next_back().ok_or(Error::InvalidValue)?;
    match &mapping.backing {
        Backing::Memory(memory) if address - start + size <= mapping.size => {
            Ok((Arc::clone(memory), address - start))
        }
        _ => Err(Error::InvalidValue),
    }
}

/// The multicast object mapped for reading and writing at an address, and the offset in it.
pub(super) fn multicast_at(address: u64) -> Option<(Arc<Object>, u64)> {
    let space = lock(&SPACE);
    let (start, mapping) = space.mapped.range(..=address).next_back()?;
    match &mapping.backing {
        Backing::Multicast(object, offset)
            if address - start < mapping.size && mapping.granted.most() == access::READ_WRITE =>
        {
            Some((Arc::clone(object), offset + (address - start)))
        }
        _ => None,
    }
}

fn protection(access: u32) -> Option<i32> {
    match access {
        access::NONE => Some(libc::PROT_NONE),
        access::READ => Some(libc::PROT_READ),
        access::READ_WRITE => Some(libc::PROT_READ | libc::PROT_WRITE),
        _ => None,
    }
}

/// Maps what belongs to reserved ranges again, after work has met closed or unmapped pages there and was
/// given others ([`host::mapped`]).
pub(crate) fn restore() {
    let space = lock(&SPACE);
    for (&start, reserved) in &space.reserved {
        if !reserved.watched.take_lost() {
            continue;
        }
        let mut end = start;
        for (&at, mapping) in space.mapped.range(start..start + reserved.size) {
            let Backing::Memory(memory) = &mapping.backing else { continue };
            map_nothing(end, at - end, true);
            // If the system has no memory for it, the pages stay what they are.
            let _ =
                memory.place(at, mapping.size, protection(mapping.granted.most()).unwrap_or(libc::PROT_NONE));
            end = at + mapping.size;
        }
        map_nothing(end, start + reserved.size - end, true);
    }
}

/// Maps memory at reserved addresses, without access rights.
pub fn map(start: u64, size: u64, offset: u64, handle: Handle) -> Result<()> {
    let (backing, whole) = match multicast::get(handle) {
        Ok(object) if !offset.is_multiple_of(GRANULARITY) || offset > object.size => {
            return Err(Error::InvalidValue);
        }
        Ok(object) => {
            let rest = object.size - offset;
            (Backing::Multicast(object, offset), rest)
        }
        Err(_) => {
            let memory = get(handle)?;
            if offset != 0 {
                return Err(Error::NotSupported);
            }
            let size = memory.size;
            (Backing::Memory(memory), size)
        }
    };
    check_size(size)?;
    let end = start.checked_add(size).ok_or(Error::InvalidValue)?;
    let mut space = lock(&SPACE);
    let inside = space.reserved.range(..=start).next_back().is_some_and(|(s, r)| end <= s + r.size);
    let free = space.mapped.range(..end).next_back().is_none_or(|(s, m)| s + m.size <= start);
    if !inside || !free || size > whole || !start.is_multiple_of(GRANULARITY) {
        return Err(Error::InvalidValue);
    }
    if let Backing::Memory(memory) = &backing {
        memory.place(start, size, libc::PROT_NONE)?;
        let owner = Owner { device: memory.device, context: (0, 0), pool: 0 };
        let closed = allocation(Kind::Mapped, start, size, &owner, 0);
        closed.set_closed(true);
        insert(Arc::new(closed));
    }
    space.mapped.insert(start, Mapping { size, backing, granted: Granted::default() });
    Ok(())
}

/// The start addresses of the mappings in a range. Fails if the range cuts a mapping.
fn whole_mappings(space: &Space, start: u64, size: u64) -> Result<Vec<u64>> {
    let end = start.checked_add(size).ok_or(Error::InvalidValue)?;
    let first = space.mapped.range(..start).next_back();
    let cut = first.is_some_and(|(s, m)| s + m.size > start)
        || space.mapped.range(start..end).any(|(s, m)| s + m.size > end);
    if cut { Err(Error::InvalidValue) } else { Ok(space.mapped.range(start..end).map(|m| *m.0).collect()) }
}

/// Removes the mappings in a reserved range; there need not be any.
pub fn unmap_range(start: u64, size: u64) -> Result<()> {
    check_size(size)?;
    context::settled_all()?;
    let mut space = lock(&SPACE);
    let end = start.checked_add(size).ok_or(Error::InvalidValue)?;
    if space.reserved.range(..=start).next_back().is_none_or(|(s, r)| end > s + r.size) {
        return Err(Error::InvalidValue);
    }
    for at in whole_mappings(&space, start, size)? {
        if let Some(mapping) = space.mapped.remove(&at) {
            remove(at, |a| a.kind == Kind::Mapped);
            if map_nothing(at, mapping.size, true).is_none() {
                return Err(Error::OperatingSystem);
            }
        }
    }
    Ok(())
}

/// Grants locations access to the mappings in a range, all of which must be mapped; other locations keep
/// theirs. A page has the rights of the location that may do most.
pub fn set_access(start: u64, size: u64, wanted: &[(Location, u32)]) -> Result<()> {
    check_size(size)?;
    if wanted.iter().any(|(_, access)| protection(*access).is_none()) {
        return Err(Error::InvalidValue);
    }
    let mut space = lock(&SPACE);
    let starts = whole_mappings(&space, start, size)?;
    let mapped: u64 = starts.iter().filter_map(|s| space.mapped.get(s)).map(|m| m.size).sum();
    if mapped != size {
        return Err(Error::InvalidValue);
    }
    for at in starts {
        let Some(mapping) = space.mapped.get_mut(&at) else { continue };
        let before = mapping.granted.most();
        wanted.iter().for_each(|(location, access)| mapping.granted.set(*location, *access));
        let most = mapping.granted.most();
        if most == before || matches!(mapping.backing, Backing::Multicast(..)) {
            continue;
        }
        let protection = protection(most).unwrap_or(libc::PROT_NONE);
        // SAFETY: this module mapped the range.
        if unsafe { libc::mprotect(at as *mut libc::c_void, mapping.size as usize, protection) } != 0 {
            return Err(Error::OutOfMemory);
        }
        if let Some(allocation) = find(at) {
            allocation.set_closed(most == access::NONE);
        }
    }
    Ok(())
}

/// The access rights of a location to the mapping at an address.
pub fn access_at(address: u64, location: Location) -> Result<u32> {
    let space = lock(&SPACE);
    let (start, mapping) = space.mapped.range(..=address).next_back().ok_or(Error::InvalidValue)?;
    if address - start < mapping.size { Ok(mapping.granted.of(location)) } else { Err(Error::InvalidValue) }
}

/// The access rights of a location that it has to all mappings in a range.
pub(super) fn least_access(address: u64, size: u64, location: Location) -> u32 {
    let space = lock(&SPACE);
    let first = space.mapped.range(..=address).next_back().map_or(address, |(start, _)| *start);
    let end = address.saturating_add(size);
    let rights = space.mapped.range(first..end).map(|(_, mapping)| mapping.granted.of(location));
    rights.min().unwrap_or(access::NONE)
}
