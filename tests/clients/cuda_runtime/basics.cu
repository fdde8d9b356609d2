// Launches, variables, streams, events, managed memory, textures, surfaces, graphs, errors, and functions of the
// device that need the host: printf, malloc, assert.
#include "check.h"

#include <cassert>
#include <cooperative_groups.h>

__constant__ float factors[2];
__device__ int launches;
__managed__ int common = 5;

__global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] * factors[0] + b[i] * factors[1];
    if (i == 0) {
        launches++;
        common += 37;
    }
}

template <typename T> __global__ void fill(T *out, T value) { out[threadIdx.x] = value; }

__global__ void talk()
{
    int *own = static_cast<int *>(malloc(16));
    own[3] = threadIdx.x;
    printf("thread %d of a kernel\n", own[3]);
    free(own);
}

__global__ void refuse(int n) { assert(n != 3); }

__global__ void read(cudaTextureObject_t texture, cudaSurfaceObject_t surface, float *out)
{
    int x = threadIdx.x, y = threadIdx.y;
    out[y * 8 + x] = tex2D<float>(texture, x + 0.5f, y + 0.5f);
    surf2Dwrite(100.0f + x, surface, x * 4, y);
}

__global__ void together(int *out, int n)
{
    auto grid = cooperative_groups::this_grid();
    out[grid.thread_rank()] = 1;
    grid.sync();
    if (grid.thread_rank() == 0) {
        int sum = 0;
        for (int i = 0; i < n; i++)
            sum += out[i];
        out[0] = sum;
    }
}

__global__ void dynamic(int *out, int n)
{
    extern __shared__ int block[];
    block[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = block[n - 1 - threadIdx.x];
}

static int called;
static void CUDART_CB on_host(void *data) { called += *static_cast<int *>(data); }

int main()
{
    const int n = 1000;
    static float host[n];
    for (int i = 0; i < n; i++)
        host[i] = i;
    float *a, *b, *c;
    CALL(cudaMalloc(&a, sizeof host));
    CALL(cudaMalloc(&b, sizeof host));
    CALL(cudaMallocManaged(&c, sizeof host));
    CALL(cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice));
    CALL(cudaMemcpy(b, host, sizeof host, cudaMemcpyDefault));
    float two[] = {2, 3};
    CALL(cudaMemcpyToSymbol(factors, two, sizeof two));

    cudaStream_t stream;
    cudaEvent_t begin, end;
    CALL(cudaStreamCreate(&stream));
    CALL(cudaEventCreate(&begin));
    CALL(cudaEventCreate(&end));
    CALL(cudaEventRecord(begin, stream));
    add<<<(n + 127) / 128, 128, 0, stream>>>(a, b, c, n);
    CALL(cudaGetLastError());
    int three = 3;
    CALL(cudaLaunchHostFunc(stream, on_host, &three));
    CALL(cudaEventRecord(end, stream));
    CALL(cudaEventSynchronize(end));
    float time = -1;
    CALL(cudaEventElapsedTime(&time, begin, end));
    SAME("time is positive", time >= 0, 1);
    SAME("c[999]", c[999], 4995);
    SAME("common", common, 42);
    SAME("called", called, 3);
    int count;
    CALL(cudaMemcpyFromSymbol(&count, launches, sizeof count));
    SAME("launches", count, 1);

    fill<<<1, 8>>>(a, 1.5f);
    fill<int><<<1, 8>>>(reinterpret_cast<int *>(b), 7);
    CALL(cudaMemcpy(host, a, 32, cudaMemcpyDeviceToHost));
    SAME("a template's value", host[7], 1.5);
    talk<<<1, 2>>>();
    CALL(cudaDeviceSynchronize());

    for (int i = 0; i < 32; i++)
        host[i] = i;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t array, drawn;
    CALL(cudaMallocArray(&array, &format, 8, 4));
    CALL(cudaMallocArray(&drawn, &format, 8, 4, cudaArraySurfaceLoadStore));
    CALL(cudaMemcpy2DToArray(array, 0, 0, host, 32, 32, 4, cudaMemcpyHostToDevice));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc description = {};
    description.readMode = cudaReadModeElementType;
    cudaTextureObject_t texture;
    cudaSurfaceObject_t surface;
    CALL(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
    resource.res.array.array = drawn;
    CALL(cudaCreateSurfaceObject(&surface, &resource));
    read<<<1, dim3(8, 4)>>>(texture, surface, c);
    CALL(cudaDeviceSynchronize());
    SAME("a texel", c[31], 31);
    CALL(cudaMemcpy2DFromArray(host, 32, drawn, 0, 0, 32, 4, cudaMemcpyDeviceToHost));
    SAME("an element of a surface", host[9], 101);

    int *numbers = reinterpret_cast<int *>(b), width = 256;
    void *arguments[] = {&numbers, &width};
    CALL(cudaLaunchCooperativeKernel(together, dim3(4), dim3(64), arguments, 0, nullptr));
    CALL(cudaMemcpy(&count, numbers, 4, cudaMemcpyDeviceToHost));
    SAME("a grid's sum", count, 256);
    CALL(cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10));
    dynamic<<<1, 64, 64 << 10, stream>>>(numbers, 64);
    CALL(cudaMemcpyAsync(&count, numbers, 4, cudaMemcpyDeviceToHost, stream));
    CALL(cudaStreamSynchronize(stream));
    SAME("a number through shared memory", count, 63);

    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CALL(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CALL(cudaMemsetAsync(c, 0, 64, stream));
    fill<<<1, 8, 0, stream>>>(c, 2.5f);
    CALL(cudaStreamEndCapture(stream, &graph));
    CALL(cudaGraphInstantiate(&exec, graph, 0));
    CALL(cudaGraphLaunch(exec, stream));
    CALL(cudaStreamSynchronize(stream));
    SAME("a graph's work", c[7] * 10 + c[8], 25);

    cudaDeviceProp properties;
    int value;
    CALL(cudaGetDeviceProperties(&properties, 0));
    CALL(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
    SAME("multiprocessors", properties.multiProcessorCount, value);
    CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, add, 128, 0));
    SAME("an occupancy is positive", value > 0, 1);
    add<<<1, 2048>>>(a, b, c, n);
    SAME("the error of a large block", cudaGetLastError(), cudaErrorInvalidValue);
    SAME("it was reset", cudaGetLastError(), cudaSuccess);

    refuse<<<1, 1>>>(3);
    SAME("the assertion's error", cudaDeviceSynchronize(), cudaErrorAssert);
    SAME("it stays", cudaMalloc(&a, 4), cudaErrorAssert);
    CALL(cudaDeviceReset());
    cudaGetLastError();
    CALL(cudaMalloc(&a, 32));
    fill<<<1, 8>>>(a, 4.5f);
    CALL(cudaMemcpy(host, a, 32, cudaMemcpyDeviceToHost));
    SAME("after the reset", host[7], 4.5);
    std::puts("basics: ok");
}
