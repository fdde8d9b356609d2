//! Matrix instructions: the runtime computes products for the whole warp; rows of halves are moved in place.

use std::fmt::Write as _;

use wave::op::Matrix;
use wave::op::movement::{Action, Movement, Rows, Source};
use wave::{Inst, LANES, Ty, Value};

use super::memory::indices;
use super::value::Rep;
use super::{Kernel, Result, offset};
use crate::text::vector;

/// Where operands lie, and where results; all instructions of a kernel use the same places.
const PLACES: [&str; 2] = ["%matrix.args", "%matrix.results"];

/// Bytes of a row of a matrix of halves.
const ROW: usize = 16;

impl Kernel<'_> {
    /// A matrix instruction. Rows of halves are moved in place where all lanes are there and all rows lie in the block's memory; all else is the
    /// runtime's, which knows what is wrong.
    pub fn matrix(&mut self, inst: &Inst, matrix: &Matrix) -> Result<()> {
        let halves = |x: &Movement| x.rows == Rows::M8n8 && x.source == Source::Same;
        let Matrix::Move(x) = matrix else { return self.called(inst, matrix.number()) };
        match x.action {
            _ if !halves(x) => self.called(inst, matrix.number()),
            Action::Transpose => {
                let v = self.vector(inst.args[0]);
                let v = self.transposed(v);
                self.define(inst.results[0], Rep::Vector(v))
            }
            Action::Load | Action::Store => self.moved(inst, *x, matrix.number()),
        }
    }

    /// A register with the columns of its matrix of 8 × 8 halves as rows.
    fn transposed(&mut self, v: String) -> String {
        let t = "<64 x i16>";
        let parts = self.text.def(format!("bitcast <32 x i32> {v} to {t}"));
        let list = indices((0..64).map(|n| n % 8 * 8 + n / 8));
        let parts = self.text.def(format!("shufflevector {t} {parts}, {t} poison, {list}"));
        self.text.def(format!("bitcast {t} {parts} to <32 x i32>"))
    }

    /// `ldmatrix` and `stmatrix` of rows of halves.
    fn moved(&mut self, inst: &Inst, x: Movement, number: u64) -> Result<()> {
        let count = x.registers();
        let rows = 8 * count;
        let bits = self.mask_bits();
        let addresses = self.vector(inst.args[0]);
        let stored: Vec<String> =
            (1..=count).filter_map(|n| inst.args.get(n)).map(|&a| self.vector(a)).collect();
        let t = format!("<{rows} x i32>");
        let list = indices(0..rows);
        let mut own =
            self.text.def(format!("shufflevector <32 x i32> {addresses}, <32 x i32> poison, {list}"));
        if let Some(window) = self.window() {
            let window = self.text.splat(Ty::I32, &window);
            let window =
                self.text.def(format!("shufflevector <32 x i32> {window}, <32 x i32> poison, {list}"));
            own = self.text.def(format!("sub {t} {own}, {window}"));
        }
        let total = self.field("%block", offset::SHARED_TOTAL, "i32");
        let end = self.text.def(format!("and i32 {total}, -{ROW}"));
        let end = self.text.def(format!("insertelement {t} poison, i32 {end}, i32 0"));
        let end = self.text.def(format!("shufflevector {t} {end}, {t} poison, {t} zeroinitializer"));
        let inside = self.text.def(format!("icmp ult {t} {own}, {end}"));
        let part = self.text.def(format!("and {t} {own}, splat (i32 {})", ROW - 1));
        let whole = self.text.def(format!("icmp eq {t} {part}, zeroinitializer"));
        let good = self.text.def(format!("and <{rows} x i1> {inside}, {whole}"));
        let good = self.text.def(format!("bitcast <{rows} x i1> {good} to i{rows}"));
        let good = self.text.def(format!("icmp eq i{rows} {good}, -1"));
        let all = self.text.def(format!("icmp eq i32 {bits}, -1"));
        let guard = self.text.def(format!("and i1 {good}, {all}"));
        let slots: Vec<String> = inst.results.iter().map(|_| self.scratch("<32 x i32>")).collect();
        let keep = |k: &mut Self, values: Vec<String>| {
            for (slot, v) in slots.iter().zip(values) {
                k.text.line(format!("store <32 x i32> {v}, ptr {slot}"));
            }
        };
        let at = |k: &mut Self, row: usize| {
            let offset = k.text.def(format!("extractelement <32 x i32> {addresses}, i32 {row}"));
            let offset = k.text.def(format!("zext i32 {offset} to i64"));
            let address = k.text.def(format!("add i64 %shared, {offset}"));
            k.text.def(format!("inttoptr i64 {address} to ptr"))
        };
        self.either(
            &guard,
            |k| {
                if x.action == Action::Store {
                    for (n, v) in stored.iter().enumerate() {
                        let v = if x.transposed { k.transposed(v.clone()) } else { v.clone() };
                        for row in 0..8 {
                            let list = indices(4 * row..4 * row + 4);
                            let words = k
                                .text
                                .def(format!("shufflevector <32 x i32> {v}, <32 x i32> poison, {list}"));
                            let p = at(k, 8 * n + row);
                            k.text.line(format!("store <4 x i32> {words}, ptr {p}, align {ROW}"));
                        }
                    }
                    return;
                }
                let values = (0..count).map(|n| {
                    let rows = (0..8).map(|row| {
                        let p = at(k, 8 * n + row);
                        k.text.def(format!("load <4 x i32>, ptr {p}, align {ROW}"))
                    });
                    let rows: Vec<String> = rows.collect();
                    let v = k.concat(Ty::I32, 4, rows);
                    if x.transposed { k.transposed(v) } else { v }
                });
                let values: Vec<String> = values.collect();
                keep(k, values);
            },
            |k| {
                let values = k.call(inst, number);
                keep(k, values);
            },
        );
        for (&r, slot) in inst.results.iter().zip(&slots) {
            let v = self.text.def(format!("load <32 x i32>, ptr {slot}"));
            self.define(r, Rep::Vector(v))?;
        }
        Ok(())
    }

    /// The runtime does it.
    fn called(&mut self, inst: &Inst, number: u64) -> Result<()> {
        let values = self.call(inst, number);
        inst.results.iter().zip(values).try_for_each(|(&r, v)| self.define(r, Rep::Vector(v)))
    }

    /// Hands operands over as `[register][lane]` and takes results so.
    fn call(&mut self, inst: &Inst, number: u64) -> Vec<String> {
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
        let taken = inst.results.iter().map(|&r| {
            let ty = self.func_ty(r);
            let p = self.text.def(format!("getelementptr i8, ptr {results}, i64 {at}"));
            let v = self.text.def(format!("load {}, ptr {p}, align 64", vector(ty)));
            at += ty.bytes() as usize * LANES;
            v
        });
        taken.collect()
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
