/*
 * Anywarp's headers for GPU languages: the vectors of the language that is compiled, for headers that both share.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#if defined(__HIP__) || defined(ANYWARP_HIP_HIP_VECTOR_TYPES_H)
#include <hip/hip_vector_types.h>
#else
#include <vector_types.h>
#endif
