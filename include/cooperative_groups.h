/*
 * Anywarp's headers for GPU languages: cooperative groups. Blocks, tiles of a warp, the lanes that run together,
 * and on NVIDIA's devices clusters and the grid of a cooperative launch.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ANYWARP_COOPERATIVE_GROUPS_H
#define ANYWARP_COOPERATIVE_GROUPS_H

#include <anywarp/device.h>

#pragma clang system_header

namespace cooperative_groups {

typedef unsigned long long anywarp_rank;

/* The threads of a block. */
class thread_block {
  public:
    static __device__ void sync() { anywarp::barrier(); }
    static __device__ unsigned thread_rank() {
        return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    }
    static __device__ unsigned num_threads() { return blockDim.x * blockDim.y * blockDim.z; }
    static __device__ unsigned size() { return num_threads(); }
    static __device__ dim3 group_index() { return blockIdx; }
    static __device__ dim3 thread_index() { return threadIdx; }
    static __device__ dim3 group_dim() { return blockDim; }
    static __device__ dim3 dim_threads() { return blockDim; }
    /* A barrier in two parts; nothing is done between them that could wait for another thread. */
    typedef int arrival_token;
    static __device__ int barrier_arrive() { return 0; }
    static __device__ void barrier_wait(int &&) { anywarp::barrier(); }
};
static __inline__ __device__ thread_block this_thread_block() { return thread_block(); }

/* Lanes of a warp, those of `mask`; ranks count them from the lowest. */
class anywarp_lanes {
  protected:
    anywarp_mask mask;
    __device__ explicit anywarp_lanes(anywarp_mask mask) : mask(mask) {}
    /* The lane with this rank. */
    __device__ int lane_of(unsigned rank) const {
        anywarp_mask rest = mask;
        while (rank--)
            rest &= rest - 1;
        return __builtin_ctzll(rest);
    }
    /* The lanes of a vote as bits by rank. */
    __device__ anywarp_mask by_rank(anywarp_mask votes) const {
        anywarp_mask result = 0;
        unsigned rank = 0;
        for (anywarp_mask rest = mask; rest; rest &= rest - 1, rank++)
            result |= (votes & rest & -rest ? (anywarp_mask)1 : 0) << rank;
        return result;
    }

  public:
    __device__ void sync() const { anywarp::warp_barrier(mask); }
    __device__ unsigned num_threads() const { return __builtin_popcountll(mask); }
    __device__ unsigned size() const { return num_threads(); }
    __device__ unsigned thread_rank() const {
        return __builtin_popcountll(mask & (((anywarp_mask)1 << anywarp::lane()) - 1));
    }
    __device__ int any(int p) const { return anywarp::any(mask, p); }
    __device__ int all(int p) const { return anywarp::all(mask, p); }
    __device__ anywarp_mask ballot(int p) const { return by_rank(anywarp::ballot(mask, p)); }
    template <class T> __device__ anywarp_mask match_any(T v) const { return by_rank(__match_any_sync(mask, v)); }
    template <class T> __device__ T shfl(T v, unsigned rank) const {
        return anywarp::shuffle_value(mask, v, lane_of(rank % num_threads()), ANYWARP_WARP_SIZE);
    }
    template <class T> __device__ T shfl_up(T v, unsigned by) const {
        unsigned rank = thread_rank();
        return anywarp::shuffle_value(mask, v, lane_of(rank < by ? rank : rank - by), ANYWARP_WARP_SIZE);
    }
    template <class T> __device__ T shfl_down(T v, unsigned by) const {
        unsigned rank = thread_rank();
        return anywarp::shuffle_value(mask, v, lane_of(rank + by >= num_threads() ? rank : rank + by), ANYWARP_WARP_SIZE);
    }
    template <class T> __device__ anywarp_mask match_all(T v, int &same) const {
        anywarp_mask found = __match_all_sync(mask, v, &same);
        return same ? by_rank(found) : 0;
    }
    __device__ anywarp_mask anywarp_lane_mask() const { return mask; }
};

/* The lanes that run this together, or a part of them. */
class coalesced_group : public anywarp_lanes {
  public:
    __device__ explicit coalesced_group(anywarp_mask mask) : anywarp_lanes(mask) {}
    __device__ unsigned meta_group_rank() const { return 0; }
    __device__ unsigned meta_group_size() const { return 1; }
};
static __inline__ __device__ anywarp_mask anywarp_active() { return anywarp::active(); }
__inline__ __device__ coalesced_group coalesced_threads() { return coalesced_group(anywarp_active()); }

/* A part of a block with a power of two of threads, at most a warp. */
template <unsigned count, class Parent = void> class thread_block_tile {
#if ANYWARP_WARP_SIZE == 64 || !defined(ANYWARP_DEVICE_PASS)
    static_assert(count > 0 && count <= 64 && (count & (count - 1)) == 0,
                  "a tile has 1, 2, 4, 8, 16, 32 or 64 threads");
#else
    static_assert(count > 0 && count <= 32 && (count & (count - 1)) == 0,
                  "a tile has 1, 2, 4, 8, 16 or 32 threads; 64 on AMD's targets whose warps have 64 lanes "
                  "(gfx9)");
#endif

  public:
    thread_block_tile() = default;
    template <class Other> __device__ thread_block_tile(const thread_block_tile<count, Other> &) {}
    template <class T> static __device__ anywarp_mask match_all(T v, int &same) {
        anywarp_mask found = __match_all_sync(anywarp_lane_mask(), v, &same);
        return same ? from_here(found) : 0;
    }
    static __device__ anywarp_mask anywarp_lane_mask() {
        anywarp_mask all = ~(anywarp_mask)0 >> (8 * sizeof(anywarp_mask) - count);
        return all << (anywarp::lane() & (ANYWARP_WARP_SIZE - 1) & ~(count - 1));
    }
    static __device__ void sync() { anywarp::warp_barrier(anywarp_lane_mask()); }
    static __device__ unsigned thread_rank() { return anywarp::lane() & (count - 1); }
    static __device__ constexpr unsigned num_threads() { return count; }
    static __device__ constexpr unsigned size() { return count; }
    static __device__ unsigned meta_group_rank() { return thread_block::thread_rank() / count; }
    static __device__ unsigned meta_group_size() { return (thread_block::num_threads() + count - 1) / count; }
    static __device__ int any(int p) { return anywarp::any(anywarp_lane_mask(), p); }
    static __device__ int all(int p) { return anywarp::all(anywarp_lane_mask(), p); }
    static __device__ anywarp_mask ballot(int p) { return from_here(anywarp::ballot(anywarp_lane_mask(), p)); }
    template <class T> static __device__ anywarp_mask match_any(T v) {
        return from_here(__match_any_sync(anywarp_lane_mask(), v));
    }
    template <class T> static __device__ T shfl(T v, int rank) {
        return anywarp::shuffle_value(anywarp_lane_mask(), v, rank, (int)count);
    }
    template <class T> static __device__ T shfl_up(T v, unsigned by) {
        return anywarp::shuffle_up_value(anywarp_lane_mask(), v, by, (int)count);
    }
    template <class T> static __device__ T shfl_down(T v, unsigned by) {
        return anywarp::shuffle_down_value(anywarp_lane_mask(), v, by, (int)count);
    }
    template <class T> static __device__ T shfl_xor(T v, int bits) {
        return anywarp::shuffle_xor_value(anywarp_lane_mask(), v, bits, (int)count);
    }

  private:
    static __device__ anywarp_mask from_here(anywarp_mask lanes) {
        return lanes >> (anywarp::lane() & (ANYWARP_WARP_SIZE - 1) & ~(count - 1));
    }
};
template <unsigned count, class Parent>
static __inline__ __device__ thread_block_tile<count, Parent> tiled_partition(const Parent &) {
    return thread_block_tile<count, Parent>();
}

/* Any group of a block's threads: all of them, or lanes of a warp. */
class thread_group {
    anywarp_mask mask;
    bool is_block;

  public:
    __device__ thread_group(const thread_block &) : mask(0), is_block(true) {}
    __device__ thread_group(const anywarp_lanes &lanes) : mask(lanes.anywarp_lane_mask()), is_block(false) {}
    template <unsigned count, class Parent>
    __device__ thread_group(const thread_block_tile<count, Parent> &tile) : mask(tile.anywarp_lane_mask()), is_block(false) {}
    __device__ void sync() const {
        if (is_block)
            anywarp::barrier();
        else
            anywarp::warp_barrier(mask);
    }
    __device__ anywarp_rank num_threads() const {
        return is_block ? thread_block::num_threads() : coalesced_group(mask).num_threads();
    }
    __device__ anywarp_rank size() const { return num_threads(); }
    __device__ anywarp_rank thread_rank() const {
        return is_block ? thread_block::thread_rank() : coalesced_group(mask).thread_rank();
    }
    __device__ bool is_valid() const { return true; }
    __device__ anywarp_mask anywarp_lane_mask() const { return mask; }
};

/* Tiles whose size is known only to the program when it runs. */
static __inline__ __device__ coalesced_group tiled_partition(const thread_block &, unsigned count) {
    anywarp_mask all = ~(anywarp_mask)0 >> (8 * sizeof(anywarp_mask) - count);
    return coalesced_group(all << (anywarp::lane() & (ANYWARP_WARP_SIZE - 1) & ~(count - 1)));
}
static __inline__ __device__ coalesced_group anywarp_tile_of(anywarp_mask mask, unsigned count) {
    unsigned first = coalesced_group(mask).thread_rank() / count * count, rank = 0;
    anywarp_mask result = 0;
    for (anywarp_mask rest = mask; rest; rest &= rest - 1, rank++)
        if (rank >= first && rank < first + count)
            result |= rest & -rest;
    return coalesced_group(result);
}
static __inline__ __device__ coalesced_group tiled_partition(const coalesced_group &group, unsigned count) {
    return anywarp_tile_of(group.anywarp_lane_mask(), count);
}
static __inline__ __device__ thread_group tiled_partition(const thread_group &group, unsigned count) {
    if (group.anywarp_lane_mask() == 0)
        return tiled_partition(thread_block(), count);
    return anywarp_tile_of(group.anywarp_lane_mask(), count);
}

/* The lanes of a group that give the same value. */
template <class Group> static __inline__ __device__ coalesced_group binary_partition(const Group &group, bool value) {
    anywarp_mask lanes = group.anywarp_lane_mask(), set = anywarp::ballot(lanes, value);
    return coalesced_group(value ? set : lanes & ~set);
}
template <class Group, class T> static __inline__ __device__ coalesced_group labeled_partition(const Group &group, T label) {
    return coalesced_group(__match_any_sync(group.anywarp_lane_mask(), label));
}

#if !defined(__AMDGCN__) || !defined(__HIP_DEVICE_COMPILE__)
/* The blocks of a cooperative launch. */
class grid_group {
  public:
    static __device__ unsigned *anywarp_workspace() {
#if defined(__NVPTX__)
        unsigned long long high, low;
        __asm__("{ .reg .b32 r; mov.b32 r, %%envreg1; cvt.u64.u32 %0, r; mov.b32 r, %%envreg2; cvt.u64.u32 %1, r; }"
                : "=l"(high), "=l"(low));
        return (unsigned *)(high << 32 | low);
#else
        return nullptr;
#endif
    }
    static __device__ bool is_valid() { return anywarp_workspace() != nullptr; }
    static __device__ anywarp_rank num_blocks() { return (anywarp_rank)gridDim.x * gridDim.y * gridDim.z; }
    static __device__ anywarp_rank block_rank() {
        return ((anywarp_rank)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    }
    static __device__ anywarp_rank num_threads() { return num_blocks() * thread_block::num_threads(); }
    static __device__ anywarp_rank size() { return num_threads(); }
    static __device__ anywarp_rank thread_rank() {
        return block_rank() * thread_block::num_threads() + thread_block::thread_rank();
    }
    static __device__ dim3 group_dim() { return gridDim; }
    static __device__ dim3 dim_blocks() { return gridDim; }
    static __device__ dim3 block_index() { return blockIdx; }
    /* Each block adds 1 to the second word of the workspace, and the first one what the sum lacks of 2^31: when the
       top bit has changed, all are there, and the rest is as before. */
    static __device__ void sync() {
        anywarp::barrier();
        if (thread_block::thread_rank() == 0) {
            unsigned *arrivals = anywarp_workspace() + 1, by = 1;
            if (block_rank() == 0)
                by = 0x80000001u - (unsigned)num_blocks();
            anywarp::fence_device();
            unsigned before = atomicAdd(arrivals, by);
            while (((*(volatile unsigned *)arrivals ^ before) & 0x80000000u) == 0) {
            }
            anywarp::fence_device();
        }
        anywarp::barrier();
    }
};
static __inline__ __device__ grid_group this_grid() { return grid_group(); }
#endif

template <class Group> static __inline__ __device__ void sync(const Group &group) { group.sync(); }

/* ---- Reductions ------------------------------------------------------------------------------------------- */

#define ANYWARP_OPERATION(name, value)                                                                      \
    template <class T> struct name {                                                                        \
        __device__ T operator()(const T &a, const T &b) const { return value; }                             \
    };
ANYWARP_OPERATION(plus, a + b)
ANYWARP_OPERATION(less, b < a ? b : a)
ANYWARP_OPERATION(greater, a < b ? b : a)
ANYWARP_OPERATION(bit_and, a &b)
ANYWARP_OPERATION(bit_or, a | b)
ANYWARP_OPERATION(bit_xor, a ^ b)
#undef ANYWARP_OPERATION

template <class T, class Operation>
static __inline__ __device__ T anywarp_reduce(anywarp_mask mask, T v, Operation operation) {
    mask = anywarp::lanes(mask);
    T result = anywarp::shuffle_value(mask, v, __builtin_ctzll(mask), ANYWARP_WARP_SIZE);
    for (anywarp_mask rest = mask & (mask - 1); rest; rest &= rest - 1)
        result = operation(result, anywarp::shuffle_value(mask, v, __builtin_ctzll(rest), ANYWARP_WARP_SIZE));
    return result;
}
template <class Group, class T, class Operation>
static __inline__ __device__ T reduce(const Group &group, T v, Operation operation) {
    return anywarp_reduce(group.anywarp_lane_mask(), v, operation);
}
/* The lanes before this one, and with `whole` this one, in the order of their ranks. */
template <class T, class Operation>
static __inline__ __device__ T anywarp_scan(anywarp_mask mask, T v, Operation operation, bool whole, T none) {
    mask = anywarp::lanes(mask);
    T result = none;
    bool has = false;
    for (anywarp_mask rest = mask; rest; rest &= rest - 1) {
        unsigned lane = __builtin_ctzll(rest);
        T other = anywarp::shuffle_value(mask, v, (int)lane, ANYWARP_WARP_SIZE);
        if (lane < anywarp::lane() + whole) {
            result = has ? operation(result, other) : other;
            has = true;
        }
    }
    return result;
}
template <class Group, class T, class Operation>
static __inline__ __device__ T inclusive_scan(const Group &group, T v, Operation operation) {
    return anywarp_scan(group.anywarp_lane_mask(), v, operation, true, v);
}
template <class Group, class T> static __inline__ __device__ T inclusive_scan(const Group &group, T v) {
    return inclusive_scan(group, v, plus<T>());
}
template <class Group, class T, class Operation>
static __inline__ __device__ T exclusive_scan(const Group &group, T v, Operation operation) {
    return anywarp_scan(group.anywarp_lane_mask(), v, operation, false, T());
}
template <class Group, class T> static __inline__ __device__ T exclusive_scan(const Group &group, T v) {
    return exclusive_scan(group, v, plus<T>());
}
/* One thread of a group calls the function. */
template <class Group, class F, class... Arguments>
static __inline__ __device__ void invoke_one(const Group &group, F &&f, Arguments &&...arguments) {
    if (group.thread_rank() == 0)
        f(static_cast<Arguments &&>(arguments)...);
}

/* ---- Copies by a group, which are done at once ---------------------------------------------------------------- */

template <class Group> static __inline__ __device__ void anywarp_copy(const Group &group, void *to, const void *from, size_t size) {
    size_t words = ((size_t)to | (size_t)from) % 4 == 0 ? size / 4 : 0;
    for (size_t i = group.thread_rank(); i < words; i += group.size())
        ((unsigned *)to)[i] = ((const unsigned *)from)[i];
    for (size_t i = words * 4 + group.thread_rank(); i < size; i += group.size())
        ((char *)to)[i] = ((const char *)from)[i];
}
template <class Group, class T, class U, class Size>
static __inline__ __device__ void memcpy_async(const Group &group, T *to, const U *from, const Size &size) {
    anywarp_copy(group, to, from, (size_t)size);
}
/* With numbers of elements, of which the smaller one counts. */
template <class Group, class T, class To, class From>
static __inline__ __device__ void memcpy_async(const Group &group, T *to, const To &count, const T *from, const From &there) {
    anywarp_copy(group, to, from, sizeof(T) * ((size_t)count < (size_t)there ? (size_t)count : (size_t)there));
}
template <class Group> static __inline__ __device__ void wait(const Group &group) { group.sync(); }
template <unsigned stages, class Group> static __inline__ __device__ void wait_prior(const Group &group) { group.sync(); }

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
/* ---- The blocks of a cluster ------------------------------------------------------------------------------ */

#define ANYWARP_CLUSTER_NUMBER(name, of_ptx)                                                                \
    static __device__ unsigned name() {                                                                     \
        unsigned v;                                                                                         \
        __asm__("mov.u32 %0, %%" of_ptx ";" : "=r"(v));                                                     \
        return v;                                                                                           \
    }
class cluster_group {
    ANYWARP_CLUSTER_NUMBER(x, "cluster_ctaid.x")
    ANYWARP_CLUSTER_NUMBER(y, "cluster_ctaid.y")
    ANYWARP_CLUSTER_NUMBER(z, "cluster_ctaid.z")
    ANYWARP_CLUSTER_NUMBER(width, "cluster_nctaid.x")
    ANYWARP_CLUSTER_NUMBER(height, "cluster_nctaid.y")
    ANYWARP_CLUSTER_NUMBER(depth, "cluster_nctaid.z")

  public:
    typedef int arrival_token;
    ANYWARP_CLUSTER_NUMBER(block_rank, "cluster_ctarank")
    ANYWARP_CLUSTER_NUMBER(num_blocks, "cluster_nctarank")
    static __device__ int barrier_arrive() {
        __asm__ volatile("barrier.cluster.arrive.aligned;" ::: "memory");
        return 0;
    }
    static __device__ void barrier_wait() { __asm__ volatile("barrier.cluster.wait.aligned;" ::: "memory"); }
    static __device__ void barrier_wait(int &&) { barrier_wait(); }
    static __device__ void sync() {
        barrier_arrive();
        barrier_wait();
    }
    static __device__ unsigned num_threads() { return num_blocks() * thread_block::num_threads(); }
    static __device__ unsigned size() { return num_threads(); }
    static __device__ unsigned thread_rank() {
        return block_rank() * thread_block::num_threads() + thread_block::thread_rank();
    }
    static __device__ dim3 block_index() { return dim3(x(), y(), z()); }
    static __device__ dim3 dim_blocks() { return dim3(width(), height(), depth()); }
    static __device__ dim3 group_dim() { return dim_blocks(); }
    template <class T> static __device__ T *map_shared_rank(T *at, int rank) {
        T *there;
        __asm__("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(at), "r"(rank));
        return there;
    }
    static __device__ unsigned query_shared_rank(const void *at) {
        unsigned rank;
        __asm__("getctarank.u64 %0, %1;" : "=r"(rank) : "l"(at));
        return rank;
    }
};
#undef ANYWARP_CLUSTER_NUMBER
static __inline__ __device__ cluster_group this_cluster() { return cluster_group(); }
#endif

} // namespace cooperative_groups

#endif
