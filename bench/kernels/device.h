// The subset of CUDA C++ that our kernels need, for three compilers: clang's NVPTX and AMDGPU back ends without
// any SDK or vendor header, and nvcc, which has its own.
#pragma once

typedef unsigned int u32;
typedef unsigned long long u64;

#ifdef __NVCC__

#define TID_X threadIdx.x
#define TID_Y threadIdx.y
#define NTID_X blockDim.x
#define NTID_Y blockDim.y
#define CTAID_X blockIdx.x
#define CTAID_Y blockIdx.y
#define NCTAID_X gridDim.x
#define BARRIER() __syncthreads()

static __device__ __forceinline__ u32 shuffle_up(u32 v, u32 d) { return __shfl_up_sync(0xffffffffu, v, d); }
static __device__ __forceinline__ u32 atomic_add(u32 *p, u32 v) { return atomicAdd(p, v); }

#else

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __forceinline__ inline __attribute__((always_inline))

static __device__ __forceinline__ float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }

#ifdef __HIP__

#define TID_X __builtin_amdgcn_workitem_id_x()
#define TID_Y __builtin_amdgcn_workitem_id_y()
#define NTID_X __builtin_amdgcn_workgroup_size_x()
#define NTID_Y __builtin_amdgcn_workgroup_size_y()
#define CTAID_X __builtin_amdgcn_workgroup_id_x()
#define CTAID_Y __builtin_amdgcn_workgroup_id_y()
// The first of the hidden arguments.
#define NCTAID_X (*(const __attribute__((address_space(4))) u32 *)__builtin_amdgcn_implicitarg_ptr())
#define BARRIER()                                                                                             \
    (__builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"), __builtin_amdgcn_s_barrier(),                     \
     __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"))

// Among 32 lanes, also where a wave has 64.
static __device__ __forceinline__ u32 shuffle_up(u32 v, u32 d) {
    int lane = __builtin_amdgcn_mbcnt_hi(-1, __builtin_amdgcn_mbcnt_lo(-1, 0)), from = lane - (int)d;
    return (u32)__builtin_amdgcn_ds_bpermute((from < (lane & ~31) ? lane : from) << 2, (int)v);
}
static __device__ __forceinline__ u32 atomic_add(u32 *p, u32 v) {
    return __hip_atomic_fetch_add(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
static __device__ __forceinline__ float approx_rsqrt(float x) { return __builtin_amdgcn_rsqf(x); }
static __device__ __forceinline__ float approx_ex2(float x) { return __builtin_amdgcn_exp2f(x); }
static __device__ __forceinline__ float approx_lg2(float x) { return __builtin_amdgcn_logf(x); }

#else

#define TID_X __nvvm_read_ptx_sreg_tid_x()
#define TID_Y __nvvm_read_ptx_sreg_tid_y()
#define NTID_X __nvvm_read_ptx_sreg_ntid_x()
#define NTID_Y __nvvm_read_ptx_sreg_ntid_y()
#define CTAID_X __nvvm_read_ptx_sreg_ctaid_x()
#define CTAID_Y __nvvm_read_ptx_sreg_ctaid_y()
#define NCTAID_X __nvvm_read_ptx_sreg_nctaid_x()
#define BARRIER() __syncthreads()

static __device__ __forceinline__ u32 shuffle_up(u32 v, u32 d) {
    return (u32)__nvvm_shfl_sync_up_i32(0xffffffffu, (int)v, d, 0);
}
static __device__ __forceinline__ u32 atomic_add(u32 *p, u32 v) { return __nvvm_atom_add_gen_i((int *)p, (int)v); }

#endif
#endif

#ifndef __HIP__
static __device__ __forceinline__ float approx_rsqrt(float x) {
    float r;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}
static __device__ __forceinline__ float approx_ex2(float x) {
    float r;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}
static __device__ __forceinline__ float approx_lg2(float x) {
    float r;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}
#endif
