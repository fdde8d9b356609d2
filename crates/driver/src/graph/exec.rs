//! Executable graphs.

use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use smallvec::SmallVec;

use crate::error::{Error, Result};
use crate::event::{Record, Wait};
use crate::handle::{Handle, Table, lock};
use crate::stream::{Operation, Point, Policy, Stream};

use super::flatten::{self, Place, Places};
pub use super::flatten::{Reason, Refusal};
use super::plan::{Plan, Step, Task};
use super::update::{self, Rules};
use super::work::{Kind, Work};
use super::{Body, Graph, device};

static EXECS: Table<Exec> = Table::new(crate::handle::Kind::GraphExec);

/// Flags of instantiation.
pub mod flag {
    /// A launch first frees what the launch before it left allocated.
    pub const AUTO_FREE_ON_LAUNCH: u64 = 1;
    /// Instantiation uploads the graph.
    pub const UPLOAD: u64 = 2;
    /// Kernels may launch the graph.
    pub const DEVICE_LAUNCH: u64 = 4;
    /// Nodes run with their own priorities instead of the stream's.
    pub const USE_NODE_PRIORITY: u64 = 8;
}

const KNOWN_FLAGS: u64 =
    flag::AUTO_FREE_ON_LAUNCH | flag::UPLOAD | flag::DEVICE_LAUNCH | flag::USE_NODE_PRIORITY;

/// An executable graph.
pub struct Exec {
    /// The handle.
    pub handle: Handle,
    /// The flags of its instantiation.
    pub flags: u64,
    /// A copy of the graph as it was instantiated, with the updates since. Guards updates.
    graph: Arc<Graph>,
    plan: Mutex<Arc<Plan>>,
    /// What kernels launch: the plan when it was last uploaded.
    uploaded: Mutex<Option<Arc<Plan>>>,
    /// How many launches run or wait for the end of a graph that runs; without those that wait in streams.
    pub(super) launches: AtomicU32,
    places: Places,
    /// The handle of the graph that was instantiated.
    origin: Handle,
    /// The graph whose memory it uses; that graph can have no other executable one meanwhile.
    source: Option<Weak<Graph>>,
    /// The end of the last launch: launches of one executable graph run in order.
    last: Mutex<Option<Point>>,
}

/// The executable graph of a handle.
pub fn get(handle: Handle) -> Result<Arc<Exec>> {
    EXECS.get(handle).ok_or(Error::InvalidValue)
}

/// Destroys an executable graph. Launches that were submitted still run.
pub fn destroy(handle: Handle) -> Result<()> {
    let exec = EXECS.remove(handle).ok_or(Error::InvalidValue)?;
    if let Some(source) = exec.source.as_ref().and_then(Weak::upgrade) {
        source.lock().instantiated = false;
    }
    Ok(())
}

/// Instantiates a graph.
pub fn instantiate(source: &Arc<Graph>, flags: u64) -> Result<Handle, Refusal> {
    if flags & !KNOWN_FLAGS != 0 || flags & flag::AUTO_FREE_ON_LAUNCH != 0 && flags & flag::DEVICE_LAUNCH != 0
    {
        return Err(Error::InvalidValue.into());
    }
    if flags & flag::DEVICE_LAUNCH != 0 {
        check_for_device(source)?;
    }
    let graph = source.snapshot();
    let (plan, places) = flatten::compile(&graph)?;
    let owner = if graph.lock().owns_memory() || graph.has_updatable() {
        // A graph with memory nodes, or with nodes that kernels update, has at most one executable graph.
        if std::mem::replace(&mut source.lock().instantiated, true) {
            return Err(Error::NotSupported.into());
        }
        graph.reset_updates();
        Some(Arc::downgrade(source))
    } else {
        None
    };
    let made = EXECS.insert_with(|handle| {
        let (plan, last) = (Mutex::new(Arc::new(plan)), Mutex::new(None));
        let origin = source.handle;
        let (uploaded, launches) = (Mutex::default(), AtomicU32::new(0));
        Arc::new(Exec { handle, flags, graph, plan, uploaded, launches, places, origin, source: owner, last })
    });
    made.map(|made| made.0).ok_or_else(|| Error::OutOfMemory.into())
}

/// Checks a graph that kernels may launch: only kernels, copies, fills and child graphs, in one context
/// (recorded on an H200).
fn check_for_device(graph: &Arc<Graph>) -> Result<(), Refusal> {
    let mut open = vec![Arc::clone(graph)];
    while let Some(graph) = open.pop() {
        check_body_for_device(&graph.lock(), &mut open)?;
    }
    Ok(())
}

/// The same without the child graphs, which it adds to a list.
fn check_body_for_device(body: &Body, open: &mut Vec<Arc<Graph>>) -> Result<(), Refusal> {
    let wrong = |reason, node| Refusal { error: Error::InvalidValue, reason, node };
    if body.entries().next().is_none() {
        return Err(wrong(Reason::Arguments, 0));
    }
    let mut first = None;
    for (_, entry) in body.entries() {
        if !matches!(entry.work.kind(), Kind::Kernel | Kind::Copy | Kind::Fill | Kind::Child) {
            return Err(wrong(Reason::Unsupported, entry.handle));
        }
        if let Work::Child(child) = &entry.work {
            open.push(Arc::clone(child));
        }
        let context = entry.work.context();
        if context.is_some() && *first.get_or_insert(context) != context {
            return Err(wrong(Reason::Contexts, entry.handle));
        }
    }
    Ok(())
}

impl Exec {
    /// Submits a launch to a stream.
    pub fn launch(self: &Arc<Self>, stream: &Arc<Stream>) -> Result<()> {
        stream.submit(
            Operation::Graph(Box::new(GraphLaunch { exec: Arc::clone(self), settled: None })),
            Policy::Later,
        )
    }

    /// Uploads the graph: kernels may launch it, as it is now, if its flags say so.
    ///
    /// # Errors
    /// A texture reference of a kernel is bound to something that it cannot read.
    pub fn upload(&self) -> Result<()> {
        let plan = Arc::clone(&self.plan());
        plan.bind_references()?;
        self.note_uploaded(&plan);
        Ok(())
    }

    fn note_uploaded(&self, plan: &Arc<Plan>) {
        if self.flags & flag::DEVICE_LAUNCH != 0 {
            *lock(&self.uploaded) = Some(Arc::clone(plan));
        }
    }

    /// What kernels launch, if they may.
    pub(super) fn uploaded(&self) -> Option<Arc<Plan>> {
        lock(&self.uploaded).clone()
    }

    /// The graph as it was instantiated, with the updates since.
    pub(super) fn graph(&self) -> &Arc<Graph> {
        &self.graph
    }

    pub(super) fn plan(&self) -> MutexGuard<'_, Arc<Plan>> {
        lock(&self.plan)
    }

    /// A copy of the graph for a node of another one.
    ///
    /// # Errors
    /// [`Error::StreamCaptureUnsupported`]: it has nodes that cannot be copied.
    pub(crate) fn as_child(&self) -> Result<Arc<Graph>> {
        self.graph.clone_for_node().map_err(|_| Error::StreamCaptureUnsupported)
    }

    /// The place of a node that has not been removed from the original graph. If that graph was destroyed as
    /// a whole, its nodes' handles still name the nodes here, as programs expect.
    pub(super) fn place(&self, node: Handle) -> Result<&Place> {
        if super::get(self.origin).is_ok() {
            super::place(node)?;
        }
        self.places.get(&node).ok_or(Error::InvalidValue)
    }

    /// Calls a function with the work of a node as it was instantiated or last updated.
    pub fn with_work<T>(&self, node: Handle, read: impl FnOnce(&Work) -> Result<T>) -> Result<T> {
        self.place(node)?.with(|work| read(work))
    }

    /// Fails unless a node is of a kind.
    ///
    /// # Errors
    /// [`Error::InvalidValue`]: no such node, or a node of another kind.
    pub fn check_kind(&self, node: Handle, kind: Kind) -> Result<()> {
        self.with_work(node, |work| if work.kind() == kind { Ok(()) } else { Err(Error::InvalidValue) })
    }

    /// The number of its copy of the graph, unique in the process.
    pub fn graph_id(&self) -> u64 {
        self.graph.id
    }

    /// Replaces the work of a node for later launches.
    ///
    /// # Errors
    /// [`Error::InvalidValue`]: no such node, another kind of node, or a change that an update cannot make.
    pub fn set_work(&self, rules: Rules, node: Handle, mut work: Work) -> Result<()> {
        let place = self.place(node)?;
        place.with(|old| {
            work.inherit(old);
            Ok(())
        })?;
        let mut plan = self.plan();
        let task = Task::of(&work);
        note_references(&mut plan, &task);
        let step = step_mut(&mut plan, place)?;
        place.with(|old| {
            update::check_change(old, &work, (rules, self.flags)).map_err(|_| Error::InvalidValue)?;
            work.reset_updates();
            step.task = task;
            *old = work;
            Ok(())
        })
    }

    /// Replaces the graph of a child node for later launches.
    ///
    /// # Errors
    /// [`Error::InvalidValue`]: no such child node. [`Error::GraphExecUpdateFailure`]: a graph of another
    /// structure.
    pub fn set_child(&self, rules: Rules, node: Handle, graph: &Graph) -> Result<()> {
        let child = self.place(node)?.with(|work| match work {
            Work::Child(child) => Ok(Arc::clone(child)),
            _ => Err(Error::InvalidValue),
        })?;
        let changes = update::changes(&child, graph, (rules, self.flags));
        self.apply(changes.map_err(|_| Error::GraphExecUpdateFailure)?)
    }

    /// Makes checked changes: nodes as they are known here, with their new work.
    pub(super) fn apply(&self, changes: Vec<(Handle, Work)>) -> Result<()> {
        let mut plan = self.plan();
        for (node, work) in changes {
            // Nodes of the original may be gone by now.
            let place = self.places.get(&node).ok_or(Error::InvalidValue)?;
            let new = Task::of(&work);
            note_references(&mut plan, &new);
            let step = step_mut(&mut plan, place)?;
            let before = place.with(|old| Ok(std::mem::replace(old, work.clone())))?;
            match (&mut step.task, &before, &work) {
                (Task::Branch(branch), Work::Conditional(before), Work::Conditional(after)) => {
                    branch.conditional = Arc::clone(after);
                    Plan::replace_variable(&mut plan, before.variable.handle, &after.variable);
                }
                (task, ..) => *task = new,
            }
        }
        Ok(())
    }

    /// Whether a kernel, copy or fill node is enabled.
    pub fn is_enabled(&self, node: Handle) -> Result<bool> {
        let place = self.switchable(node)?;
        let mut plan = Arc::clone(&self.plan());
        Ok(step_mut(&mut plan, place)?.enabled)
    }

    /// Enables or disables a kernel, copy or fill node for later launches.
    pub fn enable(&self, node: Handle, enabled: bool) -> Result<()> {
        let place = self.switchable(node)?;
        let mut plan = self.plan();
        let step = step_mut(&mut plan, place)?;
        step.enabled = enabled;
        if let Task::Update(node, _) = &step.task {
            node.reset_enabled();
        }
        Ok(())
    }

    fn switchable(&self, node: Handle) -> Result<&Place> {
        let place = self.place(node)?;
        let kind = place.with(|work| Ok(work.kind()))?;
        if matches!(kind, Kind::Kernel | Kind::Copy | Kind::Fill) {
            Ok(place)
        } else {
            Err(Error::InvalidValue)
        }
    }
}

/// Notes that a plan will have a task, perhaps in a conditional node.
fn note_references(plan: &mut Arc<Plan>, task: &Task) {
    if task.has_references() {
        Arc::make_mut(plan).has_references = true;
    }
}

/// The step at a place; launches that run keep the old plan.
fn step_mut<'a>(plan: &'a mut Arc<Plan>, place: &Place) -> Result<&'a mut Step> {
    let mut plan = Arc::make_mut(plan);
    for (step, body) in &place.path {
        let Some(Task::Branch(branch)) = plan.steps.get_mut(*step as usize).map(|step| &mut step.task) else {
            return Err(Error::InvalidValue);
        };
        plan = Arc::make_mut(branch.bodies.get_mut(*body as usize).ok_or(Error::InvalidValue)?);
    }
    plan.steps.get_mut(place.step as usize).ok_or(Error::InvalidValue)
}

/// A launch of a graph, as a stream operation.
#[derive(Clone)]
pub struct GraphLaunch {
    exec: Arc<Exec>,
    settled: Option<Settled>,
}

/// What belongs to one submission.
#[derive(Clone)]
pub(super) struct Settled {
    pub(super) plan: Arc<Plan>,
    pub(super) events: Vec<(u32, EventStep)>,
}

/// An event step of one submission.
#[derive(Clone)]
pub(super) enum EventStep {
    Record(Record),
    Wait(Wait),
}

impl GraphLaunch {
    /// The executable graph.
    pub(crate) fn exec(&self) -> &Exec {
        &self.exec
    }

    /// Begins a submission: takes the plan as it is, changes graph memory, and finds the records to wait for.
    pub(crate) fn settle(&mut self, after: &mut SmallVec<[Point; 1]>) -> Result<()> {
        let plan = Arc::clone(&self.exec.plan());
        plan.bind_references()?;
        let mut events = Vec::new();
        for &index in &plan.events {
            match plan.steps.get(index as usize).map(|step| &step.task) {
                Some(Task::Run(Operation::Record(record))) => {
                    let mut record = record.clone();
                    record.settle_inside();
                    events.push((index, EventStep::Record(record)));
                }
                Some(Task::Run(Operation::Wait(wait))) => {
                    let mut wait = wait.clone();
                    wait.settle_inside()?;
                    events.push((index, EventStep::Wait(wait)));
                }
                _ => {}
            }
        }
        // The last step that can fail.
        plan.change_memory(self.exec.flags & flag::AUTO_FREE_ON_LAUNCH != 0)?;
        self.exec.note_uploaded(&plan);
        after.extend(lock(&self.exec.last).clone().filter(|point| !point.reached()));
        self.settled = Some(Settled { plan, events });
        Ok(())
    }

    /// Notes the point that the submission occupies in its stream.
    pub(crate) fn submitted(&self, point: &Point) {
        if let Some(settled) = &self.settled {
            for (_, step) in &settled.events {
                if let EventStep::Record(record) = step {
                    record.recorded(point.clone());
                }
            }
        }
        *lock(&self.exec.last) = Some(point.clone());
    }

    pub(crate) fn run(&self, stream: &Arc<Stream>, turn: Option<&host::threads::Turn>) -> Result<()> {
        let run = |settled| device::run_launch(&self.exec, settled, stream, turn);
        self.settled.as_ref().map_or(Ok(()), run)
    }
}

impl Place {
    /// Calls a function with the copied work of the node.
    fn with<T>(&self, with: impl FnOnce(&mut Work) -> Result<T>) -> Result<T> {
        with(&mut self.graph.lock().entry_mut(self.index as usize)?.work)
    }
}
