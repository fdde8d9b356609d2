// A reduction in LDS with barriers.
// run reduce grid=2 block=64
// c: s32[130] = i * i % 31
// expect c[i] = i < 128 ? c[i] : 1 + 0 * i
__kernel void reduce(__global int *c)
{
    __local int t[64];
    int i = __builtin_amdgcn_workitem_id_x(), b = __builtin_amdgcn_workgroup_id_x();
    t[i] = c[b * 64 + i];
    __builtin_amdgcn_s_barrier();
    for (int d = 32; d > 0; d >>= 1) {
        if (i < d)
            t[i] += t[i + d];
        __builtin_amdgcn_s_barrier();
    }
    if (i == 0) {
        int sum = 0;
        for (int k = 0; k < 64; k++)
            sum += c[b * 64 + k];
        c[128 + b] = t[0] == sum;
    }
}
