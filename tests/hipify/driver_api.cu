// The driver API: its functions, types, enumerators and errors become those that HIP shares with the runtime.
// CHECK: #include <hip/hip_runtime.h>
#include <cuda.h>
#include <cstdio>

// CHECK: static const char *name(hipError_t error) { return error == hipErrorOutOfMemory ? "CUDA_ERROR_OUT_OF_MEMORY" : ""; }
static const char *name(CUresult error) { return error == CUDA_ERROR_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : ""; }

int main() {
    // CHECK: hipDevice_t device;
    CUdevice device;
    // CHECK: hipCtx_t context;
    CUcontext context;
    // CHECK: hipModule_t module;
    CUmodule module;
    // CHECK: hipFunction_t function;
    CUfunction function;
    // CHECK: hipDeviceptr_t data;
    CUdeviceptr data;
    // CHECK: hipInit(0);
    cuInit(0);
    // CHECK: hipDeviceGet(&device, 0);
    cuDeviceGet(&device, 0);
    // FINDING: deprecated-in-cuda cuDeviceComputeCapability
    // CHECK: hipDeviceComputeCapability(&major, &minor, device);
    int major, minor; cuDeviceComputeCapability(&major, &minor, device);
    // CHECK: hipCtxCreate(&context, hipDeviceScheduleAuto, device);
    cuCtxCreate(&context, CU_CTX_SCHED_AUTO, device);
    // CHECK: hipModuleLoad(&module, "cuInit.ptx");
    cuModuleLoad(&module, "cuInit.ptx");
    // CHECK: hipModuleGetFunction(&function, module, "kernel");
    cuModuleGetFunction(&function, module, "kernel");
    // CHECK: if (hipMalloc(&data, 1024) != hipSuccess) return 1;
    if (cuMemAlloc(&data, 1024) != CUDA_SUCCESS) return 1;
    int value = 1;
    // CHECK: hipMemcpyHtoD(data, &value, sizeof value);
    cuMemcpyHtoD(data, &value, sizeof value);
    void *arguments[] = {&data};
    // CHECK: hipModuleLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr);
    cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr);
    // CHECK: hipDeviceGetAttribute(&value, hipDeviceAttributeWarpSize, device);
    cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, device);
    // CHECK: void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &value, HIP_LAUNCH_PARAM_END};
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &value, CU_LAUNCH_PARAM_END};
    // CHECK: hipCtxDestroy(context);
    cuCtxDestroy(context);
    // FINDING: unsupported cuLaunch
    // CHECK: cuLaunch(function);
    cuLaunch(function);
}
