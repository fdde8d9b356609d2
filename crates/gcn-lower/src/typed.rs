//! Typed buffers: elements in the format of the instruction or of the descriptor, which the texture unit
//! converts (`texture::typed`).

use gcn::Generation;
use gcn::isa::{Inst, Mod, Role};
use texture::access::{Access, Operation};
use texture::record::Family;
use texture::typed::{self, spec};
use wave::op::{IntCmp, IntOp, Op, ShiftOp};
use wave::{Ty, Value};

use crate::access::{At, Half, first_vgpr};
use crate::buffer::Begin;
use crate::error::Result;
use crate::operand::operand;
use crate::registers::Registers;

/// Words of the largest element.
const MOST: u32 = 4;

/// What is loaded or stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    load: bool,
    channels: usize,
    /// The channels have 16 bits.
    halves: bool,
    /// The only channel is in the upper half of its register.
    high: bool,
}

impl Shape {
    /// What a name without `buffer_` says; `None` if elements have no format. The words are in another order
    /// from gfx11 on.
    pub fn of(rest: &str) -> Option<Shape> {
        let mut shape = Shape { load: false, channels: 0, halves: false, high: false };
        let mut formatted = false;
        for word in rest.split('_') {
            match word {
                "load" => shape.load = true,
                "store" | "lds" => {}
                "format" => formatted = true,
                "d16" => shape.halves = true,
                "hi" => shape.high = true,
                "x" => shape.channels = 1,
                "xy" => shape.channels = 2,
                "xyz" => shape.channels = 3,
                "xyzw" => shape.channels = 4,
                _ => return None,
            }
        }
        formatted.then_some(shape)
    }
}

/// What is accessed: the format as the unit takes it, and the bytes of an element.
struct Element {
    how: Value,
    bytes: Value,
}

impl Registers {
    fn family(&self) -> Family {
        match self.generation {
            Generation::Gfx10 => Family::Gfx10,
            Generation::Gfx11 => Family::Gfx11,
            Generation::Gfx12 => Family::Gfx12,
            _ => Family::Gfx9,
        }
    }

    /// A load or a store of an element.
    pub fn typed_buffer(&mut self, inst: &Inst, shape: Shape, typed: bool) -> Result<()> {
        let element = match inst.control(Mod::Format) {
            // gfx12 has the field in all accesses of buffers.
            Some(field) if typed => self.named(field),
            _ => self.of_descriptor(inst, shape.load)?,
        };
        let begin = self.buffer_begin(inst)?;
        let at = self.checked_by(&begin, element.bytes);
        let access = |operation| Access { operation, halves: shape.halves, ..Access::default() };
        if shape.load {
            let words = self.element_words(at, element.bytes);
            let mut args = vec![element.how];
            args.extend(words);
            let all = self.op(Op::Texture(access(Operation::Unpack)), &args);
            // What is outside of the buffer is 0, a missing channel as well.
            let zero = self.word(0);
            let wanted = all.iter().take(shape.channels);
            let inside = at.inside;
            let mut channels = Vec::new();
            for value in wanted {
                channels.push(match inside {
                    Some(inside) => self.select(inside, *value, zero),
                    None => *value,
                });
            }
            let first = first_vgpr(inst, Role::Vdata)?;
            if let (true, [only]) = (shape.halves, channels.as_slice()) {
                let part = self.resized(*only, Ty::I16);
                // The other half is kept.
                self.set_part(part, false, if shape.high { Half::High } else { Half::Low }, first);
                return Ok(());
            }
            self.set_channels(first, &channels, shape.halves);
            return Ok(());
        }
        let place = operand(inst, Role::Vdata)?.value;
        let mut values = match shape.high {
            true => {
                let word = self.words(place, 1)?[0];
                vec![self.upper_half(word)]
            }
            false => self.channels(place, shape.channels, shape.halves)?,
        };
        let zero = self.word(0);
        values.resize(MOST as usize, zero);
        let mut args = vec![element.how];
        args.extend(values);
        let words = self.op(Op::Texture(access(Operation::Pack)), &args);
        self.store_element(at, element.bytes, &words);
        Ok(())
    }

    /// The format that an instruction has itself.
    fn named(&mut self, field: u32) -> Element {
        let family = self.family();
        let how = self.constant(Ty::I64, u64::from(field | family.number() << spec::FAMILY));
        Element { how, bytes: self.word(typed::bytes(family, field)) }
    }

    /// The format in the buffer's descriptor, with its selection of channels for loads.
    fn of_descriptor(&mut self, inst: &Inst, load: bool) -> Result<Element> {
        let family = self.family();
        let word = self.words(operand(inst, Role::Srsrc)?.value, 4)?[3];
        let by = self.word(12);
        let above = self.shift(ShiftOp::ShrU, word, by);
        let field = match family {
            Family::Gfx9 => {
                // Three bits of the number format, then four of the data format, which come first here.
                let (three, seven, four, fifteen) = (self.word(3), self.word(7), self.word(4), self.word(15));
                let number = self.int(IntOp::And, above, seven);
                let data = self.shift(ShiftOp::ShrU, above, three);
                let data = self.int(IntOp::And, data, fifteen);
                let number = self.shift(ShiftOp::Shl, number, four);
                self.int(IntOp::Or, data, number)
            }
            _ => {
                let mask = self.word(if family == Family::Gfx10 { 127 } else { 63 });
                self.int(IntOp::And, above, mask)
            }
        };
        let fixed = self.word(family.number() << spec::FAMILY | u32::from(load) << spec::SELECTS);
        let mut how = self.int(IntOp::Or, field, fixed);
        if load {
            let (twelve, by) = (self.word(0xfff), self.word(spec::SELECTION));
            let selection = self.int(IntOp::And, word, twelve);
            let selection = self.shift(ShiftOp::Shl, selection, by);
            how = self.int(IntOp::Or, how, selection);
        }
        // Elements grow with the number of the format, but for gaps: the size changes at a few numbers.
        let (mut bytes, mut size) = (self.word(0), 0);
        let key = match family {
            Family::Gfx9 => {
                let fifteen = self.word(15);
                self.int(IntOp::And, field, fifteen)
            }
            _ => field,
        };
        let formats = if family == Family::Gfx9 { 16 } else { 128 };
        for number in 1..formats {
            // On gfx9, with a number format that every data format has.
            let now = typed::bytes(family, if family == Family::Gfx9 { number | 4 << 4 } else { number });
            if now != size {
                let (from, value) = (self.word(number), self.word(now));
                let reached = self.compare(IntCmp::GeU, key, from);
                bytes = self.select(reached, value, bytes);
                size = now;
            }
        }
        Ok(Element { how: self.resized(how, Ty::I64), bytes })
    }

    /// The place of an element, by its size.
    fn checked_by(&mut self, begin: &Begin, bytes: Value) -> At {
        let length = self.resized(bytes, Ty::I64);
        let end = self.int(IntOp::Add, begin.bytes, length);
        let fits = self.compare(IntCmp::LeU, end, begin.size);
        let by_index = match begin.at.inside {
            Some(inside) => inside,
            None => self.constant(Ty::I1, 1),
        };
        let inside = self.select(begin.raw, fits, by_index);
        let zero = self.constant(Ty::I64, 0);
        let there = self.compare(IntCmp::Ne, length, zero);
        let inside = self.int(IntOp::And, inside, there);
        At { inside: Some(inside), ..begin.at }
    }

    /// The lanes inside whose element is longer than `than` bytes.
    fn longer(&mut self, at: At, bytes: Value, than: u32) -> Option<Value> {
        let than = self.word(than);
        let longer = self.compare(IntCmp::GtU, bytes, than);
        Some(match at.inside {
            Some(inside) => self.int(IntOp::And, inside, longer),
            None => longer,
        })
    }

    /// The words of an element. A part of a word is read with its word.
    fn element_words(&mut self, at: At, bytes: Value) -> Vec<Value> {
        let (three, four, zero) = (self.constant(Ty::I64, 3), self.word(4), self.constant(Ty::I64, 0));
        let part = self.compare(IntCmp::LtU, bytes, four);
        let low = self.int(IntOp::And, at.address, three);
        let low = self.select(part, low, zero);
        let address = self.int(IntOp::Sub, at.address, low);
        let first = self.load_one(At { address, ..at }, Ty::I32);
        let low = self.resized(low, Ty::I32);
        let by = self.word(3);
        let bits = self.shift(ShiftOp::Shl, low, by);
        let mut words = vec![self.shift(ShiftOp::ShrU, first, bits)];
        for word in 1..MOST {
            let inside = self.longer(at, bytes, word * 4);
            words.push(self.load_one(At { inside, ..at }.plus(word as i32 * 4), Ty::I32));
        }
        words
    }

    /// Stores an element's words, or the part of a word that it is.
    fn store_element(&mut self, at: At, bytes: Value, words: &[Value]) {
        for (ty, size) in [(Ty::I8, 1), (Ty::I16, 2)] {
            let this = self.word(size);
            let this = self.compare(IntCmp::Eq, bytes, this);
            let inside = Some(match at.inside {
                Some(inside) => self.int(IntOp::And, inside, this),
                None => this,
            });
            let value = self.resized(words[0], ty);
            self.store_one(At { inside, ..at }, value);
        }
        for (word, value) in words.iter().enumerate() {
            let inside = self.longer(at, bytes, if word == 0 { 2 } else { word as u32 * 4 });
            self.store_one(At { inside, ..at }.plus(word as i32 * 4), *value);
        }
    }
}
