//! Runs the kernels in `kernels/` with the same data, blocks and parameters on several engines.
//!
//! An [`engine::Engine`] holds buffers and runs launches; [`cases`] defines the launches; [`table`] prints
//! the results. Anywarp is used through its `libcuda.so.1` like by any client, OpenCL runtimes through the
//! loader library, and gcc's loops as a shared library that is compiled at run time.

pub mod amd;
pub mod cases;
pub mod cuda;
pub mod engine;
pub mod host;
pub mod opencl;
pub mod sized;
pub mod table;
