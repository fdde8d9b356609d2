// Products of matrices, tiles, stencils, and AMD's matrix instructions beside exact sums.
// run tiled grid=2x2 block=16x16
// a: f32[1024] = i * 7 % 13 - 6
// b: f32[1024] = i * 5 % 11 - 5
// c: f32[1024] = 0
// n: u32 = 32
// run tiled_rounded grid=2x2 block=16x16
// a: f32[1024] = i * 0.013 - 6
// b: f32[1024] = 5 - i * 0.0117
// c: f32[1024] = 0
// n: u32 = 32
// run tiled_words grid=4x2 block=8x16
// a: u32[1024] = i * 77777
// b: u32[1024] = i * 99991
// c: u32[1024] = 0
// n: u32 = 32
// run tiled_double grid=2x2 block=16x16
// a: f64[1024] = i * 0.01 - 6
// b: f64[1024] = 5 - i * 0.02
// c: f64[1024] = 0
// n: u32 = 32
// run transposed grid=2x2 block=32x8
// a: u32[4096] = i
// o: u32[4096] = 0
// n: u32 = 64
// run stencil grid=2x4 block=16x4
// a: f32[4096] = i % 97 * 0.5
// o: f32[4096] = 0
// n: u32 = 16
// run sparse grid=1 block=64
// s: u32[65] = i * i / 32
// k: u32[128] = i * 29 % 64
// v: f32[128] = i * 0.5 - 20
// x: f32[64] = i * 0.25
// y: f32[64] = 0
// run convolved grid=2 block=64
// a: f32[144] = i * 3 % 17
// o: f32[128] = 0
// run matrix_floats block=64
// a: f32[256] = i * 7 % 13 - 6
// b: f32[256] = i * 5 % 11 - 5
// c: f32[256] = i % 7
// run matrix_bytes block=64
// a: s8[256] = i * 7 % 113 - 56
// b: s8[256] = i * 5 % 101 - 50
// c: s32[256] = i * 1000
#include "kernel.h"

template <class T> DEVICE void tile(const T *a, const T *b, T *c, u32 n, T (*ta)[16], T (*tb)[16]) {
    u32 x = CTAID * NTID + TID, y = CTAID_Y * 16 + TID_Y;
    T sum = 0;
    for (u32 k = 0; k < n; k += 16) {
        for (u32 i = TID; i < 16; i += NTID) {
            ta[TID_Y][i] = a[y * n + k + i];
            tb[i][TID_Y] = b[(k + TID_Y) * n + CTAID * NTID + (i < NTID ? i : 0)];
        }
        BARRIER();
        for (u32 i = 0; i < 16; i++)
            sum += ta[TID_Y][i] * tb[TID][i];
        BARRIER();
    }
    c[y * n + x] = sum;
}

KERNEL tiled(const float *a, const float *b, float *c, u32 n) {
    SHARED float ta[16][16], tb[16][16];
    tile(a, b, c, n, ta, tb);
}
KERNEL tiled_rounded(const float *a, const float *b, float *c, u32 n) {
    SHARED float ta[16][16], tb[16][16];
    tile(a, b, c, n, ta, tb);
}
KERNEL tiled_words(const u32 *a, const u32 *b, u32 *c, u32 n) {
    SHARED u32 ta[16][16], tb[16][16];
    tile(a, b, c, n, ta, tb);
}
KERNEL tiled_double(const double *a, const double *b, double *c, u32 n) {
    SHARED double ta[16][16], tb[16][16];
    tile(a, b, c, n, ta, tb);
}

KERNEL transposed(const u32 *a, u32 *o, u32 n) {
    SHARED u32 part[32][33];
    u32 x = CTAID * 32 + TID, y = CTAID_Y * 32 + TID_Y;
    for (u32 i = 0; i < 32; i += 8)
        part[TID_Y + i][TID] = a[(y + i) * n + x];
    BARRIER();
    x = CTAID_Y * 32 + TID, y = CTAID * 32 + TID_Y;
    for (u32 i = 0; i < 32; i += 8)
        o[(y + i) * n + x] = part[TID][TID_Y + i];
}

KERNEL stencil(const float *a, float *o, u32 n) {
    u32 x = CTAID * NTID + TID, y = CTAID_Y * 4 + TID_Y;
    if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1)
        return;
    for (u32 z = 1; z < n - 1; z++) {
        u32 i = (z * n + y) * n + x;
        float around = a[i - 1] + a[i + 1] + a[i - n] + a[i + n] + a[i - n * n] + a[i + n * n];
        o[i] = 0.5f * a[i] + 0.08f * around;
    }
}

KERNEL sparse(const u32 *s, const u32 *k, const float *v, const float *x, float *y) {
    float sum = 0;
    for (u32 i = s[TID]; i < s[TID + 1]; i++)
        sum = __builtin_fmaf(v[i], x[k[i]], sum);
    y[TID] = sum;
}

CONSTANT float TAPS[9] = {0.1f, -0.2f, 0.3f, 0.5f, 1.0f, 0.5f, 0.3f, -0.2f, 0.1f};
KERNEL convolved(const float *a, float *o) {
    SHARED float part[80];
    for (u32 i = TID; i < 80; i += NTID)
        part[i] = a[CTAID * 64 + i];
    BARRIER();
    float sum = 0;
    for (u32 i = 0; i < 9; i++)
        sum += TAPS[i] * part[TID + i];
    o[thread()] = sum;
}

// C += A B of 16 x 16, each by one wave: the first of the block on AMD's targets with such instructions.
#if __gfx90a__ || __gfx942__
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef half f16x4 __attribute__((ext_vector_type(4)));
typedef int i32x4 __attribute__((ext_vector_type(4)));
KERNEL matrix_floats(const float *a, const float *b, float *c) {
    u32 row = TID % 16, part = TID / 16 * 4;
    f16x4 x, y;
    f32x4 sum;
    for (u32 i = 0; i < 4; i++) {
        x[i] = (half)a[row * 16 + part + i];
        y[i] = (half)b[(part + i) * 16 + row];
        sum[i] = c[(part + i) * 16 + row];
    }
    sum = __builtin_amdgcn_mfma_f32_16x16x16f16(x, y, sum, 0, 0, 0);
    for (u32 i = 0; i < 4; i++)
        c[(part + i) * 16 + row] = sum[i];
}
KERNEL matrix_bytes(const signed char *a, const signed char *b, int *c) {
    u32 row = TID % 16, part = TID / 16 * 4;
#if __gfx90a__
    u32 x = 0, y = 0;
#else
    u64 x = 0, y = 0;
#endif
    i32x4 sum;
    for (u32 i = 0; i < 4; i++) {
        x |= (decltype(x))(u8)a[row * 16 + part + i] << 8 * i;
        y |= (decltype(x))(u8)b[(part + i) * 16 + row] << 8 * i;
        sum[i] = c[(part + i) * 16 + row];
    }
#if __gfx90a__
    sum = __builtin_amdgcn_mfma_i32_16x16x16i8((int)x, (int)y, sum, 0, 0, 0);
#else
    // Twice as many columns: zeros.
    sum = __builtin_amdgcn_mfma_i32_16x16x32_i8((long)x, (long)y, sum, 0, 0, 0);
#endif
    for (u32 i = 0; i < 4; i++)
        c[(part + i) * 16 + row] = sum[i];
}
#elif __gfx1100__ && __AMDGCN_WAVEFRONT_SIZE__ == 32
typedef float f32x8 __attribute__((ext_vector_type(8)));
typedef half f16x16 __attribute__((ext_vector_type(16)));
typedef int i32x4 __attribute__((ext_vector_type(4)));
typedef int i32x8 __attribute__((ext_vector_type(8)));
KERNEL matrix_floats(const float *a, const float *b, float *c) {
    if (TID >= 32)
        return;
    u32 row = TID % 16, odd = TID / 16;
    f16x16 x, y;
    f32x8 sum;
    for (u32 i = 0; i < 16; i++) {
        x[i] = (half)a[row * 16 + i];
        y[i] = (half)b[i * 16 + row];
    }
    for (u32 i = 0; i < 8; i++)
        sum[i] = c[(2 * i + odd) * 16 + row];
    sum = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(x, y, sum);
    for (u32 i = 0; i < 8; i++)
        c[(2 * i + odd) * 16 + row] = sum[i];
}
KERNEL matrix_bytes(const signed char *a, const signed char *b, int *c) {
    if (TID >= 32)
        return;
    u32 row = TID % 16, odd = TID / 16;
    i32x4 x = 0, y = 0;
    i32x8 sum;
    for (u32 i = 0; i < 16; i++) {
        x[i / 4] |= (u8)a[row * 16 + i] << 8 * (i % 4);
        y[i / 4] |= (u8)b[i * 16 + row] << 8 * (i % 4);
    }
    for (u32 i = 0; i < 8; i++)
        sum[i] = c[(2 * i + odd) * 16 + row];
    sum = __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32(true, x, true, y, sum, false);
    for (u32 i = 0; i < 8; i++)
        c[(2 * i + odd) * 16 + row] = sum[i];
}
#elif __gfx1201__ && __AMDGCN_WAVEFRONT_SIZE__ == 32
typedef float f32x8 __attribute__((ext_vector_type(8)));
typedef half f16x8 __attribute__((ext_vector_type(8)));
typedef int i32x2 __attribute__((ext_vector_type(2)));
typedef int i32x8 __attribute__((ext_vector_type(8)));
KERNEL matrix_floats(const float *a, const float *b, float *c) {
    if (TID >= 32)
        return;
    u32 row = TID % 16, part = TID / 16 * 8;
    f16x8 x, y;
    f32x8 sum;
    for (u32 i = 0; i < 8; i++) {
        x[i] = (half)a[row * 16 + part + i];
        y[i] = (half)b[(part + i) * 16 + row];
        sum[i] = c[(part + i) * 16 + row];
    }
    sum = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(x, y, sum);
    for (u32 i = 0; i < 8; i++)
        c[(part + i) * 16 + row] = sum[i];
}
KERNEL matrix_bytes(const signed char *a, const signed char *b, int *c) {
    if (TID >= 32)
        return;
    u32 row = TID % 16, part = TID / 16 * 8;
    i32x2 x = 0, y = 0;
    i32x8 sum;
    for (u32 i = 0; i < 8; i++) {
        x[i / 4] |= (u8)a[row * 16 + part + i] << 8 * (i % 4);
        y[i / 4] |= (u8)b[(part + i) * 16 + row] << 8 * (i % 4);
        sum[i] = c[(part + i) * 16 + row];
    }
    sum = __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32_gfx12(true, x, true, y, sum, false);
    for (u32 i = 0; i < 8; i++)
        c[(part + i) * 16 + row] = sum[i];
}
#else
KERNEL matrix_floats(const float *a, const float *b, float *c) {
    for (u32 i = TID; i < 256; i += NTID)
        for (u32 k = 0; k < 16; k++)
            c[i] += a[i / 16 * 16 + k] * b[k * 16 + i % 16];
}
KERNEL matrix_bytes(const signed char *a, const signed char *b, int *c) {
    for (u32 i = TID; i < 256; i += NTID)
        for (u32 k = 0; k < 16; k++)
            c[i] += a[i / 16 * 16 + k] * b[k * 16 + i % 16];
}
#endif
