/*
 * Anywarp: HIP's half numbers are those of CUDA. They are for GPU languages.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <hip/hip_runtime.h>
#ifdef ANYWARP_GPU_LANGUAGE
#include <cuda_fp16.h>
#endif
