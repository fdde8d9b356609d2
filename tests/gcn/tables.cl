// Functions by the object's tables: addresses that relocations write, functions that other objects may replace.
// run table grid=1 block=64
// a: s32[64] = i * 7
// expect a[i] = (i & 3) == 0 ? i * 7 + 5 : (i & 3) == 1 ? i * 49 : (i & 3) == 2 ? 0 - i * 7 : (i * 7 + 5) * 7
// run visible grid=1 block=64
// b: s32[64] = i
// expect b[i] = i * 7 + 5 + 3 * i
// run loose grid=1 block=64
// c: u8[260] = i & 255
// d: u32[64] = 0
// e: u8[512] = 1
// expect d[i] = (4 * i + 1 & 255) + (4 * i + 2 & 255) * 256 + (4 * i + 3 & 255) * 65536 + (4 * i + 4 & 255) * 16777216
// expect e[i] = i % 8 == 0 || i % 8 > 4 ? 1 : i / 8 + i % 8 - 1
#pragma OPENCL EXTENSION __cl_clang_function_pointers : enable
#define FAR __attribute__((noinline))

FAR int five(int x) { return x + 5; }
FAR int seven(int x) { return x * 7; }
FAR int minus(int x) { return -x; }
FAR int both(int x) { return seven(five(x)); }

typedef int (*function)(int);
__constant function list[] = {five, seven, minus, both};

__kernel void table(__global int *a)
{
    int i = __builtin_amdgcn_workitem_id_x();
    a[i] = list[i & 3](a[i]);
}

__attribute__((noinline, visibility("default"))) int shown(int x) { return seven(x) + 5; }

__kernel void visible(__global int *b)
{
    int i = __builtin_amdgcn_workitem_id_x();
    b[i] = shown(b[i]) + 3 * i;
}

struct __attribute__((packed)) odd {
    char first;
    uint word;
    char rest[3];
};

__kernel void loose(__global uchar *c, __global uint *d, __global struct odd *e)
{
    int i = __builtin_amdgcn_workitem_id_x();
    uint word;
    __builtin_memcpy(&word, c + 4 * i + 1, 4);
    d[i] = word;
    uint bytes = i | (i + 1) << 8 | (i + 2) << 16 | (i + 3) << 24;
    e[i].word = bytes;
}
