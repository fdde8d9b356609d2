// Buffers with descriptors: raw and structured, with their checks of the range; halves of registers.
// run raw grid=1 block=64
// a: s32[64] = i * 5 + 3
// c: s32[64] = 1
// d: s32[72] = 7
// expect c[i] = (i < 50 ? i * 5 + 3 : 0) + (i >= 4 && i < 50 ? (i - 4) * 5 + 3 : i < 4 ? i * 0 : (i - 4 < 50 ? (i - 4) * 5 + 3 : 0))
// expect d[i] = i >= 2 && i < 40 ? i - 2 : 7
// run records grid=1 block=64
// r: s32[128] = i + 100
// e: s32[64] = 0
// f: s32[128] = 5
// expect e[i] = i < 30 ? i * 2 + 1 + 100 : 0
// expect f[i] = i < 40 && i % 2 == 1 ? i - 1 + 1000 : 5
// run halves grid=1 block=64
// h: s32[64] = i * 65536 + (i ^ 21) + 256 * 130
// g: s32[64] = 0
// k: s32[64] = 0
// expect g[i] = (h[i] & 65535) * 65536 + 77
// expect k[i] = (h[i] >> 16) + 65536 * (130 - 256 + 65536)
// run swapped grid=1 block=64
// o: u32[4] = i == 2 ? 5 : 0
// expect o[i] = i == 0 ? 2016 : i == 1 ? 63 : i == 2 ? 9 : 0
#if !defined(__GFX9__)
// The bytes are checked, or the index.
#define BY_BYTES 0x31014000
#define BY_INDEX 0x11014000
#else
#define BY_BYTES 0x00027000
#define BY_INDEX BY_BYTES
#endif
#if defined(__gfx942__)
#define RETURNS "sc0"
#elif defined(__GFX12__)
#define RETURNS "th:TH_ATOMIC_RETURN"
#else
#define RETURNS "glc"
#endif
#if defined(__GFX12__)
#define WAIT "\n s_wait_idle"
#define ZERO "null"
#else
#define WAIT "\n s_waitcnt vmcnt(0)"
#define ZERO "0"
#endif
typedef int __attribute__((ext_vector_type(4))) words;
#define DESCRIPTOR(p, stride, size, flags)                                                                                \
    (words)((int)(ulong)(p), (int)((ulong)(p) >> 32 & 0xffff) | (stride) << 16, size, flags)

__kernel void raw(__global int *a, __global int *c, __global int *d)
{
    int i = __builtin_amdgcn_workitem_id_x(), x, y;
    words s = DESCRIPTOR(a, 0, 200, BY_BYTES), t = DESCRIPTOR(d, 0, 160, BY_BYTES);
    __asm__ volatile("buffer_load_dword %0, %1, %2, " ZERO " offen" WAIT : "=v"(x) : "v"(i * 4), "s"(s));
    int before = i < 4 ? 4096 : i * 4 - 16;
    __asm__ volatile("buffer_load_dword %0, %1, %2, " ZERO " offen" WAIT : "=v"(y) : "v"(before), "s"(s));
    __asm__ volatile("buffer_store_dword %0, %1, %2, %3 offen offset:4" ::"v"(i), "v"(i * 4), "s"(t), "s"(4));
    c[i] = x + y;
}

__kernel void records(__global int *r, __global int *e, __global int *f)
{
    int i = __builtin_amdgcn_workitem_id_x(), x;
    words s = DESCRIPTOR(r, 8, 30, BY_INDEX), t = DESCRIPTOR(f, 8, 20, BY_INDEX);
    __asm__ volatile("buffer_load_dword %0, %1, %2, " ZERO " idxen offset:4" WAIT : "=v"(x) : "v"(i), "s"(s));
    typedef int __attribute__((ext_vector_type(2))) pair;
    pair at = (pair)(i, 4);
    __asm__ volatile("buffer_store_dword %0, %1, %2, " ZERO " idxen offen" ::"v"(i * 2 + 1000), "v"(at), "s"(t));
    e[i] = x;
}

__kernel void halves(__global int *h, __global int *g, __global int *k)
{
    int i = __builtin_amdgcn_workitem_id_x(), x = 77, y = i;
    __global int *p = &h[i];
    __asm__ volatile("global_load_short_d16_hi %0, %1, off" WAIT : "+v"(x) : "v"(p));
    __asm__ volatile("global_load_sbyte_d16_hi %0, %1, off offset:1" WAIT : "+v"(y) : "v"(p));
    __asm__ volatile("global_load_short_d16 %0, %1, off offset:2" WAIT : "+v"(y) : "v"(p));
    __asm__ volatile("global_store_short_d16_hi %0, %1, off\n" ::"v"(&g[i]), "v"(77 << 16));
    __asm__ volatile("global_store_short_d16_hi %0, %1, off offset:2" ::"v"(&g[i]), "v"(x));
    k[i] = y;
}

__kernel void swapped(__global uint *o)
{
    uint i = __builtin_amdgcn_workitem_id_x(), old = 5, data;
    words t = DESCRIPTOR(o, 0, 16, BY_BYTES);
    __asm__ volatile("buffer_atomic_add %0, off, %1, " ZERO ::"v"(i), "s"(t));
    data = i;
    __asm__ volatile("buffer_atomic_umax %0, off, %1, " ZERO " offset:4 " RETURNS WAIT : "+v"(data) : "s"(t));
    typedef uint __attribute__((ext_vector_type(2))) pair;
    pair both = (pair)(9, 5);
    __asm__ volatile("buffer_atomic_cmpswap %0, off, %1, " ZERO " offset:8" ::"v"(both), "s"(t));
    __asm__ volatile("buffer_atomic_add %0, off, %1, " ZERO " offset:16" ::"v"(i), "s"(t));
    if (data > 63)
        o[3] = 1;
}
