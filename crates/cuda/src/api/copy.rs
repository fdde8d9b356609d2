//! Copies in all directions, of one to three dimensions.

use capi::copy::{MemoryTypes, starts};
use capi::described_volume;
use driver::memory::managed::{DEVICE, HOST_NUMA_CURRENT, NOWHERE};
use driver::memory::rights::Rights;
use driver::memory::transfer::{Place, Side, Transfer};
use driver::stream::{Operation, Policy};
use driver::{Error, Result, context, driver};

use super::batch::{check_attributes, check_mapped, no_default};

use crate::abi::{In, Out};
use crate::api;
use crate::api::{check_default, stream};
use crate::types::{CUdeviceptr, CopyAttributes, Handle, MemLocation, Memcpy2D, Memcpy3D};

/// How a function orders its copy: the stream, whether null is the per-thread stream, whether the call waits,
/// and to which contexts the memory must be open.
#[derive(Clone, Copy)]
pub(super) struct Order {
    stream: Handle,
    own: bool,
    wait: bool,
    rights: Rights,
}

/// In the default stream, synchronously.
pub(super) fn now(own: bool) -> Order {
    Order { stream: 0, own, wait: true, rights: Rights::OWN }
}

/// In a stream, asynchronously.
pub(super) fn later(stream: Handle, own: bool) -> Result<Order> {
    check_default(stream)?;
    Ok(Order { stream, own, wait: false, rights: Rights::OWN })
}

fn copy(transfer: &Transfer, order: Order) -> Result<()> {
    // SAFETY: by the contract of the API, the program guarantees memory that the driver does not know.
    unsafe { transfer.run(|| stream(order.stream, order.own), order.wait, order.rights) }
}

pub(super) fn line(to: Place, from: Place, size: usize, order: Order) -> Result<()> {
    copy(&Transfer::line(to, from, size as u64), order)
}

/// Copies to or from an array's first row.
pub(super) fn with_array(to: Side, from: Side, size: usize, order: Order) -> Result<()> {
    copy(&Transfer { to, from, extent: [size as u64, 1, 1] }, order)
}

/// `CUmemorytype`.
const TYPES: MemoryTypes = MemoryTypes { host: 1, device: 2, array: 3, any: &[4] };

pub(super) fn plane(description: &Memcpy2D, order: Order) -> Result<()> {
    copy(&description.transfer(&TYPES)?, order)
}

pub(super) fn volume(d: &Memcpy3D, order: Order) -> Result<()> {
    copy(&transfer_of(d)?, order)
}

/// The copy that a program describes.
pub(super) fn transfer_of(d: &Memcpy3D) -> Result<Transfer> {
    let (to, from) = described_volume!(d);
    let extent = [d.width as u64, d.height as u64, d.depth as u64];
    Ok(Transfer { to: to.side(&TYPES)?, from: from.side(&TYPES)?, extent })
}

/// A copy as a program describes it.
pub(super) fn described(transfer: &Transfer) -> Memcpy3D {
    /// Kind of memory, host address, device address, array.
    fn place(side: &Side) -> (u32, u64, u64, Handle) {
        match side.place {
            Place::Host(address) => (TYPES.host, address, 0, 0),
            Place::Device(address) => (TYPES.device, 0, address, 0),
            Place::Array(array) => (TYPES.array, 0, 0, array),
            Place::Any(address) => (TYPES.any[0], 0, address, 0),
        }
    }
    let Transfer { to, from, extent } = transfer;
    let (src_type, src_host, src_device, src_array) = place(from);
    let (dst_type, dst_host, dst_device, dst_array) = place(to);
    Memcpy3D {
        src_x: from.offset[0] as usize,
        src_y: from.offset[1] as usize,
        src_z: from.offset[2] as usize,
        src_lod: 0,
        src_type,
        src_host,
        src_device,
        src_array,
        src_context: 0,
        src_pitch: from.pitch[0] as usize,
        src_height: from.pitch[1] as usize,
        dst_x: to.offset[0] as usize,
        dst_y: to.offset[1] as usize,
        dst_z: to.offset[2] as usize,
        dst_lod: 0,
        dst_type,
        dst_host,
        dst_device,
        dst_array,
        dst_context: 0,
        dst_pitch: to.pitch[0] as usize,
        dst_height: to.pitch[1] as usize,
        width: extent[0] as usize,
        height: extent[1] as usize,
        depth: extent[2] as usize,
    }
}

/// Checks the context that a peer copy names; null is the current one.
fn peer(handle: Handle) -> Result<()> {
    if handle == 0 { Ok(()) } else { context::get(handle)?.check() }
}

/// Copies between contexts cannot be captured, even if both are the same (recorded on an H200).
fn check_not_captured(order: Order) -> Result<()> {
    stream(order.stream, order.own)?.check_not_capturing()
}

fn peer_line(
    to: CUdeviceptr,
    to_context: Handle,
    from: CUdeviceptr,
    from_context: Handle,
    size: usize,
    order: Order,
) -> Result<()> {
    peer(to_context)?;
    peer(from_context)?;
    check_not_captured(order)?;
    let rights = Rights::Of([to_context, from_context]);
    line(Place::Device(to), Place::Device(from), size, Order { rights, ..order })
}

fn peer_volume(description: In<Memcpy3D>, order: Order) -> Result<()> {
    let description = description.get()?;
    peer(description.dst_context)?;
    peer(description.src_context)?;
    check_not_captured(order)?;
    let rights = Rights::Of([description.dst_context, description.src_context]);
    volume(&description, Order { rights, ..order })
}

/// The arguments of a batch of copies.
#[derive(Clone, Copy)]
struct Batch {
    to: In<CUdeviceptr>,
    from: In<CUdeviceptr>,
    sizes: In<usize>,
    count: usize,
    attributes: In<CopyAttributes>,
    first: In<usize>,
    attribute_count: usize,
}

/// The maximum number of copies in a batch.
const MAX_BATCH: usize = 1 << 24;

/// Where managed memory is to be read or written: nowhere in particular, a device, the host or its nodes.
fn check_hint(hint: MemLocation) -> Result<()> {
    match hint.kind {
        DEVICE => driver()?.device(hint.id).map(|_| ()).map_err(|_| Error::InvalidValue),
        NOWHERE..=HOST_NUMA_CURRENT => Ok(()),
        _ => Err(Error::InvalidValue),
    }
}

/// Runs a batch; writes the index of an invalid copy to `failed`.
fn batch(batch: &Batch, failed: Out<usize>, handle: Handle) -> Result<()> {
    failed.set(usize::MAX);
    let Batch { to, from, sizes, count, attributes, first, attribute_count } = *batch;
    if count == 0 || count > MAX_BATCH || attribute_count == 0 || attribute_count > count {
        return Err(Error::InvalidValue);
    }
    no_default(handle)?;
    // A null list is not read.
    to.get()?;
    from.get()?;
    sizes.get()?;
    starts(first.each(attribute_count), count)?;
    for attribute in attributes.each(attribute_count) {
        let attribute = attribute?;
        check_attributes(attribute.source_order, attribute.flags)?;
        attribute.hints.into_iter().try_for_each(check_hint)?;
    }
    let stream = stream(handle, false)?;
    stream.refuse_in_capture()?;
    let mut checked = Vec::new();
    for (i, ((to, from), size)) in to.each(count).zip(from.each(count)).zip(sizes.each(count)).enumerate() {
        let transfer = Transfer::line(Place::Any(to?), Place::Any(from?), size? as u64);
        // SAFETY: as for `copy`.
        let copy = unsafe { check_mapped(&transfer, &stream) };
        checked.push(copy.inspect_err(|_| failed.set(i))?);
    }
    checked.into_iter().try_for_each(|copy| stream.submit(Operation::Copy(copy), Policy::Later))
}

api! {
    Context Invalidates fn cuMemcpy / cuMemcpy_ptds (to: CUdeviceptr, from: CUdeviceptr, size: usize) |own| {
        line(Place::Any(to), Place::Any(from), size, now(own))
    }

    Object Appends fn cuMemcpyAsync / cuMemcpyAsync_ptsz (
        to: CUdeviceptr, from: CUdeviceptr, size: usize, in_stream: Handle,
    ) |own| {
        line(Place::Any(to), Place::Any(from), size, later(in_stream, own)?)
    }

    Context Invalidates fn cuMemcpyHtoD_v2 / cuMemcpyHtoD_v2_ptds (
        to: CUdeviceptr, from: u64, size: usize,
    ) |own| {
        line(Place::Device(to), Place::Host(from), size, now(own))
    }

    Object Appends fn cuMemcpyHtoDAsync_v2 / cuMemcpyHtoDAsync_v2_ptsz (
        to: CUdeviceptr, from: u64, size: usize, in_stream: Handle,
    ) |own| {
        line(Place::Device(to), Place::Host(from), size, later(in_stream, own)?)
    }

    Context Invalidates fn cuMemcpyDtoH_v2 / cuMemcpyDtoH_v2_ptds (
        to: u64, from: CUdeviceptr, size: usize,
    ) |own| {
        line(Place::Host(to), Place::Device(from), size, now(own))
    }

    Object Appends fn cuMemcpyDtoHAsync_v2 / cuMemcpyDtoHAsync_v2_ptsz (
        to: u64, from: CUdeviceptr, size: usize, in_stream: Handle,
    ) |own| {
        line(Place::Host(to), Place::Device(from), size, later(in_stream, own)?)
    }

    Context Invalidates fn cuMemcpyDtoD_v2 / cuMemcpyDtoD_v2_ptds (
        to: CUdeviceptr, from: CUdeviceptr, size: usize,
    ) |own| {
        line(Place::Device(to), Place::Device(from), size, now(own))
    }

    Object Appends fn cuMemcpyDtoDAsync_v2 / cuMemcpyDtoDAsync_v2_ptsz (
        to: CUdeviceptr, from: CUdeviceptr, size: usize, in_stream: Handle,
    ) |own| {
        line(Place::Device(to), Place::Device(from), size, later(in_stream, own)?)
    }

    Context Invalidates fn cuMemcpyPeer / cuMemcpyPeer_ptds (
        to: CUdeviceptr, to_context: Handle, from: CUdeviceptr, from_context: Handle, size: usize,
    ) |own| {
        peer_line(to, to_context, from, from_context, size, now(own))
    }

    Object Invalidates fn cuMemcpyPeerAsync / cuMemcpyPeerAsync_ptsz (
        to: CUdeviceptr, to_context: Handle, from: CUdeviceptr, from_context: Handle, size: usize,
        in_stream: Handle,
    ) |own| {
        peer_line(to, to_context, from, from_context, size, later(in_stream, own)?)
    }

    Context Invalidates fn cuMemcpy2D_v2 / cuMemcpy2D_v2_ptds (description: In<Memcpy2D>) |own| {
        plane(&description.get()?, now(own))
    }

    Context Invalidates fn cuMemcpy2DUnaligned_v2 / cuMemcpy2DUnaligned_v2_ptds (
        description: In<Memcpy2D>,
    ) |own| {
        plane(&description.get()?, now(own))
    }

    Object Appends fn cuMemcpy2DAsync_v2 / cuMemcpy2DAsync_v2_ptsz (
        description: In<Memcpy2D>, in_stream: Handle,
    ) |own| {
        let order = later(in_stream, own)?;
        plane(&description.get()?, order)
    }

    Context Invalidates fn cuMemcpy3D_v2 / cuMemcpy3D_v2_ptds (description: In<Memcpy3D>) |own| {
        volume(&description.get()?, now(own))
    }

    Object Appends fn cuMemcpy3DAsync_v2 / cuMemcpy3DAsync_v2_ptsz (
        description: In<Memcpy3D>, in_stream: Handle,
    ) |own| {
        let order = later(in_stream, own)?;
        volume(&description.get()?, order)
    }

    Context Invalidates fn cuMemcpy3DPeer / cuMemcpy3DPeer_ptds (description: In<Memcpy3D>) |own| {
        peer_volume(description, now(own))
    }

    Object Invalidates fn cuMemcpy3DPeerAsync / cuMemcpy3DPeerAsync_ptsz (
        description: In<Memcpy3D>, in_stream: Handle,
    ) |own| {
        peer_volume(description, later(in_stream, own)?)
    }

    Context Invalidates fn cuMemcpyDtoA_v2 / cuMemcpyDtoA_v2_ptds (
        to: Handle, offset: usize, from: CUdeviceptr, size: usize,
    ) |own| {
        with_array(Side::array(to, offset as u64), Side::at(Place::Device(from)), size, now(own))
    }

    Context Invalidates fn cuMemcpyAtoD_v2 / cuMemcpyAtoD_v2_ptds (
        to: CUdeviceptr, from: Handle, offset: usize, size: usize,
    ) |own| {
        with_array(Side::at(Place::Device(to)), Side::array(from, offset as u64), size, now(own))
    }

    Context Invalidates fn cuMemcpyHtoA_v2 / cuMemcpyHtoA_v2_ptds (
        to: Handle, offset: usize, from: u64, size: usize,
    ) |own| {
        with_array(Side::array(to, offset as u64), Side::at(Place::Host(from)), size, now(own))
    }

    Object Appends fn cuMemcpyHtoAAsync_v2 / cuMemcpyHtoAAsync_v2_ptsz (
        to: Handle, offset: usize, from: u64, size: usize, in_stream: Handle,
    ) |own| {
        with_array(Side::array(to, offset as u64), Side::at(Place::Host(from)), size, later(in_stream, own)?)
    }

    Context Invalidates fn cuMemcpyAtoH_v2 / cuMemcpyAtoH_v2_ptds (
        to: u64, from: Handle, offset: usize, size: usize,
    ) |own| {
        with_array(Side::at(Place::Host(to)), Side::array(from, offset as u64), size, now(own))
    }

    Object Appends fn cuMemcpyAtoHAsync_v2 / cuMemcpyAtoHAsync_v2_ptsz (
        to: u64, from: Handle, offset: usize, size: usize, in_stream: Handle,
    ) |own| {
        with_array(Side::at(Place::Host(to)), Side::array(from, offset as u64), size, later(in_stream, own)?)
    }

    Context Invalidates fn cuMemcpyAtoA_v2 / cuMemcpyAtoA_v2_ptds (
        to: Handle, to_offset: usize, from: Handle, from_offset: usize, size: usize,
    ) |own| {
        with_array(Side::array(to, to_offset as u64), Side::array(from, from_offset as u64), size, now(own))
    }

    Object Refuses fn cuMemcpyBatchAsync / cuMemcpyBatchAsync_ptsz (
        to: In<CUdeviceptr>, from: In<CUdeviceptr>, sizes: In<usize>, count: usize,
        attributes: In<CopyAttributes>, first: In<usize>, attribute_count: usize, failed: Out<usize>,
        in_stream: Handle,
    ) {
        batch(&Batch { to, from, sizes, count, attributes, first, attribute_count }, failed, in_stream)
    }

    Object Refuses fn cuMemcpyBatchAsync_v2 / cuMemcpyBatchAsync_v2_ptsz (
        to: In<CUdeviceptr>, from: In<CUdeviceptr>, sizes: In<usize>, count: usize,
        attributes: In<CopyAttributes>, first: In<usize>, attribute_count: usize, in_stream: Handle,
    ) {
        batch(&Batch { to, from, sizes, count, attributes, first, attribute_count }, Out::none(), in_stream)
    }
}
