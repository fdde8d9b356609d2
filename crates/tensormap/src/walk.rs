//! The rows that a copy through a tensor map touches.

use std::ops::Range;

use crate::map::{Interleave, Map, Shape, Swizzle};

/// A row of the box: adjacent elements in the innermost dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its offset in the box in shared memory, in bytes.
    pub at: u64,
    /// Its size in bytes.
    pub bytes: u64,
    /// Bytes before those that are inside the tensor.
    pub skip: u64,
    /// Bytes that are inside the tensor.
    pub inside: u64,
    /// The address of those bytes in global memory.
    pub address: u64,
}

/// The part of the tensor that a copy touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// The box at these coordinates.
    Tile(&'a [i32]),
    /// Pixels from these coordinates on, each displaced by these offsets.
    Im2col(&'a [i32], &'a [u32]),
    /// im2col::w pixels from these coordinates on.
    Wide(&'a [i32], Wide),
    /// Four rows of a matrix: the column, then the index of each row.
    Rows(&'a [i32]),
}

/// How im2col::w pixels are read (PTX ISA 5.5.5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wide {
    /// Number of pixels after the last one.
    pub halo: u32,
    /// Displacement of the bounding box and of the first pixel.
    pub offset: u32,
    /// Whether it is 128 pixels with a halo after each 32. The halos follow the pixels: the first pixel of
    /// each halo, then the second of each, and so on.
    pub quarters: bool,
}

/// Why an instruction does not match the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// The map and the instruction have different ranks.
    Rank,
    /// The map is for the other mode.
    Mode,
    /// im2col::w pixels must be swizzled and not interleaved.
    Layout,
    /// The innermost coordinate is not a multiple of 16 bytes.
    Misaligned,
    /// A stored part begins before the tensor.
    Negative,
    /// The first pixel is outside the bounding box, or the bounding box of a store is not the whole image.
    Outside,
}

impl std::fmt::Display for Mismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Mismatch::Rank => "the tensor map has a different rank",
            Mismatch::Mode => "the tensor map is for a different mode",
            Mismatch::Layout => "im2col::w pixels must be swizzled and not interleaved",
            Mismatch::Misaligned => "the first coordinate is not a multiple of 16 bytes",
            Mismatch::Negative => "the stored part begins before the tensor",
            Mismatch::Outside => "the first pixel is outside the bounding box, or the bounding box of a store is not the whole image",
        })
    }
}

impl std::error::Error for Mismatch {}

impl Row {
    /// The row as a store sees it: stores write whole units of 16 bytes, including the padding behind the
    /// tensor's end.
    pub fn stored(self) -> Row {
        let inside = (self.skip + self.inside).next_multiple_of(16).min(self.bytes) - self.skip;
        Row { inside: if self.inside == 0 { 0 } else { inside }, ..self }
    }
}

impl Map {
    /// The row at offset `at` in the box, whose first element has the coordinates `place`, innermost first.
    fn row(&self, at: u64, place: &[i64; 5]) -> Row {
        let size = self.unit();
        let count = i64::from(self.row_units());
        let bytes = count as u64 * size;
        let outside = (1..self.rank).any(|d| place[d] < 0 || place[d] as u64 >= self.dims[d]);
        let first = place[0].clamp(0, self.dims[0] as i64);
        let end = place[0].saturating_add(count).clamp(first, self.dims[0] as i64);
        if outside || end == first {
            return Row { at, bytes, skip: 0, inside: 0, address: 0 };
        }
        let far = (1..self.rank)
            .fold(self.address, |a, d| a.wrapping_add((place[d] as u64).wrapping_mul(self.strides[d - 1])));
        Row {
            at,
            bytes,
            skip: (first - place[0]) as u64 * size,
            inside: (end - first) as u64 * size,
            address: far.wrapping_add(first as u64 * size),
        }
    }

    /// Checks the hardware's requirements on the coordinates.
    fn check_place(&self, place: &[i32], store: bool) -> Result<(), Mismatch> {
        let first = place.first().map_or(0, |&c| i64::from(c));
        if first.wrapping_mul(self.unit() as i64) % 16 != 0 {
            return Err(Mismatch::Misaligned);
        }
        if store && place.iter().any(|&c| c < 0) {
            return Err(Mismatch::Negative);
        }
        Ok(())
    }

    /// Advances to the next pixel of the bounding box; after the last one, to the next image.
    fn next_pixel(&self, pixel: &mut [i64; 5], spatial: Range<usize>, bounds: impl Fn(usize) -> [i64; 2]) {
        for d in spatial {
            pixel[d] += i64::from(self.steps[d]);
            if pixel[d] < bounds(d)[1] {
                return;
            }
            pixel[d] = bounds(d)[0];
        }
        let image = self.rank - 1;
        pixel[image] += i64::from(self.steps[image]);
    }

    /// Calls `f` with each row of a part until it returns `None`. `store`: the part is written.
    ///
    /// # Errors
    /// The map does not match the part, or the hardware refuses the coordinates.
    pub fn walk(
        &self,
        part: Part,
        store: bool,
        mut f: impl FnMut(Row) -> Option<()>,
    ) -> Result<Option<()>, Mismatch> {
        let (Part::Tile(place) | Part::Im2col(place, _) | Part::Wide(place, _) | Part::Rows(place)) = part;
        self.check_place(place, store && !matches!(part, Part::Rows(_)))?;
        let start = |place: &[i32]| -> [i64; 5] {
            std::array::from_fn(|d| place.get(d).map_or(0, |&c| i64::from(c)))
        };
        let mut at = 0;
        let mut give = |place: &[i64; 5]| {
            let row = self.row(at, place);
            at += self.pitch();
            f(row)
        };
        match (part, self.shape) {
            (Part::Tile(place), Shape::Tiled(size)) => {
                if place.len() != self.rank {
                    return Err(Mismatch::Rank);
                }
                // With interleaved channels, the second-last dimension has slices, while the box counts their
                // elements.
                let slices = if self.interleave == Interleave::None { 0 } else { self.rank - 2 };
                let per_slice = (self.unit() / self.element.bytes()) as u32;
                let counts: [u32; 5] = std::array::from_fn(|d| match d {
                    0 => 1,
                    d if d >= self.rank => 1,
                    d if d == slices => size[d].div_ceil(per_slice),
                    d => size[d].div_ceil(self.steps[d]),
                });
                let start = start(place);
                let mut index = [0u32; 5];
                loop {
                    let place =
                        std::array::from_fn(|d| start[d] + i64::from(index[d]) * i64::from(self.steps[d]));
                    if give(&place).is_none() {
                        return Ok(None);
                    }
                    // Advances to the next row; the lowest dimension counts first.
                    let Some(d) = (1..self.rank).find(|&d| index[d] + 1 < counts[d]) else { break };
                    index[d] += 1;
                    index.iter_mut().take(d).skip(1).for_each(|i| *i = 0);
                }
            }
            (Part::Rows(place), Shape::Tiled(_)) => {
                let (&[column, ref rows @ ..], 2) = (place, self.rank) else {
                    return Err(Mismatch::Rank);
                };
                for &row in rows {
                    if give(&[i64::from(column), i64::from(row), 0, 0, 0]).is_none() {
                        return Ok(None);
                    }
                }
            }
            (Part::Im2col(place, offsets), Shape::Im2col { lower, upper, pixels, wide: false, .. }) => {
                if place.len() != self.rank || offsets.len() > self.rank.saturating_sub(2) {
                    return Err(Mismatch::Rank);
                }
                // Channels come first; interleaved, their slices are the second-last dimension.
                let first = usize::from(self.interleave == Interleave::None);
                let spatial = first..first + self.rank.saturating_sub(2);
                let bounds = |d: usize| {
                    [i64::from(lower[d - first]), self.dims[d] as i64 + i64::from(upper[d - first])]
                };
                let mut pixel = start(place);
                let begins = |d: usize| (bounds(d)[0]..bounds(d)[1]).contains(&pixel[d]);
                let whole = |d: usize| bounds(d) == [0, self.dims[d] as i64];
                if !spatial.clone().all(begins) || store && !spatial.clone().all(whole) {
                    return Err(Mismatch::Outside);
                }
                for _ in 0..pixels {
                    let moved = std::array::from_fn(|d| {
                        let offset = d.checked_sub(first).and_then(|d| offsets.get(d)).copied().unwrap_or(0);
                        pixel[d] + i64::from(offset)
                    });
                    if give(&moved).is_none() {
                        return Ok(None);
                    }
                    self.next_pixel(&mut pixel, spatial.clone(), bounds);
                }
            }
            (Part::Wide(place, how), Shape::Im2col { lower, upper, pixels, wide: true, .. }) => {
                if place.len() != self.rank {
                    return Err(Mismatch::Rank);
                }
                if self.interleave != Interleave::None || self.swizzle == Swizzle::None {
                    return Err(Mismatch::Layout);
                }
                let offset = i64::from(how.offset);
                let bounds =
                    [i64::from(lower[0]) + offset, self.dims[1] as i64 + i64::from(upper[0]) + offset];
                let mut pixel = start(place);
                pixel[1] += offset;
                // The first pixel may be before the bounding box.
                if pixel[1] >= bounds[1] {
                    return Err(Mismatch::Outside);
                }
                let (parts, each) = if how.quarters { (4, 32) } else { (1, pixels) };
                let mut halos = Vec::new();
                for _ in 0..parts {
                    for _ in 0..each {
                        if give(&pixel).is_none() {
                            return Ok(None);
                        }
                        self.next_pixel(&mut pixel, 1..2, |_| bounds);
                    }
                    halos.push(pixel);
                }
                for _ in 0..how.halo {
                    for pixel in &mut halos {
                        if give(pixel).is_none() {
                            return Ok(None);
                        }
                        self.next_pixel(pixel, 1..2, |_| bounds);
                    }
                }
            }
            _ => return Err(Mismatch::Mode),
        }
        Ok(Some(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::{Element, Promotion};

    /// A matrix of 5 rows of 6 words, 32 bytes apart, and boxes of 3 rows of 4.
    fn matrix() -> Map {
        Map {
            element: Element::U32,
            rank: 2,
            address: 1024,
            dims: [6, 5, 1, 1, 1],
            strides: [32, 0, 0, 0],
            steps: [1; 5],
            shape: Shape::Tiled([4, 3, 1, 1, 1]),
            interleave: Interleave::None,
            swizzle: Swizzle::None,
            promotion: Promotion::None,
            nan: false,
        }
    }

    fn rows(map: &Map, part: Part, store: bool) -> Result<Vec<Row>, Mismatch> {
        let mut all = Vec::new();
        map.walk(part, store, |row| {
            all.push(row);
            Some(())
        })
        .map(|_| all)
    }

    #[test]
    fn a_box_at_the_edge() {
        let all = rows(&matrix(), Part::Tile(&[4, 3]), false).unwrap();
        let row = |at, inside, address| Row { at, bytes: 16, skip: 0, inside, address };
        assert_eq!(all, [row(0, 8, 1024 + 96 + 16), row(16, 8, 1024 + 128 + 16), row(32, 0, 0)]);
        assert_eq!(all[0].stored().inside, 16);
        assert_eq!(all[2].stored().inside, 0);
        let all = rows(&matrix(), Part::Tile(&[-4, -1]), false).unwrap();
        assert!(all.iter().all(|r| r.inside == 0));
    }

    #[test]
    fn rows_of_a_swizzled_box_are_as_long_as_its_span() {
        let map = Map { swizzle: Swizzle::Bytes64, ..matrix() };
        let all = rows(&map, Part::Rows(&[0, 4, 0, -1, 2]), false).unwrap();
        assert_eq!(all.iter().map(|r| r.at).collect::<Vec<_>>(), [0, 64, 128, 192]);
        assert_eq!(all.iter().map(|r| r.inside).collect::<Vec<_>>(), [16, 16, 0, 16]);
    }

    #[test]
    fn pixels_go_on_in_the_next_row_and_image() {
        let shape = Shape::Im2col { lower: [0; 3], upper: [-1, 0, 0], channels: 4, pixels: 6, wide: false };
        let image = Map { rank: 4, dims: [4, 3, 2, 2, 1], strides: [16, 48, 96, 0], shape, ..matrix() };
        let all = rows(&image, Part::Im2col(&[0, 1, 0, 0], &[1, 0]), false).unwrap();
        let places: Vec<u64> = all.iter().map(|r| (r.address - 1024) / 16).collect();
        assert_eq!(places, [2, 4, 5, 7, 8, 10]);
    }

    #[test]
    fn what_the_hardware_refuses() {
        assert_eq!(rows(&matrix(), Part::Tile(&[1, 0]), false), Err(Mismatch::Misaligned));
        assert_eq!(rows(&matrix(), Part::Tile(&[0, -1]), true), Err(Mismatch::Negative));
        assert_eq!(rows(&matrix(), Part::Tile(&[0]), false), Err(Mismatch::Rank));
        assert_eq!(rows(&matrix(), Part::Im2col(&[0, 0], &[]), false), Err(Mismatch::Mode));
    }
}
