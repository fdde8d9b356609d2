//! Images: the texture unit does them, on the object whose handle is in the last word of the descriptor
//! (`texture::record`). The sampler's descriptor is not read: an object has its own.

use gcn::Generation;
use gcn::isa::{Inst, Mod, Role, Value as Place};
use texture::access::{Access, Geometry, Level, Operation};
use wave::op::{IntCmp, IntOp, Op, ShiftOp, Space};
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
const DIMENSIONS: [Option<Geometry>; 8] = [
    Some(Geometry::D1),
    Some(Geometry::D2),
    Some(Geometry::D3),
    Some(Geometry::Cube),
    Some(Geometry::A1),
    Some(Geometry::A2),
    None,
    None,
];

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

/// What an instruction's name says, or why it is not supported.
fn described(rest: &str) -> Result<Access> {
    let plain = |operation| Access { operation, ..Access::default() };
    let level = if rest.contains("_mip") { Level::Level } else { Level::Base };
    match rest {
        "load" | "load_mip" => return Ok(Access { level, ..plain(Operation::ImageLoad) }),
        "store" | "store_mip" => return Ok(Access { level, ..plain(Operation::ImageStore) }),
        "get_resinfo" => return Ok(plain(Operation::ImageSize)),
        _ => {}
    }
    if rest.starts_with("load") || rest.starts_with("store") {
        return Err("images without conversion (pck) are not supported".to_owned());
    }
    let (operation, words) = match (rest.strip_prefix("sample"), rest.strip_prefix("gather4")) {
        (Some(words), _) => (Operation::ImageSample, words),
        (_, Some(words)) => (Operation::ImageGather, words),
        _ => return Err("this image instruction is not supported".to_owned()),
    };
    let mut access = plain(operation);
    for word in words.split('_').filter(|w| !w.is_empty()) {
        match word {
            "lz" => {}
            "l" => access.level = Level::Level,
            "d" | "cd" => access.level = Level::Gradient,
            "o" => access.offsets = true,
            "c" => return Err("comparing with a reference is not supported".to_owned()),
            "b" => return Err("a bias of the level is not supported".to_owned()),
            "cl" => return Err("a lower bound of the level is not supported".to_owned()),
            // `image_words` makes them of 32 bits.
            "g16" => {}
            _ => return Err("this image instruction is not supported".to_owned()),
        }
    }
    Ok(access)
}

impl Registers {
    /// An image instruction.
    pub fn image(&mut self, inst: &Inst, rest: &str) -> Result<()> {
        if inst.modifier(Mod::Tfe) == 1 || inst.modifier(Mod::Lwe) == 1 {
            return Err("the state of a texture (tfe, lwe) is not supported".to_owned());
        }
        let before_gfx10 = self.generation < Generation::Gfx10;
        if !before_gfx10 && inst.modifier(Mod::R128) == 1 {
            return Err("descriptors of 128 bits are not supported".to_owned());
        }
        let sampled = inst.operand(Role::Ssamp).is_some();
        if sampled && inst.modifier(Mod::Unorm) == 1 {
            return Err(
                "coordinates that the instruction says are not normalised are not supported".to_owned()
            );
        }
        if let Some(rest) = rest.strip_prefix("atomic_") {
            return self.image_atomic(inst, rest);
        }
        let mut access = described(rest)?;
        access.geometry = self.geometry(inst)?;
        access.halves = inst.modifier(Mod::D16) == 1;
        let mask = inst.modifier(Mod::Dmask);
        access.channel = mask.trailing_zeros() as u8 & 3;
        let mut args = vec![self.image_handle(inst)?];
        args.extend(self.image_words(inst, access, sampled)?);
        if access.operation == Operation::ImageStore {
            args.extend(self.image_data(inst, mask, access.halves)?);
            self.op(Op::Texture(access), &args);
            return Ok(());
        }
        let all = self.op(Op::Texture(access), &args);
        let channels: Vec<Value> = match access.operation {
            Operation::ImageGather => all.to_vec(),
            _ => (0..4).filter(|k| mask >> k & 1 == 1).filter_map(|k| all.get(k as usize).copied()).collect(),
        };
        self.set_channels(first_vgpr(inst, Role::Vdata)?, &channels, access.halves);
        Ok(())
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

    /// So many channels from consecutive registers.
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
    fn geometry(&self, inst: &Inst) -> Result<Geometry> {
        match inst.control(Mod::Dim) {
            None => Ok(Geometry::Own),
            Some(dim) => DIMENSIONS
                .get(dim as usize)
                .copied()
                .flatten()
                .ok_or_else(|| "several samples for each texel are not supported".to_owned()),
        }
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

    /// The address words, as many as the unit takes.
    fn image_words(&mut self, inst: &Inst, access: Access, float: bool) -> Result<Vec<Value>> {
        let handles = 1;
        let data = if access.operation == Operation::ImageStore { 4 } else { 0 };
        let wanted = access.operands().len() - handles - data;
        let mut registers = Vec::new();
        for o in inst.operands.iter().filter(|o| o.role == Role::Vaddr) {
            let Place::Vgpr(first) = o.value else { return Err("the address is no VGPR".to_owned()) };
            registers.extend((0..o.bits / 32).map(|k| first + k));
        }
        if self.generation < Generation::Gfx10 {
            // How many there are depends on the object.
            let first = registers.first().copied().ok_or("the instruction has no address")?;
            registers = (first..=first.saturating_add(wanted as u16 - 1).min(255)).collect();
        }
        let short = match self.generation < Generation::Gfx10 {
            true => inst.modifier(Mod::R128) == 1,
            false => inst.modifier(Mod::A16) == 1,
        };
        let mut values: Vec<Value> = registers.iter().map(|r| self.get(Reg::Vector(*r))).collect();
        let axes = match access.geometry {
            Geometry::D1 | Geometry::A1 => 1,
            Geometry::D3 => 3,
            _ => 2,
        };
        let gradient = access.level == Level::Gradient;
        let first = usize::from(access.offsets).min(values.len());
        if inst.op.name().ends_with("_g16") && gradient {
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
            let derivatives = if gradient { 2 * axes } else { 0 };
            let packed = values.split_off((first + derivatives).min(values.len()));
            for word in packed {
                values.extend(self.short_words(word, float));
            }
        }
        let zero = self.word(0);
        values.resize(wanted, zero);
        Ok(values)
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
        let mut name = ATOMICS.iter().find(|row| row.0 == rest).map_or(rest, |row| row.1).to_owned();
        // The mask tells the words of all data.
        let words = inst.modifier(Mod::Dmask).count_ones();
        if words == if rest.contains("cmpswap") { 4 } else { 2 } {
            name += "_x2";
        }
        let (update, ty) = access::update(&name).ok_or("this atomic is not supported")?;
        let mut access = Access { operation: Operation::ImageAddress, ..Access::default() };
        access.geometry = self.geometry(inst)?;
        let mut args = vec![self.image_handle(inst)?];
        args.extend(self.image_words(inst, access, false)?);
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
