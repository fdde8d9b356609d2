// Streams, events, callbacks, a captured graph, asynchronous allocation, occupancy, attributes.
#include "check.h"

__global__ void add(int *at, int n, int by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        at[i] += by;
}

static void called(void *data) { *(int *)data += 1; }

int main() {
    const int n = 1000;
    cudaStream_t a, b;
    cudaEvent_t from, to;
    CHECK(cudaStreamCreate(&a));
    CHECK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&from));
    CHECK(cudaEventCreate(&to));
    int *at, *host, calls = 0;
    CHECK(cudaMalloc(&at, n * sizeof(int)));
    CHECK(cudaMallocHost(&host, n * sizeof(int)));
    CHECK(cudaMemsetAsync(at, 0, n * sizeof(int), a));
    CHECK(cudaEventRecord(from, a));
    add<<<(n + 127) / 128, 128, 0, a>>>(at, n, 3);
    CHECK(cudaEventRecord(to, a));
    CHECK(cudaStreamWaitEvent(b, to));
    add<<<(n + 127) / 128, 128, 0, b>>>(at, n, 4);
    CHECK(cudaLaunchHostFunc(b, called, &calls));
    CHECK(cudaMemcpyAsync(host, at, n * sizeof(int), cudaMemcpyDeviceToHost, b));
    CHECK(cudaStreamSynchronize(b));
    float milliseconds = -1;
    CHECK(cudaEventElapsedTime(&milliseconds, from, to));
    expect("time", 0, milliseconds >= 0, true);
    expect("calls", 0, calls, 1);
    for (int i = 0; i < n; i++)
        expect("sum", i, host[i], 7);

    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
    add<<<8, 128, 0, a>>>(at, n, 10);
    add<<<8, 128, 0, a>>>(at, n, 20);
    CHECK(cudaStreamEndCapture(a, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 3; i++)
        CHECK(cudaGraphLaunch(exec, a));
    CHECK(cudaStreamSynchronize(a));
    CHECK(cudaMemcpy(host, at, n * sizeof(int), cudaMemcpyDeviceToHost));
    expect("graph", 0, host[n - 1], 97);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));

    int *later;
    CHECK(cudaMallocAsync((void **)&later, n * sizeof(int), a));
    CHECK(cudaMemsetAsync(later, 1, n * sizeof(int), a));
    CHECK(cudaMemcpyAsync(host, later, n * sizeof(int), cudaMemcpyDeviceToHost, a));
    CHECK(cudaFreeAsync(later, a));
    CHECK(cudaStreamSynchronize(a));
    expect("async", 0, host[0], 0x01010101);

    int blocks = 0, value = 0, device = -1;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 128, 0));
    expect("occupancy", 0, blocks > 0, true);
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, (const void *)add));
    expect("threads", 0, attributes.maxThreadsPerBlock, 1024);
    CHECK(cudaGetDevice(&device));
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, device));
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, device));
    expect("multiprocessors", 0, properties.multiProcessorCount, value);
    expect("block", 0, properties.maxThreadsPerBlock, 1024);
    void *arguments[] = {&at, (void *)&n, &value};
    CHECK(cudaLaunchKernel((const void *)add, dim3(8), dim3(128), arguments, 0, a));
    CHECK(cudaStreamSynchronize(a));
    CHECK(cudaMemcpy(host, at, sizeof(int), cudaMemcpyDeviceToHost));
    expect("launched", 0, host[0], 97 + value);
    CHECK(cudaStreamDestroy(a));
    CHECK(cudaStreamDestroy(b));
    return result();
}
