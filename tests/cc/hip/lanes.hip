// Functions of HIP that concern the lanes of a warp: masks, and values that move between lanes.
#include "check.h"

enum { THREADS = 128, KINDS = 24 };

__device__ unsigned long long of(float v) { return __float_as_uint(v); }

__global__ void run(unsigned long long *out) {
    unsigned t = threadIdx.x, size = warpSize, lane = __lane_id(), mask = 0x9e3779b9;
    float f = t * 0.5f + 1;
    int k = 0;
    auto put = [&](unsigned long long v) { out[k++ * THREADS + t] = v; };
    put(lane);
    put(__ballot64(lane % 3 == 0));
    put(__lanemask_eq());
    put(__lanemask_lt());
    put(__lanemask_le());
    put(__lanemask_gt());
    put(__lanemask_ge());
    put(__mbcnt_hi(~mask, __mbcnt_lo(mask, 7)));
    put(__hip_ds_bpermute((lane * 5 + 3) % size * 4, t * 10));
    put(of(__hip_ds_bpermutef((lane * 5 + 3) % size * 4, f)));
    put(__hip_ds_permute(lane * 7 % size * 4, t * 10));
    put(of(__hip_ds_permutef(lane / 2 * 4, f)));
    put(__hip_ds_swizzle(t * 10, 0x80b1));
    put(__hip_ds_swizzle(t * 10, 0x041f));
    put(of(__hip_ds_swizzlef(f, 0x0078)));
    put(of(__hip_ds_swizzlef_N<0x7c1f>(f)));
    unsigned long long odd[4] = {};
    if (lane % 2) {
        odd[0] = __lanemask_lt();
        odd[1] = __lanemask_gt();
        odd[2] = __hip_ds_bpermute((lane - 1) * 4, t * 10 + 1);
        odd[3] = __hip_ds_bpermute((lane ^ 2) * 4, t * 10 + 1);
    }
    for (int i = 0; i < 4; i++)
        put(odd[i]);
#if defined(__AMDGCN__)
    put(1);
    put((unsigned)__hip_move_dpp((int)t, 0xb1, 0xf, 0xf, false));
    put((unsigned)__hip_move_dpp((int)t, 0x111, 0xf, 0xf, true));
    put((unsigned)__hip_move_dpp_N<0x140, 0xf, 0xf, false>((int)t));
#endif
}

int main() {
    auto out = shared_memory<unsigned long long>(THREADS * KINDS);
    hipDeviceProp_t properties;
    CHECK(hipGetDeviceProperties(&properties, 0));
    unsigned size = properties.warpSize;
    run<<<1, THREADS>>>(out);
    finish();
    bool amd = out[20 * THREADS] == 1;
    for (unsigned t = 0; t < THREADS; t++) {
        unsigned lane = t % size, first = t - lane, group = lane & ~31u;
        unsigned long long all = ~0ull >> (64 - size), thirds = 0, before = (1ull << lane) - 1,
                           odd = all / 3 * 2;
        unsigned bits = 7, masks[2] = {0x9e3779b9, ~0x9e3779b9u};
        for (unsigned i = 0; i < size; i++) {
            thirds |= i % 3 == 0 ? 1ull << i : 0;
            bits += i < lane && (masks[i / 32] >> i % 32 & 1);
        }
        auto half = [](unsigned thread) { return thread * 0.5f + 1; };
        auto of = [](float v) {
            unsigned word;
            std::memcpy(&word, &v, 4);
            return (unsigned long long)word;
        };
        // The lane that wrote to this one: the highest of those that did.
        unsigned by_seven = 0;
        while (by_seven * 7 % size != lane)
            by_seven++;
        unsigned pulled = first + (lane * 5 + 3) % size, row = lane % 16;
        unsigned long long should[KINDS] = {lane,
                                            thirds,
                                            1ull << lane,
                                            before,
                                            before | 1ull << lane,
                                            all & ~before & ~(1ull << lane),
                                            all & ~before,
                                            bits,
                                            pulled * 10,
                                            of(half(pulled)),
                                            (first + by_seven) * 10,
                                            lane < size / 2 ? of(half(first + 2 * lane + 1)) : 0,
                                            (t ^ 1) * 10,
                                            (t ^ 1) * 10,
                                            of(half(first + group + ((lane & 0x18) | 3))),
                                            of(half(t ^ 31)),
                                            lane % 2 ? odd & before : 0,
                                            lane % 2 ? odd & ~before & ~(1ull << lane) : 0,
                                            0,
                                            lane % 2 ? (t ^ 2) * 10ull + 1 : 0,
                                            1,
                                            t ^ 1,
                                            row ? t - 1 : 0,
                                            t - row + 15 - row};
        for (int k = 0; k < (amd ? KINDS : 20); k++)
            expect("kind", k * 1000 + t, out[k * THREADS + t], should[k]);
    }
    return result();
}
