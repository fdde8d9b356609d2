//! The part of CUDA's device runtime that is ours: what kernels of cooperative groups call.
//!
//! NVIDIA's (`libcudadevrt.a`) is machine code. Where a program gives it to the linker, this text is linked instead.

/// The text's name in messages.
pub const NAME: &str = "device runtime";

/// The functions that [`TEXT`] has, as `cuda_device_runtime_api.h` declares them.
pub const FUNCTIONS: [&str; 5] = [
    "cudaCGGetIntrinsicHandle",
    "cudaCGSynchronize",
    "cudaCGSynchronizeGrid",
    "cudaCGGetSize",
    "cudaCGGetRank",
];

/// PTX.
pub const TEXT: &str = include_str!("device_runtime.ptx");
