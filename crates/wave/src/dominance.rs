//! Dominance: the blocks that every path to a block goes through (Cooper, Harvey and Kennedy, "A simple, fast
//! dominance algorithm").

use crate::func::{Block, Function};

/// The dominator tree, with the times of entering and leaving each block in a depth-first walk.
#[derive(Debug)]
pub struct Dominators {
    /// `None` for unreachable blocks.
    span: Vec<Option<(u32, u32)>>,
}

impl Dominators {
    /// Computes the tree of a function whose targets all exist.
    pub fn of(func: &Function) -> Dominators {
        let n = func.blocks.len();
        let order = postorder(func);
        let mut number = vec![usize::MAX; n];
        for (i, b) in order.iter().enumerate() {
            number[b.index()] = i;
        }
        let mut preds = vec![Vec::new(); n];
        for &b in &order {
            for t in func.block(b).term.targets() {
                preds[t.block.index()].push(b);
            }
        }
        let mut above: Vec<Option<Block>> = vec![None; n];
        let entry = Block(0);
        above[0] = Some(entry);
        let meet = |above: &[Option<Block>], mut a: Block, mut b: Block| {
            while a != b {
                while number[a.index()] < number[b.index()] {
                    a = above[a.index()].unwrap_or(entry);
                }
                while number[b.index()] < number[a.index()] {
                    b = above[b.index()].unwrap_or(entry);
                }
            }
            a
        };
        let mut changed = true;
        while changed {
            changed = false;
            for &b in order.iter().rev().filter(|b| **b != entry) {
                let known = preds[b.index()].iter().copied().filter(|p| above[p.index()].is_some());
                let new = known.reduce(|x, y| meet(&above, x, y));
                if new.is_some() && new != above[b.index()] {
                    above[b.index()] = new;
                    changed = true;
                }
            }
        }
        Dominators { span: spans(&above, n) }
    }

    /// Whether a block is reachable.
    pub fn reached(&self, b: Block) -> bool {
        self.span[b.index()].is_some()
    }

    /// Whether every path to `b`, which is reachable, goes through `a`.
    pub fn dominates(&self, a: Block, b: Block) -> bool {
        match (self.span[a.index()], self.span[b.index()]) {
            (Some((from, to)), Some((at, _))) => from <= at && at < to,
            _ => false,
        }
    }
}

/// Reachable blocks in postorder: successors before predecessors, except in loops.
pub fn postorder(func: &Function) -> Vec<Block> {
    let mut seen = vec![false; func.blocks.len()];
    let mut order = Vec::new();
    let mut stack = vec![(Block(0), func.successors(Block(0)))];
    seen[0] = true;
    while let Some((b, rest)) = stack.last_mut() {
        match rest.pop() {
            Some(next) => {
                if !std::mem::replace(&mut seen[next.index()], true) {
                    stack.push((next, func.successors(next)));
                }
            }
            None => {
                order.push(*b);
                stack.pop();
            }
        }
    }
    order
}

fn spans(above: &[Option<Block>], n: usize) -> Vec<Option<(u32, u32)>> {
    let mut below = vec![Vec::new(); n];
    for (b, up) in above.iter().enumerate().skip(1) {
        if let Some(up) = up {
            below[up.index()].push(Block(b as u32));
        }
    }
    let mut span = vec![None; n];
    let mut time = 0;
    let mut stack = vec![(Block(0), false)];
    while let Some((b, left)) = stack.pop() {
        match &mut span[b.index()] {
            Some((_, to)) if left => *to = time,
            entry => {
                *entry = Some((time, 0));
                time += 1;
                stack.push((b, true));
                stack.extend(below[b.index()].iter().map(|&c| (c, false)));
            }
        }
    }
    span
}
