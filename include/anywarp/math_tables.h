/*
 * Anywarp's headers for GPU languages: polynomials and constants of the mathematical functions.
 * tests/cc/coefficients.py writes this file.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ANYWARP_MATH_TABLES_H
#define ANYWARP_MATH_TABLES_H

#include <anywarp/target.h>

namespace anywarp {

/* (exp(x) - 1 - x) / x^2, on [-0.34692, 0.34692]; largest relative error 3.7e-20. */
ANYWARP_DEVICE double poly_exp(double x) {
    double y = 0x1.61bff1c64f494p-33;
    y = __builtin_fma(y, x, 0x1.1f7f6aa421dd8p-29);
    y = __builtin_fma(y, x, 0x1.ae642c5c1fa33p-26);
    y = __builtin_fma(y, x, 0x1.27e4d3f50d87fp-22);
    y = __builtin_fma(y, x, 0x1.71de3a5aaefb9p-19);
    y = __builtin_fma(y, x, 0x1.a01a01a9f72adp-16);
    y = __builtin_fma(y, x, 0x1.a01a01a01969bp-13);
    y = __builtin_fma(y, x, 0x1.6c16c16c15a48p-10);
    y = __builtin_fma(y, x, 0x1.1111111111111p-7);
    y = __builtin_fma(y, x, 0x1.5555555555557p-5);
    y = __builtin_fma(y, x, 0x1.5555555555555p-3);
    y = __builtin_fma(y, x, 0x1.0000000000000p-1);
    return y;
}

/* (exp(x) - 1 - x) / x^2, on [-0.34692, 0.34692]; largest relative error 9.8e-13. */
ANYWARP_DEVICE double poly_exp_short(double x) {
    double y = 0x1.72ada50a7cd68p-19;
    y = __builtin_fma(y, x, 0x1.a137426f16cfcp-16);
    y = __builtin_fma(y, x, 0x1.a019c3324fe13p-13);
    y = __builtin_fma(y, x, 0x1.6c166b8f94446p-10);
    y = __builtin_fma(y, x, 0x1.11111117140a3p-7);
    y = __builtin_fma(y, x, 0x1.55555565dead9p-5);
    y = __builtin_fma(y, x, 0x1.5555555554f8cp-3);
    y = __builtin_fma(y, x, 0x1.fffffffffe028p-2);
    return y;
}

/* (sin(r) - r) / r^3, x = r^2, on [0.0, 0.618085]; largest relative error 3.3e-23. */
ANYWARP_DEVICE double poly_sin(double x) {
    double y = 0x1.92413fd9b9768p-49;
    y = __builtin_fma(y, x, -0x1.ae7c50d10c1fdp-41);
    y = __builtin_fma(y, x, 0x1.61245fb2b0af7p-33);
    y = __builtin_fma(y, x, -0x1.ae64567e71537p-26);
    y = __builtin_fma(y, x, 0x1.71de3a556c2bdp-19);
    y = __builtin_fma(y, x, -0x1.a01a01a01a019p-13);
    y = __builtin_fma(y, x, 0x1.1111111111111p-7);
    y = __builtin_fma(y, x, -0x1.5555555555555p-3);
    return y;
}

/* (cos(r) - 1 + r^2 / 2) / r^4, x = r^2, on [0.0, 0.618085]; largest relative error 6.5e-24. */
ANYWARP_DEVICE double poly_cos(double x) {
    double y = -0x1.65d18fe933621p-53;
    y = __builtin_fma(y, x, 0x1.ae7ce67d816f8p-45);
    y = __builtin_fma(y, x, -0x1.9397495269c33p-37);
    y = __builtin_fma(y, x, 0x1.1eed8eff32b32p-29);
    y = __builtin_fma(y, x, -0x1.27e4fb7789d93p-22);
    y = __builtin_fma(y, x, 0x1.a01a01a01a019p-16);
    y = __builtin_fma(y, x, -0x1.6c16c16c16c17p-10);
    y = __builtin_fma(y, x, 0x1.5555555555555p-5);
    return y;
}

/* (sin(r) - r) / r^3, x = r^2, on [0.0, 0.618085]; largest relative error 1.7e-13. */
ANYWARP_DEVICE double poly_sin_short(double x) {
    double y = -0x1.aa262ee715b00p-26;
    y = __builtin_fma(y, x, 0x1.71d9a549ac8fbp-19);
    y = __builtin_fma(y, x, -0x1.a019fd95094bep-13);
    y = __builtin_fma(y, x, 0x1.1111110fd1496p-7);
    y = __builtin_fma(y, x, -0x1.5555555555161p-3);
    return y;
}

/* (cos(r) - 1 + r^2 / 2) / r^4, x = r^2, on [0.0, 0.618085]; largest relative error 4.9e-14. */
ANYWARP_DEVICE double poly_cos_short(double x) {
    double y = 0x1.1c808728603bbp-29;
    y = __builtin_fma(y, x, -0x1.27e25ca05d2bep-22);
    y = __builtin_fma(y, x, 0x1.a019ff501e5c1p-16);
    y = __builtin_fma(y, x, -0x1.6c16c16b5fdb7p-10);
    y = __builtin_fma(y, x, 0x1.5555555555434p-5);
    return y;
}

/* (atan(t) - t) / t^3, x = t^2, on [0.0, 0.1922]; largest relative error 2.1e-20. */
ANYWARP_DEVICE double poly_atan(double x) {
    double y = 0x1.5bc82df14ab05p-7;
    y = __builtin_fma(y, x, -0x1.a5ca90912cdf3p-6);
    y = __builtin_fma(y, x, 0x1.2ab81cec6a816p-5);
    y = __builtin_fma(y, x, -0x1.5df12260ddb10p-5);
    y = __builtin_fma(y, x, 0x1.852697786b669p-5);
    y = __builtin_fma(y, x, -0x1.af0e55f564d60p-5);
    y = __builtin_fma(y, x, 0x1.e1dfe1d878624p-5);
    y = __builtin_fma(y, x, -0x1.1111034e350f4p-4);
    y = __builtin_fma(y, x, 0x1.3b13b0ba036c8p-4);
    y = __builtin_fma(y, x, -0x1.745d1742bed1fp-4);
    y = __builtin_fma(y, x, 0x1.c71c71c71132bp-4);
    y = __builtin_fma(y, x, -0x1.24924924923e6p-3);
    y = __builtin_fma(y, x, 0x1.9999999999999p-3);
    y = __builtin_fma(y, x, -0x1.5555555555555p-2);
    return y;
}

/* (asin(t) - t) / t^3, x = t^2, on [0.0, 0.2501]; largest relative error 2.2e-20. */
ANYWARP_DEVICE double poly_asin(double x) {
    double y = 0x1.06fcd949c1e78p-5;
    y = __builtin_fma(y, x, -0x1.e0b879df5f284p-6);
    y = __builtin_fma(y, x, 0x1.b2bd99109a205p-6);
    y = __builtin_fma(y, x, -0x1.66ca5d75ad4acp-9);
    y = __builtin_fma(y, x, 0x1.1ea468002e24fp-7);
    y = __builtin_fma(y, x, 0x1.c219ebbec4475p-8);
    y = __builtin_fma(y, x, 0x1.14f9d59122682p-7);
    y = __builtin_fma(y, x, 0x1.3fa8f6a7b6773p-7);
    y = __builtin_fma(y, x, 0x1.7a8b785f94c23p-7);
    y = __builtin_fma(y, x, 0x1.c99964a6c4b60p-7);
    y = __builtin_fma(y, x, 0x1.1c4ec5e133245p-6);
    y = __builtin_fma(y, x, 0x1.6e8ba2e2ef9c4p-6);
    y = __builtin_fma(y, x, 0x1.f1c71c71dc425p-6);
    y = __builtin_fma(y, x, 0x1.6db6db6db6c73p-5);
    y = __builtin_fma(y, x, 0x1.3333333333334p-4);
    y = __builtin_fma(y, x, 0x1.5555555555555p-3);
    return y;
}

/* (log((1 + s) / (1 - s)) - 2 s) / s^3, x = s^2, on [0.0, 0.0294667]; largest relative error 2.1e-20. */
ANYWARP_DEVICE double poly_log(double x) {
    double y = 0x1.e6bf079f670fep-4;
    y = __builtin_fma(y, x, 0x1.debd2cc5021e0p-4);
    y = __builtin_fma(y, x, 0x1.111d30dcfa14ap-3);
    y = __builtin_fma(y, x, 0x1.3b137afb813a0p-3);
    y = __builtin_fma(y, x, 0x1.745d17d40cf59p-3);
    y = __builtin_fma(y, x, 0x1.c71c71c64b463p-3);
    y = __builtin_fma(y, x, 0x1.2492492492962p-2);
    y = __builtin_fma(y, x, 0x1.9999999999998p-2);
    y = __builtin_fma(y, x, 0x1.5555555555555p-1);
    return y;
}

/* (log((1 + s) / (1 - s)) - 2 s) / s^3, x = s^2, on [0.0, 0.0294667]; largest relative error 1.1e-11. */
ANYWARP_DEVICE double poly_log_short(double x) {
    double y = 0x1.8c92867b49a01p-3;
    y = __builtin_fma(y, x, 0x1.c67a84e8a4ba0p-3);
    y = __builtin_fma(y, x, 0x1.249324907dae3p-2);
    y = __builtin_fma(y, x, 0x1.999998ca249fbp-2);
    y = __builtin_fma(y, x, 0x1.5555555564fdap-1);
    return y;
}

/* the same without the terms up to s^7, divided by s^9, on [0.0, 0.0294667]; largest relative error 4.8e-20. */
ANYWARP_DEVICE double poly_log_tail(double x) {
    double y = 0x1.72fa397838620p-4;
    y = __builtin_fma(y, x, 0x1.61b974e12de3ap-4);
    y = __builtin_fma(y, x, 0x1.862b47d39d82ap-4);
    y = __builtin_fma(y, x, 0x1.af281736f3f74p-4);
    y = __builtin_fma(y, x, 0x1.e1e1e2bfa505cp-4);
    y = __builtin_fma(y, x, 0x1.111111106dfe8p-3);
    y = __builtin_fma(y, x, 0x1.3b13b13b14294p-3);
    y = __builtin_fma(y, x, 0x1.745d1745d1744p-3);
    y = __builtin_fma(y, x, 0x1.c71c71c71c71cp-3);
    return y;
}

/* erf(r) / r - 2 / sqrt(pi), divided by r^2, x = r^2, on [0.0, 1.001]; largest relative error 6.7e-24. */
ANYWARP_DEVICE double poly_erf(double x) {
    double y = -0x1.43ea1eed06285p-46;
    y = __builtin_fma(y, x, 0x1.d3d9668a2c989p-42);
    y = __builtin_fma(y, x, -0x1.d41642e671027p-38);
    y = __builtin_fma(y, x, 0x1.9e13f8f907c4dp-34);
    y = __builtin_fma(y, x, -0x1.51d2260f24c60p-30);
    y = __builtin_fma(y, x, 0x1.fcc50a9d9bc82p-27);
    y = __builtin_fma(y, x, -0x1.5f742bb75202cp-23);
    y = __builtin_fma(y, x, 0x1.b9e6c9bb4609fp-20);
    y = __builtin_fma(y, x, -0x1.f4d25c3d0ddebp-17);
    y = __builtin_fma(y, x, 0x1.f9a326f9b35fcp-14);
    y = __builtin_fma(y, x, -0x1.c02db40040a65p-11);
    y = __builtin_fma(y, x, 0x1.565bcd0e6a53dp-8);
    y = __builtin_fma(y, x, -0x1.b82ce31288b51p-6);
    y = __builtin_fma(y, x, 0x1.ce2f21a042be2p-4);
    y = __builtin_fma(y, x, -0x1.812746b0379e7p-2);
    return y;
}

/* (1 + 2 r) exp(r^2) erfc(r), x = (r - 4) / (r + 4), on [-1.0, 0.78]; largest relative error 1.8e-20. */
ANYWARP_DEVICE double poly_erfcx(double x) {
    double y = -0x1.74b1816781803p-35;
    y = __builtin_fma(y, x, -0x1.51f21fbeaa0f2p-32);
    y = __builtin_fma(y, x, -0x1.15d00ba3b98f5p-32);
    y = __builtin_fma(y, x, 0x1.58fc252868a5dp-29);
    y = __builtin_fma(y, x, 0x1.e888c59d3b5e9p-29);
    y = __builtin_fma(y, x, -0x1.1441861976f40p-26);
    y = __builtin_fma(y, x, -0x1.72fbe7e60d43ap-26);
    y = __builtin_fma(y, x, 0x1.df81399ea4695p-24);
    y = __builtin_fma(y, x, 0x1.527b05f2519c3p-24);
    y = __builtin_fma(y, x, -0x1.bb7d572691436p-21);
    y = __builtin_fma(y, x, 0x1.385e79ad03318p-22);
    y = __builtin_fma(y, x, 0x1.7f2d60887b6fep-18);
    y = __builtin_fma(y, x, -0x1.78816c4b99297p-17);
    y = __builtin_fma(y, x, -0x1.99598ba4b04d4p-16);
    y = __builtin_fma(y, x, 0x1.3be031ef95362p-13);
    y = __builtin_fma(y, x, -0x1.a1df23f2175e7p-13);
    y = __builtin_fma(y, x, -0x1.8d4a9982ec5afp-11);
    y = __builtin_fma(y, x, 0x1.49c67284cd7ddp-8);
    y = __builtin_fma(y, x, -0x1.0962388556f2dp-6);
    y = __builtin_fma(y, x, 0x1.3079edf685ff1p-5);
    y = __builtin_fma(y, x, -0x1.0fb06dfe4873ap-4);
    y = __builtin_fma(y, x, 0x1.7fee004e12415p-4);
    y = __builtin_fma(y, x, -0x1.9ddb23c3e9124p-4);
    y = __builtin_fma(y, x, 0x1.16ecefcfa539cp-4);
    y = __builtin_fma(y, x, 0x1.f7f5df66fd7c0p-7);
    y = __builtin_fma(y, x, -0x1.1df1ad154a28ep-3);
    y = __builtin_fma(y, x, 0x1.3ba5916e9fd7fp+0);
    return y;
}

/* 1 / gamma(2 + x), on [-0.5001, 0.5001]; largest relative error 3.8e-23. */
ANYWARP_DEVICE double poly_gamma(double x) {
    double y = 0x1.bc05e10be5e49p-37;
    y = __builtin_fma(y, x, 0x1.8003b1f10f530p-34);
    y = __builtin_fma(y, x, -0x1.5e2c48d04a00cp-30);
    y = __builtin_fma(y, x, 0x1.af6e27ca15066p-28);
    y = __builtin_fma(y, x, -0x1.5e9e49bddf188p-33);
    y = __builtin_fma(y, x, -0x1.b94113dd64f9bp-23);
    y = __builtin_fma(y, x, 0x1.674d1ffe5b408p-20);
    y = __builtin_fma(y, x, -0x1.5b7d302006f61p-19);
    y = __builtin_fma(y, x, -0x1.265ee4d09d80bp-16);
    y = __builtin_fma(y, x, 0x1.315655675c53cp-13);
    y = __builtin_fma(y, x, -0x1.7a5da9eb6abb1p-12);
    y = __builtin_fma(y, x, -0x1.a5b350a6bdb62p-11);
    y = __builtin_fma(y, x, 0x1.06e8179e66f7ep-7);
    y = __builtin_fma(y, x, -0x1.21198511756d5p-6);
    y = __builtin_fma(y, x, -0x1.92449b66f2a56p-6);
    y = __builtin_fma(y, x, 0x1.875ac57822509p-3);
    y = __builtin_fma(y, x, -0x1.dd603fb6ac11bp-3);
    y = __builtin_fma(y, x, -0x1.b0ee6072093cep-2);
    y = __builtin_fma(y, x, 0x1.0000000000000p+0);
    return y;
}

/* log(gamma(2 + x)) / (x (x + 1)), on [-0.7501, 0.7501]; largest relative error 3.2e-20. */
ANYWARP_DEVICE double poly_lgamma(double x) {
    double y = -0x1.68de7fddc1d39p-30;
    y = __builtin_fma(y, x, 0x1.7577cd8f3c634p-29);
    y = __builtin_fma(y, x, -0x1.c852b5381ee5bp-31);
    y = __builtin_fma(y, x, 0x1.e07f7f7bae63fp-30);
    y = __builtin_fma(y, x, -0x1.89a4ae61652d1p-27);
    y = __builtin_fma(y, x, 0x1.9a5279ec3209ap-26);
    y = __builtin_fma(y, x, -0x1.6daa182e33083p-25);
    y = __builtin_fma(y, x, 0x1.7f5c850ede08ep-24);
    y = __builtin_fma(y, x, -0x1.9c6a2a4384568p-23);
    y = __builtin_fma(y, x, 0x1.b25ffb7c48e45p-22);
    y = __builtin_fma(y, x, -0x1.c9decf671c091p-21);
    y = __builtin_fma(y, x, 0x1.e54bcf2257ddap-20);
    y = __builtin_fma(y, x, -0x1.0230de54babccp-18);
    y = __builtin_fma(y, x, 0x1.13e4757ba47afp-17);
    y = __builtin_fma(y, x, -0x1.28504fc0858e3p-16);
    y = __builtin_fma(y, x, 0x1.402f0d9d82848p-15);
    y = __builtin_fma(y, x, -0x1.5c86b6745581dp-14);
    y = __builtin_fma(y, x, 0x1.7ed733bc0aeb6p-13);
    y = __builtin_fma(y, x, -0x1.a96a40105ec55p-12);
    y = __builtin_fma(y, x, 0x1.dfebcf8e4be35p-11);
    y = __builtin_fma(y, x, -0x1.145121f99d9b4p-9);
    y = __builtin_fma(y, x, 0x1.47974853aa46ep-8);
    y = __builtin_fma(y, x, -0x1.95ce223a9cbbdp-7);
    y = __builtin_fma(y, x, 0x1.0e0c9df293531p-5);
    y = __builtin_fma(y, x, -0x1.9ae6509ea109fp-4);
    y = __builtin_fma(y, x, 0x1.b0ee6072093cep-2);
    return y;
}

/* The series of Stirling: log(gamma(x)) = (x - 1/2) log(x) - x + log(2 pi) / 2 + y / x, in 1 / x^2. */
ANYWARP_DEVICE double poly_stirling(double x) {
    double y = -0x1.e4286cb0f5398p-6;
    y = __builtin_fma(y, x, 0x1.a41a41a41a41ap-8);
    y = __builtin_fma(y, x, -0x1.f6ab0d9993c7dp-10);
    y = __builtin_fma(y, x, 0x1.b951e2b18ff23p-11);
    y = __builtin_fma(y, x, -0x1.3813813813814p-11);
    y = __builtin_fma(y, x, 0x1.a01a01a01a01ap-11);
    y = __builtin_fma(y, x, -0x1.6c16c16c16c17p-9);
    y = __builtin_fma(y, x, 0x1.5555555555555p-4);
    return y;
}

#define ANYWARP_LN2 0x1.62e42fefa39efp-1
#define ANYWARP_LN2_LOW 0x1.abc9e3b39803fp-56
#define ANYWARP_LOG2E 0x1.71547652b82fep+0
#define ANYWARP_LOG2E_LOW 0x1.777d0ffda0d24p-56
#define ANYWARP_LN10 0x1.26bb1bbb55516p+1
#define ANYWARP_LN10_LOW -0x1.f48ad494ea3e9p-53
#define ANYWARP_LOG10E 0x1.bcb7b1526e50ep-2
#define ANYWARP_LOG10E_LOW 0x1.95355baaafad3p-57
#define ANYWARP_LOG10_2 0x1.34413509f79ffp-2
#define ANYWARP_LOG10_2_LOW -0x1.9dc1da994fd21p-59
#define ANYWARP_PI 0x1.921fb54442d18p+1
#define ANYWARP_PI_LOW 0x1.1a62633145c07p-53
#define ANYWARP_PI_2 0x1.921fb54442d18p+0
#define ANYWARP_PI_2_LOW 0x1.1a62633145c07p-54
#define ANYWARP_PI_4 0x1.921fb54442d18p-1
#define ANYWARP_PI_4_LOW 0x1.1a62633145c07p-55
#define ANYWARP_2_PI 0x1.45f306dc9c883p-1
#define ANYWARP_2_PI_LOW -0x1.6b01ec5417056p-55
#define ANYWARP_2_SQRT_PI 0x1.20dd750429b6dp+0
#define ANYWARP_2_SQRT_PI_LOW 0x1.1ae3a914fed80p-56
#define ANYWARP_SQRT_1_2 0x1.6a09e667f3bcdp-1
#define ANYWARP_SQRT_1_2_LOW -0x1.bdd3413b26456p-55
#define ANYWARP_HALF_LOG_2PI 0x1.d67f1c864beb5p-1
#define ANYWARP_HALF_LOG_2PI_LOW -0x1.65b5a1b7ff5dfp-55
#define ANYWARP_2_3 0x1.5555555555555p-1
#define ANYWARP_2_3_LOW 0x1.5555555555555p-55
#define ANYWARP_2_5 0x1.999999999999ap-2
#define ANYWARP_2_5_LOW -0x1.999999999999ap-56
#define ANYWARP_2_7 0x1.2492492492492p-2
#define ANYWARP_2_7_LOW 0x1.2492492492492p-56
#define ANYWARP_ATAN_1_2 0x1.dac670561bb4fp-2
#define ANYWARP_ATAN_1_2_LOW 0x1.a2b7f222f65e2p-56
#define ANYWARP_ATAN_3_2 0x1.f730bd281f69bp-1
#define ANYWARP_ATAN_3_2_LOW 0x1.007887af0cbbdp-56
#define ANYWARP_SQRT_2PI 0x1.40d931ff62706p+1
#define ANYWARP_SQRT_2PI_LOW -0x1.a6a0d6f814637p-53
/* log(2), log10(2) and pi / 2 in parts whose products with small integers are exact. */
#define ANYWARP_LN2_PART0 0x1.62e42fee00000p-1
#define ANYWARP_LN2_PART1 0x1.a39ef35600000p-33
#define ANYWARP_LN2_PART2 0x1.93c7673007e5fp-65
#define ANYWARP_LOG10_2_PART0 0x1.3441350800000p-2
#define ANYWARP_LOG10_2_PART1 0x1.f79fef3000000p-34
#define ANYWARP_LOG10_2_PART2 0x1.1f12b35816f92p-66
#define ANYWARP_PI_2_PART0 0x1.921fb54000000p+0
#define ANYWARP_PI_2_PART1 0x1.10b4611800000p-30
#define ANYWARP_PI_2_PART2 0x1.313198a000000p-61
#define ANYWARP_PI_2_PART3 0x1.701b839a25205p-92

/* 64 zeros, then the bits of 2 / pi after the point. */
static __device__ const unsigned long long two_over_pi[21] = {
    0,
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
    0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
    0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d,
};

} // namespace anywarp

#endif
