// Inclusive scan: each block of 256 scans its tile (shuffles, then the warps' sums), and a second kernel adds
// the offsets.
#include "device.h"

static __device__ __forceinline__ u32 warp_scan(u32 v, u32 lane) {
#pragma unroll
    for (u32 d = 1; d < 32; d <<= 1) {
        u32 o = shuffle_up(v, d);
        if (lane >= d) v += o;
    }
    return v;
}

extern "C" __global__ void scan_blocks(const u32 *in, u32 *out, u32 *sums) {
    __shared__ u32 part[8];
    u32 t = TID_X, lane = t & 31, warp = t >> 5, i = CTAID_X * 256 + t;
    u32 v = warp_scan(in[i], lane);
    if (lane == 31) part[warp] = v;
    BARRIER();
    if (warp == 0) {
        u32 p = lane < 8 ? part[lane] : 0;
        p = warp_scan(p, lane);
        if (lane < 8) part[lane] = p;
    }
    BARRIER();
    if (warp > 0) v += part[warp - 1];
    out[i] = v;
    if (t == 255) sums[CTAID_X] = v;
}

extern "C" __global__ void scan_add(u32 *out, const u32 *sums) {
    if (CTAID_X > 0) out[CTAID_X * 256 + TID_X] += sums[CTAID_X - 1];
}
