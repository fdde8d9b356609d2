/*
 * Anywarp's headers for GPU languages: copies to shared memory that CUDA's devices do in the background. Here they
 * are done at once, so there is nothing to wait for.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ANYWARP_CUDA_PIPELINE_H
#define ANYWARP_CUDA_PIPELINE_H

#include <anywarp/device.h>

#pragma clang system_header

/* The last `zeros` of the bytes are zeros. */
ANYWARP_DEVICE void __pipeline_memcpy_async(void *to, const void *from, size_t size, size_t zeros = 0) {
    for (size_t i = 0; i < size; i += 4)
        *(unsigned *)((char *)to + i) = i < size - zeros ? *(const unsigned *)((const char *)from + i) : 0;
}
ANYWARP_DEVICE void __pipeline_commit() {}
ANYWARP_DEVICE void __pipeline_wait_prior(unsigned) {}

#endif
