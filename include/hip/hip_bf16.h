/*
 * Anywarp: HIP's numbers with the exponent of float are those of CUDA. They are for GPU languages.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ANYWARP_HIP_HIP_BF16_H
#define ANYWARP_HIP_HIP_BF16_H

#include <hip/hip_runtime.h>
#ifdef ANYWARP_GPU_LANGUAGE
#include <cuda_bf16.h>

typedef __nv_bfloat16 __hip_bfloat16;
typedef __nv_bfloat162 __hip_bfloat162;
typedef __nv_bfloat16_raw __hip_bfloat16_raw;
typedef __nv_bfloat162_raw __hip_bfloat162_raw;
#endif

#endif
