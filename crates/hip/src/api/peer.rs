//! Peer access between devices. All memory is the process's, so every device always has access; what a
//! program enables is only recorded.

use std::collections::BTreeSet;
use std::sync::Mutex;

use driver::device::peer_attribute;
use driver::handle::lock;

use crate::abi::Out;
use crate::current::Handle;
use crate::{Error, Result, api, current};

/// Pairs of a device and an enabled peer.
static ENABLED: Mutex<BTreeSet<(u32, u32)>> = Mutex::new(BTreeSet::new());

/// Link type and hop count between devices: PCI Express, one hop, as between cards of one host.
const PCI_EXPRESS: u32 = 2;
const HOPS: u32 = 1;

fn can_access(ordinal: i32, peer: i32) -> Result<bool> {
    if ordinal == peer {
        return Ok(false);
    }
    current::device_at(ordinal)?;
    current::device_at(peer)?;
    Ok(true)
}

/// The calling thread's device and a peer.
fn pair(peer: i32) -> Result<(u32, u32)> {
    let ordinal = current::device()?.ordinal;
    let can = can_access(ordinal as i32, peer).unwrap_or(false);
    if can { Ok((ordinal, peer as u32)) } else { Err(Error::InvalidDevice) }
}

api! {
    Device Legal fn hipDeviceCanAccessPeer(out: Out<i32>, ordinal: i32, peer: i32) {
        out.required()?;
        out.set(i32::from(can_access(ordinal, peer)?));
        Ok(())
    }

    Device Unsafe fn hipDeviceEnablePeerAccess(peer: i32, flags: u32) {
        if flags != 0 {
            return Err(Error::InvalidValue);
        }
        if lock(&ENABLED).insert(pair(peer)?) { Ok(()) } else { Err(Error::PeerAccessAlreadyEnabled) }
    }

    Device Unsafe fn hipDeviceDisablePeerAccess(peer: i32) {
        if lock(&ENABLED).remove(&pair(peer)?) { Ok(()) } else { Err(Error::PeerAccessNotEnabled) }
    }

    Device Legal fn hipDeviceGetP2PAttribute(out: Out<i32>, attribute: u32, ordinal: i32, peer: i32) {
        out.required()?;
        if !can_access(ordinal, peer)? {
            return Err(Error::InvalidDevice);
        }
        out.set(peer_attribute(attribute)?);
        Ok(())
    }

    Device Legal fn hipExtGetLinkTypeAndHopCount(ordinal: i32, peer: i32, link: Out<u32>, hops: Out<u32>) {
        if link.is_null() || hops.is_null() || ordinal == peer || ordinal < 0 || peer < 0 {
            return Err(Error::InvalidValue);
        }
        can_access(ordinal, peer)?;
        link.set(PCI_EXPRESS);
        hops.set(HOPS);
        Ok(())
    }

    /// As in HIP, the call has no effect.
    Device Unsafe fn hipCtxEnablePeerAccess(_context: Handle, _flags: u32) {
        Ok(())
    }

    Device Unsafe fn hipCtxDisablePeerAccess(_context: Handle) {
        Ok(())
    }
}
