// Functions that are not inlined, recursion, and functions chosen at run time.
// run direct grid=1 block=64
// a: s32[64] = i * 3 - 50
// c: s32[64] = 0
// expect c[i] = (a[i] + 5) * 2 + (a[i] * a[i] + 5) * 2 + (i < 20 ? 1000 + i : 0)
// run factorials grid=1 block=64
// f: s32[64] = 0
// expect f[i] = (i & 7) == 0 ? 1 : (i & 7) == 1 ? 1 : (i & 7) == 2 ? 2 : (i & 7) == 3 ? 6 : (i & 7) == 4 ? 24 : (i & 7) == 5 ? 120 : (i & 7) == 6 ? 720 : 5040
// run pairs grid=1 block=64
// p: s32[64] = 0
// expect p[i] = (i & 7) == 0 ? 0 : (i & 7) == 1 ? 1 : (i & 7) == 2 ? 1 : (i & 7) == 3 ? 2 : (i & 7) == 4 ? 3 : (i & 7) == 5 ? 5 : (i & 7) == 6 ? 8 : 13
// run pairs grid=2 block=3
// q: s32[3] = 7
// expect q[i] = i == 0 ? 0 : 1
// run parity grid=1 block=64
// e: s32[64] = i % 11
// expect e[i] = 1 - e[i] % 2
// run chosen grid=1 block=64
// w: s32[64] = i
// expect w[i] = (i & 3) == 0 ? i + 1000 : (i & 3) == 1 ? i * 11 : 500 - i
#pragma OPENCL EXTENSION __cl_clang_function_pointers : enable
__attribute__((noinline)) static int twice(int x) { return (x + 5) * 2; }
__attribute__((noinline)) static int square(int x) { return twice(x * x); }
__attribute__((noinline)) static int factorial(int n)
{
    volatile int keep = n;
    return n < 2 ? 1 : keep * factorial(n - 1);
}
__attribute__((noinline)) static int pair(int n) { return n < 2 ? n : pair(n - 1) + pair(n - 2); }
__attribute__((noinline)) static int odd(int n);
__attribute__((noinline)) static int even(int n)
{
    volatile int keep = n;
    return n == 0 ? 1 : odd(keep - 1) + 0 * keep;
}
__attribute__((noinline)) static int odd(int n)
{
    volatile int keep = n;
    return n == 0 ? 0 : even(keep - 1) + 0 * keep;
}
__attribute__((noinline)) static int plus(int x) { return x + 1000; }
__attribute__((noinline)) static int times(int x) { return x * 11; }
__attribute__((noinline)) static int minus(int x) { return 500 - twice(x) / 2 + 5; }

__kernel void direct(__global int *a, __global int *c)
{
    int i = __builtin_amdgcn_workitem_id_x();
    int r = twice(a[i]) + square(a[i]);
    if (i < 20)
        r += twice(495 + (i & 1)) + i - (i & 1) * 2;
    c[i] = r;
}

__kernel void factorials(__global int *f)
{
    int i = __builtin_amdgcn_workitem_id_x();
    f[i] = factorial(i & 7);
}

__kernel void pairs(__global int *p)
{
    int i = __builtin_amdgcn_workitem_id_x();
    p[i] = pair(i & 7);
}

__kernel void parity(__global int *e)
{
    int i = __builtin_amdgcn_workitem_id_x();
    e[i] = even(e[i]);
}

__kernel void chosen(__global int *w)
{
    int i = __builtin_amdgcn_workitem_id_x();
    typedef int (*function)(int);
    function f = (i & 3) == 0 ? plus : (i & 3) == 1 ? times : minus;
    w[i] = f(w[i]);
}
