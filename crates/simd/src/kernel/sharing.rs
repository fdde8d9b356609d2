//! Values that share a slot, for large kernels in the per-lane mode.
//!
//! SSA form gives a register of the source a parameter at each join of control flow. If each of them had a
//! slot of its own, every edge would copy every live register, and the code would grow with branches times
//! registers. So parameters and their arguments get one slot if their lifetimes do not overlap, and an edge
//! copies only what does not lie in its slot yet.
//!
//! Each lane writes only its own elements of a slot, and executes the function as a single thread would. So
//! lifetimes are those of one thread. They are computed as parts of blocks, without dominance: where
//! places were joined (see [`super::rendezvous`]), a definition need not dominate its uses.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use wave::op::{Guard, Op};
use wave::{Function, Inst, Ty, Value};

use super::cfg::Cfg;

/// Number of slots into which another one is tried to be put.
const TRIES: usize = 24;

/// An odd number without a pattern, to mix pairs of values.
const MIXES: u64 = 0x9e37_79b9_7f4a_7c15;

/// A part of a block during which a slot is taken: from the first point to before the second. Instruction `i`
/// reads at `2 * i + 1` and writes at `2 * i + 2`; parameters are there from 0 on.
type Span = (u32, u32);

/// The end of the span of a value that is still needed after the block.
const AFTER: u32 = u32::MAX;

/// Which values share slots.
#[derive(Clone, Debug, Default)]
pub struct Sharing {
    /// By value, the value after which its slot is named; itself if it is not in the map.
    slots: HashMap<Value, Value>,
}

impl Sharing {
    /// The value after which a value's slot is named.
    pub fn slot(&self, v: Value) -> Value {
        self.slots.get(&v).copied().unwrap_or(v)
    }

    /// Whether two values lie in the same slot.
    pub fn together(&self, a: Value, b: Value) -> bool {
        self.slot(a) == self.slot(b)
    }

    /// Assigns slots to the values of `slotted` for which `own` holds: each lane writes its own element. Adds
    /// to `slotted` the arguments that need no copy if they are written to their parameter's slot at once.
    ///
    /// Parameters and arguments are joined pair by pair, unless their slots are taken at the same time. Where
    /// a register's value moves to another one, a pair would join two registers, and later pairs of one of
    /// them would be refused. So pairs of one register come first, as far as registers are known. The others
    /// come in an arbitrary order, in which most values of a register are joined before such a pair comes.
    pub fn of(
        func: &Function,
        cfg: &Cfg,
        slotted: &mut BTreeSet<Value>,
        own: &dyn Fn(Value) -> bool,
    ) -> Sharing {
        let near = Near::of(func, cfg, slotted, own);
        let lives = Lives::of(func, cfg, &near);
        let mut slots = SharedSlots::new(func.values.len());
        let mut walk = Walk { stamp: vec![(u32::MAX, 0); func.blocks.len()], spans: Vec::new() };
        // Unreachable blocks have no position, and need nothing.
        let place = |b: u32| cfg.position[b as usize].unwrap_or(cfg.order.len() + b as usize) as u64;
        for &v in &lives.order {
            let spans = lives.spans(v, cfg, &mut walk);
            slots.add(v, in_sequence(spans, &place), spans.len());
        }
        for &(p, a) in &near.pairs {
            slots.join(p.0, a.0);
        }
        // A value that no other block reads needs its slot only to save a copy.
        let mut saves = vec![false; func.values.len()];
        for &(p, a) in &near.pairs {
            saves[a.index()] |= slots.root(p.0) == slots.root(a.0);
        }
        slotted.retain(|v| !near.extra[v.index()] || saves[v.index()]);
        let kept: Vec<Value> = lives.order.iter().copied().filter(|v| slotted.contains(v)).collect();
        slots.pack(func, &kept);
        Sharing { slots: kept.into_iter().map(|v| (v, Value(slots.root(v.0)))).collect() }
    }
}

/// Values connected by the edges of the graph.
struct Near {
    /// By value: whether it may share.
    takes_part: Vec<bool>,
    /// By value: whether only parameters read it outside the block that defines it.
    extra: Vec<bool>,
    /// Parameters and their arguments, in the order in which they are joined. It is always the same.
    pairs: Vec<(Value, Value)>,
}

impl Near {
    fn of(func: &Function, cfg: &Cfg, slotted: &mut BTreeSet<Value>, own: &dyn Fn(Value) -> bool) -> Near {
        let n = func.values.len();
        let (mut takes_part, mut extra) = (vec![false; n], vec![false; n]);
        slotted.iter().filter(|v| own(**v)).for_each(|v| takes_part[v.index()] = true);
        let mut pairs: Vec<(Value, Value)> = Vec::new();
        for target in cfg.order.iter().flat_map(|&b| func.blocks[b].term.targets()) {
            for (&p, &a) in func.block(target.block).params.iter().zip(&target.args) {
                if !takes_part[p.index()] || p == a {
                    continue;
                }
                if !takes_part[a.index()] && own(a) {
                    slotted.insert(a);
                    (takes_part[a.index()], extra[a.index()]) = (true, true);
                }
                if takes_part[a.index()] {
                    pairs.push((p, a));
                }
            }
        }
        // Pairs of one register first, then those of which one is not known to be of another.
        let stays = |p: Value, a: Value| match (func.register(p), func.register(a)) {
            (Some(p), Some(a)) => {
                if p == a {
                    0
                } else {
                    2
                }
            }
            _ => 1,
        };
        pairs.sort_by_cached_key(|&(p, a)| {
            let number = u64::from(p.0) << 32 | u64::from(a.0);
            let order = number.wrapping_mul(MIXES).rotate_left(32).wrapping_mul(MIXES);
            (stays(p, a), order, number)
        });
        pairs.dedup();
        Near { takes_part, extra, pairs }
    }
}

/// Definitions and uses.
struct Lives {
    /// The values that take part, in the order of their definitions.
    order: Vec<Value>,
    /// By value: the block that defines it, where, and where the result is dead at the earliest.
    made: Vec<(u32, u32)>,
    /// By value: its place in `uses`, and their number.
    at: Vec<(u32, u32)>,
    /// Blocks and places of uses.
    uses: Vec<(u32, u32)>,
}

/// Whether an operation has read all operands when it writes its result.
fn reads_first(inst: &Inst) -> bool {
    match inst.op {
        Op::Load { guard, count, .. } => guard == Guard::Always && count == 1,
        ref op => op.is_pure(),
    }
}

impl Lives {
    fn of(func: &Function, cfg: &Cfg, near: &Near) -> Lives {
        let n = func.values.len();
        let takes_part = |v: &Value| near.takes_part[v.index()];
        let mut order = Vec::new();
        let mut made = vec![(u32::MAX, 0); n];
        let mut uses: Vec<(Value, u32, u32)> = Vec::new();
        for &b in &cfg.order {
            let data = &func.blocks[b];
            for &p in data.params.iter().filter(|p| takes_part(p)) {
                made[p.index()] = (b as u32, 0);
                order.push(p);
            }
            for (i, inst) in data.insts.iter().enumerate() {
                let point = 2 * i as u32;
                let read = if reads_first(inst) { point + 1 } else { point + 2 };
                uses.extend(inst.args.iter().filter(|v| takes_part(v)).map(|&v| (v, b as u32, read)));
                for &r in inst.results.iter().filter(|r| takes_part(r)) {
                    made[r.index()] = (b as u32, point + 2);
                    order.push(r);
                }
            }
            let last = 2 * data.insts.len() as u32 + 1;
            uses.extend(data.term.uses().into_iter().filter(takes_part).map(|v| (v, b as u32, last)));
        }
        uses.sort_unstable();
        uses.dedup();
        let mut at = vec![(0, 0); n];
        for (i, (v, ..)) in uses.iter().enumerate() {
            let (first, count) = &mut at[v.index()];
            if *count == 0 {
                *first = i as u32;
            }
            *count += 1;
        }
        let uses = uses.into_iter().map(|(_, b, point)| (b, point)).collect();
        Lives { order, made, at, uses }
    }

    /// The blocks in which a value is needed, with the part of each.
    fn spans<'w>(&self, v: Value, cfg: &Cfg, walk: &'w mut Walk) -> &'w [(u32, Span)] {
        walk.spans.clear();
        let (home, made) = self.made[v.index()];
        walk.grow(v, home, made, made + 1);
        let (first, count) = self.at[v.index()];
        let uses = self.uses.get(first as usize..(first + count) as usize).unwrap_or_default();
        let mut todo: Vec<u32> = Vec::new();
        for &(b, point) in uses {
            if b == home && made < point {
                walk.grow(v, b, made, point + 1);
            } else if walk.grow(v, b, 0, point + 1) {
                todo.push(b);
            }
        }
        while let Some(b) = todo.pop() {
            for p in cfg.preds[b as usize].iter().map(|&p| p as u32) {
                let from = if p == home { made } else { 0 };
                if walk.grow(v, p, from, AFTER) && p != home {
                    todo.push(p);
                }
            }
        }
        &walk.spans
    }
}

/// The spans of one value.
struct Walk {
    /// By block: the value whose span is the last one here, and its index.
    stamp: Vec<(u32, u32)>,
    spans: Vec<(u32, Span)>,
}

impl Walk {
    /// Extends a value's span in a block. Returns whether the value is now needed at the block's start and
    /// was not before.
    fn grow(&mut self, v: Value, b: u32, from: u32, to: u32) -> bool {
        let (value, index) = &mut self.stamp[b as usize];
        if *value == v.0 {
            let (_, span) = &mut self.spans[*index as usize];
            let reached = from == 0 && span.0 > 0;
            *span = (span.0.min(from), span.1.max(to));
            return reached;
        }
        (*value, *index) = (v.0, self.spans.len() as u32);
        self.spans.push((b, (from, to)));
        from == 0
    }
}

/// When a slot is taken: disjoint spans in the order in which the blocks are emitted, by their beginnings. A
/// value that is needed in several blocks in a row is there once, as most are in large kernels.
type Taken = BTreeMap<u64, u64>;

/// The spans of one value as parts of the sequence of all blocks, in which a block has the given place.
fn in_sequence(spans: &[(u32, Span)], place: &dyn Fn(u32) -> u64) -> Taken {
    let point = |b: u32, point: u32| match point {
        AFTER => (place(b) + 1) << 32,
        _ => place(b) << 32 | u64::from(point),
    };
    let mut all: Vec<(u64, u64)> =
        spans.iter().map(|&(b, (from, to))| (point(b, from), point(b, to))).collect();
    all.sort_unstable();
    all.dedup_by(|next, last| {
        let follows = last.1 == next.0;
        if follows {
            last.1 = next.1;
        }
        follows
    });
    all.into_iter().collect()
}

/// Slots and when they are taken.
struct SharedSlots {
    /// By value: another one in the same slot, or itself.
    other: Vec<u32>,
    /// By the value that stands for a slot: when the slot is taken.
    taken: Vec<Taken>,
    /// By the value that stands for a slot: the sum over its values of the blocks that need them.
    blocks: Vec<usize>,
}

impl SharedSlots {
    fn new(values: usize) -> SharedSlots {
        let other = (0..values as u32).collect();
        SharedSlots { other, taken: vec![Taken::new(); values], blocks: vec![0; values] }
    }

    /// The value that stands for the slot of a value.
    fn root(&mut self, mut v: u32) -> u32 {
        while self.other[v as usize] != v {
            self.other[v as usize] = self.other[self.other[v as usize] as usize];
            v = self.other[v as usize];
        }
        v
    }

    /// A slot for one value, which is needed in that many blocks.
    fn add(&mut self, v: Value, taken: Taken, blocks: usize) {
        (self.taken[v.index()], self.blocks[v.index()]) = (taken, blocks);
    }

    /// Whether two slots are never taken at the same time.
    fn fits(&self, large: u32, small: u32) -> bool {
        let large = &self.taken[large as usize];
        let free =
            |(from, to): (&u64, &u64)| large.range(..to).next_back().is_none_or(|(_, end)| end <= from);
        self.taken[small as usize].iter().all(free)
    }

    /// Makes the slots of two values one, if they are never taken at the same time.
    fn join(&mut self, a: u32, b: u32) -> bool {
        let (a, b) = (self.root(a), self.root(b));
        if a == b {
            return true;
        }
        let smaller = self.blocks[a as usize] < self.blocks[b as usize];
        let (large, small) = if smaller { (b, a) } else { (a, b) };
        if !self.fits(large, small) {
            return false;
        }
        let taken = std::mem::take(&mut self.taken[small as usize]);
        self.taken[large as usize].extend(taken);
        self.blocks[large as usize] += self.blocks[small as usize];
        self.other[small as usize] = large;
        true
    }

    /// Puts slots of one type into one where they fit, so that the frame stays small.
    fn pack(&mut self, func: &Function, values: &[Value]) {
        let mut slots: Vec<u32> = values.iter().map(|v| self.root(v.0)).collect();
        slots.sort_unstable();
        slots.dedup();
        slots.sort_by_key(|slot| std::cmp::Reverse(self.blocks[*slot as usize]));
        let mut of_type: HashMap<Ty, Vec<u32>> = HashMap::new();
        for slot in slots {
            let known = of_type.entry(func.ty(Value(slot))).or_default();
            if !known.iter().rev().take(TRIES).any(|&other| self.join(other, slot)) {
                known.push(slot);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Block `b` has place `b`.
    fn taken(spans: &[(u32, Span)]) -> Taken {
        in_sequence(spans, &|b| u64::from(b))
    }

    fn at(block: u64, point: u64) -> u64 {
        block << 32 | point
    }

    /// Where a slot is taken, by block; the spans of the sequence of blocks.
    type Case = (Vec<(u32, Span)>, Vec<(u64, u64)>);

    #[test]
    fn blocks_in_a_row_are_one_span() {
        let row = |n: u32| (0..n).map(|b| (b, (0, AFTER)));
        let cases: [Case; 5] = [
            (vec![], vec![]),
            (vec![(3, (2, 7))], vec![(at(3, 2), at(3, 7))]),
            // To the end of a block and from the beginning of the next, in any order of the blocks.
            (vec![(5, (0, 4)), (4, (6, AFTER))], vec![(at(4, 6), at(5, 4))]),
            // The next block needs it later only: two values.
            (vec![(4, (6, AFTER)), (5, (1, 4))], vec![(at(4, 6), at(5, 0)), (at(5, 1), at(5, 4))]),
            (
                row(100_000).chain([(100_001, (0, 2))]).collect(),
                vec![(0, at(100_000, 0)), (at(100_001, 0), at(100_001, 2))],
            ),
        ];
        for (spans, expected) in cases {
            assert_eq!(taken(&spans).into_iter().collect::<Vec<_>>(), expected);
        }
    }

    /// Slots fit as the spans of each block say, also after joining.
    #[test]
    fn slots_fit_unless_a_block_needs_both() {
        let mut state = 1u64;
        let mut random = |n: u64| {
            state = state.wrapping_mul(MIXES).rotate_left(23) ^ 0x55;
            (state >> 20) % n
        };
        let (mut joined, mut refused) = (0, 0);
        for _ in 0..200 {
            let mut slots = SharedSlots::new(12);
            let mut model: Vec<Vec<(u32, Span)>> = Vec::new();
            for v in 0..12 {
                let mut spans: Vec<(u32, Span)> = Vec::new();
                for b in 0..10 {
                    let from = random(6) as u32;
                    let to = if random(3) == 0 { AFTER } else { from + 1 + random(4) as u32 };
                    if random(4) == 0 {
                        spans.push((b, (from * (random(2) as u32), to)));
                    }
                }
                slots.add(Value(v), taken(&spans), spans.len());
                model.push(spans);
            }
            for _ in 0..30 {
                let (a, b) = (random(12) as u32, random(12) as u32);
                let (ra, rb) = (slots.root(a) as usize, slots.root(b) as usize);
                let meet = |(x, s): &(u32, Span), (y, t): &(u32, Span)| x == y && s.0 < t.1 && t.0 < s.1;
                let fit = ra == rb || !model[ra].iter().any(|s| model[rb].iter().any(|t| meet(s, t)));
                assert_eq!(slots.join(a, b), fit);
                if fit && ra != rb {
                    let root = slots.root(a) as usize;
                    let other = std::mem::take(&mut model[ra + rb - root]);
                    model[root].extend(other);
                }
                if fit { joined += 1 } else { refused += 1 }
            }
        }
        assert!(joined > 1000 && refused > 1000, "{joined} {refused}");
    }
}
