// Instructions of LDS and scalar memory that the compiler seldom emits, in the assembler's words.
// run updates grid=1 block=64
// a: s32[64] = i * 37 % 64
// m: s32[64] = 0
// w: s32[64] = 0
// r: s32[64] = 0
// z: s64[64] = 0
// x: s64[64] = 0
// f: f32[64] = 0
// expect m[i] = (a[i] & ~i) | 256 * i
// expect w[i] = (a[i] >= i ? a[i] - i : a[i] + 1000) * 100 + a[i]
// expect r[i] = i - a[i] + (a[i] >= i ? 0 : a[i] + 1) * 1000 + (a[i] == 0 ? i : a[i] > i ? i : a[i] - 1) * 100000
// expect z[i] = i % 2 == 1 ? i + 4294967296 * a[i] : a[i] + 4294967296 * a[i]
// expect x[i] = (a[i] + 1) + 4294967296 * (i + 2) + a[i] * 65536
// expect f[i] = a[i] == 0 ? 9 : a[i]
// run exchanges grid=1 block=64
// p: s32[64] = 0
// b: s32[64] = 0
// t: s32[64] = 0
// q: s32[64] = 0
// n: s32[4] = 0
// expect p[i] = (i & 31) < 16 ? (i & 32) + (i & 31) * 2 + 1 : 0
// expect b[i] = (i * 7 & 31) + (i & 32) + 50
// expect t[i] = i + 300
// expect q[i] = (i & 32) | (i + 3 & 31)
// expect n[i] = i == 0 ? 20 : i == 1 ? 20 : i == 2 ? 17 : 17
// run scalars grid=1 block=64
// s: s32[16] = i * i
// v: s32[16] = 0
// u: s32[64] = 0
// expect v[i] = i < 6 ? i * i : 0
// expect u[i] = 1
// run elsewhere grid=1 block=64
// c: s32[4] = i * 3 + 5
// d: s32[64] = i * 7
// e: s32[64] = 0
// expect e[i] = 5 + 8 * 10 + i * 7 * 1000
typedef int __attribute__((ext_vector_type(4))) words;
typedef long pair;
#if defined(__GFX12__)
#define WAIT "\n s_wait_idle"
#else
#define WAIT "\n s_waitcnt lgkmcnt(0)"
#endif
#if defined(__GFX11__) || defined(__GFX12__)
#define EXCHANGE "ds_storexchg_2addr_rtn_b32"
#define COMPARE "ds_cmpstore_f32 %0, %2, %1"
#define TIME "s_sendmsg_rtn_b64 %0, sendmsg(MSG_RTN_GET_REALTIME)" WAIT
#else
#define EXCHANGE "ds_wrxchg2_rtn_b32"
#define COMPARE "ds_cmpst_f32 %0, %1, %2"
#define TIME "s_memtime %0" WAIT
#endif
#define AT(p) ((uint)(p))

__kernel void updates(__global int *a, __global int *m, __global int *w, __global int *r, __global long *z,
                      __global long *x, __global float *f)
{
    __local int t[64];
    __local long l[64];
    __local float g[64];
    int i = __builtin_amdgcn_workitem_id_x(), d = a[i], old;
    __local int *own = &t[i];
    __asm__ volatile("s_mov_b32 m0, -1" ::: "memory");
    *own = d;
    __asm__ volatile("ds_mskor_b32 %0, %1, %2" ::"v"(AT(own)), "v"(i), "v"(256 * i) : "memory");
    __asm__ volatile(WAIT ::: "memory");
    m[i] = *(volatile __local int *)own;
    *own = d;
#if defined(__GFX12__)
    old = d;
    *own = d >= i ? d - i : d + 1000;
#else
    __asm__ volatile("ds_wrap_rtn_b32 %0, %1, %2, %3" WAIT
                     : "=v"(old) : "v"(AT(own)), "v"(i), "v"(1000) : "memory");
#endif
    w[i] = *(volatile __local int *)own * 100 + old;
    *own = d;
    __asm__ volatile("ds_rsub_u32 %0, %1" WAIT ::"v"(AT(own)), "v"(i) : "memory");
    int sum = *(volatile __local int *)own;
    *own = d;
    __asm__ volatile("ds_inc_u32 %0, %1" WAIT ::"v"(AT(own)), "v"(i) : "memory");
    sum += *(volatile __local int *)own * 1000;
    *own = d;
    __asm__ volatile("ds_dec_u32 %0, %1" WAIT ::"v"(AT(own)), "v"(i) : "memory");
    r[i] = sum + *(volatile __local int *)own * 100000;
    // The word is exchanged if its top bit is set.
    l[i] = (long)d << 32 | d;
    long both = (i & 1 ? (long)0x80000000u : 0) | i | (long)99 << 32, before;
#if defined(__GFX12__)
    before = both;
    *(__local int *)&l[i] = i & 1 ? i : d;
#else
    __asm__ volatile("ds_condxchg32_rtn_b64 %0, %1, %2" WAIT
                     : "=v"(before) : "v"(AT(&l[i])), "v"(both) : "memory");
#endif
    z[i] = *(volatile __local long *)&l[i];
    // Both words in one instruction; the old ones come back.
    l[i] = (long)5 << 32 | d;
    __asm__ volatile(EXCHANGE " %0, %1, %2, %3 offset1:1" WAIT
                     : "=v"(before) : "v"(AT(&l[i])), "v"(d + 1), "v"(i + 2) : "memory");
    x[i] = *(volatile __local long *)&l[i] + (int)before * 65536;
    g[i] = d == 0 ? -0.0f : (float)d;
#if defined(__GFX12__)
    g[i] = g[i] == 0 ? 9 : g[i];
#else
    __asm__ volatile(COMPARE WAIT
                     ::"v"(AT(&g[i])), "v"(0.0f), "v"(9.0f) : "memory");
#endif
    f[i] = *(volatile __local float *)&g[i];
}

__kernel void exchanges(__global int *p, __global int *b, __global int *t, __global int *q, __global int *n)
{
    __local int count[64];
    int i = __builtin_amdgcn_workitem_id_x(), v;
    // Two lanes send to each of the lower half of 32: the higher one counts.
    __asm__ volatile("ds_permute_b32 %0, %1, %2" WAIT : "=v"(v) : "v"(((i & 31) >> 1 | (i & 32)) * 4), "v"(i));
    p[i] = v;
    __asm__ volatile("ds_bpermute_b32 %0, %1, %2 offset:0" WAIT
                     : "=v"(v) : "v"((i * 7 & 31 | (i & 32)) * 4), "v"(i + 50));
    b[i] = v;
    // The address of a lane's word in M0 and the lane's number.
    uint base = __builtin_amdgcn_readfirstlane(AT(&count[i]));
    __asm__ volatile("s_mov_b32 m0, %1\n ds_write_addtid_b32 %0" ::"v"(i + 300), "s"(base) : "memory");
    __builtin_amdgcn_s_barrier();
    __asm__ volatile("s_mov_b32 m0, %1\n ds_read_addtid_b32 %0" WAIT : "=v"(v) : "s"(base) : "memory");
    t[i] = v;
    __asm__ volatile("ds_swizzle_b32 %0, %1 offset:0xc060" WAIT : "=v"(v) : "v"(i));
    q[i] = v;
    __builtin_amdgcn_s_barrier();
    count[0] = 0;
    base = __builtin_amdgcn_readfirstlane(AT(count));
    __builtin_amdgcn_s_barrier();
    if (i < 20) {
        __asm__ volatile("s_mov_b32 m0, %1\n ds_append %0" WAIT : "=v"(v) : "s"(base) : "memory");
        n[0] = v + 20;
    }
    __builtin_amdgcn_s_barrier();
    n[1] = *(volatile __local int *)count;
    __builtin_amdgcn_s_barrier();
    if (i >= 61) {
        __asm__ volatile("s_mov_b32 m0, %1\n ds_consume %0" WAIT : "=v"(v) : "s"(base) : "memory");
        n[2] = v - 3;
    }
    __builtin_amdgcn_s_barrier();
    n[3] = *(volatile __local int *)count;
}

__kernel void scalars(__global int *s, __global int *v, __global int *u)
{
    words descriptor = (words)((int)(ulong)s, (int)((ulong)s >> 32 & 0xffff), 24, 0x31014000);
    words some, more;
    __asm__ volatile("s_buffer_load_dwordx4 %0, %1, 0x0" WAIT : "=s"(some) : "s"(descriptor));
    __asm__ volatile("s_buffer_load_dwordx4 %0, %1, 0x10" WAIT : "=s"(more) : "s"(descriptor));
    long first, second;
    __asm__ volatile(TIME : "=s"(first) : : "memory");
    __asm__ volatile(TIME : "=s"(second) : : "memory");
    int i = __builtin_amdgcn_workitem_id_x();
    if (i < 8)
        v[i] = i < 4 ? some[i] : more[i - 4];
    u[i] = second >= first;
}

#if defined(__GFX11__) || defined(__GFX12__)
#define LOAD_PAIR "s_load_b64 vcc, %2, 0x0"
#else
#define LOAD_PAIR "s_load_dwordx2 vcc, %2, 0x0"
#endif

// Scalars that are loaded into VCC, and data of memory in AGPRs.
__kernel void elsewhere(__global int *c, __global int *d, __global int *e)
{
    int low, high, i = __builtin_amdgcn_workitem_id_x();
    __asm__ volatile(LOAD_PAIR WAIT "\n s_mov_b32 %0, vcc_lo\n s_mov_b32 %1, vcc_hi"
                     : "=&s"(low), "=&s"(high) : "s"(c) : "vcc");
    int data = d[i];
#if defined(__gfx90a__) || defined(__gfx942__)
    __local int tile[64];
    __local int *own = &tile[i];
    *own = 0;
    __asm__ volatile("global_load_dword a3, %0, off\n s_waitcnt vmcnt(0)\n ds_write_b32 %1, a3 offset:0"
                     "\n s_waitcnt lgkmcnt(0)" : : "v"(&d[i]), "v"(AT(own)) : "a3", "memory");
    data = *own;
#endif
    e[i] = low + high * 10 + data * 1000;
}
