//! Operations between the lanes of a warp.

use wave::op::{MatchMode, Op, ReduxOp, ShflMode, VoteMode};
use wave::{Inst, Ty, Value};

use super::value::{IN_SLOT, Rep};
use super::{Kernel, Result, Unsupported};
use crate::ir::{Bin, Cast, Cmp, Operand, Reduction, Type};

/// 32-bit words in a register of AVX-512.
const PART: usize = 16;

impl Kernel<'_> {
    /// The constant that a value is, if any.
    pub fn constant(&self, v: Value) -> Option<u32> {
        self.facts.constants.get(&v).map(|&bits| bits as u32)
    }

    /// The active lanes that an operation names, as a word; `operand` is `None` if the operation names
    /// none. All lanes must name the same members.
    fn members(&mut self, operand: Option<Value>) -> Result<Operand> {
        let bits = self.mask_bits();
        let Some(v) = operand else { return Ok(bits) };
        if self.per_lane() {
            // No other lanes are active here.
            return Ok(bits);
        }
        if self.facts.constants.get(&v) == Some(&u128::from(self.facts.spec.warp.all())) {
            return Ok(bits);
        }
        if !self.facts.uniformity.values[v.index()].is_uniform() {
            return Err(Unsupported("an operation between lanes whose members differ".into()));
        }
        let m = self.first_lane(v);
        Ok(self.out.ir.bin(Bin::And, bits, m))
    }

    /// Emits an operation in which several lanes take part.
    pub fn convergent(&mut self, inst: &Inst) -> Result<()> {
        match &inst.op {
            Op::ActiveMask => {
                let bits = self.mask_bits();
                self.define(inst.results[0], Rep::Uniform(bits))
            }
            Op::WarpSync => {
                self.compiler_fence();
                Ok(())
            }
            Op::Elect => self.elect(inst),
            Op::Agree(_) => self.agree(inst),
            Op::Vote { mode, sync } => self.vote(inst, *mode, *sync),
            Op::Redux(op) => self.redux(inst, *op),
            Op::Match(mode, _) => self.matching(inst, *mode),
            Op::Shfl { mode, .. } => self.shuffle(inst, *mode),
            Op::Matrix(matrix) => self.matrix(inst, matrix),
            other => Err(Unsupported(format!("{other:?}"))),
        }
    }

    fn elect(&mut self, inst: &Inst) -> Result<()> {
        let members = self.members(Some(inst.args[0]))?;
        let first = self.out.ir.trailing_zeros(members);
        let narrow = first.ty() == Type::I32;
        let first = if narrow { first } else { self.out.ir.cast(Cast::Trunc, first, Type::I32) };
        let wide = self.out.ir.splat(first);
        let numbers = self.out.ir.lane_numbers();
        let is = self.out.ir.icmp(Cmp::Eq, wide, numbers);
        self.define(inst.results[0], Rep::Uniform(first))?;
        self.define(inst.results[1], Rep::Vector(is))
    }

    fn agree(&mut self, inst: &Inst) -> Result<()> {
        if self.facts.uniformity.values[inst.args[0].index()].is_uniform() {
            let one = self.first_lane(inst.args[0]);
            self.define(inst.results[0], Rep::Uniform(one))?;
            return self.define(inst.results[1], Rep::Uniform(Operand::int(Type::I1, 1)));
        }
        let v = self.vector(inst.args[0]);
        let v = self.out.ir.freeze(v);
        let bits = self.mask_bits();
        let lane = self.first_set(bits);
        let first = self.out.ir.extract(v, lane);
        let one = self.out.ir.splat(first);
        let same = self.out.ir.icmp(Cmp::Eq, v, one);
        let same = self.out.ir.bitcast(same, self.width().bits());
        let same = self.out.ir.bin(Bin::And, same, bits);
        let all = self.out.ir.icmp(Cmp::Eq, same, bits);
        self.define(inst.results[0], Rep::Uniform(first))?;
        self.define(inst.results[1], Rep::Uniform(all))
    }

    /// Whether an operation is a vote whose answer is its operand, since all active lanes have the same one.
    /// A scalar shows LLVM which warps skip code.
    pub fn agrees(&self, inst: &Inst) -> bool {
        let answer = matches!(inst.op, Op::Vote { mode: VoteMode::Any | VoteMode::All, sync: false });
        answer && self.facts.uniformity.values[inst.args[0].index()].is_uniform()
    }

    fn vote(&mut self, inst: &Inst, mode: VoteMode, sync: bool) -> Result<()> {
        if self.agrees(inst)
            && let Rep::Uniform(p) = self.rep(inst.args[0])
        {
            let p = self.out.ir.freeze(p);
            return self.define(inst.results[0], Rep::Uniform(p));
        }
        let members = self.members(sync.then_some(inst.args[1]))?;
        let p = self.vector(inst.args[0]);
        let p = self.sure_bits(p);
        let set = self.out.ir.bin(Bin::And, p, members);
        let all = |k: &mut Self| k.out.ir.icmp(Cmp::Eq, set, members);
        let none = |k: &mut Self, how: Cmp| k.out.ir.icmp_int(how, set, 0);
        let r = match mode {
            VoteMode::Ballot => set,
            VoteMode::All => all(self),
            VoteMode::Any => none(self, Cmp::Ne),
            VoteMode::Uni => {
                let (a, n) = (all(self), none(self, Cmp::Eq));
                self.out.ir.bin(Bin::Or, a, n)
            }
        };
        self.define(inst.results[0], Rep::Uniform(r))
    }

    fn redux(&mut self, inst: &Inst, op: ReduxOp) -> Result<()> {
        let (how, identity) = match op {
            ReduxOp::Add => (Reduction::Add, 0i64),
            ReduxOp::MinU => (Reduction::MinU, -1),
            ReduxOp::MaxU => (Reduction::MaxU, 0),
            ReduxOp::MinS => (Reduction::MinS, i64::from(i32::MAX)),
            ReduxOp::MaxS => (Reduction::MaxS, i64::from(i32::MIN)),
            ReduxOp::And => (Reduction::And, -1),
            ReduxOp::Or => (Reduction::Or, 0),
            ReduxOp::Xor => (Reduction::Xor, 0),
        };
        let members = self.members(Some(inst.args[1]))?;
        let v = self.vector(inst.args[0]);
        let m = self.mask_from(members);
        let v = self.out.ir.select(m, v, Operand::int(self.width().words(), identity));
        let r = self.out.ir.reduce(how, v);
        self.define(inst.results[0], Rep::Uniform(r))
    }

    /// `match`: a loop over the distinct values. The lowest lane left provides the value, and all lanes with
    /// that value get their mask.
    fn matching(&mut self, inst: &Inst, mode: MatchMode) -> Result<()> {
        let members = self.members(Some(inst.args[1]))?;
        let v = self.vector(inst.args[0]);
        let v = self.out.ir.freeze(v);
        if mode == MatchMode::All {
            let lane = self.first_set(members);
            let one = self.out.ir.extract(v, lane);
            let one = self.out.ir.splat(one);
            let same = self.out.ir.icmp(Cmp::Eq, v, one);
            let same = self.out.ir.bitcast(same, self.width().bits());
            let same = self.out.ir.bin(Bin::And, same, members);
            let all = self.out.ir.icmp(Cmp::Eq, same, members);
            let mask = self.out.ir.select(all, members, self.no_bits());
            self.define(inst.results[0], Rep::Uniform(mask))?;
            return match inst.results.get(1) {
                Some(&r) => self.define(r, Rep::Uniform(all)),
                None => Ok(()),
            };
        }
        let (word, words) = (self.width().bits(), self.width().vector(self.facts.spec.warp.mask()));
        let (left, out) = (self.scratch(word), self.scratch(words));
        self.out.ir.store(members, left);
        self.out.ir.store(Operand::zero(words), out);
        let (again, end) = (self.out.ir.fresh("value"), self.out.ir.fresh("values.end"));
        self.out.ir.br(again);
        self.out.ir.label(again);
        let l = self.out.ir.load(word, left);
        let lane = self.first_set(l);
        let one = self.out.ir.extract(v, lane);
        let one = self.out.ir.splat(one);
        let m = self.mask_from(members);
        let same = self.out.ir.icmp(Cmp::Eq, v, one);
        let same = self.out.ir.bin(Bin::And, same, m);
        let bits = self.out.ir.bitcast(same, word);
        let wide = self.out.ir.splat(bits);
        let old = self.out.ir.load(words, out);
        let new = self.out.ir.select(same, wide, old);
        self.out.ir.store(new, out);
        let not = self.out.ir.bin_int(Bin::Xor, bits, -1);
        let rest = self.out.ir.bin(Bin::And, l, not);
        self.out.ir.store(rest, left);
        let more = self.out.ir.icmp_int(Cmp::Ne, rest, 0);
        self.out.ir.br_if(more, again, end);
        self.out.ir.label(end);
        let r = self.out.ir.load(words, out);
        self.define(inst.results[0], Rep::Vector(r))?;
        match inst.results.get(1) {
            Some(&p) => self.define(p, Rep::Vector(self.width().all())),
            None => Ok(()),
        }
    }

    /// The number of the lowest set bit of a mask that may be empty.
    pub fn first_set(&mut self, mask: Operand) -> Operand {
        let n = self.out.ir.trailing_zeros(mask);
        let n = self.lane_number(n);
        self.out.ir.bin_int(Bin::And, n, self.width().lanes() as i64 - 1)
    }

    /// A count of lanes that has the type of a mask's word, as an integer of at most 64 bits.
    pub fn lane_number(&mut self, n: Operand) -> Operand {
        if n.ty().bytes() <= 8 { n } else { self.out.ir.cast(Cast::Trunc, n, Type::I64) }
    }

    /// `shfl` by the manual's pseudo-code. An inactive lane provides no value: its reader keeps its own.
    fn shuffle(&mut self, inst: &Inst, mode: ShflMode) -> Result<()> {
        let v = self.vector(inst.args[0]);
        let known = [1, 2].map(|at| self.facts.by_lane(inst.args[at]));
        let (picked, inside, source) = match known {
            [Some(b), Some(c)] => {
                let last = self.width().lanes() as u32 - 1;
                let lanes: Vec<(u32, bool)> = (0..=last)
                    .zip(b.iter().zip(c.iter()))
                    .map(|(l, (&b, &c))| source_lane(mode, l, b as u32 & last, c as u32, last))
                    .collect();
                let picked = self.out.ir.shuffle(v, None, lanes.iter().map(|(s, _)| *s as usize));
                let inside = self.out.ir.lanes(Ty::I1, |l| i64::from(lanes[l].1));
                let source = self.out.ir.lanes(Ty::I32, |l| i64::from(lanes[l].0));
                (picked, inside, source)
            }
            _ => {
                let (b, c) = (self.vector(inst.args[1]), self.vector(inst.args[2]));
                let (source, inside) = self.source_vector(mode, b, c);
                (self.permute(v, source), inside, source)
            }
        };
        let picked = if self.cursor.full {
            picked
        } else {
            let bits = self.mask_bits();
            let bits = self.out.ir.splat(bits);
            let narrow = bits.ty() == source.ty();
            let source = if narrow { source } else { self.out.ir.cast(Cast::ZExt, source, bits.ty()) };
            let there = self.out.ir.bin(Bin::LShr, bits, source);
            let there = self.out.ir.cast(Cast::Trunc, there, self.width().mask());
            self.out.ir.select(there, picked, v)
        };
        self.define(inst.results[0], Rep::Vector(picked))?;
        match inst.results.get(1) {
            Some(&r) => self.define(r, Rep::Vector(inside)),
            None => Ok(()),
        }
    }

    fn source_vector(&mut self, mode: ShflMode, b: Operand, c: Operand) -> (Operand, Operand) {
        let lane = self.out.ir.lane_numbers();
        let last = self.width().lanes() as i64 - 1;
        let b = self.out.ir.bin_int(Bin::And, b, last);
        let segment = self.out.ir.bin_int(Bin::LShr, c, 8);
        let segment = self.out.ir.bin_int(Bin::And, segment, last);
        let clamp = self.out.ir.bin_int(Bin::And, c, last);
        let not = self.out.ir.bin_int(Bin::Xor, segment, -1);
        let min = self.out.ir.bin(Bin::And, lane, segment);
        let rest = self.out.ir.bin(Bin::And, clamp, not);
        let max = self.out.ir.bin(Bin::Or, min, rest);
        let (j, how) = match mode {
            ShflMode::Up => (self.out.ir.bin(Bin::Sub, lane, b), Cmp::Sge),
            ShflMode::Down => (self.out.ir.bin(Bin::Add, lane, b), Cmp::Sle),
            ShflMode::Bfly => (self.out.ir.bin(Bin::Xor, lane, b), Cmp::Sle),
            ShflMode::Idx => {
                let inner = self.out.ir.bin(Bin::And, b, not);
                (self.out.ir.bin(Bin::Or, min, inner), Cmp::Sle)
            }
        };
        let inside = self.out.ir.icmp(how, j, max);
        let source = self.out.ir.select(inside, j, lane);
        (self.out.ir.bin_int(Bin::And, source, last), inside)
    }

    /// Each lane's element of `v`, selected by its index.
    pub fn permute(&mut self, v: Operand, source: Operand) -> Operand {
        if !self.facts.avx512 {
            let slot = self.scratch(self.width().words());
            self.out.ir.store_as(v, slot, IN_SLOT);
            let wide = self.out.ir.cast(Cast::ZExt, source, self.width().addresses());
            let at = self.out.ir.element(Type::I32, slot, wide);
            return self.out.ir.gather(self.width().words(), at, self.width().all(), 4);
        }
        let part = |k: &mut Self, v: Operand, first: usize| k.out.ir.shuffle(v, None, first..first + PART);
        // The instruction uses five bits of each index, so it chooses among two registers.
        let among = |k: &mut Self, index: Operand, [lo, hi]: [Operand; 2]| {
            let name = "llvm.x86.avx512.vpermi2var.d.512";
            k.out.ir.intrinsic(name, [None; 2], index.ty(), &[lo, index, hi])
        };
        let low = [part(self, v, 0), part(self, v, PART)];
        if self.width().lanes() == 2 * PART {
            let parts = [0, PART].map(|first| {
                let index = part(self, source, first);
                among(self, index, low)
            });
            return self.out.ir.shuffle(parts[0], Some(parts[1]), 0..2 * PART);
        }
        let high = [part(self, v, 2 * PART), part(self, v, 3 * PART)];
        let parts = [0, 1, 2, 3].map(|n| {
            let index = part(self, source, n * PART);
            let (l, h) = (among(self, index, low), among(self, index, high));
            let upper = self.out.ir.bin_int(Bin::And, index, 2 * PART as i64);
            let upper = self.out.ir.icmp_int(Cmp::Ne, upper, 0);
            self.out.ir.select(upper, h, l)
        });
        let halves =
            [[0, 1], [2, 3]].map(|[a, b]| self.out.ir.shuffle(parts[a], Some(parts[b]), 0..2 * PART));
        self.out.ir.shuffle(halves[0], Some(halves[1]), 0..4 * PART)
    }
}

/// The lane that a lane reads (itself if out of range), and whether it is in range.
fn source_lane(mode: ShflMode, lane: u32, b: u32, c: u32, last: u32) -> (u32, bool) {
    let (segment, clamp) = (c >> 8 & last, c & last);
    let min = lane & segment;
    let max = min | clamp & !segment;
    let (j, inside) = match mode {
        ShflMode::Up => (lane.wrapping_sub(b), lane as i32 - b as i32 >= max as i32),
        ShflMode::Down => (lane + b, lane + b <= max),
        ShflMode::Bfly => (lane ^ b, (lane ^ b) <= max),
        ShflMode::Idx => (min | b & !segment, (min | b & !segment) <= max),
    };
    if inside { (j & last, true) } else { (lane, false) }
}
