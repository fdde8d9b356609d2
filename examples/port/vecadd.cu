/* The driver API's vector addition: module from a PTX file, launch, copies, events.
 *
 *   vecadd PATH_OF_vecadd.ptx
 */
#include "check.h"

enum { N = 100000 };

static float a[N], b[N], c[N];

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: %s vecadd.ptx\n", argv[0]);
        return 2;
    }
    for (int i = 0; i < N; i++) {
        a[i] = (float)i;
        b[i] = 0.5f * (float)(i % 777);
    }
    start();

    CUmodule module;
    CUfunction kernel;
    CHECK(cuModuleLoad(&module, argv[1]));
    CHECK(cuModuleGetFunction(&kernel, module, "VecAdd"));

    CUdeviceptr da, db, dc;
    CHECK(cuMemAlloc(&da, sizeof a));
    CHECK(cuMemAlloc(&db, sizeof b));
    CHECK(cuMemAlloc(&dc, sizeof c));
    CUstream stream;
    CUevent before, after;
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuEventCreate(&before, CU_EVENT_DEFAULT));
    CHECK(cuEventCreate(&after, CU_EVENT_DEFAULT));
    CHECK(cuMemcpyHtoDAsync(da, a, sizeof a, stream));
    CHECK(cuMemcpyHtoDAsync(db, b, sizeof b, stream));
    CHECK(cuMemsetD32Async(dc, 0xffffffffu, N, stream));

    int n = N;
    void *args[] = {&da, &db, &dc, &n};
    CHECK(cuEventRecord(before, stream));
    CHECK(cuLaunchKernel(kernel, (N + 255) / 256, 1, 1, 256, 1, 1, 0, stream, args, NULL));
    CHECK(cuEventRecord(after, stream));
    CHECK(cuMemcpyDtoHAsync(c, dc, sizeof c, stream));
    CHECK(cuStreamSynchronize(stream));

    float milliseconds = -1.0f;
    CHECK(cuEventElapsedTime(&milliseconds, before, after));
    int wrong = 0;
    for (int i = 0; i < N; i++) wrong += c[i] != a[i] + b[i];
    printf("%d of %d sums are wrong, c[777] = %g, %s\n", wrong, N, c[777], milliseconds >= 0 ? "timed" : "not timed");

    CHECK(cuEventDestroy(before));
    CHECK(cuEventDestroy(after));
    CHECK(cuStreamDestroy(stream));
    CHECK(cuMemFree(da));
    CHECK(cuMemFree(db));
    CHECK(cuMemFree(dc));
    CHECK(cuModuleUnload(module));
    return wrong != 0;
}
