//! Loads and stores: scalars for uniform addresses, whole vectors for rows of consecutive elements, rows by groups of lanes, and
//! gathers for the rest.

use wave::op::{MemMode, Op, Order, Space};
use wave::{Function, Inst, LANES, Ty, Value};

use super::value::Rep;
use super::{Kernel, Result};
use crate::text::{Lanes, constant_vector, int, vector};

/// Where the lanes' elements lie.
enum Where {
    /// All at one address.
    One(String),
    /// One after the other from this address; where guarded, only under the condition.
    Row(String, Option<String>),
    /// By groups; guarded as a row.
    Groups(Groups, Option<String>),
    /// Anywhere.
    Each(String),
}

/// Groups of lanes that each access a row (`row`) or one element.
#[derive(Clone)]
struct Groups {
    size: usize,
    row: bool,
    bases: Vec<String>,
}

/// One access: `count` elements of `ty` a lane.
#[derive(Clone, Copy)]
pub struct Access {
    pub ty: Ty,
    pub count: usize,
    order: Order,
    space: Space,
}

impl Access {
    /// Bytes that a lane accesses.
    pub fn size(self) -> usize {
        self.ty.bytes() as usize * self.count
    }
}

/// `0 × stride, 1 × stride …` as indices of a shuffle.
pub fn indices(list: impl Iterator<Item = usize>) -> String {
    let list: Vec<String> = list.map(|i| format!("i32 {i}")).collect();
    format!("<{} x i32> <{}>", list.len(), list.join(", "))
}

/// Loads and stores for which the processor may have no instruction where lanes' addresses are not known.
pub fn done_by_lanes(func: &Function, avx512: bool) -> usize {
    let by_lanes = |inst: &&Inst| match inst.op {
        Op::Load { ty, .. } => !has_instruction(ty, false, avx512),
        Op::Store { ty, .. } => !has_instruction(ty, true, avx512),
        _ => false,
    };
    func.blocks.iter().flat_map(|b| &b.insts).filter(by_lanes).count()
}

/// Whether the processor gathers or scatters elements of a type, as far as LLVM uses it. Narrow ones are gathered as parts of words.
fn has_instruction(ty: Ty, stores: bool, avx512: bool) -> bool {
    avx512 && (matches!(ty, Ty::I32 | Ty::I64) || !stores && matches!(ty, Ty::I8 | Ty::I16))
}

fn wide(n: usize, ty: Ty) -> String {
    format!("<{n} x i{}>", ty.bits())
}

impl Kernel<'_> {
    /// The compiler must not move memory accesses over this; the processor may.
    pub fn compiler_fence(&mut self) {
        self.text.line("call void asm sideeffect \"\", \"~{memory}\"()");
    }

    /// What is added to an address to make it real, as a scalar.
    pub fn space_base(space: Space) -> Option<&'static str> {
        match space {
            Space::Shared => Some("%shared"),
            Space::Param => Some("%params"),
            Space::Generic | Space::Global | Space::Const | Space::Local => None,
        }
    }

    /// The real address of lane 0's local memory in this warp, which each further lane's follows by the local size.
    fn local_base(&mut self) -> String {
        let thread = self.text.def("shl i32 %index, 5");
        let thread = self.text.def(format!("zext i32 {thread} to i64"));
        let size = self.local_size();
        let at = self.text.def(format!("mul i64 {thread}, {size}"));
        self.text.def(format!("add i64 %local, {at}"))
    }

    /// Bytes of local memory a thread.
    pub fn local_size(&self) -> String {
        self.local_size.map_or_else(|| "%local.size".into(), |size| size.to_string())
    }

    /// Each lane's distance from the first lane's local memory.
    fn local_steps(&self) -> String {
        match self.local_size {
            Some(size) => constant_vector(Ty::I64, &std::array::from_fn(|l| l as i64 * size as i64)),
            None => "%local.steps".into(),
        }
    }

    fn real(&mut self, scalar: &str, space: Space, offset: i64) -> String {
        let mut a = scalar.to_string();
        if let Some(base) = Self::space_base(space) {
            a = self.text.def(format!("add i64 {base}, {a}"));
        }
        if offset != 0 {
            a = self.text.def(format!("add i64 {a}, {offset}"));
        }
        a
    }

    /// Every lane's real address.
    pub fn real_vector(&mut self, address: Value, space: Space, offset: i64) -> String {
        let mut v = self.vector(address);
        if Self::space_base(space).is_some() {
            let b = self.real("0", space, offset);
            let b = self.text.splat(Ty::I64, &b);
            return self.text.def(format!("add <32 x i64> {b}, {v}"));
        }
        if space == Space::Local {
            let b = self.local_base();
            let b = self.text.splat(Ty::I64, &b);
            let steps = self.local_steps();
            let b = self.text.def(format!("add <32 x i64> {b}, {steps}"));
            v = self.text.def(format!("add <32 x i64> {b}, {v}"));
        }
        if offset != 0 {
            v = self.text.def(format!("add <32 x i64> {v}, splat (i64 {offset})"));
        }
        v
    }

    fn spot(&mut self, address: Value, a: Access, offset: i64) -> Where {
        let shape = self.shapes.values[address.index()].clone();
        if a.space == Space::Local {
            return Where::Each(self.real_vector(address, a.space, offset));
        }
        if shape.is_uniform() {
            let s = self.first_lane(address);
            return Where::One(self.real(&s, a.space, offset));
        }
        let stride = a.size() as i64;
        if shape.is_pattern() && shape.has_stride(stride) {
            let base = self.first_lane(address);
            let base = self.real(&base, a.space, offset);
            return Where::Row(base, self.guard(address));
        }
        for size in [16, 8, 4].into_iter().filter(|g| *g <= shape.group) {
            let s = shape.regroup(size);
            let row = s.has_stride(stride);
            if !row && !s.is_flat() {
                continue;
            }
            let firsts = (0..LANES).step_by(size).map(|l| self.lane(address, l)).collect::<Vec<_>>();
            let bases = firsts.iter().map(|f| self.real(f, a.space, offset)).collect();
            return Where::Groups(Groups { size, row, bases }, self.guard(address));
        }
        Where::Each(self.real_vector(address, a.space, offset))
    }

    /// Ends the launch where an address is not a multiple of the access's size. Space bases are aligned, so addresses are tested before
    /// they are added: LLVM then sees more.
    fn check_alignment(&mut self, inst: &Inst, a: Access, offset: i64, write: bool) {
        let size = a.size();
        if size <= 1 || a.space == Space::Param || self.aligned.contains(&self.at) {
            return;
        }
        let address = inst.args[0];
        let shape = self.shapes.values[address.index()].clone();
        let low = size as i64 - 1;
        let groups_fit = shape.few_groups().next().is_some() && shape.offsets.iter().all(|o| o & low == 0);
        let steps_fit = shape.group == LANES && shape.offsets.iter().all(|o| o & low == 0);
        let known = steps_fit && shape.zeros.min(31) >= size.trailing_zeros();
        if known && offset & low == 0 {
            return;
        }
        // The address that is told is read where it is needed.
        let mut lanes = None;
        let (bad, at) = if steps_fit {
            let s = self.first_lane(address);
            let s = if offset & low == 0 { s } else { self.text.def(format!("add i64 {s}, {offset}")) };
            let bits = self.text.def(format!("and i64 {s}, {low}"));
            (self.text.def(format!("icmp ne i64 {bits}, 0")), s)
        } else if self.full && groups_fit {
            self.misaligned_group(address, offset, low)
        } else {
            let v = self.vector(address);
            let v = if offset & low == 0 {
                v
            } else {
                self.text.def(format!("add <32 x i64> {v}, splat (i64 {offset})"))
            };
            let bits = self.lanes_with(&v, low);
            let any = self.text.def(format!("icmp ne i32 {bits}, 0"));
            lanes = Some(v);
            (any, String::new())
        };
        let (mis, fine) = (self.text.fresh("mis"), self.text.fresh("aligned"));
        self.text.line(format!("br i1 {bad}, label %{mis}, label %{fine}, !prof !1"));
        self.text.label(&mis);
        let first = lanes.map(|v| self.text.def(format!("extractelement <32 x i64> {v}, i32 0")));
        let at = first.unwrap_or(at);
        self.text.line(format!(
            "call void @misaligned(ptr %warp, ptr %block, i64 {at}, i32 {size}, i1 {write}, i32 {})",
            inst.loc.line
        ));
        self.text.line("br label %fault");
        self.text.label(&fine);
    }

    /// The lanes in hand whose addresses have any of these bits.
    fn lanes_with(&mut self, addresses: &str, bits: i64) -> String {
        if let Some(lanes) = self.lanes_with_by_call(addresses, bits) {
            return lanes;
        }
        let those = self.text.def(format!("and <32 x i64> {addresses}, splat (i64 {bits})"));
        let those = self.text.def(format!("icmp ne <32 x i64> {those}, zeroinitializer"));
        let mask = self.mask.clone();
        let those = self.those(&mask, &those);
        self.bits_of(&those)
    }

    /// The same for an atomic.
    pub fn check_atomic(&mut self, inst: &Inst, ty: Ty, mem: MemMode, offset: i64) {
        let a = Access { ty, count: 1, order: mem.order, space: mem.space };
        self.check_alignment(inst, a, offset, true);
    }

    /// The mask in hand for `count` elements a lane of `lanes` lanes from `first`; `None` where all lanes are there.
    fn element_mask(&mut self, first: usize, lanes: usize, count: usize) -> Option<String> {
        if self.full {
            return None;
        }
        let m = self.mask.clone();
        if lanes == LANES && count == 1 {
            return Some(m);
        }
        let list = indices((0..lanes * count).map(|i| first + i / count));
        Some(self.text.def(format!("shufflevector <32 x i1> {m}, <32 x i1> poison, {list}")))
    }

    /// Loads `n` elements in a row.
    pub fn load_row(&mut self, a: Access, at: &str, n: usize, mask: Option<String>) -> String {
        let t = wide(n, a.ty);
        let align = a.ty.bytes();
        let p = self.text.def(format!("inttoptr i64 {at} to ptr"));
        let Some(m) = mask else {
            return self.text.def(format!("load {t}, ptr {p}, align {align}"));
        };
        let name = format!("llvm.masked.load.v{n}i{}.p0", a.ty.bits());
        self.text.declarations.insert(format!("declare {t} @{name}(ptr, <{n} x i1>, {t})"));
        self.text.def(format!("call {t} @{name}(ptr align {align} {p}, <{n} x i1> {m}, {t} zeroinitializer)"))
    }

    pub fn store_row(&mut self, a: Access, at: &str, n: usize, value: &str, mask: Option<String>) {
        let t = wide(n, a.ty);
        let align = a.ty.bytes();
        let p = self.text.def(format!("inttoptr i64 {at} to ptr"));
        let Some(m) = mask else {
            self.text.line(format!("store {t} {value}, ptr {p}, align {align}"));
            return;
        };
        let name = format!("llvm.masked.store.v{n}i{}.p0", a.ty.bits());
        self.text.declarations.insert(format!("declare void @{name}({t}, ptr, <{n} x i1>)"));
        self.text.line(format!("call void @{name}({t} {value}, ptr align {align} {p}, <{n} x i1> {m})"));
    }

    /// Element `i` of each of `lanes` lanes out of a row.
    pub fn deinterleave(&mut self, a: Access, row: &str, lanes: usize, i: usize) -> String {
        if a.count == 1 {
            return row.to_string();
        }
        let t = wide(lanes * a.count, a.ty);
        let list = indices((0..lanes).map(|l| l * a.count + i));
        self.text.def(format!("shufflevector {t} {row}, {t} poison, {list}"))
    }

    /// The row that `lanes` lanes from `first` store.
    pub fn interleave(&mut self, a: Access, values: &[String], first: usize, lanes: usize) -> String {
        let t = vector(a.ty);
        if values.len() == 1 {
            if lanes == LANES {
                return values[0].clone();
            }
            let list = indices(first..first + lanes);
            return self.text.def(format!("shufflevector {t} {}, {t} poison, {list}", values[0]));
        }
        // Join vectors pairwise, then pick: lane l of value i is element i * 32 + l.
        let mut parts = values.to_vec();
        let mut n = LANES;
        while parts.len() > 1 {
            let t = wide(n, a.ty);
            let list = indices(0..2 * n);
            let pairs: Vec<(String, String)> =
                parts.chunks(2).map(|p| (p[0].clone(), p[p.len() - 1].clone())).collect();
            parts = pairs
                .into_iter()
                .map(|(x, y)| self.text.def(format!("shufflevector {t} {x}, {t} {y}, {list}")))
                .collect();
            n *= 2;
        }
        let t = wide(n, a.ty);
        let count = a.count;
        let list = indices((0..lanes * count).map(|e| e % count * LANES + first + e / count));
        self.text.def(format!("shufflevector {t} {}, {t} poison, {list}", parts[0]))
    }

    fn pointers(&mut self, addresses: &str, offset: usize) -> String {
        let a = if offset == 0 {
            addresses.to_string()
        } else {
            self.text.def(format!("add <32 x i64> {addresses}, splat (i64 {offset})"))
        };
        self.text.def(format!("inttoptr <32 x i64> {a} to <32 x ptr>"))
    }

    /// As [`has_instruction`], of the processor that code is made for.
    pub fn has_instruction(&self, ty: Ty, stores: bool) -> bool {
        has_instruction(ty, stores, self.avx512)
    }

    fn gather(&mut self, a: Access, addresses: &str) -> Vec<String> {
        self.report.scattered += 1;
        if self.in_loops(a.ty, false) {
            return self.load_each(a, addresses);
        }
        if self.avx512 && matches!(a.ty, Ty::I8 | Ty::I16) {
            return self.gather_words(a, addresses);
        }
        let t = vector(a.ty);
        (0..a.count)
            .map(|i| {
                let p = self.pointers(addresses, i * a.ty.bytes() as usize);
                self.gather_from(a.ty, &p, &t)
            })
            .collect()
    }

    fn gather_from(&mut self, ty: Ty, pointers: &str, t: &str) -> String {
        let name = format!("llvm.masked.gather.v32i{}.v32p0", ty.bits());
        self.text.declarations.insert(format!("declare {t} @{name}(<32 x ptr>, <32 x i1>, {t})"));
        let (m, align) = (self.mask.clone(), ty.bytes());
        self.text.def(format!(
            "call {t} @{name}(<32 x ptr> align {align} {pointers}, <32 x i1> {m}, {t} zeroinitializer)"
        ))
    }

    /// Gathers narrow elements by the words of 32 bits that they lie in, for which there is an instruction. A word lies in one page, so that
    /// what can be read is the same; an access is aligned, so that it lies in one word or begins with one.
    fn gather_words(&mut self, a: Access, addresses: &str) -> Vec<String> {
        let (bytes, t) = (a.ty.bytes() as usize, vector(Ty::I32));
        let inside = a.size() < 4;
        let first = if inside {
            self.text.def(format!("and <32 x i64> {addresses}, splat (i64 -4)"))
        } else {
            addresses.to_string()
        };
        let words: Vec<String> = (0..a.size().div_ceil(4))
            .map(|i| {
                let p = self.pointers(&first, i * 4);
                self.gather_from(Ty::I32, &p, &t)
            })
            .collect();
        let shift = inside.then(|| {
            let low = self.text.def(format!("trunc <32 x i64> {addresses} to {t}"));
            let low = self.text.def(format!("and {t} {low}, splat (i32 3)"));
            self.text.def(format!("shl {t} {low}, splat (i32 3)"))
        });
        (0..a.count)
            .map(|i| {
                let at = i * bytes;
                let mut word = words.get(at / 4).cloned().unwrap_or_else(|| "zeroinitializer".into());
                if let Some(shift) = &shift {
                    word = self.text.def(format!("lshr {t} {word}, {shift}"));
                }
                if at % 4 != 0 {
                    word = self.text.def(format!("lshr {t} {word}, splat (i32 {})", at % 4 * 8));
                }
                self.text.def(format!("trunc {t} {word} to {}", vector(a.ty)))
            })
            .collect()
    }

    fn scatter(&mut self, a: Access, addresses: &str, values: &[String]) {
        self.report.scattered += 1;
        if self.in_loops(a.ty, true) {
            return self.store_each(a, addresses, values);
        }
        let t = vector(a.ty);
        let name = format!("llvm.masked.scatter.v32i{}.v32p0", a.ty.bits());
        self.text.declarations.insert(format!("declare void @{name}({t}, <32 x ptr>, <32 x i1>)"));
        let m = self.mask.clone();
        for (i, v) in values.iter().enumerate() {
            let p = self.pointers(addresses, i * a.ty.bytes() as usize);
            let align = a.ty.bytes();
            self.text
                .line(format!("call void @{name}({t} {v}, <32 x ptr> align {align} {p}, <32 x i1> {m})"));
        }
    }

    /// One lane's element `i`, at its address.
    pub fn load_plain(&mut self, a: Access, at: &str, i: usize) -> String {
        self.load_one(Access { order: Order::Weak, ..a }, at, i)
    }

    /// The same for a store.
    pub fn store_plain(&mut self, a: Access, at: &str, i: usize, value: &str) {
        self.store_one(Access { order: Order::Weak, ..a }, at, i, value);
    }

    /// `load` with the words that its ordering asks for.
    fn load_one(&mut self, a: Access, at: &str, i: usize) -> String {
        let t = int(a.ty, Lanes::One);
        let bytes = a.ty.bytes() as usize;
        let at = if i == 0 { at.to_string() } else { self.text.def(format!("add i64 {at}, {}", i * bytes)) };
        let p = self.text.def(format!("inttoptr i64 {at} to ptr"));
        let whole = a.ty <= Ty::I64;
        let constant = matches!(a.space, Space::Param | Space::Const);
        match a.order {
            _ if constant => {
                self.text.def(format!("load {t}, ptr {p}, align {}, !invariant.load !0", bytes.min(8)))
            }
            Order::Weak => self.text.def(format!("load {t}, ptr {p}, align {bytes}")),
            _ if !whole => self.text.def(format!("load volatile {t}, ptr {p}, align {bytes}")),
            Order::Volatile | Order::Relaxed => {
                self.text.def(format!("load atomic volatile {t}, ptr {p} monotonic, align {bytes}"))
            }
            _ => self.text.def(format!("load atomic volatile {t}, ptr {p} acquire, align {bytes}")),
        }
    }

    fn store_one(&mut self, a: Access, at: &str, i: usize, value: &str) {
        let t = int(a.ty, Lanes::One);
        let bytes = a.ty.bytes() as usize;
        let at = if i == 0 { at.to_string() } else { self.text.def(format!("add i64 {at}, {}", i * bytes)) };
        let p = self.text.def(format!("inttoptr i64 {at} to ptr"));
        let line = match a.order {
            Order::Weak => format!("store {t} {value}, ptr {p}, align {bytes}"),
            _ if a.ty > Ty::I64 => format!("store volatile {t} {value}, ptr {p}, align {bytes}"),
            Order::Volatile | Order::Relaxed => {
                format!("store atomic volatile {t} {value}, ptr {p} monotonic, align {bytes}")
            }
            Order::Sc => format!("store atomic volatile {t} {value}, ptr {p} seq_cst, align {bytes}"),
            _ => format!("store atomic volatile {t} {value}, ptr {p} release, align {bytes}"),
        };
        self.text.line(line);
    }

    /// Where a guard decides between two ways: emits both, `fast` under the condition.
    pub fn either(&mut self, guard: &str, fast: impl FnOnce(&mut Self), slow: impl FnOnce(&mut Self)) {
        if guard == "true" {
            return fast(self);
        }
        let (a, b, end) = (self.text.fresh("row"), self.text.fresh("wrapped"), self.text.fresh("joined"));
        // An index seldom wraps: without the weights LLVM takes the loop over the runs for the hot part, and spills in the row's way.
        self.text.line(format!("br i1 {guard}, label %{a}, label %{b}, !prof !10"));
        // What one way makes is not there on the other, nor behind both.
        let before = (self.env.clone(), self.guards.clone(), self.lanes.clone());
        self.text.label(&a);
        fast(self);
        (self.env, self.guards, self.lanes) = before.clone();
        self.text.line(format!("br label %{end}"));
        self.text.label(&b);
        slow(self);
        (self.env, self.guards, self.lanes) = before;
        self.text.line(format!("br label %{end}"));
        self.text.label(&end);
    }

    fn load_rows(&mut self, a: Access, base: &str) -> Vec<String> {
        self.report.wide += 1;
        let m = self.element_mask(0, LANES, a.count);
        let row = self.load_row(a, base, LANES * a.count, m);
        (0..a.count).map(|i| self.deinterleave(a, &row, LANES, i)).collect()
    }

    /// Loads rows or single elements group by group.
    fn load_groups(&mut self, a: Access, groups: &Groups) -> Vec<String> {
        let Groups { size: group, row, ref bases } = *groups;
        self.report.wide += 1;
        let mut parts: Vec<Vec<String>> = vec![Vec::new(); a.count];
        let t = wide(group, a.ty);
        for (k, base) in bases.iter().enumerate() {
            if row {
                let m = self.element_mask(k * group, group, a.count);
                let loaded = self.load_row(a, base, group * a.count, m);
                for (i, part) in parts.iter_mut().enumerate() {
                    part.push(self.deinterleave(a, &loaded, group, i));
                }
                continue;
            }
            // One element for the group: nobody may be there to load it.
            let splats: Vec<String> = match self.element_mask(k * group, group, 1) {
                None => (0..a.count).map(|i| self.load_one(a, base, i)).collect(),
                Some(m) => {
                    let bits = self.text.def(format!("bitcast <{group} x i1> {m} to i{group}"));
                    let any = self.text.def(format!("icmp ne i{group} {bits}, 0"));
                    // An address that is always there instead, so that no branch is needed.
                    let safe = self.text.def("ptrtoint ptr @safe to i64");
                    let at = self.text.def(format!("select i1 {any}, i64 {base}, i64 {safe}"));
                    (0..a.count).map(|i| self.load_one(a, &at, i)).collect()
                }
            };
            for (part, s) in parts.iter_mut().zip(splats) {
                let one = self.text.def(format!("insertelement {t} poison, i{} {s}, i32 0", a.ty.bits()));
                part.push(
                    self.text
                        .def(format!("shufflevector {t} {one}, {t} poison, <{group} x i32> zeroinitializer")),
                );
            }
        }
        parts.into_iter().map(|p| self.concat(a.ty, group, p)).collect()
    }

    /// Joins vectors of `n` elements into one of 32.
    pub fn concat(&mut self, ty: Ty, mut n: usize, mut parts: Vec<String>) -> String {
        while parts.len() > 1 {
            let t = wide(n, ty);
            let list = indices(0..2 * n);
            let pairs: Vec<[String; 2]> = parts.chunks(2).map(|p| [p[0].clone(), p[1].clone()]).collect();
            parts = pairs
                .into_iter()
                .map(|[x, y]| self.text.def(format!("shufflevector {t} {x}, {t} {y}, {list}")))
                .collect();
            n *= 2;
        }
        parts.remove(0)
    }

    /// Loads the fast way where the guard allows it, else lane by lane.
    fn guarded_load(
        &mut self,
        a: Access,
        guard: Option<String>,
        slow: impl FnOnce(&mut Self) -> Vec<String>,
        fast: impl FnOnce(&mut Self) -> Vec<String>,
    ) -> Vec<Rep> {
        let Some(guard) = guard else {
            return fast(self).into_iter().map(Rep::Vector).collect();
        };
        let t = vector(a.ty);
        let slots: Vec<String> = (0..a.count).map(|_| self.scratch(&t)).collect();
        let put = |k: &mut Self, values: Vec<String>| {
            for (slot, v) in slots.iter().zip(values) {
                k.text.line(format!("store {t} {v}, ptr {slot}"));
            }
        };
        self.either(
            &guard,
            |k| {
                let v = fast(k);
                put(k, v);
            },
            |k| {
                let v = slow(k);
                put(k, v);
            },
        );
        slots.iter().map(|s| Rep::Vector(self.text.def(format!("load {t}, ptr {s}")))).collect()
    }

    /// `ld`.
    pub fn load(&mut self, inst: &Inst, mem: MemMode, ty: Ty, count: u8, offset: i32) -> Result<()> {
        let a = Access { ty, count: usize::from(count), order: mem.order, space: mem.space };
        let offset = i64::from(offset);
        self.check_alignment(inst, a, offset, false);
        let fenced = a.order != Order::Weak;
        if fenced {
            self.compiler_fence();
        }
        let each = |k: &mut Self| k.real_vector(inst.args[0], a.space, offset);
        let loaded: Vec<Rep> = match self.spot(inst.args[0], a, offset) {
            Where::One(at) => {
                self.report.wide += 1;
                (0..a.count).map(|i| Rep::Uniform(self.load_one(a, &at, i))).collect()
            }
            Where::Row(base, guard) => {
                let runs = |k: &mut Self| {
                    let addresses = each(k);
                    k.load_runs(a, &addresses)
                };
                self.guarded_load(a, guard, runs, |k| k.load_rows(a, &base))
            }
            Where::Groups(groups, guard) => {
                let row = groups.row;
                let slow = |k: &mut Self| {
                    let addresses = each(k);
                    if row { k.load_runs(a, &addresses) } else { k.gather(a, &addresses) }
                };
                self.guarded_load(a, guard, slow, |k| k.load_groups(a, &groups))
            }
            Where::Each(addresses) => self.gather(a, &addresses).into_iter().map(Rep::Vector).collect(),
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
        let a = Access { ty, count: usize::from(count), order: mem.order, space: mem.space };
        let offset = i64::from(offset);
        self.check_alignment(inst, a, offset, true);
        let fenced = a.order != Order::Weak;
        if fenced {
            self.compiler_fence();
        }
        let values = inst.args[1..].to_vec();
        match self.spot(inst.args[0], a, offset) {
            Where::One(at) => {
                self.report.wide += 1;
                for (i, &v) in values.iter().enumerate() {
                    let one = self.last_lane(v);
                    self.store_one(a, &at, i, &one);
                }
            }
            Where::Row(base, guard) => {
                let vectors: Vec<String> = values.iter().map(|&v| self.vector(v)).collect();
                self.report.wide += 1;
                let row = |k: &mut Self| {
                    let row = k.interleave(a, &vectors, 0, LANES);
                    let m = k.element_mask(0, LANES, a.count);
                    k.store_row(a, &base, LANES * a.count, &row, m);
                };
                match guard {
                    None => row(self),
                    Some(g) => self.either(&g, row, |k| {
                        let addresses = k.real_vector(inst.args[0], a.space, offset);
                        k.store_runs(a, &addresses, &vectors);
                    }),
                }
            }
            Where::Groups(Groups { size, row: true, bases }, guard) => {
                let vectors: Vec<String> = values.iter().map(|&v| self.vector(v)).collect();
                self.report.wide += 1;
                let rows = |k: &mut Self| {
                    for (i, base) in bases.iter().enumerate() {
                        let row = k.interleave(a, &vectors, i * size, size);
                        let m = k.element_mask(i * size, size, a.count);
                        k.store_row(a, base, size * a.count, &row, m);
                    }
                };
                match guard {
                    None => rows(self),
                    Some(g) => self.either(&g, rows, |k| {
                        let addresses = k.real_vector(inst.args[0], a.space, offset);
                        k.store_runs(a, &addresses, &vectors);
                    }),
                }
            }
            Where::Groups(..) => {
                let addresses = self.real_vector(inst.args[0], a.space, offset);
                let vectors: Vec<String> = values.iter().map(|&v| self.vector(v)).collect();
                self.scatter(a, &addresses, &vectors);
            }
            Where::Each(addresses) => {
                let vectors: Vec<String> = values.iter().map(|&v| self.vector(v)).collect();
                self.scatter(a, &addresses, &vectors);
            }
        }
        if fenced {
            self.compiler_fence();
        }
        Ok(())
    }

    /// The value of the last lane in hand: what stays where all lanes store to one place.
    fn last_lane(&mut self, v: Value) -> String {
        match self.rep(v) {
            Rep::Uniform(s) => s,
            _ if self.full => self.lane(v, LANES - 1),
            _ => {
                let w = self.vector(v);
                let bits = self.mask_bits();
                let zeros = self.text.intrinsic(
                    "i32",
                    "llvm.ctlz.i32",
                    &[("i32".into(), bits), ("i1".into(), "false".into())],
                );
                let lane = self.text.def(format!("sub i32 31, {zeros}"));
                let lane = self.text.def(format!("and i32 {lane}, 31"));
                let t = vector(self.func_ty(v));
                self.text.def(format!("extractelement {t} {w}, i32 {lane}"))
            }
        }
    }

    /// Room for a value that two ways give.
    pub fn scratch(&mut self, ty: &str) -> String {
        let name = self.text.fresh("%x");
        self.slots.push_str(&format!("  {name} = alloca {ty}, align 64\n"));
        name
    }

    /// `cvta`, and back.
    pub fn cast_space(&mut self, inst: &Inst, space: Space, to_generic: bool) -> Result<()> {
        let v = inst.args[0];
        let r = inst.results[0];
        let op = if to_generic { "add" } else { "sub" };
        if let Some(g) = self.guard(v).filter(|_| space != Space::Local) {
            self.guards.insert(r, g);
        }
        if space == Space::Local {
            let base = self.local_base();
            let base = self.text.splat(Ty::I64, &base);
            let steps = self.local_steps();
            let base = self.text.def(format!("add <32 x i64> {base}, {steps}"));
            let a = self.vector(v);
            let w = self.text.def(format!("{op} <32 x i64> {a}, {base}"));
            return self.define(r, Rep::Vector(w));
        }
        let mut rep = self.rep(v);
        if matches!(rep, Rep::Pattern { .. }) && !self.shapes.values[r.index()].is_pattern() {
            // The result varies, because lanes leave the loop around it at different times; the offsets are
            // the operand's.
            rep = Rep::Vector(self.vector(v));
        }
        let Some(base) = Self::space_base(space) else {
            return self.define(r, rep);
        };
        let rep = match rep {
            Rep::Uniform(s) => Rep::Uniform(self.text.def(format!("{op} i64 {s}, {base}"))),
            Rep::Pattern { base: s, guarded } => {
                let s = self.text.def(format!("{op} i64 {s}, {base}"));
                let guarded = guarded.map(|(g, w)| {
                    let w = w.map(|w| {
                        let b = self.text.splat(Ty::I64, base);
                        self.text.def(format!("{op} <32 x i64> {w}, {b}"))
                    });
                    (g, w)
                });
                Rep::Pattern { base: s, guarded }
            }
            Rep::Vector(w) => {
                let b = self.text.splat(Ty::I64, base);
                Rep::Vector(self.text.def(format!("{op} <32 x i64> {w}, {b}")))
            }
        };
        self.define(r, rep)
    }

    /// `isspacep`.
    pub fn is_space(&mut self, inst: &Inst, space: Space) -> Result<()> {
        let v = inst.args[0];
        let a = self.vector(v);
        let within = |k: &mut Self, base: &str, size: &str| {
            let d = k.text.def(format!("sub <32 x i64> {a}, {base}"));
            k.text.def(format!("icmp ult <32 x i64> {d}, {size}"))
        };
        let shared = |k: &mut Self| {
            let b = k.text.splat(Ty::I64, "%shared");
            let size = k.field("%block", super::offset::SHARED_REACH, "i64");
            let size = k.text.splat(Ty::I64, &size);
            within(k, &b, &size)
        };
        let local = |k: &mut Self| {
            let base = k.local_base();
            let base = k.text.splat(Ty::I64, &base);
            let steps = k.local_steps();
            let base = k.text.def(format!("add <32 x i64> {base}, {steps}"));
            let size = k.local_size();
            let size = k.text.splat(Ty::I64, &size);
            within(k, &base, &size)
        };
        let param = |k: &mut Self| {
            let b = k.text.splat(Ty::I64, "%params");
            let size = format!("splat (i64 {})", k.param_size);
            within(k, &b, &size)
        };
        let w = match space {
            Space::Shared => shared(self),
            Space::Local => local(self),
            Space::Param => param(self),
            Space::Generic => "splat (i1 true)".into(),
            Space::Global => {
                let mut any = shared(self);
                for other in [local(self), param(self)] {
                    any = self.text.def(format!("or <32 x i1> {any}, {other}"));
                }
                self.text.def(format!("xor <32 x i1> {any}, splat (i1 true)"))
            }
            Space::Const => {
                let mut any = "zeroinitializer".to_string();
                let constants: Vec<(u64, u64)> =
                    self.module.globals.iter().filter(|g| g.constant).map(|g| (g.offset, g.size)).collect();
                for (offset, size) in constants {
                    let b = self.text.def(format!("add i64 %image, {offset}"));
                    let b = self.text.splat(Ty::I64, &b);
                    let inside = within(self, &b, &format!("splat (i64 {size})"));
                    any = self.text.def(format!("or <32 x i1> {any}, {inside}"));
                }
                any
            }
        };
        self.define(inst.results[0], Rep::Vector(w))
    }
}
