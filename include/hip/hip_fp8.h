/*
 * Anywarp's declaration of HIP: numbers of 8 bits, with 4 bits of exponent (E4M3) and with 5 (E5M2). Those
 * named FNUZ have no infinities and no negative zero, whose bits are what is no number, and a bias that is
 * greater by 1; the others are CUDA's. They are for GPU languages.
 *
 * Written for this project. Names, values and layouts are those of the interface, so a program compiled with
 * this file calls the library in the same way as one compiled with any other header of the same version.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ANYWARP_HIP_HIP_FP8_H
#define ANYWARP_HIP_HIP_FP8_H

#include <hip/hip_runtime.h>
#ifdef ANYWARP_GPU_LANGUAGE
#include <cuda_fp8.h>
#include <hip/hip_bf16.h>

#pragma clang system_header

enum __hip_fp8_interpretation_t { __HIP_E4M3 = 0, __HIP_E5M2 = 1, __HIP_E4M3_FNUZ = 2, __HIP_E5M2_FNUZ = 3 };
enum __hip_saturation_t { __HIP_NOSAT = 0, __HIP_SATFINITE = 1 };
typedef __nv_fp8_storage_t __hip_fp8_storage_t;
typedef __nv_fp8x2_storage_t __hip_fp8x2_storage_t;
typedef __nv_fp8x4_storage_t __hip_fp8x4_storage_t;
typedef __nv_fp8_e4m3 __hip_fp8_e4m3;
typedef __nv_fp8_e5m2 __hip_fp8_e5m2;
typedef __nv_fp8x2_e4m3 __hip_fp8x2_e4m3;
typedef __nv_fp8x2_e5m2 __hip_fp8x2_e5m2;
typedef __nv_fp8x4_e4m3 __hip_fp8x4_e4m3;
typedef __nv_fp8x4_e5m2 __hip_fp8x4_e5m2;

static __inline__ ANYWARP_BOTH __hip_fp8_storage_t __hip_cvt_double_to_fp8(double v,
                                                                           __hip_saturation_t saturate,
                                                                           __hip_fp8_interpretation_t as) {
    if (as == __HIP_E4M3 || as == __HIP_E5M2)
        return __nv_cvt_double_to_fp8(v, (__nv_saturation_t)saturate, (__nv_fp8_interpretation_t)as);
    const int exponent = as == __HIP_E4M3_FNUZ ? 4 : 5;
    if (v != v)
        return 0x80;
    /* The greater bias is that of IEEE's formats for twice the number. The first bits beyond the largest
     * number. */
    unsigned bits = anywarp::narrow(v * 2, exponent, 7 - exponent, anywarp::to_nearest, 0x80);
    unsigned magnitude =
        anywarp::narrow(__builtin_fabs(v) * 2, exponent, 7 - exponent, anywarp::to_nearest, 0x80);
    if (magnitude == 0)
        return 0;
    if (magnitude >= 0x80)
        return (__hip_fp8_storage_t)(saturate == __HIP_NOSAT ? 0x80 : v < 0 ? 0xff : 0x7f);
    return (__hip_fp8_storage_t)bits;
}
static __inline__ ANYWARP_BOTH float anywarp_of_fp8(__hip_fp8_storage_t v, __hip_fp8_interpretation_t as) {
    if (as == __HIP_E4M3 || as == __HIP_E5M2)
        return (float)__half(__nv_cvt_fp8_to_halfraw(v, (__nv_fp8_interpretation_t)as));
    if (v == 0x80)
        return __builtin_nanf("");
    const int mantissa = as == __HIP_E4M3_FNUZ ? 3 : 2, bias = as == __HIP_E4M3_FNUZ ? 8 : 16;
    int power = (v & 0x7f) >> mantissa, digits = v & ((1 << mantissa) - 1);
    digits |= power ? 1 << mantissa : 0;
    unsigned unit = (unsigned)((power ? power : 1) - bias - mantissa + 127) << 23;
    return (v & 0x80 ? -1.0f : 1.0f) * (float)digits * __builtin_bit_cast(float, unit);
}
static __inline__ ANYWARP_BOTH __hip_fp8_storage_t __hip_cvt_float_to_fp8(float v,
                                                                          __hip_saturation_t saturate,
                                                                          __hip_fp8_interpretation_t as) {
    return __hip_cvt_double_to_fp8(v, saturate, as);
}
static __inline__ ANYWARP_BOTH __hip_fp8_storage_t __hip_cvt_halfraw_to_fp8(__half_raw v,
                                                                            __hip_saturation_t saturate,
                                                                            __hip_fp8_interpretation_t as) {
    return __hip_cvt_double_to_fp8((float)__half(v), saturate, as);
}
static __inline__ ANYWARP_BOTH __hip_fp8_storage_t __hip_cvt_bfloat16raw_to_fp8(
    __hip_bfloat16_raw v, __hip_saturation_t saturate, __hip_fp8_interpretation_t as) {
    return __hip_cvt_double_to_fp8((float)__hip_bfloat16(v), saturate, as);
}
#define ANYWARP_TWO(name, of, T, x_, y_)                                                                     \
    static __inline__ ANYWARP_BOTH __hip_fp8x2_storage_t name(T v, __hip_saturation_t saturate,              \
                                                              __hip_fp8_interpretation_t as) {               \
        return (__hip_fp8x2_storage_t)(of(x_, saturate, as) | of(y_, saturate, as) << 8);                    \
    }
ANYWARP_TWO(__hip_cvt_float2_to_fp8x2, __hip_cvt_float_to_fp8, float2, v.x, v.y)
ANYWARP_TWO(__hip_cvt_double2_to_fp8x2, __hip_cvt_double_to_fp8, double2, v.x, v.y)
ANYWARP_TWO(__hip_cvt_halfraw2_to_fp8x2, __hip_cvt_halfraw_to_fp8, __half2_raw, __half_raw{v.x},
            __half_raw{v.y})
ANYWARP_TWO(__hip_cvt_bfloat16raw2_to_fp8x2, __hip_cvt_bfloat16raw_to_fp8, __hip_bfloat162_raw,
            __hip_bfloat16_raw{v.x}, __hip_bfloat16_raw{v.y})
#undef ANYWARP_TWO
static __inline__ ANYWARP_BOTH __half_raw __hip_cvt_fp8_to_halfraw(__hip_fp8_storage_t v,
                                                                   __hip_fp8_interpretation_t as) {
    return (__half_raw)__half(anywarp_of_fp8(v, as));
}
static __inline__ ANYWARP_BOTH __half2_raw __hip_cvt_fp8x2_to_halfraw2(__hip_fp8x2_storage_t v,
                                                                       __hip_fp8_interpretation_t as) {
    return __half2_raw{__hip_cvt_fp8_to_halfraw((__hip_fp8_storage_t)v, as).x,
                       __hip_cvt_fp8_to_halfraw((__hip_fp8_storage_t)(v >> 8), as).x};
}

/* The types; conversions to them saturate. The first number has the lowest bits. */
#define ANYWARP_FNUZ(name, name2, name4, as)                                                                 \
    struct name {                                                                                            \
        __hip_fp8_storage_t __x;                                                                             \
        static constexpr __hip_saturation_t __default_saturation = __HIP_SATFINITE;                          \
        static constexpr __hip_fp8_interpretation_t __default_interpret = as;                                \
        name() = default;                                                                                    \
        template <class T> ANYWARP_BOTH name(T v)                                                            \
            : __x(__hip_cvt_double_to_fp8((double)v, __HIP_SATFINITE, as)) {}                                \
        ANYWARP_BOTH name(__half v) : __x(__hip_cvt_double_to_fp8((float)v, __HIP_SATFINITE, as)) {}         \
        ANYWARP_BOTH name(__hip_bfloat16 v) : __x(__hip_cvt_double_to_fp8((float)v, __HIP_SATFINITE, as)) {} \
        ANYWARP_BOTH operator float() const { return anywarp_of_fp8(__x, as); }                              \
        explicit ANYWARP_BOTH operator __half() const { return __half((float)*this); }                       \
        explicit ANYWARP_BOTH operator __hip_bfloat16() const { return __hip_bfloat16((float)*this); }       \
    };                                                                                                       \
    struct __align__(2) name2 {                                                                              \
        __hip_fp8x2_storage_t __x;                                                                           \
        static constexpr __hip_saturation_t __default_saturation = __HIP_SATFINITE;                          \
        static constexpr __hip_fp8_interpretation_t __default_interpret = as;                                \
        name2() = default;                                                                                   \
        ANYWARP_BOTH name2(float2 v) : __x(__hip_cvt_float2_to_fp8x2(v, __HIP_SATFINITE, as)) {}             \
        ANYWARP_BOTH name2(double2 v) : __x(__hip_cvt_double2_to_fp8x2(v, __HIP_SATFINITE, as)) {}           \
        ANYWARP_BOTH name2(__half2 v) : __x(__hip_cvt_halfraw2_to_fp8x2(v, __HIP_SATFINITE, as)) {}          \
        ANYWARP_BOTH name2(__hip_bfloat162 v)                                                                \
            : __x(__hip_cvt_bfloat16raw2_to_fp8x2(v, __HIP_SATFINITE, as)) {}                                \
        explicit ANYWARP_BOTH operator __half2() const {                                                     \
            return __half2(__hip_cvt_fp8x2_to_halfraw2(__x, as));                                            \
        }                                                                                                    \
        ANYWARP_BOTH operator float2() const {                                                               \
            return float2{anywarp_of_fp8((unsigned char)__x, as),                                            \
                          anywarp_of_fp8((unsigned char)(__x >> 8), as)};                                    \
        }                                                                                                    \
    };                                                                                                       \
    struct __align__(4) name4 {                                                                              \
        __hip_fp8x4_storage_t __x;                                                                           \
        static constexpr __hip_saturation_t __default_saturation = __HIP_SATFINITE;                          \
        static constexpr __hip_fp8_interpretation_t __default_interpret = as;                                \
        name4() = default;                                                                                   \
        ANYWARP_BOTH name4(float4 v)                                                                         \
            : __x(__hip_cvt_float2_to_fp8x2(float2{v.x, v.y}, __HIP_SATFINITE, as) |                         \
                  (unsigned)__hip_cvt_float2_to_fp8x2(float2{v.z, v.w}, __HIP_SATFINITE, as) << 16) {}       \
        ANYWARP_BOTH name4(double4 v)                                                                        \
            : __x(__hip_cvt_double2_to_fp8x2(double2{v.x, v.y}, __HIP_SATFINITE, as) |                       \
                  (unsigned)__hip_cvt_double2_to_fp8x2(double2{v.z, v.w}, __HIP_SATFINITE, as) << 16) {}     \
        ANYWARP_BOTH name4(__half2 low, __half2 high)                                                        \
            : __x(__hip_cvt_halfraw2_to_fp8x2(low, __HIP_SATFINITE, as) |                                    \
                  (unsigned)__hip_cvt_halfraw2_to_fp8x2(high, __HIP_SATFINITE, as) << 16) {}                 \
        ANYWARP_BOTH name4(__hip_bfloat162 low, __hip_bfloat162 high)                                        \
            : __x(__hip_cvt_bfloat16raw2_to_fp8x2(low, __HIP_SATFINITE, as) |                                \
                  (unsigned)__hip_cvt_bfloat16raw2_to_fp8x2(high, __HIP_SATFINITE, as) << 16) {}             \
        ANYWARP_BOTH operator float4() const {                                                               \
            return float4{anywarp_of_fp8((unsigned char)__x, as),                                            \
                          anywarp_of_fp8((unsigned char)(__x >> 8), as),                                     \
                          anywarp_of_fp8((unsigned char)(__x >> 16), as),                                    \
                          anywarp_of_fp8((unsigned char)(__x >> 24), as)};                                   \
        }                                                                                                    \
    };
ANYWARP_FNUZ(__hip_fp8_e4m3_fnuz, __hip_fp8x2_e4m3_fnuz, __hip_fp8x4_e4m3_fnuz, __HIP_E4M3_FNUZ)
ANYWARP_FNUZ(__hip_fp8_e5m2_fnuz, __hip_fp8x2_e5m2_fnuz, __hip_fp8x4_e5m2_fnuz, __HIP_E5M2_FNUZ)
#undef ANYWARP_FNUZ
#endif

#endif
