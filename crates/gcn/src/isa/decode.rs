//! The decoder: one engine over the tables.

use crate::target::{Generation, Target};

use super::inst::{Inst, MAX_SIZE, Mod, Operand, Part, Role, Special, Type, Value};
use super::operand::{Class, Imm, Kind, Registers, Without, constant};
use super::table::{self, Layout, Row, Table, Token};

/// Why bytes are no instruction.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Fewer bytes than the instruction has.
    #[error("the code ends inside an instruction")]
    Cut,
    /// No encoding and opcode of the target fit.
    #[error("no instruction of {target} has this encoding and opcode")]
    Unknown {
        /// The target.
        target: &'static str,
    },
    /// The opcode exists; an operand or a field has a value that does not.
    #[error("{mnemonic}: {reason}")]
    Operand {
        /// The instruction's name.
        mnemonic: &'static str,
        /// What is wrong with it.
        reason: String,
    },
}

/// Decodes instructions of one target.
#[derive(Clone, Copy, Debug)]
pub struct Decoder {
    pub(super) target: Target,
    table: &'static Table,
    pub(super) registers: Registers,
}

/// An instruction under construction.
pub(super) struct Building<'a> {
    bits: u128,
    pub(super) layout: &'a Layout,
    pub(super) bytes: &'a [u8],
    /// Bytes of the encoding, and of the literal once one is read.
    pub(super) size: usize,
    literal: Option<u32>,
    pub(super) operands: Vec<Operand>,
    pub(super) mods: Vec<(Mod, u32)>,
    /// The operand that is being read.
    role: Role,
    /// The operands that are the upper halves of registers, as bits of `op_sel`.
    upper: u32,
}

/// What is wrong with an operand.
pub(super) type Wrong = String;

impl Building<'_> {
    pub(super) fn get(&self, field: &str) -> u32 {
        self.layout.get(field, self.bits)
    }

    /// The word after the encoding; several operands share it.
    fn literal(&mut self) -> Result<u32, Wrong> {
        if let Some(word) = self.literal {
            return Ok(word);
        }
        let bytes = self.bytes.get(self.size..self.size + 4).and_then(|b| b.try_into().ok());
        let word = u32::from_le_bytes(bytes.ok_or("the code ends before its literal")?);
        self.size += 4;
        self.literal = Some(word);
        Ok(word)
    }

    pub(super) fn push(&mut self, role: Role, value: Value, bits: u16) {
        self.operands.push(Operand {
            role,
            value,
            bits,
            ty: Type::None,
            neg: false,
            abs: false,
            sext: false,
        });
    }

    /// Whether an atomic operation returns the value before.
    fn returns(&self) -> bool {
        self.get("glc") == 1 || self.get("th") & 1 == 1
    }

    fn control(&mut self, which: Mod, field: &str) {
        if self.layout.field(field).is_some() {
            self.mods.push((which, self.get(field)));
        }
    }
}

impl Decoder {
    /// A decoder for a target; `None` if there is no table for it. `wave` is the number of lanes, 32 or 64;
    /// it decides the size of lane masks.
    pub fn new(target: Target, wave: u32) -> Option<Decoder> {
        let wave = if target.generation.has_wave32() { wave } else { 64 };
        let table = table::of_target(target.name, wave)?;
        Some(Decoder { target, table, registers: Registers { generation: target.generation, wave } })
    }

    /// Names of the targets whose instructions can be decoded.
    pub fn targets() -> impl Iterator<Item = &'static str> {
        table::targets()
    }

    /// The target that has a table and the same instructions as this one.
    pub fn same_as(target: &str) -> Option<&'static str> {
        table::same_as(target)
    }

    /// Decodes the instruction at the beginning of `bytes`, which `address` is the address of.
    ///
    /// # Errors
    /// If the bytes are not an instruction of the target.
    pub fn decode(&self, bytes: &[u8], address: u64) -> Result<Inst, Refusal> {
        let mut words = [0u8; 16];
        let have = bytes.len().min(16);
        if have < 4 {
            return Err(Refusal::Cut);
        }
        for (to, from) in words.iter_mut().zip(bytes) {
            *to = *from;
        }
        let all = u128::from_le_bytes(words);
        let head = (all >> 23) as usize & 0x1ff;
        let mut refusal = Refusal::Unknown { target: self.target.name };
        for &index in self.table.by_head.get(head).into_iter().flatten() {
            let Some(layout) = self.table.layouts.get(usize::from(index)) else { continue };
            let size = usize::from(layout.size);
            if all & layout.mask != layout.value {
                continue;
            }
            if size > have {
                refusal = Refusal::Cut;
                continue;
            }
            for row in layout.rows.get(&layout.op.get(all)).into_iter().flatten() {
                if !row.fits(all) {
                    continue;
                }
                match self.operands(layout, row, all, bytes, address) {
                    Ok(inst) => return Ok(inst),
                    // The first encoding that fits is the one that was meant.
                    Err(_) if matches!(refusal, Refusal::Operand { .. }) => {}
                    Err(reason) => refusal = Refusal::Operand { mnemonic: row.mnemonic, reason },
                }
            }
        }
        Err(refusal)
    }

    fn operands(
        &self,
        layout: &Layout,
        row: &'static Row,
        bits: u128,
        bytes: &[u8],
        address: u64,
    ) -> Result<Inst, Wrong> {
        let (size, none) = (usize::from(layout.size), Vec::new());
        let mut b = Building {
            bits,
            layout,
            bytes,
            size,
            literal: None,
            operands: none,
            mods: Vec::new(),
            role: Role::Vdst,
            upper: 0,
        };
        if row.encoding.name() != table::FIRST {
            return self.one(&mut b, row, address);
        }
        let mut first = self.one(&mut b, row, address)?;
        let layout = self.table.second.and_then(|i| self.table.layouts.get(usize::from(i)));
        let layout = layout.ok_or("there are no second halves")?;
        let number = layout.op.get(bits);
        let row = layout.rows.get(&number).and_then(|rows| rows.iter().find(|row| row.fits(bits)));
        let row = row.ok_or_else(|| format!("there is no second half {number:#x}"))?;
        b.layout = layout;
        let second = self.one(&mut b, row, address)?;
        // A literal that only the second half has.
        (first.words, first.size) = (second.words, second.size);
        first.second = Some(Box::new(second));
        Ok(first)
    }

    /// The register that a field of eight bits names where the highest bit selects its half.
    fn half(&self, b: &mut Building, number: u32) -> u32 {
        let bit = match b.role {
            Role::Src0 => 1,
            Role::Src1 => 2,
            Role::Src2 => 4,
            _ => 8,
        };
        b.upper |= if number >> 7 & 1 == 1 { bit } else { 0 };
        number & 127
    }

    /// An instruction, or one of two, by its row.
    fn one(&self, b: &mut Building, row: &'static Row, address: u64) -> Result<Inst, Wrong> {
        let all = b.bits;
        b.bits &= !row.ignored;
        for token in &row.tokens {
            self.token(b, row, token)?;
        }
        self.finish(b, row)?;
        if b.upper != 0 {
            b.mods.push((Mod::OpSel, b.upper));
        }
        b.bits = all;
        let mut words = [0; MAX_SIZE / 4];
        for (word, bytes) in words.iter_mut().zip(b.bytes.get(..b.size).unwrap_or(b.bytes).chunks_exact(4)) {
            *word = bytes.try_into().map_or(0, u32::from_le_bytes);
        }
        Ok(Inst {
            address,
            words,
            size: b.size as u8,
            op: row.op,
            encoding: row.encoding,
            operands: std::mem::take(&mut b.operands),
            mods: std::mem::take(&mut b.mods),
            second: None,
            row,
            generation: self.target.generation,
        })
    }

    fn token(&self, b: &mut Building, row: &'static Row, token: &'static Token) -> Result<(), Wrong> {
        match token {
            Token::Word(_) => {}
            Token::Implied(name) | Token::Hidden(name) => {
                let (value, bits) = match *name {
                    "vcc" if self.registers.wave == 32 => (Value::Special(Special::Vcc, Part::Low), 32),
                    "vcc" => (Value::Special(Special::Vcc, Part::Whole), 64),
                    "m0" => (Value::Special(Special::M0, Part::Whole), 32),
                    "exec" => (Value::Special(Special::Exec, Part::Whole), 64),
                    "null" => (Value::Special(Special::Null, Part::Whole), 64),
                    _ => (Value::Off, 0),
                };
                b.push(Role::Implied, value, bits);
            }
            Token::Operand { role, field, kind, neg, abs, sext, acc, returned } => {
                let set = |f: &Option<table::Field>| f.as_ref().is_some_and(|f| f.get(b.bits) == 1);
                if *returned && !b.returns() {
                    return Ok(());
                }
                let (neg, abs, sext, acc) = (set(neg), set(abs), set(sext), set(acc));
                b.role = *role;
                let unified = self.target.generation.is_gfx90a_or_later_compute();
                let agpr = acc && (unified || !matches!(kind, Kind::Data(_)));
                let number = field.get(b.bits);
                let wide = field.width();
                let (value, bits, ty) = self
                    .value(b, row, *kind, number, wide, agpr)
                    .map_err(|reason| format!("{} is {number:#x}: {reason}", role.name()))?;
                b.operands.push(Operand { role: *role, value, bits, ty, neg, abs, sext });
            }
            Token::Mod(which, field) => {
                let mut value = field.get(b.bits);
                if *which == Mod::Gds && self.target.generation.is_gfx90a_or_later_compute() {
                    // These chips have no global data share, and ignore the bit.
                    value = 0;
                }
                self.control(*which, value)?;
                b.mods.push((*which, value));
            }
            Token::Each { which, bits, default } => {
                let count = token.sources(&row.tokens);
                let mut value = 0;
                for (i, bit) in bits.iter().enumerate() {
                    let default = u32::from(*default && i < count);
                    value |= bit.as_ref().map_or(default, |f| f.get(b.bits)) << i;
                }
                b.mods.push((*which, value));
            }
            Token::ScalarOffset => self.scalar_offset(b)?,
            Token::VectorAddress => self.vector_address(b, row)?,
            Token::ImageAddress => self.image_address(b, row)?,
            Token::ScalarAddress => self.scalar_address(b)?,
            Token::CachePolicy => {
                for (which, field) in [
                    (Mod::Glc, "glc"),
                    (Mod::Slc, "slc"),
                    (Mod::Dlc, "dlc"),
                    (Mod::Scc, "scc"),
                    (Mod::Th, "th"),
                    (Mod::Scope, "scope"),
                ] {
                    b.control(which, field);
                }
            }
            Token::ExportSources => {
                let (enabled, compressed) = (b.get("en"), b.get("compr") == 1);
                for (i, role) in [Role::Src0, Role::Src1, Role::Src2, Role::Src3].into_iter().enumerate() {
                    let from = ["src0", "src1", "src2", "src3"][if compressed { i / 2 } else { i }];
                    let number = b.get(from);
                    let on = enabled >> i & 1 == 1;
                    b.push(role, if on { Value::Vgpr(number as u16) } else { Value::Off }, 32);
                }
                b.control(Mod::En, "en");
            }
        }
        Ok(())
    }

    /// Refuses values of controls that have no meaning.
    fn control(&self, which: Mod, value: u32) -> Result<(), Wrong> {
        let gfx10 = self.target.generation >= Generation::Gfx10;
        let wrong = match which {
            Mod::DstSel | Mod::Src0Sel | Mod::Src1Sel => value == 7,
            Mod::DstUnused => value == 3,
            // In the field of the first source, beside the numbers of other encodings.
            Mod::Fi => !matches!(value, 0 | 1 | 233 | 234),
            Mod::DppCtrl => match value {
                0..=0xff | 0x101..=0x10f | 0x111..=0x11f | 0x121..=0x12f | 0x140 | 0x141 => false,
                0x130 | 0x134 | 0x138 | 0x13c | 0x142 | 0x143 => gfx10,
                0x150..=0x15f => !(gfx10 || self.target.generation.is_gfx90a_or_later_compute()),
                0x160..=0x16f => !gfx10,
                _ => true,
            },
            _ => false,
        };
        if wrong { Err(format!("{} has the reserved value {value:#x}", which.name())) } else { Ok(()) }
    }

    /// The value of a field, the size of its registers, and the type of its constants.
    fn value(
        &self,
        b: &mut Building,
        row: &Row,
        kind: Kind,
        number: u32,
        wide: u32,
        agpr: bool,
    ) -> Result<(Value, u16, Type), Wrong> {
        let none = "there is no such register";
        if let Kind::Source(bits) | Kind::SourceAgpr(bits) | Kind::SourceEither(bits) | Kind::Sgpr(bits, _) =
            kind
            && bits > 64
            && wide != 8
            && number < 255
            && constant(number).is_none()
            && self.registers.is_special(number)
        {
            return Err("a special register has at most 64 bits".into());
        }
        let registers = |bits: u16, value: Option<Value>| Ok((value.ok_or(none)?, bits, Type::None));
        let in_source = |number: u32| number.checked_sub(256).ok_or("this is no vector register");
        match kind {
            Kind::Vgpr(bits) => registers(bits, self.registers.vector(number & 0xff, bits, false)),
            Kind::VgprLow => registers(32, Some(Value::Vgpr(self.half(b, number) as u16))),
            Kind::Agpr(bits) => registers(bits, self.registers.vector(number & 0xff, bits, true)),
            Kind::Data(bits) => registers(bits, self.registers.vector(number & 0xff, bits, agpr)),
            Kind::Source(bits) | Kind::SourceAgpr(bits) | Kind::SourceEither(bits)
                if wide == 9 && self.registers.aperture(number).is_some() =>
            {
                registers(bits, self.registers.aperture(number))
            }
            Kind::SourceOrLds if self.registers.aperture(number).is_some() => {
                registers(32, self.registers.aperture(number))
            }
            Kind::Source(bits) => registers(bits, self.registers.vector(in_source(number)?, bits, false)),
            Kind::SourceOrLds if number == 254 => {
                Ok((Value::Special(Special::LdsDirect, Part::Whole), 32, Type::None))
            }
            Kind::SourceOrLds => registers(32, self.registers.vector(in_source(number)?, 32, false)),
            Kind::SourceAgpr(bits) => registers(bits, self.registers.vector(in_source(number)?, bits, true)),
            Kind::SourceEither(bits) => {
                let number = if wide == 8 { number } else { in_source(number)? };
                registers(bits, self.registers.vector(number, bits, agpr))
            }
            Kind::Sgpr(bits, without) => registers(bits, self.registers.destination(number, bits, without)),
            Kind::Mask(without) => {
                registers(self.registers.wave as u16, self.registers.mask(number, without))
            }
            Kind::MaskOrVcc => {
                let value = match number >> 7 {
                    0 => self.registers.mask(106, Without::Nothing),
                    _ => self.registers.mask(number & 0x7f, Without::Nothing),
                };
                registers(self.registers.wave as u16, value)
            }
            Kind::Sdwa(ty) => {
                let value = if wide == 9 && number >= 256 {
                    self.sdwa_scalar(number - 256)
                } else {
                    self.registers.vector(number, 32, false)
                };
                Ok((value.ok_or(none)?, 32, ty))
            }
            Kind::Any { ty, bits, class, deferred } => {
                Ok((self.source(b, row, number, bits, class, deferred)?, bits, ty))
            }
            Kind::Imm(Imm::Delay) if number & 15 > 11 || number >> 4 & 7 > 5 || number >> 7 & 15 > 11 => {
                Err("a field has a reserved value".into())
            }
            Kind::Imm(Imm::Literal) => Ok((Value::Imm(i64::from(b.literal()?)), 32, Type::None)),
            Kind::Imm(_) => Ok((Value::Imm(i64::from(number)), wide as u16, Type::None)),
        }
    }

    fn sdwa_scalar(&self, number: u32) -> Option<Value> {
        constant(number).or_else(|| self.registers.scalar(number, 32))
    }

    fn source(
        &self,
        b: &mut Building,
        row: &Row,
        number: u32,
        bits: u16,
        class: Class,
        deferred: bool,
    ) -> Result<Value, Wrong> {
        let none = "there is no such register";
        if number >= 256 {
            let first = number - 256;
            let first = if class == Class::Low { self.half(b, first) } else { first };
            let fits = match class {
                Class::All | Class::Vector | Class::Accumulation | Class::Low => true,
                Class::Scalar | Class::ScalarOrLds => false,
            };
            let agpr = class == Class::Accumulation;
            let value = self.registers.vector(first, bits, agpr).ok_or(none)?;
            return fits.then_some(value).ok_or_else(|| "a vector register cannot stand here".into());
        }
        if let Some(value) = constant(number) {
            return Ok(value);
        }
        if number == 255 {
            if b.layout.size == 8 && self.target.generation < Generation::Gfx10 && !deferred {
                return Err("this encoding has no literals before gfx10".into());
            }
            let word = if deferred { b.get("imm") } else { b.literal()? };
            return Ok(Value::Literal(word));
        }
        if bits > 64 && self.registers.is_special(number) {
            return Err("a special register has at most 64 bits".into());
        }
        if matches!(class, Class::Vector | Class::Accumulation) {
            return self
                .registers
                .aperture(number)
                .ok_or_else(|| "a scalar register cannot stand here".into());
        }
        let value = self.registers.scalar(number, bits).ok_or(none)?;
        if value == Value::Special(Special::LdsDirect, Part::Whole) && class == Class::Scalar {
            return Err(format!("{} cannot read LDS directly", row.mnemonic));
        }
        Ok(value)
    }

    /// Scalar memory: a constant, a register, or both.
    fn scalar_offset(&self, b: &mut Building) -> Result<(), Wrong> {
        let offset = b.get("offset");
        if b.layout.field("imm").is_none() {
            return self.scalar_offset_gfx10(b, offset);
        }
        let (imm, soe) = (b.get("imm") == 1, b.get("soe") == 1);
        let signed = i64::from((offset << 11) as i32 >> 11);
        let register = |number: u32| {
            let value = self.registers.destination(number, 32, Without::Nothing);
            value.ok_or_else(|| format!("soffset is {number:#x}: there is no such register"))
        };
        if soe || !imm {
            let value = register(if soe { b.get("soffset") } else { offset & 0x7f })?;
            b.push(Role::Soffset, value, 32);
        }
        if imm {
            b.push(Role::Offset, Value::Imm(signed), 32);
        }
        Ok(())
    }

    /// From gfx10 on there are always both; the null register stands for none.
    fn scalar_offset_gfx10(&self, b: &mut Building, offset: u32) -> Result<(), Wrong> {
        let above = 32 - b.layout.field("offset").map_or(32, |f| f.width());
        let number = b.get("soffset");
        let value = self.registers.destination(number, 32, Without::Nothing);
        let value = value.ok_or_else(|| format!("soffset is {number:#x}: there is no such register"))?;
        let (null, gfx12) = (number == self.no_address(), self.target.generation >= Generation::Gfx12);
        // With an offset of 0, the null register is written as a register before gfx12.
        if !null || offset == 0 && !gfx12 {
            b.push(Role::Soffset, value, 32);
        }
        if offset != 0 || gfx12 {
            b.push(Role::Offset, Value::Imm(i64::from((offset << above) as i32 >> above)), 32);
        }
        Ok(())
    }

    /// The number of a scalar address that stands for none: the null register, where it exists.
    fn no_address(&self) -> u32 {
        match self.target.generation {
            Generation::Gfx10 => 0x7d,
            Generation::Gfx11 | Generation::Gfx12 => 0x7c,
            _ => 0x7f,
        }
    }

    fn vector_address(&self, b: &mut Building, row: &Row) -> Result<(), Wrong> {
        let sve = row.tokens.iter().any(|t| matches!(t, Token::Mod(Mod::Sve, _)));
        let number = b.get("vaddr");
        let bits = match row_family(b) {
            Family::Buffer => 32 * (b.get("idxen") + b.get("offen")) as u16,
            Family::Global if b.get("saddr") == self.no_address() => 64,
            Family::Global => 32,
            Family::Scratch if sve => 32 * b.get("sve") as u16,
            Family::Scratch if b.get("saddr") == self.no_address() => 32,
            Family::Scratch => 0,
        };
        let value = match bits {
            0 => Some(Value::Off),
            _ => self.registers.vector(number, bits, false),
        };
        let value = value.ok_or_else(|| format!("vaddr is {number:#x}: there is no such register"))?;
        b.push(Role::Vaddr, value, bits);
        Ok(())
    }

    fn scalar_address(&self, b: &mut Building) -> Result<(), Wrong> {
        let number = b.get("saddr");
        let scratch = row_family(b) == Family::Scratch;
        // LLVM takes it before gfx1030 too where the result goes to LDS.
        let none = || {
            let known = self.target.version() >= (10, 3, 0) || b.get("lds") != 0;
            self.target.generation == Generation::Gfx10 && known
        };
        if number == self.no_address() || scratch && number == 0x7f && none() {
            b.push(Role::Saddr, Value::Off, 0);
            return Ok(());
        }
        let (bits, without) = if scratch { (32, Without::ExecHigh) } else { (64, Without::Nothing) };
        let value = self.registers.destination(number, bits, without);
        let value = value.ok_or_else(|| format!("saddr is {number:#x}: there is no such register"))?;
        b.push(Role::Saddr, value, bits);
        Ok(())
    }

    /// Sizes that depend on controls.
    fn finish(&self, b: &mut Building, row: &Row) -> Result<(), Wrong> {
        let lds = b.mods.contains(&(Mod::Lds, 1));
        if lds {
            b.operands.retain(|o| !matches!(o.role, Role::Vdata | Role::Vdst));
            if b.get("acc") == 1 {
                return Err("a load to LDS has no data register".into());
            }
        }
        if row_family(b) == Family::Buffer {
            for (which, field) in [(Mod::Idxen, "idxen"), (Mod::Offen, "offen")] {
                b.control(which, field);
            }
            if b.mods.contains(&(Mod::Tfe, 1)) {
                if lds {
                    return Err("lds and tfe exclude each other".into());
                }
                self.widen(b, 32)?;
            }
        } else if b.operands.iter().any(|o| o.bits == 64 && matches!(o.role, Role::Src0 | Role::Vdst)) {
            // Only this control works on registers of 64 bits.
            let wrong = |m: &(Mod, u32)| m.0 == Mod::DppCtrl && !(0x150..=0x15f).contains(&m.1);
            if b.mods.iter().any(wrong) {
                return Err("dpp_ctrl: only row_newbcast is possible with registers of 64 bits".into());
            }
        } else if matches!(row.encoding.name(), "MIMG" | "VIMAGE" | "VSAMPLE") {
            self.image_data(b, row)?;
        }
        Ok(())
    }

    /// Adds registers to the data operand.
    fn widen(&self, b: &mut Building, more: u16) -> Result<(), Wrong> {
        let data = b.operands.iter_mut().find(|o| o.role == Role::Vdata);
        let Some(data) = data else { return Ok(()) };
        let (first, agpr) = match data.value {
            Value::Vgpr(first) => (first, false),
            Value::Agpr(first) => (first, true),
            _ => return Ok(()),
        };
        data.bits += more;
        let fits = self.registers.vector(u32::from(first), data.bits, agpr);
        data.value = fits.ok_or("vdata: there are no registers for the status of tfe")?;
        Ok(())
    }
}

/// Families of memory instructions that compute addresses alike.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Family {
    Buffer,
    Global,
    Scratch,
}

fn row_family(b: &Building) -> Family {
    match b.layout.encoding.name() {
        "MUBUF" | "MTBUF" | "VBUFFER" => Family::Buffer,
        "SCRATCH" | "VSCRATCH" => Family::Scratch,
        _ => Family::Global,
    }
}
