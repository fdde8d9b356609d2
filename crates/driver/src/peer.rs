//! Contexts that may use each other's memory. All memory is the process's, so nothing depends on it; what a program enabled is kept, since the
//! hardware's driver says when that is done twice.

use std::collections::BTreeSet;
use std::sync::Mutex;

use crate::context::Context;
use crate::error::{Error, Result};
use crate::handle::lock;

/// The ids of a context and of the peer that was enabled for it.
static ENABLED: Mutex<BTreeSet<(u64, u64)>> = Mutex::new(BTreeSet::new());

/// Enables a peer for a context.
///
/// # Errors
/// [`Error::PeerAccessUnsupported`]: both are the same device's; [`Error::PeerAccessAlreadyEnabled`].
pub fn enable(context: &Context, peer: &Context) -> Result<()> {
    peer.check()?;
    if peer.device.ordinal == context.device.ordinal {
        return Err(Error::PeerAccessUnsupported);
    }
    let new = lock(&ENABLED).insert((context.id(), peer.id()));
    if new { Ok(()) } else { Err(Error::PeerAccessAlreadyEnabled) }
}

/// Disables a peer for a context.
///
/// # Errors
/// [`Error::PeerAccessNotEnabled`].
pub fn disable(context: &Context, peer: &Context) -> Result<()> {
    peer.check()?;
    let was = lock(&ENABLED).remove(&(context.id(), peer.id()));
    if was { Ok(()) } else { Err(Error::PeerAccessNotEnabled) }
}

/// Forgets a context that has ended.
pub(crate) fn context_ended(id: u64) {
    lock(&ENABLED).retain(|&(context, peer)| context != id && peer != id);
}
