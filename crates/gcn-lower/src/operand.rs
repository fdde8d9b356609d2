//! Reading and writing the operands of instructions.

use gcn::Generation;
use gcn::isa::{Inst, Mod, Operand, Part, Role, Special, Type, Value as Place, inline_bits};
use wave::op::{FloatMode, FloatOp, IntCmp, IntOp, Op, ShiftOp};
use wave::types::Fmt;
use wave::{Ty, Value};

use crate::error::Result;
use crate::registers::{ACCUMULATORS, Reg, Registers};
use crate::table::Form;

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
        Fmt::BF16 => Type::Bf16,
        Fmt::F64 => Type::F64,
        _ => Type::F32,
    }
}

/// Whether a source is no register.
fn is_constant(place: Place) -> bool {
    matches!(place, Place::Int(_) | Place::Float(_) | Place::Literal(_) | Place::Imm(_))
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
            Place::Agpr(first) => Ok(self.get(Reg::Vector(ACCUMULATORS + first + index))),
            Place::Ttmp(first) => Ok(self.get(Reg::Trap(first + index))),
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
            // The upper half of a double, or an integer.
            Place::Literal(word) if wide && o.ty == Type::F64 => self.constant(ty, u64::from(word) << 32),
            Place::Literal(word) if wide && self.long_signed => {
                self.constant(ty, i64::from(word as i32) as u64)
            }
            Place::Literal(word) if wide => self.constant(ty, u64::from(word)),
            Place::Literal(word) => self.word(word),
            Place::Imm(value) => self.constant(ty, value as u64),
            Place::Special(Special::Exec, Part::Whole) if ty == self.mask() => self.get(Reg::Exec),
            Place::Special(Special::Vcc, Part::Whole) if ty == self.mask() => self.get(Reg::Vcc),
            Place::Vgpr(first) if self.is_indexed(o) => {
                let offset = self.index();
                let low = self.vector_at(first, offset);
                if !wide {
                    return Ok(low);
                }
                let high = self.vector_at(first + 1, offset);
                self.whole(low, high)
            }
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
        let key = (value, o.abs, o.neg, sign);
        if let Some(made) = self.modified.get(&key) {
            return Ok(*made);
        }
        if o.abs {
            let rest = self.constant(ty, !sign);
            value = self.int(IntOp::And, value, rest);
        }
        if o.neg {
            let sign = self.constant(ty, sign);
            value = self.int(IntOp::Xor, value, sign);
        }
        self.modified.insert(key, value);
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

    /// A source without its modifiers, but of another lane or a part of a register if the encoding says so.
    fn raw_source(&mut self, inst: &Inst, role: Role) -> Result<Value> {
        let operand = operand(inst, role)?;
        let mut value = self.plain(operand)?;
        let select = if role == Role::Src0 { Mod::Src0Sel } else { Mod::Src1Sel };
        if let Some(select) = inst.control(select).filter(|_| role != Role::Src2) {
            value = self.selected(value, select, operand.sext)?;
        }
        if role == Role::Src0 { self.of_other_lane(inst, value) } else { Ok(value) }
    }

    /// The low or the high half of a word.
    pub fn half_of(&mut self, value: Value, high: bool) -> Value {
        let value = self.resized(value, Ty::I32);
        let by = self.word(if high { 16 } else { 0 });
        let value = if high { self.shift(ShiftOp::ShrU, value, by) } else { value };
        self.resized(value, Ty::I16)
    }

    /// The source with this number, as a form says: its value, or the values of both elements.
    pub fn source_as(&mut self, inst: &Inst, number: usize, form: Form) -> Result<[Value; 2]> {
        let role = *[Role::Src0, Role::Src1, Role::Src2].get(number).ok_or("it has too many sources")?;
        let source = *operand(inst, role)?;
        let bit = |control: Mod, default: u32| inst.control(control).unwrap_or(default) >> number & 1 == 1;
        let (low, high) = (bit(Mod::OpSel, 0), bit(Mod::OpSelHi, 7));
        let (neg_low, neg_high) = (bit(Mod::NegLo, 0), bit(Mod::NegHi, 0));
        if form == Form::Mixed {
            let is_half = bit(Mod::OpSelHi, 0);
            let value = match source.value {
                // A constant has the type that it is used with.
                Place::Float(index) if !is_half => self.word(inline_bits(index, Type::F32) as u32),
                _ => self.raw_source(inst, role)?,
            };
            let value = if is_half {
                let half = self.half_of(value, low);
                self.converted(Fmt::F16, Fmt::F32, None, half)
            } else {
                value
            };
            return Ok([self.signed(Fmt::F32, value, source.abs, source.neg); 2]);
        }
        let value = self.raw_source(inst, role)?;
        if !form.is_pair() {
            let value = match form.ty() {
                Ty::I16 => self.half_of(value, low),
                ty => self.resized(value, ty),
            };
            let fmt = form.fmt().unwrap_or(Fmt::F32);
            if (source.abs || source.neg || neg_low) && fmt.ty() == form.ty() {
                return Ok([self.signed(fmt, value, source.abs, source.neg ^ neg_low); 2]);
            }
            return Ok([value; 2]);
        }
        let mut parts = match form.ty() {
            Ty::I32 if self.func.ty(value) == Ty::I64 && !is_constant(source.value) => {
                let (first, second) = self.halves(value);
                [low, high].map(|upper| if upper { second } else { first })
            }
            Ty::I32 => [self.resized(value, Ty::I32); 2],
            _ => [self.half_of(value, low), self.half_of(value, high)],
        };
        if let Some(fmt) = form.fmt() {
            for (part, neg) in parts.iter_mut().zip([neg_low, neg_high]) {
                *part = self.signed(fmt, *part, source.abs, neg ^ source.neg);
            }
        }
        Ok(parts)
    }

    /// The old values of a result's elements.
    pub fn old_as(&mut self, inst: &Inst, form: Form) -> Result<[Value; 2]> {
        let place = operand(inst, Role::Vdst)?.value;
        let low = self.register(place, 0)?;
        Ok(match (form, form.ty()) {
            (Form::Ints(_) | Form::Floats(Fmt::F16), _) => {
                [self.half_of(low, false), self.half_of(low, true)]
            }
            (_, Ty::I16) => [self.half_of(low, false); 2],
            (Form::Floats(_), _) => [low, self.register(place, 1)?],
            (_, Ty::I64) => {
                let high = self.register(place, 1)?;
                [self.whole(low, high); 2]
            }
            _ => [low; 2],
        })
    }

    /// Writes the elements of a vector result, which are multiplied and clamped already.
    pub fn write_as(&mut self, inst: &Inst, form: Form, values: &[Value]) -> Result<()> {
        let (Place::Vgpr(first), &[value, ..]) = (operand(inst, Role::Vdst)?.value, values) else {
            return Err("the result is no VGPR".to_owned());
        };
        let pack = Op::Pack { part: Ty::I16, whole: Ty::I32 };
        match (form, values) {
            (Form::Ints(_) | Form::Floats(Fmt::F16), &[low, high]) => {
                let value = self.op1(pack, &[low, high]);
                self.written(inst, value, first)
            }
            (Form::Floats(_), &[low, high]) => {
                self.set_vector(first, low);
                self.set_vector(first + 1, high);
                Ok(())
            }
            _ if self.func.ty(value) == Ty::I64 => {
                let (low, high) = self.halves(value);
                self.set_vector(first, low);
                self.set_vector(first + 1, high);
                Ok(())
            }
            _ if form.ty() == Ty::I16 => {
                // Until gfx9 the other half becomes 0, except where a control selects halves.
                let upper = inst.modifier(Mod::OpSel) >> 3 & 1 == 1 || form == Form::Upper;
                let kept = self.generation >= Generation::Gfx10 || inst.control(Mod::OpSel).is_some();
                let value = if (kept || upper) && inst.control(Mod::DstSel).is_none() {
                    let old = self.get(Reg::Vector(first));
                    let other = self.half_of(old, !upper);
                    let parts = if upper { [other, value] } else { [value, other] };
                    self.op1(pack, &parts)
                } else {
                    self.resized(value, Ty::I32)
                };
                self.written(inst, value, first)
            }
            _ => self.written(inst, value, first),
        }
    }

    /// Writes a word, or a part of it (SDWA).
    fn written(&mut self, inst: &Inst, mut value: Value, first: u16) -> Result<()> {
        if let Some(select) = inst.control(Mod::DstSel) {
            value = self.placed(inst, value, select, first)?;
        }
        self.set_vector(first, value);
        Ok(())
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
    pub fn modified(&mut self, mut value: Value, fmt: Fmt, omod: u32, clamp: bool) -> Result<Value> {
        // In IEEE mode, and where subnormal results are kept, output modifiers have no effect.
        let factor = match omod {
            _ if !self.mode.has_output_modifiers(fmt) => None,
            0 => None,
            1 => Some(4),
            2 => Some(6),
            _ => Some(0),
        };
        if let Some(index) = factor {
            let factor = self.constant(fmt.ty(), inline_bits(index, type_of(fmt)));
            value = self.op1(Op::Float(FloatOp::Mul, self.float_mode(fmt)), &[value, factor]);
            // A zero loses its sign.
            let zero = self.constant(fmt.ty(), 0);
            value = self.op1(Op::Float(FloatOp::Add, self.float_mode(fmt)), &[value, zero]);
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
