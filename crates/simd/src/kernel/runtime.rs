//! Calls of the runtime: operations of a warp that are implemented in Rust.

use wave::op::Builtin;
use wave::{Inst, Ty};

use super::names::{BLOCK, FAULT, WARP};
use super::value::Rep;
use super::{Kernel, Result, offset};
use crate::ir::{Callee, Cast, Cmp, Lanes, Operand, Type};

impl Kernel<'_> {
    /// Calls one of the runtime's built-in functions.
    pub fn builtin(&mut self, inst: &Inst, which: Builtin) -> Result<()> {
        let number = Builtin::ALL.iter().position(|&b| b == which).unwrap_or(0);
        self.call_runtime(inst, number as u32)
    }

    /// Calls the runtime with each operand as an array with an element per lane.
    pub fn call_runtime(&mut self, inst: &Inst, number: u32) -> Result<()> {
        let lanes = self.warp();
        let words = |values: usize| values.max(1) * lanes;
        let args = self.shared_slot("args", 0, Type::I64, words(inst.args.len()));
        let results = self.shared_slot("results", 0, Type::I64, words(inst.results.len()));
        for (i, &a) in inst.args.iter().enumerate() {
            let v = self.vector(a);
            let v = self.emitter(Lanes::Warp).cast(Cast::ZExt, Ty::I64, v);
            let p = self.out.ir.offset(args, i * lanes * 8);
            self.out.ir.store(v, p);
        }
        self.set_field(offset::W_LINE, Operand::i32(i64::from(inst.loc.line)));
        let runtime = self.field(BLOCK, offset::RUNTIME, Type::PTR);
        let f = self.field(runtime, offset::BUILTIN, Type::PTR);
        let bits = self.mask_argument();
        let number = Operand::i32(i64::from(number));
        let arguments = [WARP, number, bits, args, results].map(Into::into);
        let code = self.out.ir.call(Callee::Pointer(f), Type::I32, arguments);
        let failed = self.out.ir.icmp_int(Cmp::Ne, code, 0);
        let next = self.out.ir.fresh("called");
        self.out.ir.br_if(failed, FAULT, next);
        self.out.ir.label(next);
        for (i, &r) in inst.results.iter().enumerate() {
            let p = self.out.ir.offset(results, i * lanes * 8);
            let v = self.out.ir.load(self.width().addresses(), p);
            let ty = self.func_ty(r);
            let v = self.emitter(Lanes::Warp).cast(Cast::ZExt, ty, v);
            self.define(r, Rep::Vector(v))?;
        }
        Ok(())
    }
}
