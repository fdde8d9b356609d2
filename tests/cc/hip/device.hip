// Atomic functions, clocks and launches that HIP has, and arrays of the standard library.
#include "check.h"
#include <hip/hip_ext.h>

__global__ void atomics(float *f, double *d) {
    int t = threadIdx.x;
    atomicAddNoRet(f, 1);
    safeAtomicAdd(f + 1, (float)t);
    unsafeAtomicAdd(f + 2, 0.25f);
    safeAtomicMin(f + 3, 10.0f - t);
    unsafeAtomicMin(f + 4, 20.0f - t);
    safeAtomicMax(f + 5, (float)t);
    unsafeAtomicMax(f + 6, t + 0.5f);
    safeAtomicAdd(d, (double)t);
    unsafeAtomicAdd(d + 1, 0.5);
    safeAtomicMin(d + 2, -(double)t);
    unsafeAtomicMax(d + 3, (double)t);
    if (t == 0) {
        f[8] = atomicCAS(f + 7, 3.0f, 4.0f);
        d[5] = atomicCAS(d + 4, 3.0, 4.0);
        __hip_atomic_fetch_add(f + 9, 2.0f, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    }
}

__global__ void clocks(long long *out) {
    long long at[6] = {clock64(), __clock64(), __clock(), (long long)clock(), wall_clock64(), 0};
    __named_sync();
    out[0] = at[0] <= clock64() && at[0] <= at[1] && at[1] <= at[2] && at[2] <= at[3];
    out[1] = at[4] <= wall_clock64();
    out[2] = __smid();
#if defined(__GFX11__)
    // A counter of 20 bits there.
    out[3] = __builtin_readcyclecounter() >> 20;
#endif
}

__global__ void arrays(std::array<int, 4> in, int *out) {
    std::array<int, 3> own{1, 2, 3};
    own[1] = 5;
    int sum = 0;
    for (int v : own)
        sum += v;
    for (unsigned i = 0; i < in.size(); i++)
        sum = sum * 3 + in[i];
    out[threadIdx.x] = sum + std::get<2>(own) + own.front() + *in.data() + own.back();
}

__global__ void twice(int *out, int n) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < n)
        out[i] = 2 * i;
}

int main() {
    float *f = shared_memory<float>(10);
    double *d = shared_memory<double>(6);
    f[7] = 3;
    d[4] = 5;
    atomics<<<1, 64>>>(f, d);
    finish();
    const float floats[] = {64, 2016, 16, -53, -43, 63, 63.5f, 4, 3, 2};
    const double doubles[] = {2016, 32, -63, 63, 5, 5};
    for (int i = 0; i < 10; i++)
        expect("float", i, f[i], floats[i]);
    for (int i = 0; i < 6; i++)
        expect("double", i, d[i], doubles[i]);

    auto times = shared_memory<long long>(4);
    clocks<<<1, 1>>>(times);
    finish();
    int count;
    CHECK(hipDeviceGetAttribute(&count, hipDeviceAttributeMultiprocessorCount, 0));
    expect("clock", 0, times[0], 1ll);
    expect("wall clock", 0, times[1], 1ll);
    expect("cycles", 0, times[3], 0ll);
    expect("multiprocessor", 0, times[2] >= 0 && times[2] < (count > 64 ? 128 : count), true);

    int *out = shared_memory<int>(1000);
    arrays<<<1, 2>>>(std::array<int, 4>{7, 8, 9, 10}, out);
    finish();
    expect("array", 0, out[1], (((9 * 3 + 7) * 3 + 8) * 3 + 9) * 3 + 10 + 3 + 1 + 7 + 3);

    hipEvent_t start, stop;
    CHECK(hipEventCreate(&start));
    CHECK(hipEventCreate(&stop));
    hipExtLaunchKernelGGL(twice, dim3(10), dim3(100), 0, hipStream_t(0), start, stop, 0, out, 999);
    CHECK(hipEventSynchronize(stop));
    float took = -1;
    CHECK(hipEventElapsedTime(&took, start, stop));
    expect("time", 0, took >= 0, true);
    for (int i = 0; i < 999; i++)
        expect("twice", i, out[i], 2 * i);
    // The events and the flags have defaults; there is no function.
    expect("no function", 0,
           hipExtModuleLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr) != hipSuccess,
           true);
    return result();
}
