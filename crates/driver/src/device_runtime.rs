//! This driver's part of CUDA's device runtime: the functions that kernels of cooperative groups call.
//!
//! NVIDIA's runtime (`libcudadevrt.a`) is machine code. When a program links it, this text is linked instead.

/// The text's name in messages.
pub const NAME: &str = "device runtime";

/// The functions in [`TEXT`], as `cuda_device_runtime_api.h` declares them.
pub const FUNCTIONS: [&str; 5] = [
    "cudaCGGetIntrinsicHandle",
    "cudaCGSynchronize",
    "cudaCGSynchronizeGrid",
    "cudaCGGetSize",
    "cudaCGGetRank",
];

/// The PTX text.
pub const TEXT: &str = include_str!("device_runtime.ptx");
