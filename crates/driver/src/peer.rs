//! Peer access between contexts. All memory is the process's, so kernels reach it without. Fills and
//! operations on words are refused as on the hardware ([`crate::memory::rights`]), which also reports when
//! access is enabled or disabled twice.

use std::collections::BTreeSet;
use std::sync::Mutex;

use crate::context::Context;
use crate::error::{Error, Result};
use crate::handle::lock;

/// Pairs of a context's id and an enabled peer's id.
static ENABLED: Mutex<BTreeSet<(u64, u64)>> = Mutex::new(BTreeSet::new());

/// Enables access to a peer.
///
/// # Errors
/// [`Error::PeerAccessUnsupported`]: both contexts are on the same device.
/// [`Error::PeerAccessAlreadyEnabled`].
pub fn enable(context: &Context, peer: &Context) -> Result<()> {
    peer.check()?;
    if peer.device.ordinal == context.device.ordinal {
        return Err(Error::PeerAccessUnsupported);
    }
    let new = lock(&ENABLED).insert((context.id(), peer.id()));
    if new { Ok(()) } else { Err(Error::PeerAccessAlreadyEnabled) }
}

/// Disables access to a peer.
///
/// # Errors
/// [`Error::PeerAccessNotEnabled`].
pub fn disable(context: &Context, peer: &Context) -> Result<()> {
    peer.check()?;
    let was = lock(&ENABLED).remove(&(context.id(), peer.id()));
    if was { Ok(()) } else { Err(Error::PeerAccessNotEnabled) }
}

/// Whether a context has enabled access to a peer, both given by their ids.
pub(crate) fn is_enabled(context: u64, peer: u64) -> bool {
    lock(&ENABLED).contains(&(context, peer))
}

/// Removes a destroyed context.
pub(crate) fn context_ended(id: u64) {
    lock(&ENABLED).retain(|&(context, peer)| context != id && peer != id);
}
