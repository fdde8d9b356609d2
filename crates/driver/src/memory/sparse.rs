//! Arrays whose memory the program maps: sparse arrays tile by tile, deferred ones as a whole.
//!
//! Such an array is a range of addresses ([`SparseMemory`]) without memory of its own. Mapping replaces the
//! pages of a part by those of a memory file. The other pages are private and never written, so they read as
//! 0; copies and surfaces drop writes to them ([`Mapped`]). Tiles, mip tails and required sizes are those
//! that an H200 reports (`sparse.*` and `sparsemip.*` in `tests/probe`).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use texture::descriptor::{Format, Tile};
use texture::mapped::{Mapped, TILE};

use super::address::Memory;
use super::array::{Descriptor, flag};
use crate::error::{Error, Result};
use crate::handle::lock;
use crate::shared;

/// The binary logarithms of the width, height and depth of a tile, by that of an element's bytes: arrays of
/// two dimensions and arrays of three.
const FLAT: [[u8; 3]; 5] = [[8, 8, 0], [8, 7, 0], [7, 7, 0], [7, 6, 0], [6, 6, 0]];
const VOLUME: [[u8; 3]; 5] = [[6, 5, 5], [5, 5, 5], [5, 5, 4], [5, 4, 4], [4, 4, 4]];

/// The largest range of addresses of an array.
const MOST: u64 = 1 << 46;

/// How a sparse array is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Properties {
    /// Elements of a tile in each dimension.
    pub tile: [u32; 3],
    /// The first level of the mip tail: the levels that are smaller than a tile. Without a tail, the number
    /// of levels of a mipmap.
    pub first_tail_level: u32,
    /// The bytes of the mip tail: of each layer, or of all layers if they have one in common.
    pub tail_size: u64,
    /// Whether all layers have one mip tail. So it is if even the first level belongs to it.
    pub single_tail: bool,
}

/// Where a level lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Placed {
    /// Bytes from the beginning of the array.
    pub offset: u64,
    /// Bytes from row to row, or from one row of tiles to the next.
    pub pitch: u64,
    /// Bytes from slice to slice or layer to layer, or from one slice of tiles to the next.
    pub slice: u64,
    /// Its tiles; `None` for rows.
    pub tile: Option<Tile>,
    /// Elements in each dimension; the third is 1 for arrays of layers.
    extent: [u64; 3],
}

/// The layout of all levels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Placement {
    pub levels: Vec<Placed>,
    /// `None` for an array with deferred mapping.
    pub sparse: Option<Properties>,
    /// Where the mip tails begin.
    tails: u64,
    layers: u64,
    size: u64,
}

/// The bytes of a level of one layer on the hardware, which aligns rows to 64 bytes, and their number to that
/// of a block of up to 16 groups of 8.
fn padded(row: u64, rows: u64, depth: u64) -> u64 {
    let block = 8 * rows.div_ceil(8).next_power_of_two().min(16);
    row.next_multiple_of(64) * rows.next_multiple_of(block) * depth
}

impl Placement {
    /// The layout of an array (one level) or a mipmap.
    ///
    /// # Errors
    /// [`Error::NotSupported`]: elements of this size have no tiles.
    pub(super) fn new(whole: &Descriptor, format: Format, count: u32, mipmap: bool) -> Result<Placement> {
        let layered = whole.flags & (flag::LAYERED | flag::CUBEMAP) != 0;
        let layers = if layered { whole.depth } else { 1 };
        let (element, side) = (format.element(), u64::from(format.side()));
        // Bytes per row, rows, slices of a layer.
        let packed = |level: &Descriptor| {
            let depth = if layered { 1 } else { level.depth.max(1) };
            (level.width.div_ceil(side) * element, level.height.max(1).div_ceil(side), depth)
        };
        let levels: Vec<Descriptor> = (0..count).map(|level| whole.level(level)).collect();
        let extents =
            levels.iter().map(|d| [d.width, d.height.max(1), if layered { 1 } else { d.depth.max(1) }]);
        let bytes: Vec<u64> =
            levels.iter().map(packed).map(|(row, rows, depth)| padded(row, rows, depth)).collect();
        if whole.flags & flag::SPARSE == 0 {
            let mut size = 0;
            let placed = levels.iter().zip(extents).zip(&bytes).map(|((level, extent), bytes)| {
                let (pitch, rows, _) = packed(level);
                let offset = size;
                size += bytes * layers;
                Placed { offset, pitch, slice: pitch * rows, tile: None, extent }
            });
            let levels = placed.collect();
            return Ok(Placement {
                levels,
                sparse: None,
                tails: 0,
                layers,
                size: size.next_multiple_of(TILE),
            });
        }
        let shapes = if whole.depth == 0 || layered { FLAT } else { VOLUME };
        let log = element.ilog2() as usize;
        let shift = *shapes.get(log).filter(|_| element.is_power_of_two()).ok_or(Error::NotSupported)?;
        let [width, height, depth] = shift.map(|shift| 1u64 << shift);
        let tile = [width * side, height * side, depth];
        let fits = |extent: &[u64; 3]| extent.iter().zip(tile).all(|(n, tile)| *n >= tile);
        let extents: Vec<[u64; 3]> = extents.collect();
        let regular = extents.iter().take_while(|extent| fits(extent)).count();
        let tail: u64 = bytes.iter().skip(regular).sum();
        let single = regular == 0;
        let tail_size = if single { tail * layers } else { tail }.next_multiple_of(TILE);
        let (mut size, mut placed) = (0, Vec::new());
        for extent in extents.iter().take(regular) {
            let [across, down, deep] = [0, 1, 2].map(|axis| extent[axis].div_ceil(tile[axis]));
            let (pitch, slice) = (across * TILE, across * down * TILE);
            placed.push(Placed { offset: size, pitch, slice, tile: Some(Tile { shift }), extent: *extent });
            size += slice * deep * layers;
        }
        // The tails of the layers, one after another.
        let (tails, mut inside) = (size, 0);
        for ((level, extent), bytes) in levels.iter().zip(&extents).zip(&bytes).skip(regular) {
            let (pitch, rows, _) = packed(level);
            let slice = match (layered, single) {
                (false, _) => pitch * rows,
                (true, true) => tail,
                (true, false) => tail_size,
            };
            placed.push(Placed { offset: tails + inside, pitch, slice, tile: None, extent: *extent });
            inside += bytes;
        }
        size += if single { tail_size } else { tail_size * layers };
        let properties = Properties {
            tile: tile.map(|n| n as u32),
            first_tail_level: if mipmap || single { regular as u32 } else { 0 },
            tail_size,
            single_tail: single,
        };
        Ok(Placement { levels: placed, sparse: Some(properties), tails, layers, size })
    }
}

/// A part of an array that is mapped or unmapped at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Tiles of a level.
    Level {
        /// The level of a mipmap, otherwise 0.
        level: u32,
        /// The layer of a layered array, otherwise 0.
        layer: u32,
        /// The first element.
        offset: [u32; 3],
        /// The number of elements in each dimension.
        extent: [u32; 3],
    },
    /// Bytes of the mip tail.
    Tail {
        /// The layer; 0 if there is one tail for all.
        layer: u32,
        /// The first byte.
        offset: u64,
        /// The number of bytes.
        size: u64,
    },
}

/// Tiles that follow one another: the first, and their number.
type Run = (u64, u64);

/// The addresses of an array, and what is mapped there.
pub struct SparseMemory {
    pub(super) base: u64,
    pub(super) placement: Placement,
    pub(super) mapped: Arc<Mapped>,
    /// The memory of each tile.
    backing: Mutex<BTreeMap<u64, Arc<Memory>>>,
}

/// Pages that read as 0: at an address, replacing what is mapped there, or anywhere.
///
/// # Safety
/// The caller must own the range at `at`.
unsafe fn zeros(at: Option<u64>, size: u64) -> Option<u64> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    let flags = if at.is_some() { flags | libc::MAP_FIXED } else { flags };
    // A kernel that races with an unmapping may write to such a page: it must not fault.
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: guaranteed by the caller.
    let got =
        unsafe { libc::mmap(at.unwrap_or(0) as *mut libc::c_void, size as usize, access, flags, -1, 0) };
    (got != libc::MAP_FAILED).then_some(got as u64)
}

impl SparseMemory {
    pub(super) fn new(placement: Placement) -> Result<Arc<SparseMemory>> {
        let size = placement.size;
        if size == 0 || size > MOST {
            return Err(Error::OutOfMemory);
        }
        // SAFETY: no existing mapping changes.
        let base = unsafe { zeros(None, size) }.ok_or(Error::OutOfMemory)?;
        let mapped = Arc::new(Mapped::new(base, size));
        Ok(Arc::new(SparseMemory { base, placement, mapped, backing: Mutex::new(BTreeMap::new()) }))
    }

    /// The tiles of a part.
    fn runs(&self, part: Option<Part>) -> Result<Vec<Run>> {
        let Some(properties) = self.placement.sparse else {
            return Ok(vec![(0, self.placement.size / TILE)]);
        };
        match part.ok_or(Error::InvalidValue)? {
            Part::Level { level, layer, offset, extent } => {
                let placed = self.placement.levels.get(level as usize).ok_or(Error::InvalidValue)?;
                placed.tile.ok_or(Error::InvalidValue)?;
                if u64::from(layer) >= self.placement.layers {
                    return Err(Error::InvalidValue);
                }
                let mut tiles = [(0, 0); 3];
                for (axis, tiles) in tiles.iter_mut().enumerate() {
                    let (tile, all) = (u64::from(properties.tile[axis]), placed.extent[axis]);
                    let first = u64::from(offset[axis]);
                    let end = first + u64::from(extent[axis]);
                    let whole = first.is_multiple_of(tile) && (end.is_multiple_of(tile) || end == all);
                    if !whole || extent[axis] == 0 || end > all {
                        return Err(Error::InvalidValue);
                    }
                    *tiles = (first / tile, end.div_ceil(tile) - first / tile);
                }
                let [(x, across), (y, down), (z, deep)] = tiles;
                let rows = (z..z + deep).flat_map(|z| (y..y + down).map(move |y| (y, z)));
                let first = |(y, z): (u64, u64)| {
                    let slice = (z + u64::from(layer)) * placed.slice;
                    (placed.offset + slice + y * placed.pitch) / TILE + x
                };
                Ok(rows.map(|row| (first(row), across)).collect())
            }
            Part::Tail { layer, offset, size } => {
                let layers = if properties.single_tail { 1 } else { self.placement.layers };
                let end = offset.checked_add(size).filter(|end| *end <= properties.tail_size);
                let whole = offset.is_multiple_of(TILE) && size.is_multiple_of(TILE) && size > 0;
                if end.is_none() || !whole || u64::from(layer) >= layers {
                    return Err(Error::InvalidValue);
                }
                let start = self.placement.tails + u64::from(layer) * properties.tail_size + offset;
                Ok(vec![(start / TILE, size / TILE)])
            }
        }
    }

    fn address(&self, tile: u64) -> u64 {
        self.base + tile * TILE
    }
}

impl Drop for SparseMemory {
    fn drop(&mut self) {
        // SAFETY: `new` mapped the range, and arrays, the only users, hold the region.
        unsafe { shared::unmap(self.base, self.placement.size) };
    }
}

/// What the program maps memory to: the addresses of an array or a mipmap, or those of each of its planes.
#[derive(Clone)]
pub struct Regions(Vec<Arc<SparseMemory>>);

impl From<Arc<SparseMemory>> for Regions {
    fn from(region: Arc<SparseMemory>) -> Self {
        Regions(vec![region])
    }
}

impl FromIterator<Regions> for Regions {
    fn from_iter<I: IntoIterator<Item = Regions>>(planes: I) -> Self {
        Regions(planes.into_iter().flat_map(|plane| plane.0).collect())
    }
}

impl Regions {
    /// How it is divided, as an H200 reports it: as the first plane is. `None` if it is mapped as a whole.
    pub fn properties(&self) -> Option<Properties> {
        self.0.first()?.placement.sparse
    }

    /// The size and the alignment of the memory that must be mapped; `None` if it is sparse.
    pub fn requirements(&self) -> Option<(u64, u64)> {
        let size = |placement: &Placement| placement.sparse.is_none().then_some(placement.size);
        let sizes = self.0.iter().map(|region| size(&region.placement));
        Some((sizes.sum::<Option<u64>>()?, TILE))
    }

    /// The tiles of a part, in the order of their memory: those of a sparse array's first plane, or of all
    /// planes of an array with deferred mapping.
    fn runs(&self, part: Option<Part>) -> Result<Vec<(Arc<SparseMemory>, Run)>> {
        let planes = if self.properties().is_some() { 1 } else { self.0.len() };
        let mut all = Vec::new();
        for region in self.0.iter().take(planes) {
            all.extend(region.runs(part)?.into_iter().map(|run| (Arc::clone(region), run)));
        }
        Ok(all)
    }
}

/// A checked change of what is mapped, as a part of a stream operation.
#[derive(Clone)]
pub struct Remap {
    runs: Arc<[(Arc<SparseMemory>, Run)]>,
    /// The memory and the offset in it; `None` to unmap.
    memory: Option<(Arc<Memory>, u64)>,
}

impl Remap {
    /// Maps a part of an array onto memory from an offset on, or unmaps it. An array with deferred mapping is
    /// mapped as a whole, whatever the part.
    ///
    /// # Errors
    /// [`Error::InvalidValue`]: the array has no such part, or it is not of whole tiles; the memory is not
    /// for tiles, or too small.
    pub fn new(regions: &Regions, part: Option<Part>, memory: Option<(Arc<Memory>, u64)>) -> Result<Self> {
        let runs = regions.runs(part)?;
        if let Some((memory, offset)) = &memory {
            let bytes = runs.iter().map(|(_, (_, count))| count * TILE).sum();
            let fits = offset.checked_add(bytes).is_some_and(|end| end <= memory.size);
            if !memory.for_tiles || !fits || !offset.is_multiple_of(TILE) {
                return Err(Error::InvalidValue);
            }
        }
        Ok(Remap { runs: runs.into(), memory })
    }

    /// Does it.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]: the system refuses more mappings.
    pub(crate) fn run(&self) -> Result<()> {
        let mut done = 0;
        for (region, (first, count)) in &*self.runs {
            let (first, count, mut backing) = (*first, *count, lock(&region.backing));
            let (at, size) = (region.address(first), count * TILE);
            region.mapped.set(first, count, false);
            match &self.memory {
                Some((memory, offset)) => {
                    // SAFETY: the tiles lie in the region, which this owns.
                    unsafe { memory.map_at(offset + done, size, at)? };
                    region.mapped.set(first, count, true);
                    backing.extend((first..first + count).map(|tile| (tile, Arc::clone(memory))));
                }
                None => {
                    // SAFETY: as above.
                    unsafe { zeros(Some(at), size) }.ok_or(Error::OutOfMemory)?;
                    (first..first + count).for_each(|tile| drop(backing.remove(&tile)));
                }
            }
            done += size;
        }
        Ok(())
    }
}
