// Typed buffers: formats in the instruction and in the descriptor, with 32 bits for a channel and with 16.
// run packed grid=1 block=64
// a: s32[64] = i * 100003 + 7
// b: s32[256] = 0
// expect b[i] = i % 4 == 3 ? a[i / 4] >> 30 & 3 : a[i / 4] >> i % 4 * 10 & 1023
// run scaled grid=1 block=64
// c: s32[32] = i * 65521 + 129
// d: f32[128] = 0
// expect d[i] = i / 2 * 2 >= 120 ? 0 : ((c[i / 4] >> i % 4 * 8 & 255) ^ 128) - 128
// run stored grid=1 block=64
// e: s32[64] = 5
// f: s32[64] = i * 3000 - 90000
// expect e[i] = i >= 60 ? 5 : ((f[i] < 0 - 32768 ? 0 - 32768 : f[i] > 32767 ? 32767 : f[i]) & 65535) | i * 65536
// run selected grid=1 block=64
// g: s32[64] = i * 77 + 3
// h: s32[128] = 0
// expect h[i] = i % 2 == 0 ? (g[i / 2] >> 16 & 65535) : (g[i / 2] & 65535)
// run bytes grid=1 block=64
// k: s32[16] = 0
// expect k[i] = i * 4 | i * 4 + 1 << 8 | i * 4 + 2 << 16 | i * 4 + 3 << 24
// run halves grid=1 block=64
// m: s32[64] = i * 4099 + 1
// o: s32[64] = 0
// expect o[i] = m[i] & 65535 | 4 * 65536
#if defined(__GFX9__)
#define FORMAT(gfx9, gfx10, gfx11) gfx9
#define BY_BYTES 0x00027000
// 16_16, unsigned: green, red, 0, 1.
#define SWAPPED (0x5 | 4 << 3 | 0 << 6 | 1 << 9 | 4 << 12 | 5 << 15)
#else
#define BY_BYTES 0x31014000
#if defined(__GFX10__)
#define FORMAT(gfx9, gfx10, gfx11) gfx10
#else
#define FORMAT(gfx9, gfx10, gfx11) gfx11
#endif
#define SWAPPED (0x5 | 4 << 3 | 0 << 6 | 1 << 9 | 27 << 12 | 3 << 28)
#endif
#define TENS FORMAT(9 | 4 << 4, 54, 40)
#define SCALED FORMAT(3 | 3 << 4, 17, 17)
#define SHORTS FORMAT(5 | 5 << 4, 28, 28)
#define BYTE FORMAT(1 | 4 << 4, 5, 5)
#define UNSIGNED_SHORTS FORMAT(5 | 4 << 4, 27, 27)
typedef int words __attribute__((ext_vector_type(4)));
typedef int pair __attribute__((ext_vector_type(2)));
typedef short shorts __attribute__((ext_vector_type(2)));
#define DESCRIPTOR(p, size, flags) (words)((int)(ulong)(p), (int)((ulong)(p) >> 32 & 0xffff), size, flags)

words load_4(words, int, int, int, int) __asm("llvm.amdgcn.raw.tbuffer.load.v4i32");
float2 load_2(words, int, int, int, int) __asm("llvm.amdgcn.raw.tbuffer.load.v2f32");
void store_2(pair, words, int, int, int, int) __asm("llvm.amdgcn.raw.tbuffer.store.v2i32");
void store_1(int, words, int, int, int, int) __asm("llvm.amdgcn.raw.tbuffer.store.i32");
pair load_format(words, int, int, int) __asm("llvm.amdgcn.raw.buffer.load.format.v2i32");
half2 load_halves(words, int, int, int, int) __asm("llvm.amdgcn.raw.tbuffer.load.v2f16");

__kernel void packed(__global int *a, __global int *b)
{
    int i = __builtin_amdgcn_workitem_id_x();
    words v = load_4(DESCRIPTOR(a, 256, BY_BYTES), i * 4, 0, TENS, 0);
    for (int k = 0; k < 4; k++)
        b[i * 4 + k] = v[k];
}

__kernel void scaled(__global int *c, __global float *d)
{
    int i = __builtin_amdgcn_workitem_id_x();
    float2 v = load_2(DESCRIPTOR(c, 121, BY_BYTES), i * 2, 0, SCALED, 0);
    d[i * 2] = v.x;
    d[i * 2 + 1] = v.y;
}

__kernel void stored(__global int *e, __global int *f)
{
    int i = __builtin_amdgcn_workitem_id_x();
    store_2((pair)(f[i], i), DESCRIPTOR(e, 240, BY_BYTES), i * 4, 0, SHORTS, 0);
}

__kernel void selected(__global int *g, __global int *h)
{
    int i = __builtin_amdgcn_workitem_id_x();
    pair v = load_format(DESCRIPTOR(g, 256, SWAPPED), i * 4, 0, 0);
    h[i * 2] = v.x;
    h[i * 2 + 1] = v.y;
}

__kernel void bytes(__global int *k)
{
    int i = __builtin_amdgcn_workitem_id_x();
    store_1(i, DESCRIPTOR(k, 64, BY_BYTES), i, 0, BYTE, 0);
}

__kernel void halves(__global int *m, __global int *o)
{
    int i = __builtin_amdgcn_workitem_id_x();
    half2 v = load_halves(DESCRIPTOR(m, 256, BY_BYTES), i * 4, 0, UNSIGNED_SHORTS, 0);
    o[i] = as_ushort(v.x) | 4 << 16;
}
