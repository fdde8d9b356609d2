//! Buffers: memory by descriptors of 128 bits, with strides and checks of the range (AMD's instruction set
//! manuals, "Buffer Addressing").

use gcn::Generation;
use gcn::isa::{Inst, Mod, Operand, Role, Value as Place};
use wave::op::{IntCmp, IntOp, ShiftOp, Space};
use wave::{Ty, Value};

use crate::access::{self, Access, At, first_vgpr};
use crate::error::Result;
use crate::memory::lds_access;
use crate::operand::operand;
use crate::registers::Registers;
use crate::typed::Shape;

/// Where an access begins.
pub(crate) struct Begin {
    pub at: At,
    /// Bytes between the buffer's begin and the access, as the range check counts them.
    pub bytes: Value,
    /// The buffer's size, if that is what is checked; otherwise `at` says which lanes are inside.
    pub size: Value,
    /// Whether the size is checked in bytes.
    pub raw: Value,
}

impl Registers {
    /// An access of a buffer, or of scratch memory by its descriptor. `typed` says that the instruction has
    /// the format.
    pub fn buffer(&mut self, inst: &Inst, rest: &str, typed: bool) -> Result<()> {
        if rest == "store_lds_dword" {
            return Err("stores from LDS are not supported".to_owned());
        }
        if inst.modifier(Mod::Tfe) == 1 {
            return Err("the state of a texture (tfe) is not supported".to_owned());
        }
        if let Some(shape) = Shape::of(rest) {
            return self.typed_buffer(inst, shape, typed);
        }
        let into_lds = lds_access(inst, rest);
        if let Some((update, ty)) = access::atomic(rest)? {
            let at = self.buffer_place(inst, ty.ty().bytes())?;
            let mut data = self.atomic_data(inst, Role::Vdata, ty, update.operands())?;
            // The new value comes first, then what is compared.
            data.reverse();
            let old = self.atomic(update, ty, at, &data);
            let returns = inst.modifier(Mod::Glc) == 1 || inst.modifier(Mod::Th) & 1 == 1;
            if returns {
                self.set_old(old, first_vgpr(inst, Role::Vdata)?);
            }
            return Ok(());
        }
        let access =
            into_lds.or_else(|| access::access(rest)).ok_or("this buffer access is not supported")?;
        if let Place::Sgpr(first) = operand(inst, Role::Srsrc)?.value
            && self.words.is_scratch(first)
        {
            let at = self.scratch_place(inst)?;
            return match into_lds {
                Some(access) => self.load_to_lds(inst, access, at),
                None => self.access(inst, access, at, Role::Vdata, Role::Vdata),
            };
        }
        let words = match access {
            Access::Load(words) | Access::Store(words) => words,
            _ => 1,
        };
        if let (None, 2..) = (into_lds, words) {
            return self.words_of_buffer(inst, access, words);
        }
        let bytes = match access {
            Access::Part(ty, ..) | Access::StorePart(ty, _) => ty.bytes(),
            _ => 4,
        };
        let at = self.buffer_place(inst, bytes)?;
        match into_lds {
            Some(access) => self.load_to_lds(inst, access, at),
            None => self.access(inst, access, at, Role::Vdata, Role::Vdata),
        }
    }

    /// An access of several words, each of which is checked.
    fn words_of_buffer(&mut self, inst: &Inst, access: Access, words: u8) -> Result<()> {
        let begin = self.buffer_begin(inst)?;
        let first = first_vgpr(inst, Role::Vdata)?;
        let each: Vec<At> = (0..words).map(|i| self.checked(&begin, u32::from(i) * 4, 4)).collect();
        if let Access::Store(_) = access {
            let data = self.words(operand(inst, Role::Vdata)?.value, u16::from(words))?;
            for (at, word) in each.into_iter().zip(data) {
                self.store_one(at, word);
            }
            return Ok(());
        }
        let values: Vec<Value> = each.into_iter().map(|at| self.load_one(at, Ty::I32)).collect();
        for (number, value) in (first..).zip(values) {
            self.set_vector(number, value);
        }
        Ok(())
    }

    fn buffer_place(&mut self, inst: &Inst, bytes: u32) -> Result<At> {
        let begin = self.buffer_begin(inst)?;
        Ok(self.checked(&begin, 0, bytes))
    }

    /// The place at a distance into an access, with the lanes for which it is in the buffer.
    fn checked(&mut self, begin: &Begin, distance: u32, bytes: u32) -> At {
        let length = self.constant(Ty::I64, u64::from(distance + bytes));
        let end = self.int(IntOp::Add, begin.bytes, length);
        let fits = self.compare(IntCmp::LeU, end, begin.size);
        let by_index = match begin.at.inside {
            Some(inside) => inside,
            None => self.constant(Ty::I1, 1),
        };
        let inside = self.select(begin.raw, fits, by_index);
        At { inside: Some(inside), ..begin.at.plus(distance as i32) }
    }

    /// The registers of the address: the index, and the offset.
    fn buffer_registers(&mut self, inst: &Inst) -> Result<(Option<Value>, Option<Value>)> {
        let (indexed, offset) = (inst.modifier(Mod::Idxen) == 1, inst.modifier(Mod::Offen) == 1);
        let count = u16::from(indexed) + u16::from(offset);
        if count == 0 {
            return Ok((None, None));
        }
        let words = self.words(operand(inst, Role::Vaddr)?.value, count)?;
        let index = indexed.then_some(words[0]);
        let offset = if offset { words.last().copied() } else { None };
        Ok((index, offset))
    }

    /// The scalar offset, and the constant one.
    fn buffer_offsets(&mut self, inst: &Inst) -> Result<(Value, u32)> {
        let scalar = match inst.operand(Role::Soffset) {
            Some(Operand { value: Place::Off, .. }) | None => self.word(0),
            Some(o) => self.read(o)?,
        };
        Ok((scalar, inst.modifier(Mod::Offset)))
    }

    /// A place in the lane's scratch memory. The scalar offset counts bytes of the wave.
    fn scratch_place(&mut self, inst: &Inst) -> Result<At> {
        let (index, register) = self.buffer_registers(inst)?;
        if index.is_some() {
            return Err("scratch memory has no index".to_owned());
        }
        let (scalar, constant) = self.buffer_offsets(inst)?;
        let lanes = self.word(self.lanes.trailing_zeros());
        let mut offset = self.shift(ShiftOp::ShrU, scalar, lanes);
        if let Some(register) = register {
            offset = self.int(IntOp::Add, offset, register);
        }
        let address = self.in_scratch(offset, constant)?;
        Ok(At { space: Space::Local, address, offset: 0, inside: None })
    }

    /// A place in a buffer.
    pub fn buffer_begin(&mut self, inst: &Inst) -> Result<Begin> {
        let words = self.words(operand(inst, Role::Srsrc)?.value, 4)?;
        let (index, register) = self.buffer_registers(inst)?;
        let (scalar, constant) = self.buffer_offsets(inst)?;
        let (base, stride) = self.buffer_base(&words);
        let size = self.resized(words[2], Ty::I64);
        let scalar = self.resized(scalar, Ty::I64);
        let mut offset = self.constant(Ty::I64, u64::from(constant));
        if let Some(register) = register {
            let register = self.resized(register, Ty::I64);
            offset = self.int(IntOp::Add, offset, register);
        }
        let address = self.int(IntOp::Add, base, scalar);
        let bytes = self.int(IntOp::Add, offset, scalar);
        let zero = self.constant(Ty::I64, 0);
        let (at_index, linear) = match index {
            None => (zero, offset),
            Some(index) => {
                let index = self.resized(index, Ty::I64);
                let distance = self.int(IntOp::Mul, index, stride);
                let linear = self.int(IntOp::Add, distance, offset);
                let swizzled = self.swizzled_offset(&words, index, stride, offset);
                let top = self.word(31);
                let enabled = self.shift(ShiftOp::ShrU, words[1], top);
                let enabled = self.resized(enabled, Ty::I1);
                (index, self.select(enabled, swizzled, linear))
            }
        };
        let address = self.int(IntOp::Add, address, linear);
        let structured = self.compare(IntCmp::LtU, at_index, size);
        let (raw, inside) = if self.generation < Generation::Gfx10 {
            // The index is checked if there is one and the buffer has a stride, otherwise the bytes are.
            let raw = match index {
                Some(_) => self.compare(IntCmp::Eq, stride, zero),
                None => self.constant(Ty::I1, 1),
            };
            (raw, structured)
        } else {
            // The descriptor says what is checked: the index and the offset in a record, the index, that
            // there is a buffer, or the bytes.
            let (at, two) = (self.word(28), self.word(3));
            let select = self.shift(ShiftOp::ShrU, words[3], at);
            let select = self.int(IntOp::And, select, two);
            let mut is = |n: u32| {
                let n = self.word(n);
                self.compare(IntCmp::Eq, select, n)
            };
            let (both, only_buffer, raw) = (is(0), is(2), is(3));
            let in_record = self.compare(IntCmp::LtU, offset, stride);
            let strict = self.int(IntOp::And, structured, in_record);
            let inside = self.select(both, strict, structured);
            let there = self.compare(IntCmp::Ne, size, zero);
            (raw, self.select(only_buffer, there, inside))
        };
        let at = At { space: Space::Global, address, offset: 0, inside: Some(inside) };
        // Without a stride, an index does not count; with one, the bytes are those of all records before,
        // too.
        let bytes = match index {
            Some(_) => {
                let before = self.int(IntOp::Sub, linear, offset);
                self.int(IntOp::Add, bytes, before)
            }
            None => bytes,
        };
        Ok(Begin { at, bytes, size, raw })
    }

    /// The offset in a buffer whose records are interleaved: words of so many neighbouring records are
    /// together.
    fn swizzled_offset(&mut self, words: &[Value], index: Value, stride: Value, offset: Value) -> Value {
        let (at, three, eight) = (self.word(21), self.word(3), self.word(3));
        let field = self.shift(ShiftOp::ShrU, words[3], at);
        let field = self.int(IntOp::And, field, three);
        // Groups of 8, 16, 32 or 64 records.
        let bits = self.int(IntOp::Add, field, eight);
        let one = self.constant(Ty::I64, 1);
        let group = self.shift(ShiftOp::Shl, one, bits);
        let below = self.int(IntOp::Sub, group, one);
        let (index_high, index_low) =
            (self.shift(ShiftOp::ShrU, index, bits), self.int(IntOp::And, index, below));
        let (two, three) = (self.word(2), self.constant(Ty::I64, 3));
        let offset_low = self.int(IntOp::And, offset, three);
        let offset_high = self.int(IntOp::Sub, offset, offset_low);
        let records = self.int(IntOp::Mul, index_high, stride);
        let sum = self.int(IntOp::Add, records, offset_high);
        let sum = self.int(IntOp::Mul, sum, group);
        let within = self.shift(ShiftOp::Shl, index_low, two);
        let sum = self.int(IntOp::Add, sum, within);
        self.int(IntOp::Add, sum, offset_low)
    }
}
