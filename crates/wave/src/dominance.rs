//! Dominance: the blocks that every path to a block goes through (Cooper, Harvey and Kennedy, "A simple, fast
//! dominance algorithm", with jump pointers to find where two paths meet).

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
        let order: Vec<usize> = postorder(func).iter().map(|b| b.index()).collect();
        let mut preds = vec![Vec::new(); n];
        for &b in &order {
            func.blocks[b].term.targets().for_each(|t| preds[t.block.index()].push(b));
        }
        Dominators { span: spans(&immediate(&order, n, &|b| &preds[b]), n) }
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

/// Immediate dominators of a graph with `n` nodes. `post` has the reachable nodes in postorder, the root
/// last. The root and unreachable nodes have none.
pub fn immediate<'a>(post: &[usize], n: usize, preds: &dyn Fn(usize) -> &'a [usize]) -> Vec<Option<usize>> {
    let mut number = vec![usize::MAX; n];
    post.iter().enumerate().for_each(|(i, &b)| number[b] = i);
    let mut tree = Tree { above: vec![None; n], depth: vec![0; n], jump: vec![0; n] };
    let Some((&root, rest)) = post.split_last() else { return tree.above };
    (tree.above[root], tree.jump[root]) = (Some(root), root);
    for &b in rest.iter().rev() {
        let known = preds(b).iter().copied().filter(|&p| tree.above[p].is_some());
        if let Some(up) = known.reduce(|x, y| tree.meet(x, y)) {
            tree.add(b, up);
        }
    }
    // Edges from later nodes change nothing unless a loop has several entries.
    let late = |&b: &usize| preds(b).iter().any(|&p| number[p] != usize::MAX && number[p] <= number[b]);
    let holds = |b: usize| {
        let known = preds(b).iter().copied().filter(|&p| tree.above[p].is_some());
        known.reduce(|x, y| tree.meet(x, y)) == tree.above[b]
    };
    let mut changed = !rest.iter().filter(|b| late(b)).all(|&b| holds(b));
    let mut above = tree.above;
    while changed {
        changed = false;
        for &b in rest.iter().rev() {
            let known = preds(b).iter().copied().filter(|&p| above[p].is_some());
            let new = known.reduce(|x, y| meet(&above, &number, x, y));
            if new.is_some() && new != above[b] {
                above[b] = new;
                changed = true;
            }
        }
    }
    above[root] = None;
    above
}

/// Where the paths from two nodes to the root meet. A node above another one has a higher number.
fn meet(above: &[Option<usize>], number: &[usize], mut a: usize, mut b: usize) -> usize {
    while a != b {
        while number[a] < number[b] {
            a = above[a].unwrap_or(b);
        }
        while number[b] < number[a] {
            b = above[b].unwrap_or(a);
        }
    }
    a
}

/// A tree that grows by leaves.
struct Tree {
    /// The root is above itself.
    above: Vec<Option<usize>>,
    depth: Vec<usize>,
    /// A node further up, chosen so that each path to the root has a logarithmic number of jumps (Myers, "An
    /// applicative random-access stack").
    jump: Vec<usize>,
}

impl Tree {
    fn up(&self, node: usize) -> usize {
        self.above[node].unwrap_or(node)
    }

    fn add(&mut self, leaf: usize, up: usize) {
        let (near, far) = (self.jump[up], self.jump[self.jump[up]]);
        let alike = self.depth[up] - self.depth[near] == self.depth[near] - self.depth[far];
        self.above[leaf] = Some(up);
        self.depth[leaf] = self.depth[up] + 1;
        self.jump[leaf] = if alike { far } else { up };
    }

    /// Where the paths from two nodes to the root meet.
    fn meet(&self, a: usize, b: usize) -> usize {
        let (mut a, mut b) = if self.depth[a] > self.depth[b] { (b, a) } else { (a, b) };
        while self.depth[b] > self.depth[a] {
            let far = self.jump[b];
            b = if self.depth[far] >= self.depth[a] { far } else { self.up(b) };
        }
        while a != b {
            let far = [self.jump[a], self.jump[b]];
            [a, b] = if far[0] != far[1] { far } else { [self.up(a), self.up(b)] };
        }
        a
    }
}

fn spans(above: &[Option<usize>], n: usize) -> Vec<Option<(u32, u32)>> {
    let mut below = vec![Vec::new(); n];
    for (b, up) in above.iter().enumerate().skip(1) {
        if let Some(up) = up {
            below[*up].push(b);
        }
    }
    let mut span = vec![None; n];
    let mut time = 0;
    let mut stack = vec![(0, false)];
    while let Some((b, left)) = stack.pop() {
        match &mut span[b] {
            Some((_, to)) if left => *to = time,
            entry => {
                *entry = Some((time, 0));
                time += 1;
                stack.push((b, true));
                stack.extend(below[b].iter().map(|&c| (c, false)));
            }
        }
    }
    span
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::func::{BlockCall, Terminator};

    /// The blocks that can be reached without a given one.
    fn reached(succs: &[Vec<usize>], without: Option<usize>) -> Vec<bool> {
        let mut seen = vec![false; succs.len()];
        let mut todo: Vec<usize> = [0].into_iter().filter(|b| Some(*b) != without).collect();
        while let Some(b) = todo.pop() {
            if !std::mem::replace(&mut seen[b], true) {
                todo.extend(succs[b].iter().filter(|&&s| Some(s) != without));
            }
        }
        seen
    }

    /// Graphs of any shape: a block dominates those that cannot be reached without it.
    #[test]
    fn dominators_are_on_every_path() {
        let mut seed = 3u64;
        let mut below = |n: usize| {
            seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            (seed >> 33) as usize % n
        };
        for round in 0..500 {
            let n = 2 + round % 30;
            let backwards = 1 + round % 7;
            let mut func = Function::default();
            (0..n).for_each(|_| {
                func.new_block();
            });
            let cond = func.new_value(crate::Ty::I1);
            for b in 0..n {
                let [then, els] = std::array::from_fn(|_| match below(backwards) {
                    0 => (b + 1 + below(3)).min(n - 1),
                    _ => 1 + below(n - 1),
                });
                let [then, els] = [then, els].map(|b| BlockCall::to(Block(b as u32)));
                func.blocks[b].term = Terminator::Branch { cond, then, els };
            }
            let succs: Vec<Vec<usize>> =
                func.block_ids().map(|b| func.successors(b).iter().map(|s| s.index()).collect()).collect();
            let (dominators, all) = (Dominators::of(&func), reached(&succs, None));
            for a in 0..n {
                let without = reached(&succs, Some(a));
                assert_eq!(dominators.reached(Block(a as u32)), all[a]);
                for b in (0..n).filter(|&b| all[b]) {
                    let found = dominators.dominates(Block(a as u32), Block(b as u32));
                    assert_eq!(found, !without[b], "round {round}, {a} and {b}: {succs:?}");
                }
            }
        }
    }
}
