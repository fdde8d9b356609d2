// A sum of vectors with a guard: EXEC, VCC, carries, scalar loads of arguments, global loads and stores.
// run add grid=3 block=64
// a: f32[150] = i
// b: f32[150] = 1000 - i
// c: f32[192] = 7
// n: u32 = 150
// expect c[i] = i < 150 ? i * 2.0 + (1000 - i) : 7
__kernel void add(__global const float *a, __global const float *b, __global float *c, int n)
{
    int i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
    if (i < n)
        c[i] = a[i] * 2.0f + b[i];
}
