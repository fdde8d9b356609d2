// Device pointers are integers in CUDA's driver API and void * in HIP.
// CHECK: #include <hip/hip_runtime.h>
#include <cuda.h>

struct Buffer { CUdeviceptr p; };

void sums(CUdeviceptr b, size_t n, CUdeviceptr *list) {
    // CHECK: hipDeviceptr_t d = (char *)b + 4;
    CUdeviceptr d = b + 4;
    // CHECK: d = n + (char *)b + (n << 2);
    d = n + b + (n << 2);
    // CHECK: d = (char *)d + 16; d = (char *)d - (n * 4);
    d += 16; d -= n * 4;
    // CHECK: hipMemcpyHtoD((char *)list[1] + n, &n, 4);
    cuMemcpyHtoD(list[1] + n, &n, 4);
    // CHECK: hipMemcpyHtoD((char *)(hipDeviceptr_t)list + 4, &n, 4);
    cuMemcpyHtoD((CUdeviceptr)list + 4, &n, 4);
    // CHECK: list = list + 1; float *f = (float *)d + 1; f = (float *)(d);
    list = list + 1; float *f = (float *)d + 1; f = (float *)(d);
}

void integers(CUdeviceptr d, CUdeviceptr b, uint64_t n) {
    // CHECK: unsigned long long u = (unsigned long long)d; u = (unsigned long long)d + 4;
    unsigned long long u = d; u = d + 4;
    // CHECK: size_t between = (unsigned long long)d - (unsigned long long)b;
    size_t between = d - b;
    // CHECK: if ((unsigned long long)d % 256) return; if (d == 0 || !d) return;
    if (d % 256) return; if (d == 0 || !d) return;
    // CHECK: d = (hipDeviceptr_t)(((unsigned long long)d + 255) & ~255ull);
    d = (d + 255) & ~255ull;
    // CHECK: d = (hipDeviceptr_t)(n); b = (hipDeviceptr_t)((size_t)n + 1); d = 0; d = NULL;
    d = n; b = (size_t)n + 1; d = 0; d = NULL;
    // CHECK: n = reinterpret_cast<uint64_t>(d); d = reinterpret_cast<hipDeviceptr_t>(n);
    n = static_cast<uint64_t>(d); d = static_cast<CUdeviceptr>(n);
    // CHECK: n = (uint64_t)d + 4;
    n = (uint64_t)d + 4;
}

void others(CUdeviceptr d, Buffer *buffer) {
    cuMemAlloc(&d, 4); void *arguments[] = {&d, (void *)&buffer->p};
    // FINDING: device-pointer d
    d++;
    // FINDING: device-pointer p
    cuMemFree(buffer->p + 4);
    // CHECK: hipFree(buffer->p);
    cuMemFree(buffer->p);
    // CHECK: d = (char *)d + 1;
    d = d + 1;
    { float *d = 0;
      // CHECK: d = d + 1;
      d = d + 1; }
}

void shadowed(float *p, double *d) {
    // CHECK: p = p + 1; d = d + 1;
    p = p + 1; d = d + 1;
}
