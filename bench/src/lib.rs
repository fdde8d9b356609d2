//! The kernels of `kernels/` run with the same data, the same blocks and the same parameters on several engines.
//!
//! An [`engine::Engine`] keeps buffers and runs launches; [`cases`] says what is launched; [`table`] prints what came
//! out. Anywarp is reached through its `libcuda.so.1`, as any client reaches it; OpenCL runtimes through the loader
//! library; gcc's loops as a shared library made on the spot.

pub mod cases;
pub mod cuda;
pub mod engine;
pub mod host;
pub mod opencl;
pub mod sized;
pub mod table;
