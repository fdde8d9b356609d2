//! Broken rows: the slow path of a guarded row.
//!
//! If an index or a group's row wraps inside a warp, the lanes' elements still form a few runs. Each round
//! takes the lowest lane left and all lanes whose elements lie in the row through that lane's element.

use wave::Ty;

use super::Kernel;
use super::memory::Access;
use crate::ir::{Bin, Cast, Cmp, Operand, Type};

impl Kernel<'_> {
    /// Loops over the runs of `addresses`. `body` gets the address where lane 0's element would lie, and the
    /// mask of the run's lanes.
    fn each_run(&mut self, a: Access, addresses: Operand, body: impl FnOnce(&mut Self, Operand, Operand)) {
        let stride = a.size();
        let width = self.width();
        let left = self.scratch(width.bits());
        let bits = self.mask_bits();
        self.out.ir.store(bits, left);
        let (again, end) = (self.out.ir.fresh("run"), self.out.ir.fresh("runs.end"));
        self.out.ir.br(again);
        self.out.ir.label(again);
        let l = self.out.ir.load(width.bits(), left);
        let lane = self.first_set(l);
        let first = self.out.ir.extract(addresses, lane);
        let lane = self.out.ir.cast(Cast::ZExt, lane, Type::I64);
        let back = self.out.ir.bin_int(Bin::Mul, lane, stride as i64);
        let base = self.out.ir.bin(Bin::Sub, first, back);
        let row = self.out.ir.splat(base);
        let steps = self.out.ir.lanes(Ty::I64, |l| (l * stride) as i64);
        let row = self.out.ir.bin(Bin::Add, row, steps);
        let same = self.out.ir.icmp(Cmp::Eq, addresses, row);
        let those = self.mask_from(l);
        let run = self.out.ir.select(those, same, width.none());
        body(self, base, run);
        let taken = self.out.ir.bitcast(run, width.bits());
        let not = self.out.ir.bin_int(Bin::Xor, taken, -1);
        let rest = self.out.ir.bin(Bin::And, l, not);
        self.out.ir.store(rest, left);
        let more = self.out.ir.icmp_int(Cmp::Ne, rest, 0);
        self.out.ir.br_if(more, again, end);
        self.out.ir.label(end);
    }

    fn run_mask(&mut self, a: Access, run: Operand) -> Operand {
        if a.count == 1 {
            return run;
        }
        let list = (0..self.width().lanes() * a.count).map(|i| i / a.count);
        self.out.ir.shuffle(run, None, list)
    }

    /// Loads element by element, run by run.
    pub fn load_runs(&mut self, a: Access, addresses: Operand) -> Vec<Operand> {
        let t = self.width().vector(a.ty);
        let slots: Vec<Operand> = (0..a.count).map(|_| self.scratch(t)).collect();
        for &slot in &slots {
            self.out.ir.store(Operand::zero(t), slot);
        }
        self.each_run(a, addresses, |k, base, run| {
            let mask = k.run_mask(a, run);
            let lanes = k.width().lanes();
            let row = k.load_row(a, base, lanes * a.count, Some(mask));
            for (i, &slot) in slots.iter().enumerate() {
                // Lanes of other runs were loaded as zeros.
                let new = k.deinterleave(a, row, lanes, i);
                let old = k.out.ir.load(t, slot);
                let both = k.out.ir.bin(Bin::Or, old, new);
                k.out.ir.store(both, slot);
            }
        });
        slots.iter().map(|s| self.out.ir.load(t, *s)).collect()
    }

    /// Stores element by element, run by run.
    pub fn store_runs(&mut self, a: Access, addresses: Operand, values: &[Operand]) {
        let row = self.interleave(a, values, 0, self.width().lanes());
        self.each_run(a, addresses, |k, base, run| {
            let mask = k.run_mask(a, run);
            k.store_row(a, base, row, Some(mask));
        });
    }
}
