//! Stream capture.

use driver::graph::{self, Edge};
use driver::stream::capture::{self, Change, Dependency, Info, Mode};
use driver::{Error, Result};

use crate::abi::{In, Out};
use crate::api;
use crate::api::stream;
use crate::types::Handle;

/// `CUstreamCaptureStatus`.
mod status {
    pub const NONE: u32 = 0;
    pub const ACTIVE: u32 = 1;
    pub const INVALIDATED: u32 = 2;
}

/// `CUstreamUpdateCaptureDependencies_flags`.
fn change(flags: u32) -> Result<Change> {
    [Change::Add, Change::Set].get(flags as usize).copied().ok_or(Error::InvalidValue)
}

/// Nodes with the data of their edges; no data means that all are zero.
pub(super) fn dependencies(
    nodes: In<Handle>,
    edges: In<[u8; 8]>,
    count: usize,
) -> impl Iterator<Item = Result<Dependency>> {
    nodes.each(count).enumerate().map(move |(i, node)| {
        let edge = if edges.is_null() { Edge::default() } else { Edge::from_bytes(edges.at(i)?)? };
        Ok((node?, edge))
    })
}

fn begin(handle: Handle, own: bool, mode: u32) -> Result<()> {
    let mode = Mode::from_number(mode)?;
    stream(handle, own)?.begin_capture(mode, None)
}

/// What a program may ask about a capture.
#[derive(Clone, Copy)]
struct Asked {
    status: Out<u32>,
    id: Out<u64>,
    graph: Out<Handle>,
    nodes: Out<u64>,
    edges: Out<u64>,
    count: Out<usize>,
}

fn info(handle: Handle, own: bool, asked: Asked) -> Result<()> {
    let stream = stream(handle, own)?;
    let status = asked.status.required()?;
    let Some(Info { valid, capture, plain, nodes, edges }) = stream.capture_info()? else {
        status.set(status::NONE);
        return Ok(());
    };
    if !valid {
        status.set(status::INVALIDATED);
        asked.id.set(capture.id);
        return Ok(());
    }
    if asked.nodes.is_null() && !asked.edges.is_null() {
        return Err(Error::InvalidValue);
    }
    if asked.edges.is_null() && !asked.nodes.is_null() && !plain {
        return Err(Error::LossyQuery);
    }
    status.set(status::ACTIVE);
    asked.id.set(capture.id);
    asked.graph.set(capture.graph.handle);
    asked.nodes.set(nodes.0);
    asked.edges.set(edges);
    asked.count.set(nodes.1);
    Ok(())
}

fn update(
    handle: Handle,
    own: bool,
    nodes: In<Handle>,
    edges: In<[u8; 8]>,
    count: usize,
    flags: u32,
) -> Result<()> {
    let (stream, change) = (stream(handle, own)?, change(flags)?);
    stream.change_dependencies(dependencies(nodes, edges, count), change)
}

api! {
    Object Legal fn cuStreamBeginCapture / cuStreamBeginCapture_ptsz (handle: Handle) |own| {
        begin(handle, own, Mode::Global.number())
    }

    Object Legal fn cuStreamBeginCapture_v2 / cuStreamBeginCapture_v2_ptsz (handle: Handle, mode: u32) |own| {
        begin(handle, own, mode)
    }

    Object Legal fn cuStreamBeginCaptureToGraph / cuStreamBeginCaptureToGraph_ptsz (
        handle: Handle, graph: Handle, nodes: In<Handle>, edges: In<[u8; 8]>, count: usize, mode: u32,
    ) |own| {
        let mode = Mode::from_number(mode)?;
        let stream = stream(handle, own)?;
        let graph = graph::get(graph)?;
        if count > 0 && nodes.is_null() {
            return Err(Error::InvalidValue);
        }
        stream.begin_capture(mode, Some((graph, &mut dependencies(nodes, edges, count))))
    }

    Init Legal fn cuThreadExchangeStreamCaptureMode(mode: Out<u32>) {
        mode.set(capture::exchange_mode(mode.read()?));
        Ok(())
    }

    Object Legal fn cuStreamEndCapture / cuStreamEndCapture_ptsz (handle: Handle, graph: Out<Handle>) |own| {
        graph.set(0);
        let captured = stream(handle, own)?.end_capture()?;
        // The program gave no place for the graph, so nothing names it.
        if graph.is_null() {
            graph::destroy(captured.handle)
        } else {
            graph.set(captured.handle);
            Ok(())
        }
    }

    /// The graphics clients for whom work is recorded belong to Windows.
    Object Legal fn cuStreamBeginCaptureToCig / cuStreamBeginCaptureToCig_ptsz (handle: Handle, params: In<u64>) |own| {
        stream(handle, own)?;
        // The pointer to what describes the client.
        if params.get()? == 0 { Err(Error::InvalidValue) } else { Err(Error::NotSupported) }
    }

    /// There is no such capture to end.
    Object Legal fn cuStreamEndCaptureToCig / cuStreamEndCaptureToCig_ptsz (handle: Handle) |own| {
        stream(handle, own)?;
        Err(Error::InvalidValue)
    }

    Object Legal fn cuStreamIsCapturing / cuStreamIsCapturing_ptsz (handle: Handle, status: Out<u32>) |own| {
        let none = Asked {
            status, id: Out::none(), graph: Out::none(), nodes: Out::none(), edges: Out::none(), count: Out::none(),
        };
        info(handle, own, none)
    }

    Object Legal fn cuStreamGetCaptureInfo / cuStreamGetCaptureInfo_ptsz (
        handle: Handle, status: Out<u32>, id: Out<u64>,
    ) |own| {
        let asked = Asked {
            status, id, graph: Out::none(), nodes: Out::none(), edges: Out::none(), count: Out::none(),
        };
        info(handle, own, asked)
    }

    Object Legal fn cuStreamGetCaptureInfo_v2 / cuStreamGetCaptureInfo_v2_ptsz (
        handle: Handle, status: Out<u32>, id: Out<u64>, graph: Out<Handle>, nodes: Out<u64>, count: Out<usize>,
    ) |own| {
        info(handle, own, Asked { status, id, graph, nodes, edges: Out::none(), count })
    }

    Object Legal fn cuStreamGetCaptureInfo_v3 / cuStreamGetCaptureInfo_v3_ptsz (
        handle: Handle, status: Out<u32>, id: Out<u64>, graph: Out<Handle>, nodes: Out<u64>, edges: Out<u64>,
        count: Out<usize>,
    ) |own| {
        info(handle, own, Asked { status, id, graph, nodes, edges, count })
    }

    Object Legal fn cuStreamUpdateCaptureDependencies / cuStreamUpdateCaptureDependencies_ptsz (
        handle: Handle, nodes: In<Handle>, count: usize, flags: u32,
    ) |own| {
        update(handle, own, nodes, In::at_address(0), count, flags)
    }

    Object Legal fn cuStreamUpdateCaptureDependencies_v2 / cuStreamUpdateCaptureDependencies_v2_ptsz (
        handle: Handle, nodes: In<Handle>, edges: In<[u8; 8]>, count: usize, flags: u32,
    ) |own| {
        update(handle, own, nodes, edges, count, flags)
    }
}
