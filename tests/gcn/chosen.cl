// Functions that are called by an address that a scalar choice, a branch, a loop, an argument or memory gives.
// run by_argument grid=1 block=64
// a: s32[64] = i
// n: s32 = 3
// expect a[i] = i + 1000
// run by_argument grid=1 block=64
// a: s32[64] = i
// n: s32 = 4
// expect a[i] = i * 11
// run by_branch grid=1 block=64
// b: s32[64] = i
// n: s32 = 4
// expect b[i] = i + 1001
// run by_branch grid=1 block=64
// b: s32[64] = i
// n: s32 = 3
// expect b[i] = (i + 2) * 11
// run in_turn grid=1 block=64
// c: s32[64] = i
// n: s32 = 5
// expect c[i] = (500 - (i + 1000) * 11 + 1000) * 11
// run only_some grid=1 block=64
// d: s32[64] = i
// expect d[i] = i & 1 ? i + 1000 : i
// run passed grid=1 block=64
// e: s32[64] = i
// n: s32 = 3
// expect e[i] = (i & 1 ? i + 1001 : i * 11 + 1) + 500 - i + 1
// run as_last grid=1 block=64
// f: s32[64] = i * 5
// n: s32 = 2
// expect f[i] = i * 55 + (i & 1 ? i + 1000 : i & 2 ? i * 11 : 500 - i)
// run in_array grid=1 block=64
// g: s32[64] = i * 3
// n: s32 = 5
// expect g[i] = (i % 3 == 0 ? i * 3 + 1000 : i % 3 == 1 ? i * 33 : 500 - i * 3) + 500 - i
// run by_others grid=1 block=64
// h: s32[64] = i * 3
// expect h[i] = i & 1 ? 500 - i * 3 : i * 3 + 1000
// run of_many grid=1 block=64
// j: s32[128] = i
// n: s32 = 17
// expect j[i] = i < 64 ? i * 17 + 17 : 17 * (i - 64)
// run of_many grid=1 block=64
// j: s32[128] = i
// n: s32 = 2
// expect j[i] = i < 64 ? i * 2 + 2 : 2 * (i - 64)
#pragma OPENCL EXTENSION __cl_clang_function_pointers : enable
#define FAR __attribute__((noinline)) static
typedef int (*function)(int);

FAR int plus(int x) { return x + 1000; }
FAR int times(int x) { return x * 11; }
FAR int minus(int x) { return 500 - x; }

__kernel void by_argument(__global int *a, int n)
{
    int i = __builtin_amdgcn_workitem_id_x();
    function f = n == 3 ? plus : times;
    a[i] = f(a[i]);
}

// The address is written on two ways that meet.
__kernel void by_branch(__global int *b, int n)
{
    int i = __builtin_amdgcn_workitem_id_x();
    function f;
    if (n > 3) {
        f = plus;
        b[i] += 1;
        __builtin_amdgcn_s_barrier();
    } else {
        f = times;
        b[i] += 2;
        __builtin_amdgcn_s_sleep(1);
    }
    b[i] = f(b[i]);
}

__kernel void in_turn(__global int *c, int n)
{
    int i = __builtin_amdgcn_workitem_id_x();
    function f = plus, g = times, h = minus;
    int x = c[i];
    for (int k = 0; k < n; k++) {
        x = f(x);
        function t = f;
        f = g;
        g = h;
        h = t;
    }
    c[i] = x;
}

__kernel void only_some(__global int *d)
{
    int i = __builtin_amdgcn_workitem_id_x();
    function f = i & 1 ? plus : 0;
    if (f)
        d[i] = f(d[i]);
}

FAR int apply(function f, int x) { return f(x) + 1; }

__kernel void passed(__global int *e, int n)
{
    int i = __builtin_amdgcn_workitem_id_x();
    e[i] = apply(i & 1 ? plus : times, e[i]) + apply(n > 2 ? minus : times, i);
}

// The last call of a function is a jump.
FAR int last(int x, int n)
{
    function f = n & 1 ? plus : n & 2 ? times : minus;
    return f(x);
}

__kernel void as_last(__global int *f, int n)
{
    int i = __builtin_amdgcn_workitem_id_x();
    f[i] = last(f[i], n) + last(i, i);
}

__kernel void in_array(__global int *g, int n)
{
    int i = __builtin_amdgcn_workitem_id_x();
    volatile __private function all[3];
    all[0] = plus;
    all[1] = times;
    all[2] = minus;
    g[i] = all[i % 3](g[i]) + all[n % 3](i);
}

__kernel void by_others(__global int *h)
{
    int i = __builtin_amdgcn_workitem_id_x();
    __local function all[64];
    all[i] = i & 1 ? plus : minus;
    __builtin_amdgcn_s_barrier();
    h[i] = all[63 - i](h[i]);
}

// More functions than are followed through registers.
#define MANY(n) FAR int many##n(int x) { return x * n + n; }
MANY(0) MANY(1) MANY(2) MANY(3) MANY(4) MANY(5) MANY(6) MANY(7) MANY(8) MANY(9)
MANY(10) MANY(11) MANY(12) MANY(13) MANY(14) MANY(15) MANY(16) MANY(17) MANY(18) MANY(19)
#define CASE(n) case n: f = many##n; j[i + 64] = n * i; break;

__kernel void of_many(__global int *j, int n)
{
    int i = __builtin_amdgcn_workitem_id_x();
    function f = many19;
    switch (n) {
        CASE(0) CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8) CASE(9)
        CASE(10) CASE(11) CASE(12) CASE(13) CASE(14) CASE(15) CASE(16) CASE(17) CASE(18)
    }
    j[i] = f(j[i]);
}
