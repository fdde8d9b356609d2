// A long function that is called from many places, some with a part of the lanes: calls share its code.
// run shared grid=2 block=64
// a: s32[128] = i
// expect a[i] = (i & 63) < 20 ? 2 * (2 * (2 * i + 120 + 40 * (i & 1)) + 120) + 120 + 40 : 2 * (2 * i + 120 + 40 * (i & 1)) + 120
__attribute__((noinline, optnone)) static int forty(int x)
{
    x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1;
    x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1;
    x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1;
    x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1; x += 1;
    return x;
}
__attribute__((noinline, optnone)) static int twice(int x)
{
    int odd = x & 1;
    x = 2 * forty(x);
    x = forty(x);
    if (odd)
        x = forty(x);
    return x;
}

__kernel void shared(__global int *a)
{
    int i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
    int x = twice(a[i]);
    if ((i & 63) < 20) {
        x = twice(x);
        a[i] = forty(twice(x));
    } else {
        a[i] = twice(x);
    }
}
