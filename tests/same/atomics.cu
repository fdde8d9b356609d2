// Atomics whose results do not depend on their order.
// run added grid=4 block=64
// a: u32[8] = i
// run added_wide grid=4 block=64
// b: u64[8] = i * 4294967295
// run taken grid=2 block=64
// c: u32[4] = 100000
// run least grid=4 block=64
// d: s32[8] = 100
// run most grid=4 block=64
// e: u32[8] = 7
// run extremes_wide grid=4 block=64
// f: s64[8] = 0
// run ands_and_ors grid=2 block=64
// g: u32[12] = i < 4 ? -1 : 0
// run ands_and_ors_wide grid=2 block=64
// h: u64[12] = i < 4 ? -1 : 0
// run replaced grid=2 block=64
// j: u32[4] = 1
// run replaced_wide grid=2 block=64
// k: u64[4] = 1
// run exchanged grid=2 block=64
// l: u32[4] = 0
// o: u32[8] = 0
// run own grid=2 block=128
// m: u32[256] = i * 3
// o: u32[8] = 0
// run own_wide grid=2 block=64
// n: u64[128] = i * 1000003
// o: u64[4] = 0
// run float_sums grid=4 block=64
// p: f32[8] = i
// run double_sums grid=2 block=64
// q: f64[4] = i
// run numbered grid=4 block=64
// r: u32[257] = 0
// run last grid=8 block=64
// s: u32[9] = 0
// o: u32[1] = 0
#include "kernel.h"

KERNEL added(u32 *a) { ATOMIC(add, &a[mixed(thread()) % 8], thread()); }
KERNEL added_wide(u64 *b) { ATOMIC(add, &b[mixed(thread()) % 8], (u64)mixed(thread()) << 20); }
KERNEL taken(u32 *c) { ATOMIC(sub, &c[TID % 4], thread() % 7); }
KERNEL least(int *d) { ATOMIC(min, &d[TID % 8], (int)mixed(thread()) % 1000); }
KERNEL most(u32 *e) { ATOMIC(max, &e[TID % 8], mixed(thread()) >> 3); }
KERNEL extremes_wide(s64 *f) {
    s64 v = (s64)((u64)mixed(thread()) << 32 | thread());
    if (TID % 2)
        ATOMIC(min, &f[TID % 8], v);
    else
        ATOMIC(max, &f[TID % 8], v);
}
KERNEL ands_and_ors(u32 *g) {
    u32 v = mixed(thread());
    ATOMIC(and, &g[TID % 4], v | mixed(thread() + 999) | mixed(thread() + 5000));
    ATOMIC(or, &g[4 + TID % 4], v & 0x11111111);
    ATOMIC(xor, &g[8 + TID % 4], v);
}
KERNEL ands_and_ors_wide(u64 *h) {
    u64 v = (u64)mixed(thread()) << 32 | mixed(thread() + 7);
    ATOMIC(and, &h[TID % 4], v | 0xffff0000ffff0000ull);
    ATOMIC(or, &h[4 + TID % 4], v & 0x1111111122222222ull);
    ATOMIC(xor, &h[8 + TID % 4], v);
}
KERNEL replaced(u32 *j) {
    u32 old = j[TID % 4];
    while (!REPLACE(&j[TID % 4], &old, old * 3 % 65537 + 0 * TID)) {
    }
}
KERNEL replaced_wide(u64 *k) {
    u64 old = k[TID % 4];
    while (!REPLACE(&k[TID % 4], &old, old * 5 % 1000000007)) {
    }
}
KERNEL exchanged(u32 *l, u32 *o) {
    // One thread finds a slot as it was.
    u32 got = EXCHANGE(&l[TID % 4], 5u);
    ATOMIC(add, &o[TID % 4 * 2 + (got == 5)], 1u);
}
KERNEL own(const u32 *m, u32 *o) {
    SHARED u32 sums[4];
    if (TID < 4)
        sums[TID] = TID == 1 ? ~0u : 0;
    BARRIER();
    u32 v = m[thread()];
    ATOMIC(add, &sums[0], v);
    ATOMIC(min, &sums[1], v ^ 5);
    ATOMIC(max, &sums[2], v ^ 9);
    ATOMIC(xor, &sums[3], v * v);
    BARRIER();
    if (TID < 4)
        o[CTAID * 4 + TID] = sums[TID];
}
KERNEL own_wide(const u64 *n, u64 *o) {
    SHARED u64 sums[2];
    if (TID < 2)
        sums[TID] = 0;
    BARRIER();
    ATOMIC(add, &sums[0], n[thread()] * n[thread()]);
    ATOMIC(max, &sums[1], n[thread()] ^ 77);
    BARRIER();
    if (TID < 2)
        o[CTAID * 2 + TID] = sums[TID];
}
// Whole numbers, whose sums are exact in any order.
KERNEL float_sums(float *p) { ATOMIC(add, &p[TID % 8], (float)(mixed(thread()) % 1000)); }
KERNEL double_sums(double *q) { ATOMIC(add, &q[TID % 4], (double)mixed(thread()) * 4096); }
KERNEL numbered(u32 *r) {
    u32 number = ATOMIC(add, &r[256], 1u);
    r[number] = 1 + number * 3;
}
KERNEL last(u32 *s, u32 *o) {
    SHARED u32 count;
    ATOMIC(add, &s[CTAID], thread());
    BARRIER();
    if (TID == 0)
        count = __atomic_fetch_add(&s[8], 1u, __ATOMIC_ACQ_REL);
    BARRIER();
    if (count == NCTAID - 1 && TID == 0)
        for (u32 i = 0; i < NCTAID; i++)
            *o += __atomic_load_n(&s[i], __ATOMIC_RELAXED) * (i + 1);
}
