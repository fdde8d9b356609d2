//! `libcuda.so.1`: the CUDA driver's C interface over the driver.
