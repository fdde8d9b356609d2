//! Arrays: images of one to three dimensions in a layout private to the driver.
//!
//! Rows are stored one after another without gaps, and so are slices (or layers).

use std::sync::{Arc, OnceLock};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::handle::{Handle, Pointers};

use super::sparse::{Of, Placement, Region};
use super::{format, give_back, planar, space, take};
use crate::external::Mapping;
use texture::descriptor::{Code, FACES, Format, Plane, Tile};
use texture::mapped::{Mapped, TILE};

static ARRAYS: Pointers<Array> = Pointers::new();
static MIPMAPS: Pointers<Mipmap> = Pointers::new();
static SHOW: OnceLock<Show> = OnceLock::new();

/// Writes the structure that an interface publishes behind the handles of new arrays and mipmaps
/// ([`crate::handle::ROOM`] bytes).
#[derive(Clone, Copy, Debug)]
pub struct Show {
    /// Writes an array's structure.
    pub array: fn(Handle, &Array),
    /// Writes a mipmap's structure, from the descriptor of its first level and the number of levels.
    pub mipmap: fn(Handle, &Descriptor, u32),
}

/// Sets what is written behind new handles. Only the first call counts; existing objects stay as they are.
pub fn set_show(show: Show) {
    // The interface may be loaded twice; both copies write the same.
    let _ = SHOW.set(show);
}

/// Array flags.
pub mod flag {
    /// The depth is the number of layers.
    pub const LAYERED: u32 = 1;
    /// Surfaces can be created on it.
    pub const SURFACE: u32 = 2;
    /// Six square faces.
    pub const CUBEMAP: u32 = 4;
    /// Textures of it support gather: two dimensions, no layers.
    pub const GATHER: u32 = 8;
    /// For depth images of a graphics API; there is none here.
    pub const DEPTH: u32 = 0x10;
    /// For colour images of a graphics API; there is none here.
    pub const COLOR: u32 = 0x20;
    /// Its memory is mapped page by page.
    pub const SPARSE: u32 = 0x40;
    /// Its memory is mapped later.
    pub const DEFERRED_MAPPING: u32 = 0x80;
    /// For video encoding and decoding.
    pub const VIDEO: u32 = 0x100;
    /// All flags.
    pub const MASK: u32 = 0x1ff;
}

/// The shape and format of an array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Descriptor {
    /// Elements per row.
    pub width: u64,
    /// Rows; 0 for a one-dimensional array.
    pub height: u64,
    /// Slices or layers; 0 if there is no third dimension.
    pub depth: u64,
    /// The channel format number.
    pub format: u32,
    /// Channels per element.
    pub channels: u32,
    /// [`flag`]s.
    pub flags: u32,
}

impl Descriptor {
    /// The maximum number of elements, rows and slices for this shape.
    fn bounds(&self) -> [u64; 3] {
        let layered = self.flags & flag::LAYERED != 0;
        match (self.height, self.depth) {
            (0, 0) => [131_072, 0, 0],
            (0, _) if layered => [32_768, 0, 2048],
            (_, 0) => [131_072, 65_536, 0],
            _ if self.flags & flag::CUBEMAP != 0 => [32_768, 32_768, 2046],
            _ if layered => [32_768, 32_768, 2048],
            _ => [16_384; 3],
        }
    }

    /// The elements of an array of one plane.
    fn check(&self) -> Result<Format> {
        self.check_shape()?;
        let format = match planar::packed(self)? {
            Some(format) => format,
            None => format::format(self.format, self.channels)?,
        };
        match format.code {
            Code::Block(_) if self.flags & flag::SURFACE != 0 => Err(Error::NotSupported),
            Code::Block(_) if self.height == 0 => Err(Error::InvalidValue),
            _ => Ok(format),
        }
    }

    fn check_shape(&self) -> Result<()> {
        let [width, height, depth] = self.bounds();
        if self.flags & !flag::MASK != 0
            || !(1..=width).contains(&self.width)
            || self.height > height
            || self.depth > depth
        {
            return Err(Error::InvalidValue);
        }
        let cube = u64::from(FACES);
        let faces = match self.flags & flag::LAYERED {
            0 => self.depth == cube,
            _ => self.depth.is_multiple_of(cube),
        };
        if self.flags & flag::CUBEMAP != 0 && (self.width != self.height || self.depth == 0 || !faces) {
            return Err(Error::InvalidValue);
        }
        if self.flags & flag::LAYERED != 0 && self.depth == 0 {
            return Err(Error::InvalidValue);
        }
        let flat = self.height != 0 && self.depth == 0;
        if self.flags & (flag::DEPTH | flag::COLOR) != 0 || (self.flags & flag::GATHER != 0 && !flat) {
            return Err(Error::InvalidValue);
        }
        let not_sparse = flag::DEFERRED_MAPPING | flag::CUBEMAP | flag::SURFACE;
        if self.flags & flag::SPARSE != 0 && (self.height == 0 || self.flags & not_sparse != 0) {
            return Err(Error::InvalidValue);
        }
        Ok(())
    }

    /// Whether the program maps its memory.
    fn is_mapped_later(&self) -> bool {
        self.flags & (flag::SPARSE | flag::DEFERRED_MAPPING) != 0
    }

    /// The levels that it takes to reach a single element.
    fn most_levels(&self) -> u32 {
        self.width.max(self.height).max(self.depth).max(1).ilog2() + 1
    }

    /// The descriptor of a mipmap level: each level halves every dimension, down to 1.
    pub(super) fn level(mut self, level: u32) -> Self {
        let half = |n: u64| if n == 0 { 0 } else { (n >> level.min(63)).max(1) };
        (self.width, self.height) = (half(self.width), half(self.height));
        if self.flags & (flag::LAYERED | flag::CUBEMAP) == 0 {
            self.depth = half(self.depth);
        }
        self
    }
}

/// The owner of an array's memory.
#[derive(Clone)]
enum Memory {
    /// Its own.
    Own,
    /// Its planes, which are arrays; and how the program maps all of them.
    Planes(Option<Region>),
    /// What the program maps there.
    Sparse(Region),
    /// A part of another interface's.
    #[expect(dead_code, reason = "keeps the memory mapped")]
    External(Arc<Mapping>),
}

/// An array.
pub struct Array {
    /// The descriptor.
    pub descriptor: Descriptor,
    /// The address of its first byte.
    pub base: u64,
    /// Bytes per row, rows per slice, slices. In a compressed format: bytes per row of blocks, rows of blocks
    /// per slice.
    pub extent: [u64; 3],
    /// Bytes from row to row and from slice to slice; of tiles.
    pitch: [u64; 2],
    tile: Option<Tile>,
    /// Bytes of a row that have memory (`planar::stored_bytes`).
    row: u64,
    memory: Memory,
    context: u64,
    device: u32,
    /// Bytes per block of a compressed format. Copies begin and end at block boundaries.
    pub block: Option<u64>,
    /// The arrays of its planes if it has several; it then has no memory of its own.
    planes: Vec<Handle>,
    role: Role,
}

/// What an array is a part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Nothing.
    Whole,
    /// A mipmap. The program maps memory to that.
    Level,
    /// An array of several planes, of this format. The program can map memory to each of them.
    Plane(u32),
}

impl std::fmt::Debug for Array {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Array").field("descriptor", &self.descriptor).finish_non_exhaustive()
    }
}

/// Bytes per row, rows per slice, slices; and bytes per block of a compressed format.
fn packed(descriptor: &Descriptor, format: Format) -> ([u64; 3], Option<u64>) {
    let side = u64::from(format.side());
    let (row, rows) = (descriptor.width.div_ceil(side), descriptor.height.max(1).div_ceil(side));
    let block = matches!(format.code, Code::Block(_)).then_some(format.element());
    ([row * format.element(), rows, descriptor.depth.max(1)], block)
}

impl Array {
    /// The total size in bytes.
    pub fn size(&self) -> u64 {
        self.extent.iter().fold(1, |product, n| n.saturating_mul(product))
    }

    /// An array of rows at an address.
    fn at(context: &Context, descriptor: Descriptor, format: Format, base: u64, memory: Memory) -> Self {
        let (extent, block) = packed(&descriptor, format);
        let pitch = [extent[0], extent[0] * extent[1]];
        let (context, device, planes) = (context.id(), context.device.ordinal, Vec::new());
        let (tile, row, role) = (None, extent[0], Role::Whole);
        Array { descriptor, base, extent, pitch, tile, row, memory, context, device, block, planes, role }
    }

    /// An array of one level and one plane.
    fn make(context: &Context, descriptor: Descriptor, format: Format) -> Result<Arc<Array>> {
        if descriptor.is_mapped_later() {
            let region = Region::new(Placement::new(&descriptor, format, 1, Of::Array)?)?;
            let arrays = Array::make_levels(context, descriptor, format, (&region, 0), Role::Whole);
            return arrays.into_iter().next().ok_or(Error::OutOfMemory);
        }
        Array::make_own(context, descriptor, format, Role::Whole)
    }

    /// An array with memory of its own.
    fn make_own(context: &Context, descriptor: Descriptor, format: Format, role: Role) -> Result<Arc<Array>> {
        let size = packed(&descriptor, format).0.iter().product();
        take(&context.device, size)?;
        let Some(base) = space::alloc(size, space::For::Process) else {
            give_back(context.device.ordinal, size);
            return Err(Error::OutOfMemory);
        };
        let mut array = Array::at(context, descriptor, format, base, Memory::Own);
        array.role = role;
        Ok(Arc::new(array))
    }

    /// An array of planes. The program maps the level of a mipmap by the mipmap.
    fn make_planar(
        context: &Context,
        whole: Descriptor,
        planes: &[Descriptor],
        role: Role,
    ) -> Result<(Arc<Array>, Option<Region>)> {
        whole.check_shape()?;
        let formats: Vec<Format> = planes.iter().map(Descriptor::check).collect::<Result<_>>()?;
        let each = || planes.iter().zip(&formats);
        let part = Role::Plane(whole.format);
        let (made, region) = if whole.is_mapped_later() {
            let placements = Placement::planes(each().map(|(plane, format)| (plane, *format)))?;
            let regions = Region::of_planes(&placements)?;
            let all = match role {
                Role::Level => Placement::of_mipmap(&placements),
                Role::Whole | Role::Plane(_) => Placement::of_planes(&placements),
            };
            let region = regions.first().zip(all).map(|((first, _), all)| first.mapped_by(all));
            let made = each().zip(&regions).flat_map(|((plane, format), (region, offset))| {
                Array::make_levels(context, *plane, *format, (region, *offset), part)
            });
            (made.collect(), region)
        } else {
            let made = each().map(|(plane, format)| Array::make_own(context, *plane, *format, part));
            (made.collect::<Result<Vec<_>>>()?, None)
        };
        let planes = made.into_iter().map(insert).collect::<Result<Vec<_>>>()?;
        let array = Arc::new(Array {
            descriptor: whole,
            base: 0,
            extent: [0; 3],
            pitch: [0; 2],
            tile: None,
            row: 0,
            memory: Memory::Planes(region.clone()),
            context: context.id(),
            device: context.device.ordinal,
            block: None,
            planes,
            role,
        });
        Ok((array, region))
    }

    /// The levels of an array, a plane or a mipmap whose memory the program maps, at an offset of the region.
    fn make_levels(
        context: &Context,
        whole: Descriptor,
        format: Format,
        (region, offset): (&Region, u64),
        role: Role,
    ) -> Vec<Arc<Array>> {
        let made = region.levels().iter().zip(0..).map(|(placed, level)| {
            let (memory, base) = (Memory::Sparse(region.clone()), region.base() + offset + placed.offset);
            let mut array = Array::at(context, whole.level(level), format, base, memory);
            array.pitch = [placed.pitch, placed.slice];
            (array.tile, array.row, array.role) = (placed.tile, placed.row, role);
            Arc::new(array)
        });
        made.collect()
    }

    /// The addresses that the program maps.
    ///
    /// # Errors
    /// [`Error::InvalidValue`]: it has memory of its own, or is a level of a mipmap.
    pub fn region(&self) -> Result<&Region> {
        match &self.memory {
            _ if self.role == Role::Level => Err(Error::InvalidValue),
            Memory::Sparse(region) | Memory::Planes(Some(region)) => Ok(region),
            Memory::Own | Memory::Planes(None) | Memory::External(_) => Err(Error::InvalidValue),
        }
    }

    /// Whether it can have textures.
    pub(crate) fn has_textures(&self) -> bool {
        match self.role {
            Role::Plane(format) => planar::has_textures(format),
            Role::Whole | Role::Level => true,
        }
    }

    /// The ordinal of its device.
    pub fn device(&self) -> u32 {
        self.device
    }

    /// Which parts of its memory exist; `None` if all do.
    pub(crate) fn mapped(&self) -> Option<&Arc<Mapped>> {
        match &self.memory {
            Memory::Sparse(region) => Some(region.mapped()),
            Memory::Own | Memory::Planes(_) | Memory::External(_) => None,
        }
    }

    /// Its memory as the texture unit accesses it.
    pub(crate) fn plane(&self) -> Plane {
        let layers = self.descriptor.flags & (flag::LAYERED | flag::CUBEMAP) != 0;
        Plane {
            base: self.base,
            width: self.descriptor.width as u32,
            height: self.descriptor.height.max(1) as u32,
            depth: if layers { 1 } else { self.descriptor.depth.max(1) as u32 },
            pitch: self.pitch[0],
            slice: self.pitch[1],
            tile: self.tile,
        }
    }

    /// The address of a byte of a row, how many bytes from there on are contiguous and alike, and whether
    /// they have memory.
    pub(super) fn find(&self, x: u64, row: u64, slice: u64) -> (u64, u64, bool) {
        let element = (self.extent[0] / self.blocks_per_row()).max(1);
        let place = [(x / element) as u32, row as u32, slice as u32];
        let address = self.plane().address(element, place) + x % element;
        let Some(mapped) = self.mapped() else { return (address, self.extent[0] - x, true) };
        if x >= self.row {
            return (address, self.extent[0] - x, false);
        }
        let left = match self.tile {
            Some(tile) => {
                let width = element << tile.shift[0];
                width - x % width
            }
            None => TILE - (address - mapped.base()) % TILE,
        };
        (address, left.min(self.row - x), mapped.contains(address))
    }

    fn blocks_per_row(&self) -> u64 {
        match self.block {
            Some(bytes) => self.extent[0] / bytes.max(1),
            None => self.descriptor.width,
        }
        .max(1)
    }
}

impl Drop for Array {
    fn drop(&mut self) {
        if let Memory::Own = self.memory {
            space::free(self.base);
            give_back(self.device, self.size());
        }
    }
}

/// A mipmapped array: levels, each half the size of the one before.
pub struct Mipmap {
    levels: Vec<Handle>,
    context: u64,
    device: u32,
    /// `None` if it has memory of its own.
    region: Option<Region>,
}

impl Mipmap {
    /// The arrays of the levels, the largest first.
    pub fn arrays(&self) -> Result<Vec<Arc<Array>>> {
        self.levels.iter().map(|&level| get(level)).collect()
    }

    /// The addresses that the program maps.
    ///
    /// # Errors
    /// [`Error::InvalidValue`]: it has memory of its own.
    pub fn region(&self) -> Result<&Region> {
        self.region.as_ref().ok_or(Error::InvalidValue)
    }

    /// The ordinal of its device.
    pub fn device(&self) -> u32 {
        self.device
    }
}

/// The mipmap of a handle.
pub fn mipmap(handle: Handle) -> Result<Arc<Mipmap>> {
    MIPMAPS.get(handle).ok_or(Error::InvalidHandle)
}

/// The maximum number of elements in a row of a mipmap.
const WIDEST_MIPMAP: u64 = 32_768;

/// Gives an array a handle.
fn insert(array: Arc<Array>) -> Result<Handle> {
    let handle = ARRAYS.insert(Arc::clone(&array)).ok_or(Error::OutOfMemory)?;
    if let Some(show) = SHOW.get() {
        (show.array)(handle, &array);
    }
    Ok(handle)
}

/// Creates an array.
pub fn create(context: &Context, descriptor: Descriptor) -> Result<Handle> {
    let array = match planar::planes(&descriptor)? {
        Some(planes) => Array::make_planar(context, descriptor, &planes, Role::Whole)?.0,
        None => Array::make(context, descriptor, descriptor.check()?)?,
    };
    insert(array)
}

/// The array of a plane.
///
/// # Errors
/// [`Error::InvalidHandle`]: no such array. [`Error::InvalidValue`]: the array has no such plane.
pub fn plane(handle: Handle, plane: u32) -> Result<Handle> {
    get(handle)?.planes.get(plane as usize).copied().ok_or(Error::InvalidValue)
}

/// The array of a handle.
pub fn get(handle: Handle) -> Result<Arc<Array>> {
    ARRAYS.get(handle).ok_or(Error::InvalidHandle)
}

/// Destroys an array. Its memory is freed after the last copy that uses it. As on the hardware, a level or a
/// plane cannot be destroyed alone.
pub fn destroy(handle: Handle) -> Result<()> {
    if get(handle)?.role != Role::Whole {
        return Ok(());
    }
    let array = ARRAYS.remove(handle).ok_or(Error::InvalidHandle)?;
    for plane in &array.planes {
        ARRAYS.remove(*plane);
    }
    Ok(())
}

/// Creates a mipmap of `levels` levels, but no more than it takes to reach a single element.
pub fn create_mipmap(context: &Context, descriptor: Descriptor, levels: u32) -> Result<Handle> {
    let planes = planar::planes(&descriptor)?;
    let video = planes.is_some() || planar::packed(&descriptor)?.is_some();
    if descriptor.width > WIDEST_MIPMAP || (video && levels > 1) {
        return Err(Error::InvalidValue);
    }
    let levels = levels.clamp(1, descriptor.most_levels());
    let (arrays, region) = match (planes, descriptor.is_mapped_later()) {
        (Some(planes), _) => {
            let (array, region) = Array::make_planar(context, descriptor, &planes, Role::Level)?;
            (vec![array], region)
        }
        (None, true) => {
            let format = descriptor.check()?;
            let region = Region::new(Placement::new(&descriptor, format, levels, Of::Mipmap)?)?;
            (Array::make_levels(context, descriptor, format, (&region, 0), Role::Level), Some(region))
        }
        (None, false) => {
            let level = |level| {
                let descriptor = descriptor.level(level);
                Array::make_own(context, descriptor, descriptor.check()?, Role::Level)
            };
            ((0..levels).map(level).collect::<Result<Vec<_>>>()?, None)
        }
    };
    insert_mipmap(context, descriptor, arrays, region)
}

fn insert_mipmap(
    context: &Context,
    descriptor: Descriptor,
    arrays: Vec<Arc<Array>>,
    region: Option<Region>,
) -> Result<Handle> {
    let levels = arrays.len() as u32;
    let handles: Result<Vec<Handle>> = arrays.into_iter().map(insert).collect();
    let (context, device) = (context.id(), context.device.ordinal);
    let mipmap = Mipmap { levels: handles?, context, device, region };
    let handle = MIPMAPS.insert(Arc::new(mipmap)).ok_or(Error::OutOfMemory)?;
    if let Some(show) = SHOW.get() {
        (show.mipmap)(handle, &descriptor, levels);
    }
    Ok(handle)
}

/// Bytes of the levels of a mipmap in another interface's memory, which has them one after another, without
/// gaps.
///
/// # Errors
/// [`Error::InvalidValue`]: no such shape, or it cannot have this many levels.
pub fn external_size(descriptor: Descriptor, levels: u32) -> Result<u64> {
    let format = descriptor.check()?;
    let video = descriptor.flags & flag::VIDEO != 0;
    if video || descriptor.is_mapped_later() || !(1..=descriptor.most_levels()).contains(&levels) {
        return Err(Error::InvalidValue);
    }
    Ok((0..levels).map(|level| packed(&descriptor.level(level), format).0.iter().product::<u64>()).sum())
}

/// Creates a mipmap of [`external_size`] bytes in another interface's memory.
///
/// # Errors
/// As for [`external_size`].
pub(crate) fn create_external(
    context: &Context,
    descriptor: Descriptor,
    levels: u32,
    (mapping, offset): (Mapping, u64),
) -> Result<Handle> {
    let format = descriptor.check()?;
    let mut base = mapping.start() + offset;
    let mapping = Arc::new(mapping);
    let each = (0..levels).map(|level| {
        let memory = Memory::External(Arc::clone(&mapping));
        let mut array = Array::at(context, descriptor.level(level), format, base, memory);
        base += array.size();
        array.role = Role::Level;
        Arc::new(array)
    });
    let arrays = each.collect();
    insert_mipmap(context, descriptor, arrays, None)
}

/// The array of a mipmap level.
pub fn level(mipmap: Handle, level: u32) -> Result<Handle> {
    let mipmap = self::mipmap(mipmap)?;
    mipmap.levels.get(level as usize).copied().ok_or(Error::InvalidValue)
}

/// Destroys a mipmap and its levels.
pub fn destroy_mipmap(handle: Handle) -> Result<()> {
    let mipmap = MIPMAPS.remove(handle).ok_or(Error::InvalidHandle)?;
    for level in &mipmap.levels {
        ARRAYS.remove(*level);
    }
    Ok(())
}

/// Frees the arrays of a destroyed context.
pub(super) fn context_ended(id: u64) {
    MIPMAPS.remove_where(|m| m.context == id);
    ARRAYS.remove_where(|a| a.context == id);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(width: u64, height: u64, depth: u64, flags: u32) -> Descriptor {
        Descriptor { width, height, depth, format: 0x20, channels: 2, flags }
    }

    #[test]
    fn shapes_are_bounded_by_their_kind() {
        let fits = |s: Descriptor| s.check().map(Format::element);
        assert_eq!(fits(shape(131_072, 0, 0, 0)), Ok(8));
        assert_eq!(shape(131_073, 0, 0, 0).check(), Err(Error::InvalidValue));
        assert_eq!(shape(16_385, 1, 1, 0).check(), Err(Error::InvalidValue));
        assert_eq!(fits(shape(8, 8, 6, flag::CUBEMAP)), Ok(8));
        assert_eq!(shape(8, 8, 5, flag::CUBEMAP).check(), Err(Error::InvalidValue));
        assert_eq!(shape(8, 4, 0, flag::LAYERED).check(), Err(Error::InvalidValue));
    }

    #[test]
    fn levels_halve_but_layers_stay() {
        assert_eq!(shape(8, 4, 2, 0).level(2), shape(2, 1, 1, 0));
        assert_eq!(shape(8, 0, 0, 0).level(5), shape(1, 0, 0, 0));
        assert_eq!(shape(8, 8, 6, flag::LAYERED).level(1), shape(4, 4, 6, flag::LAYERED));
    }
}
