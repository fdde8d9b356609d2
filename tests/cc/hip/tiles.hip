// Tiles of cooperative groups that are as large as a warp, which AMD's devices of gfx9 have with 64 lanes.
#include "check.h"
#include <hip/hip_cooperative_groups.h>

namespace cg = cooperative_groups;

#if defined(__GFX9__)
#define TILE 64
#else
#define TILE 32
#endif
enum { THREADS = 128, KINDS = 10 };

__global__ void run(unsigned long long *out) {
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<TILE>(block);
    auto small = cg::tiled_partition<8>(tile);
    unsigned t = threadIdx.x, sum = t;
    for (unsigned by = tile.size() / 2; by > 0; by /= 2)
        sum += tile.shfl_xor(sum, by);
    const unsigned long long results[KINDS] = {tile.size(),
                                               tile.thread_rank(),
                                               tile.meta_group_rank(),
                                               tile.meta_group_size(),
                                               sum,
                                               tile.shfl(t, 5),
                                               tile.shfl_down(t, 20),
                                               tile.ballot(t % 3 == 0),
                                               (unsigned long long)tile.all(t < 64) * 2 +
                                                   (tile.any(t == 100) != 0),
                                               small.shfl_up(t, 1)};
    tile.sync();
    for (int k = 0; k < KINDS; k++)
        out[k * THREADS + t] = results[k];
}

int main() {
    auto out = shared_memory<unsigned long long>(THREADS * KINDS);
    hipDeviceProp_t properties;
    CHECK(hipGetDeviceProperties(&properties, 0));
    unsigned size = properties.warpSize;
    run<<<1, THREADS>>>(out);
    finish();
    for (unsigned t = 0; t < THREADS; t++) {
        unsigned rank = t % size, first = t - rank, sum = 0;
        unsigned long long thirds = 0;
        for (unsigned i = 0; i < size; i++) {
            sum += first + i;
            thirds |= (first + i) % 3 == 0 ? 1ull << i : 0;
        }
        const unsigned long long should[KINDS] = {size,
                                                  rank,
                                                  t / size,
                                                  THREADS / size,
                                                  sum,
                                                  first + 5,
                                                  rank + 20 < size ? t + 20 : t,
                                                  thirds,
                                                  (first + size <= 64) * 2u + (t / size == 100 / size),
                                                  t % 8 ? t - 1 : t};
        for (int k = 0; k < KINDS; k++)
            expect("kind", k * 1000 + t, out[k * THREADS + t], should[k]);
    }
    return result();
}
