//! Large kernels in the per-lane mode: a sweep goes from block to block that has lanes, without passing the
//! others.
//!
//! In a kernel with thousands of blocks, most blocks of a sweep have no lanes. A bit for each block, in the
//! order of a sweep, says whether it has some. After a block, the next one in the order runs if it has lanes;
//! otherwise one *dispatcher* finds the next bit and jumps there through a table. Lanes thus run the same
//! blocks in the same order as in a sweep over all blocks.
//!
//! The bits and the sets of lanes lie in the warp's frame, as all values between blocks do. If LLVM kept them
//! in registers, the dispatcher, which every block leads to, would join all of them.

use super::names::{self, DISPATCH, DONE, FRAME, LIVE, NEXT};
use super::per_lane::Visit;
use super::{Kernel, Strategy};
use crate::ir::{Access, Bin, Cast, Cmp, Name, Op, Operand, Type};

/// Bytes that are cleared at a time.
const LINE: usize = 64;

/// Bits of a word.
const BITS: usize = 64;

/// What a kernel with a dispatcher keeps in its frame.
#[derive(Clone, Copy, Debug, Default)]
pub struct Awake {
    /// Frame offset of the bits, in words.
    at: usize,
    /// Number of the words.
    words: usize,
    /// Start and end of what is cleared when a warp starts: the bits, and the sets of lanes.
    cleared: (usize, usize),
}

impl Kernel<'_> {
    /// Whether a dispatcher finds the blocks that have lanes.
    pub fn dispatches(&self) -> bool {
        matches!(self.strategy, Strategy::PerLane(_, Visit::Dispatched))
    }

    /// The position of a block in a sweep.
    fn turn(&self, b: usize) -> usize {
        self.facts.cfg.position[b].unwrap_or(0)
    }

    /// Reserves the frame for the bits. `sets` reserves it for sets of lanes.
    pub fn reserve_awake(&mut self, sets: impl FnOnce(&mut Self)) {
        self.place_slot(NEXT, Type::I32);
        self.out.frame = self.out.frame.next_multiple_of(LINE);
        let start = self.out.frame;
        // A position after the last block has a word, too.
        let words = self.facts.cfg.order.len() / BITS + 1;
        self.out.frame += words * BITS / 8;
        sets(self);
        self.out.frame = self.out.frame.next_multiple_of(LINE);
        self.out.awake = Awake { at: start, words, cleared: (start, self.out.frame) };
    }

    /// Emits what a warp does first: no block has lanes but the first one.
    pub fn clear_awake(&mut self) {
        let (from, to) = self.out.awake.cleared;
        let [clear, cleared] = ["clear", "cleared"].map(Name::of);
        self.out.ir.label(names::CLEAR);
        self.set_slot(NEXT, Operand::i32(from as i64));
        self.out.ir.br(clear);
        self.out.ir.label(clear);
        let next = self.slot(NEXT);
        let at = self.out.ir.load(Type::I32, next);
        let wide = self.out.ir.cast(Cast::ZExt, at, Type::I64);
        let line = self.out.ir.element(Type::I8, FRAME, wide);
        let zeros = Operand::zero(Type::I32.times(LINE / 4));
        self.out.ir.store_as(zeros, line, Access::aligned(LINE as u32));
        let at = self.out.ir.bin_int(Bin::Add, at, LINE as i64);
        self.out.ir.store(at, next);
        let more = self.out.ir.icmp_int(Cmp::Ult, at, to as i64);
        self.out.ir.br_if(more, clear, cleared);
        self.out.ir.label(cleared);
        self.set_slot(names::coming(0), names::lanes(self.width()));
        self.wake(0, None);
        self.out.ir.br(names::place(0));
    }

    /// The word with a block's bit, and the bit's number in it.
    fn bit(&mut self, b: usize) -> (Operand, i64) {
        let turn = self.turn(b);
        let word = self.out.ir.offset(FRAME, self.out.awake.at + turn / BITS * (BITS / 8));
        (word, (turn % BITS) as i64)
    }

    /// Sets a block's bit if there are lanes among `bits`; `None`: there are some.
    fn wake(&mut self, b: usize, bits: Option<Operand>) {
        let some = match bits {
            None => None,
            Some(bits) => {
                let any = self.out.ir.icmp_int(Cmp::Ne, bits, 0);
                Some(self.out.ir.cast(Cast::ZExt, any, Type::I64))
            }
        };
        let (word, number) = self.bit(b);
        let old = self.out.ir.load(Type::I64, word);
        let new = match some {
            None => self.out.ir.bin_int(Bin::Or, old, 1 << number),
            Some(some) => {
                let bit = self.out.ir.bin_int(Bin::Shl, some, number);
                self.out.ir.bin(Bin::Or, old, bit)
            }
        };
        self.out.ir.store(new, word);
    }

    /// Notes that lanes go from one block to another: all that run it if `bits` is missing. The block that
    /// follows in the order is looked at anyway.
    pub fn woken(&mut self, from: usize, to: usize, bits: Option<Operand>) {
        let follows = self.turn(to) == self.turn(from) + 1 && !self.waits().stops.contains(&from);
        if self.dispatches() && !follows && !self.waits().stops.contains(&to) {
            self.wake(to, bits);
        }
    }

    /// Clears a block's bit, if anything sets it.
    pub fn asleep(&mut self, b: usize) {
        let turn = self.turn(b);
        let follows = |&p: &usize| self.turn(p) + 1 == turn && !self.waits().stops.contains(&p);
        if b != 0 && self.facts.cfg.preds[b].iter().all(follows) {
            return;
        }
        let (word, number) = self.bit(b);
        let old = self.out.ir.load(Type::I64, word);
        let new = self.out.ir.bin_int(Bin::And, old, !(1 << number));
        self.out.ir.store(new, word);
    }

    /// Sets the bit of a block with an operation between lanes to whether some still wait there.
    pub fn still_awake(&mut self, b: usize, left: Operand) {
        let (word, number) = self.bit(b);
        let old = self.out.ir.load(Type::I64, word);
        let new = self.out.ir.bin_int(Bin::And, old, !(1 << number));
        self.out.ir.store(new, word);
        self.wake(b, Some(left));
    }

    /// Records the position from which the dispatcher looks for lanes.
    pub fn look_after(&mut self, b: usize) {
        let turn = self.turn(b) + 1;
        self.set_slot(NEXT, Operand::i32(turn as i64));
    }

    /// Emits the start of another sweep, and the dispatcher. At the end of a sweep it goes to `end`.
    pub fn dispatcher(&mut self, end: Name) {
        let [scan, more, load, found, never] =
            ["scan", "scan.more", "scan.load", "found", "never"].map(Name::of);
        let words = self.out.awake.words;
        self.out.ir.label(names::AGAIN);
        self.set_slot(NEXT, Operand::i32(0));
        self.out.ir.br(DISPATCH);
        self.out.ir.label(DISPATCH);
        let next = self.slot(NEXT);
        let next = self.out.ir.load(Type::I32, next);
        let next = self.out.ir.cast(Cast::ZExt, next, Type::I64);
        let first = self.out.ir.bin_int(Bin::LShr, next, BITS.ilog2().into());
        let bits = self.out.ir.offset(FRAME, self.out.awake.at);
        let word = self.out.ir.element(Type::I64, bits, first);
        let word = self.out.ir.load(Type::I64, word);
        let low = self.out.ir.bin_int(Bin::And, next, BITS as i64 - 1);
        let from = self.out.ir.bin(Bin::Shl, Operand::i64(-1), low);
        let word = self.out.ir.bin(Bin::And, word, from);
        self.out.ir.br(scan);
        self.out.ir.label(scan);
        let [index, other] = ["scan.index", "scan.word"].map(Name::of);
        let number = vec![(first, DISPATCH), (Operand::local(Type::I64, index), load)];
        let number = self.out.ir.phi(Type::I64, number);
        let words_so_far = vec![(word, DISPATCH), (Operand::local(Type::I64, other), load)];
        let word = self.out.ir.phi(Type::I64, words_so_far);
        let any = self.out.ir.icmp_int(Cmp::Ne, word, 0);
        self.out.ir.br_if(any, found, more);
        self.out.ir.label(more);
        let following = self.out.ir.named(index, Op::Bin(Bin::Add, number, Operand::i64(1)));
        let over = self.out.ir.icmp_int(Cmp::Uge, following, words as i64);
        self.out.ir.br_if(over, end, load);
        self.out.ir.label(load);
        let at = self.out.ir.element(Type::I64, bits, following);
        self.out.ir.named(other, Op::Load(Type::I64, at, Access::NATURAL));
        self.out.ir.br(scan);
        self.out.ir.label(found);
        let bit = self.out.ir.trailing_zeros(word);
        let turn = self.out.ir.bin_int(Bin::Mul, number, BITS as i64);
        let turn = self.out.ir.bin(Bin::Add, turn, bit);
        let cases = (0..self.facts.cfg.order.len()).map(|i| (i as i64, names::place(2 * i))).collect();
        self.out.ir.switch(turn, never, cases);
        self.out.ir.label(never);
        self.out.ir.push(Op::Unreachable);
    }

    /// Emits the end of a sweep if no lane of the kernel ever waits: the warp ends, or another sweep starts.
    pub fn sweep_again(&mut self) {
        let live = self.slot(LIVE);
        let live = self.out.ir.load(self.width().bits(), live);
        self.branch_if_any(live, names::AGAIN, DONE);
    }
}
