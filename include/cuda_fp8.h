/*
 * Anywarp's headers for GPU languages: numbers of 8 bits, with 4 bits of exponent (no infinities) and with 5.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ANYWARP_CUDA_FP8_H
#define ANYWARP_CUDA_FP8_H

/* Programs ask by this name whether the types are declared. */
#define __CUDA_FP8_H__

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#pragma clang system_header

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
typedef enum __nv_saturation_t {
    __NV_NOSAT,
    __NV_SATFINITE
} __nv_saturation_t;
typedef enum __nv_fp8_interpretation_t {
    __NV_E4M3,
    __NV_E5M2
} __nv_fp8_interpretation_t;

static __inline__ ANYWARP_BOTH __nv_fp8_storage_t __nv_cvt_double_to_fp8(double v, __nv_saturation_t saturate,
                                                                         __nv_fp8_interpretation_t as) {
    const unsigned infinity = as == __NV_E4M3 ? 0x7f : 0x7c;
    if (v != v)
        return 0x7f;
    unsigned bits = as == __NV_E4M3 ? anywarp::narrow(v, 4, 3, anywarp::to_nearest, infinity)
                                    : anywarp::narrow(v, 5, 2, anywarp::to_nearest);
    return (__nv_fp8_storage_t)(saturate == __NV_SATFINITE && (bits & 0x7f) == infinity ? bits - 1 : bits);
}
static __inline__ ANYWARP_BOTH __nv_fp8_storage_t __nv_cvt_float_to_fp8(float v, __nv_saturation_t saturate,
                                                                        __nv_fp8_interpretation_t as) {
    return __nv_cvt_double_to_fp8(v, saturate, as);
}
static __inline__ ANYWARP_BOTH __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw v, __nv_saturation_t saturate,
                                                                          __nv_fp8_interpretation_t as) {
    return __nv_cvt_double_to_fp8((float)__half(v), saturate, as);
}
static __inline__ ANYWARP_BOTH __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw v, __nv_saturation_t saturate,
                                                                              __nv_fp8_interpretation_t as) {
    return __nv_cvt_double_to_fp8((float)__nv_bfloat16(v), saturate, as);
}
static __inline__ ANYWARP_BOTH __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t v, __nv_fp8_interpretation_t as) {
    __half_raw result = {(unsigned short)(v << 8)};
    if (as == __NV_E4M3) {
        /* The exponent's bias is less by 8. */
        __half_raw scaled = {(unsigned short)((v & 0x80) << 8 | (v & 0x7f) << 7)};
        result = (v & 0x7f) == 0x7f ? __half_raw{0x7fff} : (__half_raw)__half((float)__half(scaled) * 256.0f);
    }
    return result;
}
#define ANYWARP_TWO(name, of, T, x_, y_)                                                                    \
    static __inline__ ANYWARP_BOTH __nv_fp8x2_storage_t name(T v, __nv_saturation_t saturate,               \
                                                             __nv_fp8_interpretation_t as) {                \
        return (__nv_fp8x2_storage_t)(of(x_, saturate, as) | of(y_, saturate, as) << 8);                    \
    }
ANYWARP_TWO(__nv_cvt_float2_to_fp8x2, __nv_cvt_float_to_fp8, float2, v.x, v.y)
ANYWARP_TWO(__nv_cvt_double2_to_fp8x2, __nv_cvt_double_to_fp8, double2, v.x, v.y)
ANYWARP_TWO(__nv_cvt_halfraw2_to_fp8x2, __nv_cvt_halfraw_to_fp8, __half2_raw, __half_raw{v.x}, __half_raw{v.y})
ANYWARP_TWO(__nv_cvt_bfloat16raw2_to_fp8x2, __nv_cvt_bfloat16raw_to_fp8, __nv_bfloat162_raw, __nv_bfloat16_raw{v.x},
            __nv_bfloat16_raw{v.y})
#undef ANYWARP_TWO
static __inline__ ANYWARP_BOTH __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t v, __nv_fp8_interpretation_t as) {
    return __half2_raw{__nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)v, as).x,
                       __nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)(v >> 8), as).x};
}

/* The types; conversions to them saturate. */
#define ANYWARP_FP8(name, as)                                                                               \
    struct name {                                                                                           \
        __nv_fp8_storage_t __x;                                                                             \
        name() = default;                                                                                   \
        template <class T>                                                                                  \
        explicit ANYWARP_BOTH name(T v) : __x(__nv_cvt_double_to_fp8((double)v, __NV_SATFINITE, as)) {}     \
        explicit ANYWARP_BOTH name(__half v) : __x(__nv_cvt_double_to_fp8((float)v, __NV_SATFINITE, as)) {} \
        explicit ANYWARP_BOTH name(__nv_bfloat16 v) : __x(__nv_cvt_double_to_fp8((float)v, __NV_SATFINITE, as)) {} \
        explicit ANYWARP_BOTH operator float() const { return (float)(__half)*this; }                       \
        explicit ANYWARP_BOTH operator double() const { return (double)(float)*this; }                      \
        explicit ANYWARP_BOTH operator __half() const { return __half(__nv_cvt_fp8_to_halfraw(__x, as)); }  \
        explicit ANYWARP_BOTH operator __nv_bfloat16() const { return __nv_bfloat16((float)*this); }        \
    };                                                                                                      \
    struct __align__(2) ANYWARP_FP8_NAME(name, 2) {                                                         \
        __nv_fp8x2_storage_t __x;                                                                           \
        ANYWARP_FP8_NAME(name, 2)() = default;                                                              \
        explicit ANYWARP_BOTH ANYWARP_FP8_NAME(name, 2)(float2 v)                                           \
            : __x(__nv_cvt_float2_to_fp8x2(v, __NV_SATFINITE, as)) {}                                       \
        explicit ANYWARP_BOTH ANYWARP_FP8_NAME(name, 2)(__half2 v)                                          \
            : __x(__nv_cvt_halfraw2_to_fp8x2(v, __NV_SATFINITE, as)) {}                                     \
        explicit ANYWARP_BOTH operator __half2() const { return __half2(__nv_cvt_fp8x2_to_halfraw2(__x, as)); } \
        explicit ANYWARP_BOTH operator float2() const { return __half22float2((__half2)*this); }            \
    };                                                                                                      \
    struct __align__(4) ANYWARP_FP8_NAME(name, 4) {                                                         \
        __nv_fp8x4_storage_t __x;                                                                           \
        ANYWARP_FP8_NAME(name, 4)() = default;                                                              \
        explicit ANYWARP_BOTH ANYWARP_FP8_NAME(name, 4)(float4 v)                                           \
            : __x(__nv_cvt_float2_to_fp8x2(make_float2(v.x, v.y), __NV_SATFINITE, as) |                     \
                  (unsigned)__nv_cvt_float2_to_fp8x2(make_float2(v.z, v.w), __NV_SATFINITE, as) << 16) {}   \
        explicit ANYWARP_BOTH operator float4() const {                                                     \
            float2 low = __half22float2(__half2(__nv_cvt_fp8x2_to_halfraw2((unsigned short)__x, as)));      \
            float2 high = __half22float2(__half2(__nv_cvt_fp8x2_to_halfraw2((unsigned short)(__x >> 16), as))); \
            return make_float4(low.x, low.y, high.x, high.y);                                               \
        }                                                                                                   \
    };
#define ANYWARP_FP8_NAME(name, count) ANYWARP_FP8_##count##name
#define ANYWARP_FP8_2__nv_fp8_e4m3 __nv_fp8x2_e4m3
#define ANYWARP_FP8_4__nv_fp8_e4m3 __nv_fp8x4_e4m3
#define ANYWARP_FP8_2__nv_fp8_e5m2 __nv_fp8x2_e5m2
#define ANYWARP_FP8_4__nv_fp8_e5m2 __nv_fp8x4_e5m2
ANYWARP_FP8(__nv_fp8_e4m3, __NV_E4M3)
ANYWARP_FP8(__nv_fp8_e5m2, __NV_E5M2)
#undef ANYWARP_FP8
#undef ANYWARP_FP8_NAME

#endif
