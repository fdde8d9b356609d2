//! The parameters of graph nodes: from C to work of a node, and back.

use std::collections::BTreeMap;
use std::sync::Arc;

use capi::external;
use capi::memory::{MANAGED, PINNED};
use capi::types::{SemaphoreParams, SemaphoreUse};
use driver::event::{self, Event};
use driver::graph::conditional::{Conditional, Kind};
use driver::graph::memory::{Access, Asked};
use driver::graph::work::{Batch, Copying, Filling, Kernel, Name, Semaphores};
use driver::graph::{self, Graph, Position, Work};
use driver::launch::{self, Prepared};
use driver::library::function_or_kernel;
use driver::memory::copy::Fill;
use driver::memory::managed::Location;
use driver::memory::rights::{Rights, User};
use driver::module::Function;
use driver::stream::{HIGHEST_PRIORITY, HostCall};
use driver::{Error, Result, context as contexts, green};

use super::copy::{described, transfer_of};
use super::launch::attribute_id;
use super::word::{MAX_BATCH, described as described_step, steps_of, used_by};
use super::{current, launch as launches};
use crate::abi::In;
use crate::types::{AccessDesc, Handle, LaunchAttribute, LaunchConfig, Memcpy3D, PoolProps};

/// `CUDA_KERNEL_NODE_PARAMS` of CUDA 12.0 and later. The first version lacks the last two fields.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct KernelParams {
    pub function: Handle,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub shared: u32,
    pub params: u64,
    pub extra: u64,
    pub kernel: Handle,
    pub context: Handle,
}

/// `CUDA_KERNEL_NODE_PARAMS` before CUDA 12.0.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct OldKernelParams {
    pub function: Handle,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub shared: u32,
    pub params: u64,
    pub extra: u64,
}

impl From<OldKernelParams> for KernelParams {
    fn from(old: OldKernelParams) -> Self {
        let OldKernelParams { function, grid, block, shared, params, extra } = old;
        KernelParams { function, grid, block, shared, params, extra, kernel: 0, context: 0 }
    }
}

impl From<KernelParams> for OldKernelParams {
    fn from(new: KernelParams) -> Self {
        let KernelParams { function, grid, block, shared, params, extra, .. } = new;
        OldKernelParams { function, grid, block, shared, params, extra }
    }
}

/// `CUDA_MEMSET_NODE_PARAMS`; within `CUgraphNodeParams` a context follows.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct FillParams {
    pub to: u64,
    pub pitch: usize,
    pub value: u32,
    pub element: u32,
    pub width: usize,
    pub height: usize,
}

/// `CUDA_HOST_NODE_PARAMS`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct HostParams {
    pub function: Option<extern "C" fn(u64)>,
    pub data: u64,
}

/// `CUDA_BATCH_MEM_OP_NODE_PARAMS`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct BatchParams {
    pub context: Handle,
    pub count: u32,
    pub operations: u64,
    pub flags: u32,
}

/// `CUDA_MEM_ALLOC_NODE_PARAMS`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct AllocParams {
    pub pool: PoolProps,
    pub access: u64,
    pub access_count: usize,
    pub size: usize,
    pub address: u64,
}

/// `CUgraphNodeParams`: the type, three reserved words, the parameters of the type, and a reserved word.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct NodeParams {
    /// `CUgraphNodeType`.
    pub kind: u32,
    reserved: [u32; 3],
    /// The union.
    pub words: [u64; 29],
    rest: u64,
}

const _: () = assert!(size_of::<NodeParams>() == 256 && size_of::<KernelParams>() == 72);
const _: () = assert!(size_of::<AllocParams>() == 120 && size_of::<FillParams>() == 40);

/// The context that a node's parameters name; null is the current one.
fn context_of(handle: Handle) -> Result<Arc<contexts::Context>> {
    if handle == 0 {
        return current();
    }
    let context = contexts::get(handle)?;
    context.check()?;
    Ok(context)
}

/// The handle of the context that a copy or a fill names; null is the current one.
fn context_handle(handle: Handle) -> Result<Handle> {
    let context = context_of(handle)?;
    Ok(if handle == 0 { context.handle } else { handle })
}

/// The event of a node.
pub(super) fn event(handle: Handle) -> Result<Arc<Event>> {
    if handle == 0 { Err(Error::InvalidValue) } else { event::get(handle) }
}

type Attributes = BTreeMap<u32, [u64; 8]>;

/// A checked launch with attributes.
fn prepare(
    function: Arc<Function>,
    params: &KernelParams,
    attributes: &Attributes,
    buffer: launch::Params,
) -> Result<Prepared> {
    let list: Vec<LaunchAttribute> = attributes
        .iter()
        // It belongs to the node, not to its launches.
        .filter(|(id, _)| **id != attribute_id::DEVICE_UPDATABLE_KERNEL_NODE)
        .map(|(id, value)| LaunchAttribute { id: *id, pad: [0; 4], value: *value })
        .collect();
    let config = LaunchConfig {
        grid: params.grid,
        block: params.block,
        shared: params.shared,
        stream: 0,
        attributes: In::at_address(list.as_ptr() as u64),
        attribute_count: list.len() as u32,
    };
    let mut config = launches::shape(&function, &config)?;
    launch::check(&function, &mut config)?;
    Ok(Prepared::new(function, &config, buffer))
}

/// The work of a kernel node with these attributes.
pub(super) fn kernel(params: &KernelParams, attributes: &Attributes) -> Result<Work> {
    let handle = if params.function == 0 { params.kernel } else { params.function };
    let function = function_or_kernel(handle, || context_of(params.context))?;
    let (buffer, packed) =
        launches::node_params(&function, In::at_address(params.params), In::at_address(params.extra))?;
    let name = Name { function: params.function, kernel: params.kernel, context: params.context, packed };
    let mut launch = prepare(function, params, attributes, buffer)?;
    if params.function == 0 {
        // The context of a function is its module's.
        launch.belongs_to(green::named(params.context));
    }
    Ok(Work::Kernel(Box::new(Kernel::new(launch, name, attributes.clone()))))
}

/// The parameters of a kernel node.
pub(super) fn kernel_params(kernel: &Kernel) -> KernelParams {
    let config = kernel.launch.config();
    let reported = if kernel.reported().is_empty() { 0 } else { kernel.reported().as_ptr() as u64 };
    let named = kernel.name.context;
    KernelParams {
        function: kernel.name.function,
        grid: config.grid,
        block: config.block,
        shared: config.dynamic_shared,
        params: if kernel.name.packed.is_none() { reported } else { 0 },
        extra: if kernel.name.packed.is_some() { reported } else { 0 },
        kernel: kernel.name.kernel,
        context: if named == 0 { kernel.launch.function().module.context.handle } else { named },
    }
}

/// A kernel node with one attribute changed.
pub(super) fn with_attributes(kernel: &Kernel, attributes: Attributes) -> Result<Kernel> {
    let params = KernelParams { params: 0, extra: 0, ..kernel_params(kernel) };
    let function = Arc::clone(kernel.launch.function());
    let mut launch = prepare(function, &params, &attributes, kernel.launch.params().clone())?;
    launch.inherit(&kernel.launch);
    let mut changed = Kernel::new(launch, kernel.name, attributes);
    changed.updatable.clone_from(&kernel.updatable);
    Ok(changed)
}

/// Lets kernels update a kernel node; returns the value of the attribute, with the handle.
pub(super) fn make_updatable(node: Handle) -> Result<[u64; 8]> {
    graph::change_work(node, |work| match work {
        Work::Kernel(kernel) => {
            kernel.make_updatable();
            Ok(attribute(kernel, attribute_id::DEVICE_UPDATABLE_KERNEL_NODE)?)
        }
        _ => Err(Error::InvalidValue),
    })
}

pub(super) fn copying(params: &Memcpy3D, context: Handle) -> Result<Work> {
    let context = context_handle(context)?;
    if params.width == 0 || params.height == 0 || params.depth == 0 {
        return Err(Error::InvalidValue);
    }
    // SAFETY: by the contract of the API, the program guarantees its memory whenever the node runs.
    let copying = unsafe { Copying::new(transfer_of(params)?, context, Rights::OWN) }?;
    Ok(Work::Copy(Box::new(copying)))
}

pub(super) fn filling(params: &FillParams, context: Handle) -> Result<Work> {
    let context = context_handle(context)?;
    let &FillParams { to, pitch, value, element, width, height } = params;
    if !matches!(element, 1 | 2 | 4) || width == 0 || height == 0 {
        return Err(Error::InvalidValue);
    }
    let (pitch, width, height) = (pitch as u64, width as u64, height as u64);
    let fill = Fill { to, pitch, width, height, element, value };
    Ok(Work::Fill(Box::new(Filling::new(fill, context, Rights::OWN)?)))
}

pub(super) fn fill_params(filling: &Filling) -> FillParams {
    let Fill { to, pitch, width, height, element, value } = filling.fill;
    FillParams { to, pitch: pitch as usize, value, element, width: width as usize, height: height as usize }
}

pub(super) fn host(params: &HostParams) -> Result<Work> {
    let function = params.function.ok_or(Error::InvalidValue)?;
    Ok(Work::Host(HostCall::Function { function, data: params.data }))
}

pub(super) fn host_params(call: &HostCall) -> Result<HostParams> {
    match *call {
        HostCall::Function { function, data } => Ok(HostParams { function: Some(function), data }),
        HostCall::Callback { .. } => Err(Error::InvalidValue),
    }
}

pub(super) fn batch(params: &BatchParams) -> Result<Work> {
    contexts::get(params.context).map_err(|_| Error::InvalidValue)?.check()?;
    if params.count > MAX_BATCH || params.flags != 0 {
        return Err(Error::InvalidValue);
    }
    let list = In::at_address(params.operations).list(params.count as usize)?;
    let steps = used_by(steps_of(&list)?, User::named(params.context)?)?;
    Ok(Work::Batch(Box::new(Batch::new(steps, params.context))))
}

pub(super) fn batch_params(batch: &Batch) -> BatchParams {
    let reported = batch.reported(described_step);
    BatchParams {
        context: batch.context,
        count: reported.len() as u32,
        operations: reported.as_ptr() as u64,
        flags: 0,
    }
}

/// The work of an allocation node at a position, and its address.
pub(super) fn allocation(params: &AllocParams, at: &Position<'_>) -> Result<(Work, u64)> {
    let AllocParams { pool, access, access_count, size, .. } = *params;
    let location = Location { kind: pool.location.kind, id: pool.location.id };
    let managed = pool.alloc_type == MANAGED;
    if !managed && pool.alloc_type != PINNED || pool.reserved.iter().any(|byte| *byte != 0) {
        return Err(Error::InvalidValue);
    }
    if pool.handle_types != 0 {
        return Err(Error::NotSupported);
    }
    let access = Access::listed(In::<AccessDesc>::at_address(access).each(access_count).map(|one| {
        let AccessDesc { location, flags } = one?;
        Ok(Access { location: Location { kind: location.kind, id: location.id }, flags })
    }))?;
    let asked = Asked { location, managed, access, size: size as u64 };
    if at.graph.is_child() {
        return Err(Error::NotSupported);
    }
    let work = at.allocation(&*current()?, asked)?;
    let address = if let Work::Allocate(reservation) = &work { reservation.address() } else { 0 };
    Ok((work, address))
}

pub(super) fn allocation_params(reservation: &graph::memory::Reservation) -> AllocParams {
    let Asked { location, managed, access, size } = &reservation.asked;
    AllocParams {
        pool: PoolProps {
            alloc_type: if *managed { MANAGED } else { PINNED },
            handle_types: 0,
            location: crate::types::MemLocation { kind: location.kind, id: location.id },
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

/// A child node's graph: a copy, or the given graph itself if it is handed over.
pub(super) fn child(handle: Handle, handed_over: bool) -> Result<Work> {
    let graph = graph::get(handle)?;
    match handed_over {
        _ if graph.is_owned() => Err(Error::NotSupported),
        true => Ok(Work::Child(graph)),
        false => graph.clone_for_node().map(Work::Child),
    }
}

/// `CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE`.
const MOVED: u32 = 1;

/// Node types, `CUgraphNodeType`.
mod kind {
    pub const KERNEL: u32 = 0;
    pub const MEMCPY: u32 = 1;
    pub const MEMSET: u32 = 2;
    pub const HOST: u32 = 3;
    pub const GRAPH: u32 = 4;
    pub const EMPTY: u32 = 5;
    pub const WAIT_EVENT: u32 = 6;
    pub const EVENT_RECORD: u32 = 7;
    pub const EXT_SEMAS_SIGNAL: u32 = 8;
    pub const EXT_SEMAS_WAIT: u32 = 9;
    pub const MEM_ALLOC: u32 = 10;
    pub const MEM_FREE: u32 = 11;
    pub const BATCH_MEM_OP: u32 = 12;
    pub const CONDITIONAL: u32 = 13;
}

/// The words of the union that each kind of node uses, by `CUgraphNodeType`.
const USED_WORDS: [usize; 14] = [9, 27, 6, 2, 2, 0, 1, 1, 3, 3, 15, 1, 4, 4];

impl NodeParams {
    /// Those of a kind, all 0.
    pub(super) fn empty(kind: u32) -> NodeParams {
        NodeParams { kind, reserved: [0; 3], words: [0; 29], rest: 0 }
    }

    fn read<T: Copy>(&self, from: usize) -> Result<T> {
        let words = self.words.get(from..).ok_or(Error::InvalidValue)?;
        if size_of_val(words) < size_of::<T>() {
            return Err(Error::InvalidValue);
        }
        In::at_address(words.as_ptr() as u64).get()
    }

    /// The new work of a node that does `old`. Kernels keep their attributes.
    ///
    /// # Errors
    /// [`Error::InvalidValue`]: another kind of node. [`Error::NotSupported`]: nodes of this kind keep what
    /// they do.
    pub(super) fn change(&mut self, graph: &Graph, old: &Work) -> Result<Work> {
        if self.kind != old.kind() as u32 {
            return Err(Error::InvalidValue);
        }
        match old {
            Work::Allocate(_) | Work::Free(_) | Work::Conditional(_) => Err(Error::NotSupported),
            Work::Kernel(old) if self.is_plain() => kernel(&self.read(0)?, &old.attributes),
            _ => self.work(&Position { graph, after: &[] }),
        }
    }

    /// Whether all that its kind does not use is 0, as the manual requires.
    fn is_plain(&self) -> bool {
        let used = USED_WORDS.get(self.kind as usize).copied().unwrap_or_default();
        let unused = self.words.iter().skip(used);
        self.reserved == [0; 3] && self.rest == 0 && unused.copied().all(|word| word == 0)
    }

    /// The work of a node at a position. Writes what the call returns in the parameters.
    pub(super) fn work(&mut self, at: &Position<'_>) -> Result<Work> {
        if !self.is_plain() {
            return Err(Error::InvalidValue);
        }
        match self.kind {
            kind::KERNEL => kernel(&self.read(0)?, &Attributes::new()),
            kind::MEMCPY => {
                if self.words[0] != 0 {
                    return Err(Error::InvalidValue);
                }
                copying(&self.read::<Memcpy3D>(2)?, self.words[1])
            }
            kind::MEMSET => filling(&self.read(0)?, self.words[5]),
            kind::HOST => host(&self.read(0)?),
            // With any other ownership the child is copied (recorded on an H200).
            kind::GRAPH => child(self.words[0], self.words[1] as u32 == MOVED),
            kind::EMPTY => Ok(Work::Empty),
            kind::WAIT_EVENT => Ok(Work::Wait(event(self.words[0])?)),
            kind::EVENT_RECORD => Ok(Work::Record(event(self.words[0])?)),
            kind::EXT_SEMAS_SIGNAL => semaphores(&self.read(0)?, true),
            kind::EXT_SEMAS_WAIT => semaphores(&self.read(0)?, false),
            kind::MEM_ALLOC => {
                let (work, address) = allocation(&self.read(0)?, at)?;
                self.words[size_of::<AllocParams>() / 8 - 1] = address;
                Ok(work)
            }
            kind::MEM_FREE => at.release(self.words[0]),
            kind::BATCH_MEM_OP => batch(&self.read(0)?),
            kind::CONDITIONAL => {
                let [handle, kind_and_size, _, context, ..] = self.words;
                let conditional_kind = Kind::from_number(kind_and_size as u32)?;
                let size = (kind_and_size >> 32) as u32;
                if handle == 0 {
                    return Err(Error::InvalidValue);
                }
                let runs_in = contexts::get(context)?;
                runs_in.check()?;
                let conditional = Conditional::new(handle, conditional_kind, size, context, &runs_in)?;
                self.words[2] = conditional.handles.as_ptr() as u64;
                Ok(Work::Conditional(Arc::new(conditional)))
            }
            _ => Err(Error::InvalidValue),
        }
    }
}

/// The attributes that kernel nodes have (recorded on an H200).
const ATTRIBUTES: [u32; 9] = [
    attribute_id::ACCESS_POLICY_WINDOW,
    attribute_id::COOPERATIVE,
    attribute_id::CLUSTER_DIMENSION,
    attribute_id::CLUSTER_SCHEDULING_POLICY,
    attribute_id::PRIORITY,
    attribute_id::MEM_SYNC_DOMAIN_MAP,
    attribute_id::MEM_SYNC_DOMAIN,
    attribute_id::DEVICE_UPDATABLE_KERNEL_NODE,
    attribute_id::PREFERRED_SHARED_MEMORY_CARVEOUT,
];

/// The value of an attribute of a kernel node.
pub(super) fn attribute(kernel: &Kernel, number: u32) -> Result<[u64; 8]> {
    if !ATTRIBUTES.contains(&number) {
        return Err(Error::InvalidValue);
    }
    Ok(kernel.attributes.get(&number).copied().unwrap_or_default())
}

/// Sets an attribute of a kernel node. What is returned goes back into the value.
pub(super) fn set_attribute(
    kernel: &mut Kernel,
    number: u32,
    mut value: [u64; 8],
) -> Result<Option<[u64; 8]>> {
    match number {
        attribute_id::DEVICE_UPDATABLE_KERNEL_NODE => {
            match (value[0] as u32, &kernel.updatable) {
                (0, None) => return Ok(None),
                (1, Some(_)) => {}
                (1, None) => kernel.make_updatable(),
                // What kernels may update once, they may for good.
                _ => return Err(Error::InvalidValue),
            }
            return attribute(kernel, number).map(Some);
        }
        // It can be set, but not read.
        attribute_id::NVLINK_UTIL_CENTRIC_SCHEDULING => {}
        attribute_id::PRIORITY => {
            let priority = (value[0] as u32 as i32).clamp(HIGHEST_PRIORITY, 0);
            value[0] = u64::from(priority as u32);
        }
        number if ATTRIBUTES.contains(&number) => {}
        _ => return Err(Error::InvalidValue),
    }
    let mut attributes = kernel.attributes.clone();
    attributes.insert(number, value);
    *kernel = with_attributes(kernel, attributes)?;
    Ok(None)
}

/// A copy node's description.
pub(super) fn copy_params(copying: &Copying) -> Memcpy3D {
    described(&copying.asked)
}

/// A node that signals external semaphores, or waits for them.
pub(super) fn semaphores(params: &SemaphoreParams, signal: bool) -> Result<Work> {
    external::node::<SemaphoreUse>(params, signal)
}

/// The parameters of a node that signals, or of one that waits.
pub(super) fn semaphore_params(semaphores: &Semaphores, signal: bool) -> Result<SemaphoreParams> {
    external::node_params::<SemaphoreUse>(semaphores, signal)
}
