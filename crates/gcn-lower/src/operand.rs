//! Reading and writing the operands of instructions.

use gcn::isa::{Inst, Mod, Operand, Part, Role, Special, Type, Value as Place, inline_bits};
use wave::op::{FloatMode, FloatOp, IntCmp, IntOp, Op, ShiftOp};
use wave::types::Fmt;
use wave::{Ty, Value};

use crate::error::Result;
use crate::registers::{Reg, Registers};

/// The inline float 1.0.
const INLINE_ONE: u8 = 2;

/// What SDWA does with the rest of a result's register.
const UNUSED_PAD: u32 = 0;
const UNUSED_SEXT: u32 = 1;
const UNUSED_PRESERVE: u32 = 2;

/// The position and the length in bits of the part of a register that SDWA selects.
fn part_of(select: u32) -> Result<(u32, u32)> {
    match select {
        0..4 => Ok((select * 8, 8)),
        4 | 5 => Ok(((select - 4) * 16, 16)),
        6 => Ok((0, 32)),
        other => Err(format!("a selection of {other} has no meaning")),
    }
}

/// The type of an operand in a float format.
fn type_of(fmt: Fmt) -> Type {
    match fmt {
        Fmt::F16 => Type::F16,
        Fmt::F64 => Type::F64,
        _ => Type::F32,
    }
}

/// The operand of an instruction with this role.
pub(crate) fn operand(inst: &Inst, role: Role) -> Result<&Operand> {
    inst.operand(role).ok_or_else(|| format!("it has no {}", role.name()))
}

/// An immediate.
pub(crate) fn immediate(inst: &Inst, role: Role) -> Result<i64> {
    match operand(inst, role)?.value {
        Place::Imm(value) => Ok(value),
        Place::Literal(word) => Ok(i64::from(word as i32)),
        Place::Int(value) => Ok(i64::from(value)),
        _ => Err(format!("{} is no constant", role.name())),
    }
}

impl Registers {
    /// The words from a register on.
    pub fn words(&mut self, place: Place, count: u16) -> Result<Vec<Value>> {
        (0..count).map(|i| self.register(place, i)).collect()
    }

    /// The register `index` words after a place.
    fn register(&mut self, place: Place, index: u16) -> Result<Value> {
        match place {
            Place::Sgpr(first) => Ok(self.get(Reg::Scalar(first + index))),
            Place::Vgpr(first) => Ok(self.get(Reg::Vector(first + index))),
            Place::Special(special, part) => {
                let part = if part == Part::Whole && index == 1 { Part::High } else { part };
                self.special(special, part)
            }
            Place::Off => Ok(self.word(0)),
            other => Err(format!("{other:?} is not supported as a source")),
        }
    }

    /// 32 bits of a special register; all of them if a whole one has 32.
    fn special(&mut self, special: Special, part: Part) -> Result<Value> {
        let (register, other) = match special {
            Special::Vcc => (Reg::Vcc, Reg::VccHigh),
            Special::Exec => (Reg::Exec, Reg::ExecHigh),
            Special::M0 => return Ok(self.get(Reg::M0)),
            Special::Null => return Ok(self.word(0)),
            Special::Scc => {
                let scc = self.get(Reg::Scc);
                return Ok(self.resized(scc, Ty::I32));
            }
            Special::Vccz | Special::Execz => {
                let mask = self.get(if special == Special::Vccz { Reg::Vcc } else { Reg::Exec });
                let zero = self.constant(self.mask(), 0);
                let flag = self.compare(IntCmp::Eq, mask, zero);
                return Ok(self.resized(flag, Ty::I32));
            }
            Special::FlatScratch | Special::XnackMask => return Ok(self.word(0)),
            Special::SharedBase | Special::SharedLimit | Special::PrivateBase | Special::PrivateLimit => {
                return Ok(self.aperture(special, part == Part::High));
            }
            other => return Err(format!("{other:?} is not supported as a source")),
        };
        if self.lanes == 32 {
            return Ok(self.get(if part == Part::High { other } else { register }));
        }
        let mask = self.get(register);
        let (low, high) = self.halves(mask);
        Ok(if part == Part::High { high } else { low })
    }

    /// A source without its modifiers.
    fn plain(&mut self, o: &Operand) -> Result<Value> {
        let wide = o.bits > 32;
        let ty = if wide { Ty::I64 } else { Ty::I32 };
        Ok(match o.value {
            Place::Int(value) => self.constant(ty, i64::from(value) as u64),
            Place::Float(index) => self.constant(ty, inline_bits(index, o.ty)),
            // The upper half of a double, or a sign-extended integer.
            Place::Literal(word) if wide && o.ty == Type::F64 => self.constant(ty, u64::from(word) << 32),
            Place::Literal(word) if wide => self.constant(ty, i64::from(word as i32) as u64),
            Place::Literal(word) => self.word(word),
            Place::Imm(value) => self.constant(ty, value as u64),
            Place::Special(Special::Exec, Part::Whole) if ty == self.mask() => self.get(Reg::Exec),
            Place::Special(Special::Vcc, Part::Whole) if ty == self.mask() => self.get(Reg::Vcc),
            place if wide => {
                let words = self.words(place, 2)?;
                self.whole(words[0], words[1])
            }
            place => self.register(place, 0)?,
        })
    }

    /// A source of 32 or 64 bits, with its modifiers.
    pub fn read(&mut self, o: &Operand) -> Result<Value> {
        let value = self.plain(o)?;
        self.modify(o, value)
    }

    /// A value of a source after the source's modifiers.
    fn modify(&mut self, o: &Operand, mut value: Value) -> Result<Value> {
        let sign = match o.ty {
            Type::F16 => 0x8000,
            Type::F64 => 1 << 63,
            _ => 1 << 31,
        };
        let ty = self.func.ty(value);
        if o.abs {
            let rest = self.constant(ty, !sign);
            value = self.int(IntOp::And, value, rest);
        }
        if o.neg {
            let sign = self.constant(ty, sign);
            value = self.int(IntOp::Xor, value, sign);
        }
        Ok(value)
    }

    /// The source with this role.
    pub fn source(&mut self, inst: &Inst, role: Role) -> Result<Value> {
        let operand = operand(inst, role)?;
        let mut value = self.plain(operand)?;
        let select = match role {
            Role::Src0 => Mod::Src0Sel,
            Role::Src1 => Mod::Src1Sel,
            _ => return self.modify(operand, value),
        };
        if let Some(select) = inst.control(select) {
            value = self.selected(value, select, operand.sext)?;
        }
        if role == Role::Src0 {
            value = self.of_other_lane(inst, value)?;
        }
        self.modify(operand, value)
    }

    /// A byte, a half or all of a word, extended (SDWA).
    fn selected(&mut self, value: Value, select: u32, signed: bool) -> Result<Value> {
        let (position, length) = part_of(select)?;
        if length == 32 {
            return Ok(value);
        }
        let (position, length) = (self.word(position), self.word(length));
        Ok(self.op1(Op::Bfe { signed, ty: Ty::I32 }, &[value, position, length]))
    }

    /// A result that is put in a part of the register (SDWA).
    fn placed(&mut self, inst: &Inst, value: Value, select: u32, number: u16) -> Result<Value> {
        let (position, length) = part_of(select)?;
        if length == 32 {
            return Ok(value);
        }
        let (at, bits) = (self.word(position), self.word(length));
        match inst.modifier(Mod::DstUnused) {
            UNUSED_PAD => {
                let zero = self.word(0);
                Ok(self.op1(Op::Bfi(Ty::I32), &[value, zero, at, bits]))
            }
            // The sign fills what is above, zeros what is below.
            UNUSED_SEXT => {
                let zero = self.word(0);
                let extended = self.op1(Op::Bfe { signed: true, ty: Ty::I32 }, &[value, zero, bits]);
                Ok(self.shift(ShiftOp::Shl, extended, at))
            }
            UNUSED_PRESERVE => {
                let old = self.get(Reg::Vector(number));
                Ok(self.op1(Op::Bfi(Ty::I32), &[value, old, at, bits]))
            }
            other => Err(format!("dst_unused:{other} has no meaning")),
        }
    }

    /// Writes a scalar result of 32 or 64 bits, or a mask.
    pub fn write_scalar(&mut self, o: &Operand, value: Value) -> Result<()> {
        let wide = self.func.ty(value) == Ty::I64;
        let (register, other) = match o.value {
            Place::Sgpr(first) if wide => {
                let (low, high) = self.halves(value);
                self.set(Reg::Scalar(first), low);
                self.set(Reg::Scalar(first + 1), high);
                return Ok(());
            }
            Place::Sgpr(first) => {
                self.set(Reg::Scalar(first), value);
                return Ok(());
            }
            Place::Special(Special::M0, _) => {
                self.set(Reg::M0, value);
                return Ok(());
            }
            // Scratch memory needs no base, and nothing is replayed.
            Place::Special(Special::Null | Special::FlatScratch | Special::XnackMask, _) => return Ok(()),
            Place::Special(Special::Vcc, _) => (Reg::Vcc, Reg::VccHigh),
            Place::Special(Special::Exec, _) => (Reg::Exec, Reg::ExecHigh),
            other => return Err(format!("{other:?} is not supported as a result")),
        };
        let Place::Special(_, part) = o.value else { return Ok(()) };
        match (self.lanes, part) {
            // Of 64 bits, a wave of 32 lanes has the upper half in a plain register.
            (32, _) if wide => {
                let (low, high) = self.halves(value);
                self.set(register, low);
                self.set(other, high);
            }
            (32, Part::High) => self.set(other, value),
            (32, _) | (_, Part::Whole) => self.set(register, value),
            (_, part) => {
                let mask = self.get(register);
                let (low, high) = self.halves(mask);
                let (low, high) = if part == Part::Low { (value, high) } else { (low, value) };
                let whole = self.whole(low, high);
                self.set(register, whole);
            }
        }
        Ok(())
    }

    /// Writes a vector result of 32 or 64 bits, after the instruction's output modifiers for a float format.
    pub fn write_vector(&mut self, inst: &Inst, mut value: Value, fmt: Option<Fmt>) -> Result<()> {
        let (omod, clamp) = (inst.modifier(Mod::Omod), inst.modifier(Mod::Clamp));
        match fmt {
            Some(fmt) => value = self.modified(value, fmt, omod, clamp == 1)?,
            None if clamp == 1 => return Err("clamp of integers is not supported".to_owned()),
            None => {}
        }
        let Place::Vgpr(first) = operand(inst, Role::Vdst)?.value else {
            return Err("the result is no VGPR".to_owned());
        };
        if self.func.ty(value) == Ty::I64 {
            let (low, high) = self.halves(value);
            self.set_vector(first, low);
            self.set_vector(first + 1, high);
        } else {
            let mut value = self.resized(value, Ty::I32);
            if let Some(select) = inst.control(Mod::DstSel) {
                value = self.placed(inst, value, select, first)?;
            }
            self.set_vector(first, value);
        }
        Ok(())
    }

    /// A result times 2, 4 or 1/2, and clamped to [0, 1].
    fn modified(&mut self, mut value: Value, fmt: Fmt, omod: u32, clamp: bool) -> Result<Value> {
        let factor = match omod {
            0 => None,
            1 => Some(4),
            2 => Some(6),
            _ => Some(0),
        };
        if let Some(index) = factor {
            let factor = self.constant(fmt.ty(), inline_bits(index, type_of(fmt)));
            value = self.op1(Op::Float(FloatOp::Mul, FloatMode::rn(fmt)), &[value, factor]);
        }
        if clamp {
            let one = self.constant(fmt.ty(), inline_bits(INLINE_ONE, type_of(fmt)));
            // A product with one: exact, clamped, and 0 for a NaN.
            let mode = FloatMode { sat: true, ..FloatMode::rn(fmt) };
            value = self.op1(Op::Float(FloatOp::Mul, mode), &[value, one]);
        }
        Ok(value)
    }

    /// A shift's amount: the low bits that count for a width.
    pub fn amount(&mut self, value: Value, bits: u32) -> Value {
        let value = self.resized(value, Ty::I32);
        let mask = self.word(bits - 1);
        self.int(IntOp::And, value, mask)
    }

    /// A shift by the low bits of an amount.
    pub fn shifted(&mut self, op: ShiftOp, value: Value, amount: Value) -> Value {
        let bits = self.func.ty(value).bits();
        let amount = self.amount(amount, bits);
        self.shift(op, value, amount)
    }
}
