// Functions of the device library's libm, in double precision, on ordinary numbers and on patterns of bits,
// which include infinities, NaNs and subnormals. The errors allowed are those of OpenCL C for the full profile.
// run f64_sin grid=4 block=64
// within 4
// x: f64[256] = i * 0.37 - 47
// e: u64[256] = i * 0x0101010101010101
// o: f64[512] = 0
// run f64_cos grid=4 block=64
// within 4
// x: f64[256] = i * 0.37 - 47
// e: u64[256] = i * 0x0101010101010101
// o: f64[512] = 0
// run f64_tan grid=4 block=64
// within 5
// x: f64[256] = i * 0.37 - 47
// e: u64[256] = i * 0x0101010101010101
// o: f64[512] = 0
// run f64_asin grid=4 block=64
// within 4
// x: f64[256] = i * 0.0078 - 1
// e: u64[256] = i * 0x0101010101010101
// o: f64[512] = 0
// run f64_acos grid=4 block=64
// within 4
// x: f64[256] = i * 0.0078 - 1
// e: u64[256] = i * 0x0101010101010101
// o: f64[512] = 0
// run f64_atan grid=4 block=64
// within 5
// x: f64[256] = i * 0.37 - 47
// e: u64[256] = i * 0x0101010101010101
// o: f64[512] = 0
// run f64_sinh grid=4 block=64
// within 4
// x: f64[256] = i * 0.37 - 47
// e: u64[256] = i * 0x0101010101010101
// o: f64[512] = 0
// run f64_cosh grid=4 block=64
// within 4
// x: f64[256] = i * 0.37 - 47
// e: u64[256] = i * 0x0101010101010101
// o: f64[512] = 0
// run f64_tanh grid=4 block=64
// within 5
// x: f64[256] = i * 0.037 - 4.7
// e: u64[256] = i * 0x0101010101010101
// o: f64[512] = 0
// run f64_asinh grid=4 block=64
// within 4
// x: f64[256] = i * 0.37 - 47
// e: u64[256] = i * 0x0101010101010101
// o: f64[512] = 0
// run f64_acosh grid=4 block=64
// within 4
// x: f64[256] = i * 0.37 + 1
// e: u64[256] = i * 0x0101010101010101
// o: f64[512] = 0
// run f64_atanh grid=4 block=64
// within 5
// x: f64[256] = i * 0.0078 - 1
// e: u64[256] = i * 0x0101010101010101
// o: f64[512] = 0
// run f64_exp grid=4 block=64
// within 3
// x: f64[256] = i * 0.37 - 47
// e: u64[256] = i * 0x0101010101010101
// o: f64[512] = 0
// run f64_exp2 grid=4 block=64
// within 3
// x: f64[256] = i * 0.37 - 47
// e: u64[256] = i * 0x0101010101010101
// o: f64[512] = 0
// run f64_exp10 grid=4 block=64
// within 3
// x: f64[256] = i * 0.27 - 35
// e: u64[256] = i * 0x0101010101010101
// o: f64[512] = 0
// run f64_expm1 grid=4 block=64
// within 3
// x: f64[256] = i * 0.07 - 8
// e: u64[256] = i * 0x0101010101010101
// o: f64[512] = 0
// run f64_log grid=4 block=64
// within 3
// x: f64[256] = i * 0.037 + 0.01
// e: u64[256] = i * 0x0101010101010101
// o: f64[512] = 0
// run f64_log2 grid=4 block=64
// within 3
// x: f64[256] = i * 0.037 + 0.01
// e: u64[256] = i * 0x0101010101010101
// o: f64[512] = 0
// run f64_log10 grid=4 block=64
// within 3
// x: f64[256] = i * 0.037 + 0.01
// e: u64[256] = i * 0x0101010101010101
// o: f64[512] = 0
// run f64_log1p grid=4 block=64
// within 2
// x: f64[256] = i * 0.037 - 0.9
// e: u64[256] = i * 0x0101010101010101
// o: f64[512] = 0
// run f64_cbrt grid=4 block=64
// within 2
// x: f64[256] = i * 0.37 - 47
// e: u64[256] = i * 0x0101010101010101
// o: f64[512] = 0
// run f64_rsqrt grid=4 block=64
// within 2
// x: f64[256] = i * 0.37 + 0.01
// e: u64[256] = i * 0x0101010101010101
// o: f64[512] = 0
// run f64_sinpi grid=4 block=64
// within 4
// x: f64[256] = i * 0.0371 - 4.7
// e: u64[256] = i * 0x0101010101010101
// o: f64[512] = 0
// run f64_cospi grid=4 block=64
// within 4
// x: f64[256] = i * 0.0371 - 4.7
// e: u64[256] = i * 0x0101010101010101
// o: f64[512] = 0
// run f64_erf grid=4 block=64
// within 16
// x: f64[256] = i * 0.037 - 4.7
// e: u64[256] = i * 0x0101010101010101
// o: f64[512] = 0
// run f64_erfc grid=4 block=64
// within 16
// x: f64[256] = i * 0.037 - 4.7
// e: u64[256] = i * 0x0101010101010101
// o: f64[512] = 0
// run f64_tgamma grid=4 block=64
// within 16
// x: f64[256] = i * 0.137 - 4.7
// e: u64[256] = i * 0x0101010101010101
// o: f64[512] = 0
// run f64_pow grid=4 block=64
// within 16
// x: f64[256] = i * 0.037 + 0.01
// y: f64[256] = i * 0.07 - 9
// e: u64[256] = i * 0x0101010101010101
// o: f64[512] = 0
// run f64_atan2 grid=4 block=64
// within 6
// x: f64[256] = i * 0.37 - 47
// y: f64[256] = 40 - i * 0.31
// e: u64[256] = i * 0x0101010101010101
// o: f64[512] = 0
// run f64_hypot grid=4 block=64
// within 4
// x: f64[256] = i * 0.37 - 47
// y: f64[256] = 40 - i * 0.31
// e: u64[256] = i * 0x0101010101010101
// o: f64[512] = 0
// run f64_fmod grid=4 block=64
// within 0
// x: f64[256] = i * 37.1 - 4700
// y: f64[256] = i * 0.31 + 0.1
// e: u64[256] = i * 0x0101010101010101
// o: f64[512] = 0
// run f64_remainder grid=4 block=64
// within 0
// x: f64[256] = i * 37.1 - 4700
// y: f64[256] = i * 0.31 + 0.1
// e: u64[256] = i * 0x0101010101010101
// o: f64[512] = 0
// run f64_fma grid=4 block=64
// within 0
// x: f64[256] = i * 0.37 - 47
// y: f64[256] = 40 - i * 0.31
// e: u64[256] = i * 0x0101010101010101
// o: f64[512] = 0
#include "math.h"

ONE_F64(sin)
ONE_F64(cos)
ONE_F64(tan)
ONE_F64(asin)
ONE_F64(acos)
ONE_F64(atan)
ONE_F64(sinh)
ONE_F64(cosh)
ONE_F64(tanh)
ONE_F64(asinh)
ONE_F64(acosh)
ONE_F64(atanh)
ONE_F64(exp)
ONE_F64(exp2)
ONE_F64(exp10)
ONE_F64(expm1)
ONE_F64(log)
ONE_F64(log2)
ONE_F64(log10)
ONE_F64(log1p)
ONE_F64(cbrt)
ONE_F64(rsqrt)
ONE_F64(sinpi)
ONE_F64(cospi)
ONE_F64(erf)
ONE_F64(erfc)
ONE_F64(tgamma)
TWO_F64(pow)
TWO_F64(atan2)
TWO_F64(hypot)
TWO_F64(fmod)
TWO_F64(remainder)
THREE_F64(fma)
