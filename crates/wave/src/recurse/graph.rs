//! The call graph, and which functions call themselves.

use std::collections::{BTreeMap, BTreeSet};

use crate::layout;
use crate::module::{FuncId, Module};
use crate::op::Op;

/// The functions that each function reaches by one or more calls.
pub struct Graph {
    reached: BTreeMap<FuncId, BTreeSet<FuncId>>,
}

impl Graph {
    /// The graph of everything that `kernel` may call.
    pub fn new(module: &Module, kernel: FuncId) -> Graph {
        let taken = layout::address_taken(module);
        let callees = |f: FuncId| {
            let mut set = BTreeSet::new();
            for inst in module.functions[f.index()].blocks.iter().flat_map(|b| &b.insts) {
                match &inst.op {
                    Op::Call(g) => {
                        set.insert(*g);
                    }
                    Op::CallIndirect { params, results } => {
                        set.extend(taken.iter().copied().filter(|&g| module.accepts(g, params, results)));
                    }
                    _ => {}
                }
            }
            set
        };
        let direct: BTreeMap<FuncId, BTreeSet<FuncId>> =
            layout::reachable(module, kernel).into_iter().map(|f| (f, callees(f))).collect();
        let reach = |f: &FuncId| {
            let mut seen = BTreeSet::new();
            let mut todo: Vec<FuncId> = vec![*f];
            while let Some(g) = todo.pop() {
                for &h in direct.get(&g).into_iter().flatten() {
                    if seen.insert(h) {
                        todo.push(h);
                    }
                }
            }
            seen
        };
        Graph { reached: direct.keys().map(|f| (*f, reach(f))).collect() }
    }

    fn reaches(&self, f: FuncId, g: FuncId) -> bool {
        self.reached.get(&f).is_some_and(|set| set.contains(&g))
    }

    /// Functions that may call themselves, directly or indirectly.
    pub fn recursive(&self) -> impl Iterator<Item = FuncId> {
        self.reached.keys().copied().filter(|&f| self.reaches(f, f))
    }

    /// Whether two functions may call each other.
    pub fn together(&self, f: FuncId, g: FuncId) -> bool {
        self.reaches(f, g) && self.reaches(g, f)
    }
}
