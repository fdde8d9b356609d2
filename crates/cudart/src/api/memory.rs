//! Memory and its copies: lines, planes, volumes, symbols.

use std::mem::offset_of;

use crate::abi::{In, Out};
use crate::error::checked;
use crate::types::{Copy3D, Extent, Memcpy2D, Memcpy3D, PeerCopy3D, Pitched};
use crate::{Error, Result, api, cu, current, registered};

use super::array::element_size;
use super::device::context_of;
use super::stream::stream_of;

/// `CUmemorytype`.
mod side {
    pub const HOST: u32 = 1;
    pub const DEVICE: u32 = 2;
    pub const ARRAY: u32 = 3;
    pub const UNIFIED: u32 = 4;
}

/// `cudaMemcpyKind`.
mod kind {
    pub const HOST_TO_HOST: u32 = 0;
    pub const HOST_TO_DEVICE: u32 = 1;
    pub const DEVICE_TO_HOST: u32 = 2;
    pub const DEVICE_TO_DEVICE: u32 = 3;
    pub const DEFAULT: u32 = 4;
}

/// When a copy runs: at once, or in a stream.
#[derive(Clone, Copy)]
enum When {
    /// With the default stream of the process, or (true) of the thread.
    Now(bool),
    In(u64),
}

/// Source and destination of a copy between pointers.
fn sides(direction: u32) -> Result<(u32, u32)> {
    match direction {
        kind::HOST_TO_HOST => Ok((side::HOST, side::HOST)),
        kind::HOST_TO_DEVICE => Ok((side::HOST, side::DEVICE)),
        kind::DEVICE_TO_HOST => Ok((side::DEVICE, side::HOST)),
        kind::DEVICE_TO_DEVICE => Ok((side::DEVICE, side::DEVICE)),
        kind::DEFAULT => Ok((side::UNIFIED, side::UNIFIED)),
        _ => Err(Error::INVALID_MEMCPY_DIRECTION),
    }
}

/// One end of a copy: an array with an offset in bytes and rows, or a pointer with a pitch.
#[derive(Clone, Copy)]
enum End {
    Array(u64, usize, usize),
    Pointer(u64, usize),
}

/// Whether the other end of a copy with an array lies on the host.
fn pointer_side(direction: u32, to_array: bool) -> Result<u32> {
    let (from, to) = sides(direction)?;
    Ok(if to_array { from } else { to })
}

fn plane(to: End, from: End, width: usize, height: usize, direction: u32, when: When) -> Result<()> {
    let (from_side, to_side) = sides(direction)?;
    if width == 0 || height == 0 {
        return Ok(());
    }
    let (mut src, mut dst) = ((0, 0, from_side, 0, 0, 0, 0), (0, 0, to_side, 0, 0, 0, 0));
    for (end, of, kind) in [(from, &mut src, from_side), (to, &mut dst, to_side)] {
        *of = match end {
            End::Array(array, x, y) => (x, y, side::ARRAY, 0, 0, array, 0),
            End::Pointer(at, pitch) if kind == side::HOST => (0, 0, kind, at, 0, 0, pitch),
            End::Pointer(at, pitch) => (0, 0, kind, 0, at, 0, pitch),
        };
    }
    if [from, to].iter().any(|end| matches!(end, End::Pointer(_, pitch) if *pitch < width)) {
        return Err(Error::INVALID_PITCH_VALUE);
    }
    let (src_x, src_y, src_type, src_host, src_device, src_array, src_pitch) = src;
    let (dst_x, dst_y, dst_type, dst_host, dst_device, dst_array, dst_pitch) = dst;
    let copy = Memcpy2D {
        src_x,
        src_y,
        src_type,
        src_host,
        src_device,
        src_array,
        src_pitch,
        dst_x,
        dst_y,
        dst_type,
        dst_host,
        dst_device,
        dst_array,
        dst_pitch,
        width,
        height,
    };
    checked(match when {
        When::Now(false) => cu::cuMemcpy2DUnaligned_v2(&copy),
        When::Now(true) => cu::cuMemcpy2DUnaligned_v2_ptds(&copy),
        When::In(stream) => cu::cuMemcpy2DAsync_v2(&copy, stream),
    })
}

fn line(to: u64, from: u64, size: usize, direction: u32, when: When) -> Result<()> {
    if size == 0 {
        return Ok(());
    }
    if direction > kind::DEFAULT {
        return Err(Error::INVALID_MEMCPY_DIRECTION);
    }
    checked(match (direction, when) {
        (kind::HOST_TO_HOST, _) => {
            return plane(End::Pointer(to, size), End::Pointer(from, size), size, 1, direction, when);
        }
        (kind::HOST_TO_DEVICE, When::Now(false)) => cu::cuMemcpyHtoD_v2(to, from, size),
        (kind::HOST_TO_DEVICE, When::Now(true)) => cu::cuMemcpyHtoD_v2_ptds(to, from, size),
        (kind::HOST_TO_DEVICE, When::In(stream)) => cu::cuMemcpyHtoDAsync_v2(to, from, size, stream),
        (kind::DEVICE_TO_HOST, When::Now(false)) => cu::cuMemcpyDtoH_v2(to, from, size),
        (kind::DEVICE_TO_HOST, When::Now(true)) => cu::cuMemcpyDtoH_v2_ptds(to, from, size),
        (kind::DEVICE_TO_HOST, When::In(stream)) => cu::cuMemcpyDtoHAsync_v2(to, from, size, stream),
        (kind::DEVICE_TO_DEVICE, When::Now(false)) => cu::cuMemcpyDtoD_v2(to, from, size),
        (kind::DEVICE_TO_DEVICE, When::Now(true)) => cu::cuMemcpyDtoD_v2_ptds(to, from, size),
        (kind::DEVICE_TO_DEVICE, When::In(stream)) => cu::cuMemcpyDtoDAsync_v2(to, from, size, stream),
        (_, When::Now(false)) => cu::cuMemcpy(to, from, size),
        (_, When::Now(true)) => cu::cuMemcpy_ptds(to, from, size),
        (_, When::In(stream)) => cu::cuMemcpyAsync(to, from, size, stream),
    })
}

/// A product of sizes that a program gives.
fn product(a: usize, b: usize) -> Result<usize> {
    a.checked_mul(b).ok_or(Error::INVALID_VALUE)
}

/// A part of a line of an array: its first byte in its row, its row, its bytes and rows, and how many bytes
/// of the line come before it.
type Part = (usize, usize, usize, usize, usize);

/// Splits `count` bytes of an array, from a byte of a row on, into parts of rows.
fn parts(array: u64, x: usize, y: usize, count: usize) -> Result<Vec<Part>> {
    let (description, size) = element_size(array)?;
    let row = product(description.width, size)?;
    if x >= row || y.checked_add(count).is_none_or(|end| end == usize::MAX) {
        return Err(Error::INVALID_VALUE);
    }
    let mut parts = Vec::new();
    let first = count.min(row - x);
    parts.push((x, y, first, 1, 0));
    let rows = (count - first) / row;
    if rows > 0 {
        parts.push((0, y + 1, row, rows, first));
    }
    let rest = count - first - rows * row;
    if rest > 0 {
        parts.push((0, y + 1 + rows, rest, 1, count - rest));
    }
    Ok(parts)
}

/// A copy of a line into an array or out of it.
fn array_line(
    array: u64,
    at: (usize, usize),
    pointer: u64,
    count: usize,
    to_array: bool,
    direction: u32,
    when: When,
) -> Result<()> {
    pointer_side(direction, to_array)?;
    if count == 0 {
        return Ok(());
    }
    for (x, y, width, height, before) in parts(array, at.0, at.1, count)? {
        let array = End::Array(array, x, y);
        let pointer = End::Pointer(pointer.wrapping_add(before as u64), width);
        let (to, from) = if to_array { (array, pointer) } else { (pointer, array) };
        plane(to, from, width, height, direction, when)?;
    }
    Ok(())
}

/// A copy of a volume in the driver's form.
pub(super) fn volume(copy: &Copy3D) -> Result<Memcpy3D> {
    let (from_side, to_side) = sides(copy.kind)?;
    let arrays = [copy.from_array, copy.to_array].into_iter().find(|a| *a != 0);
    let element = arrays.map_or(Ok(1), |array| element_size(array).map(|e| e.1))?;
    let both = |array: u64, at: Pitched| (array == 0) == (at.pointer == 0);
    if both(copy.from_array, copy.from) || both(copy.to_array, copy.to) {
        return Err(Error::INVALID_VALUE);
    }
    let mut made = Memcpy3D {
        width: product(copy.extent.width, element)?,
        height: copy.extent.height,
        depth: copy.extent.depth,
        src_y: copy.from_at.y,
        src_z: copy.from_at.z,
        dst_y: copy.to_at.y,
        dst_z: copy.to_at.z,
        ..Memcpy3D::default()
    };
    if copy.from_array != 0 {
        (made.src_type, made.src_array) = (side::ARRAY, copy.from_array);
        made.src_x = product(copy.from_at.x, element_size(copy.from_array)?.1)?;
    } else {
        made.src_type = from_side;
        *(if from_side == side::HOST { &mut made.src_host } else { &mut made.src_device }) =
            copy.from.pointer;
        (made.src_x, made.src_pitch, made.src_height) = (copy.from_at.x, copy.from.pitch, copy.from.height);
    }
    if copy.to_array != 0 {
        (made.dst_type, made.dst_array) = (side::ARRAY, copy.to_array);
        made.dst_x = product(copy.to_at.x, element_size(copy.to_array)?.1)?;
    } else {
        made.dst_type = to_side;
        *(if to_side == side::HOST { &mut made.dst_host } else { &mut made.dst_device }) = copy.to.pointer;
        (made.dst_x, made.dst_pitch, made.dst_height) = (copy.to_at.x, copy.to.pitch, copy.to.height);
    }
    Ok(made)
}

/// The runtime's form of a volume copy that the driver describes.
pub(super) fn runtime_volume(copy: &Memcpy3D) -> Result<Copy3D> {
    let host = |kind: u32| kind == side::HOST;
    let unified = [copy.src_type, copy.dst_type].contains(&side::UNIFIED);
    let direction = match (host(copy.src_type), host(copy.dst_type)) {
        _ if unified => kind::DEFAULT,
        (true, true) => kind::HOST_TO_HOST,
        (true, false) => kind::HOST_TO_DEVICE,
        (false, true) => kind::DEVICE_TO_HOST,
        (false, false) => kind::DEVICE_TO_DEVICE,
    };
    let mut made = Copy3D { kind: direction, ..Copy3D::default() };
    let arrays = [copy.src_array, copy.dst_array].into_iter().find(|a| *a != 0);
    let element = arrays.map_or(Ok(1), |array| element_size(array).map(|e| e.1))?;
    made.extent = Extent { width: copy.width / element, height: copy.height, depth: copy.depth };
    made.from_array = copy.src_array;
    made.to_array = copy.dst_array;
    let own = |array: u64| if array == 0 { Ok(1) } else { element_size(array).map(|e| e.1) };
    (made.from_at.x, made.from_at.y, made.from_at.z) =
        (copy.src_x / own(copy.src_array)?, copy.src_y, copy.src_z);
    (made.to_at.x, made.to_at.y, made.to_at.z) = (copy.dst_x / own(copy.dst_array)?, copy.dst_y, copy.dst_z);
    if copy.src_array == 0 {
        let pointer = if host(copy.src_type) { copy.src_host } else { copy.src_device };
        made.from = Pitched { pointer, pitch: copy.src_pitch, width: copy.width, height: copy.src_height };
    }
    if copy.dst_array == 0 {
        let pointer = if host(copy.dst_type) { copy.dst_host } else { copy.dst_device };
        made.to = Pitched { pointer, pitch: copy.dst_pitch, width: copy.width, height: copy.dst_height };
    }
    Ok(made)
}

fn run_volume(copy: In<Copy3D>, when: When) -> Result<()> {
    let copy = copy.get()?;
    let Extent { width, height, depth } = copy.extent;
    let made = volume(&copy)?;
    if width == 0 || height == 0 || depth == 0 {
        return Ok(());
    }
    checked(match when {
        When::Now(false) => cu::cuMemcpy3D_v2(&made),
        When::Now(true) => cu::cuMemcpy3D_v2_ptds(&made),
        When::In(stream) => cu::cuMemcpy3DAsync_v2(&made, stream),
    })
}

/// A copy of a volume between devices in the driver's form.
fn peer_volume(copy: In<PeerCopy3D>) -> Result<Memcpy3D> {
    let copy = copy.get()?;
    let PeerCopy3D { from_array, from_at, from, to_array, to_at, to, extent, .. } = copy;
    let made =
        Copy3D { from_array, from_at, from, to_array, to_at, to, extent, kind: kind::DEVICE_TO_DEVICE };
    let mut made = volume(&made)?;
    made.src_context = context_of(copy.from_device)?;
    made.dst_context = context_of(copy.to_device)?;
    Ok(made)
}

/// The address of a part of a variable.
pub(super) fn symbol(symbol: u64, offset: usize, count: usize) -> Result<u64> {
    let (at, size) = registered::variable_of(symbol)?;
    let end = offset.checked_add(count).ok_or(Error::INVALID_VALUE)?;
    if end as u64 > size { Err(Error::INVALID_VALUE) } else { Ok(at + offset as u64) }
}

fn to_symbol(host: u64, from: u64, count: usize, offset: usize, direction: u32, when: When) -> Result<()> {
    if !matches!(direction, kind::HOST_TO_DEVICE | kind::DEVICE_TO_DEVICE | kind::DEFAULT) {
        return Err(Error::INVALID_MEMCPY_DIRECTION);
    }
    line(symbol(host, offset, count)?, from, count, direction, when)
}

fn from_symbol(to: u64, host: u64, count: usize, offset: usize, direction: u32, when: When) -> Result<()> {
    if !matches!(direction, kind::DEVICE_TO_HOST | kind::DEVICE_TO_DEVICE | kind::DEFAULT) {
        return Err(Error::INVALID_MEMCPY_DIRECTION);
    }
    line(to, symbol(host, offset, count)?, count, direction, when)
}

fn fill(at: u64, pitch: usize, value: i32, width: usize, height: usize, when: When) -> Result<()> {
    if width == 0 || height == 0 {
        return Ok(());
    }
    let value = value as u8;
    checked(match when {
        When::Now(false) => cu::cuMemsetD2D8_v2(at, pitch, value, width, height),
        When::Now(true) => cu::cuMemsetD2D8_v2_ptds(at, pitch, value, width, height),
        When::In(stream) => cu::cuMemsetD2D8Async(at, pitch, value, width, height, stream),
    })
}

fn fill_line(at: u64, value: i32, count: usize, when: When) -> Result<()> {
    if count == 0 {
        return Ok(());
    }
    let value = value as u8;
    checked(match when {
        When::Now(false) => cu::cuMemsetD8_v2(at, value, count),
        When::Now(true) => cu::cuMemsetD8_v2_ptds(at, value, count),
        When::In(stream) => cu::cuMemsetD8Async(at, value, count, stream),
    })
}

fn fill_volume(at: Pitched, value: i32, extent: Extent, when: When) -> Result<()> {
    let Extent { width, height, depth } = extent;
    if height == at.height {
        return fill(at.pointer, at.pitch, value, width, product(height, depth)?, when);
    }
    let distance = product(at.height, at.pitch)?;
    product(distance, depth)?;
    // Slices at one place could be as many as a word counts.
    if distance == 0 && depth > 1 {
        return Err(Error::INVALID_VALUE);
    }
    (0..depth).try_for_each(|slice| {
        let begin = at.pointer.wrapping_add((slice * distance) as u64);
        fill(begin, at.pitch, value, width, height, when)
    })
}

/// The bytes of the elements that a pitch is made for.
const PITCHED_ELEMENT: u32 = 4;

fn pitched(out: Out<u64>, pitch: Out<usize>, width: usize, height: usize) -> Result<()> {
    out.required()?;
    pitch.required()?;
    if width == 0 || height == 0 {
        out.set(0);
        pitch.set(0);
        return Ok(());
    }
    checked(cu::cuMemAllocPitch_v2(out.address(), pitch.address(), width, height, PITCHED_ELEMENT))
}

fn host_memory(out: Out<u64>, size: usize, flags: u32) -> Result<()> {
    out.required()?;
    if size == 0 {
        out.set(0);
        return Ok(());
    }
    checked(cu::cuMemHostAlloc(out.address(), size, flags)).inspect_err(|_| out.set(0))
}

/// `cudaPointerAttributes`, without the reserved end that 13 added.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct PointerAttributes {
    pub kind: u32,
    pub device: i32,
    pub device_pointer: u64,
    pub host_pointer: u64,
}

/// `cudaMemoryTypeManaged`, and the device number of memory that belongs to no device.
const MANAGED: u32 = 3;
const NO_DEVICE: i32 = -2;

fn pointer_attributes(at: u64) -> Result<PointerAttributes> {
    /// The driver's numbers.
    const KIND: u32 = 2;
    const DEVICE_POINTER: u32 = 3;
    const HOST_POINTER: u32 = 4;
    const IS_MANAGED: u32 = 8;
    const ORDINAL: u32 = 9;
    let get = |number| {
        let mut value = 0u64;
        (cu::cuPointerGetAttribute(&raw mut value as u64, number, at) == 0).then_some(value)
    };
    let unknown = PointerAttributes { kind: 0, device: NO_DEVICE, device_pointer: 0, host_pointer: at };
    let Some(kind) = get(KIND).filter(|kind| *kind != 0) else { return Ok(unknown) };
    let managed = get(IS_MANAGED).is_some_and(|value| value != 0);
    Ok(PointerAttributes {
        kind: if managed { MANAGED } else { kind as u32 },
        device: get(ORDINAL).map_or(NO_DEVICE, |value| value as u32 as i32),
        device_pointer: get(DEVICE_POINTER).unwrap_or(0),
        host_pointer: get(HOST_POINTER).unwrap_or(0),
    })
}

api! {
    Driver Inherits fn cudaMalloc(out: Out<u64>, size: usize) {
        out.required()?;
        if size == 0 {
            // Nothing is asked of the context, which may have failed (recorded on an H200).
            out.set(0);
            return Ok(());
        }
        current::context_id()?;
        checked(cu::cuMemAlloc_v2(out.address(), size))
    }

    Context Inherits fn cudaFree(at: u64) {
        if at == 0 { Ok(()) } else { checked(cu::cuMemFree_v2(at)) }
    }

    Context Inherits fn cudaMallocManaged(out: Out<u64>, size: usize, flags: u32) {
        if size == 0 {
            out.required()?.set(0);
            return Ok(());
        }
        checked(cu::cuMemAllocManaged(out.address(), size, flags))
    }

    Context Inherits fn cudaMallocPitch(out: Out<u64>, pitch: Out<usize>, width: usize, height: usize) {
        pitched(out, pitch, width, height)
    }

    Context Inherits fn cudaMalloc3D(out: Out<Pitched>, extent: Extent) {
        out.required()?;
        let base = out.address();
        let pitch = Out::at(base.wrapping_add(offset_of!(Pitched, pitch) as u64));
        let rows = extent.height.checked_mul(extent.depth).ok_or(Error::MEMORY_ALLOCATION)?;
        pitched(Out::at(base), pitch, extent.width, rows)?;
        Out::at(base.wrapping_add(offset_of!(Pitched, width) as u64)).set(extent.width);
        Out::at(base.wrapping_add(offset_of!(Pitched, height) as u64)).set(extent.height);
        Ok(())
    }

    Context Inherits fn cudaMallocHost(out: Out<u64>, size: usize) {
        host_memory(out, size, 0)
    }

    Context Inherits fn cudaHostAlloc(out: Out<u64>, size: usize, flags: u32) {
        host_memory(out, size, flags)
    }

    Context Inherits fn cudaFreeHost(at: u64) {
        if at == 0 { Ok(()) } else { checked(cu::cuMemFreeHost(at)) }
    }

    Context Inherits fn cudaPointerGetAttributes(out: Out<PointerAttributes>, at: u64) {
        out.required()?.set(pointer_attributes(at)?);
        Ok(())
    }

    Context Inherits fn cudaMemcpy / cudaMemcpy_ptds (to: u64, from: u64, size: usize, direction: u32) |own| {
        line(to, from, size, direction, When::Now(own))
    }

    Context Inherits fn cudaMemcpyAsync / cudaMemcpyAsync_ptsz (
        to: u64, from: u64, size: usize, direction: u32, stream: u64,
    ) |own| {
        line(to, from, size, direction, When::In(stream_of(stream, own)))
    }

    Context Inherits fn cudaMemcpyToSymbol / cudaMemcpyToSymbol_ptds (
        symbol: u64, from: u64, count: usize, offset: usize, direction: u32,
    ) |own| {
        to_symbol(symbol, from, count, offset, direction, When::Now(own))
    }

    Context Inherits fn cudaMemcpyToSymbolAsync / cudaMemcpyToSymbolAsync_ptsz (
        symbol: u64, from: u64, count: usize, offset: usize, direction: u32, stream: u64,
    ) |own| {
        to_symbol(symbol, from, count, offset, direction, When::In(stream_of(stream, own)))
    }

    Context Inherits fn cudaMemcpyFromSymbol / cudaMemcpyFromSymbol_ptds (
        to: u64, symbol: u64, count: usize, offset: usize, direction: u32,
    ) |own| {
        from_symbol(to, symbol, count, offset, direction, When::Now(own))
    }

    Context Inherits fn cudaMemcpyFromSymbolAsync / cudaMemcpyFromSymbolAsync_ptsz (
        to: u64, symbol: u64, count: usize, offset: usize, direction: u32, stream: u64,
    ) |own| {
        from_symbol(to, symbol, count, offset, direction, When::In(stream_of(stream, own)))
    }

    Context Inherits fn cudaMemcpy2D / cudaMemcpy2D_ptds (
        to: u64, to_pitch: usize, from: u64, from_pitch: usize, width: usize, height: usize, direction: u32,
    ) |own| {
        plane(End::Pointer(to, to_pitch), End::Pointer(from, from_pitch), width, height, direction, When::Now(own))
    }

    Context Inherits fn cudaMemcpy2DAsync / cudaMemcpy2DAsync_ptsz (
        to: u64, to_pitch: usize, from: u64, from_pitch: usize, width: usize, height: usize, direction: u32,
        stream: u64,
    ) |own| {
        let when = When::In(stream_of(stream, own));
        plane(End::Pointer(to, to_pitch), End::Pointer(from, from_pitch), width, height, direction, when)
    }

    Context Inherits fn cudaMemcpy2DToArray / cudaMemcpy2DToArray_ptds (
        array: u64, x: usize, y: usize, from: u64, pitch: usize, width: usize, height: usize, direction: u32,
    ) |own| {
        plane(End::Array(array, x, y), End::Pointer(from, pitch), width, height, direction, When::Now(own))
    }

    Context Inherits fn cudaMemcpy2DToArrayAsync / cudaMemcpy2DToArrayAsync_ptsz (
        array: u64, x: usize, y: usize, from: u64, pitch: usize, width: usize, height: usize, direction: u32,
        stream: u64,
    ) |own| {
        let when = When::In(stream_of(stream, own));
        plane(End::Array(array, x, y), End::Pointer(from, pitch), width, height, direction, when)
    }

    Context Inherits fn cudaMemcpy2DFromArray / cudaMemcpy2DFromArray_ptds (
        to: u64, pitch: usize, array: u64, x: usize, y: usize, width: usize, height: usize, direction: u32,
    ) |own| {
        plane(End::Pointer(to, pitch), End::Array(array, x, y), width, height, direction, When::Now(own))
    }

    Context Inherits fn cudaMemcpy2DFromArrayAsync / cudaMemcpy2DFromArrayAsync_ptsz (
        to: u64, pitch: usize, array: u64, x: usize, y: usize, width: usize, height: usize, direction: u32,
        stream: u64,
    ) |own| {
        let when = When::In(stream_of(stream, own));
        plane(End::Pointer(to, pitch), End::Array(array, x, y), width, height, direction, when)
    }

    Context Inherits fn cudaMemcpy2DArrayToArray / cudaMemcpy2DArrayToArray_ptds (
        to: u64, to_x: usize, to_y: usize, from: u64, from_x: usize, from_y: usize, width: usize, height: usize,
        direction: u32,
    ) |own| {
        let (to, from) = (End::Array(to, to_x, to_y), End::Array(from, from_x, from_y));
        plane(to, from, width, height, direction, When::Now(own))
    }

    Context Inherits fn cudaMemcpyToArray / cudaMemcpyToArray_ptds (
        array: u64, x: usize, y: usize, from: u64, count: usize, direction: u32,
    ) |own| {
        array_line(array, (x, y), from, count, true, direction, When::Now(own))
    }

    Context Inherits fn cudaMemcpyToArrayAsync / cudaMemcpyToArrayAsync_ptsz (
        array: u64, x: usize, y: usize, from: u64, count: usize, direction: u32, stream: u64,
    ) |own| {
        array_line(array, (x, y), from, count, true, direction, When::In(stream_of(stream, own)))
    }

    Context Inherits fn cudaMemcpyFromArray / cudaMemcpyFromArray_ptds (
        to: u64, array: u64, x: usize, y: usize, count: usize, direction: u32,
    ) |own| {
        array_line(array, (x, y), to, count, false, direction, When::Now(own))
    }

    Context Inherits fn cudaMemcpyFromArrayAsync / cudaMemcpyFromArrayAsync_ptsz (
        to: u64, array: u64, x: usize, y: usize, count: usize, direction: u32, stream: u64,
    ) |own| {
        array_line(array, (x, y), to, count, false, direction, When::In(stream_of(stream, own)))
    }

    Context Inherits fn cudaMemcpyArrayToArray / cudaMemcpyArrayToArray_ptds (
        to: u64, to_x: usize, to_y: usize, from: u64, from_x: usize, from_y: usize, count: usize, direction: u32,
    ) |own| {
        let (to, from) = (End::Array(to, to_x, to_y), End::Array(from, from_x, from_y));
        plane(to, from, count, 1, direction, When::Now(own))
    }

    Context Inherits fn cudaMemcpy3D / cudaMemcpy3D_ptds (copy: In<Copy3D>) |own| {
        run_volume(copy, When::Now(own))
    }

    Context Inherits fn cudaMemcpy3DAsync / cudaMemcpy3DAsync_ptsz (copy: In<Copy3D>, stream: u64) |own| {
        run_volume(copy, When::In(stream_of(stream, own)))
    }

    Context Inherits fn cudaMemcpy3DPeer / cudaMemcpy3DPeer_ptds (copy: In<PeerCopy3D>) |own| {
        let made = peer_volume(copy)?;
        checked(if own { cu::cuMemcpy3DPeer_ptds(&made) } else { cu::cuMemcpy3DPeer(&made) })
    }

    Context Inherits fn cudaMemcpy3DPeerAsync / cudaMemcpy3DPeerAsync_ptsz (
        copy: In<PeerCopy3D>, stream: u64,
    ) |own| {
        checked(cu::cuMemcpy3DPeerAsync(&peer_volume(copy)?, stream_of(stream, own)))
    }

    Context Inherits fn cudaMemset / cudaMemset_ptds (at: u64, value: i32, count: usize) |own| {
        fill_line(at, value, count, When::Now(own))
    }

    Context Inherits fn cudaMemsetAsync / cudaMemsetAsync_ptsz (
        at: u64, value: i32, count: usize, stream: u64,
    ) |own| {
        fill_line(at, value, count, When::In(stream_of(stream, own)))
    }

    Context Inherits fn cudaMemset2D / cudaMemset2D_ptds (
        at: u64, pitch: usize, value: i32, width: usize, height: usize,
    ) |own| {
        fill(at, pitch, value, width, height, When::Now(own))
    }

    Context Inherits fn cudaMemset2DAsync / cudaMemset2DAsync_ptsz (
        at: u64, pitch: usize, value: i32, width: usize, height: usize, stream: u64,
    ) |own| {
        fill(at, pitch, value, width, height, When::In(stream_of(stream, own)))
    }

    Context Inherits fn cudaMemset3D / cudaMemset3D_ptds (at: Pitched, value: i32, extent: Extent) |own| {
        fill_volume(at, value, extent, When::Now(own))
    }

    Context Inherits fn cudaMemset3DAsync / cudaMemset3DAsync_ptsz (
        at: Pitched, value: i32, extent: Extent, stream: u64,
    ) |own| {
        fill_volume(at, value, extent, When::In(stream_of(stream, own)))
    }
}
