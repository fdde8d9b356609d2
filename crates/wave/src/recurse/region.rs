//! One function of a recursion inside its flattened function: its calls, the values that are live across
//! them, and the loops that go through the dispatch.

use std::collections::{BTreeMap, BTreeSet};

use crate::abi::LOCAL_ALIGN;
use crate::func::{Block, Function, Inst, Loc, Value};
use crate::inline::{append, split};
use crate::layout;
use crate::module::FuncId;
use crate::op::Op;
use crate::types::Ty;

/// Maximum number of operations to rematerialise a value rather than save it across a call.
const ANEW: usize = 6;

/// A call to a function of the recursion.
pub struct Site {
    /// The block that ends with the call, which is removed from it.
    pub block: usize,
    /// The callee.
    pub callee: FuncId,
    /// The arguments.
    pub args: Vec<Value>,
    /// The block where it continues; its parameters are the results.
    pub rest: usize,
    /// Source position of the call.
    pub loc: Loc,
    /// The saved values, each with its offset from the stack pointer.
    pub kept: Vec<(Value, u64)>,
}

/// A function's part of a flattened function.
pub struct Region {
    /// Its blocks in the flattened function.
    pub blocks: Vec<usize>,
    /// The first of them.
    pub entry: Block,
    /// Its calls.
    pub sites: Vec<Site>,
    /// Size of a frame in bytes.
    pub frame: u64,
    /// Alignment of a frame.
    pub align: u64,
    /// Number of its first slot in the flattened function, and the offsets of its slots in the frame.
    pub slots: (u32, Vec<u64>),
    /// Values that reach blocks which their definitions do not dominate, and so are passed as block
    /// parameters.
    pub carried: BTreeSet<Value>,
    /// Values that each block rematerialises where it needs them.
    pub anew: BTreeMap<Value, Inst>,
    /// Carried values that each block needs at its beginning.
    pub needs: BTreeMap<usize, Vec<Value>>,
    /// Headers of loops that a continuation may enter in the middle, with the loops' blocks: the back edge
    /// goes through the dispatch.
    pub routed: BTreeMap<usize, BTreeSet<usize>>,
}

impl Region {
    /// Copies `body` to `func` without its calls to `members`.
    pub fn new(func: &mut Function, body: &Function, align: u64, members: &BTreeSet<FuncId>) -> Region {
        let slot = func.slots.len() as u32;
        let (slots, offsets) = layout::frame(body);
        let entry = append(func, body);
        let mut blocks: Vec<usize> = (entry.index()..func.blocks.len()).collect();
        let mut sites = Vec::new();
        let mut i = 0;
        while let Some(&block) = blocks.get(i) {
            i += 1;
            let recurses = |i: &Inst| matches!(i.op, Op::Call(f) if members.contains(&f));
            let Some(at) = func.blocks[block].insts.iter().position(recurses) else { continue };
            let rest = split(func, block, at).index();
            blocks.push(rest);
            if let Some(Inst { op: Op::Call(callee), args, loc, .. }) = func.blocks[block].insts.pop() {
                func.blocks[block].term_loc = loc;
                sites.push(Site { block, callee, args: args.to_vec(), rest, loc, kept: Vec::new() });
            }
        }
        let mut region = Region {
            blocks,
            entry,
            sites,
            frame: 0,
            align: if body.slots.is_empty() { align } else { LOCAL_ALIGN as u64 },
            slots: (slot, offsets),
            carried: BTreeSet::new(),
            anew: BTreeMap::new(),
            needs: BTreeMap::new(),
            routed: BTreeMap::new(),
        };
        region.route(func);
        region.carry(func);
        region.lay_out(func, slots);
        region
    }

    fn successors(&self, func: &Function, over_calls: bool) -> BTreeMap<usize, Vec<usize>> {
        let mut map: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for &b in &self.blocks {
            map.insert(b, func.successors(Block(b as u32)).iter().map(|s| s.index()).collect());
        }
        for site in &self.sites {
            map.insert(site.block, if over_calls { vec![site.rest] } else { vec![] });
        }
        map
    }

    /// Finds the loops with several entries once continuations are entered from outside.
    fn route(&mut self, func: &Function) {
        let succs = self.successors(func, false);
        let mut entered: BTreeSet<usize> = self.sites.iter().map(|s| s.rest).collect();
        entered.insert(self.entry.index());
        // In the order of the original function, loops come after what leads to them.
        let order = reverse_post_order(self.entry.index(), &self.successors(func, true));
        let rank: BTreeMap<usize, usize> = order.into_iter().enumerate().map(|(i, b)| (b, i)).collect();
        let mut todo: Vec<BTreeSet<usize>> = vec![self.blocks.iter().copied().collect()];
        while let Some(nodes) = todo.pop() {
            for mut part in circles(&nodes, &succs) {
                let from_outside = |b: &usize| {
                    entered.contains(b) || succs.iter().any(|(p, list)| !part.contains(p) && list.contains(b))
                };
                let mut entries: Vec<usize> = part.iter().copied().filter(from_outside).collect();
                entries.sort_by_key(|b| rank.get(b).copied().unwrap_or(usize::MAX));
                let Some(&header) = entries.first() else { continue };
                if entries.len() > 1 {
                    self.routed.insert(header, part.clone());
                }
                part.remove(&header);
                todo.push(part);
            }
        }
    }

    /// Finds the values that must be saved across calls, and the blocks that need them.
    fn carry(&mut self, func: &Function) {
        let live = self.live_in(func);
        let none = BTreeSet::new();
        let at = |b: usize| live.get(&b).unwrap_or(&none);
        let over: BTreeSet<Value> = self
            .sites
            .iter()
            .map(|s| s.rest)
            .chain(self.routed.keys().copied())
            .flat_map(|b| at(b).iter().copied())
            .collect();
        let mut defs: BTreeMap<Value, &Inst> = BTreeMap::new();
        for inst in self.blocks.iter().flat_map(|&b| &func.blocks[b].insts) {
            defs.extend(inst.results.iter().map(|&r| (r, inst)));
        }
        for &v in &over {
            let mut made = BTreeMap::new();
            if makes_anew(v, &defs, &mut made) {
                self.anew.extend(made);
            }
        }
        self.carried = over.into_iter().filter(|v| !self.anew.contains_key(v)).collect();
        for &b in &self.blocks {
            self.needs.insert(b, at(b).intersection(&self.carried).copied().collect());
        }
    }

    /// Values of the region that are live at the beginning of each block, except its parameters.
    fn live_in(&self, func: &Function) -> BTreeMap<usize, BTreeSet<Value>> {
        let succs = self.successors(func, true);
        let args: BTreeMap<usize, &Site> = self.sites.iter().map(|s| (s.block, s)).collect();
        let mut live: BTreeMap<usize, BTreeSet<Value>> =
            self.blocks.iter().map(|&b| (b, BTreeSet::new())).collect();
        let mut order = reverse_post_order(self.entry.index(), &succs);
        order.reverse();
        let mut changed = true;
        while changed {
            changed = false;
            for &b in &order {
                let data = &func.blocks[b];
                let mut set: BTreeSet<Value> = BTreeSet::new();
                for s in succs.get(&b).into_iter().flatten() {
                    set.extend(live.get(s).into_iter().flatten());
                }
                match args.get(&b) {
                    Some(site) => set.extend(&site.args),
                    None => set.extend(data.term.uses()),
                }
                for inst in data.insts.iter().rev() {
                    inst.results.iter().for_each(|r| {
                        set.remove(r);
                    });
                    set.extend(&inst.args);
                }
                data.params.iter().for_each(|p| {
                    set.remove(p);
                });
                if live.get(&b) != Some(&set) {
                    live.insert(b, set);
                    changed = true;
                }
            }
        }
        live
    }

    /// Assigns the offsets in the frame.
    fn lay_out(&mut self, func: &Function, slots: u64) {
        let mut end = slots;
        for site in &mut self.sites {
            let mut kept: Vec<Value> = self.needs.get(&site.rest).cloned().unwrap_or_default();
            kept.sort_by_key(|&v| std::cmp::Reverse(func.ty(v).bytes()));
            let mut at = slots;
            for v in kept {
                if func.ty(v) == Ty::I128 {
                    self.align = LOCAL_ALIGN as u64;
                }
                site.kept.push((v, at));
                at += u64::from(func.ty(v).bytes());
            }
            end = end.max(at);
        }
        self.frame = (end.next_multiple_of(8) + 8).next_multiple_of(self.align);
    }
}

/// Whether a value can be rematerialised from nothing by few pure operations; adds these, by result.
fn makes_anew(v: Value, defs: &BTreeMap<Value, &Inst>, made: &mut BTreeMap<Value, Inst>) -> bool {
    if made.contains_key(&v) {
        return true;
    }
    let Some(&inst) = defs.get(&v) else { return false };
    if made.len() >= ANEW || inst.results.len() != 1 || !inst.op.is_pure() {
        return false;
    }
    made.insert(v, inst.clone());
    inst.args.iter().all(|&a| makes_anew(a, defs, made))
}

fn reverse_post_order(entry: usize, succs: &BTreeMap<usize, Vec<usize>>) -> Vec<usize> {
    let mut seen = BTreeSet::from([entry]);
    let mut stack = vec![(entry, 0)];
    let mut order = Vec::new();
    while let Some((b, i)) = stack.pop() {
        match succs.get(&b).and_then(|list| list.get(i)) {
            Some(&s) => {
                stack.push((b, i + 1));
                if seen.insert(s) {
                    stack.push((s, 0));
                }
            }
            None => order.push(b),
        }
    }
    order.reverse();
    order
}

/// The strongly connected components of a graph that contain a cycle (Tarjan's algorithm, without recursion).
fn circles(nodes: &BTreeSet<usize>, succs: &BTreeMap<usize, Vec<usize>>) -> Vec<BTreeSet<usize>> {
    let next = |b: usize| succs.get(&b).into_iter().flatten().copied().filter(|s| nodes.contains(s));
    let (mut number, mut low) = (BTreeMap::new(), BTreeMap::<usize, usize>::new());
    let (mut open, mut is_open) = (Vec::new(), BTreeSet::new());
    let mut found = Vec::new();
    for &root in nodes {
        if number.contains_key(&root) {
            continue;
        }
        let mut stack = vec![(root, 0)];
        while let Some((b, i)) = stack.pop() {
            if i == 0 {
                let n = number.len();
                number.insert(b, n);
                low.insert(b, n);
                open.push(b);
                is_open.insert(b);
            }
            if let Some(s) = next(b).nth(i) {
                stack.push((b, i + 1));
                if !number.contains_key(&s) {
                    stack.push((s, 0));
                } else if is_open.contains(&s) {
                    let n = number[&s].min(low[&b]);
                    low.insert(b, n);
                }
                continue;
            }
            if low[&b] == number[&b] {
                let mut part = BTreeSet::new();
                while let Some(n) = open.pop() {
                    is_open.remove(&n);
                    part.insert(n);
                    if n == b {
                        break;
                    }
                }
                if part.len() > 1 || next(b).any(|s| s == b) {
                    found.push(part);
                }
            }
            if let Some(&(parent, _)) = stack.last() {
                let n = low[&parent].min(low[&b]);
                low.insert(parent, n);
            }
        }
    }
    found
}
