//! Device memory shared between processes.

use std::sync::{Arc, Mutex};

use crate::context::{self, Context};
use crate::error::{Error, Result};
use crate::handle::{Handle, lock};
use crate::shared::{self, Name, Named, Of};

use super::space::PAGE;
use super::{Allocation, Kind, Owner, allocation, find, host_flag, insert, remove, space};

/// Memory of another process that is open in this one.
struct Open {
    named: Named,
    /// The id of the context that opened it; 0 for memory of a pool.
    context: u64,
    /// The address of the allocation.
    base: u64,
    users: u64,
    /// The imported pool through which it was opened, or 0.
    pool: Handle,
    /// The other addresses in it that were given to the program, which may free the memory by them.
    inner: Vec<u64>,
}

static OPEN: Mutex<Vec<Open>> = Mutex::new(Vec::new());

/// The name by which another process opens the allocation at an address. Only device memory has one.
pub fn name(address: u64) -> Result<Name> {
    name_of(&*find(address).filter(|a| a.kind == Kind::Device).ok_or(Error::InvalidValue)?)
}

/// The name of an allocation.
pub(super) fn name_of(allocation: &Allocation) -> Result<Name> {
    let (base, size) = (allocation.base, allocation.size);
    let mut all_can_wait = true;
    if !space::is_in_file(base, size) {
        crate::driver()?.backend.catch_faults();
        all_can_wait = host::moving::all_can_wait();
        // Then nothing must write to the pages while they are moved.
        if !all_can_wait {
            context::settle_all();
        }
    }
    let device = crate::driver()?.device(i32::try_from(allocation.device).unwrap_or(-1))?;
    let more = |offset| [offset, size, shared::mark(device)];
    space::share(base, size, all_can_wait, |file, offset| shared::name(Of::Memory, file, more(offset)))
}

/// Opens memory by another process's name. Opening it again returns the same address. It stays memory of its
/// device.
pub fn open(context: &Context, name: &Name) -> Result<u64> {
    let named = shared::read(Of::Memory, name).ok_or(Error::InvalidValue)?;
    let [.., mark] = named.more;
    let mut owner = Owner::of(context);
    owner.device = shared::marked(mark).map_or(owner.device, |device| device.ordinal);
    open_by(&owner, named, 0)
}

/// Opens memory through an imported pool of a device, or of the host for `None`, which must belong to the
/// same process. Such memory belongs to no context, as all memory of pools. Returns the address at an offset.
pub(super) fn open_of_pool(
    device: Option<u32>,
    pool: Handle,
    process: u32,
    name: &Name,
    offset: u64,
) -> Result<u64> {
    let named = shared::read(Of::Memory, name).filter(|n| n.process == process).ok_or(Error::InvalidValue)?;
    let [_, size, _] = named.more;
    if offset >= size {
        return Err(Error::InvalidValue);
    }
    let owner = Owner { device: device.unwrap_or(0), context: (0, 0), pool };
    let base = open_by(&owner, named, if device.is_none() { host_flag::DEVICE_MAP } else { 0 })?;
    let address = base + offset;
    if let Some(open) = lock(&OPEN).iter_mut().find(|o| o.base == base)
        && offset != 0
        && !open.inner.contains(&address)
    {
        open.inner.push(address);
    }
    Ok(address)
}

/// Whether memory of an imported pool is freed by this address.
pub(super) fn is_freed_by(address: u64) -> bool {
    lock(&OPEN).iter().any(|open| open.inner.contains(&address))
}

fn open_by(owner: &Owner, named: Named, flags: u32) -> Result<u64> {
    let (context, pool) = (owner.context.1, owner.pool);
    // Memory of a pool can be opened in the process that owns it, at another address.
    if named.process == std::process::id() && pool == 0 {
        return Err(Error::InvalidContext);
    }
    let mut list = lock(&OPEN);
    if let Some(open) = list.iter_mut().find(|o| o.named == named && o.context == context && o.pool == pool) {
        open.users += 1;
        return Ok(open.base);
    }
    let file = shared::open(&named).map_err(|_| Error::InvalidValue)?;
    let [offset, size, _] = named.more;
    let length = file.metadata().map_err(|_| Error::InvalidValue)?.len();
    let end = offset.checked_add(size).filter(|end| size > 0 && *end <= length).ok_or(Error::InvalidValue)?;
    let first = offset / PAGE * PAGE;
    let bytes = (end - first).next_multiple_of(PAGE);
    // SAFETY: the address is chosen by the kernel, so no existing mapping changes.
    let start = unsafe { shared::map(&file, first, bytes, None)? };
    let base = start + (offset - first);
    let mut imported = allocation(Kind::Imported, base, size, owner, flags);
    imported.mapped = (start, bytes);
    imported.watched = Some(shared::watch(start, bytes));
    insert(Arc::new(imported));
    list.push(Open { named, context, base, users: 1, pool, inner: Vec::new() });
    Ok(base)
}

/// Closes memory once. The last close removes its address from the table; the memory stays mapped while an
/// operation holds it.
pub fn close(address: u64) -> Result<()> {
    context::settled_all()?;
    close_by(address, |pool| pool == 0)
}

/// Closes memory of an imported pool once.
pub(super) fn close_of_pool(address: u64) -> Result<()> {
    close_by(address, |pool| pool != 0)
}

fn close_by(address: u64, of: impl Fn(Handle) -> bool) -> Result<()> {
    let mut list = lock(&OPEN);
    let at = list.iter().position(|o| o.base == address && of(o.pool)).ok_or(Error::InvalidValue)?;
    if let Some(open) = list.get_mut(at)
        && open.users > 1
    {
        open.users -= 1;
        return Ok(());
    }
    let open = list.swap_remove(at);
    remove(open.base, |a| a.kind == Kind::Imported);
    Ok(())
}

/// Closes the memory that a destroyed context had open.
pub(super) fn context_ended(id: u64) {
    lock(&OPEN).retain(|open| {
        if open.context == id {
            remove(open.base, |a| a.kind == Kind::Imported);
        }
        open.context != id
    });
}
