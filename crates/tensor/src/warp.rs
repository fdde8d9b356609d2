//! The plain path: products computed element by element.

use crate::LANES;
use crate::format::{Float, Format};
use crate::fragment;
use crate::mma::Mma;
use crate::{fast, scale, sparse, sum};

/// The instruction that computes a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// `mma`.
    Warp,
    /// `wgmma`.
    Warpgroup,
}

/// Elements of the three matrices: the stored elements of `a` row by row, `b` column by column, `c` row by
/// row.
pub(crate) struct Tile {
    pub a: Vec<u64>,
    pub b: Vec<u64>,
    pub c: Vec<u64>,
    /// Number of columns.
    pub n: usize,
    /// Number of rows of `b`.
    pub k: usize,
    /// Number of stored columns of `a`.
    pub stored: usize,
}

impl Tile {
    pub(crate) fn new(x: &Mma) -> Tile {
        let (m, n, k) = (usize::from(x.m), usize::from(x.n), usize::from(x.k));
        let stored = usize::from(x.stored_k());
        Tile { a: vec![0; m * stored], b: vec![0; n * k], c: vec![0; m * n], n, k, stored }
    }

    /// Decodes the elements of `c`.
    pub(crate) fn read_c(&mut self, x: &Mma, registers: &[u32]) {
        for lane in 0..LANES {
            for e in 0..self.c.len() / LANES {
                let (row, column) = fragment::c(x, x.c, lane, e);
                self.c[row * self.n + column] = fragment::get(registers, x.c, lane, e);
            }
        }
    }
}

/// `mma` for a warp, see [`crate::Matrix::run`].
pub(crate) fn run(x: &Mma, args: &[u32], results: &mut [u32]) {
    if !fast::run(x, args, results) {
        plain(x, args, results);
    }
}

/// Runs the instruction on the plain path.
pub(crate) fn plain(x: &Mma, args: &[u32], results: &mut [u32]) {
    let [a, b, c, _] = x.counts();
    let words = |registers: usize, format: Format| registers * LANES * (format.bits().max(32) / 32) as usize;
    let split = |from: usize, len: usize| args.get(from..from + len).unwrap_or_default();
    let (a_len, b_len) = (words(a, x.held(x.a)), words(b, x.held(x.b)));
    let c_len = words(c, x.c);
    let (a, b, c) = (split(0, a_len), split(a_len, b_len), split(a_len + b_len, c_len));
    let after_c = a_len + b_len + c_len;
    let metadata = split(after_c, LANES);
    let factors = split(after_c + if x.sparse { LANES } else { 0 }, 3 * LANES);
    results.fill(0);
    for quad in 0..if x.is_quad() { 4 } else { 1 } {
        let lanes = || (0..LANES).filter(|&l| fragment::quad(x, l) == quad);
        let mut t = Tile::new(x);
        for lane in lanes() {
            for e in 0..each(x, t.a.len()) {
                let (row, column) = fragment::a(x, lane, e);
                t.a[row * t.stored + column] = x.unpadded(x.a, fragment::get(a, x.held(x.a), lane, e));
            }
            for e in 0..each(x, t.b.len()) {
                let (row, column) = fragment::b(x, lane, e);
                t.b[column * t.k + row] = x.unpadded(x.b, fragment::get(b, x.held(x.b), lane, e));
            }
            for e in 0..each(x, t.c.len()) {
                let (row, column) = fragment::c(x, x.c, lane, e);
                t.c[row * t.n + column] = fragment::get(c, x.c, lane, e);
            }
        }
        multiply_for(x, &t, [metadata, factors], Unit::Warp, lanes(), results);
    }
}

/// Elements per lane of a matrix with `count` elements.
fn each(x: &Mma, count: usize) -> usize {
    count / if x.is_quad() { 8 } else { LANES }
}

/// Computes a product and stores it in the registers of all lanes.
pub(crate) fn multiply(x: &Mma, t: &Tile, metadata: &[u32], unit: Unit, results: &mut [u32]) {
    multiply_for(x, t, [metadata, &[]], unit, 0..LANES, results);
}

fn multiply_for(
    x: &Mma,
    t: &Tile,
    [metadata, factors]: [&[u32]; 2],
    unit: Unit,
    lanes: impl Iterator<Item = usize>,
    results: &mut [u32],
) {
    let columns: Vec<Vec<usize>> = (0..if x.sparse { usize::from(x.m) } else { 0 })
        .map(|row| sparse::columns(x, metadata, row).collect())
        .collect();
    let floats = !matches!(x.a, Format::F64) && !x.is_quad() && x.a.layout().is_some();
    if floats {
        let decoded = |format: Format, from: &[u64]| -> Vec<Float> {
            from.iter().map(|&bits| sum::element(format, unit, bits)).collect()
        };
        let (mut a, mut b) = (decoded(x.a, &t.a), decoded(x.b, &t.b));
        if x.kind.factors() > 0 {
            for (at, v) in a.iter_mut().enumerate() {
                let (row, stored) = (at / t.stored, at % t.stored);
                let column = columns.get(row).map_or(stored, |c| c[stored]);
                *v = scale::of_a(x, factors, row, column).times(*v);
            }
            for (at, v) in b.iter_mut().enumerate() {
                *v = scale::of_b(x, factors, at / t.k, at % t.k).times(*v);
            }
        }
        return each_sum(x, t, [&a, &b], &columns, lanes, results, |a, b, c| sum::floats(x, unit, a, b, c));
    }
    let sum = |a: &[u64], b: &[u64], c: u64| match x.a {
        Format::F64 => sum::doubles(x, a, b, c),
        Format::B1 => sum::bits(x, a, b, c),
        Format::F16 => sum::chained(x, a, b, c),
        _ => sum::integers(x, a, b, c),
    };
    each_sum(x, t, [&t.a, &t.b], &columns, lanes, results, sum);
}

/// Sums the products of rows of `a` and columns of `b` for every element of `d` in these lanes.
fn each_sum<T: Copy>(
    x: &Mma,
    t: &Tile,
    [a, b]: [&[T]; 2],
    columns: &[Vec<usize>],
    lanes: impl Iterator<Item = usize>,
    results: &mut [u32],
    sum: impl Fn(&[T], &[T], u64) -> u64,
) {
    let mut met = Vec::with_capacity(t.stored);
    for lane in lanes {
        for e in 0..each(x, t.c.len()) {
            let (row, column) = fragment::c(x, x.d, lane, e);
            let (a, b) = (&a[row * t.stored..][..t.stored], &b[column * t.k..][..t.k]);
            let c = t.c[row * t.n + column];
            let value = match columns.get(row) {
                // The elements of b that are multiplied with the stored elements of a.
                Some(columns) => {
                    met.clear();
                    met.extend(columns.iter().map(|&c| b[c % t.k]));
                    sum(a, &met, c)
                }
                None => sum(a, b, c),
            };
            fragment::put(results, x.d, lane, e, value);
        }
    }
}
