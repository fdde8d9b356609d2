//! Matrix instructions: the runtime computes them for the whole warp.

use std::fmt::Write as _;

use wave::{Inst, LANES, Value};

use super::value::Rep;
use super::{Kernel, Result, offset};
use crate::text::vector;

/// Where operands lie, and where results; all instructions of a kernel use the same places.
const PLACES: [&str; 2] = ["%matrix.args", "%matrix.results"];

impl Kernel<'_> {
    /// Hands operands over as `[register][lane]` and takes results so.
    pub fn matrix(&mut self, inst: &Inst, number: u64) -> Result<()> {
        let size = |k: &Self, values: &[Value]| -> usize {
            values.iter().map(|&v| k.func_ty(v).bytes() as usize * LANES).sum()
        };
        let sizes = [size(self, &inst.args), size(self, &inst.results)];
        let most = self.matrices.get_or_insert(sizes);
        // Never nothing: the places must be there.
        *most = [most[0].max(sizes[0]).max(1), most[1].max(sizes[1]).max(1)];
        let mut at = 0;
        for &a in &inst.args[..inst.args.len().saturating_sub(1)] {
            let v = self.vector(a);
            let ty = self.func_ty(a);
            let p = self.text.def(format!("getelementptr i8, ptr {}, i64 {at}", PLACES[0]));
            self.text.line(format!("store {} {v}, ptr {p}, align 64", vector(ty)));
            at += ty.bytes() as usize * LANES;
        }
        self.set_field(offset::W_LINE, &inst.loc.line.to_string());
        let runtime = self.field("%block", offset::RUNTIME, "ptr");
        let f = self.field(&runtime, offset::MATRIX, "ptr");
        let bits = self.mask_bits();
        let [args, results] = PLACES;
        let code = self
            .text
            .def(format!("call i32 {f}(ptr %warp, i64 {number}, i32 {bits}, ptr {args}, ptr {results})"));
        let failed = self.text.def(format!("icmp ne i32 {code}, 0"));
        let next = self.text.fresh("called");
        self.text.line(format!("br i1 {failed}, label %fault, label %{next}"));
        self.text.label(&next);
        let mut at = 0;
        for &r in &inst.results {
            let ty = self.func_ty(r);
            let p = self.text.def(format!("getelementptr i8, ptr {results}, i64 {at}"));
            let v = self.text.def(format!("load {}, ptr {p}, align 64", vector(ty)));
            at += ty.bytes() as usize * LANES;
            self.define(r, Rep::Vector(v))?;
        }
        Ok(())
    }

    /// Declares the places, once it is known how large they are.
    pub fn matrix_places(&mut self) {
        for (place, size) in PLACES.iter().zip(self.matrices.unwrap_or_default()) {
            if size > 0 {
                let _ = writeln!(self.slots, "  {place} = alloca [{size} x i8], align 64");
            }
        }
    }
}
