//! The functions of before CUDA 3.2, whose addresses and sizes have 32 bits.
//!
//! They follow the later functions, which have `_v2` in their names, and take memory whose addresses have 32
//! bits (`driver::memory::alloc_narrow`). An address that does not fit is [`Error::InvalidValue`]; a size
//! that does not fit is reported as the largest one.

use driver::memory::transfer::{Place, Side};
use driver::memory::{self};
use driver::texture::{Resource, reference};
use driver::{Error, Result, driver};

use super::array::create;
use super::copy::{later, line, now, plane, volume, with_array};
use super::fill::{fill, row, rows};
use crate::abi::{In, Out};
use crate::api;
use crate::api::current;
use crate::types::{Array3DDescriptor, CUdevice, Handle, Memcpy2D, Memcpy3D};

/// `CUdeviceptr_v1`.
type Address = u32;

/// `CUDA_MEMCPY2D_v1`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Plane {
    pub src_x: u32,
    pub src_y: u32,
    pub src_type: u32,
    pub src_host: u64,
    pub src_device: Address,
    pub src_array: Handle,
    pub src_pitch: u32,
    pub dst_x: u32,
    pub dst_y: u32,
    pub dst_type: u32,
    pub dst_host: u64,
    pub dst_device: Address,
    pub dst_array: Handle,
    pub dst_pitch: u32,
    pub width: u32,
    pub height: u32,
}

/// `CUDA_MEMCPY3D_v1`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Volume {
    pub src_x: u32,
    pub src_y: u32,
    pub src_z: u32,
    pub src_lod: u32,
    pub src_type: u32,
    pub src_host: u64,
    pub src_device: Address,
    pub src_array: Handle,
    pub reserved_0: u64,
    pub src_pitch: u32,
    pub src_height: u32,
    pub dst_x: u32,
    pub dst_y: u32,
    pub dst_z: u32,
    pub dst_lod: u32,
    pub dst_type: u32,
    pub dst_host: u64,
    pub dst_device: Address,
    pub dst_array: Handle,
    pub reserved_1: u64,
    pub dst_pitch: u32,
    pub dst_height: u32,
    pub width: u32,
    pub height: u32,
    pub depth: u32,
}

/// `CUDA_ARRAY_DESCRIPTOR_v1`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct ArrayShape {
    pub width: u32,
    pub height: u32,
    pub format: u32,
    pub channels: u32,
}

/// `CUDA_ARRAY3D_DESCRIPTOR_v1`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct ArrayShape3D {
    pub width: u32,
    pub height: u32,
    pub depth: u32,
    pub format: u32,
    pub channels: u32,
    pub flags: u32,
}

/// The same structure with 64-bit fields: the fields that are widened, and those that stay.
macro_rules! widened {
    ($from:expr => $to:ident { $($wide:ident)*; $($same:ident)*; $($field:ident: $value:expr)* }) => {{
        let d = $from;
        $to { $($wide: d.$wide as _,)* $($same: d.$same,)* $($field: $value,)* }
    }};
}

impl From<Plane> for Memcpy2D {
    fn from(d: Plane) -> Self {
        widened!(d => Memcpy2D {
            src_x src_y src_device src_pitch dst_x dst_y dst_device dst_pitch width height;
            src_type src_host src_array dst_type dst_host dst_array;
        })
    }
}

impl From<Volume> for Memcpy3D {
    fn from(d: Volume) -> Self {
        widened!(d => Memcpy3D {
            src_x src_y src_z src_lod src_device src_pitch src_height
            dst_x dst_y dst_z dst_lod dst_device dst_pitch dst_height width height depth;
            src_type src_host src_array dst_type dst_host dst_array;
            src_context: d.reserved_0 dst_context: d.reserved_1
        })
    }
}

impl From<ArrayShape3D> for Array3DDescriptor {
    fn from(d: ArrayShape3D) -> Self {
        widened!(d => Array3DDescriptor { width height depth; format channels flags; })
    }
}

impl From<ArrayShape> for ArrayShape3D {
    fn from(d: ArrayShape) -> Self {
        let ArrayShape { width, height, format, channels } = d;
        ArrayShape3D { width, height, depth: 0, format, channels, flags: 0 }
    }
}

/// An address in 32 bits.
fn address(wide: u64) -> Result<Address> {
    Address::try_from(wide).map_err(|_| Error::InvalidValue)
}

/// A size in 32 bits, the largest one for those that do not fit.
fn size(wide: u64) -> u32 {
    u32::try_from(wide).unwrap_or(u32::MAX)
}

fn device(at: Address) -> Place {
    Place::Device(u64::from(at))
}

api! {
    Init Legal fn cuDeviceTotalMem(bytes: Out<u32>, device: CUdevice) {
        bytes.required()?.set(size(driver()?.device(device)?.info.total_memory));
        Ok(())
    }

    Context Legal fn cuMemGetInfo(free: Out<u32>, total: Out<u32>) {
        let (f, t) = memory::info(&current()?.device);
        free.set(size(f));
        total.set(size(t));
        Ok(())
    }

    Context Unsafe fn cuMemAlloc(out: Out<Address>, bytes: u32) {
        out.required()?;
        out.set(address(memory::alloc_narrow(&*current()?, u64::from(bytes))?)?);
        Ok(())
    }

    Context Unsafe fn cuMemAllocPitch(
        out: Out<Address>, pitch: Out<u32>, width: u32, height: u32, element: u32,
    ) {
        if out.is_null() || pitch.is_null() {
            return Err(Error::InvalidValue);
        }
        let (row, bytes) = memory::pitched(u64::from(width), u64::from(height), element)?;
        out.set(address(memory::alloc_narrow(&*current()?, bytes)?)?);
        pitch.set(size(row));
        Ok(())
    }

    Live Unsafe fn cuMemFree(at: Address) {
        memory::free(u64::from(at))
    }

    Live Legal fn cuMemGetAddressRange(base: Out<Address>, bytes: Out<u32>, at: Address) {
        let allocation = memory::find(u64::from(at)).ok_or(Error::NotFound)?;
        base.set(address(allocation.base)?);
        bytes.set(size(allocation.size));
        Ok(())
    }

    Context Legal fn cuMemHostGetDevicePointer(out: Out<Address>, host: u64, flags: u32) {
        out.required()?;
        memory::find(host).filter(|a| a.on_host() && flags == 0).ok_or(Error::InvalidValue)?;
        out.set(address(host)?);
        Ok(())
    }

    Context Invalidates fn cuMemcpyHtoD(to: Address, from: u64, bytes: u32) {
        line(device(to), Place::Host(from), bytes as usize, now(false))
    }

    Context Invalidates fn cuMemcpyDtoH(to: u64, from: Address, bytes: u32) {
        line(Place::Host(to), device(from), bytes as usize, now(false))
    }

    Context Invalidates fn cuMemcpyDtoD(to: Address, from: Address, bytes: u32) {
        line(device(to), device(from), bytes as usize, now(false))
    }

    Object Appends fn cuMemcpyHtoDAsync(to: Address, from: u64, bytes: u32, in_stream: Handle) {
        line(device(to), Place::Host(from), bytes as usize, later(in_stream, false)?)
    }

    Object Appends fn cuMemcpyDtoHAsync(to: u64, from: Address, bytes: u32, in_stream: Handle) {
        line(Place::Host(to), device(from), bytes as usize, later(in_stream, false)?)
    }

    Object Appends fn cuMemcpyDtoDAsync(to: Address, from: Address, bytes: u32, in_stream: Handle) {
        line(device(to), device(from), bytes as usize, later(in_stream, false)?)
    }

    Context Invalidates fn cuMemcpyDtoA(to: Handle, offset: u32, from: Address, bytes: u32) {
        with_array(Side::array(to, u64::from(offset)), Side::at(device(from)), bytes as usize, now(false))
    }

    Context Invalidates fn cuMemcpyAtoD(to: Address, from: Handle, offset: u32, bytes: u32) {
        with_array(Side::at(device(to)), Side::array(from, u64::from(offset)), bytes as usize, now(false))
    }

    Context Invalidates fn cuMemcpyHtoA(to: Handle, offset: u32, from: u64, bytes: u32) {
        let from = Side::at(Place::Host(from));
        with_array(Side::array(to, u64::from(offset)), from, bytes as usize, now(false))
    }

    Context Invalidates fn cuMemcpyAtoH(to: u64, from: Handle, offset: u32, bytes: u32) {
        let to = Side::at(Place::Host(to));
        with_array(to, Side::array(from, u64::from(offset)), bytes as usize, now(false))
    }

    Object Appends fn cuMemcpyHtoAAsync(to: Handle, offset: u32, from: u64, bytes: u32, in_stream: Handle) {
        let (to, from) = (Side::array(to, u64::from(offset)), Side::at(Place::Host(from)));
        with_array(to, from, bytes as usize, later(in_stream, false)?)
    }

    Object Appends fn cuMemcpyAtoHAsync(to: u64, from: Handle, offset: u32, bytes: u32, in_stream: Handle) {
        let (to, from) = (Side::at(Place::Host(to)), Side::array(from, u64::from(offset)));
        with_array(to, from, bytes as usize, later(in_stream, false)?)
    }

    Context Invalidates fn cuMemcpyAtoA(
        to: Handle, to_offset: u32, from: Handle, from_offset: u32, bytes: u32,
    ) {
        let (to, from) = (Side::array(to, u64::from(to_offset)), Side::array(from, u64::from(from_offset)));
        with_array(to, from, bytes as usize, now(false))
    }

    Context Invalidates fn cuMemcpy2D(description: In<Plane>) {
        plane(&description.get()?.into(), now(false))
    }

    Context Invalidates fn cuMemcpy2DUnaligned(description: In<Plane>) {
        plane(&description.get()?.into(), now(false))
    }

    Object Appends fn cuMemcpy2DAsync(description: In<Plane>, in_stream: Handle) {
        let order = later(in_stream, false)?;
        plane(&description.get()?.into(), order)
    }

    Context Invalidates fn cuMemcpy3D(description: In<Volume>) {
        volume(&description.get()?.into(), now(false))
    }

    Object Appends fn cuMemcpy3DAsync(description: In<Volume>, in_stream: Handle) {
        let order = later(in_stream, false)?;
        volume(&description.get()?.into(), order)
    }

    Context Invalidates fn cuMemsetD8(to: Address, value: u8, count: u32) {
        fill(row(u64::from(to), 1, u32::from(value), count as usize), 0, false, true)
    }

    Context Invalidates fn cuMemsetD16(to: Address, value: u16, count: u32) {
        fill(row(u64::from(to), 2, u32::from(value), count as usize), 0, false, true)
    }

    Context Invalidates fn cuMemsetD32(to: Address, value: u32, count: u32) {
        fill(row(u64::from(to), 4, value, count as usize), 0, false, true)
    }

    Context Invalidates fn cuMemsetD2D8(to: Address, pitch: u32, value: u8, width: u32, height: u32) {
        let (width, height) = (width as usize, height as usize);
        fill(rows(u64::from(to), pitch as usize, 1, u32::from(value), width, height), 0, false, true)
    }

    Context Invalidates fn cuMemsetD2D16(to: Address, pitch: u32, value: u16, width: u32, height: u32) {
        let (width, height) = (width as usize, height as usize);
        fill(rows(u64::from(to), pitch as usize, 2, u32::from(value), width, height), 0, false, true)
    }

    Context Invalidates fn cuMemsetD2D32(to: Address, pitch: u32, value: u32, width: u32, height: u32) {
        let (width, height) = (width as usize, height as usize);
        fill(rows(u64::from(to), pitch as usize, 4, value, width, height), 0, false, true)
    }

    Context Unsafe fn cuArrayCreate(out: Out<Handle>, description: In<ArrayShape>) {
        out.required()?;
        create(out, Array3DDescriptor::from(ArrayShape3D::from(description.get()?)).into())
    }

    Context Unsafe fn cuArray3DCreate(out: Out<Handle>, description: In<ArrayShape3D>) {
        create(out, Array3DDescriptor::from(description.get()?).into())
    }

    Context Legal fn cuArrayGetDescriptor(out: Out<ArrayShape>, handle: Handle) {
        let d = memory::array::get(handle)?.descriptor;
        let shape = ArrayShape {
            width: size(d.width),
            height: size(d.height),
            format: d.format,
            channels: d.channels,
        };
        out.required()?.set(shape);
        Ok(())
    }

    Context Legal fn cuArray3DGetDescriptor(out: Out<ArrayShape3D>, handle: Handle) {
        let d = memory::array::get(handle)?.descriptor;
        let [width, height, depth] = [d.width, d.height, d.depth].map(size);
        let shape =
            ArrayShape3D { width, height, depth, format: d.format, channels: d.channels, flags: d.flags };
        out.required()?.set(shape);
        Ok(())
    }

    Context Legal fn cuTexRefSetAddress(offset: Out<u32>, handle: Handle, at: Address, bytes: u32) {
        let reference = reference::get(handle, false)?;
        if offset.is_null() && reference::misalignment(u64::from(at)) != 0 {
            return Err(Error::InvalidValue);
        }
        offset.set(size(reference.set_linear(u64::from(at), u64::from(bytes))?));
        Ok(())
    }

    Context Legal fn cuTexRefSetAddress2D(
        handle: Handle, description: In<ArrayShape>, at: Address, pitch: u32,
    ) {
        let reference = reference::get(handle, false)?;
        let d = description.get()?;
        let extent = [u64::from(d.width), u64::from(d.height)];
        reference.set_pitch(u64::from(at), (d.format, d.channels), extent, u64::from(pitch))
    }

    Context Legal fn cuTexRefGetAddress(out: Out<Address>, handle: Handle) {
        out.required()?;
        let bound = match reference::get(handle, false)?.state().resource {
            Some(Resource::Linear { address, .. } | Resource::Pitch { address, .. }) => address,
            _ => return Err(Error::InvalidValue),
        };
        out.set(address(bound)?);
        Ok(())
    }
}
