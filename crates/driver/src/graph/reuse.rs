//! Searches for memory that an earlier node frees, which remember where there is none.

use smallvec::SmallVec;

/// There is nothing to find from a node on.
const NOTHING: u32 = u32::MAX;

/// Which node to look at next where others depend on each other.
pub(super) trait Order {
    /// The nodes that a node depends on.
    fn before(&self, node: u32) -> SmallVec<[u32; 2]>;
    /// Whether a node frees memory that a later one may take. Once this is false, it remains so.
    fn is_open(&self, node: u32) -> bool;
}

/// What earlier searches in a graph have found out. It holds while nodes and edges to new nodes are added.
#[derive(Default)]
pub(super) struct Search {
    /// For each node, the first one at or before it that a search must look at: one that is open, or depends
    /// on several that lead to different ones.
    next: Vec<u32>,
    /// For each node, the number of the last search that came to it.
    seen: Vec<u32>,
    searches: u32,
}

impl Search {
    /// Forgets what is known, since edges to older nodes were added.
    pub fn forget(&mut self) {
        self.next.clear();
    }

    /// Calls `visit` for the open nodes at or before some nodes of `room` in all, until it returns `true`.
    pub fn run(
        &mut self,
        room: usize,
        from: impl Iterator<Item = u32>,
        order: &impl Order,
        mut visit: impl FnMut(u32) -> bool,
    ) {
        (self.next.len()..room).for_each(|node| self.next.push(node as u32));
        self.seen.resize(room.max(self.seen.len()), self.searches);
        self.searches = self.searches.wrapping_add(1);
        let mut open: Vec<u32> = from.collect();
        let mut joins = Vec::new();
        while let Some(node) = open.pop() {
            let node = self.skip(node, order);
            let Some(seen) = self.seen.get_mut(node as usize) else { continue };
            if std::mem::replace(seen, self.searches) == self.searches {
                continue;
            }
            let is_open = order.is_open(node);
            if is_open && visit(node) {
                break;
            }
            if !is_open {
                joins.push(node);
            }
            open.extend(order.before(node));
        }
        // Those that were seen last come first in the graph.
        for node in joins.into_iter().rev() {
            let mut ends: SmallVec<[u32; 2]> =
                order.before(node).into_iter().map(|before| self.skip(before, order)).collect();
            ends.retain(|end| *end != NOTHING);
            let first = ends.first().copied().unwrap_or(NOTHING);
            if ends.iter().all(|end| *end == first)
                && let Some(next) = self.next.get_mut(node as usize)
            {
                *next = first;
            }
        }
    }

    /// The node that a search must look at in the place of another one; [`NOTHING`] if there is none.
    fn skip(&mut self, node: u32, order: &impl Order) -> u32 {
        let (mut at, mut path) = (node, Vec::new());
        let end = loop {
            let Some(&known) = self.next.get(at as usize) else { break NOTHING };
            // More steps than nodes: the nodes form a cycle.
            if path.len() > self.next.len() {
                break NOTHING;
            }
            let next = if known != at {
                known
            } else if order.is_open(at) {
                break at;
            } else {
                match order.before(at)[..] {
                    [] => NOTHING,
                    [one] => one,
                    _ => break at,
                }
            };
            path.push(at);
            if next == NOTHING {
                break NOTHING;
            }
            at = next;
        };
        for passed in path {
            if let Some(next) = self.next.get_mut(passed as usize) {
                *next = end;
            }
        }
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::cell::Cell;

    /// A graph as the nodes that each node depends on, and which nodes are open.
    #[derive(Default)]
    struct Model {
        before: Vec<Vec<u32>>,
        open: Vec<bool>,
        looks: Cell<usize>,
    }

    impl Order for Model {
        fn before(&self, node: u32) -> SmallVec<[u32; 2]> {
            self.looks.set(self.looks.get() + 1);
            self.before[node as usize].iter().copied().collect()
        }

        fn is_open(&self, node: u32) -> bool {
            self.open[node as usize]
        }
    }

    impl Model {
        fn add(&mut self, before: &[u32], is_open: bool) -> u32 {
            self.before.push(before.to_vec());
            self.open.push(is_open);
            self.open.len() as u32 - 1
        }

        fn find(&self, search: &mut Search, from: u32) -> Vec<u32> {
            let mut found = Vec::new();
            search.run(self.open.len(), [from].into_iter(), self, |node| {
                found.push(node);
                false
            });
            found.sort_unstable();
            found
        }
    }

    #[test]
    fn searches_of_a_chain_take_time_in_proportion_to_it() {
        let looks = |pairs: u32| {
            let (mut model, mut search) = (Model::default(), Search::default());
            // Each pair allocates, in the memory that the one before has freed, and frees.
            let mut last = model.add(&[], true);
            for _ in 0..pairs {
                assert_eq!(model.find(&mut search, last), [last]);
                model.open[last as usize] = false;
                let allocates = model.add(&[last], false);
                last = model.add(&[allocates], true);
            }
            model.looks.get()
        };
        assert!(looks(4000) < 6 * looks(1000), "{} {}", looks(1000), looks(4000));
    }

    #[test]
    fn what_is_open_is_found_in_any_graph() {
        let mut random = 1u32;
        let mut number = |below: u32| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 8) % below
        };
        for _ in 0..300 {
            let (mut model, mut search) = (Model::default(), Search::default());
            for _ in 0..60 {
                let room = model.open.len() as u32;
                let edges = if room == 0 { 0 } else { number(4) };
                let mut before: Vec<u32> = (0..edges).map(|_| number(room)).collect();
                before.dedup();
                let node = model.add(&before, number(3) == 0);
                if number(4) == 0 {
                    let closed = number(node + 1) as usize;
                    model.open[closed] = false;
                }
                if number(12) == 0 {
                    // An edge between older nodes, perhaps one that closes a cycle.
                    let (from, to) = (number(node + 1), number(node + 1) as usize);
                    model.before[to].push(from);
                    search.forget();
                }
                let from = number(node + 1);
                let (mut seen, mut open) = (vec![false; model.open.len()], vec![from]);
                while let Some(node) = open.pop() {
                    if !std::mem::replace(&mut seen[node as usize], true) {
                        open.extend(&model.before[node as usize]);
                    }
                }
                let expected: Vec<u32> =
                    (0..=node).filter(|node| seen[*node as usize] && model.open[*node as usize]).collect();
                assert_eq!(model.find(&mut search, from), expected);
            }
        }
    }
}
