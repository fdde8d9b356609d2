//! The parameters of graph nodes: from C to work of a node, and back.

use std::collections::BTreeMap;
use std::sync::Arc;

use driver::graph::memory::{Access, Asked, Reservation};
use driver::graph::work::{Batch, Copying, Filling, Kernel, Name};
use driver::graph::{self, Position, Work};
use driver::launch::Prepared;
use driver::memory::copy::Fill;
use driver::memory::managed::{DEVICE, Location};
use driver::memory::rights::Rights;
use driver::memory::transfer::{Place, Side, Transfer};
use driver::stream::{HostCall, LOWEST_PRIORITY};
use driver::{event, memory};

use capi::memory::PINNED;
use capi::types::{AccessDesc, MemLocation, PoolProps};

use super::copy::check_kind;
use super::device::HIGHEST_PRIORITY;
use super::launch::{self as launches, Launch};
use super::rect::{SIX, described_by_driver, transfer_of, volume_described, volume_transfer};
use super::stream::{MAX_BATCH, described, steps_of};
use super::symbol;
use crate::abi::In;
use crate::current::{self, Handle};
use crate::types::{
    AllocNodeParams, BatchNodeParams, CopyNodeParams, DriverFillNodeParams, FillNodeParams, HostNodeParams,
    KernelNodeParams, Memcpy3D, Memcpy3DParameters, NodeParams,
};
use crate::{Error, Result, registered};

/// The attributes of a kernel node, by number.
pub(super) type Attributes = BTreeMap<u32, [u64; 8]>;

/// `hipKernelNodeAttrID`.
mod attribute {
    pub const ACCESS_POLICY_WINDOW: u32 = 1;
    pub const COOPERATIVE: u32 = 2;
    pub const CLUSTER_DIMENSION: u32 = 4;
    pub const PRIORITY: u32 = 8;
}

/// Whether attributes ask for a cooperative launch.
fn is_cooperative(attributes: &Attributes) -> bool {
    attributes.get(&attribute::COOPERATIVE).is_some_and(|value| value[0] as u32 != 0)
}

/// The work of a kernel node with these attributes.
pub(super) fn kernel(params: &KernelNodeParams, attributes: &Attributes) -> Result<Work> {
    if params.function == 0 {
        return Err(Error::InvalidValue);
    }
    let function = launches::stub_in(params.function, current::context()?)?;
    let cluster = attributes.get(&attribute::CLUSTER_DIMENSION);
    let cluster = cluster.map(|value| [value[0] as u32, (value[0] >> 32) as u32, value[1] as u32]);
    let launch = Launch::of_grid(params.grid, params.block, u64::from(params.shared), params.params)
        .with_buffer(params.extra)
        .with(is_cooperative(attributes), cluster);
    let (mut config, buffer) = launch.prepare(&function)?;
    if launch.too_large() {
        return Err(Error::InvalidConfiguration);
    }
    launches::complete(&function, &mut config)?;
    let name = Name { function: params.function, ..Name::default() };
    let launch = Prepared::new(function, &config, buffer);
    Ok(Work::Kernel(Box::new(Kernel::new(launch, name, attributes.clone()))))
}

/// The parameters of a kernel node. A kernel that was captured is named by its host stub, if it has one.
pub(super) fn kernel_params(kernel: &Kernel) -> KernelNodeParams {
    let (config, function) = (kernel.launch.config(), kernel.launch.function());
    let captured = kernel.name.function == function.handle || kernel.name.function == 0;
    let stub = if captured { registered::stub_of(function) } else { None };
    let pointers = kernel.reported();
    KernelNodeParams {
        block: config.block,
        extra: In::at_address(0),
        function: stub.unwrap_or(if captured { function.handle } else { kernel.name.function }),
        grid: config.grid,
        params: In::at_address(if pointers.is_empty() { 0 } else { pointers.as_ptr() as u64 }),
        shared: config.dynamic_shared,
    }
}

/// A kernel node with other attributes.
pub(super) fn with_attributes(kernel: &Kernel, attributes: Attributes) -> Result<Work> {
    let function = Arc::clone(kernel.launch.function());
    let mut config = kernel.launch.config();
    config.cooperative = is_cooperative(&attributes);
    launches::complete(&function, &mut config)?;
    let launch = Prepared::new(function, &config, kernel.launch.params().clone());
    Ok(Work::Kernel(Box::new(Kernel::new(launch, kernel.name, attributes))))
}

/// Checks the number of an attribute of kernel nodes.
pub(super) fn check_attribute(number: u32) -> Result<()> {
    match number {
        attribute::ACCESS_POLICY_WINDOW | attribute::COOPERATIVE | attribute::PRIORITY => Ok(()),
        _ => Err(Error::InvalidValue),
    }
}

/// Attributes that the words of `hipKernelNodeAttrValue` changed.
pub(super) fn set_attribute(
    attributes: &mut Attributes,
    number: u32,
    value: impl Fn(usize) -> Result<u64>,
) -> Result<()> {
    /// `hipAccessPropertyPersisting`.
    const PERSISTING: u32 = 2;
    check_attribute(number)?;
    let mut words = [value(0)?, 0, 0, 0, 0, 0, 0, 0];
    match number {
        attribute::ACCESS_POLICY_WINDOW => {
            for (i, word) in words.iter_mut().enumerate().take(4) {
                *word = value(i)?;
            }
            let [_, hit, miss, bytes, ..] = words;
            let (ratio, miss) = (f32::from_bits((hit >> 32) as u32), miss as u32);
            // The device has no window: only an empty one fits.
            if !(0.0..=1.0).contains(&ratio) || miss == PERSISTING || bytes > 0 {
                return Err(Error::InvalidValue);
            }
        }
        attribute::PRIORITY => {
            let priority = words[0] as u32 as i32;
            if !(HIGHEST_PRIORITY..=LOWEST_PRIORITY).contains(&priority) {
                return Err(Error::InvalidValue);
            }
            words[0] = u64::from(words[0] as u32);
        }
        _ => words[0] = u64::from(words[0] as u32),
    }
    attributes.insert(number, words);
    Ok(())
}

/// The number of 32-bit words of an attribute's value.
pub(super) fn attribute_words(number: u32) -> usize {
    if number == attribute::ACCESS_POLICY_WINDOW { 8 } else { 1 }
}

/// What is noted about a copy: its direction, and the widths of the source's and the destination's rows.
fn note(kind: u32, widths: [usize; 2]) -> [u64; 3] {
    [u64::from(kind) + 1, widths[0] as u64, widths[1] as u64]
}

fn copying(transfer: Transfer, note: [u64; 3]) -> Result<Work> {
    // SAFETY: by the contract of the API, the program guarantees its memory whenever the node runs.
    let mut copying = unsafe { Copying::new(transfer, current::context()?.handle, Rights::Ignored) }?;
    copying.note = note;
    Ok(Work::Copy(Box::new(copying)))
}

/// The work of a node for `hipMemcpy3DParms`.
pub(super) fn volume(params: &Memcpy3DParameters) -> Result<Work> {
    let widths = [params.src_pointer.width, params.dst_pointer.width];
    copying(volume_transfer(params)?, note(params.kind, widths))
}

/// The work of a node for `HIP_MEMCPY3D`.
pub(super) fn driver_volume(params: &Memcpy3D, types: &capi::copy::MemoryTypes) -> Result<Work> {
    copying(transfer_of(params, types)?, [0; 3])
}

/// The work of a node that copies contiguous bytes.
pub(super) fn line(to: u64, from: u64, size: usize, kind: u32) -> Result<Work> {
    const HOST_TO_DEVICE: u32 = 1;
    const DEVICE_TO_HOST: u32 = 2;
    const DEFAULT: u32 = 4;
    if to == 0 || from == 0 || size == 0 {
        return Err(Error::InvalidValue);
    }
    check_kind(kind)?;
    let wanted = match (memory::find(from).is_some(), memory::find(to).is_some()) {
        (false, true) => HOST_TO_DEVICE,
        (true, false) => DEVICE_TO_HOST,
        _ => kind,
    };
    if kind != wanted && kind != DEFAULT {
        return Err(Error::InvalidValue);
    }
    copying(Transfer::line(Place::Any(to), Place::Any(from), size as u64), note(kind, [size; 2]))
}

/// The work of a node that copies to or from a variable.
pub(super) fn symbol_copy(copy: &symbol::Copy) -> Result<Work> {
    if copy.other == 0 || copy.size == 0 {
        return Err(Error::InvalidValue);
    }
    copying(copy.transfer()?, note(copy.kind, [copy.size; 2]))
}

/// The direction of a copy that none was noted for, by the memory of its sides.
fn direction(transfer: &Transfer) -> u32 {
    let on_device = |side: &Side| match side.place {
        Place::Array(_) => true,
        Place::Host(address) | Place::Device(address) | Place::Any(address) => {
            memory::find(address).is_some_and(|allocation| !allocation.on_host())
        }
    };
    u32::from(on_device(&transfer.to)) | u32::from(on_device(&transfer.from)) << 1
}

pub(super) fn volume_params(copying: &Copying) -> Memcpy3DParameters {
    let transfer = &copying.asked;
    match copying.note {
        [0, ..] => {
            let width = |side: &Side| side.pitch[0].max(side.offset[0].saturating_add(transfer.extent[0]));
            volume_described(transfer, direction(transfer), [width(&transfer.from), width(&transfer.to)])
        }
        [kind, from, to] => volume_described(transfer, (kind - 1) as u32, [from, to]),
    }
}

pub(super) fn driver_volume_params(copying: &Copying) -> Memcpy3D {
    described_by_driver(&copying.asked)
}

pub(super) use super::rect::FIVE as TYPES_IN_5;
pub(super) const TYPES: capi::copy::MemoryTypes = SIX;

pub(super) fn filling(params: &FillNodeParams) -> Result<Work> {
    let &FillNodeParams { to, element, height, pitch, value, width } = params;
    if to == 0 || width == 0 || height == 0 || !matches!(element, 1 | 2 | 4) {
        return Err(Error::InvalidValue);
    }
    let (pitch, width, height) = (pitch as u64, width as u64, height as u64);
    let all = pitch.checked_mul(height).ok_or(Error::InvalidValue)?;
    if memory::find(to).is_some_and(|allocation| all > allocation.size) {
        return Err(Error::InvalidValue);
    }
    // Where a size wraps around, the CUDA driver's hardware faults; HIP refuses it.
    let row = width.checked_mul(element.into()).filter(|row| to.checked_add(*row).is_some());
    row.ok_or(Error::InvalidValue)?;
    let fill = Fill { to, pitch, width, height, element, value };
    Ok(Work::Fill(Box::new(Filling::new(fill, current::context()?.handle, Rights::Ignored)?)))
}

pub(super) fn fill_params(filling: &Filling) -> FillNodeParams {
    let Fill { to, pitch, width, height, element, value } = filling.fill;
    FillNodeParams {
        to,
        element,
        height: height as usize,
        pitch: pitch as usize,
        value,
        width: width as usize,
    }
}

impl From<DriverFillNodeParams> for FillNodeParams {
    fn from(params: DriverFillNodeParams) -> Self {
        let DriverFillNodeParams { to, pitch, value, element, width, height } = params;
        FillNodeParams { to, element, height, pitch, value, width }
    }
}

pub(super) fn host(params: &HostNodeParams) -> Result<Work> {
    let function = params.function.ok_or(Error::InvalidValue)?;
    Ok(Work::Host(HostCall::Function { function, data: params.data }))
}

pub(super) fn host_params(call: &HostCall) -> driver::Result<HostNodeParams> {
    match *call {
        HostCall::Function { function, data } => Ok(HostNodeParams { function: Some(function), data }),
        HostCall::Callback { .. } => Err(driver::Error::InvalidValue),
    }
}

/// The work of a node that records an event.
pub(super) fn record(handle: Handle) -> Result<Work> {
    Ok(Work::Record(event_of(handle)?))
}

/// The work of a node that waits for an event.
pub(super) fn wait(handle: Handle) -> Result<Work> {
    Ok(Work::Wait(event_of(handle)?))
}

/// An event; null is an invalid value, an unknown one an invalid handle.
fn event_of(handle: Handle) -> Result<Arc<event::Event>> {
    if handle == 0 { Err(Error::InvalidValue) } else { event::get(handle).map_err(|_| Error::InvalidHandle) }
}

/// A child node's graph: a copy.
pub(super) fn child(handle: Handle) -> Result<Work> {
    Ok(Work::Child(graph::get(handle)?.clone_for_node()?))
}

pub(super) fn batch(params: &BatchNodeParams) -> Result<Work> {
    let BatchNodeParams { context, count, operations, flags } = *params;
    if operations == 0 || flags != 0 || !(1..=MAX_BATCH).contains(&count) {
        return Err(Error::InvalidValue);
    }
    Ok(Work::Batch(Box::new(Batch::new(steps_of(In::at_address(operations), count)?, context))))
}

pub(super) fn batch_params(batch: &Batch) -> BatchNodeParams {
    let reported = batch.reported(described);
    BatchNodeParams {
        context: batch.context,
        count: reported.len() as u32,
        operations: reported.as_ptr() as u64,
        flags: 0,
    }
}

/// The work of an allocation node, and its address.
pub(super) fn allocation(params: &AllocNodeParams, at: &Position<'_>) -> Result<(Work, u64)> {
    let AllocNodeParams { pool, access, access_count, size, .. } = *params;
    if size == 0 || pool.alloc_type != PINNED || pool.location.kind != DEVICE {
        return Err(Error::InvalidValue);
    }
    let location = |location: MemLocation| Location { kind: location.kind, id: location.id };
    let access = Access::listed(In::<AccessDesc>::at_address(access).each(access_count).map(|one| {
        let AccessDesc { location: at, flags } = one?;
        Ok(Access { location: location(at), flags })
    }))?;
    let location = location(pool.location);
    let work =
        at.allocation(&*current::context()?, Asked { location, managed: false, access, size: size as u64 })?;
    let address = if let Work::Allocate(reservation) = &work { reservation.address() } else { 0 };
    Ok((work, address))
}

pub(super) fn allocation_params(reservation: &Reservation) -> AllocNodeParams {
    let Asked { location, access, size, .. } = &reservation.asked;
    AllocNodeParams {
        pool: PoolProps {
            alloc_type: PINNED,
            handle_types: 0,
            location: MemLocation { kind: location.kind, id: location.id },
            security: 0,
            max_size: 0,
            usage: 0,
            reserved: [0; 54],
        },
        access: if access.is_empty() { 0 } else { access.as_ptr() as u64 },
        access_count: access.len(),
        size: *size as usize,
        address: reservation.address(),
    }
}

/// Node types, `hipGraphNodeType`. A copy from or to a variable is a copy (clr, hip_graph_internal.hpp).
pub(super) mod kind {
    pub const KERNEL: u32 = 0;
    pub const MEMCPY: u32 = 1;
    pub const MEMSET: u32 = 2;
    pub const HOST: u32 = 3;
    pub const GRAPH: u32 = 4;
    pub const EMPTY: u32 = 5;
    pub const WAIT_EVENT: u32 = 6;
    pub const EVENT_RECORD: u32 = 7;
    pub const EXT_SEMAPHORE_SIGNAL: u32 = 8;
    pub const EXT_SEMAPHORE_WAIT: u32 = 9;
    pub const MEM_ALLOC: u32 = 10;
    pub const MEM_FREE: u32 = 11;
    pub const BATCH_MEM_OP: u32 = 14;
}

/// The type of a node; `None` for one that HIP has no type for.
pub(super) fn kind_of(work: &Work) -> Option<u32> {
    use driver::graph::work::Kind;
    Some(match work.kind() {
        Kind::Kernel => kind::KERNEL,
        Kind::Copy => kind::MEMCPY,
        Kind::Fill => kind::MEMSET,
        Kind::Host => kind::HOST,
        Kind::Child => kind::GRAPH,
        Kind::Empty => kind::EMPTY,
        Kind::Wait => kind::WAIT_EVENT,
        Kind::Record => kind::EVENT_RECORD,
        Kind::Signal => kind::EXT_SEMAPHORE_SIGNAL,
        Kind::WaitSemaphore => kind::EXT_SEMAPHORE_WAIT,
        Kind::Allocate => kind::MEM_ALLOC,
        Kind::Free => kind::MEM_FREE,
        Kind::Batch => kind::BATCH_MEM_OP,
        Kind::Conditional => return None,
    })
}

impl NodeParams {
    fn read<T: Copy>(&self) -> Result<T> {
        const { assert!(size_of::<T>() <= 29 * 8) };
        Ok(In::at_address(self.words.as_ptr() as u64).get()?)
    }

    /// The work of a new node of a graph. Writes the address of an allocation.
    pub(super) fn work(&mut self, at: &Position<'_>) -> Result<Work> {
        match self.kind {
            kind::MEM_ALLOC => {
                let (work, address) = allocation(&self.read()?, at)?;
                self.words[size_of::<AllocNodeParams>() / 8 - 1] = address;
                Ok(work)
            }
            kind::MEM_FREE if self.words[0] != 0 => Ok(at.release(self.words[0])?),
            kind::MEM_FREE => Err(Error::InvalidValue),
            _ => self.changed(&Attributes::new()),
        }
    }

    /// The work that a node gets, of a type that can be changed. A kernel gets these attributes.
    pub(super) fn changed(&self, attributes: &Attributes) -> Result<Work> {
        match self.kind {
            kind::KERNEL => kernel(&self.read()?, attributes),
            kind::MEMCPY => volume(&self.read::<CopyNodeParams>()?.copy),
            kind::MEMSET => filling(&self.read()?),
            kind::HOST => host(&self.read()?),
            kind::GRAPH => child(self.words[0]),
            kind::WAIT_EVENT => wait(self.words[0]),
            kind::EVENT_RECORD => record(self.words[0]),
            kind::EXT_SEMAPHORE_SIGNAL | kind::EXT_SEMAPHORE_WAIT | kind::MEM_ALLOC | kind::MEM_FREE => {
                Err(Error::NotSupported)
            }
            _ => Err(Error::InvalidValue),
        }
    }
}
