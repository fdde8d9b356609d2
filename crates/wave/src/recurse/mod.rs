//! Turns recursion into jumps.
//!
//! The inliner leaves only recursive calls. Each function that is called like this from outside becomes a
//! *flattened function*: a function without calls that contains one copy, a *region*, of every function of
//! the recursion, around one *dispatch* block that all calls and returns go through. A call saves what it
//! needs afterwards in the lane's local memory and goes to the dispatch with the callee's number and the
//! arguments; a return loads the number of its continuation from there. Lanes that call or return at
//! different instructions are then lanes that branch differently, and the dispatch is the header of the only
//! loop that the recursion creates.
//!
//! An activation's frame is addressed through the lane's stack pointer (an offset in local memory). It
//! contains the function's own slots, the values that its calls save, and at the end the eight bytes of the
//! callee's return record: the continuation's number, and above it the number of bytes that the stack pointer
//! goes back. A frame that would extend beyond the lane's local memory is a stack overflow.

mod dispatch;
mod graph;
mod region;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::func::{Function, Inst};
use crate::inline::{inlined, inlined_but, splice, split};
use crate::layout;
use crate::module::{FuncId, Module};
use crate::op::Op;
use crate::types::Ty;
use crate::unreachable;

use dispatch::Flattened;
use graph::Graph;

/// The slot after all others, where a flattened function's stack may begin. It never leaves this module.
const TOP: u32 = u32::MAX;

/// `kernel` without calls: those that end are inlined, recursive ones are jumps. Only calls to functions
/// without a body, or with too large a body to be inlined, remain.
pub fn without_calls(module: &Module, kernel: FuncId) -> Function {
    let mut func = inlined(module, kernel);
    without_recursion(module, kernel, &mut func);
    func
}

/// Its second half as a pass: `func` is `kernel` after [`crate::inline`].
pub fn without_recursion(module: &Module, kernel: FuncId, func: &mut Function) {
    if calls(func).next().is_none() {
        return;
    }
    let mut maker = Maker { module, graph: Graph::new(module, kernel), made: BTreeMap::new() };
    *func = maker.body(kernel, &BTreeSet::new()).0;
    let top = u128::from(layout::frame(func).0);
    for inst in func.blocks.iter_mut().flat_map(|b| &mut b.insts) {
        if inst.op == Op::LocalAddr(TOP) {
            inst.op = Op::Const { ty: Ty::I64, bits: top };
        }
    }
}

/// The functions that `func` calls directly.
fn calls(func: &Function) -> impl Iterator<Item = FuncId> {
    func.blocks.iter().flat_map(|b| &b.insts).filter_map(|i| match i.op {
        Op::Call(f) => Some(f),
        _ => None,
    })
}

/// Builds flattened functions, each only once.
struct Maker<'m> {
    module: &'m Module,
    graph: Graph,
    made: BTreeMap<FuncId, Rc<Flattened>>,
}

impl Maker<'_> {
    /// `f` with all calls inlined except those to `members`, which are in the same recursion; other
    /// recursions are inlined as flattened functions. Also returns the alignment that these need for the
    /// stack.
    fn body(&mut self, f: FuncId, members: &BTreeSet<FuncId>) -> (Function, u64) {
        let others = self.graph.recursive().filter(|&g| !self.graph.together(f, g));
        let keep: BTreeSet<FuncId> = members.iter().copied().chain(others).collect();
        let mut func = inlined_but(self.module, f, &keep);
        // A continuation is entered from the dispatch, so a call that nothing leads to would become
        // reachable.
        unreachable::empty(&mut func);
        let mut align = 8;
        let mut b = 0;
        while b < func.blocks.len() {
            let other = |i: &Inst| match i.op {
                Op::Call(g) => {
                    let callee = &self.module.functions[g.index()];
                    keep.contains(&g) && !members.contains(&g) && !callee.external && callee.kernel.is_none()
                }
                _ => false,
            };
            if let Some(at) = func.blocks[b].insts.iter().position(other) {
                let rest = split(&mut func, b, at);
                let call = func.blocks[b].insts.pop();
                if let Some(Inst { op: Op::Call(g), args, loc, .. }) = call {
                    let flattened = self.flattened(g);
                    align = align.max(flattened.align);
                    let top = func.new_value(Ty::I64);
                    func.blocks[b].insts.push(Inst {
                        op: Op::LocalAddr(TOP),
                        args: [][..].into(),
                        results: [top][..].into(),
                        loc,
                    });
                    let args = std::iter::once(top).chain(args).collect();
                    splice(&mut func, b, &flattened.func, args, rest);
                }
            }
            b += 1;
        }
        (func, align)
    }

    /// The flattened function of the recursion that begins with a call of `f`.
    fn flattened(&mut self, f: FuncId) -> Rc<Flattened> {
        if let Some(made) = self.made.get(&f) {
            return made.clone();
        }
        // The inliner inlines functions of a cycle into each other; use only as many regions as it leaves
        // calls to.
        let mut members = BTreeSet::from([f]);
        let bodies = loop {
            let bodies: BTreeMap<FuncId, (Function, u64)> =
                members.clone().into_iter().map(|g| (g, self.body(g, &members))).collect();
            let called: BTreeSet<FuncId> = bodies
                .values()
                .flat_map(|(body, _)| calls(body))
                .filter(|&g| self.graph.together(f, g))
                .collect();
            if called.is_subset(&members) {
                break bodies;
            }
            members.extend(called);
        };
        let made = Rc::new(Flattened::new(&self.module.functions[f.index()], f, bodies));
        self.made.insert(f, made.clone());
        made
    }
}
