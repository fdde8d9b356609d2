//! The launches that a kernel's code is for.

use crate::ir::Width;

/// The launches that code is specialised for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Specialisation {
    /// The lanes that run together. The code generator may choose more than a warp's.
    pub width: Width,
    /// The lanes of a warp, which the kernel decides; the code generator sets them.
    pub warp: wave::Width,
    /// Whether all lanes of a warp execute, also those without a thread, which the kernel decides.
    pub whole: bool,
    /// Threads per block in each dimension.
    pub block: [u32; 3],
    /// The number of threads of the grid is below 2^31 in each dimension, so global indices do not wrap.
    pub small: bool,
    /// The launch asks for clusters; otherwise every block is its own cluster.
    pub clusters: bool,
    /// The warps that run together are one of each of several blocks that follow each other in x, not several
    /// of one block. The code generator may choose so.
    pub across: bool,
}

impl Specialisation {
    /// The specialisation for a launch of this shape.
    #[inline]
    pub fn of_launch(grid: [u32; 3], block: [u32; 3]) -> Specialisation {
        let below = |(g, b): (&u32, &u32)| u64::from(*g) * u64::from(*b) < 1 << 31;
        let small = grid.iter().zip(&block).all(below);
        let (width, warp) = (Width::WARP, wave::Width::W32);
        Specialisation { width, warp, whole: false, block, small, clusters: false, across: false }
    }

    /// The same for a launch with or without clusters.
    #[inline]
    #[must_use]
    pub fn in_clusters(self, clusters: bool) -> Specialisation {
        Specialisation { clusters, ..self }
    }

    /// The same for a kernel with warps of this width.
    #[must_use]
    pub fn of_warps(self, warp: wave::Width) -> Specialisation {
        Specialisation { width: Width::of(warp), warp, ..self }
    }

    /// The lanes that run together and belong to one block.
    pub fn lanes_of_block(&self) -> usize {
        if self.across { self.warp.lanes() } else { self.width.lanes() }
    }

    /// Threads per block.
    pub fn threads(&self) -> u32 {
        self.block.iter().product()
    }
}
