//! Kernels of a given size, to measure costs that grow with it: random arithmetic, loads and stores on many
//! registers.

use std::fmt::Write as _;

/// The control flow of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing.
    Straight,
    /// A divergent branch with two targets every dozen instructions.
    Branchy,
    /// Divergent loops of 24 instructions.
    Loops,
    /// A barrier every 50 instructions.
    Barrier,
    /// Four barriers, and one eighth as many values as instructions that are live across them.
    Crossing,
    /// A divergent branch to a random target every five instructions, so that loops have several entries.
    Unstructured,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 6] =
        [Kind::Straight, Kind::Branchy, Kind::Loops, Kind::Barrier, Kind::Crossing, Kind::Unstructured];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Straight => "straight",
            Kind::Branchy => "branchy",
            Kind::Loops => "loops",
            Kind::Barrier => "barrier",
            Kind::Crossing => "crossing",
            Kind::Unstructured => "unstructured",
        }
    }

    /// The kind of this name.
    pub fn named(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|k| k.name() == name)
    }
}

/// Pseudo-random choices from a fixed seed.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        ((self.0 >> 33) as usize) % n
    }
}

struct Writer {
    random: Random,
    text: String,
    /// Number of instructions written so far.
    count: usize,
    /// Number of registers of each type.
    registers: usize,
    labels: usize,
}

impl Writer {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "    {line}");
        self.count += 1;
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("L{}", self.labels)
    }

    /// Arithmetic on random registers, or a memory access.
    fn step(&mut self) {
        let n = self.registers;
        let [d, a, b, c] = std::array::from_fn(|_| self.random.below(n));
        let at = 4 * self.random.below(1024);
        let line = match self.random.below(16) {
            0..=2 => format!("add.s32 %r{d}, %r{a}, %r{b};"),
            3 => format!("sub.s32 %r{d}, %r{a}, %r{b};"),
            4 => format!("xor.b32 %r{d}, %r{a}, %r{b};"),
            5 => format!("mad.lo.s32 %r{d}, %r{a}, %r{b}, %r{c};"),
            6 => format!("min.s32 %r{d}, %r{a}, %r{b};"),
            7 => format!("shr.u32 %r{d}, %r{a}, {};", at / 4 % 32),
            8 | 9 => format!("fma.rn.f32 %f{d}, %f{a}, %f{b}, %f{c};"),
            10 | 11 => format!("add.f32 %f{d}, %f{a}, %f{b};"),
            12 => format!("mul.f32 %f{d}, %f{a}, %f{b};"),
            13 => format!("ld.global.u32 %r{d}, [%in+{at}];"),
            14 => format!("ld.global.f32 %f{d}, [%in+{at}];"),
            _ => format!("st.global.u32 [%out+{at}], %r{a};"),
        };
        self.line(&line);
    }

    /// Writes steps until there are `until` instructions.
    fn steps(&mut self, until: usize) {
        while self.count < until {
            self.step();
        }
    }

    fn condition(&mut self) {
        let (a, b) = (self.random.below(self.registers), self.random.below(self.registers));
        self.line(&format!("setp.lt.s32 %p, %r{a}, %r{b};"));
    }
}

/// The PTX of kernel `k(in, out)` with about `size` instructions.
pub fn kernel(kind: Kind, size: usize) -> String {
    // Half of them are integers, half floats.
    let registers = if kind == Kind::Crossing { size / 16 } else { (size / 8).min(24) }.max(2);
    let mut w = Writer { random: Random(size as u64), text: String::new(), count: 0, registers, labels: 0 };
    for line in [
        "ld.param.u64 %in, [in];",
        "ld.param.u64 %out, [out];",
        "mov.u32 %t, %tid.x;",
        "mad.wide.u32 %in, %t, 4, %in;",
        "mad.wide.u32 %out, %t, 4, %out;",
    ] {
        w.line(line);
    }
    for i in 0..registers {
        w.line(&format!("ld.global.u32 %r{i}, [%in+{}];", 4096 + 4 * i));
        w.line(&format!("ld.global.f32 %f{i}, [%in+{}];", 65536 + 4 * i));
    }
    let (first, end) = (w.count, size.saturating_sub(2 * registers + 1));
    while w.count < end {
        match kind {
            Kind::Straight => w.steps(end),
            Kind::Branchy => {
                let (other, join) = (w.label(), w.label());
                w.condition();
                w.line(&format!("@%p bra {other};"));
                w.steps(w.count + 5);
                w.line(&format!("bra {join};"));
                let _ = writeln!(w.text, "{other}:");
                w.steps(w.count + 5);
                let _ = writeln!(w.text, "{join}:");
            }
            Kind::Loops => {
                let head = w.label();
                w.line("and.b32 %n, %t, 7;");
                let _ = writeln!(w.text, "{head}:");
                w.steps(w.count + 20);
                w.line("sub.s32 %n, %n, 1;");
                w.line("setp.gt.s32 %p, %n, 0;");
                w.line(&format!("@%p bra {head};"));
            }
            Kind::Barrier => {
                w.steps(end.min(w.count + 49));
                w.line("bar.sync 0;");
            }
            Kind::Crossing => {
                w.steps(end.min(w.count + (end - first).div_ceil(5)));
                w.line("bar.sync 0;");
            }
            Kind::Unstructured => {
                let places = (end - first).div_ceil(5);
                for place in 0..places {
                    let _ = writeln!(w.text, "L{place}:");
                    w.steps(w.count + 3);
                    w.condition();
                    let anywhere = w.random.below(places);
                    w.line(&format!("@%p bra L{anywhere};"));
                }
            }
        }
    }
    for i in 0..registers {
        w.line(&format!("st.global.u32 [%out+{}], %r{i};", 4096 + 4 * i));
        w.line(&format!("st.global.f32 [%out+{}], %f{i};", 65536 + 4 * i));
    }
    w.line("ret;");
    format!(
        ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out) {{\n    \
         .reg .b32 %r<{registers}>, %t, %n;\n    .reg .f32 %f<{registers}>;\n    .reg .b64 %in, %out;\n    .reg .pred %p;\n{}}}\n",
        w.text
    )
}
