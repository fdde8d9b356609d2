//! Bulk copies (PTX ISA 9.7.9.25.4, 9.7.9.27): their operation and operands.

use std::fmt;
use std::sync::OnceLock;

use names::names;

use super::{AtomOp, AtomTy};
use crate::types::Ty;

names! {
/// Direction of a copy.
pub enum Way {
    /// Global to shared memory; completes on a barrier.
    Load = "load",
    /// Shared memory to that of another block in the cluster; completes on a barrier there.
    Across = "across",
    /// Shared to global memory.
    Store = "store",
    /// Zeros to shared memory.
    Fill = "fill",
}}

names! {
/// How coordinates are mapped to tensor elements.
pub enum Walk {
    /// A box.
    Tile = "tile",
    /// Four rows of a matrix, side by side, from the tensor.
    Gather4 = "gather4",
    /// The same, to the tensor.
    Scatter4 = "scatter4",
    /// Pixels and channels of a bounding box, displaced by offsets.
    Im2col = "im2col",
    /// The same without offsets, to the tensor.
    Im2colNoOffs = "im2col_no_offs",
    /// Pixels of one row only.
    Im2colW = "im2col_w",
    /// The same in parts of 128.
    Im2colW128 = "im2col_w128",
}}

/// The copied data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Extent {
    /// Consecutive bytes.
    Bytes,
    /// A part of a tensor with 1 to 5 dimensions that a tensor map describes.
    Tensor(u8, Walk),
}

/// The effect on the destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Overwritten.
    Copy,
    /// Updated element by element, each atomically.
    Reduce(AtomOp, AtomTy),
    /// Updated; the tensor map gives the element type.
    ReduceElements(AtomOp),
}

/// Additional operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Extra {
    /// None.
    Nothing,
    /// `i32`: the mask of the cluster's blocks that receive the bytes and the completion.
    Multicast,
    /// `i32`: the mask of the bytes in each 16 that are written.
    Mask,
    /// `i32, i32`: bytes at the beginning and at the end that are not copied but counted.
    Ignore,
}

/// A bulk copy. Operands: the destination and the source (i64: offsets in shared memory, host addresses in
/// global memory, or for a tensor the generic address of its map); the size in bytes (i64, only for
/// [`Extent::Bytes`]); the barrier (i64, an offset in shared memory, only for [`Way::Load`] and
/// [`Way::Across`]); the coordinates and the offsets (i32, only for [`Extent::Tensor`]); and the operands in
/// [`Extra`]. A fill has no source. There are no results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bulk {
    /// The direction.
    pub way: Way,
    /// The copied data.
    pub extent: Extent,
    /// The effect on the destination.
    pub effect: Effect,
    /// Additional operands.
    pub extra: Extra,
}

impl Walk {
    /// Number of coordinates of a position in a tensor with `rank` dimensions.
    pub fn coordinates(self, rank: u8) -> usize {
        match self {
            Walk::Gather4 | Walk::Scatter4 => 5,
            _ => usize::from(rank),
        }
    }

    /// Number of offsets.
    pub fn offsets(self, rank: u8) -> usize {
        match self {
            Walk::Im2col => usize::from(rank.saturating_sub(2)),
            Walk::Im2colW | Walk::Im2colW128 => 2,
            _ => 0,
        }
    }

    /// Whether it applies to a tensor with `rank` dimensions in this direction.
    fn suits(self, way: Way, rank: u8) -> bool {
        match (self, way) {
            (Walk::Tile, _) => true,
            (Walk::Gather4, Way::Load) | (Walk::Scatter4, Way::Store) => rank == 2,
            (Walk::Im2col | Walk::Im2colW | Walk::Im2colW128, Way::Load)
            | (Walk::Im2colNoOffs, Way::Store) => rank >= 3,
            _ => false,
        }
    }
}

impl Bulk {
    /// A plain copy of bytes.
    pub const fn bytes(way: Way) -> Bulk {
        Bulk { way, extent: Extent::Bytes, effect: Effect::Copy, extra: Extra::Nothing }
    }

    /// Whether it completes on a barrier.
    pub fn has_barrier(self) -> bool {
        matches!(self.way, Way::Load | Way::Across)
    }

    /// Operand types.
    pub fn operands(self) -> Vec<Ty> {
        let mut types = vec![Ty::I64; if self.way == Way::Fill { 1 } else { 2 }];
        types.extend((self.extent == Extent::Bytes).then_some(Ty::I64));
        types.extend(self.has_barrier().then_some(Ty::I64));
        if let Extent::Tensor(rank, walk) = self.extent {
            types.extend(vec![Ty::I32; walk.coordinates(rank) + walk.offsets(rank)]);
        }
        types.extend(match self.extra {
            Extra::Nothing => vec![],
            Extra::Multicast | Extra::Mask => vec![Ty::I32],
            Extra::Ignore => vec![Ty::I32; 2],
        });
        types
    }

    /// Every legal bulk copy.
    pub fn every() -> &'static [Bulk] {
        static ALL: OnceLock<Vec<Bulk>> = OnceLock::new();
        ALL.get_or_init(|| {
            let of = |way, extent, effect, extra| Bulk { way, extent, effect, extra };
            let mut all: Vec<Bulk> = Way::ALL.iter().map(|&way| Bulk::bytes(way)).collect();
            for extra in [Extra::Multicast, Extra::Ignore] {
                all.push(of(Way::Load, Extent::Bytes, Effect::Copy, extra));
            }
            all.push(of(Way::Store, Extent::Bytes, Effect::Copy, Extra::Mask));
            let ops = AtomOp::ALL.iter().filter(|o| !matches!(o, AtomOp::Exch | AtomOp::Cas));
            for &op in ops.clone() {
                for effect in AtomTy::ALL.iter().map(|&ty| Effect::Reduce(op, ty)) {
                    all.extend(
                        [Way::Across, Way::Store].map(|w| of(w, Extent::Bytes, effect, Extra::Nothing)),
                    );
                }
            }
            for (rank, &walk) in (1..=5).flat_map(|r| Walk::ALL.iter().map(move |w| (r, w))) {
                let extent = Extent::Tensor(rank, walk);
                if walk.suits(Way::Load, rank) {
                    all.extend(
                        [Extra::Nothing, Extra::Multicast].map(|e| of(Way::Load, extent, Effect::Copy, e)),
                    );
                }
                if walk.suits(Way::Store, rank) {
                    let effects = ops.clone().map(|&op| Effect::ReduceElements(op));
                    let effects = std::iter::once(Effect::Copy).chain(effects);
                    all.extend(effects.map(|e| of(Way::Store, extent, e, Extra::Nothing)));
                }
            }
            all
        })
    }

    /// Its index in [`Bulk::every`]; `None` if it is not legal.
    pub fn number(self) -> Option<u32> {
        Bulk::every().iter().position(|&b| b == self).map(|n| n as u32)
    }

    /// The copy with this index.
    pub fn of_number(number: u32) -> Option<Bulk> {
        Bulk::every().get(number as usize).copied()
    }
}

impl fmt::Display for Bulk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.way.name())?;
        if let Extent::Tensor(rank, walk) = self.extent {
            write!(f, ".{rank}d.{}", walk.name())?;
        }
        match self.effect {
            Effect::Copy => {}
            Effect::Reduce(op, ty) => write!(f, ".{}.{}", op.name(), ty.name())?,
            Effect::ReduceElements(op) => write!(f, ".{}", op.name())?,
        }
        f.write_str(match self.extra {
            Extra::Nothing => "",
            Extra::Multicast => ".multicast",
            Extra::Mask => ".mask",
            Extra::Ignore => ".ignore",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_tell_one_from_another() {
        let names: std::collections::BTreeSet<String> = Bulk::every().iter().map(Bulk::to_string).collect();
        assert_eq!(names.len(), Bulk::every().len());
        for &bulk in Bulk::every() {
            assert_eq!(bulk.number().and_then(Bulk::of_number), Some(bulk), "{bulk}");
        }
        assert_eq!(Bulk::of_number(Bulk::every().len() as u32), None);
    }

    #[test]
    fn operands_in_order() {
        use Ty::*;
        assert_eq!(Bulk::bytes(Way::Load).operands(), [I64, I64, I64, I64]);
        assert_eq!(Bulk::bytes(Way::Fill).operands(), [I64, I64]);
        let extent = Extent::Tensor(4, Walk::Im2col);
        let im2col = Bulk { way: Way::Load, extent, effect: Effect::Copy, extra: Extra::Multicast };
        assert_eq!(im2col.operands(), [I64, I64, I64, I32, I32, I32, I32, I32, I32, I32]);
    }
}
