//! Conditional nodes: graphs that run depending on a value that kernels set.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, Weak};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::handle::{Handle, lock};
use crate::memory;

use super::Graph;

/// Flags of conditional variables.
pub mod flag {
    /// Every launch of the graph begins with the default value.
    pub const ASSIGN_DEFAULT: u32 = 1;
}

/// The number of bodies that a node may have: an IF with its ELSE, and the cases of a SWITCH.
const MOST_BRANCHES: u32 = 2;
const MOST_CASES: u32 = 1 << 16;

/// How the value selects a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The first body once if the value is not 0, the second one otherwise.
    If,
    /// The body as long as the value is not 0.
    While,
    /// The body with the value's number, if there is one.
    Switch,
}

impl Kind {
    /// By the number in `CUgraphConditionalNodeType`.
    pub fn from_number(number: u32) -> Result<Self> {
        [Kind::If, Kind::While, Kind::Switch].get(number as usize).copied().ok_or(Error::InvalidValue)
    }

    /// The number in `CUgraphConditionalNodeType`.
    pub fn number(self) -> u32 {
        self as u32
    }
}

/// A conditional variable: a word of device memory. Its address is the handle that a program passes to its
/// kernels.
pub struct Variable {
    /// The handle.
    pub handle: u64,
    /// The value at each launch, if it is assigned.
    pub default: Option<u32>,
    /// The id of its context.
    context: u64,
    /// The id of its graph.
    graph: u64,
    /// Whether a node depends on it.
    used: AtomicBool,
    /// In the table of addresses, so that kernels may access it.
    allocation: Arc<memory::Allocation>,
}

/// A conditional node.
#[derive(Clone)]
pub struct Conditional {
    /// The variable that it depends on.
    pub variable: Arc<Variable>,
    /// How the value selects a body.
    pub kind: Kind,
    /// The graphs.
    pub bodies: Vec<Arc<Graph>>,
    /// Their handles. Programs are given the list's address.
    pub handles: Arc<[Handle]>,
    /// The context given for it.
    pub context: Handle,
}

/// All variables, by handle.
static VARIABLES: Mutex<BTreeMap<u64, Weak<Variable>>> = Mutex::new(BTreeMap::new());

/// Sets the value of a variable, for a kernel; `false` if there is none with this handle.
pub fn set(handle: u64, value: u32) -> bool {
    let variable = lock(&VARIABLES).get(&handle).and_then(Weak::upgrade);
    variable.map(|variable| variable.set(value)).is_some()
}

impl Drop for Variable {
    fn drop(&mut self) {
        lock(&VARIABLES).remove(&self.handle);
        memory::unlist(&self.allocation);
    }
}

impl Variable {
    /// Creates a variable for a graph and its child graphs.
    ///
    /// # Errors
    /// [`Error::InvalidValue`]: unknown flags.
    pub fn create(graph: &Graph, context: &Context, default: u32, flags: u32) -> Result<u64> {
        if flags & !flag::ASSIGN_DEFAULT != 0 {
            return Err(Error::InvalidValue);
        }
        let allocation = memory::for_graph(
            context,
            &context.device,
            size_of::<u32>() as u64,
            memory::GraphMemory::Device,
        )?;
        let handle = allocation.base;
        let default = (flags & flag::ASSIGN_DEFAULT != 0).then_some(default);
        let (context, used) = (context.id(), AtomicBool::new(false));
        let variable = Arc::new(Variable { handle, default, context, graph: graph.id, used, allocation });
        variable.set(0);
        lock(&VARIABLES).insert(handle, Arc::downgrade(&variable));
        graph.lock().variables.push(variable);
        Ok(handle)
    }

    /// Makes a node depend on it that belongs to one of these graphs: the node's graph and those around it.
    ///
    /// # Errors
    /// [`Error::InvalidValue`]: it belongs to another graph, or another node depends on it.
    pub(super) fn claim(&self, graphs: &[Arc<Graph>]) -> Result<()> {
        let inside = graphs.iter().any(|graph| graph.id == self.graph);
        if inside && !self.used.swap(true, Ordering::AcqRel) { Ok(()) } else { Err(Error::InvalidValue) }
    }

    /// Notes that the node is gone.
    pub(super) fn release(&self) {
        self.used.store(false, Ordering::Release);
    }

    fn word(&self) -> &AtomicU32 {
        // SAFETY: the handle is the start of the allocation, which holds an aligned word and lives as long as
        // the variable. Kernels access the word atomically or in stream order.
        unsafe { AtomicU32::from_ptr(self.handle as *mut u32) }
    }

    /// The value that was last set.
    pub(crate) fn value(&self) -> u32 {
        self.word().load(Ordering::Acquire)
    }

    fn set(&self, value: u32) {
        self.word().store(value, Ordering::Release);
    }

    /// Assigns the default value, if there is one.
    pub(crate) fn assign_default(&self) {
        if let Some(default) = self.default {
            self.set(default);
        }
    }
}

impl Conditional {
    /// A node for a variable, which belongs to the node's graph or one around it, with empty bodies.
    ///
    /// `runs_in` is the context that `context` stands for.
    ///
    /// # Errors
    /// [`Error::InvalidValue`]: there is no such variable in that context, or `size` is no number of bodies
    /// for the kind.
    pub fn new(handle: u64, kind: Kind, size: u32, context: Handle, runs_in: &Context) -> Result<Self> {
        let variable = lock(&VARIABLES).get(&handle).and_then(Weak::upgrade).ok_or(Error::InvalidValue)?;
        if variable.context != runs_in.id() {
            return Err(Error::InvalidValue);
        }
        let most = match kind {
            Kind::If => MOST_BRANCHES,
            Kind::While => 1,
            Kind::Switch => MOST_CASES,
        };
        if size == 0 || size > most {
            return Err(Error::InvalidValue);
        }
        let bodies = (0..size).map(|_| Graph::for_node());
        let bodies: Vec<Arc<Graph>> = bodies.collect::<Result<_>>()?;
        let handles = bodies.iter().map(|body| body.handle).collect();
        Ok(Conditional { variable, kind, bodies, handles, context })
    }

    /// As [`Graph::snapshot_alone`].
    pub(super) fn snapshot_alone(&self) -> Self {
        Conditional { bodies: self.bodies.iter().map(|body| body.snapshot_alone()).collect(), ..self.clone() }
    }

    /// The body that runs next, given the number of bodies that have run.
    pub(crate) fn next(&self, ran: u64) -> Option<usize> {
        let value = self.variable.value();
        let body = match self.kind {
            Kind::While => (value != 0).then_some(0),
            _ if ran > 0 => None,
            Kind::If => Some(usize::from(value == 0)),
            Kind::Switch => Some(value as usize),
        };
        body.filter(|&index| index < self.bodies.len())
    }
}
