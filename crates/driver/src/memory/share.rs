//! Device memory that several processes use.

use std::sync::Mutex;

use crate::context::{self, Context};
use crate::error::{Error, Result};
use crate::handle::lock;
use crate::shared::{self, Name, Named, Of};

use super::{Kind, Owner, find, insert, remove, space};

/// Memory of another process that is open here.
struct Open {
    named: Named,
    /// The id of the context it was opened in.
    context: u64,
    /// The address of the allocation.
    base: u64,
    /// What is mapped.
    mapped: (u64, u64),
    users: u64,
}

static OPEN: Mutex<Vec<Open>> = Mutex::new(Vec::new());

/// The name of the allocation that an address lies in, for another process. Only device memory has one.
pub fn name(address: u64) -> Result<Name> {
    let allocation = find(address).filter(|a| a.kind == Kind::Device).ok_or(Error::InvalidValue)?;
    // Its pages become a file's: nothing may run on them meanwhile.
    context::settle_all();
    space::share(allocation.base, allocation.size, |file, start, size| {
        shared::name(Of::Memory, file, [allocation.base - start, allocation.size, size])
    })
}

/// Opens memory that another process named; opened twice it is the same.
pub fn open(context: &Context, name: &Name) -> Result<u64> {
    let named = shared::read(Of::Memory, name).ok_or(Error::InvalidValue)?;
    if named.process == std::process::id() {
        return Err(Error::InvalidContext);
    }
    let mut list = lock(&OPEN);
    if let Some(open) = list.iter_mut().find(|o| o.named == named && o.context == context.id()) {
        open.users += 1;
        return Ok(open.base);
    }
    let file = shared::open(&named).map_err(|_| Error::InvalidValue)?;
    let [offset, size, whole] = named.more;
    let fits = file.metadata().is_ok_and(|m| m.len() == whole);
    if !fits || size == 0 || offset.checked_add(size).is_none_or(|end| end > whole) {
        return Err(Error::InvalidValue);
    }
    // SAFETY: mapped where nothing is.
    let start = unsafe { shared::map(&file, whole, None)? };
    let base = start + offset;
    insert(Kind::Imported, base, size, &Owner::of(context), 0, false);
    list.push(Open { named, context: context.id(), base, mapped: (start, whole), users: 1 });
    Ok(base)
}

/// Ends one opening; the last one takes the memory away.
pub fn close(address: u64) -> Result<()> {
    context::settle_all();
    let mut list = lock(&OPEN);
    let at = list.iter().position(|o| o.base == address).ok_or(Error::InvalidValue)?;
    if let Some(open) = list.get_mut(at)
        && open.users > 1
    {
        open.users -= 1;
        return Ok(());
    }
    let open = list.swap_remove(at);
    take_away(&open);
    Ok(())
}

fn take_away(open: &Open) {
    remove(open.base, |a| a.kind == Kind::Imported);
    // SAFETY: mapped by `open`; all work has ended and no new work finds the address.
    unsafe { shared::unmap(open.mapped.0, open.mapped.1) };
}

/// Closes what a context that has ended had open.
pub(super) fn context_ended(id: u64) {
    lock(&OPEN).retain(|open| {
        if open.context == id {
            take_away(open);
        }
        open.context != id
    });
}
