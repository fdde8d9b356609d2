//! Plans: graphs compiled for execution.
//!
//! A plan lists the steps of a graph, with its child graphs expanded, in an order that respects every edge.
//! It does not change while it runs: an update replaces it, and a launch keeps the one that it was submitted
//! with.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::launch::Prepared;
use crate::stream::Operation;

use super::conditional::{Conditional, Variable};
use super::later;
use super::memory::Reservation;
use super::updatable::Updatable;
use super::work::Work;

/// A compiled graph.
#[derive(Clone, Default)]
pub(crate) struct Plan {
    /// In an order that respects every edge.
    pub(super) steps: Vec<Step>,
    /// The steps after step `i` are `after[first[i]..first[i + 1]]`.
    pub(super) first: Vec<u32>,
    pub(super) after: Vec<u32>,
    /// The number of steps that each step waits for.
    pub(super) missing: Vec<u32>,
    /// Whether every step waits for the one before it.
    pub(super) chain: bool,
    /// The variables that have a default value at each run.
    pub(super) variables: Vec<Arc<Variable>>,
    /// What is allocated and freed, in order.
    pub(super) memory: Vec<Memory>,
    /// The steps that record events or wait for them.
    pub(super) events: Vec<u32>,
    /// Whether a kernel here or in conditional nodes may have texture references. A launch of a graph without
    /// does not look at its steps.
    pub(super) has_references: bool,
}

/// A change of graph memory.
#[derive(Clone)]
pub(super) enum Memory {
    Allocate(Arc<Reservation>),
    Free(Arc<Reservation>),
}

/// A step of a plan.
#[derive(Clone)]
pub(super) struct Step {
    pub(super) task: Task,
    /// A disabled step does nothing.
    pub(super) enabled: bool,
}

/// What a step does.
#[derive(Clone)]
pub(super) enum Task {
    Nothing,
    Run(Operation),
    /// A kernel that kernels may change.
    Update(Arc<Updatable>, Box<Prepared>),
    Branch(Branch),
}

/// A conditional node.
#[derive(Clone)]
pub(super) struct Branch {
    pub(super) conditional: Arc<Conditional>,
    pub(super) bodies: Vec<Arc<Plan>>,
}

impl Task {
    /// Whether it is a kernel that has texture references.
    pub(super) fn has_references(&self) -> bool {
        match self {
            Task::Run(Operation::Launch(launch)) => launch.has_references(),
            Task::Update(_, launch) => launch.has_references(),
            Task::Branch(_) | Task::Nothing | Task::Run(_) => false,
        }
    }

    /// The task of a node that is not a graph of its own.
    pub(super) fn of(work: &Work) -> Task {
        if let Work::Kernel(kernel) = work
            && let Some(node) = &kernel.updatable
        {
            return Task::Update(Arc::clone(node), Box::new(kernel.launch.clone()));
        }
        work.operation().map_or(Task::Nothing, Task::Run)
    }
}

impl Plan {
    /// The steps that wait for a step.
    pub(super) fn after(&self, step: u32) -> &[u32] {
        let bounds = (self.first.get(step as usize), self.first.get(step as usize + 1));
        match bounds {
            (Some(&from), Some(&to)) => self.after.get(from as usize..to as usize).unwrap_or_default(),
            _ => &[],
        }
    }

    /// Binds the texture references of its kernels, for a launch that is about to be submitted.
    ///
    /// # Errors
    /// As [`Module::bind_references`](crate::module::Module::bind_references).
    pub(super) fn bind_references(&self) -> Result<()> {
        if !self.has_references {
            return Ok(());
        }
        let mut open = vec![self];
        while let Some(plan) = open.pop() {
            for step in &plan.steps {
                match &step.task {
                    Task::Run(Operation::Launch(launch)) => launch.bind_references()?,
                    Task::Update(_, launch) => launch.bind_references()?,
                    Task::Branch(branch) => open.extend(branch.bodies.iter().map(|body| &**body)),
                    Task::Nothing | Task::Run(_) => {}
                }
            }
        }
        Ok(())
    }

    /// Puts another variable in the place of one, here and in conditional nodes.
    pub(super) fn replace_variable(plan: &mut Arc<Plan>, old: u64, new: &Arc<Variable>) {
        let mut open = vec![plan];
        while let Some(plan) = open.pop() {
            let plan = Arc::make_mut(plan);
            for variable in plan.variables.iter_mut().filter(|variable| variable.handle == old) {
                *variable = Arc::clone(new);
            }
            for step in &mut plan.steps {
                if let Task::Branch(branch) = &mut step.task {
                    open.extend(&mut branch.bodies);
                }
            }
        }
    }

    /// Applies the changes of graph memory that a launch makes, in order. If one of them fails, takes the
    /// others back.
    pub(super) fn change_memory(&self, free_first: bool) -> Result<()> {
        if free_first {
            for memory in &self.memory {
                if let Memory::Allocate(reservation) = memory
                    && reservation.is_allocated()
                {
                    reservation.free()?;
                }
            }
        }
        // Before any memory is counted: what is still allocated is the reason, not what is left.
        let mut freed = BTreeSet::new();
        for memory in &self.memory {
            match memory {
                Memory::Free(reservation) => {
                    freed.insert(Arc::as_ptr(reservation));
                }
                Memory::Allocate(reservation) => {
                    if !freed.remove(&Arc::as_ptr(reservation)) && reservation.is_allocated() {
                        return Err(Error::InvalidValue);
                    }
                }
            }
        }
        for (at, memory) in self.memory.iter().enumerate() {
            if let Err(error) = memory.apply() {
                self.memory.iter().take(at).rev().for_each(Memory::take_back);
                return Err(error);
            }
        }
        Ok(())
    }
}

impl Drop for Plan {
    fn drop(&mut self) {
        later::drop_steps(std::mem::take(&mut self.steps));
    }
}

impl Memory {
    fn apply(&self) -> Result<()> {
        match self {
            Memory::Allocate(reservation) => reservation.allocate(),
            Memory::Free(reservation) => reservation.free(),
        }
    }

    fn take_back(&self) {
        // What was just done can be undone.
        let _ = match self {
            Memory::Allocate(reservation) => reservation.free(),
            Memory::Free(reservation) => reservation.allocate(),
        };
    }
}
