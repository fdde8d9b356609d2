// Separately compiled parts (-rdc=true): a kernel calls a function and sets a variable of another part.
#include "check.h"

extern __device__ int times(int x);
extern __device__ int factor;

__global__ void run(int *out)
{
    out[0] = times(21);
    factor = 3;
    out[1] = times(21);
}

int main()
{
    int *out, host[2];
    CALL(cudaMalloc(&out, sizeof host));
    run<<<1, 1>>>(out);
    CALL(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    SAME("2 * 21", host[0], 42);
    SAME("3 * 21", host[1], 63);
    std::puts("parts: ok");
}
