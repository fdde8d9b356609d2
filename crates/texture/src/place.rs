//! Maps coordinates to texels.

use crate::descriptor::Address;

/// The texels that a coordinate selects on an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tap {
    /// The lower and the upper texel; -1 means the border.
    pub texels: [i32; 2],
    /// The weight of the upper texel, in 256ths.
    pub fraction: u32,
}

/// Normalised coordinates are truncated to this many parts of the whole.
const UNITS: f64 = 2_097_152.0;

impl Tap {
    const fn one(texel: i32) -> Tap {
        Tap { texels: [texel, texel], fraction: 0 }
    }
}

/// The addressing of an axis.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    /// Number of texels.
    pub size: u32,
    /// The treatment of coordinates outside.
    pub address: Address,
    /// Whether coordinates range from 0 to 1.
    pub normalized: bool,
    /// Whether two texels are interpolated.
    pub linear: bool,
    /// Whether there are texels beyond the edges: those of the next face of a cube.
    pub open: bool,
    /// Whether coordinates are rounded to 256ths of a texel.
    pub rounds: bool,
}

impl Axis {
    /// The texel at an index, which may be outside.
    pub fn texel(&self, index: i64) -> i32 {
        let size = i64::from(self.size.max(1));
        let inside = |i: i64| i.clamp(0, size - 1) as i32;
        match self.address {
            _ if self.open => index.clamp(-1, size) as i32,
            Address::Wrap if self.normalized => index.rem_euclid(size) as i32,
            Address::Mirror if self.normalized => {
                let i = index.rem_euclid(2 * size);
                inside(if i < size { i } else { 2 * size - 1 - i })
            }
            Address::Border if !(0..size).contains(&index) => -1,
            _ => inside(index),
        }
    }

    /// The texels of a coordinate, displaced by `offset` texels.
    pub fn tap(&self, coordinate: f32, offset: i32) -> Tap {
        let size = f64::from(self.size.max(1));
        let mut at = f64::from(coordinate);
        if at.is_nan() {
            at = 0.0;
        }
        if self.normalized {
            // The whole part is subtracted first, so that the rest is exact.
            let repeats = matches!(self.address, Address::Wrap | Address::Mirror);
            at = at.clamp(-1e9, 1e9);
            if !self.rounds {
                at = (at * UNITS).floor() / UNITS;
            }
            if repeats {
                at -= 2.0 * (at / 2.0).floor();
            }
            at *= size;
        }
        let at = at.clamp(-1e9, 1e9) + f64::from(offset);
        if !self.linear && self.rounds {
            return Tap::one(self.texel((at * 256.0 + 0.5).floor() as i64 >> 8));
        }
        if !self.linear {
            return Tap::one(self.texel(at.floor() as i64));
        }
        let fixed = ((at - 0.5) * 256.0 + 0.5).floor() as i64;
        let (low, fraction) = (fixed >> 8, (fixed & 255) as u32);
        let texels = [self.texel(low), self.texel(low + 1)];
        // Two identical texels count as one after clamping, but not after mirroring or repeating.
        let clamps = match self.address {
            _ if self.open => false,
            Address::Clamp => true,
            Address::Wrap | Address::Mirror => !self.normalized,
            Address::Border => false,
        };
        Tap { texels, fraction: if clamps && texels[0] == texels[1] { 0 } else { fraction } }
    }

    /// The texel of an integer coordinate; `None` outside, whatever the address mode.
    pub fn whole(&self, coordinate: i32, offset: i32) -> Option<Tap> {
        let index = i64::from(coordinate) + i64::from(offset);
        (0..i64::from(self.size)).contains(&index).then(|| Tap::one(index as i32))
    }

    /// The texel of an integer coordinate, or the nearest one if it is outside.
    pub fn nearest(&self, coordinate: i32, offset: i32) -> Tap {
        let index = i64::from(coordinate) + i64::from(offset);
        Tap::one(index.clamp(0, i64::from(self.size.max(1)) - 1) as i32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(address: Address, normalized: bool, linear: bool) -> Axis {
        Axis { size: 4, address, normalized, linear, open: false, rounds: false }
    }

    /// The manual's address modes (CUDA programming guide, "Texture Memory").
    #[test]
    fn coordinates_outside_are_what_the_mode_says() {
        let texel = |address, normalized, at| axis(address, normalized, false).tap(at, 0).texels[0];
        for (at, clamp, border) in [(-0.5, 0, -1), (0.0, 0, 0), (3.99, 3, 3), (4.0, 3, -1), (1e30, 3, -1)] {
            assert_eq!(texel(Address::Clamp, false, at), clamp, "{at}");
            assert_eq!(texel(Address::Border, false, at), border, "{at}");
            // Coordinates that are not normalised are clamped.
            assert_eq!(texel(Address::Wrap, false, at), clamp, "{at}");
        }
        for (at, wrap, mirror) in
            [(0.1, 0, 0), (1.1, 0, 3), (-0.1, 3, 0), (1.9, 3, 0), (2.3, 1, 1), (-1.1, 3, 3)]
        {
            assert_eq!(texel(Address::Wrap, true, at), wrap, "{at}");
            assert_eq!(texel(Address::Mirror, true, at), mirror, "{at}");
        }
    }

    #[test]
    fn fractions_are_256ths_from_the_middle_of_a_texel() {
        let tap = |at| axis(Address::Clamp, false, true).tap(at, 0);
        assert_eq!(tap(1.5), Tap { texels: [1, 2], fraction: 0 });
        assert_eq!(tap(2.0), Tap { texels: [1, 2], fraction: 128 });
        assert_eq!(tap(1.5 + 1.0 / 512.0), Tap { texels: [1, 2], fraction: 1 });
        assert_eq!(tap(0.25), Tap { texels: [0, 0], fraction: 0 });
    }

    /// A third of three texels, rounded down, is the second texel.
    #[test]
    fn rounded_coordinates_reach_the_next_texel() {
        let at = |rounds| Axis { size: 3, rounds, ..axis(Address::Clamp, true, false) }.tap(0.333_333_3, 0);
        assert_eq!((at(true).texels[0], at(false).texels[0]), (1, 0));
    }

    #[test]
    fn integer_coordinates_outside_have_no_texel() {
        let axis = axis(Address::Clamp, false, false);
        assert_eq!((axis.whole(3, 0), axis.whole(4, 0), axis.whole(-1, 0)), (Some(Tap::one(3)), None, None));
        assert_eq!(axis.nearest(9, 0), Tap::one(3));
    }
}
