/*
 * Anywarp's headers for GPU languages: namespace cuda::std is the host's namespace std, whose constexpr functions are
 * functions of the device as well.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ANYWARP_CUDA_STD_H
#define ANYWARP_CUDA_STD_H

#include <cstddef>
#ifdef ANYWARP_GPU_LANGUAGE
#include <anywarp/device.h>
#else
#include <anywarp/attributes.h>
#endif

namespace cuda {
static __inline__ ANYWARP_BOTH void anywarp_fence() {
#if defined(ANYWARP_DEVICE_PASS) && defined(__NVPTX__)
    __asm__ volatile("membar.sys;" ::: "memory");
#else
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}
namespace std {
using namespace ::std;
}
} // namespace cuda

#endif
