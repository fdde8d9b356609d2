// The middle of three, bytes as floats, words out of two words, the data of another lane by LDS addressing.
// run middle block=64
// c: s32[512] = 0
// expect c[i] = i < 64 ? (i < 20 ? 20 : i > 40 ? 40 : i) : i < 128 ? i - 64 : i < 192 ? (i - 128) * 4 + 3 : i < 256 ? (i - 192 + 5) % 32 : i < 320 ? 1 : i < 384 ? (i - 320) / 32 * 32 + (31 - i % 32) : i < 448 ? 0x33001122 : 0 - 16711681
__kernel void middle(__global int *c)
{
    int i = __builtin_amdgcn_workitem_id_x();
    c[i] = i < 20 ? 20 : i > 40 ? 40 : i;
    c[64 + i] = (int)(float)((uint)i << 8 >> 8 & 255);
    uint packed = (uint)(i * 4 + 3) << 16;
    c[128 + i] = __builtin_amdgcn_alignbyte(0, packed, 2);
    // Of the lower 32 lanes, so that waves of both sizes do the same.
    c[192 + i] = __builtin_amdgcn_ds_bpermute((i + 5) % 32 * 4, i % 32);
    c[320 + i] = __builtin_amdgcn_ds_swizzle(i, 0x7c1f);
    c[384 + i] = __builtin_amdgcn_perm(0x11220000u | (uint)i, 0x33000000u | (uint)i, 0x030c0706u);
    // Signs, zeros and ones.
    c[448 + i] = __builtin_amdgcn_perm(0x80007fffu, 0x7fff8000u | (uint)i, 0x0d0c080bu);
    c[256 + i] = __builtin_fminf(__builtin_fmaxf((float)i, 10.0f), 20.0f) == (i < 10 ? 10.0f : i > 20 ? 20.0f : (float)i);
}
