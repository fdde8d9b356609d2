// What the kernels of this folder need of a language: HIP for AMD's targets and CUDA for PTX, without any
// vendor header, and C++ for the processor, where `host.h` runs the threads of a block in turn.
//
// `shuffle`, `ballot` and `BARRIER` are for all threads of a block together.
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long s64;
typedef _Float16 half;

#if defined(__HIP__) || defined(__CUDA__)
#define KERNEL extern "C" __attribute__((global)) void
#define DEVICE static __attribute__((device)) inline
#define APART static __attribute__((device, noinline))
#define SHARED __attribute__((shared))
#define CONSTANT static __attribute__((constant)) const
#endif

#ifdef __HIP__

#define TID ((u32)__builtin_amdgcn_workitem_id_x())
#define TID_Y ((u32)__builtin_amdgcn_workitem_id_y())
#define NTID ((u32)__builtin_amdgcn_workgroup_size_x())
#define CTAID ((u32)__builtin_amdgcn_workgroup_id_x())
#define CTAID_Y ((u32)__builtin_amdgcn_workgroup_id_y())
// The first of the hidden arguments.
#define NCTAID (*(const __attribute__((address_space(4))) u32 *)__builtin_amdgcn_implicitarg_ptr())
#define BARRIER() \
    (__builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"), __builtin_amdgcn_s_barrier(), \
     __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"))
#define DYNAMIC(type, name) \
    extern __attribute__((shared)) u64 dynamic[]; \
    type *name = (type *)dynamic

// Of 32 lanes, also where a wave has 64.
DEVICE u32 number_in_wave() { return __builtin_amdgcn_mbcnt_hi(-1, __builtin_amdgcn_mbcnt_lo(-1, 0)); }
DEVICE u32 lane() { return number_in_wave() & 31; }
DEVICE u32 shuffle(u32 v, u32 from) {
    return (u32)__builtin_amdgcn_ds_bpermute((int)((number_in_wave() & ~31u) + (from & 31)) << 2, (int)v);
}
DEVICE u32 ballot(bool set) {
#if __AMDGCN_WAVEFRONT_SIZE__ == 64
    return (u32)(__builtin_amdgcn_ballot_w64(set) >> (number_in_wave() & 32));
#else
    return __builtin_amdgcn_ballot_w32(set);
#endif
}
#define ATOMIC(op, p, v) __hip_atomic_fetch_##op(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)
#define EXCHANGE(p, v) __hip_atomic_exchange(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)
#define REPLACE(p, old, v) \
    __hip_atomic_compare_exchange_strong(p, old, v, __ATOMIC_RELAXED, __ATOMIC_RELAXED,                       \
                                         __HIP_MEMORY_SCOPE_AGENT)

#elif defined(__CUDA__)

#define TID ((u32)__nvvm_read_ptx_sreg_tid_x())
#define TID_Y ((u32)__nvvm_read_ptx_sreg_tid_y())
#define NTID ((u32)__nvvm_read_ptx_sreg_ntid_x())
#define CTAID ((u32)__nvvm_read_ptx_sreg_ctaid_x())
#define CTAID_Y ((u32)__nvvm_read_ptx_sreg_ctaid_y())
#define NCTAID ((u32)__nvvm_read_ptx_sreg_nctaid_x())
#define BARRIER() __syncthreads()
#define DYNAMIC(type, name) \
    extern __attribute__((shared)) u64 dynamic[]; \
    type *name = (type *)dynamic

DEVICE u32 lane() { return __nvvm_read_ptx_sreg_laneid(); }
DEVICE u32 shuffle(u32 v, u32 from) {
    return (u32)__nvvm_shfl_sync_idx_i32(~0u, (int)v, (int)(from & 31), 31);
}
DEVICE u32 ballot(bool set) { return (u32)__nvvm_vote_ballot_sync(~0u, set); }
#define ATOMIC(op, p, v) __atomic_fetch_##op(p, v, __ATOMIC_RELAXED)
#define EXCHANGE(p, v) __atomic_exchange_n(p, v, __ATOMIC_RELAXED)
#define REPLACE(p, old, v) __atomic_compare_exchange_n(p, old, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)

#else
#include "host.h"
#endif

DEVICE u32 thread() { return CTAID * NTID + TID; }
// A number that looks random.
DEVICE u32 mixed(u32 x) {
    x = (x ^ 61) ^ (x >> 16);
    x *= 9;
    x ^= x >> 4;
    x *= 0x27d4eb2d;
    return x ^ x >> 15;
}
DEVICE u32 bits(float x) { return __builtin_bit_cast(u32, x); }
DEVICE float real(u32 x) { return __builtin_bit_cast(float, x); }
DEVICE u64 bits(double x) { return __builtin_bit_cast(u64, x); }
DEVICE double real(u64 x) { return __builtin_bit_cast(double, x); }
