// Reductions and scans.
// run sum_tree grid=3 block=128
// a: u32[384] = i * 77 + 5
// r: u32[3] = 0
// run sum_lanes grid=2 block=128
// b: u32[256] = i * i
// r: u32[8] = 0
// run sum_grid grid=4 block=64
// c: u32[1000] = i % 13
// r: u64[1] = 0
// n: u32 = 1000
// run sum_float grid=2 block=64
// d: f32[128] = i * 0.37 - 11.5
// r: f32[2] = 0
// run sum_double grid=1 block=96
// e: f64[96] = i * 0.1 + 3
// r: f64[1] = 0
// run extremes grid=2 block=128
// f: s32[256] = (i * 7919) % 1009 - 500
// r: s32[4] = 0
// run product grid=1 block=64
// g: u64[64] = i + 1
// r: u64[1] = 0
// run scan_steps grid=2 block=128
// h: u32[256] = i % 7 + 1
// run scan_tree grid=1 block=64
// j: u32[128] = i * 3 % 11
// run scan_lanes grid=1 block=128
// k: u32[128] = i % 5
// run scan_parts grid=1 block=64
// l: u32[64] = i
// s: u8[64] = i % 9 == 0
// run scan_float grid=1 block=64
// m: f32[64] = 1.5 - i * 0.25
#include "kernel.h"

KERNEL sum_tree(const u32 *a, u32 *r) {
    SHARED u32 part[128];
    part[TID] = a[thread()];
    for (u32 step = 64; step > 0; step /= 2) {
        BARRIER();
        if (TID < step)
            part[TID] += part[TID + step];
    }
    if (TID == 0)
        r[CTAID] = part[0];
}

KERNEL sum_lanes(const u32 *b, u32 *r) {
    u32 v = b[thread()];
    for (u32 step = 16; step > 0; step /= 2)
        v += shuffle(v, lane() ^ step);
    if (lane() == 0)
        r[thread() / 32] = v;
}

KERNEL sum_grid(const u32 *c, u64 *r, u32 n) {
    u64 sum = 0;
    for (u32 i = thread(); i < n; i += NCTAID * NTID)
        sum += (u64)c[i] << (i & 7);
    ATOMIC(add, r, sum);
}

KERNEL sum_float(const float *d, float *r) {
    SHARED float part[64];
    part[TID] = d[thread()];
    BARRIER();
    for (u32 step = 1; step < 64; step *= 2) {
        if (TID % (2 * step) == 0)
            part[TID] += part[TID + step];
        BARRIER();
    }
    if (TID == 0)
        r[CTAID] = part[0];
}

KERNEL sum_double(const double *e, double *r) {
    SHARED double part[96];
    part[TID] = e[TID] * e[TID];
    BARRIER();
    if (TID == 0) {
        double sum = 0;
        for (u32 i = 0; i < NTID; i++)
            sum += part[i];
        *r = sum;
    }
}

KERNEL extremes(const int *f, int *r) {
    SHARED int least[128], most[128];
    least[TID] = most[TID] = f[thread()];
    for (u32 step = 64; step > 0; step /= 2) {
        BARRIER();
        if (TID < step) {
            least[TID] = least[TID] < least[TID + step] ? least[TID] : least[TID + step];
            most[TID] = most[TID] > most[TID + step] ? most[TID] : most[TID + step];
        }
    }
    if (TID == 0) {
        r[2 * CTAID] = least[0];
        r[2 * CTAID + 1] = most[0];
    }
}

KERNEL product(const u64 *g, u64 *r) {
    SHARED u64 part[64];
    part[TID] = g[TID] * 0x9e3779b97f4a7c15ull + 1;
    for (u32 step = 32; step > 0; step /= 2) {
        BARRIER();
        if (TID < step)
            part[TID] *= part[TID + step];
    }
    if (TID == 0)
        *r = part[0];
}

KERNEL scan_steps(u32 *h) {
    SHARED u32 part[128];
    part[TID] = h[thread()];
    BARRIER();
    for (u32 step = 1; step < 128; step *= 2) {
        u32 more = TID >= step ? part[TID - step] : 0;
        BARRIER();
        part[TID] += more;
        BARRIER();
    }
    h[thread()] = part[TID];
}

KERNEL scan_tree(u32 *j) {
    SHARED u32 part[128];
    part[2 * TID] = j[2 * TID];
    part[2 * TID + 1] = j[2 * TID + 1];
    u32 gap = 1;
    for (u32 left = 64; left > 0; left /= 2, gap *= 2) {
        BARRIER();
        if (TID < left)
            part[gap * (2 * TID + 2) - 1] += part[gap * (2 * TID + 1) - 1];
    }
    BARRIER();
    if (TID == 0)
        part[127] = 0;
    for (u32 left = 1; left < 128; left *= 2) {
        gap /= 2;
        BARRIER();
        if (TID < left) {
            u32 low = gap * (2 * TID + 1) - 1, high = low + gap, was = part[low];
            part[low] = part[high];
            part[high] += was;
        }
    }
    BARRIER();
    j[2 * TID] = part[2 * TID];
    j[2 * TID + 1] = part[2 * TID + 1];
}

KERNEL scan_lanes(u32 *k) {
    SHARED u32 ends[4];
    u32 v = k[TID];
    for (u32 step = 1; step < 32; step *= 2) {
        u32 more = shuffle(v, lane() - step);
        v += lane() >= step ? more : 0;
    }
    if (lane() == 31)
        ends[TID / 32] = v;
    BARRIER();
    for (u32 i = 0; i < TID / 32; i++)
        v += ends[i];
    k[TID] = v;
}

KERNEL scan_parts(u32 *l, const u8 *s) {
    SHARED u32 part[64], begins[64];
    part[TID] = l[TID];
    begins[TID] = s[TID];
    BARRIER();
    for (u32 step = 1; step < 64; step *= 2) {
        u32 more = 0, begun = begins[TID];
        if (TID >= step) {
            more = begun ? 0 : part[TID - step];
            begun |= begins[TID - step];
        }
        BARRIER();
        part[TID] += more;
        begins[TID] = begun;
        BARRIER();
    }
    l[TID] = part[TID];
}

KERNEL scan_float(float *m) {
    SHARED float part[64];
    part[TID] = m[TID];
    BARRIER();
    for (u32 step = 1; step < 64; step *= 2) {
        float more = TID >= step ? part[TID - step] : 0.0f;
        BARRIER();
        part[TID] = __builtin_fmaf(more, 1.0f, part[TID]);
        BARRIER();
    }
    m[TID] = part[TID];
}
