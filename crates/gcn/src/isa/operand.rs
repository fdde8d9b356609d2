//! Operands: kinds, registers and constants.

use crate::target::Generation;

use super::inst::{Part, Special, Type, Value};
use super::table::type_of;

/// Which scalar registers may not stand in an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Without {
    /// All may.
    Nothing,
    /// Not EXEC.
    Exec,
    /// Neither EXEC nor M0.
    ExecAndM0,
    /// Not the high half of EXEC.
    ExecHigh,
}

/// Kinds of operands, by their notation in the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `V64`: VGPRs, in a field of 8 bits.
    Vgpr(u16),
    /// `Vlo`: one of the first 128 VGPRs.
    VgprLow,
    /// `A64`: AGPRs, in a field of 8 bits.
    Agpr(u16),
    /// `D64`: data in VGPRs, or in AGPRs by a bit of the instruction.
    Data(u16),
    /// `R64`: a source of 9 bits that must be VGPRs.
    Source(u16),
    /// `L32`: a source of 9 bits that must be a VGPR or a word of LDS.
    SourceOrLds,
    /// `RA64`: a source of 9 bits that must be AGPRs.
    SourceAgpr(u16),
    /// `RV64`: a source of 9 bits that must be VGPRs or, by a bit of the instruction, AGPRs.
    SourceEither(u16),
    /// `S64`, `S64x` without EXEC, `S32m` without EXEC and M0, `S32h` without the high half of EXEC: scalar
    /// registers.
    Sgpr(u16, Without),
    /// `M`: a lane mask: as many bits as a wave has lanes; `Mx` without EXEC.
    Mask(Without),
    /// `Mvcc`: VCC, or the lane mask that the field's low bits name if its highest is set.
    MaskOrVcc,
    /// `f32`, `v2f16`: any source; `Sf32` is scalar, `SLf32` scalar or a word of LDS, `Lof32` excludes the
    /// upper VGPRs; `x64` adds the size of registers if it is not the type's; `K` has the literal of the
    /// instruction's constant.
    Any { ty: Type, bits: u16, class: Class, deferred: bool },
    /// `Wf32`: a source of SDWA instructions.
    Sdwa(Type),
    /// `dec`, `hex16`, `branch` and others: an immediate.
    Imm(Imm),
}

/// Registers that a source may be besides constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Vector and scalar registers.
    All,
    /// Scalar registers and the first 128 VGPRs.
    Low,
    /// Scalar registers.
    Scalar,
    /// Scalar registers and a word of LDS.
    ScalarOrLds,
    /// VGPRs.
    Vector,
    /// AGPRs.
    Accumulation,
}

/// How an immediate prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Imm {
    Dec,
    Hex16,
    Branch,
    Waitcnt,
    Sendmsg,
    Hwreg,
    Endpgm,
    GprIndex,
    K16,
    K32,
    /// The word after the instruction, which sources share.
    Literal,
    /// A signed offset of 24 bits.
    Offset24,
    Delay,
    DepCtr,
    Version,
    Barrier,
    Slot,
    Attr,
    Channel,
    Target,
    Swizzle,
}

fn imm(name: &str) -> Option<Imm> {
    Some(match name {
        "dec" => Imm::Dec,
        "hex16" => Imm::Hex16,
        "branch" => Imm::Branch,
        "waitcnt" => Imm::Waitcnt,
        "sendmsg" => Imm::Sendmsg,
        "hwreg" => Imm::Hwreg,
        "endpgm" => Imm::Endpgm,
        "gpridx" => Imm::GprIndex,
        "k16" => Imm::K16,
        "k32" => Imm::K32,
        "kafter" => Imm::Literal,
        "soff" => Imm::Offset24,
        "delay" => Imm::Delay,
        "depctr" => Imm::DepCtr,
        "version" => Imm::Version,
        "barrier" => Imm::Barrier,
        "slot" => Imm::Slot,
        "attr" => Imm::Attr,
        "chan" => Imm::Channel,
        "tgt" => Imm::Target,
        "swizzle" => Imm::Swizzle,
        _ => return None,
    })
}

impl Kind {
    /// Reads a kind's notation.
    pub fn read(text: &str) -> Option<Kind> {
        if let Some(imm) = imm(text) {
            return Some(Kind::Imm(imm));
        }
        let bits = |prefix: &str| text.strip_prefix(prefix).and_then(|n| n.parse().ok());
        Some(match text {
            "M" => Kind::Mask(Without::Nothing),
            "Mx" => Kind::Mask(Without::Exec),
            "Mvcc" => Kind::MaskOrVcc,
            "Vlo" => Kind::VgprLow,
            "L32" => Kind::SourceOrLds,
            _ => {
                if let Some(n) = bits("V") {
                    Kind::Vgpr(n)
                } else if let Some(n) = bits("A") {
                    Kind::Agpr(n)
                } else if let Some(n) = bits("D") {
                    Kind::Data(n)
                } else if let Some(n) = bits("RA") {
                    Kind::SourceAgpr(n)
                } else if let Some(n) = bits("RV").or(bits("DV")) {
                    Kind::SourceEither(n)
                } else if let Some(n) = bits("R") {
                    Kind::Source(n)
                } else if let Some(kind) = scalar(text) {
                    kind
                } else if let Some(ty) = text.strip_prefix('W').and_then(type_of) {
                    Kind::Sdwa(ty)
                } else {
                    return source(text);
                }
            }
        })
    }

    /// Whether a bit of the instruction can make the operand an AGPR.
    pub fn may_be_agpr(self) -> bool {
        matches!(self, Kind::Data(_) | Kind::SourceEither(_))
    }
}

fn scalar(text: &str) -> Option<Kind> {
    let rest = text.strip_prefix('S')?;
    let digits = rest.trim_end_matches(|c: char| !c.is_ascii_digit());
    let without = match rest.strip_prefix(digits)? {
        "" => Without::Nothing,
        "x" => Without::Exec,
        "m" => Without::ExecAndM0,
        "h" => Without::ExecHigh,
        _ => return None,
    };
    Some(Kind::Sgpr(digits.parse().ok()?, without))
}

fn source(text: &str) -> Option<Kind> {
    let (text, deferred) = text.strip_suffix('K').map_or((text, false), |t| (t, true));
    let (text, size) = match text.split_once('x') {
        Some((ty, size)) => (ty, Some(size.parse().ok()?)),
        None => (text, None),
    };
    let classes = [
        ("SL", Class::ScalarOrLds),
        ("S", Class::Scalar),
        ("Lo", Class::Low),
        ("V", Class::Vector),
        ("A", Class::Accumulation),
        ("", Class::All),
    ];
    classes.into_iter().find_map(|(prefix, class)| {
        let ty = type_of(text.strip_prefix(prefix)?)?;
        let natural = if matches!(ty, Type::I64 | Type::F64) { 64 } else { 32 };
        Some(Kind::Any { ty, bits: size.unwrap_or(natural), class, deferred })
    })
}

/// What registers a target has.
#[derive(Clone, Copy, Debug)]
pub struct Registers {
    /// The target's generation.
    pub generation: Generation,
    /// Lanes of a wave.
    pub wave: u32,
}

impl Registers {
    /// The number of the last SGPR.
    fn last_sgpr(self) -> u32 {
        if self.generation >= Generation::Gfx10 { 105 } else { 101 }
    }

    /// Vector registers from number `first` on; `None` if they do not exist.
    pub fn vector(self, first: u32, bits: u16, agpr: bool) -> Option<Value> {
        let count = u32::from(bits).div_ceil(32);
        let first = (first + count <= 256).then_some(first as u16)?;
        Some(if agpr { Value::Agpr(first) } else { Value::Vgpr(first) })
    }

    /// The scalar register that a number below 128, or a special source above 191, names. Registers of
    /// several words begin at even numbers or at multiples of 4: lower bits are ignored.
    pub fn scalar(self, number: u32, bits: u16) -> Option<Value> {
        let count = u32::from(bits).div_ceil(32);
        let align = |n: u32| {
            if count > 2 {
                n & !3
            } else if count == 2 {
                n & !1
            } else {
                n
            }
        };
        if number <= self.last_sgpr() {
            let first = align(number);
            return (first + count <= 106).then_some(Value::Sgpr(first as u16));
        }
        if (108..=123).contains(&number) {
            let first = align(number - 108);
            // LLVM has no registers for three words of them.
            return (first + count <= 16 && count != 3).then_some(Value::Ttmp(first as u16));
        }
        match count {
            1 => self.special_32(number),
            2 => self.special_64(number),
            // LLVM's answer for these is not defined.
            _ => None,
        }
    }

    /// Whether a number below 128 is neither an SGPR nor a trap temporary.
    pub fn is_special(self, number: u32) -> bool {
        number > self.last_sgpr() && !(108..=123).contains(&number)
    }

    fn special_32(self, number: u32) -> Option<Value> {
        use Part::{High, Low};
        let gfx11 = self.generation >= Generation::Gfx11;
        let (special, part) = match number {
            102 => (Special::FlatScratch, Low),
            103 => (Special::FlatScratch, High),
            104 => (Special::XnackMask, Low),
            105 => (Special::XnackMask, High),
            106 => (Special::Vcc, Low),
            107 => (Special::Vcc, High),
            124 if gfx11 => (Special::Null, Part::Whole),
            124 => (Special::M0, Part::Whole),
            125 if gfx11 => (Special::M0, Part::Whole),
            125 => (Special::Null, Part::Whole),
            126 => (Special::Exec, Low),
            127 => (Special::Exec, High),
            254 => (Special::LdsDirect, Part::Whole),
            _ => (inline(number)?, Part::Low),
        };
        Some(Value::Special(special, part))
    }

    fn special_64(self, number: u32) -> Option<Value> {
        let gfx11 = self.generation >= Generation::Gfx11;
        let special = match number {
            102 => Special::FlatScratch,
            104 => Special::XnackMask,
            106 => Special::Vcc,
            124 if gfx11 => Special::Null,
            125 if !gfx11 => Special::Null,
            126 => Special::Exec,
            _ => inline(number)?,
        };
        Some(Value::Special(special, Part::Whole))
    }

    /// Sources that LLVM's disassembler takes for registers of any class: apertures and conditions. Whether
    /// they mean anything where only vector registers may stand is not known.
    pub fn aperture(self, number: u32) -> Option<Value> {
        match number {
            235..=239 | 251..=253 => self.scalar(number, 32),
            124 | 125 => self.scalar(number, 32).filter(|v| matches!(v, Value::Special(Special::Null, _))),
            _ => None,
        }
    }

    /// A register for results or addresses, which a field of 7 bits names.
    pub fn destination(self, number: u32, bits: u16, without: Without) -> Option<Value> {
        let value = if number < 128 { self.scalar(number, bits)? } else { self.aperture(number)? };
        let forbidden = match value {
            Value::Special(Special::Exec, part) => match without {
                Without::Nothing => false,
                Without::Exec | Without::ExecAndM0 => true,
                Without::ExecHigh => part == Part::High,
            },
            Value::Special(Special::M0, _) => without == Without::ExecAndM0,
            _ => false,
        };
        (!forbidden).then_some(value)
    }

    /// A lane mask.
    pub fn mask(self, number: u32, without: Without) -> Option<Value> {
        let bits = if self.wave == 64 { 64 } else { 32 };
        match number {
            0..128 | 235..=239 | 251..=253 => self.scalar(number, bits).filter(|value| {
                !matches!(value, Value::Special(Special::Exec, _)) || without == Without::Nothing
            }),
            _ => None,
        }
    }
}

/// Special sources above the constants, which are registers of any size.
fn inline(number: u32) -> Option<Special> {
    Some(match number {
        235 => Special::SharedBase,
        236 => Special::SharedLimit,
        237 => Special::PrivateBase,
        238 => Special::PrivateLimit,
        239 => Special::PopsExitingWaveId,
        251 => Special::Vccz,
        252 => Special::Execz,
        253 => Special::Scc,
        _ => return None,
    })
}

/// The inline constant that a source's number stands for.
pub fn constant(number: u32) -> Option<Value> {
    match number {
        128..=192 => Some(Value::Int((number - 128) as i8)),
        193..=208 => Some(Value::Int(192i32.wrapping_sub(number as i32) as i8)),
        240..=248 => Some(Value::Float((number - 240) as u8)),
        _ => None,
    }
}
