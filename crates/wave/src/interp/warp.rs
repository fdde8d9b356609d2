//! Operations between lanes.

use crate::abi::Stop;
use crate::func::Inst;
use crate::op::{MatchMode, Matrix, Op, ReduxOp, ShflMode, VoteMode};

use super::int;
use super::machine::{Flow, Machine, Status, lanes_of};
use crate::types::{Ty, Width};

/// The index of the operand with the members, if the operation waits for them.
fn members_operand(op: &Op) -> Option<usize> {
    match op {
        Op::Matrix(matrix) => Some(matrix.operands().len()),
        Op::Shfl { sync: true, .. } => Some(3),
        Op::Vote { sync: true, .. } | Op::Match(..) | Op::Redux(_) => Some(1),
        Op::Elect | Op::WarpSync => Some(0),
        _ => None,
    }
}

impl Machine<'_> {
    /// A convergent operation reached by `group`: without members it runs at once, otherwise the lanes are
    /// parked.
    pub(super) fn converge(&mut self, group: u64, inst: &Inst) -> Flow {
        if members_operand(&inst.op).is_none() {
            let ok = self.exchange(group, group, &vec![inst.clone(); self.lanes()]);
            return if ok { Flow::Next } else { Flow::Stop(Stop::Fault) };
        }
        for lane in lanes_of(group) {
            self.state.lanes[lane].status = Status::Parked;
        }
        if self.release_parked(false) { Flow::Placed } else { Flow::Stop(Stop::Fault) }
    }

    fn parked_inst(&self, lane: usize) -> Option<Inst> {
        let f = self.state.lanes[lane].frames.last()?;
        self.code.module.functions[f.func.index()].block(f.block).insts.get(f.inst).cloned()
    }

    /// The operation that a parked lane waits for, and the lanes that it names.
    fn parked_at(&mut self, lane: usize) -> Option<(Inst, u64)> {
        let inst = self.parked_inst(lane)?;
        let operand = members_operand(&inst.op)?;
        let members = self.get(lane, inst.args[operand]) as u64;
        Some((inst, members))
    }

    /// Releases parked lanes whose members are all parked (or, with `anyway`, the first parked lane with
    /// those that are present). Lanes meet if they execute the same operation with the same members, even at
    /// different instructions. Returns false if the launch has failed.
    pub(super) fn release_parked(&mut self, anyway: bool) -> bool {
        let mut force = anyway;
        loop {
            let mut left = self.with_status(Status::Parked);
            let exited = self.with_status(Status::Exited);
            let mut ready = None;
            while left != 0 {
                let leader = left.trailing_zeros() as usize;
                left &= left - 1;
                let Some((first, members)) = self.parked_at(leader) else { continue };
                let mut together = 1u64 << leader;
                for lane in lanes_of(left) {
                    if self.parked_at(lane).is_some_and(|(i, m)| i.op == first.op && m == members) {
                        together |= 1 << lane;
                    }
                }
                left &= !together;
                if force || members & !exited & !together == 0 {
                    ready = Some((together, first));
                    break;
                }
            }
            let Some((together, first)) = ready else { return true };
            force = false;
            let insts: Vec<Inst> = (0..self.lanes())
                .map(|lane| if together >> lane & 1 == 1 { self.parked_inst(lane) } else { None })
                .map(|inst| inst.unwrap_or_else(|| first.clone()))
                .collect();
            for lane in lanes_of(together) {
                self.state.lanes[lane].status = Status::Running;
            }
            if !self.exchange(together, together, &insts) {
                return false;
            }
            self.advance(together);
        }
    }

    /// An operand that is a mask of lanes.
    fn named(&mut self, lane: usize, insts: &[Inst], i: usize) -> u64 {
        let v = insts[lane].args[i];
        self.get(lane, v) as u64
    }

    fn operand(&mut self, lane: usize, insts: &[Inst], i: usize) -> u32 {
        let v = insts[lane].args[i];
        self.get(lane, v) as u32
    }

    /// Runs an operation between the lanes of `group`; each lane has its own instruction, since these may be
    /// at different positions. Returns false if the launch has failed.
    fn exchange(&mut self, group: u64, active: u64, insts: &[Inst]) -> bool {
        let Some(leader) = lanes_of(group).next() else { return true };
        let op = insts[leader].op.clone();
        if let Op::Matrix(matrix) = op {
            return self.matrix(group, insts, &matrix);
        }
        let mut out = [[0u128; 2]; Width::MOST];
        match op {
            Op::ActiveMask => lanes_of(group).for_each(|l| out[l][0] = u128::from(active)),
            Op::WarpSync => {}
            Op::Agree(_) => {
                let values: Vec<u128> = lanes_of(group).map(|l| self.get(l, insts[l].args[0])).collect();
                let all = values.iter().all(|v| *v == values[0]);
                lanes_of(group).for_each(|l| out[l] = [values[0], u128::from(all)]);
            }
            Op::Elect => {
                for l in lanes_of(group) {
                    let members = self.named(l, insts, 0) & active;
                    let first = members.trailing_zeros();
                    out[l] = [u128::from(first), u128::from(first == l as u32)];
                }
            }
            Op::Vote { mode, sync } => {
                let preds: u64 = lanes_of(group)
                    .filter(|&l| self.operand(l, insts, 0) & 1 == 1)
                    .fold(0, |m, l| m | 1 << l);
                for l in lanes_of(group) {
                    let members = if sync { self.named(l, insts, 1) & active } else { active };
                    let set = preds & members;
                    out[l][0] = u128::from(match mode {
                        VoteMode::All => u64::from(set == members),
                        VoteMode::Any => u64::from(set != 0),
                        VoteMode::Uni => u64::from(set == members || set == 0),
                        VoteMode::Ballot => set,
                    });
                }
            }
            Op::Match(mode, _) => {
                for l in lanes_of(group) {
                    let members = self.named(l, insts, 1) & active;
                    let mine = self.get(l, insts[l].args[0]);
                    let same = lanes_of(members)
                        .filter(|&k| self.get(k, insts[k].args[0]) == mine)
                        .fold(0, |m, k| m | 1u64 << k);
                    out[l] = match mode {
                        MatchMode::Any => [u128::from(same), 1],
                        MatchMode::All if same == members => [u128::from(members), 1],
                        MatchMode::All => [0, 0],
                    };
                }
            }
            Op::Redux(redux) => {
                for l in lanes_of(group) {
                    let members = self.named(l, insts, 1) & active;
                    let values: Vec<u32> = lanes_of(members).map(|k| self.operand(k, insts, 0)).collect();
                    let s = |v: u32| int::signed(Ty::I32, u128::from(v));
                    let r = values.into_iter().reduce(|a, b| match redux {
                        ReduxOp::Add => a.wrapping_add(b),
                        ReduxOp::MinU => a.min(b),
                        ReduxOp::MaxU => a.max(b),
                        ReduxOp::MinS => {
                            if s(a) < s(b) {
                                a
                            } else {
                                b
                            }
                        }
                        ReduxOp::MaxS => {
                            if s(a) > s(b) {
                                a
                            } else {
                                b
                            }
                        }
                        ReduxOp::And => a & b,
                        ReduxOp::Or => a | b,
                        ReduxOp::Xor => a ^ b,
                    });
                    out[l][0] = u128::from(r.unwrap_or(0));
                }
            }
            Op::Shfl { mode, .. } => {
                for l in lanes_of(group) {
                    let (b, c) = (self.operand(l, insts, 1), self.operand(l, insts, 2));
                    let (source, inside) = shuffle_source(mode, l as u32, b, c, self.code.needs.width);
                    // A lane that does not take part provides no value (undefined in PTX); here the lane
                    // keeps its own.
                    let from = if active >> source & 1 == 1 { source as usize } else { l };
                    out[l] = [u128::from(self.operand(from, insts, 0)), u128::from(inside)];
                }
            }
            _ => {}
        }
        for l in lanes_of(group) {
            for (i, &r) in insts[l].results.clone().iter().enumerate() {
                self.set(l, r, out[l][i.min(1)]);
            }
        }
        true
    }

    /// A matrix instruction; the registers of missing lanes count as zero. Returns false if the launch has
    /// failed.
    fn matrix(&mut self, group: u64, insts: &[Inst], matrix: &Matrix) -> bool {
        let lanes = self.lanes();
        let place = |bits: &[u32]| {
            let mut at = 0;
            let words = |bits: u32| lanes * (bits / 32) as usize;
            let starts: Vec<usize> = bits.iter().map(|&b| (at, at += words(b)).0).collect();
            (starts, at)
        };
        let (operands, results) = (matrix.operands(), matrix.results());
        let (from, size) = place(&operands);
        let mut args = vec![0u32; size.max(1)];
        for l in lanes_of(group) {
            for (i, &bits) in operands.iter().enumerate() {
                let v = self.get(l, insts[l].args[i]);
                if bits == 64 {
                    args[from[i] + 2 * l] = v as u32;
                    args[from[i] + 2 * l + 1] = (v >> 32) as u32;
                } else {
                    args[from[i] + l] = v as u32;
                }
            }
        }
        let (to, size) = place(&results);
        let mut out = vec![0u32; size.max(1)];
        // The interpreter has no relaxed sums: its results do not depend on the processor.
        let number = matrix.exact().number();
        let call = {
            // SAFETY: the runtime is valid for the launch.
            unsafe { (*self.block_ctx().runtime).matrix }
        };
        // SAFETY: the arrays hold all lanes of each operand and result.
        let code = unsafe { call(self.warp, number, group as u32, args.as_ptr(), out.as_mut_ptr()) };
        if code != 0 {
            return false;
        }
        for l in lanes_of(group) {
            for (i, &bits) in results.iter().enumerate() {
                let word = |at: usize| u128::from(out[to[i] + at]);
                let v = if bits == 64 { word(2 * l) | word(2 * l + 1) << 32 } else { word(l) };
                self.set(l, insts[l].results[i], v);
            }
        }
        true
    }
}

/// The source lane of `shfl` and whether it is in range (PTX manual's pseudo-code); out of range, it is the
/// lane itself.
pub fn shuffle_source(mode: ShflMode, lane: u32, b: u32, c: u32, width: Width) -> (u32, bool) {
    let last = width.lanes() as u32 - 1;
    let (b, segment, clamp) = (b & last, (c >> 8) & last, c & last);
    let max = (lane & segment) | (clamp & !segment);
    let min = lane & segment;
    let (source, inside) = match mode {
        ShflMode::Up => {
            let j = i64::from(lane) - i64::from(b);
            (j as u32, j >= i64::from(max))
        }
        ShflMode::Down => (lane + b, lane + b <= max),
        ShflMode::Bfly => (lane ^ b, (lane ^ b) <= max),
        ShflMode::Idx => {
            let j = min | (b & !segment);
            (j, j <= max)
        }
    };
    if inside { (source & last, true) } else { (lane, false) }
}
