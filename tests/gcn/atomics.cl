// Atomics of global memory and LDS, with results and without.
// run count grid=3 block=64
// h: u32[8] = 0
// most: s32[1] = -7
// c: u32[1] = 0
// expect h[i] = 24
// expect most[i] = 191
// expect c[i] = 3
__kernel void count(__global uint *h, __global int *most, __global uint *c)
{
    __local uint t[8];
    uint i = __builtin_amdgcn_workitem_id_x(), g = __builtin_amdgcn_workgroup_id_x() * 64 + i;
    if (i < 8)
        t[i] = 0;
    __builtin_amdgcn_s_barrier();
    __opencl_atomic_fetch_add((__local atomic_uint *)&t[i * 5 & 7], 1u, memory_order_relaxed, memory_scope_work_group);
    __builtin_amdgcn_s_barrier();
    if (i < 8)
        __opencl_atomic_fetch_add((__global atomic_uint *)&h[i], t[i], memory_order_relaxed, memory_scope_device);
    __opencl_atomic_fetch_max((__global atomic_int *)most, (int)g, memory_order_relaxed, memory_scope_device);
    if (i == 0)
        __opencl_atomic_fetch_add((__global atomic_uint *)c, 1u, memory_order_relaxed, memory_scope_device);
}
