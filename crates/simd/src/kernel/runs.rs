//! Rows that may be broken: the slow way behind a guard.
//!
//! Where an index wraps inside a warp, or a group's row does, the lanes' elements still lie in a few runs. Each round takes the lowest lane
//! left, and with it all lanes whose element lies where the row through that lane's would have it.

use wave::{LANES, Ty};

use super::Kernel;
use super::memory::{Access, indices};
use crate::text::{constant_vector, vector};

impl Kernel<'_> {
    /// Goes through the runs of `addresses`; `body` gets where lane 0's element would lie, and the mask of the lanes in the run.
    fn each_run(&mut self, a: Access, addresses: &str, body: impl FnOnce(&mut Self, &str, &str)) {
        let stride = a.size();
        let left = self.scratch("i32");
        let bits = self.mask_bits();
        self.text.line(format!("store i32 {bits}, ptr {left}"));
        let (again, end) = (self.text.fresh("run"), self.text.fresh("runs.end"));
        self.text.line(format!("br label %{again}"));
        self.text.label(&again);
        let l = self.text.def(format!("load i32, ptr {left}"));
        let lane = self.first_set(&l);
        let first = self.text.def(format!("extractelement <32 x i64> {addresses}, i32 {lane}"));
        let lane = self.text.def(format!("zext i32 {lane} to i64"));
        let back = self.text.def(format!("mul i64 {lane}, {stride}"));
        let base = self.text.def(format!("sub i64 {first}, {back}"));
        let row = self.text.splat(Ty::I64, &base);
        let steps = constant_vector(Ty::I64, &std::array::from_fn(|l| (l * stride) as i64));
        let row = self.text.def(format!("add <32 x i64> {row}, {steps}"));
        let same = self.text.def(format!("icmp eq <32 x i64> {addresses}, {row}"));
        let those = self.mask_from(&l);
        let run =
            self.text.def(format!("select <32 x i1> {those}, <32 x i1> {same}, <32 x i1> zeroinitializer"));
        body(self, &base, &run);
        let taken = self.text.def(format!("bitcast <32 x i1> {run} to i32"));
        let not = self.text.def(format!("xor i32 {taken}, -1"));
        let rest = self.text.def(format!("and i32 {l}, {not}"));
        self.text.line(format!("store i32 {rest}, ptr {left}"));
        let more = self.text.def(format!("icmp ne i32 {rest}, 0"));
        self.text.line(format!("br i1 {more}, label %{again}, label %{end}"));
        self.text.label(&end);
    }

    fn run_mask(&mut self, a: Access, run: &str) -> String {
        if a.count == 1 {
            return run.to_string();
        }
        let list = indices((0..LANES * a.count).map(|i| i / a.count));
        self.text.def(format!("shufflevector <32 x i1> {run}, <32 x i1> poison, {list}"))
    }

    /// Loads element by element of each lane's run.
    pub fn load_runs(&mut self, a: Access, addresses: &str) -> Vec<String> {
        let t = vector(a.ty);
        let slots: Vec<String> = (0..a.count).map(|_| self.scratch(&t)).collect();
        for slot in &slots {
            self.text.line(format!("store {t} zeroinitializer, ptr {slot}"));
        }
        self.each_run(a, addresses, |k, base, run| {
            let mask = k.run_mask(a, run);
            let row = k.load_row(a, base, LANES * a.count, Some(mask));
            for (i, slot) in slots.iter().enumerate() {
                // Lanes of other runs were loaded as zeros.
                let new = k.deinterleave(a, &row, LANES, i);
                let old = k.text.def(format!("load {t}, ptr {slot}"));
                let both = k.text.def(format!("or {t} {old}, {new}"));
                k.text.line(format!("store {t} {both}, ptr {slot}"));
            }
        });
        slots.iter().map(|s| self.text.def(format!("load {t}, ptr {s}"))).collect()
    }

    /// Stores likewise.
    pub fn store_runs(&mut self, a: Access, addresses: &str, values: &[String]) {
        let row = self.interleave(a, values, 0, LANES);
        self.each_run(a, addresses, |k, base, run| {
            let mask = k.run_mask(a, run);
            k.store_row(a, base, LANES * a.count, &row, Some(mask));
        });
    }
}
