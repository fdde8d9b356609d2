// Adds up an array: each block by shuffles and shared memory, the blocks by an atomic.
//
//   anywarp cc reduce.hip -o reduce && anywarp run -- ./reduce
//
// anywarp cc needs clang: apt-get install clang-19
#include <hip/hip_runtime.h>

#include <cstdio>
#include <vector>

const int BLOCK = 256;

__global__ void add_up(const int *in, int n, unsigned long long *sum) {
    __shared__ unsigned long long parts[BLOCK];
    unsigned long long own = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        own += in[i];
    // A warp has 32 lanes on some devices and 64 on others.
    for (int by = warpSize / 2; by > 0; by /= 2)
        own += __shfl_down(own, by);
    if (threadIdx.x % warpSize == 0)
        parts[threadIdx.x / warpSize] = own;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i < BLOCK / warpSize; i++)
            own += parts[i];
        atomicAdd(sum, own);
    }
}

int main() {
    const int n = 1000000;
    std::vector<int> numbers(n);
    for (int i = 0; i < n; i++)
        numbers[i] = i + 1;
    int *in;
    unsigned long long *device_sum, sum = 0;
    hipMalloc(&in, n * sizeof(int));
    hipMalloc(&device_sum, sizeof sum);
    hipMemcpy(in, numbers.data(), n * sizeof(int), hipMemcpyHostToDevice);
    hipMemset(device_sum, 0, sizeof sum);
    add_up<<<64, BLOCK>>>(in, n, device_sum);
    hipError_t error = hipMemcpy(&sum, device_sum, sizeof sum, hipMemcpyDeviceToHost);
    if (error != hipSuccess) {
        std::printf("%s\n", hipGetErrorString(error));
        return 1;
    }
    bool right = sum == (unsigned long long)n * (n + 1) / 2;
    std::printf("sum %llu, %s\n", sum, right ? "as it should be" : "which is wrong");
    return !right;
}
