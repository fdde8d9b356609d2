//! What must still run after each place in the order of blocks, see [`super::control`].
//!
//! Pending places run in order. Code that jumps to the first of them passes the others on to it. So it
//! suffices to store one place for each place: the next one that is pending there. With a set for each place,
//! deeply nested code would copy sets as large as its depth.

/// Places that are pending, as the first of them; the others follow it in [`Pending`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Chain(Option<usize>);

impl Chain {
    /// A place, and what is pending there.
    pub fn from(place: usize) -> Chain {
        Chain(Some(place))
    }

    /// The place that runs next.
    pub fn first(self) -> Option<usize> {
        self.0
    }

    pub fn is_empty(self) -> bool {
        self.0.is_none()
    }
}

/// For each place, the next one that is pending there.
#[derive(Debug, Default)]
pub struct Pending {
    next: Vec<Option<usize>>,
}

impl Pending {
    /// What is pending at a place.
    pub fn at(&self, place: usize) -> Chain {
        Chain(self.next.get(place).copied().flatten())
    }

    /// Whether all of `chain` is pending at a place.
    pub fn knows(&self, place: usize, chain: Chain) -> bool {
        let Some(first) = chain.first() else { return true };
        let mut at = self.at(place);
        while let Some(other) = at.first() {
            if other >= first {
                // From a common place on, both chains are the same.
                return other == first;
            }
            at = self.at(other);
        }
        false
    }

    /// A chain with other places, which need not be in order.
    pub fn with(&mut self, chain: Chain, mut places: Vec<usize>) -> Chain {
        // In reverse order, so that each is inserted near the start.
        places.sort_unstable_by(|a, b| b.cmp(a));
        places.into_iter().fold(chain, |chain, place| self.joined(chain, Chain::from(place)))
    }

    /// Both chains as one.
    fn joined(&mut self, a: Chain, b: Chain) -> Chain {
        let (Chain(Some(a)), Chain(Some(b))) = (a, b) else { return Chain(a.0.or(b.0)) };
        let (first, mut other) = (a.min(b), a.max(b));
        let mut at = first;
        while at != other {
            match self.at(at).first() {
                Some(next) if next <= other => at = next,
                next => {
                    self.follow(at, other);
                    let Some(next) = next else { break };
                    (at, other) = (other, next);
                }
            }
        }
        Chain::from(first)
    }

    fn follow(&mut self, place: usize, next: usize) {
        if self.next.len() <= place {
            self.next.resize(place + 1, None);
        }
        self.next[place] = Some(next);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::kernel::random::numbers;

    fn places(pending: &Pending, mut chain: Chain) -> Vec<usize> {
        let mut all = Vec::new();
        while let Some(place) = chain.first() {
            all.push(place);
            chain = pending.at(place);
        }
        all
    }

    #[test]
    fn chains_are_in_order_and_share_their_ends() {
        let mut pending = Pending::default();
        let one = pending.with(Chain::default(), vec![9, 3, 7, 3]);
        assert_eq!(places(&pending, one), [3, 7, 9]);
        let two = pending.with(Chain::from(5), vec![7, 8]);
        assert_eq!(places(&pending, two), [5, 7, 8, 9]);
        assert_eq!(places(&pending, one), [3, 7, 8, 9]);
        assert!(pending.knows(5, pending.at(3)) && pending.knows(3, Chain::default()));
        assert!(!pending.knows(3, Chain::from(5)) && !pending.knows(9, Chain::from(20)));
        assert_eq!(pending.with(Chain::default(), vec![]), Chain::default());
    }

    /// In code without loops, each place runs next where it does if every place has a set of its own.
    #[test]
    fn what_runs_next_is_what_sets_say() {
        let mut below = numbers(1);
        for round in 0..500 {
            let count = 2 + round % 40;
            let mut pending = Pending::default();
            let mut sets: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
            for place in 0..count {
                let set = sets.get(&place).cloned().unwrap_or_default();
                let chain = pending.at(place);
                assert_eq!(chain.first(), set.first().copied(), "round {round}, place {place}");
                // Lanes that find no work here go on; the others branch.
                for targets in [0, 1 + below(3)] {
                    let new: Vec<usize> =
                        (0..targets).map(|_| place + 1 + below(count)).filter(|p| *p < count).collect();
                    let mut all = set.clone();
                    all.extend(&new);
                    let first = all.pop_first();
                    assert_eq!(pending.with(chain, new).first(), first);
                    if let Some(first) = first {
                        sets.entry(first).or_default().extend(all);
                    }
                }
            }
        }
    }
}
