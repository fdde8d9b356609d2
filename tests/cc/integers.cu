// Integer functions and casts of bits, compared with loops over the bits.
#include "check.h"

enum { N = 1024, KINDS = 20 };

__host__ __device__ unsigned number(int i) {
    unsigned long long x = (i + 1) * 0x9e3779b97f4a7c15ull;
    x ^= x >> 29;
    unsigned v = (unsigned)(x * 0xbf58476d1ce4e5b9ull >> 32);
    return i < 4 ? 0u - (i & 1) : v >> (i % 33 == 32 ? 31 : i % 33);
}

__global__ void run(long long *out) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    unsigned a = number(i), b = number(i + N), c = number(i + 2 * N);
    unsigned long long ll = (unsigned long long)a << 32 | b;
    const long long results[KINDS] = {__popc(a), __popcll(ll), __clz(a), __clzll(ll), __ffs(a), __ffsll(ll), __brev(a),
                                      (long long)__brevll(ll), __byte_perm(a, b, c), __mulhi((int)a, (int)b), __umulhi(a, b),
                                      __mul64hi((long long)ll, (long long)(ll * 3)), (long long)__umul64hi(ll, ll * 3),
                                      __umul24(a, b), __usad(a, b, c), __uhadd(a, b), __rhadd((int)a, (int)b),
                                      __funnelshift_l(a, b, c), __funnelshift_rc(a, b, c & 63),
                                      __double2hiint(__hiloint2double(a, b)) ^ __float_as_int(__int_as_float(0x3f800000))};
    for (int k = 0; k < KINDS; k++)
        out[k * N + i] = results[k];
}

static int count(unsigned long long v, int from, int step, bool stop) {
    int n = 0;
    for (int bit = from; bit >= 0 && bit < 64; bit += step) {
        bool set = v >> bit & 1;
        if (stop && set)
            break;
        n += stop || set;
    }
    return n;
}

int main() {
    long long *out = shared_memory<long long>(N * KINDS);
    run<<<N / 128, 128>>>(out);
    finish();
    for (int i = 0; i < N; i++) {
        unsigned a = number(i), b = number(i + N), c = number(i + 2 * N);
        unsigned long long ll = (unsigned long long)a << 32 | b, reversed = 0;
        unsigned reversed32 = 0, permuted = 0;
        for (int bit = 0; bit < 64; bit++)
            reversed |= (ll >> bit & 1) << (63 - bit);
        for (int bit = 0; bit < 32; bit++)
            reversed32 |= (a >> bit & 1) << (31 - bit);
        unsigned char bytes[8];
        std::memcpy(bytes, &a, 4);
        std::memcpy(bytes + 4, &b, 4);
        for (int k = 0; k < 4; k++)
            permuted |= (unsigned)bytes[c >> 4 * k & 7] << 8 * k;
        unsigned s = c & 31, sc = (c & 63) < 32 ? c & 63 : 32;
        unsigned long long pair = (unsigned long long)b << 32 | a;
        const long long should[KINDS] = {count(a, 0, 1, false), count(ll, 0, 1, false),
                                         a ? count(a, 31, -1, true) : 32, count(ll, 63, -1, true),
                                         a ? count(a, 0, 1, true) + 1 : 0, ll ? count(ll, 0, 1, true) + 1 : 0,
                                         reversed32, (long long)reversed, permuted,
                                         ((long long)(int)a * (int)b) >> 32, (long long)((unsigned long long)a * b >> 32),
                                         (long long)((__int128)(long long)ll * (long long)(ll * 3) >> 64),
                                         (long long)((unsigned __int128)ll * (ll * 3) >> 64),
                                         (unsigned)((a & 0xffffff) * (b & 0xffffff)), (unsigned)((a > b ? a - b : b - a) + c),
                                         (long long)(((unsigned long long)a + b) / 2),
                                         ((long long)(int)a + (int)b + 1) >> 1, (unsigned)(pair << s >> 32),
                                         (unsigned)(pair >> sc), (int)a ^ 0x3f800000};
        for (int k = 0; k < KINDS; k++)
            expect("kind", k * 10000 + i, out[k * N + i], should[k]);
    }
    return result();
}
