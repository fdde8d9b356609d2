/*
 * Anywarp's declaration of HIP: the older number of 16 bits with the exponent of float. In C and for the host
 * alone it only holds the bits.
 *
 * Written for this project. Names, values and layouts are those of the interface, so a program compiled with
 * this file calls the library in the same way as one compiled with any other header of the same version.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ANYWARP_HIP_HIP_BFLOAT16_H
#define ANYWARP_HIP_HIP_BFLOAT16_H

#include <hip/hip_runtime.h>

#if !defined(__cplusplus) || !defined(ANYWARP_GPU_LANGUAGE)
typedef struct hip_bfloat16 {
    uint16_t data;
} hip_bfloat16;
#else

#include <cuda_bf16.h>
#include <ostream>

struct hip_bfloat16 {
    uint16_t data;

    /* Selects the constructor that drops the lower bits. */
    enum truncate_t { truncate };

    hip_bfloat16() = default;
    explicit ANYWARP_BOTH hip_bfloat16(float v) : data(rounded(v)) {}
    explicit ANYWARP_BOTH hip_bfloat16(float v, truncate_t) : data(shortened(v)) {}
    ANYWARP_BOTH hip_bfloat16 &operator=(const float &v) {
        data = rounded(v);
        return *this;
    }
    ANYWARP_BOTH operator float() const { return __builtin_bit_cast(float, (unsigned)data << 16); }
    static ANYWARP_BOTH hip_bfloat16 round_to_bfloat16(float v) { return hip_bfloat16(v); }
    static ANYWARP_BOTH hip_bfloat16 round_to_bfloat16(float v, truncate_t) {
        return hip_bfloat16(v, truncate);
    }

  private:
    /* What is no number keeps its upper bits, of which one must be set. */
    static ANYWARP_BOTH uint16_t shortened(float v) {
        unsigned bits = __builtin_bit_cast(unsigned, v);
        return (uint16_t)(bits >> 16 | (v != v && (bits & 0xffff) != 0));
    }
    static ANYWARP_BOTH uint16_t rounded(float v) { return v != v ? shortened(v) : anywarp::upper_half(v); }
};

#define ANYWARP_BF16_OPERATOR(sign)                                                                          \
    static __inline__ ANYWARP_BOTH hip_bfloat16 operator sign(hip_bfloat16 a, hip_bfloat16 b) {              \
        return hip_bfloat16((float)a sign(float) b);                                                         \
    }                                                                                                        \
    static __inline__ ANYWARP_BOTH hip_bfloat16 &operator sign##=(hip_bfloat16 & a, hip_bfloat16 b) {        \
        return a = a sign b;                                                                                 \
    }
ANYWARP_BF16_OPERATOR(+)
ANYWARP_BF16_OPERATOR(-)
ANYWARP_BF16_OPERATOR(*)
ANYWARP_BF16_OPERATOR(/)
#undef ANYWARP_BF16_OPERATOR
#define ANYWARP_BF16_OPERATOR(sign)                                                                          \
    static __inline__ ANYWARP_BOTH bool operator sign(hip_bfloat16 a, hip_bfloat16 b) {                      \
        return (float)a sign(float) b;                                                                       \
    }
ANYWARP_BF16_OPERATOR(<)
ANYWARP_BF16_OPERATOR(>)
ANYWARP_BF16_OPERATOR(<=)
ANYWARP_BF16_OPERATOR(>=)
ANYWARP_BF16_OPERATOR(==)
ANYWARP_BF16_OPERATOR(!=)
#undef ANYWARP_BF16_OPERATOR
#define ANYWARP_BF16_STEP(sign)                                                                              \
    static __inline__ ANYWARP_BOTH hip_bfloat16 &operator sign##sign(hip_bfloat16 & a) {                     \
        return a = a sign hip_bfloat16(1.0f);                                                                \
    }                                                                                                        \
    static __inline__ ANYWARP_BOTH hip_bfloat16 operator sign##sign(hip_bfloat16 &a, int) {                  \
        hip_bfloat16 before = a;                                                                             \
        sign##sign a;                                                                                        \
        return before;                                                                                       \
    }
ANYWARP_BF16_STEP(+)
ANYWARP_BF16_STEP(-)
#undef ANYWARP_BF16_STEP
static __inline__ ANYWARP_BOTH hip_bfloat16 operator+(hip_bfloat16 a) { return a; }
static __inline__ ANYWARP_BOTH hip_bfloat16 operator-(hip_bfloat16 a) {
    a.data ^= 0x8000;
    return a;
}

static inline std::ostream &operator<<(std::ostream &out, const hip_bfloat16 &v) { return out << (float)v; }

namespace std {
constexpr ANYWARP_BOTH bool isinf(hip_bfloat16 v) { return (v.data & 0x7fff) == 0x7f80; }
constexpr ANYWARP_BOTH bool isnan(hip_bfloat16 v) { return (v.data & 0x7fff) > 0x7f80; }
constexpr ANYWARP_BOTH bool iszero(hip_bfloat16 v) { return (v.data & 0x7fff) == 0; }
} // namespace std

#endif

#endif
