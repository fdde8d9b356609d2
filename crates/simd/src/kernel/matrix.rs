//! Matrix instructions: the runtime computes products for the whole warp; rows of 16-bit elements are moved
//! inline.

use wave::op::Matrix;
use wave::op::movement::{Action, Movement, Rows, Source};
use wave::{Inst, LANES, Value};

use super::names::{BLOCK, FAULT, SHARED, WARP};
use super::value::{IN_SLOT, Rep};
use super::{Kernel, Result, offset};
use crate::ir::{Access, Bin, Callee, Cast, Cmp, Name, Operand, Type};

/// The stack slots of operands and of results, shared by all matrix instructions of a kernel.
const PLACES: [Name; 2] = [Name::of("matrix.args"), Name::of("matrix.results")];

/// Bytes of a row of a matrix of 16-bit elements.
const ROW: usize = 16;

impl Kernel<'_> {
    /// Emits a matrix instruction. Rows of 16-bit elements are moved inline if all lanes are active and all
    /// rows lie in the block's shared memory. The runtime handles all other cases and reports errors.
    pub fn matrix(&mut self, inst: &Inst, matrix: &Matrix) -> Result<()> {
        let halves = |x: &Movement| x.rows == Rows::M8n8 && x.source == Source::Same;
        let x = match matrix {
            Matrix::Move(x) => x,
            Matrix::Mma(x) if self.has_product(x) => return self.product(inst, x),
            _ => return self.called(inst, matrix.number()),
        };
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

    /// Transposes a register's 8 × 8 matrix of 16-bit elements.
    fn transposed(&mut self, v: Operand) -> Operand {
        let parts = self.out.ir.bitcast(v, Type::I16.times(64));
        let parts = self.out.ir.shuffle(parts, None, (0..64).map(|n| n % 8 * 8 + n / 8));
        self.out.ir.bitcast(parts, self.width().words())
    }

    /// `ldmatrix` and `stmatrix` of rows of 16-bit elements.
    fn moved(&mut self, inst: &Inst, x: Movement, number: u64) -> Result<()> {
        let count = x.registers();
        let rows = 8 * count;
        let bits = self.mask_bits();
        let addresses = self.vector(inst.args[0]);
        let stored: Vec<Operand> =
            (1..=count).filter_map(|n| inst.args.get(n)).map(|&a| self.vector(a)).collect();
        let mut own = self.out.ir.shuffle(addresses, None, 0..rows);
        if let Some(window) = self.window() {
            let window = self.out.ir.splat(window);
            let window = self.out.ir.shuffle(window, None, 0..rows);
            own = self.out.ir.bin(Bin::Sub, own, window);
        }
        let total = self.field(BLOCK, offset::SHARED_TOTAL, Type::I32);
        let end = self.out.ir.bin_int(Bin::And, total, -(ROW as i64));
        let end = self.out.ir.splat_to(end, rows);
        let inside = self.out.ir.icmp(Cmp::Ult, own, end);
        let part = self.out.ir.bin_int(Bin::And, own, ROW as i64 - 1);
        let whole = self.out.ir.icmp_int(Cmp::Eq, part, 0);
        let good = self.out.ir.bin(Bin::And, inside, whole);
        let good = self.out.ir.bitcast(good, Type::bits_of(rows));
        let good = self.out.ir.icmp_int(Cmp::Eq, good, -1);
        let all = self.out.ir.icmp_int(Cmp::Eq, bits, -1);
        let guard = self.out.ir.bin(Bin::And, good, all);
        let slots: Vec<Operand> = inst.results.iter().map(|_| self.scratch(self.width().words())).collect();
        let keep = |k: &mut Self, values: Vec<Operand>| {
            for (&slot, v) in slots.iter().zip(values) {
                k.out.ir.store(v, slot);
            }
        };
        let at = |k: &mut Self, row: usize| {
            let offset = k.out.ir.extract_lane(addresses, row);
            let offset = k.out.ir.cast(Cast::ZExt, offset, Type::I64);
            let address = k.out.ir.bin(Bin::Add, SHARED, offset);
            k.out.ir.pointer(address)
        };
        self.either(
            guard,
            |k| {
                if x.action == Action::Store {
                    for (n, &v) in stored.iter().enumerate() {
                        let v = if x.transposed { k.transposed(v) } else { v };
                        for row in 0..8 {
                            let words = k.out.ir.shuffle(v, None, 4 * row..4 * row + 4);
                            let p = at(k, 8 * n + row);
                            k.out.ir.store_as(words, p, Access::aligned(ROW as u32));
                        }
                    }
                    return;
                }
                let values = (0..count).map(|n| {
                    let rows = (0..8).map(|row| {
                        let p = at(k, 8 * n + row);
                        k.out.ir.load_as(Type::I32.times(4), p, Access::aligned(ROW as u32))
                    });
                    let rows: Vec<Operand> = rows.collect();
                    let v = k.concat(rows);
                    if x.transposed { k.transposed(v) } else { v }
                });
                let values: Vec<Operand> = values.collect();
                keep(k, values);
            },
            |k| {
                let values = k.call(inst, number);
                keep(k, values);
            },
        );
        for (&r, slot) in inst.results.iter().zip(&slots) {
            let v = self.out.ir.load(self.width().words(), *slot);
            self.define(r, Rep::Vector(v))?;
        }
        Ok(())
    }

    /// Calls the runtime and defines the results.
    fn called(&mut self, inst: &Inst, number: u64) -> Result<()> {
        let values = self.call(inst, number);
        inst.results.iter().zip(values).try_for_each(|(&r, v)| self.define(r, Rep::Vector(v)))
    }

    /// Calls the runtime with operands as `[register][lane]`; the results have the same layout.
    fn call(&mut self, inst: &Inst, number: u64) -> Vec<Operand> {
        let size = |k: &Self, values: &[Value]| -> usize {
            values.iter().map(|&v| k.func_ty(v).bytes() as usize * LANES).sum()
        };
        let sizes = [size(self, &inst.args), size(self, &inst.results)];
        let most = self.out.matrices.get_or_insert(sizes);
        // At least one byte: the slots must exist.
        *most = [most[0].max(sizes[0]).max(1), most[1].max(sizes[1]).max(1)];
        let [args, results] = PLACES.map(|place| Operand::local(Type::PTR, place));
        let mut at = 0;
        for &a in &inst.args[..inst.args.len().saturating_sub(1)] {
            let v = self.vector(a);
            let p = self.out.ir.offset(args, at);
            self.out.ir.store_as(v, p, IN_SLOT);
            at += v.ty().bytes();
        }
        self.set_field(offset::W_LINE, Operand::i32(i64::from(inst.loc.line)));
        let runtime = self.field(BLOCK, offset::RUNTIME, Type::PTR);
        let f = self.field(runtime, offset::MATRIX, Type::PTR);
        let bits = self.mask_bits();
        let arguments = [WARP, Operand::i64(number as i64), bits, args, results].map(Into::into);
        let code = self.out.ir.call(Callee::Pointer(f), Type::I32, arguments);
        let failed = self.out.ir.icmp_int(Cmp::Ne, code, 0);
        let next = self.out.ir.fresh("called");
        self.out.ir.br_if(failed, FAULT, next);
        self.out.ir.label(next);
        let mut at = 0;
        let taken = inst.results.iter().map(|&r| {
            let ty = self.width().vector(self.func_ty(r));
            let p = self.out.ir.offset(results, at);
            at += ty.bytes();
            self.out.ir.load_as(ty, p, IN_SLOT)
        });
        taken.collect()
    }

    /// Declares the slots, once their sizes are known.
    pub fn matrix_places(&mut self) {
        for (place, size) in PLACES.iter().zip(self.out.matrices.unwrap_or_default()) {
            if size > 0 {
                self.declare(*place, Type::I8, size);
            }
        }
    }
}
