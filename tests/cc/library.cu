// Namespace cuda (atomics, barriers, pipelines), more of cooperative groups, packed integers and complex numbers.
// without HIP: it has no namespace cuda
#include "check.h"
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/scan.h>
#include <cuComplex.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/std/array>
#include <cuda/std/limits>
#include <cuda_pipeline.h>
#include <device_launch_parameters.h>
#include <math_constants.h>
#include <nvtx3/nvToolsExt.h>
#include <sm_30_intrinsics.h>

namespace cg = cooperative_groups;

const int block = 128;

__device__ int sum(const cg::thread_group &group, int *room, int v) {
    int rank = (int)group.thread_rank();
    for (int i = (int)group.size() / 2; i > 0; i /= 2) {
        room[rank] = v;
        group.sync();
        if (rank < i)
            v += room[rank + i];
        group.sync();
    }
    return v;
}

__global__ void groups(int *out) {
    __shared__ int room[block];
    cg::thread_block all = cg::this_thread_block();
    int i = threadIdx.x, *is = out + i * 8;
    int total = sum(all, room, i);
    is[0] = i == 0 ? total : -1;
    cg::thread_group four = cg::tiled_partition(all, 4);
    total = sum(four, room + i / 4 * 4, i);
    is[1] = four.thread_rank() == 0 ? total : -1;
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(all);
    is[2] = cg::inclusive_scan(warp, i % 32);
    is[3] = cg::exclusive_scan(warp, i % 32 + 1, cg::greater<int>());
    cg::coalesced_group thirds = cg::labeled_partition(warp, i % 3);
    is[4] = (int)(thirds.size() * 100 + thirds.thread_rank());
    is[5] = (int)cg::binary_partition(warp, i % 32 < 5).size();
    all.sync();
    cg::memcpy_async(all, room, out + 8, sizeof(int) * 8);
    cg::wait(all);
    is[6] = room[2];
    cuda::std::array<int, 3> few = {i, 2, 3};
    is[7] = few[0] + (int)few.size() + (cuda::std::numeric_limits<int>::max() == 0x7fffffff);
}

struct counters {
    cuda::atomic<int, cuda::thread_scope_device> arrived;
    int most;
    float total;
};

__global__ void meeting(counters *at, int *out) {
    __shared__ cuda::barrier<cuda::thread_scope_block> ready;
    __shared__ int room[2][block];
    int i = threadIdx.x;
    if (i == 0)
        init(&ready, blockDim.x);
    __syncthreads();
    for (int round = 0; round < 4; round++) {
        room[round % 2][i] = i * round;
        auto token = ready.arrive();
        ready.wait(std::move(token));
        out[(blockIdx.x * 4 + round) * block + i] = room[round % 2][block - 1 - i];
    }
    at->arrived.fetch_add(1, cuda::std::memory_order_relaxed);
    cuda::atomic_ref<int, cuda::thread_scope_device>(at->most).fetch_max(i + (int)blockIdx.x);
    cuda::atomic_ref<float>(at->total) += 0.5f;
    // A copy for the next round while this one is summed up.
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto pipeline = cuda::make_pipeline(cg::this_thread_block(), &state);
    pipeline.producer_acquire();
    cuda::memcpy_async(cg::this_thread_block(), room[0], out, sizeof(int) * block, pipeline);
    pipeline.producer_commit();
    pipeline.consumer_wait();
    __pipeline_memcpy_async(&room[1][i], &room[0][(i + 1) % block], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    pipeline.consumer_release();
}

__global__ void values(unsigned *out, cuDoubleComplex *complex) {
    unsigned a = 0x80ff7f01, b = 0x01ff0180;
    out[0] = __vadd4(a, b);
    out[1] = __vaddss4(a, b);
    out[2] = __vmaxs2(a, b);
    out[3] = __vcmpgtu4(a, b);
    out[4] = __vabsdiffu4(a, b);
    out[5] = __vsadu4(a, b);
    out[6] = __vavgu2(a, b);
    out[7] = __vsetles4(a, b);
    out[8] = umin(a, b) + (CUDART_INF_F > CUDART_MAX_NORMAL_F);
    complex[0] = cuCmul(make_cuDoubleComplex(1, 2), make_cuDoubleComplex(3, -4));
    complex[1] = cuCdiv(complex[0], make_cuDoubleComplex(3, -4));
    complex[2].x = cuCabs(make_cuDoubleComplex(3e200, 4e200));
}

int main() {
    nvtxRangePush("all");
    int *out = shared_memory<int>(block * 8);
    groups<<<1, block>>>(out);
    finish();
    for (int i = 0; i < block; i++) {
        int *is = out + i * 8, lane = i % 32, third = i % 3, members = 0, before = 0, first = i / 32 * 32;
        for (int k = first; k < first + 32; k++) {
            members += k % 3 == third;
            before += k % 3 == third && k < i;
        }
        expect("block", i, is[0], i == 0 ? block * (block - 1) / 2 : -1);
        expect("tile", i, is[1], i % 4 == 0 ? 4 * i + 6 : -1);
        expect("inclusive_scan", i, is[2], lane * (lane + 1) / 2);
        expect("exclusive_scan", i, is[3], lane);
        expect("labeled_partition", i, is[4], members * 100 + before);
        expect("binary_partition", i, is[5], lane < 5 ? 5 : 27);
        expect("memcpy_async", i, is[6], 1);
        expect("array", i, is[7], i + 4);
    }
    counters *at = shared_memory<counters>(1);
    int *rounds = shared_memory<int>(3 * 4 * block);
    meeting<<<3, block>>>(at, rounds);
    finish();
    for (int k = 0; k < 3 * 4 * block; k++)
        expect("barrier", k, rounds[k], (block - 1 - k % block) * (k / block % 4));
    expect("arrived", 0, at->arrived.load(), 3 * block);
    expect("most", 0, at->most, block + 1);
    expect("total", 0, at->total, 1.5f * block);
    unsigned *u = shared_memory<unsigned>(9);
    cuDoubleComplex *c = shared_memory<cuDoubleComplex>(3);
    values<<<1, 1>>>(u, c);
    finish();
    const unsigned should[9] = {0x81fe8081, 0x81fe7f81, 0x01ff7f01, 0xff00ff00, 0x7f007e7f,
                                0x7f + 0x7e + 0x7f, 0x417f4041, 0x01010000, 0x01ff0181};
    for (int i = 0; i < 9; i++)
        expect("values", i, u[i], should[i]);
    expect("product", 0, c[0].x, 11.0);
    expect("product", 1, c[0].y, 2.0);
    expect("quotient is 1 + 2i", 0, c[1].x > 0.999999 && c[1].x < 1.000001 && c[1].y > 1.999999 && c[1].y < 2.000001, true);
    expect("magnitude", 0, c[2].x > 4.999999e200 && c[2].x < 5.000001e200, true);
    nvtxRangePop();
    return result();
}
