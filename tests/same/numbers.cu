// Arithmetic of every width. `o` takes the bits of the results.
// run divided block=64
// a: u32[64] = i * 123456789 + 7
// o: u32[256] = 0
// run divided_wide block=64
// b: u64[64] = i * 1234567890123456789 + 99
// o: u64[256] = 0
// run highest block=64
// c: u32[64] = i * 2654435761
// o: u64[192] = 0
// run counted block=64
// d: u64[64] = i * 0x9e3779b97f4a7c15 >> (i % 64)
// o: u32[384] = 0
// run shifted block=64
// e: u64[64] = i * 0x123456789abcdef1
// o: u64[256] = 0
// run bytes block=64
// f: u32[64] = i * 0x01030507
// o: u32[256] = 0
// run floats block=64
// g: f32[64] = i * 1.37 - 30
// o: u32[512] = 0
// run float_edges block=64
// h: u32[64] = i * 0x04040404 + i
// o: u32[384] = 0
// run doubles block=64
// j: f64[64] = i * 1.37 - 30
// o: u64[448] = 0
// run double_edges block=64
// k: u64[64] = i * 0x0404040404040404 + i
// o: u64[320] = 0
// run halves block=64
// l: u16[64] = i * 0x0411
// o: u16[448] = 0
// run half_pairs block=64
// m: u32[64] = i * 0x03110295
// o: u32[192] = 0
// run narrow_floats block=64
// n: f32[64] = i * 3.3333 - 100
// o: u32[128] = 0
// run converted block=64
// p: f64[64] = i * 123456.789 - 3000000
// o: u64[512] = 0
// run converted_back block=64
// q: s64[64] = (i - 32) * 987654321987654321
// o: u64[320] = 0
// run rounded block=64
// r: f32[64] = i * 0.25 - 8
// o: u32[320] = 0
// run parts block=64
// s: f64[64] = (i - 20) * 1234.5678
// o: u64[256] = 0
// run sums_of_bits block=64
// t: u32[64] = i * 0x87654321
// o: u32[256] = 0
// run polynomials block=64
// u: f32[64] = i * 0.03125 - 1
// o: u32[128] = 0
#include "kernel.h"

KERNEL divided(const u32 *a, u32 *o) {
    u32 x = a[TID], y = mixed(TID) >> (TID % 31), *to = o + 4 * TID;
    y = y ? y : 1;
    int sx = (int)x, sy = (int)y;
    to[0] = x / y;
    to[1] = x % y;
    to[2] = sy == -1 ? 0 : (u32)(sx / sy);
    to[3] = sy == -1 ? 0 : (u32)(sx % sy);
}

KERNEL divided_wide(const u64 *b, u64 *o) {
    u64 x = b[TID], y = ((u64)mixed(TID) << 32 | mixed(TID + 64)) >> (TID % 63), *to = o + 4 * TID;
    y = y ? y : 1;
    s64 sx = (s64)x, sy = (s64)y;
    to[0] = x / y;
    to[1] = x % y;
    to[2] = sy == -1 ? 0 : (u64)(sx / sy);
    to[3] = sy == -1 ? 0 : (u64)(sx % sy);
}

KERNEL highest(const u32 *c, u64 *o) {
    u64 x = (u64)c[TID] << 32 | mixed(TID), y = x * 0x9e3779b97f4a7c15ull;
    o[3 * TID] = (u64)((unsigned __int128)x * y >> 64);
    o[3 * TID + 1] = (u64)((__int128)(s64)x * (s64)y >> 64);
    o[3 * TID + 2] = (u64)((s64)(int)x * (int)y) + (u64)(u32)x * (u32)(y >> 32);
}

KERNEL counted(const u64 *d, u32 *o) {
    u64 x = d[TID];
    u32 low = (u32)x, *to = o + 6 * TID;
    to[0] = (u32)__builtin_popcountll(x);
    to[1] = x ? (u32)__builtin_clzll(x) : 64;
    to[2] = x ? (u32)__builtin_ctzll(x) : 64;
    to[3] = low ? (u32)__builtin_clz(low) : 32;
    to[4] = __builtin_bitreverse32(low);
    to[5] = __builtin_bswap32(low) ^ (u32)__builtin_popcount(low);
}

KERNEL shifted(const u64 *e, u64 *o) {
    u64 x = e[TID], *to = o + 4 * TID;
    u32 by = TID % 64;
    to[0] = x << by;
    to[1] = x >> by;
    to[2] = (u64)((s64)x >> by);
    to[3] = by ? x << by | x >> (64 - by) : x;
}

KERNEL bytes(const u32 *f, u32 *o) {
    u32 x = f[TID], y = mixed(x), *to = o + 4 * TID;
    u32 least = 0, apart = 0, added = 0;
    for (u32 i = 0; i < 4; i++) {
        u8 p = (u8)(x >> 8 * i), q = (u8)(y >> 8 * i);
        least |= (u32)(p < q ? p : q) << 8 * i;
        apart += (u32)(p ^ q) * (i + 1);
        added |= (p + q > 255 ? 255u : (u32)(p + q)) << 8 * i;
    }
    to[0] = least;
    to[1] = apart;
    to[2] = added;
    to[3] = (u32)((short)x * (short)y) + (u32)((signed char)x * (signed char)(y >> 8));
}

KERNEL floats(const float *g, u32 *o) {
    float x = g[TID], y = g[(TID + 13) % 64] + 0.1f;
    u32 *to = o + 8 * TID;
    to[0] = bits(x + y);
    to[1] = bits(x * y - x);
    to[2] = bits(x / y);
    to[3] = bits(__builtin_sqrtf(x < 0 ? -x : x));
    to[4] = bits(__builtin_fmaf(x, y, -x));
    to[5] = bits(__builtin_fminf(x, y) - __builtin_fmaxf(x, y));
    to[6] = bits(__builtin_copysignf(x, y));
    to[7] = x < y ? 1u : x == y ? 2u : bits(-x);
}

KERNEL float_edges(const u32 *h, u32 *o) {
    // Subnormals, infinities and NaNs; of NaNs only that they are.
    float x = real(h[TID]), y = real(mixed(TID));
    float r[5] = {x + y, x * y, x / y, x - y, __builtin_fmaf(x, y, x)};
    for (u32 i = 0; i < 5; i++)
        o[6 * TID + i] = r[i] != r[i] ? 0x7fc00000 : bits(r[i]);
    u32 order = (u32)(x < y) | (u32)(x <= y) << 1 | (u32)(x == y) << 2;
    o[6 * TID + 5] = order | (u32)(x != y) << 3 | (u32) !(x > y) << 4;
}

KERNEL doubles(const double *j, u64 *o) {
    double x = j[TID], y = j[(TID + 13) % 64] + 0.1;
    u64 *to = o + 7 * TID;
    to[0] = bits(x + y);
    to[1] = bits(x * y - x);
    to[2] = bits(x / y);
    to[3] = bits(__builtin_sqrt(x < 0 ? -x : x));
    to[4] = bits(__builtin_fma(x, y, -x));
    to[5] = bits(__builtin_fmin(x, y) - __builtin_fmax(x, y));
    to[6] = x < y ? 1 : bits(-x);
}

KERNEL double_edges(const u64 *k, u64 *o) {
    double x = real(k[TID]), y = real((u64)mixed(TID) << 32 | mixed(TID + 9));
    double r[5] = {x + y, x * y, x / y, x - y, __builtin_fma(x, y, x)};
    for (u32 i = 0; i < 5; i++)
        o[5 * TID + i] = r[i] != r[i] ? 0x7ff8000000000000ull : bits(r[i]);
}

KERNEL halves(const u16 *l, u16 *o) {
    half x = __builtin_bit_cast(half, l[TID]), y = __builtin_bit_cast(half, l[(TID * 7 + 3) % 64]);
    half r[7] = {(half)(x + y), (half)(x * y), (half)(x - y), (half)(x / y), (half)((float)x * 0.1f)};
    r[5] = x < y ? x : y;
    r[6] = (half)-x;
    for (u32 i = 0; i < 7; i++)
        o[7 * TID + i] = r[i] != r[i] ? 0x7e00 : __builtin_bit_cast(u16, r[i]);
}

typedef half half2 __attribute__((ext_vector_type(2)));
KERNEL half_pairs(const u32 *m, u32 *o) {
    half2 x = __builtin_bit_cast(half2, m[TID]), y = __builtin_bit_cast(half2, m[(TID * 5 + 1) % 64]);
    half2 r[3] = {x + y, x * y, y - x};
    for (u32 i = 0; i < 3; i++) {
        u32 both = __builtin_bit_cast(u32, r[i]);
        u32 low = r[i].x != r[i].x ? 0x7e00 : both & 0xffff, high = r[i].y != r[i].y ? 0x7e00 : both >> 16;
        o[3 * TID + i] = high << 16 | low;
    }
}

// bfloat16 and its nearest values, even ones of two.
KERNEL narrow_floats(const float *n, u32 *o) {
    float x = n[TID], sum = 0;
    for (u32 i = 0; i < 8; i++) {
        u32 b = bits(x * (float)(i + 1));
        b = (b + 0x7fff + (b >> 16 & 1)) >> 16;
        sum += real(b << 16);
        o[2 * TID] = b;
    }
    o[2 * TID + 1] = bits(sum);
}

KERNEL converted(const double *p, u64 *o) {
    double x = p[TID], positive = x < 0 ? -x : x;
    u64 *to = o + 8 * TID;
    to[0] = (u64)(int)x;
    to[1] = (u64)(s64)x;
    to[2] = (u64)positive;
    to[3] = (u32)positive;
    to[4] = bits((float)x);
    to[5] = bits((double)(float)x * 1e10);
    to[6] = (u64)(s64)((float)x * 1000.0f);
    to[7] = (u16)(short)(x / 1000);
}

KERNEL converted_back(const s64 *q, u64 *o) {
    s64 x = q[TID];
    u64 *to = o + 5 * TID;
    to[0] = bits((double)x);
    to[1] = bits((double)(u64)x);
    to[2] = bits((float)x);
    to[3] = bits((float)(u64)x);
    to[4] = (u64)bits((float)(int)x) << 32 | bits((float)(u32)x);
}

KERNEL rounded(const float *r, u32 *o) {
    float x = r[TID] * 1.5f;
    u32 *to = o + 5 * TID;
    to[0] = bits(__builtin_floorf(x));
    to[1] = bits(__builtin_ceilf(x));
    to[2] = bits(__builtin_truncf(x));
    to[3] = bits(__builtin_rintf(x));
    to[4] = bits(x - __builtin_floorf(x));
}

KERNEL parts(const double *s, u64 *o) {
    double x = s[TID];
    u64 *to = o + 4 * TID;
    to[0] = bits(__builtin_floor(x));
    to[1] = bits(__builtin_rint(x));
    to[2] = bits(__builtin_trunc(x) - __builtin_ceil(x));
    to[3] = bits(__builtin_fabs(x) - __builtin_copysign(x, -1.0));
}

KERNEL sums_of_bits(const u32 *t, u32 *o) {
    u32 x = t[TID], y = mixed(TID), sum, less, times, *to = o + 4 * TID;
    bool a = __builtin_add_overflow(x, y, &sum), b = __builtin_sub_overflow(x, y, &less);
    bool c = __builtin_mul_overflow(x, y >> 16, &times);
    to[0] = sum ^ less;
    to[1] = times;
    to[2] = (u32)a | (u32)b << 1 | (u32)c << 2;
    to[3] = (x & y) | (~x & (y << 3)) ^ (x >> 5);
}

KERNEL polynomials(const float *u, u32 *o) {
    float x = u[TID], sine = 0, power = x;
    for (u32 i = 1; i < 12; i += 2) {
        sine += power;
        power *= -x * x / (float)((i + 1) * (i + 2));
    }
    double e = 1;
    for (int i = 20; i > 0; i--)
        e = 1 + (double)x * e / i;
    o[2 * TID] = bits(sine);
    o[2 * TID + 1] = (u32)(bits(e) >> 7);
}
