// Loops whose trip counts differ between lanes, branches inside, and a division by the compiler's reciprocal.
// run walk grid=2 block=64
// a: s32[640] = i * 7 % 23 - 5
// c: s32[128] = 0
// n: s32 = 13
// expect c[i] = i
__kernel void walk(__global const int *a, __global int *c, int n)
{
    int i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
    int s = 0, t = 0;
    for (int k = 0; k < i % n; k++) {
        int v = a[k * 3 + i];
        if (v & 1)
            s += v * v;
        else
            s -= v / 7;
    }
    // The same, without branches.
    for (int k = 0; k < n; k++) {
        int v = a[k * 3 + i], odd = v & 1;
        t += k < i % n ? odd * v * v - (1 - odd) * (v / 7) : 0;
    }
    c[i] = s == t ? i : -1;
}
