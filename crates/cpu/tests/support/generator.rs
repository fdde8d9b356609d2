//! Random kernels: PTX that every engine must run with identical results.
//!
//! Behaviour that PTX leaves open is not generated: races, missing lanes in masks, results of approximate
//! functions, and which of several f64 NaNs is returned.

#[path = "generator/text.rs"]
mod text;

/// Number of words in the input buffer.
pub const INPUTS: usize = 256;
/// Number of words that a thread writes to the output buffer.
pub const OUTPUTS: usize = 16;
/// Number of words in the buffer that all threads update.
pub const SHARED: usize = 16;
/// Number of 32-bit registers.
const REGS: u32 = 8;
const WIDE: u32 = 4;
const FLOATS: u32 = 6;
const PREDS: u32 = 4;
/// Number of 32-bit elements in the local array.
const LOCALS: u32 = 8;
/// Number of statements in a kernel, including those inside loops and branches.
const BUDGET: u32 = 40;

/// The source of choices: given bytes, then pseudo-random numbers from a seed.
pub struct Choices<'a> {
    bytes: &'a [u8],
    state: u64,
}

impl<'a> Choices<'a> {
    /// Choices from a seed.
    pub fn of_seed(seed: u64) -> Self {
        Choices { bytes: &[], state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1 }
    }

    /// Choices from a fuzzer's bytes; all zero after them.
    pub fn of_bytes(bytes: &'a [u8]) -> Self {
        Choices { bytes, state: 0 }
    }

    fn word(&mut self) -> u64 {
        if let Some((&first, rest)) = self.bytes.split_first() {
            self.bytes = rest;
            return u64::from(first);
        }
        if self.state == 0 {
            return 0;
        }
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.state ^ self.state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, n: u32) -> u32 {
        (self.word() % u64::from(n.max(1))) as u32
    }

    fn of<'b>(&mut self, list: &[&'b str]) -> &'b str {
        list[self.below(list.len() as u32) as usize]
    }
}

/// A statement of a kernel.
#[derive(Clone, Debug)]
pub enum Statement {
    /// Instructions.
    Line(String),
    /// A branch on a predicate.
    If { pred: u32, then: Vec<Statement>, els: Vec<Statement> },
    /// A loop with up to seven iterations, given by a register's low bits, with an optional predicate that
    /// leaves it.
    Loop { count: String, leave: Option<u32>, body: Vec<Statement> },
    /// A branch through a table of two or four targets, selected by a register's low bits.
    Switch { index: String, cases: Vec<Vec<Statement>> },
    /// Two branches that end with the same collective operation, at different instructions.
    Meet { pred: u32, ways: [Vec<Statement>; 2], ends: [String; 2] },
    /// Lanes with the predicate exit.
    Exit { pred: u32 },
    /// A call from one function to the other or to itself. `%left` limits the number of calls of an
    /// activation; each callee gets one less.
    Again(String),
}

/// A kernel with its launch.
#[derive(Clone, Debug)]
pub struct Case {
    /// The body.
    pub body: Vec<Statement>,
    /// Bodies of the two functions that it calls.
    pub functions: [Vec<Statement>; 2],
    /// Blocks per grid.
    pub grid: u32,
    /// Threads per block.
    pub block: u32,
    /// The seed of the input buffer.
    pub seed: u32,
}

/// What may be generated at a point.
#[derive(Clone, Copy)]
struct Place {
    /// Whether all threads of the block reach it.
    convergent: bool,
    /// Whether warps are full.
    full: bool,
    /// Whether it is in a device function, which does not access the kernel's memory.
    function: bool,
    /// Whether it is in a loop whose next iteration may use all lanes together again.
    together: bool,
    depth: u32,
}

struct Generator<'a, 'b> {
    choices: &'a mut Choices<'b>,
    left: u32,
    exited: bool,
    /// Whether all f32 operations flush subnormals.
    flush: bool,
}

impl Generator<'_, '_> {
    fn reg(&mut self) -> String {
        format!("%r{}", self.choices.below(REGS))
    }

    fn wide(&mut self) -> String {
        format!("%q{}", self.choices.below(WIDE))
    }

    fn float(&mut self) -> String {
        format!("%f{}", self.choices.below(FLOATS))
    }

    fn pred(&mut self) -> u32 {
        self.choices.below(PREDS)
    }

    fn operand(&mut self) -> String {
        match self.choices.below(4) {
            0 => self
                .choices
                .of(&["0", "1", "2", "5", "31", "32", "255", "-1", "-7", "65535", "0x7fffffff", "0x80000000"])
                .into(),
            _ => self.reg(),
        }
    }

    fn float_operand(&mut self) -> String {
        match self.choices.below(5) {
            0 => self
                .choices
                .of(&[
                    "0f00000000",
                    "0f80000000",
                    "0f3F800000",
                    "0fBFC00000",
                    "0f7F800000",
                    "0f00400000",
                    "0f4B000001",
                ])
                .into(),
            _ => self.float(),
        }
    }

    fn integer_line(&mut self) -> String {
        let d = self.reg();
        let (a, b, c) = (self.reg(), self.operand(), self.operand());
        match self.choices.below(14) {
            0..=2 => {
                let op = self.choices.of(&[
                    "add.u32",
                    "sub.u32",
                    "mul.lo.u32",
                    "mul.hi.u32",
                    "mul.hi.s32",
                    "and.b32",
                    "or.b32",
                    "xor.b32",
                    "min.u32",
                    "max.s32",
                    "min.s32",
                    "add.sat.s32",
                    "sub.sat.s32",
                ]);
                format!("{op} {d}, {a}, {b};")
            }
            3 => {
                let op = self.choices.of(&["div.u32", "div.s32", "rem.u32", "rem.s32"]);
                format!("{op} {d}, {a}, {b};")
            }
            4 => {
                let op = self.choices.of(&["shl.b32", "shr.u32", "shr.s32"]);
                format!("{op} {d}, {a}, {b};")
            }
            5 => {
                let op = self.choices.of(&[
                    "mad.lo.u32",
                    "mad.hi.s32",
                    "sad.u32",
                    "sad.s32",
                    "bfe.u32",
                    "bfe.s32",
                ]);
                let [b, c] = if op.starts_with("bfe") { [place(b), place(c)] } else { [b, c] };
                format!("{op} {d}, {a}, {b}, {c};")
            }
            6 => format!("lop3.b32 {d}, {a}, {b}, {c}, {};", self.choices.below(256)),
            7 => {
                let op =
                    self.choices.of(&["shf.l.wrap.b32", "shf.r.clamp.b32", "prmt.b32", "shf.l.clamp.b32"]);
                format!("{op} {d}, {a}, {b}, {c};")
            }
            8 => {
                let op = self.choices.of(&[
                    "not.b32",
                    "neg.s32",
                    "abs.s32",
                    "brev.b32",
                    "clz.b32",
                    "popc.b32",
                    "bfind.u32",
                    "bfind.s32",
                ]);
                format!("{op} {d}, {a};")
            }
            9 => format!("selp.b32 {d}, {a}, {b}, %p{};", self.pred()),
            10 => {
                let e = self.reg();
                format!("bfi.b32 {d}, {a}, {e}, {}, {};", place(b), place(c))
            }
            11 => {
                let op = self.choices.of(&[
                    "cvt.u32.u8",
                    "cvt.s32.s8",
                    "cvt.u32.u16",
                    "cvt.s32.s16",
                    "cvt.sat.u8.s32",
                ]);
                format!("{op} {d}, {a};")
            }
            12 => {
                let e = self.reg();
                format!("add.cc.u32 {d}, {a}, {b}; addc.u32 {e}, {e}, {c};")
            }
            _ => {
                let op = self.choices.of(&["dp4a.s32.u32", "dp2a.lo.u32.s32"]);
                format!("{op} {d}, {a}, {b}, {c};")
            }
        }
    }

    fn wide_line(&mut self) -> String {
        let (d, a, b, r) = (self.wide(), self.wide(), self.wide(), self.reg());
        match self.choices.below(7) {
            0 => {
                let op = self.choices.of(&["mul.wide.u32", "mul.wide.s32"]);
                let s = self.reg();
                format!("{op} {d}, {r}, {s};")
            }
            1 => {
                let op = self.choices.of(&[
                    "add.u64",
                    "sub.u64",
                    "mul.lo.u64",
                    "mul.hi.u64",
                    "mul.hi.s64",
                    "xor.b64",
                ]);
                format!("{op} {d}, {a}, {b};")
            }
            2 => {
                let op = self.choices.of(&["shl.b64", "shr.u64", "shr.s64"]);
                format!("{op} {d}, {a}, {r};")
            }
            3 => format!("mov.b64 {{{r}, {}}}, {a};", self.reg()),
            4 => format!("mov.b64 {d}, {{{r}, {}}};", self.reg()),
            5 => {
                let op = self.choices.of(&["div.u64", "rem.s64", "min.s64", "max.u64"]);
                format!("{op} {d}, {a}, {b};")
            }
            _ => {
                let op = self.choices.of(&["cvt.u64.u32", "cvt.s64.s32"]);
                format!("{op} {d}, {r};")
            }
        }
    }

    /// A floating-point instruction. If the kernel flushes, every f32 operation does, and formats that cannot
    /// be flushed are not used.
    fn float_line(&mut self) -> String {
        if !self.flush {
            return self.any_float_line();
        }
        loop {
            let line = self.any_float_line();
            if line.contains(".f64") || line.contains(".bf16") {
                continue;
            }
            let mut words: Vec<String> = line.split(' ').map(String::from).collect();
            let op = &mut words[0];
            let float = op.ends_with(".f32")
                && !["mov", "selp", "cvt.rn.f32", "cvt.rz.f32"].iter().any(|o| op.starts_with(o));
            if float && !op.contains(".ftz") && op.starts_with("cvt") {
                // cvt.ROUND.TO.f32
                let place = op.match_indices('.').nth(1).map_or(0, |m| m.0);
                op.insert_str(place, ".ftz");
            } else if float && !op.contains(".ftz") {
                let rounded = [".rn", ".rz", ".rm", ".rp"].iter().any(|r| op.contains(r));
                let place = op.match_indices('.').nth(usize::from(rounded)).map_or(0, |m| m.0);
                op.insert_str(place, ".ftz");
            }
            return words.join(" ");
        }
    }

    fn any_float_line(&mut self) -> String {
        let d = self.float();
        let (a, b, c) = (self.float(), self.float_operand(), self.float());
        match self.choices.below(9) {
            0 | 1 => {
                let op = self.choices.of(&[
                    "add.f32",
                    "sub.f32",
                    "mul.f32",
                    "add.ftz.f32",
                    "mul.ftz.f32",
                    "div.rn.f32",
                    "min.f32",
                    "max.f32",
                    "add.rz.f32",
                    "mul.rp.f32",
                    "min.NaN.f32",
                ]);
                format!("{op} {d}, {a}, {b};")
            }
            2 => {
                let op = self.choices.of(&["fma.rn.f32", "fma.rn.ftz.f32", "fma.rm.f32", "fma.rn.sat.f32"]);
                format!("{op} {d}, {a}, {b}, {c};")
            }
            3 => {
                let op =
                    self.choices.of(&["neg.f32", "abs.f32", "sqrt.rn.f32", "cvt.rni.f32.f32", "rcp.rn.f32"]);
                format!("{op} {d}, {a};")
            }
            4 => {
                let op = self.choices.of(&["cvt.rn.f32.s32", "cvt.rn.f32.u32", "cvt.rz.f32.u32", "mov.b32"]);
                format!("{op} {d}, {};", self.reg())
            }
            5 => {
                let op = self.choices.of(&["cvt.rzi.s32.f32", "cvt.rni.u32.f32", "mov.b32", "mov.b32"]);
                format!("{op} {}, {a};", self.reg())
            }
            6 => format!("selp.f32 {d}, {a}, {b}, %p{};", self.pred()),
            7 => {
                let r = self.reg();
                format!(
                    "{{ .reg .f64 %x<3>; cvt.f64.f32 %x0, {a}; cvt.f64.f32 %x1, {c}; fma.rn.f64 %x2, %x0, %x1, %x0; div.rn.f64 %x2, %x2, %x1; cvt.rzi.s32.f64 {r}, %x2; }}"
                )
            }
            _ => {
                let (op, back) = if self.choices.below(2) == 0 { ("f16", "f16") } else { ("bf16", "bf16") };
                format!(
                    "{{ .reg .b16 %h<3>; cvt.rn.{op}.f32 %h0, {a}; cvt.rn.{op}.f32 %h1, {c}; fma.rn.{op} %h2, %h0, %h1, %h0; cvt.f32.{back} {d}, %h2; }}"
                )
            }
        }
    }

    fn predicate_line(&mut self) -> String {
        let d = self.pred();
        match self.choices.below(6) {
            0..=2 => {
                let op = self.choices.of(&["eq.u32", "ne.u32", "lt.s32", "lo.u32", "ge.s32", "hi.u32"]);
                let (a, b) = (self.reg(), self.operand());
                format!("setp.{op} %p{d}, {a}, {b};")
            }
            3 => {
                let op = self.choices.of(&["lt", "gtu", "neu", "num", "le.ftz"]);
                let op = if self.flush && !op.ends_with("ftz") {
                    format!("{op}.ftz.f32")
                } else {
                    format!("{op}.f32")
                };
                let (a, b) = (self.float(), self.float_operand());
                format!("setp.{op} %p{d}, {a}, {b};")
            }
            4 => {
                // A few lanes, or the warp's number.
                let (a, bits) = (self.choices.of(&["%tid.x", "%laneid", "%ctaid.x"]), self.choices.below(64));
                format!(
                    "{{ .reg .b32 %t; mov.u32 %t, {a}; and.b32 %t, %t, {bits}; setp.ne.u32 %p{d}, %t, 0; }}"
                )
            }
            _ => {
                let op = self.choices.of(&["and.pred", "or.pred", "xor.pred"]);
                let (a, b) = (self.pred(), self.pred());
                format!("{op} %p{d}, %p{a}, %p{b};")
            }
        }
    }

    fn memory_line(&mut self) -> String {
        let (d, a) = (self.reg(), self.reg());
        match self.choices.below(9) {
            0 | 1 => format!(
                "and.b32 %i0, {a}, 255; mul.wide.u32 %a0, %i0, 4; add.u64 %a0, %a0, %in; ld.global.u32 {d}, [%a0];"
            ),
            2 => format!(
                "and.b32 %i0, {a}, 127; mul.wide.u32 %a0, %i0, 8; add.u64 %a0, %a0, %in; ld.global.v2.u32 {{{d}, {}}}, [%a0];",
                {
                    // Two different registers.
                    let n: u32 = d[2..].parse().unwrap_or(0);
                    format!("%r{}", (n + 1 + self.choices.below(REGS - 1)) % REGS)
                }
            ),
            3 => format!(
                "and.b32 %i0, {a}, 7; shl.b32 %i0, %i0, 2; mov.u32 %i1, room; add.u32 %i0, %i0, %i1; st.local.u32 [%i0], {d};"
            ),
            4 => format!(
                "and.b32 %i0, {a}, 7; shl.b32 %i0, %i0, 2; mov.u32 %i1, room; add.u32 %i0, %i0, %i1; ld.local.u32 {d}, [%i0];"
            ),
            5 => format!("st.shared.u32 [%own], {a};"),
            6 => format!("ld.shared.u32 {d}, [%own];"),
            7 => {
                let op = self.choices.of(&["add.u32", "min.u32", "max.s32", "or.b32", "xor.b32", "and.b32"]);
                // Each word has one kind of update, so that the order of updates does not matter.
                let word = match op {
                    "add.u32" => 0,
                    "min.u32" => 1,
                    "max.s32" => 2,
                    "or.b32" => 3,
                    "xor.b32" => 4,
                    _ => 5,
                };
                let (space, base) =
                    if self.choices.below(2) == 0 { ("global", "%all") } else { ("shared", "%sum") };
                format!("red.{space}.{op} [{base}+{}], {a};", word * 4)
            }
            _ => format!(
                "and.b32 %i0, {a}, 1020; cvt.u64.u32 %a0, %i0; add.u64 %a0, %a0, %in; ld.global.s8 {d}, [%a0+1]; st.global.u32 [%mine+{}], {d};",
                self.choices.below(4) * 4
            ),
        }
    }

    /// A call of a function that may in turn make `left` calls.
    fn call_line(&mut self, left: &str) -> String {
        let (d, a, b) = (self.reg(), self.reg(), self.reg());
        let f = self.choices.below(2);
        format!(
            "{{ .param .b32 pa; .param .b32 pb; .param .b32 pc; .param .b32 pr; st.param.b32 [pa], {a}; st.param.b32 [pb], {b}; st.param.b32 [pc], {left}; call (pr), f{f}, (pa, pb, pc); ld.param.b32 {d}, [pr]; }}"
        )
    }

    /// An operation that all threads of a block perform together.
    fn convergent_line(&mut self, full: bool) -> String {
        let (d, a, p) = (self.reg(), self.reg(), self.pred());
        let q = self.pred();
        match self.choices.below(if full { 6 } else { 2 }) {
            0 => format!(
                "bar.sync 0; st.shared.u32 [%own], {a}; bar.sync 0; ld.shared.u32 {d}, [%other]; bar.sync 0;"
            ),
            1 => {
                let op = self.choices.of(&["popc.u32", "and.pred", "or.pred"]);
                let d = if op == "popc.u32" { d } else { format!("%p{q}") };
                format!("bar.sync 0; barrier.red.{op} {d}, 0, %p{p};")
            }
            2 | 3 => {
                let (mode, clamp) =
                    [("up", "0"), ("down", "31"), ("bfly", "31"), ("idx", "31"), ("bfly", "0x1807")]
                        [self.choices.below(5) as usize];
                let b =
                    if self.choices.below(2) == 0 { self.reg() } else { self.choices.below(32).to_string() };
                if self.choices.below(2) == 0 {
                    format!(
                        "and.b32 %i0, {b}, 31; shfl.sync.{mode}.b32 {d}|%p{q}, {a}, %i0, {clamp}, 0xffffffff;"
                    )
                } else {
                    format!("and.b32 %i0, {b}, 31; shfl.sync.{mode}.b32 {d}, {a}, %i0, {clamp}, 0xffffffff;")
                }
            }
            4 => {
                let op = self.choices.of(&["all", "any", "uni"]);
                if self.choices.below(2) == 0 {
                    format!("vote.sync.ballot.b32 {d}, %p{p}, 0xffffffff;")
                } else {
                    format!("vote.sync.{op}.pred %p{q}, %p{p}, 0xffffffff;")
                }
            }
            _ => {
                let op = self.choices.of(&[
                    "redux.sync.add.u32",
                    "redux.sync.min.s32",
                    "redux.sync.xor.b32",
                    "match.any.sync.b32",
                ]);
                format!("{op} {d}, {a}, 0xffffffff;")
            }
        }
    }

    /// One operation that all threads of a block, or all lanes in a mask, perform together at two different
    /// instructions.
    fn meeting_lines(&mut self, full: bool) -> [String; 2] {
        let kind = self.choices.below(if full { 6 } else { 2 });
        let (which, even) = (self.choices.below(3) as usize, self.choices.below(2) == 0);
        [0; 2].map(|_| {
            let (d, a, b, p, q) = (self.reg(), self.reg(), self.reg(), self.pred(), self.pred());
            // Each lane names the even or the odd lanes, whichever it belongs to.
            let own = |line: String| match even {
                true => format!(
                    "{{ .reg .b32 %m; mov.u32 %m, %laneid; and.b32 %m, %m, 1; shl.b32 %m, 0x55555555, %m; {line}, %m; }}"
                ),
                false => format!("{line}, 0xffffffff;"),
            };
            match kind {
                0 => format!(
                    "barrier.sync 0; st.shared.u32 [%own], {a}; barrier.sync 0; ld.shared.u32 {d}, [%other]; barrier.sync 0;"
                ),
                1 => {
                    let op = ["popc.u32", "and.pred", "or.pred"][which];
                    let d = if which == 0 { d } else { format!("%p{q}") };
                    format!("barrier.red.{op} {d}, 0, %p{p};")
                }
                2 => {
                    let mode = ["down", "bfly", "idx"][which];
                    format!("and.b32 %i0, {b}, 31; shfl.sync.{mode}.b32 {d}|%p{q}, {a}, %i0, 31, 0xffffffff;")
                }
                3 if which == 0 => own(format!("vote.sync.ballot.b32 {d}, %p{p}")),
                3 => own(format!("vote.sync.{}.pred %p{q}, %p{p}", ["", "any", "uni"][which])),
                4 => own(format!("redux.sync.{} {d}, {a}", ["add.u32", "min.s32", "xor.b32"][which])),
                _ => own(format!("match.any.sync.b32 {d}, {a}")),
            }
        })
    }

    fn block(&mut self, place: Place) -> Vec<Statement> {
        let count = 1 + self.choices.below(if place.depth == 0 { BUDGET } else { 6 });
        let mut list = Vec::new();
        for _ in 0..count {
            if self.left == 0 {
                break;
            }
            self.left -= 1;
            list.push(self.statement(place));
        }
        list
    }

    fn statement(&mut self, place: Place) -> Statement {
        let inner = Place { convergent: false, depth: place.depth + 1, ..place };
        let nests = place.depth < 4;
        match self.choices.below(20) {
            0 | 1 if nests => {
                let pred = self.pred();
                let then = self.block(inner);
                let els = if self.choices.below(2) == 0 { Vec::new() } else { self.block(inner) };
                Statement::If { pred, then, els }
            }
            2 if nests => {
                let leave = (self.choices.below(3) == 0).then(|| self.pred());
                Statement::Loop { count: self.reg(), leave, body: self.block(inner) }
            }
            // The same number of iterations for all threads, so the body may contain collective operations.
            3 if nests && place.convergent => {
                let inner = Place { together: true, depth: place.depth + 1, ..place };
                Statement::Loop { count: "%n".into(), leave: None, body: self.block(inner) }
            }
            4 if nests => {
                let cases = if self.choices.below(2) == 0 { 2 } else { 4 };
                let index = self.reg();
                Statement::Switch { index, cases: (0..cases).map(|_| self.block(inner)).collect() }
            }
            5 if !place.function && !place.together && place.depth > 0 && self.choices.below(4) == 0 => {
                self.exited = true;
                Statement::Exit { pred: self.pred() }
            }
            6 if nests && place.convergent => {
                let pred = self.pred();
                let inner = Place { together: true, ..inner };
                let ways = [self.block(inner), self.block(inner)];
                let ends = self.meeting_lines(place.full && !self.exited);
                Statement::Meet { pred, ways, ends }
            }
            6..=8 if place.convergent => {
                let full = place.full && !self.exited;
                Statement::Line(self.convergent_line(full))
            }
            9 if !place.function => Statement::Line(self.call_line("2")),
            9 | 10 if place.function && self.choices.below(2) == 0 => {
                Statement::Again(self.call_line("%fewer"))
            }
            10 | 11 if !place.function => Statement::Line(self.memory_line()),
            12 | 13 => Statement::Line(self.float_line()),
            14 => Statement::Line(self.wide_line()),
            15 | 16 => Statement::Line(self.predicate_line()),
            17 => {
                let line = self.integer_line();
                if line.starts_with('{') || line.contains("; ") {
                    return Statement::Line(line);
                }
                Statement::Line(format!(
                    "@{}%p{} {line}",
                    if self.choices.below(2) == 0 { "" } else { "!" },
                    self.pred()
                ))
            }
            _ => Statement::Line(self.integer_line()),
        }
    }
}

impl Case {
    /// A kernel made from the choices.
    pub fn new(choices: &mut Choices) -> Case {
        let block = [32, 64, 96, 128, 33, 50, 7][choices.below(7) as usize];
        let (grid, seed) = (1 + choices.below(4), choices.below(1 << 16));
        let flush = choices.below(3) == 0;
        let functions = [0, 1].map(|_| {
            let mut g = Generator { choices, left: 8, exited: false, flush };
            g.block(Place { convergent: false, full: false, function: true, together: false, depth: 2 })
        });
        let mut g = Generator { choices, left: BUDGET, exited: false, flush };
        let body = g.block(Place {
            convergent: true,
            full: block % 32 == 0,
            function: false,
            together: false,
            depth: 0,
        });
        Case { body, functions, grid, block, seed }
    }

    /// The contents of the input buffer: small numbers, floats and noise.
    pub fn inputs(&self) -> Vec<u32> {
        let mut noise = Choices::of_seed(u64::from(self.seed));
        (0..INPUTS)
            .map(|_| {
                let v = noise.word();
                match v % 4 {
                    0 => (v >> 8) as u32 % 64,
                    1 => ((v >> 8) as u32 % 2000) as f32 as u32,
                    2 => (((v >> 8) as u32 % 2000) as f32 / 16.0 - 40.0).to_bits(),
                    _ => (v >> 16) as u32,
                }
            })
            .collect()
    }

    /// Number of statements.
    pub fn statements(&self) -> usize {
        self.functions.iter().chain([&self.body]).map(|b| count(b)).sum()
    }

    /// The case without one statement, or with its body in its place.
    pub fn without(&self, mut at: usize, keep_inside: bool) -> Case {
        let mut case = self.clone();
        for body in case.functions.iter_mut().chain([&mut case.body]) {
            if remove(body, &mut at, keep_inside) {
                break;
            }
        }
        case
    }
}

fn count(body: &[Statement]) -> usize {
    let inside = |s: &Statement| match s {
        Statement::If { then, els, .. } => count(then) + count(els),
        Statement::Loop { body, .. } => count(body),
        Statement::Switch { cases, .. } => cases.iter().map(|c| count(c)).sum(),
        Statement::Meet { ways, .. } => ways.iter().map(|w| count(w)).sum(),
        _ => 0,
    };
    body.iter().map(|s| 1 + inside(s)).sum()
}

/// Removes statement `at`, in tree order. Returns whether it existed.
fn remove(body: &mut Vec<Statement>, at: &mut usize, keep_inside: bool) -> bool {
    for i in 0..body.len() {
        if *at == 0 {
            let old = body.remove(i);
            if keep_inside {
                let inside = match old {
                    Statement::If { then, els, .. } => [then, els].concat(),
                    Statement::Loop { body, .. } => body,
                    Statement::Switch { cases, .. } => cases.concat(),
                    Statement::Meet { ways, .. } => ways.concat(),
                    _ => Vec::new(),
                };
                body.splice(i..i, inside);
            }
            return true;
        }
        *at -= 1;
        let found = match &mut body[i] {
            Statement::If { then, els, .. } => remove(then, at, keep_inside) || remove(els, at, keep_inside),
            Statement::Loop { body, .. } => remove(body, at, keep_inside),
            Statement::Switch { cases, .. } => cases.iter_mut().any(|c| remove(c, at, keep_inside)),
            Statement::Meet { ways, .. } => ways.iter_mut().any(|w| remove(w, at, keep_inside)),
            _ => false,
        };
        if found {
            return true;
        }
    }
    false
}

/// An operand that is a bit position or count; constants are limited to 255.
fn place(operand: String) -> String {
    let is_register = operand.starts_with('%');
    if is_register || operand.parse::<u8>().is_ok() { operand } else { "255".into() }
}
