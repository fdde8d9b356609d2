// Both halves of a dual instruction read before either writes: two registers are exchanged. Compilers make dual
// instructions for waves of 32 lanes from gfx11 on; elsewhere the kernel exchanges by variables.
//
// run exchange grid=2 block=64
// a: u32[128] = i * 3 + 1
// b: u32[128] = 1000 - i
// expect a[i] = 1000 - i
// expect b[i] = i * 3 + 1

kernel void exchange(global uint *a, global uint *b) {
    size_t i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
    uint x = a[i], y = b[i], first, second;
#if (defined(__GFX11__) || defined(__GFX12__)) && __AMDGCN_WAVEFRONT_SIZE__ == 32
    __asm__("v_mov_b32 v10, %2\n\tv_mov_b32 v11, %3\n\t"
            "v_dual_mov_b32 v10, v11 :: v_dual_mov_b32 v11, v10\n\t"
            "v_mov_b32 %0, v10\n\tv_mov_b32 %1, v11"
            : "=&v"(first), "=&v"(second)
            : "v"(x), "v"(y)
            : "v10", "v11");
#else
    first = y, second = x;
#endif
    a[i] = first;
    b[i] = second;
}

// Halves of registers, which clang 19 does not write: the words are v_mov_b16 v10.h, v11.l and
// v_mov_b16 v10.l, v11.h.
//
// run halves grid=1 block=64
// c: u32[64] = i * 196613 + 7
// expect c[i] = (i * 5 + 7) * 65536 + i * 3

kernel void halves(global uint *c) {
    size_t i = __builtin_amdgcn_workitem_id_x();
    uint x = c[i], turned;
#if defined(__GFX11__) || defined(__GFX12__)
    __asm__("v_mov_b32 v10, 0\n\tv_mov_b32 v11, %1\n\t"
            ".long 0x7f14390b\n\t.long 0x7e14398b\n\tv_mov_b32 %0, v10"
            : "=&v"(turned)
            : "v"(x)
            : "v10", "v11");
#else
    turned = x << 16 | x >> 16;
#endif
    c[i] = turned;
}
