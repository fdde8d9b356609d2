//! Matrix products of a wave, interpreted and compiled, against sums of products. The elements are small
//! integers, so that every order of sums gives the same.

use std::collections::HashMap;
use std::fmt::Write;

use cpu::{Engine, Program, Target};
use hwtruth::sample::{self, every_way};

use crate::model::{halves, later};
use crate::values;

/// Words of a lane: A, B, the indices of a sparse product and C.
const IN: usize = 56;
const AT_B: usize = 8;
const AT_INDEX: usize = 16;
const AT_C: usize = 24;
/// Words that a lane leaves.
const OUT: usize = 32;

/// The type of elements, with their bits in memory.
#[derive(Clone, Copy, PartialEq)]
enum Type {
    F16,
    Bf16,
    F32,
    F64,
    I8,
    I4,
    Fp8,
    Bf8,
    /// The formats of the Open Compute Project (gfx12).
    Ofp8,
    Obf8,
}

impl Type {
    fn bits(self) -> usize {
        match self {
            Type::F64 => 64,
            Type::F32 => 32,
            Type::F16 | Type::Bf16 => 16,
            Type::I4 => 4,
            _ => 8,
        }
    }

    fn encode(self, v: i32) -> u64 {
        let search = |fraction, bias| {
            (0..=255u8).find(|bits| later::small(*bits, fraction, bias) == v as f32).expect("a small number")
        };
        match self {
            Type::F16 => halves::to(v.into()).into(),
            Type::Bf16 => u64::from((v as f32).to_bits() >> 16),
            Type::F32 => (v as f32).to_bits().into(),
            Type::F64 => f64::from(v).to_bits(),
            Type::I8 => v as u64 & 255,
            Type::I4 => v as u64 & 15,
            Type::Fp8 => search(3, 8).into(),
            Type::Bf8 => search(2, 16).into(),
            Type::Ofp8 => search(3, 7).into(),
            Type::Obf8 => search(2, 15).into(),
        }
    }
}

/// A product: its instruction without registers, the shape, the elements of A and of B in a lane's registers,
/// the type of the result, and which blocks A comes from.
struct Shape {
    name: &'static str,
    controls: &'static str,
    size: [usize; 3],
    blocks: usize,
    types: [Type; 2],
    each: usize,
    result: Type,
    /// Whether each group of 16 lanes has a part of each row (gfx12).
    parted: bool,
    /// Whether such a product is one of 64 lanes.
    wide: bool,
    /// The opcode, of those that the assembler does not know (gfx950).
    opcode: u32,
    /// The block of A that a block of the result is a product of.
    of_block: fn(usize) -> usize,
    /// The lane that B of a lane comes from.
    of_lane: fn(usize) -> usize,
}

const fn shape(
    name: &'static str,
    size: [usize; 3],
    blocks: usize,
    types: [Type; 2],
    each: usize,
    result: Type,
) -> Shape {
    Shape {
        name,
        controls: "",
        size,
        blocks,
        types,
        each,
        result,
        parted: false,
        wide: false,
        opcode: 0,
        of_block: |block| block,
        of_lane: |lane| lane,
    }
}

use Type::{Bf8, Bf16, F16, F32, F64, Fp8, I4, I8, Obf8, Ofp8};

const GFX908: &[Shape] = &[
    shape("v_mfma_f32_32x32x1f32", [32, 32, 1], 2, [F32; 2], 1, F32),
    shape("v_mfma_f32_16x16x1f32", [16, 16, 1], 4, [F32; 2], 1, F32),
    shape("v_mfma_f32_4x4x1f32", [4, 4, 1], 16, [F32; 2], 1, F32),
    shape("v_mfma_f32_32x32x2f32", [32, 32, 2], 1, [F32; 2], 1, F32),
    shape("v_mfma_f32_16x16x4f32", [16, 16, 4], 1, [F32; 2], 1, F32),
    shape("v_mfma_f32_32x32x4f16", [32, 32, 4], 2, [F16; 2], 4, F32),
    shape("v_mfma_f32_16x16x4f16", [16, 16, 4], 4, [F16; 2], 4, F32),
    shape("v_mfma_f32_4x4x4f16", [4, 4, 4], 16, [F16; 2], 4, F32),
    shape("v_mfma_f32_32x32x8f16", [32, 32, 8], 1, [F16; 2], 4, F32),
    shape("v_mfma_f32_16x16x16f16", [16, 16, 16], 1, [F16; 2], 4, F32),
    shape("v_mfma_i32_32x32x4i8", [32, 32, 4], 2, [I8; 2], 4, I8),
    shape("v_mfma_i32_16x16x4i8", [16, 16, 4], 4, [I8; 2], 4, I8),
    shape("v_mfma_i32_4x4x4i8", [4, 4, 4], 16, [I8; 2], 4, I8),
    shape("v_mfma_i32_32x32x8i8", [32, 32, 8], 1, [I8; 2], 4, I8),
    shape("v_mfma_i32_16x16x16i8", [16, 16, 16], 1, [I8; 2], 4, I8),
    shape("v_mfma_f32_32x32x2bf16", [32, 32, 2], 2, [Bf16; 2], 2, F32),
    shape("v_mfma_f32_16x16x2bf16", [16, 16, 2], 4, [Bf16; 2], 2, F32),
    shape("v_mfma_f32_4x4x2bf16", [4, 4, 2], 16, [Bf16; 2], 2, F32),
    shape("v_mfma_f32_32x32x4bf16", [32, 32, 4], 1, [Bf16; 2], 2, F32),
    shape("v_mfma_f32_16x16x8bf16", [16, 16, 8], 1, [Bf16; 2], 2, F32),
    Shape {
        controls: " cbsz:1 abid:1",
        of_block: |block| block / 2 * 2 + 1,
        ..shape("v_mfma_f32_16x16x4f16", [16, 16, 4], 4, [F16; 2], 4, F32)
    },
    Shape {
        controls: " cbsz:2 abid:3",
        of_block: |block| block / 4 * 4 + 3,
        ..shape("v_mfma_f32_4x4x1f32", [4, 4, 1], 16, [F32; 2], 1, F32)
    },
    Shape {
        controls: " blgp:1",
        of_lane: |lane| lane % 32,
        ..shape("v_mfma_f32_32x32x2f32", [32, 32, 2], 1, [F32; 2], 1, F32)
    },
    Shape {
        controls: " blgp:2",
        of_lane: |lane| lane % 32 + 32,
        ..shape("v_mfma_f32_32x32x4f16", [32, 32, 4], 2, [F16; 2], 4, F32)
    },
    Shape {
        controls: " blgp:3",
        of_lane: |lane| (lane + 16) % 64,
        ..shape("v_mfma_f32_16x16x16f16", [16, 16, 16], 1, [F16; 2], 4, F32)
    },
    Shape {
        controls: " blgp:6",
        of_lane: |lane| lane % 16 + 32,
        ..shape("v_mfma_f32_4x4x4f16", [4, 4, 4], 16, [F16; 2], 4, F32)
    },
];

const GFX90A: &[Shape] = &[
    shape("v_mfma_f32_32x32x4bf16_1k", [32, 32, 4], 2, [Bf16; 2], 4, F32),
    shape("v_mfma_f32_16x16x4bf16_1k", [16, 16, 4], 4, [Bf16; 2], 4, F32),
    shape("v_mfma_f32_4x4x4bf16_1k", [4, 4, 4], 16, [Bf16; 2], 4, F32),
    shape("v_mfma_f32_32x32x8bf16_1k", [32, 32, 8], 1, [Bf16; 2], 4, F32),
    shape("v_mfma_f32_16x16x16bf16_1k", [16, 16, 16], 1, [Bf16; 2], 4, F32),
    shape("v_mfma_f64_16x16x4f64", [16, 16, 4], 1, [F64; 2], 1, F64),
    shape("v_mfma_f64_4x4x4f64", [4, 4, 4], 4, [F64; 2], 1, F64),
    shape("v_mfma_f32_32x32x8f16", [32, 32, 8], 1, [F16; 2], 4, F32),
];

const GFX942: &[Shape] = &[
    shape("v_mfma_i32_32x32x16_i8", [32, 32, 16], 1, [I8; 2], 8, I8),
    shape("v_mfma_i32_16x16x32_i8", [16, 16, 32], 1, [I8; 2], 8, I8),
    shape("v_mfma_f32_16x16x8_xf32", [16, 16, 8], 1, [F32; 2], 2, F32),
    shape("v_mfma_f32_32x32x4_xf32", [32, 32, 4], 1, [F32; 2], 2, F32),
    shape("v_mfma_f32_16x16x32_fp8_fp8", [16, 16, 32], 1, [Fp8; 2], 8, F32),
    shape("v_mfma_f32_16x16x32_bf8_fp8", [16, 16, 32], 1, [Bf8, Fp8], 8, F32),
    shape("v_mfma_f32_32x32x16_fp8_bf8", [32, 32, 16], 1, [Fp8, Bf8], 8, F32),
    shape("v_mfma_f32_4x4x4_16b_f16", [4, 4, 4], 16, [F16; 2], 4, F32),
    shape("v_mfma_f64_4x4x4_4b_f64", [4, 4, 4], 4, [F64; 2], 1, F64),
];

/// Products of gfx950 with their opcodes.
const GFX950: &[Shape] = &[
    Shape { opcode: 0x54, ..shape("v_mfma_f32_16x16x32_f16", [16, 16, 32], 1, [F16; 2], 8, F32) },
    Shape { opcode: 0x55, ..shape("v_mfma_f32_32x32x16_f16", [32, 32, 16], 1, [F16; 2], 8, F32) },
    Shape { opcode: 0x35, ..shape("v_mfma_f32_16x16x32_bf16", [16, 16, 32], 1, [Bf16; 2], 8, F32) },
    Shape { opcode: 0x37, ..shape("v_mfma_f32_32x32x16_bf16", [32, 32, 16], 1, [Bf16; 2], 8, F32) },
    Shape { opcode: 0x36, ..shape("v_mfma_i32_16x16x64_i8", [16, 16, 64], 1, [I8; 2], 16, I8) },
    Shape { opcode: 0x38, ..shape("v_mfma_i32_32x32x32_i8", [32, 32, 32], 1, [I8; 2], 16, I8) },
    Shape { opcode: 0x5a, ..shape("v_smfmac_f32_16x16x64_f16", [16, 16, 64], 1, [F16; 2], 8, F32) },
    Shape { opcode: 0x47, ..shape("v_smfmac_i32_32x32x64_i8", [32, 32, 64], 1, [I8; 2], 16, I8) },
    Shape {
        opcode: 0x3c,
        ..shape("v_smfmac_f32_16x16x128_bf8_fp8", [16, 16, 128], 1, [Obf8, Ofp8], 16, F32)
    },
];

/// Where the header of an ELF file has flags, and the number of gfx950 in them.
const FLAGS: usize = 0x30;
const MACH_GFX950: u8 = 0x4f;

/// Sparse products: A has half of K.
const SPARSE: &[Shape] = &[
    shape("v_smfmac_f32_16x16x32_f16", [16, 16, 32], 1, [F16; 2], 4, F32),
    shape("v_smfmac_f32_32x32x16_bf16", [32, 32, 16], 1, [Bf16; 2], 4, F32),
    shape("v_smfmac_i32_16x16x64_i8", [16, 16, 64], 1, [I8; 2], 8, I8),
    shape("v_smfmac_i32_32x32x32_i8", [32, 32, 32], 1, [I8; 2], 8, I8),
    shape("v_smfmac_f32_16x16x64_bf8_fp8", [16, 16, 64], 1, [Bf8, Fp8], 8, F32),
];

const GFX1100: &[Shape] = &[
    shape("v_wmma_f32_16x16x16_f16", [16; 3], 1, [F16; 2], 16, F32),
    shape("v_wmma_f32_16x16x16_bf16", [16; 3], 1, [Bf16; 2], 16, F32),
    shape("v_wmma_f16_16x16x16_f16", [16; 3], 1, [F16; 2], 16, F16),
    Shape { controls: " neg_lo:[1,1,0]", ..shape("v_wmma_i32_16x16x16_iu8", [16; 3], 1, [I8; 2], 16, I8) },
    Shape { controls: " neg_lo:[1,1,0]", ..shape("v_wmma_i32_16x16x16_iu4", [16; 3], 1, [I4; 2], 16, I8) },
];

const GFX1201: &[Shape] = &[
    parted(shape("v_wmma_f32_16x16x16_f16", [16; 3], 1, [F16; 2], 8, F32)),
    parted(shape("v_wmma_f32_16x16x16_bf16", [16; 3], 1, [Bf16; 2], 8, F32)),
    parted(shape("v_wmma_f16_16x16x16_f16", [16; 3], 1, [F16; 2], 8, F16)),
    parted(shape("v_wmma_f32_16x16x16_fp8_bf8", [16; 3], 1, [Ofp8, Obf8], 8, F32)),
    Shape {
        controls: " neg_lo:[1,1,0]",
        ..parted(shape("v_wmma_i32_16x16x16_iu8", [16; 3], 1, [I8; 2], 8, I8))
    },
    Shape {
        controls: " neg_lo:[1,1,0]",
        ..parted(shape("v_wmma_i32_16x16x16_iu4", [16; 3], 1, [I4; 2], 8, I8))
    },
    Shape {
        controls: " neg_lo:[1,1,0]",
        ..parted(shape("v_wmma_i32_16x16x32_iu4", [16, 16, 32], 1, [I4; 2], 16, I8))
    },
];

/// Sparse products of gfx12.
const SPARSE_GFX1201: &[Shape] = &[
    parted(shape("v_swmmac_f32_16x16x32_f16", [16, 16, 32], 1, [F16; 2], 8, F32)),
    parted(shape("v_swmmac_f32_16x16x32_bf16", [16, 16, 32], 1, [Bf16; 2], 8, F32)),
    parted(shape("v_swmmac_f16_16x16x32_f16", [16, 16, 32], 1, [F16; 2], 8, F16)),
    parted(shape("v_swmmac_f32_16x16x32_bf8_fp8", [16, 16, 32], 1, [Obf8, Ofp8], 8, F32)),
    signed(parted(shape("v_swmmac_i32_16x16x32_iu8", [16, 16, 32], 1, [I8; 2], 8, I8))),
    signed(parted(shape("v_swmmac_i32_16x16x32_iu4", [16, 16, 32], 1, [I4; 2], 8, I8))),
    signed(parted(shape("v_swmmac_i32_16x16x64_iu4", [16, 16, 64], 1, [I4; 2], 16, I8))),
];

/// Products of gfx12 in waves of 64 lanes.
const WIDE_GFX1201: &[Shape] = &[
    wide(shape("v_wmma_f32_16x16x16_f16", [16; 3], 1, [F16; 2], 4, F32)),
    wide(shape("v_wmma_f16_16x16x16_f16", [16; 3], 1, [F16; 2], 4, F16)),
    wide(shape("v_wmma_f32_16x16x16_fp8_bf8", [16; 3], 1, [Ofp8, Obf8], 4, F32)),
    signed(wide(shape("v_wmma_i32_16x16x16_iu8", [16; 3], 1, [I8; 2], 4, I8))),
    signed(wide(shape("v_wmma_i32_16x16x16_iu4", [16; 3], 1, [I4; 2], 8, I8))),
    signed(wide(shape("v_wmma_i32_16x16x32_iu4", [16, 16, 32], 1, [I4; 2], 8, I8))),
    wide(shape("v_swmmac_f32_16x16x32_f16", [16, 16, 32], 1, [F16; 2], 4, F32)),
    wide(shape("v_swmmac_f32_16x16x32_fp8_fp8", [16, 16, 32], 1, [Ofp8; 2], 4, F32)),
    signed(wide(shape("v_swmmac_i32_16x16x32_iu8", [16, 16, 32], 1, [I8; 2], 4, I8))),
    signed(wide(shape("v_swmmac_i32_16x16x32_iu4", [16, 16, 32], 1, [I4; 2], 8, I8))),
    signed(wide(shape("v_swmmac_i32_16x16x64_iu4", [16, 16, 64], 1, [I4; 2], 8, I8))),
];

const fn parted(shape: Shape) -> Shape {
    Shape { parted: true, ..shape }
}

const fn wide(shape: Shape) -> Shape {
    Shape { parted: true, wide: true, ..shape }
}

const fn signed(shape: Shape) -> Shape {
    Shape { controls: " neg_lo:[1,1,0]", ..shape }
}

impl Shape {
    /// Whether it is a product of RDNA.
    fn is_wmma(&self) -> bool {
        self.name.starts_with("v_wmma") || self.name.starts_with("v_swmmac")
    }

    fn lanes(&self) -> usize {
        if self.is_wmma() && !self.wide { 32 } else { 64 }
    }

    fn is_sparse(&self) -> bool {
        self.name.starts_with("v_smfmac") || self.name.starts_with("v_swmmac")
    }

    /// Elements of a column of B that a lane has.
    fn each_of_b(&self) -> usize {
        // Of small elements, 64 lanes have room for all columns in one register.
        let half = self.wide && self.name.contains("16x16x32_iu4") && self.is_sparse();
        self.each * if self.is_sparse() && !half { 2 } else { 1 }
    }

    /// The group of 16 lanes and the slot of a place in k, where lanes hold `each` places, as AMD's matrix
    /// instruction calculator has it for gfx12.
    fn part(&self, k: usize, each: usize) -> (usize, usize) {
        let bits = self.types[0].bits();
        match (self.wide, bits) {
            // Eight places for each group in turn.
            (false, 16) if each == 16 => (k / 8 % 2, k % 8 + k / 16 * 8),
            (true, 4 | 8) if self.size[2] / each == 4 => ([0, 2, 1, 3][k / each], k % each),
            _ => (k / each, k % each),
        }
    }

    /// The lane and the slot of an element of A or B: its row or column, its block and its place in k.
    fn source(&self, block: usize, row: usize, k: usize, each: usize) -> (usize, usize) {
        match self.size[0] {
            _ if self.parted => {
                let (group, slot) = self.part(k, each);
                (row + 16 * group, slot)
            }
            _ if self.is_wmma() => (row, k),
            4 if self.types[0] == F64 => (row + 4 * block + 16 * k, 0),
            size if self.blocks > 1 => (row + size * block, k),
            size => (row + size * (k / each), k % each),
        }
    }

    /// The lane and the register of an element of the result.
    fn result(&self, block: usize, i: usize, j: usize) -> (usize, usize) {
        match self.size[0] {
            // Rows 0 to 3, 8 to 11, 4 to 7, 12 to 15.
            _ if self.wide => (j + 16 * (i / 8 + i / 4 % 2 * 2), i % 4),
            _ if self.parted => (j + 16 * (i / 8), i % 8),
            _ if self.is_wmma() => (j + 16 * (i % 2), i / 2),
            4 if self.types[0] == F64 => (j + 4 * block + 16 * i, 0),
            16 if self.types[0] == F64 => (j + 16 * (i % 4), i / 4),
            4 => (j + 4 * block, i),
            32 => (j + 32 * (i / 4 % 2), 16 * block + i / 8 * 4 + i % 4),
            _ => (j + 16 * (i / 4), 4 * block + i % 4),
        }
    }

    /// Bits of an element of the result in a register.
    fn element(&self) -> usize {
        if self.parted && self.result == F16 { 16 } else { self.result.bits().max(32) }
    }

    /// Words of the result.
    fn words(&self) -> usize {
        let lanes = self.lanes();
        if self.parted {
            return 256 / lanes * self.element() / 32;
        }
        self.size[0] * self.size[1] * self.blocks / lanes * if self.result == F64 { 2 } else { 1 }
    }
}

/// Puts bits into the words of a lane.
fn put(words: &mut [u32], at: usize, slot: usize, bits: usize, value: u64) {
    if bits == 64 {
        words[at + 2 * slot] = value as u32;
        words[at + 2 * slot + 1] = (value >> 32) as u32;
        return;
    }
    let position = slot * bits;
    words[at + position / 32] |= (value as u32) << (position % 32);
}

fn registers(letter: char, first: usize, count: usize) -> String {
    if count == 1 { format!("{letter}{first}") } else { format!("{letter}[{first}:{}]", first + count - 1) }
}

/// Assembly that loads the operands, multiplies and stores the result.
fn assembly(target: &str, shape: &Shape) -> String {
    let mut out = String::new();
    let mut line = |text: &str| writeln!(out, "{text}").expect("a text");
    let new = shape.is_wmma();
    let (load, store) = if new { ("b128", "b128") } else { ("dwordx4", "dwordx4") };
    line(".text\n.globl k\n.p2align 8\n.type k,@function\nk:");
    line(if new { "s_load_b128 s[8:11], s[0:1], 0x0" } else { "s_load_dwordx4 s[8:11], s[0:1], 0x0" });
    line(&format!("v_mul_u32_u24 v1, {}, v0\nv_mul_u32_u24 v2, {}, v0", IN * 4, OUT * 4));
    line(if shape.parted { "s_wait_kmcnt 0x0" } else { "s_waitcnt lgkmcnt(0)" });
    for group in 0..IN / 4 {
        // From v8 on, as in memory.
        line(&format!(
            "global_load_{load} v[{}:{}], v1, s[8:9] offset:{}",
            8 + group * 4,
            11 + group * 4,
            group * 16
        ));
    }
    line(if shape.parted { "s_wait_loadcnt 0x0" } else { "s_waitcnt vmcnt(0)" });
    let words = shape.words();
    let of = |t: Type, each: usize| (t.bits() * each / 32).max(1);
    let (a, b) = (of(shape.types[0], shape.each), of(shape.types[1], shape.each_of_b()));
    let (a, b) = (registers('v', 8, a), registers('v', 8 + AT_B, b));
    let first = 8 + AT_C;
    if target == "gfx908" {
        for n in 0..words {
            line(&format!("v_accvgpr_write_b32 a{n}, v{}", first + n));
        }
        let d = registers('a', 0, words);
        line(&format!("s_nop 4\n{} {d}, {a}, {b}, {d}{}\ns_nop 15\ns_nop 15", shape.name, shape.controls));
        for n in 0..words {
            line(&format!("v_accvgpr_read_b32 v{}, a{n}", first + n));
        }
    } else {
        let d = registers('v', first, words);
        let c = if shape.is_sparse() { format!("v{}", 8 + AT_INDEX) } else { d.clone() };
        let text = if shape.opcode == 0 {
            format!("{} {d}, {a}, {b}, {c}{}", shape.name, shape.controls)
        } else {
            // VOP3P: the result, then three sources of nine bits.
            let third = if shape.is_sparse() { 8 + AT_INDEX } else { first };
            let sources = 0x108 | (0x108 + AT_B) << 9 | (0x100 + third) << 18;
            format!(".long {:#x}, {sources:#x}", 0xd380_0000 | shape.opcode << 16 | first as u32)
        };
        line(&format!("s_nop 4\n{text}\ns_nop 15\ns_nop 15"));
    }
    for group in 0..OUT / 4 {
        let from = first + group * 4;
        line(&format!("global_store_{store} v2, v[{from}:{}], s[10:11] offset:{}", from + 3, group * 16));
    }
    line("s_endpgm\n.Lend:\n.size k, .Lend-k");
    line(".rodata\n.p2align 6\n.amdhsa_kernel k\n.amdhsa_user_sgpr_kernarg_segment_ptr 1");
    line(".amdhsa_system_sgpr_workgroup_id_x 1\n.amdhsa_kernarg_size 16\n.amdhsa_next_free_vgpr 96");
    line(".amdhsa_next_free_sgpr 32\n.amdhsa_float_denorm_mode_32 3");
    match target {
        "gfx90a" | "gfx942" | "gfx950" => line(".amdhsa_accum_offset 96"),
        "gfx1100" | "gfx1201" => line(&format!(".amdhsa_wavefront_size32 {}", u32::from(!shape.wide))),
        _ => {}
    }
    line(".end_amdhsa_kernel");
    out
}

/// Runs a product; says what differs.
fn difference(target: &str, shape: &Shape, folder: &std::path::Path) -> Result<(), String> {
    let lanes = shape.lanes();
    let mut bits = super::random(88_172_645_463_325_252);
    let mut random = move || (bits() >> 20) as i32 & 0xffff;
    let mut small = || random() % 7 - 3;
    let [m, n, k] = shape.size;
    let stored = if shape.is_sparse() { k / 2 } else { k };
    let mut words = vec![vec![0u32; IN]; lanes];
    let mut a = vec![0; shape.blocks * m * k];
    let mut b = vec![0; shape.blocks * k * n];
    let mut expected = vec![0; shape.blocks * m * n];
    // The elements of B by their lanes and slots.
    let mut of_b = HashMap::new();
    // The indices of a sparse product: of each four elements two, the first before the second.
    let pairs = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];
    for block in 0..shape.blocks {
        for (i, e) in (0..m).flat_map(|i| (0..stored).map(move |e| (i, e))) {
            let v = small();
            let (lane, slot) = match shape.is_sparse() && shape.parted {
                true => {
                    // The place of the four elements that it is one of two of.
                    let (lane, slot) = shape.source(block, i, e / 2 * 4, shape.each * 2);
                    (lane, slot / 2 + e % 2)
                }
                false => shape.source(block, i, e, shape.each),
            };
            put(&mut words[lane], 0, slot, shape.types[0].bits(), shape.types[0].encode(v));
            let at = if shape.is_sparse() {
                // Which pair a lane's four elements have follows from the lane and the place.
                let chosen = pairs[(lane + slot / 2) % 6][slot % 2];
                words[lane][AT_INDEX] |= (chosen as u32) << (2 * slot);
                e / 2 * 4 + chosen
            } else {
                e
            };
            a[(block * m + i) * k + at] = v;
        }
        let each = shape.each_of_b();
        for (j, e) in (0..n).flat_map(|j| (0..k).map(move |e| (j, e))) {
            let v = small();
            let (lane, slot) = shape.source(block, j, e, each);
            of_b.insert((lane, slot), v);
            put(&mut words[lane], AT_B, slot, shape.types[1].bits(), shape.types[1].encode(v));
        }
        for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
            let v = small();
            expected[(block * m + i) * n + j] = v;
            let (lane, register) = shape.result(block, i, j);
            let value = if shape.result == I8 { v as u32 as u64 } else { shape.result.encode(v) };
            put(&mut words[lane], AT_C, register, shape.element(), value);
        }
    }
    if shape.is_wmma() && !shape.parted {
        // The upper lanes hold the same rows and columns.
        for lane in 0..16 {
            let (low, high) = words.split_at_mut(16);
            high[lane][..AT_C].copy_from_slice(&low[lane][..AT_C]);
        }
    }
    for block in 0..shape.blocks {
        let each = shape.each_of_b();
        for (j, e) in (0..n).flat_map(|j| (0..k).map(move |e| (j, e))) {
            let (lane, slot) = shape.source(block, j, e, each);
            b[(block * k + e) * n + j] = of_b[&((shape.of_lane)(lane), slot)];
        }
    }
    for block in 0..shape.blocks {
        let from = (shape.of_block)(block);
        for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
            for e in 0..k {
                expected[(block * m + i) * n + j] += a[(from * m + i) * k + e] * b[(block * k + e) * n + j];
            }
        }
    }
    let source = folder.join("matrix.s");
    std::fs::write(&source, assembly(target, shape)).map_err(|e| e.to_string())?;
    let options: &[&str] = if shape.wide { &["-mwavefrontsize64"] } else { &[] };
    // The assembler does not know gfx950: its objects are those of gfx942 with another number.
    let known = if target == "gfx950" { "gfx942" } else { target };
    let mut object = crate::assembled(&source, known, options, &folder.join("matrix.o"))?;
    if target == "gfx950" {
        object[FLAGS] = MACH_GFX950;
    }
    let module = crate::lowered(&object)?;
    let bytes: Vec<u8> = words.iter().flatten().flat_map(|w| w.to_le_bytes()).collect();
    for engine in [Engine::Interpreter, Engine::Compiled] {
        let program = Program::of_module(module.clone(), engine).map_err(|p| format!("{p:?}"))?;
        let program = program.for_target(Target::native());
        let got = values::run(&program, &bytes, lanes * OUT * 4, [1, lanes as u32]);
        for block in 0..shape.blocks {
            for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
                let (lane, register) = shape.result(block, i, j);
                let want = expected[(block * m + i) * n + j];
                let at = lane * OUT;
                let holds = match shape.result {
                    F64 => {
                        let at = at + 2 * register;
                        u64::from(got[at]) | u64::from(got[at + 1]) << 32
                    }
                    F16 if shape.parted => u64::from(got[at + register / 2] >> (register % 2 * 16) & 0xffff),
                    F16 => u64::from(got[at + register] & 0xffff),
                    _ => got[at + register].into(),
                };
                let bits =
                    if shape.result == I8 { u64::from(want as u32) } else { shape.result.encode(want) };
                if holds != bits {
                    return Err(format!(
                        "{engine:?}: D{block}[{i}][{j}] is {holds:x} instead of {want} ({bits:x})"
                    ));
                }
            }
        }
    }
    Ok(())
}

#[test]
fn matrix_products_are_sums_of_products() {
    if !crate::ready() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let only = std::env::var("ONLY").unwrap_or_default();
    let lists = [
        ("gfx908", GFX908),
        ("gfx90a", GFX90A),
        ("gfx942", GFX942),
        ("gfx942", SPARSE),
        ("gfx950", GFX950),
        ("gfx1100", GFX1100),
        ("gfx1201", GFX1201),
        ("gfx1201", SPARSE_GFX1201),
        ("gfx1201", WIDE_GFX1201),
    ];
    let mut failures = Vec::new();
    for (number, (target, shapes)) in lists.into_iter().enumerate() {
        let each = if every_way() { 1 } else { sample::of(2, 24) };
        let some = shapes.iter().skip(number % each).step_by(each);
        for shape in some.filter(|shape| shape.name.contains(&only)) {
            let outcome = difference(target, shape, folder.path());
            failures
                .extend(outcome.err().map(|why| format!("{target} {}{}: {why}", shape.name, shape.controls)));
        }
    }
    assert!(failures.is_empty(), "{} do not hold:\n{}", failures.len(), failures.join("\n"));
}
