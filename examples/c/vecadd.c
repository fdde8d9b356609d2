/* Vector addition with the CUDA Driver API, after the chapter on it in the CUDA programming guide: the
 * kernel comes from a PTX file, the result is checked, and each step is timed.
 *
 *     vecadd [elements] [path of vecadd.ptx] */
#include "common.h"

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 1 << 20;
    const char *ptx = argc > 2 ? argv[2] : "vecadd.ptx";
    if (n <= 0) {
        fprintf(stderr, "usage: %s [elements, 1 or more] [vecadd.ptx]\n", argv[0]);
        return 2;
    }
    size_t size = (size_t)n * sizeof(float);

    float *a = malloc(size), *b = malloc(size), *c = malloc(size);
    if (!a || !b || !c) {
        fprintf(stderr, "not enough host memory for three vectors of %zu bytes\n", size);
        return 1;
    }
    for (int i = 0; i < n; i++) {
        a[i] = (float)(i % 1000);
        b[i] = 0.5f * (float)(i % 777);
    }

    CHECK(cuInit(0));
    CUdevice device;
    CHECK(cuDeviceGet(&device, 0));
    char name[256];
    int major, minor, units;
    CHECK(cuDeviceGetName(name, sizeof name, device));
    CHECK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
    CHECK(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
    CHECK(cuDeviceGetAttribute(&units, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
    printf("device   %s, compute capability %d.%d, %d multiprocessors\n", name, major, minor, units);

    CUcontext context = create_context(device);
    double t = seconds();
    CUmodule module;
    CUfunction kernel;
    CHECK(cuModuleLoad(&module, ptx));
    CHECK(cuModuleGetFunction(&kernel, module, "VecAdd"));
    double load = seconds() - t;

    CUdeviceptr da, db, dc;
    CHECK(cuMemAlloc(&da, size));
    CHECK(cuMemAlloc(&db, size));
    CHECK(cuMemAlloc(&dc, size));
    CHECK(cuMemcpyHtoD(da, a, size));
    CHECK(cuMemcpyHtoD(db, b, size));
    CHECK(cuMemsetD32(dc, 0xffffffffu, (size_t)n));

    int block = 256, grid = (int)(((long long)n + block - 1) / block);
    void *args[] = {&da, &db, &dc, &n};
    printf("kernel   VecAdd from %s, grid %d, block %d, %d elements\n", ptx, grid, block, n);

    /* The first launch includes any remaining compilation, the others only the kernel. The preceding fill
     * may still be running. */
    CHECK(cuCtxSynchronize());
    t = seconds();
    CHECK(cuLaunchKernel(kernel, grid, 1, 1, block, 1, 1, 0, NULL, args, NULL));
    CHECK(cuCtxSynchronize());
    double first = seconds() - t;
    double best = first, spent = 0;
    for (int run = 0; run < 10 && spent < 2; run++) {
        t = seconds();
        CHECK(cuLaunchKernel(kernel, grid, 1, 1, block, 1, 1, 0, NULL, args, NULL));
        CHECK(cuCtxSynchronize());
        double took = seconds() - t;
        spent += took;
        if (took < best) best = took;
    }
    CHECK(cuMemcpyDtoH(c, dc, size));

    printf("load     %.3f ms (module and function)\n", 1e3 * load);
    printf("compile  %.3f ms (first launch %.3f ms, less a run)\n", 1e3 * (first - best), 1e3 * first);
    printf("run      %.3f ms, %.3g GB/s\n", 1e3 * best, 3.0 * (double)size / best * 1e-9);

    int wrong = 0;
    for (int i = 0; i < n; i++) {
        float want = a[i] + b[i];
        if (c[i] != want && wrong++ < 5) fprintf(stderr, "element %d is %g, should be %g\n", i, c[i], want);
    }
    printf("check    %s\n", wrong ? "FAILED" : "all elements right");

    CHECK(cuMemFree(da));
    CHECK(cuMemFree(db));
    CHECK(cuMemFree(dc));
    CHECK(cuModuleUnload(module));
    CHECK(cuCtxDestroy(context));
    free(a);
    free(b);
    free(c);
    return wrong != 0;
}
