//! Descriptions of a warp's matrix products.

use names::names;

use crate::format::Format;

names! {
/// How sums of f64 are rounded.
#[derive(Default)]
pub enum Round {
    /// To nearest, ties to even.
    #[default]
    Rn = "rn",
    /// Toward zero.
    Rz = "rz",
    /// Down.
    Rm = "rm",
    /// Up.
    Rp = "rp",
}}

names! {
/// How single bits are multiplied.
#[derive(Default)]
pub enum Bits {
    /// By and.
    #[default]
    And = "and",
    /// By exclusive or.
    Xor = "xor",
}}

names! {
/// The kinds of sm_120's products of floats narrower than 16 bits.
#[derive(Default)]
pub enum Kind {
    /// None of them: the products of other architectures.
    #[default]
    Plain = "plain",
    /// Elements of eight, six and four bits, each in a byte.
    F8f6f4 = "f8f6f4",
    /// The same, with a scale factor (ue8m0) for each 32 along `k`.
    Mxf8f6f4 = "mxf8f6f4",
    /// 4-bit elements, with a scale factor (ue8m0) for each 32 along `k`.
    Mxf4 = "mxf4",
    /// 4-bit elements, with a scale factor (ue8m0) for each 16 along `k`.
    Mxf4Fine = "mxf4fine",
    /// 4-bit elements, with a scale factor (ue4m3) for each 16 along `k`.
    Nvf4 = "nvf4",
}}

impl Kind {
    /// Number of scale factors along `k` of a dense product; 0 for kinds without.
    pub fn factors(self) -> usize {
        match self {
            Kind::Plain | Kind::F8f6f4 => 0,
            Kind::Mxf8f6f4 => 1,
            Kind::Mxf4 => 2,
            Kind::Mxf4Fine | Kind::Nvf4 => 4,
        }
    }

    /// Whether registers hold 4-bit elements in four bits rather than in a byte each.
    fn is_packed(self) -> bool {
        matches!(self, Kind::Mxf4 | Kind::Mxf4Fine | Kind::Nvf4)
    }
}

/// A warp's `d = a × b + c`: shapes and formats. The operands are the registers of each lane: those of `a`,
/// `b` and `c`; the metadata if `a` is sparse; and, for kinds with scale factors, those of `a`, those of `b`,
/// and a word that selects the bytes and lanes that hold them: 4 times the lane plus the byte, for `a`, and
/// from bit 8 on for `b`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Mma {
    /// Rows of `a`, `c` and `d`: 8 or 16.
    pub m: u16,
    /// Columns of `b`, `c` and `d`.
    pub n: u16,
    /// Columns of `a` (including the zeros of a sparse one) and rows of `b`.
    pub k: u16,
    /// Format of `a`.
    pub a: Format,
    /// Format of `b`.
    pub b: Format,
    /// Format of `c`.
    pub c: Format,
    /// Format of `d`.
    pub d: Format,
    /// Whether `a` is column-major (only if `k` is 4 and `a` is f16).
    pub a_by_column: bool,
    /// Whether `b` is row-major (only in the same case).
    pub b_by_row: bool,
    /// Whether integer sums saturate.
    pub saturate: bool,
    /// How sums of f64 are rounded.
    pub round: Round,
    /// How single bits are multiplied.
    pub bits: Bits,
    /// The kind of a product of narrow floats.
    pub kind: Kind,
    /// Whether `a` is sparse: half of its elements are zeros that are not stored.
    pub sparse: bool,
    /// For a sparse `a`: which lanes of each four hold the metadata.
    pub selector: u8,
    /// Whether sums of floats may be rounded wherever the processor rounds; otherwise they have an H200's
    /// bits.
    pub relaxed: bool,
}

/// The legal shapes of some formats.
struct Shapes {
    m: u16,
    n: u16,
    k: &'static [u16],
    formats: &'static [Format],
    sparse: bool,
}

const fn dense(m: u16, k: &'static [u16], formats: &'static [Format]) -> Shapes {
    Shapes { m, n: 8, k, formats, sparse: false }
}

const fn sparse(k: &'static [u16], formats: &'static [Format]) -> Shapes {
    Shapes { m: 16, n: 8, k, formats, sparse: true }
}

const SHAPES: &[Shapes] = {
    use Format::*;
    &[
        dense(8, &[4], &[F16, F64]),
        dense(16, &[8, 16], &[F16, BF16]),
        dense(16, &[4, 8], &[TF32]),
        dense(16, &[16, 32], &[E4M3, E5M2]),
        dense(16, &[4, 8, 16], &[F64]),
        dense(8, &[16], &[S8, U8]),
        dense(16, &[16, 32], &[S8, U8]),
        dense(8, &[32], &[S4, U4]),
        dense(16, &[32, 64], &[S4, U4]),
        dense(8, &[128], &[B1]),
        dense(16, &[128, 256], &[B1]),
        sparse(&[16, 32], &[F16, BF16]),
        sparse(&[8, 16], &[TF32]),
        sparse(&[64], &[E4M3, E5M2]),
        sparse(&[32, 64], &[S8, U8]),
        sparse(&[64, 128], &[S4, U4]),
    ]
};

impl Mma {
    /// Whether such an instruction exists.
    pub fn is_legal(&self) -> bool {
        use Format::*;
        if self.relaxed && !self.may_relax() {
            return false;
        }
        if self.kind != Kind::Plain {
            return self.is_legal_kind();
        }
        let shape = SHAPES.iter().any(|s| {
            (self.m, self.n, self.sparse) == (s.m, s.n, s.sparse)
                && s.k.contains(&self.k)
                && s.formats.contains(&self.a)
                && s.formats.contains(&self.b)
        });
        let formats = match self.a {
            F16 => {
                let widens = self.is_quad() && (self.c, self.d) == (F16, F32);
                self.b == F16 && matches!(self.c, F16 | F32) && (self.d == self.c || widens)
            }
            BF16 | TF32 => self.b == self.a && (self.c, self.d) == (F32, F32),
            // Sums of sparse bytes are f32.
            E4M3 | E5M2 => self.d == self.c && (self.c == F32 || self.c == F16 && !self.sparse),
            F64 => (self.c, self.d) == (F64, F64),
            _ => (self.c, self.d) == (S32, S32),
        };
        let layouts = self.is_quad() || !(self.a_by_column || self.b_by_row);
        shape && formats && layouts && self.selector < self.selectors()
    }

    fn is_legal_kind(&self) -> bool {
        use Format::*;
        let small = |f| matches!(f, E4M3 | E5M2 | E3M2 | E2M3 | E2M1);
        let packed = self.kind.is_packed();
        let elements = if packed { (self.a, self.b) == (E2M1, E2M1) } else { small(self.a) && small(self.b) };
        let halves = self.kind == Kind::F8f6f4 && (self.c, self.d) == (F16, F16);
        let k = if packed { 64 } else { 32 };
        (self.m, self.n, self.k) == (16, 8, if self.sparse { 2 * k } else { k })
            && elements
            && (halves || (self.c, self.d) == (F32, F32))
            && !(self.a_by_column || self.b_by_row || self.saturate)
            && self.selector < self.selectors()
    }

    /// The format in which registers hold elements of `a` or `b`.
    pub(crate) fn held(&self, format: Format) -> Format {
        match self.kind {
            Kind::F8f6f4 | Kind::Mxf8f6f4 => Format::U8,
            _ => format,
        }
    }

    /// Extracts an element's bits from those in a register: 4-bit elements are in the middle of a byte.
    pub(crate) fn unpadded(&self, format: Format, bits: u64) -> u64 {
        let padded = matches!(self.kind, Kind::F8f6f4 | Kind::Mxf8f6f4) && format == Format::E2M1;
        if padded { bits >> 2 & 15 } else { bits }
    }

    /// Whether it consists of four products of 8×4 and 4×8, each computed by two groups of four lanes.
    pub fn is_quad(&self) -> bool {
        self.m == 8 && self.k == 4 && self.a == Format::F16
    }

    /// Whether its elements are f64.
    pub fn of_doubles(&self) -> bool {
        self.a == Format::F64
    }

    /// Whether [`Mma::relaxed`] makes a difference: sums of floats, except four products of f16 at once,
    /// which are multiply-adds on the hardware too, and sums of f64 that are not rounded to nearest.
    pub fn may_relax(&self) -> bool {
        self.a.layout().is_some() && !self.is_quad() && self.round == Round::Rn
    }

    /// The instruction with sums that may be rounded anywhere, if it has such sums.
    pub fn relaxed(self) -> Mma {
        Mma { relaxed: self.may_relax(), ..self }
    }

    /// Number of legal selectors.
    pub fn selectors(&self) -> u8 {
        match self.metadata_lanes() {
            0 => 1,
            lanes => 4 / lanes,
        }
    }

    /// Number of lanes of each four that hold metadata.
    pub fn metadata_lanes(&self) -> u8 {
        if !self.sparse {
            return 0;
        }
        // Four bits per group of four elements (two for tf32, eight for 4-bit elements) in 16 rows, held by 8
        // groups of lanes.
        let group = match self.a {
            Format::TF32 => 2,
            Format::S4 | Format::U4 => 8,
            Format::E2M1 if self.kind.is_packed() => 8,
            _ => 4,
        };
        (self.k / group * 4 * 16 / 8 / 32).max(1) as u8
    }

    /// Number of stored columns of `a`.
    pub fn stored_k(&self) -> u16 {
        if self.sparse { self.k / 2 } else { self.k }
    }

    /// Registers per lane for a matrix of this size distributed over all lanes.
    fn registers(elements: [u16; 2], format: Format) -> usize {
        let [x, y] = elements.map(u32::from);
        (x * y * format.bits() / 32).div_ceil(format.bits().max(32)) as usize
    }

    /// Number of registers of `a`, `b`, `c` and `d`: 32-bit ones, or 64-bit for f64.
    pub fn counts(&self) -> [usize; 4] {
        // The lanes of a warp hold four products.
        let m = if self.is_quad() { 4 * self.m } else { self.m };
        let n = if self.is_quad() { 4 * self.n } else { self.n };
        [
            Mma::registers([m, self.stored_k()], self.held(self.a)),
            Mma::registers([n, self.k], self.held(self.b)),
            Mma::registers([m, self.n], self.c),
            Mma::registers([m, self.n], self.d),
        ]
    }

    /// Number of words of a lane's operands and results.
    pub(crate) fn words(&self) -> [usize; 2] {
        let [a, b, c, d] = self.counts();
        let each = |format: Format| format.bits().max(32) as usize / 32;
        let factors = if self.kind.factors() > 0 { 3 } else { 0 };
        let sums = c * each(self.c) + usize::from(self.sparse) + factors;
        [(a + b) * each(self.a) + sums, d * each(self.d)]
    }

    /// The width in bits of each operand.
    pub fn operands(&self) -> Vec<u32> {
        let [a, b, c, _] = self.counts();
        let mut bits = vec![self.a.bits().max(32); a + b];
        bits.extend(std::iter::repeat_n(self.c.bits().max(32), c));
        bits.extend(self.sparse.then_some(32));
        bits.extend(if self.kind.factors() > 0 { vec![32; 3] } else { vec![] });
        bits
    }

    /// The width in bits of each result.
    pub fn results(&self) -> Vec<u32> {
        vec![self.d.bits().max(32); self.counts()[3]]
    }
}

/// Maps the fields to bits of the instruction's number.
macro_rules! fields {
    ($do:ident, $x:ident) => {
        $do!($x, m, 5, u16);
        $do!($x, n, 9, u16);
        $do!($x, k, 9, u16);
        $do!($x, a, 5, Format);
        $do!($x, b, 5, Format);
        $do!($x, c, 5, Format);
        $do!($x, d, 5, Format);
        $do!($x, a_by_column, 1);
        $do!($x, b_by_row, 1);
        $do!($x, saturate, 1);
        $do!($x, round, 2, Round);
        $do!($x, bits, 1, Bits);
        $do!($x, kind, 3, Kind);
        $do!($x, sparse, 1);
        $do!($x, selector, 2, u8);
        $do!($x, relaxed, 1);
    };
}

impl Mma {
    /// Number of bits in an instruction's number.
    pub(crate) const BITS: u32 = 56;

    /// The instruction as a number.
    pub fn number(self) -> u64 {
        let mut number = 0u64;
        macro_rules! put {
            ($x:ident, $f:ident, $bits:literal $(, $t:ident)?) => {
                number = number << $bits | ($x.$f as u64 & ((1 << $bits) - 1));
            };
        }
        let x = self;
        fields!(put, x);
        number
    }

    /// The instruction with this number; `None` if there is none.
    pub fn of_number(number: u64) -> Option<Mma> {
        Mma::fields_of_number(number).filter(Mma::is_legal)
    }

    /// The fields encoded in a number, without checking them.
    pub(crate) fn fields_of_number(number: u64) -> Option<Mma> {
        let mut x = Mma::default();
        let mut left = Mma::BITS;
        macro_rules! take {
            ($x:ident, $f:ident, $bits:literal, u8) => {
                left -= $bits;
                $x.$f = (number >> left & ((1 << $bits) - 1)) as u8;
            };
            ($x:ident, $f:ident, $bits:literal, u16) => {
                left -= $bits;
                $x.$f = (number >> left & ((1 << $bits) - 1)) as u16;
            };
            ($x:ident, $f:ident, $bits:literal, $t:ident) => {
                left -= $bits;
                $x.$f = *$t::ALL.get((number >> left & ((1 << $bits) - 1)) as usize)?;
            };
            ($x:ident, $f:ident, $bits:literal) => {
                left -= $bits;
                $x.$f = number >> left & 1 != 0;
            };
        }
        fields!(take, x);
        (left == 0 && number >> Mma::BITS == 0).then_some(x)
    }

    /// The spelling; [`Mma::of_name`] parses it.
    pub fn name(self) -> String {
        let mut words = vec![format!("m{}n{}k{}", self.m, self.n, self.k)];
        words.extend([self.d, self.a, self.b, self.c].map(|f| f.name().to_owned()));
        words.extend(self.a_by_column.then(|| "acol".to_owned()));
        words.extend(self.b_by_row.then(|| "brow".to_owned()));
        words.extend(self.saturate.then(|| "sat".to_owned()));
        words.extend((self.round != Round::Rn).then(|| self.round.name().to_owned()));
        words.extend((self.bits != Bits::And).then(|| self.bits.name().to_owned()));
        words.extend((self.kind != Kind::Plain).then(|| self.kind.name().to_owned()));
        words.extend(self.sparse.then(|| format!("sp{}", self.selector)));
        words.extend(self.relaxed.then(|| "relaxed".to_owned()));
        words.join(".")
    }

    /// The instruction with this spelling.
    pub fn of_name(name: &str) -> Option<Mma> {
        Mma::fields_of_name(name).filter(Mma::is_legal)
    }

    /// The fields in a spelling, without checking them.
    pub(crate) fn fields_of_name(name: &str) -> Option<Mma> {
        let mut words = name.split('.');
        let (m, n, k) = shape(words.next()?)?;
        let mut format = || Format::from_name(words.next()?);
        let (d, a, b, c) = (format()?, format()?, format()?, format()?);
        let mut x = Mma { m, n, k, a, b, c, d, ..Mma::default() };
        for word in words {
            match word {
                "acol" => x.a_by_column = true,
                "brow" => x.b_by_row = true,
                "sat" => x.saturate = true,
                "relaxed" => x.relaxed = true,
                _ => {
                    if let Some(round) = Round::from_name(word) {
                        x.round = round;
                    } else if let Some(kind) = Kind::from_name(word) {
                        x.kind = kind;
                    } else if let Some(bits) = Bits::from_name(word) {
                        x.bits = bits;
                    } else {
                        x.sparse = true;
                        x.selector = word.strip_prefix("sp")?.parse().ok()?;
                    }
                }
            }
        }
        (x.name() == name).then_some(x)
    }
}

/// The numbers in the word of a shape, such as `m16n8k16`.
pub fn shape(word: &str) -> Option<(u16, u16, u16)> {
    let (m, rest) = word.strip_prefix('m')?.split_once('n')?;
    let (n, k) = rest.split_once('k')?;
    Some((m.parse().ok()?, n.parse().ok()?, k.parse().ok()?))
}
