//! What a graph's nodes are: their numbers, which `cuGraphDebugDotPrint` writes, and parameters of any kind.

use driver::Result;
use driver::graph::{self, Work, exec};

use super::graph_node::{self as node, NodeParams};
use crate::abi::Out;
use crate::api;
use crate::types::{CUdeviceptr, Handle};

/// Byte offsets in [`NodeParams`] behind its union's first word.
mod offset {
    /// Where a copy's context and description are.
    pub const COPY_CONTEXT: u64 = 8;
    pub const COPY: u64 = 16;
    /// A fill's context.
    pub const FILL_CONTEXT: u64 = 40;
}

/// Writes the parameters of a node. What they point to belongs to the node.
fn describe(work: &Work, out: Out<NodeParams>) -> Result<()> {
    out.set(NodeParams::empty(work.kind() as u32));
    let union = out.address() + std::mem::offset_of!(NodeParams, words) as u64;
    match work {
        Work::Empty => {}
        Work::Kernel(kernel) => Out::at(union).set(node::kernel_params(kernel)),
        Work::Copy(copying) => {
            Out::at(union + offset::COPY_CONTEXT).set(copying.context);
            Out::at(union + offset::COPY).set(node::copy_params(copying));
        }
        Work::Fill(filling) => {
            Out::at(union).set(node::fill_params(filling));
            Out::at(union + offset::FILL_CONTEXT).set(filling.context);
        }
        Work::Host(call) => Out::at(union).set(node::host_params(call)?),
        Work::Child(child) => Out::at(union).set(child.handle),
        Work::Record(event) | Work::Wait(event) => Out::at(union).set(event.handle),
        Work::Semaphores(semaphores) => {
            Out::at(union).set(node::semaphore_params(semaphores, semaphores.signals())?);
        }
        Work::Allocate(reservation) => Out::at(union).set(node::allocation_params(reservation)),
        Work::Free(reservation) => Out::<CUdeviceptr>::at(union).set(reservation.address()),
        Work::Batch(batch) => Out::at(union).set(node::batch_params(batch)),
        Work::Conditional(conditional) => {
            let count = conditional.bodies.len() as u64;
            Out::at(union).set([
                conditional.variable.handle,
                u64::from(conditional.kind.number()) | count << 32,
                conditional.handles.as_ptr() as u64,
                conditional.context,
            ]);
        }
    }
    Ok(())
}

api! {
    Init Legal fn cuGraphGetId(graph: Handle, id: Out<u32>) {
        let graph = graph::get(graph)?;
        id.required()?.set(graph.id as u32);
        Ok(())
    }

    Init Legal fn cuGraphExecGetId(handle: Handle, id: Out<u32>) {
        let exec = exec::get(handle)?;
        id.required()?.set(exec.graph_id() as u32);
        Ok(())
    }

    Init Legal fn cuGraphNodeGetContainingGraph(handle: Handle, out: Out<Handle>) {
        let graph = graph::graph_of(handle)?;
        out.required()?.set(graph.handle);
        Ok(())
    }

    Init Legal fn cuGraphNodeGetLocalId(handle: Handle, id: Out<u32>) {
        let number = graph::local_id(handle)?;
        id.required()?.set(number);
        Ok(())
    }

    /// The numbers of the graph and of the node, which together are unique in the process.
    Init Legal fn cuGraphNodeGetToolsId(handle: Handle, id: Out<u64>) {
        let (graph, number) = (graph::graph_of(handle)?, graph::local_id(handle)?);
        id.required()?.set(graph.id << 32 | u64::from(number));
        Ok(())
    }

    Init Legal fn cuGraphNodeGetParams(handle: Handle, params: Out<NodeParams>) {
        let params = params.required()?;
        graph::with_work(handle, |work| describe(work, params))
    }
}

const _: () = assert!(std::mem::offset_of!(NodeParams, words) == 16);
