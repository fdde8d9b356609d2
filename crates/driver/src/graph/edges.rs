//! Edges between nodes.

use std::collections::HashSet;

use smallvec::SmallVec;

use crate::error::{Error, Result};
use crate::handle::Handle;

use super::{Body, Graph, Work, place};

/// The data of an edge: what of a node the next one waits for. All zero: the next node starts after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Edge {
    /// The event of the first node: its end, its programmatic trigger (1), or the start
    /// of all its blocks (2).
    pub from_port: u8,
    /// What of the second node waits; no node has more than one.
    pub to_port: u8,
    /// The kind of dependency: full or programmatic.
    pub kind: u8,
}

/// Outgoing ports of kernel nodes.
pub mod port {
    /// The end of the kernel.
    pub const DEFAULT: u8 = 0;
    /// The moment at which all blocks have signalled or ended.
    pub const PROGRAMMATIC: u8 = 1;
    /// The start of all blocks.
    pub const LAUNCH_ORDER: u8 = 2;
}

/// Edge kinds.
pub mod kind {
    /// A full dependency.
    pub const DEFAULT: u8 = 0;
    /// A programmatic dependency between kernels.
    pub const PROGRAMMATIC: u8 = 1;
}

impl Edge {
    /// The data as programs pass them: both ports, the kind, and zeros.
    pub fn bytes(self) -> [u8; 8] {
        [self.from_port, self.to_port, self.kind, 0, 0, 0, 0, 0]
    }

    /// The edge with the data that a program passes.
    ///
    /// # Errors
    /// [`Error::InvalidValue`]: reserved bytes are not zero.
    pub fn from_bytes(bytes: [u8; 8]) -> Result<Self> {
        match bytes {
            [from_port, to_port, kind, 0, 0, 0, 0, 0] => Ok(Edge { from_port, to_port, kind }),
            _ => Err(Error::InvalidValue),
        }
    }

    /// Whether all data are zero.
    pub fn is_default(self) -> bool {
        self == Edge::default()
    }

    /// Checks that an edge can lead from a node. Only kernels have other ports than their end.
    fn check_from(self, from: &Work) -> Result<()> {
        let right = match (self.kind, self.from_port) {
            (kind::DEFAULT, port::DEFAULT) => true,
            (kind::DEFAULT, port::LAUNCH_ORDER)
            | (kind::PROGRAMMATIC, port::PROGRAMMATIC | port::LAUNCH_ORDER) => {
                matches!(from, Work::Kernel(_))
            }
            _ => false,
        };
        if right && self.to_port == 0 { Ok(()) } else { Err(Error::InvalidValue) }
    }

    /// Checks that an edge can lead from one node to another.
    fn check(self, from: &Work, to: &Work) -> Result<()> {
        self.check_from(from)?;
        let right = self.kind == kind::DEFAULT || matches!(to, Work::Kernel(_));
        if right { Ok(()) } else { Err(Error::InvalidValue) }
    }
}

/// A list of edges: from, to and data.
pub type Edges = [(Handle, Handle, Edge)];

impl Graph {
    /// The index of a node of this graph.
    pub(super) fn index_of(&self, node: Handle) -> Result<u32> {
        let (graph, index) = place(node)?;
        if std::ptr::eq(&*graph, self) { Ok(index as u32) } else { Err(Error::InvalidValue) }
    }

    /// The checked dependencies of a node that will do `work`.
    pub(super) fn dependencies(
        &self,
        body: &Body,
        nodes: &[(Handle, Edge)],
        work: &Work,
    ) -> Result<SmallVec<[(u32, Edge); 2]>> {
        let mut incoming = SmallVec::with_capacity(nodes.len());
        for (node, edge) in nodes {
            let index = self.index_of(*node)?;
            edge.check(&body.entry(index as usize)?.work, work)?;
            incoming.push((index, *edge));
        }
        if has_duplicates(&incoming) { Err(Error::InvalidValue) } else { Ok(incoming) }
    }

    /// The dependencies that a program lists, each checked before the next is read: a count that is too large
    /// is refused at the first value that is no node, not at the end of the memory.
    ///
    /// # Errors
    /// [`Error::InvalidValue`]: no nodes of this graph, or none from which such edges can lead.
    pub fn listed(&self, nodes: impl Iterator<Item = Result<(Handle, Edge)>>) -> Result<Vec<(Handle, Edge)>> {
        let check = |(node, edge): (Handle, Edge)| {
            let index = self.index_of(node)?;
            edge.check_from(&self.lock().entry(index as usize)?.work)?;
            Ok((node, edge))
        };
        nodes.map(|one| one.and_then(check)).collect()
    }

    /// As [`Graph::listed`], for a new node, whose dependencies are `count` different nodes.
    ///
    /// # Errors
    /// [`Error::InvalidValue`]: there are not as many, or the list has other values.
    pub fn listed_for_node(
        &self,
        count: usize,
        nodes: impl Iterator<Item = Result<(Handle, Edge)>>,
    ) -> Result<Vec<(Handle, Edge)>> {
        if count > self.lock().room() { Err(Error::InvalidValue) } else { self.listed(nodes) }
    }

    /// The edges that a program lists, `count` different ones, up to the first that is none between nodes of
    /// this graph. Adding and removing edges refuse that one in the order of their checks; the rest is not
    /// read.
    ///
    /// # Errors
    /// [`Error::InvalidValue`]: the nodes cannot have as many edges, or the list cannot be read.
    pub fn listed_edges(
        &self,
        count: usize,
        edges: impl Iterator<Item = Result<(Handle, Handle, Edge)>>,
    ) -> Result<Vec<(Handle, Handle, Edge)>> {
        let room = self.lock().room();
        if count > room.saturating_mul(room) {
            return Err(Error::InvalidValue);
        }
        let mut all = Vec::new();
        for edge in edges {
            let (from, to, edge) = edge?;
            all.push((from, to, edge));
            if self.index_of(from).is_err() || self.index_of(to).is_err() {
                break;
            }
        }
        Ok(all)
    }

    /// Whether each of `nodes` comes before one of `last`.
    pub(crate) fn comes_before(&self, nodes: &[Handle], last: &[Handle]) -> bool {
        let indices = |handles: &[Handle]| -> Vec<usize> {
            handles.iter().filter_map(|node| self.index_of(*node).ok().map(|index| index as usize)).collect()
        };
        let (nodes, mut open) = (indices(nodes), indices(last));
        let body = self.lock();
        let mut seen = vec![false; body.room()];
        while let Some(index) = open.pop() {
            if std::mem::replace(&mut seen[index], true) {
                continue;
            }
            if let Ok(entry) = body.entry(index) {
                open.extend(entry.incoming.iter().map(|(from, _)| *from as usize));
            }
        }
        nodes.iter().all(|&index| seen[index])
    }

    /// All edges, by the node they lead to.
    pub fn edges(&self) -> Vec<(Handle, Handle, Edge)> {
        let body = self.lock();
        let handle = |index: u32| body.entry(index as usize).map_or(0, |entry| entry.handle);
        let all = body.entries().flat_map(|(_, to)| {
            to.incoming.iter().map(move |(from, edge)| (handle(*from), to.handle, *edge))
        });
        all.collect()
    }

    /// Adds edges. Adds none if one of them is wrong. Cycles are found at instantiation, as on the hardware.
    ///
    /// # Errors
    /// [`Error::InvalidValue`]: no node of this graph, an edge from a node to itself, one between nodes that
    /// have one already, or data that the nodes do not have.
    pub fn add_edges(&self, edges: &Edges) -> Result<()> {
        let mut body = self.lock();
        let mut added = Vec::with_capacity(edges.len());
        body.search.forget();
        let outcome = edges.iter().try_for_each(|(from, to, edge)| {
            let (from, to) = (self.index_of(*from)?, self.index_of(*to)?);
            edge.check(&body.entry(from as usize)?.work, &body.entry(to as usize)?.work)?;
            if from == to || body.edge(from, to)?.is_some() {
                return Err(Error::InvalidValue);
            }
            body.entry_mut(to as usize)?.incoming.push((from, *edge));
            body.entry_mut(from as usize)?.outgoing.push(to);
            added.push((from, to));
            Ok(())
        });
        if outcome.is_err() {
            body.remove_edges(&added);
        }
        outcome
    }

    /// Removes edges, whatever their data. Removes none if one of them does not exist.
    ///
    /// # Errors
    /// [`Error::InvalidValue`]: no node of this graph, or no such edge. [`Error::NotSupported`]: the graph
    /// allocates or frees memory.
    pub fn remove_edges(&self, edges: &Edges) -> Result<()> {
        let mut body = self.lock();
        if body.owns_memory() && !edges.is_empty() {
            return Err(Error::NotSupported);
        }
        let mut removed = Vec::with_capacity(edges.len());
        let mut seen = HashSet::with_capacity(edges.len());
        for (from, to, _) in edges {
            let (from, to) = (self.index_of(*from)?, self.index_of(*to)?);
            if body.edge(from, to)?.is_none() || !seen.insert((from, to)) {
                return Err(Error::InvalidValue);
            }
            removed.push((from, to));
        }
        body.remove_edges(&removed);
        Ok(())
    }
}

/// The nodes that a node depends on.
pub fn dependencies_of(node: Handle) -> Result<Vec<(Handle, Edge)>> {
    let (graph, index) = place(node)?;
    let body = graph.lock();
    let entry = body.entry(index)?;
    entry.incoming.iter().map(|(from, edge)| Ok((body.entry(*from as usize)?.handle, *edge))).collect()
}

/// The nodes that depend on a node.
pub fn dependents_of(node: Handle) -> Result<Vec<(Handle, Edge)>> {
    let (graph, index) = place(node)?;
    let body = graph.lock();
    let edge_to = |&to: &u32| {
        let edge = body.edge(index as u32, to)?.unwrap_or_default();
        Ok((body.entry(to as usize)?.handle, edge))
    };
    body.entry(index)?.outgoing.iter().map(edge_to).collect()
}

/// Above this many edges a set finds duplicates faster than a comparison of all pairs.
const FEW: usize = 16;

fn has_duplicates(incoming: &[(u32, Edge)]) -> bool {
    if incoming.len() <= FEW {
        return incoming
            .iter()
            .enumerate()
            .any(|(i, one)| incoming[..i].iter().any(|other| other.0 == one.0));
    }
    let mut nodes: Vec<u32> = incoming.iter().map(|one| one.0).collect();
    nodes.sort_unstable();
    nodes.windows(2).any(|pair| pair[0] == pair[1])
}

impl Body {
    /// The edge between two nodes, of which there is one at most, as on the hardware.
    fn edge(&self, from: u32, to: u32) -> Result<Option<Edge>> {
        let (source, target) = (self.entry(from as usize)?, self.entry(to as usize)?);
        // The shorter list decides quickly.
        if source.outgoing.len() < target.incoming.len() && source.outgoing.find(to).is_none() {
            return Ok(None);
        }
        Ok(target.incoming.find(from).map(|one| one.1))
    }

    /// Removes edges that exist.
    fn remove_edges(&mut self, edges: &[(u32, u32)]) {
        for (from, to) in edges {
            if let Ok(entry) = self.entry_mut(*to as usize) {
                entry.incoming.remove(*from);
            }
            if let Ok(entry) = self.entry_mut(*from as usize) {
                entry.outgoing.remove(*to);
            }
        }
    }

    /// Removes all edges of a node.
    pub(super) fn unlink(&mut self, index: usize) {
        let Ok(entry) = self.entry_mut(index) else { return };
        let incoming = std::mem::take(&mut entry.incoming);
        let outgoing = std::mem::take(&mut entry.outgoing);
        // An edge is in both lists.
        for (from, _) in &incoming {
            if let Ok(entry) = self.entry_mut(*from as usize) {
                entry.outgoing.remove(index as u32);
            }
        }
        for to in &outgoing {
            if let Ok(entry) = self.entry_mut(*to as usize) {
                entry.incoming.remove(index as u32);
            }
        }
    }
}
