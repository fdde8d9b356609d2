// Calls whose arguments change: symbols, kernels as pointers, arguments that HIP lacks or adds.
#pragma once
// CHECK: #pragma once
// CHECK: #include <hip/hip_runtime.h>
#include <vector>
__constant__ float table[16];
__constant__ float *pair[2];
__global__ void kernel(float *p) { *p = table[0]; }
template <int A, int B> __global__ void sized(float *p) { *p = A + B; }
cudaError_t run(float *host, cudaStream_t stream) {
    // CHECK: hipMemcpyToSymbol(HIP_SYMBOL(table), host, sizeof(table));
    cudaMemcpyToSymbol(table, host, sizeof(table));
    // CHECK: hipMemcpyToSymbol(HIP_SYMBOL(pair[max(0, 1)]), host, 4, 0, hipMemcpyHostToDevice);
    cudaMemcpyToSymbol(pair[max(0, 1)], host, 4, 0, cudaMemcpyHostToDevice);
    // CHECK: hipMemcpyFromSymbolAsync(host, HIP_SYMBOL(table), 4, 0, hipMemcpyDeviceToHost, stream);
    cudaMemcpyFromSymbolAsync(host, table, 4, 0, cudaMemcpyDeviceToHost, stream);
    void *address;
    // CHECK: hipGetSymbolAddress(&address, HIP_SYMBOL(table));
    cudaGetSymbolAddress(&address, table);
    // CHECK: hipFuncSetCacheConfig(reinterpret_cast<const void*>(kernel), hipFuncCachePreferL1);
    cudaFuncSetCacheConfig(kernel, cudaFuncCachePreferL1);
    // CHECK: hipFuncSetAttribute(reinterpret_cast<const void*>(sized<1, 2>), hipFuncAttributeMaxDynamicSharedMemorySize, 1 << 15);
    cudaFuncSetAttribute(sized<1, 2>, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 15);
    cudaFuncAttributes attributes;
    // CHECK: hipFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernel));
    cudaFuncGetAttributes(&attributes, kernel);
    cudaEvent_t event;
    // CHECK: hipEventCreate(&event);
    cudaEventCreate(&event);
    // CHECK: hipEventCreateWithFlags(&event, hipEventBlockingSync);
    cudaEventCreate(&event, cudaEventBlockingSync);
    // CHECK: hipHostMalloc(&address, 64, hipHostMallocDefault);
    cudaMallocHost(&address, 64);
    // CHECK: hipHostMalloc(&address, 64, hipHostMallocMapped);
    cudaMallocHost(&address, 64, cudaHostAllocMapped);
    // CHECK: hipGraphInstantiateWithFlags(&executable, graph, 0);
    cudaGraphInstantiate(&executable, graph);
    // CHECK: hipGraphInstantiateWithFlags(&executable, graph, hipGraphInstantiateFlagAutoFreeOnLaunch);
    cudaGraphInstantiate(&executable, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch);
    // CHECK: hipGraphInstantiate(&executable, graph, &node, log, sizeof log);
    cudaGraphInstantiate(&executable, graph, &node, log, sizeof log);
    // Directives among the arguments: which argument is which cannot be told.
    // FINDING: directive cudaMemcpyToSymbol
    // CHECK: hipMemcpyToSymbol(
    // CHECK-NEXT: #ifdef OTHER
    // CHECK-NEXT: other,
    cudaMemcpyToSymbol(
#ifdef OTHER
        other,
#else
        table,
#endif
        host, 4);
    // CHECK: return hipLaunchKernel(reinterpret_cast<const void*>((void *)kernel), dim3(1), dim3(1), nullptr, 0, stream);
    return cudaLaunchKernel((void *)kernel, dim3(1), dim3(1), nullptr, 0, stream);
}
