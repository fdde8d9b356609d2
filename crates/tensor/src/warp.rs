//! A whole instruction, by its plain meaning.

use crate::LANES;
use crate::format::Format;
use crate::fragment;
use crate::mma::Mma;
use crate::{sparse, sum};

/// Computes an instruction for a warp. `args` holds the operands' registers one after the other, each with all lanes: 32 words, of f64 64
/// (low word first); `results` likewise. What is missing in `args` is zero.
pub fn run(x: &Mma, args: &[u32], results: &mut [u32]) {
    let [a, b, c, _] = x.counts();
    let words = |registers: usize, format: Format| registers * LANES * (format.bits().max(32) / 32) as usize;
    let split = |from: usize, len: usize| args.get(from..from + len).unwrap_or_default();
    let (a_len, b_len, c_len) = (words(a, x.a), words(b, x.b), words(c, x.c));
    let operands = Operands {
        a: split(0, a_len),
        b: split(a_len, b_len),
        c: split(a_len + b_len, c_len),
        metadata: split(a_len + b_len + c_len, LANES),
    };
    results.fill(0);
    for quad in 0..if x.is_quad() { 4 } else { 1 } {
        product(x, &operands, quad, results);
    }
}

/// The registers of an instruction.
struct Operands<'a> {
    a: &'a [u32],
    b: &'a [u32],
    c: &'a [u32],
    metadata: &'a [u32],
}

/// Elements of a lane for a matrix of `count` in all lanes together.
fn each(x: &Mma, count: usize) -> usize {
    count / if x.is_quad() { 8 } else { LANES }
}

fn product(x: &Mma, o: &Operands, quad: usize, results: &mut [u32]) {
    let (m, n, k) = (usize::from(x.m), usize::from(x.n), usize::from(x.k));
    let lanes = || (0..LANES).filter(|&l| fragment::quad(x, l) == quad);
    let stored = usize::from(x.stored_k());
    // Row by row of a (what is there), column by column of b, row by row of c.
    let (mut a, mut b, mut c) = (vec![0u64; m * stored], vec![0u64; n * k], vec![0u64; m * n]);
    let columns: Vec<Vec<usize>> =
        (0..if x.sparse { m } else { 0 }).map(|row| sparse::columns(x, o.metadata, row)).collect();
    for lane in lanes() {
        for e in 0..each(x, m * stored) {
            let (row, column) = fragment::a(x, lane, e);
            a[row * stored + column] = fragment::get(o.a, x.a, lane, e);
        }
        for e in 0..each(x, k * n) {
            let (row, column) = fragment::b(x, lane, e);
            b[column * k + row] = fragment::get(o.b, x.b, lane, e);
        }
        for e in 0..each(x, m * n) {
            let (row, column) = fragment::c(x, x.c, lane, e);
            c[row * n + column] = fragment::get(o.c, x.c, lane, e);
        }
    }
    let sum = match x.a {
        Format::F64 => sum::doubles,
        Format::B1 => sum::bits,
        Format::F16 if x.is_quad() => sum::chained,
        f if f.layout().is_none() => sum::integers,
        _ => sum::floats,
    };
    for lane in lanes() {
        for e in 0..each(x, m * n) {
            let (row, column) = fragment::c(x, x.d, lane, e);
            let (a, b) = (&a[row * stored..][..stored], &b[column * k..][..k]);
            let value = match columns.get(row) {
                // The elements of b that meet those of a that are there.
                Some(columns) => {
                    let b: Vec<u64> = columns.iter().map(|&c| b[c % k]).collect();
                    sum(x, a, &b, c[row * n + column])
                }
                None => sum(x, a, b, c[row * n + column]),
            };
            fragment::put(results, x.d, lane, e, value);
        }
    }
}
