// Atomics of global memory: all that the compiler makes, with results and without.
// run updates grid=4 block=64
// s: s32[16] = i == 9 ? 42 : i == 7 ? -1 : 0
// x: s64[16] = i == 5 ? 42 : i == 7 ? -1 : 0
// f: f32[2] = 0
// g: f64[2] = 0
// n: u32[256] = 0
// expect s[i] = i == 0 ? 32640 : i == 1 ? -32640 : i == 2 ? -30 : i == 3 ? 255 : i == 4 ? 256 : i == 6 ? 255 : i == 7 ? 64 : i == 8 ? 1 : i == 9 ? 43 : i == 10 ? 4 : i == 11 ? 4 : 0
// expect x[i] = i == 0 ? 32640 * 4294967296 : i == 1 ? -32640 : i == 2 ? -30 : i == 3 ? 255 : i == 4 ? 256 : i == 5 ? 43 : i == 6 ? 255 : i == 7 ? 64 : 0
// expect f[i] = i == 0 ? 128 : 0
// expect g[i] = i == 0 ? 64 : 0
// expect n[i] = 1
#define EACH memory_order_relaxed, memory_scope_device

__kernel void updates(__global int *sp, __global long *xp, __global float *f, __global double *g, __global uint *n)
{
    int i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
    __global atomic_int *s = (__global atomic_int *)sp;
    __global atomic_uint *v = (__global atomic_uint *)sp;
    __global atomic_long *x = (__global atomic_long *)xp;
    __opencl_atomic_fetch_add(&s[0], i, EACH);
    __opencl_atomic_fetch_sub(&s[1], i, EACH);
    __opencl_atomic_fetch_min(&s[2], i - 30, EACH);
    __opencl_atomic_fetch_max(&v[3], (uint)i, EACH);
    int before = __opencl_atomic_fetch_add(&s[4], 1, EACH);
    n[before & 255] = 1;
    __opencl_atomic_fetch_or(&s[6], i, EACH);
    __opencl_atomic_fetch_and(&s[7], 64 | (i == 300), EACH);
    int seen = 0;
    __opencl_atomic_compare_exchange_strong(&s[8], &seen, 1, memory_order_relaxed, memory_order_relaxed,
                                            memory_scope_device);
    if (i == 17)
        __opencl_atomic_exchange(&s[9], 43, EACH);
    // Up to 7 and then from 0 again: 256 times and 4 more.
    __builtin_amdgcn_atomic_inc32((__global uint *)&sp[10], 7u, __ATOMIC_RELAXED, "agent");
    if (i < 4)
        __builtin_amdgcn_atomic_inc32((__global uint *)&sp[10], 7u, __ATOMIC_RELAXED, "agent");
    // Down from 7 each time it is 0: 256 times, and 4 times more.
    __builtin_amdgcn_atomic_dec32((__global uint *)&sp[11], 7u, __ATOMIC_RELAXED, "agent");
    if (i < 4)
        __builtin_amdgcn_atomic_dec32((__global uint *)&sp[11], 7u, __ATOMIC_RELAXED, "agent");
    __opencl_atomic_fetch_add(&x[0], (long)i << 32, EACH);
    __opencl_atomic_fetch_sub(&x[1], (long)i, EACH);
    __opencl_atomic_fetch_min(&x[2], (long)i - 30, EACH);
    __opencl_atomic_fetch_max(&x[3], (long)i, EACH);
    __opencl_atomic_fetch_add(&x[4], 1L, EACH);
    if (i == 40) {
        long old = 42;
        __opencl_atomic_compare_exchange_strong(&x[5], &old, 43L, memory_order_relaxed, memory_order_relaxed,
                                                memory_scope_device);
    }
    __opencl_atomic_fetch_or(&x[6], (long)i, EACH);
    __opencl_atomic_fetch_and(&x[7], 64L, EACH);
    __opencl_atomic_fetch_add((__global volatile atomic_float *)&f[0], 0.5f, EACH);
    __opencl_atomic_fetch_add((__global volatile atomic_double *)&g[0], (i & 1) * 0.5, EACH);
}
