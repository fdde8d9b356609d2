// Floats: conversions, rounding, minima, fused products, doubles.
// run mix block=64
// a: f32[64] = i * 0.75 - 20
// c: f32[64] = 0
// d: f64[64] = 0
// expect c[i] = i * 0.75 - 20 < 0 ? 0 - (i * 0.75 - 20) : (i * 0.75 - 20) * 3 + 1
// expect d[i] = (i * 0.75 - 20) * (i * 0.75 - 20) + 0.125
__kernel void mix(__global const float *a, __global float *c, __global double *d)
{
    int i = __builtin_amdgcn_workitem_id_x();
    float x = a[i];
    c[i] = x < 0.0f ? __builtin_fabsf(x) : __builtin_fmaf(x, 3.0f, 1.0f);
    d[i] = __builtin_fma((double)x, (double)x, 0.125);
}
// run round block=64
// a: f32[64] = i * 0.25 - 8
// c: s32[192] = 0
// expect c[i] = c[i] + (i < 64 ? i / 4 - 8 : i < 128 ? (i - 64 + 3) / 4 - 8 : i - 128 < 32 ? 0 - (32 - (i - 128)) / 4 : (i - 128 - 32) / 4)
__kernel void round(__global const float *a, __global int *c)
{
    int i = __builtin_amdgcn_workitem_id_x();
    c[i] = (int)__builtin_floorf(a[i]);
    c[64 + i] = (int)__builtin_ceilf(a[i]);
    c[128 + i] = (int)a[i];
}
