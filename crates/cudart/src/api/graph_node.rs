//! Nodes of graphs whose parameters the runtime and the driver spell differently: kernels, copies, fills, and
//! the form that all kinds share.

use std::mem::offset_of;

use driver::context;

use crate::abi::{In, Out, bytes_at};
use crate::error::checked;
use crate::types::{Copy3D, Extent, KernelParams, Memcpy3D, Pitched};
use crate::{Error, Result, api, cu, forward, registered};

use super::memory::{runtime_volume, symbol, volume};

/// A kernel's parameters in the driver's form.
fn kernel(params: In<KernelParams>) -> Result<KernelParams> {
    let params = params.get()?;
    let function = registered::function_of(params.function, false);
    // Recorded on an H200; launches of such a kernel say that there is no image.
    let function = function.map_err(|e| if e == Error::NO_KERNEL_IMAGE { Error::INVALID_HANDLE } else { e });
    Ok(KernelParams { function: function?, ..params })
}

/// The copy of a line.
fn line(to: u64, from: u64, count: usize, kind: u32) -> Result<Memcpy3D> {
    let pitched = |pointer| Pitched { pointer, pitch: count, width: count, height: 1 };
    let extent = Extent { width: count, height: 1, depth: 1 };
    volume(&Copy3D { from: pitched(from), to: pitched(to), extent, kind, ..Copy3D::default() })
}

fn own_context() -> u64 {
    context::current_handle()
}

/// `cudaGraphNodeParams` and `CUgraphNodeParams`: 256 bytes, the kind first and its own structure from byte
/// 16 on.
type NodeParams = [u64; 32];

/// `cudaGraphNodeType`.
mod kind {
    pub const KERNEL: u32 = 0;
    pub const COPY: u32 = 1;
    pub const FILL: u32 = 2;
    pub const ALLOCATION: u32 = 10;
    pub const CONDITIONAL: u32 = 13;
}

/// Words of [`NodeParams`]: where the kind's structure begins, and fields that only the driver has.
mod word {
    pub const OWN: usize = 2;
    pub const KERNEL_HANDLE: usize = 9;
    pub const KERNEL_CONTEXT: usize = 10;
    pub const COPY_CONTEXT: usize = 3;
    pub const COPY: usize = 4;
    pub const FILL_CONTEXT: usize = 7;
    pub const CONDITIONAL_CONTEXT: usize = 5;
}

/// Sets a word.
fn put(words: &mut NodeParams, at: usize, value: u64) {
    if let Some(word) = words.get_mut(at) {
        *word = value;
    }
}

/// The driver's form of a node's parameters.
fn node(params: In<NodeParams>) -> Result<NodeParams> {
    let mut words = params.get()?;
    let at = |word: usize| params.address().wrapping_add(8 * word as u64);
    match words[0] as u32 {
        kind::KERNEL => {
            let function = registered::function_of(words[word::OWN], false)?;
            put(&mut words, word::OWN, function);
            put(&mut words, word::KERNEL_HANDLE, 0);
            put(&mut words, word::KERNEL_CONTEXT, 0);
        }
        kind::COPY => {
            let copy = volume(&In::<Copy3D>::at_address(at(word::COPY)).get()?)?;
            let bytes = bytes_at(&raw const copy as u64, size_of::<Memcpy3D>());
            for (i, eight) in bytes.chunks_exact(8).enumerate() {
                put(&mut words, word::COPY + i, u64::from_ne_bytes(eight.try_into().unwrap_or_default()));
            }
            put(&mut words, word::COPY_CONTEXT, own_context());
        }
        kind::FILL => put(&mut words, word::FILL_CONTEXT, own_context()),
        kind::CONDITIONAL => put(&mut words, word::CONDITIONAL_CONTEXT, own_context()),
        _ => {}
    }
    Ok(words)
}

/// The runtime's form of what the driver says of a node.
fn described(mut words: NodeParams) -> Result<NodeParams> {
    match words[0] as u32 {
        kind::KERNEL => {
            let named = registered::name_of(words[word::OWN]);
            put(&mut words, word::OWN, named);
            put(&mut words, word::KERNEL_HANDLE, 0);
            put(&mut words, word::KERNEL_CONTEXT, 0);
        }
        kind::COPY => {
            let at = &raw const words[word::COPY] as u64;
            let copy = runtime_volume(&In::<Memcpy3D>::at_address(at).get()?)?;
            words[word::COPY_CONTEXT..].fill(0);
            let bytes = bytes_at(&raw const copy as u64, size_of::<Copy3D>());
            for (i, eight) in bytes.chunks_exact(8).enumerate() {
                put(&mut words, word::COPY + i, u64::from_ne_bytes(eight.try_into().unwrap_or_default()));
            }
        }
        kind::FILL => put(&mut words, word::FILL_CONTEXT, 0),
        kind::CONDITIONAL => put(&mut words, word::CONDITIONAL_CONTEXT, 0),
        _ => {}
    }
    Ok(words)
}

fn add_node(
    out: Out<u64>,
    graph: u64,
    after: u64,
    edges: u64,
    count: usize,
    params: In<NodeParams>,
) -> Result<()> {
    let mut made = node(params)?;
    let kind = made[0] as u32;
    checked(cu::cuGraphAddNode_v2(out.address(), graph, after, edges, count, made.as_mut_ptr() as u64))?;
    // These tell what they have made.
    if matches!(kind, kind::ALLOCATION | kind::CONDITIONAL) {
        if kind == kind::CONDITIONAL {
            put(&mut made, word::CONDITIONAL_CONTEXT, 0);
        }
        Out::at(params.address()).set(made);
    }
    Ok(())
}

/// A copy with one end in a variable.
struct SymbolCopy {
    host: u64,
    other: u64,
    count: usize,
    offset: usize,
    kind: u32,
}

impl SymbolCopy {
    fn to(self) -> Result<Memcpy3D> {
        line(symbol(self.host, self.offset, self.count)?, self.other, self.count, self.kind)
    }

    fn from(self) -> Result<Memcpy3D> {
        line(self.other, symbol(self.host, self.offset, self.count)?, self.count, self.kind)
    }
}

forward! {
    Driver fn cudaGraphMemsetNodeGetParams(node: u64, params: u64) = cuGraphMemsetNodeGetParams;
    Driver fn cudaGraphMemsetNodeSetParams(node: u64, params: u64) = cuGraphMemsetNodeSetParams;
}

api! {
    Context Inherits fn cudaGraphConditionalHandleCreate(out: Out<u64>, graph: u64, value: u32, flags: u32) {
        checked(cu::cuGraphConditionalHandleCreate(out.address(), graph, own_context(), value, flags))
    }

    Context Inherits fn cudaGraphConditionalHandleCreate_v2(
        out: Out<u64>, graph: u64, context: u64, value: u32, flags: u32,
    ) {
        let context = if context == 0 { own_context() } else { context };
        checked(cu::cuGraphConditionalHandleCreate(out.address(), graph, context, value, flags))
    }

    Context Inherits fn cudaGraphAddKernelNode(
        out: Out<u64>, graph: u64, after: u64, count: usize, params: In<KernelParams>,
    ) {
        checked(cu::cuGraphAddKernelNode(out.address(), graph, after, count, &kernel(params)?))
    }

    Context Inherits fn cudaGraphKernelNodeGetParams(node: u64, params: Out<KernelParams>) {
        let zero = Default::default();
        let mut found = KernelParams { function: 0, grid: zero, block: zero, shared: 0, params: 0, extra: 0 };
        params.required()?;
        checked(cu::cuGraphKernelNodeGetParams(node, &mut found))?;
        params.set(KernelParams { function: registered::name_of(found.function), ..found });
        Ok(())
    }

    Context Inherits fn cudaGraphKernelNodeSetParams(node: u64, params: In<KernelParams>) {
        checked(cu::cuGraphKernelNodeSetParams(node, &kernel(params)?))
    }

    Context Inherits fn cudaGraphExecKernelNodeSetParams(exec: u64, node: u64, params: In<KernelParams>) {
        checked(cu::cuGraphExecKernelNodeSetParams(exec, node, &kernel(params)?))
    }

    Context Inherits fn cudaGraphAddMemcpyNode(
        out: Out<u64>, graph: u64, after: u64, count: usize, copy: In<Copy3D>,
    ) {
        let made = volume(&copy.get()?)?;
        checked(cu::cuGraphAddMemcpyNode(out.address(), graph, after, count, &made, own_context()))
    }

    Context Inherits fn cudaGraphAddMemcpyNode1D(
        out: Out<u64>, graph: u64, after: u64, count: usize, to: u64, from: u64, size: usize, kind: u32,
    ) {
        let made = line(to, from, size, kind)?;
        checked(cu::cuGraphAddMemcpyNode(out.address(), graph, after, count, &made, own_context()))
    }

    Context Inherits fn cudaGraphAddMemcpyNodeToSymbol(
        out: Out<u64>, graph: u64, after: u64, count: usize, host: u64, other: u64, size: usize, offset: usize,
        kind: u32,
    ) {
        let made = SymbolCopy { host, other, count: size, offset, kind }.to()?;
        checked(cu::cuGraphAddMemcpyNode(out.address(), graph, after, count, &made, own_context()))
    }

    Context Inherits fn cudaGraphAddMemcpyNodeFromSymbol(
        out: Out<u64>, graph: u64, after: u64, count: usize, other: u64, host: u64, size: usize, offset: usize,
        kind: u32,
    ) {
        let made = SymbolCopy { host, other, count: size, offset, kind }.from()?;
        checked(cu::cuGraphAddMemcpyNode(out.address(), graph, after, count, &made, own_context()))
    }

    Context Inherits fn cudaGraphMemcpyNodeGetParams(node: u64, copy: Out<Copy3D>) {
        copy.required()?;
        let mut found = Memcpy3D::default();
        checked(cu::cuGraphMemcpyNodeGetParams(node, &mut found))?;
        copy.set(runtime_volume(&found)?);
        Ok(())
    }

    Context Inherits fn cudaGraphMemcpyNodeSetParams(node: u64, copy: In<Copy3D>) {
        checked(cu::cuGraphMemcpyNodeSetParams(node, &volume(&copy.get()?)?))
    }

    Context Inherits fn cudaGraphMemcpyNodeSetParams1D(node: u64, to: u64, from: u64, size: usize, kind: u32) {
        checked(cu::cuGraphMemcpyNodeSetParams(node, &line(to, from, size, kind)?))
    }

    Context Inherits fn cudaGraphMemcpyNodeSetParamsToSymbol(
        node: u64, host: u64, other: u64, count: usize, offset: usize, kind: u32,
    ) {
        checked(cu::cuGraphMemcpyNodeSetParams(node, &SymbolCopy { host, other, count, offset, kind }.to()?))
    }

    Context Inherits fn cudaGraphMemcpyNodeSetParamsFromSymbol(
        node: u64, other: u64, host: u64, count: usize, offset: usize, kind: u32,
    ) {
        checked(cu::cuGraphMemcpyNodeSetParams(node, &SymbolCopy { host, other, count, offset, kind }.from()?))
    }

    Context Inherits fn cudaGraphExecMemcpyNodeSetParams(exec: u64, node: u64, copy: In<Copy3D>) {
        checked(cu::cuGraphExecMemcpyNodeSetParams(exec, node, &volume(&copy.get()?)?, own_context()))
    }

    Context Inherits fn cudaGraphExecMemcpyNodeSetParams1D(
        exec: u64, node: u64, to: u64, from: u64, size: usize, kind: u32,
    ) {
        checked(cu::cuGraphExecMemcpyNodeSetParams(exec, node, &line(to, from, size, kind)?, own_context()))
    }

    Context Inherits fn cudaGraphExecMemcpyNodeSetParamsToSymbol(
        exec: u64, node: u64, host: u64, other: u64, count: usize, offset: usize, kind: u32,
    ) {
        let made = SymbolCopy { host, other, count, offset, kind }.to()?;
        checked(cu::cuGraphExecMemcpyNodeSetParams(exec, node, &made, own_context()))
    }

    Context Inherits fn cudaGraphExecMemcpyNodeSetParamsFromSymbol(
        exec: u64, node: u64, other: u64, host: u64, count: usize, offset: usize, kind: u32,
    ) {
        let made = SymbolCopy { host, other, count, offset, kind }.from()?;
        checked(cu::cuGraphExecMemcpyNodeSetParams(exec, node, &made, own_context()))
    }

    Context Inherits fn cudaGraphAddMemsetNode(out: Out<u64>, graph: u64, after: u64, count: usize, params: u64) {
        checked(cu::cuGraphAddMemsetNode(out.address(), graph, after, count, params, own_context()))
    }

    Context Inherits fn cudaGraphExecMemsetNodeSetParams(exec: u64, node: u64, params: u64) {
        checked(cu::cuGraphExecMemsetNodeSetParams(exec, node, params, own_context()))
    }

    Context Inherits fn cudaGraphAddNode(
        out: Out<u64>, graph: u64, after: u64, edges: u64, count: usize, params: In<NodeParams>,
    ) {
        add_node(out, graph, after, edges, count, params)
    }

    Context Inherits fn cudaGraphAddNode_v2(
        out: Out<u64>, graph: u64, after: u64, edges: u64, count: usize, params: In<NodeParams>,
    ) {
        add_node(out, graph, after, edges, count, params)
    }

    Context Inherits fn cudaGraphAddNode_in_12(
        out: Out<u64>, graph: u64, after: u64, count: usize, params: In<NodeParams>,
    ) {
        add_node(out, graph, after, 0, count, params)
    }

    Context Inherits fn cudaGraphNodeGetParams(handle: u64, params: Out<NodeParams>) {
        params.required()?;
        let mut words: NodeParams = [0; 32];
        checked(cu::cuGraphNodeGetParams(handle, words.as_mut_ptr() as u64))?;
        params.set(described(words)?);
        Ok(())
    }

    Context Inherits fn cudaGraphNodeSetParams(handle: u64, params: In<NodeParams>) {
        checked(cu::cuGraphNodeSetParams(handle, node(params)?.as_mut_ptr() as u64))
    }

    Context Inherits fn cudaGraphExecNodeSetParams(exec: u64, handle: u64, params: In<NodeParams>) {
        checked(cu::cuGraphExecNodeSetParams(exec, handle, node(params)?.as_mut_ptr() as u64))
    }
}

const _: () = assert!(offset_of!(Memcpy3D, depth) == 192 && size_of::<Copy3D>() == 160);
