//! Dispatches instructions to the parts of the emitter, and emits pure operations.

use wave::abi::{BULK, TEXTURE};
use wave::op::{Builtin, IntOp, Op, Scope, ShiftOp};
use wave::{Inst, Module, Ty, Value};

use super::names::IMAGE;
use super::value::{IN_SLOT, Rep};
use super::variation::Variation;
use super::{Kernel, Result, Unsupported, nan, uniformity};
use crate::ir::{Bin, Cast, Cmp, Lanes, Operand, Order, Type, Width};
use crate::lanewise;

impl Kernel<'_> {
    /// Emits an instruction; memory accesses carry their source line.
    pub fn instruction(&mut self, inst: &Inst) -> Result<()> {
        self.out.ir.line = match inst.op {
            Op::Load { .. } | Op::Store { .. } | Op::Atom { .. } => inst.loc.line,
            _ => 0,
        };
        let done = match inst.guard() {
            Some((guard, fallbacks)) => self.guarded(inst, guard, fallbacks),
            None => self.operation(inst),
        };
        self.out.ir.line = 0;
        done
    }

    pub fn operation(&mut self, inst: &Inst) -> Result<()> {
        match &inst.op {
            Op::Load { mem, ty, count, offset, .. } => self.load(inst, *mem, *ty, *count, *offset),
            Op::Store { mem, ty, count, offset, .. } => self.store(inst, *mem, *ty, *count, *offset),
            Op::Atom { op, ty, mem, offset, .. } => self.atomic(inst, *op, *ty, *mem, *offset),
            // The warps of a block run on one thread.
            Op::Fence { scope: Scope::Cta, .. } => {
                self.compiler_fence();
                Ok(())
            }
            Op::Fence { .. } => {
                self.out.ir.fence(Order::SeqCst, false);
                Ok(())
            }
            Op::Special(reg) => self.special(inst, *reg),
            Op::GlobalAddr(id, off) => {
                let at = self.facts.module.globals[id.index()].offset.wrapping_add(*off as u64);
                let v = self.out.ir.bin_int(Bin::Add, IMAGE, at as i64);
                self.define(inst.results[0], Rep::Uniform(v))
            }
            Op::SharedAddr(id, off) => {
                let at = self.facts.shared.get(&id.0).copied().unwrap_or(0).wrapping_add(*off as u64);
                let mut at = Operand::i64(at as i64);
                if let Some(window) = self.window() {
                    let window = self.out.ir.cast(Cast::ZExt, window, Type::I64);
                    at = self.out.ir.bin(Bin::Add, window, at);
                }
                self.define(inst.results[0], Rep::Uniform(at))
            }
            Op::LocalAddr(slot) => {
                let at = self.facts.slot_offsets.get(*slot as usize).copied().unwrap_or(0);
                self.define(inst.results[0], Rep::Uniform(Operand::i64(at as i64)))
            }
            Op::FuncAddr(f) => {
                self.define(inst.results[0], Rep::Uniform(Operand::i64(Module::func_handle(*f) as i64)))
            }
            Op::ToGeneric(space) | Op::FromGeneric(space) => {
                self.cast_space(inst, *space, matches!(inst.op, Op::ToGeneric(_)))
            }
            Op::IsSpace(space) => self.is_space(inst, *space),
            Op::Builtin(b) if *b != Builtin::NanoSleep => self.builtin(inst, *b),
            Op::Texture(access) => self.call_runtime(inst, TEXTURE | access.number()),
            Op::Bulk(bulk) => match bulk.number() {
                Some(number) => self.call_runtime(inst, BULK | number),
                None => Err(Unsupported(format!("bulk.{bulk}"))),
            },
            Op::Nop => Ok(()),
            Op::Prefetch(space, level) => {
                self.prefetch(inst.args[0], *space, *level);
                Ok(())
            }
            op if op.suspends() => Err(Unsupported("a stop inside a block".into())),
            op if op.is_convergent() => self.convergent(inst),
            Op::Call(_) | Op::CallIndirect { .. } => Err(Unsupported("a call".into())),
            _ => self.pure(inst),
        }
    }

    /// Like `emitter`; if `raw`, f32 results may be any NaN.
    pub fn any_nan(&mut self, lanes: Lanes, raw: bool) -> lanewise::Emit<'_> {
        lanewise::Emit { any_nan: raw, ..self.emitter(lanes) }
    }

    /// An operation's operands. They stay raw if neither the operation nor its result depends on a NaN's
    /// bits.
    fn operands(&mut self, inst: &Inst, raw: bool, lanes: Lanes) -> Vec<Operand> {
        let tolerant = raw || nan::tolerates(&inst.op);
        let one = |k: &mut Self, v: Value| match (lanes, tolerant) {
            (Lanes::One, true) => k.raw_first_lane(v),
            (Lanes::One, false) => k.first_lane(v),
            (Lanes::Warp, true) => k.raw_vector(v),
            (Lanes::Warp, false) => k.vector(v),
        };
        inst.args.iter().map(|&v| one(self, v)).collect()
    }

    /// Emits a pure operation: on scalars if the result is uniform or a pattern, otherwise on vectors.
    fn pure(&mut self, inst: &Inst) -> Result<()> {
        let uniformity: Vec<Variation> =
            inst.results.iter().map(|r| self.facts.uniformity.values[r.index()].clone()).collect();
        if let &[r] = &inst.results[..]
            && self.is_grouped(r)
        {
            self.out.report.uniform += 1;
            let rep = self.on_groups(inst)?;
            return self.define(r, rep);
        }
        let scalar = uniformity.iter().all(|s| s.is_uniform() || s.is_pattern());
        if !scalar && let Some(mask) = self.compared_by_rows(inst).or_else(|| self.combined_masks(inst)) {
            self.out.report.uniform += 1;
            return self.define(inst.results[0], Rep::Vector(mask));
        }
        let raw = inst.results.first().is_some_and(|r| self.facts.raw.contains(r));
        let mut scalars = Vec::new();
        if scalar {
            let args = self.operands(inst, raw, Lanes::One);
            scalars = lanewise::emit(&mut self.any_nan(Lanes::One, raw), &inst.op, &args)?;
            self.out.report.uniform += 1;
        }
        let mut vectors = Vec::new();
        if !scalar {
            let args = self.operands(inst, raw, Lanes::Warp);
            vectors = match self.divided_each(inst, &args)? {
                Some(quotients) => vec![quotients],
                None => self.on_vectors(inst, raw, &args)?,
            };
            self.scalars_of_groups(inst)?;
            self.out.report.vector += 1;
        }
        for (i, &r) in inst.results.iter().enumerate() {
            let rep = if !scalar {
                if uniformity[i].needs_guard() {
                    let guard = self.guard_of(inst, &uniformity[i]);
                    self.cursor.guards.insert(r, guard);
                }
                Rep::Vector(vectors[i])
            } else if uniformity[i].is_uniform() {
                Rep::Uniform(scalars[i])
            } else if uniformity[i].needs_guard() {
                let guard = self.guard_of(inst, &uniformity[i]);
                Rep::Pattern { base: scalars[i], guarded: Some((guard, None)) }
            } else {
                Rep::Pattern { base: scalars[i], guarded: None }
            };
            self.define(r, rep)?;
        }
        Ok(())
    }

    /// A 64-bit division lane by lane, if more than two warps run together: LLVM would emit an instruction
    /// for each lane.
    fn divided_each(&mut self, inst: &Inst, args: &[Operand]) -> Result<Option<Operand>> {
        let Op::Int(IntOp::DivS | IntOp::DivU | IntOp::RemS | IntOp::RemU, ty @ Ty::I64) = inst.op else {
            return Ok(None);
        };
        let &[a, b] = args else { return Ok(None) };
        if self.width().lanes() <= Width::PAIR.lanes() || b.as_int().is_some() {
            return Ok(None);
        }
        let whole = self.width().vector(ty);
        let slots = [self.put("values", 0, a), self.put("values", 1, b)];
        let results = self.put("results", 0, Operand::zero(whole));
        self.each_lane(|k, lane| -> Result<()> {
            // Without active lanes, the first one is divided.
            let args = slots.map(|slot| k.get(slot, ty, lane)).map(|one| k.out.ir.freeze(one));
            let one = lanewise::emit(&mut k.emitter(Lanes::One), &inst.op, &args)?.remove(0);
            let at = k.element(results, ty, lane);
            k.out.ir.store(one, at);
            Ok(())
        })?;
        Ok(Some(self.out.ir.load_as(whole, results, IN_SLOT)))
    }

    /// The condition under which a result's variation holds: the operands' guards and what the operation
    /// adds.
    pub fn guard_of(&mut self, inst: &Inst, variation: &Variation) -> Operand {
        let mut guard = Operand::TRUE;
        for a in inst.args.clone() {
            if let Some(g) = self.guard(a) {
                guard = self.both(guard, g);
            }
        }
        match inst.op {
            Op::Sext { from, to } | Op::Zext { from, to } if to > from => match self.widened(inst, variation)
            {
                Some(holds) => self.both(guard, holds),
                None => guard,
            },
            Op::Select(_) => match self.takes_pattern(inst) {
                Some(holds) => self.both(guard, holds),
                None => guard,
            },
            Op::Shift(ShiftOp::ShrS, _) => match self.one_sign(inst.args[0]) {
                Some(holds) => self.both(guard, holds),
                None => guard,
            },
            _ => guard,
        }
    }

    /// The conjunction of two conditions.
    fn both(&mut self, a: Operand, b: Operand) -> Operand {
        if a == Operand::TRUE { b } else { self.out.ir.bin(Bin::And, a, b) }
    }

    /// Whether a select with a uniform condition takes the operand that is a pattern.
    fn takes_pattern(&mut self, inst: &Inst) -> Option<Operand> {
        let uniformity: Vec<Variation> =
            inst.args.iter().map(|a| self.facts.uniformity.values[a.index()].clone()).collect();
        let which = uniformity::chosen_pattern(&uniformity)?;
        let c = self.first_lane(inst.args[0]);
        // A condition that no active lane needs may be poison.
        let c = self.out.ir.freeze(c);
        Some(if which == 1 { c } else { self.out.ir.bin_int(Bin::Xor, c, 1) })
    }

    /// Whether a pattern has the same sign in all lanes: its extremes have the same sign.
    fn one_sign(&mut self, v: Value) -> Option<Operand> {
        let source = self.facts.uniformity.values[v.index()].clone();
        if source.is_flat() {
            return None;
        }
        let base = self.first_lane(v);
        let base = self.out.ir.freeze(base);
        let (least, greatest) = source.extremes();
        let least = self.out.ir.bin_int(Bin::Add, base, least);
        let greatest = self.out.ir.bin_int(Bin::Add, base, greatest);
        let differ = self.out.ir.bin(Bin::Xor, least, greatest);
        Some(self.out.ir.icmp_int(Cmp::Sge, differ, 0))
    }

    /// Whether a widened pattern does not wrap inside the warp; `None` if it cannot.
    fn widened(&mut self, inst: &Inst, variation: &Variation) -> Option<Operand> {
        let source = self.facts.uniformity.values[inst.args[0].index()].clone();
        if source.is_flat() {
            return None;
        }
        let signed = matches!(inst.op, Op::Sext { .. });
        let (low, high) = variation.extremes();
        let (min, max) =
            if signed { (i64::from(i32::MIN), i64::from(i32::MAX)) } else { (0, i64::from(u32::MAX)) };
        // Every value may be the first of its group.
        let (min, max) = (min.saturating_sub(low).max(min), max.saturating_sub(high).min(max));
        if variation.is_whole() {
            let base = self.first_lane(inst.args[0]);
            return Some(self.within(base, signed, min, max));
        }
        if let Some(groups) = self.groups_within(inst.args[0], signed, min, max) {
            return Some(groups);
        }
        let v = self.vector(inst.args[0]);
        let v = self.out.ir.freeze(v);
        let (le, ge) = if signed { (Cmp::Sle, Cmp::Sge) } else { (Cmp::Ule, Cmp::Uge) };
        let a = self.out.ir.icmp_int(le, v, max);
        let b = self.out.ir.icmp_int(ge, v, min);
        let both = self.out.ir.bin(Bin::And, a, b);
        let bits = self.out.ir.bitcast(both, self.width().bits());
        Some(self.out.ir.icmp_int(Cmp::Eq, bits, -1))
    }
}
