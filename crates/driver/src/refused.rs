//! What the log says of launches that are refused: a line for each cause, the first time that a function
//! meets it. The status alone says no more than "invalid argument".

use std::sync::atomic::{AtomicU32, Ordering};

use crate::device::attribute;
use crate::launch::Config;
use crate::log;
use crate::mangled::readable;
use crate::module::Function;

/// Why a launch is refused.
#[derive(Clone, Copy, Debug)]
pub enum Cause {
    /// The grid is empty or too large.
    Grid,
    /// The block is empty or too large.
    Block,
    /// The block has more threads than the kernel allows.
    Threads,
    /// The kernel requires another block.
    RequiredBlock,
    /// Too much dynamic shared memory.
    Shared,
    /// Too much local memory.
    Local,
    /// The cluster does not fit the kernel, the grid or the device.
    Cluster,
    /// Not all blocks of a cooperative launch fit.
    Cooperative,
    /// The parameters cannot be read as they are described.
    Parameters,
}

/// The causes that the log has named for a function, as bits.
#[derive(Debug, Default)]
pub struct Told(AtomicU32);

/// Names a cause.
#[cold]
pub fn tell(function: &Function, cause: Cause, why: impl FnOnce() -> String) {
    first(function, cause, log::Level::Error, || {
        format!("kernel {} cannot be launched: {}", readable(&function.info().name), why())
    });
}

/// Warns of a mistake in a launch that is performed nevertheless.
#[cold]
pub fn warn(function: &Function, cause: Cause, why: impl FnOnce() -> String) {
    first(function, cause, log::Level::Warn, || {
        format!("a launch of kernel {} is wrong: {}", readable(&function.info().name), why())
    });
}

fn first(function: &Function, cause: Cause, level: log::Level, what: impl FnOnce() -> String) {
    let bit = 1 << cause as u32;
    if function.told.0.fetch_or(bit, Ordering::Relaxed) & bit == 0 {
        log::say(level, what);
    }
}

/// Numbers of threads or blocks in x, y and z.
fn sizes([x, y, z]: [u64; 3]) -> String {
    format!("{x} x {y} x {z}")
}

fn limits(function: &Function, numbers: [i32; 3]) -> [u64; 3] {
    numbers.map(|number| function.device().known(number))
}

/// The grid is empty or larger than the device allows.
pub fn grid(function: &Function, grid: [u32; 3]) {
    tell(function, Cause::Grid, || {
        let most = sizes(limits(function, attribute::MAX_GRID_DIM));
        format!("a grid of {} blocks; the device allows 1 x 1 x 1 to {most}", sizes(grid.map(u64::from)))
    });
}

/// The block is empty or larger than the device allows.
pub fn block(function: &Function, block: [u32; 3]) {
    tell(function, Cause::Block, || {
        let threads = block.iter().fold(1u64, |n, &side| n.saturating_mul(side.into()));
        let most = sizes(limits(function, attribute::MAX_BLOCK_DIM));
        let most_threads = function.device().known(attribute::MAX_THREADS_PER_BLOCK);
        format!(
            "a block of {} threads, {threads} in all; the device allows 1 x 1 x 1 to {most}, and {most_threads} \
             in all",
            sizes(block.map(u64::from))
        )
    });
}

/// The block has more threads than the kernel was compiled for.
pub fn threads(function: &Function, threads: u64) {
    tell(function, Cause::Threads, || {
        format!(
            "a block of {threads} threads; the kernel was compiled for {} at most",
            function.max_threads()
        )
    });
}

/// The kernel requires another block.
pub fn required_block(function: &Function, block: [u32; 3], required: [u32; 3]) {
    tell(function, Cause::RequiredBlock, || {
        let [block, required] = [block, required].map(|block| sizes(block.map(u64::from)));
        format!("a block of {block} threads; the kernel was compiled for {required}")
    });
}

/// There is too much dynamic shared memory. `limit`: what is allowed now.
pub fn shared(function: &Function, bytes: u64, limit: u64) {
    tell(function, Cause::Shared, || {
        let fixed = function.info().static_shared;
        let most = function.device().known(attribute::MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
        let most = most.saturating_sub(fixed.into());
        let more = if most > limit {
            format!(" (the function's attribute for dynamic shared memory can raise this to {most})")
        } else {
            String::new()
        };
        format!(
            "{bytes} bytes of dynamic shared memory beside {fixed} static ones; the limit is {limit}{more}"
        )
    });
}

/// The cluster fits the kernel, the grid or the device not.
pub(crate) fn cluster(function: &Function, config: &Config, most: u32) {
    tell(function, Cause::Cluster, || {
        let name = |size: Option<[u32; 3]>| size.map_or("none".to_owned(), |size| sizes(size.map(u64::from)));
        format!(
            "a cluster of {} (preferred {}) blocks in a grid of {}; the kernel requires {}, the grid must be a \
             multiple, and a cluster has {most} blocks at most",
            name(config.cluster),
            name(config.preferred_cluster),
            sizes(config.grid.map(u64::from)),
            name(function.required_cluster()),
        )
    });
}

/// Not all blocks of a cooperative launch can be resident at once.
pub fn cooperative(function: &Function, blocks: u128, room: u128) {
    tell(function, Cause::Cooperative, || {
        format!("a cooperative grid of {blocks} blocks; {room} fit at once")
    });
}
