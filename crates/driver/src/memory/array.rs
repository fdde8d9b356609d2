//! Arrays: images of one to three dimensions in a layout private to the driver.
//!
//! Rows are stored one after another without gaps, and so are slices (or layers).

use std::sync::{Arc, OnceLock};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::handle::{Handle, Pointers};

use super::{format, give_back, planar, space, take};
use texture::descriptor::{Code, Format};

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

    fn check(&self) -> Result<Format> {
        self.check_shape()?;
        let format = format::format(self.format, self.channels)?;
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
        let faces =
            if self.flags & flag::LAYERED == 0 { self.depth == 6 } else { self.depth.is_multiple_of(6) };
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
        if self.flags & (flag::SPARSE | flag::DEFERRED_MAPPING) != 0 {
            return Err(Error::NotSupported);
        }
        Ok(())
    }

    /// The descriptor of a mipmap level: each level halves every dimension, down to 1.
    fn level(mut self, level: u32) -> Self {
        let half = |n: u64| if n == 0 { 0 } else { (n >> level.min(63)).max(1) };
        (self.width, self.height) = (half(self.width), half(self.height));
        if self.flags & (flag::LAYERED | flag::CUBEMAP) == 0 {
            self.depth = half(self.depth);
        }
        self
    }
}

/// An array.
#[derive(Debug)]
pub struct Array {
    /// The descriptor.
    pub descriptor: Descriptor,
    /// The address of its first byte.
    pub base: u64,
    /// Bytes per row, rows per slice, slices. In a compressed format: bytes per row of blocks, rows of blocks
    /// per slice.
    pub extent: [u64; 3],
    context: u64,
    device: u32,
    /// Bytes per block of a compressed format. Copies begin and end at block boundaries.
    pub block: Option<u64>,
    /// The arrays of its planes if it has several; it then has no memory of its own.
    planes: Vec<Handle>,
    /// It is a level of a mipmap or a plane of an array.
    level: bool,
}

impl Array {
    /// The total size in bytes.
    pub fn size(&self) -> u64 {
        self.extent.iter().fold(1, |product, n| n.saturating_mul(product))
    }

    fn make(context: &Context, descriptor: Descriptor, level: bool) -> Result<Arc<Array>> {
        let format = descriptor.check()?;
        let side = u64::from(format.side());
        let (row, rows) = (descriptor.width.div_ceil(side), descriptor.height.max(1).div_ceil(side));
        let extent = [row * format.element(), rows, descriptor.depth.max(1)];
        let block = matches!(format.code, Code::Block(_)).then_some(format.element());
        Array::alloc(context, descriptor, extent, block, level)
    }

    fn alloc(
        context: &Context,
        descriptor: Descriptor,
        extent: [u64; 3],
        block: Option<u64>,
        level: bool,
    ) -> Result<Arc<Array>> {
        let size = extent[0] * extent[1] * extent[2];
        take(&context.device, size)?;
        let device = context.device.ordinal;
        let Some(base) = space::alloc(size, space::For::Process) else {
            give_back(device, size);
            return Err(Error::OutOfMemory);
        };
        let (context, planes) = (context.id(), Vec::new());
        Ok(Arc::new(Array { descriptor, base, extent, context, device, block, planes, level }))
    }
}

impl Drop for Array {
    fn drop(&mut self) {
        if self.base != 0 {
            space::free(self.base);
        }
        give_back(self.device, self.size());
    }
}

/// A mipmapped array: levels, each half the size of the one before.
pub struct Mipmap {
    levels: Vec<Handle>,
    context: u64,
}

impl Mipmap {
    /// The arrays of the levels, the largest first.
    pub fn arrays(&self) -> Result<Vec<Arc<Array>>> {
        self.levels.iter().map(|&level| get(level)).collect()
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
    let Some(planes) = planar::planes(&descriptor)? else {
        return insert(Array::make(context, descriptor, false)?);
    };
    descriptor.check_shape()?;
    let planes: Result<Vec<_>> = planes.into_iter().map(|p| Array::make(context, p, true)).collect();
    let planes = planes?.into_iter().map(insert).collect::<Result<Vec<_>>>()?;
    let whole = Array {
        descriptor,
        base: 0,
        extent: [0; 3],
        context: context.id(),
        device: context.device.ordinal,
        block: None,
        planes,
        level: false,
    };
    insert(Arc::new(whole))
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
    if get(handle)?.level {
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
    descriptor.check()?;
    if descriptor.width > WIDEST_MIPMAP {
        return Err(Error::InvalidValue);
    }
    let largest = descriptor.width.max(descriptor.height).max(descriptor.depth);
    let levels = levels.clamp(1, largest.ilog2() + 1);
    let arrays: Result<Vec<_>> =
        (0..levels).map(|level| Array::make(context, descriptor.level(level), true)).collect();
    let handles: Result<Vec<Handle>> = arrays?.into_iter().map(insert).collect();
    let mipmap = Mipmap { levels: handles?, context: context.id() };
    let handle = MIPMAPS.insert(Arc::new(mipmap)).ok_or(Error::OutOfMemory)?;
    if let Some(show) = SHOW.get() {
        (show.mipmap)(handle, &descriptor, levels);
    }
    Ok(handle)
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
