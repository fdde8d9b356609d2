//! Copies described with attributes, and batches of copies, prefetches and discards.

use capi::copy::starts;
use driver::device::Device;
use driver::memory::array;
use driver::memory::decompress::{self, Algorithm, Request, Unpack};
use driver::memory::managed::{self, Location};
use driver::memory::rights::Rights;
use driver::memory::transfer::{Copy, Place, Side, Transfer};
use driver::stream::{Operation, Policy, Stream};
use driver::{Error, Result, driver};

use crate::abi::{In, Out};
use crate::api;
use crate::api::{check_default, stream};
use crate::types::{CUdeviceptr, CopyAttributes, Handle, MemLocation, stream as special};

/// The maximum number of operations in a batch.
const MAX_BATCH: usize = 1 << 24;

/// `CUmemcpySrcAccessOrder`: in stream order, during the call, at any time.
const SOURCE_ORDERS: std::ops::RangeInclusive<u32> = 1..=3;
/// `CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE`, a hint, is the only flag of a copy.
const COPY_FLAGS: u32 = 1;

/// `CUmemcpy3DOperandType`.
mod operand {
    pub const POINTER: u32 = 1;
    pub const ARRAY: u32 = 2;
}

/// `CUmemcpy3DOperand`. The words are an address, the length of rows, the height of layers and a location; or
/// an array and three offsets.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Operand {
    pub kind: u32,
    pub words: [u64; 4],
}

/// `CUDA_MEMCPY3D_BATCH_OP`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct VolumeCopy {
    pub from: Operand,
    pub to: Operand,
    pub extent: [usize; 3],
    pub source_order: u32,
    pub flags: u32,
}

impl Operand {
    /// Bytes per element of an array, or per block of a compressed one; `None` for memory.
    fn element(&self) -> Result<Option<u64>> {
        match self.kind {
            operand::POINTER => Ok(None),
            operand::ARRAY => {
                let array = array::get(self.words[0]).map_err(|_| Error::InvalidValue)?;
                let bytes = array.block.unwrap_or(array.extent[0] / array.descriptor.width.max(1));
                if bytes == 0 { Err(Error::InvalidValue) } else { Ok(Some(bytes)) }
            }
            _ => Err(Error::InvalidValue),
        }
    }

    /// The side of a copy of elements of `bytes` bytes.
    fn side(&self, bytes: u64, [width, height, _]: [u64; 3]) -> Result<Side> {
        let [first, a, b, c] = self.words;
        if self.kind == operand::ARRAY {
            let x = a.checked_mul(bytes).ok_or(Error::InvalidValue)?;
            return Ok(Side { place: Place::Array(first), offset: [x, b, c], pitch: [0; 2] });
        }
        let or_tight = |length: u64, tight: u64| match length {
            0 => Ok(tight),
            _ if length >= tight => Ok(length),
            _ => Err(Error::InvalidValue),
        };
        let row = or_tight(a, width)?.checked_mul(bytes).ok_or(Error::InvalidValue)?;
        let pitch = [row, or_tight(b, height)?];
        Ok(Side { place: Place::Any(first), offset: [0; 3], pitch })
    }
}

pub(super) fn check_attributes(source_order: u32, flags: u32) -> Result<()> {
    let known = SOURCE_ORDERS.contains(&source_order) && flags & !COPY_FLAGS == 0;
    if known { Ok(()) } else { Err(Error::InvalidValue) }
}

impl VolumeCopy {
    fn check(&self, stream: &Stream) -> Result<Copy> {
        let extent = self.extent.map(|n| n as u64);
        check_attributes(self.source_order, self.flags)?;
        let bytes = match (self.from.element()?, self.to.element()?) {
            (Some(from), Some(to)) if from != to => return Err(Error::InvalidValue),
            (Some(bytes), _) | (None, Some(bytes)) => bytes,
            (None, None) => 1,
        };
        let (to, from) = (self.to.side(bytes, extent)?, self.from.side(bytes, extent)?);
        let [width, height, depth] = extent;
        let row = width.checked_mul(bytes).ok_or(Error::InvalidValue)?;
        let transfer = Transfer { to, from, extent: [row, height, depth] };
        // SAFETY: by the contract of the API, the program guarantees memory that the driver does not know.
        unsafe { check_mapped(&transfer, stream) }
    }
}

/// `CUmemDecompressParams`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Compressed {
    pub size: usize,
    pub room: usize,
    pub count: u64,
    pub from: u64,
    pub to: u64,
    pub algorithm: u32,
    pub padding: [u8; 20],
}

impl Compressed {
    fn check(&self, device: &Device) -> Result<Unpack> {
        if self.padding != [0; 20] {
            return Err(Error::InvalidValue);
        }
        let request = Request {
            algorithm: Algorithm::of(self.algorithm)?,
            from: (self.from, self.size as u64),
            to: (self.to, self.room as u64),
            count: self.count,
        };
        Unpack::new(device, request)
    }
}

/// Fails for the streams that batches do not take.
pub(super) fn no_default(handle: Handle) -> Result<()> {
    if matches!(handle, 0 | special::LEGACY) { Err(Error::InvalidValue) } else { Ok(()) }
}

/// Checks a copy of a batch in a stream: memory that the driver does not know must be readable.
///
/// # Safety
/// As for [`Transfer::check`].
pub(super) unsafe fn check_mapped(transfer: &Transfer, stream: &Stream) -> Result<Copy> {
    // SAFETY: the caller's.
    let copy = unsafe { transfer.check() }?.ok_or(Error::InvalidValue)?;
    copy.check_open_in(stream, Rights::OWN)?;
    if copy.is_mapped() { Ok(copy) } else { Err(Error::InvalidValue) }
}

/// Runs a batch of copies; writes the index of an invalid one to `failed`.
fn volumes(count: usize, list: In<VolumeCopy>, failed: Out<usize>, flags: u64, handle: Handle) -> Result<()> {
    failed.set(usize::MAX);
    if count == 0 || count > MAX_BATCH || flags != 0 {
        return Err(Error::InvalidValue);
    }
    no_default(handle)?;
    // A null list is not read.
    list.get()?;
    let stream = stream(handle, false)?;
    stream.refuse_in_capture()?;
    let mut checked = Vec::new();
    for (i, copy) in list.each(count).enumerate() {
        checked.push(copy?.check(&stream).inspect_err(|_| failed.set(i))?);
    }
    checked.into_iter().try_for_each(|copy| stream.submit(Operation::Copy(copy), Policy::Later))
}

/// The arguments of a batch that works on managed memory.
struct Ranges {
    addresses: In<CUdeviceptr>,
    sizes: In<usize>,
    count: usize,
    flags: u64,
    stream: Handle,
    own: bool,
}

/// The locations of a batch, each for the ranges from an index on.
struct Locations {
    list: In<MemLocation>,
    first: In<usize>,
    count: usize,
}

/// Checks a batch, then records its prefetches. Nothing moves, and discarded memory keeps its contents, which
/// the manual leaves open.
fn on_ranges(ranges: &Ranges, locations: Option<&Locations>) -> Result<()> {
    let &Ranges { addresses, sizes, count, flags, stream: handle, own } = ranges;
    if count == 0 || count > MAX_BATCH || flags != 0 {
        return Err(Error::InvalidValue);
    }
    if matches!(handle, 0 | special::LEGACY) && !(own && handle == 0) {
        return Err(Error::InvalidValue);
    }
    check_default(handle)?;
    let devices = driver()?.devices.len();
    let mut all = Vec::new();
    for (address, size) in addresses.each(count).zip(sizes.each(count)) {
        let range = (address?, size? as u64);
        managed::range(range.0, range.1)?;
        all.push(range);
    }
    let mut places: Vec<Location> = Vec::new();
    if let Some(Locations { list, first, count: kinds }) = locations {
        if *kinds == 0 || *kinds > count {
            return Err(Error::InvalidValue);
        }
        let starts = starts(first.each(*kinds), count)?;
        for location in list.each(*kinds) {
            places.push(Location::from(location?).checked(devices).map_err(|_| Error::InvalidValue)?);
        }
        stream(handle, own)?.refuse_in_capture()?;
        for (i, &(address, size)) in all.iter().enumerate() {
            let at = starts.partition_point(|start| *start <= i).saturating_sub(1);
            let to = *places.get(at).ok_or(Error::InvalidValue)?;
            managed::prefetch(address, size, to, devices)?;
        }
        return Ok(());
    }
    stream(handle, own)?.refuse_in_capture()
}

api! {
    Object Refuses fn cuMemcpy3DBatchAsync / cuMemcpy3DBatchAsync_ptsz (
        count: usize, list: In<VolumeCopy>, failed: Out<usize>, flags: u64, in_stream: Handle,
    ) {
        volumes(count, list, failed, flags, in_stream)
    }

    Object Refuses fn cuMemcpy3DBatchAsync_v2 / cuMemcpy3DBatchAsync_v2_ptsz (
        count: usize, list: In<VolumeCopy>, flags: u64, in_stream: Handle,
    ) {
        volumes(count, list, Out::none(), flags, in_stream)
    }

    Object Appends fn cuMemcpy3DWithAttributesAsync / cuMemcpy3DWithAttributesAsync_ptsz (
        copy: In<VolumeCopy>, flags: u64, in_stream: Handle,
    ) |own| {
        check_default(in_stream)?;
        let copy = copy.get()?;
        if flags != 0 {
            return Err(Error::InvalidValue);
        }
        let stream = stream(in_stream, own)?;
        stream.submit(Operation::Copy(copy.check(&stream)?), Policy::Later)
    }

    Object Appends fn cuMemcpyWithAttributesAsync / cuMemcpyWithAttributesAsync_ptsz (
        to: CUdeviceptr, from: CUdeviceptr, size: usize, attributes: In<CopyAttributes>, in_stream: Handle,
    ) |own| {
        check_default(in_stream)?;
        let attributes = attributes.get()?;
        check_attributes(attributes.source_order, attributes.flags)?;
        let transfer = Transfer::line(Place::Any(to), Place::Any(from), size as u64);
        // SAFETY: by the contract of the API, the program guarantees memory that the driver does not know.
        unsafe { transfer.run(|| stream(in_stream, own), false, Rights::OWN) }
    }

    Object Refuses fn cuMemPrefetchBatchAsync / cuMemPrefetchBatchAsync_ptsz (
        addresses: In<CUdeviceptr>, sizes: In<usize>, count: usize, locations: In<MemLocation>,
        first: In<usize>, location_count: usize, flags: u64, in_stream: Handle,
    ) |own| {
        let places = Locations { list: locations, first, count: location_count };
        on_ranges(&Ranges { addresses, sizes, count, flags, stream: in_stream, own }, Some(&places))
    }

    Object Refuses fn cuMemDiscardBatchAsync / cuMemDiscardBatchAsync_ptsz (
        addresses: In<CUdeviceptr>, sizes: In<usize>, count: usize, flags: u64, in_stream: Handle,
    ) |own| {
        on_ranges(&Ranges { addresses, sizes, count, flags, stream: in_stream, own }, None)
    }

    Object Refuses fn cuMemDiscardAndPrefetchBatchAsync / cuMemDiscardAndPrefetchBatchAsync_ptsz (
        addresses: In<CUdeviceptr>, sizes: In<usize>, count: usize, locations: In<MemLocation>,
        first: In<usize>, location_count: usize, flags: u64, in_stream: Handle,
    ) |own| {
        let places = Locations { list: locations, first, count: location_count };
        on_ranges(&Ranges { addresses, sizes, count, flags, stream: in_stream, own }, Some(&places))
    }

    /// Devices without it do not look at the arguments (recorded on an H200).
    Object Invalidates fn cuMemBatchDecompressAsync / cuMemBatchDecompressAsync_ptsz (
        list: In<Compressed>, count: usize, flags: u32, failed: Out<usize>, in_stream: Handle,
    ) |own| {
        check_default(in_stream)?;
        let stream = stream(in_stream, own)?;
        let context = stream.context()?;
        decompress::check_device(&context.device)?;
        failed.set(usize::MAX);
        if count == 0 || count > MAX_BATCH || flags != 0 {
            return Err(Error::InvalidValue);
        }
        let each = list.each(count).enumerate();
        let checked: Result<Vec<Unpack>> =
            each.map(|(i, one)| one?.check(&context.device).inspect_err(|_| failed.set(i))).collect();
        stream.submit(Operation::Decompress(checked?.into()), Policy::Later)
    }
}
