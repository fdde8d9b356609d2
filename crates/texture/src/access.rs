//! Descriptions of texture and surface instructions.

use names::names;

names! {
/// The operation.
#[derive(Default)]
pub enum Operation {
    /// `tex`.
    #[default]
    Fetch = "tex",
    /// `tld4`: one channel of the four texels that a linear filter would mix.
    Gather = "tld4",
    /// `txq`.
    QueryTexture = "txq",
    /// `suq`.
    QuerySurface = "suq",
    /// `suld.b`.
    Load = "suld",
    /// `sust.b`.
    Store = "sust",
    /// `sust.p`: converts the values to the surface's format.
    StoreFormatted = "sust_p",
    /// `sured`.
    Reduce = "sured",
    /// AMD's `image_sample`.
    ImageSample = "image_sample",
    /// AMD's `image_gather4`.
    ImageGather = "image_gather",
    /// AMD's `image_load`: a texel by integer coordinates, of a texture or a surface.
    ImageLoad = "image_load",
    /// AMD's `image_store`.
    ImageStore = "image_store",
    /// The address of a texel, for AMD's `image_atomic`; 0 outside.
    ImageAddress = "image_address",
    /// AMD's `image_get_resinfo`.
    ImageSize = "image_size",
    /// AMD's `image_get_lod`: the level that a sample would read, and the one before it is bounded.
    ImageLevel = "image_level",
    /// Converts the words of an element of a typed buffer to four channels. The handle is the format
    /// ([`crate::typed`]).
    Unpack = "unpack",
    /// Converts four channels to the words of an element of a typed buffer.
    Pack = "pack",
}}

impl Operation {
    /// Whether it is an instruction of AMD, whose handle is the lower half of the first operand. The upper
    /// half is not 0; lanes whose whole operand is 0 do nothing.
    pub const fn is_image(self) -> bool {
        matches!(
            self,
            Operation::ImageSample
                | Operation::ImageGather
                | Operation::ImageLoad
                | Operation::ImageStore
                | Operation::ImageAddress
                | Operation::ImageSize
                | Operation::ImageLevel
        )
    }

    /// Whether it converts between registers and memory's format, without an object.
    pub const fn converts(self) -> bool {
        matches!(self, Operation::Unpack | Operation::Pack)
    }

    /// Whether it accesses a surface rather than a texture.
    pub const fn is_surface(self) -> bool {
        matches!(
            self,
            Operation::QuerySurface
                | Operation::Load
                | Operation::Store
                | Operation::StoreFormatted
                | Operation::Reduce
        )
    }
}

names! {
/// The geometry that the coordinates belong to.
#[derive(Default)]
pub enum Geometry {
    /// One coordinate.
    #[default]
    D1 = "1d",
    /// Two coordinates.
    D2 = "2d",
    /// Three coordinates.
    D3 = "3d",
    /// A layer and one coordinate.
    A1 = "a1d",
    /// A layer and two coordinates.
    A2 = "a2d",
    /// A direction.
    Cube = "cube",
    /// A layer and a direction.
    ACube = "acube",
    /// That of the object (AMD's instructions before gfx10 do not say).
    Own = "own",
}}

impl Geometry {
    /// Number of coordinates, without the layer.
    pub const fn coordinates(self) -> usize {
        match self {
            Geometry::D1 | Geometry::A1 => 1,
            Geometry::D2 | Geometry::A2 => 2,
            Geometry::D3 | Geometry::Cube | Geometry::ACube | Geometry::Own => 3,
        }
    }

    /// Whether the first coordinate is a layer.
    pub const fn layered(self) -> bool {
        matches!(self, Geometry::A1 | Geometry::A2 | Geometry::ACube)
    }

    /// Whether the coordinates are a direction.
    pub const fn cube(self) -> bool {
        matches!(self, Geometry::Cube | Geometry::ACube)
    }
}

names! {
/// The mipmap level that is read.
#[derive(Default)]
pub enum Level {
    /// The first level.
    #[default]
    Base = "base",
    /// Given by an operand.
    Level = "level",
    /// Determined by the derivatives of the coordinates.
    Gradient = "grad",
    /// The same (AMD's instructions), with three derivatives for each direction whatever the geometry: the
    /// differences between the lanes of a quad.
    Quad = "quad",
}}

names! {
/// The effect of a surface access that is out of bounds.
#[derive(Default)]
pub enum Clamp {
    /// Stops the kernel.
    #[default]
    Trap = "trap",
    /// Accesses the nearest element inside.
    Clamp = "clamp",
    /// Loads read zero, stores have no effect.
    Zero = "zero",
}}

names! {
/// The operation of `sured`.
#[derive(Default)]
pub enum Reduction {
    /// Sum.
    #[default]
    Add = "add",
    /// Minimum.
    Min = "min",
    /// Maximum.
    Max = "max",
    /// Bitwise and.
    And = "and",
    /// Bitwise or.
    Or = "or",
}}

names! {
/// The queried attribute.
#[derive(Default)]
pub enum Query {
    /// Number of elements per row.
    #[default]
    Width = "width",
    /// Number of rows.
    Height = "height",
    /// Number of slices.
    Depth = "depth",
    /// The data type of a channel.
    DataType = "channel_data_type",
    /// The order of channels.
    Order = "channel_order",
    /// Whether coordinates are normalised.
    Normalized = "normalized_coords",
    /// Number of layers.
    Layers = "array_size",
    /// Number of levels.
    Levels = "num_mipmap_levels",
    /// Number of samples.
    Samples = "num_samples",
    /// The memory layout.
    Layout = "memory_layout",
    /// The filter mode.
    Filter = "filter_mode",
    /// The address mode in x.
    Address0 = "addr_mode_0",
    /// The address mode in y.
    Address1 = "addr_mode_1",
    /// The address mode in z.
    Address2 = "addr_mode_2",
}}

/// A texture or surface access without its operands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Access {
    /// The operation.
    pub operation: Operation,
    /// The geometry.
    pub geometry: Geometry,
    /// Whether coordinates are integers (textures only; a surface's always are).
    pub integers: bool,
    /// The level (textures only). For a query, [`Level::Level`] means that an operand gives it.
    pub level: Level,
    /// Whether results are pairs of f16. Of AMD's instructions: whether data has 16 bits for each channel.
    pub halves: bool,
    /// Whether offsets in texels follow, one per coordinate.
    pub offsets: bool,
    /// The effect of an out-of-bounds access (surfaces only).
    pub clamp: Clamp,
    /// Width in bits of a surface access's elements, as a power of two: 3 to 6.
    pub width: u8,
    /// Number of elements of a surface access, as a power of two: 0 to 2.
    pub count: u8,
    /// The channel of a gather: 0 to 3.
    pub channel: u8,
    /// The operation of `sured`.
    pub reduction: Reduction,
    /// Whether `sured` operates on signed numbers.
    pub signed: bool,
    /// Whether the x of a surface access counts elements instead of bytes.
    pub elements: bool,
    /// The queried attribute.
    pub query: Query,
    /// What AMD's instructions say besides.
    pub image: Image,
}

/// What AMD's image instructions say besides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Image {
    /// Whether texels are compared with a reference, which is an operand. The comparison's number, as in a
    /// sampler's descriptor, is the first operand after the handle.
    pub compare: bool,
    /// Whether a bias of the level is an operand.
    pub bias: bool,
    /// Whether a lower bound of the level is an operand.
    pub least: bool,
    /// Whether coordinates are texels, whatever the sampler says.
    pub texels: bool,
    /// Whether a load or a store moves memory's words without converting them.
    pub raw: bool,
    /// Whether such a load extends the sign of what is shorter than a word.
    pub signed: bool,
}

/// Maps the fields that all accesses have to bits of the access's number, the highest first.
macro_rules! fields {
    ($do:ident, $a:ident) => {
        $do!($a, 5, Operation, operation);
        $do!($a, 3, Geometry, geometry);
        $do!($a, 1, bool, integers);
        $do!($a, 2, Level, level);
        $do!($a, 1, bool, halves);
        $do!($a, 1, bool, offsets);
        $do!($a, 2, u8, channel);
    };
}

/// The same for the fields of one kind of operations, which share the lowest bits.
macro_rules! own_fields {
    ($do:ident, $a:ident) => {
        if $a.operation.is_image() {
            $do!($a, 1, bool, image.compare);
            $do!($a, 1, bool, image.bias);
            $do!($a, 1, bool, image.least);
            $do!($a, 1, bool, image.texels);
            $do!($a, 1, bool, image.raw);
            $do!($a, 1, bool, image.signed);
        } else if matches!($a.operation, Operation::QueryTexture | Operation::QuerySurface) {
            $do!($a, 4, Query, query);
        } else {
            $do!($a, 2, Clamp, clamp);
            $do!($a, 3, u8, width);
            $do!($a, 2, u8, count);
            $do!($a, 3, Reduction, reduction);
            $do!($a, 1, bool, signed);
            $do!($a, 1, bool, elements);
        }
    };
}

/// Bits of the fields that all accesses have, and of the others.
const SHARED: u32 = 15;
const OWN: u32 = 12;

impl Access {
    /// The access as a number below 2²⁷. Fields that the operation does not use are left out.
    pub fn number(self) -> u32 {
        let mut left = SHARED + OWN;
        let mut number = 0u32;
        macro_rules! put {
            ($a:ident, $bits:literal, $t:ty, $($f:ident).+) => {
                left -= $bits;
                number |= ($a.$($f).+ as u32 & ((1 << $bits) - 1)) << left;
            };
        }
        let a = self;
        fields!(put, a);
        own_fields!(put, a);
        number
    }

    /// The access with this number; `None` if there is none.
    pub fn of_number(number: u32) -> Option<Access> {
        let mut a = Access::default();
        let mut left = SHARED + OWN;
        macro_rules! take {
            ($a:ident, $bits:literal, u8, $($f:ident).+) => {
                left -= $bits;
                $a.$($f).+ = (number >> left & ((1 << $bits) - 1)) as u8;
            };
            ($a:ident, $bits:literal, bool, $($f:ident).+) => {
                left -= $bits;
                $a.$($f).+ = number >> left & 1 != 0;
            };
            ($a:ident, $bits:literal, $t:ident, $($f:ident).+) => {
                left -= $bits;
                $a.$($f).+ = *$t::ALL.get((number >> left & ((1 << $bits) - 1)) as usize)?;
            };
        }
        fields!(take, a);
        own_fields!(take, a);
        (number & ((1 << left) - 1) == 0 && number >> (SHARED + OWN) == 0).then_some(a)
    }

    /// The width in bits of each operand, the handle first.
    pub fn operands(self) -> Vec<u32> {
        use Operation as O;
        let (layer, coordinates) = (usize::from(self.geometry.layered()), self.geometry.coordinates());
        let mut bits = vec![64];
        let mut words = |n: usize| bits.extend(std::iter::repeat_n(32, n));
        match self.operation {
            O::Fetch | O::Gather => {
                words(layer + coordinates);
                words(match self.level {
                    Level::Base => 0,
                    Level::Level => 1,
                    Level::Gradient | Level::Quad => 2 * coordinates,
                });
                words(if self.offsets { coordinates } else { 0 });
            }
            O::QueryTexture | O::QuerySurface => words(usize::from(self.level == Level::Level)),
            O::Load => words(layer + coordinates),
            O::Store | O::StoreFormatted | O::Reduce => {
                words(layer + coordinates);
                bits.extend(self.elements_bits());
            }
            // As many as any geometry has; AMD's instructions list them without gaps. The comparison, a word
            // of offsets, the bias, the reference, the derivatives, the coordinates, the level or its lower
            // bound; and what is stored.
            O::ImageSample
            | O::ImageGather
            | O::ImageLevel
            | O::ImageLoad
            | O::ImageStore
            | O::ImageAddress => {
                words(self.leading());
                words(if matches!(self.level, Level::Gradient | Level::Quad) { 6 } else { 0 });
                words(3 + usize::from(self.level == Level::Level || self.image.least));
                words(if self.operation == O::ImageStore { 4 } else { 0 });
            }
            O::ImageSize => words(1),
            O::Unpack | O::Pack => words(4),
        }
        bits
    }

    /// Words before the derivatives or coordinates of one of AMD's instructions.
    pub fn leading(self) -> usize {
        let Image { compare, bias, .. } = self.image;
        2 * usize::from(compare) + usize::from(bias) + usize::from(self.offsets)
    }

    /// The width in bits of each result.
    pub fn results(self) -> Vec<u32> {
        use Operation as O;
        match self.operation {
            O::Fetch if self.halves => vec![32; 2],
            O::Fetch | O::Gather => vec![32; 4],
            O::QueryTexture | O::QuerySurface => vec![32],
            O::Load => self.elements_bits(),
            O::Store | O::StoreFormatted | O::Reduce | O::ImageStore => vec![],
            O::ImageSample | O::ImageGather | O::ImageLoad | O::ImageSize | O::Unpack | O::Pack => {
                vec![32; 4]
            }
            O::ImageLevel => vec![32; 2],
            O::ImageAddress => vec![64],
        }
    }

    fn elements_bits(self) -> Vec<u32> {
        vec![1 << self.width.clamp(3, 6); 1 << self.count.min(2)]
    }

    /// The spelling, word by word; [`Access::of_name`] parses it.
    pub fn name(self) -> String {
        use Operation as O;
        let mut words = vec![self.operation.name().to_owned()];
        match self.operation {
            O::Fetch | O::Gather => {
                words.push(self.geometry.name().into());
                words.push(if self.integers { "s32" } else { "f32" }.into());
                words.push(self.level.name().into());
                words.extend((self.operation == O::Gather).then(|| format!("c{}", self.channel & 3)));
                words.extend(self.halves.then(|| "f16x2".into()));
                words.extend(self.offsets.then(|| "offset".into()));
            }
            O::QueryTexture | O::QuerySurface => {
                words.push(self.query.name().into());
                words.extend((self.level == Level::Level).then(|| "level".into()));
            }
            O::Load | O::Store | O::StoreFormatted | O::Reduce => {
                words.push(self.geometry.name().into());
                let (bits, count) = (1u32 << self.width.clamp(3, 6), 1u32 << self.count.min(2));
                words.push(format!("b{bits}x{count}"));
                words.push(self.clamp.name().into());
                if self.operation == O::Reduce {
                    words.push(self.reduction.name().into());
                    words.extend(self.signed.then(|| "signed".into()));
                    words.extend(self.elements.then(|| "elements".into()));
                }
            }
            O::ImageSample
            | O::ImageGather
            | O::ImageLevel
            | O::ImageLoad
            | O::ImageStore
            | O::ImageAddress => {
                words.push(self.geometry.name().into());
                words.push(self.level.name().into());
                words.extend((self.operation == O::ImageGather).then(|| format!("c{}", self.channel & 3)));
                words.extend(self.halves.then(|| "f16x2".into()));
                words.extend(self.offsets.then(|| "offset".into()));
                let Image { compare, bias, least, texels, raw, signed } = self.image;
                let all = [
                    (compare, "compare"),
                    (bias, "bias"),
                    (least, "least"),
                    (texels, "texels"),
                    (raw, "raw"),
                    (signed, "signed"),
                ];
                words.extend(all.iter().filter(|(is, _)| *is).map(|(_, word)| (*word).to_owned()));
            }
            O::ImageSize => {}
            O::Unpack | O::Pack => words.extend(self.halves.then(|| "f16x2".into())),
        }
        words.join(".")
    }

    /// The access with this spelling.
    pub fn of_name(name: &str) -> Option<Access> {
        use Operation as O;
        fn one<T: Copy>(all: &[T], name: impl Fn(T) -> &'static str, word: &str) -> Option<T> {
            all.iter().copied().find(|&t| name(t) == word)
        }
        let mut words = name.split('.');
        let operation = one(O::ALL, O::name, words.next()?)?;
        let mut a = Access { operation, ..Access::default() };
        match operation {
            O::Fetch | O::Gather => {
                a.geometry = one(Geometry::ALL, Geometry::name, words.next()?)?;
                a.integers = words.next()? == "s32";
                a.level = one(Level::ALL, Level::name, words.next()?)?;
                if operation == O::Gather {
                    a.channel = words.next()?.strip_prefix('c')?.parse().ok()?;
                }
            }
            O::QueryTexture | O::QuerySurface => {
                a.query = one(Query::ALL, Query::name, words.next()?)?;
            }
            O::Load | O::Store | O::StoreFormatted | O::Reduce => {
                a.geometry = one(Geometry::ALL, Geometry::name, words.next()?)?;
                let (bits, count) = words.next()?.strip_prefix('b')?.split_once('x')?;
                a.width = bits.parse::<u32>().ok()?.checked_ilog2()? as u8;
                a.count = count.parse::<u32>().ok()?.checked_ilog2()? as u8;
                a.clamp = one(Clamp::ALL, Clamp::name, words.next()?)?;
                if operation == O::Reduce {
                    a.reduction = one(Reduction::ALL, Reduction::name, words.next()?)?;
                }
                a.elements = operation == O::StoreFormatted;
            }
            O::ImageSample
            | O::ImageGather
            | O::ImageLevel
            | O::ImageLoad
            | O::ImageStore
            | O::ImageAddress => {
                a.geometry = one(Geometry::ALL, Geometry::name, words.next()?)?;
                a.level = one(Level::ALL, Level::name, words.next()?)?;
                if operation == O::ImageGather {
                    a.channel = words.next()?.strip_prefix('c')?.parse().ok()?;
                }
            }
            O::ImageSize | O::Unpack | O::Pack => {}
        }
        for word in words {
            match word {
                "f16x2" => a.halves = true,
                "offset" => a.offsets = true,
                "level" => a.level = Level::Level,
                "compare" => a.image.compare = true,
                "bias" => a.image.bias = true,
                "least" => a.image.least = true,
                "texels" => a.image.texels = true,
                "raw" => a.image.raw = true,
                "signed" if operation.is_image() => a.image.signed = true,
                "signed" => a.signed = true,
                "elements" => a.elements = true,
                _ => return None,
            }
        }
        (a.name() == name).then_some(a)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_lead_back() {
        let names = [
            "tex.2d.f32.base",
            "tex.acube.f32.grad.f16x2.offset",
            "tld4.2d.f32.base.c3.offset",
            "txq.width.level",
            "suq.channel_order",
            "suld.a2d.b16x4.zero",
            "sust.3d.b64x2.trap",
            "sust_p.2d.b32x4.clamp",
            "sured.1d.b64x1.zero.max.signed.elements",
            "image_sample.own.grad.f16x2.offset",
            "image_gather.2d.base.c2",
            "image_store.a2d.level",
            "image_sample.3d.quad.offset.compare.bias.least.texels",
            "image_load.2d.base.raw.signed",
            "image_level.own.quad",
            "image_address.3d.base",
            "image_size",
            "unpack.f16x2",
        ];
        for name in names {
            let access = Access::of_name(name).unwrap_or_else(|| panic!("{name}"));
            assert_eq!(access.name(), name);
            assert_eq!(Access::of_number(access.number()), Some(access), "{name}");
        }
        assert_eq!(Access::of_name("tex.5d.f32.base"), None);
        assert_eq!(Access::of_number(u32::MAX), None);
    }

    #[test]
    fn operands_follow_the_handle() {
        let a = Access::of_name("tex.a2d.f32.grad.offset").expect("an access");
        assert_eq!(a.operands(), [vec![64], vec![32; 3 + 4 + 2]].concat());
        let s = Access::of_name("sust.3d.b64x2.trap").expect("an access");
        assert_eq!((s.operands(), s.results()), (vec![64, 32, 32, 32, 64, 64], vec![]));
        let i = Access::of_name("image_store.own.level").expect("an access");
        assert_eq!((i.operands(), i.results()), ([vec![64], vec![32; 4 + 4]].concat(), vec![]));
    }
}
