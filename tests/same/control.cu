// Calls, recursion, branches, loops and arrays of a thread.
// run factorial block=64
// a: u32[64] = i % 13
// o: u32[64] = 0
// run fibonacci block=64
// b: u32[64] = i % 12
// o: u32[64] = 0
// run hanoi block=32
// d: u32[32] = i % 8
// o: u32[32] = 0
// run parity block=64
// e: u32[64] = i * 7 % 40
// o: u32[64] = 0
// run chosen block=64
// f: s32[64] = i * 17 - 300
// o: s32[64] = 0
// run table block=64
// f: s32[64] = i * 31 - 700
// o: s32[64] = 0
// run dense block=64
// g: u32[64] = i
// o: u32[64] = 0
// run distant block=64
// h: u32[64] = i * 1000 % 7919
// o: u32[64] = 0
// run scratch block=64
// j: u32[64] = i * 13
// o: u32[64] = 0
// run sorted_scratch block=64
// k: u32[512] = i * 2654435 % 1009
// o: u32[64] = 0
// run divisor block=64
// l: u32[128] = i * 36 + 24
// o: u32[64] = 0
// run collatz block=64
// m: u32[64] = i + 1
// o: u32[64] = 0
// run mandelbrot grid=2x2 block=16x8
// o: u32[512] = 0
// w: u32 = 32
// n: u32 = 60
// run left_early grid=2 block=64
// p: u32[128] = i * 5 % 23
// o: u32[128] = 0
// run nested block=64
// q: u32[64] = i
// o: u32[64] = 0
// run crossed block=64
// r: u32[64] = i * 3
// o: u32[64] = 0
// run found block=64
// s: u8[80] = i * i % 5
// o: u32[64] = 0
// run queens block=32
// t: u32[32] = i % 7
// o: u32[32] = 0
// run states block=64
// u: u8[64] = i * 11 % 7
// o: u32[64] = 0
// run digits block=64
// v: u32[64] = i * 123457
// o: u8[640] = 0
// run wide_steps block=64
// x: u64[64] = i * 0x1234567890abcdef
// o: u64[64] = 0
// run deep_choice block=64
// z: u32[64] = i % 5
// o: u32[64] = 0
#include "kernel.h"

APART u32 factor(u32 n) {
    volatile u32 keep = n;
    return n < 2 ? 1 : keep * factor(n - 1);
}
KERNEL factorial(const u32 *a, u32 *o) { o[TID] = factor(a[TID]); }

APART u32 pair(u32 n) { return n < 2 ? n : pair(n - 1) + pair(n - 2); }
KERNEL fibonacci(const u32 *b, u32 *o) { o[TID] = pair(b[TID]); }

APART u32 moved(u32 n, u32 from, u32 to, u32 sum) {
    if (n == 0)
        return sum;
    u32 other = 6 - from - to;
    sum = moved(n - 1, from, other, sum);
    sum = sum * 31 + from * 4 + to;
    return moved(n - 1, other, to, sum);
}
KERNEL hanoi(const u32 *d, u32 *o) { o[TID] = moved(d[TID], 1, 3, 7); }

APART u32 odd(u32 n);
APART u32 even(u32 n) {
    volatile u32 keep = n;
    return n == 0 ? 1 : odd(keep - 1) + 0 * keep;
}
APART u32 odd(u32 n) {
    volatile u32 keep = n;
    return n == 0 ? 0 : even(keep - 1) + 0 * keep;
}
KERNEL parity(const u32 *e, u32 *o) { o[TID] = even(e[TID]) * 2 + odd(e[TID] / 3); }

APART int plus(int x) { return x + 1000; }
APART int times(int x) { return x * 11; }
APART int minus(int x) { return 500 - plus(x) / 2; }
APART int both(int x) { return times(x) - minus(x); }
typedef int (*Function)(int);
KERNEL chosen(const int *f, int *o) {
    u32 kind = mixed(TID) % 4;
    Function function = kind == 0 ? plus : kind == 1 ? times : kind == 2 ? minus : both;
    o[TID] = function(f[TID]);
}
KERNEL table(const int *f, int *o) {
    Function functions[4] = {both, plus, minus, times};
    int v = f[TID];
    for (u32 i = 0; i < 3; i++)
        v = functions[(TID + i) % 4](v % 10000);
    o[TID] = v;
}

KERNEL dense(const u32 *g, u32 *o) {
    u32 v = g[TID], r = 1;
    switch (v % 10) {
    case 0: r = v * 3; break;
    case 1: r = v ^ 0x55; // falls through
    case 2: r += v << 4; break;
    case 3: r = 77; break;
    case 4:
    case 5: r = v / 3; break;
    case 6: r = ~v; // falls through
    case 7: r -= 5; break;
    case 8: return;
    default: r = 9;
    }
    o[TID] = r;
}

KERNEL distant(const u32 *h, u32 *o) {
    switch (h[TID]) {
    case 0: o[TID] = 1; break;
    case 1000: o[TID] = 22; break;
    case 2000: o[TID] = 333; break;
    case 5000: o[TID] = 4444; break;
    case 7000: o[TID] = 55555; break;
    case 81: o[TID] = 6; break;
    case 4243: o[TID] = 7; break;
    default: o[TID] = h[TID] > 4000 ? 8 : 9;
    }
}

KERNEL scratch(const u32 *j, u32 *o) {
    u32 own[40];
    for (u32 i = 0; i < 40; i++)
        own[i] = j[TID] * i;
    for (u32 i = 0; i < 40; i++)
        own[(i * 7 + TID) % 40] ^= own[mixed(i + TID) % 40] + i;
    u32 sum = 0;
    for (u32 i = 0; i < 40; i++)
        sum = sum * 33 + own[i];
    o[TID] = sum;
}

KERNEL sorted_scratch(const u32 *k, u32 *o) {
    u32 own[8];
    for (u32 i = 0; i < 8; i++)
        own[i] = k[TID * 8 + i];
    for (u32 i = 1; i < 8; i++) {
        u32 v = own[i], at = i;
        while (at > 0 && own[at - 1] > v) {
            own[at] = own[at - 1];
            at--;
        }
        own[at] = v;
    }
    u32 sum = 0;
    for (u32 i = 0; i < 8; i++)
        sum = sum * 1013 + own[i];
    o[TID] = sum;
}

KERNEL divisor(const u32 *l, u32 *o) {
    u32 x = l[TID], y = l[TID + 64];
    while (y) {
        u32 rest = x % y;
        x = y;
        y = rest;
    }
    o[TID] = x;
}

KERNEL collatz(const u32 *m, u32 *o) {
    u32 x = m[TID], steps = 0, most = x;
    while (x != 1 && steps < 500) {
        x = x & 1 ? 3 * x + 1 : x / 2;
        most = x > most ? x : most;
        steps++;
    }
    o[TID] = steps << 16 ^ most;
}

KERNEL mandelbrot(u32 *o, u32 w, u32 n) {
    u32 px = CTAID * 16 + TID, py = CTAID_Y * 8 + TID_Y;
    float cx = -2.0f + 3.0f * (float)px / (float)w, cy = -1.5f + 3.0f * (float)py / (float)w, x = 0, y = 0;
    u32 k = 0;
    while (k < n && x * x + y * y < 4.0f) {
        float t = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = t;
        k++;
    }
    o[py * w + px] = k;
}

KERNEL left_early(const u32 *p, u32 *o) {
    u32 v = p[thread()];
    if (v % 4 == 1)
        return;
    for (u32 i = 0; i < v; i++) {
        if (v * i > 100)
            return;
        o[thread()] += i * v;
    }
    o[thread()] += 1000;
}

KERNEL nested(const u32 *q, u32 *o) {
    u32 v = q[TID], sum = 0;
    for (u32 i = 0; i < v % 9; i++) {
        for (u32 j = i; j < 12; j++) {
            if ((j * v) % 5 == 3)
                continue;
            if (j * i > v)
                break;
            for (u32 k = j; k > 0; k /= 2)
                sum += k ^ i;
        }
        if (sum > 400)
            break;
        sum += v;
    }
    o[TID] = sum;
}

// Jumps into loops from two places.
KERNEL crossed(const u32 *r, u32 *o) {
    u32 v = r[TID], n = 0, sum = 0;
    if (v % 2)
        goto second;
first:
    sum += v;
    n++;
    if (n > 20)
        goto end;
second:
    sum ^= v << n % 8;
    n += 2;
    if ((sum & 3) != 1)
        goto first;
    if (n < 12)
        goto second;
end:
    o[TID] = sum * 100 + n;
}

KERNEL found(const u8 *s, u32 *o) {
    const u8 wanted[3] = {0, 1, 4};
    u32 length = 0;
    while (length < 3 && s[TID + length] == wanted[length])
        length++;
    o[TID] = length == 3 ? TID + 100 : length;
}

KERNEL queens(const u32 *t, u32 *o) {
    // Ways to place queens, without recursion.
    u32 n = t[TID], ways = 0;
    u8 at[8];
    int row = 0;
    at[0] = 0;
    while (n > 0 && row >= 0) {
        if (at[row] >= n) {
            if (--row >= 0)
                at[row]++;
            continue;
        }
        bool fits = true;
        for (int i = 0; i < row; i++)
            fits &= at[i] != at[row] && at[i] + row - i != at[row] && at[row] + row - i != at[i];
        if (!fits) {
            at[row]++;
        } else if (row + 1 == (int)n) {
            ways++;
            at[row]++;
        } else {
            at[++row] = 0;
        }
    }
    o[TID] = ways;
}

KERNEL states(const u8 *u, u32 *o) {
    enum { BEGIN, WORD, NUMBER, END } state = BEGIN;
    u32 words = 0, sum = 0, place = TID;
    for (u32 i = 0; i < 40 && state != END; i++) {
        u8 c = u[(place + i) % 64];
        switch (state) {
        case BEGIN: state = c < 3 ? WORD : c < 6 ? NUMBER : BEGIN; break;
        case WORD:
            if (c >= 3) {
                words++;
                state = c == 6 ? END : BEGIN;
            }
            break;
        case NUMBER:
            sum = sum * 10 + c;
            state = c == 0 ? BEGIN : NUMBER;
            break;
        default: break;
        }
    }
    o[TID] = words << 24 ^ sum;
}

KERNEL digits(const u32 *v, u8 *o) {
    u32 x = v[TID];
    u8 text[10];
    u32 n = 0;
    do {
        text[n++] = (u8)('0' + x % 10);
        x /= 10;
    } while (x);
    for (u32 i = 0; i < n; i++)
        o[TID * 10 + i] = text[n - 1 - i];
}

KERNEL wide_steps(const u64 *x, u64 *o) {
    u64 v = x[TID];
    for (u32 i = 0; i < 20 + TID % 8; i++) {
        v ^= v << 13;
        v ^= v >> 7;
        v ^= v << 17;
        v += (v & 1) != 0 ? 0xffffffff00000001ull : 0x100000000ull;
    }
    o[TID] = v;
}

// A function that calls itself ends with a call of one that is chosen when the kernel runs and may have a large
// frame, so the compiler cannot know how much memory the stack takes.
APART u32 large_frame(u32 x) {
    volatile u32 a[600];
    for (u32 i = 0; i < 600; i++)
        a[i] = i ^ x;
    u32 sum = 0;
    for (u32 i = 0; i < 600; i++)
        sum += a[599 - i] * (i & 7);
    return sum;
}
APART u32 small_frame(u32 x) { return x * 3 + 1; }
typedef u32 (*framed)(u32);
APART u32 down(u32 n, framed f) {
    volatile u32 a[12];
    a[n % 12] = n;
    return n == 0 ? f(a[0]) : down(n - 1, f) + a[n % 12];
}
KERNEL deep_choice(const u32 *z, u32 *o) { o[TID] = down(z[TID], z[TID] & 1 ? large_frame : small_frame); }
