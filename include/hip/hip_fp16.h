/*
 * Anywarp: HIP's half numbers are those of CUDA.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <hip/hip_runtime.h>

#include <cuda_fp16.h>
