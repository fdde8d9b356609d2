//! From a graph to its plan.

use std::collections::HashMap;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::error::Error;
use crate::handle::Handle;

use super::conditional::Variable;
use super::plan::{Branch, Memory, Plan, Step, Task};
use super::{Graph, Work};

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

/// Compiles a graph. Returns the plan and the places of its nodes.
pub(super) fn compile(graph: &Arc<Graph>) -> Result<(Plan, Places), Refusal> {
    let mut places = Places::new();
    let mut used = Vec::new();
    let plan = plan_of(graph, &SmallVec::new(), &mut places, &mut used)?;
    let unused = |variable: &&Arc<Variable>| !used.contains(&variable.handle);
    if plan.variables.iter().any(|variable| unused(&variable)) {
        return Err(Refusal { error: Error::InvalidValue, reason: Reason::UnusedVariable, node: 0 });
    }
    Ok((plan, places))
}

fn plan_of(
    graph: &Arc<Graph>,
    path: &SmallVec<[(u32, u32); 1]>,
    places: &mut Places,
    used: &mut Vec<u64>,
) -> Result<Plan, Refusal> {
    let mut builder = Builder { plan: Plan::default(), edges: Vec::new(), path, places, used };
    builder.add(graph)?;
    Ok(builder.finish())
}

struct Builder<'a> {
    plan: Plan,
    /// From step to step.
    edges: Vec<(u32, u32)>,
    path: &'a SmallVec<[(u32, u32); 1]>,
    places: &'a mut Places,
    used: &'a mut Vec<u64>,
}

impl Builder<'_> {
    fn step(&mut self, task: Task) -> u32 {
        let index = self.plan.steps.len() as u32;
        self.plan.steps.push(Step { task, enabled: true });
        index
    }

    /// Adds the steps of a graph. Returns those that nothing in it comes before, and those that nothing comes
    /// after.
    fn add(&mut self, graph: &Arc<Graph>) -> Result<(Vec<u32>, Vec<u32>), Refusal> {
        let body = graph.lock();
        let order = body.order().ok_or_else(|| Refusal {
            error: Error::InvalidValue,
            reason: Reason::Structure,
            node: body.on_a_cycle().unwrap_or(0),
        })?;
        self.plan.variables.extend(body.variables.iter().cloned());
        // The first and the last step of each node.
        let mut spans = vec![(0u32, 0u32); body.room()];
        let (mut roots, mut leaves) = (Vec::new(), Vec::new());
        for index in order {
            let entry = body.entry(index as usize)?;
            let (from, to) = self.node(graph, index, entry.handle, &entry.work)?;
            spans[index as usize] = (from, to);
            for (before, _) in &entry.incoming {
                self.edges.push((spans[*before as usize].1, from));
            }
            if entry.incoming.is_empty() {
                roots.push(from);
            }
            if entry.outgoing.is_empty() {
                leaves.push(to);
            }
        }
        Ok((roots, leaves))
    }

    /// Adds the steps of a node. Returns the first and the last one.
    fn node(
        &mut self,
        graph: &Arc<Graph>,
        index: u32,
        node: Handle,
        work: &Work,
    ) -> Result<(u32, u32), Refusal> {
        // In a conditional node, whose value decides during the launch what runs.
        if !self.path.is_empty() && !work.can_be_conditional() {
            return Err(Refusal { error: Error::InvalidValue, reason: Reason::Unsupported, node });
        }
        let place =
            |path: &SmallVec<_>, step| Place { path: path.clone(), step, graph: Arc::clone(graph), index };
        let step = match work {
            Work::Child(child) => {
                let first = self.step(Task::Nothing);
                self.places.insert(node, place(self.path, first));
                let (roots, leaves) = self.add(child)?;
                let last = self.step(Task::Nothing);
                self.edges.extend(roots.iter().map(|root| (first, *root)));
                self.edges.extend(leaves.iter().map(|leaf| (*leaf, last)));
                if roots.is_empty() {
                    self.edges.push((first, last));
                }
                return Ok((first, last));
            }
            Work::Conditional(conditional) => {
                self.used.push(conditional.variable.handle);
                let step = self.step(Task::Nothing);
                let bodies = conditional.bodies.iter().enumerate().map(|(number, body)| {
                    let mut path = self.path.clone();
                    path.push((step, number as u32));
                    plan_of(body, &path, self.places, self.used).map(Arc::new)
                });
                let bodies = bodies.collect::<Result<_, _>>()?;
                let branch = Branch { conditional: Arc::clone(conditional), bodies };
                self.plan.steps[step as usize].task = Task::Branch(branch);
                step
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
        self.places.insert(node, place(self.path, step));
        Ok((step, step))
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
