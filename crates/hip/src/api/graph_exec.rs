//! Executable graphs.

use std::sync::Arc;

use driver::graph::exec::{self, Exec, Refusal, flag};
use driver::graph::update::{self, Failure, Outcome, Rules};
use driver::graph::{self, Work};

use super::graph_node::check_symbol;
use super::graph_params::{self as node, Attributes};
use super::symbol::Copy;
use crate::abi::{In, Out};
use crate::current::{Handle, stream};
use crate::types::{
    BatchNodeParams, DriverFillNodeParams, FillNodeParams, HostNodeParams, InstantiateParams,
    KernelNodeParams, Memcpy3D, Memcpy3DParameters, NodeParams,
};
use crate::{Error, Result, api};

/// Instantiates a graph.
fn instantiate(out: Out<Handle>, graph: Handle, flags: u64) -> std::result::Result<(), Refusal> {
    out.required()?;
    out.set(exec::instantiate(&graph::get(graph)?, flags)?);
    Ok(())
}

/// HIP takes one flag of these, or none.
fn check_flags(flags: u64, known: &[u64]) -> Result<()> {
    if flags == 0 || known.contains(&flags) { Ok(()) } else { Err(Error::InvalidValue) }
}

/// `hipGraphInstantiateError`.
const INSTANTIATE_ERROR: u32 = 1;
/// `hipGraphExecUpdateErrorParametersChanged`.
const PARAMETERS_CHANGED: u32 = 5;

/// The number in `hipGraphExecUpdateResult`, which has none for attributes.
fn update_result(outcome: Outcome) -> u32 {
    match outcome {
        Outcome::AttributesChanged => PARAMETERS_CHANGED,
        other => other as u32,
    }
}

/// An executable graph, and a check that it has a node of a kind.
pub(super) fn exec_with(handle: Handle, of: Handle, is: impl FnOnce(&Work) -> bool) -> Result<Arc<Exec>> {
    let exec = exec::get(handle)?;
    exec.with_work(of, |work| if is(work) { Ok(()) } else { Err(driver::Error::InvalidValue) })?;
    Ok(exec)
}

/// The attributes of a kernel node, which new parameters keep.
fn attributes_of(exec: &Exec, of: Handle) -> Result<Attributes> {
    Ok(exec.with_work(of, |work| match work {
        Work::Kernel(kernel) => Ok(kernel.attributes.clone()),
        _ => Err(driver::Error::InvalidValue),
    })?)
}

/// Replaces the graph of a child node. HIP has an error of its own for a graph of another structure.
fn set_child(exec: &Exec, of: Handle, child: &graph::Graph) -> Result<()> {
    exec.set_child(Rules::Hip, of, child).map_err(|_| Error::Unknown)
}

api! {
    /// As in HIP, the node and the log are not written.
    Context Legal fn hipGraphInstantiate(
        out: Out<Handle>, graph: Handle, _failed: Out<Handle>, _log: Out<u8>, _room: usize,
    ) {
        Ok(instantiate(out, graph, 0).map_err(|refusal| refusal.error)?)
    }

    Context Legal fn hipGraphInstantiateWithFlags(out: Out<Handle>, graph: Handle, flags: u64) {
        check_flags(flags, &[flag::AUTO_FREE_ON_LAUNCH, flag::USE_NODE_PRIORITY])?;
        Ok(instantiate(out, graph, flags).map_err(|refusal| refusal.error)?)
    }

    /// With the flag for uploads the stream must exist.
    Context Legal fn hipGraphInstantiateWithParams(
        out: Out<Handle>, graph: Handle, params: Out<InstantiateParams>,
    ) {
        out.required()?;
        let mut asked = params.read()?;
        graph::get(graph)?;
        let known =
            [flag::AUTO_FREE_ON_LAUNCH, flag::UPLOAD, flag::DEVICE_LAUNCH, flag::USE_NODE_PRIORITY];
        if let Err(error) = check_flags(asked.flags, &known) {
            asked.result = INSTANTIATE_ERROR;
            params.set(asked);
            return Err(error);
        }
        let outcome = instantiate(out, graph, asked.flags);
        (asked.result, asked.node) = match &outcome {
            Ok(()) => (0, 0),
            Err(refusal) => (refusal.reason as u32, refusal.node),
        };
        params.set(asked);
        outcome.map_err(|refusal| refusal.error)?;
        if asked.flags == flag::UPLOAD {
            stream(asked.upload, false)?;
        }
        Ok(())
    }

    Device Legal fn hipGraphExecDestroy(handle: Handle) {
        Ok(exec::destroy(handle)?)
    }

    Device Legal fn hipGraphExecGetFlags(handle: Handle, flags: Out<u64>) {
        let exec = exec::get(handle)?;
        flags.required()?.set(exec.flags);
        Ok(())
    }

    /// There is nothing to upload: nodes run from the host's memory.
    Context Legal fn hipGraphUpload(handle: Handle, in_stream: Handle) {
        if handle == 0 {
            return Err(Error::InvalidValue);
        }
        stream(in_stream, false)?;
        exec::get(handle)?;
        Ok(())
    }

    Context Appends fn hipGraphLaunch / hipGraphLaunch_spt (handle: Handle, in_stream: Handle) |own| {
        let exec = exec::get(handle)?;
        Ok(exec.launch(&stream(in_stream, own)?)?)
    }

    Context Legal fn hipGraphExecUpdate(handle: Handle, graph: Handle, failed: Out<Handle>, result: Out<u32>) {
        let (failed, result) = (failed.required()?, result.required()?);
        let (exec, graph) = (exec::get(handle)?, graph::get(graph)?);
        match update::update(&exec, &graph, Rules::Hip) {
            Ok(()) => {
                result.set(0);
                Ok(())
            }
            Err(Failure { outcome, node, .. }) => {
                failed.set(node);
                result.set(update_result(outcome));
                Err(Error::GraphExecUpdateFailure)
            }
        }
    }

    Context Legal fn hipGraphExecKernelNodeSetParams(handle: Handle, of: Handle, params: In<KernelNodeParams>) {
        let exec = exec::get(handle)?;
        let attributes = attributes_of(&exec, of)?;
        Ok(exec.set_work(Rules::Hip, of, node::kernel(&params.get()?, &attributes)?)?)
    }

    Context Legal fn hipGraphExecMemcpyNodeSetParams(
        handle: Handle, of: Handle, params: In<Memcpy3DParameters>,
    ) {
        let exec = exec_with(handle, of, |work| matches!(work, Work::Copy(_)))?;
        // Any error in the description is an invalid value here.
        let work = node::volume(&params.get()?).map_err(|_| Error::InvalidValue)?;
        Ok(exec.set_work(Rules::Hip, of, work)?)
    }

    Context Legal fn hipGraphExecMemcpyNodeSetParams1D(
        handle: Handle, of: Handle, to: u64, from: u64, size: usize, kind: u32,
    ) {
        let exec = exec_with(handle, of, |work| matches!(work, Work::Copy(_)))?;
        if to == from {
            return Err(Error::InvalidValue);
        }
        Ok(exec.set_work(Rules::Hip, of, node::line(to, from, size, kind)?)?)
    }

    Context Legal fn hipGraphExecMemcpyNodeSetParamsFromSymbol(
        handle: Handle, of: Handle, other: u64, symbol: u64, size: usize, offset: usize, kind: u32,
    ) {
        check_symbol(symbol, other)?;
        let exec = exec_with(handle, of, |work| matches!(work, Work::Copy(_)))?;
        let copy = Copy { symbol, other, size, offset, kind, to_symbol: false };
        Ok(exec.set_work(Rules::Hip, of, node::symbol_copy(&copy)?)?)
    }

    Context Legal fn hipGraphExecMemcpyNodeSetParamsToSymbol(
        handle: Handle, of: Handle, symbol: u64, other: u64, size: usize, offset: usize, kind: u32,
    ) {
        check_symbol(symbol, other)?;
        let exec = exec_with(handle, of, |work| matches!(work, Work::Copy(_)))?;
        let copy = Copy { symbol, other, size, offset, kind, to_symbol: true };
        Ok(exec.set_work(Rules::Hip, of, node::symbol_copy(&copy)?)?)
    }

    Context Legal fn hipDrvGraphExecMemcpyNodeSetParams(
        handle: Handle, of: Handle, params: In<Memcpy3D>, _context: Handle,
    ) {
        let exec = exec_with(handle, of, |work| matches!(work, Work::Copy(_)))?;
        let work = node::driver_volume(&params.get()?, &node::TYPES).map_err(|_| Error::InvalidValue)?;
        Ok(exec.set_work(Rules::Hip, of, work)?)
    }

    Context Legal fn hipGraphExecMemsetNodeSetParams(handle: Handle, of: Handle, params: In<FillNodeParams>) {
        let exec = exec_with(handle, of, |work| matches!(work, Work::Fill(_)))?;
        Ok(exec.set_work(Rules::Hip, of, node::filling(&params.get()?)?)?)
    }

    Context Legal fn hipDrvGraphExecMemsetNodeSetParams(
        handle: Handle, of: Handle, params: In<DriverFillNodeParams>, _context: Handle,
    ) {
        let exec = exec_with(handle, of, |work| matches!(work, Work::Fill(_)))?;
        Ok(exec.set_work(Rules::Hip, of, node::filling(&params.get()?.into())?)?)
    }

    Context Legal fn hipDrvGraphExecMemsetNodeSetParams_in_7(
        handle: Handle, of: Handle, params: In<FillNodeParams>, _context: Handle,
    ) {
        let exec = exec_with(handle, of, |work| matches!(work, Work::Fill(_)))?;
        Ok(exec.set_work(Rules::Hip, of, node::filling(&params.get()?)?)?)
    }

    Context Legal fn hipGraphExecHostNodeSetParams(handle: Handle, of: Handle, params: In<HostNodeParams>) {
        let exec = exec_with(handle, of, |work| matches!(work, Work::Host(_)))?;
        Ok(exec.set_work(Rules::Hip, of, node::host(&params.get()?)?)?)
    }

    Context Legal fn hipGraphExecChildGraphNodeSetParams(handle: Handle, of: Handle, child: Handle) {
        let exec = exec_with(handle, of, |work| matches!(work, Work::Child(_)))?;
        set_child(&exec, of, &*graph::get(child)?)
    }

    Context Legal fn hipGraphExecEventRecordNodeSetEvent(handle: Handle, of: Handle, event: Handle) {
        let exec = exec_with(handle, of, |work| matches!(work, Work::Record(_)))?;
        Ok(exec.set_work(Rules::Hip, of, node::record(event)?)?)
    }

    Context Legal fn hipGraphExecEventWaitNodeSetEvent(handle: Handle, of: Handle, event: Handle) {
        let exec = exec_with(handle, of, |work| matches!(work, Work::Wait(_)))?;
        Ok(exec.set_work(Rules::Hip, of, node::wait(event)?)?)
    }

    Context Legal fn hipGraphExecBatchMemOpNodeSetParams(
        handle: Handle, of: Handle, params: In<BatchNodeParams>,
    ) {
        let exec = exec_with(handle, of, |work| matches!(work, Work::Batch(_)))?;
        Ok(exec.set_work(Rules::Hip, of, node::batch(&params.get()?)?)?)
    }

    Context Legal fn hipGraphExecNodeSetParams(handle: Handle, of: Handle, params: In<NodeParams>) {
        let exec = exec_with(handle, of, |_| true)?;
        let params = params.get()?;
        let attributes = attributes_of(&exec, of).unwrap_or_default();
        match params.changed(&attributes)? {
            work @ Work::Child(_) => {
                let Work::Child(child) = &work else { return Err(Error::InvalidValue) };
                let outcome = exec_with(handle, of, |work| matches!(work, Work::Child(_)))
                    .and_then(|exec| set_child(&exec, of, child));
                // The copy that was made for the call.
                work.abandon();
                outcome
            }
            work => Ok(exec.set_work(Rules::Hip, of, work)?),
        }
    }

    Device Legal fn hipGraphNodeSetEnabled(handle: Handle, of: Handle, enabled: u32) {
        Ok(exec::get(handle)?.enable(of, enabled != 0)?)
    }

    Device Legal fn hipGraphNodeGetEnabled(handle: Handle, of: Handle, enabled: Out<u32>) {
        let enabled = enabled.required()?;
        enabled.set(u32::from(exec::get(handle)?.is_enabled(of)?));
        Ok(())
    }
}
