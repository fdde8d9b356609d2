// Lanes that exchange values, and shared memory whose size the launch gives.
// run from_index block=64
// a: u32[64] = i * 3 + 1
// o: u32[64] = 0
// run from_above block=64
// a: u32[64] = i * i
// o: u32[64] = 0
// run butterflies block=64
// a: u32[64] = i * 7
// o: u32[64] = 0
// run voted block=96
// b: u32[96] = i * 5 % 13
// o: u32[288] = 0
// run leaders block=64
// c: u32[64] = i * 3 % 8
// o: u32[64] = 0
// run turned block=32
// d: u32[1024] = i
// o: u32[1024] = 0
// run wide_exchange block=64
// e: u64[64] = i * 0x0123456789abcdef
// o: u64[64] = 0
// run dynamic_sums grid=2 block=64 shared=512
// f: u64[128] = i * i
// o: u64[2] = 0
// run dynamic_parts block=64 shared=1024
// g: u32[64] = i * 17 % 29
// o: u32[64] = 0
// run queue block=64 shared=260
// h: u32[64] = i % 11
// o: u32[64] = 0
// run two_rows block=32x4
// j: u32[128] = i
// o: u32[128] = 0
#include "kernel.h"

KERNEL from_index(const u32 *a, u32 *o) { o[TID] = shuffle(a[TID], mixed(lane())); }
KERNEL from_above(const u32 *a, u32 *o) {
    u32 v = shuffle(a[TID], lane() + 3);
    o[TID] = lane() + 3 < 32 ? v : a[TID];
}
KERNEL butterflies(const u32 *a, u32 *o) {
    u32 v = a[TID];
    for (u32 step = 1; step < 32; step *= 2) {
        u32 other = shuffle(v, lane() ^ step);
        v = lane() & step ? v * 3 + other : other * 3 + v;
    }
    o[TID] = v;
}
KERNEL voted(const u32 *b, u32 *o) {
    u32 all = ballot(b[TID] > 6);
    o[3 * TID] = all;
    o[3 * TID + 1] = (u32)(all == ~0u) | (u32)(all != 0) << 1;
    o[3 * TID + 2] = (u32)__builtin_popcount(all << (31 - lane()));
}
KERNEL leaders(const u32 *c, u32 *o) {
    // The first lane with the same value.
    u32 v = c[TID], same = ~0u;
    for (u32 bit = 0; bit < 3; bit++) {
        bool set = v >> bit & 1;
        u32 all = ballot(set);
        same &= set ? all : ~all;
    }
    o[TID] = (u32)__builtin_ctz(same) << 8 | (u32)__builtin_popcount(same);
}
KERNEL turned(const u32 *d, u32 *o) {
    for (u32 i = 0; i < 32; i++) {
        u32 row = d[i * 32 + lane()], bits = 0;
        for (u32 k = 0; k < 32; k += 8)
            bits = bits * 257 + shuffle(row, (lane() + k) % 32);
        o[lane() * 32 + i] = bits;
    }
}
KERNEL wide_exchange(const u64 *e, u64 *o) {
    u64 v = e[TID];
    u32 low = shuffle((u32)v, 31 - lane()), high = shuffle((u32)(v >> 32), 31 - lane());
    o[TID] = (u64)high << 32 | low;
}
KERNEL dynamic_sums(const u64 *f, u64 *o) {
    DYNAMIC(u64, part);
    part[TID] = f[thread()];
    for (u32 step = 32; step > 0; step /= 2) {
        BARRIER();
        if (TID < step)
            part[TID] += part[TID + step];
    }
    if (TID == 0)
        o[CTAID] = part[0];
    BARRIER();
}
KERNEL dynamic_parts(const u32 *g, u32 *o) {
    DYNAMIC(u32, words);
    u16 *halves = (u16 *)(words + 64);
    u8 *single = (u8 *)(halves + 64);
    words[TID] = g[TID] * 65537;
    halves[63 - TID] = (u16)(g[TID] * 257);
    single[TID ^ 1] = (u8)g[TID];
    BARRIER();
    o[TID] = words[(TID + 1) % 64] ^ halves[TID] ^ (u32)single[TID] << 24;
    BARRIER();
}
KERNEL queue(const u32 *h, u32 *o) {
    DYNAMIC(u32, items);
    if (TID == 0)
        items[0] = 0;
    BARRIER();
    if (h[TID] < 5)
        items[1 + ATOMIC(add, &items[0], 1u)] = TID;
    BARRIER();
    u32 sum = 0, count = items[0];
    for (u32 i = 1; i <= count; i++)
        sum += items[i] * items[i];
    o[TID] = sum + count;
    BARRIER();
}
KERNEL two_rows(const u32 *j, u32 *o) {
    u32 at = TID_Y * 32 + TID;
    u32 v = shuffle(j[at], TID * 5 + TID_Y);
    o[at] = v * 4 + TID_Y;
}
