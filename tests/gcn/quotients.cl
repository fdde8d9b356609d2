// Quotients and roots as the compiler makes them: scales, reciprocals, fused steps and fix-ups; long integers;
// functions of the transcendental unit at points where their values are exact; halves.
// run quotients block=64
// a: f32[64] = (i + 1) * 7
// c: f32[320] = 0
// d: f64[128] = 0
// expect c[i] = i < 64 ? i + 1 : i < 128 ? i - 64 : i < 192 ? (i - 128) / 2 : i < 256 ? (i - 192) * 0.5 - 16 : (i - 256) % 4 == 0 ? 0 : (i - 256) % 4 == 1 ? 1 : (i - 256) % 4 == 2 ? 0 : -1
// expect d[i] = i < 64 ? i + 1 : (i - 64) * 0.25
__kernel void quotients(__global const float *a, __global float *c, __global double *d)
{
    int i = __builtin_amdgcn_workitem_id_x();
    float x = a[i];
    c[i] = x / 7.0f * (x / x);
    c[64 + i] = __builtin_sqrtf((float)i * i);
    c[128 + i] = __builtin_amdgcn_logf(__builtin_amdgcn_exp2f((float)(i / 2)));
    c[192 + i] = __builtin_amdgcn_fractf(0.25f) * 2.0f * i - 16.0f;
    c[256 + i] = __builtin_amdgcn_sinf(i % 4 * 0.25f);
    double y = (double)x;
    d[i] = y / 7.0;
    d[64 + i] = __builtin_sqrt((double)i * i * 0.0625);
}
// run remainders block=64
// c: s64[192] = 0
// expect c[i] = i < 64 ? (i * 1000003 - 5000000) / (i + 3) : i < 128 ? ((i - 64) * 7919 + 11) % (i + 5) : i - 128
__kernel void remainders(__global long *c)
{
    long i = __builtin_amdgcn_workitem_id_x();
    c[i] = (i * 1000003 - 5000000) / (i + 3);
    c[64 + i] = (uint)((uint)i * 7919 + 11) % (uint)((uint)i + 69);
    c[128 + i] = (long)((ulong)i * 0x100000001ul / 0x100000001ul);
}
// run parts block=64
// c: u32[192] = 0
// expect c[i] = i < 64 ? i * 3 + 1 : i < 128 ? i - 64 : 1
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
__kernel void parts(__global uint *c)
{
    int i = __builtin_amdgcn_workitem_id_x();
    half h = (half)i;
    half2 p = (half2)(h, (half)(i * 2)) * (half2)(1.0h, 1.0h) + (half2)(1.0h, 0.0h);
    c[i] = (uint)(p.x + p.y);
    ushort2 s = (ushort2)((ushort)i, (ushort)(i + 5)) - (ushort2)(0, 5);
    c[64 + i] = (uint)(s.x + s.y) / 2;
    c[128 + i] = h / (h + 1.0h) < 1.0h;
}
