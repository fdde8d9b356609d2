//! Two- and three-dimensional copies between addresses and arrays.

use std::sync::Arc;

use capi::copy::MemoryTypes;
use capi::described_volume;
use capi::types::Memcpy2D;
use driver::memory::array::{self, Array};
use driver::memory::transfer::{Place, Side, Transfer};

use crate::abi::In;
use crate::api::copy::{DEFAULT, Order, check_kind, copy};
use crate::current::{self, Handle};
use crate::types::{
    Extent, Memcpy3D, Memcpy3DIn5, Memcpy3DParameters, Memcpy3DPeerParameters, PitchedPointer,
};
use crate::{Error, Result, api};

/// `hipMemoryType` from HIP 6 on; managed and unified memory can be any kind.
pub(super) const SIX: MemoryTypes = MemoryTypes { host: 1, device: 2, array: 10, any: &[3, 11] };
/// `hipMemoryType` up to HIP 5.
pub(super) const FIVE: MemoryTypes = MemoryTypes { host: 0, device: 1, array: 2, any: &[3] };

/// An upper bound of pitches.
const MAX_PITCH: usize = i32::MAX as usize;

/// Bytes per element of an array.
fn element(array: &Array) -> u64 {
    array.extent[0].checked_div(array.descriptor.width).unwrap_or(0)
}

/// The array of a handle. [`Error::InvalidHandle`] for null or any other handle.
fn array(handle: Handle) -> Result<Arc<Array>> {
    array::get(handle).map_err(|_| Error::InvalidHandle)
}

fn described(d: &Memcpy2D, types: &MemoryTypes, order: Order) -> Result<()> {
    order.check()?;
    if d.width == 0 || d.height == 0 {
        return Ok(());
    }
    copy(&d.transfer(types)?, order)
}

fn described_volume(d: &Memcpy3D, types: &MemoryTypes, order: Order) -> Result<()> {
    order.check()?;
    if d.width == 0 || d.height == 0 || d.depth == 0 {
        return Ok(());
    }
    copy(&transfer_of(d, types)?, order)
}

/// The copy that a structure of the driver interface describes.
pub(super) fn transfer_of(d: &Memcpy3D, types: &MemoryTypes) -> Result<Transfer> {
    let (to, from) = described_volume!(d);
    let extent = [d.width as u64, d.height as u64, d.depth as u64];
    Ok(Transfer { to: to.side(types)?, from: from.side(types)?, extent })
}

/// An address and a pitch.
#[derive(Clone, Copy)]
struct Rows {
    address: u64,
    pitch: usize,
}

/// An array, and the bytes and rows to skip.
#[derive(Clone, Copy)]
struct Window {
    array: Handle,
    x: usize,
    y: usize,
}

impl Rows {
    fn side(self) -> Side {
        Side { pitch: [self.pitch as u64, 0], ..Side::at(Place::Any(self.address)) }
    }

    /// The checks of copies to and from arrays.
    fn check(self, width: usize) -> Result<()> {
        if self.address == 0 {
            return Err(Error::InvalidValue);
        }
        if self.pitch == 0 || self.pitch < width { Err(Error::InvalidPitchValue) } else { Ok(()) }
    }
}

impl Window {
    fn side(self) -> Side {
        Side { place: Place::Array(self.array), offset: [self.x as u64, self.y as u64, 0], pitch: [0; 2] }
    }

    fn check(self, width: usize, height: usize) -> Result<()> {
        let [row, rows, _] = array(self.array)?.extent;
        let inside = |offset: usize, length: usize, all| {
            offset.checked_add(length).is_some_and(|end| end as u64 <= all)
        };
        if inside(self.x, width, row) && inside(self.y, height, rows) {
            Ok(())
        } else {
            Err(Error::InvalidValue)
        }
    }
}

/// Checks the direction and the stream of a two-dimensional copy; an unknown stream is an invalid value here.
fn check_plane(kind: u32, order: Order) -> Result<()> {
    check_kind(kind)?;
    order.check().map_err(|_| Error::InvalidValue)
}

fn rows(to: Side, from: Side, [width, height]: [usize; 2], order: Order) -> Result<()> {
    copy(&Transfer { to, from, extent: [width as u64, height as u64, 1] }, order)
}

fn plane(to: Rows, from: Rows, [width, height]: [usize; 2], kind: u32, order: Order) -> Result<()> {
    check_plane(kind, order)?;
    if width == 0 || height == 0 {
        return Ok(());
    }
    if width > to.pitch || width > from.pitch {
        return Err(Error::InvalidPitchValue);
    }
    rows(to.side(), from.side(), [width, height], order)
}

fn to_array(to: Window, from: Rows, [width, height]: [usize; 2], kind: u32, order: Order) -> Result<()> {
    check_plane(kind, order)?;
    from.check(width)?;
    to.check(width, height)?;
    rows(to.side(), from.side(), [width, height], order)
}

fn from_array(to: Rows, from: Window, [width, height]: [usize; 2], kind: u32, order: Order) -> Result<()> {
    check_plane(kind, order)?;
    from.check(width, height)?;
    to.check(width)?;
    rows(to.side(), from.side(), [width, height], order)
}

/// Copies contiguous bytes from or to the rows of an array; `make` creates the copy between a window and an
/// address.
fn linear(
    window: Window,
    address: u64,
    count: usize,
    order: Order,
    make: impl Fn(Side, Side, [u64; 3]) -> Transfer,
) -> Result<()> {
    let [row, ..] = array(window.array).map_err(|_| Error::InvalidValue)?.extent;
    let (mut x, mut y, mut at, mut left) = (window.x as u64, window.y as u64, address, count as u64);
    if x >= row && left > 0 {
        return Err(Error::InvalidValue);
    }
    // The rest of a partial row, then whole rows, then the start of a row.
    while left > 0 {
        let (width, height) = if x > 0 || left < row { (left.min(row - x), 1) } else { (row, left / row) };
        let side = Side { place: Place::Array(window.array), offset: [x, y, 0], pitch: [0; 2] };
        copy(&make(side, Side::at(Place::Any(at)), [width, height, 1]), order)?;
        (x, y) = (0, y.saturating_add(height));
        at = at.wrapping_add(width * height);
        left -= width * height;
    }
    Ok(())
}

fn array_line(to: Side, from: Side, size: usize, order: Order) -> Result<()> {
    rows(to, from, [size, 1], order)
}

/// Bytes per element of the array of a handle.
pub(super) fn element_of(handle: Handle) -> Result<u64> {
    Ok(element(&*array(handle)?))
}

/// One side of `hipMemcpy3D`: an array or a pitched address.
fn volume_side(handle: Handle, at: Extent, rows: PitchedPointer) -> Result<(Side, Option<u64>)> {
    let offset = [at.width as u64, at.height as u64, at.depth as u64];
    match (handle, rows.pointer) {
        (0, 0) => Err(Error::InvalidValue),
        (0, address) => {
            let pitch = [rows.pitch as u64, rows.height as u64];
            Ok((Side { place: Place::Any(address), offset, pitch }, None))
        }
        (_, 0) => {
            let bytes = element(&*array::get(handle).map_err(|_| Error::InvalidValue)?);
            let [x, y, z] = offset;
            let x = x.checked_mul(bytes).ok_or(Error::InvalidValue)?;
            Ok((Side { place: Place::Array(handle), offset: [x, y, z], pitch: [0; 2] }, Some(bytes)))
        }
        _ => Err(Error::InvalidValue),
    }
}

/// `hipMemcpy3D`. If an array takes part, widths count its elements.
pub(super) fn volume(p: &Memcpy3DParameters, order: Order) -> Result<()> {
    let transfer = volume_transfer(p)?;
    order.check()?;
    copy(&transfer, order)
}

/// The checked copy that a structure describes.
pub(super) fn volume_transfer(p: &Memcpy3DParameters) -> Result<Transfer> {
    let (from, from_element) = volume_side(p.src_array, p.src_position, p.src_pointer)?;
    let (to, to_element) = volume_side(p.dst_array, p.dst_position, p.dst_pointer)?;
    if let (Some(a), Some(b)) = (from_element, to_element)
        && a != b
    {
        return Err(Error::InvalidValue);
    }
    let (a, b) = (p.src_pointer, p.dst_pointer);
    if a.pitch < a.width || b.pitch < b.width {
        return Err(Error::InvalidPitchValue);
    }
    if a.pitch >= MAX_PITCH || b.pitch >= MAX_PITCH {
        return Err(Error::InvalidValue);
    }
    let element = from_element.or(to_element);
    let beyond =
        |at: usize, rows: PitchedPointer| at.checked_add(p.extent.width).is_none_or(|end| end > rows.pitch);
    if element.is_none() && (beyond(p.src_position.width, a) || beyond(p.dst_position.width, b)) {
        return Err(Error::InvalidValue);
    }
    check_kind(p.kind)?;
    let width = (p.extent.width as u64).checked_mul(element.unwrap_or(1)).ok_or(Error::InvalidValue)?;
    Ok(Transfer { to, from, extent: [width, p.extent.height as u64, p.extent.depth as u64] })
}

/// The position and the rows that describe a side of a copy; `width` is the width of its rows, and `element`
/// the bytes per element of the arrays that take part.
fn side_described(side: &Side, width: u64, element: u64) -> (Handle, Extent, PitchedPointer) {
    let [x, y, z] = side.offset.map(|n| n as usize);
    let at = |width| Extent { width, height: y, depth: z };
    match side.place {
        Place::Array(array) => {
            let none = PitchedPointer { pointer: 0, pitch: 0, width: 0, height: 0 };
            (array, at(x / element.max(1) as usize), none)
        }
        Place::Host(pointer) | Place::Device(pointer) | Place::Any(pointer) => {
            let [pitch, height] = side.pitch.map(|n| n as usize);
            (0, at(x), PitchedPointer { pointer, pitch, width: width as usize, height })
        }
    }
}

/// The structure that describes a copy; `kind` is its direction, and `widths` are those of the source's and
/// the destination's rows.
pub(super) fn volume_described(copy: &Transfer, kind: u32, widths: [u64; 2]) -> Memcpy3DParameters {
    let element = [copy.from, copy.to].iter().find_map(|side| match side.place {
        Place::Array(handle) => array::get(handle).ok().map(|array| element(&array)),
        _ => None,
    });
    let bytes = element.unwrap_or(1).max(1);
    let [width, height, depth] = copy.extent.map(|n| n as usize);
    let (src_array, src_position, src_pointer) = side_described(&copy.from, widths[0], bytes);
    let (dst_array, dst_position, dst_pointer) = side_described(&copy.to, widths[1], bytes);
    let extent = Extent { width: width / bytes as usize, height, depth };
    Memcpy3DParameters {
        src_array,
        src_position,
        src_pointer,
        dst_array,
        dst_position,
        dst_pointer,
        extent,
        kind,
    }
}

/// The structure of the driver interface that describes a copy, in the numbers of HIP 6.
pub(super) fn described_by_driver(copy: &Transfer) -> Memcpy3D {
    /// `hipMemoryTypeUnified`.
    const UNIFIED: u32 = 11;
    let place = |side: &Side| match side.place {
        Place::Host(address) => (SIX.host, [address, 0, 0]),
        Place::Device(address) => (SIX.device, [0, address, 0]),
        Place::Any(address) => (UNIFIED, [0, address, 0]),
        Place::Array(handle) => (SIX.array, [0, 0, handle]),
    };
    let ((src_type, src), (dst_type, dst)) = (place(&copy.from), place(&copy.to));
    let [src_x, src_y, src_z] = copy.from.offset.map(|n| n as usize);
    let [dst_x, dst_y, dst_z] = copy.to.offset.map(|n| n as usize);
    let [src_pitch, src_height] = copy.from.pitch.map(|n| n as usize);
    let [dst_pitch, dst_height] = copy.to.pitch.map(|n| n as usize);
    let [width, height, depth] = copy.extent.map(|n| n as usize);
    Memcpy3D {
        src_x,
        src_y,
        src_z,
        src_lod: 0,
        src_type,
        src_host: src[0],
        src_device: src[1],
        src_array: src[2],
        src_pitch,
        src_height,
        dst_x,
        dst_y,
        dst_z,
        dst_lod: 0,
        dst_type,
        dst_host: dst[0],
        dst_device: dst[1],
        dst_array: dst[2],
        dst_pitch,
        dst_height,
        width,
        height,
        depth,
    }
}

/// `hipMemcpy3DPeer`. Every device reaches the memory of every other.
fn between(p: &Memcpy3DPeerParameters, order: Order) -> Result<()> {
    current::device_at(p.src_device)?;
    current::device_at(p.dst_device)?;
    let parameters = Memcpy3DParameters {
        src_array: p.src_array,
        src_position: p.src_position,
        src_pointer: p.src_pointer,
        dst_array: p.dst_array,
        dst_position: p.dst_position,
        dst_pointer: p.dst_pointer,
        extent: p.extent,
        kind: DEFAULT,
    };
    volume(&parameters, order)
}

api! {
    Context Invalidates fn hipMemcpyParam2D(description: In<Memcpy2D>) {
        described(&description.get()?, &SIX, Order::now(false))
    }

    Context Invalidates fn hipMemcpyParam2D_in_5(description: In<Memcpy2D>) {
        described(&description.get()?, &FIVE, Order::now(false))
    }

    Context Appends fn hipMemcpyParam2DAsync(description: In<Memcpy2D>, in_stream: Handle) {
        described(&description.get()?, &SIX, Order::later(in_stream, false))
    }

    Context Appends fn hipMemcpyParam2DAsync_in_5(description: In<Memcpy2D>, in_stream: Handle) {
        described(&description.get()?, &FIVE, Order::later(in_stream, false))
    }

    Context Invalidates fn hipDrvMemcpy2DUnaligned(description: In<Memcpy2D>) {
        described(&description.get()?, &SIX, Order::now(false))
    }

    Context Invalidates fn hipDrvMemcpy2DUnaligned_in_5(description: In<Memcpy2D>) {
        described(&description.get()?, &FIVE, Order::now(false))
    }

    Context Invalidates fn hipDrvMemcpy3D(description: In<Memcpy3D>) {
        described_volume(&description.get()?, &SIX, Order::now(false))
    }

    Context Invalidates fn hipDrvMemcpy3D_in_5(description: In<Memcpy3DIn5>) {
        described_volume(&description.get()?.into(), &FIVE, Order::now(false))
    }

    Context Appends fn hipDrvMemcpy3DAsync(description: In<Memcpy3D>, in_stream: Handle) {
        described_volume(&description.get()?, &SIX, Order::later(in_stream, false))
    }

    Context Appends fn hipDrvMemcpy3DAsync_in_5(description: In<Memcpy3DIn5>, in_stream: Handle) {
        described_volume(&description.get()?.into(), &FIVE, Order::later(in_stream, false))
    }

    Context Invalidates fn hipMemcpy3D / hipMemcpy3D_spt (parameters: In<Memcpy3DParameters>) |own| {
        volume(&parameters.get()?, Order::now(own))
    }

    Context Appends fn hipMemcpy3DAsync / hipMemcpy3DAsync_spt (
        parameters: In<Memcpy3DParameters>, in_stream: Handle,
    ) |own| {
        volume(&parameters.get()?, Order::later(in_stream, own))
    }

    Context Invalidates fn hipMemcpy3DPeer(parameters: In<Memcpy3DPeerParameters>) {
        between(&parameters.get()?, Order::now(false))
    }

    Context Appends fn hipMemcpy3DPeerAsync(parameters: In<Memcpy3DPeerParameters>, in_stream: Handle) {
        between(&parameters.get()?, Order::later(in_stream, false))
    }

    Context Invalidates fn hipMemcpy2D / hipMemcpy2D_spt (
        to: u64, to_pitch: usize, from: u64, from_pitch: usize, width: usize, height: usize, kind: u32,
    ) |own| {
        let (to, from) = (Rows { address: to, pitch: to_pitch }, Rows { address: from, pitch: from_pitch });
        plane(to, from, [width, height], kind, Order::now(own))
    }

    Context Appends fn hipMemcpy2DAsync / hipMemcpy2DAsync_spt (
        to: u64, to_pitch: usize, from: u64, from_pitch: usize, width: usize, height: usize, kind: u32,
        in_stream: Handle,
    ) |own| {
        let (to, from) = (Rows { address: to, pitch: to_pitch }, Rows { address: from, pitch: from_pitch });
        plane(to, from, [width, height], kind, Order::later(in_stream, own))
    }

    Context Invalidates fn hipMemcpy2DToArray / hipMemcpy2DToArray_spt (
        to: Handle, x: usize, y: usize, from: u64, pitch: usize, width: usize, height: usize, kind: u32,
    ) |own| {
        to_array(Window { array: to, x, y }, Rows { address: from, pitch }, [width, height], kind, Order::now(own))
    }

    Context Appends fn hipMemcpy2DToArrayAsync / hipMemcpy2DToArrayAsync_spt (
        to: Handle, x: usize, y: usize, from: u64, pitch: usize, width: usize, height: usize, kind: u32,
        in_stream: Handle,
    ) |own| {
        let order = Order::later(in_stream, own);
        to_array(Window { array: to, x, y }, Rows { address: from, pitch }, [width, height], kind, order)
    }

    Context Invalidates fn hipMemcpy2DFromArray / hipMemcpy2DFromArray_spt (
        to: u64, pitch: usize, from: Handle, x: usize, y: usize, width: usize, height: usize, kind: u32,
    ) |own| {
        from_array(Rows { address: to, pitch }, Window { array: from, x, y }, [width, height], kind, Order::now(own))
    }

    Context Appends fn hipMemcpy2DFromArrayAsync / hipMemcpy2DFromArrayAsync_spt (
        to: u64, pitch: usize, from: Handle, x: usize, y: usize, width: usize, height: usize, kind: u32,
        in_stream: Handle,
    ) |own| {
        let order = Order::later(in_stream, own);
        from_array(Rows { address: to, pitch }, Window { array: from, x, y }, [width, height], kind, order)
    }

    Context Invalidates fn hipMemcpy2DArrayToArray(
        to: Handle, to_x: usize, to_y: usize, from: Handle, from_x: usize, from_y: usize, width: usize,
        height: usize, kind: u32,
    ) {
        let order = Order::now(false);
        check_plane(kind, order)?;
        let (to, from) = (Window { array: to, x: to_x, y: to_y }, Window { array: from, x: from_x, y: from_y });
        from.check(width, height)?;
        to.check(width, height)?;
        rows(to.side(), from.side(), [width, height], order)
    }

    /// The bytes continue in the next row.
    Context Invalidates fn hipMemcpyToArray(
        to: Handle, x: usize, y: usize, from: u64, count: usize, kind: u32,
    ) {
        check_kind(kind)?;
        linear(Window { array: to, x, y }, from, count, Order::now(false), |array, memory, extent| {
            Transfer { to: array, from: memory, extent }
        })
    }

    Context Invalidates fn hipMemcpyFromArray / hipMemcpyFromArray_spt (
        to: u64, from: Handle, x: usize, y: usize, count: usize, kind: u32,
    ) |own| {
        check_kind(kind)?;
        linear(Window { array: from, x, y }, to, count, Order::now(own), |array, memory, extent| {
            Transfer { to: memory, from: array, extent }
        })
    }

    Context Invalidates fn hipMemcpyAtoD(to: u64, from: Handle, offset: usize, size: usize) {
        array_line(Side::at(Place::Device(to)), Side::array(from, offset as u64), size, Order::now(false))
    }

    Context Invalidates fn hipMemcpyDtoA(to: Handle, offset: usize, from: u64, size: usize) {
        array_line(Side::array(to, offset as u64), Side::at(Place::Device(from)), size, Order::now(false))
    }

    Context Invalidates fn hipMemcpyAtoA(
        to: Handle, to_offset: usize, from: Handle, from_offset: usize, size: usize,
    ) {
        let (to, from) = (Side::array(to, to_offset as u64), Side::array(from, from_offset as u64));
        array_line(to, from, size, Order::now(false))
    }

    Context Invalidates fn hipMemcpyAtoH(to: u64, from: Handle, offset: usize, size: usize) {
        array_line(Side::at(Place::Host(to)), Side::array(from, offset as u64), size, Order::now(false))
    }

    Context Appends fn hipMemcpyAtoHAsync(
        to: u64, from: Handle, offset: usize, size: usize, in_stream: Handle,
    ) {
        let order = Order::later(in_stream, false);
        array_line(Side::at(Place::Host(to)), Side::array(from, offset as u64), size, order)
    }

    Context Invalidates fn hipMemcpyHtoA(to: Handle, offset: usize, from: u64, size: usize) {
        array_line(Side::array(to, offset as u64), Side::at(Place::Host(from)), size, Order::now(false))
    }

    Context Appends fn hipMemcpyHtoAAsync(
        to: Handle, offset: usize, from: u64, size: usize, in_stream: Handle,
    ) {
        let order = Order::later(in_stream, false);
        array_line(Side::array(to, offset as u64), Side::at(Place::Host(from)), size, order)
    }
}
