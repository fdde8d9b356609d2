//! Stream capture.

use driver::graph::{self, Edge};
use driver::stream::capture::{self, Change, Dependency, Info, Mode};

use crate::abi::{In, Out};
use crate::current::{Handle, special, stream};
use crate::{Error, Result, api};

/// `hipStreamCaptureStatus`.
mod status {
    pub const NONE: u32 = 0;
    pub const ACTIVE: u32 = 1;
    pub const INVALIDATED: u32 = 2;
}

/// Nodes of a program's list. HIP's edges have no data.
pub(super) fn dependencies(
    nodes: In<Handle>,
    count: usize,
) -> impl Iterator<Item = driver::Result<Dependency>> {
    nodes.each(count).map(|node| Ok((node?, Edge::default())))
}

fn begin(
    handle: Handle,
    own: bool,
    mode: u32,
    to: Option<(Handle, &mut dyn Iterator<Item = driver::Result<Dependency>>)>,
) -> Result<()> {
    let stream = stream(handle, own)?;
    if matches!(handle, 0 | special::LEGACY) && !(own && handle == 0) {
        return Err(Error::StreamCaptureUnsupported);
    }
    let mode = Mode::from_number(mode)?;
    let to = to.map(|(graph, nodes)| Ok::<_, Error>((graph::get(graph)?, nodes))).transpose()?;
    Ok(stream.begin_capture(mode, to)?)
}

/// What a program may ask about a capture.
#[derive(Clone, Copy)]
struct Asked {
    status: Out<u32>,
    id: Out<u64>,
    graph: Out<Handle>,
    nodes: Out<u64>,
    count: Out<usize>,
}

impl Asked {
    fn short(status: Out<u32>, id: Out<u64>) -> Self {
        Asked { status, id, graph: Out::none(), nodes: Out::none(), count: Out::none() }
    }

    /// Answers; everything but the status is written only for a valid capture.
    fn answer(self, handle: Handle, own: bool) -> Result<()> {
        let status = self.status.required()?;
        match stream(handle, own)?.capture_info()? {
            None => status.set(status::NONE),
            Some(Info { valid: false, .. }) => status.set(status::INVALIDATED),
            Some(Info { capture, nodes, .. }) => {
                status.set(status::ACTIVE);
                self.id.set(capture.id);
                self.graph.set(capture.graph.handle);
                self.nodes.set(nodes.0);
                self.count.set(nodes.1);
            }
        }
        Ok(())
    }
}

api! {
    Context Legal fn hipStreamBeginCapture / hipStreamBeginCapture_spt (handle: Handle, mode: u32) |own| {
        begin(handle, own, mode, None)
    }

    /// As in HIP, there must be no edge data.
    Context Legal fn hipStreamBeginCaptureToGraph(
        handle: Handle, graph: Handle, nodes: In<Handle>, edges: In<[u8; 8]>, count: usize, mode: u32,
    ) {
        if !edges.is_null() {
            return Err(Error::NotSupported);
        }
        if graph == 0 || nodes.is_null() != (count == 0) {
            return Err(Error::InvalidValue);
        }
        begin(handle, false, mode, Some((graph, &mut dependencies(nodes, count))))
    }

    Context Legal fn hipStreamEndCapture / hipStreamEndCapture_spt (handle: Handle, graph: Out<Handle>) |own| {
        let graph = graph.required()?;
        graph.set(0);
        let stream = stream(handle, own)?;
        // AMD's runtime leaves the capture as it is; with CUDA it ends.
        if stream.captures_for_another_thread() {
            return Err(Error::StreamCaptureWrongThread);
        }
        graph.set(stream.end_capture()?.handle);
        Ok(())
    }

    Context Legal fn hipStreamIsCapturing / hipStreamIsCapturing_spt (handle: Handle, status: Out<u32>) |own| {
        Asked::short(status, Out::none()).answer(handle, own)
    }

    Context Legal fn hipStreamGetCaptureInfo / hipStreamGetCaptureInfo_spt (
        handle: Handle, status: Out<u32>, id: Out<u64>,
    ) |own| {
        Asked::short(status, id).answer(handle, own)
    }

    Context Legal fn hipStreamGetCaptureInfo_v2 / hipStreamGetCaptureInfo_v2_spt (
        handle: Handle, status: Out<u32>, id: Out<u64>, graph: Out<Handle>, nodes: Out<u64>, count: Out<usize>,
    ) |own| {
        Asked { status, id, graph, nodes, count }.answer(handle, own)
    }

    Context Legal fn hipStreamUpdateCaptureDependencies(
        handle: Handle, nodes: In<Handle>, count: usize, flags: u32,
    ) {
        let stream = stream(handle, false)?;
        if stream.capture_info()?.is_none() {
            return Err(Error::IllegalState);
        }
        let change = *[Change::Add, Change::Set].get(flags as usize).ok_or(Error::InvalidValue)?;
        Ok(stream.change_dependencies(dependencies(nodes, count), change)?)
    }

    Device Legal fn hipThreadExchangeStreamCaptureMode(mode: Out<u32>) {
        let new = Mode::from_number(mode.read()?)?;
        mode.set(capture::exchange_mode(new.number()));
        Ok(())
    }
}
