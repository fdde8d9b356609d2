// LDS: parts of words, pairs, wide accesses, and every atomic that the compiler makes.
// run parts grid=1 block=64
// b: s32[64] = i * 1103515245 + 12345
// c: s32[64] = 0
// d: s64[64] = 0
// expect c[i] = ((b[63 - i] & 255) ^ 128) - 128 + (((b[63 - i] >> 16) & 255) ^ 128) - 128 + ((b[63 - i] & 65535) ^ 32768) - 32768 + (b[63 - i] >> 16)
// expect d[i] = b[i] + b[i ^ 1] * 2 + b[i ^ 2] * 3 + b[i ^ 3] * 4
// run words grid=2 block=64
// u: s32[16] = 0
// w: s64[16] = 0
// r: s32[128] = 0
// expect u[i] = i == 0 ? 2016 : i == 1 ? -2016 : i == 2 ? -30 : i == 3 ? 63 : i == 4 ? 64 : i == 5 ? 64 : i == 6 ? 63 : i == 7 ? 3 : i == 8 ? 1 : i == 9 ? 43 : 0
// expect w[i] = i == 0 ? 2016 * 4294967296 : i == 1 ? -2016 : i == 2 ? -30 : i == 3 ? 63 : i == 4 ? 64 : i == 5 ? 43 : 0
// expect r[i] = 1
#define ADD(p, v) __opencl_atomic_fetch_add(p, v, memory_order_relaxed, memory_scope_work_group)

__kernel void parts(__global const int *b, __global int *c, __global long *d)
{
    __local int t[64];
    __local long l[64];
    int i = __builtin_amdgcn_workitem_id_x();
    t[i] = b[i];
    l[i] = b[i];
    __builtin_amdgcn_s_barrier();
    __local char *one = (__local char *)&t[63 - i];
    __local short *two = (__local short *)&t[63 - i];
    c[i] = one[0] + one[2] + two[0] + two[1];
    d[i] = l[i] + l[i ^ 1] * 2 + l[i ^ 2] * 3 + l[i ^ 3] * 4;
}

__kernel void words(__global int *u, __global long *w, __global int *r)
{
    __local int t[16];
    __local long l[16];
    int i = __builtin_amdgcn_workitem_id_x();
    if (i < 16) {
        t[i] = i == 9 ? 42 : 0;
        l[i] = i == 5 ? 42 : 0;
    }
    __builtin_amdgcn_s_barrier();
    __local atomic_int *s = (__local atomic_int *)t;
    __local atomic_uint *v = (__local atomic_uint *)t;
    __local atomic_long *x = (__local atomic_long *)l;
    ADD(&s[0], i);
    __opencl_atomic_fetch_sub(&s[1], i, memory_order_relaxed, memory_scope_work_group);
    __opencl_atomic_fetch_min(&s[2], i - 30, memory_order_relaxed, memory_scope_work_group);
    __opencl_atomic_fetch_max(&v[3], (uint)i, memory_order_relaxed, memory_scope_work_group);
    int before = ADD(&s[4], 1);
    ADD(&s[5], before >= 0 && before < 64);
    __opencl_atomic_fetch_or(&s[6], i, memory_order_relaxed, memory_scope_work_group);
    __opencl_atomic_fetch_xor(&s[7], i == 5 ? 3 : 0, memory_order_relaxed, memory_scope_work_group);
    int seen = 0;
    __opencl_atomic_compare_exchange_strong(&s[8], &seen, 1, memory_order_relaxed, memory_order_relaxed,
                                            memory_scope_work_group);
    if (i == 17)
        __opencl_atomic_exchange(&s[9], 43, memory_order_relaxed, memory_scope_work_group);
    ADD(&x[0], (long)i << 32);
    __opencl_atomic_fetch_sub(&x[1], (long)i, memory_order_relaxed, memory_scope_work_group);
    __opencl_atomic_fetch_min(&x[2], (long)i - 30, memory_order_relaxed, memory_scope_work_group);
    __opencl_atomic_fetch_max(&x[3], (long)i, memory_order_relaxed, memory_scope_work_group);
    ADD(&x[4], 1L);
    if (i == 40) {
        long old = 42;
        __opencl_atomic_compare_exchange_strong(&x[5], &old, 43L, memory_order_relaxed, memory_order_relaxed,
                                                memory_scope_work_group);
    }
    __builtin_amdgcn_s_barrier();
    if (i < 16) {
        u[i] = t[i];
        w[i] = l[i];
    }
    r[__builtin_amdgcn_workgroup_id_x() * 64 + i] = seen == 0 || seen == 1;
}
