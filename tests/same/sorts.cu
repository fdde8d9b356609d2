// Sorts, histograms and selections.
// run bitonic grid=2 block=128
// a: u32[256] = i * 2654435 % 10007
// run odd_even grid=1 block=64
// b: s32[128] = (i * 37) % 101 - 50
// run radix grid=1 block=128
// c: u32[128] = i * 48271 % 65521
// run ranks grid=1 block=96
// d: f32[96] = (i * 29) % 96 * 0.5 - 7
// o: f32[96] = 0
// run merged grid=1 block=128
// e: u32[128] = i < 64 ? i * 5 : i * 3
// o: u32[128] = 0
// run histogram_shared grid=3 block=64
// f: u8[960] = i * i % 251
// h: u32[64] = 0
// n: u32 = 960
// run histogram_global grid=2 block=128
// g: u32[256] = i * 7 % 31
// h: u32[32] = 0
// run compacted grid=1 block=128
// j: u32[128] = i * 11 % 17
// o: u32[128] = 0
// n: u32[1] = 0
// run most_often grid=1 block=64
// k: u8[64] = i * 5 % 8
// o: u32[1] = 0
#include "kernel.h"

KERNEL bitonic(u32 *a) {
    SHARED u32 own[128];
    own[TID] = a[thread()];
    for (u32 size = 2; size <= 128; size *= 2)
        for (u32 step = size / 2; step > 0; step /= 2) {
            BARRIER();
            u32 other = TID ^ step;
            if (other > TID) {
                u32 x = own[TID], y = own[other];
                if ((x > y) == ((TID & size) == 0)) {
                    own[TID] = y;
                    own[other] = x;
                }
            }
        }
    BARRIER();
    a[thread()] = own[TID];
}

KERNEL odd_even(int *b) {
    for (u32 round = 0; round < 128; round++) {
        u32 i = 2 * TID + (round & 1);
        if (i + 1 < 128 && b[i] > b[i + 1]) {
            int x = b[i];
            b[i] = b[i + 1];
            b[i + 1] = x;
        }
        BARRIER();
    }
}

KERNEL radix(u32 *c) {
    SHARED u32 own[128], before[128];
    own[TID] = c[TID];
    for (u32 bit = 0; bit < 16; bit++) {
        BARRIER();
        u32 v = own[TID], zero = ~v >> bit & 1;
        before[TID] = zero;
        BARRIER();
        for (u32 step = 1; step < 128; step *= 2) {
            u32 more = TID >= step ? before[TID - step] : 0;
            BARRIER();
            before[TID] += more;
            BARRIER();
        }
        u32 zeros = before[127], at = zero ? before[TID] - 1 : zeros + TID - before[TID];
        BARRIER();
        own[at] = v;
    }
    BARRIER();
    c[TID] = own[TID];
}

KERNEL ranks(const float *d, float *o) {
    u32 rank = 0;
    float v = d[TID];
    for (u32 i = 0; i < NTID; i++)
        rank += d[i] < v || (d[i] == v && i < TID);
    o[rank] = v;
}

KERNEL merged(const u32 *e, u32 *o) {
    // The place in the other half, by bisection.
    u32 v = e[TID], low = TID < 64 ? 64 : 0, first = low, count = 64;
    while (count > 0) {
        u32 half = count / 2;
        bool after = TID < 64 ? e[low + half] < v : e[low + half] <= v;
        low = after ? low + half + 1 : low;
        count = after ? count - half - 1 : half;
    }
    o[TID % 64 + (low - first)] = v;
}

KERNEL histogram_shared(const u8 *f, u32 *h, u32 n) {
    SHARED u32 own[64];
    own[TID] = 0;
    BARRIER();
    for (u32 i = thread(); i < n; i += NCTAID * NTID)
        ATOMIC(add, &own[f[i] / 4], 1u);
    BARRIER();
    ATOMIC(add, &h[TID], own[TID]);
}

KERNEL histogram_global(const u32 *g, u32 *h) {
    ATOMIC(add, &h[g[thread()]], 1u + TID % 2);
}

KERNEL compacted(const u32 *j, u32 *o, u32 *n) {
    SHARED u32 counts[4];
    bool keep = j[TID] > 8;
    u32 all = ballot(keep);
    if (lane() == 0)
        counts[TID / 32] = (u32)__builtin_popcount(all);
    BARRIER();
    u32 at = (u32)__builtin_popcount(all & ((1u << lane()) - 1));
    for (u32 i = 0; i < TID / 32; i++)
        at += counts[i];
    if (keep)
        o[at] = j[TID] * 1000 + TID;
    if (TID == 127)
        *n = at + keep;
}

KERNEL most_often(const u8 *k, u32 *o) {
    SHARED u32 best;
    if (TID == 0)
        best = 0;
    BARRIER();
    u32 count = 0;
    for (u32 i = 0; i < NTID; i++)
        count += k[i] == k[TID] % 4;
    ATOMIC(max, &best, count << 8 | k[TID]);
    BARRIER();
    if (TID == 0)
        *o = best;
}
