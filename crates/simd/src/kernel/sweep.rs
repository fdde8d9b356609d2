//! Compiled code that runs all warps of a block from barrier to barrier.
//!
//! In most kernels with barriers, all warps of a block arrive at the same one. For each stop, a loop over the
//! warps runs a copy of the code that follows it, without a call per warp. Where a warp waits is then known by
//! the number that its code returned, and its context is not written. If a warp stops in another way than
//! those before it, the contexts are brought up to date and the scheduler takes over.

use std::collections::BTreeSet;

use wave::abi::{Stop, WarpCtx};
use wave::op::BarMode;

use super::module::{IN_SWEEP, INLINED, SWEEP_SCOPE};
use super::names::WARP;
use super::stop::{ARRIVED, mode_number};
use super::{ENDED, Kernel, SWEEP, offset};
use crate::ir::{
    Access, Argument, Attributes, Bin, Builder, Callee, Cast, Cmp, Elem, Function, Global, Initialiser, Name,
    Op, Operand, Order, Parameter, Signature, Type,
};

/// Maximum size in bytes of all copies together, before LLVM removes what each cannot reach.
const MOST: usize = 1 << 20;

/// The kernel's code, which both entry points inline.
pub const BODY: Name = Name::of("body");

/// The function that writes into a warp's context what the number of its barrier says.
pub const SETTLE: Name = Name::of("settle");

/// The function that ends a sweep in its middle.
const PARTED: Name = Name::of("parted");

/// A row of the table of barriers: a line, a barrier's number, 0 threads and a mode, as in [`WarpCtx`].
const ROW: Type = Type::Vector(4, Elem::Int(32));
const _: () = assert!(
    offset::W_BAR_ID == offset::W_LINE + 4
        && offset::W_BAR_THREADS == offset::W_LINE + 8
        && offset::W_BAR_MODE == offset::W_LINE + 12
);

impl Kernel<'_> {
    /// Whether the kernel gets this entry point: it has stops, and a copy of its code for each stop is not
    /// too large.
    pub fn sweeps(&self) -> bool {
        self.facts.suspends
            && !self.facts.in_frame
            && !self.per_lane()
            && !self.out.arrivals.is_empty()
            && self.out.ir.bytes() * (self.out.resumes + 2) <= MOST
    }

    /// The loop, as text to append to the module. The function takes four arguments: the warps, all of which
    /// resume at the same place, their number, where to store the number of the running warp, and the flag
    /// that the launch has failed. In its result, the lower half is the warp that stopped in another way than
    /// those before it, and the upper half how it stopped, with [`ENDED`] if those before it have ended. It is
    /// the number of warps if all have ended, and after a failure elsewhere.
    pub fn sweep(&mut self) -> String {
        let mut functions = vec![self.loop_over_warps(), self.parted()];
        if self.facts.flushes {
            let outside = self.flushing(functions.remove(0));
            functions.extend(self.out.ir.module.functions.pop());
            functions.push(outside);
        }
        let mut text = String::new();
        // The module already declares these intrinsics.
        let mut declared = BTreeSet::new();
        for function in &functions {
            self.out.ir.module.function(function, &mut text, &mut declared);
        }
        text
    }

    fn loop_over_warps(&mut self) -> Function {
        let parameters =
            [(Type::PTR, "warps"), (Type::I64, "count"), (Type::PTR, "current"), (Type::PTR, "failed")];
        let [warps, count, current, failed] = parameters.map(|(ty, word)| Operand::local(ty, Name::of(word)));
        let [entry, round, strange, swept, barrier, open, all, failure, out] =
            ["entry", "round", "strange", "swept", "barrier", "open", "all", "failure", "out"].map(Name::of);
        let opened = Name::of("opened");
        let outer = self.out.ir.begin();
        let ir = &mut self.out.ir;
        ir.label(entry);
        let at = ir.offset(warps, offset::W_RESUME);
        let first = ir.load(Type::I32, at);
        ir.br(round);
        ir.label(round);
        let resume = ir.phi(Type::I32, vec![(first, entry), (Operand::local(Type::I32, opened), open)]);
        // The barrier that opened here; 0 in the first round, in which the contexts say all.
        let behind = vec![(Operand::i32(0), entry), (Operand::local(Type::I32, opened), open)];
        let behind = ir.phi(Type::I32, behind);
        let cases = (0..=self.out.resumes).map(|k| (k as i64, Name::numbered("from", k))).collect();
        ir.switch(resume, strange, cases);
        ir.label(strange);
        ir.push(Op::Unreachable);
        let (mut stopped, mut ran) = (Vec::new(), Vec::new());
        for k in 0..=self.out.resumes {
            let [from, warp, next, done] =
                ["from", "warp", "next", "done"].map(|word| Name::numbered(word, k));
            let [following, usual] = ["following", "usual"].map(|word| Name::numbered(word, k));
            ir.label(from);
            ir.br(warp);
            ir.label(warp);
            let w = (Operand::local(Type::I64, following), next);
            let w = ir.phi(Type::I64, vec![(Operand::i64(0), from), w]);
            let before = (Operand::local(Type::I32, usual), next);
            // With poison for the first warp, which nothing is compared with, LLVM sees where all must agree.
            let before = ir.phi(Type::I32, vec![(Operand::poison(Type::I32), from), before]);
            let number = ir.cast(Cast::Trunc, w, Type::I32);
            ir.store_as(number, current, Access { volatile: true, ..Access::NATURAL });
            let context = context_of(ir, warps, w);
            let frame = ir.offset(context, offset::W_FRAME);
            let frame = ir.load(Type::PTR, frame);
            let arguments = [context, frame, Operand::i32(k as i64)].map(Argument::from);
            let code = ir.call_at(IN_SWEEP, Callee::Function(BODY), Type::I32, arguments, false);
            // The first warp decides what the others should do.
            let alone = ir.icmp_int(Cmp::Eq, w, 0);
            let expected = ir.select(alone, code, before);
            let same = ir.icmp(Cmp::Eq, code, expected);
            let arrived = ir.icmp_int(Cmp::Uge, code, ARRIVED);
            let ended = ir.icmp_int(Cmp::Eq, code, Stop::Done as i64);
            let usable = ir.bin(Bin::Or, arrived, ended);
            let goes_on = ir.bin(Bin::And, same, usable);
            let left = Name::numbered("left", k);
            ir.br_if(goes_on, next, left);
            ir.label(left);
            let before = ir.select(alone, Operand::i32(Stop::Fault as i64), before);
            ir.br(out);
            ir.label(next);
            let usual = ir.named(usual, Op::Bin(Bin::Or, code, Operand::i32(0)));
            let following = ir.named(following, Op::Bin(Bin::Add, w, Operand::i64(1)));
            let more = ir.icmp(Cmp::Ult, following, count);
            ir.br_if(more, warp, done);
            ir.label(done);
            ir.br(swept);
            stopped.push([(w, left), (code, left), (before, left)]);
            ran.push((usual, done));
        }
        ir.label(swept);
        let code = ir.phi(Type::I32, ran);
        let ended = ir.icmp_int(Cmp::Eq, code, Stop::Done as i64);
        ir.br_if(ended, all, barrier);
        ir.label(all);
        let answer = ir.bin_int(Bin::Or, count, ENDED);
        ir.ret(answer);
        ir.label(barrier);
        ir.named(opened, Op::Bin(Bin::Sub, code, Operand::i32(ARRIVED)));
        let access = Access { order: Order::Monotonic, ..Access::aligned(1) };
        let stop = ir.load_as(Type::I8, failed, access);
        let stop = ir.icmp_int(Cmp::Ne, stop, 0);
        ir.br_if(stop, failure, open);
        ir.label(failure);
        ir.ret(count);
        ir.label(open);
        ir.br(round);
        ir.label(out);
        let [w, code, before] = [Type::I64, Type::I32, Type::I32]
            .into_iter()
            .enumerate()
            .map(|(i, ty)| ir.phi(ty, stopped.iter().map(|s| s[i]).collect()))
            .collect::<Vec<_>>()
            .try_into()
            .unwrap_or([count; 3]);
        let arguments = [warps, count, w, before, code, behind].map(Argument::from);
        let answer = ir.call_at(IN_SWEEP, Callee::Function(PARTED), Type::I64, arguments, true);
        ir.ret(answer);
        Function {
            name: Name::of(SWEEP),
            returns: Signature::One(Type::I64),
            parameters: parameters.map(|(ty, word)| Parameter::new(ty, Name::of(word))).to_vec(),
            attributes: Attributes::default(),
            scope: SWEEP_SCOPE,
            blocks: self.out.ir.end(outer),
        }
    }

    /// What a sweep answers when a warp did not do as those before it: writes into the contexts what only the
    /// numbers of the stops said until now.
    fn parted(&mut self) -> Function {
        let parameters = [
            (Type::PTR, "warps"),
            (Type::I64, "count"),
            (Type::I64, "w"),
            (Type::I32, "before"),
            (Type::I32, "code"),
            (Type::I32, "behind"),
        ];
        let [warps, count, warp, before, code, behind] =
            parameters.map(|(ty, word)| Operand::local(ty, Name::of(word)));
        let [entry, each, settle, on, end] = ["entry", "each", "settle", "on", "end"].map(Name::of);
        let following = Name::of("following");
        let outer = self.out.ir.begin();
        let ir = &mut self.out.ir;
        ir.label(entry);
        let behind = ir.bin_int(Bin::Add, behind, ARRIVED);
        ir.br(each);
        ir.label(each);
        let i = vec![(Operand::i64(0), entry), (Operand::local(Type::I64, following), on)];
        let i = ir.phi(Type::I64, i);
        let earlier = ir.icmp(Cmp::Ult, i, warp);
        let later = ir.icmp(Cmp::Ugt, i, warp);
        let stop = ir.select(later, behind, code);
        let stop = ir.select(earlier, before, stop);
        // Of a warp that still waits for its first turn, or does not wait for its block, nothing is missing.
        let known = ir.icmp_int(Cmp::Ugt, stop, ARRIVED);
        ir.br_if(known, settle, on);
        ir.label(settle);
        let number = ir.bin_int(Bin::Sub, stop, ARRIVED);
        let context = context_of(ir, warps, i);
        ir.call_at(0, Callee::Function(SETTLE), Type::Void, [context, number].map(Argument::from), false);
        ir.br(on);
        ir.label(on);
        let next = ir.named(following, Op::Bin(Bin::Add, i, Operand::i64(1)));
        let more = ir.icmp(Cmp::Ult, next, count);
        ir.br_if(more, each, end);
        ir.label(end);
        let arrived = ir.icmp_int(Cmp::Uge, code, ARRIVED);
        let code = ir.select(arrived, Operand::i32(Stop::Barrier as i64), code);
        let code = ir.cast(Cast::ZExt, code, Type::I64);
        let code = ir.bin_int(Bin::Shl, code, 32);
        let answer = ir.bin(Bin::Or, warp, code);
        let ended = ir.icmp_int(Cmp::Eq, before, Stop::Done as i64);
        let ended = ir.select(ended, Operand::i64(ENDED), Operand::i64(0));
        let answer = ir.bin(Bin::Or, answer, ended);
        ir.ret(answer);
        Function {
            name: PARTED,
            returns: Signature::One(Type::I64),
            parameters: parameters.map(|(ty, word)| Parameter::new(ty, Name::of(word))).to_vec(),
            attributes: Attributes { internal: true, cold: true, no_inline: true, ..Attributes::default() },
            scope: 0,
            blocks: self.out.ir.end(outer),
        }
    }

    /// The function that writes into a warp's context what the number of its barrier says; `None` if the
    /// kernel has no such barrier. [`WarpCtx`] has the fields in the order of the table's rows.
    pub fn settle(&mut self) -> Option<Function> {
        if self.out.arrivals.is_empty() {
            return None;
        }
        let sync = mode_number(BarMode::Sync).as_int().unwrap_or(0);
        let mut rows = Vec::new();
        for number in 0..=self.out.resumes {
            let at = self.out.arrivals.get(&number);
            let [line, id] = at.map_or([0; 2], |at| [at.line, at.id].map(i64::from));
            rows.extend([line, id, 0, sync]);
        }
        let table =
            Global { name: Name::of("arrivals"), value: Initialiser::Ints(Type::I32, rows), align: 16 };
        let table = self.out.ir.global(table);
        let lanes = self.width().bits();
        let full = self.facts.always_full;
        let [warp, number] = [WARP, Operand::local(Type::I32, Name::of("number"))];
        let outer = self.out.ir.begin();
        let ir = &mut self.out.ir;
        let row = ir.cast(Cast::ZExt, number, Type::I64);
        let row = ir.element(ROW, table, row);
        let row = ir.load(ROW, row);
        let line = ir.offset(warp, offset::W_LINE);
        ir.store_as(row, line, Access::aligned(4));
        let live = ir.offset(warp, offset::W_LIVE);
        // The frame has the live lanes if they change.
        let alive = if full {
            ir.load(lanes, live)
        } else {
            let frame = ir.offset(warp, offset::W_FRAME);
            let frame = ir.load(Type::PTR, frame);
            let alive = ir.load(lanes, frame);
            ir.store(alive, live);
            alive
        };
        for (at, value) in [
            (offset::W_BAR_LANES, alive),
            (offset::W_BAR_PREDS, Operand::int(lanes, 0)),
            (offset::W_RESUME, number),
        ] {
            let at = ir.offset(warp, at);
            ir.store(value, at);
        }
        ir.ret_void();
        Some(Function {
            name: SETTLE,
            returns: Signature::One(Type::Void),
            parameters: vec![
                Parameter::new(Type::PTR, Name::of("warp")),
                Parameter::new(Type::I32, Name::of("number")),
            ],
            attributes: INLINED,
            scope: 0,
            blocks: self.out.ir.end(outer),
        })
    }
}

/// The context of a warp.
fn context_of(ir: &mut Builder, warps: Operand, number: Operand) -> Operand {
    let distance = ir.bin_int(Bin::Mul, number, size_of::<WarpCtx>() as i64);
    ir.element(Type::I8, warps, distance)
}
