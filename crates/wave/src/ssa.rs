//! SSA construction on the fly (after Braun et al., CC 2013).
//!
//! Reading a register that the block has not written asks the block's only predecessor, or creates a block
//! parameter whose arguments are filled in once all blocks exist. Registers that were never written are zero.
//! The front ends share it; `R` names what is written and read like a register.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher as _};

use hashbrown::HashMap;

use crate::op::Op;
use crate::types::Ty;
use crate::{Block, BlockCall, Function, Inst, Loc, Terminator, Value};

/// The state of the construction.
#[derive(Debug)]
pub struct Ssa<R> {
    /// Current definition in each block.
    defs: Vec<HashMap<R, Value>>,
    /// Predecessors, one entry per edge.
    preds: Vec<Vec<Block>>,
    /// Blocks whose predecessors are all known; reading in other blocks creates parameters.
    sealed: Vec<bool>,
    /// Parameters that still need arguments.
    open: Vec<(Block, R, Value)>,
}

impl<R> Default for Ssa<R> {
    fn default() -> Self {
        Ssa { defs: Vec::new(), preds: Vec::new(), sealed: Vec::new(), open: Vec::new() }
    }
}

impl<R: Copy + Eq + Hash> Ssa<R> {
    fn grow(&mut self, block: Block) {
        let n = block.index() + 1;
        if self.defs.len() < n {
            self.defs.resize_with(n, HashMap::new);
            self.preds.resize_with(n, Vec::new);
            self.sealed.resize(n, false);
        }
    }

    /// Records an edge. Edges to a block must be recorded in the order in which terminators mention it.
    pub fn edge(&mut self, from: Block, to: Block) {
        self.grow(from.max(to));
        self.preds[to.index()].push(from);
    }

    /// Declares that no more edges will lead to `block`.
    pub fn seal(&mut self, block: Block) {
        self.grow(block);
        self.sealed[block.index()] = true;
    }

    /// Defines `var` as `value` from here on in `block`.
    pub fn write(&mut self, block: Block, var: R, value: Value) {
        self.grow(block);
        self.defs[block.index()].insert(var, value);
    }

    /// The value of `var` at the current end of `block`.
    pub fn read(&mut self, func: &mut Function, block: Block, var: R, ty: Ty) -> Value {
        self.grow(block);
        let mut at = block;
        let mut path = Vec::new();
        let value = loop {
            if let Some(&v) = self.defs[at.index()].get(&var) {
                break v;
            }
            let single = self.sealed[at.index()] && self.preds[at.index()].len() == 1;
            if single && path.len() < func.blocks.len() {
                path.push(at);
                at = self.preds[at.index()][0];
                continue;
            }
            if at.index() == 0 || (self.sealed[at.index()] && self.preds[at.index()].is_empty()) {
                break zero(func, at, ty);
            }
            let v = func.new_param(at, ty);
            func.set_register(v, number(&var));
            self.open.push((at, var, v));
            break v;
        };
        path.push(at);
        for b in path {
            self.defs[b.index()].insert(var, value);
        }
        value
    }

    /// Gives every parameter created by [`Ssa::read`] its arguments. All blocks must be sealed.
    pub fn complete(&mut self, func: &mut Function) {
        // Finding an argument may create parameters of other blocks, so arguments are collected first and
        // appended at the end, in the order of the parameters.
        let mut found: HashMap<(Block, Value), Value> = HashMap::with_capacity(4 * self.open.len());
        while let Some((block, var, param)) = self.open.pop() {
            let ty = func.ty(param);
            for pred in self.preds[block.index()].clone() {
                found.entry((pred, param)).or_insert_with(|| self.read(func, pred, var, ty));
            }
        }
        for from in func.block_ids() {
            let mut term = func.block(from).term.clone();
            for target in term.targets_mut() {
                let params = &func.block(target.block).params;
                target.args = params.iter().filter_map(|p| found.get(&(from, *p)).copied()).collect();
            }
            func.block_mut(from).term = term;
        }
    }
}

/// A number for a register, the same in each run.
fn number(var: &impl Hash) -> u32 {
    let mut hasher = DefaultHasher::new();
    var.hash(&mut hasher);
    hasher.finish() as u32 | 1
}

/// A zero at the beginning of `block`.
fn zero(func: &mut Function, block: Block, ty: Ty) -> Value {
    let v = func.new_value(ty);
    let inst = Inst {
        op: Op::Const { ty, bits: 0 },
        args: Default::default(),
        results: [v].into_iter().collect(),
        loc: Loc::default(),
    };
    func.block_mut(block).insts.insert(0, inst);
    v
}

/// The value that replaces a value. Shortens the path to it (union-find).
fn find(replaced: &mut [Value], v: Value) -> Value {
    let mut root = v;
    while replaced[root.index()] != root {
        root = replaced[root.index()];
    }
    let mut at = v;
    while at != root {
        at = std::mem::replace(&mut replaced[at.index()], root);
    }
    root
}

/// Removes block parameters that have the same value on every incoming edge (Braun's trivial phis).
pub fn remove_redundant_params(func: &mut Function) {
    let mut replaced: Vec<Value> = (0..func.values.len() as u32).map(Value).collect();
    let n = func.blocks.len();
    let mut keep: Vec<Vec<bool>> = func.blocks.iter().map(|b| vec![true; b.params.len()]).collect();
    let mut sources: Vec<Vec<&BlockCall>> = vec![Vec::new(); n];
    for target in func.blocks.iter().flat_map(|data| data.term.targets()) {
        sources[target.block.index()].push(target);
    }
    let mut place: Vec<(usize, usize)> = vec![(0, 0); func.values.len()];
    for (b, data) in func.blocks.iter().enumerate() {
        data.params.iter().enumerate().for_each(|(p, v)| place[v.index()] = (b, p));
    }
    // A parameter stays if two of its arguments have different replacements, other than itself. By value: two
    // such arguments, and the parameters that must be checked again when the value is replaced.
    let mut differ: Vec<[Value; 2]> = vec![[Value(0); 2]; func.values.len()];
    let mut relying: Vec<Vec<Value>> = vec![Vec::new(); func.values.len()];
    // All parameters are checked in order, and again after one of their two arguments was replaced.
    let mut now: BTreeSet<(usize, usize)> =
        (1..n).flat_map(|b| (0..keep[b].len()).map(move |p| (b, p))).collect();
    let mut later = BTreeSet::new();
    loop {
        let Some((b, p)) = now.pop_first() else {
            if later.is_empty() {
                break;
            }
            now = std::mem::take(&mut later);
            continue;
        };
        let param = func.blocks[b].params[p];
        let args = sources[b].iter().map(|target| find(&mut replaced, target.args[p]));
        let mut args = args.filter(|v| *v != param);
        let Some(one) = args.next() else { continue };
        if let Some(other) = args.find(|v| *v != one) {
            differ[param.index()] = [one, other];
            [param, one, other].iter().for_each(|v| relying[v.index()].push(param));
            continue;
        }
        replaced[param.index()] = one;
        keep[b][p] = false;
        // Only parameters that depend on both values are affected; they are in both lists, so the shorter one
        // suffices.
        let mut asked = std::mem::take(&mut relying[param.index()]);
        if relying[one.index()].len() < asked.len() {
            std::mem::swap(&mut relying[one.index()], &mut asked);
        }
        for other in asked {
            let (home, at) = place[other.index()];
            if !keep[home][at] {
                continue;
            }
            let [x, y] = differ[other.index()].map(|v| find(&mut replaced, v));
            if x == y || x == other || y == other {
                if (home, at) > (b, p) {
                    now.insert((home, at))
                } else {
                    later.insert((home, at))
                };
            } else if [x, y, other].contains(&one) {
                relying[one.index()].push(other);
            }
        }
    }
    let mut find = |v: Value| find(&mut replaced, v);
    for data in &mut func.blocks {
        for inst in &mut data.insts {
            inst.args.iter_mut().for_each(|a| *a = find(*a));
        }
        match &mut data.term {
            Terminator::Branch { cond, .. } => *cond = find(*cond),
            Terminator::Switch { index, .. } => *index = find(*index),
            Terminator::Return(values) => values.iter_mut().for_each(|a| *a = find(*a)),
            _ => {}
        }
        for target in data.term.targets_mut() {
            let kept = &keep[target.block.index()];
            let mut i = 0;
            target.args.retain(|_| {
                i += 1;
                kept[i - 1]
            });
            target.args.iter_mut().for_each(|a| *a = find(*a));
        }
    }
    for (b, data) in func.blocks.iter_mut().enumerate() {
        let mut i = 0;
        data.params.retain(|_| {
            i += 1;
            keep[b][i - 1]
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nested loops pass one value to the innermost loop and back to all headers: no parameter is needed.
    #[test]
    fn nested_loops_need_no_parameters_for_what_they_leave_alone() {
        const LOOPS: u32 = 300;
        let mut func = Function::default();
        let entry = func.new_block();
        let v = zero(&mut func, entry, Ty::I1);
        // Block 1 + i is the header of loop i, 1 + LOOPS + i the block that goes round it.
        let headers: Vec<Value> = (1..=LOOPS)
            .map(|_| {
                let header = func.new_block();
                func.new_param(header, Ty::I1)
            })
            .collect();
        let innermost = *headers.last().expect("a header");
        let to = |block: u32, arg: Value| BlockCall { block: Block(block), args: vec![arg] };
        func.blocks[0].term = Terminator::Jump(to(1, v));
        for (i, &param) in headers.iter().enumerate().take(LOOPS as usize - 1) {
            func.blocks[1 + i].term = Terminator::Jump(to(2 + i as u32, param));
        }
        for i in 0..LOOPS {
            func.new_block();
            let els = BlockCall::to(Block(if i == 0 { 2 * LOOPS + 1 } else { LOOPS + i }));
            let again = to(1 + i, innermost);
            let back = Terminator::Branch { cond: innermost, then: again, els };
            func.blocks[(1 + LOOPS + i) as usize].term = back;
        }
        func.blocks[LOOPS as usize].term = Terminator::Jump(BlockCall::to(Block(2 * LOOPS)));
        let end = func.new_block();
        func.block_mut(end).term = Terminator::Return(vec![innermost]);
        remove_redundant_params(&mut func);
        assert!(func.blocks.iter().all(|b| b.params.is_empty()));
        assert_eq!(func.block(end).term, Terminator::Return(vec![v]));
    }

    /// The parameter of a join of two values stays. One that only passes it on is removed.
    #[test]
    fn parameters_that_join_values_stay() {
        let mut func = Function::default();
        let [entry, a, b, join, next] = std::array::from_fn(|_| func.new_block());
        let (x, y) = (zero(&mut func, entry, Ty::I1), zero(&mut func, entry, Ty::I1));
        let (met, kept) = (func.new_param(join, Ty::I1), func.new_param(join, Ty::I1));
        let handed = func.new_param(next, Ty::I1);
        func.block_mut(entry).term =
            Terminator::Branch { cond: x, then: BlockCall::to(a), els: BlockCall::to(b) };
        for (from, v) in [(a, x), (b, y)] {
            func.block_mut(from).term = Terminator::Jump(BlockCall { block: join, args: vec![v, x] });
        }
        func.block_mut(join).term = Terminator::Jump(BlockCall { block: next, args: vec![met] });
        func.block_mut(next).term = Terminator::Return(vec![handed, kept]);
        remove_redundant_params(&mut func);
        assert_eq!(func.block(join).params, [met]);
        assert_eq!(func.block(next).term, Terminator::Return(vec![met, x]));
    }
}
