// Lanes that read each other: ballot, the first active lane, a lane by number, lanes below.
// run lanes block=32
// c: u32[160] = 0
// expect c[i] = i < 32 ? 0xaaaaaaaa : i < 64 ? (i - 32) / 2 : i < 96 ? ((i - 64) % 2 == 1 ? 1007 : 0) : i < 128 ? ((i - 96) % 2 == 1 ? 101 : 0) : 0
#if __AMDGCN_WAVEFRONT_SIZE__ == 64
#define BALLOT(x) (unsigned)__builtin_amdgcn_ballot_w64(x)
#else
#define BALLOT(x) __builtin_amdgcn_ballot_w32(x)
#endif

__kernel void lanes(__global unsigned *c)
{
    unsigned i = __builtin_amdgcn_workitem_id_x();
    c[i] = BALLOT(i % 2 == 1);
    c[32 + i] = __builtin_amdgcn_mbcnt_lo(0xaaaaaaaau, 0);
    if (i % 2 == 1) {
        c[64 + i] = __builtin_amdgcn_readlane(1000 + i, 7);
        c[96 + i] = __builtin_amdgcn_readfirstlane(100 + i);
    }
}
