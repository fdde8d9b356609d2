//! Updates of executable graphs from graphs of the same structure.
//!
//! Nodes are paired from the exit nodes on, along the dependencies in the order in which they were added, as
//! the manual of `cuGraphExecUpdate` describes it.

use std::sync::Arc;

use crate::handle::Handle;
use crate::memory;
use crate::memory::transfer::{Place, Side};

use super::conditional::Conditional;
use super::exec::{Exec, flag};
use super::work::{Kernel, Work};
use super::{Body, Graph};

/// The number of the launch attribute with the priority.
const PRIORITY: u32 = 8;

/// What an update did not accept, in the order of `CUgraphExecUpdateResult`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Outcome {
    /// An unexpected error.
    Error = 1,
    /// Other nodes or edges.
    TopologyChanged,
    /// Another kind of node.
    NodeTypeChanged,
    /// Another function; only drivers before CUDA 11.2 refuse this.
    FunctionChanged,
    /// Parameters that an update cannot change.
    ParametersChanged,
    /// A node that cannot be updated.
    NotSupported,
    /// A function of another context.
    UnsupportedFunctionChange,
    /// Attributes that an update cannot change.
    AttributesChanged,
}

/// Which interface asks for an update. They differ in what it may change about a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// A copy of several rows may change its addresses alone, and not to memory of another context (recorded
    /// on an H200).
    Cuda,
    /// Everything but the direction and the kinds of memory.
    Hip,
}

/// Why an update was not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What was not accepted.
    pub outcome: Outcome,
    /// The node of the given graph, or 0.
    pub node: Handle,
    /// The dependency of that node that does not match, or 0.
    pub from: Handle,
}

impl Failure {
    fn at(outcome: Outcome, node: Handle) -> Self {
        Failure { outcome, node, from: 0 }
    }
}

/// Updates an executable graph: its nodes do what the paired nodes of `graph` do. Changes nothing on failure.
pub fn update(exec: &Exec, graph: &Graph, rules: Rules) -> Result<(), Failure> {
    // By the manual of the attribute.
    if exec.graph().has_updatable() || graph.has_updatable() {
        return Err(Failure::at(Outcome::NotSupported, 0));
    }
    let changes = changes(exec.graph(), graph, (rules, exec.flags))?;
    exec.apply(changes).map_err(|_| Failure::at(Outcome::Error, 0))
}

/// The nodes of `old` with the work that `new` gives them, by the rules and the flags of the executable
/// graph.
pub(super) fn changes(
    old: &Arc<Graph>,
    new: &Graph,
    by: (Rules, u64),
) -> Result<Vec<(Handle, Work)>, Failure> {
    let mut changes = Vec::new();
    // A snapshot of the new graph: its own lock is free while the old graph's is held.
    let mut open = vec![(Arc::clone(old), new.snapshot())];
    while let Some((old, new)) = open.pop() {
        changes.extend(changes_of(&old, &new, by, &mut open)?);
    }
    Ok(changes)
}

/// The same without the graphs inside, whose pairs it adds to a list.
fn changes_of(
    old: &Graph,
    new: &Graph,
    by: (Rules, u64),
    open: &mut Vec<(Arc<Graph>, Arc<Graph>)>,
) -> Result<Vec<(Handle, Work)>, Failure> {
    let (old, new) = (old.lock(), new.lock());
    let mut changes = Vec::new();
    for (before, after) in pairs(&old, &new)? {
        let (Ok(before), Ok(after)) = (old.entry(before), new.entry(after)) else { continue };
        if before.work.kind() != after.work.kind() {
            return Err(Failure::at(Outcome::NodeTypeChanged, after.handle));
        }
        check_change(&before.work, &after.work, by).map_err(|outcome| Failure::at(outcome, after.handle))?;
        match (&before.work, &after.work) {
            (Work::Child(one), Work::Child(other)) => open.push((Arc::clone(one), Arc::clone(other))),
            (Work::Conditional(one), Work::Conditional(other)) => {
                open.extend(one.bodies.iter().cloned().zip(other.bodies.iter().cloned()));
                // The kernels of the new graph set the new graph's variable.
                let variable = Arc::clone(&other.variable);
                let conditional = Conditional { variable, ..Conditional::clone(one) };
                changes.push((before.handle, Work::Conditional(Arc::new(conditional))));
            }
            (Work::Allocate(_) | Work::Free(_), _) => {}
            _ => changes.push((before.handle, after.work.clone())),
        }
    }
    Ok(changes)
}

/// The nodes of two graphs, paired.
fn pairs(old: &Body, new: &Body) -> Result<Vec<(usize, usize)>, Failure> {
    let topology = |node| Failure::at(Outcome::TopologyChanged, node);
    if old.entries().count() != new.entries().count() {
        return Err(topology(0));
    }
    fn exits(body: &Body) -> Vec<usize> {
        body.entries().filter(|(_, e)| e.outgoing.is_empty()).map(|(index, _)| index).collect()
    }
    let (before, after) = (exits(old), exits(new));
    if before.len() != after.len() {
        let node = after.first().and_then(|&index| new.entry(index).ok());
        return Err(topology(node.map_or(0, |entry| entry.handle)));
    }
    let (mut forth, mut back) = (vec![None; old.room()], vec![None; new.room()]);
    let mut pairs: Vec<(usize, usize)> = before.into_iter().zip(after).collect();
    for &(before, after) in &pairs {
        forth[before] = Some(after);
        back[after] = Some(before);
    }
    let mut next = 0;
    while let Some(&(before, after)) = pairs.get(next) {
        next += 1;
        let (Ok(before), Ok(after)) = (old.entry(before), new.entry(after)) else { continue };
        if before.incoming.len() != after.incoming.len() {
            return Err(topology(after.handle));
        }
        for ((one, edge), (other, other_edge)) in before.incoming.iter().zip(&after.incoming) {
            let (one, other) = (*one as usize, *other as usize);
            match (forth[one], back[other]) {
                (None, None) if edge == other_edge => {
                    forth[one] = Some(other);
                    back[other] = Some(one);
                    pairs.push((one, other));
                }
                (Some(paired), Some(_)) if paired == other && edge == other_edge => {}
                _ => {
                    let from = new.entry(other).map_or(0, |entry| entry.handle);
                    return Err(Failure { outcome: Outcome::TopologyChanged, node: after.handle, from });
                }
            }
        }
    }
    pairs.sort_unstable();
    Ok(pairs)
}

/// Checks that the work of a node can become other work of the same kind.
pub(super) fn check_change(old: &Work, new: &Work, (rules, flags): (Rules, u64)) -> Result<(), Outcome> {
    let parameters = |same: bool| if same { Ok(()) } else { Err(Outcome::ParametersChanged) };
    match (old, new) {
        (Work::Kernel(old), Work::Kernel(new)) => {
            if old.launch.function().module.context_id != new.launch.function().module.context_id {
                return Err(Outcome::UnsupportedFunctionChange);
            }
            if old.launch.config().cooperative != new.launch.config().cooperative {
                return Err(Outcome::AttributesChanged);
            }
            let priority = |kernel: &Kernel| kernel.attributes.get(&PRIORITY).copied().unwrap_or_default();
            if flags & flag::USE_NODE_PRIORITY != 0 && priority(old) != priority(new) {
                return Err(Outcome::AttributesChanged);
            }
            Ok(())
        }
        (Work::Copy(old), Work::Copy(new)) => {
            let (before, after) = (old.note[0], new.note[0]);
            let direction = before == after || before == 0 || after == 0;
            let (old, new) = (&old.asked, &new.asked);
            let both = |same: fn(&Side, &Side) -> bool| same(&old.from, &new.from) && same(&old.to, &new.to);
            let rows = old.has_rows() || new.has_rows();
            let for_cuda =
                || both(|a, b| same_context(address(a), address(b))) && (!rows || old.shape() == new.shape());
            parameters(
                direction && both(|a, b| kind_of(a) == kind_of(b)) && (rules == Rules::Hip || for_cuda()),
            )
        }
        (Work::Fill(old), Work::Fill(new)) => {
            // If a fill has several rows, only its address and its value may change.
            let shape =
                |fill: &crate::memory::copy::Fill| (fill.width, fill.height, fill.element, fill.pitch);
            let rows = old.fill.height > 1 || new.fill.height > 1;
            let same = same_context(Some(old.fill.to), Some(new.fill.to));
            parameters(same && (!rows || shape(&old.fill) == shape(&new.fill)))
        }
        (Work::Semaphores(old), Work::Semaphores(new)) if old.signals() == new.signals() => {
            parameters(old.count() == new.count())
        }
        (Work::Batch(old), Work::Batch(new)) => parameters(old.steps.len() == new.steps.len()),
        (Work::Allocate(old) | Work::Free(old), Work::Allocate(new) | Work::Free(new)) => {
            parameters(Arc::ptr_eq(old, new))
        }
        (Work::Conditional(old), Work::Conditional(new)) => {
            parameters(old.kind == new.kind && old.bodies.len() == new.bodies.len())
        }
        (old, new) if old.kind() == new.kind() => Ok(()),
        _ => Err(Outcome::NodeTypeChanged),
    }
}

/// The address of a side in memory of devices.
fn address(side: &Side) -> Option<u64> {
    match side.place {
        Place::Device(address) | Place::Any(address) => Some(address),
        Place::Host(_) | Place::Array(_) => None,
    }
}

/// Whether two addresses are in memory of the same context, as far as it belongs to one.
fn same_context(old: Option<u64>, new: Option<u64>) -> bool {
    let context = |address: Option<u64>| {
        memory::find(address?).map(|allocation| allocation.context.1).filter(|context| *context != 0)
    };
    context(old).zip(context(new)).is_none_or(|(old, new)| old == new)
}

/// The kind of memory of a side: where it is declared to be.
fn kind_of(side: &Side) -> u32 {
    match side.place {
        Place::Host(_) => 0,
        Place::Device(_) => 1,
        Place::Any(_) => 2,
        Place::Array(_) => 3,
    }
}
