//! The edges of one node in one direction.

use smallvec::{Array, SmallVec};

use super::Edge;

/// Marks an entry whose edge was removed. No index is as large, since handles have fewer bits.
const GONE: u32 = 1 << 31;
/// In a list of up to this many entries, those behind a removed one move up at once.
const FEW: usize = 16;

/// An entry of a list: the node at the other end, perhaps with data.
pub(crate) trait Link: Clone {
    /// The index of the node, perhaps with [`GONE`].
    fn index(&self) -> u32;
    /// Marks the entry as removed.
    fn bury(&mut self);
}

impl Link for u32 {
    fn index(&self) -> u32 {
        *self
    }

    fn bury(&mut self) {
        *self |= GONE;
    }
}

impl Link for (u32, Edge) {
    fn index(&self) -> u32 {
        self.0
    }

    fn bury(&mut self) {
        self.0.bury();
    }
}

fn is_there<T: Link>(link: &&T) -> bool {
    link.index() & GONE == 0
}

/// A list in the order in which the edges were added. Removing an edge from a long list only marks it, until
/// half of the list is removed: a node may have hundreds of thousands of edges.
#[derive(Clone)]
pub(crate) struct Links<A: Array<Item: Link>> {
    list: SmallVec<A>,
    gone: u32,
}

impl<A: Array<Item: Link>> Default for Links<A> {
    fn default() -> Self {
        Links { list: SmallVec::new(), gone: 0 }
    }
}

impl<A: Array<Item: Link>> From<SmallVec<A>> for Links<A> {
    fn from(list: SmallVec<A>) -> Self {
        Links { list, gone: 0 }
    }
}

/// The edges of a list.
pub(crate) type Iter<'a, T> = std::iter::Filter<std::slice::Iter<'a, T>, fn(&&'a T) -> bool>;

impl<A: Array<Item: Link>> Links<A> {
    /// The number of edges.
    pub(crate) fn len(&self) -> usize {
        self.list.len() - self.gone as usize
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All edges.
    pub(crate) fn iter(&self) -> Iter<'_, A::Item> {
        self.list.iter().filter(is_there)
    }

    /// Adds an edge.
    pub(crate) fn push(&mut self, link: A::Item) {
        self.list.push(link);
    }

    /// The edge to or from a node.
    pub(crate) fn find(&self, node: u32) -> Option<&A::Item> {
        self.position(node).and_then(|at| self.list.get(at))
    }

    /// Most lists are in the order of the nodes, so that a node's edge is found without looking at all.
    fn position(&self, node: u32) -> Option<usize> {
        let first = self.list.partition_point(|one| one.index() & !GONE < node);
        match self.list.get(first) {
            Some(one) if one.index() == node => Some(first),
            _ => self.list.iter().position(|one| one.index() == node),
        }
    }

    /// Removes the edge to or from a node, if there is one.
    pub(crate) fn remove(&mut self, node: u32) {
        let Some(at) = self.position(node) else { return };
        if self.list.len() <= FEW {
            self.list.remove(at);
            return;
        }
        if let Some(link) = self.list.get_mut(at) {
            link.bury();
            self.gone += 1;
        }
        if self.gone as usize * 2 > self.list.len() {
            self.list.retain(|link| is_there(&&*link));
            self.gone = 0;
        }
    }
}

impl<'a, A: Array<Item: Link>> IntoIterator for &'a Links<A> {
    type Item = &'a A::Item;
    type IntoIter = Iter<'a, A::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_keep_their_order_when_others_are_removed() {
        const MANY: u32 = 1000;
        let orders: [fn(u32) -> u32; 3] = [|n| n, |n| MANY - 1 - n, |n| n * 7 % MANY];
        for order in orders {
            let mut links: Links<[u32; 4]> = Links::default();
            (0..MANY).for_each(|n| links.push(n));
            let mut left: Vec<u32> = (0..MANY).collect();
            for n in 0..MANY {
                let node = order(n);
                assert_eq!(links.find(node), Some(&node));
                links.remove(node);
                links.remove(node);
                left.retain(|one| *one != node);
                assert_eq!((links.find(node), links.len()), (None, left.len()));
                if n % 97 == 0 {
                    assert!(links.iter().eq(&left) && links.clone().into_iter().eq(&left));
                }
                // At most half of the list is removed, or the list is short.
                assert!(links.list.len() <= FEW.max(2 * left.len() + 1));
            }
            assert!(links.is_empty());
            links.push(3);
            links.push(1);
            assert!(links.iter().eq(&[3, 1]) && links.find(1) == Some(&1));
        }
    }

    #[test]
    fn an_edge_can_be_added_again() {
        let mut links: Links<[(u32, Edge); 2]> = Links::default();
        (0..40).for_each(|n| links.push((n, Edge::default())));
        links.remove(5);
        let edge = Edge { from_port: 1, ..Edge::default() };
        links.push((5, edge));
        assert_eq!(links.find(5), Some(&(5, edge)));
        links.remove(5);
        assert_eq!((links.find(5), links.len()), (None, 39));
    }
}
