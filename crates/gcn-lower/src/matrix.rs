//! Matrix products of a wave.
//!
//! A lane holds elements of a row of A, of a column of B, and of the result; AMD's documents give the places.
//! The result's elements are sums over k, begun with C: products are added one after the other, by rising k,
//! each sum rounded to nearest (`fma`). The hardware's order and precision in between are not documented.
//! Sums of f16 and bf16 (WMMA) are made in f32 and rounded at the end. Elements of xf32 are rounded to 10
//! bits of fraction. gfx90a flushes subnormal elements of f16 and bf16, and subnormal sums of their products.
//! EXEC has no effect.

use gcn::Generation;
use gcn::isa::{Inst, Mod, Operand, Role, Value as Place};
use wave::op::{FloatMode, IntCmp, IntOp, Op, SReg, ShiftOp};
use wave::types::Fmt;
use wave::{Ty, Value};

use crate::error::Result;
use crate::evaluate::Scope;
use crate::operand::operand;
use crate::registers::{ACCUMULATORS, Reg, Registers};
use crate::table::{self, Expr};

/// The type of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Element {
    F16,
    Bf16,
    F32,
    Xf32,
    F64,
    /// The floats of 8 bits with four and with five bits of exponent.
    Fp8,
    Bf8,
    /// Integers of some bits, signed or not.
    Int(u32, bool),
}

impl Element {
    fn of_name(name: &str) -> Option<Element> {
        Some(match name {
            "f16" => Element::F16,
            "bf16" | "bf16_1k" => Element::Bf16,
            "f32" => Element::F32,
            "xf32" => Element::Xf32,
            "f64" => Element::F64,
            "fp8" => Element::Fp8,
            "bf8" => Element::Bf8,
            "i8" | "iu8" => Element::Int(8, true),
            "iu4" => Element::Int(4, true),
            _ => return None,
        })
    }

    fn bits(self) -> u32 {
        match self {
            Element::F64 => 64,
            Element::F32 | Element::Xf32 => 32,
            Element::F16 | Element::Bf16 => 16,
            Element::Fp8 | Element::Bf8 => 8,
            Element::Int(bits, _) => bits,
        }
    }
}

/// A product: its shape, its elements, and how lanes hold them.
#[derive(Clone, Copy, Debug)]
struct Product {
    m: u32,
    n: u32,
    k: u32,
    /// Products beside each other.
    blocks: u32,
    a: Element,
    b: Element,
    /// Elements of a row that a lane holds.
    each: u32,
    /// Of A only half of the elements are stored.
    sparse: bool,
}

/// The families of matrix instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    /// Of compute devices: fused, and in waves of 64 lanes.
    Fused,
    /// From gfx11 on.
    Wave,
}

/// How names of products begin; whether A is sparse.
const PRODUCTS: &[(&str, Family, bool)] = &[
    ("v_mfma_", Family::Fused, false),
    ("v_smfmac_", Family::Fused, true),
    ("v_wmma_", Family::Wave, false),
    ("v_swmmac_", Family::Wave, true),
];

/// Numbers at the front of a text; the rest.
fn number(text: &str) -> Option<(u32, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    Some((digits.parse().ok()?, rest))
}

impl Product {
    /// The product that a name describes, such as `f32_32x32x4_2b_bf16` after the operation.
    fn of_name(name: &str, bits: u32, lanes: u32, sparse: bool) -> Option<Product> {
        let (_, shape) = name.split_once('_')?;
        let (m, rest) = number(shape)?;
        let (n, rest) = number(rest.strip_prefix('x')?)?;
        let (k, rest) = number(rest.strip_prefix('x')?)?;
        let mut types = rest.strip_prefix('_').unwrap_or(rest);
        // The number of blocks follows from the rest.
        if let Some((_, after)) = number(types).and_then(|(n, rest)| Some((n, rest.strip_prefix("b_")?))) {
            types = after;
        }
        let (a, b) = match Element::of_name(types) {
            Some(element) => (element, element),
            None => {
                let (a, b) = types.split_once('_')?;
                (Element::of_name(a)?, Element::of_name(b)?)
            }
        };
        let each = bits / a.bits();
        let stored = if sparse { k / 2 } else { k };
        let blocks = (lanes * each / (m * stored)).max(1);
        Some(Product { m, n, k, blocks, a, b, each, sparse })
    }
}

/// The lanes' parts of a product: numbers that depend on the lane.
struct Lanes {
    /// The lane of A's row for the result's first row of this lane.
    row: Value,
    /// The lane of B's column.
    column: Value,
}

impl Registers {
    /// Lowers a matrix product; whether the name is one.
    pub fn matrix(&mut self, inst: &Inst, name: &str) -> Result<bool> {
        let found = PRODUCTS.iter().find_map(|row| Some((name.strip_prefix(row.0)?, row.1, row.2)));
        let Some((rest, family, sparse)) = found else { return Ok(false) };
        if family == Family::Wave {
            self.wave_product(inst, rest, sparse)?;
            return Ok(true);
        }
        let bits = operand(inst, Role::Src0)?.bits;
        let product = Product::of_name(rest, bits.into(), 64, sparse).ok_or("its shape is not known")?;
        if self.lanes != 64 {
            return Err("matrix products need waves of 64 lanes".to_owned());
        }
        self.fused_product(inst, product)?;
        Ok(true)
    }

    fn lane(&mut self) -> Value {
        self.op1(Op::Special(SReg::LaneId), &[])
    }

    fn plus(&mut self, value: Value, more: u32) -> Value {
        if more == 0 {
            return value;
        }
        let more = self.word(more);
        self.int(IntOp::Add, value, more)
    }

    fn divided(&mut self, value: Value, by: u32) -> Value {
        let by = self.word(by.trailing_zeros());
        self.shift(ShiftOp::ShrU, value, by)
    }

    fn times(&mut self, value: Value, by: u32) -> Value {
        let by = self.word(by.trailing_zeros());
        self.shift(ShiftOp::Shl, value, by)
    }

    /// All words of an operand.
    fn all_words(&mut self, o: &Operand) -> Result<Vec<Value>> {
        let count = (o.bits / 32).max(1);
        match o.value {
            Place::Vgpr(_) | Place::Agpr(_) => self.words(o.value, count),
            // A constant is that of each element.
            _ if o.bits == 64 || matches!(o.value, Place::Float(_)) && o.ty == gcn::isa::Type::F64 => {
                let value = self.read(o)?;
                let value = self.resized(value, Ty::I64);
                let (low, high) = self.halves(value);
                Ok((0..count).map(|word| if word % 2 == 0 { low } else { high }).collect())
            }
            _ => {
                let single = Operand { bits: 32, ..*o };
                let value = self.read(&single)?;
                Ok(vec![value; usize::from(count)])
            }
        }
    }

    /// An element of words, as an f32, an f64 or an i32.
    fn element(&mut self, words: &[Value], index: u32, element: Element) -> Result<Value> {
        let bits = element.bits();
        if bits == 64 {
            let at = index as usize * 2;
            return Ok(self.whole(words[at], words[at + 1]));
        }
        let word = words[(index * bits / 32) as usize];
        let (position, length) = (self.word(index * bits % 32), self.word(bits));
        let signed = matches!(element, Element::Int(_, true));
        let part = if bits == 32 {
            word
        } else {
            self.op1(Op::Bfe { signed, ty: Ty::I32 }, &[word, position, length])
        };
        let flushes = self.generation == Generation::Gfx90a;
        Ok(match element {
            Element::F16 => {
                let half = self.resized(part, Ty::I16);
                let value = self.op1(
                    Op::FloatToFloat { from: Fmt::F16, mode: FloatMode::rn(Fmt::F32), relu: false },
                    &[half],
                );
                if !flushes {
                    return Ok(value);
                }
                let exponent = self.word(0x7c00);
                let exponent = self.int(IntOp::And, part, exponent);
                let normal = self.is_not_zero(exponent);
                let zero = self.word(0);
                self.select(normal, value, zero)
            }
            Element::Bf16 => {
                let by = self.word(16);
                self.shift(ShiftOp::Shl, part, by)
            }
            Element::Xf32 => {
                // To nearest even: half of the last place less one, and the last bit that stays.
                let (thirteen, one, less) = (self.word(13), self.word(1), self.word(0xfff));
                let last = self.shift(ShiftOp::ShrU, part, thirteen);
                let last = self.int(IntOp::And, last, one);
                let sum = self.int(IntOp::Add, part, less);
                let sum = self.int(IntOp::Add, sum, last);
                let kept = self.word(0xffff_e000);
                let rounded = self.int(IntOp::And, sum, kept);
                let (size, last) = (self.word(0x7fff_ffff), self.word(0x7f80_0000));
                let size = self.int(IntOp::And, part, size);
                let finite = self.compare(IntCmp::LtU, size, last);
                self.select(finite, rounded, part)
            }
            Element::Fp8 | Element::Bf8 => {
                let name = if element == Element::Fp8 { "fp8" } else { "bf8" };
                let scope =
                    Scope { names: vec![("x", part)], fmt: Fmt::F32, exact: None, table: table::vector() };
                let meaning = Expr::Apply(name, Vec::new(), vec![Expr::Name("x")]);
                self.evaluate(&scope, &meaning, Ty::I32)?
            }
            Element::F32 | Element::F64 | Element::Int(..) => part,
        })
    }

    /// A sum and a product of elements.
    fn accumulated(&mut self, element: Element, a: Value, b: Value, sum: Value) -> Value {
        match element {
            Element::Int(..) => {
                let product = self.int(IntOp::Mul, a, b);
                self.int(IntOp::Add, sum, product)
            }
            Element::F64 => self.op1(Op::Fma(FloatMode::rn(Fmt::F64)), &[a, b, sum]),
            _ => {
                let halves = matches!(element, Element::F16 | Element::Bf16);
                let ftz = halves && self.generation == Generation::Gfx90a;
                self.op1(Op::Fma(FloatMode { ftz, ..FloatMode::rn(Fmt::F32) }), &[a, b, sum])
            }
        }
    }

    /// Words of another lane.
    fn words_of_lane(&mut self, words: &[Value], lane: Value) -> Vec<Value> {
        words.iter().map(|word| self.of_lane(*word, lane)).collect()
    }

    /// `v_mfma` and `v_smfmac`.
    fn fused_product(&mut self, inst: &Inst, p: Product) -> Result<()> {
        let wide = p.a == Element::F64;
        let small = p.m == 4;
        let result = *operand(inst, Role::Vdst)?;
        let a = self.all_words(operand(inst, Role::Src0)?)?;
        let b = self.all_words(operand(inst, Role::Src1)?)?;
        // A sparse product adds to its result, and its third source says which elements of A are stored.
        let c = if p.sparse { self.all_words(&result)? } else { self.all_words(operand(inst, Role::Src2)?)? };
        let indices = if p.sparse {
            Some(match inst.operand(Role::Idx) {
                Some(index) => self.read(index)?,
                None => self.source(inst, Role::Src2)?,
            })
        } else {
            None
        };
        let (cbsz, abid, blgp) =
            (inst.modifier(Mod::Cbsz), inst.modifier(Mod::Abid), inst.modifier(Mod::Blgp));
        let lane = self.lane();
        let within = self.amount(lane, p.n);
        let group = self.divided(lane, p.n);
        let lanes = match (small, wide) {
            // Rows of four, of which each group of lanes has every fourth four.
            (false, false) => Lanes { row: self.times(group, 4), column: within },
            (false, true) => Lanes { row: group, column: within },
            (true, false) => Lanes { row: self.times(group, 4), column: lane },
            (true, true) => {
                let block = self.amount(group, 4);
                let row = self.divided(lane, 16);
                let block = self.times(block, 4);
                Lanes { row: self.int(IntOp::Add, row, block), column: self.amount(lane, 16) }
            }
        };
        let count = c.len() / if wide { 2 } else { 1 };
        // Elements of the result that a lane has of a block.
        let of_block = if small { count as u32 } else { p.m * p.n / 64 };
        let step = 4 * (64 / p.n);
        let groups = if small && wide { p.k } else { (p.k / if p.sparse { 2 } else { 1 } / p.each).max(1) };
        let mut columns: Vec<((u32, u32), Vec<Value>)> = Vec::new();
        let mut results = Vec::new();
        for r in 0..count as u32 {
            let (block, q) = if small { (0, r) } else { (r / of_block, r % of_block) };
            let row = match (small, wide) {
                (false, false) => (q / 4) * step + q % 4,
                (false, true) => 4 * q,
                (true, false) => q,
                (true, true) => 0,
            };
            let mut sum =
                if wide { self.whole(c[r as usize * 2], c[r as usize * 2 + 1]) } else { c[r as usize] };
            if wide && blgp & 4 != 0 {
                sum = self.signed(Fmt::F64, sum, false, true);
            }
            for part in 0..groups {
                // Blocks, or parts of a row, are in groups of lanes.
                let place = if p.blocks > 1 && !small { block } else { part };
                let from = (place >> cbsz << cbsz) + if cbsz > 0 { abid } else { 0 };
                let mut from_a = match (small, wide) {
                    (true, true) => self.plus(lanes.row, part * 16),
                    (true, false) => {
                        // The block is the lane's, or the one that is broadcast.
                        let kept = self.word(!((4u32 << cbsz) - 1));
                        let start = self.int(IntOp::And, lanes.row, kept);
                        self.plus(start, if cbsz > 0 { abid * 4 } else { 0 } + row)
                    }
                    _ => self.plus(lanes.row, row + p.m * if p.blocks > 1 { from } else { part }),
                };
                from_a = self.amount(from_a, 64);
                let words_a = self.words_of_lane(&a, from_a);
                let chosen = indices.map(|index| self.of_lane(index, from_a));
                let known =
                    columns.iter().find(|(key, _)| *key == (place, part)).map(|(_, words)| words.clone());
                let words_b = match known {
                    Some(words) => words,
                    None => {
                        let at = match (small, wide) {
                            (true, true) => self.plus(lanes.column, part * 16),
                            (true, false) => lanes.column,
                            _ => self.plus(lanes.column, p.n * place),
                        };
                        let at = if wide { at } else { self.of_group(at, blgp) };
                        let words = self.words_of_lane(&b, at);
                        columns.push(((place, part), words.clone()));
                        words
                    }
                };
                for index in 0..p.each {
                    let mut x = self.element(&words_a, index, p.a)?;
                    if wide && blgp & 1 != 0 {
                        x = self.signed(Fmt::F64, x, false, true);
                    }
                    let mut y = match chosen {
                        None => self.element(&words_b, index, p.b)?,
                        Some(chosen) => self.chosen_of_four(inst, p, &words_b, chosen, index)?,
                    };
                    if wide && blgp & 2 != 0 {
                        y = self.signed(Fmt::F64, y, false, true);
                    }
                    sum = self.accumulated(p.a, x, y, sum);
                }
            }
            if wide {
                let (low, high) = self.halves(sum);
                results.extend([low, high]);
            } else {
                results.push(sum);
            }
        }
        self.write_words(&result, &results)
    }

    /// The lane that B is read from, by the control for groups of lanes.
    fn of_group(&mut self, lane: Value, control: u32) -> Value {
        match control {
            0 => lane,
            1 => self.amount(lane, 32),
            2 => {
                let low = self.amount(lane, 32);
                self.plus(low, 32)
            }
            3 => {
                let next = self.plus(lane, 16);
                self.amount(next, 64)
            }
            _ => {
                let low = self.amount(lane, 16);
                self.plus(low, (control - 4) * 16)
            }
        }
    }

    /// The element of B that belongs to a stored element of A: two of each four are stored, and two bits for
    /// each say which.
    fn chosen_of_four(
        &mut self,
        inst: &Inst,
        p: Product,
        b: &[Value],
        indices: Value,
        index: u32,
    ) -> Result<Value> {
        let bits = p.each * 2;
        let set = if inst.modifier(Mod::Cbsz) == 0 { inst.modifier(Mod::Abid) % (32 / bits) } else { 0 };
        self.one_of_four(p.b, b, indices, set * bits + index * 2, index / 2 * 4)
    }

    /// One of the four elements from `first` on: two bits at a position of the indices say which.
    fn one_of_four(
        &mut self,
        element: Element,
        words: &[Value],
        indices: Value,
        position: u32,
        first: u32,
    ) -> Result<Value> {
        let (position, length) = (self.word(position), self.word(2));
        let which = self.op1(Op::Bfe { signed: false, ty: Ty::I32 }, &[indices, position, length]);
        let mut value = self.element(words, first, element)?;
        for other in 1..4 {
            let candidate = self.element(words, first + other, element)?;
            let number = self.word(other);
            let is = self.compare(IntCmp::Eq, which, number);
            value = self.select(is, candidate, value);
        }
        Ok(value)
    }

    /// Writes words from a register on, in all lanes.
    fn write_words(&mut self, o: &Operand, words: &[Value]) -> Result<()> {
        for (index, word) in words.iter().enumerate() {
            let register = match o.value {
                Place::Vgpr(first) => Reg::Vector(first + index as u16),
                Place::Agpr(first) => Reg::Vector(ACCUMULATORS + first + index as u16),
                _ => return Err("the result is no vector register".to_owned()),
            };
            self.set(register, *word);
        }
        Ok(())
    }

    /// `v_wmma`: a product of 16 by 16 elements. On gfx11 a row of A, or a column of B, is in each of the
    /// first 16 lanes. On gfx12 each group of 16 lanes has a part of it, and as many rows of the result one
    /// after the other, of which f16 and bf16 are two to a word.
    ///
    /// `v_swmmac` (gfx12) adds to its result, and A has half of the elements: two of each four, which the
    /// third source names. AMD's matrix instruction calculator says which part a group has; since it is the
    /// same of A and B, only the sums' order depends on it.
    fn wave_product(&mut self, inst: &Inst, name: &str, sparse: bool) -> Result<()> {
        let (to, _) = name.split_once('_').ok_or("its shape is not known")?;
        let sources = [Role::Src0, Role::Src1].map(|role| operand(inst, role).copied());
        let [a, b] = sources;
        let (a, b) = (a?, b?);
        let result = *operand(inst, Role::Vdst)?;
        let parted = self.generation == Generation::Gfx12;
        let p = Product::of_name(name, u32::from(a.bits), 16, sparse).ok_or("its shape is not known")?;
        // The groups that have parts of A and of B: small elements fill only those of half of the lanes.
        let stored = if sparse { p.k / 2 } else { p.k };
        let groups = if parted { (stored / p.each).max(1) } else { 1 };
        let groups_b = if parted { (p.k / (u32::from(b.bits) / p.b.bits())).max(1) } else { 1 };
        let (low, high) = (inst.modifier(Mod::NegLo), inst.modifier(Mod::NegHi));
        let is_int = matches!(p.a, Element::Int(..));
        let mut words = [self.all_words(&a)?, self.all_words(&b)?];
        if !is_int {
            for (number, words) in words.iter_mut().enumerate() {
                let signs = (low >> number & 1) << 15 | (high >> number & 1) << 31;
                if signs != 0 {
                    let signs = self.word(signs);
                    words.iter_mut().for_each(|word| *word = self.int(IntOp::Xor, *word, signs));
                }
            }
        }
        let signed = |number: u32, element: Element| match element {
            Element::Int(bits, _) => Element::Int(bits, low >> number & 1 == 1),
            other => other,
        };
        let (first, second) = (signed(0, p.a), signed(1, p.b));
        let half = match to {
            "f16" => Some(Fmt::F16),
            "bf16" => Some(Fmt::BF16),
            _ => None,
        };
        let upper = inst.modifier(Mod::OpSel) >> 2 & 1 == 1;
        let old = self.all_words(&result)?;
        let c = if sparse { old.clone() } else { self.all_words(operand(inst, Role::Src2)?)? };
        let indices = if sparse { Some(self.source(inst, Role::Src2)?) } else { None };
        // Which part of the word has the indices.
        let key = inst.modifier(Mod::IndexKey8).max(inst.modifier(Mod::IndexKey16)) * p.each * 2;
        let lane = self.lane();
        let column = self.amount(lane, 16);
        let mut group = self.divided(lane, 16);
        if parted && self.lanes == 64 {
            // The second group has the third quarter of the rows.
            let (low, one) = (self.amount(group, 2), self.word(1));
            let low = self.shift(ShiftOp::Shl, low, one);
            let high = self.shift(ShiftOp::ShrU, group, one);
            group = self.int(IntOp::Or, low, high);
        }
        let words_b: Vec<_> = (0..groups_b)
            .map(|part| {
                let from = self.plus(column, part * 16);
                self.words_of_lane(&words[1], from)
            })
            .collect();
        let clamp = is_int && inst.modifier(Mod::Clamp) == 1;
        // Elements of the result in a word, and the number of words.
        let each = if parted && half.is_some() { 2 } else { 1 };
        let count = c.len() as u32;
        let mut results = Vec::new();
        for (r, (c, old)) in (0u32..).zip(c.into_iter().zip(old)) {
            let mut sums = Vec::new();
            for part in 0..each {
                let row = if parted {
                    let first = self.times(group, count * each);
                    self.plus(first, r * each + part)
                } else {
                    self.plus(group, r * (self.lanes / 16))
                };
                let mut sum = match half {
                    Some(fmt) => {
                        let of = self.half_of(c, if parted { part == 1 } else { upper });
                        let mode = FloatMode::rn(Fmt::F32);
                        self.op1(Op::FloatToFloat { from: fmt, mode, relu: false }, &[of])
                    }
                    None => c,
                };
                if !is_int {
                    sum = self.signed(Fmt::F32, sum, high >> 2 & 1 == 1, low >> 2 & 1 == 1);
                }
                if clamp {
                    sum = self.op1(Op::Sext { from: Ty::I32, to: Ty::I64 }, &[sum]);
                }
                for place in 0..groups {
                    let from = self.plus(row, place * 16);
                    let words_a = self.words_of_lane(&words[0], from);
                    let chosen = indices.map(|index| self.of_lane(index, from));
                    for index in 0..stored / groups {
                        let x = self.element(&words_a, index, first)?;
                        // Of B, twice as many groups may have the same elements.
                        let half = stored / groups_b;
                        let words_b = &words_b[(place + index / half * groups) as usize];
                        let y = match chosen {
                            None => self.element(words_b, index % half, second)?,
                            Some(chosen) => {
                                let at = key + index * 2;
                                self.one_of_four(second, words_b, chosen, at, index % half / 2 * 4)?
                            }
                        };
                        sum = if clamp {
                            let product = self.int(IntOp::Mul, x, y);
                            let product = self.op1(Op::Sext { from: Ty::I32, to: Ty::I64 }, &[product]);
                            self.int(IntOp::Add, sum, product)
                        } else {
                            self.accumulated(first, x, y, sum)
                        };
                    }
                }
                if clamp {
                    let op = Op::IntSat { from: Ty::I64, from_signed: true, to: Ty::I32, to_signed: true };
                    sum = self.op1(op, &[sum]);
                }
                sums.push(match half {
                    Some(fmt) => {
                        let mode = FloatMode::rn(fmt);
                        self.op1(Op::FloatToFloat { from: Fmt::F32, mode, relu: false }, &[sum])
                    }
                    None => sum,
                });
            }
            results.push(match (half, sums[..].try_into()) {
                (None, _) => sums[0],
                (Some(_), Ok(both)) => {
                    let both: [Value; 2] = both;
                    self.op1(Op::Pack { part: Ty::I16, whole: Ty::I32 }, &both)
                }
                (Some(_), Err(_)) => {
                    let other = self.half_of(old, !upper);
                    let parts = if upper { [other, sums[0]] } else { [sums[0], other] };
                    self.op1(Op::Pack { part: Ty::I16, whole: Ty::I32 }, &parts)
                }
            });
        }
        self.write_words(&result, &results)
    }
}
