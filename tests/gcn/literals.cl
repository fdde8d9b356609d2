// Literals of 32 bits in operations of 64 bits: zeros stand above them, except above signed integers.
// run literals block=64
// a: s32[128] = i * 33554432 + i / 64
// h: s32[64] = 0
// w: u64[4] = 0
// expect h[i] = 33554432 * i - 1073741823
// expect w[i] = i == 0 ? 2147483648 : i == 1 ? 2147483648 : i == 2 ? 4294967040 : 1
#if __AMDGCN_WAVEFRONT_SIZE__ == 64
#define VCC "vcc"
#else
#define VCC "vcc_lo"
#endif

__kernel void literals(__global int *a, __global int *h, __global ulong *w)
{
    int i = __builtin_amdgcn_workitem_id_x();
    // gfx942 adds the 1 as 0x80000000 to a shifted sum.
    h[i] = (int)(((long)a[i] + a[i + 64] + 1) >> 1);
    ulong moved, both, word;
    __asm__("s_mov_b64 %0, 0x80000000" : "=s"(moved));
    __asm__("s_mov_b64 %0, -1\n\ts_and_b64 %0, %0, 0x80000000" : "=&s"(both)::"scc");
    __asm__("s_mov_b64 %0, 0\n\ts_or_b64 %0, %0, 0xffffff00" : "=&s"(word)::"scc");
    if (i == 0) {
        w[0] = moved;
        w[1] = both;
        w[2] = word;
#if __gfx1030__ || __gfx1100__ || __gfx1201__
        // Of signed integers: -256 is less than -255.
        unsigned less;
        long x = -255;
        __asm__("v_cmp_lt_i64_e64 " VCC ", 0xffffff00, %1\n\tv_cndmask_b32_e64 %0, 0, 1, " VCC
                : "=v"(less) : "v"(x) : "vcc");
        w[3] = less;
#else
        w[3] = 1;
#endif
    }
}
