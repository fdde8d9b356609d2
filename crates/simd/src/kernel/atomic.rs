//! Atomics: lanes that meet at one address are combined where the result allows it, else they go one by one, lowest first.

use wave::op::{AtomOp, AtomTy, FloatCmp, FloatMode, FloatOp, IntCmp, IntOp, MemMode, Op, Space};
use wave::types::Fmt;
use wave::{Inst, Ty};

use super::value::Rep;
use super::{Kernel, Result};
use crate::lanewise;
use crate::text::{Lanes, constant_vector, int, vector};

/// LLVM's word for an update that the processor has, or that LLVM makes a loop of.
fn keyword(op: AtomOp, ty: AtomTy) -> Option<&'static str> {
    use AtomTy as T;
    let float = matches!(ty, T::F16 | T::F16x2 | T::BF16 | T::BF16x2 | T::F32 | T::F32Kept | T::F64);
    let signed = matches!(ty, AtomTy::S32 | AtomTy::S64);
    Some(match op {
        AtomOp::Exch => "xchg",
        AtomOp::And => "and",
        AtomOp::Or => "or",
        AtomOp::Xor => "xor",
        AtomOp::Inc => "uinc_wrap",
        AtomOp::Dec => "udec_wrap",
        AtomOp::Cas => return None,
        _ if float => return None,
        AtomOp::Add => "add",
        AtomOp::Min if signed => "min",
        AtomOp::Min => "umin",
        AtomOp::Max if signed => "max",
        AtomOp::Max => "umax",
    })
}

/// The reduction of lanes that gives the same as one update after the other: its name, and the value that changes nothing.
fn reduction(op: AtomOp, ty: AtomTy) -> Option<(&'static str, i128)> {
    let t = ty.ty();
    let top = 1i128 << (t.bits() - 1).min(126);
    if !matches!(ty, AtomTy::B32 | AtomTy::B64 | AtomTy::U32 | AtomTy::U64 | AtomTy::S32 | AtomTy::S64) {
        return None;
    }
    Some(match (op, matches!(ty, AtomTy::S32 | AtomTy::S64)) {
        (AtomOp::Add, _) => ("add", 0),
        (AtomOp::And, _) => ("and", -1),
        (AtomOp::Or, _) => ("or", 0),
        (AtomOp::Xor, _) => ("xor", 0),
        (AtomOp::Min, true) => ("smin", top - 1),
        (AtomOp::Max, true) => ("smax", -top),
        (AtomOp::Min, false) => ("umin", -1),
        (AtomOp::Max, false) => ("umax", 0),
        _ => return None,
    })
}

impl Kernel<'_> {
    fn scalar(&mut self, op: Op, args: &[&str]) -> Result<String> {
        let args: Vec<String> = args.iter().map(|a| (*a).to_string()).collect();
        Ok(lanewise::emit(&mut self.emitter(Lanes::One), &op, &args)?.remove(0))
    }

    /// What an update of floats leaves behind. Global memory's own adders flush f32, and hand an f64's NaN on as it is, the new one
    /// before the old (as the hardware answers); `global` says where it is, none that it is in shared memory.
    fn updated_float(
        &mut self,
        op: AtomOp,
        fmt: Fmt,
        global: Option<&str>,
        old: &str,
        b: &str,
    ) -> Result<String> {
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
            let nan = |k: &mut Self, v: &str| {
                k.scalar(Op::FloatCmp { cmp: FloatCmp::Nan, fmt, ftz: false }, &[v, v])
            };
            let (of_old, of_b) = (nan(self, old)?, nan(self, b)?);
            let r = self.scalar(Op::Select(fmt.ty()), &[&of_old, old, &plain])?;
            self.scalar(Op::Select(fmt.ty()), &[&of_b, b, &r])?
        };
        self.scalar(Op::Select(fmt.ty()), &[global, &there, &plain])
    }

    /// What an update leaves behind.
    fn updated(
        &mut self,
        op: AtomOp,
        ty: AtomTy,
        global: Option<&str>,
        old: &str,
        b: &str,
        c: &str,
    ) -> Result<String> {
        let t = ty.ty();
        let float = |k: &mut Self, fmt: Fmt, old: &str, b: &str| k.updated_float(op, fmt, global, old, b);
        let signed = matches!(ty, AtomTy::S32 | AtomTy::S64);
        Ok(match (op, ty) {
            (AtomOp::Exch, _) => b.to_string(),
            (AtomOp::Cas, _) => {
                let same = self.scalar(Op::IntCmp(IntCmp::Eq, t), &[old, b])?;
                self.scalar(Op::Select(t), &[&same, c, old])?
            }
            (AtomOp::And, _) => self.scalar(Op::Int(IntOp::And, t), &[old, b])?,
            (AtomOp::Or, _) => self.scalar(Op::Int(IntOp::Or, t), &[old, b])?,
            (AtomOp::Xor, _) => self.scalar(Op::Int(IntOp::Xor, t), &[old, b])?,
            (AtomOp::Inc, _) => {
                let over = self.scalar(Op::IntCmp(IntCmp::GeU, t), &[old, b])?;
                let next = self.scalar(Op::Int(IntOp::Add, t), &[old, "1"])?;
                self.scalar(Op::Select(t), &[&over, "0", &next])?
            }
            (AtomOp::Dec, _) => {
                let zero = self.scalar(Op::IntCmp(IntCmp::Eq, t), &[old, "0"])?;
                let above = self.scalar(Op::IntCmp(IntCmp::GtU, t), &[old, b])?;
                let wrap = self.text.def(format!("or i1 {zero}, {above}"));
                let next = self.scalar(Op::Int(IntOp::Sub, t), &[old, "1"])?;
                self.scalar(Op::Select(t), &[&wrap, b, &next])?
            }
            (_, AtomTy::F16) => float(self, Fmt::F16, old, b)?,
            (_, AtomTy::BF16) => float(self, Fmt::BF16, old, b)?,
            (_, AtomTy::F32) => float(self, Fmt::F32, old, b)?,
            (_, AtomTy::F32Kept) => self.updated_float(op, Fmt::F32, None, old, b)?,
            (_, AtomTy::F64) => float(self, Fmt::F64, old, b)?,
            (_, AtomTy::F16x2 | AtomTy::BF16x2) => {
                let fmt = if ty == AtomTy::F16x2 { Fmt::F16 } else { Fmt::BF16 };
                let halves = |k: &mut Self, v: &str| {
                    let low = k.text.def(format!("trunc i32 {v} to i16"));
                    let high = k.text.def(format!("lshr i32 {v}, 16"));
                    (low, k.text.def(format!("trunc i32 {high} to i16")))
                };
                let (ol, oh) = halves(self, old);
                let (bl, bh) = halves(self, b);
                let (l, h) = (float(self, fmt, &ol, &bl)?, float(self, fmt, &oh, &bh)?);
                let (l, h) = (
                    self.text.def(format!("zext i16 {l} to i32")),
                    self.text.def(format!("zext i16 {h} to i32")),
                );
                let h = self.text.def(format!("shl i32 {h}, 16"));
                self.text.def(format!("or i32 {l}, {h}"))
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

    /// One update; the old value. A cluster runs on one thread, so its shared memory needs no lock.
    fn update(&mut self, op: AtomOp, ty: AtomTy, space: Space, at: &str, b: &str, c: &str) -> Result<String> {
        let locked = space != Space::Shared;
        let t = int(ty.ty(), Lanes::One);
        let align = ty.ty().bytes();
        let p = self.text.def(format!("inttoptr i64 {at} to ptr"));
        if !locked {
            let old = self.text.def(format!("load {t}, ptr {p}, align {align}"));
            let new = self.updated(op, ty, None, &old, b, c)?;
            self.text.line(format!("store {t} {new}, ptr {p}, align {align}"));
            return Ok(old);
        }
        if op == AtomOp::Cas {
            let pair =
                self.text.def(format!("cmpxchg ptr {p}, {t} {b}, {t} {c} seq_cst seq_cst, align {align}"));
            return Ok(self.text.def(format!("extractvalue {{ {t}, i1 }} {pair}, 0")));
        }
        if let Some(word) = keyword(op, ty) {
            return Ok(self.text.def(format!("atomicrmw {word} ptr {p}, {t} {b} seq_cst, align {align}")));
        }
        let global = if space == Space::Generic && matches!(ty, AtomTy::F32 | AtomTy::F64) {
            let size = self.field("%block", super::offset::SHARED_REACH, "i64");
            let within = self.text.def(format!("sub i64 {at}, %shared"));
            self.text.def(format!("icmp uge i64 {within}, {size}"))
        } else {
            "true".to_string()
        };
        let seen = self.scratch(&t);
        let (again, done) = (self.text.fresh("again"), self.text.fresh("swapped"));
        let first = self.text.def(format!("load atomic {t}, ptr {p} monotonic, align {align}"));
        self.text.line(format!("store {t} {first}, ptr {seen}"));
        self.text.line(format!("br label %{again}"));
        self.text.label(&again);
        let old = self.text.def(format!("load {t}, ptr {seen}"));
        let new = self.updated(op, ty, Some(&global), &old, b, c)?;
        let pair =
            self.text.def(format!("cmpxchg ptr {p}, {t} {old}, {t} {new} seq_cst seq_cst, align {align}"));
        let now = self.text.def(format!("extractvalue {{ {t}, i1 }} {pair}, 0"));
        let ok = self.text.def(format!("extractvalue {{ {t}, i1 }} {pair}, 1"));
        self.text.line(format!("store {t} {now}, ptr {seen}"));
        self.text.line(format!("br i1 {ok}, label %{done}, label %{again}"));
        self.text.label(&done);
        Ok(old)
    }

    /// `atom` and `red`.
    pub fn atomic(&mut self, inst: &Inst, op: AtomOp, ty: AtomTy, mem: MemMode, offset: i32) -> Result<()> {
        let t = ty.ty();
        self.check_atomic(inst, t, mem, i64::from(offset));
        let used = inst.results.iter().any(|r| self.used.contains(r));
        let address = self.shapes.values[inst.args[0].index()].is_uniform() && mem.space != Space::Local;
        let reduced = reduction(op, ty).filter(|_| address);
        let operand = inst.args[1];
        let uniform = self.shapes.values[operand.index()].is_uniform();
        match reduced {
            Some((name, identity)) if !used => {
                let v = self.vector(operand);
                let v = if self.full {
                    v
                } else {
                    let m = self.mask.clone();
                    self.text.def(format!(
                        "select <32 x i1> {m}, {} {v}, {} splat (i{} {identity})",
                        vector(t),
                        vector(t),
                        t.bits()
                    ))
                };
                let bits = t.bits();
                let all = self.text.intrinsic(
                    &format!("i{bits}"),
                    &format!("llvm.vector.reduce.{name}.v32i{bits}"),
                    &[(vector(t), v)],
                );
                let at = self.one_address(inst, mem, offset);
                self.update(op, ty, mem.space, &at, &all, "0")?;
                Ok(())
            }
            Some((_, _)) if op == AtomOp::Add && uniform => {
                // Each lane sees what the lanes before it added.
                let v = self.first_lane(operand);
                let bits = self.mask_bits();
                let count = self.text.intrinsic("i32", "llvm.ctpop.i32", &[("i32".into(), bits.clone())]);
                let wide = |k: &mut Self, x: &str| {
                    if t == Ty::I32 {
                        x.to_string()
                    } else {
                        k.text.def(format!("zext i32 {x} to i{}", t.bits()))
                    }
                };
                let count = wide(self, &count);
                let total = self.text.def(format!("mul i{} {v}, {count}", t.bits()));
                let at = self.one_address(inst, mem, offset);
                let old = self.update(op, ty, mem.space, &at, &total, "0")?;
                let bits = self.text.splat(Ty::I32, &bits);
                let below = constant_vector(Ty::I32, &std::array::from_fn(|l| (1i64 << l) - 1));
                let before = self.text.def(format!("and <32 x i32> {bits}, {below}"));
                let before =
                    self.text.intrinsic("<32 x i32>", "llvm.ctpop.v32i32", &[("<32 x i32>".into(), before)]);
                let before = self.emitter(Lanes::Warp).cast("zext", Ty::I32, t, &before);
                let (v, old) = (self.text.splat(t, &v), self.text.splat(t, &old));
                let part = self.text.def(format!("mul {} {before}, {v}", vector(t)));
                let sum = self.text.def(format!("add {} {old}, {part}", vector(t)));
                self.define(inst.results[0], Rep::Vector(sum))
            }
            _ => self.one_by_one(inst, op, ty, mem, offset, used),
        }
    }

    fn one_address(&mut self, inst: &Inst, mem: MemMode, offset: i32) -> String {
        let v = self.real_vector(inst.args[0], mem.space, i64::from(offset));
        self.text.def(format!("extractelement <32 x i64> {v}, i32 0"))
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
        let addresses = self.put("addresses", Ty::I64, &addresses);
        let mut operands = Vec::new();
        for (i, &v) in inst.args[1..].iter().enumerate() {
            // Uniform operands need no array.
            operands.push(if self.shapes.values[v.index()].is_uniform() {
                Err(self.first_lane(v))
            } else {
                let w = self.vector(v);
                Ok(self.put(&format!("values{i}"), t, &w))
            });
        }
        let results = used.then(|| self.put("results", t, "zeroinitializer"));
        self.each_lane(|k, lane| -> Result<()> {
            let at = k.get(&addresses, Ty::I64, lane);
            let mut values = Vec::new();
            for o in &operands {
                values.push(match o {
                    Err(s) => s.clone(),
                    Ok(room) => k.get(room, t, lane),
                });
            }
            let b = values.first().cloned().unwrap_or_else(|| "0".into());
            let c = values.get(1).cloned().unwrap_or_else(|| "0".into());
            let old = k.update(op, ty, mem.space, &at, &b, &c)?;
            if let Some(room) = &results {
                let p = k.element(room, t, lane);
                k.text.line(format!("store i{} {old}, ptr {p}", t.bits()));
            }
            Ok(())
        })?;
        if let (Some(slot), Some(&r)) = (results, inst.results.first()) {
            let v = self.text.def(format!("load {}, ptr {slot}, align 64", vector(t)));
            self.define(r, Rep::Vector(v))?;
        }
        Ok(())
    }
}
