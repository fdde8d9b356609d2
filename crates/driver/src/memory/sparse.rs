//! Arrays whose memory the program maps: sparse arrays tile by tile, deferred ones as a whole.
//!
//! Such an array is a range of addresses ([`SparseMemory`]) without memory of its own. Mapping replaces the
//! pages of a part by those of a memory file. The other pages are private and never written, so they read as
//! 0; copies and surfaces drop writes to them ([`Mapped`]). Tiles, mip tails and required sizes are those
//! that an H200 reports (`sparse.*`, `sparsemip.*` and `planar….*` in `tests/probe`).
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
    /// Its tiles, or the blocks of a plane; `None` for rows.
    pub tile: Option<Tile>,
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
    Plane,
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
}

/// A level of one layer as the hardware stores it: in blocks of 64 bytes by 1, 2, 4, 8 or 16 groups of 8
/// rows, the smallest that hold the level's rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Blocks {
    across: u64,
    down: u64,
    /// Rows of a block.
    height: u64,
}

impl Blocks {
    fn new(row: u64, rows: u64) -> Blocks {
        let height = GROUP * rows.div_ceil(GROUP).next_power_of_two().min(MOST_GROUPS);
        Blocks { across: row.div_ceil(COLUMN), down: rows.div_ceil(height), height }
    }

    /// As in a mip tail, where blocks are also joined across: 1, 2, 4 … of them, the fewest that hold the
    /// level, up to the width of a tile.
    fn in_tail(self, tile_row: u64) -> Blocks {
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
            0 => Ok(Placement::of_rows(whole, format, &levels)),
            _ => Placement::of_tiles(whole, format, &levels, of),
        }
    }

    /// Levels that are mapped as a whole.
    fn of_rows(whole: &Descriptor, format: Format, levels: &[Descriptor]) -> Placement {
        let shape = Shape::new(whole, format);
        let stored = planar::stored_bytes(whole.format).unwrap_or(shape.element);
        let mut size = 0;
        let placed = levels.iter().map(|level| {
            let (row, rows, depth) = shape.packed(level, stored);
            let offset = size;
            size += Blocks::new(row, rows).bytes() * depth * shape.layers;
            Placed { offset, pitch: row, slice: row * rows, tile: None, extent: shape.extent(level) }
        });
        let levels = placed.collect();
        let size = size.next_multiple_of(TILE);
        Placement { levels, sparse: None, tails: 0, layers: shape.layers, size }
    }

    /// Levels that are mapped tile by tile.
    fn of_tiles(whole: &Descriptor, format: Format, levels: &[Descriptor], of: Of) -> Result<Placement> {
        let shape = Shape::new(whole, format);
        let Shape { element, side, layered, layers } = shape;
        let shapes = if whole.depth == 0 || layered { FLAT } else { VOLUME };
        let log = element.ilog2() as usize;
        let shift = *shapes.get(log).filter(|_| element.is_power_of_two()).ok_or(Error::NotSupported)?;
        let [width, height, depth] = shift.map(|shift| 1u64 << shift);
        let tile = [width * side, height * side, depth];
        let fits = |level: &&Descriptor| shape.extent(level).iter().zip(tile).all(|(n, tile)| *n >= tile);
        let (large, small) = levels.split_at(levels.iter().take_while(fits).count());
        let (mut size, mut placed) = (0, Vec::new());
        for level in large {
            let extent = shape.extent(level);
            let [across, down, deep] = [0, 1, 2].map(|axis| extent[axis].div_ceil(tile[axis]));
            let mut at = Placed {
                offset: size,
                pitch: across * TILE,
                slice: across * down * TILE,
                tile: Some(Tile { shift }),
                extent,
            };
            if of == Of::Plane {
                // The hardware stores blocks as high as a tile, but does not complete the last tiles.
                let (row, rows, _) = shape.packed(level, element);
                let blocks = Blocks { across: row.div_ceil(COLUMN), down: rows.div_ceil(height), height };
                let slice = blocks.bytes().next_multiple_of(TILE);
                at = Placed { pitch: blocks.pitch(), slice, tile: Some(blocks.tile(element)), ..at };
            }
            size += at.slice * deep * layers;
            placed.push(at);
        }
        // The tails of the layers, one after another.
        let single = large.is_empty();
        let small: Vec<_> = small
            .iter()
            .map(|level| {
                let (row, rows, depth) = shape.packed(level, element);
                (shape.extent(level), row, rows, depth, Blocks::new(row, rows).in_tail(width * element))
            })
            .collect();
        let tail: u64 = small.iter().map(|(.., depth, blocks)| blocks.bytes() * depth).sum();
        let tail_size = if single { tail * layers } else { tail }.next_multiple_of(TILE);
        let (tails, mut inside) = (size, 0);
        for (extent, row, rows, depth, blocks) in small {
            let stored = of == Of::Plane;
            let pitch = if stored { blocks.pitch() } else { row };
            let slice = match (layered, single) {
                (false, _) => row * rows,
                (true, true) => tail,
                (true, false) => tail_size,
            };
            let tile = stored.then(|| blocks.tile(element));
            placed.push(Placed { offset: tails + inside, pitch, slice, tile, extent });
            inside += blocks.bytes() * depth;
        }
        size += if single { tail_size } else { tail_size * layers };
        let regular = large.len() as u32;
        let properties = Properties {
            tile: tile.map(|n| n as u32),
            first_tail_level: if of == Of::Mipmap || single { regular } else { 0 },
            tail_size,
            single_tail: single,
        };
        Ok(Placement { levels: placed, sparse: Some(properties), tails, layers, size })
    }

    /// How the program maps all planes of an array: as the first one, but all mip tails together if the first
    /// plane has one, and all planes if the mapping is deferred.
    pub(super) fn of_planes(planes: &[Placement]) -> Option<Placement> {
        let mut whole = planes.first()?.clone();
        let tails: u64 = planes.iter().filter_map(|plane| plane.sparse).map(|sparse| sparse.tail_size).sum();
        if let Some(sparse) = whole.sparse.as_mut().filter(|sparse| sparse.single_tail) {
            sparse.tail_size = tails;
        }
        whole.size = planes.iter().map(|plane| plane.size).sum();
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

    /// The end of the last tile that can be mapped. It can lie beyond the end of a plane, whose last tiles
    /// are not complete.
    fn end(&self) -> u64 {
        let Some(sparse) = self.sparse else { return self.size };
        let ends = self.levels.iter().filter(|level| level.offset < self.tails).map(|level| {
            let tiles = level.tiles(&sparse).iter().product::<u64>();
            level.offset + (self.layers - 1) * level.slice + tiles * TILE
        });
        ends.max().unwrap_or(0).max(self.size)
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

/// Tiles that follow one another: the first, and their number.
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
        let size = placements.iter().map(Placement::end).fold(all, u64::max);
        if size == 0 || size > MOST {
            return Err(Error::OutOfMemory);
        }
        // SAFETY: no existing mapping changes.
        let base = unsafe { zeros(None, size) }.ok_or(Error::OutOfMemory)?;
        let mapped = Arc::new(Mapped::new(base, size));
        Ok(Arc::new(SparseMemory { base, size, mapped, backing: Mutex::new(BTreeMap::new()) }))
    }

    fn address(&self, tile: u64) -> u64 {
        self.base + tile * TILE
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

    /// The tiles of a part.
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
                let start = (placed.offset + u64::from(layer) * placed.slice) / TILE;
                let all = (z..z + deep).flat_map(|z| (y..y + down).map(move |y| (y, z)));
                Ok(all.map(|(y, z)| (start + (z * rows + y) * row + x, across)).collect())
            }
            Part::Tail { layer, offset, size } => {
                let layers = if properties.single_tail { 1 } else { placement.layers };
                let end = offset.checked_add(size).filter(|end| *end <= properties.tail_size);
                let whole = offset.is_multiple_of(TILE) && size.is_multiple_of(TILE) && size > 0;
                if end.is_none() || !whole || u64::from(layer) >= layers {
                    return Err(Error::InvalidValue);
                }
                let start = placement.tails + u64::from(layer) * properties.tail_size + offset;
                Ok(vec![(start / TILE, size / TILE)])
            }
        }
    }
}

/// A checked change of what is mapped, as a part of a stream operation.
#[derive(Clone)]
pub struct Remap {
    target: Arc<SparseMemory>,
    runs: Arc<[Run]>,
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
    pub fn new(region: &Region, part: Option<Part>, memory: Option<(Arc<Memory>, u64)>) -> Result<Self> {
        let runs = region.runs(part)?;
        if runs.iter().any(|(first, count)| (first + count) * TILE > region.memory.size) {
            return Err(Error::InvalidValue);
        }
        if let Some((memory, offset)) = &memory {
            let bytes = runs.iter().map(|(_, count)| count * TILE).sum();
            let fits = offset.checked_add(bytes).is_some_and(|end| end <= memory.size);
            if !memory.for_tiles || !fits || !offset.is_multiple_of(TILE) {
                return Err(Error::InvalidValue);
            }
        }
        Ok(Remap { target: Arc::clone(&region.memory), runs: runs.into(), memory })
    }

    /// Does it.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]: the system refuses more mappings.
    pub(crate) fn run(&self) -> Result<()> {
        let mut done = 0;
        let region = &*self.target;
        for &(first, count) in &*self.runs {
            let mut backing = lock(&region.backing);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A sparse plane of elements of so many bytes; the depth is the number of layers.
    fn placed(width: u64, height: u64, depth: u64, bytes: u8) -> Placement {
        let flags = flag::SPARSE | flag::VIDEO | if depth > 0 { flag::LAYERED } else { 0 };
        let plane = Descriptor { width, height, depth, format: 1, channels: 1, flags };
        let format = Format::plain(texture::descriptor::Channel::Unsigned, bytes, 1);
        Placement::new(&plane, format, 1, Of::Plane).expect("tiles")
    }

    /// Sizes as an H200 reports them (`planarnew` in `tests/probe`).
    #[test]
    fn blocks_of_mip_tails_are_joined_across() {
        let tail = |width, height, depth| placed(width, height, depth, 2).sparse.map(|p| p.tail_size);
        assert_eq!((tail(150, 150, 0), tail(150, 150, 2)), (Some(2 << 16), Some(4 << 16)));
        assert_eq!((tail(150, 300, 0), tail(150, 300, 2)), (Some(3 << 16), Some(6 << 16)));
        assert_eq!((tail(128, 256, 1), tail(32, 16, 2)), (Some(1 << 16), Some(1 << 16)));
        // Alone, the same blocks are not.
        assert_eq!(Blocks::new(300, 150).bytes(), 320 * 256);
    }

    /// Whatever the shapes, all tiles that can be mapped lie in the region.
    #[test]
    fn all_tiles_lie_in_the_region() {
        for (width, height) in [(2, 2), (258, 258), (300, 300), (258, 4000), (4000, 258), (128, 1000)] {
            for layers in [0, 1, 3] {
                let planes = [placed(width, height, layers, 2), placed(width / 2, height / 2, layers, 4)];
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
                        let inside = |&(first, count): &Run| (first + count) * TILE <= region.memory.size;
                        assert!(runs.iter().all(inside), "{width} {height} {layers}");
                    }
                }
            }
        }
    }
}
