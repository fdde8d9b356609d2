//! `wmma`: matrices in opaque fragments, which programs only load, multiply and store (PTX ISA 9.7.14.4).
//!
//! Fragments have an H200's layout: a matrix is made of `mma` tiles, 16 rows of one operand or 8 columns of
//! the other. If `a` has only 8 rows (m8n32k16), the transposed matrices are multiplied. Fragments of f16
//! have eight registers; surplus registers repeat the others.

use ptx::ast::Instruction;
use ptx::{Modifier as M, ScalarType};
use tensor::{Bits, Format, Mma, Round, shape};
use wave::op::{FloatMode, Guard, IntOp, Op, Order, SReg, ShiftOp};
use wave::types::Fmt;
use wave::{Ty, Value};

use super::matrix::{product, read, write};
use super::memory::memory;
use crate::error::ErrorClass;
use crate::function::{Lower, Result};

/// A matrix of the product.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    A,
    B,
    C,
}

/// How a shape is divided into tiles.
#[derive(Clone, Copy)]
struct Tiling {
    k: u16,
    /// Rows of a tile of the tall operand: 16, or 8 if the product is one `mma` with 8 rows.
    rows: u16,
    /// Number of tiles of the tall operand, and of the wide one.
    tall: u16,
    wide: u16,
    /// Whether the tall operand is `b`.
    transposed: bool,
}

impl Tiling {
    fn of((m, n, k): (u16, u16, u16)) -> Tiling {
        let (rows, tall, wide, transposed) = match (m, n) {
            (8, 32) => (16, 2, 1, true),
            (32, 8) => (16, 2, 1, false),
            (16, 16) => (16, 1, 2, false),
            _ => (8, 1, 1, false),
        };
        Tiling { k, rows, tall, wide, transposed }
    }
}

/// A register of a fragment: the offset of its first element from the lane's own position.
struct Place {
    row: u16,
    column: u16,
}

/// The positions of a fragment's elements.
struct Layout {
    /// Whether the lane's group number counts along rows rather than columns.
    group_is_row: bool,
    /// Number of adjacent elements in a lane; also the distance between lanes of a group.
    run: u16,
    /// The first element of each run of `run` elements.
    places: Vec<Place>,
}

/// The layout of a matrix whose elements have `bits` bits.
fn layout(tiling: Tiling, part: Part, bits: u32) -> Layout {
    let turn = |row, column| {
        if tiling.transposed { Place { row: column, column: row } } else { Place { row, column } }
    };
    let halves = tiling.rows / 8;
    let mut places = Vec::new();
    if part == Part::C {
        for tile in 0..tiling.tall.max(tiling.wide) {
            for half in 0..halves {
                let (row, column) = if tiling.tall > 1 { (16 * tile, 0) } else { (0, 8 * tile) };
                places.push(turn(row + 8 * half, column));
            }
        }
        return Layout { group_is_row: !tiling.transposed, run: 2, places };
    }
    let run = (32 / bits).max(1) as u16;
    let tall = (part == Part::A) != tiling.transposed;
    let (tiles, size, halves) = if tall { (tiling.tall, tiling.rows, halves) } else { (tiling.wide, 8, 1) };
    for tile in 0..tiles {
        for step in 0..tiling.k.div_ceil(4 * run) {
            for half in 0..halves {
                let (major, k) = (size * tile + 8 * half, 4 * run * step);
                places.push(match part {
                    Part::A => Place { row: major, column: k },
                    _ => Place { row: k, column: major },
                });
            }
        }
    }
    Layout { group_is_row: part == Part::A, run, places }
}

/// Registers per lane for a matrix with this many elements; always eight for f16 factors.
fn registers(part: Part, format: Format, elements: usize) -> usize {
    match (part, format) {
        (Part::A | Part::B, Format::F16) => 8,
        _ => elements * format.bits() as usize / 32 / format.bits().max(32) as usize,
    }
}

/// A matrix load or store, decoded.
struct Moved {
    format: Format,
    by_row: bool,
    layout: Layout,
    registers: usize,
    size: (u16, u16),
}

fn moved(l: &mut Lower, i: &Instruction) -> Result<Moved> {
    let found = i.modifiers.iter().find_map(|m| shape(m.name()));
    let format = i.modifiers.iter().find_map(|m| Format::from_name(m.name()));
    let (Some((m, n, k)), Some(format)) = (found, format) else {
        return l.unsupported(i, "a matrix requires a shape and a type");
    };
    let part = match i.modifiers.iter().find(|m| matches!(m, M::A | M::B | M::C | M::D)) {
        Some(M::A) => Part::A,
        Some(M::B) => Part::B,
        _ => Part::C,
    };
    let tiling = Tiling::of((m, n, k));
    let legal = match part {
        Part::A | Part::B => inputs(m, n, k).contains(&format),
        Part::C => sums(m, n, k).contains(&format),
    };
    let by_row = i.has(M::Row);
    // Elements narrower than a byte are stored in the order in which they are multiplied.
    let fixed = format.bits() < 8 && by_row != (part == Part::A);
    if !legal || fixed {
        return l.fail(ErrorClass::Invalid, i.span, "this type or layout is not legal with this shape");
    }
    let size = match part {
        Part::A => (m, k),
        Part::B => (k, n),
        Part::C => (m, n),
    };
    let layout = layout(tiling, part, format.bits());
    let registers = registers(part, format, usize::from(size.0) * usize::from(size.1));
    Ok(Moved { format, by_row, layout, registers, size })
}

/// Formats of `a` and `b` for a shape.
pub fn inputs(m: u16, n: u16, k: u16) -> &'static [Format] {
    use Format::*;
    match (m, n, k) {
        (16, 16, 16) | (8, 32, 16) | (32, 8, 16) => &[F16, BF16, S8, U8],
        (16, 16, 8) => &[TF32],
        (8, 8, 4) => &[F64],
        (8, 8, 32) => &[S4, U4],
        (8, 8, 128) => &[B1],
        _ => &[],
    }
}

/// Formats of `c` and `d` for a shape.
pub fn sums(m: u16, n: u16, k: u16) -> &'static [Format] {
    use Format::*;
    match (m, n, k) {
        (16, 16, 16) | (8, 32, 16) | (32, 8, 16) => &[F16, F32, S32],
        (16, 16, 8) => &[F32],
        (8, 8, 4) => &[F64],
        (8, 8, 32) | (8, 8, 128) => &[S32],
        _ => &[],
    }
}

/// The base of the addresses of a matrix's runs.
struct Runs {
    /// The address of the lane's own position.
    own: Value,
    /// Number of elements from one row (or column) to the next.
    stride: Value,
}

fn int(l: &mut Lower, op: IntOp, a: Value, b: Value) -> Value {
    l.op1(Op::Int(op, Ty::I64), &[a, b])
}

/// Size in bytes of a number of elements.
fn bytes(l: &mut Lower, elements: Value, bits: u32) -> Value {
    let (op, amount) = match bits {
        8.. => (ShiftOp::Shl, (bits / 8).trailing_zeros()),
        _ => (ShiftOp::ShrU, (8 / bits).trailing_zeros()),
    };
    let amount = l.constant(Ty::I32, u128::from(amount));
    l.op1(Op::Shift(op, Ty::I64), &[elements, amount])
}

fn runs(l: &mut Lower, m: &Moved, base: Value, at: Option<&ptx::ast::Operand>) -> Result<Runs> {
    let stride = match at {
        Some(operand) => {
            let v = l.value(operand, ScalarType::B32)?;
            l.resize(v, Ty::I64, false)
        }
        None => {
            let minor = if m.by_row { m.size.1 } else { m.size.0 };
            l.constant(Ty::I64, u128::from(minor))
        }
    };
    let lane = l.op1(Op::Special(SReg::LaneId), &[]);
    let (two, three) = (l.constant(Ty::I32, 2), l.constant(Ty::I32, 3));
    let group = l.op1(Op::Shift(ShiftOp::ShrU, Ty::I32), &[lane, two]);
    let own = l.op1(Op::Int(IntOp::And, Ty::I32), &[lane, three]);
    let run = l.constant(Ty::I32, u128::from(m.layout.run));
    let own = l.op1(Op::Int(IntOp::Mul, Ty::I32), &[own, run]);
    let (group, own) = (l.resize(group, Ty::I64, false), l.resize(own, Ty::I64, false));
    let (major, minor) = if m.layout.group_is_row == m.by_row { (group, own) } else { (own, group) };
    let major = int(l, IntOp::Mul, major, stride);
    let elements = int(l, IntOp::Add, major, minor);
    let offset = bytes(l, elements, m.format.bits());
    Ok(Runs { own: int(l, IntOp::Add, base, offset), stride })
}

impl Runs {
    /// The address of the element at this distance from the lane's own position.
    fn address(&self, l: &mut Lower, m: &Moved, row: u16, column: u16) -> Value {
        let (major, minor) = if m.by_row { (row, column) } else { (column, row) };
        let mut elements = l.constant(Ty::I64, u128::from(minor));
        if major != 0 {
            let major = l.constant(Ty::I64, u128::from(major));
            let rows = int(l, IntOp::Mul, self.stride, major);
            elements = int(l, IntOp::Add, rows, elements);
        }
        let offset = bytes(l, elements, m.format.bits());
        int(l, IntOp::Add, self.own, offset)
    }
}

/// Whether the elements of a run are adjacent in memory.
fn contiguous(m: &Moved) -> bool {
    m.layout.group_is_row == m.by_row
}

/// The accesses that move a run: type of a value, and values per access.
fn pieces(m: &Moved) -> (Ty, u8) {
    let bits = m.format.bits() * u32::from(m.layout.run);
    match (contiguous(m), m.format.bits()) {
        (true, 64) => (Ty::I64, m.layout.run as u8),
        (true, _) if bits == 64 => (Ty::I32, 2),
        (true, _) => (Ty::I32, 1),
        (false, 64) => (Ty::I64, 1),
        (false, 32) => (Ty::I32, 1),
        (false, 16) => (Ty::I16, 1),
        (false, _) => (Ty::I8, 1),
    }
}

/// The addresses of a run's accesses.
fn addresses(l: &mut Lower, m: &Moved, runs: &Runs, place: &Place) -> Vec<Value> {
    if contiguous(m) {
        return vec![runs.address(l, m, place.row, place.column)];
    }
    let along = |e: u16| {
        if m.layout.group_is_row { (place.row, place.column + e) } else { (place.row + e, place.column) }
    };
    (0..m.layout.run)
        .map(|e| {
            let (row, column) = along(e);
            runs.address(l, m, row, column)
        })
        .collect()
}

/// `wmma.load r, [p]{, stride}`.
fn load(l: &mut Lower, i: &Instruction) -> Result<()> {
    let m = moved(l, i)?;
    let (base, offset, mem) = memory(l, i, &i.operands[1], Order::Weak)?;
    let base = l.offset(base, i64::from(offset));
    let runs = runs(l, &m, base, i.operands.get(2))?;
    let (ty, count) = pieces(&m);
    let mut values = Vec::new();
    for place in &m.layout.places {
        let mut run = Vec::new();
        for address in addresses(l, &m, &runs, place) {
            run.extend(l.op(Op::Load { mem, ty, count, offset: 0, guard: Guard::Always }, &[address]));
        }
        if ty.bits() < 32 {
            for part in run.chunks((32 / ty.bits()) as usize) {
                values.push(l.op1(Op::Pack { part: ty, whole: Ty::I32 }, part));
            }
        } else {
            values.extend(run);
        }
    }
    let own = values.len();
    let repeated: Vec<Value> = (0..m.registers).map(|r| values[r % own]).collect();
    write(l, &i.operands[0], &repeated)
}

/// `wmma.store [p], r{, stride}`.
fn store(l: &mut Lower, i: &Instruction) -> Result<()> {
    let m = moved(l, i)?;
    let (base, offset, mem) = memory(l, i, &i.operands[0], Order::Weak)?;
    let base = l.offset(base, i64::from(offset));
    let registers = read(l, &i.operands[1], "d", m.registers, m.format.bits())?;
    let runs = runs(l, &m, base, i.operands.get(2))?;
    let (ty, count) = pieces(&m);
    let mut values = Vec::new();
    for r in registers {
        if ty.bits() < 32 {
            values.extend(l.op(Op::Unpack { part: ty, whole: Ty::I32 }, &[r]));
        } else {
            values.push(r);
        }
    }
    let mut values = values.chunks(usize::from(count));
    for place in &m.layout.places {
        for address in addresses(l, &m, &runs, place) {
            let mut args = vec![address];
            args.extend(values.next().unwrap_or_default());
            l.op(Op::Store { mem, ty, count, offset: 0, guard: Guard::Always }, &args);
        }
    }
    Ok(())
}

/// `wmma.mma d, a, b, c`.
fn multiply(l: &mut Lower, i: &Instruction) -> Result<()> {
    use Format::*;
    let formats: Vec<Format> = i.modifiers.iter().filter_map(|m| Format::from_name(m.name())).collect();
    let (d, a, b, c) = match *formats.as_slice() {
        [d, c] => (d, F16, F16, c),
        [d, a, b, c] => (d, a, b, c),
        _ => return l.unsupported(i, "a product requires two types or four"),
    };
    let Some((m, n, k)) = i.modifiers.iter().find_map(|x| shape(x.name())) else {
        return l.unsupported(i, "a product requires a shape");
    };
    let tiling = Tiling::of((m, n, k));
    let halves = a == F16;
    // f16 products are summed as f32 unless both sums are f16.
    let inner = if halves && (c, d) != (F16, F16) { F32 } else { c };
    let (tall, wide) = if tiling.transposed { (b, a) } else { (a, b) };
    // The hardware computes tf32 in two steps.
    let steps = if a == TF32 { 2 } else { 1 };
    let mma = Mma {
        m: tiling.rows,
        n: 8,
        k: k / steps as u16,
        a: tall,
        b: wide,
        c: inner,
        d: inner,
        saturate: i.has(M::Satfinite) && !halves,
        round: i.modifiers.iter().find_map(|m| Round::from_name(m.name())).unwrap_or_default(),
        bits: if i.has(M::Xor) { Bits::Xor } else { Bits::And },
        ..Mma::default()
    };
    let legal = inputs(m, n, k).contains(&a) && inputs(m, n, k).contains(&b);
    if !legal || !mma.is_legal() {
        return l.fail(ErrorClass::Invalid, i.span, "these types are not legal with this shape");
    }
    let size = |x: u16, y: u16| usize::from(x) * usize::from(y);
    let count = |part, format, elements| registers(part, format, elements);
    let a = read(l, &i.operands[1], "a", count(Part::A, a, size(m, k)), a.bits())?;
    let b = read(l, &i.operands[2], "b", count(Part::B, b, size(k, n)), b.bits())?;
    let mut sums = read(l, &i.operands[3], "c", count(Part::C, c, size(m, n)), c.bits())?;
    if c != inner {
        sums = widened(l, &sums);
    }
    let (tall, wide) = if tiling.transposed { (b, a) } else { (a, b) };
    let [ra, rb, rc, _] = mma.counts();
    let mut results = Vec::new();
    for tile in 0..usize::from(tiling.tall.max(tiling.wide)) {
        let (t, w) = if tiling.tall > 1 { (tile, 0) } else { (0, tile) };
        let mut sum = sums[tile * rc..][..rc].to_vec();
        for step in 0..steps {
            let mut operands = tall[(t * steps + step) * ra..][..ra].to_vec();
            operands.extend(&wide[(w * steps + step) * rb..][..rb]);
            operands.extend(sum);
            sum = product(l, mma, operands);
        }
        results.extend(sum);
    }
    if d != inner {
        // For f16, the hardware does not clamp results to a range: sums that are narrowed are truncated
        // rather than rounded, and other sums are unaffected.
        let round = if i.has(M::Satfinite) { wave::op::Round::Rz } else { wave::op::Round::Rn };
        results = narrowed(l, &results, round);
    }
    write(l, &i.operands[0], &results)
}

/// Pairs of f16 as f32.
fn widened(l: &mut Lower, pairs: &[Value]) -> Vec<Value> {
    let mode = FloatMode::rn(Fmt::F32);
    let mut all = Vec::new();
    for &pair in pairs {
        for half in l.op(Op::Unpack { part: Ty::I16, whole: Ty::I32 }, &[pair]) {
            all.push(l.op1(Op::FloatToFloat { from: Fmt::F16, mode, relu: false }, &[half]));
        }
    }
    all
}

/// f32 as pairs of f16.
fn narrowed(l: &mut Lower, values: &[Value], round: wave::op::Round) -> Vec<Value> {
    let mode = FloatMode { round, ..FloatMode::rn(Fmt::F16) };
    let halves: Vec<Value> =
        values.iter().map(|&v| l.op1(Op::FloatToFloat { from: Fmt::F32, mode, relu: false }, &[v])).collect();
    halves.chunks(2).map(|pair| l.op1(Op::Pack { part: Ty::I16, whole: Ty::I32 }, pair)).collect()
}

/// `wmma.load`, `wmma.store` and `wmma.mma`.
pub fn wmma(l: &mut Lower, i: &Instruction) -> Result<()> {
    match i.one_of(&[M::Load, M::Store]) {
        Some(M::Load) => load(l, i),
        Some(M::Store) => store(l, i),
        _ => multiply(l, i),
    }
}
