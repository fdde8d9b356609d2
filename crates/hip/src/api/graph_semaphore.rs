//! Graph nodes that signal external semaphores, or wait for them.

use capi::external::{self, Use};
use capi::types::{SemaphoreParams, SemaphoreUse};
use driver::graph::update::Rules;
use driver::graph::{self, Work};

use super::graph_exec::exec_with;
use super::graph_node::add;
use crate::abi::{In, Out};
use crate::current::Handle;
use crate::types::SemaphoreUseIn5;
use crate::{Error, Result, api};

/// The work of a node; an unknown semaphore is an invalid value.
fn work<U: Use>(params: In<SemaphoreParams>, signal: bool) -> Result<Work> {
    external::node::<U>(&params.get()?, signal).map_err(|_| Error::InvalidValue)
}

/// Whether work is signals, or waits.
fn is_of(work: &Work, signal: bool) -> bool {
    matches!(work, Work::Semaphores(semaphores) if semaphores.signals() == signal)
}

fn get<U: Use>(handle: Handle, out: Out<SemaphoreParams>, signal: bool) -> Result<()> {
    out.required()?;
    let params = graph::with_work(handle, |work| match work {
        Work::Semaphores(semaphores) => external::node_params::<U>(semaphores, signal),
        _ => Err(driver::Error::InvalidValue),
    });
    out.set(params?);
    Ok(())
}

fn set<U: Use>(handle: Handle, params: In<SemaphoreParams>, signal: bool) -> Result<()> {
    let check = |work: &Work| if is_of(work, signal) { Ok(()) } else { Err(driver::Error::InvalidValue) };
    graph::with_work(handle, check)?;
    Ok(graph::set_work(handle, work::<U>(params, signal)?)?)
}

fn set_in_exec<U: Use>(handle: Handle, of: Handle, params: In<SemaphoreParams>, signal: bool) -> Result<()> {
    let exec = exec_with(handle, of, |work| is_of(work, signal))?;
    Ok(exec.set_work(Rules::Hip, of, work::<U>(params, signal)?)?)
}

api! {
    Context Legal fn hipGraphAddExternalSemaphoresSignalNode(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, params: In<SemaphoreParams>,
    ) {
        add(out, graph, nodes, count, |_| work::<SemaphoreUse>(params, true))
    }

    Device Legal fn hipGraphExternalSemaphoresSignalNodeGetParams(
        handle: Handle, params: Out<SemaphoreParams>,
    ) {
        get::<SemaphoreUse>(handle, params, true)
    }

    Context Legal fn hipGraphExternalSemaphoresSignalNodeSetParams(
        handle: Handle, params: In<SemaphoreParams>,
    ) {
        set::<SemaphoreUse>(handle, params, true)
    }

    Context Legal fn hipGraphExecExternalSemaphoresSignalNodeSetParams(
        handle: Handle, of: Handle, params: In<SemaphoreParams>,
    ) {
        set_in_exec::<SemaphoreUse>(handle, of, params, true)
    }

    Context Legal fn hipGraphAddExternalSemaphoresSignalNode_in_5(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, params: In<SemaphoreParams>,
    ) {
        add(out, graph, nodes, count, |_| work::<SemaphoreUseIn5>(params, true))
    }

    Device Legal fn hipGraphExternalSemaphoresSignalNodeGetParams_in_5(
        handle: Handle, params: Out<SemaphoreParams>,
    ) {
        get::<SemaphoreUseIn5>(handle, params, true)
    }

    Context Legal fn hipGraphExternalSemaphoresSignalNodeSetParams_in_5(
        handle: Handle, params: In<SemaphoreParams>,
    ) {
        set::<SemaphoreUseIn5>(handle, params, true)
    }

    Context Legal fn hipGraphExecExternalSemaphoresSignalNodeSetParams_in_5(
        handle: Handle, of: Handle, params: In<SemaphoreParams>,
    ) {
        set_in_exec::<SemaphoreUseIn5>(handle, of, params, true)
    }

    Context Legal fn hipGraphAddExternalSemaphoresWaitNode(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, params: In<SemaphoreParams>,
    ) {
        add(out, graph, nodes, count, |_| work::<SemaphoreUse>(params, false))
    }

    Device Legal fn hipGraphExternalSemaphoresWaitNodeGetParams(
        handle: Handle, params: Out<SemaphoreParams>,
    ) {
        get::<SemaphoreUse>(handle, params, false)
    }

    Context Legal fn hipGraphExternalSemaphoresWaitNodeSetParams(
        handle: Handle, params: In<SemaphoreParams>,
    ) {
        set::<SemaphoreUse>(handle, params, false)
    }

    Context Legal fn hipGraphExecExternalSemaphoresWaitNodeSetParams(
        handle: Handle, of: Handle, params: In<SemaphoreParams>,
    ) {
        set_in_exec::<SemaphoreUse>(handle, of, params, false)
    }

    Context Legal fn hipGraphAddExternalSemaphoresWaitNode_in_5(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, params: In<SemaphoreParams>,
    ) {
        add(out, graph, nodes, count, |_| work::<SemaphoreUseIn5>(params, false))
    }

    Device Legal fn hipGraphExternalSemaphoresWaitNodeGetParams_in_5(
        handle: Handle, params: Out<SemaphoreParams>,
    ) {
        get::<SemaphoreUseIn5>(handle, params, false)
    }

    Context Legal fn hipGraphExternalSemaphoresWaitNodeSetParams_in_5(
        handle: Handle, params: In<SemaphoreParams>,
    ) {
        set::<SemaphoreUseIn5>(handle, params, false)
    }

    Context Legal fn hipGraphExecExternalSemaphoresWaitNodeSetParams_in_5(
        handle: Handle, of: Handle, params: In<SemaphoreParams>,
    ) {
        set_in_exec::<SemaphoreUseIn5>(handle, of, params, false)
    }
}
