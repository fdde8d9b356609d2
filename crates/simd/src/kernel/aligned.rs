//! Finds accesses that need no alignment check: they are dominated by a checked access to the same address
//! plus a multiple of their size, which would already have ended the launch.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use wave::op::{Guard, IntOp, Op, Order, Space};
use wave::{Function, Inst, Ty, Value};

use super::cfg::Cfg;

/// A block and the index of an instruction in it.
pub type Place = (usize, usize);

/// What is known of an address: its remainder `rest` modulo `size`, a power of two.
#[derive(Clone, Copy)]
struct Known {
    size: u64,
    rest: u64,
}

impl Known {
    /// Whether the address plus `offset` is a multiple of `size`.
    fn shows(self, offset: i64, size: u64) -> bool {
        self.size >= size && self.rest.wrapping_add_signed(offset).is_multiple_of(size)
    }
}

/// The address, offset and size of an access that must be aligned. `loose` says that weak accesses of words
/// need not be.
fn access(inst: &Inst, loose: bool) -> Option<(Value, i64, u64)> {
    let (mem, bytes, offset) = match inst.op {
        Op::Load { mem, ty, .. } | Op::Store { mem, ty, .. }
            if loose && mem.order == Order::Weak && ty >= Ty::I32 =>
        {
            return None;
        }
        Op::Load { mem, ty, count, offset, .. } | Op::Store { mem, ty, count, offset, .. } => {
            (mem, u64::from(ty.bytes()) * u64::from(count), offset)
        }
        Op::Atom { mem, ty, offset, .. } => (mem, u64::from(ty.ty().bytes()), offset),
        _ => return None,
    };
    let checked = mem.space != Space::Param && bytes > 1 && bytes.is_power_of_two();
    checked.then(|| (inst.args[0], i64::from(offset), bytes))
}

/// The accesses that need no check. `constants` maps values to their constants.
pub fn shown(
    func: &Function,
    cfg: &Cfg,
    defs: &BTreeMap<Value, (usize, Inst)>,
    constants: &BTreeMap<Value, u128>,
) -> BTreeSet<Place> {
    let loose = func.kernel.as_ref().is_some_and(|info| info.loose_words);
    let constant = |v: &Value| constants.get(v).map(|&bits| bits as i64);
    // Constants added to an address are part of the offset.
    let root = |mut v: Value, mut offset: i64| {
        while let Some((_, inst)) = defs.get(&v)
            && matches!(inst.op, Op::Int(IntOp::Add, Ty::I64))
        {
            let (base, more) = match (constant(&inst.args[0]), constant(&inst.args[1])) {
                (None, Some(more)) => (inst.args[0], more),
                (Some(more), None) => (inst.args[1], more),
                _ => break,
            };
            (v, offset) = (base, offset.wrapping_add(more));
        }
        (v, offset)
    };
    let mut below = vec![Vec::new(); func.blocks.len()];
    for &b in &cfg.order {
        if let Some(above) = cfg.idom[b] {
            below[above].push(b);
        }
    }
    let mut found = BTreeSet::new();
    let mut known: HashMap<Value, Known> = HashMap::new();
    // Walk down the dominator tree; on leaving a block, forget what it has shown.
    enum Step {
        Into(usize),
        Forget(Value, Option<Known>),
    }
    let mut steps: Vec<Step> = cfg.order.first().map(|&b| Step::Into(b)).into_iter().collect();
    while let Some(step) = steps.pop() {
        let b = match step {
            Step::Into(b) => b,
            Step::Forget(v, Some(before)) => {
                known.insert(v, before);
                continue;
            }
            Step::Forget(v, None) => {
                known.remove(&v);
                continue;
            }
        };
        for (i, inst) in func.blocks[b].insts.iter().enumerate() {
            let Some((address, offset, size)) = access(inst, loose) else { continue };
            let (v, offset) = root(address, offset);
            let before = known.get(&v).copied();
            if before.is_some_and(|k| k.shows(offset, size)) {
                found.insert((b, i));
            } else if inst.op.guard() == Guard::Always && before.is_none_or(|k| k.size <= size) {
                // A guarded access shows nothing of the lanes that do not perform it.
                let rest = 0u64.wrapping_sub(offset as u64) % size;
                known.insert(v, Known { size, rest });
                steps.push(Step::Forget(v, before));
            }
        }
        steps.extend(below[b].iter().map(|&b| Step::Into(b)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_known_modulo_a_size() {
        let known = Known { size: 8, rest: 4 };
        assert!(known.shows(0, 4) && known.shows(4, 8) && known.shows(-4, 8));
        assert!(!known.shows(0, 8) && !known.shows(2, 4) && !known.shows(4, 16));
    }
}
