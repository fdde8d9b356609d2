//! Places that depend on the whole call graph: shared variables of a kernel, stack frames of functions.

use std::collections::BTreeSet;

use crate::func::Function;
use crate::module::{FuncId, Module, RelocTarget, SharedId};
use crate::op::{Op, SReg};

/// Local memory given to recursion, bytes a thread, where the call graph has no bound. The device's stack limit in CUDA is 1024
/// bytes by default; ours is what a thread's stack may grow to.
pub const RECURSION_STACK: u64 = 16 * 1024;

/// Bytes of one activation's stack slots, and each slot's offset in it.
pub fn frame(func: &Function) -> (u64, Vec<u64>) {
    let mut size = 0u64;
    let mut offsets = Vec::with_capacity(func.slots.len());
    for slot in &func.slots {
        size = size.next_multiple_of(u64::from(slot.align.max(1)));
        offsets.push(size);
        size += u64::from(slot.size);
    }
    (size.next_multiple_of(16), offsets)
}

/// Functions whose handle is taken anywhere: what an indirect call may reach.
pub fn address_taken(module: &Module) -> BTreeSet<FuncId> {
    let mut set = BTreeSet::new();
    for inst in module.functions.iter().flat_map(|f| &f.blocks).flat_map(|b| &b.insts) {
        if let Op::FuncAddr(f) = inst.op {
            set.insert(f);
        }
    }
    for reloc in module.globals.iter().flat_map(|g| &g.relocs) {
        if let RelocTarget::Func(f) = reloc.target {
            set.insert(f);
        }
    }
    set
}

/// Functions that `f` may call directly or, through a handle, indirectly.
pub fn callees(module: &Module, f: FuncId, taken: &BTreeSet<FuncId>) -> BTreeSet<FuncId> {
    let mut set = BTreeSet::new();
    for inst in module.functions[f.index()].blocks.iter().flat_map(|b| &b.insts) {
        match inst.op {
            Op::Call(g) => {
                set.insert(g);
            }
            Op::CallIndirect { .. } => set.extend(taken.iter().copied()),
            _ => {}
        }
    }
    set
}

/// `f` and everything it may reach, in ascending order.
pub fn reachable(module: &Module, f: FuncId) -> BTreeSet<FuncId> {
    let taken = address_taken(module);
    let mut seen = BTreeSet::from([f]);
    let mut todo = vec![f];
    while let Some(g) = todo.pop() {
        for h in callees(module, g, &taken) {
            if seen.insert(h) {
                todo.push(h);
            }
        }
    }
    seen
}

/// Bytes of local memory a thread of `kernel` needs; [`RECURSION_STACK`] more where calls may recurse.
pub fn local_size(module: &Module, kernel: FuncId) -> u64 {
    let (depth, recursive) = depth(module, kernel);
    depth + if recursive { RECURSION_STACK } else { 0 }
}

/// Whether calls of `kernel` may recurse, or keep a stack of their own: then the launch decides how much local memory there is,
/// [`local_size`] at least.
pub fn is_recursive(module: &Module, kernel: FuncId) -> bool {
    depth(module, kernel).1
}

/// Whether a function asks how much local memory there is, as one does that keeps a stack of its own (see [`crate::recurse`]).
pub fn keeps_stack(func: &Function) -> bool {
    func.blocks.iter().flat_map(|b| &b.insts).any(|i| matches!(i.op, Op::Special(SReg::LocalSize64)))
}

fn depth(module: &Module, kernel: FuncId) -> (u64, bool) {
    let taken = address_taken(module);
    let (mut path, mut recursive) = (Vec::new(), false);
    let depth = deepest(module, kernel, &taken, &mut path, &mut recursive);
    (depth, recursive)
}

fn deepest(
    module: &Module,
    f: FuncId,
    taken: &BTreeSet<FuncId>,
    path: &mut Vec<FuncId>,
    recursive: &mut bool,
) -> u64 {
    if path.contains(&f) || path.len() > 64 {
        *recursive = true;
        return 0;
    }
    *recursive |= keeps_stack(&module.functions[f.index()]);
    path.push(f);
    let below = callees(module, f, taken)
        .into_iter()
        .map(|g| deepest(module, g, taken, path, recursive))
        .max()
        .unwrap_or(0);
    path.pop();
    frame(&module.functions[f.index()]).0 + below
}

/// Gives every kernel the offsets of the shared variables that it and its callees use: static ones in order, dynamic ones (size 0)
/// after them, all at the same place.
pub fn assign_shared(module: &mut Module) {
    let kernels: Vec<FuncId> = module.kernels().map(|(id, _)| id).collect();
    for kernel in kernels {
        let mut used: BTreeSet<SharedId> = BTreeSet::new();
        for f in reachable(module, kernel) {
            for inst in module.functions[f.index()].blocks.iter().flat_map(|b| &b.insts) {
                if let Op::SharedAddr(id, _) = inst.op {
                    used.insert(id);
                }
            }
        }
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
        let align = dynamic.iter().map(|id| module.shared[id.index()].align.max(1)).max().unwrap_or(1);
        let start = size.next_multiple_of(u64::from(align));
        places.extend(dynamic.into_iter().map(|id| (id, start)));
        if let Some(info) = &mut module.functions[kernel.index()].kernel {
            info.shared = places;
            info.shared_size = size;
        }
    }
}
