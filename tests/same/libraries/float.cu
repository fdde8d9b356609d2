// Functions of the device library's libm, in single precision, on ordinary numbers and on patterns of bits,
// which include infinities, NaNs and subnormals. The errors allowed are those of OpenCL C for the full profile.
// run f32_sin grid=4 block=64
// within 4
// x: f32[256] = i * 0.37 - 47
// e: u32[256] = i * 0x01010101
// o: f32[512] = 0
// run f32_cos grid=4 block=64
// within 4
// x: f32[256] = i * 0.37 - 47
// e: u32[256] = i * 0x01010101
// o: f32[512] = 0
// run f32_tan grid=4 block=64
// within 5
// x: f32[256] = i * 0.37 - 47
// e: u32[256] = i * 0x01010101
// o: f32[512] = 0
// run f32_asin grid=4 block=64
// within 4
// x: f32[256] = i * 0.0078 - 1
// e: u32[256] = i * 0x01010101
// o: f32[512] = 0
// run f32_acos grid=4 block=64
// within 4
// x: f32[256] = i * 0.0078 - 1
// e: u32[256] = i * 0x01010101
// o: f32[512] = 0
// run f32_atan grid=4 block=64
// within 5
// x: f32[256] = i * 0.37 - 47
// e: u32[256] = i * 0x01010101
// o: f32[512] = 0
// run f32_sinh grid=4 block=64
// within 4
// x: f32[256] = i * 0.37 - 47
// e: u32[256] = i * 0x01010101
// o: f32[512] = 0
// run f32_cosh grid=4 block=64
// within 4
// x: f32[256] = i * 0.37 - 47
// e: u32[256] = i * 0x01010101
// o: f32[512] = 0
// run f32_tanh grid=4 block=64
// within 5
// x: f32[256] = i * 0.037 - 4.7
// e: u32[256] = i * 0x01010101
// o: f32[512] = 0
// run f32_asinh grid=4 block=64
// within 4
// x: f32[256] = i * 0.37 - 47
// e: u32[256] = i * 0x01010101
// o: f32[512] = 0
// run f32_acosh grid=4 block=64
// within 4
// x: f32[256] = i * 0.37 + 1
// e: u32[256] = i * 0x01010101
// o: f32[512] = 0
// run f32_atanh grid=4 block=64
// within 5
// x: f32[256] = i * 0.0078 - 1
// e: u32[256] = i * 0x01010101
// o: f32[512] = 0
// run f32_exp grid=4 block=64
// within 3
// x: f32[256] = i * 0.37 - 47
// e: u32[256] = i * 0x01010101
// o: f32[512] = 0
// run f32_exp2 grid=4 block=64
// within 3
// x: f32[256] = i * 0.37 - 47
// e: u32[256] = i * 0x01010101
// o: f32[512] = 0
// run f32_exp10 grid=4 block=64
// within 3
// x: f32[256] = i * 0.27 - 35
// e: u32[256] = i * 0x01010101
// o: f32[512] = 0
// run f32_expm1 grid=4 block=64
// within 3
// x: f32[256] = i * 0.07 - 8
// e: u32[256] = i * 0x01010101
// o: f32[512] = 0
// run f32_log grid=4 block=64
// within 3
// x: f32[256] = i * 0.037 + 0.01
// e: u32[256] = i * 0x01010101
// o: f32[512] = 0
// run f32_log2 grid=4 block=64
// within 3
// x: f32[256] = i * 0.037 + 0.01
// e: u32[256] = i * 0x01010101
// o: f32[512] = 0
// run f32_log10 grid=4 block=64
// within 3
// x: f32[256] = i * 0.037 + 0.01
// e: u32[256] = i * 0x01010101
// o: f32[512] = 0
// run f32_log1p grid=4 block=64
// within 2
// x: f32[256] = i * 0.037 - 0.9
// e: u32[256] = i * 0x01010101
// o: f32[512] = 0
// run f32_cbrt grid=4 block=64
// within 2
// x: f32[256] = i * 0.37 - 47
// e: u32[256] = i * 0x01010101
// o: f32[512] = 0
// run f32_rsqrt grid=4 block=64
// within 2
// x: f32[256] = i * 0.37 + 0.01
// e: u32[256] = i * 0x01010101
// o: f32[512] = 0
// run f32_sinpi grid=4 block=64
// within 4
// x: f32[256] = i * 0.0371 - 4.7
// e: u32[256] = i * 0x01010101
// o: f32[512] = 0
// run f32_cospi grid=4 block=64
// within 4
// x: f32[256] = i * 0.0371 - 4.7
// e: u32[256] = i * 0x01010101
// o: f32[512] = 0
// run f32_erf grid=4 block=64
// within 16
// x: f32[256] = i * 0.037 - 4.7
// e: u32[256] = i * 0x01010101
// o: f32[512] = 0
// run f32_erfc grid=4 block=64
// within 16
// x: f32[256] = i * 0.037 - 4.7
// e: u32[256] = i * 0x01010101
// o: f32[512] = 0
// run f32_tgamma grid=4 block=64
// within 16
// x: f32[256] = i * 0.137 - 4.7
// e: u32[256] = i * 0x01010101
// o: f32[512] = 0
// run f32_pow grid=4 block=64
// within 16
// x: f32[256] = i * 0.037 + 0.01
// y: f32[256] = i * 0.07 - 9
// e: u32[256] = i * 0x01010101
// o: f32[512] = 0
// run f32_atan2 grid=4 block=64
// within 6
// x: f32[256] = i * 0.37 - 47
// y: f32[256] = 40 - i * 0.31
// e: u32[256] = i * 0x01010101
// o: f32[512] = 0
// run f32_hypot grid=4 block=64
// within 4
// x: f32[256] = i * 0.37 - 47
// y: f32[256] = 40 - i * 0.31
// e: u32[256] = i * 0x01010101
// o: f32[512] = 0
// run f32_fmod grid=4 block=64
// within 0
// x: f32[256] = i * 37.1 - 4700
// y: f32[256] = i * 0.31 + 0.1
// e: u32[256] = i * 0x01010101
// o: f32[512] = 0
// run f32_remainder grid=4 block=64
// within 0
// x: f32[256] = i * 37.1 - 4700
// y: f32[256] = i * 0.31 + 0.1
// e: u32[256] = i * 0x01010101
// o: f32[512] = 0
// run f32_fma grid=4 block=64
// within 0
// x: f32[256] = i * 0.37 - 47
// y: f32[256] = 40 - i * 0.31
// e: u32[256] = i * 0x01010101
// o: f32[512] = 0
#include "math.h"

ONE_F32(sin)
ONE_F32(cos)
ONE_F32(tan)
ONE_F32(asin)
ONE_F32(acos)
ONE_F32(atan)
ONE_F32(sinh)
ONE_F32(cosh)
ONE_F32(tanh)
ONE_F32(asinh)
ONE_F32(acosh)
ONE_F32(atanh)
ONE_F32(exp)
ONE_F32(exp2)
ONE_F32(exp10)
ONE_F32(expm1)
ONE_F32(log)
ONE_F32(log2)
ONE_F32(log10)
ONE_F32(log1p)
ONE_F32(cbrt)
ONE_F32(rsqrt)
ONE_F32(sinpi)
ONE_F32(cospi)
ONE_F32(erf)
ONE_F32(erfc)
ONE_F32(tgamma)
TWO_F32(pow)
TWO_F32(atan2)
TWO_F32(hypot)
TWO_F32(fmod)
TWO_F32(remainder)
THREE_F32(fma)
