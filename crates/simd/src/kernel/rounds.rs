//! Loops that take all lanes the same number of rounds, though only the run shows it.
//!
//! A thread that divides for its number of rounds gives each lane a number of its own, as far as the compiler can tell; in all warps but the
//! last they are the same. Such a loop is there twice: once for lanes that agree on that number, where it is one value for all of them and the
//! loop is as if it were written so, and once for lanes that do not.

use std::collections::{BTreeMap, BTreeSet};

use wave::func::Builder;
use wave::op::{IntOp, MatchMode, Op, ReduxOp, ShiftOp};
use wave::{Block, BlockCall, Function, LANES, Terminator, Ty, Value};

use super::cfg::{Cfg, Loop};
use super::shape::Shapes;
use super::spin::Made;

/// Operations that are worth having twice.
const MOST: usize = 600;

/// The function with a second copy of its divergent loops, for lanes that agree on the value that decides how many rounds there are; `None`
/// where no one value decides it. Whether the copy is better only its own shapes tell.
pub fn for_one_number(func: &Function, cfg: &Cfg, shapes: &Shapes) -> Option<Function> {
    let made = Made::new(func, cfg);
    let divergent: Vec<&Loop> =
        cfg.loops.iter().zip(&shapes.divergent_loop).filter(|(_, d)| **d).map(|(l, _)| l).collect();
    let inside = |b: usize| divergent.iter().any(|l| l.contains[b]);
    let mut deciding = BTreeSet::new();
    for l in &divergent {
        deciding.extend(outside(func, cfg, shapes, &made, l)?);
    }
    // The first of those that every such loop comes after.
    let found = deciding.into_iter().find(|&(place, v)| {
        let b = cfg.order[place.0];
        !inside(b)
            && matches!(func.ty(v), Ty::I32 | Ty::I64)
            && divergent.iter().all(|l| dominates(cfg, b, l.header))
    });
    let (_, root) = found?;
    let (b, at) = made.place(root)?;
    let split = if at < func.blocks[b].insts.len() { at + 1 } else { 0 };
    let region = Region::of(func, cfg, b, split, &divergent)?;
    Some(twice(func, cfg, &region, root))
}

/// Where a value is made: the place of its block in the order, and in the block, parameters first.
type Place = (usize, usize);

/// What decides how often a loop goes round and differs between lanes: the values that are made outside of it, by their places. `None` where
/// it also depends on what the loop itself reads, or on nothing that differs.
fn outside(
    func: &Function,
    cfg: &Cfg,
    shapes: &Shapes,
    made: &Made,
    l: &Loop,
) -> Option<BTreeSet<(Place, Value)>> {
    let leaves = |b: &&usize| shapes.divergent[**b] && cfg.succs[**b].iter().any(|&s| !l.contains[s]);
    let mut todo: Vec<Value> =
        l.blocks.iter().filter(leaves).filter_map(|&b| func.blocks[b].term.condition()).collect();
    let (mut seen, mut found) = (BTreeSet::new(), BTreeSet::new());
    while let Some(v) = todo.pop() {
        let shape = &shapes.values[v.index()];
        if shape.group == LANES && !shape.needs_guard() || !seen.insert(v) {
            continue;
        }
        let (b, at) = made.place(v)?;
        let insts = &func.blocks[b].insts;
        match insts.get(at) {
            Some(inst) if inst.op.is_pure() => todo.extend(&inst.args),
            Some(_) if l.contains[b] => return None,
            Some(_) => {}
            None => {
                let targets = cfg.preds[b].iter().flat_map(|&p| func.blocks[p].term.targets());
                let same = targets.filter(|t| t.block.index() == b);
                todo.extend(same.filter_map(|t| t.args.get(at - insts.len())));
            }
        }
        if !l.contains[b] {
            let order = if at < insts.len() { at + 1 } else { 0 };
            found.insert(((cfg.position[b]?, order), v));
        }
    }
    (!found.is_empty()).then_some(found)
}

fn dominates(cfg: &Cfg, a: usize, mut b: usize) -> bool {
    while a != b {
        match cfg.idom[b] {
            Some(d) => b = d,
            None => return false,
        }
    }
    true
}

/// What there is twice: the end of a block from an instruction on, and the blocks on the way to the loops and in them.
struct Region {
    block: usize,
    split: usize,
    blocks: Vec<usize>,
    /// Where its ways lead together, if that is one block that nobody else leads to.
    exit: Option<usize>,
}

impl Region {
    fn of(func: &Function, cfg: &Cfg, block: usize, split: usize, loops: &[&Loop]) -> Option<Region> {
        let after: Vec<usize> =
            cfg.order.iter().copied().filter(|&b| b != block && dominates(cfg, block, b)).collect();
        // Backwards from the loops.
        let mut blocks: BTreeSet<usize> = loops.iter().flat_map(|l| l.blocks.iter().copied()).collect();
        let mut todo: Vec<usize> = blocks.iter().copied().collect();
        while let Some(b) = todo.pop() {
            for &p in cfg.preds[b].iter().filter(|&&p| p != block && after.contains(&p)) {
                if blocks.insert(p) {
                    todo.push(p);
                }
            }
        }
        if blocks.contains(&block) {
            return None;
        }
        let within = |blocks: &BTreeSet<usize>, b: usize| b == block || blocks.contains(&b);
        let ways_out = |blocks: &BTreeSet<usize>| -> Vec<usize> {
            let from = blocks.iter().chain([&block]).flat_map(|&b| cfg.succs[b].iter().copied());
            from.filter(|&s| !within(blocks, s) && after.contains(&s))
                .collect::<BTreeSet<_>>()
                .into_iter()
                .collect()
        };
        let exit = match ways_out(&blocks)[..] {
            [] => None,
            [exit] if cfg.preds[exit].iter().all(|&p| within(&blocks, p)) => Some(exit),
            _ => {
                blocks = after.into_iter().collect();
                None
            }
        };
        let insts =
            || blocks.iter().flat_map(|&b| &func.blocks[b].insts).chain(&func.blocks[block].insts[split..]);
        let fits = insts().count() <= MOST && !insts().any(|i| i.op.suspends());
        fits.then(|| Region { block, split, blocks: blocks.into_iter().collect(), exit })
    }
}

fn twice(func: &Function, cfg: &Cfg, region: &Region, root: Value) -> Function {
    let mut func = func.clone();
    let place = func.blocks[region.block].term_loc;
    let head = Block(region.block as u32);
    let rest = func.new_block();
    let data = func.block_mut(head);
    let insts = data.insts.split_off(region.split);
    let term = std::mem::replace(&mut data.term, Terminator::Trap);
    let tail = func.block_mut(rest);
    (tail.insts, tail.term, tail.term_loc) = (insts, term, place);
    let blocks: Vec<usize> = region.blocks.iter().copied().chain([rest.index()]).collect();
    if let Some(exit) = region.exit {
        hand_out(&mut func, cfg, &blocks, exit);
    }

    let mut b = Builder::new(&mut func, head);
    b.loc = place;
    let ty = b.func.ty(root);
    let members = b.emit1(Op::ActiveMask, &[]);
    let agree = b.emit(Op::Match(MatchMode::All, ty), &[root, members])[1];
    let one = b.func.new_block();
    let to = |block| BlockCall { block, args: Vec::new() };
    b.terminate(Terminator::Branch { cond: agree, then: to(one), els: to(rest) });
    b.block = one;
    let number = agreed(&mut b, root, members, ty);
    let copy = b.func.new_block();
    b.terminate(Terminator::Jump(to(copy)));

    let mut values = BTreeMap::from([(root, number)]);
    let mut copies = BTreeMap::from([(rest.index(), copy)]);
    for &old in &region.blocks {
        let new = func.new_block();
        for p in func.blocks[old].params.clone() {
            let ty = func.ty(p);
            values.insert(p, func.new_param(new, ty));
        }
        copies.insert(old, new);
    }
    for (&old, &new) in &copies {
        let data = func.blocks[old].clone();
        for mut inst in data.insts {
            for r in &mut inst.results {
                let ty = func.ty(*r);
                let copy = func.new_value(ty);
                values.insert(std::mem::replace(r, copy), copy);
            }
            func.block_mut(new).insts.push(inst);
        }
        func.block_mut(new).term = data.term;
        func.block_mut(new).term_loc = data.term_loc;
    }
    for &new in copies.values() {
        let data = func.block_mut(new);
        let to = |v: &mut Value| *v = values.get(v).copied().unwrap_or(*v);
        data.insts.iter_mut().flat_map(|i| i.args.iter_mut()).for_each(to);
        data.term.uses_mut().for_each(to);
        for t in data.term.targets_mut() {
            t.block = copies.get(&t.block.index()).copied().unwrap_or(t.block);
        }
    }
    func
}

/// The value that the lanes in hand agree on, as one for all of them: bit by bit, what all of them have.
fn agreed(b: &mut Builder, v: Value, members: Value, ty: Ty) -> Value {
    let all = |b: &mut Builder, v: Value| b.emit1(Op::Redux(ReduxOp::And), &[v, members]);
    if ty == Ty::I32 {
        return all(b, v);
    }
    let narrow = |b: &mut Builder, v: Value| b.emit1(Op::Zext { from: Ty::I64, to: Ty::I32 }, &[v]);
    let widen = |b: &mut Builder, v: Value| b.emit1(Op::Zext { from: Ty::I32, to: Ty::I64 }, &[v]);
    let half = b.iconst(Ty::I32, 32);
    let low = narrow(b, v);
    let high = b.emit1(Op::Shift(ShiftOp::ShrU, Ty::I64), &[v, half]);
    let high = narrow(b, high);
    let (low, high) = (all(b, low), all(b, high));
    let (low, high) = (widen(b, low), widen(b, high));
    let high = b.emit1(Op::Shift(ShiftOp::Shl, Ty::I64), &[high, half]);
    b.int(IntOp::Or, low, high)
}

/// Gives what `blocks` make and code behind them uses to that code as parameters of `exit`, through which all ways there lead.
fn hand_out(func: &mut Function, cfg: &Cfg, blocks: &[usize], exit: usize) {
    let within: BTreeSet<usize> = blocks.iter().copied().collect();
    let outer: Vec<usize> =
        cfg.order.iter().copied().filter(|b| !within.contains(b) && dominates(cfg, exit, *b)).collect();
    let used: BTreeSet<Value> = outer
        .iter()
        .map(|&b| &func.blocks[b])
        .flat_map(|data| data.insts.iter().flat_map(|i| i.args.iter().copied()).chain(data.term.uses()))
        .collect();
    let made: Vec<Value> = blocks
        .iter()
        .map(|&b| &func.blocks[b])
        .flat_map(|data| data.params.iter().chain(data.insts.iter().flat_map(|i| i.results.iter())))
        .copied()
        .filter(|v| used.contains(v))
        .collect();
    let mut handed = BTreeMap::new();
    for &v in &made {
        let ty = func.ty(v);
        handed.insert(v, func.new_param(Block(exit as u32), ty));
    }
    for &b in blocks {
        for t in func.blocks[b].term.targets_mut().filter(|t| t.block.index() == exit) {
            t.args.extend(&made);
        }
    }
    for b in outer {
        let data = &mut func.blocks[b];
        let args = data.insts.iter_mut().flat_map(|i| i.args.iter_mut());
        args.chain(data.term.uses_mut()).for_each(|v| *v = handed.get(v).copied().unwrap_or(*v));
    }
}

/// Whether the second function has fewer divergent loops than twice those of the first, so that some of the copies are not.
pub fn gains(before: &Shapes, after: &Shapes) -> bool {
    let loops = |s: &Shapes| s.divergent_loop.iter().filter(|d| **d).count();
    loops(after) < 2 * loops(before)
}
