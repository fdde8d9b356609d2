//! Products of matrices by vector instructions: relaxed sums of floats are multiply-adds or dot products of
//! the processor, and sums of bytes are exact however they are computed.
//!
//! A register of a fragment is a vector of 32 lanes, eight groups of four. Of `a`, a group holds a row, and
//! the four lanes in it different places along `k`; of `b`, a group holds a column. Of the sums, a group
//! holds a row, a lane two columns. So a vector of sums keeps its order: for each place along `k`, it needs
//! the element of `a` of each group in the group's four lanes, and four elements of `b` in all groups.

use std::collections::BTreeMap;
use std::rc::Rc;

use wave::op::product::{Format, Kind, Mma};
use wave::types::Fmt;
use wave::{Inst, LANES};

use super::value::Rep;
use super::{Kernel, Result};
use crate::ir::{
    Argument, Attributes, Bin, Builder, Callee, Cast, Cmp, Elem, Function, Name, Operand, Parameter,
    Signature, Type,
};

/// The dot products that the processor has.
#[derive(Clone, Copy, Debug)]
pub struct Dots {
    /// Of two bf16 (AVX512_BF16).
    pub halves: bool,
    /// Of four bytes (AVX512_VNNI).
    pub bytes: bool,
}

/// Lanes in a group.
const GROUP: usize = 4;

/// The attributes of a product's function. Many instructions of a kernel call the same one, so that LLVM
/// compiles a product once.
const ATTRIBUTES: Attributes = Attributes {
    internal: true,
    always_inline: false,
    no_inline: true,
    cold: false,
    will_return: true,
    no_memory: true,
};

/// How elements are multiplied and summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Multiply-adds of floats of this format.
    Fused(Fmt),
    /// Dot products of pairs of bf16.
    Halves,
    /// Dot products of four bytes, unsigned by signed.
    Bytes,
    /// Dot products of pairs of 16-bit integers, to which bytes are widened.
    Words,
}

/// A product whose function is being built.
struct Product<'a> {
    ir: &'a mut Builder,
    x: Mma,
    step: Step,
    /// Elements of a vector.
    lanes: usize,
    /// Eights of rows.
    halves: usize,
    /// Chains of products that are summed apart and then joined with `c`, for the sake of accuracy: one chain
    /// that begins with `c` would have twice the hardware's error. With one chain it does begin with `c`.
    chains: usize,
    /// Vectors of sums that are in registers at once.
    registers: usize,
}

const SINGLE: Elem = Elem::Float(Fmt::F32);
const DOUBLE: Elem = Elem::Float(Fmt::F64);

/// The sums of eight rows: by column parity, the vectors that hold all lanes.
type Sums = [Vec<Operand>; 2];

impl Kernel<'_> {
    /// Whether a product is computed by vector instructions.
    pub fn has_product(&self, x: &Mma) -> bool {
        self.step(x).is_some()
    }

    fn step(&self, x: &Mma) -> Option<Step> {
        use Format::*;
        if x.sparse || x.kind != Kind::Plain || x.is_quad() || x.n != 8 {
            return None;
        }
        match x.a {
            S8 | U8 if self.facts.dots.bytes => Some(Step::Bytes),
            S8 | U8 => Some(Step::Words),
            BF16 if x.relaxed && self.facts.dots.halves => Some(Step::Halves),
            F16 | BF16 | TF32 | E4M3 | E5M2 if x.relaxed => Some(Step::Fused(Fmt::F32)),
            F64 if x.relaxed => Some(Step::Fused(Fmt::F64)),
            _ => None,
        }
    }

    /// Emits a product, as a call of its function.
    pub fn product(&mut self, inst: &Inst, x: &Mma) -> Result<()> {
        let number = x.number();
        let known = self.out.products.iter().position(|n| *n == number);
        let name = Name::numbered("product", known.unwrap_or(self.out.products.len()));
        let registers = &inst.args[..inst.args.len().saturating_sub(1)];
        // Lanes that do not take part may hold poison, which would reach the others.
        let given: Vec<Operand> = registers
            .iter()
            .map(|&r| {
                let v = self.vector(r);
                self.out.ir.freeze(v)
            })
            .collect();
        let types: Rc<[Type]> = inst.results.iter().map(|&r| self.width().vector(self.func_ty(r))).collect();
        if known.is_none() {
            self.out.products.push(number);
            self.product_function(name, x, &given, &types);
        }
        let passed = given.into_iter().map(Argument::from).collect();
        let all = self.out.ir.call_several(Callee::Function(name), types, passed);
        for (i, &r) in inst.results.iter().enumerate() {
            let v = self.out.ir.part(&all, i);
            self.define(r, Rep::Vector(v))?;
        }
        Ok(())
    }

    /// Emits the function of a product.
    fn product_function(&mut self, name: Name, x: &Mma, given: &[Operand], types: &Rc<[Type]>) {
        let Some(step) = self.step(x) else { return };
        let named = |(i, v): (usize, &Operand)| (v.ty(), Name::numbered("a", i));
        let parameters: Vec<(Type, Name)> = given.iter().enumerate().map(named).collect();
        let operands: Vec<Operand> = parameters.iter().map(|&(ty, name)| Operand::local(ty, name)).collect();
        let bytes = if self.facts.avx512 { 64 } else { 32 };
        let size = if step == Step::Fused(Fmt::F64) { 8 } else { 4 };
        let floats = matches!(step, Step::Fused(Fmt::F32) | Step::Halves);
        let (chains, registers) = (if floats { 4 } else { 1 }, if self.facts.avx512 { 16 } else { 8 });
        let outer = self.out.ir.begin();
        let ir = &mut self.out.ir;
        let halves = usize::from(x.m / 8);
        let results =
            Product { ir, x: *x, step, lanes: bytes / size, halves, chains, registers }.multiplied(&operands);
        let all = self.out.ir.together(&results);
        self.out.ir.ret_several(&all);
        let blocks = self.out.ir.end(outer);
        self.out.ir.module.functions.push(Function {
            name,
            returns: Signature::Several(Rc::clone(types)),
            parameters: parameters.into_iter().map(|(ty, name)| Parameter::new(ty, name)).collect(),
            attributes: ATTRIBUTES,
            scope: None,
            blocks,
        });
    }
}

impl Product<'_> {
    /// The registers of `d`.
    fn multiplied(&mut self, registers: &[Operand]) -> Vec<Operand> {
        let [ra, rb, _, _] = self.x.counts();
        let (a, rest) = registers.split_at(ra);
        let (b, c) = rest.split_at(rb);
        // The vectors that hold what a step multiplies, by register.
        let a: Vec<Vec<Operand>> = a.iter().map(|&r| self.factors(self.x.a, r, true)).collect();
        let b: Vec<Vec<Operand>> = b.iter().map(|&r| self.factors(self.x.b, r, false)).collect();
        let given: Vec<Sums> = (0..self.halves).map(|half| self.sums(c, half)).collect();
        let mut sums = given.clone();
        if self.chains > 1 || self.x.saturate {
            sums.iter_mut().flatten().flatten().for_each(|sum| *sum = Operand::zero(sum.ty()));
        }
        if self.step == Step::Bytes {
            self.offsets(&a, &b, &mut sums);
        }
        let mut columns = BTreeMap::new();
        let vectors = LANES / self.lanes;
        let all: Vec<(usize, usize)> =
            (0..self.halves).flat_map(|half| (0..vectors).map(move |at| (half, at))).collect();
        for rows in all.chunks((self.registers / (2 * self.chains)).max(1)) {
            let begun = |&(half, at): &(usize, usize)| [0, 1].map(|p| vec![sums[half][p][at]; self.chains]);
            let mut chains: Vec<[Vec<Operand>; 2]> = rows.iter().map(begun).collect();
            for (k, b) in b.iter().enumerate() {
                for own in 0..GROUP {
                    for (part, &b) in b.iter().enumerate() {
                        let these = *columns
                            .entry((k, own, part))
                            .or_insert_with(|| [0, 1].map(|parity| self.columns(b, own, parity)));
                        for (&(half, at), chains) in rows.iter().zip(&mut chains) {
                            let a = self.rows(a[half + self.halves * k][part], own, at);
                            for (chains, columns) in chains.iter_mut().zip(these) {
                                let sum = &mut chains[own % self.chains];
                                *sum = self.added(*sum, a, columns);
                            }
                        }
                    }
                }
            }
            for (&(half, at), chains) in rows.iter().zip(chains) {
                for (parity, chains) in chains.into_iter().enumerate() {
                    sums[half][parity][at] = self.joined(chains, given[half][parity][at]);
                }
            }
        }
        sums.into_iter().flat_map(|sums| self.stored(sums)).collect()
    }

    /// The sum of the chains and of `c`, unless it was their beginning.
    fn joined(&mut self, mut chains: Vec<Operand>, c: Operand) -> Operand {
        while chains.len() > 1 {
            chains = chains.chunks(2).map(|p| self.ir.bin(Bin::FAdd, p[0], p[1])).collect();
        }
        let sum = chains.remove(0);
        match self.chains {
            1 if self.x.saturate => self.ir.intrinsic_of("llvm.sadd.sat", &[c, sum]),
            1 => sum,
            _ => self.ir.bin(Bin::FAdd, sum, c),
        }
    }

    /// What the steps multiply of a register of `a` or `b`: a vector for each element of the lanes' words, or
    /// for the words.
    fn factors(&mut self, format: Format, register: Operand, of_a: bool) -> Vec<Operand> {
        let words = Type::I32.times(LANES);
        match self.step {
            Step::Fused(Fmt::F64) => vec![self.ir.bitcast(register, Type::Vector(LANES as u16, DOUBLE))],
            Step::Fused(_) => {
                let count = 32 / format.bits() as usize;
                (0..count).map(|part| self.widened(format, register, part)).collect()
            }
            Step::Halves => vec![register],
            // An unsigned byte is made signed, or the other way round, by an offset, see `offsets`.
            Step::Bytes if (format == Format::S8) == self.is_unsigned(of_a) => {
                vec![self.ir.bin_int(Bin::Xor, register, 0x8080_8080u32 as i32 as i64)]
            }
            Step::Bytes => vec![register],
            Step::Words => {
                let pairs = self.ir.bitcast(register, Type::I16.times(2 * LANES));
                let parts = if format == Format::S8 {
                    let low = self.ir.bin_int(Bin::Shl, pairs, 8);
                    [self.ir.bin_int(Bin::AShr, low, 8), self.ir.bin_int(Bin::AShr, pairs, 8)]
                } else {
                    [self.ir.bin_int(Bin::And, pairs, 255), self.ir.bin_int(Bin::LShr, pairs, 8)]
                };
                parts.map(|v| self.ir.bitcast(v, words)).to_vec()
            }
        }
    }

    /// An element of each lane's word as f32.
    fn widened(&mut self, format: Format, register: Operand, part: usize) -> Operand {
        let ir = &mut *self.ir;
        let bits = format.bits() as i64;
        let singles = Type::Vector(LANES as u16, Elem::Float(Fmt::F32));
        let halves = Type::I16.times(LANES);
        let lowest = if part == 0 { register } else { ir.bin_int(Bin::LShr, register, part as i64 * bits) };
        let narrow = match format {
            Format::BF16 if part == 0 => {
                let v = ir.bin_int(Bin::Shl, register, 16);
                return ir.bitcast(v, singles);
            }
            Format::BF16 => {
                let v = ir.bin_int(Bin::And, register, -0x1_0000);
                return ir.bitcast(v, singles);
            }
            Format::TF32 => {
                let v = ir.bin_int(Bin::And, register, -0x2000);
                return ir.bitcast(v, singles);
            }
            Format::E5M2 => {
                let v = ir.cast(Cast::Trunc, lowest, halves);
                ir.bin_int(Bin::Shl, v, 8)
            }
            Format::E4M3 => {
                let v = ir.cast(Cast::Trunc, lowest, halves);
                let magnitude = ir.bin_int(Bin::And, v, 0x7f);
                let sign = ir.bin_int(Bin::And, v, 0x80);
                let sign = ir.bin_int(Bin::Shl, sign, 8);
                let nan = ir.icmp_int(Cmp::Eq, magnitude, 0x7f);
                let magnitude = ir.bin_int(Bin::Shl, magnitude, 7);
                let magnitude = ir.select(nan, Operand::int(halves, 0x7e00), magnitude);
                ir.bin(Bin::Or, magnitude, sign)
            }
            _ => ir.cast(Cast::Trunc, lowest, halves),
        };
        let narrow = ir.bitcast(narrow, halves.with(Elem::Float(Fmt::F16)));
        let wide = ir.cast(Cast::FpExt, narrow, singles);
        if format != Format::E4M3 {
            return wide;
        }
        // An f16's exponents are biased by 15, an e4m3's by 7.
        let scale = ir.bitcast(Operand::int(Type::I32.times(LANES), 0x4380_0000), singles);
        ir.bin(Bin::FMul, wide, scale)
    }

    /// The sums of eight rows.
    fn sums(&mut self, c: &[Operand], half: usize) -> Sums {
        [0, 1].map(|parity| {
            let v = match self.x.c {
                Format::F16 => self.widened(Format::F16, c[half], parity),
                Format::F32 => self.ir.bitcast(c[2 * half + parity], Type::Vector(LANES as u16, SINGLE)),
                Format::F64 => self.ir.bitcast(c[2 * half + parity], Type::Vector(LANES as u16, DOUBLE)),
                _ => c[2 * half + parity],
            };
            (0..LANES / self.lanes)
                .map(|at| self.ir.shuffle(v, None, at * self.lanes..(at + 1) * self.lanes))
                .collect()
        })
    }

    /// The registers of `d` that hold the sums of eight rows.
    fn stored(&mut self, sums: Sums) -> Vec<Operand> {
        let [even, odd] = sums.map(|parts| self.concat(parts));
        let words = Type::I32.times(LANES);
        match self.x.d {
            Format::F16 => {
                let [low, high] = [even, odd].map(|v| {
                    let v = self.ir.cast(Cast::FpTrunc, v, v.ty().with(Elem::Float(Fmt::F16)));
                    let v = self.ir.bitcast(v, Type::I16.times(LANES));
                    self.ir.cast(Cast::ZExt, v, words)
                });
                let high = self.ir.bin_int(Bin::Shl, high, 16);
                vec![self.ir.bin(Bin::Or, low, high)]
            }
            Format::F64 => [even, odd].map(|v| self.ir.bitcast(v, Type::I64.times(LANES))).to_vec(),
            _ => [even, odd].map(|v| self.ir.bitcast(v, words)).to_vec(),
        }
    }

    /// The element of each group's lane `own` in all lanes of the group, for the groups of the vector `at`.
    fn rows(&mut self, a: Operand, own: usize, at: usize) -> Operand {
        let first = at * self.lanes;
        self.ir.shuffle(a, None, (0..self.lanes).map(|l| (first + l) / GROUP * GROUP + own))
    }

    /// The elements of lane `own` in the groups of the even or the odd columns, repeated for each group.
    fn columns(&mut self, b: Operand, own: usize, parity: usize) -> Operand {
        self.ir.shuffle(b, None, (0..self.lanes).map(|l| (2 * (l % GROUP) + parity) * GROUP + own))
    }

    /// The sum plus the products of a step.
    fn added(&mut self, sum: Operand, a: Operand, b: Operand) -> Operand {
        let ty = sum.ty();
        match self.step {
            Step::Fused(_) => self.ir.intrinsic_of("llvm.fma", &[a, b, sum]),
            Step::Halves => {
                let pairs = Type::Vector(2 * self.lanes as u16, Elem::Float(Fmt::BF16));
                let [a, b] = [a, b].map(|v| self.ir.bitcast(v, pairs));
                self.ir.intrinsic("llvm.x86.avx512bf16.dpbf16ps.512", [None; 2], ty, &[sum, a, b])
            }
            Step::Bytes if self.is_unsigned(true) => self.dot(sum, a, b),
            Step::Bytes => self.dot(sum, b, a),
            Step::Words => {
                let name =
                    if self.lanes == 16 { "llvm.x86.avx512.pmaddw.d.512" } else { "llvm.x86.avx2.pmadd.wd" };
                let [a, b] = [a, b].map(|v| self.ir.bitcast(v, Type::I16.times(2 * self.lanes)));
                let products = self.ir.intrinsic(name, [None; 2], ty, &[a, b]);
                self.ir.bin(Bin::Add, sum, products)
            }
        }
    }

    /// The sum plus four products of unsigned and signed bytes.
    fn dot(&mut self, sum: Operand, unsigned: Operand, signed: Operand) -> Operand {
        let ty = sum.ty();
        let bytes = Type::I8.times(4 * ty.count());
        let [a, b] = [unsigned, signed].map(|v| self.ir.bitcast(v, bytes));
        self.ir.intrinsic("llvm.x86.avx512.vpdpbusd.512", [None; 2], ty, &[sum, a, b])
    }

    /// Begins the sums of bytes of which one operand was changed by 128: a signed `a` was increased, so 128
    /// times the sum of `b` is subtracted; an unsigned `b` was decreased, so 128 times the sum of `a` is
    /// added.
    fn offsets(&mut self, a: &[Vec<Operand>], b: &[Vec<Operand>], sums: &mut [Sums]) {
        let ty = Type::I32.times(self.lanes);
        let constant = |byte: u8| Operand::int(ty, i64::from(i32::from_ne_bytes([byte; 4])));
        match (self.x.a, self.x.b) {
            (Format::S8, Format::S8) => {
                for parity in [0, 1] {
                    let mut more = Operand::zero(ty);
                    for b in b.iter().flatten() {
                        for own in 0..GROUP {
                            let columns = self.columns(*b, own, parity);
                            more = self.dot(more, constant(128), columns);
                        }
                    }
                    for sum in sums.iter_mut().flat_map(|half| &mut half[parity]) {
                        *sum = self.ir.bin(Bin::Sub, *sum, more);
                    }
                }
            }
            (Format::U8, Format::U8) => {
                for (half, sums) in sums.iter_mut().enumerate() {
                    for at in 0..LANES / self.lanes {
                        let mut more = Operand::zero(ty);
                        for a in a.iter().skip(half).step_by(self.halves).flatten() {
                            for own in 0..GROUP {
                                let rows = self.rows(*a, own, at);
                                more = self.dot(more, rows, constant(64));
                            }
                        }
                        let more = self.ir.bin_int(Bin::Shl, more, 1);
                        for sums in sums.iter_mut() {
                            sums[at] = self.ir.bin(Bin::Add, sums[at], more);
                        }
                    }
                }
            }
            _ => {}
        }
    }

    /// Parts of a vector as one.
    fn concat(&mut self, mut parts: Vec<Operand>) -> Operand {
        while parts.len() > 1 {
            let n = parts[0].ty().count();
            parts = parts.chunks(2).map(|p| self.ir.shuffle(p[0], Some(p[1]), 0..2 * n)).collect();
        }
        parts.remove(0)
    }

    /// Whether a dot product of bytes takes this operand as unsigned. If both are alike, it takes `a`.
    fn is_unsigned(&self, of_a: bool) -> bool {
        let swapped = (self.x.a, self.x.b) == (Format::S8, Format::U8);
        of_a != swapped
    }
}
