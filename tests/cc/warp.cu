// Shuffles, votes, matches and reductions of a warp. `width` is 32 on NVIDIA's devices, 64 on some of AMD's;
// the shuffles here use groups of at most 32.
#include "check.h"

template <class T> __device__ T value(int i) { return (T)(i * i + 3); }

template <class T> __global__ void shuffles(T *out) {
    int i = threadIdx.x;
    T v = value<T>(i);
    out[i] = __shfl_sync(~0u, v, 5, 32);
    out[32 + i] = __shfl_up_sync(~0u, v, 3, 32);
    out[64 + i] = __shfl_down_sync(~0u, v, 4, 32);
    out[96 + i] = __shfl_xor_sync(~0u, v, 9, 32);
    out[128 + i] = __shfl_sync(~0u, v, i + 1, 8);
    out[160 + i] = __shfl_up_sync(~0u, v, 1, 16);
    out[192 + i] = __shfl_down_sync(~0u, v, 2, 8);
    out[224 + i] = __shfl_xor_sync(~0u, v, 1, 2);
}

template <class T> void try_shuffles(const char *name) {
    T *out = shared_memory<T>(256);
    shuffles<T><<<1, 32>>>(out);
    finish();
    for (int i = 0; i < 32; i++) {
        int from[] = {5, i < 3 ? i : i - 3, i + 4 > 31 ? i : i + 4, i ^ 9, (i & ~7) + (i + 1) % 8, i % 16 < 1 ? i : i - 1,
                      i % 8 + 2 > 7 ? i : i + 2, i ^ 1};
        for (int k = 0; k < 8; k++)
            expect(name, k * 32 + i, out[k * 32 + i], (T)(from[k] * from[k] + 3));
    }
}

__global__ void votes(unsigned *out) {
    int i = threadIdx.x;
    unsigned all = 0xffffffff;
    out[i] = __ballot_sync(all, i % 5 == 0);
    out[32 + i] = (__all_sync(all, i < 32) != 0) + 2 * (__all_sync(all, i < 31) != 0) + 4 * (__any_sync(all, i == 7) != 0) +
                  8 * (__any_sync(all, i == 77) != 0);
    out[64 + i] = __match_any_sync(all, i % 4);
    int same;
    out[96 + i] = __match_all_sync(all, 17, &same) == all && same;
    __match_all_sync(all, i / 31, &same);
    out[128 + i] = same;
    if (i % 2)
        out[160 + i] = __activemask();
    __syncwarp();
    if (i < 8)
        out[192 + i] = __reduce_add_sync(0xff, (unsigned)i);
    out[224 + i] = __reduce_max_sync(all, (i * 7) % 32);
    out[256 + i] = __reduce_xor_sync(all, (unsigned)(i * 123));
}

int main() {
    try_shuffles<int>("int");
    try_shuffles<unsigned>("unsigned");
    try_shuffles<long long>("long long");
    try_shuffles<unsigned long>("unsigned long");
    try_shuffles<float>("float");
    try_shuffles<double>("double");
    unsigned *out = shared_memory<unsigned>(288);
    votes<<<1, 32>>>(out);
    finish();
    unsigned fives = 0, x = 0;
    for (int i = 0; i < 32; i++) {
        fives |= (unsigned)(i % 5 == 0) << i;
        x ^= (unsigned)(i * 123);
    }
    for (int i = 0; i < 32; i++) {
        expect("ballot", i, out[i], fives);
        expect("all and any", i, out[32 + i], 5u);
        expect("match any", i, out[64 + i], 0x11111111u << i % 4);
        expect("match all", i, out[96 + i], 1u);
        expect("match not all", i, out[128 + i], 0u);
        expect("active", i, out[160 + i], i % 2 ? 0xaaaaaaaau : 0u);
        expect("add", i, out[192 + i], i < 8 ? 28u : 0u);
        expect("max", i, out[224 + i], 31u);
        expect("xor", i, out[256 + i], x);
    }
    return result();
}
