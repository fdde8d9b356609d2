// Functions of HIP on the bits of integers, compared with loops over the bits.
#include "check.h"

enum { N = 1024, KINDS = 18 };

__host__ __device__ unsigned long long number(unsigned i) {
    unsigned long long x = (i + 1) * 0x9e3779b97f4a7c15ull;
    x ^= x >> 29;
    x *= 0xbf58476d1ce4e5b9ull;
    return (x ^ x >> 32) >> i % 5 * 13;
}

// The upper words are added; an even number of them saturates.
template <class T, class Parts> __device__ T dot(unsigned long long a, unsigned long long b) {
    unsigned x = (unsigned)a, y = (unsigned)b;
    return amd_mixed_dot(__builtin_bit_cast(Parts, x), __builtin_bit_cast(Parts, y), (T)(a >> 32),
                         (a >> 32) % 2 == 0);
}

__global__ void run(unsigned long long *out) {
    unsigned i = threadIdx.x + blockIdx.x * blockDim.x;
    unsigned long long a = number(i), b = number(i + N);
    unsigned at = number(i + 2 * N) % 80, width = number(i + 3 * N) % 80;
    int count = (int)(number(i + 4 * N) % 41) - 20;
    const unsigned long long results[KINDS] = {__bitextract_u32((unsigned)a, at, width),
                                               __bitextract_u64(a, at, width),
                                               __bitinsert_u32((unsigned)a, (unsigned)b, at, width),
                                               __bitinsert_u64(a, b, at, width),
                                               __lastbit_u32_u32((unsigned)a),
                                               __lastbit_u32_u64(a),
                                               __lastbit_u32_u32(0),
                                               __lastbit_u32_u64(0),
                                               (unsigned)__fns32((unsigned)a, at % 32, count),
                                               (unsigned)__fns64(a, at % 64, count),
                                               (unsigned)__fns((unsigned)a, at % 32, count),
                                               (unsigned)__fns64(a, at % 64, count % 3),
                                               (unsigned)dot<int, short2>(a, b),
                                               dot<unsigned, ushort2>(a, b),
                                               (unsigned)dot<int, char4>(a, b),
                                               dot<unsigned, uchar4>(a, b),
                                               (unsigned)dot<int, int>(a, b),
                                               dot<unsigned, unsigned>(a, b)};
    for (int k = 0; k < KINDS; k++)
        out[k * N + i] = results[k];
}

// Positions and widths count modulo the word's bits, and there is nothing beyond the word.
static unsigned long long extract(unsigned long long v, unsigned size, unsigned at, unsigned width) {
    unsigned long long field = 0;
    for (unsigned bit = 0; bit < width % size && at % size + bit < size; bit++)
        field |= (v >> (at % size + bit) & 1) << bit;
    return field;
}
static unsigned long long insert(unsigned long long v, unsigned long long field, unsigned size, unsigned at,
                                 unsigned width) {
    for (unsigned bit = 0; bit < width % size && at % size + bit < size; bit++) {
        unsigned long long place = 1ull << (at % size + bit);
        v = field >> bit & 1 ? v | place : v & ~place;
    }
    return v;
}
static unsigned last(unsigned long long v) {
    for (unsigned bit = 0; bit < 64; bit++)
        if (v >> bit & 1)
            return bit;
    return ~0u;
}
// The `count`-th set bit from `base` on, upwards or downwards; 0 asks for the bit there.
static unsigned nth(unsigned long long v, int size, int base, int count) {
    if (count == 0)
        return v >> base & 1 ? (unsigned)base : ~0u;
    int step = count > 0 ? 1 : -1, left = count * step;
    for (int bit = base; bit >= 0 && bit < size; bit += step)
        if ((v >> bit & 1) && --left == 0)
            return (unsigned)bit;
    return ~0u;
}

static unsigned products(unsigned long long a, unsigned long long b, int bits, bool is_signed) {
    auto part = [&](unsigned long long v, int size) {
        long long all = v & (~0ull >> (64 - size));
        return is_signed && all >> (size - 1) ? all - (1ll << size) : all;
    };
    long long sum = part(a >> 32, 32), least = is_signed ? -(1ll << 31) : 0,
              most = (is_signed ? 1ll << 31 : 1ll << 32) - 1;
    for (int at = 0; at < 32; at += bits)
        sum += part(a >> at, bits) * part(b >> at, bits);
    if ((a >> 32) % 2 == 0)
        sum = sum < least ? least : sum > most ? most : sum;
    return (unsigned)sum;
}

int main() {
    auto out = shared_memory<unsigned long long>(N * KINDS);
    run<<<N / 128, 128>>>(out);
    finish();
    for (unsigned i = 0; i < N; i++) {
        unsigned long long a = number(i), b = number(i + N);
        unsigned at = number(i + 2 * N) % 80, width = number(i + 3 * N) % 80;
        int count = (int)(number(i + 4 * N) % 41) - 20;
        const unsigned long long should[KINDS] = {extract((unsigned)a, 32, at, width),
                                                  extract(a, 64, at, width),
                                                  insert((unsigned)a, (unsigned)b, 32, at, width),
                                                  insert(a, b, 64, at, width),
                                                  last((unsigned)a),
                                                  last(a),
                                                  ~0u,
                                                  ~0u,
                                                  nth((unsigned)a, 32, at % 32, count),
                                                  nth(a, 64, at % 64, count),
                                                  nth((unsigned)a, 32, at % 32, count),
                                                  nth(a, 64, at % 64, count % 3),
                                                  products(a, b, 16, true),
                                                  products(a, b, 16, false),
                                                  products(a, b, 8, true),
                                                  products(a, b, 8, false),
                                                  products(a, b, 4, true),
                                                  products(a, b, 4, false)};
        for (int k = 0; k < KINDS; k++)
            expect("kind", k * 10000 + i, out[k * N + i], should[k]);
    }
    return result();
}
