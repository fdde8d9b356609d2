// Cooperative groups: blocks, tiles, coalesced threads, reductions, and barriers of a grid.
// without AMD: grids have no barrier there
#include "check.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

__global__ void groups(int *out) {
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<8>(block);
    int i = block.thread_rank(), n = block.size();
    int sum = i;
    for (int by = 4; by > 0; by /= 2)
        sum += tile.shfl_down(sum, by);
    out[i] = tile.shfl(sum, 0);
    out[n + i] = tile.ballot(tile.thread_rank() % 3 == 0) * 100 + tile.meta_group_rank();
    out[2 * n + i] = cg::reduce(tile, i, cg::greater<int>()) + (tile.any(i == 9) ? 1000 : 0);
    out[3 * n + i] = -1;
    block.sync();
    if (i % 3 == 1) {
        cg::coalesced_group some = cg::coalesced_threads();
        out[3 * n + i] = some.thread_rank() * 100 + some.size() + 10000 * some.shfl(i, 1);
    }
    cg::sync(block);
    out[4 * n + i] = tile.shfl_xor(i, 3) * 10 + tile.size();
}

__global__ void rounds(int *at, int *out, int count) {
    cg::grid_group grid = cg::this_grid();
    int i = grid.thread_rank(), n = grid.size();
    at[i] = i;
    for (int round = 0; round < count; round++) {
        grid.sync();
        int next = at[(i + 1) % n];
        grid.sync();
        at[i] = next;
    }
    out[i] = grid.is_valid() ? at[i] : -1;
}

int main() {
    const int n = 64;
    int *out = shared_memory<int>(5 * n);
    groups<<<1, n>>>(out);
    finish();
    for (int i = 0; i < n; i++) {
        int first = i & ~7, lane = i % 32, thirds = 0, rank = 0, second = 0;
        // The lanes of this thread's warp with i % 3 == 1.
        for (int k = i - lane; k < i - lane + 32; k++) {
            if (k % 3 != 1)
                continue;
            rank += k < i;
            thirds++;
            second = thirds == 2 ? k : second;
        }
        expect("sum", i, out[i], 8 * first + 28);
        expect("ballot", i, out[n + i], 0x49 * 100 + i / 8);
        expect("greatest", i, out[2 * n + i], first + 7 + (first == 8 ? 1000 : 0));
        expect("coalesced", i, out[3 * n + i], i % 3 == 1 ? rank * 100 + thirds + 10000 * second : -1);
        expect("xor", i, out[4 * n + i], (i ^ 3) * 10 + 8);
    }
    int blocks = 2, threads = 32, count = 5, total = blocks * threads;
    int *at = shared_memory<int>(total), *rotated = shared_memory<int>(total);
    void *arguments[] = {&at, &rotated, &count};
    CHECK(cudaLaunchCooperativeKernel((void *)rounds, dim3(blocks), dim3(threads), arguments, 0, 0));
    finish();
    for (int i = 0; i < total; i++)
        expect("rotated", i, rotated[i], (i + count) % total);
    return result();
}
