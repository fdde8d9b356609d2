//! Two- and three-dimensional copies and batches as C programs describe them.

use driver::memory::transfer::{Place, Side, Transfer};
use driver::{Error, Result};

use crate::types::Memcpy2D;

/// Memory type numbers, which differ between CUDA, HIP 5 and HIP 6.
#[derive(Clone, Copy, Debug)]
pub struct MemoryTypes {
    /// Host memory.
    pub host: u32,
    /// Device memory.
    pub device: u32,
    /// An array.
    pub array: u32,
    /// Any memory; the address decides.
    pub any: &'static [u32],
}

/// A memory type with the three addresses it selects from, the offset and the pitches.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Described {
    pub kind: u32,
    pub host: u64,
    pub device: u64,
    pub array: u64,
    pub offset: [usize; 3],
    pub pitch: [usize; 2],
}

impl Described {
    /// The side of a copy. An invalid memory type is [`Error::InvalidValue`].
    pub fn side(&self, types: &MemoryTypes) -> Result<Side> {
        let place = match self.kind {
            kind if kind == types.host => Place::Host(self.host),
            kind if kind == types.device => Place::Device(self.device),
            kind if kind == types.array => Place::Array(self.array),
            kind if types.any.contains(&kind) => Place::Any(self.device),
            _ => return Err(Error::InvalidValue),
        };
        Ok(Side { place, offset: self.offset.map(|n| n as u64), pitch: self.pitch.map(|n| n as u64) })
    }
}

/// The sides, `(to, from)`, of a structure that describes a three-dimensional copy. CUDA and HIP use the same
/// field names in different layouts.
#[macro_export]
macro_rules! described_volume {
    ($d:expr) => {{
        let d = $d;
        let to = $crate::copy::Described {
            kind: d.dst_type,
            host: d.dst_host,
            device: d.dst_device,
            array: d.dst_array,
            offset: [d.dst_x, d.dst_y, d.dst_z],
            pitch: [d.dst_pitch, d.dst_height],
        };
        let from = $crate::copy::Described {
            kind: d.src_type,
            host: d.src_host,
            device: d.src_device,
            array: d.src_array,
            offset: [d.src_x, d.src_y, d.src_z],
            pitch: [d.src_pitch, d.src_height],
        };
        (to, from)
    }};
}

impl Memcpy2D {
    /// The copy that the structure describes.
    pub fn transfer(&self, types: &MemoryTypes) -> Result<Transfer> {
        let to = Described {
            kind: self.dst_type,
            host: self.dst_host,
            device: self.dst_device,
            array: self.dst_array,
            offset: [self.dst_x, self.dst_y, 0],
            pitch: [self.dst_pitch, 0],
        };
        let from = Described {
            kind: self.src_type,
            host: self.src_host,
            device: self.src_device,
            array: self.src_array,
            offset: [self.src_x, self.src_y, 0],
            pitch: [self.src_pitch, 0],
        };
        let extent = [self.width as u64, self.height as u64, 1];
        Ok(Transfer { to: to.side(types)?, from: from.side(types)?, extent })
    }
}

/// The indices from which attributes or locations of a batch of `count` entries apply: rising from 0. Reads
/// none after a wrong one.
pub fn starts(list: impl Iterator<Item = Result<usize>>, count: usize) -> Result<Vec<usize>> {
    let mut all: Vec<usize> = Vec::new();
    for start in list {
        let start = start?;
        let follows = all.last().map_or(start == 0, |last| *last < start);
        if !follows || start >= count {
            return Err(Error::InvalidValue);
        }
        all.push(start);
    }
    Ok(all)
}
