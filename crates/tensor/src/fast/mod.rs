//! The fast path: computes the sums of `sum.rs` with SIMD, to the same bits, for 16 rows by 8 columns at a
//! time. It works on fragments as registers hold them. Relaxed sums are chains of multiply-adds.
//!
//! Floats: if exponents are far from the ends of f32's range, a product of two elements is an exact f32, the
//! largest exponent is that of the largest product of the elements' powers of two, and truncating a term is a
//! conversion to an integer. All other inputs take the plain path. No operand or result of these operations
//! is subnormal, so that the processor's flush modes do not matter. Integers: all sums are exact in f32.

mod decode;
mod sums;

use crate::LANES;
use crate::format::Format;
use crate::mma::{Kind, Mma};
use crate::sparse;
use crate::warp::{self, Unit};
use sums::Sums;

/// The size of a tile: rows and columns.
const ROWS: usize = 16;
const COLUMNS: usize = 8;

/// Maximum numbers of stored elements per row of `a`, and of rows of `b`, for which code is specialised.
/// Powers of two.
const SMALL: usize = 16;
const MIDDLE: usize = 32;
const STORED: usize = 64;
const DEPTH: usize = 128;

/// A row of `b`, `c` or `d`.
type Row = [f32; COLUMNS];

/// The words of a register.
pub(crate) type Register = [u32; LANES];

/// The matrix `a`.
#[derive(Debug)]
struct Left<const S: usize> {
    /// Its values, row by row.
    values: [[f32; S]; ROWS],
    /// For each stored element of a sparse matrix, the row of `b` that it is multiplied with.
    meets: [[u8; S]; ROWS],
    /// Number of stored elements per row.
    stored: usize,
}

/// Eight columns of `b`, row by row along `k`.
#[derive(Debug)]
struct Right<const K: usize> {
    values: [Row; K],
    k: usize,
}

/// The fragments of a product.
pub(crate) struct Operands<'a> {
    pub unit: Unit,
    /// Registers of `a`.
    pub a: &'a [Register],
    /// Registers of `b`, those of each eight columns in sequence.
    pub b: &'a [Register],
    /// Registers of `c`, in the same order; empty if `c` is zero.
    pub c: &'a [Register],
    /// Metadata of a sparse `a`.
    pub metadata: &'a [u32],
    /// Whether to multiply the products by −1.
    pub negative: bool,
}

/// Whether the fast path supports the instruction.
pub(crate) fn suits(x: &Mma) -> bool {
    use Format::*;
    let elements = matches!(x.a, F16 | BF16 | TF32 | E4M3 | E5M2 | S8 | U8 | S4 | U4);
    elements
        && x.kind == Kind::Plain
        && x.m == 16
        && usize::from(x.stored_k()) <= STORED
        && usize::from(x.k) <= DEPTH
}

#[inline(always)]
fn left<const S: usize>(x: &Mma, from: &Operands) -> Option<Left<S>> {
    let mut t =
        Left { values: [[0.0; S]; ROWS], meets: [[0; S]; ROWS], stored: usize::from(x.stored_k()).min(S) };
    let per = 4 * decode::per_register(x.a);
    let mut row = [0f32; decode::MOST];
    for (r, register) in from.a.iter().enumerate() {
        if !decode::in_order(x.a, register, &mut row) {
            return None;
        }
        for (major, from) in row.chunks_exact(per).take(8).enumerate() {
            t.values[major + 8 * (r % 2)].get_mut(per * (r / 2)..)?.get_mut(..per)?.copy_from_slice(from);
        }
    }
    // Negating either factor negates the product.
    if from.negative {
        t.values.as_flattened_mut().iter_mut().for_each(|v| *v = -*v);
    }
    if x.sparse {
        for (row, to) in t.meets.iter_mut().enumerate() {
            for (to, column) in to.iter_mut().zip(sparse::columns(x, from.metadata, row)) {
                *to = (column % usize::from(x.k)) as u8;
            }
        }
    }
    Some(t)
}

#[inline(always)]
fn right<const K: usize>(x: &Mma, registers: &[Register], t: &mut Right<K>) -> bool {
    t.k = usize::from(x.k).min(K);
    let rows = 4 * decode::per_register(x.b);
    registers.iter().zip(t.values.chunks_mut(rows)).all(|(from, to)| decode::in_rows(x.b, from, to))
}

/// The whole computation, to be compiled for a processor's vectors; false if the fast path cannot handle an
/// element.
#[inline(always)]
fn computed<const FMA: bool>(x: &Mma, from: &Operands, d: &mut [Register]) -> bool {
    match (usize::from(x.k), x.sparse) {
        (..=SMALL, false) => tiles::<FMA, false, SMALL, SMALL>(x, from, d),
        (..=MIDDLE, false) => tiles::<FMA, false, MIDDLE, MIDDLE>(x, from, d),
        (_, false) => tiles::<FMA, false, STORED, STORED>(x, from, d),
        (..=MIDDLE, true) => tiles::<FMA, true, SMALL, MIDDLE>(x, from, d),
        (_, true) => tiles::<FMA, true, STORED, DEPTH>(x, from, d),
    }
}

#[inline(always)]
fn tiles<const FMA: bool, const SPARSE: bool, const S: usize, const K: usize>(
    x: &Mma,
    from: &Operands,
    d: &mut [Register],
) -> bool {
    let [_, rb, rc, rd] = Mma { n: COLUMNS as u16, ..*x }.counts();
    let Some(a) = left::<S>(x, from) else { return false };
    let mut b = Right { values: [[0.0; COLUMNS]; K], k: 0 };
    let zeros = [[0; LANES]; 4];
    let sums = Sums::of(x, from.unit);
    for (block, (d, b_registers)) in d.chunks_mut(rd).zip(from.b.chunks(rb)).enumerate() {
        let c = if from.c.is_empty() { zeros.get(..rc) } else { from.c.get(block * rc..(block + 1) * rc) };
        let Some(c) = c else { return false };
        if !right(x, b_registers, &mut b) {
            return false;
        }
        let fine = match sums {
            Sums::Integers => sums::integers::<FMA, SPARSE, S, K>(x, &a, &b, c, d),
            Sums::Floats(_) if x.relaxed => sums::relaxed::<FMA, SPARSE, S, K>(x, &a, &b, c, d),
            Sums::Floats(how) => sums::floats::<SPARSE, S, K>(x, how, &a, &b, c, d),
        };
        if !fine {
            return false;
        }
    }
    true
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Mma, Operands, Register, computed};

    /// [`computed`] with the vectors of AVX-512.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi2")]
    pub fn avx512(x: &Mma, from: &Operands, d: &mut [Register]) -> bool {
        computed::<true>(x, from, d)
    }

    /// [`computed`] with the vectors of AVX2.
    #[target_feature(enable = "avx2,fma,bmi2")]
    pub fn avx2(x: &Mma, from: &Operands, d: &mut [Register]) -> bool {
        computed::<true>(x, from, d)
    }
}

/// Computes a product for which [`suits`] holds. If it returns false, the fast path cannot handle an element
/// and `d` is garbage.
pub(crate) fn multiply(x: &Mma, from: &Operands, d: &mut [Register]) -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        let has512 = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl");
        let has2 = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("bmi2");
        if has512 && has2 {
            // SAFETY: the processor has these features.
            return unsafe { x86::avx512(x, from, d) };
        }
        if has2 {
            // SAFETY: the processor has these features.
            return unsafe { x86::avx2(x, from, d) };
        }
    }
    computed::<false>(x, from, d)
}

/// The operands of `mma`, in the layout of [`crate::Matrix::run`].
fn operands<'a>(x: &Mma, args: &'a [u32]) -> Option<Operands<'a>> {
    let [a, b, c, _] = x.counts();
    let (registers, _) = args.as_chunks::<LANES>();
    Some(Operands {
        unit: Unit::Warp,
        a: registers.get(..a)?,
        b: registers.get(a..a + b)?,
        c: registers.get(a + b..a + b + c)?,
        metadata: args.get((a + b + c) * LANES..).unwrap_or_default(),
        negative: false,
    })
}

/// Computes an instruction; false if the fast path cannot. Operands have the layout of
/// [`crate::Matrix::run`].
pub(crate) fn run(x: &Mma, args: &[u32], results: &mut [u32]) -> bool {
    if !suits(x) || x.n != COLUMNS as u16 {
        return false;
    }
    let (to, _) = results.as_chunks_mut::<LANES>();
    match (operands(x, args), to.get_mut(..x.counts()[3])) {
        (Some(from), Some(to)) => multiply(x, &from, to),
        _ => false,
    }
}

/// An implementation of an instruction, with operands and results in the layout of [`crate::Matrix::run`];
/// false if it cannot handle the input.
pub type Way = fn(&Mma, &[u32], &mut [u32]) -> bool;

/// This processor's implementations with their names, the plain one first, for a test to compare.
pub fn ways() -> Vec<(&'static str, Way)> {
    let mut ways: Vec<(&'static str, Way)> = vec![
        ("plain", |x, args, to| {
            warp::plain(x, args, to);
            true
        }),
        ("portable", |x, args, to| {
            operands(x, args).is_some_and(|from| computed::<false>(x, &from, to.as_chunks_mut().0))
        }),
        ("as detected", run),
    ];
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") && is_x86_feature_detected!("bmi2")
    {
        ways.push(("avx2", |x, args, to| {
            // SAFETY: the processor has these features.
            operands(x, args).is_some_and(|from| unsafe { x86::avx2(x, &from, to.as_chunks_mut().0) })
        }));
    }
    ways
}
