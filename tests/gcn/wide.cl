// Integers of 64 bits, shifts, fields, counts, products with their high halves.
// run wide block=64
// c: u64[256] = 0
// expect c[i] = i < 64 ? i * 0x100000007 + 5 : i < 128 ? (i - 64) * 4294967297 : i < 192 ? 64 - (i - 128) : ((i - 192) * 0x9e3779b9 % 4294967296) / 65536 % 256
__kernel void wide(__global ulong *c)
{
    uint i = __builtin_amdgcn_workitem_id_x();
    ulong k = i;
    c[i] = k * 0x100000007ul + 5;
    c[64 + i] = k << 32 | k;
    c[128 + i] = __builtin_popcountll(~0ul << i);
    c[192 + i] = (i * 0x9e3779b9u) >> 16 & 255;
}
