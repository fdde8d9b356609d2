//! Executable graphs.

use driver::graph::exec::{self, Reason, Refusal, flag};
use driver::graph::update::{self, Failure, Rules};
use driver::graph::work::Kind;
use driver::graph::{self, Work};
use driver::{Error, Result};

use super::graph_node::{
    self as node, BatchParams, FillParams, HostParams, KernelParams, NodeParams, OldKernelParams,
};
use super::{check_default, stream};
use crate::abi::{In, Out};
use crate::api;
use crate::types::{Handle, Memcpy3D, SemaphoreParams};

/// `CUDA_GRAPH_INSTANTIATE_PARAMS`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct InstantiateParams {
    pub flags: u64,
    pub upload: Handle,
    pub node: Handle,
    pub result: u32,
}

/// `CUgraphExecUpdateResultInfo`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct UpdateInfo {
    pub result: u32,
    pub node: Handle,
    pub from: Handle,
}

fn instantiate(out: Out<Handle>, graph: Handle, flags: u64) -> Result<(), Refusal> {
    out.required()?;
    let graph = graph::get(graph)?;
    if graph.is_owned() {
        return Err(Error::NotSupported.into());
    }
    let handle = exec::instantiate(&graph, flags)?;
    if flags & flag::UPLOAD != 0 {
        exec::get(handle)?.upload()?;
    }
    out.set(handle);
    Ok(())
}

/// What the log of an instantiation says.
fn reason(refusal: &Refusal) -> &'static str {
    match refusal.reason {
        Reason::Arguments => "the graph cannot be instantiated: see the status",
        Reason::Structure => "the graph has a cycle",
        Reason::Unsupported => "the graph has a node that cannot be launched in this way",
        Reason::Contexts => "the graph has nodes of several contexts",
        Reason::UnusedVariable => "a conditional handle of the graph has no node",
    }
}

fn instantiate_with_log(
    out: Out<Handle>,
    graph: Handle,
    failed: Out<Handle>,
    log: Out<u8>,
    room: usize,
) -> Result<()> {
    failed.set(0);
    instantiate(out, graph, 0).map_err(|refusal| {
        failed.set(refusal.node);
        if !log.is_null() && room > 0 {
            // There is space for at least the final zero.
            let _ = log.set_text(reason(&refusal), room);
        }
        refusal.error
    })
}

fn instantiate_with_params(
    out: Out<Handle>,
    graph: Handle,
    params: Out<InstantiateParams>,
    own: bool,
) -> Result<()> {
    let mut asked = params.read()?;
    let upload = asked.flags & flag::UPLOAD != 0;
    let uploaded = if upload { stream(asked.upload, own).map(drop) } else { Ok(()) };
    let outcome = uploaded.map_err(Refusal::from).and_then(|()| instantiate(out, graph, asked.flags));
    (asked.result, asked.node) = match &outcome {
        Ok(()) => (0, 0),
        Err(refusal) => (refusal.reason as u32, refusal.node),
    };
    params.set(asked);
    outcome.map_err(|refusal| refusal.error)
}

/// Updates an executable graph; returns what is reported to the program.
fn update_from(handle: Handle, graph: Handle) -> (UpdateInfo, Result<()>) {
    let objects = exec::get(handle).and_then(|exec| Ok((exec, graph::get(graph)?)));
    match objects {
        Err(error) => (UpdateInfo { result: 1, ..UpdateInfo::default() }, Err(error)),
        Ok((_, graph)) if graph.is_owned() => {
            (UpdateInfo { result: 1, ..UpdateInfo::default() }, Err(Error::InvalidValue))
        }
        Ok((exec, graph)) => match update::update(&exec, &graph, Rules::Cuda) {
            Ok(()) => (UpdateInfo::default(), Ok(())),
            Err(Failure { outcome, node, from }) => {
                (UpdateInfo { result: outcome as u32, node, from }, Err(Error::GraphExecUpdateFailure))
            }
        },
    }
}

/// Gives a node of a kind the work that a program describes, once the node is known to be of that kind.
fn set(handle: Handle, of: Handle, kind: Kind, describe: impl FnOnce() -> Result<Work>) -> Result<()> {
    let exec = exec::get(handle)?;
    exec.check_kind(of, kind)?;
    exec.set_work(Rules::Cuda, of, describe()?)
}

fn set_kernel<P: Copy + Into<KernelParams>>(handle: Handle, of: Handle, params: In<P>) -> Result<()> {
    let exec = exec::get(handle)?;
    let attributes = exec.with_work(of, |work| match work {
        Work::Kernel(kernel) => Ok(kernel.attributes.clone()),
        _ => Err(Error::InvalidValue),
    })?;
    exec.set_work(Rules::Cuda, of, node::kernel(&params.get()?.into(), &attributes)?)
}

api! {
    Live Unsafe fn cuGraphInstantiate / cuGraphInstantiate_v2 (
        out: Out<Handle>, graph: Handle, failed: Out<Handle>, log: Out<u8>, room: usize,
    ) {
        instantiate_with_log(out, graph, failed, log, room)
    }

    Live Unsafe fn cuGraphInstantiateWithFlags(out: Out<Handle>, graph: Handle, flags: u64) {
        // Only parameters can name the stream of an upload.
        if flags & flag::UPLOAD != 0 {
            return Err(Error::InvalidValue);
        }
        instantiate(out, graph, flags).map_err(|refusal| refusal.error)
    }

    Live Unsafe fn cuGraphInstantiateWithParams / cuGraphInstantiateWithParams_ptsz (
        out: Out<Handle>, graph: Handle, params: Out<InstantiateParams>,
    ) |own| {
        instantiate_with_params(out, graph, params, own)
    }

    Init Unsafe fn cuGraphExecDestroy(handle: Handle) {
        exec::destroy(handle)
    }

    Init Legal fn cuGraphExecGetFlags(handle: Handle, flags: Out<u64>) {
        let flags = flags.required()?;
        flags.set(exec::get(handle)?.flags & (flag::AUTO_FREE_ON_LAUNCH | flag::DEVICE_LAUNCH));
        Ok(())
    }

    /// Nodes run from the host's memory: only what kernels may launch is noted.
    Live Invalidates fn cuGraphUpload / cuGraphUpload_ptsz (handle: Handle, in_stream: Handle) |own| {
        let exec = exec::get(handle)?;
        check_default(in_stream)?;
        stream(in_stream, own)?.check_not_capturing()?;
        exec.upload()?;
        Ok(())
    }

    /// A launch is not captured (recorded on an H200).
    Live Invalidates fn cuGraphLaunch / cuGraphLaunch_ptsz (handle: Handle, in_stream: Handle) |own| {
        let exec = exec::get(handle)?;
        check_default(in_stream)?;
        let stream = stream(in_stream, own)?;
        stream.check_not_capturing()?;
        exec.launch(&stream)
    }

    Live Legal fn cuGraphExecUpdate(handle: Handle, graph: Handle, failed: Out<Handle>, result: Out<u32>) {
        result.required()?;
        let (info, outcome) = update_from(handle, graph);
        failed.set(info.node);
        result.set(info.result);
        outcome
    }

    Live Legal fn cuGraphExecUpdate_v2(handle: Handle, graph: Handle, info: Out<UpdateInfo>) {
        let (reported, outcome) = update_from(handle, graph);
        info.set(reported);
        outcome
    }

    Live Legal fn cuGraphExecKernelNodeSetParams(handle: Handle, of: Handle, params: In<OldKernelParams>) {
        set_kernel(handle, of, params)
    }

    Live Legal fn cuGraphExecKernelNodeSetParams_v2(handle: Handle, of: Handle, params: In<KernelParams>) {
        set_kernel(handle, of, params)
    }

    Live Legal fn cuGraphExecMemcpyNodeSetParams(
        handle: Handle, of: Handle, params: In<Memcpy3D>, context: Handle,
    ) {
        set(handle, of, Kind::Copy, || node::copying(&params.get()?, context))
    }

    Live Legal fn cuGraphExecMemsetNodeSetParams(
        handle: Handle, of: Handle, params: In<FillParams>, context: Handle,
    ) {
        set(handle, of, Kind::Fill, || node::filling(&params.get()?, context))
    }

    Live Legal fn cuGraphExecHostNodeSetParams(handle: Handle, of: Handle, params: In<HostParams>) {
        set(handle, of, Kind::Host, || node::host(&params.get()?))
    }

    Live Legal fn cuGraphExecChildGraphNodeSetParams(handle: Handle, of: Handle, child: Handle) {
        exec::get(handle)?.set_child(Rules::Cuda, of, &*graph::get(child)?)
    }

    Live Legal fn cuGraphExecEventRecordNodeSetEvent(handle: Handle, of: Handle, event: Handle) {
        set(handle, of, Kind::Record, || Ok(Work::Record(node::event(event)?)))
    }

    Live Legal fn cuGraphExecEventWaitNodeSetEvent(handle: Handle, of: Handle, event: Handle) {
        set(handle, of, Kind::Wait, || Ok(Work::Wait(node::event(event)?)))
    }

    Live Legal fn cuGraphExecExternalSemaphoresSignalNodeSetParams(
        handle: Handle, of: Handle, params: In<SemaphoreParams>,
    ) {
        set(handle, of, Kind::Signal, || node::semaphores(&params.get()?, true))
    }

    Live Legal fn cuGraphExecExternalSemaphoresWaitNodeSetParams(
        handle: Handle, of: Handle, params: In<SemaphoreParams>,
    ) {
        set(handle, of, Kind::WaitSemaphore, || node::semaphores(&params.get()?, false))
    }

    Live Legal fn cuGraphExecBatchMemOpNodeSetParams(handle: Handle, of: Handle, params: In<BatchParams>) {
        set(handle, of, Kind::Batch, || node::batch(&params.get()?))
    }

    Live Legal fn cuGraphExecNodeSetParams(handle: Handle, of: Handle, params: Out<NodeParams>) {
        let exec = exec::get(handle)?;
        let graph = graph::graph_of(of)?;
        let old = exec.with_work(of, |work| Ok(work.clone()))?;
        match params.read()?.change(&graph, &old)? {
            work @ Work::Child(_) => {
                let Work::Child(child) = &work else { return Err(Error::InvalidValue) };
                let outcome = exec.set_child(Rules::Cuda, of, child);
                // The copy that was made for the call.
                work.abandon();
                outcome
            }
            work => exec.set_work(Rules::Cuda, of, work),
        }
    }

    Live Legal fn cuGraphNodeSetEnabled(handle: Handle, of: Handle, enabled: u32) {
        exec::get(handle)?.enable(of, enabled != 0)
    }

    Live Legal fn cuGraphNodeGetEnabled(handle: Handle, of: Handle, enabled: Out<u32>) {
        let enabled = enabled.required()?;
        enabled.set(u32::from(exec::get(handle)?.is_enabled(of)?));
        Ok(())
    }
}
