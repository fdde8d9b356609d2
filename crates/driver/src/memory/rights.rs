//! Which contexts may use memory, as two H200s answer (the part `peers` of `tests/probe`).
//!
//! Mapped memory and pools have rights for each device. Memory of a context can be copied by all contexts,
//! but filled by one of another device only if that one has enabled peer access. `Use` is the table of what
//! each operation needs, and `check` refuses what lacks it. Mapped memory without any rights is refused
//! earlier, where its allocation is looked up ([`super::find_range`]).
//!
//! All memory is the process's, so kernels reach it whatever the rights are.

use crate::context::{self, Context};
use crate::error::{Error, Result};
use crate::handle::Handle;
use crate::peer;
use crate::stream::Stream;

use super::managed::{DEVICE, Location};
use super::{Allocation, Kind, address, pool};

/// Access rights.
pub mod access {
    /// No access.
    pub const NONE: u32 = 0;
    /// Read access.
    pub const READ: u32 = 1;
    /// Read and write access.
    pub const READ_WRITE: u32 = 3;
}

/// What uses memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// A copy reads it. Copies are the current context's in whichever stream they run, those between contexts
    /// and those of nodes the contexts' that are named for them.
    CopyFrom,
    /// A copy writes it.
    CopyTo,
    /// A fill. Fills and operations on words are those of the stream's context.
    Fill,
    /// A fill node, when it is added. It is the named context's.
    FillNode,
    /// A stream waits for a word or writes it; a word that it may only read fails the stream when it runs.
    Word,
}

/// What a use needs.
struct Rule {
    rights: u32,
    /// Whether memory of another device's context needs peer access.
    needs_peers: bool,
    /// Whether memory of pools and managed memory can be used at all.
    any_kind: bool,
}

impl Use {
    #[inline]
    const fn rule(self) -> Rule {
        let (rights, needs_peers, any_kind) = match self {
            Use::CopyFrom => (access::READ, false, true),
            Use::CopyTo => (access::READ_WRITE, false, true),
            Use::Fill => (access::READ_WRITE, true, true),
            Use::FillNode => (access::READ_WRITE, false, true),
            Use::Word => (access::READ, true, false),
        };
        Rule { rights, needs_peers, any_kind }
    }
}

/// Whose rights count for copies and fills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rights {
    /// Nobody's, as in HIP: all memory is open to which some device has access.
    Ignored,
    /// The rights of the contexts that are named for a copy's destination and source. For 0, and for what is
    /// no copy, those of the context that `Use` states.
    Of([Handle; 2]),
}

impl Rights {
    /// Those of no named context.
    pub const OWN: Rights = Rights::Of([0; 2]);
}

/// A context that uses memory.
#[derive(Clone, Copy, Debug)]
pub struct User {
    device: u32,
    context: u64,
}

impl User {
    /// The context of a stream.
    #[inline]
    pub fn of(stream: &Stream) -> User {
        User { device: stream.ordinal(), context: stream.context_id() }
    }

    fn of_context(context: &Context) -> User {
        User { device: context.device.ordinal, context: context.id() }
    }

    /// The context of a handle.
    ///
    /// # Errors
    /// Those of [`context::get`].
    pub fn named(handle: Handle) -> Result<User> {
        context::get(handle).map(|context| User::of_context(&context))
    }

    /// The context to which a copy in a stream belongs: that of a handle; for 0 the current one, or the
    /// stream's if there is none.
    pub(super) fn of_copy(handle: Handle, stream: &Stream) -> Result<User> {
        if handle != 0 {
            return User::named(handle);
        }
        Ok(context::with_current(|context| User::of_context(context)).unwrap_or_else(|| User::of(stream)))
    }
}

/// Checks whether a context may use a range of an allocation: its address and size. Returns the rights to it.
///
/// # Errors
/// [`Error::InvalidValue`]: it may not.
#[inline]
pub(super) fn check(
    what: Use,
    memory: &Allocation,
    user: impl FnOnce() -> Result<User>,
    range: impl FnOnce() -> Result<(u64, u64)>,
) -> Result<u32> {
    let rule = what.rule();
    let has_rights = memory.kind == Kind::Mapped || memory.pool != 0;
    if !has_rights && !rule.needs_peers {
        return Ok(access::READ_WRITE);
    }
    if !rule.any_kind && (memory.pool != 0 || memory.is_managed()) {
        return Err(Error::InvalidValue);
    }
    let user = user()?;
    if memory.kind != Kind::Mapped && memory.device == user.device {
        return Ok(access::READ_WRITE);
    }
    let rights = to(memory, user, range)?;
    if rights & rule.rights == rule.rights { Ok(rights) } else { Err(Error::InvalidValue) }
}

/// The rights of a context to a range of an allocation. Most copies and fills never come here.
#[inline(never)]
fn to(memory: &Allocation, user: User, range: impl FnOnce() -> Result<(u64, u64)>) -> Result<u32> {
    let there = Location { kind: DEVICE, id: i32::try_from(user.device).unwrap_or(i32::MAX) };
    let open = match memory.kind {
        Kind::Mapped => return range().map(|(address, size)| address::least_access(address, size, there)),
        _ if memory.pool != 0 => {
            pool::get(memory.pool).map_or(true, |pool| pool.device().is_none() || pool.is_open_to(there))
        }
        Kind::Device | Kind::Variable | Kind::Imported if !memory.on_host() && !memory.is_managed() => {
            peer::is_enabled(user.context, memory.context.1)
        }
        _ => true,
    };
    Ok(if open { access::READ_WRITE } else { access::NONE })
}

/// The rights to memory that a pointer's attribute reports: to mapped memory those of the current context's
/// device, to other memory all.
pub fn reported(memory: &Allocation, address: u64) -> u32 {
    if memory.kind != Kind::Mapped {
        return access::READ_WRITE;
    }
    let owner = User { device: memory.device, context: 0 };
    let user = context::with_current(|context| User::of_context(context)).unwrap_or(owner);
    to(memory, user, || Ok((address, 1))).unwrap_or(access::NONE)
}

/// The rights of locations to one mapping.
#[derive(Debug, Default)]
pub(super) struct Granted {
    /// The rights of devices, by ordinal.
    devices: Vec<(i32, u32)>,
    /// The rights of the host and its nodes.
    host: u32,
}

impl Granted {
    pub(super) fn set(&mut self, location: Location, access: u32) {
        if location.kind != DEVICE {
            self.host = access;
        } else if let Some(known) = self.devices.iter_mut().find(|known| known.0 == location.id) {
            known.1 = access;
        } else {
            self.devices.push((location.id, access));
        }
    }

    pub(super) fn of(&self, location: Location) -> u32 {
        if location.kind != DEVICE {
            return self.host;
        }
        self.devices.iter().find(|known| known.0 == location.id).map_or(access::NONE, |known| known.1)
    }

    /// The rights of the location that may do most.
    pub(super) fn most(&self) -> u32 {
        self.devices.iter().fold(self.host, |most, known| most.max(known.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_location_has_its_own_rights() {
        let device = |id| Location { kind: DEVICE, id };
        let host = Location { kind: super::super::managed::HOST, id: -1 };
        let mut granted = Granted::default();
        assert_eq!((granted.of(device(0)), granted.of(host), granted.most()), (0, 0, 0));
        granted.set(device(1), access::READ);
        granted.set(device(0), access::READ_WRITE);
        assert_eq!((granted.of(device(0)), granted.of(device(1)), granted.of(host)), (3, 1, 0));
        granted.set(device(0), access::NONE);
        assert_eq!((granted.of(device(0)), granted.most()), (0, 1));
        granted.set(host, access::READ_WRITE);
        assert_eq!((granted.of(host), granted.most()), (3, 3));
    }
}
