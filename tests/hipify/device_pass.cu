// The macro of the device pass, results with 64 lanes, and definitions that HIP's headers have, too.
// CHECK: #include <hip/hip_runtime.h>
#include <cuda_runtime.h>
// CHECK: #ifdef __HIP_DEVICE_COMPILE__
#ifdef __CUDA_ARCH__
#endif
// CHECK: #ifndef __HIP_DEVICE_COMPILE__
#ifndef __CUDA_ARCH__
#endif
// CHECK: #if defined(__HIP_DEVICE_COMPILE__) || defined __HIP_DEVICE_COMPILE__
#if defined(__CUDA_ARCH__) || defined __CUDA_ARCH__
#endif
// Releases of CUDA have none either; each macro is reported once.
// FINDING: unsupported CUDA_VERSION
// CHECK: #if CUDA_VERSION >= 12000
#if CUDA_VERSION >= 12000
#elif CUDA_VERSION >= 11000
#endif
// FINDING: unsupported __CUDACC_VER_MAJOR__
// CHECK: #if defined(__HIPCC__) && __CUDACC_VER_MAJOR__ > 11
#if defined(__CUDACC__) && __CUDACC_VER_MAJOR__ > 11
#endif
// A comparison has no counterpart: its condition stays whole, and is reported once.
// FINDING: unsupported __CUDA_ARCH__
// CHECK: #if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600
#else
// FINDING: redefined atomicAdd
// CHECK: __device__ double atomicAdd(double *address, double value) { return *address + value; }
__device__ double atomicAdd(double *address, double value) { return *address + value; }
#endif
// FINDING: redefined operator*
inline __host__ __device__ float3 operator*(float3 a, const float3 &b) { return make_float3(a.x * b.x, 0, 0); }
// The name is reported once; HIP has no such operator for a scalar or for other types, and no atomicMax for halves.
inline __host__ __device__ float2 operator*(float2 a, float2 b) { return make_float2(a.x * b.x, 0); }
inline __host__ __device__ float3 operator+(float a, float3 b) { return make_float3(a + b.x, 0, 0); }
inline Mine operator-(Mine a, Mine b) { return a; }
__device__ half atomicMax(half *address, half value) { return value; }
__device__ double atomicMin(double *address, double value);
__device__ unsigned lanes(int p, unsigned m) {
    // CHECK: return __popcll(__ballot_sync(0xffffffffffffffffull, p)) + __ffsll(__activemask()) + __popc(p);
    return __popc(__ballot_sync(0xffffffff, p)) + __ffs(__activemask()) + __popc(p);
    // FINDING: warp-mask some
    // CHECK: const unsigned int some = __ballot_sync(0xffffffffffffffffull, p);
    const unsigned int some = __ballot_sync(0xffffffff, p);
    // FINDING: warp-mask active
    int active = __activemask();
    // CHECK: unsigned long long all = __ballot_sync(0xffffffffffffffffull, p);
    unsigned long long all = __ballot_sync(0xffffffff, p);
    auto same = __activemask();
    return some;
}
void host(float **rows, void *raw) {
    float *p; void *v; size_t pitch;
    // HIP's functions take void **, and CUDA's templates any pointer.
    // CHECK: hipHostAlloc((void **)(&p), 4, hipHostMallocMapped);
    cudaHostAlloc(&p, 4, cudaHostAllocMapped);
    // CHECK: hipHostAlloc((void **)(&rows[1]), 4, 0);
    cudaHostAlloc(&rows[1], 4, 0);
    // CHECK: hipHostAlloc((void**)&p, 4, 0); hipHostAlloc(reinterpret_cast<void **>(&p), 4, 0);
    cudaHostAlloc((void**)&p, 4, 0); cudaHostAlloc(reinterpret_cast<void **>(&p), 4, 0);
    // CHECK: hipHostAlloc(&v, 4, 0); hipHostGetDevicePointer(&raw, v, 0);
    cudaHostAlloc(&v, 4, 0); cudaHostGetDevicePointer(&raw, v, 0);
    // CHECK: hipMallocPitch((void **)(&p), &pitch, 4, 4);
    cudaMallocPitch(&p, &pitch, 4, 4);
    // CHECK: hipLaunchCooperativeKernel(reinterpret_cast<const void*>(lanes), 1, 1, a, 0, 0);
    cudaLaunchCooperativeKernel(lanes, 1, 1, a);
    // CHECK: hipLaunchCooperativeKernel(reinterpret_cast<const void*>(lanes), 1, 1, a, 64, 0);
    cudaLaunchCooperativeKernel(lanes, 1, 1, a, 64);
}
// Words that decorate declarations go, and so does the tag of a type that is none in HIP.
// CHECK: void called(hipStream_t, hipError_t, void *);
void CUDART_CB called(cudaStream_t, cudaError_t, void *);
// CHECK: __global__ void reads(const int n) { }
__global__ void reads(const __grid_constant__ int n) { }
// CHECK: hipGraphicsResource *resource; struct hipDeviceProp_t *properties;
struct cudaGraphicsResource *resource; struct cudaDeviceProp *properties;
// The attributes of streams are those of launches.
// CHECK: hipStreamAttrValue value; hipStreamSetAttribute(stream, hipStreamAttributeAccessPolicyWindow, &value);
void attribute() { cudaStreamAttrValue value; cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &value); }
// Guards of CUDA's headers tell whether they are included.
// CHECK: #if defined(HIP_INCLUDE_HIP_DRIVER_TYPES_H) && !defined(HIP_INCLUDE_HIP_HIP_RUNTIME_API_H)
#if defined(__DRIVER_TYPES_H__) && !defined(__cuda_cuda_h__)
#endif
// FINDING: unsupported <<<
__global__ void parent() { reads<<<1, 1>>>(3); }
// CHECK: hipMalloc3DArray(&array, &format, extent, 0);
void array() { cudaMalloc3DArray(&array, &format, extent); }
