//! Graphs: nodes and edges.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use driver::graph::conditional::Variable;
use driver::graph::work::{Kernel, Kind};
use driver::graph::{self, Edge, Graph, Position, Work, dot, object};
use driver::{Error, Result, driver};

use super::capture::dependencies;
use super::graph_node::{
    self as node, AllocParams, BatchParams, FillParams, HostParams, KernelParams, NodeParams, OldKernelParams,
};
use crate::abi::{In, Out, Text};
use crate::api;
use crate::types::{CUdevice, CUdeviceptr, Handle, Memcpy3D, SemaphoreParams};

/// Adds a node with the work that `make` returns.
fn add(
    out: Out<Handle>,
    graph: Handle,
    nodes: In<Handle>,
    edges: In<[u8; 8]>,
    count: usize,
    make: impl FnOnce(&Position<'_>) -> Result<Work>,
) -> Result<()> {
    out.required()?;
    let graph = graph::get(graph)?;
    let dependencies = graph.listed_for_node(count, dependencies(nodes, edges, count))?;
    let work = make(&Position { graph: &graph, after: &dependencies })?;
    out.set(graph.add(&dependencies, work)?);
    Ok(())
}

/// No edge data.
fn plain() -> In<[u8; 8]> {
    In::at_address(0)
}

/// The space in a list. A list without any is an error (recorded on an H200).
fn room(list: Out<Handle>, count: Out<usize>) -> Result<usize> {
    match count.read()? {
        0 if !list.is_null() => Err(Error::InvalidValue),
        room => Ok(room),
    }
}

fn list(values: &[Handle], out: Out<Handle>, count: Out<usize>) -> Result<()> {
    room(out, count)?;
    out.set_list(values, count)
}

/// As [`Out::set_list`], with the data of edges. Without space for the data, edges that have some are an
/// error.
fn list_with_edges(
    values: &[(Handle, Edge)],
    out: Out<Handle>,
    edges: Out<[u8; 8]>,
    count: Out<usize>,
) -> Result<()> {
    let handles: Vec<Handle> = values.iter().map(|one| one.0).collect();
    if edges.is_null() && !out.is_null() && values.iter().any(|one| !one.1.is_default()) {
        return Err(Error::LossyQuery);
    }
    let room = room(out, count)?;
    if out.is_null() && !edges.is_null() {
        return Err(Error::InvalidValue);
    }
    if !out.is_null() {
        let data: Vec<[u8; 8]> = values.iter().take(room).map(|one| one.1.bytes()).collect();
        edges.set_all(&data);
    }
    out.set_list(&handles, count)
}

fn all_edges(
    graph: Handle,
    from: Out<Handle>,
    to: Out<Handle>,
    edges: Out<[u8; 8]>,
    count: Out<usize>,
) -> Result<()> {
    let all = graph::get(graph)?.edges();
    count.required()?;
    if from.is_null() != to.is_null() {
        return Err(Error::InvalidValue);
    }
    let room = count.read()?;
    let pairs: Vec<(Handle, Edge)> = all.iter().map(|one| (one.0, one.2)).collect();
    let ends: Vec<Handle> = all.iter().map(|one| one.1).collect();
    list_with_edges(&pairs, from, edges, count)?;
    if !to.is_null() {
        to.set_all(&ends[..ends.len().min(room)]);
        for rest in ends.len().min(room)..room {
            to.after(rest).set(0);
        }
    }
    Ok(())
}

/// Edges of a graph from a program: from, to and data.
fn edges(
    graph: &Graph,
    from: In<Handle>,
    to: In<Handle>,
    data: In<[u8; 8]>,
    count: usize,
) -> Result<Vec<(Handle, Handle, Edge)>> {
    let all = dependencies(from, data, count).zip(to.each(count));
    graph.listed_edges(count, all.map(|(from, to)| from.and_then(|(from, edge)| Ok((from, to?, edge)))))
}

/// Calls a function with a node's work if it is of one kind.
macro_rules! work {
    ($node:expr, $variant:ident($inner:ident) => $body:expr) => {
        graph::with_work($node, |work| match work {
            Work::$variant($inner) => $body,
            _ => Err(Error::InvalidValue),
        })
    };
}

/// Writes what a call returns.
fn give<T: Copy>(out: Out<T>, value: T) -> Result<()> {
    out.set(value);
    Ok(())
}

/// The attributes of a kernel node, which new parameters keep.
fn set_kernel<P: Copy + Into<KernelParams>>(handle: Handle, params: In<P>) -> Result<()> {
    let attributes = work!(handle, Kernel(kernel) => Ok(kernel.attributes.clone()))?;
    graph::set_work(handle, node::kernel(&params.get()?.into(), &attributes)?)
}

/// Gives a node of a kind the work that a program describes, once the node is known to be of that kind.
fn set(handle: Handle, kind: Kind, describe: impl FnOnce() -> Result<Work>) -> Result<()> {
    graph::check_kind(handle, kind)?;
    graph::set_work(handle, describe()?)
}

fn change_kernel<T>(handle: Handle, change: impl FnOnce(&mut Kernel) -> Result<T>) -> Result<T> {
    graph::change_work(handle, |work| match work {
        Work::Kernel(kernel) => change(kernel),
        _ => Err(Error::InvalidValue),
    })
}

/// The device with an ordinal.
fn device_of(device: CUdevice) -> Result<&'static std::sync::Arc<driver::device::Device>> {
    driver()?.device(device)
}

/// `CU_USER_OBJECT_NO_DESTRUCTOR_SYNC`, which creation requires.
const NO_DESTRUCTOR_SYNC: u32 = 1;
/// `CU_GRAPH_USER_OBJECT_MOVE`.
const MOVE: u32 = 1;

api! {
    Init Legal fn cuGraphCreate(out: Out<Handle>, flags: u32) {
        out.required()?;
        if flags != 0 {
            return Err(Error::InvalidValue);
        }
        out.set(graph::create()?.handle);
        Ok(())
    }

    Init Legal fn cuGraphDestroy(graph: Handle) {
        graph::destroy(graph)
    }

    Init Legal fn cuGraphClone(out: Out<Handle>, original: Handle) {
        out.required()?;
        out.set(graph::get(original)?.clone_graph()?.handle);
        Ok(())
    }

    Init Legal fn cuGraphNodeFindInClone(out: Out<Handle>, original: Handle, clone: Handle) {
        out.required()?;
        out.set(graph::find_in_clone(original, &*graph::get(clone)?)?);
        Ok(())
    }

    Live Legal fn cuGraphAddKernelNode(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, params: In<OldKernelParams>,
    ) {
        let make = |_: &Position<'_>| node::kernel(&params.get()?.into(), &Default::default());
        add(out, graph, nodes, plain(), count, make)
    }

    Live Legal fn cuGraphAddKernelNode_v2(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, params: In<KernelParams>,
    ) {
        let make = |_: &Position<'_>| node::kernel(&params.get()?, &Default::default());
        add(out, graph, nodes, plain(), count, make)
    }

    Live Legal fn cuGraphAddMemcpyNode(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, params: In<Memcpy3D>, context: Handle,
    ) {
        add(out, graph, nodes, plain(), count, |_| node::copying(&params.get()?, context))
    }

    Live Legal fn cuGraphAddMemsetNode(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, params: In<FillParams>, context: Handle,
    ) {
        add(out, graph, nodes, plain(), count, |_| node::filling(&params.get()?, context))
    }

    Live Legal fn cuGraphAddHostNode(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, params: In<HostParams>,
    ) {
        add(out, graph, nodes, plain(), count, |_| node::host(&params.get()?))
    }

    Live Legal fn cuGraphAddChildGraphNode(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, child: Handle,
    ) {
        add(out, graph, nodes, plain(), count, |_| node::child(child, false))
    }

    Live Legal fn cuGraphAddEmptyNode(out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize) {
        add(out, graph, nodes, plain(), count, |_| Ok(Work::Empty))
    }

    Live Legal fn cuGraphAddEventRecordNode(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, event: Handle,
    ) {
        add(out, graph, nodes, plain(), count, |_| Ok(Work::Record(node::event(event)?)))
    }

    Live Legal fn cuGraphAddEventWaitNode(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, event: Handle,
    ) {
        add(out, graph, nodes, plain(), count, |_| Ok(Work::Wait(node::event(event)?)))
    }

    Live Legal fn cuGraphAddExternalSemaphoresSignalNode(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, params: In<SemaphoreParams>,
    ) {
        add(out, graph, nodes, plain(), count, |_| node::semaphores(&params.get()?, true))
    }

    Live Legal fn cuGraphAddExternalSemaphoresWaitNode(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, params: In<SemaphoreParams>,
    ) {
        add(out, graph, nodes, plain(), count, |_| node::semaphores(&params.get()?, false))
    }

    Live Legal fn cuGraphAddBatchMemOpNode(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, params: In<BatchParams>,
    ) {
        add(out, graph, nodes, plain(), count, |_| node::batch(&params.get()?))
    }

    Live Legal fn cuGraphAddMemAllocNode(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, params: Out<AllocParams>,
    ) {
        add(out, graph, nodes, plain(), count, |at| {
            let asked = params.read()?;
            let (work, address) = node::allocation(&asked, at)?;
            params.set(AllocParams { address, ..asked });
            Ok(work)
        })
    }

    Live Legal fn cuGraphAddMemFreeNode(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, address: CUdeviceptr,
    ) {
        add(out, graph, nodes, plain(), count, |graph| graph.release(address))
    }

    Live Legal fn cuGraphAddNode(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, params: Out<NodeParams>,
    ) {
        add(out, graph, nodes, plain(), count, |at| {
            let mut asked = params.read()?;
            let work = asked.work(at)?;
            params.set(asked);
            Ok(work)
        })
    }

    Live Legal fn cuGraphAddNode_v2(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, edges: In<[u8; 8]>, count: usize,
        params: Out<NodeParams>,
    ) {
        add(out, graph, nodes, edges, count, |at| {
            let mut asked = params.read()?;
            let work = asked.work(at)?;
            params.set(asked);
            Ok(work)
        })
    }

    Live Legal fn cuGraphNodeSetParams(handle: Handle, params: Out<NodeParams>) {
        let graph = graph::graph_of(handle)?;
        let old = graph::with_work(handle, |work| Ok(work.clone()))?;
        graph::set_work(handle, params.read()?.change(&graph, &old)?)
    }

    Init Legal fn cuGraphKernelNodeGetParams(handle: Handle, params: Out<OldKernelParams>) {
        let params = params.required()?;
        work!(handle, Kernel(kernel) => give(params, node::kernel_params(kernel).into()))
    }

    Init Legal fn cuGraphKernelNodeGetParams_v2(handle: Handle, params: Out<KernelParams>) {
        let params = params.required()?;
        work!(handle, Kernel(kernel) => give(params, node::kernel_params(kernel)))
    }

    Live Legal fn cuGraphKernelNodeSetParams(handle: Handle, params: In<OldKernelParams>) {
        set_kernel(handle, params)
    }

    Live Legal fn cuGraphKernelNodeSetParams_v2(handle: Handle, params: In<KernelParams>) {
        set_kernel(handle, params)
    }

    Init Legal fn cuGraphKernelNodeGetAttribute(handle: Handle, number: u32, value: Out<[u64; 8]>) {
        let value = value.required()?;
        work!(handle, Kernel(kernel) => give(value, node::attribute(kernel, number)?))
    }

    Live Legal fn cuGraphKernelNodeSetAttribute(handle: Handle, number: u32, value: In<[u64; 8]>) {
        graph::check_kind(handle, Kind::Kernel)?;
        let given = value.get()?;
        let reported = change_kernel(handle, |kernel| node::set_attribute(kernel, number, given))?;
        if let Some(reported) = reported {
            // The manual's parameter is constant, but the handle is returned in it.
            Out::at(value.address()).set(reported);
        }
        Ok(())
    }

    Live Legal fn cuGraphKernelNodeCopyAttributes(to: Handle, from: Handle) {
        // Attributes of nodes that kernels update are not copied, by the manual.
        let attributes = work!(from, Kernel(kernel) => match &kernel.updatable {
            None => Ok(kernel.attributes.clone()),
            Some(_) => Err(driver::Error::InvalidValue),
        })?;
        change_kernel(to, |kernel| {
            if kernel.updatable.is_some() {
                return Err(driver::Error::InvalidValue);
            }
            *kernel = node::with_attributes(kernel, attributes)?;
            Ok(())
        })
    }

    Init Legal fn cuGraphMemcpyNodeGetParams(handle: Handle, params: Out<Memcpy3D>) {
        let params = params.required()?;
        work!(handle, Copy(copying) => give(params, node::copy_params(copying)))
    }

    Live Legal fn cuGraphMemcpyNodeSetParams(handle: Handle, params: In<Memcpy3D>) {
        let context = work!(handle, Copy(copying) => Ok(copying.context))?;
        graph::set_work(handle, node::copying(&params.get()?, context)?)
    }

    Init Legal fn cuGraphMemsetNodeGetParams(handle: Handle, params: Out<FillParams>) {
        let params = params.required()?;
        work!(handle, Fill(filling) => give(params, node::fill_params(filling)))
    }

    Live Legal fn cuGraphMemsetNodeSetParams(handle: Handle, params: In<FillParams>) {
        let context = work!(handle, Fill(filling) => Ok(filling.context))?;
        graph::set_work(handle, node::filling(&params.get()?, context)?)
    }

    Init Legal fn cuGraphHostNodeGetParams(handle: Handle, params: Out<HostParams>) {
        let params = params.required()?;
        work!(handle, Host(call) => give(params, node::host_params(call)?))
    }

    Live Legal fn cuGraphHostNodeSetParams(handle: Handle, params: In<HostParams>) {
        set(handle, Kind::Host, || node::host(&params.get()?))
    }

    Init Legal fn cuGraphChildGraphNodeGetGraph(handle: Handle, out: Out<Handle>) {
        let out = out.required()?;
        work!(handle, Child(child) => give(out, child.handle))
    }

    Init Legal fn cuGraphEventRecordNodeGetEvent(handle: Handle, out: Out<Handle>) {
        let out = out.required()?;
        work!(handle, Record(event) => give(out, event.handle))
    }

    Live Legal fn cuGraphEventRecordNodeSetEvent(handle: Handle, event: Handle) {
        set(handle, Kind::Record, || Ok(Work::Record(node::event(event)?)))
    }

    Init Legal fn cuGraphEventWaitNodeGetEvent(handle: Handle, out: Out<Handle>) {
        let out = out.required()?;
        work!(handle, Wait(event) => give(out, event.handle))
    }

    Live Legal fn cuGraphEventWaitNodeSetEvent(handle: Handle, event: Handle) {
        set(handle, Kind::Wait, || Ok(Work::Wait(node::event(event)?)))
    }

    Init Legal fn cuGraphExternalSemaphoresSignalNodeGetParams(handle: Handle, params: Out<SemaphoreParams>) {
        let params = params.required()?;
        work!(handle, Semaphores(semaphores) => give(params, node::semaphore_params(semaphores, true)?))
    }

    Live Legal fn cuGraphExternalSemaphoresSignalNodeSetParams(handle: Handle, params: In<SemaphoreParams>) {
        set(handle, Kind::Signal, || node::semaphores(&params.get()?, true))
    }

    Init Legal fn cuGraphExternalSemaphoresWaitNodeGetParams(handle: Handle, params: Out<SemaphoreParams>) {
        let params = params.required()?;
        work!(handle, Semaphores(semaphores) => give(params, node::semaphore_params(semaphores, false)?))
    }

    Live Legal fn cuGraphExternalSemaphoresWaitNodeSetParams(handle: Handle, params: In<SemaphoreParams>) {
        set(handle, Kind::WaitSemaphore, || node::semaphores(&params.get()?, false))
    }

    Init Legal fn cuGraphBatchMemOpNodeGetParams(handle: Handle, params: Out<BatchParams>) {
        let params = params.required()?;
        work!(handle, Batch(batch) => give(params, node::batch_params(batch)))
    }

    Live Legal fn cuGraphBatchMemOpNodeSetParams(handle: Handle, params: In<BatchParams>) {
        set(handle, Kind::Batch, || node::batch(&params.get()?))
    }

    Init Legal fn cuGraphMemAllocNodeGetParams(handle: Handle, params: Out<AllocParams>) {
        let params = params.required()?;
        work!(handle, Allocate(reservation) => give(params, node::allocation_params(reservation)))
    }

    Init Legal fn cuGraphMemFreeNodeGetParams(handle: Handle, address: Out<CUdeviceptr>) {
        let address = address.required()?;
        work!(handle, Free(reservation) => give(address, reservation.address()))
    }

    Init Legal fn cuGraphNodeGetType(handle: Handle, kind: Out<u32>) {
        let kind = kind.required()?;
        graph::with_work(handle, |work| give(kind, work.kind() as u32))
    }

    Init Legal fn cuGraphGetNodes(graph: Handle, nodes: Out<Handle>, count: Out<usize>) {
        list(&graph::get(graph)?.nodes(), nodes, count)
    }

    Init Legal fn cuGraphGetRootNodes(graph: Handle, nodes: Out<Handle>, count: Out<usize>) {
        list(&graph::get(graph)?.roots(), nodes, count)
    }

    Init Legal fn cuGraphGetEdges(graph: Handle, from: Out<Handle>, to: Out<Handle>, count: Out<usize>) {
        all_edges(graph, from, to, Out::none(), count)
    }

    Init Legal fn cuGraphGetEdges_v2(
        graph: Handle, from: Out<Handle>, to: Out<Handle>, edges: Out<[u8; 8]>, count: Out<usize>,
    ) {
        all_edges(graph, from, to, edges, count)
    }

    Init Legal fn cuGraphNodeGetDependencies(handle: Handle, nodes: Out<Handle>, count: Out<usize>) {
        list_with_edges(&graph::dependencies_of(handle)?, nodes, Out::none(), count)
    }

    Init Legal fn cuGraphNodeGetDependencies_v2(
        handle: Handle, nodes: Out<Handle>, edges: Out<[u8; 8]>, count: Out<usize>,
    ) {
        list_with_edges(&graph::dependencies_of(handle)?, nodes, edges, count)
    }

    Init Legal fn cuGraphNodeGetDependentNodes(handle: Handle, nodes: Out<Handle>, count: Out<usize>) {
        list_with_edges(&graph::dependents_of(handle)?, nodes, Out::none(), count)
    }

    Init Legal fn cuGraphNodeGetDependentNodes_v2(
        handle: Handle, nodes: Out<Handle>, edges: Out<[u8; 8]>, count: Out<usize>,
    ) {
        list_with_edges(&graph::dependents_of(handle)?, nodes, edges, count)
    }

    Init Legal fn cuGraphAddDependencies(graph: Handle, from: In<Handle>, to: In<Handle>, count: usize) {
        let graph = graph::get(graph)?;
        graph.add_edges(&edges(&graph, from, to, plain(), count)?)
    }

    Init Legal fn cuGraphAddDependencies_v2(
        graph: Handle, from: In<Handle>, to: In<Handle>, data: In<[u8; 8]>, count: usize,
    ) {
        let graph = graph::get(graph)?;
        graph.add_edges(&edges(&graph, from, to, data, count)?)
    }

    Init Legal fn cuGraphRemoveDependencies(graph: Handle, from: In<Handle>, to: In<Handle>, count: usize) {
        let graph = graph::get(graph)?;
        graph.remove_edges(&edges(&graph, from, to, plain(), count)?)
    }

    Init Legal fn cuGraphRemoveDependencies_v2(
        graph: Handle, from: In<Handle>, to: In<Handle>, data: In<[u8; 8]>, count: usize,
    ) {
        let graph = graph::get(graph)?;
        graph.remove_edges(&edges(&graph, from, to, data, count)?)
    }

    Init Legal fn cuGraphDestroyNode(handle: Handle) {
        graph::destroy_node(handle)
    }

    Live Legal fn cuGraphConditionalHandleCreate(
        out: Out<u64>, graph: Handle, context: Handle, default: u32, flags: u32,
    ) {
        out.required()?;
        let graph = graph::get(graph)?;
        let context = driver::context::get(context)?;
        context.check()?;
        out.set(Variable::create(&graph, &context, default, flags)?);
        Ok(())
    }

    Init Legal fn cuGraphDebugDotPrint(graph: Handle, path: Text, flags: u32) {
        dot::write(&*graph::get(graph)?, OsStr::from_bytes(path.bytes()?), flags)
    }

    Init Legal fn cuUserObjectCreate(
        out: Out<Handle>, data: u64, destructor: Option<extern "C" fn(u64)>, count: u32, flags: u32,
    ) {
        out.required()?;
        if flags != NO_DESTRUCTOR_SYNC {
            return Err(Error::InvalidValue);
        }
        out.set(object::create(data, destructor.ok_or(Error::InvalidValue)?, count)?);
        Ok(())
    }

    Init Legal fn cuUserObjectRetain(handle: Handle, count: u32) {
        object::retain(handle, count)
    }

    Init Legal fn cuUserObjectRelease(handle: Handle, count: u32) {
        object::release(handle, count)
    }

    Init Legal fn cuGraphRetainUserObject(graph: Handle, handle: Handle, count: u32, flags: u32) {
        if flags & !MOVE != 0 {
            return Err(Error::InvalidValue);
        }
        graph::get(graph)?.retain_object(handle, count, flags == MOVE)
    }

    Init Legal fn cuGraphReleaseUserObject(graph: Handle, handle: Handle, count: u32) {
        graph::get(graph)?.release_object(handle, count)
    }

    Init Legal fn cuDeviceGetGraphMemAttribute(device: CUdevice, number: u32, value: Out<u64>) {
        let device = device_of(device)?;
        let bytes = graph::memory::attribute(device, number, graph::memory::Used::UntilTrimmed)?;
        value.required()?.set(bytes);
        Ok(())
    }

    Init Legal fn cuDeviceSetGraphMemAttribute(device: CUdevice, number: u32, value: In<u64>) {
        graph::memory::reset_attribute(device_of(device)?, number, value.get()?)
    }

    Init Legal fn cuDeviceGraphMemTrim(device: CUdevice) {
        graph::memory::trim(device_of(device)?);
        Ok(())
    }
}
