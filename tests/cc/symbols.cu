// Variables of a module: constant, device, arrays, copies to and from them, their addresses.
#include "check.h"

struct Pair {
    int a;
    double b;
};

__constant__ float weights[8] = {1, 2, 3, 4, 5, 6, 7, 8};
__constant__ Pair pair;
__device__ int counter = 40;
__device__ unsigned long long table[4];
static __device__ int hidden = 3;

__global__ void run(float *out) {
    out[threadIdx.x] = weights[threadIdx.x] + pair.a + (float)pair.b;
    if (threadIdx.x < 2)
        atomicAdd(&counter, 1);
    if (threadIdx.x < 4)
        table[threadIdx.x] += hidden + threadIdx.x;
}

int main() {
    float *out = shared_memory<float>(8);
    Pair host = {100, 0.5};
    const float changed[2] = {30, 40};
    CHECK(cudaMemcpyToSymbol(pair, &host, sizeof host));
    CHECK(cudaMemcpyToSymbol(weights, changed, sizeof changed, 2 * sizeof(float)));
    run<<<1, 8>>>(out);
    finish();
    const float should[8] = {1, 2, 30, 40, 5, 6, 7, 8};
    for (int i = 0; i < 8; i++)
        expect("weight", i, out[i], should[i] + 100.5f);
    int count;
    CHECK(cudaMemcpyFromSymbol(&count, counter, sizeof count));
    expect("counter", 0, count, 42);
    void *at;
    size_t size;
    CHECK(cudaGetSymbolAddress(&at, table));
    CHECK(cudaGetSymbolSize(&size, table));
    expect("size", 0, size, (size_t)32);
    unsigned long long read[4];
    CHECK(cudaMemcpy(read, at, size, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < 4; i++)
        expect("table", i, read[i], 3ull + i);
    int set = 7;
    CHECK(cudaMemcpyToSymbol(hidden, &set, sizeof set));
    run<<<1, 8>>>(out);
    finish();
    CHECK(cudaMemcpyFromSymbol(read, table, sizeof read));
    for (unsigned i = 0; i < 4; i++)
        expect("table again", i, read[i], 10ull + 2 * i);
    return result();
}
