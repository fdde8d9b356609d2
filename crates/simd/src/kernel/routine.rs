//! Operations of many instructions as calls, where a kernel has much of them.
//!
//! LLVM's time grows with the instructions that it sees, and faster than they do. A conversion between narrow floats is dozens for each of
//! the vectors that hold a warp's lanes; of a large kernel it is compiled once, as a function beside it, and called. Values in registers are saved
//! around a call, which is little beside so many instructions.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;

use wave::op::Op;
use wave::{Inst, LANES, Ty, Value};

use super::{Kernel, Result};
use crate::lanewise;
use crate::text::{Lanes, Text, is_constant, vector};

/// An operation, those of its operands that are literals, and whether its result may be any NaN.
type Key = (Op, Vec<Option<String>>, bool);

/// The functions of a kernel.
#[derive(Debug, Default)]
pub struct Routines {
    /// Lines of LLVM IR from which an operation is a call; `None`: never.
    from: Option<usize>,
    /// The name and the result's type of each operation that is one; `None` of those that are not.
    known: HashMap<Key, Option<(String, String)>>,
    /// Types of values that a function writes under a mask.
    kept: BTreeSet<Ty>,
    /// Whether there is a function that looks at lanes' addresses.
    tests_lanes: bool,
    /// Their text.
    pub text: String,
}

impl Routines {
    /// For a kernel in which operations of so many lines are calls.
    pub fn from(lines: Option<usize>) -> Routines {
        Routines { from: lines, ..Routines::default() }
    }
}

impl Kernel<'_> {
    /// Writes a value to its slot in the frame under a mask by a call, where that is less for LLVM: AVX2 has no masks, so that each use of one
    /// spreads it over vectors of the value's width. Whether it did.
    pub fn kept_by_call(&mut self, v: Value, new: &str, mask: &str) -> bool {
        let ty = self.func_ty(v);
        let fits = matches!(ty, Ty::I8 | Ty::I16 | Ty::I32 | Ty::I64);
        if self.avx512 || !self.in_frame || self.routines.from.is_none() || !fits {
            return false;
        }
        let Some(bits) = self.text.word_of(mask).map(str::to_owned) else { return false };
        let (t, bytes) = (vector(ty), ty.bytes());
        let name = format!("@keep{}", ty.bits());
        if self.routines.kept.insert(ty) {
            let each = crate::text::constant_vector(Ty::I32, &std::array::from_fn(|l| 1i64 << l));
            // Slots have the alignment that the frame has.
            let align = (LANES as u32 * bytes).min(64);
            let _ = writeln!(
                self.routines.text,
                "define internal void {name}(ptr %slot, {t} %new, i32 %bits) noinline #0 {{
  %one = insertelement <32 x i32> poison, i32 %bits, i32 0
  %all = shufflevector <32 x i32> %one, <32 x i32> poison, <32 x i32> zeroinitializer
  %mine = and <32 x i32> %all, {each}
  %mask = icmp ne <32 x i32> %mine, zeroinitializer
  %old = load {t}, ptr %slot, align {align}
  %kept = select <32 x i1> %mask, {t} %new, {t} %old
  store {t} %kept, ptr %slot, align {align}
  ret void
}}"
            );
        }
        let slot = self.slot(&format!("%s{}", v.0));
        self.text.line(format!("call void {name}(ptr {slot}, {t} {new}, i32 {bits})"));
        true
    }

    /// The lanes in hand whose addresses have any of these bits, by a call where operations are calls and masks words.
    pub fn lanes_with_by_call(&mut self, addresses: &str, bits: i64) -> Option<String> {
        self.routines.from.filter(|_| self.in_frame)?;
        let mask = self.text.word_of(&self.mask)?.to_owned();
        if !std::mem::replace(&mut self.routines.tests_lanes, true) {
            self.routines.text.push_str(
                "define internal i32 @lanes.with(<32 x i64> %addresses, i64 %bits, i32 %mask) noinline willreturn memory(none) #0 {
  %one = insertelement <32 x i64> poison, i64 %bits, i32 0
  %all = shufflevector <32 x i64> %one, <32 x i64> poison, <32 x i32> zeroinitializer
  %some = and <32 x i64> %addresses, %all
  %those = icmp ne <32 x i64> %some, zeroinitializer
  %sure = freeze <32 x i1> %those
  %word = bitcast <32 x i1> %sure to i32
  %here = and i32 %word, %mask
  ret i32 %here
}
",
            );
        }
        Some(self.text.def(format!("call i32 @lanes.with(<32 x i64> {addresses}, i64 {bits}, i32 {mask})")))
    }

    /// The results of an operation on vectors, of a call where it is one.
    pub fn on_vectors(&mut self, inst: &Inst, raw: bool, args: &[String]) -> Result<Vec<String>> {
        let Some(from) = self.routines.from else {
            return Ok(lanewise::emit(&mut self.any_nan(Lanes::Warp, raw), &inst.op, args)?);
        };
        let literals = args.iter().map(|a| is_constant(a).then(|| a.clone())).collect();
        let key = (inst.op.clone(), literals, raw);
        if !self.routines.known.contains_key(&key) {
            let made = self.routine(inst, raw, args, from)?;
            self.routines.known.insert(key.clone(), made);
        }
        let Some((name, ty)) = self.routines.known.get(&key).cloned().flatten() else {
            return Ok(lanewise::emit(&mut self.any_nan(Lanes::Warp, raw), &inst.op, args)?);
        };
        let passed = inst.args.iter().zip(args).filter(|(_, a)| !is_constant(a));
        let passed: Vec<String> = passed.map(|(&v, a)| format!("{} {a}", vector(self.func_ty(v)))).collect();
        let all = self.text.def(format!("call {ty} {name}({})", passed.join(", ")));
        if inst.results.len() == 1 {
            return Ok(vec![all]);
        }
        let one = |k: &mut Self, i: usize| k.text.def(format!("extractvalue {ty} {all}, {i}"));
        Ok((0..inst.results.len()).map(|i| one(self, i)).collect())
    }

    /// Writes an operation as a function if it has at least `from` lines; its name and the type that it returns.
    fn routine(
        &mut self,
        inst: &Inst,
        raw: bool,
        args: &[String],
        from: usize,
    ) -> Result<Option<(String, String)>> {
        let mut text = Text::default();
        let names: Vec<String> = args
            .iter()
            .enumerate()
            .map(|(i, a)| if is_constant(a) { a.clone() } else { format!("%a{i}") })
            .collect();
        let mut emit = lanewise::Emit { text: &mut text, ..self.any_nan(Lanes::Warp, raw) };
        let results = lanewise::emit(&mut emit, &inst.op, &names)?;
        if text.out.lines().count() < from {
            return Ok(None);
        }
        let types: Vec<String> = inst.results.iter().map(|&r| vector(self.func_ty(r))).collect();
        let ty = match types.as_slice() {
            [one] => one.clone(),
            more => format!("{{ {} }}", more.join(", ")),
        };
        let mut given = results.first().cloned().unwrap_or_default();
        if types.len() > 1 {
            given = "poison".into();
            for (i, (t, r)) in types.iter().zip(&results).enumerate() {
                given = text.def(format!("insertvalue {ty} {given}, {t} {r}, {i}"));
            }
        }
        let name = format!("@routine{}", self.routines.known.len());
        let params = inst.args.iter().zip(&names).filter(|(_, n)| !is_constant(n));
        let params: Vec<String> = params.map(|(&v, n)| format!("{} {n}", vector(self.func_ty(v)))).collect();
        // Tables and control words are constants, but LLVM is told nothing of those that read them.
        let reads = text.out.contains(" = load ") || text.out.contains(" asm ");
        let effects = if reads { "" } else { " memory(none)" };
        let _ = writeln!(
            self.routines.text,
            "define internal {ty} {name}({}) noinline willreturn{effects} #0 {{\nentry:\n{}  ret {ty} {given}\n}}",
            params.join(", "),
            text.out
        );
        self.text.declarations.append(&mut text.declarations);
        Ok(Some((name, ty)))
    }
}
