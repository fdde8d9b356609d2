//! From a graph to its plan.

use std::collections::HashMap;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::error::Error;
use crate::handle::Handle;

use super::conditional::Variable;
use super::plan::{Branch, Memory, Plan, Step, Task};
use super::{Entry, Graph, Work};

/// Why a graph cannot be instantiated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What the call returns.
    pub error: Error,
    /// What is wrong.
    pub reason: Reason,
    /// The node that is wrong, or 0.
    pub node: Handle,
}

/// What is wrong with a graph, in the order of `CUgraphInstantiateResult`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Reason {
    /// The arguments, or an unexpected error.
    Arguments = 1,
    /// There is a cycle.
    Structure,
    /// A node that this way of launching does not support.
    Unsupported,
    /// Nodes of several contexts where only one is allowed.
    Contexts,
    /// A conditional variable that no node uses.
    UnusedVariable,
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Refusal { error, reason: Reason::Arguments, node: 0 }
    }
}

/// Where the work of a node went: the steps of conditional nodes that lead there with the number of the body,
/// and the step in the innermost plan. And where the node's copy is: the graph with its index there.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) path: SmallVec<[(u32, u32); 1]>,
    pub(super) step: u32,
    pub(super) graph: Arc<Graph>,
    pub(super) index: u32,
}

/// The places of all nodes.
pub(super) type Places = HashMap<Handle, Place>;

/// A plan that waits to be compiled: the graph, the steps of conditional nodes that lead to it, and which
/// plan has the last of these.
struct Waiting {
    graph: Arc<Graph>,
    path: SmallVec<[(u32, u32); 1]>,
    parent: usize,
}

/// Compiles a graph. Returns the plan and the places of its nodes.
pub(super) fn compile(graph: &Arc<Graph>) -> Result<(Plan, Places), Refusal> {
    let mut places = Places::new();
    let mut used = Vec::new();
    // The plan of the graph, then those of the bodies of conditional nodes, each after the one around it.
    let mut waiting = vec![Waiting { graph: Arc::clone(graph), path: SmallVec::new(), parent: 0 }];
    let mut plans = Vec::new();
    while let Some(Waiting { graph, path, .. }) = waiting.get(plans.len()) {
        let (graph, path, number) = (Arc::clone(graph), path.clone(), plans.len());
        let (places, used, bodies) = (&mut places, &mut used, &mut waiting);
        let mut builder =
            Builder { plan: Plan::default(), edges: Vec::new(), path: &path, number, places, used, bodies };
        builder.add(&graph)?;
        plans.push(builder.finish());
    }
    // From the last one on, so that a plan has its bodies when it becomes one.
    while let Some(plan) = plans.pop() {
        let Some(Waiting { path, parent, .. }) = waiting.get(plans.len()) else { break };
        let Some(&(step, body)) = path.last() else {
            let unused = |variable: &Arc<Variable>| !used.contains(&variable.handle);
            if plan.variables.iter().any(unused) {
                return Err(Refusal { error: Error::InvalidValue, reason: Reason::UnusedVariable, node: 0 });
            }
            return Ok((plan, places));
        };
        let Some(around) = plans.get_mut(*parent) else { break };
        around.has_references |= plan.has_references;
        if let Some(Step { task: Task::Branch(branch), .. }) = around.steps.get_mut(step as usize)
            && let Some(place) = branch.bodies.get_mut(body as usize)
        {
            *place = Arc::new(plan);
        }
    }
    Err(Error::Unknown.into())
}

struct Builder<'a> {
    plan: Plan,
    /// From step to step.
    edges: Vec<(u32, u32)>,
    path: &'a SmallVec<[(u32, u32); 1]>,
    /// The number of the plan.
    number: usize,
    places: &'a mut Places,
    used: &'a mut Vec<u64>,
    /// Where the bodies of conditional nodes wait.
    bodies: &'a mut Vec<Waiting>,
}

/// A graph whose steps are being added.
struct Adding {
    graph: Arc<Graph>,
    /// Its nodes that are left.
    order: std::vec::IntoIter<u32>,
    /// The last step of each node.
    ends: Vec<u32>,
    /// The steps that nothing in it comes before, and those that nothing comes after.
    roots: Vec<u32>,
    leaves: Vec<u32>,
    /// The child node whose graph is being added: its index, its first step, and whether nothing comes after
    /// it.
    child: (u32, u32, bool),
}

/// What became of a node.
enum Added {
    Step(u32),
    /// The first step of a child node, whose graph is to be added.
    Child(u32, Arc<Graph>),
}

impl Adding {
    /// Notes the first step of a node, and the edges to it.
    fn begin(&mut self, entry: &Entry, from: u32, edges: &mut Vec<(u32, u32)>) {
        edges.extend(entry.incoming.iter().map(|(before, _)| (self.ends[*before as usize], from)));
        if entry.incoming.is_empty() {
            self.roots.push(from);
        }
    }

    /// Notes the last step of a node.
    fn end(&mut self, index: u32, to: u32, is_leaf: bool) {
        self.ends[index as usize] = to;
        if is_leaf {
            self.leaves.push(to);
        }
    }
}

impl Builder<'_> {
    fn step(&mut self, task: Task) -> u32 {
        let index = self.plan.steps.len() as u32;
        self.plan.has_references |= task.has_references();
        self.plan.steps.push(Step { task, enabled: true });
        index
    }

    /// Adds the steps of a graph and of its child graphs.
    fn add(&mut self, graph: &Arc<Graph>) -> Result<(), Refusal> {
        let mut stack = vec![self.begin(graph)?];
        while let Some(adding) = stack.last_mut() {
            if let Some(child) = self.add_nodes(adding)? {
                stack.push(self.begin(&child)?);
                continue;
            }
            let done = stack.pop();
            if let (Some(done), Some(around)) = (done, stack.last_mut()) {
                self.end_child(&done, around);
            }
        }
        Ok(())
    }

    fn begin(&mut self, graph: &Arc<Graph>) -> Result<Adding, Refusal> {
        let body = graph.lock();
        let order = body.order().ok_or_else(|| Refusal {
            error: Error::InvalidValue,
            reason: Reason::Structure,
            node: body.on_a_cycle().unwrap_or(0),
        })?;
        self.plan.variables.extend(body.variables.iter().cloned());
        Ok(Adding {
            graph: Arc::clone(graph),
            order: order.into_iter(),
            ends: vec![0; body.room()],
            roots: Vec::new(),
            leaves: Vec::new(),
            child: (0, 0, false),
        })
    }

    /// Adds the steps of nodes up to a child node, whose graph it returns, or of all that are left.
    fn add_nodes(&mut self, adding: &mut Adding) -> Result<Option<Arc<Graph>>, Refusal> {
        let graph = Arc::clone(&adding.graph);
        let body = graph.lock();
        while let Some(index) = adding.order.next() {
            let entry = body.entry(index as usize)?;
            let is_leaf = entry.outgoing.is_empty();
            match self.node(&graph, index, entry.handle, &entry.work)? {
                Added::Step(step) => {
                    adding.begin(entry, step, &mut self.edges);
                    adding.end(index, step, is_leaf);
                }
                Added::Child(first, child) => {
                    adding.begin(entry, first, &mut self.edges);
                    adding.child = (index, first, is_leaf);
                    return Ok(Some(child));
                }
            }
        }
        Ok(None)
    }

    /// Adds the last step of a child node.
    fn end_child(&mut self, done: &Adding, around: &mut Adding) {
        let (index, first, is_leaf) = around.child;
        let last = self.step(Task::Nothing);
        self.edges.extend(done.roots.iter().map(|root| (first, *root)));
        self.edges.extend(done.leaves.iter().map(|leaf| (*leaf, last)));
        if done.roots.is_empty() {
            self.edges.push((first, last));
        }
        around.end(index, last, is_leaf);
    }

    /// Adds the step of a node.
    fn node(&mut self, graph: &Arc<Graph>, index: u32, node: Handle, work: &Work) -> Result<Added, Refusal> {
        // In a conditional node, whose value decides during the launch what runs.
        if !self.path.is_empty() && !work.can_be_conditional() {
            return Err(Refusal { error: Error::InvalidValue, reason: Reason::Unsupported, node });
        }
        let step = match work {
            Work::Child(_) => self.step(Task::Nothing),
            Work::Conditional(conditional) => {
                self.used.push(conditional.variable.handle);
                let step = self.plan.steps.len() as u32;
                let wait = |(number, body): (usize, &Arc<Graph>)| {
                    let mut path = self.path.clone();
                    path.push((step, number as u32));
                    Waiting { graph: Arc::clone(body), path, parent: self.number }
                };
                self.bodies.extend(conditional.bodies.iter().enumerate().map(wait));
                // Replaced when they have been compiled.
                let bodies = vec![Arc::default(); conditional.bodies.len()];
                self.step(Task::Branch(Branch { conditional: Arc::clone(conditional), bodies }))
            }
            Work::Allocate(reservation) => {
                self.plan.memory.push(Memory::Allocate(Arc::clone(reservation)));
                self.step(Task::Nothing)
            }
            Work::Free(reservation) => {
                self.plan.memory.push(Memory::Free(Arc::clone(reservation)));
                self.step(Task::Nothing)
            }
            work => {
                let step = self.step(Task::of(work));
                if matches!(work, Work::Record(_) | Work::Wait(_)) {
                    self.plan.events.push(step);
                }
                step
            }
        };
        self.places.insert(node, Place { path: self.path.clone(), step, graph: Arc::clone(graph), index });
        Ok(if let Work::Child(child) = work {
            Added::Child(step, Arc::clone(child))
        } else {
            Added::Step(step)
        })
    }

    /// Sorts the edges by their first step.
    fn finish(self) -> Plan {
        let Builder { mut plan, mut edges, .. } = self;
        let count = plan.steps.len();
        edges.sort_unstable();
        // Edges that differ in their data alone are one dependency here.
        edges.dedup();
        plan.missing = vec![0; count];
        plan.first = vec![0; count + 1];
        for (from, to) in &edges {
            plan.missing[*to as usize] += 1;
            plan.first[*from as usize + 1] += 1;
        }
        for index in 1..plan.first.len() {
            plan.first[index] += plan.first[index - 1];
        }
        plan.after = edges.iter().map(|(_, to)| *to).collect();
        let follows = |step: usize| plan.after((step - 1) as u32).contains(&(step as u32));
        plan.chain = (1..count).all(follows);
        plan
    }
}
