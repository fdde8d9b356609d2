// The runtime and the driver API in one program, on the same contexts, memory, streams, events and kernels.
#include "check.h"

#include <cuda.h>

#define DRIVER(call) SAME(#call, call, CUDA_SUCCESS)

__global__ void square(int *numbers) { numbers[threadIdx.x] *= numbers[threadIdx.x]; }

int main()
{
    CUcontext context, primary;
    CUdevice device;
    CALL(cudaSetDevice(0));
    DRIVER(cuDeviceGet(&device, 0));
    DRIVER(cuDevicePrimaryCtxRetain(&primary, device));
    DRIVER(cuCtxGetCurrent(&context));
    SAME("the primary context is current", context == primary, 1);

    CUdeviceptr memory;
    int numbers[] = {1, 2, 3, 4};
    DRIVER(cuMemAlloc(&memory, sizeof numbers));
    CALL(cudaMemcpy(reinterpret_cast<void *>(memory), numbers, sizeof numbers, cudaMemcpyHostToDevice));
    cudaStream_t stream;
    CALL(cudaStreamCreate(&stream));
    square<<<1, 4, 0, stream>>>(reinterpret_cast<int *>(memory));
    DRIVER(cuStreamSynchronize(stream));
    cudaFunction_t function;
    CALL(cudaGetFuncBySymbol(&function, reinterpret_cast<const void *>(square)));
    void *arguments[] = {&memory};
    DRIVER(cuLaunchKernel(reinterpret_cast<CUfunction>(function), 1, 1, 1, 4, 1, 1, 0, stream, arguments, nullptr));
    CUevent event;
    DRIVER(cuEventCreate(&event, CU_EVENT_DEFAULT));
    CALL(cudaEventRecord(event, stream));
    CALL(cudaEventSynchronize(event));
    DRIVER(cuMemcpyDtoH(numbers, memory, sizeof numbers));
    SAME("4 to the fourth", numbers[3], 256);
    CALL(cudaFree(reinterpret_cast<void *>(memory)));

    void *found;
    cudaDriverEntryPointQueryResult status;
    CALL(cudaGetDriverEntryPointByVersion("cuMemAlloc", &found, 12000, cudaEnableDefault, &status));
    SAME("cuMemAlloc is found", status, cudaDriverEntryPointSuccess);
    DRIVER(reinterpret_cast<CUresult (*)(CUdeviceptr *, size_t)>(found)(&memory, 64));

    CUcontext own;
    DRIVER(cuCtxCreate(&own, nullptr, 0, device));
    int *more;
    CALL(cudaMalloc(&more, 64));
    square<<<1, 1>>>(more);
    CALL(cudaDeviceSynchronize());
    DRIVER(cuCtxGetCurrent(&context));
    SAME("the program's own context stays", context == own, 1);
    std::puts("mixed: ok");
}
