//! Arrays whose memory the program maps: sparse arrays tile by tile, deferred ones as a whole.
//!
//! Such an array is a range of addresses ([`SparseMemory`]) without memory of its own. Mapping replaces the
//! pages of a part by those of a memory file. The other pages are private and never written, so they read as
//! 0; copies and surfaces drop writes to them ([`Mapped`]). Tiles, mip tails, required sizes and the layout
//! of memory in two dimensions are an H200's (`sparse.*`, `sparsemip.*`, `planar….*` and `packedof.*` in
//! `tests/probe`).
//!
//! The planes of an array lie one after another in its range. As on an H200, parts of every plane are counted
//! from the beginning of the range: mapping a part of the second plane gives the first one memory.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use texture::descriptor::{Format, Tile};
use texture::mapped::{Mapped, TILE};

use super::address::Memory;
use super::array::{Descriptor, flag};
use super::planar;
use crate::error::{Error, Result};
use crate::handle::lock;
use crate::shared;

/// The binary logarithms of the width, height and depth of a tile, by that of an element's bytes: arrays of
/// two dimensions and arrays of three.
const FLAT: [[u8; 3]; 5] = [[8, 8, 0], [8, 7, 0], [7, 7, 0], [7, 6, 0], [6, 6, 0]];
const VOLUME: [[u8; 3]; 5] = [[6, 5, 5], [5, 5, 5], [5, 5, 4], [5, 4, 4], [4, 4, 4]];

/// The largest range of addresses of an array.
const MOST: u64 = 1 << 46;

/// Bytes of a row that a block holds, and rows of a group; a block has up to [`MOST_GROUPS`] groups.
const COLUMN: u64 = 64;
const GROUP: u64 = 8;
const MOST_GROUPS: u64 = 16;

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
    /// Its tiles or blocks; `None` for rows.
    pub tile: Option<Tile>,
    /// Bytes of a row that have memory.
    pub row: u64,
    /// Bytes from layer to layer as mappings count them.
    apart: u64,
    /// Elements in each dimension; the third is 1 for arrays of layers.
    extent: [u64; 3],
}

/// What a layout is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    /// An array of one plane.
    Array,
    /// A mipmap.
    Mipmap,
    /// A plane of an array of several.
    Plane {
        /// Whether the first plane is smaller than a tile. The planes are then mapped together, as mip tail.
        in_tail: bool,
    },
}

/// The layout of all levels, and how the program maps them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Placement {
    pub levels: Vec<Placed>,
    /// `None` for an array with deferred mapping.
    pub sparse: Option<Properties>,
    /// Where the mip tails begin.
    tails: u64,
    layers: u64,
    size: u64,
    /// The end of the last tile that can be mapped. It can lie beyond the end of a plane, whose last tiles
    /// are not complete.
    reach: u64,
}

/// A level of one layer as the hardware stores it: in blocks of 64 bytes by 1, 2, 4, 8 or 16 groups of 8
/// rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Blocks {
    across: u64,
    down: u64,
    /// Rows of a block.
    height: u64,
}

impl Blocks {
    /// The blocks are as high as the level, or half as high if the first level has less than two thirds of
    /// such a block's rows.
    fn new(level: usize, row: u64, rows: u64) -> Blocks {
        let mut height = GROUP * rows.div_ceil(GROUP).next_power_of_two().min(MOST_GROUPS);
        if level == 0 && rows + rows / 2 < height {
            height = (height / 2).max(GROUP);
        }
        Blocks { across: row.div_ceil(COLUMN), down: rows.div_ceil(height), height }
    }

    /// As in the mip tail of a plane after planes that have none: blocks are also joined across, 1, 2, 4 … of
    /// them, the fewest that hold the level, up to the width of a tile.
    fn joined(self, tile_row: u64) -> Blocks {
        let joined = self.across.next_power_of_two().min((tile_row / COLUMN).max(1));
        Blocks { across: self.across.next_multiple_of(joined), ..self }
    }

    /// Bytes from one row of blocks to the next.
    fn pitch(self) -> u64 {
        self.across * COLUMN * self.height
    }

    fn bytes(self) -> u64 {
        self.pitch() * self.down
    }

    /// As tiles of an image.
    fn tile(self, element: u64) -> Tile {
        Tile { shift: [(COLUMN / element).max(1).ilog2() as u8, self.height.ilog2() as u8, 0] }
    }
}

impl Placement {
    /// The layout of an array or a plane (one level), or of a mipmap.
    ///
    /// # Errors
    /// [`Error::NotSupported`]: elements of this size have no tiles.
    pub(super) fn new(whole: &Descriptor, format: Format, count: u32, of: Of) -> Result<Placement> {
        let levels: Vec<Descriptor> = (0..count).map(|level| whole.level(level)).collect();
        match whole.flags & flag::SPARSE {
            0 => Ok(Placement::of_blocks(whole, format, &levels)),
            _ => Placement::of_tiles(whole, format, &levels, of),
        }
    }

    /// The layouts of the planes of an array.
    ///
    /// # Errors
    /// As for [`Placement::new`].
    pub(super) fn planes<'a>(
        planes: impl Iterator<Item = (&'a Descriptor, Format)>,
    ) -> Result<Vec<Placement>> {
        let mut all: Vec<Placement> = Vec::new();
        for (plane, format) in planes {
            let first = match all.first() {
                Some(first) => first,
                // Whether it has tiles does not depend on where they are.
                None => &Placement::new(plane, format, 1, Of::Plane { in_tail: true })?,
            };
            let in_tail = first.sparse.is_some_and(|sparse| sparse.single_tail);
            all.push(Placement::new(plane, format, 1, Of::Plane { in_tail })?);
        }
        Ok(all)
    }

    /// Levels that are mapped as a whole.
    fn of_blocks(whole: &Descriptor, format: Format, levels: &[Descriptor]) -> Placement {
        let shape = Shape::new(whole, format);
        let stored = planar::stored_bytes(whole.format).unwrap_or(shape.element);
        let mut size = 0;
        let placed = levels.iter().enumerate().map(|(index, level)| {
            let (row, rows, depth) = shape.packed(level, shape.element);
            let memory = Blocks::new(index, shape.packed(level, stored).0, rows).bytes();
            let offset = size;
            size += memory * depth * shape.layers;
            let placed = shape.stored(level, Blocks::new(index, row, rows));
            // Rows may be longer than their memory (`planar::stored_bytes`), but each layer has its own.
            let slice = if shape.layered { memory } else { placed.slice };
            Placed { offset, slice, ..placed }
        });
        let levels = placed.collect();
        let size = size.next_multiple_of(TILE);
        Placement { levels, sparse: None, tails: 0, layers: shape.layers, size, reach: size }
    }

    /// Levels that are mapped tile by tile.
    fn of_tiles(whole: &Descriptor, format: Format, levels: &[Descriptor], of: Of) -> Result<Placement> {
        let shape = Shape::new(whole, format);
        let Shape { element, side, layered, layers } = shape;
        let stored = planar::stored_bytes(whole.format).unwrap_or(element);
        let shapes = if whole.depth == 0 || layered { FLAT } else { VOLUME };
        let log = element.ilog2() as usize;
        let shift = *shapes.get(log).filter(|_| element.is_power_of_two()).ok_or(Error::NotSupported)?;
        let [width, height, depth] = shift.map(|shift| 1u64 << shift);
        let tile = [width * side, height * side, depth];
        let fits = |level: &&Descriptor| shape.extent(level).iter().zip(tile).all(|(n, tile)| *n >= tile);
        let (large, small) = levels.split_at(levels.iter().take_while(fits).count());
        let (mut size, mut reach, mut placed) = (0, 0, Vec::new());
        for level in large {
            let extent = shape.extent(level);
            let [across, down, deep] = [0, 1, 2].map(|axis| extent[axis].div_ceil(tile[axis]));
            let (row, rows, _) = shape.packed(level, stored);
            let in_row = row.div_ceil(width * element);
            let slice = in_row * down * TILE;
            let (pitch, tile) = (in_row * TILE, Some(Tile { shift }));
            let mut at = Placed { offset: size, pitch, slice, tile, row, apart: slice, extent };
            if let Of::Plane { in_tail } = of {
                // The hardware stores blocks as high as a tile, but does not complete the last tiles.
                let blocks = Blocks { across: row.div_ceil(COLUMN), down: rows.div_ceil(height), height };
                at = Placed { offset: size, ..shape.stored(level, blocks) };
                at.apart = if in_tail { at.slice } else { at.slice.next_multiple_of(TILE) };
                reach = size + (layers - 1) * at.apart + across * down * TILE;
            }
            size += (at.apart * deep * layers).next_multiple_of(TILE);
            placed.push(at);
        }
        // The tails of the layers, one after another.
        let single = large.is_empty();
        let apart = of == Of::Plane { in_tail: false };
        let small: Vec<_> = (large.len()..)
            .zip(small)
            .map(|(index, level)| {
                let (row, rows, depth) = shape.packed(level, stored);
                let blocks = Blocks::new(index, row, rows);
                let blocks = if apart { blocks.joined(width * element) } else { blocks };
                (Placed { row, ..shape.stored(level, blocks) }, blocks.bytes() * depth)
            })
            .collect();
        let tail: u64 = small.iter().map(|(_, bytes)| bytes).sum();
        let tail = if apart || !single { tail.next_multiple_of(TILE) } else { tail };
        let tail_size = if single { (tail * layers).next_multiple_of(TILE) } else { tail };
        let (tails, mut inside) = (size, 0);
        for (at, bytes) in small {
            let slice = if layered { tail } else { at.slice };
            placed.push(Placed { offset: tails + inside, slice, ..at });
            inside += bytes;
        }
        size += if single { tail_size } else { tail_size * layers };
        let regular = large.len() as u32;
        let properties = Properties {
            tile: tile.map(|n| n as u32),
            first_tail_level: if of == Of::Mipmap || single { regular } else { 0 },
            tail_size,
            single_tail: single,
        };
        let (sparse, reach) = (Some(properties), reach.max(size));
        Ok(Placement { levels: placed, sparse, tails, layers, size, reach })
    }

    /// How the program maps all planes of an array: as the first one, but all planes together if the first
    /// is a mip tail or the mapping is deferred.
    pub(super) fn of_planes(planes: &[Placement]) -> Option<Placement> {
        let mut whole = planes.first()?.clone();
        whole.size = planes.iter().map(|plane| plane.size).sum();
        if let Some(sparse) = whole.sparse.as_mut().filter(|sparse| sparse.single_tail) {
            sparse.tail_size = whole.size;
        }
        Some(whole)
    }

    /// How the program maps a mipmap of one level that has several planes: only the first.
    pub(super) fn of_mipmap(planes: &[Placement]) -> Option<Placement> {
        let mut whole = planes.first()?.clone();
        if let Some(sparse) = whole.sparse.as_mut().filter(|sparse| !sparse.single_tail) {
            sparse.first_tail_level = whole.levels.len() as u32;
        }
        Some(whole)
    }

    /// Where the next plane begins.
    pub(super) fn size(&self) -> u64 {
        self.size
    }
}

impl Placed {
    /// The number of tiles in each dimension.
    fn tiles(&self, sparse: &Properties) -> [u64; 3] {
        [0, 1, 2].map(|axis| self.extent[axis].div_ceil(u64::from(sparse.tile[axis]).max(1)))
    }
}

/// What all levels have in common.
#[derive(Clone, Copy)]
struct Shape {
    /// Bytes of an element, or of a compressed block.
    element: u64,
    /// Texels of a compressed block in a row; otherwise 1.
    side: u64,
    layered: bool,
    layers: u64,
}

impl Shape {
    fn new(whole: &Descriptor, format: Format) -> Shape {
        let layered = whole.flags & (flag::LAYERED | flag::CUBEMAP) != 0;
        let layers = if layered { whole.depth } else { 1 };
        Shape { element: format.element(), side: u64::from(format.side()), layered, layers }
    }

    /// Bytes per row, rows, slices of a layer.
    fn packed(&self, level: &Descriptor, element: u64) -> (u64, u64, u64) {
        let [width, height, depth] = self.extent(level);
        (width.div_ceil(self.side) * element, height.div_ceil(self.side), depth)
    }

    /// A level of blocks at the beginning of the array; of rows if it has slices, whose layout on the
    /// hardware is unknown.
    fn stored(&self, level: &Descriptor, blocks: Blocks) -> Placed {
        let (row, rows, depth) = self.packed(level, self.element);
        let (pitch, slice, tile) = match depth {
            1 => (blocks.pitch(), blocks.bytes(), Some(blocks.tile(self.element))),
            _ => (row, row * rows, None),
        };
        Placed { offset: 0, pitch, slice, tile, row, apart: slice, extent: self.extent(level) }
    }

    fn extent(&self, level: &Descriptor) -> [u64; 3] {
        [level.width, level.height.max(1), if self.layered { 1 } else { level.depth.max(1) }]
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

/// Tiles that follow one another: the offset of the first, and their number.
type Run = (u64, u64);

/// A range of addresses, and what is mapped there.
pub struct SparseMemory {
    base: u64,
    size: u64,
    mapped: Arc<Mapped>,
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
    /// A range for all of these layouts, one after another.
    fn new(placements: &[Placement]) -> Result<Arc<SparseMemory>> {
        let all: u64 = placements.iter().map(Placement::size).sum();
        let size = placements.iter().map(|placement| placement.reach).fold(all, u64::max);
        if size == 0 || size > MOST {
            return Err(Error::OutOfMemory);
        }
        // SAFETY: no existing mapping changes.
        let base = unsafe { zeros(None, size) }.ok_or(Error::OutOfMemory)?;
        let mapped = Arc::new(Mapped::new(base, size));
        Ok(Arc::new(SparseMemory { base, size, mapped, backing: Mutex::new(BTreeMap::new()) }))
    }
}

impl Drop for SparseMemory {
    fn drop(&mut self) {
        // SAFETY: `new` mapped the range, and arrays, the only users, hold the memory.
        unsafe { shared::unmap(self.base, self.size) };
    }
}

/// What the program maps memory to: the addresses of an array, a plane or a mipmap.
#[derive(Clone)]
pub struct Region {
    memory: Arc<SparseMemory>,
    placement: Arc<Placement>,
}

impl Region {
    /// A region of its own for an array or a mipmap.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]: there are not as many addresses.
    pub(super) fn new(placement: Placement) -> Result<Region> {
        let memory = SparseMemory::new(std::slice::from_ref(&placement))?;
        Ok(Region { memory, placement: Arc::new(placement) })
    }

    /// A region for planes: that of each, with the offset at which the plane begins.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]: there are not as many addresses.
    pub(super) fn of_planes(placements: &[Placement]) -> Result<Vec<(Region, u64)>> {
        let memory = SparseMemory::new(placements)?;
        let mut offset = 0;
        let planes = placements.iter().map(|placement| {
            let (start, memory) = (offset, Arc::clone(&memory));
            offset += placement.size();
            (Region { memory, placement: Arc::new(placement.clone()) }, start)
        });
        Ok(planes.collect())
    }

    /// The same addresses, mapped by another layout.
    pub(super) fn mapped_by(&self, placement: Placement) -> Region {
        Region { memory: Arc::clone(&self.memory), placement: Arc::new(placement) }
    }

    /// The first address.
    pub(super) fn base(&self) -> u64 {
        self.memory.base
    }

    /// Where the levels lie.
    pub(super) fn levels(&self) -> &[Placed] {
        &self.placement.levels
    }

    /// Which tiles have memory.
    pub(super) fn mapped(&self) -> &Arc<Mapped> {
        &self.memory.mapped
    }

    /// How it is divided; `None` if it is mapped as a whole.
    pub fn properties(&self) -> Option<Properties> {
        self.placement.sparse
    }

    /// The size and the alignment of the memory that must be mapped; `None` if it is sparse.
    pub fn requirements(&self) -> Option<(u64, u64)> {
        self.placement.sparse.is_none().then_some((self.placement.size, TILE))
    }

    /// The tiles of a part. On the hardware, they may lie outside the region or not begin at one of its
    /// tiles.
    fn runs(&self, part: Option<Part>) -> Result<Vec<Run>> {
        let placement = &*self.placement;
        let Some(properties) = placement.sparse else {
            return Ok(vec![(0, placement.size / TILE)]);
        };
        match part.ok_or(Error::InvalidValue)? {
            Part::Level { level, layer, offset, extent } => {
                let placed = placement.levels.get(level as usize).ok_or(Error::InvalidValue)?;
                if placed.offset >= placement.tails || u64::from(layer) >= placement.layers {
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
                let [row, rows, _] = placed.tiles(&properties);
                let start = placed.offset + u64::from(layer) * placed.apart;
                let all = (z..z + deep).flat_map(|z| (y..y + down).map(move |y| (y, z)));
                let mut runs: Vec<Run> = Vec::new();
                for (y, z) in all {
                    let at = start + ((z * rows + y) * row + x) * TILE;
                    match runs.last_mut().filter(|(start, count)| start + count * TILE == at) {
                        Some((_, count)) => *count += across,
                        None => runs.push((at, across)),
                    }
                }
                Ok(runs)
            }
            Part::Tail { layer, offset, size } => {
                let layers = if properties.single_tail { 1 } else { placement.layers };
                let end = offset.checked_add(size).filter(|end| *end <= properties.tail_size);
                let whole = offset.is_multiple_of(TILE) && size.is_multiple_of(TILE) && size > 0;
                if end.is_none() || !whole || u64::from(layer) >= layers {
                    return Err(Error::InvalidValue);
                }
                let start = placement.tails + u64::from(layer) * properties.tail_size + offset;
                Ok(vec![(start, size / TILE)])
            }
        }
    }
}

/// A checked change of what is mapped, as a part of a stream operation.
#[derive(Clone)]
pub struct Remap {
    target: Arc<SparseMemory>,
    /// Runs, and the offset of each in the memory.
    runs: Arc<[(Run, u64)]>,
    /// `None` to unmap.
    memory: Option<Arc<Memory>>,
}

impl Remap {
    /// Maps a part of an array onto memory from an offset on, or unmaps it. An array with deferred mapping is
    /// mapped as a whole, whatever the part.
    ///
    /// Tiles of one row that follow one another are mapped at once, and so are rows of all tiles. As on an
    /// H200, this has no effect if they do not all lie in the region's tiles.
    ///
    /// # Errors
    /// [`Error::InvalidValue`]: the array has no such part, or it is not of whole tiles; the memory is not
    /// for tiles, or too small.
    pub fn new(region: &Region, part: Option<Part>, memory: Option<(Arc<Memory>, u64)>) -> Result<Self> {
        let (memory, mut offset) = memory.map_or((None, 0), |(memory, offset)| (Some(memory), offset));
        let runs = region.runs(part)?;
        if let Some(memory) = &memory {
            let bytes = runs.iter().map(|(_, count)| count * TILE).sum();
            let fits = offset.checked_add(bytes).is_some_and(|end| end <= memory.size);
            if !memory.for_tiles || !fits || !offset.is_multiple_of(TILE) {
                return Err(Error::InvalidValue);
            }
        }
        let placed = runs.into_iter().map(|run| {
            let from = offset;
            offset += run.1 * TILE;
            (run, from)
        });
        let size = region.memory.size;
        let possible =
            |((start, count), _): &(Run, u64)| start.is_multiple_of(TILE) && start + count * TILE <= size;
        let runs = placed.filter(possible).collect();
        Ok(Remap { target: Arc::clone(&region.memory), runs, memory })
    }

    /// Does it.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]: the system refuses more mappings.
    pub(crate) fn run(&self) -> Result<()> {
        let region = &*self.target;
        for &((start, count), from) in &*self.runs {
            let mut backing = lock(&region.backing);
            let (first, at, size) = (start / TILE, region.base + start, count * TILE);
            region.mapped.set(first, count, false);
            match &self.memory {
                Some(memory) => {
                    // SAFETY: the tiles lie in the region, which this owns.
                    unsafe { memory.map_at(from, size, at)? };
                    region.mapped.set(first, count, true);
                    backing.extend((first..first + count).map(|tile| (tile, Arc::clone(memory))));
                }
                None => {
                    // SAFETY: as above.
                    unsafe { zeros(Some(at), size) }.ok_or(Error::OutOfMemory)?;
                    (first..first + count).for_each(|tile| drop(backing.remove(&tile)));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sparse planes of widths, heights and bytes of an element; the depth is the number of layers.
    fn placed(planes: &[(u64, u64, u8)], depth: u64) -> Vec<Placement> {
        let flags = flag::SPARSE | flag::VIDEO | if depth > 0 { flag::LAYERED } else { 0 };
        let of = |&(width, height, bytes): &(u64, u64, u8)| {
            let plane = Descriptor { width, height, depth, format: 1, channels: 1, flags };
            (plane, Format::plain(texture::descriptor::Channel::Unsigned, bytes, 1))
        };
        let all: Vec<_> = planes.iter().map(of).collect();
        Placement::planes(all.iter().map(|(plane, format)| (plane, *format))).expect("tiles")
    }

    /// Sizes as an H200 reports them (`planarnew` and `planarodd` in `tests/probe`), in tiles.
    #[test]
    fn mip_tails_depend_on_the_first_plane() {
        let tails = |planes: &[(u64, u64, u8)], layers| {
            let planes = placed(planes, layers);
            let all = Placement::of_planes(&planes);
            let tail = |plane: &Placement| plane.sparse.map(|p| p.tail_size / TILE);
            (all.as_ref().and_then(tail), planes.iter().filter_map(tail).collect::<Vec<_>>())
        };
        // The first plane has tiles: a tail of each layer, of joined blocks.
        assert_eq!(tails(&[(300, 300, 1), (150, 150, 2)], 0), (Some(0), vec![0, 2]));
        assert_eq!(tails(&[(300, 300, 1), (150, 150, 2)], 2), (Some(0), vec![0, 4]));
        assert_eq!(tails(&[(300, 300, 1), (150, 300, 2)], 2), (Some(0), vec![0, 6]));
        assert_eq!(tails(&[(256, 256, 1), (128, 128, 2)], 3), (Some(0), vec![0, 3]));
        // It has none: the layers follow one another.
        assert_eq!(tails(&[(300, 200, 1), (150, 100, 2)], 3), (Some(6), vec![4, 2]));
        assert_eq!(tails(&[(200, 512, 2), (100, 256, 4)], 3), (Some(17), vec![11, 6]));
        assert_eq!(tails(&[(64, 32, 1), (32, 16, 2)], 2), (Some(2), vec![1, 1]));
        // Then planes that have tiles count too.
        assert_eq!(tails(&[(512, 200, 1), (256, 200, 2)], 0), (Some(4), vec![2, 0]));
        assert_eq!(tails(&[(300, 200, 1), (300, 200, 2)], 3), (Some(12), vec![4, 0]));
    }

    /// The heights of blocks in the first level and in others, as an H200's memory shows them.
    #[test]
    fn blocks_are_as_high_as_levels() {
        let heights =
            |level| [8, 33, 40, 48, 64, 72, 100, 200].map(|rows| Blocks::new(level, 9, rows).height);
        assert_eq!(heights(0), [8, 32, 32, 64, 64, 64, 128, 128]);
        assert_eq!(heights(1), [8, 64, 64, 64, 64, 128, 128, 128]);
        for (rows, level) in (1..300).flat_map(|rows| [(rows, 0), (rows, 1)]) {
            let blocks = Blocks::new(level, 300, rows);
            assert!(blocks.down * blocks.height >= rows, "{rows}");
            assert_eq!(blocks.bytes(), Blocks::new(0, 300, rows).bytes(), "{rows}");
        }
    }

    /// Whatever the shapes, all tiles that can be mapped lie in the region.
    #[test]
    fn all_tiles_lie_in_the_region() {
        for (width, height) in [(2, 2), (258, 258), (300, 300), (258, 4000), (4000, 258), (128, 1000)] {
            for layers in [0, 1, 3] {
                let planes = placed(&[(width, height, 2), (width / 2, height / 2, 4)], layers);
                let regions = Region::of_planes(&planes).expect("addresses");
                for (region, _) in &regions {
                    let Some(properties) = region.properties() else { panic!("it is sparse") };
                    let [w, h, _] = region.levels()[0].extent.map(|n| n as u32);
                    for layer in 0..layers.max(1) as u32 {
                        let part = match properties.single_tail {
                            true => Part::Tail { layer: 0, offset: 0, size: properties.tail_size },
                            false => Part::Level { level: 0, layer, offset: [0; 3], extent: [w, h, 1] },
                        };
                        let runs = region.runs(Some(part)).expect("a part");
                        let inside = |&(start, count): &Run| start + count * TILE <= region.memory.size;
                        assert!(runs.iter().all(inside), "{width} {height} {layers}");
                    }
                }
            }
        }
    }
}
