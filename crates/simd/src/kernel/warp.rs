//! Operations between the lanes of a warp.

use wave::op::{MatchMode, Op, ReduxOp, ShflMode, VoteMode};
use wave::{Inst, LANES, Ty, Value};

use super::value::Rep;
use super::{Kernel, Result, Unsupported};
use crate::text::{constant_vector, lane_numbers, vector};

impl Kernel<'_> {
    /// A value's constant, if it is one.
    fn constant(&self, v: Value) -> Option<u32> {
        self.constants.get(&v).map(|&bits| bits as u32)
    }

    /// The lanes in hand that an operation names, as an i32: `None` for the operand where the operation has none. Only where all lanes
    /// name the same.
    fn members(&mut self, operand: Option<Value>) -> Result<String> {
        let bits = self.mask_bits();
        let Some(v) = operand else { return Ok(bits) };
        if self.per_lane {
            // Only they are here.
            return Ok(bits);
        }
        if self.constant(v) == Some(u32::MAX) {
            return Ok(bits);
        }
        if !self.shapes.values[v.index()].is_uniform() {
            return Err(Unsupported("an operation between lanes whose members differ".into()));
        }
        let m = self.first_lane(v);
        Ok(self.text.def(format!("and i32 {bits}, {m}")))
    }

    /// An operation in which lanes take part together.
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
            Op::Vote { mode, sync } => self.vote(inst, *mode, *sync),
            Op::Redux(op) => self.redux(inst, *op),
            Op::Match(mode, ty) => self.matching(inst, *mode, *ty),
            Op::Shfl { mode, .. } => self.shuffle(inst, *mode),
            Op::Matrix(matrix) => self.matrix(inst, matrix),
            other => Err(Unsupported(format!("{other:?}"))),
        }
    }

    fn elect(&mut self, inst: &Inst) -> Result<()> {
        let members = self.members(Some(inst.args[0]))?;
        let first = self.text.intrinsic(
            "i32",
            "llvm.cttz.i32",
            &[("i32".into(), members), ("i1".into(), "false".into())],
        );
        let wide = self.text.splat(Ty::I32, &first);
        let is = self.text.def(format!("icmp eq <32 x i32> {wide}, {}", lane_numbers()));
        self.define(inst.results[0], Rep::Uniform(first))?;
        self.define(inst.results[1], Rep::Vector(is))
    }

    fn vote(&mut self, inst: &Inst, mode: VoteMode, sync: bool) -> Result<()> {
        let members = self.members(sync.then_some(inst.args[1]))?;
        let p = self.vector(inst.args[0]);
        let p = self.text.def(format!("freeze <32 x i1> {p}"));
        let p = self.text.def(format!("bitcast <32 x i1> {p} to i32"));
        let set = self.text.def(format!("and i32 {p}, {members}"));
        let all = |k: &mut Self| k.text.def(format!("icmp eq i32 {set}, {members}"));
        let none = |k: &mut Self, how: &str| k.text.def(format!("icmp {how} i32 {set}, 0"));
        let r = match mode {
            VoteMode::Ballot => set.clone(),
            VoteMode::All => all(self),
            VoteMode::Any => none(self, "ne"),
            VoteMode::Uni => {
                let (a, n) = (all(self), none(self, "eq"));
                self.text.def(format!("or i1 {a}, {n}"))
            }
        };
        self.define(inst.results[0], Rep::Uniform(r))
    }

    fn redux(&mut self, inst: &Inst, op: ReduxOp) -> Result<()> {
        let (name, identity) = match op {
            ReduxOp::Add => ("add", 0i64),
            ReduxOp::MinU => ("umin", -1),
            ReduxOp::MaxU => ("umax", 0),
            ReduxOp::MinS => ("smin", i64::from(i32::MAX)),
            ReduxOp::MaxS => ("smax", i64::from(i32::MIN)),
            ReduxOp::And => ("and", -1),
            ReduxOp::Or => ("or", 0),
            ReduxOp::Xor => ("xor", 0),
        };
        let members = self.members(Some(inst.args[1]))?;
        let v = self.vector(inst.args[0]);
        let m = self.mask_from(&members);
        let v =
            self.text.def(format!("select <32 x i1> {m}, <32 x i32> {v}, <32 x i32> splat (i32 {identity})"));
        let r =
            self.text.intrinsic("i32", &format!("llvm.vector.reduce.{name}.v32i32"), &[(vector(Ty::I32), v)]);
        self.define(inst.results[0], Rep::Uniform(r))
    }

    /// Once a distinct value: the lowest lane left gives the value, all that have it get their mask.
    fn matching(&mut self, inst: &Inst, mode: MatchMode, ty: Ty) -> Result<()> {
        let members = self.members(Some(inst.args[1]))?;
        let v = self.vector(inst.args[0]);
        let v = self.text.def(format!("freeze {} {v}", vector(ty)));
        if mode == MatchMode::All {
            let lane = self.first_set(&members);
            let one = self.text.def(format!("extractelement {} {v}, i32 {lane}", vector(ty)));
            let one = self.text.splat(ty, &one);
            let same = self.text.def(format!("icmp eq {} {v}, {one}", vector(ty)));
            let same = self.text.def(format!("bitcast <32 x i1> {same} to i32"));
            let same = self.text.def(format!("and i32 {same}, {members}"));
            let all = self.text.def(format!("icmp eq i32 {same}, {members}"));
            let mask = self.text.def(format!("select i1 {all}, i32 {members}, i32 0"));
            self.define(inst.results[0], Rep::Uniform(mask))?;
            return match inst.results.get(1) {
                Some(&r) => self.define(r, Rep::Uniform(all)),
                None => Ok(()),
            };
        }
        let (left, out) = (self.scratch("i32"), self.scratch("<32 x i32>"));
        self.text.line(format!("store i32 {members}, ptr {left}"));
        self.text.line(format!("store <32 x i32> zeroinitializer, ptr {out}"));
        let (again, end) = (self.text.fresh("value"), self.text.fresh("values.end"));
        self.text.line(format!("br label %{again}"));
        self.text.label(&again);
        let l = self.text.def(format!("load i32, ptr {left}"));
        let lane = self.first_set(&l);
        let one = self.text.def(format!("extractelement {} {v}, i32 {lane}", vector(ty)));
        let one = self.text.splat(ty, &one);
        let m = self.mask_from(&members);
        let same = self.text.def(format!("icmp eq {} {v}, {one}", vector(ty)));
        let same = self.text.def(format!("and <32 x i1> {same}, {m}"));
        let bits = self.text.def(format!("bitcast <32 x i1> {same} to i32"));
        let wide = self.text.splat(Ty::I32, &bits);
        let old = self.text.def(format!("load <32 x i32>, ptr {out}"));
        let new = self.text.def(format!("select <32 x i1> {same}, <32 x i32> {wide}, <32 x i32> {old}"));
        self.text.line(format!("store <32 x i32> {new}, ptr {out}"));
        let not = self.text.def(format!("xor i32 {bits}, -1"));
        let rest = self.text.def(format!("and i32 {l}, {not}"));
        self.text.line(format!("store i32 {rest}, ptr {left}"));
        let more = self.text.def(format!("icmp ne i32 {rest}, 0"));
        self.text.line(format!("br i1 {more}, label %{again}, label %{end}"));
        self.text.label(&end);
        let r = self.text.def(format!("load <32 x i32>, ptr {out}"));
        self.define(inst.results[0], Rep::Vector(r))?;
        match inst.results.get(1) {
            Some(&p) => self.define(p, Rep::Vector("splat (i1 true)".into())),
            None => Ok(()),
        }
    }

    /// The lowest bit's number, of a mask that may be empty.
    pub fn first_set(&mut self, mask: &str) -> String {
        let n = self.text.intrinsic(
            "i32",
            "llvm.cttz.i32",
            &[("i32".into(), mask.to_string()), ("i1".into(), "false".into())],
        );
        self.text.def(format!("and i32 {n}, 31"))
    }

    /// `shfl` by the manual's pseudo-code. A lane that does not take part gives nothing: its reader keeps its own value.
    fn shuffle(&mut self, inst: &Inst, mode: ShflMode) -> Result<()> {
        let v = self.vector(inst.args[0]);
        let (b, c) = (self.constant(inst.args[1]), self.constant(inst.args[2]));
        let (picked, inside, source) = match (b, c) {
            (Some(b), Some(c)) => {
                let lanes: Vec<(u32, bool)> =
                    (0..LANES as u32).map(|l| source_lane(mode, l, b & 31, c)).collect();
                let list: Vec<String> = lanes.iter().map(|(s, _)| format!("i32 {s}")).collect();
                let picked = self.text.def(format!(
                    "shufflevector <32 x i32> {v}, <32 x i32> poison, <32 x i32> <{}>",
                    list.join(", ")
                ));
                let inside = constant_vector(Ty::I1, &std::array::from_fn(|l| i64::from(lanes[l].1)));
                let source = constant_vector(Ty::I32, &std::array::from_fn(|l| i64::from(lanes[l].0)));
                (picked, inside, source)
            }
            _ => {
                let (b, c) = (self.vector(inst.args[1]), self.vector(inst.args[2]));
                let (source, inside) = self.source_vector(mode, &b, &c);
                (self.permute(&v, &source), inside, source)
            }
        };
        let picked = if self.full {
            picked
        } else {
            let bits = self.mask_bits();
            let bits = self.text.splat(Ty::I32, &bits);
            let there = self.text.def(format!("lshr <32 x i32> {bits}, {source}"));
            let there = self.text.def(format!("trunc <32 x i32> {there} to <32 x i1>"));
            self.text.def(format!("select <32 x i1> {there}, <32 x i32> {picked}, <32 x i32> {v}"))
        };
        self.define(inst.results[0], Rep::Vector(picked))?;
        match inst.results.get(1) {
            Some(&r) => self.define(r, Rep::Vector(inside)),
            None => Ok(()),
        }
    }

    fn source_vector(&mut self, mode: ShflMode, b: &str, c: &str) -> (String, String) {
        let op = |k: &mut Self, op: &str, a: &str, b: &str| k.text.def(format!("{op} <32 x i32> {a}, {b}"));
        let lane = lane_numbers();
        let low = "splat (i32 31)";
        let b = op(self, "and", b, low);
        let segment = op(self, "lshr", c, "splat (i32 8)");
        let segment = op(self, "and", &segment, low);
        let clamp = op(self, "and", c, low);
        let not = op(self, "xor", &segment, "splat (i32 -1)");
        let min = op(self, "and", &lane, &segment);
        let rest = op(self, "and", &clamp, &not);
        let max = op(self, "or", &min, &rest);
        let (j, how) = match mode {
            ShflMode::Up => (op(self, "sub", &lane, &b), "icmp sge"),
            ShflMode::Down => (op(self, "add", &lane, &b), "icmp sle"),
            ShflMode::Bfly => (op(self, "xor", &lane, &b), "icmp sle"),
            ShflMode::Idx => {
                let inner = op(self, "and", &b, &not);
                (op(self, "or", &min, &inner), "icmp sle")
            }
        };
        let inside = op(self, how, &j, &max);
        let source = self.text.def(format!("select <32 x i1> {inside}, <32 x i32> {j}, <32 x i32> {lane}"));
        (op(self, "and", &source, low), inside)
    }

    /// Each lane's element of `v` by its index.
    fn permute(&mut self, v: &str, source: &str) -> String {
        if !self.avx512 {
            let slot = self.scratch("<32 x i32>");
            self.text.line(format!("store <32 x i32> {v}, ptr {slot}, align 64"));
            let wide = self.text.def(format!("zext <32 x i32> {source} to <32 x i64>"));
            let at = self.text.def(format!("getelementptr i32, ptr {slot}, <32 x i64> {wide}"));
            let t = vector(Ty::I32);
            let name = "llvm.masked.gather.v32i32.v32p0";
            self.text.declarations.insert(format!("declare {t} @{name}(<32 x ptr>, <32 x i1>, {t})"));
            return self.text.def(format!(
                "call {t} @{name}(<32 x ptr> align 4 {at}, <32 x i1> splat (i1 true), {t} zeroinitializer)"
            ));
        }
        let half = |k: &mut Self, v: &str, first: usize| {
            let list: Vec<String> = (first..first + 16).map(|i| format!("i32 {i}")).collect();
            k.text.def(format!(
                "shufflevector <32 x i32> {v}, <32 x i32> poison, <16 x i32> <{}>",
                list.join(", ")
            ))
        };
        let t = "<16 x i32>".to_string();
        let (lo, hi) = (half(self, v, 0), half(self, v, 16));
        let mut halves = Vec::new();
        for first in [0, 16] {
            let index = half(self, source, first);
            let args = [(t.clone(), lo.clone()), (t.clone(), index), (t.clone(), hi.clone())];
            halves.push(self.text.intrinsic(&t, "llvm.x86.avx512.vpermi2var.d.512", &args));
        }
        let list: Vec<String> = (0..32).map(|i| format!("i32 {i}")).collect();
        self.text.def(format!(
            "shufflevector {t} {}, {t} {}, <32 x i32> <{}>",
            halves[0],
            halves[1],
            list.join(", ")
        ))
    }
}

/// The lane that a lane reads, itself where it is out of range, and whether it is in range.
fn source_lane(mode: ShflMode, lane: u32, b: u32, c: u32) -> (u32, bool) {
    let (segment, clamp) = (c >> 8 & 31, c & 31);
    let min = lane & segment;
    let max = min | clamp & !segment;
    let (j, inside) = match mode {
        ShflMode::Up => (lane.wrapping_sub(b), lane as i32 - b as i32 >= max as i32),
        ShflMode::Down => (lane + b, lane + b <= max),
        ShflMode::Bfly => (lane ^ b, (lane ^ b) <= max),
        ShflMode::Idx => (min | b & !segment, (min | b & !segment) <= max),
    };
    if inside { (j & 31, true) } else { (lane, false) }
}
