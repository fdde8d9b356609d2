//! The nodes of graphs: adding them, and their parameters.

use driver::graph::{self, Graph, Position, Work};

use super::capture::dependencies;
use super::graph_params::{self as node, Attributes};
use super::symbol::Copy;
use crate::abi::{In, Out};
use crate::current::Handle;
use crate::types::{
    AllocNodeParams, BatchNodeParams, DriverFillNodeParams, FillNodeParams, HostNodeParams, KernelNodeParams,
    Memcpy3D, Memcpy3DIn5, Memcpy3DParameters, NodeParams,
};
use crate::{Error, Result, api};

/// Adds a node with the work that `make` returns.
pub(super) fn add(
    out: Out<Handle>,
    graph: Handle,
    nodes: In<Handle>,
    count: usize,
    make: impl FnOnce(&Position<'_>) -> Result<Work>,
) -> Result<()> {
    out.required()?;
    let graph = graph::get(graph)?;
    let dependencies = graph.listed_for_node(count, dependencies(nodes, count))?;
    let work = make(&Position { graph: &graph, after: &dependencies })?;
    out.set(graph.add(&dependencies, work)?);
    Ok(())
}

/// Calls a function with a node's work if it is of one kind.
macro_rules! work {
    ($node:expr, $variant:ident($inner:ident) => $body:expr) => {
        graph::with_work($node, |work| match work {
            Work::$variant($inner) => $body,
            _ => Err(driver::Error::InvalidValue),
        })
    };
}

/// The attributes of a kernel node, which new parameters keep.
fn attributes_of(handle: Handle) -> Result<Attributes> {
    Ok(work!(handle, Kernel(kernel) => Ok(kernel.attributes.clone()))?)
}

/// Checks that there is a node of one kind, before its parameters are read.
macro_rules! expect {
    ($node:expr, $variant:ident) => {
        graph::with_work($node, |work| match work {
            Work::$variant(..) => Ok(()),
            _ => Err(driver::Error::InvalidValue),
        })?
    };
}

fn release(graph: &Graph, address: u64, nodes: In<Handle>, count: usize) -> Result<Work> {
    if address == 0 || count == 0 && !nodes.is_null() {
        return Err(Error::InvalidValue);
    }
    Ok(graph.release(address)?)
}

/// Checks the arguments of a change of a copy from or to a variable; without a variable its code is
/// [`Error::InvalidSymbol`].
pub(super) fn check_symbol(symbol: u64, other: u64) -> Result<()> {
    match symbol {
        0 => Err(Error::InvalidSymbol),
        _ if symbol == other => Err(Error::InvalidValue),
        _ => Ok(()),
    }
}

api! {
    Context Legal fn hipGraphAddKernelNode(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, params: In<KernelNodeParams>,
    ) {
        add(out, graph, nodes, count, |_| node::kernel(&params.get()?, &Attributes::new()))
    }

    Context Legal fn hipGraphAddMemcpyNode(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, params: In<Memcpy3DParameters>,
    ) {
        add(out, graph, nodes, count, |_| node::volume(&params.get()?))
    }

    Context Legal fn hipGraphAddMemcpyNode1D(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, to: u64, from: u64, size: usize,
        kind: u32,
    ) {
        add(out, graph, nodes, count, |_| node::line(to, from, size, kind))
    }

    Context Legal fn hipGraphAddMemcpyNodeFromSymbol(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, other: u64, symbol: u64, size: usize,
        offset: usize, kind: u32,
    ) {
        let copy = Copy { symbol, other, size, offset, kind, to_symbol: false };
        add(out, graph, nodes, count, |_| node::symbol_copy(&copy))
    }

    Context Legal fn hipGraphAddMemcpyNodeToSymbol(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, symbol: u64, other: u64, size: usize,
        offset: usize, kind: u32,
    ) {
        let copy = Copy { symbol, other, size, offset, kind, to_symbol: true };
        add(out, graph, nodes, count, |_| node::symbol_copy(&copy))
    }

    Context Legal fn hipGraphAddMemsetNode(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, params: In<FillNodeParams>,
    ) {
        add(out, graph, nodes, count, |_| node::filling(&params.get()?))
    }

    Context Legal fn hipGraphAddHostNode(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, params: In<HostNodeParams>,
    ) {
        add(out, graph, nodes, count, |_| node::host(&params.get()?))
    }

    Context Legal fn hipGraphAddChildGraphNode(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, child: Handle,
    ) {
        add(out, graph, nodes, count, |_| node::child(child))
    }

    Context Legal fn hipGraphAddEmptyNode(out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize) {
        add(out, graph, nodes, count, |_| Ok(Work::Empty))
    }

    Context Legal fn hipGraphAddEventRecordNode(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, event: Handle,
    ) {
        add(out, graph, nodes, count, |_| node::record(event))
    }

    Context Legal fn hipGraphAddEventWaitNode(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, event: Handle,
    ) {
        add(out, graph, nodes, count, |_| node::wait(event))
    }

    Context Legal fn hipGraphAddMemAllocNode(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, params: Out<AllocNodeParams>,
    ) {
        add(out, graph, nodes, count, |at| {
            let asked = params.read()?;
            params.set(AllocNodeParams { address: 0, ..asked });
            let (work, address) = node::allocation(&asked, at)?;
            params.set(AllocNodeParams { address, ..asked });
            Ok(work)
        })
    }

    Context Legal fn hipGraphAddMemFreeNode(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, address: u64,
    ) {
        add(out, graph, nodes, count, |graph| release(graph, address, nodes, count))
    }

    Context Legal fn hipGraphAddBatchMemOpNode(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, params: In<BatchNodeParams>,
    ) {
        add(out, graph, nodes, count, |_| node::batch(&params.get()?))
    }

    Context Legal fn hipGraphAddNode(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, params: Out<NodeParams>,
    ) {
        add(out, graph, nodes, count, |graph| {
            let mut asked = params.read()?;
            let work = asked.work(graph)?;
            params.set(asked);
            Ok(work)
        })
    }

    Context Legal fn hipDrvGraphAddMemcpyNode(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, params: In<Memcpy3D>, context: Handle,
    ) {
        if context == 0 {
            return Err(Error::InvalidValue);
        }
        add(out, graph, nodes, count, |_| node::driver_volume(&params.get()?, &node::TYPES))
    }

    Context Legal fn hipDrvGraphAddMemcpyNode_in_5(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, params: In<Memcpy3DIn5>, context: Handle,
    ) {
        if context == 0 {
            return Err(Error::InvalidValue);
        }
        add(out, graph, nodes, count, |_| node::driver_volume(&params.get()?.into(), &node::TYPES_IN_5))
    }

    Context Legal fn hipDrvGraphAddMemsetNode(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, params: In<DriverFillNodeParams>,
        _context: Handle,
    ) {
        add(out, graph, nodes, count, |_| node::filling(&params.get()?.into()))
    }

    // HIP 7 removed the structure.
    Context Legal fn hipDrvGraphAddMemsetNode_in_7(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, params: In<FillNodeParams>, _context: Handle,
    ) {
        add(out, graph, nodes, count, |_| node::filling(&params.get()?))
    }

    Context Legal fn hipDrvGraphAddMemFreeNode(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, address: u64,
    ) {
        add(out, graph, nodes, count, |graph| release(graph, address, nodes, count))
    }

    Device Legal fn hipGraphKernelNodeGetParams(handle: Handle, params: Out<KernelNodeParams>) {
        let params = params.required()?;
        params.set(work!(handle, Kernel(kernel) => Ok(node::kernel_params(kernel)))?);
        Ok(())
    }

    Context Legal fn hipGraphKernelNodeSetParams(handle: Handle, params: In<KernelNodeParams>) {
        let attributes = attributes_of(handle)?;
        Ok(graph::set_work(handle, node::kernel(&params.get()?, &attributes)?)?)
    }

    Device Legal fn hipGraphKernelNodeGetAttribute(handle: Handle, number: u32, value: Out<u32>) {
        value.required()?;
        node::check_attribute(number)?;
        let words = attributes_of(handle)?.get(&number).copied().unwrap_or_default();
        for i in 0..node::attribute_words(number) {
            value.after(i).set((words[i / 2] >> (i % 2 * 32)) as u32);
        }
        Ok(())
    }

    Context Legal fn hipGraphKernelNodeSetAttribute(handle: Handle, number: u32, value: In<u32>) {
        value.get()?;
        node::check_attribute(number)?;
        let kernel = work!(handle, Kernel(kernel) => Ok(kernel.clone()))?;
        let mut attributes = kernel.attributes.clone();
        // Only the member of the union for this attribute is the program's.
        let last = node::attribute_words(number);
        node::set_attribute(&mut attributes, number, |i| {
            let half = |i: usize| if i < last { value.at(i).map(u64::from) } else { Ok(0) };
            Ok(half(2 * i)? | half(2 * i + 1)? << 32)
        })?;
        Ok(graph::set_work(handle, node::with_attributes(&kernel, attributes)?)?)
    }

    /// HIP refuses to replace attributes by others than those that are set.
    Context Legal fn hipGraphKernelNodeCopyAttributes(from: Handle, to: Handle) {
        let attributes = attributes_of(from)?;
        let kernel = work!(to, Kernel(kernel) => Ok(kernel.clone()))?;
        if !kernel.attributes.is_empty() && !kernel.attributes.keys().eq(attributes.keys()) {
            return Err(Error::InvalidContext);
        }
        Ok(graph::set_work(to, node::with_attributes(&kernel, attributes)?)?)
    }

    Device Legal fn hipGraphMemcpyNodeGetParams(handle: Handle, params: Out<Memcpy3DParameters>) {
        let params = params.required()?;
        params.set(work!(handle, Copy(copying) => Ok(node::volume_params(copying)))?);
        Ok(())
    }

    Context Legal fn hipGraphMemcpyNodeSetParams(handle: Handle, params: In<Memcpy3DParameters>) {
        expect!(handle, Copy);
        Ok(graph::set_work(handle, node::volume(&params.get()?)?)?)
    }

    Context Legal fn hipGraphMemcpyNodeSetParams1D(handle: Handle, to: u64, from: u64, size: usize, kind: u32) {
        expect!(handle, Copy);
        if to == from {
            return Err(Error::InvalidValue);
        }
        Ok(graph::set_work(handle, node::line(to, from, size, kind)?)?)
    }

    Context Legal fn hipGraphMemcpyNodeSetParamsFromSymbol(
        handle: Handle, other: u64, symbol: u64, size: usize, offset: usize, kind: u32,
    ) {
        check_symbol(symbol, other)?;
        expect!(handle, Copy);
        let copy = Copy { symbol, other, size, offset, kind, to_symbol: false };
        Ok(graph::set_work(handle, node::symbol_copy(&copy)?)?)
    }

    Context Legal fn hipGraphMemcpyNodeSetParamsToSymbol(
        handle: Handle, symbol: u64, other: u64, size: usize, offset: usize, kind: u32,
    ) {
        check_symbol(symbol, other)?;
        expect!(handle, Copy);
        let copy = Copy { symbol, other, size, offset, kind, to_symbol: true };
        Ok(graph::set_work(handle, node::symbol_copy(&copy)?)?)
    }

    Device Legal fn hipDrvGraphMemcpyNodeGetParams(handle: Handle, params: Out<Memcpy3D>) {
        let params = params.required()?;
        params.set(work!(handle, Copy(copying) => Ok(node::driver_volume_params(copying)))?);
        Ok(())
    }

    Context Legal fn hipDrvGraphMemcpyNodeSetParams(handle: Handle, params: In<Memcpy3D>) {
        expect!(handle, Copy);
        Ok(graph::set_work(handle, node::driver_volume(&params.get()?, &node::TYPES)?)?)
    }

    Device Legal fn hipGraphMemsetNodeGetParams(handle: Handle, params: Out<FillNodeParams>) {
        let params = params.required()?;
        params.set(work!(handle, Fill(filling) => Ok(node::fill_params(filling)))?);
        Ok(())
    }

    Context Legal fn hipGraphMemsetNodeSetParams(handle: Handle, params: In<FillNodeParams>) {
        expect!(handle, Fill);
        Ok(graph::set_work(handle, node::filling(&params.get()?)?)?)
    }

    Device Legal fn hipGraphHostNodeGetParams(handle: Handle, params: Out<HostNodeParams>) {
        let params = params.required()?;
        params.set(work!(handle, Host(call) => node::host_params(call))?);
        Ok(())
    }

    Context Legal fn hipGraphHostNodeSetParams(handle: Handle, params: In<HostNodeParams>) {
        expect!(handle, Host);
        Ok(graph::set_work(handle, node::host(&params.get()?)?)?)
    }

    Device Legal fn hipGraphChildGraphNodeGetGraph(handle: Handle, out: Out<Handle>) {
        let out = out.required()?;
        out.set(work!(handle, Child(child) => Ok(child.handle))?);
        Ok(())
    }

    Device Legal fn hipGraphEventRecordNodeGetEvent(handle: Handle, out: Out<Handle>) {
        let out = out.required()?;
        out.set(work!(handle, Record(event) => Ok(event.handle))?);
        Ok(())
    }

    Context Legal fn hipGraphEventRecordNodeSetEvent(handle: Handle, event: Handle) {
        expect!(handle, Record);
        Ok(graph::set_work(handle, node::record(event)?)?)
    }

    Device Legal fn hipGraphEventWaitNodeGetEvent(handle: Handle, out: Out<Handle>) {
        let out = out.required()?;
        out.set(work!(handle, Wait(event) => Ok(event.handle))?);
        Ok(())
    }

    Context Legal fn hipGraphEventWaitNodeSetEvent(handle: Handle, event: Handle) {
        expect!(handle, Wait);
        Ok(graph::set_work(handle, node::wait(event)?)?)
    }

    Device Legal fn hipGraphMemAllocNodeGetParams(handle: Handle, params: Out<AllocNodeParams>) {
        let params = params.required()?;
        params.set(work!(handle, Allocate(reservation) => Ok(node::allocation_params(reservation)))?);
        Ok(())
    }

    Device Legal fn hipGraphMemFreeNodeGetParams(handle: Handle, address: Out<u64>) {
        let address = address.required()?;
        address.set(work!(handle, Free(reservation) => Ok(reservation.address()))?);
        Ok(())
    }

    Device Legal fn hipGraphBatchMemOpNodeGetParams(handle: Handle, params: Out<BatchNodeParams>) {
        let params = params.required()?;
        params.set(work!(handle, Batch(batch) => Ok(node::batch_params(batch)))?);
        Ok(())
    }

    Context Legal fn hipGraphBatchMemOpNodeSetParams(handle: Handle, params: In<BatchNodeParams>) {
        expect!(handle, Batch);
        Ok(graph::set_work(handle, node::batch(&params.get()?)?)?)
    }

    Context Legal fn hipGraphNodeSetParams(handle: Handle, params: In<NodeParams>) {
        graph::graph_of(handle)?;
        let params = params.get()?;
        let attributes = attributes_of(handle).unwrap_or_default();
        Ok(graph::set_work(handle, params.changed(&attributes)?)?)
    }
}
