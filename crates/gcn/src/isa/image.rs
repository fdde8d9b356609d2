//! Registers of image instructions: how many there are follows from the operation, the dimension and the
//! enabled channels.

use crate::target::Generation;

use super::decode::{Building, Decoder, Wrong};
use super::inst::{Mod, Role, Value};
use super::table::Row;

/// Of each dimension (the field `dim`): LLVM's name, coordinates, derivatives.
pub(super) const DIMENSIONS: [(&str, u32, u32); 8] = [
    ("1D", 1, 2),
    ("2D", 2, 4),
    ("3D", 3, 6),
    ("CUBE", 3, 4),
    ("1D_ARRAY", 2, 2),
    ("2D_ARRAY", 3, 4),
    ("2D_MSAA", 3, 4),
    ("2D_MSAA_ARRAY", 4, 4),
];

/// The first dimension with several samples for each texel.
const MULTISAMPLED: u32 = 6;

/// Addresses that the extra words of an instruction hold, each a byte.
const PER_WORD: usize = 4;

/// The addresses of an instruction by its name, such as `image_sample_c_b_cl_o`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Addresses {
    /// Offsets in texels, packed into a word.
    pub offset: bool,
    /// A bias of the level.
    pub bias: bool,
    /// A reference value to compare with.
    pub compare: bool,
    /// Derivatives.
    pub gradients: bool,
    /// The derivatives have 16 bits.
    pub g16: bool,
    /// Coordinates.
    pub coordinates: bool,
    /// A level, a lower bound of it, or a mipmap's number, after the coordinates.
    pub level: bool,
}

impl Addresses {
    /// The addresses of an operation; `None` if it is no image instruction.
    pub fn of(name: &str) -> Option<Addresses> {
        let rest = name.strip_prefix("image_")?;
        let plain = Addresses { coordinates: true, ..Addresses::default() };
        let words = match rest {
            "get_resinfo" => return Some(Addresses { level: true, ..Addresses::default() }),
            "get_lod" | "msaa_load" => return Some(plain),
            _ if rest.starts_with("atomic_") => return Some(plain),
            _ if rest.starts_with("load") || rest.starts_with("store") => {
                return Some(Addresses { level: rest.split('_').any(|w| w == "mip"), ..plain });
            }
            _ => rest.strip_prefix("sample").or_else(|| rest.strip_prefix("gather4"))?,
        };
        let has = |word: &str| words.split('_').any(|w| w == word);
        Some(Addresses {
            offset: has("o"),
            bias: has("b"),
            compare: has("c"),
            gradients: has("d") || has("cd"),
            g16: has("g16"),
            level: has("l") || has("cl"),
            ..plain
        })
    }

    /// The number of words in registers.
    fn words(self, dim: u32, a16: bool) -> u32 {
        let (_, coordinates, derivatives) = DIMENSIONS[dim as usize & 7];
        let extra = u32::from(self.offset) + u32::from(self.bias) + u32::from(self.compare);
        let parts = if self.coordinates { coordinates } else { 0 } + u32::from(self.level);
        let derivatives = match (self.gradients, self.g16) {
            (false, _) => 0,
            (true, false) => derivatives,
            // Those of each direction begin with a word.
            (true, true) => (derivatives / 2).div_ceil(2) * 2,
        };
        extra + derivatives + if a16 { parts.div_ceil(2) } else { parts }
    }
}

impl Decoder {
    /// The addresses of an image instruction since gfx10.
    pub(super) fn image_address(&self, b: &mut Building, row: &Row) -> Result<(), Wrong> {
        let addresses = Addresses::of(row.op.name()).ok_or("this is no image instruction")?;
        // Only loads without levels, stores and atomics know samples.
        let (dim, samples) = (b.get("dim"), row.op.name() == "image_msaa_load");
        if dim >= MULTISAMPLED && (addresses.level || row.samples()) || dim < MULTISAMPLED && samples {
            return Err("the address has a dimension that the instruction cannot have".into());
        }
        let words = addresses.words(dim, b.get("a16") == 1);
        let run = |b: &mut Building, first: u32, words: u32| {
            let value = self.registers.vector(first, words as u16 * 32, false);
            let value = value.ok_or("the address has registers that do not exist")?;
            b.push(Role::Vaddr, value, words as u16 * 32);
            Ok::<(), Wrong>(())
        };
        if self.target.generation >= Generation::Gfx12 {
            // Samplers' last register begins a run.
            let runs = row.encoding.name() == "VSAMPLE";
            if words > 4 && !runs {
                return Err("the address has more registers than the instruction".into());
            }
            let fields = ["vaddr0", "vaddr1", "vaddr2", "vaddr3"];
            for (i, field) in fields.into_iter().enumerate().take(words as usize) {
                let rest = if i == 3 { words - 3 } else { 1 };
                run(b, b.get(field), rest)?;
            }
            return Ok(());
        }
        let nsa = b.get("nsa") as usize;
        if nsa == 0 {
            return run(b, b.get("vaddr"), if words > 12 { 16 } else { words });
        }
        let more = b.bytes.get(b.size..b.size + nsa * 4).ok_or("the code ends before its address")?.to_vec();
        b.size += nsa * 4;
        let partial = self.target.generation >= Generation::Gfx11;
        let count = words as usize;
        let needed = count.saturating_sub(1).div_ceil(PER_WORD);
        if count < 2 || needed < nsa || needed > nsa && !partial {
            return Err("the address has another number of registers than the instruction".into());
        }
        run(b, b.get("vaddr"), 1)?;
        let last = count.min(1 + nsa * PER_WORD) - 2;
        for (i, first) in more.into_iter().enumerate().take(last + 1) {
            let rest = if i == last { words - 1 - last as u32 } else { 1 };
            run(b, first.into(), rest)?;
        }
        Ok(())
    }

    /// The number of data registers of an image instruction follows from the enabled channels.
    pub(super) fn image_data(&self, b: &mut Building, row: &Row) -> Result<(), Wrong> {
        let get = |which: Mod| b.mods.iter().find(|(m, _)| *m == which).map_or(0, |m| m.1);
        let name = row.op.name();
        let channels = get(Mod::Dmask).count_ones().max(1);
        // One channel of four samples; LLVM counts the channels before gfx11.
        let samples = name == "image_msaa_load" && self.target.generation >= Generation::Gfx11;
        let gather = name.starts_with("image_gather4") || samples;
        let mut count = if gather { 4 } else { channels };
        if get(Mod::D16) == 1 {
            count = count.div_ceil(2);
        }
        count += get(Mod::Tfe);
        let strict = self.target.generation >= Generation::Gfx10;
        // LLVM's forms for each number of enabled channels; it has none for the others.
        let forms: &[u32] = match name {
            _ if name.starts_with("image_atomic") && name.contains("cmpswap") => {
                &[0, if strict { 0 } else { 2 }, 2, 0, 4]
            }
            _ if name.starts_with("image_atomic") => &[0, 1, 2, 0, 5],
            _ if gather => &[0, 0, 2, 0, 4, 5],
            _ => &[0, 1, 2, 3, 4, 5],
        };
        let Some(count) = forms.get(count as usize).copied().filter(|n| *n != 0) else {
            return if strict { Err("the address has no data for this dmask".into()) } else { Ok(()) };
        };
        if let Some(data) = b.operands.iter_mut().find(|o| o.role == Role::Vdata) {
            let (first, agpr) = match data.value {
                Value::Vgpr(first) => (first, false),
                Value::Agpr(first) => (first, true),
                _ => return Ok(()),
            };
            // Registers beyond the last do not exist; such an instruction names only the first before gfx10.
            match self.registers.vector(u32::from(first), count as u16 * 32, agpr) {
                Some(value) => (data.value, data.bits) = (value, count as u16 * 32),
                None if strict => return Err("vdata: there are no such registers".into()),
                None => {}
            }
        }
        Ok(())
    }
}
