//! What is to be run.

use wave::abi::{ClusterCtx, Code, MAX_CLUSTER};

use crate::fault::{Fault, FaultKind};
use crate::heap::Heap;

/// Threads in the largest block.
pub(crate) const MAX_THREADS: u64 = 1024;

/// What a running kernel needs of the program around it.
pub trait Host: Send + Sync {
    /// Whether `size` bytes at `address` are device memory, or host memory that kernels may use. Asked by code that
    /// checks its accesses (the interpreter); the launch's own shared, local and parameter memory and the heap
    /// need not be counted.
    fn accessible(&self, address: u64, size: u32, write: bool) -> bool;

    /// Takes what one warp's `printf` wrote: the lanes' texts in order, bytes as the kernel gave them.
    fn print(&self, text: &[u8]);

    /// The heap of `malloc` and `free`.
    fn heap(&self) -> &Heap;

    /// How many devices have the `size` bytes behind a multicast address; none: it is none.
    fn multicast_count(&self, address: u64, size: u32) -> Option<u32> {
        let _ = (address, size);
        None
    }

    /// Where the bytes of the device with number `index` behind a multicast address are.
    fn multicast_place(&self, address: u64, size: u32, index: u32) -> Option<u64> {
        let _ = (address, size, index);
        None
    }

    /// Takes messages of failed assertions; hardware writes them to stderr.
    fn print_error(&self, text: &[u8]) {
        use std::io::Write;
        // A closed stderr is the program's choice.
        let _ = host::write::limited(|| std::io::stderr().write_all(text));
    }
}

/// One launch of a kernel.
#[derive(Clone, Copy)]
pub struct Launch<'a> {
    /// The kernel's name, for messages.
    pub name: &'a str,
    /// Its code.
    pub code: &'a dyn Code,
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z; 1024 at most.
    pub block: [u32; 3],
    /// The parameter buffer; aligned as its parameters are.
    pub params: &'a [u8],
    /// Where the module's image lies.
    pub image: u64,
    /// Shared memory in bytes: the kernel's own, and the launch's, which follows it.
    pub shared: [u32; 2],
    /// Bytes of local memory of a thread where calls may recurse; code that needs more gets more.
    pub stack: u64,
    /// Blocks of a cluster in x, y and z, where the launch asks for clusters; those of a cluster run together and reach each other's shared
    /// memory.
    pub cluster: Option<[u32; 3]>,
    /// All blocks must be able to wait for one another.
    pub cooperative: bool,
    /// Number of the launch (`%gridid`).
    pub id: u64,
    /// What is around it.
    pub host: &'a dyn Host,
}

impl Launch<'_> {
    /// Blocks, threads of a block; fails for shapes that cannot be.
    pub(crate) fn shape(&self) -> Result<(u64, u32), Box<Fault>> {
        let product = |d: [u32; 3]| d.iter().try_fold(1u64, |n, &k| n.checked_mul(u64::from(k)));
        let clusters = self.cluster.is_none_or(|cluster| {
            let fits = self.grid.iter().zip(&cluster).all(|(&g, &c)| c != 0 && g.is_multiple_of(c));
            fits && product(cluster).is_some_and(|n| n <= u64::from(MAX_CLUSTER))
        });
        match (product(self.grid), product(self.block)) {
            (Some(blocks @ 1..), Some(threads @ 1..=MAX_THREADS))
                if clusters && blocks <= i64::MAX as u64 =>
            {
                Ok((blocks, threads as u32))
            }
            _ => {
                let mut detail = format!("grid {:?}, block {:?}", self.grid, self.block);
                if let Some(cluster) = self.cluster {
                    detail.push_str(&format!(", cluster {cluster:?}"));
                }
                Err(Box::new(Fault::new(FaultKind::InvalidLaunch, self.name, detail)))
            }
        }
    }

    /// Blocks of a cluster in x, y and z.
    fn cluster_size(&self) -> [u32; 3] {
        self.cluster.unwrap_or([1; 3]).map(|n| n.max(1))
    }

    /// Blocks of a cluster: what one worker runs together.
    pub(crate) fn cluster_blocks(&self) -> u32 {
        self.cluster_size().iter().product()
    }

    /// Block number `ticket` of a launch without clusters, x fastest.
    pub(crate) fn block_index(&self, ticket: u64) -> [u32; 3] {
        split(ticket, self.grid)
    }

    /// Where block number `rank` of cluster number `ticket` is.
    pub(crate) fn place(&self, ticket: u64, rank: u32) -> ([u32; 3], ClusterCtx) {
        let Some(size) = self.cluster else {
            let id = self.block_index(ticket);
            return (id, ClusterCtx { id, count: self.grid, ..ClusterCtx::ALONE });
        };
        let count: [u32; 3] = std::array::from_fn(|d| self.grid[d] / size[d].max(1));
        let id = split(ticket, count);
        let ctaid = split(u64::from(rank), size);
        let block = std::array::from_fn(|d| id[d].wrapping_mul(size[d]).wrapping_add(ctaid[d]));
        let blocks = self.cluster_blocks();
        (block, ClusterCtx { id, count, ctaid, size, rank, blocks, explicit: 1, reserved: 0 })
    }
}

/// The place with number `index` in a box, x fastest.
fn split(index: u64, size: [u32; 3]) -> [u32; 3] {
    let (x, y) = (u64::from(size[0].max(1)), u64::from(size[1].max(1)));
    let rows = index / x;
    [(index % x) as u32, (rows % y) as u32, (rows / y) as u32]
}

/// What a launch did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Blocks that ran.
    pub blocks: u64,
    /// Threads of ours and of the caller that took part.
    pub workers: u32,
}
