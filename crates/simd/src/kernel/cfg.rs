//! The control-flow graph of a function: dominators, loops, and a block order in which loops are contiguous.

use std::collections::BTreeSet;

use wave::dominance::immediate;
use wave::{Block, BlockCall, Function};

/// A natural loop.
#[derive(Clone, Debug)]
pub struct Loop {
    /// The block that dominates the others.
    pub header: usize,
    /// By block: whether it belongs to the loop.
    pub contains: Vec<bool>,
    /// The loop's blocks.
    pub blocks: Vec<usize>,
    /// Position of its last block in the order.
    pub last: usize,
}

/// The control-flow graph as code generation needs it. Blocks are numbers; unreachable ones have no position.
#[derive(Clone, Debug)]
pub struct Cfg {
    /// Successors without duplicates.
    pub succs: Vec<Vec<usize>>,
    /// Predecessors without duplicates.
    pub preds: Vec<Vec<usize>>,
    /// The reachable blocks. Loops are contiguous and begin with their header.
    pub order: Vec<usize>,
    /// Each block's position in the order.
    pub position: Vec<Option<usize>>,
    /// Immediate dominators; the entry and unreachable blocks have none.
    pub idom: Vec<Option<usize>>,
    /// Immediate post-dominators; `None` is the function's end.
    pub ipdom: Vec<Option<usize>>,
    /// Loops, outer ones before inner ones.
    pub loops: Vec<Loop>,
    /// The loops around each block, as indices into `loops`: usually few, however many loops there are.
    around: Vec<Vec<usize>>,
}

/// Why the graph cannot be linearised.
pub type Irreducible = &'static str;

/// Returns the successors or the predecessors of a block.
type Next<'a> = &'a dyn Fn(usize) -> &'a [usize];

fn post_order(start: usize, n: usize, next: Next) -> Vec<usize> {
    let mut seen = vec![false; n];
    let mut order = Vec::new();
    let mut stack = vec![(start, next(start).iter())];
    seen[start] = true;
    while let Some((b, rest)) = stack.last_mut() {
        match rest.next() {
            Some(&s) => {
                if !std::mem::replace(&mut seen[s], true) {
                    stack.push((s, next(s).iter()));
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

fn dominates(idom: &[Option<usize>], a: usize, mut b: usize) -> bool {
    while a != b {
        match idom[b] {
            Some(d) => b = d,
            None => return false,
        }
    }
    true
}

impl Cfg {
    /// For each block, the edges that lead to it from reachable blocks, with their sources.
    pub fn edges<'f>(&self, func: &'f Function) -> Vec<Vec<(usize, &'f BlockCall)>> {
        let mut edges = vec![Vec::new(); self.succs.len()];
        for &from in self.order.iter().rev() {
            func.blocks[from].term.targets().for_each(|call| edges[call.block.index()].push((from, call)));
        }
        edges
    }

    /// Whether every path to `b` goes through `a`.
    pub fn dominates(&self, a: usize, b: usize) -> bool {
        dominates(&self.idom, a, b)
    }

    /// The blocks that `a` strictly dominates.
    pub fn below(&self, a: usize) -> BTreeSet<usize> {
        let mut below = BTreeSet::new();
        // The immediate dominator comes earlier in the order.
        for &b in &self.order {
            if self.idom[b].is_some_and(|d| d == a || below.contains(&d)) {
                below.insert(b);
            }
        }
        below
    }

    /// Analyses a function. Fails if a loop has several entries.
    pub fn new(func: &Function) -> Result<Cfg, Irreducible> {
        let Graph { succs, preds, post, reachable } = Graph::new(func);
        let n = succs.len();
        let idom = immediate(&post, n, &|b| &preds[b]);
        let mut number = vec![usize::MAX; n];
        post.iter().enumerate().for_each(|(i, &b)| number[b] = i);
        let mut loops: Vec<Loop> = Vec::new();
        for &b in &post {
            // A dominator comes later in post-order.
            for &s in succs[b].iter().filter(|&&s| number[s] >= number[b]) {
                if !dominates(&idom, s, b) {
                    return Err("a loop with several entries");
                }
                add_back_edge(&mut loops, n, &preds, s, b);
            }
        }
        let around = settle(&mut loops, n);
        // Visit exits of loops first, so that they come last in reverse post-order.
        let mut by_depth = succs.clone();
        by_depth.iter_mut().for_each(|s| s.sort_by_key(|&s| around[s].len()));
        let mut order = post_order(0, n, &|b| &by_depth[b]);
        order.reverse();
        // The target of a loop exit may still stand between the loop's blocks. Only the header leads back
        // from there, so it can move after them. Outer loops go first, so that inner ones are moved as a
        // whole.
        for l in &loops {
            let inside = |b: &usize| l.contains[*b];
            let (Some(first), Some(last)) = (order.iter().position(inside), order.iter().rposition(inside))
            else {
                continue;
            };
            if let Some(part) = order.get_mut(first..=last)
                && part.len() > l.blocks.len()
            {
                part.sort_by_key(|&b| !l.contains[b]);
            }
        }
        let mut position = vec![None; n];
        order.iter().enumerate().for_each(|(i, &b)| position[b] = Some(i));
        for l in &mut loops {
            let places: Vec<usize> = l.blocks.iter().filter_map(|&b| position[b]).collect();
            let (first, last) = (places.iter().min().copied(), places.iter().max().copied());
            let (Some(first), Some(last)) = (first, last) else { continue };
            if last - first + 1 != places.len() || position[l.header] != Some(first) {
                return Err("a loop whose blocks cannot be put in a row");
            }
            l.last = last;
        }
        let ipdom = post_dominators(n, &succs, &reachable);
        Ok(Cfg { succs, preds, order, position, idom, ipdom, loops, around })
    }

    /// A graph of any shape, in reverse post-order. It has no post-dominators, and loops only after
    /// [`Cfg::find_loops`].
    pub fn of_any_shape(func: &Function) -> Cfg {
        let Graph { succs, preds, post, .. } = Graph::new(func);
        let n = succs.len();
        let order: Vec<usize> = post.iter().rev().copied().collect();
        let mut position = vec![None; n];
        order.iter().enumerate().for_each(|(i, &b)| position[b] = Some(i));
        let idom = immediate(&post, n, &|b| &preds[b]);
        let around = vec![Vec::new(); n];
        Cfg { succs, preds, order, position, idom, ipdom: vec![None; n], loops: Vec::new(), around }
    }

    /// Finds the loops of a graph of any shape: an edge against the order closes a loop, which consists of
    /// the blocks on a cycle through its target. Loops need be neither contiguous nor nested. The time grows
    /// with loops times blocks.
    pub fn find_loops(&mut self) {
        let n = self.succs.len();
        let mut loops: Vec<Loop> = Vec::new();
        for &b in &self.order {
            for &s in self.succs[b].iter().filter(|&&s| self.position[s] <= self.position[b]) {
                add_back_edge(&mut loops, n, &self.preds, s, b);
            }
        }
        for l in &mut loops {
            // The walk also took predecessors that enter the loop other than through its header.
            let mut after = vec![false; n];
            post_order(l.header, n, &|b| &self.succs[b]).into_iter().for_each(|b| after[b] = true);
            l.contains.iter_mut().zip(after).for_each(|(inside, after)| *inside &= after);
        }
        self.around = settle(&mut loops, n);
        self.loops = loops;
    }

    /// Whether an edge is the back edge of a loop around its source.
    pub fn is_back_edge(&self, from: usize, to: usize) -> bool {
        self.around(from).any(|(_, l)| l.header == to)
    }

    /// The loops around a block with their indices, outer ones first.
    pub fn around(&self, b: usize) -> impl DoubleEndedIterator<Item = (usize, &Loop)> {
        self.around[b].iter().map(|&i| (i, &self.loops[i]))
    }
}

/// Edges and reachable blocks.
struct Graph {
    succs: Vec<Vec<usize>>,
    preds: Vec<Vec<usize>>,
    post: Vec<usize>,
    reachable: Vec<bool>,
}

impl Graph {
    fn new(func: &Function) -> Graph {
        let n = func.blocks.len();
        let mut succs: Vec<Vec<usize>> = Vec::with_capacity(n);
        // By block: the last block that lists it as a successor.
        let mut met = vec![usize::MAX; n];
        for b in 0..n {
            let mut list: Vec<usize> = func.successors(Block(b as u32)).iter().map(|s| s.index()).collect();
            list.retain(|&s| std::mem::replace(&mut met[s], b) != b);
            succs.push(list);
        }
        let post = post_order(0, n, &|b| &succs[b]);
        let mut reachable = vec![false; n];
        post.iter().for_each(|&b| reachable[b] = true);
        let mut preds = vec![Vec::new(); n];
        for &b in &post {
            for &s in &succs[b] {
                preds[s].push(b);
            }
        }
        Graph { succs, preds, post, reachable }
    }
}

/// Lists the blocks of each loop, sorts the loops (an outer loop has more blocks), and finds the loops around
/// each block.
fn settle(loops: &mut [Loop], n: usize) -> Vec<Vec<usize>> {
    for l in loops.iter_mut() {
        l.blocks = (0..n).filter(|&b| l.contains[b]).collect();
    }
    loops.sort_by_key(|l| std::cmp::Reverse(l.blocks.len()));
    let mut around = vec![Vec::new(); n];
    for (i, l) in loops.iter().enumerate() {
        l.blocks.iter().for_each(|&b| around[b].push(i));
    }
    around
}

fn add_back_edge(loops: &mut Vec<Loop>, n: usize, preds: &[Vec<usize>], header: usize, latch: usize) {
    let at = loops.iter().position(|l| l.header == header).unwrap_or_else(|| {
        let mut contains = vec![false; n];
        contains[header] = true;
        loops.push(Loop { header, contains, blocks: Vec::new(), last: 0 });
        loops.len() - 1
    });
    let mut todo = vec![latch];
    while let Some(b) = todo.pop() {
        if !std::mem::replace(&mut loops[at].contains[b], true) {
            todo.extend(&preds[b]);
        }
    }
}

/// Immediate post-dominators. Blocks that never reach the end have none, as if they ended there.
fn post_dominators(n: usize, succs: &[Vec<usize>], reachable: &[bool]) -> Vec<Option<usize>> {
    let end = n;
    let mut back = vec![Vec::new(); n + 1];
    for b in (0..n).filter(|&b| reachable[b]) {
        if succs[b].is_empty() {
            back[end].push(b);
        }
        for &s in &succs[b] {
            back[s].push(b);
        }
    }
    let post = post_order(end, n + 1, &|b| &back[b]);
    let last = [end];
    let forward = |b: usize| match succs.get(b) {
        None => &[][..],
        Some(none) if none.is_empty() => &last,
        Some(some) => some,
    };
    let idom = immediate(&post, n + 1, &forward);
    (0..n).map(|b| idom[b].filter(|&d| d != end)).collect()
}
