//! Atomics: lanes that access one address are combined if the result allows it; otherwise they run one by
//! one, lowest first.

use wave::op::{AtomOp, AtomTy, FloatCmp, FloatMode, FloatOp, IntCmp, IntOp, MemMode, Op, Space};
use wave::types::Fmt;
use wave::{Inst, Ty};

use super::names::{BLOCK, SHARED};
use super::value::{IN_SLOT, Rep};
use super::{Kernel, Result};
use crate::ir::{Access, Bin, Cast, Cmp, Lanes, Operand, Order, Reduction, Rmw, Type};
use crate::lanewise;
use crate::target::Maker;

/// Number of lanes up to which code for each lane is not too long.
const WARP: usize = 32;

/// LLVM's operation for an update, if the processor has it or LLVM expands it to a loop.
fn keyword(op: AtomOp, ty: AtomTy) -> Option<Rmw> {
    use AtomTy as T;
    let float = matches!(ty, T::F16 | T::F16x2 | T::BF16 | T::BF16x2 | T::F32 | T::F32Kept | T::F64);
    let signed = matches!(ty, AtomTy::S32 | AtomTy::S64);
    Some(match op {
        AtomOp::Exch => Rmw::Xchg,
        AtomOp::And => Rmw::And,
        AtomOp::Or => Rmw::Or,
        AtomOp::Xor => Rmw::Xor,
        AtomOp::Inc => Rmw::UIncWrap,
        AtomOp::Dec => Rmw::UDecWrap,
        AtomOp::Cas => return None,
        _ if float => return None,
        AtomOp::Add => Rmw::Add,
        AtomOp::Min if signed => Rmw::Min,
        AtomOp::Min => Rmw::UMin,
        AtomOp::Max if signed => Rmw::Max,
        AtomOp::Max => Rmw::UMax,
    })
}

/// The reduction over lanes that equals one update after the other: how, and its neutral element.
fn reduction(op: AtomOp, ty: AtomTy) -> Option<(Reduction, i128)> {
    let t = ty.ty();
    let top = 1i128 << (t.bits() - 1).min(126);
    if !matches!(ty, AtomTy::B32 | AtomTy::B64 | AtomTy::U32 | AtomTy::U64 | AtomTy::S32 | AtomTy::S64) {
        return None;
    }
    Some(match (op, matches!(ty, AtomTy::S32 | AtomTy::S64)) {
        (AtomOp::Add, _) => (Reduction::Add, 0),
        (AtomOp::And, _) => (Reduction::And, -1),
        (AtomOp::Or, _) => (Reduction::Or, 0),
        (AtomOp::Xor, _) => (Reduction::Xor, 0),
        (AtomOp::Min, true) => (Reduction::MinS, top - 1),
        (AtomOp::Max, true) => (Reduction::MaxS, -top),
        (AtomOp::Min, false) => (Reduction::MinU, -1),
        (AtomOp::Max, false) => (Reduction::MaxU, 0),
        _ => return None,
    })
}

impl Kernel<'_> {
    fn scalar(&mut self, op: Op, args: &[Operand]) -> Result<Operand> {
        Ok(lanewise::emit(&mut self.emitter(Lanes::One), &op, args)?.remove(0))
    }

    /// The new value after an update of floats. The adders of global memory flush f32 and propagate an f64's
    /// NaN, the new operand's before the old one's (observed on hardware). `global` tells whether the address
    /// is in global memory; `None` means shared memory.
    fn updated_float(
        &mut self,
        op: AtomOp,
        fmt: Fmt,
        global: Option<Operand>,
        old: Operand,
        b: Operand,
    ) -> Result<Operand> {
        let op = match op {
            AtomOp::Min => FloatOp::Min,
            AtomOp::Max => FloatOp::Max,
            _ => FloatOp::Add,
        };
        let plain = self.scalar(Op::Float(op, FloatMode::rn(fmt)), &[b, old])?;
        let Some(global) = global.filter(|_| matches!(fmt, Fmt::F32 | Fmt::F64)) else { return Ok(plain) };
        let there = if fmt == Fmt::F32 {
            self.scalar(Op::Float(op, FloatMode { ftz: true, ..FloatMode::rn(fmt) }), &[b, old])?
        } else {
            let nan = |k: &mut Self, v: Operand| {
                k.scalar(Op::FloatCmp { cmp: FloatCmp::Nan, fmt, ftz: false }, &[v, v])
            };
            let (of_old, of_b) = (nan(self, old)?, nan(self, b)?);
            let r = self.scalar(Op::Select(fmt.ty()), &[of_old, old, plain])?;
            self.scalar(Op::Select(fmt.ty()), &[of_b, b, r])?
        };
        self.scalar(Op::Select(fmt.ty()), &[global, there, plain])
    }

    /// The new value after an update.
    fn updated(
        &mut self,
        op: AtomOp,
        ty: AtomTy,
        global: Option<Operand>,
        old: Operand,
        b: Operand,
        c: Operand,
    ) -> Result<Operand> {
        let t = ty.ty();
        let float =
            |k: &mut Self, fmt: Fmt, old: Operand, b: Operand| k.updated_float(op, fmt, global, old, b);
        let signed = matches!(ty, AtomTy::S32 | AtomTy::S64);
        Ok(match (op, ty) {
            (AtomOp::Exch, _) => b,
            (AtomOp::Cas, _) => {
                let same = self.scalar(Op::IntCmp(IntCmp::Eq, t), &[old, b])?;
                self.scalar(Op::Select(t), &[same, c, old])?
            }
            (AtomOp::And, _) => self.scalar(Op::Int(IntOp::And, t), &[old, b])?,
            (AtomOp::Or, _) => self.scalar(Op::Int(IntOp::Or, t), &[old, b])?,
            (AtomOp::Xor, _) => self.scalar(Op::Int(IntOp::Xor, t), &[old, b])?,
            (AtomOp::Inc, _) => {
                let over = self.scalar(Op::IntCmp(IntCmp::GeU, t), &[old, b])?;
                let next = self.scalar(Op::Int(IntOp::Add, t), &[old, Operand::int(old.ty(), 1)])?;
                self.scalar(Op::Select(t), &[over, Operand::zero(old.ty()), next])?
            }
            (AtomOp::Dec, _) => {
                let zero = self.scalar(Op::IntCmp(IntCmp::Eq, t), &[old, Operand::zero(old.ty())])?;
                let above = self.scalar(Op::IntCmp(IntCmp::GtU, t), &[old, b])?;
                let wrap = self.out.ir.bin(Bin::Or, zero, above);
                let next = self.scalar(Op::Int(IntOp::Sub, t), &[old, Operand::int(old.ty(), 1)])?;
                self.scalar(Op::Select(t), &[wrap, b, next])?
            }
            (_, AtomTy::F16) => float(self, Fmt::F16, old, b)?,
            (_, AtomTy::BF16) => float(self, Fmt::BF16, old, b)?,
            (_, AtomTy::F32) => float(self, Fmt::F32, old, b)?,
            (_, AtomTy::F32Kept) => self.updated_float(op, Fmt::F32, None, old, b)?,
            (_, AtomTy::F64) => float(self, Fmt::F64, old, b)?,
            (_, AtomTy::F16x2 | AtomTy::BF16x2) => {
                let fmt = if ty == AtomTy::F16x2 { Fmt::F16 } else { Fmt::BF16 };
                let halves = |k: &mut Self, v: Operand| {
                    let low = k.out.ir.cast(Cast::Trunc, v, Type::I16);
                    let high = k.out.ir.bin_int(Bin::LShr, v, 16);
                    (low, k.out.ir.cast(Cast::Trunc, high, Type::I16))
                };
                let (ol, oh) = halves(self, old);
                let (bl, bh) = halves(self, b);
                let (l, h) = (float(self, fmt, ol, bl)?, float(self, fmt, oh, bh)?);
                let (l, h) =
                    (self.out.ir.cast(Cast::ZExt, l, Type::I32), self.out.ir.cast(Cast::ZExt, h, Type::I32));
                let h = self.out.ir.bin_int(Bin::Shl, h, 16);
                self.out.ir.bin(Bin::Or, l, h)
            }
            (AtomOp::Add, _) => self.scalar(Op::Int(IntOp::Add, t), &[old, b])?,
            (AtomOp::Min, _) => {
                self.scalar(Op::Int(if signed { IntOp::MinS } else { IntOp::MinU }, t), &[old, b])?
            }
            (AtomOp::Max, _) => {
                self.scalar(Op::Int(if signed { IntOp::MaxS } else { IntOp::MaxU }, t), &[old, b])?
            }
        })
    }

    /// Emits one update and returns the old value. A cluster runs on one thread, so its shared memory needs
    /// no atomic operation.
    fn update(
        &mut self,
        op: AtomOp,
        ty: AtomTy,
        space: Space,
        at: Operand,
        b: Operand,
        c: Operand,
    ) -> Result<Operand> {
        let locked = space != Space::Shared;
        let t = Type::scalar(ty.ty());
        let align = ty.ty().bytes();
        let p = self.out.ir.pointer(at);
        if !locked {
            let old = self.out.ir.load_as(t, p, Access::aligned(align));
            let new = self.updated(op, ty, None, old, b, c)?;
            self.out.ir.store_as(new, p, Access::aligned(align));
            return Ok(old);
        }
        if op == AtomOp::Cas {
            let pair = self.out.ir.cmpxchg(p, b, c, align);
            return Ok(self.out.ir.part(&pair, 0));
        }
        if let Some(word) = keyword(op, ty) {
            return Ok(self.out.ir.atomic_update(word, p, b, align));
        }
        let global = if space == Space::Generic && matches!(ty, AtomTy::F32 | AtomTy::F64) {
            let size = self.field(BLOCK, super::offset::SHARED_REACH, Type::I64);
            let within = self.out.ir.bin(Bin::Sub, at, SHARED);
            self.out.ir.icmp(Cmp::Uge, within, size)
        } else {
            Operand::TRUE
        };
        let seen = self.scratch(t);
        let (again, done) = (self.out.ir.fresh("again"), self.out.ir.fresh("swapped"));
        let first = self.out.ir.load_as(t, p, Access { order: Order::Monotonic, ..Access::aligned(align) });
        self.out.ir.store(first, seen);
        self.out.ir.br(again);
        self.out.ir.label(again);
        let old = self.out.ir.load(t, seen);
        let new = self.updated(op, ty, Some(global), old, b, c)?;
        let pair = self.out.ir.cmpxchg(p, old, new, align);
        let now = self.out.ir.part(&pair, 0);
        let ok = self.out.ir.part(&pair, 1);
        self.out.ir.store(now, seen);
        self.out.ir.br_if(ok, done, again);
        self.out.ir.label(done);
        Ok(old)
    }

    /// `atom` and `red`.
    pub fn atomic(&mut self, inst: &Inst, op: AtomOp, ty: AtomTy, mem: MemMode, offset: i32) -> Result<()> {
        let t = ty.ty();
        self.check_atomic(inst, t, mem, i64::from(offset));
        let used = inst.results.iter().any(|r| self.facts.used.contains(r));
        let address =
            self.facts.uniformity.values[inst.args[0].index()].is_uniform() && mem.space != Space::Local;
        let reduced = reduction(op, ty).filter(|_| address);
        let operand = inst.args[1];
        let uniform = self.facts.uniformity.values[operand.index()].is_uniform();
        match reduced {
            Some((how, identity)) if !used => {
                let v = self.vector(operand);
                let v = if self.cursor.full {
                    v
                } else {
                    let identity = self.out.ir.literal(t, Lanes::Warp, identity as u128);
                    self.out.ir.select(self.cursor.mask, v, identity)
                };
                let all = self.out.ir.reduce(how, v);
                let at = self.one_address(inst, mem, offset);
                self.update(op, ty, mem.space, at, all, Operand::zero(all.ty()))?;
                Ok(())
            }
            Some((_, _)) if op == AtomOp::Add && uniform && self.width().lanes() <= 64 => {
                // Each lane sees what the lanes before it added.
                let v = self.first_lane(operand);
                let bits = self.mask_bits();
                let count = self.out.ir.intrinsic_of("llvm.ctpop", &[bits]);
                let count = self.emitter(Lanes::One).cast(Cast::ZExt, t, count);
                let total = self.out.ir.bin(Bin::Mul, v, count);
                let at = self.one_address(inst, mem, offset);
                let old = self.update(op, ty, mem.space, at, total, Operand::zero(total.ty()))?;
                let bits = self.out.ir.splat(bits);
                let width = self.width();
                let list = (0..width.lanes()).map(|l| ((1u64 << l) - 1) as i64);
                let below = self.out.ir.elements(width.vector_of(width.bits().elem()), list);
                let before = self.out.ir.bin(Bin::And, bits, below);
                let before = self.out.ir.intrinsic_of("llvm.ctpop", &[before]);
                let before = self.emitter(Lanes::Warp).cast(Cast::ZExt, t, before);
                let (v, old) = (self.out.ir.splat(v), self.out.ir.splat(old));
                let part = self.out.ir.bin(Bin::Mul, before, v);
                let sum = self.out.ir.bin(Bin::Add, old, part);
                self.define(inst.results[0], Rep::Vector(sum))
            }
            _ if address && !used && op == AtomOp::Add && ty == AtomTy::F32 && mem.space == Space::Global => {
                self.added_at_once(inst, mem, offset)
            }
            _ => self.one_by_one(inst, op, ty, mem, offset, used),
        }
    }

    /// Adds the lanes' f32 to one place of global memory: the same sum as one addition after the other gives,
    /// but one exchange. Additions do not flush while they are summed; if a sum was subnormal, lanes add one
    /// by one.
    fn added_at_once(&mut self, inst: &Inst, mem: MemMode, offset: i32) -> Result<()> {
        const SIZE: i64 = 0x7fff_ffff;
        const SUBNORMAL: i64 = 0x7f_ffff;
        const MINUS_ZERO: u128 = 0x8000_0000;
        let v = self.raw_vector(inst.args[1]);
        let v = self.emitter(Lanes::Warp).flush(Fmt::F32, true, v);
        let v = if self.cursor.full {
            v
        } else {
            let neutral = self.out.ir.literal(Ty::I32, Lanes::Warp, MINUS_ZERO);
            self.out.ir.select(self.cursor.mask, v, neutral)
        };
        let values = self.put("values", 0, v);
        let at = self.one_address(inst, mem, offset);
        let p = self.out.ir.pointer(at);
        let [seen, sum, bad] = [Type::I32, Type::I32, Type::I1].map(|t| self.scratch(t));
        let [again, swap, slow, done] =
            ["again", "swap", "slow", "swapped"].map(|name| self.out.ir.fresh(name));
        let how = Access { order: Order::Monotonic, ..Access::aligned(4) };
        let first = self.out.ir.load_as(Type::I32, p, how);
        self.out.ir.store(first, seen);
        self.out.ir.br(again);
        self.out.ir.label(again);
        let old = self.out.ir.load(Type::I32, seen);
        let start = self.emitter(Lanes::One).flush(Fmt::F32, true, old);
        self.out.ir.store(start, sum);
        self.out.ir.store(Operand::int(Type::I1, 0), bad);
        self.every_lane(|k, lane| {
            let (one, before) = (k.get(values, Ty::I32, lane), k.out.ir.load(Type::I32, sum));
            let add = Op::Float(FloatOp::Add, FloatMode::rn(Fmt::F32));
            let now = lanewise::emit(&mut k.any_nan(Lanes::One, true), &add, &[before, one])?.remove(0);
            k.out.ir.store(now, sum);
            let size = k.out.ir.bin_int(Bin::And, now, SIZE);
            let less = k.out.ir.bin_int(Bin::Sub, size, 1);
            let subnormal = k.out.ir.icmp_int(Cmp::Ult, less, SUBNORMAL);
            let any = k.out.ir.load(Type::I1, bad);
            let any = k.out.ir.bin(Bin::Or, any, subnormal);
            k.out.ir.store(any, bad);
            Ok(())
        })?;
        let any = self.out.ir.load(Type::I1, bad);
        self.out.ir.br_if(any, slow, swap);
        self.out.ir.label(swap);
        let total = self.out.ir.load(Type::I32, sum);
        let total = self.emitter(Lanes::One).canonical(Fmt::F32, total);
        let pair = self.out.ir.cmpxchg(p, old, total, 4);
        let now = self.out.ir.part(&pair, 0);
        let ok = self.out.ir.part(&pair, 1);
        self.out.ir.store(now, seen);
        self.out.ir.br_if(ok, done, again);
        self.out.ir.label(slow);
        // What only this path has loaded does not exist after it.
        let before = (self.cursor.env.clone(), self.cursor.guards.clone(), self.cursor.lanes.clone());
        self.one_by_one(inst, AtomOp::Add, AtomTy::F32, mem, offset, false)?;
        (self.cursor.env, self.cursor.guards, self.cursor.lanes) = before;
        self.out.ir.br(done);
        self.out.ir.label(done);
        Ok(())
    }

    fn one_address(&mut self, inst: &Inst, mem: MemMode, offset: i32) -> Operand {
        let v = self.real_vector(inst.args[0], mem.space, i64::from(offset));
        self.out.ir.extract_lane(v, 0)
    }

    fn one_by_one(
        &mut self,
        inst: &Inst,
        op: AtomOp,
        ty: AtomTy,
        mem: MemMode,
        offset: i32,
        used: bool,
    ) -> Result<()> {
        let t = ty.ty();
        let addresses = self.real_vector(inst.args[0], mem.space, i64::from(offset));
        let addresses = self.put("addresses", 0, addresses);
        let mut operands = Vec::new();
        for (i, &v) in inst.args[1..].iter().enumerate() {
            // Uniform operands need no array.
            operands.push(if self.facts.uniformity.values[v.index()].is_uniform() {
                Err(self.first_lane(v))
            } else {
                let w = self.vector(v);
                Ok(self.put("values", i, w))
            });
        }
        // Counters in shared memory, as in histograms, need one addition in memory per lane. Without a loop
        // that takes 0.6 of the time on an EPYC with AVX2 and 0.8 on one with AVX-512, but 1.1 on a Xeon with
        // AVX-512, which keeps it.
        if (!self.facts.avx512 || self.facts.maker == Maker::Amd)
            && self.cursor.full
            && !used
            && mem.space == Space::Shared
            && self.width().lanes() == WARP
        {
            return self.lane_after_lane(|k, lane| {
                let at = k.get_from_memory(addresses, Ty::I64, lane);
                let mut value = |o: &std::result::Result<Operand, Operand>| match o {
                    Err(s) => *s,
                    Ok(slot) => k.get_from_memory(*slot, t, lane),
                };
                let zero = Operand::zero(Type::scalar(t));
                let (b, c) =
                    (operands.first().map_or(zero, &mut value), operands.get(1).map_or(zero, &mut value));
                k.update(op, ty, mem.space, at, b, c).map(|_| ())
            });
        }
        let results = used.then(|| self.put("results", 0, Operand::zero(self.width().vector(t))));
        self.each_lane(|k, lane| -> Result<()> {
            let at = k.get(addresses, Ty::I64, lane);
            let zero = Operand::zero(Type::scalar(t));
            let mut values = Vec::new();
            for o in &operands {
                values.push(match o {
                    Err(s) => *s,
                    Ok(slot) => k.get(*slot, t, lane),
                });
            }
            let b = values.first().copied().unwrap_or(zero);
            let c = values.get(1).copied().unwrap_or(zero);
            let old = k.update(op, ty, mem.space, at, b, c)?;
            if let Some(slot) = &results {
                let p = k.element(*slot, t, lane);
                k.out.ir.store(old, p);
            }
            Ok(())
        })?;
        if let (Some(slot), Some(&r)) = (results, inst.results.first()) {
            let v = self.out.ir.load_as(self.width().vector(t), slot, IN_SLOT);
            self.define(r, Rep::Vector(v))?;
        }
        Ok(())
    }
}
