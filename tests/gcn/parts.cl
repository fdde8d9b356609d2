// Bytes and halves: loads, stores, and arithmetic that gfx9 does on parts of registers (SDWA).
// run parts block=64
// a: u32[64] = i * 0x1234567 + 0x89abcdef
// b: u8[256] = i * 37
// c: u32[256] = 0
// expect c[i] = 1
__kernel void parts(__global const uint *a, __global const uchar *b, __global uint *c)
{
    uint i = __builtin_amdgcn_workitem_id_x(), x = a[i];
    uint y = i * 0x1234567u + 0x89abcdefu;
    // Sums of bytes, signed and unsigned.
    uint sum = (x & 255) + (x >> 8 & 255) + (x >> 16 & 255) + (x >> 24), byte = 0;
    for (int k = 0; k < 4; k++)
        byte += y >> k * 8 & 255;
    c[i] = sum == byte;
    int low = (char)x * (char)(x >> 8), high = (short)(x >> 16) - (short)x;
    c[64 + i] = low == ((int)(x << 24) >> 24) * ((int)(x << 16) >> 24) && high == ((int)x >> 16) - ((int)(x << 16) >> 16);
    uchar4 v = ((__global const uchar4 *)b)[i];
    uint4 w = (uint4)(i * 4) + (uint4)(0, 1, 2, 3);
    w = w * 37u & 255u;
    c[128 + i] = v.x == w.x && v.y == w.y && v.z == w.z && v.w == w.w;
    ushort s = (ushort)(x * 3) + (ushort)(x >> 16);
    c[192 + i] = s == ((x * 3 + (x >> 16)) & 0xffffu);
}
