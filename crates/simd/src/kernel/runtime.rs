//! Calls of the runtime: what the code of one warp leaves to Rust.

use wave::op::Builtin;
use wave::{Inst, LANES, Ty};

use super::value::Rep;
use super::{Kernel, Result, offset};
use crate::text::Lanes;

impl Kernel<'_> {
    /// Calls one of the runtime's own functions.
    pub fn builtin(&mut self, inst: &Inst, which: Builtin) -> Result<()> {
        let number = Builtin::ALL.iter().position(|&b| b == which).unwrap_or(0);
        self.call_runtime(inst, number as u32)
    }

    /// Calls the runtime with operands as arrays of 32.
    pub fn call_runtime(&mut self, inst: &Inst, number: u32) -> Result<()> {
        let words = |values: usize| format!("[{} x i64]", values.max(1) * LANES);
        let args = self.room("args", &words(inst.args.len()));
        let results = self.room("results", &words(inst.results.len()));
        for (i, &a) in inst.args.iter().enumerate() {
            let v = self.vector(a);
            let ty = self.func_ty(a);
            let v = self.emitter(Lanes::Warp).cast("zext", ty, Ty::I64, &v);
            let p = self.text.def(format!("getelementptr i8, ptr {args}, i64 {}", i * LANES * 8));
            self.text.line(format!("store <32 x i64> {v}, ptr {p}"));
        }
        self.set_field(offset::W_LINE, &inst.loc.line.to_string());
        let runtime = self.field("%block", offset::RUNTIME, "ptr");
        let f = self.field(&runtime, offset::BUILTIN, "ptr");
        let bits = self.mask_bits();
        let code = self
            .text
            .def(format!("call i32 {f}(ptr %warp, i32 {number}, i32 {bits}, ptr {args}, ptr {results})"));
        let failed = self.text.def(format!("icmp ne i32 {code}, 0"));
        let next = self.text.fresh("called");
        self.text.line(format!("br i1 {failed}, label %fault, label %{next}"));
        self.text.label(&next);
        for (i, &r) in inst.results.iter().enumerate() {
            let p = self.text.def(format!("getelementptr i8, ptr {results}, i64 {}", i * LANES * 8));
            let v = self.text.def(format!("load <32 x i64>, ptr {p}"));
            let ty = self.func_ty(r);
            let v = self.emitter(Lanes::Warp).cast("zext", Ty::I64, ty, &v);
            self.define(r, Rep::Vector(v))?;
        }
        Ok(())
    }
}
