//! What every engine does.

use anyhow::Result;

/// A parameter of a launch.
#[derive(Clone, Copy, Debug)]
pub enum Arg {
    /// A buffer, by its number in the case.
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

/// One kernel over one grid.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The kernel's name.
    pub kernel: &'static str,
    /// Blocks.
    pub grid: [u32; 2],
    /// Threads a block.
    pub block: [u32; 2],
    /// Parameters.
    pub args: Vec<Arg>,
}

/// Runs launches over buffers of its own.
pub trait Engine {
    /// The column's heading.
    fn name(&self) -> String;
    /// Makes `case`'s kernels and buffers ready, and drops those of the case before.
    fn prepare(&mut self, case: &crate::cases::Case) -> Result<()>;
    /// Runs all launches of the prepared case and waits for them.
    fn run(&mut self) -> Result<()>;
    /// The prepared case's buffer `index`.
    fn read(&mut self, index: usize) -> Result<Vec<u32>>;
    /// Puts the case's first contents into its buffers again.
    fn reset(&mut self) -> Result<()>;
}
