//! The description of a launch.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use wave::abi::{ClusterCtx, Code, MAX_CLUSTER};
use wave::op::DeviceFn;

use crate::fault::{Fault, FaultKind};
use crate::heap::Heap;

/// Maximum number of threads in a block.
pub(crate) const MAX_THREADS: u64 = 1024;

/// A thread's call of the device runtime.
#[derive(Clone, Copy, Debug)]
pub struct DeviceCall {
    /// The function.
    pub function: DeviceFn,
    /// Its arguments; those that it lacks are 0.
    pub arguments: [u64; DeviceFn::MOST],
    /// The block.
    pub block: [u32; 3],
    /// The thread in the block.
    pub thread: [u32; 3],
}

/// Services that a running kernel needs from the program around it.
pub trait Host: Send + Sync {
    /// Whether the `size` bytes at `address` are device memory, or host memory that kernels may use. Called
    /// by code that checks its accesses (the interpreter). The launch's own shared, local and parameter
    /// memory and the heap need not be included.
    fn accessible(&self, address: u64, size: u32, write: bool) -> bool;

    /// Receives the output of one warp's `printf`: the lanes' texts in order, with the kernel's bytes
    /// unchanged.
    fn print(&self, text: &[u8]);

    /// The heap of `malloc` and `free`.
    fn heap(&self) -> &Heap;

    /// Number of devices that have memory for the `size` bytes at a multicast address; `None` if it is not
    /// one.
    fn multicast_count(&self, address: u64, size: u32) -> Option<u32> {
        let _ = (address, size);
        None
    }

    /// Names a line of the module ([`wave::Loc::line`]) in messages.
    fn place(&self, line: u32) -> String {
        format!("line {line}")
    }

    /// The address of device `index`'s memory behind a multicast address.
    fn multicast_place(&self, address: u64, size: u32, index: u32) -> Option<u64> {
        let _ = (address, size, index);
        None
    }

    /// Sets the value of a conditional variable of a graph; `false` if there is none with this handle.
    fn set_conditional(&self, handle: u64, value: u32) -> bool {
        let _ = (handle, value);
        false
    }

    /// A thread calls the device runtime.
    ///
    /// # Errors
    /// The address that cannot be accessed, or 0, and what was wrong.
    fn device_call(&self, call: &DeviceCall) -> Result<u64, (u64, String)> {
        Err((0, format!("{}: there is no device runtime here", call.function.name())))
    }

    /// For a grid that may wait for others: a flag that becomes true if one of these fails. The launch then
    /// ends.
    fn others_failed(&self) -> Option<&AtomicBool> {
        None
    }

    /// Receives messages of failed assertions; hardware writes them to stderr.
    fn print_error(&self, text: &[u8]) {
        use std::io::Write;
        // If stderr is closed, the program wants no messages.
        let _ = host::write::limited(|| std::io::stderr().write_all(text));
    }
}

/// A launch of a kernel.
#[derive(Clone, Copy)]
pub struct Launch<'a> {
    /// The kernel's name, for messages.
    pub name: &'a str,
    /// Its code.
    pub code: &'a dyn Code,
    /// Number of blocks in x, y and z.
    pub grid: [u32; 3],
    /// Number of threads per block in x, y and z; at most 1024 in all.
    pub block: [u32; 3],
    /// The parameter buffer, aligned for its parameters.
    pub params: &'a [u8],
    /// Address of the module's image.
    pub image: u64,
    /// Bytes of shared memory: the kernel's static memory, and the launch's dynamic memory, which follows it.
    pub shared: [u32; 2],
    /// Bytes of local memory per thread if calls may recurse; code that needs more gets more.
    pub stack: u64,
    /// Number of blocks per cluster in x, y and z, if the launch asks for clusters. The blocks of a cluster
    /// run together and can access each other's shared memory.
    pub cluster: Option<[u32; 3]>,
    /// Whether all blocks must be able to wait for each other.
    pub cooperative: bool,
    /// The most workers that may take part, including the caller; `None` for all.
    pub most_workers: Option<u32>,
    /// How many workers run launches that have [`Launch::most_workers`] together; `None` if this one has them
    /// for itself.
    pub busy: Option<&'a AtomicU32>,
    /// The time that the launch by the host has taken to which this one belongs: kernels launch kernels, and
    /// the watchdog counts all of them.
    pub spent: Duration,
    /// Number of the launch (`%gridid`).
    pub id: u64,
    /// The program around it.
    pub host: &'a dyn Host,
}

/// How long a launch waits for workers that run others of its share. Those may wait for this one, so it runs
/// on the calling thread then.
const PATIENCE: Duration = Duration::from_millis(100);

impl Launch<'_> {
    /// Counts one more worker, unless as many as may already run launches of the share.
    pub(crate) fn enter(&self) -> bool {
        let Some(busy) = self.busy else { return true };
        let most = self.most_workers.unwrap_or(u32::MAX).max(1);
        let one_more = |now: u32| (now < most).then_some(now + 1);
        busy.fetch_update(Ordering::AcqRel, Ordering::Relaxed, one_more).is_ok()
    }

    /// Counts the calling thread, which runs the launch, once there is a place for it.
    pub(crate) fn enter_in_time(&self) {
        let mut since = None;
        while !self.enter() {
            if since.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
                if let Some(busy) = self.busy {
                    busy.fetch_add(1, Ordering::AcqRel);
                }
                return;
            }
            std::thread::sleep(Duration::from_micros(50));
        }
    }

    /// Undoes [`Launch::enter`] and [`Launch::enter_in_time`].
    pub(crate) fn leave(&self) {
        if let Some(busy) = self.busy {
            busy.fetch_sub(1, Ordering::AcqRel);
        }
    }

    /// Number of blocks, and threads per block; fails for illegal dimensions.
    #[inline]
    pub(crate) fn shape(&self) -> Result<(u64, u32), Box<Fault>> {
        // Most launches have no clusters, and many one block.
        if let (None, [1, 1, 1], [x, 1, 1]) = (self.cluster, self.grid, self.block)
            && (1..=MAX_THREADS).contains(&u64::from(x))
        {
            return Ok((1, x));
        }
        self.checked_shape()
    }

    fn checked_shape(&self) -> Result<(u64, u32), Box<Fault>> {
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

    /// Blocks per cluster in x, y and z.
    fn cluster_size(&self) -> [u32; 3] {
        self.cluster.unwrap_or([1; 3]).map(|n| n.max(1))
    }

    /// Total number of blocks per cluster, which one worker runs together.
    pub(crate) fn cluster_blocks(&self) -> u32 {
        self.cluster.map_or(1, |_| self.cluster_size().iter().product())
    }

    /// The index of block number `ticket` in a launch without clusters, x fastest.
    pub(crate) fn block_index(&self, ticket: u64) -> [u32; 3] {
        split(ticket, self.grid)
    }

    /// The position of the block with rank `rank` in cluster number `ticket`.
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

/// The position with this linear index in a box, x fastest.
fn split(index: u64, size: [u32; 3]) -> [u32; 3] {
    // Divisions would take a noticeable part of the time of a launch of one block.
    if index == 0 {
        return [0; 3];
    }
    let (x, y) = (u64::from(size[0].max(1)), u64::from(size[1].max(1)));
    let rows = index / x;
    [(index % x) as u32, (rows % y) as u32, (rows / y) as u32]
}

/// What a launch used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Number of blocks that ran.
    pub blocks: u64,
    /// Number of threads that took part, including the caller's.
    pub workers: u32,
}
