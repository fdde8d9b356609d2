//! SSA construction on the fly (after Braun et al., CC 2013).
//!
//! Reading a register that the block has not written asks the block's only predecessor, or creates a block
//! parameter whose arguments are filled in once all blocks exist. Registers that were never written are zero.
//! The front ends share it; `R` names what is written and read like a register.

use std::hash::{DefaultHasher, Hash, Hasher as _};

use hashbrown::HashMap;

use crate::op::Op;
use crate::types::Ty;
use crate::{Block, Function, Inst, Loc, Terminator, Value};

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

/// Removes block parameters that have the same value on every incoming edge (Braun's trivial phis).
pub fn remove_redundant_params(func: &mut Function) {
    let mut replaced: Vec<Value> = (0..func.values.len() as u32).map(Value).collect();
    let find = |replaced: &[Value], mut v: Value| {
        while replaced[v.index()] != v {
            v = replaced[v.index()];
        }
        v
    };
    let n = func.blocks.len();
    let mut sources: Vec<Vec<(usize, usize)>> = vec![Vec::new(); n];
    for (b, data) in func.blocks.iter().enumerate() {
        for (t, target) in data.term.targets().enumerate() {
            sources[target.block.index()].push((b, t));
        }
    }
    let mut keep: Vec<Vec<bool>> = func.blocks.iter().map(|b| vec![true; b.params.len()]).collect();
    let mut changed = true;
    while changed {
        changed = false;
        for b in 1..n {
            for p in 0..keep[b].len() {
                if !keep[b][p] {
                    continue;
                }
                let param = func.blocks[b].params[p];
                let mut only = None;
                let mut many = false;
                for &(from, t) in &sources[b] {
                    let Some(target) = func.blocks[from].term.targets().nth(t) else { continue };
                    let v = find(&replaced, target.args[p]);
                    if v != param && only.replace(v).is_some_and(|o| o != v) {
                        many = true;
                        break;
                    }
                }
                if let (false, Some(v)) = (many, only) {
                    replaced[param.index()] = v;
                    keep[b][p] = false;
                    changed = true;
                }
            }
        }
    }
    for data in &mut func.blocks {
        for inst in &mut data.insts {
            inst.args.iter_mut().for_each(|a| *a = find(&replaced, *a));
        }
        match &mut data.term {
            Terminator::Branch { cond, .. } => *cond = find(&replaced, *cond),
            Terminator::Switch { index, .. } => *index = find(&replaced, *index),
            Terminator::Return(values) => values.iter_mut().for_each(|a| *a = find(&replaced, *a)),
            _ => {}
        }
        for target in data.term.targets_mut() {
            let kept = &keep[target.block.index()];
            let mut i = 0;
            target.args.retain(|_| {
                i += 1;
                kept[i - 1]
            });
            target.args.iter_mut().for_each(|a| *a = find(&replaced, *a));
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
