//! Reads the tables of `tables/`.
//!
//! A line `encoding` names an encoding, its bits, its fixed bits (`110100@31:26`) and its fields
//! (`src0@55,39:32`: bits from the highest; `*4`: the value is a multiple; `^1`: these bits of it are
//! inverted). `any` are bits that the decoder ignores if no field of the opcode covers them; others must be
//! zero.
//!
//! Each other line is an opcode: encoding, number, name, operands and controls in the order of the assembly
//! text, and the targets that have it if not all of the file's do (`gfx1100:64` for waves of 64 lanes).
//! `any=`, `zero=` and `one=` are masks of bits that differ from the encoding's rule. An operand is
//! `FIELD:KIND`; [`Kind`] explains the kinds. After `^` stand the modifiers that it takes: `n` negation, `a`
//! absolute value, `s` sign extension.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::target::{Generation, Target};

use super::inst::{Mod, Role, Type};
use super::operand::Kind;

include!(concat!(env!("OUT_DIR"), "/names.rs"));

impl Op {
    /// The operation with this name, which has no ending for an encoding.
    pub fn of_name(name: &str) -> Option<Op> {
        OP_NAMES
            .binary_search_by(|(n, _)| (*n).cmp(name))
            .ok()
            .and_then(|i| OP_NAMES.get(i))
            .map(|(_, op)| *op)
    }

    /// All operations, in the order of their numbers.
    pub fn all() -> impl Iterator<Item = Op> {
        OP_NAMES.iter().map(|(_, op)| *op)
    }

    /// The operation `v_NAME`.
    fn of_vector(name: &str) -> Option<Op> {
        Op::of_name(&format!("v_{name}"))
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        OP_NAMES.get(self as usize).map_or("", |(name, _)| name)
    }
}

impl Encoding {
    fn of_name(name: &str) -> Option<Encoding> {
        ENCODING_NAMES.iter().find(|(n, _)| *n == name).map(|(_, e)| *e)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        ENCODING_NAMES.get(self as usize).map_or("", |(name, _)| name)
    }
}

/// Where the bits of a value are.
#[derive(Clone, Debug, Default)]
pub struct Field {
    /// Highest and lowest bit of each part, the highest part first.
    parts: Vec<(u8, u8)>,
    /// The field holds the value divided by this.
    scale: u32,
    /// Bits of the value that the field holds inverted.
    inverted: u32,
}

impl Field {
    fn read(text: &str) -> Option<Field> {
        let (bits, scale) =
            text.split_once('*').map_or(Some((text, 1)), |(b, s)| Some((b, s.parse().ok()?)))?;
        let (bits, inverted) =
            bits.split_once('^').map_or(Some((bits, 0)), |(b, i)| Some((b, i.parse().ok()?)))?;
        let part = |part: &str| {
            let (high, low) = part.split_once(':').unwrap_or((part, part));
            Some((high.parse().ok()?, low.parse().ok()?))
        };
        Some(Field { parts: bits.split(',').map(part).collect::<Option<_>>()?, scale, inverted })
    }

    /// The value in an instruction's bits.
    pub fn get(&self, bits: u128) -> u32 {
        let part = |all: u32, &(high, low): &(u8, u8)| {
            let width = u32::from(high - low) + 1;
            let value = (bits >> low) as u32 & u32::MAX >> (32 - width);
            if width == 32 { value } else { all << width | value }
        };
        (self.parts.iter().fold(0, part) ^ self.inverted).wrapping_mul(self.scale)
    }

    /// Number of bits.
    pub fn width(&self) -> u32 {
        self.parts.iter().map(|(high, low)| u32::from(high - low) + 1).sum()
    }

    fn mask(&self) -> u128 {
        let part = |&(high, low): &(u8, u8)| (1u128 << (high - low) << 1).wrapping_sub(1) << low;
        self.parts.iter().map(part).fold(0, |all, part| all | part)
    }
}

/// An item of an opcode's row.
#[derive(Clone, Debug)]
pub enum Token {
    /// `vcc`, `off` and others: an operand that no field holds.
    Implied(&'static str),
    /// The same, which the assembly text does not show.
    Hidden(&'static str),
    /// `gds`, `lds` and others: a word at the end.
    Word(&'static str),
    /// An operand.
    Operand {
        role: Role,
        field: Field,
        kind: Kind,
        neg: Option<Field>,
        abs: Option<Field>,
        sext: Option<Field>,
        /// The bit that makes a register an AGPR.
        acc: Option<Field>,
        /// The operand exists only if `glc` is set.
        returned: bool,
    },
    /// A control in one field.
    Mod(Mod, Field),
    /// A control with a bit for each source: the bits, and the value of a source without one.
    Each { which: Mod, bits: [Option<Field>; 4], default: bool },
    /// The offset of a scalar memory instruction.
    ScalarOffset,
    /// The vector address of a memory instruction, or `off`.
    VectorAddress,
    /// The vector addresses of an image instruction: one run of registers, or several registers.
    ImageAddress,
    /// The scalar address of a memory instruction, or `off`.
    ScalarAddress,
    /// The bits `glc`, `slc`, `dlc`, `scc`.
    CachePolicy,
    /// The four sources of an export.
    ExportSources,
}

/// An opcode.
#[derive(Debug)]
pub struct Row {
    pub encoding: Encoding,
    pub op: Op,
    pub mnemonic: &'static str,
    pub tokens: Vec<Token>,
    /// Bits that must have the values in `value`.
    pub mask: u128,
    pub value: u128,
    /// Bits of fields that this opcode ignores.
    pub ignored: u128,
    /// Sources that the opcode does not have. They are 0, or the inline constant 0 ([`UNUSED`]).
    unused: Vec<Field>,
}

/// What assemblers since LLVM 20 write to sources that an opcode of gfx10 or later does not have.
const UNUSED: u32 = 0x80;

impl Row {
    /// Whether it has a sampler.
    pub fn samples(&self) -> bool {
        self.tokens.iter().any(|t| matches!(t, Token::Operand { role: Role::Ssamp, .. }))
    }

    /// Whether an instruction's bits are this row's.
    pub fn fits(&self, bits: u128) -> bool {
        let clear =
            |bits: u128, field: &Field| if field.get(bits) == UNUSED { bits & !field.mask() } else { bits };
        bits & self.mask == self.value || self.unused.iter().fold(bits, clear) & self.mask == self.value
    }
}

/// An encoding.
#[derive(Debug)]
pub struct Layout {
    pub encoding: Encoding,
    /// Bytes without a literal.
    pub size: u8,
    pub mask: u128,
    pub value: u128,
    pub op: Field,
    fields: HashMap<&'static str, Field>,
    any: u128,
    /// Rows by opcode.
    pub rows: HashMap<u32, Vec<Row>>,
}

impl Layout {
    /// A field by its name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.get(name)
    }

    /// The value of a field; 0 if the encoding does not have it.
    pub fn get(&self, name: &str, bits: u128) -> u32 {
        self.field(name).map_or(0, |f| f.get(bits))
    }
}

/// The table of a target.
#[derive(Debug)]
pub struct Table {
    pub layouts: Vec<Layout>,
    /// Indices of the layouts that fit the highest nine bits of the first word.
    pub by_head: Vec<Vec<u8>>,
    /// The layout of the second halves of dual instructions.
    pub second: Option<u8>,
}

/// The encoding of the first halves of dual instructions, and of the second ones.
pub const FIRST: &str = "VOPDX";
const SECOND: &str = "VOPDY";

const GFX9: &str = include_str!("../../tables/gfx9.tsv");
const GFX10: &str = include_str!("../../tables/gfx10.tsv");
const GFX11: &str = include_str!("../../tables/gfx11.tsv");
const GFX12: &str = include_str!("../../tables/gfx12.tsv");

/// Targets with a table, and those that have the same instructions.
const TARGETS: &[(&str, &str, &str)] = &[
    ("gfx900", "gfx900", GFX9),
    ("gfx902", "gfx900", GFX9),
    ("gfx904", "gfx904", GFX9),
    ("gfx906", "gfx906", GFX9),
    ("gfx908", "gfx908", GFX9),
    ("gfx909", "gfx900", GFX9),
    ("gfx90c", "gfx900", GFX9),
    ("gfx9-generic", "gfx9-generic", GFX9),
    ("gfx90a", "gfx90a", GFX9),
    ("gfx940", "gfx942", GFX9),
    ("gfx941", "gfx942", GFX9),
    ("gfx942", "gfx942", GFX9),
    ("gfx950", "gfx950", GFX9),
    ("gfx1010", "gfx1010", GFX10),
    ("gfx1011", "gfx1011", GFX10),
    ("gfx1012", "gfx1011", GFX10),
    ("gfx1013", "gfx1010", GFX10),
    ("gfx10-1-generic", "gfx1010", GFX10),
    ("gfx1030", "gfx1030", GFX10),
    ("gfx1031", "gfx1030", GFX10),
    ("gfx1032", "gfx1030", GFX10),
    ("gfx1033", "gfx1030", GFX10),
    ("gfx1034", "gfx1030", GFX10),
    ("gfx1035", "gfx1030", GFX10),
    ("gfx1036", "gfx1030", GFX10),
    ("gfx10-3-generic", "gfx1030", GFX10),
    ("gfx1100", "gfx1100", GFX11),
    ("gfx1101", "gfx1100", GFX11),
    ("gfx1102", "gfx1100", GFX11),
    ("gfx1103", "gfx1100", GFX11),
    ("gfx11-generic", "gfx1100", GFX11),
    ("gfx1150", "gfx1150", GFX11),
    ("gfx1151", "gfx1150", GFX11),
    ("gfx1152", "gfx1150", GFX11),
    ("gfx1153", "gfx1150", GFX11),
    ("gfx1200", "gfx1201", GFX12),
    ("gfx1201", "gfx1201", GFX12),
    ("gfx12-generic", "gfx1201", GFX12),
];

/// Names of the targets that have a table.
pub fn targets() -> impl Iterator<Item = &'static str> {
    TARGETS.iter().map(|t| t.0)
}

/// The target whose rows a target has.
pub fn same_as(name: &str) -> Option<&'static str> {
    TARGETS.iter().find(|t| t.0 == name).map(|t| t.1)
}

/// The table of a target for waves of `wave` lanes, read at its first use; `None` if there is none.
pub fn of_target(name: &str, wave: u32) -> Option<&'static Table> {
    static TABLES: [[OnceLock<Option<Table>>; 2]; TARGETS.len()] =
        [const { [const { OnceLock::new() }; 2] }; TARGETS.len()];
    let (_, same, _) = TARGETS.iter().find(|t| t.0 == name)?;
    let (index, (_, _, text)) = TARGETS.iter().enumerate().find(|(_, t)| t.0 == *same)?;
    let table = TABLES.get(index)?.get(usize::from(wave == 32))?;
    table.get_or_init(|| read(text, same, wave)).as_ref()
}

fn layout(columns: &[&'static str]) -> Option<Layout> {
    let &[_, name, size, fixed, fields] = columns else { return None };
    let (mut mask, mut value) = (0u128, 0u128);
    for part in fixed.split(' ') {
        let (bits, place) = part.split_once('@')?;
        let field = Field::read(place)?;
        let (_, low) = *field.parts.first()?;
        mask |= field.mask();
        value |= u128::from_str_radix(bits, 2).ok()? << low;
    }
    let mut known = HashMap::new();
    for field in fields.split(' ').filter(|f| !f.is_empty()) {
        let (name, place) = field.split_once('@')?;
        known.insert(name, Field::read(place)?);
    }
    let op = known.remove("op").unwrap_or_else(|| Field { scale: 1, ..Field::default() });
    let any = known.remove("any").map_or(0, |f| f.mask());
    Some(Layout {
        encoding: Encoding::of_name(name)?,
        size: (size.parse::<u32>().ok()? / 8) as u8,
        mask,
        value,
        op,
        fields: known,
        any,
        rows: HashMap::new(),
    })
}

/// The bits of a control that has one for each source: `op_sel=013`.
fn each(layout: &Layout, word: &str) -> Option<Token> {
    let (name, digits) = word.split_once('=')?;
    let (which, field, default) = match name {
        "op_sel" => (Mod::OpSel, "op_sel", false),
        "op_sel_hi" => (Mod::OpSelHi, "op_sel_hi", true),
        "op_sel_hi0" => (Mod::OpSelHi, "op_sel_hi", false),
        "neg_lo" => (Mod::NegLo, "neg", false),
        "neg_hi" => (Mod::NegHi, "abs", false),
        _ => return None,
    };
    let mut bits = [const { None }; 4];
    for digit in digits.chars() {
        if digit == 'x' {
            // The third source is the result: it is written, and has no bit.
            bits[2] = Some(Field { scale: 1, ..Field::default() });
            continue;
        }
        let bit = bits.get_mut(digit.to_digit(10)? as usize)?;
        *bit = Some(layout.field(&format!("{field}{digit}"))?.clone());
    }
    Some(Token::Each { which, bits, default })
}

fn operand(layout: &Layout, word: &str) -> Option<Token> {
    let (name, rest) = word.split_once(':')?;
    let (rest, returned) = rest.strip_suffix('?').map_or((rest, false), |r| (r, true));
    let (kind, modifiers) = rest.split_once('^').unwrap_or((rest, ""));
    let number = name.strip_prefix("src").unwrap_or("");
    let bit = |letter: char, field: &str| {
        modifiers.contains(letter).then(|| layout.field(&format!("{field}{number}")).cloned()).flatten()
    };
    let kind = Kind::read(kind)?;
    let acc = match name {
        "vdst" | "vdata" | "data0" | "data1" | "gdata" => layout.field("acc"),
        _ if name.starts_with("src") => layout.field(&format!("acc{number}")),
        _ => None,
    };
    Some(Token::Operand {
        role: Role::of_name(name)?,
        field: layout.field(name)?.clone(),
        neg: bit('n', "neg"),
        abs: bit('a', "abs"),
        sext: bit('s', "sext"),
        acc: acc.filter(|_| kind.may_be_agpr()).cloned(),
        kind,
        returned,
    })
}

fn token(layout: &Layout, word: &'static str) -> Option<Token> {
    Some(match word {
        "smem" => Token::ScalarOffset,
        "vaddr" => Token::VectorAddress,
        "image" => Token::ImageAddress,
        "saddr" => Token::ScalarAddress,
        "cpol" => Token::CachePolicy,
        "exp" => Token::ExportSources,
        "~vcc" => Token::Hidden("vcc"),
        _ => match word.strip_prefix('\'') {
            Some(name @ ("vcc" | "off" | "exec" | "m0" | "vcc_lo" | "null")) => Token::Implied(name),
            Some(name) => Token::Word(name),
            None if word.contains('=') => each(layout, word)?,
            None if word.contains(':') => operand(layout, word)?,
            None => Token::Mod(Mod::of_name(word)?, layout.field(word)?.clone()),
        },
    })
}

impl Token {
    /// Number of sources that a control with a bit for each has.
    pub fn sources(&self, row: &[Token]) -> usize {
        let Token::Each { bits, .. } = self else { return 0 };
        let is_source =
            |t: &&Token| matches!(t, Token::Operand { role: Role::Src0 | Role::Src1 | Role::Src2, .. });
        if row.iter().any(|t| matches!(t, Token::Operand { kind: Kind::Source(32), role: Role::Src0, .. }))
            && row.len() == 5
        {
            // The lane permutations: two bits are controls, and the others mean nothing.
            return 2;
        }
        let last = bits.iter().take(3).rposition(Option::is_some).map_or(0, |i| i + 1);
        row.iter().filter(is_source).count().max(last)
    }

    /// The bits that the token reads.
    fn mask(&self, layout: &Layout) -> u128 {
        let of =
            |names: &[&str]| names.iter().filter_map(|n| layout.field(n)).fold(0, |all, f| all | f.mask());
        let one = |field: &Option<Field>| field.as_ref().map_or(0, Field::mask);
        match self {
            Token::Implied(_) | Token::Hidden(_) | Token::Word(_) => 0,
            Token::Operand { field, neg, abs, sext, acc, .. } => {
                field.mask() | one(neg) | one(abs) | one(sext) | one(acc)
            }
            Token::Mod(_, field) => field.mask(),
            Token::Each { bits, .. } => bits.iter().fold(0, |all, bit| all | one(bit)),
            Token::ScalarOffset => of(&["offset", "imm", "soe", "soffset"]),
            Token::VectorAddress => of(&["vaddr", "offen", "idxen"]),
            Token::ImageAddress => of(&["vaddr", "nsa", "dim", "a16"]),
            Token::ScalarAddress => of(&["saddr"]),
            Token::CachePolicy => of(&["glc", "slc", "dlc", "scc", "th", "scope"]),
            Token::ExportSources => of(&["en", "src0", "src1", "src2", "src3"]),
        }
    }
}

fn row(layout: &Layout, columns: &[&'static str], generation: Generation) -> Option<(u32, Row)> {
    let &[_, number, mnemonic, tokens, ..] = columns else { return None };
    let number = u32::from_str_radix(number.strip_prefix("0x")?, 16).ok()?;
    const FORMS: [&str; 6] = ["_e64_dpp", "_e32", "_e64", "_sdwa", "_dpp", "_dpp8"];
    let name = FORMS.iter().find_map(|form| mnemonic.strip_suffix(form)).unwrap_or(mnemonic);
    let name = name.strip_prefix("v_dual_").and_then(Op::of_vector).or_else(|| Op::of_name(name))?;
    let (mut ignored, mut zero, mut one) = (0u128, 0u128, 0u128);
    let mut list = Vec::new();
    for word in tokens.split(' ').filter(|w| !w.is_empty()) {
        let mask = |text: &str| u128::from_str_radix(text, 16).ok();
        match word.split_once('=') {
            Some(("any", bits)) => ignored |= mask(bits)?,
            Some(("zero", bits)) => zero |= mask(bits)?,
            Some(("one", bits)) => one |= mask(bits)?,
            _ => list.push(token(layout, word)?),
        }
    }
    let read = list.iter().fold(0, |all, t| all | t.mask(layout));
    let size = (1u128 << (u32::from(layout.size) * 8)) - 1;
    let fixed = layout.mask | layout.op.mask();
    let mask = size & !((read | ignored | layout.any) & !zero & !one & !fixed) & !layout.op.mask();
    let is_unused = |field: &&Field| field.width() == 9 && field.mask() & mask == field.mask();
    let unused = ["src1", "src2"].into_iter().filter_map(|name| layout.field(name)).filter(is_unused);
    let row = Row {
        encoding: layout.encoding,
        op: name,
        unused: unused.filter(|_| generation >= Generation::Gfx10).cloned().collect(),
        mnemonic,
        tokens: list,
        mask,
        value: (layout.value | one) & mask,
        ignored,
    };
    Some((number, row))
}

/// Reads the rows of a target; `None` if the text breaks the rules, which a test excludes.
fn read(text: &'static str, target: &str, wave: u32) -> Option<Table> {
    let with_wave = format!("{target}:{wave}");
    let generation = Target::of_name(target)?.generation;
    let mut layouts: Vec<Layout> = Vec::new();
    for line in text.lines().filter(|l| !l.is_empty() && !l.starts_with('#')) {
        let columns: Vec<&str> = line.split('\t').collect();
        if columns.first() == Some(&"encoding") {
            layouts.push(layout(&columns)?);
            continue;
        }
        if columns.get(4).is_some_and(|only| !only.split(' ').any(|t| t == target || t == with_wave)) {
            continue;
        }
        let encoding = Encoding::of_name(columns.first()?)?;
        let layout = layouts.iter_mut().find(|l| l.encoding == encoding)?;
        let (number, row) = row(layout, &columns, generation)?;
        layout.rows.entry(number).or_default().push(row);
    }
    let is_second = |layout: &Layout| layout.encoding.name() == SECOND;
    let fits = |head: u32, layout: &Layout| {
        let bits = u128::from(head) << 23;
        let mask = layout.mask & (0x1ff << 23);
        bits & mask == layout.value & mask && !layout.rows.is_empty() && !is_second(layout)
    };
    let of_head =
        |head: u32| (0..layouts.len() as u8).filter(|&i| fits(head, &layouts[usize::from(i)])).collect();
    let second = layouts.iter().position(is_second).map(|i| i as u8);
    Some(Table { by_head: (0..512).map(of_head).collect(), second, layouts })
}

/// The type that a constant of this kind has, by the table's name.
pub fn type_of(name: &str) -> Option<Type> {
    Some(match name {
        "i16" => Type::I16,
        "i32" => Type::I32,
        "i64" => Type::I64,
        "f16" => Type::F16,
        "bf16" => Type::Bf16,
        "f32" => Type::F32,
        "f64" => Type::F64,
        "v2i16" => Type::V2I16,
        "v2f16" => Type::V2F16,
        "v2bf16" => Type::V2Bf16,
        _ => return None,
    })
}
