//! Images: the texture unit does them, on the object whose handle is in the last word of the descriptor
//! (`texture::record`). Of the sampler's descriptor only the comparison is read: an object has its own.
//!
//! Samples that do not name a level or derivatives take these from the lanes of a quad: four neighbours, of
//! which the second is to the right of the first and the third below it.

use gcn::Generation;
use gcn::isa::{Inst, Mod, Role, Value as Place};
use texture::access::{Access, Geometry, Level, Operation};
use wave::op::{FloatMode, FloatOp, IntCmp, IntOp, Op, SReg, ShiftOp, Space};
use wave::types::Fmt;
use wave::{Ty, Value};

use crate::access::{self, At, first_vgpr};
use crate::error::Result;
use crate::operand::operand;
use crate::registers::{Reg, Registers};

/// The word of a descriptor with the handle.
const HANDLE: usize = 7;

/// Words of a descriptor.
const DESCRIPTOR: u16 = 8;

/// The geometries by the field `dim`; the last two have several samples for each texel.
const DIMENSIONS: [Geometry; 8] = [
    Geometry::D1,
    Geometry::D2,
    Geometry::D3,
    Geometry::Cube,
    Geometry::A1,
    Geometry::A2,
    Geometry::D2,
    Geometry::A2,
];

/// The first of them.
const MULTISAMPLED: u32 = 6;

/// The comparison in the first word of a sampler's descriptor: its lowest bit, and its bits.
const COMPARISON: (u32, u32) = (12, 3);

/// gfx12's names of atomics, and the older ones.
const ATOMICS: &[(&str, &str)] = &[
    ("add_uint", "add"),
    ("sub_uint", "sub"),
    ("min_int", "smin"),
    ("min_uint", "umin"),
    ("max_int", "smax"),
    ("max_uint", "umax"),
    ("inc_uint", "inc"),
    ("dec_uint", "dec"),
    ("add_flt", "add_f32"),
    ("min_flt", "fmin"),
    ("max_flt", "fmax"),
];

/// What an instruction's name says.
#[derive(Clone, Copy, Debug)]
struct Described {
    access: Access,
    /// It loads the same channel of all samples of a texel.
    samples: bool,
    /// Its derivatives have 16 bits.
    short_derivatives: bool,
}

impl Described {
    /// What a name without `image_` says; `None` if it is not supported.
    fn of(rest: &str) -> Option<Described> {
        let mut words = rest.split('_');
        let mut access = Access::default();
        (access.operation, access.level) = match words.next()? {
            "load" => (Operation::ImageLoad, Level::Base),
            "store" => (Operation::ImageStore, Level::Base),
            "sample" => (Operation::ImageSample, Level::Quad),
            "gather4" => (Operation::ImageGather, Level::Quad),
            _ => {
                (access.operation, access.level) = match rest {
                    "get_resinfo" => (Operation::ImageSize, access.level),
                    "get_lod" => (Operation::ImageLevel, Level::Quad),
                    "msaa_load" => (Operation::ImageLoad, access.level),
                    _ => return None,
                };
                return Some(Described { access, samples: rest == "msaa_load", short_derivatives: false });
            }
        };
        let mut short_derivatives = false;
        for word in words {
            match word {
                "mip" => access.level = Level::Level,
                "pck" => access.image.raw = true,
                "sgn" => access.image.signed = true,
                "lz" => access.level = Level::Base,
                "l" => access.level = Level::Level,
                "d" | "cd" => access.level = Level::Gradient,
                "o" => access.offsets = true,
                "c" => access.image.compare = true,
                "b" => access.image.bias = true,
                "cl" => access.image.least = true,
                "g16" => short_derivatives = true,
                _ => return None,
            }
        }
        Some(Described { access, samples: false, short_derivatives })
    }
}

impl Registers {
    /// An image instruction.
    pub fn image(&mut self, inst: &Inst, rest: &str) -> Result<()> {
        let before_gfx10 = self.generation < Generation::Gfx10;
        if !before_gfx10 && inst.modifier(Mod::R128) == 1 {
            return Err("descriptors of 128 bits are not supported".to_owned());
        }
        let status = inst.modifier(Mod::Tfe) == 1;
        let atomic = rest.strip_prefix("atomic_");
        if inst.modifier(Mod::Lwe) == 1 && !status || status && atomic.is_some() {
            return Err("this state of a texture (tfe, lwe) is not supported".to_owned());
        }
        if let Some(rest) = atomic {
            return self.image_atomic(inst, rest);
        }
        let sampled = inst.operand(Role::Ssamp).is_some();
        let described = Described::of(rest).ok_or("this image instruction is not supported")?;
        let Described { mut access, samples, short_derivatives } = described;
        access.geometry = self.geometry(inst);
        access.halves = inst.modifier(Mod::D16) == 1;
        access.image.texels = sampled && inst.modifier(Mod::Unorm) == 1;
        if self.generation == Generation::Gfx90a && access.level == Level::Quad {
            // Its only sample is what compilers make of one of the first level, too.
            access.level = Level::Base;
        }
        let mask = inst.modifier(Mod::Dmask);
        access.channel = mask.trailing_zeros() as u8 & 3;
        let mut args = vec![self.image_handle(inst)?];
        if access.image.compare {
            let word = self.words(operand(inst, Role::Ssamp)?.value, 1)?[0];
            let (low, bits) = COMPARISON;
            let (low, bits) = (self.word(low), self.word(bits));
            args.push(self.op1(Op::Bfe { signed: false, ty: Ty::I32 }, &[word, low, bits]));
        }
        args.extend(self.image_words(inst, access, sampled && !samples, short_derivatives)?);
        if access.operation == Operation::ImageStore {
            args.extend(self.image_data(inst, mask, access.halves)?);
            self.op(Op::Texture(access), &args);
            return Ok(());
        }
        let first = first_vgpr(inst, Role::Vdata)?;
        let all = self.op(Op::Texture(access), &args);
        let chosen = |k: usize| mask >> k & 1 == 1;
        let mut channels: Vec<Value> = match access.operation {
            Operation::ImageGather => all.to_vec(),
            // Objects have one sample for each texel; the others are 0.
            _ if samples => vec![all[usize::from(access.channel)]],
            _ => all.iter().enumerate().filter(|(k, _)| chosen(*k)).map(|(_, v)| *v).collect(),
        };
        if inst.control(Mod::Dim).is_some_and(|dim| dim >= MULTISAMPLED) {
            let fragment = self.fragment(inst, access.geometry)?;
            let given = self.is_not_zero(fragment);
            let zero = self.word(0);
            channels.iter_mut().for_each(|value| *value = self.select(given, zero, *value));
            let bits = u32::from(operand(inst, Role::Vdata)?.bits) - if status { 32 } else { 0 };
            let each = if access.halves { 16 } else { 32 };
            if samples {
                channels.resize((bits / each) as usize, zero);
            }
        }
        self.set_channels(first, &channels, access.halves);
        if status {
            // All parts of an object are there.
            let count = if access.halves { channels.len().div_ceil(2) } else { channels.len() };
            let zero = self.word(0);
            self.set_vector(first + count as u16, zero);
        }
        Ok(())
    }

    /// The number of the sample, which is the last address.
    fn fragment(&mut self, inst: &Inst, geometry: Geometry) -> Result<Value> {
        let words = self.address_words(inst)?;
        let at = if geometry == Geometry::A2 { 3 } else { 2 };
        let missing = "the instruction has no number of a sample";
        if inst.modifier(Mod::A16) == 0 {
            return Ok(*words.get(at).ok_or(missing)?);
        }
        let word = *words.get(at / 2).ok_or(missing)?;
        Ok(self.short_words(word, false)[at % 2])
    }

    /// The registers with the address.
    fn address_words(&mut self, inst: &Inst) -> Result<Vec<Value>> {
        let mut registers = Vec::new();
        for o in inst.operands.iter().filter(|o| o.role == Role::Vaddr) {
            let Place::Vgpr(first) = o.value else { return Err("the address is no VGPR".to_owned()) };
            registers.extend((0..o.bits / 32).map(|k| first + k));
        }
        Ok(registers.iter().map(|r| self.get(Reg::Vector(*r))).collect())
    }

    /// Writes channels to consecutive registers: a word each, or two of 16 bits in a word.
    pub fn set_channels(&mut self, first: u16, channels: &[Value], halves: bool) {
        if !halves {
            for (number, value) in (first..).zip(channels) {
                self.set_vector(number, *value);
            }
            return;
        }
        for (number, pair) in (first..).zip(channels.chunks(2)) {
            let mut word = pair[0];
            if let [low, high] = pair {
                let by = self.word(16);
                let high = self.shift(ShiftOp::Shl, *high, by);
                word = self.int(IntOp::Or, *low, high);
            }
            self.set_vector(number, word);
        }
    }

    /// This many channels from consecutive registers.
    pub fn channels(&mut self, place: Place, count: usize, halves: bool) -> Result<Vec<Value>> {
        if !halves {
            return self.words(place, count as u16);
        }
        let words = self.words(place, count.div_ceil(2) as u16)?;
        let by = self.word(16);
        let low = self.word(0xffff);
        Ok((0..count)
            .map(|k| match k % 2 {
                0 => self.int(IntOp::And, words[k / 2], low),
                _ => self.shift(ShiftOp::ShrU, words[k / 2], by),
            })
            .collect())
    }

    /// The geometry that an instruction says.
    fn geometry(&self, inst: &Inst) -> Geometry {
        let dim = |dim: u32| DIMENSIONS.get(dim as usize).copied();
        inst.control(Mod::Dim).and_then(dim).unwrap_or(Geometry::Own)
    }

    /// The handle as the unit takes it: with a 1 above it in the active lanes, all 0 in the others.
    fn image_handle(&mut self, inst: &Inst) -> Result<Value> {
        let words = self.words(operand(inst, Role::Srsrc)?.value, DESCRIPTOR)?;
        let one = self.word(1);
        let whole = self.whole(words[HANDLE], one);
        Ok(match self.active() {
            None => whole,
            Some(lanes) => {
                let zero = self.constant(Ty::I64, 0);
                self.select(lanes, whole, zero)
            }
        })
    }

    /// The address words, as many as the unit takes. Those of 16 bits are floats, or integers.
    fn image_words(
        &mut self,
        inst: &Inst,
        access: Access,
        float: bool,
        short_derivatives: bool,
    ) -> Result<Vec<Value>> {
        let handles = 1 + usize::from(access.image.compare);
        let data = if access.operation == Operation::ImageStore { 4 } else { 0 };
        let wanted = access.operands().len() - handles - data;
        let quad = access.level == Level::Quad;
        let mut values = self.address_words(inst)?;
        if self.generation < Generation::Gfx10 {
            // How many there are depends on the object.
            let first = first_vgpr(inst, Role::Vaddr)?;
            let count = wanted - if quad { 6 } else { 0 };
            let last = first.saturating_add(count.saturating_sub(1) as u16).min(255);
            values = (first..=last).map(|r| self.get(Reg::Vector(r))).collect();
        }
        let short = match self.generation < Generation::Gfx10 {
            true => inst.modifier(Mod::R128) == 1,
            false => inst.modifier(Mod::A16) == 1,
        };
        let axes = match access.geometry {
            Geometry::D1 | Geometry::A1 => 1,
            Geometry::D3 => 3,
            _ => 2,
        };
        let gradient = access.level == Level::Gradient;
        // The comparison is an operand already.
        let leading = access.leading() - usize::from(access.image.compare);
        let first = leading.min(values.len());
        if short_derivatives && gradient {
            // The derivatives of each direction begin with a word.
            let each = usize::div_ceil(axes, 2);
            let rest = values.split_off((first + 2 * each).min(values.len()));
            let packed = values.split_off(first);
            for direction in packed.chunks(each) {
                let parts: Vec<Value> = direction.iter().flat_map(|w| self.short_words(*w, true)).collect();
                values.extend(parts.into_iter().take(axes));
            }
            values.extend(rest);
        }
        if short {
            if gradient && self.generation < Generation::Gfx10 {
                return Err("derivatives of 16 bits are not supported".to_owned());
            }
            let bias = usize::from(access.offsets);
            if let (true, Some(word)) = (access.image.bias, values.get(bias).copied()) {
                // It has a word of its own.
                values[bias] = self.short_words(word, true)[0];
            }
            let derivatives = if gradient { 2 * axes } else { 0 };
            let packed = values.split_off((first + derivatives).min(values.len()));
            for word in packed {
                values.extend(self.short_words(word, float));
            }
        }
        let zero = self.word(0);
        if quad {
            let coordinates: Vec<Value> =
                (0..3).map(|k| values.get(first + k).copied().unwrap_or(zero)).collect();
            let derivatives = self.quad_derivatives(&coordinates);
            values.splice(first..first, derivatives);
        }
        values.resize(wanted, zero);
        Ok(values)
    }

    /// The differences between the first lane of each quad and that to its right, then that below it.
    fn quad_derivatives(&mut self, coordinates: &[Value]) -> Vec<Value> {
        let lane = self.op1(Op::Special(SReg::LaneId), &[]);
        let first = self.word(!3);
        let first = self.int(IntOp::And, lane, first);
        let mut out = Vec::new();
        for other in [1, 2] {
            let other = self.word(other);
            let other = self.int(IntOp::Or, first, other);
            for value in coordinates {
                let (from, to) = (self.of_lane(*value, first), self.of_lane(*value, other));
                let from = self.signed(Fmt::F32, from, false, true);
                out.push(self.op1(Op::Float(FloatOp::Add, FloatMode::rn(Fmt::F32)), &[to, from]));
            }
        }
        out
    }

    /// The halves of a word as words: floats, or integers without a sign.
    fn short_words(&mut self, word: Value, float: bool) -> [Value; 2] {
        [false, true].map(|high| {
            let half = self.half_of(word, high);
            match float {
                true => self.converted(Fmt::F16, Fmt::F32, None, half),
                false => self.extended(half, Ty::I32, false),
            }
        })
    }

    /// The four channels to store; those that the mask leaves out are 0.
    fn image_data(&mut self, inst: &Inst, mask: u32, halves: bool) -> Result<Vec<Value>> {
        let given = self.channels(operand(inst, Role::Vdata)?.value, mask.count_ones() as usize, halves)?;
        let mut given = given.into_iter();
        let zero = self.word(0);
        Ok((0..4).map(|k| if mask >> k & 1 == 1 { given.next().unwrap_or(zero) } else { zero }).collect())
    }

    /// An atomic update of a texel; the unit gives its address.
    fn image_atomic(&mut self, inst: &Inst, rest: &str) -> Result<()> {
        let unknown = "this atomic is not supported";
        let name = ATOMICS.iter().find(|row| row.0 == rest).map_or(rest, |row| row.1);
        let (mut update, mut ty) = access::update(name).ok_or(unknown)?;
        // The mask tells the words of all data.
        if inst.modifier(Mod::Dmask).count_ones() == 2 * u32::from(update.operands()) {
            (update, ty) = access::update(&format!("{name}_x2")).ok_or(unknown)?;
        }
        let mut access = Access { operation: Operation::ImageAddress, ..Access::default() };
        access.geometry = self.geometry(inst);
        let mut args = vec![self.image_handle(inst)?];
        args.extend(self.image_words(inst, access, false, false)?);
        let address = self.op1(Op::Texture(access), &args);
        let zero = self.constant(Ty::I64, 0);
        let inside = Some(self.compare(IntCmp::Ne, address, zero));
        let mut data = self.atomic_data(inst, Role::Vdata, ty, update.operands())?;
        // The new value comes first, then what is compared.
        data.reverse();
        let old = self.atomic(update, ty, At { space: Space::Global, address, offset: 0, inside }, &data);
        if inst.modifier(Mod::Glc) == 1 || inst.modifier(Mod::Th) & 1 == 1 {
            self.set_old(old, first_vgpr(inst, Role::Vdata)?);
        }
        Ok(())
    }
}
