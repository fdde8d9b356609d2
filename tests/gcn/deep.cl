// A recursion that needs more stack than there is.
// run deep grid=1 block=64
// a: s32[64] = 100000
// fault StackOverflow
// run deep grid=1 block=64
// a: s32[64] = i & 3
// expect a[i] = (i & 3) * ((i & 3) + 1) / 2
__attribute__((noinline)) static int down(int n)
{
    volatile int keep[4] = {n, n, n, n};
    return n == 0 ? 0 : down(n - 1) + keep[n & 3];
}

__kernel void deep(__global int *a)
{
    int i = __builtin_amdgcn_workitem_id_x();
    a[i] = down(a[i]);
}
