//! `wgmma`: products of a warpgroup with operands in shared memory (PTX ISA 9.7.15).
//!
//! Four warps compute 64 rows, each warp the 16 rows that its registers of `d` hold, so every warp computes
//! its part independently.

use crate::LANES;
use crate::fast::{self, Register};
use crate::format::Format;
use crate::fragment;
use crate::matrix::{Fault, Shared};
use crate::mma::Mma;
use crate::warp::{self, Tile};

/// A warp's part of a product. Operands: the warp's number (a multiple of four for the first warp of the
/// warpgroup), the registers or the descriptor of `a`, the descriptor of `b`, the metadata if `a` is sparse,
/// whether the product is added to `d` (1) or replaces it (0), and the registers of `d`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Wgmma {
    /// Shapes and formats of a warp's part; `m` is 16. `a_by_column` and `b_by_row`: rows in shared memory
    /// run along `m` and `n`.
    pub product: Mma,
    /// Whether `a` is in shared memory.
    pub a_in_shared: bool,
    /// Whether `a` is multiplied by −1.
    pub negate_a: bool,
    /// Whether `b` is multiplied by −1.
    pub negate_b: bool,
}

/// Number of bits in the product's number.
const PRODUCT: u32 = Mma::BITS;

impl Wgmma {
    /// Whether such an instruction exists.
    pub fn is_legal(&self) -> bool {
        use Format::*;
        let x = &self.product;
        let (k, b, sums): (u16, &[Format], &[Format]) = match x.a {
            F16 => (16, &[F16], &[F16, F32]),
            BF16 => (16, &[BF16], &[F32]),
            TF32 => (8, &[TF32], &[F32]),
            E4M3 | E5M2 => (32, &[E4M3, E5M2], &[F16, F32]),
            S8 | U8 => (32, &[S8, U8], &[S32]),
            B1 => (256, &[B1], &[S32]),
            _ => return false,
        };
        let integers = sums == [S32];
        let halves = matches!(x.a, F16 | BF16);
        let columns = x.n >= 8 && x.n <= 256 && x.n.is_multiple_of(8);
        let columns = columns && (!integers || x.n <= 24 || x.n.is_multiple_of(16));
        (x.m, x.k) == (16, if x.sparse { 2 * k } else { k })
            && columns
            && b.contains(&x.b)
            && sums.contains(&x.d)
            && x.c == x.d
            && (halves || !x.a_by_column && !x.b_by_row)
            && (self.a_in_shared || !x.a_by_column)
            && !(integers && (self.negate_a || self.negate_b))
            && !(x.a == B1 && (x.sparse || x.saturate))
            && x.selector < x.selectors()
            && !(x.relaxed && integers)
    }

    /// The instruction as a number.
    pub fn number(&self) -> u64 {
        let flags =
            u64::from(self.a_in_shared) | u64::from(self.negate_a) << 1 | u64::from(self.negate_b) << 2;
        flags << PRODUCT | self.product.number()
    }

    /// The instruction with this number; `None` if there is none.
    pub fn of_number(number: u64) -> Option<Wgmma> {
        let flag = |n: u32| number >> (PRODUCT + n) & 1 == 1;
        let x = Wgmma {
            product: Mma::fields_of_number(number & ((1 << PRODUCT) - 1))?,
            a_in_shared: flag(0),
            negate_a: flag(1),
            negate_b: flag(2),
        };
        (number >> (PRODUCT + 3) == 0 && x.is_legal()).then_some(x)
    }

    /// The spelling; [`Wgmma::of_name`] parses it.
    pub fn name(&self) -> String {
        let mut name = self.product.name();
        for (flag, word) in [(self.a_in_shared, ".sa"), (self.negate_a, ".na"), (self.negate_b, ".nb")] {
            name += if flag { word } else { "" };
        }
        name
    }

    /// The instruction with this spelling.
    pub fn of_name(name: &str) -> Option<Wgmma> {
        let mut x = Wgmma::default();
        let mut product = Vec::new();
        for word in name.split('.') {
            match word {
                "sa" => x.a_in_shared = true,
                "na" => x.negate_a = true,
                "nb" => x.negate_b = true,
                _ => product.push(word),
            }
        }
        x.product = Mma::fields_of_name(&product.join("."))?;
        (x.is_legal() && x.name() == name).then_some(x)
    }

    /// Number of words of a lane's operands and results.
    pub(crate) fn words(&self) -> [usize; 2] {
        let [a, _, _, d] = self.product.counts();
        let own = if self.a_in_shared { 2 } else { a };
        [1 + own + 2 + usize::from(self.product.sparse) + 1 + d, d]
    }

    /// The width in bits of each operand.
    pub fn operands(&self) -> Vec<u32> {
        let [a, _, _, d] = self.product.counts();
        let mut bits = vec![32];
        bits.extend(if self.a_in_shared { vec![64] } else { vec![32; a] });
        bits.push(64);
        bits.extend(self.product.sparse.then_some(32));
        bits.push(32);
        bits.extend(std::iter::repeat_n(32, d));
        bits
    }

    /// Runs the instruction.
    pub(crate) fn run(
        &self,
        mask: u32,
        args: &[u32],
        results: &mut [u32],
        shared: &dyn Shared,
    ) -> Result<(), Fault> {
        let x = &self.product;
        let Some(lane) = (0..LANES).find(|l| mask >> l & 1 == 1) else { return Ok(()) };
        let given = Given::of(self, args, lane);
        if self.by_simd(&given, results, shared) {
            return Ok(());
        }
        let mut tile = Tile::new(x);
        if self.a_in_shared {
            let from = given.descriptor(given.a, x.a_by_column, x.a, shared);
            for row in 0..16 {
                for k in 0..tile.stored {
                    tile.a[row * tile.stored + k] = from.element(given.first_row() + row, k)?;
                }
            }
        } else {
            let registers = given.from(given.a);
            for lane in 0..LANES {
                for e in 0..16 * tile.stored / LANES {
                    let (row, column) = fragment::a(x, lane, e);
                    tile.a[row * tile.stored + column] = fragment::get(registers, x.a, lane, e);
                }
            }
        }
        let from = given.descriptor(given.b, x.b_by_row, x.b, shared);
        for column in 0..tile.n {
            for k in 0..tile.k {
                tile.b[column * tile.k + k] = from.element(column, k)?;
            }
        }
        negate(&mut tile.a, x.a, self.negate_a);
        negate(&mut tile.b, x.b, self.negate_b);
        if given.is_added_to() {
            tile.read_c(x, given.from(given.d));
        }
        results.fill(0);
        warp::multiply(x, &tile, given.from(given.metadata), warp::Unit::Warpgroup, results);
        Ok(())
    }

    /// Computes it on the fast path; false if that cannot handle the input, or if an access is out of bounds.
    fn by_simd(&self, given: &Given, results: &mut [u32], shared: &dyn Shared) -> bool {
        let x = &self.product;
        let [ra, _, _, rd] = x.counts();
        let blocks = usize::from(x.n / 8);
        let (to, _) = results.as_chunks_mut::<LANES>();
        let (Some(to), true) = (to.get_mut(..rd), fast::suits(x)) else { return false };
        let registers = |at: usize, count: usize| given.from(at).as_chunks::<LANES>().0.get(..count);
        let own;
        let a = if self.a_in_shared {
            let from = given.descriptor(given.a, x.a_by_column, x.a, shared);
            let row = |r: usize| given.first_row() + 8 * (r % 2);
            let Some(all) = (0..ra).map(|r| from.register(row(r), r / 2)).collect::<Option<Vec<_>>>() else {
                return false;
            };
            own = all;
            own.as_slice()
        } else {
            let Some(a) = registers(given.a, ra) else { return false };
            a
        };
        let from = given.descriptor(given.b, x.b_by_row, x.b, shared);
        let [_, each, _, _] = Mma { n: 8, ..*x }.counts();
        let b = (0..blocks * each).map(|r| from.register(8 * (r / each), r % each));
        let Some(b) = b.collect::<Option<Vec<_>>>() else { return false };
        let c = if given.is_added_to() { registers(given.d, rd) } else { Some(&[][..]) };
        let Some(c) = c else { return false };
        let operands = fast::Operands {
            unit: warp::Unit::Warpgroup,
            a,
            b: &b,
            c,
            metadata: given.from(given.metadata),
            negative: self.negate_a != self.negate_b,
        };
        fast::multiply(x, &operands, to)
    }
}

/// The operands of a warp: the offset of each.
struct Given<'a> {
    args: &'a [u32],
    /// The lane whose descriptors are used.
    lane: usize,
    a: usize,
    b: usize,
    metadata: usize,
    scale: usize,
    d: usize,
}

impl<'a> Given<'a> {
    fn of(x: &Wgmma, args: &'a [u32], lane: usize) -> Given<'a> {
        let [ra, ..] = x.product.counts();
        let a = LANES;
        let b = a + LANES * if x.a_in_shared { 2 } else { ra };
        let metadata = b + 2 * LANES;
        let scale = metadata + if x.product.sparse { LANES } else { 0 };
        Given { args, lane, a, b, metadata, scale, d: scale + LANES }
    }

    fn from(&self, at: usize) -> &'a [u32] {
        self.args.get(at..).unwrap_or_default()
    }

    fn word(&self, at: usize) -> u32 {
        self.args.get(at).copied().unwrap_or(0)
    }

    /// The first row of the warp.
    fn first_row(&self) -> usize {
        self.word(self.lane) as usize % 4 * 16
    }

    fn is_added_to(&self) -> bool {
        self.word(self.scale + self.lane) & 1 == 1
    }

    fn descriptor(&self, at: usize, by_mn: bool, format: Format, shared: &'a dyn Shared) -> Descriptor<'a> {
        let half = |n: usize| u64::from(self.word(at + 2 * self.lane + n));
        Descriptor::of(half(0) | half(1) << 32, by_mn, format, shared, self.lane)
    }
}

fn negate(elements: &mut [u64], format: Format, negative: bool) {
    let Some(layout) = format.layout().filter(|_| negative) else { return };
    // A tf32 has its sign at the same position as an f32.
    let sign = if format == Format::TF32 { 31 } else { layout.exponent + layout.fraction };
    elements.iter_mut().for_each(|v| *v ^= 1 << sign);
}

/// A matrix in shared memory (PTX ISA 9.7.15.5.1).
struct Descriptor<'a> {
    start: u64,
    leading: u64,
    stride: u64,
    /// Size in bytes of the row in which units of 16 bytes are swizzled; 16 without swizzling.
    swizzle: u64,
    /// Whether rows run along `m` or `n`.
    by_mn: bool,
    bits: u64,
    shared: &'a dyn Shared,
    lane: usize,
}

/// Bytes of a unit, which swizzling keeps together.
const UNIT: u64 = 16;

impl Descriptor<'_> {
    fn of(bits: u64, by_mn: bool, format: Format, shared: &dyn Shared, lane: usize) -> Descriptor<'_> {
        let field = |at: u32| (bits >> at & 0x3fff) << 4;
        let swizzle = match bits >> 62 {
            1 => 128,
            2 => 64,
            3 => 32,
            _ => 16,
        };
        Descriptor {
            start: field(0),
            leading: field(16),
            stride: field(32),
            swizzle,
            by_mn,
            bits: u64::from(format.bits()),
            shared,
            lane,
        }
    }

    /// The address of an element, given its row or column and its index along `k`.
    fn address(&self, mn: u64, k: u64) -> u64 {
        let per_unit = UNIT * 8 / self.bits;
        let at = match (self.by_mn, self.swizzle) {
            (false, 16) => mn / 8 * self.stride + mn % 8 * UNIT + k / per_unit * self.leading,
            (false, row) => mn / 8 * self.stride + mn % 8 * row + k / per_unit * UNIT,
            (true, 16) => mn / per_unit * self.stride + k / 8 * self.leading + k % 8 * UNIT,
            (true, row) => {
                let (unit, units) = (mn / per_unit, row / UNIT);
                unit / units * self.leading + unit % units * UNIT + k % 8 * row + k / 8 * self.stride
            }
        };
        let along = if self.by_mn { mn } else { k };
        let at = self.start + at + along % per_unit * self.bits / 8;
        at ^ (at >> 7 & (self.swizzle / UNIT - 1)) << 4
    }

    /// A register of a fragment: eight rows or columns from `mn` on, with the elements at `unit` of each;
    /// `None` if an access is out of bounds.
    fn register(&self, mn: usize, unit: usize) -> Option<Register> {
        let mut bytes = [[0u8; UNIT as usize]; 8];
        let per_unit = (UNIT * 8 / self.bits) as usize;
        for (n, to) in bytes.iter_mut().enumerate() {
            let (mn, k) = if self.by_mn { (mn, 8 * unit + n) } else { (mn + n, unit * per_unit) };
            if !self.shared.read(self.address(mn as u64, k as u64), to) {
                return None;
            }
        }
        let half =
            |mn: usize, k: usize| u32::from(u16::from_le_bytes([bytes[k][2 * mn], bytes[k][2 * mn + 1]]));
        Some(std::array::from_fn(|lane| {
            let (group, own) = (lane / 4, lane % 4);
            if self.by_mn {
                return half(group, 2 * own) | half(group, 2 * own + 1) << 16;
            }
            let word = &bytes[group][4 * own..][..4];
            u32::from_le_bytes([word[0], word[1], word[2], word[3]])
        }))
    }

    fn element(&self, mn: usize, k: usize) -> Result<u64, Fault> {
        let at = self.address(mn as u64, k as u64);
        let mut bytes = [0u8; 4];
        let size = (self.bits as usize).div_ceil(8).min(4);
        if !self.shared.read(at, &mut bytes[..size]) {
            return Err(Fault::Outside(at, 1 << self.lane));
        }
        let value = u64::from(u32::from_le_bytes(bytes));
        // Single bits count from the low end of the byte.
        Ok(if self.bits < 8 { value >> (k as u64 * self.bits % 8) & ((1 << self.bits) - 1) } else { value })
    }
}
