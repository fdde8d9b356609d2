//! Graphs: work of streams with its dependencies, kept as values and launched as a whole.
//!
//! A [`Graph`] is what a program edits: nodes, each with its [`Work`], and edges. Instantiation
//! ([`exec::Exec`]) copies it and compiles the copy into a plan, so that the graph may change or end
//! afterwards. A launch is one [`Operation`](crate::stream::Operation) of a stream, whichever way the nodes
//! came about: added one by one, or by capturing a stream ([`crate::stream::capture`]).

pub mod conditional;
pub mod device;
pub mod dot;
mod edges;
pub mod exec;
mod flatten;
mod later;
mod links;
pub mod memory;
pub mod object;
pub mod plan;
mod reuse;
mod run;
pub mod updatable;
pub mod update;
pub mod work;

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::error::{Error, Result};
use crate::handle::{Handle, Table, lock};

use conditional::Variable;
pub use edges::{Edge, Edges, dependencies_of, dependents_of};
use links::Links;
use object::Retained;
use reuse::Search;
pub use work::Work;

/// The graphs that have handles.
static GRAPHS: Table<Graph> = Table::new(crate::handle::Kind::Graph);
/// The nodes of all graphs.
static NODES: Table<Node> = Table::new(crate::handle::Kind::GraphNode);

/// A graph.
pub struct Graph {
    /// The handle; 0 for the copy that an instantiated graph keeps.
    pub handle: Handle,
    /// A number unique in the process.
    pub id: u64,
    me: Weak<Graph>,
    /// Whether a node owns it: the graph of a child node or of a conditional node.
    owned: AtomicBool,
    /// The graph of that node.
    owner: Mutex<Weak<Graph>>,
    /// What the node adds to the depth.
    weight: AtomicU32,
    /// Whether a capture adds nodes to it.
    captured: AtomicBool,
    body: Mutex<Body>,
    /// The user objects that it holds.
    objects: Mutex<Retained>,
}

/// What a node's handle leads to.
struct Node {
    graph: Weak<Graph>,
    index: u32,
}

/// The contents of a graph.
#[derive(Default)]
pub(crate) struct Body {
    /// By index. A node keeps its index when others are removed.
    nodes: Vec<Option<Entry>>,
    /// The conditional variables created for the graph.
    pub(crate) variables: Vec<Arc<Variable>>,
    /// Whether the memory that it allocates belongs to an instantiated graph.
    pub(crate) instantiated: bool,
    /// Whether it has had nodes that allocate or free memory, or child nodes, which may.
    may_own_memory: bool,
    /// Whether it has had nodes that free memory.
    frees_memory: bool,
    /// What searches for their memory have found out.
    search: Search,
    /// Whether its handle is gone: it gets no more nodes.
    ended: bool,
}

/// A place in a graph at which a node is added.
pub struct Position<'a> {
    /// The graph.
    pub graph: &'a Graph,
    /// The nodes that the new one depends on.
    pub after: &'a [(Handle, Edge)],
}

impl std::ops::Deref for Position<'_> {
    type Target = Graph;

    fn deref(&self) -> &Graph {
        self.graph
    }
}

/// A node and its edges.
#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) handle: Handle,
    /// The node of which this one is a copy.
    origin: Handle,
    pub(crate) work: Work,
    pub(crate) incoming: Links<[(u32, Edge); 2]>,
    pub(crate) outgoing: Links<[u32; 4]>,
}

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

/// The largest depth of graphs in nodes of graphs. Nothing but a launch descends recursively, into
/// conditional nodes, so that these count more.
const DEEPEST: u32 = 512;
const CONDITIONAL_WEIGHT: u32 = 4;
/// The same for a child node.
const CHILD_WEIGHT: u32 = 1;

/// The graph of a handle.
pub fn get(handle: Handle) -> Result<Arc<Graph>> {
    GRAPHS.get(handle).ok_or(Error::InvalidValue)
}

/// Creates an empty graph.
pub fn create() -> Result<Arc<Graph>> {
    Graph::with_handle(Body::default())
}

/// Destroys a graph and its nodes. A graph that a node owns ends with the node.
pub fn destroy(handle: Handle) -> Result<()> {
    let graph = get(handle)?;
    if graph.owned.load(Ordering::Acquire) {
        return Err(Error::InvalidValue);
    }
    graph.check_not_capturing()?;
    graph.end();
    Ok(())
}

/// The graph of a node and the node's index there.
fn place(node: Handle) -> Result<(Arc<Graph>, usize)> {
    let node = NODES.get(node).ok_or(Error::InvalidValue)?;
    Ok((node.graph.upgrade().ok_or(Error::InvalidValue)?, node.index as usize))
}

/// Calls a function with the work of a node.
pub fn with_work<T>(node: Handle, read: impl FnOnce(&Work) -> Result<T>) -> Result<T> {
    let (graph, index) = place(node)?;
    let body = graph.lock();
    read(&body.entry(index)?.work)
}

/// Replaces the work of a node by work of the same kind.
///
/// # Errors
/// [`Error::InvalidValue`]: no such node, or a node of another kind.
pub fn set_work(node: Handle, mut work: Work) -> Result<()> {
    let mut replace = || {
        let (graph, index) = place(node)?;
        let body = graph.lock();
        let old = &body.entry(index)?.work;
        if old.kind() != work.kind() {
            return Err(Error::InvalidValue);
        }
        work.inherit(old);
        drop(body);
        graph.take_in(&work)?;
        let mut body = graph.lock();
        if !body.instantiated {
            work.reset_updates();
        }
        let old = std::mem::replace(&mut body.entry_mut(index)?.work, work.clone());
        drop(body);
        old.end(&graph);
        Ok(())
    };
    replace().inspect_err(|_| work.abandon())
}

/// Changes the work of a node in place.
pub fn change_work<T>(node: Handle, change: impl FnOnce(&mut Work) -> Result<T>) -> Result<T> {
    let (graph, index) = place(node)?;
    let mut body = graph.lock();
    change(&mut body.entry_mut(index)?.work)
}

/// Fails unless a node is of a kind. Calls that describe new work check it before they read the description.
///
/// # Errors
/// [`Error::InvalidValue`]: no such node, or a node of another kind.
pub fn check_kind(node: Handle, kind: work::Kind) -> Result<()> {
    with_work(node, |work| if work.kind() == kind { Ok(()) } else { Err(Error::InvalidValue) })
}

/// The graph that holds a node.
pub fn graph_of(node: Handle) -> Result<Arc<Graph>> {
    place(node).map(|place| place.0)
}

/// The number by which programs see a node: its index in the order in which its graph's nodes were added.
pub fn local_id(node: Handle) -> Result<u32> {
    place(node).map(|place| place.1 as u32)
}

/// Removes a node and its edges.
///
/// # Errors
/// [`Error::NotSupported`]: graphs that allocate or free memory keep all their nodes, and any graph those
/// that kernels update. [`Error::IllegalState`]: a capture adds nodes to the graph.
pub fn destroy_node(node: Handle) -> Result<()> {
    let (graph, index) = place(node)?;
    graph.check_not_capturing()?;
    let mut body = graph.lock();
    if body.owns_memory() || body.entry(index)?.work.is_updatable() {
        return Err(Error::NotSupported);
    }
    body.unlink(index);
    let removed = body.nodes.get_mut(index).and_then(Option::take);
    drop(body);
    NODES.remove(node);
    if let Some(entry) = removed {
        entry.work.end(&graph);
    }
    Ok(())
}

/// The node of a clone that is the copy of a node of the original.
pub fn find_in_clone(original: Handle, clone: &Graph) -> Result<Handle> {
    let (_, index) = place(original)?;
    let body = clone.lock();
    let entry = body.entry(index)?;
    if entry.origin == original { Ok(entry.handle) } else { Err(Error::InvalidValue) }
}

impl Graph {
    fn new(handle: Handle, body: Body) -> Arc<Graph> {
        Arc::new_cyclic(|me| Graph {
            handle,
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            me: Weak::clone(me),
            owned: AtomicBool::new(false),
            owner: Mutex::default(),
            weight: AtomicU32::new(0),
            captured: AtomicBool::new(false),
            body: Mutex::new(body),
            objects: Mutex::default(),
        })
    }

    fn with_handle(body: Body) -> Result<Arc<Graph>> {
        GRAPHS.insert_with(|handle| Graph::new(handle, body)).map(|made| made.1).ok_or(Error::OutOfMemory)
    }

    /// An empty graph that a node will own.
    pub(crate) fn for_node() -> Result<Arc<Graph>> {
        let graph = create()?;
        graph.owned.store(true, Ordering::Release);
        Ok(graph)
    }

    /// Whether a node owns the graph.
    pub fn is_owned(&self) -> bool {
        self.owned.load(Ordering::Acquire)
    }

    /// Whether it is a child node's graph.
    pub fn is_child(&self) -> bool {
        self.is_owned() && self.weight.load(Ordering::Acquire) == CHILD_WEIGHT
    }

    /// Whether it was made for a node that it has not been added with.
    fn has_no_owner(&self) -> bool {
        lock(&self.owner).upgrade().is_none()
    }

    /// Makes the graph the owner of the graphs in the work of a new node.
    ///
    /// # Errors
    /// [`Error::InvalidValue`]: another node owns one of them, or this graph is inside it; or the node
    /// depends on the conditional variable of a graph that is not around it, or on one that another node
    /// depends on. [`Error::NotSupported`]: the graphs would be nested too deeply.
    fn take_in(self: &Graph, work: &Work) -> Result<()> {
        let inside = work.graphs();
        if inside.is_empty() {
            return Ok(());
        }
        let mut above = Vec::new();
        let mut next = self.me.upgrade();
        while let Some(graph) = next {
            next = lock(&graph.owner).upgrade();
            above.push(graph);
        }
        let Work::Conditional(conditional) = work else {
            return self.take_within(&above, inside, CHILD_WEIGHT);
        };
        conditional.variable.claim(&above)?;
        let taken = self.take_within(&above, inside, CONDITIONAL_WEIGHT);
        taken.inspect_err(|_| conditional.variable.release())
    }

    /// As [`Graph::take_in`], given this graph and those around it, and what each graph inside adds to the
    /// depth.
    fn take_within(&self, above: &[Arc<Graph>], inside: &[Arc<Graph>], weight: u32) -> Result<()> {
        let depth: u32 = above.iter().map(|one| one.weight.load(Ordering::Acquire)).sum();
        for graph in inside {
            if above.iter().any(|one| std::ptr::eq(&**one, &**graph)) {
                return Err(Error::InvalidValue);
            }
            if depth + weight + graph.height() > DEEPEST {
                return Err(Error::NotSupported);
            }
            let mut owner = lock(&graph.owner);
            if owner.upgrade().is_some() {
                return Err(Error::InvalidValue);
            }
            owner.clone_from(&self.me);
            graph.owned.store(true, Ordering::Release);
            drop(owner);
            graph.weight.store(weight, Ordering::Release);
        }
        Ok(())
    }

    /// The depth of the graphs inside.
    fn height(&self) -> u32 {
        let (mut highest, mut open) = (0, Vec::new());
        let mut add = |open: &mut Vec<_>, body: &Body, above: u32| {
            for graph in body.inside() {
                let depth = above + graph.weight.load(Ordering::Acquire);
                highest = highest.max(depth);
                open.push((Arc::clone(graph), depth));
            }
        };
        add(&mut open, &self.lock(), 0);
        while let Some((graph, depth)) = open.pop() {
            add(&mut open, &graph.lock(), depth);
        }
        highest
    }

    /// Whether something is true of the body of this graph or of one inside. Graphs may be nested deeper than
    /// a thread's stack allows, so this and all that descends into them keep a list of those to come.
    fn any(&self, mut test: impl FnMut(&Body) -> bool) -> bool {
        let mut open = Vec::new();
        let mut found = |open: &mut Vec<_>, body: &Body| {
            open.extend(body.inside().cloned());
            test(body)
        };
        if found(&mut open, &self.lock()) {
            return true;
        }
        while let Some(graph) = open.pop() {
            if found(&mut open, &graph.lock()) {
                return true;
            }
        }
        false
    }

    /// Begins a capture that adds nodes.
    ///
    /// # Errors
    /// [`Error::IllegalState`]: another one does.
    pub(crate) fn begin_capture(&self) -> Result<()> {
        if self.captured.swap(true, Ordering::AcqRel) { Err(Error::IllegalState) } else { Ok(()) }
    }

    /// Ends the capture.
    pub(crate) fn end_capture(&self) {
        self.captured.store(false, Ordering::Release);
    }

    /// A graph and its nodes cannot be destroyed while a capture adds nodes (recorded on an H200).
    fn check_not_capturing(&self) -> Result<()> {
        if self.captured.load(Ordering::Acquire) { Err(Error::IllegalState) } else { Ok(()) }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Body> {
        lock(&self.body)
    }

    /// The user objects that the graph holds.
    pub(crate) fn objects(&self) -> MutexGuard<'_, Retained> {
        lock(&self.objects)
    }

    /// Ends the handles of the graph, of its nodes, and of the graphs that they own.
    pub(crate) fn end(&self) {
        let mut open = self.end_alone();
        while let Some(graph) = open.pop() {
            open.extend(graph.end_alone());
        }
    }

    /// Ends the graph but for the graphs inside, which it returns.
    fn end_alone(&self) -> Vec<Arc<Graph>> {
        let mut inside = Vec::new();
        GRAPHS.remove(self.handle);
        let entries = {
            let mut body = self.lock();
            body.ended = true;
            std::mem::take(&mut body.nodes)
        };
        for entry in entries.into_iter().flatten() {
            NODES.remove(entry.handle);
            inside.extend(entry.work.graphs().iter().cloned());
            entry.work.end_alone(self);
        }
        let objects = std::mem::take(&mut *self.objects());
        drop(objects);
        inside
    }

    /// Adds a node.
    ///
    /// # Errors
    /// [`Error::InvalidValue`]: a dependency is no node of this graph, or is given twice with the same data.
    /// The work's graphs and its claim on memory end with an error.
    pub fn add(&self, dependencies: &[(Handle, Edge)], work: Work) -> Result<Handle> {
        self.try_add(dependencies, &work).inspect_err(|_| {
            work.abandon();
            if let Work::Free(reservation) = &work {
                reservation.remove_free(self);
            }
        })
    }

    fn try_add(&self, dependencies: &[(Handle, Edge)], work: &Work) -> Result<Handle> {
        let mut body = self.lock();
        if body.ended {
            return Err(Error::InvalidValue);
        }
        let incoming = self.dependencies(&body, dependencies, work)?;
        self.take_in(work)?;
        if let Work::Allocate(reservation) = work {
            reservation.belongs_to(self);
        }
        body.frees_memory |= matches!(work, Work::Free(_));
        body.may_own_memory |= matches!(work, Work::Allocate(_) | Work::Free(_) | Work::Child(_));
        let work = work.clone();
        let index = u32::try_from(body.nodes.len()).map_err(|_| Error::OutOfMemory)?;
        let made = NODES.insert_with(|_| Arc::new(Node { graph: Weak::clone(&self.me), index }));
        let handle = made.ok_or(Error::OutOfMemory)?.0;
        for (from, _) in &incoming {
            body.entry_mut(*from as usize)?.outgoing.push(index);
        }
        let (incoming, outgoing) = (incoming.into(), Links::default());
        body.nodes.push(Some(Entry { handle, origin: 0, work, incoming, outgoing }));
        Ok(handle)
    }

    /// The handles of all nodes, in the order in which they were added.
    pub fn nodes(&self) -> Vec<Handle> {
        self.lock().entries().map(|(_, entry)| entry.handle).collect()
    }

    /// The handles of the nodes without dependencies.
    pub fn roots(&self) -> Vec<Handle> {
        self.lock().entries().filter(|(_, e)| e.incoming.is_empty()).map(|(_, e)| e.handle).collect()
    }

    /// A copy with nodes of its own.
    ///
    /// # Errors
    /// [`Error::NotSupported`]: the graph allocates or frees memory, or has conditional nodes.
    pub fn clone_graph(&self) -> Result<Arc<Graph>> {
        if !self.can_be_cloned() {
            return Err(Error::NotSupported);
        }
        self.copy()
    }

    /// As [`Graph::clone_graph`], of a graph that can be cloned.
    fn copy(&self) -> Result<Arc<Graph>> {
        let first = self.copy_alone()?;
        let mut open = vec![Arc::clone(&first)];
        while let Some(copy) = open.pop() {
            open.extend(copy.adopt()?);
        }
        Ok(first)
    }

    /// A copy that [`Graph::adopt`] makes independent of the original.
    fn copy_alone(&self) -> Result<Arc<Graph>> {
        let body = {
            let own = self.lock();
            Body { nodes: own.nodes.clone(), may_own_memory: own.may_own_memory, ..Body::default() }
        };
        let clone = Graph::with_handle(body)?;
        let objects = self.objects().clone();
        *clone.objects() = objects;
        Ok(clone)
    }

    /// A copy for a node.
    pub fn clone_for_node(&self) -> Result<Arc<Graph>> {
        let copy = self.clone_graph()?;
        copy.owned.store(true, Ordering::Release);
        Ok(copy)
    }

    /// Whether a copy can exist beside the graph.
    pub(crate) fn can_be_cloned(&self) -> bool {
        let keeps = |work: &Work| matches!(work, Work::Conditional(_) | Work::Allocate(_) | Work::Free(_));
        !self.any(|body| body.entries().any(|(_, entry)| keeps(&entry.work)))
    }

    /// Whether kernels update a node of the graph or of its child graphs and bodies.
    pub(super) fn has_updatable(&self) -> bool {
        self.any(|body| body.entries().any(|(_, entry)| entry.work.is_updatable()))
    }

    /// Forgets what kernels have changed in nodes: another executable graph begins.
    pub(super) fn reset_updates(&self) {
        self.any(|body| {
            for (_, entry) in body.entries() {
                entry.work.reset_updates();
                if let Work::Kernel(kernel) = &entry.work
                    && let Some(node) = &kernel.updatable
                {
                    node.reset_enabled();
                }
            }
            false
        });
    }

    /// Gives the entries of a fresh copy nodes of their own, and copies the graphs of its child nodes.
    /// Returns these copies, which must adopt their entries as well.
    fn adopt(&self) -> Result<Vec<Arc<Graph>>> {
        let mut inside = Vec::new();
        let mut body = self.lock();
        for (index, place) in body.nodes.iter_mut().enumerate() {
            let Some(entry) = place else { continue };
            let index = index as u32;
            let made = NODES.insert_with(|_| Arc::new(Node { graph: Weak::clone(&self.me), index }));
            entry.origin = entry.handle;
            entry.handle = made.ok_or(Error::OutOfMemory)?.0;
            if let Work::Kernel(kernel) = &mut entry.work
                && kernel.updatable.is_some()
            {
                kernel.make_updatable();
            }
            if let Work::Child(child) = &entry.work {
                let copy = child.copy_alone()?;
                copy.owned.store(true, Ordering::Release);
                copy.weight.store(CHILD_WEIGHT, Ordering::Release);
                lock(&copy.owner).clone_from(&self.me);
                inside.push(Arc::clone(&copy));
                entry.work = Work::Child(copy);
            }
        }
        Ok(inside)
    }

    /// A copy that no handle reaches, whose entries keep the handles of the original's nodes.
    pub(crate) fn snapshot(&self) -> Arc<Graph> {
        let first = self.snapshot_alone();
        let mut open = vec![Arc::clone(&first)];
        while let Some(copy) = open.pop() {
            for entry in copy.lock().nodes.iter_mut().flatten() {
                entry.work.detach();
                open.extend(entry.work.graphs().iter().cloned());
            }
        }
        first
    }

    /// The same, but for the graphs inside, which are the original's.
    fn snapshot_alone(&self) -> Arc<Graph> {
        let body = self.lock();
        let nodes = body.nodes.clone();
        let (variables, may_own_memory) = (body.variables.clone(), body.may_own_memory);
        drop(body);
        let copy = Graph::new(0, Body { nodes, variables, may_own_memory, ..Body::default() });
        let objects = self.objects().clone();
        *copy.objects() = objects;
        copy
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        let body = self.body.get_mut().unwrap_or_else(PoisonError::into_inner);
        later::drop_nodes(std::mem::take(&mut body.nodes));
    }
}

impl Body {
    pub(crate) fn entry(&self, index: usize) -> Result<&Entry> {
        self.nodes.get(index).and_then(Option::as_ref).ok_or(Error::InvalidValue)
    }

    pub(crate) fn entry_mut(&mut self, index: usize) -> Result<&mut Entry> {
        self.nodes.get_mut(index).and_then(Option::as_mut).ok_or(Error::InvalidValue)
    }

    /// The nodes with their indices, in the order in which they were added.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (usize, &Entry)> {
        self.nodes.iter().enumerate().filter_map(|(index, entry)| Some((index, entry.as_ref()?)))
    }

    /// The graphs that nodes own.
    fn inside(&self) -> impl Iterator<Item = &Arc<Graph>> {
        self.entries().flat_map(|(_, entry)| entry.work.graphs())
    }

    /// One more than the largest index.
    pub(crate) fn room(&self) -> usize {
        self.nodes.len()
    }

    /// Whether nodes allocate or free memory, in this graph or in those of its child nodes.
    pub(crate) fn owns_memory(&self) -> bool {
        let mut open: Vec<Arc<Graph>> = Vec::new();
        let found = |open: &mut Vec<_>, body: &Body| {
            body.may_own_memory
                && body.entries().any(|(_, entry)| {
                    if let Work::Child(child) = &entry.work {
                        open.push(Arc::clone(child));
                    }
                    matches!(entry.work, Work::Allocate(_) | Work::Free(_))
                })
        };
        if found(&mut open, self) {
            return true;
        }
        while let Some(graph) = open.pop() {
            if found(&mut open, &graph.lock()) {
                return true;
            }
        }
        false
    }

    /// The node indices in an order in which every node follows those that it depends on; `None` if there is
    /// a cycle. Nodes that are ready at the same time keep the order in which they were added.
    pub(crate) fn order(&self) -> Option<Vec<u32>> {
        let mut missing: Vec<u32> = vec![0; self.room()];
        let mut order = Vec::with_capacity(self.room());
        for (index, entry) in self.entries() {
            missing[index] = entry.incoming.len() as u32;
            if entry.incoming.is_empty() {
                order.push(index as u32);
            }
        }
        let mut next = 0;
        while let Some(&index) = order.get(next) {
            next += 1;
            let Some(Some(entry)) = self.nodes.get(index as usize) else { continue };
            for &to in &entry.outgoing {
                missing[to as usize] -= 1;
                if missing[to as usize] == 0 {
                    order.push(to);
                }
            }
        }
        (order.len() == self.entries().count()).then_some(order)
    }

    /// A node of a cycle.
    pub(crate) fn on_a_cycle(&self) -> Option<Handle> {
        // What remains without the nodes that can run is on cycles or behind them.
        let mut count: Vec<usize> =
            self.nodes.iter().map(|place| place.as_ref().map_or(0, |entry| entry.incoming.len())).collect();
        let mut open: Vec<usize> =
            self.entries().filter(|(_, e)| e.incoming.is_empty()).map(|(index, _)| index).collect();
        let mut gone = vec![false; self.room()];
        while let Some(index) = open.pop() {
            gone[index] = true;
            for &to in self.entry(index).ok()?.outgoing.iter() {
                count[to as usize] -= 1;
                if count[to as usize] == 0 {
                    open.push(to as usize);
                }
            }
        }
        // Each node left has a dependency that is left: going backwards must come to a node again.
        let mut at = self.entries().find(|(index, _)| !gone[*index])?.0;
        let mut seen = vec![false; self.room()];
        while !std::mem::replace(&mut seen[at], true) {
            at = self.entry(at).ok()?.incoming.iter().find(|(from, _)| !gone[*from as usize])?.0 as usize;
        }
        Some(self.entry(at).ok()?.handle)
    }
}
