//! Loads and stores: scalars for uniform addresses, whole vectors for rows of consecutive elements, rows per
//! group of lanes, and gathers and scatters for the rest.

use wave::op::{MemMode, Op, Order, Space};
use wave::{Function, Inst, Ty, Value};

use super::exchange::Exchanged;
use super::names::{self, BLOCK, FAULT, WARP};
use super::value::Rep;
use super::{Kernel, Result};
use crate::ir::{self, Access as How, Argument, Bin, Callee, Cast, Cmp, Likely, Operand, Type};

/// Where the lanes' elements lie.
enum Where {
    /// All at one address.
    One(Operand),
    /// Consecutively from this address. If there is a guard, only where it holds.
    Row(Operand, Option<Operand>),
    /// By groups of lanes, with a guard as for a row.
    Groups(Groups, Option<Operand>),
    /// In a row whose lanes are exchanged.
    Exchanged(Exchanged),
    /// Anywhere: an address per lane.
    Each(Operand),
}

/// Groups of lanes that each access a row (`row`) or one element.
#[derive(Clone)]
struct Groups {
    size: usize,
    row: bool,
    bases: Vec<Operand>,
}

/// One access: `count` elements of `ty` per lane.
#[derive(Clone, Copy)]
pub struct Access {
    pub ty: Ty,
    pub count: usize,
    pub(super) order: Order,
    pub(super) space: Space,
    /// Whether it needs no alignment.
    pub(super) loose: bool,
}

impl Access {
    /// Bytes accessed per lane.
    pub fn size(self) -> usize {
        self.ty.bytes() as usize * self.count
    }

    /// How one element is accessed if other threads see it. For more than 64 bits see [`Access::whole`].
    fn ordered(self, order: ir::Order) -> How {
        let order = if self.ty <= Ty::I64 { order } else { ir::Order::Plain };
        How { order, volatile: true, ..How::aligned(self.ty.bytes()) }
    }

    /// The alignment that code may assume of an element's address.
    fn align(self) -> u32 {
        if self.loose { 1 } else { self.ty.bytes() }
    }
}

/// Number of loads and stores for which the processor has no instruction if the lanes' addresses are unknown.
pub fn done_by_lanes(func: &Function, avx512: bool) -> usize {
    let by_lanes = |inst: &&Inst| match inst.op {
        Op::Load { ty, .. } => !has_instruction(ty, false, avx512),
        Op::Store { ty, .. } => !has_instruction(ty, true, avx512),
        _ => false,
    };
    func.blocks.iter().flat_map(|b| &b.insts).filter(by_lanes).count()
}

/// Whether the processor gathers or scatters elements of a type, as far as LLVM uses it. Narrow elements are
/// gathered as parts of words.
fn has_instruction(ty: Ty, stores: bool, avx512: bool) -> bool {
    avx512 && (matches!(ty, Ty::I32 | Ty::I64) || !stores && matches!(ty, Ty::I8 | Ty::I16))
}

impl Kernel<'_> {
    /// A fence for the compiler only; the processor may still reorder accesses.
    pub fn compiler_fence(&mut self) {
        let callee = Callee::Assembly { text: "".into(), constraints: "~{memory}".into(), side_effect: true };
        self.out.ir.call(callee, Type::Void, []);
    }

    fn spot(&mut self, address: Value, a: Access, offset: i64) -> Where {
        let variation = self.facts.uniformity.values[address.index()].clone();
        if a.space == Space::Local {
            return Where::Each(self.real_vector(address, a.space, offset));
        }
        if variation.is_uniform() {
            let s = self.first_lane(address);
            return Where::One(self.real(s, a.space, offset));
        }
        let stride = a.size() as i64;
        if variation.is_pattern() && variation.has_stride(stride) {
            let base = self.first_lane(address);
            let base = self.real(base, a.space, offset);
            return Where::Row(base, self.guard(address));
        }
        for size in [32, 16, 8, 4].into_iter().filter(|g| *g <= variation.group && *g < variation.lanes()) {
            let s = variation.regroup(size);
            let row = s.has_stride(stride);
            if !row && !s.is_flat() {
                continue;
            }
            let firsts =
                (0..variation.lanes()).step_by(size).map(|l| self.lane(address, l)).collect::<Vec<_>>();
            let bases = firsts.iter().map(|f| self.real(*f, a.space, offset)).collect();
            return Where::Groups(Groups { size, row, bases }, self.guard(address));
        }
        if a.ty == Ty::I32
            && a.count == 1
            && let Some(row) = self.exchanged(address)
        {
            let base = self.real(row.base, a.space, offset);
            return Where::Exchanged(row.from(base));
        }
        Where::Each(self.real_vector(address, a.space, offset))
    }

    /// Ends the launch if an address is not a multiple of the access's size. Space bases are aligned, so
    /// addresses are tested before the base is added: LLVM can then simplify more tests.
    fn check_alignment(&mut self, inst: &Inst, a: Access, offset: i64, write: bool) {
        let size = a.size();
        if size <= 1 || a.loose || a.space == Space::Param || self.facts.aligned.contains(&self.cursor.at) {
            return;
        }
        let address = inst.args[0];
        let variation = self.facts.uniformity.values[address.index()].clone();
        let low = size as i64 - 1;
        let groups_fit =
            variation.few_groups().next().is_some() && variation.offsets.iter().all(|o| o & low == 0);
        let steps_fit = variation.is_whole() && variation.offsets.iter().all(|o| o & low == 0);
        let known = steps_fit && variation.zeros.min(31) >= size.trailing_zeros();
        if known && offset & low == 0 {
            return;
        }
        // The reported address is extracted only on the fault path.
        let mut lanes = None;
        let (bad, at) = if steps_fit {
            let s = self.first_lane(address);
            let s = if offset & low == 0 { s } else { self.out.ir.bin_int(Bin::Add, s, offset) };
            let bits = self.out.ir.bin_int(Bin::And, s, low);
            (self.out.ir.icmp_int(Cmp::Ne, bits, 0), s)
        } else if self.cursor.full && groups_fit {
            self.misaligned_group(address, offset, low)
        } else {
            let v = self.vector(address);
            let v = if offset & low == 0 { v } else { self.out.ir.bin_int(Bin::Add, v, offset) };
            let bits = self.lanes_with(v, low);
            let any = self.out.ir.icmp_int(Cmp::Ne, bits, 0);
            lanes = Some(v);
            (any, Operand::i64(0))
        };
        let (mis, fine) = (self.out.ir.fresh("mis"), self.out.ir.fresh("aligned"));
        self.out.ir.br_likely(bad, mis, fine, Likely::Second);
        self.out.ir.label(mis);
        let first = lanes.map(|v| self.out.ir.extract_lane(v, 0));
        let at = first.unwrap_or(at);
        let write = Operand::int(Type::I1, i64::from(write));
        let [size, line] = [size as i64, i64::from(inst.loc.line)].map(Operand::i32);
        let arguments = [WARP, BLOCK, at, size, write, line].map(Argument::from);
        self.out.ir.call(Callee::Function(names::MISALIGNED), Type::Void, arguments);
        self.out.ir.br(FAULT);
        self.out.ir.label(fine);
    }

    /// The active lanes whose addresses have any of these bits set.
    fn lanes_with(&mut self, addresses: Operand, bits: i64) -> Operand {
        if let Some(lanes) = self.lanes_with_by_call(addresses, bits) {
            return lanes;
        }
        let those = self.out.ir.bin_int(Bin::And, addresses, bits);
        let those = self.out.ir.icmp_int(Cmp::Ne, those, 0);
        let those = self.those(self.cursor.mask, those);
        self.bits_of(those)
    }

    /// The same check for an atomic.
    pub fn check_atomic(&mut self, inst: &Inst, ty: Ty, mem: MemMode, offset: i64) {
        let a = Access { ty, count: 1, order: mem.order, space: mem.space, loose: false };
        self.check_alignment(inst, a, offset, true);
    }

    /// The current mask for `count` elements of each of `lanes` lanes from `first`; `None` if all lanes are
    /// active.
    pub fn element_mask(&mut self, first: usize, lanes: usize, count: usize) -> Option<Operand> {
        if self.cursor.full {
            return None;
        }
        if lanes == self.width().lanes() && count == 1 {
            return Some(self.cursor.mask);
        }
        Some(self.out.ir.shuffle(self.cursor.mask, None, (0..lanes * count).map(|i| first + i / count)))
    }

    /// Loads `n` consecutive elements.
    pub fn load_row(&mut self, a: Access, at: Operand, n: usize, mask: Option<Operand>) -> Operand {
        let (ty, align) = (Type::wide(n, a.ty), a.align());
        let p = self.out.ir.pointer(at);
        match mask {
            None => self.out.ir.load_as(ty, p, How::aligned(align)),
            Some(m) => self.out.ir.masked_load(ty, p, align as usize, m),
        }
    }

    /// Stores a row of consecutive elements.
    pub fn store_row(&mut self, a: Access, at: Operand, row: Operand, mask: Option<Operand>) {
        let align = a.align();
        let p = self.out.ir.pointer(at);
        match mask {
            None => self.out.ir.store_as(row, p, How::aligned(align)),
            Some(m) => self.out.ir.masked_store(row, p, align as usize, m),
        }
    }

    /// Element `i` of each of `lanes` lanes, taken from a row.
    pub fn deinterleave(&mut self, a: Access, row: Operand, lanes: usize, i: usize) -> Operand {
        if a.count == 1 {
            return row;
        }
        self.out.ir.shuffle(row, None, (0..lanes).map(|l| l * a.count + i))
    }

    /// The row that `lanes` lanes from `first` store.
    pub fn interleave(&mut self, a: Access, values: &[Operand], first: usize, lanes: usize) -> Operand {
        let all = self.width().lanes();
        if let [one] = values {
            if lanes == all {
                return *one;
            }
            return self.out.ir.shuffle(*one, None, first..first + lanes);
        }
        // Join vectors pairwise, then pick: lane l of value i is element i * all + l.
        let mut parts = values.to_vec();
        let mut n = all;
        while parts.len() > 1 {
            parts = parts.chunks(2).map(|p| self.out.ir.shuffle(p[0], p.last().copied(), 0..2 * n)).collect();
            n *= 2;
        }
        let count = a.count;
        self.out.ir.shuffle(parts[0], None, (0..lanes * count).map(|e| e % count * all + first + e / count))
    }

    fn pointers(&mut self, addresses: Operand, offset: usize) -> Operand {
        let a = if offset == 0 { addresses } else { self.out.ir.bin_int(Bin::Add, addresses, offset as i64) };
        self.out.ir.pointer(a)
    }

    /// [`has_instruction`] for the target processor.
    pub fn has_instruction(&self, ty: Ty, stores: bool) -> bool {
        has_instruction(ty, stores, self.facts.avx512)
    }

    fn gather(&mut self, a: Access, addresses: Operand) -> Vec<Operand> {
        self.out.report.scattered += 1;
        if let Some(t) = a.whole() {
            return self.load_wholes(a, t, addresses);
        }
        if self.in_loops(a.ty, false) {
            return self.load_each(a, addresses);
        }
        if self.facts.avx512 && matches!(a.ty, Ty::I8 | Ty::I16) {
            return self.gather_words(a, addresses);
        }
        (0..a.count)
            .map(|i| {
                let p = self.pointers(addresses, i * a.ty.bytes() as usize);
                self.gather_from(a.ty, p, a.align())
            })
            .collect()
    }

    fn gather_from(&mut self, ty: Ty, pointers: Operand, align: u32) -> Operand {
        self.out.ir.gather(self.width().vector(ty), pointers, self.cursor.mask, align as usize)
    }

    /// Gathers narrow elements as the 32-bit words that contain them, for which there is an instruction. A
    /// word never crosses a page, so reading all of it cannot fault. An access is aligned, so it lies within
    /// one word or begins with one.
    fn gather_words(&mut self, a: Access, addresses: Operand) -> Vec<Operand> {
        let bytes = a.ty.bytes() as usize;
        let inside = a.size() < 4;
        let first = if inside { self.out.ir.bin_int(Bin::And, addresses, -4) } else { addresses };
        let words: Vec<Operand> = (0..a.size().div_ceil(4))
            .map(|i| {
                let p = self.pointers(first, i * 4);
                self.gather_from(Ty::I32, p, 4)
            })
            .collect();
        let shift = inside.then(|| {
            let low = self.out.ir.cast(Cast::Trunc, addresses, self.width().words());
            let low = self.out.ir.bin_int(Bin::And, low, 3);
            self.out.ir.bin_int(Bin::Shl, low, 3)
        });
        (0..a.count)
            .map(|i| {
                let at = i * bytes;
                let mut word = words.get(at / 4).copied().unwrap_or(Operand::zero(self.width().words()));
                if let Some(shift) = shift {
                    word = self.out.ir.bin(Bin::LShr, word, shift);
                }
                if !at.is_multiple_of(4) {
                    word = self.out.ir.bin_int(Bin::LShr, word, (at % 4 * 8) as i64);
                }
                self.out.ir.cast(Cast::Trunc, word, self.width().vector(a.ty))
            })
            .collect()
    }

    fn scatter(&mut self, a: Access, addresses: Operand, values: &[Operand]) {
        self.out.report.scattered += 1;
        if a.whole().is_some() {
            return self.store_wholes(a, addresses, values);
        }
        if self.in_loops(a.ty, true) {
            return self.store_each(a, addresses, values);
        }
        let bytes = a.ty.bytes() as usize;
        for (i, &v) in values.iter().enumerate() {
            let p = self.pointers(addresses, i * bytes);
            self.out.ir.scatter(v, p, self.cursor.mask, a.align() as usize);
        }
    }

    /// Loads one lane's element `i` without ordering.
    pub fn load_plain(&mut self, a: Access, at: Operand, i: usize) -> Operand {
        self.load_one(Access { order: Order::Weak, ..a }, at, i)
    }

    /// Stores one lane's element `i` without ordering.
    pub fn store_plain(&mut self, a: Access, at: Operand, i: usize, value: Operand) {
        self.store_one(Access { order: Order::Weak, ..a }, at, i, value);
    }

    /// Loads element `i` with the access's ordering.
    pub(super) fn load_one(&mut self, a: Access, at: Operand, i: usize) -> Operand {
        let t = Type::scalar(a.ty);
        let p = self.element_of(a, at, i);
        let constant = matches!(a.space, Space::Param | Space::Const);
        let how = match a.order {
            _ if constant => How { invariant: true, ..How::aligned(a.align().min(8)) },
            Order::Weak => How::aligned(a.align()),
            Order::Volatile | Order::Relaxed => a.ordered(ir::Order::Monotonic),
            _ => a.ordered(ir::Order::Acquire),
        };
        self.out.ir.load_as(t, p, how)
    }

    pub(super) fn store_one(&mut self, a: Access, at: Operand, i: usize, value: Operand) {
        let p = self.element_of(a, at, i);
        let how = match a.order {
            Order::Weak => How::aligned(a.align()),
            Order::Volatile | Order::Relaxed => a.ordered(ir::Order::Monotonic),
            Order::Sc => a.ordered(ir::Order::SeqCst),
            _ => a.ordered(ir::Order::Release),
        };
        self.out.ir.store_as(value, p, how);
    }

    /// The pointer to a lane's element `i`.
    fn element_of(&mut self, a: Access, at: Operand, i: usize) -> Operand {
        let bytes = i * a.ty.bytes() as usize;
        let at = if i == 0 { at } else { self.out.ir.bin_int(Bin::Add, at, bytes as i64) };
        self.out.ir.pointer(at)
    }

    /// The lanes of a row that the current block accesses. Words have masked accesses of any length.
    fn row_lanes(&self, a: Access) -> usize {
        self.cursor.few.filter(|_| matches!(a.ty, Ty::I32 | Ty::I64)).unwrap_or(self.width().lanes())
    }

    fn load_rows(&mut self, a: Access, base: Operand) -> Vec<Operand> {
        self.out.report.wide += 1;
        let lanes = self.row_lanes(a);
        let m = self.element_mask(0, lanes, a.count);
        let row = self.load_row(a, base, lanes * a.count, m);
        let each = (0..a.count).map(|i| {
            let one = self.deinterleave(a, row, lanes, i);
            self.lengthened(one)
        });
        each.collect()
    }

    /// Loads rows or single elements, group by group.
    fn load_groups(&mut self, a: Access, groups: &Groups) -> Vec<Operand> {
        let Groups { size: group, row, ref bases } = *groups;
        self.out.report.wide += 1;
        let mut parts: Vec<Vec<Operand>> = vec![Vec::new(); a.count];
        for (k, &base) in bases.iter().enumerate() {
            if row {
                let m = self.element_mask(k * group, group, a.count);
                let loaded = self.load_row(a, base, group * a.count, m);
                for (i, part) in parts.iter_mut().enumerate() {
                    part.push(self.deinterleave(a, loaded, group, i));
                }
                continue;
            }
            // One element per group: the group may have no active lane, so the load must be safe.
            let elements: Vec<Operand> = match self.element_mask(k * group, group, 1) {
                None => (0..a.count).map(|i| self.load_one(a, base, i)).collect(),
                Some(m) => {
                    let bits = self.out.ir.bitcast(m, Type::bits_of(group));
                    let any = self.out.ir.icmp_int(Cmp::Ne, bits, 0);
                    // Inactive groups load from an address that is always readable, which avoids a branch.
                    let safe = self.out.ir.cast(Cast::PtrToInt, Operand::global(names::SAFE), Type::I64);
                    let at = self.out.ir.select(any, base, safe);
                    (0..a.count).map(|i| self.load_one(a, at, i)).collect()
                }
            };
            for (part, one) in parts.iter_mut().zip(elements) {
                part.push(self.out.ir.splat_to(one, group));
            }
        }
        parts.into_iter().map(|p| self.concat(p)).collect()
    }

    /// Joins vectors of one size pairwise into one vector of all their elements.
    pub fn concat(&mut self, mut parts: Vec<Operand>) -> Operand {
        while parts.len() > 1 {
            let n = parts[0].ty().count();
            parts = parts.chunks(2).map(|p| self.out.ir.shuffle(p[0], Some(p[1]), 0..2 * n)).collect();
        }
        parts.remove(0)
    }

    /// Loads by `fast` if the guard holds, otherwise run by run.
    fn guarded_load(
        &mut self,
        a: Access,
        guard: Option<Operand>,
        slow: impl FnOnce(&mut Self) -> Vec<Operand>,
        fast: impl FnOnce(&mut Self) -> Vec<Operand>,
    ) -> Vec<Rep> {
        let Some(guard) = guard else {
            return fast(self).into_iter().map(Rep::Vector).collect();
        };
        let t = self.width().vector(a.ty);
        let slots: Vec<Operand> = (0..a.count).map(|_| self.scratch(t)).collect();
        let put = |k: &mut Self, values: Vec<Operand>| {
            for (&slot, v) in slots.iter().zip(values) {
                k.out.ir.store(v, slot);
            }
        };
        self.either(
            guard,
            |k| {
                let v = fast(k);
                put(k, v);
            },
            |k| {
                let v = slow(k);
                put(k, v);
            },
        );
        slots.iter().map(|s| Rep::Vector(self.out.ir.load(t, *s))).collect()
    }

    fn plain_access(&self, mem: MemMode, ty: Ty, count: u8) -> Access {
        let loose = self.facts.loose_words && mem.order == Order::Weak && ty >= Ty::I32;
        Access { ty, count: usize::from(count), order: mem.order, space: mem.space, loose }
    }

    /// `ld`.
    pub fn load(&mut self, inst: &Inst, mem: MemMode, ty: Ty, count: u8, offset: i32) -> Result<()> {
        let a = self.plain_access(mem, ty, count);
        let offset = i64::from(offset);
        self.check_alignment(inst, a, offset, false);
        let fenced = a.order != Order::Weak;
        if fenced {
            self.compiler_fence();
        }
        let each = |k: &mut Self| k.real_vector(inst.args[0], a.space, offset);
        let whole = a.whole();
        let loaded: Vec<Rep> = match (self.spot(inst.args[0], a, offset), whole) {
            (Where::One(at), Some(t)) => {
                self.out.report.wide += 1;
                self.load_whole(a, t, at).into_iter().map(Rep::Uniform).collect()
            }
            (_, Some(_)) => {
                let addresses = each(self);
                self.gather(a, addresses).into_iter().map(Rep::Vector).collect()
            }
            (Where::One(at), None) => {
                self.out.report.wide += 1;
                (0..a.count).map(|i| Rep::Uniform(self.load_one(a, at, i))).collect()
            }
            (Where::Row(base, guard), None) => {
                let runs = |k: &mut Self| {
                    let addresses = each(k);
                    k.load_runs(a, addresses)
                };
                self.guarded_load(a, guard, runs, |k| k.load_rows(a, base))
            }
            (Where::Groups(groups, guard), None) => {
                let row = groups.row;
                let slow = |k: &mut Self| {
                    let addresses = each(k);
                    if row { k.load_runs(a, addresses) } else { k.gather(a, addresses) }
                };
                self.guarded_load(a, guard, slow, |k| k.load_groups(a, &groups))
            }
            (Where::Exchanged(row), None) => {
                self.out.report.wide += 1;
                vec![Rep::Vector(self.load_exchanged(a, row))]
            }
            (Where::Each(addresses), None) => {
                self.gather(a, addresses).into_iter().map(Rep::Vector).collect()
            }
        };
        if fenced {
            self.compiler_fence();
        }
        for (&r, rep) in inst.results.iter().zip(loaded) {
            self.define(r, rep)?;
        }
        Ok(())
    }

    /// `st`.
    pub fn store(&mut self, inst: &Inst, mem: MemMode, ty: Ty, count: u8, offset: i32) -> Result<()> {
        let a = self.plain_access(mem, ty, count);
        let offset = i64::from(offset);
        self.check_alignment(inst, a, offset, true);
        let fenced = a.order != Order::Weak;
        if fenced {
            self.compiler_fence();
        }
        let values = inst.args[1..].to_vec();
        let place = self.spot(inst.args[0], a, offset);
        match place {
            Where::One(at) if a.whole().is_some() => {
                self.out.report.wide += 1;
                let values: Vec<Operand> = values.iter().map(|&v| self.last_lane(v)).collect();
                self.store_whole(a, at, &values);
            }
            _ if a.whole().is_some() => {
                let addresses = self.real_vector(inst.args[0], a.space, offset);
                let vectors: Vec<Operand> = values.iter().map(|&v| self.vector(v)).collect();
                self.scatter(a, addresses, &vectors);
            }
            Where::One(at) => {
                self.out.report.wide += 1;
                for (i, &v) in values.iter().enumerate() {
                    let one = self.last_lane(v);
                    self.store_one(a, at, i, one);
                }
            }
            Where::Row(base, guard) => {
                let vectors: Vec<Operand> = values.iter().map(|&v| self.vector(v)).collect();
                self.out.report.wide += 1;
                let row = |k: &mut Self| {
                    let lanes = k.row_lanes(a);
                    let row = k.interleave(a, &vectors, 0, lanes);
                    let m = k.element_mask(0, lanes, a.count);
                    k.store_row(a, base, row, m);
                };
                match guard {
                    None => row(self),
                    Some(g) => self.either(g, row, |k| {
                        let addresses = k.real_vector(inst.args[0], a.space, offset);
                        k.store_runs(a, addresses, &vectors);
                    }),
                }
            }
            Where::Groups(Groups { size, row: true, bases }, guard) => {
                let vectors: Vec<Operand> = values.iter().map(|&v| self.vector(v)).collect();
                self.out.report.wide += 1;
                let rows = |k: &mut Self| {
                    for (i, &base) in bases.iter().enumerate() {
                        let row = k.interleave(a, &vectors, i * size, size);
                        let m = k.element_mask(i * size, size, a.count);
                        k.store_row(a, base, row, m);
                    }
                };
                match guard {
                    None => rows(self),
                    Some(g) => self.either(g, rows, |k| {
                        let addresses = k.real_vector(inst.args[0], a.space, offset);
                        k.store_runs(a, addresses, &vectors);
                    }),
                }
            }
            Where::Groups(..) => {
                let addresses = self.real_vector(inst.args[0], a.space, offset);
                let vectors: Vec<Operand> = values.iter().map(|&v| self.vector(v)).collect();
                self.scatter(a, addresses, &vectors);
            }
            Where::Exchanged(row) => {
                self.out.report.wide += 1;
                let value = self.vector(values[0]);
                self.store_exchanged(a, row, value);
            }
            Where::Each(addresses) => {
                let vectors: Vec<Operand> = values.iter().map(|&v| self.vector(v)).collect();
                self.scatter(a, addresses, &vectors);
            }
        }
        if fenced {
            self.compiler_fence();
        }
        Ok(())
    }

    /// The value of the last active lane: the one that remains if all lanes store to one address.
    fn last_lane(&mut self, v: Value) -> Operand {
        match self.rep(v) {
            Rep::Uniform(_) => self.first_lane(v),
            _ if self.cursor.full => self.lane(v, self.width().lanes() - 1),
            _ => {
                let w = self.vector(v);
                let bits = self.mask_bits();
                let zeros = self.out.ir.leading_zeros(bits);
                let zeros = self.lane_number(zeros);
                let last = Operand::int(zeros.ty(), self.width().lanes() as i64 - 1);
                let lane = self.out.ir.bin(Bin::Sub, last, zeros);
                let lane = self.out.ir.bin(Bin::And, lane, last);
                self.out.ir.extract(w, lane)
            }
        }
    }

    /// A stack slot for a value that two paths produce.
    pub fn scratch(&mut self, ty: Type) -> Operand {
        let name = self.out.ir.fresh("x");
        self.declare(name, ty, 1)
    }
}
