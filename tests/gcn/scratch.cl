// Arrays in private memory: constant and variable indices, bytes and halves, wide elements.
// run arrays grid=2 block=64
// a: s32[128] = i * 7 - 40
// n: s32 = 13
// c: s32[128] = 0
// expect c[i] = a[i] + (i & 15) * 3 + (i * 5 & 15) - 100 + (i & 7)
__kernel void arrays(__global const int *a, int n, __global int *c)
{
    int i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
    volatile int t[16];
    volatile char b[16];
    volatile long l[8];
    for (int k = 0; k < 16; k++) {
        t[k] = k * 3;
        b[k] = (char)(k - 100);
    }
    for (int k = 0; k < 8; k++)
        l[k] = (long)k << 40 | k;
    if (n == 0)
        t[i & 7] = b[i & 3] = 77;
    long one = l[i & 7];
    c[i] = a[i] + t[i & 15] + b[i * 5 & 15] + (int)(one >> 40) + (int)((int)one - (i & 7));
}
