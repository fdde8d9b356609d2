// Generic pointers: of private memory, LDS and global memory, chosen at run time; structures as arguments.
// run chosen grid=2 block=64
// a: s32[128] = i * 2
// c: s32[128] = 0
// expect c[i] = (i % 3 == 0 ? 5000 + (i & 3) + i % 64 : i % 3 == 1 ? 9000 + i % 64 : a[i]) + 7
// run given grid=1 block=64
// s: s64[64] = i * 3
// t: s64[64] = 0
// expect t[i] = i * 3 + 64 + 63 - i + (i & 1) * 100
struct many {
    long a, b;
    volatile int c[6];
    long *out;
};

static void add(volatile int *p, int by) { *p += by; }

__kernel void chosen(__global int *a, __global int *c)
{
    __local int t[64];
    int i = __builtin_amdgcn_workitem_id_x(), g = __builtin_amdgcn_workgroup_id_x() * 64 + i;
    volatile int own[4];
    for (int k = 0; k < 4; k++)
        own[k] = 5000 + k + i;
    t[i] = 9000 + i;
    c[g] = a[g];
    __builtin_amdgcn_s_barrier();
    volatile int *p = g % 3 == 0 ? (volatile int *)&own[g & 3] : g % 3 == 1 ? (volatile int *)&t[i] : (volatile int *)&c[g];
    add(p, 7);
    c[g] = *p;
}

static long sum(struct many m, int i) { return m.a + m.b + m.c[i & 1] + m.c[2 + (i & 3)]; }

__kernel void given(__global long *s, __global long *t)
{
    int i = __builtin_amdgcn_workitem_id_x();
    struct many m = {s[i], 64, {0, 100, 63 - i, 63 - i, 63 - i, 63 - i}, (long *)&t[i]};
    *m.out = sum(m, i);
}
