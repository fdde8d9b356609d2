// OpenCL's `printf`, whose output a kernel leaves in a buffer: LLVM makes each call one of `__printf_alloc`,
// which the device library has, and stores the call's number and its arguments.
// run lines grid=2 block=40
// a: s32[80] = i
// results: s32[80] = 7
// expect results[i] = 0
// prints item 3: -3 fd 4.50% x
// prints item 23: -23 e9 34.50% x
// prints item 43: -43 d5 64.50% x
// prints item 63: -63 c1 94.50% x
// prints last 79 of 80
// run kinds grid=1 block=1
// a: s32[2] = 3 + i
// f: f32 = 2.5
// d: f64 = -0.25
// l: u64 = 1099511627776
// prints |    3|4   |0x3|+3|003|
// prints 2.50 -2.500000e-01 -0.25 1 1099511627776
// prints 3,4|3,4,5|1,2,3,-4|3,4,5,6|2.5,2.5
// prints literal, four more, four: 5
// prints    abc|ab | done:
// run full grid=64 block=64
// counts: u32[2] = 0
// expect counts[i] = i == 0 ? 16131 : 253
#define RELAXED memory_order_relaxed, memory_scope_device

__global char *__printf_alloc(uint bytes)
{
    // In version 5 of code objects the buffer is the tenth word of 64 bits after the arguments.
    __global uint *head = ((__global uint *__constant *)__builtin_amdgcn_implicitarg_ptr())[9];
    __global atomic_uint *used = (__global atomic_uint *)head;
    uint old = __opencl_atomic_load(used, RELAXED);
    while (old + bytes + 8 <= head[1])
        if (__opencl_atomic_compare_exchange_strong(used, &old, old + bytes, memory_order_relaxed, RELAXED))
            return (__global char *)head + 8 + old;
    return 0;
}

#define ITEM (int)(__builtin_amdgcn_workgroup_id_x() * 40 + __builtin_amdgcn_workitem_id_x())

__kernel void lines(__global const int *a, __global int *results)
{
    int i = ITEM, result = 0;
    if (i % 20 == 3)
        result = printf("item %d: %d %hhx %.2f%% %c\n", i, -a[i], (char)-a[i], a[i] * 1.5f, 'x');
    if (i == 79)
        result = printf("last %d of %lu\n", i, (ulong)i + 1);
    results[i] = result;
}

__kernel void kinds(__global const int *a, float f, double d, ulong l)
{
    printf("|%5d|%-4d|%#x|%+d|%03u|\n", a[0], a[1], a[0], a[0], (unsigned)a[0]);
    printf("%.2f %e %g %hd %ld\n", f, d, d, (short)(l + 1), l);
    char4 bytes = (char4)(1, 2, a[0], -a[1]);
    short2 halves = (short2)(a[0], a[1]);
    int3 three = (int3)(a[0], a[1], 5);
    printf("%v2hd|%v3hld|%v4hhd|%v4hld|%.1v2hlf\n", halves, three, bytes, (int4)(three, 6), (float2)(f));
    printf("%s, %s, %s: %d\n", "literal", "four more", "four", a[0] + 2);
    printf("%6s|%-3s|%s done:\n", "abc", "ab", "");
}

// Records of 260 bytes, of which 16131 fit into the 4 MiB. The others return -1.
#define TEN "0123456789"
#define FIFTY TEN TEN TEN TEN TEN
__kernel void full(__global uint *counts)
{
    _Pragma("unroll 1") for (int i = 0; i < 4; i++) {
        int lost = printf("%.0s", FIFTY FIFTY FIFTY FIFTY FIFTY "01234") != 0;
        __opencl_atomic_fetch_add((__global atomic_uint *)counts + lost, 1, RELAXED);
    }
}
