//! Layouts that depend on the whole call graph: a kernel's shared variables, and stack frames of functions.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::abi::LOCAL_ALIGN;
use crate::func::Function;
use crate::module::{FuncId, Module, RelocTarget, SharedId};
use crate::op::{Op, SReg};

/// Local memory for recursion in bytes per thread, if the call graph does not bound it. CUDA's default stack
/// limit is 1024 bytes; ours is the size that a thread's stack may grow to.
pub const RECURSION_STACK: u64 = 16 * 1024;

/// Bytes of an activation's stack slots, and the offset of each slot.
pub fn frame(func: &Function) -> (u64, Vec<u64>) {
    let mut size = 0u64;
    let mut offsets = Vec::with_capacity(func.slots.len());
    for slot in &func.slots {
        size = size.next_multiple_of(u64::from(slot.align.max(1)));
        offsets.push(size);
        size += u64::from(slot.size);
    }
    (size.next_multiple_of(LOCAL_ALIGN as u64), offsets)
}

/// Functions whose handle is taken anywhere: the possible targets of indirect calls.
pub fn address_taken(module: &Module) -> Arc<BTreeSet<FuncId>> {
    CallGraph::new(module).taken
}

/// `f` and everything that it may call, directly or indirectly, in ascending order.
pub fn reachable(module: &Module, f: FuncId) -> BTreeSet<FuncId> {
    CallGraph::new(module).reachable(f)
}

/// The calls that a function makes.
#[derive(Clone, Debug, Default)]
pub struct Calls {
    /// Functions called by name, without duplicates.
    pub direct: Vec<FuncId>,
    /// Whether it calls through a handle, which may reach any function whose handle is taken.
    pub indirect: bool,
}

/// The call graph, computed once for queries about several functions of a module.
#[derive(Debug)]
pub struct CallGraph {
    calls: Vec<Calls>,
    taken: Arc<BTreeSet<FuncId>>,
}

impl CallGraph {
    /// The graph of all functions in a module.
    pub fn new(module: &Module) -> CallGraph {
        let mut taken = (*module.taken).clone();
        for reloc in module.globals.iter().flat_map(|g| &g.relocs) {
            if let RelocTarget::Func(f) = reloc.target {
                taken.insert(f);
            }
        }
        let mut of = |f: &Function| {
            let mut calls = Calls::default();
            for inst in f.blocks.iter().flat_map(|b| &b.insts) {
                match inst.op {
                    Op::Call(g) => calls.direct.push(g),
                    Op::CallIndirect { .. } => calls.indirect = true,
                    Op::FuncAddr(g) => drop(taken.insert(g)),
                    _ => {}
                }
            }
            calls.direct.sort_unstable();
            calls.direct.dedup();
            calls
        };
        let calls = module.functions.iter().map(|f| of(f)).collect();
        // The handle of a kernel is for launches by other kernels.
        taken.retain(|f| module.functions.get(f.index()).is_none_or(|f| f.kernel.is_none()));
        CallGraph { calls, taken: Arc::new(taken) }
    }

    /// The graph of functions whose code is not available: the calls of each, by number, and the functions
    /// whose handle is taken anywhere.
    pub fn of(calls: Vec<Calls>, taken: BTreeSet<FuncId>) -> CallGraph {
        CallGraph { calls, taken: Arc::new(taken) }
    }

    /// Functions that `f` may call, directly or through a handle; possibly with duplicates.
    fn callees(&self, f: FuncId) -> impl Iterator<Item = FuncId> {
        let calls = self.calls.get(f.index());
        let taken = calls.filter(|c| c.indirect).map(|_| &*self.taken);
        calls.into_iter().flat_map(|c| &c.direct).chain(taken.into_iter().flatten()).copied()
    }

    /// Functions whose handle is taken anywhere.
    pub fn taken(&self) -> &Arc<BTreeSet<FuncId>> {
        &self.taken
    }

    /// `f` and everything that it may call, directly or indirectly, in ascending order.
    pub fn reachable(&self, f: FuncId) -> BTreeSet<FuncId> {
        let mut seen = BTreeSet::from([f]);
        let mut todo = vec![f];
        // The targets of handles are the same for all functions.
        let mut through_handles = false;
        while let Some(g) = todo.pop() {
            let calls = self.calls.get(g.index());
            let mut visit = |h: FuncId| {
                if seen.insert(h) {
                    todo.push(h);
                }
            };
            calls.into_iter().flat_map(|c| &c.direct).copied().for_each(&mut visit);
            if calls.is_some_and(|c| c.indirect) && !std::mem::replace(&mut through_handles, true) {
                self.taken.iter().copied().for_each(&mut visit);
            }
        }
        seen
    }
}

/// Bytes of local memory per thread of `kernel`, including [`RECURSION_STACK`] if calls may recurse.
pub fn local_size(module: &Module, kernel: FuncId) -> u64 {
    let (depth, recursive) = depth(module, kernel);
    depth + if recursive { RECURSION_STACK } else { 0 }
}

/// Whether calls of `kernel` may recurse or use a stack of their own. The launch then decides how much local
/// memory there is, at least [`local_size`].
pub fn is_recursive(module: &Module, kernel: FuncId) -> bool {
    depth(module, kernel).1
}

/// Whether a function reads the size of local memory, as functions with a stack of their own do (see
/// [`crate::recurse`]).
pub fn keeps_stack(func: &Function) -> bool {
    func.blocks.iter().flat_map(|b| &b.insts).any(|i| matches!(i.op, Op::Special(SReg::LocalSize64)))
}

/// Bytes of stack slots on the deepest call path of `kernel`, ending paths at functions that are already on
/// them, and whether any path ended so.
pub fn depth(module: &Module, kernel: FuncId) -> (u64, bool) {
    let graph = CallGraph::new(module);
    let own = |f: FuncId| module.functions.get(f.index()).map_or(0, |f| frame(f).0);
    let (mut recursive, mut open) = (false, BTreeSet::from([kernel]));
    let mut done: BTreeMap<FuncId, u64> = BTreeMap::new();
    let mut path = vec![(kernel, graph.callees(kernel).collect::<Vec<_>>(), 0)];
    while let Some((f, rest, below)) = path.last_mut() {
        if let Some(g) = rest.pop() {
            if let Some(depth) = done.get(&g) {
                *below = (*below).max(*depth);
            } else if open.insert(g) {
                path.push((g, graph.callees(g).collect(), 0));
            } else {
                recursive = true;
            }
            continue;
        }
        let (f, depth) = (*f, own(*f).saturating_add(*below));
        recursive |= module.functions.get(f.index()).is_some_and(|f| keeps_stack(f));
        open.remove(&f);
        done.insert(f, depth);
        path.pop();
        if let Some((_, _, below)) = path.last_mut() {
            *below = (*below).max(depth);
        }
    }
    (done.get(&kernel).copied().unwrap_or(0), recursive)
}

/// The least alignment of dynamic shared memory, as `ptxas` places it: `extern __shared__ char all[]` may be
/// used as an array of `float4`.
const DYNAMIC_ALIGN: u32 = 16;

/// Gives every kernel the offsets of the shared variables that it and its callees use: static ones in order,
/// then the dynamic ones (size 0), which all have the same offset. As in `ptxas`, the padding in front of the
/// dynamic ones counts as static.
pub fn assign_shared(module: &mut Module) {
    if module.shared.is_empty() {
        return;
    }
    let graph = CallGraph::new(module);
    let names = |f: &Arc<Function>| -> BTreeSet<SharedId> {
        let insts = f.blocks.iter().flat_map(|b| &b.insts);
        insts.filter_map(|i| if let Op::SharedAddr(id, _) = i.op { Some(id) } else { None }).collect()
    };
    let named: Vec<BTreeSet<SharedId>> = module.functions.iter().map(names).collect();
    assign_shared_by(module, &graph, &named);
}

/// Same as [`assign_shared`], given the shared variables that each function names.
pub fn assign_shared_by(module: &mut Module, graph: &CallGraph, named: &[BTreeSet<SharedId>]) {
    let kernels: Vec<FuncId> = module.kernels().map(|(id, _)| id).collect();
    for kernel in kernels {
        let reached = graph.reachable(kernel);
        let used: BTreeSet<SharedId> =
            reached.iter().filter_map(|f| named.get(f.index())).flatten().copied().collect();
        let mut size = 0u64;
        let mut places = Vec::new();
        let (fixed, dynamic): (Vec<_>, Vec<_>) =
            used.into_iter().partition(|id| module.shared[id.index()].size > 0);
        for id in fixed {
            let var = &module.shared[id.index()];
            size = size.next_multiple_of(u64::from(var.align.max(1)));
            places.push((id, size));
            size += var.size;
        }
        if let Some(align) = dynamic.iter().map(|id| module.shared[id.index()].align).max() {
            size = size.next_multiple_of(u64::from(align.max(DYNAMIC_ALIGN)));
            places.extend(dynamic.into_iter().map(|id| (id, size)));
        }
        if let Some(info) = &mut Arc::make_mut(&mut module.functions[kernel.index()]).kernel {
            info.shared = places;
            info.shared_size = size;
        }
    }
}
