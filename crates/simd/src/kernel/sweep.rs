//! Compiled code that runs all warps of a block from barrier to barrier.
//!
//! In most kernels with barriers, all warps of a block arrive at the same one. For each stop, a loop over the
//! warps runs a copy of the code that follows it, without a call per warp. If a warp stops in another way,
//! the loop returns its number and the scheduler takes over.

use std::collections::BTreeSet;

use wave::abi::{Stop, WarpCtx};
use wave::barrier;
use wave::op::BarMode;

use super::module::{IN_SWEEP, INLINED, SWEEP_SCOPE};
use super::stop::mode_number;
use super::{Kernel, RESUME, SWEEP, offset};
use crate::ir::{
    Access, Argument, Attributes, Bin, Builder, Callee, Cast, Cmp, Function, Name, Op, Operand, Order,
    Parameter, Signature, Type,
};

/// Maximum size in bytes of all copies together, before LLVM removes what each cannot reach.
const MOST: usize = 1 << 20;

/// The kernel's code, which both entry points inline.
pub const BODY: Name = Name::of("body");

/// The function that tests whether a warp is at the first warp's barrier.
const ARRIVED: Name = Name::of("arrived");

impl Kernel<'_> {
    /// Whether the kernel gets this entry point: it has stops, and a copy of its code for each stop is not
    /// too large.
    pub fn sweeps(&self) -> bool {
        self.facts.suspends
            && !self.facts.in_frame
            && !self.per_lane()
            && self.out.resumes > 0
            && self.out.ir.bytes() * (self.out.resumes + 2) <= MOST
    }

    /// The loop, as text to append to the module. The function takes four arguments: the warps, their number,
    /// where to store the number of the running warp, and the flag that the launch has failed. In its result,
    /// the lower half is the warp that stopped in another way and the upper half how it stopped. After a
    /// failure elsewhere the result is the number of warps.
    pub fn sweep(&mut self) -> String {
        let mut functions = vec![self.loop_over_warps(), self.arrived()];
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
        let [round, strange, swept, all, out] = ["round", "strange", "swept", "all", "out"].map(Name::of);
        let outer = self.out.ir.begin();
        let ir = &mut self.out.ir;
        ir.label(Name::of("entry"));
        let at = ir.offset(warps, offset::W_RESUME);
        let first = ir.offset(warps, offset::W_BAR_ID);
        ir.br(round);
        ir.label(round);
        let resume = ir.load(Type::I32, at);
        let cases = (0..=self.out.resumes).map(|k| (k as i64, Name::numbered("from", k))).collect();
        ir.switch(resume, strange, cases);
        ir.label(strange);
        ir.push(Op::Unreachable);
        let mut stopped = Vec::new();
        for k in 0..=self.out.resumes {
            let [from, warp, own, other, ran, next] =
                ["from", "warp", "own", "other", "ran", "next"].map(|word| Name::numbered(word, k));
            ir.label(from);
            ir.br(warp);
            ir.label(warp);
            let following = Name::numbered("following", k);
            let start = (Operand::i64(0), from);
            let w = ir.phi(Type::I64, vec![start, (Operand::local(Type::I64, following), next)]);
            let number = ir.cast(Cast::Trunc, w, Type::I32);
            ir.store_as(number, current, Access { volatile: true, ..Access::NATURAL });
            let distance = ir.bin_int(Bin::Mul, w, size_of::<WarpCtx>() as i64);
            let context = ir.element(Type::I8, warps, distance);
            let frame = ir.offset(context, offset::W_FRAME);
            let frame = ir.load(Type::PTR, frame);
            let at = ir.offset(context, offset::W_RESUME);
            let at = ir.load(Type::I32, at);
            let same = ir.icmp_int(Cmp::Eq, at, k as i64);
            ir.br_if(same, own, other);
            ir.label(own);
            let place = Operand::i32(k as i64);
            let arguments = [context, frame, place].map(Argument::from);
            let mine = ir.call_at(IN_SWEEP, Callee::Function(BODY), Type::I32, arguments, false);
            ir.br(ran);
            ir.label(other);
            let arguments = [context, frame].map(Argument::from);
            let callee = Callee::Function(Name::of(RESUME));
            let another = ir.call_at(IN_SWEEP, callee, Type::I32, arguments, true);
            ir.br(ran);
            ir.label(ran);
            let code = ir.phi(Type::I32, vec![(mine, own), (another, other)]);
            let arguments = [context, first, code].map(Argument::from);
            let yes = ir.call_at(IN_SWEEP, Callee::Function(ARRIVED), Type::I1, arguments, false);
            ir.br_if(yes, next, out);
            ir.label(next);
            let following = ir.named(following, Op::Bin(Bin::Add, w, Operand::i64(1)));
            let more = ir.icmp(Cmp::Ult, following, count);
            ir.br_if(more, warp, swept);
            stopped.push((w, code, ran));
        }
        ir.label(swept);
        let access = Access { order: Order::Monotonic, ..Access::aligned(1) };
        let stop = ir.load_as(Type::I8, failed, access);
        let ends = ir.icmp_int(Cmp::Ne, stop, 0);
        ir.br_if(ends, all, round);
        ir.label(all);
        ir.ret(count);
        ir.label(out);
        let w = ir.phi(Type::I64, stopped.iter().map(|(w, _, from)| (*w, *from)).collect());
        let code = ir.phi(Type::I32, stopped.iter().map(|(_, code, from)| (*code, *from)).collect());
        let code = ir.cast(Cast::ZExt, code, Type::I64);
        let code = ir.bin_int(Bin::Shl, code, 32);
        let answer = ir.bin(Bin::Or, w, code);
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

    /// Whether all live lanes of a warp are at the first warp's barrier and wait for the whole block.
    fn arrived(&mut self) -> Function {
        let bits = self.width().bits();
        let parameters = [(Type::PTR, "warp"), (Type::PTR, "first"), (Type::I32, "code")];
        let [warp, first, code] = parameters.map(|(ty, word)| Operand::local(ty, Name::of(word)));
        let outer = self.out.ir.begin();
        let ir = &mut self.out.ir;
        let field = |ir: &mut Builder, at: usize, ty: Type| {
            let p = ir.offset(warp, at);
            ir.load(ty, p)
        };
        let live = field(ir, offset::W_LIVE, bits);
        let lanes = field(ir, offset::W_BAR_LANES, bits);
        let threads = field(ir, offset::W_BAR_THREADS, Type::I32);
        let mode = field(ir, offset::W_BAR_MODE, Type::I32);
        let id = field(ir, offset::W_BAR_ID, Type::I32);
        let first = ir.load(Type::I32, first);
        let conditions = [
            ir.icmp_int(Cmp::Eq, code, Stop::Barrier as i64),
            ir.icmp(Cmp::Eq, lanes, live),
            ir.icmp_int(Cmp::Ne, live, 0),
            ir.icmp_int(Cmp::Eq, threads, 0),
            ir.icmp(Cmp::Eq, mode, mode_number(BarMode::Sync)),
            ir.icmp(Cmp::Eq, id, first),
            ir.icmp_int(Cmp::Ult, id, barrier::COUNT as i64),
        ];
        let yes = conditions.into_iter().reduce(|a, b| ir.bin(Bin::And, a, b)).unwrap_or(Operand::TRUE);
        ir.ret(yes);
        Function {
            name: ARRIVED,
            returns: Signature::One(Type::I1),
            parameters: parameters.map(|(ty, word)| Parameter::new(ty, Name::of(word))).to_vec(),
            attributes: INLINED,
            scope: 0,
            blocks: self.out.ir.end(outer),
        }
    }
}
