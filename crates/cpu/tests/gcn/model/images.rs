//! Images, from AMD's instruction set documents ("Vector memory image instructions") and the rules of
//! sampling that they refer to: texel centres at halves, weights of 256ths, the level of detail as the
//! logarithm of the longest derivative in texels. Written for numbers that make most steps exact, apart from
//! the texture unit.

/// The shapes of the images here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    D1,
    D2,
    D3,
    /// Layers of two dimensions.
    A2,
}

impl Shape {
    /// Coordinates that have a size, and all.
    pub fn counts(self) -> (usize, usize) {
        match self {
            Shape::D1 => (1, 1),
            Shape::D2 => (2, 2),
            Shape::D3 => (3, 3),
            Shape::A2 => (2, 3),
        }
    }

    /// The name of the dimension in assembly.
    pub fn dim(self) -> &'static str {
        match self {
            Shape::D1 => "SQ_RSRC_IMG_1D",
            Shape::D2 => "SQ_RSRC_IMG_2D",
            Shape::D3 => "SQ_RSRC_IMG_3D",
            Shape::A2 => "SQ_RSRC_IMG_2D_ARRAY",
        }
    }
}

/// An image of one float for each texel, and how it is sampled.
#[derive(Clone, Copy, Debug)]
pub struct Image {
    pub shape: Shape,
    /// Powers of two; the third is the number of layers of an array.
    pub size: [u32; 3],
    pub levels: u32,
    pub linear: bool,
    /// Whether two levels are mixed.
    pub mixes: bool,
    pub wraps: bool,
    pub bias: f32,
    pub least: f32,
    pub most: f32,
}

impl Image {
    pub fn size_of(&self, level: u32) -> [u32; 3] {
        let [w, h, d] = self.size;
        let depth = if self.shape == Shape::A2 { d } else { (d >> level).max(1) };
        [(w >> level).max(1), (h >> level).max(1), depth]
    }

    /// The value of a texel.
    pub fn texel(&self, level: u32, [x, y, z]: [u32; 3]) -> f32 {
        ((level * 31 + x * 5 + y * 17 + z * 41) % 97) as f32
    }
}

/// What a lane holds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lane {
    pub offsets: [i32; 3],
    pub bias: f32,
    pub reference: f32,
    pub across: [f32; 3],
    pub down: [f32; 3],
    pub at: [f32; 3],
    pub level: f32,
    pub least: f32,
    /// Integer coordinates, and a level of them.
    pub place: [u32; 4],
}

/// What an instruction's name says.
#[derive(Clone, Debug)]
pub struct Operation {
    pub name: String,
    pub gathers: bool,
    pub compares: bool,
    pub biased: bool,
    pub bounded: bool,
    pub offset: bool,
    pub detail: Detail,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    Zero,
    Given,
    Derivatives,
    Quad,
}

impl Operation {
    pub fn of_name(name: &str) -> Operation {
        let words: Vec<&str> = name.split('_').collect();
        let has = |word: &str| words.contains(&word);
        Operation {
            name: name.to_owned(),
            gathers: name.contains("gather4"),
            compares: has("c"),
            biased: has("b"),
            bounded: has("cl"),
            offset: has("o"),
            detail: match () {
                () if has("lz") => Detail::Zero,
                () if has("l") => Detail::Given,
                () if has("d") || has("cd") => Detail::Derivatives,
                () => Detail::Quad,
            },
        }
    }
}

/// Comparisons by their numbers in a sampler.
pub fn compares(function: u32, reference: f32, texel: f32) -> bool {
    match function {
        1 => reference < texel,
        2 => reference == texel,
        3 => reference <= texel,
        4 => reference > texel,
        5 => reference != texel,
        6 => reference >= texel,
        7 => true,
        _ => false,
    }
}

/// The level of detail that a lane's coordinates ask for; `quad` are its quad's lanes.
pub fn detail(image: &Image, operation: &Operation, lane: &Lane, quad: &[Lane]) -> f64 {
    let (axes, _) = image.shape.counts();
    let more = f64::from(image.bias) + if operation.biased { f64::from(lane.bias) } else { 0.0 };
    let derivatives = match operation.detail {
        Detail::Zero => return 0.0,
        Detail::Given => return f64::from(lane.level) + more,
        Detail::Derivatives => [lane.across, lane.down],
        Detail::Quad => [1, 2].map(|k| std::array::from_fn(|i| quad[k].at[i] - quad[0].at[i])),
    };
    let length = |d: [f32; 3]| {
        let squares = (0..axes).map(|k| (f64::from(d[k]) * f64::from(image.size[k])).powi(2));
        squares.sum::<f64>().sqrt()
    };
    let [across, down] = derivatives.map(length);
    across.max(down).log2() + more
}

/// The same within the bounds of the sampler, the instruction and the image.
pub fn within(image: &Image, operation: &Operation, lane: &Lane, detail: f64) -> f64 {
    let mut level = detail.min(image.most.into()).max(image.least.into());
    if operation.bounded {
        level = level.max(lane.least.into());
    }
    level.clamp(0.0, f64::from(image.levels - 1))
}

/// The texels of an axis and their weights.
fn axis(image: &Image, at: f32, size: u32, offset: i32, linear: bool) -> Vec<(u32, f64)> {
    let place = f64::from(at) * f64::from(size) + f64::from(offset);
    let texel = |index: f64| {
        let index = index as i64;
        match image.wraps {
            true => index.rem_euclid(size.into()) as u32,
            false => index.clamp(0, i64::from(size) - 1) as u32,
        }
    };
    if !linear {
        return vec![(texel(place.floor()), 1.0)];
    }
    let low = (place - 0.5).floor();
    let upper = place - 0.5 - low;
    vec![(texel(low), 1.0 - upper), (texel(low + 1.0), upper)]
}

fn axes(image: &Image, operation: &Operation, lane: &Lane, level: u32, linear: bool) -> [Vec<(u32, f64)>; 3] {
    let (count, all) = image.shape.counts();
    let size = image.size_of(level);
    std::array::from_fn(|k| match k {
        _ if k < count => {
            axis(image, lane.at[k], size[k], if operation.offset { lane.offsets[k] } else { 0 }, linear)
        }
        2 if k < all => vec![(lane.at[2].round().clamp(0.0, (size[2] - 1) as f32) as u32, 1.0)],
        _ => vec![(0, 1.0)],
    })
}

/// A texel, or whether the comparison with it holds.
fn read(image: &Image, operation: &Operation, lane: &Lane, function: u32, level: u32, at: [u32; 3]) -> f64 {
    let texel = image.texel(level, at);
    match operation.compares {
        true => f64::from(u8::from(compares(function, lane.reference, texel))),
        false => texel.into(),
    }
}

/// One level's sample.
fn of_level(image: &Image, operation: &Operation, lane: &Lane, function: u32, level: u32) -> f64 {
    let [x, y, z] = axes(image, operation, lane, level, image.linear);
    let mut sum = 0.0;
    for (x, a) in &x {
        for (y, b) in &y {
            for (z, c) in &z {
                sum += a * b * c * read(image, operation, lane, function, level, [*x, *y, *z]);
            }
        }
    }
    sum
}

/// What a sample gives at a level within the bounds.
pub fn sample(image: &Image, operation: &Operation, lane: &Lane, function: u32, level: f64) -> f64 {
    let of = |level: f64| of_level(image, operation, lane, function, level as u32);
    if !image.mixes {
        return of((level + 0.5).floor().min(f64::from(image.levels - 1)));
    }
    let share = level - level.floor();
    let upper = if share > 0.0 { of(level.floor() + 1.0) } else { 0.0 };
    of(level.floor()) * (1.0 - share) + upper * share
}

/// The four texels of a gather: from the lower left on, against the clock.
pub fn gather(image: &Image, operation: &Operation, lane: &Lane, function: u32, level: f64) -> [f64; 4] {
    let level = (level + 0.5).floor().min(f64::from(image.levels - 1)) as u32;
    let [x, y, z] = axes(image, operation, lane, level, true);
    [[0, 1], [1, 1], [1, 0], [0, 0]]
        .map(|[i, j]: [usize; 2]| read(image, operation, lane, function, level, [x[i].0, y[j].0, z[0].0]))
}

/// A texel by integer coordinates; nothing outside.
pub fn load(image: &Image, lane: &Lane, with_level: bool) -> Option<f32> {
    let (_, all) = image.shape.counts();
    let level = if with_level { lane.place[3] } else { 0 };
    if level >= image.levels {
        return None;
    }
    let size = image.size_of(level);
    let at: [u32; 3] = std::array::from_fn(|k| if k < all { lane.place[k] } else { 0 });
    (0..all).all(|k| at[k] < size[k]).then(|| image.texel(level, at))
}
