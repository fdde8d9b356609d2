//! Graphs: their life, their structure, user objects and their memory.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use driver::device::Device;
use driver::graph::{self, Edge, Graph, dot, object};

use super::capture::dependencies;
use super::graph_params::kind_of;
use crate::abi::{In, Out, Text};
use crate::current::{self, Handle};
use crate::{Error, Result, api};

fn first(values: Vec<(Handle, Edge)>) -> Vec<Handle> {
    values.into_iter().map(|one| one.0).collect()
}

/// Edges of a graph from a program.
fn edges(
    graph: &Graph,
    from: In<Handle>,
    to: In<Handle>,
    count: usize,
) -> Result<Vec<(Handle, Handle, Edge)>> {
    let all = dependencies(from, count).zip(to.each(count));
    let all = all.map(|(from, to)| from.and_then(|(from, edge)| Ok((from, to?, edge))));
    Ok(graph.listed_edges(count, all)?)
}

/// The device with an ordinal, which needs no context.
fn device(ordinal: i32) -> Result<Arc<Device>> {
    current::device_at(ordinal)
}

/// `hipUserObjectNoDestructorSync`, which creation requires.
const NO_DESTRUCTOR_SYNC: u32 = 1;
/// `hipGraphUserObjectMove`.
const MOVE: u32 = 1;
/// The flags of `hipGraphDebugDotPrint`; others have no effect.
const DOT_FLAGS: u32 = (1 << 11) - 1;

/// Checks a user object's handle and a number of references.
fn check_object(handle: Handle, count: u32) -> Result<()> {
    if handle == 0 || count == 0 || count > i32::MAX as u32 { Err(Error::InvalidValue) } else { Ok(()) }
}

/// As in HIP, a change of references that an object does not have does nothing.
fn quietly(outcome: driver::Result<()>) -> Result<()> {
    match outcome {
        Err(driver::Error::InvalidValue) => Ok(()),
        other => Ok(other?),
    }
}

api! {
    Context Legal fn hipGraphCreate(out: Out<Handle>, flags: u32) {
        out.required()?;
        if flags != 0 {
            return Err(Error::InvalidValue);
        }
        out.set(graph::create()?.handle);
        Ok(())
    }

    Device Legal fn hipGraphDestroy(graph: Handle) {
        if graph == 0 {
            return Err(Error::InvalidValue);
        }
        graph::get(graph).map_err(|_| Error::IllegalState)?;
        Ok(graph::destroy(graph)?)
    }

    Context Legal fn hipGraphClone(out: Out<Handle>, original: Handle) {
        out.required()?;
        out.set(graph::get(original)?.clone_graph()?.handle);
        Ok(())
    }

    Device Legal fn hipGraphNodeFindInClone(out: Out<Handle>, original: Handle, clone: Handle) {
        out.required()?;
        out.set(graph::find_in_clone(original, &*graph::get(clone)?)?);
        Ok(())
    }

    Device Legal fn hipGraphNodeGetType(handle: Handle, kind: Out<u32>) {
        let known = graph::with_work(handle, |work| Ok(kind_of(work)))?;
        kind.required()?.set(known.ok_or(Error::NotSupported)?);
        Ok(())
    }

    Device Legal fn hipGraphGetNodes(graph: Handle, nodes: Out<Handle>, count: Out<usize>) {
        Ok(nodes.set_list(&graph::get(graph)?.nodes(), count)?)
    }

    Device Legal fn hipGraphGetRootNodes(graph: Handle, nodes: Out<Handle>, count: Out<usize>) {
        Ok(nodes.set_list(&graph::get(graph)?.roots(), count)?)
    }

    Device Legal fn hipGraphGetEdges(graph: Handle, from: Out<Handle>, to: Out<Handle>, count: Out<usize>) {
        let all = graph::get(graph)?.edges();
        let room = count.read()?;
        if from.is_null() != to.is_null() {
            return Err(Error::InvalidValue);
        }
        let starts: Vec<Handle> = all.iter().map(|one| one.0).collect();
        let ends: Vec<Handle> = all.iter().map(|one| one.1).collect();
        from.set_list(&starts, count)?;
        if !to.is_null() {
            count.set(room);
            to.set_list(&ends, count)?;
        }
        Ok(())
    }

    Device Legal fn hipGraphNodeGetDependencies(handle: Handle, nodes: Out<Handle>, count: Out<usize>) {
        Ok(nodes.set_list(&first(graph::dependencies_of(handle)?), count)?)
    }

    Device Legal fn hipGraphNodeGetDependentNodes(handle: Handle, nodes: Out<Handle>, count: Out<usize>) {
        Ok(nodes.set_list(&first(graph::dependents_of(handle)?), count)?)
    }

    Device Legal fn hipGraphAddDependencies(graph: Handle, from: In<Handle>, to: In<Handle>, count: usize) {
        let graph = graph::get(graph)?;
        Ok(graph.add_edges(&edges(&graph, from, to, count)?)?)
    }

    Device Legal fn hipGraphRemoveDependencies(graph: Handle, from: In<Handle>, to: In<Handle>, count: usize) {
        let graph = graph::get(graph)?;
        Ok(graph.remove_edges(&edges(&graph, from, to, count)?)?)
    }

    Device Legal fn hipGraphDestroyNode(handle: Handle) {
        Ok(graph::destroy_node(handle)?)
    }

    Device Legal fn hipGraphDebugDotPrint(graph: Handle, path: Text, flags: u32) {
        Ok(dot::write(&*graph::get(graph)?, OsStr::from_bytes(path.bytes()?), flags & DOT_FLAGS)?)
    }

    Device Legal fn hipUserObjectCreate(
        out: Out<Handle>, data: u64, destructor: Option<extern "C" fn(u64)>, count: u32, flags: u32,
    ) {
        out.required()?;
        // CUDA takes any number of references.
        if flags != NO_DESTRUCTOR_SYNC || count > i32::MAX as u32 {
            return Err(Error::InvalidValue);
        }
        out.set(object::create(data, destructor.ok_or(Error::InvalidValue)?, count)?);
        Ok(())
    }

    Device Legal fn hipUserObjectRetain(handle: Handle, count: u32) {
        check_object(handle, count)?;
        quietly(object::retain(handle, count))
    }

    Device Legal fn hipUserObjectRelease(handle: Handle, count: u32) {
        check_object(handle, count)?;
        quietly(object::release(handle, count))
    }

    Device Legal fn hipGraphRetainUserObject(graph: Handle, handle: Handle, count: u32, flags: u32) {
        let graph = graph::get(graph)?;
        check_object(handle, count)?;
        if flags & !MOVE != 0 {
            return Err(Error::InvalidValue);
        }
        quietly(graph.retain_object(handle, count, flags == MOVE))
    }

    Device Legal fn hipGraphReleaseUserObject(graph: Handle, handle: Handle, count: u32) {
        let graph = graph::get(graph)?;
        check_object(handle, count)?;
        // With CUDA, the graph releases all that it has.
        if object::references(handle).is_ok_and(|all| all < u64::from(count)) {
            return Ok(());
        }
        quietly(graph.release_object(handle, count))
    }

    Device Legal fn hipDeviceGetGraphMemAttribute(ordinal: i32, number: u32, value: Out<u64>) {
        let device = device(ordinal)?;
        value.required()?.set(graph::memory::attribute(&device, number, graph::memory::Used::Allocated)?);
        Ok(())
    }

    Device Legal fn hipDeviceSetGraphMemAttribute(ordinal: i32, number: u32, value: In<u64>) {
        Ok(graph::memory::reset_attribute(&*device(ordinal)?, number, value.get()?)?)
    }

    Device Unsafe fn hipDeviceGraphMemTrim(ordinal: i32) {
        graph::memory::trim(&*device(ordinal)?);
        Ok(())
    }
}
