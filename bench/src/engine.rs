//! The interface of all engines.

use anyhow::Result;

/// A launch parameter.
#[derive(Clone, Copy, Debug)]
pub enum Arg {
    /// A buffer, by its index in the case.
    Buffer(usize),
    /// An unsigned integer.
    U32(u32),
    /// A float.
    F32(f32),
}

impl Arg {
    /// The four bytes of a scalar.
    pub fn bits(self) -> u32 {
        match self {
            Arg::Buffer(_) => 0,
            Arg::U32(v) => v,
            Arg::F32(v) => v.to_bits(),
        }
    }
}

/// A launch of one kernel.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The kernel's name.
    pub kernel: &'static str,
    /// Blocks per grid.
    pub grid: [u32; 2],
    /// Threads per block.
    pub block: [u32; 2],
    /// Parameters.
    pub args: Vec<Arg>,
}

/// Runs launches on its own buffers.
pub trait Engine {
    /// The column's heading.
    fn name(&self) -> String;
    /// Prepares the kernels and buffers of `case`, and frees those of the previous case.
    fn prepare(&mut self, case: &crate::cases::Case) -> Result<()>;
    /// Runs all launches of the prepared case and waits for them.
    fn run(&mut self) -> Result<()>;
    /// The contents of buffer `index` of the prepared case.
    fn read(&mut self, index: usize) -> Result<Vec<u32>>;
    /// Restores the initial contents of the buffers.
    fn reset(&mut self) -> Result<()>;
}
